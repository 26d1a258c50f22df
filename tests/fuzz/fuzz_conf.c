/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * weftd.conf and -o: weftd/conf.h. An accepted configuration is printed, and must be accepted again
 * with equal values. A refusal must change nothing, and give a reason. The harness has engine names
 * of its own.
 */
#include "weftd/conf.h"

#include <sys/mman.h>

#include "route/engine.h"
#include "tests/fuzz/fuzz.h"

const char *__lsan_default_suppressions(void);

/* libconfig leaks the strings of a file with a syntax error. */
const char *__lsan_default_suppressions(void)
{
	return "leak:libconfig\n";
}

const struct route_engine route_engines[] = {
	{.name = "minhop"},
	{.name = "ftree"},
	{.name = "updn"},
	{.name = NULL},
};

const struct route_engine *route_engine_find(const char *name)
{
	for (const struct route_engine *engine = route_engines; engine->name; engine++) {
		if (!strcmp(engine->name, name))
			return engine;
	}
	return NULL;
}

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	abort();
}

/* Returns the result. After an error conf is unchanged. */
static int read_file(struct conf *conf, const void *bytes, size_t size)
{
	char path[64], error[CONF_ERROR_SIZE] = "";
	struct conf before = *conf;
	int fd = memfd_create("conf", MFD_CLOEXEC), result;

	CU_ASSERT_FATAL(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	result = conf_read(conf, path, true, NULL, error);
	close(fd);
	if (result && (memcmp(conf, &before, sizeof(before)) != 0 || !*error))
		fail("a refusal changes a value, or has no reason", error);
	return result;
}

/* Made once, because it takes as long as a hundred inputs. */
static struct conf defaults(void)
{
	static struct conf conf;

	if (!conf.state_dir[0])
		conf_defaults(&conf);
	return conf;
}

static void read_what_is_printed(const struct conf *conf)
{
	char *text = NULL;
	struct conf again = defaults();
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (const struct conf_row *row = conf_rows; row->name; row++) {
		fprintf(out, "%s = ", row->name);
		conf_row_print(conf, row, out);
		fputs(";\n", out);
	}
	fclose(out);
	if (read_file(&again, text, size))
		fail("the printed configuration is refused", text);
	for (const struct conf_row *row = conf_rows; row->name; row++) {
		if (conf_row_differs(row, conf, &again))
			fail("the printed configuration differs", row->name);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char error[CONF_ERROR_SIZE] = "", *text = strndup((const char *)data, size);
	struct conf conf = defaults();

	if (!read_file(&conf, data, size))
		read_what_is_printed(&conf);
	conf = defaults();
	if (!conf_set(&conf, text, error))
		read_what_is_printed(&conf);
	conf_set_text(&conf, "ca", text, error);
	conf_set_text(&conf, "port", text, error);
	read_what_is_printed(&conf);
	free(text);
	return 0;
}
