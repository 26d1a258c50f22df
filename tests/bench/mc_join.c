/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Joins of multicast groups asked of whoever is the SA, on behalf of the hosts that a file names (a
 * LID and a PortGUID on each line). A program of libibumad like any other, so the same binary
 * serves weftd and OpenSM. Group number N is ff12:401b:ffff::N; which hosts are its members follows
 * from N alone.
 *
 *	mc_join FILE FIRST GROUPS MEMBERS [SKIP]
 *
 * SKIP: so many of each group's members have joined already. Prints the group's number, its MLID
 * and the last member's PortGUID on a line for each group; and on stderr how many joins there were,
 * one after the other, and the median and the 99th percentile of the time to an answer in
 * microseconds.
 */
// LIBS: -libumad
#include <arpa/inet.h>
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
	SET = 2,
	TIMEOUT_MS = 10000,
	MASK_AT = 48,
	MGID_AT = 56,
	PORT_GID_AT = MGID_AT + 16,
	Q_KEY_AT = MGID_AT + 32,
	MLID_AT = MGID_AT + 36,
	P_KEY_AT = MGID_AT + 40,
	JOIN_STATE_AT = MGID_AT + 48,
	MC_MEMBER_RECORD = 0x38,
	HOSTS_MAX = 65536,
};

/* MGID, PortGID, Q_Key; TClass, P_Key; SL, FlowLabel; JoinState. */
#define MASK (UINT64_C(7) | 1 << 6 | 1 << 7 | 1 << 12 | 1 << 13 | 1 << 16)

static uint64_t guid[HOSTS_MAX], prefix; /* as on the wire */
static unsigned hosts;
static int port, agent, sm_lid;
static void *umad;

static void die(const char *what)
{
	fprintf(stderr, "mc_join: %s\n", what);
	exit(EXIT_FAILURE);
}

static void read_hosts(const char *name)
{
	FILE *file = fopen(name, "re");
	char line[128];

	if (!file)
		die("the file with the hosts cannot be read");
	while (hosts < HOSTS_MAX && fgets(line, sizeof(line), file)) {
		const char *text = strchr(line, ' ');

		if (text)
			guid[hosts++] = htobe64(strtoull(text, NULL, 16));
	}
	fclose(file);
	if (!hosts)
		die("the file names no hosts");
}

static void open_port(void)
{
	umad_port_t info;

	if (umad_init() < 0 || umad_get_port(NULL, 1, &info))
		die("there is no InfiniBand here");
	sm_lid = (int)info.sm_lid;
	prefix = info.gid_prefix;
	umad_release_port(&info);
	port = umad_open_port(NULL, 1);
	agent = port < 0 ? -1 : umad_register(port, ADM_CLASS, 2, 0, NULL);
	umad = umad_alloc(1, umad_size() + MAD);
	if (agent < 0 || !umad)
		die("no agent for the SA");
}

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void tell(uint32_t *took_us, unsigned count)
{
	if (!count)
		return;
	qsort(took_us, count, sizeof(*took_us), by_size);
	fprintf(stderr, "%u %u %u\n", count, took_us[count / 2],
		took_us[(uint64_t)count * 99 / 100]);
}

/* The MLID. */
static unsigned join(unsigned group, uint64_t member)
{
	uint8_t *mad = umad_get_mad(umad);
	uint16_t attribute = htobe16(MC_MEMBER_RECORD), p_key = htobe16(0xFFFF), number, status;
	uint32_t q_key = htobe32(0xb1b), tid = htobe32(group + 1);
	uint64_t mask = htobe64(MASK);
	int length = MAD;

	memset(mad, 0, MAD);
	memcpy(mad, (uint8_t[]){1, ADM_CLASS, 2, SET}, 4);
	memcpy(mad + 12, &tid, sizeof(tid));
	memcpy(mad + 16, &attribute, sizeof(attribute));
	memcpy(mad + MASK_AT, &mask, sizeof(mask));
	memcpy(mad + MGID_AT, (uint8_t[]){0xFF, 0x12, 0x40, 0x1B, 0xFF, 0xFF}, 6);
	number = htobe16((uint16_t)group);
	memcpy(mad + MGID_AT + 14, &number, sizeof(number));
	memcpy(mad + PORT_GID_AT, &prefix, sizeof(prefix));
	memcpy(mad + PORT_GID_AT + 8, &member, sizeof(member));
	memcpy(mad + Q_KEY_AT, &q_key, sizeof(q_key));
	memcpy(mad + P_KEY_AT, &p_key, sizeof(p_key));
	mad[JOIN_STATE_AT] = 1; /* a full member */
	umad_set_addr(umad, sm_lid, 1, 0, 0x80010000);
	if (umad_send(port, agent, umad, MAD, TIMEOUT_MS, 0) ||
	    umad_recv(port, umad, &length, 2 * TIMEOUT_MS) != agent || umad_status(umad))
		die("a join is not answered");
	memcpy(&status, mad + 4, sizeof(status));
	if (status)
		die("a join is refused");
	memcpy(&number, mad + MLID_AT, sizeof(number));
	return be16toh(number);
}

static unsigned divisor(unsigned a, unsigned b)
{
	return b ? divisor(b, a % b) : a;
}

/* Different ones for different places, as long as there are more hosts than members. */
static uint64_t member_of(unsigned group, unsigned place)
{
	uint64_t x = (group + 1) * UINT64_C(0x9E3779B97F4A7C15);
	unsigned step = 1 + (unsigned)(x >> 33) % (hosts - 1);

	while (divisor(hosts, step) > 1)
		step--;
	return guid[((x >> 11) + (uint64_t)place * step) % hosts];
}

int main(int argc, char **argv)
{
	unsigned first, groups, members, skip, count = 0;
	uint32_t *took_us;

	if (argc < 5)
		die("usage: mc_join FILE FIRST GROUPS MEMBERS [SKIP]");
	first = (unsigned)atoi(argv[2]);
	groups = (unsigned)atoi(argv[3]);
	members = (unsigned)atoi(argv[4]);
	skip = argc > 5 ? (unsigned)atoi(argv[5]) : 0;
	read_hosts(argv[1]);
	open_port();
	took_us = calloc((size_t)groups * members + 1, sizeof(*took_us));
	if (!took_us)
		die("no memory");
	for (unsigned g = first; g < first + groups; g++) {
		unsigned mlid = 0;

		for (unsigned i = skip; i < members; i++) {
			uint64_t asked_us = now_us();

			mlid = join(g, member_of(g, i));
			took_us[count++] = (uint32_t)(now_us() - asked_us);
		}
		printf("%u 0x%x 0x%016llx\n", g, mlid,
		       (unsigned long long)be64toh(member_of(g, members - 1)));
	}
	umad_close_port(port);
	tell(took_us, count);
	free(took_us);
	return EXIT_SUCCESS;
}
