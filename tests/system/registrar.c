/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A program that registers continuously, to check the registrations after the SA is killed. It
 * registers services, joins of some groups and subscriptions in turn, 32 under way. `registrar
 * FIRST` numbers them from FIRST on. It prints each acknowledged registration as "service 17",
 * "member 18" or "subscription 19": the ServiceID, the end of the MGID, the number of a vendor's
 * notice. It ends after a refusal or a missing answer; `registrar FIRST NUMBER` also after so many.
 * For tests/system/registrations.sh and ha.sh, and tests/bench/failover.sh.
 */
#include <endian.h>
#include <infiniband/umad.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CLASS_SA = 3,
	VERSION_SA = 2,
	SET = 0x02,
	MAD = 256,
	MASK_AT = 48,
	DATA = 56,
	UNDER_WAY = 32,
	TIMEOUT_MS = 3000,
	KINDS = 3,
	GROUPS = 100, /* all groups together have 1,023 MLIDs */
};

static const char *const kinds[KINDS] = {"service", "member", "subscription"};
static const uint16_t attributes[KINDS] = {0x0031, 0x0038, 0x0003};
/* ServiceID, GID, P_Key, lease, name; all components that create a group. */
static const uint64_t masks[KINDS] = {
	1 << 0 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 6,
	1 << 0 | 1 << 1 | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 12 | 1 << 13 | 1 << 16, 0};

static int port_id, agent;
static void *umad;
static uint8_t gid[16];

static void die(const char *what)
{
	fprintf(stderr, "registrar: %s\n", what);
	exit(1);
}

static void begin(void)
{
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0)
		die("no port");
	memcpy(gid, &port.gid_prefix, 8);
	memcpy(gid + 8, &port.port_guid, 8);
	port_id = umad_open_port(NULL, 0);
	agent = umad_register(port_id, CLASS_SA, VERSION_SA, 0, NULL);
	umad = calloc(1, umad_size() + MAD);
	if (port_id < 0 || agent < 0 || !umad)
		die("no agent");
	umad_set_addr(umad, port.sm_lid, 1, 0, (int)0x80010000);
	umad_release_port(&port);
}

static void put(uint8_t *at, unsigned size, uint64_t value)
{
	while (size--) {
		at[size] = (uint8_t)value;
		value >>= 8;
	}
}

static void service(uint8_t *data, uint32_t number)
{
	put(data, 8, number);
	memcpy(data + 8, gid, sizeof(gid));
	put(data + 24, 2, 0xFFFF);
	put(data + 28, 4, UINT32_MAX); /* no expiry */
	memcpy(data + 48, "registrar\033[31m\377", 15);
}

static void member(uint8_t *data, uint32_t number)
{
	put(data, 8, UINT64_C(0xFF12AAAA00000000));
	put(data + 8, 8, number % GROUPS);
	memcpy(data + 16, gid, sizeof(gid));
	put(data + 32, 4, 0x0b1b);
	put(data + 40, 2, 0xFFFF);
	put(data + 48, 1, 1);
}

static void subscription(uint8_t *data, uint32_t number)
{
	put(data + 16, 2, 0xFFFF);
	put(data + 22, 2, 0x0001); /* not generic, subscribe */
	put(data + 24, 2, 0xFFFF);
	put(data + 26, 2, number);
	put(data + 31, 1, 18);
	put(data + 33, 3, 0xFFFFFF);
}

static void (*const fill[KINDS])(uint8_t *, uint32_t) = {service, member, subscription};

static void ask(uint32_t number)
{
	uint8_t *mad = umad_get_mad(umad);

	memset(mad, 0, MAD);
	mad[0] = 1;
	mad[1] = CLASS_SA;
	mad[2] = VERSION_SA;
	mad[3] = SET;
	put(mad + 12, 4, number);
	put(mad + 16, 2, attributes[number % KINDS]);
	put(mad + MASK_AT, 8, masks[number % KINDS]);
	fill[number % KINDS](mad + DATA, number);
	if (umad_send(port_id, agent, umad, MAD, TIMEOUT_MS, 0) < 0)
		die("cannot send");
}

static uint32_t take(void)
{
	uint8_t *mad = umad_get_mad(umad);
	int length = MAD;
	uint32_t number;

	if (umad_recv(port_id, umad, &length, 2 * TIMEOUT_MS) < 0 || umad_status(umad))
		die("no answer");
	memcpy(&number, mad + 12, sizeof(number));
	number = be32toh(number);
	if (mad[4] | mad[5]) {
		fprintf(stderr, "registrar: %s %u is refused with 0x%02x%02x\n",
			kinds[number % KINDS], number, mad[4], mad[5]);
		exit(1);
	}
	return number;
}

int main(int count, char **words)
{
	uint32_t next = count > 1 ? (uint32_t)atoi(words[1]) : 1;
	uint32_t end = count > 2 ? next + (uint32_t)atoi(words[2]) : UINT32_MAX;
	uint32_t answered = next;

	setvbuf(stdout, NULL, _IOLBF, 0);
	begin();
	for (unsigned i = 0; i < UNDER_WAY && next < end; i++)
		ask(next++);
	for (; answered < end; answered++) {
		uint32_t number = take();

		printf("%s %u\n", kinds[number % KINDS],
		       fill[number % KINDS] == member ? number % GROUPS : number);
		if (next < end)
			ask(next++);
	}
	return 0;
}
