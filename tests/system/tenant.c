/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A program of a tenant that uses libibumad. It sends to QP1 of other ports with a P_Key index of
 * its choice, unlike ibping. For tests/system/tenants.sh.
 *
 *
 *	tenant hear SECONDS             prints each MAD as "heard LID INDEX", and answers it
 *	tenant ping LID INDEX           sends a request to such a tenant; prints "answer LID INDEX",
 *	                                or ends with 1
 *	tenant cast MLID INDEX          sends MADs that need no answer
 *	tenant join PREFIX GUID MGID    joins an existing group (hex digits); prints its MLID
 */
#include <endian.h>
#include <infiniband/umad.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	CLASS_SA = 3,
	VERSION_SA = 2,
	CLASS_TENANT = 0x33, /* of the vendors' second range */
	OUI = 0x001405,
	OUI_OFFSET = 37,
	GET = 0x01,
	SET = 0x02,
	SEND = 0x03,
	RESPONSE = 0x80,
	MC_MEMBER_RECORD = 0x38,
	MAD = 256,
	MASK = 48,
	DATA = 56,
	TIMEOUT_MS = 1000,
	POLL_MS = 50,
	QP1_Q_KEY = (int)0x80010000,
};

static int port_id, agent;
static umad_port_t port;
static void *umad;
static uint8_t *mad;

static void die(const char *what)
{
	printf("%s\n", what);
	exit(1);
}

/* Only one agent of a port can receive unsolicited MADs. */
static void begin(int is_adm, int hears)
{
	long methods[16 / sizeof(long)] = {hears ? 1L << GET | 1L << SEND : 0};
	uint8_t oui[3] = {OUI >> 16, OUI >> 8 & 0xFF, OUI & 0xFF};

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0)
		die("no port");
	port_id = umad_open_port(NULL, 0);
	agent = is_adm ? umad_register(port_id, CLASS_SA, VERSION_SA, 1, NULL)
		       : umad_register_oui(port_id, CLASS_TENANT, 0, oui, methods);
	if (port_id < 0 || agent < 0)
		die("no agent");
	umad = calloc(1, umad_size() + MAD);
	mad = umad_get_mad(umad);
}

static void fill(uint8_t mgmt_class, uint8_t version, uint8_t method)
{
	uint32_t tid = (uint32_t)getpid();

	memset(mad, 0, MAD);
	mad[0] = 1;
	mad[1] = mgmt_class;
	mad[2] = version;
	mad[3] = method;
	memcpy(mad + 12, &tid, sizeof(tid));
}

static void fill_tenant(uint8_t method, const char *lid, const char *index)
{
	fill(CLASS_TENANT, 1, method);
	mad[OUI_OFFSET] = OUI >> 16;
	mad[OUI_OFFSET + 1] = OUI >> 8 & 0xFF;
	mad[OUI_OFFSET + 2] = OUI & 0xFF;
	umad_set_addr(umad, (int)strtol(lid, NULL, 0), 1, 0, QP1_Q_KEY);
	umad_set_pkey(umad, atoi(index));
}

static int hear(const char *seconds)
{
	time_t end = time(NULL) + atoi(seconds);
	int length;

	printf("hears\n");
	while (time(NULL) < end) {
		const ib_mad_addr_t *from = umad_get_mad_addr(umad);

		length = MAD;
		if (umad_recv(port_id, umad, &length, POLL_MS) < 0 || mad[3] & RESPONSE)
			continue;
		printf("heard %u %d\n", be16toh(from->lid), umad_get_pkey(umad));
		if (mad[3] != GET)
			continue;
		mad[3] |= RESPONSE;
		if (umad_send(port_id, agent, umad, MAD, 0, 0) < 0)
			die("cannot answer");
	}
	return 0;
}

static int ping(void)
{
	const ib_mad_addr_t *from = umad_get_mad_addr(umad);
	int length = MAD;

	if (umad_send(port_id, agent, umad, MAD, TIMEOUT_MS, 0) < 0)
		die("cannot send");
	if (umad_recv(port_id, umad, &length, 5 * TIMEOUT_MS) < 0 || umad_status(umad))
		die("no answer");
	printf("answer %u %d\n", be16toh(from->lid), umad_get_pkey(umad));
	return 0;
}

static int cast(void)
{
	if (umad_send(port_id, agent, umad, MAD, 0, 0) < 0)
		die("cannot send");
	return 0;
}

static void put_hex(uint8_t *to, const char *digits)
{
	for (; digits[0] && digits[1]; digits += 2, to++) {
		const char byte[3] = {digits[0], digits[1], 0};

		*to = (uint8_t)strtol(byte, NULL, 16);
	}
}

/* MGID, PortGID and JoinState: the components of a full member that joins an existing group. */
static int join(char **words)
{
	enum { MGID_PORT_GID_JOIN = 0x10003 };
	uint64_t mask = htobe64(MGID_PORT_GID_JOIN);
	int length = MAD;

	fill(CLASS_SA, VERSION_SA, SET);
	mad[17] = MC_MEMBER_RECORD;
	memcpy(mad + MASK, &mask, sizeof(mask));
	put_hex(mad + DATA, words[2]);
	put_hex(mad + DATA + 16, words[0]);
	put_hex(mad + DATA + 24, words[1]);
	mad[DATA + 48] = 1; /* a full member */
	umad_set_addr(umad, (int)port.sm_lid, 1, 0, QP1_Q_KEY);
	if (umad_send(port_id, agent, umad, MAD, 5 * TIMEOUT_MS, 0) < 0)
		die("cannot send");
	if (umad_recv(port_id, umad, &length, 10 * TIMEOUT_MS) < 0 || umad_status(umad))
		die("no answer");
	if (mad[4] | mad[5]) {
		printf("refused with 0x%02x%02x\n", mad[4], mad[5]);
		return 1;
	}
	printf("0x%02x%02x\n", mad[DATA + 36], mad[DATA + 37]);
	return 0;
}

int main(int count, char **words)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (count == 3 && !strcmp(words[1], "hear")) {
		begin(0, 1);
		return hear(words[2]);
	}
	if (count == 4 && !strcmp(words[1], "ping")) {
		begin(0, 0);
		fill_tenant(GET, words[2], words[3]);
		return ping();
	}
	if (count == 4 && !strcmp(words[1], "cast")) {
		begin(0, 0);
		fill_tenant(SEND, words[2], words[3]);
		return cast();
	}
	if (count == 5 && !strcmp(words[1], "join")) {
		begin(1, 0);
		return join(words + 2);
	}
	die("usage: tenant hear SECONDS | ping LID INDEX | cast MLID INDEX | join PREFIX GUID "
	    "MGID");
	return 2;
}
