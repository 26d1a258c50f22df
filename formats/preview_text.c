/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A line of the summary for each kind of value, then the list: formats/preview_text.h. */
#include "formats/preview_text.h"

#include <string.h>

static const char *preview_text_of(const json_t *object, const char *member)
{
	const char *text = json_string_value(json_object_get(object, member));

	return text ? text : "";
}

static long long count_in(const json_t *object, const char *member)
{
	return json_integer_value(json_object_get(object, member));
}

static const char *plural_of(long long count)
{
	return count == 1 ? "" : "s";
}

static void print_managers(const json_t *report, FILE *out)
{
	json_t *manager;
	size_t i;

	json_array_foreach (json_object_get(report, "managers"), i, manager)
		fprintf(out, "Manager      %s at LID %lld, priority %lld, %s\n",
			preview_text_of(manager, "guid"), count_in(manager, "lid"),
			count_in(manager, "priority"), preview_text_of(manager, "state"));
}

static void preview_print_table(const json_t *table, const char *title, const char *entry,
				FILE *out)
{
	long long entries = count_in(table, "entries"), blocks = count_in(table, "blocks");
	long long switches = count_in(table, "switches");

	if (!entries)
		fprintf(out, "%-12s no change\n", title);
	else
		fprintf(out, "%-12s %lld %s, in %lld block%s of %lld switch%s\n", title, entries,
			entry, blocks, plural_of(blocks), switches, switches == 1 ? "" : "es");
}

static void print_p_keys(const json_t *keys, FILE *out)
{
	if (!count_in(keys, "ports"))
		fprintf(out, "P_Keys       no change\n");
	else
		fprintf(out, "P_Keys       %lld removed, %lld added, in the tables of %lld ports\n",
			count_in(keys, "removed"), count_in(keys, "added"),
			count_in(keys, "ports"));
}

static void print_bounced(const json_t *bounced, FILE *out)
{
	json_t *link;
	size_t i;

	if (!json_array_size(bounced))
		fprintf(out, "Links        none would bounce\n");
	json_array_foreach (bounced, i, link)
		fprintf(out, "Link bounces \"%s\" (%s) port %lld\n", preview_text_of(link, "node"),
			preview_text_of(link, "guid"), count_in(link, "port"));
}

static void print_preview_members(const json_t *members, FILE *out)
{
	json_t *member;
	size_t i;

	json_array_foreach (members, i, member)
		fprintf(out, "%-12s %s changes on %lld %s%s\n",
			preview_text_of(member, "attribute"), preview_text_of(member, "member"),
			count_in(member, "count"),
			strcmp(preview_text_of(member, "attribute"), "SwitchInfo") ? "port"
										   : "switch",
			strcmp(preview_text_of(member, "attribute"), "SwitchInfo")
				? plural_of(count_in(member, "count"))
			: count_in(member, "count") == 1 ? ""
							 : "es");
}

static void print_problems(const json_t *report, FILE *out)
{
	json_t *problem;
	size_t i;

	json_array_foreach (json_object_get(report, "problems"), i, problem)
		fprintf(out, "Problem      %s\n", json_string_value(problem));
	if (!json_is_true(json_object_get(report, "complete")))
		fprintf(out, "INCOMPLETE   %s: the takeover may send other Sets, too\n",
			preview_text_of(report, "result"));
}

static void print_changes(const json_t *changes, FILE *out)
{
	json_t *change;
	size_t i;

	if (changes)
		fputc('\n', out);
	json_array_foreach (changes, i, change)
		fprintf(out, "\"%s\" (%s) port %lld: %s %s: %s -> %s\n",
			preview_text_of(change, "node"), preview_text_of(change, "guid"),
			count_in(change, "port"), preview_text_of(change, "attribute"),
			preview_text_of(change, "member"), preview_text_of(change, "before"),
			preview_text_of(change, "after"));
}

void preview_text_print(const json_t *report, FILE *out)
{
	const json_t *lids = json_object_get(report, "lids");
	const json_t *sets = json_object_get(report, "sets");

	fprintf(out, "Preview of a takeover from %s port %lld. Nothing was written.\n",
		preview_text_of(report, "ca"), count_in(report, "port"));
	print_problems(report, out);
	fprintf(out, "Fabric       %lld switches, %lld adapters\n", count_in(report, "switches"),
		count_in(report, "adapters"));
	print_managers(report, out);
	fprintf(out, "Routing      %s\n", preview_text_of(report, "engine"));
	fprintf(out, "LIDs         %lld kept, %lld changed, %lld assigned\n",
		count_in(lids, "kept"), count_in(lids, "changed"), count_in(lids, "assigned"));
	preview_print_table(json_object_get(report, "lft"), "Forwarding", "entries", out);
	preview_print_table(json_object_get(report, "multicast"), "Multicast", "masks", out);
	print_p_keys(json_object_get(report, "p_keys"), out);
	print_bounced(json_object_get(report, "bounced"), out);
	fprintf(out, "Notified     %lld end ports, to re-register (ClientReregister)\n",
		count_in(report, "reregistrations"));
	print_preview_members(json_object_get(report, "members"), out);
	fprintf(out,
		"Sets         %lld change a value or notify, %lld change nothing, %lld not "
		"readable\n",
		count_in(sets, "changing"), count_in(sets, "unchanged"), count_in(sets, "refused"));
	print_changes(json_object_get(report, "changes"), out);
}
