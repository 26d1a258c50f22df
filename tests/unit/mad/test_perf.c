/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Performance management. Each field of its attributes is compared with libibmad, by reading and by
 * writing. The agent gets requests as tools send them: the port that is meant, refusals, resets,
 * and counters that are too small. test_perf_world.c tests the counting of packets.
 */
// LIBS: -libmad -libumad
#include <infiniband/mad.h>

#include "mad/perf.h"
#include "tests/unit/fixtures/agent_bed.h"

enum { ROUNDS = 500 };

/* clang-format off */
/* libibmad's names of our rows, in their order; 0: it has no name. */
static const struct {
	const struct format *format;
	enum MAD_FIELDS theirs[26];
} judges[] = {
	{&port_counters_format,
	 {IB_PC_PORT_SELECT_F, IB_PC_COUNTER_SELECT_F, IB_PC_ERR_SYM_F, IB_PC_LINK_RECOVERS_F,
	  IB_PC_LINK_DOWNED_F, IB_PC_ERR_RCV_F, IB_PC_ERR_PHYSRCV_F, IB_PC_ERR_SWITCH_REL_F,
	  IB_PC_XMT_DISCARDS_F, IB_PC_ERR_XMTCONSTR_F, IB_PC_ERR_RCVCONSTR_F,
	  IB_PC_COUNTER_SELECT2_F, IB_PC_ERR_LOCALINTEG_F, IB_PC_ERR_EXCESS_OVR_F, 0,
	  IB_PC_VL15_DROPPED_F, IB_PC_XMT_BYTES_F, IB_PC_RCV_BYTES_F, IB_PC_XMT_PKTS_F,
	  IB_PC_RCV_PKTS_F, IB_PC_XMT_WAIT_F}},
	{&port_counters_extended_format,
	 {IB_PC_EXT_PORT_SELECT_F, IB_PC_EXT_COUNTER_SELECT_F, IB_PC_EXT_XMT_BYTES_F,
	  IB_PC_EXT_RCV_BYTES_F, IB_PC_EXT_XMT_PKTS_F, IB_PC_EXT_RCV_PKTS_F, IB_PC_EXT_XMT_UPKTS_F,
	  IB_PC_EXT_RCV_UPKTS_F, IB_PC_EXT_XMT_MPKTS_F, IB_PC_EXT_RCV_MPKTS_F,
	  IB_PC_EXT_COUNTER_SELECT2_F, IB_PC_EXT_ERR_SYM_F, IB_PC_EXT_LINK_RECOVERS_F,
	  IB_PC_EXT_LINK_DOWNED_F, IB_PC_EXT_ERR_RCV_F, IB_PC_EXT_ERR_PHYSRCV_F,
	  IB_PC_EXT_ERR_SWITCH_REL_F, IB_PC_EXT_XMT_DISCARDS_F, IB_PC_EXT_ERR_XMTCONSTR_F,
	  IB_PC_EXT_ERR_RCVCONSTR_F, IB_PC_EXT_ERR_LOCALINTEG_F, IB_PC_EXT_ERR_EXCESS_OVR_F,
	  IB_PC_EXT_VL15_DROPPED_F, IB_PC_EXT_XMT_WAIT_F, IB_PC_EXT_QP1_DROP_F}},
};
/* clang-format on */

union object {
	struct port_counters few;
	struct port_counters_extended extended;
};

static uint64_t seed = 0x2545F4914F6CDD1D;

static uint64_t random64(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * 0x2545F4914F6CDD1D;
}

static uint64_t theirs_get(uint8_t *wire, enum MAD_FIELDS field, unsigned width)
{
	return width == 64 ? mad_get_field64(wire, 0, field) : mad_get_field(wire, 0, field);
}

static void theirs_set(uint8_t *wire, enum MAD_FIELDS field, unsigned width, uint64_t value)
{
	if (width == 64)
		mad_set_field64(wire, 0, field, value);
	else
		mad_set_field(wire, 0, field, value);
}

/* One field by itself, in bytes that are zero otherwise: a row that is too wide, or lies elsewhere,
 * differs. */
static void judge(const struct format *format, size_t row, enum MAD_FIELDS theirs)
{
	unsigned width = format->fields[row].width;
	uint64_t value = random64() >> (64 - width);
	uint8_t ours[PERF_DATA_SIZE] = {0}, other[PERF_DATA_SIZE] = {0};
	union object object = {0};

	format_put(format, row, &object, value);
	CU_ASSERT_EQUAL(format_get(format, row, &object), value);
	format_encode(format, &object, ours);
	theirs_set(other, theirs, width, value);
	CU_ASSERT_EQUAL(memcmp(ours, other, sizeof(ours)), 0);
	CU_ASSERT_EQUAL(theirs_get(ours, theirs, width), value);
	memset(&object, 0xFF, sizeof(object));
	format_decode(format, other, &object);
	CU_ASSERT_EQUAL(format_get(format, row, &object), value);
}

static void test_fields(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(judges); i++) {
		const struct format *format = judges[i].format;

		for (size_t row = 0; row < format->count; row++) {
			for (unsigned n = 0; n < ROUNDS && judges[i].theirs[row]; n++)
				judge(format, row, judges[i].theirs[row]);
		}
		CU_ASSERT(judges[i].theirs[format->count - 1]); /* no row is left over */
		CU_ASSERT(!judges[i].theirs[format->count]);
	}
}

/* The bytes of the field that libibmad leaves out. */
static void test_qp1_dropped(void)
{
	const struct port_counters counters = {.qp1_dropped = 0xABCD};
	uint8_t wire[PERF_DATA_SIZE] = {0}, expected[PERF_DATA_SIZE] = {0};

	expected[20] = 0xAB;
	expected[21] = 0xCD;
	format_encode(&port_counters_format, &counters, wire);
	CU_ASSERT_EQUAL(memcmp(wire, expected, sizeof(wire)), 0);
}

/* Asking an agent */

/* A whole MAD; the status word, or -1 when there is no answer. */
static int perf(struct device *device, uint8_t in_port, const struct mad_header *header,
		uint8_t data[PERF_DATA_SIZE])
{
	uint8_t mad[MAD_SIZE] = {0};
	struct mad_header answer;

	header_encode(header, mad);
	memcpy(mad + PERF_DATA_OFFSET, data, PERF_DATA_SIZE);
	if (!device_handle(device, in_port, mad))
		return -1;
	header_decode(mad, &answer);
	memcpy(data, mad + PERF_DATA_OFFSET, PERF_DATA_SIZE);
	CU_ASSERT_EQUAL(answer.method, METHOD_GET_RESP);
	CU_ASSERT_EQUAL(answer.tid, header->tid);
	return answer.status;
}

static struct mad_header header_of(uint8_t method, uint16_t attr_id)
{
	return (struct mad_header){.base_version = 1,
				   .mgmt_class = CLASS_PERF,
				   .class_version = 1,
				   .method = method,
				   .tid = 0x1234,
				   .attr_id = attr_id};
}

static int counters(struct device *device, uint8_t method, struct port_counters *object)
{
	struct mad_header header = header_of(method, PERF_PORT_COUNTERS);
	uint8_t data[PERF_DATA_SIZE] = {0};
	int status;

	format_encode(&port_counters_format, object, data);
	status = perf(device, 1, &header, data);
	format_decode(&port_counters_format, data, object);
	return status;
}

static int extended(struct device *device, uint8_t method, struct port_counters_extended *object)
{
	struct mad_header header = header_of(method, PERF_PORT_COUNTERS_EXTENDED);
	uint8_t data[PERF_DATA_SIZE] = {0};
	int status;

	format_encode(&port_counters_extended_format, object, data);
	status = perf(device, 1, &header, data);
	format_decode(&port_counters_extended_format, data, object);
	return status;
}

static struct port_counters get(struct device *device, uint8_t port)
{
	struct port_counters object = {.port_select = port};

	CU_ASSERT_EQUAL(counters(device, METHOD_GET, &object), STATUS_OK);
	CU_ASSERT_EQUAL(object.port_select, port);
	return object;
}

static struct port_counters_extended get_extended(struct device *device, uint8_t port)
{
	struct port_counters_extended object = {.port_select = port};

	CU_ASSERT_EQUAL(extended(device, METHOD_GET, &object), STATUS_OK);
	CU_ASSERT_EQUAL(object.port_select, port);
	return object;
}

/* Each count has a value of its own: 1 and up for errors, 101 and up for traffic. */
static void fill(struct port_counts *counts)
{
	*counts = (struct port_counts){0};
	for (unsigned i = 0; i < PORT_ERRORS; i++)
		counts->error[i] = 1 + i;
	for (unsigned i = 0; i < PORT_TRAFFICS; i++)
		counts->traffic[i] = 101 + i;
}

/* Which of libibmad's fields shows which value after fill(), in the order of CounterSelect. */
static const enum MAD_FIELDS selected[] = {
	IB_PC_ERR_SYM_F,	IB_PC_LINK_RECOVERS_F,	IB_PC_LINK_DOWNED_F,
	IB_PC_ERR_RCV_F,	IB_PC_ERR_PHYSRCV_F,	IB_PC_ERR_SWITCH_REL_F,
	IB_PC_XMT_DISCARDS_F,	IB_PC_ERR_XMTCONSTR_F,	IB_PC_ERR_RCVCONSTR_F,
	IB_PC_ERR_LOCALINTEG_F, IB_PC_ERR_EXCESS_OVR_F, IB_PC_VL15_DROPPED_F,
	IB_PC_XMT_BYTES_F,	IB_PC_RCV_BYTES_F,	IB_PC_XMT_PKTS_F,
	IB_PC_RCV_PKTS_F,
};

static void test_each_reset(void)
{
	struct bed bed;

	agent_bed_open(&bed);
	for (unsigned n = 0; n <= 17; n++) {
		unsigned select = n < 16 ? 1u << n : n == 16 ? 0 : 0xFFFF;
		struct port_counts *counts = &bed.leaf->port[3].counts;
		struct mad_header header = header_of(METHOD_SET, PERF_PORT_COUNTERS);
		uint8_t data[PERF_DATA_SIZE] = {0};

		fill(counts);
		mad_set_field(data, 0, IB_PC_PORT_SELECT_F, 3);
		mad_set_field(data, 0, IB_PC_COUNTER_SELECT_F, select);
		mad_set_field(data, 0, IB_PC_ERR_RCV_F, 77); /* not taken over */
		CU_ASSERT_EQUAL(perf(bed.leaf, 1, &header, data), STATUS_OK);
		for (unsigned bit = 0; bit < ARRAY_SIZE(selected); bit++) {
			unsigned value = bit < PORT_ERRORS ? 1 + bit : 101 + bit - PORT_ERRORS;

			CU_ASSERT_EQUAL(mad_get_field(data, 0, selected[bit]),
					select >> bit & 1 ? 0 : value);
		}
		for (unsigned i = 0; i < PORT_TRAFFICS; i++)
			CU_ASSERT_EQUAL(counts->traffic[i], 101 + i);
		CU_ASSERT_EQUAL(mad_get_field(data, 0, IB_PC_COUNTER_SELECT_F), select);
		CU_ASSERT_EQUAL(mad_get_field(data, 0, IB_PC_XMT_WAIT_F), 0);
	}
	CU_ASSERT_EQUAL(bed.sets, 0); /* no state that a manager programs */
	agent_bed_close(&bed);
}

static void test_each_extended_reset(void)
{
	struct bed bed;

	agent_bed_open(&bed);
	for (unsigned select = 0; select <= 0xFF; select++) {
		struct port_counters_extended object = {.port_select = 1, .counter_select = select};
		struct port_counters other;

		fill(&bed.host->port[1].counts);
		CU_ASSERT_EQUAL(extended(bed.host, METHOD_SET, &object), STATUS_OK);
		for (unsigned bit = 0; bit < PORT_TRAFFICS; bit++)
			CU_ASSERT_EQUAL(
				format_get(&port_counters_extended_format, 2 + bit, &object),
				select >> bit & 1 ? 0 : 101 + bit);
		other = get(bed.host, 1);
		CU_ASSERT_EQUAL(other.xmit_data, 101);
		CU_ASSERT_EQUAL(other.rcv_pkts, 104);
		CU_ASSERT_EQUAL(other.vl15_dropped, PORT_ERRORS);
	}
	agent_bed_close(&bed);
}

/* A switch has errors there, too: by their bits in CounterSelect2, whole, apart from the small
 * ones. */
static void test_each_extended_error_reset(void)
{
	static const uint64_t large = UINT64_C(1) << 40;
	struct bed bed;

	agent_bed_open(&bed);
	for (unsigned n = 0; n <= PORT_ERRORS + 1; n++) {
		struct mad_header header = header_of(METHOD_SET, PERF_PORT_COUNTERS_EXTENDED);
		uint8_t data[PERF_DATA_SIZE] = {0};
		struct port_counts *counts = &bed.leaf->port[3].counts;
		struct port_counters few;

		*counts = (struct port_counts){0};
		for (unsigned i = 0; i < PORT_ERRORS; i++)
			counts->error[i] = large + i;
		counts->xmit_wait = large + PORT_ERRORS;
		mad_set_field(data, 0, IB_PC_EXT_PORT_SELECT_F, 3);
		mad_set_field(data, 0, IB_PC_EXT_COUNTER_SELECT2_F, 1u << n);
		CU_ASSERT_EQUAL(perf(bed.leaf, 1, &header, data), STATUS_OK);
		CU_ASSERT_EQUAL(mad_get_field(data, 0, IB_PC_EXT_COUNTER_SELECT2_F), 1u << n);
		for (unsigned i = 0; i <= PORT_ERRORS; i++)
			CU_ASSERT_EQUAL(mad_get_field64(data, 0, IB_PC_EXT_ERR_SYM_F + i),
					i == n ? 0 : large + i);
		CU_ASSERT_EQUAL(mad_get_field64(data, 0, IB_PC_EXT_QP1_DROP_F), 0);
		few = get(bed.leaf, 3);
		CU_ASSERT_EQUAL(few.symbol_errors, UINT16_MAX);
		CU_ASSERT_EQUAL(few.vl15_dropped, UINT16_MAX);
		CU_ASSERT_EQUAL(few.xmit_wait, UINT32_MAX);
	}
	agent_bed_close(&bed);
}

static void test_errors_apart(void)
{
	struct port_counters few = {.port_select = 3, .counter_select = 1};
	struct port_counters_extended many = {.port_select = 3, .counter_select2 = 1};
	struct port_counts *counts;
	struct bed bed;

	agent_bed_open(&bed);
	counts = &bed.leaf->port[3].counts;
	counts->error[ERROR_SYMBOL] = 5;
	CU_ASSERT_EQUAL(counters(bed.leaf, METHOD_SET, &few), STATUS_OK);
	port_count_error(counts, ERROR_SYMBOL);
	CU_ASSERT_EQUAL(get(bed.leaf, 3).symbol_errors, 1);
	CU_ASSERT_EQUAL(get_extended(bed.leaf, 3).error[ERROR_SYMBOL], 6);
	CU_ASSERT_EQUAL(extended(bed.leaf, METHOD_SET, &many), STATUS_OK);
	port_count_error(counts, ERROR_SYMBOL);
	CU_ASSERT_EQUAL(get(bed.leaf, 3).symbol_errors, 2);
	CU_ASSERT_EQUAL(get_extended(bed.leaf, 3).error[ERROR_SYMBOL], 1);
	agent_bed_close(&bed);
}

/* An adapter has not: nothing is shown, and nothing reset. */
static void test_no_extended_errors(void)
{
	struct port_counters_extended many = {.port_select = 1, .counter_select2 = ~UINT32_C(0)};
	struct bed bed;

	agent_bed_open(&bed);
	fill(&bed.host->port[1].counts);
	CU_ASSERT_EQUAL(extended(bed.host, METHOD_SET, &many), STATUS_OK);
	CU_ASSERT_EQUAL(many.counter_select2, 0);
	CU_ASSERT_EQUAL(many.error[ERROR_SYMBOL], 0);
	CU_ASSERT_EQUAL(many.multicast_rcv_pkts, 101 + TRAFFIC_RCV_MULTICAST);
	CU_ASSERT_EQUAL(get(bed.host, 1).symbol_errors, 1);
	CU_ASSERT_EQUAL(get(bed.host, 1).vl15_dropped, PORT_ERRORS);
	agent_bed_close(&bed);
}

/* Each is reset without the other, in any order, and counts on from there. */
static void test_resets_apart(void)
{
	struct port_counters few = {.port_select = 1, .counter_select = 0xFFFF};
	struct port_counters_extended many = {.port_select = 1, .counter_select = 0xFFFF};
	struct port_counts *counts;
	struct bed bed;

	agent_bed_open(&bed);
	counts = &bed.host->port[1].counts;
	for (unsigned i = 0; i < 5; i++)
		port_count_xmit(counts, 72, i == 4);
	CU_ASSERT_EQUAL(counters(bed.host, METHOD_SET, &few), STATUS_OK);
	port_count_xmit(counts, 72, false);
	CU_ASSERT_EQUAL(get(bed.host, 1).xmit_pkts, 1);
	CU_ASSERT_EQUAL(get_extended(bed.host, 1).xmit_pkts, 6);
	CU_ASSERT_EQUAL(get_extended(bed.host, 1).multicast_xmit_pkts, 1);
	CU_ASSERT_EQUAL(extended(bed.host, METHOD_SET, &many), STATUS_OK);
	port_count_xmit(counts, 72, false);
	CU_ASSERT_EQUAL(get(bed.host, 1).xmit_pkts, 2);
	CU_ASSERT_EQUAL(get(bed.host, 1).xmit_data, 144);
	CU_ASSERT_EQUAL(get_extended(bed.host, 1).xmit_pkts, 1);
	few.counter_select = 0xFFFF;
	CU_ASSERT_EQUAL(counters(bed.host, METHOD_SET, &few), STATUS_OK);
	CU_ASSERT_EQUAL(get(bed.host, 1).xmit_data, 0);
	CU_ASSERT_EQUAL(get_extended(bed.host, 1).xmit_data, 72);
	agent_bed_close(&bed);
}

static void test_full(void)
{
	struct port_counters_extended many = {.port_select = 1, .counter_select = 0xFFFF};
	struct port_counts *counts;
	struct port_counters few;
	struct bed bed;

	agent_bed_open(&bed);
	counts = &bed.host->port[1].counts;
	for (unsigned i = 0; i < PORT_ERRORS; i++)
		counts->error[i] = 70000;
	for (unsigned i = 0; i < PORT_TRAFFICS; i++)
		counts->traffic[i] = UINT64_C(0x123456789A);
	few = get(bed.host, 1);
	CU_ASSERT_EQUAL(few.symbol_errors, UINT16_MAX);
	CU_ASSERT_EQUAL(few.link_downed, UINT8_MAX);
	CU_ASSERT_EQUAL(few.local_link_integrity_errors, 15);
	CU_ASSERT_EQUAL(few.excessive_buffer_overruns, 15);
	CU_ASSERT_EQUAL(few.vl15_dropped, UINT16_MAX);
	CU_ASSERT_EQUAL(few.xmit_data, UINT32_MAX);
	CU_ASSERT_EQUAL(get_extended(bed.host, 1).rcv_data, UINT64_C(0x123456789A));
	/* The small one stays full when the large one is reset. */
	CU_ASSERT_EQUAL(extended(bed.host, METHOD_SET, &many), STATUS_OK);
	CU_ASSERT_EQUAL(get(bed.host, 1).xmit_data, UINT32_MAX);
	counts->error[ERROR_RCV] = UINT64_MAX;
	port_count_error(counts, ERROR_RCV);
	CU_ASSERT_EQUAL(counts->error[ERROR_RCV], UINT64_MAX);
	CU_ASSERT_EQUAL(get(bed.host, 1).rcv_errors, UINT16_MAX);
	agent_bed_close(&bed);
}

static void test_all_ports(void)
{
	struct port_counters all = {.port_select = PERF_ALL_PORTS, .counter_select = 0xF000};
	struct bed bed;

	agent_bed_open(&bed);
	for (unsigned p = 0; p <= LEAF_PORTS; p++)
		fill(&bed.leaf->port[p].counts);
	bed.leaf->port[7].counts.error[ERROR_SYMBOL] = UINT16_MAX - 3;
	CU_ASSERT_EQUAL(get(bed.leaf, PERF_ALL_PORTS).symbol_errors, UINT16_MAX);
	CU_ASSERT_EQUAL(get(bed.leaf, PERF_ALL_PORTS).rcv_errors, 4 * (LEAF_PORTS + 1));
	CU_ASSERT_EQUAL(get(bed.leaf, PERF_ALL_PORTS).local_link_integrity_errors, 15);
	CU_ASSERT_EQUAL(get_extended(bed.leaf, PERF_ALL_PORTS).xmit_data, 101 * (LEAF_PORTS + 1));
	bed.leaf->port[2].counts.traffic[TRAFFIC_RCV_PKTS] = UINT64_MAX;
	CU_ASSERT_EQUAL(get_extended(bed.leaf, PERF_ALL_PORTS).rcv_pkts, UINT64_MAX);
	CU_ASSERT_EQUAL(counters(bed.leaf, METHOD_SET, &all), STATUS_OK);
	CU_ASSERT_EQUAL(get(bed.leaf, 7).xmit_data, 0);
	CU_ASSERT_EQUAL(get(bed.leaf, LEAF_PORTS).rcv_pkts, 0);
	CU_ASSERT_EQUAL(get(bed.leaf, 7).rcv_errors, 4);
	agent_bed_close(&bed);
}

static void test_port_select(void)
{
	static const struct {
		bool sw;
		uint8_t port;
		int status;
	} cases[] = {
		{true, 0, STATUS_OK},
		{true, 1, STATUS_OK},
		{true, LEAF_PORTS, STATUS_OK},
		{true, LEAF_PORTS + 1, STATUS_INVALID_VALUE},
		{true, 254, STATUS_INVALID_VALUE},
		{true, PERF_ALL_PORTS, STATUS_OK},
		{false, 0, STATUS_INVALID_VALUE},
		{false, 1, STATUS_OK},
		{false, 2, STATUS_INVALID_VALUE}, /* the agent is that of port 1 */
		{false, PERF_ALL_PORTS, STATUS_INVALID_VALUE},
	};
	struct bed bed;

	agent_bed_open(&bed);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct port_counters few = {.port_select = cases[i].port};
		struct port_counters_extended many = {.port_select = cases[i].port};
		struct device *device = cases[i].sw ? bed.leaf : bed.host;

		CU_ASSERT_EQUAL(counters(device, METHOD_GET, &few), cases[i].status);
		CU_ASSERT_EQUAL(extended(device, METHOD_SET, &many), cases[i].status);
	}
	agent_bed_close(&bed);
}

static void test_refusals(void)
{
	static const struct {
		uint8_t version, class_version, method;
		uint16_t attr_id;
		uint32_t attr_mod;
		int status;
	} cases[] = {
		{1, 1, METHOD_GET, PERF_PORT_COUNTERS, 0, STATUS_OK},
		{2, 1, METHOD_GET, PERF_PORT_COUNTERS, 0, STATUS_BAD_VERSION},
		{1, 2, METHOD_GET, PERF_PORT_COUNTERS, 0, STATUS_BAD_VERSION},
		{1, 1, METHOD_GET, PERF_PORT_COUNTERS, 1, STATUS_INVALID_VALUE},
		{1, 1, METHOD_GET, 0x0010, 0, STATUS_UNSUP_METHOD_ATTR},
		{1, 1, METHOD_SET, ATTR_CLASS_PORT_INFO, 0, STATUS_UNSUP_METHOD_ATTR},
		{1, 1, METHOD_GET, ATTR_NOTICE, 0, STATUS_UNSUP_METHOD_ATTR},
		{1, 1, METHOD_SEND, PERF_PORT_COUNTERS, 0, -1},
		{1, 1, METHOD_TRAP, ATTR_NOTICE, 0, -1},
		{1, 1, METHOD_TRAP_REPRESS, ATTR_NOTICE, 0, -1},
		{1, 1, METHOD_GET_RESP, PERF_PORT_COUNTERS, 0, -1},
	};
	uint8_t data[PERF_DATA_SIZE] = {0, 1}, mad[MAD_SIZE] = {0};
	struct mad_header header;
	struct bed bed;

	agent_bed_open(&bed);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		header = header_of(cases[i].method, cases[i].attr_id);
		header.base_version = cases[i].version;
		header.class_version = cases[i].class_version;
		header.attr_mod = cases[i].attr_mod;
		CU_ASSERT_EQUAL(perf(bed.host, 1, &header, data), cases[i].status);
	}
	header = header_of(METHOD_GET_TABLE, PERF_PORT_COUNTERS);
	header_encode(&header, mad);
	CU_ASSERT(device_handle(bed.host, 1, mad));
	CU_ASSERT_EQUAL(be16_load(mad + 4), STATUS_UNSUP_METHOD);
	bed.host->quirks.silent = true;
	header = header_of(METHOD_GET, PERF_PORT_COUNTERS);
	CU_ASSERT_EQUAL(perf(bed.host, 1, &header, data), -1);
	agent_bed_close(&bed);
}

static void test_class_port_info(void)
{
	struct mad_header header = header_of(METHOD_GET, ATTR_CLASS_PORT_INFO);
	struct device *devices[2];
	struct bed bed;

	agent_bed_open(&bed);
	devices[0] = bed.leaf;
	devices[1] = bed.host;
	for (unsigned i = 0; i < ARRAY_SIZE(devices); i++) {
		/* perfquery writes PortSelect here, too, where the answer has its versions. */
		uint8_t data[PERF_DATA_SIZE] = {0, 9};

		CU_ASSERT_EQUAL(perf(devices[i], 1, &header, data), STATUS_OK);
		CU_ASSERT_EQUAL(mad_get_field(data, 0, IB_CPI_BASEVER_F), 1);
		CU_ASSERT_EQUAL(mad_get_field(data, 0, IB_CPI_CLASSVER_F), 1);
		CU_ASSERT_EQUAL(mad_get_field(data, 0, IB_CPI_CAPMASK_F), i ? 0x1200 : 0x1300);
		CU_ASSERT_EQUAL(mad_get_field(data, 0, IB_CPI_CAPMASK2_F), i ? 0 : 2);
		CU_ASSERT_EQUAL(mad_get_field(data, 0, IB_CPI_REDIRECT_LID_F), 0);
	}
	agent_bed_close(&bed);
}

/* Links */

static unsigned downed(const struct device_port *port)
{
	return port->counts.error[ERROR_LINK_DOWNED];
}

static void test_link_downed(void)
{
	struct device_port *port, *peer;
	struct bed bed;

	agent_bed_open(&bed);
	port = &bed.leaf->port[2];
	peer = port->peer;
	device_pull(port, true);
	device_pull(port, false);
	CU_ASSERT_EQUAL(downed(port), 1);
	CU_ASSERT_EQUAL(downed(peer), 1);
	/* A manager's command to start again loses no link. */
	CU_ASSERT_EQUAL(agent_set_state(port, PORT_DOWN, 0), STATUS_OK);
	CU_ASSERT_EQUAL(downed(port), 1);
	CU_ASSERT_EQUAL(downed(peer), 1);
	/* A port that a manager takes down did not fail; its peer sees the link go. */
	CU_ASSERT_EQUAL(agent_set_state(port, PORT_DOWN, PHYS_DISABLED), STATUS_OK);
	device_pull(port, true); /* nothing is up any more */
	CU_ASSERT_EQUAL(downed(port), 1);
	CU_ASSERT_EQUAL(downed(peer), 2);
	agent_bed_close(&bed);
}

/* A training that fails loses no link. */
static void test_training_lost(void)
{
	struct device_port *port;
	struct bed bed;

	agent_bed_open(&bed);
	bed.events.training = on_training;
	port = &bed.leaf->port[2];
	device_pull(port, true);
	device_pull(port, false);
	CU_ASSERT_PTR_EQUAL(bed.training, port);
	device_pull(port, true);
	CU_ASSERT_EQUAL(downed(port), 1);
	CU_ASSERT_EQUAL(downed(port->peer), 1);
	agent_bed_close(&bed);
}

static void test_reboot(void)
{
	struct bed bed;

	agent_bed_open(&bed);
	for (unsigned p = 0; p <= LEAF_PORTS; p++)
		fill(&bed.leaf->port[p].counts);
	device_reboot(bed.leaf);
	for (unsigned p = 0; p <= LEAF_PORTS; p++) {
		static const struct port_counts none;

		CU_ASSERT_EQUAL(memcmp(&bed.leaf->port[p].counts, &none, sizeof(none)), 0);
	}
	CU_ASSERT_EQUAL(downed(&bed.host->port[1]), 1);
	agent_bed_close(&bed);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"fields against libibmad", test_fields},
		{"QP1Dropped", test_qp1_dropped},
		{"each counter is reset", test_each_reset},
		{"each extended counter is reset", test_each_extended_reset},
		{"each 64-bit error counter is reset", test_each_extended_error_reset},
		{"the two attributes are reset apart", test_resets_apart},
		{"and their errors", test_errors_apart},
		{"no 64-bit errors", test_no_extended_errors},
		{"full counters stay full", test_full},
		{"all ports", test_all_ports},
		{"PortSelect", test_port_select},
		{"refusals", test_refusals},
		{"ClassPortInfo", test_class_port_info},
		{"LinkDownedCounter", test_link_downed},
		{"an interrupted training", test_training_lost},
		{"a reboot", test_reboot},
		CU_TEST_INFO_NULL,
	};

	return unit_main("perf", tests);
}
