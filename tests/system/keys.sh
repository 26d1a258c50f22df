#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# M_Keys with the real daemon and the standard tools on weftsim: reads and writes of smpquery and ibportstate with and
# without the key, log lines about the sender, a new key for all, a restart, and the secrecy of the keys.
set -u
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip keys: weftsim's preload library and sanitizers do not go together"
	exit 0
fi

first_key=0x5eedc0de00c0ffee
next_key=0x0ddba11c0ffee123
conf=$work/weftd.conf

configure() { # KEY
	echo "m_key_mode = \"subnet\"; m_key = $1;" >"$conf"
}

starts() {
	start_weftd one host-0001 && wait_for 30 is_up one ||
		because "weftd is $(status one '$_->{role}, $_->{state}'); $(tail -n 1 one.log)"
}

keys() { # EXPRESSION
	ctl one keys status | json "$1"
}

all_have_theirs() {
	[ "$(keys '$_->{protected} == $_->{ports} && !$_->{changing} ? "all" : "some"')" = all ]
}

lid_of() { # NAME
	ctl one node list | json 'map { $_->{lid} } grep { $_->{description} eq "'"$1"'" } @$_'
}

# With KEY, or without a key if it is empty: PortInfo of host-0002, read by host-0003.
port_info() {
	local key=$1

	look info host-0003 smpquery -t 200 ${key:+-y "$key"} portinfo "$victim" 1 && grep -q '^Lid:' info
}

keys_are_set() {
	wait_for 30 all_have_theirs || because "keys status says $(ctl one keys status)" || return 1
	equal "the protection level" "$(keys '$_->{protection_level}')" 2
}

only_with_the_key() {
	port_info $first_key || because "smpquery with the key: $(tail -n 1 info.err)" || return 1
	if port_info ''; then
		because "smpquery gets an answer without the key"
		return 1
	fi
	if port_info 0x1234; then
		because "smpquery gets an answer with a wrong key"
		return 1
	fi
}

offences() {
	keys 'sum0(map { $_->{count} } grep { $_->{description} eq "host-0003" } @{$_->{offenders}})'
}

more_offences() {
	[ "$(offences)" -gt "$1" ]
}

# One Set() by LID, by a host that tries to take another host off the net.
foreign_set_refused() {
	local before

	before=$(offences)
	if look set host-0003 ibportstate -t 200 "$victim" 1 smlid 3; then
		because "ibportstate changes a port without the key"
		return 1
	fi
	wait_for 30 more_offences "$before" || because "keys status says $(ctl one keys status)" || return 1
	matches '"host-0002" port 1 refused .* with a wrong M_Key from "host-0003"' one.log ||
		because "the log does not name it: $(grep -i m_key one.log | tail -n 1)" || return 1
	port_info $first_key && grep -q "^SMLid:\.*$(lid_of host-0001)\$" info ||
		because "the port does not know its manager any more"
}

another_key() {
	configure $next_key
	"$BUILD/weftctl" -s one.run/control.sock keys rotate >rotate.txt ||
		because "keys rotate: $(cat rotate.txt)" || return 1
	wait_for 30 all_have_theirs || because "keys status says $(ctl one keys status)" || return 1
	port_info $next_key || because "the new key is none" || return 1
	! port_info $first_key || because "the old key is still one"
}

restarts() {
	kill_now one
	cp one.log before.log # the next start empties its log
	starts || return 1
	wait_for 30 all_have_theirs || because "keys status says $(ctl one keys status)" || return 1
	port_info $next_key || because "the key is lost"
}

# Not in the logs before and after the restart, not in the output of commands, and in a saved document only on request.
told_nowhere() {
	local digits=${next_key#0x} tellers

	"$BUILD/weftctl" -s one.run/control.sock save plain.json >/dev/null &&
		"$BUILD/weftctl" -s one.run/control.sock save full.json --with keys >/dev/null ||
		because "save fails" || return 1
	ctl one status >told.json
	ctl one keys status >>told.json
	matches 'wrong M_Key' before.log || because "the log before the restart was not kept" || return 1
	tellers=$(grep -li "${digits#0}\|${first_key#0x}" before.log one.log told.json plain.json rotate.txt)
	equal "the list of what tells a key" "$tellers" "" || return 1
	grep -qi "$digits" full.json || because "save --with keys has no keys" || return 1
	"$BUILD/weftctl" -s one.run/control.sock restore plain.json >/dev/null || because "restore fails" || return 1
	"$BUILD/weftctl" -s one.run/control.sock sweep heavy >/dev/null
	port_info $next_key || because "a document without keys has taken them away"
}

bad_secrets() {
	echo "not long" >secret && chmod 600 secret
	refused 'm_key_secret_file="secret"' 'secret:1: a secret needs at least 16 bytes' || return 1
	echo "long enough to be a secret" >secret && chmod 644 secret
	refused 'm_key_secret_file="secret"' 'others may read or write it' || return 1
	refused 'm_key=0x5' 'm_key_secret_file is needed'
}

refused() { # OPTION PATTERN
	if weftd other host-0004 --check-config -o 'm_key_mode="port"' -o "$1"; then
		because "$1 is taken"
		return 1
	fi
	matches "$2" other.log || because "of $1 it says: $(tail -n 1 other.log)"
}

imports_opensm() {
	printf '0x%016x 0x00000000000000aa\n\n0x%016x 0x00000000000000bb\n' 1234 5678 >guid2mkey
	"$BUILD/weftctl" -s one.run/control.sock keys import guid2mkey >import.txt &&
		equal "the output of import" "$(cat import.txt)" \
			"2 keys, 2 of them of ports whose key was not known" || return 1
	echo '0x1234 hidden' >guid2mkey
	if "$BUILD/weftctl" -s one.run/control.sock keys import guid2mkey 2>import.txt; then
		because "a bad file is taken"
		return 1
	fi
	matches 'guid2mkey:1: a port.s GUID and its M_Key' import.txt && ! matches hidden import.txt ||
		because "of a bad file it says: $(cat import.txt)"
}

# A request whose transmission takes 12 s is answered, and delays no other client.
slow_client() {
	local began=$SECONDS

	perl -MIO::Socket::UNIX -e '$| = 1;
		my $s = IO::Socket::UNIX->new(Peer => "one.run/control.sock") or die;
		my @parts = ("{\"command\":\"keys import\",", "\"rows\":[[\"0x0000000000000777\",", "\"0x00000000000000cc\"]]}\n");
		for (@parts) { $s->syswrite($_); select(undef, undef, undef, 6) unless /\n/ }
		print scalar <$s>' >slow.txt 2>&1 &
	pids[slow]=$!
	while runs slow; do
		timeout 3 "$BUILD/weftctl" -s one.run/control.sock status >/dev/null ||
			because "status waits for it" || return 1
		sleep 0.5
	done
	wait "${pids[slow]}"
	unset 'pids[slow]'
	matches '"ok":true,"result":\{"taken":1\}' slow.txt && [ $((SECONDS - began)) -ge 11 ] ||
		because "after $((SECONDS - began)) s it gets: $(cat slow.txt)"
}

start_weftsim fattree:radix=8,levels=2
configure $first_key
check "a protected fabric comes up" starts
victim=$(lid_of host-0002)
check "every port has its key" keys_are_set
check "answers need the key" only_with_the_key
check "a foreign Set is refused and named" foreign_set_refused
check "another key for all" another_key
check "a restart knows the keys" restarts
check "keys appear nowhere" told_nowhere
check "bad secrets are refused" bad_secrets
check "OpenSM's keys are imported" imports_opensm
check "a client that sends slowly" slow_client
finish
