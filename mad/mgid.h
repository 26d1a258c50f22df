/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Solicited-node groups of IPv6 (RFC 4391 and 4291: ff1s:601b:P_Key::1:ffXX:XXXX, with the last 24
 * bits of an address). A host joins one such group for each of its addresses. Only these groups
 * share MLIDs: the SA assigns shared MLIDs to them (sa/mlids.h), and a saved document may contain
 * them (store/save.c). Pure functions, any thread.
 */
#ifndef MAD_MGID_H
#define MAD_MGID_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "include/iba.h"
#include "lib/be.h"

enum { MGID_NETWORK_BYTES = GID_SIZE - 3 }; /* before the bits of the address */

static inline bool mgid_is_solicited_node(const uint8_t mgid[GID_SIZE])
{
	const uint64_t scope_and_p_key = UINT64_C(0x000F0000FFFF0000), address = 0xFFFFFF;

	return (be64_load(mgid) & ~scope_and_p_key) == UINT64_C(0xFF10601B00000000) &&
	       (be64_load(mgid + 8) & ~address) == UINT64_C(0x00000001FF000000);
}

/* Whether two groups may have one MLID: both are of one partition and scope. */
static inline bool mgids_may_share_mlid(const uint8_t a[GID_SIZE], const uint8_t b[GID_SIZE])
{
	return mgid_is_solicited_node(a) && !memcmp(a, b, MGID_NETWORK_BYTES);
}

#endif
