/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The frames between the kernel module vhca, which is the driver of a virtual HCA, and weftsim,
 * which is the hardware of this HCA. They are Ethernet frames with an EtherType of their own. They
 * travel between a network interface of the guest and its virtual machine's emulator, which hands
 * them to weftsim over a stream socket: each as its length (4 bytes) and its bytes, as qemu does.
 *
 * A frame is an Ethernet header, a struct vhca_head and a body. All numbers are big-endian. The
 * driver recognises its interfaces by the first bytes of their hardware address; one interface is
 * one HCA with all its ports.
 *
 *  VHCA_HELLO       The driver starts: the HCA is reset, its ports are cabled, and weftsim answers
 *                   with VHCA_WELCOME, then with a VHCA_STATE for each port. Body: none.
 *  VHCA_BYE         The driver ends: all ports lose their link. Body: none.
 *  VHCA_MAD         A MAD of the host for the agents of its own port (MAD_IFC of real drivers). The
 *                   answer is a VHCA_ANSWER with the same id and the agent's MAD, or without a body
 *                   if the agent does not answer. The driver has one request under way, and repeats
 *                   it under its id until it is answered; weftsim repeats the last answer without
 *                   executing the request again. Body: 256 bytes.
 *  VHCA_MODIFY      Changes what the driver may change: struct vhca_modify. It is answered as a
 *                   VHCA_MAD, without a body.
 *  VHCA_VIOLATION   The driver dropped a packet for its key. Body: a struct vhca_violation and the
 *                   headers of the packet, as in VHCA_PACKET. weftsim counts it at the port, and
 *                   sends trap 257 or 258.
 *  VHCA_STATE       The state of a port has changed: struct vhca_state. The driver compares it with
 *                   the last one and dispatches events.
 *  VHCA_PACKET      A packet on the wire of the port, in either direction: LRH, GRH if there is
 *                   one, BTH, DETH, payload with padding; without ICRC and VCRC (chapters 7 to 9),
 *                   which the lengths in the headers include. weftsim accepts only what hardware
 *                   would send: the source LID, GID and P_Key must be the port's own, and SMPs
 *                   have VL15. It chooses other VLs by the SL. A packet to the port's own LID
 *                   returns; multicast does not, so the driver gives it to its other queue pairs.
 *
 * Either end drops a frame that is malformed, and counts it.
 */
#ifndef VHCA_FRAME_H
#define VHCA_FRAME_H

#include <linux/types.h>

enum {
	VHCA_VERSION = 1,
	VHCA_ETHERTYPE = 0x88B5, /* IEEE 802: local experiments */
	VHCA_MAD_SIZE = 256,
	VHCA_PACKET_MAX = 8 + 40 + 12 + 28 + 4096, /* LRH, GRH, BTH, extended headers, the MTU */
	VHCA_FRAME_MTU = 4352,			   /* of the interface */
};

/* The hardware address of an interface that is an HCA begins with these: 02 "weft". */
#define VHCA_ADDRESS_PREFIX "\x02weft"

enum vhca_type {
	VHCA_HELLO = 1,
	VHCA_BYE,
	VHCA_MAD,
	VHCA_MODIFY,
	VHCA_VIOLATION,
	VHCA_WELCOME,
	VHCA_ANSWER,
	VHCA_STATE,
	VHCA_PACKET,
};

struct vhca_head {
	__u8 version, type;
	__u8 port; /* 1 and up; 0: the HCA as a whole */
	__u8 reserved;
	__be16 size; /* bytes of the body; Ethernet pads short frames */
	__be16 reserved2;
	__be32 id; /* of a request; its answer has the same */
} __attribute__((packed));

struct vhca_welcome {
	__be64 node_guid, system_image_guid;
	__be32 vendor_id, device_id;
	__u8 ports, reserved[3];
	__be16 p_keys, guids; /* entries of the tables of each port */
	__u8 description[64];
} __attribute__((packed));

/* Bits of PortInfo:CapabilityMask to set and to clear (IsSM, and those of kernel clients), and a
 * NodeDescription. */
struct vhca_modify {
	__be32 set, clear;
	__u8 has_description, reserved[3];
	__u8 description[64];
} __attribute__((packed));

enum vhca_key { VHCA_BAD_P_KEY = 1, VHCA_BAD_Q_KEY };

struct vhca_violation {
	__u8 key, reserved[3]; /* enum vhca_key */
} __attribute__((packed));

/* Behind it: the GUIDs of the port, 8 bytes each, then its P_Keys, 2 bytes each. Their numbers are
 * those of the welcome. */
struct vhca_state {
	__be32 reregistrations; /* ClientReregister commands that the port has received */
	__u8 port_info[64];	/* as a Get(PortInfo) with the extended speeds returns it */
} __attribute__((packed));

#endif
