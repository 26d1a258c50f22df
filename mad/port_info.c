/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The encoded values of PortInfo (lanes, speeds, rates, VLs, MTUs), and the node's description as
 * printable text. Used wherever paths are computed and ports are shown. Tables and lookups; a value
 * that no table has gives 0 or "unknown", because devices may be newer than this code. Pure
 * functions; any thread.
 */
#include <stdio.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/utf8.h"
#include "mad/attr.h"

/* LinkWidthActive: 14.2.5.6. */
static const struct {
	uint8_t encoded, lanes;
} widths[] = {{1, 1}, {16, 2}, {2, 4}, {4, 8}, {8, 12}};

/*
 * The active speed of a lane, newest member first. A port that runs at an extended speed may show
 * 10 Gb/s in LinkSpeedActive, so the first row that matches is the speed of the link. The
 * capability bits of the extended members are not checked: switches show them for port 0 only, and
 * a device without these members sends 0. Beside each stands the member with the supported speeds.
 */
enum { QDR_DECI_GBPS = 100 };
#define MEMBERS(active, supported) \
	offsetof(struct port_info, active), offsetof(struct port_info, supported)
static const struct speed {
	size_t member, supported;
	uint8_t encoded;
	uint16_t deci_gbps;
	const char *name;
} speeds[] = {
	{MEMBERS(link_speed_ext_active2, link_speed_ext_supported2), 1, 2000, "XDR"},
	{MEMBERS(link_speed_ext_active, link_speed_ext_supported), 8, 1000, "NDR"},
	{MEMBERS(link_speed_ext_active, link_speed_ext_supported), 4, 500, "HDR"},
	{MEMBERS(link_speed_ext_active, link_speed_ext_supported), 2, 250, "EDR"},
	{MEMBERS(link_speed_ext_active, link_speed_ext_supported), 1, 140, "FDR"},
	{MEMBERS(link_speed_active, link_speed_supported), 4, QDR_DECI_GBPS, "QDR"},
	{MEMBERS(link_speed_active, link_speed_supported), 2, 50, "DDR"},
	{MEMBERS(link_speed_active, link_speed_supported), 1, 25, "SDR"},
};
#undef MEMBERS

/* PathRecord:Rate (15.2.5.16), Gb/s times 10 by encoding. 23 and 24 as in OpenSM's ib_types.h, 25
 * as in the kernel's ib_verbs.h. */
static const uint16_t rates[] = {
	[2] = 25,    [3] = 100,	  [4] = 300,   [5] = 50,    [6] = 200,	  [7] = 400,
	[8] = 600,   [9] = 800,	  [10] = 1200, [11] = 140,  [12] = 560,	  [13] = 1120,
	[14] = 1680, [15] = 250,  [16] = 1000, [17] = 2000, [18] = 3000,  [19] = 280,
	[20] = 500,  [21] = 4000, [22] = 6000, [23] = 8000, [24] = 12000, [25] = 16000,
};

unsigned port_lanes(const struct port_info *info)
{
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		if (widths[i].encoded == info->link_width_active)
			return widths[i].lanes;
	}
	return 0;
}

static const struct speed *speed_of(const struct port_info *info)
{
	for (size_t i = 0; i < ARRAY_SIZE(speeds); i++) {
		if (((const uint8_t *)info)[speeds[i].member] == speeds[i].encoded)
			return &speeds[i];
	}
	return NULL;
}

unsigned vls_of(uint8_t encoded)
{
	static const uint8_t vls[] = {0, 1, 2, 4, 8, 15};

	return encoded < ARRAY_SIZE(vls) ? vls[encoded] : 0;
}

unsigned mtu_bytes(uint8_t encoded)
{
	return encoded >= 1 && encoded <= 5 ? 128U << encoded : 0;
}

/* The fastest encoding within the link's rate. It is the link's own rate, except for XDR at 12x: no
 * encoding for 2,400 Gb/s is known, so it counts as 1,600. */
uint8_t port_rate(const struct port_info *info)
{
	const struct speed *speed = speed_of(info);
	unsigned link = speed ? port_lanes(info) * speed->deci_gbps : 0;
	uint8_t best = 0;

	for (uint8_t rate = 0; rate < ARRAY_SIZE(rates); rate++) {
		if (rates[rate] <= link && rates[rate] > rates[best])
			best = rate;
	}
	return best;
}

unsigned rate_deci_gbps(uint8_t rate)
{
	return rate < ARRAY_SIZE(rates) ? rates[rate] : 0;
}

char *port_speed_text(const struct port_info *info, const struct ext_port_info *ext, char text[24])
{
	const struct speed *speed = speed_of(info);
	unsigned lanes = port_lanes(info);
	bool fdr10 = speed && speed->deci_gbps == QDR_DECI_GBPS && ext &&
		     ext->link_speed_active & MLNX_FDR10;

	if (speed && lanes)
		snprintf(text, 24, "%ux %s", lanes, fdr10 ? "FDR10" : speed->name);
	else
		strcpy(text, "unknown");
	return text;
}

static bool both_have(const struct port_info *a, const struct port_info *b, size_t member,
		      uint8_t bit)
{
	return ((const uint8_t *)a)[member] & ((const uint8_t *)b)[member] & bit;
}

bool port_below(const struct port_info *a, const struct port_info *b, char could[24])
{
	const struct speed *speed = speed_of(a), *best = NULL;
	unsigned lanes = port_lanes(a), most = 0;

	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		if (both_have(a, b, offsetof(struct port_info, link_width_supported),
			      widths[i].encoded))
			most = widths[i].lanes;
	}
	for (size_t i = 0; i < ARRAY_SIZE(speeds) && !best; i++) {
		if (both_have(a, b, speeds[i].supported, speeds[i].encoded))
			best = &speeds[i];
	}
	if (!speed || !lanes || !best || !most ||
	    (lanes >= most && speed->deci_gbps >= best->deci_gbps))
		return false;
	snprintf(could, 24, "%ux %s", most, best->name);
	return true;
}

/* By DeviceID; those of Bull count with Bull's VendorID only. */
static const struct {
	uint16_t first, last;
	bool bull;
} ext_port_info_devices[] = {
	{0x1003, 0x101b, false},			  /* ConnectX-3 to ConnectX-6 */
	{0xa2d2, 0xa2d2, false},			  /* BlueField */
	{0xc738, 0xc73b, false},			  /* SwitchX */
	{0xc839, 0xc839, false}, {0xcb20, 0xcb20, false}, /* Switch-IB */
	{0xcf08, 0xcf09, false}, {0xd2f0, 0xd2f0, false}, /* Switch-IB 2, Quantum */
	{0x1b02, 0x1b02, true},	 {0x1b33, 0x1b33, true},  {0x1b40, 0x1b41, true},
	{0x1b50, 0x1b50, true},	 {0x1b60, 0x1b61, true},  {0x1b73, 0x1b73, true},
	{0x1b83, 0x1b83, true},	 {0x1b93, 0x1b94, true},  {0x1ba0, 0x1ba0, true},
	{0x1bb4, 0x1bb5, true},	 {0x1bc4, 0x1bc6, true},  {0x1bd0, 0x1bd5, true},
	{0x1bf0, 0x1bf0, true},
};

bool node_has_ext_port_info(const struct node_info *info)
{
	enum { VENDOR_BULL = 0x119f };

	for (size_t i = 0; i < ARRAY_SIZE(ext_port_info_devices); i++) {
		if (info->device_id >= ext_port_info_devices[i].first &&
		    info->device_id <= ext_port_info_devices[i].last &&
		    (!ext_port_info_devices[i].bull || info->vendor_id == VENDOR_BULL))
			return true;
	}
	return false;
}

char *description_text(const struct node_description *description, char text[NODE_DESC_SIZE + 1])
{
	size_t size = strnlen((const char *)description->text, NODE_DESC_SIZE);
	size_t at = 0;

	while (at < size) {
		size_t length = utf8_printable(description->text + at, size - at);

		if (length)
			memcpy(text + at, description->text + at, length);
		else
			text[at] = '?';
		at += length ? length : 1;
	}
	text[at] = '\0';
	return text;
}
