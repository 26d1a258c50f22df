/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Prints the answers of `weftctl ha ...`. */
#include <string.h>

#include "ctl/handlers.h"
#include "ctl/text.h"

static void print_standbys(const json_t *standbys, FILE *out)
{
	static const struct column columns[] = {
		COLUMN("STANDBY", "guid", COLUMN_TEXT),
		COLUMN("ADDRESS", "address", COLUMN_NAME),
		COLUMN("ROLE", "role", COLUMN_TEXT),
		COLUMN("STATE", "state", COLUMN_TEXT),
		COLUMN("COPIES", "copies", COLUMN_TEXT, .drop = 4),
		COLUMN("LAG", "lag", COLUMN_NUMBER),
		COLUMN("TABLES", "tables", COLUMN_NUMBER, .drop = 1),
		COLUMN_FORMAT("LAST-SEEN", "{last_seen_ms:ms} ago", COLUMN_NUMBER, .drop = 3),
		COLUMN("STORE", "store", COLUMN_TEXT, .drop = 2),
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
	text_put(out, master, "Master      {state}");
	if (json_object_get(master, "guid"))
		text_put(out, master,
			 " {guid} at {address}, {lag:d} changes behind, last seen "
			 "{last_seen_ms:ms} ago");
	text_put(out, master,
		 "\n{other_partitions:?Partitions  the file here differs from the master's\n}");
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
	if (number_member(refused, "connections") || number_member(refused, "standbys") ||
	    number_member(refused, "masters"))
		text_put(out, refused,
			 "Refused     {connections:d} connections, {standbys:d} standbys, "
			 "{masters:d} masters\n");
}

/* The setting in force: how records travel, and which records. */
static void print_carrier(const json_t *data, FILE *out)
{
	static const struct {
		const char *carrier, *copies, *text;
	} rows[] = {
		{"tcp", "all", "over TCP: all records"},
		{"fabric", "all", "over the fabric, with ha_psk_file: all records"},
		{"fabric", "no secrets",
		 "over the fabric (allowed_sm_guids): all but M_Keys and service keys"},
		{"fabric", "registrations",
		 "over the fabric, without a key: registrations that clients may read"},
	};
	const char *text = "no";

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].carrier, text_member(data, "carrier")) &&
		    !strcmp(rows[i].copies, text_member(data, "copies")))
			text = rows[i].text;
	fprintf(out, "Replicates  %s\n", text);
}

void print_ha(const json_t *data, FILE *out)
{
	const char *listen = text_member(data, "listen");
	bool leads = !strcmp(text_member(data, "role"), "MASTER");

	text_put(out, data, "Role        {role}\n");
	print_carrier(data, out);
	if (strcmp(text_member(data, "carrier"), "fabric"))
		text_put(out, data,
			 *listen ? "Listens     {listen}\n"
				 : "Listens     no: standbys cannot follow this manager\n");
	text_put(out, data, "Durability  {durability}");
	if (leads && strcmp(text_member(data, "durability"), text_member(data, "acknowledged_by")))
		fputs("; local now, because no standby is in sync", out);
	fputc('\n', out);
	print_refused(json_object_get(data, "refused"), out);
	if (json_is_object(json_object_get(data, "master")))
		print_master(json_object_get(data, "master"), out);
	if (strcmp(text_member(data, "carrier"), "fabric") || !leads)
		print_ha_peers(json_object_get(data, "peers"), out);
	if (leads)
		print_standbys(json_object_get(data, "standbys"), out);
}

void print_handover(const json_t *data, FILE *out)
{
	text_put(out, data,
		 "handover complete: manager {guid} is MASTER, this manager is its standby\n");
}

void print_ordered(const json_t *data, FILE *out)
{
	text_put(out, data, "manager {guid} is {state}\n");
}
