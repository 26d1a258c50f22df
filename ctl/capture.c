/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Writes captures. Each part is in the file before the next part is read, so an interrupted capture
 * is a valid file. Only the owner can read it.
 */
#include "ctl/handlers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/file.h"
#include "ctl/text.h"
#include "formats/pcap.h"
#include "lib/mem.h"

struct capture {
	char *path; /* NULL: standard output */
	FILE *out;
	unsigned long long packets, lost;
	bool begun; /* the former contents of the file are removed */
	int error;  /* the first error, or 0 */
};

static void write_bytes(struct capture *capture, const uint8_t *bytes, size_t size)
{
	if (!capture->error && fwrite(bytes, 1, size, capture->out) != size)
		file_note_error(&capture->error);
}

static void *capture_open(const json_t *request, char error[CTL_ERROR_SIZE])
{
	const char *path = text_member(request, "file");
	struct capture *capture = mem_zalloc(sizeof(*capture));
	int fd;

	capture->out = stdout;
	if (strcmp(path, "-") != 0) {
		capture->path = mem_strdup(path);
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		capture->out = fd < 0 ? NULL : fdopen(fd, "w");
	}
	if (!capture->out) {
		snprintf(error, CTL_ERROR_SIZE, "cannot write %.120s: %s", path, strerror(errno));
		free(capture->path);
		free(capture);
		return NULL;
	}
	return capture;
}

/* Truncates the file only after the first answer, so that a refusal keeps an earlier capture. */
static void capture_begin(struct capture *capture)
{
	uint8_t header[PCAP_FILE_HEADER];

	if (capture->begun)
		return;
	capture->begun = true;
	if (capture->path && ftruncate(fileno(capture->out), 0) && errno != EINVAL)
		capture->error = -errno;
	pcap_file_header(header);
	write_bytes(capture, header, sizeof(header));
}

/* Converts hexadecimal digits to bytes. False, and zeros, if they are invalid or too few. */
static bool read_hex(const json_t *value, uint8_t *bytes, size_t size)
{
	const char *text = json_string_value(value);

	memset(bytes, 0, size);
	if (!text || strlen(text) != 2 * size)
		return false;
	for (size_t i = 0; i < size; i++) {
		char pair[3] = {text[2 * i], text[2 * i + 1], '\0'}, *end;

		bytes[i] = (uint8_t)strtoul(pair, &end, 16);
		if (*end)
			return false;
	}
	return true;
}

static void write_packet(struct capture *capture, const json_t *row)
{
	bool sent = flag_member(row, "sent");
	uint32_t qpn = (uint32_t)number_member(row, "qpn");
	lid_t lid = (lid_t)number_member(row, "lid"), own = (lid_t)number_member(row, "own_lid");
	uint8_t mad[MAD_SIZE], record[PCAP_RECORD_MAX], gid[GID_SIZE], own_gid[GID_SIZE];
	struct pcap_mad packet = {
		.time_us = (uint64_t)number_member(row, "time_us"),
		.slid = sent ? own : lid,
		.dlid = sent ? lid : own,
		.sqp = sent ? qpn != 0 : qpn,
		.dqp = sent ? qpn : qpn != 0,
		.sl = (uint8_t)number_member(row, "sl"),
		.has_grh = read_hex(json_object_get(row, "gid"), gid, sizeof(gid)),
		.mad = mad,
	};

	if (!read_hex(json_object_get(row, "mad"), mad, sizeof(mad)))
		return;
	read_hex(json_object_get(row, "own_gid"), own_gid, sizeof(own_gid));
	memcpy(packet.sgid, sent ? own_gid : gid, GID_SIZE);
	memcpy(packet.dgid, sent ? gid : own_gid, GID_SIZE);
	write_bytes(capture, record, pcap_record(&packet, record));
	capture->packets++;
}

static void capture_part(void *sink, const json_t *part)
{
	struct capture *capture = sink;
	const json_t *row;
	size_t i;

	capture_begin(capture);
	json_array_foreach (json_object_get(part, "packets"), i, row)
		write_packet(capture, row);
	capture->lost = (unsigned long long)number_member(part, "lost");
	if (fflush(capture->out))
		file_note_error(&capture->error);
	if (capture->error) { /* for example, the disk is full: end the capture */
		fprintf(stderr, "weftctl: cannot write the capture: %s\n",
			strerror(-capture->error));
		exit(EXIT_FAILURE);
	}
}

static int capture_close(void *sink, bool whole, json_t **data, char error[CTL_ERROR_SIZE])
{
	struct capture *capture = sink;
	int result;

	if (whole)
		capture_begin(capture);
	if (fflush(capture->out))
		file_note_error(&capture->error);
	if (capture->path && fclose(capture->out))
		file_note_error(&capture->error);
	result = capture->error;
	if (result)
		snprintf(error, CTL_ERROR_SIZE, "cannot write the capture: %s", strerror(-result));
	else
		*data = capture->path ? json_pack("{s:s,s:I,s:I}", "file", capture->path, "packets",
						  (json_int_t)capture->packets, "lost",
						  (json_int_t)capture->lost)
				      : json_null();
	free(capture->path);
	free(capture);
	return result;
}

const struct ctl_sink capture_sink = {capture_open, capture_part, capture_close};

void print_capture(const json_t *data, FILE *out)
{
	text_put(out, data, "{file}: {packets:d} packet{packets:#|s}");
	if (number_member(data, "lost"))
		text_put(out, data,
			 "; {lost:d} more were lost, as they came faster than they were read");
	fputc('\n', out);
}
