/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The functions and columns that rows of the command table refer to. ctl/commands.h says what each
 * kind of function does: print, perform, digest, failed, sink.
 *
 * A printer gets what --json would print, with strings made printable. It accepts any JSON: members
 * may be absent or of another type.
 */
#ifndef CTL_HANDLERS_H
#define CTL_HANDLERS_H

#include "ctl/columns.h"
#include "ctl/commands.h"
#include "formats/net.h"

/* capture.c: writes the parts to a pcap file as they arrive. */
extern const struct ctl_sink capture_sink;
/* Prints the file and the number of packets. */
void print_capture(const json_t *data, FILE *out);

/* completion.c: prints a word of an answer to "complete ...". */
void print_word(const json_t *row, FILE *out);
/* Answers without a call. */
int completion_perform(const char *socket, const json_t *request, json_t **result, char **refusal);
/* Replaces *data by the script for the requested shell. */
int completion_digest(const json_t *request, json_t **data, char error[CTL_ERROR_SIZE]);

/* dump.c: writes OpenSM's dump files to the requested folder with the user's rights. */
extern const struct ctl_sink dump_sink;
/* Prints the files that were written. */
void print_dump(const json_t *data, FILE *out);

/* export.c: writes files for OpenSM to the requested folder with the user's rights. */
int export_opensm(const char *socket, const json_t *request, json_t **result, char **refusal);
/* Prints the options that were exported, and those that were not. */
void print_exported(const json_t *data, FILE *out);

/* import.c: reads OpenSM's files and writes weft's to a folder of their own, without a daemon. */
int import_opensm(const char *socket, const json_t *request, json_t **result, char **refusal);
/* Prints what was lost, what was taken over, and what is not needed. */
void print_opensm(const json_t *data, FILE *out);
/* True if a copied file has errors, or with the option strict, if something was lost. */
bool import_failed(const json_t *data);

/* keys.c: reads the configuration again, then waits for a heavy sweep. */
int keys_rotate_perform(const char *socket, const json_t *request, json_t **result, char **refusal);
/* Reads the requested guid2mkey and sends it in pieces. */
int keys_import_perform(const char *socket, const json_t *request, json_t **result, char **refusal);
/* Prints the mode, figures, and ports that sent wrong keys. */
void print_keys(const json_t *data, FILE *out);
/* Prints how many keys were imported. */
void print_imported(const json_t *data, FILE *out);

/* partition.c: the rows of partition list. */
extern const struct column partition_columns[];
/* Gets the rows, with --members also the ports of each partition. */
int partition_list(const char *socket, const json_t *request, json_t **result, char **refusal);
/* Prints partitions with their ports. */
void print_partitions(const json_t *data, FILE *out);
/* Prints one partition with its ports. */
void print_partition(const json_t *data, FILE *out);
/* These print the result of a change, and the ports that it affected. */
void print_partition_added(const json_t *data, FILE *out);
void print_partition_set(const json_t *data, FILE *out);
void print_partition_removed(const json_t *data, FILE *out);
void print_members_changed(const json_t *data, FILE *out);
/* Prints how many partitions were put in force. */
void print_partitions_accepted(const json_t *data, FILE *out);
/* True if a port did not take its keys, or if the change was not complete in time. */
bool partition_change_failed(const json_t *data);
/* Adds the members of the requested file, which it reads with the user's rights, to the request. */
int members_perform(const char *socket, const json_t *request, json_t **result, char **refusal);
/* Reads the file with the user's rights and sends it in pieces. Without a daemon it checks the
 * text. */
int partition_check(const char *socket, const json_t *request, json_t **result, char **refusal);
/* Reads the file once with the user's rights, and sends it in pieces. */
int partition_apply(const char *socket, const json_t *request, json_t **result, char **refusal);
/* Prints the differences, and whether something was changed. */
void print_partition_applied(const json_t *data, FILE *out);
/* Prints the P_Keys that ports would gain and lose. */
void print_partition_check(const json_t *data, FILE *out);

/* print.c: the rows of node list, link list and log level. */
extern const struct column node_columns[], link_columns[], log_columns[];
/* Prints the duration and the changes of a sweep. */
void print_sweep(const json_t *data, FILE *out);
/* Prints the hops of a path. */
void print_route(const json_t *data, FILE *out);

/* print_config.c: the rows of config show. */
extern const struct column option_columns[];
/* Prints what a reload would change. */
void print_would_change(const json_t *data, FILE *out);
/* Prints what a reload has changed. */
void print_reloaded(const json_t *data, FILE *out);

/* print_events.c: prints one event. */
void print_event(const json_t *row, FILE *out);

/* print_ha.c: prints the standbys or the master. */
void print_ha(const json_t *data, FILE *out);
/* Prints the new MASTER. */
void print_handover(const json_t *data, FILE *out);
/* Prints the state of another manager after a control packet. */
void print_ordered(const json_t *data, FILE *out);

/* print_health.c: prints each check, worst first. */
void print_health(const json_t *data, FILE *out);
/* 0: healthy, 4: degraded, 5: broken. */
int health_exit_status(const json_t *data);
/* Prints how many lost links were forgotten. */
void print_health_accepted(const json_t *data, FILE *out);

/* print_perf.c: the rows of perf top. */
extern const struct column top_columns[];
/* Prints ports with errors, then slow links. */
void print_errors(const json_t *data, FILE *out);
/* Prints the counters of one port. */
void print_counters(const json_t *data, FILE *out);
/* Prints the figures of a read of all counters. */
void print_perf_sweep(const json_t *data, FILE *out);
void print_perf_clear(const json_t *data, FILE *out);

/* print_port.c: the rows of port list. */
extern const struct column port_columns[];
/* Prints a node and its ports. */
void print_node(const json_t *data, FILE *out);
/* Prints one port. */
void print_port(const json_t *data, FILE *out);
/* Prints the result of drain, and of undrain. */
void print_drained(const json_t *data, FILE *out);
void print_undrained(const json_t *data, FILE *out);
/* Prints the result of port enable and port disable. */
void print_port_change(const json_t *data, FILE *out);

/* print_route.c: print the answers of the commands of these names. */
void print_route_check(const json_t *data, FILE *out);
void print_route_quality(const json_t *data, FILE *out);
void print_route_plan(const json_t *data, FILE *out);
void print_route_engine(const json_t *data, FILE *out);
/* True if the check found loops or unreached LIDs. */
bool route_check_failed(const json_t *data);

/* print_sa.c: the rows of multicast list, service list, inform list and alias list. */
extern const struct column group_columns[], service_columns[], subscription_columns[],
	alias_columns[];
/* Prints a group, its members and its tree. */
void print_group(const json_t *data, FILE *out);
/* These print the alias that was set or removed. */
void print_alias_set(const json_t *data, FILE *out);
void print_alias_removed(const json_t *data, FILE *out);

/* save.c: writes the records to a file of mode 0600, which gets its name when it is complete. */
extern const struct ctl_sink save_sink;
/* Prints the file and the number of records. */
void print_saved(const json_t *data, FILE *out);
/* Reads the requested document and sends it in pieces. */
int restore_perform(const char *socket, const json_t *request, json_t **result, char **refusal);
/* Prints how many records were restored. */
void print_restored(const json_t *data, FILE *out);

/* status.c: prints a paragraph for each subject. */
void print_status(const json_t *data, FILE *out);
/* Prints the paragraph about routing. */
void print_routing(const json_t *routing, FILE *out);

/* takeover.c: runs weftd --preview. */
int takeover_preview(const char *socket, const json_t *request, json_t **result, char **refusal);
/* Prints what a takeover would write. */
void print_preview(const json_t *data, FILE *out);
/* True if the fabric could not be read in full. */
bool preview_failed(const json_t *data);

/* topology.c: the net of {"nodes":[...],"links":[...]}, without invalid parts; net_free() frees it.
 */
struct net *topology_net(const json_t *document);
/* Replaces *data by a text in the requested format; for json *data stays. */
int topology_export(const json_t *request, json_t **data, char error[CTL_ERROR_SIZE]);
/* Replaces *data by the differences from the requested file. */
int topology_check(const json_t *request, json_t **data, char error[CTL_ERROR_SIZE]);
/* Prints a text as it is, other values as JSON. */
void print_text(const json_t *data, FILE *out);
/* Prints a line for each difference. */
void print_differences(const json_t *data, FILE *out);
/* True if there is a difference. */
bool differences_found(const json_t *data);

/* print_why.c: queries the obstacle, and then the last events of both ends. */
int why_perform(const char *socket, const json_t *request, json_t **result, char **refusal);
/* Prints both ends, what lies between them, their last events, and the obstacle. */
void print_why(const json_t *data, FILE *out);
/* True if there is an obstacle. */
bool why_failed(const json_t *data);

#endif
