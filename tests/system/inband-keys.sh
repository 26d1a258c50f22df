#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Replication over the fabric and keys: M_Keys with and without ha_psk_file, at a reload and after a restart, and other
# keys at the two ends.
# shellcheck disable=SC2016 # expressions are Perl
set -u
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/inband-lib.sh
. "$root/tests/system/inband-lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip inband-keys: the preload library and sanitizers exclude each other"
	exit 0
fi

m_keys() { # MODE
	printf 'm_key_mode = "%s";\nm_key_secret_file = "%s/secret";\nm_key_protection_level = 2;\n%s\n' "$1" "$work" "$psk"
}

# reload NAME MODE [OPTION]
reload() {
	m_keys "$2" >"$1.conf"
	"$BUILD/weftctl" -s "$1.run/control.sock" config reload "${@:3}" >reload.txt 2>&1
}

pair_of_files() {
	m_keys none >one.conf
	m_keys none >two.conf
	conf=one.conf start_weftd one "${host[one]}" || return 1
	wait_for 30 is_up one || because "the first has no subnet: $(tail -n 1 one.log)" || return 1
	conf=two.conf start_weftd two "${host[two]}" && in_sync
}

# M_Keys are refused while the standby would not get them.
without_key() {
	psk=''
	umask 077
	head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >secret
	head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >psk
	head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >psk.other
	umask 022
	pair_of_files && copies registrations || return 1
	reload two port || because "the standby: $(cat reload.txt)" || return 1
	! reload one port || because "a reload switches M_Keys on" || return 1
	matches 'm_key_mode: standby 0x[0-9a-f]+ would not get the M_Keys.* set the same ha_psk_file' reload.txt ||
		because "the reload says: $(cat reload.txt)" || return 1
	both_end
}

with_key() {
	psk="ha_psk_file = \"$work/psk\";"
	pair_of_files && copies all || return 1
	reload two port && reload one port || because "the reload says: $(cat reload.txt)" || return 1
	wait_for 60 protected || because "no M_Keys: $(ctl one keys status)" || return 1
	in_sync && takes_over && wait_for 60 protected two || because "the second does not manage the fabric: $(ctl two keys status)" || return 1
	both_end
}

protected() {
	[ "$(ctl "${1:-one}" keys status | json '$_->{protected} == $_->{ports} && $_->{ports} > 4 ? "all" : "some"')" = all ]
}

# recorded NUMBER: this number of M_Keys is in the store of the first.
recorded() {
	[ "$(ctl one keys status | json '$_->{recorded}')" -eq "$1" ]
}

# On a new fabric: a reload refuses M_Keys that the standby would not get, and --force accepts them.
forced() {
	psk=''
	start_weftsim fattree:radix=4,levels=2 && pair_of_files || return 1
	! reload one port || because "a reload switches M_Keys on" || return 1
	! "$BUILD/weftctl" -s one.run/control.sock config check >check.txt 2>&1 || because "config check accepts them" || return 1
	matches 'without --force would refuse it: m_key_mode: standby 0x[0-9a-f]+' check.txt || because "config check says: $(cat check.txt)" || return 1
	kill -HUP "${pids[one]}"
	wait_for 10 matches 'not reloaded, nothing has changed: m_key_mode: standby .* accept it with weftctl config reload --force' one.log ||
		because "SIGHUP: $(tail -n 2 one.log)" || return 1
	recorded 0 || because "M_Keys are recorded: $(ctl one keys status)" || return 1
	reload one port --force && matches '^  accepted: m_key_mode: standby 0x[0-9a-f]+ would not get' reload.txt ||
		because "--force says: $(cat reload.txt)" || return 1
	wait_for 60 protected || because "no M_Keys: $(ctl one keys status)" || return 1
	both_end
}

# The same after a restart of the master with M_Keys: the first keys wait. After another restart, they stay.
held_back() {
	start_weftsim fattree:radix=4,levels=2 && pair_of_files && stop one || return 1
	m_keys port >one.conf
	conf=one.conf start_weftd one "${host[one]}" || return 1
	wait_for 60 is_up one || because "the first is not MASTER again: $(tail -n 1 one.log)" || return 1
	wait_for 60 ha one '$_->{standbys}[0]{state}' 'in sync' || because "no standby: $(ctl one ha status)" || return 1
	ctl one sweep heavy >/dev/null
	wait_for 20 ha_keys_wait || because "they do not wait: $(ctl one keys status)" || return 1
	recorded 0 || because "M_Keys are recorded: $(ctl one keys status)" || return 1
	"$BUILD/weftctl" -s one.run/control.sock health >health.txt
	equal "the exit status of health" $? 4 && matches 'keys +M_Keys are not set yet' health.txt || because "health says: $(cat health.txt)" || return 1
	! reload one port || because "a reload sets them" || return 1
	reload one port --force || because "--force says: $(cat reload.txt)" || return 1
	wait_for 60 protected || because "no M_Keys: $(ctl one keys status)" || return 1
	kill_now two
	stop one && conf=one.conf start_weftd one "${host[one]}" || return 1
	wait_for 60 protected || because "after a restart: $(ctl one keys status)" || return 1
	both_end
}

ha_keys_wait() {
	[ "$(ctl one keys status | json '$_->{held_back} ? "waits" : "no"')" = waits ]
}

# Another key, and no key, at one end.
wrong_key() {
	local before

	start_weftsim fattree:radix=4,levels=2 || return 1
	start_weftd one "${host[one]}" -o "ha_psk_file=\"$work/psk\"" || return 1
	wait_for 30 is_up one || because "the first has no subnet: $(tail -n 1 one.log)" || return 1
	start_weftd two "${host[two]}" -o "ha_psk_file=\"$work/psk.other\"" || return 1
	wait_for 60 matches 'refused connection from 0x[0-9a-f]+ over the fabric: no TLS session' one.log ||
		because "the log of the master: $(tail -n 2 one.log)" || return 1
	stop two || return 1
	before=$(refusals)
	start_weftd two "${host[two]}" || return 1
	wait_for 60 refused $((before + 2)) || because "a standby without a key is not refused: $(ctl one ha status)" || return 1
	ha one '@{$_->{standbys}} + 0' 0 || because "a standby without the key is accepted: $(ctl one ha status)" || return 1
	both_end
	stop_fabric
}

start_weftsim fattree:radix=4,levels=2
check "M_Keys without a key of the replication" without_key || both_end
check "M_Keys with it" with_key || both_end
stop_fabric
check "M_Keys that a reload accepts" forced || both_end
stop_fabric
check "M_Keys after a restart" held_back || both_end
stop_fabric
check "other keys" wrong_key
finish
