// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The sending side of reliable connections (chapter 9.7): requests become packets when the window
 * has room, complete when the peer acknowledged all of them, and are sent again from the oldest
 * packet without an answer after a time-out or a NAK.
 *
 * An RDMA read is sent as several requests of READ_PACKETS responses, one at a time, so that the
 * responder need not keep long ones. Their PSNs are those that a single request would use.
 */
#include <rdma/ib_pack.h>

#include "vhca.h"

enum {
	WINDOW = 64,	   /* packets without an answer */
	ACK_INTERVAL = 16, /* packets */
	READ_PACKETS = 16,
	RNR_RETRY_FOREVER = 7,
	TIMEOUT_MIN_MS = 50,
};

/* AETH: syndromes (9.7.5.2) */
enum { SYNDROME_KIND = 0x60, SYNDROME_VALUE = 0x1F, ACK = 0x00, RNR_NAK = 0x20, NAK = 0x60 };

static bool is_ready(const struct vhca_qp *qp)
{
	return qp->attr.qp_state == IB_QPS_RTS;
}

u32 vhca_rc_mtu(const struct vhca_qp *qp)
{
	return ib_mtu_enum_to_int(qp->attr.path_mtu);
}

static struct vhca_wqe *wqe_at(struct vhca_qp *qp, u32 index)
{
	struct vhca_requester *req = &qp->requester;

	return &req->ring[(req->head + index) % qp->init.cap.max_send_wr];
}

static bool is_read(const struct vhca_wqe *wqe)
{
	return wqe->opcode == IB_WR_RDMA_READ;
}

/* Posting */

/* By the request's opcode; entries without opcodes are not supported. */
static const struct {
	enum ib_wc_opcode completion;
	u8 first, middle, last, only;
} operations[] = {
	[IB_WR_RDMA_WRITE] = {IB_WC_RDMA_WRITE, IB_OPCODE_RC_RDMA_WRITE_FIRST,
			      IB_OPCODE_RC_RDMA_WRITE_MIDDLE, IB_OPCODE_RC_RDMA_WRITE_LAST,
			      IB_OPCODE_RC_RDMA_WRITE_ONLY},
	[IB_WR_RDMA_WRITE_WITH_IMM] = {IB_WC_RDMA_WRITE, IB_OPCODE_RC_RDMA_WRITE_FIRST,
				       IB_OPCODE_RC_RDMA_WRITE_MIDDLE,
				       IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE,
				       IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE},
	[IB_WR_SEND] = {IB_WC_SEND, IB_OPCODE_RC_SEND_FIRST, IB_OPCODE_RC_SEND_MIDDLE,
			IB_OPCODE_RC_SEND_LAST, IB_OPCODE_RC_SEND_ONLY},
	[IB_WR_SEND_WITH_IMM] = {IB_WC_SEND, IB_OPCODE_RC_SEND_FIRST, IB_OPCODE_RC_SEND_MIDDLE,
				 IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE,
				 IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE},
	[IB_WR_RDMA_READ] = {IB_WC_RDMA_READ, 0, 0, 0, IB_OPCODE_RC_RDMA_READ_REQUEST},
};

static bool is_supported(enum ib_wr_opcode opcode)
{
	return opcode < ARRAY_SIZE(operations) && operations[opcode].only;
}

static void fill_wqe(struct vhca_qp *qp, struct vhca_wqe *wqe, const struct ib_send_wr *wr)
{
	*wqe = (struct vhca_wqe){
		.wr_id = wr->wr_id,
		.opcode = wr->opcode,
		.send_flags = wr->send_flags,
		.immediate = wr->ex.imm_data,
		.length = vhca_sge_length(wr->sg_list, wr->num_sge),
		.first_psn = qp->requester.next_psn,
		.num_sge = wr->num_sge,
	};
	if (wr->opcode != IB_WR_SEND && wr->opcode != IB_WR_SEND_WITH_IMM) {
		wqe->remote_address = rdma_wr(wr)->remote_addr;
		wqe->rkey = rdma_wr(wr)->rkey;
	}
	memcpy(wqe->sge, wr->sg_list, wr->num_sge * sizeof(*wqe->sge));
	if (wqe->length > VHCA_MESSAGE_MAX)
		wqe->status = IB_WC_LOC_LEN_ERR;
	wqe->packets = wqe->status || !wqe->length ? 1 : DIV_ROUND_UP(wqe->length, vhca_rc_mtu(qp));
}

/* In ERR the request is flushed, in order, by the work item. */
int vhca_rc_post(struct vhca *vhca, struct vhca_qp *qp, const struct ib_send_wr *wr)
{
	struct vhca_requester *req = &qp->requester;
	enum ib_qp_state state = qp->attr.qp_state;
	struct vhca_wqe *wqe;

	if (state != IB_QPS_RTS && state != IB_QPS_ERR)
		return -EINVAL;
	if (!is_supported(wr->opcode))
		return -EINVAL;
	if (req->count >= qp->init.cap.max_send_wr)
		return -ENOMEM;
	wqe = wqe_at(qp, req->count);
	if (state == IB_QPS_ERR) {
		*wqe = (struct vhca_wqe){.wr_id = wr->wr_id, .opcode = wr->opcode};
	} else {
		fill_wqe(qp, wqe, wr);
		req->next_psn = vhca_psn_add(req->next_psn, wqe->packets);
	}
	req->count++;
	return 0;
}

/* Completing */

static void complete_oldest(struct vhca_qp *qp, enum ib_wc_status status)
{
	struct vhca_requester *req = &qp->requester;
	const struct vhca_wqe *wqe = wqe_at(qp, 0);
	struct ib_wc wc = {
		.wr_id = wqe->wr_id,
		.status = status,
		.opcode = operations[wqe->opcode].completion,
		.byte_len = wqe->length,
		.qp = &qp->ib,
		.port_num = vhca_qp_port(qp),
	};

	if (status != IB_WC_SUCCESS || wqe->send_flags & IB_SEND_SIGNALED ||
	    qp->init.sq_sig_type == IB_SIGNAL_ALL_WR)
		vhca_qp_complete_send(qp, &wc);
	req->head = (req->head + 1) % qp->init.cap.max_send_wr;
	req->count--;
	if (req->at) {
		req->at--;
	} else {
		req->packet = 0;
	}
}

/* The oldest request ends with an error, and the connection with it. */
static void fail_oldest(struct vhca_qp *qp, enum ib_wc_status status)
{
	if (qp->requester.count)
		complete_oldest(qp, status);
	vhca_qp_fail(qp);
}

void vhca_rc_flush(struct vhca_qp *qp)
{
	while (qp->requester.count)
		complete_oldest(qp, IB_WC_WR_FLUSH_ERR);
}

/* The timer: of an acknowledgement, or of the receiver (RNR) */

static void arm_timer(struct vhca_qp *qp, unsigned long delay)
{
	if (!qp->dying)
		mod_delayed_work(system_highpri_wq, &qp->timer, delay);
}

static void arm_for_answer(struct vhca_qp *qp)
{
	u64 us = 4 * (4096ull << qp->attr.timeout) / 1000; /* 9.7.6.1.3: up to 4 intervals */

	if (qp->attr.timeout)
		arm_timer(qp, msecs_to_jiffies(clamp_t(u64, us / 1000, TIMEOUT_MIN_MS,
						       MSEC_PER_SEC * 3600)));
}

static bool awaits_answer(const struct vhca_requester *req)
{
	return vhca_psn_distance(req->sent_psn, req->unacked_psn) > 0;
}

/* Sends again from the oldest packet without an answer. */
static void go_back(struct vhca_qp *qp)
{
	struct vhca_requester *req = &qp->requester;

	req->at = 0;
	req->packet =
		req->count ? (req->unacked_psn - wqe_at(qp, 0)->first_psn) & VHCA_PSN_MASK : 0;
	req->read_end_psn = req->unacked_psn;
	arm_for_answer(qp);
	vhca_qp_kick(qp);
}

static void retry(struct vhca_qp *qp)
{
	struct vhca_requester *req = &qp->requester;

	if (!req->retries) {
		fail_oldest(qp, IB_WC_RETRY_EXC_ERR);
		return;
	}
	req->retries--;
	go_back(qp);
}

/* A later packet is answered: the response to the oldest RDMA read was lost. What follows it on the
 * way says the same, so that this counts once; then the time-out decides. */
static void miss_response(struct vhca_qp *qp)
{
	struct vhca_requester *req = &qp->requester;

	if (req->missed_psn == req->unacked_psn)
		return;
	req->missed_psn = req->unacked_psn;
	go_back(qp);
}

void vhca_rc_timer(struct work_struct *work)
{
	struct vhca_qp *qp = container_of(to_delayed_work(work), struct vhca_qp, timer);
	struct vhca_requester *req = &qp->requester;
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	if (is_ready(qp) && req->count) {
		if (req->waits_for_receiver) {
			req->waits_for_receiver = false;
			go_back(qp);
		} else if (awaits_answer(req)) {
			retry(qp);
		}
	}
	vhca_qp_unlock(qp, flags);
}

/* Sending */

void vhca_rc_address(struct vhca *vhca, struct vhca_qp *qp, u8 opcode, u32 psn,
		     struct vhca_packet *out)
{
	memset(out, 0, sizeof(*out));
	vhca_route_packet(vhca, vhca_qp_port(qp), &qp->attr.ah_attr, out);
	vhca_read_p_key(vhca, vhca_qp_port(qp), qp->attr.pkey_index, &out->p_key);
	out->dest_qp = qp->attr.dest_qp_num;
	out->opcode = opcode;
	out->psn = psn;
}

static u8 opcode_of(const struct vhca_wqe *wqe, u32 packet)
{
	bool first = packet == 0, last = packet == wqe->packets - 1;

	if (is_read(wqe) || (first && last))
		return operations[wqe->opcode].only;
	return first  ? operations[wqe->opcode].first
	       : last ? operations[wqe->opcode].last
		      : operations[wqe->opcode].middle;
}

static bool read_is_under_way(const struct vhca_requester *req)
{
	return vhca_psn_distance(req->read_end_psn, req->unacked_psn) > 0;
}

/* The packets that the next frame stands for: those of the response to an RDMA read, or 1. A read
 * that is sent again ends where it ended before: the responder takes it for a duplicate. */
static u32 packets_of_next(const struct vhca_wqe *wqe, u32 packet)
{
	if (!is_read(wqe))
		return 1;
	return min_t(u32, wqe->packets - packet, READ_PACKETS - packet % READ_PACKETS);
}

static bool may_send_next(struct vhca_qp *qp)
{
	struct vhca_requester *req = &qp->requester;
	struct vhca_wqe *wqe;
	u32 psn;

	if (!is_ready(qp) || req->waits_for_receiver || req->at >= req->count)
		return false;
	wqe = wqe_at(qp, req->at);
	if (wqe->status != IB_WC_SUCCESS)
		return false;
	if (read_is_under_way(req) && (is_read(wqe) || wqe->send_flags & IB_SEND_FENCE))
		return false;
	psn = vhca_psn_add(wqe->first_psn, req->packet);
	return vhca_psn_distance(psn, req->unacked_psn) < WINDOW;
}

static void fill_request(struct vhca *vhca, struct vhca_qp *qp, const struct vhca_wqe *wqe,
			 u32 packet, struct vhca_packet *out)
{
	u32 mtu = vhca_rc_mtu(qp), offset = packet * mtu, left = wqe->length - offset;
	bool last = packet == wqe->packets - 1;

	vhca_rc_address(vhca, qp, opcode_of(wqe, packet), vhca_psn_add(wqe->first_psn, packet),
			out);
	out->remote_address = wqe->remote_address;
	out->rkey = wqe->rkey;
	out->remote_length = wqe->length;
	out->immediate = wqe->immediate;
	if (is_read(wqe)) {
		out->remote_address += offset;
		out->remote_length = min_t(u32, left, packets_of_next(wqe, packet) * mtu);
		return;
	}
	out->payload_size = min(left, mtu);
	out->solicited = last && wqe->send_flags & IB_SEND_SOLICITED;
	out->ack_request = last || packet % ACK_INTERVAL == ACK_INTERVAL - 1;
}

static void advance(struct vhca_qp *qp, const struct vhca_wqe *wqe)
{
	struct vhca_requester *req = &qp->requester;
	u32 packets = packets_of_next(wqe, req->packet);
	u32 end = vhca_psn_add(wqe->first_psn, req->packet + packets);

	if (is_read(wqe))
		req->read_end_psn = end;
	if (vhca_psn_distance(end, req->sent_psn) > 0)
		req->sent_psn = end;
	req->packet += packets;
	if (req->packet == wqe->packets) {
		req->at++;
		req->packet = 0;
	}
}

/* Sends one frame. Returns false if nothing is to be sent now. */
static bool send_next(struct vhca *vhca, struct vhca_qp *qp)
{
	struct vhca_requester *req = &qp->requester;
	struct vhca_packet packet;
	struct vhca_wqe *wqe;
	struct sk_buff *skb;
	u8 *payload;

	if (is_ready(qp) && req->count && !req->at && wqe_at(qp, 0)->status != IB_WC_SUCCESS) {
		fail_oldest(qp, wqe_at(qp, 0)->status);
		return false;
	}
	if (!may_send_next(qp))
		return false;
	wqe = wqe_at(qp, req->at);
	fill_request(vhca, qp, wqe, req->packet, &packet);
	skb = vhca_packet_frame(vhca, vhca_qp_port(qp), &packet, &payload);
	if (skb && vhca_gather(qp->ib.pd, wqe->sge, wqe->num_sge, req->packet * vhca_rc_mtu(qp),
			       payload, packet.payload_size)) {
		kfree_skb(skb);
		wqe->status = IB_WC_LOC_PROT_ERR;
		return true;
	}
	if (skb)
		vhca_frame_send(vhca, skb);
	/* Without memory the packet is lost, and sent again after the time-out. */
	if (!awaits_answer(req))
		arm_for_answer(qp);
	advance(qp, wqe);
	return true;
}

void vhca_rc_send(struct vhca_qp *qp)
{
	struct vhca *vhca = to_vhca(qp->ib.device);
	unsigned long flags;
	bool more;

	do {
		spin_lock_irqsave(&qp->lock, flags);
		more = send_next(vhca, qp);
		vhca_qp_unlock(qp, flags);
	} while (more);
}

/* Answers */

static void made_progress(struct vhca_qp *qp)
{
	struct vhca_requester *req = &qp->requester;

	req->retries = qp->attr.retry_cnt;
	req->rnr_retries = qp->attr.rnr_retry;
	req->waits_for_receiver = false;
	if (awaits_answer(req))
		arm_for_answer(qp);
	else
		cancel_delayed_work(&qp->timer);
	vhca_qp_kick(qp);
}

/* Moves the oldest packet without an answer forward in the oldest request. */
static void acknowledge_in_oldest(struct vhca_qp *qp, u32 packets)
{
	struct vhca_requester *req = &qp->requester;
	const struct vhca_wqe *wqe = wqe_at(qp, 0);
	u32 done;

	req->unacked_psn = vhca_psn_add(req->unacked_psn, packets);
	done = (req->unacked_psn - wqe->first_psn) & VHCA_PSN_MASK;
	if (!req->at && req->packet < done)
		req->packet = done;
	if (done == wqe->packets) {
		if (!req->at) {
			req->at = 1; /* it was about to be sent again */
			req->packet = 0;
		}
		complete_oldest(qp, IB_WC_SUCCESS);
	}
}

/* All packets before psn have arrived. Returns false if the response to an RDMA read among them is
 * missing: the read must be sent again. */
static bool acknowledge_before(struct vhca_qp *qp, u32 psn)
{
	struct vhca_requester *req = &qp->requester;
	s32 packets = vhca_psn_distance(psn, req->unacked_psn);
	bool progress = packets > 0;
	bool complete = true;

	if (packets > vhca_psn_distance(req->sent_psn, req->unacked_psn))
		return true; /* never sent: a ghost */
	while (packets > 0 && req->count) {
		const struct vhca_wqe *wqe = wqe_at(qp, 0);
		u32 end = vhca_psn_add(wqe->first_psn, wqe->packets);
		s32 part = min(packets, vhca_psn_distance(end, req->unacked_psn));

		if (is_read(wqe)) {
			complete = false;
			break;
		}
		acknowledge_in_oldest(qp, part);
		packets -= part;
	}
	if (progress && complete)
		made_progress(qp);
	return complete;
}

/* 9.7.5.2.8, table 45: in units of 10 us. */
static unsigned long rnr_delay(u8 code)
{
	static const u16 delays[] = {0,	   1,	 2,    3,     4,     6,	    8,	   12,
				     16,   24,	 32,   48,    64,    96,    128,   192,
				     256,  384,	 512,  768,   1024,  1536,  2048,  3072,
				     4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

	return usecs_to_jiffies((code ? delays[code & SYNDROME_VALUE] : 65536) * 10ul) + 1;
}

static void receiver_not_ready(struct vhca_qp *qp, u8 code)
{
	struct vhca_requester *req = &qp->requester;

	if (qp->attr.rnr_retry != RNR_RETRY_FOREVER) {
		if (!req->rnr_retries) {
			fail_oldest(qp, IB_WC_RNR_RETRY_EXC_ERR);
			return;
		}
		req->rnr_retries--;
	}
	req->waits_for_receiver = true;
	arm_timer(qp, rnr_delay(code));
}

static void take_nak(struct vhca_qp *qp, u8 code)
{
	static const enum ib_wc_status statuses[] = {
		[1] = IB_WC_REM_INV_REQ_ERR,
		[2] = IB_WC_REM_ACCESS_ERR,
		[3] = IB_WC_REM_OP_ERR,
	};

	if (!code)
		retry(qp); /* a PSN is missing there */
	else if (code < ARRAY_SIZE(statuses))
		fail_oldest(qp, statuses[code]);
}

static void take_acknowledgement(struct vhca_qp *qp, u32 psn, u8 syndrome)
{
	struct vhca_requester *req = &qp->requester;
	u8 kind = syndrome & SYNDROME_KIND, code = syndrome & SYNDROME_VALUE;

	if (vhca_psn_distance(psn, req->unacked_psn) < 0 ||
	    vhca_psn_distance(psn, req->sent_psn) >= 0)
		return; /* a duplicate, or a ghost */
	if (!acknowledge_before(qp, kind == ACK ? vhca_psn_add(psn, 1) : psn)) {
		miss_response(qp);
		return;
	}
	if (kind == RNR_NAK)
		receiver_not_ready(qp, code);
	else if (kind == NAK)
		take_nak(qp, code);
}

/* A response to the RDMA read that is the oldest request, after what precedes it is acknowledged.
 */
static void take_response(struct vhca_qp *qp, const struct vhca_packet *packet)
{
	struct vhca_requester *req = &qp->requester;
	const struct vhca_wqe *wqe;
	u32 mtu = vhca_rc_mtu(qp), index, expected;

	if (vhca_psn_distance(packet->psn, req->unacked_psn) < 0 ||
	    vhca_psn_distance(packet->psn, req->sent_psn) >= 0)
		return;
	if (!acknowledge_before(qp, packet->psn)) {
		miss_response(qp);
		return;
	}
	if (!req->count || !is_read(wqe_at(qp, 0)))
		return;
	wqe = wqe_at(qp, 0);
	index = (packet->psn - wqe->first_psn) & VHCA_PSN_MASK;
	expected = min(mtu, wqe->length - index * mtu);
	if (packet->payload_size != expected) {
		fail_oldest(qp, IB_WC_BAD_RESP_ERR);
		return;
	}
	if (vhca_scatter(qp->ib.pd, wqe->sge, wqe->num_sge, index * mtu, packet->payload,
			 expected)) {
		fail_oldest(qp, IB_WC_LOC_PROT_ERR);
		return;
	}
	acknowledge_in_oldest(qp, 1);
	made_progress(qp);
}

void vhca_rc_answered(struct vhca_qp *qp, const struct vhca_packet *packet)
{
	if (!is_ready(qp) || !qp->requester.count)
		return;
	if (packet->opcode == IB_OPCODE_RC_ACKNOWLEDGE)
		take_acknowledgement(qp, packet->psn, packet->syndrome);
	else
		take_response(qp, packet);
}

/* States */

void vhca_rc_start(struct vhca_qp *qp, enum ib_qp_state from)
{
	struct vhca_requester *req = &qp->requester;
	enum ib_qp_state to = qp->attr.qp_state;

	if (from == IB_QPS_INIT && to == IB_QPS_RTR) {
		qp->responder.expected_psn = qp->attr.rq_psn;
	} else if (from == IB_QPS_RTR && to == IB_QPS_RTS) {
		req->next_psn = qp->attr.sq_psn;
		req->unacked_psn = req->next_psn;
		req->sent_psn = req->next_psn;
		req->read_end_psn = req->next_psn;
		req->missed_psn = U32_MAX;
		req->retries = qp->attr.retry_cnt;
		req->rnr_retries = qp->attr.rnr_retry;
	} else if (to == IB_QPS_RESET) {
		struct vhca_wqe *ring = req->ring;

		memset(req, 0, sizeof(*req));
		req->ring = ring;
	}
	vhca_qp_kick(qp);
}
