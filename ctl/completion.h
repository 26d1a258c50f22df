/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* `weftctl completion bash|zsh`: a script for the shell, made from the table of commands. No daemon
 * is asked. `make install` puts both where the shells look. */
#ifndef CTL_COMPLETION_H
#define CTL_COMPLETION_H

#include "ctl/commands.h"

/* As control_call(), without a call. */
int completion_perform(const char *socket, const json_t *request, json_t **result, char **refusal);
/* The script as one text, which has lines and so is made behind what cleans answers. */
int completion_digest(const json_t *request, json_t **data, char error[CTL_ERROR_SIZE]);

#endif
