/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A host that requests a path record from the SA at a steady pace, without waiting for earlier
 * answers. It measures the service of a host while another host attacks: tests/bench/attacks.sh.
 *
 *
 *	sa_probe FILE EVERY_US SECONDS [hosts]
 *
 * The file is as for sa_load. With `hosts` it sends Get(NodeInfo) to the hosts themselves. The
 * manager takes no part in that, so the figures show the share of the machine and the simulator.
 * Prints the number of requests, then median, 99th percentile and maximum of the response time in
 * microseconds, refused requests, and requests without an answer.
 */
// WITH: tests/bench/sa_client.o
// LIBS: -libumad
#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/sa_client.h"

enum { TIMEOUT_MS = 5000 };

static struct {
	struct hosts hosts;
	struct client client;
	bool asks_hosts;
	uint64_t began_us, every_us;
	uint64_t *asked_us; /* by TID */
	uint32_t *took_us;
	unsigned total, asked, answered, refused, lost;
} probe;

static uint64_t due_us(void)
{
	return probe.began_us + probe.asked * probe.every_us;
}

static void ask(uint64_t at_us)
{
	int lid = probe.client.sm_lid;

	if (probe.asks_hosts) {
		client_ask_node(&probe.client);
		lid = be16toh(probe.hosts.lid[hosts_any(&probe.hosts)]);
	} else {
		client_ask_path(&probe.client, &probe.hosts, false);
	}
	client_set_tid(&probe.client, probe.asked);
	probe.asked_us[probe.asked++] = at_us;
	if (client_send(&probe.client, lid, MAD, TIMEOUT_MS))
		die("a MAD cannot be sent");
}

static void take(uint64_t wait_us)
{
	enum came came = client_receive(&probe.client, wait_us);
	uint32_t tid = client_tid(&probe.client);

	if (came == CAME_TIMEOUT) {
		probe.lost++;
	} else if (came == CAME_ANSWER && tid < probe.asked) {
		probe.refused += client_status(&probe.client) != 0;
		probe.took_us[probe.answered++] = (uint32_t)(now_us() - probe.asked_us[tid]);
	}
}

int main(int argc, char **argv)
{
	if (argc < 4)
		die("usage: sa_probe FILE EVERY_US SECONDS [hosts]");
	probe.every_us = strtoull(argv[2], NULL, 10);
	if (probe.every_us)
		probe.total = (unsigned)(strtod(argv[3], NULL) * 1e6 / (double)probe.every_us);
	if (!probe.total)
		die("there is nothing to ask");
	probe.asks_hosts = argc > 4;
	hosts_read(&probe.hosts, argv[1]);
	client_open(&probe.client, probe.asks_hosts ? SMP_CLASS : SA_CLASS, false, MAD);
	probe.asked_us = calloc(probe.total, sizeof(*probe.asked_us));
	probe.took_us = calloc(probe.total, sizeof(*probe.took_us));
	if (!probe.asked_us || !probe.took_us)
		die("no memory");
	probe.began_us = now_us();
	while (probe.answered + probe.lost < probe.total) {
		uint64_t now = now_us();

		if (probe.asked < probe.total && now >= due_us())
			ask(now);
		else
			take(probe.asked < probe.total ? due_us() - now : 1000 * TIMEOUT_MS);
	}
	times_sort(probe.took_us, probe.answered);
	printf("%u %u %u %u %u %u\n", probe.total, times_at(probe.took_us, probe.answered, 50),
	       times_at(probe.took_us, probe.answered, 99),
	       times_at(probe.took_us, probe.answered, 100), probe.refused, probe.lost);
	client_close(&probe.client);
	return EXIT_SUCCESS;
}
