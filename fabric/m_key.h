/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which M_Key an SMP carries. The live model knows the key of a port that has shown it, or taken
 * it; else its source (sm/partition/m_keys.h) names those that the port may hold, the likeliest
 * first, and the attempts of a request try one after the other: a port whose key is 0 answers
 * whatever it is asked with, and one that is protected drops what has a wrong key. Loop thread
 * only.
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

/* Each once; what finds no place is left out. */
struct m_key_list {
	unsigned count;
	uint64_t key[M_KEYS_MAX];
};
void m_key_list_add(struct m_key_list *list, uint64_t key);

/* Who knows keys of ports that have not shown theirs. */
struct m_key_source {
	/* Appends those that the port may hold. */
	void (*of_port)(void *ctx, guid_t port_guid, struct m_key_list *list);
	/* The one to try in this turn at whatever is behind a cable. */
	uint64_t (*beyond)(void *ctx, const struct port *from, unsigned turn);
	void *ctx;
};

/* In an agent: what is known of its end port's key. All zero: nothing. */
struct m_key_have {
	uint64_t key;  /* believed */
	uint64_t next; /* changing: what a Set() may have put in its place */
	bool known;    /* key is what it showed or took; else it only comes first */
	bool changing;
};

/* What an SMP carries, for window_target.key. */
uint64_t agent_m_key(const struct agent *agent, unsigned attempt);
/* The same where silence may mean that the port has another key by now: the one that is known comes
 * in the first turn, in later ones also those that the source names. */
uint64_t agent_m_key_doubted(const struct agent *agent, unsigned turn);
/* Whether one that was sent to this end port with key knew one that it may hold: any does where it
 * has shown that it has none, or where nothing is known. */
bool agent_m_key_fits(const struct agent *agent, uint64_t key);
uint64_t m_key_beyond(const struct fabric *fabric, const struct port *from, unsigned attempt);

/* A PortInfo of the end port says so; also what it hides is a hint. */
void agent_m_key_shown(struct agent *agent, const struct port_info *info);
/* A Set(PortInfo) with this key is about to be sent, was refused with a status, or was acknowledged
 * with held. */
void agent_m_key_changes(struct agent *agent, uint64_t key);
void agent_m_key_refused(struct agent *agent);
void agent_m_key_taken(struct agent *agent, uint64_t key, const struct port_info *held);
/* It answered to this key, or gave no answer: then others are tried, too. */
void agent_m_key_worked(struct agent *agent, uint64_t key);
void agent_m_key_doubt(struct agent *agent);

/* Whether a port hides a key that is not known here. */
bool m_key_is_hidden(const struct port_info *info);

#endif
