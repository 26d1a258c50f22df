/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The differences between the kernels that vhca is compiled for: 6.1 to 7.3. */
#ifndef VHCA_COMPAT_H
#define VHCA_COMPAT_H

#include <linux/version.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>

/* The last parameter of create_cq(). */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define VHCA_CQ_ATTRS struct uverbs_attr_bundle
#else
#define VHCA_CQ_ATTRS struct ib_udata
#endif

/* The last parameters of reg_user_mr(). A device without alloc_dmah() gets no DMA handle. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define VHCA_MR_UDATA(udata) struct ib_dmah *dmah, struct ib_udata *udata
#else
#define VHCA_MR_UDATA(udata) struct ib_udata *udata
#endif

/* ib_umem_get() of older kernels. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define ib_umem_get ib_umem_get_va
#endif

#endif
