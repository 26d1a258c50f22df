/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A ring of three switches with two hosts each: host-0 and host-1 at ports 1 and 2 of sw-0, and so
 * on; port NEXT of each leads to port PREVIOUS of the one after it. For tests of the simulated
 * world that walk tables or cross several switches.
 */
#ifndef TESTS_UNIT_RING_NET_H
#define TESTS_UNIT_RING_NET_H

#include <stdio.h>

#include "formats/net.h"

enum { SWITCHES = 3, HOSTS_EACH = 2, HOSTS = SWITCHES * HOSTS_EACH, NEXT = 3, PREVIOUS = 4 };

/* The caller frees it. */
static struct net *ring_net(void)
{
	struct net *net = net_new();
	char name[16];

	for (unsigned h = 0; h < HOSTS; h++) {
		snprintf(name, sizeof(name), "host-%u", h);
		net_add_node(net, NODE_CA, name, NULL, 1);
	}
	for (unsigned s = 0; s < SWITCHES; s++) {
		snprintf(name, sizeof(name), "sw-%u", s);
		net_add_node(net, NODE_SWITCH, name, "a switch", 4);
	}
	for (unsigned h = 0; h < HOSTS; h++)
		net_connect(net, h, 1, HOSTS + h / HOSTS_EACH, 1 + h % HOSTS_EACH);
	for (unsigned s = 0; s < SWITCHES; s++)
		net_connect(net, HOSTS + s, NEXT, HOSTS + (s + 1) % SWITCHES, PREVIOUS);
	return net;
}

#endif
