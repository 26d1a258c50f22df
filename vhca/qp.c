// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Queue pairs of unreliable datagrams: QP0 and QP1 of each port, and UD. A send request becomes a
 * frame at once, and completes when the frame has left; requests and flushed requests share one
 * queue, so that they complete in order. A packet is checked against the queue pair as hardware
 * does (chapters 10.2.4, 10.9), copied into the oldest receive request, and completes it.
 *
 * A queue pair is found by its number under RCU-like protection: its users are counted, and
 * destroy waits for them.
 */
#include <linux/vmalloc.h>
#include <rdma/ib_cache.h>

#include "vhca.h"

enum { UD_GRH_AREA = 40, FIRST_NUMBER = 2, SPECIAL_MTU = VHCA_MAD_SIZE };

static struct vhca_qp *to_qp(struct ib_qp *ib)
{
	return container_of(ib, struct vhca_qp, ib);
}

static void qp_put(struct vhca_qp *qp)
{
	if (refcount_dec_and_test(&qp->users))
		complete(&qp->unused);
}

static u8 qp_port(const struct vhca_qp *qp)
{
	return qp->attr.port_num;
}

/* Creation */

static int check_init(const struct vhca *vhca, const struct ib_qp_init_attr *init)
{
	const struct ib_qp_cap *cap = &init->cap;

	if (init->qp_type != IB_QPT_SMI && init->qp_type != IB_QPT_GSI &&
	    init->qp_type != IB_QPT_UD)
		return -EOPNOTSUPP;
	if (init->create_flags & ~IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK)
		return -EOPNOTSUPP;
	if (init->srq || init->rwq_ind_tbl || cap->max_inline_data ||
	    cap->max_send_wr > VHCA_WORK_MAX || cap->max_recv_wr > VHCA_WORK_MAX ||
	    cap->max_send_sge > VHCA_SGES_MAX || cap->max_recv_sge > VHCA_SGES_MAX)
		return -EINVAL;
	if (init->qp_type != IB_QPT_UD &&
	    (init->port_num < 1 || init->port_num > vhca->ib.phys_port_cnt))
		return -EINVAL;
	return 0;
}

/* Gives the queue pair its number; packets find it from then on. */
static int qp_publish(struct vhca *vhca, struct vhca_qp *qp)
{
	struct vhca_qp **special;
	u32 number;
	int r;

	if (qp->init.qp_type == IB_QPT_UD) {
		r = xa_alloc_irq(&vhca->qps, &number, qp,
				 XA_LIMIT(FIRST_NUMBER, VHCA_MULTICAST_QP - 1), GFP_KERNEL);
		qp->ib.qp_num = number;
		return r;
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
	struct vhca_group *group, *next;

	if (qp->init.qp_type == IB_QPT_UD)
		xa_erase_irq(&vhca->qps, qp->ib.qp_num);
	spin_lock_irq(&vhca->lock);
	if (qp->init.qp_type != IB_QPT_UD)
		vhca->special[qp->init.port_num - 1][qp->ib.qp_num] = NULL;
	list_for_each_entry_safe(group, next, &vhca->groups, link)
	{
		if (group->qp == qp) {
			list_del(&group->link);
			kfree(group);
		}
	}
	spin_unlock_irq(&vhca->lock);
}

int vhca_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct vhca *vhca = to_vhca(ib->device);
	struct vhca_qp *qp = to_qp(ib);
	int r = check_init(vhca, init);

	if (r)
		return r;
	if (init->cap.max_recv_wr) {
		qp->receives = kvcalloc(init->cap.max_recv_wr, sizeof(*qp->receives), GFP_KERNEL);
		if (!qp->receives)
			return -ENOMEM;
	}
	spin_lock_init(&qp->lock);
	refcount_set(&qp->users, 1);
	init_completion(&qp->unused);
	qp->init = *init;
	qp->attr.qp_state = IB_QPS_RESET;
	qp->attr.cap = init->cap;
	if (init->qp_type != IB_QPT_UD)
		qp->attr.port_num = init->port_num;
	r = qp_publish(vhca, qp);
	if (r)
		kvfree(qp->receives);
	return r;
}

int vhca_destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct vhca_qp *qp = to_qp(ib);

	qp_withdraw(to_vhca(ib->device), qp);
	qp_put(qp);
	wait_for_completion(&qp->unused);
	kvfree(qp->receives);
	return 0;
}

/* States */

/* Takes the oldest receive request; under lock. */
static bool take_receive(struct vhca_qp *qp, struct vhca_receive *out)
{
	if (!qp->receive_count)
		return false;
	*out = qp->receives[qp->receive_head];
	qp->receive_head = (qp->receive_head + 1) % qp->init.cap.max_recv_wr;
	qp->receive_count--;
	return true;
}

static void flush_receives(struct vhca_qp *qp)
{
	struct ib_wc wc = {.status = IB_WC_WR_FLUSH_ERR, .opcode = IB_WC_RECV, .qp = &qp->ib};
	struct vhca_receive receive;
	bool more;

	local_bh_disable();
	for (;;) {
		spin_lock(&qp->lock);
		more = take_receive(qp, &receive);
		spin_unlock(&qp->lock);
		if (!more)
			break;
		wc.wr_cqe = receive.cqe;
		vhca_complete(qp->ib.recv_cq, &wc, false);
	}
	local_bh_enable();
}

static void qp_set_attributes(struct vhca_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_STATE)
		qp->attr.qp_state = attr->qp_state;
	if (mask & IB_QP_PKEY_INDEX)
		qp->attr.pkey_index = attr->pkey_index;
	if (mask & IB_QP_PORT)
		qp->attr.port_num = attr->port_num;
	if (mask & IB_QP_QKEY)
		qp->attr.qkey = attr->qkey;
	if (mask & IB_QP_SQ_PSN)
		qp->attr.sq_psn = attr->sq_psn;
	if (qp->attr.qp_state == IB_QPS_RESET) {
		qp->receive_head = 0;
		qp->receive_count = 0;
	}
}

int vhca_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct vhca *vhca = to_vhca(ib->device);
	struct vhca_qp *qp = to_qp(ib);
	enum ib_qp_state from, to;
	int r = 0;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	if (mask & IB_QP_PORT && (attr->port_num < 1 || attr->port_num > vhca->ib.phys_port_cnt))
		return -EINVAL;
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index >= vhca->num_p_keys)
		return -EINVAL;
	spin_lock_irq(&qp->lock);
	from = mask & IB_QP_CUR_STATE ? attr->cur_qp_state : qp->attr.qp_state;
	to = mask & IB_QP_STATE ? attr->qp_state : from;
	if (!ib_modify_qp_is_ok(from, to, ib->qp_type, mask))
		r = -EINVAL;
	else
		qp_set_attributes(qp, attr, mask);
	spin_unlock_irq(&qp->lock);
	if (!r && to == IB_QPS_ERR)
		flush_receives(qp);
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

/* Sending */

static u32 length_of(const struct ib_sge *sge, int count)
{
	u64 length = 0;

	while (count-- > 0)
		length += (sge++)->length;
	return min_t(u64, length, U32_MAX);
}

/* Kernel clients map no DMA here: an address is one of the kernel. */
static void gather(u8 *to, const struct ib_sge *sge, int count)
{
	for (; count-- > 0; sge++) {
		memcpy(to, (const void *)(uintptr_t)sge->addr, sge->length);
		to += sge->length;
	}
}

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

/* The headers of a request, from its address handle and the queue pair. */
static int address_packet(struct vhca *vhca, struct vhca_qp *qp, const struct ib_ud_wr *ud,
			  struct vhca_packet *out)
{
	struct rdma_ah_attr *attr;
	u8 port = qp_port(qp);
	u16 lid = vhca_lid(vhca, port);

	if (!ud->ah)
		return -EINVAL;
	attr = &container_of(ud->ah, struct vhca_ah, ib)->attr;
	memset(out, 0, sizeof(*out));
	out->opcode = VHCA_UD_SEND;
	out->dlid = rdma_ah_get_dlid(attr);
	out->sl = rdma_ah_get_sl(attr);
	out->slid = lid | (rdma_ah_get_path_bits(attr) & ((1 << vhca_lmc(vhca, port)) - 1));
	out->src_qp = qp->ib.qp_num;
	out->dest_qp = ud->remote_qpn & 0xFFFFFF;
	out->q_key = ud->remote_qkey & 0x80000000 ? qp->attr.qkey : ud->remote_qkey;
	if (rdma_ah_get_ah_flags(attr) & IB_AH_GRH) {
		out->has_grh = true;
		fill_grh(vhca, port, attr, &out->grh);
	}
	if (qp->ib.qp_type == IB_QPT_SMI) {
		out->p_key = IB_DEFAULT_PKEY_FULL;
		out->q_key = 0;
		if (out->dlid == be16_to_cpu(IB_LID_PERMISSIVE))
			out->slid = out->dlid;
	} else {
		vhca_read_p_key(vhca, port,
				qp->ib.qp_type == IB_QPT_GSI ? ud->pkey_index : qp->attr.pkey_index,
				&out->p_key);
	}
	return 0;
}

static u32 largest_payload(struct vhca *vhca, const struct vhca_qp *qp)
{
	return qp->ib.qp_type == IB_QPT_UD ? vhca_mtu(vhca, qp_port(qp)) : SPECIAL_MTU;
}

static void fill_send(struct vhca_send *send, struct vhca_qp *qp, const struct ib_send_wr *wr)
{
	refcount_inc(&qp->users);
	*send = (struct vhca_send){
		.qp = qp,
		.cqe = wr->wr_cqe,
		.status = IB_WC_SUCCESS,
		.opcode = IB_WC_SEND,
		.signalled = wr->send_flags & IB_SEND_SIGNALED ||
			     qp->init.sq_sig_type == IB_SIGNAL_ALL_WR,
		.port = qp_port(qp),
		.bytes = length_of(wr->sg_list, wr->num_sge),
	};
}

static int post_packet(struct vhca *vhca, struct vhca_qp *qp, const struct ib_send_wr *wr)
{
	u32 size = length_of(wr->sg_list, wr->num_sge), headers, whole;
	struct vhca_packet packet;
	struct vhca_send *send;
	struct sk_buff *skb;
	u8 *body;
	int r;

	if ((wr->opcode != IB_WR_SEND && wr->opcode != IB_WR_SEND_WITH_IMM) ||
	    size > largest_payload(vhca, qp))
		return -EINVAL;
	r = address_packet(vhca, qp, ud_wr(wr), &packet);
	if (r)
		return r;
	packet.psn = qp->attr.sq_psn++;
	packet.solicited = wr->send_flags & IB_SEND_SOLICITED;
	packet.payload_size = size;
	if (wr->opcode == IB_WR_SEND_WITH_IMM) {
		packet.opcode = VHCA_UD_SEND_IMMEDIATE;
		packet.has_immediate = true;
		packet.immediate = wr->ex.imm_data;
	}
	headers = vhca_packet_header_size(&packet);
	whole = headers + size + vhca_packet_pad(size);
	skb = vhca_frame_new(vhca, VHCA_PACKET, qp_port(qp), whole, &body);
	if (!skb)
		return -ENOMEM;
	vhca_packet_write(&packet, body);
	gather(body + headers, wr->sg_list, wr->num_sge);
	memset(body + headers + size, 0, whole - headers - size);
	send = vhca_send_of(skb);
	fill_send(send, qp, wr);
	send->transmits = true;
	send->loops = vhca_is_multicast(packet.dlid) && qp->ib.qp_type == IB_QPT_UD &&
		      !(qp->init.create_flags & IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK);
	vhca_frame_send(vhca, skb);
	return 0;
}

/* In the state ERR: the request waits behind those before it, and is flushed. */
static int post_flushed(struct vhca *vhca, struct vhca_qp *qp, const struct ib_send_wr *wr)
{
	struct sk_buff *skb = alloc_skb(0, GFP_ATOMIC);
	struct vhca_send *send;

	if (!skb)
		return -ENOMEM;
	send = vhca_send_of(skb);
	fill_send(send, qp, wr);
	send->status = IB_WC_WR_FLUSH_ERR;
	send->signalled = true;
	vhca_frame_send(vhca, skb);
	return 0;
}

static int post_one(struct vhca *vhca, struct vhca_qp *qp, const struct ib_send_wr *wr)
{
	enum ib_qp_state state = qp->attr.qp_state;
	int r;

	if (wr->num_sge < 0 || wr->num_sge > qp->init.cap.max_send_sge)
		return -EINVAL;
	if (qp->sends >= qp->init.cap.max_send_wr)
		return -ENOMEM;
	if (state == IB_QPS_RTS || state == IB_QPS_SQD)
		r = post_packet(vhca, qp, wr);
	else if (state == IB_QPS_ERR || state == IB_QPS_SQE)
		r = post_flushed(vhca, qp, wr);
	else
		r = -EINVAL;
	if (!r)
		qp->sends++;
	return r;
}

int vhca_post_send(struct ib_qp *ib, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	struct vhca *vhca = to_vhca(ib->device);
	struct vhca_qp *qp = to_qp(ib);
	unsigned long flags;
	int r = 0;

	spin_lock_irqsave(&qp->lock, flags);
	for (; wr && !r; wr = r ? wr : wr->next)
		r = post_one(vhca, qp, wr);
	spin_unlock_irqrestore(&qp->lock, flags);
	if (r)
		*bad = wr;
	return r;
}

void vhca_send_done(const struct vhca_send *send)
{
	struct vhca_qp *qp = send->qp;
	struct ib_wc wc = {
		.wr_cqe = send->cqe,
		.status = send->status,
		.opcode = send->opcode,
		.byte_len = send->bytes,
		.qp = &qp->ib,
		.port_num = send->port,
	};
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	qp->sends--;
	spin_unlock_irqrestore(&qp->lock, flags);
	if (send->signalled || send->status != IB_WC_SUCCESS)
		vhca_complete(qp->ib.send_cq, &wc, false);
	qp_put(qp);
}

/* Receiving */

int vhca_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	struct vhca_qp *qp = to_qp(ib);
	struct vhca_receive *receive;
	unsigned long flags;
	bool flush;
	int r = 0;

	spin_lock_irqsave(&qp->lock, flags);
	flush = qp->attr.qp_state == IB_QPS_ERR;
	for (; wr; wr = wr->next) {
		u32 max = qp->init.cap.max_recv_wr;

		if (qp->attr.qp_state == IB_QPS_RESET || wr->num_sge < 0 ||
		    wr->num_sge > qp->init.cap.max_recv_sge)
			r = -EINVAL;
		else if (qp->receive_count >= max)
			r = -ENOMEM;
		if (r)
			break;
		receive = &qp->receives[(qp->receive_head + qp->receive_count++) % max];
		receive->cqe = wr->wr_cqe;
		receive->num_sge = wr->num_sge;
		memcpy(receive->sge, wr->sg_list, wr->num_sge * sizeof(*receive->sge));
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	if (r)
		*bad = wr;
	/* Completes the requests, in order, when no lock of the caller is held. */
	if (flush) {
		struct sk_buff *skb = alloc_skb(0, GFP_ATOMIC);

		if (skb) {
			refcount_inc(&qp->users);
			*vhca_send_of(skb) = (struct vhca_send){.qp = qp, .flushes = true};
			vhca_frame_send(to_vhca(ib->device), skb);
		}
	}
	return r;
}

/* Scatters bytes; returns what did not fit. */
static u32 scatter(const struct vhca_receive *receive, u32 *offset, const void *bytes, u32 size)
{
	u32 skip = *offset;

	for (int i = 0; i < receive->num_sge && size; i++) {
		const struct ib_sge *sge = &receive->sge[i];
		u32 part;

		if (skip >= sge->length) {
			skip -= sge->length;
			continue;
		}
		part = min(size, sge->length - skip);
		memcpy((void *)(uintptr_t)(sge->addr + skip), bytes, part);
		bytes += part;
		size -= part;
		*offset += part;
		skip = 0;
	}
	return size;
}

/* A packet for a queue pair whose keys are good. */
struct delivery {
	const struct vhca_packet *packet;
	u8 port, path_bits;
	u16 pkey_index;
};

static void receive_packet(struct vhca *vhca, struct vhca_qp *qp, const struct delivery *delivery)
{
	const struct vhca_packet *packet = delivery->packet;
	struct ib_wc wc = {
		.status = IB_WC_SUCCESS,
		.opcode = IB_WC_RECV,
		.byte_len = UD_GRH_AREA + packet->payload_size,
		.qp = &qp->ib,
		.src_qp = packet->src_qp,
		.slid = packet->slid,
		.sl = packet->sl,
		.dlid_path_bits = delivery->path_bits,
		.pkey_index = delivery->pkey_index,
		.port_num = delivery->port,
		.wc_flags = (packet->has_grh ? IB_WC_GRH : 0) |
			    (packet->has_immediate ? IB_WC_WITH_IMM : 0),
	};
	struct vhca_receive receive;
	u32 offset = 0, left;
	bool taken;

	spin_lock(&qp->lock);
	taken = (qp->attr.qp_state == IB_QPS_RTR || qp->attr.qp_state == IB_QPS_RTS) &&
		take_receive(qp, &receive);
	spin_unlock(&qp->lock);
	if (!taken) {
		atomic64_inc(&vhca->dropped);
		return;
	}
	wc.wr_cqe = receive.cqe;
	wc.ex.imm_data = packet->immediate;
	left = scatter(&receive, &offset, &packet->grh, UD_GRH_AREA);
	left += scatter(&receive, &offset, packet->payload, packet->payload_size);
	if (left)
		wc.status = IB_WC_LOC_LEN_ERR;
	vhca_complete(qp->ib.recv_cq, &wc, packet->solicited);
}

/* Whether the keys are good for the queue pair; *key is the bad one. */
static bool has_good_keys(struct vhca *vhca, struct vhca_qp *qp, struct delivery *delivery,
			  enum vhca_key *key)
{
	const struct vhca_packet *packet = delivery->packet;
	u16 own;
	int index;

	if (qp->ib.qp_type == IB_QPT_SMI)
		return true;
	*key = VHCA_BAD_P_KEY;
	if (qp->ib.qp_type == IB_QPT_GSI) {
		index = vhca_match_p_key(vhca, delivery->port, packet->p_key);
		if (index < 0)
			return false;
		delivery->pkey_index = index;
	} else {
		delivery->pkey_index = qp->attr.pkey_index;
		vhca_read_p_key(vhca, delivery->port, delivery->pkey_index, &own);
		if (!vhca_p_keys_match(own, packet->p_key))
			return false;
	}
	*key = VHCA_BAD_Q_KEY;
	return packet->q_key == qp->attr.qkey;
}

static void offer(struct vhca *vhca, struct vhca_qp *qp, struct delivery delivery, const u8 *bytes)
{
	enum vhca_key key;

	if (qp_port(qp) != delivery.port)
		return;
	if (has_good_keys(vhca, qp, &delivery, &key))
		receive_packet(vhca, qp, &delivery);
	else if (!vhca_is_multicast(delivery.packet->dlid))
		vhca_report_violation(vhca, delivery.port, key, bytes,
				      delivery.packet->payload - bytes);
}

/* The queue pair of a unicast packet, with a use. */
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

/* The next queue pair in the packet's group behind position, with a use; NULL: no more. */
static struct vhca_qp *next_member(struct vhca *vhca, const struct vhca_packet *packet,
				   u32 *position)
{
	struct vhca_group *group;
	struct vhca_qp *qp = NULL;
	unsigned long flags;
	u32 at = 0;

	spin_lock_irqsave(&vhca->lock, flags);
	list_for_each_entry(group, &vhca->groups, link)
	{
		if (at++ < *position || group->lid != packet->dlid ||
		    memcmp(&group->gid, &packet->grh.dgid, sizeof(group->gid)))
			continue;
		qp = group->qp;
		refcount_inc(&qp->users);
		*position = at;
		break;
	}
	spin_unlock_irqrestore(&vhca->lock, flags);
	return qp;
}

void vhca_deliver(struct vhca *vhca, u8 port, const u8 *bytes, u32 size)
{
	struct vhca_packet packet;
	struct delivery delivery = {.packet = &packet, .port = port};
	struct vhca_qp *qp;
	u32 position = 0;

	if (vhca_packet_read(bytes, size, &packet)) {
		atomic64_inc(&vhca->dropped);
		return;
	}
	delivery.path_bits = packet.dlid & ((1 << vhca_lmc(vhca, port)) - 1);
	if (packet.dest_qp == VHCA_MULTICAST_QP) {
		while ((qp = next_member(vhca, &packet, &position))) {
			offer(vhca, qp, delivery, bytes);
			qp_put(qp);
		}
		return;
	}
	qp = find_qp(vhca, port, packet.dest_qp);
	if (!qp) {
		atomic64_inc(&vhca->dropped);
		return;
	}
	offer(vhca, qp, delivery, bytes);
	qp_put(qp);
}

void vhca_flush_later(struct vhca_qp *qp)
{
	flush_receives(qp);
	qp_put(qp);
}

/* Multicast groups */

int vhca_attach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	struct vhca *vhca = to_vhca(ib->device);
	struct vhca_group *group = kzalloc(sizeof(*group), GFP_KERNEL), *other;

	if (!group)
		return -ENOMEM;
	group->qp = to_qp(ib);
	group->gid = *gid;
	group->lid = lid;
	spin_lock_irq(&vhca->lock);
	list_for_each_entry(other, &vhca->groups, link)
	{
		if (other->qp == group->qp && other->lid == lid &&
		    !memcmp(&other->gid, gid, sizeof(*gid))) {
			kfree(group);
			group = NULL;
			break;
		}
	}
	if (group)
		list_add_tail(&group->link, &vhca->groups);
	spin_unlock_irq(&vhca->lock);
	return 0;
}

int vhca_detach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	struct vhca *vhca = to_vhca(ib->device);
	struct vhca_group *group;
	int r = -EINVAL;

	spin_lock_irq(&vhca->lock);
	list_for_each_entry(group, &vhca->groups, link)
	{
		if (group->qp == to_qp(ib) && group->lid == lid &&
		    !memcmp(&group->gid, gid, sizeof(*gid))) {
			list_del(&group->link);
			kfree(group);
			r = 0;
			break;
		}
	}
	spin_unlock_irq(&vhca->lock);
	return r;
}
