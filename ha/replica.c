/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The interface of the replica to the rest of the manager, which decides which half runs. */
#include "ha/replica.h"

#include <stdlib.h>
#include <string.h>

#include "ha/parts.h"
#include "lib/guid.h"
#include "lib/mem.h"

enum sm_state replica_own_role(const struct replica *replica)
{
	return replica->owner.role(replica->owner.ctx);
}

void replica_send(struct replica *replica, struct stream *stream)
{
	stream_send(stream, replica->out.bytes, replica->out.size);
}

bool replica_serves(const struct replica *replica)
{
	return replica && (replica->options.listen[0] || replica->options.inband);
}

enum ha_copies replica_copies(const struct replica *replica, const struct stream *stream,
			      guid_t guid)
{
	if (!stream->in_clear)
		return COPY_ALL;
	return replica->owner.listed(replica->owner.ctx, guid) ? COPY_NO_SECRETS
							       : COPY_REGISTRATIONS;
}

bool replica_is_at(const struct stream *stream, guid_t guid)
{
	char text[GUID_TEXT];

	return !strcmp(stream->peer, guid_text(guid, text));
}

void replica_greet(struct replica *replica, struct stream *stream, enum ha_copies copies,
		   uint64_t incarnation, uint64_t number)
{
	struct hello hello = {.role = (uint8_t)replica_own_role(replica),
			      .copies = (uint8_t)copies,
			      .guid = *replica->own,
			      .incarnation = incarnation,
			      .number = number};

	memcpy(hello.config, replica->options.config, sizeof(hello.config));
	hello_put(&replica->out, &hello);
	replica_send(replica, stream);
}

bool replica_has_all(const struct replica *replica)
{
	return replica && replica->follow.copies == COPY_ALL &&
	       (replica->complete || follow_has_all(replica));
}

void replica_role(struct replica *replica, struct table_cache *cache)
{
	enum sm_state role;

	if (!replica || replica->stopped)
		return;
	role = replica_own_role(replica);
	/* A master that is unreachable accepts no registrations. So a complete copy stays complete
	 * while this manager is DISCOVERING, which may take long. */
	replica->complete = role == SM_DISCOVERING && follow_has_all(replica);
	if (role == SM_MASTER) {
		follow_end(replica);
		follow_give_tables(replica, cache);
		if (!replica->lead.leads)
			lead_begin(replica);
		return;
	}
	lead_end(replica);
	if (role == SM_STANDBY)
		follow_look(replica);
}

bool replica_may_follow(const struct replica *replica)
{
	enum sm_state role = replica_own_role(replica);

	return role == SM_STANDBY ||
	       (role == SM_DISCOVERING && replica->owner.locked_out(replica->owner.ctx));
}

void replica_seek(struct replica *replica)
{
	if (replica && !replica->stopped && !replica->follow.stream &&
	    !loop_timer_armed(&replica->follow.retry))
		follow_look(replica);
}

bool replica_ready(struct replica *replica)
{
	return !replica || follow_ready(replica);
}

bool replica_lacks(const struct replica *replica, guid_t guid)
{
	if (!replica_serves(replica))
		return false;
	/* Over the fabric, a manager without a session may be another program. */
	return replica->options.listen[0] ? !lead_in_sync(replica, guid)
					  : lead_has(replica, guid) && !lead_in_sync(replica, guid);
}

bool replica_copies_all(const struct replica *replica, guid_t guid)
{
	return replica && lead_copies_all(replica, guid);
}

bool replica_copies_kind(const struct replica *replica, guid_t guid, enum registry_kind kind)
{
	return replica && lead_copies_kind(replica, guid, kind);
}

void replica_touch_tables(struct replica *replica)
{
	if (replica && !replica->stopped)
		lead_touch_tables(replica);
}

void replica_touch_mft(struct replica *replica)
{
	if (replica && !replica->stopped)
		lead_touch_mft(replica);
}

struct table_cache_row *tables_row(struct map *tables, guid_t guid)
{
	struct table_cache_row *row = map_get(tables, guid);

	if (!row) {
		row = mem_zalloc(sizeof(*row));
		row->guid = guid;
		map_put(tables, guid, row);
	}
	return row;
}

void tables_clear(struct map *tables)
{
	struct table_cache_row *row;
	size_t at = 0;

	while ((row = map_next(tables, &at))) {
		table_cache_row_done(row);
		free(row);
	}
	map_done(tables);
	map_init(tables);
}

static json_t *replica_refusals(const struct replica *replica)
{
	const struct replica_refusals *refusals = &replica->refusals;

	return json_pack("{s:I,s:I,s:I}", "connections", (json_int_t)refusals->connections,
			 "standbys", (json_int_t)refusals->standbys, "masters",
			 (json_int_t)refusals->masters);
}

void replica_set_peers(struct replica *replica, const char *peers)
{
	if (!replica || replica->stopped || !strcmp(replica->options.peers, peers))
		return;
	snprintf(replica->options.peers, sizeof(replica->options.peers), "%s", peers);
	follow_set_peers(replica);
}

static const char *replica_carrier_name(const struct replica *replica)
{
	if (replica->options.listen[0] || replica->options.peers[0])
		return "tcp";
	return replica->options.inband ? "fabric" : "none";
}

/* The most that may be copied with the present options. */
static const char *replica_copies_name(const struct replica *replica)
{
	struct stream stream = {.in_clear = replica->options.inband && !replica->options.keyed};

	return copies_name(replica_copies(replica, &stream, *replica->own));
}

json_t *replica_status(const struct replica *replica)
{
	json_t *status = json_pack(
		"{s:s,s:s,s:s,s:s,s:s,s:o}", "role", sm_state_name(replica_own_role(replica)),
		"carrier", replica_carrier_name(replica), "copies", replica_copies_name(replica),
		"listen", replica->options.listen, "durability",
		replica->options.durability == DURABILITY_STANDBY ? "standby" : "local", "refused",
		replica_refusals(replica));

	json_object_update_new(status, lead_status(replica));
	json_object_update_new(status, follow_status(replica));
	return status;
}

const char *replica_master_address(const struct replica *replica, guid_t master)
{
	const struct follow *follow = &replica->follow;

	return follow->stream && follow->greeted && follow->num_peers && follow->master == master
		       ? follow->peers[follow->next]
		       : NULL;
}

json_t *replica_summary(const struct replica *replica)
{
	const struct follow *follow = &replica->follow;
	struct lead_figures lead = lead_figures(&replica->lead);
	uint64_t own = replica_may_follow(replica) ? follow_lag(follow) : 0;
	bool m_keys = registry_count(replica->registry, REGISTRY_M_KEY);
	bool partitions = registry_count(replica->registry, REGISTRY_PARTITION) ||
			  registry_count(replica->registry, REGISTRY_PARTITION_MEMBER);

	return json_pack("{s:o,s:i,s:i,s:i,s:i,s:i,s:I,s:b,s:b,s:b,s:b,s:b,s:b}", "refused",
			 replica_refusals(replica), "standbys", (int)lead.standbys, "in_sync",
			 (int)lead.in_sync, "out_of_sync", (int)(lead.standbys - lead.in_sync),
			 "without_m_keys", m_keys ? (int)lead.partial : 0, "without_partitions",
			 partitions ? (int)lead.without_partitions : 0, "behind",
			 (json_int_t)(lead.behind > own ? lead.behind : own), "follows",
			 follow->stream && follow->greeted && !follow->document, "listens",
			 replica->options.listen[0] != 0, "has_peers",
			 replica->options.peers[0] != 0, "inband", replica->options.inband, "keyed",
			 replica->options.inband && replica->options.keyed, "unserved",
			 follow->unserved);
}

void replica_reconsider(struct replica *replica)
{
	if (!replica || replica->stopped)
		return;
	lead_reconsider(replica);
	follow_reconsider(replica);
}

static void command_ha_status(void *ctx, struct control_request *request, const json_t *args)
{
	(void)args;
	control_reply(request, replica_status(ctx));
}

void replica_register_commands(struct replica *replica, struct control *control)
{
	static const struct control_command commands[] = {
		{"ha status", command_ha_status, CONTROL_LOOKS}};

	control_register(control, commands, ARRAY_SIZE(commands), replica);
}

struct replica *replica_new(struct loop *loop, struct stream_carrier *carrier,
			    struct registry *registry, struct fabric *fabric,
			    const struct store *store, const guid_t *own,
			    const struct replica_options *options,
			    const struct replica_owner *owner, char why[STREAM_WHY_SIZE])
{
	struct replica *replica = mem_zalloc(sizeof(*replica));

	replica->loop = loop;
	replica->carrier = carrier;
	replica->registry = registry;
	replica->fabric = fabric;
	replica->store = store;
	replica->own = own;
	replica->options = *options;
	replica->owner = *owner;
	follow_init(replica);
	if (!lead_init(replica, why))
		return replica;
	replica_free(replica);
	return NULL;
}

void replica_stop(struct replica *replica)
{
	if (!replica)
		return;
	lead_end(replica);
	follow_end(replica);
	replica->stopped = true;
	replica->store = NULL;
}

void replica_free(struct replica *replica)
{
	if (!replica)
		return;
	lead_done(replica);
	follow_done(replica);
	free(replica);
}
