/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The file of secrets: permitted kinds of file and owners, and that no error shows a secret. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"
#include "weftd/m_key_file.h"

#define SECRET "0123456789abcdef"

static char path[] = "/tmp/weft-secret-XXXXXX";

static int read_text(struct conf *conf, const char *text, mode_t mode, char error[CONF_ERROR_SIZE])
{
	FILE *file = fopen(path, "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
	chmod(path, mode);
	*conf = (struct conf){.sm = {.m_key_mode = M_KEY_PORT, .num_secrets = 5}};
	snprintf(conf->m_key_secret_file, sizeof(conf->m_key_secret_file), "%s", path);
	return m_key_file_read(conf, error);
}

static void test_good(void)
{
	struct conf conf, again;
	char error[CONF_ERROR_SIZE];

	CU_ASSERT_EQUAL(read_text(&conf, "# keys\n\n" SECRET "\r\n" SECRET "2", 0600, error), 0);
	CU_ASSERT_EQUAL(conf.sm.num_secrets, 2);
	CU_ASSERT_EQUAL(read_text(&again, SECRET " \n", 0600, error), 0);
	CU_ASSERT_EQUAL(again.sm.num_secrets, 1);
	CU_ASSERT_EQUAL(memcmp(conf.sm.secret[0], again.sm.secret[0], SM_SECRET_SIZE), 0);
	CU_ASSERT_NOT_EQUAL(memcmp(conf.sm.secret[0], conf.sm.secret[1], SM_SECRET_SIZE), 0);
}

static void test_bad(void)
{
	static const struct {
		const char *text;
		mode_t mode;
		const char *error;
	} rows[] = {
		{SECRET, 0640, "others may read or write it"},
		{SECRET, 0604, "others may read or write it"},
		{"", 0600, "the file has no secret"},
		{"# none\n", 0600, "the file has no secret"},
		{"# x\ntop-secret-15by\n", 0600, ":2: a secret needs at least 16 bytes"},
		{SECRET "\n" SECRET "\n" SECRET "\n" SECRET "\n" SECRET "\n" SECRET "\n" SECRET
			"\n" SECRET "\n" SECRET "\n",
		 0600, ":9: more than 8 secrets"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct conf conf;
		char error[CONF_ERROR_SIZE] = "";

		CU_ASSERT(read_text(&conf, rows[i].text, rows[i].mode, error) < 0);
		CU_ASSERT_PTR_NOT_NULL(strstr(error, rows[i].error));
		CU_ASSERT_PTR_NULL(strstr(error, "top-secret"));
		CU_ASSERT_EQUAL(conf.sm.num_secrets, 5);
	}
}

static void test_modes(void)
{
	static const struct {
		enum m_key_mode mode;
		uint64_t m_key;
		const char *error;
	} rows[] = {
		{M_KEY_NONE, 0, NULL},
		{M_KEY_SUBNET, 5, NULL},
		{M_KEY_SUBNET, 0, "m_key_mode: m_key, or m_key_secret_file, is needed"},
		{M_KEY_PORT, 5, "m_key_mode: keys of ports are derived"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct conf conf = {.sm = {.m_key_mode = rows[i].mode, .m_key = rows[i].m_key}};
		char error[CONF_ERROR_SIZE] = "";

		CU_ASSERT_EQUAL(m_key_file_read(&conf, error) == 0, !rows[i].error);
		CU_ASSERT_PTR_NOT_NULL(strstr(error, rows[i].error ? rows[i].error : ""));
	}
}

static void test_no_file(void)
{
	struct conf conf = {.sm = {.m_key_mode = M_KEY_PORT}, .m_key_secret_file = "/none/at/all"};
	char error[CONF_ERROR_SIZE] = "";

	CU_ASSERT_EQUAL(m_key_file_read(&conf, error), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(error, "m_key_secret_file: /none/at/all: it cannot be read"));
	snprintf(conf.m_key_secret_file, sizeof(conf.m_key_secret_file), "/dev/null");
	CU_ASSERT_EQUAL(m_key_file_read(&conf, error), -EINVAL);
}

static const CU_TestInfo tests[] = {
	{"good files", test_good}, {"bad files", test_bad}, {"combinations", test_modes},
	{"no file", test_no_file}, CU_TEST_INFO_NULL,
};

int main(void)
{
	int fd = mkstemp(path), status;

	close(fd);
	status = unit_main("m_key_file", tests);
	unlink(path);
	return status;
}
