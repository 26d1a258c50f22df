/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Prints the answers of perf top, errors, show, sweep and clear. */
#include "ctl/handlers.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/text.h"
#include "lib/mem.h"

static char *used_text(const json_t *port)
{
	const json_t *used = json_object_get(json_object_get(port, "rates"), "utilization");

	return json_is_number(used) ? mem_printf("%.1f %%", json_number_value(used))
				    : mem_strdup("-");
}

const struct column top_columns[] = {
	COLUMN("NODE", NULL, COLUMN_NODE),
	COLUMN("PORT", "port", COLUMN_NUMBER),
	COLUMN_FORMAT("XMIT", "{rates.xmit_bytes:rB/s}", COLUMN_NUMBER),
	COLUMN_FORMAT("RCV", "{rates.rcv_bytes:rB/s}", COLUMN_NUMBER),
	COLUMN_FROM("USED", used_text, COLUMN_NUMBER),
	COLUMN_FORMAT("XMIT-WAIT", "{rates.xmit_wait:rticks/s}", COLUMN_NUMBER, .drop = 3),
	COLUMN("SPEED", "rates.width_speed", COLUMN_TEXT, .drop = 1),
	COLUMN("PEER", "peer", COLUMN_NODE),
	COLUMN("PEER-PORT", "peer.port", COLUMN_NUMBER, .drop = 2),
	{.name = NULL},
};

static bool names(const json_t *array, const char *name)
{
	const json_t *value;
	size_t i;

	json_array_foreach (array, i, value)
		if (json_is_string(value) && !strcmp(json_string_value(value), name))
			return true;
	return false;
}

/* The symbol BER. */
static char *ber_text(const json_t *row)
{
	const json_t *ber = json_object_get(row, "symbol_ber");

	if (!json_is_number(ber))
		return mem_strdup("-");
	return json_number_value(ber) > 0 ? mem_printf("%.1e", json_number_value(ber))
					  : mem_strdup("0");
}

/* A row for each counter: RISING marks counters that rose at the last read, + counters that are
 * full.
 */
static void perf_print_ports(const json_t *ports, FILE *out)
{
	static const struct column columns[] = {
		COLUMN("NODE", NULL, COLUMN_NODE),
		COLUMN("PORT", "port", COLUMN_NUMBER),
		COLUMN("COUNTER", "counter", COLUMN_TEXT),
		COLUMN("TOTAL", "total", COLUMN_NUMBER),
		COLUMN("RISING", "rising", COLUMN_FLAG),
		COLUMN("PEER", "peer", COLUMN_NODE),
		COLUMN("PEER-PORT", "peer.port", COLUMN_NUMBER, .drop = 1),
		COLUMN_FROM("BER", ber_text, COLUMN_NUMBER),
		{.name = NULL},
	};
	json_t *rows = json_array(), *port, *value;
	const char *name;
	size_t i;

	json_array_foreach (ports, i, port) {
		json_object_foreach (json_object_get(port, "counters"), name, value) {
			json_t *row = json_copy(port);
			bool full = names(json_object_get(port, "full"), name);

			json_object_set_new(row, "counter", json_string(name));
			if (strcmp(name, "SymbolErrorCounter") != 0)
				json_object_del(row, "symbol_ber");
			text_make_printable(json_object_get(row, "counter"));
			json_object_set_new(row, "total",
					    json_sprintf("%lld%s",
							 (long long)json_integer_value(value),
							 full ? "+" : ""));
			json_object_set_new(
				row, "rising",
				json_boolean(names(json_object_get(port, "rose"), name)));
			json_array_append_new(rows, row);
		}
	}
	columns_print(columns, NULL, rows, out);
	json_decref(rows);
}

static const struct column slow_link_columns[] = {
	COLUMN("SPEED", "width_speed", COLUMN_TEXT),
	COLUMN("POSSIBLE", "could", COLUMN_TEXT),
	COLUMN("FROM", "from", COLUMN_NODE),
	COLUMN("FROM-PORT", "from.port", COLUMN_NUMBER),
	COLUMN("TO", "to", COLUMN_NODE),
	COLUMN("TO-PORT", "to.port", COLUMN_NUMBER),
	{.name = NULL},
};

void print_errors(const json_t *data, FILE *out)
{
	const json_t *ports = json_object_get(data, "ports");

	/* If there is a note, the counters were never read. */
	if (json_array_size(ports) || !json_object_get(data, "note")) {
		fputs("Ports that have counted errors:\n", out);
		perf_print_ports(ports, out);
	}
	fputs("\nLinks that are slower or narrower than both ends support:\n", out);
	columns_print(slow_link_columns, NULL, json_object_get(data, "links"), out);
}

static void print_all(const json_t *counters, const char *heading, FILE *out)
{
	const char *name;
	json_t *value;

	if (!json_object_size(counters))
		return;
	fprintf(out, "%s\n", heading);
	json_object_foreach ((json_t *)counters, name, value) {
		char clean[64];

		snprintf(clean, sizeof(clean), "%s", name);
		text_clean(clean);
		fprintf(out, "  %-32s %20llu\n", clean,
			(unsigned long long)json_integer_value(value));
	}
}

/* "SymbolErrorCounter +3, PortRcvErrors +1". */
static char *rose_text(const json_t *reading)
{
	FILE *out;
	size_t size;
	const char *name, *between = "";
	char *text, clean[64];
	json_t *value;

	out = text_stream(&text, &size);
	json_object_foreach (json_object_get(reading, "rose"), name, value) {
		snprintf(clean, sizeof(clean), "%s", name);
		text_clean(clean);
		fprintf(out, "%s%s +%lld", between, clean, (long long)json_integer_value(value));
		between = ", ";
	}
	fputs(*between ? "" : "-", out);
	fclose(out);
	return text;
}

static char *span_text(const json_t *reading)
{
	const json_t *span = json_object_get(reading, "span_s");

	return json_is_number(span) ? mem_printf("%.1f", json_number_value(span)) : mem_strdup("-");
}

static void print_history(const json_t *data, FILE *out)
{
	static const struct column columns[] = {
		COLUMN_FORMAT("TIME", "{time_s:time}", COLUMN_TEXT),
		COLUMN_FROM("SECONDS", span_text, COLUMN_NUMBER),
		COLUMN_FORMAT("XMIT", "{xmit_bytes:rB/s}", COLUMN_NUMBER),
		COLUMN_FORMAT("RCV", "{rcv_bytes:rB/s}", COLUMN_NUMBER),
		COLUMN_FROM("BER", ber_text, COLUMN_NUMBER),
		COLUMN_FROM("ROSE", rose_text, COLUMN_TEXT),
		{.name = NULL},
	};
	const json_t *since = json_object_get(data, "since"),
		     *history = json_object_get(data, "history");
	char *rose;

	if (json_is_object(since)) {
		rose = rose_text(since);
		text_put(out, since,
			 "In the {span_s:g} s since the last read of all ports: sends "
			 "{rates.xmit_bytes:rB/s}, receives {rates.rcv_bytes:rB/s}; counters that "
			 "rose: ");
		fprintf(out, "%s\n", *rose == '-' ? "none" : rose);
		free(rose);
	}
	if (json_array_size(history)) {
		fputs("Reads of this port\n", out);
		columns_print(columns, NULL, history, out);
	}
}

void print_counters(const json_t *data, FILE *out)
{
	const json_t *rates = json_object_get(data, "rates");

	text_put(out, data, "{:n} port {port:d}, LID {lid:d}");
	if (json_is_object(json_object_get(data, "peer")))
		text_put(out, data, ", leads to {peer:n} {peer.port:d}");
	text_put(out, data, "{redirected:?; redirected to another agent}\n");
	print_all(json_object_get(data, "counters"), "PortCounters", out);
	print_all(json_object_get(data, "extended"), "PortCountersExtended", out);
	print_all(json_object_get(json_object_get(data, "totals"), "counters"),
		  "Errors in all, also from before resets, at the last read of all ports", out);
	if (json_is_number(json_object_get(rates, "xmit_bytes")))
		text_put(out, rates,
			 "Sends {xmit_bytes:rB/s}, receives {rcv_bytes:rB/s}, "
			 "{xmit_pkts:rpackets/s} and {rcv_pkts:rpackets/s}\n");
	if (json_is_number(json_object_get(rates, "symbol_ber"))) {
		char *ber = ber_text(rates);

		fprintf(out, "Symbol BER between the last two reads: %s\n", ber);
		free(ber);
	}
	print_history(data, out);
}

void print_perf_sweep(const json_t *data, FILE *out)
{
	text_put(out, data,
		 "sweep {sweeps:d}: {ports:d} port{ports:#|s} of {agents:d} agent{agents:#|s} "
		 "read in {duration_us:us}, {requests:d} request{requests:#|s}\n"
		 "{silent:d} agent{silent:#|s} silent, {timed_out:d} timed out, {refused:d} "
		 "refused, {resets:d} reset{resets:#|s}\n");
}

static void put_if(const json_t *data, const char *member, const char *format, FILE *out)
{
	if (json_integer_value(json_object_get(data, member)))
		text_put(out, data, format);
}

void print_perf_clear(const json_t *data, FILE *out)
{
	text_put(out, data,
		 "Reset the counters of {ports:d} port{ports:#|s} of {agents:d} node{agents:#|s}; "
		 "the totals of weftd continue.\n");
	put_if(data, "silent", "{silent:d} node{silent:#|s} did not answer.\n", out);
	put_if(data, "refused", "{refused:d} request{refused:#|s} {refused:#was|were} refused.\n",
	       out);
	put_if(data, "kept",
	       "{kept:d} port{kept:#|s} still {kept:#has|have} counters above 0: the device did "
	       "not reset them.\n",
	       out);
}
