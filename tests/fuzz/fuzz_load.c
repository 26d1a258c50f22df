/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The words of `weftsim do 'load ...'` on a ring, and the first events of the load: sim/load.h. No
 * file is read. A load must keep its invariants whatever its words.
 */
#include "sim/load.h"

#include <stdlib.h>

#include "sim/do.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/fixtures/routed_world.h"

enum { EVENTS = 3000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct routed_world routed;
	char text[DO_TEXT_SIZE] = "load ", error[LOAD_ERROR_SIZE];
	struct do_call call = {0};
	struct load load = {0};
	size_t room = sizeof(text) - strlen(text) - 1;

	if (!routed.world)
		routed_world_init(&routed, "ring:switches=3,hosts=2", "minhop");
	memcpy(text + strlen(text), data, size < room ? size : room);
	if (strchr(text, '/') || do_parse(&call, text))
		return 0;
	load.world = routed.world;
	if (!load_spec_read(&load.spec, load.world, call.words, error) &&
	    !load_build(&load, error) && !load_start(&load, error)) {
		struct flow_deadlock deadlock;

		flow_run(load.flow, EVENTS);
		if (!flow_is_consistent(load.flow))
			abort();
		flow_find_deadlock(load.flow, false, &deadlock);
		free(deadlock.cycle);
	}
	load_done(&load);
	return 0;
}
