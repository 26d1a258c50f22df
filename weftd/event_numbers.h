/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Numbers of events that no event had before, also after a kill or a loss of power: a file of one
 * number, events.next in the state directory, says from where on none is taken. Numbers are taken
 * from it in blocks, so that few events write; those of a block that were not used when the daemon
 * was killed are skipped. A clean end skips none. Where the file cannot be written events are
 * numbered all the same, and a line of the log says that the numbers may come again.
 *
 * The file is written before the loop runs, by a worker while it does, and after it has ended.
 */
#ifndef WEFTD_EVENT_NUMBERS_H
#define WEFTD_EVENT_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/work.h"

enum { EVENT_NUMBERS_BLOCK = 100000 };

struct event_numbers {
	struct work_pool *pool;
	char *path, *part;
	uint64_t reserved; /* none from this on is ours */
	/* The write under way: */
	struct work_job job;
	uint64_t writing;
	int error;
	bool under_way;
};

/* Reads the file in dir and takes a block; returns its first number. pool has to be gone before
 * event_numbers_close(). dir NULL: no file, from 1 on. */
uint64_t event_numbers_open(struct event_numbers *numbers, const char *dir, struct work_pool *pool);
/* next is the one that comes next: takes another block before this one is used up. */
void event_numbers_reach(struct event_numbers *numbers, uint64_t next);
/* Gives back what was not used. */
void event_numbers_close(struct event_numbers *numbers, uint64_t next);

#endif
