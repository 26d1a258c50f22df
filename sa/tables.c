/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The records of a table of a port or switch: SwitchInfoRecord, forwarding tables, P_Keys, GUIDs,
 * SLtoVL mappings and VL arbitration. Walks are over end ports, and LIDs are looked up, as in
 * inventory.c. A table that the manager has neither read nor written has no record, because its
 * default would be a guess. Called by sa.c.
 */
#include <stddef.h>
#include <string.h>

#include "sa/request.h"

_Static_assert(offsetof(struct sl_to_vl_record, lid) == 0 &&
		       offsetof(struct switch_info_record, lid) == 0 &&
		       offsetof(struct lft_record, lid) == 0 &&
		       offsetof(struct mft_record, lid) == 0 &&
		       offsetof(struct guid_info_record, lid) == 0 &&
		       offsetof(struct p_key_table_record, lid) == 0 &&
		       offsetof(struct vl_arbitration_record, lid) == 0,
	       "read by begin_by_lid()");

uint16_t begin_by_lid(struct sa_request *request)
{
	request_by_lid(request, TABLE_RECORD_LID, *(const lid_t *)request->wanted);
	request->most = UINT64_MAX;
	return STATUS_OK;
}

/* The components to compare besides the LID. */
static uint64_t others(const struct sa_request *request)
{
	return request->mask & ~COMPONENT(TABLE_RECORD_LID);
}

/* A port of a switch is identified by its number. A port of an adapter is identified by its LID,
 * and with a LID the number is ignored: osmtest sends 0, and OpenSM answers with the number of
 * the port. */
static uint64_t components_not_of_port(const struct sa_request *request, const struct endport *port,
				       uint64_t numbers)
{
	bool is_named = port->at.sw < 0 && request_has(request, TABLE_RECORD_LID);

	return others(request) & ~(is_named ? numbers : 0);
}

void step_switch_info(struct sa_request *request, uint64_t unit)
{
	struct switch_info_record record;
	struct endport port;

	if (!request_endport(request, unit, &port) || port.at.sw < 0 || !port.facts)
		return;
	record.lid = port.lid;
	record.info = port.facts->sw;
	request_offer(request, others(request), &record);
}

/* Forwarding tables */

static const struct lft *lft_of(const struct sa_request *request, int32_t sw)
{
	const struct routes *routes = request->view->routes;

	return routes && (uint32_t)sw < routes->num_switches ? routes->lft[sw] : NULL;
}

uint16_t begin_lfts(struct sa_request *request)
{
	request_by_lid(request, TABLE_RECORD_LID,
		       ((const struct lft_record *)request->wanted)->lid);
	if (request->most != UINT64_MAX && request->end - request->unit > 1) {
		request->most = 0;
		for (uint32_t s = 0; s < request->topology->num_switches; s++) {
			const struct lft *lft = lft_of(request, (int32_t)s);

			request->most += lft ? lft->blocks : 0;
		}
	} else if (request->most != UINT64_MAX) {
		request->most = LFT_BLOCKS_MAX;
	}
	return STATUS_OK;
}

void step_lft(struct sa_request *request, uint64_t unit)
{
	const struct lft_record *wanted = request->wanted;
	const struct lft *lft;
	struct lft_record record;
	struct endport port;
	unsigned block = 0, end;

	if (!request_endport(request, unit, &port) || port.at.sw < 0)
		return;
	lft = lft_of(request, port.at.sw);
	end = lft ? lft->blocks : 0;
	if (request_has(request, LFT_RECORD_BLOCK_NUM)) {
		block = wanted->block_num;
		end = block < end ? block + 1 : 0;
	}
	for (; block < end; block++) {
		record.lid = port.lid;
		record.block_num = (uint16_t)block;
		memcpy(record.table.port, lft_block(lft, (uint16_t)block), LFT_BLOCK_LIDS);
		request_offer(request, 0, &record);
	}
}

/* No view has the changes of joins and leaves, so these records have the present contents of
 * switches, in blocks up to the last used block, empty blocks included. */
void step_mft(struct sa_request *request, uint64_t unit)
{
	const struct mft_record *wanted = request->wanted;
	bool by_block = request_has(request, MFT_RECORD_BLOCK_NUM);
	struct mft_record record;
	const struct mft *mft = NULL;
	struct endport port;
	unsigned block, end;

	if (!request_endport(request, unit, &port) || port.at.sw < 0)
		return;
	if (request->held_mft)
		mft = request->held_mft(request->held_ctx,
					request->topology->switches[port.at.sw].guid);
	end = mft ? mft_held_blocks(mft) : 0;
	block = by_block ? wanted->block_num : 0;
	if (by_block)
		end = block < end ? block + 1 : 0;
	for (; block < end; block++) {
		for (uint8_t position = 0; position < mft->positions; position++) {
			const uint16_t *ports =
				mft_held(mft, mft_index(mft, (uint16_t)block, position));

			if (!ports)
				continue;
			record = (struct mft_record){.lid = port.lid,
						     .position = position,
						     .block_num = (uint16_t)block};
			memcpy(record.table.port_mask, ports, sizeof(record.table.port_mask));
			request_offer(request, others(request), &record);
		}
	}
}

/* Tables of ports */

/* A P_Key table shows the partitions of a port, so chapter 15.4.1 limits it to trusted
 * requesters. The status is that of OpenSM. */
uint16_t begin_p_keys(struct sa_request *request)
{
	return request->trust >= REQUESTER_TRUSTED ? begin_by_lid(request) : SA_REQ_INVALID;
}

void step_p_keys(struct sa_request *request, uint64_t unit)
{
	const struct pkey_list *list;
	struct endport port;

	if (!request_endport(request, unit, &port) || !facts_port_info(port.facts, port.num))
		return;
	list = port.facts->port[port.num].pkeys;
	for (unsigned first = 0; list && first + PKEY_BLOCK_KEYS <= list->count;
	     first += PKEY_BLOCK_KEYS) {
		struct p_key_table_record record = {
			.lid = port.lid,
			.block_num = (uint16_t)(first / PKEY_BLOCK_KEYS),
			.port_num = port.num,
		};

		memcpy(record.table.p_key, list->key + first, sizeof(record.table.p_key));
		request_offer(
			request,
			components_not_of_port(request, &port, COMPONENT(P_KEY_TABLE_PORT_NUM)),
			&record);
	}
}

/* Number 0 is the port GUID, which is read-only (14.2.5.5). */
void guid_block_registered(const struct sa_request *request, const struct endport *port,
			   unsigned block, struct guid_info *out)
{
	const struct port_tables *tables = port->facts->port[port->num].tables;
	unsigned first = block * GUID_BLOCK_GUIDS;
	const struct alias_entry key = {.port_guid = port->guid};

	memset(out, 0, sizeof(*out));
	for (unsigned i = 0; tables && i < GUID_BLOCK_GUIDS && first + i < tables->num_guids; i++)
		out->guid[i] = tables->guid[first + i];
	for (const struct alias_entry *alias =
		     registry_first(request->registry, REGISTRY_ALIAS, ALIAS_BY_PORT, &key);
	     alias; alias = registry_next(request->registry, REGISTRY_ALIAS, ALIAS_BY_PORT, alias))
		if (alias->index / GUID_BLOCK_GUIDS == block)
			out->guid[alias->index % GUID_BLOCK_GUIDS] = alias->guid;
	if (!block)
		out->guid[0] = port->guid;
}

void step_guid_info(struct sa_request *request, uint64_t unit)
{
	const struct port_info *info;
	struct endport port;

	if (!request_endport(request, unit, &port))
		return;
	info = facts_port_info(port.facts, port.num);
	for (unsigned block = 0; info && block * GUID_BLOCK_GUIDS < info->guid_cap; block++) {
		struct guid_info_record record = {.lid = port.lid, .block_num = (uint8_t)block};

		guid_block_registered(request, &port, block, &record.info);
		request_offer(request, others(request), &record);
	}
}

/* The tables of a port of the end port's node; NULL if they were not read. */
static const struct port_tables *tables_of(const struct endport *port, unsigned num)
{
	return facts_port_info(port->facts, (uint8_t)num) ? port->facts->port[num].tables : NULL;
}

/* A port of an adapter has one mapping, for its own packets: InputPortNum is not used and 0.
 * Each mapping of a switch is from a port, 0 included, to another. */
void step_sl_to_vl(struct sa_request *request, uint64_t unit)
{
	struct endport port;
	uint64_t mask;
	unsigned last;

	if (!request_endport(request, unit, &port))
		return;
	last = endport_last_num(request->topology, &port);
	mask = components_not_of_port(request, &port,
				      COMPONENT(SL_TO_VL_INPUT_PORT_NUM) |
					      COMPONENT(SL_TO_VL_OUTPUT_PORT_NUM));
	for (unsigned out = port.num; out <= last; out++) {
		const struct port_tables *tables = tables_of(&port, out);
		unsigned inputs = port.at.sw >= 0 ? last + 1 : 1;

		for (unsigned in = 0; tables && in < inputs; in++) {
			unsigned place = tables->num_sl_to_vl == 1 ? 0 : in;
			struct sl_to_vl_record record;

			if (place >= tables->num_sl_to_vl)
				break;
			record.lid = port.lid;
			record.input_port_num = (uint8_t)in;
			record.output_port_num = (uint8_t)out;
			record.table = tables->sl_to_vl[place];
			request_offer(request, mask, &record);
		}
	}
}

void step_vl_arbitration(struct sa_request *request, uint64_t unit)
{
	struct endport port;

	if (!request_endport(request, unit, &port))
		return;
	for (unsigned num = port.num; num <= endport_last_num(request->topology, &port); num++) {
		const struct port_tables *tables = tables_of(&port, num);

		for (unsigned block = 0; tables && block < VLARB_BLOCKS; block++) {
			struct vl_arbitration_record record = {
				.lid = port.lid,
				.output_port_num = (uint8_t)num,
				.block_num = (uint8_t)(block + 1),
				.table = tables->vl_arbitration[block],
			};

			if (tables->vl_arbitration_known >> block & 1)
				request_offer(request,
					      components_not_of_port(
						      request, &port,
						      COMPONENT(VL_ARBITRATION_OUTPUT_PORT_NUM)),
					      &record);
		}
	}
}
