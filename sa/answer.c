/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Builds and sends answers. */
#include "sa/answer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

enum { ATTR_OFFSET_UNIT = 8 /* bytes */ };

static uint8_t *answer_message(struct answer *answer)
{
	return answer->grown ? answer->grown : answer->small;
}

static size_t answer_bytes_max(const struct answer *answer)
{
	return answer->limit == ANSWER_LARGE ? TABLE_BYTES_LARGE : TABLE_BYTES_MAX;
}

void answer_begin(struct answer *answer)
{
	answer->grown = NULL;
	answer->size = SUBN_ADM_HEADER_SIZE;
	answer->room = sizeof(answer->small);
	answer->most_bytes = 0;
	answer->count = 0;
	answer->limit = ANSWER_USUAL;
	answer->work = 0;
}

uint16_t answer_expect(const struct sa_request *request)
{
	struct answer *answer = request->answer;
	size_t record_bytes = request->format->wire_size;

	if (!request->table || request->most == UINT64_MAX)
		return STATUS_OK;
	if (request->most > TABLE_BYTES_MAX / record_bytes)
		answer->limit = ANSWER_LARGE;
	if (request->most > TABLE_BYTES_LARGE / record_bytes)
		return SA_NO_RESOURCES;
	answer->most_bytes = SUBN_ADM_HEADER_SIZE + (size_t)request->most * record_bytes;
	return STATUS_OK;
}

uint64_t answer_bytes(const struct sa_request *request)
{
	uint64_t most = request->table ? request->most : 2;
	uint64_t limit = answer_bytes_max(request->answer);

	if (most > limit / request->format->wire_size)
		return limit;
	return most * request->format->wire_size + MAD_SIZE;
}

/* Returns space for so many bytes at the end; NULL if the table would be too large. */
static uint8_t *answer_extend(struct answer *answer, size_t bytes)
{
	uint8_t *place;

	if (answer->size + bytes > SUBN_ADM_HEADER_SIZE + answer_bytes_max(answer)) {
		answer->limit = ANSWER_CLOSED;
		return NULL;
	}
	if (answer->size + bytes > answer->room) {
		bool first = !answer->grown;

		/* Copying a large message takes milliseconds, and unused memory costs nothing. */
		answer->room *= 2;
		if (answer->room < answer->most_bytes)
			answer->room = answer->most_bytes;
		answer->grown = mem_resize(answer->grown, answer->room, 1);
		if (first)
			memcpy(answer->grown, answer->small, answer->size);
	}
	place = answer_message(answer) + answer->size;
	answer->size += bytes;
	answer->count++;
	return place;
}

uint8_t *request_place(struct sa_request *request)
{
	request->answer->work++;
	return request_open(request) ? answer_extend(request->answer, request->format->wire_size)
				     : NULL;
}

void request_offer(struct sa_request *request, uint64_t mask, const void *record)
{
	uint8_t *place;

	request->answer->work++;
	if (!request_open(request) ||
	    !record_matches(request->format, mask, request->wanted, record))
		return;
	place = answer_extend(request->answer, request->format->wire_size);
	if (place)
		format_encode(request->format, record, place);
}

void request_give(struct sa_request *request, const void *record)
{
	uint8_t *place = request_place(request);

	assert(place);
	format_encode(request->format, record, place);
}

bool request_open(const struct sa_request *request)
{
	return request->answer->limit != ANSWER_CLOSED &&
	       (request->table || request->answer->count < 2);
}

/* As in OpenSM (osm_sa_respond). An empty table is a valid answer. */
uint16_t answer_status(const struct sa_request *request)
{
	if (request->answer->limit == ANSWER_CLOSED)
		return SA_NO_RESOURCES;
	if (request->table || request->answer->count == 1)
		return STATUS_OK;
	return request->answer->count ? SA_TOO_MANY_RECORDS : SA_NO_RECORDS;
}

/* Chapter 15.2.1: SM_Key is never sent; the other fields of the header are those of the request.
 * A table is an RMPP message, which the kernel cuts into segments; a refusal is a single MAD
 * without records. */
int answer_send(struct exchange *exchange, struct txn_table *txns, uint16_t status, size_t *size)
{
	const struct sa_request *request = &exchange->request;
	const struct mad_addr *to = &exchange->admitted.from;
	struct answer *answer = &exchange->answer;
	uint8_t *message = answer_message(answer);
	struct mad_header header = exchange->admitted.header;
	struct sa_header sa_header = {.component_mask = exchange->sa.component_mask};
	bool table = status == STATUS_OK && request->table;
	uint8_t response = method_response(header.method);
	int error;

	header.method = response ? response : header.method | METHOD_RESPONSE;
	/* o15-0.2.7: paths are PathRecords for any request. OpenSM (osm_sa_respond(),
	 * osm_sa_send_error()) uses this attribute in refusals too. */
	if (header.attr_id == RECORD_MULTI_PATH)
		header.attr_id = RECORD_PATH;
	header.status = status;
	if (status)
		answer->size = SUBN_ADM_HEADER_SIZE;
	else if (answer->count)
		sa_header.attr_offset = request->format->wire_size / ATTR_OFFSET_UNIT;
	*size = table ? answer->size : (size_t)MAD_SIZE;
	if (answer->size < *size)
		memset(message + answer->size, 0, *size - answer->size);
	header_encode(&header, message);
	rmpp_header_encode(message, table);
	sa_header_encode(&sa_header, message);

	if (table && answer->grown) {
		error = txn_give(txns, to, answer->grown, *size);
		answer->grown = NULL;
	} else {
		error = txn_send(txns, to, message, *size);
	}
	answer_drop(answer);
	return error;
}

void answer_drop(struct answer *answer)
{
	free(answer->grown);
	answer->grown = NULL;
}
