/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The note of an answer: a line about the whole answer, such as that its contents may be old. weftd
 * sends it in a part of its own. It is printed above the answer; with --json it goes to standard
 * error, so that standard output is one document.
 */
#ifndef CTL_NOTE_H
#define CTL_NOTE_H

#include <stdbool.h>

#include "lib/control.h"

/* Keeps the note of a part. False: the part has none. */
bool note_take(const json_t *part);
/* The note that was kept, borrowed; NULL: none. */
const json_t *note_kept(void);
/* Prints the note and drops it. */
void note_print(bool json);

#endif
