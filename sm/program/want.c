/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The fields of PortInfo that the manager governs, by kind of port. One table lists them, after the
 * usage column of table 146 of the specification.
 */
#include "sm/program/want.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "store/registry.h"

enum kind {
	ADAPTER = 1,
	BASE0 = 2,
	ENHANCED0 = 4,
	EXTERNAL = 8,
	ROUTER = 16,
	END = ADAPTER | ROUTER,
	LINKS = END | EXTERNAL,
};

#define GOVERNED(member, where, ...)                                                             \
	{                                                                                        \
		.offset = offsetof(struct port_info, member),                                    \
		.size = sizeof(((struct port_info *)0)->member), .kinds = (where), ##__VA_ARGS__ \
	}

/* Enabled widths and speeds of a link: 0 means no change, all means all supported values, and
 * none, if not 0, means no value. An option has the same values (14.2.5.6; OpenSM's
 * osm_link_mgr.c). */
#define ENABLED(name, option_, all_, none_)                                                        \
	GOVERNED(name##_enabled, LINKS, .supported = offsetof(struct port_info, name##_supported), \
		 .option = offsetof(struct sm_options, option_), .all = (all_), .none = (none_))

static const struct governed {
	uint16_t offset;
	uint8_t size;
	uint8_t kinds;
	bool insist; /* essential: requested again although it was refused */
	/* ENABLED() */
	uint8_t all, none;
	uint16_t supported, option;
} governed[] = {
	GOVERNED(m_key, END | BASE0 | ENHANCED0),
	GOVERNED(gid_prefix, END | BASE0 | ENHANCED0),
	GOVERNED(lid, END | BASE0 | ENHANCED0, .insist = true),
	GOVERNED(master_sm_lid, END | BASE0 | ENHANCED0, .insist = true),
	GOVERNED(master_sm_sl, END | BASE0 | ENHANCED0),
	GOVERNED(m_key_lease_period, END | BASE0 | ENHANCED0),
	GOVERNED(m_key_protect_bits, END | BASE0 | ENHANCED0),
	GOVERNED(subnet_timeout, END | BASE0 | ENHANCED0),
	GOVERNED(lmc, END | ENHANCED0),
	GOVERNED(neighbor_mtu, LINKS | ENHANCED0),
	GOVERNED(operational_vls, LINKS),
	GOVERNED(hoq_life, EXTERNAL | ROUTER),
	GOVERNED(vl_stall_count, EXTERNAL),
	GOVERNED(partition_enforcement_inbound, EXTERNAL),
	GOVERNED(partition_enforcement_outbound, EXTERNAL),
	GOVERNED(local_phy_errors, LINKS | ENHANCED0),
	GOVERNED(overrun_errors, LINKS | ENHANCED0),
	GOVERNED(link_down_default_state, LINKS),
	ENABLED(link_width, force_link_width, LINK_WIDTH_ALL, 0),
	ENABLED(link_speed, force_link_speed, LINK_SPEED_ALL, 0),
	ENABLED(link_speed_ext, force_link_speed_ext, LINK_SPEED_EXT_ALL, LINK_SPEED_EXT_NONE),
};

static bool same(const struct governed *row, const struct port_info *a, const struct port_info *b)
{
	return memcmp((const char *)a + row->offset, (const char *)b + row->offset, row->size) == 0;
}

static enum kind want_port_kind(const struct port *port)
{
	if (port->node->type != NODE_SWITCH)
		return port->node->type == NODE_ROUTER ? ROUTER : ADAPTER;
	if (port->num)
		return EXTERNAL;
	return port->node->facts->sw.enhanced_port0 ? ENHANCED0 : BASE0;
}

static uint8_t smaller(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

static void link_values(const struct sm_options *options, const struct port *port, uint8_t *mtu,
			uint8_t *vls)
{
	const struct port_info *have = port_info(port);

	*mtu = have->mtu_cap;
	*vls = smaller(have->vl_cap, options->max_op_vls);
	if (port->peer && port_facts(port->peer)->known) {
		*mtu = smaller(*mtu, port_info(port->peer)->mtu_cap);
		*vls = smaller(*vls, port_info(port->peer)->vl_cap);
	}
	if (!*mtu)
		*mtu = have->neighbor_mtu;
	if (!*vls)
		*vls = have->operational_vls;
}

/* No manager leaves an ACTIVE link in this state. The cause is a Set() on a route whose cables
 * had just moved: it arrived at this port, which accepted the MTU in ACTIVE, as ports of Linux's
 * ib_qib do. The port accepts the right MTU in the same way. Until then the link drops larger
 * packets. */
static bool ends_differ(const struct port *port)
{
	return port->peer && port_state_of(port) == PORT_ACTIVE &&
	       port_state_of(port->peer) == PORT_ACTIVE &&
	       port_info(port)->neighbor_mtu != port_info(port->peer)->neighbor_mtu;
}

static bool leads_to_end(const struct port *port)
{
	return port->peer && port->peer->node->type != NODE_SWITCH;
}

/* A record without the port means that it has no key: sm/partition/m_keys.h. */
static uint64_t want_m_key(const struct fabric *fabric, const struct port *port)
{
	const struct m_key_entry key = {.guid = port_facts(port)->guid}, *entry = NULL;

	if (fabric->registry)
		entry = registry_find(fabric->registry, REGISTRY_M_KEY, &key);
	return entry ? entry->m_key : 0;
}

static void want_end(const struct fabric *fabric, const struct sm_options *options,
		     const struct port *port, struct port_info *want)
{
	want->m_key = want_m_key(fabric, port);
	want->m_key_lease_period = want->m_key ? options->m_key_lease_s : 0;
	want->m_key_protect_bits = want->m_key ? options->m_key_protection_level : 0;
	want->gid_prefix = options->subnet_prefix;
	want->lid = port->lid;
	want->lmc = port->lmc;
	want->master_sm_lid = fabric->sm_port->lid;
	want->master_sm_sl = 0;
	want->subnet_timeout = options->subnet_timeout;
}

static void want_external(const struct sm_options *options, const struct port *port,
			  struct port_info *want)
{
	bool leaf = leads_to_end(port);

	want->hoq_life = leaf ? options->leaf_hoq_life : options->hoq_life;
	want->vl_stall_count = leaf ? options->leaf_vl_stall_count : options->vl_stall_count;
	want->partition_enforcement_inbound = port->partition.enforce >> 0 & 1;
	want->partition_enforcement_outbound = port->partition.enforce >> 1 & 1;
}

static uint8_t want_byte_at(const void *from, size_t offset)
{
	return ((const uint8_t *)from)[offset];
}

/* Whether the value that a port has satisfies the row of the wanted record. */
static bool holds(const struct governed *row, const struct port_info *have,
		  const struct port_info *want)
{
	uint8_t wanted = want_byte_at(want, row->offset), held = want_byte_at(have, row->offset);

	if (!row->all)
		return same(row, have, want);
	return !wanted ||
	       held == (wanted == row->all ? want_byte_at(have, row->supported) : wanted);
}

/* Whether both ends of its link support extended speeds: otherwise these are not changed. */
static bool links_extended(const struct port *port)
{
	return port->peer && port_info_modifier(port) & PORT_INFO_EXTENDED_SPEEDS &&
	       port_info_modifier(port->peer) & PORT_INFO_EXTENDED_SPEEDS;
}

/* Whether the port supports the 2x widths; of a switch, port 0 has this information. */
static bool knows_2x(const struct port *port)
{
	const struct port *speaks = port_of_switch(port) ? &port->node->port[0] : port;

	return port_info(speaks)->capability_mask2 & CAP2_LINK_WIDTH_2X;
}

/* The value of an option without the bits that the port does not support: with one such bit, the
 * port would refuse the whole Set(). */
static uint8_t want_enabled(const struct governed *row, const struct sm_options *options,
			    const struct port *port)
{
	uint8_t option = want_byte_at(options, row->option);

	if (option == row->all || option == row->none)
		return option;
	option &= want_byte_at(port_info(port), row->supported);
	if (row->offset == offsetof(struct port_info, link_width_enabled) && !knows_2x(port))
		option &= ~LINK_WIDTH_2X;
	return option;
}

static void want_links(const struct sm_options *options, const struct port *port,
		       struct port_info *want)
{
	for (size_t i = 0; i < ARRAY_SIZE(governed); i++) {
		const struct governed *row = &governed[i];
		uint8_t *value = (uint8_t *)want + row->offset;

		if (!row->all || port->refuses & PORT_REFUSES_FORCED ||
		    (row->offset == offsetof(struct port_info, link_speed_ext_enabled) &&
		     !links_extended(port)))
			continue;
		*value = want_enabled(row, options, port);
		if (holds(row, port_info(port), want))
			*value = 0;
	}
	want->link_down_default_state = PHYS_POLLING;
}

void port_want(const struct fabric *fabric, const struct sm_options *options,
	       const struct port *port, struct port_info *want)
{
	const struct port_info *have = port_info(port);
	enum kind kind = want_port_kind(port);

	*want = *have;
	want->port_state = PORT_NO_CHANGE;
	want->port_physical_state = PHYS_NO_CHANGE;
	want->link_down_default_state = 0;
	want->link_width_enabled = 0;
	want->link_speed_enabled = 0;
	want->link_speed_ext_enabled = 0;
	want->link_speed_ext_enabled2 = 0;
	want->client_reregister = 0;
	if (kind == EXTERNAL)
		want_external(options, port, want);
	else
		want_end(fabric, options, port, want);
	/* A router's port sends to a switch as a switch's port sends to a host: osm_link_mgr.c. */
	if (kind == ROUTER)
		want->hoq_life = options->leaf_hoq_life;
	/* It has no link, so its capability is always available: osm_lid_mgr.c, "Configure Enh.
	 * SP0". */
	if (kind == ENHANCED0 && have->mtu_cap)
		want->neighbor_mtu = have->mtu_cap;
	if (kind & LINKS)
		want_links(options, port, want);
	if (kind != BASE0) {
		want->local_phy_errors = options->phy_errors_threshold;
		want->overrun_errors = options->overrun_errors_threshold;
	}
	/* An ACTIVE link keeps its present values, because a change would take the link down. */
	if (kind & LINKS && (have->port_state < PORT_ACTIVE || ends_differ(port))) {
		link_values(options, port, &want->neighbor_mtu, &want->operational_vls);
		if (have->port_state == PORT_ACTIVE)
			want->operational_vls = have->operational_vls;
	}
	/* Only a port with an earlier LID can have registrations with another manager, or with a
	 * manager that has lost them. */
	if (kind != EXTERNAL && have->capability_mask & CAP_CLIENT_REREGISTER &&
	    (have->master_sm_lid != want->master_sm_lid || port_needs_rereg(fabric, port)))
		want->client_reregister = 1;
}

bool want_is_forced(const struct port_info *want)
{
	return want->link_width_enabled || want->link_speed_enabled || want->link_speed_ext_enabled;
}

bool port_differs(const struct port *port, const struct port_info *want)
{
	const struct port_info *have = port_info(port);
	enum kind kind = want_port_kind(port);

	for (size_t i = 0; i < ARRAY_SIZE(governed); i++) {
		const struct governed *row = &governed[i];

		if (!(row->kinds & kind) || holds(row, have, want))
			continue;
		if (row->insist || !port->program.echo ||
		    !same(row, &port->program.echo->wanted, want) ||
		    !same(row, &port->program.echo->held, have))
			return true;
	}
	return false;
}

bool port_governed_is_same(const struct port *port, const struct port_info *shown)
{
	enum kind kind = want_port_kind(port);

	for (size_t i = 0; i < ARRAY_SIZE(governed); i++) {
		if (governed[i].kinds & kind && !same(&governed[i], port_info(port), shown))
			return false;
	}
	return true;
}

void port_note_echo(struct port *port, const struct port_info *want, const struct port_info *held)
{
	enum kind kind = want_port_kind(port);

	free(port->program.echo);
	port->program.echo = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(governed); i++) {
		if (governed[i].kinds & kind && !holds(&governed[i], held, want)) {
			port->program.echo = mem_alloc(sizeof(*port->program.echo));
			*port->program.echo = (struct port_echo){.wanted = *want, .held = *held};
			return;
		}
	}
}

bool port_link_mismatch(const struct sm_options *options, const struct port *port, uint8_t *mtu,
			uint8_t *vls)
{
	const struct port_info *have = port_info(port);

	if (!(want_port_kind(port) & LINKS) || have->port_state != PORT_ACTIVE || !port->peer)
		return false;
	link_values(options, port, mtu, vls);
	return *mtu != have->neighbor_mtu || *vls != have->operational_vls;
}

static bool may_carry_data(const struct port *port)
{
	const struct port_info *have = port_info(port);

	return (have->port_state == PORT_ACTIVE || port_state_of(port->peer) == PORT_ACTIVE) &&
	       have->lid && have->master_sm_lid;
}

bool port_link_restarts(const struct fabric *fabric, const struct sm_options *options,
			const struct port *port, struct port_info *want)
{
	const struct port_info *have = port_info(port);
	uint8_t mtu, vls;

	if (!(want_port_kind(port) & END) || port == fabric->sm_port || port->program.armed ||
	    port->program.restarted || !port_cabled(port) || have->port_state < PORT_ARMED ||
	    may_carry_data(port))
		return false;
	link_values(options, port, &mtu, &vls);
	if (mtu == have->neighbor_mtu && vls == have->operational_vls)
		return false;
	want->neighbor_mtu = mtu;
	want->operational_vls = vls;
	return true;
}
