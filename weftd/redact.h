/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Removes the keys from a MAD before it is shown: M_Keys, SM_Keys, the SA_Key and the keys of
 * services. Covers all headers and attributes that weftd uses. Pure.
 */
#ifndef WEFTD_REDACT_H
#define WEFTD_REDACT_H

#include <stdint.h>

#include "include/iba.h"

/* Sets the keys in mad to 0. mad has the first MAD_SIZE bytes of a message, padded with zeros. */
void redact(uint8_t mad[MAD_SIZE]);

#endif
