/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The JSON Schema of the requests on the control socket, from the table of commands. Arguments that
 * only weftctl uses, such as names of its own files, are not part of a request.
 */
#include <string.h>

#include "ctl/handlers.h"
#include "ctl/reference.h"
#include "lib/mem.h"

/* Requests that weftctl sends in parts: all but the name of the command. */
static const struct {
	const char *command, *schema;
} in_parts[] = {
	{"partition check",
	 "{\"properties\": {"
	 "\"text\": {\"type\": \"string\", \"description\": \"A part of the file, whole lines.\"},"
	 "\"name\": {\"type\": \"string\", \"description\": \"Name of the file, for errors.\"},"
	 "\"more\": {\"type\": \"boolean\", \"description\": \"Whether a part follows.\"},"
	 "\"token\": {\"type\": \"integer\", \"description\": \"From the answer to the part "
	 "before; "
	 "0 in the first part.\"}}, \"required\": [\"text\"]}"},
	{"keys import",
	 "{\"properties\": {\"rows\": {\"type\": \"array\", \"items\": {\"type\": \"array\", "
	 "\"items\": {\"type\": \"string\"}, \"minItems\": 2, \"maxItems\": 2}, \"description\": "
	 "\"Pairs of a port GUID and its M_Key, in hexadecimal.\"}}, \"required\": [\"rows\"]}"},
	{"restore",
	 "{\"properties\": {"
	 "\"begin\": {\"type\": \"boolean\", \"description\": \"true in the first request, which "
	 "has version.\"},"
	 "\"version\": {\"type\": \"integer\", \"description\": \"Of the document.\"},"
	 "\"token\": {\"type\": \"integer\", \"description\": \"From the answer to the first "
	 "request.\"},"
	 "\"force\": {\"type\": \"boolean\", \"description\": \"In the last request: accepts the "
	 "loss of P_Keys.\"},"
	 "\"records\": {\"type\": \"array\", \"description\": \"Some records of the document; a "
	 "request without them ends it.\"}}}"},
};

static json_t *schema_in_parts(const char *command)
{
	for (size_t i = 0; i < ARRAY_SIZE(in_parts); i++)
		if (!strcmp(in_parts[i].command, command))
			return json_loads(in_parts[i].schema, 0, NULL);
	return NULL;
}

/* Whether weftctl sends the words as a command to weftd. */
static bool is_sent(const struct ctl_command *command)
{
	return command->perform != import_opensm && command->perform != export_opensm &&
	       command->perform != completion_perform && command->perform != keys_rotate_perform &&
	       command->perform != takeover_preview;
}

/* Whether weftctl alone uses the argument. */
static bool is_local(const struct ctl_command *command, const struct ctl_argument *argument)
{
	return command->ask || command->digest ||
	       ((command->perform || command->sink) &&
		(!strcmp(argument->member, "file") || !strcmp(argument->member, "dir") ||
		 !strcmp(argument->member, "format")));
}

static json_t *argument_schema(const struct ctl_command *command,
			       const struct ctl_argument *argument)
{
	json_t *words;

	if (argument->flag)
		return json_pack("{s:s}", "type", "boolean");
	if (argument->many ||
	    (command->perform == members_perform && !strcmp(argument->member, "members")))
		return json_pack("{s:s,s:{s:s}}", "type", "array", "items", "type", "string");
	if (argument->choices) {
		words = json_array();
		for (const char *const *choice = argument->choices; *choice; choice++)
			json_array_append_new(words, json_string(*choice));
		return json_pack("{s:o}", "enum", words);
	}
	if (argument->form)
		return json_pack("{s:[s,s]}", "type", "string", "integer");
	if (!argument->most)
		return json_pack("{s:s}", "type", "string");
	return json_pack("{s:[s,s],s:I,s:I,s:s}", "type", "integer", "string", "minimum",
			 (json_int_t)argument->least, "maximum", (json_int_t)argument->most,
			 "pattern", "^[0-9]+$");
}

static json_t *request_schema(const struct ctl_command *command, const char *name)
{
	json_t *schema = schema_in_parts(name), *properties, *required = json_array();

	if (!schema) {
		schema = json_pack("{s:{}}", "properties");
		for (int i = 0; i < CTL_ARGUMENTS_MAX && command->arguments[i].member; i++) {
			const struct ctl_argument *argument = &command->arguments[i];

			if (is_local(command, argument))
				continue;
			json_object_set_new(json_object_get(schema, "properties"), argument->member,
					    argument_schema(command, argument));
			if (!argument->optional)
				json_array_append_new(required, json_string(argument->member));
		}
	}
	properties = json_object_get(schema, "properties");
	json_object_set_new(properties, "command", json_pack("{s:s}", "const", name));
	json_array_extend(required, json_object_get(schema, "required"));
	json_array_append_new(required, json_string("command"));
	json_object_set_new(schema, "required", required);
	json_object_set_new(schema, "type", json_string("object"));
	json_object_set_new(schema, "description", json_string(command->summary));
	return schema;
}

void reference_requests(FILE *out)
{
	json_t *requests = json_object(), *schema;

	for (const struct ctl_command *command = ctl_commands; command->words; command++) {
		const char *name = command->ask ? command->ask : command->words;

		if (is_sent(command) && !json_object_get(requests, name))
			json_object_set_new(requests, name, request_schema(command, name));
	}
	schema = json_pack(
		"{s:s,s:s,s:s,s:O}", "$schema", "https://json-schema.org/draft/2020-12/schema",
		"title", "Requests on the control socket of weftd", "description",
		"Each property describes the request for one command. A request is an object on "
		"one line. weftd ignores members that it does not know. Numbers may be text.",
		"properties", requests);
	json_dumpf(schema, out, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
	fputc('\n', out);
	json_decref(requests);
	json_decref(schema);
}
