// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Datagrams: QP0, QP1 and UD, and multicast groups. A send request becomes a frame at once, and
 * completes when the frame has left; requests and flushed requests share the queue of frames, so
 * that they complete in order. A packet is checked against the queue pair as hardware does
 * (chapters 10.2.4, 10.9), copied into the oldest receive request, and completes it.
 */
#include <rdma/ib_pack.h>

#include "vhca.h"

enum { GRH_AREA = 40, SPECIAL_MTU = VHCA_MAD_SIZE };

/* Sending */

/* The headers of a request, from its address handle and the queue pair. */
static int address_packet(struct vhca *vhca, struct vhca_qp *qp, const struct ib_ud_wr *ud,
			  struct vhca_packet *out)
{
	u8 port = vhca_qp_port(qp);

	if (!ud->ah)
		return -EINVAL;
	memset(out, 0, sizeof(*out));
	vhca_route_packet(vhca, port, &container_of(ud->ah, struct vhca_ah, ib)->attr, out);
	out->src_qp = qp->ib.qp_num;
	out->dest_qp = ud->remote_qpn & 0xFFFFFF;
	out->q_key = ud->remote_qkey & 0x80000000 ? qp->attr.qkey : ud->remote_qkey;
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
	return qp->ib.qp_type == IB_QPT_UD ? vhca_mtu(vhca, vhca_qp_port(qp)) : SPECIAL_MTU;
}

static struct vhca_send *fill_send(struct sk_buff *skb, struct vhca_qp *qp,
				   const struct ib_send_wr *wr)
{
	struct vhca_send *send = vhca_send_of(skb);

	refcount_inc(&qp->users);
	*send = (struct vhca_send){
		.qp = qp,
		.wr_id = wr->wr_id,
		.status = IB_WC_SUCCESS,
		.opcode = IB_WC_SEND,
		.signalled = wr->send_flags & IB_SEND_SIGNALED ||
			     qp->init.sq_sig_type == IB_SIGNAL_ALL_WR,
		.port = vhca_qp_port(qp),
		.bytes = vhca_sge_length(wr->sg_list, wr->num_sge),
	};
	return send;
}

static int post_packet(struct vhca *vhca, struct vhca_qp *qp, const struct ib_send_wr *wr)
{
	struct vhca_packet packet;
	struct vhca_send *send;
	struct sk_buff *skb;
	u8 *payload;
	int r;

	r = address_packet(vhca, qp, ud_wr(wr), &packet);
	if (r)
		return r;
	packet.payload_size = vhca_sge_length(wr->sg_list, wr->num_sge);
	if ((wr->opcode != IB_WR_SEND && wr->opcode != IB_WR_SEND_WITH_IMM) ||
	    packet.payload_size > largest_payload(vhca, qp))
		return -EINVAL;
	packet.opcode = IB_OPCODE_UD_SEND_ONLY;
	packet.solicited = wr->send_flags & IB_SEND_SOLICITED;
	if (wr->opcode == IB_WR_SEND_WITH_IMM) {
		packet.opcode = IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE;
		packet.immediate = wr->ex.imm_data;
	}
	packet.psn = qp->attr.sq_psn++;
	skb = vhca_packet_frame(vhca, vhca_qp_port(qp), &packet, &payload);
	if (!skb)
		return -ENOMEM;
	send = fill_send(skb, qp, wr);
	if (vhca_gather(qp->ib.pd, wr->sg_list, wr->num_sge, 0, payload, packet.payload_size)) {
		send->status = IB_WC_LOC_PROT_ERR;
		if (qp->ib.qp_type == IB_QPT_UD)
			qp->attr.qp_state = IB_QPS_SQE;
	} else {
		send->transmits = true;
		send->loops = vhca_is_multicast(packet.dlid) && qp->ib.qp_type == IB_QPT_UD &&
			      !(qp->init.create_flags & IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK);
	}
	vhca_frame_send(vhca, skb);
	return 0;
}

/* In the state ERR: the request waits behind those before it, and is flushed. */
static int post_flushed(struct vhca *vhca, struct vhca_qp *qp, const struct ib_send_wr *wr)
{
	struct sk_buff *skb = alloc_skb(0, GFP_ATOMIC);

	if (!skb)
		return -ENOMEM;
	fill_send(skb, qp, wr)->status = IB_WC_WR_FLUSH_ERR;
	vhca_frame_send(vhca, skb);
	return 0;
}

int vhca_ud_post(struct vhca *vhca, struct vhca_qp *qp, const struct ib_send_wr *wr)
{
	enum ib_qp_state state = qp->attr.qp_state;
	int r;

	if (qp->sends >= qp->init.cap.max_send_wr)
		return -ENOMEM;
	if (state == IB_QPS_RTS)
		r = post_packet(vhca, qp, wr);
	else if (state == IB_QPS_ERR || state == IB_QPS_SQE)
		r = post_flushed(vhca, qp, wr);
	else
		r = -EINVAL;
	if (!r)
		qp->sends++;
	return r;
}

void vhca_send_done(const struct vhca_send *send)
{
	struct vhca_qp *qp = send->qp;
	struct ib_wc wc = {
		.wr_id = send->wr_id,
		.status = send->status,
		.opcode = send->opcode,
		.byte_len = send->bytes,
		.qp = &qp->ib,
		.port_num = send->port,
	};
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	qp->sends--;
	if (send->signalled || send->status != IB_WC_SUCCESS)
		vhca_qp_complete_send(qp, &wc);
	vhca_qp_unlock(qp, flags);
	vhca_qp_put(qp);
}

/* Receiving */

/* A packet for a queue pair whose keys are good. */
struct delivery {
	const struct vhca_packet *packet;
	u8 port;
	u16 pkey_index;
};

/* The area of the GRH is there in each request; without a GRH its bytes are zero. */
static enum ib_wc_status fill_request(struct vhca_qp *qp, const struct vhca_receive *receive,
				      const struct vhca_packet *packet)
{
	struct ib_pd *pd = qp->init.srq ? qp->init.srq->pd : qp->ib.pd;
	u32 room = vhca_sge_length(receive->sge, receive->num_sge);

	if (room < GRH_AREA + packet->payload_size)
		return IB_WC_LOC_LEN_ERR;
	if (vhca_scatter(pd, receive->sge, receive->num_sge, 0, &packet->grh, GRH_AREA) ||
	    vhca_scatter(pd, receive->sge, receive->num_sge, GRH_AREA, packet->payload,
			 packet->payload_size))
		return IB_WC_LOC_PROT_ERR;
	return IB_WC_SUCCESS;
}

static void receive_packet(struct vhca *vhca, struct vhca_qp *qp, const struct delivery *delivery)
{
	const struct vhca_packet *packet = delivery->packet;
	bool has_immediate = vhca_packet_has_immediate(packet->opcode);
	struct ib_wc wc = {
		.opcode = IB_WC_RECV,
		.byte_len = GRH_AREA + packet->payload_size,
		.qp = &qp->ib,
		.ex.imm_data = packet->immediate,
		.src_qp = packet->src_qp,
		.slid = packet->slid,
		.sl = packet->sl,
		.dlid_path_bits = packet->dlid & ((1 << vhca_lmc(vhca, delivery->port)) - 1),
		.pkey_index = delivery->pkey_index,
		.port_num = delivery->port,
		.wc_flags =
			(packet->has_grh ? IB_WC_GRH : 0) | (has_immediate ? IB_WC_WITH_IMM : 0),
	};
	struct vhca_receive receive;
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	if (vhca_qp_receives(qp) && vhca_take_receive(qp, &receive)) {
		wc.wr_id = receive.wr_id;
		wc.status = fill_request(qp, &receive, packet);
		vhca_qp_complete_recv(qp, &wc, packet->solicited);
	} else {
		atomic64_inc(&vhca->dropped);
	}
	vhca_qp_unlock(qp, flags);
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

void vhca_ud_receive(struct vhca *vhca, struct vhca_qp *qp, u8 port,
		     const struct vhca_packet *packet, const u8 *bytes)
{
	struct delivery delivery = {.packet = packet, .port = port};
	enum vhca_key key;

	if (has_good_keys(vhca, qp, &delivery, &key))
		receive_packet(vhca, qp, &delivery);
	else if (!vhca_is_multicast(packet->dlid))
		vhca_report_violation(vhca, port, key, bytes, packet->payload - bytes);
}

/* Multicast groups */

/* The next queue pair in the packet's group after the serial number, with a use; NULL: no more. */
static struct vhca_qp *next_member(struct vhca *vhca, const struct vhca_packet *packet, u64 *serial)
{
	struct vhca_group *group;
	struct vhca_qp *qp = NULL;
	unsigned long flags;

	spin_lock_irqsave(&vhca->lock, flags);
	list_for_each_entry (group, &vhca->groups, link) {
		if (group->serial <= *serial || group->lid != packet->dlid ||
		    memcmp(&group->gid, &packet->grh.dgid, sizeof(group->gid)))
			continue;
		qp = group->qp;
		refcount_inc(&qp->users);
		*serial = group->serial;
		break;
	}
	spin_unlock_irqrestore(&vhca->lock, flags);
	return qp;
}

void vhca_multicast(struct vhca *vhca, u8 port, const struct vhca_packet *packet, const u8 *bytes)
{
	struct vhca_qp *qp;
	u64 serial = 0;

	while ((qp = next_member(vhca, packet, &serial))) {
		if (vhca_qp_port(qp) == port)
			vhca_ud_receive(vhca, qp, port, packet, bytes);
		vhca_qp_put(qp);
	}
}

void vhca_leave_groups(struct vhca *vhca, const struct vhca_qp *qp)
{
	struct vhca_group *group, *next;

	spin_lock_irq(&vhca->lock);
	list_for_each_entry_safe (group, next, &vhca->groups, link) {
		if (group->qp == qp) {
			list_del(&group->link);
			kfree(group);
		}
	}
	spin_unlock_irq(&vhca->lock);
}

int vhca_attach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	struct vhca *vhca = to_vhca(ib->device);
	struct vhca_group *group = kzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT), *other;
	u32 count = 0;
	int r = 0;

	if (!group)
		return -ENOMEM;
	group->qp = to_qp(ib);
	group->gid = *gid;
	group->lid = lid;
	spin_lock_irq(&vhca->lock);
	list_for_each_entry (other, &vhca->groups, link) {
		if (other->qp != group->qp)
			continue;
		if (other->lid == lid && !memcmp(&other->gid, gid, sizeof(*gid)))
			break;
		if (++count == VHCA_GROUPS_MAX) {
			r = -ENOMEM;
			break;
		}
	}
	if (list_entry_is_head(other, &vhca->groups, link)) {
		group->serial = ++vhca->serials;
		list_add_tail(&group->link, &vhca->groups);
		group = NULL;
	}
	spin_unlock_irq(&vhca->lock);
	kfree(group);
	return r;
}

int vhca_detach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	struct vhca *vhca = to_vhca(ib->device);
	struct vhca_group *group;
	int r = -EINVAL;

	spin_lock_irq(&vhca->lock);
	list_for_each_entry (group, &vhca->groups, link) {
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
