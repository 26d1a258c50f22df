/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * ServiceRecord from the wire to the wire, on a simulated clock: rights to register, change and
 * delete a service, its visibility, the services that each component finds, and leases.
 */
// WITH: tests/sim/loop_virtual.o
#include <malloc.h>

#include "sa/lease.h"
#include "store/setting.h"
#include "tests/sim/loop_virtual.h"
#include "tests/unit/fixtures/sa_client.h"

enum { LID_A = 16, LID_B = 20, LID_C = 24, LID_D = 28 };

enum {
	ID = 1 << SERVICE_RECORD_SERVICE_ID,
	GID = 1 << SERVICE_RECORD_GID,
	P_KEY = 1 << SERVICE_RECORD_P_KEY,
	LEASE = 1 << SERVICE_RECORD_LEASE,
	KEY = 1 << SERVICE_RECORD_KEY,
	NAME = 1 << 6,
};

static void gid_of(guid_t guid, uint8_t gid[GID_SIZE])
{
	be64_store(gid, options.subnet_prefix);
	be64_store(gid + 8, guid);
}

static int send_service(lid_t from, uint8_t method, uint64_t sm_key, uint64_t mask,
			const struct service_record *record)
{
	return ask(&(struct ask){.from = from,
				 .method = method,
				 .attr_id = RECORD_SERVICE,
				 .sm_key = sm_key,
				 .mask = mask,
				 .format = &service_record_format,
				 .record = record});
}

static struct service_record service(uint64_t id, unsigned host)
{
	struct service_record record = {.service_id = id, .p_key = 0xFFFF, .lease = UINT32_MAX};

	gid_of(PORT_GUID(host), record.gid);
	snprintf((char *)record.name, sizeof(record.name), "service %u", (unsigned)id);
	return record;
}

static size_t services(void)
{
	return registry_count(sa.registry, REGISTRY_SERVICE);
}

static struct service_record answer(void)
{
	struct service_record record = {0};

	answered(&service_record_format, 0, &record);
	return record;
}

static void wait_s(unsigned seconds)
{
	uint64_t until_us = loop_now_us(sa.loop) + seconds * UINT64_C(1000000), next_us;

	while ((next_us = loop_next_us(sa.loop)) <= until_us)
		loop_step(sa.loop, next_us > loop_now_us(sa.loop) ? next_us : loop_now_us(sa.loop));
	loop_step(sa.loop, until_us);
}

/* Register, find, change, delete. */
static void test_life(void)
{
	struct service_record record = service(1, A), found;
	uint64_t before;

	begin();
	record.data8[3] = 8;
	record.data16[2] = 16;
	record.data32[1] = 32;
	record.data64[0] = 64;
	CU_ASSERT_EQUAL(
		send_service(LID_A, METHOD_SET, 0, ID | GID | P_KEY | LEASE | NAME, &record),
		STATUS_OK);
	CU_ASSERT_EQUAL(sa.header.method, METHOD_GET_RESP);
	found = answer();
	CU_ASSERT_EQUAL(memcmp(&found, &record, sizeof(found)), 0);
	CU_ASSERT_EQUAL(send_service(LID_C, METHOD_GET, 0, ID, &record), STATUS_OK);
	found = answer();
	CU_ASSERT_EQUAL(memcmp(&found, &record, sizeof(found)), 0);
	/* The same again is the same; another name is a change. */
	before = registry_number(sa.registry);
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, 0, ID | GID, &record), STATUS_OK);
	CU_ASSERT_EQUAL(registry_number(sa.registry), before);
	strcpy((char *)record.name, "renamed");
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, 0, ID | GID, &record), STATUS_OK);
	CU_ASSERT_EQUAL(services(), 1);
	CU_ASSERT_EQUAL(send_service(LID_C, METHOD_GET, 0, NAME, &record), STATUS_OK);
	/* Another P_Key or GID is another service. */
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_DELETE, 0, NAME, &record), STATUS_OK);
	CU_ASSERT_EQUAL(sa.header.method, METHOD_DELETE_RESP);
	CU_ASSERT_STRING_EQUAL((char *)answer().name, "renamed");
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_DELETE, 0, NAME, &record), SA_NO_RECORDS);
	CU_ASSERT_EQUAL(services(), 0);
	end();
}

/* A request without a P_Key gets a chosen P_Key, which is in the answer. */
static void test_default_p_key(void)
{
	struct service_record record = service(1, A);

	begin();
	record.p_key = 0;
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, 0, ID | GID, &record), STATUS_OK);
	CU_ASSERT_EQUAL(answer().p_key, 0xFFFF);
	record = service(2, B); /* a limited member of it */
	record.p_key = 0;
	CU_ASSERT_EQUAL(send_service(LID_B, METHOD_SET, 0, ID | GID, &record), STATUS_OK);
	CU_ASSERT_EQUAL(answer().p_key, 0xFFFF);
	end();
}

/* Rights to change services. B registered number 7 with a key. */
static void test_rights(void)
{
	static const struct {
		const char *what;
		lid_t from;
		uint8_t method;
		uint64_t sm_key;
		unsigned host; /* whose GID */
		uint8_t key;   /* that is given; 0: none */
		pkey_t p_key;
		uint64_t mask, id;
		uint16_t status;
	} cases[] = {
		{"own", LID_A, METHOD_SET, 0, A, 0, 0xFFFF, ID | GID, 1, STATUS_OK},
		{"own, limited key", LID_A, METHOD_SET, 0, A, 0, 0x7FFF, ID | GID, 1, STATUS_OK},
		{"no ID", LID_A, METHOD_SET, 0, A, 0, 0xFFFF, GID, 1, SA_REQ_INVALID},
		{"no GID", LID_A, METHOD_SET, 0, A, 0, 0xFFFF, ID, 1, SA_REQ_INVALID},
		{"another's", LID_A, METHOD_SET, 0, C, 0, 0xFFFF, ID | GID, 1, SA_REQ_INVALID},
		{"trusted", LID_A, METHOD_SET, SA_KEY, C, 0, 0xFFFF, ID | GID, 1, STATUS_OK},
		{"no port's", LID_A, METHOD_SET, SA_KEY, 9, 0, 0xFFFF, ID | GID, 1,
		 SA_REQ_INVALID_GID},
		{"not our P_Key", LID_A, METHOD_SET, 0, A, 0, 0x8001, ID | GID | P_KEY, 1,
		 SA_REQ_INVALID},
		{"not its P_Key", LID_B, METHOD_SET, SA_KEY, A, 0, 0x8001, ID | GID | P_KEY, 1,
		 SA_REQ_INVALID},
		{"B's own", LID_B, METHOD_SET, 0, B, 0, 0x8001, ID | GID | P_KEY, 7, STATUS_OK},
		{"and key", LID_B, METHOD_SET, 0, B, 5, 0x8001, ID | GID | P_KEY | KEY, 7,
		 STATUS_OK},
		{"wrong key", LID_B, METHOD_SET, 0, B, 6, 0x8001, ID | GID | P_KEY | KEY, 7,
		 SA_REQ_INVALID},
		{"C knows it", LID_C, METHOD_SET, 0, B, 5, 0x8001, ID | GID | P_KEY | KEY, 7,
		 STATUS_OK},
		{"C guesses", LID_C, METHOD_SET, 0, B, 4, 0x8001, ID | GID | P_KEY | KEY, 7,
		 SA_REQ_INVALID},
		{"C gives none", LID_C, METHOD_DELETE, 0, B, 0, 0x8001, ID | GID | P_KEY, 7,
		 SA_REQ_INVALID},
		{"not seen", LID_A, METHOD_DELETE, 0, B, 5, 0x8001, ID | GID | P_KEY | KEY, 7,
		 SA_NO_RECORDS},
		{"wrong", LID_B, METHOD_DELETE, 0, B, 6, 0x8001, ID | GID | P_KEY | KEY, 7,
		 SA_REQ_INVALID},
		{"right", LID_C, METHOD_DELETE, 0, B, 5, 0x8001, ID | GID | P_KEY | KEY, 7,
		 STATUS_OK},
		{"trusted", LID_C, METHOD_DELETE, SA_KEY, B, 6, 0x8001, ID | GID | P_KEY | KEY, 7,
		 STATUS_OK},
		{"osmtest's way", LID_B, METHOD_DELETE, 0, B, 0, 0x8001, NAME, 7, STATUS_OK},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct service_record theirs = service(7, B), record;
		size_t before;
		int status;

		begin();
		theirs.p_key = 0x8001;
		theirs.key[0] = 5;
		CU_ASSERT_EQUAL(send_service(LID_B, METHOD_SET, 0, ID | GID | P_KEY | KEY, &theirs),
				STATUS_OK);
		before = registry_number(sa.registry);
		record = service(cases[i].id, cases[i].host);
		record.p_key = cases[i].p_key;
		record.key[0] = cases[i].key;
		record.data8[0] = 1;
		status = send_service(cases[i].from, cases[i].method, cases[i].sm_key,
				      cases[i].mask, &record);
		CU_ASSERT_EQUAL(status, cases[i].status);
		CU_ASSERT_EQUAL(registry_number(sa.registry) > before, !cases[i].status);
		if (status != cases[i].status)
			printf("%s: %#x\n", cases[i].what, (unsigned)status);
		end();
	}
}

/* No answer distinguishes a port that the requester may not see from a port that does not exist. */
static void test_hidden_port(void)
{
	struct service_record hidden = service(1, D), nobodys = service(1, 9);
	struct view *view;

	begin();
	view = two_switches_view();
	((pkey_t *)view->topology->ends[D].facts->port[1].pkeys->key)[1] = 0x8002;
	view_publish(&sa.view, view);
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, 0, ID | GID, &nobodys), SA_REQ_INVALID_GID);
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, 0, ID | GID, &hidden), SA_REQ_INVALID_GID);
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, SA_KEY, ID | GID, &hidden),
			SA_REQ_INVALID_GID);
	CU_ASSERT_EQUAL(services(), 0);
	end();
}

/* A multicast group's service: by its members only, and of groups that are there. */
static void test_multicast_service(void)
{
	const uint8_t mgid[GID_SIZE] = {0xFF, 0x12, 0x40, 0x1B};
	struct member_entry member = {
		.port_prefix = options.subnet_prefix, .port_guid = PORT_GUID(A), .join_state = 1};
	struct service_record record = service(1, A);

	begin();
	memcpy(record.gid, mgid, GID_SIZE);
	memcpy(member.mgid, mgid, GID_SIZE);
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, 0, ID | GID, &record), SA_REQ_INVALID);
	registry_put(sa.registry, REGISTRY_MEMBER, &member);
	CU_ASSERT_EQUAL(send_service(LID_C, METHOD_SET, 0, ID | GID, &record), SA_REQ_INVALID);
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, 0, ID | GID, &record), STATUS_OK);
	CU_ASSERT_EQUAL(send_service(LID_C, METHOD_GET, 0, ID | GID, &record), STATUS_OK);
	end();
}

/* Visibility: A's service is in the default partition, B's in partition 1. */
static void test_visibility(void)
{
	struct service_record record;

	begin();
	record = service(1, A);
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, 0, ID | GID, &record), STATUS_OK);
	record = service(2, B);
	record.p_key = 0x8001;
	CU_ASSERT_EQUAL(send_service(LID_B, METHOD_SET, 0, ID | GID | P_KEY, &record), STATUS_OK);
	record = service(3, C); /* C is a limited member there: B can talk to it */
	record.p_key = 0x0001;
	CU_ASSERT_EQUAL(send_service(LID_C, METHOD_SET, 0, ID | GID | P_KEY, &record), STATUS_OK);
	CU_ASSERT_EQUAL(table(RECORD_SERVICE, &service_record_format, 0, NULL), 1);
	for (unsigned id = 1; id <= 3; id++) {
		record = service(id, A);
		CU_ASSERT_EQUAL(send_service(LID_B, METHOD_GET, 0, ID, &record), STATUS_OK);
		CU_ASSERT_EQUAL(send_service(LID_C, METHOD_GET, 0, ID, &record), STATUS_OK);
		CU_ASSERT_EQUAL(send_service(LID_A, METHOD_GET, SA_KEY, ID, &record),
				id == 1 ? STATUS_OK : SA_NO_RECORDS);
	}
	end();
}

/* ServiceKeys are in answers only with the SA_Key. A requester that knows a key can search for it.
 */
static void test_keys(void)
{
	struct service_record record = service(1, A);

	begin();
	record.key[15] = 9;
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, 0, ID | GID | KEY, &record), STATUS_OK);
	CU_ASSERT_EQUAL(answer().key[15], 0);
	CU_ASSERT_EQUAL(send_service(LID_C, METHOD_GET, 0, ID, &record), STATUS_OK);
	CU_ASSERT_EQUAL(answer().key[15], 0);
	CU_ASSERT_EQUAL(send_service(LID_C, METHOD_GET, SA_KEY, ID, &record), STATUS_OK);
	CU_ASSERT_EQUAL(answer().key[15], 9);
	CU_ASSERT_EQUAL(send_service(LID_C, METHOD_GET, 0, ID | KEY, &record), STATUS_OK);
	record.key[15] = 0;
	CU_ASSERT_EQUAL(send_service(LID_C, METHOD_GET, 0, ID | KEY, &record), SA_NO_RECORDS);
	/* A Set without the key keeps it. */
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, SA_KEY, ID | GID, &record), STATUS_OK);
	CU_ASSERT_EQUAL(answer().key[15], 9);
	end();
}

/* saquery sends the default SA_Key unasked, so it must not show keys. */
static void test_default_key(void)
{
	struct service_record record = service(1, A);
	struct sa_options known = options;

	known.sa_key = SA_KEY_DEFAULT;
	begin();
	sa_set_options(sa.server, &known);
	record.key[15] = 9;
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, 0, ID | GID | KEY, &record), STATUS_OK);
	CU_ASSERT_EQUAL(send_service(LID_C, METHOD_GET, SA_KEY_DEFAULT, ID, &record), STATUS_OK);
	CU_ASSERT_EQUAL(answer().key[15], 0);
	record.key[15] = 0;
	CU_ASSERT_EQUAL(send_service(LID_C, METHOD_DELETE, SA_KEY_DEFAULT, ID | GID, &record),
			SA_REQ_INVALID);
	end();
}

/* Each component finds by its value, and not by another. */
static void test_components(void)
{
	uint8_t wire[SUBN_ADM_DATA_SIZE], other[SUBN_ADM_DATA_SIZE];
	struct service_record record = service(0x1122334455667788, A), wanted;

	begin();
	record.lease = 100;
	memset(record.key, 0x77, sizeof(record.key));
	memset(record.data8, 0x88, sizeof(record.data8));
	memset(record.data16, 0x88, sizeof(record.data16));
	memset(record.data32, 0x88, sizeof(record.data32));
	memset(record.data64, 0x88, sizeof(record.data64));
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, 0, ID | GID | KEY | LEASE, &record),
			STATUS_OK);
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_GET, SA_KEY, ID, &record), STATUS_OK);
	memcpy(wire, sa.mad + SUBN_ADM_HEADER_SIZE, sizeof(wire));
	for (unsigned row = 0; row < service_record_format.count; row++) {
		const struct field *field = &service_record_format.fields[row];

		if (field->kind == FIELD_RESERVED)
			continue;
		format_decode(&service_record_format, wire, &wanted);
		CU_ASSERT_EQUAL(
			table(RECORD_SERVICE, &service_record_format, COMPONENT(row), &wanted), 1);
		for (unsigned bit = field->bit; bit < field->bit + field->width; bit++) {
			memcpy(other, wire, sizeof(other));
			other[bit / 8] ^= 0x80 >> bit % 8;
			format_decode(&service_record_format, other, &wanted);
			CU_ASSERT_EQUAL(table(RECORD_SERVICE, &service_record_format,
					      COMPONENT(row), &wanted),
					0);
		}
	}
	end();
}

/* Leases */

static void test_lease(void)
{
	struct service_record record = service(1, A);

	begin();
	record.lease = 0;
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, 0, ID | GID | LEASE, &record),
			SA_REQ_INVALID);
	record.lease = 10;
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, 0, ID | GID | LEASE, &record), STATUS_OK);
	CU_ASSERT_EQUAL(answer().lease, 10);
	record.service_id = 2;
	record.lease = 5;
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, 0, ID | GID | LEASE, &record), STATUS_OK);
	record.service_id = 3; /* the component is not there: for ever */
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, 0, ID | GID, &record), STATUS_OK);
	CU_ASSERT_EQUAL(answer().lease, UINT32_MAX);
	wait_s(4);
	record.service_id = 1;
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_GET, 0, ID, &record), STATUS_OK);
	CU_ASSERT_EQUAL(answer().lease, 6);
	CU_ASSERT_EQUAL(services(), 3);
	wait_s(2);
	CU_ASSERT_EQUAL(services(), 2);
	/* A repeated registration starts the lease again. */
	record.lease = 10;
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, 0, ID | GID | LEASE, &record), STATUS_OK);
	CU_ASSERT_EQUAL(answer().lease, 10);
	wait_s(9);
	CU_ASSERT_EQUAL(services(), 2);
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_GET, 0, ID, &record), STATUS_OK);
	CU_ASSERT_EQUAL(answer().lease, 1);
	wait_s(2);
	CU_ASSERT_EQUAL(services(), 1);
	wait_s(1000000);
	CU_ASSERT_EQUAL(services(), 1);
	/* The longest that ends: a timer far away. */
	record.lease = UINT32_MAX - 1;
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, 0, ID | GID | LEASE, &record), STATUS_OK);
	wait_s(200000);
	CU_ASSERT_EQUAL(services(), 2);
	end();
}

/* Leases continue where another manager left them: services in the registry when the SA starts. */
static void test_lease_from_before(void)
{
	struct service_entry entry = {.service_id = 1, .gid_guid = PORT_GUID(A), .p_key = 0xFFFF};

	begin();
	sa_free(sa.server);
	entry.expires_s = loop_wall_s(sa.loop) + 7;
	registry_put(sa.registry, REGISTRY_SERVICE, &entry);
	entry.service_id = 2;
	entry.expires_s = 1; /* long ago */
	registry_put(sa.registry, REGISTRY_SERVICE, &entry);
	sa.server = sa_new(sa.loop, sa.txns, &sa.view, sa.registry, &sa.events, &options);
	CU_ASSERT_EQUAL(table(RECORD_SERVICE, &service_record_format, 0, NULL), 1);
	wait_s(1);
	CU_ASSERT_EQUAL(services(), 1);
	wait_s(7);
	CU_ASSERT_EQUAL(services(), 0);
	end();
}

static void restart(void)
{
	sa_free(sa.server);
	sa.server = sa_new(sa.loop, sa.txns, &sa.view, sa.registry, &sa.events, &options);
	event_raise(&sa.events, &(struct event){.kind = EVENT_MASTER});
}

static uint32_t lease_of(uint64_t id)
{
	struct service_record record = service(id, A);

	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_GET, 0, ID, &record), STATUS_OK);
	return answer().lease;
}

/* The wall clock may be set, also by years, while the daemon runs or not. A lease is never shorter
 * than requested, and longer by at most the time since the clock was saved. */
static void test_wall_clock_jumps(void)
{
	enum { YEARS = 400000000, KEPT = 60 };
	struct service_record record = service(1, A);
	static const int64_t jumps[] = {YEARS, -2 * (int64_t)YEARS, YEARS};

	for (size_t i = 0; i < ARRAY_SIZE(jumps); i++) {
		begin();
		record.lease = 1000;
		CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, 0, ID | GID | LEASE, &record),
				STATUS_OK);
		wait_s(70);
		loop_set_wall(sa.loop, jumps[i]);
		CU_ASSERT_EQUAL(lease_of(1), 930);
		restart();
		CU_ASSERT_TRUE(lease_of(1) >= 930 && lease_of(1) <= 930 + KEPT);
		loop_set_wall(sa.loop, jumps[i]);
		wait_s(929);
		CU_ASSERT_EQUAL(services(), 1);
		wait_s(KEPT + 2);
		CU_ASSERT_EQUAL(services(), 0);
		end();
	}
}

/* A document has its leases with their clock: all of them have their remaining time again. */
static void test_leases_of_a_document(void)
{
	struct service_record record = service(1, A);
	struct service_entry entry = {.service_id = 2, .gid_guid = PORT_GUID(A), .p_key = 0xFFFF};

	begin();
	record.lease = 1000;
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, 0, ID | GID | LEASE, &record), STATUS_OK);
	wait_s(1);
	registry_together(sa.registry, true);
	registry_drop(sa.registry, REGISTRY_SERVICE,
		      registry_first(sa.registry, REGISTRY_SERVICE, -1, NULL));
	entry.gid_prefix = options.subnet_prefix;
	entry.expires_s = 5011;
	registry_put(sa.registry, REGISTRY_SERVICE, &entry);
	wait_s(3);
	CU_ASSERT_EQUAL(services(), 1); /* the lease clock is still missing */
	setting_put(sa.registry, "lease clock", "5000");
	registry_together(sa.registry, false);
	CU_ASSERT_EQUAL(lease_of(2), 10);
	wait_s(12);
	CU_ASSERT_EQUAL(services(), 0);

	/* An invalid lease clock is ignored. */
	setting_put(sa.registry, "lease clock", "5000 o'clock");
	entry.expires_s = loop_wall_s(sa.loop) + 11;
	registry_put(sa.registry, REGISTRY_SERVICE, &entry);
	restart();
	CU_ASSERT_EQUAL(lease_of(2), 10);
	end();
}

static void test_forgotten(void)
{
	struct service_record record;

	begin();
	record = service(1, A);
	CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, 0, ID | GID, &record), STATUS_OK);
	record = service(1, C);
	CU_ASSERT_EQUAL(send_service(LID_C, METHOD_SET, 0, ID | GID, &record), STATUS_OK);
	event_raise(&sa.events, &(struct event){.kind = EVENT_PORT_OUT, .guid = PORT_GUID(A)});
	CU_ASSERT_EQUAL(services(), 2);
	event_raise(&sa.events,
		    &(struct event){.kind = EVENT_PORT_FORGOTTEN, .guid = PORT_GUID(A)});
	CU_ASSERT_EQUAL(services(), 1);
	CU_ASSERT_EQUAL(send_service(LID_C, METHOD_GET, 0, ID | GID, &record), STATUS_OK);
	end();
}

static void test_limit(void)
{
	begin();
	for (unsigned i = 0; i <= options.registrations_per_port; i++) {
		struct service_record record = service(i, A);

		CU_ASSERT_EQUAL(send_service(LID_A, METHOD_SET, 0, ID | GID, &record),
				i < options.registrations_per_port ? STATUS_OK : SA_NO_RESOURCES);
	}
	CU_ASSERT_EQUAL(sa_stats(sa.server)->over_limit[SA_LIMIT_REGISTRATIONS], 1);
	end();
}

/* Services and the ports for which they count, compared with a model. The first port that registers
 * a service is its owner, also after changes by others. A change requires the service's key, the
 * port itself (with no other key than that), or the SA_Key. */

enum { OWNED = 6, OWNED_STEPS = 20000 };

static struct {
	bool there;
	unsigned owner;
	uint8_t key; /* 0: none */
} owned[OWNED];

static unsigned draw(unsigned below)
{
	static uint64_t state = 0xB5297A4D3F84D5B5;

	state = state * 6364136223846793005 + 1442695040888963407;
	return (unsigned)(state >> 33) % below;
}

static bool model_may(unsigned i, bool own, bool trusted, bool gives, uint8_t key)
{
	bool has_key = owned[i].there && owned[i].key;

	if (trusted)
		return true;
	if (has_key && gives && key != owned[i].key)
		return false;
	return own || (has_key && key == owned[i].key);
}

static void compare_owned(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < OWNED; i++) {
		unsigned host = i % 2 ? C : A;
		const struct service_entry key = {.service_id = i + 1,
						  .gid_prefix = options.subnet_prefix,
						  .gid_guid = PORT_GUID(host),
						  .p_key = 0xFFFF};
		const struct service_entry *found =
			registry_find(sa.registry, REGISTRY_SERVICE, &key);

		CU_ASSERT_EQUAL(found != NULL, owned[i].there);
		count += owned[i].there;
		if (!found || !owned[i].there)
			continue;
		CU_ASSERT_EQUAL(found->owner, PORT_GUID(owned[i].owner));
		CU_ASSERT_EQUAL(found->key[15], owned[i].key);
	}
	CU_ASSERT_EQUAL(services(), count);
}

static void test_owners(void)
{
	begin();
	memset(owned, 0, sizeof(owned));
	for (unsigned step = 0; step < OWNED_STEPS; step++) {
		unsigned i = draw(OWNED), host = i % 2 ? C : A, asks = draw(2) ? C : A;
		struct service_record record = service(i + 1, host);
		bool trusted = draw(8) == 0, gives = draw(2), deletes = draw(4) == 0, may;
		int status;

		record.key[15] = (uint8_t)draw(3);
		may = model_may(i, asks == host, trusted, gives, record.key[15]);
		status = send_service(asks == A ? LID_A : LID_C,
				      deletes ? METHOD_DELETE : METHOD_SET, trusted ? SA_KEY : 0,
				      ID | GID | P_KEY | (gives ? KEY : 0), &record);
		if (deletes && !owned[i].there) {
			CU_ASSERT_EQUAL(status, SA_NO_RECORDS);
		} else {
			CU_ASSERT_EQUAL(status, may ? STATUS_OK : SA_REQ_INVALID);
		}
		if (may && deletes) {
			memset(&owned[i], 0, sizeof(owned[i]));
		} else if (may) {
			if (!owned[i].there)
				owned[i].owner = asks;
			owned[i].there = true;
			if (gives)
				owned[i].key = record.key[15];
		}
		compare_owned();
	}
	end();
}

/* 100,000 services with leases that are renewed, in memory that is in proportion, and all of them
 * over at their time. */
static void test_many(void)
{
	enum { MANY = 100000, ROUNDS = 4, BYTES_EACH = 800 };
	size_t before, after;

	begin();
	before = mallinfo2().uordblks + mallinfo2().hblkhd;
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < MANY; i++) {
			struct service_entry entry = {
				.service_id = i, .gid_guid = i % 1000, .p_key = 0xFFFF};

			entry.expires_s = loop_wall_s(sa.loop) + 100 + i % 50;
			registry_put(sa.registry, REGISTRY_SERVICE, &entry);
		}
		wait_s(10);
	}
	CU_ASSERT_EQUAL(services(), MANY);
	after = mallinfo2().uordblks + mallinfo2().hblkhd;
	CU_ASSERT_TRUE(after - before < (size_t)MANY * BYTES_EACH * 2);
	printf("100,000 services: %zu bytes each\n", (after - before) / MANY);
	wait_s(89);
	CU_ASSERT_EQUAL(services(), MANY);
	wait_s(51);
	CU_ASSERT_EQUAL(services(), 0);
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"life", test_life},
		{"a P_Key by default", test_default_p_key},
		{"rights", test_rights},
		{"a port that may not be known", test_hidden_port},
		{"a group's service", test_multicast_service},
		{"visibility", test_visibility},
		{"keys", test_keys},
		{"the default SA_Key", test_default_key},
		{"components", test_components},
		{"leases", test_lease},
		{"leases from before", test_lease_from_before},
		{"the wall clock jumps", test_wall_clock_jumps},
		{"leases of a document", test_leases_of_a_document},
		{"forgotten", test_forgotten},
		{"limit", test_limit},
		{"owners by a model", test_owners},
		{"many", test_many},
		CU_TEST_INFO_NULL,
	};

	return unit_main("service", tests);
}
