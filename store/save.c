/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Saving is a walk over the registry, kind by kind, at the pace of the client. Groups come before
 * members, and a member without a saved group is skipped: members of deleted groups live on for
 * some turns, and new ones appear while the client reads. A document for restore is gathered in a
 * registry of its own, which finds repeated records. When it is complete, records that it lacks
 * are dropped and its records are put, some hundreds in a turn. The client gets the answer when
 * all is durable.
 */
#include "store/save.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "mad/mgid.h"
#include "store/registry_replace.h"

enum {
	RECORDS_A_PART = 64,
	RECORDS_A_TURN = 500, /* also counts unchanged records */
	IDLE_US = 60000000,   /* a document without a new piece for this time is dropped */
};

_Static_assert(sizeof(struct setting_entry) <= SAVE_RECORD_MAX &&
		       sizeof(struct partition_text_entry) <= SAVE_RECORD_MAX &&
		       sizeof(struct service_entry) <= SAVE_RECORD_MAX &&
		       sizeof(struct subscription_entry) <= SAVE_RECORD_MAX,
	       "any record fits");

struct save {
	struct registry *registry;
	struct save_owner owner;

	struct registry *document; /* NULL: none is under way */
	uint64_t token;		   /* the name of the document */
	bool taken[LID_UNICAST_MAX + 1];
	size_t records;
	struct loop_timer idle;

	/* A complete document takes effect. */
	struct control_request *request; /* NULL: no document takes effect */
	bool is_judged;			 /* the document may take effect */
	struct loop_deferred turn;
	struct registry_replace replace;
	struct registry_waiter waiter;
};

/* save */

/* Kinds that are saved only on request. Their records stay if a restored document has none. */
#define SECRETS (UINT64_C(1) << REGISTRY_M_KEY)

struct saving {
	bool with_keys;
	struct registry *registry;
	struct registry_cursor cursor;
	enum registry_kind kind;
	struct registry *groups; /* of the document */
};

static bool has_group(const struct registry *registry, const struct member_entry *member)
{
	struct group_entry key;

	memcpy(key.mgid, member->mgid, GID_SIZE);
	return registry_find(registry, REGISTRY_GROUP, &key);
}

static void save_one(struct saving *saving, const void *record, json_t *records)
{
	if (saving->kind == REGISTRY_MEMBER && !has_group(saving->groups, record))
		return;
	if (SECRETS >> saving->kind & 1 && !saving->with_keys)
		return;
	if (saving->kind == REGISTRY_GROUP)
		registry_put(saving->groups, REGISTRY_GROUP, record);
	json_array_append_new(records, save_record(saving->kind, record));
}

static enum stream_step saving_next(void *source, struct buffer *part)
{
	struct saving *saving = source;
	json_t *records = json_array();
	bool over = false;

	for (unsigned i = 0; i < RECORDS_A_TURN; i++) {
		const void *record = registry_walk_next(&saving->cursor);

		if (record) {
			save_one(saving, record, records);
			if (json_array_size(records) == RECORDS_A_PART)
				break;
			continue;
		}
		over = saving->kind + 1 == REGISTRY_KINDS;
		if (over)
			break;
		registry_walk_end(&saving->cursor);
		registry_walk(saving->registry, ++saving->kind, -1, NULL, &saving->cursor);
	}
	if (over && !json_array_size(records)) {
		json_decref(records);
		return STREAM_END;
	}
	row_integer(part, "version", SAVE_VERSION);
	row_json(part, "records", records);
	return STREAM_PART;
}

static void saving_finish(void *source)
{
	struct saving *saving = source;

	registry_walk_end(&saving->cursor);
	registry_free(saving->groups);
	free(saving);
}

static void command_save(void *ctx, struct control_request *request, const json_t *args)
{
	struct save *save = ctx;
	struct saving *saving = mem_zalloc(sizeof(*saving));

	saving->with_keys = json_object_get(args, "with") != NULL;
	saving->registry = save->registry;
	saving->groups = registry_new();
	saving->kind = REGISTRY_LID;
	registry_walk(save->registry, saving->kind, -1, NULL, &saving->cursor);
	control_stream(request, saving_next, saving_finish, saving);
}

/* restore: pieces */

static void save_forget(struct save *save)
{
	loop_timer_disarm(&save->idle);
	registry_free(save->document);
	save->document = NULL;
	save->records = 0;
	memset(save->taken, 0, sizeof(save->taken));
}

static void save_idle(void *arg)
{
	save_forget(arg);
}

static void begin_document(struct save *save, struct control_request *request, const json_t *args)
{
	json_int_t version = json_integer_value(json_object_get(args, "version"));
	const char *role = save->owner.forbidden(save->owner.ctx);

	if (role) {
		control_fail(request, "this manager is %s: restore documents at the MASTER", role);
		return;
	}
	if (version != SAVE_VERSION) {
		control_fail(request,
			     "the document has version %lld, but this weftd knows version %d",
			     (long long)version, SAVE_VERSION);
		return;
	}
	save_forget(save);
	save->document = registry_new();
	loop_timer_arm(&save->idle, IDLE_US);
	control_reply(request, json_pack("{s:I}", "token", (json_int_t)++save->token));
}

/* Conflicts with an earlier record: a text, or NULL if there is none. */

static const char *lid_clashes(struct save *save, const void *record)
{
	const struct lid_entry *entry = record;

	for (unsigned i = 0; i < 1u << entry->lmc; i++)
		if (save->taken[entry->lid + i])
			return "LID: also in another record";
	for (unsigned i = 0; i < 1u << entry->lmc; i++)
		save->taken[entry->lid + i] = true;
	return NULL;
}

/* Groups with the same MLID may share it already, so one of them is enough for the check. */
static const char *group_clashes(struct save *save, const void *record)
{
	const struct group_entry *group = record, *other;

	other = registry_first(save->document, REGISTRY_GROUP, GROUP_BY_MLID, group);
	return other && !mgids_may_share_mlid(group->mgid, other->mgid)
		       ? "MLID: also in another group"
		       : NULL;
}

static const char *member_clashes(struct save *save, const void *record)
{
	return has_group(save->document, record) ? NULL
						 : "its group is not before it in the document";
}

static const char *alias_clashes(struct save *save, const void *record)
{
	return registry_first(save->document, REGISTRY_ALIAS, ALIAS_BY_GUID, record)
		       ? "GUID: also in another record"
		       : NULL;
}

static const char *(*const clashes[REGISTRY_KINDS])(struct save *save, const void *record) = {
	[REGISTRY_LID] = lid_clashes,
	[REGISTRY_GROUP] = group_clashes,
	[REGISTRY_MEMBER] = member_clashes,
	[REGISTRY_ALIAS] = alias_clashes,
};

/* The key of a record as text: PortGUID "0x...", Index 1. */
static void save_record_name(enum registry_kind kind, const json_t *object,
			     char name[SAVE_WHY_SIZE])
{
	const struct registry_table *table = &registry_tables[kind];
	size_t used = 0;

	for (size_t row = 0; row < table->key_rows && used < SAVE_WHY_SIZE; row++) {
		const char *field = table->format->fields[row].name;
		char *value = json_dumps(json_object_get(object, field), JSON_ENCODE_ANY);

		used += (size_t)snprintf(name + used, SAVE_WHY_SIZE - used, "%s%s %.60s",
					 row ? ", " : "", field, value ? value : "");
		free(value);
	}
}

static int save_add_record(struct save *save, const json_t *object, char why[SAVE_WHY_SIZE])
{
	uint64_t record[SAVE_RECORD_MAX / sizeof(uint64_t)];
	const char *text = NULL;
	enum registry_kind kind;
	int error = save_parse(object, &kind, record, why);

	if (error)
		return error;
	if (registry_find(save->document, kind, record))
		text = "another record has the same key";
	else if (clashes[kind])
		text = clashes[kind](save, record);
	if (text) {
		char name[SAVE_WHY_SIZE];

		save_record_name(kind, object, name);
		snprintf(why, SAVE_WHY_SIZE, "%.60s (%.180s)", text, name);
		return -EINVAL;
	}
	registry_put(save->document, kind, record);
	return 0;
}

static void save_take_piece(struct save *save, struct control_request *request,
			    const json_t *records)
{
	char why[SAVE_WHY_SIZE];
	json_t *object;
	size_t i;

	json_array_foreach (records, i, object) {
		const char *kind = json_string_value(json_object_get(object, "kind"));

		save->records++;
		if (!save_add_record(save, object, why))
			continue;
		control_fail(request, "record %zu (%.40s): %s; nothing was changed", save->records,
			     kind ? kind : "?", why);
		save_forget(save);
		return;
	}
	loop_timer_arm(&save->idle, IDLE_US);
	control_reply(request, json_pack("{s:I}", "records", (json_int_t)save->records));
}

/* restore: taking effect */

static void save_durable(void *ctx)
{
	struct save *save = ctx;
	struct control_request *request = save->request;

	save->request = NULL;
	control_reply(request, json_pack("{s:I,s:I}", "records", (json_int_t)save->records,
					 "changed", (json_int_t)save->replace.changed));
	save_forget(save);
}

static void save_turn(void *arg)
{
	struct save *save = arg;

	if (registry_replace_some(&save->replace, RECORDS_A_TURN)) {
		loop_defer(&save->turn);
		return;
	}
	save->owner.restored(save->owner.ctx);
	registry_wait(save->registry, &save->waiter);
}

/* The role may have changed since the begin of the document. */
static void document_is_judged(void *arg, char *danger)
{
	struct save *save = arg;
	const char *role = save->owner.forbidden(save->owner.ctx);

	if (role)
		control_fail(save->request,
			     "this manager is %s now: restore the document at the MASTER; nothing "
			     "was changed",
			     role);
	else if (danger)
		control_fail(save->request,
			     "the document %s: correct it, or add --force; nothing was changed",
			     danger);
	if (role || danger) {
		free(danger);
		save->request = NULL;
		save_forget(save);
		return;
	}
	save->is_judged = true;
	save->owner.complete(save->owner.ctx, save->document);
	registry_replace_begin(&save->replace, save->registry, save->document, SECRETS);
	loop_defer(&save->turn);
}

static void end_document(struct save *save, struct control_request *request, bool force)
{
	loop_timer_disarm(&save->idle);
	save->request = request;
	save->is_judged = false;
	if (force)
		document_is_judged(save, NULL);
	else
		save->owner.judge(save->owner.ctx, save->document, document_is_judged, save);
}

static void command_restore(void *ctx, struct control_request *request, const json_t *args)
{
	struct save *save = ctx;
	const json_t *records = json_object_get(args, "records");
	uint64_t token = (uint64_t)json_integer_value(json_object_get(args, "token"));

	if (save->request)
		control_fail(request, "another restore is being applied: try again");
	else if (json_object_get(args, "begin"))
		begin_document(save, request, args);
	else if (!save->document || token != save->token)
		control_fail(request, "another restore has begun, or this restore paused for too "
				      "long: nothing was changed; try again");
	else if (json_is_array(records))
		save_take_piece(save, request, records);
	else
		end_document(save, request, json_is_true(json_object_get(args, "force")));
}

static const struct control_command commands[] = {
	{"save", command_save, CONTROL_ACTS},
	{"restore", command_restore, CONTROL_CHANGES},
};

void save_register_commands(struct save *save, struct control *control)
{
	control_register(control, commands, ARRAY_SIZE(commands), save);
}

struct save *save_new(struct loop *loop, struct registry *registry, const struct save_owner *owner)
{
	struct save *save = mem_zalloc(sizeof(*save));

	save->registry = registry;
	save->owner = *owner;
	save->waiter = (struct registry_waiter){.durable = save_durable, .ctx = save};
	list_init(&save->waiter.link);
	loop_timer_init(&save->idle, loop, "restore", save_idle, save);
	loop_deferred_init(&save->turn, loop, "restore", save_turn, save);
	return save;
}

void save_stop(struct save *save)
{
	registry_replace_end(&save->replace);
}

void save_free(struct save *save)
{
	if (!save)
		return;
	save_stop(save);
	save->owner.judge_cancel(save->owner.ctx);
	if (save->request)
		control_fail(save->request, "the daemon is stopping; %s",
			     save->is_judged ? "the document was restored" : "nothing was changed");
	registry_wait_cancel(&save->waiter);
	loop_defer_cancel(&save->turn);
	save_forget(save);
	free(save);
}
