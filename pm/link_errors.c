/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The recent errors of ports, for the policy that isolates ports (sm/isolate.h): sums over the
 * readings of pm/history.h. Only ports whose errors rose have readings. Loop thread only.
 */
#include "pm/context.h"
#include "pm/rows.h"

void pm_on_read(struct pm *pm, void (*done)(void *arg), void *arg)
{
	pm->read = done;
	pm->read_arg = arg;
}

/* Adds the readings that began after since_s. Returns their total time. */
static uint64_t sum_readings(const struct pm_history *history, uint64_t since_s,
			     struct pm_link_errors *errors)
{
	uint64_t span_ms = 0;

	for (unsigned i = 0; i < history->count; i++) {
		const struct pm_reading *reading = pm_reading_at(history, i);

		if (!reading->span_ms || reading->time_s < since_s + reading->span_ms / 1000)
			continue;
		for (unsigned bit = 0; bit < PORT_ERRORS; bit++)
			errors->rose[bit] += reading->rose[bit];
		span_ms += reading->span_ms;
	}
	return span_ms;
}

void pm_each_link_errors(const struct pm *pm, uint64_t since_s,
			 void (*each)(void *arg, const struct pm_link_errors *errors), void *arg)
{
	list_for_each (link, &pm->histories.used) {
		const struct pm_history *history = container_of(link, struct pm_history, link);
		struct pm_link_errors errors = {.guid = history->key.guid,
						.is_switch = history->key.is_switch,
						.num = history->key.num,
						.symbol_ber = -1};
		struct pm_agent *agent;
		unsigned deci_gbps;
		uint64_t span_ms;

		if (!pm_find_port(pm, &history->key, &agent))
			continue;
		span_ms = sum_readings(history, since_s, &errors);
		deci_gbps = pm_link_rate(agent, errors.num);
		if (!span_ms)
			continue;
		if (deci_gbps)
			errors.symbol_ber = (double)errors.rose[ERROR_SYMBOL] /
					    ((double)span_ms * deci_gbps * 1e5);
		each(arg, &errors);
	}
}
