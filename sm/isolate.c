/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The rules of isolation by policy, and their application: sm/isolate.h. */
#include "sm/isolate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "fabric/subject.h"
#include "include/message_id.h"
#include "sm/context.h"
#include "sm/discovery/disabled.h"

/* The most last paths that are found, and ports that are logged, after a read: each last path needs
 * a search of the fabric. A drain that waits for a device longer than MOVING_US does not stop the
 * policy. */
enum {
	EXAMINED_MAX = 4,
	TOLD_MAX = 16,
	MOVING_US = 60000000,
	PORT_NAME_SIZE = NODE_DESC_SIZE + 16
};

/* Rules */

bool isolate_is_on(const struct sm *sm)
{
	const struct isolate_options *options = &sm->options.isolate;

	return options->flaps || options->ber || options->link_errors;
}

/* 10^-n; 0 for n 0, which is no threshold. */
static double ber_threshold(unsigned n)
{
	double value = n ? 1 : 0;

	for (; n; n--)
		value /= 10;
	return value;
}

/* The ratio of a value to its threshold; 0: the value is below it, or there is none. */
static double ratio_of(double value, double threshold)
{
	return threshold > 0 && value >= threshold ? value / threshold : 0;
}

double isolate_excess(const struct isolate_options *options, const struct isolate_figures *figures,
		      char reason[ISOLATE_REASON_SIZE])
{
	double flaps = ratio_of((double)figures->flaps, options->flaps);
	double errors = ratio_of((double)figures->link_errors, options->link_errors);
	double worst, ber = figures->symbol_errors < ISOLATE_SYMBOLS_MIN
				    ? 0
				    : ratio_of(figures->ber, ber_threshold(options->ber));
	unsigned minutes = figures->covered_s ? (unsigned)((figures->covered_s + 59) / 60)
					      : ISOLATE_WINDOW_S / 60;

	worst = flaps > errors ? flaps : errors;
	worst = ber > worst ? ber : worst;
	reason[0] = '\0';
	if (worst <= 0)
		return 0;
	if (flaps >= worst)
		snprintf(reason, ISOLATE_REASON_SIZE,
			 "%" PRIu64 " losses of the link in %u min (isolate_flaps %u)",
			 figures->flaps, minutes, options->flaps);
	else if (errors >= worst)
		snprintf(reason, ISOLATE_REASON_SIZE,
			 "%" PRIu64 " link errors in %u min (isolate_link_errors %u)",
			 figures->link_errors, minutes, options->link_errors);
	else
		snprintf(reason, ISOLATE_REASON_SIZE,
			 "symbol BER of %.1e in %u min (isolate_ber %u)", figures->ber, minutes,
			 options->ber);
	return worst;
}

unsigned isolate_limit(const struct isolate_options *options, unsigned links)
{
	unsigned share = links >= 200 ? links / 100 : 1;

	return options->quota < share ? options->quota : share;
}

enum isolate_verdict isolate_verdict(const struct isolate_options *options,
				     const struct isolate_facts *facts)
{
	const struct {
		bool applies;
		enum isolate_verdict verdict;
	} rules[] = {
		{facts->moving, ISOLATE_MOVING},
		{facts->no_link, ISOLATE_NO_LINK},
		{facts->drained, ISOLATE_DRAINED},
		{facts->own, ISOLATE_OWN},
		{facts->host && !options->hosts, ISOLATE_HOST},
		{facts->isolated >= isolate_limit(options, facts->links), ISOLATE_QUOTA},
		{facts->lost_ports > 0, ISOLATE_LAST_PATH},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].applies)
			return rules[i].verdict;
	return ISOLATE_NOW;
}

/* Facts */

static bool place_is_moving(const struct sm *sm, const struct drained_place *place)
{
	bool stays = place->marked_us && loop_now_us(sm->loop) - place->marked_us > MOVING_US;

	return place->entry.port && place->step != DRAINED_ISOLATED && !stays &&
	       !sm->drain.drained.targets[place->target].held &&
	       drained_port(sm->fabric, &place->entry);
}

static bool fabric_is_moving(const struct sm *sm)
{
	const struct sweep *sweep = &sm->sweep;
	const struct drained *drained = &sm->drain.drained;

	for (size_t i = 0; i < drained->count; i++)
		if (place_is_moving(sm, &drained->places[i]))
			return true;
	return !sm->view || !sm->routed || sweep->running || sweep->failures ||
	       sm->trigger.wanted || sm->routed_topology != sm->fabric->topology ||
	       sm->fabric->num_links == 0;
}

/* The port of these figures; for the link of a host, the port of the host. NULL: it is unknown. */
static struct port *port_of_figures(const struct sm *sm, const struct isolate_figures *figures)
{
	struct port *port;

	if (!figures->is_switch)
		return map_get(&sm->fabric->ports, figures->guid);
	port = fabric_switch_port(sm->fabric, figures->guid, figures->num);
	return port && port->peer && !port_of_switch(port->peer) ? port->peer : port;
}

/* The port is in the highest bits, in which GUIDs of nodes do not differ. */
static uint64_t isolate_key(guid_t node_guid, uint8_t num)
{
	return node_guid ^ (uint64_t)num << 56;
}

void isolate_pardon(struct sm *sm, guid_t node_guid, uint8_t num)
{
	/* The end of this second: errors of its begin do not count. */
	map_put(&sm->drain.pardons, isolate_key(node_guid, num),
		(void *)(uintptr_t)(loop_wall_s(sm->loop) + 1));
}

static uint64_t pardoned_s(const struct sm *sm, const struct port *port)
{
	return port ? map_counted(&sm->drain.pardons, isolate_key(port->node->guid, port->num)) : 0;
}

uint64_t isolate_since_s(const struct sm *sm, guid_t guid, bool is_switch, uint8_t num)
{
	const struct port *port = port_of_figures(
		sm, &(struct isolate_figures){.guid = guid, .is_switch = is_switch, .num = num});
	uint64_t now_s = loop_wall_s(sm->loop),
		 since_s = now_s > ISOLATE_WINDOW_S ? now_s - ISOLATE_WINDOW_S : 0;
	uint64_t own_s = pardoned_s(sm, port), peer_s = port ? pardoned_s(sm, port->peer) : 0;

	since_s = own_s > since_s ? own_s : since_s;
	return peer_s > since_s ? peer_s : since_s;
}

static bool is_own_link(const struct sm *sm, const struct port *port)
{
	return port == sm->fabric->sm_port || port->peer == sm->fabric->sm_port ||
	       drain_manager_at(sm, port);
}

/* The facts that are equal for all ports. */
static struct isolate_facts common_facts(const struct sm *sm)
{
	return (struct isolate_facts){.moving = fabric_is_moving(sm),
				      .isolated = drained_count(sm->registry, true),
				      .links = sm->fabric->num_links};
}

/* places and count: of drained_places(), to be freed by the caller. */
static struct isolate_facts facts_of(const struct sm *sm, const struct port *port,
				     struct isolate_facts facts, struct drained_entry **places,
				     size_t *count)
{
	const struct port *peer = port ? port->peer : NULL;

	facts.no_link = !peer || port_state_of(port) < PORT_ACTIVE;
	if (facts.moving || facts.no_link)
		return facts;
	facts.drained = port_drained(port) ||
			port_is_disabled(sm->registry, port->node->guid, port->num) ||
			port_is_disabled(sm->registry, peer->node->guid, peer->num);
	facts.own = is_own_link(sm, port);
	facts.host = !port_of_switch(port) || !port_of_switch(peer);
	if (isolate_verdict(&sm->options.isolate, &facts) != ISOLATE_NOW)
		return facts;
	*count = drained_places(sm->fabric, sm->registry, port->node, port->num, places);
	facts.no_link = !*count;
	facts.lost_ports =
		drained_judge(sm->fabric, sm->registry, port->node, *places, *count).ports;
	return facts;
}

/* Messages */

static const char *isolate_port_text(const struct port *port, char text[PORT_NAME_SIZE])
{
	snprintf(text, PORT_NAME_SIZE, "\"%s\" port %u", port->node->facts->description, port->num);
	return text;
}

static const char *const refusals[ISOLATE_VERDICTS] = {
	[ISOLATE_OWN] = "it is the path of a subnet manager",
	[ISOLATE_HOST] = "it is the link of a host, and isolate_hosts is not set",
	[ISOLATE_QUOTA] = "the quota is reached (isolate_quota, and at most 1 % of the links)",
	[ISOLATE_LAST_PATH] = "it is the last path of some hosts",
};

/* The verdict about this port that was logged; ISOLATE_NOW: none. */
static enum isolate_verdict refused_before(const struct sm *sm, const struct port *port)
{
	return (enum isolate_verdict)map_counted(&sm->drain.refused,
						 isolate_key(port->node->guid, port->num));
}

/* Logs each port and verdict once, until no port is above a threshold. Each read logs some ports
 * only, because after a loss of power all ports may be above a threshold. Returns whether it
 * logs. */
static bool tell_refused(struct sm *sm, const struct port *port, enum isolate_verdict verdict,
			 const char *reason)
{
	struct log_subject subject;
	char name[PORT_NAME_SIZE];

	if (!refusals[verdict] || refused_before(sm, port) == verdict)
		return false;
	map_put(&sm->drain.refused, isolate_key(port->node->guid, port->num),
		(void *)(uintptr_t)verdict);
	subject = port_subject(port, MESSAGE_DRAINED);
	log_about(LOG_WARNING, &subject,
		  "%s is not isolated by policy: %s; above a threshold: %s (check its cable and "
		  "plugs)",
		  isolate_port_text(port, name), refusals[verdict], reason);
	return true;
}

/* The target is the end of the cable that is not disabled, so that its record names both ends:
 * drained_cut_off() needs them. */
static void isolate_port(struct sm *sm, const struct port *port, const struct drained_entry *places,
			 size_t count, const char *reason)
{
	bool is_place = places[0].node_guid == port->node->guid && places[0].port == port->num;
	const struct port *target = is_place ? port->peer : port;
	struct log_subject subject = port_subject(target, MESSAGE_DRAINED);
	char name[PORT_NAME_SIZE];

	log_about(LOG_WARNING, &subject,
		  "%s is isolated by policy: %s (check its cable and plugs, then weftctl undrain "
		  "%s %u)",
		  isolate_port_text(target, name), reason, target->node->facts->description,
		  target->num);
	drain_put(sm, target->node, target->num, places, count, false, reason);
	drain_begin(sm);
}

/* The progress of one read, for its limits. */
struct isolate_read {
	struct isolate_facts common;
	unsigned examined, told;
};

static enum isolate_verdict judge_port(struct sm *sm, const struct isolate_figures *figures,
				       struct isolate_read *read)
{
	const struct port *port = port_of_figures(sm, figures);
	struct drained_entry *places = NULL;
	char reason[ISOLATE_REASON_SIZE];
	size_t count = 0;
	struct isolate_facts facts = facts_of(sm, port, read->common, &places, &count);
	enum isolate_verdict verdict = isolate_verdict(&sm->options.isolate, &facts);

	read->examined += verdict == ISOLATE_LAST_PATH;
	isolate_excess(&sm->options.isolate, figures, reason);
	if (verdict == ISOLATE_NOW)
		isolate_port(sm, port, places, count, reason);
	else if (port && read->told < TOLD_MAX)
		read->told += tell_refused(sm, port, verdict, reason);
	free(places);
	return verdict;
}

/* The worst port first; after the others those that were last paths at an earlier read, because
 * only EXAMINED_MAX of these are examined. */
struct excess {
	double ratio;
	bool was_last_path;
	const struct isolate_figures *figures;
};

static bool was_last_path(const struct sm *sm, const struct isolate_figures *figures)
{
	const struct port *port = port_of_figures(sm, figures);

	return port && refused_before(sm, port) == ISOLATE_LAST_PATH;
}

static int by_excess(const void *a, const void *b)
{
	const struct excess *first = a, *second = b;

	if (first->was_last_path != second->was_last_path)
		return first->was_last_path ? 1 : -1;
	if (first->ratio != second->ratio)
		return first->ratio < second->ratio ? 1 : -1;
	if (first->figures->guid != second->figures->guid)
		return first->figures->guid < second->figures->guid ? -1 : 1;
	return first->figures->num - second->figures->num;
}

void isolate_judge(struct sm *sm, const struct isolate_figures *figures, size_t count)
{
	struct isolate_read read = {.common = common_facts(sm)};
	struct excess *list = mem_array(count + 1, sizeof(*list));
	enum isolate_verdict verdict;
	char reason[ISOLATE_REASON_SIZE];
	size_t number = 0;

	if (peers_role(sm->peers) != SM_MASTER)
		count = 0;
	for (size_t i = 0; i < count; i++) {
		list[number] =
			(struct excess){isolate_excess(&sm->options.isolate, &figures[i], reason),
					was_last_path(sm, &figures[i]), &figures[i]};
		number += list[number].ratio > 0;
	}
	if (!number) {
		map_done(&sm->drain.refused);
		map_init(&sm->drain.refused);
	}
	qsort(list, number, sizeof(*list), by_excess);
	for (size_t i = 0; i < number && read.examined < EXAMINED_MAX; i++) {
		verdict = judge_port(sm, list[i].figures, &read);
		if (verdict == ISOLATE_NOW || verdict == ISOLATE_MOVING)
			break;
	}
	free(list);
}
