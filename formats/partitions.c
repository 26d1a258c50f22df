/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads partition files (partitions.h). A file is definitions, each ended by a semicolon:
 *
 *	[name][=P_Key][, flag[=value]]... : [port[=membership], ... | mgid=GID[, flag=value]... ] ;
 *
 * Items are separated by commas and ends of lines; an mgid takes the flags up to the end of its
 * line. A # begins a comment. Words may be shortened, as in OpenSM: a prefix stands for the first
 * word of a table that begins with it. Unknown words are refused.
 */
#include "formats/partitions.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/cursor.h"
#include "lib/be.h"
#include "lib/mem.h"

enum {
	PKEY_LOW_BITS = 0x7FFF,
	PKEY_DEFAULT = 0x7FFF,
	IPOIB_QKEY = 0x0B1B,
	MTU_2048 = 4,
	RATE_10 = 3,
	RATE_LAST = 24,
	FLOW_LABEL_MAX = 0xFFFFF,
};

struct reader {
	const char *name, *at, *end;
	unsigned line;
	bool allow_both;
	struct partitions *into;
	uint32_t *places; /* by P_Key: index in the partitions plus 1; 0: it is free */
	pkey_t lowest;	  /* no P_Key below it is free */
	char *error;
};

#define PLACE_NAMED UINT32_MAX /* a later line has this P_Key by number */

/* The flags of a definition or of a group, as far as they were read. */
struct group_flags {
	struct partition_group group;
	uint16_t scopes; /* bit n: scope n */
};

struct definition {
	struct group_flags flags;
	bool ipoib, index0;
	uint8_t membership; /* of members without a membership of their own */
};

/* An item of a list: the text before and after its "=". */
struct item {
	struct piece word, value;
	bool has_value;
	char stop; /* the character that ended it; 0: the end of the file */
};

static bool policy_file_refuse(struct reader *reader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static bool policy_file_refuse(struct reader *reader, const char *format, ...)
{
	va_list arguments;
	char *reason;

	va_start(arguments, format);
	if (vasprintf(&reason, format, arguments) < 0)
		abort();
	va_end(arguments);
	for (char *at = reason; *at; at++) /* a word of the file may have line ends */
		*at = iscntrl((unsigned char)*at) ? ' ' : *at;
	reader->error = mem_printf("%s:%u: %.300s", reader->name, reader->line, reason);
	free(reason);
	return false;
}

static void policy_file_note(struct reader *reader, const char *text)
{
	char *before = reader->into->notes;

	reader->into->notes = mem_printf("%s%s%s:%u: %s", before ? before : "", before ? "\n" : "",
					 reader->name, reader->line, text);
	free(before);
}

/* Blanks, ends of lines and comments. */
static void skip(struct reader *reader)
{
	for (; reader->at < reader->end; reader->at++) {
		if (*reader->at == '#')
			while (reader->at < reader->end && *reader->at != '\n')
				reader->at++;
		if (reader->at == reader->end || !isspace((unsigned char)*reader->at))
			return;
		reader->line += *reader->at == '\n';
	}
}

static struct piece trim(const char *from, const char *to)
{
	while (from < to && isspace((unsigned char)*from))
		from++;
	while (to > from && isspace((unsigned char)to[-1]))
		to--;
	return (struct piece){from, (int)(to - from)};
}

/* The next item, up to one of stops, which is consumed. Its line becomes the reader's, because an
 * item ends at the end of a line if that is a stop. */
static struct item next_item(struct reader *reader, const char *stops)
{
	const char *from = reader->at, *equals = NULL, *to;
	struct item item = {0};

	for (; reader->at < reader->end && !strchr(stops, *reader->at) && *reader->at != '#';
	     reader->at++) {
		if (*reader->at == '=' && !equals)
			equals = reader->at;
		reader->line += *reader->at == '\n';
	}
	to = reader->at;
	if (reader->at < reader->end && *reader->at == '#') /* up to the end of the line */
		while (reader->at < reader->end && *reader->at != '\n')
			reader->at++;
	if (reader->at < reader->end && strchr(stops, *reader->at))
		item.stop = *reader->at++;
	item.word = trim(from, equals ? equals : to);
	item.has_value = equals;
	item.value = equals ? trim(equals + 1, to) : (struct piece){to, 0};
	return item;
}

/* The row of words (NULL ends them) with this prefix; -1: none. */
static int policy_find_word(struct piece piece, const char *const *words)
{
	for (int i = 0; piece.length && words[i]; i++)
		if (strncmp(words[i], piece.text, (size_t)piece.length) == 0)
			return i;
	return -1;
}

/* Decimal, or hexadecimal after 0x. */
static bool policy_read_number(struct piece piece, uint64_t least, uint64_t most, uint64_t *out)
{
	struct cursor cursor = {piece.text, piece.text + piece.length};
	uint64_t value;

	if (!cursor_number(&cursor, 10, &value) || !cursor_at_end(&cursor) || value < least ||
	    value > most)
		return false;
	*out = value;
	return true;
}

static bool read_membership(struct reader *reader, struct piece piece, uint8_t *out)
{
	static const char *const words[] = {"full", "both", "limited", NULL};
	static const uint8_t values[] = {MEMBERSHIP_FULL, MEMBERSHIP_BOTH, MEMBERSHIP_LIMITED};
	int found = policy_find_word(piece, words);

	if (found < 0)
		return policy_file_refuse(reader,
					  "a membership is full, limited or both, not \"%.*s\"",
					  piece.length, piece.text);
	if (values[found] == MEMBERSHIP_BOTH && !reader->allow_both)
		return policy_file_refuse(
			reader, "\"both\" needs allow_both_pkeys = true in the configuration");
	*out = values[found];
	return true;
}

/* Flags of groups, in the order of the search for a shortened word. */
static const char *const group_words[] = {"mtu",    "rate", "scope",	 "Q_Key",
					  "TClass", "sl",   "FlowLabel", NULL};
enum group_word {
	WORD_MTU,
	WORD_RATE,
	WORD_SCOPE,
	WORD_QKEY,
	WORD_TCLASS,
	WORD_SL,
	WORD_FLOW_LABEL
};

static const struct {
	uint32_t least, most;
} group_ranges[] = {
	[WORD_MTU] = {1, 5},
	[WORD_RATE] = {2, RATE_LAST},
	[WORD_SCOPE] = {1, 15},
	[WORD_QKEY] = {0, UINT32_MAX},
	[WORD_TCLASS] = {0, UINT8_MAX},
	[WORD_SL] = {0, 15},
	[WORD_FLOW_LABEL] = {0, FLOW_LABEL_MAX},
};

static bool set_group_flag(struct reader *reader, const struct item *item, int word,
			   struct group_flags *flags)
{
	uint64_t value;

	if (!policy_read_number(item->value, group_ranges[word].least, group_ranges[word].most,
				&value))
		return policy_file_refuse(reader, "%s needs a number from %u to %u, not \"%.*s\"",
					  group_words[word], group_ranges[word].least,
					  group_ranges[word].most, item->value.length,
					  item->value.text);
	switch ((enum group_word)word) {
	case WORD_MTU:
		flags->group.mtu = (uint8_t)value;
		break;
	case WORD_RATE:
		flags->group.rate = (uint8_t)value;
		break;
	case WORD_SCOPE:
		flags->scopes |= (uint16_t)(1 << value);
		break;
	case WORD_QKEY:
		flags->group.q_key = (uint32_t)value;
		break;
	case WORD_TCLASS:
		flags->group.tclass = (uint8_t)value;
		break;
	case WORD_SL:
		if (value)
			policy_file_note(reader,
					 "sl is taken as 0, the only SL there is without QoS");
		break;
	case WORD_FLOW_LABEL:
		flags->group.flow_label = (uint32_t)value;
		break;
	}
	return true;
}

static bool set_flag(struct reader *reader, const struct item *item, struct definition *definition)
{
	static const char *const words[] = {"ipoib", "defmember", "indx0", NULL};
	int word = policy_find_word(item->word, group_words);

	if (word >= 0)
		return set_group_flag(reader, item, word, &definition->flags);
	switch (policy_find_word(item->word, words)) {
	case 0:
		definition->ipoib = true;
		return true;
	case 1:
		return read_membership(reader, item->value, &definition->membership);
	case 2:
		definition->index0 = true;
		return true;
	default:
		return policy_file_refuse(
			reader,
			"unknown flag \"%.*s\": a partition has ipoib, indx0, defmember, "
			"mtu, rate, sl, scope, Q_Key, TClass, FlowLabel",
			item->word.length, item->word.text);
	}
}

/* Groups */

void ipoib_broadcast_mgid(pkey_t p_key, uint8_t mgid[GID_SIZE])
{
	static const uint8_t base[GID_SIZE] = {
		0xFF, 0x12, 0x40, 0x1B, [12] = 0xFF, 0xFF, 0xFF, 0xFF};

	memcpy(mgid, base, GID_SIZE);
	be16_store(mgid + 4, p_key | 0x8000);
}

static bool same_group(const struct partition_group *a, const struct partition_group *b)
{
	return a->mtu == b->mtu && a->rate == b->rate && a->sl == b->sl && a->tclass == b->tclass &&
	       a->q_key == b->q_key && a->flow_label == b->flow_label;
}

static bool add_group(struct reader *reader, struct partition *partition,
		      const struct partition_group *group)
{
	char text[INET6_ADDRSTRLEN];

	for (uint32_t p = 0; p < reader->into->count; p++) {
		const struct partition *other = &reader->into->partitions[p];

		for (uint32_t i = 0; i < other->num_groups; i++) {
			if (memcmp(other->groups[i].mgid, group->mgid, GID_SIZE) != 0)
				continue;
			if (other == partition && same_group(&other->groups[i], group))
				return true;
			inet_ntop(AF_INET6, group->mgid, text, sizeof(text));
			return policy_file_refuse(reader,
						  "the group %s was defined otherwise in line %u",
						  text, other->groups[i].line);
		}
	}
	partition->groups =
		mem_grow(partition->groups, partition->num_groups, sizeof(*partition->groups));
	partition->groups[partition->num_groups++] = *group;
	return true;
}

/* A group for each scope given, else one with the scope of its MGID. */
static bool add_groups(struct reader *reader, struct partition *partition,
		       const uint8_t mgid[GID_SIZE], const struct group_flags *flags)
{
	struct partition_group group = flags->group;

	group.line = reader->line;
	memcpy(group.mgid, mgid, GID_SIZE);
	if (!flags->scopes)
		return add_group(reader, partition, &group);
	for (unsigned scope = 1; scope < 16; scope++) {
		if (!(flags->scopes >> scope & 1))
			continue;
		group.mgid[1] = (uint8_t)((mgid[1] & 0xF0) | scope);
		if (!add_group(reader, partition, &group))
			return false;
	}
	return true;
}

/* IP over InfiniBand groups have the P_Key in their MGID, and parameters compatible with the
 * broadcast group. */
static bool check_ip_group(struct reader *reader, const struct partition *partition,
			   const struct definition *definition, uint8_t mgid[GID_SIZE],
			   struct group_flags *flags)
{
	unsigned signature = be16_load(mgid + 2), p_key = be16_load(mgid + 4);
	uint8_t broadcast[GID_SIZE];

	if (signature != 0x401B && signature != 0x601B)
		return true;
	ipoib_broadcast_mgid(PKEY_DEFAULT, broadcast);
	if (p_key && p_key != (partition->p_key | 0x8000u) &&
	    memcmp(mgid, broadcast, GID_SIZE) != 0)
		return policy_file_refuse(
			reader,
			"an IP group has the partition's P_Key (0x%04x) or 0 behind its signature, "
			"not 0x%04x",
			partition->p_key | 0x8000u, p_key);
	if (flags->group.mtu != definition->flags.group.mtu ||
	    flags->group.rate != definition->flags.group.rate)
		return policy_file_refuse(
			reader,
			"an IP group has the mtu and rate of its partition's broadcast group "
			"(%u and %u)",
			definition->flags.group.mtu, definition->flags.group.rate);
	be16_store(mgid + 4, partition->p_key | 0x8000);
	if (!flags->group.q_key)
		flags->group.q_key = IPOIB_QKEY;
	return true;
}

static bool read_group(struct reader *reader, const struct item *first, struct partition *partition,
		       const struct definition *definition, char *stop)
{
	struct group_flags flags = definition->flags;
	char text[INET6_ADDRSTRLEN] = "";
	uint8_t mgid[GID_SIZE];

	if ((size_t)first->value.length < sizeof(text))
		memcpy(text, first->value.text, (size_t)first->value.length);
	if (inet_pton(AF_INET6, text, mgid) != 1 || mgid[0] != 0xFF)
		return policy_file_refuse(reader, "\"%.*s\" is no multicast GID (ff12:...)",
					  first->value.length, first->value.text);
	flags.group.tclass = 0;
	for (*stop = first->stop; *stop == ',';) {
		struct item item = next_item(reader, ",;\n");
		int word = policy_find_word(item.word, group_words);

		*stop = item.stop;
		if (!item.word.length)
			continue;
		if (word < 0)
			return policy_file_refuse(
				reader,
				"unknown flag \"%.*s\": a group has mtu, rate, sl, scope, Q_Key, "
				"TClass, FlowLabel",
				item.word.length, item.word.text);
		if (!set_group_flag(reader, &item, word, &flags))
			return false;
	}
	return check_ip_group(reader, partition, definition, mgid, &flags) &&
	       add_groups(reader, partition, mgid, &flags);
}

/* Members */

static bool read_guids(struct piece piece, struct partition_rule *rule)
{
	struct cursor cursor = {piece.text, piece.text + piece.length};

	if (!cursor_number(&cursor, 10, &rule->first) || !rule->first)
		return false;
	rule->last = rule->first;
	cursor_skip_blanks(&cursor);
	if (cursor_accept(&cursor, '-')) {
		cursor_skip_blanks(&cursor);
		if (!cursor_number(&cursor, 10, &rule->last) || rule->last < rule->first)
			return false;
	}
	return cursor_at_end(&cursor);
}

static bool read_member(struct reader *reader, const struct item *item, struct partition *partition,
			const struct definition *definition)
{
	static const char *const words[] = {"NONE",	   "ALL",  "ALL_CAS", "ALL_SWITCHES",
					    "ALL_ROUTERS", "SELF", NULL};
	static const uint8_t who[] = {0,	   WHO_ALL, WHO_ADAPTERS, WHO_SWITCHES,
				      WHO_ROUTERS, WHO_SELF};
	struct partition_rule rule = {.who = WHO_GUIDS, .membership = definition->membership};
	int word = policy_find_word(item->word, words);

	if (item->has_value && !read_membership(reader, item->value, &rule.membership))
		return false;
	if (word == 0)
		return true;
	if (word > 0)
		rule.who = who[word];
	else if (!read_guids(item->word, &rule))
		return policy_file_refuse(
			reader,
			"\"%.*s\" is no port: a GUID, a range GUID-GUID, ALL, ALL_CAS, "
			"ALL_SWITCHES, ALL_ROUTERS, SELF or NONE",
			item->word.length, item->word.text);
	partition->rules =
		mem_grow(partition->rules, partition->num_rules, sizeof(*partition->rules));
	partition->rules[partition->num_rules++] = rule;
	return true;
}

/* Definitions */

bool partition_key_parse(const char *text, pkey_t *out)
{
	struct piece piece = {text, (int)strnlen(text, PARTITION_NAME_SIZE)};
	uint64_t value;

	if ((text[0] == '0' && text[1] != 'x' && text[1] != 'X') ||
	    !policy_read_number(piece, 1, UINT16_MAX - 1, &value) || !(value & PKEY_LOW_BITS))
		return false;
	*out = value & PKEY_LOW_BITS;
	return true;
}

/* A name that is a number is the P_Key; the default partition's name means its P_Key. 0: none
 * given. */
static bool read_p_key(struct reader *reader, struct item *item, pkey_t *out)
{
	uint64_t value;

	*out = 0;
	if (!item->has_value && item->word.length && isdigit((unsigned char)*item->word.text)) {
		item->value = item->word;
		item->word.length = 0;
		item->has_value = true;
	}
	if (!item->has_value) {
		if (piece_is(item->word, "Default"))
			*out = PKEY_DEFAULT;
		return true;
	}
	if (!policy_read_number(item->value, 1, UINT16_MAX, &value) || !(value & PKEY_LOW_BITS))
		return policy_file_refuse(
			reader,
			"a P_Key is 0x0001 to 0x7fff (the membership bit does not count), "
			"not \"%.*s\"",
			item->value.length, item->value.text);
	*out = value & PKEY_LOW_BITS;
	return true;
}

/* The partition of this P_Key, added if it is new; returns its index, because the array moves. */
static uint32_t partition_of(struct reader *reader, pkey_t p_key, struct piece name)
{
	struct partitions *into = reader->into;
	struct partition *partition;
	uint32_t place = reader->places[p_key];

	if (place && place != PLACE_NAMED)
		return place - 1;
	reader->places[p_key] = into->count + 1;
	into->partitions = mem_grow(into->partitions, into->count, sizeof(*into->partitions));
	partition = &into->partitions[into->count];
	*partition = (struct partition){.p_key = p_key, .line = reader->line};
	memcpy(partition->name, name.text, (size_t)name.length);
	return into->count++;
}

/* The lowest P_Key that the file does not use: it must not belong to another partition. */
static pkey_t free_p_key(struct reader *reader)
{
	while (reader->lowest < PKEY_DEFAULT && reader->places[reader->lowest])
		reader->lowest++;
	return reader->lowest < PKEY_DEFAULT ? reader->lowest : 0;
}

/* Up to the colon. */
static bool read_head(struct reader *reader, struct definition *definition, uint32_t *partition)
{
	struct item first = next_item(reader, ",:;"), item = first;
	pkey_t p_key;

	*definition = (struct definition){
		.flags.group = {.mtu = MTU_2048, .rate = RATE_10},
		.membership = MEMBERSHIP_LIMITED,
	};
	if (!read_p_key(reader, &first, &p_key))
		return false;
	if (first.word.length >= PARTITION_NAME_SIZE)
		return policy_file_refuse(reader, "a name has at most %d characters",
					  PARTITION_NAME_SIZE - 1);
	while (item.stop == ',') {
		item = next_item(reader, ",:;");
		if (item.word.length && !set_flag(reader, &item, definition))
			return false;
	}
	if (item.stop != ':')
		return policy_file_refuse(
			reader,
			"a definition (name=P_Key, flags) ends with a colon before its members");
	if (!p_key) {
		p_key = free_p_key(reader);
		if (!p_key)
			return policy_file_refuse(reader, "no P_Key is left for this partition");
	}
	*partition = partition_of(reader, p_key, first.word);
	return true;
}

/* From the colon up to the semicolon. */
static bool read_body(struct reader *reader, const struct definition *definition,
		      struct partition *partition)
{
	char stop = 0;

	do {
		struct item item;

		skip(reader);
		item = next_item(reader, ",;\n");
		stop = item.stop;
		if (piece_is(item.word, "mgid")) {
			if (!read_group(reader, &item, partition, definition, &stop))
				return false;
		} else if (item.word.length || item.has_value) {
			if (!read_member(reader, &item, partition, definition))
				return false;
		}
		reader->line += stop == '\n';
	} while (stop && stop != ';');
	if (stop != ';')
		return policy_file_refuse(reader,
					  "the definition of line %u has no semicolon at its end",
					  partition->line);
	return true;
}

static bool read_definition(struct reader *reader)
{
	struct definition definition;
	struct partition *partition;
	uint32_t number = 0;
	uint8_t mgid[GID_SIZE];

	if (!read_head(reader, &definition, &number))
		return false;
	partition = &reader->into->partitions[number];
	partition->index0 |= definition.index0;
	if (definition.ipoib && !partition->ipoib) {
		struct group_flags flags = definition.flags;

		partition->ipoib = true;
		if (!flags.group.q_key)
			flags.group.q_key = IPOIB_QKEY;
		ipoib_broadcast_mgid(partition->p_key, mgid);
		if (!add_groups(reader, partition, mgid, &flags))
			return false;
	}
	return read_body(reader, &definition, partition);
}

/* Skips to the next semicolon outside a comment. */
static void skip_definition(struct reader *reader)
{
	bool comment = false;

	for (; reader->at < reader->end; reader->at++) {
		reader->line += *reader->at == '\n';
		if (*reader->at == '#' || *reader->at == '\n')
			comment = *reader->at == '#';
		if (*reader->at == ';' && !comment) {
			reader->at++;
			return;
		}
	}
}

/* The P_Keys that the file has by number, found by parsing only the definitions' heads. */
static void find_named(struct reader reader)
{
	while (skip(&reader), reader.at < reader.end) {
		struct item item = next_item(&reader, ",:;");
		pkey_t p_key;

		if (!read_p_key(&reader, &item, &p_key)) {
			free(reader.error);
			return; /* the second pass reports the error */
		}
		reader.places[p_key] = PLACE_NAMED;
		if (item.stop != ';')
			skip_definition(&reader);
	}
}

static void reader_begin(struct reader *reader, const char *name, const char *text, size_t length,
			 bool allow_both)
{
	*reader = (struct reader){.name = name,
				  .at = text,
				  .end = text + length,
				  .line = 1,
				  .allow_both = allow_both,
				  .lowest = 1,
				  .places = mem_array(PKEY_LOW_BITS + 1, sizeof(*reader->places)),
				  .into = mem_zalloc(sizeof(*reader->into))};
	reader->into->name = mem_strdup(name);
	if (memchr(text, '\0', length))
		policy_file_refuse(reader, "this is no text: it has a byte of value 0");
	else
		find_named(*reader);
}

/* Moves the error of the reader to the list. */
static void collect_error(struct reader *reader, char **list, unsigned number)
{
	char *shorter = *list;

	if (number <= PARTITION_ERRORS_MAX) {
		*list = mem_printf("%s%s%s", shorter ? shorter : "", shorter ? "\n" : "",
				   reader->error);
		free(shorter);
	}
	free(reader->error);
	reader->error = NULL;
}

/* Appends how many errors are not in the list. */
static void count_others(const struct reader *reader, char **list, unsigned others)
{
	char *shorter = *list;

	*list = mem_printf("%s\n%s: %u more errors", shorter, reader->name, others);
	free(shorter);
}

/* all: continues after an error. */
static int parse(struct reader *reader, bool all, struct partitions **out, char **error)
{
	const char *text = reader->at;
	char *list = NULL;
	unsigned count = 0;

	if (reader->error) { /* no text */
		collect_error(reader, &list, ++count);
		reader->at = reader->end;
	}
	while ((!count || all) && (skip(reader), reader->at < reader->end)) {
		const char *at = reader->at;
		unsigned line = reader->line;

		if (read_definition(reader))
			continue;
		collect_error(reader, &list, ++count);
		reader->at = at;
		reader->line = line;
		skip_definition(reader);
	}
	free(reader->places);
	if (count > PARTITION_ERRORS_MAX)
		count_others(reader, &list, count - PARTITION_ERRORS_MAX);
	if (count) {
		partitions_free(reader->into);
		*error = list;
		return -EINVAL;
	}
	reader->into->length = (size_t)(reader->end - text);
	reader->into->text = mem_printf("%.*s", (int)reader->into->length, text);
	*out = reader->into;
	return 0;
}

int partitions_parse(const char *name, const char *text, size_t length, bool allow_both,
		     struct partitions **out, char **error)
{
	struct reader reader;

	reader_begin(&reader, name, text, length, allow_both);
	return parse(&reader, false, out, error);
}

int partitions_parse_all(const char *name, const char *text, size_t length, bool allow_both,
			 struct partitions **out, char **error)
{
	struct reader reader;

	reader_begin(&reader, name, text, length, allow_both);
	return parse(&reader, true, out, error);
}

void partitions_free(struct partitions *partitions)
{
	if (!partitions)
		return;
	for (uint32_t i = 0; i < partitions->count; i++) {
		free(partitions->partitions[i].rules);
		free(partitions->partitions[i].groups);
	}
	free(partitions->partitions);
	free(partitions->name);
	free(partitions->notes);
	free(partitions->text);
	free(partitions);
}

static bool rule_names(const struct partition_rule *rule, guid_t port_guid, uint8_t type, bool self)
{
	switch ((enum partition_who)rule->who) {
	case WHO_GUIDS:
		return port_guid >= rule->first && port_guid <= rule->last;
	case WHO_ALL:
		return true;
	case WHO_ADAPTERS:
		return type == NODE_CA;
	case WHO_SWITCHES:
		return type == NODE_SWITCH;
	case WHO_ROUTERS:
		return type == NODE_ROUTER;
	case WHO_SELF:
		return self;
	}
	return false;
}

enum membership partition_membership(const struct partition *partition, guid_t port_guid,
				     uint8_t type, bool self, bool allow_both)
{
	unsigned membership = MEMBERSHIP_NONE;

	for (uint32_t i = 0; i < partition->num_rules; i++) {
		const struct partition_rule *rule = &partition->rules[i];

		if (rule_names(rule, port_guid, type, self))
			membership = rule->membership | (allow_both ? membership : 0);
	}
	return membership;
}
