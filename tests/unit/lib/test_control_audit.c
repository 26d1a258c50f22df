/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Audit lines: their user and process, the arguments that are shown and those that are not. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "include/message_id.h"
#include "lib/control_audit.h"
#include "lib/log.h"
#include "lib/mem.h"
#include "tests/unit/fixtures/unit.h"

static char line[1024];

static void keep(void *ctx, int level, const struct log_subject *subject, const char *text)
{
	(void)ctx;
	if (level == LOG_NOTICE && !strcmp(subject->message_id, MESSAGE_COMMAND))
		snprintf(line, sizeof(line), "%s", text);
}

static const char *audit(const struct ucred *peer, const char *request, const char *refusal)
{
	json_t *args = json_loads(request, 0, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(args);
	line[0] = '\0';
	log_watch(keep, NULL);
	control_audit_end(control_audit_begin("a command", peer, args), refusal);
	log_watch(NULL, NULL);
	json_decref(args);
	return line;
}

static void test_clients(void)
{
	struct ucred peer = {.pid = getpid(), .uid = 0};
	char wanted[200];

	snprintf(wanted, sizeof(wanted),
		 "user root (uid 0), process %d (test_control_au): a command: done", (int)getpid());
	CU_ASSERT_STRING_EQUAL(audit(&peer, "{}", NULL), wanted);
	/* No such user in /etc/passwd, and a process that has ended. */
	peer = (struct ucred){.pid = 0x7ffffff0, .uid = 4111222333u};
	CU_ASSERT_STRING_EQUAL(
		audit(&peer, "{}", "no such port"),
		"user (uid 4111222333), process 2147483632: a command: refused: no such "
		"port");
}

static void test_arguments(void)
{
	static const struct {
		const char *request, *shown;
	} rows[] = {
		{"{\"p_key\":\"0x5\",\"name\":\"red\",\"ipoib\":true,\"full\":false}",
		 " p_key=0x5 name=red ipoib"},
		{"{\"node\":\"leaf-01\",\"port\":3,\"force\":true}", " node=leaf-01 port=3 force"},
		{"{\"members\":[\"a\",\"b\"]}", " members=a,b"},
		{"{\"members\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\"]}", " members=a,b,c,d,... (6)"},
		{"{\"node\":"
		 "\"0123456789012345678901234567890123456789012345678901234567890123456789\"}",
		 " node=0123456789012345678901234567890123456789012345678901234567890123"},
		/* Nothing that may be secret, and nothing of another type. */
		{"{\"text\":\"0x1 0x2\",\"m_key\":\"5\",\"q_key\":\"6\",\"document\":{\"a\":1}}",
		 ""},
		{"{\"node\":{\"a\":\"b\"},\"port\":null}", " node= port="},
	};
	const struct ucred peer = {.pid = 0x7ffffff0, .uid = 4111222333u};
	char wanted[300];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(wanted, sizeof(wanted),
			 "user (uid 4111222333), process 2147483632: a command%s: done",
			 rows[i].shown);
		CU_ASSERT_STRING_EQUAL(audit(&peer, rows[i].request, NULL), wanted);
	}
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"clients", test_clients},
		{"arguments", test_arguments},
		CU_TEST_INFO_NULL,
	};

	control_audit_end(NULL, NULL);
	return unit_main("control_audit", tests);
}
