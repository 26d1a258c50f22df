/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The words of `weftsim do 'load ...'`: a pattern and options NAME=VALUE, in any order. Tables have
 * their names and ranges.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/hash.h"
#include "lib/hostlist.h"
#include "lib/mem.h"
#include "lib/suggest.h"
#include "sim/find.h"
#include "sim/load.h"
#include "sma/agent.h"

#define PS_PER_NS UINT64_C(1000)
#define PS_PER_S (PS_PER_NS * 1000000000)
#define KIB UINT64_C(1024)

enum { BUFFER_DEFAULT_KIB = 64, SWITCH_NS = 200, LINK_NS = 25, LINKS_SHOWN = 5, PPM = 1000000 };
enum { LINE_SIZE = 512, MESSAGE_MAX_MIB = 1024, MTU_MAX = 4096, MTU_MIN = 256, LIFE_MAX = 31 };

static int load_fail(char error[LOAD_ERROR_SIZE], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int load_fail(char error[LOAD_ERROR_SIZE], const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error, LOAD_ERROR_SIZE, format, arguments);
	va_end(arguments);
	return -EINVAL;
}

/* Patterns */

static const struct pattern_row {
	const char *name, *argument, *help;
	enum load_pattern pattern;
} patterns[] = {
	{"shift", "N", "host i sends to host i + N", LOAD_SHIFT},
	{"permutation", "", "each host sends to another, by a random cycle", LOAD_PERMUTATION},
	{"bisection", "", "random pairs of hosts send to each other", LOAD_BISECTION},
	{"bit-reverse", "", "host i sends to the host with the bits of i in reverse order",
	 LOAD_BIT_REVERSE},
	{"uniform", "", "each message goes to a random host", LOAD_UNIFORM},
	{"all-to-all", "", "each host sends to all others in turn", LOAD_ALL_TO_ALL},
	{"incast", "NODE", "all hosts send to this node", LOAD_INCAST},
	{"pair", "A,B[,SL]", "node A sends to node B; for more pairs give more words", LOAD_PAIRS},
	{"pairs", "FILE", "the same, from the lines 'A B [SL]' of a file", LOAD_PAIRS},
};

/* Options */

enum option_kind { OPTION_NUMBER, OPTION_BYTES, OPTION_TIME, OPTION_PERCENT };

static const struct option_row {
	const char *name, *argument, *help;
	enum option_kind kind;
	size_t offset;
	uint64_t least, most;
} option_rows[] = {
#define OPTION(name, argument, kind, member, least, most, help)                             \
	{                                                                                   \
		name, argument, help, kind, offsetof(struct load_spec, member), least, most \
	}
	OPTION("size", "BYTES", OPTION_BYTES, message_bytes, 1, MESSAGE_MAX_MIB *KIB *KIB,
	       "of a message; default: the MTU"),
	OPTION("mtu", "BYTES", OPTION_BYTES, mtu, MTU_MIN, MTU_MAX,
	       "payload of a packet; default: the smallest MTU of the hosts"),
	OPTION("rate", "PERCENT", OPTION_PERCENT, rate_ppm, 1, PPM,
	       "of the link that each host offers; default: 100"),
	OPTION("pkey", "KEY", OPTION_NUMBER, p_key, 1, UINT16_MAX,
	       "of all packets; default: index 0 of the sender's table"),
	OPTION("duration", "TIME", OPTION_TIME, duration_ps, 1, 1000 * PS_PER_S,
	       "in virtual time; default: 100us, with bytes= 10s at most"),
	OPTION("warmup", "TIME", OPTION_TIME, warmup_ps, 0, 1000 * PS_PER_S,
	       "that rates and latencies leave out; default: a tenth, with bytes= 0"),
	OPTION("bytes", "BYTES", OPTION_BYTES, bytes, 1, KIB *KIB *KIB *KIB,
	       "that each host sends; default: no limit"),
	OPTION("seed", "N", OPTION_NUMBER, seed, 0, UINT64_MAX, "of random choices; default: 1"),
	OPTION("buffer", "BYTES", OPTION_BYTES, buffer_bytes, FLOW_BLOCK_BYTES,
	       (uint64_t)FLOW_BLOCKS_MAX *FLOW_BLOCK_BYTES,
	       "of each input port and VL; default: 64KiB"),
	OPTION("latency", "TIME", OPTION_TIME, switch_ps, 0, PS_PER_S,
	       "of a switch; default: 200ns"),
	OPTION("delay", "TIME", OPTION_TIME, link_ps, 0, PS_PER_S, "of a link; default: 25ns"),
	OPTION("life", "N", OPTION_NUMBER, life, 0, LIFE_MAX,
	       "HOQLife and LifeTimeValue of all switches, instead of theirs; 20: infinite"),
	OPTION("links", "N", OPTION_NUMBER, links, 0, 10000,
	       "most loaded links to print; default: 5"),
#undef OPTION
};

void load_print_help(FILE *stream)
{
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		char usage[32];

		snprintf(usage, sizeof(usage), "%s%s%s", patterns[i].name,
			 *patterns[i].argument ? "=" : "", patterns[i].argument);
		fprintf(stream, "  %-18s %s\n", usage, patterns[i].help);
	}
	fprintf(stream, "  %-18s %s\n", "hosts=LIST",
		"names or a hostlist; default: all active hosts");
	fprintf(stream, "  %-18s %s\n", "sl=N[-M]", "the SL, or SLs in equal shares; default: 0");
	for (size_t i = 0; i < ARRAY_SIZE(option_rows); i++) {
		char usage[32];

		snprintf(usage, sizeof(usage), "%s=%s", option_rows[i].name,
			 option_rows[i].argument);
		fprintf(stream, "  %-18s %s\n", usage, option_rows[i].help);
	}
}

static const struct unit {
	enum option_kind kind;
	const char *name;
	double factor;
} units[] = {
	{OPTION_BYTES, "", 1},
	{OPTION_BYTES, "KiB", 1024},
	{OPTION_BYTES, "MiB", 1024 * 1024},
	{OPTION_BYTES, "GiB", 1024 * 1024 * 1024},
	{OPTION_TIME, "ns", 1e3},
	{OPTION_TIME, "us", 1e6},
	{OPTION_TIME, "ms", 1e9},
	{OPTION_TIME, "s", 1e12},
	{OPTION_PERCENT, "", PPM / 100},
	{OPTION_PERCENT, "%", PPM / 100},
};

/* A number with a unit of its kind; false: it is none. */
static bool value_read(enum option_kind kind, const char *text, uint64_t *out)
{
	char *end;
	double value;

	if (*text < '0' || *text > '9')
		return false;
	if (kind == OPTION_NUMBER) {
		errno = 0;
		*out = strtoull(text, &end, 0);
		return !*end && !errno;
	}
	value = strtod(text, &end);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		double product = value * units[i].factor;

		if (units[i].kind != kind || strcmp(units[i].name, end))
			continue;
		if (!isfinite(product) || product > 1e18)
			return false;
		*out = (uint64_t)(product + 0.5);
		return true;
	}
	return false;
}

static int load_option_read(struct load_spec *spec, const struct option_row *row, const char *text,
			    char *error)
{
	static const char *const kinds[] = {
		[OPTION_NUMBER] = "no number",
		[OPTION_BYTES] = "no size such as 4096, 64KiB or 1MiB",
		[OPTION_TIME] = "no time such as 200ns, 50us or 1ms",
		[OPTION_PERCENT] = "no percentage",
	};
	uint64_t value;

	if (!value_read(row->kind, text, &value))
		return load_fail(error, "load: %s=%.40s is %s", row->name, text, kinds[row->kind]);
	if (value < row->least || value > row->most)
		return load_fail(error, "load: %s=%.40s is too %s", row->name, text,
				 value < row->least ? "small" : "large");
	memcpy((char *)spec + row->offset, &value, sizeof(value));
	return 0;
}

static int sl_read(struct load_spec *spec, const char *text, char *error)
{
	char *end;
	unsigned long first = strtoul(text, &end, 10), last = first;

	if (end != text && *end == '-' && end[1])
		last = strtoul(end + 1, &end, 10);
	if (*text < '0' || *text > '9' || *end || first > last || last >= LOAD_ALL_SLS)
		return load_fail(error,
				 "load: sl=%.40s is neither an SL of 0 to 15 nor a range of "
				 "them such as 0-3",
				 text);
	spec->sl = first;
	spec->sl_last = last;
	return 0;
}

/* Hosts */

static uint64_t name_hash(const char *name)
{
	return hash_bytes(HASH_SEED, name, strlen(name));
}

/* A search by name passes all nodes, which takes too long for a list of thousands. */
static struct device *device_named(struct load_spec *spec, const struct world *world,
				   const char *name)
{
	struct device *const *devices;
	struct device *device;
	size_t count = world_devices(world, &devices);

	for (size_t i = 0; i < count && spec->names.count < count; i++)
		map_put(&spec->names, name_hash(find_name(devices[i])), devices[i]);
	device = map_get(&spec->names, name_hash(name));
	return device && !strcmp(find_name(device), name) ? device : NULL;
}

static int host_find(struct load_spec *spec, const struct world *world, const char *text,
		     struct device_port **out, char *error)
{
	struct device *device = device_named(spec, world, text);
	char reason[FIND_ERROR_SIZE];

	if (device)
		*out = &device->port[device_is_switch(device) ? 0 : 1];
	else if (find_end_port(world, text, out, reason))
		return load_fail(error, "load: %s", reason);
	if (device_is_switch((*out)->device))
		return load_fail(error,
				 "load: %s is a switch; only ports of adapters send and "
				 "receive",
				 find_name((*out)->device));
	return 0;
}

struct host_list {
	struct load_spec *spec;
	const struct world *world;
	char *error;
	int status;
};

static bool host_take(void *ctx, const char *name)
{
	struct host_list *list = ctx;
	struct load_spec *spec = list->spec;
	struct device_port *port = NULL;

	list->status = host_find(spec, list->world, name, &port, list->error);
	for (size_t i = 0; i < spec->num_hosts && !list->status; i++) {
		if (spec->hosts[i] == port)
			list->status =
				load_fail(list->error, "load: %.80s is twice in hosts=", name);
	}
	if (list->status)
		return false;
	spec->hosts = mem_grow(spec->hosts, spec->num_hosts, sizeof(struct device_port *));
	spec->hosts[spec->num_hosts++] = port;
	return true;
}

static int hosts_read(struct load_spec *spec, const struct world *world, const char *text,
		      char *error)
{
	struct host_list list = {spec, world, error, 0};
	char reason[HOSTLIST_ERROR_SIZE];
	int r = hostlist_expand(text, LID_UNICAST_MAX, host_take, &list, reason);

	if (r == -EINVAL)
		return load_fail(error, "load: hosts=: %s", reason);
	return list.status;
}

/* Pairs */

static int pair_add(struct load_spec *spec, const struct world *world, char *const *words,
		    char *error)
{
	struct load_pair pair = {0};
	uint64_t sl = LOAD_ALL_SLS;
	int r;

	if (!words[0] || !words[1])
		return load_fail(error, "load: a pair is two nodes, A,B or A,B,SL");
	r = host_find(spec, world, words[0], &pair.from, error);
	if (!r)
		r = host_find(spec, world, words[1], &pair.to, error);
	if (r)
		return r;
	if (words[2] && (!value_read(OPTION_NUMBER, words[2], &sl) || sl >= LOAD_ALL_SLS))
		return load_fail(error, "load: \"%.20s\" is no SL; they are 0 to 15", words[2]);
	if (pair.from == pair.to)
		return load_fail(error, "load: %s cannot send to itself", words[0]);
	if (spec->num_pairs == LOAD_PAIRS_MAX)
		return load_fail(error, "load: there are more than %d pairs", LOAD_PAIRS_MAX);
	pair.sl = (uint8_t)sl;
	spec->pairs = mem_grow(spec->pairs, spec->num_pairs, sizeof(*spec->pairs));
	spec->pairs[spec->num_pairs++] = pair;
	return 0;
}

static int pair_read(struct load_spec *spec, const struct world *world, const char *text,
		     const char *separators, char *error)
{
	char line[LINE_SIZE], *next = line, *words[4] = {0};

	snprintf(line, sizeof(line), "%s", text);
	for (unsigned i = 0; i < ARRAY_SIZE(words); i++) {
		words[i] = strsep(&next, separators);
		while (words[i] && !*words[i])
			words[i] = strsep(&next, separators);
	}
	if (!words[0])
		return 0;
	if (words[3])
		return load_fail(error, "load: \"%.60s\" is more than two nodes and an SL", text);
	return pair_add(spec, world, words, error);
}

/* The server must not wait for a file, so it reads only regular files. */
static int pairs_read(struct load_spec *spec, const struct world *world, const char *path,
		      char *error)
{
	int fd = *path == '/' ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	FILE *stream = NULL;
	struct stat status;
	char line[LINE_SIZE];
	unsigned number = 0;
	int r = 0;

	if (*path != '/')
		return load_fail(error,
				 "load: pairs=%.80s is no absolute path; the server reads "
				 "the file",
				 path);
	if (fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode))
		stream = fdopen(fd, "r");
	if (!stream) {
		r = load_fail(error, "load: cannot read %.80s: %s", path,
			      fd < 0 ? strerror(errno) : "no regular file");
		if (fd >= 0)
			close(fd);
		return r;
	}
	while (!r && fgets(line, sizeof(line), stream)) {
		number++;
		line[strcspn(line, "#\n")] = '\0';
		r = pair_read(spec, world, line, " \t", error);
	}
	fclose(stream);
	if (r) {
		char reason[LOAD_ERROR_SIZE / 2];

		snprintf(reason, sizeof(reason), "%s", error);
		return load_fail(error, "%.200s, line %u: %s", path, number, reason);
	}
	return spec->num_pairs ? 0 : load_fail(error, "load: %.80s has no pair", path);
}

static int pattern_read(struct load_spec *spec, const struct world *world,
			const struct pattern_row *row, const char *word, const char *value,
			char *error)
{
	static const struct option_row shift = {
		"shift", "N", "", OPTION_NUMBER, offsetof(struct load_spec, shift), 1, UINT32_MAX};
	bool more = row->pattern == LOAD_PAIRS && spec->pattern == LOAD_PAIRS;

	if (spec->pattern != LOAD_NONE && !more)
		return load_fail(error, "load: \"%.40s\" is a second pattern after %s", word,
				 spec->text);
	if (!*row->argument != !value || (value && !*value))
		return load_fail(error, "load: the pattern is %s%s%s", row->name,
				 *row->argument ? "=" : "", row->argument);
	spec->pattern = row->pattern;
	if (!more)
		snprintf(spec->text, sizeof(spec->text), "%s", word);
	if (row->pattern == LOAD_SHIFT)
		return load_option_read(spec, &shift, value, error);
	if (row->pattern == LOAD_INCAST)
		return host_find(spec, world, value, &spec->target, error);
	if (row->pattern == LOAD_PAIRS)
		return strcmp(row->name, "pair") ? pairs_read(spec, world, value, error)
						 : pair_read(spec, world, value, ",", error);
	return 0;
}

/* All words */

static int word_unknown(const char *name, char *error)
{
	struct suggest suggest = suggest_for(name);

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		suggest_try(&suggest, patterns[i].name);
	for (size_t i = 0; i < ARRAY_SIZE(option_rows); i++)
		suggest_try(&suggest, option_rows[i].name);
	if (suggest.best)
		return load_fail(error,
				 "load: \"%.40s\" is neither a pattern nor an option; did you "
				 "mean %s?",
				 name, suggest.best);
	return load_fail(
		error, "load: \"%.40s\" is neither a pattern nor an option; see 'load help'", name);
}

static int word_read(struct load_spec *spec, const struct world *world, const char *word,
		     char *error)
{
	size_t length = strcspn(word, "=");
	const char *value = word[length] ? word + length + 1 : NULL;
	char name[24];

	snprintf(name, sizeof(name), "%.*s", (int)length, word);
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		if (!strcmp(patterns[i].name, name))
			return pattern_read(spec, world, &patterns[i], word, value, error);
	}
	if (!strcmp(name, "sl") && value)
		return sl_read(spec, value, error);
	if (!strcmp(name, "hosts") && value && !spec->hosts)
		return hosts_read(spec, world, value, error);
	for (size_t i = 0; i < ARRAY_SIZE(option_rows); i++) {
		if (!strcmp(option_rows[i].name, name))
			return load_option_read(spec, &option_rows[i], value ? value : "", error);
	}
	return word_unknown(name, error);
}

int load_spec_read(struct load_spec *spec, const struct world *world, const char *const *words,
		   char error[LOAD_ERROR_SIZE])
{
	*spec = (struct load_spec){
		.rate_ppm = PPM,
		.duration_ps = FLOW_NEVER,
		.warmup_ps = FLOW_NEVER,
		.seed = 1,
		.life = FLOW_NEVER,
		.buffer_bytes = BUFFER_DEFAULT_KIB * KIB,
		.switch_ps = SWITCH_NS * PS_PER_NS,
		.link_ps = LINK_NS * PS_PER_NS,
		.links = LINKS_SHOWN,
	};
	for (; *words; words++) {
		int r = word_read(spec, world, *words, error);

		if (r)
			return r;
	}
	if (spec->pattern == LOAD_NONE)
		return load_fail(error, "load: a pattern is needed, such as uniform; see "
					"'load help'");
	if (spec->pattern == LOAD_PAIRS && spec->hosts)
		return load_fail(error, "load: with pairs there is no hosts=");
	if (spec->duration_ps == FLOW_NEVER)
		spec->duration_ps = spec->bytes ? 10 * PS_PER_S : 100000 * PS_PER_NS;
	if (spec->warmup_ps == FLOW_NEVER)
		spec->warmup_ps = spec->bytes ? 0 : spec->duration_ps / 10;
	if (spec->warmup_ps >= spec->duration_ps)
		return load_fail(error, "load: the warm-up is not shorter than the duration");
	return 0;
}

void load_spec_done(struct load_spec *spec)
{
	free(spec->pairs);
	free(spec->hosts);
	map_done(&spec->names);
	*spec = (struct load_spec){0};
}
