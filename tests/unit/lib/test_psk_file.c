/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The file of the keys of managers, and the addresses in it: lib/psk_file.h, lib/address.h. */
#include "lib/psk_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

static void test_addresses(void)
{
	static const struct {
		const char *text;
		bool good;
	} cases[] = {
		{"10.0.0.1", true},
		{"10.0.0.1:1", true},
		{"[::1]:99", true},
		{"[::1]", true},
		{"::1", true},
		{"fe80::1", true},
		{"", false},
		{"host.example", false},
		{"10.0.0.1:", false},
		{"10.0.0.1:99999999", false},
		{"[::1", false},
		{"[::1]9", false},
		{"10.0.0.1:http", false},
		{"10.0.0.1 ", false},
	};
	char why[STREAM_WHY_SIZE];
	struct host host;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (address_is_numeric(cases[i].text, why) != cases[i].good ||
		    host_parse(cases[i].text, &host) != cases[i].good)
			CU_FAIL(cases[i].text);
}

static void test_hosts(void)
{
	static const struct {
		const char *a, *b;
		bool same, site;
	} pairs[] = {
		{"10.0.0.1", "10.0.0.1", true, true},
		{"10.0.0.1", "10.0.0.1:15725", true, true},
		{"10.0.0.1", "::ffff:10.0.0.1", true, true},
		{"10.0.0.1", "10.0.0.2", false, false},
		{"fd00::1", "[fd00::1]:9", true, true},
		{"fd00::1", "fd00::2", false, true},
		{"fd00::1", "fd00:0:0:0:ffff::1", false, true},
		{"fd00::1", "fd00:0:0:1::1", false, false},
		/* IPv4 addresses have a common prefix in their mapped form, and are no site. */
		{"::ffff:10.0.0.1", "::ffff:10.0.0.2", false, false},
		{"::1", "::ffff:10.0.0.1", false, false},
		{"::ffff:10.0.0.1", "::1", false, false},
	};
	static const struct {
		const char *text;
		bool loopback, any;
	} hosts[] = {
		{"127.0.0.1", true, false},  {"127.255.0.9", true, false},
		{"128.0.0.1", false, false}, {"::1", true, false},
		{"::2", false, false},	     {"0.0.0.0", false, true},
		{"::", false, true},	     {"::ffff:0.0.0.0", false, true},
	};
	struct host a, b;

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		CU_ASSERT_FATAL(host_parse(pairs[i].a, &a) && host_parse(pairs[i].b, &b));
		if (host_same(&a, &b) != pairs[i].same || host_same_site(&a, &b) != pairs[i].site)
			CU_FAIL(pairs[i].b);
	}
	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++) {
		CU_ASSERT_FATAL(host_parse(hosts[i].text, &a));
		if (host_is_loopback(&a) != hosts[i].loopback || host_is_any(&a) != hosts[i].any)
			CU_FAIL(hosts[i].text);
	}
}

/* Files */

static int read_text(const char *text, size_t size, mode_t mode, struct psk_list *keys,
		     char why[STREAM_WHY_SIZE])
{
	char path[] = "/tmp/weft-psk.XXXXXX";
	int fd = mkstemp(path), error;

	if (fd < 0 || write(fd, text, size) != (ssize_t)size || fchmod(fd, mode))
		abort();
	close(fd);
	error = psk_file_read(path, keys, why);
	unlink(path);
	return error;
}

#define HEX32 "00112233445566778899AABBccddeeff"
#define OTHER "ff112233445566778899aabbccddeeff"
#define THIRD "fe112233445566778899aabbccddeeff"

static void test_files(void)
{
	static const struct {
		const char *text;
		mode_t mode;
		const char *why; /* NULL: it is good */
	} cases[] = {
		{HEX32 "\n", 0600, NULL},
		{HEX32, 0400, NULL},
		{HEX32 HEX32 HEX32 HEX32 "\n", 0600, NULL},
		{"b " HEX32, 0600, NULL},
		{"\tb.1_x-Y\t" HEX32 " \r\n\n", 0600, NULL},
		{"# a\nb " HEX32 " 10.0.0.2 # b\n \n#c", 0600, NULL},
		{"b " HEX32 "\n" OTHER "\nc " THIRD " [fd00::1]:1\n", 0600, NULL},
		{"b " HEX32 " 0x2c9030000e0b72\nc " OTHER " 0x2c9030000e0b73", 0600, NULL},
		{"b " HEX32 " 0x1\nc " OTHER " 0x01", 0600, "line 2: its address is that of"},
		{HEX32, 0640, "chmod 600"},
		{HEX32, 0604, "chmod 600"},
		{HEX32 HEX32 HEX32 HEX32 "00", 0600, "line 1: no key of 32 to 128"},
		{"", 0600, "line 1: no key of 32 to 128"},
		{"# nothing\n\n", 0600, "no key of 32 to 128"},
		{"00112233445566778899aabbccddee", 0600, "no key"},
		{HEX32 "0", 0600, "no key"},
		{"b " HEX32 "0", 0600, "no key"},
		{"b", 0600, "no key"},
		{"\n\nb 0011", 0600, "line 3: no key"},
		{"0011223344556677 8899aabbccddeeff", 0600, "no key"},
		{"secret secret", 0600, "no key"},
		/* A key that is taken for a name would be shown. */
		{HEX32 " " OTHER, 0600, "an identity has at most 31"},
		{"b/c " HEX32, 0600, "an identity has"},
		{"b\033 " HEX32, 0600, "an identity has"},
		{"weft " HEX32, 0600, "choose another name"},
		{"b " HEX32 " 10.0.0.2 10.0.0.3", 0600, "IDENTITY KEY [ADDRESS]"},
		{"b " HEX32 " host.example", 0600, "neither a numeric address"},
		{"b " HEX32 "\nb " OTHER, 0600, "line 2: identity \"b\" has a key already"},
		{HEX32 "\n" OTHER, 0600, "identity \"weft\" has a key already"},
		{"b " HEX32 "\nc 00112233445566778899aabbccddeeff", 0600, "that of identity \"b\""},
		{"b " HEX32 " 10.0.0.2\nc " OTHER " 10.0.0.2:1", 0600, "its address is that of"},
	};
	char why[STREAM_WHY_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct psk_list keys = {.count = 99};
		int error =
			read_text(cases[i].text, strlen(cases[i].text), cases[i].mode, &keys, why);

		CU_ASSERT_EQUAL(!error, !cases[i].why);
		if (error && (keys.count != 99 || strstr(why, HEX32) || strstr(why, OTHER)))
			CU_FAIL("a refusal shows a key, or changes the list");
		if (error && cases[i].why && !strstr(why, cases[i].why))
			CU_FAIL(why);
	}
}

static void test_keys(void)
{
	struct psk_list keys = {.count = 0};
	char why[STREAM_WHY_SIZE];
	struct host host;
	static const char text[] =
		"b " HEX32 " 10.0.0.2\n" OTHER "\nc " THIRD THIRD " [fd00::3]:15725\n";

	CU_ASSERT_EQUAL_FATAL(read_text(text, strlen(text), 0600, &keys, why), 0);
	CU_ASSERT_EQUAL(keys.count, 3);
	CU_ASSERT_STRING_EQUAL(keys.list[0].identity, "b");
	CU_ASSERT_STRING_EQUAL(keys.list[1].identity, "weft");
	CU_ASSERT_STRING_EQUAL(keys.list[2].identity, "c");
	CU_ASSERT(!keys.list[0].shared && keys.list[1].shared && !keys.list[2].shared);
	CU_ASSERT(keys.list[0].size == 16 && keys.list[1].size == 16 && keys.list[2].size == 32);
	CU_ASSERT(keys.list[0].key[1] == 0x11 && keys.list[0].key[10] == 0xAA);
	CU_ASSERT(keys.list[2].key[16] == 0xFE && keys.list[2].key[31] == 0xFF);
	CU_ASSERT_PTR_EQUAL(psk_named(&keys, "c"), &keys.list[2]);
	CU_ASSERT_PTR_NULL(psk_named(&keys, "d"));
	CU_ASSERT_PTR_NULL(psk_named(&keys, ""));
	host_parse("10.0.0.2", &host);
	CU_ASSERT_PTR_EQUAL(psk_for(&keys, &host), &keys.list[0]);
	host_parse("fd00::3", &host);
	CU_ASSERT_PTR_EQUAL(psk_for(&keys, &host), &keys.list[2]);
	host_parse("10.0.0.9", &host);
	CU_ASSERT_PTR_EQUAL(psk_for(&keys, &host), &keys.list[1]);
	keys.count = 1;
	CU_ASSERT_PTR_NULL(psk_for(&keys, &host));
}

/* As many as there is room for, and one more. */
static void test_many(void)
{
	for (unsigned count = PSK_KEYS_MAX; count <= PSK_KEYS_MAX + 1; count++) {
		struct psk_list keys = {.count = 0};
		char text[2048] = "", why[STREAM_WHY_SIZE];
		size_t size = 0;

		for (unsigned i = 0; i < count; i++)
			size += (size_t)snprintf(text + size, sizeof(text) - size, "m%u %032x\n", i,
						 i + 1);
		CU_ASSERT_EQUAL(read_text(text, size, 0600, &keys, why),
				count > PSK_KEYS_MAX ? -EINVAL : 0);
		CU_ASSERT_EQUAL(keys.count, count > PSK_KEYS_MAX ? 0 : count);
	}
}

static void test_no_text(void)
{
	struct psk_list keys = {.count = 99};
	char why[STREAM_WHY_SIZE];
	static const char nul[] = HEX32 "\n\0b " OTHER "\n";

	CU_ASSERT_EQUAL(read_text(nul, sizeof(nul), 0600, &keys, why), -EINVAL);
	CU_ASSERT_EQUAL(psk_file_read("/tmp/weft-no-such-file", &keys, why), -ENOENT);
	CU_ASSERT_EQUAL(psk_file_read("/tmp", &keys, why), -EINVAL);
	CU_ASSERT_EQUAL(keys.count, 99);
}

/* A digest changes with an identity, a key and their order, and with nothing else. */
static void test_digest(void)
{
	const struct psk a = {.identity = "a", .key = {1, 2}, .size = 2};
	const struct psk b = {.identity = "b", .key = {1, 2}, .size = 2};
	const struct psk other = {.identity = "a", .key = {1, 3}, .size = 2};
	const struct psk_list none = {.count = 0}, one = {1, {a}}, same = {1, {a}},
			      two = {2, {a, b}}, turned = {2, {b, a}}, changed = {1, {other}};

	CU_ASSERT_EQUAL(psk_digest(&one), psk_digest(&same));
	CU_ASSERT_NOT_EQUAL(psk_digest(&one), psk_digest(&none));
	CU_ASSERT_NOT_EQUAL(psk_digest(&one), psk_digest(&two));
	CU_ASSERT_NOT_EQUAL(psk_digest(&two), psk_digest(&turned));
	CU_ASSERT_NOT_EQUAL(psk_digest(&one), psk_digest(&changed));
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"digest", test_digest},   {"addresses", test_addresses},
		{"hosts", test_hosts},	   {"files", test_files},
		{"keys", test_keys},	   {"many keys", test_many},
		{"no text", test_no_text}, CU_TEST_INFO_NULL,
	};

	return unit_main("psk_file", tests);
}
