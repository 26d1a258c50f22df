/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Puts the pieces of a text together: sm/control/upload.h. */
#include "sm/control/upload.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"

enum { TEXT_MAX_BYTES = 64 * 1024 * 1024 };

void upload_forget(struct upload *upload)
{
	free(upload->text);
	upload->text = NULL;
	upload->length = 0;
}

bool upload_take(struct upload *upload, struct control_request *request, const json_t *args,
		 const char *what)
{
	const json_t *piece = json_object_get(args, "text");
	const char *name = json_string_value(json_object_get(args, "name"));
	long long token = json_integer_value(json_object_get(args, "token"));
	size_t length = json_string_length(piece);

	if (!json_is_string(piece)) {
		control_fail(request, "%.200s: not UTF-8 text", name ? name : "file");
		return false;
	}
	if (!token) {
		upload_forget(upload);
		upload->token++;
	} else if (token != upload->token || !upload->text) {
		control_fail(request, "another %s has begun: try again", what);
		return false;
	}
	if (upload->length + length > TEXT_MAX_BYTES) {
		control_fail(request, "a partition file has at most %d MiB",
			     TEXT_MAX_BYTES / 1024 / 1024);
		return false;
	}
	upload->text = mem_resize(upload->text, upload->length + length + 1, 1);
	memcpy(upload->text + upload->length, json_string_value(piece), length);
	upload->length += length;
	return true;
}

bool upload_continues(const struct upload *upload, struct control_request *request,
		      const json_t *args)
{
	if (!json_is_true(json_object_get(args, "more")))
		return false;
	control_reply(request, json_pack("{s:I}", "token", (json_int_t)upload->token));
	return true;
}
