/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Levels of the log as a setting: their precedence, and invalid texts. The command goes over a real
 * control socket.
 */
#include "weftd/log_levels.h"

#include <pthread.h>
#include <stdatomic.h>

#include "lib/log.h"
#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

static struct {
	struct loop *loop;
	struct registry *registry;
	struct log_levels levels;
} bed;

static void begin(void)
{
	bed.loop = loop_new();
	bed.registry = registry_new();
}

static void end(void)
{
	registry_free(bed.registry);
	loop_free(bed.loop);
	log_set_level(NULL, LOG_INFO);
}

/* The setting, the resulting levels of three components with notice configured, and whether it is
 * ignored. */
static const struct {
	const char *text;
	int sm, sa, lib;
	bool ignored;
} rows[] = {
	{NULL, LOG_NOTICE, LOG_NOTICE, LOG_NOTICE, false},
	{"err", LOG_ERR, LOG_ERR, LOG_ERR, false},
	{"sm=debug", LOG_DEBUG, LOG_NOTICE, LOG_NOTICE, false},
	{"err,sm=debug", LOG_DEBUG, LOG_ERR, LOG_ERR, false},
	{"sm=debug,err", LOG_DEBUG, LOG_ERR, LOG_ERR, false},
	{"sm=debug,sa=emerg", LOG_DEBUG, LOG_EMERG, LOG_NOTICE, false},
	{"sm=loud", LOG_NOTICE, LOG_NOTICE, LOG_NOTICE, true},
	{"err,cellar=debug", LOG_NOTICE, LOG_NOTICE, LOG_NOTICE, true},
	{"err,", LOG_NOTICE, LOG_NOTICE, LOG_NOTICE, true},
	{"=err", LOG_NOTICE, LOG_NOTICE, LOG_NOTICE, true},
	{"sm=", LOG_NOTICE, LOG_NOTICE, LOG_NOTICE, true},
	{"sm=sa=err", LOG_NOTICE, LOG_NOTICE, LOG_NOTICE, true},
	{"", LOG_NOTICE, LOG_NOTICE, LOG_NOTICE, true},
	{"erro", LOG_NOTICE, LOG_NOTICE, LOG_NOTICE, true},
};

static void expect(size_t row)
{
	CU_ASSERT_EQUAL(log_level("sm"), rows[row].sm);
	CU_ASSERT_EQUAL(log_level("sa"), rows[row].sa);
	CU_ASSERT_EQUAL(log_level("lib"), rows[row].lib);
}

static void test_texts(void)
{
	struct unit_capture capture;
	char text[4096];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_t *shown = json_array(), *ignored;

		begin();
		setting_put(bed.registry, "log_level", rows[i].text);
		unit_capture_begin(&capture);
		log_levels_init(&bed.levels, bed.loop, bed.registry, LOG_NOTICE);
		unit_capture_end(&capture, text, sizeof(text));
		expect(i);
		CU_ASSERT_EQUAL(strstr(text, "ignored: unknown ") != NULL, rows[i].ignored);
		settings_status(&bed.levels.settings, shown);
		CU_ASSERT_EQUAL(json_array_size(shown), rows[i].text != NULL);
		ignored = json_object_get(json_array_get(shown, 0), "ignored");
		CU_ASSERT_EQUAL(ignored != NULL, rows[i].ignored);
		json_decref(shown);
		log_levels_configure(&bed.levels, LOG_WARNING);
		CU_ASSERT_EQUAL(log_level("lib"),
				rows[i].lib == LOG_NOTICE ? LOG_WARNING : rows[i].lib);
		log_levels_done(&bed.levels);
		end();
	}
}

/* The command */

static struct {
	char path[64];
	const char *room, *level;
	char *error;
	json_t *result;
	struct loop_timer tick;
	atomic_bool over;
} call;

static void *client(void *arg)
{
	/* "room" is the former name of "component". */
	bool former = call.room && !strcmp(call.room, "sma");
	json_t *request = json_pack("{s:s,s:s*,s:s*}", "command", "log level",
				    former ? "room" : "component", call.room, "level", call.level);

	control_call(call.path, request, NULL, NULL, &call.result, &call.error);
	json_decref(request);
	call.over = true;
	return arg;
}

static void tick(void *arg)
{
	if (call.over)
		loop_stop(bed.loop, 0);
	else
		loop_timer_arm(arg, 500);
}

static const struct {
	const char *room, *level, *kept, *error;
} commands[] = {
	{NULL, "err", "err", NULL},
	{"sm", "debug", "err,sm=debug", NULL},
	{"sa", "debug", "err,sm=debug,sa=debug", NULL},
	{"sm", "default", "err,sa=debug", NULL},
	{"cellar", "debug", "err,sa=debug", "unknown component \"cellar\""},
	{"sm", "loud", "err,sa=debug", "unknown level \"loud\""},
	{"sm", NULL, "err,sa=debug", "unknown level \"\""},
	{NULL, NULL, "err,sa=debug", NULL}, /* shows them */
	{NULL, "notice", "notice", NULL},
	{NULL, "default", NULL, NULL},
	{"lib", "info", "lib=info", NULL},
	{"lib", "default", NULL, NULL},
	{"sma", "info", "mad=info", NULL}, /* as an earlier version called part of it */
	{"mad", "default", NULL, NULL},
	{"store", "err", "store=err", NULL},
	{"ha", "debug", "store=err,ha=debug", NULL},
	{NULL, "default", NULL, NULL},
};

static void ask(size_t row)
{
	pthread_t thread;

	call.room = commands[row].room;
	call.level = commands[row].level;
	call.error = NULL;
	call.result = NULL;
	call.over = false;
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, client, NULL), 0);
	loop_timer_init(&call.tick, bed.loop, "tick", tick, &call.tick);
	loop_timer_arm(&call.tick, 0);
	loop_run(bed.loop);
	pthread_join(thread, NULL);
}

/* Of all rooms but those of other programs. */
static void expect_components(const json_t *shown)
{
	static const char *const others[] = {"sma", "sim", "ctl", "test"};
	size_t wanted = 0;

	for (const char *const *room = log_components(); *room; room++) {
		bool other = false, found = false;

		for (size_t i = 0; i < ARRAY_SIZE(others); i++)
			other |= !strcmp(*room, others[i]);
		for (size_t i = 0; i < json_array_size(shown); i++)
			found |= !strcmp(json_string_value(json_object_get(json_array_get(shown, i),
									   "component")),
					 *room);
		CU_ASSERT_EQUAL(found, !other);
		wanted += !other;
	}
	CU_ASSERT_EQUAL(json_array_size(shown), wanted);
}

static void test_command(void)
{
	char folder[] = "/tmp/weft-levels-XXXXXX";
	struct control *control;

	begin();
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(call.path, sizeof(call.path), "%s/sock", folder);
	CU_ASSERT_EQUAL_FATAL(control_listen(bed.loop, call.path, &control), 0);
	log_levels_init(&bed.levels, bed.loop, bed.registry, LOG_NOTICE);
	log_levels_register(&bed.levels, control);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		const char *kept;

		ask(i);
		kept = setting_get(bed.registry, "log_level");
		CU_ASSERT_STRING_EQUAL(kept ? kept : "", commands[i].kept ? commands[i].kept : "");
		CU_ASSERT_EQUAL(call.result != NULL, !commands[i].error);
		CU_ASSERT_TRUE(!commands[i].error ||
			       (call.error && strstr(call.error, commands[i].error)));
		if (call.result)
			expect_components(json_object_get(call.result, "rooms"));
		json_decref(call.result);
		free(call.error);
	}
	control_free(control);
	log_levels_done(&bed.levels);
	end();
	rmdir(folder);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"texts", test_texts},
		{"command", test_command},
		CU_TEST_INFO_NULL,
	};

	return unit_main("log levels", tests);
}
