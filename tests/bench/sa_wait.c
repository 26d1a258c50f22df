/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Sends Get(ClassPortInfo) to the SA at a LID, some hundred times a second, until a good answer
 * arrives. It prints that time in microseconds since the epoch, as bash's EPOCHREALTIME without its
 * point. A STANDBY does not answer, and neither does the port of a host that is gone. It uses
 * libibumad only, so the same binary works with weftd and OpenSM; tests/bench/failover.sh uses it.
 *
 *
 *	sa_wait LID SECONDS
 */
// WITH: tests/bench/sa_client.o
// LIBS: -libumad
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/bench/sa_client.h"

enum {
	ASK_US = 4000, /* between two requests */
	WAIT_MS = 40,  /* time-out of the kernel, which allows 16 requests to an SA under way */
	METHOD_AT = 3,
};

static struct client client;

static void ask(int lid)
{
	static uint32_t tid;

	client_request(&client, GET, CLASS_PORT_INFO, 0);
	client_set_tid(&client, ++tid);
	if (client_send(&client, lid, MAD, WAIT_MS))
		die("a MAD cannot be sent");
}

/* Whether a good answer came within the time between two requests. */
static bool is_answered(void)
{
	uint64_t until_us = now_us() + ASK_US;

	for (uint64_t now = now_us(); now < until_us; now = now_us()) {
		if (client_receive(&client, until_us - now) == CAME_ANSWER &&
		    client.mad[METHOD_AT] == GET_RESP && !client_status(&client))
			return true;
	}
	return false;
}

static uint64_t epoch_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
	uint64_t began_us = now_us();

	if (argc != 3)
		die("usage: sa_wait LID SECONDS");
	client_open(&client, SA_CLASS, false, MAD);
	do {
		if (now_us() - began_us > strtoull(argv[2], NULL, 10) * 1000000)
			die("no answer");
		ask(atoi(argv[1]));
	} while (!is_answered());
	printf("%llu\n", (unsigned long long)epoch_us());
	client_close(&client);
	return EXIT_SUCCESS;
}
