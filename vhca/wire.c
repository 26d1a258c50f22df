// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Frames to and from weftsim (frame.h). Frames leave from a work item, because the networking stack
 * must not be entered with interrupts disabled. Requests have one answer each: they are repeated
 * under the same id until it comes, because a frame may be lost for want of memory.
 */
#include <linux/etherdevice.h>

#include "vhca.h"

enum { TRIES = 10, TRY_MS = 300, REPORT_BODY_MAX = 256 };

/* Sending */

struct sk_buff *vhca_frame_new(struct vhca *vhca, enum vhca_type type, u8 port, u32 size, u8 **body)
{
	struct net_device *netdev = vhca->netdev;
	u32 room = LL_RESERVED_SPACE(netdev);
	struct vhca_head *head;
	struct sk_buff *skb;

	skb = alloc_skb(room + sizeof(*head) + size + netdev->needed_tailroom, GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb_reserve(skb, room);
	skb->dev = netdev;
	skb->protocol = htons(VHCA_ETHERTYPE);
	skb_reset_network_header(skb);
	head = skb_put_zero(skb, sizeof(*head));
	head->version = VHCA_VERSION;
	head->type = type;
	head->port = port;
	head->size = cpu_to_be16(size);
	*body = skb_put(skb, size);
	memset(skb->cb, 0, sizeof(skb->cb));
	return skb;
}

void vhca_frame_send(struct vhca *vhca, struct sk_buff *skb)
{
	skb_queue_tail(&vhca->sending, skb);
	queue_work(system_highpri_wq, &vhca->send);
}

static void transmit(struct vhca *vhca, struct sk_buff *skb)
{
	struct net_device *netdev = vhca->netdev;
	int r;

	if (READ_ONCE(vhca->gone) || !netif_running(netdev)) {
		kfree_skb(skb);
		return;
	}
	if (dev_hard_header(skb, netdev, VHCA_ETHERTYPE, netdev->broadcast, netdev->dev_addr,
			    skb->len) < 0) {
		kfree_skb(skb);
		return;
	}
	r = dev_queue_xmit(skb);
	if (net_xmit_eval(r)) /* a macro that evaluates it twice */
		atomic64_inc(&vhca->dropped);
}

static void send_one(struct vhca *vhca, struct sk_buff *skb)
{
	struct vhca_send send = *vhca_send_of(skb);

	memset(skb->cb, 0, sizeof(skb->cb));
	/* As hardware that is gone: its clients must not wait for answers. */
	if (READ_ONCE(vhca->gone))
		send.status = IB_WC_WR_FLUSH_ERR;
	local_bh_disable();
	if (send.loops)
		vhca_deliver(vhca, send.port, skb->data + sizeof(struct vhca_head),
			     skb->len - sizeof(struct vhca_head));
	if (send.transmits || !send.qp)
		transmit(vhca, skb);
	else
		kfree_skb(skb);
	if (send.qp)
		vhca_send_done(&send);
	local_bh_enable();
}

static void send_work(struct work_struct *work)
{
	struct vhca *vhca = container_of(work, struct vhca, send);
	struct sk_buff *skb;

	while ((skb = skb_dequeue(&vhca->sending))) {
		send_one(vhca, skb);
		cond_resched();
	}
}

void vhca_wire_flush(struct vhca *vhca)
{
	flush_work(&vhca->send);
	while (!skb_queue_empty(&vhca->sending)) {
		queue_work(system_highpri_wq, &vhca->send);
		flush_work(&vhca->send);
	}
}

void vhca_wire_init(struct vhca *vhca)
{
	skb_queue_head_init(&vhca->sending);
	INIT_WORK(&vhca->send, send_work);
	mutex_init(&vhca->requesting);
	spin_lock_init(&vhca->lock);
	init_completion(&vhca->answer_came);
}

/* Requests */

static u32 new_request(struct vhca *vhca, enum vhca_type type)
{
	static atomic_t last;
	u32 id = atomic_inc_return(&last);

	if (!id)
		id = atomic_inc_return(&last);
	reinit_completion(&vhca->answer_came);
	spin_lock_irq(&vhca->lock);
	vhca->request = id;
	vhca->answer_type = type == VHCA_HELLO ? VHCA_WELCOME : VHCA_ANSWER;
	vhca->answered = false;
	vhca->has_answer = false;
	spin_unlock_irq(&vhca->lock);
	return id;
}

static int send_request(struct vhca *vhca, enum vhca_type type, u8 port, u32 id, const void *body,
			u32 size)
{
	struct sk_buff *skb;
	u8 *to;

	skb = vhca_frame_new(vhca, type, port, size, &to);
	if (!skb)
		return -ENOMEM;
	((struct vhca_head *)skb->data)->id = cpu_to_be32(id);
	memcpy(to, body, size);
	vhca_frame_send(vhca, skb);
	return 0;
}

static int end_request(struct vhca *vhca, u8 *answer)
{
	int r = -ETIMEDOUT;

	spin_lock_irq(&vhca->lock);
	vhca->request = 0;
	if (vhca->answered)
		r = vhca->has_answer;
	if (r > 0 && answer)
		memcpy(answer, vhca->answer, VHCA_MAD_SIZE);
	spin_unlock_irq(&vhca->lock);
	return r;
}

/* An HCA that ends does not greet weftsim again, which answers no other HCA. */
static bool can_ask(const struct vhca *vhca)
{
	return !READ_ONCE(vhca->gone) && (!READ_ONCE(vhca->leaving) || READ_ONCE(vhca->greeted));
}

int vhca_request(struct vhca *vhca, enum vhca_type type, u8 port, const void *body, u32 size,
		 u8 *answer)
{
	u32 id;
	int r = 0;

	mutex_lock(&vhca->requesting);
	id = new_request(vhca, type);
	for (int i = 0; i < TRIES && can_ask(vhca) && !r; i++) {
		r = send_request(vhca, type, port, id, body, size);
		if (!r && wait_for_completion_timeout(&vhca->answer_came, msecs_to_jiffies(TRY_MS)))
			break;
	}
	r = r ? (end_request(vhca, NULL), r) : end_request(vhca, answer);
	mutex_unlock(&vhca->requesting);
	return r;
}

void vhca_report_violation(struct vhca *vhca, u8 port, enum vhca_key key, const u8 *headers,
			   u32 size)
{
	struct vhca_violation *violation;
	struct sk_buff *skb;
	u8 *body;

	if (size > REPORT_BODY_MAX)
		return;
	skb = vhca_frame_new(vhca, VHCA_VIOLATION, port, sizeof(*violation) + size, &body);
	if (!skb)
		return;
	violation = (struct vhca_violation *)body;
	memset(violation, 0, sizeof(*violation));
	violation->key = key;
	memcpy(body + sizeof(*violation), headers, size);
	vhca_frame_send(vhca, skb);
}

/* Receiving */

static void take_answer(struct vhca *vhca, const struct vhca_head *head, const u8 *body, u32 size)
{
	bool has_mad = head->type == VHCA_ANSWER && size == VHCA_MAD_SIZE;

	spin_lock(&vhca->lock);
	if (vhca->request && vhca->request == be32_to_cpu(head->id) && !vhca->answered &&
	    vhca->answer_type == head->type) {
		if (has_mad)
			memcpy(vhca->answer, body, VHCA_MAD_SIZE);
		if (head->type == VHCA_WELCOME)
			memcpy(&vhca->welcome, body, sizeof(vhca->welcome));
		vhca->has_answer = has_mad;
		vhca->answered = true;
		complete(&vhca->answer_came);
	}
	spin_unlock(&vhca->lock);
}

/* PortInfo: the bytes of the members that events are about (14.2.5.6). */
enum {
	INFO_GID_PREFIX = 8,
	INFO_LID = 16,
	INFO_SM_LID = 18,
	INFO_STATE = 32,
	INFO_LMC = 34,
	INFO_SM_SL = 36,
};

static bool info_differs(const u8 *a, const u8 *b, u32 at, u32 size)
{
	return memcmp(a + at, b + at, size) != 0;
}

static bool info_is_active(const u8 *info)
{
	return (info[INFO_STATE] & 0xF) == IB_PORT_ACTIVE;
}

/* Which events tell clients of the difference; a bit each. */
static u32 events_of(const struct vhca_port *from, const struct vhca_port *to)
{
	const u8 *a = from->info, *b = to->info;
	u32 events = 0;

	if (info_differs(a, b, INFO_LID, 2) || info_differs(a, b, INFO_LMC, 1))
		events |= BIT(IB_EVENT_LID_CHANGE);
	if (info_differs(a, b, INFO_SM_LID, 2) || (a[INFO_SM_SL] ^ b[INFO_SM_SL]) & 0xF)
		events |= BIT(IB_EVENT_SM_CHANGE);
	if (memcmp(from->p_keys, to->p_keys, sizeof(to->p_keys)))
		events |= BIT(IB_EVENT_PKEY_CHANGE);
	if (info_differs(a, b, INFO_GID_PREFIX, 8) ||
	    memcmp(from->guids, to->guids, sizeof(to->guids)))
		events |= BIT(IB_EVENT_GID_CHANGE);
	if (from->reregistrations != to->reregistrations)
		events |= BIT(IB_EVENT_CLIENT_REREGISTER);
	if (info_is_active(a) != info_is_active(b))
		events |= info_is_active(b) ? BIT(IB_EVENT_PORT_ACTIVE) : BIT(IB_EVENT_PORT_ERR);
	return events;
}

static void dispatch(struct vhca *vhca, u8 port, u32 events)
{
	struct ib_event event = {.device = &vhca->ib, .element.port_num = port};

	for (; events; events &= events - 1) {
		event.event = __ffs(events);
		ib_dispatch_event(&event);
	}
}

/* A state that does not fit the tables of the welcome is malformed. */
static void take_state(struct vhca *vhca, u8 port, const u8 *body, u32 size)
{
	const struct vhca_state *state = (const struct vhca_state *)body;
	u32 guids = vhca->num_guids, p_keys = vhca->num_p_keys;
	struct vhca_port *now, *was;
	u32 events = 0;

	if (!vhca->netdev || port < 1 || port > VHCA_PORTS_MAX ||
	    size != sizeof(*state) + guids * sizeof(__be64) + p_keys * sizeof(__be16))
		return;
	now = kzalloc(sizeof(*now), GFP_ATOMIC);
	if (!now)
		return;
	now->known = true;
	now->reregistrations = be32_to_cpu(state->reregistrations);
	memcpy(now->info, state->port_info, sizeof(now->info));
	body += sizeof(*state);
	memcpy(now->guids, body, guids * sizeof(__be64));
	body += guids * sizeof(__be64);
	for (u32 i = 0; i < p_keys; i++, body += sizeof(__be16))
		now->p_keys[i] = body[0] << 8 | body[1];
	spin_lock(&vhca->lock);
	was = &vhca->port[port - 1];
	if (was->known)
		events = events_of(was, now);
	*was = *now;
	spin_unlock(&vhca->lock);
	kfree(now);
	if (smp_load_acquire(&vhca->registered) && !READ_ONCE(vhca->leaving))
		dispatch(vhca, port, events);
}

/* The tables must be known before the first state is read, which follows at once. */
static void take_welcome(struct vhca *vhca, const struct vhca_head *head, const u8 *body, u32 size)
{
	const struct vhca_welcome *welcome = (const struct vhca_welcome *)body;
	u16 p_keys, guids;

	if (size != sizeof(*welcome))
		return;
	p_keys = be16_to_cpu(welcome->p_keys);
	guids = be16_to_cpu(welcome->guids);
	if (!p_keys || p_keys > VHCA_P_KEYS_MAX || !guids || guids > VHCA_GUIDS_MAX ||
	    !welcome->ports || welcome->ports > VHCA_PORTS_MAX)
		return;
	if (!vhca->registered) {
		vhca->num_p_keys = p_keys;
		vhca->num_guids = guids;
	}
	take_answer(vhca, head, body, size);
}

static void take_frame(struct vhca *vhca, const struct vhca_head *head, const u8 *body, u32 size)
{
	switch (head->type) {
	case VHCA_WELCOME:
		take_welcome(vhca, head, body, size);
		break;
	case VHCA_ANSWER:
		take_answer(vhca, head, body, size);
		break;
	case VHCA_STATE:
		take_state(vhca, head->port, body, size);
		break;
	case VHCA_PACKET:
		if (head->port >= 1 && head->port <= vhca->ib.phys_port_cnt)
			vhca_deliver(vhca, head->port, body, size);
		break;
	default:
		break;
	}
}

int vhca_frame_receive(struct sk_buff *skb, struct net_device *netdev, struct packet_type *type,
		       struct net_device *orig)
{
	const struct vhca_head *head;
	struct vhca *vhca;
	u32 size;

	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return NET_RX_DROP;
	if (skb_linearize(skb) || skb->len < sizeof(*head))
		goto drop;
	head = (const struct vhca_head *)skb->data;
	size = be16_to_cpu(head->size);
	if (head->version != VHCA_VERSION || size > skb->len - sizeof(*head))
		goto drop;
	rcu_read_lock();
	vhca = vhca_of_netdev(netdev);
	if (vhca)
		take_frame(vhca, head, skb->data + sizeof(*head), size);
	rcu_read_unlock();
	consume_skb(skb);
	return NET_RX_SUCCESS;
drop:
	kfree_skb(skb);
	return NET_RX_DROP;
}
