/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * vhca: the driver of a virtual HCA, whose hardware is a port of weftsim. This header is shared by
 *its files:
 *
 *	main.c    network interfaces come and go, and with them HCAs
 *	wire.c    frames to and from weftsim, requests with their answers, the state of ports
 *	verbs.c   the device and its ports for the RDMA core, address handles, MADs of the own port
 *	cq.c      completion queues
 *	qp.c      queue pairs: work requests, multicast groups, delivery of packets
 *	packet.c  the headers of packets
 *
 * Contexts: frames arrive in softirqs. Work requests may be posted with interrupts disabled, so
 *that packets leave from a work item (vhca->send). Completion handlers run from softirqs or this
 *work item, never from within a post.
 */
#ifndef VHCA_H
#define VHCA_H

#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/xarray.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

#include "compat.h"
#include "frame.h"

enum {
	VHCA_PORTS_MAX = 2,
	VHCA_P_KEYS_MAX = 1024,
	VHCA_GUIDS_MAX = 256,
	VHCA_SGES_MAX = 16,
	VHCA_WORK_MAX = 16384, /* requests of a queue */
	VHCA_CQES_MAX = 65536,
	VHCA_OBJECTS_MAX = 65536,
};

/* A port as weftsim reported it last. */
struct vhca_port {
	bool known;
	u32 reregistrations;
	u8 info[64]; /* PortInfo */
	u16 p_keys[VHCA_P_KEYS_MAX];
	__be64 guids[VHCA_GUIDS_MAX];
};

struct vhca {
	struct ib_device ib;
	struct list_head link; /* of all HCAs */
	struct net_device *netdev;
	netdevice_tracker tracker;
	struct delayed_work manage; /* registers and unregisters the device */
	bool leaving;		    /* the HCA ends */
	bool gone;		    /* and its interface with it: nothing can be sent */
	bool greeted;		    /* weftsim answered HELLO since the interface is up */
	bool registered;

	struct sk_buff_head sending;
	struct work_struct send;

	/* One request to weftsim at a time. */
	struct mutex requesting;
	spinlock_t lock; /* the members below */
	u32 request;	 /* its id; 0: none */
	u8 answer_type;
	bool answered, has_answer;
	struct completion answer_came;
	u8 answer[VHCA_MAD_SIZE];
	struct vhca_welcome welcome;
	struct vhca_port port[VHCA_PORTS_MAX];
	u16 num_p_keys, num_guids;

	struct xarray qps; /* by number, from 2 on */
	struct vhca_qp *special[VHCA_PORTS_MAX][2];
	struct list_head groups; /* struct vhca_group, under lock */
	atomic64_t dropped;	 /* packets without a queue pair or a receive request */
};

static inline struct vhca *to_vhca(struct ib_device *ib)
{
	return container_of(ib, struct vhca, ib);
}

struct vhca_ah {
	struct ib_ah ib;
	struct rdma_ah_attr attr;
};

struct vhca_pd {
	struct ib_pd ib;
};

struct vhca_cq {
	struct ib_cq ib;
	spinlock_t lock;
	struct ib_wc *ring;
	u32 size, head, count;
	u8 armed; /* enum ib_cq_notify_flags; 0: not */
	bool failed;
};

struct vhca_receive {
	struct ib_cqe *cqe;
	int num_sge;
	struct ib_sge sge[VHCA_SGES_MAX];
};

struct vhca_qp {
	struct ib_qp ib;
	refcount_t users;
	struct completion unused;
	spinlock_t lock; /* state, attributes, queues */
	struct ib_qp_attr attr;
	struct ib_qp_init_attr init;
	struct vhca_receive *receives;
	u32 receive_head, receive_count;
	u32 sends; /* under way */
};

/* A queue pair in a multicast group. */
struct vhca_group {
	struct list_head link;
	struct vhca_qp *qp;
	union ib_gid gid;
	u16 lid;
};

/* The headers of a packet, in host order. */
struct vhca_packet {
	u16 dlid, slid, p_key;
	u8 sl, opcode;
	bool has_grh, has_immediate, solicited;
	struct ib_grh grh; /* as on the wire */
	u32 q_key, dest_qp, src_qp, psn;
	__be32 immediate;
	const u8 *payload;
	u32 payload_size;
};

enum { VHCA_UD_SEND = 0x64, VHCA_UD_SEND_IMMEDIATE = 0x65, VHCA_MULTICAST_QP = 0xFFFFFF };

/* packet.c */

/* The bytes of the headers, up to the payload. */
u32 vhca_packet_header_size(const struct vhca_packet *packet);
/* Writes the headers for payload_size bytes of payload. Returns their size. */
u32 vhca_packet_write(const struct vhca_packet *packet, u8 *to);
/* The bytes of padding behind the payload. */
static inline u32 vhca_packet_pad(u32 payload_size)
{
	return -payload_size & 3;
}
/* Parses a UD packet; payload is borrowed. Returns 0 or -EINVAL. */
int vhca_packet_read(const u8 *bytes, u32 size, struct vhca_packet *out);
static inline bool vhca_is_multicast(u16 lid)
{
	return lid >= 0xC000 && lid < 0xFFFF;
}

/* wire.c */

void vhca_wire_init(struct vhca *vhca);
/* Sends all frames that are queued, and waits for it. */
void vhca_wire_flush(struct vhca *vhca);
/* A frame with room for a body of size bytes, which *body points to; NULL without memory. */
struct sk_buff *vhca_frame_new(struct vhca *vhca, enum vhca_type type, u8 port, u32 size,
			       u8 **body);
/* Queues a frame, whose control block is zero or a send request. In any context. */
void vhca_frame_send(struct vhca *vhca, struct sk_buff *skb);
/* A request to weftsim. Returns 1: answered with a MAD in answer (256 bytes); 0: answered without
 * one; or -ETIMEDOUT, -ENOMEM. May sleep. */
int vhca_request(struct vhca *vhca, enum vhca_type type, u8 port, const void *body, u32 size,
		 u8 *answer);
/* The handler of frames. */
int vhca_frame_receive(struct sk_buff *skb, struct net_device *netdev, struct packet_type *type,
		       struct net_device *orig);
/* Reports a packet with a bad key: its headers. */
void vhca_report_violation(struct vhca *vhca, u8 port, enum vhca_key key, const u8 *headers,
			   u32 size);
/* The HCA of an interface, under rcu_read_lock(); NULL: none. */
struct vhca *vhca_of_netdev(const struct net_device *netdev);

/* A send request in the control block of its frame. */
struct vhca_send {
	struct vhca_qp *qp; /* NULL: none */
	struct ib_cqe *cqe;
	enum ib_wc_status status;
	enum ib_wc_opcode opcode;
	bool signalled;
	bool transmits; /* the frame leaves */
	bool loops;	/* and its packet is delivered to local members of its group */
	bool flushes;	/* no request: the receive requests of qp are flushed */
	u8 port;
	u32 bytes;
};
static inline struct vhca_send *vhca_send_of(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct vhca_send) > sizeof(skb->cb));
	return (struct vhca_send *)skb->cb;
}

/* verbs.c */

extern const struct ib_device_ops vhca_ops;
void vhca_read_p_key(struct vhca *vhca, u8 port, u16 index, u16 *p_key);
/* The index of the first P_Key that matches, or -ENOENT. */
int vhca_match_p_key(struct vhca *vhca, u8 port, u16 p_key);
void vhca_read_gid(struct vhca *vhca, u8 port, u16 index, union ib_gid *gid);
u16 vhca_lid(struct vhca *vhca, u8 port);
u8 vhca_lmc(struct vhca *vhca, u8 port);
u32 vhca_mtu(struct vhca *vhca, u8 port);
static inline bool vhca_p_keys_match(u16 a, u16 b)
{
	return !((a ^ b) & 0x7FFF) && (a & 0x7FFF) && ((a | b) & 0x8000);
}

/* cq.c */

int vhca_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr, VHCA_CQ_ATTRS *attrs);
int vhca_destroy_cq(struct ib_cq *ib, struct ib_udata *udata);
int vhca_poll_cq(struct ib_cq *ib, int entries, struct ib_wc *wc);
int vhca_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags flags);
/* Adds a completion, and calls the handler if it is armed. Not from within a post. */
void vhca_complete(struct ib_cq *ib, const struct ib_wc *wc, bool solicited);

/* qp.c */

int vhca_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *attr, struct ib_udata *udata);
int vhca_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask, struct ib_udata *udata);
int vhca_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init);
int vhca_destroy_qp(struct ib_qp *ib, struct ib_udata *udata);
int vhca_post_send(struct ib_qp *ib, const struct ib_send_wr *wr, const struct ib_send_wr **bad);
int vhca_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad);
int vhca_attach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid);
int vhca_detach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid);
/* The frame of a send request has left, or will not leave. */
void vhca_send_done(const struct vhca_send *send);
/* Flushes the receive requests, and ends a use of the queue pair. */
void vhca_flush_later(struct vhca_qp *qp);
/* Delivers a packet to its queue pairs. In softirqs, or with them disabled. */
void vhca_deliver(struct vhca *vhca, u8 port, const u8 *bytes, u32 size);

#endif
