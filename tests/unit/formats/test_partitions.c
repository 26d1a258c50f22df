/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Partition files: OpenSM's grammar, each of its rules broken once, and the members of partitions.
 */
#include "formats/partitions.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "tests/unit/fixtures/unit.h"

#define GUID(n) (UINT64_C(0x0002c90300000000) + (n))

static const struct partition *find(const struct partitions *partitions, pkey_t p_key)
{
	for (uint32_t i = 0; i < partitions->count; i++)
		if (partitions->partitions[i].p_key == (p_key & 0x7fff))
			return &partitions->partitions[i];
	return NULL;
}

static struct partitions *parse(const char *text, bool allow_both)
{
	struct partitions *partitions = NULL;
	char *error = NULL;

	CU_ASSERT_EQUAL(partitions_parse("p", text, strlen(text), allow_both, &partitions, &error),
			0);
	if (error)
		fprintf(stderr, "%s\n", error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(partitions);
	return partitions;
}

static enum membership of(const struct partitions *partitions, pkey_t p_key, guid_t guid)
{
	const struct partition *partition = find(partitions, p_key);

	CU_ASSERT_PTR_NOT_NULL_FATAL(partition);
	return partition_membership(partition, guid, NODE_CA, false, false);
}

static void test_members(void)
{
	struct partitions *partitions = parse(
		"Default=0x7fff : ALL, SELF=full ;\n"
		"NewPartition , ipoib : 0x123456=full, 0x3456789034=limi,  0x2134af2306\n;\n"
		"Share = 0x8080 , defmember=full : 0x10, 0x11;# a comment; with: all = in it\n"
		"Share = 128 : 0x12, 19, 0x14=full; late=1 : NONE ; Range=2 :\n"
		"0x100-0x1ff=full, # the first\n 0x1f0 - 0x1f1=limited,\n;",
		false);

	CU_ASSERT_EQUAL(partitions->count, 5);
	CU_ASSERT_PTR_NULL(partitions->notes);
	CU_ASSERT_EQUAL(of(partitions, 0x7fff, GUID(1)), MEMBERSHIP_LIMITED);
	CU_ASSERT_EQUAL(
		partition_membership(find(partitions, 0xffff), GUID(1), NODE_CA, true, false),
		MEMBERSHIP_FULL);
	/* 1 and 2 are given to others further down. */
	CU_ASSERT_EQUAL(of(partitions, 3, 0x123456), MEMBERSHIP_FULL);
	CU_ASSERT_EQUAL(of(partitions, 3, 0x3456789034), MEMBERSHIP_LIMITED);
	CU_ASSERT_EQUAL(of(partitions, 3, 0x2134af2306), MEMBERSHIP_LIMITED);
	CU_ASSERT_EQUAL(of(partitions, 3, 0x10), MEMBERSHIP_NONE);
	CU_ASSERT_TRUE(find(partitions, 3)->ipoib);
	CU_ASSERT_STRING_EQUAL(find(partitions, 3)->name, "NewPartition");
	CU_ASSERT_EQUAL(of(partitions, 0x80, 0x10), MEMBERSHIP_FULL);
	CU_ASSERT_EQUAL(of(partitions, 0x80, 0x11), MEMBERSHIP_FULL);
	CU_ASSERT_EQUAL(of(partitions, 0x80, 0x12), MEMBERSHIP_LIMITED);
	CU_ASSERT_EQUAL(of(partitions, 0x80, 19), MEMBERSHIP_LIMITED);
	CU_ASSERT_EQUAL(of(partitions, 0x80, 0x14), MEMBERSHIP_FULL);
	CU_ASSERT_EQUAL(find(partitions, 1)->num_rules, 0);
	CU_ASSERT_EQUAL(of(partitions, 2, 0x100), MEMBERSHIP_FULL);
	CU_ASSERT_EQUAL(of(partitions, 2, 0x1ff), MEMBERSHIP_FULL);
	CU_ASSERT_EQUAL(of(partitions, 2, 0x1f1), MEMBERSHIP_LIMITED);
	CU_ASSERT_EQUAL(of(partitions, 2, 0x200), MEMBERSHIP_NONE);
	partitions_free(partitions);
}

static void test_member_words(void)
{
	static const struct {
		const char *word;
		bool adapter, sw, router, self;
	} rows[] = {
		{"ALL", true, true, true, true},
		{"ALL_CAS", true, false, false, true},
		{"ALL_SWITCHES", false, true, false, false},
		{"ALL_ROUTERS", false, false, true, false},
		{"SELF", false, false, false, true},
		{"NONE", false, false, false, false},
		{"ALL_S", false, true, false, false}, /* shortened */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[64];
		struct partitions *partitions;
		const struct partition *at;

		snprintf(text, sizeof(text), "x=5:%s=full;", rows[i].word);
		partitions = parse(text, false);
		at = find(partitions, 5);
		CU_ASSERT_EQUAL(partition_membership(at, 1, NODE_CA, false, false) != 0,
				rows[i].adapter);
		CU_ASSERT_EQUAL(partition_membership(at, 1, NODE_SWITCH, false, false) != 0,
				rows[i].sw);
		CU_ASSERT_EQUAL(partition_membership(at, 1, NODE_ROUTER, false, false) != 0,
				rows[i].router);
		CU_ASSERT_EQUAL(partition_membership(at, 1, NODE_CA, true, false) != 0,
				rows[i].self);
		partitions_free(partitions);
	}
}

/* The later rule holds; where a port may be both, they add up. */
static void test_both(void)
{
	struct partitions *partitions = parse("x=5:ALL=full, 0x1=limited, 0x2=both;", true);
	const struct partition *at = find(partitions, 5);

	CU_ASSERT_EQUAL(partition_membership(at, 1, NODE_CA, false, false), MEMBERSHIP_LIMITED);
	CU_ASSERT_EQUAL(partition_membership(at, 1, NODE_CA, false, true), MEMBERSHIP_BOTH);
	CU_ASSERT_EQUAL(partition_membership(at, 2, NODE_CA, false, true), MEMBERSHIP_BOTH);
	CU_ASSERT_EQUAL(partition_membership(at, 3, NODE_CA, false, true), MEMBERSHIP_FULL);
	partitions_free(partitions);
}

static void expect_group(const struct partition *partition, uint32_t index, const char *mgid,
			 unsigned mtu, unsigned rate, uint32_t q_key)
{
	char text[INET6_ADDRSTRLEN];

	CU_ASSERT_FATAL(index < partition->num_groups);
	inet_ntop(AF_INET6, partition->groups[index].mgid, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, mgid);
	CU_ASSERT_EQUAL(partition->groups[index].mtu, mtu);
	CU_ASSERT_EQUAL(partition->groups[index].rate, rate);
	CU_ASSERT_EQUAL(partition->groups[index].q_key, q_key);
}

/* A partition has one broadcast group for each scope in its flags, of all valid scopes. */
static void test_scopes(void)
{
	char text[256] = "a=0x8001, ipoib", *at = text + strlen(text);
	struct partitions *partitions;

	for (unsigned scope = 1; scope <= 15; scope++)
		at += sprintf(at, ", scope=%u", scope);
	strcpy(at, " : 0x1;\n");
	partitions = parse(text, false);
	CU_ASSERT_EQUAL_FATAL(find(partitions, 1)->num_groups, 15);
	for (unsigned scope = 1; scope <= 15; scope++) {
		sprintf(text, "ff1%x:401b:8001::ffff:ffff", scope);
		expect_group(find(partitions, 1), scope - 1, text, 4, 3, 0xb1b);
	}
	partitions_free(partitions);
}

static void test_groups(void)
{
	struct partitions *partitions =
		parse("Default=0x7fff, ipoib, indx0:ALL=full;\n"
		      "a=0x8001, ipoib, mtu=5, rate=7, scope=2, scope=5, Q_Key=0xb1c, sl=1 : 0x1\n"
		      "  mgid=ff12:401b::0707,scope=3,TClass=2,FlowLabel=0x7\n"
		      "  mgid=ff12:601b:8001::1:ff00:1 , Q_Key = 9 # comment\n"
		      "  mgid=ff15::99,rate=2,mtu=1\n 0x2=full;\n",
		      false);
	const struct partition *at = find(partitions, 1);

	CU_ASSERT_TRUE(partitions->partitions[0].index0);
	CU_ASSERT_EQUAL(partitions->partitions[0].num_groups, 1);
	expect_group(&partitions->partitions[0], 0, "ff12:401b:ffff::ffff:ffff", 4, 3, 0xb1b);
	CU_ASSERT_EQUAL(at->num_rules, 2);
	CU_ASSERT_EQUAL(at->num_groups, 2 + 3 + 2 + 2);
	expect_group(at, 0, "ff12:401b:8001::ffff:ffff", 5, 7, 0xb1c);
	expect_group(at, 1, "ff15:401b:8001::ffff:ffff", 5, 7, 0xb1c);
	expect_group(at, 2, "ff12:401b:8001::707", 5, 7, 0xb1c);
	expect_group(at, 3, "ff13:401b:8001::707", 5, 7, 0xb1c);
	CU_ASSERT_EQUAL(at->groups[3].tclass, 2);
	CU_ASSERT_EQUAL(at->groups[3].flow_label, 7);
	expect_group(at, 5, "ff12:601b:8001::1:ff00:1", 5, 7, 9);
	expect_group(at, 7, "ff12::99", 1, 2, 0xb1c);
	CU_ASSERT_STRING_EQUAL(partitions->notes,
			       "p:2: sl is taken as 0, the only SL there is without QoS");
	partitions_free(partitions);
}

static void test_refused(void)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{"a=0:ALL;",
		 "p:1: a P_Key is 0x0001 to 0x7fff (the membership bit does not count), not \"0\""},
		{"a=0x8000:ALL;", "p:1: a P_Key is 0x0001 to 0x7fff (the membership bit does not "
				  "count), not \"0x8000\""},
		{"a=0x10000:ALL;", "p:1: a P_Key is 0x0001 to 0x7fff (the membership bit does not "
				   "count), not \"0x10000\""},
		{"a=x:ALL;",
		 "p:1: a P_Key is 0x0001 to 0x7fff (the membership bit does not count), not \"x\""},
		{"a=1;",
		 "p:1: a definition (name=P_Key, flags) ends with a colon before its members"},
		{"a=1 ALL", "p:1: a P_Key is 0x0001 to 0x7fff (the membership bit does not count), "
			    "not \"1 ALL\""},
		{"\n\na=1:ALL\n", "p:4: the definition of line 3 has no semicolon at its end"},
		{"a=1:ALL=fool;", "p:1: a membership is full, limited or both, not \"fool\""},
		{"a=1:ALL=;", "p:1: a membership is full, limited or both, not \"\""},
		{"a=1:\n0x1,\nhost-1=full;", "p:3: \"host-1\" is no port: a GUID, a range "
					     "GUID-GUID, ALL, ALL_CAS, ALL_SWITCHES, "
					     "ALL_ROUTERS, SELF or NONE"},
		{"a=1:0x0;", "p:1: \"0x0\" is no port: a GUID, a range GUID-GUID, ALL, ALL_CAS, "
			     "ALL_SWITCHES, ALL_ROUTERS, SELF or NONE"},
		{"a=1:0x5-0x4;",
		 "p:1: \"0x5-0x4\" is no port: a GUID, a range GUID-GUID, ALL, ALL_CAS, "
		 "ALL_SWITCHES, ALL_ROUTERS, SELF or NONE"},
		{"a=1:0x1=both;",
		 "p:1: \"both\" needs allow_both_pkeys = true in the configuration"},
		{"a=1,defmember=both:0x1;",
		 "p:1: \"both\" needs allow_both_pkeys = true in the configuration"},
		{"a=1,ipo1b:ALL;",
		 "p:1: unknown flag \"ipo1b\": a partition has ipoib, indx0, defmember, "
		 "mtu, rate, sl, scope, Q_Key, TClass, FlowLabel"},
		{"a=1,mtu=6:ALL;", "p:1: mtu needs a number from 1 to 5, not \"6\""},
		{"a=1,rate=1:ALL;", "p:1: rate needs a number from 2 to 24, not \"1\""},
		{"a=1,scope=16:ALL;", "p:1: scope needs a number from 1 to 15, not \"16\""},
		{"a=1,sl=16:ALL;", "p:1: sl needs a number from 0 to 15, not \"16\""},
		{"a=1,defmember=half:ALL;",
		 "p:1: a membership is full, limited or both, not \"half\""},
		{"a=1,mtu:ALL;", "p:1: mtu needs a number from 1 to 5, not \"\""},
		{"a=1,rate=25:ALL;", "p:1: rate needs a number from 2 to 24, not \"25\""},
		{"a=1,scope=0:ALL;", "p:1: scope needs a number from 1 to 15, not \"0\""},
		{"a=1:\nmgid=ff12::1,mtu=0;", "p:2: mtu needs a number from 1 to 5, not \"0\""},
		{"a=1:\nmgid=ff12::1,Q_Key=;",
		 "p:2: Q_Key needs a number from 0 to 4294967295, not \"\""},
		{"a=1:\nmgid=;", "p:2: \"\" is no multicast GID (ff12:...)"},
		{"a=1:\nmgid=ff12::1::2;", "p:2: \"ff12::1::2\" is no multicast GID (ff12:...)"},
		{"a=1,ipoib:ALL;\na=1:\nmgid=ff12:401b:8001::ffff:ffff,Q_Key=7;",
		 "p:3: the group ff12:401b:8001::ffff:ffff was defined otherwise in line 1"},
		{"a=1:0x1-;", "p:1: \"0x1-\" is no port: a GUID, a range GUID-GUID, ALL, ALL_CAS, "
			      "ALL_SWITCHES, ALL_ROUTERS, SELF or NONE"},
		{"a=1:0x10000000000000000;",
		 "p:1: \"0x10000000000000000\" is no port: a GUID, a range GUID-GUID, ALL, "
		 "ALL_CAS, ALL_SWITCHES, ALL_ROUTERS, SELF or NONE"},
		{"a=1:ALLES;",
		 "p:1: \"ALLES\" is no port: a GUID, a range GUID-GUID, ALL, ALL_CAS, "
		 "ALL_SWITCHES, ALL_ROUTERS, SELF or NONE"},
		{"a=-1:ALL;", "p:1: a P_Key is 0x0001 to 0x7fff (the membership bit does not "
			      "count), not \"-1\""},
		{"a=1,Q_Key=x:ALL;", "p:1: Q_Key needs a number from 0 to 4294967295, not \"x\""},
		{"a=1,TClass=256:ALL;", "p:1: TClass needs a number from 0 to 255, not \"256\""},
		{"a=1,FlowLabel=0x100000:ALL;",
		 "p:1: FlowLabel needs a number from 0 to 1048575, not \"0x100000\""},
		{"a=1:\nmgid=fe80::1;", "p:2: \"fe80::1\" is no multicast GID (ff12:...)"},
		{"a=1:\nmgid=ff12::1,foo=1;",
		 "p:2: unknown flag \"foo\": a group has mtu, rate, sl, scope, "
		 "Q_Key, TClass, FlowLabel"},
		{"a=1:mgid=ff12:401b:8002::1;",
		 "p:1: an IP group has the partition's P_Key (0x8001) or 0 "
		 "behind its signature, not 0x8002"},
		{"a=1:mgid=ff12:401b::1,mtu=5;",
		 "p:1: an IP group has the mtu and rate of its partition's "
		 "broadcast group (4 and 3)"},
		{"a=1:mgid=ff12::1\nmgid=ff12::1,mtu=5;",
		 "p:2: the group ff12::1 was defined otherwise in line 1"},
		{"a=1:mgid=ff12::1;b=2:mgid=ff12::1;",
		 "p:1: the group ff12::1 was defined otherwise in line 1"},
		{"0123456789012345678901234567890123456789012345678901234567890123=1:ALL;",
		 "p:1: a name has at most 63 characters"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct partitions *partitions = NULL;
		char *error = NULL;

		CU_ASSERT_EQUAL(partitions_parse("p", rows[i].text, strlen(rows[i].text), false,
						 &partitions, &error),
				-EINVAL);
		CU_ASSERT_PTR_NULL(partitions);
		CU_ASSERT_PTR_NOT_NULL_FATAL(error);
		if (strcmp(error, rows[i].error) != 0)
			fprintf(stderr, "%s\n", error);
		CU_ASSERT_STRING_EQUAL(error, rows[i].error);
		free(error);
	}
}

static char *refusal(const char *text, size_t length)
{
	struct partitions *partitions = NULL;
	char *error = NULL;

	CU_ASSERT_EQUAL(partitions_parse("p", text, length, false, &partitions, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(error);
	return error;
}

static void test_no_text(void)
{
	static const char text[] = "a=1:ALL;\0b=2:ALL;";
	char *error = refusal(text, sizeof(text) - 1);

	CU_ASSERT_STRING_EQUAL(error, "p:1: this is no text: it has a byte of value 0");
	free(error);
}

/* Partitions without a number get those that the file does not name anywhere, from the lowest on,
 * as long as there are any. */
static void test_no_key_left(void)
{
	enum { UNNAMED = 0x7FFF - 2, LINE = sizeof("x:;\n") - 1 }; /* without 0x7fff and 5 */
	size_t length = 0;
	char *text = calloc(1, UNNAMED * LINE + sizeof("y=5:;\nz:;")), *error;
	struct partitions *partitions;

	for (unsigned i = 0; i < UNNAMED; i++)
		length += (size_t)sprintf(text + length, "x:;\n");
	length += (size_t)sprintf(text + length, "y=5:;\n");
	partitions = parse(text, false);
	CU_ASSERT_EQUAL(partitions->count, UNNAMED + 1);
	CU_ASSERT_EQUAL(partitions->partitions[3].p_key, 4);
	CU_ASSERT_EQUAL(partitions->partitions[4].p_key, 6);
	CU_ASSERT_EQUAL(partitions->partitions[UNNAMED - 1].p_key, 0x7FFE);
	CU_ASSERT_EQUAL(partitions->partitions[UNNAMED].p_key, 5);
	partitions_free(partitions);
	sprintf(text + length, "z:;");
	error = refusal(text, strlen(text));
	CU_ASSERT_STRING_EQUAL(error, "p:32767: no P_Key is left for this partition");
	free(error);
	free(text);
}

/* Random bytes are parsed or refused, and nothing is read beyond the end. */
static void test_garbage(void)
{
	static const char letters[] = "a=0x1,:;\n #-ALLmgidf12both";
	uint32_t random = 7;
	unsigned good = 0;

	for (unsigned run = 0; run < 20000; run++) {
		size_t length = run % 48;
		char *text = malloc(length + 1);
		struct partitions *partitions;
		char *error;

		for (size_t i = 0; i < length; i++) {
			random = random * 1664525 + 1013904223;
			text[i] = letters[(random >> 16) % (sizeof(letters) - 1)];
		}
		if (partitions_parse("p", text, length, true, &partitions, &error) == 0) {
			good++;
			partitions_free(partitions);
		} else {
			free(error);
		}
		free(text);
	}
	CU_ASSERT_TRUE(good > 0 && good < 20000);
}

/* The differences between two files. */
static void test_changes(void)
{
	static const char nine[] = "a=1:ALL;b=2:ALL;c=3:ALL;d=4:ALL;e=5:ALL;f=6:ALL;g=7:ALL;"
				   "h=8:ALL;i=9:ALL;j=10:ALL;";
	static const struct {
		const char *before, *after, *changes; /* NULL: no file; nothing */
	} rows[] = {
		{NULL, NULL, NULL},
		{"a=1:ALL;", "a=1:ALL;", NULL},
		{"a=1:ALL;b=2:ALL;", "\n# moved\nb=2:ALL;\na=1:ALL;", NULL},
		{NULL, "a=1:ALL;", "1 made (0x0001)"},
		{"a=1:ALL;b=0x7fff:ALL;", NULL, "2 gone (0x0001, 0x7fff)"},
		{"a=1:ALL;b=2:ALL;", "a=3:ALL;b=2:ALL=full;",
		 "1 made (0x0003), 1 changed (0x0002), 1 gone (0x0001)"},
		{"a=1:0x10,0x11=full;", "a=1:0x10;", "1 changed (0x0001)"},
		{"a=1:0x10-0x20;", "a=1:0x10-0x21;", "1 changed (0x0001)"},
		{"a=1:ALL_CAS;", "a=1:ALL_SWITCHES;", "1 changed (0x0001)"},
		{"a=1:0x10=full,ALL;", "a=1:ALL,0x10=full;", "1 changed (0x0001)"},
		{"a=1:ALL;", "b=1:ALL;", "1 changed (0x0001)"},
		{"a=1:ALL;", "a=1,ipoib:ALL;", "1 changed (0x0001)"},
		{"a=1:ALL;", "a=1,indx0:ALL;", "1 changed (0x0001)"},
		{"a=1,ipoib:ALL;", "a=1,ipoib,mtu=5:ALL;", "1 changed (0x0001)"},
		{"a=1,ipoib:ALL;", "a=1,ipoib,rate=7:ALL;", "1 changed (0x0001)"},
		{"a=1,ipoib:ALL;", "a=1,ipoib,Q_Key=0x77:ALL;", "1 changed (0x0001)"},
		{"a=1,ipoib:ALL;", "a=1,ipoib,scope=5:ALL;", "1 changed (0x0001)"},
		{"", nine,
		 "10 made (0x0001, 0x0002, 0x0003, 0x0004, 0x0005, 0x0006, 0x0007, 0x0008 and 2 "
		 "more)"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct partitions *before = rows[i].before ? parse(rows[i].before, false) : NULL;
		struct partitions *after = rows[i].after ? parse(rows[i].after, false) : NULL;
		char *changes = partitions_changes(before, after);

		CU_ASSERT_EQUAL(!changes, !rows[i].changes);
		if (changes && rows[i].changes)
			CU_ASSERT_STRING_EQUAL(changes, rows[i].changes);
		CU_ASSERT_EQUAL(partitions_digest(before) == partitions_digest(after), !changes);
		free(changes);
		partitions_free(before);
		partitions_free(after);
	}
}

/* All errors of the file "f", for free(); NULL: none. */
static char *errors_of(const char *text, size_t length, bool allow_both)
{
	struct partitions *partitions = NULL;
	char *errors = NULL;
	int result = partitions_parse_all("f", text, length, allow_both, &partitions, &errors);

	CU_ASSERT_EQUAL(result, errors ? -EINVAL : 0);
	CU_ASSERT_EQUAL(partitions != NULL, result == 0);
	partitions_free(partitions);
	return errors;
}

/* All errors of a file are listed, and the definitions between them are read. */
static void test_errors(void)
{
	static const struct {
		const char *text, *errors;
		bool allow_both;
	} rows[] = {
		{"a=1: ALL;\n", NULL, false},
		{"a=1: 0x1=ful;\nb=2: ALL=half;\n",
		 "f:2: a membership is full, limited or both, not \"half\"", false},
		{"a=1 0x1;\nb=2: ALL;\nc=0: ALL;\nd=4,\nmtu=9: ALL;\n",
		 "f:1: a P_Key is 0x0001 to 0x7fff (the membership bit does not count), not \"1 "
		 "0x1\"\n"
		 "f:3: a P_Key is 0x0001 to 0x7fff (the membership bit does not count), not "
		 "\"0\"\n"
		 "f:5: mtu needs a number from 1 to 5, not \"9\"",
		 false},
		{"a=1: host-1;\n# ; x\nb=2: ALL=both;\n",
		 "f:1: \"host-1\" is no port: a GUID, a range GUID-GUID, ALL, ALL_CAS, "
		 "ALL_SWITCHES, ALL_ROUTERS, SELF or NONE",
		 true},
		{"a=1: x;\nb=2: ALL\n",
		 "f:1: \"x\" is no port: a GUID, a range GUID-GUID, ALL, ALL_CAS, ALL_SWITCHES, "
		 "ALL_ROUTERS, SELF or NONE\n"
		 "f:3: the definition of line 2 has no semicolon at its end",
		 false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *errors = errors_of(rows[i].text, strlen(rows[i].text), rows[i].allow_both);

		CU_ASSERT_EQUAL(!errors, !rows[i].errors);
		if (errors && rows[i].errors)
			CU_ASSERT_STRING_EQUAL(errors, rows[i].errors);
		free(errors);
	}
}

/* A list of errors is bounded, and a file that is no text has one. */
static void test_many_errors(void)
{
	char text[30 * sizeof("a=0:;\n")], *errors;
	size_t used = 0, lines = 1;

	for (int i = 0; i < 30; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "a=0:;\n");
	errors = errors_of(text, used, false);
	for (const char *at = errors; (at = strchr(at, '\n')); at++)
		lines++;
	CU_ASSERT_EQUAL(lines, PARTITION_ERRORS_MAX + 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "\nf: 10 more errors"));
	free(errors);
	errors = errors_of("a=1\0: ;", 8, false);
	CU_ASSERT_STRING_EQUAL(errors, "f:1: this is no text: it has a byte of value 0");
	free(errors);
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"members", test_members}, {"words", test_member_words},
		{"both", test_both},	   {"groups", test_groups},
		{"scopes", test_scopes},   {"refused", test_refused},
		{"garbage", test_garbage}, {"changes", test_changes},
		{"no text", test_no_text}, {"no P_Key left", test_no_key_left},
		{"errors", test_errors},   {"many errors", test_many_errors},
		CU_TEST_INFO_NULL,
	};

	return unit_main("partitions", tests);
}
