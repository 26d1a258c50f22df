/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A private copy of the state directory for `weftd --preview`, so that the preview uses stored
 * LIDs, P_Keys and M_Keys, and changes only the copy. The weftd that owns the directory may run.
 * The copy is in memory (/dev/shm) where this exists, and only its owner can read it. Before the
 * loop runs.
 */
#ifndef WEFTD_PREVIEW_STATE_H
#define WEFTD_PREVIEW_STATE_H

#include <stddef.h>

/* Copies the files of the store and the table cache of dir, which may be missing, to a new
 * directory, and writes its name to copy. Returns 0, or -errno with the object, the reason and the
 * remedy in why. */
int preview_state_copy(const char *dir, char *copy, size_t copy_size, char *why, size_t why_size);
/* Removes the copy. An empty name is harmless. */
void preview_state_remove(const char *copy);

#endif
