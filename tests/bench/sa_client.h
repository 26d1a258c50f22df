/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A client of the SA, for the programs of tests/bench: opens port 1, fills requests, sends them,
 * receives answers, and sorts response times. It uses libibumad only, so a program works with weftd
 * and OpenSM alike. After an error the program ends with a message.
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
	TID_AT = 12, /* the kernel uses the upper half */
	ATTRIBUTE_AT = 16,
	MASK_AT = 48,
	DATA_AT = 56, /* of a SubnAdm MAD */
};

/* An open port, with the last MAD that was sent or received. */
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
	uint16_t *lid; /* as on the wire, like guid */
	uint64_t *guid;
};

/* Ends the program with the message `what`. */
void die(const char *what) __attribute__((noreturn));
uint64_t now_us(void); /* of a monotonic clock */
void hosts_read(struct hosts *hosts, const char *name);
unsigned hosts_any(const struct hosts *hosts); /* the index of a random host */

/* An agent for mgmt_class, with a MAD of room bytes. With rmpp false the kernel acknowledges no
 * RMPP message. */
void client_open(struct client *client, uint8_t mgmt_class, bool rmpp, size_t room);
void client_close(struct client *client);
/* Makes the MAD a request to the SA without data; returns the end of its headers. */
uint8_t *client_request(struct client *client, uint8_t method, uint16_t attribute, uint64_t mask);
/* Makes it SubnGet(NodeInfo), for an agent of SMP_CLASS. */
void client_ask_node(struct client *client);
/* Makes it SubnAdmGet(PathRecord) of two of the hosts, by GID as rdma_cm asks, or by LID. */
void client_ask_path(struct client *client, const struct hosts *hosts, bool by_lid);
/* Makes it the join of a full member to group number group, which is ff12:401b:ffff::group, or the
 * leave of this member. member is a PortGUID as on the wire. */
void client_membership(struct client *client, uint8_t method, unsigned group, uint64_t member);
void client_set_tid(struct client *client, uint32_t tid);

/* Sends size bytes of the MAD to the SA at lid; 0 or -1. timeout_ms 0: no answer is expected. */
int client_send(struct client *client, int lid, size_t size, int timeout_ms);
enum came { CAME_NOTHING, CAME_ANSWER, CAME_TIMEOUT };
/* Waits at most wait_us for an answer, or for the kernel's report that there is none. */
enum came client_receive(struct client *client, uint64_t wait_us);
uint32_t client_tid(const struct client *client); /* of the received MAD */
uint16_t client_status(const struct client *client);

void times_sort(uint32_t *times, unsigned count);
/* The percentile `percent` of sorted times; 0 if there are none. */
uint32_t times_at(const uint32_t *times, unsigned count, unsigned percent);

#endif
