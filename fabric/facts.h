/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The reports of a node, as one counted block: NodeInfo, NodeDescription, SwitchInfo and the
 * PortInfo of each port. The live model has the newest block of each node; a snapshot takes a
 * reference to it, so that freezing copies no reports. A shared block is never written: facts_own()
 * first gives the live model a copy of its own. References are counted on the loop alone; any
 * thread may read a block while a reference is held.
 */
#ifndef FABRIC_FACTS_H
#define FABRIC_FACTS_H

#include "mad/attr.h"

/* The P_Key table of an end port (adapter, router, switch port 0), or of a switch's external port,
 * which enforces it. */
struct pkey_list {
	unsigned refs;
	uint16_t count; /* slots, a multiple of PKEY_BLOCK_KEYS */
	pkey_t key[];	/* 0: empty slot */
};

/* All slots empty; count is rounded up to whole blocks, at most 2,047 of them. */
struct pkey_list *pkey_list_new(uint16_t count);
struct pkey_list *pkey_list_ref(struct pkey_list *list); /* NULL is passed through */
void pkey_list_unref(struct pkey_list *list);		 /* NULL is harmless */
/* The index of the key of this partition, with any membership; -1: it is not there. If the key of
 * the default partition is not there, or list is NULL because the table was not read, index 0 is
 * assumed to have it. A partition with indx0 can move it away from index 0. */
int pkey_list_index(const struct pkey_list *list, pkey_t p_key);

/* Tables of a port that no bring-up needs: they exist only if they were read or written. They are
 * filled before they are shared. */
enum { VLARB_BLOCKS = 4 };
struct port_tables {
	unsigned refs;
	uint16_t num_guids; /* GUIDInfo, a multiple of GUID_BLOCK_GUIDS; 0: not known */
	guid_t *guid;
	uint16_t num_sl_to_vl; /* 0: not known; 1: the same from each port; else by input port */
	struct sl_to_vl_table *sl_to_vl; /* towards this port */
	uint8_t vl_arbitration_known;	 /* bit i: block i + 1 */
	struct vl_arbitration_table vl_arbitration[VLARB_BLOCKS];
};

struct port_tables *port_tables_new(uint16_t num_guids, uint16_t num_sl_to_vl); /* all 0 */
struct port_tables *port_tables_ref(struct port_tables *tables); /* NULL is passed through */
void port_tables_unref(struct port_tables *tables);		 /* NULL is harmless */

struct port_facts {
	bool known;  /* info was read */
	guid_t guid; /* PortGUID; of switches only port 0 has one */
	struct port_info info;
	bool ext_known;		    /* ext was read; else it is all 0 */
	struct ext_port_info ext;   /* FDR10, for devices that have it */
	struct pkey_list *pkeys;    /* if read; of external ports only where it is needed */
	struct port_tables *tables; /* or NULL */
};

struct node_facts {
	unsigned refs;
	struct node_info info; /* of the port that was read last: PortGUID and LocalPortNum vary */
	char reported[NODE_DESC_SIZE + 1]; /* NodeDescription, printable */
	/* NodeDescription, or the administrator's name for the node. */
	char description[NODE_DESC_SIZE + 1];
	struct switch_info sw;	  /* switches only */
	struct port_facts port[]; /* 0 .. info.num_ports */
};

/* Ports for info->num_ports and port 0, all unknown. One reference. */
struct node_facts *facts_new(const struct node_info *info);
struct node_facts *facts_ref(struct node_facts *facts); /* NULL is passed through */
void facts_unref(struct node_facts *facts);		/* NULL is harmless */
/* Makes *facts the only reference to its block, by a copy if it is shared, and returns it. */
struct node_facts *facts_own(struct node_facts **facts);

/* Whether the values are valid for a device. */
static inline bool node_info_is_plausible(const struct node_info *info)
{
	return info->node_guid && info->node_type >= NODE_CA && info->node_type <= NODE_ROUTER &&
	       info->num_ports && info->num_ports <= PORT_MAX &&
	       info->local_port_num <= info->num_ports && info->local_port_num;
}

/* Whether two reports with one GUID can be of one device. */
static inline bool node_info_same_device(const struct node_info *a, const struct node_info *b)
{
	return a->node_type == b->node_type && a->num_ports == b->num_ports &&
	       a->system_image_guid == b->system_image_guid && a->device_id == b->device_id &&
	       a->vendor_id == b->vendor_id;
}

#endif
