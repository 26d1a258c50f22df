/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A capture of the packets on the links of a world, as a file for Wireshark (formats/pcap.h). Each
 * packet is in it once for each link that it passes. One at a time. On the world's thread.
 */
#ifndef SIM_CAPTURE_H
#define SIM_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/world.h"

/* Begins a capture of the links of a device (NULL: of all links), or of one of its ports if port is
 * not 0. It ends another capture. Takes over fd, also if it fails. epoch_us: the time since 1970
 * when the world's time was 0. Returns 0, or -errno; -EINVAL: fd is no regular file. */
int world_capture_begin(struct world *world, int fd, const struct device *device, uint8_t port,
			uint64_t epoch_us);
/* Ends the capture, if there is one. packets gets their number, and may be NULL. Returns 0,
 * -ENOENT: there was none, or the error of the first failed write, after which nothing was
 * captured. */
int world_capture_end(struct world *world, uint64_t *packets);
/* Writes buffered packets to the file. */
void world_capture_flush(struct world *world);

#endif
