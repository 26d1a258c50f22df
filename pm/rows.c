/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Ports and links as JSON: rows.h. Names of counters are the specification's. */
#include "pm/rows.h"

static void end_members(const struct node_facts *facts, uint8_t num, lid_t lid, struct buffer *out)
{
	row_guid(out, "guid", facts->info.node_guid);
	row_string(out, "description", facts->description);
	row_integer(out, "lid", lid);
	row_integer(out, "port", num);
}

static void end_row(const struct node_facts *facts, uint8_t num, lid_t lid, const char *name,
		    struct buffer *out)
{
	row_begin(out, name, '{');
	end_members(facts, num, lid, out);
	row_end(out, '}');
}

static struct pm_far far_at(const struct snapshot *snapshot, int32_t sw, int32_t end, uint8_t num)
{
	if (end >= 0)
		return (struct pm_far){snapshot->ends[end].facts, snapshot->ends[end].lid, num};
	if (sw >= 0)
		return (struct pm_far){snapshot->switches[sw].facts, snapshot->switches[sw].lid,
				       num};
	return (struct pm_far){NULL, 0, 0};
}

struct pm_far pm_far_end(const struct snapshot *snapshot, const struct pm_agent *agent, uint8_t num)
{
	int32_t place = agent->is_switch ? snapshot_find_switch(snapshot, agent->guid)
					 : snapshot_find_end(snapshot, agent->guid);
	const struct snap_end *end;
	const struct snap_link *link;

	if (place < 0 || (agent->is_switch && num > snapshot->switches[place].num_ports))
		return (struct pm_far){NULL, 0, 0};
	if (agent->is_switch) {
		link = snap_link(snapshot, (uint32_t)place, num);
		return far_at(snapshot, link->sw, link->end, link->port);
	}
	end = &snapshot->ends[place];
	return far_at(snapshot, end->sw, end->peer,
		      end->sw >= 0     ? end->sw_port
		      : end->peer >= 0 ? snapshot->ends[end->peer].port
				       : 0);
}

static void far_row(const struct pm_far *far, const char *name, struct buffer *out)
{
	if (far->facts)
		end_row(far->facts, far->num, far->lid, name, out);
	else
		row_string(out, name, NULL);
}

void pm_port_members(const struct pm_agent *agent, uint8_t num, const struct view *view,
		     struct buffer *out)
{
	struct pm_far far = {0};

	end_members(agent->facts, num, agent->lid, out);
	if (view)
		far = pm_far_end(view->topology, agent, num);
	far_row(&far, "peer", out);
}

static void put_rate(const char *name, float rate, unsigned unit, struct buffer *out)
{
	row_json(out, name, rate < 0 ? NULL : json_real((double)rate * unit));
}

/* The utilization of the link, in percent, of the busier direction. */
static json_t *utilization_json(const struct port_info *info, const struct pm_port *port)
{
	float xmit = port->rate[TRAFFIC_XMIT_DATA], rcv = port->rate[TRAFFIC_RCV_DATA];
	float most = xmit > rcv ? xmit : rcv;
	unsigned deci_gbps = rate_deci_gbps(port_rate(info));

	if (most < 0 || !deci_gbps)
		return NULL;
	return json_real((double)most * WORD_BYTES * 8 / (deci_gbps * 1e8) * 100);
}

unsigned pm_link_rate(const struct pm_agent *agent, uint8_t num)
{
	return rate_deci_gbps(port_rate(&agent->facts->port[num].info));
}

void pm_ber_row(const struct pm_agent *agent, uint8_t num, const struct pm_port *port,
		const char *name, struct buffer *out)
{
	double ber = pm_symbol_ber(port, pm_link_rate(agent, num));

	row_json(out, name, ber < 0 ? NULL : json_real(ber));
}

void pm_gained_row(const struct pm_news *news, const char *name, struct buffer *out)
{
	row_begin(out, name, '{');
	for (unsigned bit = 0; bit < PORT_COUNTERS_SELECTED; bit++)
		if (news->gained[bit])
			row_integer(out, pm_counter_name(bit), (int64_t)news->gained[bit]);
	row_end(out, '}');
}

/* The symbol BER of a reading. */
static json_t *reading_ber(const struct pm_reading *reading, unsigned deci_gbps)
{
	if (!reading->span_ms || !deci_gbps)
		return NULL;
	return json_real(reading->rose[ERROR_SYMBOL] / (reading->span_ms * 1e-3 * deci_gbps * 1e8));
}

void pm_history_row(const struct pm_history *history, unsigned deci_gbps, const char *name,
		    struct buffer *out)
{
	row_begin(out, name, '[');
	for (unsigned i = 0; history && i < history->count; i++) {
		const struct pm_reading *reading = pm_reading_at(history, i);
		struct pm_news news = {0};

		for (unsigned j = 0; j < PM_HISTORY_COUNTERS; j++)
			news.gained[pm_history_bit(j)] = reading->rose[j];
		row_begin(out, NULL, '{');
		row_integer(out, "time_s", (int64_t)reading->time_s);
		row_json(out, "span_s",
			 reading->span_ms ? json_real(reading->span_ms / 1e3) : NULL);
		put_rate("xmit_bytes", reading->rate[TRAFFIC_XMIT_DATA], WORD_BYTES, out);
		put_rate("rcv_bytes", reading->rate[TRAFFIC_RCV_DATA], WORD_BYTES, out);
		put_rate("xmit_pkts", reading->rate[TRAFFIC_XMIT_PKTS], 1, out);
		put_rate("rcv_pkts", reading->rate[TRAFFIC_RCV_PKTS], 1, out);
		row_json(out, "symbol_ber", reading_ber(reading, deci_gbps));
		pm_gained_row(&news, "rose", out);
		row_end(out, '}');
	}
	row_end(out, ']');
}

void pm_rates_row(const struct pm_agent *agent, uint8_t num, const struct pm_port *port,
		  const char *name, struct buffer *out)
{
	const struct port_facts *facts = &agent->facts->port[num];
	const struct port_info *info = &facts->info;
	char speed[24];

	if (!port || !port->read_us) {
		row_string(out, name, NULL);
		return;
	}
	row_begin(out, name, '{');
	put_rate("xmit_bytes", port->rate[TRAFFIC_XMIT_DATA], WORD_BYTES, out);
	put_rate("rcv_bytes", port->rate[TRAFFIC_RCV_DATA], WORD_BYTES, out);
	put_rate("xmit_pkts", port->rate[TRAFFIC_XMIT_PKTS], 1, out);
	put_rate("rcv_pkts", port->rate[TRAFFIC_RCV_PKTS], 1, out);
	put_rate("xmit_wait", port->wait_rate, 1, out);
	row_json(out, "utilization", utilization_json(info, port));
	pm_ber_row(agent, num, port, "symbol_ber", out);
	row_string(out, "width_speed", port_speed_text(info, &facts->ext, speed));
	row_end(out, '}');
}

static bool is_error(const struct pm_port *port, unsigned bit)
{
	bool is_traffic = bit >= PORT_ERRORS && bit < SELECT_XMIT_WAIT;

	return !is_traffic && pm_total(port, bit);
}

void pm_error_members(const struct pm_port *port, struct buffer *out)
{
	row_begin(out, "counters", '{');
	for (unsigned bit = 0; bit < PORT_COUNTERS_SELECTED; bit++)
		if (is_error(port, bit))
			row_integer(out, pm_counter_name(bit), (int64_t)pm_total(port, bit));
	row_end(out, '}');
	row_begin(out, "rose", '[');
	for (unsigned bit = 0; bit < PORT_COUNTERS_SELECTED; bit++)
		if (is_error(port, bit) && port->rose >> bit & 1)
			row_string(out, NULL, pm_counter_name(bit));
	row_end(out, ']');
	row_begin(out, "full", '[');
	for (unsigned bit = 0; bit < PORT_COUNTERS_SELECTED; bit++)
		if (is_error(port, bit) && pm_is_full(port, bit))
			row_string(out, NULL, pm_counter_name(bit));
	row_end(out, ']');
}

bool pm_has_errors(const struct pm_port *port, uint64_t least)
{
	for (unsigned bit = 0; bit < PORT_COUNTERS_SELECTED; bit++)
		if (is_error(port, bit) && pm_total(port, bit) >= least)
			return true;
	return false;
}

void pm_link_row(const struct view *view, const struct pm_slow_link *slow, struct buffer *out)
{
	const struct snapshot *snapshot = view->topology;
	const struct snap_switch *sw = &snapshot->switches[slow->sw];
	const struct snap_link *link = snap_link(snapshot, slow->sw, slow->port);
	const struct pm_far far = far_at(snapshot, link->sw, link->end, link->port);
	const struct port_info *info = &sw->facts->port[slow->port].info;
	char could[24] = "", speed[24];

	port_below(info, &far.facts->port[link->port].info, could);
	row_begin(out, NULL, '{');
	end_row(sw->facts, slow->port, sw->lid, "from", out);
	far_row(&far, "to", out);
	row_string(out, "width_speed",
		   port_speed_text(info, &sw->facts->port[slow->port].ext, speed));
	row_string(out, "could", could);
	row_end(out, '}');
}

void pm_counters_row(const struct format *format, const void *counters, unsigned rows,
		     const char *name, struct buffer *out)
{
	const unsigned select2 =
		format == &port_counters_format ? ROW_COUNTER_SELECT2 : ROW_EXTENDED_SELECT2;

	row_begin(out, name, '{');
	for (unsigned i = 0; i < rows; i++)
		if (i != ROW_PORT_SELECT && i != ROW_COUNTER_SELECT && i != select2)
			row_integer(out, format->fields[i].name,
				    (int64_t)format_get(format, i, counters));
	row_end(out, '}');
}
