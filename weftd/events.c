/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Collects events from three sources in a ring, and streams them: weftd/events.h. Each kind of
 * event has a single source, so that no event is recorded twice. No event contains a key: log lines
 * have none, and of records only names, GUIDs, P_Keys and MGIDs are shown.
 */
#include "weftd/events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/partitions.h"
#include "include/event_kind.h"
#include "include/message_id.h"
#include "lib/complete.h"
#include "lib/guid.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "mad/notice.h"
#include "weftd/event_numbers.h"
#include "weftd/event_ring.h"

enum { ROWS_A_PART = 16, NOTES_A_PART = 1000, TEXT_SIZE = 256, KINDS_SIZE = 128 };

struct events {
	struct loop *loop;
	struct registry *registry;
	struct event_ring ring;
	struct event_numbers numbers;
	struct event_reader raised;
	struct registry_reader registered;
	struct list readings;	/* streams under way */
	event_port_fn *port_of; /* NULL: no node of a port is known */
	void *port_ctx;
};

struct reading { /* the stream of one client */
	struct list link;
	struct events *events;
	struct control_request *request;
	uint64_t next; /* the number to send next */
	bool follows, rests;
	bool numbered; /* a number is given with since */
	bool gaps;     /* shows which events are missing */
	/* The events to show. Others are passed over. */
	uint64_t from_s;	/* not older: wall clock; 0: any */
	char kinds[KINDS_SIZE]; /* ",link,node,"; empty: any */
	char *node;		/* its name, its GUID or a port GUID; NULL: any */
	char *quoted;		/* the same in quotes, as texts name the other end of a link */
	guid_t guid;		/* of node, if it is one; 0: none */
	/* Of these, the last ones only: counts them first, then passes over the others. */
	uint64_t last; /* 0: all */
	bool counting;
	uint64_t first, count, skip;
};

static void events_note(struct events *events, struct event_note note)
{
	note.time_s = loop_wall_s(events->loop);
	event_ring_add(&events->ring, &note);
	event_numbers_reach(&events->numbers, events->ring.next);
	list_for_each (link, &events->readings) {
		struct reading *reading = container_of(link, struct reading, link);

		if (reading->rests)
			control_resume(reading->request);
		reading->rests = false;
	}
}

static const char *const all_kinds[] = {EVENT_KINDS, NULL};

/* Lines of the log */

static const struct {
	const char *message_id, *kind;
} kinds[] = {
	{MESSAGE_ROLE, "role"},
	{MESSAGE_SWEEP, "sweep"},
	{MESSAGE_DUPLICATE, "node"},
	{MESSAGE_VANISHED, "node"},
	{MESSAGE_SILENT, "node"},
	{MESSAGE_LID_CONFLICT, "port"},
	{MESSAGE_NOT_ACTIVE, "port"},
	{MESSAGE_FLAPPING, "link"},
	{MESSAGE_BABBLING, "port"},
	{MESSAGE_TRAP_SENDER, "trap"},
	{MESSAGE_DIFFERS, "node"},
	{MESSAGE_ROUTE_CHANGED, "node"},
	{MESSAGE_LEFT_OUT, "routing"},
	{MESSAGE_ROUTES, "routing"},
	{MESSAGE_STORE, "store"},
	{MESSAGE_STORE_DAMAGED, "store"},
	{MESSAGE_PKEYS_FULL, "partition"},
	{MESSAGE_NO_MLID, "partition"},
	{MESSAGE_SA_LIMIT, "port"},
	{MESSAGE_COMMAND, "command"},
	{MESSAGE_PARTITIONS_BAD, "partition"},
	{MESSAGE_PARTITIONS_LOST, "partition"},
	{MESSAGE_PARTITIONS_FROZEN, "partition"},
	{MESSAGE_PARTITIONS, "partition"},
	{MESSAGE_PKEYS_FOREIGN, "partition"},
	{MESSAGE_PORT_ERRORS, "port"},
	{MESSAGE_COUNTERS_RESET, "port"},
	{MESSAGE_LINK, "link"},
	{MESSAGE_DEVICE, "port"},
	{MESSAGE_M_KEY, "keys"},
	{MESSAGE_FOREIGN_MANAGER, "role"},
	{MESSAGE_REPLICA, "standby"},
	{MESSAGE_SM_LID, "standby"},
	{MESSAGE_TWO_MASTERS, "role"},
	{MESSAGE_DRAINED, "port"},
	{MESSAGE_ALIAS, "alias"},
	{MESSAGE_ALIAS_MISPLACED, ""}, /* EVENT_ALIAS covers it */
};

const char *event_kind_of(const char *message_id)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].message_id, message_id))
			return kinds[i].kind;
	return NULL;
}

static void logged(void *ctx, int level, const struct log_subject *subject, const char *text)
{
	const char *kind = event_kind_of(subject->message_id);

	if (kind && !*kind)
		return;
	events_note(ctx,
		    (struct event_note){.kind = kind ? kind : "other",
					.level = level,
					.text = text,
					.node = subject->node_desc,
					.node_guid = subject->node_guid,
					.port = subject->port > 0 ? (unsigned)subject->port : 0,
					.lid = subject->lid});
}

/* Events */

static const char *trap_words(uint16_t number)
{
	static const struct {
		uint16_t number;
		const char *words;
	} traps[] = {
		{TRAP_LINK_STATE, "a link of this switch changed"},
		{TRAP_LOCAL_LINK_INTEGRITY, "local link integrity threshold"},
		{TRAP_BUFFER_OVERRUN, "buffer overrun threshold"},
		{TRAP_FLOW_CONTROL, "flow control watchdog"},
		{TRAP_LOCAL_CHANGES, "capabilities or description changed"},
		{TRAP_SYSTEM_IMAGE_GUID, "SystemImageGUID changed"},
		{TRAP_BAD_M_KEY, "wrong M_Key"},
		{TRAP_BAD_P_KEY, "wrong P_Key"},
		{TRAP_BAD_Q_KEY, "wrong Q_Key"},
		{TRAP_SWITCH_BAD_P_KEY, "wrong P_Key, dropped by a switch"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(traps); i++)
		if (traps[i].number == number)
			return traps[i].words;
	return "unknown trap number";
}

static void trap_text(const struct notice *notice, char text[TEXT_SIZE])
{
	if (notice->is_generic)
		snprintf(text, TEXT_SIZE, "trap %u from LID %u: %s", notice->trap_number,
			 notice->issuer_lid, trap_words(notice->trap_number));
	else
		snprintf(text, TEXT_SIZE, "trap %u of vendor 0x%06x from LID %u",
			 notice->trap_number, notice->producer_type, notice->issuer_lid);
}

static void alias_text(const struct alias_event *alias, char text[TEXT_SIZE])
{
	static const char *const changes[] = {
		[ALIAS_SET] = "set",
		[ALIAS_DELETED] = "deleted",
		[ALIAS_REMOVED] = "removed by command",
		[ALIAS_MISPLACED] = "removed, because it is the GUID of another port",
	};
	char guid[GUID_TEXT];

	snprintf(text, TEXT_SIZE, "alias GUID %s at index %u: %s; granted by: %s",
		 guid_text(alias->entry->guid, guid), alias->entry->index, changes[alias->change],
		 alias_grant_text(alias->grant));
}

static void raised(void *ctx, const struct event *event)
{
	struct event_note happened = {.kind = "port", .level = LOG_INFO};
	char text[TEXT_SIZE];

	switch (event->kind) {
	case EVENT_TRAP:
		happened.kind = "trap";
		trap_text(event->notice, text);
		happened.text = text;
		break;
	case EVENT_PORT_IN:
		happened.text = "port appeared and is ACTIVE";
		break;
	case EVENT_PORT_OUT:
		happened.text = "port disappeared";
		break;
	case EVENT_PORT_FORGOTTEN:
		happened.text = "port absent for registration_grace: its registrations are deleted";
		break;
	case EVENT_ALIAS:
		happened.kind = "alias";
		alias_text(event->alias, text);
		happened.text = text;
		break;
	default: /* the role is a line of the log, and P_Keys follow from partitions */
		return;
	}
	happened.port_guid = event->guid;
	happened.lid = event->lid;
	happened.port = event->num;
	if (event->facts) {
		happened.node_guid = event->facts->info.node_guid;
		happened.node = event->facts->description;
	}
	events_note(ctx, happened);
}

/* Changes of the registry. before and after as in a registry_change. */

static guid_t say_group(const void *before, const void *after, char text[TEXT_SIZE])
{
	const struct group_entry *group = after ? after : before;
	char mgid[GID_TEXT];

	if (!before || !after)
		snprintf(text, TEXT_SIZE, "group %s, MLID 0x%04x, P_Key 0x%04x: %s",
			 gid_text(group->mgid, mgid), group->mlid, group->p_key,
			 after ? "created" : "deleted");
	return 0;
}

static guid_t say_member(const void *before, const void *after, char text[TEXT_SIZE])
{
	const struct member_entry *member = after ? after : before;
	char mgid[GID_TEXT];

	if (after)
		snprintf(text, TEXT_SIZE, "joined group %s, JoinState 0x%x",
			 gid_text(member->mgid, mgid), member->join_state);
	else
		snprintf(text, TEXT_SIZE, "left group %s", gid_text(member->mgid, mgid));
	return member->port_guid;
}

static guid_t say_partition(const void *before, const void *after, char text[TEXT_SIZE])
{
	const struct partition_entry *partition = before;
	const char *what = "removed";

	if (after) {
		partition = after;
		what = before ? "changed" : "created";
	}
	snprintf(text, TEXT_SIZE, "partition 0x%04x \"%.*s\": %s", partition->p_key,
		 PARTITION_ENTRY_NAME_SIZE, (const char *)partition->name, what);
	return 0;
}

static guid_t say_partition_member(const void *before, const void *after, char text[TEXT_SIZE])
{
	static const char *const memberships[] = {
		[MEMBERSHIP_NONE] = "no",
		[MEMBERSHIP_LIMITED] = "limited",
		[MEMBERSHIP_FULL] = "full",
		[MEMBERSHIP_BOTH] = "full and limited",
	};
	const struct partition_member_entry *member = after ? after : before;

	if (after)
		snprintf(text, TEXT_SIZE, "%s member of partition 0x%04x",
			 memberships[member->membership % ARRAY_SIZE(memberships)], member->p_key);
	else
		snprintf(text, TEXT_SIZE, "membership in partition 0x%04x by command removed",
			 member->p_key);
	return member->guid;
}

static guid_t say_disabled(const void *before, const void *after, char text[TEXT_SIZE])
{
	const struct disabled_entry *port = after ? after : before;
	char guid[GUID_TEXT];

	snprintf(text, TEXT_SIZE, "port %u of switch %s: %s by command", port->port,
		 guid_text(port->node_guid, guid), after ? "disabled" : "enabled");
	return 0;
}

/* Only the target has an event, not each port of its neighbours. */
static guid_t say_drained(const void *before, const void *after, char text[TEXT_SIZE])
{
	const struct drained_entry *entry = after ? after : before;
	char port[16] = "";

	if ((entry->port && !entry->of_port) || (!after && entry->ending))
		return 0;
	if (entry->of_port)
		snprintf(port, sizeof(port), " port %u", entry->of_port);
	if (after && !entry->ending)
		snprintf(text, TEXT_SIZE, "drain of \"%s\"%s requested by %s%s",
			 (const char *)entry->name, port, entry->by_policy ? "policy: " : "command",
			 (const char *)entry->reason);
	else
		snprintf(text, TEXT_SIZE, "drain of \"%s\"%s ended", (const char *)entry->name,
			 port);
	return 0;
}

static guid_t say_setting(const void *before, const void *after, char text[TEXT_SIZE])
{
	const struct setting_entry *setting = after ? after : before;

	if (strchr((const char *)setting->name, ' '))
		return 0;
	if (after)
		snprintf(text, TEXT_SIZE, "%s set to %.*s", (const char *)setting->name,
			 SETTING_VALUE_SIZE / 2, (const char *)setting->value);
	else
		snprintf(text, TEXT_SIZE, "%s reset to the configured value",
			 (const char *)setting->name);
	return 0;
}

static const struct {
	const char *kind;
	/* Returns the PortGUID of the record, or 0; the text stays empty if there is no event. */
	guid_t (*say)(const void *before, const void *after, char text[TEXT_SIZE]);
} told[REGISTRY_KINDS] = {
	[REGISTRY_GROUP] = {"multicast", say_group},
	[REGISTRY_MEMBER] = {"multicast", say_member},
	[REGISTRY_PARTITION] = {"partition", say_partition},
	[REGISTRY_PARTITION_MEMBER] = {"partition", say_partition_member},
	[REGISTRY_DISABLED] = {"port", say_disabled},
	[REGISTRY_DRAINED] = {"port", say_drained},
	[REGISTRY_SETTING] = {"setting", say_setting},
};

/* The record has the NodeGUID of a switch and the number of its port. The text has the name of the
 * switch, if it is known. */
static void name_switch(const struct events *events, const struct registry_change *change,
			char text[TEXT_SIZE], struct event_note *note)
{
	const struct disabled_entry *entry = change->after ? change->after : change->before;
	unsigned port;
	const struct node_facts *facts =
		events->port_of ? events->port_of(events->port_ctx, entry->node_guid, &port) : NULL;

	note->node_guid = entry->node_guid;
	note->port = entry->port;
	note->node = facts ? facts->description : NULL;
	if (facts)
		snprintf(text, TEXT_SIZE, "\"%s\" port %u: %s by command", facts->description,
			 entry->port, change->after ? "disabled" : "enabled");
}

static void registered(void *ctx, const struct registry_change *change)
{
	struct events *events = ctx;
	char text[TEXT_SIZE] = "";
	struct event_note note = {.kind = told[change->kind].kind, .level = LOG_INFO, .text = text};
	const struct node_facts *facts;

	if (!told[change->kind].say || registry_is_together(events->registry))
		return;
	note.port_guid = told[change->kind].say(change->before, change->after, text);
	facts = events->port_of && note.port_guid
			? events->port_of(events->port_ctx, note.port_guid, &note.port)
			: NULL;
	if (facts) {
		note.node = facts->description;
		note.node_guid = facts->info.node_guid;
	}
	if (change->kind == REGISTRY_DISABLED)
		name_switch(events, change, text, &note);
	if (text[0])
		events_note(events, note);
}

static void events_registry_replaced(void *ctx)
{
	events_note(ctx, (struct event_note){.kind = "store",
					     .level = LOG_NOTICE,
					     .text = "all registrations were replaced"});
}

/* Answers */

static void note_row(const struct event_note *note, struct buffer *out)
{
	row_begin(out, NULL, '{');
	row_integer(out, "number", (int64_t)note->number);
	row_integer(out, "time_s", (int64_t)note->time_s);
	row_string(out, "kind", note->kind);
	row_string(out, "level", log_level_words[note->level & LOG_PRIMASK]);
	row_string(out, "text", note->text);
	if (note->node_guid)
		row_guid(out, "node_guid", note->node_guid);
	if (note->node)
		row_string(out, "node", note->node);
	if (note->port_guid)
		row_guid(out, "port_guid", note->port_guid);
	if (note->port)
		row_integer(out, "port", note->port);
	if (note->lid)
		row_integer(out, "lid", note->lid);
	row_end(out, '}');
}

/* A number above the latest event: the client chose it, or has it from before a loss of the
 * event numbers. Only in the second case events are missing, and the two cases look alike. */
static void unknown_row(struct reading *reading, struct buffer *out)
{
	const struct event_ring *ring = &reading->events->ring;
	const struct event_note *first = event_ring_from(ring, 0);
	uint64_t newest = ring->next - 1;
	char text[TEXT_SIZE];

	snprintf(text, sizeof(text),
		 "the latest event is %" PRIu64 ", and event %" PRIu64
		 " does not exist (or is older than a loss of the event numbers): all stored "
		 "events follow",
		 newest, reading->next - 1);
	row_begin(out, NULL, '{');
	row_string(out, "kind", "gap");
	row_integer(out, "newest", (int64_t)newest);
	row_string(out, "text", text);
	row_end(out, '}');
	reading->next = first ? first->number : ring->next;
}

static void gap_row(uint64_t first, uint64_t last, struct buffer *out)
{
	char text[TEXT_SIZE];

	snprintf(text, sizeof(text), "events %" PRIu64 " to %" PRIu64 " are no longer stored",
		 first, last);
	row_begin(out, NULL, '{');
	row_string(out, "kind", "gap");
	row_integer(out, "first", (int64_t)first);
	row_integer(out, "last", (int64_t)last);
	row_string(out, "text", text);
	row_end(out, '}');
}

static bool is_shown(const struct reading *reading, const struct event_note *note)
{
	char kind[KINDS_SIZE];

	if (note->time_s < reading->from_s)
		return false;
	snprintf(kind, sizeof(kind), ",%s,", note->kind);
	if (*reading->kinds && !strstr(reading->kinds, kind))
		return false;
	if (!reading->node)
		return true;
	if (reading->guid)
		return note->node_guid == reading->guid || note->port_guid == reading->guid;
	return (note->node && !strcmp(note->node, reading->node)) ||
	       strstr(note->text, reading->quoted);
}

/* Handles the next event or gap. Returns false if the client has all events. *rows: those that were
 * added. */
static bool events_next_row(struct reading *reading, struct buffer *out, unsigned *rows)
{
	const struct event_ring *ring = &reading->events->ring;
	const struct event_note *note = event_ring_from(ring, reading->next);
	uint64_t there = note ? note->number : ring->next, next = reading->next;

	if (next > ring->next && reading->counting) {
		reading->next = 0;
		return true;
	}
	if (next > ring->next) {
		unknown_row(reading, out);
		++*rows;
		return true;
	}
	reading->next = there;
	if (next < there) {
		if (!reading->gaps || reading->counting || reading->skip)
			return true;
		gap_row(next, there - 1, out);
		++*rows;
		return true;
	}
	if (!note)
		return false;
	reading->next++;
	if (!is_shown(reading, note))
		return true;
	if (reading->counting) {
		reading->count++;
	} else if (reading->skip) {
		reading->skip--;
	} else {
		note_row(note, out);
		++*rows;
	}
	return true;
}

/* Ends the count: the events of the second pass are those to show. */
static void stop_counting(struct reading *reading)
{
	reading->counting = false;
	reading->next = reading->first;
	reading->skip = reading->count > reading->last ? reading->count - reading->last : 0;
}

static enum stream_step reading_next(void *source, struct buffer *part)
{
	struct reading *reading = source;
	unsigned rows = 0, notes = 0;
	bool more = true;

	row_begin(part, "events", '[');
	while (more && rows < ROWS_A_PART && notes++ < NOTES_A_PART)
		more = events_next_row(reading, part, &rows);
	row_end(part, ']');
	if (!more && reading->counting) {
		stop_counting(reading);
		return STREAM_PART;
	}
	/* What a follower misses from now on was lost while it did not read. */
	if (!more)
		reading->gaps = true;
	if (!more && !rows)
		reading->rests = reading->follows;
	if (more || rows)
		return STREAM_PART;
	return reading->follows ? STREAM_LATER : STREAM_END;
}

static void reading_finish(void *source)
{
	struct reading *reading = source;

	list_del(&reading->link);
	free(reading->node);
	free(reading->quoted);
	free(reading);
}

/* Accepts a JSON number, or text from a command line. */
static bool read_number(const json_t *value, uint64_t *number)
{
	const char *text = json_string_value(value);
	char *end;

	if (json_is_integer(value) && json_integer_value(value) >= 0) {
		*number = (uint64_t)json_integer_value(value);
		return true;
	}
	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !*end && !errno && *number < INT64_MAX;
}

/* A number of an event, or "@SECONDS". */
static bool read_since(struct reading *reading, const json_t *value)
{
	const char *text = json_string_value(value);
	json_t *seconds;
	uint64_t since;
	bool good;

	if (text && *text == '@') {
		seconds = json_string(text + 1);
		good = read_number(seconds, &reading->from_s);
		json_decref(seconds);
		return good;
	}
	good = read_number(value, &since);
	if (good)
		reading->next = since + 1;
	reading->numbered = good;
	return good;
}

static bool kind_exists(const char *kind)
{
	for (size_t i = 0; all_kinds[i]; i++)
		if (!strcmp(kind, all_kinds[i]))
			return true;
	return false;
}

static void refuse_kind(const char *kind, char error[TEXT_SIZE])
{
	size_t used =
		(size_t)snprintf(error, TEXT_SIZE, "no event kind \"%.20s\"; the kinds are", kind);

	for (size_t i = 0; all_kinds[i]; i++)
		used += (size_t)snprintf(error + used, TEXT_SIZE - used, "%s %s", i ? "," : "",
					 all_kinds[i]);
}

/* Kinds between commas. False: one does not exist, with an error. */
static bool read_kinds(struct reading *reading, const char *text, char error[TEXT_SIZE])
{
	char *copy = mem_strdup(text), *rest = copy, *kind;
	bool good = strlen(text) + sizeof(",,") <= KINDS_SIZE;

	if (!good)
		snprintf(error, TEXT_SIZE, "--kind: the list is too long");
	while (good && (kind = strsep(&rest, ","))) {
		good = kind_exists(kind);
		if (!good)
			refuse_kind(kind, error);
	}
	snprintf(reading->kinds, KINDS_SIZE, ",%.*s,", KINDS_SIZE - 3, text);
	free(copy);
	return good;
}

/* Reads the arguments. False: an argument is wrong, with an error. */
static bool read_arguments(struct reading *reading, const json_t *args, char error[TEXT_SIZE])
{
	const json_t *since = json_object_get(args, "since"),
		     *last = json_object_get(args, "lines");
	const char *wanted = json_string_value(json_object_get(args, "kind"));
	const char *node = json_string_value(json_object_get(args, "node"));

	if (since && !read_since(reading, since)) {
		snprintf(error, TEXT_SIZE,
			 "--since: expected the number of an event, or @SECONDS since 1970-01-01, "
			 "such as @1790000000");
		return false;
	}
	if (last && (!read_number(last, &reading->last) || !reading->last)) {
		snprintf(error, TEXT_SIZE,
			 "--lines: expected the number of events to show, from 1");
		return false;
	}
	if (wanted && !read_kinds(reading, wanted, error))
		return false;
	if (node) {
		reading->node = mem_strdup(node);
		reading->quoted = mem_printf("\"%s\"", node);
		guid_parse(node, &reading->guid);
	}
	return true;
}

static void command_events(void *ctx, struct control_request *request, const json_t *args)
{
	struct events *events = ctx;
	bool follows = json_is_true(json_object_get(args, "follow"));
	struct reading *reading = mem_zalloc(sizeof(*reading));
	const struct event_note *first = event_ring_from(&events->ring, 0);
	char error[TEXT_SIZE];
	bool good;

	/* A follower without other wishes gets new events only. */
	*reading = (struct reading){.events = events, .request = request, .follows = follows};
	reading->next = first ? first->number : events->ring.next;
	list_init(&reading->link);
	good = read_arguments(reading, args, error);
	if (follows && !reading->from_s && !reading->last && !reading->numbered)
		reading->next = events->ring.next;
	reading->gaps = reading->numbered ||
			!(reading->last || *reading->kinds || reading->node || reading->from_s);
	reading->first = reading->next;
	reading->counting = reading->last > 0;
	if (!good) {
		control_fail(request, "%s", error);
		reading_finish(reading);
		return;
	}
	list_push(&events->readings, &reading->link);
	control_stream(request, reading_next, reading_finish, reading);
}

static void command_complete_event(void *ctx, struct control_request *request, const json_t *args)
{
	(void)ctx;
	complete_reply(request, args, all_kinds);
}

static const struct control_command commands[] = {
	{"events", command_events, CONTROL_LOOKS},
	{"complete event", command_complete_event, CONTROL_LOOKS},
};

void events_register(struct events *events, struct control *control)
{
	control_register(control, commands, ARRAY_SIZE(commands), events);
}

struct events *events_new(struct loop *loop, struct event_hub *hub, struct registry *registry,
			  const char *dir, struct work_pool *pool)
{
	struct events *events = mem_zalloc(sizeof(*events));

	events->loop = loop;
	events->registry = registry;
	event_ring_init(&events->ring, EVENTS_KEPT,
			event_numbers_open(&events->numbers, dir, pool));
	list_init(&events->readings);
	events->raised = (struct event_reader){.happened = raised, .ctx = events};
	event_read(hub, &events->raised);
	events->registered = (struct registry_reader){
		.changed = registered, .whole = events_registry_replaced, .ctx = events};
	registry_read(registry, &events->registered);
	log_watch(logged, events);
	return events;
}

void events_name_ports(struct events *events, event_port_fn *port_of, void *ctx)
{
	events->port_of = port_of;
	events->port_ctx = ctx;
}

void events_free(struct events *events)
{
	if (!events)
		return;
	log_watch(NULL, NULL);
	registry_unread(&events->registered);
	event_unread(&events->raised);
	event_numbers_close(&events->numbers, events->ring.next);
	event_ring_done(&events->ring);
	free(events);
}
