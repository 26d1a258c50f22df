/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Ports and links as JSON: rows.h. Names of counters are the specification's. */
#include "pm/rows.h"

#include "lib/guid.h"

enum { WORD_BYTES = 4 };

static json_t *end_json(const struct node_facts *facts, uint8_t num, lid_t lid)
{
	char guid[GUID_TEXT];

	return json_pack("{s:s,s:s,s:i,s:i}", "guid", guid_text(facts->info.node_guid, guid),
			 "description", facts->description, "lid", lid, "port", num);
}

static json_t *place_json(const struct snapshot *snapshot, int32_t sw, int32_t end, uint8_t num)
{
	if (end >= 0)
		return end_json(snapshot->ends[end].facts, num, snapshot->ends[end].lid);
	if (sw >= 0)
		return end_json(snapshot->switches[sw].facts, num, snapshot->switches[sw].lid);
	return json_null();
}

/* The other end of a port's cable. */
static json_t *peer_json(const struct snapshot *snapshot, bool is_switch, guid_t guid, uint8_t num)
{
	int32_t place = is_switch ? snapshot_find_switch(snapshot, guid)
				  : snapshot_find_end(snapshot, guid);
	const struct snap_end *end;
	const struct snap_link *link;

	if (place < 0 || (is_switch && num > snapshot->switches[place].num_ports))
		return json_null();
	if (is_switch) {
		link = snap_link(snapshot, (uint32_t)place, num);
		return place_json(snapshot, link->sw, link->end, link->port);
	}
	end = &snapshot->ends[place];
	return place_json(snapshot, end->sw, end->peer,
			  end->sw >= 0	   ? end->sw_port
			  : end->peer >= 0 ? snapshot->ends[end->peer].port
					   : 0);
}

json_t *pm_port_json(const struct pm_agent *agent, uint8_t num, const struct view *view)
{
	json_t *row = end_json(agent->facts, num, agent->lid);

	json_object_set_new(row, "peer",
			    view ? peer_json(view->topology, agent->is_switch, agent->guid, num)
				 : json_null());
	return row;
}

static json_t *rate_json(float rate, unsigned unit)
{
	return rate < 0 ? json_null() : json_real((double)rate * unit);
}

/* The part of what the link can carry that it does, in percent, of the busier direction. */
static json_t *utilization_json(const struct port_info *info, const struct pm_port *port)
{
	float xmit = port->rate[TRAFFIC_XMIT_DATA], rcv = port->rate[TRAFFIC_RCV_DATA];
	float most = xmit > rcv ? xmit : rcv;
	unsigned deci_gbps = rate_deci_gbps(port_rate(info));

	if (most < 0 || !deci_gbps)
		return json_null();
	return json_real((double)most * WORD_BYTES * 8 / (deci_gbps * 1e8) * 100);
}

json_t *pm_rates_json(const struct pm_agent *agent, uint8_t num, const struct pm_port *port)
{
	const struct port_info *info = &agent->facts->port[num].info;
	char speed[24];

	if (!port || !port->read_us)
		return json_null();
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:s}", "xmit_bytes",
			 rate_json(port->rate[TRAFFIC_XMIT_DATA], WORD_BYTES), "rcv_bytes",
			 rate_json(port->rate[TRAFFIC_RCV_DATA], WORD_BYTES), "xmit_pkts",
			 rate_json(port->rate[TRAFFIC_XMIT_PKTS], 1), "rcv_pkts",
			 rate_json(port->rate[TRAFFIC_RCV_PKTS], 1), "xmit_wait",
			 rate_json(port->wait_rate, 1), "utilization", utilization_json(info, port),
			 "width_speed", port_speed_text(info, speed));
}

void pm_put_errors(json_t *row, const struct pm_port *port)
{
	json_t *counters = json_object(), *rose = json_array(), *full = json_array();

	for (unsigned bit = 0; bit < PORT_COUNTERS_SELECTED; bit++) {
		bool is_traffic = bit >= PORT_ERRORS && bit < SELECT_XMIT_WAIT;
		const char *name = pm_counter_name(bit);

		if (is_traffic || !pm_total(port, bit))
			continue;
		json_object_set_new(counters, name, json_integer((json_int_t)pm_total(port, bit)));
		if (port->rose >> bit & 1)
			json_array_append_new(rose, json_string(name));
		if (pm_is_full(port, bit))
			json_array_append_new(full, json_string(name));
	}
	json_object_set_new(row, "counters", counters);
	json_object_set_new(row, "rose", rose);
	json_object_set_new(row, "full", full);
}

json_t *pm_link_json(const struct view *view, const struct pm_slow_link *slow)
{
	const struct snapshot *snapshot = view->topology;
	const struct snap_switch *sw = &snapshot->switches[slow->sw];
	const struct snap_link *link = snap_link(snapshot, slow->sw, slow->port);
	const struct port_info *info = &sw->facts->port[slow->port].info;
	const struct node_facts *there = link->end >= 0 ? snapshot->ends[link->end].facts
							: snapshot->switches[link->sw].facts;
	char could[24] = "", speed[24];

	port_below(info, &there->port[link->port].info, could);
	return json_pack("{s:o,s:o,s:s,s:s}", "from", end_json(sw->facts, slow->port, sw->lid),
			 "to", place_json(snapshot, link->sw, link->end, link->port), "width_speed",
			 port_speed_text(info, speed), "could", could);
}

json_t *pm_counters_json(const struct format *format, const void *counters, unsigned rows)
{
	const unsigned select2 =
		format == &port_counters_format ? ROW_COUNTER_SELECT2 : ROW_EXTENDED_SELECT2;
	json_t *object = json_object();

	for (unsigned i = 0; i < rows; i++) {
		if (i != ROW_PORT_SELECT && i != ROW_COUNTER_SELECT && i != select2)
			json_object_set_new(
				object, format->fields[i].name,
				json_integer((json_int_t)format_get(format, i, counters)));
	}
	return object;
}
