/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * partition check: receives a partition file in parts, parses it, and compares, for each port that
 * has or had a LID, its P_Keys with those in force. Nothing changes. One file at a time: a second
 * client replaces the first, and a client that pauses loses its file. Loop thread only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "sm/control/commands.h"
#include "sm/control/upload.h"

enum {
	ROWS_MAX = 100,
	KEYS_SIZE = 200, /* text of some keys */
	UNITS = 40,	 /* a port costs so many */
};

struct partition_check {
	struct sm *sm;
	struct control_request *request; /* while ports are compared; else NULL */
	struct upload upload;
	struct policy_file *file;
	struct slices slices;
	struct registry_cursor cursor;
	json_t *rows;
	unsigned changed, ports;
};

static void partition_check_forget(struct partition_check *check)
{
	upload_forget(&check->upload);
	policy_file_free(check->file);
	check->file = NULL;
}

/* Prints the keys of a that are not in b. Returns their number. */
static unsigned missing_pkeys(const pkey_t *a, unsigned num_a, const pkey_t *b, unsigned num_b,
			      char text[KEYS_SIZE])
{
	size_t used = 0;
	unsigned count = 0;

	snprintf(text, KEYS_SIZE, "nothing");
	for (unsigned i = 0; i < num_a; i++) {
		unsigned at = 0;

		while (at < num_b && b[at] != a[i])
			at++;
		if (at < num_b)
			continue;
		if (used < KEYS_SIZE)
			used += (size_t)snprintf(text + used, KEYS_SIZE - used, "%s0x%04x",
						 count ? " " : "", a[i]);
		count++;
	}
	return count;
}

static unsigned compare_port(void *arg, size_t *at)
{
	struct partition_check *check = arg;
	struct policy *policy = &check->sm->policy;
	const struct lid_entry *entry = registry_walk_next(&check->cursor);
	char gains[KEYS_SIZE], loses[KEYS_SIZE], guid[GUID_TEXT];
	const struct port *port;
	struct port_keys now, then;
	pkey_t *before;
	unsigned count;

	(*at)++;
	if (!entry)
		return 0;
	check->ports++;
	port = policy_port(policy, entry->guid);
	now = policy_guid_keys(policy, entry->guid);
	before = mem_array(now.count + 1, sizeof(*before));
	memcpy(before, now.key, now.count * sizeof(*before));
	then = policy_keys(policy, check->file, entry->guid, port ? port->node->type : NODE_CA,
			   port && port == check->sm->fabric->sm_port);
	count = missing_pkeys(then.key, then.count, before, now.count, gains) +
		missing_pkeys(before, now.count, then.key, then.count, loses);
	free(before);
	check->changed += count > 0;
	if (count && json_array_size(check->rows) < ROWS_MAX)
		json_array_append_new(check->rows,
				      json_pack("{s:s,s:s,s:s,s:s}", "guid",
						guid_text(entry->guid, guid), "description",
						port ? port->node->facts->description : "", "gains",
						gains, "loses", loses));
	return UNITS;
}

static slice_fn *const stages[] = {compare_port, NULL};
static const struct slice_plan plan = {"partition file check", stages, NULL};

static void compared(void *arg)
{
	struct partition_check *check = arg;
	const struct partitions *file = check->file->partitions;

	registry_walk_end(&check->cursor);
	control_reply(check->request,
		      json_pack("{s:i,s:i,s:i,s:o,s:o}", "partitions", (int)file->count, "changed",
				(int)check->changed, "ports_in_all", (int)check->ports, "ports",
				check->rows, "notes", control_lines(file->notes)));
	check->request = NULL;
	partition_check_forget(check);
}

static void partition_check_compare(struct partition_check *check, struct control_request *request)
{
	check->request = request;
	check->rows = json_array();
	check->changed = check->ports = 0;
	registry_walk(check->sm->registry, REGISTRY_LID, -1, NULL, &check->cursor);
	slices_begin(&check->slices);
}

void command_partition_check(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	struct partition_check *check = sm->commands->partition_check;
	const char *name = json_string_value(json_object_get(args, "name"));
	struct partitions *partitions;
	char *error;

	if (check->request) {
		control_fail(request, "another check of a partition file is running: try again");
		return;
	}
	if (!upload_take(&check->upload, request, args, "check of a partition file") ||
	    upload_continues(&check->upload, request, args))
		return;
	if (partitions_parse_all(name ? name : "file", check->upload.text, check->upload.length,
				 sm->options.allow_both, &partitions, &error)) {
		control_fail(request, "%s", error);
		free(error);
		partition_check_forget(check);
		return;
	}
	check->file = policy_file_new(partitions);
	partition_check_compare(check, request);
}

void partition_check_init(struct sm *sm)
{
	struct partition_check *check = mem_zalloc(sizeof(*check));

	check->sm = sm;
	sm->commands->partition_check = check;
	slices_init(&check->slices, sm->loop, &plan, check, compared, check);
}

void partition_check_stop(struct sm_commands *commands)
{
	struct partition_check *check = commands->partition_check;

	if (check->request) {
		slices_cancel(&check->slices);
		registry_walk_end(&check->cursor);
		json_decref(check->rows);
		control_fail(check->request, "the daemon is stopping");
		check->request = NULL;
	}
	partition_check_forget(check);
}

void partition_check_done(struct sm_commands *commands)
{
	partition_check_stop(commands);
	free(commands->partition_check);
}
