/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The frames of a virtual machine's driver. Each record begins with a kind: a frame (type, port,
 * id, the size in its head, the real size, body), a packet (source and destination LID, P_Key,
 * whether its length is made right, size, bytes), bytes on the stream (count, bytes), or turns of
 * the server. At the end another machine must have an undisturbed driver. sim/connection_hca.c.
 */
#include "lib/be.h"
#include "mad/mad.h"
#include "sim/hca.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/fixtures/vm_bed.h"

enum { RECORDS_MAX = 300, BODY_MAX = 4400, A = 1, B = 4 };
enum { FRAME, PACKET, BYTES, TURNS, KINDS };

static struct vm_bed bed;

static void frame(struct fuzz_bytes *in)
{
	uint8_t bytes[4 + 26 + BODY_MAX] = {0}, sizes[4];
	size_t size;

	memcpy(bytes + 10, VHCA_ADDRESS_PREFIX "\x01", 6);
	be16_store(bytes + 16, VHCA_ETHERTYPE);
	bytes[18] = 1;
	bytes[19] = fuzz_byte(in) % 12;
	bytes[20] = fuzz_byte(in) % 3;
	bytes[29] = fuzz_byte(in) % 4;
	fuzz_take(in, sizes, sizeof(sizes));
	be16_store(bytes + 22, be16_load(sizes));
	size = be16_load(sizes + 2) % BODY_MAX;
	fuzz_take(in, bytes + 30, size);
	be32_store(bytes, (uint32_t)(26 + size));
	vm_write(&bed.guest[0], bytes, 30 + size);
}

static void packet(struct fuzz_bytes *in)
{
	uint8_t bytes[BODY_MAX] = {0}, key[2];
	uint8_t slid = fuzz_byte(in), dlid = fuzz_byte(in), right = fuzz_byte(in);
	size_t size;

	fuzz_take(in, key, sizeof(key));
	size = 4 * (size_t)fuzz_byte(in);
	fuzz_take(in, bytes, size);
	be16_store(bytes + 2, dlid & 0x80 ? (uint16_t)(0xFF00 | dlid) : dlid);
	be16_store(bytes + 6, slid == 0xFF ? 0xFFFF : slid);
	if (right) {
		be16_store(bytes + 4, (uint16_t)((size + 4) / 4));
		memcpy(bytes + (bytes[1] & 1 ? 50 : 10), key, sizeof(key));
		if (bytes[1] & 1)
			be16_store(bytes + 12, (uint16_t)(size - 48 + 4));
	}
	vm_send(&bed.guest[0], VHCA_PACKET, 1, 0, bytes, size);
}

static void record(struct fuzz_bytes *in)
{
	uint8_t bytes[256];

	switch (fuzz_byte(in) % KINDS) {
	case FRAME:
		frame(in);
		break;
	case PACKET:
		packet(in);
		break;
	case BYTES:
		vm_write(&bed.guest[0], bytes, fuzz_take(in, bytes, fuzz_byte(in)));
		break;
	default:
		vm_bed_turns(&bed, 1 + fuzz_byte(in) % 8);
	}
}

/* The other machine has its link, is answered, and hears itself. */
static void check_other(void)
{
	struct vm_guest *other = &bed.guest[1];
	uint8_t mad[MAD_SIZE], bytes[32] = {0,	  2, 0,	   VM_BED_LID + B, 0, 9, 0, VM_BED_LID + B,
					    0x64, 0, 0xFF, 0xFF,	   0, 0, 0, 9};
	struct vm_frame found;

	bytes[27] = 9; /* the source QP */
	vm_read(other);
	other->have = other->next = 0;
	subn_build(mad, METHOD_GET, ATTR_NODE_INFO, 0, 0, NULL, NULL);
	vm_send(other, VHCA_MAD, 1, 99, mad, sizeof(mad));
	vm_send(other, VHCA_PACKET, 1, 0, bytes, sizeof(bytes));
	vm_bed_turns(&bed, 2);
	vm_read(other);
	if (bed.host[B]->port[1].info.port_state != PORT_ACTIVE ||
	    hca_counts(hca_of(bed.host[B]))->malformed || !vm_find(other, VHCA_ANSWER, &found) ||
	    found.size != MAD_SIZE || !vm_find(other, VHCA_PACKET, &found))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes in = {data, size};

	vm_bed_open(&bed);
	vm_bed_hello(&bed, WIRE_HCA, "host-1", NULL, &bed.guest[0], NULL);
	vm_bed_hello(&bed, WIRE_HCA, "host-4", NULL, &bed.guest[1], NULL);
	vm_start(&bed, &bed.guest[0]);
	vm_start(&bed, &bed.guest[1]);
	vm_bed_activate(&bed);
	for (unsigned i = 0; in.left && i < RECORDS_MAX; i++)
		record(&in);
	vm_guest_close(&bed.guest[0]);
	vm_bed_turns(&bed, 2);
	check_other();
	vm_bed_close(&bed);
	return 0;
}
