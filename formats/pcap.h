/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * MADs as a capture file that Wireshark and tshark read: pcap with link type 247
 * (LINKTYPE_INFINIBAND), whose packets begin with the LRH. The headers around a MAD are made here
 * from what a manager knows of its way; of what it does not know (the PSN, the P_Key behind an
 * index, the CRCs) they have 0 or the default. Pure.
 */
#ifndef FORMATS_PCAP_H
#define FORMATS_PCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/iba.h"

enum {
	PCAP_FILE_HEADER = 24,
	/* Of the record, ERF, LRH, GRH, BTH, DETH, MAD, ICRC, VCRC. */
	PCAP_RECORD_MAX = 16 + 16 + 8 + 40 + 12 + 8 + MAD_SIZE + 4 + 2,
};

/* A MAD and its way, seen from the wire. */
struct pcap_mad {
	uint64_t time_us; /* since 1970 */
	lid_t slid, dlid;
	uint32_t sqp, dqp;
	uint8_t sl;
	bool has_grh;
	uint8_t sgid[GID_SIZE], dgid[GID_SIZE];
	const uint8_t *mad; /* MAD_SIZE bytes */
};

void pcap_file_header(uint8_t out[PCAP_FILE_HEADER]);
/* Returns how many bytes the record has. */
size_t pcap_record(const struct pcap_mad *packet, uint8_t out[PCAP_RECORD_MAX]);

#endif
