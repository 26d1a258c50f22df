/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The note of an answer: note.h. One command runs in a process, so there is one note. */
#include "ctl/note.h"

#include <stdio.h>

#include "ctl/text.h"

static json_t *kept;

bool note_take(const json_t *part)
{
	json_t *note = json_object_get(part, "note");

	if (!note)
		return false;
	json_decref(kept);
	kept = json_incref(note);
	return true;
}

const json_t *note_kept(void)
{
	return kept;
}

void note_print(bool json)
{
	if (json_object_get(kept, "text")) {
		text_make_printable(kept);
		fprintf(json ? stderr : stdout, "%s%s\n", json ? "weftctl: " : "",
			text_member(kept, "text"));
	}
	json_decref(kept);
	kept = NULL;
}
