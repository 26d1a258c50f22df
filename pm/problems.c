/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A summary of the links and ports with problems, for `weftctl health`, status and metrics: how
 * many links are slower than both ends support, and how many ports had errors above a threshold at
 * the last read, each with its first example. Loop thread only.
 */
#include <stdlib.h>

#include "lib/mem.h"
#include "pm/survey.h"

struct problems {
	void (*done)(void *arg, json_t *problems);
	void *arg;
};

static json_t *place(const struct node_facts *facts, uint8_t num)
{
	return control_port_json(facts->info.node_guid, facts->description, num);
}

static json_t *slow_example(const struct pm_survey *survey)
{
	const struct snapshot *snapshot = survey->view->topology;
	const struct pm_slow_link *slow = &survey->links[0];
	const struct node_facts *here = snapshot->switches[slow->sw].facts;
	const struct snap_link *link = snap_link(snapshot, slow->sw, slow->port);
	const struct node_facts *there = link->end >= 0 ? snapshot->ends[link->end].facts
							: snapshot->switches[link->sw].facts;
	const struct port_facts *port = &here->port[slow->port];
	char could[24] = "", speed[24];

	port_below(&port->info, &there->port[link->port].info, could);
	return json_pack("{s:o,s:o,s:s,s:s}", "from", place(here, slow->port), "to",
			 place(there, link->port), "width_speed",
			 port_speed_text(&port->info, &port->ext, speed), "could", could);
}

/* The counter of lowest number that rose by its threshold or more. */
static json_t *error_example(const struct pm_survey *survey)
{
	struct pm_agent *agent;
	const struct pm_port *port = pm_find_port(survey->pm, &survey->first_over, &agent);
	unsigned bit = 0;
	json_t *example;

	if (!port || !port->over)
		return NULL;
	while (!(port->over >> bit & 1))
		bit++;
	example = place(agent->facts, survey->first_over.num);
	json_object_set_new(example, "counter", json_string(pm_counter_name(bit)));
	return example;
}

static void problems_gathered(void *arg, struct pm_survey *survey)
{
	struct problems *problems = arg;
	json_t *json = survey ? json_object() : NULL;

	if (survey && survey->view) {
		json_object_set_new(json, "slow_links",
				    json_integer((json_int_t)survey->num_links));
		json_object_set_new(json, "ports_above_threshold",
				    json_integer((json_int_t)survey->num_over));
		json_object_set_new(json, "full_counters",
				    json_integer((json_int_t)survey->num_full));
		if (survey->num_links)
			json_object_set_new(json, "slow_example", slow_example(survey));
		if (survey->num_over)
			json_object_set_new(json, "threshold_example", error_example(survey));
	}
	problems->done(problems->arg, json);
	json_decref(json);
	if (survey)
		pm_survey_free(survey);
	free(problems);
}

void pm_problems(struct pm *pm, void (*done)(void *arg, json_t *problems), void *arg)
{
	struct problems *problems = mem_zalloc(sizeof(*problems));

	*problems = (struct problems){done, arg};
	pm_survey_begin(pm, problems_gathered, problems);
}
