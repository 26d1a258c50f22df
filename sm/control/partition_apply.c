/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * partition apply: makes the partitions and members of one owner match a text in the format of
 * partition files, and changes nothing of other owners. The text arrives in pieces. A worker parses
 * it. The differences are computed in slices, and again after each change of partitions. Few
 * changes are made in one turn of the loop, many in slices; the store and the standbys apply them
 * whole or not at all. One application at a time compares and changes. The answer follows when its
 * changes are durable. Loop thread only, but for the job.
 */
#include "sm/control/partition_apply.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "sm/partition/owner.h"

enum { CHANGES_AT_ONCE = 1000 }; /* without slices */

static const char *const kind_names[] = {
	[PARTITION_MADE] = "partition made",	     [PARTITION_CHANGED] = "partition changed",
	[PARTITION_REMOVED] = "partition removed",   [MEMBER_ADDED] = "member added",
	[MEMBER_CHANGED] = "member changed",	     [MEMBER_REMOVED] = "member removed",
	[OF_OTHER_OWNER] = "kept: of another owner",
};

/* Changes */

static void make_change(struct application *a, const struct difference *difference)
{
	struct registry *registry = a->sm->registry;
	pkey_t p_key = difference->p_key;
	const struct partition_member_entry member = {p_key, difference->guid, difference->after};
	struct partition_entry entry = {.p_key = p_key};

	switch (difference->kind) {
	case PARTITION_MADE:
	case PARTITION_CHANGED:
		entry = apply_entry_of(&a->text->partitions[difference->partition]);
		registry_put(registry, REGISTRY_PARTITION, &entry);
		partition_owner_put(registry, p_key, 0, a->owner);
		break;
	case PARTITION_REMOVED:
		registry_drop(registry, REGISTRY_PARTITION, &entry);
		partition_owner_put(registry, p_key, 0, NULL);
		break;
	case MEMBER_ADDED:
	case MEMBER_CHANGED:
		registry_put(registry, REGISTRY_PARTITION_MEMBER, &member);
		partition_owner_put(registry, p_key, difference->guid, a->owner);
		break;
	case MEMBER_REMOVED:
		registry_drop(registry, REGISTRY_PARTITION_MEMBER, &member);
		partition_owner_put(registry, p_key, difference->guid, NULL);
		break;
	default:
		break;
	}
}

/* Answers */

static json_t *difference_json(struct application *a, const struct difference *difference)
{
	static const char *const memberships[] = {"-", "limited", "full", "both"};
	const struct port *port =
		difference->guid ? policy_port(&a->sm->policy, difference->guid) : NULL;
	char guid[GUID_TEXT];

	return json_pack(
		"{s:s,s:i,s:s,s:s,s:s,s:s,s:s}", "kind", kind_names[difference->kind], "p_key",
		difference->p_key, "guid",
		difference->guid ? guid_text(difference->guid, guid) : "", "description",
		port ? port->node->facts->description : "", "before",
		memberships[difference->before & MEMBERSHIP_BOTH], "after",
		memberships[difference->after & MEMBERSHIP_BOTH], "owner",
		difference->kind == OF_OTHER_OWNER
			? partition_owner(a->sm->registry, difference->p_key, difference->guid)
			: a->owner);
}

static json_t *answer_json(struct application *a, bool dry_run, const char *danger)
{
	json_t *rows = json_array();
	uint64_t changed = a->num_differences - a->counts[OF_OTHER_OWNER];

	for (size_t i = 0; i < a->num_differences && i < PARTITION_ROWS_MAX; i++)
		json_array_append_new(rows, difference_json(a, &a->differences[i]));
	return json_pack("{s:s,s:b,s:b,s:I,s:I,s:I,s:s?,s:o}", "owner", a->owner, "dry_run",
			 dry_run, "changed", changed > 0, "num_changed", (json_int_t)changed,
			 "members", (json_int_t)a->num_wishes, "kept",
			 (json_int_t)a->counts[OF_OTHER_OWNER], "danger", danger, "differences",
			 rows);
}

static void apply_next(struct sm_commands *commands);

static void application_free(struct application *a)
{
	list_del(&a->link);
	slices_cancel(&a->slices);
	apply_walk_end(a);
	registry_unread(&a->reader);
	registry_wait_cancel(&a->durable);
	json_decref(a->answer);
	partitions_free(a->text);
	free(a->name);
	free(a->source);
	free(a->owner);
	free(a->expected);
	free(a->error);
	free(a->danger);
	free(a->wishes);
	free(a->differences);
	free(a);
}

/* Ends it with an error, and begins the next. */
static void application_fail(struct application *a, const char *reason)
{
	struct sm_commands *commands = a->sm->commands;

	if (a->request)
		control_fail(a->request, "%s", reason);
	application_free(a);
	apply_next(commands);
}

static void application_is_durable(void *ctx)
{
	struct application *a = ctx;

	control_reply(a->request, json_incref(a->answer));
	application_free(a);
}

/* All changes are made. */
static void application_ends(void *arg)
{
	struct application *a = arg;
	char state[GUID_TEXT];

	if (registry_follows(a->sm->registry)) {
		application_fail(a, "this manager is MASTER no longer, and the changes may be "
				    "incomplete: repeat the command at the new MASTER");
		return;
	}
	json_object_set_new(a->answer, "state", json_string(guid_text(a->state, state)));
	registry_unread(&a->reader);
	a->phase = IS_DONE;
	apply_next(a->sm->commands);
	registry_wait(a->sm->registry, &a->durable);
}

/* All changes are one unit, which begins when no other is open. */
static unsigned begin_changes(void *arg, size_t *at)
{
	struct application *a = arg;

	if (*at)
		return 0;
	if (registry_is_together(a->sm->registry))
		return APPLY_WHOLE_TURN;
	*at = 1;
	registry_together(a->sm->registry, true);
	return 1;
}

static unsigned make_changes(void *arg, size_t *at)
{
	struct application *a = arg;
	size_t begin = *at;

	if (registry_follows(a->sm->registry))
		return 0; /* another manager is MASTER */
	while (*at < a->num_differences && *at < begin + APPLY_PIECE)
		make_change(a, &a->differences[(*at)++]);
	return (unsigned)(*at - begin) * APPLY_COST;
}

static unsigned end_changes(void *arg, size_t *at)
{
	struct application *a = arg;

	if (*at)
		return 0;
	*at = 1;
	if (!registry_follows(a->sm->registry))
		registry_together(a->sm->registry, false);
	return 1;
}

static slice_fn *const change_stages[] = {begin_changes, make_changes, end_changes, NULL};
static const struct slice_plan change_plan = {"partition apply: changes", change_stages, NULL};

static void application_run(struct application *a)
{
	a->answer = answer_json(a, a->dry_run, a->danger);
	a->phase = CHANGES;
	if (!a->dry_run && a->num_differences > CHANGES_AT_ONCE) {
		slices_init(&a->slices, a->sm->loop, &change_plan, a, application_ends, a);
		slices_begin(&a->slices);
		return;
	}
	for (size_t i = 0; !a->dry_run && i < a->num_differences; i++)
		make_change(a, &a->differences[i]);
	application_ends(a);
}

/* Whether nothing was changed since the state that the request expects, if it expects one. */
static bool is_expected(struct application *a)
{
	char state[GUID_TEXT];

	guid_text(a->state, state);
	if (!a->expected || !strcmp(a->expected, state))
		return true;
	return apply_refuse(
		a,
		"partitions were changed since state %.20s (now %s): run partition apply "
		"--dry-run again, which shows the present differences; weftctl events shows "
		"the changes; nothing was changed",
		a->expected, state);
}

static void application_refuse(struct application *a)
{
	apply_refuse(a, "%s: see --dry-run, and add --force; nothing was changed", a->danger);
	application_fail(a, a->error);
}

static void application_compared(void *arg)
{
	struct application *a = arg;

	if (a->error || !is_expected(a))
		application_fail(a, a->error);
	else if (!sm_is_master(a->sm))
		application_fail(a, "this manager is MASTER no longer: use the new MASTER; nothing "
				    "was changed");
	else if (a->danger && !a->force && !a->dry_run)
		application_refuse(a);
	else
		application_run(a);
}

static void application_parse(struct work_job *job)
{
	apply_parse(container_of(job, struct application, parsing));
}

static void application_parsed(struct work_job *job)
{
	struct application *a = container_of(job, struct application, parsing);

	if (!a->request || a->error) {
		application_fail(a, a->error);
		return;
	}
	a->phase = COMPARES;
	registry_read(a->sm->registry, &a->reader);
	slices_init(&a->slices, a->sm->loop, &apply_comparison_plan, a, application_compared, a);
	slices_begin(&a->slices);
}

/* Begins the first application that waits, unless another one is under way. */
static void apply_next(struct sm_commands *commands)
{
	list_for_each (link, &commands->applications) {
		struct application *a = container_of(link, struct application, link);

		if (a->phase == IS_DONE)
			continue;
		if (a->phase == WAITS && a->request) {
			a->phase = PARSES;
			work_submit(a->sm->pool, &a->parsing);
		}
		return;
	}
}

static char *text_or_null(const json_t *args, const char *member)
{
	const char *text = json_string_value(json_object_get(args, member));

	return text ? mem_strdup(text) : NULL;
}

static struct application *application_new(struct sm *sm, struct control_request *request,
					   const json_t *args)
{
	struct application *a = mem_zalloc(sizeof(*a));

	*a = (struct application){
		.sm = sm,
		.request = request,
		.name = text_or_null(args, "name"),
		.owner = text_or_null(args, "owner"),
		.expected = text_or_null(args, "if-state"),
		.dry_run = json_is_true(json_object_get(args, "dry-run")),
		.force = json_is_true(json_object_get(args, "force")),
		.allow_both = sm->options.allow_both,
		.reader = {.changed = apply_read, .ctx = a},
		.durable = {.durable = application_is_durable, .ctx = a},
		.parsing = {.name = "partition apply",
			    .run = application_parse,
			    .done = application_parsed},
	};
	if (!a->name)
		a->name = mem_strdup("file");
	if (!a->owner)
		a->owner = mem_strdup("admin");
	list_init(&a->reader.link);
	list_init(&a->durable.link);
	list_init(&a->parsing.link);
	slices_init(&a->slices, sm->loop, &apply_comparison_plan, a, application_compared, a);
	return a;
}

void command_partition_apply(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	struct upload *upload = &sm->commands->apply_upload;
	const char *owner = json_string_value(json_object_get(args, "owner"));
	struct application *a;

	if (!sm_may_change(sm, request, "change partitions"))
		return;
	if (owner && !partition_owner_is_valid(owner)) {
		control_fail(request,
			     "\"%.64s\" is no owner: expected admin, site or gateway:NAME (at most "
			     "%d letters, digits and .-_; file is the partition file itself)",
			     owner, PARTITION_OWNER_SIZE - 1);
		return;
	}
	if (!upload_take(upload, request, args, "partition apply") ||
	    upload_continues(upload, request, args))
		return;
	a = application_new(sm, request, args);
	a->source = upload->text;
	a->source_length = upload->length;
	upload->text = NULL;
	upload_forget(upload);
	list_push(&sm->commands->applications, &a->link);
	apply_next(sm->commands);
}

void partition_apply_init(struct sm *sm)
{
	list_init(&sm->commands->applications);
}

/* Changes that have begun are completed: they are one unit. */
static void application_stop(struct application *a)
{
	bool was_changing = a->phase == CHANGES && a->slices.stage;
	size_t at = 0;

	if (was_changing) {
		while (make_changes(a, &a->slices.at))
			;
		end_changes(a, &at);
	}
	slices_cancel(&a->slices);
	if (a->request)
		control_fail(a->request, "the daemon is stopping; %s",
			     was_changing || a->phase == IS_DONE ? "the changes were made"
								 : "nothing was changed");
	a->request = NULL;
	registry_wait_cancel(&a->durable);
	registry_unread(&a->reader);
	apply_walk_end(a);
}

void partition_apply_stop(struct sm_commands *commands)
{
	list_for_each (link, &commands->applications)
		application_stop(container_of(link, struct application, link));
	upload_forget(&commands->apply_upload);
}

void partition_apply_done(struct sm_commands *commands)
{
	list_for_each (link, &commands->applications)
		application_free(container_of(link, struct application, link));
}
