/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Mellanox ExtendedPortInfo (0xFF90) for FDR10, of the devices for which OpenSM uses it. Its other
 * bytes hold the values written to them.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "sma/agent.h"
#include "sma/agent_parts.h"

static struct device_port *ext_addressed_port(const struct agent_request *request)
{
	const struct node_info info = {.device_id = request->device->device_id,
				       .vendor_id = request->device->vendor_id};

	if (!node_has_ext_port_info(&info) || request->device->quirks.no_ext_port_info)
		return NULL;
	if (!request->attr_mod && !device_is_switch(request->device))
		return request->in;
	return device_port(request->device, request->attr_mod);
}

uint16_t ext_port_info_get(struct agent_request *request)
{
	const struct device_port *port = ext_addressed_port(request);

	if (!port)
		return STATUS_UNSUP_METHOD_ATTR;
	if (port->ext_data)
		memcpy(request->data, port->ext_data, SMP_DATA_SIZE);
	format_encode(&ext_port_info_format, &port->ext, request->data);
	return STATUS_OK;
}

uint16_t ext_port_info_set(struct agent_request *request)
{
	struct device_port *port = ext_addressed_port(request);
	struct ext_port_info asked;

	if (!port)
		return STATUS_UNSUP_METHOD_ATTR;
	attr_decode(&ext_port_info_format, request->data, &asked);
	if (asked.state_change_enable && asked.link_speed_enabled & ~port->ext.link_speed_supported)
		return STATUS_INVALID_VALUE;
	request->about = port->num;
	if (!port->ext_data)
		port->ext_data = mem_alloc(SMP_DATA_SIZE);
	memcpy(port->ext_data, request->data, SMP_DATA_SIZE);
	if (asked.state_change_enable && !request->device->quirks.keeps_fdr10)
		port->ext.link_speed_enabled = asked.link_speed_enabled;
	return STATUS_OK;
}

void ext_port_info_reset(struct device_port *port)
{
	free(port->ext_data);
	port->ext_data = NULL;
	port->ext.link_speed_enabled = port->ext.link_speed_supported;
	port->ext.link_speed_active = 0;
}

void device_port_fdr10(struct device_port *port)
{
	port->ext.link_speed_supported = port->ext.link_speed_enabled = MLNX_FDR10;
}
