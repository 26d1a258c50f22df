/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Parses lines of words. One key under two names is refused, because each peer could act as the
 * other. */
#include "lib/psk_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/guid.h"
#include "lib/hash.h"
#include "lib/secret_file.h"

enum { FILE_MAX = 8192, WORDS_MAX = 3 };

/* The name of a key without an identity, also in older versions. */
static const char shared_identity[] = "weft";

/* The present position. */
struct reading {
	const char *path;
	unsigned line; /* from 1 on */
	char *why;
};

static int psk_file_refuse(const struct reading *reading, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static int psk_file_refuse(const struct reading *reading, const char *format, ...)
{
	int length = snprintf(reading->why, STREAM_WHY_SIZE, "%.120s line %u: ", reading->path,
			      reading->line);
	va_list args;

	va_start(args, format);
	vsnprintf(reading->why + length, STREAM_WHY_SIZE - (size_t)length, format, args);
	va_end(args);
	return -EINVAL;
}

/* Words */

static int psk_hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

static int parse_key(const struct reading *reading, const char *text, struct psk *out)
{
	size_t length = strlen(text);
	bool good = length % 2 == 0 && length >= 2 * PSK_MIN && length <= 2 * PSK_MAX;

	for (size_t i = 0; good && i < length; i++) {
		int digit = psk_hex_digit(text[i]);

		good = digit >= 0;
		if (good)
			out->key[i / 2] = (uint8_t)(i % 2 ? out->key[i / 2] | digit : digit << 4);
	}
	out->size = length / 2;
	return good ? 0
		    : psk_file_refuse(
			      reading,
			      "no key of %d to %d hexadecimal digits: openssl rand -hex 32 makes "
			      "one",
			      2 * PSK_MIN, 2 * PSK_MAX);
}

static int parse_identity(const struct reading *reading, const char *text, struct psk *out)
{
	size_t length = 0;

	while (isalnum((unsigned char)text[length]) ||
	       (text[length] && strchr("._-", text[length])))
		length++;
	if (text[length] || length >= sizeof(out->identity))
		return psk_file_refuse(
			reading,
			"an identity has at most %zu letters, digits and any of \"._-\": "
			"choose another name",
			sizeof(out->identity) - 1);
	if (!strcmp(text, shared_identity))
		return psk_file_refuse(
			reading, "\"%s\" is the name of the key that has none: choose another name",
			shared_identity);
	memcpy(out->identity, text, length + 1);
	return 0;
}

static int parse_peer(const struct reading *reading, const char *text, struct psk *out)
{
	guid_t guid;

	out->has_peer = true;
	if (!strncmp(text, "0x", 2) && guid_parse(text, &guid)) {
		out->peer = host_of_guid(guid);
		return 0;
	}
	return host_parse(text, &out->peer)
		       ? 0
		       : psk_file_refuse(reading,
					 "the third word is neither a numeric address, as ha_peers "
					 "has it, nor a port GUID");
}

static int parse_words(const struct reading *reading, char *const *words, unsigned count,
		       struct psk *out)
{
	int error;

	*out = (struct psk){.shared = count == 1};
	memcpy(out->identity, shared_identity, sizeof(shared_identity));
	if (count == 1)
		return parse_key(reading, words[0], out);
	error = parse_identity(reading, words[0], out);
	if (!error)
		error = parse_key(reading, words[1], out);
	return error || count == 2 ? error : parse_peer(reading, words[2], out);
}

/* Lines */

static bool same_key(const struct psk *a, const struct psk *b)
{
	return a->size == b->size && !memcmp(a->key, b->key, a->size);
}

static int psk_list_add(const struct reading *reading, struct psk_list *keys, const struct psk *psk)
{
	if (keys->count == PSK_KEYS_MAX)
		return psk_file_refuse(reading,
				       "more than %d keys: remove those that are not in use",
				       PSK_KEYS_MAX);
	for (unsigned i = 0; i < keys->count; i++) {
		const struct psk *other = &keys->list[i];

		if (!strcmp(other->identity, psk->identity))
			return psk_file_refuse(reading,
					       "identity \"%s\" has a key already: remove one line",
					       psk->identity);
		if (same_key(other, psk))
			return psk_file_refuse(
				reading, "its key is that of identity \"%s\": each needs its own",
				other->identity);
		if (psk->has_peer && other->has_peer && host_same(&psk->peer, &other->peer))
			return psk_file_refuse(
				reading, "its address is that of identity \"%s\": remove one line",
				other->identity);
	}
	keys->list[keys->count++] = *psk;
	return 0;
}

static int parse_line(const struct reading *reading, char *line, struct psk_list *keys)
{
	char *words[WORDS_MAX], *word;
	unsigned count = 0;
	struct psk psk;
	int error;

	line[strcspn(line, "#")] = '\0';
	while ((word = strsep(&line, " \t\r\f\v"))) {
		if (!*word)
			continue;
		if (count == WORDS_MAX)
			return psk_file_refuse(reading,
					       "a line is IDENTITY KEY [ADDRESS], or a key alone");
		words[count++] = word;
	}
	if (!count)
		return 0;
	error = parse_words(reading, words, count, &psk);
	if (!error)
		error = psk_list_add(reading, keys, &psk);
	explicit_bzero(&psk, sizeof(psk));
	return error;
}

static int psk_file_parse(const char *path, char *text, struct psk_list *keys,
			  char why[STREAM_WHY_SIZE])
{
	struct reading reading = {.path = path, .line = 1, .why = why};
	int error = 0;
	char *line;

	for (; !error && (line = strsep(&text, "\n")); reading.line++)
		error = parse_line(&reading, line, keys);
	reading.line = 1;
	return error || keys->count
		       ? error
		       : psk_file_refuse(&reading,
					 "no key of %d to %d hexadecimal digits: openssl rand "
					 "-hex 32 makes one",
					 2 * PSK_MIN, 2 * PSK_MAX);
}

int psk_file_read(const char *path, struct psk_list *out, char why[STREAM_WHY_SIZE])
{
	struct psk_list keys = {.count = 0};
	char text[FILE_MAX + 1];
	size_t size;
	int error = secret_file_read(path, FILE_MAX, text, &size, STREAM_WHY_SIZE, why);

	if (!error) {
		text[size] = '\0';
		if (memchr(text, '\0', size))
			text[0] = '\0'; /* no text: it contains no key */
		error = psk_file_parse(path, text, &keys, why);
	}
	if (!error)
		*out = keys;
	explicit_bzero(text, sizeof(text));
	explicit_bzero(&keys, sizeof(keys));
	return error;
}

/* Finding */

const struct psk *psk_named(const struct psk_list *keys, const char *identity)
{
	for (unsigned i = 0; i < keys->count; i++)
		if (!strcmp(keys->list[i].identity, identity))
			return &keys->list[i];
	return NULL;
}

const struct psk *psk_for(const struct psk_list *keys, const struct host *peer)
{
	const struct psk *any = NULL;

	for (unsigned i = 0; i < keys->count; i++) {
		const struct psk *psk = &keys->list[i];

		if (psk->has_peer && host_same(&psk->peer, peer))
			return psk;
		if (!psk->has_peer && !any)
			any = psk;
	}
	return any;
}

uint64_t psk_digest(const struct psk_list *keys)
{
	uint64_t digest = HASH_SEED;

	for (unsigned i = 0; i < keys->count; i++) {
		const struct psk *psk = &keys->list[i];

		digest = hash_bytes(digest, psk->identity, strlen(psk->identity) + 1);
		digest = hash_bytes(digest, &psk->size, sizeof(psk->size));
		digest = hash_bytes(digest, psk->key, psk->size);
	}
	return digest;
}

bool psk_stays(const struct psk_list *before, const struct psk_list *after, const char *identity)
{
	const struct psk *was = psk_named(before, identity), *is = psk_named(after, identity);

	return was && is && same_key(was, is);
}
