/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Keys by policy and by record (sm/partition/m_keys.h). A derived key is the first 64 bits of
 * HMAC-SHA-256 over a label and the GUID of the port. So every manager with the secret can compute
 * it, also without a store. Keys are derived from the first secret; the keys of the other, earlier
 * secrets are tried.
 *
 * The key of an unknown device behind a cable is found by trying. The key of the last known port
 * there comes first. If each port has its own key, those of missing ports follow, because cables
 * may have been moved. Keys of present ports are never tried.
 */
#include "sm/partition/m_keys.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/subject.h"
#include "include/message_id.h"
#include "lib/be.h"
#include "lib/crypto_hmac.h"
#include "lib/guid.h"
#include "mad/mad.h"

static const struct m_key_entry *m_keys_find(const struct keys *keys, guid_t guid)
{
	return registry_find(keys->registry, REGISTRY_M_KEY, &(struct m_key_entry){.guid = guid});
}

/* The policy */

static uint64_t derive(const uint8_t secret[SM_SECRET_SIZE], guid_t guid)
{
	uint8_t data[16] = "weft-mk", out[CRYPTO_HMAC_SIZE];
	uint64_t key;

	be64_store(data + sizeof("weft-mk"), guid);
	crypto_hmac(secret, SM_SECRET_SIZE, data, sizeof(data), out);
	key = be64_load(out);
	return key ? key : 1; /* 0 is no key */
}

/* The key of the policy: number 0 is the present key, higher numbers are earlier keys. Returns 0 if
 * there is none. */
static uint64_t policy_key(const struct sm_options *options, guid_t guid, unsigned number)
{
	if (options->m_key_mode == M_KEY_NONE)
		return 0;
	if (options->m_key_mode == M_KEY_SUBNET && options->m_key)
		return number ? 0 : options->m_key;
	if (number >= options->num_secrets)
		return 0;
	return derive(options->secret[number], options->m_key_mode == M_KEY_SUBNET ? 0 : guid);
}

static void add_policy(const struct sm_options *options, guid_t guid, struct m_key_list *list)
{
	uint64_t key;

	for (unsigned i = 0; (key = policy_key(options, guid, i)); i++)
		m_key_list_add(list, key);
}

static void m_keys_add_record(const struct m_key_entry *entry, struct m_key_list *list)
{
	m_key_list_add(list, entry->m_key);
	m_key_list_add(list, entry->previous);
	m_key_list_add(list, entry->older);
}

/* Queries of the fabric */

static void m_keys_of_port(void *ctx, guid_t guid, struct m_key_list *list)
{
	const struct keys *keys = ctx;
	const struct m_key_entry *entry = m_keys_find(keys, guid);

	if (entry)
		m_keys_add_record(entry, list);
	add_policy(keys->options, guid, list);
}

/* Adds the keys of recorded, absent ports after the keys in the list. Keys that do not fit are
 * tried in later turns. */
static uint64_t m_keys_add_missing(const struct keys *keys, unsigned turn, struct m_key_list *list)
{
	const struct m_key_entry *entry;
	unsigned skip = turn / M_KEYS_MAX * M_KEYS_MAX, all = 0;

	if (skip)
		list->count = 0;
	for (entry = registry_first(keys->registry, REGISTRY_M_KEY, -1, NULL); entry;
	     entry = registry_next(keys->registry, REGISTRY_M_KEY, -1, entry)) {
		if (map_get(&keys->fabric->ports, entry->guid) || all++ < skip)
			continue;
		m_keys_add_record(entry, list);
		if (list->count == M_KEYS_MAX)
			break;
	}
	return list->count ? list->key[turn % list->count] : 0;
}

static uint64_t beyond(void *ctx, const struct port *from, unsigned turn)
{
	const struct keys *keys = ctx;
	const struct neighbor_entry place = {.node_guid = from->node->guid, .port = from->num};
	const struct neighbor_entry *last =
		registry_find(keys->registry, REGISTRY_NEIGHBOR, &place);
	struct m_key_list list = {0};

	if (last)
		m_keys_of_port(ctx, last->guid, &list);
	if (keys->options->m_key_mode == M_KEY_SUBNET)
		add_policy(keys->options, 0, &list);
	if (turn < list.count)
		return list.key[turn];
	/* A port without a key responds to the first attempt, and must not receive the keys of
	 * other ports. */
	return turn ? m_keys_add_missing(keys, turn, &list) : 0;
}

/* The walk */

static void m_keys_put(struct keys *keys, enum registry_kind kind, const void *record)
{
	uint64_t number = registry_number(keys->registry);

	registry_put(keys->registry, kind, record);
	keys->recorded += registry_number(keys->registry) != number;
}

/* The present and possible keys are kept until the port has shown the new key. */
static void m_keys_change(struct m_key_entry *entry, const struct agent *agent, uint64_t want)
{
	uint64_t held = agent->m_key.known ? agent->m_key.key : entry->m_key;

	entry->older = entry->previous == held ? entry->older : entry->previous;
	entry->previous = held;
	entry->m_key = want;
	if (entry->older == want)
		entry->older = 0;
	if (entry->previous == want) {
		entry->previous = entry->older;
		entry->older = 0;
	}
}

static bool is_settled(const struct agent *agent, uint64_t want)
{
	const struct m_key_have *have = &agent->m_key;

	return have->known && !have->changing && have->key == want;
}

static void m_keys_settle(struct keys *keys, const struct port *port)
{
	guid_t guid = port_facts(port)->guid;
	uint64_t want = policy_key(keys->options, guid, 0);
	const struct m_key_entry *found = m_keys_find(keys, guid);
	struct m_key_entry entry = found ? *found : (struct m_key_entry){.guid = guid};
	bool settled = is_settled(port->agent, want);

	if (entry.m_key != want)
		m_keys_change(&entry, port->agent, want);
	if (settled)
		entry.previous = entry.older = 0;
	keys->unsettled += !settled && port->lid;
	keys->changing += (entry.previous || entry.older) && port->lid;
	keys->protected += settled && want;
	if (want || entry.previous || entry.older)
		m_keys_put(keys, REGISTRY_M_KEY, &entry);
	else if (found)
		registry_drop(keys->registry, REGISTRY_M_KEY, found);
}

/* If all ports have the same key, or none, the positions of ports do not matter. */
static void note_neighbor(struct keys *keys, const struct port *port)
{
	const struct port *peer = port->peer;
	struct neighbor_entry entry = {.node_guid = port->node->guid, .port = port->num};

	if (keys->options->m_key_mode != M_KEY_PORT || !peer || !port_agent(peer))
		return;
	entry.guid = port_facts(port_agent(peer)->port)->guid;
	m_keys_put(keys, REGISTRY_NEIGHBOR, &entry);
}

static unsigned settle_node(void *arg, size_t *at)
{
	struct keys *keys = arg;
	const struct node *node;

	if (*at == 0)
		keys->changing = keys->protected = keys->unsettled = 0;
	node = fabric_next_node(keys->fabric, at);
	if (!node)
		return 0;
	for (unsigned i = 0; i <= node->num_ports; i++) {
		if (node->port[i].agent)
			m_keys_settle(keys, &node->port[i]);
		if (i) /* also of an adapter: a manager may start there */
			note_neighbor(keys, &node->port[i]);
	}
	return 4 * (node->num_ports + 1u);
}

static slice_fn *const stages[] = {settle_node, NULL};
static const struct slice_plan plan = {"M_Keys", stages, NULL};

static void m_keys_walked(void *arg)
{
	struct keys *keys = arg;

	keys->done(keys->done_arg);
}

static bool is_needed(const struct keys *keys)
{
	bool none = keys->options->m_key_mode == M_KEY_NONE &&
		    !registry_count(keys->registry, REGISTRY_M_KEY);

	return !none &&
	       (!keys->walked || keys->unsettled || keys->topology != keys->fabric->topology);
}

/* Another manager with the same secret may have set keys. */
static bool any_port_has_a_key(const struct keys *keys)
{
	const struct roster *roster = fabric_roster(keys->fabric);

	for (size_t i = 0; i < roster->num_ends; i++)
		if (roster->ends[i]->agent->m_key.known && roster->ends[i]->agent->m_key.key)
			return true;
	return false;
}

/* Keys that are set already stay, even if a standby would not get them. */
static bool may_not_begin(const struct keys *keys)
{
	return keys->options->m_key_mode != M_KEY_NONE && !keys->accepted && keys->may_begin &&
	       !registry_count(keys->registry, REGISTRY_M_KEY) &&
	       !keys->may_begin(keys->may_begin_ctx) && !any_port_has_a_key(keys);
}

void keys_settle(struct keys *keys, loop_fn *done, void *arg)
{
	bool held_back = may_not_begin(keys);

	if (held_back && !keys->held_back)
		log_about(LOG_WARNING, &(struct log_subject){.message_id = MESSAGE_REPLICA},
			  "M_Keys are not set: a standby would not get them, and could not manage "
			  "the fabric after a failover (set the same ha_psk_file on all managers; "
			  "or accept this with weftctl config reload --force)");
	keys->held_back = held_back;
	keys->recorded = 0;
	if (held_back || !is_needed(keys)) {
		done(arg);
		return;
	}
	keys->walked = true;
	keys->topology = keys->fabric->topology;
	keys->done = done;
	keys->done_arg = arg;
	slices_begin(&keys->walk);
}

void keys_changed(struct keys *keys, bool accepted)
{
	keys->walked = false;
	keys->accepted = accepted;
}

void keys_ask_first(struct keys *keys, bool (*may_begin)(const void *ctx), const void *ctx)
{
	keys->may_begin = may_begin;
	keys->may_begin_ctx = ctx;
}

void keys_init(struct keys *keys, struct loop *loop, struct registry *registry,
	       struct fabric *fabric, const struct sm_options *options)
{
	*keys = (struct keys){.loop = loop,
			      .registry = registry,
			      .fabric = fabric,
			      .options = options,
			      .source = {.of_port = m_keys_of_port, .beyond = beyond, .ctx = keys},
			      .limit = {.burst = 10, .interval_us = 1000000}};
	slices_init(&keys->walk, loop, &plan, keys, m_keys_walked, keys);
	fabric->m_keys = &keys->source;
}

void keys_done(struct keys *keys)
{
	slices_cancel(&keys->walk);
}

/* Violations */

/* Follows the return path of the SMP back to its sender. Byte i is the port by which the SMP
 * entered the i-th node on its way. Some agents omit the last byte. NULL: the path leads
 * nowhere. */
static const struct port *walk_back(const struct port *end, const struct notice_bad_m_key *bad)
{
	const struct node *node = end->node;
	uint8_t in = bad->dr_return_path[bad->dr_hop_count];

	if (!in && !node->sw)
		in = end->num;
	for (unsigned hop = bad->dr_hop_count; hop; hop--) {
		const struct port *out = in && in <= node->num_ports ? node->port[in].peer : NULL;

		if (!out)
			return NULL;
		node = out->node;
		if (hop == 1)
			return port_agent(out) ? port_agent(out)->port : NULL;
		in = bad->dr_return_path[hop - 1];
	}
	return port_agent(end)->port;
}

static const struct port *of_lid(const struct keys *keys, lid_t lid)
{
	return lid && lid <= LID_UNICAST_MAX ? keys->fabric->lids[lid] : NULL;
}

/* NULL: unknown. */
static const struct port *find_offender(const struct keys *keys, const struct port *port,
					const struct notice_bad_m_key *bad)
{
	const struct port *by_lid = of_lid(keys, bad->lid);

	if (!bad->dr_notice)
		return by_lid != port ? by_lid : NULL;
	if (bad->dr_slid && bad->dr_slid != LID_PERMISSIVE)
		return of_lid(keys, bad->dr_slid);
	if (bad->dr_path_truncated || bad->dr_hop_count >= sizeof(bad->dr_return_path))
		return NULL;
	return walk_back(port, bad);
}

/* The entry of this sender. If the table is full, the sender with the fewest violations is
 * replaced. */
static struct offender *offender_of(struct keys *keys, guid_t guid)
{
	struct offender *least = &keys->offenders[0];

	for (unsigned i = 0; i < keys->num_offenders; i++) {
		if (keys->offenders[i].guid == guid)
			return &keys->offenders[i];
		if (keys->offenders[i].count < least->count)
			least = &keys->offenders[i];
	}
	if (keys->num_offenders < OFFENDERS_MAX)
		least = &keys->offenders[keys->num_offenders++];
	*least = (struct offender){.guid = guid};
	return least;
}

static const char *m_keys_port_name(const struct port *port)
{
	return port ? port->node->facts->description : "unknown sender";
}

static void m_keys_count_violation(struct keys *keys, const struct port *by, const struct port *at,
				   const struct notice_bad_m_key *bad)
{
	struct offender *offender = offender_of(keys, by ? port_facts(by)->guid : 0);

	offender->lid = by ? by->lid : LID_NONE;
	offender->at = port_facts(at)->guid;
	offender->method = bad->method;
	offender->attr_id = bad->attr_id;
	offender->last_s = loop_wall_s(keys->loop);
	offender->count++;
	keys->violations++;
}

void keys_violation(struct keys *keys, struct port *port, const struct notice_bad_m_key *bad)
{
	const struct port *by = find_offender(keys, port, bad);
	struct log_subject subject = port_subject(port, MESSAGE_M_KEY);

	m_keys_count_violation(keys, by, port, bad);
	if (by && by == keys->fabric->sm_port) {
		keys->own_violations++;
		subject.message_id = NULL; /* a key that was tried */
		log_limited(&keys->limit, LOG_INFO, &subject,
			    "\"%s\" port %u refused %s %s with the M_Key that this manager sent: "
			    "trying other known keys",
			    port->node->facts->description, port->num,
			    method_name(CLASS_SUBN_LID, bad->method),
			    attr_name(CLASS_SUBN_LID, bad->attr_id));
		return;
	}
	keys->violated_us = loop_now_us(keys->loop);
	keys->violated_guid = by ? port_facts(by)->guid : 0;
	log_limited(
		&keys->limit, LOG_WARNING, &subject,
		"\"%s\" port %u refused %s %s with a wrong M_Key from \"%s\" (GUID 0x%016" PRIx64
		", LID %u), %" PRIu64 " so far (find the program that sends it on that host)",
		port->node->facts->description, port->num, method_name(CLASS_SUBN_LID, bad->method),
		attr_name(CLASS_SUBN_LID, bad->attr_id), m_keys_port_name(by),
		by ? port_facts(by)->guid : 0, by ? by->lid : LID_NONE,
		keys_violations_of(keys, by ? port_facts(by)->guid : 0));
}

uint64_t keys_violations_of(const struct keys *keys, guid_t guid)
{
	for (unsigned i = 0; i < keys->num_offenders; i++) {
		if (keys->offenders[i].guid == guid)
			return keys->offenders[i].count;
	}
	return 0;
}

/* For people */

static const char *const modes[] = {
	[M_KEY_NONE] = "none", [M_KEY_SUBNET] = "subnet", [M_KEY_PORT] = "port"};

static json_t *offender_json(const struct keys *keys, const struct offender *offender)
{
	const struct port *by = map_get(&keys->fabric->ports, offender->guid);
	char guid[GUID_TEXT], at[GUID_TEXT];

	return json_pack("{s:s,s:s,s:i,s:I,s:I,s:s,s:s,s:s}", "guid",
			 guid_text(offender->guid, guid), "description",
			 by ? by->node->facts->description : "", "lid", offender->lid, "count",
			 (json_int_t)offender->count, "last_s", (json_int_t)offender->last_s, "at",
			 guid_text(offender->at, at), "method",
			 method_name(CLASS_SUBN_LID, offender->method), "attribute",
			 attr_name(CLASS_SUBN_LID, offender->attr_id));
}

json_t *keys_status(const struct keys *keys)
{
	const struct sm_options *options = keys->options;
	json_t *offenders = json_array();

	for (unsigned i = 0; i < keys->num_offenders; i++)
		json_array_append_new(offenders, offender_json(keys, &keys->offenders[i]));
	return json_pack(
		"{s:s,s:b,s:i,s:i,s:i,s:I,s:i,s:i,s:i,s:I,s:I,s:o}", "mode",
		modes[options->m_key_mode], "held_back", keys->held_back, "protection_level",
		options->m_key_mode ? options->m_key_protection_level : 0, "lease_period_s",
		options->m_key_lease_s, "secrets", (int)options->num_secrets, "recorded",
		(json_int_t)registry_count(keys->registry, REGISTRY_M_KEY), "ports",
		(int)keys->fabric->roster.num_ends, "protected", (int)keys->protected, "changing",
		(int)keys->changing, "violations", (json_int_t)keys->violations, "own_violations",
		(json_int_t)keys->own_violations, "offenders", offenders);
}

static bool m_keys_take_number(const json_t *value, uint64_t *out)
{
	const char *text = json_string_value(value);
	char *end;

	if (!text || strncmp(text, "0x", 2) != 0)
		return false;
	errno = 0;
	*out = strtoull(text, &end, 16);
	return !*end && end > text + 2 && !errno;
}

static bool take_row(const json_t *row, struct m_key_entry *entry)
{
	*entry = (struct m_key_entry){0};
	return m_keys_take_number(json_array_get(row, 0), &entry->guid) && entry->guid &&
	       m_keys_take_number(json_array_get(row, 1), &entry->m_key);
}

/* All rows are checked before the first is used. */
int keys_import(struct keys *keys, const json_t *rows, unsigned *taken, const char **why)
{
	struct m_key_entry entry;
	unsigned count = 0;
	const json_t *row;
	size_t i;

	json_array_foreach ((json_t *)rows, i, row) {
		if (!take_row(row, &entry)) {
			*why = "a row is not [\"0xGUID\", \"0xKEY\"]: nothing was imported";
			return -EINVAL;
		}
	}
	json_array_foreach ((json_t *)rows, i, row) {
		if (!take_row(row, &entry) || !entry.m_key || m_keys_find(keys, entry.guid))
			continue;
		registry_put(keys->registry, REGISTRY_M_KEY, &entry);
		count++;
	}
	keys_changed(keys, keys->accepted);
	*taken = count;
	return 0;
}
