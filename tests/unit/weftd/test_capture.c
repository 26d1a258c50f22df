/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The content of a capture: no key of any attribute that has a key, from any sender. It has every
 * MAD that is sent or received, in order, up to a bound, and then the number of lost MADs. Also the
 * bytes of a record of the file.
 */
#include "weftd/capture.h"

#include <string.h>

#include "formats/pcap.h"
#include "lib/be.h"
#include "mad/attr.h"
#include "mad/notice.h"
#include "tests/unit/fixtures/control_client.h"
#include "weftd/redact.h"

#define KEY UINT64_C(0xA55AA55AA55AA55A)

static const struct {
	const char *name;
	uint8_t mgmt_class;
	uint16_t attr_id;
	uint8_t record; /* bytes of a record before the attribute */
} secrets[] = {
	{"PortInfo", CLASS_SUBN_LID, ATTR_PORT_INFO, 0},
	{"PortInfo, directed", CLASS_SUBN_DIRECTED, ATTR_PORT_INFO, 0},
	{"SMInfo", CLASS_SUBN_DIRECTED, ATTR_SM_INFO, 0},
	{"trap 256", CLASS_SUBN_LID, ATTR_NOTICE, 0},
	{"PortInfoRecord", CLASS_SUBN_ADM, RECORD_PORT_INFO, 4},
	{"SMInfoRecord", CLASS_SUBN_ADM, RECORD_SM_INFO, 4},
	{"Report of trap 256", CLASS_SUBN_ADM, ATTR_NOTICE, 0},
};

/* An attribute whose only content is its key, as the codecs write it. */
static void write_attribute(const char *name, uint8_t *data)
{
	struct port_info port = {.m_key = KEY};
	struct sm_info manager = {.sm_key = KEY};
	union notice_details details = {.bad_m_key = {.m_key = KEY}};
	struct notice notice;

	if (strstr(name, "PortInfo")) {
		format_encode(&port_info_format, &port, data);
	} else if (strstr(name, "SMInfo")) {
		format_encode(&sm_info_format, &manager, data);
	} else {
		notice_fill(&notice, TRAP_BAD_M_KEY, NODE_CA, 5, &details);
		format_encode(&notice_format, &notice, data);
	}
}

static unsigned bytes_of_key(const uint8_t mad[MAD_SIZE])
{
	unsigned found = 0;

	for (size_t i = 0; i < MAD_SIZE; i++)
		found += mad[i] == 0xA5 || mad[i] == 0x5A;
	return found;
}

static void fill(size_t row, uint8_t mad[MAD_SIZE])
{
	struct mad_header header = {.base_version = 1,
				    .mgmt_class = secrets[row].mgmt_class,
				    .method = METHOD_GET_RESP,
				    .attr_id = secrets[row].attr_id};
	const struct sa_header server = {.sm_key = KEY, .attr_offset = 9};

	memset(mad, 0, MAD_SIZE);
	header_encode(&header, mad);
	if (header.mgmt_class != CLASS_SUBN_ADM) {
		be64_store(mad + SMP_M_KEY_OFFSET, KEY);
		write_attribute(secrets[row].name, mad + SMP_DATA_OFFSET);
		return;
	}
	sa_header_encode(&server, mad);
	write_attribute(secrets[row].name, mad + SUBN_ADM_HEADER_SIZE + secrets[row].record);
	if (secrets[row].record) /* a second record */
		write_attribute(secrets[row].name,
				mad + SUBN_ADM_HEADER_SIZE + 72 + secrets[row].record);
}

static void test_keys(void)
{
	uint8_t mad[MAD_SIZE], before[MAD_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(secrets); i++) {
		unsigned others = 0;

		fill(i, mad);
		memcpy(before, mad, MAD_SIZE);
		CU_ASSERT_EQUAL(bytes_of_key(mad), secrets[i].record ? 24 : 16);
		redact(mad);
		CU_ASSERT_EQUAL(bytes_of_key(mad), 0);
		for (size_t k = 0; k < MAD_SIZE; k++)
			others += before[k] != 0xA5 && before[k] != 0x5A && before[k] != mad[k];
		CU_ASSERT_EQUAL(others, 0);
	}
}

/* ServiceRecord: ID, GID, P_Key, two bytes, lease, then the key of 16 bytes (15.2.5.14). */
static void test_service_key(void)
{
	const struct mad_header header = {.base_version = 1,
					  .mgmt_class = CLASS_SUBN_ADM,
					  .method = METHOD_SET,
					  .attr_id = RECORD_SERVICE};
	uint8_t mad[MAD_SIZE];

	memset(mad, 0xFF, MAD_SIZE);
	header_encode(&header, mad);
	be16_store(mad + 44, 22); /* AttributeOffset: 176 bytes */
	redact(mad);
	for (size_t i = SUBN_ADM_HEADER_SIZE; i < MAD_SIZE; i++) {
		size_t at = (i - SUBN_ADM_HEADER_SIZE) % 176;

		CU_ASSERT_EQUAL(mad[i], at >= 32 && at < 48 ? 0 : 0xFF);
	}
}

/* Trap 144 and counters have no key where others do. */
static void test_no_keys(void)
{
	static const uint8_t classes[] = {CLASS_SUBN_LID, CLASS_PERF};

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		const struct mad_header header = {.base_version = 1,
						  .mgmt_class = classes[i],
						  .method = METHOD_TRAP,
						  .attr_id = ATTR_NOTICE};
		uint8_t mad[MAD_SIZE];

		memset(mad, 0xFF, MAD_SIZE);
		header_encode(&header, mad);
		be16_store(mad + SMP_DATA_OFFSET + 4, TRAP_LOCAL_CHANGES);
		redact(mad);
		CU_ASSERT_EQUAL(mad[SMP_DATA_OFFSET + 24], 0xFF);
		CU_ASSERT_EQUAL(mad[SMP_M_KEY_OFFSET], classes[i] == CLASS_PERF ? 0xFF : 0);
	}
}

/* A record: its bytes, which Wireshark has decoded correctly. */
static void test_record(void)
{
	uint8_t mad[MAD_SIZE] = {1, 2, 3}, out[PCAP_RECORD_MAX], header[PCAP_FILE_HEADER];
	struct pcap_mad packet = {.time_us = 1500000,
				  .slid = 5,
				  .dlid = 7,
				  .sqp = 0x123456,
				  .dqp = 1,
				  .sl = 3,
				  .mad = mad};
	static const uint8_t begin[] = {
		0,    0,    0,	  1,	0, 0x07, 0xA1, 0x20, 0,	 0, 1, 0x32,
		0,    0,    1,	  0x32, /* pcap */
		0,    0,    0,	  0x80, 1, 0,	 0,    0,    21, 4, 1, 0x32,
		0,    0,    1,	  0x22,					  /* ERF */
		0,    0x32, 0,	  7,	0, 72,	 0,    5,		  /* LRH */
		0x64, 0,    0xFF, 0xFF, 0, 0,	 0,    1,    0,	 0, 0, 0, /* BTH */
		0x80, 1,    0,	  0,	0, 0x12, 0x34, 0x56,		  /* DETH */
		1,    2,    3,
	};

	CU_ASSERT_EQUAL(pcap_record(&packet, out), 16 + 16 + 290);
	CU_ASSERT_EQUAL(memcmp(out, begin, sizeof(begin)), 0);
	packet.has_grh = true;
	packet.sgid[0] = 0xFE;
	packet.dgid[15] = 9;
	CU_ASSERT_EQUAL(pcap_record(&packet, out), 16 + 16 + 330);
	CU_ASSERT_EQUAL(out[32 + 1], 0x33);    /* a GRH follows */
	CU_ASSERT_EQUAL(out[32 + 5], 82);      /* words */
	CU_ASSERT_EQUAL(out[40 + 8], 0xFE);    /* SGID */
	CU_ASSERT_EQUAL(out[40 + 24 + 15], 9); /* DGID */
	CU_ASSERT_EQUAL(out[80], 0x64);
	packet.dqp = 0;
	pcap_record(&packet, out);
	CU_ASSERT_EQUAL(out[32], 0xF0); /* VL 15 */
	pcap_file_header(header);
	CU_ASSERT_EQUAL(be32_load(header), 0xA1B2C3D4);
	CU_ASSERT_EQUAL(be32_load(header + 20), 197);
}

/* A daemon's parts, and one client. */
static struct {
	struct loop *loop;
	struct transport transport;
	struct txn_table *txns;
	struct capture capture;
	struct control_socket socket;
	struct control_client client;
	struct loop_timer turn;
} bed;

static int send_nothing(struct transport *transport, const struct mad_addr *to, const uint8_t *mad,
			size_t size, unsigned timeout_ms)
{
	(void)transport;
	(void)to;
	(void)mad;
	(void)size;
	(void)timeout_ms;
	return 0;
}

static const struct transport_ops ops = {.send = send_nothing};

static lid_t own_lid(const void *ctx)
{
	CU_ASSERT_PTR_EQUAL(ctx, &bed);
	return 40;
}

static void begin(void)
{
	bed.loop = loop_new();
	bed.transport.ops = &ops;
	bed.txns = txn_table_new(bed.loop, &bed.transport);
	socket_begin(&bed.socket, bed.loop);
	client_begin(&bed.client, &bed.socket);
	capture_init(&bed.capture, bed.loop, bed.txns, own_lid, &bed);
	capture_register(&bed.capture, bed.socket.control);
}

static void end(void)
{
	socket_end(&bed.socket);
	client_hang_up(&bed.client);
	CU_ASSERT_EQUAL(bed.capture.count, 0);
	txn_table_free(bed.txns);
	loop_free(bed.loop);
}

static void look(void *arg)
{
	if (bed.capture.count == *(unsigned *)arg)
		loop_stop(bed.loop, 0);
	else
		loop_timer_arm(&bed.turn, 500);
}

static void await_captures(unsigned count)
{
	loop_timer_init(&bed.turn, bed.loop, "turn", look, &count);
	loop_timer_arm(&bed.turn, 0);
	loop_run(bed.loop);
}

static void come(unsigned count, lid_t lid)
{
	const struct mad_addr from = {
		.lid = lid, .qpn = 1, .has_grh = true, .grh = {.sgid = {0xFE}}};
	uint8_t mad[MAD_SIZE];

	fill(4, mad);
	for (unsigned i = 0; i < count; i++)
		bed.transport.user.received(bed.transport.user.ctx, &from, mad, MAD_SIZE);
}

static unsigned times(const char *text)
{
	unsigned count = 0;

	for (const char *at = bed.client.text; (at = strstr(at, text)); at += strlen(text))
		count++;
	return count;
}

static void test_both_ways(void)
{
	const struct mad_addr to = {.lid = LID_PERMISSIVE};
	uint64_t before_us, time_us;
	uint8_t mad[MAD_SIZE];

	begin();
	before_us = loop_wall_us(bed.loop);
	client_say(&bed.client, "{\"command\":\"capture\",\"seconds\":\"1\"}\n");
	await_captures(1);
	come(1, 9);
	fill(1, mad);
	CU_ASSERT_EQUAL(txn_send(bed.txns, &to, mad, MAD_SIZE), 0);
	client_await(&bed.client, "\"ok\":true"); /* when the second is over */
	CU_ASSERT_EQUAL(times("\"time_us\""), 2);
	time_us = strtoull(strstr(bed.client.text, "\"time_us\":") + strlen("\"time_us\":"), NULL,
			   10);
	CU_ASSERT(time_us >= before_us && time_us <= loop_wall_us(bed.loop));
	CU_ASSERT_EQUAL(times("a55aa55a"), 0);
	CU_ASSERT_EQUAL(times("\"sent\":false,\"own_lid\":40,\"lid\":9,\"qpn\":1,"), 1);
	CU_ASSERT_EQUAL(times("\"gid\":\"fe000000"), 1);
	CU_ASSERT_EQUAL(times("\"sent\":true,\"own_lid\":65535,\"lid\":65535,\"qpn\":0,"), 1);
	CU_ASSERT_EQUAL(bed.capture.count, 0);
	end();
}

/* More MADs than the places: the first are stored, and the number of lost MADs. */
static void test_lost(void)
{
	begin();
	client_say(&bed.client, "{\"command\":\"capture\"}\n");
	await_captures(1);
	come(CAPTURE_WAITING + 77, 9);
	client_await(&bed.client, "\"lost\":77");
	come(1, 10);
	client_await(&bed.client, "\"lid\":10,");
	CU_ASSERT_EQUAL(times("\"time_us\""), CAPTURE_WAITING + 1);
	CU_ASSERT_EQUAL(times("\"ok\""), 0);
	end();
}

static void test_refused(void)
{
	static const char *const bad[] = {"0",	    "-1",   "86401", "\"0\"",
					  "\"1x\"", "\"\"", "null",  "true"};
	int fds[CAPTURES_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char request[128];

		begin();
		snprintf(request, sizeof(request), "{\"command\":\"capture\",\"seconds\":%s}\n",
			 bad[i]);
		client_say(&bed.client, request);
		client_await(&bed.client, "--seconds: expected a number from 1 to 86400");
		end();
	}
	begin();
	for (int i = 0; i < CAPTURES_MAX; i++)
		fds[i] = client_connect(&bed.socket, "{\"command\":\"capture\"}\n");
	await_captures(CAPTURES_MAX);
	client_say(&bed.client, "{\"command\":\"capture\"}\n");
	client_await(&bed.client, "4 captures are running");
	for (int i = 0; i < CAPTURES_MAX; i++)
		close(fds[i]);
	await_captures(0);
	come(3, 9); /* no client is left */
	end();
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"keys", test_keys},	       {"key of a service", test_service_key},
		{"no keys", test_no_keys},     {"record of the file", test_record},
		{"both ways", test_both_ways}, {"lost", test_lost},
		{"refused", test_refused},     CU_TEST_INFO_NULL,
	};

	return unit_main("capture", tests);
}
