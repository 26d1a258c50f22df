/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which MLIDs groups get (sa/mlids.h), asked for from the wire to the wire on the fabric of
 * two_switches.h: the one that is wanted, the lowest free, a shared one, none when there is none
 * left; and that they come back.
 */
// LINK: fabric/registry.o sa/*.o mad/field.o mad/mad.o mad/txn.o sma/attr.o sma/notice.o sma/port.o
// LINK: fabric/mft.o fabric/view.o fabric/walk.o fabric/snapshot.o fabric/facts.o fabric/tables.o
// LINK: fabric/setting.o lib/loop.o lib/timers.o lib/log.o lib/map.o lib/guid.o lib/mem.o
// LIBS: -lsystemd
#include "include/message_id.h"
#include "lib/log.h"
#include "tests/unit/member_client.h"

static void test_mlids(void)
{
	struct mc_member_record record = usual(A, 1);

	begin();
	record.mlid = 0xC123;
	CU_ASSERT_EQUAL(set(A, CREATE | BIT(MLID), &record), STATUS_OK);
	CU_ASSERT_EQUAL(told.mlid, 0xC123);
	record = usual(A, 2);
	record.mlid = 0xC123; /* taken: any other */
	CU_ASSERT_EQUAL(set(A, CREATE | BIT(MLID), &record), STATUS_OK);
	CU_ASSERT_EQUAL(told.mlid, 0xC001);
	record = usual(A, 3);
	record.mlid = 0x0005; /* none */
	CU_ASSERT_EQUAL(set(A, CREATE | BIT(MLID), &record), STATUS_OK);
	CU_ASSERT_EQUAL(told.mlid, 0xC002);
	record = usual(A, 4);
	record.mlid = 0xFFFF; /* permissive, not multicast */
	CU_ASSERT_EQUAL(set(A, CREATE | BIT(MLID), &record), STATUS_OK);
	CU_ASSERT_EQUAL(told.mlid, 0xC003);
	end();
}

/* Ports share the MLIDs of solicited-node groups, within a partition and scope. */
static void test_solicited_node(void)
{
	static const struct {
		uint64_t high, low;
		bool shares;
	} cases[] = {
		{UINT64_C(0xFF12601BFFFF0000), UINT64_C(0x1FF000001), false}, /* the first */
		{UINT64_C(0xFF12601BFFFF0000), UINT64_C(0x1FF000401), true},  /* + 1024 */
		{UINT64_C(0xFF12601BFFFF0000), UINT64_C(0x1FFFFFC01), true},
		{UINT64_C(0xFF12601BFFFF0000), UINT64_C(0x1FF000002), false},
		{UINT64_C(0xFF12601BFFFF0000), UINT64_C(0x1FE000001), false},
		{UINT64_C(0xFF12601BFFFF0000), UINT64_C(0x000000001), false},
		{UINT64_C(0xFF12401BFFFF0000), UINT64_C(0x1FF000001), false},
	};
	struct adm_options unshared = options;
	lid_t mlids[ARRAY_SIZE(cases)];

	unshared.ipv6_snm_mlids = 0;
	for (unsigned off = 0; off < 2; off++) {
		begin();
		adm_set_options(sa.adm, off ? &unshared : &options);
		for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
			struct mc_member_record record = usual(A, 1);

			set_gid(record.mgid, cases[i].high, cases[i].low);
			CU_ASSERT_EQUAL(set(A, CREATE, &record), STATUS_OK);
			mlids[i] = told.mlid;
			CU_ASSERT_EQUAL(told.mlid == mlids[0], i == 0 || (cases[i].shares && !off));
		}
		if (!off) { /* The MLID is there as long as one of them. */
			for (size_t i = 0; i < 2; i++) {
				struct mc_member_record record = usual(A, 1);

				set_gid(record.mgid, cases[i].high, cases[i].low);
				CU_ASSERT_EQUAL(leave(A, &record), STATUS_OK);
			}
			CU_ASSERT_EQUAL(join(A, 1, JOIN_FULL), STATUS_OK);
			CU_ASSERT_NOT_EQUAL(told.mlid, mlids[0]);
		}
		end();
	}
}

/* The least MulticastFDBCap of the switches bounds the MLIDs, and so the groups. */
static void test_mlids_end(void)
{
	struct view *view;
	struct unit_capture capture;
	char log[1024];

	begin();
	view = two_switches_view();
	((struct node_facts *)view->topology->switches[S1].facts)->sw.multicast_fdb_cap = 4;
	((struct node_facts *)view->topology->switches[S2].facts)->sw.multicast_fdb_cap = 0;
	view_publish(&sa.view, view);
	for (uint32_t i = 1; i <= 3; i++) {
		CU_ASSERT_EQUAL(join(A, i, JOIN_FULL), STATUS_OK);
		CU_ASSERT_EQUAL(told.mlid, 0xC000 + i);
	}
	unit_capture_begin(&capture);
	CU_ASSERT_EQUAL(join(A, 4, JOIN_FULL), SA_NO_RESOURCES);
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_EQUAL(join(C, 3, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(quit(A, 2, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(join(A, 4, JOIN_FULL), STATUS_OK);
	CU_ASSERT_EQUAL(told.mlid, 0xC002);
	end();
}

static void count_no_mlid(void *ctx, int level, const struct log_subject *subject, const char *text)
{
	unsigned *lines = ctx;

	(void)text;
	lines[level == LOG_WARNING] += !strcmp(subject->message_id, MESSAGE_NO_MLID);
}

/* A configured group that finds no MLID is told of, and made when one is free. */
static void test_configured_waits(void)
{
	struct group_entry both[2] = {default_group, default_group};
	struct unit_capture capture;
	struct view *view;
	unsigned lines[2] = {0};
	char log[1024];

	begin();
	log_watch(count_no_mlid, lines);
	view = two_switches_view();
	((struct node_facts *)view->topology->switches[S1].facts)->sw.multicast_fdb_cap = 4;
	((struct node_facts *)view->topology->switches[S2].facts)->sw.multicast_fdb_cap = 0;
	view_publish(&sa.view, view);
	for (uint32_t i = 1; i <= 3; i++)
		CU_ASSERT_EQUAL(join(A, i, JOIN_FULL), STATUS_OK);
	both[1].mgid[5] = 5;
	unit_capture_begin(&capture);
	adm_set_groups(sa.adm, both, 2);
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_PTR_NOT_NULL(strstr(log, "no MLID is left for 1 multicast group"));
	CU_ASSERT_EQUAL(groups(), 4);
	CU_ASSERT_EQUAL(quit(A, 2, JOIN_FULL), STATUS_OK);
	unit_capture_begin(&capture);
	turn();
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_PTR_NOT_NULL(strstr(log, "have an MLID again"));
	log_watch(NULL, NULL);
	CU_ASSERT_EQUAL(lines[true], 1);
	CU_ASSERT_EQUAL(lines[false], 1);
	CU_ASSERT_EQUAL(groups(), 4);
	CU_ASSERT_EQUAL(join(A, 4, JOIN_FULL), SA_NO_RESOURCES);
	end();
}

/* However groups end, and whatever is refused, their MLIDs come back: where there are three, one
 * that is lost is missed soon. */
static void test_no_leak(void)
{
	enum { TIMES = 20000 };
	struct mc_member_record slow, foreign;
	struct view *view;

	begin();
	view = two_switches_view();
	((struct node_facts *)view->topology->switches[S1].facts)->sw.multicast_fdb_cap = 4;
	((struct node_facts *)view->topology->switches[S2].facts)->sw.multicast_fdb_cap = 0;
	view_publish(&sa.view, view);
	for (uint32_t i = 1; i <= TIMES; i++) {
		CU_ASSERT_EQUAL(join(A, i, JOIN_FULL), STATUS_OK);
		CU_ASSERT_EQUAL(told.mlid, 0xC001);
		CU_ASSERT_EQUAL(join(C, i, i % 2 ? JOIN_NON_MEMBER : JOIN_FULL), STATUS_OK);
		CU_ASSERT_EQUAL(join(D, i, JOIN_FULL), SA_REQ_INVALID); /* its MTU is 1024 */
		slow = usual(C, TIMES + i);				/* it runs at 40 Gb/s */
		slow.rate_selector = 2;
		slow.rate = RATE_100;
		CU_ASSERT_EQUAL(set(C, CREATE | RATE_BITS, &slow), SA_REQ_INVALID);
		foreign = usual(A, TIMES + i);
		foreign.p_key = 0x8001;
		CU_ASSERT_EQUAL(set(A, CREATE, &foreign), SA_REQ_INVALID);
		CU_ASSERT_EQUAL(join(A, TIMES + i, JOIN_NON_MEMBER), SA_REQ_INVALID);
		CU_ASSERT_EQUAL(groups(), 2);
		CU_ASSERT_EQUAL(quit(A, i, JOIN_FULL), STATUS_OK);
		CU_ASSERT_NOT_EQUAL(quit(A, i, JOIN_FULL), STATUS_OK);
		if (i % 2 == 0)
			CU_ASSERT_EQUAL(quit(C, i, JOIN_FULL), STATUS_OK);
		CU_ASSERT_EQUAL(groups(), 1);
		CU_ASSERT_EQUAL(members(), 0);
	}
	end();
}

/* A switch with a tiny multicast table limits no others. */
static void test_tiny_table(void)
{
	struct view *view;

	begin();
	view = two_switches_view();
	((struct node_facts *)view->topology->switches[S1].facts)->sw.multicast_fdb_cap = 4;
	((struct node_facts *)view->topology->switches[S2].facts)->sw.multicast_fdb_cap = 2048;
	view_publish(&sa.view, view);
	for (uint32_t i = 1; i <= 8; i++) {
		CU_ASSERT_EQUAL(join(A, i, JOIN_FULL), STATUS_OK);
		CU_ASSERT_EQUAL(told.mlid, 0xC000 + i);
	}
	end();
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"MLIDs", test_mlids},
		{"the end of MLIDs", test_mlids_end},
		{"a configured group waits for one", test_configured_waits},
		{"no MLID is lost", test_no_leak},
		{"a tiny multicast table", test_tiny_table},
		{"solicited-node groups", test_solicited_node},
		CU_TEST_INFO_NULL,
	};

	return unit_main("mlids", tests);
}
