/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Attributes of switches: SwitchInfo (14.2.5.4), the linear forwarding table of unicast LIDs
 * (14.2.5.10) and the masks of multicast LIDs (14.2.5.12). Called from the table of attributes, and
 * by the code that moves packets. That code looks up a LID for each hop, so the unicast table is
 * one array. It grows to the highest block that was written; LIDs in unwritten blocks have no port.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "sma/agent.h"
#include "sma/agent_parts.h"

enum {
	MFT_BLOCK_MASK = 0x1FF,
	MFT_POSITION_SHIFT = 28,
	MFT_NOTHING_TOP = LID_MULTICAST_MIN - 1,
};

uint16_t switch_info_get(struct agent_request *request)
{
	format_encode(&switch_info_format, &request->device->sw, request->data);
	return STATUS_OK;
}

static bool is_port_or_none(const struct device *device, uint8_t port)
{
	return port <= device->num_ports || port == LFT_NO_PORT;
}

/* As in PortInfo: an unchanged value is always valid. */
static bool is_default(const struct device *device, uint8_t held, uint8_t asked)
{
	return asked == held || (is_port_or_none(device, asked) &&
				 !(asked == LFT_NO_PORT && device->quirks.refuses_no_port));
}

/* As in PortInfo: an unchanged top is always valid. */
static bool tops_are_good(const struct device *device, const struct switch_info *asked)
{
	const struct switch_info *sw = &device->sw;
	bool may_stay = !device->quirks.refuses_wild_top;
	unsigned multicast_end = LID_MULTICAST_MIN + sw->multicast_fdb_cap;

	return ((asked->linear_fdb_top == sw->linear_fdb_top && may_stay) ||
		asked->linear_fdb_top < sw->linear_fdb_cap) &&
	       (asked->multicast_fdb_top == sw->multicast_fdb_top ||
		(asked->multicast_fdb_top >= MFT_NOTHING_TOP &&
		 asked->multicast_fdb_top < multicast_end));
}

uint16_t switch_info_set(struct agent_request *request)
{
	struct device *device = request->device;
	struct switch_info *sw = &device->sw;
	uint8_t life_time_max = device->quirks.life_time_max;
	struct switch_info asked;

	attr_decode(&switch_info_format, request->data, &asked);
	if (request->attr_mod || !tops_are_good(device, &asked) ||
	    !is_port_or_none(device, asked.default_port) ||
	    !is_default(device, sw->default_multicast_primary_port,
			asked.default_multicast_primary_port) ||
	    !is_default(device, sw->default_multicast_not_primary_port,
			asked.default_multicast_not_primary_port))
		return STATUS_INVALID_VALUE;
	sw->linear_fdb_top = asked.linear_fdb_top;
	sw->multicast_fdb_top = asked.multicast_fdb_top;
	sw->default_port = asked.default_port;
	if (!device->quirks.keeps_default_ports) {
		sw->default_multicast_primary_port = asked.default_multicast_primary_port;
		sw->default_multicast_not_primary_port = asked.default_multicast_not_primary_port;
	}
	sw->life_time_value = asked.life_time_value;
	if (life_time_max && sw->life_time_value > life_time_max)
		sw->life_time_value = life_time_max;
	if (asked.port_state_change)
		sw->port_state_change = 0;
	return STATUS_OK;
}

void switch_reset(struct device *device)
{
	struct switch_info *sw = &device->sw;

	sw->linear_fdb_top = device->quirks.wild_top ? UINT16_MAX : 0;
	sw->multicast_fdb_top = 0;
	sw->default_port = 0;
	sw->default_multicast_primary_port = sw->default_multicast_not_primary_port = 0;
	sw->life_time_value = 0;
	sw->port_state_change = 0;
	free(device->lft);
	free(device->mft);
	device->lft = device->mft = NULL;
	device->lft_size = 0;
}

/* Unicast: the modifier is the block. */

static unsigned lft_blocks(const struct device *device)
{
	return table_blocks(device->sw.linear_fdb_cap, LFT_BLOCK_LIDS);
}

uint16_t lft_get(struct agent_request *request)
{
	const struct device *device = request->device;
	size_t first = (size_t)request->attr_mod * LFT_BLOCK_LIDS;

	if (request->attr_mod >= lft_blocks(device))
		return STATUS_INVALID_VALUE;
	if (first < device->lft_size)
		memcpy(request->data, device->lft + first, LFT_BLOCK_LIDS);
	else
		memset(request->data, LFT_NO_PORT, LFT_BLOCK_LIDS);
	return STATUS_OK;
}

static void lft_grow(struct device *device, uint32_t need)
{
	uint32_t size = 2 * device->lft_size, most = lft_blocks(device) * LFT_BLOCK_LIDS;

	if (need <= device->lft_size)
		return;
	if (size < need)
		size = need;
	if (size > most)
		size = most;
	device->lft = mem_resize(device->lft, size, 1);
	memset(device->lft + device->lft_size, LFT_NO_PORT, size - device->lft_size);
	device->lft_size = size;
}

uint16_t lft_set(struct agent_request *request)
{
	struct device *device = request->device;
	uint32_t block = request->attr_mod;

	if (block >= lft_blocks(device))
		return STATUS_INVALID_VALUE;
	lft_grow(device, (block + 1) * LFT_BLOCK_LIDS);
	memcpy(device->lft + block * LFT_BLOCK_LIDS, request->data, LFT_BLOCK_LIDS);
	return STATUS_OK;
}

/* Multicast: the modifier is the block and, in its top bits, the position of 16 ports. */

static size_t mft_position_bytes(const struct device *device)
{
	return (size_t)table_blocks(device->sw.multicast_fdb_cap, MFT_BLOCK_LIDS) * SMP_DATA_SIZE;
}

static unsigned mft_positions(const struct device *device)
{
	return device->num_ports / MFT_POSITION_PORTS + 1;
}

/* The place in the table of the modifier's block; false: there is no such block. */
static bool mft_place(const struct agent_request *request, size_t *place)
{
	const struct device *device = request->device;
	uint32_t block = request->attr_mod & MFT_BLOCK_MASK;
	uint32_t position = request->attr_mod >> MFT_POSITION_SHIFT;

	if (request->attr_mod != (position << MFT_POSITION_SHIFT | block) ||
	    position >= mft_positions(device) ||
	    block >= table_blocks(device->sw.multicast_fdb_cap, MFT_BLOCK_LIDS))
		return false;
	*place = position * mft_position_bytes(device) + block * SMP_DATA_SIZE;
	return true;
}

uint16_t mft_get(struct agent_request *request)
{
	size_t place;

	if (!mft_place(request, &place))
		return STATUS_INVALID_VALUE;
	if (request->device->mft)
		memcpy(request->data, request->device->mft + place, SMP_DATA_SIZE);
	return STATUS_OK;
}

uint16_t mft_set(struct agent_request *request)
{
	struct device *device = request->device;
	size_t place;

	if (!mft_place(request, &place))
		return STATUS_INVALID_VALUE;
	if (!device->mft)
		device->mft = mem_array(mft_positions(device), mft_position_bytes(device));
	memcpy(device->mft + place, request->data, SMP_DATA_SIZE);
	return STATUS_OK;
}

/* A top of 0 was never set: then the whole table is in force. */
static bool mft_covers(const struct device *device, lid_t mlid)
{
	const struct switch_info *sw = &device->sw;

	return mlid >= LID_MULTICAST_MIN && mlid - LID_MULTICAST_MIN < sw->multicast_fdb_cap &&
	       (!sw->multicast_fdb_top || mlid <= sw->multicast_fdb_top);
}

bool device_mft_has(const struct device *device, lid_t mlid, uint8_t port)
{
	size_t place;

	if (!device->mft || port > device->num_ports || !mft_covers(device, mlid))
		return false;
	place = port / MFT_POSITION_PORTS * mft_position_bytes(device) +
		sizeof(uint16_t) * (mlid - LID_MULTICAST_MIN);
	return be16_load(device->mft + place) >> port % MFT_POSITION_PORTS & 1;
}

bool device_mft_spreads(const struct device *device, lid_t mlid, uint8_t port)
{
	const struct switch_info *sw = &device->sw;

	if (mft_covers(device, mlid))
		return device_mft_has(device, mlid, port);
	return port && port <= device->num_ports &&
	       (port == sw->default_multicast_primary_port ||
		port == sw->default_multicast_not_primary_port);
}

/* Packets to MLIDs without an entry go to the default port, and those from there to the other
 * default port; never back (14.2.5.4, 18.2.4.3.3). A default of 0, as after a reset, drops them: no
 * QP of the switch itself is attached to a group without an entry. */
bool device_mft_forwards(const struct device *device, lid_t mlid, uint8_t in, uint8_t out)
{
	const struct switch_info *sw = &device->sw;

	if (in == out)
		return false;
	if (mft_covers(device, mlid))
		return device_mft_has(device, mlid, out);
	return out && out == (in == sw->default_multicast_primary_port
				      ? sw->default_multicast_not_primary_port
				      : sw->default_multicast_primary_port);
}
