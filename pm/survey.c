/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Slices over the view's links and over the agents' ports: survey.h. */
#include "pm/survey.h"

#include <stdlib.h>

#include "lib/mem.h"

enum { PIECE = 128, LINK_UNITS = 2 };

static const struct port_info *info_of(const struct node_facts *facts, uint8_t num)
{
	return facts && num <= facts->info.num_ports && facts->port[num].known
		       ? &facts->port[num].info
		       : NULL;
}

/* Each cable between switches is examined from the switch with the lower index. */
static bool is_slow(const struct snapshot *snapshot, uint32_t sw, uint8_t num)
{
	const struct snap_link *link = snap_link(snapshot, sw, num);
	const struct node_facts *there = link->end >= 0	 ? snapshot->ends[link->end].facts
					 : link->sw >= 0 ? snapshot->switches[link->sw].facts
							 : NULL;
	const struct port_info *a = info_of(snapshot->switches[sw].facts, num);
	const struct port_info *b = there ? info_of(there, link->port) : NULL;
	char could[24];

	if (link->sw >= 0 &&
	    ((uint32_t)link->sw < sw || ((uint32_t)link->sw == sw && link->port < num)))
		return false;
	return a && b && port_below(a, b, could);
}

static unsigned links_stage(void *arg, size_t *at)
{
	struct pm_survey *survey = arg;
	const struct snapshot *snapshot = survey->view ? survey->view->topology : NULL;
	unsigned units = 0;

	if (*at == 0)
		survey->num_links = 0;
	for (; snapshot && *at < snapshot->num_switches && units < PIECE; ++*at) {
		const struct snap_switch *sw = &snapshot->switches[*at];

		for (unsigned num = 1; num <= sw->num_ports; num++) {
			if (!is_slow(snapshot, (uint32_t)*at, (uint8_t)num))
				continue;
			survey->links =
				mem_grow(survey->links, survey->num_links, sizeof(*survey->links));
			survey->links[survey->num_links++] =
				(struct pm_slow_link){(uint32_t)*at, (uint8_t)num};
		}
		units += 1 + LINK_UNITS * sw->num_ports;
	}
	return units;
}

static void survey_add_port(struct pm_key **keys, size_t *count, const struct pm_agent *agent,
			    unsigned num)
{
	*keys = mem_grow(*keys, *count, sizeof(**keys));
	(*keys)[(*count)++] = (struct pm_key){agent->guid, agent->is_switch, (uint8_t)num};
}

static bool has_full_counter(const struct pm_port *port)
{
	for (unsigned bit = 0; bit < PORT_ERRORS; bit++)
		if (pm_is_full(port, bit))
			return true;
	return false;
}

static unsigned ports_stage(void *arg, size_t *at)
{
	struct pm_survey *survey = arg;
	const struct pm_agents *agents = &survey->pm->agents;
	unsigned units = 0;

	if (*at == 0) {
		survey->num_rose = survey->num_rest = survey->num_clean = survey->num_full = 0;
		survey->num_over = 0;
		survey->merges = agents->merges;
	}
	for (; *at < agents->count && units < PIECE; ++*at) {
		struct pm_agent *agent = agents->list[*at];

		for (unsigned num = agent->first; num <= agent->last; num++) {
			const struct pm_port *port = pm_agent_port(agent, (uint8_t)num);

			if (!port->has_errors) {
				if (port->read_us)
					survey_add_port(&survey->clean, &survey->num_clean, agent,
							num);
				continue;
			}
			survey->num_full += has_full_counter(port);
			if (port->over && !survey->num_over++)
				survey->first_over = (struct pm_key){agent->guid, agent->is_switch,
								     (uint8_t)num};
			if (port->rose & ~(UINT32_C(1) << SELECT_XMIT_WAIT))
				survey_add_port(&survey->rose, &survey->num_rose, agent, num);
			else
				survey_add_port(&survey->rest, &survey->num_rest, agent, num);
		}
		units += 2u + agent->last - agent->first;
	}
	return units;
}

/* The list of agents has changed. */
static bool survey_is_stale(const void *arg)
{
	const struct pm_survey *survey = arg;

	return survey->merges != survey->pm->agents.merges;
}

static void survey_gathered(void *arg)
{
	struct pm_survey *survey = arg;

	list_del(&survey->link);
	survey->done(survey->arg, survey);
}

void pm_survey_begin(struct pm *pm, void (*done)(void *arg, struct pm_survey *survey), void *arg)
{
	static slice_fn *const stages[] = {links_stage, ports_stage, NULL};
	static const struct slice_plan plan = {
		.name = "counters: survey", .stages = stages, .is_stale = survey_is_stale};
	struct pm_survey *survey = mem_zalloc(sizeof(*survey));

	survey->pm = pm;
	survey->view = *pm->view ? view_ref(*pm->view) : NULL;
	survey->merges = pm->agents.merges;
	survey->done = done;
	survey->arg = arg;
	list_init(&survey->link);
	list_push(&pm->surveys, &survey->link);
	slices_init(&survey->slices, pm->loop, &plan, survey, survey_gathered, survey);
	slices_begin(&survey->slices);
}

void pm_survey_free(struct pm_survey *survey)
{
	if (!survey)
		return;
	slices_cancel(&survey->slices);
	list_del(&survey->link);
	view_unref(survey->view);
	free(survey->links);
	free(survey->rose);
	free(survey->rest);
	free(survey->clean);
	free(survey);
}

void pm_surveys_end(struct pm *pm)
{
	list_for_each (item, &pm->surveys) {
		struct pm_survey *survey = container_of(item, struct pm_survey, link);

		survey->done(survey->arg, NULL);
		pm_survey_free(survey);
	}
}
