/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The keys of packets: which P_Keys pass at an end port and at a switch's external port (10.9).
 * Also the results of a bad key: a violation in PortInfo and a trap (14.2.5.1, 14.2.5.6). Called by
 * the code that moves packets, on one thread. No state of its own.
 *
 * The rules differ. At an end port, the packet or the table entry must be a full member. A switch's
 * port only checks that the partition is in its table: managers copy the table of the adapter
 * behind it (OpenSM), and packets of a limited member must pass.
 */
#include <errno.h>
#include <string.h>

#include "mad/notice.h"
#include "sma/agent.h"
#include "sma/agent_parts.h"

enum { PARTITION = PKEY_FULL_MEMBER - 1 };

/* A key of partition 0 is no key. */
static bool is_of_partition(pkey_t key, pkey_t p_key)
{
	return !((key ^ p_key) & PARTITION) && p_key & PARTITION;
}

int device_p_key_match(const struct device_port *port, pkey_t p_key)
{
	unsigned cap = port->p_keys ? device_p_key_cap(port) : 1;

	for (unsigned i = 0; i < cap; i++) {
		pkey_t key = device_p_key(port, i);

		if (is_of_partition(key, p_key) && (key | p_key) & PKEY_FULL_MEMBER)
			return i;
	}
	return -EACCES;
}

bool device_port_admits(const struct device_port *port, pkey_t p_key, bool inbound)
{
	const struct port_info *info = &port->info;
	unsigned cap = port->p_keys ? device_p_key_cap(port) : 1;

	if (!(inbound ? info->partition_enforcement_inbound : info->partition_enforcement_outbound))
		return true;
	for (unsigned i = 0; i < cap; i++) {
		if (is_of_partition(device_p_key(port, i), p_key))
			return true;
	}
	return false;
}

/* Bad keys */

static void copy_gid(uint8_t to[GID_SIZE], const uint8_t *gid)
{
	if (gid)
		memcpy(to, gid, GID_SIZE);
}

static void bad_key(struct device_port *port, enum trap_kind kind, uint32_t key,
		    const struct device_packet *packet)
{
	union notice_details details = {.bad_key = {
						.lid1 = packet->slid,
						.lid2 = packet->dlid,
						.key = key,
						.sl = packet->sl,
						.qp1 = packet->src_qp,
						.qp2 = packet->dst_qp,
					}};

	copy_gid(details.bad_key.gid1, packet->sgid);
	copy_gid(details.bad_key.gid2, packet->dgid);
	trap_bad_key(port, kind, &details);
}

static void switch_bad_p_key(struct device_port *port, const struct device_packet *packet)
{
	uint16_t gids = packet->sgid ? DATA_VALID_GID1 | DATA_VALID_GID2 : 0;
	union notice_details details = {
		.switch_bad_p_key = {
			.data_valid = DATA_VALID_LID1 | DATA_VALID_LID2 | DATA_VALID_P_KEY |
				      DATA_VALID_SL | DATA_VALID_QP1 | DATA_VALID_QP2 | gids,
			.lid1 = packet->slid,
			.lid2 = packet->dlid,
			.p_key = packet->p_key,
			.sl = packet->sl,
			.qp1 = packet->src_qp,
			.qp2 = packet->dst_qp,
			.port_num = port->num,
		}};

	copy_gid(details.switch_bad_p_key.gid1, packet->sgid);
	copy_gid(details.switch_bad_p_key.gid2, packet->dgid);
	trap_bad_key(&port->device->port[0], TRAP_KIND_SWITCH_BAD_P_KEY, &details);
}

/* Full counters stay full until they are cleared; a base port 0 has none (table 146). */
static void keys_count_violation(const struct device_port *port, uint16_t *violations)
{
	bool is_base0 = device_is_switch(port->device) && !port->device->sw.enhanced_port0;

	*violations += !is_base0 && *violations != UINT16_MAX;
}

void device_bad_p_key(struct device_port *port, const struct device_packet *packet)
{
	if (!device_port_is_end(port)) {
		switch_bad_p_key(port, packet);
		return;
	}
	keys_count_violation(port, &port->info.p_key_violations);
	bad_key(port, TRAP_KIND_BAD_P_KEY, packet->p_key, packet);
}

void device_bad_q_key(struct device_port *port, const struct device_packet *packet)
{
	keys_count_violation(port, &port->info.q_key_violations);
	bad_key(port, TRAP_KIND_BAD_Q_KEY, packet->q_key, packet);
}
