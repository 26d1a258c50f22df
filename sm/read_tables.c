/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * reading_collect() is the only list of requests for a port; it either counts or makes them. For an
 * end port it also requests the P_Key table of the switch port at the other end of the cable. An
 * answer that arrives after a sweep began does not count, because the port may have passed INIT.
 * Then nothing is kept, and the port is read again in its turn.
 */
#include "sm/read_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "sm/context.h"

enum {
	VLS_ONE = 1, /* encoded: VL0 alone */
	VLARB_BLOCK_SHIFT = 16,
	SL_TO_VL_INPUT_SHIFT = 8,
	PKEY_PORT_SHIFT = 16,
	PKEY_BLOCKS_MAX = 128, /* as sm/program/pkeys.c looks at */
};

struct reading {
	struct sm *sm;
	struct port *port;
	struct port_tables *tables; /* as they come */
	struct pkey_list *front;    /* P_Keys of the switch port before it; NULL: not requested */
	void (*done)(struct sm *sm);
	uint64_t sweep; /* the last sweep before the reading */
	unsigned pending;
	bool spoiled; /* a request had no answer, or a late answer */
};

static void reading_answered(void *owner, void *subject, const struct smp_request *request,
			     const struct smp_answer *answer);

/* Counts a request, and submits it if there is a reading. */
static unsigned reading_get(struct reading *reading, const struct port *port, uint16_t attr_id,
			    uint32_t attr_mod)
{
	const struct smp_request request = {.method = METHOD_GET,
					    .attr_id = attr_id,
					    .attr_mod = attr_mod,
					    .done = reading_answered,
					    .owner = reading,
					    .subject = reading ? reading->port : NULL};

	if (reading)
		window_submit(&port_agent(port)->target, &request);
	return 1;
}

static unsigned guid_blocks(const struct port *port)
{
	if (!port->agent || port->refuses & PORT_REFUSES_GUIDS)
		return 0;
	return (port_info(port)->guid_cap + GUID_BLOCK_GUIDS - 1u) / GUID_BLOCK_GUIDS;
}

/* A switch has a mapping for each pair of its ports, an adapter only one for its own packets. A
 * base port 0 has no lanes. */
static unsigned reading_sl_to_vl_rows(const struct port *port)
{
	if (port_info(port)->vl_cap <= VLS_ONE || port->refuses & PORT_REFUSES_SL_TO_VL)
		return 0;
	if (!port_of_switch(port))
		return 1;
	if (port->num ? !port_cabled(port) : !port->node->facts->sw.enhanced_port0)
		return 0;
	return port->node->num_ports + 1u;
}

/* Bit i: block i + 1. Blocks 1 and 2 are the halves of the low table, 3 and 4 of the high one. */
static uint8_t vl_arbitration_blocks(const struct port *port)
{
	const struct port_info *info = port_info(port);

	if (!port->num || info->vl_cap <= VLS_ONE || port->refuses & PORT_REFUSES_VL_ARBITRATION ||
	    (port_of_switch(port) && !port_cabled(port)))
		return 0;
	return (info->vl_arbitration_low_cap > 0) << 0 |
	       (info->vl_arbitration_low_cap > VLARB_BLOCK_ENTRIES) << 1 |
	       (info->vl_arbitration_high_cap > 0) << 2 |
	       (info->vl_arbitration_high_cap > VLARB_BLOCK_ENTRIES) << 3;
}

/* The switch port before an end port, if its P_Keys are not known. They are needed only if
 * partitions separate ports, and then those of all ports at once. */
static struct port *front_unread(const struct port *port)
{
	struct port *front = port->agent && port->num ? port->peer : NULL;

	return front && port_of_switch(front) && front->num && !port_facts(front)->pkeys &&
			       !front->partition.busy
		       ? front
		       : NULL;
}

static unsigned front_blocks(const struct port *front)
{
	unsigned slots = front ? front->node->facts->sw.partition_enforcement_cap : 0;
	unsigned blocks = (slots + PKEY_BLOCK_KEYS - 1) / PKEY_BLOCK_KEYS;

	return blocks < PKEY_BLOCKS_MAX ? blocks : PKEY_BLOCKS_MAX;
}

static unsigned reading_collect(struct reading *reading, const struct port *port)
{
	unsigned guids = guid_blocks(port), rows = reading_sl_to_vl_rows(port), count = 0;
	const struct port *front = front_unread(port);
	uint32_t out = port_of_switch(port) ? port->num : 0;
	uint8_t blocks = vl_arbitration_blocks(port);

	for (unsigned block = 0; block < guids; block++)
		count += reading_get(reading, port, ATTR_GUID_INFO, block);
	for (unsigned in = 0; in < rows; in++)
		count +=
			reading_get(reading, port, ATTR_SL_TO_VL, in << SL_TO_VL_INPUT_SHIFT | out);
	for (unsigned block = 0; block < VLARB_BLOCKS; block++)
		if (blocks >> block & 1)
			count += reading_get(reading, port, ATTR_VL_ARBITRATION,
					     (block + 1) << VLARB_BLOCK_SHIFT | out);
	for (unsigned block = 0; block < front_blocks(front); block++)
		count += reading_get(reading, front, ATTR_PKEY_TABLE,
				     (uint32_t)front->num << PKEY_PORT_SHIFT | block);
	return count;
}

unsigned tables_cost(const struct port *port)
{
	if (!port_agent(port) || !port_facts(port)->known ||
	    (port->num && port_state_of(port) < PORT_INIT))
		return 0;
	return reading_collect(NULL, port);
}

/* Answers */

/* The first GUID is the known port GUID. Without it, most ports have equal tables. */
static void take_guids(struct port_tables *tables, uint32_t block, const uint8_t *data)
{
	struct guid_info info;

	attr_decode(&guid_info_format, data, &info);
	if ((block + 1) * GUID_BLOCK_GUIDS > tables->num_guids)
		return;
	memcpy(tables->guid + block * GUID_BLOCK_GUIDS, info.guid, sizeof(info.guid));
	tables->guid[0] = 0;
}

static void take_sl_to_vl(struct port_tables *tables, uint32_t attr_mod, const uint8_t *data)
{
	uint32_t in = attr_mod >> SL_TO_VL_INPUT_SHIFT;

	if (in < tables->num_sl_to_vl)
		attr_decode(&sl_to_vl_table_format, data, &tables->sl_to_vl[in]);
}

static void take_vl_arbitration(struct port_tables *tables, uint32_t attr_mod, const uint8_t *data)
{
	uint32_t block = (attr_mod >> VLARB_BLOCK_SHIFT) - 1;

	attr_decode(&vl_arbitration_table_format, data, &tables->vl_arbitration[block]);
	tables->vl_arbitration_known |= (uint8_t)(1 << block);
}

static const struct {
	uint16_t attr_id;
	uint8_t refused; /* of port->refuses */
	void (*take)(struct port_tables *tables, uint32_t attr_mod, const uint8_t *data);
} rows[] = {
	{ATTR_GUID_INFO, PORT_REFUSES_GUIDS, take_guids},
	{ATTR_SL_TO_VL, PORT_REFUSES_SL_TO_VL, take_sl_to_vl},
	{ATTR_VL_ARBITRATION, PORT_REFUSES_VL_ARBITRATION, take_vl_arbitration},
};

/* A partly refused table is not shown. */
static void leave_out_refused(const struct port *port, struct port_tables *tables)
{
	if (port->refuses & PORT_REFUSES_GUIDS)
		tables->num_guids = 0;
	if (port->refuses & PORT_REFUSES_SL_TO_VL)
		tables->num_sl_to_vl = 0;
	if (port->refuses & PORT_REFUSES_VL_ARBITRATION) {
		tables->vl_arbitration_known = 0;
		memset(tables->vl_arbitration, 0, sizeof(tables->vl_arbitration));
	}
}

/* A command may have read or written the table since, and then has newer data. The cable is
 * judged at once with the new table, not by the next sweep. The port of a spoiled reading may be
 * gone. */
static void take_front(struct reading *reading)
{
	struct port *front =
		reading->front && !reading->spoiled ? front_unread(reading->port) : NULL;

	if (front) {
		port_set_pkeys(reading->sm->fabric, front, pkey_list_ref(reading->front));
		program_look_at_port(reading->sm->program, reading->port);
	}
	pkey_list_unref(reading->front);
}

static void read_tables_finish(struct reading *reading)
{
	struct sm *sm = reading->sm;
	struct port_tables *tables;

	take_front(reading);
	if (reading->spoiled) {
		port_tables_unref(reading->tables);
	} else {
		leave_out_refused(reading->port, reading->tables);
		tables = table_pool_share(&sm->readback.pool, reading->tables);
		sm->readback.news |= tables != port_facts(reading->port)->tables;
		port_set_tables(sm->fabric, reading->port, tables);
		guids_were_read(&sm->guids, reading->port);
	}
	reading->done(sm);
	free(reading);
}

/* A switch that refuses to show its table counts as holding nothing, as in sm/program/pkeys.c. */
static void take_pkeys(struct reading *reading, uint32_t attr_mod, const struct smp_answer *answer)
{
	struct p_key_table table;

	if (answer->status)
		return;
	attr_decode(&p_key_table_format, answer->data, &table);
	memcpy(reading->front->key + (attr_mod & UINT16_MAX) * (size_t)PKEY_BLOCK_KEYS, table.p_key,
	       sizeof(table.p_key));
}

static void reading_answered(void *owner, void *subject, const struct smp_request *request,
			     const struct smp_answer *answer)
{
	struct reading *reading = owner;
	struct sm *sm = reading->sm;
	struct port *port = subject;

	if (answer->error || status_is_busy(answer->status) || sm->sweep.running ||
	    sm->sweep.last.number != reading->sweep)
		reading->spoiled = true;
	if (request->attr_id == ATTR_PKEY_TABLE && !reading->spoiled)
		take_pkeys(reading, request->attr_mod, answer);
	for (size_t i = 0; i < ARRAY_SIZE(rows) && !reading->spoiled; i++) {
		if (rows[i].attr_id != request->attr_id)
			continue;
		if (answer->status)
			port->refuses |= rows[i].refused;
		else
			rows[i].take(reading->tables, request->attr_mod, answer->data);
	}
	if (!--reading->pending)
		read_tables_finish(reading);
}

void tables_read(struct sm *sm, struct port *port, void (*done)(struct sm *sm))
{
	struct reading *reading = mem_zalloc(sizeof(*reading));

	reading->sm = sm;
	reading->port = port;
	reading->done = done;
	reading->sweep = sm->sweep.last.number;
	reading->tables = port_tables_new((uint16_t)(guid_blocks(port) * GUID_BLOCK_GUIDS),
					  (uint16_t)reading_sl_to_vl_rows(port));
	if (front_blocks(front_unread(port)))
		reading->front = pkey_list_new(
			(uint16_t)(front_blocks(front_unread(port)) * PKEY_BLOCK_KEYS));
	reading->pending = tables_cost(port);
	reading_collect(reading, port);
}
