/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A table with the offsets of keys: weftd/redact.h. The bytes are cleared for each method and
 * status, because a refused request contains the key that its sender tried.
 */
#include "weftd/redact.h"

#include <stddef.h>
#include <string.h>

#include "lib/be.h"
#include "lib/mem.h"
#include "mad/mad.h"

enum {
	SA_SM_KEY_OFFSET = 36,
	/* The data details of a notice begin at byte 10. The key of trap 256 is at byte 14 of
	 * these. */
	NOTICE_M_KEY_OFFSET = 10 + 14,
	NOTICE_TRAP_OFFSET = 4,
	RECORD_OFFSET_UNIT = 8,
};

/* offset: from the attribute's or record's first byte. */
struct place {
	uint16_t attr_id;
	uint8_t offset, size;
};

static const struct place in_attributes[] = {
	{ATTR_PORT_INFO, 0, 8}, /* M_Key */
	{ATTR_SM_INFO, 8, 8},	/* SM_Key */
	{ATTR_NOTICE, NOTICE_M_KEY_OFFSET, 8},
};

static const struct place in_records[] = {
	{RECORD_PORT_INFO, 4, 8},   /* M_Key, after LID and port number */
	{RECORD_SM_INFO, 4 + 8, 8}, /* SM_Key, after the LID */
	{RECORD_SERVICE, 32, 16},   /* ServiceKey */
	{ATTR_NOTICE, NOTICE_M_KEY_OFFSET, 8},
};

static void redact_field(uint8_t *mad, size_t offset, size_t size)
{
	if (offset < MAD_SIZE)
		memset(mad + offset, 0, size < MAD_SIZE - offset ? size : MAD_SIZE - offset);
}

/* Only a notice of trap 256 has a key at this offset. */
static bool attribute_has_key(const struct place *place, const uint8_t *attribute)
{
	return place->attr_id != ATTR_NOTICE ||
	       be16_load(attribute + NOTICE_TRAP_OFFSET) == TRAP_BAD_M_KEY;
}

static void redact_smp(uint8_t *mad, uint16_t attr_id)
{
	redact_field(mad, SMP_M_KEY_OFFSET, 8);
	for (size_t i = 0; i < ARRAY_SIZE(in_attributes); i++)
		if (in_attributes[i].attr_id == attr_id &&
		    attribute_has_key(&in_attributes[i], mad + SMP_DATA_OFFSET))
			redact_field(mad, SMP_DATA_OFFSET + in_attributes[i].offset,
				     in_attributes[i].size);
}

/* Each record of a table has a key; the distance of two records is AttributeOffset. */
static void redact_sa(uint8_t *mad, uint16_t attr_id)
{
	struct sa_header header;
	size_t step;

	sa_header_decode(mad, &header);
	step = (size_t)header.attr_offset * RECORD_OFFSET_UNIT;
	redact_field(mad, SA_SM_KEY_OFFSET, 8);
	for (size_t i = 0; i < ARRAY_SIZE(in_records); i++) {
		const struct place *place = &in_records[i];
		size_t at = SUBN_ADM_HEADER_SIZE;

		if (place->attr_id != attr_id || !attribute_has_key(place, mad + at))
			continue;
		do {
			redact_field(mad, at + place->offset, place->size);
			at += step;
		} while (step && at < MAD_SIZE);
	}
}

void redact(uint8_t mad[MAD_SIZE])
{
	struct mad_header header;

	header_decode(mad, &header);
	if (header.mgmt_class == CLASS_SUBN_LID || header.mgmt_class == CLASS_SUBN_DIRECTED)
		redact_smp(mad, header.attr_id);
	else if (header.mgmt_class == CLASS_SUBN_ADM)
		redact_sa(mad, header.attr_id);
}
