/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A row for each setting that a port may refuse: refusals.h. */
#include "sm/program/refusals.h"

#include "lib/mem.h"

static bool port_info_differs(const struct port *port)
{
	return port->program.echo;
}

/* An entry whose values are 0 was accepted later. */
static bool pkeys_differ(const struct port *port)
{
	for (const struct pkeys_echo *echo = port->partition.echo; echo; echo = echo->next)
		if (echo->held[0] || echo->held[1])
			return true;
	return false;
}

static bool refuses_guids(const struct port *port)
{
	return port->refuses & PORT_REFUSES_SET_GUIDS;
}

static bool refuses_forced(const struct port *port)
{
	return port->refuses & PORT_REFUSES_FORCED;
}

static bool refuses_ext_info(const struct port *port)
{
	return port->refuses & PORT_REFUSES_SET_EXT_INFO;
}

static const struct switch_state *refusal_switch_of(const struct port *port)
{
	return port->num ? NULL : port->node->sw;
}

static bool keeps_life_time(const struct port *port)
{
	return refusal_switch_of(port) &&
	       refusal_switch_of(port)->life_wanted != refusal_switch_of(port)->life_held;
}

static bool keeps_default_ports(const struct port *port)
{
	return refusal_switch_of(port) && refusal_switch_of(port)->keeps_default_ports;
}

static bool refuses_multicast_top(const struct port *port)
{
	return refusal_switch_of(port) && refusal_switch_of(port)->mft &&
	       refusal_switch_of(port)->mft->topless;
}

static const struct {
	bool (*is_so)(const struct port *port);
	const char *what;
} rows[] = {
	{port_info_differs, "PortInfo"},
	{pkeys_differ, "P_KeyTable"},
	{refuses_guids, "GUIDInfo (alias GUIDs)"},
	{refuses_forced, "forced speed or width"},
	{refuses_ext_info, "ExtendedPortInfo (FDR10)"},
	{keeps_life_time, "SwitchInfo:LifeTimeValue"},
	{keeps_default_ports, "SwitchInfo (default multicast ports)"},
	{refuses_multicast_top, "SwitchInfo:MulticastFDBTop"},
};

const char *refusal_of(const struct port *port)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].is_so(port))
			return rows[i].what;
	return NULL;
}
