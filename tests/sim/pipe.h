/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Pipes that carry streams (lib/stream.h) in virtual time: the network beside the fabric. Bytes
 * arrive after a delay, in order and in pieces of any size, and wait while the network is cut. An
 * address is any word. A carrier listens at its own address, whose text may be left out.
 */
#ifndef TESTS_SIM_PIPE_H
#define TESTS_SIM_PIPE_H

#include "lib/loop.h"
#include "lib/stream.h"

struct pipe_net;

struct pipe_net *pipe_net_new(struct loop *loop, uint64_t seed);
void pipe_net_free(struct pipe_net *net); /* after its carriers */
/* A carrier at this address. When it is freed its peers see their streams closed, as after the end
 * of a process. */
struct stream_carrier *pipe_open(struct pipe_net *net, const char *address);
/* While the network is cut nothing passes, and no end is notified. */
void pipe_cut(struct pipe_net *net, bool cut);
/* Whether new streams count as streams that anyone can read. */
void pipe_in_clear(struct pipe_net *net, bool in_clear);
/* Closes all streams at both ends: bytes under way are lost. */
void pipe_reset(struct pipe_net *net);
/* Delivers these bytes, in addition to the sent bytes, to all streams that are connected to
 * address. */
void pipe_inject(struct pipe_net *net, const char *address, const void *bytes, size_t size);
/* Bytes that wait at all ends. */
size_t pipe_waiting(const struct pipe_net *net);
/* Bytes that were delivered. */
uint64_t pipe_delivered(const struct pipe_net *net);

#endif
