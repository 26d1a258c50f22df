/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Sends requests for path records to the SA, many at a time: of random pairs of the hosts in a
 * file, by GID like rdma_cm, or by LID. It uses libibumad only, so the same binary measures weftd
 * and OpenSM; tests/bench/sa.sh does that. The file has a LID (decimal) and a PortGUID
 * (hexadecimal) on each line.
 *
 *
 *	sa_load FILE [REQUESTS [UNDER_WAY [lid]]]
 *
 * Prints: answers a second, median and 99th percentile of the response time in microseconds,
 * refused requests, and requests without an answer.
 */
// WITH: tests/bench/sa_client.o
// LIBS: -libumad
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/sa_client.h"

enum { TIMEOUT_MS = 10000 };

static struct {
	bool by_lid;
	struct hosts hosts;
	struct client client;
	uint64_t *asked_us; /* by TID */
	uint32_t *took_us;
	unsigned asked, answered, refused, lost;
} load;

static void ask(void)
{
	client_ask_path(&load.client, &load.hosts, load.by_lid);
	client_set_tid(&load.client, load.asked);
	load.asked_us[load.asked++] = now_us();
	if (client_send(&load.client, load.client.sm_lid, MAD, TIMEOUT_MS))
		die("a MAD cannot be sent");
}

static void take(void)
{
	enum came came = client_receive(&load.client, UINT64_C(2000) * TIMEOUT_MS);
	uint32_t tid = client_tid(&load.client);

	if (came == CAME_NOTHING)
		die("nothing comes back");
	if (came == CAME_TIMEOUT) {
		load.lost++;
	} else if (tid < load.asked) {
		load.refused += client_status(&load.client) != 0;
		load.took_us[load.answered++] = (uint32_t)(now_us() - load.asked_us[tid]);
	}
}

int main(int argc, char **argv)
{
	unsigned total = argc > 2 ? (unsigned)atoi(argv[2]) : 200000;
	unsigned window = argc > 3 ? (unsigned)atoi(argv[3]) : 64;
	uint64_t began_us;
	double seconds;

	if (argc < 2 || !total || !window)
		die("usage: sa_load FILE [REQUESTS [UNDER_WAY [lid]]]");
	load.by_lid = argc > 4;
	hosts_read(&load.hosts, argv[1]);
	client_open(&load.client, SA_CLASS, false, MAD);
	load.asked_us = calloc(total, sizeof(*load.asked_us));
	load.took_us = calloc(total, sizeof(*load.took_us));
	if (!load.asked_us || !load.took_us)
		die("no memory");
	began_us = now_us();
	while (load.asked < total && load.asked < window)
		ask();
	for (unsigned got = 0; got < total; got++) {
		take();
		if (load.asked < total)
			ask();
	}
	seconds = (double)(now_us() - began_us) / 1e6;
	times_sort(load.took_us, load.answered);
	printf("%.0f %u %u %u %u\n", load.answered / seconds,
	       times_at(load.took_us, load.answered, 50), times_at(load.took_us, load.answered, 99),
	       load.refused, load.lost);
	client_close(&load.client);
	return load.lost || load.refused ? EXIT_FAILURE : EXIT_SUCCESS;
}
