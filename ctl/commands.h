/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands of weftctl, as rows of one table: the words of a command, its arguments, its texts,
 * and how its answer is printed. The words are also the name of the command on the control socket.
 */
#ifndef CTL_COMMANDS_H
#define CTL_COMMANDS_H

#include <stdbool.h>
#include <stdio.h>

#include "ctl/columns.h"
#include "lib/control.h"

enum { CTL_ARGUMENTS_MAX = 16 };

struct ctl_argument {
	const char *member;		 /* of the request */
	const char *label;		 /* in usage lines */
	const char *const *choices;	 /* NULL terminated; NULL: any value */
	const char *former, *now;	 /* a choice of an earlier version, and its present name */
	bool (*good)(const char *value); /* NULL: any value */
	/* Returns the text for the request, for free(); NULL: the value is not valid. */
	char *(*form)(const char *value);
	long long least, most; /* of a number; most 0: any value */
	const char *what;      /* the valid values: "a number from 0 to 15" */
	/* Writes the value that the user probably meant; false if none is similar. */
	bool (*meant)(const char *value, char *text, size_t size);
	const char *completes; /* the request "complete ..." that has the values; NULL: none */
	bool optional; /* skipped if there are not enough words for it and the arguments after it */
	bool last;     /* optional, and possible only after all arguments before it */
	bool option;   /* --MEMBER VALUE, anywhere after the words of the command */
	bool flag;     /* an option without a value: true */
	bool many;     /* all words that are left, as an array: the last argument */
};

/* Takes the parts of an answer that is too long to be held in memory. */
struct ctl_sink {
	/* Returns a new sink, or NULL and one line in error. */
	void *(*open)(const json_t *request, char error[CTL_ERROR_SIZE]);
	void (*part)(void *sink, const json_t *part);
	/* Frees the sink. whole: all parts arrived; otherwise its output is removed. Returns 0, or
	 * -errno and one line in error. On success *data, a new reference, is printed. */
	int (*close)(void *sink, bool whole, json_t **data, char error[CTL_ERROR_SIZE]);
};

struct ctl_command {
	const char *words;   /* "route show" */
	const char *alias;   /* other words for the same command, without completion; or NULL */
	const char *section; /* of the manual; set in the first row of a section */
	struct ctl_argument arguments[CTL_ARGUMENTS_MAX]; /* ends at a row without member */
	const char *list; /* the member of each part that is an array of rows; NULL: no list */
	/* Prints a row of the list when it arrives, and print is not called; with --json an object
	 * on a line. NULL: the list is printed as a whole. */
	void (*each)(const json_t *row, FILE *out);
	bool document;	      /* the arrays of all parts become members of one object */
	const char *object;   /* of a document: the member that is an array of one object */
	const char *lists[2]; /* of a document: an array without rows has no part */
	bool text;	      /* the parts are text, printed when they arrive, also with --json */
	const struct ctl_sink *sink; /* takes the parts; may be NULL */
	unsigned limit_s;	     /* weftctl ends silently after this time; 0: no limit */
	bool hidden;		     /* for the completion: not in help and pages */
	const char *ask;	     /* the command on the socket; NULL: the words */
	/* Sends the requests itself, as control_call() does. NULL: one call. */
	int (*perform)(const char *socket, const json_t *request, json_t **result, char **refusal);
	/* Replaces *data, the answer, by the text or table to print. Returns 0, or -errno and one
	 * line in error. NULL: the answer is printed. */
	int (*digest)(const json_t *request, json_t **data, char error[CTL_ERROR_SIZE]);
	/* The answer is a table with these columns, and print is not called. NULL: no table. */
	const struct column *columns;
	/* If the first row has this member, print is called instead. NULL: never. */
	const char *detail;
	const char *rows; /* the member of the answer with the rows; NULL: the answer itself */
	void (*print)(const json_t *data, FILE *out);
	bool (*failed)(const json_t *data);	/* true: the exit status is 1 */
	int (*exit_status)(const json_t *data); /* NULL: 0, or as failed says */
	const char *summary;			/* a sentence; code between backquotes */
	const char *details; /* sentences; a line end begins a paragraph; NULL: no details */
};

/* The table, ended by a row whose words are NULL. */
extern const struct ctl_command ctl_commands[];

/* Finds the command that argv (argc words) calls, and makes its request, a new reference. Prints a
 * warning on stderr if a word is a former name. Returns 0, or -EINVAL with one line in error. */
int ctl_parse(int argc, char *const *argv, const struct ctl_command **command, json_t **request,
	      char error[CTL_ERROR_SIZE]);
/* True if the command begins with these words, or if the words begin with the command. */
bool ctl_concerns(const struct ctl_command *command, int argc, char *const *argv);
/* For words that call no command: writes the probable command into error. Returns -EINVAL. */
int ctl_explain_unknown(int argc, char *const *argv, char error[CTL_ERROR_SIZE]);
/* Writes "route show SRC DST" into usage. */
void ctl_usage(const struct ctl_command *command, char *usage, size_t size);

#endif
