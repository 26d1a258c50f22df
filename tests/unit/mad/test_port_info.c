/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The meaning of PortInfo's encoded values: every width at every speed, VLs, MTUs, and descriptions
 * as a device may send them.
 */
#include <string.h>

#include "lib/mem.h"
#include "mad/attr.h"
#include "tests/unit/fixtures/unit.h"

enum speed { SDR, DDR, QDR, FDR, EDR, HDR, NDR, XDR, SPEEDS };

static const char *const speed_names[SPEEDS] = {"SDR", "DDR", "QDR", "FDR",
						"EDR", "HDR", "NDR", "XDR"};

/* Gb/s times 10 of one lane. */
static const unsigned lane_deci_gbps[SPEEDS] = {25, 50, 100, 140, 250, 500, 1000, 2000};

/* LinkWidthActive, lanes, and the encoding of the rate at each speed. */
static const struct {
	uint8_t width;
	unsigned lanes;
	uint8_t rate[SPEEDS];
} width_cases[] = {
	{1, 1, {2, 5, 3, 11, 15, 20, 16, 17}},	 {16, 2, {5, 3, 6, 19, 20, 16, 17, 21}},
	{2, 4, {3, 6, 7, 12, 16, 17, 21, 23}},	 {4, 8, {6, 7, 9, 13, 17, 21, 23, 25}},
	{8, 12, {4, 8, 10, 14, 18, 22, 24, 25}},
};

static struct port_info port_at(uint8_t width, enum speed speed)
{
	struct port_info info = {.link_width_active = width, .link_speed_active = 4};

	if (speed <= QDR)
		info.link_speed_active = 1 << speed;
	else if (speed <= NDR)
		info.link_speed_ext_active = 1 << (speed - FDR);
	else
		info.link_speed_ext_active2 = 1;
	return info;
}

/* A link at 4x EDR whose ends can more, or say nothing of it. */
static void test_below(void)
{
	static const struct {
		uint8_t widths[2], speeds_ext[2], active_width, active_ext;
		const char *could; /* NULL: it is as fast as it can be */
	} rows[] = {
		{{3, 3}, {3, 3}, 2, 2, NULL},	   /* 4x EDR is the fastest of both */
		{{3, 3}, {7, 7}, 2, 2, "4x HDR"},  /* both can faster */
		{{3, 3}, {7, 3}, 2, 2, NULL},	   /* one cannot */
		{{3, 3}, {3, 3}, 1, 2, "4x EDR"},  /* too narrow */
		{{3, 3}, {3, 3}, 16, 2, "4x EDR"}, /* 2x, whose encoding is the larger number */
		{{0x13, 0x13}, {7, 7}, 1, 1, "4x HDR"}, /* both */
		{{0, 3}, {3, 3}, 1, 2, NULL},		/* unknown at one end */
		{{3, 3}, {3, 3}, 0, 2, NULL},		/* no link */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct port_info ends[2];
		char could[24] = "";

		for (int e = 0; e < 2; e++)
			ends[e] = (struct port_info){.link_width_supported = rows[i].widths[e],
						     .link_width_active = rows[i].active_width,
						     .link_speed_supported = 7,
						     .link_speed_active = 4,
						     .link_speed_ext_supported =
							     rows[i].speeds_ext[e],
						     .link_speed_ext_active = rows[i].active_ext};
		CU_ASSERT_EQUAL(port_below(&ends[0], &ends[1], could), rows[i].could != NULL);
		CU_ASSERT_STRING_EQUAL(could, rows[i].could ? rows[i].could : "");
	}
}

static void test_rates(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(width_cases); i++) {
		for (enum speed speed = SDR; speed < SPEEDS; speed++) {
			struct port_info info = port_at(width_cases[i].width, speed);
			uint8_t rate = port_rate(&info);
			unsigned deci_gbps = width_cases[i].lanes * lane_deci_gbps[speed];
			char text[24], expected[24];

			if (deci_gbps == 24000) /* 12x XDR has no encoding of its own */
				deci_gbps = 16000;
			CU_ASSERT_EQUAL(rate, width_cases[i].rate[speed]);
			CU_ASSERT_EQUAL(rate_deci_gbps(rate), deci_gbps);
			snprintf(expected, sizeof(expected), "%ux %s", width_cases[i].lanes,
				 speed_names[speed]);
			CU_ASSERT_STRING_EQUAL(port_speed_text(&info, NULL, text), expected);
		}
	}
}

/* It shows as QDR in PortInfo, and counts as much: the kernel's sysfs.c has 10 Gb/s a lane for
 * both.
 */
static void test_fdr10(void)
{
	static const struct {
		enum speed speed;
		struct ext_port_info ext;
		const char *text;
	} rows[] = {
		{QDR, {0, 1, 1, 1}, "4x FDR10"}, {QDR, {0, 1, 1, 0}, "4x QDR"},
		{QDR, {0, 0, 0, 2}, "4x QDR"},	 {DDR, {0, 1, 1, 1}, "4x DDR"},
		{FDR, {0, 1, 1, 1}, "4x FDR"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct port_info info = port_at(2, rows[i].speed);
		char text[24];

		CU_ASSERT_STRING_EQUAL(port_speed_text(&info, &rows[i].ext, text), rows[i].text);
	}
}

/* Some of each row of OpenSM's is_mlnx_ext_port_info_supported(), and beside them. */
static void test_ext_port_info_devices(void)
{
	static const struct {
		uint32_t vendor_id;
		uint16_t device_id;
		bool has;
	} rows[] = {
		{0x2c9, 0x1002, false}, {0x2c9, 0x1003, true},	 {0x2c9, 0x101b, true},
		{0x2c9, 0x101c, false}, {0x2c9, 0xc737, false},	 {0x2c9, 0xc738, true},
		{0x2c9, 0xc73b, true},	{0x2c9, 0xc73c, false},	 {0x2c9, 0xcb20, true},
		{0x2c9, 0xcf08, true},	{0x2c9, 0xcf09, true},	 {0x2c9, 0xcf0a, false},
		{0x2c9, 0xd2f0, true},	{0x2c9, 0xa2d2, true},	 {0, 0xc839, true},
		{0x119f, 0x1b02, true}, {0x2c9, 0x1b02, false},	 {0x119f, 0x1b03, false},
		{0x119f, 0x1bd5, true}, {0x119f, 0x1bd6, false}, {0x119f, 0x1bf0, true},
		{0x119f, 0x1bc4, true}, {0x119f, 0x1bc7, false}, {0x1175, 0x7322, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct node_info info = {.vendor_id = rows[i].vendor_id,
					       .device_id = rows[i].device_id};

		CU_ASSERT_EQUAL(node_has_ext_port_info(&info), rows[i].has);
	}
}

static void test_unknown_widths_and_speeds(void)
{
	static const struct port_info cases[] = {
		{.link_width_active = 0, .link_speed_active = 1},
		{.link_width_active = 3, .link_speed_active = 1},
		{.link_width_active = 32, .link_speed_active = 1},
		{.link_width_active = 2, .link_speed_active = 0},
		{.link_width_active = 2, .link_speed_active = 3},
		{.link_width_active = 2, .link_speed_active = 8},
		{.link_width_active = 2, .link_speed_ext_active = 5},
		{.link_width_active = 2, .link_speed_ext_active2 = 2},
	};
	char text[24];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CU_ASSERT_EQUAL(port_rate(&cases[i]), 0);
		CU_ASSERT_STRING_EQUAL(port_speed_text(&cases[i], NULL, text), "unknown");
	}
	CU_ASSERT_EQUAL(rate_deci_gbps(0), 0);
	CU_ASSERT_EQUAL(rate_deci_gbps(1), 0);
	CU_ASSERT_EQUAL(rate_deci_gbps(26), 0);
	CU_ASSERT_EQUAL(rate_deci_gbps(255), 0);
}

static void test_vls_and_mtus(void)
{
	static const unsigned vls[] = {0, 1, 2, 4, 8, 15, 0, 0};
	static const unsigned mtus[] = {0, 256, 512, 1024, 2048, 4096, 0, 0};

	for (uint8_t i = 0; i < ARRAY_SIZE(vls); i++) {
		CU_ASSERT_EQUAL(vls_of(i), vls[i]);
		CU_ASSERT_EQUAL(mtu_bytes(i), mtus[i]);
	}
	CU_ASSERT_EQUAL(vls_of(255), 0);
	CU_ASSERT_EQUAL(mtu_bytes(255), 0);
}

static const struct {
	const char *sent, *shown;
} description_cases[] = {
	{"", ""},
	{"node-1 HCA-1", "node-1 HCA-1"},
	{"line\nbreak\x7F\x1B[2J", "line?break??[2J"},
	{"Z\xC3\xBCrich \xE2\x82\xAC \xF0\x9F\x98\x80",
	 "Z\xC3\xBCrich \xE2\x82\xAC \xF0\x9F\x98\x80"},
	{"c1 \xC2\x9B", "c1 ??"},	      /* a control character of two bytes */
	{"lone \x80\xBF", "lone ??"},	      /* continuations of nothing */
	{"overlong \xC0\xAF", "overlong ??"}, /* '/' in two bytes */
	{"overlong \xE0\x80\xAF", "overlong ???"},
	{"surrogate \xED\xA0\x80", "surrogate ???"},
	{"beyond \xF4\x90\x80\x80", "beyond ????"},
	{"never \xFE\xFF", "never ??"},
	{"cut \xE2\x82", "cut ??"},
	{"broken \xE2\x82z", "broken ??z"},
};

static void test_descriptions(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(description_cases); i++) {
		struct node_description description = {{0}};
		char text[NODE_DESC_SIZE + 1];

		memcpy(description.text, description_cases[i].sent,
		       strlen(description_cases[i].sent));
		CU_ASSERT_STRING_EQUAL(description_text(&description, text),
				       description_cases[i].shown);
	}
}

/* 64 bytes without an end; a character that the 64th byte cuts; bytes behind an end are not shown.
 */
static void test_descriptions_of_full_length(void)
{
	struct node_description description;
	char text[NODE_DESC_SIZE + 2] = {0};

	text[NODE_DESC_SIZE + 1] = 'x';
	memset(description.text, 'a', NODE_DESC_SIZE);
	CU_ASSERT_EQUAL(strlen(description_text(&description, text)), NODE_DESC_SIZE);
	description.text[NODE_DESC_SIZE - 1] = 0xC3;
	CU_ASSERT_EQUAL(description_text(&description, text)[NODE_DESC_SIZE - 1], '?');
	CU_ASSERT_EQUAL(text[NODE_DESC_SIZE], '\0');
	CU_ASSERT_EQUAL(text[NODE_DESC_SIZE + 1], 'x');
	description.text[4] = '\0';
	CU_ASSERT_STRING_EQUAL(description_text(&description, text), "aaaa");
}

int main(void)
{
	static const CU_TestInfo tests[] = {
		{"rates", test_rates},
		{"links below what their ends can", test_below},
		{"FDR10", test_fdr10},
		{"devices with ExtendedPortInfo", test_ext_port_info_devices},
		{"unknown widths and speeds", test_unknown_widths_and_speeds},
		{"VLs and MTUs", test_vls_and_mtus},
		{"descriptions", test_descriptions},
		{"descriptions of full length", test_descriptions_of_full_length},
		CU_TEST_INFO_NULL,
	};

	return unit_main("port_info", tests);
}
