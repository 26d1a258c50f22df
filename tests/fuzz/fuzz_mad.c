/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A whole manager on a switch and two hosts, in the virtual time of tests/sim, with wrong MADs from
 * devices. The first byte divides the rest. The first part changes answers: the number of MADs to
 * skip, then the offset and the change of one byte. The second part has unsolicited MADs: class,
 * method, attribute, modifier, size of the data, data. Time passes after each.
 *
 * The agents are correct, so the checks after each Set() may fail: the harness ignores that. Only a
 * crash or an endless run is a failure.
 */
// WITH: simulation
#include "include/iba.h"
#include "lib/be.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "tests/fuzz/fuzz.h"
#include "tests/sim/sim.h"

enum { MADS_MAX = 100, DATA_MAX = MAD_SIZE - MAD_HEADER_SIZE };

static struct {
	struct transport_user user; /* the manager */
	struct fuzz_bytes changes;
	unsigned until;
} spoiler;

static void received(void *ctx, const struct mad_addr *from, const uint8_t *mad, size_t size)
{
	uint8_t *copy;

	if (!spoiler.changes.left || spoiler.until--) {
		spoiler.user.received(ctx, from, mad, size);
		return;
	}
	copy = mem_alloc(size);
	memcpy(copy, mad, size);
	copy[fuzz_byte(&spoiler.changes) % size] ^= fuzz_byte(&spoiler.changes);
	spoiler.until = fuzz_byte(&spoiler.changes);
	spoiler.user.received(ctx, from, copy, size);
	free(copy);
}

static void unasked(struct fuzz_bytes *in, struct sim_manager *manager)
{
	static const uint8_t classes[] = {CLASS_SUBN_LID, CLASS_SUBN_DIRECTED, CLASS_SUBN_ADM,
					  CLASS_PERF};
	const struct mad_addr from = {.lid = fuzz_byte(in) % 8u, .qpn = 1};
	struct mad_header header = {.base_version = 1, .tid = 1};
	uint8_t mad[MAD_SIZE] = {0};

	header.mgmt_class = classes[fuzz_byte(in) % ARRAY_SIZE(classes)];
	header.class_version = header.mgmt_class == CLASS_SUBN_ADM ? 2 : 1;
	header.method = fuzz_byte(in);
	header.attr_id = fuzz_byte(in);
	header.attr_mod = fuzz_byte(in);
	header_encode(&header, mad);
	fuzz_take(in, mad + MAD_HEADER_SIZE, fuzz_byte(in) % (DATA_MAX + 1));
	spoiler.user.received(manager->transport->user.ctx, &from, mad, sizeof(mad));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct sim_run run = {.seed = 1};
	size_t cut = size ? 1 + (size - 1) * data[0] / 256 : 0;
	struct fuzz_bytes in = {data + cut, size - cut};
	struct sim *sim = sim_new("single:hosts=2", NULL, &run);
	struct sim_manager *manager;

	CU_ASSERT_PTR_NOT_NULL_FATAL(sim);
	log_set_level(NULL, LOG_EMERG);
	manager = sim_start(sim, "host-0001", NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(manager->transport);
	spoiler.user = manager->transport->user;
	spoiler.changes = (struct fuzz_bytes){data + !!size, cut - !!size};
	spoiler.until = fuzz_byte(&spoiler.changes);
	manager->transport->user.received = received;
	sim_pass(sim, SIM_S);
	for (unsigned i = 0; in.left && i < MADS_MAX; i++) {
		unasked(&in, manager);
		sim->failed = sim->stopped = false;
		sim_pass(sim, 20 * SIM_MS);
	}
	sim->failed = sim->stopped = false;
	sim_pass(sim, 2 * SIM_S);
	sim_free(sim);
	return 0;
}
