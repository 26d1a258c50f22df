/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A client of the SA, for the programs of tests/bench: opens port 1, fills requests, sends them and
 * takes what comes back, and sorts the times that answers took. It stands on libibumad alone, so a
 * program that uses it asks weftd and OpenSM in the same way. Where something fails the program
 * ends with a message.
 */
#ifndef TESTS_BENCH_SA_CLIENT_H
#define TESTS_BENCH_SA_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MAD = 256,
	SMP_CLASS = 1,
	SA_CLASS = 3,
	GET = 1,
	SET = 2,
	GET_RESP = 0x81,
	GET_TABLE = 0x12,
	GET_MULTI = 0x14,
	DELETE = 0x15,
	CLASS_PORT_INFO = 1,
	NODE_INFO = 0x11,
	PATH_RECORD = 0x35,
	MC_MEMBER_RECORD = 0x38,
	STATUS_AT = 4,
	TID_AT = 12, /* the kernel keeps the upper half for itself */
	ATTRIBUTE_AT = 16,
	MASK_AT = 48,
	DATA_AT = 56, /* of a SubnAdm MAD */
};

/* An open port, with the one MAD that is sent or was received last. */
struct client {
	int port, agent, lid, sm_lid;
	uint64_t prefix, guid; /* as on the wire */
	void *umad;
	uint8_t *mad; /* in umad */
	size_t room;  /* bytes of mad */
};

/* Hosts of a file that has a LID, decimal, and a PortGUID, hexadecimal, on each line. */
struct hosts {
	unsigned count;
	uint16_t *lid; /* as on the wire, as the next one */
	uint64_t *guid;
};

/* Ends the program; what tells why. */
void die(const char *what) __attribute__((noreturn));
uint64_t now_us(void); /* of a monotonic clock */
void hosts_read(struct hosts *hosts, const char *name);
unsigned hosts_any(const struct hosts *hosts); /* the place of a random one */

/* An agent for mgmt_class, with a MAD of room bytes. Where rmpp is false the kernel acknowledges no
 * RMPP message. */
void client_open(struct client *client, uint8_t mgmt_class, bool rmpp, size_t room);
void client_close(struct client *client);
/* Makes the MAD a request to the SA with nothing after its headers; returns where those end. */
uint8_t *client_request(struct client *client, uint8_t method, uint16_t attribute, uint64_t mask);
/* Makes it SubnGet(NodeInfo), for an agent of SMP_CLASS. */
void client_ask_node(struct client *client);
/* Makes it SubnAdmGet(PathRecord) of two of the hosts, by GID as rdma_cm asks, or by LID. */
void client_ask_path(struct client *client, const struct hosts *hosts, bool by_lid);
/* Makes it the join of a full member to group number group, which is ff12:401b:ffff::group, or that
 * member's leave. member is a PortGUID as on the wire. */
void client_membership(struct client *client, uint8_t method, unsigned group, uint64_t member);
void client_set_tid(struct client *client, uint32_t tid);

/* Sends size bytes of the MAD to the SA at lid; 0 or -1. timeout_ms 0: no answer is expected. */
int client_send(struct client *client, int lid, size_t size, int timeout_ms);
enum came { CAME_NOTHING, CAME_ANSWER, CAME_TIMEOUT };
/* Waits at most wait_us for an answer, or for word from the kernel that there is none. */
enum came client_receive(struct client *client, uint64_t wait_us);
uint32_t client_tid(const struct client *client); /* of what came */
uint16_t client_status(const struct client *client);

void times_sort(uint32_t *times, unsigned count);
/* Of sorted times, the one that percent of all do not exceed; 0 when there are none. */
uint32_t times_at(const uint32_t *times, unsigned count, unsigned percent);

#endif
