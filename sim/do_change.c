/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands of `weftsim do` that change the fabric: cables, power, habits of devices, faults,
 * traps. Each checks its words first and changes nothing if one of them is wrong. On the server's
 * thread.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/suggest.h"
#include "mad/perf.h"
#include "sim/do.h"
#include "sim/find.h"
#include "sma/personality.h"

enum { PPM = 1000000, PPM_PER_PERCENT = PPM / 100, DELAY_MAX_US = 60 * 1000000 };

/* The index of a word in a list, or -EINVAL. */
static int do_choose_word(struct do_call *call, const char *word, const char *const *choices)
{
	struct suggest suggest = suggest_for(word);

	for (int i = 0; choices[i]; i++) {
		if (!strcmp(choices[i], word))
			return i;
		suggest_try(&suggest, choices[i]);
	}
	return do_fail(call, "%s: \"%.40s\" is none of %s%s%s", call->command->name, word,
		       call->command->arguments, suggest.best ? "; did you mean " : "",
		       suggest.best ? suggest.best : "");
}

static int change_find_node(struct do_call *call, const char *word, struct device **out)
{
	char error[FIND_ERROR_SIZE];

	return find_node(call->world, word, out, error) ? do_fail(call, "%s", error) : 0;
}

static int named_port(struct do_call *call, const char *node, const char *port,
		      struct device_port **out)
{
	char error[FIND_ERROR_SIZE];
	struct device *device;
	int r = change_find_node(call, node, &device);

	if (r)
		return r;
	return find_port(device, port, out, error) ? do_fail(call, "%s", error) : 0;
}

int do_link(struct do_call *call)
{
	static const char *const choices[] = {"down", "up", NULL};
	struct device_port *port;
	int choice = do_choose_word(call, call->words[0], choices);
	int r = choice < 0 ? choice : named_port(call, call->words[1], call->words[2], &port);

	if (r)
		return r;
	r = world_link(call->world, port->device, port->num, choice == 1);
	if (r == -ENOTCONN)
		return do_fail(call, "port %u of %s has no cable", port->num,
			       find_name(port->device));
	return r ? do_fail(call, "port %u of %s is the switch's own and has no cable", port->num,
			   find_name(port->device))
		 : 0;
}

int do_node(struct do_call *call)
{
	static const char *const choices[] = {"down", "up", "reboot", NULL};
	struct device *device;
	int choice = do_choose_word(call, call->words[0], choices);
	int r = choice < 0 ? choice : change_find_node(call, call->words[1], &device);

	if (r)
		return r;
	if (choice == 2)
		world_reboot(call->world, device);
	else
		world_node(call->world, device, choice == 1);
	return 0;
}

int do_device(struct do_call *call)
{
	static const char *const choices[] = {"add", "remove", NULL};
	struct device *device;
	int choice = do_choose_word(call, call->words[0], choices);
	int r = choice < 0 ? choice : change_find_node(call, call->words[1], &device);

	if (!r)
		kernel_remove_device(call->kernel, device, choice == 1);
	return r;
}

/* Habits */

static int list_personalities(struct do_call *call)
{
	for (const struct personality *row = personalities; row->name; row++)
		fprintf(call->out, "%-20s %s\n", row->name, row->summary);
	return 0;
}

static const struct personality *named_personality(struct do_call *call, const char *word)
{
	const struct personality *found = personality_find(word);
	struct suggest suggest = suggest_for(word);

	if (found)
		return found;
	for (const struct personality *row = personalities; row->name; row++)
		suggest_try(&suggest, row->name);
	do_fail(call, "behave: \"%.40s\" is no habit; %s%s", word,
		suggest.best ? "did you mean " : "see 'behave list'",
		suggest.best ? suggest.best : "");
	return NULL;
}

int do_behave(struct do_call *call)
{
	const struct personality *personality;
	struct device *const *devices;
	struct device *only = NULL;
	size_t count = world_devices(call->world, &devices);
	int r = 0;

	if (!strcmp(call->words[0], "list") && !call->words[1])
		return list_personalities(call);
	personality = named_personality(call, call->words[0]);
	if (!personality)
		return -EINVAL;
	if (call->words[1])
		r = change_find_node(call, call->words[1], &only);
	if (r)
		return r;
	if (only)
		only->quirks = personality->quirks;
	for (size_t i = 0; i < count && !only; i++)
		devices[i]->quirks = personality->quirks;
	return 0;
}

int do_smi(struct do_call *call)
{
	static const char *const choices[] = {"off", "on", NULL};
	struct device *device;
	int choice = do_choose_word(call, call->words[0], choices);
	int r = choice < 0 ? choice : change_find_node(call, call->words[1], &device);

	if (!r)
		kernel_set_smi(call->kernel, device, choice == 1);
	return r;
}

/* Faults */

/* A number from 0 to most, with or without its unit. */
static int amount(struct do_call *call, const char *word, const char *unit, double most,
		  double *out)
{
	char *end;
	double value = strtod(word, &end);

	if (end == word || (*end && strcmp(end, unit)) || !isfinite(value) || value < 0 ||
	    value > most)
		return do_fail(call, "%s: \"%.40s\" is no number of 0 to %.0f", call->command->name,
			       word, most);
	*out = value;
	return 0;
}

/* The faults of the node that an optional word names. */
static int faults_of(struct do_call *call, const char *word, struct device **only,
		     struct world_faults *out)
{
	int r = 0;

	*only = NULL;
	if (word)
		r = change_find_node(call, word, only);
	if (!r)
		*out = *world_faults(call->world, *only);
	return r;
}

int do_drop(struct do_call *call)
{
	struct world_faults faults;
	struct device *only;
	double percent;
	int r = amount(call, call->words[0], "%", 100, &percent);

	if (!r)
		r = faults_of(call, call->words[1], &only, &faults);
	if (r)
		return r;
	faults.drop_ppm = (unsigned)(percent * PPM_PER_PERCENT);
	world_set_faults(call->world, only, &faults);
	return 0;
}

int do_delay(struct do_call *call)
{
	struct world_faults faults;
	struct device *only;
	double us;
	int r = amount(call, call->words[0], "us", DELAY_MAX_US, &us);

	if (!r)
		r = faults_of(call, call->words[1], &only, &faults);
	if (r)
		return r;
	faults.delay_us = (unsigned)us;
	faults.delay_ppm = faults.delay_us ? PPM : 0;
	world_set_faults(call->world, only, &faults);
	return 0;
}

int do_duplicate(struct do_call *call)
{
	struct world_faults faults = *world_faults(call->world, NULL);
	double percent;
	int r = amount(call, call->words[0], "%", 100, &percent);

	if (r)
		return r;
	faults.duplicate_ppm = (unsigned)(percent * PPM_PER_PERCENT);
	world_set_faults(call->world, NULL, &faults);
	return 0;
}

/* Traps */

int do_trap(struct do_call *call)
{
	struct device_port *port, *sender;
	double number;
	int r = amount(call, call->words[0], "", UINT16_MAX, &number);

	if (!r)
		r = named_port(call, call->words[1], call->words[2], &port);
	if (r)
		return r;
	sender = device_port_is_end(port) ? port : &port->device->port[0];
	if (!sender->info.master_sm_lid)
		return do_fail(call, "port %u of %s knows no subnet manager to send a trap to",
			       sender->num, find_name(port->device));
	return device_raise(port, (uint16_t)number)
		       ? do_fail(call, "the agent of %s has no trap %u about port %u",
				 find_name(port->device), (unsigned)number, port->num)
		       : 0;
}

/* Counters */

/* The bit of CounterSelect of a counter that users may change, or -EINVAL. */
static int named_counter(struct do_call *call, const char *word)
{
	struct suggest suggest = suggest_for(word);

	for (int bit = 0; bit < PORT_COUNTERS_SELECTED; bit++) {
		const char *name = port_counters_format.fields[port_counters_rows[bit]].name;

		if (bit >= PORT_ERRORS && bit != SELECT_XMIT_WAIT)
			continue;
		if (!strcmp(name, word))
			return bit;
		suggest_try(&suggest, name);
	}
	return do_fail(call, "count: \"%.40s\" is no error counter%s%s", word,
		       suggest.best ? "; did you mean " : "", suggest.best ? suggest.best : "");
}

int do_count(struct do_call *call)
{
	struct device_port *port;
	int bit = named_counter(call, call->words[2]);
	int r = bit < 0 ? bit : named_port(call, call->words[0], call->words[1], &port);
	uint64_t *counter;
	double number;

	if (!r)
		r = amount(call, call->words[3], "", UINT32_MAX, &number);
	if (r)
		return r;
	counter = bit == SELECT_XMIT_WAIT ? &port->counts.xmit_wait : &port->counts.error[bit];
	*counter += (uint64_t)number;
	return 0;
}
