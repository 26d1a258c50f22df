/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Making, counting and publishing views. The manager makes a view at the end of a sweep and
 * publishes it. A handler that answers from it holds no reference unless it needs the view after
 * its return. The last reference releases the references to the parts, not the parts. Loop thread
 * only.
 */
#include "fabric/view.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

struct view *view_new(uint64_t generation, struct snapshot *topology, struct routes *routes,
		      const struct view_sm *sms, uint32_t num_sms)
{
	struct view *view = mem_zalloc(sizeof(*view));

	view->refs = 1;
	view->generation = generation;
	view->topology = topology;
	view->routes = routes;
	view->num_sms = num_sms;
	view->sms = mem_array(num_sms, sizeof(*sms));
	if (num_sms)
		memcpy(view->sms, sms, num_sms * sizeof(*sms));
	for (uint32_t i = 0; i < num_sms; i++)
		view->sms[i].info.sm_key = 0;
	return view;
}

struct view *view_ref(struct view *view)
{
	view->refs++;
	return view;
}

void view_unref(struct view *view)
{
	if (!view || --view->refs)
		return;
	snapshot_unref(view->topology);
	routes_unref(view->routes);
	free(view->sms);
	free(view);
}

void view_publish(struct view **slot, struct view *view)
{
	struct view *old = *slot;

	*slot = view;
	view_unref(old);
}
