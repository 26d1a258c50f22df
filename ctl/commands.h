/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands of weftctl, as rows of one table: the words that call one, its arguments, and how
 * its answer is printed. The words are also the command's name on the control socket.
 */
#ifndef CTL_COMMANDS_H
#define CTL_COMMANDS_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/control.h"

enum { CTL_ARGUMENTS_MAX = 4, CTL_ERROR_SIZE = 256 };

struct ctl_argument {
	const char *member;	    /* of the request */
	const char *label;	    /* as usage lines show it */
	const char *const *choices; /* NULL terminated; NULL: anything */
	bool optional;		    /* then all that follow are, too */
};

struct ctl_command {
	const char *words;				  /* "route show" */
	struct ctl_argument arguments[CTL_ARGUMENTS_MAX]; /* ends at a row without member */
	const char *list; /* the member of each part that is an array of rows; NULL: no list */
	void (*print)(const json_t *data, FILE *out);
	const char *summary;
};

/* The table, ended by a row whose words are NULL. */
extern const struct ctl_command ctl_commands[];

/* Finds the command that argv (argc words) names, and makes its request (a new reference). 0, or
 * -EINVAL with one line in error. */
int ctl_parse(int argc, char *const *argv, const struct ctl_command **command, json_t **request,
	      char error[CTL_ERROR_SIZE]);
/* "route show SRC DST", with room for it. */
void ctl_usage(const struct ctl_command *command, char *usage, size_t size);

#endif
