/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * MADs and packets as a capture file for Wireshark and tshark: pcap with link type 247
 * (LINKTYPE_INFINIBAND), whose packets begin with the LRH. The headers around a MAD are built from
 * the manager's knowledge of its way. Unknown fields (the PSN, the P_Key of an index, the CRCs)
 * have 0 or the default. Pure.
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

/* A MAD and its addresses on the wire. */
struct pcap_mad {
	uint64_t time_us; /* since 1970 */
	lid_t slid, dlid;
	uint32_t sqp, dqp;
	uint8_t sl;
	bool has_grh;
	uint8_t sgid[GID_SIZE], dgid[GID_SIZE];
	const uint8_t *mad; /* MAD_SIZE bytes */
};

/* The bytes around a packet in its record. */
enum { PCAP_AROUND = 16 + 16 + 4 + 2 };

/* Writes the header with which the file begins. */
void pcap_file_header(uint8_t out[PCAP_FILE_HEADER]);
/* Writes the record of a MAD and returns its size in bytes. */
size_t pcap_record(const struct pcap_mad *packet, uint8_t out[PCAP_RECORD_MAX]);
/* Writes the record of a packet from its LRH to its padding, whose size is a multiple of 4: size +
 * PCAP_AROUND bytes, which it returns. */
size_t pcap_packet(uint64_t time_us, const uint8_t *packet, size_t size, uint8_t *out);

#endif
