#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Partitions with the real programs on weftsim: made by weftctl and by a file; the keys of the ports, the state after a
# restart, a bad file that opens nothing, and the number of SMPs.
set -u
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip partitions: weftsim's preload library and sanitizers do not go together"
	exit 0
fi

declare -A guid
"${CC:-cc}" -O2 -o tenant "$root/tests/system/tenant.c" -libumad || exit 1

sim() {
	"$BUILD/weftsim" "do" "$@"
}

# keys NODE PORT: the keys of the device, on one line.
keys() {
	sim "pkeys $1 $2" | awk '$1 ~ /^[0-9]+$/ {print $2}' | sort | paste -sd ' '
}

# sets DAEMON ATTRIBUTE: how many Set() of it were sent.
sets() {
	status "$1" "do { my \$n = 0; \$_->{method} eq \"Set\" && \$_->{attribute} eq \"$2\" and \$n += \$_->{sent} for @{\$_->{smps}}; \$n }"
}

refused() {
	local wanted=$1

	shift
	! ctl "$@" >refused.out 2>refused.err || because "$* was not refused" || return 1
	matches "$wanted" refused.err || because "$* says: $(cat refused.err)"
}

starts() {
	start_weftd "$@" && wait_for 30 is_up "$1" ||
		because "weftd is $(status "$1" '$_->{role}, $_->{state}'); $(tail -n 1 "$1.log")"
}

first_start() {
	local name value

	starts open host-0001 -o 'partition_config_file="none.conf"' || return 1
	ctl open topology export --format json >nodes.json
	while read -r name value; do
		guid[$name]=$value
	done < <(json 'map { my $n = $_; map { "$n->{description} $_->{guid}\n" } @{$n->{end_ports} // []} } @{$_->{nodes}}' <nodes.json | sed "s/^ *//" | awk NF)
	[ -n "${guid[host-0002]:-}" ] || because "host-0002 has no port" || return 1
	equal "full access of all ports" "$(status open '$_->{partitions}{open} ? 1 : 0')" 1 || return 1
	equal "the keys of host-0002" "$(keys host-0002 1)" 0xffff || return 1
	equal "Set(P_KeyTable) that the bring-up took" "$(sets open P_KeyTable)" 0
}

member_added() {
	local before

	ctl open partition add 0x5 blue --ipoib >/dev/null || because "partition add failed" || return 1
	before=$(sets open P_KeyTable)
	ctl open partition member add 5 "${guid[host-0002]}" "${guid[host-0009]}" 0xdead >added.out ||
		because "member add failed" || return 1
	matches '"acknowledged": 2' added.out && matches '"absent": 1' added.out || because "it says $(cat added.out)" || return 1
	equal "the keys of host-0002" "$(keys host-0002 1)" "0x8005 0xffff" || return 1
	equal "the keys of its switch's port" "$(keys leaf-01 2)" "0x8005 0xffff" || return 1
	equal "the keys of host-0003" "$(keys host-0003 1)" 0xffff || return 1
	equal "Set(P_KeyTable) that it took" $(($(sets open P_KeyTable) - before)) 4 || return 1
	matches 'ff12:401b:8005' <(ctl open multicast list) || because "its IPoIB group is not there"
}

# The GUID of a node with one port stands for that port. So do its name, and its GUID without 0x.
node_has_one_port() {
	local node name

	node=$(ctl open node list | json '(grep { $_->{description} eq "host-0003" } @$_)[0]{guid}')
	for name in "$node" "${node#0x}" host-0003 host-0003/1 'host-[0003]'; do
		ctl open partition member add blue "$name" >node.out || because "member add $name: $(cat node.out)" || return 1
		matches "${guid[host-0003]}" node.out && equal "the keys of host-0003" "$(keys host-0003 1)" "0x8005 0xffff" &&
			ctl open partition member remove blue "$name" >node.out || because "member remove $name: $(cat node.out)" ||
			return 1
	done
	equal "the keys of host-0003" "$(keys host-0003 1)" 0xffff
}

# A playbook that runs twice changes nothing the second time.
repeated() {
	local run member_file=members.txt

	printf 'host-[0003-0004] # clients\n\n0xdead=limited\n' >$member_file
	for run in true false; do
		ctl open partition add 0x0a green --members host-0002=full --limited --file $member_file --mtu 4096 >green.out &&
			matches "\"changed\": $run" green.out || because "create says $(cat green.out)" || return 1
		ctl open partition member add green host-0009 >green.out && matches "\"changed\": $run" green.out ||
			because "member add says $(cat green.out)" || return 1
	done
	equal "the keys of host-0004" "$(keys host-0004 1)" "0x000a 0xffff" || return 1
	for run in true false; do
		ctl open partition member remove green host-0004 >green.out && matches "\"changed\": $run" green.out ||
			because "member remove says $(cat green.out)" || return 1
	done
	refused '3 ports would lose membership of 0x000a, and 3 pairs' open partition remove green || return 1
	for run in true false; do
		ctl open partition remove 0x0a --force >green.out && matches "\"changed\": $run" green.out ||
			because "delete says $(cat green.out)" || return 1
	done
	equal "the keys of host-0002" "$(keys host-0002 1)" "0x8005 0xffff"
}

# 100,000 members in one request: those of a hostlist and of a file.
many_members() {
	seq -f '0x%.0f' 1048576 1148575 >many.txt
	ctl open partition add 0x0b many --file many.txt >many.out || because "partition add says $(head -c 500 many.out)" || return 1
	matches '"absent": 100000' many.out || because "it says $(head -c 500 many.out)" || return 1
	refused 'more than 131072 ports|a range of GUIDs has' open partition member add many 0x200000-0x300000 || return 1
	refused 'there is no node "nosuch1"' open partition member add many 'nosuch[1-100000]' || return 1
	ctl open partition remove many >many.out || because "partition remove says $(head -c 500 many.out)"
}

tools_agree() {
	local lid

	lid=$(ctl open node list | json '(grep { $_->{description} eq "host-0002" } @$_)[0]{lid}')
	on host-0001 smpquery pkeys "$lid" 1 >pkeys.out 2>&1 || because "smpquery: $(tail -n 1 pkeys.out)" || return 1
	matches '0xffff 0x8005' pkeys.out || because "smpquery pkeys does not show 0x8005"
}

bad_words() {
	refused 'there is no partition "0"' open partition member add 0 "${guid[host-0003]}" &&
		refused 'did you mean 0x7fff' open partition add 0xffff &&
		refused 'partition 0x0005 already exists with other parameters' open partition add 5 &&
		refused 'no partition 0x0007' open partition member add 7 "${guid[host-0003]}" &&
		refused '"4097" is not an MTU: 256, 512, 1024, 2048 or 4096 bytes, or a code from 1 to 5' open partition add 6 --mtu 4097 &&
		refused 'there is no node "host-0444"; did you mean "host-0' open partition member add 5 "${guid[host-0003]}" host-0444 &&
		refused 'allow_both_pkeys' open partition member add 5 "${guid[host-0003]}" --both &&
		equal "the keys of host-0003" "$(keys host-0003 1)" 0xffff &&
		equal "the keys of host-0002" "$(keys host-0002 1)" "0x8005 0xffff"
}

# Two commands at once: both take effect.
both_at_once() {
	ctl open partition member add 5 "${guid[host-0003]}" >one.out &
	ctl open partition member add 5 "${guid[host-0004]}" --limited >two.out
	wait $!
	equal "the keys of host-0003" "$(keys host-0003 1)" "0x8005 0xffff" || return 1
	equal "the keys of host-0004" "$(keys host-0004 1)" "0x0005 0xffff"
}

restart_remembers() {
	stop open KILL >/dev/null
	starts open host-0001 -o 'partition_config_file="none.conf"' || return 1
	ctl open sweep heavy >/dev/null || because "sweep heavy failed" || return 1
	wait_for 30 is_up open || because "after sweep heavy weftd is $(status open '$_->{role}, $_->{state}')" || return 1
	equal "Set(P_KeyTable) after a restart" "$(sets open P_KeyTable)" 0 || return 1
	sim 'node reboot host-0002' >/dev/null
	wait_for 20 holds host-0002 1 "0x8005 0xffff" || because "host-0002 holds $(keys host-0002 1) after a reboot"
}

holds() {
	[ "$(keys "$1" "$2")" = "$3" ]
}

member_removed() {
	ctl open partition member remove 5 "${guid[host-0009]}" >removed.out || because "member remove failed" || return 1
	equal "the keys of host-0009" "$(keys host-0009 1)" 0xffff || return 1
	ctl open partition remove 5 --force >removed.out || because "partition remove failed" || return 1
	equal "the keys of host-0002" "$(keys host-0002 1)" 0xffff || return 1
	! matches 'ff12:401b:8005' <(ctl open multicast list) || because "its IPoIB group is still there" || return 1
	equal "full access of all ports" "$(status open '$_->{partitions}{open} ? 1 : 0')" 1
}

file_is_read() {
	stop open >/dev/null
	printf 'Default=0x7fff, ipoib: ALL=limited, SELF=full;\nred=0x6, ipoib: %s=full, %s;\n' \
		"${guid[host-0002]}" "${guid[host-0003]}" >good.conf
	starts file host-0001 -o "partition_config_file=\"$PWD/good.conf\"" || return 1
	wait_for 20 holds host-0002 1 "0x7fff 0x8006" || because "host-0002 holds $(keys host-0002 1)" || return 1
	equal "the keys of host-0003" "$(keys host-0003 1)" "0x0006 0x7fff" || return 1
	equal "the keys of host-0004" "$(keys host-0004 1)" 0x7fff || return 1
	equal "the manager's keys" "$(keys host-0001 1)" 0xffff || return 1
	refused 'is in the partition file \(line 2\)' file partition add 6 &&
		refused 'is in the partition file \(line 2\)' file partition remove 6
}

# pings FROM KEY TO: with this P_Key, at any index of the table.
pings() {
	local index lid

	index=$(sim "pkeys $1 1" | awk -v key="$2" '$2 == key { print $1 + 0 }')
	lid=$(ctl file node list | json "(grep { \$_->{description} eq \"$3\" } @\$_)[0]{lid}")
	[ -n "$index" ] && on "$1" "$work/tenant" ping "$lid" "$index" >ping.out 2>&1
}

# dropped: packets dropped for their P_Key since the count was reset.
dropped() {
	sim stats | awk '/^dropped: bad P_Key/ { n = $NF } END { print n + 0 }'
}

# kept_apart FROM KEY TO: there is no answer, because of the P_Key alone: the packet was dropped for it, and the same
# server answers the manager's port before and after.
kept_apart() {
	pings host-0001 0xffff "$3" || because "$3 does not even answer host-0001: $(cat ping.out)" || return 1
	rm ping.out
	sim 'stats reset' >/dev/null
	! pings "$@" || because "$1 reaches $3 with $2" || return 1
	equal "the output of the ping of $1" "$(cat ping.out 2>&1)" "no answer" || return 1
	[ "$(dropped)" -ge 1 ] || because "$3 does not answer $1, but no P_Key was refused" || return 1
	pings host-0001 0xffff "$3" || because "$3 does not answer host-0001 any more: $(cat ping.out)"
}

# reaches FROM KEY TO: and nothing is dropped for its P_Key.
reaches() {
	sim 'stats reset' >/dev/null
	pings "$@" || because "$1 does not reach $3 with $2: $(cat ping.out)" || return 1
	equal "packets dropped for their P_Key" "$(dropped)" 0
}

# Packets follow the commands at once.
pings_follow_commands() {
	(as_node host-0003 "$work/tenant" hear 120) >host-0003.heard 2>&1 &
	pids[host-0003]=$!
	(as_node host-0004 "$work/tenant" hear 120) >host-0004.heard 2>&1 &
	pids[host-0004]=$!
	wait_for 20 matches hears host-0003.heard && wait_for 20 matches hears host-0004.heard ||
		because "they do not receive" || return 1
	reaches host-0002 0x8006 host-0003 && # full to limited
		kept_apart host-0003 0x7fff host-0004 && # two limited members of the default partition
		kept_apart host-0002 0x8006 host-0004 || return 1
	ctl file partition member add 6 "${guid[host-0004]}" --limited >/dev/null || because "member add failed" || return 1
	reaches host-0002 0x8006 host-0004 && kept_apart host-0004 0x0006 host-0003 || return 1
	ctl file partition member add 6 "${guid[host-0004]}" --full >/dev/null || because "to full failed" || return 1
	reaches host-0004 0x8006 host-0003 || return 1
	ctl file partition member remove 6 "${guid[host-0004]}" >/dev/null || because "member remove failed" || return 1
	kept_apart host-0002 0x8006 host-0004 || return 1
	kill_now host-0003 && kill_now host-0004
}

# paths FROM TO: the number of paths of the SA in partition 6.
paths() {
	local from to

	from=$(ctl file node list | json "(grep { \$_->{description} eq \"$1\" } @\$_)[0]{lid}")
	to=$(ctl file node list | json "(grep { \$_->{description} eq \"$2\" } @\$_)[0]{lid}")
	look paths.out "$1" saquery PathRecord --slid "$from" --dlid "$to" --pkey 0x8006
	grep -c 'pkey.*0x8006' paths.out
}

# joins HOST: the IPoIB group of partition 6.
joins() {
	look join.out "$1" "$work/tenant" join fe80000000000000 "${guid[$1]#0x}" ff12401b8006000000000000ffffffff
}

in_group() {
	ctl file multicast show ff12:401b:8006::ffff:ffff >group.out || because "no such group: $(cat group.out)" || return 1
	grep -c "\"$1\"" group.out
}

# From the end of the command on.
sa_follows_commands() {
	local key=${guid[host-0004]}

	equal "paths of host-0004 before" "$(paths host-0002 host-0004)" 0 || return 1
	! joins host-0004 && matches 'refused with 0x0600' join.out || because "host-0004 joins: $(cat join.out)" || return 1
	ctl file partition member add 6 "$key" >/dev/null || because "member add failed" || return 1
	equal "paths to a new member" "$(paths host-0002 host-0004)" 1 || return 1
	joins host-0004 && joins host-0002 || because "a new member cannot join: $(cat join.out)" || return 1
	equal "memberships of host-0004" "$(in_group host-0004)" 1 || return 1
	ctl file partition member remove 6 "$key" >/dev/null || because "member remove failed" || return 1
	equal "paths to the removed member" "$(paths host-0002 host-0004)" 0 || return 1
	equal "paths from the removed member" "$(paths host-0004 host-0002)" 0 || return 1
	! joins host-0004 && matches 'refused with 0x0600' join.out || because "the removed member joins: $(cat join.out)" || return 1
	equal "its memberships" "$(in_group host-0004)" 0 || return 1
	equal "memberships of host-0002" "$(in_group host-0002)" 1
}

# Without a daemon the file alone is checked, and all its errors are reported.
check_without_daemon() {
	local alone=("$BUILD/weftctl" -s "$work/no.sock" partition check)

	printf 'Default=0x7fff: ALL=both;\nred=0x6, sl=1: SELF;\nblue=0x7, sl=2: ALL;\n' >alone.conf
	"${alone[@]}" alone.conf >alone.txt 2>&1 || because "a good file is refused: $(cat alone.txt)" || return 1
	matches '^3 partitions, no errors in the text; no weftd answers' alone.txt && matches '^alone.conf:3: sl is taken as 0' alone.txt ||
		because "it says: $(cat alone.txt)" || return 1
	printf 'red=0x6: nobody;\nblue=0x7: ALL;\nx=0: ALL;\n' >alone.conf
	"${alone[@]}" - <alone.conf >alone.txt 2>&1
	equal "the status" $? 1 || return 1
	matches '^weftctl: -:1: "nobody" is no port' alone.txt && matches '^weftctl: -:3: a P_Key is' alone.txt ||
		because "it says: $(cat alone.txt)" || return 1
	equal "the lines" "$(wc -l <alone.txt)" 2 || return 1
	"$BUILD/weftctl" -s "$work/file.run/control.sock" partition check alone.conf >with.txt 2>&1
	equal "the answer of a daemon" "$(cat with.txt)" "$(sed 's/ -:/ alone.conf:/' alone.txt)"
}

bad_file_changes_nothing() {
	printf 'Default=0x7fff, ipoib: ALL=full;\nred=0x6: nobody;\n' >good.conf
	refused 'good.conf:2: ' file config reload || return 1
	refused 'good.conf:2: ' file partition check good.conf || return 1
	kill -HUP "${pids[file]}"
	wait_for 20 matches 'not reloaded.*good.conf:2: ' file.log || because "the log does not say so" || return 1
	told_event file partition 'not reloaded, nothing has changed: .*good.conf:2: ' || return 1
	equal "the keys of host-0002" "$(keys host-0002 1)" "0x7fff 0x8006" || return 1
	rm good.conf
	refused 'the file is missing' file config reload || return 1
	printf 'Default=0x7fff, ipoib: ALL=limited, SELF=full;\nred=0x6: %s=full;\n' "${guid[host-0002]}" >good.conf
	ctl file partition check good.conf >check.out || because "a good file is refused" || return 1
	matches '"changed": 1,' check.out && matches '"notes": \[\]' check.out || because "check says $(cat check.out)" || return 1
	ctl file config reload >/dev/null || because "a good file is not read" || return 1
	told_event file partition 'partition file .*good.conf is in force: 1 changed \(0x0006\)' || return 1
	wait_for 20 holds host-0003 1 0x7fff || because "host-0003 holds $(keys host-0003 1)"
}

# problem DAEMON: what status says first.
problem() {
	"$BUILD/weftctl" -s "$1.run/control.sock" status | tr -s '\n ' ' '
}

refusals_are() {
	[ "$(grep -cE "^ERROR weftd: configuration not reloaded, nothing has changed: .*$2" file.log)" = "$1" ]
}

# A file that takes a P_Key from 44 ports needs --force. SIGHUP has no --force, and a start has the last good file.
file_that_cuts_off_is_refused() {
	local cut="takes P_Keys from 44 ports .partition_confirm_ports is 10., among them 0x0007 .green. from 44 ports, so 946 pairs" few=few.conf all=all.conf

	printf 'Default=0x7fff, ipoib: ALL=limited, SELF=full;\nred=0x6: %s=full;\n' "${guid[host-0002]}" >$few
	{ cat $few && printf 'green=0x7: ALL=full;\n'; } >$all
	put_file $all
	ctl file config reload >/dev/null || because "a file that adds a partition is refused" || return 1
	wait_for 20 holds host-0003 1 "0x7fff 0x8007" || because "host-0003 holds $(keys host-0003 1)" || return 1
	put_file $few
	refused "good.conf: $cut.*accept it with weftctl config reload --force" file config reload || return 1
	refused "without --force would refuse it: .*$cut" file config check || return 1
	wait_for 20 refusals_are 1 "$cut" || because "the log does not say so: $(tail -n 3 file.log)" || return 1
	kill -HUP "${pids[file]}"
	wait_for 20 refusals_are 2 "$cut" || because "the log does not say so: $(tail -n 3 file.log)" || return 1
	matches "Problem a reload was refused: .*good.conf: $cut" <(problem file) || because "status says: $(problem file | head -c 300)" || return 1
	equal "the keys of host-0003" "$(keys host-0003 1)" "0x7fff 0x8007" || return 1
	stop file && starts file host-0001 -o "partition_config_file=\"$PWD/good.conf\"" || return 1
	matches "CRITICAL sm: .*good.conf: $cut.*; the last good file, of .*, is in force: accept the new file with" file.log ||
		because "the log does not say so" || return 1
	matches "Problem .*$cut" <(problem file) || because "status says: $(problem file | head -c 300)" || return 1
	equal "the keys of host-0003 after a start" "$(keys host-0003 1)" "0x7fff 0x8007" || return 1
	ctl file config reload --force >/dev/null || because "--force is refused" || return 1
	wait_for 20 holds host-0003 1 0x7fff || because "host-0003 holds $(keys host-0003 1)" || return 1
	! matches '^Problem' <(problem file) || because "status still says: $(problem file | head -c 300)" || return 1
	# The limit is an option.
	put_file $all && ctl file config reload >/dev/null || because "a file that adds is refused" || return 1
	stop file && put_file $few || return 1
	starts file host-0001 -o "partition_config_file=\"$PWD/good.conf\"" -o partition_confirm_ports=44 || return 1
	wait_for 20 holds host-0003 1 0x7fff || because "with a higher limit host-0003 holds $(keys host-0003 1)"
}

# groups: P_Key and MLID of each.
groups() {
	ctl file multicast list | json 'map { "$_->{p_key} $_->{mlid}\n" } @$_' | sed 's/^ *//' | awk NF | sort -n
}

# put_file NAME: replaces the partition file in one step.
put_file() {
	cp "$1" next.conf && mv next.conf good.conf
}

# Two commands load different files at once, while a third command adds a member. Each is answered, the last file is in
# force, the member stays, and every removed group has released its MLID.
two_files_at_once() {
	local round one two three member=${guid[host-0005]}

	printf 'Default=0x7fff, ipoib: ALL=limited, SELF=full;\nred=0x6, ipoib: %s=full;\ngreen=0x7, ipoib: ALL;\n' \
		"${guid[host-0002]}" >one.conf
	printf 'Default=0x7fff, ipoib: ALL=limited, SELF=full;\nblue=0x9, ipoib: %s=full;\nred=0x6: %s=full;\ngrey=0xa, ipoib: ALL;\n' \
		"${guid[host-0003]}" "${guid[host-0003]}" >two.conf
	for round in 1 2 3 4 5 6; do
		put_file one.conf
		ctl file config reload --force >one.out 2>&1 &
		one=$!
		put_file two.conf
		ctl file config reload --force >two.out 2>&1 &
		two=$!
		ctl file partition member add 6 "$member" >three.out 2>&1 &
		three=$!
		wait $one || because "round $round, the first: $(cat one.out)" || return 1
		wait $two || because "round $round, the second: $(cat two.out)" || return 1
		wait $three || because "round $round, the member: $(cat three.out)" || return 1
		wait_for 20 holds host-0003 1 "0x000a 0x7fff 0x8006 0x8009" || because "round $round: host-0003 holds $(keys host-0003 1)" || return 1
		wait_for 20 holds host-0002 1 "0x000a 0x7fff" || because "round $round: host-0002 holds $(keys host-0002 1)" || return 1
		wait_for 20 holds host-0005 1 "0x000a 0x7fff 0x8006" || because "round $round: host-0005 holds $(keys host-0005 1)" || return 1
		equal "P_Keys with groups" "$(groups | cut -d ' ' -f 1 | paste -sd ' ')" "32777 32778 65535" || return 1
	done
	ctl file partition member remove 6 "$member" >/dev/null || because "member remove failed" || return 1
	put_file one.conf
	ctl file config reload --force >/dev/null || because "config reload failed" || return 1
	wait_for 20 holds host-0002 1 "0x0007 0x7fff 0x8006" || because "host-0002 holds $(keys host-0002 1)" || return 1
	wait_for 20 groups_are "32774 32775 65535" || because "groups are $(groups | paste -sd ',')" || return 1
	# Of at most five groups at the same time.
	[ "$(groups | awk '$2 > most { most = $2 } END { print most - 49152 }')" -lt 5 ] ||
		because "MLIDs are $(groups | cut -d ' ' -f 2 | paste -sd ' '): some were not given back"
}

groups_are() {
	[ "$(groups | cut -d ' ' -f 1 | paste -sd ' ')" = "$1" ]
}

# The last good file stays in force; tests/system/attack-store.sh tests this in detail.
bad_file_at_the_start() {
	local before

	before="$(keys host-0001 1), $(keys host-0002 1)"
	stop file >/dev/null
	echo 'red=0x6 ALL' >good.conf
	starts file host-0001 -o "partition_config_file=\"$PWD/good.conf\"" || return 1
	matches 'good.conf:[12]: .*; the last good file, of' file.log || because "the log does not say so" || return 1
	equal "the keys of the manager and of host-0002" "$(keys host-0001 1), $(keys host-0002 1)" "$before" || return 1
	stop file >/dev/null
}

# A file was in force with this state directory, and now its path is misspelt.
lost_file_opens_nothing() {
	local before

	before="$(keys host-0001 1), $(keys host-0002 1)"
	starts file host-0001 -o 'partition_config_file="god.conf"' || return 1
	matches 'good.conf: the partition file that was in force is missing; the last good file, of' file.log ||
		because "the log does not say so" || return 1
	equal "the keys of the manager and of host-0002" "$(keys host-0001 1), $(keys host-0002 1)" "$before" || return 1
	equal "the output of status" "$(status file '$_->{partitions}{source} =~ /the last good file/ ? 1 : 0')" 1 || return 1
	stop file >/dev/null
	starts file host-0001 -o 'partition_config_file=""' || return 1
	wait_for 20 holds host-0002 1 0xffff || because "after the command host-0002 holds $(keys host-0002 1)" || return 1
	matches 'REMOVES THESE P_KEYS NOW.*; to keep them set .* in force here, /.*/good.conf$' file.log ||
		because "the log does not name the file: $(grep 'REMOVES THESE' file.log)" || return 1
	stop file >/dev/null
	starts file host-0001 -o 'partition_config_file="god.conf"' || return 1
	equal "full access of all ports afterwards" "$(status file '$_->{partitions}{open} ? 1 : 0')" 1
}

# Ports have P_Keys of another manager, and this manager has neither a file nor a store.
keys_of_another_manager() {
	local ports=43 # of 31 hosts and 12 switches; host-0001 keeps what it had

	stop file >/dev/null
	printf 'Default=0x7fff, ipoib: ALL=limited, SELF=full;\nred=0x6: %s=full, %s=limited;\n' \
		"${guid[host-0002]}" "${guid[host-0003]}" >other.conf
	starts other host-0001 -o "partition_config_file=\"$PWD/other.conf\"" || return 1
	wait_for 20 holds host-0002 1 "0x7fff 0x8006" && wait_for 20 holds host-0003 1 "0x0006 0x7fff" ||
		because "the other one did not give host-0002 its keys: $(keys host-0002 1)" || return 1
	equal "foreign keys with a file" "$(status other '$_->{partitions}{foreign_ports}')" 0 || return 1
	stop other >/dev/null
	starts anew host-0001 -o 'partition_config_file="none.conf"' || return 1
	matches "^WARNING sm: $ports ports hold P_Keys that this configuration does not contain, 3 different keys" anew.log ||
		because "the log does not say so: $(grep WARNING anew.log)" || return 1
	equal "ports that status counts" "$(status anew '$_->{partitions}{foreign_ports}')" $ports || return 1
	equal "P_Keys that status counts" "$(status anew '$_->{partitions}{foreign_p_keys}')" 3 || return 1
	matches "$ports ports lost 3 P_Keys that the configuration does not assign" <("$BUILD/weftctl" -s anew.run/control.sock status) ||
		because "weftctl status does not say so" || return 1
	wait_for 20 holds host-0002 1 0xffff || because "host-0002 holds $(keys host-0002 1)"
}

late_has_its_group() {
	ctl many multicast list >late.json && matches 'ff12:401b:e001' late.json
}

# A switch has room for 1,024 groups here, and as many partitions of the file have a group.
no_mlid_is_left() {
	local i

	printf 'Default=0x7fff, ipoib: ALL=full;\n' >many.conf
	for ((i = 1; i < 1024; i++)); do
		printf 'p%d=0x%x, ipoib: NONE;\n' "$i" "$i"
	done >>many.conf
	stop anew && starts many host-0001 -o 'partition_config_file="many.conf"' || return 1
	! ctl many partition add 0x6001 late --ipoib >late.json && matches 'no MLID is left for its broadcast group' \
		late.json || because "partition add says $(cat late.json)" || return 1
	"$BUILD/weftctl" -s many.run/control.sock partition add 0x6002 --ipoib >late.txt
	matches '^  warning: no MLID is left' late.txt || because "partition add says $(cat late.txt)" || return 1
	ctl many partition add 0x6003 none >late.json && matches '"warnings": \[\]' late.json ||
		because "a partition without ipoib: $(cat late.json)" || return 1
	sed -i '/^p1=/d' many.conf # whose group gives its MLID back
	ctl many config reload >/dev/null || because "config reload fails" || return 1
	wait_for 10 late_has_its_group || because "its group is not made" || return 1
	stop many
}

if start_weftsim fattree:radix=8,levels=2; then
	check "no file: full access of all ports" first_start
	check "a member is added, on its port alone" member_added
	check "a node with one port, and names, are members" node_has_one_port
	check "a repeated playbook changes nothing" repeated
	check "100,000 members in one request" many_members
	check "smpquery sees it" tools_agree
	check "a wrong command has no effect" bad_words
	check "two commands at once" both_at_once
	check "a restart remembers and writes nothing" restart_remembers
	check "members and partition are removed" member_removed
	check "a file is read" file_is_read
	check "pings follow commands at once" pings_follow_commands
	check "so do the answers of the SA" sa_follows_commands
	check "a bad file changes nothing" bad_file_changes_nothing
	check "a file that cuts off many ports is refused" file_that_cuts_off_is_refused
	check "a partition check without a daemon" check_without_daemon
	check "two files at once, and a member" two_files_at_once
	check "a bad file at the start opens nothing" bad_file_at_the_start
	check "a file that is lost opens nothing" lost_file_opens_nothing
	check "unmanaged P_Keys are logged before their removal" keys_of_another_manager
	check "no MLID is left for a partition's group" no_mlid_is_left
else
	check "weftsim starts" false
fi
finish
