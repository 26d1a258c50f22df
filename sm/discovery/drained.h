/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Drained nodes and ports. A drained target is a node or a port: routes avoid it, then the ports
 * that lead to it are disabled, as weftctl port disable does. These ports are the places of the
 * target. The places of a switch are the ports of its neighbours, because weftd could not reach the
 * switch to enable its own ports again. Each place and each drained node is a record of the
 * registry (struct drained_entry). So the state survives restarts of the manager and of the
 * switches, and a failover to a standby that copies these records (ha/copies.h).
 *
 * drained_mark() copies the records to the model: port->program.drained, switch_state.drained. A
 * freeze leaves out drained switches, and drained cables between switches.
 *
 * Implemented in drained.c (records, marks), drained_judge.c (places and losses) and drained_json.c
 * (status). Loop thread only.
 */
#ifndef SM_DISCOVERY_DRAINED_H
#define SM_DISCOVERY_DRAINED_H

#include "fabric/fabric.h"
#include "lib/control.h"
#include "lib/map.h"
#include "store/registry.h"

enum drained_step {
	DRAINED_MARKED,	  /* routes may still use the port */
	DRAINED_CLEAR,	  /* no table of its switch uses it: it can be disabled */
	DRAINED_ISOLATED, /* its link was seen disabled */
};

/* A place in the model. */
struct drained_place {
	struct drained_entry entry; /* a copy of the record */
	enum drained_step step;
	uint64_t marked_us; /* first end of a sweep as DRAINED_MARKED, by the loop's clock; 0: none
			     */
	uint64_t clear_us;  /* time of DRAINED_CLEAR */
	size_t target;	    /* index in targets */
	size_t next;	    /* index of the next place of this target + 1; 0: no more */
};

struct drained_target {
	struct drained_entry entry; /* a copy of its first record */
	/* Other paths were lost after the drain was judged. Ports that are not down yet stay up,
	 * and are not marked, until there is another path again. */
	bool held;
	bool is_new;		  /* no drained_mark() before had it */
	bool untold;		  /* held from the beginning; not logged yet */
	bool cuts_off;		  /* drained_cut_off() found a switch at the last sweep */
	size_t first;		  /* index of a place + 1 */
	unsigned ports, isolated; /* drained_tally() */
	enum drained_step lowest; /* of its ports */
};

struct drained {
	struct drained_place *places;
	size_t count;
	struct drained_target *targets;
	size_t num_targets;
	/* The index of a target + 1, and of a place + 1, by a hash of its identifying members. */
	struct map index, place_index;
};

/* A walk over the records in force, without those of ended drains (ending). Returns NULL at the
 * end. index: -1, or the index of the walk that drained_at() or drained_find() began. */
const struct drained_entry *drained_first(const struct registry *registry);
const struct drained_entry *drained_next(const struct registry *registry, int index,
					 const struct drained_entry *entry);
/* The first record that drains this port of a switch; NULL: none. */
const struct drained_entry *drained_at(const struct registry *registry, guid_t node_guid,
				       uint8_t port);
/* The same. If this port is the target and the other end of its cable is disabled: the record of
 * that end. */
const struct drained_entry *drained_of_port(const struct registry *registry, guid_t node_guid,
					    uint8_t port);
/* Whether there is a record at this place. */
bool port_is_drained(const struct registry *registry, guid_t node_guid, uint8_t port);
/* A hash of place and target; whether two records have the same place and target. */
uint64_t drained_place_key(const struct drained_entry *entry);
bool drained_same_place(const struct drained_entry *a, const struct drained_entry *b);
/* The first record of a target: a node (port 0) or a port; NULL: none. drained_next() with the
 * index DRAINED_BY_TARGET returns the next record. */
const struct drained_entry *drained_find(const struct registry *registry, guid_t node_guid,
					 uint8_t port);
/* Whether the manager's own path passes this target, so that it is not isolated. */
bool drained_is_own(const struct fabric *fabric, const struct drained_entry *entry);

/* Brings the marks of the model up to date with the records. extend: also adds records for new
 * cables of drained nodes. fabric->topology rises if routes are affected. */
void drained_mark(struct drained *drained, struct fabric *fabric, struct registry *registry,
		  bool extend);
/* The target of a record; NULL: drained_mark() did not see it, or it is the manager's own path. */
struct drained_target *drained_target_of(const struct drained *drained,
					 const struct drained_entry *entry);
/* Counts the places of each target, after steps have changed. */
void drained_tally(struct drained *drained);
/* Removes all marks, because this manager is not MASTER, and frees the list. */
void drained_unmark(struct drained *drained, struct fabric *fabric);
/* The port of a place; NULL: it is not in the fabric. */
struct port *drained_port(const struct fabric *fabric, const struct drained_entry *entry);
/* Whether the link of a port is down as weftd requested. Some ports never show Disabled. */
bool drained_is_down(const struct port *port);
/* Requests that the links of clear places are taken down. Called before programming. now_us: time
 * of the loop's clock; packets of old routes get settle_us to pass. */
void drained_apply(const struct drained *drained, const struct fabric *fabric, uint64_t now_us,
		   uint64_t settle_us);

/* The losses that the drain of a target would cause. */
struct drained_losses {
	unsigned ports; /* of adapters that lose their path to the manager's part of the fabric */
	uint64_t pairs; /* pairs of ports of adapters */
};

/* The places that isolate a target: a node (port 0), or one of its ports. Returns their number, and
 * an array for free(); only the members node_guid and port are set. For a port between switches,
 * the place is the end that the manager can still reach. 0: there is no place. */
size_t drained_places(const struct fabric *fabric, const struct registry *registry,
		      const struct node *node, uint8_t port, struct drained_entry **out);
/* The losses if these ports are disabled in addition. If the target is an adapter, its own ports do
 * not count. */
struct drained_losses drained_judge(const struct fabric *fabric, const struct registry *registry,
				    const struct node *target, const struct drained_entry *places,
				    size_t count);

/* "would cut off 2 ports of adapters, and 12 pairs of ports would lose their path", for free(). */
char *drained_losses_text(const struct drained_losses *losses);

/* The same as drained_judge() for several targets at once; NULL among targets is ignored. A place
 * may occur twice. */
struct drained_losses drained_judge_all(const struct fabric *fabric,
					const struct registry *registry,
					const struct node *const *targets, size_t num_targets,
					const struct drained_entry *places, size_t count);

/* The losses by a target that is drained already, as if it was not drained yet. */
struct drained_losses drained_judge_again(const struct drained *drained,
					  const struct fabric *fabric,
					  const struct registry *registry, size_t target);

/* Walks over the places of a target. place NULL: begins. Returns NULL at the end. */
const struct drained_place *drained_next_place(const struct drained *drained, size_t target,
					       const struct drained_place *place);
/* The NodeGUID of a switch that the manager no longer reaches, and that has or had a cable to this
 * target: its disabled port may be the cause. 0: there is no such switch. Hosts do not count. */
guid_t drained_cut_off(const struct drained *drained, const struct fabric *fabric,
		       const struct registry *registry, size_t target);

/* The number of places that the policy, or commands, drained. */
unsigned drained_count(const struct registry *registry, bool by_policy);
/* The numbers of places, the ports that are down because of them, the first target of the policy,
 * and the first switch of drained_cut_off(), for weftctl status; a new reference. */
json_t *drained_ports_json(const struct drained *drained, const struct fabric *fabric,
			   const struct registry *registry);
/* Whether a link is down because one of its ends is drained, or belongs to a drained switch. */
bool drained_explains(const struct registry *registry, const struct lost_link *lost);
/* An array of the targets for weftctl status; a new reference. */
json_t *drained_json(const struct drained *drained, const struct fabric *fabric,
		     const struct registry *registry);

#endif
