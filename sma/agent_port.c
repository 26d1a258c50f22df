/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * PortInfo (14.2.5.6). Most of its rules are one table: which member a Set() may change, at which
 * kind of port, and the allowed values. Members that a kind of port does not have are ignored. An
 * unchanged value is always valid, so the answer to a Get() can always be Set(). agent_link.c has
 * the states. A Set() with one invalid value changes nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "sma/agent.h"
#include "sma/agent_parts.h"

/* The usage column of table 146. */
enum kind {
	ADAPTER = 1,
	BASE0 = 2,
	ENHANCED0 = 4,
	EXTERNAL = 8,
	ROUTER = 16,
	END = ADAPTER | ROUTER
};
enum { ENDS = END | BASE0 | ENHANCED0, LINKS = END | EXTERNAL };

enum write {
	ANY,		   /* any value */
	ZERO_IS_NO_CHANGE, /* and all other members */
	ONLY_ZERO_CLEARS,  /* a counter: any other value is ignored */
};

/* Whether the port can take value, which differs from the present value. */
typedef bool value_fn(const struct device_port *port, uint64_t value);

static bool is_unicast_lid(const struct device_port *port, uint64_t value)
{
	(void)port;
	return value >= LID_UNICAST_MIN && value <= LID_UNICAST_MAX;
}

static bool is_down_default(const struct device_port *port, uint64_t value)
{
	(void)port;
	return value == PHYS_SLEEP || value == PHYS_POLLING;
}

static bool is_mtu(const struct device_port *port, uint64_t value)
{
	return value >= 1 && value <= port->info.mtu_cap;
}

static bool is_vls(const struct device_port *port, uint64_t value)
{
	return value >= 1 && value <= port->info.vl_cap;
}

#define MEMBER(name) offsetof(struct port_info, name), sizeof(((struct port_info *)0)->name)

/* clang-format off */
static const struct rule {
	uint16_t offset, size;
	uint8_t kinds;
	enum write write;
	value_fn *takes; /* NULL: every value */
} rules[] = {
	{MEMBER(m_key),                          ENDS,              ANY, NULL},
	{MEMBER(gid_prefix),                     ENDS,              ANY, NULL},
	{MEMBER(lid),                            ENDS,              ANY, is_unicast_lid},
	{MEMBER(master_sm_lid),                  ENDS,              ANY, is_unicast_lid},
	{MEMBER(m_key_lease_period),             ENDS,              ANY, NULL},
	{MEMBER(link_down_default_state),        LINKS,             ZERO_IS_NO_CHANGE, is_down_default},
	{MEMBER(m_key_protect_bits),             ENDS,              ANY, NULL},
	{MEMBER(lmc),                            END | ENHANCED0,   ANY, NULL},
	{MEMBER(neighbor_mtu),                   LINKS | ENHANCED0, ANY, is_mtu},
	{MEMBER(master_sm_sl),                   ENDS,              ANY, NULL},
	{MEMBER(init_type),                      ENDS,              ANY, NULL},
	{MEMBER(vl_high_limit),                  LINKS,             ANY, NULL},
	{MEMBER(vl_stall_count),                 EXTERNAL,          ANY, NULL},
	{MEMBER(hoq_life),                       EXTERNAL | ROUTER, ANY, NULL},
	{MEMBER(operational_vls),                LINKS,             ZERO_IS_NO_CHANGE, is_vls},
	{MEMBER(partition_enforcement_inbound),  EXTERNAL,          ANY, NULL},
	{MEMBER(partition_enforcement_outbound), EXTERNAL,          ANY, NULL},
	{MEMBER(filter_raw_inbound),             EXTERNAL,          ANY, NULL},
	{MEMBER(filter_raw_outbound),            EXTERNAL,          ANY, NULL},
	{MEMBER(m_key_violations),               ENDS,              ONLY_ZERO_CLEARS, NULL},
	{MEMBER(p_key_violations),               END | ENHANCED0,   ONLY_ZERO_CLEARS, NULL},
	{MEMBER(q_key_violations),               END | ENHANCED0,   ONLY_ZERO_CLEARS, NULL},
	{MEMBER(subnet_timeout),                 ENDS,              ANY, NULL},
	{MEMBER(local_phy_errors),               LINKS | ENHANCED0, ANY, NULL},
	{MEMBER(overrun_errors),                 LINKS | ENHANCED0, ANY, NULL},
};

/* The enabled rates of a link: a mask of supported rates, or a value for all of them. 0 is no
 * change. */
static const struct enabled {
	size_t enabled, supported;
	uint8_t all, none; /* not 0: there is no value for none */
	bool extended;	   /* only for managers that know extended speeds */
} enabled_rules[] = {
	{offsetof(struct port_info, link_width_enabled),
	 offsetof(struct port_info, link_width_supported), LINK_WIDTH_ALL, 0, false},
	{offsetof(struct port_info, link_speed_enabled),
	 offsetof(struct port_info, link_speed_supported), LINK_SPEED_ALL, 0, false},
	{offsetof(struct port_info, link_speed_ext_enabled),
	 offsetof(struct port_info, link_speed_ext_supported), LINK_SPEED_EXT_ALL,
	 LINK_SPEED_EXT_NONE, true},
};
/* clang-format on */

static enum kind device_port_kind(const struct device_port *port)
{
	if (!device_is_switch(port->device))
		return port->device->type == NODE_ROUTER ? ROUTER : ADAPTER;
	if (port->num)
		return EXTERNAL;
	return port->device->sw.enhanced_port0 ? ENHANCED0 : BASE0;
}

static uint64_t member(const struct port_info *info, const struct rule *rule)
{
	const void *at = (const char *)info + rule->offset;

	switch (rule->size) {
	case 1:
		return *(const uint8_t *)at;
	case 2:
		return *(const uint16_t *)at;
	default:
		return *(const uint64_t *)at;
	}
}

static bool rule_differs(const struct rule *rule, const struct port_info *a,
			 const struct port_info *b)
{
	return memcmp((const char *)a + rule->offset, (const char *)b + rule->offset, rule->size);
}

/* The port of the modifier: its lower byte is the port number; 0 at an adapter is the port through
 * which the SMP arrived. Bit 31 says that the manager knows extended speeds, if the agent knows
 * them. */
static struct device_port *port_info_addressed_port(const struct agent_request *request)
{
	uint32_t port = request->attr_mod;

	if (!request->device->quirks.no_extended_speeds)
		port &= ~PORT_INFO_EXTENDED_SPEEDS;
	if (!port && !device_is_switch(request->device))
		return request->in;
	return device_port(request->device, port);
}

static bool knows_extended(const struct agent_request *request)
{
	return request->attr_mod & PORT_INFO_EXTENDED_SPEEDS;
}

static bool shows_extended(const struct agent_request *request)
{
	const struct device_quirks *quirks = &request->device->quirks;

	return !quirks->no_extended_speeds &&
	       (knows_extended(request) || !quirks->hides_extended_speeds);
}

static void apply_quirks(const struct device_quirks *quirks, struct port_info *info)
{
	if (quirks->subnet_timeout_fixed && info->capability_mask)
		info->subnet_timeout = quirks->subnet_timeout_fixed;
	if (quirks->no_extended_speeds)
		info->capability_mask &= ~CAP_EXTENDED_SPEEDS;
	if (quirks->no_mkey)
		info->m_key = info->m_key_lease_period = info->m_key_protect_bits = 0;
}

/* Changes violation counters, values of a recovering link, and values that a kernel module of the
 * host sets when it is loaded. */
static void be_restless(struct device *device, struct port_info *info)
{
	uint32_t turn = ++device->shown;

	info->m_key_violations += turn;
	info->p_key_violations += turn;
	info->q_key_violations += turn;
	info->diag_code = (uint16_t)turn;
	info->link_round_trip_latency = turn;
	info->max_credit_hint = (uint16_t)turn;
	if (!(turn % 2))
		return;
	if (info->port_physical_state == PHYS_LINK_UP)
		info->port_physical_state = PHYS_ERROR_RECOVERY;
	if (info->capability_mask)
		info->capability_mask ^= CAP_COMMUNICATION_MANAGEMENT;
}

uint16_t port_info_get(struct agent_request *request)
{
	struct device_port *port = port_info_addressed_port(request);
	struct port_info shown;

	if (!port)
		return STATUS_INVALID_VALUE;
	shown = port->info;
	shown.local_port_num = request->in->num;
	apply_quirks(&request->device->quirks, &shown);
	if (request->device->quirks.restless)
		be_restless(request->device, &shown);
	if (request->hides_m_key)
		shown.m_key = 0;
	if (!shows_extended(request))
		shown.link_speed_ext_active = shown.link_speed_ext_supported =
			shown.link_speed_ext_enabled = 0;
	format_encode(&port_info_format, &shown, request->data);
	/* A command, which only the answer to its Set() shows. */
	port->info.client_reregister = 0;
	return STATUS_OK;
}

/* Set() */

static bool values_are_good(const struct device_port *port, const struct port_info *asked)
{
	enum kind kind = device_port_kind(port);

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		const struct rule *rule = &rules[i];
		uint64_t value;

		if (!(rule->kinds & kind) || !rule->takes ||
		    !rule_differs(rule, asked, &port->info))
			continue;
		value = member(asked, rule);
		if (!(value == 0 && rule->write == ZERO_IS_NO_CHANGE) && !rule->takes(port, value))
			return false;
	}
	return true;
}

/* The LIDs of a port are a range of 2^LMC that begins at a multiple of that (4.1.3). */
static bool lids_are_good(const struct device_port *port, const struct port_info *asked)
{
	unsigned lmc = device_port_kind(port) & (END | ENHANCED0) ? asked->lmc : 0;

	return !device_port_is_end(port) || !(asked->lid & ((1u << lmc) - 1)) ||
	       (asked->lid == port->info.lid && lmc == port->info.lmc);
}

static uint8_t *port_info_byte(struct port_info *info, size_t offset)
{
	return (uint8_t *)info + offset;
}

static bool enabled_counts(const struct enabled *rule, const struct device_port *port,
			   bool extended, uint8_t value)
{
	return value && device_port_kind(port) & LINKS && (extended || !rule->extended);
}

/* Until version 1.2 of the specification the slowest speed had to be among those enabled. */
static bool was_reserved(uint8_t speeds)
{
	return speeds && !(speeds & 1);
}

static bool enabled_are_good(struct device_port *port, struct port_info *asked, bool extended)
{
	if (port->device->quirks.old_speeds && was_reserved(asked->link_speed_enabled))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(enabled_rules); i++) {
		const struct enabled *rule = &enabled_rules[i];
		uint8_t value = *port_info_byte(asked, rule->enabled);

		if (enabled_counts(rule, port, extended, value) && value != rule->all &&
		    value != rule->none && value & ~*port_info_byte(&port->info, rule->supported))
			return false;
	}
	return true;
}

/* Members that the switch does not support are ignored (14.2.5.4). */
static void forget_impossible(struct device_port *port)
{
	const struct switch_info *sw = &port->device->sw;
	struct port_info *info = &port->info;

	info->partition_enforcement_inbound &= sw->inbound_enforcement_cap;
	info->partition_enforcement_outbound &= sw->outbound_enforcement_cap;
	info->filter_raw_inbound &= sw->filter_raw_inbound_cap;
	info->filter_raw_outbound &= sw->filter_raw_outbound_cap;
}

static void apply_values(struct device_port *port, const struct port_info *asked)
{
	enum kind kind = device_port_kind(port);

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		const struct rule *rule = &rules[i];
		bool is_zero;

		if (!(rule->kinds & kind) || !rule_differs(rule, asked, &port->info))
			continue;
		is_zero = !member(asked, rule);
		if (rule->write == ANY || is_zero == (rule->write == ONLY_ZERO_CLEARS))
			memcpy((char *)&port->info + rule->offset,
			       (const char *)asked + rule->offset, rule->size);
	}
	if (kind == EXTERNAL)
		forget_impossible(port);
}

static void apply_enabled(struct device_port *port, struct port_info *asked, bool extended)
{
	for (size_t i = 0; i < ARRAY_SIZE(enabled_rules); i++) {
		const struct enabled *rule = &enabled_rules[i];
		uint8_t value = *port_info_byte(asked, rule->enabled);

		if (enabled_counts(rule, port, extended, value))
			*port_info_byte(&port->info, rule->enabled) =
				value == rule->all ? *port_info_byte(&port->info, rule->supported)
						   : value;
	}
}

static void apply_reregister(struct device_port *port, const struct port_info *asked)
{
	if (!asked->client_reregister || !device_port_is_end(port))
		return;
	port->info.client_reregister = 1;
	port->reregistrations++;
	port->reregistrations_ever++;
}

uint16_t port_info_set(struct agent_request *request)
{
	struct device_port *port = port_info_addressed_port(request);
	bool extended = knows_extended(request);
	struct port_info asked;

	attr_decode(&port_info_format, request->data, &asked);
	/* The ports of an adapter are set through themselves only. */
	if (!port || (!device_is_switch(request->device) && port != request->in) ||
	    !values_are_good(port, &asked) || !lids_are_good(port, &asked) ||
	    !enabled_are_good(port, &asked, extended) ||
	    !link_may_step(port, asked.port_state, asked.port_physical_state))
		return STATUS_INVALID_VALUE;
	request->about = port->num;
	apply_values(port, &asked);
	apply_enabled(port, &asked, extended);
	apply_reregister(port, &asked);
	link_step(port, asked.port_state, asked.port_physical_state);
	return STATUS_OK;
}

/* Reset */

enum {
	RESET_SUBNET_TIMEOUT = 18, /* 1.07 s */
	RESET_RESP_TIME = 8,	   /* 1 ms */
	RESET_ERROR_THRESHOLD = 8,
	RESET_MTU = 1, /* 256 bytes, which every port has */
};

/* The capabilities of the hardware stay. */
static struct port_info rom(const struct port_info *info)
{
	return (struct port_info){
		.capability_mask = info->capability_mask & ~CAPS_OF_HOST,
		.link_width_supported = info->link_width_supported,
		.link_width_enabled = info->link_width_supported,
		.link_speed_supported = info->link_speed_supported,
		.link_speed_enabled = info->link_speed_supported,
		.link_speed_ext_supported = info->link_speed_ext_supported,
		.link_speed_ext_enabled = info->link_speed_ext_supported,
		.mtu_cap = info->mtu_cap,
		.vl_cap = info->vl_cap,
		.vl_arbitration_high_cap = info->vl_arbitration_high_cap,
		.vl_arbitration_low_cap = info->vl_arbitration_low_cap,
		.guid_cap = info->guid_cap,
	};
}

/* A switch's port 0 has no link, and shows the best width and speed. Its NeighborMTU is 256 bytes
 * until a manager sets it, as on real switches. */
static void reset_port0(struct device_port *port)
{
	struct port_info *info = &port->info;
	bool bare = port->device->sw.enhanced_port0 && port->device->quirks.bare_port0;

	info->port_state = PORT_ACTIVE;
	info->port_physical_state = PHYS_LINK_UP;
	if (bare)
		info->port_state = PORT_DOWN;
	info->link_width_active = 1 << (31 - __builtin_clz(info->link_width_supported & 15));
	info->link_speed_active = 1 << (31 - __builtin_clz(info->link_speed_supported));
	if (info->link_speed_ext_supported)
		info->link_speed_ext_active =
			1 << (31 - __builtin_clz(info->link_speed_ext_supported));
}

void port_reset(struct device_port *port)
{
	struct port_info *info = &port->info;

	*info = rom(info);
	info->port_state = PORT_DOWN;
	info->port_physical_state = PHYS_POLLING;
	info->link_down_default_state = PHYS_POLLING;
	info->operational_vls = info->vl_cap;
	info->neighbor_mtu = RESET_MTU;
	info->local_phy_errors = info->overrun_errors = RESET_ERROR_THRESHOLD;
	if (device_port_is_end(port)) {
		info->gid_prefix = GID_PREFIX_DEFAULT;
		info->subnet_timeout = RESET_SUBNET_TIMEOUT;
		info->resp_time_value = RESET_RESP_TIME;
	}
	if (!port->num)
		reset_port0(port);
	port->counts = (struct port_counts){0};
	tables_reset(port);
	ext_port_info_reset(port);
	m_key_reset(port);
	traps_reset(port);
}

void device_port_speeds(struct device_port *port, uint8_t width, uint8_t speed, uint8_t speed_ext)
{
	struct port_info *info = &port->info;

	info->link_width_supported = info->link_width_enabled = width;
	info->link_speed_supported = info->link_speed_enabled = speed;
	info->link_speed_ext_supported = info->link_speed_ext_enabled = speed_ext;
}
