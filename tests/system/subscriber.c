/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A program that receives the Reports of its subnet, like other users of libibumad. `subscriber
 * [-s] SECONDS [TRAP...]` subscribes at the master's SA to these traps of all ports (default: all
 * traps) and prints "subscribed". It prints each Report as "report TRAP DETAILS", where the details
 * are the first 22 bytes as hex digits, and confirms it. With -s it confirms nothing. It ends after
 * so many seconds. For tests/system/reports.sh.
 */
#include <endian.h>
#include <infiniband/umad.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	CLASS_SA = 3,
	VERSION_SA = 2,
	SET = 0x02,
	REPORT = 0x06,
	GET_RESP = 0x81,
	REPORT_RESP = 0x86,
	NOTICE = 0x0002,
	INFORM_INFO = 0x0003,
	MAD = 256,
	DATA = 56,
	DETAILS = DATA + 10,
	DETAILS_SHOWN = 22,
	TIMEOUT_MS = 5000,
	POLL_MS = 100,
};

static int port_id, agent;
static void *umad;

static void die(const char *what)
{
	printf("%s\n", what);
	exit(1);
}

static void begin(void)
{
	long methods[16 / sizeof(long)] = {1L << REPORT};
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0)
		die("no port");
	port_id = umad_open_port(NULL, 0);
	agent = umad_register(port_id, CLASS_SA, VERSION_SA, 1, methods);
	if (port_id < 0 || agent < 0)
		die("no agent");
	umad = calloc(1, umad_size() + MAD);
	umad_set_addr(umad, (int)port.sm_lid, 1, 0, (int)0x80010000);
}

/* InformInfo: every port, generic, any type and producer. */
static void subscribe(uint16_t trap, uint32_t tid)
{
	uint8_t *mad = umad_get_mad(umad);
	int length = MAD;

	memset(mad, 0, MAD);
	mad[0] = 1;
	mad[1] = CLASS_SA;
	mad[2] = VERSION_SA;
	mad[3] = SET;
	memcpy(mad + 12, &tid, sizeof(tid));
	mad[17] = INFORM_INFO;
	memset(mad + DATA + 16, 0xFF, 2); /* LIDRangeBegin */
	mad[DATA + 22] = 1;		  /* IsGeneric */
	mad[DATA + 23] = 1;		  /* Subscribe */
	memset(mad + DATA + 24, 0xFF, 2); /* Type */
	mad[DATA + 26] = (uint8_t)(trap >> 8);
	mad[DATA + 27] = (uint8_t)trap;
	mad[DATA + 31] = 16;		  /* RespTimeValue: 268 ms */
	memset(mad + DATA + 33, 0xFF, 3); /* ProducerType */
	if (umad_send(port_id, agent, umad, MAD, TIMEOUT_MS, 0) < 0)
		die("cannot send");
	do {
		length = MAD;
		if (umad_recv(port_id, umad, &length, TIMEOUT_MS) < 0 || umad_status(umad))
			die("no answer");
	} while (mad[3] != GET_RESP);
	if (mad[4] | mad[5]) {
		printf("refused with 0x%02x%02x\n", mad[4], mad[5]);
		exit(1);
	}
}

static void show(const uint8_t *mad)
{
	printf("report %d ", mad[DATA + 4] << 8 | mad[DATA + 5]);
	for (unsigned i = 0; i < DETAILS_SHOWN; i++)
		printf("%02x", mad[DETAILS + i]);
	printf(" issuer ");
	for (unsigned i = 0; i < 16; i++)
		printf("%02x", mad[DATA + 64 + i]);
	printf("\n");
}

int main(int count, char **words)
{
	int silent = count > 1 && strcmp(words[1], "-s") == 0, length;
	time_t end;
	uint8_t *mad;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (count < 2 + silent)
		die("usage: subscriber [-s] SECONDS [TRAP...]");
	begin();
	mad = umad_get_mad(umad);
	for (int i = 2 + silent; i < count; i++)
		subscribe((uint16_t)atoi(words[i]), (uint32_t)i);
	if (count == 2 + silent)
		subscribe(0xFFFF, 1);
	printf("subscribed\n");
	for (end = time(NULL) + atoi(words[1 + silent]); time(NULL) < end;) {
		length = MAD;
		if (umad_recv(port_id, umad, &length, POLL_MS) < 0 || mad[3] != REPORT ||
		    mad[17] != NOTICE)
			continue;
		show(mad);
		mad[3] = REPORT_RESP;
		if (!silent && umad_send(port_id, agent, umad, MAD, 0, 0) < 0)
			die("cannot confirm");
	}
	return 0;
}
