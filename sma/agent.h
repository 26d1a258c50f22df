/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A software agent: the subnet management and the performance management agent of a switch, adapter
 * or router, as in the specification (chapters 14.2, 14.3 and 16.1) and in known devices. (state,
 * request) -> (state, reply, traps). It knows its own ports and the far ends of their cables, but
 * no fabric and no clock. Its owner moves the MADs, counts them in the ports' counts, and supplies
 * the time. Used by the simulation in tests/sim and by weftsim. One thread.
 *
 * Other code may read the structs below; only the functions change them. Exceptions are quirks,
 * owner, counts, reregistrations, and members that an owner presets before the first request. The
 * files:
 *
 *	agent.c         a MAD in, the table of attributes, the answer out
 *	agent_device.c  creation from a config, reset and reboot
 *	agent_port.c    PortInfo: which members a Set() may change at which kind of port
 *	agent_ext.c     the vendor's ExtendedPortInfo
 *	agent_link.c    cables, training, the link state machine
 *	agent_switch.c  SwitchInfo and the two forwarding tables
 *	agent_tables.c  P_Keys, SLtoVL, VL arbitration, GUIDs
 *	agent_keys.c    P_Key and Q_Key checks of packets, and their traps
 *	agent_m_key.c   M_Key checks of SMPs, and the lease of the key
 *	agent_trap.c    Notices, which repeat until they are repressed
 *	agent_perf.c    the counters of ports, shown and reset
 *	personality.c   which habits real devices have, by name
 *
 * Tables are kept in their wire form, and only after a write: NULL means as after a reset.
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

/* Callbacks of the owner; any may be NULL. Many agents share them; borrowed: they must outlive the
 * agents. */
struct device_events {
	/* The agent sends this Notice to its SM now (it repeats until repressed): a complete
	 * LID-routed MAD of 256 bytes, borrowed. dlid is the port's MasterSMLID. port 0 is that of
	 * a switch itself. */
	void (*trap)(void *ctx, struct device *device, uint8_t port, lid_t dlid,
		     const uint8_t *mad);
	/* A port's logical or physical state changed, for any reason. */
	void (*port_changed)(void *ctx, struct device *device, uint8_t port);
	/* A Set() was applied: called after the state changed and before the reply leaves. port is
	 * the port that the Set() changed, 0 if it changed the whole node. */
	void (*set)(void *ctx, struct device *device, uint8_t port, uint16_t attr_id,
		    uint32_t attr_mod);
	/* Both ends of a cable poll: the owner calls device_port_trained() when the training ends.
	 * NULL: at once. */
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

/* Deviations from the specification, for tests; all zero: none. */
struct device_quirks {
	bool silent;	       /* the agent is dead, its links stay up and forward */
	bool garbage;	       /* the data of its answers are inverted */
	uint8_t life_time_max; /* SwitchInfo:LifeTimeValue is clamped to it; 0: not */
	/* The constant value of PortInfo:SubnetTimeOut; 0: none. */
	uint8_t subnet_timeout_fixed;
	bool no_extended_speeds, no_mkey; /* the capability is missing; M_Key members read as 0 */
	bool hides_extended_speeds;	  /* from requests without the modifier's bit 31 */
	bool stuck_states;		  /* no Set() moves a port */
	bool refuses_tables;		  /* no forwarding table can be Set() */
	bool keeps_default_ports;	  /* no Set() changes the default multicast ports */
	bool refuses_no_port;		  /* as a default multicast port: each must be a port */
	bool mute_sets;			  /* no Set() is answered, as with a wrong M_Key */
	bool mute_ports;		  /* no Get(PortInfo) is answered */
	uint8_t keeps_p_keys;		  /* a bit for each block that no Set(P_KeyTable) changes */
	bool hides_p_keys;		  /* does not answer Get(P_KeyTable) */
	bool strict_states;		  /* refuses the state in which a port already is */
	bool clears_bit_31;    /* of the AttributeModifier of its answers about PortInfo */
	bool restless;	       /* members that no manager sets differ in each Get(PortInfo) */
	bool bare_port0;       /* after a reset enhanced port 0 is Down, with 256 bytes */
	bool wild_top;	       /* after a reset LinearFDBTop is 0xFFFF */
	bool refuses_wild_top; /* no Set(SwitchInfo) may have such a top */
	bool old_speeds;       /* refuses LinkSpeedEnabled 2, 4 and 6 */
	bool down_trains;      /* a link that is Set() Down trains again, and loses the answer */
	/* From the answer to a Set(PortState) to the new state; 0: the state changes first. */
	unsigned state_lag_us;
	unsigned service_us;	    /* its own time for an SMP, for the world; 0: the default */
	unsigned service_spread_us; /* and a random additional time up to this */
	unsigned training_us;	    /* of its links, for the world; 0: the default */
	uint8_t bounces;       /* so many times a new link is lost before it stays, for the world */
	bool no_ext_port_info; /* the vendor's attribute is missing */
	bool keeps_fdr10;      /* no Set() of it changes the speed */
};

/* A port. Adapters and routers have 1 and up, switches also 0, which has no cable. */
struct device_port {
	struct port_info info; /* as a Get() with the extended speeds returns it */
	guid_t guid;
	struct device *device;
	struct device_port *peer;   /* at the other end of the cable; NULL: no cable */
	struct device_traps *traps; /* NULL: there was no trap */
	struct ext_port_info ext;   /* FDR10, if the device has that attribute */
	/* The data of the last Set() of the attribute; NULL: all zero. */
	uint8_t *ext_data;
	uint8_t *p_keys; /* NULL: only the default P_Key, at index 0 */
	uint8_t *guids;	 /* GUIDInfo from index 0, which is the port's GUID; NULL: no other */
	uint8_t *vl_arbitration; /* a low and a high block; NULL: all zero */
	uint8_t *sl_to_vl;	 /* 8 bytes for each input port; NULL: SL n has VL n mod VLCap's */
	uint8_t num;
	bool pulled;  /* the cable is not plugged in; equal at both ends */
	uint8_t step; /* the state that it enters at step_us; 0: none */
	uint64_t step_us;
	/* The end of the key's protection: agent_m_key.c; 0: it has no end. */
	uint64_t m_key_lease_us;
	uint32_t trainings;	  /* that have begun */
	uint32_t reregistrations; /* ClientReregister commands received; the owner resets it */
	uint32_t reregistrations_ever;
	struct port_counts counts; /* a switch's port 0 has no link, and only VL15Dropped */
};

struct device {
	const struct device_events *events;
	void *owner; /* for the owner's use */
	struct device_quirks quirks;
	enum node_type type;
	uint8_t num_ports;
	bool off; /* without power: no link trains */
	uint16_t device_id, p_keys_cap;
	uint32_t vendor_id;
	guid_t node_guid, system_image_guid;
	struct node_description description;
	struct switch_info sw; /* of a switch */
	uint8_t *lft;	       /* the ports of the first lft_size LIDs; other LIDs have none */
	uint32_t lft_size;
	uint8_t *mft; /* by position, MulticastFDBCap big-endian masks each; NULL: all empty */
	uint32_t trap_tid;
	uint32_t shown; /* number of Get(PortInfo) */
	/* Source LID of the SMP that device_handle() gets, if the owner supplies it; or 0. */
	lid_t smp_slid;
	struct device_port port[]; /* 0..num_ports */
};

/* Never NULL. Without cables; ports are Down, a switch's port 0 is Active. The config is copied. */
struct device *device_new(const struct device_config *config, const struct device_events *events);
void device_free(struct device *device); /* removes its cables first; NULL is harmless */

/* The port, or NULL if it does not exist. Only switches have port 0. */
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

/* Whether it has a LID, an M_Key and P_Keys of its own: all ports but a switch's external ports. */
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

/* Handles an SMP or a performance MAD that arrived through port for this agent (the caller routes
 * directed SMPs), and replaces it by the answer. False if there is no answer: the MAD is no
 * request, the agent drops it, or the agent is silent. */
bool device_handle(struct device *device, uint8_t port, uint8_t mad[MAD_SIZE]);

/* The time at which device_tick() is needed next, for Notices, leases of M_Keys and delayed states.
 * It may be in the past; UINT64_MAX: never. */
uint64_t device_next_us(const struct device *device);
/* Does all work that is due at now_us. The clock is the caller's, but never goes back. */
void device_tick(struct device *device, uint64_t now_us);

/* Sets the supported rates of the port, in PortInfo's bits, if they differ from the config's, and
 * enables them. Call it before the port is cabled. */
void device_port_speeds(struct device_port *port, uint8_t width, uint8_t speed, uint8_t speed_ext);

/* The port supports FDR10 and enables it; both ends negotiate it as other speeds. Call it before
 * the port is cabled. */
void device_port_fdr10(struct device_port *port);

/* Cables two ports, which must be free and not 0. A link trains if both ends are enabled. */
void device_cable(struct device_port *a, struct device_port *b);
void device_uncable(struct device_port *port);		 /* harmless if there is no cable */
void device_pull(struct device_port *port, bool pulled); /* unplugs or plugs in the cable */
/* The training that events->training() announced ends. No effect if it was interrupted; if the ends
 * have no speed and width in common, they continue to poll. */
void device_port_trained(struct device_port *port);

/* Links go down and train again. State that is not in ROM is as after device_new(): LIDs, M_Keys,
 * tables. */
void device_reboot(struct device *device);
/* Switches the device off: all its ports lose their links, and none trains. Or on. Its state is as
 * after a reboot. */
void device_power(struct device *device, bool on);

/* The bits of PortInfo:CapabilityMask that programs and drivers of the node may set: IsSM,
 * IsCommunicationManagementSupported, IsSNMPTunnelingSupported, IsReinitSupported,
 * IsDeviceManagementSupported, IsVendorClassSupported, IsBootManagementSupported. */
#define CAPS_OF_HOST (CAP_IS_SM | UINT32_C(0x9F) << 16)

/* Changes those bits of CAPS_OF_HOST; a bit in both is cleared. Each change of these four causes a
 * trap if an SM is known. */
void device_set_capabilities(struct device_port *port, uint32_t set, uint32_t clear);
/* IsSM, as a program on the node sets it. */
void device_set_issm(struct device_port *port, bool on);
/* Sets the NodeDescription; cut to NODE_DESC_SIZE bytes. */
void device_set_description(struct device *device, const char *text);
/* Sets the SystemImageGUID of the node. */
void device_set_system_image_guid(struct device *device, guid_t guid);
/* Sends the trap of this number without a cause. A switch's port 0 also sends traps about its other
 * ports: 129-131, 259. -EINVAL: the agent has no such trap, or not about that port. */
int device_raise(struct device_port *port, uint16_t trap_number);

/* Whether data can leave by this port: both ends ACTIVE, with equal NeighborMTU and
 * OperationalVLs. */
bool device_port_passes(const struct device_port *port);
/* Only NeighborMTU and OperationalVLs; needs a cable. */
bool device_port_matches(const struct device_port *port);

/* A packet for key checks. The code that moves packets makes them for all packets but those on
 * VL15, which have no P_Keys. It drops a packet that fails and counts the error of the link; the
 * port gets the details. */
struct device_packet {
	lid_t slid, dlid;
	uint8_t sl;
	pkey_t p_key;
	uint32_t q_key, src_qp, dst_qp;
	const uint8_t *sgid, *dgid; /* NULL: no GRH */
};

/* The index of the first P_Key in an end port's table that matches that of a packet (10.9.3), which
 * the receiver also gets; -EACCES: none. */
int device_p_key_match(const struct device_port *port, pkey_t p_key);
/* Whether a packet with this P_Key may pass a switch's external port, into the switch or out of
 * it. */
bool device_port_admits(const struct device_port *port, pkey_t p_key, bool inbound);
/* The packet was refused for its P_Key: an end port counts the violation and sends trap 257; for an
 * external port its switch sends 259. */
void device_bad_p_key(struct device_port *port, const struct device_packet *packet);
/* The same for its Q_Key: an end port sends trap 258. */
void device_bad_q_key(struct device_port *port, const struct device_packet *packet);

/* The port by which a switch sends to a unicast LID, within LinearFDBTop; LFT_NO_PORT: none. */
static inline uint8_t device_lft_port(const struct device *device, lid_t lid)
{
	return lid <= device->sw.linear_fdb_top && lid < device->lft_size ? device->lft[lid]
									  : LFT_NO_PORT;
}

/* Whether the MFT has port for mlid. These functions show tables as they are in force, with
 * defaults; an index beyond a table gives 0 or false. */
bool device_mft_has(const struct device *device, lid_t mlid, uint8_t port);
/* Whether the switch sends this MLID out of port, for any input port. */
bool device_mft_spreads(const struct device *device, lid_t mlid, uint8_t port);
/* Whether a switch sends a multicast packet from port in (0: its own) out of port out, or to itself
 * (0). */
bool device_mft_forwards(const struct device *device, lid_t mlid, uint8_t in, uint8_t out);
/* Number of entries of the port's P_Key table. */
unsigned device_p_key_cap(const struct device_port *port);
/* The entry at index; 0: none. */
pkey_t device_p_key(const struct device_port *port, unsigned index);
/* The entry at index of GUIDInfo; 0: none. */
guid_t device_guid(const struct device_port *port, unsigned index);
/* The VL for an SL from in_port to out_port; 0 for values out of range. An adapter ignores
 * in_port. */
uint8_t device_sl_to_vl(const struct device *device, uint8_t in_port, uint8_t out_port, uint8_t sl);

#endif
