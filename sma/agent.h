/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A software agent: the subnet management and the performance management agent of one switch,
 * adapter or router, as truthful as the specification (chapters 14.2, 14.3 and 16.1) and known
 * devices make it. (state, request) -> (state, reply, traps). It knows its own ports and what they
 * are cabled to, no fabric and no clock: whoever owns it moves the MADs, counts them in the ports'
 * counts, and tells the time. Used by the simulation in tests/sim and by weftsim. One thread.
 *
 * Who may look at an agent looks into the structs below; only the functions change them, but for
 * quirks, owner, counts, reregistrations and what an owner presets before its agent is asked
 * anything. Where to read on:
 *
 *	agent.c         a MAD in, the table of attributes, the answer out
 *	agent_device.c  birth from a config, reset and reboot
 *	agent_port.c    PortInfo: which members a Set() may change at which kind of port
 *	agent_ext.c     the vendor's ExtendedPortInfo
 *	agent_link.c    cables, training, the link state machine
 *	agent_switch.c  SwitchInfo and the two forwarding tables
 *	agent_tables.c  P_Keys, SLtoVL, VL arbitration, GUIDs
 *	agent_keys.c    which packets' P_Keys pass, and who is told of bad keys
 *	agent_m_key.c   which SMPs' M_Keys do, and the lease of the key
 *	agent_trap.c    Notices, which repeat until they are repressed
 *	agent_perf.c    the counters of ports, shown and reset
 *	personality.c   which habits real devices have, by name
 *
 * Tables are kept in their wire form, and only once they were written: NULL means as after a reset.
 */
#ifndef SMA_AGENT_H
#define SMA_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/iba.h"
#include "mad/attr.h"
#include "mad/perf.h"

struct device;
struct device_port;
struct device_traps;

/* What the owner is told; any may be NULL. Shared by many agents and borrowed: it outlives them. */
struct device_events {
	/* The agent wants this Notice sent to its SM now (it repeats until repressed): a ready
	 * LID-routed MAD of 256 bytes, borrowed; dlid is the port's MasterSMLID. port 0 is a
	 * switch's own. */
	void (*trap)(void *ctx, struct device *device, uint8_t port, lid_t dlid,
		     const uint8_t *mad);
	/* A port's logical or physical state changed, for whatever reason. */
	void (*port_changed)(void *ctx, struct device *device, uint8_t port);
	/* A Set() was applied: called after the state changed and before the reply leaves. port is
	 * the one that the Set() was about, 0 when it was about the whole node. */
	void (*set)(void *ctx, struct device *device, uint8_t port, uint16_t attr_id,
		    uint32_t attr_mod);
	/* Both ends of a cable poll: the owner calls device_port_trained() when the link has
	 * trained. NULL: at once. */
	void (*training)(void *ctx, struct device_port *port);
	/* device_next_us() has become earlier. */
	void (*due)(void *ctx, struct device *device);
	void *ctx;
};

struct device_config {
	enum node_type type;
	const char *description;
	uint8_t num_ports;
	guid_t node_guid, system_image_guid, port_guid; /* adapters: port p has port_guid + p - 1 */
	bool enhanced_port0;
	uint16_t lft_cap, mft_cap; /* 0: 49152 and 1024 */
	uint16_t pkeys,
		switch_pkeys; /* P_Keys of end ports and of switches' external ports; 0: 128, 32 */
	uint8_t mtu_cap, vl_cap; /* encoded; 0: 5 (4096) and 4 (VL0-7) */
	uint16_t width_supported, speed_supported,
		speed_ext_supported; /* PortInfo masks; 0: 4x, QDR, EDR */
	uint32_t vendor_id;
	uint16_t device_id;
};

/* How a device misbehaves, for tests; all zero is a truthful one. */
struct device_quirks {
	bool silent;			  /* the agent is dead, its links stay up and forward */
	bool garbage;			  /* the data of its answers is inverted */
	uint8_t life_time_max;		  /* SwitchInfo:LifeTimeValue is clamped to it; 0: not */
	uint8_t subnet_timeout_fixed;	  /* PortInfo:SubnetTimeOut stays so; 0: as set */
	bool no_extended_speeds, no_mkey; /* the capability is missing; M_Key members read as 0 */
	bool hides_extended_speeds;	  /* from who does not ask with the modifier's bit 31 */
	bool stuck_states;		  /* no Set() moves a port */
	bool refuses_tables;		  /* no forwarding table can be Set() */
	bool keeps_default_ports;	  /* no Set() changes those for multicast */
	bool refuses_no_port;		  /* as one of these: they have to be ports */
	bool mute_sets;			  /* no Set() is answered, as with another's M_Key */
	bool mute_ports;		  /* no Get(PortInfo) is answered */
	uint8_t keeps_p_keys;		  /* blocks, bit by bit, that no Set(P_KeyTable) changes */
	bool hides_p_keys;		  /* no P_Key table is told */
	bool strict_states;		  /* refuses to go where a port is already */
	bool clears_bit_31;    /* of the AttributeModifier of its answers about PortInfo */
	bool restless;	       /* members that no manager sets differ in each Get(PortInfo) */
	bool bare_port0;       /* after a reset enhanced port 0 is Down, with 256 bytes */
	bool wild_top;	       /* after a reset LinearFDBTop is 0xFFFF */
	bool refuses_wild_top; /* no Set(SwitchInfo) may have such a top */
	bool old_speeds;       /* refuses LinkSpeedEnabled 2, 4 and 6 */
	bool down_trains;      /* a link that is Set() Down trains again, and loses the answer */
	unsigned state_lag_us; /* from the answer to a Set(PortState) to the state; 0: before */
	unsigned service_us;   /* its own time for one SMP, for who moves MADs; 0: as others */
	unsigned service_spread_us; /* and by chance up to so much more */
	unsigned training_us;	    /* of its links, for who trains them; 0: as others */
	uint8_t bounces; /* so often a link that has come up is lost before it stays, for the same
			  */
	bool no_ext_port_info; /* the vendor's attribute is missing */
	bool keeps_fdr10;      /* no Set() of it changes the speed */
};

/* A port. Adapters and routers have 1 and up, switches also 0, which has no cable. */
struct device_port {
	struct port_info info; /* as a Get() with the extended speeds shows it */
	guid_t guid;
	struct device *device;
	struct device_port *peer;   /* at the other end of the cable, NULL: none */
	struct device_traps *traps; /* NULL: never had any */
	struct ext_port_info ext;   /* FDR10, where the device has that attribute */
	uint8_t *ext_data;	    /* the attribute as it was Set() last; NULL: all zero */
	uint8_t *p_keys;	    /* NULL: the default P_Key alone, at index 0 */
	uint8_t *guids; /* GUIDInfo from index 0, whose GUID is the port's; NULL: no other */
	uint8_t *vl_arbitration; /* a low and a high block; NULL: all zero */
	uint8_t *sl_to_vl;	 /* 8 bytes for each input port; NULL: SL n has VL n mod VLCap's */
	uint8_t num;
	bool pulled;  /* the cable is not plugged in; both ends say the same */
	uint8_t step; /* the state that it goes to at step_us; 0: to none */
	uint64_t step_us;
	uint64_t m_key_lease_us;   /* the key's protection ends then: agent_m_key.c; 0: it stays */
	uint32_t trainings;	   /* begun so far */
	uint32_t reregistrations;  /* ClientReregister commands that came; the owner resets it */
	struct port_counts counts; /* of switches' port 0, which has no link, only VL15Dropped */
};

struct device {
	const struct device_events *events;
	void *owner; /* the owner's own */
	struct device_quirks quirks;
	enum node_type type;
	uint8_t num_ports;
	uint16_t device_id, p_keys_cap;
	uint32_t vendor_id;
	guid_t node_guid, system_image_guid;
	struct node_description description;
	struct switch_info sw; /* of a switch */
	uint8_t *lft;	       /* the first lft_size LIDs' ports; those above have none */
	uint32_t lft_size;
	uint8_t *mft; /* by position, MulticastFDBCap big-endian masks each; NULL: all empty */
	uint32_t trap_tid;
	uint32_t shown; /* how often it was asked for PortInfo */
	lid_t smp_slid; /* of the SMP that device_handle() is given, where the owner tells; or 0 */
	struct device_port port[]; /* 0..num_ports */
};

/* Never NULL. Without cables; ports are Down, a switch's port 0 is Active. The config is copied. */
struct device *device_new(const struct device_config *config, const struct device_events *events);
void device_free(struct device *device); /* its cables are taken away first; NULL is harmless */

/* The port, or NULL when there is no such. Port 0 is only a switch's. */
static inline struct device_port *device_port(struct device *device, unsigned port)
{
	return port <= device->num_ports && (port || device->type == NODE_SWITCH)
		       ? &device->port[port]
		       : NULL;
}

static inline bool device_is_switch(const struct device *device)
{
	return device->type == NODE_SWITCH;
}

/* Who has a LID, an M_Key and P_Keys of its own: all but a switch's external ports. */
static inline bool device_port_is_end(const struct device_port *port)
{
	return !device_is_switch(port->device) || !port->num;
}

/* True for each of the 2^LMC LIDs of an end port that has one. */
static inline bool device_port_has_lid(const struct device_port *port, lid_t lid)
{
	return port->info.lid && lid >= port->info.lid &&
	       lid - port->info.lid < 1 << port->info.lmc;
}

/* Takes an SMP or a performance MAD that arrived through port and is for this agent (the directed
 * route is somebody else's work) and makes it the answer. False when there is none: what is no
 * request, what the agent swallows, or the agent is dead. */
bool device_handle(struct device *device, uint8_t port, uint8_t mad[MAD_SIZE]);

/* Time, for Notices, leases of M_Keys and states that lag: when device_tick() is next wanted, which
 * may be in the past; UINT64_MAX: never. */
uint64_t device_next_us(const struct device *device);
void device_tick(struct device *device, uint64_t now_us);

/* What the port's link can do where it is not what the config says, in PortInfo's bits, enabled at
 * once; before it is cabled. */
void device_port_speeds(struct device_port *port, uint8_t width, uint8_t speed, uint8_t speed_ext);

/* The port can FDR10 and is enabled for it, which agrees on it with the far end like on other
 * speeds; before it is cabled. */
void device_port_fdr10(struct device_port *port);

/* Cables. Both ports must be free and not 0. A link whose ends are both enabled trains. */
void device_cable(struct device_port *a, struct device_port *b);
void device_uncable(struct device_port *port);		 /* harmless when there is none */
void device_pull(struct device_port *port, bool pulled); /* out of its socket, or back */
/* The training that events->training() announced is over. Nothing when it was interrupted or when
 * the ends have no speed and width in common: then they go on polling. */
void device_port_trained(struct device_port *port);

/* Links drop and train again; what is not in ROM is as after device_new(): LIDs, M_Keys, tables. */
void device_reboot(struct device *device);

/* What programs on the node change, each told by a trap where an SM is known. */
void device_set_issm(struct device_port *port, bool on);
void device_set_description(struct device *device, const char *text);
void device_set_system_image_guid(struct device *device, guid_t guid);
/* Sends the trap of this number without a reason. A switch's port 0 sends also what is about
 * another of its ports: 129-131, 259. -EINVAL: the agent has no such trap, or not about that port.
 */
int device_raise(struct device_port *port, uint16_t trap_number);

/* Data can leave by this port: both ends ACTIVE, with equal NeighborMTU and OperationalVLs. */
bool device_port_passes(const struct device_port *port);
bool device_port_matches(const struct device_port *port); /* the latter alone; needs a cable */

/* Keys. Whoever moves packets asks these for all but VL15, which has no P_Keys; what does not pass
 * is dropped, its link's error is the mover's to count, and the port is told what it was. */
struct device_packet {
	lid_t slid, dlid;
	uint8_t sl;
	pkey_t p_key;
	uint32_t q_key, src_qp, dst_qp;
	const uint8_t *sgid, *dgid; /* NULL: without a GRH */
};

/* Where in an end port's table is the first P_Key that goes with that of a packet (10.9.3), which
 * is also the index that the receiver is told; -EACCES. */
int device_p_key_match(const struct device_port *port, pkey_t p_key);
/* May a packet with this P_Key pass a switch's external port, into the switch or out of it? */
bool device_port_admits(const struct device_port *port, pkey_t p_key, bool inbound);
/* The packet was refused: an end port counts the violation and sends trap 257, or 258 where it was
 * for its Q_Key; for an external port its switch sends 259. */
void device_bad_p_key(struct device_port *port, const struct device_packet *packet);
void device_bad_q_key(struct device_port *port, const struct device_packet *packet);

/* Where a switch sends what is for a unicast LID: as programmed and within LinearFDBTop. */
static inline uint8_t device_lft_port(const struct device *device, lid_t lid)
{
	return lid <= device->sw.linear_fdb_top && lid < device->lft_size ? device->lft[lid]
									  : LFT_NO_PORT;
}

/* Tables as they count now, defaults included. Indexes beyond the table give 0 or false. */
bool device_mft_has(const struct device *device, lid_t mlid, uint8_t port);
/* Would it send this MLID to a port, wherever it came in? */
bool device_mft_spreads(const struct device *device, lid_t mlid, uint8_t port);
/* Does a switch send what came in by one port (0: it sends it itself) and is for a multicast LID
 * out of another one, or to itself (0)? */
bool device_mft_forwards(const struct device *device, lid_t mlid, uint8_t in, uint8_t out);
unsigned device_p_key_cap(const struct device_port *port);
pkey_t device_p_key(const struct device_port *port, unsigned index);
guid_t device_guid(const struct device_port *port, unsigned index);
uint8_t device_sl_to_vl(const struct device *device, uint8_t in_port, uint8_t out_port, uint8_t sl);

#endif
