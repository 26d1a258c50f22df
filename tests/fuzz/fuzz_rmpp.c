/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * RMPP of a simulated node, which reassembles messages from segments and sends long answers. The
 * other end writes single MADs with any RMPP header. Each is: type, flags, status, segment, length
 * (2), whether time passes, a byte of data. sim/kernel_rmpp_receive.c, sim/kernel_rmpp_send.c.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/unit/fixtures/kernel_bed.h"

enum { SEGMENTS_MAX = 200, ANSWER_SIZE = 4000, ONE_MS = 1000 };
enum { RMPP_VERSION = 24, TYPE, FLAGS, STATUS, SEGMENT, LENGTH = 32 };

/* Each complete message gets a long answer. */
static void answer(struct program *program)
{
	static uint8_t message[SUBN_ADM_HEADER_SIZE + ANSWER_SIZE];
	struct ib_user_mad_hdr header = program->header;

	if (header.status)
		return;
	fill_mad(message, CLASS_SUBN_ADM, 2, program->mad[3] | METHOD_RESPONSE, 0);
	memcpy(message + 8, program->mad + 8, 8);
	message[FLAGS] = RMPP_ACTIVE;
	header.timeout_ms = 10;
	header.retries = 2;
	program_write(program, &header, message, sizeof(message));
}

static void segment(struct fuzz_bytes *in, struct bed *bed, struct program *asks)
{
	struct ib_user_mad_hdr header;
	uint8_t mad[MAD_SIZE], length[2];

	fill_mad(mad, CLASS_SUBN_ADM, 2, METHOD_GET_MULTI, 1);
	mad[RMPP_VERSION] = 1;
	mad[TYPE] = fuzz_byte(in);
	mad[FLAGS] = fuzz_byte(in);
	mad[STATUS] = fuzz_byte(in);
	be32_store(mad + SEGMENT, fuzz_byte(in));
	fuzz_take(in, length, sizeof(length));
	be32_store(mad + LENGTH, length[0] == 0xFF ? UINT32_MAX - length[1] : be16_load(length));
	header = header_to(0, mad, HOST_LID + 2, 0, 0);
	program_write(asks, &header, mad, MAD_SIZE);
	kernel_bed_run(bed, fuzz_byte(in) * (uint64_t)ONE_MS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t methods =
		UINT64_C(1) << METHOD_GET_TABLE | UINT64_C(1) << METHOD_GET_MULTI;
	struct fuzz_bytes in = {data, size};
	struct program asks, answers;
	struct bed bed;

	kernel_bed_open(&bed);
	program_open(&asks, &bed, 0);
	program_open(&answers, &bed, 1);
	program_must_register(&asks, CLASS_SUBN_ADM, 2, 0, 0);
	program_must_register(&answers, CLASS_SUBN_ADM, 2, 1, methods);
	answers.answer = answer;
	for (unsigned i = 0; in.left && i < SEGMENTS_MAX; i++)
		segment(&in, &bed, &asks);
	kernel_bed_run(&bed, 1000 * (uint64_t)ONE_MS);
	program_close(&asks);
	program_close(&answers);
	kernel_bed_close(&bed);
	return 0;
}
