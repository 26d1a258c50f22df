/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The differences between the kernels that vhca is compiled for: 6.1 to 6.12 and later. */
#ifndef VHCA_COMPAT_H
#define VHCA_COMPAT_H

#include <linux/version.h>
#include <rdma/ib_verbs.h>

/* The last parameter of create_cq(). */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define VHCA_CQ_ATTRS struct uverbs_attr_bundle
#else
#define VHCA_CQ_ATTRS struct ib_udata
#endif

#endif
