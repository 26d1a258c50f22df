/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * RMPP in the kernel of a simulated node. Messages of all sizes arrive whole, also if segments and
 * acknowledgements are lost, doubled or reordered, and in both directions of one transaction. For
 * malformed segments, windows and states, the other end is a program that does RMPP itself, and so
 * writes and reads single segments.
 */
#include <errno.h>

#include "tests/unit/fixtures/kernel_bed.h"

enum { MS = 1000, S = 1000000, CLASS_DEVICE_MGMT = 6, CLASS_VENDOR = 0x32 };
enum { TYPE = 25, FLAGS = 26, STATUS = 27, SEGMENT = 28, LENGTH = 32 };
enum { TYPE_DATA = 1, TYPE_ACK, TYPE_STOP, TYPE_ABORT };
enum { ASKER, ANSWERER };

static const struct {
	uint8_t mgmt_class, version;
	size_t header_size;
} classes[] = {
	{CLASS_SUBN_ADM, 2, 56},
	{CLASS_DEVICE_MGMT, 1, 64},
	{CLASS_VENDOR, 1, 40},
};

/* A program that asks with a message or a MAD, and a program that answers with a message. */
struct talk {
	struct bed bed;
	struct program asks, answers;
	size_t kind;
	uint32_t agent;
	uint32_t request_size, answer_size; /* data; a request of 0 is a single MAD */
	uint32_t answer_timeout_ms, answer_retries;
	const struct world_faults *faults; /* from when the request has come */
};

static struct talk *talk_of(struct program *answers)
{
	return container_of(answers, struct talk, answers);
}

static uint8_t pattern(size_t at, uint32_t size)
{
	return (at * 31 + at / 251 + size) ^ at >> 8;
}

static uint8_t *make_message(const struct talk *talk, uint8_t method, uint32_t tid, uint32_t size,
			     bool active)
{
	size_t header_size = classes[talk->kind].header_size;
	uint8_t *message = mem_zalloc(MAD_SIZE + size);

	fill_mad(message, classes[talk->kind].mgmt_class, classes[talk->kind].version, method, tid);
	message[FLAGS] = active ? RMPP_ACTIVE : 0;
	if (header_size > 48)
		message[44] = 0x55;
	for (uint32_t i = 0; i < size; i++)
		message[header_size + i] = pattern(i, size);
	return message;
}

static bool is_message(const struct talk *talk, const struct program *program, uint32_t size)
{
	size_t header_size = classes[talk->kind].header_size;

	if (program->size != header_size + size || (header_size > 48 && program->mad[44] != 0x55))
		return false;
	for (uint32_t i = 0; i < size; i++) {
		if (program->mad[header_size + i] != pattern(i, size))
			return false;
	}
	return true;
}

static void answer(struct program *program)
{
	struct talk *talk = talk_of(program);
	struct ib_user_mad_hdr header = program->header;
	uint8_t *message;
	int status;

	if (header.status)
		return;
	if (talk->request_size)
		CU_ASSERT(is_message(talk, program, talk->request_size));
	if (talk->faults)
		world_set_faults(talk->bed.world, NULL, talk->faults);
	message = make_message(talk, program->mad[3] | METHOD_RESPONSE, 0, talk->answer_size, true);
	memcpy(message + 8, program->mad + 8, 8);
	header.timeout_ms = talk->answer_timeout_ms;
	header.retries = talk->answer_retries;
	status = program_write(program, &header, message,
			       classes[talk->kind].header_size + talk->answer_size);
	CU_ASSERT(status == 0 || status == -EINVAL); /* it is under way already */
	free(message);
}

static void talk_open(struct talk *talk, size_t kind)
{
	static const uint64_t methods =
		UINT64_C(1) << METHOD_GET_TABLE | UINT64_C(1) << METHOD_GET_MULTI;
	static const struct world_options options = {.seed = 7, .hop_ns = 500};

	*talk = (struct talk){.kind = kind, .answer_retries = 5};
	kernel_bed_open_with(&talk->bed, &options);
	program_open(&talk->asks, &talk->bed, ASKER);
	program_open(&talk->answers, &talk->bed, ANSWERER);
	talk->agent = program_must_register(&talk->asks, classes[kind].mgmt_class,
					    classes[kind].version, 1, 0);
	program_must_register(&talk->answers, classes[kind].mgmt_class, classes[kind].version, 1,
			      methods);
	talk->answers.answer = answer;
}

static void talk_close(struct talk *talk)
{
	program_close(&talk->asks);
	program_close(&talk->answers);
	kernel_bed_close(&talk->bed);
}

static void ask(struct talk *talk, uint32_t tid, uint32_t timeout_ms, uint32_t retries)
{
	bool active = talk->request_size;
	uint8_t *message = make_message(talk, active ? METHOD_GET_MULTI : METHOD_GET_TABLE, tid,
					talk->request_size, active);
	struct ib_user_mad_hdr header =
		header_to(talk->agent, message, HOST_LID + 2, timeout_ms, retries);
	size_t size = active ? classes[talk->kind].header_size + talk->request_size : MAD_SIZE;

	CU_ASSERT_EQUAL(program_write(&talk->asks, &header, message, size), 0);
	free(message);
}

static const struct kernel_stats *stats(const struct talk *talk, unsigned host)
{
	return kernel_bed_stats(&talk->bed, host);
}

/* Whole messages */

static void test_sizes(void)
{
	static const uint32_t sizes[] = {0,	1,     192,   199,   200,    201,
					 216,	217,   400,   12800, 13000,  13001,
					 13200, 25800, 26000, 26001, 200000, 1000000};

	for (size_t kind = 0; kind < ARRAY_SIZE(classes); kind++) {
		size_t each = MAD_SIZE - classes[kind].header_size;

		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
			uint32_t segments = sizes[i] ? (sizes[i] + each - 1) / each : 1;
			struct talk talk;

			talk_open(&talk, kind);
			talk.answer_size = sizes[i];
			ask(&talk, 1, 60000, 0);
			kernel_bed_run(&talk.bed, S);
			CU_ASSERT_EQUAL_FATAL(talk.asks.heard, 1);
			CU_ASSERT(is_message(&talk, &talk.asks, sizes[i]));
			CU_ASSERT_EQUAL(talk.asks.header.length,
					KERNEL_HEADER_SIZE + talk.asks.size);
			/* The first segment's headers. */
			CU_ASSERT_EQUAL(talk.asks.mad[FLAGS], segments == 1 ? 7 : 3);
			CU_ASSERT_EQUAL(be32_load(talk.asks.mad + SEGMENT), 1);
			CU_ASSERT_EQUAL(be32_load(talk.asks.mad + LENGTH),
					sizes[i] + segments * (classes[kind].header_size - 36));
			CU_ASSERT_EQUAL(talk.answers.heard, 1);
			CU_ASSERT_EQUAL(stats(&talk, ASKER)->received, segments);
			CU_ASSERT_EQUAL(stats(&talk, ANSWERER)->rmpp_sent, 1);
			CU_ASSERT_EQUAL(stats(&talk, ANSWERER)->rmpp_resent, 0);
			CU_ASSERT_EQUAL(stats(&talk, ASKER)->rmpp_received, 1);
			/* One acknowledgement for the first and for each window. */
			CU_ASSERT(stats(&talk, ASKER)->sent <= 3 + segments / 64);
			talk_close(&talk);
		}
	}
}

static void test_faults(void)
{
	static const struct world_faults faults[] = {
		{.drop_ppm = 20000},
		{.duplicate_ppm = 300000},
		{.delay_ppm = 500000, .delay_us = 200},
		{.drop_ppm = 30000, .duplicate_ppm = 50000, .delay_ppm = 300000, .delay_us = 50},
		{.drop_ppm = 300000, .duplicate_ppm = 300000, .delay_ppm = 300000, .delay_us = 9},
	};
	static const uint32_t segments[] = {1, 2, 3, 63, 64, 65, 66, 129, 130, 1000, 5000};

	for (size_t f = 0; f < ARRAY_SIZE(faults); f++) {
		for (size_t i = 0; i < ARRAY_SIZE(segments); i++) {
			struct talk talk;

			if (faults[f].drop_ppm > 100000 && segments[i] > 200)
				continue; /* would take longer than the receiver waits */
			talk_open(&talk, i % ARRAY_SIZE(classes));
			talk.answer_size = segments[i] * 192 - 5;
			talk.answer_timeout_ms = 5;
			talk.answer_retries = 60;
			talk.faults = &faults[f];
			ask(&talk, 1, 100000, 0);
			kernel_bed_run(&talk.bed, 60 * S);
			CU_ASSERT_EQUAL(talk.asks.heard, 1);
			if (talk.asks.heard == 1)
				CU_ASSERT(is_message(&talk, &talk.asks, talk.answer_size));
			CU_ASSERT_EQUAL(stats(&talk, ASKER)->rmpp_malformed, 0);
			CU_ASSERT_EQUAL(stats(&talk, ASKER)->rmpp_aborted, 0);
			if (faults[f].drop_ppm && segments[i] == 5000)
				CU_ASSERT(stats(&talk, ANSWERER)->rmpp_resent > 100);
			/* All is forgotten in the end. */
			CU_ASSERT_EQUAL(kernel_next_us(talk.bed.kernel), UINT64_MAX);
			talk_close(&talk);
		}
	}
}

/* Double-sided: a request of several segments, and an answer of several. */
static void test_both_ways(void)
{
	static const uint32_t sizes[] = {1, 200, 201, 13001, 300000};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(sizes); k++) {
			struct talk talk;

			talk_open(&talk, (i + k) % ARRAY_SIZE(classes));
			talk.request_size = sizes[i];
			talk.answer_size = sizes[k];
			ask(&talk, 1, 1000, 0);
			kernel_bed_run(&talk.bed, S);
			CU_ASSERT_EQUAL_FATAL(talk.asks.heard, 1);
			CU_ASSERT_EQUAL(talk.asks.header.status, 0);
			CU_ASSERT(is_message(&talk, &talk.asks, sizes[k]));
			CU_ASSERT_EQUAL(talk.answers.heard, 1);
			CU_ASSERT_EQUAL(stats(&talk, ASKER)->rmpp_sent, 1);
			CU_ASSERT_EQUAL(stats(&talk, ANSWERER)->rmpp_received, 1);
			CU_ASSERT_EQUAL(stats(&talk, ANSWERER)->rmpp_sent, 1);
			CU_ASSERT_EQUAL(stats(&talk, ANSWERER)->rmpp_malformed, 0);
			talk_close(&talk);
		}
	}
}

/* Without acknowledgements the sender gets a time-out after its retries, each at most 2 s. */
static void test_no_acknowledgement(void)
{
	static const struct {
		uint32_t timeout_ms, retries;
		uint64_t end_us;
	} cases[] = {{0, 0, 2 * S}, {0, 3, 8 * S}, {500, 3, 2 * S}, {10000, 1, 4 * S}};
	static const struct world_faults all = {.drop_ppm = 1000000};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct talk talk;

		talk_open(&talk, 0);
		talk.answer_size = 1000;
		talk.answer_timeout_ms = cases[i].timeout_ms;
		talk.answer_retries = cases[i].retries;
		talk.faults = &all;
		ask(&talk, 1, 60000, 0);
		kernel_bed_run(&talk.bed, cases[i].end_us - MS);
		CU_ASSERT_EQUAL(talk.answers.heard, 1);
		kernel_bed_run(&talk.bed, 2 * MS);
		CU_ASSERT_EQUAL(talk.answers.heard, 2);
		CU_ASSERT_EQUAL(talk.answers.header.status, ETIMEDOUT);
		CU_ASSERT_EQUAL(talk.answers.size, MAD_HEADER_SIZE);
		CU_ASSERT_EQUAL(stats(&talk, ANSWERER)->rmpp_resent, cases[i].retries);
		talk_close(&talk);
	}
}

/* A request that came through is not repeated while its answer is awaited. */
static void test_no_answer(void)
{
	struct talk talk;

	talk_open(&talk, 0);
	talk.answers.answer = NULL;
	talk.request_size = 500;
	ask(&talk, 1, 3000, 5);
	kernel_bed_run(&talk.bed, 3 * S - 1);
	CU_ASSERT_EQUAL(talk.asks.heard, 0);
	CU_ASSERT_EQUAL(talk.answers.heard, 1);
	kernel_bed_run(&talk.bed, S);
	CU_ASSERT_EQUAL(talk.asks.heard, 1);
	CU_ASSERT_EQUAL(talk.asks.header.status, ETIMEDOUT);
	CU_ASSERT_EQUAL(talk.answers.heard, 1);
	CU_ASSERT_EQUAL(stats(&talk, ASKER)->retried, 0);
	talk_close(&talk);
}

/* The request's time-out counts while its answer is still coming. */
static void test_answer_too_late(void)
{
	static const struct world_faults slow = {.delay_ppm = 1000000, .delay_us = 20000};
	struct talk talk;

	talk_open(&talk, 0);
	talk.answer_size = 200000;
	talk.faults = &slow;
	ask(&talk, 1, 100, 0);
	kernel_bed_run(&talk.bed, 20 * S);
	CU_ASSERT_EQUAL(talk.asks.heard, 1);
	CU_ASSERT_EQUAL(talk.asks.header.status, ETIMEDOUT);
	CU_ASSERT_EQUAL(stats(&talk, ASKER)->rmpp_received, 0);
	CU_ASSERT(stats(&talk, ASKER)->unmatched > 0);
	talk_close(&talk);
}

static void test_many_at_once(void)
{
	enum { MANY = 100 };
	struct talk talk;
	uint64_t seen = 0;

	talk_open(&talk, 0);
	talk.answer_size = 30000;
	for (unsigned i = 0; i < MANY; i++)
		ask(&talk, i + 1, 5000, 0);
	kernel_bed_run(&talk.bed, 5 * S);
	CU_ASSERT_EQUAL(talk.asks.heard, MANY);
	for (unsigned i = 0; i < MANY; i++)
		seen += talk.asks.order[i];
	CU_ASSERT_EQUAL(seen, MANY * (MANY + 1) / 2);
	CU_ASSERT_EQUAL(stats(&talk, ASKER)->rmpp_received, MANY);
	talk_close(&talk);
}

static void test_closing(void)
{
	static const struct world_faults half = {.drop_ppm = 500000};

	for (unsigned how = 0; how < 4; how++) {
		struct talk talk;

		talk_open(&talk, 0);
		talk.answer_size = 100000;
		talk.faults = how & 1 ? &half : NULL;
		ask(&talk, 1, 5000, 0);
		if (how < 2)
			talk.answers.closes = &talk.asks;
		kernel_bed_run(&talk.bed, 10);
		CU_ASSERT_EQUAL(talk.asks.heard, 0);
		if (how == 2)
			talk.asks.closes = &talk.asks;
		if (how == 3) {
			kernel_file_close(talk.answers.file);
			talk.answers.file = NULL;
		}
		kernel_bed_run(&talk.bed, 60 * S);
		CU_ASSERT_EQUAL(talk.asks.heard, how == 2 || how == 3);
		CU_ASSERT_EQUAL(kernel_next_us(talk.bed.kernel), UINT64_MAX);
		talk_close(&talk);
	}
}

static void test_refused_writes(void)
{
	struct ib_user_mad_hdr header;
	struct talk talk;
	uint8_t *message;
	uint32_t plain;

	talk_open(&talk, 0);
	plain = program_must_register(&talk.asks, CLASS_SUBN_ADM, 2, 0, 0);
	message = make_message(&talk, METHOD_GET_MULTI, 1, 500, true);
	header = header_to(talk.agent, message, HOST_LID + 2, 100, 0);
	CU_ASSERT_EQUAL(program_write(&talk.asks, &header, message, 55), -EINVAL);
	header.id = plain;
	CU_ASSERT_EQUAL(program_write(&talk.asks, &header, message, 257), -EINVAL);
	header.id = talk.agent;
	message[FLAGS] = 0;
	CU_ASSERT_EQUAL(program_write(&talk.asks, &header, message, 257), -EINVAL);
	message[FLAGS] = RMPP_ACTIVE;
	CU_ASSERT_EQUAL(program_write(&talk.asks, &header, message, 257), 0);
	CU_ASSERT_EQUAL(program_write(&talk.asks, &header, message, 257), -EINVAL);
	free(message);
	message = mem_zalloc((64 << 20) + 1);
	fill_mad(message, CLASS_SUBN_ADM, 2, METHOD_GET_MULTI, 2);
	message[FLAGS] = RMPP_ACTIVE;
	CU_ASSERT_EQUAL(program_write(&talk.asks, &header, message, (64 << 20) + 1), -ENOMEM);
	free(message);
	talk_close(&talk);
}

/* Programs that do RMPP by themselves */

static void raw_register(struct talk *talk, struct program *program, uint64_t methods)
{
	const struct kernel_agent_request request = {
		.qpn = 1,
		.mgmt_class = classes[talk->kind].mgmt_class,
		.mgmt_class_version = classes[talk->kind].version,
		.rmpp_version = 1,
		.flags = IB_USER_MAD_USER_RMPP,
		.oui = classes[talk->kind].mgmt_class == CLASS_VENDOR ? 0x001405 : 0,
		.method_mask = {methods},
	};
	uint32_t agent;

	kernel_file_unregister(program->file, 0);
	program->answer = NULL;
	CU_ASSERT_EQUAL_FATAL(kernel_file_register(program->file, &request, &agent), 0);
	CU_ASSERT_EQUAL(agent, 0);
}

/* One RMPP MAD as an answer to the first MAD that the program received. */
static void raw_send(struct program *program, const uint8_t *heard,
		     const struct ib_user_mad_hdr *from, uint8_t version, uint8_t type,
		     uint8_t flags, uint8_t status, uint32_t segment, uint32_t length)
{
	struct ib_user_mad_hdr header = *from;
	uint8_t mad[MAD_SIZE];

	memcpy(mad, heard, MAD_SIZE);
	mad[3] ^= METHOD_RESPONSE;
	mad[24] = version;
	mad[TYPE] = type;
	mad[FLAGS] = flags;
	mad[STATUS] = status;
	be32_store(mad + SEGMENT, segment);
	be32_store(mad + LENGTH, length);
	memset(mad + 56, segment, MAD_SIZE - 56);
	header.timeout_ms = header.retries = 0;
	CU_ASSERT_EQUAL(program_write(program, &header, mad, MAD_SIZE), 0);
}

/* From now on raw_send() sends requests, whose segments need no waiting send. */
static void raw_request(struct talk *talk, uint8_t *heard)
{
	program_must_register(&talk->asks, classes[talk->kind].mgmt_class,
			      classes[talk->kind].version, 1, UINT64_C(1) << METHOD_GET_MULTI);
	heard[3] = METHOD_GET_MULTI ^ METHOD_RESPONSE;
}

/* The reaction of a sender to an acknowledgement (or another MAD) for its first segment of 200. */
static void test_acknowledgements(void)
{
	enum { SEGMENTS = 200 };
	static const struct {
		const char *what;
		uint8_t version, type, status;
		uint32_t segment, window;
		unsigned more; /* segments that follow */
		uint8_t abort; /* that is answered; 0: none */
		bool ends;     /* the send */
	} cases[] = {
		{"a usual one", 1, TYPE_ACK, 0, 1, 65, 64, 0, false},
		{"a window of one", 1, TYPE_ACK, 0, 1, 2, 1, 0, false},
		{"a window that is open for all", 1, TYPE_ACK, 0, 1, 100000, 199, 0, false},
		{"no window", 1, TYPE_ACK, 0, 1, 1, 0, 0, false},
		{"nothing", 1, TYPE_ACK, 0, 0, 1, 0, 0, false},
		{"a window without the segment", 1, TYPE_ACK, 0, 0, 65, 64, 0, false},
		{"a window that is too small", 1, TYPE_ACK, 0, 2, 1, 0, 122, true},
		{"a segment not sent", 1, TYPE_ACK, 0, 2, 65, 0, 123, true},
		{"a segment beyond", 1, TYPE_ACK, 0, 201, 300, 0, 123, true},
		{"a huge one", 1, TYPE_ACK, 0, UINT32_MAX, UINT32_MAX, 0, 123, true},
		{"a status", 1, TYPE_ACK, 5, 1, 65, 0, 124, true},
		{"RMPP 2", 2, TYPE_ACK, 0, 1, 65, 0, 125, true},
		{"type 0", 1, 0, 0, 1, 65, 0, 121, true},
		{"type 5", 1, 5, 0, 1, 65, 0, 121, true},
		{"type 255", 1, 255, 0, 1, 65, 0, 121, true},
		{"stop", 1, TYPE_STOP, 1, 0, 0, 0, 0, true},
		{"stop for no reason", 1, TYPE_STOP, 0, 0, 0, 0, 124, true},
		{"abort 117", 1, TYPE_ABORT, 117, 0, 0, 0, 124, true},
		{"abort 118", 1, TYPE_ABORT, 118, 0, 0, 0, 0, true},
		{"abort 127", 1, TYPE_ABORT, 127, 0, 0, 0, 0, true},
		{"abort 128", 1, TYPE_ABORT, 128, 0, 0, 0, 124, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ib_user_mad_hdr header;
		uint8_t first[MAD_SIZE];
		struct talk talk;

		talk_open(&talk, 0);
		raw_register(&talk, &talk.asks, 0);
		talk.answer_size = SEGMENTS * 200;
		ask(&talk, 1, 5000, 0);
		kernel_bed_run(&talk.bed, MS);
		CU_ASSERT_EQUAL_FATAL(talk.asks.heard, 1);
		CU_ASSERT_EQUAL(talk.asks.mad[TYPE], TYPE_DATA);
		CU_ASSERT_EQUAL(talk.asks.mad[FLAGS], RMPP_ACTIVE | RMPP_FIRST);
		CU_ASSERT_EQUAL(be32_load(talk.asks.mad + LENGTH), SEGMENTS * 220);
		memcpy(first, talk.asks.mad, MAD_SIZE);
		header = talk.asks.header;
		raw_send(&talk.asks, first, &header, cases[i].version, cases[i].type, RMPP_ACTIVE,
			 cases[i].status, cases[i].segment, cases[i].window);
		kernel_bed_run(&talk.bed, MS);
		if (talk.asks.heard != 1 + cases[i].more + !!cases[i].abort)
			printf("\n    %s: %u", cases[i].what, talk.asks.heard);
		CU_ASSERT_EQUAL(talk.asks.heard, 1 + cases[i].more + !!cases[i].abort);
		if (cases[i].abort) {
			CU_ASSERT_EQUAL(talk.asks.mad[TYPE], TYPE_ABORT);
			CU_ASSERT_EQUAL(talk.asks.mad[STATUS], cases[i].abort);
			CU_ASSERT_EQUAL(talk.asks.mad[FLAGS], RMPP_ACTIVE);
		} else if (cases[i].more) {
			CU_ASSERT_EQUAL(be32_load(talk.asks.mad + SEGMENT), 1 + cases[i].more);
		}
		CU_ASSERT_EQUAL(stats(&talk, ANSWERER)->rmpp_aborted, cases[i].ends);
		kernel_bed_run(&talk.bed, 100 * S);
		/* A program gets time-outs only. */
		CU_ASSERT_EQUAL(talk.answers.heard, cases[i].ends ? 1 : 2);
		talk_close(&talk);
	}
}

/* An acknowledgement with a smaller window than before is old, independent of its other fields. */
static void test_old_acknowledgements(void)
{
	static const struct {
		uint32_t segment, window;
		unsigned heard; /* then, in all */
	} acks[] = {{1, 65, 65}, {2, 3, 65}, {1, 65, 65}, {10, 65, 65}, {9, 70, 65}, {65, 70, 70}};
	struct ib_user_mad_hdr header;
	uint8_t first[MAD_SIZE];
	struct talk talk;

	talk_open(&talk, 0);
	raw_register(&talk, &talk.asks, 0);
	talk.answer_size = 200 * 200;
	ask(&talk, 1, 5000, 0);
	kernel_bed_run(&talk.bed, MS);
	memcpy(first, talk.asks.mad, MAD_SIZE);
	header = talk.asks.header;
	for (size_t i = 0; i < ARRAY_SIZE(acks); i++) {
		raw_send(&talk.asks, first, &header, 1, TYPE_ACK, RMPP_ACTIVE, 0, acks[i].segment,
			 acks[i].window);
		kernel_bed_run(&talk.bed, MS);
		CU_ASSERT_EQUAL(talk.asks.heard, acks[i].heard);
		CU_ASSERT_EQUAL(talk.asks.mad[TYPE], TYPE_DATA);
	}
	talk_close(&talk);
}

/* Double-sided: the acknowledgement of the last acknowledgement has the window of the answer. */
static void test_window_for_answer(void)
{
	static const uint32_t windows[] = {0, 1, 5, 1000};

	for (size_t i = 0; i < ARRAY_SIZE(windows); i++) {
		struct ib_user_mad_hdr header;
		uint8_t mad[MAD_SIZE];
		struct talk talk;

		talk_open(&talk, 0);
		raw_register(&talk, &talk.asks, 0);
		talk.answers.answer = NULL;
		talk.answer_size = 100 * 200;
		fill_mad(mad, CLASS_SUBN_ADM, 2, METHOD_GET_MULTI, 1);
		mad[24] = 1;
		mad[TYPE] = TYPE_DATA;
		mad[FLAGS] = RMPP_ACTIVE | RMPP_FIRST | RMPP_LAST;
		be32_store(mad + SEGMENT, 1);
		be32_store(mad + LENGTH, 40);
		header = header_to(0, mad, HOST_LID + 2, 0, 0);
		CU_ASSERT_EQUAL(program_write(&talk.asks, &header, mad, MAD_SIZE), 0);
		kernel_bed_run(&talk.bed, MS);
		CU_ASSERT_EQUAL_FATAL(talk.answers.heard, 1);
		CU_ASSERT_EQUAL(talk.asks.heard, 1);
		CU_ASSERT_EQUAL(talk.asks.mad[TYPE], TYPE_ACK);
		if (windows[i]) {
			mad[TYPE] = TYPE_ACK;
			be32_store(mad + SEGMENT, 0);
			be32_store(mad + LENGTH, windows[i]);
			CU_ASSERT_EQUAL(program_write(&talk.asks, &header, mad, MAD_SIZE), 0);
			kernel_bed_run(&talk.bed, MS);
		}
		answer(&talk.answers);
		kernel_bed_run(&talk.bed, MS);
		CU_ASSERT_EQUAL(talk.asks.heard, 1 + (windows[i] == 1000 ? 100
						      : windows[i]	 ? windows[i]
									 : 1));
		talk_close(&talk);
	}
}

/* Acknowledgements come to the agent that has claimed the request. An answer of another agent is
 * never acknowledged, as on Linux. */
static void test_answer_of_another_agent(void)
{
	struct talk talk;

	talk_open(&talk, 0);
	talk.answers.answer = NULL;
	talk.answer_size = 100;
	ask(&talk, 1, 1000, 0);
	kernel_bed_run(&talk.bed, MS);
	talk.answers.header.id = program_must_register(&talk.answers, 0, 0, 1, 0);
	talk.answer_retries = 0;
	answer(&talk.answers);
	kernel_bed_run(&talk.bed, 3 * S);
	CU_ASSERT_EQUAL(talk.asks.heard, 1);
	CU_ASSERT_EQUAL(talk.asks.header.status, 0);
	CU_ASSERT_EQUAL(talk.answers.heard, 2);
	CU_ASSERT_EQUAL(talk.answers.header.status, ETIMEDOUT);
	talk_close(&talk);
}

/* The reaction of a receiver to a segment after the first. */
static void test_segments(void)
{
	static const struct {
		const char *what;
		uint8_t version, type, flags, status;
		uint32_t segment, length;
		unsigned answers; /* that come */
		uint8_t abort, stop;
		uint32_t acked, window; /* of an ACK */
		bool complete;
	} cases[] = {
		{"the second", 1, TYPE_DATA, 1, 0, 2, 0, 0, 0, 0, 0, 0, false},
		{"the last", 1, TYPE_DATA, 5, 0, 2, 100, 1, 0, 0, 2, 65, true},
		{"the last, too long", 1, TYPE_DATA, 5, 0, 2, 5000, 1, 0, 0, 2, 65, true},
		{"the last, with nothing in it", 1, TYPE_DATA, 5, 0, 2, 0, 1, 0, 0, 2, 65, true},
		{"the first again", 1, TYPE_DATA, 3, 0, 1, 0, 1, 0, 0, 1, 65, false},
		{"segment 0", 1, TYPE_DATA, 1, 0, 0, 0, 1, 0, 0, 1, 65, false},
		{"the first, not marked", 1, TYPE_DATA, 1, 0, 1, 0, 1, 120, 0, 0, 0, false},
		{"another, marked as first", 1, TYPE_DATA, 3, 0, 2, 0, 1, 120, 0, 0, 0, false},
		{"in the window", 1, TYPE_DATA, 5, 0, 65, 0, 0, 0, 0, 0, 0, false},
		{"beyond it", 1, TYPE_DATA, 1, 0, 66, 0, 0, 0, 0, 0, 0, false},
		{"far beyond it", 1, TYPE_DATA, 1, 0, UINT32_MAX, 0, 0, 0, 0, 0, 0, false},
		{"with a status", 1, TYPE_DATA, 1, 1, 2, 0, 1, 124, 0, 0, 0, false},
		{"RMPP 0", 0, TYPE_DATA, 1, 0, 2, 0, 1, 125, 0, 0, 0, false},
		{"type 9", 1, 9, 1, 0, 2, 0, 1, 121, 0, 0, 0, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ib_user_mad_hdr header;
		uint8_t request[MAD_SIZE];
		struct talk talk;
		unsigned heard;

		talk_open(&talk, 0);
		raw_register(&talk, &talk.answers, UINT64_C(1) << METHOD_GET_TABLE);
		ask(&talk, 1, 5000, 0);
		kernel_bed_run(&talk.bed, MS);
		CU_ASSERT_EQUAL_FATAL(talk.answers.heard, 1);
		memcpy(request, talk.answers.mad, MAD_SIZE);
		header = talk.answers.header;
		raw_send(&talk.answers, request, &header, 1, TYPE_DATA, RMPP_ACTIVE | RMPP_FIRST, 0,
			 1, 0);
		kernel_bed_run(&talk.bed, MS);
		CU_ASSERT_EQUAL(talk.answers.heard, 2);
		CU_ASSERT_EQUAL(talk.answers.mad[TYPE], TYPE_ACK);
		CU_ASSERT_EQUAL(talk.answers.mad[3], METHOD_GET_TABLE);
		CU_ASSERT_EQUAL(be32_load(talk.answers.mad + SEGMENT), 1);
		CU_ASSERT_EQUAL(be32_load(talk.answers.mad + LENGTH), 65);
		raw_send(&talk.answers, request, &header, cases[i].version, cases[i].type,
			 cases[i].flags, cases[i].status, cases[i].segment, cases[i].length);
		kernel_bed_run(&talk.bed, MS);
		if (talk.answers.heard != 2 + cases[i].answers)
			printf("\n    %s", cases[i].what);
		CU_ASSERT_EQUAL(talk.answers.heard, 2 + cases[i].answers);
		if (cases[i].answers) {
			CU_ASSERT_EQUAL(talk.answers.mad[TYPE],
					cases[i].abort ? TYPE_ABORT : TYPE_ACK);
			CU_ASSERT_EQUAL(talk.answers.mad[STATUS], cases[i].abort);
			CU_ASSERT_EQUAL(be32_load(talk.answers.mad + SEGMENT), cases[i].acked);
			CU_ASSERT_EQUAL(be32_load(talk.answers.mad + LENGTH), cases[i].window);
		}
		CU_ASSERT_EQUAL(talk.asks.heard, cases[i].complete);
		/* The first segment again shows the state here. When the message is whole, no
		 * request waits, and its segments are not acknowledged again. */
		if (cases[i].complete)
			raw_send(&talk.answers, request, &header, 1, TYPE_DATA, RMPP_ACTIVE, 0, 5,
				 0);
		else
			raw_send(&talk.answers, request, &header, 1, TYPE_DATA,
				 RMPP_ACTIVE | RMPP_FIRST, 0, 1, 0);
		kernel_bed_run(&talk.bed, MS);
		heard = 2 + cases[i].answers + !cases[i].complete;
		CU_ASSERT_EQUAL(talk.answers.heard, heard);
		CU_ASSERT_EQUAL(stats(&talk, ASKER)->unmatched, cases[i].complete);
		CU_ASSERT_EQUAL(talk.answers.mad[TYPE], TYPE_ACK);
		CU_ASSERT_EQUAL(be32_load(talk.answers.mad + SEGMENT),
				cases[i].complete || !i ? 2 : 1);
		CU_ASSERT_EQUAL(stats(&talk, ASKER)->rmpp_received, cases[i].complete);
		/* Too late for the request; an incomplete message is aborted after 40 s. */
		kernel_bed_run(&talk.bed, 39 * S);
		CU_ASSERT_EQUAL(talk.asks.heard, 1);
		CU_ASSERT_EQUAL(talk.asks.header.status, cases[i].complete ? 0 : ETIMEDOUT);
		CU_ASSERT_EQUAL(talk.answers.heard, heard);
		kernel_bed_run(&talk.bed, 2 * S);
		CU_ASSERT_EQUAL(talk.answers.heard, heard + !cases[i].complete);
		if (!cases[i].complete) {
			CU_ASSERT_EQUAL(talk.answers.mad[TYPE], TYPE_ABORT);
			CU_ASSERT_EQUAL(talk.answers.mad[STATUS], 118);
		}
		CU_ASSERT_EQUAL(kernel_next_us(talk.bed.kernel), UINT64_MAX);
		talk_close(&talk);
	}
}

/* A TID is used again while an answer that expects an answer is still there. Both ends then have an
 * acknowledged send, and each takes the other's last MAD for a repeated acknowledgement. */
static void test_last_word(void)
{
	struct talk talk;
	uint64_t sent;

	talk_open(&talk, 0);
	talk.request_size = 100;
	talk.answer_size = 100;
	talk.answer_timeout_ms = 60000;
	ask(&talk, 5, 60000, 0);
	kernel_bed_run(&talk.bed, S);
	CU_ASSERT(is_message(&talk, &talk.asks, 100));
	sent = stats(&talk, ASKER)->sent;
	ask(&talk, 5, 60000, 0);
	kernel_bed_run(&talk.bed, S);
	CU_ASSERT(stats(&talk, ASKER)->sent > sent);
	CU_ASSERT(stats(&talk, ASKER)->sent <= sent + 3);
	talk_close(&talk);
}

/* An answer that comes after the time-out is not acknowledged. */
static void test_late_answer(void)
{
	struct ib_user_mad_hdr header;
	uint8_t request[MAD_SIZE];
	struct talk talk;

	talk_open(&talk, 0);
	raw_register(&talk, &talk.answers, UINT64_C(1) << METHOD_GET_TABLE);
	ask(&talk, 1, 1, 0);
	kernel_bed_run(&talk.bed, 2 * MS);
	CU_ASSERT_EQUAL(talk.asks.header.status, ETIMEDOUT);
	memcpy(request, talk.answers.mad, MAD_SIZE);
	header = talk.answers.header;
	raw_send(&talk.answers, request, &header, 1, TYPE_DATA, 3, 0, 1, 0);
	kernel_bed_run(&talk.bed, 60 * S);
	CU_ASSERT_EQUAL(talk.answers.heard, 1);
	CU_ASSERT_EQUAL(stats(&talk, ASKER)->unmatched, 1);
	talk_close(&talk);
}

/* A whole message is remembered for 10 s, so that lost acknowledgements can be repeated. */
static void test_remembered(void)
{
	struct ib_user_mad_hdr header;
	uint8_t request[MAD_SIZE];
	struct talk talk;

	talk_open(&talk, 0);
	raw_register(&talk, &talk.answers, UINT64_C(1) << METHOD_GET_TABLE);
	ask(&talk, 1, 60000, 0);
	kernel_bed_run(&talk.bed, MS);
	memcpy(request, talk.answers.mad, MAD_SIZE);
	header = talk.answers.header;
	raw_request(&talk, request);
	for (unsigned i = 0; i < 3; i++) {
		raw_send(&talk.answers, request, &header, 1, TYPE_DATA, 7, 0, 1, 30);
		kernel_bed_run(&talk.bed, i < 2 ? 4 * S : MS);
		CU_ASSERT_EQUAL(talk.answers.heard, 2 + i);
		CU_ASSERT_EQUAL(talk.answers.mad[TYPE], TYPE_ACK);
		CU_ASSERT_EQUAL(stats(&talk, ASKER)->rmpp_received, 1);
		CU_ASSERT_EQUAL(talk.asks.heard, 1);
	}
	CU_ASSERT_EQUAL(talk.asks.size, 56 + 10);
	/* As long as it is, no segment is new. */
	raw_send(&talk.answers, request, &header, 1, TYPE_DATA, 1, 0, 1, 0);
	kernel_bed_run(&talk.bed, MS);
	CU_ASSERT_EQUAL(talk.answers.mad[TYPE], TYPE_ABORT);
	raw_send(&talk.answers, request, &header, 1, TYPE_DATA, 1, 0, 0, 0);
	kernel_bed_run(&talk.bed, 12 * S);
	CU_ASSERT_EQUAL(talk.answers.heard, 6);
	CU_ASSERT_EQUAL(talk.answers.mad[TYPE], TYPE_ACK);
	/* Later the same segment starts a new message. */
	raw_send(&talk.answers, request, &header, 1, TYPE_DATA, 7, 0, 1, 30);
	kernel_bed_run(&talk.bed, S);
	CU_ASSERT_EQUAL(stats(&talk, ASKER)->rmpp_received, 2);
	CU_ASSERT_EQUAL(talk.asks.heard, 2);
	talk_close(&talk);
}

/* Endless messages, and too many messages, are stopped. */
static void test_bounds(void)
{
	struct ib_user_mad_hdr header;
	uint8_t request[MAD_SIZE];
	struct talk talk;
	uint32_t segment = 1;

	talk_open(&talk, 0);
	raw_register(&talk, &talk.answers, UINT64_C(1) << METHOD_GET_TABLE);
	ask(&talk, 1, 1, 0);
	kernel_bed_run(&talk.bed, 2 * MS);
	memcpy(request, talk.answers.mad, MAD_SIZE);
	header = talk.answers.header;
	raw_request(&talk, request);
	for (; talk.answers.mad[TYPE] != TYPE_STOP && segment < 400000; segment++) {
		raw_send(&talk.answers, request, &header, 1, TYPE_DATA, segment == 1 ? 3 : 1, 0,
			 segment, 0);
		if (segment % 64 == 1)
			kernel_bed_run(&talk.bed, 10);
	}
	CU_ASSERT_EQUAL(talk.answers.mad[STATUS], 1);
	CU_ASSERT(segment > (64 << 20) / 200 - 64 && segment < (64 << 20) / 200 + 64);
	kernel_bed_run(&talk.bed, 20 * S);
	CU_ASSERT_EQUAL(kernel_next_us(talk.bed.kernel), UINT64_MAX);

	for (uint32_t tid = 2; talk.answers.mad[TYPE] != TYPE_STOP || tid == 2; tid++) {
		be32_store(request + 12, tid);
		raw_send(&talk.answers, request, &header, 1, TYPE_DATA, 3, 0, 1, 0);
		kernel_bed_run(&talk.bed, 10);
		CU_ASSERT_FATAL(tid < 20000);
	}
	CU_ASSERT_EQUAL(talk.answers.mad[STATUS], 1);
	kernel_bed_run(&talk.bed, 60 * S);
	CU_ASSERT_EQUAL(kernel_next_us(talk.bed.kernel), UINT64_MAX);
	talk_close(&talk);
}

/* Anything at all, both ways, and afterwards a message comes through. */
static uint64_t xorshift(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint32_t pick(uint64_t *state, const uint32_t *from, size_t count)
{
	return from[xorshift(state) % count];
}

static void test_random(void)
{
	static const uint32_t numbers[] = {
		0, 1, 1, 2, 3, 4, 5, 63, 64, 65, 66, 129, 220, UINT32_MAX, UINT32_MAX / 2};
	static const uint32_t flags[] = {0, 1, 1, 1, 3, 3, 5, 5, 7, 0xF9};
	static const uint32_t types[] = {1, 1, 1, 1, 2, 2, 3, 4, 0, 7};
	static const uint32_t methods[] = {METHOD_GET_TABLE, METHOD_GET_MULTI,
					   METHOD_GET_TABLE_RESP, METHOD_GET_MULTI_RESP,
					   METHOD_GET_TABLE_RESP};

	for (uint64_t seed = 1; seed <= 5; seed++) {
		uint64_t state = seed * 0x9E3779B97F4A7C15;
		struct program raw;
		struct talk talk;

		talk_open(&talk, seed % ARRAY_SIZE(classes));
		talk.answer_size = 5000;
		program_open(&raw, &talk.bed, 2);
		raw_register(&talk, &raw, UINT64_C(1) << METHOD_GET_TABLE);
		for (unsigned i = 0; i < 20000; i++) {
			uint8_t mad[MAD_SIZE], method = pick(&state, methods, 5);
			lid_t lid = HOST_LID + xorshift(&state) % 4;
			struct ib_user_mad_hdr header;

			fill_mad(mad, classes[talk.kind].mgmt_class, classes[talk.kind].version,
				 method, 1 + xorshift(&state) % 3);
			be32_store(mad + 8, 0x10001); /* of the first agent of a first port */
			mad[24] = xorshift(&state) % 20 != 0;
			mad[TYPE] = pick(&state, types, ARRAY_SIZE(types));
			mad[FLAGS] = pick(&state, flags, ARRAY_SIZE(flags));
			mad[STATUS] = xorshift(&state) % 10 ? 0 : xorshift(&state);
			be32_store(mad + SEGMENT, pick(&state, numbers, ARRAY_SIZE(numbers)));
			be32_store(mad + LENGTH, pick(&state, numbers, ARRAY_SIZE(numbers)));
			header = header_to(0, mad, lid, 0, 0);
			CU_ASSERT_EQUAL(program_write(&raw, &header, mad, MAD_SIZE), 0);
			if (i % 1000 == 500)
				ask(&talk, 100 + i, 100, 0);
			kernel_bed_run(&talk.bed, xorshift(&state) % 2000);
		}
		CU_ASSERT(stats(&talk, ASKER)->rmpp_malformed > 0);
		CU_ASSERT(stats(&talk, ANSWERER)->rmpp_malformed > 0);
		program_close(&raw);
		kernel_bed_run(&talk.bed, 100 * S);
		CU_ASSERT_EQUAL(kernel_next_us(talk.bed.kernel), UINT64_MAX);
		ask(&talk, 50000, 1000, 0);
		kernel_bed_run(&talk.bed, S);
		CU_ASSERT(is_message(&talk, &talk.asks, 5000));
		talk_close(&talk);
	}
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"messages of all sizes", test_sizes},
		{"loss, doubles and disorder", test_faults},
		{"both ways", test_both_ways},
		{"no acknowledgement", test_no_acknowledgement},
		{"no answer", test_no_answer},
		{"an answer that comes too late", test_answer_too_late},
		{"many at once", test_many_at_once},
		{"files that end", test_closing},
		{"writes that are refused", test_refused_writes},
		{"acknowledgements", test_acknowledgements},
		{"old acknowledgements", test_old_acknowledgements},
		{"a window for the answer", test_window_for_answer},
		{"the answer of another agent", test_answer_of_another_agent},
		{"segments", test_segments},
		{"the last word", test_last_word},
		{"late answer", test_late_answer},
		{"remembered messages", test_remembered},
		{"bounds", test_bounds},
		{"anything", test_random},
		CU_TEST_INFO_NULL,
	};

	return unit_main("kernel_rmpp", tests);
}
