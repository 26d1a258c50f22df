/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A carrier that runs TLS (lib/tls_keys.h) over the streams of another carrier, so that a stream
 * that anyone can read becomes private, and both ends prove a key. Addresses are those of the other
 * carrier; a line of ha_psk_file may name them. The key of a line with the GUID of a port is valid
 * at this port only. An identity has one accepted session, and the latest counts. Loop thread only.
 */
#ifndef LIB_TLS_OVER_H
#define LIB_TLS_OVER_H

#include "lib/loop.h"
#include "lib/psk_file.h"
#include "lib/stream.h"

/* keys are copied. The carrier owns inner, also when it is freed. */
struct stream_carrier *tls_over_new(struct loop *loop, struct stream_carrier *inner,
				    const struct psk_list *keys);
/* Replaces the keys. Sessions whose key is gone or has changed end. */
void tls_over_set_keys(struct stream_carrier *carrier, const struct psk_list *keys);

#endif
