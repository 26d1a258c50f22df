/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The M_Key of an SMP. The live model knows the key of a port that has shown or accepted it. For
 * other ports the source (sm/partition/m_keys.h) lists the possible keys, the most likely first,
 * and the attempts of a request try one after the other. A port whose key is 0 answers to any key,
 * and a protected port drops requests with a wrong key. Loop thread only.
 */
#ifndef FABRIC_M_KEY_H
#define FABRIC_M_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "include/iba.h"

struct agent;
struct fabric;
struct port;
struct port_info;

enum { M_KEYS_MAX = 16 };

/* No key twice; keys beyond the limit are left out. */
struct m_key_list {
	unsigned count;
	uint64_t key[M_KEYS_MAX];
};
/* Appends a key, unless the list has it or is full. */
void m_key_list_add(struct m_key_list *list, uint64_t key);

/* Supplies keys for ports that have not shown theirs. */
struct m_key_source {
	/* Appends the possible keys of the port. */
	void (*of_port)(void *ctx, guid_t port_guid, struct m_key_list *list);
	/* The key to try in this turn for the unknown device behind a cable. */
	uint64_t (*beyond)(void *ctx, const struct port *from, unsigned turn);
	void *ctx;
};

/* In an agent: the state of its end port's key. All zero: unknown. */
struct m_key_have {
	uint64_t key;  /* assumed */
	uint64_t next; /* changing: the new key of a Set() under way */
	bool known;    /* the port has shown or accepted key; else it is only the first to try */
	bool changing;
};

/* The key of an SMP, for window_target.key. */
uint64_t agent_m_key(const struct agent *agent, unsigned attempt);
/* The same if a time-out may mean that the port has another key now: the first turn has the known
 * key, later turns also have the keys of the source. */
uint64_t agent_m_key_doubted(const struct agent *agent, unsigned turn);
/* Whether a request with key to this end port used a possible key: any key if the port has shown
 * that it has none, or if its key is unknown. */
bool agent_m_key_fits(const struct agent *agent, uint64_t key);
/* The key for an SMP to the unknown device behind the cable at from, for this attempt. */
uint64_t m_key_beyond(const struct fabric *fabric, const struct port *from, unsigned attempt);

/* A PortInfo of the end port shows its key; also a hidden key is a hint. */
void agent_m_key_shown(struct agent *agent, const struct port_info *info);
/* A Set(PortInfo) with this new key will be sent. */
void agent_m_key_changes(struct agent *agent, uint64_t key);
/* That Set() was refused with a status. */
void agent_m_key_refused(struct agent *agent);
/* That Set() was acknowledged; held is the PortInfo of the answer. */
void agent_m_key_taken(struct agent *agent, uint64_t key, const struct port_info *held);
/* The port answered to this key. */
void agent_m_key_worked(struct agent *agent, uint64_t key);
/* The port gave no answer: other keys are tried, too. */
void agent_m_key_doubt(struct agent *agent);

/* Whether this PortInfo hides the key of its port. */
bool m_key_is_hidden(const struct port_info *info);

#endif
