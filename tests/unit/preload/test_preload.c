/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The preload library against a server of our own. Its objects are linked into this program, so
 * that the program's own calls of open(), read() and the like are the wrapped ones, as if it had
 * been preloaded. The server echoes each MAD, as long as the MAD says; it runs on threads, one for
 * each connection, and is used between fork() and exec() too.
 */
// WITH: preload/*.o
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/ib_user_mad.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "sim/wire.h"
#include "tests/unit/fixtures/unit.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

enum {
	HEADER = sizeof(struct ib_user_mad_hdr),
	SHORT_HEADER = sizeof(struct ib_user_mad_hdr_old),
	MAD = 256,
	ANSWER_SIZE_AT = 64, /* in a MAD: how long its answer is to be */
	BUFFER_SIZE = 1 << 20,
};

static char directory[] = "/tmp/weft-preload-XXXXXX", socket_path[64];

/* The server */

static struct {
	int fd;
	struct wire_hello hello; /* the last of a device */
	struct wire_call call;	 /* the last */
	atomic_int agents;
	atomic_uint refuse;    /* an errno for the next registrations */
	atomic_uint turn_away; /* an errno for the next devices */
	atomic_bool hold;      /* reads nothing */
	atomic_bool hang_up;   /* ends a device at the next message */
} server;

static void put_file(const char *path, const char *text)
{
	char name[256];
	FILE *file;

	snprintf(name, sizeof(name), "%s/%s", directory, path);
	file = fopen(name, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		abort();
}

static void put_folder(void)
{
	static const char *const folders[] = {
		"sys", "sys/class",	"sys/class/infiniband", "sys/class/infiniband/sim0",
		"dev", "dev/infiniband"};
	char name[256];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(folders); i++) {
		snprintf(name, sizeof(name), "%s/%s", directory, folders[i]);
		if (mkdir(name, 0700))
			abort();
	}
	put_file("sys/class/infiniband/sim0/fw_ver", "1.2.3\n");
	put_file("dev/infiniband/umad0", "");
	snprintf(name, sizeof(name), "%s/sys/class/infiniband/link", directory);
	if (symlink("sim0", name))
		abort();
}

/* A device's ends, as the server has them. */
struct device_end {
	int fd;
	struct wire_rings *rings;
	uint32_t head, tail;
};

static struct device_end *ends[8]; /* by the name that the welcome gave */
static pthread_mutex_t ends_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int long_answer = -1; /* a file that is to be fetched */

static void send_with_file(int fd, const void *bytes, size_t size, int file)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct iovec part = {(void *)bytes, size};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	memcpy(CMSG_DATA(&control.header), &file, sizeof(file));
	if (file >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	sendmsg(fd, &message, MSG_NOSIGNAL);
}

/* Puts an answer into the ring, however long the program takes to make room. */
static void send_answer(struct device_end *end, const struct ib_user_mad_hdr *header,
			const uint8_t *mad, size_t size)
{
	bool in_file = size > WIRE_INLINE_MAX;
	struct ring_record record = {.size = HEADER + (in_file ? MAD : size),
				     .whole = HEADER + size};
	uint8_t *bytes;

	if (in_file) {
		long_answer = memfd_create("answer", MFD_CLOEXEC);
		if (write(long_answer, header, HEADER) != HEADER ||
		    write(long_answer, mad, size) != (ssize_t)size)
			abort();
	}
	while (ring_reserve(&end->rings->to_program, &end->tail, record, &bytes)) {
		ring_want_room(&end->rings->to_program);
		usleep(1000);
	}
	memcpy(bytes, header, HEADER);
	memcpy(bytes + HEADER, mad, record.size - HEADER);
	if (ring_publish(&end->rings->to_program, end->tail))
		send(end->fd, "", 1, MSG_NOSIGNAL);
}

static size_t answer_size(const uint8_t *mad, size_t size)
{
	uint32_t wanted;

	memcpy(&wanted, mad + ANSWER_SIZE_AT, sizeof(wanted));
	return size >= MAD && wanted ? wanted : size;
}

/* The byte at an index of every answer that is longer than the request. */
static uint8_t filling(size_t i)
{
	return i * 7 + (i >> 8);
}

static void echo(struct device_end *end, const uint8_t *umad, size_t size)
{
	uint8_t *mad = malloc(BUFFER_SIZE);
	struct ib_user_mad_hdr header;
	size_t i;

	memcpy(&header, umad, HEADER);
	size -= HEADER;
	memcpy(mad, umad + HEADER, size);
	for (i = size, size = answer_size(mad, size); i < size; i++)
		mad[i] = filling(i);
	header.status = size < 36 ? ETIMEDOUT : 0;
	header.length = header.status ? 0 : HEADER + size;
	send_answer(end, &header, mad, size);
	free(mad);
}

/* All that the program has put; false at the end. */
static bool echo_all(struct device_end *end)
{
	struct ring *ring = &end->rings->to_server;
	struct ring_record record;
	const uint8_t *bytes;
	int err;

	while (!(err = ring_take(ring, &end->head, &record, &bytes))) {
		if (atomic_load(&server.hang_up))
			return false;
		echo(end, bytes, record.size);
		if (ring_release(ring, end->head))
			syscall(SYS_futex, &ring->head, FUTEX_WAKE, 1 << 20, NULL, NULL, 0);
	}
	return err == -EAGAIN;
}

static void serve_device(struct device_end *end)
{
	char token;

	while (recv(end->fd, &token, 1, 0) == 1) {
		while (atomic_load(&server.hold))
			usleep(1000);
		pthread_mutex_lock(&ends_lock);
		do
			if (!echo_all(end)) {
				pthread_mutex_unlock(&ends_lock);
				return;
			}
		while (!ring_rest(&end->rings->to_server, end->head) &&
		       ring_tail(&end->rings->to_server) != end->head);
		pthread_mutex_unlock(&ends_lock);
	}
}

/* A long MAD, from a sealed file. */
static uint32_t take_long(uint32_t id, int file)
{
	uint8_t *umad = malloc(BUFFER_SIZE);
	ssize_t got = pread(file, umad, BUFFER_SIZE, 0);

	if (got < HEADER || !(fcntl(file, F_GET_SEALS) & F_SEAL_WRITE))
		abort();
	pthread_mutex_lock(&ends_lock);
	if (ends[id]) {
		echo_all(ends[id]); /* the earlier writes */
		echo(ends[id], umad, got);
	}
	pthread_mutex_unlock(&ends_lock);
	free(umad);
	return atomic_load(&server.refuse);
}

static void answer_call(int fd)
{
	struct wire_return answer = {.flags = IB_USER_MAD_USER_RMPP};
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct wire_call call;
	struct iovec part = {&call, sizeof(call)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	int file = -1, fetched = -1;

	if (recvmsg(fd, &message, 0) != sizeof(call))
		return;
	pthread_mutex_lock(&ends_lock);
	server.call = call;
	pthread_mutex_unlock(&ends_lock);
	if (CMSG_FIRSTHDR(&message))
		memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(file));
	if (call.function == WIRE_REGISTER) {
		answer.error = atomic_load(&server.refuse);
		if (call.flags & ~IB_USER_MAD_USER_RMPP)
			answer.error = EINVAL;
		answer.agent = answer.error ? 0 : atomic_fetch_add(&server.agents, 1);
	}
	if (call.function == WIRE_SEND)
		answer.error = take_long(call.id, file);
	if (call.function == WIRE_FETCH)
		fetched = atomic_exchange(&long_answer, -1);
	send_with_file(fd, &answer, sizeof(answer), fetched);
	if (file >= 0)
		close(file);
	if (fetched >= 0)
		close(fetched);
}

static int make_rings(struct device_end *end)
{
	int file = memfd_create("rings", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (ftruncate(file, sizeof(*end->rings)) || fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK))
		abort();
	end->rings = mmap(NULL, sizeof(*end->rings), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (end->rings == MAP_FAILED)
		abort();
	return file;
}

static void *serve(void *arg)
{
	static atomic_uint next_id;
	struct wire_welcome welcome = {.magic = WIRE_MAGIC, .version = WIRE_VERSION};
	struct device_end end = {.fd = (int)(intptr_t)arg};
	struct wire_hello hello;
	int file = -1;

	if (recv(end.fd, &hello, sizeof(hello), 0) != sizeof(hello))
		abort();
	if (hello.kind == WIRE_UMAD || hello.kind == WIRE_ISSM) {
		pthread_mutex_lock(&ends_lock);
		server.hello = hello;
		pthread_mutex_unlock(&ends_lock);
		welcome.error = atomic_load(&server.turn_away);
	}
	if (hello.kind == WIRE_UMAD && !welcome.error) {
		file = make_rings(&end);
		welcome.id = atomic_fetch_add(&next_id, 1) % ARRAY_SIZE(ends);
		ends[welcome.id] = &end;
	}
	snprintf(welcome.folder, sizeof(welcome.folder), "%s", directory);
	send_with_file(end.fd, &welcome, sizeof(welcome), file);
	if (hello.kind == WIRE_CALL)
		answer_call(end.fd);
	else if (file >= 0)
		serve_device(&end);
	else if (!welcome.error)
		recv(end.fd, &hello, sizeof(hello), 0); /* until it closes */
	pthread_mutex_lock(&ends_lock);
	if (file >= 0)
		ends[welcome.id] = NULL;
	close(end.fd);
	pthread_mutex_unlock(&ends_lock);
	if (file >= 0) {
		close(file);
		munmap(end.rings, sizeof(*end.rings));
	}
	return NULL;
}

static void *accept_all(void *arg)
{
	pthread_t thread;
	int fd;

	(void)arg;
	while ((fd = accept(server.fd, NULL, NULL)) >= 0) {
		pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd);
		pthread_detach(thread);
	}
	return NULL;
}

static void start_server(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	pthread_t thread;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
	server.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (bind(server.fd, (struct sockaddr *)&address, sizeof(address)) || listen(server.fd, 64))
		abort();
	pthread_create(&thread, NULL, accept_all, NULL);
	pthread_detach(thread);
}

/* The program's side */

static int open_umad(int flags)
{
	int fd = open("/dev/infiniband/umad0", O_RDWR | flags);

	CU_ASSERT_FATAL(fd >= 0);
	return fd;
}

/* An agent of class 3: number 0 of a device, by default with RMPP in the kernel. */
static int add_agent(int fd, uint8_t rmpp_version, uint32_t flags)
{
	struct ib_user_mad_reg_req2 request = {.qpn = 1,
					       .mgmt_class = 3,
					       .mgmt_class_version = 2,
					       .rmpp_version = rmpp_version,
					       .flags = flags,
					       .oui = 0x010203,
					       .method_mask = {2, 1ull << 63}};
	int rc = ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, &request);

	return rc ? -errno : (int)request.id;
}

static int new_device(int flags)
{
	int fd;

	atomic_store(&server.agents, 0);
	fd = open_umad(flags);
	CU_ASSERT_EQUAL_FATAL(add_agent(fd, 1, 0), 0);
	return fd;
}

/* Writes a MAD of this size that wants an answer of that; the errno. */
static int ask(int fd, size_t size, uint32_t wanted, bool rmpp)
{
	uint8_t *umad = calloc(1, HEADER + size + MAD);
	int err;

	umad[HEADER + 1] = 3;
	umad[HEADER + 26] = rmpp;
	memcpy(umad + HEADER + ANSWER_SIZE_AT, &wanted, sizeof(wanted));
	err = write(fd, umad, HEADER + size) == (ssize_t)(HEADER + size) ? 0 : errno;
	free(umad);
	return err;
}

static void wait_for_input(int fd)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};

	CU_ASSERT_EQUAL(poll(&ready, 1, 20000), 1);
	CU_ASSERT(ready.revents & POLLIN);
}

/* Said once; every form fails as on a machine without devices. */
static void test_no_server(void)
{
	struct unit_capture capture;
	char text[512], wanted[256];
	struct stat st;
	int rc[3], err[3];

	unit_capture_begin(&capture);
	rc[0] = open("/dev/infiniband/umad0", O_RDWR), err[0] = errno;
	rc[1] = stat("/sys/class/infiniband", &st), err[1] = errno;
	rc[2] = opendir("/sys/class/infiniband_mad") ? 0 : -1, err[2] = errno;
	unit_capture_end(&capture, text, sizeof(text));
	CU_ASSERT(rc[0] == -1 && err[0] == ENOENT);
	CU_ASSERT(rc[1] == -1 && err[1] == ENOENT);
	CU_ASSERT(rc[2] == -1 && err[2] == ENOENT);
	snprintf(wanted, sizeof(wanted),
		 "weftsim: no server at %s; start one with `weftsim serve`\n", socket_path);
	CU_ASSERT_STRING_EQUAL(text, wanted);
	start_server();
}

/* Paths */

#define SIM0 "/sys/class/infiniband/sim0"

/* Closes it too. */
static bool has_text(int fd)
{
	char text[16] = "";
	bool right = fd >= 0 && read(fd, text, sizeof(text) - 1) == 6 && !strcmp(text, "1.2.3\n");

	if (fd >= 0)
		close(fd);
	return right;
}

static void test_open_forms(void)
{
	FILE *file = fopen(SIM0 "/fw_ver", "r");
	int dir;

	CU_ASSERT_TRUE(has_text(open(SIM0 "/fw_ver", O_RDONLY)));
	CU_ASSERT_TRUE(has_text(open64(SIM0 "/fw_ver", O_RDONLY)));
	CU_ASSERT_TRUE(has_text(openat(AT_FDCWD, SIM0 "/fw_ver", O_RDONLY)));
	CU_ASSERT_TRUE(has_text(openat64(AT_FDCWD, SIM0 "/fw_ver", O_RDONLY)));
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_TRUE(has_text(dup(fileno(file))));
	fclose(file);
	dir = open(SIM0, O_RDONLY | O_DIRECTORY);
	CU_ASSERT_TRUE(has_text(openat(dir, "fw_ver", O_RDONLY)));
	close(dir);
	CU_ASSERT(open(SIM0 "x/fw_ver", O_RDONLY) < 0 && errno == ENOENT);
	/* A file that the program makes, with its mode. */
	dir = open("/sys/class/infiniband/made", O_CREAT | O_WRONLY, 0640);
	CU_ASSERT(dir >= 0);
	close(dir);
}

static void test_other_forms(void)
{
	struct dirent **list;
	struct statx stx;
	struct stat st;
	char text[PATH_MAX] = "", *real;
	DIR *dir;
	int i, count;

	CU_ASSERT(!stat(SIM0, &st) && S_ISDIR(st.st_mode));
	CU_ASSERT(!lstat("/sys/class/infiniband/link", &st) && S_ISLNK(st.st_mode));
	CU_ASSERT(!fstatat(AT_FDCWD, SIM0, &st, 0) && S_ISDIR(st.st_mode));
	CU_ASSERT(!statx(AT_FDCWD, SIM0, 0, STATX_TYPE, &stx) && S_ISDIR(stx.stx_mode));
	CU_ASSERT(!access(SIM0, R_OK) && !eaccess(SIM0, R_OK) && !euidaccess(SIM0, R_OK));
	CU_ASSERT(!faccessat(AT_FDCWD, SIM0, R_OK, 0));
	CU_ASSERT(access("/sys/class/infiniband_verbs", F_OK) && errno == ENOENT);
	CU_ASSERT_EQUAL(readlink("/sys/class/infiniband/link", text, sizeof(text)), 4);
	CU_ASSERT_EQUAL(readlinkat(AT_FDCWD, "/sys/class/infiniband/link", text, 8), 4);
	real = realpath("/sys/class/infiniband/link", NULL);
	snprintf(text, sizeof(text), "%s" SIM0, directory);
	CU_ASSERT(real && !strcmp(real, text));
	free(real);
	dir = opendir("/dev/infiniband");
	CU_ASSERT_PTR_NOT_NULL_FATAL(dir);
	closedir(dir);
	count = scandir(SIM0, &list, NULL, alphasort);
	CU_ASSERT_EQUAL(count, 3);
	for (i = 0; i < count; i++)
		free(list[i]);
	free(list);
}

/* Names that only look alike go where they always went. */
static void test_foreign_paths(void)
{
	struct stat st;

	CU_ASSERT(stat("/sys/class/infinibandx", &st) && errno == ENOENT);
	CU_ASSERT(!stat("/dev/null", &st) && S_ISCHR(st.st_mode));
	CU_ASSERT(stat("sys/class/infiniband", &st) && errno == ENOENT);
	CU_ASSERT(open("/dev/infiniband/umad", O_RDWR) < 0 && errno == ENOENT);
	CU_ASSERT(open("/dev/infiniband/umad0x", O_RDWR) < 0 && errno == ENOENT);
}

/* As daemons do: the child closes all descriptors and changes its folder. Files that it opens then
 * work. */
static void test_after_closing_all(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		closefrom(3);
		if (chdir("/"))
			_exit(1);
		_exit(access(SIM0 "/fw_ver", R_OK) ? 2 : 0);
	}
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT(!access(SIM0 "/fw_ver", R_OK));
	if (!(pid = fork()))
		_exit(chdir(SIM0) || access("fw_ver", R_OK));
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_EQUAL(status, 0);
}

/* Devices */

static void test_open_device(void)
{
	char node[WIRE_NAME_SIZE + 1];
	int fd = open("/dev/infiniband/umad3", O_RDWR | O_NONBLOCK | O_CLOEXEC);

	CU_ASSERT(fd >= 0);
	CU_ASSERT(fcntl(fd, F_GETFL) & O_NONBLOCK);
	CU_ASSERT_EQUAL(fcntl(fd, F_GETFD), FD_CLOEXEC);
	CU_ASSERT_EQUAL(server.hello.kind, WIRE_UMAD);
	CU_ASSERT_EQUAL(server.hello.minor, 3);
	CU_ASSERT_STRING_EQUAL(server.hello.node, "leaf-01");
	close(fd);
	fd = open("/dev/infiniband/issm2", O_RDWR);
	CU_ASSERT_EQUAL(server.hello.kind, WIRE_ISSM);
	CU_ASSERT_EQUAL(server.hello.minor, 2);
	CU_ASSERT_FALSE(server.hello.nonblock);
	CU_ASSERT_FALSE(fcntl(fd, F_GETFL) & O_NONBLOCK);
	CU_ASSERT_EQUAL(fcntl(fd, F_GETFD), 0);
	CU_ASSERT(read(fd, node, sizeof(node)) < 0 && errno == EINVAL);
	close(fd);
	atomic_store(&server.turn_away, EAGAIN);
	CU_ASSERT(open("/dev/infiniband/issm2", O_RDWR | O_NONBLOCK) < 0 && errno == EAGAIN);
	CU_ASSERT_TRUE(server.hello.nonblock);
	atomic_store(&server.turn_away, 0);
	memset(node, 'x', sizeof(node) - 1);
	node[sizeof(node) - 1] = '\0';
	setenv("WEFTSIM_NODE", node, 1);
	CU_ASSERT(open("/dev/infiniband/umad0", O_RDWR) < 0 && errno == ENAMETOOLONG);
	setenv("WEFTSIM_NODE", "leaf-01", 1);
}

static void test_register(void)
{
	struct ib_user_mad_reg_req old = {.qpn = 1,
					  .mgmt_class = 0x32,
					  .mgmt_class_version = 1,
					  .oui = {0, 0x14, 5},
					  .rmpp_version = 1,
					  .method_mask = {6, 1}};
	struct ib_user_mad_reg_req2 strange = {.qpn = 1, .flags = 0x80};
	int fd = open_umad(0);
	uint32_t agent = 0;

	atomic_store(&server.agents, 0);
	CU_ASSERT_EQUAL(ask(fd, MAD, 0, false), EIO); /* no agent */
	CU_ASSERT_EQUAL(ioctl(fd, IB_USER_MAD_ENABLE_PKEY), 0);
	CU_ASSERT_EQUAL(ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &old), 0);
	CU_ASSERT_EQUAL(old.id, 0);
	CU_ASSERT_EQUAL(server.call.mgmt_class, 0x32);
	CU_ASSERT_EQUAL(server.call.oui, 0x1405);
	CU_ASSERT(server.call.method_mask[0] == 6 && server.call.method_mask[1] == 1);
	CU_ASSERT(ioctl(fd, IB_USER_MAD_ENABLE_PKEY) && errno == EINVAL); /* too late */
	CU_ASSERT_EQUAL(add_agent(fd, 1, IB_USER_MAD_USER_RMPP), 1);
	CU_ASSERT_EQUAL(server.call.oui, 0x010203);
	CU_ASSERT_EQUAL(server.call.method_mask[1], 1ull << 63);
	CU_ASSERT(ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, &strange) && errno == EINVAL);
	CU_ASSERT_EQUAL(strange.flags, IB_USER_MAD_USER_RMPP);
	atomic_store(&server.refuse, EPERM);
	CU_ASSERT_EQUAL(add_agent(fd, 1, 0), -EPERM);
	atomic_store(&server.refuse, 0);
	CU_ASSERT_EQUAL(ask(fd, MAD, 0, false), 0);
	CU_ASSERT_EQUAL(ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &agent), 0);
	CU_ASSERT_EQUAL(server.call.function, WIRE_UNREGISTER);
	CU_ASSERT(ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &agent) && errno == EINVAL);
	CU_ASSERT_EQUAL(ask(fd, MAD, 0, false), EIO);
	CU_ASSERT(ioctl(fd, IB_USER_MAD_REGISTER_AGENT, NULL) && errno == EFAULT);
	CU_ASSERT(ioctl(fd, FIONREAD, &agent) && errno == ENOTTY);
	close(fd);
}

/* Writes that are refused at once. */
static void test_write_rules(void)
{
	static const struct {
		uint8_t rmpp_version;
		uint32_t flags;
		size_t size;
		bool rmpp;
		int error;
	} cases[] = {
		{1, 0, 24, false, EINVAL},
		{1, 0, 35, false, EINVAL},
		{1, 0, 36, false, EINVAL}, /* shorter than the headers of the SA */
		{1, 0, 55, false, EINVAL},
		{1, 0, 56, false, 0},
		{1, 0, 256, false, 0},
		{1, 0, 257, false, EINVAL},
		{1, 0, 257, true, 0},
		{1, 0, 40000, true, 0},
		{0, 0, 257, true, EINVAL},
		{1, IB_USER_MAD_USER_RMPP, 257, true, EINVAL},
		{1, IB_USER_MAD_USER_RMPP, 256, true, 0},
	};
	size_t i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		fd = open_umad(O_NONBLOCK);
		atomic_store(&server.agents, 0);
		CU_ASSERT_EQUAL(add_agent(fd, cases[i].rmpp_version, cases[i].flags), 0);
		CU_ASSERT_EQUAL(ask(fd, cases[i].size, 0, cases[i].rmpp), cases[i].error);
		close(fd);
	}
}

/* Reads an answer of this size into buffers of several sizes. An answer that does not fit stays. */
static void check_read(int fd, size_t size, size_t header_size)
{
	size_t first = size < MAD ? size : MAD,
	       counts[] = {header_size - 1, header_size, header_size + first - 1,
			   header_size + first, header_size + size};
	struct ib_user_mad_hdr header;
	uint8_t *umad = malloc(header_size + size);
	ssize_t got;
	size_t i, at;
	int wanted;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		wanted = counts[i] < header_size + first ? EINVAL : ENOSPC;
		memset(umad, 0xee, header_size + size);
		got = read(fd, umad, counts[i]);
		memcpy(&header, umad, SHORT_HEADER);
		if (counts[i] == header_size + size) {
			CU_ASSERT_EQUAL(got, (ssize_t)counts[i]);
			break;
		}
		CU_ASSERT(got == -1 && errno == wanted);
		if (wanted == ENOSPC)
			CU_ASSERT_EQUAL(header.length, header_size + size);
	}
	CU_ASSERT_EQUAL(header.length, size < 36 ? 0 : header_size + size);
	for (at = MAD; at < size && umad[header_size + at] == filling(at); at++)
		;
	CU_ASSERT_EQUAL(at, size < MAD ? MAD : size);
	free(umad);
}

static void test_read_sizes(void)
{
	static const uint32_t sizes[] = {24, 256, 257, 512, 2000, 32767, 32768, 32769, 1000000};
	int fd = new_device(0), flags = fcntl(fd, F_GETFL);
	uint8_t umad[HEADER];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		CU_ASSERT_EQUAL(ask(fd, MAD, sizes[i], false), 0);
		wait_for_input(fd);
		check_read(fd, sizes[i], HEADER);
	}
	/* Two in a row: the second waits until the first is read. */
	CU_ASSERT_EQUAL(ask(fd, MAD, 40000, false), 0);
	CU_ASSERT_EQUAL(ask(fd, MAD, 24, false), 0);
	wait_for_input(fd);
	check_read(fd, 40000, HEADER);
	wait_for_input(fd);
	check_read(fd, 24, HEADER);
	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	CU_ASSERT(read(fd, umad, sizeof(umad)) < 0 && errno == EAGAIN);
	close(fd);
}

static void test_write_long(void)
{
	static const size_t sizes[] = {257, 32768, 32769, 700000};
	int fd = new_device(0);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint8_t *sent = malloc(HEADER + sizes[i]), *got = malloc(HEADER + sizes[i]);
		size_t at;

		memset(sent, 0, HEADER);
		for (at = 0; at < sizes[i]; at++)
			sent[HEADER + at] = at < 128 ? 0 : at * 13;
		sent[HEADER + 1] = 3;
		sent[HEADER + 26] = 1;
		CU_ASSERT_EQUAL(write(fd, sent, HEADER + sizes[i]), (ssize_t)(HEADER + sizes[i]));
		CU_ASSERT_EQUAL(read(fd, got, HEADER + sizes[i]), (ssize_t)(HEADER + sizes[i]));
		CU_ASSERT_EQUAL(memcmp(sent + HEADER, got + HEADER, sizes[i]), 0);
		free(sent);
		free(got);
	}
	close(fd);
}

/* A program that does not know of pkey_index. */
static void test_short_header(void)
{
	struct ib_user_mad_reg_req request = {.qpn = 1, .mgmt_class = 3, .mgmt_class_version = 2};
	uint8_t umad[SHORT_HEADER + MAD] = {0};
	uint32_t wanted = 300;
	int fd = open_umad(0);

	atomic_store(&server.agents, 0);
	CU_ASSERT_EQUAL(ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &request), 0);
	CU_ASSERT(write(fd, umad, SHORT_HEADER + 35) < 0 && errno == EINVAL);
	memcpy(umad + SHORT_HEADER + ANSWER_SIZE_AT, &wanted, sizeof(wanted));
	CU_ASSERT_EQUAL(write(fd, umad, sizeof(umad)), (ssize_t)sizeof(umad));
	wait_for_input(fd);
	check_read(fd, wanted, SHORT_HEADER);
	close(fd);
}

static void test_waiting(void)
{
	struct epoll_event event = {.events = EPOLLIN}, happened;
	int fd = new_device(O_NONBLOCK), poller = epoll_create1(0);
	struct pollfd ready = {.fd = fd, .events = POLLIN | POLLOUT};
	struct timeval patience = {20, 0};
	fd_set set;

	CU_ASSERT_EQUAL(poll(&ready, 1, 0), 1);
	CU_ASSERT_EQUAL(ready.revents, POLLOUT);
	CU_ASSERT_EQUAL(epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event), 0);
	CU_ASSERT_EQUAL(ask(fd, MAD, 0, false), 0);
	CU_ASSERT_EQUAL(epoll_wait(poller, &happened, 1, 20000), 1);
	FD_ZERO(&set);
	FD_SET(fd, &set);
	CU_ASSERT_EQUAL(select(fd + 1, &set, NULL, NULL, &patience), 1);
	wait_for_input(fd);
	close(poller);
	close(fd);
}

/* Copies of a descriptor are the device, also after others are closed. A number that is used again
 * is not. */
static void test_copies(void)
{
	int fd = new_device(O_NONBLOCK), pipes[2], i;
	int copies[] = {dup(fd), fcntl(fd, F_DUPFD, 40), fcntl(fd, F_DUPFD_CLOEXEC, 50), -1, -1};
	char byte = 0;

	CU_ASSERT_EQUAL_FATAL(pipe(pipes), 0);
	copies[3] = dup2(fd, pipes[1]);
	copies[4] = dup3(fd, 60, O_CLOEXEC);
	close(fd);
	CU_ASSERT(read(fd, &byte, 1) < 0 && errno == EBADF);
	for (i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(ask(copies[i], MAD, 24, false), 0);
		wait_for_input(copies[4]);
		check_read(copies[4], 24, HEADER);
	}
	CU_ASSERT(dup2(-1, copies[0]) < 0 && errno == EBADF);
	CU_ASSERT_EQUAL(ask(copies[0], MAD, 0, false), 0);
	for (i = 0; i < 5; i++)
		close(copies[i]);
	close(pipes[0]);
	CU_ASSERT_EQUAL_FATAL(pipe(pipes), 0);
	CU_ASSERT_EQUAL(write(pipes[1], &byte, 1), 1);
	CU_ASSERT_EQUAL(read(pipes[0], &byte, 1), 1);
	CU_ASSERT_EQUAL(dup2(pipes[0], 60), 60);
	close_range(60, 60, 0);
	close(pipes[0]);
	close(pipes[1]);
}

static atomic_int exchanged, wrong;

static void *exchange(void *arg)
{
	uint8_t umad[HEADER + MAD], big[HEADER + 3000];
	int fd = arg ? *(int *)arg : open("/dev/infiniband/umad0", O_RDWR), i;
	struct ib_user_mad_reg_req2 request = {.qpn = 1, .rmpp_version = 1};

	if (!arg && ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, &request))
		atomic_fetch_add(&wrong, 1);
	for (i = 0; i < 200; i++) {
		uint32_t wanted = i % 3 ? 0 : 3000;

		memset(umad, 0, sizeof(umad));
		memcpy(umad, &request.id, sizeof(request.id));
		umad[HEADER + 1] = 3; /* a class with RMPP, as the agent */
		memcpy(umad + HEADER + ANSWER_SIZE_AT, &wanted, sizeof(wanted));
		if (write(fd, umad, sizeof(umad)) != sizeof(umad))
			atomic_fetch_add(&wrong, 1);
		if (read(fd, big, sizeof(big)) < HEADER + MAD)
			atomic_fetch_add(&wrong, 1);
		atomic_fetch_add(&exchanged, 1);
	}
	if (!arg)
		close(fd);
	return NULL;
}

/* Each on a device of its own, or all on one. */
static void test_threads(void)
{
	int shared = new_device(0), i;
	pthread_t threads[8];

	atomic_store(&server.agents, 0);
	for (i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, exchange, i < 4 ? NULL : &shared);
	for (i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	CU_ASSERT_EQUAL(exchanged, 1600);
	CU_ASSERT_EQUAL(wrong, 0);
	close(shared);
}

static void test_fork(void)
{
	int fd = new_device(0), status;
	pid_t pid = fork();

	if (!pid) {
		int own = open("/dev/infiniband/umad0", O_RDWR);
		struct ib_user_mad_reg_req2 request = {.qpn = 1};
		uint8_t umad[HEADER + MAD];
		bool good = own >= 0 && !ioctl(own, IB_USER_MAD_REGISTER_AGENT2, &request);

		/* The descriptor inherited from the parent works too. */
		good = good && !ask(fd, MAD, 0, false) &&
		       read(fd, umad, sizeof(umad)) == sizeof(umad);
		_exit(!good);
	}
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_EQUAL(ask(fd, MAD, 24, false), 0);
	wait_for_input(fd);
	check_read(fd, 24, HEADER);
	close(fd);
}

/* As Python's subprocess does: the child closes its descriptors before it executes a program. */
static void test_vfork(void)
{
	int fd = new_device(0), status;
	pid_t pid = vfork();

	if (!pid) {
		close(fd);
		closefrom(3);
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_EQUAL(ask(fd, MAD, 24, false), 0);
	wait_for_input(fd);
	check_read(fd, 24, HEADER);
	close(fd);
}

static atomic_int written;

static void *write_many(void *arg)
{
	int fd = *(int *)arg, i;

	for (i = 0; i < 2000; i++, atomic_fetch_add(&written, 1))
		if (ask(fd, MAD, 0, false))
			break;
	return NULL;
}

/* A server that does not keep up blocks a writer without an error. Then all messages arrive. */
static void test_full(void)
{
	int fd = new_device(O_NONBLOCK), before = -1, i;
	uint8_t umad[HEADER + MAD];
	pthread_t thread;

	atomic_store(&server.hold, true);
	pthread_create(&thread, NULL, write_many, &fd);
	/* Until the writer is stuck, or, with large buffers, through. */
	while (written < 10 || before != written) {
		before = written;
		usleep(50000);
	}
	atomic_store(&server.hold, false);
	for (i = 0; i < 2000; i++) {
		wait_for_input(fd);
		if (read(fd, umad, sizeof(umad)) != sizeof(umad))
			break;
	}
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(written, 2000);
	CU_ASSERT_EQUAL(i, 2000);
	close(fd);
}

/* As when a device is pulled. */
static void test_server_leaves(void)
{
	int fd = new_device(0);
	uint8_t umad[HEADER + MAD];
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	struct timespec begin, end;

	atomic_store(&server.hang_up, true);
	CU_ASSERT_EQUAL(ask(fd, MAD, 0, false), 0);
	CU_ASSERT_EQUAL(poll(&ready, 1, 20000), 1);
	CU_ASSERT(ready.revents & POLLHUP);
	CU_ASSERT(read(fd, umad, sizeof(umad)) < 0 && errno == EIO);
	CU_ASSERT_EQUAL(ask(fd, MAD, 0, false), EIO);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (unsigned i = 0; i < 8; i++)
		CU_ASSERT(read(fd, umad, sizeof(umad)) < 0 && errno == EIO);
	clock_gettime(CLOCK_MONOTONIC, &end);
	/* A program that reads on is slowed down: the last two reads took a second each. */
	CU_ASSERT(end.tv_sec - begin.tv_sec >= 1);
	close(fd);
	atomic_store(&server.hang_up, false);
	/* The next device works again. */
	fd = new_device(0);
	CU_ASSERT_EQUAL(ask(fd, MAD, 24, false), 0);
	wait_for_input(fd);
	check_read(fd, 24, HEADER);
	close(fd);
}

static void remove_all(void)
{
	char command[128];

	snprintf(command, sizeof(command), "exec rm -rf %s", directory);
	if (system(command))
		perror(directory);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"no server", test_no_server},
		{"open: all forms", test_open_forms},
		{"the other functions of paths", test_other_forms},
		{"paths that are not ours", test_foreign_paths},
		{"after closing everything", test_after_closing_all},
		{"open a device", test_open_device},
		{"agents", test_register},
		{"refused writes", test_write_rules},
		{"sizes of reads", test_read_sizes},
		{"long writes", test_write_long},
		{"header without pkey_index", test_short_header},
		{"poll, select, epoll", test_waiting},
		{"copies of descriptors", test_copies},
		{"threads", test_threads},
		{"fork", test_fork},
		{"vfork", test_vfork},
		{"a server that is behind", test_full},
		{"the server leaves", test_server_leaves},
		CU_TEST_INFO_NULL,
	};
	int failed;

	if (!mkdtemp(directory))
		return 1;
	snprintf(socket_path, sizeof(socket_path), "%s/socket", directory);
	setenv("WEFTSIM_SOCKET", socket_path, 1);
	setenv("WEFTSIM_NODE", "leaf-01", 1);
	put_folder();
	failed = unit_main("preload", tests);
	remove_all();
	return failed;
}
