/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Headers around a MAD, after chapters 7.7, 8.3, 9.2 and 9.3 of the specification: formats/pcap.h.
 */
#include "formats/pcap.h"

#include <string.h>

#include "lib/be.h"

enum {
	PACKET_MAX = 65535,	 /* bytes of a record */
	PCAP_MAGIC = 0xA1B2C3D4, /* times in microseconds; the order of bytes is the file's */
	LINKTYPE_ERF = 197,
	RECORD_HEADER = 16,
	ERF = 16,
	ERF_INFINIBAND = 21,
	ERF_VARIABLE_LENGTH = 4, /* a flag */
	LRH = 8,
	GRH = 40,
	BTH = 12,
	DETH = 8,
	ICRC = 4,
	VCRC = 2,
	VL_MANAGEMENT = 15, /* of QP 0 */
	LNH_BTH = 2,
	LNH_GRH = 3,
	OPCODE_UD_SEND_ONLY = 0x64,
	NEXT_HEADER_IBA = 0x1B,
};

void pcap_file_header(uint8_t out[PCAP_FILE_HEADER])
{
	memset(out, 0, PCAP_FILE_HEADER);
	be32_store(out, PCAP_MAGIC);
	be16_store(out + 4, 2);
	be16_store(out + 6, 4);
	be32_store(out + 16, PACKET_MAX);
	be32_store(out + 20, LINKTYPE_ERF);
}

/* The header of a capturing card; its time is in seconds and their 2^-32th parts, the lowest byte
 * first. */
static void card(uint64_t time_us, unsigned length, uint8_t *out)
{
	uint64_t time = time_us / 1000000 << 32 | (time_us % 1000000 << 32) / 1000000;

	for (int i = 0; i < 8; i++)
		out[i] = (uint8_t)(time >> 8 * i);
	out[8] = ERF_INFINIBAND;
	out[9] = ERF_VARIABLE_LENGTH;
	be16_store(out + 10, (uint16_t)(ERF + length));
	be16_store(out + 14, (uint16_t)length);
}

/* words: of 4 bytes, up to the ICRC. */
static void pcap_local_route(const struct pcap_mad *packet, unsigned words, uint8_t *out)
{
	out[0] = (uint8_t)((packet->dqp ? 0 : VL_MANAGEMENT) << 4);
	out[1] = (uint8_t)(packet->sl << 4 | (packet->has_grh ? LNH_GRH : LNH_BTH));
	be16_store(out + 2, packet->dlid);
	be16_store(out + 4, (uint16_t)words);
	be16_store(out + 6, packet->slid);
}

static void global_route(const struct pcap_mad *packet, unsigned payload, uint8_t *out)
{
	out[0] = 6 << 4;
	be16_store(out + 4, (uint16_t)payload);
	out[6] = NEXT_HEADER_IBA;
	out[7] = 64;
	memcpy(out + 8, packet->sgid, GID_SIZE);
	memcpy(out + 24, packet->dgid, GID_SIZE);
}

static void transport(const struct pcap_mad *packet, uint8_t *out)
{
	out[0] = OPCODE_UD_SEND_ONLY;
	be16_store(out + 2, PKEY_DEFAULT_FULL);
	be32_store(out + 4, packet->dqp & 0xFFFFFF);
	be32_store(out + BTH, packet->dqp ? QP1_Q_KEY : 0);
	be32_store(out + BTH + 4, packet->sqp & 0xFFFFFF);
}

/* The headers of a record with a packet of this length, which includes ICRC and VCRC. */
static void record_header(uint64_t time_us, unsigned length, uint8_t *out)
{
	be32_store(out, (uint32_t)(time_us / 1000000));
	be32_store(out + 4, (uint32_t)(time_us % 1000000));
	be32_store(out + 8, ERF + length);
	be32_store(out + 12, ERF + length);
	card(time_us, length, out + RECORD_HEADER);
}

size_t pcap_packet(uint64_t time_us, const uint8_t *packet, size_t size, uint8_t *out)
{
	memset(out, 0, RECORD_HEADER + ERF);
	record_header(time_us, (unsigned)size + ICRC + VCRC, out);
	memcpy(out + RECORD_HEADER + ERF, packet, size);
	memset(out + RECORD_HEADER + ERF + size, 0, ICRC + VCRC);
	return size + PCAP_AROUND;
}

size_t pcap_record(const struct pcap_mad *packet, uint8_t out[PCAP_RECORD_MAX])
{
	unsigned global = packet->has_grh ? GRH : 0;
	unsigned covered = LRH + global + BTH + DETH + MAD_SIZE + ICRC, length = covered + VCRC;
	uint8_t *at = out + RECORD_HEADER;

	memset(out, 0, PCAP_RECORD_MAX);
	record_header(packet->time_us, length, out);
	at += ERF;
	pcap_local_route(packet, covered / 4, at);
	at += LRH;
	if (packet->has_grh)
		global_route(packet, BTH + DETH + MAD_SIZE + ICRC, at);
	at += global;
	transport(packet, at);
	memcpy(at + BTH + DETH, packet->mad, MAD_SIZE);
	return RECORD_HEADER + ERF + length;
}
