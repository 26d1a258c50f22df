/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A target has several routes: detours, and the route on which it was verified. So the answers to
 * Get(NodeInfo) give a graph of cables, and each route is followed through it. A manager reads
 * NodeInfo before it uses a route; the records of a route that is not in the graph are kept under
 * the route itself.
 *
 * preview_apply() is the effect of a Set() on a device that accepts all values (14.2.5).
 */
#include "mad/preview.h"

#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
#include "lib/map.h"
#include "lib/mem.h"
#include "mad/attr.h"
#include "mad/mad.h"

enum { METHOD_OFFSET = 3, STATUS_MASK = 0x7FFF };

struct target {
	struct preview_target shown;
	unsigned number; /* from 1 */
	bool new_key;	 /* a Set() has changed its M_Key from held_key to m_key */
	uint64_t held_key, m_key;
	size_t next_key; /* not in the graph: the target whose key the next request takes */
};

struct pending { /* a request without an answer so far */
	struct target *target;
	struct route_path route;
	uint16_t attr_id;
	uint32_t attr_mod;
	bool is_set;
	uint64_t m_key; /* as sent */
	uint8_t data[SMP_DATA_SIZE];
};

struct preview {
	struct transport transport;
	struct transport *real;
	struct target **targets;
	struct preview_target **shown; /* the same as shown outside, without unknown routes */
	size_t num_targets, num_shown, num_new_keys;
	struct map by_guid;  /* PortGUID to target */
	struct map by_route; /* hash of a route to target: not in the graph */
	struct map links;    /* (number of the target, port) to the target at the other end */
	struct target *local;
	struct preview_record **records;
	size_t num_records;
	struct map by_key;  /* (target, attribute, modifier) to record */
	struct map pending; /* lower half of the TID to request */
	struct preview_counts counts;
};

/* The effect of a Set() */

struct writable {
	uint16_t offset;
	uint8_t size;
	bool zero_keeps; /* 0 is no change */
};

#define WRITABLE(type, member, keeps)                                      \
	{                                                                  \
		offsetof(type, member), sizeof(((type *)0)->member), keeps \
	}
#define ROW(member, keeps) WRITABLE(struct port_info, member, keeps)
static const struct writable port_info_rows[] = {
	ROW(m_key, false),
	ROW(gid_prefix, false),
	ROW(lid, false),
	ROW(master_sm_lid, false),
	ROW(m_key_lease_period, false),
	ROW(link_width_enabled, true),
	ROW(link_down_default_state, true),
	ROW(m_key_protect_bits, false),
	ROW(lmc, false),
	ROW(link_speed_enabled, true),
	ROW(neighbor_mtu, false),
	ROW(master_sm_sl, false),
	ROW(init_type, false),
	ROW(vl_high_limit, false),
	ROW(vl_stall_count, false),
	ROW(hoq_life, false),
	ROW(operational_vls, true),
	ROW(partition_enforcement_inbound, false),
	ROW(partition_enforcement_outbound, false),
	ROW(filter_raw_inbound, false),
	ROW(filter_raw_outbound, false),
	ROW(multicast_p_key_trap_suppression_enabled, false),
	ROW(subnet_timeout, false),
	ROW(local_phy_errors, false),
	ROW(overrun_errors, false),
	ROW(link_speed_ext_enabled, true),
	ROW(link_speed_ext_enabled2, true),
};
#undef ROW
#define ROW(member) WRITABLE(struct switch_info, member, false)
static const struct writable switch_info_rows[] = {
	ROW(linear_fdb_top),
	ROW(default_port),
	ROW(default_multicast_primary_port),
	ROW(default_multicast_not_primary_port),
	ROW(life_time_value),
	ROW(multicast_fdb_top),
};
#undef ROW

static bool is_zero(const void *bytes, size_t size)
{
	static const uint8_t zeros[8];

	return memcmp(bytes, zeros, size) == 0;
}

static void copy_members(const struct writable *rows, size_t count, bool all, const void *from,
			 void *to)
{
	for (size_t i = 0; i < count; i++) {
		const uint8_t *source = (const uint8_t *)from + rows[i].offset;

		if (all || !rows[i].zero_keeps || !is_zero(source, rows[i].size))
			memcpy((uint8_t *)to + rows[i].offset, source, rows[i].size);
	}
}

/* A link that restarts is back in INIT, before the manager reads it again. A disabled link stays
 * down. */
static void apply_states(const struct port_info *want, struct port_info *info,
			 struct preview_record *record)
{
	bool disables = want->port_physical_state == PHYS_DISABLED;
	bool restarts = want->port_state == PORT_DOWN || want->port_physical_state != 0;
	bool was_up = info->port_state > PORT_DOWN;

	if (want->port_state > PORT_DOWN)
		info->port_state = want->port_state;
	if (!restarts)
		return;
	record->bounces += was_up;
	if (disables)
		info->port_state = PORT_DOWN;
	else if (was_up)
		info->port_state = PORT_INIT;
	if (disables || !was_up)
		info->port_physical_state = want->port_physical_state ? want->port_physical_state
								      : info->port_physical_state;
}

static void apply_port_info(const uint8_t *wanted, uint8_t *data, struct preview_record *record)
{
	struct port_info want, info;

	attr_decode(&port_info_format, wanted, &want);
	attr_decode(&port_info_format, data, &info);
	copy_members(port_info_rows, ARRAY_SIZE(port_info_rows), false, &want, &info);
	apply_states(&want, &info, record);
	record->reregistrations += want.client_reregister;
	info.client_reregister = 0;
	format_encode(&port_info_format, &info, data);
}

static void apply_switch_info(const uint8_t *wanted, uint8_t *data, struct preview_record *record)
{
	struct switch_info want, info;

	(void)record;
	attr_decode(&switch_info_format, wanted, &want);
	attr_decode(&switch_info_format, data, &info);
	copy_members(switch_info_rows, ARRAY_SIZE(switch_info_rows), false, &want, &info);
	info.port_state_change &= !want.port_state_change; /* writing 1 clears it */
	format_encode(&switch_info_format, &info, data);
}

/* The first GUID of a port is read-only: 14.2.5.5. */
static void apply_guid_info(const uint8_t *wanted, uint8_t *data, struct preview_record *record)
{
	size_t fixed = record->attr_mod ? 0 : sizeof(guid_t);

	memcpy(data + fixed, wanted + fixed, SMP_DATA_SIZE - fixed);
}

static void apply_table(const uint8_t *wanted, uint8_t *data, struct preview_record *record)
{
	(void)record;
	memcpy(data, wanted, SMP_DATA_SIZE);
}

static const struct {
	uint16_t attr_id;
	void (*apply)(const uint8_t *wanted, uint8_t *data, struct preview_record *record);
} appliers[] = {
	{ATTR_PORT_INFO, apply_port_info},
	{ATTR_SWITCH_INFO, apply_switch_info},
	{ATTR_GUID_INFO, apply_guid_info},
};

static void apply(const uint8_t *wanted, uint8_t *data, struct preview_record *record)
{
	for (size_t i = 0; i < ARRAY_SIZE(appliers); i++) {
		if (appliers[i].attr_id == record->attr_id) {
			appliers[i].apply(wanted, data, record);
			return;
		}
	}
	apply_table(wanted, data, record);
}

/* Puts the recorded values of members that a manager writes into data as a device sent them. */
static void overlay(const struct preview_record *record, uint8_t *data)
{
	struct port_info port, port_after;
	struct switch_info sw, sw_after;

	if (record->attr_id == ATTR_PORT_INFO) {
		attr_decode(&port_info_format, data, &port);
		attr_decode(&port_info_format, record->after, &port_after);
		copy_members(port_info_rows, ARRAY_SIZE(port_info_rows), true, &port_after, &port);
		port.port_state = port_after.port_state;
		port.port_physical_state = port_after.port_physical_state;
		format_encode(&port_info_format, &port, data);
	} else if (record->attr_id == ATTR_SWITCH_INFO) {
		attr_decode(&switch_info_format, data, &sw);
		attr_decode(&switch_info_format, record->after, &sw_after);
		copy_members(switch_info_rows, ARRAY_SIZE(switch_info_rows), true, &sw_after, &sw);
		sw.port_state_change = sw_after.port_state_change;
		format_encode(&switch_info_format, &sw, data);
	} else {
		memcpy(data, record->after, SMP_DATA_SIZE);
	}
}

/* Targets and routes */

static struct target *target_new(struct preview *preview)
{
	struct target *target = mem_zalloc(sizeof(*target));

	preview->targets =
		mem_grow(preview->targets, preview->num_targets, sizeof(struct target *));
	preview->targets[preview->num_targets++] = target;
	target->number = (unsigned)preview->num_targets;
	return target;
}

static uint64_t link_key(const struct target *target, uint8_t port)
{
	return (uint64_t)target->number << 8 | port;
}

/* NULL: the route leaves the known cables. */
static struct target *follow(const struct preview *preview, const struct route_path *route,
			     unsigned hops)
{
	struct target *at = preview->local;

	for (unsigned i = 1; at && i <= hops; i++)
		at = map_get(&preview->links, link_key(at, route->port[i]));
	return at;
}

static uint64_t route_hash(const struct route_path *route)
{
	uint64_t hash = 0xCBF29CE484222325; /* FNV-1a */

	for (unsigned i = 0; i <= route->hops; i++)
		hash = (hash ^ (i ? route->port[i] : route->hops)) * 0x100000001B3;
	return hash;
}

static struct target *target_of(struct preview *preview, const struct route_path *route)
{
	struct target *target = follow(preview, route, route->hops);

	if (!target)
		target = map_get(&preview->by_route, route_hash(route));
	if (!target) {
		target = target_new(preview);
		map_put(&preview->by_route, route_hash(route), target);
	}
	return target;
}

static struct target *target_with_guid(struct preview *preview, const struct node_info *info)
{
	struct target *target = map_get(&preview->by_guid, info->port_guid);

	if (target)
		return target;
	target = target_new(preview);
	target->shown = (struct preview_target){
		.node_guid = info->node_guid,
		.port_guid = info->port_guid,
		.type = info->node_type,
		.num_ports = info->num_ports,
		.port = info->node_type == NODE_SWITCH ? 0 : info->local_port_num,
	};
	map_put(&preview->by_guid, info->port_guid, target);
	preview->shown = mem_grow(preview->shown, preview->num_shown, sizeof(*preview->shown));
	preview->shown[preview->num_shown++] = &target->shown;
	return target;
}

/* Both directions of the last cable of the route. */
static void learn_node(struct preview *preview, const struct route_path *route, const uint8_t *data)
{
	struct node_info info;
	struct target *target, *before;

	attr_decode(&node_info_format, data, &info);
	if (!info.port_guid)
		return;
	target = target_with_guid(preview, &info);
	if (!route->hops) {
		preview->local = target;
		return;
	}
	before = follow(preview, route, route->hops - 1u);
	if (!before)
		return;
	map_put(&preview->links, link_key(before, route->port[route->hops]), target);
	map_put(&preview->links, link_key(target, info.local_port_num), before);
}

static void learn_name(struct target *target, const uint8_t *data)
{
	struct node_description description;

	attr_decode(&node_description_format, data, &description);
	description_text(&description, target->shown.description);
}

/* Records */

static uint32_t modifier_of(uint16_t attr_id, uint32_t attr_mod)
{
	return attr_id == ATTR_PORT_INFO ? attr_mod & ~PORT_INFO_EXTENDED_SPEEDS : attr_mod;
}

/* Numbers of targets have 24 bits, and attributes of SMPs that have tables differ in 8. */
static uint64_t record_key(const struct pending *pending)
{
	return (uint64_t)pending->target->number << 40 | (uint64_t)(uint8_t)pending->attr_id << 32 |
	       pending->attr_mod;
}

static struct preview_record *preview_record_of(struct preview *preview,
						const struct pending *pending)
{
	return map_get(&preview->by_key, record_key(pending));
}

static struct preview_record *record_new(struct preview *preview, const struct pending *pending,
					 const uint8_t *data)
{
	struct preview_record *record = mem_zalloc(sizeof(*record));

	record->target = &pending->target->shown;
	record->attr_id = pending->attr_id;
	record->attr_mod = pending->attr_mod;
	memcpy(record->before, data, SMP_DATA_SIZE);
	memcpy(record->after, data, SMP_DATA_SIZE);
	preview->records =
		mem_grow(preview->records, preview->num_records, sizeof(*preview->records));
	preview->records[preview->num_records++] = record;
	map_put(&preview->by_key, record_key(pending), record);
	return record;
}

/* Remembers the key that the port really has. */
static void note_key(struct preview *preview, const struct pending *pending, const uint8_t *held,
		     const uint8_t *after)
{
	struct target *target = pending->target;
	uint64_t m_key = be64_load(after); /* the first member of PortInfo */

	if (pending->attr_id != ATTR_PORT_INFO || m_key == be64_load(held))
		return;
	if (!target->new_key)
		target->held_key = pending->m_key;
	preview->num_new_keys += !target->new_key;
	target->new_key = true;
	target->m_key = m_key;
}

/* data: the answer of the device; becomes the answer to the Set(). */
static void take_set(struct preview *preview, const struct pending *pending, uint8_t *data)
{
	struct preview_record *record = preview_record_of(preview, pending);
	uint8_t held[SMP_DATA_SIZE];
	unsigned commands;

	if (!record)
		record = record_new(preview, pending, data);
	overlay(record, data);
	memcpy(held, data, sizeof(held));
	commands = record->bounces + record->reregistrations;
	apply(pending->data, data, record);
	record->sets++;
	record->unchanged += memcmp(held, data, sizeof(held)) == 0 &&
			     commands == record->bounces + record->reregistrations;
	memcpy(record->after, data, SMP_DATA_SIZE);
	note_key(preview, pending, held, data);
}

/* Receiving */

static void preview_take_answer(struct preview *preview, struct pending *pending, uint8_t *mad)
{
	const struct preview_record *record;
	struct mad_header header;
	uint8_t *data = mad + SMP_DATA_OFFSET;

	header_decode(mad, &header);
	if (header.status & STATUS_MASK) {
		preview->counts.refused += pending->is_set;
		return;
	}
	if (pending->attr_id == ATTR_NODE_INFO)
		learn_node(preview, &pending->route, data);
	else if (pending->attr_id == ATTR_NODE_DESCRIPTION)
		learn_name(pending->target, data);
	record = preview_record_of(preview, pending);
	if (pending->is_set)
		take_set(preview, pending, data);
	else if (record)
		overlay(record, data);
}

static void preview_received(void *ctx, const struct mad_addr *from, const uint8_t *mad,
			     size_t size)
{
	struct preview *preview = ctx;
	const struct transport_user *user = &preview->transport.user;
	struct mad_header header;
	struct pending *pending;
	uint8_t answer[MAD_SIZE];

	if (size != MAD_SIZE || !user->received)
		return;
	header_decode(mad, &header);
	pending = header.method == METHOD_GET_RESP && header.mgmt_class == CLASS_SUBN_DIRECTED
			  ? map_remove(&preview->pending, (uint32_t)header.tid)
			  : NULL;
	if (!pending) /* requests of others get no answer */
		return;
	memcpy(answer, mad, sizeof(answer));
	if (header.attr_id == pending->attr_id)
		preview_take_answer(preview, pending, answer);
	free(pending);
	user->received(user->ctx, from, answer, sizeof(answer));
}

static void preview_timed_out(void *ctx, const uint8_t header[MAD_HEADER_SIZE])
{
	struct preview *preview = ctx;
	const struct transport_user *user = &preview->transport.user;
	struct mad_header decoded;

	header_decode(header, &decoded);
	free(map_remove(&preview->pending, (uint32_t)decoded.tid));
	if (user->timed_out)
		user->timed_out(user->ctx, header);
}

static void preview_gone(void *ctx, int error)
{
	struct preview *preview = ctx;
	const struct transport_user *user = &preview->transport.user;

	preview->transport.gone = true;
	if (user->gone)
		user->gone(user->ctx, error);
}

static void preview_back(void *ctx)
{
	struct preview *preview = ctx;
	const struct transport_user *user = &preview->transport.user;

	preview->transport.gone = false;
	preview->transport.port = preview->real->port;
	if (user->back)
		user->back(user->ctx);
}

/* Sending */

/* Get(SMInfo) is read-only, and shows the other managers. */
static bool preview_passes(const struct mad_header *header)
{
	return header->mgmt_class == CLASS_SUBN_DIRECTED && header->hop_count <= HOPS_MAX &&
	       (header->method == METHOD_GET ||
		(header->method == METHOD_SET && header->attr_id != ATTR_SM_INFO &&
		 attr_format(header->attr_id)));
}

/* The key that the device holds in place of a new key, which it never got. A route that is not in
 * the graph can lead to any port: each request takes the key of another port. */
static uint64_t held_key(const struct preview *preview, struct target *target, uint64_t m_key)
{
	if (target->new_key && m_key == target->m_key)
		return target->held_key;
	if (target->shown.port_guid || !preview->num_new_keys)
		return m_key;
	for (size_t i = 0; i < preview->num_targets; i++) {
		const struct target *other =
			preview->targets[(target->next_key + i) % preview->num_targets];

		if (other->new_key && m_key == other->m_key) {
			target->next_key = other->number;
			return other->held_key;
		}
	}
	return m_key;
}

static struct pending *pending_new(struct preview *preview, const struct mad_header *header,
				   const uint8_t *mad)
{
	struct pending *pending = mem_zalloc(sizeof(*pending));

	pending->route.hops = header->hop_count;
	memcpy(pending->route.port, mad + SMP_INITIAL_PATH_OFFSET, header->hop_count + 1u);
	pending->target = target_of(preview, &pending->route);
	pending->attr_id = header->attr_id;
	pending->attr_mod = modifier_of(header->attr_id, header->attr_mod);
	pending->is_set = header->method == METHOD_SET;
	memcpy(pending->data, mad + SMP_DATA_OFFSET, SMP_DATA_SIZE);
	pending->m_key = held_key(preview, pending->target, be64_load(mad + SMP_M_KEY_OFFSET));
	return pending;
}

/* A MAD that is withheld counts as sent and lost. */
static int preview_send(struct transport *transport, const struct mad_addr *to, const uint8_t *mad,
			size_t size, unsigned timeout_ms)
{
	struct preview *preview = container_of(transport, struct preview, transport);
	struct mad_header header;
	struct pending *pending;
	uint8_t get[MAD_SIZE];
	bool is_set;
	int error;

	if (size >= MAD_HEADER_SIZE)
		header_decode(mad, &header);
	if (size != MAD_SIZE || !preview_passes(&header)) {
		preview->counts.withheld++;
		return 0;
	}
	memcpy(get, mad, sizeof(get));
	pending = pending_new(preview, &header, mad);
	get[METHOD_OFFSET] = METHOD_GET;
	be64_store(get + SMP_M_KEY_OFFSET, pending->m_key);
	if (pending->is_set)
		memset(get + SMP_DATA_OFFSET, 0, SMP_DATA_SIZE);
	free(map_put(&preview->pending, (uint32_t)header.tid, pending));
	is_set = pending->is_set;
	error = transport_send(preview->real, to, get, sizeof(get), timeout_ms);
	if (error)
		free(map_remove(&preview->pending, (uint32_t)header.tid));
	else if (is_set)
		preview->counts.sets++;
	else
		preview->counts.gets++;
	return error;
}

static int preview_set_issm(struct transport *transport, bool on)
{
	(void)transport;
	(void)on;
	return 0;
}

static void preview_close(struct transport *transport)
{
	struct preview *preview = container_of(transport, struct preview, transport);
	struct pending *pending;
	size_t position = 0;

	transport_close(preview->real);
	while ((pending = map_next(&preview->pending, &position)))
		free(pending);
	for (size_t i = 0; i < preview->num_records; i++)
		free(preview->records[i]);
	for (size_t i = 0; i < preview->num_targets; i++)
		free(preview->targets[i]);
	free(preview->records);
	free(preview->targets);
	free(preview->shown);
	map_done(&preview->by_guid);
	map_done(&preview->by_route);
	map_done(&preview->links);
	map_done(&preview->by_key);
	map_done(&preview->pending);
	free(preview);
}

static const struct transport_ops preview_ops = {
	.send = preview_send,
	.set_issm = preview_set_issm,
	.close = preview_close,
};

struct preview *preview_new(struct transport *real)
{
	struct preview *preview = mem_zalloc(sizeof(*preview));

	preview->transport.ops = &preview_ops;
	preview->transport.port = real->port;
	preview->transport.gone = real->gone;
	preview->real = real;
	real->user = (struct transport_user){
		.received = preview_received,
		.timed_out = preview_timed_out,
		.gone = preview_gone,
		.back = preview_back,
		.ctx = preview,
	};
	return preview;
}

struct transport *preview_transport(struct preview *preview)
{
	return &preview->transport;
}

void preview_each(const struct preview *preview,
		  void (*fn)(void *ctx, const struct preview_record *record), void *ctx)
{
	for (size_t i = 0; i < preview->num_records; i++)
		fn(ctx, preview->records[i]);
}

size_t preview_targets(const struct preview *preview, struct preview_target *const **targets)
{
	*targets = preview->shown;
	return preview->num_shown;
}

const struct preview_counts *preview_counts(const struct preview *preview)
{
	return &preview->counts;
}
