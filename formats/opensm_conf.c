/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reading OpenSM's configuration and LIDs (opensm_conf.h), line by line. As OpenSM does, a value is
 * the rest of its line, and a # begins a comment only at the start of a line.
 */
#include "formats/opensm_conf.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/cursor.h"
#include "include/iba.h"
#include "lib/mem.h"

/* The next line that is neither empty nor a comment, without blanks at its end. */
static bool opensm_next_line(struct lines *lines, struct cursor *line)
{
	while (lines_next(lines, line)) {
		while (line->end > line->at && isspace((unsigned char)line->end[-1]))
			line->end--;
		cursor_skip_blanks(line);
		if (!cursor_at_end(line) && *line->at != '#')
			return true;
	}
	return false;
}

const struct opensm_row *opensm_row_find(const char *name)
{
	for (const struct opensm_row *row = opensm_rows; row->name; row++) {
		if (!strcmp(row->name, name))
			return row;
	}
	return NULL;
}

static bool opensm_copy_text(struct piece piece, char text[OPENSM_VALUE_SIZE])
{
	if (piece.length >= OPENSM_VALUE_SIZE)
		return false;
	for (int i = 0; i < piece.length; i++) {
		if (iscntrl((unsigned char)piece.text[i]) && piece.text[i] != '\t')
			return false;
	}
	memcpy(text, piece.text, (size_t)piece.length);
	text[piece.length] = '\0';
	return true;
}

int opensm_conf_parse(const char *name, const char *text, size_t length, opensm_option_fn *option,
		      void *ctx, char **error)
{
	struct lines lines = {.name = name, .next = text, .end = text + length};
	struct cursor line;

	while (opensm_next_line(&lines, &line)) {
		struct cursor start = line;
		char word[OPENSM_VALUE_SIZE], value[OPENSM_VALUE_SIZE];
		struct piece rest;

		if (!opensm_copy_text(cursor_word(&line), word))
			return lines_refuse(&lines, &start, "the name of an option", error);
		cursor_skip_blanks(&line);
		if (!cursor_quoted(&line, &rest))
			rest = (struct piece){line.at, (int)(line.end - line.at)};
		if (piece_is(rest, "(null)"))
			rest.length = 0;
		if (!opensm_copy_text(rest, value))
			return lines_refuse(&lines, &start,
					    "an option of at most 1023 printable bytes", error);
		option(ctx, lines.number, word, value);
	}
	return 0;
}

/* The value of a setting of a shell: in quotes, or up to a blank. */
static struct piece service_value(struct cursor *line)
{
	char quote = cursor_at_end(line) ? '\0' : *line->at;
	const char *from = line->at + 1;

	if (quote != '"' && quote != '\'')
		return cursor_word(line);
	for (line->at = from; line->at < line->end && *line->at != quote;)
		line->at++;
	return (struct piece){from, (int)(line->at - from)};
}

int opensm_service_parse(const char *name, const char *text, size_t length,
			 opensm_option_fn *option, void *ctx, char **error)
{
	struct lines lines = {.name = name, .next = text, .end = text + length};
	struct cursor line;

	while (opensm_next_line(&lines, &line)) {
		struct cursor start = line;
		char word[OPENSM_VALUE_SIZE], value[OPENSM_VALUE_SIZE];
		const char *from = line.at;

		while (line.at < line.end && (isalnum((unsigned char)*line.at) || *line.at == '_'))
			line.at++;
		if (!opensm_copy_text((struct piece){from, (int)(line.at - from)}, word) ||
		    !*word || !cursor_accept(&line, '=') ||
		    !opensm_copy_text(service_value(&line), value))
			return lines_refuse(&lines, &start, "a setting NAME=VALUE", error);
		option(ctx, lines.number, word, value);
	}
	return 0;
}

static bool opensm_number(const char *text, uint64_t *number)
{
	struct cursor c = {text, text + strlen(text)};

	return cursor_number(&c, 10, number) && cursor_at_end(&c);
}

bool opensm_value_same(const char *one, const char *other)
{
	uint64_t first, second;

	if (opensm_number(one, &first) && opensm_number(other, &second))
		return first == second;
	return !strcasecmp(one, other);
}

/* Translating. Each fills value and returns 0, or an error. */

/* libconfig gives a leading 0 no meaning; decimal numbers stay decimal. */
static int to_number(const char *theirs, char value[OPENSM_VALUE_SIZE])
{
	uint64_t number;

	if (!opensm_number(theirs, &number))
		return -EINVAL;
	snprintf(value, OPENSM_VALUE_SIZE, !strncasecmp(theirs, "0x", 2) ? "0x%llx" : "%llu",
		 (unsigned long long)number);
	return 0;
}

static int to_text(const char *theirs, char value[OPENSM_VALUE_SIZE])
{
	size_t used = 0;

	if (strlen(theirs) * 2 + 3 > OPENSM_VALUE_SIZE)
		return -EINVAL;
	value[used++] = '"';
	for (; *theirs; theirs++) {
		if (*theirs == '"' || *theirs == '\\')
			value[used++] = '\\';
		value[used++] = *theirs;
	}
	value[used++] = '"';
	value[used] = '\0';
	return 0;
}

/* For TRUE and FALSE; NULL: the value equals the default of weft. */
static int to_choice(const char *theirs, const char *if_true, const char *if_false,
		     char value[OPENSM_VALUE_SIZE])
{
	bool on = !strcasecmp(theirs, "TRUE");
	const char *chosen = on ? if_true : if_false;

	if (!on && strcasecmp(theirs, "FALSE") != 0)
		return -EINVAL;
	if (!chosen)
		return -ENOENT;
	snprintf(value, OPENSM_VALUE_SIZE, "%s", chosen);
	return 0;
}

/* The engine of weft for one of OpenSM, in order; loop_free: OpenSM's uses virtual lanes against
 * credit loops. */
static const struct {
	const char *theirs, *ours;
	bool loop_free;
} engines[] = {
	{"minhop", "minhop", false}, {"updn", "updn", false}, {"dnup", "dnup", false},
	{"ftree", "ftree", false},   {"file", "file", false}, {"lash", "updn", true},
	{"dfsssp", "updn", true},    {"nue", "updn", true},   {"torus-2QoS", "updn", true},
};

/* Appends text to a list of OPENSM_VALUE_SIZE bytes, after a separator. */
static void list_append(char *list, struct piece piece, const char *quote)
{
	size_t used = strlen(list);

	snprintf(list + used, OPENSM_VALUE_SIZE - used, "%s%s%.*s%s", used ? ", " : "", quote,
		 piece.length, piece.text, quote);
}

static void engine_append(char *list, const char *name)
{
	char *quoted = mem_printf("\"%s\"", name);

	if (!strstr(list, quoted))
		list_append(list, (struct piece){name, (int)strlen(name)}, "\"");
	free(quoted);
}

static int to_engines(const char *theirs, char value[OPENSM_VALUE_SIZE],
		      char lost[OPENSM_VALUE_SIZE])
{
	char list[OPENSM_VALUE_SIZE - sizeof("[]")] = "";
	bool replaced = false;

	if (strlen(theirs) > OPENSM_VALUE_SIZE / 8) /* plus quotes and commas */
		return -EINVAL;
	for (theirs += strspn(theirs, ", \t"); *theirs; theirs += strspn(theirs, ", \t")) {
		struct piece name = {theirs, (int)strcspn(theirs, ", \t")};
		size_t i = 0;

		while (i < ARRAY_SIZE(engines) && !piece_is(name, engines[i].theirs))
			i++;
		theirs += name.length;
		if (i == ARRAY_SIZE(engines) || engines[i].loop_free ||
		    (replaced && piece_is(name, "minhop")))
			list_append(lost, name, "");
		else
			engine_append(list, engines[i].ours);
		if (i < ARRAY_SIZE(engines) && engines[i].loop_free) {
			engine_append(list, engines[i].ours);
			replaced = true;
		}
	}
	snprintf(value, OPENSM_VALUE_SIZE, "[%s]", list);
	return *list ? 0 : -ENOENT;
}

/* to_number(), with the range of the option of weft. */
static int to_ranged(const struct opensm_row *row, const char *theirs,
		     char value[OPENSM_VALUE_SIZE])
{
	const struct opensm_range *range = opensm_range_of(row->ours);
	uint64_t number;

	if (!opensm_number(theirs, &number))
		return -EINVAL;
	if (range && (number < range->first || number > range->last) &&
	    (number < range->more_first || number > range->more_last))
		return -ERANGE;
	return to_number(theirs, value);
}

/* part_enforce */
static int to_direction(const char *theirs, char value[OPENSM_VALUE_SIZE])
{
	static const char *const directions[] = {"both", "in", "out", "off"};

	for (size_t i = 0; i < ARRAY_SIZE(directions); i++)
		if (!strcasecmp(theirs, directions[i]))
			return to_text(directions[i], value);
	return -EINVAL;
}

int opensm_translate(const struct opensm_row *row, const char *theirs, const char *sweep_time,
		     char value[OPENSM_VALUE_SIZE], char lost[OPENSM_VALUE_SIZE])
{
	*lost = '\0';
	switch (row->how) {
	case OPENSM_NUMBER:
	case OPENSM_M_KEY:
		return to_ranged(row, theirs, value);
	case OPENSM_ENFORCEMENT:
		return to_direction(theirs, value);
	case OPENSM_FLAG:
		return to_choice(theirs, "true", "false", value);
	case OPENSM_ENGINES:
		return to_engines(theirs, value, lost);
	case OPENSM_NO_ENFORCEMENT:
		return to_choice(theirs, "\"off\"", NULL, value);
	case OPENSM_BABBLE:
		return to_choice(theirs, "\"disable\"", "\"note\"", value);
	case OPENSM_NO_REREG:
		return to_choice(theirs, "0", NULL, value);
	case OPENSM_PERFMGR:
		if (!strcasecmp(theirs, "TRUE"))
			return to_ranged(row, sweep_time, value);
		return to_choice(theirs, NULL, "0", value);
	case OPENSM_TEXT:
	case OPENSM_PARTITIONS:
	case OPENSM_PREFIXES:
		return to_text(theirs, value);
	case OPENSM_LOST:
	case OPENSM_NOT_NEEDED:
		break;
	}
	return -EINVAL;
}

/* The reverse. Each fills value and returns 0, or an error. */

static int from_number(const char *ours, char value[OPENSM_VALUE_SIZE])
{
	uint64_t number;

	if (!opensm_number(ours, &number))
		return -EINVAL;
	snprintf(value, OPENSM_VALUE_SIZE, "%s", ours);
	return 0;
}

/* A text between quotes, in which a backslash precedes quotes and backslashes. */
static int from_text(const char *ours, char value[OPENSM_VALUE_SIZE])
{
	size_t length = strlen(ours), used = 0;

	if (length < 2 || length >= OPENSM_VALUE_SIZE || *ours != '"' || ours[length - 1] != '"')
		return -EINVAL;
	for (size_t i = 1; i < length - 1; i++) {
		i += ours[i] == '\\' && i + 2 < length;
		value[used++] = ours[i];
	}
	value[used] = '\0';
	return used ? 0 : -ENOENT;
}

static int from_engines(const char *ours, char value[OPENSM_VALUE_SIZE],
			char lost[OPENSM_VALUE_SIZE])
{
	*value = '\0';
	while ((ours = strchr(ours, '"'))) {
		struct piece name = {ours + 1, (int)strcspn(ours + 1, "\"")};
		size_t i = 0;

		while (i < ARRAY_SIZE(engines) &&
		       (engines[i].loop_free || !piece_is(name, engines[i].ours)))
			i++;
		if (i == ARRAY_SIZE(engines))
			list_append(lost, name, "");
		else
			snprintf(value + strlen(value), OPENSM_VALUE_SIZE - strlen(value), "%s%s",
				 *value ? "," : "", engines[i].theirs);
		ours = name.text + name.length + 1;
	}
	return *value ? 0 : -EINVAL;
}

/* The word of OpenSM for one of two values of ours. */
static int from_choice(const char *ours, const char *if_true, const char *if_false,
		       char value[OPENSM_VALUE_SIZE])
{
	bool on = !strcmp(ours, if_true);

	if (!on && (!if_false || strcmp(ours, if_false) != 0))
		return if_false ? -EINVAL : -ENOENT;
	snprintf(value, OPENSM_VALUE_SIZE, "%s", on ? "TRUE" : "FALSE");
	return 0;
}

int opensm_untranslate(const struct opensm_row *row, const char *ours,
		       char value[OPENSM_VALUE_SIZE], char lost[OPENSM_VALUE_SIZE])
{
	*lost = '\0';
	switch (row->how) {
	case OPENSM_NUMBER:
	case OPENSM_M_KEY:
		return from_number(ours, value);
	case OPENSM_FLAG:
		return from_choice(ours, "true", "false", value);
	case OPENSM_ENGINES:
		return from_engines(ours, value, lost);
	case OPENSM_BABBLE:
		return from_choice(ours, "\"disable\"", "\"note\"", value);
	case OPENSM_NO_REREG:
		return from_choice(ours, "0", NULL, value);
	case OPENSM_PERFMGR:
		snprintf(value, OPENSM_VALUE_SIZE, "%s", strcmp(ours, "0") ? "TRUE" : "FALSE");
		return 0;
	case OPENSM_TEXT:
	case OPENSM_ENFORCEMENT:
	case OPENSM_PREFIXES:
		return from_text(ours, value);
	case OPENSM_NO_ENFORCEMENT: /* part_enforce has it */
	case OPENSM_PARTITIONS:
	case OPENSM_LOST:
	case OPENSM_NOT_NEEDED:
		break;
	}
	return -ENOENT;
}

static bool lids_of(const uint64_t number[3], unsigned *lmc)
{
	uint64_t count = number[2] - number[1] + 1;

	if (!number[0] || number[1] < LID_UNICAST_MIN || number[2] > LID_UNICAST_MAX ||
	    number[2] < number[1] || (count & (count - 1)) || number[1] % count ||
	    count > 1u << LMC_MAX)
		return false;
	*lmc = (unsigned)__builtin_ctzll(count);
	return true;
}

int opensm_lids_parse(const char *name, const char *text, size_t length, opensm_lid_fn *lid,
		      void *ctx, char **error)
{
	static const char wanted[] = "a GUID, its first and its last LID (0x... 0x... 0x...)";
	struct lines lines = {.name = name, .next = text, .end = text + length};
	bool *given = mem_array(LID_UNICAST_MAX + 1, sizeof(*given));
	struct cursor line;
	int result = 0;

	while (!result && opensm_next_line(&lines, &line)) {
		struct cursor start = line;
		uint64_t number[3] = {0};
		unsigned lmc = 0;
		bool good = true;

		for (int i = 0; i < 3 && good; i++) {
			good = cursor_number(&line, 16, &number[i]);
			cursor_skip_blanks(&line);
		}
		if (!good || !cursor_at_end(&line) || !lids_of(number, &lmc)) {
			result = lines_refuse(&lines, &start, wanted, error);
			break;
		}
		for (uint64_t i = number[1]; i <= number[2] && !result; i++) {
			if (given[i])
				result = lines_refuse(&lines, &start,
						      "a LID that no line before has", error);
			given[i] = true;
		}
		if (!result)
			lid(ctx, number[0], (lid_t)number[1], lmc);
	}
	free(given);
	return result;
}
