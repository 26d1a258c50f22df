/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The performance management agent (chapter 16.1): Get() shows the counts of a port, Set() resets
 * the counters in CounterSelect. Values in a Set() are ignored: tools and kernels write zeros, and
 * agents in use reset for any value. Called by agent.c.
 *
 * PortCounters and PortCountersExtended are reset separately, as in hardware, though they show the
 * same packets. A counter of PortCounters that is too small for its value shows its maximum. A
 * switch answers for each of its ports, and for the sum of them, and has the errors in
 * PortCountersExtended, too. An adapter or router answers for the addressed port, without these
 * errors.
 */
#include <string.h>

#include "lib/mem.h"
#include "sma/agent.h"
#include "sma/agent_parts.h"

enum { CLASS_VERSION = 1, RESP_TIME_VALUE = 18 };

/* The first bit of CounterSelect that is for traffic. */
enum { SELECT_TRAFFIC = PORT_ERRORS };

static bool has_extended_errors(const struct device *device)
{
	return device_is_switch(device);
}

static uint16_t class_port_info_get(struct agent_request *request)
{
	const struct class_port_info info = {
		.base_version = 1,
		.class_version = CLASS_VERSION,
		.capability_mask = PERF_EXTENDED_WIDTH | PERF_XMIT_WAIT |
				   (device_is_switch(request->device) ? PERF_ALL_PORT_SELECT : 0),
		.capability_mask2 = has_extended_errors(request->device) ? PERF_EXTENDED_ERRORS : 0,
		.resp_time_value = RESP_TIME_VALUE,
	};

	memset(request->data, 0, PERF_DATA_SIZE);
	format_encode(&class_port_info_format, &info, request->data);
	return STATUS_OK;
}

/* The ports of a PortSelect. */
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

/* The counts of a bit of CounterSelect, or of CounterSelect2 above it: since is for
 * PortCountersExtended, beyond is the part that only PortCounters shows, if it has the counter. */
struct place {
	uint64_t *since, *beyond;
};

static struct place error_place(struct port_counts *counts, unsigned error)
{
	return error == PORT_ERRORS
		       ? (struct place){&counts->xmit_wait, &counts->wait_beyond}
		       : (struct place){&counts->error[error], &counts->error_beyond[error]};
}

static struct place short_place(struct port_counts *counts, unsigned bit)
{
	unsigned traffic = bit - SELECT_TRAFFIC;

	if (bit == SELECT_XMIT_WAIT)
		return error_place(counts, PORT_ERRORS);
	return bit < SELECT_TRAFFIC ? error_place(counts, bit)
				    : (struct place){&counts->traffic[traffic],
						     &counts->traffic_beyond[traffic]};
}

/* QP1Dropped is always 0: all its pointers are NULL. */
static struct place extended_place(struct port_counts *counts, unsigned bit)
{
	if (bit < PORT_TRAFFICS)
		return (struct place){&counts->traffic[bit],
				      bit < TRAFFIC_SHORT ? &counts->traffic_beyond[bit] : NULL};
	return bit == SELECT_EXTENDED_QP1 ? (struct place){NULL, NULL}
					  : error_place(counts, bit - SELECT_EXTENDED_ERRORS);
}

static uint64_t short_value(struct place place)
{
	return *place.since + *place.beyond;
}

static void short_reset(struct place place)
{
	*place.beyond = -*place.since;
}

static uint64_t extended_value(struct place place)
{
	return place.since ? *place.since : 0;
}

static void extended_reset(struct place place)
{
	if (place.beyond)
		*place.beyond += *place.since;
	if (place.since)
		*place.since = 0;
}

/* The differences between the two attributes: rows, and the meaning of each bit. */
static const struct shape {
	uint16_t attr_id;
	const struct format *format;
	unsigned bits, select2_row;
	const uint8_t *rows; /* 0: the bit means nothing */
	struct place (*place)(struct port_counts *counts, unsigned bit);
	uint64_t (*value)(struct place place);
	void (*reset)(struct place place);
} shapes[] = {
	{PERF_PORT_COUNTERS, &port_counters_format, PORT_COUNTERS_SELECTED, ROW_COUNTER_SELECT2,
	 port_counters_rows, short_place, short_value, short_reset},
	{PERF_PORT_COUNTERS_EXTENDED, &port_counters_extended_format,
	 PORT_COUNTERS_EXTENDED_SELECTED, ROW_EXTENDED_SELECT2, port_counters_extended_rows,
	 extended_place, extended_value, extended_reset},
};

union counters {
	struct port_counters few;
	struct port_counters_extended extended;
};

static uint64_t sum(struct device *device, const struct range *range, const struct shape *shape,
		    unsigned bit)
{
	uint64_t limit = largest(&shape->format->fields[shape->rows[bit]]), value = 0;

	for (unsigned num = range->first; num <= range->last; num++)
		value = sum_up_to(limit, value,
				  shape->value(shape->place(&device->port[num].counts, bit)));
	return value;
}

static void reset(struct device *device, const struct range *range, const struct shape *shape,
		  unsigned bit)
{
	for (unsigned num = range->first; num <= range->last; num++)
		shape->reset(shape->place(&device->port[num].counts, bit));
}

/* The number of bits that this device supports. */
static unsigned bits_of(const struct shape *shape, const struct device *device)
{
	bool is_extended = shape->attr_id == PERF_PORT_COUNTERS_EXTENDED;

	return is_extended && !has_extended_errors(device) ? PORT_TRAFFICS : shape->bits;
}

/* The answer repeats the selection: the bits of CounterSelect, above them those of
 * CounterSelect2. */
static uint16_t perf_handle(struct agent_request *request, const struct shape *shape, bool is_set)
{
	const struct format *format = shape->format;
	unsigned bits = bits_of(shape, request->device);
	union counters counters = {0};
	uint8_t port;
	uint64_t select;
	struct range range;

	format_decode(format, request->data, &counters);
	port = format_get(format, ROW_PORT_SELECT, &counters);
	select = format_get(format, ROW_COUNTER_SELECT, &counters);
	if (bits > SELECT_XMIT_WAIT)
		select |= format_get(format, shape->select2_row, &counters) << SELECT_XMIT_WAIT;
	if (request->attr_mod || !range_of(request, port, &range))
		return STATUS_INVALID_VALUE;
	memset(&counters, 0, sizeof(counters));
	format_put(format, ROW_PORT_SELECT, &counters, port);
	format_put(format, ROW_COUNTER_SELECT, &counters, (uint16_t)select);
	format_put(format, shape->select2_row, &counters, select >> SELECT_XMIT_WAIT);
	for (unsigned bit = 0; bit < bits; bit++) {
		if (!shape->rows[bit])
			continue;
		if (is_set && select >> bit & 1)
			reset(request->device, &range, shape, bit);
		format_put(format, shape->rows[bit], &counters,
			   sum(request->device, &range, shape, bit));
	}
	memset(request->data, 0, PERF_DATA_SIZE);
	format_encode(format, &counters, request->data);
	return STATUS_OK;
}

uint16_t perf_answer(uint16_t attr_id, bool is_set, struct agent_request *request)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		if (shapes[i].attr_id == attr_id)
			return perf_handle(request, &shapes[i], is_set);
	}
	return attr_id == ATTR_CLASS_PORT_INFO && !is_set ? class_port_info_get(request)
							  : STATUS_UNSUP_METHOD_ATTR;
}
