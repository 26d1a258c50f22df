/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Takes the keys out of a MAD before anybody sees it: M_Keys, SM_Keys, the SA key and the keys of
 * services, wherever the headers and attributes that this daemon speaks have one. Pure.
 */
#ifndef WEFTD_REDACT_H
#define WEFTD_REDACT_H

#include <stdint.h>

#include "include/iba.h"

/* The first MAD_SIZE bytes of a message, with zeros behind what is shorter. Keys become 0. */
void redact(uint8_t mad[MAD_SIZE]);

#endif
