/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A store on a folder of its own, with a virtual clock, and a disk that fails when it is told to:
 * a VFS before SQLite's own, which counts writes and syncs, refuses them, or ends the process in
 * the middle of one. At a power cut, what was written since the last sync of its file is lost or
 * not, write by write, as the disk likes.
 *
 * The pool here runs jobs as lib/work.h says, but on the loop, and holds them while it is told to.
 */
#ifndef TESTS_UNIT_STORE_BED_H
#define TESTS_UNIT_STORE_BED_H

#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/work.h"
#include "store/store.h"
#include "tests/sim/loop_virtual.h"
#include "tests/unit/unit.h"

/* The pool */

struct work_pool {
	struct loop_timer timer;
	struct list submitted;
	bool hold;
};

static struct work_pool *bed_pool; /* that of the last store */

static void pool_turn(void *arg)
{
	struct work_pool *pool = arg;
	struct list *link;

	if (pool->hold || !(link = list_pop(&pool->submitted)))
		return;
	if (!list_empty(&pool->submitted))
		loop_timer_arm(&pool->timer, 1);
	container_of(link, struct work_job, link)->run(container_of(link, struct work_job, link));
	container_of(link, struct work_job, link)->done(container_of(link, struct work_job, link));
}

struct work_pool *work_pool_new(struct loop *loop, unsigned workers)
{
	struct work_pool *pool = mem_zalloc(sizeof(*pool));

	(void)workers;
	list_init(&pool->submitted);
	loop_timer_init(&pool->timer, loop, "pool", pool_turn, pool);
	return bed_pool = pool;
}

void work_pool_free(struct work_pool *pool)
{
	if (!pool)
		return;
	loop_timer_disarm(&pool->timer);
	while (list_pop(&pool->submitted))
		;
	free(pool);
}

void work_submit(struct work_pool *pool, struct work_job *job)
{
	list_push(&pool->submitted, &job->link);
	loop_timer_arm(&pool->timer, 1);
}

static inline void store_bed_hold(bool hold)
{
	bed_pool->hold = hold;
	loop_timer_arm(&bed_pool->timer, 1);
}

/* The disk */

struct unsynced {
	char path[256];
	sqlite3_int64 at;
	sqlite3_int64 size_before;
	int size;
	uint8_t *before; /* NULL once it is synced */
};

static struct disk {
	sqlite3_vfs vfs, *real;
	sqlite3_io_methods methods;
	unsigned long acts;   /* writes and syncs */
	unsigned long end_at; /* the process ends in this one; 0: it does not */
	bool power;	      /* and the machine with it */
	uint64_t random;      /* what a power cut leaves */
	int refuse;	      /* what writes and syncs return from now on; 0: they work */
	int refuse_reads;     /* the same of reads */
	struct unsynced list[4096];
	size_t count;
} store_disk;

struct disk_file {
	sqlite3_file base;
	char path[256];
	sqlite3_file *real;
};

static sqlite3_file *real_of(sqlite3_file *file)
{
	return ((struct disk_file *)file)->real;
}

static uint64_t disk_random(void)
{
	store_disk.random =
		store_disk.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return store_disk.random >> 33;
}

static void disk_end(void)
{
	while (store_disk.power && store_disk.count--) {
		struct unsynced *write_of = &store_disk.list[store_disk.count];
		int fd;

		if (!write_of->before || disk_random() % 2)
			continue;
		fd = open(write_of->path, O_WRONLY);
		if (fd < 0 ||
		    pwrite(fd, write_of->before, (size_t)write_of->size, write_of->at) < 0)
			abort();
		/* What made the file longer may have left it so. */
		if (disk_random() % 2 && write_of->at + write_of->size > write_of->size_before &&
		    store_disk.count && ftruncate(fd, write_of->size_before))
			abort();
		close(fd);
	}
	_exit(9);
}

static int disk_act(void)
{
	store_disk.acts++;
	return store_disk.refuse;
}

static void note_write(sqlite3_file *file, int size, sqlite3_int64 at)
{
	struct unsynced *write_of = &store_disk.list[store_disk.count];

	if (!store_disk.power)
		return;
	if (store_disk.count == ARRAY_SIZE(store_disk.list))
		abort();
	*write_of = (struct unsynced){.at = at, .size = size};
	snprintf(write_of->path, sizeof(write_of->path), "%s", ((struct disk_file *)file)->path);
	write_of->before = calloc(1, (size_t)size);
	real_of(file)->pMethods->xFileSize(real_of(file), &write_of->size_before);
	if (at < write_of->size_before)
		real_of(file)->pMethods->xRead(real_of(file), write_of->before, size, at);
	store_disk.count++;
}

static int disk_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at)
{
	int refused = disk_act();

	if (refused)
		return refused;
	note_write(file, size, at);
	if (store_disk.acts == store_disk.end_at) {
		real_of(file)->pMethods->xWrite(real_of(file), bytes, size / 2, at);
		disk_end();
	}
	return real_of(file)->pMethods->xWrite(real_of(file), bytes, size, at);
}

static int disk_sync(sqlite3_file *file, int flags)
{
	int refused = disk_act();

	(void)flags; /* the real disk need not be asked */
	if (refused)
		return refused;
	if (store_disk.acts == store_disk.end_at)
		disk_end();
	for (size_t i = 0; i < store_disk.count; i++) {
		if (strcmp(store_disk.list[i].path, ((struct disk_file *)file)->path) != 0)
			continue;
		free(store_disk.list[i].before);
		store_disk.list[i].before = NULL;
	}
	while (store_disk.count && !store_disk.list[store_disk.count - 1].before)
		store_disk.count--;
	return SQLITE_OK;
}

#define PASS(name, arguments, ...)                                               \
	static int disk_##name arguments                                         \
	{                                                                        \
		return real_of(file)->pMethods->name(real_of(file) __VA_ARGS__); \
	}
PASS(xClose, (sqlite3_file * file))
PASS(xTruncate, (sqlite3_file * file, sqlite3_int64 size), , size)
PASS(xFileSize, (sqlite3_file * file, sqlite3_int64 *size), , size)
PASS(xLock, (sqlite3_file * file, int lock), , lock)
PASS(xUnlock, (sqlite3_file * file, int lock), , lock)
PASS(xCheckReservedLock, (sqlite3_file * file, int *out), , out)
PASS(xFileControl, (sqlite3_file * file, int op, void *arg), , op, arg)
PASS(xSectorSize, (sqlite3_file * file))
PASS(xDeviceCharacteristics, (sqlite3_file * file))

static int disk_read(sqlite3_file *file, void *to, int size, sqlite3_int64 at)
{
	return store_disk.refuse_reads
		       ? store_disk.refuse_reads
		       : real_of(file)->pMethods->xRead(real_of(file), to, size, at);
}

/* Version 1 of the methods: no shared memory, which the store must not need. */
static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out)
{
	struct disk_file *opened = (struct disk_file *)file;
	int code;

	(void)vfs;
	opened->real = (sqlite3_file *)(opened + 1);
	snprintf(opened->path, sizeof(opened->path), "%s", path ? path : "");
	code = store_disk.real->xOpen(store_disk.real, path, opened->real, flags, out);
	opened->base.pMethods = opened->real->pMethods ? &store_disk.methods : NULL;
	return code;
}

static inline void store_disk_init(void)
{
	store_disk.real = sqlite3_vfs_find(NULL);
	store_disk.vfs = *store_disk.real;
	store_disk.vfs.zName = "disk";
	store_disk.vfs.szOsFile += (int)sizeof(struct disk_file);
	store_disk.vfs.xOpen = disk_open;
	store_disk.methods = (sqlite3_io_methods){
		.iVersion = 1,
		.xClose = disk_xClose,
		.xRead = disk_read,
		.xWrite = disk_write,
		.xTruncate = disk_xTruncate,
		.xSync = disk_sync,
		.xFileSize = disk_xFileSize,
		.xLock = disk_xLock,
		.xUnlock = disk_xUnlock,
		.xCheckReservedLock = disk_xCheckReservedLock,
		.xFileControl = disk_xFileControl,
		.xSectorSize = disk_xSectorSize,
		.xDeviceCharacteristics = disk_xDeviceCharacteristics,
	};
	sqlite3_vfs_register(&store_disk.vfs, 1);
}

/* The bed */

struct bed {
	char dir[64];
	struct loop *loop;
	struct registry *registry;
	struct store *store;
};

static inline void store_bed_init(struct bed *bed)
{
	*bed = (struct bed){.dir = "/tmp/weft-store.XXXXXX"};
	if (!mkdtemp(bed->dir))
		abort();
}

static inline int store_bed_open(struct bed *bed)
{
	char why[STORE_WHY_SIZE];
	int error;

	bed->loop = loop_new();
	bed->registry = registry_new();
	error = store_open(bed->loop, bed->dir, &bed->store, why);
	if (!error)
		store_keep(bed->store, bed->registry);
	return error;
}

/* Lets virtual time pass. */
static inline void store_bed_pass(struct bed *bed, uint64_t us)
{
	uint64_t end_us = loop_now_us(bed->loop) + us, next_us;

	while ((next_us = loop_next_us(bed->loop)) <= end_us)
		loop_step(bed->loop,
			  next_us > loop_now_us(bed->loop) ? next_us : loop_now_us(bed->loop));
	loop_set_now(bed->loop, end_us);
}

static inline void store_bed_close(struct bed *bed, bool cleanly)
{
	if (cleanly && bed->store)
		store_flush(bed->store);
	store_free(bed->store);
	registry_free(bed->registry);
	loop_free(bed->loop);
	bed->store = NULL;
}

static inline const char *store_bed_path(const struct bed *bed, const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", bed->dir, name);
	return path;
}

static inline bool store_bed_has(const struct bed *bed, const char *name)
{
	return !access(store_bed_path(bed, name), F_OK);
}

/* The folder and all that may be in it. */
static inline void store_bed_done(struct bed *bed)
{
	DIR *dir = opendir(bed->dir);
	const struct dirent *entry;

	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			unlink(store_bed_path(bed, entry->d_name));
	closedir(dir);
	if (rmdir(bed->dir))
		abort();
}

static inline void store_bed_put(struct bed *bed, guid_t guid, lid_t lid)
{
	struct lid_entry entry = {.guid = guid, .lid = lid};

	registry_put(bed->registry, REGISTRY_LID, &entry);
}

/* LID_NONE: not there. */
static inline lid_t store_bed_lid(const struct bed *bed, guid_t guid)
{
	const struct lid_entry *entry = registry_find(bed->registry, REGISTRY_LID, &guid);

	return entry ? entry->lid : LID_NONE;
}

#endif
