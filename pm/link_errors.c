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

/* Devices count errors while a link trains. So of a reading in which the link was lost, only the
 * loss counts. */
static bool reading_counts(const struct pm_reading *reading, unsigned bit)
{
	return bit == ERROR_LINK_DOWNED || !reading->rose[ERROR_LINK_DOWNED];
}

/* Adds the readings that began after since_s. Times are whole seconds, so a reading that began in
 * this second is left out. Returns their total time. */
static uint64_t sum_readings(const struct pm_history *history, uint64_t since_s,
			     struct pm_link_errors *errors)
{
	uint64_t span_ms = 0;

	for (unsigned i = 0; i < history->count; i++) {
		const struct pm_reading *reading = pm_reading_at(history, i);

		if (!reading->span_ms ||
		    reading->time_s <= since_s + (reading->span_ms + 999) / 1000)
			continue;
		for (unsigned bit = 0; bit < PORT_ERRORS; bit++)
			errors->rose[bit] += reading_counts(reading, bit) ? reading->rose[bit] : 0;
		span_ms += reading->span_ms;
	}
	return span_ms;
}

/* The time that the sums since since_s cover. A full history has no older readings; a history that
 * is not full begins with the first error. */
static uint64_t covered_time(const struct pm *pm, const struct pm_history *history,
			     uint64_t since_s, uint64_t span_ms)
{
	uint64_t now_s = loop_wall_s(pm->loop), covered_s, reads_s;

	if (history->count == PM_READINGS) {
		const struct pm_reading *oldest = pm_reading_at(history, 0);
		uint64_t began_s = oldest->time_s - oldest->span_ms / 1000;

		since_s = began_s > since_s ? began_s : since_s;
	}
	covered_s = now_s > since_s ? now_s - since_s : 0;
	reads_s = (loop_now_us(pm->loop) - pm->master_us) / 1000000;
	covered_s = covered_s < reads_s ? covered_s : reads_s;
	return covered_s > (span_ms + 999) / 1000 ? covered_s : (span_ms + 999) / 1000;
}

void pm_each_link_errors(const struct pm *pm,
			 uint64_t (*since_s)(void *arg, const struct pm_link_errors *port),
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
		uint64_t span_ms, from_s;

		if (!pm_find_port(pm, &history->key, &agent))
			continue;
		from_s = since_s(arg, &errors);
		span_ms = sum_readings(history, from_s, &errors);
		deci_gbps = pm_link_rate(agent, errors.num);
		if (!span_ms)
			continue;
		errors.covered_s = covered_time(pm, history, from_s, span_ms);
		if (deci_gbps)
			errors.symbol_ber = (double)errors.rose[ERROR_SYMBOL] /
					    ((double)errors.covered_s * deci_gbps * 1e8);
		each(arg, &errors);
	}
}
