/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files that may hold a secret. A refusal names the file, the reason and the remedy. */
#include "lib/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/fixtures/unit.h"

#define CHOWN "chown it to the user that runs weftd (weft under systemd)"

enum { SECRET_ROOM = 8, WHY = 256, SOMEBODY = 12345 };

static char path[] = "/tmp/weft-secret-file-XXXXXX";

static int read_it(const char *name, char text[SECRET_ROOM], size_t *size, char why[WHY])
{
	memset(text, 'x', SECRET_ROOM);
	*size = 99;
	why[0] = '\0';
	return secret_file_read(name, SECRET_ROOM, text, size, WHY, why);
}

static void write_it(const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	CU_ASSERT_FATAL(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
			!fchmod(fd, mode));
	close(fd);
}

static void test_rights_and_length(void)
{
	static const struct {
		const char *text;
		mode_t mode;
		int result;
		const char *why;
	} rows[] = {
		{"1234567", 0600, 0, ""},
		{"1234567", 0400, 0, ""},
		{"", 0600, 0, ""},
		{"12345678", 0600, -EFBIG, "longer than 7 bytes: leave only the secret in it"},
		{"123456789", 0600, -EFBIG, "longer than 7 bytes"},
		{"1234567", 0640, -EPERM, "others may read or write it: chmod 600 it"},
		{"1234567", 0620, -EPERM, "chmod 600 it"},
		{"1234567", 0604, -EPERM, "chmod 600 it"},
		{"1234567", 0602, -EPERM, "chmod 600 it"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[SECRET_ROOM], why[WHY];
		size_t size;

		write_it(rows[i].text, rows[i].mode);
		CU_ASSERT_EQUAL(read_it(path, text, &size, why), rows[i].result);
		CU_ASSERT_PTR_NOT_NULL(strstr(why, rows[i].why));
		CU_ASSERT_PTR_NULL(strstr(why, "1234567"));
		CU_ASSERT_EQUAL(size, rows[i].result ? 0 : strlen(rows[i].text));
		CU_ASSERT(rows[i].result ? !strncmp(why, path, strlen(path))
					 : !memcmp(text, rows[i].text, size));
	}
}

/* Only root may change the owner of a file, and read files of other users. */
static void test_owner(void)
{
	char text[SECRET_ROOM], why[WHY];
	size_t size;

	if (geteuid())
		return;
	write_it("1234567", 0600);
	CU_ASSERT_FATAL(!chown(path, SOMEBODY, (gid_t)-1));
	CU_ASSERT_EQUAL(read_it(path, text, &size, why), -EPERM);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "its owner is another user: " CHOWN));
	CU_ASSERT_FATAL(!seteuid(SOMEBODY));
	CU_ASSERT_EQUAL(read_it(path, text, &size, why), 0);
	CU_ASSERT_FATAL(!seteuid(0) && !chown(path, 0, (gid_t)-1) && !seteuid(SOMEBODY));
	CU_ASSERT_EQUAL(read_it(path, text, &size, why), -EACCES);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, CHOWN));
	CU_ASSERT_FATAL(!seteuid(0));
}

/* The mode of the file is right here. */
static void test_folder(void)
{
	char text[SECRET_ROOM], why[WHY], folder[] = "/tmp/weft-secret-folder-XXXXXX", name[64];
	size_t size;

	if (geteuid())
		return;
	CU_ASSERT_FATAL(mkdtemp(folder) != NULL);
	snprintf(name, sizeof(name), "%s/none/secret", folder);
	CU_ASSERT_FATAL(!seteuid(SOMEBODY));
	CU_ASSERT_EQUAL(read_it(name, text, &size, why), -EACCES);
	CU_ASSERT_FATAL(!seteuid(0) && !rmdir(folder));
	snprintf(name, sizeof(name), "the directory %s may not be passed", folder);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, name));
	CU_ASSERT_PTR_NULL(strstr(why, "chown"));
}

static void test_no_file(void)
{
	char text[SECRET_ROOM], why[WHY], name[2 * WHY];
	size_t size;

	CU_ASSERT_EQUAL(read_it("/none/at/all", text, &size, why), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "/none/at/all: it cannot be read: No such file"));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "name another file"));
	CU_ASSERT_EQUAL(read_it("/tmp", text, &size, why), -EINVAL);
	CU_ASSERT_EQUAL(read_it("/dev/null", text, &size, why), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "/dev/null: it is no regular file"));
	/* A long name leaves room for the reason. */
	memset(name, '/', sizeof(name));
	strcpy(name + sizeof(name) - 4, "abc");
	CU_ASSERT_EQUAL(read_it(name, text, &size, why), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "name another file"));
}

static const CU_TestInfo tests[] = {
	{"rights and length", test_rights_and_length},
	{"the owner", test_owner},
	{"the folder", test_folder},
	{"no file", test_no_file},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	int fd = mkstemp(path), result;

	if (fd < 0)
		return 1;
	close(fd);
	result = unit_main("secret_file", tests);
	unlink(path);
	return result;
}
