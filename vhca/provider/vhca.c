/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The provider of libibverbs for the kernel module vhca. Without a provider no verbs program sees a
 * device. The device maps no memory: each verb is a command of the kernel's uverbs interface, also
 * the posting and polling of work. So this file has no state beyond the objects of libibverbs.
 *
 * It is compiled inside the source of rdma-core, because the interface of providers is private to
 * the version of libibverbs (scripts/vm-provider).
 */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <infiniband/driver.h>

/* libibverbs copies the requests of one command to the stack. */
enum { REQUESTS_OF_COMMAND = 8 };

static int vhca_query_device(struct ibv_context *context,
			     const struct ibv_query_device_ex_input *input,
			     struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ib_uverbs_ex_query_device_resp response;
	size_t size = sizeof(response);
	uint64_t version;
	int error = ibv_cmd_query_device_any(context, input, attr, attr_size, &response, &size);

	if (error)
		return error;
	version = response.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver), "%u.%u.%u",
		 (unsigned)(version >> 32) & 0xffff, (unsigned)(version >> 16) & 0xffff,
		 (unsigned)version & 0xffff);
	return 0;
}

static int vhca_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr)
{
	struct ibv_query_port command;

	return ibv_cmd_query_port(context, port, attr, &command, sizeof(command));
}

static struct ibv_pd *vhca_alloc_pd(struct ibv_context *context)
{
	struct ib_uverbs_alloc_pd_resp response;
	struct ibv_alloc_pd command;
	struct ibv_pd *pd = calloc(1, sizeof(*pd));

	if (pd &&
	    ibv_cmd_alloc_pd(context, pd, &command, sizeof(command), &response, sizeof(response))) {
		free(pd);
		pd = NULL;
	}
	return pd;
}

static int vhca_free_pd(struct ibv_pd *pd)
{
	int error = ibv_cmd_dealloc_pd(pd);

	if (!error)
		free(pd);
	return error;
}

static struct ibv_mr *vhca_reg_mr(struct ibv_pd *pd, void *address, size_t length,
				  uint64_t hca_address, int access)
{
	struct ib_uverbs_reg_mr_resp response;
	struct ibv_reg_mr command;
	struct verbs_mr *mr = calloc(1, sizeof(*mr));

	if (!mr)
		return NULL;
	if (ibv_cmd_reg_mr(pd, address, length, hca_address, access, mr, &command, sizeof(command),
			   &response, sizeof(response))) {
		free(mr);
		return NULL;
	}
	return &mr->ibv_mr;
}

static int vhca_dereg_mr(struct verbs_mr *mr)
{
	int error = ibv_cmd_dereg_mr(mr);

	if (!error)
		free(mr);
	return error;
}

static struct ibv_cq *vhca_create_cq(struct ibv_context *context, int entries,
				     struct ibv_comp_channel *channel, int vector)
{
	struct ib_uverbs_create_cq_resp response;
	struct verbs_cq *cq = calloc(1, sizeof(*cq));

	if (!cq)
		return NULL;
	if (ibv_cmd_create_cq(context, entries, channel, vector, &cq->cq, NULL, 0, &response,
			      sizeof(response))) {
		free(cq);
		return NULL;
	}
	return &cq->cq;
}

static int vhca_destroy_cq(struct ibv_cq *cq)
{
	int error = ibv_cmd_destroy_cq(cq);

	if (!error)
		free(container_of(cq, struct verbs_cq, cq));
	return error;
}

static struct ibv_srq *vhca_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct ib_uverbs_create_srq_resp response;
	struct ibv_create_srq command;
	struct verbs_srq *srq = calloc(1, sizeof(*srq));

	if (!srq)
		return NULL;
	if (ibv_cmd_create_srq(pd, &srq->srq, attr, &command, sizeof(command), &response,
			       sizeof(response))) {
		free(srq);
		return NULL;
	}
	return &srq->srq;
}

static int vhca_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	struct ibv_modify_srq command;

	return ibv_cmd_modify_srq(srq, attr, mask, &command, sizeof(command));
}

static int vhca_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	struct ibv_query_srq command;

	return ibv_cmd_query_srq(srq, attr, &command, sizeof(command));
}

static int vhca_destroy_srq(struct ibv_srq *srq)
{
	int error = ibv_cmd_destroy_srq(srq);

	if (!error)
		free(container_of(srq, struct verbs_srq, srq));
	return error;
}

static struct ibv_qp *vhca_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ib_uverbs_create_qp_resp response;
	struct ibv_create_qp command;
	struct verbs_qp *qp = calloc(1, sizeof(*qp));

	if (!qp)
		return NULL;
	if (ibv_cmd_create_qp(pd, &qp->qp, attr, &command, sizeof(command), &response,
			      sizeof(response))) {
		free(qp);
		return NULL;
	}
	return &qp->qp;
}

static int vhca_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
			 struct ibv_qp_init_attr *init_attr)
{
	struct ibv_query_qp command;

	return ibv_cmd_query_qp(qp, attr, mask, init_attr, &command, sizeof(command));
}

static int vhca_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct ibv_modify_qp command = {};

	return ibv_cmd_modify_qp(qp, attr, mask, &command, sizeof(command));
}

static int vhca_destroy_qp(struct ibv_qp *qp)
{
	int error = ibv_cmd_destroy_qp(qp);

	if (!error)
		free(container_of(qp, struct verbs_qp, qp));
	return error;
}

static struct ibv_ah *vhca_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ib_uverbs_create_ah_resp response;
	struct ibv_ah *ah = calloc(1, sizeof(*ah));

	if (ah && ibv_cmd_create_ah(pd, ah, attr, &response, sizeof(response))) {
		free(ah);
		ah = NULL;
	}
	return ah;
}

static int vhca_destroy_ah(struct ibv_ah *ah)
{
	int error = ibv_cmd_destroy_ah(ah);

	if (!error)
		free(ah);
	return error;
}

/* Defines a function that posts a list of requests in parts. Each part is the list from first on,
 * cut after its last request for the time of the command. */
#define DEFINE_POST(function, command, queue, request)                                     \
	static int function(struct queue *to, struct request *first, struct request **bad) \
	{                                                                                  \
		int error = 0;                                                             \
                                                                                           \
		while (first && !error) {                                                  \
			struct request *last = first, *rest;                               \
                                                                                           \
			for (unsigned i = 1; i < REQUESTS_OF_COMMAND && last->next; i++)   \
				last = last->next;                                         \
			rest = last->next;                                                 \
			last->next = NULL;                                                 \
			error = command(to, first, bad);                                   \
			last->next = rest;                                                 \
			first = rest;                                                      \
		}                                                                          \
		return error;                                                              \
	}

DEFINE_POST(vhca_post_send, ibv_cmd_post_send, ibv_qp, ibv_send_wr)
DEFINE_POST(vhca_post_recv, ibv_cmd_post_recv, ibv_qp, ibv_recv_wr)
DEFINE_POST(vhca_post_srq_recv, ibv_cmd_post_srq_recv, ibv_srq, ibv_recv_wr)

static void vhca_free_context(struct ibv_context *context)
{
	struct verbs_context *verbs = verbs_get_ctx(context);

	verbs_uninit_context(verbs);
	free(verbs);
}

static const struct verbs_context_ops vhca_context_ops = {
	.alloc_pd = vhca_alloc_pd,
	.attach_mcast = ibv_cmd_attach_mcast,
	.create_ah = vhca_create_ah,
	.create_cq = vhca_create_cq,
	.create_qp = vhca_create_qp,
	.create_srq = vhca_create_srq,
	.dealloc_pd = vhca_free_pd,
	.dereg_mr = vhca_dereg_mr,
	.destroy_ah = vhca_destroy_ah,
	.destroy_cq = vhca_destroy_cq,
	.destroy_qp = vhca_destroy_qp,
	.destroy_srq = vhca_destroy_srq,
	.detach_mcast = ibv_cmd_detach_mcast,
	.free_context = vhca_free_context,
	.modify_qp = vhca_modify_qp,
	.modify_srq = vhca_modify_srq,
	.poll_cq = ibv_cmd_poll_cq,
	.post_recv = vhca_post_recv,
	.post_send = vhca_post_send,
	.post_srq_recv = vhca_post_srq_recv,
	.query_device_ex = vhca_query_device,
	.query_port = vhca_query_port,
	.query_qp = vhca_query_qp,
	.query_srq = vhca_query_srq,
	.reg_mr = vhca_reg_mr,
	.req_notify_cq = ibv_cmd_req_notify_cq,
};

struct vhca_context {
	struct verbs_context verbs;
};

static struct verbs_context *vhca_alloc_context(struct ibv_device *device, int command_fd,
						void *private_data)
{
	struct ib_uverbs_get_context_resp response;
	struct ibv_get_context command;
	struct vhca_context *context;

	context = verbs_init_and_alloc_context(device, command_fd, context, verbs,
					       RDMA_DRIVER_UNKNOWN);
	if (!context)
		return NULL;
	if (ibv_cmd_get_context(&context->verbs, &command, sizeof(command), &response,
				sizeof(response))) {
		verbs_uninit_context(&context->verbs);
		free(context);
		return NULL;
	}
	verbs_set_ops(&context->verbs, &vhca_context_ops);
	return &context->verbs;
}

static struct verbs_device *vhca_alloc_device(struct verbs_sysfs_dev *sysfs_device)
{
	return calloc(1, sizeof(struct verbs_device));
}

static void vhca_free_device(struct verbs_device *device)
{
	free(device);
}

static const struct verbs_match_ent vhca_devices[] = {VERBS_NAME_MATCH("vhca", NULL), {}};

static const struct verbs_device_ops vhca_device_ops = {
	.name = "vhca",
	.match_min_abi_version = 0,
	.match_max_abi_version = 1,
	.match_table = vhca_devices,
	.alloc_device = vhca_alloc_device,
	.uninit_device = vhca_free_device,
	.alloc_context = vhca_alloc_context,
};
PROVIDER_DRIVER(vhca, vhca_device_ops);
