/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands of weftctl, as rows of one table: the words that call one, its arguments, and how
 * its answer is printed. The words are also the command's name on the control socket.
 */
#ifndef CTL_COMMANDS_H
#define CTL_COMMANDS_H

#include <stdbool.h>
#include <stdio.h>

#include "ctl/columns.h"
#include "lib/control.h"

enum { CTL_ARGUMENTS_MAX = 10 };

struct ctl_argument {
	const char *member;		 /* of the request */
	const char *label;		 /* as usage lines show it */
	const char *const *choices;	 /* NULL terminated; NULL: anything */
	bool (*good)(const char *value); /* NULL: anything */
	const char *what;		 /* that it wants: "a number from 0 to 15" */
	/* Of a value that is not good: what was perhaps meant; false: nothing like it. */
	bool (*meant)(const char *value, char *text, size_t size);
	bool optional; /* passed over when there are not words for it and all that follow */
	bool last;     /* optional, but given only behind all that stand before it */
	bool option;   /* given as --MEMBER VALUE, anywhere behind the words */
	bool flag;     /* such an option, without a value: true */
	bool many;     /* all words that are left, as an array: the last argument */
};

/* For answers that are too long to be held: takes their parts one by one. */
struct ctl_sink {
	/* A new sink; NULL and one line in error. */
	void *(*open)(const json_t *request, char error[CTL_ERROR_SIZE]);
	void (*part)(void *sink, const json_t *part);
	/* Frees it. whole: all parts came; else what it has made is removed. 0, or -errno and one
	 * line in error; on success *data is what is printed, a new reference. */
	int (*close)(void *sink, bool whole, json_t **data, char error[CTL_ERROR_SIZE]);
};

struct ctl_command {
	const char *words;				  /* "route show" */
	struct ctl_argument arguments[CTL_ARGUMENTS_MAX]; /* ends at a row without member */
	const char *list; /* the member of each part that is an array of rows; NULL: no list */
	/* Prints a row of the list as it comes, and print is not called; --json: an object a
	 * line. NULL: the list is printed as a whole. */
	void (*each)(const json_t *row, FILE *out);
	bool document; /* the arrays of all parts are gathered by their names in one object */
	const struct ctl_sink *sink; /* takes the parts; or NULL */
	const char *ask;	     /* the command on the socket; NULL: the words */
	/* Asks by itself, with several calls: as control_call(). NULL: one call. */
	int (*perform)(const char *socket, const json_t *request, json_t **result, char **refusal);
	/* Replaces *data, which the daemon has answered, by what is shown. -errno and one line in
	 * error when it cannot. NULL: it is shown as it came. */
	int (*digest)(const json_t *request, json_t **data, char error[CTL_ERROR_SIZE]);
	/* The answer is a table with these columns, and print is not called. NULL: no table. */
	const struct column *columns;
	const char *rows; /* the member of the answer with the rows; NULL: the answer itself */
	void (*print)(const json_t *data, FILE *out);
	bool (*failed)(const json_t *data); /* the answer tells of something wrong: status 1 */
	const char *summary;
};

/* The table, ended by a row whose words are NULL. */
extern const struct ctl_command ctl_commands[];

/* Finds the command that argv (argc words) names, and makes its request (a new reference). 0, or
 * -EINVAL with one line in error. */
int ctl_parse(int argc, char *const *argv, const struct ctl_command **command, json_t **request,
	      char error[CTL_ERROR_SIZE]);
/* Whether these words begin the command, or it begins them. */
bool ctl_concerns(const struct ctl_command *command, int argc, char *const *argv);
/* Of words that call nothing: -EINVAL, and in error what was meant. */
int ctl_explain_unknown(int argc, char *const *argv, char error[CTL_ERROR_SIZE]);
/* "route show SRC DST", with room for it. */
void ctl_usage(const struct ctl_command *command, char *usage, size_t size);

#endif
