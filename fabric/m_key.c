/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The keys of ports in the live model (fabric/m_key.h). An SMP that was lost is repeated with the
 * same key if it is known: a wrong key would be a violation.
 */
#include "fabric/m_key.h"

#include "fabric/fabric.h"

enum { HIDES_KEY = 1 }; /* the protection level at which PortInfo is shown without its key */

/* An SMP over a cable is sent so many times with one key before the next key. */
enum { ATTEMPTS_A_TURN = 2 };

void m_key_list_add(struct m_key_list *list, uint64_t key)
{
	for (unsigned i = 0; i < list->count; i++) {
		if (list->key[i] == key)
			return;
	}
	if (key && list->count < M_KEYS_MAX)
		list->key[list->count++] = key;
}

/* All possible keys: another manager may have changed the key since the last read. */
static void list_possible(const struct agent *agent, struct m_key_list *list)
{
	const struct m_key_have *have = &agent->m_key;
	const struct m_key_source *source = agent->fabric->m_keys;

	m_key_list_add(list, have->key);
	if (have->changing)
		m_key_list_add(list, have->next);
	if (source)
		source->of_port(source->ctx, port_facts(agent->port)->guid, list);
}

uint64_t agent_m_key(const struct agent *agent, unsigned attempt)
{
	const struct m_key_have *have = &agent->m_key;
	const struct m_key_source *source = agent->fabric->m_keys;
	struct m_key_list list = {0};

	if (have->known && !have->changing)
		return have->key;
	m_key_list_add(&list, have->key);
	if (have->changing)
		m_key_list_add(&list, have->next);
	if (!have->known && source)
		source->of_port(source->ctx, port_facts(agent->port)->guid, &list);
	return list.count ? list.key[attempt % list.count] : 0;
}

uint64_t agent_m_key_doubted(const struct agent *agent, unsigned turn)
{
	struct m_key_list list = {0};

	if (!turn)
		return agent_m_key(agent, 0);
	list_possible(agent, &list);
	return list.count ? list.key[turn % list.count] : 0;
}

bool agent_m_key_fits(const struct agent *agent, uint64_t key)
{
	struct m_key_list list = {0};

	if (agent->m_key.known && !agent->m_key.key)
		return true;
	list_possible(agent, &list);
	for (unsigned i = 0; i < list.count; i++) {
		if (list.key[i] == key)
			return true;
	}
	return !list.count;
}

uint64_t m_key_beyond(const struct fabric *fabric, const struct port *from, unsigned attempt)
{
	const struct agent *agent = from->peer ? port_agent(from->peer) : NULL;
	const struct m_key_source *source = fabric->m_keys;
	unsigned turn = from->discovery.m_key_turn + attempt / ATTEMPTS_A_TURN;

	if (agent && !turn)
		return agent_m_key(agent, attempt);
	return source ? source->beyond(source->ctx, from, turn) : 0;
}

bool m_key_is_hidden(const struct port_info *info)
{
	return !info->m_key && info->m_key_protect_bits == HIDES_KEY;
}

/* A level above 1 answers only to the right key, or if the key is 0; at 0 no key is hidden. */
void agent_m_key_shown(struct agent *agent, const struct port_info *info)
{
	struct m_key_have *have = &agent->m_key;

	if (m_key_is_hidden(info)) {
		have->known &= !have->key;
		return;
	}
	have->key = info->m_key;
	have->known = true;
	have->changing &= have->key != have->next; /* the Set() may be under way */
}

void agent_m_key_changes(struct agent *agent, uint64_t key)
{
	if (agent->m_key.known && agent->m_key.key == key)
		return;
	agent->m_key.next = key;
	agent->m_key.changing = true;
}

void agent_m_key_refused(struct agent *agent)
{
	agent->m_key.changing = false;
}

/* A port that shows no key in the answer although it is protected hides the key that it
 * accepted. */
void agent_m_key_taken(struct agent *agent, uint64_t key, const struct port_info *held)
{
	bool hidden = !held->m_key && held->m_key_protect_bits;

	agent->m_key = (struct m_key_have){.key = hidden ? key : held->m_key, .known = true};
}

void agent_m_key_worked(struct agent *agent, uint64_t key)
{
	if (!agent->m_key.known)
		agent->m_key.key = key;
}

void agent_m_key_doubt(struct agent *agent)
{
	agent->m_key.known = false;
}
