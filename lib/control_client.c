/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The client of the control socket: one blocking call, for weftctl and for tests. It keeps nothing
 * between calls, and may be called on any thread.
 */
#include <string.h>
#include <unistd.h>

#include "lib/control.h"
#include "lib/control_wire.h"
#include "lib/guid.h"

enum {
	READ_BYTES = 64 << 10,
	LINE_MAX_BYTES = 256 << 20, /* a longer answer is refused, the daemon sends none */
};

/* The descriptor, or -errno. */
static int control_connect(const char *path)
{
	struct sockaddr_un address;
	int rc, fd;

	rc = control_address(path, &address);
	if (rc)
		return rc;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address))) {
		rc = -errno;
		close(fd);
		return rc;
	}
	return fd;
}

static int send_all(int fd, const char *bytes, size_t length)
{
	while (length) {
		ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return -errno;
		bytes += sent;
		length -= (size_t)sent;
	}
	return 0;
}

/* A daemon that refuses the connection answers and closes without reading: its answer is in the
 * socket although sending failed. */
static int send_request(int fd, const json_t *request)
{
	char *text = json_dumps(request, JSON_COMPACT);
	int rc;

	if (!text)
		return -EINVAL;
	rc = send_all(fd, text, strlen(text));
	if (!rc)
		rc = send_all(fd, "\n", 1);
	free(text);
	return rc == -EPIPE || rc == -ECONNRESET ? 0 : rc;
}

/* The next line in *line, valid until the next call; -ECONNRESET when there is no more. */
static int client_read_line(int fd, struct buffer *in, size_t *taken, char **line, size_t *length)
{
	buffer_consume(in, *taken);
	*taken = 0;
	while (!(*line = buffer_line(in, length))) {
		ssize_t got;

		if (buffer_length(in) > LINE_MAX_BYTES)
			return -EPROTO;
		got = recv(fd, buffer_reserve(in, READ_BYTES), READ_BYTES, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -ECONNRESET;
		in->end += (size_t)got;
	}
	*taken = *length + 1;
	return 0;
}

/* A weftd of another version may refuse a request for this reason only: after an upgrade, until the
 * daemon is restarted. */
static char *explain_refusal(const json_t *line, const char *text)
{
	const char *version = json_string_value(json_object_get(line, "version"));

	if (!version || !strcmp(version, WEFT_VERSION))
		return mem_strdup(text);
	return mem_printf(
		"%s (weftd is of version %s, this is %s: after an upgrade weftd has to be "
		"started again)",
		text, version, WEFT_VERSION);
}

/* Evaluates a line that ends the call. */
static int take_end(const json_t *line, json_t **result, char **error)
{
	const json_t *ok = json_object_get(line, "ok");
	const char *text = json_string_value(json_object_get(line, "error"));
	json_t *value = json_object_get(line, "result");

	if (json_is_true(ok)) {
		*result = value ? json_incref(value) : json_null();
		return 0;
	}
	if (!json_is_false(ok) || !text)
		return -EPROTO;
	*error = explain_refusal(line, text);
	return -EREMOTEIO;
}

static int read_answer(int fd, struct buffer *in, void (*part)(void *ctx, json_t *part), void *ctx,
		       json_t **result, char **error)
{
	size_t length = 0, taken = 0;
	char *text;
	int rc;

	while (!(rc = client_read_line(fd, in, &taken, &text, &length))) {
		json_t *line = json_loadb(text, length, 0, NULL);
		json_t *value = json_object_get(line, "part");

		if (!value) {
			rc = take_end(line, result, error);
			json_decref(line);
			return rc;
		}
		if (part)
			part(ctx, value);
		json_decref(line);
	}
	return rc;
}

json_t *control_lines(const char *text)
{
	json_t *lines = json_array();

	while (text && *text) {
		size_t length = strcspn(text, "\n");

		json_array_append_new(lines, json_stringn(text, length));
		text += length + (text[length] == '\n');
	}
	return lines;
}

json_t *control_port_json(guid_t guid, const char *description, unsigned port)
{
	char text[GUID_TEXT];

	return json_pack("{s:s,s:s,s:i}", "guid", guid_text(guid, text), "description", description,
			 "port", (int)port);
}

int control_call(const char *path, const json_t *request, void (*part)(void *ctx, json_t *part),
		 void *ctx, json_t **result, char **error)
{
	struct buffer in = {0};
	int fd = control_connect(path);
	int rc;

	if (fd < 0)
		return fd;
	rc = send_request(fd, request);
	if (!rc)
		rc = read_answer(fd, &in, part, ctx, result, error);
	free(in.bytes);
	close(fd);
	return rc;
}
