/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * P_Key tables of end ports, and of the switch ports before them. Such a switch port drops the
 * packets that its end port must not send or receive. The next Set() at a cable follows from the
 * known tables of both ports and from the partitions in force:
 *   1. remove unwanted keys from the switch port, if it enforces,
 *   2. write the table of the end port,
 *   3. write the same keys to the switch port,
 *   4. enforce them there, if it has room for all (PartitionEnforcement in its PortInfo: want.c).
 * So the switch, which the host cannot change, enforces a removal first. Packets with an added key
 * pass the switch port as soon as the host may use the key. On a cable that comes up, all this is
 * done before the port is ARMED. Between runs of programming only P_Keys are written, so that a
 * change needs no sweep.
 *
 * A switch that rests (refused.c) gets no Sets and still enforces its present table. Its cables are
 * checked in each run until it accepts its tables.
 *
 * Unknown tables of switch ports are read here only where they are needed; the readback
 * (read_tables.c) reads the others some time after the bring-up. Discovery reads the tables of end
 * ports.
 */
#include <errno.h>
#include <string.h>

#include "fabric/pkeys.h"
#include "fabric/subject.h"
#include "include/message_id.h"
#include "lib/mem.h"
#include "sm/partition/partitions.h"
#include "sm/program/parts.h"

enum {
	KEYS_MAX = 4096, /* most keys of a table, independent of the claimed size */
	PORT_SHIFT = 16,
};

/* The next step at a cable. */
struct step {
	struct port *port; /* NULL: none */
	uint16_t block;
	bool read;
	pkey_t key[PKEY_BLOCK_KEYS];
	uint64_t wanted; /* digest of the keys that the port shall have in the end */
	bool narrowing;
};

/* The next wanted content of a table. */
struct aim {
	struct port_keys keys;
	uint64_t wanted; /* as in struct step */
	bool narrowing;	 /* keys that it may keep before others are added */
};

/* An end port, and its switch port (NULL: none). */
struct cable {
	struct port *end, *front;
};

static bool is_external(const struct port *port)
{
	return port && port_of_switch(port) && port->num;
}

static struct cable cable_of(struct port *port)
{
	if (port->agent)
		return (struct cable){port,
				      is_external(port->peer) && port->num ? port->peer : NULL};
	if (is_external(port) && port->peer && port->peer->agent && !port_of_switch(port->peer))
		return (struct cable){port->peer, port};
	return (struct cable){0};
}

static unsigned room_of(const struct port *port)
{
	unsigned room = port->agent ? port->node->facts->info.partition_cap
				    : port->node->facts->sw.partition_enforcement_cap;

	return room < KEYS_MAX ? room : KEYS_MAX;
}

static bool is_read(const struct port *port)
{
	const struct pkey_list *list = port_facts(port)->pkeys;

	return list && list->count >= room_of(port);
}

/* FNV-1a */
static uint64_t digest(const pkey_t *key, unsigned count)
{
	const uint8_t *bytes = (const uint8_t *)key;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < count * sizeof(*key); i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash | 1;
}

static uint64_t block_digest(const struct pkey_list *list, unsigned block)
{
	unsigned first = block * PKEY_BLOCK_KEYS;
	unsigned there = first < list->count ? list->count - first : 0;

	return digest(list->key + (there ? first : 0),
		      there < PKEY_BLOCK_KEYS ? there : PKEY_BLOCK_KEYS);
}

/* If it refused the final table, it gets no Set() that only removes keys. The reverse does not
 * hold. */
static bool pkeys_is_refused(const struct port *port, const struct pkeys_echo *echo,
			     const struct aim *aim)
{
	uint64_t held = block_digest(port_facts(port)->pkeys, echo->block);

	for (unsigned i = 0; i < (aim->narrowing ? 2 : 1); i++)
		if (echo->wanted[i] == aim->wanted && echo->held[i] == held)
			return true;
	return false;
}

/* fixed: blocks that are not accepted. Returns whether there are any. */
static bool find_refused(const struct port *port, const struct aim *aim,
			 bool fixed[KEYS_MAX / PKEY_BLOCK_KEYS])
{
	const struct pkeys_echo *echo;
	bool any = false;

	memset(fixed, 0, KEYS_MAX / PKEY_BLOCK_KEYS * sizeof(*fixed));
	for (echo = port->partition.echo; echo; echo = echo->next)
		any |= fixed[echo->block] = pkeys_is_refused(port, echo, aim);
	return any;
}

/* As pkeys_fit(), but fixed blocks keep their content, and the missing keys go to the other
 * blocks. */
static void fit_around(const pkey_t *have, unsigned room, const struct port_keys *keys,
		       const bool *fixed, pkey_t *table)
{
	static pkey_t open[KEYS_MAX], missing[1 << 16], left[1 << 16];
	static bool held[1 << 16];
	unsigned num_open = 0, num_missing = 0;

	memset(held, 0, sizeof(held));
	for (unsigned i = 0; i < room; i++) {
		if (fixed[i / PKEY_BLOCK_KEYS])
			held[have[i]] = true;
		else
			open[num_open++] = have[i];
	}
	for (unsigned i = 0; i < keys->count; i++)
		if (!held[keys->key[i]])
			missing[num_missing++] = keys->key[i];
	pkeys_fit(open, num_open, missing, num_missing, fixed[0] ? 0 : keys->index0, open, left);
	num_open = 0;
	for (unsigned i = 0; i < room; i++)
		table[i] = fixed[i / PKEY_BLOCK_KEYS] ? have[i] : open[num_open++];
}

/* Keys without room; valid until the next search for a difference. */
struct left_out {
	const pkey_t *key;
	unsigned count;
	bool refused; /* some blocks differ and are not accepted */
};

/* The first block of the port that must be written and is accepted, so that the table holds as
 * many of the keys as fit; false: none. */
static bool find_difference(struct port *port, const struct aim *aim, struct step *out,
			    struct left_out *left_out)
{
	static pkey_t table[KEYS_MAX + PKEY_BLOCK_KEYS], left[1 << 16];
	const struct port_keys *keys = &aim->keys;
	const struct pkey_list *list = port_facts(port)->pkeys;
	bool fixed[KEYS_MAX / PKEY_BLOCK_KEYS];
	unsigned room = room_of(port);
	int block;

	*left_out = (struct left_out){.key = left};
	left_out->count =
		pkeys_fit(list->key, room, keys->key, keys->count, keys->index0, table, left);
	block = pkeys_differing_block(list->key, table, room);
	if (block >= 0 && find_refused(port, aim, fixed)) {
		left_out->refused = true;
		fit_around(list->key, room, keys, fixed, table);
		block = pkeys_differing_block(list->key, table, room);
	}
	if (block < 0)
		return false;
	*out = (struct step){.port = port,
			     .block = (uint16_t)block,
			     .wanted = aim->wanted,
			     .narrowing = aim->narrowing};
	for (unsigned i = 0; i < PKEY_BLOCK_KEYS; i++) {
		unsigned at = (unsigned)block * PKEY_BLOCK_KEYS + i;

		out->key[i] = at < room ? table[at] : 0;
	}
	return true;
}

static uint8_t enforced_now(const struct port *front)
{
	const struct port_info *info = port_info(front);

	return (uint8_t)(info->partition_enforcement_inbound | info->partition_enforcement_outbound
								       << 1);
}

/* The directions that the switch must enforce if it has the table for it. */
static uint8_t enforceable(const struct program *program, const struct port *front)
{
	static const uint8_t chosen[] = {
		[ENFORCE_BOTH] = 3, [ENFORCE_IN] = 1, [ENFORCE_OUT] = 2, [ENFORCE_OFF] = 0};
	const struct switch_info *sw = &front->node->facts->sw;
	uint8_t able = (uint8_t)(sw->inbound_enforcement_cap | sw->outbound_enforcement_cap << 1);

	return policy_is_closed(program->policy) && room_of(front)
		       ? chosen[program->options->part_enforce] & able
		       : 0;
}

/* A table that is too small is logged once for each port and set of missing keys; end: the owner
 * of the keys. */
static void note_full(struct program *program, struct port *port, const struct port *end,
		      struct left_out left)
{
	struct log_subject subject = port_subject(port, MESSAGE_PKEYS_FULL);
	uint64_t full = left.count ? digest(left.key, left.count) : 0;
	char keys[PKEYS_TEXT];

	if (full == port->partition.full)
		return;
	port->partition.full = full;
	if (!full)
		return;
	pkeys_text(left.key, left.count, keys);
	if (port == end)
		log_limited(&program->limit, LOG_WARNING, &subject,
			    "\"%s\" port %u: its P_Key table of %u has no room for %s: its present "
			    "keys stay (remove the port from partitions that it does not need)",
			    port->node->facts->description, port->num, room_of(port), keys);
	else
		log_limited(&program->limit, LOG_WARNING, &subject,
			    "\"%s\" port %u does not enforce partitions: its P_Key table of %u has "
			    "no room for %s of its peer \"%s\" port %u (remove that port from "
			    "partitions that it does not need)",
			    port->node->facts->description, port->num, room_of(port), keys,
			    end->node->facts->description, end->num);
}

/* The steps at the switch port before and after the step of the end port. */
static bool narrow_front(struct port *front, const struct aim *end, struct step *out)
{
	static pkey_t kept[1 << 16];
	const struct pkey_list *list = port_facts(front)->pkeys;
	const struct port_keys *keys = &end->keys;
	struct aim aim = {.keys.key = kept, .wanted = end->wanted, .narrowing = true};
	struct left_out left;

	if (!enforced_now(front) ||
	    !pkeys_exceed(list->key, room_of(front), keys->key, keys->count))
		return false;
	aim.keys.count = pkeys_narrow(list->key, room_of(front), keys->key, keys->count, kept);
	return find_difference(front, &aim, out, &left);
}

static bool read_front(struct port *front, struct step *out)
{
	const struct pkey_list *list = port_facts(front)->pkeys;

	if (is_read(front))
		return false;
	*out = (struct step){.port = front,
			     .block = (uint16_t)((list ? list->count : 0) / PKEY_BLOCK_KEYS),
			     .read = true};
	return true;
}

/* The directions that a switch enforces with its present table. If it did not accept the whole
 * table, an enforcing port continues, because it is better to pass too few packets than all. But no
 * port starts to enforce then, because this would cut off ports of other partitions. */
static uint8_t may_enforce(const struct port *front, const struct port_keys *keys, uint8_t enforce)
{
	const struct pkey_list *list = port_facts(front)->pkeys;
	bool lacks = pkeys_exceed(keys->key, keys->count, list->key, room_of(front));

	return lacks ? enforce & enforced_now(front) : enforce;
}

/* As next_step(), but writes nothing. The keys that both tables pass are recorded for a loss of
 * the link. */
static bool hold_step(struct program *program, struct cable cable, struct step *out)
{
	struct port *end = cable.end, *front = cable.front;
	bool enforces = front && enforced_now(front) && room_of(front);

	*out = (struct step){0};
	if (front)
		front->partition.enforce = enforced_now(front);
	if (!is_read(end))
		return true;
	if (enforces && !front->partition.failed && read_front(front, out))
		return true;
	if (!enforces || is_read(front))
		policy_hold(program->policy, end, enforces ? port_facts(front)->pkeys : NULL);
	return false;
}

/* Whether work is left at the cable; out->port is NULL if it cannot be done now. */
static bool next_step(struct program *program, struct cable cable, struct step *out)
{
	struct port *end = cable.end, *front = cable.front;
	struct port_keys keys = policy_port_keys(program->policy, end);
	struct aim aim = {.keys = keys, .wanted = digest(keys.key, keys.count)};
	uint8_t enforce = front ? enforceable(program, front) : 0;
	bool rests = front && refused_rests(program, front->node);
	const struct left_out none = {0};
	struct left_out left;

	*out = (struct step){0};
	if (front)
		front->partition.enforce = enforce ? enforced_now(front) : 0;
	if (front && keys.count > room_of(front)) {
		left = (struct left_out){.key = keys.key + room_of(front),
					 .count = keys.count - room_of(front)};
		if (enforce)
			note_full(program, front, end, left);
		front->partition.enforce = enforce = 0;
	}
	if (enforce && !rests && !front->partition.failed &&
	    (read_front(front, out) || narrow_front(front, &aim, out)))
		return true;
	if (end->partition.failed || !is_read(end))
		return true;
	if (find_difference(end, &aim, out, &left))
		return true;
	note_full(program, end, end, left);
	end->partition.refused = left.refused;
	if (front)
		front->partition.refused = false;
	end->partition.rests = enforce && rests;
	if (!enforce || rests)
		return false;
	if (front->partition.failed)
		return true;
	aim.keys.index0 = 0;
	if (find_difference(front, &aim, out, &left))
		return true;
	note_full(program, front, end, none);
	front->partition.refused = left.refused;
	front->partition.enforce = may_enforce(front, &keys, enforce);
	return false;
}

/* While the P_Keys of ports are unknown (sm/partition/partitions.h), a port that is up keeps its
 * own. The port of the manager becomes a full member of the default partition in any case. */
static bool find_step(struct program *program, struct cable cable, struct step *out)
{
	bool is_up = port_of_switch(cable.end) || port_state_of(cable.end) >= PORT_ARMED;

	if (policy_is_frozen(program->policy) && is_up) {
		if (hold_step(program, cable, out))
			return true;
		if (cable.end != program->fabric->sm_port)
			return false;
	}
	return next_step(program, cable, out);
}

/* Answers */

static void look_at_cable(struct program *program, struct port *port)
{
	program_look_at(program, port);
	if (port->peer)
		program_look_at(program, port->peer);
	if (program->policy)
		policy_port_settled(program->policy);
}

/* The next sweep retries, and comes soon. */
static void program_pkeys_failed(struct program *program, struct port *port, const char *what)
{
	struct log_subject subject = port_subject(port, MESSAGE_NOT_ACTIVE);

	port->partition.failed = true;
	program->report.failed++;
	log_limited(&program->limit, LOG_WARNING, &subject, "\"%s\" port %u: %s",
		    port->node->facts->description, port->num, what);
	if (!program->done && program->pkeys_failed)
		program->pkeys_failed(program->pkeys_failed_arg);
}

static void table_was_read(void *owner, void *subject, const struct smp_request *request,
			   const struct smp_answer *answer)
{
	struct program *program = owner;
	struct port *port = subject;
	struct p_key_table held = {0};

	port->partition.busy = false;
	if (answer->error == -ECANCELED)
		return;
	/* If a switch refuses to return its table, the table counts as empty and is written. */
	if (!answer->error && !answer->status)
		attr_decode(&p_key_table_format, answer->data, &held);
	if (answer->error || status_is_busy(answer->status))
		program_pkeys_failed(program, port, "no answer to Get(P_KeyTable)");
	else
		port_set_pkey_block(program->fabric, port, request->attr_mod & UINT16_MAX, &held);
	look_at_cable(program, port);
}

/* held 0: it accepted the Set(). */
static void note_echo(struct port *port, uint16_t block, uint64_t held)
{
	struct pkeys_echo *echo = port->partition.echo;

	while (echo && echo->block != block)
		echo = echo->next;
	if (!echo && !held)
		return;
	if (!echo) {
		echo = mem_zalloc(sizeof(*echo));
		echo->block = block;
		echo->next = port->partition.echo;
		port->partition.echo = echo;
	}
	echo->wanted[port->partition.narrowing] = port->partition.wanted;
	echo->held[port->partition.narrowing] = held;
}

static void table_was_set(void *owner, void *subject, const struct smp_request *request,
			  const struct smp_answer *answer)
{
	struct program *program = owner;
	struct port *port = subject;
	struct p_key_table want, held;
	uint16_t block = request->attr_mod & UINT16_MAX;
	const struct pkey_list *list;
	bool refused;

	port->partition.busy = false;
	if (answer->error == -ECANCELED)
		return;
	attr_decode(&p_key_table_format, request->data, &want);
	attr_decode(&p_key_table_format, answer->data, &held);
	if (answer->error || status_is_busy(answer->status)) {
		program_pkeys_failed(program, port, "no answer to Set(P_KeyTable)");
	} else {
		if (!answer->status && port_facts(port)->pkeys)
			port_set_pkey_block(program->fabric, port, block, &held);
		list = port_facts(port)->pkeys;
		refused = list && (answer->status || memcmp(&want, &held, sizeof(held)) != 0);
		note_echo(port, block, refused ? block_digest(list, block) : 0);
		if (refused)
			program_note_refusal(program, port);
		program->policy->news = true;
	}
	look_at_cable(program, port);
}

static bool may_repeat_table(void *owner, void *subject)
{
	const struct program *program = owner;

	(void)subject;
	return !program->stopped;
}

static void make_request(struct program *program, const struct step *step, struct smp_request *out)
{
	struct port *port = step->port;
	struct p_key_table table;

	*out = (struct smp_request){
		.method = step->read ? METHOD_GET : METHOD_SET,
		.attr_id = ATTR_PKEY_TABLE,
		.attr_mod = (port_of_switch(port) ? (uint32_t)port->num << PORT_SHIFT : 0) |
			    step->block,
		.way = port_of_switch(port) ? port->node->sw->verify.way : 0,
		.may_repeat = step->read ? NULL : may_repeat_table,
		.done = step->read ? table_was_read : table_was_set,
		.owner = program,
		.subject = port,
	};
	memcpy(table.p_key, step->key, sizeof(table.p_key));
	if (!step->read) {
		format_encode(&p_key_table_format, &table, out->data);
		port->partition.wanted = step->wanted;
		port->partition.narrowing = step->narrowing;
	}
	port->partition.busy = true;
}

bool program_pkeys_good(const struct program *program, struct port *port)
{
	struct cable cable = cable_of(port);

	if (!program->policy || !program->policy->live)
		return true;
	if (registry_is_together(program->policy->registry))
		return false;
	if (!cable.end)
		return !port->peer || !port->partition.enforce;
	return cable.end->partition.good == program->policy->state && !cable.end->partition.rests;
}

enum pkeys_state program_pkeys(struct program *program, struct port *port, struct smp_request *out)
{
	struct cable cable = cable_of(port);
	struct step step;

	if (program_pkeys_good(program, port))
		return PKEYS_GOOD;
	if (registry_is_together(program->policy->registry))
		return PKEYS_UNANSWERED; /* the table is not complete */
	if (!cable.end) {
		port->partition.enforce = 0; /* between switches */
		return PKEYS_GOOD;
	}
	/* A switch that is reset now must not keep its LID without its P_Keys: the loss would
	 * stay unnoticed. */
	if (port_of_switch(cable.end) && port_info(cable.end)->lid != cable.end->lid)
		return PKEYS_UNANSWERED;
	if (cable.end->partition.busy || (cable.front && cable.front->partition.busy))
		return PKEYS_WAIT;
	if (!find_step(program, cable, &step)) {
		cable.end->partition.good = program->policy->state;
		if (cable.front)
			cable.front->node->sw->pkeys_known = true;
		policy_port_settled(program->policy);
		/* The wanted enforcement of the switch may have changed. */
		if (cable.front && cable.front != port)
			program_look_at(program, cable.front);
		return PKEYS_GOOD;
	}
	if (!step.port)
		return PKEYS_UNANSWERED;
	if (step.port != port) {
		program_look_at(program, step.port);
		return PKEYS_WAIT;
	}
	make_request(program, &step, out);
	return PKEYS_REQUEST;
}

void program_look_at_port(struct program *program, struct port *port)
{
	program_look_at(program, port);
	if (port->peer && cable_of(port).front)
		program_look_at(program, port->peer);
}

enum pkeys_status program_pkeys_status(const struct program *program, struct port *port,
				       pkey_t p_key)
{
	struct cable cable = cable_of(port);
	const struct pkey_list *list = port_facts(port)->pkeys;
	bool held = false;

	if (port->partition.failed || (cable.front && cable.front->partition.failed))
		return PKEYS_FAILED;
	if (port->partition.busy || (cable.front && cable.front->partition.busy))
		return PKEYS_WRITTEN;
	if (!program->policy || port->partition.good != program->policy->state)
		return PKEYS_WANTED;
	for (unsigned i = 0; list && i < list->count && !held; i++)
		held = pkey_partition(list->key[i]) == p_key;
	if (!held && port->partition.full)
		return PKEYS_NO_ROOM;
	if (port->partition.refused || port->partition.rests ||
	    (cable.front && cable.front->partition.refused))
		return PKEYS_REFUSED;
	return PKEYS_ACKNOWLEDGED;
}
