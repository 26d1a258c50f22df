/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands that show and direct routes: route show, route engine, route dump. They answer from
 * the view without computing anything; judge.c has the commands that compute. A dump is sent in
 * parts from one view. Loop thread only, except the job that writes a part.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/gone.h"
#include "fabric/walk.h"
#include "lib/mem.h"
#include "route/dump.h"
#include "sm/control/commands.h"
#include "sm/control/control.h"

/* route show */

struct route_walk_out {
	const struct snapshot *snapshot;
	const struct routes *routes;
	struct buffer *row;
	unsigned hops;
	uint8_t in_port, sl;
};

static void add_hop(void *ctx, uint32_t index, uint8_t port)
{
	struct route_walk_out *out = ctx;
	const struct snap_switch *sw = &out->snapshot->switches[index];

	row_begin(out->row, NULL, '{');
	row_guid(out->row, "guid", sw->guid);
	row_string(out->row, "description", sw->facts->description);
	row_integer(out->row, "lid", sw->lid);
	row_integer(out->row, "in_port", out->in_port);
	row_integer(out->row, "out_port", port);
	row_integer(out->row, "vl",
		    routes_vl(out->routes, index, sw->num_ports, out->in_port, port, out->sl));
	row_end(out->row, '}');
	out->hops++;
	out->in_port = port ? snap_link(out->snapshot, index, port)->port : 0;
}

/* The switch at a place, or the switch of the end port at this place; -1: none. */
static int32_t switch_at(const struct snapshot *snapshot, uint32_t place)
{
	return place < snapshot->num_switches ? (int32_t)place
					      : snapshot->ends[place - snapshot->num_switches].sw;
}

/* Adds the hops between two places. 0, -ELOOP or -EHOSTUNREACH. */
static int route_walk(struct route_walk_out *out, uint32_t src, uint32_t dst)
{
	const struct snapshot *snapshot = out->snapshot;
	const struct snap_end *end =
		src < snapshot->num_switches ? NULL : &snapshot->ends[src - snapshot->num_switches];
	lid_t lid = dst < snapshot->num_switches ? snapshot->switches[dst].lid
						 : snapshot->ends[dst - snapshot->num_switches].lid;
	int32_t from = switch_at(snapshot, src);
	int hops;

	if (src == dst)
		return 0;
	if (from < 0)
		return dst >= snapshot->num_switches &&
				       end->peer == (int32_t)(dst - snapshot->num_switches)
			       ? 0
			       : -EHOSTUNREACH;
	out->in_port = end ? end->sw_port : 0;
	hops = table_walk(snapshot, out->routes, (uint32_t)from, lid, add_hop, out);
	return hops < 0 ? hops : 0;
}

/* The requested SL, or the SL of this path; -1: invalid. */
static int sl_of(const struct snapshot *snapshot, const struct routes *routes, const char *text,
		 uint32_t src, uint32_t dst)
{
	int32_t from = switch_at(snapshot, src), to = switch_at(snapshot, dst);
	unsigned long sl;
	char *rest;

	if (!text)
		return routes && from >= 0 && to >= 0
			       ? routes_sl(routes, (uint32_t)from, (uint32_t)to)
			       : 0;
	sl = strtoul(text, &rest, 10);
	return *rest || rest == text || *text == '-' || sl >= ROUTE_SLS ? -1 : (int)sl;
}

static void route_node_row(const struct snapshot *snapshot, uint32_t place, const char *name,
			   struct buffer *row)
{
	row_begin(row, name, '{');
	node_members(snapshot, place, row);
	row_end(row, '}');
}

/* Writes the answer. 0, -ELOOP or -EHOSTUNREACH. */
static int route_show_row(struct route_walk_out *out, uint32_t src, uint32_t dst)
{
	int error;

	row_begin(out->row, NULL, '{');
	route_node_row(out->snapshot, src, "src", out->row);
	route_node_row(out->snapshot, dst, "dst", out->row);
	row_integer(out->row, "sl", out->sl);
	row_begin(out->row, "hops", '[');
	error = route_walk(out, src, dst);
	row_end(out->row, ']');
	row_end(out->row, '}');
	return error;
}

static void route_show(const struct view *view, struct control_request *request, const json_t *args,
		       uint32_t src, uint32_t dst)
{
	const struct snapshot *snapshot = view->topology;
	const char *sl_text = json_string_value(json_object_get(args, "sl"));
	int sl = sl_of(snapshot, view->routes, sl_text, src, dst), error;
	struct buffer row = {0};
	struct route_walk_out out = {.snapshot = snapshot, .routes = view->routes, .row = &row};

	if (sl < 0) {
		control_fail(request, "\"%s\" is not an SL: a number from 0 to %d", sl_text,
			     ROUTE_SLS - 1);
		return;
	}
	out.sl = (uint8_t)sl;
	error = route_show_row(&out, src, dst);
	if (error)
		control_fail(request, "no route from %s to %s: %s after %u switches",
			     json_string_value(json_object_get(args, "src")),
			     json_string_value(json_object_get(args, "dst")),
			     error == -ELOOP ? "the tables form a loop"
					     : "the tables do not lead there",
			     out.hops);
	else
		control_reply_row(request, &row);
	free(row.bytes);
}

static bool has_routes(const struct sm *sm, struct control_request *request)
{
	if (sm->view)
		return true;
	if (!sm_at_master(sm, request, "read routes"))
		return false;
	control_fail(request, "this manager is %s and has programmed no routes",
		     sm_state_name(peers_role(sm->peers)));
	return false;
}

static void command_route_show(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	const char *src_name = json_string_value(json_object_get(args, "src"));
	const char *dst_name = json_string_value(json_object_get(args, "dst"));
	struct snap_named src, dst;
	char text[GONE_TEXT_SIZE];

	if (!src_name || !dst_name) {
		control_fail(request, "route show needs a source and a destination");
		return;
	}
	if (!has_routes(sm, request))
		return;
	src = snapshot_find_named(sm->view->topology, src_name);
	dst = snapshot_find_named(sm->view->topology, dst_name);
	if (src.place < 0)
		control_fail(request, "%s", gone_explain(sm->fabric, &src, src_name, text));
	else if (dst.place < 0)
		control_fail(request, "%s", gone_explain(sm->fabric, &dst, dst_name, text));
	else
		route_show(sm->view, request, args, (uint32_t)src.place, (uint32_t)dst.place);
}

/* route engine */

/* A request whose engines are judged first. */
struct engine_change {
	struct sm *sm;
	struct control_request *request;
	char *names;
};

/* The next sweep computes routes with the new chain. If it finds none, the former chain is
 * restored; else the new chain is kept (sweep.c). */
static void engines_begin(struct sm *sm, struct control_request *request, const char *names)
{
	char why[SETTING_WHY_SIZE];

	if (!sm_at_master(sm, request, "change the routing engine"))
		return;
	if (sm->engines.trying)
		control_fail(request, "another change of the routing engines is running: try again "
				      "when it has ended");
	else if (!engines_try(sm, names, why))
		control_fail(request, "%s", why);
	else
		wait_for_engines(sm, request);
}

static void engines_are_judged(void *ctx, const char *danger, const char *error)
{
	struct engine_change *change = ctx;

	if (error)
		control_fail(change->request, "%s; nothing was changed", error);
	else if (danger)
		control_fail(change->request,
			     "%s: use another engine, such as updn, or add --force; nothing was "
			     "changed",
			     danger);
	else
		engines_begin(change->sm, change->request, change->names);
	free(change->names);
	free(change);
}

static void command_route_engine(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	const char *names = json_string_value(json_object_get(args, "engines"));
	char engines[SM_ENGINES_MAX][SM_ENGINE_NAME], why[SETTING_WHY_SIZE];
	struct engine_change *change;

	if (!names) {
		control_fail(request,
			     "route engine needs one or more names of engines, or default");
		return;
	}
	if (!sm_at_master(sm, request, "change the routing engine"))
		return;
	if (!engines_named(sm, names, engines, why)) {
		control_fail(request, "%s", why);
		return;
	}
	if (json_is_true(json_object_get(args, "force"))) {
		engines_begin(sm, request, names);
		return;
	}
	change = mem_zalloc(sizeof(*change));
	*change = (struct engine_change){sm, request, mem_strdup(names)};
	judge_engines(sm, (const char(*)[SM_ENGINE_NAME])engines, sm->fabric->route_options,
		      engines_are_judged, change);
}

/* Other files can make engines refuse, or change the tables of the engine file. Routes that have
 * credit loops already were accepted before. */
static bool files_may_loop(const struct sm *sm, const struct route_options *route_options)
{
	const struct credit_watch *watch = &sm->credit_watch;

	return !route_options_are_equal(sm->fabric->route_options, route_options) &&
	       !(watch->known && watch->report.loops);
}

void sm_judge_options(struct sm *sm, const struct sm_options *options,
		      struct route_options *route_options, engines_judged_fn *judged, void *ctx)
{
	bool other_engines = engines_would_change(sm, options);
	const struct sm_options *in_force = other_engines ? options : &sm->options;

	if (sm->commands && (other_engines || files_may_loop(sm, route_options)))
		judge_engines(sm, (const char(*)[SM_ENGINE_NAME])in_force->engines, route_options,
			      judged, ctx);
	else
		judged(ctx, NULL, NULL);
}

/* route dump */

enum { LIDS_A_PART = 4096 };

/* A dump on its way to a client. For a large fabric it has half a gigabyte, so a job writes each
 * piece while the previous piece is sent. */
struct dumping {
	struct work_job job;
	struct list link; /* in commands->dumps */
	struct sm *sm;
	struct control_request *request; /* NULL: the request ended while the job ran */
	struct view *view;
	unsigned file;
	uint32_t sw, lid;
	struct buffer text; /* of this piece, as JSON */
	bool is_running;
};

static void dump_links(struct dumping *dumping, FILE *stream)
{
	route_dump_links(dumping->view->topology, dumping->sw++, stream);
}

static void dump_entries(struct dumping *dumping, FILE *stream)
{
	const struct snapshot *snapshot = dumping->view->topology;
	uint32_t end = dumping->lid + LIDS_A_PART;

	route_dump_entries(snapshot, dumping->view->routes, dumping->sw, dumping->lid, end, stream);
	if (end <= snapshot->lid_top) {
		dumping->lid = end;
	} else {
		dumping->lid = 0;
		dumping->sw++;
	}
}

/* The ports of one MLID, if there are any. */
static void dump_group(const struct mft *mft, unsigned num_ports, lid_t mlid, FILE *stream)
{
	bool any = false;

	for (unsigned position = 0; position <= num_ports / MFT_POSITION_PORTS; position++) {
		uint16_t mask = mft_wanted(mft, mlid, (uint8_t)position);

		for (unsigned i = 0; mask; i++, mask >>= 1) {
			if (!(mask & 1))
				continue;
			if (!any)
				fprintf(stream, "0x%04X : ", mlid);
			fprintf(stream, "0x%03X ", position * MFT_POSITION_PORTS + i);
			any = true;
		}
	}
	if (any)
		fputc('\n', stream);
}

/* Dumps the multicast table that the switch should hold, a line for each MLID. */
static void dump_groups(struct dumping *dumping, FILE *stream)
{
	guid_t guid = dumping->view->topology->switches[dumping->sw++].guid;
	const struct node *node = fabric_find_node(dumping->sm->fabric, guid);
	const struct mft *mft = node && node->sw ? node->sw->mft : NULL;

	fprintf(stream, "Switch 0x%016" PRIx64 "\nLID    : Out Port(s)\n", guid);
	for (unsigned mlid = LID_MULTICAST_MIN; mft && mlid <= mft_want_top(mft); mlid++)
		dump_group(mft, node->num_ports, (lid_t)mlid, stream);
}

static const struct {
	const char *name;
	void (*next)(struct dumping *dumping, FILE *stream);
	bool is_live; /* reads the live model, so it is no job */
} dump_files[] = {
	{"opensm-subnet.lst", dump_links, false},
	{"opensm.fdbs", dump_entries, false},
	{"opensm.mcfdbs", dump_groups, true},
};

static void write_piece(struct work_job *job)
{
	struct dumping *dumping = container_of(job, struct dumping, job);
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		abort(); /* out of memory */
	if (dumping->sw < dumping->view->topology->num_switches)
		dump_files[dumping->file].next(dumping, stream);
	fclose(stream);
	row_string(&dumping->text, NULL, text);
	free(text);
}

static void dumping_free(struct dumping *dumping)
{
	list_del(&dumping->link);
	view_unref(dumping->view);
	free(dumping->text.bytes);
	free(dumping);
}

static void piece_is_written(struct work_job *job)
{
	struct dumping *dumping = container_of(job, struct dumping, job);

	dumping->is_running = false;
	if (dumping->request)
		control_resume(dumping->request);
	else
		dumping_free(dumping);
}

static void begin_piece(struct dumping *dumping)
{
	if (dump_files[dumping->file].is_live) {
		write_piece(&dumping->job);
		return;
	}
	dumping->is_running = true;
	dumping->job = (struct work_job){
		.name = "route dump", .run = write_piece, .done = piece_is_written};
	work_submit(dumping->sm->pool, &dumping->job);
}

/* Each file comes in one part or more. */
static enum stream_step dump_next(void *source, struct buffer *part)
{
	struct dumping *dumping = source;

	if (dumping->is_running)
		return STREAM_LATER;
	if (dumping->file == ARRAY_SIZE(dump_files))
		return STREAM_END;
	row_string(part, "file", dump_files[dumping->file].name);
	row_copy(part, "text", &dumping->text);
	buffer_consume(&dumping->text, buffer_length(&dumping->text));
	if (dumping->sw >= dumping->view->topology->num_switches) {
		dumping->file++;
		dumping->sw = 0;
	}
	if (dumping->file < ARRAY_SIZE(dump_files))
		begin_piece(dumping);
	return STREAM_PART;
}

static void dump_finish(void *source)
{
	struct dumping *dumping = source;

	dumping->request = NULL;
	if (!dumping->is_running)
		dumping_free(dumping);
}

void dumps_done(struct sm_commands *commands)
{
	list_for_each (link, &commands->dumps)
		dumping_free(container_of(link, struct dumping, link));
}

static void command_route_dump(void *ctx, struct control_request *request, const json_t *args)
{
	struct sm *sm = ctx;
	const char *format = json_string_value(json_object_get(args, "format"));
	struct dumping *dumping;

	if (format && strcmp(format, "opensm") != 0) {
		control_fail(request, "unknown format \"%s\" of route dump: use opensm", format);
		return;
	}
	if (!has_routes(sm, request))
		return;
	dumping = mem_zalloc(sizeof(*dumping));
	dumping->sm = sm;
	dumping->request = request;
	dumping->view = view_ref(sm->view);
	list_init(&dumping->link);
	list_push(&sm->commands->dumps, &dumping->link);
	begin_piece(dumping);
	control_stream(request, dump_next, dump_finish, dumping);
}

const struct control_command route_commands[NUM_ROUTE_COMMANDS] = {
	{"route show", command_route_show, CONTROL_LOOKS},
	{"route engine", command_route_engine, CONTROL_CHANGES},
	{"route dump", command_route_dump, CONTROL_LOOKS},
};
