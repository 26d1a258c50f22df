/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * OpenSM's dumps (dump.h), in the layout that ibdm's Fabric.cpp parses: single blanks, hexadecimal
 * without 0x in the list of links, no closing brace in a description.
 */
#include "route/dump.h"

#include <inttypes.h>
#include <string.h>

#include "lib/mem.h"

/* One end of a link. */
struct side {
	const char *type;
	const struct node_facts *facts; /* NULL: only GUIDs are known */
	guid_t node, port_guid;
	unsigned ports, port;
	lid_t lid;
};

static struct side switch_side(const struct snapshot *snapshot, uint32_t s, unsigned port)
{
	const struct snap_switch *sw = &snapshot->switches[s];

	return (struct side){"SW", sw->facts, sw->guid, sw->guid, sw->num_ports, port, sw->lid};
}

static struct side end_side(const struct snapshot *snapshot, uint32_t e)
{
	const struct snap_end *end = &snapshot->ends[e];

	return (struct side){"CA",
			     end->facts,
			     end->facts ? end->facts->info.node_guid : end->guid,
			     end->guid,
			     end->facts ? end->facts->info.num_ports : end->port,
			     end->port,
			     end->lid};
}

static void print_description(const struct side *side, FILE *stream)
{
	const char *text = side->facts ? side->facts->description : "";

	if (!*text)
		fprintf(stream, "%s %016" PRIx64, side->type, side->node);
	for (; *text; text++)
		fputc(*text == '}' || *text == '{' ? '_' : *text, stream);
}

static void print_side(const struct side *side, FILE *stream)
{
	struct node_info none = {0};
	const struct node_info *info = side->facts ? &side->facts->info : &none;

	fprintf(stream,
		"{ %s Ports:%02x SystemGUID:%016" PRIx64 " NodeGUID:%016" PRIx64
		" PortGUID:%016" PRIx64 " VenID:%06X DevID:%04X Rev:%08X {",
		side->type, side->ports,
		info->system_image_guid ? info->system_image_guid : side->node, side->node,
		side->port_guid, info->vendor_id, info->device_id, info->revision);
	print_description(side, stream);
	fprintf(stream, "} LID:%04X PN:%02X }", side->lid, side->port);
}

/* A link as its near end reported it; an unread port counts as healthy. */
static void dump_print_rate(const struct side *near, FILE *stream)
{
	static const char *const widths[] = {"1x", "4x", "8x", "12x", "2x"};
	static const char *const speeds[] = {"2.5", "5", "10"}, *const extended[] = {"14", "25",
										     "50", "100"};
	static const char *const states[] = {
		[PORT_INIT] = "INI", [PORT_ARMED] = "ARM", [PORT_ACTIVE] = "ACT"};
	const struct port_info *info = near->facts ? &near->facts->port[near->port].info : NULL;
	const char *width = "4x", *speed = "10", *state = "ACT";

	for (unsigned i = 0; info && i < ARRAY_SIZE(widths); i++)
		width = info->link_width_active >> i & 1 ? widths[i] : width;
	for (unsigned i = 0; info && i < ARRAY_SIZE(speeds); i++)
		speed = info->link_speed_active >> i & 1 ? speeds[i] : speed;
	for (unsigned i = 0; info && i < ARRAY_SIZE(extended); i++)
		speed = info->link_speed_ext_active >> i & 1 ? extended[i] : speed;
	if (info && info->port_state >= PORT_INIT && info->port_state <= PORT_ACTIVE)
		state = states[info->port_state];
	fprintf(stream, " PHY=%s LOG=%s SPD=%s\n", width, state, speed);
}

static void print_link(struct side from, struct side to, FILE *stream)
{
	print_side(&from, stream);
	fputc(' ', stream);
	print_side(&to, stream);
	dump_print_rate(&from, stream);
}

void route_dump_links(const struct snapshot *snapshot, uint32_t s, FILE *stream)
{
	for (unsigned p = 1; p <= snapshot->switches[s].num_ports; p++) {
		const struct snap_link *link = snap_link(snapshot, s, (uint8_t)p);
		struct side near = switch_side(snapshot, s, p);

		if (link->sw >= 0) {
			print_link(near, switch_side(snapshot, (uint32_t)link->sw, link->port),
				   stream);
		} else if (link->end >= 0) {
			struct side far = end_side(snapshot, (uint32_t)link->end);

			print_link(near, far, stream);
			print_link(far, near, stream);
		}
	}
}

/* As OpenSM counts: links, so that a switch has 0 to itself, and 1 to its hosts. Also 0 if the
 * tables do not lead there. */
static unsigned hops_to(const struct snapshot *snapshot, const struct routes *routes, uint32_t s,
			lid_t lid)
{
	struct snap_owner owner = snap_owner(snapshot, lid);

	for (unsigned hops = 0; hops < snapshot->num_switches; hops++) {
		uint8_t port = lft_port(routes->lft[s], lid);
		const struct snap_link *link;

		if (port == 0 || port > snapshot->switches[s].num_ports)
			return port == 0 && owner.sw == (int32_t)s ? hops : 0;
		link = snap_link(snapshot, s, port);
		if (link->sw < 0)
			return link->end >= 0 && link->end == owner.end ? hops + 1 : 0;
		s = (uint32_t)link->sw;
	}
	return 0;
}

static void put_digits(char *at, unsigned count, unsigned base, unsigned value)
{
	while (count--) {
		at[count] = "0123456789ABCDEF"[value % base];
		value /= base;
	}
}

/* There are millions of these lines: printf() would take longer than the rest. */
static void print_entry(unsigned lid, uint8_t port, unsigned hops, FILE *stream)
{
	char line[] = "0xLLLL : PPP  : HH   : yes\n";

	if (hops > 99) {
		fprintf(stream, "0x%04X : %03u  : %02u   : yes\n", lid, port, hops);
		return;
	}
	put_digits(strchr(line, 'L'), 4, 16, lid);
	put_digits(strchr(line, 'P'), 3, 10, port);
	put_digits(strchr(line, 'H'), 2, 10, hops);
	fwrite(line, 1, sizeof(line) - 1, stream);
}

void route_dump_entries(const struct snapshot *snapshot, const struct routes *routes, uint32_t s,
			uint32_t begin, uint32_t end, FILE *stream)
{
	if (begin == 0)
		fprintf(stream,
			"dump_ucast_routes: Switch 0x%016" PRIx64
			"\nLID    : Port : Hops : Optimal\n",
			snapshot->switches[s].guid);
	for (uint32_t lid = begin ? begin : 1; lid < end && lid <= snapshot->lid_top; lid++) {
		uint8_t port = lft_port(routes->lft[s], (lid_t)lid);

		if (port == LFT_NO_PORT)
			fprintf(stream, "0x%04X : UNREACHABLE\n", lid);
		else
			print_entry(lid, port, hops_to(snapshot, routes, s, (lid_t)lid), stream);
	}
	if (end > snapshot->lid_top)
		fputc('\n', stream);
}

void route_dump_tables(const struct snapshot *snapshot, const struct routes *routes, FILE *stream)
{
	for (uint32_t s = 0; s < snapshot->num_switches; s++)
		route_dump_entries(snapshot, routes, s, 0, snapshot->lid_top + 1u, stream);
}
