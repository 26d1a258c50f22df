/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One request while it is answered: what a handler gets from adm.c, and how it gives its records. A
 * handler is named in a row of adm.c's dispatch table. It walks over what could be meant, offers
 * each candidate, and returns; whether one record or a table was asked for is none of its business.
 * A request and all that belongs to it live until the handler's return. Loop thread only.
 */
#ifndef SA_REQUEST_H
#define SA_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/view.h"
#include "mad/mad.h"
#include "sa/adm.h"
#include "sa/endport.h"
#include "sa/record.h"

/* A table that would be larger is refused with NO_RESOURCES, and as soon as it is known to be: the
 * kernel keeps what it sends until the other side has acknowledged it. */
enum { TABLE_BYTES_MAX = 16 << 20 };

struct answer;

struct adm_request {
	const struct view *view;
	const struct snapshot *topology; /* of the view */
	const struct adm_options *options;
	struct endport requester;
	bool trusted; /* gave the sa_key */
	bool table;   /* asks for all that match, not for the only one */
	uint32_t attr_mod;
	const struct format *format; /* of the record */
	uint64_t mask;	    /* components that must be as in wanted; has no reserved bits */
	const void *wanted; /* the record of the request, decoded: struct of format */
	struct answer *answer;
};

/* Answers with STATUS_OK what was offered, or with any other status instead. */
typedef uint16_t adm_handler(struct adm_request *request);
adm_handler answer_class_port_info, answer_nodes, answer_port_infos, answer_sms, answer_links,
	answer_paths;

/* True when the mask has this component. */
static inline bool request_has(const struct adm_request *request, unsigned component)
{
	return request->mask >> component & 1;
}

/* Takes record (struct of format) into the answer when it equals wanted in the components of mask,
 * which may be fewer than the request's where the handler has compared some by itself. */
void request_offer(struct adm_request *request, uint64_t mask, const void *record);
/* False once further records cannot change the answer, so that a walk may end. */
bool request_open(const struct adm_request *request);

/* Chapter 15.4.1: nobody learns of a port with which he shares no partition, whether he is trusted
 * or not. Of course he may ask about himself. */
bool request_may_see(const struct adm_request *request, const struct endport *subject);

/* The numbers of the end ports that a component with a LID leaves possible, from *first to before
 * *end: all when the mask does not have it, one when somebody has this LID, else none. */
void request_endports(const struct adm_request *request, unsigned component, lid_t lid,
		      uint32_t *first, uint32_t *end);

#endif
