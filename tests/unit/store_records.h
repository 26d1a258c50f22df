/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Records of every kind, for tests of the store. */
#ifndef TESTS_UNIT_STORE_RECORDS_H
#define TESTS_UNIT_STORE_RECORDS_H

#include <stdio.h>
#include <string.h>

#include "store/registry.h"

/* Every kind, each field with bits of its own. */
static inline void record_fill(uint8_t *record, enum registry_kind kind, unsigned seed)
{
	const struct format *format = registry_tables[kind].format;

	memset(record, 0, format->struct_size);
	for (size_t i = 0; i < format->count; i++) {
		const struct field *field = &format->fields[i];

		if (field->kind == FIELD_UINT)
			format_put(format, i, record, 1 + (seed + i) % (field->width < 16 ? 1 : 9));
		else
			memset(record + field->offset, field->width > 128 ? 0 : 0xff,
			       field->width / 8);
	}
	switch (kind) {
	case REGISTRY_LID:
		((struct lid_entry *)record)->guid = seed + 1;
		((struct lid_entry *)record)->lid = (lid_t)(2 * seed + 2);
		break;
	case REGISTRY_GROUP:
		((struct group_entry *)record)->mlid = (lid_t)(LID_MULTICAST_MIN + seed);
		((struct group_entry *)record)->mgid[15] = (uint8_t)seed;
		break;
	case REGISTRY_SETTING:
		snprintf((char *)((struct setting_entry *)record)->name, SETTING_NAME_SIZE,
			 "name %u", seed);
		break;
	case REGISTRY_PARTITION:
		((struct partition_entry *)record)->p_key = (pkey_t)(seed + 1);
		memset(((struct partition_entry *)record)->name, 0, PARTITION_ENTRY_NAME_SIZE);
		((struct partition_entry *)record)->ipoib = seed & 1;
		((struct partition_entry *)record)->index0 = 0;
		((struct partition_entry *)record)->mtu = 4;
		((struct partition_entry *)record)->rate = 3;
		break;
	case REGISTRY_PARTITION_MEMBER:
		((struct partition_member_entry *)record)->guid = seed + 1;
		((struct partition_member_entry *)record)->membership = 2;
		break;
	case REGISTRY_PARTITION_TEXT:
		((struct partition_text_entry *)record)->number = seed;
		((struct partition_text_entry *)record)->size = (uint16_t)(seed + 1);
		break;
	default: /* the first number is part of the key */
		for (size_t i = 0; i < format->count; i++) {
			if (format->fields[i].kind == FIELD_UINT && format->fields[i].width == 64) {
				format_put(format, i, record, seed + 1);
				break;
			}
		}
	}
}

#endif
