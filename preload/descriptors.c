/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The C library's functions that take a descriptor: calls for an open device go to preload/device.c
 * and preload/mads.c, all others to the next function. A device is forgotten before its number
 * becomes free, so that another thread that gets the number does not use the device.
 */
#include <limits.h>
#include <stdarg.h>

#include "preload/device.h"
#include "preload/next.h"

ssize_t read(int fd, void *buf, size_t count)
{
	struct device *device = device_find(fd);

	return device ? device_read(device, fd, buf, count) : next()->read(fd, buf, count);
}

/* A count larger than the buffer goes to the C library, which ends the program. */
ssize_t __read_chk(int fd, void *buf, size_t count, size_t room)
{
	struct device *device = count <= room ? device_find(fd) : NULL;

	return device ? device_read(device, fd, buf, count)
		      : next()->__read_chk(fd, buf, count, room);
}

ssize_t write(int fd, const void *buf, size_t count)
{
	struct device *device = device_find(fd);

	return device ? device_write(device, fd, buf, count) : next()->write(fd, buf, count);
}

/* The third argument of ioctl() and fcntl(), if there is one, is a pointer or fits into one. */
#define ARGUMENT(argument, before)                \
	void *argument;                           \
                                                  \
	do {                                      \
		va_list list_;                    \
                                                  \
		va_start(list_, before);          \
		argument = va_arg(list_, void *); \
		va_end(list_);                    \
	} while (0)

int ioctl(int fd, unsigned long request, ...)
{
	struct device *device = device_find(fd);
	ARGUMENT(argument, request);

	return device ? device_ioctl(device, fd, request, argument)
		      : next()->ioctl(fd, request, argument);
}

int close(int fd)
{
	device_forget(fd);
	return next()->close(fd);
}

int close_range(unsigned first, unsigned last, int flags)
{
	if (!(flags & CLOSE_RANGE_CLOEXEC))
		device_forget_range(first, last);
	return next()->close_range(first, last, flags);
}

void closefrom(int first)
{
	device_forget_range(first > 0 ? first : 0, UINT_MAX);
	next()->closefrom(first);
}

int dup(int fd)
{
	int copy = next()->dup(fd);

	device_copied(fd, copy);
	return copy;
}

/* These close the former descriptor with the copy's number, if they succeed. */
static int descriptor_replaced(int fd, int copy)
{
	if (copy >= 0 && copy != fd) {
		device_forget(copy);
		device_copied(fd, copy);
	}
	return copy;
}

int dup2(int fd, int copy)
{
	return descriptor_replaced(fd, next()->dup2(fd, copy));
}

int dup3(int fd, int copy, int flags)
{
	return descriptor_replaced(fd, next()->dup3(fd, copy, flags));
}

static int copied(int fd, int command, int result)
{
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
		device_copied(fd, result);
	return result;
}

int fcntl(int fd, int command, ...)
{
	ARGUMENT(argument, command);

	return copied(fd, command, next()->fcntl(fd, command, argument));
}

int fcntl64(int fd, int command, ...)
{
	ARGUMENT(argument, command);

	return copied(fd, command, next()->fcntl64(fd, command, argument));
}
