/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What happens in the subnet, told to whoever wants to know: sm/ raises what it sees, the SA
 * reports it to its subscribers and forgets what ports that are gone had registered. Readers are
 * called at once and in the order in which they came; they may raise nothing themselves. Loop
 * thread only.
 */
#ifndef FABRIC_EVENT_H
#define FABRIC_EVENT_H

#include "fabric/facts.h"
#include "include/iba.h"
#include "lib/list.h"
#include "mad/attr.h"
#include "store/alias.h"

enum event_kind {
	EVENT_TRAP,	/* an agent sent a notice, for the first time: notice,
			 * and guid and lid of who says that he sent it, 0 where nobody has that LID */
	EVENT_PORT_IN,	/* an end port is in the view that was not, and ACTIVE: guid, lid */
	EVENT_PORT_OUT, /* one is not in the view any more; what it registered is kept for a grace.
			 * Without facts: it went while no manager ran here */
	EVENT_PORT_FORGOTTEN, /* its grace is over: guid */
	EVENT_MASTER,	      /* this manager is MASTER and has published its first view */
	EVENT_NOT_MASTER,     /* it was, and is no more */
	EVENT_PKEYS, /* a port should have these P_Keys and no others, perhaps fewer than before:
		      * guid, p_keys, own_p_keys */
	EVENT_ALIAS, /* an alias GUID of a port was set or removed: guid, lid, facts, num, alias
		      */
};

enum alias_change {
	ALIAS_SET,
	ALIAS_DELETED,	 /* by its port, or by a client with the SA_Key */
	ALIAS_REMOVED,	 /* by an administrator, with all registrations under it */
	ALIAS_MISPLACED, /* by weftd: it is the GUID of another port */
};

struct alias_event {
	enum alias_change change;
	const struct alias_entry *entry; /* borrowed */
	enum alias_grant grant;		 /* that the alias has, or had */
};

struct event {
	enum event_kind kind;
	guid_t guid;		     /* of the end port */
	lid_t lid;		     /* its LID; of a trap, the sender's */
	const struct notice *notice; /* borrowed */
	/* Of its port, also of one that went: what was known of it; NULL: nothing. Borrowed. */
	struct node_facts *facts;
	uint8_t num;	      /* its number on its node; 0 of a switch */
	const pkey_t *p_keys; /* borrowed */
	unsigned num_p_keys;
	const struct pkey_list *own_p_keys; /* the manager's table; borrowed, or NULL */
	const struct alias_event *alias;    /* borrowed */
};

struct event_reader {
	struct list link;
	void (*happened)(void *ctx, const struct event *event);
	void *ctx;
};

struct event_hub {
	struct list readers;
};

static inline void event_hub_init(struct event_hub *hub)
{
	list_init(&hub->readers);
}

static inline void event_read(struct event_hub *hub, struct event_reader *reader)
{
	list_push(&hub->readers, &reader->link);
}

static inline void event_unread(struct event_reader *reader) /* harmless when it does not read */
{
	list_del(&reader->link);
}

static inline void event_raise(struct event_hub *hub, const struct event *event)
{
	list_for_each (item, &hub->readers) {
		struct event_reader *reader = container_of(item, struct event_reader, link);

		reader->happened(reader->ctx, event);
	}
}

#endif
