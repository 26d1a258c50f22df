/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Inside a world: what sim/world.c, which builds and changes it, sim/client.c, where programs are,
 * sim/packet.c and sim/arrival.c, which move and end MADs, and sim/multicast.c share. A packet
 * belongs to exactly one of: the event that will move it, the queue of an agent, the list of spare
 * ones.
 */
#ifndef SIM_WORLD_PARTS_H
#define SIM_WORLD_PARTS_H

#include "lib/list.h"
#include "lib/map.h"
#include "sim/events.h"
#include "sim/world.h"

/* A multicast packet in all its copies: where it came to a switch. */
struct flight {
	struct list link;
	unsigned copies;
	struct map entered; /* ports, by their address */
};

struct packet {
	struct packet *next;	/* in a queue or among the spare ones */
	struct device_port *at; /* the port that it came to, or begins at */
	bool begins;		/* it is where it goes onto its way by LID */
	bool is_smp;		/* VL15: needs no more than physical links */
	bool outruns; /* an answer: it leaves before the Set() that it is about takes its link down
		       */
	bool came;    /* over a link to where it is now */
	bool by_smi;  /* it came here on its directed route, so the SMI sends it on */
	struct device_port *out; /* by which it leaves when the SMI has served it */
	unsigned service_us;	 /* what the SMI needs for it */
	void (*served)(struct world *world, struct packet *packet);
	lid_t slid, dlid; /* permissive while its way is a directed route */
	uint8_t sl;
	uint16_t pkey_index; /* of who sent it, and then of who has it */
	pkey_t p_key;	     /* of a GMP */
	uint32_t q_key;
	unsigned hops;	       /* switches whose table it went through */
	struct flight *flight; /* NULL: it was not multiplied yet */
	bool has_grh;
	struct mad_grh grh;
	uint8_t mad[MAD_SIZE];
};

/* A device in the world; device->owner. */
struct world_node {
	struct world *world;
	struct device *device;
	const char *id;
	struct list clients;
	struct world_faults *faults; /* its own; NULL: those of the world */
	uint64_t tick_ns;	     /* for when device_tick() is planned; UINT64_MAX: not */
	uint64_t smps;		     /* answered */
	/* VL15: the SMI works on one SMP, and these wait. */
	bool busy;
	unsigned waiting;
	struct packet *first, *last;
};

struct world_client {
	struct list link;
	struct world *world;
	struct device_port *port;
	void (*received)(void *ctx, const struct mad_addr *from, const uint8_t *mad, size_t size);
	void *ctx;
	bool hears_all;
	uint32_t q_key;	  /* of what it sends to QP1 */
	uint64_t free_ns; /* when its port has sent what it has been given */
	bool is_sm, gone; /* gone: detached, and freed when no event is being worked on */
};

struct packets; /* a slab of them */

struct world {
	struct world_options options;
	struct world_faults faults;
	struct world_stats stats;
	struct device_events device_events;
	struct events events;
	uint64_t now_ns;
	uint64_t random;
	const struct device_port *eater; /* drops what would leave by it */
	bool building;			 /* links train at once */
	bool clients_gone;		 /* some are to be freed */
	unsigned num_switches;
	size_t count;
	struct world_node *nodes;
	struct device **devices; /* in the order of the net */
	struct map by_guid;
	struct arena *names;
	struct packet *spare;
	struct packets *slabs;
	struct list flights;
	const uint8_t *serving; /* the MAD that an agent works on */
	void (*on_set)(void *ctx, struct device *device, uint8_t port, uint16_t attr_id,
		       uint32_t attr_mod);
	void *on_set_ctx;
	void (*on_port)(void *ctx, struct device *device, uint8_t port);
	void *on_port_ctx;
};

static inline struct world_node *world_node_of(const struct device *device)
{
	return device->owner;
}

/* splitmix64, which any seed suits: the only randomness of a world. */
static inline uint64_t world_random(struct world *world)
{
	uint64_t z = world->random += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

/* The port that a LID, an agent's notices and programs of this node belong to. */
static inline struct device_port *world_end_port(struct device_port *at)
{
	return device_is_switch(at->device) ? &at->device->port[0] : at;
}

static inline bool port_link_is_up(const struct device_port *port)
{
	return port->peer && port->info.port_physical_state == PHYS_LINK_UP;
}

static inline bool packet_is_multicast(const struct packet *packet)
{
	return packet->dlid >= LID_MULTICAST_MIN && packet->dlid <= LID_MULTICAST_MAX;
}

/* All zero but for the MAD, which is not cleared. */
struct packet *packet_new(struct world *world);
struct packet *packet_copy(struct world *world, const struct packet *packet);
void packet_free(struct world *world, struct packet *packet);
void packets_done(struct world *world); /* also those that are still on their way */
void packet_drop(struct world *world, struct packet *packet, uint64_t *counter);
/* What the packet shows to who checks keys; borrows its GIDs. */
struct device_packet packet_keys(const struct packet *packet);
/* The packet begins its way at its port now, or as an event at at_ns. */
void packet_start(struct world *world, struct packet *packet);
void packet_start_at(struct world *world, struct packet *packet, uint64_t at_ns);

/* What the SMI held back leaves by packet->out. */
void packet_pass_on(struct world *world, struct packet *packet);

/* The SMI of the node where the SMP is works on it for service_us, after those that wait there, and
 * gives it to served(); or has no room for it. */
void smi_give(struct world *world, struct packet *packet, unsigned service_us,
	      void (*served)(struct world *world, struct packet *packet));

/* The packet has come to where it goes no further by itself. */
void packet_arrive(struct world *world, struct packet *packet);

/* A multicast packet came to the switch where it is; false when another copy of it, or itself, was
 * there before by the same port. */
bool flight_enter(struct world *world, struct packet *packet);
void flight_leave(struct packet *packet); /* the packet ends, or becomes another's answer */
void flights_done(struct world *world);

/* Frees those that were detached; not from within received(). */
void clients_free_gone(struct world *world);

/* By which port a packet to dlid leaves; -EHOSTUNREACH, or 0 when the switch itself is meant. */
int switch_out_port(const struct device *device, lid_t dlid);

#endif
