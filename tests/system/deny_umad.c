/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A preload library that refuses to open /dev/infiniband/umad*, as the kernel does for a user
 * without rights on it. It stands before ibsim's library in LD_PRELOAD.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

int open(const char *path, int flags, ...)
{
	static int (*next)(const char *, int, ...);
	va_list arguments;
	int mode;

	if (!strncmp(path, "/dev/infiniband/umad", strlen("/dev/infiniband/umad"))) {
		errno = EACCES;
		return -1;
	}
	if (!next)
		next = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
	va_start(arguments, flags);
	mode = flags & O_CREAT ? va_arg(arguments, int) : 0;
	va_end(arguments);
	return next(path, flags, mode);
}
