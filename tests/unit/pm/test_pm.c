/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Sweeps over the counters of a switch with three hosts, whose agents the test plays. The tests
 * cover the requests and how many are under way, refusals, silence, redirections, invalid values,
 * resets, and ports that appear and disappear. pm/sweep.c, reader.c, agent.c, survey.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/event.h"
#include "lib/be.h"
#include "pm/context.h"
#include "pm/survey.h"
#include "tests/unit/fixtures/control_client.h"
#include "tests/unit/fixtures/star.h"
#include "tests/unit/fixtures/unit.h"
#include "tests/unit/fixtures/wire.h"

enum {
	STAR_HOSTS = 3,
	PORTS = 2 * STAR_HOSTS,
	AGENTS = STAR_HOSTS + 1,
	ALL_QUESTIONS = AGENTS + 2 * PORTS
};
enum { SW_LID = 1, REDIRECT_LID = 77, REDIRECT_QP = 0x1234, P_KEY = 0x8005 };

/* One agent, by its LID: hosts have 1 + h. */
struct fake {
	struct port_counters few[STAR_HOSTS + 1];
	struct port_counters_extended wide[STAR_HOSTS + 1];
	struct class_port_info info;
	bool silent, no_info, no_extended, keeps_all, other_port, by_status;
	uint8_t narrow; /* bits of ports that have no extended counters */
	unsigned sets, infos;
};

struct bed {
	struct loop *loop;
	struct wire wire;
	struct txn_table *txns;
	struct event_hub hub;
	struct view *view;
	struct pm *pm;
	struct fake fake[STAR_HOSTS + 2]; /* by LID; 0: the target of a redirection */
	struct loop_deferred player;
	size_t played;
	unsigned most;	/* requests under way at a time */
	bool serves;	/* a control socket: the player goes on without a sweep */
	size_t stop_at; /* after so many requests not MASTER; 0: never */
	uint32_t set_select;
	uint16_t default_index; /* that requests must have, without a redirection */
};

static struct bed bed;

/* Agents */

static struct fake *fake_of(const struct mad_addr *to)
{
	if (to->lid == REDIRECT_LID) {
		CU_ASSERT_EQUAL(to->qpn, REDIRECT_QP);
		CU_ASSERT_EQUAL(to->q_key, 0x8765);
		CU_ASSERT_EQUAL(to->pkey_index, 2);
		return &bed.fake[0];
	}
	CU_ASSERT_FATAL(to->lid >= SW_LID && to->lid < SW_LID + AGENTS);
	CU_ASSERT_EQUAL(to->qpn, 1);
	CU_ASSERT_EQUAL(to->pkey_index, bed.default_index);
	return &bed.fake[to->lid];
}

static void reset(struct fake *fake, uint8_t num, uint32_t select)
{
	for (unsigned bit = 0; bit < PORT_COUNTERS_SELECTED && !fake->keeps_all; bit++)
		if (select >> bit & 1)
			format_put(&port_counters_format, port_counters_rows[bit], &fake->few[num],
				   0);
}

/* Fills the data of an answer; its status. */
static uint16_t play_counters(struct fake *fake, bool is_set, uint8_t *data)
{
	struct port_counters asked, answer;
	uint32_t select;

	format_decode(&port_counters_format, data, &asked);
	CU_ASSERT_FATAL(asked.port_select <= STAR_HOSTS);
	select = asked.counter_select | (uint32_t)asked.counter_select2 << SELECT_XMIT_WAIT;
	if (is_set) {
		fake->sets++;
		bed.set_select = select;
		reset(fake, asked.port_select, select);
	}
	answer = fake->few[asked.port_select];
	answer.port_select = asked.port_select + fake->other_port;
	format_encode(&port_counters_format, &answer, data);
	return STATUS_OK;
}

static void reset_extended(struct fake *fake, const struct port_counters_extended *asked)
{
	uint64_t select = asked->counter_select | (uint64_t)asked->counter_select2
							  << SELECT_EXTENDED_ERRORS;

	for (unsigned bit = 0; bit < PORT_COUNTERS_EXTENDED_SELECTED && !fake->keeps_all; bit++)
		if (select >> bit & 1 && port_counters_extended_rows[bit])
			format_put(&port_counters_extended_format, port_counters_extended_rows[bit],
				   &fake->wide[asked->port_select], 0);
}

static uint16_t play_extended(struct fake *fake, bool is_set, uint8_t *data)
{
	struct port_counters_extended asked, answer;

	format_decode(&port_counters_extended_format, data, &asked);
	CU_ASSERT_FATAL(asked.port_select <= STAR_HOSTS);
	if (fake->no_extended)
		return STATUS_UNSUP_METHOD_ATTR;
	if (fake->narrow >> asked.port_select & 1)
		return STATUS_INVALID_VALUE;
	if (is_set)
		reset_extended(fake, &asked);
	answer = fake->wide[asked.port_select];
	answer.port_select = asked.port_select;
	format_encode(&port_counters_extended_format, &answer, data);
	return STATUS_OK;
}

static uint16_t play_info(struct fake *fake, uint8_t *data)
{
	fake->infos++;
	if (fake->no_info)
		return STATUS_UNSUP_METHOD_ATTR;
	format_encode(&class_port_info_format, &fake->info, data);
	return STATUS_OK;
}

static void play(size_t n)
{
	struct wire_mad *sent = &bed.wire.sent[n];
	struct fake *fake = fake_of(&sent->to);
	uint8_t answer[MAD_SIZE], *data = answer + PERF_DATA_OFFSET;
	struct mad_header header;
	uint16_t status;

	wire_make_answer(&bed.wire, n, STATUS_OK, answer);
	header_decode(sent->mad, &header);
	CU_ASSERT_EQUAL(header.mgmt_class, CLASS_PERF);
	if (fake->silent) {
		wire_time_out(&bed.wire, n);
		return;
	}
	if (fake->by_status) {
		be16_store(answer + 16, ATTR_CLASS_PORT_INFO);
		play_info(fake, data);
		status = STATUS_REDIRECT;
	} else if (header.attr_id == ATTR_CLASS_PORT_INFO) {
		status = play_info(fake, data);
	} else if (header.attr_id == PERF_PORT_COUNTERS) {
		status = play_counters(fake, header.method == METHOD_SET, data);
	} else {
		CU_ASSERT_EQUAL(header.attr_id, PERF_PORT_COUNTERS_EXTENDED);
		status = play_extended(fake, header.method == METHOD_SET, data);
	}
	be16_store(answer + 4, status);
	wire_receive(&bed.wire, answer, MAD_SIZE);
}

/* Answers the new requests; ends the loop with the sweep. */
static void player(void *arg)
{
	size_t count = bed.wire.count;

	(void)arg;
	if (count - bed.played > bed.most)
		bed.most = (unsigned)(count - bed.played);
	if (bed.stop_at && count >= bed.stop_at) {
		event_raise(&bed.hub, &(struct event){.kind = EVENT_NOT_MASTER});
		bed.stop_at = 0;
	}
	while (bed.played < count)
		play(bed.played++);
	if (bed.pm->sweeping || bed.serves)
		loop_defer(&bed.player);
	else
		loop_stop(bed.loop, 0);
}

static const struct pm_options options = {.window = 500, .reset = true};

static void begin_with(const struct pm_options *chosen)
{
	struct snapshot *snapshot;

	bed = (struct bed){.loop = loop_new(), .view = star(STAR_HOSTS, 0), .default_index = 1};
	snapshot = bed.view->topology;
	snapshot->sm_end = 0;
	for (unsigned num = 1; num <= STAR_HOSTS; num++) {
		snapshot->switches[0].facts->port[num].info.port_state = PORT_ACTIVE;
		snapshot->ends[num - 1].facts->port[1].info.port_state = PORT_ACTIVE;
		snapshot->ends[num - 1].lid = (lid_t)(SW_LID + num);
	}
	for (unsigned lid = 0; lid < ARRAY_SIZE(bed.fake); lid++)
		bed.fake[lid].info.capability_mask = PERF_EXTENDED_WIDTH | PERF_XMIT_WAIT;
	wire_init(&bed.wire);
	bed.txns = txn_table_new(bed.loop, &bed.wire.transport);
	event_hub_init(&bed.hub);
	bed.pm = pm_new(bed.loop, bed.txns, &bed.view, &bed.hub, chosen);
	loop_deferred_init(&bed.player, bed.loop, "player", player, NULL);
}

static void begin(void)
{
	begin_with(&options);
}

static void end(void)
{
	pm_free(bed.pm);
	loop_defer_cancel(&bed.player);
	txn_table_free(bed.txns);
	wire_done(&bed.wire);
	view_publish(&bed.view, NULL);
	loop_free(bed.loop);
}

/* One sweep; the figures of it. */
static const struct pm_sweep_figures *sweep(void)
{
	CU_ASSERT(pm_sweep_begin(bed.pm));
	loop_defer(&bed.player);
	loop_run(bed.loop);
	CU_ASSERT_EQUAL(bed.pm->busy, 0);
	return &bed.pm->last;
}

static struct pm_port *port_of(bool is_switch, guid_t guid, uint8_t num)
{
	const struct pm_key key = {guid, is_switch, num};
	struct pm_agent *agent;

	return pm_find_port(bed.pm, &key, &agent);
}

static struct pm_port *switch_port(uint8_t num)
{
	return port_of(true, 1, num);
}

static struct pm_port *host_port(unsigned host)
{
	return port_of(false, 100 + host, 1);
}

/* Tests */

static void test_all(void)
{
	const struct pm_sweep_figures *figures;

	begin();
	bed.fake[SW_LID].few[2].symbol_errors = 5;
	bed.fake[SW_LID + 3].wide[1].xmit_data = UINT64_C(1) << 40;
	figures = sweep();
	CU_ASSERT_EQUAL(figures->agents, AGENTS);
	CU_ASSERT_EQUAL(figures->counts.ports, PORTS);
	CU_ASSERT_EQUAL(figures->counts.requests, ALL_QUESTIONS);
	CU_ASSERT_EQUAL(figures->counts.answered, ALL_QUESTIONS);
	CU_ASSERT_EQUAL(bed.most, AGENTS); /* each has one */
	CU_ASSERT_EQUAL(pm_total(switch_port(2), ERROR_SYMBOL), 5);
	CU_ASSERT_EQUAL(host_port(2)->traffic[TRAFFIC_XMIT_DATA], UINT64_C(1) << 40);
	/* The functions of the agents are known now. */
	CU_ASSERT_EQUAL(sweep()->counts.requests, 2 * PORTS);
	CU_ASSERT_EQUAL(figures->number, 2);
	end();
}

/* The window bounds all requests under way. */
static void test_window(void)
{
	const struct pm_options narrow = {.window = 2};

	begin_with(&narrow);
	strcpy(bed.view->topology->switches[0].facts->description, "leaf");
	CU_ASSERT_EQUAL(sweep()->counts.ports, PORTS);
	CU_ASSERT_EQUAL(bed.most, 2);
	bed.fake[SW_LID].silent = true; /* a dead one holds its own place */
	CU_ASSERT_EQUAL(sweep()->counts.ports, STAR_HOSTS);
	CU_ASSERT_EQUAL(bed.pm->last.silent, 1);
	CU_ASSERT_STRING_EQUAL(bed.pm->last.silent_example, "leaf");
	CU_ASSERT_EQUAL(bed.pm->last.counts.timed_out, 3);
	bed.fake[SW_LID].silent = false;
	CU_ASSERT_EQUAL(sweep()->counts.ports, PORTS);
	CU_ASSERT_EQUAL(bed.pm->last.silent, 0);
	CU_ASSERT_EQUAL(bed.fake[SW_LID].infos, 2); /* queried again */
	end();
}

/* Links that are down, and a base port 0, count nothing. */
static void test_ports(void)
{
	struct node_facts *facts;

	begin();
	facts = bed.view->topology->switches[0].facts;
	facts->port[2].info.port_state = PORT_DOWN;
	CU_ASSERT_EQUAL(sweep()->counts.ports, PORTS - 1);
	CU_ASSERT_EQUAL(switch_port(2)->read_us, 0);
	facts->sw.enhanced_port0 = 1;
	CU_ASSERT_EQUAL(sweep()->counts.ports, PORTS);
	CU_ASSERT_NOT_EQUAL(switch_port(0)->read_us, 0);
	end();
}

static void test_refusals(void)
{
	begin();
	bed.fake[SW_LID].no_info = true; /* it has the small counters all the same */
	bed.fake[SW_LID].few[1].rcv_data = 8;
	bed.fake[SW_LID + 1].no_extended = true; /* it promises more than it has */
	bed.fake[SW_LID + 1].few[1].rcv_data = 9;
	bed.fake[SW_LID + 2].other_port = true; /* it speaks of another port */
	bed.fake[SW_LID + 2].few[1].rcv_data = 10;
	sweep();
	CU_ASSERT_EQUAL(bed.pm->last.counts.refused, 3);
	CU_ASSERT_EQUAL(bed.pm->last.silent, 0);
	sweep();
	CU_ASSERT_EQUAL(switch_port(1)->traffic[TRAFFIC_RCV_DATA], 8);
	CU_ASSERT_EQUAL(host_port(0)->traffic[TRAFFIC_RCV_DATA], 9);
	CU_ASSERT_EQUAL(host_port(1)->read_us, 0);
	CU_ASSERT_EQUAL(bed.pm->last.counts.refused, 1);
	end();
}

/* One port of a switch that has no PortCountersExtended leaves the others theirs. */
static void test_narrow_port(void)
{
	for (uint32_t errors = 0; errors <= PERF_EXTENDED_ERRORS; errors += PERF_EXTENDED_ERRORS) {
		begin();
		bed.fake[SW_LID].info.capability_mask2 = errors;
		bed.fake[SW_LID].narrow = 1u << 1;
		bed.fake[SW_LID].few[1].rcv_data = 8;
		bed.fake[SW_LID].few[1].link_downed = 5;
		bed.fake[SW_LID].wide[2].rcv_data = UINT64_C(1) << 40;
		CU_ASSERT_EQUAL(sweep()->counts.ports, PORTS);
		CU_ASSERT_EQUAL(bed.pm->last.counts.refused, 1);
		CU_ASSERT_EQUAL(sweep()->counts.refused, 0);
		CU_ASSERT_EQUAL(switch_port(1)->traffic[TRAFFIC_RCV_DATA], 8);
		CU_ASSERT_EQUAL(pm_total(switch_port(1), ERROR_LINK_DOWNED), 5);
		CU_ASSERT_EQUAL(switch_port(2)->traffic[TRAFFIC_RCV_DATA], UINT64_C(1) << 40);
		/* Its learned properties are forgotten with the silence of the agent. */
		bed.fake[SW_LID].silent = true;
		CU_ASSERT_EQUAL(sweep()->silent, 1);
		bed.fake[SW_LID].silent = false;
		bed.fake[SW_LID].narrow = 0;
		bed.fake[SW_LID].wide[1].rcv_data = UINT64_C(1) << 41;
		CU_ASSERT_EQUAL(sweep()->counts.refused, 0);
		CU_ASSERT_EQUAL(switch_port(1)->traffic[TRAFFIC_RCV_DATA], UINT64_C(1) << 41);
		end();
	}
}

/* An agent with errors in PortCountersExtended is queried for nothing else, and none of its
 * counters is reset. An agent that only claims to have them is queried for PortCounters, from the
 * same port on. */
static void test_extended_errors(void)
{
	begin();
	bed.fake[SW_LID].info.capability_mask2 = PERF_EXTENDED_ERRORS;
	bed.fake[SW_LID].wide[1].error[ERROR_LINK_DOWNED] = UINT64_C(1) << 40;
	bed.fake[SW_LID].wide[1].xmit_data = 7;
	bed.fake[SW_LID].few[1].link_downed = UINT8_MAX;
	bed.fake[SW_LID + 1].info.capability_mask2 = PERF_EXTENDED_ERRORS;
	bed.fake[SW_LID + 1].no_extended = true;
	bed.fake[SW_LID + 1].few[1].link_downed = 9;
	/* Without the attribute the bit means nothing. */
	bed.fake[SW_LID + 2].info.capability_mask = 0;
	bed.fake[SW_LID + 2].info.capability_mask2 = PERF_EXTENDED_ERRORS;
	bed.fake[SW_LID + 2].few[1].link_downed = 8;
	sweep();
	CU_ASSERT_EQUAL(bed.pm->last.counts.ports, PORTS);
	CU_ASSERT_EQUAL(bed.pm->last.counts.refused, 1);
	CU_ASSERT_EQUAL(bed.pm->last.counts.requests, AGENTS + STAR_HOSTS + 2 + 1 + 2);
	CU_ASSERT_EQUAL(bed.fake[SW_LID].sets, 0);
	CU_ASSERT_EQUAL(pm_total(switch_port(1), ERROR_LINK_DOWNED), UINT64_C(1) << 40);
	CU_ASSERT_EQUAL(switch_port(1)->traffic[TRAFFIC_XMIT_DATA], 7);
	CU_ASSERT_EQUAL(pm_total(host_port(0), ERROR_LINK_DOWNED), 9);
	CU_ASSERT_EQUAL(pm_total(host_port(1), ERROR_LINK_DOWNED), 8);
	/* It holds from the second sweep on, too. */
	bed.fake[SW_LID].wide[1].error[ERROR_LINK_DOWNED]++;
	CU_ASSERT_EQUAL(sweep()->counts.requests, STAR_HOSTS + 1 + 1 + 2);
	CU_ASSERT_EQUAL(switch_port(1)->rose, 1u << ERROR_LINK_DOWNED);
	CU_ASSERT_EQUAL(bed.pm->last.silent, 0);
	end();
}

static void test_reset(void)
{
	const struct pm_options never = {.window = 9};

	begin();
	bed.fake[SW_LID].few[1].link_downed = 200;
	bed.fake[SW_LID].few[1].xmit_wait = UINT32_MAX;
	bed.fake[SW_LID].few[1].xmit_data = UINT32_MAX; /* ignored: it has 64 bits, too */
	sweep();
	CU_ASSERT_EQUAL(bed.fake[SW_LID].sets, 1);
	CU_ASSERT_EQUAL(bed.set_select, 1u << ERROR_LINK_DOWNED | 1u << SELECT_XMIT_WAIT);
	CU_ASSERT_EQUAL(pm_total(switch_port(1), ERROR_LINK_DOWNED), 200);
	bed.fake[SW_LID].few[1].link_downed = 3;
	sweep();
	CU_ASSERT_EQUAL(bed.fake[SW_LID].sets, 1);
	CU_ASSERT_EQUAL(pm_total(switch_port(1), ERROR_LINK_DOWNED), 203);
	/* A device that keeps its counters gets the Set() once. */
	bed.fake[SW_LID].keeps_all = true;
	bed.fake[SW_LID].few[2].rcv_errors = UINT16_MAX;
	for (int i = 0; i < 3; i++)
		sweep();
	CU_ASSERT_EQUAL(bed.fake[SW_LID].sets, 2);
	CU_ASSERT_EQUAL(pm_total(switch_port(2), ERROR_RCV), UINT16_MAX);
	/* If the administrator forbids resets, no device gets a Set(). */
	bed.fake[SW_LID].keeps_all = false;
	bed.fake[SW_LID].few[3].rcv_errors = UINT16_MAX;
	pm_set_options(bed.pm, &never);
	sweep();
	CU_ASSERT_EQUAL(bed.fake[SW_LID].sets, 2);
	end();
}

static unsigned cleared;

static void clear_done(struct pm *pm, struct pm_clear *clear, int error)
{
	CU_ASSERT_EQUAL(error, 0);
	cleared++;
	free(clear);
	(void)pm;
}

/* Clears the counters of a node, or of a port, or, with 0, of all; the figures of it. */
static const struct pm_sweep_figures *clear_counters(guid_t node_guid, int num)
{
	struct pm_clear *clear = calloc(1, sizeof(*clear));

	CU_ASSERT_PTR_NOT_NULL_FATAL(clear);
	clear->done = clear_done;
	clear->node_guid = node_guid;
	clear->one_port = num >= 0;
	clear->num = (uint8_t)num;
	list_init(&clear->link);
	list_push(&bed.pm->clears, &clear->link);
	pm_sweep_clear(bed.pm);
	loop_defer(&bed.player);
	loop_run(bed.loop);
	return &bed.pm->now;
}

/* Resets by command: all counters of the ports that are named, of both attributes, and no others.
 * Totals continue without a jump, also if a counter soon exceeds its earlier value. */
static void test_clear(void)
{
	const struct pm_options never = {.window = 9};
	guid_t sw_guid;

	begin_with(&never);
	cleared = 0;
	sw_guid = bed.view->topology->switches[0].facts->info.node_guid = 1;
	for (unsigned h = 0; h < STAR_HOSTS; h++)
		bed.view->topology->ends[h].facts->info.node_guid = 200 + h;
	bed.fake[SW_LID].info.capability_mask2 = PERF_EXTENDED_ERRORS;
	for (unsigned num = 1; num <= STAR_HOSTS; num++)
		bed.fake[SW_LID].wide[num].error[ERROR_SYMBOL] = 10 * num;
	bed.fake[SW_LID + 1].few[1].link_downed = 7;
	sweep();
	CU_ASSERT_EQUAL(clear_counters(sw_guid, 2)->counts.resets, 1);
	CU_ASSERT_EQUAL(cleared, 1);
	CU_ASSERT_EQUAL(bed.set_select, PORT_COUNTERS_ALL);
	CU_ASSERT_EQUAL(bed.fake[SW_LID].wide[1].error[ERROR_SYMBOL], 10);
	CU_ASSERT_EQUAL(bed.fake[SW_LID].wide[2].error[ERROR_SYMBOL], 0);
	CU_ASSERT_EQUAL(pm_total(switch_port(2), ERROR_SYMBOL), 20);
	bed.fake[SW_LID].wide[2].error[ERROR_SYMBOL] = 25;
	/* All ports, also without a link. A clear is no sweep. */
	bed.view->topology->switches[0].facts->port[3].info.port_state = PORT_DOWN;
	CU_ASSERT_EQUAL(clear_counters(0, -1)->counts.resets, PORTS);
	CU_ASSERT_EQUAL(bed.pm->last.number, 1);
	CU_ASSERT_EQUAL(bed.fake[SW_LID].wide[3].error[ERROR_SYMBOL], 0);
	CU_ASSERT_EQUAL(bed.fake[SW_LID + 1].few[1].link_downed, 0);
	CU_ASSERT_EQUAL(pm_total(switch_port(2), ERROR_SYMBOL), 45);
	CU_ASSERT_EQUAL(pm_total(host_port(0), ERROR_LINK_DOWNED), 7);
	sweep();
	CU_ASSERT_EQUAL(pm_total(switch_port(2), ERROR_SYMBOL), 45);
	CU_ASSERT_EQUAL(bed.pm->reset_by_others, 0);
	/* An adapter alone, whose device keeps its counters. */
	bed.fake[SW_LID + 1].few[1].link_downed = 2;
	bed.fake[SW_LID + 1].keeps_all = true;
	CU_ASSERT_EQUAL(clear_counters(200, -1)->counts.resets, 1);
	CU_ASSERT_EQUAL(bed.pm->now.kept, 1);
	/* A reset by another program is noticed. */
	bed.fake[SW_LID + 1].few[1].link_downed = 0;
	CU_ASSERT_EQUAL(sweep()->reset_by_others, 1);
	CU_ASSERT_EQUAL(pm_total(host_port(0), ERROR_LINK_DOWNED), 9);
	end();
}

static void redirect_to(struct fake *fake)
{
	fake->info.redirect = (struct class_redirect){
		.lid = REDIRECT_LID, .qp = REDIRECT_QP, .q_key = 0x8765, .p_key = P_KEY};
}

/* Our own port has the P_Key at index 2. */
static void give_pkeys(void)
{
	struct pkey_list *keys = pkey_list_new(PKEY_BLOCK_KEYS);

	keys->key[0] = 0xFFFF;
	keys->key[2] = P_KEY & 0x7FFF;
	pkey_list_unref(bed.view->topology->ends[0].facts->port[1].pkeys);
	bed.view->topology->ends[0].facts->port[1].pkeys = keys;
	bed.default_index = 0;
}

/* A partition with index0 has moved the default partition's key of our port. */
static void test_default_index(void)
{
	struct pkey_list *keys;

	begin();
	give_pkeys();
	keys = bed.view->topology->ends[0].facts->port[1].pkeys;
	keys->key[0] = P_KEY | 0x8000;
	keys->key[2] = 0;
	keys->key[3] = 0x7FFF; /* of a limited member */
	bed.default_index = 3;
	CU_ASSERT_EQUAL(sweep()->counts.ports, PORTS);
	CU_ASSERT_EQUAL(bed.pm->last.silent, 0);
	end();
}

/* By ClassPortInfo, or by the status of any answer. */
static void test_redirect(void)
{
	for (int by_status = 0; by_status < 2; by_status++) {
		begin();
		give_pkeys();
		redirect_to(&bed.fake[SW_LID]);
		bed.fake[SW_LID].by_status = by_status;
		bed.fake[0].few[3].symbol_errors = 4;
		CU_ASSERT_EQUAL(sweep()->counts.ports, PORTS);
		CU_ASSERT_EQUAL(bed.pm->last.counts.redirected, 1);
		CU_ASSERT_EQUAL(pm_total(switch_port(3), ERROR_SYMBOL), 4);
		CU_ASSERT_EQUAL(bed.fake[0].infos, 1); /* its ClassPortInfo was read */
		/* The target of the redirection goes silent: next time the first agent is queried
		 * again. */
		bed.fake[0].silent = true;
		sweep();
		CU_ASSERT_EQUAL(bed.pm->last.silent, 1);
		bed.fake[0].silent = false;
		CU_ASSERT_EQUAL(sweep()->counts.ports, PORTS);
		CU_ASSERT_EQUAL(bed.fake[SW_LID].infos, 2);
		end();
	}
}

static void test_bad_redirect(void)
{
	static const struct class_redirect rows[] = {
		{.lid = 0xC000, .qp = 1, .p_key = 0xFFFF}, /* a group */
		{.lid = 0xFFFF, .qp = 1, .p_key = 0xFFFF}, {.lid = 5, .qp = 0, .p_key = 0xFFFF},
		{.lid = 5, .qp = 1, .p_key = 0x1234}, /* we have no such key */
		{.lid = 0, .qp = 1, .p_key = 0xFFFF}, /* a GID of no port */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		bed.fake[SW_LID].info.redirect = rows[i];
		CU_ASSERT_EQUAL(sweep()->counts.ports, PORTS);
		CU_ASSERT_EQUAL(bed.pm->last.counts.refused, 1);
		end();
	}
	begin(); /* to itself, for ever */
	bed.fake[SW_LID].info.redirect =
		(struct class_redirect){.lid = SW_LID, .qp = 1, .p_key = 0xFFFF};
	bed.fake[SW_LID].by_status = true;
	CU_ASSERT_EQUAL(sweep()->counts.ports, STAR_HOSTS);
	end();
	begin(); /* by its GID to another port of the subnet */
	bed.fake[SW_LID].info.redirect = (struct class_redirect){.qp = 1, .p_key = 0xFFFF};
	be64_store(bed.fake[SW_LID].info.redirect.gid + 8, 100);
	CU_ASSERT_EQUAL(sweep()->counts.redirected, 1);
	CU_ASSERT_EQUAL(bed.fake[SW_LID + 1].infos, 2);
	end();
}

/* A sweep that ends while its table is being made leaves the one before. */
static void test_cancel(void)
{
	begin();
	for (int round = 0; round < 2; round++) {
		size_t at = 0;

		pm_agents_merge(&bed.pm->agents, bed.view, &at);
		pm_agents_cancel(&bed.pm->agents);
		CU_ASSERT_EQUAL(bed.pm->agents.count, round ? AGENTS : 0);
		sweep();
		CU_ASSERT_EQUAL(bed.pm->agents.count, AGENTS);
		bed.view->topology->ends[2].guid = 500 + round;
	}
	end();
}

/* A manager that is no longer MASTER sends no more requests. Late answers match no request. */
static void test_not_master(void)
{
	begin();
	bed.stop_at = AGENTS + 1;
	sweep();
	CU_ASSERT_EQUAL(bed.pm->last.number, 0);
	CU_ASSERT(bed.wire.count < ALL_QUESTIONS);
	CU_ASSERT_EQUAL(txn_stats(bed.txns)->unmatched, 0);
	CU_ASSERT_EQUAL(sweep()->counts.ports, PORTS);
	view_publish(&bed.view, NULL);
	CU_ASSERT_FALSE(pm_sweep_begin(bed.pm));
	end();
}

/* Ports that stay keep their data; lost ports are forgotten. */
static void test_changes(void)
{
	struct snap_end *ends;

	begin();
	bed.fake[SW_LID + 1].few[1].symbol_errors = 40;
	bed.fake[SW_LID + 3].few[1].symbol_errors = 50;
	sweep();
	bed.fake[SW_LID + 1].few[1].symbol_errors = 1; /* as if it had been reset */
	bed.fake[SW_LID + 3].few[1].symbol_errors = 2;
	ends = bed.view->topology->ends;
	ends[2].guid = 500; /* another adapter at its place */
	sweep();
	CU_ASSERT_EQUAL(pm_total(host_port(0), ERROR_SYMBOL), 41);
	CU_ASSERT_PTR_NULL(host_port(2));
	CU_ASSERT_EQUAL(pm_total(port_of(false, 500, 1), ERROR_SYMBOL), 2);
	ends[2].lid = LID_NONE;
	CU_ASSERT_EQUAL(sweep()->agents, AGENTS - 1);
	end();
}

/* perf errors with and without a threshold. */
static void test_errors_command(void)
{
	static const struct {
		const char *args;
		bool five, forty; /* the ports that are shown */
	} rows[] = {
		{"", true, true},
		{",\"threshold\":\"5\"", true, true},
		{",\"threshold\":6", false, true},
		{",\"threshold\":\"41\"", false, false},
	};
	struct control_socket socket;
	struct control_client client;
	char request[128];

	begin();
	socket_begin(&socket, bed.loop);
	pm_register_commands(bed.pm, socket.control);
	client_begin(&client, &socket);
	bed.fake[SW_LID + 1].few[1].symbol_errors = 40;
	bed.fake[SW_LID + 3].few[1].symbol_errors = 5;
	sweep();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(request, sizeof(request), "{\"command\":\"perf errors\"%s}\n",
			 rows[i].args);
		client_say(&client, request);
		client_await(&client, "\"ok\":true");
		CU_ASSERT_EQUAL(strstr(client.text, "\"SymbolErrorCounter\":5}") != NULL,
				rows[i].five);
		CU_ASSERT_EQUAL(strstr(client.text, "\"SymbolErrorCounter\":40}") != NULL,
				rows[i].forty);
	}
	client_say(&client, "{\"command\":\"perf errors\",\"threshold\":0}\n");
	client_await(&client, "the threshold is a number of errors, from 1");
	client_hang_up(&client);
	pm_stop(bed.pm);
	socket_end(&socket);
	end();
}

static bool refuse_as_standby(void *arg, struct control_request *request, const char *what)
{
	control_fail(request, "%s%s, use the MASTER", (const char *)arg, what);
	return false;
}

/* perf clear as a command: its scope, and what it refuses. "ports" are those that were reset. */
static void test_clear_command(void)
{
	static const struct {
		const char *args, *answer;
	} rows[] = {
		{"", "\"ports\":6,\"agents\":4"},
		{",\"node\":\"0xc8\"", "\"ports\":1,\"agents\":1"},
		{",\"node\":\"0x7\"", "\"ports\":3,\"agents\":1"},
		{",\"node\":\"0x7\",\"port\":\"2\"", "\"ports\":1,\"agents\":1"},
		{",\"port\":\"2\"", "needs its node"},
		{",\"node\":\"0x999\"", "there is no node"},
		{",\"node\":\"0x999\",\"port\":\"1\"", "there is no node"},
		{",\"node\":\"0x7\",\"port\":\"9\"", "there is no port 9"},
		{",\"node\":\"0xc8\",\"port\":\"0\"", "is not in the subnet"},
		{",\"node\":\"0x7\",\"port\":\"x\"", "is no port"},
	};
	struct control_socket socket;
	struct control_client client;
	char request[128];

	begin();
	bed.view->topology->switches[0].facts->info.node_guid = 7;
	for (unsigned h = 0; h < STAR_HOSTS; h++)
		bed.view->topology->ends[h].facts->info.node_guid = 200 + h;
	socket_begin(&socket, bed.loop);
	pm_register_commands(bed.pm, socket.control);
	client_begin(&client, &socket);
	bed.serves = true;
	loop_defer(&bed.player);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(request, sizeof(request), "{\"command\":\"perf clear\"%s}\n",
			 rows[i].args);
		client_say(&client, request);
		client_await(&client, "\"ok\":");
		CU_ASSERT_PTR_NOT_NULL(strstr(client.text, rows[i].answer));
		if (!strstr(client.text, rows[i].answer))
			printf("\n%s: %s", request, client.text);
	}
	/* A manager that is not MASTER names the MASTER, in each command. */
	pm_set_guard(bed.pm, refuse_as_standby, "to ");
	view_publish(&bed.view, NULL);
	client_say(&client, "{\"command\":\"perf clear\"}\n");
	client_await(&client, "to reset counters, use the MASTER");
	client_say(&client, "{\"command\":\"perf sweep\"}\n");
	client_await(&client, "to read the counters, use the MASTER");
	client_say(&client, "{\"command\":\"perf errors\"}\n");
	client_await(&client, "to read the counters, use the MASTER");
	client_say(&client, "{\"command\":\"perf show\",\"node\":\"0x7\",\"port\":\"1\"}\n");
	client_await(&client, "to read the counters, use the MASTER");
	client_hang_up(&client);
	pm_stop(bed.pm);
	socket_end(&socket);
	end();
}

static void test_top(void)
{
	begin();
	sweep();
	for (unsigned lid = SW_LID + 1; lid < SW_LID + AGENTS; lid++)
		bed.fake[lid].wide[1].rcv_data = lid * 1000;
	for (unsigned h = 0; h < STAR_HOSTS; h++) /* the clock of this test stands still */
		host_port(h)->traffic_us -= 1000000;
	sweep();
	CU_ASSERT_EQUAL_FATAL(bed.pm->top[PM_TOP_DATA].count, STAR_HOSTS);
	for (unsigned i = 0; i < STAR_HOSTS; i++)
		CU_ASSERT_EQUAL(bed.pm->top[PM_TOP_DATA].row[i].key.guid, 102 - i);
	CU_ASSERT_EQUAL(bed.pm->top[PM_TOP_WAIT].count, 0);
	end();
}

static void take_survey(void *arg, struct pm_survey *survey)
{
	*(struct pm_survey **)arg = survey;
	loop_stop(bed.loop, 0);
}

static void test_survey(void)
{
	struct pm_survey *survey = NULL;
	struct port_info *ends[2];

	begin();
	ends[0] = &bed.view->topology->switches[0].facts->port[2].info;
	ends[1] = &bed.view->topology->ends[1].facts->port[1].info;
	for (int e = 0; e < 2; e++) {
		ends[e]->link_width_supported = 3;
		ends[e]->link_width_active = 1;
		ends[e]->link_speed_ext_supported = 3;
	}
	bed.fake[SW_LID].few[3].link_downed = 1;
	bed.fake[SW_LID + 1].few[1].xmit_wait = 1000; /* is no error */
	sweep();
	bed.fake[SW_LID].few[1].rcv_errors = 1;
	sweep();
	pm_survey_begin(bed.pm, take_survey, &survey);
	loop_run(bed.loop);
	CU_ASSERT_PTR_NOT_NULL_FATAL(survey);
	CU_ASSERT_EQUAL_FATAL(survey->num_links, 1);
	CU_ASSERT_EQUAL(survey->links[0].port, 2);
	CU_ASSERT_EQUAL_FATAL(survey->num_rose, 1);
	CU_ASSERT_EQUAL(survey->rose[0].num, 1);
	CU_ASSERT_EQUAL_FATAL(survey->num_rest, 1);
	CU_ASSERT_EQUAL(survey->rest[0].num, 3);
	pm_survey_free(survey);
	end();
}

static uint64_t since_given(void *arg, const struct pm_link_errors *port)
{
	(void)port;
	return *(const uint64_t *)arg;
}

static struct pm_link_errors found_errors;

static void find_errors(void *arg, const struct pm_link_errors *errors)
{
	(void)arg;
	found_errors = *errors;
}

/* A reading that began before an undrain, or in the same second, does not count; and of a reading
 * in which the link was lost, only the loss counts. */
static void test_link_errors(void)
{
	enum { READ_S = 1000, SPAN_MS = 1990 };
	static const struct {
		uint64_t since_s, flaps, symbols;
	} rows[] = {{READ_S - 3, 2, 7}, {READ_S - 2, 2, 7}, {READ_S - 1, 1, 0}, {READ_S + 8, 0, 0}};
	const struct pm_key key = {1, true, 2};
	struct pm_port *port;
	struct pm_news news = {.span_us = SPAN_MS * 1000};

	begin();
	sweep();
	port = switch_port(2);
	pm_history_keep(&bed.pm->histories, &key, port);
	news.gained[ERROR_SYMBOL] = 7;
	pm_history_add(&bed.pm->histories, &key, port, &news, READ_S + 1);
	news.gained[ERROR_LINK_DOWNED] = 1;
	news.gained[ERROR_SYMBOL] = 5000;
	pm_history_add(&bed.pm->histories, &key, port, &news, READ_S + 1);
	pm_history_add(&bed.pm->histories, &key, port, &news, READ_S + 10);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t since_s = rows[i].since_s;

		found_errors = (struct pm_link_errors){0};
		pm_each_link_errors(bed.pm, since_given, find_errors, &since_s);
		CU_ASSERT_EQUAL(found_errors.rose[ERROR_LINK_DOWNED], rows[i].flaps);
		CU_ASSERT_EQUAL(found_errors.rose[ERROR_SYMBOL], rows[i].symbols);
	}
	end();
}

int main(void)
{
	static const CU_TestInfo cases[] = {
		{"all ports", test_all},
		{"the window", test_window},
		{"which ports", test_ports},
		{"refusals", test_refusals},
		{"one port without extended counters", test_narrow_port},
		{"64-bit errors", test_extended_errors},
		{"resets", test_reset},
		{"resets by command", test_clear},
		{"another index of the default P_Key", test_default_index},
		{"redirection", test_redirect},
		{"redirection to nowhere", test_bad_redirect},
		{"a sweep that is given up", test_cancel},
		{"not MASTER", test_not_master},
		{"perf errors", test_errors_command},
		{"perf clear", test_clear_command},
		{"ports appear and disappear", test_changes},
		{"the highest rates", test_top},
		{"survey", test_survey},
		{"errors of links", test_link_errors},
		CU_TEST_INFO_NULL,
	};

	log_set_level(NULL, LOG_ERR);
	return unit_main("performance manager", cases);
}
