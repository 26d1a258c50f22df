/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What programs and the weftsim server say to each other, over one listening AF_UNIX socket of type
 * SOCK_SEQPACKET. The first message of a connection is a wire_hello, which says what the connection
 * is for; the server answers with a wire_welcome, and from then on the connection is that thing:
 *
 *  WIRE_FILES    nothing more: the welcome carries the folder that stands for /sys and /dev, and it
 *                is kept up to date for as long as the connection is open.
 *  WIRE_UMAD     an open umad device. With the welcome comes a memory file (SCM_RIGHTS), a struct
 *                wire_rings that both ends map: each record in its rings is what a read() or
 *                write() of one carries, struct ib_user_mad_hdr (64 bytes) and the MAD. The
 *                connection itself carries tokens only, messages of one byte (sim/ring.h), so
 *                that the descriptor is what poll() may be asked about; a program also sends one
 *                when the server wants room. A MAD that is longer than WIRE_INLINE_MAX is
 *                announced by a record of its first MAD_SIZE bytes, whose `whole` says the size
 *                of all, and is fetched by a call; longer ones are sent by a call.
 *  WIRE_ISSM     an open issm device: IsSM is set from the welcome until the connection closes.
 *  WIRE_CALL     one wire_call about a WIRE_UMAD connection, one wire_return, and the end. A sealed
 *                memory file comes with a WIRE_SEND, and goes with the return of a WIRE_FETCH:
 *                header and MAD.
 *  WIRE_DO       a user's commands: each message is one command's text; the answer is any number of
 *                messages that begin with '+' and text, then one that begins with '.' (done) or
 *                with '!' and the reason why not.
 *
 * Numbers are the machine's: both ends are on it. Shared with the preload library, which has libc
 * alone: nothing but plain structures here, and where the socket is.
 */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/ring.h"

#define WIRE_MAGIC 0x77656674u /* "weft" */

enum {
	WIRE_VERSION = 1,
	WIRE_NAME_SIZE = 128,
	WIRE_PATH_SIZE = 108,
	WIRE_INLINE_MAX = 32768,
	WIRE_LONG_MAX = 64 << 20, /* of a MAD in a file */
};

enum wire_kind { WIRE_FILES = 1, WIRE_UMAD, WIRE_ISSM, WIRE_CALL, WIRE_DO };

struct wire_hello {
	uint32_t magic, version;
	uint32_t kind;
	uint32_t minor;	   /* WIRE_UMAD, WIRE_ISSM: the N of umadN, issmN in the node's folder */
	uint32_t nonblock; /* WIRE_ISSM: answer EAGAIN where another holds it, instead of waiting */
	char node[WIRE_NAME_SIZE]; /* NODE or NODE:PORT; empty: the first adapter of the net */
};

struct wire_welcome {
	uint32_t magic, version;
	uint32_t error; /* an errno, with its reason in text; then the server closes */
	uint32_t id;	/* WIRE_UMAD: names the connection in a wire_call */
	char text[WIRE_NAME_SIZE * 2];
	char folder[WIRE_PATH_SIZE]; /* WIRE_FILES: absolute; in it sys/class/... and dev/... */
};

/* What is shared of an open umad device. */
struct wire_rings {
	struct ring to_server, to_program;
	uint64_t program[64]; /* for what threads and children of the program share: its locks */
};

enum wire_function { WIRE_REGISTER = 1, WIRE_UNREGISTER, WIRE_SEND, WIRE_FETCH };

/* As ib_user_mad_reg_req2 has it; the older call is turned into this by the library. */
struct wire_call {
	uint32_t function;
	uint32_t id;	/* the connection */
	uint32_t agent; /* WIRE_UNREGISTER: which */
	uint32_t qpn, mgmt_class, mgmt_class_version, rmpp_version, flags, oui;
	uint64_t method_mask[2];
};

struct wire_return {
	uint32_t error; /* an errno, 0: done */
	uint32_t agent; /* WIRE_REGISTER: its number */
	uint32_t flags; /* those that the server knows, where it refused others */
};

/* The socket where nothing else names one; as snprintf() returns. */
static inline int wire_socket_path(char *path, size_t size)
{
	const char *named = getenv("WEFTSIM_SOCKET"), *runtime = getenv("XDG_RUNTIME_DIR");

	if (named && *named)
		return snprintf(path, size, "%s", named);
	if (runtime && *runtime)
		return snprintf(path, size, "%s/weftsim.sock", runtime);
	return snprintf(path, size, "/tmp/weftsim-%u.sock", (unsigned)getuid());
}

#endif
