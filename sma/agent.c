/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The entry of the agent: a MAD arrives; for SMPs a table has the readers and writers of each
 * attribute; the same 256 bytes leave as the answer. This file also has the two attributes that are
 * read-only. Called by the code that moves MADs (sim/), on one thread.
 *
 * A status names the most specific fault (13.4.7). The faults are checked in this order: an
 * unsupported version, a method that no attribute has, an unsupported attribute (or method of it),
 * a value out of range.
 */
#include "sma/agent.h"

#include <string.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "mad/mad.h"
#include "sma/agent_parts.h"

_Static_assert(PERF_DATA_OFFSET == SMP_DATA_OFFSET, "the data of both classes is at one place");

enum {
	BASE_VERSION = 1,
	CLASS_VERSION = 1,
	STATUS_DIRECTION = 0x8000, /* the D bit of a directed answer */
	STATUS_OFFSET = 4,
	METHOD_OFFSET = 3,
	ATTR_MOD_OFFSET = 20,
};

/* NodeInfo, 14.2.5.3. LocalPortNum is the port through which the SMP arrived. */
static uint16_t node_info_get(struct agent_request *request)
{
	const struct device *device = request->device;
	const struct node_info info = {
		.base_version = BASE_VERSION,
		.class_version = CLASS_VERSION,
		.node_type = device->type,
		.num_ports = device->num_ports,
		.system_image_guid = device->system_image_guid,
		.node_guid = device->node_guid,
		.port_guid =
			device_guid(device_is_switch(device) ? &device->port[0] : request->in, 0),
		.partition_cap = device->p_keys_cap,
		.device_id = device->device_id,
		.local_port_num = request->in->num,
		.vendor_id = device->vendor_id,
	};

	format_encode(&node_info_format, &info, request->data);
	return STATUS_OK;
}

static uint16_t node_description_get(struct agent_request *request)
{
	memcpy(request->data, request->device->description.text, NODE_DESC_SIZE);
	return STATUS_OK;
}

/* The attributes of an agent: other attributes, and other methods of these, return
 * STATUS_UNSUP_METHOD_ATTR. SMInfo belongs to the manager on the node (14.4); if it reaches the
 * agent, there is no manager. */
static const struct row {
	uint16_t attr_id;
	bool switches_only;
	agent_fn *get, *set;
} rows[] = {
	{ATTR_NOTICE, false, notice_get, NULL},
	{ATTR_NODE_DESCRIPTION, false, node_description_get, NULL},
	{ATTR_NODE_INFO, false, node_info_get, NULL},
	{ATTR_SWITCH_INFO, true, switch_info_get, switch_info_set},
	{ATTR_GUID_INFO, false, guid_info_get, guid_info_set},
	{ATTR_PORT_INFO, false, port_info_get, port_info_set},
	{ATTR_PKEY_TABLE, false, p_key_get, p_key_set},
	{ATTR_SL_TO_VL, false, sl_to_vl_get, sl_to_vl_set},
	{ATTR_VL_ARBITRATION, false, vl_arbitration_get, vl_arbitration_set},
	{ATTR_LINEAR_FORWARDING_TABLE, true, lft_get, lft_set},
	{ATTR_MULTICAST_FORWARDING_TABLE, true, mft_get, mft_set},
	{ATTR_MLNX_EXT_PORT_INFO, false, ext_port_info_get, ext_port_info_set},
};

static const struct row *agent_row_find(const struct device *device, uint16_t attr_id)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].attr_id == attr_id)
			return rows[i].switches_only && !device_is_switch(device) ? NULL : &rows[i];
	}
	return NULL;
}

static uint16_t get(const struct row *row, struct agent_request *request)
{
	memset(request->data, 0, SMP_DATA_SIZE);
	return row->get(request);
}

static uint16_t agent_set(const struct row *row, struct agent_request *request)
{
	const struct device_events *events = request->device->events;
	bool is_table = row->attr_id == ATTR_LINEAR_FORWARDING_TABLE ||
			row->attr_id == ATTR_MULTICAST_FORWARDING_TABLE;
	bool refused = request->device->quirks.refuses_tables && is_table;
	uint16_t status = refused ? STATUS_UNSUP_METHOD_ATTR : row->set(request);

	if (status != STATUS_OK)
		return status;
	if (events->set)
		events->set(events->ctx, request->device, request->about, row->attr_id,
			    request->attr_mod);
	return get(row, request);
}

static uint16_t subn_answer(uint16_t attr_id, bool is_set, struct agent_request *request)
{
	const struct row *row = agent_row_find(request->device, attr_id);

	if (!row || (is_set && !row->set))
		return STATUS_UNSUP_METHOD_ATTR;
	return is_set ? agent_set(row, request) : get(row, request);
}

static uint16_t agent_answer(const struct mad_header *header, struct agent_request *request)
{
	bool is_set = header->method == METHOD_SET;

	if (header->base_version != BASE_VERSION || header->class_version != CLASS_VERSION)
		return STATUS_BAD_VERSION;
	if (!is_set && header->method != METHOD_GET)
		return STATUS_UNSUP_METHOD;
	return header->mgmt_class == CLASS_PERF ? perf_answer(header->attr_id, is_set, request)
						: subn_answer(header->attr_id, is_set, request);
}

static void invert(uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		data[i] = ~data[i];
}

/* Methods that are answers, or that expect none. */
static bool is_request(uint8_t method)
{
	return !(method & METHOD_RESPONSE) && method != METHOD_SEND && method != METHOD_TRAP &&
	       method != METHOD_TRAP_REPRESS;
}

static bool agent_is_ours(uint8_t mgmt_class)
{
	return mgmt_class == CLASS_SUBN_LID || mgmt_class == CLASS_SUBN_DIRECTED ||
	       mgmt_class == CLASS_PERF;
}

bool device_handle(struct device *device, uint8_t port, uint8_t mad[MAD_SIZE])
{
	struct agent_request request = {
		.device = device,
		.in = device_port(device, port),
		.data = mad + SMP_DATA_OFFSET,
	};
	struct mad_header header;
	uint16_t status;

	header_decode(mad, &header);
	if (device->quirks.silent || !request.in || !agent_is_ours(header.mgmt_class))
		return false;
	if (header.mgmt_class != CLASS_PERF && !m_key_admits(&request, &header, mad))
		return false;
	if (header.method == METHOD_TRAP_REPRESS && header.mgmt_class != CLASS_PERF)
		trap_repressed(device, request.in, mad);
	if (!is_request(header.method) ||
	    (device->quirks.mute_sets && header.method == METHOD_SET) ||
	    (device->quirks.mute_ports && header.method == METHOD_GET &&
	     header.attr_id == ATTR_PORT_INFO))
		return false;
	request.attr_mod = header.attr_mod;
	status = agent_answer(&header, &request);
	if (device->quirks.down_trains && header.method == METHOD_SET &&
	    request.in->info.port_state == PORT_DOWN)
		return false; /* its link is down now */
	if (device->quirks.garbage)
		invert(request.data,
		       header.mgmt_class == CLASS_PERF ? PERF_DATA_SIZE : SMP_DATA_SIZE);
	if (header.mgmt_class == CLASS_SUBN_DIRECTED)
		status |= STATUS_DIRECTION;
	if (device->quirks.clears_bit_31 && header.attr_id == ATTR_PORT_INFO)
		be32_store(mad + ATTR_MOD_OFFSET, header.attr_mod & ~PORT_INFO_EXTENDED_SPEEDS);
	mad[METHOD_OFFSET] =
		header.method == METHOD_SET ? METHOD_GET_RESP : header.method | METHOD_RESPONSE;
	be16_store(mad + STATUS_OFFSET, status);
	return true;
}
