/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The files of a node. A table has their names and print functions. The last content is kept, so
 * that only changed files are written again. A file is replaced as a whole, so that no reader sees
 * a part of it. Called by the server's connections and by its loop, on its one thread.
 */
#include "sim/folder.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/map.h"
#include "lib/mem.h"
#include "sim/find.h"

#define CLASS_INFINIBAND "sys/class/infiniband"
#define NEVER_WRITTEN '\377' /* no text begins with this byte */

enum { TEXT_SIZE = 96, FILE_PATH_SIZE = 128 + WIRE_PATH_SIZE, MINOR_ISSM = 64, MAJOR = 231 };

struct file {
	struct file *next;
	const struct file_row *row;
	const struct device_port *port; /* NULL: the node's */
	unsigned index;			/* of a GID or P_Key; the N of umadN */
	bool of_device;			/* missing while the device is removed */
	char path[FILE_PATH_SIZE];	/* below the root */
	char text[TEXT_SIZE];		/* the last content */
};

struct folder {
	struct folder *next_alike;   /* of the same device */
	struct folder *next_touched; /* of those to refresh */
	struct folder *next;	     /* of all */
	const struct kernel *kernel;
	const struct device *device;
	int port, root_fd;
	bool touched, removed;
	struct file *files;
	char name[WIRE_PATH_SIZE]; /* below the root */
};

struct folders {
	struct map by_device;
	struct folder *all, *touched;
	const struct kernel *kernel;
	bool complained;
	unsigned count;
	int fd;
	char root[WIRE_PATH_SIZE];
};

/* How each file is printed. */

struct file_row {
	const char *name;
	void (*print)(const struct device *device, const struct file *file, char text[TEXT_SIZE]);
};

static void print_guid(guid_t guid, char text[TEXT_SIZE])
{
	snprintf(text, TEXT_SIZE, "%04x:%04x:%04x:%04x\n", (unsigned)(guid >> 48),
		 (unsigned)(guid >> 32 & 0xFFFF), (unsigned)(guid >> 16 & 0xFFFF),
		 (unsigned)(guid & 0xFFFF));
}

static void print_node_type(const struct device *device, const struct file *file,
			    char text[TEXT_SIZE])
{
	static const char *const names[] = {
		[NODE_CA] = "CA", [NODE_SWITCH] = "switch", [NODE_ROUTER] = "router"};

	(void)file;
	snprintf(text, TEXT_SIZE, "%d: %s\n", device->type, names[device->type]);
}

static void print_node_guid(const struct device *device, const struct file *file,
			    char text[TEXT_SIZE])
{
	(void)file;
	print_guid(device->node_guid, text);
}

static void print_image_guid(const struct device *device, const struct file *file,
			     char text[TEXT_SIZE])
{
	(void)file;
	print_guid(device->system_image_guid, text);
}

static void print_node_desc(const struct device *device, const struct file *file,
			    char text[TEXT_SIZE])
{
	(void)file;
	snprintf(text, TEXT_SIZE, "%.*s\n", NODE_DESC_SIZE, (const char *)device->description.text);
}

static void print_version(const struct device *device, const struct file *file,
			  char text[TEXT_SIZE])
{
	(void)device;
	(void)file;
	snprintf(text, TEXT_SIZE, WEFT_VERSION "\n");
}

static void print_hw_rev(const struct device *device, const struct file *file, char text[TEXT_SIZE])
{
	(void)device;
	(void)file;
	snprintf(text, TEXT_SIZE, "0\n");
}

static void folder_print_name(const struct device *device, const struct file *file,
			      char text[TEXT_SIZE])
{
	(void)device;
	(void)file;
	snprintf(text, TEXT_SIZE, "weftsim\n");
}

static const struct file_row node_rows[] = {
	{"node_type", print_node_type},	 {"node_guid", print_node_guid},
	{"node_desc", print_node_desc},	 {"sys_image_guid", print_image_guid},
	{"fw_ver", print_version},	 {"hw_rev", print_hw_rev},
	{"hca_type", folder_print_name}, {"board_id", folder_print_name},
};

static void print_lid(const struct device *device, const struct file *file, char text[TEXT_SIZE])
{
	(void)device;
	snprintf(text, TEXT_SIZE, "0x%x\n", file->port->info.lid);
}

static void print_lmc(const struct device *device, const struct file *file, char text[TEXT_SIZE])
{
	(void)device;
	snprintf(text, TEXT_SIZE, "%u\n", file->port->info.lmc);
}

static void print_sm_lid(const struct device *device, const struct file *file, char text[TEXT_SIZE])
{
	(void)device;
	snprintf(text, TEXT_SIZE, "0x%x\n", file->port->info.master_sm_lid);
}

static void print_sm_sl(const struct device *device, const struct file *file, char text[TEXT_SIZE])
{
	(void)device;
	snprintf(text, TEXT_SIZE, "%u\n", file->port->info.master_sm_sl);
}

static void print_cap_mask(const struct device *device, const struct file *file,
			   char text[TEXT_SIZE])
{
	(void)device;
	snprintf(text, TEXT_SIZE, "0x%08x\n", file->port->info.capability_mask);
}

static void print_link_layer(const struct device *device, const struct file *file,
			     char text[TEXT_SIZE])
{
	(void)device;
	(void)file;
	snprintf(text, TEXT_SIZE, "InfiniBand\n");
}

static void print_numbered(unsigned number, const char *const *names, size_t count,
			   char text[TEXT_SIZE])
{
	snprintf(text, TEXT_SIZE, "%u: %s\n", number,
		 number < count && names[number] ? names[number] : "<unknown>");
}

static void print_state(const struct device *device, const struct file *file, char text[TEXT_SIZE])
{
	static const char *const names[] = {"NOP", "DOWN", "INIT", "ARMED", "ACTIVE"};

	(void)device;
	print_numbered(file->port->info.port_state, names, ARRAY_SIZE(names), text);
}

static void print_phys_state(const struct device *device, const struct file *file,
			     char text[TEXT_SIZE])
{
	static const char *const names[] = {NULL,
					    "Sleep",
					    "Polling",
					    "Disabled",
					    "PortConfigurationTraining",
					    "LinkUp",
					    "LinkErrorRecovery"};

	(void)device;
	print_numbered(file->port->info.port_physical_state, names, ARRAY_SIZE(names), text);
}

/* Linux knows a lane's rate in tenths of Gb/s; unknown rates count as 1X SDR. */
static void folder_print_rate(const struct device *device, const struct file *file,
			      char text[TEXT_SIZE])
{
	static const struct {
		uint8_t ext, speed;
		unsigned deci_gbps;
		const char *name;
	} speeds[] = {{8, 0, 1000, "NDR"}, {4, 0, 500, "HDR"}, {2, 0, 250, "EDR"},
		      {1, 0, 140, "FDR"},  {0, 4, 100, "QDR"}, {0, 2, 50, "DDR"},
		      {0, 0, 25, "SDR"}};
	static const uint8_t lanes[] = {[1] = 1, [2] = 4, [4] = 8, [8] = 12, [16] = 2};
	const struct port_info *info = &file->port->info;
	unsigned width = info->link_width_active < sizeof(lanes) && lanes[info->link_width_active]
				 ? lanes[info->link_width_active]
				 : 1;
	unsigned i = 0, rate;

	(void)device;
	while ((speeds[i].ext && info->link_speed_ext_active != speeds[i].ext) ||
	       (speeds[i].speed && info->link_speed_active != speeds[i].speed))
		i++;
	rate = speeds[i].deci_gbps * width;
	snprintf(text, TEXT_SIZE, "%u%s Gb/sec (%uX %s)\n", rate / 10, rate % 10 ? ".5" : "", width,
		 speeds[i].name);
}

static const struct file_row port_rows[] = {
	{"lid", print_lid},
	{"lid_mask_count", print_lmc},
	{"sm_lid", print_sm_lid},
	{"sm_sl", print_sm_sl},
	{"state", print_state},
	{"phys_state", print_phys_state},
	{"rate", folder_print_rate},
	{"cap_mask", print_cap_mask},
	{"link_layer", print_link_layer},
};

/* An entry without a GUID is all zero, including the prefix. */
static void print_gid(const struct device *device, const struct file *file, char text[TEXT_SIZE])
{
	guid_t guid = device_guid(file->port, file->index);
	char prefix_text[TEXT_SIZE], guid_text[TEXT_SIZE];

	(void)device;
	print_guid(guid ? file->port->info.gid_prefix : 0, prefix_text);
	print_guid(guid, guid_text);
	snprintf(text, TEXT_SIZE, "%.19s:%.19s\n", prefix_text, guid_text);
}

static void print_pkey(const struct device *device, const struct file *file, char text[TEXT_SIZE])
{
	(void)device;
	snprintf(text, TEXT_SIZE, "0x%04x\n", device_p_key(file->port, file->index));
}

static const struct file_row gid_row = {"gids", print_gid}, pkey_row = {"pkeys", print_pkey};

static void print_ibdev(const struct device *device, const struct file *file, char text[TEXT_SIZE])
{
	(void)device;
	(void)file;
	snprintf(text, TEXT_SIZE, "weftsim0\n");
}

static void folder_print_port(const struct device *device, const struct file *file,
			      char text[TEXT_SIZE])
{
	(void)device;
	snprintf(text, TEXT_SIZE, "%u\n", file->port->num);
}

static void print_umad_dev(const struct device *device, const struct file *file,
			   char text[TEXT_SIZE])
{
	(void)device;
	snprintf(text, TEXT_SIZE, "%d:%u\n", MAJOR, file->index);
}

static void print_issm_dev(const struct device *device, const struct file *file,
			   char text[TEXT_SIZE])
{
	(void)device;
	snprintf(text, TEXT_SIZE, "%d:%u\n", MAJOR, file->index + MINOR_ISSM);
}

static const struct file_row umad_rows[] = {{"ibdev", print_ibdev},
					    {"port", folder_print_port},
					    {"dev", print_umad_dev}},
			     issm_rows[] = {{"ibdev", print_ibdev},
					    {"port", folder_print_port},
					    {"dev", print_issm_dev}};

static void print_abi(const struct device *device, const struct file *file, char text[TEXT_SIZE])
{
	(void)device;
	(void)file;
	snprintf(text, TEXT_SIZE, "5\n");
}

static const struct file_row abi_row = {"abi_version", print_abi};

static void print_nothing(const struct device *device, const struct file *file,
			  char text[TEXT_SIZE])
{
	(void)device;
	(void)file;
	*text = '\0';
}

static const struct file_row device_row = {"", print_nothing};

/* Writing */

static int replace(const struct folder *folder, const char *path, const char *text)
{
	static const char fresh[] = ".new";
	int fd = openat(folder->root_fd, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	size_t size = strlen(text);
	int r = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, size) != (ssize_t)size)
		r = -EIO;
	close(fd);
	return r || !renameat(folder->root_fd, fresh, folder->root_fd, path) ? r : -errno;
}

/* Makes the folders above a path, too; errors show when the file is written. */
static void make_folders(const struct folder *folder, const char *path)
{
	char above[FILE_PATH_SIZE];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(above, sizeof(above), "%.*s", (int)(slash - path), path);
		mkdirat(folder->root_fd, above, 0755);
	}
}

/* The device was removed: removes its files, and empty folders. */
static void folder_remove(struct folder *folder)
{
	char path[FILE_PATH_SIZE];
	char *slash;

	for (struct file *file = folder->files; file; file = file->next) {
		if (!file->of_device)
			continue;
		snprintf(path, sizeof(path), "%s", file->path);
		unlinkat(folder->root_fd, path, 0);
		file->text[0] = NEVER_WRITTEN;
		while ((slash = strrchr(path, '/'))) {
			*slash = '\0';
			if (unlinkat(folder->root_fd, path, AT_REMOVEDIR))
				break;
		}
	}
	snprintf(path, sizeof(path), "%s/" CLASS_INFINIBAND "/", folder->name);
	make_folders(folder, path);
}

static void make_all_folders(const struct folder *folder)
{
	for (const struct file *file = folder->files; file; file = file->next)
		make_folders(folder, file->path);
}

/* Writes the files that differ; a file without a last content always differs. */
static int folder_write(struct folder *folder)
{
	bool removed = !kernel_has_device(folder->kernel, folder->device);

	if (removed != folder->removed) {
		folder->removed = removed;
		if (removed)
			folder_remove(folder);
		else
			make_all_folders(folder);
	}
	if (removed)
		return 0;
	for (struct file *file = folder->files; file; file = file->next) {
		char text[TEXT_SIZE] = "";
		int r;

		file->row->print(folder->device, file, text);
		if (!strcmp(text, file->text))
			continue;
		r = replace(folder, file->path, text);
		if (r)
			return r;
		strcpy(file->text, text);
	}
	return 0;
}

/* Building */

/* A new file at a place below the folder. */
__attribute__((format(printf, 5, 6))) static void
folder_add_file(struct folder *folder, const struct file_row *row, const struct device_port *port,
		unsigned index, const char *format, ...)
{
	struct file *file = mem_zalloc(sizeof(*file));
	int length = snprintf(file->path, sizeof(file->path), "%s/", folder->name);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(file->path + length, sizeof(file->path) - length, format, arguments);
	va_end(arguments);
	file->row = row;
	file->port = port;
	file->index = index;
	file->text[0] = NEVER_WRITTEN;
	file->of_device = row != &abi_row;
	file->next = folder->files;
	folder->files = file;
}

#define ROOT_CLASS CLASS_INFINIBAND "/weftsim0"
#define ROOT_MAD "sys/class/infiniband_mad"

static void add_device_files(struct folder *folder, const struct device_port *port,
			     const char *kind, unsigned minor, const struct file_row *rows,
			     size_t count)
{
	for (size_t i = 0; i < count; i++)
		folder_add_file(folder, &rows[i], port, minor, ROOT_MAD "/%s%u/%s", kind, minor,
				rows[i].name);
	folder_add_file(folder, &device_row, port, minor, "dev/infiniband/%s%u", kind, minor);
}

static void folder_add_table(struct folder *folder, const struct device_port *port,
			     const struct file_row *row, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		folder_add_file(folder, row, port, i, ROOT_CLASS "/ports/%u/%s/%u", port->num,
				row->name, i);
}

static void folder_add_port(struct folder *folder, const struct device_port *port, unsigned minor)
{
	for (size_t i = 0; i < ARRAY_SIZE(port_rows); i++)
		folder_add_file(folder, &port_rows[i], port, 0, ROOT_CLASS "/ports/%u/%s",
				port->num, port_rows[i].name);
	folder_add_table(folder, port, &gid_row, port->info.guid_cap ? port->info.guid_cap : 1);
	folder_add_table(folder, port, &pkey_row, device_p_key_cap(port));
	add_device_files(folder, port, "umad", minor, umad_rows, ARRAY_SIZE(umad_rows));
	add_device_files(folder, port, "issm", minor, issm_rows, ARRAY_SIZE(issm_rows));
}

static int folder_build(struct folder *folder)
{
	const struct device *device = folder->device;
	unsigned first = device_is_switch(device) ? 0 : 1;
	unsigned last = device_is_switch(device) ? 0 : device->num_ports;

	if (folder->port >= 0)
		first = last = folder->port;
	folder_add_file(folder, &abi_row, NULL, 0, ROOT_MAD "/abi_version");
	for (size_t i = 0; i < ARRAY_SIZE(node_rows); i++)
		folder_add_file(folder, &node_rows[i], NULL, 0, ROOT_CLASS "/%s",
				node_rows[i].name);
	for (unsigned p = first; p <= last; p++)
		folder_add_port(folder, &device->port[p], p - first);
	make_all_folders(folder);
	return folder_write(folder);
}

static void folder_free(struct folder *folder)
{
	while (folder->files) {
		struct file *file = folder->files;

		folder->files = file->next;
		free(file);
	}
	free(folder);
}

/* A short name that is valid for a file is the node's own; other nodes get a number. */
static void name_folder(const struct folders *folders, struct folder *folder)
{
	const char *name = find_name(folder->device);
	bool good = *name != '.' && strlen(folders->root) + strlen(name) + 6 < WIRE_PATH_SIZE;
	char port[16] = "";

	for (const char *c = name; *c; c++)
		good = good && (isalnum((unsigned char)*c) || strchr("-_.", *c));
	if (folder->port >= 0)
		snprintf(port, sizeof(port), ":%d", folder->port);
	if (good)
		snprintf(folder->name, sizeof(folder->name), "%s%s", name, port);
	else
		snprintf(folder->name, sizeof(folder->name), "+%u%s", folders->count, port);
}

static struct folder *sysfs_folder_new(struct folders *folders, struct device *device, int port)
{
	struct folder *folder = mem_zalloc(sizeof(*folder));

	folder->device = device;
	folder->port = port;
	folder->root_fd = folders->fd;
	folder->kernel = folders->kernel;
	folders->count++;
	name_folder(folders, folder);
	return folder;
}

static void folder_keep(struct folders *folders, struct folder *folder)
{
	uint64_t key = (uintptr_t)folder->device;

	folder->next_alike = map_get(&folders->by_device, key);
	map_put(&folders->by_device, key, folder);
	folder->next = folders->all;
	folders->all = folder;
}

int folders_get(struct folders *folders, struct device *device, int port, char path[WIRE_PATH_SIZE],
		char error[2 * WIRE_NAME_SIZE])
{
	struct folder *folder = map_get(&folders->by_device, (uintptr_t)device);
	int r;

	while (folder && folder->port != port)
		folder = folder->next_alike;
	if (!folder) {
		folder = sysfs_folder_new(folders, device, port);
		r = folder_build(folder);
		if (r) {
			snprintf(error, (size_t)2 * WIRE_NAME_SIZE,
				 "the server cannot make files in %s: %s", folders->root,
				 strerror(-r));
			folder_free(folder);
			return r;
		}
		folder_keep(folders, folder);
	}
	return snprintf(path, WIRE_PATH_SIZE, "%s/%s", folders->root, folder->name) < WIRE_PATH_SIZE
		       ? 0
		       : -ENAMETOOLONG;
}

/* Following */

void folders_touch(struct folders *folders, const struct device *device)
{
	struct folder *folder = map_get(&folders->by_device, (uintptr_t)device);

	for (; folder; folder = folder->next_alike) {
		if (folder->touched)
			continue;
		folder->touched = true;
		folder->next_touched = folders->touched;
		folders->touched = folder;
	}
}

void folders_touch_all(struct folders *folders)
{
	for (struct folder *folder = folders->all; folder; folder = folder->next)
		folders_touch(folders, folder->device);
}

void folders_refresh(struct folders *folders)
{
	while (folders->touched) {
		struct folder *folder = folders->touched;
		int r = folder_write(folder);

		folders->touched = folder->next_touched;
		folder->touched = false;
		if (r && !folders->complained)
			fprintf(stderr, "weftsim: the files in %s are not up to date: %s\n",
				folders->root, strerror(-r));
		folders->complained = folders->complained || r;
	}
}

struct folders *folders_new(const char *root, int root_fd, const struct kernel *kernel)
{
	struct folders *folders = mem_zalloc(sizeof(*folders));

	folders->fd = root_fd;
	folders->kernel = kernel;
	map_init(&folders->by_device);
	snprintf(folders->root, sizeof(folders->root), "%s", root);
	return folders;
}

void folders_free(struct folders *folders)
{
	while (folders->all) {
		struct folder *folder = folders->all;

		folders->all = folder->next;
		folder_free(folder);
	}
	map_done(&folders->by_device);
	free(folders);
}
