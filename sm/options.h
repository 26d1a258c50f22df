/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Options of the subnet manager; defaults are in weftd/conf_rows.c. */
#ifndef SM_OPTIONS_H
#define SM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "sm/isolate.h"
#include "store/alias.h"

/* The reaction to a port that babbles. */
enum babble_policy { BABBLE_NOTE, BABBLE_DISABLE };

/* The direction in which switches drop packets with P_Keys that the end port at a port should not
 * have. */
enum part_enforce { ENFORCE_BOTH, ENFORCE_IN, ENFORCE_OUT, ENFORCE_OFF };

/* FDR10 by the vendor's ExtendedPortInfo, with OpenSM's numbers. */
enum fdr10_mode { FDR10_NOT_USED, FDR10_ENABLE, FDR10_DISABLE };

enum { SM_ENGINES_MAX = 8, SM_ENGINE_NAME = 32, SM_GUIDS_MAX = 32 };

/* Which M_Key ports have. */
enum m_key_mode { M_KEY_NONE, M_KEY_SUBNET, M_KEY_PORT };

enum { SM_SECRETS_MAX = 8, SM_SECRET_SIZE = 32 };

struct sm_options {
	/* Identity and election */
	uint8_t priority;	 /* 0-15, higher wins */
	uint8_t master_priority; /* while MASTER, if it is higher */
	bool standby_only;	 /* never becomes MASTER */
	bool preview;		 /* no option of weftd.conf: MASTER beside all others */
	uint64_t sm_key;	 /* managers with another key are no peers; never logged */
	uint64_t allowed_sm_guids[SM_GUIDS_MAX]; /* ports of managers; unused are 0, all: any */
	unsigned poll_interval_ms; /* of the master by a STANDBY, of all others by the MASTER */
	unsigned poll_misses; /* intervals without an answer before the master counts as dead */

	/* The subnet */
	uint64_t subnet_prefix;
	uint8_t lmc;				      /* of adapter and router ports */
	bool lmc_esp0;				      /* and of enhanced ports 0 */
	uint16_t sm_lid;			      /* of the master's port; 0: its own */
	char engines[SM_ENGINES_MAX][SM_ENGINE_NAME]; /* routing chain; unused elements are empty */
	unsigned sweep_interval_s;		      /* between light sweeps; 0: none */
	unsigned readback_s;	   /* interval in which all values of devices are read; 0: never */
	unsigned grace_s;	   /* time for which an absent port keeps its registrations */
	unsigned rereg_rate;	   /* ports per second that are notified to re-register; 0: none */
	unsigned flap_hold_max_s;  /* longest time for which a flapping link is held down */
	unsigned babble_threshold; /* traps within a minute that make a port a babbling one */
	uint8_t babble_policy;	   /* enum babble_policy */
	struct isolate_options isolate;

	/* Partitions */
	uint8_t part_enforce; /* enum part_enforce */
	bool allow_both;      /* a port may be limited and full member at the same time */
	/* A file that takes P_Keys from more ports than these needs a confirmation. */
	unsigned partition_confirm_ports;
	/* The alias GUIDs that are granted to ports. */
	struct alias_range alias_guids[ALIAS_RANGES_MAX];

	/* M_Keys; neither the key nor a secret is ever logged */
	uint8_t m_key_mode;		/* enum m_key_mode */
	uint8_t m_key_protection_level; /* 0-3, chapter 14.2.4 */
	uint16_t m_key_lease_s;		/* 0: for ever */
	uint64_t m_key;			/* of the subnet; 0: derived from the first secret */
	/* Keys are derived from the first secret. Keys of the other, earlier secrets are tried. */
	uint8_t secret[SM_SECRETS_MAX][SM_SECRET_SIZE];
	unsigned num_secrets;

	/* The window */
	unsigned smp_window;   /* limit of all SMPs under way */
	bool smp_window_fixed; /* no option of weftd: the simulation compares with such a window */
	unsigned smp_per_switch, smp_per_adapter;
	unsigned smp_timeout_min_ms, smp_timeout_ms; /* of one attempt */
	unsigned smp_attempts;

	/* Port parameters, as the specification encodes them */
	uint8_t subnet_timeout; /* PortInfo:SubnetTimeOut */
	uint8_t hoq_life, leaf_hoq_life;
	uint8_t vl_stall_count, leaf_vl_stall_count;
	uint8_t switch_life_time; /* SwitchInfo:LifeTimeValue */
	uint8_t phy_errors_threshold, overrun_errors_threshold;
	uint8_t max_op_vls; /* encoded: 1=VL0, 2=VL0-1, 3=VL0-3, 4=VL0-7, 5=VL0-14 */
	/* PortInfo:LinkWidthEnabled, LinkSpeedEnabled and LinkSpeedExtEnabled; 0: left as they are
	 */
	uint8_t force_link_width, force_link_speed, force_link_speed_ext;
	uint8_t fdr10; /* enum fdr10_mode */
};

#endif
