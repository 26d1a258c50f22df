/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Pipes that carry streams (lib/stream.h) where time is virtual: the network beside the fabric.
 * Bytes take a while, come in order and in pieces of any size, and wait where the network is cut.
 * Addresses are any words.
 */
#ifndef TESTS_SIM_PIPE_H
#define TESTS_SIM_PIPE_H

#include "lib/loop.h"
#include "lib/stream.h"

struct pipe_net;

struct pipe_net *pipe_net_new(struct loop *loop, uint64_t seed);
void pipe_net_free(struct pipe_net *net); /* its carriers have been freed */
/* A carrier at this address. Freed, its peers see their streams closed, as when a process ends. */
struct stream_carrier *pipe_open(struct pipe_net *net, const char *address);
/* While it is cut nothing gets through, and nobody is told. */
void pipe_cut(struct pipe_net *net, bool cut);
/* All streams are closed, at both ends: what was under way is lost. */
void pipe_reset(struct pipe_net *net);
/* Besides what is said, these bytes come to all who are connected to address. */
void pipe_inject(struct pipe_net *net, const char *address, const void *bytes, size_t size);
/* Bytes that were delivered. */
uint64_t pipe_delivered(const struct pipe_net *net);

#endif
