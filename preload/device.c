/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Open device files: the table of the process's descriptors of devices, and their ioctl()s. The
 * server decides in place of the kernel; this file keeps the state that write() needs to refuse at
 * once what ib_umad refuses at once (drivers/infiniband/core/user_mad.c).
 *
 * Devices are in a fixed table and are never freed, only reused. So a thread that reads a device
 * while another thread closes it may use another device at worst, as it could use another file
 * under Linux.
 */
#include "preload/device.h"

#include <errno.h>
#include <rdma/ib_user_mad.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/next.h"
#include "preload/server.h"

enum { DEVICES_MAX = 1024, FDS_MAX = 65536 };

static struct device devices[DEVICES_MAX + 1]; /* from 1 */
/* By descriptor: its device, or 0. */
static _Atomic uint16_t device_of_fd[FDS_MAX];

/* A child of vfork() has its parent's memory, and so this table, but descriptors of its own: its
 * close() or dup() before exec() must not change the table. */
static pid_t table_owner;

static void own_table(void)
{
	table_owner = getpid();
}

__attribute__((constructor)) static void device_watch_forks(void)
{
	own_table();
	pthread_atfork(NULL, NULL, own_table);
}

static int device_fails(int err)
{
	errno = -err;
	return -1;
}

struct device *device_find(int fd)
{
	unsigned i;

	if ((unsigned)fd >= FDS_MAX)
		return NULL;
	i = atomic_load_explicit(&device_of_fd[fd], memory_order_acquire);
	return i ? &devices[i] : NULL;
}

static struct device *device_take(void)
{
	bool taken;
	unsigned i;

	for (i = 1; i <= DEVICES_MAX; i++) {
		taken = false;
		if (atomic_compare_exchange_strong(&devices[i].taken, &taken, true))
			return &devices[i];
	}
	return NULL;
}

/* Maps rings, or empty memory (file -1), in place of the device's former rings, so that a thread in
 * a read() of the former device still finds memory there. */
static int device_map(struct device *device, int file)
{
	int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
	void *at = mmap(device->rings, sizeof(*device->rings), PROT_READ | PROT_WRITE,
			flags | (device->rings ? MAP_FIXED : 0), file, 0);

	if (at == MAP_FAILED)
		return -ENOMEM;
	device->rings = at;
	return 0;
}

static void device_drop(struct device *device)
{
	if (device->rings)
		device_map(device, -1);
	atomic_store(&device->taken, false);
}

static void init_locks(struct device_locks *locks)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&locks->reading, &attributes);
	pthread_mutex_init(&locks->writing, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

/* The file of the rings must have their length and keep it, or access to them would end the
 * process. */
static int device_init(struct device *device, enum wire_kind kind, uint32_t id, int file)
{
	struct stat st;
	int err;

	device->kind = kind;
	device->id = id;
	atomic_store(&device->descriptors, 1);
	atomic_store(&device->agents, 0);
	atomic_store(&device->with_rmpp, 0);
	atomic_store(&device->rmpp_agents, 0);
	atomic_store(&device->used, false);
	atomic_store(&device->has_pkey, false);
	atomic_store(&device->gone, 0);
	if (kind != WIRE_UMAD)
		return 0;
	if (file < 0 || fstat(file, &st) || st.st_size < (off_t)sizeof(*device->rings) ||
	    !(next()->fcntl(file, F_GET_SEALS) & F_SEAL_SHRINK))
		return -EPROTO;
	err = device_map(device, file);
	if (!err)
		init_locks(device_locks(device));
	return err;
}

static void device_put(int fd, struct device *device)
{
	atomic_store_explicit(&device_of_fd[fd], device - devices, memory_order_release);
}

/* Linux accepts only these flags for a device; a connection does not need them. */
static int take_flags(int fd, int flags)
{
	if (!(flags & O_CLOEXEC) && next()->fcntl(fd, F_SETFD, 0))
		return -errno;
	if ((flags & O_NONBLOCK) && next()->fcntl(fd, F_SETFL, O_NONBLOCK))
		return -errno;
	return 0;
}

static int device_attach(int fd, enum wire_kind kind, uint32_t id, int file, int flags)
{
	struct device *device;
	int err = take_flags(fd, flags);

	if (err)
		return err;
	device = fd < FDS_MAX ? device_take() : NULL;
	if (!device)
		return -EMFILE;
	err = device_init(device, kind, id, file);
	if (err) {
		device_drop(device);
		return err;
	}
	device_put(fd, device);
	return 0;
}

int device_open(enum wire_kind kind, unsigned minor, int flags)
{
	struct wire_welcome welcome = {0};
	int fd, err, file = -1;

	fd = server_connect(kind, minor, flags & O_NONBLOCK, &welcome, &file);
	if (fd < 0)
		return device_fails(fd);
	err = device_attach(fd, kind, welcome.id, file, flags);
	if (file >= 0)
		next()->close(file);
	if (err) {
		next()->close(fd);
		return device_fails(err);
	}
	return fd;
}

void device_forget(int fd)
{
	unsigned i;

	if ((unsigned)fd >= FDS_MAX)
		return;
	/* Most descriptors are no device: their entries are only read. */
	if (!atomic_load_explicit(&device_of_fd[fd], memory_order_relaxed) ||
	    getpid() != table_owner)
		return;
	i = atomic_exchange(&device_of_fd[fd], 0);
	if (i && atomic_fetch_sub(&devices[i].descriptors, 1) == 1)
		device_drop(&devices[i]);
}

void device_forget_range(unsigned from, unsigned to)
{
	for (; from <= to && from < FDS_MAX; from++)
		device_forget(from);
}

void device_copied(int fd, int copy)
{
	struct device *device = device_find(fd);

	if (!device || copy < 0 || copy >= FDS_MAX || getpid() != table_owner)
		return;
	atomic_fetch_add(&device->descriptors, 1);
	device_put(copy, device);
}

/* Records the granted registration; answer has the known flags of a refused registration. */
static int device_register(struct device *device, const struct wire_call *call,
			   struct wire_return *answer)
{
	int err = server_call(call, -1, answer, NULL);
	uint32_t bit;

	if (err)
		return err;
	if (answer->error)
		return -(int)answer->error;
	if (answer->agent >= DEVICE_AGENTS_MAX)
		return -EPROTO;
	bit = 1u << answer->agent;
	if (call->rmpp_version)
		atomic_fetch_or(&device->with_rmpp, bit);
	else
		atomic_fetch_and(&device->with_rmpp, ~bit);
	if (call->rmpp_version && !(call->flags & IB_USER_MAD_USER_RMPP))
		atomic_fetch_or(&device->rmpp_agents, bit);
	else
		atomic_fetch_and(&device->rmpp_agents, ~bit);
	atomic_fetch_or(&device->agents, bit);
	return 0;
}

static int device_register_agent(struct device *device, void *argument)
{
	struct ib_user_mad_reg_req *request = argument;
	struct wire_call call = {.function = WIRE_REGISTER,
				 .id = device->id,
				 .qpn = request->qpn,
				 .mgmt_class = request->mgmt_class,
				 .mgmt_class_version = request->mgmt_class_version,
				 .rmpp_version = request->rmpp_version,
				 .oui = (uint32_t)request->oui[0] << 16 | request->oui[1] << 8 |
					request->oui[2]};
	struct wire_return answer = {0};
	int err;

	memcpy(call.method_mask, request->method_mask, sizeof(call.method_mask));
	err = device_register(device, &call, &answer);
	if (err)
		return err;
	request->id = answer.agent;
	atomic_store(&device->used, true);
	return 0;
}

static int register_agent2(struct device *device, void *argument)
{
	struct ib_user_mad_reg_req2 *request = argument;
	struct wire_call call = {.function = WIRE_REGISTER,
				 .id = device->id,
				 .qpn = request->qpn,
				 .mgmt_class = request->mgmt_class,
				 .mgmt_class_version = request->mgmt_class_version,
				 .rmpp_version = request->rmpp_version,
				 .flags = request->flags,
				 .oui = request->oui};
	struct wire_return answer = {0};
	int err;

	memcpy(call.method_mask, request->method_mask, sizeof(call.method_mask));
	err = device_register(device, &call, &answer);
	if (err) {
		if (err == -EINVAL && (request->flags & ~answer.flags))
			request->flags = answer.flags;
		return err;
	}
	request->id = answer.agent;
	/* A program that uses this call knows the longer header. */
	if (!atomic_exchange(&device->used, true))
		atomic_store(&device->has_pkey, true);
	return 0;
}

static int unregister_agent(struct device *device, void *argument)
{
	struct wire_call call = {.function = WIRE_UNREGISTER, .id = device->id};
	struct wire_return answer = {0};
	uint32_t bit;
	int err;

	memcpy(&call.agent, argument, sizeof(call.agent));
	if (call.agent >= DEVICE_AGENTS_MAX)
		return -EINVAL;
	bit = 1u << call.agent;
	if (!(atomic_fetch_and(&device->agents, ~bit) & bit))
		return -EINVAL;
	err = server_call(&call, -1, &answer, NULL);
	return err ? err : -(int)answer.error;
}

static int enable_pkey(struct device *device, void *argument)
{
	(void)argument;
	if (atomic_load(&device->used))
		return -EINVAL;
	atomic_store(&device->has_pkey, true);
	return 0;
}

int device_ioctl(struct device *device, int fd, unsigned long request, void *argument)
{
	static const struct {
		unsigned long request;
		int (*function)(struct device *device, void *argument);
	} rows[] = {
		{IB_USER_MAD_REGISTER_AGENT, device_register_agent},
		{IB_USER_MAD_REGISTER_AGENT2, register_agent2},
		{IB_USER_MAD_UNREGISTER_AGENT, unregister_agent},
		{IB_USER_MAD_ENABLE_PKEY, enable_pkey},
	};
	int before = errno, err;
	size_t i;

	for (i = 0; device->kind == WIRE_UMAD && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].request == request) {
			if (!argument && rows[i].function != enable_pkey)
				return device_fails(-EFAULT);
			err = rows[i].function(device, argument);
			errno = before;
			return err ? device_fails(err) : 0;
		}
	/* Operations for any descriptor also apply to a connection; it would misinterpret the
	 * others. */
	if (request == FIONBIO || request == FIOCLEX || request == FIONCLEX || request == FIOASYNC)
		return next()->ioctl(fd, request, argument);
	return device_fails(-ENOTTY);
}
