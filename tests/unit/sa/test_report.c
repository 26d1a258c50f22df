/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Subscriptions and reports of the SA, on a simulated clock: rights to subscribe, the receivers of
 * each report, and subscribers that do not answer. A port that leaves a partition loses its
 * registrations there.
 */
// WITH: tests/sim/loop_virtual.o
#include <malloc.h>

#include "mad/notice.h"
#include "sa/report.h"
#include "tests/sim/loop_virtual.h"
#include "tests/unit/fixtures/sa_client.h"

enum { OFF = 100000 }; /* reports that a test keeps */

/* The reports that were sent, in order. */
static struct {
	struct {
		struct mad_addr to;
		uint8_t mad[MAD_SIZE];
		uint64_t at_us;
		unsigned timeout_ms;
	} * sent;
	unsigned count, room;
	bool (*answers)(unsigned number); /* NULL: no report is answered */
} out;

static int send_report(struct transport *transport, const struct mad_addr *to, const uint8_t *mad,
		       size_t size, unsigned timeout_ms)
{
	if (!timeout_ms)
		return sa_client_send(transport, to, mad, size, timeout_ms);
	CU_ASSERT_FATAL(size == MAD_SIZE && out.count < OFF);
	if (out.count == out.room) {
		out.room = out.room ? 2 * out.room : 64;
		out.sent = mem_resize(out.sent, out.room, sizeof(*out.sent));
	}
	out.sent[out.count].to = *to;
	out.sent[out.count].at_us = loop_now_us(sa.loop);
	out.sent[out.count].timeout_ms = timeout_ms;
	memcpy(out.sent[out.count++].mad, mad, MAD_SIZE);
	return 0;
}

static const struct transport_ops report_ops = {.send = send_report};

static void begin_reports(void)
{
	begin();
	sa.transport.ops = &report_ops;
	memset(&out, 0, sizeof(out));
	/* The default partition's group is created with the first view that is looked at. */
	CU_ASSERT_EQUAL(ask(&(struct ask){.method = METHOD_GET, .attr_id = ATTR_CLASS_PORT_INFO}),
			STATUS_OK);
}

static void end_reports(void)
{
	end();
	free(out.sent);
}

static void answer(unsigned index)
{
	struct mad_header header;
	struct mad_addr from = out.sent[index].to;
	uint8_t mad[MAD_SIZE];

	memcpy(mad, out.sent[index].mad, MAD_SIZE);
	header_decode(mad, &header);
	header.method = METHOD_REPORT_RESP;
	header_encode(&header, mad);
	sa.transport.user.received(sa.transport.user.ctx, &from, mad, MAD_SIZE);
}

/* As long as something happens, at most until then. */
static void run_until(uint64_t until_us)
{
	uint64_t next_us;

	while ((next_us = loop_next_us(sa.loop)) <= until_us)
		loop_step(sa.loop, next_us > loop_now_us(sa.loop) ? next_us : loop_now_us(sa.loop));
	loop_step(sa.loop, until_us);
}

static void now(void)
{
	run_until(loop_now_us(sa.loop));
}

static void reported(unsigned index, struct notice *notice)
{
	struct mad_header header;

	CU_ASSERT_FATAL(index < out.count);
	header_decode(out.sent[index].mad, &header);
	CU_ASSERT_EQUAL(header.mgmt_class, CLASS_SUBN_ADM);
	CU_ASSERT_EQUAL(header.class_version, 2);
	CU_ASSERT_EQUAL(header.method, METHOD_REPORT);
	CU_ASSERT_EQUAL(header.attr_id, ATTR_NOTICE);
	CU_ASSERT_NOT_EQUAL((uint32_t)header.tid, 0);
	format_decode(&notice_report_format, out.sent[index].mad + SUBN_ADM_HEADER_SIZE, notice);
}

/* Every generic notice, of every issuer. */
#define ALL_GENERIC                                                                           \
	{                                                                                     \
		.lid_begin = INFORM_ANY, .is_generic = 1, .subscribe = 1, .type = INFORM_ANY, \
		.trap_number = INFORM_ANY, .qpn = 1, .resp_time = 18,                         \
		.producer_type = INFORM_ANY_PRODUCER                                          \
	}

static int inform(lid_t from, uint64_t sm_key, const struct inform_info *info)
{
	return ask(&(struct ask){.from = from,
				 .method = METHOD_SET,
				 .attr_id = ATTR_INFORM_INFO,
				 .sm_key = sm_key,
				 .format = &inform_info_format,
				 .record = info});
}

static void gid_of(guid_t guid, uint8_t gid[GID_SIZE])
{
	be64_store(gid, options.subnet_prefix);
	be64_store(gid + 8, guid);
}

static size_t subscriptions(void)
{
	return registry_count(sa.registry, REGISTRY_SUBSCRIPTION);
}

/* Subscribing */

static void test_subscribe(void)
{
	struct inform_info info = ALL_GENERIC, back;

	begin_reports();
	CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
	CU_ASSERT_EQUAL(sa.header.method, METHOD_GET_RESP);
	memset(&back, 0, sizeof(back));
	answered(&inform_info_format, 0, &back);
	CU_ASSERT_EQUAL(memcmp(&back, &info, sizeof(info)), 0);
	CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK); /* again */
	CU_ASSERT_EQUAL(inform(18, 0, &info), STATUS_OK); /* the port's other LID */
	info.resp_time = 19;
	CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
	CU_ASSERT_EQUAL(subscriptions(), 1);
	info.trap_number = 64;
	CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
	CU_ASSERT_EQUAL(inform(24, 0, &info), STATUS_OK);
	CU_ASSERT_EQUAL(subscriptions(), 3);
	info.subscribe = 2;
	CU_ASSERT_EQUAL(inform(16, 0, &info), SA_REQ_INVALID);
	info.subscribe = 0;
	info.trap_number = 65;
	CU_ASSERT_EQUAL(inform(16, 0, &info), SA_REQ_INVALID); /* there is none */
	info.trap_number = 64;
	info.qpn = 77;
	CU_ASSERT_EQUAL(inform(16, 0, &info), SA_REQ_INVALID); /* another QP's */
	info.qpn = 1;
	info.resp_time = 3;
	CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
	CU_ASSERT_EQUAL(inform(16, 0, &info), SA_REQ_INVALID);
	CU_ASSERT_EQUAL(subscriptions(), 2);
	end_reports();
}

/* The order of osmtest's flow v: all is 0 except Subscribe and QPN; 0 stands for the QP of the
 * request. */
static void test_osmtest_matrix(void)
{
	static const struct {
		uint8_t subscribe;
		uint8_t qpn;
		uint16_t trap;
		uint16_t status;
	} steps[] = {
		{0, 0, 0, SA_REQ_INVALID}, {1, 0, 0, STATUS_OK}, {0, 1, 0, STATUS_OK},
		{1, 1, 0, STATUS_OK},	   {1, 0, 0, STATUS_OK}, {1, 0, 0x1234, STATUS_OK},
		{0, 1, 0x1234, STATUS_OK}, {0, 1, 0, STATUS_OK},
	};

	begin_reports();
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		const struct inform_info info = {.subscribe = steps[i].subscribe,
						 .qpn = steps[i].qpn,
						 .trap_number = steps[i].trap};

		CU_ASSERT_EQUAL(inform(16, 0, &info), steps[i].status);
	}
	CU_ASSERT_EQUAL(subscriptions(), 0);
	end_reports();
}

/* Rights to subscribe. */
static void test_subscribe_rights(void)
{
	static const struct {
		const char *what;
		lid_t from;
		uint64_t sm_key;
		guid_t gid;
		uint64_t prefix; /* 0: the subnet's */
		lid_t begin, end;
		uint16_t type, trap;
		uint8_t generic;
		uint16_t status;
	} cases[] = {
		{"a port", 16, 0, PORT_GUID(C), 0, 0, 0, INFORM_ANY, 128, 1, STATUS_OK},
		{"link-local", 16, 0, PORT_GUID(C), GID_PREFIX_DEFAULT, 0, 0, INFORM_ANY, 128, 1,
		 STATUS_OK},
		{"another subnet", 16, 0, PORT_GUID(C), 0xFEC0000000000077, 0, 0, INFORM_ANY, 128,
		 1, SA_REQ_INVALID},
		{"nobody", 16, 0, 0x1234, 0, 0, 0, INFORM_ANY, 128, 1, SA_REQ_INVALID},
		{"a range", 16, 0, 0, 0, 1, 28, INFORM_ANY, 128, 1, STATUS_OK},
		{"beyond", 16, 0, 0, 0, 1000, 2000, INFORM_ANY, 128, 1, SA_REQ_INVALID},
		{"to the end", 16, 0, 0, 0, 28, 0xBFFF, INFORM_ANY, 128, 1, STATUS_OK},
		{"bad M_Key", 16, 0, 0, 0, INFORM_ANY, 0, INFORM_ANY, 256, 1, SA_REQ_INVALID},
		{"bad P_Key", 16, 0, 0, 0, INFORM_ANY, 0, INFORM_ANY, 259, 1, SA_REQ_INVALID},
		{"security", 16, 0, 0, 0, INFORM_ANY, 0, NOTICE_SECURITY, INFORM_ANY, 1,
		 SA_REQ_INVALID},
		{"device 256", 16, 0, 0, 0, INFORM_ANY, 0, INFORM_ANY, 256, 0, STATUS_OK},
		{"trusted", 16, SA_KEY, 0, 0, INFORM_ANY, 0, INFORM_ANY, 256, 1, STATUS_OK},
		/* C's keys and B's have partition 1 in common, D's table was not read. */
		{"B of C", 20, 0, PORT_GUID(C), 0, 0, 0, INFORM_ANY, 128, 1, STATUS_OK},
	};

	begin_reports();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct inform_info info = ALL_GENERIC;
		int status;

		if (cases[i].gid) {
			gid_of(cases[i].gid, info.gid);
			if (cases[i].prefix)
				be64_store(info.gid, cases[i].prefix);
		}
		info.lid_begin = cases[i].begin;
		info.lid_end = cases[i].end;
		info.type = cases[i].type;
		info.trap_number = cases[i].trap;
		info.is_generic = cases[i].generic;
		status = inform(cases[i].from, cases[i].sm_key, &info);
		CU_ASSERT_EQUAL(status, cases[i].status);
		if (status != cases[i].status)
			printf("%s: %#x\n", cases[i].what, (unsigned)status);
	}
	end_reports();
}

/* A LID of a port that the requester may not see gets the same answer as a LID of no port. */
static void test_hidden_lids(void)
{
	static const struct {
		lid_t begin, end;
		uint16_t status;
	} cases[] = {
		{28, 0, SA_REQ_INVALID},  /* D, which is hidden */
		{27, 0, SA_REQ_INVALID},  /* unknown LID */
		{27, 28, SA_REQ_INVALID}, /* both */
		{30, 40, SA_REQ_INVALID}, /* beyond all */
		{24, 28, STATUS_OK},	  /* C and D */
		{24, 27, STATUS_OK},	  /* C and an unknown LID */
	};
	struct view *view;

	begin_reports();
	view = two_switches_view();
	((pkey_t *)view->topology->ends[D].facts->port[1].pkeys->key)[1] = 0x8002;
	view_publish(&sa.view, view);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct inform_info info = ALL_GENERIC;

		info.lid_begin = cases[i].begin;
		info.lid_end = cases[i].end;
		CU_ASSERT_EQUAL(inform(16, 0, &info), cases[i].status);
	}
	end_reports();
}

static void test_records(void)
{
	struct inform_info info = ALL_GENERIC;
	struct inform_info_record wanted = {0}, found = {0};

	begin_reports();
	for (unsigned i = 0; i < 3; i++) {
		info.trap_number = (uint16_t)(64 + i);
		CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
	}
	CU_ASSERT_EQUAL(inform(24, 0, &info), STATUS_OK);
	CU_ASSERT_EQUAL(table(RECORD_INFORM_INFO, &inform_info_record_format, 0, NULL), 4);
	gid_of(PORT_GUID(A), wanted.subscriber_gid);
	CU_ASSERT_EQUAL(table(RECORD_INFORM_INFO, &inform_info_record_format, 1, &wanted), 3);
	wanted.subscriber_enum = 2;
	CU_ASSERT_EQUAL(table(RECORD_INFORM_INFO, &inform_info_record_format, 3, &wanted), 1);
	answered(&inform_info_record_format, 0, &found);
	CU_ASSERT_EQUAL(memcmp(found.subscriber_gid, wanted.subscriber_gid, GID_SIZE), 0);
	CU_ASSERT_EQUAL(found.info.trap_number, 66);
	CU_ASSERT_EQUAL(found.info.qpn, 0);
	CU_ASSERT_EQUAL(
		trusted_table(SA_KEY, RECORD_INFORM_INFO, &inform_info_record_format, 3, &wanted),
		1);
	answered(&inform_info_record_format, 0, &found);
	CU_ASSERT_EQUAL(found.info.qpn, 1);
	wanted.info.trap_number = 66; /* TrapNumber is component 10 */
	CU_ASSERT_EQUAL(table(RECORD_INFORM_INFO, &inform_info_record_format, 1 << 10, &wanted), 2);
	end_reports();
}

static void test_limit(void)
{
	struct inform_info info = ALL_GENERIC;

	begin_reports();
	for (unsigned i = 0; i < options.registrations_per_port; i++) {
		info.trap_number = (uint16_t)i;
		info.is_generic = 0;
		CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
	}
	info.trap_number = 0x7777;
	CU_ASSERT_EQUAL(inform(16, 0, &info), SA_NO_RESOURCES);
	info.trap_number = 1;
	CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK); /* it has that */
	info.subscribe = 0;
	CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
	info.subscribe = 1;
	info.trap_number = 0x7777;
	CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
	CU_ASSERT_EQUAL(subscriptions(), options.registrations_per_port);
	end_reports();
}

/* Notices that the SA makes */

static void raise(enum event_kind kind, unsigned host)
{
	struct snapshot *topology = sa.view->topology;
	const struct event event = {.kind = kind,
				    .guid = PORT_GUID(host),
				    .lid = two_switches_hosts[host].lid,
				    .facts = topology->ends[host].facts,
				    .num = 1};

	event_raise(&sa.events, &event);
	now();
}

static void own_notice(unsigned index, uint16_t number, const uint8_t gid[GID_SIZE])
{
	struct notice notice;
	union notice_details details;
	uint8_t sm[GID_SIZE];

	reported(index, &notice);
	CU_ASSERT_EQUAL(notice.is_generic, 1);
	CU_ASSERT_EQUAL(notice.type, NOTICE_SUBNET_MANAGEMENT);
	CU_ASSERT_EQUAL(notice.producer_type, NOTICE_PRODUCER_CLASS_MANAGER);
	CU_ASSERT_EQUAL(notice.trap_number, number);
	CU_ASSERT_EQUAL(notice.issuer_lid, 28);
	gid_of(PORT_GUID(D), sm);
	CU_ASSERT_EQUAL(memcmp(notice.issuer_gid, sm, GID_SIZE), 0);
	CU_ASSERT_TRUE(notice_details_decode(&notice, &details));
	CU_ASSERT_EQUAL(memcmp(details.gid.gid, gid, GID_SIZE), 0);
}

static void test_own_notices(void)
{
	struct inform_info info = ALL_GENERIC;
	struct group_entry group = {.mgid = {0xFF, 0x12, 0x40}, .mlid = 0xC001, .p_key = 0x8001};
	uint8_t gid[GID_SIZE];

	begin_reports();
	CU_ASSERT_EQUAL(inform(17, 0, &info), STATUS_OK); /* A, by one of its LIDs */
	raise(EVENT_PORT_IN, C);
	gid_of(PORT_GUID(C), gid);
	CU_ASSERT_EQUAL(out.count, 1);
	own_notice(0, TRAP_GID_IN_SERVICE, gid);
	CU_ASSERT_EQUAL(out.sent[0].to.lid, 17);
	CU_ASSERT_EQUAL(out.sent[0].to.qpn, 1);
	raise(EVENT_PORT_OUT, C);
	CU_ASSERT_EQUAL(out.count, 1); /* one at a time */
	answer(0);
	now();
	own_notice(1, TRAP_GID_OUT_OF_SERVICE, gid);
	answer(1);

	/* Groups are reported once they are durable, to subscribers with their P_Key: B and C, not
	 * A. */
	CU_ASSERT_EQUAL(inform(20, 0, &info), STATUS_OK);
	registry_keep(sa.registry, KEPT_BY_STORE, true);
	registry_put(sa.registry, REGISTRY_GROUP, &group);
	now();
	CU_ASSERT_EQUAL(out.count, 2);
	registry_kept(sa.registry, KEPT_BY_STORE, registry_number(sa.registry));
	now();
	CU_ASSERT_EQUAL(out.count, 3);
	own_notice(2, TRAP_MC_GROUP_CREATED, group.mgid);
	CU_ASSERT_EQUAL(out.sent[2].to.lid, 20);
	answer(2);
	group.mtu = 4;
	registry_put(sa.registry, REGISTRY_GROUP, &group); /* it is changed: no news */
	registry_drop(sa.registry, REGISTRY_GROUP, &group);
	registry_kept(sa.registry, KEPT_BY_STORE, registry_number(sa.registry));
	now();
	CU_ASSERT_EQUAL(out.count, 4);
	own_notice(3, TRAP_MC_GROUP_DELETED, group.mgid);
	answer(3);
	now();
	CU_ASSERT_EQUAL(sa_reports(sa.server), 0);
	CU_ASSERT_EQUAL(sa_report_stats(sa.server)->answered, 4);
	end_reports();
}

/* P_Keys that a port is not to have any more */

#define ALIAS UINT64_C(0xA1)
enum { LOST = 0x8001, KEPT = 0xFFFF };

static void put_group(uint8_t number, pkey_t p_key)
{
	const struct group_entry group = {
		.mgid = {0xFF, 0x12, [15] = number}, .mlid = 0xC000 + number, .p_key = p_key};

	registry_put(sa.registry, REGISTRY_GROUP, &group);
}

static void put_member(uint8_t number, guid_t guid)
{
	const struct member_entry member = {.mgid = {0xFF, 0x12, [15] = number},
					    .port_prefix = options.subnet_prefix,
					    .port_guid = guid,
					    .join_state = 1};

	registry_put(sa.registry, REGISTRY_MEMBER, &member);
}

static void put_service(uint64_t service_id, guid_t guid, pkey_t p_key)
{
	const struct service_entry service = {.service_id = service_id,
					      .gid_prefix = options.subnet_prefix,
					      .gid_guid = guid,
					      .p_key = p_key};

	registry_put(sa.registry, REGISTRY_SERVICE, &service);
}

static void put_subscription(uint16_t number, guid_t guid, uint16_t pkey_index)
{
	const struct subscription_entry subscription = {.prefix = options.subnet_prefix,
							.subscriber = guid,
							.number = number,
							.lid = 24,
							.qpn = 1,
							.pkey_index = pkey_index,
							.lid_begin = INFORM_ANY,
							.type = INFORM_ANY,
							.trap_number = INFORM_ANY,
							.producer_type = INFORM_ANY_PRODUCER};

	registry_put(sa.registry, REGISTRY_SUBSCRIPTION, &subscription);
}

static bool has_group(uint8_t number)
{
	const struct group_entry key = {.mgid = {0xFF, 0x12, [15] = number}};

	return registry_find(sa.registry, REGISTRY_GROUP, &key);
}

static bool has_member(uint8_t number, guid_t guid)
{
	const struct member_entry key = {.mgid = {0xFF, 0x12, [15] = number},
					 .port_prefix = options.subnet_prefix,
					 .port_guid = guid};

	return registry_find(sa.registry, REGISTRY_MEMBER, &key);
}

static bool has_service(uint64_t service_id)
{
	const struct service_entry *service;

	for (service = registry_first(sa.registry, REGISTRY_SERVICE, -1, NULL); service;
	     service = registry_next(sa.registry, REGISTRY_SERVICE, -1, service))
		if (service->service_id == service_id)
			return true;
	return false;
}

static bool has_subscription(uint16_t number, guid_t guid)
{
	const struct subscription_entry key = {
		.prefix = options.subnet_prefix, .subscriber = guid, .number = number};

	return registry_find(sa.registry, REGISTRY_SUBSCRIPTION, &key);
}

/* C is to have these keys; the manager's own table has KEPT first and LOST behind it. */
static void give_keys(const pkey_t *keys, unsigned count)
{
	struct pkey_list *own = pkey_list_new(PKEY_BLOCK_KEYS);
	const struct event event = {.kind = EVENT_PKEYS,
				    .guid = PORT_GUID(C),
				    .p_keys = keys,
				    .num_p_keys = count,
				    .own_p_keys = own};

	own->key[0] = KEPT;
	own->key[1] = LOST;
	event_raise(&sa.events, &event);
	pkey_list_unref(own);
	now();
}

/* C and its alias have registrations of all kinds in partition 1 and in the default partition; the
 * odd numbers are in partition 1. Group 5 is B's, too. */
static void register_all(void)
{
	const struct alias_entry alias = {.port_guid = PORT_GUID(C), .index = 1, .guid = ALIAS};

	registry_put(sa.registry, REGISTRY_ALIAS, &alias);
	for (uint8_t i = 1; i <= 5; i++) {
		put_group(i, i % 2 ? LOST : KEPT);
		put_member(i, i < 3 || i == 5 ? PORT_GUID(C) : ALIAS);
		put_service(i, i < 3 ? PORT_GUID(C) : ALIAS,
			    i % 2 ? LOST & ~PKEY_FULL_MEMBER : KEPT);
	}
	put_member(5, PORT_GUID(B));
	for (uint16_t i = 1; i <= 2; i++) {
		put_subscription(i, PORT_GUID(C), i % 2);
		put_subscription(i, ALIAS, i % 2);
	}
	put_service(7, PORT_GUID(B), LOST);
	put_subscription(1, PORT_GUID(A), 1);
}

static void expect_registered(bool in_lost)
{
	CU_ASSERT_EQUAL(has_group(1), in_lost);
	CU_ASSERT_EQUAL(has_group(3), in_lost);
	CU_ASSERT_TRUE(has_group(2) && has_group(4) && has_group(5));
	for (uint8_t i = 1; i <= 5; i++) {
		CU_ASSERT_EQUAL(has_member(i, i < 3 || i == 5 ? PORT_GUID(C) : ALIAS),
				in_lost || i % 2 == 0);
		CU_ASSERT_EQUAL(has_service(i), in_lost || i % 2 == 0);
	}
	CU_ASSERT_TRUE(has_member(5, PORT_GUID(B)));
	CU_ASSERT_TRUE(has_service(7));
	CU_ASSERT_EQUAL(has_subscription(1, PORT_GUID(C)), in_lost);
	CU_ASSERT_EQUAL(has_subscription(1, ALIAS), in_lost);
	CU_ASSERT_TRUE(has_subscription(2, PORT_GUID(C)) && has_subscription(2, ALIAS));
	CU_ASSERT_TRUE(has_subscription(1, PORT_GUID(A)));
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_ALIAS), 1);
}

/* A port loses the registrations by that key, under its own GUID and its aliases, and no others. A
 * group without members ends, and its partition gets a report. */
static void test_key_lost(void)
{
	static const pkey_t full[] = {KEPT, LOST}, limited[] = {KEPT, LOST & ~PKEY_FULL_MEMBER};
	const uint8_t ended[2] = {1, 3};
	struct inform_info info = ALL_GENERIC;

	begin_reports();
	register_all();
	info.trap_number = TRAP_MC_GROUP_DELETED;
	CU_ASSERT_EQUAL(inform(20, 0, &info), STATUS_OK); /* B */
	give_keys(full, 2);
	expect_registered(true);
	give_keys(limited, 2); /* the other membership is no loss */
	expect_registered(true);
	CU_ASSERT_EQUAL(out.count, 0);
	give_keys(full, 1);
	expect_registered(false);
	for (unsigned i = 0; i < ARRAY_SIZE(ended); i++) {
		CU_ASSERT_EQUAL(out.count, i + 1); /* one at a time */
		own_notice(i, TRAP_MC_GROUP_DELETED,
			   (const uint8_t[GID_SIZE]){0xFF, 0x12, [15] = ended[i]});
		CU_ASSERT_EQUAL(out.sent[i].to.lid, 20);
		answer(i);
		now();
	}
	CU_ASSERT_EQUAL(out.count, 2);
	end_reports();
}

/* The port that loses LOST while the view still shows it; 0: none. */
static guid_t robbed;

static bool wants(void *ctx, guid_t port_guid, pkey_t p_key)
{
	CU_ASSERT_PTR_EQUAL(ctx, &robbed);
	return (p_key ^ LOST) & ~PKEY_FULL_MEMBER || port_guid != robbed;
}

static int join_for(lid_t from, unsigned host)
{
	struct mc_member_record record = {
		.mgid = {0xFF, 0x12, [15] = 9}, .p_key = LOST, .join_state = 1};

	gid_of(PORT_GUID(host), record.port_gid);
	return ask(&(struct ask){.from = from,
				 .method = METHOD_SET,
				 .attr_id = RECORD_MC_MEMBER,
				 .mask = COMPONENT(MC_MEMBER_MGID) | COMPONENT(MC_MEMBER_PORT_GID) |
					 COMPONENT(MC_MEMBER_JOIN_STATE) |
					 COMPONENT(MC_MEMBER_Q_KEY) | COMPONENT(MC_MEMBER_TCLASS) |
					 COMPONENT(MC_MEMBER_P_KEY) |
					 COMPONENT(MC_MEMBER_FLOW_LABEL) | COMPONENT(MC_MEMBER_SL),
				 .format = &mc_member_record_format,
				 .record = &record});
}

static int offer_service(unsigned host)
{
	struct service_record record = {.service_id = 9, .p_key = LOST, .lease = UINT32_MAX};

	gid_of(PORT_GUID(host), record.gid);
	return ask(&(struct ask){.from = two_switches_hosts[host].lid,
				 .method = METHOD_SET,
				 .attr_id = RECORD_SERVICE,
				 .mask = COMPONENT(SERVICE_RECORD_SERVICE_ID) |
					 COMPONENT(SERVICE_RECORD_GID) |
					 COMPONENT(SERVICE_RECORD_P_KEY),
				 .format = &service_record_format,
				 .record = &record});
}

static int inform_by_key(unsigned host, uint16_t pkey_index)
{
	struct inform_info info = ALL_GENERIC;

	return ask(&(struct ask){.from = two_switches_hosts[host].lid,
				 .method = METHOD_SET,
				 .attr_id = ATTR_INFORM_INFO,
				 .pkey_index = pkey_index,
				 .format = &inform_info_format,
				 .record = &info});
}

/* Between a command that takes a key and the view without it, the port cannot register again what
 * the command removed. B and C are in the partition of LOST, and so is the manager, at index 1. */
static void test_key_being_taken(void)
{
	enum { AT_LOST = 1, AT_NOTHING = 0 };
	struct node_facts *manager;

	begin_reports();
	sa_set_wanted(sa.server, wants, &robbed);
	manager = sa.view->topology->ends[D].facts;
	pkey_list_unref(manager->port[1].pkeys);
	manager->port[1].pkeys = two_switches_keys((const pkey_t[2]){LOST, KEPT});
	robbed = PORT_GUID(B);
	CU_ASSERT_EQUAL(join_for(20, B), SA_REQ_INVALID);
	CU_ASSERT_EQUAL(join_for(24, B), SA_REQ_INVALID); /* C, for B */
	CU_ASSERT_EQUAL(join_for(20, C), SA_REQ_INVALID); /* B, for C */
	CU_ASSERT_EQUAL(offer_service(B), SA_REQ_INVALID);
	CU_ASSERT_EQUAL(inform_by_key(B, AT_LOST), SA_REQ_INVALID);
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_MEMBER), 0);
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_GROUP), 1); /* the default one */
	CU_ASSERT_EQUAL(registry_count(sa.registry, REGISTRY_SERVICE), 0);
	CU_ASSERT_EQUAL(subscriptions(), 0);
	/* Registrations by another key, and of a port that keeps this key. */
	CU_ASSERT_EQUAL(inform_by_key(B, PKEY_BLOCK_KEYS - 1), STATUS_OK);
	CU_ASSERT_EQUAL(inform_by_key(B, AT_NOTHING), STATUS_OK); /* the view is behind */
	CU_ASSERT_EQUAL(inform_by_key(C, AT_LOST), STATUS_OK);
	CU_ASSERT_EQUAL(offer_service(C), STATUS_OK);
	CU_ASSERT_EQUAL(join_for(24, C), STATUS_OK);
	robbed = 0;
	CU_ASSERT_EQUAL(join_for(20, B), STATUS_OK);
	CU_ASSERT_EQUAL(offer_service(B), STATUS_OK);
	CU_ASSERT_EQUAL(inform_by_key(B, AT_LOST), STATUS_OK);
	/* A wanted key counts only after the table holds it. */
	CU_ASSERT_EQUAL(join_for(16, A), SA_REQ_INVALID);
	end_reports();
}

/* Traps: which subscription matches which */

static void raise_trap(struct notice notice, unsigned host)
{
	struct event event = {.kind = EVENT_TRAP, .notice = &notice};

	if (host < HOSTS) {
		event.guid = PORT_GUID(host);
		event.lid = two_switches_hosts[host].lid;
		event.facts = sa.view->topology->ends[host].facts;
		event.num = 1;
		gid_of(event.guid, notice.issuer_gid);
	}
	event_raise(&sa.events, &event);
	now();
}

/* C, LID 24, sends trap 144: informational, of a channel adapter. */
static const struct notice matched_trap = {.is_generic = 1,
					   .type = NOTICE_INFORMATIONAL,
					   .producer_type = NODE_CA,
					   .trap_number = 144,
					   .issuer_lid = 24};
static const struct {
	const char *what;
	struct inform_info info;
	guid_t gid;
	bool told;
} matchings[] = {
	{"all", ALL_GENERIC, 0, true},
	{"C", ALL_GENERIC, PORT_GUID(C), true},
	{"A", ALL_GENERIC, PORT_GUID(A), false},
	{"vendors",
	 {.lid_begin = 0xFFFF,
	  .subscribe = 1,
	  .type = 0xFFFF,
	  .trap_number = 0xFFFF,
	  .producer_type = 0xFFFFFF},
	 0,
	 false},
	{"its LID",
	 {.lid_begin = 24,
	  .is_generic = 1,
	  .subscribe = 1,
	  .type = 0xFFFF,
	  .trap_number = 0xFFFF,
	  .producer_type = 0xFFFFFF},
	 0,
	 true},
	{"below",
	 {.lid_begin = 1,
	  .lid_end = 23,
	  .is_generic = 1,
	  .subscribe = 1,
	  .type = 0xFFFF,
	  .trap_number = 0xFFFF,
	  .producer_type = 0xFFFFFF},
	 0,
	 false},
	{"around",
	 {.lid_begin = 1,
	  .lid_end = 24,
	  .is_generic = 1,
	  .subscribe = 1,
	  .type = 0xFFFF,
	  .trap_number = 0xFFFF,
	  .producer_type = 0xFFFFFF},
	 0,
	 true},
	{"144",
	 {.lid_begin = 0xFFFF,
	  .is_generic = 1,
	  .subscribe = 1,
	  .type = 0xFFFF,
	  .trap_number = 144,
	  .producer_type = 0xFFFFFF},
	 0,
	 true},
	{"128",
	 {.lid_begin = 0xFFFF,
	  .is_generic = 1,
	  .subscribe = 1,
	  .type = 0xFFFF,
	  .trap_number = 128,
	  .producer_type = 0xFFFFFF},
	 0,
	 false},
	{"type",
	 {.lid_begin = 0xFFFF,
	  .is_generic = 1,
	  .subscribe = 1,
	  .type = NOTICE_INFORMATIONAL,
	  .trap_number = 0xFFFF,
	  .producer_type = 0xFFFFFF},
	 0,
	 true},
	{"other type",
	 {.lid_begin = 0xFFFF,
	  .is_generic = 1,
	  .subscribe = 1,
	  .type = NOTICE_URGENT,
	  .trap_number = 0xFFFF,
	  .producer_type = 0xFFFFFF},
	 0,
	 false},
	{"adapters",
	 {.lid_begin = 0xFFFF,
	  .is_generic = 1,
	  .subscribe = 1,
	  .type = 0xFFFF,
	  .trap_number = 0xFFFF,
	  .producer_type = NODE_CA},
	 0,
	 true},
	{"switches",
	 {.lid_begin = 0xFFFF,
	  .is_generic = 1,
	  .subscribe = 1,
	  .type = 0xFFFF,
	  .trap_number = 0xFFFF,
	  .producer_type = NODE_SWITCH},
	 0,
	 false},
};

static void test_matching(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(matchings); i++) {
		struct inform_info info = matchings[i].info;

		begin_reports();
		if (matchings[i].gid)
			gid_of(matchings[i].gid, info.gid);
		CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
		raise_trap(matched_trap, C);
		CU_ASSERT_EQUAL(out.count, matchings[i].told);
		if (out.count != matchings[i].told)
			printf("%s\n", matchings[i].what);
		end_reports();
	}
}

/* As srp_daemon subscribes, from a QP of its own: to new ports, and to ports whose capabilities
 * change. It sets bits of a component mask, which the attribute does not have. */
static void test_as_srp_asks(void)
{
	static const struct inform_info asked[] = {
		{.lid_begin = INFORM_ANY,
		 .is_generic = 1,
		 .subscribe = 1,
		 .type = NOTICE_SUBNET_MANAGEMENT,
		 .trap_number = TRAP_GID_IN_SERVICE,
		 .producer_type = NOTICE_PRODUCER_CLASS_MANAGER},
		{.lid_begin = INFORM_ANY,
		 .is_generic = 1,
		 .subscribe = 1,
		 .type = NOTICE_INFORMATIONAL,
		 .trap_number = TRAP_LOCAL_CHANGES,
		 .producer_type = NODE_CA},
	};
	const struct notice change = {.is_generic = 1,
				      .type = NOTICE_INFORMATIONAL,
				      .producer_type = NODE_CA,
				      .trap_number = TRAP_LOCAL_CHANGES,
				      .issuer_lid = 24};
	const struct mad_addr from = {.lid = 16, .qpn = 0x4711, .sl = 2, .pkey_index = 1};
	const struct mad_header header = {.base_version = 1,
					  .mgmt_class = CLASS_SUBN_ADM,
					  .class_version = 2,
					  .method = METHOD_SET,
					  .tid = TID,
					  .attr_id = ATTR_INFORM_INFO};

	begin_reports();
	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		uint8_t mad[MAD_SIZE] = {0};

		header_encode(&header, mad);
		sa_header_encode(&(struct sa_header){.component_mask = 0xFB2}, mad);
		format_encode(&inform_info_format, &asked[i], mad + SUBN_ADM_HEADER_SIZE);
		sa.transport.user.received(sa.transport.user.ctx, &from, mad, sizeof(mad));
		CU_ASSERT_EQUAL(sa.header.status, STATUS_OK);
	}
	raise(EVENT_PORT_IN, C);
	raise_trap(change, C);
	CU_ASSERT_EQUAL(out.count, 2);
	for (unsigned i = 0; i < out.count; i++) {
		CU_ASSERT_EQUAL(out.sent[i].to.qpn, 0x4711);
		CU_ASSERT_EQUAL(out.sent[i].to.sl, 2);
		CU_ASSERT_EQUAL(out.sent[i].to.pkey_index, 1);
	}
	end_reports();
}

/* A vendor's notice goes unchanged to subscribers of that vendor's notices. */
static void test_vendor(void)
{
	struct inform_info info = ALL_GENERIC;
	const struct notice notice = {.type = 3,
				      .producer_type = 0x2C9,
				      .trap_number = 0xABCD,
				      .issuer_lid = 24,
				      .count = 7,
				      .data = {1, 2, 3}};
	struct notice seen;

	begin_reports();
	info.is_generic = 0;
	CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
	raise_trap(notice, C);
	reported(0, &seen);
	CU_ASSERT_EQUAL(seen.producer_type, 0x2C9);
	CU_ASSERT_EQUAL(seen.trap_number, 0xABCD);
	CU_ASSERT_EQUAL(seen.count, 7);
	CU_ASSERT_EQUAL(memcmp(seen.data, notice.data, sizeof(seen.data)), 0);
	end_reports();
}

/* Security notices go to trusted subscribers only. No subscriber gets notices of a port that it
 * cannot reach, or of an unknown issuer. */
static void test_secrets(void)
{
	struct inform_info info = ALL_GENERIC;
	struct notice trap = {.is_generic = 1, .type = NOTICE_SECURITY, .trap_number = 257};
	struct node_facts *stranger;
	const struct node_info node = {.num_ports = 1, .node_guid = 0x77};

	begin_reports();
	CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
	raise_trap(trap, C);
	trap.type = NOTICE_URGENT; /* the type of the trap does not matter */
	raise_trap(trap, C);
	trap.trap_number = 144;
	trap.type = NOTICE_SECURITY;
	raise_trap(trap, C);
	CU_ASSERT_EQUAL(out.count, 0);
	CU_ASSERT_EQUAL(inform(16, SA_KEY, &info), STATUS_OK); /* now it is trusted */
	raise_trap(trap, C);
	CU_ASSERT_EQUAL(out.count, 1);
	answer(0);
	now();

	trap.type = NOTICE_URGENT;
	raise_trap(trap, HOSTS);
	CU_ASSERT_EQUAL(out.count, 1);
	stranger = facts_new(&node);
	stranger->port[1].pkeys = two_switches_keys((const pkey_t[2]){0x8055, 0});
	event_raise(&sa.events, &(struct event){.kind = EVENT_TRAP,
						.guid = 0x78,
						.notice = &trap,
						.facts = stranger,
						.num = 1});
	facts_unref(stranger);
	now();
	CU_ASSERT_EQUAL(out.count, 1);
	end_reports();
}

/* A port whose P_Keys are no longer known is reported to full members of the default partition
 * only. */
static void test_went_unseen(void)
{
	static const lid_t lids[HOSTS] = {16, 20, 24, 28};
	struct inform_info info = ALL_GENERIC;
	unsigned full = 0;
	uint8_t gid[GID_SIZE];

	begin_reports();
	for (unsigned host = 0; host < HOSTS; host++) {
		const pkey_t *keys = two_switches_hosts[host].p_keys;

		CU_ASSERT_EQUAL(inform(lids[host], 0, &info), STATUS_OK);
		full += !keys[0] || keys[0] == 0xFFFF || keys[1] == 0xFFFF;
	}
	CU_ASSERT_TRUE(full && full < HOSTS);
	event_raise(&sa.events, &(struct event){.kind = EVENT_PORT_OUT, .guid = 0xDEAD, .lid = 99});
	now();
	CU_ASSERT_EQUAL(out.count, full);
	gid_of(0xDEAD, gid);
	own_notice(0, TRAP_GID_OUT_OF_SERVICE, gid);
	end_reports();
}

/* Subscribers that do not answer */

static void expect_attempts(unsigned reports)
{
	CU_ASSERT_EQUAL(out.count, reports * REPORT_ATTEMPTS);
	CU_ASSERT_EQUAL(sa_report_stats(sa.server)->failed, reports);
	CU_ASSERT_EQUAL(sa_report_stats(sa.server)->retried, reports * (REPORT_ATTEMPTS - 1));
}

static void test_silent(void)
{
	struct inform_info info = ALL_GENERIC;
	char log[512];
	struct unit_capture capture;

	begin_reports();
	CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
	CU_ASSERT_EQUAL(inform(24, 0, &info), STATUS_OK);
	unit_capture_begin(&capture);
	for (unsigned i = 1; i <= REPORT_FAILURES_MAX; i++) {
		raise(EVENT_PORT_IN, B);
		for (unsigned s = 0; s < out.count; s++)
			if (out.sent[s].to.lid == 24)
				answer(s);
		run_until(loop_now_us(sa.loop) + 20000000);
		CU_ASSERT_EQUAL(sa_reports(sa.server), 0);
		CU_ASSERT_EQUAL(sa_report_stats(sa.server)->answered, i);
		CU_ASSERT_EQUAL(sa_report_stats(sa.server)->failed, i);
		CU_ASSERT_EQUAL(out.count, i * (1 + REPORT_ATTEMPTS));
		CU_ASSERT_EQUAL(subscriptions(), i < REPORT_FAILURES_MAX ? 2 : 1);
	}
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_PTR_NOT_NULL(strstr(log, "LID 16 did not answer"));
	CU_ASSERT_EQUAL(sa_report_stats(sa.server)->unsubscribed, 1);
	end_reports();
}

/* However many reports a few seconds of silence cost, it takes a minute of them. */
static void test_silent_for_seconds(void)
{
	enum { NOTICES = 2 * REPORT_FAILURES_MAX };
	struct inform_info info = ALL_GENERIC;
	struct unit_capture capture;
	char log[512];

	begin_reports();
	CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
	for (unsigned i = 0; i < NOTICES; i++)
		raise(EVENT_PORT_IN, B);
	run_until(loop_now_us(sa.loop) + 50000000);
	CU_ASSERT_EQUAL(sa_report_stats(sa.server)->failed, NOTICES);
	CU_ASSERT_EQUAL(subscriptions(), 1);
	run_until(loop_now_us(sa.loop) + REPORT_SILENCE_S * UINT64_C(1000000));
	CU_ASSERT_EQUAL(subscriptions(), 1);
	unit_capture_begin(&capture);
	raise(EVENT_PORT_IN, B);
	run_until(loop_now_us(sa.loop) + 20000000);
	unit_capture_end(&capture, log, sizeof(log));
	CU_ASSERT_EQUAL(subscriptions(), 0);
	end_reports();
}

/* One answer cancels all missed reports, and a late answer counts. */
static void test_forgiven(void)
{
	struct inform_info info = ALL_GENERIC;

	begin_reports();
	CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
	for (unsigned round = 0; round < 3; round++) {
		out.count = 0;
		for (unsigned i = 1; i < REPORT_FAILURES_MAX; i++) {
			raise(EVENT_PORT_IN, B);
			run_until(loop_now_us(sa.loop) + 20000000);
		}
		CU_ASSERT_EQUAL(out.count, (REPORT_FAILURES_MAX - 1) * REPORT_ATTEMPTS);
		raise(EVENT_PORT_IN, B);
		run_until(loop_now_us(sa.loop) + 500000); /* the first attempt is over */
		answer(out.count - 1);
		now();
	}
	CU_ASSERT_EQUAL(subscriptions(), 1);
	CU_ASSERT_EQUAL(sa_report_stats(sa.server)->answered, 3);
	end_reports();
}

/* RespTimeValue is how long later attempts wait, within bounds. */
static void test_timeouts(void)
{
	static const struct {
		uint8_t resp_time;
		unsigned ms;
	} cases[] = {{0, 200}, {16, 268}, {18, 1073}, {20, 4000}, {31, 4000}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct inform_info info = ALL_GENERIC;
		uint64_t second_us;

		begin_reports();
		info.resp_time = cases[i].resp_time;
		CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
		raise(EVENT_PORT_IN, B);
		run_until(20000000);
		expect_attempts(1);
		second_us = out.sent[2].at_us - out.sent[1].at_us;
		CU_ASSERT_TRUE(second_us >= cases[i].ms * 1000);
		CU_ASSERT_TRUE(second_us <= cases[i].ms * 1000 + 100000);
		end_reports();
	}
}

enum { MANY = 10000, SILENT_EACH = 10 };

static void subscribe_many(void)
{
	for (unsigned i = 0; i < MANY; i++) {
		const struct subscription_entry entry = {
			.prefix = options.subnet_prefix,
			.subscriber = PORT_GUID(i % 3),
			.number = (uint16_t)i,
			.lid = two_switches_hosts[i % 3].lid,
			.qpn = i,
			.lid_begin = INFORM_ANY,
			.is_generic = 1,
			.type = INFORM_ANY,
			.trap_number = INFORM_ANY,
			.resp_time = 18,
			.producer_type = INFORM_ANY_PRODUCER,
		};

		registry_put(sa.registry, REGISTRY_SUBSCRIPTION, &entry);
	}
}

/* Answers all that were sent since, but for each tenth subscriber; returns when the last of them
 * got it. */
static uint64_t answer_all(unsigned *answers)
{
	static unsigned from;
	uint64_t last_us = 0;

	if (!*answers)
		from = 0;
	for (; from < out.count; from++) {
		if (out.sent[from].to.qpn % SILENT_EACH == 0)
			continue;
		last_us = out.sent[from].at_us;
		answer(from);
		++*answers;
	}
	return last_us;
}

/* 10,000 subscriptions of which each tenth never answers. The others wait for those once, until
 * they are known, and then not any more. An answer takes 100 us here, so each place of the lane is
 * good for 10,000 a second. */
static void test_many(void)
{
	enum { RTT_US = 100, LIVING = MANY - MANY / SILENT_EACH };
	uint64_t began_us, first_us = 0, second_us = 0, last_us;
	unsigned answers;

	begin_reports();
	subscribe_many();
	for (unsigned round = 0; round < 2; round++) {
		began_us = loop_now_us(sa.loop);
		last_us = 0;
		answers = out.count = 0;
		raise(EVENT_PORT_IN, B);
		while (answers < LIVING && loop_now_us(sa.loop) < began_us + 10000000) {
			uint64_t at_us = answer_all(&answers);

			last_us = at_us ? at_us : last_us;
			run_until(loop_now_us(sa.loop) + RTT_US);
			CU_ASSERT_FATAL(out.count < OFF);
		}
		CU_ASSERT_EQUAL(answers, LIVING);
		*(round ? &second_us : &first_us) = last_us - began_us;
		run_until(loop_now_us(sa.loop) + 200000000);
	}
	/* A thousand of 96 at a time, for the time-out of the first attempt and the watchdog's. */
	CU_ASSERT_TRUE(first_us < 1200000);
	CU_ASSERT_TRUE(second_us < 20000);
	printf("10,000 subscriptions, each tenth silent: the others have a report after %u ms, "
	       "later ones after %u ms\n",
	       (unsigned)(first_us / 1000), (unsigned)(second_us / 1000));
	end_reports();
}

enum { CROWD = 1000, QP_HONEST = 0x777 };

static void subscribe_one(unsigned host, unsigned number, uint32_t qpn)
{
	const struct subscription_entry entry = {
		.prefix = options.subnet_prefix,
		.subscriber = PORT_GUID(host),
		.number = (uint16_t)number,
		.lid = two_switches_hosts[host].lid,
		.qpn = qpn,
		.lid_begin = INFORM_ANY,
		.is_generic = 1,
		.type = INFORM_ANY,
		.trap_number = INFORM_ANY,
		.resp_time = 20,
		.producer_type = INFORM_ANY_PRODUCER,
	};

	registry_put(sa.registry, REGISTRY_SUBSCRIPTION, &entry);
}

/* A program that subscribes again and again: each time the subscription counts as new. */
static void subscribe_again(unsigned host, unsigned number)
{
	const struct subscription_entry key = {.subscriber = PORT_GUID(host),
					       .number = (uint16_t)number};

	registry_drop(sa.registry, REGISTRY_SUBSCRIPTION, &key);
	subscribe_one(host, number, number);
}

/* The reports to this LID (0: to all) that are under way in a lane now, by their time of sending.
 * First attempts are in the quick lane. */
static unsigned under_way(lid_t lid, bool slow)
{
	enum { QUICK_MS = 50, LONGEST_US = 5000000 };
	uint64_t now_us = loop_now_us(sa.loop);
	unsigned count = 0;

	for (unsigned i = out.count; i-- && out.sent[i].at_us + LONGEST_US > now_us;)
		count += (out.sent[i].timeout_ms > QUICK_MS) == slow &&
			 (!lid || out.sent[i].to.lid == lid) &&
			 out.sent[i].at_us + out.sent[i].timeout_ms * 1000 > now_us;
	return count;
}

/* Answers the reports to QP_HONEST from *from on; the time at which the last of them was sent. */
static uint64_t answer_honest(unsigned *from, unsigned *answers)
{
	uint64_t last_us = 0;

	for (; *from < out.count; ++*from) {
		if (out.sent[*from].to.qpn != QP_HONEST)
			continue;
		last_us = out.sent[*from].at_us;
		answer(*from);
		++*answers;
	}
	return last_us;
}

/* A port has 1000 subscriptions that never answer and are made again all the time. They delay no
 * report to another port, and take no more places than the share of a port. */
static void test_crowd(void)
{
	enum { STEP_US = 1000, STEPS = 10000, NOTICE_STEPS = 500 };
	unsigned from = 0, answers = 0, notices = 0, number = 0;
	uint64_t raised_us = 0, worst_us = 0;

	begin_reports();
	for (unsigned i = 0; i < CROWD; i++)
		subscribe_one(A, i, i);
	subscribe_one(C, 0, QP_HONEST);
	for (unsigned step = 0; step < STEPS; step++) {
		uint64_t at_us;

		if (step % NOTICE_STEPS == 0) {
			CU_ASSERT_EQUAL(answers, notices); /* the previous report has arrived */
			notices++;
			raised_us = loop_now_us(sa.loop);
			raise(EVENT_PORT_IN, B);
		}
		subscribe_again(A, number++ % CROWD);
		run_until(loop_now_us(sa.loop) + STEP_US);
		at_us = answer_honest(&from, &answers);
		if (at_us && at_us - raised_us > worst_us)
			worst_us = at_us - raised_us;
		CU_ASSERT_TRUE(under_way(two_switches_hosts[A].lid, false) <= REPORT_QUICK_SHARE);
		CU_ASSERT_TRUE(under_way(two_switches_hosts[A].lid, true) <= REPORT_SLOW_SHARE);
	}
	CU_ASSERT_EQUAL(answers, notices);
	CU_ASSERT_TRUE(worst_us <= STEP_US);
	printf("a thousand silent subscriptions of another port: a report waits %u us\n",
	       (unsigned)worst_us);
	end_reports();
}

/* The same of three ports. A subscription that missed one report waits in the slow lane with them,
 * and has the next attempt at once. */
static void test_crowds(void)
{
	enum { STEP_US = 1000, STEPS = 300 };
	static const unsigned silent[] = {A, B, D};
	unsigned sent = 0;

	begin_reports();
	for (size_t s = 0; s < ARRAY_SIZE(silent); s++)
		for (unsigned i = 0; i < CROWD; i++)
			subscribe_one(silent[s], i, i);
	subscribe_one(C, 0, QP_HONEST);
	raise(EVENT_PORT_IN, B);
	for (unsigned step = 0; step < STEPS; step++) {
		run_until(loop_now_us(sa.loop) + STEP_US);
		CU_ASSERT_TRUE(under_way(0, false) <= REPORT_QUICK_MAX);
		CU_ASSERT_TRUE(under_way(0, true) <= REPORT_SLOW_MAX);
	}
	for (unsigned i = 0; i < out.count; i++)
		sent += out.sent[i].to.qpn == QP_HONEST;
	CU_ASSERT_EQUAL(sent, 2);
	end_reports();
}

/* A repeated report is unchanged, also after later notices. Notices keep their order. */
static void test_again_in_order(void)
{
	struct inform_info info = ALL_GENERIC;
	struct notice notice;

	begin_reports();
	CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
	for (uint16_t i = 0; i < 3; i++)
		raise_trap((struct notice){.is_generic = 1, .trap_number = 144, .count = i}, C);
	run_until(loop_now_us(sa.loop) + 500000); /* the first attempt is over */
	CU_ASSERT_EQUAL(out.count, 2);
	for (unsigned i = 0; i < 4; i++) {
		static const uint16_t counts[] = {0, 0, 1, 2};

		reported(i, &notice);
		CU_ASSERT_EQUAL(notice.count, counts[i]);
		if (i)
			answer(i);
		now();
	}
	CU_ASSERT_EQUAL(out.count, 4);
	CU_ASSERT_EQUAL(sa_report_stats(sa.server)->sent, 3);
	CU_ASSERT_EQUAL(sa_report_stats(sa.server)->retried, 1);
	CU_ASSERT_EQUAL(sa_report_stats(sa.server)->answered, 3);
	end_reports();
}

/* The registry's record of a subscription is freed with it, and with the change of it: memory does
 * not grow. (Where a sanitizer replaces malloc() the sizes are 0, and its leak detection decides.)
 */
static void test_records_are_freed(void)
{
	enum { WARM = 100, TIMES = 1000 };
	struct inform_info info = ALL_GENERIC;
	size_t before = 0;

	begin_reports();
	for (unsigned i = 0; i < WARM + TIMES; i++) {
		if (i == WARM)
			before = mallinfo2().uordblks;
		info.subscribe = 1;
		info.resp_time = 18;
		CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
		info.resp_time = 19;
		CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
		info.subscribe = 0;
		CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
		now();
	}
	CU_ASSERT_EQUAL(mallinfo2().uordblks, before);
	end_reports();
}

/* Notices beyond the size of the log are lost and counted; the latest are kept. */
static void test_falls_behind(void)
{
	struct inform_info info = ALL_GENERIC;
	enum { MORE = 100 };
	unsigned told = 1;
	struct notice notice = {0};

	begin_reports();
	CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
	raise(EVENT_PORT_IN, B);
	for (unsigned i = 0; i < REPORT_LOG + MORE; i++)
		raise_trap((struct notice){.is_generic = 1, .trap_number = 144, .count = i % 32768},
			   C);
	CU_ASSERT_EQUAL(out.count, 1);
	for (; told <= out.count && sa_reports(sa.server); told++) {
		answer(told - 1);
		now();
	}
	CU_ASSERT_EQUAL(out.count, 1 + REPORT_LOG);
	CU_ASSERT_EQUAL(sa_report_stats(sa.server)->lost, MORE);
	reported(out.count - 1, &notice);
	CU_ASSERT_EQUAL(notice.count, REPORT_LOG + MORE - 1);
	end_reports();
}

/* Ends while a report is under way: of the subscription, of the role of MASTER, of the port, of the
 * SA. */
static void test_ends(void)
{
	struct inform_info info = ALL_GENERIC;

	begin_reports();
	CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
	raise(EVENT_PORT_IN, B);
	info.subscribe = 0;
	CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
	answer(0);
	now();
	CU_ASSERT_EQUAL(sa_reports(sa.server), 0);
	info.subscribe = 1;
	CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
	raise(EVENT_PORT_IN, B);
	raise(EVENT_PORT_OUT, B);
	event_raise(&sa.events, &(struct event){.kind = EVENT_NOT_MASTER});
	CU_ASSERT_EQUAL(sa_reports(sa.server), 0);
	run_until(loop_now_us(sa.loop) + 20000000);
	CU_ASSERT_EQUAL(out.count, 2);
	raise(EVENT_PORT_IN, B); /* it is MASTER again */
	CU_ASSERT_EQUAL(out.count, 3);
	event_raise(&sa.events,
		    &(struct event){.kind = EVENT_PORT_FORGOTTEN, .guid = PORT_GUID(C)});
	CU_ASSERT_EQUAL(subscriptions(), 1);
	event_raise(&sa.events,
		    &(struct event){.kind = EVENT_PORT_FORGOTTEN, .guid = PORT_GUID(A)});
	CU_ASSERT_EQUAL(subscriptions(), 0);
	CU_ASSERT_EQUAL(inform(16, 0, &info), STATUS_OK);
	raise(EVENT_PORT_IN, B);
	end_reports(); /* with a report under way */
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"subscribing", test_subscribe},
		{"as osmtest does", test_osmtest_matrix},
		{"rights to subscribe", test_subscribe_rights},
		{"LIDs that may not be known", test_hidden_lids},
		{"InformInfoRecords", test_records},
		{"limit", test_limit},
		{"own notices", test_own_notices},
		{"key lost", test_key_lost},
		{"key being taken", test_key_being_taken},
		{"went unseen", test_went_unseen},
		{"matching", test_matching},
		{"as srp_daemon asks", test_as_srp_asks},
		{"a vendor's notice", test_vendor},
		{"secrets", test_secrets},
		{"silent", test_silent},
		{"silent for seconds", test_silent_for_seconds},
		{"forgiven", test_forgiven},
		{"time-outs", test_timeouts},
		{"many", test_many},
		{"a crowd of one port", test_crowd},
		{"crowds of three ports", test_crowds},
		{"sent again in order", test_again_in_order},
		{"records are freed", test_records_are_freed},
		{"falls behind", test_falls_behind},
		{"ends", test_ends},
		CU_TEST_INFO_NULL,
	};

	return unit_main("report", tests);
}
