/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The tables of a port: P_Keys (14.2.5.7), GUIDs (14.2.5.5), service levels to virtual lanes
 * (14.2.5.8) and the arbitration of these (14.2.5.9). Each is kept in its wire form from the first
 * Set() on. Before that it has the values of a reset, and uses no memory. Called from the table of
 * attributes.
 *
 * At a switch, the modifier of the attribute has the port; at an adapter it is the port through
 * which the SMP arrived.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "sma/agent.h"
#include "sma/agent_parts.h"

enum { SLS = 16, SL_TO_VL_SIZE = SLS / 2 };

void tables_reset(struct device_port *port)
{
	free(port->p_keys);
	free(port->guids);
	free(port->sl_to_vl);
	free(port->vl_arbitration);
	port->p_keys = port->guids = port->sl_to_vl = port->vl_arbitration = NULL;
}

static struct device_port *port_meant(const struct agent_request *request, unsigned port)
{
	return device_is_switch(request->device) ? device_port(request->device, port) : request->in;
}

/* P_Keys: the modifier is the port and the block. */

unsigned device_p_key_cap(const struct device_port *port)
{
	return device_port_is_end(port) ? port->device->p_keys_cap
					: port->device->sw.partition_enforcement_cap;
}

pkey_t device_p_key(const struct device_port *port, unsigned index)
{
	if (port->p_keys && index < device_p_key_cap(port))
		return be16_load(port->p_keys + sizeof(pkey_t) * index);
	return index ? 0 : PKEY_DEFAULT_FULL;
}

static struct device_port *p_key_port(const struct agent_request *request, unsigned *block)
{
	struct device_port *port = port_meant(request, request->attr_mod >> 16);

	*block = request->attr_mod & 0xFFFF;
	return port && *block < table_blocks(device_p_key_cap(port), PKEY_BLOCK_KEYS) ? port : NULL;
}

uint16_t p_key_get(struct agent_request *request)
{
	unsigned block;
	const struct device_port *port = p_key_port(request, &block);

	if (!port || request->device->quirks.hides_p_keys)
		return STATUS_INVALID_VALUE;
	for (unsigned i = 0; i < PKEY_BLOCK_KEYS; i++)
		be16_store(request->data + sizeof(pkey_t) * i,
			   device_p_key(port, block * PKEY_BLOCK_KEYS + i));
	return STATUS_OK;
}

/* Keys beyond the size of the table are dropped, as the answer shows. */
uint16_t p_key_set(struct agent_request *request)
{
	unsigned block;
	struct device_port *port = p_key_port(request, &block);

	if (!port)
		return STATUS_INVALID_VALUE;
	if (!port->p_keys) {
		port->p_keys = mem_array(table_blocks(device_p_key_cap(port), PKEY_BLOCK_KEYS),
					 SMP_DATA_SIZE);
		be16_store(port->p_keys, PKEY_DEFAULT_FULL);
	}
	if (block >= 8 || !(request->device->quirks.keeps_p_keys >> block & 1))
		memcpy(port->p_keys + block * SMP_DATA_SIZE, request->data, SMP_DATA_SIZE);
	request->about = port->num;
	return STATUS_OK;
}

/* GUIDs: the modifier is the block. The first GUID is the port's own and cannot be set. */

guid_t device_guid(const struct device_port *port, unsigned index)
{
	if (!index)
		return port->guid;
	return port->guids && index < port->info.guid_cap
		       ? be64_load(port->guids + sizeof(guid_t) * index)
		       : 0;
}

static struct device_port *guid_port(const struct agent_request *request)
{
	struct device_port *port = port_meant(request, 0);

	return request->attr_mod < table_blocks(port->info.guid_cap, GUID_BLOCK_GUIDS) ? port
										       : NULL;
}

uint16_t guid_info_get(struct agent_request *request)
{
	const struct device_port *port = guid_port(request);

	if (!port)
		return STATUS_INVALID_VALUE;
	for (unsigned i = 0; i < GUID_BLOCK_GUIDS; i++)
		be64_store(request->data + sizeof(guid_t) * i,
			   device_guid(port, request->attr_mod * GUID_BLOCK_GUIDS + i));
	return STATUS_OK;
}

uint16_t guid_info_set(struct agent_request *request)
{
	struct device_port *port = guid_port(request);

	if (!port)
		return STATUS_INVALID_VALUE;
	if (!port->guids)
		port->guids = mem_array(table_blocks(port->info.guid_cap, GUID_BLOCK_GUIDS),
					SMP_DATA_SIZE);
	memcpy(port->guids + request->attr_mod * SMP_DATA_SIZE, request->data, SMP_DATA_SIZE);
	request->about = port->num;
	return STATUS_OK;
}

/*
 * SLtoVL: at a switch the modifier is an output and an input port, each with a bit for all ports
 * (OptimizedSLtoVLMappingProgramming). A Get() of all shows the first. The table of an output port
 * has a row for each input port; an adapter's has one row.
 */

enum {
	SL_TO_VL_ALL_OUT = 1 << 16,
	SL_TO_VL_ALL_IN = 1 << 17,
	SL_TO_VL_KNOWN = 0x3FFFF,
};

struct range {
	unsigned first, last;
};

/* The ports of the modifier; false: there is no such port. A Set() needs an output port with a
 * link; the table of a base port 0 can be read, because tools read it. */
static bool sl_to_vl_ranges(const struct agent_request *request, bool is_set, struct range *out,
			    struct range *in)
{
	const struct device *device = request->device;
	unsigned last = device->num_ports, first = device->sw.enhanced_port0 ? 0 : 1;

	if (!device_is_switch(device)) {
		*out = (struct range){request->in->num, request->in->num};
		*in = (struct range){0, 0};
		return true;
	}
	out->first = out->last = request->attr_mod & 0xFF;
	in->first = in->last = request->attr_mod >> 8 & 0xFF;
	if (request->attr_mod & SL_TO_VL_ALL_OUT)
		*out = (struct range){first, last};
	if (request->attr_mod & SL_TO_VL_ALL_IN)
		*in = (struct range){0, last};
	return request->attr_mod <= SL_TO_VL_KNOWN && (!is_set || out->first >= first) &&
	       out->last <= last && in->last <= last;
}

static unsigned device_sl_to_vl_rows(const struct device *device)
{
	return device_is_switch(device) ? device->num_ports + 1 : 1;
}

/* After a reset the SLs are distributed over the VLs in turn. */
static void sl_to_vl_default(const struct device_port *port, uint8_t row[SL_TO_VL_SIZE])
{
	unsigned vls = vls_of(port->info.vl_cap);

	for (unsigned i = 0; i < SL_TO_VL_SIZE; i++)
		row[i] = 2 * i % vls << 4 | (2 * i + 1) % vls;
}

static void sl_to_vl_row(const struct device_port *out, unsigned in, uint8_t row[SL_TO_VL_SIZE])
{
	if (out->sl_to_vl)
		memcpy(row, out->sl_to_vl + in * SL_TO_VL_SIZE, SL_TO_VL_SIZE);
	else
		sl_to_vl_default(out, row);
}

static void sl_to_vl_put(struct device_port *out, struct range in, const uint8_t *row)
{
	unsigned rows = device_sl_to_vl_rows(out->device);

	if (!out->sl_to_vl) {
		out->sl_to_vl = mem_array(rows, SL_TO_VL_SIZE);
		for (unsigned i = 0; i < rows; i++)
			sl_to_vl_default(out, out->sl_to_vl + i * SL_TO_VL_SIZE);
	}
	for (unsigned i = in.first; i <= in.last; i++)
		memcpy(out->sl_to_vl + i * SL_TO_VL_SIZE, row, SL_TO_VL_SIZE);
}

uint16_t sl_to_vl_get(struct agent_request *request)
{
	struct range out, in;

	if (!sl_to_vl_ranges(request, false, &out, &in))
		return STATUS_INVALID_VALUE;
	sl_to_vl_row(&request->device->port[out.first], in.first, request->data);
	return STATUS_OK;
}

uint16_t sl_to_vl_set(struct agent_request *request)
{
	struct range out, in;

	if (!sl_to_vl_ranges(request, true, &out, &in))
		return STATUS_INVALID_VALUE;
	for (unsigned port = out.first; port <= out.last; port++)
		sl_to_vl_put(&request->device->port[port], in, request->data);
	request->about = out.first == out.last ? out.first : 0;
	return STATUS_OK;
}

uint8_t device_sl_to_vl(const struct device *device, uint8_t in_port, uint8_t out_port, uint8_t sl)
{
	const struct device_port *out;
	uint8_t pair;

	if (out_port > device->num_ports || in_port > device->num_ports || sl >= SLS)
		return 0;
	out = &device->port[out_port];
	if (!out->sl_to_vl)
		return sl % vls_of(out->info.vl_cap);
	pair = out->sl_to_vl[(device_is_switch(device) ? in_port : 0) * SL_TO_VL_SIZE + sl / 2];
	return sl & 1 ? pair & 0xF : pair >> 4;
}

/*
 * VL arbitration: the modifier is the block and, at a switch, the port. Blocks 1 and 2 are the two
 * halves of the low table, 3 and 4 of the high one; our tables are shorter than a half.
 */

enum { VL_ARBITRATION_LOW = 1, VL_ARBITRATION_HIGH = 3, VL_ENTRY_SIZE = 2, VL_MANAGEMENT = 15 };

/* The port and the offset of its block; NULL: there is no such block. */
static struct device_port *vl_arbitration_port(const struct agent_request *request, size_t *place,
					       size_t *size)
{
	struct device_port *port = port_meant(request, request->attr_mod & 0xFFFF);
	unsigned block = request->attr_mod >> 16;
	bool high = block == VL_ARBITRATION_HIGH;

	if (!port || !port->num || (block != VL_ARBITRATION_LOW && !high))
		return NULL;
	*place = high ? port->info.vl_arbitration_low_cap * VL_ENTRY_SIZE : 0;
	*size = VL_ENTRY_SIZE *
		(high ? port->info.vl_arbitration_high_cap : port->info.vl_arbitration_low_cap);
	return port;
}

uint16_t vl_arbitration_get(struct agent_request *request)
{
	size_t place, size;
	const struct device_port *port = vl_arbitration_port(request, &place, &size);

	if (!port)
		return STATUS_INVALID_VALUE;
	if (port->vl_arbitration)
		memcpy(request->data, port->vl_arbitration + place, size);
	return STATUS_OK;
}

/* VL15 needs no entry. Entries of unused VLs are skipped, which is no error. */
static bool vls_are_good(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i += VL_ENTRY_SIZE) {
		if ((data[i] & 0xF) == VL_MANAGEMENT)
			return false;
	}
	return true;
}

uint16_t vl_arbitration_set(struct agent_request *request)
{
	size_t place, size;
	struct device_port *port = vl_arbitration_port(request, &place, &size);

	if (!port || !vls_are_good(request->data, size))
		return STATUS_INVALID_VALUE;
	if (!port->vl_arbitration)
		port->vl_arbitration = mem_array(port->info.vl_arbitration_low_cap +
							 port->info.vl_arbitration_high_cap,
						 VL_ENTRY_SIZE);
	memcpy(port->vl_arbitration + place, request->data, size);
	request->about = port->num;
	return STATUS_OK;
}
