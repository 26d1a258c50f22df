/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The rate of SMP round trips that a simulator gives one client: Get(NodeInfo) by directed route to
 * a switch two hops away, 64 of them under way. It uses libibumad only, so the same binary measures
 * ibsim and weftsim; tests/bench/umad-rate.sh does that. It needs a host whose port 1 leads to a
 * switch that has a neighbour switch.
 *
 *
 *	umad_rate [ROUND_TRIPS [WINDOW]]     prints round trips a second
 */
// LIBS: -libumad
#include <arpa/inet.h>
#include <infiniband/umad.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	MAD = 256,
	TIMEOUT_MS = 2000,
	NODE_INFO = 0x11,
	NODE_IS_SWITCH = 2,
	DATA_AT = 64, /* of a directed-route SMP */
	PATH_AT = 128,
	PORTS = 64, /* tried for the second hop */
};

struct client {
	int port, agent;
	uint32_t sent; /* also the last TID */
	uint8_t path[3];
	void *umad;
};

static void die(const char *what)
{
	fprintf(stderr, "umad_rate: %s\n", what);
	exit(EXIT_FAILURE);
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static void ask(struct client *client)
{
	uint8_t *mad = umad_get_mad(client->umad);
	uint32_t tid = htonl(++client->sent);

	memset(mad, 0, MAD);
	mad[0] = 1;    /* base version */
	mad[1] = 0x81; /* directed route */
	mad[2] = 1;
	mad[3] = 1; /* Get */
	mad[7] = 2; /* hops */
	memcpy(mad + 12, &tid, sizeof(tid));
	mad[17] = NODE_INFO;
	memset(mad + 32, 0xff, 4);
	memcpy(mad + PATH_AT, client->path, sizeof(client->path));
	umad_set_addr(client->umad, 0xffff, 0, 0, 0);
	if (umad_send(client->port, client->agent, client->umad, MAD, TIMEOUT_MS, 0))
		die("a MAD cannot be sent");
}

/* Whether an answer came that has the requested attribute. */
static bool answered(struct client *client)
{
	int length = MAD;

	if (umad_recv(client->port, client->umad, &length, 2 * TIMEOUT_MS) != client->agent)
		die("nothing comes back");
	return !umad_status(client->umad);
}

/* The first port of the switch that leads to another switch. */
static void find_path(struct client *client)
{
	uint8_t *mad = umad_get_mad(client->umad);

	client->path[1] = 1;
	for (client->path[2] = 1; client->path[2] < PORTS; client->path[2]++) {
		ask(client);
		if (answered(client) && mad[DATA_AT + 2] == NODE_IS_SWITCH)
			return;
	}
	die("there is no switch behind this port's switch");
}

static void open_client(struct client *client)
{
	if (umad_init() < 0)
		die("there is no InfiniBand here");
	client->port = umad_open_port(NULL, 1);
	if (client->port < 0)
		die("port 1 cannot be opened");
	client->agent = umad_register(client->port, 0x81, 1, 0, NULL);
	if (client->agent < 0)
		die("no agent for directed routes");
	client->umad = umad_alloc(1, umad_size() + MAD);
	if (!client->umad)
		die("no memory");
}

int main(int argc, char **argv)
{
	unsigned total = argc > 1 ? atoi(argv[1]) : 200000, window = argc > 2 ? atoi(argv[2]) : 64;
	struct client client = {0};
	unsigned asked, got, lost = 0;
	double begin_s;

	open_client(&client);
	find_path(&client);
	begin_s = now_s();
	for (asked = 0; asked < window; asked++)
		ask(&client);
	for (got = 0; got < total; got++) {
		lost += !answered(&client);
		if (asked < total) {
			ask(&client);
			asked++;
		}
	}
	if (lost)
		fprintf(stderr, "umad_rate: %u of %u were lost\n", lost, total);
	printf("%.0f\n", total / (now_s() - begin_s));
	umad_close_port(client.port);
	return lost ? EXIT_FAILURE : EXIT_SUCCESS;
}
