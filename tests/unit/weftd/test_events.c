/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Events: the ring, the events of each of the three sources, and clients that read over a real
 * control socket, in one thread with the loop. Clients read from a number on, follow, come too
 * late, or return after a restart.
 */
#include "weftd/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/partitions.h"
#include "include/message_id.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "mad/notice.h"
#include "store/setting.h"
#include "tests/unit/fixtures/control_client.h"
#include "weftd/event_numbers.h"
#include "weftd/event_ring.h"

/* Each kind has room for three; they share their numbers. */
static void test_ring(void)
{
	static const struct {
		uint64_t from, number; /* 0: none */
	} looks[] = {{0, 1}, {1, 1}, {2, 5}, {5, 5}, {6, 6}, {7, 7}, {8, 0}, {99, 0}};
	struct event_ring ring;

	event_ring_init(&ring, 3, 1);
	CU_ASSERT_PTR_NULL(event_ring_from(&ring, 0));
	for (unsigned i = 1; i <= 7; i++) {
		char text[8];

		snprintf(text, sizeof(text), "no %u", i);
		event_ring_add(&ring, &(struct event_note){.number = 99,
							   .kind = i == 1 ? "role" : "port",
							   .text = text,
							   .port = i});
	}
	CU_ASSERT_EQUAL(ring.next, 8);
	for (size_t i = 0; i < ARRAY_SIZE(looks); i++) {
		const struct event_note *note = event_ring_from(&ring, looks[i].from);

		CU_ASSERT_EQUAL(note ? note->number : 0, looks[i].number);
		if (!note)
			continue;
		CU_ASSERT_EQUAL(note->port, looks[i].number);
		CU_ASSERT_EQUAL(note->text[3], (char)('0' + looks[i].number));
		CU_ASSERT_PTR_NULL(note->node);
	}
	event_ring_done(&ring);
	event_ring_init(&ring, 1, 500);
	event_ring_add(&ring, &(struct event_note){.kind = "link"});
	CU_ASSERT_EQUAL(event_ring_from(&ring, 0)->number, 500);
	event_ring_done(&ring);
}

/* Every number that the header gives has a kind. */
static void test_kinds(void)
{
	FILE *header = fopen("include/message_id.h", "r");
	char line[256], id[64];
	unsigned found = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(header);
	while (fgets(line, sizeof(line), header)) {
		const char *quote = strchr(line, '"');

		if (!quote || sscanf(quote, "\"%63[0-9a-f]\"", id) != 1)
			continue;
		CU_ASSERT_EQUAL(strlen(id), 32);
		CU_ASSERT_PTR_NOT_NULL(event_kind_of(id));
		found++;
	}
	CU_ASSERT_TRUE(found > 15);
	CU_ASSERT_PTR_NULL(event_kind_of("00000000000000000000000000000000"));
	fclose(header);
}

/* A daemon's parts, and one client. */
static struct {
	struct loop *loop;
	struct event_hub hub;
	struct registry *registry;
	struct events *events;
	struct control_socket socket;
	struct control_client client;
} bed;

static void begin(void)
{
	bed.loop = loop_new();
	event_hub_init(&bed.hub);
	bed.registry = registry_new();
	socket_begin(&bed.socket, bed.loop);
	client_begin(&bed.client, &bed.socket);
	bed.events = events_new(bed.loop, &bed.hub, bed.registry, NULL, NULL);
	events_register(bed.events, bed.socket.control);
}

static void end(void)
{
	socket_end(&bed.socket);
	client_hang_up(&bed.client);
	events_free(bed.events);
	registry_free(bed.registry);
	loop_free(bed.loop);
}

/* The row with this number, of all that have come; a new reference, NULL: none. */
static json_t *row_of(json_int_t number)
{
	json_t *found = NULL;
	char *copy = mem_strdup(bed.client.text ? bed.client.text : ""), *rest;

	for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		json_t *object = json_loads(line, 0, NULL), *row;
		size_t i;

		json_array_foreach (json_object_get(json_object_get(object, "part"), "events"), i,
				    row)
			if (json_integer_value(json_object_get(row, "number")) == number)
				found = json_incref(row);
		json_decref(object);
	}
	free(copy);
	return found;
}

static bool has_row(json_int_t number)
{
	json_t *row = row_of(number);

	json_decref(row);
	return row != NULL;
}

static void expect(json_int_t number, const char *kind, const char *text)
{
	json_t *row = row_of(number);
	const char *said = json_string_value(json_object_get(row, "text"));
	const char *of = json_string_value(json_object_get(row, "kind"));

	CU_ASSERT_PTR_NOT_NULL_FATAL(row);
	CU_ASSERT_STRING_EQUAL(of ? of : "", kind);
	CU_ASSERT_STRING_EQUAL(said ? said : "", text);
	json_decref(row);
}

static void write_line(const char *message_id, const char *text)
{
	const struct log_subject subject = {.message_id = message_id,
					    .node_guid = 0x2C903,
					    .node_desc = "leaf \xff",
					    .port = 7,
					    .lid = 12};

	log_write(LOG_WARNING, "sm", &subject, "%s", text);
}

static void put_records(void)
{
	struct group_entry group = {.mgid = {0xFF, 0x12}, .mlid = 0xC001, .p_key = 0xFFFF};
	struct member_entry member = {.mgid = {0xFF, 0x12}, .port_guid = 0xA, .join_state = 1};
	struct partition_entry partition = {.p_key = 5, .name = "blue"};
	struct partition_member_entry of = {
		.p_key = 5, .guid = 0xB, .membership = MEMBERSHIP_LIMITED};
	struct lid_entry lid = {.guid = 0xA, .lid = 4};

	registry_put(bed.registry, REGISTRY_GROUP, &group);
	registry_put(bed.registry, REGISTRY_MEMBER, &member);
	registry_put(bed.registry, REGISTRY_LID, &lid); /* no event */
	registry_put(bed.registry, REGISTRY_PARTITION, &partition);
	registry_put(bed.registry, REGISTRY_PARTITION_MEMBER, &of);
	setting_put(bed.registry, "lease clock", "5000"); /* no event */
	setting_put(bed.registry, "routing", "updn");
	registry_together(bed.registry, true);
	registry_drop(bed.registry, REGISTRY_MEMBER, &member); /* an event for the whole */
	registry_together(bed.registry, false);
	registry_drop(bed.registry, REGISTRY_GROUP, &group);
}

static void tell_aliases(void)
{
	const struct alias_entry entry = {.port_guid = 0xA, .index = 3, .guid = 0xA9};
	const struct alias_event aliases[] = {
		{ALIAS_SET, &entry, ALIAS_BY_LIST},
		{ALIAS_DELETED, &entry, ALIAS_NOT_GRANTED},
		{ALIAS_REMOVED, &entry, ALIAS_BY_ADMINISTRATOR},
		{ALIAS_MISPLACED, &entry, ALIAS_NOT_GRANTED},
	};

	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++)
		event_raise(&bed.hub, &(struct event){.kind = EVENT_ALIAS,
						      .guid = 0xA,
						      .lid = 9,
						      .alias = &aliases[i]});
}

/* Each source, and each kind of record. Levels of the log do not count, lines without a number of a
 * message are no events. */
static void test_sources(void)
{
	struct notice notice = {.is_generic = 1, .trap_number = 128, .issuer_lid = 3};
	struct unit_capture capture;
	char log[256];
	json_t *row;

	begin();
	unit_capture_begin(&capture);
	log_set_level(NULL, LOG_ERR);
	write_line(MESSAGE_SILENT, "does not answer");
	write_line(NULL, "no event");
	write_line(MESSAGE_ALIAS_MISPLACED, "an event of its own has it");
	log_set_level(NULL, LOG_INFO);
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_STRING_EQUAL(log, "");
	event_raise(&bed.hub, &(struct event){.kind = EVENT_TRAP, .lid = 3, .notice = &notice});
	event_raise(&bed.hub, &(struct event){.kind = EVENT_MASTER});
	event_raise(&bed.hub, &(struct event){.kind = EVENT_PORT_OUT, .guid = 0xA, .lid = 9});
	put_records();
	tell_aliases();
	client_say(&bed.client, "{\"command\":\"events\"}\n");
	client_await(&bed.client, "\"ok\":true");
	expect(1, "node", "does not answer");
	expect(2, "trap", "trap 128 from LID 3: a link of this switch changed");
	expect(3, "port", "port disappeared");
	expect(4, "multicast", "group ff12::, MLID 0xc001, P_Key 0xffff: created");
	expect(5, "multicast", "joined group ff12::, JoinState 0x1");
	expect(6, "partition", "partition 0x0005 \"blue\": created");
	expect(7, "partition", "limited member of partition 0x0005");
	expect(8, "setting", "routing set to updn");
	expect(9, "store", "all registrations were replaced");
	expect(10, "multicast", "group ff12::, MLID 0xc001, P_Key 0xffff: deleted");
	expect(11, "alias",
	       "alias GUID 0x00000000000000a9 at index 3: set; granted by: alias_guids");
	expect(12, "alias", "alias GUID 0x00000000000000a9 at index 3: deleted; granted by: none");
	expect(13, "alias",
	       "alias GUID 0x00000000000000a9 at index 3: removed by command; granted by: "
	       "administrator");
	expect(14, "alias",
	       "alias GUID 0x00000000000000a9 at index 3: removed, because it is the GUID of "
	       "another "
	       "port; granted by: none");
	CU_ASSERT_FALSE(has_row(15));
	row = row_of(13);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(row, "port_guid")),
			       "0x000000000000000a");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(row, "lid")), 9);
	json_decref(row);
	row = row_of(1);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(row, "node")), "leaf ?");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(row, "level")), "warning");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(row, "node_guid")),
			       "0x000000000002c903");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(row, "port")), 7);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(row, "lid")), 12);
	CU_ASSERT_PTR_NULL(json_object_get(row, "port_guid"));
	json_decref(row);
	row = row_of(7);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(row, "port_guid")),
			       "0x000000000000000b");
	json_decref(row);
	end();
}

/* The texts of all traps of the specification (14.2.5.1), and of a vendor's trap. */
static void test_trap_words(void)
{
	static const struct {
		uint16_t number;
		const char *text;
	} traps[] = {
		{128, "trap 128 from LID 3: a link of this switch changed"},
		{129, "trap 129 from LID 3: local link integrity threshold"},
		{130, "trap 130 from LID 3: buffer overrun threshold"},
		{131, "trap 131 from LID 3: flow control watchdog"},
		{144, "trap 144 from LID 3: capabilities or description changed"},
		{145, "trap 145 from LID 3: SystemImageGUID changed"},
		{256, "trap 256 from LID 3: wrong M_Key"},
		{257, "trap 257 from LID 3: wrong P_Key"},
		{258, "trap 258 from LID 3: wrong Q_Key"},
		{259, "trap 259 from LID 3: wrong P_Key, dropped by a switch"},
		{132, "trap 132 from LID 3: unknown trap number"},
	};
	struct notice notice = {.is_generic = 1, .issuer_lid = 3};
	const struct event event = {.kind = EVENT_TRAP, .lid = 3, .notice = &notice};

	begin();
	for (size_t i = 0; i < ARRAY_SIZE(traps); i++) {
		notice.trap_number = traps[i].number;
		event_raise(&bed.hub, &event);
	}
	notice = (struct notice){.trap_number = 257, .producer_type = 0x2C9, .issuer_lid = 3};
	event_raise(&bed.hub, &event);
	client_say(&bed.client, "{\"command\":\"events\"}\n");
	client_await(&bed.client, "\"ok\":true");
	for (size_t i = 0; i < ARRAY_SIZE(traps); i++)
		expect(i + 1, "trap", traps[i].text);
	expect(ARRAY_SIZE(traps) + 1, "trap", "trap 257 of vendor 0x0002c9 from LID 3");
	end();
}

static void happen(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		event_raise(&bed.hub, &(struct event){.kind = EVENT_PORT_FORGOTTEN, .guid = 1});
}

/* A client that follows gets new events. Another client continues where the first stopped. */
static void test_follow(void)
{
	begin();
	happen(40);
	client_say(&bed.client, "{\"command\":\"events\",\"follow\":true,\"since\":\"38\"}\n");
	client_await(&bed.client, "\"number\":40");
	CU_ASSERT_FALSE(has_row(38));
	CU_ASSERT_PTR_NULL(strstr(bed.client.text, "\"ok\""));
	happen(2);
	client_await(&bed.client, "\"number\":42");
	happen(1);
	client_say(&bed.client, "{\"command\":\"events\",\"follow\":true,\"since\":42}\n");
	client_await(&bed.client, "\"number\":43");
	CU_ASSERT_FALSE(has_row(42));
	client_say(&bed.client, "{\"command\":\"events\",\"since\":40}\n");
	client_await(&bed.client, "\"ok\":true");
	CU_ASSERT_FALSE(has_row(40));
	expect(41, "port", "port absent for registration_grace: its registrations are deleted");
	expect(43, "port", "port absent for registration_grace: its registrations are deleted");
	end();
}

static void ask(const char *arguments)
{
	char request[256];

	snprintf(request, sizeof(request), "{\"command\":\"events\"%s}\n", arguments);
	client_say(&bed.client, request);
	client_await(&bed.client, "\"ok\":");
}

/* Filters: each row has the events that it shows, of 1 to 6. */
static void test_filters(void)
{
	static const struct {
		const char *arguments, *shown;
	} rows[] = {
		{"", "123456"},
		{",\"kind\":\"port\"", "1346"},
		{",\"kind\":\"link\"", ""},
		{",\"kind\":\"node,trap\"", "25"},
		{",\"node\":\"0x0000000000000001\"", "136"},
		{",\"node\":\"1\"", ""},
		{",\"node\":\"leaf\"", "2"},
		{",\"node\":\"lea\"", ""},
		{",\"lines\":\"2\"", "56"},
		{",\"lines\":100", "123456"},
		{",\"kind\":\"port\",\"lines\":\"2\"", "46"},
		{",\"kind\":\"port\",\"lines\":1,\"since\":2,\"node\":\"0x2\"", "4"},
		{",\"kind\":\"port\",\"since\":\"3\"", "46"},
		{",\"since\":\"@0\"", "123456"},
		{",\"since\":\"@99999999999\"", ""},
	};
	static const char *const bad[] = {",\"kind\":\"lnk\"", ",\"kind\":\"\"",
					  ",\"lines\":0",      ",\"lines\":\"x\"",
					  ",\"since\":\"@\"",  ",\"since\":\"@1x\""};

	begin();
	happen(1);
	log_about(LOG_NOTICE,
		  &(struct log_subject){
			  .message_id = MESSAGE_VANISHED, .node_guid = 9, .node_desc = "leaf"},
		  "gone");
	happen(1);
	event_raise(&bed.hub, &(struct event){.kind = EVENT_PORT_FORGOTTEN, .guid = 2});
	log_about(LOG_NOTICE, &(struct log_subject){.message_id = MESSAGE_TRAP_SENDER}, "forged");
	happen(1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		ask(rows[i].arguments);
		for (unsigned number = 1; number <= 6; number++) {
			bool shown = strchr(rows[i].shown, (char)('0' + number)) != NULL;

			if (has_row(number) != shown)
				printf("\n%s: event %u", rows[i].arguments, number);
			CU_ASSERT_EQUAL(has_row(number), shown);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ask(bad[i]);
		CU_ASSERT_PTR_NOT_NULL(strstr(bed.client.text, "\"ok\":false"));
	}
	ask(bad[0]);
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.client.text, "the kinds are role, standby, sweep, link"));
	end();
}

/* A number that is not known yet is reported once, also with a number of lines. */
static void test_lines_since(void)
{
	begin();
	happen(EVENTS_KEPT + 7);
	ask(",\"since\":99999,\"lines\":2");
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.client.text, "the latest event is 10007"));
	CU_ASSERT_PTR_NULL(
		strstr(strstr(bed.client.text, "the latest event") + 1, "the latest event"));
	CU_ASSERT_TRUE(has_row(10007));
	CU_ASSERT_TRUE(has_row(10006));
	CU_ASSERT_FALSE(has_row(10005));
	ask(",\"since\":1,\"lines\":2");
	CU_ASSERT_PTR_NULL(strstr(bed.client.text, "no longer stored"));
	CU_ASSERT_FALSE(has_row(10005));
	end();
}

/* The last events of a kind, then new ones of this kind. */
static void test_follow_filtered(void)
{
	begin();
	happen(5000);
	client_say(&bed.client,
		   "{\"command\":\"events\",\"follow\":true,\"lines\":\"2\",\"kind\":\"port\"}\n");
	client_await(&bed.client, "\"number\":5000");
	CU_ASSERT_TRUE(has_row(4999));
	CU_ASSERT_FALSE(has_row(4998));
	log_about(LOG_NOTICE, &(struct log_subject){.message_id = MESSAGE_VANISHED}, "gone");
	happen(1);
	client_await(&bed.client, "\"number\":5002");
	CU_ASSERT_FALSE(has_row(5001));
	happen(2 * EVENTS_KEPT);
	client_await(&bed.client, "\"number\":25002,");
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.client.text, "are no longer stored"));
	end();
}

/* A follower that falls behind by more than the ring loses the oldest events, gets a gap, and goes
 * on. */
static void test_behind(void)
{
	begin();
	happen(1);
	client_say(&bed.client, "{\"command\":\"events\",\"follow\":true,\"since\":0}\n");
	client_await(&bed.client, "\"number\":1,");
	happen(2 * EVENTS_KEPT);
	client_await(&bed.client, "\"number\":20001,");
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.client.text, "events 2 to 10001 are no longer stored"));
	CU_ASSERT_FALSE(has_row(10001));
	expect(10002, "port", "port absent for registration_grace: its registrations are deleted");
	happen(1);
	client_await(&bed.client, "\"number\":20002,");
	end();
}

/* Events that are no longer stored give a gap, and so does a number of an earlier weftd. */
static void test_gap(void)
{
	begin();
	happen(EVENTS_KEPT + 7);
	client_say(&bed.client, "{\"command\":\"events\",\"since\":2}\n");
	client_await(&bed.client, "\"ok\":true");
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.client.text, "events 3 to 7 are no longer stored"));
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.client.text, "\"first\":3"));
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.client.text, "\"last\":7"));
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.client.text, "\"number\":8,"));
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.client.text, "\"number\":10007"));
	client_say(&bed.client, "{\"command\":\"events\",\"since\":6}\n");
	client_await(&bed.client, "\"ok\":true");
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.client.text, "events 7 to 7 are no longer stored"));
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.client.text, "\"number\":8,"));
	client_say(&bed.client, "{\"command\":\"events\",\"since\":7}\n");
	client_await(&bed.client, "\"ok\":true");
	CU_ASSERT_PTR_NULL(strstr(bed.client.text, "no longer there"));
	end();
	begin();
	happen(2);
	client_say(&bed.client, "{\"command\":\"events\",\"since\":420}\n");
	client_await(&bed.client, "\"ok\":true");
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.client.text, "the latest event is 2, and event 420"));
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.client.text, "\"newest\":2,"));
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.client.text, "\"number\":1,"));
	client_say(&bed.client, "{\"command\":\"events\",\"since\":420,\"follow\":true}\n");
	client_await(&bed.client, "\"number\":2,");
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.client.text, "the latest event is 2, and event 420"));
	happen(1);
	client_await(&bed.client, "\"number\":3,");
	end();
	begin();
	happen(2);
	client_say(&bed.client, "{\"command\":\"events\",\"since\":2}\n");
	client_await(&bed.client, "\"ok\":true");
	CU_ASSERT_PTR_NULL(strstr(bed.client.text, "\"part\""));
	end();
}

/* Rare events outlive frequent events; a gap stands for those in between. */
static void test_kinds_apart(void)
{
	struct notice notice = {.is_generic = 1, .trap_number = 128, .issuer_lid = 3};

	begin();
	event_raise(&bed.hub, &(struct event){.kind = EVENT_TRAP, .lid = 3, .notice = &notice});
	happen(EVENTS_KEPT + 5);
	client_say(&bed.client, "{\"command\":\"events\"}\n");
	client_await(&bed.client, "\"ok\":true");
	expect(1, "trap", "trap 128 from LID 3: a link of this switch changed");
	CU_ASSERT_PTR_NOT_NULL(strstr(bed.client.text, "events 2 to 6 are no longer stored"));
	expect(7, "port", "port absent for registration_grace: its registrations are deleted");
	expect(EVENTS_KEPT + 6, "port",
	       "port absent for registration_grace: its registrations are deleted");
	end();
}

struct number_wait {
	struct loop *loop;
	const struct event_numbers *numbers;
	struct loop_timer turn;
};

static void look_whether_written(void *arg)
{
	struct number_wait *wait = arg;

	if (wait->numbers->under_way)
		loop_timer_arm(&wait->turn, 500);
	else
		loop_stop(wait->loop, 0);
}

/* Gives out so many numbers of a block that a daemon takes, from first on; its end is a clean one
 * or a kill. */
static void take_numbers(const char *dir, uint64_t first, uint64_t count, bool kill)
{
	struct loop *loop = loop_new();
	struct work_pool *pool = work_pool_new(loop, 1);
	struct event_numbers numbers;
	struct number_wait wait = {.loop = loop, .numbers = &numbers};

	CU_ASSERT_EQUAL(event_numbers_open(&numbers, dir, pool), first);
	for (uint64_t i = 1; i <= count; i++)
		event_numbers_reach(&numbers, first + i);
	loop_timer_init(&wait.turn, loop, "written", look_whether_written, &wait);
	loop_timer_arm(&wait.turn, 0);
	loop_run(loop);
	work_pool_free(pool);
	if (kill) {
		free(numbers.path);
		free(numbers.part);
	} else {
		event_numbers_close(&numbers, first + count);
	}
	loop_free(loop);
}

/* No number is used twice, after any kind of end. A clean end skips none. */
static void test_numbers(void)
{
	enum { BLOCK = EVENT_NUMBERS_BLOCK };
	char dir[] = "/tmp/weft-events-XXXXXX", path[64], log[1024];
	struct unit_capture capture;
	FILE *file;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	take_numbers(dir, 1, 10, false);
	take_numbers(dir, 11, 7, true);
	take_numbers(dir, 11 + BLOCK, 0, true);
	take_numbers(dir, 11 + 2 * BLOCK, 3, false);
	take_numbers(dir, 14 + 2 * BLOCK, BLOCK / 2, true); /* into the next block */
	take_numbers(dir, 14 + 4 * BLOCK, 0, false);
	snprintf(path, sizeof(path), "%s/events.next", dir);
	file = fopen(path, "w");
	fputs("12", file); /* no end of the line: not as it was written */
	fclose(file);
	unit_capture_begin(&capture);
	take_numbers(dir, 1, 0, false);
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_PTR_NOT_NULL(strstr(log, "cannot read the latest event number from"));
	CU_ASSERT_EQUAL(unlink(path), 0);
	CU_ASSERT_EQUAL(rmdir(dir), 0);
	unit_capture_begin(&capture);
	take_numbers(dir, 1, 1, false);
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_PTR_NOT_NULL(strstr(log, "events.next: No such file"));
}

static void test_bad_number(void)
{
	static const char *const bad[] = {"-1",	  "\"-1\"", "\"x\"",
					  "\"\"", "\"1x\"", "\"99999999999999999999\"",
					  "null", "1.5",    "true"};

	begin();
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char request[128];

		snprintf(request, sizeof(request), "{\"command\":\"events\",\"since\":%s}\n",
			 bad[i]);
		client_say(&bed.client, request);
		client_await(&bed.client, "\"ok\":false");
		CU_ASSERT_PTR_NOT_NULL(
			strstr(bed.client.text, "--since: expected the number of an event"));
	}
	end();
}

/* The node of port GUID 0xA. */
static const struct node_facts *port_of(void *ctx, guid_t port_guid, unsigned *port)
{
	static const struct node_facts facts = {.info = {.node_guid = 0x70},
						.description = "host-7"};

	(void)ctx;
	*port = 2;
	return port_guid == 0xA ? &facts : NULL;
}

/* An event of a registration is one of the node that had the port. */
static void test_node_of_registration(void)
{
	json_t *row;

	begin();
	events_name_ports(bed.events, port_of, NULL);
	put_records();
	client_say(&bed.client, "{\"command\":\"events\",\"node\":\"host-7\"}\n");
	client_await(&bed.client, "\"ok\":true");
	row = row_of(2);
	CU_ASSERT_PTR_NOT_NULL_FATAL(row);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(json_string_value(json_object_get(row, "text")), "joined group"));
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(row, "node")), "host-7");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(row, "port")), 2);
	json_decref(row);
	CU_ASSERT_PTR_NULL(row_of(1)); /* the group was created */
	CU_ASSERT_PTR_NULL(row_of(4)); /* a member of another node */
	end();
}

/* A port that a command disables is one of the switch in the record. */
static void test_node_of_disabled(void)
{
	const struct disabled_entry entry = {.node_guid = 0xA, .port = 3};
	json_t *row;

	begin();
	events_name_ports(bed.events, port_of, NULL);
	registry_put(bed.registry, REGISTRY_DISABLED, &entry);
	client_say(&bed.client, "{\"command\":\"events\",\"node\":\"host-7\"}\n");
	client_await(&bed.client, "\"ok\":true");
	row = row_of(1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(row);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(row, "text")),
			       "\"host-7\" port 3: disabled by command");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(row, "node")), "host-7");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(row, "port")), 3);
	json_decref(row);
	end();
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"ring", test_ring},
		{"kinds", test_kinds},
		{"sources", test_sources},
		{"the words of traps", test_trap_words},
		{"follow", test_follow},
		{"behind", test_behind},
		{"filters", test_filters},
		{"follow some", test_follow_filtered},
		{"lines since", test_lines_since},
		{"gap", test_gap},
		{"kinds apart", test_kinds_apart},
		{"numbers", test_numbers},
		{"bad number", test_bad_number},
		{"the node of a registration", test_node_of_registration},
		{"the node of a disabled port", test_node_of_disabled},
		CU_TEST_INFO_NULL,
	};

	return unit_main("events", tests);
}
