/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A preload library for OpenSM on ibsim: a Trap that OpenSM writes is sent, but the write returns
 * an error. OpenSM waits for the TrapRepress of each Trap before it sweeps. ibsim drops every
 * TrapRepress and has no time-outs, so an OpenSM that has announced its rank would never take a
 * handover. The library stands before ibsim's in LD_PRELOAD and recognizes umad descriptors by the
 * numbers of that library, which begin at 1024.
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
