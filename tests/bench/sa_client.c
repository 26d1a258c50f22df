/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Common functions of the clients of the SA in tests/bench (sa_client.h). */
#include "tests/bench/sa_client.h"

#include <endian.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	HOSTS_MAX = 65536,
	/* Of PathRecord, and its components: DGID, SGID or DLID, SLID; Reversible, NumbPath, P_Key.
	 */
	DGID_AT = DATA_AT + 8,
	SGID_AT = DATA_AT + 24,
	DLID_AT = DATA_AT + 40,
	SLID_AT = DATA_AT + 42,
	REVERSIBLE_AT = DATA_AT + 49,
	PATH_P_KEY_AT = DATA_AT + 50,
	BY_GID = 1 << 2 | 1 << 3,
	BY_LID = 1 << 4 | 1 << 5,
	PATH_MASK = 1 << 11 | 1 << 12 | 1 << 13,
	/* Of MCMemberRecord: MGID, PortGID, JoinState, and for a join Q_Key; TClass, P_Key; SL,
	 * FlowLabel. */
	MGID_AT = DATA_AT,
	PORT_GID_AT = MGID_AT + 16,
	Q_KEY_AT = MGID_AT + 32,
	MC_P_KEY_AT = MGID_AT + 40,
	JOIN_STATE_AT = MGID_AT + 48,
	LEAVE_MASK = 1 << 0 | 1 << 1 | 1 << 16,
	JOIN_MASK = LEAVE_MASK | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 12 | 1 << 13,
	JOIN_FULL = 1,
	P_KEY = 0xFFFF,
	Q_KEY = 0xb1b,
};

void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
	exit(EXIT_FAILURE);
}

uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000;
}

void hosts_read(struct hosts *hosts, const char *name)
{
	FILE *file = fopen(name, "re");
	char line[128];

	if (!file)
		die("cannot read the file with the hosts");
	*hosts = (struct hosts){.lid = calloc(HOSTS_MAX, sizeof(*hosts->lid)),
				.guid = calloc(HOSTS_MAX, sizeof(*hosts->guid))};
	if (!hosts->lid || !hosts->guid)
		die("no memory");
	while (hosts->count < HOSTS_MAX && fgets(line, sizeof(line), file)) {
		const char *guid = strchr(line, ' ');

		if (!guid)
			continue;
		hosts->lid[hosts->count] = htobe16((uint16_t)strtoul(line, NULL, 10));
		hosts->guid[hosts->count++] = htobe64(strtoull(guid, NULL, 16));
	}
	fclose(file);
	if (!hosts->count)
		die("the file has no hosts");
}

unsigned hosts_any(const struct hosts *hosts)
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (unsigned)((state >> 33) % hosts->count);
}

void client_open(struct client *client, uint8_t mgmt_class, bool rmpp, size_t room)
{
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 1, &port))
		die("no InfiniBand device found");
	client->lid = (int)port.base_lid;
	client->sm_lid = (int)port.sm_lid;
	client->prefix = port.gid_prefix;
	client->guid = port.port_guid;
	umad_release_port(&port);
	client->port = umad_open_port(NULL, 1);
	if (client->port < 0)
		die("port 1 cannot be opened");
	client->agent = umad_register(client->port, mgmt_class, mgmt_class == SA_CLASS ? 2 : 1,
				      mgmt_class == SA_CLASS && rmpp, NULL);
	client->umad = umad_alloc(1, umad_size() + room);
	if (client->agent < 0 || !client->umad)
		die("no agent");
	client->mad = umad_get_mad(client->umad);
	client->room = room;
}

void client_close(struct client *client)
{
	umad_close_port(client->port);
	umad_free(client->umad);
}

static void put_attribute(struct client *client, uint16_t attribute)
{
	uint16_t wire = htobe16(attribute);

	memcpy(client->mad + ATTRIBUTE_AT, &wire, sizeof(wire));
}

void client_ask_node(struct client *client)
{
	memset(client->mad, 0, MAD);
	memcpy(client->mad, (uint8_t[]){1, SMP_CLASS, 1, GET}, 4);
	put_attribute(client, NODE_INFO);
}

uint8_t *client_request(struct client *client, uint8_t method, uint16_t attribute, uint64_t mask)
{
	uint64_t wire_mask = htobe64(mask);

	memset(client->mad, 0, MAD);
	memcpy(client->mad, (uint8_t[]){1, SA_CLASS, 2, method}, 4);
	put_attribute(client, attribute);
	memcpy(client->mad + MASK_AT, &wire_mask, sizeof(wire_mask));
	return client->mad + DATA_AT;
}

void client_ask_path(struct client *client, const struct hosts *hosts, bool by_lid)
{
	unsigned from = hosts_any(hosts), to = hosts_any(hosts);
	uint8_t *mad = client->mad;

	client_request(client, GET, PATH_RECORD, PATH_MASK | (by_lid ? BY_LID : BY_GID));
	memcpy(mad + DGID_AT, &client->prefix, sizeof(client->prefix));
	memcpy(mad + DGID_AT + 8, &hosts->guid[to], sizeof(hosts->guid[to]));
	memcpy(mad + SGID_AT, &client->prefix, sizeof(client->prefix));
	memcpy(mad + SGID_AT + 8, &hosts->guid[from], sizeof(hosts->guid[from]));
	memcpy(mad + DLID_AT, &hosts->lid[to], sizeof(hosts->lid[to]));
	memcpy(mad + SLID_AT, &hosts->lid[from], sizeof(hosts->lid[from]));
	mad[REVERSIBLE_AT] = 0x80 | 1; /* and NumbPath 1 */
	memcpy(mad + PATH_P_KEY_AT, &(uint16_t){htobe16(P_KEY)}, sizeof(uint16_t));
}

void client_membership(struct client *client, uint8_t method, unsigned group, uint64_t member)
{
	uint8_t *mad = client->mad;

	client_request(client, method, MC_MEMBER_RECORD, method == SET ? JOIN_MASK : LEAVE_MASK);
	memcpy(mad + MGID_AT, (uint8_t[]){0xFF, 0x12, 0x40, 0x1B, 0xFF, 0xFF}, 6);
	memcpy(mad + MGID_AT + 14, &(uint16_t){htobe16((uint16_t)group)}, sizeof(uint16_t));
	memcpy(mad + PORT_GID_AT, &client->prefix, sizeof(client->prefix));
	memcpy(mad + PORT_GID_AT + 8, &member, sizeof(member));
	memcpy(mad + Q_KEY_AT, &(uint32_t){htobe32(Q_KEY)}, sizeof(uint32_t));
	memcpy(mad + MC_P_KEY_AT, &(uint16_t){htobe16(P_KEY)}, sizeof(uint16_t));
	mad[JOIN_STATE_AT] = JOIN_FULL;
}

void client_set_tid(struct client *client, uint32_t tid)
{
	memcpy(client->mad + TID_AT, &(uint32_t){htobe32(tid)}, sizeof(tid));
}

int client_send(struct client *client, int lid, size_t size, int timeout_ms)
{
	int qp = client->mad[1] == SA_CLASS;

	umad_set_addr(client->umad, lid, qp, 0, qp ? (int)0x80010000 : 0);
	return umad_send(client->port, client->agent, client->umad, (int)size, timeout_ms, 0);
}

enum came client_receive(struct client *client, uint64_t wait_us)
{
	const struct timespec wait = {(time_t)(wait_us / 1000000),
				      (long)(wait_us % 1000000) * 1000};
	struct pollfd ready = {.fd = umad_get_fd(client->port), .events = POLLIN};
	int length = (int)client->room;

	if (ppoll(&ready, 1, &wait, NULL) < 1 ||
	    umad_recv(client->port, client->umad, &length, 0) != client->agent)
		return CAME_NOTHING;
	return umad_status(client->umad) ? CAME_TIMEOUT : CAME_ANSWER;
}

uint32_t client_tid(const struct client *client)
{
	uint32_t tid;

	memcpy(&tid, client->mad + TID_AT, sizeof(tid));
	return be32toh(tid);
}

uint16_t client_status(const struct client *client)
{
	uint16_t status;

	memcpy(&status, client->mad + STATUS_AT, sizeof(status));
	return be16toh(status);
}

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

void times_sort(uint32_t *times, unsigned count)
{
	qsort(times, count, sizeof(*times), by_size);
}

uint32_t times_at(const uint32_t *times, unsigned count, unsigned percent)
{
	return count ? times[(uint64_t)(count - 1) * percent / 100] : 0;
}
