#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Attacks with alias GUIDs on weftsim: a host registers the GUID of a member of a partition as its own alias.
# It must gain no P_Key, no membership of the partition's groups, no right to another host's services, and must
# not learn which GUIDs exist. Then the three ways in which an administrator grants an alias.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip attack-alias: weftsim's preload library and sanitizers do not go together"
	exit 0
fi

"${CC:-cc}" -O2 -o attacker "$root/tests/system/attacker.c" -libumad || exit 1
declare -A guid
spare=02776566010aaa01 named_here=02776566010aaa02 unknown=02776566010aaa03

keys() {
	"$BUILD/weftsim" "do" "pkeys $1 1" | awk '$1 ~ /^[0-9]+$/ {print $2}' | sort | paste -sd ' '
}

link_of() {
	"$BUILD/weftsim" "do" "link $1 $2 1" >do.txt || because "$(cat do.txt)"
}

# lid_of HOST, in hexadecimal with four digits.
lid_of() {
	printf '%04x' "$(ctl weftd port show "$1" 1 | json '$_->{lid}')"
}

# changes METHOD HOST INDEX GUID [WORD]...: writes the answer to a Set (2) or Delete (0x15) of one alias of its own port
# to answer.txt. The component mask is LID, BlockNum and the GUID at INDEX.
changes() {
	local method=$1 host=$2 index=$3 alias=$4 mask at

	shift 4
	mask=$(printf '%x' $((3 | 1 << (4 + index)))) at=$((64 + 8 * index))
	on "$host" ./attacker -v "$@" sm 3 "$method" 0x30 0 "mask:$mask" "56=${lids[$host]}00" "$at=$alias" >answer.txt 2>&1
}

# The bytes of an answer at this offset; nothing if the status is not 0.
told_at() {
	sed -n "s/^status 0x0000 .*data \(.*\)/\1/p" answer.txt | cut -c $((17 + 16 * $1))-$((32 + 16 * $1))
}

settled() {
	ctl weftd sweep light >/dev/null && wait_for 30 is_up weftd || because "$(tail -n 1 weftd.log)"
}

# keeps_keys HOST WHEN: it has the limited key of the default partition and no other, also after a sweep.
keeps_keys() {
	settled && equal "the keys of $1 $2" "$(keys "$1")" 0x7fff
}

fabric_runs() {
	local host

	start_weftsim single:hosts=8 && conf=$work/weftd.conf && : >partitions.conf || return 1
	printf 'partition_config_file = "%s/partitions.conf";\nsa_key = 0x77;\n%s\n' "$work" "" >weftd.conf
	start_weftd weftd host-0001 && wait_for 30 is_up weftd || because "$(tail -n 1 weftd.log)" || return 1
	declare -gA lids
	for host in host-000{1..8}; do
		guid[$host]=$(ctl weftd port show "$host" 1 | json '$_->{port_guid}')
		guid[$host]=${guid[$host]#0x}
		lids[$host]=$(lid_of "$host")
	done
	cat >partitions.conf <<-END
		Default=0x7fff: ALL=limited, SELF=full;
		red=0x1, ipoib: 0x${guid[host-0002]}=full, 0x${guid[host-0003]}=full, 0x$spare=full;
		blue=0x2: 0x${guid[host-0004]}=full, 0x${guid[host-0005]}=full, 0x$named_here=full;
	END
	ctl weftd config reload >/dev/null && wait_for 30 has_keys host-0003 "0x7fff 0x8001" ||
		because "host-0003 has $(keys host-0003)"
}

has_keys() {
	[ "$(keys "$1")" = "$2" ]
}

# Attack 1: a GUID in the partition file that no port has.
absent_guid() {
	changes 2 host-0007 1 $spare
	keeps_keys host-0007 "after it took the spare GUID of red" || return 1
	# Join as the alias, and as the port: MGID, PortGID, JoinState 1.
	for port in $spare "${guid[host-0007]}"; do
		on host-0007 ./attacker sm 3 2 0x38 0 mask:10003 56=ff12401b8001000000000000ffffffff 72=fe80000000000000$port 105=01 >join.txt 2>&1
		matches 'status 0x0000' join.txt && because "host-0007 joined the group of red as $port" && return 1
	done
	ctl weftd multicast show ff12:401b:8001::ffff:ffff >group.json
	equal "the number of members of red's group" "$(json 'scalar @{$_->{members}}' <group.json)" 0
}

# Attack 2: the GUID of a host while its link is down.
is_away() {
	! "$BUILD/weftctl" -s weftd.run/control.sock node list | grep -q "$1\$"
}

is_back() {
	! is_away "$1"
}

guid_of_absent_host() {
	link_of down host-0004 && wait_for 30 is_away host-0004 || because "host-0004 is still there" || return 1
	changes 2 host-0008 1 "${guid[host-0004]}"
	keeps_keys host-0008 "after it took the GUID of host-0004, which is absent" || return 1
	link_of up host-0004 && wait_for 30 has_keys host-0004 "0x7fff 0x8002" || because "host-0004 has $(keys host-0004)" || return 1
	keeps_keys host-0008 "when host-0004 is back" || return 1
	stop weftd && start_weftd weftd host-0001 && wait_for 30 is_up weftd || because "$(tail -n 1 weftd.log)" || return 1
	keeps_keys host-0008 "after a restart"
}

# Attack 3: the service of a host while its link is down.
services() {
	ctl weftd service list | json 'join " ", map { $_->{id} } @$_'
}

service_of_absent_host() {
	local record="56=00000000000000aa 64=fe80000000000000${guid[host-0003]} 80=7fff"

	# shellcheck disable=SC2086 # words are meant
	on host-0003 ./attacker sm 3 2 0x31 0 mask:7 $record >service.txt 2>&1
	equal "the services" "$(services)" 0x00000000000000aa || return 1
	link_of down host-0003 && wait_for 30 is_away host-0003 || because "host-0003 is still there" || return 1
	changes 2 host-0007 2 "${guid[host-0003]}"
	# shellcheck disable=SC2086 # words are meant
	on host-0007 ./attacker sm 3 0x15 0x31 0 mask:7 $record >service.txt 2>&1
	equal "the services after host-0007 wanted to delete it ($(cat service.txt))" "$(services)" 0x00000000000000aa || return 1
	link_of up host-0003 && wait_for 30 has_keys host-0003 "0x7fff 0x8001" || because "host-0003 has $(keys host-0003)"
}

# Attack 4: which GUIDs exist? host-0007 can see only the manager's port. All answers must be the same.
no_oracle() {
	local name alias

	link_of down host-0005 && wait_for 30 is_away host-0005 || because "host-0005 is still there" || return 1
	for name in host-0001 host-0002 host-0005 spare unknown; do
		alias=${guid[$name]:-}
		[ $name != spare ] || alias=$named_here
		[ $name != unknown ] || alias=$unknown
		changes 2 host-0007 3 "$alias"
		sed "s/$alias/GUID/g" answer.txt >"oracle-$name.txt"
		cmp -s "oracle-$name.txt" oracle-host-0001.txt ||
			because "of $name host-0007 hears '$(cat "oracle-$name.txt")', of the manager '$(cat oracle-host-0001.txt)'" || return 1
	done
	matches '^status' oracle-unknown.txt || because "no answer: $(cat oracle-unknown.txt)" || return 1
	link_of up host-0005 && wait_for 30 has_keys host-0005 "0x7fff 0x8002" || because "host-0005 has $(keys host-0005)"
}

# Attack 5: a store of a weftd before this rule (version 4) has the alias of attack 1, and an alias with the GUID of
# host-0005. Its groups (2) and members (3) have no owners, and it has neither totals (0) nor partition texts (13).
age_store() {
	rm -f "${1%/*}"/weft-copy.db*
	/usr/bin/python3 - "$1" "${guid[host-0008]}" "$spare" "${guid[host-0005]}" <<-'END'
		import sqlite3, struct, sys
		def total(kind, key, value):
		    h = 0xCBF29CE484222325
		    for byte in struct.pack(">II", kind, len(key)) + key + value:
		        h = ((h ^ byte) * 0x100000001B3) & (2**64 - 1)
		    h ^= h >> 32
		    return h - 2**64 if h >> 63 else h
		db = sqlite3.connect(sys.argv[1])
		db.execute("DELETE FROM record WHERE kind IN (0, 6, 13)")
		for kind, key, value in db.execute("SELECT kind, key, value FROM record WHERE kind IN (2, 3)").fetchall():
		    db.execute("UPDATE record SET value = ?, sum = ? WHERE kind = ? AND key = ?",
		               (value[:-8], total(kind, key, value[:-8]), kind, key))
		for index, guid in enumerate(sys.argv[3:], 1):
		    key, value = bytes.fromhex(sys.argv[2]) + struct.pack(">H", index), bytes.fromhex(guid)
		    db.execute("INSERT INTO record (kind, key, value, sum) VALUES (6, ?, ?, ?)", (key, value, total(6, key, value)))
		db.execute("PRAGMA user_version = 4")
		db.commit()
	END
}

old_store() {
	stop weftd && age_store weftd.state/weft.db || because "the store cannot be changed" || return 1
	start_weftd weftd host-0001 && wait_for 30 is_up weftd || because "$(tail -n 1 weftd.log)" || return 1
	matches 'damaged' weftd.log && because "$(grep damaged weftd.log)" && return 1
	keeps_keys host-0008 "with the aliases of an old store" || return 1
	equal "the aliases of host-0008" "$(aliases)" "0x$spare none" || return 1
	told_event weftd alias "alias GUID 0x${guid[host-0005]} at index 2: removed, because it is the GUID of another port; granted by: none \\[host-0008 port 1"
}

aliases() {
	ctl weftd alias list | json 'join ", ", map { "$_->{alias_guid} $_->{granted}" } @$_'
}

# Grants of an administrator

by_command() {
	# A member that is such an alias, added by command: nothing follows, and the answer gives the reason.
	ctl weftd partition member add 0x2 0x$spare >added.out
	matches "0x$spare is an alias of port 0x${guid[host-0008]} without a grant" added.out || because "member add says $(cat added.out)" || return 1
	ctl weftd partition member remove 0x2 0x$spare >added.out
	ctl weftd alias set host-0007 1 "0x${guid[host-0002]}" >refused.out 2>&1 && because "a port's own GUID is given to another" && return 1
	# host-0008 registered the alias itself, so the administrator's command overrides it. It does not override a
	# grant.
	ctl weftd alias set host-0007 1 "$spare" >alias.json || because "alias set of host-0008's alias: $(cat alias.json)" || return 1
	told_event weftd alias "alias GUID 0x$spare at index 1: removed by command; granted by: none \\[host-0008 port 1" || return 1
	equal "the aliases" "$(aliases)" "0x$spare administrator" || return 1
	wait_for 30 has_keys host-0007 "0x7fff 0x8001" || because "host-0007 has $(keys host-0007)" || return 1
	ctl weftd alias set host-0008 1 0x$spare >refused.out 2>&1 && because "host-0007's granted alias is given to another" && return 1
	matches "0x$spare is already an alias of .*host-0007.* port 1 .*granted by: administrator.*alias remove" refused.out ||
		because "it says $(cat refused.out)" || return 1
	ctl weftd alias remove host-0007 1 0x$spare >alias.json || because "alias remove: $(cat alias.json)" || return 1
	told_event weftd alias "alias GUID 0x$spare at index 1: removed by command; granted by: administrator \\[host-0007 port 1" || return 1
	wait_for 30 has_keys host-0007 0x7fff || because "host-0007 has $(keys host-0007)" || return 1
	ctl weftd alias set host-0008 1 0x$spare >alias.json || because "alias set: $(cat alias.json)" || return 1
	wait_for 30 has_keys host-0008 "0x7fff 0x8001" || because "host-0008 has $(keys host-0008)" || return 1
	told_event weftd alias "alias GUID 0x$spare at index [12]: set; granted by: administrator" || return 1
	# Its host cannot undo that, nor can another host register it.
	changes 0x15 host-0008 "$(json '$_->{index}' <alias.json)" $unknown
	changes 2 host-0007 1 $spare
	equal "the aliases" "$(aliases)" "0x$spare administrator" || return 1
	ctl weftd alias list host-0008 1 | json 'scalar @$_' | grep -qx 1 || because "alias list host-0008 1 is not of one" || return 1
	ctl weftd alias list host-0007 | json 'scalar @$_' | grep -qx 0 || because "alias list host-0007 is not empty" || return 1
	stop weftd && start_weftd weftd host-0001 && wait_for 30 is_up weftd || because "$(tail -n 1 weftd.log)" || return 1
	settled && equal "the keys of host-0008 after a restart" "$(keys host-0008)" "0x7fff 0x8001" || return 1
	ctl weftd alias remove host-0008 1 0x$spare >alias.json || because "alias remove: $(cat alias.json)" || return 1
	wait_for 30 has_keys host-0008 0x7fff || because "host-0008 has $(keys host-0008)"
}

by_list() {
	printf 'partition_config_file = "%s/partitions.conf";\nsa_key = 0x77;\nalias_guids = ["0x%s: 0x%s-0x%s"];\n' \
		"$work" "${guid[host-0006]}" $spare $unknown >weftd.conf
	ctl weftd config reload >reload.json || because "config reload: $(cat reload.json)" || return 1
	# A grant of an administrator to another port stays, even while that port is away.
	ctl weftd alias set host-0008 1 0x$spare >alias.json || because "alias set: $(cat alias.json)" || return 1
	link_of down host-0008 && wait_for 30 is_away host-0008 || because "host-0008 is still there" || return 1
	changes 2 host-0006 1 $spare
	keeps_keys host-0006 "after it took the alias that an administrator granted to host-0008" || return 1
	equal "the aliases" "$(aliases)" "0x$spare administrator" || return 1
	link_of up host-0008 && wait_for 30 is_back host-0008 || because "host-0008 is not back" || return 1
	ctl weftd alias remove host-0008 1 0x$spare >alias.json || because "alias remove: $(cat alias.json)" || return 1
	changes 2 host-0006 1 $spare
	equal "the alias in the answer" "$(told_at 1)" $spare || return 1
	wait_for 30 has_keys host-0006 "0x7fff 0x8001" || because "host-0006 has $(keys host-0006)" || return 1
	equal "the aliases" "$(aliases)" "0x$spare alias_guids" || return 1
	changes 2 host-0007 1 $unknown
	keeps_keys host-0007 "which the list does not have" || return 1
	printf 'partition_config_file = "%s/partitions.conf";\nsa_key = 0x77;\n' "$work" >weftd.conf
	ctl weftd config reload >reload.json || because "config reload: $(cat reload.json)" || return 1
	wait_for 30 has_keys host-0006 0x7fff || because "host-0006 has $(keys host-0006) when the list is empty" || return 1
	equal "the aliases" "$(aliases)" "0x$spare none"
}

# A key other than the default is trusted. The alias of host-0006 is no longer granted, so another host can register it.
by_sa_key() {
	on host-0007 ./attacker -v sm 3 2 0x30 0 mask:23 key:77 "56=${lids[host-0007]}00" 72=$spare >answer.txt 2>&1
	equal "the alias in the answer" "$(told_at 1)" $spare || return 1
	wait_for 30 has_keys host-0007 "0x7fff 0x8001" || because "host-0007 has $(keys host-0007)" || return 1
	equal "the aliases" "$(aliases)" "0x$spare SA_Key" || return 1
	ctl weftd alias remove host-0007 1 0x$spare >alias.json && wait_for 30 has_keys host-0007 0x7fff ||
		because "host-0007 has $(keys host-0007)" || return 1
	printf 'partition_config_file = "%s/partitions.conf";\n' "$work" >weftd.conf
	ctl weftd config reload >reload.json || because "config reload: $(cat reload.json)" || return 1
	on host-0007 ./attacker -v sm 3 2 0x30 0 mask:23 key:1 "56=${lids[host-0007]}00" 72=$spare >answer.txt 2>&1
	keeps_keys host-0007 "after a request with the default SA_Key"
}

refusals_are_told() {
	told_event weftd alias "host-0007.* port 1 .*LID $((0x${lids[host-0007]})).* may not change its alias GUID" || return 1
	[ "$(status weftd '$_->{sa}{aliases_refused}')" -ge 1 ] || because "no refusal is counted"
}

check "a fabric with two partitions" fabric_runs || finish
check "an absent GUID that partitions.conf names" absent_guid
check "the GUID of a host whose link is down" guid_of_absent_host
check "the service of a host whose link is down" service_of_absent_host
check "answers do not tell which GUIDs exist" no_oracle
check "an alias in the store of an older weftd" old_store
check "weftctl alias set" by_command
check "alias_guids" by_list
check "the SA_Key" by_sa_key
check "refusals are counted and logged" refusals_are_told
finish
