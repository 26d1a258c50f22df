/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The stderr form of the log, its treatment of hostile bytes, levels by component, and the rate
 * limit. */
#include <errno.h>
#include <string.h>

#include "lib/log.h"
#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

static char written[8192];

/* A whole line that log_write() makes of a subject and a text. */
static const char *line_of(const struct log_subject *subject, const char *text)
{
	struct unit_capture capture;

	unit_capture_begin(&capture);
	log_write(LOG_WARNING, "sm", subject, "%s", text);
	unit_capture_end(&capture, written, sizeof(written));
	return written;
}

static void test_form(void)
{
	static const struct {
		struct log_subject subject;
		const char *line;
	} cases[] = {
		{{0}, "WARNING sm: text\n"},
		{{.message_id = "00112233445566778899aabbccddeeff"}, "WARNING sm: text\n"},
		{{.port = 3}, "WARNING sm: text\n"},
		{{.node_guid = 0x2C903}, "WARNING sm: text [node 0x000000000002c903]\n"},
		{{.node_guid = 0x2C903, .port = -1},
		 "WARNING sm: text [node 0x000000000002c903]\n"},
		{{.node_guid = 0x2C903, .node_desc = "leaf 3", .port = 254, .lid = 5},
		 "WARNING sm: text [node 0x000000000002c903 \"leaf 3\" port 254 lid 5]\n"},
		{{.node_desc = "leaf"}, "WARNING sm: text [\"leaf\"]\n"},
		{{.lid = 49151, .role = "MASTER", .sweep = 12, .phase = "discover"},
		 "WARNING sm: text [lid 49151 role MASTER sweep 12 phase discover]\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		CU_ASSERT_STRING_EQUAL(line_of(&cases[i].subject, "text"), cases[i].line);
	CU_ASSERT_STRING_EQUAL(line_of(NULL, "text"), "WARNING sm: text\n");
}

static void test_escaping(void)
{
	static const struct {
		const char *desc, *shown;
	} cases[] = {
		{"a\nERROR sm: forged", "a\\x0aERROR sm: forged"},
		{"\x1b[2J", "\\x1b[2J"},
		{"\x7f\t\r", "\\x7f\\x09\\x0d"},
		{"say \"hi\\\"", "say \\x22hi\\x5c\\x22"},
		{"Zürich €𝄞", "Zürich €𝄞"},
		{"\xc2\x9b", "\\xc2\\x9b"},		      /* a control character */
		{"\xc0\xaf", "\\xc0\\xaf"},		      /* overlong */
		{"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},	      /* overlong */
		{"\xed\xa0\x80", "\\xed\\xa0\\x80"},	      /* surrogate */
		{"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* beyond Unicode */
		{"\xe2\x82", "\\xe2\\x82"},		      /* cut short */
		{"\xff\xfe", "\\xff\\xfe"},		      /* never valid */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct log_subject subject = {.node_desc = cases[i].desc};
		char expected[256];

		snprintf(expected, sizeof(expected), "WARNING sm: t [\"%s\"]\n", cases[i].shown);
		CU_ASSERT_STRING_EQUAL(line_of(&subject, "t"), expected);
	}
	CU_ASSERT_STRING_EQUAL(line_of(NULL, "two\nlines\x1b"), "WARNING sm: two\\x0alines\\x1b\n");
	CU_ASSERT_STRING_EQUAL(line_of(NULL, "\"quoted\\\""), "WARNING sm: \"quoted\\\"\n");
}

/* However long, it stays one line that ends in a newline. */
static void test_long(void)
{
	char text[5000];
	struct log_subject subject = {.node_desc = text};
	const char *line;

	memset(text, '\n', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	line = line_of(&subject, text);
	CU_ASSERT(strlen(line) > 1000);
	CU_ASSERT_PTR_EQUAL(strchr(line, '\n'), line + strlen(line) - 1);
	CU_ASSERT_STRING_EQUAL(line + strlen(line) - 3, "\"]\n");
}

static int is_written(int level, const char *room)
{
	struct unit_capture capture;

	unit_capture_begin(&capture);
	errno = ENOTTY;
	log_write(level, room, NULL, "x");
	unit_capture_end(&capture, written, sizeof(written));
	CU_ASSERT_EQUAL(errno, ENOTTY);
	return written[0] != '\0';
}

static void test_levels(void)
{
	CU_ASSERT_EQUAL(log_level("sm"), LOG_INFO);
	CU_ASSERT_EQUAL(log_level("test"), LOG_NOTICE);
	CU_ASSERT_EQUAL(log_level("cellar"), -ENOENT);
	CU_ASSERT_EQUAL(log_set_level("cellar", LOG_INFO), -ENOENT);
	CU_ASSERT_EQUAL(log_set_level("sm", 8), -EINVAL);
	CU_ASSERT_EQUAL(log_set_level(NULL, -1), -EINVAL);
	CU_ASSERT(is_written(LOG_INFO, "sm"));
	CU_ASSERT(!is_written(LOG_DEBUG, "sm"));
	CU_ASSERT(!is_written(LOG_INFO, "test"));
	CU_ASSERT_EQUAL(log_set_level("sm", LOG_DEBUG), 0);
	CU_ASSERT(is_written(LOG_DEBUG, "sm"));
	CU_ASSERT(!is_written(LOG_DEBUG, "sa"));
	CU_ASSERT_EQUAL(log_set_level(NULL, LOG_ERR), 0);
	for (const char *const *room = log_components(); *room; room++) {
		CU_ASSERT_EQUAL(log_level(*room), LOG_ERR);
		CU_ASSERT(!is_written(LOG_WARNING, *room));
		CU_ASSERT(is_written(LOG_ERR, *room));
	}
	log_set_level(NULL, LOG_INFO);
}

/* A line of higher severity counts, too, and a line that is not shown does not. */
static void test_last_error(void)
{
	struct unit_capture capture;

	unit_capture_begin(&capture);
	log_write(LOG_CRIT, "sm", &(struct log_subject){.lid = 5}, "first\n");
	log_write(LOG_WARNING, "sm", NULL, "no error");
	log_set_level("sa", LOG_CRIT);
	log_write(LOG_ERR, "sa", NULL, "not shown");
	unit_capture_end(&capture, written, sizeof(written));
	CU_ASSERT_STRING_EQUAL(log_last_error(), "first\\x0a [lid 5]");
	unit_capture_begin(&capture);
	log_write(LOG_ERR, "sm", NULL, "second");
	unit_capture_end(&capture, written, sizeof(written));
	CU_ASSERT_STRING_EQUAL(log_last_error(), "second");
	log_set_level(NULL, LOG_INFO);
}

static uint64_t now_us;

static uint64_t test_clock(void *ctx)
{
	CU_ASSERT_PTR_EQUAL(ctx, &now_us);
	return now_us;
}

static void test_limit(void)
{
	static const struct {
		uint64_t now_us;
		bool allowed;
		uint64_t suppressed; /* afterwards */
	} steps[] = {
		{1000, true, 0},  {1000, true, 0}, {1001, true, 0},  {1001, false, 1},
		{1099, false, 2}, {1100, true, 0}, {1100, false, 1}, {1250, true, 0},
		{1299, false, 1}, {1300, true, 0}, {1301, false, 1}, {9000, true, 0},
		{9000, true, 0},  {9000, true, 0}, {9000, false, 1}, {9099, false, 2},
		{9100, true, 0},
	};
	struct log_limit limit = {.burst = 3, .interval_us = 100};

	log_set_clock(test_clock, &now_us);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		now_us = steps[i].now_us;
		CU_ASSERT_EQUAL(log_allowed(&limit), steps[i].allowed);
		CU_ASSERT_EQUAL(limit.suppressed, steps[i].suppressed);
	}
	log_set_clock(NULL, NULL);
	log_allowed(&limit); /* the real clock is far beyond: the call must not hang */
}

/* The number of suppressed lines comes with the next line of that limit, and with no other line. */
static void test_limit_tells(void)
{
	struct log_limit limit = {.burst = 1, .interval_us = 100};
	struct unit_capture capture;

	log_set_clock(test_clock, &now_us);
	unit_capture_begin(&capture);
	for (now_us = 0; now_us < 100; now_us += 10)
		log_limited(&limit, LOG_ERR, NULL, "storm %d", 1);
	log_error("other");
	log_limited(&limit, LOG_ERR, (&(struct log_subject){.lid = 7}), "storm %d", 2);
	log_error("other");
	unit_capture_end(&capture, written, sizeof(written));
	log_set_clock(NULL, NULL);
	CU_ASSERT_STRING_EQUAL(written,
			       "ERROR test: storm 1\n"
			       "ERROR test: other\n"
			       "ERROR test: storm 2 (9 similar lines were suppressed) [lid 7]\n"
			       "ERROR test: other\n");
}

/* A stream that is not our stderr: the lines stay there. */
static void test_open_elsewhere(void)
{
	static const char *const streams[] = {"", "garbage", "1:2", "18446744073709551616:1"};

	for (size_t i = 0; i < ARRAY_SIZE(streams); i++) {
		setenv("JOURNAL_STREAM", streams[i], 1);
		log_open();
		CU_ASSERT(is_written(LOG_ERR, "sm"));
	}
	unsetenv("JOURNAL_STREAM");
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"form on stderr", test_form},
		{"escaping", test_escaping},
		{"long lines", test_long},
		{"levels", test_levels},
		{"the last error", test_last_error},
		{"limit", test_limit},
		{"limit tells", test_limit_tells},
		{"open with a stream elsewhere", test_open_elsewhere},
		CU_TEST_INFO_NULL,
	};

	unsetenv("JOURNAL_STREAM");
	log_open();
	return unit_main("log", tests);
}
