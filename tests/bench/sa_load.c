/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Path records asked of whoever is the SA, many at a time: any pair of the hosts that a file names,
 * by GID as rdma_cm asks, or by LID. A program of libibumad like any other, so the same binary
 *measures weftd and OpenSM; tests/bench/sa.sh does that. The file has a LID and a PortGUID on each
 *line, a LID decimal and a GUID hexadecimal.
 *
 *	sa_load FILE [REQUESTS [UNDER_WAY [lid]]]
 *
 * Prints: answers a second, the median and the 99th percentile of the time to an answer in
 * microseconds, how many were refused, and how many had no answer.
 */
// LIBS: -libumad
#include <endian.h>
#include <infiniband/umad.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	MAD = 256,
	ADM_CLASS = 3,
	TIMEOUT_MS = 10000,
	DATA_AT = 56, /* of a SubnAdm MAD */
	MASK_AT = 48,
	DGID_AT = DATA_AT + 8,
	SGID_AT = DATA_AT + 24,
	DLID_AT = DATA_AT + 40,
	SLID_AT = DATA_AT + 42,
	REVERSIBLE_AT = DATA_AT + 49,
	P_KEY_AT = DATA_AT + 50,
	PATH_RECORD = 0x35,
	HOSTS_MAX = 65536,
};

/* DGID, SGID or DLID, SLID; Reversible, NumbPath, P_Key. */
#define BY_GID (UINT64_C(1) << 2 | 1 << 3)
#define BY_LID (UINT64_C(1) << 4 | 1 << 5)
#define MASK (UINT64_C(1) << 11 | 1 << 12 | 1 << 13)

static struct {
	bool by_lid;
	uint16_t lid[HOSTS_MAX]; /* as on the wire, as the next one */
	uint64_t guid[HOSTS_MAX];
	unsigned hosts;
	int port, agent, sm_lid;
	uint64_t prefix; /* as on the wire */
	void *umad;
	uint64_t *asked_ns; /* by TID */
	uint32_t *took_us;
	unsigned asked, answered, refused, lost;
} load;

static void die(const char *what)
{
	fprintf(stderr, "sa_load: %s\n", what);
	exit(EXIT_FAILURE);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void read_hosts(const char *name)
{
	FILE *file = fopen(name, "re");
	char line[128];

	if (!file)
		die("the file with the hosts cannot be read");
	while (load.hosts < HOSTS_MAX && fgets(line, sizeof(line), file)) {
		const char *guid = strchr(line, ' ');

		if (!guid)
			continue;
		load.lid[load.hosts] = htobe16((uint16_t)strtoul(line, NULL, 10));
		load.guid[load.hosts++] = htobe64(strtoull(guid, NULL, 16));
	}
	fclose(file);
	if (!load.hosts)
		die("the file names no hosts");
}

static void open_port(void)
{
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 1, &port))
		die("there is no InfiniBand here");
	load.sm_lid = (int)port.sm_lid;
	load.prefix = port.gid_prefix;
	umad_release_port(&port);
	load.port = umad_open_port(NULL, 1);
	if (load.port < 0)
		die("port 1 cannot be opened");
	load.agent = umad_register(load.port, ADM_CLASS, 2, 0, NULL);
	load.umad = umad_alloc(1, umad_size() + MAD);
	if (load.agent < 0 || !load.umad)
		die("no agent for the SA");
}

static unsigned any_host(void)
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (unsigned)((state >> 33) % load.hosts);
}

static void ask(void)
{
	uint8_t *mad = umad_get_mad(load.umad);
	uint32_t tid = htobe32(load.asked + 1);
	uint16_t attribute = htobe16(PATH_RECORD), p_key = htobe16(0xFFFF);
	uint64_t mask = htobe64(MASK | (load.by_lid ? BY_LID : BY_GID));
	unsigned from = any_host(), to = any_host();

	memset(mad, 0, MAD);
	mad[0] = 1; /* base version */
	mad[1] = ADM_CLASS;
	mad[2] = 2;
	mad[3] = 1; /* Get */
	memcpy(mad + 12, &tid, sizeof(tid));
	memcpy(mad + 16, &attribute, sizeof(attribute));
	memcpy(mad + MASK_AT, &mask, sizeof(mask));
	memcpy(mad + DGID_AT, &load.prefix, sizeof(load.prefix));
	memcpy(mad + DGID_AT + 8, &load.guid[to], sizeof(load.guid[to]));
	memcpy(mad + SGID_AT, &load.prefix, sizeof(load.prefix));
	memcpy(mad + SGID_AT + 8, &load.guid[from], sizeof(load.guid[from]));
	memcpy(mad + DLID_AT, &load.lid[to], sizeof(load.lid[to]));
	memcpy(mad + SLID_AT, &load.lid[from], sizeof(load.lid[from]));
	mad[REVERSIBLE_AT] = 0x80 | 1; /* and NumbPath 1 */
	memcpy(mad + P_KEY_AT, &p_key, sizeof(p_key));
	umad_set_addr(load.umad, load.sm_lid, 1, 0, 0x80010000);
	load.asked_ns[load.asked++] = now_ns();
	if (umad_send(load.port, load.agent, load.umad, MAD, TIMEOUT_MS, 0))
		die("a MAD cannot be sent");
}

static void take(void)
{
	const uint8_t *mad = umad_get_mad(load.umad);
	int length = MAD;
	uint32_t tid;
	uint16_t status;

	if (umad_recv(load.port, load.umad, &length, 2 * TIMEOUT_MS) != load.agent)
		die("nothing comes back");
	memcpy(&tid, mad + 12, sizeof(tid));
	memcpy(&status, mad + 4, sizeof(status));
	tid = be32toh(tid) - 1;
	if (umad_status(load.umad)) {
		load.lost++;
	} else if (tid < load.asked) {
		load.refused += status != 0;
		load.took_us[load.answered++] = (uint32_t)((now_ns() - load.asked_ns[tid]) / 1000);
	}
}

static int order(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	unsigned total = argc > 2 ? (unsigned)atoi(argv[2]) : 200000;
	unsigned window = argc > 3 ? (unsigned)atoi(argv[3]) : 64;
	uint64_t began_ns;
	double seconds;

	if (argc < 2 || !total || !window)
		die("usage: sa_load FILE [REQUESTS [UNDER_WAY [lid]]]");
	load.by_lid = argc > 4;
	read_hosts(argv[1]);
	open_port();
	load.asked_ns = calloc(total, sizeof(*load.asked_ns));
	load.took_us = calloc(total, sizeof(*load.took_us));
	if (!load.asked_ns || !load.took_us)
		die("no memory");
	began_ns = now_ns();
	while (load.asked < total && load.asked < window)
		ask();
	for (unsigned got = 0; got < total; got++) {
		take();
		if (load.asked < total)
			ask();
	}
	seconds = (double)(now_ns() - began_ns) / 1e9;
	qsort(load.took_us, load.answered, sizeof(*load.took_us), order);
	printf("%.0f %u %u %u %u\n", load.answered / seconds,
	       load.answered ? load.took_us[load.answered / 2] : 0,
	       load.answered ? load.took_us[(uint64_t)load.answered * 99 / 100] : 0, load.refused,
	       load.lost);
	umad_close_port(load.port);
	return load.lost || load.refused ? EXIT_FAILURE : EXIT_SUCCESS;
}
