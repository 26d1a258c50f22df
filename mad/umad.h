/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The transport over libibumad, for real adapters, for ibsim's preload library and for any other
 * that presents /dev/infiniband/umadN. It opens one descriptor for SMPs, one for general MADs and
 * one for what counters are read with, so that none starves another, and registers classes 0x81 and
 * 0x01, 0x03, and 0x04.
 *
 * A device that is removed is looked for twice a second, and opened again when it is back.
 */
#ifndef MAD_UMAD_H
#define MAD_UMAD_H

#include "lib/loop.h"
#include "mad/transport.h"

enum { UMAD_OTHERS_MAX = 8 };

/* Which port: ca NULL for any, port 0 for any, port_guid 0 for any. */
struct umad_choice {
	const char *ca;
	int port;
	guid_t port_guid;
	/* Those that take its place when it is not there or its link is down, the first first; ends
	 * with 0. */
	guid_t others[UMAD_OTHERS_MAX];
};

/* Opens the first port that fits choice, those whose physical link is up before others. On failure
 * returns -errno and writes one line that names the thing, the reason and the remedy to why.
 * -ENODEV: no such CA or port. -EACCES: no rights on the device file. -EBUSY: another program has
 * registered for the same MADs, as a second subnet manager would. -ENETDOWN is never returned: a
 * port that is down is opened, the sweep waits for its link. */
int transport_open_umad(struct loop *loop, const struct umad_choice *choice, struct transport **out,
			char *why, size_t why_size);

#endif
