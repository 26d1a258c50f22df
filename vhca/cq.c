// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Completion queues: a ring that is allocated whole, so that no completion is lost for want of
 * memory. If a consumer lets it overflow, the queue fails, as that of a device does
 * (IB_EVENT_CQ_ERR).
 */
#include <linux/vmalloc.h>

#include "vhca.h"

static struct vhca_cq *to_cq(struct ib_cq *ib)
{
	return container_of(ib, struct vhca_cq, ib);
}

int vhca_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr, VHCA_CQ_ATTRS *attrs)
{
	struct vhca_cq *cq = to_cq(ib);

	if (attr->flags || !attr->cqe || attr->cqe > VHCA_CQES_MAX)
		return -EINVAL;
	cq->ring = kvcalloc(attr->cqe, sizeof(*cq->ring), GFP_KERNEL_ACCOUNT);
	if (!cq->ring)
		return -ENOMEM;
	spin_lock_init(&cq->lock);
	cq->size = attr->cqe;
	ib->cqe = attr->cqe;
	return 0;
}

int vhca_destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	kvfree(to_cq(ib)->ring);
	return 0;
}

int vhca_poll_cq(struct ib_cq *ib, int entries, struct ib_wc *wc)
{
	struct vhca_cq *cq = to_cq(ib);
	unsigned long flags;
	int taken;

	spin_lock_irqsave(&cq->lock, flags);
	for (taken = 0; taken < entries && cq->count; taken++) {
		wc[taken] = cq->ring[cq->head];
		cq->head = (cq->head + 1) % cq->size;
		cq->count--;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return taken;
}

int vhca_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags notify)
{
	struct vhca_cq *cq = to_cq(ib);
	u8 wanted = notify & IB_CQ_SOLICITED_MASK;
	unsigned long flags;
	int missed;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->armed != IB_CQ_NEXT_COMP)
		cq->armed = wanted;
	missed = notify & IB_CQ_REPORT_MISSED_EVENTS && cq->count;
	spin_unlock_irqrestore(&cq->lock, flags);
	return missed;
}

/* Whether the completion calls the handler. */
static bool cq_fires(struct vhca_cq *cq, const struct ib_wc *wc, bool solicited)
{
	if (cq->armed != IB_CQ_NEXT_COMP &&
	    !(cq->armed == IB_CQ_SOLICITED && (solicited || wc->status != IB_WC_SUCCESS)))
		return false;
	cq->armed = 0;
	return true;
}

static void announce_overflow(struct ib_cq *ib)
{
	struct ib_event event = {.device = ib->device, .event = IB_EVENT_CQ_ERR, .element.cq = ib};

	pr_warn_ratelimited("vhca: a completion queue of %d entries overflows\n", ib->cqe);
	if (ib->event_handler)
		ib->event_handler(&event, ib->cq_context);
}

bool vhca_cq_add(struct ib_cq *ib, const struct ib_wc *wc, bool solicited)
{
	struct vhca_cq *cq = to_cq(ib);
	bool full, fires = false;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	full = cq->failed || cq->count == cq->size;
	if (full) {
		fires = !cq->failed;
		cq->failed = true;
	} else {
		cq->ring[(cq->head + cq->count) % cq->size] = *wc;
		cq->count++;
		fires = cq_fires(cq, wc, solicited);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return fires;
}

void vhca_cq_notify(struct ib_cq *ib)
{
	struct vhca_cq *cq = to_cq(ib);
	bool overflows;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	overflows = cq->failed && !cq->announced;
	cq->announced = cq->failed;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (overflows)
		announce_overflow(ib);
	if (ib->comp_handler)
		ib->comp_handler(ib, ib->cq_context);
}

void vhca_complete(struct ib_cq *ib, const struct ib_wc *wc, bool solicited)
{
	if (vhca_cq_add(ib, wc, solicited))
		vhca_cq_notify(ib);
}

void vhca_cq_purge(struct ib_cq *ib, const struct ib_qp *qp)
{
	struct vhca_cq *cq = to_cq(ib);
	unsigned long flags;
	u32 kept = 0;

	spin_lock_irqsave(&cq->lock, flags);
	for (u32 i = 0; i < cq->count; i++) {
		const struct ib_wc *wc = &cq->ring[(cq->head + i) % cq->size];

		if (wc->qp != qp)
			cq->ring[(cq->head + kept++) % cq->size] = *wc;
	}
	cq->count = kept;
	spin_unlock_irqrestore(&cq->lock, flags);
}
