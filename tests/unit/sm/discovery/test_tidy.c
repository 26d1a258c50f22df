/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which cables and nodes remain at the end of a pass: sm/discovery/tidy.c. */
#include <stdio.h>

#include "sm/discovery/parts.h"
#include "tests/unit/fixtures/model.h"
#include "tests/unit/fixtures/unit.h"

enum { PASS = 5 };

/* Our own host at port 1 of the switch near; port 2 of near leads to port 2 of the switch far,
 * which has a host at port 1. */
enum { OURS, HOST, NEAR, FAR };

struct tidy {
	struct model model;
	struct net *net;
	struct discover *discover;
	struct port *near, *far, *host; /* the ends towards far, and the host */
	guid_t far_guid, host_guid;
};

static void seen(struct port *port)
{
	port->node->pass = PASS;
	port->discovery.read_pass = port->discovery.link_pass = PASS;
}

/* The end of a pass that has seen everything. */
static void tidy_begin(struct tidy *tidy, enum discover_kind kind)
{
	static const struct sm_options options;
	struct net *net = net_new();

	net_put(net, NODE_CA, "ours", 0, 1);
	net_put(net, NODE_CA, "host", 1, 1);
	net_put(net, NODE_SWITCH, "near", 0, 2);
	net_put(net, NODE_SWITCH, "far", 1, 2);
	net_connect(net, OURS, 1, NEAR, 1);
	net_connect(net, HOST, 1, FAR, 1);
	net_connect(net, NEAR, 2, FAR, 2);
	tidy->net = net;
	model_init(&tidy->model);
	model_fill(&tidy->model, net, 0, 1, OURS, 1);
	for (unsigned n = 0; n < net->count; n++)
		for (unsigned p = 1; p <= net->nodes[n].ports; p++) {
			struct port *port = model_port(&tidy->model, net, n, p);
			struct port_info info = *port_info(port);

			info.port_state = PORT_ACTIVE;
			port_set_info(tidy->model.fabric, port, &info);
			seen(port);
		}
	tidy->near = model_port(&tidy->model, net, NEAR, 2);
	tidy->far = model_port(&tidy->model, net, FAR, 2);
	tidy->host = model_port(&tidy->model, net, HOST, 1);
	tidy->far_guid = tidy->far->node->guid;
	tidy->host_guid = tidy->host->node->guid;
	tidy->discover =
		discover_new(tidy->model.loop, tidy->model.window, tidy->model.fabric, &options);
	tidy->discover->kind = kind;
	tidy->discover->pass = PASS;
}

static void tidy_end(struct tidy *tidy)
{
	discover_free(tidy->discover);
	model_done(&tidy->model);
	net_free(tidy->net);
}

/* The pass has not seen the switch far, and nothing behind it. */
static void not_seen(struct tidy *tidy, enum far_end probed)
{
	struct port *ports[] = {tidy->near, tidy->far, tidy->far->node->port + 1, tidy->host};

	for (size_t i = 0; i < ARRAY_SIZE(ports); i++)
		ports[i]->discovery.link_pass = PASS - 1;
	tidy->far->node->pass = tidy->host->node->pass = PASS - 1;
	tidy->near->discovery.far_end = probed;
}

static bool has(const struct tidy *tidy, guid_t guid)
{
	return fabric_find_node(tidy->model.fabric, guid) != NULL;
}

static void test_nothing_changed(void)
{
	struct tidy tidy;

	tidy_begin(&tidy, DISCOVER_HEAVY);
	slices_at_once(&discover_tidying, tidy.discover);
	CU_ASSERT_PTR_EQUAL(tidy.near->peer, tidy.far);
	CU_ASSERT_FALSE(tidy.far->node->silent);
	CU_ASSERT_EQUAL(tidy.model.fabric->num_links, 3);
	tidy_end(&tidy);
}

/* The end of a pass that has not seen the switch behind a cable. */
static void test_unseen_switch(void)
{
	static const struct {
		const char *name;
		enum discover_kind kind;
		enum far_end probed;
		enum link_trust link; /* of the end at near */
		bool unsound;	      /* the pass requests a heavy pass */
		bool kept, known;     /* the cable; the switch and its host */
	} rows[] = {
		{"silent", DISCOVER_HEAVY, FAR_END_SILENT, LINK_VERIFIED, false, true, true},
		{"another device answered", DISCOVER_HEAVY, FAR_END_SOUND, LINK_VERIFIED, false,
		 false, false},
		{"the link was lost", DISCOVER_HEAVY, FAR_END_SILENT, LINK_LOST, false, false,
		 false},
		{"lost, and the pass is in doubt", DISCOVER_HEAVY, FAR_END_SILENT, LINK_LOST, true,
		 false, true},
		{"another GUID", DISCOVER_HEAVY, FAR_END_DUPLICATE, LINK_VERIFIED, false, false,
		 false},
		{"another GUID, in doubt", DISCOVER_HEAVY, FAR_END_DUPLICATE, LINK_VERIFIED, true,
		 true, true},
		{"a light pass", DISCOVER_LIGHT, FAR_END_SOUND, LINK_VERIFIED, false, true, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tidy tidy;
		bool kept, known;

		tidy_begin(&tidy, rows[i].kind);
		not_seen(&tidy, rows[i].probed);
		tidy.near->discovery.link = rows[i].link;
		tidy.discover->report.want_heavy = rows[i].unsound;
		slices_at_once(&discover_tidying, tidy.discover);
		kept = tidy.near->peer != NULL;
		known = has(&tidy, tidy.far_guid);
		if (kept != rows[i].kept || known != rows[i].known)
			printf("    %s: cable %d, switch %d\n", rows[i].name, kept, known);
		CU_ASSERT_EQUAL(kept, rows[i].kept);
		CU_ASSERT_EQUAL(known, rows[i].known);
		CU_ASSERT_EQUAL(has(&tidy, tidy.host_guid), rows[i].known);
		if (known) {
			CU_ASSERT_EQUAL(tidy.far->node->silent, rows[i].kind == DISCOVER_HEAVY);
			CU_ASSERT_EQUAL(tidy.model.fabric->silent.count > 0,
					rows[i].kind == DISCOVER_HEAVY); /* for health */
		}
		tidy_end(&tidy);
	}
}

/* A cable that was found while cables were moved, and was not seen by a second pass, does not
 * exist. */
static void test_doubtful_cable(void)
{
	static const struct {
		uint64_t unsound_pass;
		bool seen_once, kept;
	} rows[] = {{PASS - 1, true, false}, {PASS - 1, false, true}, {PASS - 2, true, true}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tidy tidy;

		tidy_begin(&tidy, DISCOVER_HEAVY);
		not_seen(&tidy, FAR_END_SILENT);
		tidy.discover->unsound_pass = rows[i].unsound_pass;
		tidy.near->discovery.seen_once = rows[i].seen_once;
		slices_at_once(&discover_tidying, tidy.discover);
		CU_ASSERT_EQUAL(tidy.near->peer != NULL, rows[i].kept);
		CU_ASSERT_EQUAL(has(&tidy, tidy.far_guid), rows[i].kept);
		tidy_end(&tidy);
	}
}

/* A switch that answered its probe, and then no read, is silent. Its cable to another switch, which
 * the pass has not seen, stays. */
static void test_fell_mute(void)
{
	static const struct {
		uint64_t mute_pass;
		uint8_t state; /* of the end at near */
		bool kept;
	} rows[] = {
		{PASS, PORT_ACTIVE, true},
		{PASS, PORT_ARMED, true},
		{PASS, PORT_INIT, false},
		{PASS - 1, PORT_ACTIVE, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tidy tidy;
		struct port_info info;

		tidy_begin(&tidy, DISCOVER_HEAVY);
		info = *port_info(tidy.near);
		info.port_state = rows[i].state;
		port_set_info(tidy.model.fabric, tidy.near, &info);
		tidy.near->discovery.link = LINK_VERIFIED;
		tidy.near->discovery.link_pass = tidy.far->discovery.link_pass = PASS - 1;
		tidy.near->discovery.far_end = FAR_END_SILENT;
		tidy.far->node->mute_pass = rows[i].mute_pass;
		slices_at_once(&discover_tidying, tidy.discover);
		CU_ASSERT_EQUAL(tidy.near->peer != NULL, rows[i].kept);
		tidy_end(&tidy);
	}
}

/* A port that reports DOWN has no cable. The other end reports a link, so a heavy pass decides
 * where the switch is. */
static void test_ends_disagree(void)
{
	struct tidy tidy;
	struct port_info info;

	tidy_begin(&tidy, DISCOVER_LIGHT);
	info = *port_info(tidy.far);
	info.port_state = PORT_DOWN;
	port_set_info(tidy.model.fabric, tidy.far, &info);
	slices_at_once(&discover_tidying, tidy.discover);
	CU_ASSERT_PTR_NULL(tidy.near->peer);
	CU_ASSERT_TRUE(discover_report(tidy.discover)->want_heavy);
	CU_ASSERT_TRUE(has(&tidy, tidy.far_guid));
	tidy_end(&tidy);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"nothing changed", test_nothing_changed},
		{"a switch that was not seen", test_unseen_switch},
		{"a doubtful cable", test_doubtful_cable},
		{"a switch that fell mute", test_fell_mute},
		{"the ends disagree", test_ends_disagree},
		CU_TEST_INFO_NULL,
	};

	log_set_level(NULL, LOG_CRIT);
	return unit_main("tidy", tests);
}
