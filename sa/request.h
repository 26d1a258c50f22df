/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One request while it is answered: what a handler gets from sa.c, and how it gives its records. A
 * handler is named in a row of sa.c's dispatch table and has two halves. The first looks at the
 * request and says over how many units (end ports, pairs of them) its answer is a walk; the second
 * offers the records of one unit. In between the loop may do something else, for an answer can have
 * hundred thousands of records: so what a handler keeps from unit to unit is in the request's
 * state. Whether one record or a table was asked for is none of its business. A request and all
 * that belongs to it, its view too, live until the answer is sent.
 *
 * Of a method that changes something (SubnAdmSet, SubnAdmDelete) the first half does all: it judges
 * the request, changes the registry last and gives the record of the answer with request_give().
 * The answer leaves when the registry, as it is then, is durable. Loop thread only.
 */
#ifndef SA_REQUEST_H
#define SA_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/mft.h"
#include "fabric/view.h"
#include "lib/log.h"
#include "mad/mad.h"
#include "sa/endport.h"
#include "sa/lookup.h"
#include "sa/record.h"
#include "sa/sa.h"
#include "store/registry.h"

/* A table that would be larger is refused with NO_RESOURCES, and as soon as it is known to be: the
 * kernel keeps what it sends until the other side has acknowledged it. Where the first half knows
 * how many records there will be it may be as large as TABLE_BYTES_LARGE (all forwarding tables of
 * 11,664 hosts take 25 MB), but then it waits until no other one of those is under way. */
enum { TABLE_BYTES_MAX = 16 << 20, TABLE_BYTES_LARGE = 40 << 20 };

struct aliases;
struct answer;
struct counts;
struct groups;
struct services;
struct sa_request;

/* The first half: STATUS_OK, or the status to be answered instead of records. */
typedef uint16_t sa_begin(struct sa_request *request);
sa_begin begin_one, begin_nodes, begin_port_infos, begin_by_lid, begin_sms, begin_links,
	begin_p_keys, begin_lfts, begin_paths, begin_multi_paths, begin_mc_members, begin_join,
	begin_leave, begin_services, begin_service_set, begin_service_delete, begin_inform_info,
	begin_inform_records, begin_set_guids, begin_delete_guids;
/* The second half, called for one unit after another while the answer is open. */
typedef void sa_step(struct sa_request *request, uint64_t unit);
sa_step step_class_port_info, step_node, step_port_infos, step_sm, step_links, step_sl_to_vl,
	step_switch_info, step_lft, step_mft, step_guid_info, step_p_keys, step_vl_arbitration,
	step_paths, step_multi_path, step_mc_member, step_service, step_inform_record;

/* Each includes those before. */
enum requester_trust {
	REQUESTER_UNTRUSTED,
	REQUESTER_TRUSTED,	 /* gave the sa_key */
	REQUESTER_ADMINISTRATOR, /* and that is not the default, which any host knows */
};

struct sa_request {
	const struct view *view;
	const struct snapshot *topology; /* of the view */
	struct lookup *lookup;		 /* of the view */
	struct registry *registry;
	struct groups *groups;
	const struct counts *counts;
	struct services *services;
	sa_mft *held_mft; /* NULL: nobody can tell */
	const void *held_ctx;
	sa_wanted *wanted_keys; /* NULL: the view decides */
	void *wanted_ctx;
	struct aliases *aliases;
	const struct mad_addr *from; /* of the first half only */
	const struct sa_options *options;
	struct endport requester;
	enum requester_trust trust;
	bool table; /* asks for all that match, not for the only one */
	uint32_t attr_mod;
	const struct format *format; /* of the records that are given */
	uint64_t mask;	     /* components that must be as in wanted; has no reserved bits */
	const void *wanted;  /* the record of the request, decoded: struct of its format */
	const uint8_t *data; /* its bytes and what follows it; of the first half only */
	size_t data_size;
	struct arena *arena; /* for state */
	struct answer *answer;
	struct log_limit *refusals; /* for lines that say why something is refused */

	/* Set by the first half: */
	bool logged;	     /* why it is refused is in the log, or need not be */
	enum sa_limit limit; /* where it is refused with SA_NO_RESOURCES: which one is reached */
	uint64_t unit, end;  /* the next unit, and behind the last; none when left alone */
	uint64_t most; /* records of all units; UINT64_MAX when that depends on their contents */
	void *state;
	struct registry_cursor *walk; /* NULL, or what request_walk() began */

	sa_step *step;
};

/* True when the mask has this component. */
static inline bool request_has(const struct sa_request *request, unsigned component)
{
	return request->mask >> component & 1;
}

/* Takes record (struct of format) into the answer when it equals wanted in the components of mask,
 * which may be fewer than the request's where the handler has compared some by itself. */
void request_offer(struct sa_request *request, uint64_t mask, const void *record);
/* The place for a record on the wire, which the handler has compared by itself and must fill; NULL
 * when there is none. */
uint8_t *request_place(struct sa_request *request);
/* Takes the one record of an answer to a change. */
void request_give(struct sa_request *request, const void *record);
/* False once further records cannot change the answer. */
bool request_open(const struct sa_request *request);

/* Chapter 15.4.1: nobody learns of a port with which he shares no partition, whether he is trusted
 * or not. Of course he may ask about himself. */
bool request_may_see(const struct sa_request *request, const struct endport *subject);
/* Whether the partitions in force leave the port the key of this partition that the view shows. */
bool request_keeps_key(const struct sa_request *request, const struct endport *port, pkey_t p_key);
/* Whether the port and the requester are in this partition, for something to be registered there:
 * by the view, which shows what tables hold, and by the partitions in force. */
bool request_both_in(const struct sa_request *request, const struct endport *port, pkey_t p_key);
/* The end port of this number when it has a LID and the requester may see it. */
bool request_endport(const struct sa_request *request, uint64_t number, struct endport *out);

/* Makes the units a walk over records of the registry, which may change meanwhile; parameters as of
 * registry_first(). Each unit takes one with request_walk_next(), NULL when there is none left. */
void request_walk(struct sa_request *request, enum registry_kind kind, int index, const void *key);
const void *request_walk_next(struct sa_request *request);
void request_walk_end(struct sa_request *request); /* harmless without a walk */

/* The GUIDs of a port's block: what it has, and what is registered and will be written to it. */
void guid_block_told(const struct sa_request *request, const struct endport *port, unsigned block,
		     struct guid_info *out);

/* Whether a port that has registered so much already may register one thing more; when not, the
 * answer is SA_NO_RESOURCES. */
bool request_may_register(const struct sa_request *request, guid_t port_guid);
/* The requester's node, port and LID, for a line of the log. */
struct log_subject request_subject(const struct sa_request *request, const char *message_id);

/* Makes the units the numbers of the end ports that a component with a LID leaves possible: all
 * when the mask does not have it, one when somebody has this LID, else none. */
void request_by_lid(struct sa_request *request, unsigned component, lid_t lid);

#endif
