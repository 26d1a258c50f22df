/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The protocol between programs and the weftsim server, over one listening AF_UNIX socket of type
 * SOCK_SEQPACKET. The first message of a connection is a wire_hello with its purpose; the server
 * answers with a wire_welcome, and from then on the connection has this purpose:
 *
 *  WIRE_FILES    nothing more: the welcome has the folder in place of /sys and /dev, which the
 *                server updates as long as the connection is open.
 *  WIRE_UMAD     an open umad device. The welcome carries a memory file (SCM_RIGHTS), a struct
 *                wire_rings that both ends map. A record in its rings is the data of one read() or
 *                write(): struct ib_user_mad_hdr (64 bytes) and the MAD. The connection itself
 *                carries only tokens, messages of one byte (sim/ring.h), so that poll() works on
 *                its descriptor. A program also sends a token when the server waits for room. A
 *                received MAD that is longer than WIRE_INLINE_MAX is announced by a record of its
 *                first MAD_SIZE bytes, whose `whole` is the full size. The program fetches the MAD
 *                by a call. Long MADs are also sent by a call, and those that the server may have
 *                to refuse (wire_needs_verdict()), because a call has a result.
 *  WIRE_ISSM     an open issm device: IsSM is set from the welcome until the connection closes.
 *  WIRE_CALL     one wire_call for a WIRE_UMAD connection, one wire_return, and the end. A
 *                WIRE_SEND, and the return of a WIRE_FETCH, carry a sealed memory file with header
 *                and MAD.
 *  WIRE_HCA      a virtual machine has the adapter. The welcome carries one end of a stream socket
 *                (SCM_RIGHTS), whose other end is this connection from now on. It carries the
 *                frames of vhca/frame.h, each after its length (4 bytes, big-endian), as qemu does.
 *  WIRE_DO       a user's commands: each message is the text of a command. The answer is any
 *                number of messages that begin with '+' and text. The last message begins with '.'
 *                (done) or with '!' and the reason of the failure.
 *
 * Numbers have the byte order of the machine, which both ends share. The preload library, which has
 * only libc, includes this: only plain structures, and the default socket.
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
	WIRE_TIDS = 4096,	  /* a power of 2 */
};

enum wire_kind { WIRE_FILES = 1, WIRE_UMAD, WIRE_ISSM, WIRE_CALL, WIRE_DO, WIRE_HCA };

struct wire_hello {
	uint32_t magic, version;
	uint32_t kind;
	uint32_t minor; /* WIRE_UMAD, WIRE_ISSM: the N of umadN, issmN in the node's folder */
	/* WIRE_ISSM: answer EAGAIN if another process holds it, instead of waiting. */
	uint32_t nonblock;
	char node[WIRE_NAME_SIZE]; /* NODE or NODE:PORT; empty: the first adapter of the net */
};

struct wire_welcome {
	uint32_t magic, version;
	uint32_t error; /* an errno, with its reason in text; the server then closes */
	uint32_t id;	/* WIRE_UMAD: names the connection in a wire_call */
	char text[WIRE_NAME_SIZE * 2];
	char folder[WIRE_PATH_SIZE]; /* WIRE_FILES: absolute; in it sys/class/... and dev/... */
};

/* The shared memory of an open umad device. */
struct wire_rings {
	struct ring to_server, to_program;
	uint64_t program[64]; /* for the threads and children of the program: its locks */
	/* MADs with a time-out that were written and have not ended, by the low bits of their TIDs.
	 * The program counts up, the server counts down. */
	atomic_ushort under_way[WIRE_TIDS];
	/* By the server: the port by which each directed route of this device begins; 0: any. */
	uint8_t route_port;
};

enum wire_function { WIRE_REGISTER = 1, WIRE_UNREGISTER, WIRE_SEND, WIRE_FETCH };

/* As ib_user_mad_reg_req2; the library converts the older call into this. */
struct wire_call {
	uint32_t function;
	uint32_t id;	/* the connection */
	uint32_t agent; /* WIRE_UNREGISTER: its number */
	uint32_t qpn, mgmt_class, mgmt_class_version, rmpp_version, flags, oui;
	uint64_t method_mask[2];
};

struct wire_return {
	uint32_t error; /* an errno; 0: success */
	uint32_t agent; /* WIRE_REGISTER: its number */
	uint32_t flags; /* the known flags, if others were refused */
};

static inline unsigned wire_tid_row(uint32_t tid)
{
	return tid % WIRE_TIDS;
}

/* Whether the server may refuse this write, for a reason that only the server knows: its TID may be
 * taken, its route be bad, or its GID index be empty. Counts the MAD as under way. mad has at least
 * the 24 bytes of its header. */
static inline bool wire_needs_verdict(struct wire_rings *rings, bool has_grh, bool has_timeout,
				      const uint8_t *mad, size_t size)
{
	enum { DIRECTED = 0x81, TID_END = 16, HOPS_END = 64, D_BIT = 0x80, FIRST_PORT = 129 };
	unsigned tid = mad[TID_END - 2] << 8 | mad[TID_END - 1];
	bool plain = !has_grh;

	if (mad[1] == DIRECTED)
		plain = plain && size > FIRST_PORT && !(mad[4] & D_BIT) && !mad[6] &&
			mad[7] < HOPS_END &&
			(!mad[7] || !rings->route_port || mad[FIRST_PORT] == rings->route_port);
	if (has_timeout && atomic_fetch_add(&rings->under_way[tid % WIRE_TIDS], 1))
		plain = false;
	return !plain;
}

/* The default socket; returns as snprintf(). */
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
