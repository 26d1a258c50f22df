// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The receiving side of reliable connections (chapter 9.7.5): requests are executed in the order of
 * their PSNs and acknowledged; a gap, a missing receive request and a violation are refused with a
 * NAK.
 */
#include <rdma/ib_pack.h>

#include "vhca.h"

/* The most packets of a response; a requester asks for fewer (rc_requester.c). */
enum { RESPONSE_PACKETS_MAX = 64 };

/* AETH: syndromes (9.7.5.2). Credits are not counted. */
enum {
	ACK_WITHOUT_CREDITS = 0x1F,
	RNR_NAK = 0x20,
	NAK_SEQUENCE = 0x60,
	NAK_INVALID = 0x61,
	NAK_ACCESS = 0x62,
	NAK_OPERATION = 0x63,
};

/* Requests with a message, by opcode. */
static const struct {
	enum vhca_message message;
	bool first, last;
} requests[] = {
	[IB_OPCODE_RC_SEND_FIRST] = {VHCA_SEND, true, false},
	[IB_OPCODE_RC_SEND_MIDDLE] = {VHCA_SEND, false, false},
	[IB_OPCODE_RC_SEND_LAST] = {VHCA_SEND, false, true},
	[IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE] = {VHCA_SEND, false, true},
	[IB_OPCODE_RC_SEND_ONLY] = {VHCA_SEND, true, true},
	[IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE] = {VHCA_SEND, true, true},
	[IB_OPCODE_RC_RDMA_WRITE_FIRST] = {VHCA_WRITE, true, false},
	[IB_OPCODE_RC_RDMA_WRITE_MIDDLE] = {VHCA_WRITE, false, false},
	[IB_OPCODE_RC_RDMA_WRITE_LAST] = {VHCA_WRITE, false, true},
	[IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE] = {VHCA_WRITE, false, true},
	[IB_OPCODE_RC_RDMA_WRITE_ONLY] = {VHCA_WRITE, true, true},
	[IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE] = {VHCA_WRITE, true, true},
};

static bool is_answer(u8 opcode)
{
	return opcode >= IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST &&
	       opcode <= IB_OPCODE_RC_ACKNOWLEDGE;
}

/* Acknowledging */

static void acknowledge(struct vhca *vhca, struct vhca_qp *qp, u32 psn, u8 syndrome)
{
	struct vhca_packet packet;
	struct sk_buff *skb;
	u8 *payload;

	vhca_rc_address(vhca, qp, IB_OPCODE_RC_ACKNOWLEDGE, psn, &packet);
	packet.syndrome = syndrome;
	packet.msn = qp->responder.msn;
	skb = vhca_packet_frame(vhca, vhca_qp_port(qp), &packet, &payload);
	if (skb)
		vhca_frame_send(vhca, skb);
}

static void acknowledge_all(struct vhca *vhca, struct vhca_qp *qp)
{
	acknowledge(vhca, qp, vhca_psn_add(qp->responder.expected_psn, VHCA_PSN_MASK),
		    ACK_WITHOUT_CREDITS);
}

/* The expected packet did not come: ask once, and wait for it. */
static void refuse(struct vhca *vhca, struct vhca_qp *qp, u8 syndrome)
{
	struct vhca_responder *resp = &qp->responder;

	if (resp->refused)
		return;
	resp->refused = true;
	acknowledge(vhca, qp, resp->expected_psn, syndrome);
}

/* The peer violated a rule: the connection ends, and the receive request under way with status. */
static void reject(struct vhca *vhca, struct vhca_qp *qp, u8 syndrome, enum ib_wc_status status)
{
	struct vhca_responder *resp = &qp->responder;

	acknowledge(vhca, qp, resp->expected_psn, syndrome);
	if (resp->has_receive) {
		struct ib_wc wc = {.wr_id = resp->receive.wr_id,
				   .status = status,
				   .opcode = IB_WC_RECV,
				   .qp = &qp->ib,
				   .port_num = vhca_qp_port(qp)};

		resp->has_receive = false;
		vhca_qp_complete_recv(qp, &wc, false);
	}
	qp->events |= BIT(syndrome == NAK_ACCESS ? IB_EVENT_QP_ACCESS_ERR : IB_EVENT_QP_REQ_ERR);
	vhca_qp_fail(qp);
}

/* SEND and RDMA WRITE */

/* Receives complete with immediate data, and always after a SEND. */
static bool needs_receive(const struct vhca_packet *packet)
{
	return requests[packet->opcode].message == VHCA_SEND ||
	       vhca_packet_has_immediate(packet->opcode);
}

static bool has_good_size(struct vhca_qp *qp, const struct vhca_packet *packet)
{
	u32 mtu = vhca_rc_mtu(qp);

	if (!requests[packet->opcode].last)
		return packet->payload_size == mtu;
	return packet->payload_size <= mtu &&
	       (packet->payload_size || requests[packet->opcode].first);
}

static void begin_message(struct vhca_qp *qp, const struct vhca_packet *packet)
{
	struct vhca_responder *resp = &qp->responder;

	resp->message = requests[packet->opcode].message;
	resp->received = 0;
	resp->write_address = packet->remote_address;
	resp->write_rkey = packet->rkey;
	resp->write_length = packet->remote_length;
}

/* Returns 0 or the syndrome of the NAK; *status is that of the receive request. */
static u8 store_send(struct vhca_qp *qp, const struct vhca_packet *packet,
		     enum ib_wc_status *status)
{
	struct vhca_responder *resp = &qp->responder;
	const struct vhca_receive *receive = &resp->receive;
	struct ib_pd *pd = qp->init.srq ? qp->init.srq->pd : qp->ib.pd;

	if (packet->payload_size >
	    vhca_sge_length(receive->sge, receive->num_sge) - resp->received) {
		*status = IB_WC_LOC_LEN_ERR;
		return NAK_INVALID;
	}
	if (vhca_scatter(pd, receive->sge, receive->num_sge, resp->received, packet->payload,
			 packet->payload_size)) {
		*status = IB_WC_LOC_PROT_ERR;
		return NAK_OPERATION;
	}
	return 0;
}

static u8 store_write(struct vhca_qp *qp, const struct vhca_packet *packet)
{
	struct vhca_responder *resp = &qp->responder;
	u32 left = resp->write_length - resp->received;

	if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_WRITE))
		return NAK_ACCESS;
	if (packet->payload_size > left ||
	    (requests[packet->opcode].last && packet->payload_size != left))
		return NAK_INVALID;
	if (packet->payload_size &&
	    (!resp->write_rkey ||
	     vhca_memory_write(qp->ib.pd, resp->write_rkey, resp->write_address + resp->received,
			       IB_ACCESS_REMOTE_WRITE, packet->payload, packet->payload_size)))
		return NAK_ACCESS;
	return 0;
}

static void complete_receive(struct vhca_qp *qp, const struct vhca_packet *packet)
{
	struct vhca_responder *resp = &qp->responder;
	bool has_immediate = vhca_packet_has_immediate(packet->opcode);
	struct ib_wc wc = {
		.wr_id = resp->receive.wr_id,
		.status = IB_WC_SUCCESS,
		.opcode = resp->message == VHCA_SEND ? IB_WC_RECV : IB_WC_RECV_RDMA_WITH_IMM,
		.byte_len = resp->received,
		.qp = &qp->ib,
		.ex.imm_data = packet->immediate,
		.src_qp = qp->attr.dest_qp_num,
		.slid = packet->slid,
		.sl = packet->sl,
		.port_num = vhca_qp_port(qp),
		.wc_flags =
			(packet->has_grh ? IB_WC_GRH : 0) | (has_immediate ? IB_WC_WITH_IMM : 0),
	};

	resp->has_receive = false;
	vhca_qp_complete_recv(qp, &wc, packet->solicited);
}

static void take_message(struct vhca *vhca, struct vhca_qp *qp, const struct vhca_packet *packet)
{
	struct vhca_responder *resp = &qp->responder;
	bool first = requests[packet->opcode].first, last = requests[packet->opcode].last;
	enum ib_wc_status status = IB_WC_REM_INV_REQ_ERR;
	u8 nak = 0;

	if (first ? resp->message != VHCA_NO_MESSAGE
		  : resp->message != requests[packet->opcode].message)
		nak = NAK_INVALID;
	if (!nak && !has_good_size(qp, packet))
		nak = NAK_INVALID;
	if (!nak && needs_receive(packet) && !resp->has_receive) {
		resp->has_receive = vhca_take_receive(qp, &resp->receive);
		if (!resp->has_receive) {
			refuse(vhca, qp, RNR_NAK | (qp->attr.min_rnr_timer & 0x1F));
			return;
		}
	}
	if (!nak && first)
		begin_message(qp, packet);
	if (!nak)
		nak = resp->message == VHCA_SEND ? store_send(qp, packet, &status)
						 : store_write(qp, packet);
	if (nak) {
		reject(vhca, qp, nak, status);
		return;
	}
	resp->received += packet->payload_size;
	resp->expected_psn = vhca_psn_add(resp->expected_psn, 1);
	if (last) {
		resp->msn = vhca_psn_add(resp->msn, 1);
		if (resp->has_receive)
			complete_receive(qp, packet);
		resp->message = VHCA_NO_MESSAGE;
	}
	if (packet->ack_request)
		acknowledge_all(vhca, qp);
}

/* RDMA READ */

static u32 response_packets(const struct vhca_qp *qp, const struct vhca_packet *packet)
{
	return packet->remote_length ? DIV_ROUND_UP(packet->remote_length, vhca_rc_mtu(qp)) : 1;
}

static u8 response_opcode(u32 index, u32 count)
{
	if (count == 1)
		return IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY;
	return index == 0	    ? IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST
	       : index == count - 1 ? IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST
				    : IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE;
}

/* Sends one packet of the response. Returns 0 or the syndrome of a NAK. */
static u8 respond(struct vhca *vhca, struct vhca_qp *qp, const struct vhca_packet *request,
		  u32 index, u32 count)
{
	u32 mtu = vhca_rc_mtu(qp), offset = index * mtu;
	struct vhca_packet packet;
	struct sk_buff *skb;
	u8 *payload;

	vhca_rc_address(vhca, qp, response_opcode(index, count), vhca_psn_add(request->psn, index),
			&packet);
	packet.syndrome = ACK_WITHOUT_CREDITS;
	packet.msn = qp->responder.msn;
	packet.payload_size = min(request->remote_length - offset, mtu);
	skb = vhca_packet_frame(vhca, vhca_qp_port(qp), &packet, &payload);
	if (!skb)
		return 0; /* lost: the requester asks again */
	if (packet.payload_size &&
	    (!request->rkey ||
	     vhca_memory_read(qp->ib.pd, request->rkey, request->remote_address + offset,
			      IB_ACCESS_REMOTE_READ, payload, packet.payload_size))) {
		kfree_skb(skb);
		return NAK_ACCESS;
	}
	vhca_frame_send(vhca, skb);
	return 0;
}

/* A duplicate is executed again (9.7.5.1.5). All of it must have been executed before. */
static void take_read(struct vhca *vhca, struct vhca_qp *qp, const struct vhca_packet *packet,
		      bool duplicate)
{
	struct vhca_responder *resp = &qp->responder;
	u32 count = response_packets(qp, packet);
	u32 sent = 0;
	u8 nak = 0;

	if (duplicate &&
	    vhca_psn_distance(vhca_psn_add(packet->psn, count), resp->expected_psn) > 0)
		return;
	if (resp->message != VHCA_NO_MESSAGE && !duplicate)
		nak = NAK_INVALID;
	else if (count > RESPONSE_PACKETS_MAX || packet->payload_size)
		nak = NAK_INVALID;
	else if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_READ))
		nak = NAK_ACCESS;
	if (!nak && !duplicate)
		resp->msn = vhca_psn_add(resp->msn, 1);
	while (sent < count && !nak) {
		nak = respond(vhca, qp, packet, sent, count);
		sent += !nak;
	}
	if (nak) {
		/* The responses acknowledge their PSNs, so the NAK has the next one (9.7.5.2.8). */
		resp->expected_psn = vhca_psn_add(packet->psn, sent);
		reject(vhca, qp, nak, IB_WC_REM_INV_REQ_ERR);
	} else if (!duplicate) {
		resp->expected_psn = vhca_psn_add(resp->expected_psn, count);
	}
}

/* Packets */

static void take_request(struct vhca *vhca, struct vhca_qp *qp, const struct vhca_packet *packet)
{
	struct vhca_responder *resp = &qp->responder;
	s32 ahead = vhca_psn_distance(packet->psn, resp->expected_psn);
	bool is_read = packet->opcode == IB_OPCODE_RC_RDMA_READ_REQUEST;

	if (qp->attr.qp_state == IB_QPS_RTR && !resp->msn) {
		qp->events |= BIT(IB_EVENT_COMM_EST);
		vhca_qp_kick(qp);
	}
	if (ahead > 0) {
		refuse(vhca, qp, NAK_SEQUENCE);
		return;
	}
	if (ahead < 0) {
		if (is_read)
			take_read(vhca, qp, packet, true);
		else
			acknowledge_all(vhca, qp);
		return;
	}
	resp->refused = false;
	if (is_read)
		take_read(vhca, qp, packet, false);
	else
		take_message(vhca, qp, packet);
}

/* The packet must come from the peer (9.6.1). */
static bool is_of_peer(const struct vhca_qp *qp, const struct vhca_packet *packet)
{
	const struct rdma_ah_attr *attr = &qp->attr.ah_attr;
	bool has_grh = rdma_ah_get_ah_flags(attr) & IB_AH_GRH;

	return packet->slid == rdma_ah_get_dlid(attr) && packet->has_grh == has_grh &&
	       (!has_grh || !memcmp(&packet->grh.sgid, &rdma_ah_read_grh(attr)->dgid,
				    sizeof(packet->grh.sgid)));
}

void vhca_rc_receive(struct vhca *vhca, struct vhca_qp *qp, u8 port,
		     const struct vhca_packet *packet, const u8 *bytes)
{
	unsigned long flags;
	u16 p_key;

	spin_lock_irqsave(&qp->lock, flags);
	if (!vhca_qp_receives(qp) || !is_of_peer(qp, packet)) {
		atomic64_inc(&vhca->dropped);
		goto unlock;
	}
	vhca_read_p_key(vhca, port, qp->attr.pkey_index, &p_key);
	if (!vhca_p_keys_match(p_key, packet->p_key))
		vhca_report_violation(vhca, port, VHCA_BAD_P_KEY, bytes, packet->payload - bytes);
	else if (is_answer(packet->opcode))
		vhca_rc_answered(qp, packet);
	else
		take_request(vhca, qp, packet);
unlock:
	vhca_qp_unlock(qp, flags);
}
