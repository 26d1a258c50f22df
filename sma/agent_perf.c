/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The performance management agent (chapter 16.1): Get() shows what a port has counted, Set()
 * resets what CounterSelect names. Any other value that a Set() carries is not taken over: tools
 * and kernels write zeros, and agents in use reset whatever is written. Called by agent.c.
 *
 * PortCounters and PortCountersExtended are reset apart from each other, as in hardware, though
 * they show the same packets. A counter of PortCounters that does not hold its value shows its
 * largest. A switch answers for each of its ports, and for the sum of them; an adapter or router
 * for the port that was asked.
 */
#include <string.h>

#include "lib/mem.h"
#include "sma/agent.h"
#include "sma/agent_parts.h"

enum { CLASS_VERSION = 1, RESP_TIME_VALUE = 18 };

/* The first bit of CounterSelect that is for traffic. */
enum { SELECT_TRAFFIC = PORT_ERRORS };

enum { FIRST_EXTENDED_ROW = 2 };

static uint16_t class_port_info_get(struct agent_request *request)
{
	const struct class_port_info info = {
		.base_version = 1,
		.class_version = CLASS_VERSION,
		.capability_mask = PERF_EXTENDED_WIDTH | PERF_XMIT_WAIT |
				   (device_is_switch(request->device) ? PERF_ALL_PORT_SELECT : 0),
		.resp_time_value = RESP_TIME_VALUE,
	};

	memset(request->data, 0, PERF_DATA_SIZE);
	format_encode(&class_port_info_format, &info, request->data);
	return STATUS_OK;
}

/* Which ports PortSelect means. */
struct range {
	unsigned first, last;
};

static bool range_of(const struct agent_request *request, unsigned select, struct range *range)
{
	struct device *device = request->device;

	*range = (struct range){select, select};
	if (!device_is_switch(device))
		return select == request->in->num;
	if (select == PERF_ALL_PORTS)
		*range = (struct range){0, device->num_ports};
	return range->last <= device->num_ports;
}

static uint64_t largest(const struct field *field)
{
	return UINT64_MAX >> (64 - field->width);
}

static uint64_t sum_up_to(uint64_t limit, uint64_t a, uint64_t b)
{
	return b > limit || a > limit - b ? limit : a + b;
}

/* Short counters: errors, then traffic. */

static uint64_t short_value(const struct port_counts *counts, unsigned bit)
{
	if (bit == SELECT_XMIT_WAIT)
		return counts->xmit_wait;
	return bit < SELECT_TRAFFIC ? counts->error[bit]
				    : counts->traffic[bit - SELECT_TRAFFIC] +
					      counts->beyond[bit - SELECT_TRAFFIC];
}

static void short_reset(struct port_counts *counts, unsigned bit)
{
	if (bit < SELECT_TRAFFIC)
		counts->error[bit] = 0;
	else if (bit == SELECT_XMIT_WAIT)
		counts->xmit_wait = 0;
	else
		counts->beyond[bit - SELECT_TRAFFIC] = -counts->traffic[bit - SELECT_TRAFFIC];
}

static uint64_t extended_value(const struct port_counts *counts, unsigned bit)
{
	return counts->traffic[bit];
}

static void extended_reset(struct port_counts *counts, unsigned bit)
{
	if (bit < TRAFFIC_SHORT)
		counts->beyond[bit] += counts->traffic[bit];
	counts->traffic[bit] = 0;
}

/* The two attributes, told apart by their rows and by what a bit means. */
static const struct shape {
	uint16_t attr_id;
	const struct format *format;
	unsigned bits;
	const uint8_t *rows; /* NULL: one after the other from FIRST_EXTENDED_ROW */
	uint64_t (*value)(const struct port_counts *counts, unsigned bit);
	void (*reset)(struct port_counts *counts, unsigned bit);
} shapes[] = {
	{PERF_PORT_COUNTERS, &port_counters_format, PORT_COUNTERS_SELECTED, port_counters_rows,
	 short_value, short_reset},
	{PERF_PORT_COUNTERS_EXTENDED, &port_counters_extended_format, PORT_TRAFFICS, NULL,
	 extended_value, extended_reset},
};

static unsigned row_of(const struct shape *shape, unsigned bit)
{
	return shape->rows ? shape->rows[bit] : FIRST_EXTENDED_ROW + bit;
}

union counters {
	struct port_counters few;
	struct port_counters_extended extended;
};

static uint64_t sum(const struct device *device, const struct range *range,
		    const struct shape *shape, unsigned bit)
{
	uint64_t limit = largest(&shape->format->fields[row_of(shape, bit)]), value = 0;

	for (unsigned num = range->first; num <= range->last; num++)
		value = sum_up_to(limit, value, shape->value(&device->port[num].counts, bit));
	return value;
}

static void reset(struct device *device, const struct range *range, const struct shape *shape,
		  uint64_t select)
{
	for (unsigned bit = 0; bit < shape->bits; bit++) {
		for (unsigned num = range->first; select >> bit & 1 && num <= range->last; num++)
			shape->reset(&device->port[num].counts, bit);
	}
}

/* The bits of CounterSelect, above them those of CounterSelect2. */
static uint64_t selected(const struct shape *shape, const union counters *counters)
{
	uint64_t select = format_get(shape->format, ROW_COUNTER_SELECT, counters);

	if (shape->bits > SELECT_XMIT_WAIT)
		select |= format_get(shape->format, ROW_COUNTER_SELECT2, counters)
			  << SELECT_XMIT_WAIT;
	return select;
}

/* What was selected comes back with the counters. */
static uint16_t handle(struct agent_request *request, const struct shape *shape, bool is_set)
{
	union counters counters = {0};
	uint8_t port;
	uint64_t select;
	struct range range;

	format_decode(shape->format, request->data, &counters);
	port = format_get(shape->format, ROW_PORT_SELECT, &counters);
	select = selected(shape, &counters);
	if (request->attr_mod || !range_of(request, port, &range))
		return STATUS_INVALID_VALUE;
	if (is_set)
		reset(request->device, &range, shape, select);
	memset(&counters, 0, sizeof(counters));
	format_put(shape->format, ROW_PORT_SELECT, &counters, port);
	format_put(shape->format, ROW_COUNTER_SELECT, &counters, (uint16_t)select);
	if (shape->bits > SELECT_XMIT_WAIT)
		format_put(shape->format, ROW_COUNTER_SELECT2, &counters,
			   select >> SELECT_XMIT_WAIT);
	for (unsigned bit = 0; bit < shape->bits; bit++)
		format_put(shape->format, row_of(shape, bit), &counters,
			   sum(request->device, &range, shape, bit));
	memset(request->data, 0, PERF_DATA_SIZE);
	format_encode(shape->format, &counters, request->data);
	return STATUS_OK;
}

uint16_t perf_answer(uint16_t attr_id, bool is_set, struct agent_request *request)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		if (shapes[i].attr_id == attr_id)
			return handle(request, &shapes[i], is_set);
	}
	return attr_id == ATTR_CLASS_PORT_INFO && !is_set ? class_port_info_get(request)
							  : STATUS_UNSUP_METHOD_ATTR;
}
