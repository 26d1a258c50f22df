/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Events in the subnet for their readers: sm/ raises them; the SA reports them to its subscribers
 * and drops registrations of absent ports. Readers are called at once, in the order in which they
 * were added; they must not raise events. Loop thread only.
 */
#ifndef FABRIC_EVENT_H
#define FABRIC_EVENT_H

#include "fabric/facts.h"
#include "include/iba.h"
#include "lib/list.h"
#include "mad/attr.h"
#include "store/alias.h"

enum event_kind {
	/* An agent sent a new notice: notice, and guid and lid of the sender that it names; 0: no
	 * port has that LID. */
	EVENT_TRAP,
	/* An end port is in the view that was not there before, and ACTIVE: guid, lid. */
	EVENT_PORT_IN,
	/* A port is no longer in the view; its registrations are kept for a grace period. Without
	 * facts: it disappeared while no manager ran here. */
	EVENT_PORT_OUT,
	EVENT_PORT_FORGOTTEN, /* its grace period is over: guid */
	EVENT_MASTER,	      /* this manager is MASTER and has published its first view */
	EVENT_NOT_MASTER,     /* it is no longer MASTER */
	/* A port should have exactly these P_Keys, perhaps fewer than before: guid, p_keys,
	 * own_p_keys. */
	EVENT_PKEYS,
	EVENT_ALIAS, /* an alias GUID of a port was set or removed: guid, lid, facts, num, alias
		      */
};

enum alias_change {
	ALIAS_SET,
	ALIAS_DELETED,	 /* by its port, or by a client with the SA_Key */
	ALIAS_REMOVED,	 /* by an administrator, with all registrations under it */
	ALIAS_MISPLACED, /* by weftd: another port has it as its GUID */
};

struct alias_event {
	enum alias_change change;
	const struct alias_entry *entry; /* borrowed */
	enum alias_grant grant;		 /* of the alias; for a removed alias, its last value */
};

struct event {
	enum event_kind kind;
	guid_t guid;		     /* of the end port */
	lid_t lid;		     /* its LID; of a trap, the sender's */
	const struct notice *notice; /* borrowed */
	/* The facts of its node, also if the port disappeared; NULL: unknown. Borrowed. */
	struct node_facts *facts;
	uint8_t num;	      /* its number on its node; 0 for a switch */
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

static inline void event_unread(struct event_reader *reader) /* harmless if it is not a reader */
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
