#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# A reload adds and removes peers of the replication: the standby begins to follow the master, and stops.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip ha-peers: the preload library and sanitizers exclude each other"
	exit 0
fi

# set_peers ADDRESS: in the standby's file. $listen is its other option.
set_peers() {
	printf 'sm_priority = 1;\nha_psk_file = "%s/psk";\nha_peers = "%s";\n%s\n' "$work" "$1" "$listen" >two.conf
}

# reload PEERS: the standby's answer in reload.txt.
reload() {
	set_peers "$1"
	"$BUILD/weftctl" -s two.run/control.sock config reload >reload.txt 2>&1 || because "the reload: $(cat reload.txt)"
}

# state EXPRESSION VALUE: of the standby's ha status.
state() {
	[ "$(ctl two ha status 2>/dev/null | json "$1")" = "$2" ]
}

pair_runs() {
	local ports

	mapfile -t ports < <(perl -MIO::Socket::INET -e 'my @s = map { IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1) } 1 .. 2;
		print join("\n", map { $_->sockport } @s), "\n"')
	one=127.0.0.1:${ports[0]} listen="ha_listen = \"127.0.0.1:${ports[1]}\";"
	umask 077
	od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >psk
	umask 022
	start_weftsim fattree:radix=4,levels=2 || return 1
	start_weftd one host-0001 -o sm_priority=9 -o "ha_listen=\"$one\"" -o "ha_psk_file=\"$work/psk\"" || return 1
	wait_for 30 is_up one || because "the first has no subnet: $(tail -n 1 one.log)" || return 1
	set_peers ''
	conf=two.conf start_weftd two host-0004 || return 1
	wait_for 30 has_status two '$_->{role}' STANDBY || because "the second is no standby: $(tail -n 1 two.log)" || return 1
	state '$_->{master}{state}' 'no ha_peers' || because "it says: $(ctl two ha status)"
}

peer_is_added() {
	reload "$one" || return 1
	matches "ha_peers: .* -> .*$one" reload.txt && ! matches restart reload.txt ||
		because "the reload says: $(cat reload.txt)" || return 1
	wait_for 20 state '$_->{master}{state}' follows || because "it does not follow: $(ctl two ha status)" || return 1
	matches "ha_peers changed: $one" two.log || because "the log does not say so"
}

# A connection goes on if its peer stays.
peer_stays() {
	local since

	since=$(ctl two ha status | json '$_->{master}{guid}')
	reload "127.0.0.1:1, $one" || return 1
	state '$_->{master}{guid}' "$since" || because "the connection has ended: $(ctl two ha status)" || return 1
	state '$_->{master}{address}' "$one" || because "the address of the master is $(ctl two ha status | json '$_->{master}{address}')" || return 1
	! matches 'lost master' two.log || because "the log says: $(grep 'lost master' two.log)"
}

peer_is_removed() {
	reload 127.0.0.1:1 || return 1
	matches "lost master 0x[0-9a-f]* at $one: it was removed from ha_peers" two.log ||
		because "the log says: $(tail -n 2 two.log)" || return 1
	state 'map { $_->{address} } @{$_->{peers}}' 127.0.0.1:1 || because "the peers: $(ctl two ha status)" || return 1
	reload '' || return 1
	state '$_->{master}{state}' 'no ha_peers' || because "it says: $(ctl two ha status)" || return 1
	reload "$one" || return 1
	wait_for 20 state '$_->{master}{state}' follows || because "it does not follow again: $(ctl two ha status)" || return 1
	reload ''
}

# A standby without ha_listen: its list is emptied, and filled again.
emptied_and_filled() {
	stop two
	listen=
	set_peers "$one"
	conf=two.conf start_weftd two host-0004 || return 1
	wait_for 30 state '$_->{master}{state}' follows || because "it does not follow: $(ctl two ha status)" || return 1
	reload '' || return 1
	wait_for 20 state '$_->{master}{state}' 'no ha_peers' || because "it says: $(ctl two ha status)" || return 1
	reload '' || return 1
	reload "$one" || return 1
	! matches restart reload.txt || because "the reload says: $(cat reload.txt)" || return 1
	wait_for 20 state '$_->{master}{state}' follows || because "it does not follow again: $(ctl two ha status)"
}

# Without replication at the start there is no carrier, which the answer and the log say.
needs_restart() {
	stop two
	listen=
	set_peers ''
	conf=two.conf start_weftd two host-0004 || return 1
	reload "$one" || return 1
	matches "ha_peers: .*$one.* \(takes effect after a restart of weftd\)" reload.txt ||
		because "the reload says: $(cat reload.txt)" || return 1
	matches 'ha_peers takes effect after a restart of weftd' two.log || because "the log says: $(tail -n 1 two.log)"
}

wrong_is_refused() {
	set_peers nohost
	! "$BUILD/weftctl" -s two.run/control.sock config reload >reload.txt 2>&1 && matches 'ha_peers: ' reload.txt ||
		because "it says: $(cat reload.txt)"
}

check "a master, and a standby without peers" pair_runs || finish
check "a peer that is added is followed" peer_is_added
check "a peer that stays is not lost" peer_stays
check "a peer that is removed is left" peer_is_removed
check "an address that is wrong is refused" wrong_is_refused
check "a list that was emptied is filled again" emptied_and_filled
check "without replication at the start, a restart is necessary" needs_restart
finish
