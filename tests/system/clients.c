/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The requests of InfiniBand software to the SA, with the component masks that each program uses:
 * IPoIB and rdma_cm as of Linux 6.1 (ipoib_multicast.c, ipoib_main.c, cma.c through ib_sa), ib_srp
 * and srp_daemon, ibacm. `clients LID GUID` uses libibumad, as the last two do. LID and GUID are
 * those of the destination port of the paths. It prints a line for each request, and ends with 1 if
 * an answer is wrong. For tests/system/clients.sh.
 *
 * The requests are one table, in the order in which they are sent. A field is an offset in the
 * record with its value, or a value that is known only at run time. Answers are checked only where
 * the specification fixes them. It does not fix the Scope of a group that was created without one:
 * OpenSM returns 0.
 */
#include <endian.h>
#include <infiniband/umad.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CLASS_SA = 3,
	VERSION_SA = 2,
	GET = 0x01,
	SET = 0x02,
	GET_TABLE = 0x12,
	DELETE = 0x15,
	MAD = 256,
	ANSWER_MAX = 1 << 20,
	OFFSET_AT = 44,
	MASK_AT = 48,
	DATA = 56,
	TIMEOUT_MS = 5000,
	FIELDS = 16,
};

enum {
	CLASS_PORT_INFO = 0x0001,
	INFORM_INFO = 0x0003,
	NODE_RECORD = 0x0011,
	PORT_INFO_RECORD = 0x0012,
	SERVICE_RECORD = 0x0031,
	PATH_RECORD = 0x0035,
	MC_MEMBER_RECORD = 0x0038,
};

/* Values known only at run time: the table has their kind. No constant is as large. */
#define KNOWN_LATER UINT64_C(0xABCDEF0000000000)
enum { PREFIX = 1, GUID, LID, OTHER_GUID, OTHER_LID, VALUES };
#define VALUE(kind) (KNOWN_LATER + (kind))

static uint64_t values[VALUES];

struct field {
	uint16_t at;
	uint8_t size; /* bytes; 0 ends */
	uint64_t value;
};

struct request {
	const char *name;
	uint8_t method;
	uint16_t attribute;
	uint32_t modifier;
	uint64_t mask;
	struct field asked[FIELDS];
	uint16_t status;
	int records; /* of a table; -1: at least one */
	struct field told[FIELDS];
};

#define BIT(n) (UINT64_C(1) << (n))
#define GID(at, guid)                    \
	{(at), 8, VALUE(PREFIX)},        \
	{                                \
		(at) + 8, 8, VALUE(guid) \
	}

/* PathRecord */
#define P_SERVICE_ID (BIT(0) | BIT(1))
#define P_GIDS (BIT(2) | BIT(3))
#define P_LIDS (BIT(4) | BIT(5))
#define P_TCLASS BIT(10)
#define P_REVERSIBLE BIT(11)
#define P_NUMB_PATH BIT(12)
#define P_P_KEY BIT(13)
#define P_QOS_CLASS BIT(14)
#define PATH_TO_OTHER GID(8, OTHER_GUID), GID(24, GUID)
#define PATH_TOLD                                                                                  \
	{                                                                                          \
		GID(8, OTHER_GUID), GID(24, GUID), {40, 2, VALUE(OTHER_LID)}, {42, 2, VALUE(LID)}, \
			{50, 2, 0xFFFF},                                                           \
		{                                                                                  \
			56, 1, 0x80 | 18                                                           \
		}                                                                                  \
	}

/* MCMemberRecord */
#define M_JOIN (BIT(0) | BIT(1) | BIT(16))
#define M_Q_KEY BIT(2)
#define M_MTU (BIT(4) | BIT(5))
#define M_TCLASS BIT(6)
#define M_P_KEY BIT(7)
#define M_RATE (BIT(8) | BIT(9))
#define M_SL BIT(12)
#define M_FLOW_LABEL BIT(13)
#define M_HOP_LIMIT BIT(14)
#define M_SCOPE BIT(15)
#define IPOIB_CREATE \
	(M_JOIN | M_P_KEY | M_Q_KEY | M_MTU | M_TCLASS | M_RATE | M_SL | M_FLOW_LABEL | M_HOP_LIMIT)
#define MGID(high, low)             \
	{0, 8, UINT64_C(high)},     \
	{                           \
		8, 8, UINT64_C(low) \
	}
#define IPOIB_GROUP                                                     \
	GID(16, GUID), {32, 4, 0x0b1b}, {38, 1, 0x84}, {40, 2, 0xFFFF}, \
	{                                                               \
		42, 1, 0x83                                             \
	}

/* ServiceRecord */
#define S_ID BIT(0)
#define S_GID BIT(1)
#define S_P_KEY BIT(2)
#define S_LEASE BIT(4)
#define S_NAME BIT(6)
#define S_DATA BIT(7)
#define SRP_NAME                                    \
	{                                           \
		48, 8, UINT64_C(0x5352502e54313041) \
	} /* "SRP.T10A" */

/* InformInfo of srp_daemon and of programs that use libibumad: every port, generic, any type. */
#define SUBSCRIBE(trap)                                                                         \
	{16, 2, 0xFFFF}, {22, 1, 1}, {23, 1, 1}, {24, 2, 0xFFFF}, {26, 2, (trap)}, {31, 1, 19}, \
	{                                                                                       \
		33, 3, 0xFFFFFF                                                                 \
	}

static const struct request requests[] = {
	{"ib_sa: capabilities of the SA", GET, CLASS_PORT_INFO, 0, 0, {{0}}, 0, 0, {{1, 1, 2}}},

	{"ipoib: join the broadcast group",
	 SET,
	 MC_MEMBER_RECORD,
	 0,
	 M_JOIN | M_P_KEY,
	 {MGID(0xFF12401BFFFF0000, 0xFFFFFFFF), GID(16, GUID), {40, 2, 0xFFFF}, {48, 1, 0x01}},
	 0,
	 0,
	 {MGID(0xFF12401BFFFF0000, 0xFFFFFFFF), IPOIB_GROUP, {36, 2, 0xC000}, {48, 1, 0x21}}},
	{"ipoib: 224.0.0.1, as the broadcast group is",
	 SET,
	 MC_MEMBER_RECORD,
	 0,
	 IPOIB_CREATE,
	 {MGID(0xFF12401BFFFF0000, 0x00000001), IPOIB_GROUP, {48, 1, 0x01}},
	 0,
	 0,
	 {MGID(0xFF12401BFFFF0000, 0x00000001), IPOIB_GROUP}},
	{"ipoib: send only, to a group without receivers",
	 SET,
	 MC_MEMBER_RECORD,
	 0,
	 IPOIB_CREATE,
	 {MGID(0xFF12401BFFFF0000, 0x00000016), IPOIB_GROUP, {48, 1, 0x08}},
	 0,
	 0,
	 {IPOIB_GROUP}},
	{"ipoib: path by GID",
	 GET,
	 PATH_RECORD,
	 0,
	 P_GIDS | P_NUMB_PATH | P_TCLASS | P_P_KEY,
	 {PATH_TO_OTHER, {49, 1, 1}, {50, 2, 0xFFFF}},
	 0,
	 0,
	 PATH_TOLD},
	{"all groups", GET_TABLE, MC_MEMBER_RECORD, 0, 0, {{0}}, 0, 3, {{0}}},
	{"the groups of a partition",
	 GET_TABLE,
	 MC_MEMBER_RECORD,
	 0,
	 M_P_KEY,
	 {{40, 2, 0xFFFF}},
	 0,
	 3,
	 {{0}}},

	{"rdma_cm: path by GID with ServiceID, IPv4",
	 GET,
	 PATH_RECORD,
	 0,
	 P_GIDS | P_P_KEY | P_NUMB_PATH | P_REVERSIBLE | P_SERVICE_ID | P_QOS_CLASS,
	 {PATH_TO_OTHER, {0, 8, 0x01061389}, {49, 1, 0x81}, {50, 2, 0xFFFF}},
	 0,
	 0,
	 PATH_TOLD},
	{"rdma_cm: path by GID with ServiceID, IPv6 traffic class",
	 GET,
	 PATH_RECORD,
	 0,
	 P_GIDS | P_P_KEY | P_NUMB_PATH | P_REVERSIBLE | P_SERVICE_ID | P_TCLASS,
	 {PATH_TO_OTHER, {0, 8, 0x01061389}, {48, 1, 0x20}, {49, 1, 0x81}, {50, 2, 0xFFFF}},
	 0,
	 0,
	 PATH_TOLD},
	{"rdma_cm: join its group",
	 SET,
	 MC_MEMBER_RECORD,
	 0,
	 M_JOIN | M_P_KEY | M_Q_KEY | M_SL | M_FLOW_LABEL | M_TCLASS,
	 {MGID(0xFF12401BFFFF0000, 0x0E0A0A0A),
	  GID(16, GUID),
	  {32, 4, 0x0b1b},
	  {40, 2, 0xFFFF},
	  {48, 1, 0x01}},
	 0,
	 0,
	 {GID(16, GUID), {32, 4, 0x0b1b}}},
	{"rdma_cm: leave it",
	 DELETE,
	 MC_MEMBER_RECORD,
	 0,
	 M_JOIN | M_P_KEY | M_Q_KEY | M_SL | M_FLOW_LABEL | M_TCLASS,
	 {MGID(0xFF12401BFFFF0000, 0x0E0A0A0A),
	  GID(16, GUID),
	  {32, 4, 0x0b1b},
	  {40, 2, 0xFFFF},
	  {48, 1, 0x01}},
	 0,
	 0,
	 {GID(16, GUID)}},

	{"ib_srp: path by GID with ServiceID",
	 GET,
	 PATH_RECORD,
	 0,
	 P_SERVICE_ID | P_GIDS | P_NUMB_PATH | P_P_KEY,
	 {PATH_TO_OTHER, {0, 8, UINT64_C(0x0002c90300a1b2c3)}, {49, 1, 1}, {50, 2, 0xFFFF}},
	 0,
	 0,
	 PATH_TOLD},
	{"srp_daemon: subscribe to trap 64",
	 SET,
	 INFORM_INFO,
	 0,
	 0,
	 {SUBSCRIBE(64)},
	 0,
	 0,
	 {SUBSCRIBE(64)}},
	{"srp_daemon: subscribe to trap 144",
	 SET,
	 INFORM_INFO,
	 0,
	 0,
	 {SUBSCRIBE(144)},
	 0,
	 0,
	 {SUBSCRIBE(144)}},
	{"srp_daemon: ports with device management",
	 GET_TABLE,
	 PORT_INFO_RECORD,
	 1u << 31,
	 BIT(7),
	 {{4 + 20, 4, 1 << 19}},
	 0,
	 0,
	 {{0}}},
	{"srp_daemon: ports with an SM",
	 GET_TABLE,
	 PORT_INFO_RECORD,
	 1u << 31,
	 BIT(7),
	 {{4 + 20, 4, 1 << 1}},
	 0,
	 1,
	 {{0}}},
	{"srp_daemon: a node by LID",
	 GET,
	 NODE_RECORD,
	 0,
	 BIT(0),
	 {{0, 2, VALUE(OTHER_LID)}},
	 0,
	 0,
	 {{0, 2, VALUE(OTHER_LID)}, {4 + 20, 8, VALUE(OTHER_GUID)}}},
	{"srp_daemon: shared P_Keys by path",
	 GET_TABLE,
	 PATH_RECORD,
	 0,
	 P_LIDS | P_P_KEY,
	 {{40, 2, VALUE(OTHER_LID)}, {42, 2, VALUE(LID)}, {50, 2, 0xFFFF}},
	 0,
	 1,
	 PATH_TOLD},
	{"a service is registered",
	 SET,
	 SERVICE_RECORD,
	 0,
	 S_ID | S_GID | S_P_KEY | S_LEASE | S_NAME | S_DATA,
	 {{0, 8, 0x1234}, GID(8, GUID), {24, 2, 0xFFFF}, {28, 4, 60}, SRP_NAME, {112, 1, 7}},
	 0,
	 0,
	 {{0, 8, 0x1234}, GID(8, GUID), {28, 4, 60}, SRP_NAME, {112, 1, 7}}},
	{"and found by its name",
	 GET_TABLE,
	 SERVICE_RECORD,
	 0,
	 S_NAME,
	 {SRP_NAME},
	 0,
	 1,
	 {{0, 8, 0x1234}, GID(8, GUID), SRP_NAME, {112, 1, 7}}},
	{"and deleted",
	 DELETE,
	 SERVICE_RECORD,
	 0,
	 S_ID | S_GID | S_P_KEY | S_NAME,
	 {{0, 8, 0x1234}, GID(8, GUID), {24, 2, 0xFFFF}, SRP_NAME},
	 0,
	 0,
	 {{0, 8, 0x1234}}},
	{"and is gone", GET_TABLE, SERVICE_RECORD, 0, S_NAME, {SRP_NAME}, 0, 0, {{0}}},

	{"ibacm: join its group",
	 SET,
	 MC_MEMBER_RECORD,
	 0,
	 M_JOIN | M_Q_KEY | M_MTU | M_TCLASS | M_P_KEY | M_RATE | M_SL | M_FLOW_LABEL | M_SCOPE,
	 {MGID(0xFF15405AFFFF0003, 0x0400000000000000),
	  GID(16, GUID),
	  {32, 4, 0x80010000},
	  {38, 1, 0x84},
	  {40, 2, 0xFFFF},
	  {42, 1, 0x83},
	  {48, 1, 0x51}},
	 0,
	 0,
	 {GID(16, GUID), {38, 1, 0x84}, {42, 1, 0x83}, {48, 1, 0x51}}},
	{"ibacm: path by LID",
	 GET,
	 PATH_RECORD,
	 0,
	 P_LIDS | P_NUMB_PATH | P_REVERSIBLE,
	 {{40, 2, VALUE(OTHER_LID)}, {42, 2, VALUE(LID)}, {49, 1, 0x81}},
	 0,
	 0,
	 PATH_TOLD},
	{"ibacm: path by GID",
	 GET,
	 PATH_RECORD,
	 0,
	 P_GIDS | P_NUMB_PATH | P_REVERSIBLE | P_P_KEY,
	 {PATH_TO_OTHER, {49, 1, 0x81}, {50, 2, 0xFFFF}},
	 0,
	 0,
	 PATH_TOLD},
	{"ibacm: all paths of its port",
	 GET_TABLE,
	 PATH_RECORD,
	 0,
	 BIT(3) | P_NUMB_PATH,
	 {GID(24, GUID), {49, 1, 1}},
	 0,
	 -1,
	 {{24 + 8, 8, VALUE(GUID)}}},
};

static int port_id, agent;
static void *umad;

static void die(const char *what)
{
	printf("not begun: %s\n", what);
	exit(1);
}

static void begin(void)
{
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0)
		die("no port");
	values[PREFIX] = be64toh(port.gid_prefix);
	values[GUID] = be64toh(port.port_guid);
	values[LID] = port.base_lid;
	port_id = umad_open_port(NULL, 0);
	agent = umad_register(port_id, CLASS_SA, VERSION_SA, 1, NULL);
	if (port_id < 0 || agent < 0)
		die("no agent");
	umad = calloc(1, umad_size() + ANSWER_MAX);
	if (!umad)
		die("no memory");
	umad_set_addr(umad, port.sm_lid, 1, 0, (int)0x80010000);
	umad_release_port(&port);
}

static uint64_t value_of(const struct field *field)
{
	return field->value - KNOWN_LATER < VALUES ? values[field->value - KNOWN_LATER]
						   : field->value;
}

static void put(uint8_t *at, unsigned size, uint64_t value)
{
	while (size--) {
		at[size] = (uint8_t)value;
		value >>= 8;
	}
}

static uint64_t get(const uint8_t *at, unsigned size)
{
	uint64_t value = 0;

	while (size--)
		value = value << 8 | *at++;
	return value;
}

static void ask(const struct request *request, uint32_t tid)
{
	uint8_t *mad = umad_get_mad(umad);

	memset(mad, 0, MAD);
	mad[0] = 1;
	mad[1] = CLASS_SA;
	mad[2] = VERSION_SA;
	mad[3] = request->method;
	put(mad + 12, 4, tid);
	put(mad + 16, 2, request->attribute);
	put(mad + 20, 4, request->modifier);
	put(mad + MASK_AT, 8, request->mask);
	for (const struct field *field = request->asked; field->size; field++)
		put(mad + DATA + field->at, field->size, value_of(field));
	if (umad_send(port_id, agent, umad, MAD, TIMEOUT_MS, 0) < 0)
		die("cannot send");
}

/* The number of records of an answer, a table or not; -1: no answer. */
static int take(const struct request *request)
{
	const uint8_t *mad = umad_get_mad(umad);
	int length = ANSWER_MAX;

	if (umad_recv(port_id, umad, &length, 2 * TIMEOUT_MS) < 0 || umad_status(umad))
		return -1;
	if (request->method != GET_TABLE)
		return 0;
	return get(mad + OFFSET_AT, 2) ? (length - DATA) / (8 * (int)get(mad + OFFSET_AT, 2)) : 0;
}

static bool judge(const struct request *request, int records)
{
	const uint8_t *mad = umad_get_mad(umad);
	unsigned status = (unsigned)get(mad + 4, 2);

	if (records < 0)
		return printf("not ok %s: no answer\n", request->name), false;
	if (status != request->status)
		return printf("not ok %s: status 0x%04x\n", request->name, status), false;
	if (request->records >= 0 ? records != request->records : !records)
		return printf("not ok %s: %d records\n", request->name, records), false;
	for (const struct field *field = request->told; field->size; field++) {
		uint64_t told = get(mad + DATA + field->at, field->size);

		if (told != value_of(field))
			return printf("not ok %s: 0x%llx at %u, not 0x%llx\n", request->name,
				      (unsigned long long)told, field->at,
				      (unsigned long long)value_of(field)),
			       false;
	}
	printf("ok %s\n", request->name);
	return true;
}

int main(int count, char **words)
{
	bool right = true;

	if (count != 3)
		die("usage: clients LID GUID");
	begin();
	values[OTHER_LID] = strtoull(words[1], NULL, 0);
	values[OTHER_GUID] = strtoull(words[2], NULL, 0);
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		ask(&requests[i], (uint32_t)i + 1);
		right &= judge(&requests[i], take(&requests[i]));
	}
	return !right;
}
