/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Sends joins of multicast groups to the SA, on behalf of the hosts in a file (a LID and a PortGUID
 * on each line). It uses libibumad only, so the same binary works with weftd and OpenSM. Group
 * number N is ff12:401b:ffff::N, and its members follow from N alone.
 *
 *
 *	mc_join FILE FIRST GROUPS MEMBERS [SKIP]
 *
 * SKIP: the number of members of each group that have joined already. Prints a line for each group:
 * its number, its MLID and the PortGUID of the last member. Prints on stderr the number of joins,
 * which are sent one after the other, and the median and 99th percentile of the response time in
 * microseconds.
 */
// WITH: tests/bench/sa_client.o
// LIBS: -libumad
#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/sa_client.h"

enum {
	TIMEOUT_MS = 10000,
	MLID_AT = DATA_AT + 36,
};

static struct hosts hosts;
static struct client client;

static void tell(uint32_t *took_us, unsigned count)
{
	if (!count)
		return;
	times_sort(took_us, count);
	fprintf(stderr, "%u %u %u\n", count, times_at(took_us, count, 50),
		times_at(took_us, count, 99));
}

/* Returns the MLID. */
static unsigned join(unsigned group, uint64_t member)
{
	uint16_t mlid;

	client_membership(&client, SET, group, member);
	client_set_tid(&client, group + 1);
	if (client_send(&client, client.sm_lid, MAD, TIMEOUT_MS) ||
	    client_receive(&client, UINT64_C(2000) * TIMEOUT_MS) != CAME_ANSWER)
		die("a join is not answered");
	if (client_status(&client))
		die("a join is refused");
	memcpy(&mlid, client.mad + MLID_AT, sizeof(mlid));
	return be16toh(mlid);
}

static unsigned divisor(unsigned a, unsigned b)
{
	return b ? divisor(b, a % b) : a;
}

/* Different members for different places, as long as there are more hosts than members. */
static uint64_t member_of(unsigned group, unsigned place)
{
	uint64_t x = (group + 1) * UINT64_C(0x9E3779B97F4A7C15);
	unsigned step = 1 + (unsigned)(x >> 33) % (hosts.count - 1);

	while (divisor(hosts.count, step) > 1)
		step--;
	return hosts.guid[((x >> 11) + (uint64_t)place * step) % hosts.count];
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
	hosts_read(&hosts, argv[1]);
	client_open(&client, SA_CLASS, false, MAD);
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
	client_close(&client);
	tell(took_us, count);
	free(took_us);
	return EXIT_SUCCESS;
}
