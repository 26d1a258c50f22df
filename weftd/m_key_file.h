/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads the file of secrets from which M_Keys are derived (m_key_secret_file), and checks that the
 * options about M_Keys agree. Called by main.c when the configuration is read. No state.
 */
#ifndef WEFTD_M_KEY_FILE_H
#define WEFTD_M_KEY_FILE_H

#include "weftd/conf.h"

/* Reads the secrets into conf->sm; none if no file is named. The file has a secret a line: M_Keys
 * are derived from the first, and the others are earlier secrets. A file that other users may read
 * is refused. Returns 0, or -errno with the reason in error, which never contains text of the file;
 * conf is then unchanged. */
int m_key_file_read(struct conf *conf, char error[CONF_ERROR_SIZE]);

#endif
