/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The data details of notices as tables of fields: chapter 14.2.5.1, as OpenSM's ib_types.h lays it
 * out. Each kind of details is a format over the 54 bytes, so that reading, writing and testing are
 * those of every other attribute. Pure functions over constants; any thread.
 */
#include "mad/notice.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "lib/mem.h"

/* clang-format off */

static const struct field gid_fields[] = { /* 64-67 */
	FIELD_ARRAY(struct notice_gid, gid, "GIDADDR", FIELD_BYTES, 48, 128),
};

static const struct field link_state_fields[] = { /* 128 */
	FIELD(struct notice_link_state, lid, "LIDADDR", 0, 16),
};

static const struct field threshold_fields[] = { /* 129-131 */
	FIELD(struct notice_threshold, lid,      "LIDADDR", 16, 16),
	FIELD(struct notice_threshold, port_num, "PORTNO",  32,  8),
};

#define ROW(member, name, bit, width) FIELD(struct notice_local_changes, member, name, bit, width)
static const struct field local_changes_fields[] = { /* 144 */
	ROW(lid,                 "LIDADDR",           16, 16),
	ROW(other_local_changes, "OtherLocalChanges", 47,  1),
	ROW(capability_mask,     "CAPABILITYMASK",    48, 32),
	ROW(change_flags,        "ChangeFlags",       90,  6),
	ROW(capability_mask2,    "CAPABILITYMASK2",   96, 16),
};
#undef ROW

#define ROW(member, name, bit, width) \
	FIELD(struct notice_system_image_guid, member, name, bit, width)
static const struct field system_image_fields[] = { /* 145 */
	ROW(lid,               "LIDADDR",         16, 16),
	ROW(system_image_guid, "SYSTEMIMAGEGUID", 48, 64),
};
#undef ROW

#define ROW(member, name, bit, width) FIELD(struct notice_bad_m_key, member, name, bit, width)
static const struct field bad_m_key_fields[] = { /* 256 */
	ROW(lid,               "LIDADDR",            16, 16),
	ROW(dr_slid,           "DRSLID",             32, 16),
	ROW(method,            "METHOD",             48,  8),
	ROW(attr_id,           "ATTRIBUTEID",        64, 16),
	ROW(attr_mod,          "ATTRIBUTEMODIFIER",  80, 32),
	ROW(m_key,             "MKEY",              112, 64),
	ROW(dr_notice,         "DRNotice",          184,  1),
	ROW(dr_path_truncated, "DRPathTruncated",   185,  1),
	ROW(dr_hop_count,      "DRHopCount",        186,  6),
	FIELD_ARRAY(struct notice_bad_m_key, dr_return_path, "DRNoticeReturnPath", FIELD_BYTES,
	                                            192, 240),
};
#undef ROW

#define ROW(member, name, bit, width) FIELD(struct notice_bad_key, member, name, bit, width)
static const struct field bad_key_fields[] = { /* 257, 258 */
	ROW(lid1, "LIDADDR1", 16, 16),
	ROW(lid2, "LIDADDR2", 32, 16),
	ROW(key,  "KEY",      48, 32),
	ROW(sl,   "SL",       80,  4),
	ROW(qp1,  "QP1",      88, 24),
	ROW(qp2,  "QP2",     120, 24),
	FIELD_ARRAY(struct notice_bad_key, gid1, "GIDADDR1", FIELD_BYTES, 144, 128),
	FIELD_ARRAY(struct notice_bad_key, gid2, "GIDADDR2", FIELD_BYTES, 272, 128),
};
#undef ROW

#define ROW(member, name, bit, width) \
	FIELD(struct notice_switch_bad_p_key, member, name, bit, width)
static const struct field switch_bad_p_key_fields[] = { /* 259 */
	ROW(data_valid, "DataValid", 0, 16),
	ROW(lid1,       "LIDADDR1", 16, 16),
	ROW(lid2,       "LIDADDR2", 32, 16),
	ROW(p_key,      "PKEY",     48, 16),
	ROW(sl,         "SL",       64,  4),
	ROW(qp1,        "QP1",      72, 24),
	ROW(qp2,        "QP2",     104, 24),
	FIELD_ARRAY(struct notice_switch_bad_p_key, gid1, "GIDADDR1", FIELD_BYTES, 128, 128),
	FIELD_ARRAY(struct notice_switch_bad_p_key, gid2, "GIDADDR2", FIELD_BYTES, 256, 128),
	ROW(switch_lid, "SWLIDADDR", 384, 16),
	ROW(port_num,   "PORTNO",    400,  8),
};
#undef ROW

#define DETAILS(type, rows) FORMAT(struct notice_##type, "NoticeDetails", NOTICE_DATA_SIZE, rows)

#define OWN(member) true, offsetof(union notice_details, member)
#define NONE_OWN    false, 0

/*
 * Types as OpenSM (64-67) and the agents of the kernel's drivers (the others) send them.
 *
 * Chapter 14.2.5.1 defines which LID of the details is the LID of the sending agent. It says "at
 * <LIDADDR>" of 129-131, 144 and 145, "switch at <LIDADDR>" of 128 and "at switch <SWLIDADDR>" of
 * 259. Wireshark's packet-infiniband.c quotes these sentences; the offsets are those of OpenSM's
 * ib_types.h. The LIDs of 256-258 are those of the offending packet: "Bad M_Key, <M_KEY> from
 * <LIDADDR>". The drivers qib and hfi1 nevertheless put their own LID into 256 (bad_mkey()), so it
 * does not identify the sender.
 */
static const struct details_row {
	uint16_t first, last; /* trap numbers */
	uint8_t type;
	bool has_own_lid;
	size_t own_lid; /* offset in the union */
	struct format format;
} details_rows[] = {
	{64,  67,  NOTICE_SUBNET_MANAGEMENT, NONE_OWN, DETAILS(gid, gid_fields)},
	{128, 128, NOTICE_URGENT,            OWN(link_state.lid),
	 DETAILS(link_state, link_state_fields)},
	{129, 131, NOTICE_URGENT,            OWN(threshold.lid),
	 DETAILS(threshold, threshold_fields)},
	{144, 144, NOTICE_INFORMATIONAL,     OWN(local_changes.lid),
	 DETAILS(local_changes, local_changes_fields)},
	{145, 145, NOTICE_INFORMATIONAL,     OWN(system_image.lid),
	 DETAILS(system_image_guid, system_image_fields)},
	{256, 256, NOTICE_SECURITY,          NONE_OWN, DETAILS(bad_m_key, bad_m_key_fields)},
	{257, 258, NOTICE_SECURITY,          NONE_OWN, DETAILS(bad_key, bad_key_fields)},
	{259, 259, NOTICE_SECURITY,          OWN(switch_bad_p_key.switch_lid),
	 DETAILS(switch_bad_p_key, switch_bad_p_key_fields)},
};

/* clang-format on */

static const struct details_row *details_find(uint16_t trap_number)
{
	for (size_t i = 0; i < ARRAY_SIZE(details_rows); i++) {
		if (trap_number >= details_rows[i].first && trap_number <= details_rows[i].last)
			return &details_rows[i];
	}
	return NULL;
}

const struct format *notice_details_format(uint16_t trap_number)
{
	const struct details_row *row = details_find(trap_number);

	return row ? &row->format : NULL;
}

bool notice_is_security(bool is_generic, uint16_t type, uint16_t trap_number)
{
	return type == NOTICE_SECURITY || (is_generic && trap_number >= TRAP_BAD_M_KEY &&
					   trap_number <= TRAP_SWITCH_BAD_P_KEY);
}

bool notice_details_decode(const struct notice *notice, union notice_details *details)
{
	const struct details_row *row = details_find(notice->trap_number);

	if (!row || !notice->is_generic)
		return false;
	format_decode(&row->format, notice->data, details);
	return true;
}

lid_t notice_own_lid(const struct notice *notice, const union notice_details *details)
{
	const struct details_row *row =
		notice->is_generic ? details_find(notice->trap_number) : NULL;
	lid_t lid = LID_NONE;

	if (row && row->has_own_lid)
		memcpy(&lid, (const char *)details + row->own_lid, sizeof(lid));
	return lid;
}

void notice_fill(struct notice *notice, uint16_t trap_number, uint32_t producer_type,
		 lid_t issuer_lid, const union notice_details *details)
{
	const struct details_row *row = details_find(trap_number);

	assert(row);
	*notice = (struct notice){
		.is_generic = 1,
		.type = row->type,
		.producer_type = producer_type,
		.trap_number = trap_number,
		.issuer_lid = issuer_lid,
	};
	format_encode(&row->format, details, notice->data);
}
