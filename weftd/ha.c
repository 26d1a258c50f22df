/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* From options to a carrier, once, when the daemon starts. */
#include "weftd/ha.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/tls.h"

static bool is_wanted(const struct conf *conf)
{
	return conf->replica.listen[0] || conf->replica.peers[0];
}

static int check_peers(const struct conf *conf, char error[CONF_ERROR_SIZE])
{
	char *copy = mem_strdup(conf->replica.peers), *rest = copy, *peer;
	char why[STREAM_WHY_SIZE];
	unsigned count = 0;
	int result = 0;

	while (!result && (peer = strsep(&rest, ", "))) {
		if (!*peer)
			continue;
		if (!tls_is_address(peer, why)) {
			snprintf(error, CONF_ERROR_SIZE, "ha_peers: %s", why);
			result = -EINVAL;
		} else if (++count > REPLICA_PEERS_MAX) {
			snprintf(error, CONF_ERROR_SIZE, "ha_peers: more than %d addresses",
				 REPLICA_PEERS_MAX);
			result = -EINVAL;
		}
	}
	free(copy);
	return result;
}

static int read_key(const struct conf *conf, struct tls_key *key, char error[CONF_ERROR_SIZE])
{
	char why[STREAM_WHY_SIZE];
	int result = tls_key_read(conf->ha_psk_file, key, why);

	if (result)
		snprintf(error, CONF_ERROR_SIZE, "ha_psk_file: %s", why);
	return result;
}

int ha_check(const struct conf *conf, char error[CONF_ERROR_SIZE])
{
	unsigned mask = (1u << conf->sm.lmc) - 1;
	char why[STREAM_WHY_SIZE];
	struct tls_key key = {.size = 0};
	int result = 0;

	if (conf->replica.listen[0] && !tls_is_address(conf->replica.listen, why)) {
		snprintf(error, CONF_ERROR_SIZE, "ha_listen: %s", why);
		return -EINVAL;
	}
	if (check_peers(conf, error))
		return -EINVAL;
	if (is_wanted(conf) && !conf->ha_psk_file[0]) {
		snprintf(error, CONF_ERROR_SIZE,
			 "%s needs ha_psk_file: managers know each other by a key; openssl rand "
			 "-hex 32 makes one",
			 conf->replica.listen[0] ? "ha_listen" : "ha_peers");
		return -EINVAL;
	}
	if (conf->replica.durability == DURABILITY_STANDBY && !conf->replica.listen[0]) {
		snprintf(error, CONF_ERROR_SIZE,
			 "durability = \"standby\" needs ha_listen, where standbys come");
		return -EINVAL;
	}
	if (conf->sm.sm_lid & mask) {
		snprintf(
			error, CONF_ERROR_SIZE,
			"sm_lid = %u is no multiple of 2^lmc, as %u is: all LIDs of a port are the "
			"manager's",
			conf->sm.sm_lid,
			conf->sm.sm_lid > mask ? conf->sm.sm_lid & ~mask : mask + 1);
		return -EINVAL;
	}
	if (is_wanted(conf))
		result = read_key(conf, &key, error);
	explicit_bzero(&key, sizeof(key));
	return result;
}

int ha_open(struct loop *loop, const struct conf *conf, struct stream_carrier **out,
	    char error[CONF_ERROR_SIZE])
{
	struct tls_key key;
	int result;

	*out = NULL;
	if (!is_wanted(conf))
		return 0;
	result = read_key(conf, &key, error);
	if (!result)
		*out = tls_new(loop, &key, REPLICA_PORT);
	explicit_bzero(&key, sizeof(key));
	return result;
}
