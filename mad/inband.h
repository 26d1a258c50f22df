/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A carrier of streams (lib/stream.h) over the fabric itself, for managers that have no other
 * network. The bytes of a stream travel as numbered messages between two ports: GMPs of a vendor
 * class, with RMPP if they are long. An address is the port GUID of a manager. Used by
 * weftd/manager.c for the replication. Loop thread only.
 *
 * The messages are neither authenticated nor encrypted, so the streams are marked as in_clear
 * (struct stream). Only ports that the owner knows can open a session. Each end of a session has a
 * number of 64 bits that cannot be guessed. A message without the right numbers, or from another
 * LID, is dropped and counted. Only a known manager gets the answer that it has no session, because
 * it may not know yet that this program was restarted.
 *
 * Format, after the header of a vendor class with an OUI (40 bytes: the common header, the RMPP
 * header, a reserved byte, the OUI); numbers are big-endian:
 *
 *	byte 40	version of this format, 1
 *	     41	result in an answer: enum inband_result; else 0
 *	     42	reserved, 2 bytes
 *	     44	length of the payload, 4 bytes
 *	     48	number of the session at the receiver, 8 bytes; 0 in an Open
 *	     56	number of the session at the sender, 8 bytes
 *	     64	number of the message, from 1 on, 8 bytes
 *	     72	payload
 *
 * Each message is a Set() of the attribute Open, Data, Close or Alive. After its first message, the
 * connecting end sends Alive, which is number 0, ten times a second: if the other program has
 * ended, its kernel answers with a status. The answer of the other end is a GetResp() of one MAD,
 * with both numbers of the session exchanged and without payload.
 */
#ifndef MAD_INBAND_H
#define MAD_INBAND_H

#include "lib/loop.h"
#include "lib/stream.h"
#include "mad/txn.h"

enum {
	INBAND_CLASS = 0x37,
	/* Chosen by this project, not assigned by the IEEE: the bit of locally administered values
	 * is set. */
	INBAND_OUI = 0x027765,
	INBAND_CLASS_VERSION = 1,
	INBAND_VERSION = 1,
	INBAND_HEADER_SIZE = 72,
	INBAND_PAYLOAD_MAX = 8192,
	INBAND_MESSAGE_MAX = INBAND_HEADER_SIZE + INBAND_PAYLOAD_MAX,
	/* The last segment of a received message may be padded. */
	INBAND_RECEIVED_MAX = INBAND_MESSAGE_MAX + MAD_SIZE,
};

enum inband_attr {
	INBAND_OPEN = 0x0010,
	INBAND_DATA = 0x0011,
	INBAND_CLOSE = 0x0012,
	INBAND_ALIVE = 0x0013,
};

enum inband_result { INBAND_OK, INBAND_NO_SESSION, INBAND_OTHER_VERSION };

/* What the carrier must know about the other managers. */
struct inband_owner {
	/* The address of the manager at this port. False: there is none. */
	bool (*find)(void *ctx, guid_t guid, struct mad_addr *out);
	/* The port GUID of the manager at this LID, if this manager may connect; else 0. */
	guid_t (*admits)(void *ctx, lid_t lid);
	/* The manager at this port does not answer: its address may be outdated. May be NULL. */
	void (*unanswered)(void *ctx, guid_t guid);
	/* It has answered: its address is right. May be NULL. */
	void (*answered)(void *ctx, guid_t guid);
	void *ctx;
};

/* txns must outlive the carrier; owner is copied. */
struct stream_carrier *inband_new(struct loop *loop, struct txn_table *txns,
				  const struct inband_owner *owner);

#endif
