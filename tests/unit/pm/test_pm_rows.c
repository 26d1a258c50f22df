/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Rows of perf commands about ports and links: rates and load, of the busier direction; null for
 * unknown values; counters that rose or are full; the peer of a port. Two leaves, 0 and 1, with two
 * hosts each, and two spines.
 */
#include "pm/names.h"
#include "pm/rows.h"

#include <math.h>
#include <string.h>

#include "tests/unit/fixtures/snapshot_from.h"
#include "tests/unit/fixtures/unit.h"

enum { PORTS = 4, DDR = 2 };

static struct view view;

/* 4x QDR: 40 Gb/s. */
static struct node_facts *make_facts(enum node_type type, const char *description, guid_t guid)
{
	struct node_info info = {.node_type = type, .num_ports = PORTS, .node_guid = guid};
	struct node_facts *facts = facts_new(&info);

	snprintf(facts->description, sizeof(facts->description), "%s", description);
	for (unsigned p = 1; p <= PORTS; p++)
		facts->port[p].info = (struct port_info){.port_state = PORT_ACTIVE,
							 .link_width_supported = 3,
							 .link_width_active = 2,
							 .link_speed_supported = 7,
							 .link_speed_active = 4};
	return facts;
}

static void begin(void)
{
	struct net *net = net_tree2(2, 2, 2, 1);
	char name[24];

	view.topology = snapshot_from_net(net, 0);
	net_free(net);
	for (uint32_t s = 0; s < view.topology->num_switches; s++) {
		snprintf(name, sizeof(name), "switch %u", s);
		view.topology->switches[s].facts =
			make_facts(NODE_SWITCH, name, view.topology->switches[s].guid);
	}
	for (uint32_t e = 0; e < view.topology->num_ends; e++) {
		snprintf(name, sizeof(name), "host %u", e);
		view.topology->ends[e].facts =
			make_facts(NODE_CA, name, view.topology->ends[e].guid - 1);
	}
}

static void end(void)
{
	snapshot_unref(view.topology);
}

/* Parses the output. Adds the end if the output is members of an object. Returns a new reference.
 */
static json_t *parsed(struct buffer *out, bool is_members)
{
	json_t *value;

	if (is_members)
		row_end(out, '}');
	value = json_loadb(out->bytes + out->begin, buffer_length(out), JSON_DECODE_ANY, NULL);
	free(out->bytes);
	CU_ASSERT_PTR_NOT_NULL_FATAL(value);
	return value;
}

static json_t *rates_of(const struct pm_agent *agent, const struct pm_port *port)
{
	struct buffer out = {0};

	pm_rates_row(agent, 1, port, NULL, &out);
	return parsed(&out, false);
}

static json_t *link_of(const struct pm_slow_link *link)
{
	struct buffer out = {0};

	pm_link_row(&view, link, &out);
	return parsed(&out, false);
}

static double real(const json_t *row, const char *name)
{
	return json_real_value(json_object_get(row, name));
}

static const char *string(const json_t *row, const char *name)
{
	return json_string_value(json_object_get(row, name));
}

static void test_rates(void)
{
	struct pm_agent agent = {0};
	struct pm_port port = {.wait_rate = -1};
	json_t *row;

	begin();
	agent.facts = view.topology->switches[0].facts;
	row = rates_of(&agent, &port);
	CU_ASSERT(json_is_null(row)); /* never read */
	json_decref(row);
	row = rates_of(&agent, NULL);
	CU_ASSERT(json_is_null(row));
	json_decref(row);

	port.read_us = 1;
	port.rate[TRAFFIC_XMIT_DATA] = 1e8f;
	port.rate[TRAFFIC_RCV_DATA] = 5e8f;
	port.rate[TRAFFIC_XMIT_PKTS] = 11;
	port.rate[TRAFFIC_RCV_PKTS] = 12;
	row = rates_of(&agent, &port);
	CU_ASSERT(fabs(real(row, "xmit_bytes") - 4e8) < 1e3);
	CU_ASSERT(fabs(real(row, "rcv_bytes") - 2e9) < 1e4);
	CU_ASSERT_EQUAL(real(row, "xmit_pkts"), 11);
	CU_ASSERT_EQUAL(real(row, "rcv_pkts"), 12);
	CU_ASSERT(json_is_null(json_object_get(row, "xmit_wait")));
	CU_ASSERT(fabs(real(row, "utilization") - 40) < 0.01); /* 16 Gb/s of 40 */
	CU_ASSERT_STRING_EQUAL(string(row, "width_speed"), "4x QDR");
	json_decref(row);

	port.rate[TRAFFIC_XMIT_DATA] = 1e9f; /* the busier one now */
	port.wait_rate = 7;
	row = rates_of(&agent, &port);
	CU_ASSERT(fabs(real(row, "utilization") - 80) < 0.01);
	CU_ASSERT_EQUAL(real(row, "xmit_wait"), 7);
	json_decref(row);

	port.rate[TRAFFIC_XMIT_DATA] = port.rate[TRAFFIC_RCV_DATA] = -1; /* read once */
	row = rates_of(&agent, &port);
	CU_ASSERT(json_is_null(json_object_get(row, "utilization")));
	CU_ASSERT(json_is_null(json_object_get(row, "xmit_bytes")));
	json_decref(row);

	port.rate[TRAFFIC_XMIT_DATA] = 1e9f;
	agent.facts->port[1].info.link_width_active = 0;
	row = rates_of(&agent, &port);
	CU_ASSERT(json_is_null(json_object_get(row, "utilization")));
	CU_ASSERT_STRING_EQUAL(string(row, "width_speed"), "unknown");
	json_decref(row);
	end();
}

static void test_errors(void)
{
	struct pm_port port = {.rose = UINT32_C(1) << SELECT_XMIT_WAIT};
	struct buffer out = {0};
	json_t *row, *counters;

	port.error[ERROR_LINK_DOWNED] = 255; /* all of its 8 bits */
	port.error_gone[ERROR_LINK_DOWNED] = 1000;
	port.error_gone[ERROR_SYMBOL] = 5;
	port.wait = 9;
	port.traffic[TRAFFIC_XMIT_DATA] = 77;
	row_begin(&out, NULL, '{');
	pm_error_members(&port, &out);
	row = parsed(&out, true);
	counters = json_object_get(row, "counters");
	CU_ASSERT_EQUAL(json_object_size(counters), 3);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(counters, "LinkDownedCounter")), 1255);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(counters, "SymbolErrorCounter")), 5);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(counters, "PortXmitWait")), 9);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(row, "rose")), 1);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_array_get(json_object_get(row, "rose"), 0)),
			       "PortXmitWait");
	CU_ASSERT_EQUAL(json_array_size(json_object_get(row, "full")), 1);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_array_get(json_object_get(row, "full"), 0)),
			       "LinkDownedCounter");
	json_decref(row);
}

/* Expects this "description port" of the peer; empty: unknown. */
static void expect_peer(struct pm_agent *agent, uint8_t num, const struct view *seen,
			const char *wanted)
{
	struct buffer out = {0};
	json_t *row, *peer;
	char text[96] = "";

	row_begin(&out, NULL, '{');
	pm_port_members(agent, num, seen, &out);
	row = parsed(&out, true);
	peer = json_object_get(row, "peer");
	if (!json_is_null(peer))
		snprintf(text, sizeof(text), "%s %d", string(peer, "description"),
			 (int)json_integer_value(json_object_get(peer, "port")));
	CU_ASSERT_STRING_EQUAL(text, wanted);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(row, "port")), num);
	json_decref(row);
}

static void test_peers(void)
{
	struct pm_agent leaf = {.is_switch = true}, host = {0}, unknown = {.guid = 0xdead};
	struct snap_end *pair;

	begin();
	leaf.guid = view.topology->switches[1].guid;
	leaf.facts = unknown.facts = view.topology->switches[1].facts;
	host.guid = view.topology->ends[3].guid;
	host.facts = view.topology->ends[3].facts;
	expect_peer(&leaf, 1, &view, "host 2 1");
	expect_peer(&leaf, 4, &view, "switch 3 2");
	expect_peer(&leaf, 6, &view, ""); /* the first of the next switch has that place */
	expect_peer(&leaf, 1, NULL, "");
	expect_peer(&unknown, 1, &view, "");
	expect_peer(&host, 1, &view, "switch 1 2");
	pair = &view.topology->ends[3]; /* cabled to another host, at its second port */
	pair->sw = -1;
	pair->peer = 0;
	view.topology->ends[0].port = 2;
	expect_peer(&host, 1, &view, "host 0 2");
	pair->peer = -1;
	expect_peer(&host, 1, &view, "");
	end();
}

static void test_slow_links(void)
{
	const struct pm_slow_link to_host = {.sw = 0, .port = 2}, to_switch = {.sw = 0, .port = 3};
	json_t *row;

	begin();
	view.topology->switches[0].facts->port[3].info.link_width_active = 1;
	row = link_of(&to_switch);
	CU_ASSERT_STRING_EQUAL(string(row, "width_speed"), "1x QDR");
	CU_ASSERT_STRING_EQUAL(string(row, "could"), "4x QDR");
	CU_ASSERT_STRING_EQUAL(string(json_object_get(row, "from"), "description"), "switch 0");
	CU_ASSERT_STRING_EQUAL(string(json_object_get(row, "to"), "description"), "switch 2");
	json_decref(row);
	view.topology->switches[0].facts->port[2].info.link_speed_active = DDR;
	row = link_of(&to_host);
	CU_ASSERT_STRING_EQUAL(string(row, "width_speed"), "4x DDR");
	CU_ASSERT_STRING_EQUAL(string(row, "could"), "4x QDR");
	CU_ASSERT_STRING_EQUAL(string(json_object_get(row, "to"), "description"), "host 1");
	json_decref(row);
	end();
}

/* The speeds that ibqueryerrors prints, by the nominal rate of a lane. */
static void test_lane_speeds(void)
{
	static const struct {
		unsigned deci_gbps;
		double gbps;
	} rows[] = {{25, 2.5},	     {50, 5},	    {100, 10},	    {140, 14.0625},
		    {250, 25.78125}, {500, 53.125}, {1000, 106.25}, {2000, 212.5}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CU_ASSERT_DOUBLE_EQUAL(naming_lane_gbps(rows[i].deci_gbps), rows[i].gbps, 1e-9);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"speeds of lanes", test_lane_speeds},
		{"rates", test_rates},
		{"errors", test_errors},
		{"where cables lead", test_peers},
		{"slow links", test_slow_links},
		CU_TEST_INFO_NULL,
	};

	return unit_main("pm_rows", tests);
}
