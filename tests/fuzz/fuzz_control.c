/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Lines at the control socket of a manager whose subnet is up: the commands of sm/, with any JSON.
 * A manager serves a hundred inputs and is then replaced, because commands leave state behind.
 * lib/control.h, sm/control/commands.h.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/unit/fixtures/control_world.h"

enum { INPUTS = 100, LINE_MAX_BYTES = 4096, PATIENCE_US = 50000 };

static uint64_t give_up_us;

/* A line that is no request may get no answer, and some requests wait forever. */
static bool is_over(const struct world *world)
{
	return control_answered(0) || loop_now_us(world->loop) > give_up_us;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world *world;
	static unsigned inputs;
	char line[LINE_MAX_BYTES + 2] = "";

	if (inputs++ % INPUTS == 0) {
		if (world)
			control_end(world);
		world = control_start("single:hosts=3");
	}
	if (size > LINE_MAX_BYTES)
		size = LINE_MAX_BYTES;
	memcpy(line, data, size);
	line[strlen(line)] = '\n';
	control_say(0, line);
	give_up_us = loop_now_us(world->loop) + PATIENCE_US;
	sm_world_run(world, is_over);
	client_hang_up(&control_bed.clients[0]);
	return 0;
}
