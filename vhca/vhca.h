/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * vhca: the driver of a virtual HCA, whose hardware is a port of weftsim. Its files share this
 * header:
 *
 *   main.c    network interfaces come and go, and with them HCAs
 *   wire.c    frames to and from weftsim, requests with their answers, the state of ports
 *   verbs.c   the device and its ports for the RDMA core, address handles, MADs of the own port
 *   mr.c      memory regions of programs, and copies from and to the memory of requests
 *   cq.c      completion queues
 *   rq.c      receive queues: those of queue pairs, and shared ones
 *   qp.c      queue pairs: life, states, attributes, delivery of packets to them
 *   ud.c      datagrams, multicast groups
 *   packet.c  the headers of packets
 *   rc_requester.c, rc_responder.c   reliable connections
 *
 * Contexts: frames arrive in softirqs. Work requests may be posted with interrupts disabled, so
 * that packets leave from a work item (vhca->send). Completion handlers run from softirqs or work
 * items, never from within a post.
 *
 * Locks nest in this order: a queue pair, its receive queue, a completion queue. vhca->lock and the
 * locks of tables are innermost. No handler is called under a lock.
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
	VHCA_MESSAGE_MAX = 1 << 30,
	VHCA_READS_MAX = 16,	/* RDMA reads of a connection */
	VHCA_GROUPS_MAX = 1024, /* multicast groups of a queue pair */
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
	bool registered, refused;   /* by the RDMA core */

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
	struct xarray mrs; /* by index, from 1 on (mr.c) */
	atomic_t next_key; /* varies the keys of memory regions */
	u32 next_qp;	   /* numbers are not used again soon */
	struct vhca_qp *special[VHCA_PORTS_MAX][2];
	struct list_head groups; /* struct vhca_group, under lock */
	u64 serials;		 /* of the groups, under lock */
	atomic64_t dropped;	 /* packets without a queue pair, a receive request or room in the
				    interface */
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

struct vhca_ucontext {
	struct ib_ucontext ib;
};

struct vhca_cq {
	struct ib_cq ib;
	spinlock_t lock;
	struct ib_wc *ring;
	u32 size, head, count;
	u8 armed;		/* enum ib_cq_notify_flags; 0: not */
	bool failed, announced; /* it overflowed */
};

struct vhca_receive {
	u64 wr_id;
	int num_sge;
	struct ib_sge sge[VHCA_SGES_MAX];
};

struct vhca_rq {
	spinlock_t lock;
	struct vhca_receive *ring;
	u32 size, max_sge, head, count;
	u32 limit; /* of a shared one: an event below it; 0: none */
};

struct vhca_srq {
	struct ib_srq ib;
	struct vhca_rq rq;
	struct work_struct limit_reached;
};

/* A send request of a reliable connection. */
struct vhca_wqe {
	u64 wr_id;
	enum ib_wr_opcode opcode;
	enum ib_wc_status status; /* an error that is due when the request is the oldest */
	int send_flags;
	__be32 immediate;
	u64 remote_address;
	u32 rkey, length;
	u32 first_psn, packets; /* RDMA read: of its responses */
	int num_sge;
	struct ib_sge sge[VHCA_SGES_MAX];
};

/* The sending side of a reliable connection. PSNs have 24 bits. */
struct vhca_requester {
	struct vhca_wqe *ring;
	u32 head, count;
	u32 next_psn;	  /* of the next request that is posted */
	u32 unacked_psn;  /* the oldest one without an answer; in the oldest request */
	u32 sent_psn;	  /* behind the latest one that was ever sent */
	u32 read_end_psn; /* behind the RDMA read under way, if it is not acknowledged */
	u32 at, packet; /* the next to be sent: a request, counted from the oldest, and a packet of
			   it */
	u8 retries, rnr_retries; /* left */
	u32 missed_psn;		 /* for which an RDMA read was sent again at once */
	bool waits_for_receiver; /* RNR: the timer continues */
};

enum vhca_message { VHCA_NO_MESSAGE, VHCA_SEND, VHCA_WRITE };

/* The receiving side of a reliable connection. */
struct vhca_responder {
	u32 expected_psn, msn;
	bool refused;		   /* a NAK is sent for expected_psn: wait for it */
	enum vhca_message message; /* the one under way */
	u32 received;		   /* its bytes so far */
	bool has_receive;
	struct vhca_receive receive; /* of it */
	u64 write_address;
	u32 write_rkey, write_length;
};

struct vhca_qp {
	struct ib_qp ib;
	refcount_t users;
	struct completion unused;
	spinlock_t lock; /* state, attributes, queues */
	struct ib_qp_attr attr;
	struct ib_qp_init_attr init;
	struct vhca_rq own_rq, *rq; /* rq: own_rq, or that of a shared one */
	u32 sends;		    /* datagrams under way */
	bool dying;		    /* neither work nor timer starts again */
	struct work_struct work;    /* flushes, sends, dispatches events */
	struct delayed_work timer;
	u32 events;		     /* a bit for each enum ib_event_type that is due */
	bool fires_send, fires_recv; /* handlers of completion queues that are due after lock */
	struct vhca_requester requester;
	struct vhca_responder responder;
};

/* A queue pair in a multicast group. */
struct vhca_group {
	struct list_head link; /* in the order of serial */
	u64 serial;
	struct vhca_qp *qp;
	union ib_gid gid;
	u16 lid;
};

/* The headers of a packet, in host order. */
struct vhca_packet {
	u16 dlid, slid, p_key;
	u8 sl, opcode; /* IB_OPCODE_ of rdma/ib_pack.h */
	bool has_grh, solicited, ack_request;
	struct ib_grh grh; /* as on the wire */
	u32 dest_qp, psn;
	u32 q_key, src_qp;	 /* DETH */
	u64 remote_address;	 /* RETH */
	u32 rkey, remote_length; /* RETH */
	u8 syndrome;		 /* AETH */
	u32 msn;		 /* AETH */
	__be32 immediate;	 /* ImmDt */
	const u8 *payload;
	u32 payload_size;
};

enum { VHCA_MULTICAST_QP = 0xFFFFFF, VHCA_PSN_MASK = 0xFFFFFF };

static inline u32 vhca_psn_add(u32 psn, u32 packets)
{
	return (psn + packets) & VHCA_PSN_MASK;
}
/* How far a is ahead of b; negative: behind. */
static inline s32 vhca_psn_distance(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

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
/* Whether packets of this opcode have immediate data. */
bool vhca_packet_has_immediate(u8 opcode);
/* Parses a packet of UD or RC; payload is borrowed. Returns 0 or -EINVAL. */
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
	u64 wr_id;
	enum ib_wc_status status;
	enum ib_wc_opcode opcode;
	bool signalled;
	bool transmits; /* the frame leaves */
	bool loops;	/* and its packet is delivered to local members of its group */
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
/* Adds a completion. Returns whether the handler is due: vhca_cq_notify() when no lock is held. */
bool vhca_cq_add(struct ib_cq *ib, const struct ib_wc *wc, bool solicited);
void vhca_cq_notify(struct ib_cq *ib);
/* Both. Not from within a post. */
void vhca_complete(struct ib_cq *ib, const struct ib_wc *wc, bool solicited);
/* Removes the completions of a queue pair. */
void vhca_cq_purge(struct ib_cq *ib, const struct ib_qp *qp);

/* mr.c */

struct vhca_mr {
	struct ib_mr ib;
	struct ib_umem *umem;
	struct page **pages;
	u64 start, length;
	int access;
	refcount_t users;
	struct completion unused;
};

struct ib_mr *vhca_get_dma_mr(struct ib_pd *pd, int access);
struct ib_mr *vhca_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 address, int access,
			       VHCA_MR_UDATA(udata));
int vhca_dereg_mr(struct ib_mr *mr, struct ib_udata *udata);
/* Copy size bytes from or to the memory of a key, at address. access: IB_ACCESS_ bits that the
 * region must have. The requests of the kernel may have the key 0, which means an address of the
 * kernel. Any context. Return 0 or -EFAULT: no such region in this protection domain, or it is
 * exceeded. */
int vhca_memory_read(struct ib_pd *pd, u32 key, u64 address, int access, void *to, u32 size);
int vhca_memory_write(struct ib_pd *pd, u32 key, u64 address, int access, const void *from,
		      u32 size);
/* The same for size bytes that begin offset bytes into the memory of a request, whose elements are
 * long enough. */
int vhca_gather(struct ib_pd *pd, const struct ib_sge *sge, int count, u32 offset, void *to,
		u32 size);
int vhca_scatter(struct ib_pd *pd, const struct ib_sge *sge, int count, u32 offset,
		 const void *from, u32 size);
/* The bytes of all elements, at most U32_MAX. */
u32 vhca_sge_length(const struct ib_sge *sge, int count);

/* rq.c */

int vhca_rq_init(struct vhca_rq *rq, u32 size, u32 max_sge);
void vhca_rq_free(struct vhca_rq *rq);
/* Adds requests. Returns 0, -EINVAL or -ENOMEM, and the first request that was not added. */
int vhca_rq_post(struct vhca_rq *rq, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad);
/* Takes the oldest request. */
bool vhca_rq_take(struct vhca_rq *rq, struct vhca_receive *out);
void vhca_rq_clear(struct vhca_rq *rq);
int vhca_create_srq(struct ib_srq *ib, struct ib_srq_init_attr *init, struct ib_udata *udata);
int vhca_modify_srq(struct ib_srq *ib, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		    struct ib_udata *udata);
int vhca_query_srq(struct ib_srq *ib, struct ib_srq_attr *attr);
int vhca_destroy_srq(struct ib_srq *ib, struct ib_udata *udata);
int vhca_post_srq_recv(struct ib_srq *ib, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad);
/* Takes a request for a queue pair, from its shared queue if it has one. */
bool vhca_take_receive(struct vhca_qp *qp, struct vhca_receive *out);

/* qp.c */

static inline struct vhca_qp *to_qp(struct ib_qp *ib)
{
	return container_of(ib, struct vhca_qp, ib);
}
static inline u8 vhca_qp_port(const struct vhca_qp *qp)
{
	return qp->attr.port_num;
}
int vhca_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *attr, struct ib_udata *udata);
int vhca_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask, struct ib_udata *udata);
int vhca_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init);
int vhca_destroy_qp(struct ib_qp *ib, struct ib_udata *udata);
int vhca_post_send(struct ib_qp *ib, const struct ib_send_wr *wr, const struct ib_send_wr **bad);
int vhca_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad);
/* Ends a use of a queue pair. */
void vhca_qp_put(struct vhca_qp *qp);
/* Starts qp->work. */
void vhca_qp_kick(struct vhca_qp *qp);
/* The state ERR; the work flushes all requests. Under lock. */
void vhca_qp_fail(struct vhca_qp *qp);
/* The state ERR for all reliable connections of an HCA that ends. */
void vhca_end_connections(struct vhca *vhca);
/* Add a completion, under lock. */
void vhca_qp_complete_send(struct vhca_qp *qp, const struct ib_wc *wc);
void vhca_qp_complete_recv(struct vhca_qp *qp, const struct ib_wc *wc, bool solicited);
/* Ends the use of lock, and calls the handlers that are due. */
void vhca_qp_unlock(struct vhca_qp *qp, unsigned long flags);
/* Whether a queue pair takes packets in its state. */
static inline bool vhca_qp_receives(const struct vhca_qp *qp)
{
	return qp->attr.qp_state == IB_QPS_RTR || qp->attr.qp_state == IB_QPS_RTS ||
	       qp->attr.qp_state == IB_QPS_SQD || qp->attr.qp_state == IB_QPS_SQE;
}
/* The local route header and the GRH of a packet to an address. */
void vhca_route_packet(struct vhca *vhca, u8 port, const struct rdma_ah_attr *attr,
		       struct vhca_packet *out);
/* Makes a frame of a packet, whose payload may be NULL: *payload is room for it. */
struct sk_buff *vhca_packet_frame(struct vhca *vhca, u8 port, const struct vhca_packet *packet,
				  u8 **payload);
/* Delivers a packet to its queue pairs. In softirqs, or with them disabled. */
void vhca_deliver(struct vhca *vhca, u8 port, const u8 *bytes, u32 size);

/* ud.c */

/* Posts a request, under lock. */
int vhca_ud_post(struct vhca *vhca, struct vhca_qp *qp, const struct ib_send_wr *wr);
/* The frame of a send request has left, or will not leave. */
void vhca_send_done(const struct vhca_send *send);
/* Offers a packet to a queue pair, which may refuse it for its keys. bytes: the packet. */
void vhca_ud_receive(struct vhca *vhca, struct vhca_qp *qp, u8 port,
		     const struct vhca_packet *packet, const u8 *bytes);
void vhca_multicast(struct vhca *vhca, u8 port, const struct vhca_packet *packet, const u8 *bytes);
void vhca_leave_groups(struct vhca *vhca, const struct vhca_qp *qp);
int vhca_attach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid);
int vhca_detach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid);

/* rc_requester.c: all under lock, but vhca_rc_send() and vhca_rc_timer() */

int vhca_rc_post(struct vhca *vhca, struct vhca_qp *qp, const struct ib_send_wr *wr);
/* Sends what may be sent. */
void vhca_rc_send(struct vhca_qp *qp);
void vhca_rc_timer(struct work_struct *work);
/* The connection enters its state from another one. */
void vhca_rc_start(struct vhca_qp *qp, enum ib_qp_state from);
void vhca_rc_flush(struct vhca_qp *qp);
/* An acknowledgement or a response to an RDMA read. */
void vhca_rc_answered(struct vhca_qp *qp, const struct vhca_packet *packet);
u32 vhca_rc_mtu(const struct vhca_qp *qp);
/* The headers of a packet to the peer. */
void vhca_rc_address(struct vhca *vhca, struct vhca_qp *qp, u8 opcode, u32 psn,
		     struct vhca_packet *out);

/* rc_responder.c */

/* A packet of the peer, request or answer. */
void vhca_rc_receive(struct vhca *vhca, struct vhca_qp *qp, u8 port,
		     const struct vhca_packet *packet, const u8 *bytes);

#endif
