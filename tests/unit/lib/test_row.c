/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Rows as text, compared with jansson: it reads back each value, and writes the same text from its
 * own tree.
 */
#include "lib/row.h"

#include "lib/control.h"

#include "tests/unit/fixtures/unit.h"

/* The text of a row equals jansson's text of tree, whose reference is taken. */
static void is_same(struct buffer *row, json_t *tree)
{
	char *text = json_dumps(tree, JSON_COMPACT | JSON_ENCODE_ANY);

	buffer_append(row, "", 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_STRING_EQUAL(row->bytes + row->begin, text);
	free(text);
	json_decref(tree);
	free(row->bytes);
	*row = (struct buffer){0};
}

static void test_strings(void)
{
	static const char *const texts[] = {"",
					    "leaf 1",
					    "\"quoted\\\"",
					    "a/b",
					    "\b\f\n\r\t",
					    "\x01\x1f",
					    "\x7f",
					    "Zürich",
					    "\xf0\x9f\x98\x80",
					    "ends in a \\",
					    "\"",
					    "{[,:",
					    "ends{",
					    "\xed\x9f\xbf"};
	struct buffer row = {0};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		row_string(&row, NULL, texts[i]);
		is_same(&row, json_string(texts[i]));
	}
	row_string(&row, NULL, NULL);
	is_same(&row, json_null());
}

/* Broken UTF-8, a surrogate, an overlong one, and one beyond the last: no reader would take them.
 */
static void test_no_utf8(void)
{
	static const struct {
		const char *text, *shown;
	} rows[] = {{"le\xff\naf", "le?\naf"},
		    {"\xed\xa0\x80", "???"},
		    {"\xc0\x80\"", "??\""},
		    {"\xf5\x80\x80\x80", "????"},
		    {"Z\xc3\xbc\xc3", "Z???"}};
	struct buffer row = {0};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		row_string(&row, NULL, rows[i].text);
		is_same(&row, json_string(rows[i].shown));
	}
}

static void test_numbers(void)
{
	static const int64_t numbers[] = {0, 7, -1, 10, 65535, 4294967295, INT64_MAX, INT64_MIN};
	struct buffer row = {0};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		row_integer(&row, NULL, numbers[i]);
		is_same(&row, json_integer(numbers[i]));
	}
	row_guid(&row, NULL, 0x0123456789abcdef);
	is_same(&row, json_string("0x0123456789abcdef"));
	row_guid(&row, NULL, 1);
	is_same(&row, json_string("0x0000000000000001"));
}

/* Commas are in the right places: after each kind of value, after sent text, and after the end of a
 * line. */
static void test_nesting(void)
{
	struct buffer row = {0}, copy = {0};

	row_begin(&copy, NULL, '{');
	row_integer(&copy, "in", 1);
	row_end(&copy, '}');
	buffer_append(&row, "gone\nleft\n", 10);
	buffer_consume(&row, 5);
	row_begin(&row, NULL, '{');
	row_string(&row, "a", "{");
	row_begin(&row, "b", '[');
	row_begin(&row, NULL, '{');
	row_end(&row, '}');
	row_begin(&row, NULL, '[');
	row_end(&row, ']');
	row_boolean(&row, NULL, true);
	row_json(&row, NULL, NULL);
	row_json(&row, NULL, json_pack("{s:[i,f],s:s}", "x", 1, 0.1, "y", "\n"));
	row_json(&row, NULL, json_string("alone"));
	row_copy(&row, NULL, &copy);
	row_end(&row, ']');
	row_boolean(&row, "c", false);
	row_copy(&row, "d", &copy);
	row_end(&row, '}');
	free(copy.bytes);
	CU_ASSERT(!memcmp(row.bytes + row.begin, "left\n", 5));
	buffer_consume(&row, 5);
	is_same(&row, json_pack("{s:s, s:[{}, [], b, n, {s:[i,f],s:s}, s, {s:i}], s:b, s:{s:i}}",
				"a", "{", "b", 1, "x", 1, 0.1, "y", "\n", "alone", "in", 1, "c", 0,
				"d", "in", 1));
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"strings", test_strings}, {"no UTF-8", test_no_utf8}, {"numbers", test_numbers},
		{"nesting", test_nesting}, CU_TEST_INFO_NULL,
	};

	return unit_main("row", tests);
}
