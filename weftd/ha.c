/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Creates the carrier of replication from the options, once, when the daemon starts: weftd/ha.h. */
#include "weftd/ha.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/address.h"
#include "lib/mem.h"
#include "lib/tls.h"

/* The next address of a list, which this function modifies; NULL: no more. */
static char *next_peer(char **rest)
{
	char *peer;

	do {
		peer = strsep(rest, ", ");
	} while (peer && !*peer);
	return peer;
}

static int check_peers(const struct conf *conf, char error[CONF_ERROR_SIZE])
{
	char *copy = mem_strdup(conf->replica.peers), *rest = copy, *peer;
	char why[STREAM_WHY_SIZE];
	unsigned count = 0;
	int result = 0;

	while (!result && (peer = next_peer(&rest))) {
		if (!address_is_numeric(peer, why)) {
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

int ha_read_keys(const struct conf *conf, struct psk_list *out, char error[CONF_ERROR_SIZE])
{
	char why[STREAM_WHY_SIZE];
	int result;

	out->count = 0;
	if (!ha_is_wanted(conf) && !conf->is_replicating &&
	    !(ha_is_inband(conf) && conf->ha_psk_file[0]))
		return 0;
	result = psk_file_read(conf->ha_psk_file, out, why);
	if (result)
		snprintf(error, CONF_ERROR_SIZE, "ha_psk_file: %s", why);
	return result;
}

int ha_check(const struct conf *conf, char error[CONF_ERROR_SIZE])
{
	unsigned mask = (1u << conf->sm.lmc) - 1;
	char why[STREAM_WHY_SIZE];
	struct psk_list keys;
	int result;

	if (conf->replica.listen[0] && !address_is_numeric(conf->replica.listen, why)) {
		snprintf(error, CONF_ERROR_SIZE, "ha_listen: %s", why);
		return -EINVAL;
	}
	if (check_peers(conf, error))
		return -EINVAL;
	if (ha_is_wanted(conf) && !conf->ha_psk_file[0]) {
		snprintf(error, CONF_ERROR_SIZE,
			 "%s needs ha_psk_file, which holds the keys of the replication; openssl "
			 "rand -hex 32 makes a key",
			 conf->replica.listen[0] ? "ha_listen" : "ha_peers");
		return -EINVAL;
	}
	if (conf->replica.durability == DURABILITY_STANDBY && !conf->replica.listen[0] &&
	    !ha_is_inband(conf)) {
		snprintf(error, CONF_ERROR_SIZE,
			 "durability = \"standby\" needs ha_listen or ha_inband, by which standbys "
			 "connect");
		return -EINVAL;
	}
	if (conf->sm.sm_lid & mask) {
		snprintf(error, CONF_ERROR_SIZE,
			 "sm_lid = %u is not a multiple of 2^lmc, as %u is: the manager owns all "
			 "LIDs of its port",
			 conf->sm.sm_lid,
			 conf->sm.sm_lid > mask ? conf->sm.sm_lid & ~mask : mask + 1);
		return -EINVAL;
	}
	result = ha_read_keys(conf, &keys, error);
	explicit_bzero(&keys, sizeof(keys));
	return result;
}

void ha_expect_peers(struct stream_carrier *carrier, const struct conf *conf)
{
	char *copy = mem_strdup(conf->replica.peers), *rest = copy, *peer;

	tls_forget_peers(carrier);
	while ((peer = next_peer(&rest)))
		tls_expect(carrier, peer);
	free(copy);
}

static struct stream_carrier *ha_new_carrier(struct loop *loop, const struct conf *conf,
					     const struct psk_list *keys)
{
	struct stream_carrier *carrier = tls_new(loop, keys, REPLICA_PORT);

	ha_expect_peers(carrier, conf);
	return carrier;
}

int ha_open(struct loop *loop, const struct conf *conf, struct stream_carrier **out,
	    char error[CONF_ERROR_SIZE])
{
	struct psk_list keys;
	int result = ha_read_keys(conf, &keys, error);

	*out = !result && ha_is_wanted(conf) ? ha_new_carrier(loop, conf, &keys) : NULL;
	explicit_bzero(&keys, sizeof(keys));
	return result;
}
