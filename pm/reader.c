/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The steps of reading an agent (reader.h), as a table: the request of each, the use of its answer,
 * and of a refusal.
 *
 * Devices differ: some refuse ClassPortInfo, but have the small counters; some announce
 * PortCountersExtended and refuse it, or the reverse after a change of firmware. So the
 * capabilities are dropped after each refusal or time-out, and read again by the next sweep.
 */
#include "pm/reader.h"

#include <errno.h>
#include <string.h>

#include "lib/mem.h"
#include "mad/mad.h"

enum {
	ATTEMPTS = 3,
	TIMEOUT_MS = 500, /* of the first attempt; it doubles with each further attempt */
	REDIRECTS_MAX = 4,
	CLASS_VERSION = 1,
};

enum step {
	STEP_ABILITIES,
	STEP_COUNTERS,
	STEP_EXTENDED,
	STEP_RESET,
	STEP_AFTER_RESET,
	STEP_RESET_EXTENDED,
	STEP_AFTER_RESET_EXTENDED,
};

static void reader_send(struct pm_reader *reader);

static void reader_end(struct pm_reader *reader, int error)
{
	if (error)
		reader->agent->asked = false;
	reader->ops->ended(reader, error);
}

static void go(struct pm_reader *reader, enum step step)
{
	reader->step = (uint8_t)step;
	reader->attempt = 0;
	reader_send(reader);
}

/* Whether a port is to be read, or cleared. Port 0 of a switch has no link. */
static bool is_wanted(const struct pm_reader *reader, uint8_t num)
{
	if (reader->one_port)
		return num == reader->only;
	return reader->everything || (reader->clear && num) || pm_port_counts(reader->agent, num);
}

/* The first port after from that is to be read. */
static bool next_port(struct pm_reader *reader, unsigned from)
{
	const struct pm_agent *agent = reader->agent;

	for (unsigned num = from; num <= agent->last; num++) {
		if (is_wanted(reader, (uint8_t)num)) {
			reader->port = (uint8_t)num;
			return true;
		}
	}
	return false;
}

/* Whether PortCounters is not needed, because the other attribute has all of it. */
static bool is_enough(const struct pm_reader *reader)
{
	return pm_has_extended_errors(reader->agent, reader->port) && !reader->everything;
}

static void reader_next_port(struct pm_reader *reader, unsigned from)
{
	if (!next_port(reader, from)) {
		reader_end(reader, reader->ended_one ? 0 : -EPROTO);
	} else if (!is_enough(reader)) {
		go(reader, STEP_COUNTERS);
	} else {
		go(reader, STEP_EXTENDED);
	}
}

/* After PortCounters, and the resets. */
static void reader_go_on(struct pm_reader *reader)
{
	if (pm_has_extended(reader->agent, reader->port))
		go(reader, STEP_EXTENDED);
	else
		reader_next_port(reader, reader->port + 1u);
}

/* Answers */

/* Whether ClassPortInfo redirects to another agent, whose capabilities then count. All zero: it
 * does not. */
static bool leads_on(struct pm_reader *reader, const struct class_port_info *info)
{
	int result;

	if ((!info->redirect.lid && !info->redirect.qp) || ++reader->redirects > REDIRECTS_MAX)
		return false;
	result = pm_agent_redirect(reader->agent, &info->redirect, reader->snapshot);
	reader->counts->refused += result < 0;
	reader->counts->redirected += result > 0;
	return result > 0;
}

static void take_abilities(struct pm_reader *reader, const uint8_t *data)
{
	struct class_port_info info;

	format_decode(&class_port_info_format, data, &info);
	reader->agent->capability_mask = info.capability_mask;
	reader->agent->capability_mask2 = info.capability_mask2;
	reader->agent->asked = true;
	for (unsigned num = reader->agent->first; num <= reader->agent->last; num++)
		pm_agent_port(reader->agent, (uint8_t)num)->is_narrow = false;
	if (leads_on(reader, &info))
		go(reader, STEP_ABILITIES);
	else
		reader_next_port(reader, reader->agent->first);
}

/* An answer for another port than the requested port is no answer. */
static bool is_about(struct pm_reader *reader, uint8_t port_select)
{
	if (port_select == reader->port)
		return true;
	reader->counts->refused++;
	reader->agent->asked = false;
	return false;
}

static void reader_take_counters(struct pm_reader *reader, const uint8_t *data)
{
	struct port_counters counters;
	bool after = reader->step == STEP_AFTER_RESET;

	format_decode(&port_counters_format, data, &counters);
	if (!is_about(reader, counters.port_select)) {
		reader_next_port(reader, reader->port + 1u);
		return;
	}
	reader->ended_one = true;
	reader->counts->ports += !after;
	reader->select = reader->ops->counters(reader, &counters, after ? reader->select : 0);
	if (reader->select && !after)
		go(reader, STEP_RESET);
	else
		reader_go_on(reader);
}

static void reader_take_extended(struct pm_reader *reader, const uint8_t *data)
{
	struct port_counters_extended counters;
	bool after = reader->step == STEP_AFTER_RESET_EXTENDED, good;

	format_decode(&port_counters_extended_format, data, &counters);
	good = is_about(reader, counters.port_select);
	if (good) {
		reader->counts->ports += is_enough(reader) && !after;
		reader->ended_one = true;
		reader->ops->extended(reader, &counters, after);
	}
	if (!good || !reader->clear || after) {
		reader_next_port(reader, reader->port + 1u);
	} else if (is_enough(reader)) { /* PortCounters was not read, and is reset now */
		reader->select = PORT_COUNTERS_ALL;
		go(reader, STEP_RESET);
	} else {
		go(reader, STEP_RESET_EXTENDED);
	}
}

static void take_reset(struct pm_reader *reader, const uint8_t *data)
{
	(void)data;
	reader->counts->resets++;
	go(reader, is_enough(reader) ? STEP_RESET_EXTENDED : STEP_AFTER_RESET);
}

static void take_reset_extended(struct pm_reader *reader, const uint8_t *data)
{
	(void)data;
	go(reader, STEP_AFTER_RESET_EXTENDED);
}

/* Refusals */

static void without_abilities(struct pm_reader *reader)
{
	reader->agent->capability_mask = 0;
	reader->agent->capability_mask2 = 0;
	reader->agent->asked = true;
	reader_next_port(reader, reader->agent->first);
}

static void without_reset(struct pm_reader *reader)
{
	if (is_enough(reader))
		go(reader, STEP_RESET_EXTENDED);
	else
		reader_go_on(reader);
}

static void without_port(struct pm_reader *reader)
{
	reader->agent->asked = false;
	reader_next_port(reader, reader->port + 1u);
}

/* The agent does not have PortCountersExtended or, if the request was invalid, not for this port:
 * then PortCounters of the port is read, unless it was. */
static void without_extended(struct pm_reader *reader)
{
	bool was_enough = is_enough(reader);

	if (reader->status == STATUS_INVALID_VALUE)
		pm_agent_port(reader->agent, reader->port)->is_narrow = true;
	else
		reader->agent->capability_mask &=
			(uint16_t) ~(PERF_EXTENDED_WIDTH | PERF_EXTENDED_WIDTH_NO_IETF);
	reader_next_port(reader, reader->port + !was_enough);
}

static const struct {
	uint16_t attr_id;
	uint8_t method;
	void (*take)(struct pm_reader *reader, const uint8_t *data);
	void (*refused)(struct pm_reader *reader);
} steps[] = {
	[STEP_ABILITIES] = {ATTR_CLASS_PORT_INFO, METHOD_GET, take_abilities, without_abilities},
	[STEP_COUNTERS] = {PERF_PORT_COUNTERS, METHOD_GET, reader_take_counters, without_port},
	[STEP_EXTENDED] = {PERF_PORT_COUNTERS_EXTENDED, METHOD_GET, reader_take_extended,
			   without_extended},
	[STEP_RESET] = {PERF_PORT_COUNTERS, METHOD_SET, take_reset, without_reset},
	[STEP_AFTER_RESET] = {PERF_PORT_COUNTERS, METHOD_GET, reader_take_counters, reader_go_on},
	[STEP_RESET_EXTENDED] = {PERF_PORT_COUNTERS_EXTENDED, METHOD_SET, take_reset_extended,
				 without_port},
	[STEP_AFTER_RESET_EXTENDED] = {PERF_PORT_COUNTERS_EXTENDED, METHOD_GET,
				       reader_take_extended, without_port},
};

/* Requests */

/* A Set() carries zeros, because some devices write them to the counters (16.1.3.5). */
static void reader_fill(const struct pm_reader *reader, uint8_t *data)
{
	const struct port_counters few = {.port_select = reader->port,
					  .counter_select = (uint16_t)reader->select,
					  .counter_select2 =
						  (uint8_t)(reader->select >> SELECT_XMIT_WAIT)};
	struct port_counters_extended extended = {.port_select = reader->port};

	if (reader->step == STEP_RESET_EXTENDED) {
		extended.counter_select = EXTENDED_TRAFFIC_ALL;
		if (pm_has_extended_errors(reader->agent, reader->port))
			extended.counter_select2 = EXTENDED_ERRORS_ALL;
	}
	if (steps[reader->step].attr_id == PERF_PORT_COUNTERS_EXTENDED)
		format_encode(&port_counters_extended_format, &extended, data);
	else if (reader->step != STEP_ABILITIES)
		format_encode(&port_counters_format, &few, data);
}

static bool reader_may_retry(struct pm_reader *reader)
{
	return ++reader->attempt < ATTEMPTS;
}

/* The answer redirects the request: repeat it there. */
static bool reader_follow(struct pm_reader *reader, const struct txn_result *result)
{
	struct class_port_info info;

	if (!(result->header.status & STATUS_REDIRECT) ||
	    result->header.attr_id != ATTR_CLASS_PORT_INFO || ++reader->redirects > REDIRECTS_MAX)
		return false;
	format_decode(&class_port_info_format, result->mad + PERF_DATA_OFFSET, &info);
	if (pm_agent_redirect(reader->agent, &info.redirect, reader->snapshot) < 0)
		return false;
	reader->counts->redirected++;
	return true;
}

static void reader_answered(struct pm_reader *reader, const struct txn_result *result)
{
	uint16_t status = result->header.status;

	reader->counts->answered++;
	if (status == STATUS_OK) {
		steps[reader->step].take(reader, result->mad + PERF_DATA_OFFSET);
	} else if (reader_follow(reader, result) ||
		   (status_is_busy(status) && reader_may_retry(reader))) {
		reader_send(reader);
	} else {
		reader->counts->refused++;
		reader->status = status & STATUS_INVALID_VALUE; /* these bits are one number */
		steps[reader->step].refused(reader);
	}
}

static void reader_done(void *arg, const struct txn_result *result)
{
	struct pm_reader *reader = arg;

	if (!result->error) {
		reader_answered(reader, result);
		return;
	}
	reader->counts->timed_out++;
	if (reader_may_retry(reader)) {
		reader_send(reader);
		return;
	}
	/* The agent of the redirection may have disappeared. */
	free(reader->agent->redirect);
	reader->agent->redirect = NULL;
	reader_end(reader, -ETIMEDOUT);
}

static void reader_send(struct pm_reader *reader)
{
	const struct mad_header header = {
		.base_version = 1,
		.mgmt_class = CLASS_PERF,
		.class_version = CLASS_VERSION,
		.method = steps[reader->step].method,
		.attr_id = steps[reader->step].attr_id,
	};
	const struct mad_addr to = pm_agent_address(reader->agent);
	uint8_t mad[MAD_SIZE] = {0};

	header_encode(&header, mad);
	reader_fill(reader, mad + PERF_DATA_OFFSET);
	reader->counts->requests++;
	txn_start(reader->txns, &to, mad, sizeof(mad), (unsigned)TIMEOUT_MS << reader->attempt,
		  reader_done, reader);
}

void pm_reader_begin(struct pm_reader *reader)
{
	reader->redirects = 0;
	reader->ended_one = false;
	reader->select = 0;
	reader->port = reader->agent->first;
	if (reader->agent->asked && next_port(reader, reader->agent->first))
		reader_next_port(reader, reader->port);
	else
		go(reader, STEP_ABILITIES);
}

void pm_reader_cancel(struct pm_reader *reader)
{
	txn_cancel(reader->txns, reader_done, reader);
}
