// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The device and its ports for the RDMA core. The values of a port come from the PortInfo, P_Keys
 * and GUIDs that weftsim reported last. MADs for the agents of the own port are requests to
 * weftsim.
 */
#include <linux/log2.h>
#include <rdma/ib_smi.h>

#include "vhca.h"

/* The time that a request waits for the driver: 4.096 us << 15, because machines are emulated. */
enum { ACK_DELAY = 15 };

/* PortInfo: offsets of the bytes used here (14.2.5.6). */
enum {
	INFO_GID_PREFIX = 8,
	INFO_LID = 16,
	INFO_SM_LID = 18,
	INFO_CAPABILITIES = 20,
	INFO_WIDTH_ACTIVE = 31,
	INFO_STATE = 32,
	INFO_PHYS_STATE = 33,
	INFO_LMC = 34,
	INFO_SPEED_ACTIVE = 35,
	INFO_MTU_SM_SL = 36,
	INFO_VL_CAP = 37,
	INFO_MTU_CAP = 41,
	INFO_P_KEY_VIOLATIONS = 46,
	INFO_Q_KEY_VIOLATIONS = 48,
	INFO_SUBNET_TIMEOUT = 51,
	INFO_SPEED_EXT_ACTIVE = 62,
};

static u16 get16(const u8 *from)
{
	return from[0] << 8 | from[1];
}

static u32 get32(const u8 *from)
{
	return (u32)get16(from) << 16 | get16(from + 2);
}

static void copy_info(struct vhca *vhca, u8 port, u8 *info)
{
	unsigned long flags;

	spin_lock_irqsave(&vhca->lock, flags);
	memcpy(info, vhca->port[port - 1].info, sizeof(vhca->port[0].info));
	spin_unlock_irqrestore(&vhca->lock, flags);
}

u16 vhca_lid(struct vhca *vhca, u8 port)
{
	const u8 *lid = vhca->port[port - 1].info + INFO_LID;

	return READ_ONCE(lid[0]) << 8 | READ_ONCE(lid[1]);
}

u8 vhca_lmc(struct vhca *vhca, u8 port)
{
	return READ_ONCE(vhca->port[port - 1].info[INFO_LMC]) & 7;
}

u32 vhca_mtu(struct vhca *vhca, u8 port)
{
	u8 mtu = READ_ONCE(vhca->port[port - 1].info[INFO_MTU_SM_SL]) >> 4;

	return max(ib_mtu_enum_to_int(mtu), 256);
}

void vhca_read_p_key(struct vhca *vhca, u8 port, u16 index, u16 *p_key)
{
	*p_key = index < vhca->num_p_keys ? READ_ONCE(vhca->port[port - 1].p_keys[index]) : 0;
}

int vhca_match_p_key(struct vhca *vhca, u8 port, u16 p_key)
{
	for (u16 i = 0; i < vhca->num_p_keys; i++) {
		if (vhca_p_keys_match(READ_ONCE(vhca->port[port - 1].p_keys[i]), p_key))
			return i;
	}
	return -ENOENT;
}

void vhca_read_gid(struct vhca *vhca, u8 port, u16 index, union ib_gid *gid)
{
	const struct vhca_port *at = &vhca->port[port - 1];
	unsigned long flags;

	memset(gid, 0, sizeof(*gid));
	if (index >= vhca->num_guids)
		return;
	spin_lock_irqsave(&vhca->lock, flags);
	if (at->guids[index]) {
		memcpy(gid->raw, at->info + INFO_GID_PREFIX, sizeof(__be64));
		gid->global.interface_id = at->guids[index];
	}
	spin_unlock_irqrestore(&vhca->lock, flags);
}

/* Queries */

static int vhca_query_device(struct ib_device *ib, struct ib_device_attr *attr,
			     struct ib_udata *udata)
{
	struct vhca *vhca = to_vhca(ib);

	if (udata && (udata->inlen || udata->outlen))
		return -EINVAL;
	memset(attr, 0, sizeof(*attr));
	attr->sys_image_guid = vhca->welcome.system_image_guid;
	attr->vendor_id = be32_to_cpu(vhca->welcome.vendor_id);
	attr->vendor_part_id = be32_to_cpu(vhca->welcome.device_id);
	attr->max_mr_size = U64_MAX;
	attr->page_size_cap = PAGE_SIZE;
	attr->max_qp = VHCA_OBJECTS_MAX;
	attr->max_qp_wr = VHCA_WORK_MAX;
	attr->fw_ver = (u64)VHCA_VERSION << 32;
	attr->local_ca_ack_delay = ACK_DELAY;
	attr->max_send_sge = VHCA_SGES_MAX;
	attr->max_sge_rd = VHCA_SGES_MAX;
	attr->max_recv_sge = VHCA_SGES_MAX;
	attr->max_cq = VHCA_OBJECTS_MAX;
	attr->max_cqe = VHCA_CQES_MAX;
	attr->max_pd = VHCA_OBJECTS_MAX;
	attr->max_ah = VHCA_OBJECTS_MAX;
	attr->max_mr = VHCA_OBJECTS_MAX;
	attr->max_srq = VHCA_OBJECTS_MAX;
	attr->max_srq_wr = VHCA_WORK_MAX;
	attr->max_srq_sge = VHCA_SGES_MAX;
	attr->max_qp_rd_atom = VHCA_READS_MAX;
	attr->max_qp_init_rd_atom = VHCA_READS_MAX;
	attr->max_res_rd_atom = VHCA_READS_MAX * VHCA_OBJECTS_MAX;
	attr->max_mcast_grp = VHCA_GROUPS_MAX;
	attr->max_mcast_qp_attach = VHCA_OBJECTS_MAX;
	attr->max_total_mcast_qp_attach = VHCA_OBJECTS_MAX;
	attr->max_pkeys = vhca->num_p_keys;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY | IBK_BLOCK_MULTICAST_LOOPBACK;
	return 0;
}

/* Values of both speed members in the encoding of enum ib_port_speed. */
static u16 speed_of(const u8 *info)
{
	u8 extended = info[INFO_SPEED_EXT_ACTIVE] >> 4, speed = info[INFO_SPEED_ACTIVE] >> 4;

	return extended ? IB_SPEED_FDR << ilog2(extended) : speed ? speed : IB_SPEED_SDR;
}

static int vhca_query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	struct vhca *vhca = to_vhca(ib);
	u8 info[64];

	if (port < 1 || port > ib->phys_port_cnt)
		return -EINVAL;
	copy_info(vhca, port, info);
	attr->state = info[INFO_STATE] & 0xF;
	attr->phys_state = info[INFO_PHYS_STATE] >> 4;
	attr->max_mtu = info[INFO_MTU_CAP] & 0xF;
	attr->active_mtu = info[INFO_MTU_SM_SL] >> 4;
	attr->gid_tbl_len = vhca->num_guids;
	attr->pkey_tbl_len = vhca->num_p_keys;
	attr->port_cap_flags = get32(info + INFO_CAPABILITIES);
	attr->max_msg_sz = VHCA_MESSAGE_MAX;
	attr->bad_pkey_cntr = get16(info + INFO_P_KEY_VIOLATIONS);
	attr->qkey_viol_cntr = get16(info + INFO_Q_KEY_VIOLATIONS);
	attr->lid = get16(info + INFO_LID);
	attr->sm_lid = get16(info + INFO_SM_LID);
	attr->lmc = info[INFO_LMC] & 7;
	attr->sm_sl = info[INFO_MTU_SM_SL] & 0xF;
	attr->max_vl_num = info[INFO_VL_CAP] >> 4;
	attr->init_type_reply = info[INFO_MTU_CAP] >> 4;
	attr->subnet_timeout = info[INFO_SUBNET_TIMEOUT] & 0x1F;
	attr->active_width = info[INFO_WIDTH_ACTIVE] ? info[INFO_WIDTH_ACTIVE] : IB_WIDTH_4X;
	attr->active_speed = speed_of(info);
	return 0;
}

static int vhca_get_port_immutable(struct ib_device *ib, u32 port, struct ib_port_immutable *out)
{
	struct vhca *vhca = to_vhca(ib);

	out->core_cap_flags = RDMA_CORE_PORT_IBA_IB;
	out->max_mad_size = IB_MGMT_MAD_SIZE;
	out->gid_tbl_len = vhca->num_guids;
	out->pkey_tbl_len = vhca->num_p_keys;
	return 0;
}

static enum rdma_link_layer vhca_get_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_INFINIBAND;
}

static int vhca_query_gid(struct ib_device *ib, u32 port, int index, union ib_gid *gid)
{
	if (index < 0 || index >= to_vhca(ib)->num_guids)
		return -EINVAL;
	vhca_read_gid(to_vhca(ib), port, index, gid);
	return 0;
}

static int vhca_query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *p_key)
{
	if (index >= to_vhca(ib)->num_p_keys)
		return -EINVAL;
	vhca_read_p_key(to_vhca(ib), port, index, p_key);
	return 0;
}

static void vhca_get_fw_str(struct ib_device *ib, char *text)
{
	snprintf(text, IB_FW_VERSION_NAME_MAX, "%u.0.0", VHCA_VERSION);
}

/* Changes */

static int modify(struct vhca *vhca, u8 port, const struct vhca_modify *body)
{
	int r = vhca_request(vhca, VHCA_MODIFY, port, body, sizeof(*body), NULL);

	return r < 0 ? r : 0;
}

static int vhca_modify_port(struct ib_device *ib, u32 port, int mask, struct ib_port_modify *change)
{
	const struct vhca_modify body = {.set = cpu_to_be32(change->set_port_cap_mask),
					 .clear = cpu_to_be32(change->clr_port_cap_mask)};

	/* Counters of violations are reset by the subnet manager only. */
	return modify(to_vhca(ib), port, &body);
}

static int vhca_modify_device(struct ib_device *ib, int mask, struct ib_device_modify *change)
{
	struct vhca_modify body = {.has_description = 1};
	int r;

	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (!(mask & IB_DEVICE_MODIFY_NODE_DESC))
		return 0;
	memcpy(body.description, change->node_desc, sizeof(body.description));
	r = modify(to_vhca(ib), 0, &body);
	if (!r)
		memcpy(ib->node_desc, change->node_desc, sizeof(body.description));
	return r;
}

/* MADs of the own port */

/* SMInfo, traps and answers belong to managers, not to the agent; so do other classes. */
static bool is_for_agent(const struct ib_mad_hdr *mad)
{
	bool is_request = mad->method == IB_MGMT_METHOD_GET || mad->method == IB_MGMT_METHOD_SET;

	switch (mad->mgmt_class) {
	case IB_MGMT_CLASS_SUBN_LID_ROUTED:
	case IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE:
		return (is_request || mad->method == IB_MGMT_METHOD_TRAP_REPRESS) &&
		       mad->attr_id != IB_SMP_ATTR_SM_INFO;
	case IB_MGMT_CLASS_PERF_MGMT:
		return is_request;
	default:
		return false;
	}
}

static int vhca_process_mad(struct ib_device *ib, int flags, u32 port, const struct ib_wc *wc,
			    const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
			    size_t *out_size, u16 *p_key_index)
{
	int r;

	if (!is_for_agent(&in->mad_hdr))
		return IB_MAD_RESULT_SUCCESS;
	r = vhca_request(to_vhca(ib), VHCA_MAD, port, in, sizeof(*in), (u8 *)out);
	if (r < 0)
		return IB_MAD_RESULT_FAILURE;
	return IB_MAD_RESULT_SUCCESS | (r ? IB_MAD_RESULT_REPLY : IB_MAD_RESULT_CONSUMED);
}

/* Objects without work */

static int vhca_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int vhca_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int vhca_create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	struct vhca_ah *ah = container_of(ib, struct vhca_ah, ib);

	ah->attr = *init->ah_attr;
	ah->attr.grh.sgid_attr = NULL; /* the core holds the reference, not this copy */
	return 0;
}

/* ib_sa sends nothing to an address whose LID it cannot read back. */
static int vhca_query_ah(struct ib_ah *ib, struct rdma_ah_attr *attr)
{
	*attr = container_of(ib, struct vhca_ah, ib)->attr;
	return 0;
}

static int vhca_destroy_ah(struct ib_ah *ib, u32 flags)
{
	return 0;
}

/* Programs: the device maps no memory, so that nothing must be taken back when it disappears. */

static int vhca_alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata)
{
	return 0;
}

static void vhca_dealloc_ucontext(struct ib_ucontext *context)
{
}

static void vhca_disassociate_ucontext(struct ib_ucontext *context)
{
}

const struct ib_device_ops vhca_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver = 1,

	.alloc_pd = vhca_alloc_pd,
	.alloc_ucontext = vhca_alloc_ucontext,
	.attach_mcast = vhca_attach_mcast,
	.create_ah = vhca_create_ah,
	.create_cq = vhca_create_cq,
	.create_qp = vhca_create_qp,
	.create_srq = vhca_create_srq,
	.create_user_ah = vhca_create_ah,
	.dealloc_pd = vhca_dealloc_pd,
	.dealloc_ucontext = vhca_dealloc_ucontext,
	.dereg_mr = vhca_dereg_mr,
	.destroy_ah = vhca_destroy_ah,
	.destroy_cq = vhca_destroy_cq,
	.destroy_qp = vhca_destroy_qp,
	.destroy_srq = vhca_destroy_srq,
	.detach_mcast = vhca_detach_mcast,
	.disassociate_ucontext = vhca_disassociate_ucontext,
	.get_dev_fw_str = vhca_get_fw_str,
	.get_dma_mr = vhca_get_dma_mr,
	.get_link_layer = vhca_get_link_layer,
	.get_port_immutable = vhca_get_port_immutable,
	.modify_device = vhca_modify_device,
	.modify_port = vhca_modify_port,
	.modify_qp = vhca_modify_qp,
	.modify_srq = vhca_modify_srq,
	.poll_cq = vhca_poll_cq,
	.post_recv = vhca_post_recv,
	.post_send = vhca_post_send,
	.post_srq_recv = vhca_post_srq_recv,
	.process_mad = vhca_process_mad,
	.query_ah = vhca_query_ah,
	.query_device = vhca_query_device,
	.query_gid = vhca_query_gid,
	.query_pkey = vhca_query_pkey,
	.query_port = vhca_query_port,
	.query_qp = vhca_query_qp,
	.query_srq = vhca_query_srq,
	.reg_user_mr = vhca_reg_user_mr,
	.req_notify_cq = vhca_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_ah, vhca_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, vhca_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, vhca_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, vhca_qp, ib),
	INIT_RDMA_OBJ_SIZE(ib_srq, vhca_srq, ib),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, vhca_ucontext, ib),
};
