/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The common header of management datagrams, and the headers of SMPs and SA MADs that follow it:
 * chapters 13.4.3, 14.2.1 and 15.2.1.1 of the specification. Network byte order exists only in mad/
 * and sma/. Pure functions over 256-byte buffers that belong to the caller.
 */
#ifndef MAD_MAD_H
#define MAD_MAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/iba.h"

/* The common header, bytes 0-23, and the class specific word of SMPs (hops, D bit in status). */
struct mad_header {
	uint8_t base_version;
	uint8_t mgmt_class;
	uint8_t class_version;
	uint8_t method;
	uint16_t status;		/* for directed SMPs with the D bit still in it */
	uint8_t hop_pointer, hop_count; /* directed SMPs only, else 0 */
	uint64_t tid;
	uint16_t attr_id;
	uint32_t attr_mod;
};

void header_decode(const uint8_t *mad, struct mad_header *header); /* needs MAD_HEADER_SIZE bytes */
void header_encode(const struct mad_header *header, uint8_t *mad);
/* The method of the response to method; 0 if none is expected (that of a Trap is TrapRepress). */
uint8_t method_response(uint8_t method);
/* "Get", "SubnAdmGetTable" and so on, for the log. Never NULL. */
const char *method_name(uint8_t mgmt_class, uint8_t method);
/* "PortInfo", "PathRecord" and so on, for the log; "unknown" if it is. Never NULL. */
const char *attr_name(uint8_t mgmt_class, uint16_t attr_id);

/* Busy: the request was discarded, and may be sent again (13.4.7). This is no refusal, so do not
 * record it as one. */
static inline bool status_is_busy(uint16_t status)
{
	return status & STATUS_BUSY;
}

/* A directed route: port[i] is the port out of which the SMP makes hop i; port[0] is unused (0). */
struct route_path {
	uint8_t hops; /* 0: the local port itself */
	uint8_t port[HOPS_MAX + 1];
};

/* Offsets in an SMP; the data are at SMP_DATA_OFFSET. */
enum {
	SMP_M_KEY_OFFSET = 24,
	SMP_DR_SLID_OFFSET = 32,
	SMP_DR_DLID_OFFSET = 34,
	SMP_INITIAL_PATH_OFFSET = 128,
	SMP_RETURN_PATH_OFFSET = 192,
};

/* Fills a directed (route set) or LID-routed (route NULL) SMP request; data may be NULL (zeros). */
void subn_build(uint8_t mad[MAD_SIZE], uint8_t method, uint16_t attr_id, uint32_t attr_mod,
		uint64_t m_key, const struct route_path *route, const uint8_t *data);

/* The SA's header after the RMPP one: SM_Key at 36, AttributeOffset at 44 (8-byte units), component
 * mask at 48, data from 56. */
struct sa_header {
	uint64_t sm_key;
	uint16_t attr_offset;
	uint64_t component_mask;
};

/* Reads SUBN_ADM_HEADER_SIZE bytes of mad. */
void sa_header_decode(const uint8_t *mad, struct sa_header *header);
/* Writes SM_Key to component mask; the bytes before them stay. */
void sa_header_encode(const struct sa_header *header, uint8_t *mad);

/* Offsets in MADs of vendor classes with an OUI; the RMPP header is as in the SA's. */
enum { VENDOR_OUI_OFFSET = 37, VENDOR_DATA_OFFSET = 40 };

/* Whether it is a vendor class with an OUI. */
static inline bool class_has_oui(uint8_t mgmt_class)
{
	return mgmt_class >= CLASS_VENDOR_OUI_MIN && mgmt_class <= CLASS_VENDOR_OUI_MAX;
}

/* RMPP header at 24: version, type, time/flags, status, segment, payload length. */
enum rmpp_flags { RMPP_ACTIVE = 1, RMPP_FIRST = 2, RMPP_LAST = 4 };
/* Whether a MAD of the SA, or of a vendor class with an OUI, is RMPP; false for every other class.
 * mad has at least 36 bytes. */
bool rmpp_is_active(const uint8_t *mad);
/* Writes an RMPP header: of a message of one segment if active, else all zero. See mad.c. */
void rmpp_header_encode(uint8_t *mad, bool active);

#endif
