/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Links that are lost and return: their entries in the live model, and the log lines. */
#include <stdio.h>
#include <string.h>

#include "sm/discovery/links.h"
#include "tests/unit/fixtures/model.h"
#include "tests/unit/fixtures/unit.h"

struct lines {
	struct model model;
	struct net *net;
	struct log_limit limit;
	char text[16384];
};

/* hub with hosts host-1 ... host-N at its ports 1 ... N, and a switch tail behind the last port. */
static void lines_init(struct lines *lines, unsigned hosts)
{
	struct net *net = net_new();

	*lines = (struct lines){.net = net, .limit = {.burst = 100, .interval_us = 1000000}};
	net_put(net, NODE_SWITCH, "hub", 0, hosts + 1);
	for (unsigned i = 1; i <= hosts; i++) {
		net_put(net, NODE_CA, "host", i, 1);
		net_connect(net, 0, i, (int)i, 1);
	}
	net_put(net, NODE_SWITCH, "tail", 0, 2);
	model_init(&lines->model);
	model_fill(&lines->model, net, 0, 1, 1, 1);
	for (unsigned n = 0; n < net->count; n++) {
		struct node *node = model_port(&lines->model, net, n, 0)->node;

		node_set_description(lines->model.fabric, node, net->nodes[n].id);
	}
}

static void lines_done(struct lines *lines)
{
	model_done(&lines->model);
	net_free(lines->net);
}

static struct port *at(const struct lines *lines, unsigned node, unsigned port)
{
	return model_port(&lines->model, lines->net, node, port);
}

static void set_state(struct lines *lines, struct port *port, uint8_t state)
{
	struct port_info info = *port_info(port);

	info.port_state = state;
	port_set_info(lines->model.fabric, port, &info);
}

/* The lines that are logged now. */
static const char *tell(struct lines *lines)
{
	struct unit_capture capture;

	unit_capture_begin(&capture);
	log_set_level(NULL, LOG_NOTICE);
	links_tell(lines->model.fabric, &lines->limit);
	log_set_level(NULL, LOG_CRIT);
	unit_capture_end(&capture, lines->text, sizeof(lines->text));
	return lines->text;
}

static unsigned count_of(const char *text, const char *what)
{
	unsigned times = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		times++;
	return times;
}

static void test_bring_up_is_no_news(void)
{
	struct lines lines;

	lines_init(&lines, 3);
	CU_ASSERT_STRING_EQUAL(tell(&lines), "");
	CU_ASSERT_STRING_EQUAL(tell(&lines), "");
	fabric_unlink(lines.model.fabric, at(&lines, 0, 2));
	links_forget(lines.model.fabric);
	fabric_unlink(lines.model.fabric, at(&lines, 0, 3));
	CU_ASSERT_STRING_EQUAL(tell(&lines), "");
	fabric_link(lines.model.fabric, at(&lines, 0, 3), at(&lines, 3, 1));
	CU_ASSERT_PTR_NOT_NULL(strstr(tell(&lines), "link up: "));
	lines_done(&lines);
}

/* Changes of the link between the hub's port 2 and host-2, and the resulting line. */
static void test_fates(void)
{
	static const struct {
		const char
			*acts; /* d: unlinked, u: linked, i: port falls to INIT, a: goes ACTIVE */
		const char *word; /* NULL: no line */
	} rows[] = {
		{"", NULL},
		{"d", "link down: "},
		{"du", "link down for a moment: "},
		{"dud", "link down: "},
		{"ai", "link down for a moment: "},
		{"aid", "link down: "},
		{"aidu", "link down for a moment: "},
		{"a", NULL},
		{"dd", "link down: "},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lines lines;
		char want[128] = "";
		struct port *port;

		lines_init(&lines, 3);
		port = at(&lines, 0, 2);
		tell(&lines);
		for (const char *act = rows[i].acts; *act; act++) {
			if (*act == 'd')
				fabric_unlink(lines.model.fabric, port);
			else if (*act == 'u')
				fabric_link(lines.model.fabric, at(&lines, 2, 1), port);
			else
				set_state(&lines, port, *act == 'a' ? PORT_ACTIVE : PORT_INIT);
		}
		if (rows[i].word)
			snprintf(want, sizeof(want), "%s\"hub-0\" port 2 - \"host-2\" port 1",
				 rows[i].word);
		tell(&lines);
		CU_ASSERT_EQUAL(count_of(lines.text, "link "), rows[i].word != NULL);
		CU_ASSERT_PTR_NOT_NULL(strstr(lines.text, want));
		CU_ASSERT_STRING_EQUAL(tell(&lines), ""); /* once */
		lines_done(&lines);
	}
}

/* A moved cable, a cable that returned, a dropped node, and a node whose name is read after its
 * link. */
static void test_names(void)
{
	struct lines lines;
	struct fabric *fabric;
	struct port *last;

	lines_init(&lines, 3);
	fabric = lines.model.fabric;
	last = at(&lines, 0, 4);
	tell(&lines);
	fabric_link(fabric, at(&lines, 4, 1), at(&lines, 3, 1));
	tell(&lines);
	CU_ASSERT_EQUAL(count_of(lines.text, "\n"), 2);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(lines.text, "link down: \"hub-0\" port 3 - \"host-3\" port 1"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(lines.text, "link up: \"host-3\" port 1 - \"tail-0\" port 1"));

	fabric_link(fabric, last, at(&lines, 4, 2));
	fabric_unlink(fabric, last);
	CU_ASSERT_STRING_EQUAL(tell(&lines), "");

	fabric_link(fabric, last, at(&lines, 4, 2));
	node_set_description(fabric, at(&lines, 4, 0)->node, "late");
	fabric_drop_node(fabric, at(&lines, 2, 1)->node);
	tell(&lines);
	CU_ASSERT_EQUAL(count_of(lines.text, "\n"), 2);
	CU_ASSERT_PTR_NOT_NULL(strstr(lines.text, "link up: \"hub-0\" port 4 - \"late\" port 2"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(lines.text, "link down: \"hub-0\" port 2 - \"host-2\" port 1"));
	lines_done(&lines);
}

/* Eight links are named, nine give one line. Links beyond the list are still counted. */
static void test_many(void)
{
	static const unsigned numbers[] = {8, 9, 250};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct lines lines;
		char want[128];

		lines_init(&lines, 250);
		tell(&lines);
		for (unsigned port = 1; port <= numbers[i]; port++)
			fabric_unlink(lines.model.fabric, at(&lines, 0, port));
		tell(&lines);
		if (numbers[i] == 8) {
			CU_ASSERT_EQUAL(count_of(lines.text, "link down: \"hub-0\" port "), 8);
			lines_done(&lines);
			continue;
		}
		snprintf(want, sizeof(want),
			 "links: %u down, 0 up, 0 down for a moment; %u of them at "
			 "\"hub-0\"",
			 numbers[i], numbers[i]);
		CU_ASSERT_EQUAL(count_of(lines.text, "\n"), 1);
		CU_ASSERT_PTR_NOT_NULL(strstr(lines.text, want));
		lines_done(&lines);
	}
}

static void test_more_than_the_list_holds(void)
{
	struct lines lines;
	struct port *hub, *tail;

	lines_init(&lines, 250);
	tell(&lines);
	for (unsigned port = 1; port <= 250; port++)
		fabric_unlink(lines.model.fabric, at(&lines, 0, port));
	tail = at(&lines, 251, 1);
	for (unsigned host = 1; host <= 20; host++)
		fabric_link(lines.model.fabric, tail,
			    at(&lines, host, 1)); /* cuts the one before */
	hub = at(&lines, 0, 7);
	fabric_link(lines.model.fabric, hub, at(&lines, 7, 1)); /* it has its entry */
	tell(&lines);
	CU_ASSERT_EQUAL(count_of(lines.text, "\n"), 1);
	/* 6 of the 20 links have entries: they were lost and are back. Of the other 14, each return
	 * is counted, and each loss except the last. */
	CU_ASSERT_PTR_NOT_NULL(strstr(lines.text, "links: 262 down, 14 up, 1 down for a moment; "
						  "at least 250 of them at \"hub-0\""));
	CU_ASSERT_STRING_EQUAL(tell(&lines), "");
	lines_done(&lines);
}

static void test_rate(void)
{
	struct lines lines;

	lines_init(&lines, 5);
	lines.limit = (struct log_limit){.burst = 2, .interval_us = UINT64_C(1000000000000)};
	tell(&lines);
	for (unsigned port = 1; port <= 5; port++)
		fabric_unlink(lines.model.fabric, at(&lines, 0, port));
	CU_ASSERT_EQUAL(count_of(tell(&lines), "link down: "), 2);
	lines_done(&lines);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"a bring-up is no news", test_bring_up_is_no_news},
		{"fates", test_fates},
		{"names", test_names},
		{"many at once", test_many},
		{"more than the list holds", test_more_than_the_list_holds},
		{"rate", test_rate},
		CU_TEST_INFO_NULL,
	};

	return unit_main("links", tests);
}
