/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Sends and receives MADs: the manager's only access to a fabric. mad/umad.c is the real transport,
 * over libibumad; a simulation has another. A transport knows addresses and bytes, no requests:
 * mad/txn.c matches answers to requests. Loop thread only.
 */
#ifndef MAD_TRANSPORT_H
#define MAD_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "include/iba.h"

struct mad_grh {
	uint8_t dgid[GID_SIZE], sgid[GID_SIZE]; /* as received; a reply goes to sgid */
	uint32_t flow_label;
	uint8_t hop_limit, traffic_class, sgid_index;
};

/* The other end of a MAD: the destination, or the source with the way on which it arrived. A reply
 * to an address as received uses the same QPN, P_Key index, SL, path bits and GRH. */
struct mad_addr {
	lid_t lid; /* LID_PERMISSIVE for a directed route from the first hop */
	uint32_t qpn;
	uint32_t q_key; /* of the destination; 0: that of QP1. Unknown for a received MAD */
	uint8_t sl;
	uint8_t path_bits; /* of our own LID */
	uint16_t pkey_index;
	bool has_grh;
	struct mad_grh grh;
};

/* The port this transport is bound to. */
struct transport_port {
	char ca[32]; /* "mlx5_0" */
	uint8_t port;
	guid_t port_guid, node_guid;
};

struct transport_user {
	/* A MAD arrived; bytes are borrowed. The receiver checks size. It is larger than MAD_SIZE
	 * for a reassembled RMPP message. */
	void (*received)(void *ctx, const struct mad_addr *from, const uint8_t *mad, size_t size);
	/* The kernel's time-out for an answer expired; only the header comes back. */
	void (*timed_out)(void *ctx, const uint8_t header[MAD_HEADER_SIZE]);
	/* The device was removed: nothing arrives until back(), and requests under way get no
	 * answer. */
	void (*gone)(void *ctx, int error);
	/* The device is back, without state; or another port, which transport->port names. */
	void (*back)(void *ctx);
	void *ctx;
};

struct transport {
	const struct transport_ops *ops;
	struct transport_user user; /* set before the loop runs */
	struct transport_port port;
	bool gone; /* the device was removed: sending returns -ENODEV */
	/* The longest message of the class of mad/inband.h; 0: the port cannot send this class. */
	size_t message_max;
};

struct transport_ops {
	/* Sends a MAD of management class 0x01, 0x81, 0x03, 0x04 or 0x37. timeout_ms > 0: an answer
	 * is expected, and the lower 32 bits of the TID must be unique among requests under way; 0:
	 * none. At most 128 SMPs and 128 Reports should be under way. Returns 0 or -errno. */
	int (*send)(struct transport *transport, const struct mad_addr *to, const uint8_t *mad,
		    size_t size, unsigned timeout_ms);
	/* Sends a message that may be long, such as an RMPP table, and expects no answer. mad is
	 * from the heap; the transport owns it from now on, also after an error, and logs a later
	 * failure. NULL: send() is used. */
	int (*give)(struct transport *transport, const struct mad_addr *to, uint8_t *mad,
		    size_t size);
	/* Sets or clears IsSM of the port. -EBUSY if another program has set it. */
	int (*set_issm)(struct transport *transport, bool on);
	/* The link is down: continues, with gone() and back(), at another allowed port whose link
	 * is up. False: there is none. NULL: not supported. */
	bool (*move)(struct transport *transport);
	void (*close)(struct transport *transport);
};

static inline int transport_send(struct transport *transport, const struct mad_addr *to,
				 const uint8_t *mad, size_t size, unsigned timeout_ms)
{
	return transport->ops->send(transport, to, mad, size, timeout_ms);
}

static inline int transport_give(struct transport *transport, const struct mad_addr *to,
				 uint8_t *mad, size_t size)
{
	int error;

	if (transport->ops->give)
		return transport->ops->give(transport, to, mad, size);
	error = transport->ops->send(transport, to, mad, size, 0);
	free(mad);
	return error;
}

static inline int transport_set_issm(struct transport *transport, bool on)
{
	return transport->ops->set_issm(transport, on);
}

static inline bool transport_move(struct transport *transport)
{
	return transport->ops->move && transport->ops->move(transport);
}

static inline void transport_close(struct transport *transport) /* NULL is harmless */
{
	if (transport)
		transport->ops->close(transport);
}

#endif
