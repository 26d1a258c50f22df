/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads and prints options by their rows (weftd/conf_rows.c). libconfig parses all text, also the
 * defaults and -o, so that there is a single syntax and a single place that checks values.
 *
 * libconfig silently cuts an integer to 32 bits, or to 64 bits if it has the suffix L. Keys and
 * GUIDs need 64 bits. So weftd first adds an L to each integer, and refuses an integer that does
 * not fit into 64 bits.
 */
#include "weftd/conf.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <libconfig.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "formats/opensm_conf.h"
#include "lib/hash.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "lib/suggest.h"
#include "route/engine.h"
#include "weftd/file_text.h"

enum { CONF_FILE_MAX_BYTES = 256 * 1024, CONF_WHY_SIZE = 256, CONF_PLACE_SIZE = 192 };

/* The source of options, with which errors begin. */
struct source {
	const char *file; /* NULL: not a file */
	const char *lead; /* without a file: "-o " or "" */
	char *error;	  /* CONF_ERROR_SIZE bytes */
	FILE *all;	  /* gets each error as a line; NULL: the first error ends the reading */
};

/* Writes "file:line: option: reason"; line 0 and name NULL are omitted. Returns -EINVAL. */
static int conf_refuse(const struct source *source, unsigned line, const char *name,
		       const char *why)
{
	char place[16] = "";

	if (line && source->file)
		snprintf(place, sizeof(place), ":%u", line);
	snprintf(source->error, CONF_ERROR_SIZE, "%.160s%s%s%.64s%s%s",
		 source->file ? source->file : source->lead, place, source->file ? ": " : "",
		 name ? name : "", name ? ": " : "", why);
	if (source->all) {
		fprintf(source->all, "%s\n", source->error);
		source->error[0] = '\0';
	}
	return -EINVAL;
}

static int because(char why[CONF_WHY_SIZE], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static int because(char why[CONF_WHY_SIZE], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, CONF_WHY_SIZE, format, args);
	va_end(args);
	return -EINVAL;
}

/* Fields */

static uint64_t field_number(const void *field, size_t size)
{
	switch (size) {
	case sizeof(uint8_t):
		return *(const uint8_t *)field;
	case sizeof(uint16_t):
		return *(const uint16_t *)field;
	case sizeof(uint32_t):
		return *(const uint32_t *)field;
	default:
		return *(const uint64_t *)field;
	}
}

static void field_set_number(void *field, size_t size, uint64_t value)
{
	switch (size) {
	case sizeof(uint8_t):
		*(uint8_t *)field = value;
		break;
	case sizeof(uint16_t):
		*(uint16_t *)field = value;
		break;
	case sizeof(uint32_t):
		*(uint32_t *)field = value;
		break;
	default:
		*(uint64_t *)field = value;
	}
}

static void *conf_field(struct conf *conf, const struct conf_row *row)
{
	return (char *)conf + row->offset;
}

static const void *field_in(const struct conf *conf, const struct conf_row *row)
{
	return (const char *)conf + row->offset;
}

/* Also by the name in the previous release. */
static const struct conf_row *conf_row_find(const char *name)
{
	for (const struct conf_row *row = conf_rows; row->name; row++) {
		if (!strcmp(row->name, name) || (row->was && !strcmp(row->was, name)))
			return row;
	}
	return NULL;
}

/* Types: each function stores a setting in the row's field, or returns -EINVAL with the reason. */

static const char *setting_kind(const config_setting_t *setting)
{
	switch (config_setting_type(setting)) {
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64:
		return "a whole number";
	case CONFIG_TYPE_FLOAT:
		return "a number with a fraction";
	case CONFIG_TYPE_STRING:
		return "text";
	case CONFIG_TYPE_BOOL:
		return "true or false";
	case CONFIG_TYPE_GROUP:
		return "a group";
	default:
		return "a list";
	}
}

static bool in_span(const struct conf_row *row, uint64_t value)
{
	const struct conf_span *span = row->spans;

	while (span && value > span->last && span->last < row->max)
		span++;
	return value >= row->min && value <= row->max && (!span || value >= span->first);
}

static int store_number(struct conf *conf, const struct conf_row *row,
			const config_setting_t *setting, char why[CONF_WHY_SIZE])
{
	bool hex = config_setting_get_format(setting) == CONFIG_FORMAT_HEX;
	char range[CONF_RANGE_SIZE];
	int64_t value;

	if (config_setting_type(setting) != CONFIG_TYPE_INT64)
		return because(why, "a whole number is expected, not %s", setting_kind(setting));
	value = config_setting_get_int64(setting);
	/* Hexadecimal numbers use all 64 bits, only decimal ones have a sign. */
	if ((!hex && value < 0) || !in_span(row, (uint64_t)value)) {
		conf_row_range(row, range);
		return hex ? because(why, "0x%" PRIx64 " is outside %s", (uint64_t)value, range)
			   : because(why, "%" PRId64 " is outside %s", value, range);
	}
	field_set_number(conf_field(conf, row), row->size, value);
	if (row->copy)
		field_set_number((char *)conf + row->copy, row->size, value);
	return 0;
}

static bool printable(const char *text)
{
	for (; *text; text++) {
		if (iscntrl((unsigned char)*text))
			return false;
	}
	return true;
}

static int store_text(struct conf *conf, const struct conf_row *row,
		      const config_setting_t *setting, char why[CONF_WHY_SIZE])
{
	const char *text = config_setting_get_string(setting);
	char range[CONF_RANGE_SIZE];

	if (!text)
		return because(why, "text in quotes is expected, not %s", setting_kind(setting));
	if (strlen(text) < row->min || strlen(text) > row->max) {
		conf_row_range(row, range);
		return because(why, "the text has %zu bytes; expected: %s", strlen(text), range);
	}
	if (!printable(text))
		return because(why, "control characters are not allowed");
	memset(conf_field(conf, row), 0, row->size);
	memcpy(conf_field(conf, row), text, strlen(text));
	return 0;
}

/* The index of text in a NULL terminated list; -1: it is not in the list, or either is NULL. */
static int conf_find_word(const char *const *words, const char *text)
{
	for (int i = 0; words && text && words[i]; i++) {
		if (!strcmp(text, words[i]))
			return i;
	}
	return -1;
}

static int store_choice(struct conf *conf, const struct conf_row *row,
			const config_setting_t *setting, char why[CONF_WHY_SIZE])
{
	const char *text = config_setting_get_string(setting);
	int word = conf_find_word(row->choices, text);
	char range[CONF_RANGE_SIZE];

	if (word >= 0) {
		field_set_number(conf_field(conf, row), row->size, (uint64_t)word);
		return 0;
	}
	conf_row_range(row, range);
	return because(why, "expected in quotes: %s", range);
}

static int store_bool(struct conf *conf, const struct conf_row *row,
		      const config_setting_t *setting, char why[CONF_WHY_SIZE])
{
	if (config_setting_type(setting) != CONFIG_TYPE_BOOL)
		return because(why, "true or false is expected, not %s", setting_kind(setting));
	field_set_number(conf_field(conf, row), row->size, config_setting_get_bool(setting));
	return 0;
}

/* Returns 0, or -ENOENT with the names of the engines. */
static int check_engine(const char *name, char why[CONF_WHY_SIZE])
{
	size_t used;

	if (route_engine_find(name) && strlen(name) < SM_ENGINE_NAME)
		return 0;
	because(why, "no engine \"%.40s\"; known:", printable(name) ? name : "?");
	for (const struct route_engine *engine = route_engines; engine->name; engine++) {
		used = strlen(why);
		snprintf(why + used, CONF_WHY_SIZE - used, " %s", engine->name);
	}
	return -ENOENT;
}

static int store_engines(struct conf *conf, const struct conf_row *row,
			 const config_setting_t *setting, char why[CONF_WHY_SIZE])
{
	char engines[SM_ENGINES_MAX][SM_ENGINE_NAME] = {""};
	int type = config_setting_type(setting), count = config_setting_length(setting);
	char range[CONF_RANGE_SIZE];

	conf_row_range(row, range);
	if (type != CONFIG_TYPE_ARRAY && type != CONFIG_TYPE_LIST)
		return because(why, "%s expected, as in [\"minhop\"], not %s", range,
			       setting_kind(setting));
	if (count < (int)row->min || count > (int)row->max)
		return because(why, "the list has %d elements; expected: %s", count, range);
	for (int i = 0; i < count; i++) {
		const char *name = config_setting_get_string_elem(setting, i);

		if (!name)
			return because(why, "every name must be text in quotes");
		if (check_engine(name, why))
			return -EINVAL;
		for (int j = 0; j < i; j++) {
			if (!strcmp(name, engines[j]))
				return because(why, "\"%s\" is in the list twice", name);
		}
		memcpy(engines[i], name, strlen(name));
	}
	memcpy(conf_field(conf, row), engines, sizeof(engines));
	return 0;
}

static int store_guids(struct conf *conf, const struct conf_row *row,
		       const config_setting_t *setting, char why[CONF_WHY_SIZE])
{
	int type = config_setting_type(setting), count = config_setting_length(setting);
	uint64_t *list = conf_field(conf, row);
	char range[CONF_RANGE_SIZE];

	conf_row_range(row, range);
	if (type != CONFIG_TYPE_ARRAY && type != CONFIG_TYPE_LIST)
		return because(why, "%s expected, as in [0x2c9030000e0b72], not %s", range,
			       setting_kind(setting));
	if (count > (int)row->max)
		return because(why, "the list has %d elements; expected: %s", count, range);
	memset(list, 0, row->size);
	for (int i = 0; i < count; i++) {
		const config_setting_t *guid = config_setting_get_elem(setting, (unsigned)i);

		if (config_setting_type(guid) != CONFIG_TYPE_INT64 ||
		    !config_setting_get_int64(guid))
			return because(why, "every GUID must be a number such as 0x2c9030000e0b72");
		list[i] = (uint64_t)config_setting_get_int64(guid);
	}
	return 0;
}

static int store_aliases(struct conf *conf, const struct conf_row *row,
			 const config_setting_t *setting, char why[CONF_WHY_SIZE])
{
	int type = config_setting_type(setting), count = config_setting_length(setting);
	struct alias_range *list;
	char range[CONF_RANGE_SIZE];
	const char *wrong = NULL;

	conf_row_range(row, range);
	if (type != CONFIG_TYPE_ARRAY && type != CONFIG_TYPE_LIST)
		return because(why,
			       "%s expected, as in [\"0x2c903000e0b72: 0x2c903000e1000\"], not %s",
			       range, setting_kind(setting));
	if (count > (int)row->max)
		return because(why, "the list has %d elements; expected: %s", count, range);
	list = mem_array(row->max, sizeof(*list));
	for (int i = 0; i < count && !wrong; i++) {
		const char *text = config_setting_get_string_elem(setting, i);

		wrong = text ? alias_range_parse(text, &list[i]) : "it is not text in quotes";
		if (wrong)
			because(why, "row %d, \"%.60s\": %s", i + 1,
				text && printable(text) ? text : "?", wrong);
	}
	if (!wrong)
		memcpy(conf_field(conf, row), list, row->size);
	free(list);
	return wrong ? -EINVAL : 0;
}

static int (*const store[])(struct conf *, const struct conf_row *, const config_setting_t *,
			    char why[CONF_WHY_SIZE]) = {
	[CONF_NUMBER] = store_number, [CONF_HEX] = store_number,
	[CONF_TEXT] = store_text,     [CONF_CHOICE] = store_choice,
	[CONF_BOOL] = store_bool,     [CONF_ENGINES] = store_engines,
	[CONF_GUIDS] = store_guids,   [CONF_ALIASES] = store_aliases,
};

/* "0..15 | 30 | 31", and the unit */
static void print_spans(const struct conf_row *row, char range[CONF_RANGE_SIZE])
{
	const struct conf_span *span = row->spans;
	size_t used = 0;

	do {
		used += (size_t)snprintf(range + used, CONF_RANGE_SIZE - used, "%s%u",
					 used ? " | " : "", span->first);
		if (span->last > span->first)
			used += (size_t)snprintf(range + used, CONF_RANGE_SIZE - used, "..%u",
						 span->last);
	} while (span++->last < row->max);
	if (row->unit)
		snprintf(range + used, CONF_RANGE_SIZE - used, " %s", row->unit);
}

void conf_row_range(const struct conf_row *row, char range[CONF_RANGE_SIZE])
{
	size_t used = 0;

	switch (row->type) {
	case CONF_NUMBER:
		if (row->spans) {
			print_spans(row, range);
			break;
		}
		snprintf(range, CONF_RANGE_SIZE, "%" PRIu64 "..%" PRIu64 "%s%s", row->min, row->max,
			 row->unit ? " " : "", row->unit ? row->unit : "");
		break;
	case CONF_HEX:
		snprintf(range, CONF_RANGE_SIZE, "0x%" PRIx64 "..0x%" PRIx64, row->min, row->max);
		break;
	case CONF_TEXT:
		snprintf(range, CONF_RANGE_SIZE, "%" PRIu64 "..%" PRIu64 " bytes of text", row->min,
			 row->max);
		break;
	case CONF_CHOICE:
		for (const char *const *word = row->choices; *word; word++)
			used += snprintf(range + used, CONF_RANGE_SIZE - used, "%s%s",
					 used ? " | " : "", *word);
		break;
	case CONF_BOOL:
		snprintf(range, CONF_RANGE_SIZE, "true | false");
		break;
	case CONF_ENGINES:
		snprintf(range, CONF_RANGE_SIZE, "a list of %" PRIu64 "..%" PRIu64 " names",
			 row->min, row->max);
		break;
	case CONF_GUIDS:
		snprintf(range, CONF_RANGE_SIZE, "a list of 0..%" PRIu64 " GUIDs", row->max);
		break;
	case CONF_ALIASES:
		snprintf(range, CONF_RANGE_SIZE, "a list of 0..%" PRIu64 " rows", row->max);
		break;
	}
}

static bool is_fixed(const struct conf_row *row, const struct conf *present)
{
	return row->fixed || (present && row->with_ha && !present->is_replicating);
}

const char *conf_row_effect(const struct conf_row *row, const struct conf *present)
{
	return is_fixed(row, present) ? "restart" : "reload";
}

/* Text to settings */

/* Whether libconfig would read the token as an integer: digits, or 0x and hexadecimal digits, then
 * optionally L or LL. */
static bool is_integer(const char *token, size_t size)
{
	size_t i = 0;
	bool hex;

	if (i < size && (token[i] == '-' || token[i] == '+'))
		i++;
	hex = size - i > 2 && token[i] == '0' && (token[i + 1] == 'x' || token[i + 1] == 'X');
	if (hex)
		i += 2;
	if (i == size)
		return false;
	while (i < size &&
	       (hex ? isxdigit((unsigned char)token[i]) : isdigit((unsigned char)token[i])))
		i++;
	return i == size ||
	       (token[i] == 'L' && (i + 1 == size || !strncmp(token + i, "LL", size - i)));
}

/* Hexadecimal integers may use 64 bits. Decimal integers may use 63 bits and a sign. */
static bool fits(const char *token)
{
	bool hex = token[0] == '0' && (token[1] == 'x' || token[1] == 'X');

	errno = 0;
	if (hex)
		strtoull(token, NULL, 16);
	else
		strtoll(token, NULL, 10);
	return errno != ERANGE;
}

/* The length of the comment or string at the beginning of text; 0: there is neither. */
static size_t skip_literal(const char *text)
{
	const char *end;

	if (text[0] == '#' || !strncmp(text, "//", 2))
		return strcspn(text, "\n");
	if (!strncmp(text, "/*", 2)) {
		end = strstr(text + 2, "*/");
		return end ? (size_t)(end - text) + 2 : strlen(text);
	}
	if (text[0] != '"')
		return 0;
	for (end = text + 1; *end && *end != '"'; end++) {
		if (end[0] == '\\' && end[1])
			end++;
	}
	return (size_t)(end - text) + (*end == '"');
}

/* Returns a copy of text in which each integer has the suffix L. The caller frees it. NULL:
 * refused, with the error in source. */
static char *widen_integers(const struct source *source, const char *text)
{
	static const char token_bytes[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "0123456789_.*+-";
	char *wide = mem_array(2 * strlen(text) + 1, 1), *to = wide;
	unsigned line = 1;

	while (*text) {
		size_t literal = skip_literal(text), token = strspn(text, token_bytes);
		size_t size = literal ? literal : token ? token : 1;

		memcpy(to, text, size);
		to += size;
		if (*text == '@') {
			conf_refuse(source, line, NULL, "@include is not supported: use one file");
			goto refused;
		}
		if (!literal && is_integer(text, token)) {
			if (!fits(text)) {
				conf_refuse(source, line, NULL,
					    "the number does not fit into 64 bits (write numbers "
					    "from 9223372036854775808 on in hexadecimal)");
				goto refused;
			}
			if (text[token - 1] != 'L')
				*to++ = 'L';
		}
		for (; size; size--)
			line += *text++ == '\n';
	}
	return wide;
refused:
	free(wide);
	return NULL;
}

static int unknown(const struct source *source, const config_setting_t *setting)
{
	struct suggest suggest = suggest_for(config_setting_name(setting));
	const struct opensm_row *theirs = opensm_row_find(config_setting_name(setting));
	char why[CONF_WHY_SIZE] = "no such option; weftd.conf(5) lists them";

	for (const struct conf_row *row = conf_rows; row->name; row++)
		suggest_try(&suggest, row->name);
	if (theirs && theirs->ours)
		because(why, "the option of OpenSM; weft has %s", theirs->ours);
	else if (theirs)
		because(why, "an option of OpenSM, which weft does not have: %.150s", theirs->note);
	else if (suggest.best)
		because(why, "no such option; did you mean %s?", suggest.best);
	return conf_refuse(source, config_setting_source_line(setting), suggest.word, why);
}

static void store_preset(struct conf *conf, const struct conf_row *row)
{
	char *assignment = mem_printf("%s=%s", row->name, row->preset), error[CONF_ERROR_SIZE];
	int result = conf_set(conf, assignment, error);

	assert(result == 0);
	(void)result;
	free(assignment);
}

/* "file:line: ", or "-o ", to begin a warning with. */
static void place_of(const struct source *source, const config_setting_t *setting,
		     char place[CONF_PLACE_SIZE])
{
	if (source->file)
		snprintf(place, CONF_PLACE_SIZE, "%.160s:%u: ", source->file,
			 config_setting_source_line(setting));
	else
		snprintf(place, CONF_PLACE_SIZE, "%s", source->lead);
}

/* Stores the default for a word of an earlier version. False: the value is not such a word. */
static bool store_former(struct conf *conf, const struct source *source, const struct conf_row *row,
			 const config_setting_t *setting)
{
	const char *text = config_setting_get_string(setting);
	char range[CONF_RANGE_SIZE], place[CONF_PLACE_SIZE];

	if (conf_find_word(row->former, text) < 0)
		return false;
	place_of(source, setting, place);
	conf_row_range(row, range);
	log_warning("%s%s: \"%s\" is no longer supported, and the default %s is in force: "
		    "write one of %s, or remove the line",
		    place, row->name, text, row->preset, range);
	store_preset(conf, row);
	return true;
}

/* Accepts the former name of an option with a warning, unless the file also has the present name:
 * then it would set the same option twice. */
static int check_name(const struct source *source, const config_setting_t *root,
		      const config_setting_t *setting, const struct conf_row *row)
{
	const char *name = config_setting_name(setting);
	const config_setting_t *other = config_setting_get_member(root, row->name);
	char place[CONF_PLACE_SIZE], why[CONF_WHY_SIZE];

	if (!strcmp(name, row->name))
		return 0;
	if (other) {
		because(why, "it is the former name of %s, which line %u sets: remove this line",
			row->name, config_setting_source_line(other));
		return conf_refuse(source, config_setting_source_line(setting), name, why);
	}
	place_of(source, setting, place);
	log_warning("%s%s is renamed to %s: use the new name, because the next release will refuse "
		    "the former name",
		    place, name, row->name);
	return 0;
}

static int store_setting(struct conf *conf, const struct source *source,
			 const config_setting_t *root, const config_setting_t *setting)
{
	const struct conf_row *row = conf_row_find(config_setting_name(setting));
	char why[CONF_WHY_SIZE];

	if (!row)
		return unknown(source, setting);
	if (check_name(source, root, setting, row))
		return -EINVAL;
	if (store_former(conf, source, row, setting) || !store[row->type](conf, row, setting, why))
		return 0;
	return conf_refuse(source, config_setting_source_line(setting), row->name, why);
}

static int store_all(struct conf *conf, const struct source *source, const config_setting_t *root)
{
	int result = 0;

	for (int i = 0; i < config_setting_length(root) && (!result || source->all); i++) {
		if (store_setting(conf, source, root, config_setting_get_elem(root, i)))
			result = -EINVAL;
	}
	return result;
}

/* Replaces the options in conf that text sets. only_one: text must be a single assignment. Returns
 * -EBADMSG if it is not in libconfig's form. */
static int read_text(struct conf *conf, const struct source *source, const char *text,
		     bool only_one)
{
	struct conf next = *conf;
	config_t config;
	char *wide = widen_integers(source, text);
	int error;

	if (!wide)
		return -EINVAL;
	config_init(&config);
	if (!config_read_string(&config, wide)) {
		char why[CONF_WHY_SIZE];

		because(why, "%s, here or just before%s", config_error_text(&config),
			!strcmp(config_error_text(&config), "syntax error")
				? ": the form is NAME = VALUE; with text in quotes"
				: "");
		conf_refuse(source, config_error_line(&config), NULL, why);
		error = -EBADMSG;
	} else if (only_one && config_setting_length(config_root_setting(&config)) != 1) {
		error = -EBADMSG;
	} else {
		error = store_all(&next, source, config_root_setting(&config));
	}
	config_destroy(&config);
	free(wide);
	if (!error || source->all)
		*conf = next;
	return error;
}

/* Makes the bytes of a file a string. */
static int make_text(const struct source *source, char **bytes, size_t size)
{
	if (memchr(*bytes, '\0', size))
		return conf_refuse(source, 0, NULL, "not a text file: it has a zero byte");
	*bytes = mem_resize(*bytes, size + 1, 1);
	(*bytes)[size] = '\0';
	return 0;
}

int conf_read(struct conf *conf, const char *path, bool required, FILE *all,
	      char error[CONF_ERROR_SIZE])
{
	struct source source = {.file = path, .error = error, .all = all};
	char *text = NULL;
	size_t size = 0;
	int result = file_read_text(NULL, path, CONF_FILE_MAX_BYTES, &text, &size, error);

	if (result == -ENOENT && !required)
		return 0;
	if (!result)
		result = make_text(&source, &text, size);
	if (!result)
		result = read_text(conf, &source, text, false);
	free(text);
	return result;
}

/* Returns text as a string of libconfig. The caller frees it. */
static char *quote(const char *text)
{
	char *quoted = mem_alloc(2 * strlen(text) + 3), *to = quoted;

	*to++ = '"';
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			*to++ = '\\';
		*to++ = *text;
	}
	*to++ = '"';
	*to = '\0';
	return quoted;
}

/* The error for a value that is not in libconfig's form. */
static int refuse_value(const struct source *source, const struct conf_row *row, const char *text)
{
	char range[CONF_RANGE_SIZE], why[CONF_WHY_SIZE];

	conf_row_range(row, range);
	because(why, "\"%.40s\" is not in %s", text, range);
	return conf_refuse(source, 0, row->name, why);
}

int conf_set(struct conf *conf, const char *assignment, char error[CONF_ERROR_SIZE])
{
	struct source source = {.lead = "-o ", .error = error};
	int result = read_text(conf, &source, assignment, true);
	const char *value = strchr(assignment, '=');
	const struct conf_row *row;
	char why[CONF_WHY_SIZE], *name;

	if (result != -EBADMSG)
		return result;
	name = mem_strdup(assignment);
	name[strcspn(name, "= ")] = '\0';
	row = conf_row_find(name);
	free(name);
	if (value && row && (row->type == CONF_NUMBER || row->type == CONF_BOOL))
		return refuse_value(&source, row, value + 1);
	because(why, "%.80s: NAME=VALUE is expected, text in quotes: 'role=\"normal\"'",
		assignment);
	return conf_refuse(&source, 0, NULL, why);
}

int conf_set_text(struct conf *conf, const char *name, const char *text,
		  char error[CONF_ERROR_SIZE])
{
	struct source source = {.lead = "", .error = error};
	const struct conf_row *row = conf_row_find(name);
	char *value, *assignment;
	int result;

	assert(row);
	value = row->type == CONF_TEXT || row->type == CONF_CHOICE ? quote(text) : mem_strdup(text);
	assignment = mem_printf("%s=%s", name, value);
	result = read_text(conf, &source, assignment, true);
	free(assignment);
	free(value);
	return result == -EBADMSG ? refuse_value(&source, row, text) : result;
}

void conf_defaults(struct conf *conf)
{
	memset(conf, 0, sizeof(*conf));
	for (const struct conf_row *row = conf_rows; row->name; row++)
		store_preset(conf, row);
}

bool conf_row_differs(const struct conf_row *row, const struct conf *one, const struct conf *other)
{
	return memcmp(field_in(one, row), field_in(other, row), row->size) != 0;
}

bool ha_is_wanted(const struct conf *conf)
{
	return conf->replica.listen[0] || conf->replica.peers[0];
}

bool ha_is_inband(const struct conf *conf)
{
	return conf->replica.inband && !ha_is_wanted(conf) && !conf->is_replicating &&
	       !conf->sm.standby_only;
}

unsigned conf_keep_fixed(struct conf *next, const struct conf *present, char names[CONF_NAMES_SIZE])
{
	unsigned differ = 0;
	size_t used = 0;

	names[0] = '\0';
	next->is_replicating = present->is_replicating;
	for (const struct conf_row *row = conf_rows; row->name; row++) {
		if (!is_fixed(row, present) || !conf_row_differs(row, next, present))
			continue;
		memcpy(conf_field(next, row), field_in(present, row), row->size);
		if (used < CONF_NAMES_SIZE)
			used += (size_t)snprintf(names + used, CONF_NAMES_SIZE - used, "%s%s",
						 differ ? ", " : "", row->name);
		differ++;
	}
	return differ;
}

static void print_engines(const char (*engines)[SM_ENGINE_NAME], FILE *out)
{
	fputc('[', out);
	for (int i = 0; i < SM_ENGINES_MAX && engines[i][0]; i++)
		fprintf(out, "%s\"%s\"", i ? ", " : "", engines[i]);
	fputc(']', out);
}

static void conf_print_guids(const struct conf_row *row, const uint64_t *list, FILE *out)
{
	fputc('[', out);
	for (size_t i = 0; i < row->max && list[i]; i++)
		fprintf(out, "%s0x%" PRIx64, i ? ", " : "", list[i]);
	fputc(']', out);
}

static void conf_print_aliases(const struct conf_row *row, const struct alias_range *list,
			       FILE *out)
{
	char text[ALIAS_RANGE_TEXT];

	fputc('[', out);
	for (size_t i = 0; i < row->max && list[i].first_port; i++)
		fprintf(out, "%s\"%s\"", i ? ", " : "", alias_range_text(&list[i], text));
	fputc(']', out);
}

void conf_row_print(const struct conf *conf, const struct conf_row *row, FILE *out)
{
	const void *field = field_in(conf, row);
	char *quoted;

	switch (row->type) {
	case CONF_NUMBER:
		fprintf(out, "%" PRIu64, field_number(field, row->size));
		break;
	case CONF_HEX:
		fprintf(out, "0x%" PRIx64, field_number(field, row->size));
		break;
	case CONF_TEXT:
		quoted = quote(field);
		fputs(quoted, out);
		free(quoted);
		break;
	case CONF_CHOICE:
		fprintf(out, "\"%s\"", row->choices[field_number(field, row->size)]);
		break;
	case CONF_BOOL:
		fputs(field_number(field, row->size) ? "true" : "false", out);
		break;
	case CONF_ENGINES:
		print_engines(field, out);
		break;
	case CONF_GUIDS:
		conf_print_guids(row, field, out);
		break;
	case CONF_ALIASES:
		conf_print_aliases(row, field, out);
		break;
	}
}

/* Prints a digest of a list that may be longer than the whole text. */
static void print_agreed(const struct conf *conf, const struct conf_row *row, FILE *out)
{
	uint64_t digest = hash_bytes(HASH_SEED, field_in(conf, row), row->size);

	if (row->type == CONF_ALIASES)
		fprintf(out, "0x%" PRIx64, digest);
	else
		conf_row_print(conf, row, out);
}

void conf_print_agreed(const struct conf *conf, char text[FRAME_CONFIG_MAX])
{
	FILE *out = fmemopen(text, FRAME_CONFIG_MAX, "w");

	if (!out)
		abort();
	for (const struct conf_row *row = conf_rows; row->name; row++) {
		if (row->agree == AGREE_MUST)
			fputc('!', out);
		if (row->agree) {
			fprintf(out, "%s = ", row->name);
			print_agreed(conf, row, out);
			fputs(";\n", out);
		}
	}
	fclose(out);
}
