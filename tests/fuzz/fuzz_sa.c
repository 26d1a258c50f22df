/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Requests to the SA of the fabric of two_switches.h, one after the other: source LID, method,
 * attribute, whether the request has the SA_Key, component mask, size of the record, record. If the
 * byte of the attribute is beyond the table, the input has a whole MAD instead. sa/sa.h.
 */
#include "lib/log.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/fixtures/sa_client.h"

enum { REQUESTS_MAX = 64, TURNS_MAX = 1000 };

static const uint16_t kinds[] = {
	ATTR_CLASS_PORT_INFO, RECORD_NODE,	RECORD_PORT_INFO,  RECORD_SL_TO_VL,
	RECORD_SWITCH_INFO,   RECORD_LFT,	RECORD_MFT,	   RECORD_SM_INFO,
	RECORD_LINK,	      RECORD_GUID_INFO, RECORD_SERVICE,	   RECORD_PKEY_TABLE,
	RECORD_PATH,	      RECORD_MC_MEMBER, RECORD_MULTI_PATH, RECORD_VL_ARBITRATION,
	RECORD_INFORM_INFO,   ATTR_INFORM_INFO,
};

static void fill(struct fuzz_bytes *in, uint8_t *mad, uint8_t method, uint16_t attr_id,
		 uint64_t tid)
{
	const struct mad_header header = {.base_version = 1,
					  .mgmt_class = CLASS_SUBN_ADM,
					  .class_version = 2,
					  .method = method,
					  .tid = tid,
					  .attr_id = attr_id};
	struct sa_header sa_header = {.sm_key = fuzz_byte(in) & 1 ? SA_KEY : 0};
	uint8_t mask[8];

	fuzz_take(in, mask, sizeof(mask));
	sa_header.component_mask = be64_load(mask);
	header_encode(&header, mad);
	sa_header_encode(&sa_header, mad);
	fuzz_take(in, mad + SUBN_ADM_HEADER_SIZE, fuzz_byte(in) % 201);
}

static void request(struct fuzz_bytes *in, uint64_t tid)
{
	const uint8_t from_byte = fuzz_byte(in), method = fuzz_byte(in), kind = fuzz_byte(in);
	const struct mad_addr from = {.lid = (lid_t)(16 + from_byte % 64), .qpn = 1};
	uint8_t mad[2 * MAD_SIZE] = {0};
	size_t size = MAD_SIZE;

	if (kind < ARRAY_SIZE(kinds)) {
		fill(in, mad, method, kinds[kind], tid);
	} else {
		size = MAD_HEADER_SIZE + 8 * (size_t)(kind % 57);
		fuzz_take(in, mad, size);
	}
	sa.transport.user.received(sa.transport.user.ctx, &from, mad, size);
	for (unsigned i = 0; i < TURNS_MAX && sa_waiting(sa.server); i++)
		turn();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes in = {data, size};

	log_set_level(NULL, LOG_EMERG);
	begin();
	for (uint64_t tid = 1; in.left && tid <= REQUESTS_MAX; tid++)
		request(&in, tid);
	end();
	return 0;
}
