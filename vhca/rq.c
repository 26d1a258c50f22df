// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Receive queues, those of queue pairs and shared ones: rings of requests that are allocated whole.
 */
#include <linux/vmalloc.h>

#include "vhca.h"

int vhca_rq_init(struct vhca_rq *rq, u32 size, u32 max_sge)
{
	spin_lock_init(&rq->lock);
	rq->size = size;
	rq->max_sge = max_sge;
	if (!size)
		return 0;
	rq->ring = kvcalloc(size, sizeof(*rq->ring), GFP_KERNEL_ACCOUNT);
	return rq->ring ? 0 : -ENOMEM;
}

void vhca_rq_free(struct vhca_rq *rq)
{
	kvfree(rq->ring);
}

static int rq_add(struct vhca_rq *rq, const struct ib_recv_wr *wr)
{
	struct vhca_receive *receive;

	if (wr->num_sge < 0 || wr->num_sge > rq->max_sge)
		return -EINVAL;
	if (rq->count >= rq->size)
		return -ENOMEM;
	receive = &rq->ring[(rq->head + rq->count++) % rq->size];
	receive->wr_id = wr->wr_id;
	receive->num_sge = wr->num_sge;
	memcpy(receive->sge, wr->sg_list, wr->num_sge * sizeof(*receive->sge));
	return 0;
}

int vhca_rq_post(struct vhca_rq *rq, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	unsigned long flags;
	int r = 0;

	spin_lock_irqsave(&rq->lock, flags);
	for (; wr; wr = wr->next) {
		r = rq_add(rq, wr);
		if (r)
			break;
	}
	spin_unlock_irqrestore(&rq->lock, flags);
	if (r)
		*bad = wr;
	return r;
}

bool vhca_rq_take(struct vhca_rq *rq, struct vhca_receive *out)
{
	unsigned long flags;
	bool taken;

	spin_lock_irqsave(&rq->lock, flags);
	taken = rq->count;
	if (taken) {
		*out = rq->ring[rq->head];
		rq->head = (rq->head + 1) % rq->size;
		rq->count--;
	}
	spin_unlock_irqrestore(&rq->lock, flags);
	return taken;
}

void vhca_rq_clear(struct vhca_rq *rq)
{
	unsigned long flags;

	spin_lock_irqsave(&rq->lock, flags);
	rq->head = 0;
	rq->count = 0;
	spin_unlock_irqrestore(&rq->lock, flags);
}

/* Shared receive queues */

static struct vhca_srq *to_srq(struct ib_srq *ib)
{
	return container_of(ib, struct vhca_srq, ib);
}

static void dispatch_limit(struct work_struct *work)
{
	struct vhca_srq *srq = container_of(work, struct vhca_srq, limit_reached);
	struct ib_event event = {.device = srq->ib.device,
				 .event = IB_EVENT_SRQ_LIMIT_REACHED,
				 .element.srq = &srq->ib};

	if (srq->ib.event_handler)
		srq->ib.event_handler(&event, srq->ib.srq_context);
}

int vhca_create_srq(struct ib_srq *ib, struct ib_srq_init_attr *init, struct ib_udata *udata)
{
	struct vhca_srq *srq = to_srq(ib);

	if (init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!init->attr.max_wr || init->attr.max_wr > VHCA_WORK_MAX ||
	    init->attr.max_sge > VHCA_SGES_MAX || init->attr.srq_limit > init->attr.max_wr)
		return -EINVAL;
	INIT_WORK(&srq->limit_reached, dispatch_limit);
	srq->rq.limit = init->attr.srq_limit;
	return vhca_rq_init(&srq->rq, init->attr.max_wr, init->attr.max_sge);
}

/* The size is fixed. */
int vhca_modify_srq(struct ib_srq *ib, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		    struct ib_udata *udata)
{
	struct vhca_rq *rq = &to_srq(ib)->rq;
	unsigned long flags;

	if (mask & IB_SRQ_MAX_WR)
		return -EOPNOTSUPP;
	if (!(mask & IB_SRQ_LIMIT))
		return 0;
	if (attr->srq_limit > rq->size)
		return -EINVAL;
	spin_lock_irqsave(&rq->lock, flags);
	rq->limit = attr->srq_limit;
	spin_unlock_irqrestore(&rq->lock, flags);
	return 0;
}

int vhca_query_srq(struct ib_srq *ib, struct ib_srq_attr *attr)
{
	const struct vhca_rq *rq = &to_srq(ib)->rq;

	attr->max_wr = rq->size;
	attr->max_sge = rq->max_sge;
	attr->srq_limit = READ_ONCE(rq->limit);
	return 0;
}

int vhca_destroy_srq(struct ib_srq *ib, struct ib_udata *udata)
{
	cancel_work_sync(&to_srq(ib)->limit_reached);
	vhca_rq_free(&to_srq(ib)->rq);
	return 0;
}

int vhca_post_srq_recv(struct ib_srq *ib, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad)
{
	return vhca_rq_post(&to_srq(ib)->rq, wr, bad);
}

bool vhca_take_receive(struct vhca_qp *qp, struct vhca_receive *out)
{
	struct vhca_rq *rq = qp->rq;
	unsigned long flags;
	bool taken = vhca_rq_take(rq, out), below;

	if (rq == &qp->own_rq)
		return taken;
	spin_lock_irqsave(&rq->lock, flags);
	below = rq->count < rq->limit;
	if (below)
		rq->limit = 0; /* once (10.2.9.3) */
	spin_unlock_irqrestore(&rq->lock, flags);
	if (below)
		schedule_work(&to_srq(qp->init.srq)->limit_reached);
	return taken;
}
