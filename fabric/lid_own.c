/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The LID of the MASTER, on any manager's port, as a stage of lid.c's slices. Our own port gets
 * this LID instead of its other LID. The other LID is kept and recorded for our port, and stays
 * routed to it (fabric->sm_kept_lid). So when another manager becomes MASTER, only the entries of
 * the one LID change. The MASTER before us, whose port may still hold it, gets its own reserved
 * LID.
 */
#include "fabric/lid_parts.h"

static bool another_holds_sm_lid(const struct lid_work *work, const struct port *own)
{
	for (size_t i = 0; i < work->count; i++)
		if (work->ports[i] != own && port_info(work->ports[i])->lid &&
		    lid_is_sm_lid(work, port_info(work->ports[i])->lid))
			return true;
	return false;
}

/* Another port may own it: a port to which it was assigned before, or that holds it without having
 * been MASTER, because our own port shows another MasterSMLID. If our own port holds it, too, it
 * keeps it, because its LID is kept first: the next sweep would take it in any case. */
static const char *sm_lid_refusal(const struct lid_work *work, const struct port *own)
{
	unsigned end = work->sm_lid + (1u << work->lmc);

	if (port_of_switch(own))
		return "this manager's port is a switch's";
	if (work->sm_lid % (1u << work->lmc))
		return "it is no multiple of 2^lmc";
	if (end > work->limit)
		return "the table of some switch is too small for it";
	for (unsigned lid = work->sm_lid; lid < end; lid++)
		if (work->fabric->lids[lid] && work->fabric->lids[lid] != own)
			return "another port has it";
	if (port_info(own)->lid != work->sm_lid && port_info(own)->master_sm_lid != work->sm_lid &&
	    another_holds_sm_lid(work, own))
		return "another port holds it, which is not the port of the previous MASTER";
	return NULL;
}

/* Its other LID: as recorded, else as found, else a new LID. */
static lid_t sm_port_own_lid(struct lid_work *work, const struct port *own)
{
	const struct lid_entry key = {.guid = port_facts(own)->guid}, *entry = NULL;
	lid_t found = port_info(own)->lid;
	unsigned block;

	if (work->fabric->registry)
		entry = registry_find(work->fabric->registry, REGISTRY_LID, &key);
	if (entry && entry->lmc == work->lmc && !lid_is_sm_lid(work, entry->lid) &&
	    lid_fits(work, entry->lid, work->lmc))
		return entry->lid;
	if (found && !lid_is_sm_lid(work, found) && lid_fits(work, found, work->lmc))
		return found;
	block = lid_choose_block(work, false, 1, work->lmc);
	return block < LFT_BLOCKS_MAX ? lid_first_fit_in(work, block, work->lmc) : LID_NONE;
}

unsigned lid_take_sm_lid(void *arg, size_t *at)
{
	struct lid_work *work = arg;
	struct port *own = work->fabric->sm_port;

	if ((*at)++)
		return 0;
	work->fabric->sm_kept_lid = LID_NONE;
	work->report.sm_lid_why = work->sm_lid ? sm_lid_refusal(work, own) : NULL;
	if (!work->sm_lid || work->report.sm_lid_why)
		return 1;
	if (own->lid && own->lid != work->sm_lid)
		lid_take_back(work, own);
	if (!own->lid)
		lid_give(work, own, work->sm_lid, work->lmc);
	work->own = (struct lid_entry){
		.guid = port_facts(own)->guid, .lid = sm_port_own_lid(work, own), .lmc = work->lmc};
	if (work->own.lid)
		lid_keep(work, &work->own, true);
	work->fabric->sm_kept_lid = work->own.lid;
	work->fabric->sm_kept_lmc = work->own.lmc;
	return (unsigned)work->count / 4 + 1;
}
