/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Words for the completion of the shell: complete.h. */
#include "lib/complete.h"

#include <string.h>

const char *complete_prefix(const json_t *args)
{
	const char *prefix = json_string_value(json_object_get(args, "prefix"));

	return prefix ? prefix : "";
}

bool complete_fits(const char *word, const char *prefix)
{
	return *word && !strncmp(word, prefix, strlen(prefix));
}

void complete_reply(struct control_request *request, const json_t *args, const char *const *words)
{
	const char *prefix = complete_prefix(args);
	json_t *fitting = json_array();

	for (; *words; words++)
		if (complete_fits(*words, prefix))
			json_array_append_new(fitting, json_string(*words));
	control_part(request, json_pack("{s:o}", "words", fitting));
	control_reply(request, NULL);
}
