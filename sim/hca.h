/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The hardware of a virtual HCA: an adapter of a world whose driver runs elsewhere, in the kernel
 * of a virtual machine. The device's agents answer SMPs and performance MADs here, as firmware
 * does. The driver gets all other packets, and has the queue pairs. The hardware accepts from the
 * driver only packets that a real HCA would send: with the LID, a GID and a P_Key of the port, and
 * on VL15 only from QP0. It refuses and counts all others. Without a driver the device has no
 * power, so its ports have no link. On the world's thread.
 */
#ifndef SIM_HCA_H
#define SIM_HCA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/world.h"

struct hca;

/* The reasons for which the hardware refuses a packet of the driver. */
enum hca_refusal {
	HCA_ACCEPTED,
	HCA_MALFORMED, /* sim/ib_packet.h */
	HCA_NO_PORT,
	HCA_VL15,	/* QP0 without VL15 or the reverse, or an SMP that is none */
	HCA_BAD_MAD,	/* to QP1: its size is not 256 bytes, or it has the class of an SMP */
	HCA_BAD_DLID,	/* 0 or permissive, or multicast that is not for QP 0xFFFFFF */
	HCA_BAD_SOURCE, /* the LID or GID */
	HCA_BAD_P_KEY,
	HCA_NO_BUFFER, /* too many of its packets are under way: delayed, copied, at agents */
	HCA_REFUSALS
};

struct hca_counts {
	uint64_t starts;   /* of drivers */
	uint64_t sent;	   /* accepted packets of the driver */
	uint64_t received; /* packets that the driver got */
	uint64_t unread;   /* packets for which it had no room */
	uint64_t refused[HCA_REFUSALS];
	/* Of the owner: frames of the driver. */
	uint64_t requests, repeated, malformed, foreign;
};

struct hca_user {
	/* A packet for the driver from a port, as sim/ib_packet.h writes it; borrowed. False: the
	 * driver has no room. */
	bool (*packet)(void *ctx, uint8_t port, const uint8_t *packet, size_t size);
	/* The values of a port may have changed. */
	void (*changed)(void *ctx);
	void *ctx;
};

/* Makes the adapter a virtual HCA, without power until hca_start(). user is copied. Returns NULL if
 * it is one already. */
struct hca *hca_attach(struct world *world, struct device *device, const struct hca_user *user);
/* Switches the adapter off, or leaves it as it was if no driver has started. It is no virtual HCA
 * any more. NULL is harmless. */
void hca_detach(struct hca *hca);
/* The virtual HCA of a device; NULL: it is none. */
struct hca *hca_of(const struct device *device);

/* The driver starts: the device is reset and its links train. */
void hca_start(struct hca *hca);
/* The driver ends: the device is switched off. */
void hca_stop(struct hca *hca);
bool hca_is_started(const struct hca *hca);

/* A packet of the driver, which is counted in any case. It leaves as an event of the world. A
 * packet to the port's own LID returns. Multicast does not: the driver gives it to its other queue
 * pairs. */
enum hca_refusal hca_send(struct hca *hca, uint8_t port, const uint8_t *bytes, size_t size);
/* The agents of the port handle a MAD of the host and replace it by the answer; false: there is
 * none. */
bool hca_mad(struct hca *hca, uint8_t port, uint8_t mad[MAD_SIZE]);
/* Sets and clears bits of CapabilityMask: those of CAPS_OF_HOST. False: there is no such port. */
bool hca_modify(struct hca *hca, uint8_t port, uint32_t set, uint32_t clear);
/* Sets the NodeDescription until the driver ends; text has NODE_DESC_SIZE bytes. */
void hca_describe(struct hca *hca, const uint8_t *text);
/* The driver refused a received packet for its P_Key or its Q_Key: the port counts the violation
 * and sends a trap. bytes are the packet's headers. False: the packet cannot have arrived there. */
bool hca_violation(struct hca *hca, uint8_t port, bool is_q_key, const uint8_t *bytes, size_t size);

/* The NodeDescription of a device without the driver's changes. It names the node in commands: a
 * driver may take the name of another node, or its LID as a name. */
const struct node_description *hca_description(const struct device *device);

/* The values of a port may have changed, for any reason: calls hca_user.changed(). */
void hca_changed(struct hca *hca);
struct hca_counts *hca_counts(struct hca *hca);
/* A short name of a refusal, for users. */
const char *hca_refusal_name(enum hca_refusal refusal);

#endif
