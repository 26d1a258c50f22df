/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Asks the SA at a LID for its ClassPortInfo, some hundred times a second, until it answers well,
 *and prints when that was: microseconds since the epoch, as bash's EPOCHREALTIME without its point.
 *A STANDBY is silent, and nobody is at a port whose host is gone. A program of libibumad like any
 * other, so the same binary serves weftd and OpenSM; tests/bench/failover.sh uses it.
 *
 *	sa_wait LID SECONDS
 */
// LIBS: -libumad
#include <endian.h>
#include <infiniband/umad.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	MAD = 256,
	ADM_CLASS = 3,
	GET = 1,
	GET_RESP = 0x81,
	CLASS_PORT_INFO = 1,
	ASK_MS = 4,   /* between two questions */
	WAIT_MS = 40, /* the kernel's, for an answer; it lets 16 requests to an SA be under way */
};

static int port, agent;
static void *umad;

static void die(const char *what)
{
	fprintf(stderr, "sa_wait: %s\n", what);
	exit(EXIT_FAILURE);
}

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000;
}

static void open_port(void)
{
	if (umad_init() < 0)
		die("there is no InfiniBand here");
	port = umad_open_port(NULL, 1);
	if (port < 0)
		die("port 1 cannot be opened");
	agent = umad_register(port, ADM_CLASS, 2, 0, NULL);
	umad = umad_alloc(1, umad_size() + MAD);
	if (agent < 0 || !umad)
		die("no agent for the SA");
}

static void ask(int lid)
{
	uint8_t *mad = umad_get_mad(umad);
	uint16_t attribute = htobe16(CLASS_PORT_INFO);
	static uint32_t tid;
	uint32_t wire = htobe32(++tid);

	memset(mad, 0, MAD);
	mad[0] = 1; /* base version */
	mad[1] = ADM_CLASS;
	mad[2] = 2;
	mad[3] = GET;
	memcpy(mad + 12, &wire, sizeof(wire));
	memcpy(mad + 16, &attribute, sizeof(attribute));
	umad_set_addr(umad, lid, 1, 0, 0x80010000);
	if (umad_send(port, agent, umad, MAD, WAIT_MS, 0))
		die("a MAD cannot be sent");
}

/* Whether a good answer came within the time between two questions. */
static int is_answered(void)
{
	const uint8_t *mad = umad_get_mad(umad);
	uint64_t until_us = now_us() + ASK_MS * 1000;

	for (uint64_t now = now_us(); now < until_us; now = now_us()) {
		int length = MAD;

		if (umad_recv(port, umad, &length, 1 + (int)((until_us - now) / 1000)) == agent &&
		    !umad_status(umad) && mad[3] == GET_RESP && !mad[4] && !mad[5])
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t began_us = now_us();

	if (argc != 3)
		die("usage: sa_wait LID SECONDS");
	open_port();
	do {
		if (now_us() - began_us > strtoull(argv[2], NULL, 10) * 1000000)
			die("no answer");
		ask(atoi(argv[1]));
	} while (!is_answered());
	printf("%llu\n", (unsigned long long)now_us());
	umad_close_port(port);
	return EXIT_SUCCESS;
}
