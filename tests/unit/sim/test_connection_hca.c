/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The frames between the server and the drivers of virtual HCAs: the protocol of vhca/frame.h, its
 * refusals, drivers that do not read or that flood, and the ends of machines. In each test of bad
 * input a second machine works on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "sim/hca.h"
#include "tests/unit/fixtures/unit.h"
#include "tests/unit/fixtures/vm_bed.h"

enum { A = 1, B = 4 /* hosts */, QP = 0x48, PACKET = 8 + 20, LONG = 2048 };

/* Both machines, with started drivers, in a working fabric. */
static void begin(struct vm_bed *bed)
{
	vm_bed_open(bed);
	CU_ASSERT_EQUAL_FATAL(vm_bed_hello(bed, WIRE_HCA, "host-1", NULL, &bed->guest[0], NULL), 0);
	CU_ASSERT_EQUAL_FATAL(vm_bed_hello(bed, WIRE_HCA, "host-4", NULL, &bed->guest[1], NULL), 0);
	vm_start(bed, &bed->guest[0]);
	vm_start(bed, &bed->guest[1]);
	vm_bed_activate(bed);
	vm_bed_turns(bed, 2);
	for (size_t i = 0; i < 2; i++) {
		vm_read(&bed->guest[i]);
		bed->guest[i].have = bed->guest[i].next = 0;
	}
}

static size_t make_packet(lid_t slid, lid_t dlid, size_t payload, uint8_t *out)
{
	size_t size = PACKET + payload;

	memset(out, 0, size);
	out[1] = 2;
	be16_store(out + 2, dlid);
	be16_store(out + 4, (uint16_t)((size + 4) / 4));
	be16_store(out + 6, slid);
	out[8] = 0x64;
	be16_store(out + 10, 0xFFFF);
	be32_store(out + 12, QP);
	be32_store(out + 24, QP);
	memset(out + PACKET, 0x5A, payload);
	return size;
}

static void send_packet(struct vm_guest *guest, unsigned from, unsigned to, size_t payload)
{
	uint8_t packet[PACKET + LONG];

	vm_send(guest, VHCA_PACKET, 1, 0, packet,
		make_packet((lid_t)(VM_BED_LID + from), (lid_t)(VM_BED_LID + to), payload, packet));
}

/* The other machine sends to itself, queries its agent, and is answered at once. */
static void other_works(struct vm_bed *bed)
{
	struct vm_guest *other = &bed->guest[1];
	uint8_t mad[MAD_SIZE];
	struct vm_frame frame;
	static uint32_t id = 1000;

	vm_read(other);
	other->have = other->next = 0;
	subn_build(mad, METHOD_GET, ATTR_NODE_INFO, 0, 0, NULL, NULL);
	vm_send(other, VHCA_MAD, 1, ++id, mad, sizeof(mad));
	send_packet(other, B, B, 4);
	vm_bed_turns(bed, 1);
	vm_read(other);
	CU_ASSERT_FATAL(vm_find(other, VHCA_ANSWER, &frame));
	CU_ASSERT_EQUAL(be32toh(frame.head.id), id);
	CU_ASSERT_EQUAL(frame.size, MAD_SIZE);
	CU_ASSERT(vm_find(other, VHCA_PACKET, &frame));
	CU_ASSERT_EQUAL(bed->host[B]->port[1].info.port_state, PORT_ACTIVE);
}

static const struct hca_counts *counts(const struct vm_bed *bed, unsigned host)
{
	return hca_counts(hca_of(bed->host[host]));
}

/* Start and end */

static void test_hello(void)
{
	struct vhca_welcome welcome;
	struct vhca_state state;
	struct vm_frame frame;
	struct vm_bed bed;
	struct vm_guest *guest = &bed.guest[0];

	vm_bed_open(&bed);
	CU_ASSERT_EQUAL(bed.host[A]->port[1].info.port_state, PORT_INIT);
	CU_ASSERT_EQUAL(vm_bed_hello(&bed, WIRE_HCA, "host-1", NULL, guest, NULL), 0);
	CU_ASSERT_EQUAL(bed.host[A]->port[1].info.port_state, PORT_DOWN);
	vm_send(guest, VHCA_HELLO, 0, 77, NULL, 0);
	vm_bed_turns(&bed, 1);
	vm_read(guest);
	CU_ASSERT_FATAL(vm_next(guest, &frame));
	CU_ASSERT_EQUAL(frame.head.type, VHCA_WELCOME);
	CU_ASSERT_EQUAL(be32toh(frame.head.id), 77);
	CU_ASSERT_EQUAL_FATAL(frame.size, sizeof(welcome));
	memcpy(&welcome, frame.body, sizeof(welcome));
	CU_ASSERT_EQUAL(be64toh(welcome.node_guid), bed.host[A]->node_guid);
	CU_ASSERT_EQUAL(welcome.ports, 1);
	CU_ASSERT_EQUAL(be16toh(welcome.p_keys), 128);
	CU_ASSERT_EQUAL(be16toh(welcome.guids), 32);
	CU_ASSERT_STRING_EQUAL(welcome.description, "host-1");
	CU_ASSERT_FATAL(vm_next(guest, &frame));
	CU_ASSERT_EQUAL(frame.head.type, VHCA_STATE);
	CU_ASSERT_EQUAL(frame.head.port, 1);
	CU_ASSERT_EQUAL_FATAL(frame.size, sizeof(state) + 32 * 8 + 128 * 2);
	CU_ASSERT_EQUAL(be64_load(frame.body + sizeof(state)), bed.host[A]->port[1].guid);
	CU_ASSERT_EQUAL(be16_load(frame.body + sizeof(state) + 32 * 8), 0xFFFF);
	vm_bed_turns(&bed, 3); /* the link trains, and the driver hears of it */
	vm_read(guest);
	CU_ASSERT_FATAL(vm_find(guest, VHCA_STATE, &frame));
	CU_ASSERT_EQUAL(frame.body[4 + 32] & 0xF, PORT_INIT);
	CU_ASSERT_EQUAL(bed.host[A]->port[1].info.port_state, PORT_INIT);
	vm_bed_close(&bed);
}

/* A repeated hello is answered, and resets nothing. After other frames it is a new driver. */
static void test_hello_again(void)
{
	struct vm_frame frame;
	struct vm_bed bed;
	struct vm_guest *guest = &bed.guest[0];

	begin(&bed);
	vm_send(guest, VHCA_HELLO, 0, 1, NULL, 0);
	vm_bed_turns(&bed, 1);
	CU_ASSERT_EQUAL(bed.host[A]->port[1].info.port_state, PORT_ACTIVE);
	vm_read(guest);
	CU_ASSERT(vm_next(guest, &frame) && frame.head.type == VHCA_WELCOME);
	CU_ASSERT(vm_next(guest, &frame) && frame.head.type == VHCA_STATE);
	CU_ASSERT_FALSE(vm_next(guest, &frame));
	send_packet(guest, A, B, 4);
	vm_send(guest, VHCA_HELLO, 0, 1, NULL, 0);
	vm_bed_turns(&bed, 1);
	CU_ASSERT_EQUAL(bed.host[A]->port[1].info.port_state, PORT_DOWN);
	vm_bed_turns(&bed, 5);
	CU_ASSERT_EQUAL(bed.host[A]->port[1].info.port_state, PORT_INIT);
	CU_ASSERT_EQUAL(counts(&bed, A)->starts, 2);
	other_works(&bed);
	vm_bed_close(&bed);
}

static void test_ends(void)
{
	struct vm_bed bed;

	begin(&bed);
	vm_send(&bed.guest[0], VHCA_BYE, 0, 0, NULL, 0);
	vm_bed_turns(&bed, 3);
	CU_ASSERT_EQUAL(bed.sw[0]->port[2].info.port_state, PORT_DOWN);
	CU_ASSERT_PTR_NOT_NULL(hca_of(bed.host[A]));
	vm_start(&bed, &bed.guest[0]);
	CU_ASSERT_EQUAL(bed.sw[0]->port[2].info.port_state, PORT_INIT);
	/* The machine is gone, with a request and packets on the way. */
	send_packet(&bed.guest[0], A, B, 4);
	send_packet(&bed.guest[1], B, A, 4);
	vm_guest_close(&bed.guest[0]);
	vm_bed_turns(&bed, 3);
	CU_ASSERT_PTR_NULL(hca_of(bed.host[A]));
	CU_ASSERT_EQUAL(bed.sw[0]->port[2].info.port_state, PORT_DOWN);
	other_works(&bed);
	CU_ASSERT_EQUAL(vm_bed_hello(&bed, WIRE_HCA, "host-1", NULL, &bed.guest[0], NULL), 0);
	vm_start(&bed, &bed.guest[0]);
	CU_ASSERT_EQUAL(bed.sw[0]->port[2].info.port_state, PORT_INIT);
	vm_bed_close(&bed);
}

/* An adapter has one user. */
static void test_taken(void)
{
	char text[WIRE_NAME_SIZE * 2];
	struct vm_bed bed;
	int program;

	begin(&bed);
	CU_ASSERT_EQUAL(vm_bed_hello(&bed, WIRE_HCA, "host-1", NULL, NULL, text), EBUSY);
	CU_ASSERT_STRING_EQUAL(text, "host-1 is in use by a virtual machine; end it, or choose "
				     "another node with -n");
	CU_ASSERT_EQUAL(vm_bed_hello(&bed, WIRE_UMAD, "host-1", NULL, NULL, text), EBUSY);
	CU_ASSERT_EQUAL(vm_bed_hello(&bed, WIRE_FILES, "host-1", NULL, NULL, text), EBUSY);
	CU_ASSERT_EQUAL(vm_bed_hello(&bed, WIRE_UMAD, "host-2", &program, NULL, text), 0);
	CU_ASSERT_EQUAL(vm_bed_hello(&bed, WIRE_HCA, "host-2", NULL, NULL, text), EBUSY);
	CU_ASSERT_STRING_EQUAL(text, "host-2 is in use by a program of `weftsim run`; end it, or "
				     "choose another node with -n");
	close(program); /* and no turn in between */
	CU_ASSERT_EQUAL(vm_bed_hello(&bed, WIRE_HCA, "host-2", NULL, NULL, text), 0);
	CU_ASSERT_EQUAL(vm_bed_hello(&bed, WIRE_HCA, "sw-1", NULL, NULL, text), EINVAL);
	CU_ASSERT_EQUAL(vm_bed_hello(&bed, WIRE_HCA, "nosuch", NULL, NULL, text), ENOENT);
	kernel_remove_device(bed.server.kernel, bed.host[3], true);
	CU_ASSERT_EQUAL(vm_bed_hello(&bed, WIRE_HCA, "host-3", NULL, NULL, text), ENXIO);
	other_works(&bed);
	vm_bed_close(&bed);
}

/* Requests */

/* A Set() is executed once, however often it arrives. */
static void test_repeated_request(void)
{
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE] = {0x80, 0x01};
	struct vm_frame frame;
	unsigned sets, answers = 0;
	struct vm_bed bed;
	struct vm_guest *guest = &bed.guest[0];

	begin(&bed);
	sets = bed.sets;
	subn_build(mad, METHOD_SET, ATTR_PKEY_TABLE, 0, 0, NULL, data);
	for (unsigned i = 0; i < 3; i++) {
		vm_send(guest, VHCA_MAD, 1, 5, mad, sizeof(mad));
		vm_bed_turns(&bed, 1);
	}
	CU_ASSERT_EQUAL(bed.sets, sets + 1);
	CU_ASSERT_EQUAL(counts(&bed, A)->repeated, 2);
	vm_read(guest);
	CU_ASSERT(vm_next(guest, &frame) && frame.head.type == VHCA_STATE);
	CU_ASSERT_EQUAL(be16_load(frame.body + sizeof(struct vhca_state) + 32 * 8), 0x8001);
	while (vm_find(guest, VHCA_ANSWER, &frame)) {
		CU_ASSERT_EQUAL(frame.size, MAD_SIZE);
		CU_ASSERT_EQUAL(frame.body[3], METHOD_GET_RESP);
		answers++;
	}
	CU_ASSERT_EQUAL(answers, 3);
	vm_send(guest, VHCA_MAD, 1, 6, mad, sizeof(mad));
	vm_bed_turns(&bed, 1);
	CU_ASSERT_EQUAL(bed.sets, sets + 2);
	vm_bed_close(&bed);
}

/* The agent does not answer: an answer without a body. */
static void test_no_answer(void)
{
	uint8_t mad[MAD_SIZE] = {1, CLASS_SUBN_LID, 1, METHOD_TRAP_REPRESS};
	struct vm_frame frame;
	struct vm_bed bed;

	begin(&bed);
	vm_send(&bed.guest[0], VHCA_MAD, 1, 5, mad, sizeof(mad));
	vm_bed_turns(&bed, 1);
	vm_read(&bed.guest[0]);
	CU_ASSERT_FATAL(vm_find(&bed.guest[0], VHCA_ANSWER, &frame));
	CU_ASSERT_EQUAL(frame.size, 0);
	CU_ASSERT_EQUAL(be32toh(frame.head.id), 5);
	vm_bed_close(&bed);
}

static void test_modify(void)
{
	struct vhca_modify modify = {.set = htobe32(CAP_IS_SM | CAP_IS_TRAP | 1 << 16),
				     .has_description = 1,
				     .description = "node 1 HCA-1"};
	struct vm_frame frame;
	struct port_info info;
	struct vm_bed bed;
	uint32_t before;

	begin(&bed);
	before = bed.host[A]->port[1].info.capability_mask;
	vm_send(&bed.guest[0], VHCA_MODIFY, 1, 5, &modify, sizeof(modify));
	vm_bed_turns(&bed, 1);
	CU_ASSERT_EQUAL(bed.host[A]->port[1].info.capability_mask, before | CAP_IS_SM | 1 << 16);
	CU_ASSERT_STRING_EQUAL(bed.host[A]->description.text, "node 1 HCA-1");
	vm_read(&bed.guest[0]);
	CU_ASSERT_FATAL(vm_find(&bed.guest[0], VHCA_STATE, &frame));
	attr_decode(&port_info_format, frame.body + 4, &info);
	CU_ASSERT_EQUAL(info.capability_mask, before | CAP_IS_SM | 1 << 16);
	CU_ASSERT(vm_find(&bed.guest[0], VHCA_ANSWER, &frame) && !frame.size);
	vm_bed_close(&bed);
}

/* The state shows neither the M_Key nor commands, counts ClientReregister, and is sent only if it
 * differs. */
static void test_state(void)
{
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE] = {0};
	struct vm_frame frame;
	struct port_info info;
	struct vm_bed bed;

	begin(&bed);
	for (uint32_t i = 1; i <= 3; i++) {
		info = bed.host[A]->port[1].info;
		info.m_key = 0x4711;
		info.port_state = info.port_physical_state = 0;
		info.client_reregister = 1;
		memset(data, 0, sizeof(data));
		format_encode(&port_info_format, &info, data);
		subn_build(mad, METHOD_SET, ATTR_PORT_INFO, PORT_INFO_EXTENDED_SPEEDS | 1, 0x4711,
			   NULL, data);
		bed.host[A]->port[1].info.m_key = 0x4711;
		CU_ASSERT(device_handle(bed.host[A], 1, mad));
		CU_ASSERT_EQUAL(be16_load(mad + 4), STATUS_OK);
		vm_bed_turns(&bed, 1);
		vm_read(&bed.guest[0]);
		CU_ASSERT_FATAL(vm_next(&bed.guest[0], &frame));
		CU_ASSERT_EQUAL(frame.head.type, VHCA_STATE);
		CU_ASSERT_EQUAL(be32_load(frame.body), i);
		attr_decode(&port_info_format, frame.body + 4, &info);
		CU_ASSERT_EQUAL(info.m_key, 0);
		CU_ASSERT_EQUAL(info.client_reregister, 0);
		CU_ASSERT_EQUAL(info.lid, VM_BED_LID + A);
		CU_ASSERT_EQUAL(info.local_port_num, 1);
		world_reset_stats(bed.server.world); /* no matter */
	}
	connection_device_changed(bed.host[A]);
	vm_bed_turns(&bed, 1);
	vm_read(&bed.guest[0]);
	CU_ASSERT_FALSE(vm_next(&bed.guest[0], &frame));
	vm_bed_close(&bed);
}

/* Packets */

static void test_packets(void)
{
	uint8_t want[PACKET + 8];
	struct vm_frame frame;
	struct vm_bed bed;
	size_t size = make_packet(VM_BED_LID + A, VM_BED_LID + B, 8, want);

	begin(&bed);
	send_packet(&bed.guest[0], A, B, 8);
	vm_bed_turns(&bed, 1);
	vm_read(&bed.guest[1]);
	CU_ASSERT_FATAL(vm_find(&bed.guest[1], VHCA_PACKET, &frame));
	CU_ASSERT_EQUAL(frame.head.port, 1);
	CU_ASSERT_EQUAL_FATAL(frame.size, size);
	CU_ASSERT(!memcmp(frame.body, want, size));
	vm_bed_close(&bed);
}

/* Bad frames */

static void test_malformed(void)
{
	static const struct {
		uint8_t version, type, port;
		uint16_t head_size, size; /* as the head has it, and in the frame */
	} cases[] = {
		{0, VHCA_MAD, 1, 256, 256},
		{2, VHCA_MAD, 1, 256, 256},
		{1, 0, 0, 0, 0},
		{1, VHCA_WELCOME, 0, 80, 80},
		{1, VHCA_ANSWER, 1, 256, 256},
		{1, VHCA_STATE, 1, 256, 256},
		{1, 10, 1, 256, 256},
		{1, 255, 1, 256, 256},
		{1, VHCA_MAD, 0, 256, 256},
		{1, VHCA_MAD, 2, 256, 256},
		{1, VHCA_MAD, 255, 256, 256},
		{1, VHCA_MAD, 1, 255, 255},
		{1, VHCA_MAD, 1, 257, 257},
		{1, VHCA_MAD, 1, 256, 255},
		{1, VHCA_MAD, 1, 0, 256},
		{1, VHCA_MAD, 1, 65535, 256},
		{1, VHCA_HELLO, 0, 1, 1},
		{1, VHCA_BYE, 0, 1, 1},
		{1, VHCA_MODIFY, 1, 75, 75},
		{1, VHCA_MODIFY, 1, 77, 77},
		{1, VHCA_MODIFY, 2, 76, 76},
		{1, VHCA_VIOLATION, 1, 4, 4},
		{1, VHCA_VIOLATION, 1, 32, 32},
		{1, VHCA_VIOLATION, 0, 32, 32},
		{1, VHCA_PACKET, 1, 19, 19},
		{1, VHCA_PACKET, 1, 4185, 4185},
		{1, VHCA_PACKET, 0, 28, 28},
		{1, VHCA_PACKET, 1, 28, 27},
	};
	struct vm_frame frame;
	struct vm_bed bed;

	begin(&bed);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t bytes[8192] = {0};
		struct vhca_head head = {.version = cases[i].version,
					 .type = cases[i].type,
					 .port = cases[i].port,
					 .size = htobe16(cases[i].head_size)};
		size_t size = 14 + sizeof(head) + cases[i].size;
		uint64_t before = counts(&bed, A)->malformed;

		be32_store(bytes, (uint32_t)size);
		memcpy(bytes + 10, VHCA_ADDRESS_PREFIX "\x01", 6);
		be16_store(bytes + 16, VHCA_ETHERTYPE);
		memcpy(bytes + 18, &head, sizeof(head));
		CU_ASSERT_EQUAL(vm_write(&bed.guest[0], bytes, 4 + size), 4 + size);
		vm_bed_turns(&bed, 2);
		if (counts(&bed, A)->malformed != before + 1) {
			printf("case %zu\n", i);
			CU_FAIL("a malformed frame was taken");
		}
		CU_ASSERT_EQUAL(bed.host[A]->port[1].info.port_state, PORT_ACTIVE);
	}
	vm_read(&bed.guest[0]);
	CU_ASSERT_FALSE(vm_next(&bed.guest[0], &frame));
	other_works(&bed);
	vm_bed_close(&bed);
}

/* Frames before the hello, too short for headers, and of other protocols. */
static void test_out_of_place(void)
{
	static const uint8_t shortest[4] = {0},
			     half[] = {0, 0, 0, 20, [4 + 12] = 0x88, 0xB5, [23] = 0},
			     foreign[] = {0, 0, 0, 60, [4 + 12] = 0x86, 0xDD, [63] = 0};
	struct vhca_modify modify = {.set = htobe32(CAP_IS_SM)};
	uint8_t mad[MAD_SIZE] = {0};
	struct vm_frame frame;
	struct vm_bed bed;
	struct vm_guest *guest = &bed.guest[0];

	vm_bed_open(&bed);
	CU_ASSERT_EQUAL(vm_bed_hello(&bed, WIRE_HCA, "host-1", NULL, guest, NULL), 0);
	vm_send(guest, VHCA_MAD, 1, 1, mad, sizeof(mad));
	vm_send(guest, VHCA_MODIFY, 1, 2, &modify, sizeof(modify));
	send_packet(guest, A, B, 4);
	vm_write(guest, shortest, sizeof(shortest));
	vm_write(guest, half, sizeof(half));
	vm_bed_turns(&bed, 3);
	CU_ASSERT_EQUAL(counts(&bed, A)->malformed, 5);
	vm_write(guest, foreign, sizeof(foreign));
	vm_bed_turns(&bed, 2);
	CU_ASSERT_EQUAL(counts(&bed, A)->foreign, 1);
	CU_ASSERT_FALSE(bed.host[A]->port[1].info.capability_mask & CAP_IS_SM);
	vm_read(guest);
	CU_ASSERT_FALSE(vm_next(guest, &frame));
	vm_bed_close(&bed);
}

/* A stream whose lengths are no emulator's ends; a frame in single bytes does not. */
static void test_framing(void)
{
	static const uint8_t length[] = {0x00, 0x01, 0x10, 0x01};
	uint8_t hello[4 + 26] = {0, 0, 0, 26, [10] = 2, [16] = 0x88, 0xB5, 1, VHCA_HELLO};
	struct vm_bed bed;

	begin(&bed);
	send_packet(&bed.guest[0], A, B, 4); /* so that the hello is a new one */
	for (size_t i = 0; i < sizeof(hello); i++) {
		vm_write(&bed.guest[0], hello + i, 1);
		vm_bed_turns(&bed, 1);
		CU_ASSERT_EQUAL(counts(&bed, A)->starts, i + 1 == sizeof(hello) ? 2 : 1);
	}
	vm_write(&bed.guest[0], length, sizeof(length));
	vm_bed_turns(&bed, 2);
	CU_ASSERT_PTR_NULL(hca_of(bed.host[A]));
	other_works(&bed);
	vm_bed_close(&bed);
}

/* Drivers that do not keep up */

/* Packets are dropped and counted; the state and the answer arrive, as they are at last. */
static void test_deaf(void)
{
	enum { PACKETS = 3000 };
	uint8_t mad[MAD_SIZE];
	struct vm_frame frame;
	unsigned packets = 0, answers = 0, states = 0;
	const struct hca_counts *deaf;
	struct vm_bed bed;

	begin(&bed);
	deaf = counts(&bed, A);
	for (unsigned i = 0; i < PACKETS; i++) {
		send_packet(&bed.guest[1], B, A, LONG);
		vm_bed_turns(&bed, 1);
	}
	CU_ASSERT_EQUAL(deaf->received + deaf->unread, PACKETS);
	CU_ASSERT(deaf->unread > PACKETS / 2);
	CU_ASSERT_EQUAL(world_stats(bed.server.world)->dropped_unread, deaf->unread);
	subn_build(mad, METHOD_GET, ATTR_NODE_INFO, 0, 0, NULL, NULL);
	for (uint32_t i = 1; i <= 50; i++) {
		bed.host[A]->port[1].info.master_sm_lid = i;
		connection_device_changed(bed.host[A]);
		vm_send(&bed.guest[0], VHCA_MAD, 1, i, mad, sizeof(mad));
		vm_bed_turns(&bed, 1);
	}
	other_works(&bed);
	for (unsigned i = 0; i < 100; i++) {
		vm_read(&bed.guest[0]);
		vm_bed_turns(&bed, 1);
	}
	while (vm_next(&bed.guest[0], &frame)) {
		packets += frame.head.type == VHCA_PACKET;
		answers += frame.head.type == VHCA_ANSWER && be32toh(frame.head.id) == 50;
		states += frame.head.type == VHCA_STATE && be16_load(frame.body + 4 + 18) == 50;
	}
	CU_ASSERT_EQUAL(packets, deaf->received);
	CU_ASSERT_EQUAL(answers, 1);
	CU_ASSERT_EQUAL(states, 1);
	vm_bed_close(&bed);
}

/* In the turn in which a full socket of packets is read, the other machine is served, too. */
static void test_flood(void)
{
	static uint8_t frames[200 * 1024];
	uint8_t packet[PACKET + 4];
	size_t size = make_packet(VM_BED_LID + A, VM_BED_LID + A + 1, 4, packet), at = 0;
	size_t written = 0;
	struct vm_bed bed;

	begin(&bed);
	while (at + 4 + 26 + size <= sizeof(frames)) {
		be32_store(frames + at, (uint32_t)(26 + size));
		memcpy(frames + at + 10, VHCA_ADDRESS_PREFIX "\x01", 6);
		be16_store(frames + at + 16, VHCA_ETHERTYPE);
		memcpy(frames + at + 18, (uint8_t[]){1, VHCA_PACKET, 1, 0, 0, (uint8_t)size}, 6);
		memcpy(frames + at + 30, packet, size);
		at += 4 + 26 + size;
	}
	for (unsigned i = 0; i < 100; i++) {
		uint64_t before = counts(&bed, A)->sent;

		written += vm_write(&bed.guest[0], frames + written % at, at - written % at);
		other_works(&bed); /* one turn */
		CU_ASSERT(counts(&bed, A)->sent - before < 300);
	}
	CU_ASSERT(counts(&bed, A)->sent > 1000);
	vm_bed_close(&bed);
}

/* Drivers that start without end: each start takes longer than a packet. */
static void test_hello_flood(void)
{
	static uint8_t frames[60 * 1024];
	unsigned starts = 0;
	struct vm_bed bed;

	for (size_t at = 0; at + 30 <= sizeof(frames); at += 30) {
		frames[at + 3] = 26;
		be16_store(frames + at + 16, VHCA_ETHERTYPE);
		memcpy(frames + at + 18, (uint8_t[]){1, VHCA_HELLO}, 2);
		be32_store(frames + at + 26, (uint32_t)at);
	}
	begin(&bed);
	CU_ASSERT_EQUAL(vm_write(&bed.guest[0], frames, sizeof(frames)), sizeof(frames));
	for (unsigned i = 0; i < 5; i++) {
		uint64_t before = counts(&bed, A)->starts;

		other_works(&bed);
		CU_ASSERT(counts(&bed, A)->starts - before < 600);
		starts += counts(&bed, A)->starts - before;
	}
	CU_ASSERT_EQUAL(starts, sizeof(frames) / 30);
	vm_bed_close(&bed);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"hello", test_hello},
		{"hello again", test_hello_again},
		{"ends", test_ends},
		{"taken adapters", test_taken},
		{"a repeated request", test_repeated_request},
		{"no answer", test_no_answer},
		{"modify", test_modify},
		{"states", test_state},
		{"packets", test_packets},
		{"malformed frames", test_malformed},
		{"frames out of place", test_out_of_place},
		{"framing", test_framing},
		{"a driver that does not read", test_deaf},
		{"a driver that floods", test_flood},
		{"a driver that starts without end", test_hello_flood},
		CU_TEST_INFO_NULL,
	};

	return unit_main("connection_hca", tests);
}
