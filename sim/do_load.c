/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The command `load` of `weftsim do`: generated traffic over the fabric as it is at the start, in
 * virtual time apart from the world's. It runs in short turns, so that the server serves its
 * programs at the same time. At the end it adds the counts to those of the agents; a command that
 * is cancelled counts nothing. On the server's thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/mem.h"
#include "sim/do.h"
#include "sim/load.h"

enum { EVENTS_A_TURN = 2000, NS_PER_S = 1000000000 };

static void do_load_end(void *state)
{
	load_done(state);
}

static int do_load_begin(struct do_call *call)
{
	struct load *load = call->state = mem_zalloc(sizeof(*load));
	char error[LOAD_ERROR_SIZE];
	struct timespec now;
	int r;

	clock_gettime(CLOCK_MONOTONIC, &now);
	load->start_ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
	call->state_end = do_load_end;
	load->world = call->world;
	r = load_spec_read(&load->spec, call->world, call->words, error);
	if (!r)
		r = load_build(load, error);
	if (!r)
		r = load_start(load, error);
	return r ? do_fail(call, "%s", error) : DO_AGAIN;
}

int do_load(struct do_call *call)
{
	struct load *load = call->state;
	enum flow_end end;

	if (!strcmp(call->words[0], "help") && !call->words[1]) {
		load_print_help(call->out);
		return 0;
	}
	if (!load)
		return do_load_begin(call);
	end = flow_run(load->flow, EVENTS_A_TURN);
	if (end == FLOW_GOES_ON)
		return DO_AGAIN;
	load_report(load, end, call->out);
	load_count(load);
	return 0;
}
