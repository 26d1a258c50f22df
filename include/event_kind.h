/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The kinds of events, as weftd shows them and weftctl events --kind takes them. */
#ifndef INCLUDE_EVENT_KIND_H
#define INCLUDE_EVENT_KIND_H

#define EVENT_KINDS                                                                           \
	"role", "standby", "sweep", "link", "node", "port", "trap", "partition", "multicast", \
		"routing", "setting", "store", "keys", "alias", "command", "other"

#endif
