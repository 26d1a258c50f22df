/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The command why. CASES cases from seeds: the generator causes one fault at a random pair of
 * hosts, or none, and knows what it did. The answer must name this fault, and the right host or
 * port. The other tests are about ends: names, ports, refusals, and nodes that are gone.
 */
#include <inttypes.h>

#include "sm/control/commands.h"
#include "tests/unit/fixtures/control_world.h"

enum { CASES = 200, FIRST_SEED = 1, HOSTS = 8, FIRST_LOCAL = 1 };

static const char fabric_spec[] = "fattree:radix=4,levels=2";

/* A fault, and what the generator knows about it. */
struct play {
	uint64_t random;
	struct world *world;
	unsigned a, b; /* numbers of the hosts; the fault is at b or on the way to it */
	bool leaf_refuses, host_refuses;
	struct fake_node *refuser;
	char expect[128]; /* a part of the text of the obstacle, or of a note */
};

/* fake->fate has the ctx of before_set. */
static const struct play *refusing;

static uint64_t draw(struct play *play, uint64_t bound)
{
	play->random ^= play->random << 13;
	play->random ^= play->random >> 7;
	play->random ^= play->random << 17;
	return play->random % bound;
}

static struct fake_node *host(const struct play *play, unsigned number)
{
	char name[16];

	snprintf(name, sizeof(name), "host-%04u", number);
	return sm_world_node(play->world, name);
}

/* The world */

static enum fake_fate fate(void *ctx, struct fake_node *node, const struct mad_header *header)
{
	const struct play *play = refusing;
	bool refuses = header->attr_id == ATTR_LINEAR_FORWARDING_TABLE ? play->leaf_refuses
		       : header->attr_id == ATTR_PORT_INFO	       ? play->host_refuses
								       : false;

	(void)ctx;
	return refuses && header->method == METHOD_SET && node == play->refuser ? FAKE_REFUSE
										: FAKE_ANSWER;
}

/* A world that has not swept yet. */
static void begin(struct play *play)
{
	struct sm_options options = sm_world_options();
	struct net *net = NULL;
	char *error = NULL;

	memset(options.engines, 0, sizeof(options.engines));
	strcpy(options.engines[0], "updn");
	CU_ASSERT_EQUAL_FATAL(spec_build(fabric_spec, &net, &error), 0);
	play->world = sm_world_new(net, net_find(net, "host-0001"), FIRST_LOCAL, &options);
	socket_begin(&control_bed.socket, play->world->loop);
	sm_commands_begin(play->world->sm, control_bed.socket.control);
	for (int i = 0; i < CLIENTS; i++)
		client_begin(&control_bed.clients[i], &control_bed.socket);
}

static void up(struct play *play)
{
	CU_ASSERT_TRUE(sm_world_up(play->world));
}

static void heavy(struct play *play)
{
	sm_world_sweep(play->world, DISCOVER_HEAVY);
}

static void refuse(struct play *play, struct fake_node *node)
{
	play->refuser = node;
	play->world->fake->fate = fate;
	refusing = play;
}

static void ask(struct play *play, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void ask(struct play *play, const char *format, ...)
{
	char request[512];
	va_list args;

	va_start(args, format);
	vsnprintf(request, sizeof(request), format, args);
	va_end(args);
	strcat(request, "\n");
	control_ask(play->world, request);
}

/* Faults */

static void nothing(struct play *play)
{
	up(play);
}

static void nothing_in_partitions(struct play *play)
{
	up(play);
	ask(play, "{\"command\":\"partition add\",\"p_key\":\"0x7fff\",\"force\":true}");
	ask(play,
	    "{\"command\":\"partition add\",\"p_key\":\"0x0005\",\"name\":\"five\",\"members\":"
	    "[\"host-%04u=%s\",\"host-%04u\"]}",
	    play->a, draw(play, 2) ? "limited" : "full", play->b);
}

static void cable(struct play *play)
{
	up(play);
	fake_link(&host(play, play->b)->port[1], false);
	heavy(play);
	snprintf(play->expect, sizeof(play->expect), "host-%04u is off", play->b);
}

static void disabled(struct play *play)
{
	const struct fake_port *at;

	up(play);
	at = host(play, play->b)->port[1].peer;
	ask(play, "{\"command\":\"port disable\",\"node\":\"%s\",\"port\":%u}",
	    at->node->description, at->num);
	fake_link(&host(play, play->b)->port[1], false); /* the fake agent does not do that */
	heavy(play);
	snprintf(play->expect, sizeof(play->expect), "%s port %u (to host-%04u)",
		 at->node->description, at->num, play->b);
}

static void silent(struct play *play)
{
	up(play);
	host(play, play->b)->silent = true;
	if (draw(play, 2)) /* a sweep has noticed it, or none has */
		heavy(play);
	snprintf(play->expect, sizeof(play->expect), "agent of host-%04u", play->b);
}

static void refused_device(struct play *play)
{
	up(play);
	refuse(play, host(play, play->b));
	play->host_refuses = true;
	fake_reboot(host(play, play->b));
	heavy(play);
	snprintf(play->expect, sizeof(play->expect), "host-%04u port 1 refuses", play->b);
}

static void lid_conflict(struct play *play)
{
	up(play);
	refuse(play, host(play, play->b));
	play->host_refuses = true;
	host(play, play->b)->port[1].info.lid = host(play, play->a)->port[1].info.lid;
	heavy(play);
	snprintf(play->expect, sizeof(play->expect), "host-%04u keeps LID %u", play->b,
		 host(play, play->a)->port[1].info.lid);
}

/* The host appears when the leaf of the other host takes no more entries. */
static void route_refused(struct play *play)
{
	struct fake_node *leaf;

	play->a = 3 + (unsigned)draw(play, HOSTS - 2);
	do
		play->b = 2 + (unsigned)draw(play, HOSTS - 1);
	while ((play->b + 1) / 2 == (play->a + 1) / 2);
	fake_link(&host(play, play->b)->port[1], false);
	up(play);
	leaf = host(play, play->a)->port[1].peer->node;
	refuse(play, leaf);
	play->leaf_refuses = true;
	fake_link(&host(play, play->b)->port[1], true);
	heavy(play);
	snprintf(play->expect, sizeof(play->expect), "%s", leaf->description);
}

static void no_partition(struct play *play)
{
	up(play);
	ask(play, "{\"command\":\"partition add\",\"p_key\":\"0x7fff\",\"force\":true}");
	ask(play,
	    "{\"command\":\"partition add\",\"p_key\":\"0x0005\",\"members\":[\"host-%04u\"]}",
	    play->a);
	if (draw(play, 2))
		ask(play,
		    "{\"command\":\"partition add\",\"p_key\":\"0x0006\",\"members\":"
		    "[\"host-%04u\"]}",
		    play->b);
	strcpy(play->expect, "no partition in common");
}

static void limited(struct play *play)
{
	up(play);
	ask(play, "{\"command\":\"partition add\",\"p_key\":\"0x7fff\",\"force\":true}");
	ask(play,
	    "{\"command\":\"partition add\",\"p_key\":\"0x0005\",\"members\":"
	    "[\"host-%04u=limited\",\"host-%04u=limited\"],\"force\":true}",
	    play->a, play->b);
	strcpy(play->expect, "limited members of partition 0x0005");
}

static void mtu(struct play *play)
{
	host(play, play->b)->port[1].info.mtu_cap = 3;
	up(play);
	strcpy(play->expect, "MTU 1024 at ");
}

static void rate(struct play *play)
{
	struct fake_port *port = &host(play, play->b)->port[1];

	port->info.link_width_active = port->peer->info.link_width_active = 1;
	up(play);
	strcpy(play->expect, "rate 10 Gb/s at ");
}

/* codes: the possible codes between blanks; NULL: no obstacle. */
static const struct {
	const char *name;
	void (*cause)(struct play *play);
	const char *codes;
} faults[] = {
	{"nothing", nothing, NULL},
	{"nothing, with partitions", nothing_in_partitions, NULL},
	{"cable", cable, "link_down"},
	{"disabled port", disabled, "disabled"},
	{"agent", silent, "silent"},
	{"refused device", refused_device, "refused"},
	{"LID conflict", lid_conflict, "lid_conflict"},
	{"route refused", route_refused, "switch_refuses not_held"},
	{"P_Key", no_partition, "p_key"},
	{"limited and limited", limited, "limited"},
	{"MTU", mtu, NULL},
	{"rate", rate, NULL},
};

/* Whether the answer to client 0 names the fault. */
static bool is_right(const struct play *play, const char *codes)
{
	const char *text = control_bed.clients[0].text;
	json_t *reply = json_loads(text ? text : "", JSON_DISABLE_EOF_CHECK, NULL);
	const json_t *result = json_object_get(reply, "result");
	const json_t *obstacle = json_object_get(result, "obstacle");
	const char *code = json_string_value(json_object_get(obstacle, "code"));
	const char *found = json_string_value(json_object_get(obstacle, "text"));
	const char *remedy = json_string_value(json_object_get(obstacle, "remedy"));
	char *notes = json_dumps(json_object_get(result, "notes"), 0);
	bool right;

	if (codes)
		right = code && strstr(codes, code) && found && strstr(found, play->expect) &&
			remedy && *remedy;
	else
		right = json_is_null(obstacle) && notes &&
			(*play->expect ? strstr(notes, play->expect) != NULL
				       : !strcmp(notes, "[]"));
	free(notes);
	json_decref(reply);
	return right;
}

static bool play_case(uint64_t seed, size_t fault)
{
	struct play play = {.random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1};
	unsigned first, second;
	bool right;

	play.b = 2 + (unsigned)draw(&play, HOSTS - 1);
	do
		play.a = 2 + (unsigned)draw(&play, HOSTS - 1);
	while (play.a == play.b);
	begin(&play);
	faults[fault].cause(&play);
	first = draw(&play, 2) ? play.a : play.b;
	second = play.a + play.b - first;
	ask(&play, "{\"command\":\"why\",\"from\":\"host-%04u\",\"to\":\"host-%04u\"}", first,
	    second);
	right = is_right(&play, faults[fault].codes);
	if (!right)
		printf("\nseed %" PRIu64
		       ", %s, from host-%04u to host-%04u (fault at host-%04u): %s",
		       seed, faults[fault].name, first, second, play.b,
		       control_bed.clients[0].text ? control_bed.clients[0].text : "nothing");
	play.world->fake->fate = NULL;
	control_end(play.world);
	return right;
}

static void test_generated(void)
{
	unsigned right = 0;

	for (unsigned i = 0; i < CASES; i++)
		right += play_case(FIRST_SEED + i, i % ARRAY_SIZE(faults));
	CU_ASSERT_EQUAL(right, CASES);
}

/* Ends */

static void test_ends(void)
{
	static const struct {
		const char *args, *words;
	} rows[] = {
		{"", "\"error\":\"why needs a node"},
		{"\"from\":5", "\"error\":\"why needs a node"},
		{"\"from\":\"host-00O1\"", "did you mean \\\"host-0001\\\"?"},
		{"\"from\":\"host-0001\",\"to\":\"nowhere\"", "there is no node \\\"nowhere\\\""},
		{"\"from\":\"host-0001/2\"", "\\\"host-0001\\\" has ports 1 to "},
		{"\"from\":\"host-0001/0\"", "\\\"host-0001\\\" has ports 1 to "},
		{"\"from\":\"leaf-01/9\"", "\\\"leaf-01\\\" has ports 1 to 4"},
		{"\"from\":\"host-0001\"", "\"obstacle\":null"},
		{"\"from\":\"leaf-01\"", "\"obstacle\":null"},
		{"\"from\":\"leaf-01/3\"", "\"obstacle\":null"},
		{"\"from\":\"leaf-01/3\",\"to\":\"host-0008/1\"", "\"obstacle\":null"},
		{"\"from\":\"leaf-01\",\"to\":\"leaf-04\"", "\"result\":\"arrives\""},
		{"\"from\":\"host-0003\",\"to\":\"host-0003\"", "\"obstacle\":null"},
		{"\"from\":\"1\",\"to\":\"host-0008\"", "\"description\":\"leaf-01\""},
	};
	struct play play = {0};

	begin(&play);
	up(&play);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		ask(&play, "{\"command\":\"why\"%s%s}", *rows[i].args ? "," : "", rows[i].args);
		CU_ASSERT(control_has(0, rows[i].words));
	}
	control_end(play.world);
}

/* A node is found by its name, its GUIDs and its LID when it is gone, and again as before when it
 * returns. Each answer also has the place and the LID. */
static void test_gone(void)
{
	struct play play = {0};
	struct fake_node *node;
	char guid[24], port_guid[24], lid[8];
	const char *const names[] = {"host-0006", "host-0006/1", guid, port_guid, lid};

	begin(&play);
	up(&play);
	node = host(&play, 6);
	snprintf(guid, sizeof(guid), "0x%016" PRIx64, node->info.node_guid);
	snprintf(port_guid, sizeof(port_guid), "0x%016" PRIx64, node->info.port_guid);
	snprintf(lid, sizeof(lid), "%u", node->port[1].info.lid);
	fake_link(&node->port[1], false);
	heavy(&play);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		ask(&play, "{\"command\":\"why\",\"from\":\"%s\"}", names[i]);
		CU_ASSERT(control_has(0, "\"code\":\"link_down\""));
		CU_ASSERT(control_has(0, "\"lid_reserved\":true"));
		CU_ASSERT(control_has(0, "\"peer\":\"leaf-03\",\"peer_port\":2"));
	}
	ask(&play, "{\"command\":\"node show\",\"node\":\"host-0006\"}");
	CU_ASSERT(control_has(0, "host-0006 is gone since "));
	CU_ASSERT(control_has(0, "it was at leaf-03 port 2, LID "));
	CU_ASSERT(control_has(0, " is reserved; weftctl why host-0006 shows the cause"));
	fake_link(&node->port[1], true);
	heavy(&play);
	ask(&play, "{\"command\":\"why\",\"from\":\"host-0006\"}");
	CU_ASSERT(control_has(0, "\"obstacle\":null"));
	control_end(play.world);
}

/* A leaf with its hosts: the hosts were at the leaf, and the leaf was at a spine. */
static void test_gone_switch(void)
{
	struct play play = {0};
	struct fake_node *leaf;

	begin(&play);
	up(&play);
	leaf = host(&play, 6)->port[1].peer->node;
	for (unsigned i = 1; i <= leaf->info.num_ports; i++)
		fake_link(&leaf->port[i], false);
	heavy(&play);
	ask(&play, "{\"command\":\"why\",\"from\":\"leaf-03\"}");
	CU_ASSERT(control_has(0, "\"code\":\"link_down\""));
	CU_ASSERT(control_has(0, "no link at spine-0"));
	ask(&play, "{\"command\":\"why\",\"from\":\"host-0001\",\"to\":\"host-0006\"}");
	CU_ASSERT(control_has(0, "\"code\":\"gone\""));
	CU_ASSERT(control_has(0, "\"remedy\":\"weftctl why leaf-03\""));
	control_end(play.world);
}

/* An agent that a sweep found silent gets no request. */
static void test_known_silence(void)
{
	struct play play = {0};
	uint64_t before;

	begin(&play);
	up(&play);
	host(&play, 5)->silent = true;
	heavy(&play);
	before = window_stats(play.world->sm->window)->requests;
	for (unsigned i = 0; i < 3; i++) {
		ask(&play, "{\"command\":\"why\",\"from\":\"host-0005\"}");
		CU_ASSERT(control_has(0, "\"code\":\"silent\""));
		CU_ASSERT(control_has(0, "\"answers\":false"));
	}
	CU_ASSERT_EQUAL(window_stats(play.world->sm->window)->requests, before);
	ask(&play, "{\"command\":\"why\",\"from\":\"host-0006\"}");
	CU_ASSERT_EQUAL(window_stats(play.world->sm->window)->requests, before + 1);
	control_end(play.world);
}

/* Obstacles that the generator cannot cause by devices: the model is changed instead. */

static struct port *end_port(const struct play *play, unsigned number)
{
	const struct node *node =
		fabric_find_node(play->world->sm->fabric, host(play, number)->info.node_guid);

	return (struct port *)&node->port[1];
}

/* A switch believes that its entry for the LID of a host leads to this port. */
static void mislead(struct node *node, lid_t lid, uint8_t port)
{
	uint16_t block = lid / LFT_BLOCK_LIDS;
	uint8_t entries[LFT_BLOCK_LIDS];

	memcpy(entries, lft_block(node->sw->lft.want, block), sizeof(entries));
	entries[lid % LFT_BLOCK_LIDS] = port;
	lft_have_learn(&node->sw->lft.have, block, node->sw->lft.want->blocks, entries);
}

/* The switch port at a host enforces partitions with this key alone; 0: with no key. */
static void enforce(struct play *play, unsigned number, pkey_t key, bool in, bool out)
{
	struct port *cable = end_port(play, number)->peer;
	struct pkey_list *list = pkey_list_new(PKEY_BLOCK_KEYS);
	struct port_info *info;

	list->key[0] = key;
	port_set_pkeys(play->world->sm->fabric, cable, list);
	info = (struct port_info *)port_info(cable);
	info->partition_enforcement_inbound = in;
	info->partition_enforcement_outbound = out;
}

static bool ask_5_7(struct play *play, const char *words)
{
	ask(play, "{\"command\":\"why\",\"from\":\"host-0005\",\"to\":\"host-0007\"}");
	return control_has(0, words);
}

static void test_held(void)
{
	struct play play = {0};

	begin(&play);
	up(&play);
	port_trouble(play.world->sm->fabric, end_port(&play, 7))->held_until_us = UINT64_MAX;
	CU_ASSERT(ask_5_7(&play, "\"code\":\"held\""));
	CU_ASSERT(control_has(0, "the link of host-0007 at leaf-04 port 1 is held back"));
	end_port(&play, 7)->trouble->held_until_us = 0;
	CU_ASSERT(ask_5_7(&play, "\"obstacle\":null"));
	control_end(play.world);
}

/* The leaf of the sender and a spine lead to each other. */
static void test_loop(void)
{
	struct play play = {0};
	struct port *up_port;
	struct node *leaf;
	lid_t lid;

	begin(&play);
	up(&play);
	lid = end_port(&play, 7)->lid;
	leaf = end_port(&play, 5)->peer->node;
	up_port = &leaf->port[lft_port(leaf->sw->lft.want, lid)];
	mislead(up_port->peer->node, lid, up_port->peer->num);
	CU_ASSERT(ask_5_7(&play, "\"code\":\"loop\""));
	CU_ASSERT(control_has(0, "\"result\":\"loop\"") && control_has(0, "is part of a loop"));
	CU_ASSERT(control_has(0, "\"remedy\":\"weftctl reroute\""));
	control_end(play.world);
}

static void test_lid_missing(void)
{
	struct play play = {0};
	struct port *end;
	lid_t lid;

	begin(&play);
	up(&play);
	end = end_port(&play, 7);
	lid = end->lid;
	end->lid = 0;
	CU_ASSERT(ask_5_7(&play, "\"code\":\"lid_missing\""));
	CU_ASSERT(control_has(0, "host-0007 has no LID"));
	end->lid = lid;
	CU_ASSERT(ask_5_7(&play, "\"obstacle\":null"));
	control_end(play.world);
}

/* host-0007 is a full member of the partition, host-0005 a limited member. The membership bit of
 * the key at a switch port does not count. */
static void test_enforced(void)
{
	static const struct {
		unsigned at;
		pkey_t key;
		bool in, out, passes;
	} rows[] = {
		{5, 0, true, true, false},     {5, 0, true, false, false},
		{5, 0, false, true, false},    {5, 0, false, false, true},
		{5, 0x8005, true, true, true}, {5, 0x8006, true, true, false},
		{5, 0x0005, true, true, true}, {7, 0x0005, true, true, true},
		{7, 0, true, true, false},     {7, 0x8005, true, true, true},
	};
	struct play play = {0};

	begin(&play);
	up(&play);
	ask(&play, "{\"command\":\"partition add\",\"p_key\":\"0x7fff\",\"force\":true}");
	ask(&play, "{\"command\":\"partition add\",\"p_key\":\"0x0005\",\"members\":"
		   "[\"host-0005=limited\",\"host-0007\"]}");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char words[96];

		enforce(&play, 12 - rows[i].at, 0x8005, false, false);
		enforce(&play, rows[i].at, rows[i].key, rows[i].in, rows[i].out);
		snprintf(words, sizeof(words),
			 "port 1, at the cable of host-%04u, drops packets of "
			 "partition 0x0005",
			 rows[i].at);
		CU_ASSERT(ask_5_7(&play,
				  rows[i].passes ? "\"obstacle\":null" : "\"code\":\"enforced\""));
		CU_ASSERT(rows[i].passes || control_has(0, words));
	}
	control_end(play.world);
}

static bool is_probing(const struct world *world)
{
	return window_stats(world->sm->window)->under_way > 0;
}

/* Its node disappears while the agent is queried, and the daemon stops before the answer. */
static void test_stops(void)
{
	struct play play = {0};

	begin(&play);
	up(&play);
	host(&play, 5)->silent = true;
	control_say(1, "{\"command\":\"why\",\"from\":\"host-0005\"}\n");
	CU_ASSERT_TRUE(sm_world_run(play.world, is_probing));
	sm_world_stop(play.world);
	CU_ASSERT_TRUE(sm_world_run(play.world, control_all_answered));
	CU_ASSERT(control_has(1, "the daemon is stopping"));
	control_end(play.world);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"generated cases", test_generated},
		{"ends", test_ends},
		{"a node is gone", test_gone},
		{"a switch is gone", test_gone_switch},
		{"known silence", test_known_silence},
		{"a held link", test_held},
		{"a loop", test_loop},
		{"no LID", test_lid_missing},
		{"switch ports that enforce", test_enforced},
		{"the daemon stops", test_stops},
		CU_TEST_INFO_NULL,
	};

	return unit_main("why", tests);
}
