/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A file with a single number (weftd/event_numbers.h). A new number is written to a second file,
 * which then replaces the first. It is on the disk before lower numbers are used. So the file is
 * always complete, and never has a number that is too low. Two daemons never share a state
 * directory, because the store refuses that.
 */
#include "weftd/event_numbers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/mem.h"
#include "lib/replace.h"

/* Returns 0 with the number, which is 1 if there is no file; or -errno. */
static int event_numbers_read(const char *path, uint64_t *number)
{
	FILE *file = fopen(path, "re");
	int error = 0;
	char end;

	if (!file) {
		*number = 1;
		return errno == ENOENT ? 0 : -errno;
	}
	if (fscanf(file, "%18" SCNu64 "%c", number, &end) != 2 || end != '\n' || !*number)
		error = -EUCLEAN;
	fclose(file);
	return error;
}

static int print_number(FILE *file, const void *what)
{
	const uint64_t *number = what;

	return fprintf(file, "%" PRIu64 "\n", *number) < 0 ? -errno : 0;
}

static int write_number(const struct event_numbers *numbers, uint64_t number)
{
	int error = file_replace(numbers->path, numbers->part, print_number, &number);

	return error ? error : file_sync_name(numbers->path);
}

/* Logged once for each block, so this needs no limit. */
static void event_numbers_log_error(const struct event_numbers *numbers, int error)
{
	if (error)
		log_warning("cannot write %s: %s (event numbers may repeat after a restart; make "
			    "room, or make the directory writable for weftd)",
			    numbers->path, strerror(-error));
}

static void event_numbers_run(struct work_job *job)
{
	struct event_numbers *numbers = container_of(job, struct event_numbers, job);

	numbers->error = write_number(numbers, numbers->writing);
}

static void event_numbers_written(struct work_job *job)
{
	struct event_numbers *numbers = container_of(job, struct event_numbers, job);

	numbers->under_way = false;
	numbers->reserved = numbers->writing;
	event_numbers_log_error(numbers, numbers->error);
}

uint64_t event_numbers_open(struct event_numbers *numbers, const char *dir, struct work_pool *pool)
{
	uint64_t first = 1;
	int error;

	*numbers = (struct event_numbers){.pool = pool,
					  .job = {.name = "event numbers",
						  .run = event_numbers_run,
						  .done = event_numbers_written}};
	if (!dir)
		return first;
	numbers->path = mem_printf("%s/events.next", dir);
	numbers->part = mem_printf("%s/events.next.part", dir);
	error = event_numbers_read(numbers->path, &first);
	if (error) {
		log_warning("cannot read the latest event number from %s: %s; event numbers begin "
			    "with 1",
			    numbers->path,
			    error == -EUCLEAN ? "the file is damaged" : strerror(-error));
		first = 1;
	}
	numbers->reserved = first + EVENT_NUMBERS_BLOCK;
	event_numbers_log_error(numbers, write_number(numbers, numbers->reserved));
	return first;
}

void event_numbers_reach(struct event_numbers *numbers, uint64_t next)
{
	if (!numbers->path || numbers->under_way ||
	    next + EVENT_NUMBERS_BLOCK / 2 < numbers->reserved)
		return;
	numbers->writing = numbers->reserved + EVENT_NUMBERS_BLOCK;
	numbers->under_way = true;
	work_submit(numbers->pool, &numbers->job);
}

void event_numbers_close(struct event_numbers *numbers, uint64_t next)
{
	if (numbers->path)
		event_numbers_log_error(numbers, write_number(numbers, next));
	free(numbers->path);
	free(numbers->part);
}
