/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads secrets (weftd/m_key_file.h). Only the HMAC of each line is kept, which has a fixed size;
 * the text is wiped. Short secrets are refused: M_Keys travel in the clear, so with one M_Key an
 * attacker could search for a short secret.
 */
#include "weftd/m_key_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/crypto_hmac.h"
#include "lib/secret_file.h"

enum { FILE_MAX_BYTES = 4096, SECRET_MIN_BYTES = 16 };

_Static_assert((int)SM_SECRET_SIZE == (int)CRYPTO_HMAC_SIZE, "a secret is kept as its HMAC");

static int m_key_file_refuse(const char *path, unsigned line, int result, const char *why,
			     char error[CONF_ERROR_SIZE])
{
	if (line)
		snprintf(error, CONF_ERROR_SIZE, "%s:%u: %s", path, line, why);
	else
		snprintf(error, CONF_ERROR_SIZE, "m_key_secret_file: %s: %s", path, why);
	return result;
}

static int load(const char *path, char text[FILE_MAX_BYTES + 1], size_t *size,
		char error[CONF_ERROR_SIZE])
{
	static const char option[] = "m_key_secret_file: ";
	size_t length = sizeof(option) - 1;

	memcpy(error, option, length);
	return secret_file_read(path, FILE_MAX_BYTES + 1, text, size, CONF_ERROR_SIZE - length,
				error + length);
}

static size_t trimmed(const char *line, size_t length)
{
	while (length && strchr(" \t\r", line[length - 1]))
		length--;
	return length;
}

static int take_lines(const char *path, const char *text, size_t size, struct sm_options *sm,
		      char error[CONF_ERROR_SIZE])
{
	static const char label[] = "weft M_Key secret";
	unsigned number = 0;

	sm->num_secrets = 0;
	for (const char *line = text, *end = text + size; line < end; number++) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		size_t whole = (size_t)((stop ? stop : end) - line), length = trimmed(line, whole);

		if (length && line[0] != '#') {
			if (length < SECRET_MIN_BYTES)
				return m_key_file_refuse(path, number + 1, -EINVAL,
							 "a secret needs at least 16 bytes; "
							 "openssl rand -hex 32 makes one",
							 error);
			if (sm->num_secrets == SM_SECRETS_MAX)
				return m_key_file_refuse(
					path, number + 1, -E2BIG,
					"more than 8 secrets: remove the last lines, once weftctl "
					"keys status shows no port that is changing",
					error);
			crypto_hmac(label, sizeof(label) - 1, line, length,
				    sm->secret[sm->num_secrets++]);
		}
		line += whole + 1;
	}
	return sm->num_secrets
		       ? 0
		       : m_key_file_refuse(path, 0, -EINVAL, "the file has no secret", error);
}

static int refuse_mode(const struct conf *conf, char error[CONF_ERROR_SIZE])
{
	bool by_hand = conf->sm.m_key_mode == M_KEY_SUBNET && conf->sm.m_key;

	if (conf->sm.m_key_mode == M_KEY_NONE || by_hand || conf->m_key_secret_file[0])
		return 0;
	snprintf(error, CONF_ERROR_SIZE, "m_key_mode: %s",
		 conf->sm.m_key_mode == M_KEY_PORT
			 ? "keys of ports are derived: m_key_secret_file is needed"
			 : "m_key, or m_key_secret_file, is needed");
	return -EINVAL;
}

int m_key_file_read(struct conf *conf, char error[CONF_ERROR_SIZE])
{
	char text[FILE_MAX_BYTES + 1];
	struct sm_options sm = conf->sm;
	int result = refuse_mode(conf, error);
	size_t size = 0;

	if (result || !conf->m_key_secret_file[0])
		return result;
	result = load(conf->m_key_secret_file, text, &size, error);
	if (!result)
		result = take_lines(conf->m_key_secret_file, text, size, &sm, error);
	explicit_bzero(text, sizeof(text));
	if (!result)
		conf->sm = sm;
	explicit_bzero(&sm, sizeof(sm));
	return result;
}
