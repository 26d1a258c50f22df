/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Prints the answers of `weftctl ha ...`. */
#include <string.h>

#include "ctl/handlers.h"
#include "ctl/text.h"
#include "lib/mem.h"

static char *last_seen_text(const json_t *standby)
{
	char span[TEXT_SPAN_SIZE];

	return mem_printf("%s ago", text_span(1000 * number_member(standby, "last_seen_ms"), span));
}

static void print_standbys(const json_t *standbys, FILE *out)
{
	static const struct column columns[] = {
		COLUMN("STANDBY", "guid", COLUMN_TEXT),
		COLUMN("ADDRESS", "address", COLUMN_TEXT),
		COLUMN("ROLE", "role", COLUMN_TEXT),
		COLUMN("STATE", "state", COLUMN_TEXT),
		COLUMN("LAG", "lag", COLUMN_NUMBER),
		COLUMN("TABLES", "tables", COLUMN_NUMBER),
		COLUMN_FROM("LAST-SEEN", last_seen_text, COLUMN_NUMBER),
		COLUMN("STORE", "store", COLUMN_TEXT),
		{.name = NULL},
	};

	if (!json_array_size(standbys)) {
		fputs("Standbys    none\n", out);
		return;
	}
	fputc('\n', out);
	columns_print(columns, NULL, standbys, out);
}

static void print_master(const json_t *master, FILE *out)
{
	char span[TEXT_SPAN_SIZE];

	fprintf(out, "Master      %s", text_member(master, "state"));
	if (json_object_get(master, "guid"))
		fprintf(out, " %s at %s, %lld changes behind, last seen %s ago",
			text_member(master, "guid"), text_member(master, "address"),
			number_member(master, "lag"),
			text_span(1000 * number_member(master, "last_seen_ms"), span));
	fputc('\n', out);
	if (json_is_true(json_object_get(master, "other_partitions")))
		fputs("Partitions  the file here differs from the master's\n", out);
}

static void print_ha_peers(const json_t *peers, FILE *out)
{
	const json_t *peer;
	size_t i;

	json_array_foreach (peers, i, peer) {
		const char *why = text_member(peer, "why");

		fprintf(out, "%-11s %s%s%s\n", i ? "" : "Peers", text_member(peer, "address"),
			*why ? ": " : "", why);
	}
}

static void print_refused(const json_t *refused, FILE *out)
{
	long long connections = number_member(refused, "connections"),
		  standbys = number_member(refused, "standbys"),
		  masters = number_member(refused, "masters");

	if (connections || standbys || masters)
		fprintf(out, "Refused     %lld connections, %lld standbys, %lld masters\n",
			connections, standbys, masters);
}

void print_ha(const json_t *data, FILE *out)
{
	const char *listen = text_member(data, "listen");
	bool leads = !strcmp(text_member(data, "role"), "MASTER");

	fprintf(out, "Role        %s\n", text_member(data, "role"));
	fprintf(out, "Listens     %s\n",
		*listen ? listen : "no: standbys cannot follow this manager");
	fprintf(out, "Durability  %s", text_member(data, "durability"));
	if (leads && strcmp(text_member(data, "durability"), text_member(data, "acknowledged_by")))
		fputs("; local now, because no standby is in sync", out);
	fputc('\n', out);
	print_refused(json_object_get(data, "refused"), out);
	if (json_is_object(json_object_get(data, "master")))
		print_master(json_object_get(data, "master"), out);
	print_ha_peers(json_object_get(data, "peers"), out);
	if (leads)
		print_standbys(json_object_get(data, "standbys"), out);
}

void print_handover(const json_t *data, FILE *out)
{
	fprintf(out, "handover complete: manager %s is MASTER, this manager is its standby\n",
		text_member(data, "guid"));
}

void print_ordered(const json_t *data, FILE *out)
{
	fprintf(out, "manager %s is %s\n", text_member(data, "guid"), text_member(data, "state"));
}
