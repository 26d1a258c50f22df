/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The SA's front: takes requests from the transactions' table, refuses what is no good, lets the
 * row of the dispatch table answer, and sends the answer back the way the request came. What the
 * records say is written in the room's other files.
 *
 * There are two ways to say no. A status tells a client that asks wrongly; silence is for those who
 * should ask again or should not learn anything: while there is no view, for a requester whose LID
 * nobody has (it may come with the next view), and for a wrong SM_Key. Both are counted, and
 * nothing that a remote node can cause writes more than a few lines into the log. Loop thread only.
 */
#include "sa/adm.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/mem.h"
#include "sa/request.h"

enum {
	BASE_VERSION = 1,
	ADM_CLASS_VERSION = 2,	      /* chapter 15.2.1: since release 1.1 of the specification */
	ATTR_OFFSET_UNIT = 8,	      /* bytes */
	SCRATCH_KEEP_BYTES = 1 << 20, /* an answer above this does not stay in memory */
};

/*
 * What is answered. A record and method without a row gets UNSUP_METHOD_ATTR; by_mask tells that
 * the component mask counts, which it does for records, but not for attributes of every class.
 */
static const struct adm_row {
	uint16_t attr_id;
	uint8_t method;
	bool by_mask;
	const struct format *format;
	adm_handler *answer;
} adm_rows[] = {
	{ATTR_CLASS_PORT_INFO, METHOD_GET, false, &class_port_info_format, answer_class_port_info},
	{RECORD_NODE, METHOD_GET, true, &node_record_format, answer_nodes},
	{RECORD_NODE, METHOD_GET_TABLE, true, &node_record_format, answer_nodes},
	{RECORD_PORT_INFO, METHOD_GET, true, &port_info_record_format, answer_port_infos},
	{RECORD_PORT_INFO, METHOD_GET_TABLE, true, &port_info_record_format, answer_port_infos},
	{RECORD_SM_INFO, METHOD_GET, true, &sm_info_record_format, answer_sms},
	{RECORD_SM_INFO, METHOD_GET_TABLE, true, &sm_info_record_format, answer_sms},
	{RECORD_LINK, METHOD_GET, true, &link_record_format, answer_links},
	{RECORD_LINK, METHOD_GET_TABLE, true, &link_record_format, answer_links},
	{RECORD_PATH, METHOD_GET, true, &path_record_format, answer_paths},
	{RECORD_PATH, METHOD_GET_TABLE, true, &path_record_format, answer_paths},
};

/* Chapter 15.2.2: what asks the SA for something. What is neither here nor a response is a method
 * that this class does not have. */
static const uint8_t adm_methods[] = {METHOD_GET, METHOD_SET, METHOD_GET_TABLE, METHOD_GET_MULTI,
				      METHOD_DELETE};

/* The message as it grows: header, then records, each encoded as it comes. */
struct answer {
	struct arena *scratch;
	uint8_t *message;
	size_t size, room; /* bytes */
	uint32_t count;
	bool too_large;
};

struct adm {
	struct txn_table *txns;
	struct view *const *view;
	struct adm_options options;
	struct arena *scratch; /* of one request */
	struct adm_stats stats;
	struct adm_count counts[ARRAY_SIZE(adm_rows)];
	struct log_limit send_limit, size_limit;
};

/* One request as it came, its row (NULL: it has no handler), and what handlers see of it. */
struct exchange {
	const struct mad_addr *from;
	const struct mad_header *header;
	const uint8_t *mad;
	size_t size;
	struct adm_header adm;
	const struct adm_row *row;
	struct adm_request request;
	struct answer answer;
};

static void answer_begin(struct answer *answer, struct arena *scratch)
{
	*answer = (struct answer){
		.scratch = scratch,
		.message = arena_alloc(scratch, MAD_SIZE),
		.size = SUBN_ADM_HEADER_SIZE,
		.room = MAD_SIZE,
	};
}

/* A cleared place for so many bytes at the end, NULL when the table would be too large. */
static uint8_t *answer_extend(struct answer *answer, size_t bytes)
{
	uint8_t *place;

	if (answer->size + bytes > SUBN_ADM_HEADER_SIZE + (size_t)TABLE_BYTES_MAX) {
		answer->too_large = true;
		return NULL;
	}
	if (answer->size + bytes > answer->room) {
		uint8_t *larger = arena_alloc(answer->scratch, 2 * answer->room);

		memcpy(larger, answer->message, answer->size);
		answer->message = larger;
		answer->room *= 2;
	}
	place = answer->message + answer->size;
	answer->size += bytes;
	return place;
}

void request_offer(struct adm_request *request, uint64_t mask, const void *record)
{
	struct answer *answer = request->answer;
	uint8_t *place;

	if (!request_open(request) ||
	    !record_matches(request->format, mask, request->wanted, record))
		return;
	place = answer_extend(answer, request->format->wire_size);
	if (!place)
		return;
	format_encode(request->format, record, place);
	answer->count++;
}

bool request_open(const struct adm_request *request)
{
	return !request->answer->too_large && (request->table || request->answer->count < 2);
}

bool request_may_see(const struct adm_request *request, const struct endport *subject)
{
	return endport_same(&request->requester, subject) ||
	       endports_share(&request->requester, subject);
}

void request_endports(const struct adm_request *request, unsigned component, lid_t lid,
		      uint32_t *first, uint32_t *end)
{
	struct endport port;

	*first = *end = 0;
	if (!request_has(request, component)) {
		*end = endport_count(request->topology);
	} else if (endport_by_lid(request->topology, lid, &port)) {
		*first = endport_number(request->topology, &port);
		*end = *first + 1;
	}
}

/* Responses are nobody's request, and Send, Trap, Report and TrapRepress ask for nothing that is
 * ours to answer. */
static bool method_asks(uint8_t method)
{
	return !(method & METHOD_RESPONSE) && method != METHOD_SEND && method != METHOD_TRAP &&
	       method != METHOD_REPORT && method != METHOD_TRAP_REPRESS;
}

static const struct adm_row *row_find(uint16_t attr_id, uint8_t method)
{
	for (size_t i = 0; i < ARRAY_SIZE(adm_rows); i++)
		if (adm_rows[i].attr_id == attr_id && adm_rows[i].method == method)
			return &adm_rows[i];
	return NULL;
}

/* Chapter 13.4.7, table 113, and 15.2.3: STATUS_OK, or what is wrong with the request as such. */
static uint16_t exchange_check(const struct exchange *exchange)
{
	const struct mad_header *header = exchange->header;

	if (header->base_version != BASE_VERSION || header->class_version != ADM_CLASS_VERSION)
		return STATUS_BAD_VERSION;
	if (!memchr(adm_methods, header->method, sizeof(adm_methods)))
		return STATUS_UNSUP_METHOD;
	if (!exchange->row)
		return STATUS_UNSUP_METHOD_ATTR;
	/* One MAD holds any request but MultiPathRecord's: a longer one is not what it seems. */
	if (exchange->size > MAD_SIZE ||
	    exchange->size < (size_t)SUBN_ADM_HEADER_SIZE + exchange->row->format->wire_size)
		return SA_REQ_INVALID;
	/* To ignore a component that we do not know would answer another question. */
	if (exchange->row->by_mask &&
	    exchange->adm.component_mask & ~record_components(exchange->row->format))
		return SA_REQ_INVALID;
	return STATUS_OK;
}

/* What the number of records means, as clients know it from OpenSM (osm_sa_respond). An empty table
 * is an answer as any other. */
static uint16_t answer_status(const struct adm_request *request)
{
	if (request->answer->too_large)
		return SA_NO_RESOURCES;
	if (request->table || request->answer->count == 1)
		return STATUS_OK;
	return request->answer->count ? SA_TOO_MANY_RECORDS : SA_NO_RECORDS;
}

static uint16_t exchange_answer(struct adm *adm, struct exchange *exchange)
{
	struct adm_request *request = &exchange->request;
	const struct adm_row *row = exchange->row;
	void *wanted = arena_alloc(adm->scratch, row->format->struct_size);
	uint16_t status;

	format_decode(row->format, exchange->mad + SUBN_ADM_HEADER_SIZE, wanted);
	request->table = row->method == METHOD_GET_TABLE;
	request->attr_mod = exchange->header->attr_mod;
	request->format = row->format;
	request->mask = row->by_mask ? exchange->adm.component_mask : 0;
	request->wanted = wanted;
	status = row->answer(request);
	return status ? status : answer_status(request);
}

/* Chapter 15.2.1: SM_Key is never told, the rest of the header is the request's. A table goes as an
 * RMPP message, which the kernel cuts into segments; a refusal is a single MAD without records. */
static void reply(struct adm *adm, const struct exchange *exchange, uint16_t status)
{
	const struct answer *answer = &exchange->answer;
	struct mad_header header = *exchange->header;
	struct adm_header adm_header = {.component_mask = exchange->adm.component_mask};
	bool table = status == STATUS_OK && exchange->row->method == METHOD_GET_TABLE;
	uint8_t response = method_response(header.method);
	int error;

	header.method = response ? response : header.method | METHOD_RESPONSE;
	header.status = status;
	if (status)
		memset(answer->message + SUBN_ADM_HEADER_SIZE, 0, MAD_SIZE - SUBN_ADM_HEADER_SIZE);
	else if (answer->count)
		adm_header.attr_offset = exchange->row->format->wire_size / ATTR_OFFSET_UNIT;
	header_encode(&header, answer->message);
	rmpp_header_encode(answer->message, table);
	adm_header_encode(&adm_header, answer->message);

	error = txn_send(adm->txns, exchange->from, answer->message,
			 table ? answer->size : (size_t)MAD_SIZE);
	if (error) {
		adm->stats.send_failed++;
		log_limited(
			&adm->send_limit, LOG_WARNING,
			(&(struct log_subject){.lid = exchange->from->lid}),
			"an SA answer to LID %u could not be sent: %s; its client will ask again",
			exchange->from->lid, strerror(-error));
	} else if (status) {
		adm->stats.refused++;
	} else {
		adm->stats.answered++;
	}
}

static void exchange_run(struct adm *adm, struct exchange *exchange)
{
	uint16_t status;

	answer_begin(&exchange->answer, adm->scratch);
	exchange->request.answer = &exchange->answer;
	exchange->row = row_find(exchange->header->attr_id, exchange->header->method);
	status = exchange_check(exchange);
	if (!status)
		status = exchange_answer(adm, exchange);
	if (status == SA_NO_RESOURCES)
		log_limited(
			&adm->size_limit, LOG_NOTICE,
			(&(struct log_subject){.lid = exchange->from->lid}),
			"LID %u asked for more %ss than one answer may have (%d MB); refused: it "
			"should ask for less at a time",
			exchange->from->lid, exchange->row->format->name, TABLE_BYTES_MAX >> 20);
	if (exchange->row) {
		struct adm_count *count = &adm->counts[exchange->row - adm_rows];

		count->requests++;
		count->refused += status != STATUS_OK;
	}
	reply(adm, exchange, status);
}

static void scratch_reset(struct adm *adm, size_t used_bytes)
{
	if (used_bytes <= SCRATCH_KEEP_BYTES) {
		arena_reset(adm->scratch);
		return;
	}
	arena_free(adm->scratch);
	adm->scratch = arena_new();
}

static void received(void *ctx, const struct mad_addr *from, const struct mad_header *header,
		     const uint8_t *mad, size_t size)
{
	struct adm *adm = ctx;
	struct exchange exchange = {.from = from, .header = header, .mad = mad, .size = size};
	struct adm_request *request = &exchange.request;
	uint64_t sm_key;

	adm->stats.received++;
	if (!*adm->view || !method_asks(header->method) || size < SUBN_ADM_HEADER_SIZE) {
		adm->stats.dropped++;
		return;
	}
	adm_header_decode(mad, &exchange.adm);
	sm_key = exchange.adm.sm_key;
	request->view = *adm->view;
	request->topology = request->view->topology;
	request->options = &adm->options;
	request->trusted = sm_key && sm_key == adm->options.sa_key;
	if ((sm_key && !request->trusted) ||
	    !endport_by_lid(request->topology, from->lid, &request->requester)) {
		adm->stats.dropped++;
		return;
	}
	exchange_run(adm, &exchange);
	scratch_reset(adm, exchange.answer.room);
}

struct adm *adm_new(struct txn_table *txns, struct view *const *view,
		    const struct adm_options *options)
{
	struct adm *adm = mem_zalloc(sizeof(*adm));

	adm->txns = txns;
	adm->view = view;
	adm->options = *options;
	adm->scratch = arena_new();
	adm->send_limit = (struct log_limit){.burst = 5, .interval_us = 10000000};
	adm->size_limit = adm->send_limit;
	for (size_t i = 0; i < ARRAY_SIZE(adm_rows); i++) {
		adm->counts[i].record = adm_rows[i].format->name;
		adm->counts[i].method = method_name(CLASS_SUBN_ADM, adm_rows[i].method);
	}
	txn_handle(txns, CLASS_SUBN_ADM, received, adm);
	return adm;
}

void adm_set_options(struct adm *adm, const struct adm_options *options)
{
	adm->options = *options;
}

void adm_free(struct adm *adm)
{
	if (!adm)
		return;
	txn_handle(adm->txns, CLASS_SUBN_ADM, NULL, NULL);
	arena_free(adm->scratch);
	free(adm);
}

const struct adm_stats *adm_stats(const struct adm *adm)
{
	return &adm->stats;
}

size_t adm_counts(const struct adm *adm, const struct adm_count **rows)
{
	*rows = adm->counts;
	return ARRAY_SIZE(adm->counts);
}
