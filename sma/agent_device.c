/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The state of a device. This file creates it from a config, keeps the part that is in ROM, and
 * resets the other parts. It also changes the few values that programs of its node set. Called by
 * the owner of the device, on one thread.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "mad/notice.h"
#include "sma/agent.h"
#include "sma/agent_parts.h"

enum {
	USUAL_LFT_CAP = LID_UNICAST_MAX + 1,
	USUAL_MFT_CAP = 1024,
	MFT_CAP_MAX = LID_MULTICAST_MAX - LID_MULTICAST_MIN + 1,
	USUAL_P_KEYS = 128,
	USUAL_SWITCH_P_KEYS = 32,
	USUAL_MTU = 5, /* 4096 bytes, the maximum */
	MTU_MAX = USUAL_MTU,
	USUAL_VLS = 4,	     /* VL0-7 */
	VLS_MAX = 5,	     /* VL0-14 */
	USUAL_WIDTH = 3,     /* 1x, 4x */
	USUAL_SPEED = 7,     /* SDR, DDR, QDR */
	USUAL_SPEED_EXT = 3, /* FDR, EDR */
	VL_ARBITRATION_ENTRIES = 8,
	ADAPTER_GUIDS = 32,
	ENHANCED_PORT0_GUIDS = 8,
};

/* A bit of PortInfo:CapabilityMask without a name in iba.h. */
enum {
	CAP_SL_MAPPING = 1 << 6,
	CAP_SYSTEM_IMAGE_GUID = 1 << 11,
	CAP_P_KEY_SWITCH_TRAP = 1 << 12,
	CAP_CAPABILITY_MASK_NOTICE = 1 << 22,
	CAP_OTHER_LOCAL_CHANGES_NOTICE = 1 << 26,
};

static unsigned or_usual(unsigned value, unsigned usual)
{
	return value ? value : usual;
}

static unsigned at_most(unsigned value, unsigned limit)
{
	return value < limit ? value : limit;
}

static uint32_t capabilities(const struct device_port *port)
{
	uint32_t mask = CAP_IS_NOTICE | CAP_IS_TRAP | CAP_SL_MAPPING | CAP_SYSTEM_IMAGE_GUID |
			CAP_EXTENDED_SPEEDS | CAP_CAPABILITY_MASK_NOTICE | CAP_CLIENT_REREGISTER |
			CAP_OTHER_LOCAL_CHANGES_NOTICE;

	if (!device_port_is_end(port))
		return 0;
	if (!device_is_switch(port->device))
		return mask;
	return mask | CAP_P_KEY_SWITCH_TRAP | CAP_MULTICAST_FDB_TOP;
}

static uint8_t guid_cap(const struct device_port *port)
{
	if (!device_port_is_end(port))
		return 0;
	if (!device_is_switch(port->device))
		return ADAPTER_GUIDS;
	return port->device->sw.enhanced_port0 ? ENHANCED_PORT0_GUIDS : 1;
}

static void port_init(struct device_port *port, struct device *device, unsigned num,
		      const struct device_config *config)
{
	port->device = device;
	port->num = num;
	port->info = (struct port_info){
		.capability_mask = capabilities(port),
		.link_width_supported = or_usual(config->width_supported, USUAL_WIDTH),
		.link_speed_supported = or_usual(config->speed_supported, USUAL_SPEED),
		.link_speed_ext_supported = or_usual(config->speed_ext_supported, USUAL_SPEED_EXT),
		.mtu_cap = at_most(or_usual(config->mtu_cap, USUAL_MTU), MTU_MAX),
		.vl_cap = at_most(or_usual(config->vl_cap, USUAL_VLS), VLS_MAX),
		.vl_arbitration_high_cap = VL_ARBITRATION_ENTRIES,
		.vl_arbitration_low_cap = VL_ARBITRATION_ENTRIES,
		.guid_cap = guid_cap(port),
	};
	port->guid = device_is_switch(device) ? config->port_guid : config->port_guid + num - 1;
	port_reset(port);
}

static void switch_init(struct device *device, const struct device_config *config)
{
	device->sw = (struct switch_info){
		.linear_fdb_cap = at_most(or_usual(config->lft_cap, USUAL_LFT_CAP), USUAL_LFT_CAP),
		.multicast_fdb_cap = at_most(or_usual(config->mft_cap, USUAL_MFT_CAP), MFT_CAP_MAX),
		.optimized_sl_to_vl = 1,
		.partition_enforcement_cap = or_usual(config->switch_pkeys, USUAL_SWITCH_P_KEYS),
		.inbound_enforcement_cap = 1,
		.outbound_enforcement_cap = 1,
		.filter_raw_inbound_cap = 1,
		.filter_raw_outbound_cap = 1,
		.enhanced_port0 = config->enhanced_port0,
	};
	switch_reset(device);
}

static void description_set(struct device *device, const char *text)
{
	memset(&device->description, 0, sizeof(device->description));
	memcpy(device->description.text, text, strnlen(text, NODE_DESC_SIZE));
}

struct device *device_new(const struct device_config *config, const struct device_events *events)
{
	unsigned ports = at_most(config->num_ports, PORT_MAX);
	struct device *device = mem_zalloc(sizeof(*device) + (ports + 1) * sizeof(device->port[0]));

	device->events = events;
	device->type = config->type;
	device->num_ports = ports;
	device->device_id = config->device_id;
	device->vendor_id = config->vendor_id;
	device->node_guid = config->node_guid;
	device->system_image_guid = config->system_image_guid;
	device->p_keys_cap = or_usual(config->pkeys, USUAL_P_KEYS);
	description_set(device, config->description ? config->description : "");
	if (device_is_switch(device))
		switch_init(device, config);
	for (unsigned num = 0; num <= ports; num++)
		port_init(&device->port[num], device, num, config);
	return device;
}

void device_free(struct device *device)
{
	if (!device)
		return;
	for (unsigned num = 0; num <= device->num_ports; num++) {
		device_uncable(&device->port[num]);
		port_reset(&device->port[num]);
	}
	switch_reset(device);
	free(device);
}

/* All links go down before the first trains again: so each far end sees one event. */
void device_reboot(struct device *device)
{
	for (unsigned num = 1; num <= device->num_ports; num++)
		link_drop(&device->port[num]);
	switch_reset(device);
	for (unsigned num = 0; num <= device->num_ports; num++)
		port_reset(&device->port[num]);
	for (unsigned num = 1; num <= device->num_ports; num++)
		link_try(&device->port[num]);
}

void device_power(struct device *device, bool on)
{
	device->off = !on;
	device_reboot(device);
}

/* Values that programs on the node change */

static void device_raise_traps(struct device *device, enum trap_kind kind, uint16_t local_changes)
{
	for (unsigned num = 0; num <= device->num_ports; num++) {
		struct device_port *port = device_port(device, num);

		if (port && device_port_is_end(port))
			trap_raise(port, kind, local_changes);
	}
}

void device_set_capabilities(struct device_port *port, uint32_t set, uint32_t clear)
{
	uint32_t mask =
		(port->info.capability_mask | (set & CAPS_OF_HOST)) & ~(clear & CAPS_OF_HOST);

	if (mask == port->info.capability_mask || !device_port_is_end(port))
		return;
	port->info.capability_mask = mask;
	trap_raise(port, TRAP_KIND_LOCAL_CHANGES, 0);
}

void device_set_issm(struct device_port *port, bool on)
{
	device_set_capabilities(port, on ? CAP_IS_SM : 0, on ? 0 : CAP_IS_SM);
}

void device_set_description(struct device *device, const char *text)
{
	description_set(device, text);
	device_raise_traps(device, TRAP_KIND_LOCAL_CHANGES, CHANGE_NODE_DESCRIPTION);
}

void device_set_system_image_guid(struct device *device, guid_t guid)
{
	device->system_image_guid = guid;
	device_raise_traps(device, TRAP_KIND_SYSTEM_IMAGE, 0);
}
