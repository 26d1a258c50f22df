/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Copies the figures of pm/ for sm/, because neither folder includes the other. */
#include "weftd/isolation.h"

#include <stdlib.h>

#include "lib/mem.h"
#include "pm/pm.h"
#include "sm/isolate.h"
#include "sm/sm.h"

struct gathered {
	const struct sm *sm;
	struct isolate_figures *figures;
	size_t count;
};

static uint64_t errors_since(void *arg, const struct pm_link_errors *port)
{
	const struct gathered *gathered = arg;

	return isolate_since_s(gathered->sm, port->guid, port->is_switch, port->num);
}

static void gather_port(void *arg, const struct pm_link_errors *errors)
{
	struct gathered *gathered = arg;

	gathered->figures =
		mem_grow(gathered->figures, gathered->count, sizeof(*gathered->figures));
	gathered->figures[gathered->count++] = (struct isolate_figures){
		.guid = errors->guid,
		.is_switch = errors->is_switch,
		.num = errors->num,
		.flaps = errors->rose[ERROR_LINK_DOWNED],
		.link_errors = errors->rose[ERROR_RCV] + errors->rose[ERROR_LINK_RECOVERY] +
			       errors->rose[ERROR_LOCAL_LINK_INTEGRITY],
		.symbol_errors = errors->rose[ERROR_SYMBOL],
		.ber = errors->symbol_ber,
		.covered_s = errors->covered_s,
	};
}

static void counters_were_read(void *arg)
{
	const struct isolation *isolation = arg;
	struct gathered gathered = {.sm = isolation->sm};

	if (!isolate_is_on(isolation->sm))
		return;
	pm_each_link_errors(isolation->pm, errors_since, gather_port, &gathered);
	isolate_judge(isolation->sm, gathered.figures, gathered.count);
	free(gathered.figures);
}

void isolation_begin(struct isolation *isolation, struct pm *pm, struct sm *sm)
{
	*isolation = (struct isolation){.pm = pm, .sm = sm};
	pm_on_read(pm, counters_were_read, isolation);
}
