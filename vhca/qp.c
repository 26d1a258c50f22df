// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Queue pairs: QP0 and QP1 of each port, datagrams (UD) and reliable connections (RC). This file
 * has what they share: their life, states and attributes, and how packets find them.
 *
 * A queue pair is found by its number with a use, under the lock of the table; destroy waits for
 * all uses. Requests are flushed, and those of RC are sent, by a work item, because a request may
 * be posted with interrupts disabled.
 */
#include <linux/vmalloc.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_pack.h>

#include "vhca.h"

enum { FIRST_NUMBER = 2 };

static bool is_special(const struct vhca_qp *qp)
{
	return qp->init.qp_type == IB_QPT_SMI || qp->init.qp_type == IB_QPT_GSI;
}

static bool is_rc(const struct vhca_qp *qp)
{
	return qp->init.qp_type == IB_QPT_RC;
}

void vhca_qp_put(struct vhca_qp *qp)
{
	if (refcount_dec_and_test(&qp->users))
		complete(&qp->unused);
}

void vhca_qp_kick(struct vhca_qp *qp)
{
	if (!READ_ONCE(qp->dying))
		queue_work(system_highpri_wq, &qp->work);
}

/* Completions */

void vhca_qp_complete_send(struct vhca_qp *qp, const struct ib_wc *wc)
{
	if (vhca_cq_add(qp->ib.send_cq, wc, false))
		qp->fires_send = true;
}

void vhca_qp_complete_recv(struct vhca_qp *qp, const struct ib_wc *wc, bool solicited)
{
	if (vhca_cq_add(qp->ib.recv_cq, wc, solicited))
		qp->fires_recv = true;
}

void vhca_qp_unlock(struct vhca_qp *qp, unsigned long flags)
{
	bool fires_send = qp->fires_send, fires_recv = qp->fires_recv;

	qp->fires_send = false;
	qp->fires_recv = false;
	spin_unlock_irqrestore(&qp->lock, flags);
	if (fires_send)
		vhca_cq_notify(qp->ib.send_cq);
	if (fires_recv)
		vhca_cq_notify(qp->ib.recv_cq);
}

/* First the request of a message that has begun. */
static void flush_receives(struct vhca_qp *qp)
{
	struct ib_wc wc = {.status = IB_WC_WR_FLUSH_ERR, .opcode = IB_WC_RECV, .qp = &qp->ib};
	struct vhca_receive receive;

	if (qp->responder.has_receive) {
		qp->responder.has_receive = false;
		wc.wr_id = qp->responder.receive.wr_id;
		vhca_qp_complete_recv(qp, &wc, false);
	}
	if (qp->rq != &qp->own_rq)
		return;
	while (vhca_rq_take(qp->rq, &receive)) {
		wc.wr_id = receive.wr_id;
		vhca_qp_complete_recv(qp, &wc, false);
	}
}

void vhca_qp_fail(struct vhca_qp *qp)
{
	if (qp->attr.qp_state == IB_QPS_ERR)
		return;
	qp->attr.qp_state = IB_QPS_ERR;
	if (qp->init.srq)
		qp->events |= BIT(IB_EVENT_QP_LAST_WQE_REACHED);
	vhca_qp_kick(qp);
}

static void dispatch_events(struct vhca_qp *qp, u32 events)
{
	struct ib_event event = {.device = qp->ib.device, .element.qp = &qp->ib};

	for (; events && qp->ib.event_handler; events &= events - 1) {
		event.event = __ffs(events);
		qp->ib.event_handler(&event, qp->ib.qp_context);
	}
}

static void qp_work(struct work_struct *work)
{
	struct vhca_qp *qp = container_of(work, struct vhca_qp, work);
	unsigned long flags;
	u32 events;

	spin_lock_irqsave(&qp->lock, flags);
	if (qp->attr.qp_state == IB_QPS_ERR) {
		flush_receives(qp);
		if (is_rc(qp))
			vhca_rc_flush(qp);
	}
	events = qp->events;
	qp->events = 0;
	vhca_qp_unlock(qp, flags);
	dispatch_events(qp, events);
	if (is_rc(qp))
		vhca_rc_send(qp);
}

/* Creation */

static int check_init(const struct vhca *vhca, const struct ib_qp_init_attr *init)
{
	const struct ib_qp_cap *cap = &init->cap;

	if (init->qp_type != IB_QPT_SMI && init->qp_type != IB_QPT_GSI &&
	    init->qp_type != IB_QPT_UD && init->qp_type != IB_QPT_RC)
		return -EOPNOTSUPP;
	if (init->create_flags & ~IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK)
		return -EOPNOTSUPP;
	if (init->rwq_ind_tbl || cap->max_inline_data || cap->max_send_wr > VHCA_WORK_MAX ||
	    cap->max_recv_wr > VHCA_WORK_MAX || cap->max_send_sge > VHCA_SGES_MAX ||
	    cap->max_recv_sge > VHCA_SGES_MAX)
		return -EINVAL;
	if (init->qp_type == IB_QPT_SMI || init->qp_type == IB_QPT_GSI)
		return init->srq || init->port_num < 1 || init->port_num > vhca->ib.phys_port_cnt
			       ? -EINVAL
			       : 0;
	return 0;
}

/* Gives the queue pair its number; packets find it from then on. */
static int qp_publish(struct vhca *vhca, struct vhca_qp *qp)
{
	struct vhca_qp **special;
	u32 number;
	int r;

	if (!is_special(qp)) {
		r = xa_alloc_cyclic_irq(&vhca->qps, &number, qp,
					XA_LIMIT(FIRST_NUMBER, VHCA_MULTICAST_QP - 1),
					&vhca->next_qp, GFP_KERNEL);
		if (r < 0)
			return r;
		qp->ib.qp_num = number;
		return 0;
	}
	number = qp->init.qp_type == IB_QPT_GSI;
	special = &vhca->special[qp->init.port_num - 1][number];
	qp->ib.qp_num = number;
	spin_lock_irq(&vhca->lock);
	r = *special ? -EBUSY : 0;
	if (!r)
		*special = qp;
	spin_unlock_irq(&vhca->lock);
	return r;
}

static void qp_withdraw(struct vhca *vhca, struct vhca_qp *qp)
{
	if (!is_special(qp)) {
		xa_erase_irq(&vhca->qps, qp->ib.qp_num);
	} else {
		spin_lock_irq(&vhca->lock);
		vhca->special[qp->init.port_num - 1][qp->ib.qp_num] = NULL;
		spin_unlock_irq(&vhca->lock);
	}
	vhca_leave_groups(vhca, qp);
}

static int allocate_queues(struct vhca_qp *qp)
{
	const struct ib_qp_cap *cap = &qp->init.cap;
	bool shared = qp->init.srq;
	int r = vhca_rq_init(&qp->own_rq, shared ? 0 : cap->max_recv_wr, cap->max_recv_sge);

	qp->rq = shared ? &container_of(qp->init.srq, struct vhca_srq, ib)->rq : &qp->own_rq;
	if (!r && is_rc(qp) && cap->max_send_wr) {
		qp->requester.ring =
			kvcalloc(cap->max_send_wr, sizeof(*qp->requester.ring), GFP_KERNEL_ACCOUNT);
		r = qp->requester.ring ? 0 : -ENOMEM;
	}
	return r;
}

static void free_queues(struct vhca_qp *qp)
{
	vhca_rq_free(&qp->own_rq);
	kvfree(qp->requester.ring);
}

int vhca_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct vhca *vhca = to_vhca(ib->device);
	struct vhca_qp *qp = to_qp(ib);
	int r = check_init(vhca, init);

	if (r)
		return r;
	spin_lock_init(&qp->lock);
	refcount_set(&qp->users, 1);
	init_completion(&qp->unused);
	INIT_WORK(&qp->work, qp_work);
	INIT_DELAYED_WORK(&qp->timer, vhca_rc_timer);
	qp->init = *init;
	qp->attr.qp_state = IB_QPS_RESET;
	qp->attr.cap = init->cap;
	if (is_special(qp))
		qp->attr.port_num = init->port_num;
	r = allocate_queues(qp);
	if (!r)
		r = qp_publish(vhca, qp);
	if (r)
		free_queues(qp);
	return r;
}

static void purge_completions(struct vhca_qp *qp)
{
	vhca_cq_purge(qp->ib.send_cq, &qp->ib);
	if (qp->ib.recv_cq != qp->ib.send_cq)
		vhca_cq_purge(qp->ib.recv_cq, &qp->ib);
}

/* No completion may name the queue pair afterwards. */
int vhca_destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct vhca_qp *qp = to_qp(ib);

	qp_withdraw(to_vhca(ib->device), qp);
	spin_lock_irq(&qp->lock);
	qp->dying = true;
	spin_unlock_irq(&qp->lock);
	vhca_qp_put(qp);
	wait_for_completion(&qp->unused);
	cancel_delayed_work_sync(&qp->timer);
	cancel_work_sync(&qp->work);
	purge_completions(qp);
	free_queues(qp);
	return 0;
}

/* The next queue pair from a number on, with a use; NULL: no more. */
static struct vhca_qp *next_qp(struct vhca *vhca, unsigned long *number)
{
	struct vhca_qp *qp;

	xa_lock_irq(&vhca->qps);
	qp = xa_find(&vhca->qps, number, ULONG_MAX, XA_PRESENT);
	if (qp)
		refcount_inc(&qp->users);
	xa_unlock_irq(&vhca->qps);
	return qp;
}

void vhca_end_connections(struct vhca *vhca)
{
	unsigned long number = 0;
	struct vhca_qp *qp;

	for (; (qp = next_qp(vhca, &number)); number++) {
		spin_lock_irq(&qp->lock);
		if (is_rc(qp))
			vhca_qp_fail(qp);
		spin_unlock_irq(&qp->lock);
		vhca_qp_put(qp);
	}
}

/* States and attributes */

static int check_attributes(const struct vhca *vhca, const struct ib_qp_attr *attr, int mask)
{
	if (mask & ~IB_QP_ATTR_STANDARD_BITS || mask & IB_QP_ALT_PATH ||
	    (mask & IB_QP_STATE && attr->qp_state == IB_QPS_SQD))
		return -EOPNOTSUPP;
	if ((mask & IB_QP_PORT &&
	     (attr->port_num < 1 || attr->port_num > vhca->ib.phys_port_cnt)) ||
	    (mask & IB_QP_PKEY_INDEX && attr->pkey_index >= vhca->num_p_keys) ||
	    (mask & IB_QP_PATH_MTU &&
	     (attr->path_mtu < IB_MTU_256 || attr->path_mtu > IB_MTU_4096)) ||
	    (mask & IB_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > VHCA_READS_MAX) ||
	    (mask & IB_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > VHCA_READS_MAX) ||
	    (mask & IB_QP_TIMEOUT && attr->timeout > 31) ||
	    (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31))
		return -EINVAL;
	return 0;
}

static void set_connection(struct ib_qp_attr *to, const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_AV) {
		to->ah_attr = attr->ah_attr;
		to->ah_attr.grh.sgid_attr = NULL; /* the core holds the reference, not this copy */
	}
	if (mask & IB_QP_PATH_MTU)
		to->path_mtu = attr->path_mtu;
	if (mask & IB_QP_TIMEOUT)
		to->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		to->retry_cnt = attr->retry_cnt & 7;
	if (mask & IB_QP_RNR_RETRY)
		to->rnr_retry = attr->rnr_retry & 7;
	if (mask & IB_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IB_QP_RQ_PSN)
		to->rq_psn = attr->rq_psn & VHCA_PSN_MASK;
	if (mask & IB_QP_DEST_QPN)
		to->dest_qp_num = attr->dest_qp_num & VHCA_PSN_MASK;
}

static void set_attributes(struct vhca_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_PKEY_INDEX)
		qp->attr.pkey_index = attr->pkey_index;
	if (mask & IB_QP_PORT)
		qp->attr.port_num = attr->port_num;
	if (mask & IB_QP_QKEY)
		qp->attr.qkey = attr->qkey;
	if (mask & IB_QP_SQ_PSN)
		qp->attr.sq_psn = attr->sq_psn & VHCA_PSN_MASK;
	if (mask & IB_QP_ACCESS_FLAGS)
		qp->attr.qp_access_flags = attr->qp_access_flags;
	set_connection(&qp->attr, attr, mask);
}

static void enter_state(struct vhca_qp *qp, enum ib_qp_state from, enum ib_qp_state to)
{
	if (to == IB_QPS_ERR) {
		vhca_qp_fail(qp);
		return;
	}
	qp->attr.qp_state = to;
	if (to == IB_QPS_RESET) {
		if (qp->rq == &qp->own_rq)
			vhca_rq_clear(qp->rq);
		qp->requester.count = 0;
		memset(&qp->responder, 0, sizeof(qp->responder));
	}
	if (is_rc(qp))
		vhca_rc_start(qp, from);
}

int vhca_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct vhca_qp *qp = to_qp(ib);
	enum ib_qp_state from, to;
	unsigned long flags;
	int r = check_attributes(to_vhca(ib->device), attr, mask);

	if (r)
		return r;
	spin_lock_irqsave(&qp->lock, flags);
	from = qp->attr.qp_state;
	to = mask & IB_QP_STATE ? attr->qp_state : from;
	if ((mask & IB_QP_CUR_STATE && attr->cur_qp_state != from) ||
	    !ib_modify_qp_is_ok(from, to, ib->qp_type, mask)) {
		r = -EINVAL;
	} else {
		set_attributes(qp, attr, mask);
		enter_state(qp, from, to);
	}
	vhca_qp_unlock(qp, flags);
	if (!r && to == IB_QPS_RESET) {
		flush_work(&to_vhca(ib->device)->send); /* which may complete requests */
		purge_completions(qp);
	}
	return r;
}

int vhca_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask, struct ib_qp_init_attr *init)
{
	struct vhca_qp *qp = to_qp(ib);

	spin_lock_irq(&qp->lock);
	*attr = qp->attr;
	attr->cur_qp_state = qp->attr.qp_state;
	*init = qp->init;
	spin_unlock_irq(&qp->lock);
	return 0;
}

/* Requests */

int vhca_post_send(struct ib_qp *ib, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	struct vhca *vhca = to_vhca(ib->device);
	struct vhca_qp *qp = to_qp(ib);
	unsigned long flags;
	int r = 0;

	spin_lock_irqsave(&qp->lock, flags);
	for (; wr; wr = wr->next) {
		/* New kernels repeat a MAD that is flushed. mlx5 does the same after a fatal error.
		 */
		if (READ_ONCE(vhca->gone) && qp->attr.qp_state == IB_QPS_RTS)
			r = -EIO;
		else if (wr->num_sge < 0 || wr->num_sge > qp->init.cap.max_send_sge ||
			 wr->send_flags & IB_SEND_INLINE)
			r = -EINVAL;
		else
			r = is_rc(qp) ? vhca_rc_post(vhca, qp, wr) : vhca_ud_post(vhca, qp, wr);
		if (r)
			break;
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	if (r)
		*bad = wr;
	if (is_rc(qp))
		vhca_qp_kick(qp);
	return r;
}

int vhca_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	struct vhca_qp *qp = to_qp(ib);
	enum ib_qp_state state = READ_ONCE(qp->attr.qp_state);
	int r;

	if (state == IB_QPS_RESET || qp->init.srq) {
		*bad = wr;
		return -EINVAL;
	}
	r = vhca_rq_post(qp->rq, wr, bad);
	if (READ_ONCE(qp->attr.qp_state) == IB_QPS_ERR)
		vhca_qp_kick(qp); /* flushes it */
	return r;
}

/* Packets */

static void fill_grh(struct vhca *vhca, u8 port, const struct rdma_ah_attr *attr,
		     struct ib_grh *grh)
{
	const struct ib_global_route *route = rdma_ah_read_grh(attr);

	memset(grh, 0, sizeof(*grh));
	grh->version_tclass_flow = cpu_to_be32(6u << 28 | (u32)route->traffic_class << 20 |
					       (route->flow_label & 0xFFFFF));
	grh->hop_limit = route->hop_limit;
	vhca_read_gid(vhca, port, route->sgid_index, &grh->sgid);
	grh->dgid = route->dgid;
}

void vhca_route_packet(struct vhca *vhca, u8 port, const struct rdma_ah_attr *attr,
		       struct vhca_packet *out)
{
	out->dlid = rdma_ah_get_dlid(attr);
	out->sl = rdma_ah_get_sl(attr);
	out->slid = vhca_lid(vhca, port) |
		    (rdma_ah_get_path_bits(attr) & ((1 << vhca_lmc(vhca, port)) - 1));
	if (rdma_ah_get_ah_flags(attr) & IB_AH_GRH) {
		out->has_grh = true;
		fill_grh(vhca, port, attr, &out->grh);
	}
}

struct sk_buff *vhca_packet_frame(struct vhca *vhca, u8 port, const struct vhca_packet *packet,
				  u8 **payload)
{
	u32 pad = vhca_packet_pad(packet->payload_size), headers = vhca_packet_header_size(packet);
	struct sk_buff *skb;
	u8 *body;

	skb = vhca_frame_new(vhca, VHCA_PACKET, port, headers + packet->payload_size + pad, &body);
	if (!skb)
		return NULL;
	vhca_packet_write(packet, body);
	*payload = body + headers;
	memset(*payload + packet->payload_size, 0, pad);
	return skb;
}

/* The queue pair of a number, with a use. */
static struct vhca_qp *find_qp(struct vhca *vhca, u8 port, u32 number)
{
	struct vhca_qp *qp;
	unsigned long flags;

	if (number < FIRST_NUMBER) {
		spin_lock_irqsave(&vhca->lock, flags);
		qp = vhca->special[port - 1][number];
		if (qp)
			refcount_inc(&qp->users);
		spin_unlock_irqrestore(&vhca->lock, flags);
		return qp;
	}
	xa_lock_irqsave(&vhca->qps, flags);
	qp = xa_load(&vhca->qps, number);
	if (qp)
		refcount_inc(&qp->users);
	xa_unlock_irqrestore(&vhca->qps, flags);
	return qp;
}

static bool is_datagram(const struct vhca_packet *packet)
{
	return packet->opcode >= IB_OPCODE_UD;
}

void vhca_deliver(struct vhca *vhca, u8 port, const u8 *bytes, u32 size)
{
	struct vhca_packet packet;
	struct vhca_qp *qp;

	if (vhca_packet_read(bytes, size, &packet)) {
		atomic64_inc(&vhca->dropped);
		return;
	}
	if (packet.dest_qp == VHCA_MULTICAST_QP) {
		if (is_datagram(&packet))
			vhca_multicast(vhca, port, &packet, bytes);
		return;
	}
	qp = find_qp(vhca, port, packet.dest_qp);
	if (!qp) {
		atomic64_inc(&vhca->dropped);
		return;
	}
	if (vhca_qp_port(qp) != port || is_rc(qp) == is_datagram(&packet))
		atomic64_inc(&vhca->dropped);
	else if (is_rc(qp))
		vhca_rc_receive(vhca, qp, port, &packet, bytes);
	else
		vhca_ud_receive(vhca, qp, port, &packet, bytes);
	vhca_qp_put(qp);
}
