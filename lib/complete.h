/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Answers of the requests "complete ...", by which the shell completes words: parts with an array
 * "words". The member "prefix" of such a request is the beginning of a word. Loop thread only.
 */
#ifndef LIB_COMPLETE_H
#define LIB_COMPLETE_H

#include <stdbool.h>

#include "lib/control.h"

/* The beginning that the request wants, "" if it names none; borrowed from args. */
const char *complete_prefix(const json_t *args);
/* Whether a word has this beginning, and is not empty. */
bool complete_fits(const char *word, const char *prefix);
/* Ends the request with the words of a short list that have the wanted beginning. words ends with
 * NULL. */
void complete_reply(struct control_request *request, const json_t *args, const char *const *words);

#endif
