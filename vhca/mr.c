// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Memory regions of programs, and copies from and to the memory of requests. A region keeps the
 * pages of the program; a copy maps each for a moment. The key of a region is its index and a part
 * that varies, so that the key of an earlier region is not taken for a later one (10.6.3).
 */
#include <linux/highmem.h>
#include <linux/vmalloc.h>
#include <rdma/ib_umem.h>

#include "vhca.h"

enum { VARIANT_BITS = 8 };

static struct vhca_mr *to_mr(struct ib_mr *ib)
{
	return container_of(ib, struct vhca_mr, ib);
}

static void mr_put(struct vhca_mr *mr)
{
	if (refcount_dec_and_test(&mr->users))
		complete(&mr->unused);
}

/* The region of a key, with a use; NULL: none that the protection domain may use so. */
static struct vhca_mr *mr_get(struct ib_pd *pd, u32 key, int access)
{
	struct vhca *vhca = to_vhca(pd->device);
	struct vhca_mr *mr;
	unsigned long flags;

	xa_lock_irqsave(&vhca->mrs, flags);
	mr = xa_load(&vhca->mrs, key >> VARIANT_BITS);
	if (mr && (mr->ib.lkey != key || mr->ib.pd != pd || (mr->access & access) != access))
		mr = NULL;
	if (mr)
		refcount_inc(&mr->users);
	xa_unlock_irqrestore(&vhca->mrs, flags);
	return mr;
}

static bool mr_covers(const struct vhca_mr *mr, u64 address, u32 size)
{
	return address >= mr->start && address - mr->start <= mr->length &&
	       size <= mr->length - (address - mr->start);
}

/* Copies between bytes and the region, which covers the addresses. */
static void mr_copy(struct vhca_mr *mr, u64 address, u8 *bytes, u32 size, bool write)
{
	u64 offset = address - mr->start + ib_umem_offset(mr->umem);

	while (size) {
		u32 in_page = offset_in_page(offset), part = min_t(u32, size, PAGE_SIZE - in_page);
		u8 *page = kmap_local_page(mr->pages[offset >> PAGE_SHIFT]);

		if (write)
			memcpy(page + in_page, bytes, part);
		else
			memcpy(bytes, page + in_page, part);
		kunmap_local(page);
		bytes += part;
		offset += part;
		size -= part;
	}
}

static int memory_copy(struct ib_pd *pd, u32 key, u64 address, int access, u8 *bytes, u32 size,
		       bool write)
{
	struct vhca_mr *mr;
	int r = -EFAULT;

	if (!size)
		return 0;
	if (!pd->uobject && !key) {
		void *memory = (void *)(uintptr_t)address;

		memcpy(write ? memory : bytes, write ? bytes : memory, size);
		return 0;
	}
	mr = mr_get(pd, key, access);
	if (!mr)
		return -EFAULT;
	if (mr_covers(mr, address, size)) {
		mr_copy(mr, address, bytes, size, write);
		r = 0;
	}
	mr_put(mr);
	return r;
}

int vhca_memory_read(struct ib_pd *pd, u32 key, u64 address, int access, void *to, u32 size)
{
	return memory_copy(pd, key, address, access, to, size, false);
}

int vhca_memory_write(struct ib_pd *pd, u32 key, u64 address, int access, const void *from,
		      u32 size)
{
	return memory_copy(pd, key, address, access, (void *)from, size, true);
}

static int sge_copy(struct ib_pd *pd, const struct ib_sge *sge, int count, u32 offset, u8 *bytes,
		    u32 size, bool write)
{
	int r = 0;

	for (; count-- > 0 && size && !r; sge++) {
		u32 part;

		if (offset >= sge->length) {
			offset -= sge->length;
			continue;
		}
		part = min(size, sge->length - offset);
		r = memory_copy(pd, sge->lkey, sge->addr + offset,
				write ? IB_ACCESS_LOCAL_WRITE : 0, bytes, part, write);
		bytes += part;
		size -= part;
		offset = 0;
	}
	return r;
}

int vhca_gather(struct ib_pd *pd, const struct ib_sge *sge, int count, u32 offset, void *to,
		u32 size)
{
	return sge_copy(pd, sge, count, offset, to, size, false);
}

int vhca_scatter(struct ib_pd *pd, const struct ib_sge *sge, int count, u32 offset,
		 const void *from, u32 size)
{
	return sge_copy(pd, sge, count, offset, (void *)from, size, true);
}

u32 vhca_sge_length(const struct ib_sge *sge, int count)
{
	u64 length = 0;

	while (count-- > 0)
		length += (sge++)->length;
	return min_t(u64, length, U32_MAX);
}

/* Registration */

/* The kernel's own requests need no region: their key is 0. */
struct ib_mr *vhca_get_dma_mr(struct ib_pd *pd, int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static int list_pages(struct vhca_mr *mr)
{
	size_t count = ib_umem_num_pages(mr->umem), i = 0;
	struct sg_page_iter iter;

	mr->pages = kvcalloc(count, sizeof(*mr->pages), GFP_KERNEL_ACCOUNT);
	if (!mr->pages)
		return -ENOMEM;
	for_each_sgtable_page (&mr->umem->sgt_append.sgt, &iter, 0) {
		if (i == count)
			return -EINVAL;
		mr->pages[i++] = sg_page_iter_page(&iter);
	}
	return i == count ? 0 : -EINVAL;
}

static int publish(struct vhca *vhca, struct vhca_mr *mr)
{
	u32 index;
	int r = xa_alloc_irq(&vhca->mrs, &index, NULL, XA_LIMIT(1, VHCA_OBJECTS_MAX), GFP_KERNEL);

	if (r)
		return r;
	mr->ib.lkey = index << VARIANT_BITS |
		      ((u32)atomic_inc_return(&vhca->next_key) & ((1 << VARIANT_BITS) - 1));
	mr->ib.rkey = mr->ib.lkey;
	return xa_err(xa_store_irq(&vhca->mrs, index, mr, GFP_KERNEL));
}

struct ib_mr *vhca_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 address, int access,
			       VHCA_MR_UDATA(udata))
{
	static const int supported = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
				     IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |
				     IB_ACCESS_OPTIONAL;
	struct vhca_mr *mr;
	int r;

	if (access & ~supported)
		return ERR_PTR(-EOPNOTSUPP);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->umem = ib_umem_get(pd->device, start, length, access);
	if (IS_ERR(mr->umem)) {
		r = PTR_ERR(mr->umem);
		goto free;
	}
	refcount_set(&mr->users, 1);
	init_completion(&mr->unused);
	mr->ib.pd = pd;
	mr->start = address;
	mr->length = length;
	mr->access = access;
	r = list_pages(mr);
	if (!r)
		r = publish(to_vhca(pd->device), mr);
	if (!r)
		return &mr->ib;
	kvfree(mr->pages);
	ib_umem_release(mr->umem);
free:
	kfree(mr);
	return ERR_PTR(r);
}

int vhca_dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct vhca_mr *mr = to_mr(ib);

	xa_erase_irq(&to_vhca(ib->device)->mrs, ib->lkey >> VARIANT_BITS);
	mr_put(mr);
	wait_for_completion(&mr->unused);
	kvfree(mr->pages);
	ib_umem_release(mr->umem);
	kfree(mr);
	return 0;
}
