/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A preload library for OpenSM on ibsim: a Trap that it writes is sent, but it is told that it was
 * not. OpenSM waits for each Trap's TrapRepress before it sweeps; ibsim swallows every TrapRepress
 * and knows no time-outs, so that an OpenSM that has announced its rank would never take the subnet
 * that it was then handed. The library stands before ibsim's in LD_PRELOAD and knows a umad
 * descriptor by that library's numbers, which begin at 1024.
 */
#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

enum { FIRST_UMAD_FD = 1024, UMAD_HEADER = 64, MAD_HEADER = 24, METHOD_AT = 3, METHOD_TRAP = 5 };

ssize_t write(int fd, const void *data, size_t size)
{
	static ssize_t (*next)(int, const void *, size_t);
	const unsigned char *mad = (const unsigned char *)data + UMAD_HEADER;
	ssize_t written;

	if (!next)
		next = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
	written = next(fd, data, size);
	if (fd >= FIRST_UMAD_FD && size >= UMAD_HEADER + MAD_HEADER &&
	    mad[METHOD_AT] == METHOD_TRAP) {
		errno = EIO;
		return -1;
	}
	return written;
}
