/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The cost of a program's MADs in the simulator, without sockets: SMP round trips through a kernel
 * and a world with some number under way, and megabytes a second of a table by RMPP. One core, one
 * process. Prints a line for each figure, in the format of scripts/bench. With QUICK in the
 * environment it does less. The output of CUnit is not shown; the exit status shows failures.
 */
#include <time.h>

#include "tests/unit/fixtures/kernel_bed.h"

enum { ROUND_TRIPS = 2000000, QUICK_ROUND_TRIPS = 200000, TABLES = 50, TABLE_SIZE = 2 << 20 };

static unsigned round_trips = ROUND_TRIPS;
static FILE *figures;

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* One more request for each answer, up to the number wanted. */
struct sender {
	struct kernel_file *file;
	uint8_t umad[KERNEL_HEADER_SIZE + MAD_SIZE];
	uint32_t tid;
	unsigned answers, wanted;
	size_t bytes;
};

static void send_next(struct sender *sender)
{
	be32_store(sender->umad + KERNEL_HEADER_SIZE + 12, ++sender->tid);
	if (kernel_file_write(sender->file, sender->umad, sizeof(sender->umad)))
		abort();
}

static bool answered(void *ctx, const uint8_t *umad, size_t size)
{
	struct sender *sender = ctx;

	(void)umad;
	sender->answers++;
	sender->bytes += size;
	if (sender->tid < sender->wanted)
		send_next(sender);
	return true;
}

static void run(struct bed *bed, const struct sender *sender)
{
	while (sender->answers < sender->wanted) {
		uint64_t world_us = world_next_us(bed->world);
		uint64_t kernel_us = kernel_next_us(bed->kernel);
		uint64_t now_us = world_us < kernel_us ? world_us : kernel_us;

		world_advance(bed->world, now_us);
		kernel_advance(bed->kernel, now_us);
	}
}

static void bench_smps(unsigned window, unsigned hop_ns)
{
	static const struct route_path route = {.hops = 2, .port = {0, 1, 2}};
	const struct world_options options = {.seed = 1, .hop_ns = hop_ns};
	const struct kernel_agent_request request = {.mgmt_class = CLASS_SUBN_DIRECTED,
						     .mgmt_class_version = 1};
	struct sender sender = {.wanted = round_trips};
	struct ib_user_mad_hdr header;
	double begin_s;
	struct bed bed;
	uint32_t agent;

	kernel_bed_open_with(&bed, &options);
	sender.file = kernel_file_open(bed.port[0], answered, NULL, &sender);
	if (kernel_file_register(sender.file, &request, &agent))
		abort();
	subn_build(sender.umad + KERNEL_HEADER_SIZE, METHOD_GET, ATTR_PORT_INFO, 1, 0, &route,
		   NULL);
	header = header_to(agent, sender.umad + KERNEL_HEADER_SIZE, LID_PERMISSIVE, 1000, 3);
	memcpy(sender.umad, &header, sizeof(header));
	begin_s = now_s();
	for (unsigned i = 0; i < window; i++)
		send_next(&sender);
	run(&bed, &sender);
	fprintf(figures, "SMP round trips, %u under way, %u ns a hop\t%.2f million/s\n", window,
		hop_ns, round_trips / (now_s() - begin_s) / 1e6);
	kernel_bed_close(&bed);
}

static bool asked(void *ctx, const uint8_t *umad, size_t size)
{
	struct kernel_file *file = *(struct kernel_file **)ctx;
	static uint8_t answer[KERNEL_HEADER_SIZE + TABLE_SIZE];
	struct ib_user_mad_hdr header;

	(void)size;
	memcpy(answer, umad, KERNEL_HEADER_SIZE + MAD_SIZE);
	memcpy(&header, umad, sizeof(header));
	header.timeout_ms = 0;
	header.retries = 3;
	memcpy(answer, &header, sizeof(header));
	answer[KERNEL_HEADER_SIZE + 3] = METHOD_GET_TABLE_RESP;
	answer[KERNEL_HEADER_SIZE + 26] = RMPP_ACTIVE;
	if (kernel_file_write(file, answer, sizeof(answer)))
		abort();
	return true;
}

static void bench_tables(void)
{
	struct kernel_agent_request request = {
		.qpn = 1, .mgmt_class = CLASS_SUBN_ADM, .mgmt_class_version = 2, .rmpp_version = 1};
	struct sender sender = {.wanted = TABLES};
	struct ib_user_mad_hdr header;
	struct kernel_file *answers;
	uint32_t agent;
	double begin_s;
	struct bed bed;

	kernel_bed_open(&bed);
	sender.file = kernel_file_open(bed.port[0], answered, NULL, &sender);
	answers = kernel_file_open(bed.port[1], asked, NULL, &answers);
	if (kernel_file_register(sender.file, &request, &agent))
		abort();
	request.method_mask[0] = UINT64_C(1) << METHOD_GET_TABLE;
	if (kernel_file_register(answers, &request, &agent))
		abort();
	fill_mad(sender.umad + KERNEL_HEADER_SIZE, CLASS_SUBN_ADM, 2, METHOD_GET_TABLE, 0);
	header = header_to(agent, sender.umad + KERNEL_HEADER_SIZE, HOST_LID + 2, 10000, 3);
	memcpy(sender.umad, &header, sizeof(header));
	begin_s = now_s();
	send_next(&sender);
	run(&bed, &sender);
	fprintf(figures, "tables of %d MiB by RMPP\t%.0f MB/s\n", TABLE_SIZE >> 20,
		sender.bytes / (now_s() - begin_s) / 1e6);
	kernel_bed_close(&bed);
}

static void bench_round_trips(void)
{
	static const unsigned windows[] = {1, 64, 128};

	for (size_t i = 0; i < ARRAY_SIZE(windows); i++)
		bench_smps(windows[i], 0);
	bench_smps(64, 100);
}

/* A fixture of the unit tests makes the fabric, and asserts that it comes up. */
int main(void)
{
	static const CU_TestInfo benches[] = {
		{"round trips", bench_round_trips},
		{"tables", bench_tables},
		CU_TEST_INFO_NULL,
	};

	const char *quick = getenv("QUICK");

	if (quick && *quick)
		round_trips = QUICK_ROUND_TRIPS;
	figures = fdopen(dup(STDOUT_FILENO), "w");
	if (!figures || !freopen("/dev/null", "w", stdout))
		return EXIT_FAILURE;
	return unit_main("bench_kernel", benches);
}
