#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The TCP port of ha_listen under attack: hosts without the key occupy its places for handshakes, and a standby has a
# revoked or stolen key. Good standbys must be able to connect all the time.
set -u
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

# The preload library stands before a sanitizer's.
if [ -n "${SANITIZE:-}" ]; then
	echo "skip attack-ha: the preload library and sanitizers exclude each other"
	exit 0
fi

port=$(perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1)->sockport')
master=127.0.0.1:$port standby=127.0.0.2:$port
handshakes=40

key() {
	od -An -N32 -tx1 /dev/urandom | tr -d ' \n'
}

write_keys() {
	b=$(key) c=$(key)
	(
		umask 077
		printf 'b %s %s\nc %s 127.0.0.3\n' "$b" 127.0.0.2 "$c" >keys.master
		printf 'b %s %s\n' "$b" 127.0.0.1 >keys.standby
	)
}

# run NAME HOST LISTEN PEERS KEYS PRIORITY
run() {
	start_weftd "$1" "$2" -o "ha_listen=\"$3\"" -o "ha_peers=\"$4\"" -o "ha_psk_file=\"$work/$5\"" \
		-o "sm_priority=$6" -o 'durability="standby"' -o poll_interval=100
}

# ha EXPRESSION VALUE, of the master
ha() {
	[ "$(ctl one ha status 2>/dev/null | json "$1")" = "$2" ]
}

in_step() {
	ha '$_->{standbys}[0]{identity}, $_->{standbys}[0]{state}' 'b in sync'
}

pair_runs() {
	run one host-0001 "$master" "$standby" keys.master 15 || return 1
	wait_for 30 is_up one || because "the master has no subnet: $(tail -n 1 one.log)" || return 1
	run two host-0004 "$standby" "$master" keys.standby 14 || return 1
	wait_for 30 in_step || because "the standby is not in sync: $(ctl one ha status)"
}

# attack ADDRESS...: 16 idle connections of each, each opened again within 10 ms of its end.
attack() {
	perl -MIO::Socket::INET -MIO::Select -e '$| = 1; my ($port, @from) = @ARGV; my (%of, $set); $set = IO::Select->new;
		sub begin { my $from = shift;
			my $s = IO::Socket::INET->new(LocalAddr => $from, PeerAddr => "127.0.0.1", PeerPort => $port) or return;
			$of{$s} = $from; $set->add($s) }
		for my $from (@from) { begin($from) for 1 .. 16 }
		print "begun\n";
		while (1) { select undef, undef, undef, 0.01; for my $s ($set->can_read(1)) { next if sysread $s, my $b, 1;
			my $from = delete $of{$s}; $set->remove($s); close $s; begin($from) } }' \
		"$port" "$@" >attack.log 2>&1 &
	pids[attack]=$!
	wait_for 10 matches '^begun' attack.log || because "the attack does not begin: $(cat attack.log)"
}

# shakes ADDRESS NAME KEY: a handshake from there by openssl.
shakes() {
	timeout 10 openssl s_client -connect "$master" -bind "$1" -tls1_3 -psk_identity "$2" -psk "$3" \
		-ciphersuites TLS_CHACHA20_POLY1305_SHA256 </dev/null >shake.txt 2>&1
	matches 'Reused, TLSv1.3' shake.txt
}

# all_shake ADDRESS: each handshake from there with the key of c succeeds, and none takes long.
all_shake() {
	local good=0 i began

	began=$(date +%s%N)
	for ((i = 0; i < handshakes; i++)); do
		shakes "$1" c "$c" && good=$((good + 1))
	done
	equal "the number of good handshakes of $handshakes from $1" "$good" "$handshakes" || return 1
	[ $((($(date +%s%N) - began) / 1000000)) -lt $((handshakes * 1000)) ] ||
		because "$handshakes handshakes took $((($(date +%s%N) - began) / 1000000)) ms"
}

# The attack continues during good handshakes. The handshakes that the attacker loses are counted and logged.
strangers() {
	attack 127.0.0.66 || return 1
	all_shake 127.0.0.3 || return 1
	refused=$(ctl one ha status | json '$_->{refused}{connections}')
	[ "$refused" -ge 14 ] || because "only $refused connections are counted as refused" || return 1
	matches 'refused connection from 127\.0\.0\.66:[0-9]+ to ha_listen: too many handshakes of this address' one.log ||
		because "the log does not name the attacker: $(tail -n 3 one.log)" || return 1
	"$BUILD/weftctl" -s one.run/control.sock perf metrics >metrics.txt
	matches "^weft_ha_refused_connections_total [0-9]{2}" metrics.txt || because "no metric counts them" || return 1
	kill_now attack
}

# From twelve addresses, more than the places for strangers: the known peer has reserved places.
many_strangers() {
	local from=()

	mapfile -t from < <(printf '127.0.0.%d\n' {60..71})
	attack "${from[@]}" || return 1
	kill_now two
	run two host-0004 "$standby" "$master" keys.standby 14 || return 1
	wait_for 5 in_step || because "the standby does not get in: $(ctl one ha status)" || return 1
	all_shake 127.0.0.2 || return 1
	kill_now attack
	is_up one || because "the subnet is not up"
}

# A stolen key works for its own identity only, and for none after its line is removed.
revoked() {
	shakes 127.0.0.3 c "$c" || because "the key of c is refused before: $(tail -n 2 shake.txt)" || return 1
	! shakes 127.0.0.3 b "$c" || because "the key of c speaks for b" || return 1
	! shakes 127.0.0.3 weft "$c" || because "the key of c speaks for all" || return 1
	in_step || because "the standby is no longer in sync: $(ctl one ha status)" || return 1
	sed -i '/^c /d' keys.master
	ctl one config reload >reload.txt || because "the reload fails" || return 1
	equal "the key files that changed" "$(json 'map { "$_->{option} $_->{changed}" } @{$_->{key_files}}' <reload.txt)" "ha_psk_file 1" || return 1
	ctl one config reload >reload.txt && equal "the key files that changed since" "$(json 'grep { $_->{changed} } @{$_->{key_files}}' <reload.txt)" "" || return 1
	! shakes 127.0.0.3 c "$c" || because "the key of c is revoked, and good" || return 1
	in_step || because "another key is revoked, and the standby is gone: $(ctl one ha status)" || return 1
	sed -i "s/^b .*/d $(key)/" keys.master
	ctl one config reload >reload.txt || because "the reload fails" || return 1
	wait_for 5 ha '@{$_->{standbys}} + 0' 0 || because "a revoked standby stays: $(ctl one ha status)" || return 1
	matches 'lost standby .*: its key, "b", is no longer in ha_psk_file' one.log ||
		because "the log does not say so: $(tail -n 3 one.log)"
}

# A bad file changes nothing.
bad_file() {
	echo "e 0011" >>keys.master
	! "$BUILD/weftctl" -s one.run/control.sock config reload >reload.txt 2>&1 && matches 'line 2: no key of' reload.txt ||
		because "a reload says $(cat reload.txt)"
}

write_keys
start_weftsim fattree:radix=4,levels=2
check "a master and a standby with keys of their own" pair_runs || finish
check "idle connections of one address" strangers || kill_now attack
check "idle connections of twelve addresses" many_strangers || kill_now attack
check "a key is revoked" revoked
check "a bad file of keys" bad_file
finish
