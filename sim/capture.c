/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Writes packets when they leave a port: sim/capture.h. A file that refuses bytes, because its disk
 * is full, gets no more packets. Only regular files: a pipe could block the server.
 */
#include "sim/capture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/pcap.h"
#include "lib/mem.h"
#include "sim/world_parts.h"

enum { NS_PER_US = 1000 };

struct world_capture {
	FILE *file;
	const struct device *device;
	uint8_t port;
	int error;
	bool dirty;
	uint64_t epoch_us, packets;
};

static void put(struct world_capture *capture, const void *bytes, size_t size)
{
	if (!capture->error && fwrite(bytes, size, 1, capture->file) != 1)
		capture->error = errno ? -errno : -EIO;
	capture->dirty = true;
}

int world_capture_begin(struct world *world, int fd, const struct device *device, uint8_t port,
			uint64_t epoch_us)
{
	uint8_t header[PCAP_FILE_HEADER];
	struct world_capture *capture;
	struct stat status;
	FILE *file;

	if (fd < 0 || fstat(fd, &status) || !S_ISREG(status.st_mode) || !(file = fdopen(fd, "w"))) {
		if (fd >= 0)
			close(fd);
		return -EINVAL;
	}
	world_capture_end(world, NULL);
	capture = world->capture = mem_zalloc(sizeof(*capture));
	capture->file = file;
	capture->device = device;
	capture->port = port;
	capture->epoch_us = epoch_us;
	pcap_file_header(header);
	put(capture, header, sizeof(header));
	return 0;
}

int world_capture_end(struct world *world, uint64_t *packets)
{
	struct world_capture *capture = world->capture;
	int r;

	if (!capture)
		return -ENOENT;
	r = fclose(capture->file) ? -errno : 0;
	if (capture->error)
		r = capture->error;
	if (packets)
		*packets = capture->packets;
	world->capture = NULL;
	free(capture);
	return r;
}

void world_capture_flush(struct world *world)
{
	struct world_capture *capture = world->capture;

	if (!capture || !capture->dirty)
		return;
	capture->dirty = false;
	if (fflush(capture->file) && !capture->error)
		capture->error = -errno;
}

static bool concerns(const struct world_capture *capture, const struct device_port *port)
{
	return port->device == capture->device && (!capture->port || port->num == capture->port);
}

void world_capture_packet(struct world *world, const struct packet *packet,
			  const struct device_port *out)
{
	struct world_capture *capture = world->capture;
	uint8_t bytes[IB_PACKET_MAX], record[IB_PACKET_MAX + PCAP_AROUND];

	if (capture->device && !concerns(capture, out) && !concerns(capture, out->peer))
		return;
	put(capture, record,
	    pcap_packet(capture->epoch_us + world->now_ns / NS_PER_US, bytes,
			packet_write(packet, bytes), record));
	capture->packets++;
}
