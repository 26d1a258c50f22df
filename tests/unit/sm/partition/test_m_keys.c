/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The M_Key that a port should have, the keys that it may have, and the users of a wrong key:
 * sm/partition/m_keys.h. */
// WITH: tests/sim/loop_virtual.o tests/sim/work_inline.o
#include <errno.h>
#include <string.h>

#include "lib/crypto_hmac.h"
#include "sm/partition/m_keys.h"
#include "tests/unit/fixtures/model.h"
#include "tests/unit/fixtures/unit.h"

enum { HOST_A = 2, HOST_B = 3, SM_HOST = 4 };

/* Two switches on each other; hosts 2 and 3, and the manager's, on the first. */
static struct bed {
	struct model model;
	struct net *net;
	struct registry *registry;
	struct sm_options options;
	struct keys keys;
	unsigned walks;
} bed;

static struct port *port_of(unsigned node, unsigned port)
{
	return model_port(&bed.model, bed.net, node, port);
}

static guid_t guid_of(unsigned node, unsigned port)
{
	return port_facts(port_of(node, port))->guid;
}

static void begin(enum m_key_mode mode)
{
	bed = (struct bed){.options = {.m_key_mode = mode, .m_key = 0x11, .num_secrets = 1}};
	bed.net = net_new();
	net_put(bed.net, NODE_SWITCH, "one", 0, 6);
	net_put(bed.net, NODE_SWITCH, "two", 1, 6);
	net_put_hosts(bed.net, 0, 3);
	net_cable(bed.net, 0, 1);
	model_init(&bed.model);
	bed.registry = registry_new();
	model_fill(&bed.model, bed.net, 0, 1, SM_HOST, 1);
	bed.options.secret[0][0] = 1;
	keys_init(&bed.keys, bed.model.loop, bed.registry, bed.model.fabric, &bed.options);
}

static void end(void)
{
	keys_done(&bed.keys);
	model_done(&bed.model);
	registry_free(bed.registry);
	net_free(bed.net);
}

static void walked(void *arg)
{
	(void)arg;
	bed.walks++;
	loop_stop(bed.model.loop, 0);
}

/* False: nothing was to be done. */
static bool settle(void)
{
	keys_settle(&bed.keys, walked, NULL);
	if (!bed.keys.walk.running)
		return false;
	loop_run(bed.model.loop);
	return true;
}

static struct m_key_entry record(unsigned node, unsigned port)
{
	const struct m_key_entry key = {.guid = guid_of(node, port)};
	const struct m_key_entry *found = registry_find(bed.registry, REGISTRY_M_KEY, &key);

	return found ? *found : (struct m_key_entry){0};
}

/* The port shows this key. */
static void shows(struct port *port, uint64_t key, uint8_t level)
{
	struct port_info info = *port_info(port);

	info.m_key = key;
	info.m_key_protect_bits = level;
	port_set_info(bed.model.fabric, port, &info);
}

static void all_show_keys(void)
{
	const struct roster *roster = fabric_roster(bed.model.fabric);

	for (size_t i = 0; i < roster->num_ends; i++) {
		const struct m_key_entry key = {.guid = port_facts(roster->ends[i])->guid};
		const struct m_key_entry *found = registry_find(bed.registry, REGISTRY_M_KEY, &key);

		shows(roster->ends[i], found ? found->m_key : 0, 2);
	}
}

static void test_hmac(void)
{
	/* RFC 4231, case 2. */
	static const uint8_t expected[] = {0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e};
	uint8_t out[CRYPTO_HMAC_SIZE];

	crypto_hmac("Jefe", 4, "what do ya want for nothing?", 28, out);
	CU_ASSERT_EQUAL(memcmp(out, expected, sizeof(expected)), 0);
}

static void test_modes(void)
{
	struct m_key_entry a, b;

	begin(M_KEY_NONE);
	CU_ASSERT_FALSE(settle());
	CU_ASSERT_EQUAL(registry_number(bed.registry), 0);
	end();

	begin(M_KEY_SUBNET);
	CU_ASSERT_TRUE(settle());
	CU_ASSERT_EQUAL(record(HOST_A, 1).m_key, 0x11);
	CU_ASSERT_EQUAL(record(0, 0).m_key, 0x11);
	CU_ASSERT_EQUAL(registry_count(bed.registry, REGISTRY_NEIGHBOR), 0);
	/* Derived, it is still the same for all. */
	bed.options.m_key = 0;
	keys_changed(&bed.keys, false);
	CU_ASSERT_TRUE(settle());
	a = record(HOST_A, 1);
	b = record(1, 0);
	CU_ASSERT(a.m_key && a.m_key != 0x11 && a.m_key == b.m_key);
	end();

	begin(M_KEY_PORT);
	CU_ASSERT_TRUE(settle());
	a = record(HOST_A, 1);
	b = record(HOST_B, 1);
	CU_ASSERT(a.m_key && b.m_key && a.m_key != b.m_key);
	CU_ASSERT_EQUAL(a.previous, 0);
	/* Keys; the neighbours of the switches' ports; those of the hosts' ports. */
	CU_ASSERT_EQUAL(bed.keys.recorded, 5 + 5 + 3);
	end();
}

static bool all_get_them(const void *ctx)
{
	return *(const bool *)ctx;
}

/* The first keys wait until all standbys would get them, or until a reload has accepted that they
 * do not. Keys that are set already stay. */
static void test_held_back(void)
{
	bool all = false;

	begin(M_KEY_PORT);
	keys_ask_first(&bed.keys, all_get_them, &all);
	CU_ASSERT_FALSE(settle());
	CU_ASSERT(bed.keys.held_back);
	CU_ASSERT_EQUAL(registry_count(bed.registry, REGISTRY_M_KEY), 0);
	all = true;
	CU_ASSERT_TRUE(settle());
	CU_ASSERT_FALSE(bed.keys.held_back);
	CU_ASSERT_EQUAL(registry_count(bed.registry, REGISTRY_M_KEY), 5);
	all = false; /* a new standby */
	keys_changed(&bed.keys, false);
	CU_ASSERT_TRUE(settle());
	CU_ASSERT_FALSE(bed.keys.held_back);
	end();

	begin(M_KEY_PORT);
	keys_ask_first(&bed.keys, all_get_them, &all);
	CU_ASSERT_FALSE(settle());
	keys_changed(&bed.keys, true);
	CU_ASSERT_TRUE(settle());
	CU_ASSERT_FALSE(bed.keys.held_back);
	CU_ASSERT_EQUAL(registry_count(bed.registry, REGISTRY_M_KEY), 5);
	end();

	/* A former manager has set keys, which a want of no keys would remove. */
	begin(M_KEY_SUBNET);
	keys_ask_first(&bed.keys, all_get_them, &all);
	shows(port_of(HOST_A, 1), 0x11, 2);
	CU_ASSERT_TRUE(settle());
	CU_ASSERT_FALSE(bed.keys.held_back);
	CU_ASSERT_EQUAL(registry_count(bed.registry, REGISTRY_M_KEY), 5);
	end();

	begin(M_KEY_NONE);
	keys_ask_first(&bed.keys, all_get_them, &all);
	CU_ASSERT_FALSE(settle());
	CU_ASSERT_FALSE(bed.keys.held_back);
	end();
}

/* In a steady state nothing changes, and no work is done. */
static void test_quiet(void)
{
	begin(M_KEY_PORT);
	port_of(HOST_A, 1)->lid = 7;
	settle();
	all_show_keys();
	CU_ASSERT_TRUE(settle());
	port_of(HOST_A, 1)->lid = 0;
	CU_ASSERT_EQUAL(bed.keys.protected, 5);
	CU_ASSERT_FALSE(settle());
	bed.model.fabric->topology++;
	CU_ASSERT_TRUE(settle());
	CU_ASSERT_EQUAL(bed.keys.recorded, 0);
	end();
}

/* The previous key is kept until the port shows the new key, and so is the key before it. */
static void test_rotation(void)
{
	struct port *host;
	struct m_key_entry entry;

	begin(M_KEY_SUBNET);
	settle();
	all_show_keys();
	settle();
	host = port_of(HOST_A, 1);
	host->lid = 7;
	bed.options.m_key = 0x22;
	keys_changed(&bed.keys, false);
	CU_ASSERT_TRUE(settle());
	entry = record(HOST_A, 1);
	CU_ASSERT(entry.m_key == 0x22 && entry.previous == 0x11 && !entry.older);
	CU_ASSERT_EQUAL(bed.keys.changing, 1);
	/* The port is silent now, so its key is unknown. */
	agent_m_key_doubt(host->agent);
	bed.options.m_key = 0x33;
	keys_changed(&bed.keys, false);
	settle();
	entry = record(HOST_A, 1);
	CU_ASSERT(entry.m_key == 0x33 && entry.previous == 0x22 && entry.older == 0x11);
	shows(host, 0x11, 2);
	settle();
	CU_ASSERT_EQUAL(record(HOST_A, 1).older, 0x11);
	shows(host, 0x33, 2);
	settle();
	entry = record(HOST_A, 1);
	CU_ASSERT(entry.m_key == 0x33 && !entry.previous && !entry.older);
	CU_ASSERT_EQUAL(bed.keys.changing, 0);
	/* Back to no keys: the record goes when the port has shown it. */
	bed.options.m_key_mode = M_KEY_NONE;
	keys_changed(&bed.keys, false);
	settle();
	entry = record(HOST_A, 1);
	CU_ASSERT(!entry.m_key && entry.previous == 0x33);
	shows(host, 0, 0);
	settle();
	CU_ASSERT_EQUAL(record(HOST_A, 1).guid, 0);
	host->lid = 0;
	end();
}

/* The possible keys of a port are tried in turn. A key that it showed is tried alone. */
static void test_attempts(void)
{
	struct port_info held = {.m_key = 0x33, .m_key_protect_bits = 2};
	struct m_key_entry entry;
	struct agent *agent;

	begin(M_KEY_SUBNET);
	agent = port_of(HOST_A, 1)->agent;
	entry = (struct m_key_entry){guid_of(HOST_A, 1), 0x22, 0x33, 0x11};
	registry_put(bed.registry, REGISTRY_M_KEY, &entry);
	agent->m_key = (struct m_key_have){0};
	CU_ASSERT_EQUAL(agent_m_key(agent, 0), 0x22);
	CU_ASSERT_EQUAL(agent_m_key(agent, 1), 0x33);
	CU_ASSERT_EQUAL(agent_m_key(agent, 2), 0x11); /* the policy's is the same: once */
	CU_ASSERT_EQUAL(agent_m_key(agent, 3), 0x22);
	agent_m_key_worked(agent, 0x33);
	CU_ASSERT_EQUAL(agent_m_key(agent, 0), 0x33);
	shows(port_of(HOST_A, 1), 0x33, 2);
	CU_ASSERT_EQUAL(agent_m_key(agent, 1), 0x33);
	/* While a Set() may have changed it both are tried; an answer that is older changes
	 * nothing. */
	agent_m_key_changes(agent, 0x22);
	shows(port_of(HOST_A, 1), 0x33, 2);
	CU_ASSERT_EQUAL(agent_m_key(agent, 0), 0x33);
	CU_ASSERT_EQUAL(agent_m_key(agent, 1), 0x22);
	shows(port_of(HOST_A, 1), 0x22, 2);
	CU_ASSERT_EQUAL(agent_m_key(agent, 1), 0x22);
	/* Hidden from the key that was used: that is none of its. */
	shows(port_of(HOST_A, 1), 0, 1);
	CU_ASSERT_FALSE(agent->m_key.known);
	/* Answers to a Set(): with the key, with a hidden key, or refused. */
	agent_m_key_taken(agent, 0x33, &held);
	CU_ASSERT(agent->m_key.known && agent->m_key.key == 0x33);
	held.m_key = 0;
	agent_m_key_taken(agent, 0x44, &held);
	CU_ASSERT_EQUAL(agent->m_key.key, 0x44);
	held.m_key_protect_bits = 0;
	agent_m_key_taken(agent, 0x44, &held);
	CU_ASSERT_EQUAL(agent->m_key.key, 0);
	end();
}

/* Behind a cable: first the key of the last neighbour, then those of missing ports, but not those
 * of present ports. */
static void test_beyond(void)
{
	const struct m_key_entry gone = {.guid = 0x777, .m_key = 0x7777};
	struct port *from;
	uint64_t key_a;

	begin(M_KEY_PORT);
	settle();
	registry_put(bed.registry, REGISTRY_M_KEY, &gone);
	key_a = record(HOST_A, 1).m_key;
	from = port_of(HOST_A, 1)->peer;
	fabric_unlink(bed.model.fabric, from);
	CU_ASSERT_EQUAL(m_key_beyond(bed.model.fabric, from, 0), key_a);
	CU_ASSERT_EQUAL(m_key_beyond(bed.model.fabric, from, 1), key_a);
	for (unsigned attempt = 2; attempt < 8; attempt++)
		CU_ASSERT_EQUAL(m_key_beyond(bed.model.fabric, from, attempt),
				attempt / 2 % 2 ? 0x7777 : key_a);
	/* A port that never had a neighbour: first without a key. */
	from = port_of(1, 6);
	CU_ASSERT_EQUAL(m_key_beyond(bed.model.fabric, from, 0), 0);
	CU_ASSERT_EQUAL(m_key_beyond(bed.model.fabric, from, 2), 0x7777);
	from->discovery.m_key_turn = 3;
	CU_ASSERT_EQUAL(m_key_beyond(bed.model.fabric, from, 0), 0x7777);
	end();
}

/* Host B to host A over the switch: the SMP came in by the port of B, then by the port of A. */
static void test_offender(void)
{
	struct notice_bad_m_key bad = {.lid = 7, .method = METHOD_SET, .dr_notice = 1};
	struct port *a, *b;
	json_t *status;

	begin(M_KEY_SUBNET);
	a = port_of(HOST_A, 1);
	b = port_of(HOST_B, 1);
	bad.dr_slid = LID_PERMISSIVE;
	bad.dr_hop_count = 2;
	bad.dr_return_path[1] = b->peer->num;
	bad.dr_return_path[2] = 1;
	keys_violation(&bed.keys, a, &bad);
	CU_ASSERT_EQUAL(keys_violations_of(&bed.keys, guid_of(HOST_B, 1)), 1);
	bad.dr_return_path[2] = 0; /* as Linux's drivers report it */
	keys_violation(&bed.keys, a, &bad);
	CU_ASSERT_EQUAL(keys_violations_of(&bed.keys, guid_of(HOST_B, 1)), 2);
	/* Paths that lead nowhere, or out of the array. */
	bad.dr_return_path[1] = 200;
	keys_violation(&bed.keys, a, &bad);
	bad.dr_hop_count = 63;
	keys_violation(&bed.keys, a, &bad);
	CU_ASSERT_EQUAL(keys_violations_of(&bed.keys, 0), 2);
	/* By LID: its own LID identifies nothing. */
	port_set_lid(bed.model.fabric, a, 7, 0);
	port_set_lid(bed.model.fabric, b, 8, 0);
	bad = (struct notice_bad_m_key){.lid = 8};
	keys_violation(&bed.keys, a, &bad);
	CU_ASSERT_EQUAL(keys_violations_of(&bed.keys, guid_of(HOST_B, 1)), 3);
	bad.lid = 7;
	keys_violation(&bed.keys, a, &bad);
	CU_ASSERT_EQUAL(keys_violations_of(&bed.keys, 0), 3);
	CU_ASSERT_EQUAL(bed.keys.own_violations, 0);
	/* A violation that this manager caused counts, too. */
	bad = (struct notice_bad_m_key){.dr_notice = 1, .dr_hop_count = 2};
	bad.dr_return_path[1] = port_of(SM_HOST, 1)->peer->num;
	keys_violation(&bed.keys, a, &bad);
	CU_ASSERT_EQUAL(bed.keys.violations, 7);
	CU_ASSERT_EQUAL(bed.keys.own_violations, 1);
	CU_ASSERT_EQUAL(keys_violations_of(&bed.keys, guid_of(SM_HOST, 1)), 1);
	status = keys_status(&bed.keys);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(status, "violations")), 7);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(status, "own_violations")), 1);
	json_decref(status);
	end();
}

/* No key is in any output. */
static void test_secrecy(void)
{
	json_t *status;
	char *text;

	begin(M_KEY_SUBNET);
	bed.options.m_key = UINT64_C(0xfeedfacecafebeef);
	settle();
	status = keys_status(&bed.keys);
	text = json_dumps(status, 0);
	CU_ASSERT_PTR_NULL(strstr(text, "eedfacecafe"));
	CU_ASSERT_PTR_NULL(strstr(text, "18369614221190021")); /* in decimal */
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(status, "recorded")), 5);
	free(text);
	json_decref(status);
	end();
}

static void test_import(void)
{
	static const char *const bad[] = {"[5]",
					  "[[\"0x1\"]]",
					  "[[\"0x0\",\"0x1\"]]",
					  "[[\"0x1\",\"1\"]]",
					  "[[\"0x1\",\"0x\"]]",
					  "[[\"0x1\",\"0x12345678901234567\"]]",
					  "[[\"0x1\",\"0x2\"],[\"0x3\",\"4\"]]"};
	json_t *rows = json_loads("[[\"0x77\",\"0x88\"],[\"0x78\",\"0x0\"]]", 0, NULL);
	const struct m_key_entry key = {.guid = 0x77}, *entry;
	unsigned taken = 0;
	const char *why;

	begin(M_KEY_SUBNET);
	CU_ASSERT_EQUAL(keys_import(&bed.keys, rows, &taken, &why), 0);
	CU_ASSERT_EQUAL(taken, 1);
	entry = registry_find(bed.registry, REGISTRY_M_KEY, &key);
	CU_ASSERT(entry && entry->m_key == 0x88);
	CU_ASSERT_EQUAL(keys_import(&bed.keys, rows, &taken, &why), 0);
	CU_ASSERT_EQUAL(taken, 0);
	json_decref(rows);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		uint64_t number = registry_number(bed.registry);

		rows = json_loads(bad[i], 0, NULL);
		CU_ASSERT_EQUAL(keys_import(&bed.keys, rows, &taken, &why), -EINVAL);
		CU_ASSERT_EQUAL(registry_number(bed.registry), number);
		CU_ASSERT_EQUAL(registry_count(bed.registry, REGISTRY_M_KEY), 1);
		json_decref(rows);
	}
	end();
}

static const CU_TestInfo tests[] = {
	{"HMAC", test_hmac},
	{"modes", test_modes},
	{"held back", test_held_back},
	{"nothing changes", test_quiet},
	{"rotation", test_rotation},
	{"keys by attempts", test_attempts},
	{"behind a cable", test_beyond},
	{"offenders", test_offender},
	{"no key is shown", test_secrecy},
	{"import", test_import},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	return unit_main("m_keys", tests);
}
