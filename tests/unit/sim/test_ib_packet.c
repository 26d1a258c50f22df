/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The headers of packets. The bytes of the good packets were written by hand from the figures of
 * the specification, and tshark 4.0 dissects them (link type ERF) with the values in the table.
 * Each changed field of a good packet is found, and no length of a packet is read beyond its end.
 */
#include "sim/ib_packet.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "tests/unit/fixtures/hex.h"
#include "tests/unit/fixtures/unit.h"

enum { BYTES_MAX = 512 };

static const uint8_t sgid[] = {0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 2, 0xC9, 3, 0, 0, 0, 1};
static const uint8_t dgid[] = {0xFF, 0x12, 0x40, 0x1B, 0xFF, 0xFF, 0,	 0,
			       0,    0,	   0,	 0,    0xFF, 0xFF, 0xFF, 0xFF};

#define UNICAST "30520022000a0011 6470800100000048 00000000 00000b1b0000004a 68656c6c6f 000000"
#define MULTICAST                                                                    \
	"0003c00500160011 6071234500281b01 fe800000000000000002c90300000001"         \
	"ff12401bffff000000000000ffffffff 6440ffff00ffffff00000000 00000b1b0000004a" \
	"000102030405060708090a0b0c0d0e0f"
#define RDMA_WRITE \
	"10220022000b0011 0a40ffff0000004800000009 00000000000010000000007700000004 61626364"

/* The values that tshark shows. */
static const struct sample {
	const char *hex;
	struct ib_packet packet;
} samples[] = {
	{UNICAST,
	 {.vl = 3,
	  .sl = 5,
	  .slid = 17,
	  .dlid = 34,
	  .opcode = 100,
	  .pad = 3,
	  .p_key = 32769,
	  .dst_qp = 0x48,
	  .is_datagram = true,
	  .q_key = 0xB1B,
	  .src_qp = 0x4A,
	  .payload = 5}},
	{MULTICAST,
	 {.slid = 17,
	  .dlid = 49157,
	  .has_grh = true,
	  .grh = {.traffic_class = 7, .flow_label = 74565, .hop_limit = 1},
	  .opcode = 100,
	  .p_key = 65535,
	  .dst_qp = 0xFFFFFF,
	  .is_datagram = true,
	  .q_key = 0xB1B,
	  .src_qp = 0x4A,
	  .payload = 16}},
	{RDMA_WRITE,
	 {.vl = 1,
	  .sl = 2,
	  .slid = 17,
	  .dlid = 34,
	  .opcode = 10,
	  .p_key = 65535,
	  .dst_qp = 0x48,
	  .payload = 4}},
};

static size_t sample_bytes(const char *hex, uint8_t *out)
{
	return hex_bytes(hex, out, BYTES_MAX);
}

static void test_read(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		struct ib_packet want = samples[i].packet, got;
		uint8_t bytes[BYTES_MAX];
		size_t size = sample_bytes(samples[i].hex, bytes);
		size_t routing = want.has_grh ? 48 : 8;

		CU_ASSERT_EQUAL_FATAL(ibpacket_read(bytes, size, &got), IB_PACKET_GOOD);
		CU_ASSERT_PTR_EQUAL(got.transport, bytes + routing);
		CU_ASSERT_EQUAL(got.transport_size, size - routing);
		if (want.has_grh) {
			memcpy(want.grh.sgid, sgid, GID_SIZE);
			memcpy(want.grh.dgid, dgid, GID_SIZE);
		}
		CU_ASSERT(!memcmp(&want.grh, &got.grh, sizeof(want.grh)));
		CU_ASSERT_EQUAL(got.vl, want.vl);
		CU_ASSERT_EQUAL(got.sl, want.sl);
		CU_ASSERT_EQUAL(got.slid, want.slid);
		CU_ASSERT_EQUAL(got.dlid, want.dlid);
		CU_ASSERT_EQUAL(got.opcode, want.opcode);
		CU_ASSERT_EQUAL(got.pad, want.pad);
		CU_ASSERT_EQUAL(got.p_key, want.p_key);
		CU_ASSERT_EQUAL(got.dst_qp, want.dst_qp);
		CU_ASSERT_EQUAL(got.is_datagram, want.is_datagram);
		CU_ASSERT_EQUAL(got.q_key, want.q_key);
		CU_ASSERT_EQUAL(got.src_qp, want.src_qp);
		CU_ASSERT_EQUAL(got.payload, want.payload);
	}
}

static void test_write(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		uint8_t bytes[BYTES_MAX], written[IB_PACKET_MAX];
		size_t size = sample_bytes(samples[i].hex, bytes);
		struct ib_packet packet;

		CU_ASSERT_EQUAL_FATAL(ibpacket_read(bytes, size, &packet), IB_PACKET_GOOD);
		memset(written, 0xEE, sizeof(written));
		CU_ASSERT_EQUAL_FATAL(ibpacket_write(&packet, written), size);
		CU_ASSERT(!memcmp(bytes, written, size));
	}
}

static void test_write_datagram(void)
{
	uint8_t bytes[BYTES_MAX], transport[BYTES_MAX];
	size_t size = sample_bytes(MULTICAST, bytes);
	struct ib_packet packet;

	CU_ASSERT_EQUAL_FATAL(ibpacket_read(bytes, size, &packet), IB_PACKET_GOOD);
	memset(transport, 0xEE, sizeof(transport));
	CU_ASSERT_EQUAL(ibpacket_write_datagram(&packet, bytes + 68, 16, transport), size - 48);
	CU_ASSERT(!memcmp(transport, bytes + 48, size - 48));
}

static void test_faults(void)
{
	static const struct {
		const char *hex;
		unsigned place;
		uint8_t mask; /* of the bits that change */
		enum ib_packet_fault fault;
	} cases[] = {
		{UNICAST, 0, 0x01, IB_PACKET_LINK},	/* LVer */
		{UNICAST, 1, 0x02, IB_PACKET_LINK},	/* LNH: raw */
		{UNICAST, 1, 0x01, IB_PACKET_SIZE},	/* LNH: GRH, for which it is too short */
		{MULTICAST, 1, 0x01, IB_PACKET_OPCODE}, /* LNH: the GRH is the BTH */
		{UNICAST, 4, 0x04, IB_PACKET_LENGTH},	/* PktLen */
		{UNICAST, 5, 0x01, IB_PACKET_LENGTH},
		{MULTICAST, 8, 0x20, IB_PACKET_GLOBAL},	 /* IPVer */
		{MULTICAST, 12, 0x01, IB_PACKET_LENGTH}, /* PayLen */
		{MULTICAST, 13, 0x04, IB_PACKET_LENGTH},
		{MULTICAST, 14, 0x01, IB_PACKET_GLOBAL},   /* NxtHdr */
		{UNICAST, 8, 0x01, IB_PACKET_GOOD},	   /* with immediate data */
		{UNICAST, 8, 0x02, IB_PACKET_OPCODE},	   /* not used */
		{UNICAST, 8, 0x80, IB_PACKET_OPCODE},	   /* of no transport */
		{RDMA_WRITE, 8, 0x40, IB_PACKET_OPCODE},   /* RD */
		{RDMA_WRITE, 8, 0x1F, IB_PACKET_OPCODE},   /* 0x15 */
		{UNICAST, 9, 0x01, IB_PACKET_PADDING},	   /* TVer */
		{MULTICAST, 9 + 40, 0x30, IB_PACKET_GOOD}, /* padding within the payload */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t bytes[BYTES_MAX];
		size_t size = sample_bytes(cases[i].hex, bytes);
		struct ib_packet packet;

		bytes[cases[i].place] ^= cases[i].mask;
		if (ibpacket_read(bytes, size, &packet) != cases[i].fault) {
			printf("case %zu: %d\n", i, ibpacket_read(bytes, size, &packet));
			CU_FAIL("fault");
		}
	}
}

/* Every length of every sample, in memory of exactly this size, for sanitizers and valgrind. */
static void test_lengths(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		uint8_t bytes[BYTES_MAX];
		size_t size = sample_bytes(samples[i].hex, bytes);

		for (size_t cut = 0; cut < size; cut++) {
			uint8_t *exact = mem_alloc(cut + !cut);
			struct ib_packet packet;
			bool headers =
				cut >= size - samples[i].packet.payload - samples[i].packet.pad;

			memcpy(exact, bytes, cut);
			CU_ASSERT_NOT_EQUAL(ibpacket_read(exact, cut, &packet), IB_PACKET_GOOD);
			CU_ASSERT_EQUAL(ibpacket_read_headers(exact, cut, &packet) ==
						IB_PACKET_GOOD,
					headers);
			free(exact);
		}
	}
}

static void test_longest(void)
{
	static uint8_t bytes[IB_PACKET_MAX + 4];
	struct ib_packet packet;
	size_t size = 8 + 12 + 8 + IB_MTU_MAX;

	for (unsigned more = 0; more <= 4; more += 4) {
		memset(bytes, 0, sizeof(bytes));
		bytes[1] = 2;
		bytes[4] = (uint8_t)((size + more + 4) / 4 >> 8);
		bytes[5] = (uint8_t)((size + more + 4) / 4);
		bytes[8] = IB_OPCODE_UD_SEND_ONLY;
		CU_ASSERT_EQUAL(ibpacket_read(bytes, size + more, &packet),
				more ? IB_PACKET_SIZE : IB_PACKET_GOOD);
	}
	CU_ASSERT_EQUAL(ibpacket_read(bytes, sizeof(bytes), &packet), IB_PACKET_SIZE);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"read", test_read},
		{"write", test_write},
		{"write a datagram", test_write_datagram},
		{"faults", test_faults},
		{"all lengths", test_lengths},
		{"the longest", test_longest},
		CU_TEST_INFO_NULL,
	};

	return unit_main("ib_packet", tests);
}
