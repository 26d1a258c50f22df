/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The report of a takeover preview, from records that a test makes: weftd/preview_report.h. */
#include "weftd/preview_report.h"

#include <string.h>

#include "formats/preview_text.h"
#include "lib/be.h"
#include "tests/unit/fixtures/preview_bed.h"
#include "tests/unit/fixtures/unit.h"

static const struct route_path local = {.hops = 0}, sw = {.hops = 1, .port = {0, 1}},
			       host = {.hops = 2, .port = {0, 1, 5}};

static struct preview_bed bed;
static uint8_t before[SMP_DATA_SIZE], after[SMP_DATA_SIZE];

static void begin(void)
{
	preview_bed_init(&bed);
	preview_bed_node(&bed, &local, NODE_CA, 0x100, 1, "here");
	preview_bed_node(&bed, &sw, NODE_SWITCH, 0x200, 3, "leaf");
	preview_bed_node(&bed, &host, NODE_CA, 0x300, 1, "host");
	memset(before, 0, sizeof(before));
	memset(after, 0, sizeof(after));
}

static void end(void)
{
	preview_bed_done(&bed);
}

static void set(uint16_t attr_id, uint32_t attr_mod, const struct route_path *route)
{
	preview_bed_ask(&bed, METHOD_SET, attr_id, attr_mod, 0, route, after, before);
}

static void set_port(const struct route_path *route, unsigned port, struct port_info was,
		     struct port_info is)
{
	memset(before, 0, sizeof(before));
	memset(after, 0, sizeof(after));
	format_encode(&port_info_format, &was, before);
	format_encode(&port_info_format, &is, after);
	set(ATTR_PORT_INFO, port, route);
}

/* A number of the report by its path: "lids.changed". */
static long long number(const json_t *report, const char *path)
{
	char name[64];

	for (const char *dot; (dot = strchr(path, '.')); path = dot + 1) {
		snprintf(name, sizeof(name), "%.*s", (int)(dot - path), path);
		report = json_object_get(report, name);
	}
	return json_integer_value(json_object_get(report, path));
}

static void check(const struct preview *preview, const char *path, long long wanted)
{
	json_t *report = preview_report(preview, false);

	CU_ASSERT_EQUAL(number(report, path), wanted);
	if (number(report, path) != wanted)
		printf("%s: %lld\n", path, number(report, path));
	CU_ASSERT_PTR_NULL(json_object_get(report, "changes"));
	json_decref(report);
}

/* The text of the n-th line of the list: "leaf 5 PortInfo LID 1 2". */
static void check_change(size_t n, const char *wanted)
{
	json_t *report = preview_report(bed.preview, true), *change;
	char text[256];

	change = json_array_get(json_object_get(report, "changes"), n);
	CU_ASSERT_PTR_NOT_NULL_FATAL(change);
	snprintf(text, sizeof(text), "%s %lld %s %s %s %s",
		 json_string_value(json_object_get(change, "node")), number(change, "port"),
		 json_string_value(json_object_get(change, "attribute")),
		 json_string_value(json_object_get(change, "member")),
		 json_string_value(json_object_get(change, "before")),
		 json_string_value(json_object_get(change, "after")));
	CU_ASSERT_STRING_EQUAL(text, wanted);
	json_decref(report);
}

static struct port_info lid(lid_t value)
{
	return (struct port_info){.lid = value};
}

static void test_lids(void)
{
	begin();
	set_port(&sw, 0, lid(4), lid(5));
	set_port(&host, 1, lid(0), lid(6));
	check(bed.preview, "lids.changed", 1);
	check(bed.preview, "lids.assigned", 1);
	check(bed.preview, "lids.kept", 1);
	check(bed.preview, "switches", 1);
	check(bed.preview, "adapters", 2);
	check_change(0, "leaf 0 PortInfo LID 4 5");
	check_change(1, "host 1 PortInfo LID 0 6");
	end();
}

static void test_tables(void)
{
	begin();
	memset(before, LFT_NO_PORT, sizeof(before));
	memcpy(after, before, sizeof(after));
	before[4] = 9;
	after[3] = 8;
	set(ATTR_LINEAR_FORWARDING_TABLE, 1, &sw);
	memset(before, 0, sizeof(before));
	memset(after, 0, sizeof(after));
	after[2] = 0x80; /* the second mask: port 15 of the second position */
	set(ATTR_MULTICAST_FORWARDING_TABLE, UINT32_C(1) << 28, &sw);
	check(bed.preview, "lft.entries", 2);
	check(bed.preview, "lft.blocks", 1);
	check(bed.preview, "lft.switches", 1);
	check(bed.preview, "multicast.entries", 1);
	check_change(0, "leaf 0 LinearForwardingTable LID 67 - 8");
	check_change(1, "leaf 0 LinearForwardingTable LID 68 9 -");
	check_change(2, "leaf 0 MulticastForwardingTable MLID 0xc001, ports 16-31 0x0000 0x8000");
	end();
}

/* A P_Key that moves to another entry is not removed. */
static void test_p_keys(void)
{
	static const pkey_t had[] = {0xFFFF, 0x8001, 0x8002}, gets[] = {0xFFFF, 0x8002, 0, 0x0003};

	begin();
	for (unsigned i = 0; i < 3; i++)
		be16_store(before + 2 * i, had[i]);
	for (unsigned i = 0; i < 4; i++)
		be16_store(after + 2 * i, gets[i]);
	set(ATTR_PKEY_TABLE, 5 << 16, &sw);
	check(bed.preview, "p_keys.ports", 1);
	check(bed.preview, "p_keys.removed", 1);
	check(bed.preview, "p_keys.added", 1);
	check_change(0, "leaf 5 P_KeyTable P_Key 1 0x8001 0x8002");
	check_change(1, "leaf 5 P_KeyTable P_Key 2 0x8002 -");
	check_change(2, "leaf 5 P_KeyTable P_Key 3 - 0x0003");
	end();
}

/* The GUIDs of a port, by their index in its whole table. */
static void test_guids(void)
{
	begin();
	be64_store(before + 8, 0xA);
	be64_store(after + 8, 0xB);
	be64_store(after + 56, 0xC);
	set(ATTR_GUID_INFO, 1, &host);
	check(bed.preview, "sets.changing", 1);
	check_change(0, "host 1 GUIDInfo GUID 9 0x000000000000000a 0x000000000000000b");
	check_change(1, "host 1 GUIDInfo GUID 15 0x0000000000000000 0x000000000000000c");
	end();
}

static void test_commands(void)
{
	const struct port_info up = {
		.lid = 3, .port_state = PORT_ACTIVE, .port_physical_state = PHYS_LINK_UP};
	struct port_info want = up;
	json_t *report;

	begin();
	want.port_state = want.port_physical_state = 0;
	set_port(&host, 1, up, want); /* changes nothing */
	check(bed.preview, "sets.unchanged", 1);
	check(bed.preview, "sets.changing", 0);
	want.client_reregister = 1;
	set_port(&host, 1, up, want);
	check(bed.preview, "sets.changing", 1);
	check(bed.preview, "reregistrations", 1);
	want.port_state = PORT_DOWN;
	set_port(&sw, 5, up, want);
	report = preview_report(bed.preview, false);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(report, "bounced")), 1);
	CU_ASSERT_EQUAL(number(json_array_get(json_object_get(report, "bounced"), 0), "port"), 5);
	json_decref(report);
	end();
}

/* Neither the document nor the text has a key. */
static void test_m_key(void)
{
	const struct port_info was = {.m_key = 0x1234567890ABCDEF};
	const struct port_info is = {.m_key = 0x1122334455667788};
	json_t *report;
	char *text, *printed = NULL;
	size_t size;
	FILE *out;

	begin();
	set_port(&host, 1, was, is);
	check(bed.preview, "m_keys", 1);
	check_change(0, "host 1 PortInfo M_Key (hidden) (hidden)");
	report = preview_report(bed.preview, true);
	text = json_dumps(report, 0);
	out = open_memstream(&printed, &size);
	preview_text_print(report, out);
	fclose(out);
	CU_ASSERT_PTR_NULL(strstr(text, "1234567890"));
	CU_ASSERT_PTR_NULL(strstr(text, "1122334455"));
	CU_ASSERT_PTR_NULL(strstr(text, "1311768467294899695")); /* the first, in decimal */
	CU_ASSERT_PTR_NULL(strstr(printed, "1234567890"));
	CU_ASSERT_PTR_NOT_NULL(strstr(printed, "M_Key: (hidden) -> (hidden)"));
	CU_ASSERT_PTR_NOT_NULL(strstr(printed, "Nothing was written"));
	free(text);
	free(printed);
	json_decref(report);
	end();
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"LIDs", test_lids},   {"tables", test_tables},	    {"P_Keys", test_p_keys},
		{"GUIDs", test_guids}, {"commands", test_commands}, {"M_Key", test_m_key},
		CU_TEST_INFO_NULL,
	};

	return unit_main("preview report", tests);
}
