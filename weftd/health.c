/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The rules of weftctl health: health.h. A new check is one or more rows; a figure that the status
 * lacks is added there. In texts and conditions a path names a member of the status, with dots
 * between names and indexes of arrays. It stands for a text, for a number, or for the size of an
 * array.
 */
#include "weftd/health.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

enum { CONDITIONS = 3, NAME_SIZE = 32 };

const char *const health_level_names[HEALTH_LEVELS] = {"healthy", "degraded", "broken"};

/* A check has the level and the text of its first row whose conditions hold. */
struct rule {
	const char *check;
	enum health_level level;
	bool fabric; /* about the fabric: only a MASTER knows it */
	/* All must hold. "path": it is true, above 0, or not empty; "!path": it is not;
	 * "path=text": it is this text. */
	const char *when[CONDITIONS];
	const char *text;   /* {path}; {path#one|many}: a word that depends on the number */
	const char *remedy; /* NULL: none is needed */
};

#define OK(check, text, ...)                                            \
	{                                                               \
		check, HEALTH_HEALTHY, false, {__VA_ARGS__}, text, NULL \
	}
#define BAD(check, level, text, remedy, ...)                              \
	{                                                                 \
		check, HEALTH_##level, false, {__VA_ARGS__}, text, remedy \
	}
#define FABRIC_OK(check, text, ...)                                    \
	{                                                              \
		check, HEALTH_HEALTHY, true, {__VA_ARGS__}, text, NULL \
	}
#define FABRIC_BAD(check, level, text, remedy, ...)                      \
	{                                                                \
		check, HEALTH_##level, true, {__VA_ARGS__}, text, remedy \
	}

#define PLAN_REMEDY                                                                         \
	"connect the cables as planned: weftctl topology check {planned_links.file} lists " \
	"all; or change the file, then weftctl config reload"

static const struct rule rules[] = {
	BAD("subnet", BROKEN, "{state}", "check the adapter: ibstat", "condition=no device"),
	BAD("subnet", BROKEN, "{state}", "check the cable of this host: ibstat",
	    "condition=no fabric"),
	BAD("subnet", BROKEN, "{state}", "choose another engine: weftctl route engine updn",
	    "condition=no routes"),
	BAD("subnet", DEGRADED, "{state}", "choose another engine: weftctl route engine updn",
	    "condition=old routes"),
	BAD("subnet", DEGRADED, "{state}", "at the MASTER: weftctl ha enable {guid}",
	    "condition=disabled"),
	BAD("subnet", DEGRADED, "the first sweep has not ended", "journalctl -u weftd shows why",
	    "condition=starting"),
	BAD("subnet", DEGRADED, "{state}", "weftctl sweep heavy; journalctl -u weftd shows why",
	    "condition=not up"),
	BAD("subnet", DEGRADED, "{state}", "weftctl sweep heavy; journalctl -u weftd shows why",
	    "condition=up with errors"),
	OK("subnet", "{state}", "condition=standby"),
	OK("subnet", "{role}; {counts.switches} switch{counts.switches#|es}, {counts.adapters} "
		     "adapter{counts.adapters#|s}, {counts.links} link{counts.links#|s}"),

	FABRIC_BAD("standby", DEGRADED,
		   "no standby is connected; since the start of weftd, {ha.refused.connections} "
		   "connection{ha.refused.connections#|s} to ha_listen failed or had no valid key",
		   "check ha_psk_file at the standby and here: weftctl ha status", "ha.listens",
		   "!ha.standbys", "ha.refused.connections"),
	BAD("standby", DEGRADED, "no standby is connected: a failover would lose registrations",
	    "start weftd on the standby, and check its ha_peers: weftctl ha status", "role=MASTER",
	    "ha.listens", "!ha.standbys"),
	BAD("standby", DEGRADED, "no standby is connected: a failover would lose registrations",
	    "start weftd on the standby with the same ha_psk_file: weftctl ha status",
	    "role=MASTER", "ha.keyed", "!ha.standbys"),
	BAD("standby", DEGRADED,
	    "{ha.without_m_keys} of {ha.standbys} standbys cannot manage the fabric after a "
	    "failover: M_Keys travel only with ha_psk_file",
	    "set the same ha_psk_file on all managers, and restart them", "role=MASTER",
	    "ha.without_m_keys"),
	BAD("standby", DEGRADED,
	    "{ha.without_partitions} of {ha.standbys} standby{ha.standbys#|s} without the "
	    "partitions that commands made: a failover would remove their P_Keys",
	    "set the same ha_psk_file on all managers, and restart them; or keep the partitions in "
	    "the partition file of each",
	    "role=MASTER", "ha.without_partitions"),
	BAD("standby", DEGRADED, "{ha.out_of_sync} of {ha.standbys} standbys are not in sync",
	    "weftctl ha status shows the reason", "role=MASTER", "ha.out_of_sync"),
	BAD("standby", DEGRADED, "this standby does not receive the registrations of the MASTER",
	    "check ha_peers and ha_psk_file: weftctl ha status", "role=STANDBY", "ha.has_peers",
	    "!ha.follows"),
	OK("standby",
	   "the MASTER does not replicate over the fabric: hosts register again after a failover",
	   "role=STANDBY", "ha.inband", "ha.unserved"),
	BAD("standby", DEGRADED, "this standby does not receive the registrations of the MASTER",
	    "weftctl ha status has the reason; if the MASTER is another program, set ha_inband = "
	    "false",
	    "role=STANDBY", "ha.inband", "!ha.follows"),
	OK("standby", "{ha.in_sync} standby{ha.in_sync#|s} in sync", "role=MASTER", "ha.standbys"),
	OK("standby", "follows the MASTER", "ha.follows"),
	OK("standby", "none is connected over the fabric", "role=MASTER", "ha.inband"),
	OK("standby", "none is configured"),

	BAD("partitions", BROKEN, "{partitions.fault}", "{partitions.remedy}", "partitions.frozen"),
	BAD("partitions", DEGRADED, "{partitions.fault}", "{partitions.remedy}",
	    "partitions.file_bad"),
	BAD("partitions", DEGRADED,
	    "not reloaded: {partitions.reload_error}; the former partitions stay in force",
	    "correct the file until weftctl config check accepts it; then weftctl config reload",
	    "partitions.reload_error"),
	OK("partitions", "{partitions.source}"),

	BAD("config", DEGRADED, "not reloaded: {reload_error}; the former values stay in force",
	    "weftctl config check; then weftctl config reload", "reload_error"),
	OK("config", "as in the files at the last reload"),

	BAD("store", DEGRADED,
	    "{store.path}: {store.reason}; new registrations are lost if weftd ends",
	    "make room, or set --state-dir to a directory on another disk", "store.reason"),
	OK("store", "{store.path}", "store.path"),
	OK("store", "none"),

	FABRIC_BAD("routes", BROKEN,
		   "the routes of {routing.looping} pair{routing.looping#|s} of switch and LID "
		   "loop",
		   "weftctl reroute; weftctl route check names a pair", "routing.looping"),
	FABRIC_BAD("routes", BROKEN,
		   "no route connects {routing.unreached} pair{routing.unreached#|s} of switch and "
		   "LID",
		   "weftctl reroute; weftctl route check names a pair", "routing.unreached"),
	FABRIC_BAD("routes", DEGRADED,
		   "the fabric is in several parts: no cables connect {routing.disconnected} "
		   "pair{routing.disconnected#|s} of switch and LID",
		   "connect the parts; weftctl route check lists them", "routing.disconnected"),
	FABRIC_OK("routes", "{routing.engine}; every switch reaches every LID", "routing.engine"),

	FABRIC_BAD("credit_loops", DEGRADED,
		   "routes of {routing.engine}: {routing.credit_loops} link direction"
		   "{routing.credit_loops#|s} can wait for "
		   "{routing.credit_loops#itself|themselves}, and traffic can stop forever",
		   "weftctl route engine updn; weftctl route check shows a loop",
		   "routing.credit_loops"),
	FABRIC_OK("credit_loops", "none", "routing.credit_checked"),

	FABRIC_BAD("switches", DEGRADED,
		   "{unrouted} switch{unrouted#|es} not fully usable: "
		   "\"{unrouted.0.description}\": {unrouted.0.why}",
		   "weftctl status lists such switches", "unrouted"),
	FABRIC_OK("switches", "all are usable"),

	FABRIC_BAD("devices", DEGRADED,
		   "{silent_peers.count} device{silent_peers.count#|s} not answering: the peer of "
		   "\"{silent_peers.ports.0.description}\" port {silent_peers.ports.0.port} (agent "
		   "down, or unknown M_Key)",
		   "reboot the device, or import its key: weftctl keys import FILE",
		   "silent_peers.count"),
	FABRIC_BAD("devices", DEGRADED,
		   "{silent_nodes.count} device{silent_nodes.count#|s} not answering, but with "
		   "links: \"{silent_nodes.ports.0.description}\"",
		   "restart the driver or the device; weftctl why "
		   "{silent_nodes.ports.0.description}",
		   "silent_nodes.count"),
	FABRIC_BAD("devices", DEGRADED,
		   "{perf.silent} of {perf.agents} agents did not answer the last read of the "
		   "counters: \"{perf.silent_example}\"",
		   "weftctl why {perf.silent_example}; weftctl perf sweep reads the counters again",
		   "perf.silent"),
	FABRIC_OK("devices", "all answer"),

	FABRIC_BAD(
		"guids", DEGRADED,
		"{anomalies.duplicate_guids} GUID{anomalies.duplicate_guids#|s} of more than one "
		"device",
		"journalctl -u weftd names the devices; give one of them another GUID",
		"anomalies.duplicate_guids"),
	FABRIC_OK("guids", "unique"),

	FABRIC_BAD(
		"links", DEGRADED,
		"{lost_links.count} link{lost_links.count#|s} down: "
		"\"{lost_links.links.0.from.description}\" port {lost_links.links.0.from.port} - "
		"\"{lost_links.links.0.to.description}\" port {lost_links.links.0.to.port}",
		"weftctl events --kind link; if it was removed: weftctl health accept",
		"lost_links.count"),
	FABRIC_OK("links", "all up, apart from planned links", "lost_links.planned"),
	FABRIC_OK("links", "all up; disabled by command: {disabled_ports}", "disabled_ports"),
	FABRIC_OK("links", "all up"),

	FABRIC_BAD("planned_links", DEGRADED,
		   "{planned_links.nodes_missing} planned node{planned_links.nodes_missing#|s} "
		   "absent, and {planned_links.missing} planned link{planned_links.missing#|s} "
		   "absent or moved: {planned_links.example}",
		   PLAN_REMEDY, "planned_links.nodes_missing", "planned_links.missing"),
	FABRIC_BAD("planned_links", DEGRADED,
		   "{planned_links.nodes_missing} planned node{planned_links.nodes_missing#|s} "
		   "absent: {planned_links.example}",
		   PLAN_REMEDY, "planned_links.nodes_missing"),
	FABRIC_BAD("planned_links", DEGRADED,
		   "{planned_links.missing} planned link{planned_links.missing#|s} absent or "
		   "moved: {planned_links.example}",
		   PLAN_REMEDY, "planned_links.missing"),
	FABRIC_OK("planned_links",
		  "as in {planned_links.file}; disabled by command: {planned_links.by_command}",
		  "planned_links.by_command"),
	FABRIC_OK("planned_links", "as in {planned_links.file}", "planned_links.compared"),

	FABRIC_BAD(
		"drained", DEGRADED,
		"\"{drained_ports.cut_off.description}\" can no longer be reached, and a port or "
		"cable between it and drained {drained_ports.cut_off.target} is disabled",
		"repair its other links; or run weftctl undrain {drained_ports.cut_off.target}, "
		"and restart the switch if it does not return",
		"drained_ports.cut_off"),
	FABRIC_BAD("drained", DEGRADED,
		   "{drained_ports.by_policy} port{drained_ports.by_policy#|s} isolated by policy: "
		   "\"{drained_ports.example.description}\" port {drained_ports.example.port}, "
		   "{drained_ports.example.reason}",
		   "check cable and plugs; then run weftctl undrain "
		   "{drained_ports.example.description} {drained_ports.example.port}",
		   "drained_ports.by_policy"),
	FABRIC_OK("drained",
		  "{drained} node{drained#|s} or port{drained#|s}: \"{drained.0.description}\", "
		  "{drained.0.state}",
		  "drained"),
	FABRIC_OK("drained", "none"),

	FABRIC_BAD("slow_links", DEGRADED,
		   "{perf.slow_links} link{perf.slow_links#|s} slower than both ends support: "
		   "\"{perf.slow_example.from.description}\" port {perf.slow_example.from.port} - "
		   "\"{perf.slow_example.to.description}\" port {perf.slow_example.to.port}, "
		   "{perf.slow_example.width_speed} instead of {perf.slow_example.could}",
		   "check cable and plugs; weftctl perf errors lists such links",
		   "perf.slow_links"),
	FABRIC_OK("slow_links", "none"),

	FABRIC_BAD("errors", DEGRADED,
		   "{perf.ports_above_threshold} port{perf.ports_above_threshold#|s} above a "
		   "threshold: \"{perf.threshold_example.description}\" port "
		   "{perf.threshold_example.port}, {perf.threshold_example.counter}",
		   "check cable and plugs; weftctl perf errors lists such ports",
		   "perf.ports_above_threshold"),
	FABRIC_OK("errors", "below the thresholds", "perf.sweeps"),
	FABRIC_OK("errors", "no counters were read yet"),

	FABRIC_BAD("settings", DEGRADED,
		   "{refusing.count} port{refusing.count#|s} refusing a setting: "
		   "\"{refusing.ports.0.description}\" port {refusing.ports.0.port}, "
		   "{refusing.ports.0.what}",
		   "check the firmware; weftctl --json status lists such ports", "refusing.count"),
	FABRIC_OK("settings", "no device refuses any"),

	FABRIC_BAD("traps", DEGRADED,
		   "too many traps from \"{traps.suppressed_from}\": some are not forwarded",
		   "check that device; weftctl events --kind trap", "traps.suppressed_recently"),
	FABRIC_OK("traps", "none suppressed"),

	FABRIC_BAD("keys", DEGRADED, "M_Keys are not set yet: a standby would not get them",
		   "set the same ha_psk_file on all managers, and restart them; or accept this: "
		   "weftctl config reload --force",
		   "keys.held_back"),
	FABRIC_BAD("keys", DEGRADED,
		   "wrong M_Keys from \"{keys.violated_by}\", {keys.violations} so far",
		   "find the program that sends them: weftctl keys status",
		   "keys.violated_recently"),
	FABRIC_OK("keys", "no wrong M_Keys"),
};

/* Paths: name.name or name.index, up to the end or to a # */

static const json_t *step_to(const json_t *value, const char *name)
{
	return json_is_array(value) ? json_array_get(value, (size_t)atoi(name))
				    : json_object_get(value, name);
}

static const json_t *health_member(const json_t *value, const char *path, size_t size)
{
	char name[NAME_SIZE];

	while (value && size) {
		size_t part = strcspn(path, ".");

		part = part < size ? part : size;
		snprintf(name, sizeof(name), "%.*s", (int)part, path);
		value = step_to(value, name);
		part += part < size;
		path += part;
		size -= part;
	}
	return value;
}

static long long number_of(const json_t *value)
{
	return json_is_array(value) ? (long long)json_array_size(value)
				    : (long long)json_integer_value(value);
}

static bool is_set(const json_t *value)
{
	const char *text = json_string_value(value);

	return json_is_true(value) || json_is_object(value) || (text && *text) ||
	       number_of(value) > 0;
}

static bool condition_holds(const json_t *status, const char *condition)
{
	bool negated = *condition == '!';
	const char *path = condition + negated, *text = strchr(path, '=');
	const json_t *value =
		health_member(status, path, text ? (size_t)(text - path) : strlen(path));

	if (text)
		return json_is_string(value) && !strcmp(json_string_value(value), text + 1);
	return is_set(value) != negated;
}

static bool rule_applies(const json_t *status, const struct rule *rule)
{
	if (rule->fabric && !condition_holds(status, "role=MASTER"))
		return false;
	for (unsigned i = 0; i < CONDITIONS && rule->when[i]; i++)
		if (!condition_holds(status, rule->when[i]))
			return false;
	return true;
}

/* Writes the value of {place} to out. */
static void put_place(FILE *out, const json_t *status, const char *place, size_t size)
{
	size_t path = strcspn(place, "#}");
	const json_t *value = health_member(status, place, path);
	const char *words = place + path + 1, *second;

	if (place[path] == '#') {
		second = strchr(words, '|') + 1;
		if (number_of(value) == 1)
			fwrite(words, 1, (size_t)(second - words) - 1, out);
		else
			fwrite(second, 1, (size_t)(place + size - second), out);
	} else if (json_is_string(value)) {
		fputs(json_string_value(value), out);
	} else {
		fprintf(out, "%lld", number_of(value));
	}
}

/* The text with its places filled; a new reference. */
static json_t *filled(const json_t *status, const char *format)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *json;

	if (!out)
		abort(); /* out of memory */
	while (*format) {
		size_t plain = strcspn(format, "{"), place;

		fwrite(format, 1, plain, out);
		format += plain;
		if (!*format)
			break;
		place = strcspn(++format, "}");
		put_place(out, status, format, place);
		format += place + 1;
	}
	fclose(out);
	json = json_string(text);
	free(text);
	return json;
}

static json_t *check_json(const json_t *status, const struct rule *rule)
{
	json_t *check =
		json_pack("{s:s,s:s,s:o}", "check", rule->check, "level",
			  health_level_names[rule->level], "text", filled(status, rule->text));

	if (rule->remedy)
		json_object_set_new(check, "remedy", filled(status, rule->remedy));
	return check;
}

json_t *health_judge(const json_t *status)
{
	const struct rule *found[ARRAY_SIZE(rules)];
	enum health_level worst = HEALTH_HEALTHY;
	json_t *checks = json_array();
	const char *decided = ""; /* the last check that has a rule which applies */
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (strcmp(decided, rules[i].check) == 0 || !rule_applies(status, &rules[i]))
			continue;
		decided = rules[i].check;
		found[count++] = &rules[i];
	}
	for (int level = HEALTH_BROKEN; level >= HEALTH_HEALTHY; level--) {
		for (size_t i = 0; i < count; i++) {
			if ((int)found[i]->level != level)
				continue;
			worst = found[i]->level > worst ? found[i]->level : worst;
			json_array_append_new(checks, check_json(status, found[i]));
		}
	}
	return json_pack("{s:s,s:o}", "level", health_level_names[worst], "checks", checks);
}
