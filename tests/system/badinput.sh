#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Invalid input: weftd and weftsim print one clear line with the reason and end. If weftd can continue, it counts and
# logs the fault and continues.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

# refuses STATUS PATTERN ARGUMENT...: weftd ends with this status and one matching line.
refuses() {
	local wanted=$1 pattern=$2 status

	shift 2
	weftd refused host-0001 "$@"
	status=$?
	equal "the exit status" $status "$wanted" || return 1
	matches "$pattern" refused.log || because "it says: $(head -n 3 refused.log)" || return 1
	# Errors of getopt are followed by a hint.
	equal "the number of lines it says" "$(grep -vc '^weftd: --help lists the options$' refused.log)" 1
}

# with_conf TEXT COMMAND...: with this configuration file.
with_conf() {
	local conf=$work/bad.conf

	printf '%s\n' "$1" >"$conf"
	shift
	"$@"
}

# goes_on PATTERN ARGUMENT...: weftd brings the subnet up all the same, and its log has a matching line.
goes_on() {
	local pattern=$1 status

	shift
	weftd went host-0001 --once "$@"
	status=$?
	matches "$pattern" went.log || because "it says: $(head -n 3 went.log)" || return 1
	equal "the exit status" $status 0
}

# as_nobody COMMAND...: weftd runs as a user without rights.
as_nobody() {
	local -a runner=(setpriv --reuid 65534 --regid 65534 --clear-groups)

	"$@"
}

# in_small_folder KIB COMMAND...: weftd has a disk of this size for $work/small.
in_small_folder() {
	# shellcheck disable=SC2016 # for the inner shell
	local -a runner=(unshare --mount sh -c 'mount -t tmpfs -o size=$0 none small && exec "$@"' "$1k")

	mkdir -p small
	"${@:2}"
}

no_text_at_all() {
	head -c 3000 /bin/sh >binary.conf && mkdir -p folder.conf && truncate -s 100M huge.conf && mkfifo pipe.conf || return 1
	conf=binary.conf refuses 1 'binary.conf: not a text file: it has a zero byte' || return 1
	conf=folder.conf refuses 1 'folder.conf: Is a directory' || return 1
	conf=huge.conf refuses 1 'huge.conf: it is larger than the limit of 256 KiB' || return 1
	conf=pipe.conf refuses 1 'pipe.conf: it is a pipe, which cannot be read again .name a file.' || return 1
	conf=/dev/null refuses 1 'partition_config_file: .*pipe.conf: it is a pipe' --check-config -o "partition_config_file=\"$work/pipe.conf\""
}

# For two options that conflict the message names both, or the missing option.
contradictions() {
	local guid

	goes_on 'started on ibsim0 port 1, GUID' || return 1
	guid=$(sed -n 's/.* port 1, GUID \(0x[0-9a-f]*\);.*/\1/p' went.log)
	refuses 1 "port_guid $guid is port 1 of ibsim0, which the options ca and port do not name: leave out" -g "$guid" -p 2 || return 1
	refuses 1 "port_guid $guid is port 1 of ibsim0, which" -g "$guid" -d nosuch || return 1
	refuses 1 'ha_listen needs ha_psk_file' -o 'ha_listen="127.0.0.1"' || return 1
	refuses 1 'durability = "standby" needs ha_listen or ha_inband' -o 'durability="standby"' -o ha_inband=false || return 1
	refuses 1 'sm_lid = 5 is not a multiple of 2\^lmc, as 4 is' -o lmc=2 -o sm_lid=5 || return 1
	refuses 1 'm_key_mode: keys of ports are derived: m_key_secret_file is needed' -o 'm_key_mode="port"' || return 1
	refuses 1 'm_key_mode: m_key, or m_key_secret_file, is needed' -o 'm_key_mode="subnet"'
}

runtime_folders() {
	local long

	long=$(printf 'x%.0s' {1..120})
	refuses 1 'control.sock: no control socket: File name too long .set --runtime-dir .*, of at most 94 bytes' \
		--runtime-dir "$work/$long" || return 1
	long=$work/${long:0:91-${#work}}
	refuses 1 'control-ro.sock: no read-only control socket: File name too long .*, here of at most 91 bytes' \
		--runtime-dir "$long" -o 'readonly_socket="*"' || return 1
	: >file
	refuses 1 'file/control.sock: no control socket: Not a directory' --runtime-dir "$work/file"
}

# A manager without a state directory is better than a subnet without a manager.
state_folders() {
	mkdir -p state.garbage state.folder/weft.db && head -c 5000 /dev/urandom >state.garbage/weft.db || return 1
	goes_on 'weft.db degraded: Not a directory; .*--state-dir' --state-dir "$work/file" || return 1
	goes_on 'weft.db degraded: not a regular file; .*--state-dir' --state-dir "$work/state.folder" || return 1
	goes_on 'cannot create its directory: No such file or directory; .*--state-dir' --state-dir "$work/none/state" || return 1
	goes_on 'weft.db is damaged \(file is not a database\): kept as .*damaged-1, and rewritten with the 0 readable records' \
		--state-dir "$work/state.garbage" || return 1
	cmp -s <(head -c 5000 state.garbage/weft.db.damaged-1) state.garbage/weft.db.damaged-1 || because "the damaged file is not kept"
}

# A version is a number of the file's own, at byte 60 of its head.
newer_store() {
	local sum

	goes_on 'subnet up' --state-dir "$work/state.newer" || return 1
	printf '\143' | dd of=state.newer/weft.db bs=1 seek=63 conv=notrunc status=none
	sum=$(sha256sum <state.newer/weft.db)
	goes_on 'degraded: the file has version 99 of a newer weftd; this weftd knows versions up to [0-9]+;' --state-dir "$work/state.newer" || return 1
	equal "the file" "$(sha256sum <state.newer/weft.db)" "$sum"
}

nobodys_rights() {
	chmod 711 "$work" && chmod 777 . && mkdir -m 755 root.state root.run && mkdir -m 700 barred &&
		echo 'lmc = 0;' >barred/a.conf && install -m 600 barred/a.conf secret.conf || return 1
	conf=$work/secret.conf as_nobody refuses 1 'secret.conf: permission denied: user nobody cannot read it .chgrp nogroup it and chmod 640' ||
		return 1
	conf=$work/barred/a.conf as_nobody refuses 1 "cannot enter directory $work/barred .move the file" || return 1
	as_nobody refuses 1 'root.run/control.sock: no control socket: Permission denied .set --runtime-dir' \
		--runtime-dir "$work/root.run" || return 1
	as_nobody goes_on 'root.state/weft.db degraded: Permission denied; .*--state-dir' --state-dir "$work/root.state" || return 1
	goes_on 'subnet up' --state-dir "$work/root.state" && chmod 644 root.state/weft.db || return 1
	as_nobody goes_on 'root.state/weft.db degraded: Permission denied; .*--state-dir' --state-dir "$work/root.state"
}

full_disk() {
	in_small_folder 12 goes_on 'small/weft.db degraded: .*(No space|disk is full).*--state-dir' --state-dir "$work/small"
}

# sim_refuses STATUS PATTERN ARGUMENT...: weftsim ends with this status and one matching line.
sim_refuses() {
	local wanted=$1 pattern=$2 status

	shift 2
	timeout 20 "$BUILD/weftsim" "$@" >sim.out 2>&1 </dev/null
	status=$?
	equal "the exit status" $status "$wanted" || return 1
	matches "$pattern" sim.out || because "it says: $(head -n 3 sim.out)" || return 1
	equal "the number of lines it says" "$(wc -l <sim.out)" 1
}

# with_net TEXT COMMAND...: with this net file as bad.net.
with_net() {
	printf '%s\n' "$1" >bad.net
	shift
	"$@"
}

without_rights() {
	local preload

	preload=$(preload_library deny_umad) || because "the preload library does not compile" || return 1
	refuses 1 'cannot open the umad device of ibsim0 port 1: Permission denied' --once
}

second_one() {
	start_weftd first host-0001 && wait_for 20 is_up first || because "$(tail -n 1 first.log)" || return 1
	refuses 1 'first.run/control.sock: another weftd serves this socket' --runtime-dir "$work/first.run" || return 1
	is_up first || because "the first manager is $(status first '$_->{role}, $_->{state}')" || return 1
	matches "weftd [0-9.]*.* started on .* port 1, .*configuration .*, state in $work/first.state" first.log ||
		because "it does not say that it begins: $(head -n 1 first.log)" || return 1
	stop first && matches 'weftd: ends: SIGTERM' first.log || because "it does not say why it ends"
}

check "a SPEC of too many LIDs" sim_refuses 1 \
	'fattree:radix=64,levels=3: 65536 hosts \+ 5120 switches need 70656 LIDs, but a subnet has 49151' \
	topology fattree:radix=64,levels=3
check "a SPEC of too many ports" sim_refuses 1 'mesh:dims=3x3,hosts=251: .*hosts=251 \+ 4 links.* need 255 ports' \
	topology mesh:dims=3x3,hosts=251
check "a SPEC with a number out of range" sim_refuses 1 'single:hosts=255: .*hosts=255.*1 to 254' \
	topology single:hosts=255
check "a SPEC of no known topology" sim_refuses 1 'no topology is called "tree"' topology tree:radix=4
check "no SPEC at all" sim_refuses 2 'one SPEC is needed' topology
check "a net file with a port that is not there" with_net $'Switch 8 "S"\n[1] "A"[1]\n\nCa 1 "A"\n[2] "S"[1]' \
	sim_refuses 1 'bad.net:5: "A" has the ports 1 to 1' serve bad.net
check "a net file whose ends differ" with_net $'Switch 8 "S"\n[1] "A"[1]\n\nCa 1 "A"\n[1] "S"[2]' \
	sim_refuses 1 'bad.net:2: .*which is linked to port 2' serve bad.net
check "a net file that is none" with_net 'hello' sim_refuses 1 'bad.net:1: .*no keyword' serve bad.net
check "a net file that is not there" sim_refuses 1 'absent.net: No such file' serve ./absent.net

start_fabric single:hosts=4 || exit 1
check "no such adapter" refuses 1 'no InfiniBand adapter nosuch' --once -d nosuch
check "a start that fails makes no store" test ! -e refused.state
check "no such port" refuses 1 'no adapter with an InfiniBand port of that number' --once -p 9
check "no such GUID" refuses 1 'no InfiniBand port with GUID 0x0000000000001234' --once -g 0x1234
check "no rights on the device" without_rights
check "an unknown option in the configuration" with_conf $'sm_priority = 3;\nsm_priorty = 5;' \
	refuses 1 'bad.conf:2: sm_priorty: no such option; did you mean sm_priority'
check "a value out of its range" with_conf 'sm_priority = 16;' \
	refuses 1 'bad.conf:1: sm_priority: 16 is outside 0\.\.15'
check "a line that is no configuration" with_conf $'\n\nsm_priority = ;' refuses 1 'bad.conf:3: syntax error'
check "--check-config: a bad file" with_conf 'role = "boss";' refuses 1 'bad.conf:1: role: ' --check-config
check "--check-config: a good file" with_conf 'sm_priority = 9;' refuses 0 'configuration ok' --check-config
conf=$work/absent.conf check "a configuration file that is not there" refuses 1 'absent.conf: No such file'
check "-o without a value" refuses 2 '-o nonsense: NAME=VALUE is expected' -o nonsense
check "-o with an unknown name" refuses 2 '-o nosuch: no such option' -o nosuch=1
check "-o out of range" refuses 2 '-o sm_priority: 16 is outside' -o sm_priority=16
check "an unknown option" refuses 2 "unrecognized option '--bogus'" --bogus
check "an unexpected argument" refuses 2 'unexpected argument "extra"' extra
check "a runtime folder that cannot be" refuses 1 '/proc/nosuch/control.sock: no control socket' \
	--runtime-dir /proc/nosuch
check "configuration files that are no text" no_text_at_all
check "options that contradict each other" contradictions
check "runtime folders that cannot be" runtime_folders
check "state folders that cannot be: it goes on" state_folders
check "a store of a newer version: it goes on, and leaves it" newer_store
if [ -n "${SANITIZE:-}" ]; then
	echo "skip rights that are missing: the preload library and sanitizers exclude each other"
elif ! setpriv --reuid 65534 --regid 65534 --clear-groups "$BUILD/weftd" --version >/dev/null 2>&1; then
	echo "skip rights that are missing: no other user may run $BUILD/weftd"
else
	check "rights that are missing on files and folders" nobodys_rights
fi
if unshare --mount true 2>/dev/null; then
	check "a state folder on a full disk: it goes on" full_disk
else
	echo "skip a full disk: no mount namespace here"
fi
check "a second weftd on the same socket" second_one
stop_fabric

# Odd fabrics

# fabric_runs NET HOST: a daemon there is MASTER.
fabric_runs() {
	start_fabric "$1" && start_weftd odd "$2" -o sweep_interval=1 || return 1
	wait_for 20 is_up odd || because "weftd is $(status odd '$_->{role}, $_->{state}')"
}

# A fault of the fabric is reported once: all sweeps after the first write nothing.
stays_quiet() {
	local kind

	ctl odd sweep light >sweep.json || because "weftctl sweep failed" || return 1
	for kind in light light full light; do
		ctl odd sweep $kind >sweep.json || because "weftctl sweep failed" || return 1
		equal "the number of Set() in a $kind sweep" "$(json '$_->{sets}' <sweep.json)" 0 || return 1
	done
}

links_are() {
	equal "the number of Active links" \
		"$(ctl odd link list | json 'scalar grep { $_->{state} eq "ACTIVE" } @$_')" "$1"
}

# counted NAME PATTERN: an anomaly in the counts of status and in the log.
counted() {
	[ "$(status odd "\$_->{anomalies}{$1}")" -gt 0 ] || because "status counts none of $1" || return 1
	matches "$2" odd.log || because "the log does not tell"
}

# told_once PATTERN: once in the log, after any number of sweeps.
told_once() {
	equal "the number of lines in the log" "$(grep -c "$1" odd.log)" 1
}

odd_ends() {
	[ -z "${pids[odd]:-}" ] || stop odd || because "weftd ends with status $?"
}

done_with() {
	check "$1: weftd ends cleanly" odd_ends
	stop_fabric
}

host_cabled_to_itself() {
	printf '%s\n' 'Switch 8 "S"' '[1] "A"[1]' '[2] "B"[1]' '' 'Hca 1 "A"' '[1] "S"[1]' '' \
		'Hca 3 "B"' '[1] "S"[2]' '[2] "B"[3]' '[3] "B"[2]' >itself.net
	# That cable cannot be reached, because a host forwards nothing.
	fabric_runs itself.net A && links_are 2 && stays_quiet
}

manager_cabled_to_itself() {
	printf '%s\n' 'Hca 2 "A"' '[1] "A"[2]' '[2] "A"[1]' >loop.net
	fabric_runs loop.net A && counted self_links 'port 1 of "A" is cabled to port 2 of the same device' &&
		stays_quiet
}

switch_cabled_to_itself() {
	printf '%s\n' 'Switch 8 "S"' '[1] "A"[1]' '[2] "B"[1]' '[3] "S"[4]' '[4] "S"[3]' '' 'Hca 1 "A"' '[1] "S"[1]' \
		'' 'Hca 1 "B"' '[1] "S"[2]' >loop.net
	fabric_runs loop.net A && counted self_links 'port [34] of "S" is cabled to port [34] of the same device' &&
		links_are 2 && stays_quiet && told_once 'is cabled to port . of the same device'
}

one_guid_twice() {
	start_fabric single:hosts=4 || return 1
	console 'Guid "host-0003" 0x0277656601000200'
	console 'Guid "host-0003"[1] 0x0277656601000201'
	start_weftd odd host-0001 -o sweep_interval=1 && wait_for 20 is_up odd ||
		because "weftd is $(status odd '$_->{role}, $_->{state}')" || return 1
	counted duplicate_guids 'duplicate GUID 0x0277656601000200' && links_are 3
}

# Two devices with different node GUIDs, of which two ports have the same GUID: the simulator numbers ports from the
# node GUID on.
port_guid_twice() {
	printf '%s\n' 'Switch 8 "S"' '[1] "A"[1]' '[2] "B"[1]' '[3] "C"[2]' '' 'Hca 1 "A"' '[1] "S"[1]' '' \
		'caguid=0x5000' 'Hca 2 "B"' '[1] "S"[2]' '' 'caguid=0x4fff' 'Hca 2 "C"' '[2] "S"[3]' >twice.net
	fabric_runs twice.net A && counted duplicate_guids 'duplicate GUID 0x0000000000005001'
}

nothing_there() {
	printf '%s\n' 'Hca 1 "A"' >alone.net
	start_fabric alone.net || return 1
	weftd once A --once
	equal "the exit status of --once" $? 1 || return 1
	matches 'cannot bring up the subnet: the link of ibsim0 port 1 is down' once.log ||
		because "it says $(tail -n 1 once.log)" || return 1
	start_weftd odd A || return 1
	wait_for 20 matches 'the link of ibsim0 port 1 is down' odd.log || because "it says nothing" || return 1
	runs odd || because "it did not go on"
}

back_to_back() {
	printf '%s\n' 'Hca 1 "A"' '[1] "B"[1]' '' 'Hca 1 "B"' '[1] "A"[1]' >pair.net
	fabric_runs pair.net A && links_active A 2 && lids_unique A 2 && stays_quiet
}

lids_collide() {
	"$BUILD/weftsim" topology single:hosts=4 | sed 's/lid 0/lid 7/g' >collide.net
	fabric_runs collide.net host-0001 && counted lid_conflicts 'LID 7 of .* belongs to another port' &&
		lids_unique host-0001 5 && links_active host-0001 8 && stays_quiet
}

lids_are_kept() {
	"$BUILD/weftsim" topology single:hosts=4 |
		sed '/^Ca.*host-0003/,/^$/ s/# lid 0/# lid 333/' >kept.net
	fabric_runs kept.net host-0001 || return 1
	equal "the LID of host-0003" \
		"$(ctl odd node list | json 'map { $_->{lid} } grep { $_->{description} eq "host-0003" } @$_')" 333 ||
		return 1
	lids_unique host-0001 5
}

own_link_fails() {
	fabric_runs single:hosts=4 host-0001 || return 1
	console 'Unlink "host-0001"[1]'
	wait_for 20 matches 'the link of ibsim0 port 1 is down' odd.log || because "it says nothing" || return 1
	runs odd || because "it did not go on"
}

own_link_returns() {
	console 'ReLink "host-0001"[1]'
	wait_for 30 is_up odd || because "weftd is $(status odd '$_->{role}, $_->{state}')" || return 1
	links_active host-0001 8 && lids_unique host-0001 5
}

own_link_is_down_first() {
	start_fabric single:hosts=4 || return 1
	console 'Unlink "host-0001"[1]'
	start_weftd odd host-0001 -o sweep_interval=1 || return 1
	wait_for 20 matches 'the link of ibsim0 port 1 is down' odd.log || because "it says nothing"
}

check "the manager's port cabled to itself: counted, logged" manager_cabled_to_itself
done_with "the manager's port cabled to itself"
check "a host cabled to itself: the rest comes up" host_cabled_to_itself
done_with "a host cabled to itself"
check "a switch cabled to itself: counted, logged, the rest comes up" switch_cabled_to_itself
done_with "a switch cabled to itself"
check "one GUID twice: counted, logged, the rest comes up" one_guid_twice &&
	check "one GUID twice: sweeps that follow leave it so" stays_quiet
done_with "one GUID twice"
check "one port GUID twice: counted, logged" port_guid_twice
done_with "one port GUID twice"
check "no cable at all: one line, and going on" nothing_there
done_with "no cable at all"
check "two hosts and no switch" back_to_back
done_with "two hosts and no switch"
check "LIDs that collide: counted, logged, made unique" lids_collide
done_with "LIDs that collide"
check "a LID that is free is kept" lids_are_kept
done_with "a LID that is free"
check "the manager's link fails: it says so and goes on" own_link_fails &&
	check "the manager's link returns" own_link_returns
done_with "the manager's link"
check "the manager's link is down from the start" own_link_is_down_first &&
	check "and comes up" own_link_returns
done_with "the manager's link, down from the start"
finish
