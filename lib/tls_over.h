/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A carrier that runs TLS (lib/tls_keys.h) over the streams of another carrier. So a stream that
 * other ports can read becomes private, and both ends prove a key. Addresses are those of the other
 * carrier; a line of ha_psk_file may name an address. The key of a line with the GUID of a port is
 * valid at this port only. An identity has one accepted session: the latest. Loop thread only.
 */
#ifndef LIB_TLS_OVER_H
#define LIB_TLS_OVER_H

#include "lib/loop.h"
#include "lib/psk_file.h"
#include "lib/stream.h"

/* keys is copied. The carrier owns inner, and frees it. */
struct stream_carrier *tls_over_new(struct loop *loop, struct stream_carrier *inner,
				    const struct psk_list *keys);
/* Replaces the keys. Sessions whose key was removed or changed end. */
void tls_over_set_keys(struct stream_carrier *carrier, const struct psk_list *keys);

#endif
