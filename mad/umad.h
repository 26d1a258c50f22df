/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The transport over libibumad, for real adapters, for ibsim's preload library and for any other
 * that presents /dev/infiniband/umadN. It opens a descriptor each for SMPs, general MADs and
 * counter reads, so that none starves another, and registers classes 0x81 and 0x01, 0x03, and 0x04.
 * A fourth descriptor is for the vendor class of mad/inband.h, and is left out if another program
 * has registered that class.
 *
 * If the device is removed, the transport looks for it twice a second, and opens it again.
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
	/* Ports that replace it if it does not exist or its link is down, in order of preference;
	 * ends with 0. */
	guid_t others[UMAD_OTHERS_MAX];
	/* Registers for no requests of others: another subnet manager may use the same port. */
	bool sends_only;
};

/* Whether this machine has an adapter of any kind. */
bool transport_has_adapters(void);
/* Whether a port fits choice, without opening it: 0, or -errno with one line in why. */
int transport_check_umad(const struct umad_choice *choice, char *why, size_t why_size);
/* Opens the first port that fits choice, ports with a physical link before others. On failure
 * returns -errno, and why has one line with the object, the reason and the remedy. -ENODEV: no such
 * CA or port. -EACCES: no rights on the device file. -EBUSY: another program, such as a second
 * subnet manager, has registered for the same MADs. A port without a link is no error: the sweep
 * waits for the link. */
int transport_open_umad(struct loop *loop, const struct umad_choice *choice, struct transport **out,
			char *why, size_t why_size);

#endif
