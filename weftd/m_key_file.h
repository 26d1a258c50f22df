/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The file of secrets from which M_Keys are derived (m_key_secret_file), and whether the options
 * about M_Keys go together. Called by main.c when the configuration is read; no state.
 */
#ifndef WEFTD_M_KEY_FILE_H
#define WEFTD_M_KEY_FILE_H

#include "weftd/conf.h"

/* Reads the secrets into conf->sm, none when no file is named. One a line: the first gives keys,
 * the others gave keys before. A file that others may read is refused. 0, or -errno and the reason
 * in error, which never has any of the file's text; conf is then untouched. */
int m_key_file_read(struct conf *conf, char error[CONF_ERROR_SIZE]);

#endif
