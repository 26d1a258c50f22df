/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A host that attacks: it sends MADs of one kind to the manager at a steady rate and ignores the
 * answers. tests/bench/attacks.sh measures the effect on other hosts.
 *
 *
 *	sa_flood KIND FILE PER_SECOND SECONDS
 *	sa_flood --list
 *
 * The file is as for sa_load. Each MAD of a message counts. Prints how many MADs were sent in a
 * second, and how many messages the kernel refused. With --list: the kinds.
 */
// WITH: tests/bench/sa_client.o
// LIBS: -libumad
#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/sa_client.h"

enum {
	TRAP = 5,
	NOTICE = 2,
	INFORM_INFO = 3,
	NODE_RECORD = 0x11,
	PORT_INFO_RECORD = 0x12,
	SERVICE_RECORD = 0x31,
	MULTI_PATH_RECORD = 0x3A,
	RMPP_VERSION_AT = 24,
	RMPP_FLAGS_AT = 26,
	PATH_SGID_AT = DATA_AT + 24,
	CAPABILITY_MASK_AT = DATA_AT + 24,
	GID_SIZE = 16,
	GIDS = 127, /* on each side of a MultiPathRecord */
	SEGMENT = MAD - DATA_AT,
	LARGE = 8 << 20,
	TICK_US = 1000,
	BEHIND_US = 20000, /* a longer delay is not made up */
};

struct flood {
	struct client client;
	struct hosts hosts;
	unsigned n; /* the message's number */
	uint64_t per_second, sent, refused;
};

static void put16(uint8_t *at, unsigned value)
{
	memcpy(at, &(uint16_t){htobe16((uint16_t)value)}, sizeof(uint16_t));
}

static void put64(uint8_t *at, uint64_t value)
{
	memcpy(at, &(uint64_t){htobe64(value)}, sizeof(uint64_t));
}

/* Each of the following functions makes one message and returns its size. */

static size_t path(struct flood *flood)
{
	client_ask_path(&flood->client, &flood->hosts, false);
	return MAD;
}

static void put_own_gid(const struct flood *flood, uint8_t *at)
{
	memcpy(at, &flood->client.prefix, sizeof(flood->client.prefix));
	memcpy(at + 8, &flood->client.guid, sizeof(flood->client.guid));
}

static size_t own_paths(struct flood *flood)
{
	client_request(&flood->client, GET_TABLE, PATH_RECORD, 1 << 3 /* SGID */);
	put_own_gid(flood, flood->client.mad + PATH_SGID_AT);
	return MAD;
}

static size_t all_paths(struct flood *flood)
{
	client_request(&flood->client, GET_TABLE, PATH_RECORD, 0);
	return MAD;
}

static size_t tables(struct flood *flood)
{
	static const uint16_t records[] = {NODE_RECORD,	  PORT_INFO_RECORD,
					   0x13,	  0x14,
					   0x15,	  0x17,
					   0x18,	  0x20,
					   0x30,	  0x36,
					   0xF3,	  MC_MEMBER_RECORD,
					   SERVICE_RECORD};

	client_request(&flood->client, GET_TABLE,
		       records[flood->n % (sizeof(records) / sizeof(*records))], 0);
	return MAD;
}

static size_t node_tables(struct flood *flood)
{
	client_request(&flood->client, GET_TABLE, NODE_RECORD, 0);
	return MAD;
}

/* No port has all capabilities, so the SA checks all ports for an empty table. */
static size_t no_match(struct flood *flood)
{
	client_request(&flood->client, GET_TABLE, PORT_INFO_RECORD, 1 << 7 /* CapabilityMask */);
	memset(flood->client.mad + CAPABILITY_MASK_AT, 0xFF, 4);
	return MAD;
}

static size_t join(struct flood *flood)
{
	client_membership(&flood->client, SET, flood->n, flood->client.guid);
	return MAD;
}

static size_t join_leave(struct flood *flood)
{
	client_membership(&flood->client, flood->n % 2 ? DELETE : SET, flood->n / 2 % 64,
			  flood->client.guid);
	return MAD;
}

/* Subscribes and unsubscribes. LIDRangeBegin 0xFFFF means all LIDs, and the producer type is
 * "all". */
static size_t inform(struct flood *flood)
{
	uint8_t *data = client_request(&flood->client, SET, INFORM_INFO, 0);

	put16(data + 16, 0xFFFF);
	data[22] = 1;
	data[23] = flood->n % 2 == 0;
	put16(data + 24, 0xFFFF);
	put16(data + 26, 64 + flood->n / 2 % 1024);
	data[30] = 1; /* QP 1 */
	memset(data + 33, 0xFF, 3);
	return MAD;
}

/* ServiceID, ServiceGID, P_Key, ServiceLease, ServiceName. */
static size_t service(struct flood *flood)
{
	uint8_t *data = client_request(&flood->client, SET, SERVICE_RECORD,
				       1 << 0 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 6);

	put64(data, UINT64_C(0x1000000000000000) | flood->n % 4096);
	put_own_gid(flood, data + 8);
	put16(data + 24, 0xFFFF);
	data[31] = 1; /* second */
	memcpy(data + 48, "flood", 5);
	return MAD;
}

/* Random bytes, mostly with a valid class version. */
static size_t malformed(struct flood *flood)
{
	static uint64_t state = 7;
	uint8_t *mad = flood->client.mad;

	for (size_t i = 0; i < MAD; i += sizeof(state)) {
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
		put64(mad + i, state ^ state >> 29);
	}
	mad[0] = 1;
	mad[1] = SA_CLASS;
	mad[2] = flood->n % 8 ? 2 : mad[2];
	mad[3] &= 0x7F;
	mad[ATTRIBUTE_AT] = 0;
	mad[RMPP_FLAGS_AT] = 0;
	return MAD;
}

/* Traps about the sender itself and, every other time, about another host. */
static size_t trap(struct flood *flood, unsigned number, unsigned producer)
{
	uint16_t own = htobe16((uint16_t)flood->client.lid);
	uint16_t lid = flood->n % 2 ? flood->hosts.lid[hosts_any(&flood->hosts)] : own;
	uint8_t *mad = flood->client.mad, *notice = mad + 64;

	memset(mad, 0, MAD);
	memcpy(mad, (uint8_t[]){1, SMP_CLASS, 1, TRAP}, 4);
	put16(mad + ATTRIBUTE_AT, NOTICE);
	notice[0] = 0x81; /* generic, urgent */
	notice[3] = (uint8_t)producer;
	put16(notice + 4, number);
	memcpy(notice + 6, &lid, sizeof(lid));
	memcpy(notice + 10, &lid, sizeof(lid));
	return MAD;
}

static size_t trap_128(struct flood *flood)
{
	return trap(flood, 128, 2);
}

static size_t trap_144(struct flood *flood)
{
	return trap(flood, 144, 1);
}

static uint8_t *multi_path(struct flood *flood)
{
	uint8_t *data = client_request(&flood->client, GET_MULTI, MULTI_PATH_RECORD,
				       UINT64_C(1) << 19 | UINT64_C(1) << 20);

	flood->client.mad[RMPP_VERSION_AT] = 1;
	flood->client.mad[RMPP_FLAGS_AT] = 1; /* active */
	data[15] = data[16] = GIDS;
	return data;
}

static size_t multi_paths(struct flood *flood)
{
	uint8_t *gids = multi_path(flood) + 24;

	for (unsigned i = 0; i < 2 * GIDS; i++) {
		memcpy(gids + i * GID_SIZE, &flood->client.prefix, sizeof(uint64_t));
		memcpy(gids + i * GID_SIZE + 8, &flood->hosts.guid[i % flood->hosts.count],
		       sizeof(uint64_t));
	}
	return DATA_AT + 24 + 2 * GIDS * GID_SIZE;
}

static size_t large(struct flood *flood)
{
	multi_path(flood);
	return LARGE;
}

static const struct kind {
	const char *name;
	size_t (*make)(struct flood *flood);
	uint8_t mgmt_class;
	bool no_acks; /* answers by RMPP are never acknowledged */
} kinds[] = {
	{"path records", path, SA_CLASS, false},
	{"path tables of one port", own_paths, SA_CLASS, false},
	{"path tables of all pairs", all_paths, SA_CLASS, false},
	{"other tables", tables, SA_CLASS, false},
	{"tables that nothing matches", no_match, SA_CLASS, false},
	{"joins", join, SA_CLASS, false},
	{"join and leave", join_leave, SA_CLASS, false},
	{"InformInfo", inform, SA_CLASS, false},
	{"services", service, SA_CLASS, false},
	{"malformed", malformed, SA_CLASS, false},
	{"trap 128", trap_128, SMP_CLASS, false},
	{"trap 144", trap_144, SMP_CLASS, false},
	{"unacknowledged RMPP", node_tables, SA_CLASS, true},
	{"multipath requests", multi_paths, SA_CLASS, false},
	{"large RMPP requests", large, SA_CLASS, false},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static const struct kind *kind_of(const char *name)
{
	for (size_t i = 0; i < KINDS; i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	die("no such kind, see --list");
}

/* Returns the number of MADs of the message. */
static uint64_t send_one(struct flood *flood, const struct kind *kind)
{
	size_t size = kind->make(flood);

	client_set_tid(&flood->client, ++flood->n);
	if (client_send(&flood->client, flood->client.sm_lid, size, 0)) {
		flood->refused++;
		client_receive(&flood->client, TICK_US);
		return 0;
	}
	return size > MAD ? (size - DATA_AT + SEGMENT - 1) / SEGMENT : 1;
}

static void attack(struct flood *flood, const struct kind *kind, uint64_t until_us)
{
	uint64_t began_us = now_us(), now;

	while ((now = now_us()) < until_us) {
		uint64_t due = (now - began_us) * flood->per_second / 1000000;

		if (due > flood->sent + flood->per_second * BEHIND_US / 1000000) {
			began_us = now - flood->sent * 1000000 / flood->per_second - TICK_US;
			continue;
		}
		for (; flood->sent < due; now = now_us()) {
			uint64_t sent = send_one(flood, kind);

			flood->sent += sent;
			if (!sent)
				break;
		}
		now = now_us();
		while (now_us() < now + TICK_US)
			client_receive(&flood->client, TICK_US);
	}
}

int main(int argc, char **argv)
{
	struct flood flood = {0};
	const struct kind *kind;
	double seconds;
	uint64_t began_us;

	for (size_t i = 0; argc == 2 && !strcmp(argv[1], "--list") && i < KINDS; i++)
		puts(kinds[i].name);
	if (argc == 2)
		return EXIT_SUCCESS;
	if (argc != 5)
		die("usage: sa_flood KIND FILE PER_SECOND SECONDS");
	kind = kind_of(argv[1]);
	hosts_read(&flood.hosts, argv[2]);
	flood.per_second = strtoull(argv[3], NULL, 10);
	seconds = strtod(argv[4], NULL);
	client_open(&flood.client, kind->mgmt_class, !kind->no_acks, LARGE);
	began_us = now_us();
	attack(&flood, kind, began_us + (uint64_t)(seconds * 1e6));
	printf("%.0f %llu\n", (double)flood.sent * 1e6 / (double)(now_us() - began_us),
	       (unsigned long long)flood.refused);
	client_close(&flood.client);
	return EXIT_SUCCESS;
}
