#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# weftctl events with the real programs on weftsim: cables, joins and partition commands as a follower sees them, a
# follower that resumes by number where another ended, a follower that does not read; and the read-only socket.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip events: weftsim's preload library and sanitizers do not go together"
	exit 0
fi

daemon_runs() {
	start_weftsim fattree:radix=4,levels=2 || return 1
	start_weftd daemon host-0001 -o 'readonly_socket="*"' || return 1
	wait_for 30 is_up daemon || because "weftd has no subnet: $(tail -n 1 daemon.log)"
}

# follow FILE OPTION...: a follower that writes to the file. With --since it misses nothing, whenever it begins.
follow() {
	local file=$1

	shift
	ctl daemon events --follow "$@" >"$file" 2>"$file.err" &
	pids[$file]=$!
}

# hears FILE PATTERN: a matching line of JSON.
hears() {
	wait_for 10 matches "$2" "$1" || because "no event like $2 in: $(tail -n 3 "$1")"
}

last_number() {
	sed -n 's/.*"number":\([0-9]*\).*/\1/p' "$1" | tail -n 1
}

bring_up_is_told() {
	ctl daemon events >all.txt || because "weftctl events fails" || return 1
	hears all.txt '"kind":"role".*"text":"DISCOVERING -> MASTER' && hears all.txt '"kind":"sweep"' || return 1
	equal "the numbers" "$(sed -n 's/.*"number":\([0-9]*\).*/\1/p' all.txt | paste -sd ' ')" \
		"$(seq -s ' ' "$(wc -l <all.txt)")" || return 1
	"$BUILD/weftctl" -s "$work/daemon.run/control.sock" events >text.txt
	matches '^ +1  20[0-9-]{8} [0-9:]{8}  role       DISCOVERING -> MASTER' text.txt || because "as text: $(head -n 1 text.txt)"
}

cable() {
	follow first.txt --since "$(last_number all.txt)"
	"$BUILD/weftsim" "do" "link down leaf-02 1" >do.txt
	hears first.txt '"kind":"link".*"node":".*"text":"link down: .*leaf-02' || return 1
	hears first.txt '"kind":"trap".*"text":"trap 128 from LID [0-9]+: a link of this switch changed"' || return 1
	hears first.txt '"kind":"port".*"text":"port disappeared"' || return 1
	"$BUILD/weftsim" "do" "link up leaf-02 1" >do.txt
	hears first.txt '"text":"link up: ' && hears first.txt '"text":"port appeared and is ACTIVE"'
}

join() {
	join_groups 1 1 3 || return 1
	hears first.txt '"kind":"multicast".*"text":"group ff12:401b:ffff::1, MLID 0xc0.., P_Key 0xffff: created"' &&
		hears first.txt '"kind":"multicast","level":"info","node":"host-[0-9]+","node_guid":"0x[0-9a-f]+","number":[0-9]+,"port":1,"port_guid":"0x.*"text":"joined group ff12:401b:ffff::1, JoinState 0x1"'
}

partition() {
	ctl daemon partition add 0x0005 blue >done.txt && ctl daemon partition member add 0x5 0x1234 >done.txt ||
		because "the partition is not made" || return 1
	hears first.txt '"kind":"partition".*"text":"partition 0x0005 ..blue..: created"' &&
		hears first.txt '"kind":"command".*"text":"user [^"]*uid [0-9]*., process [0-9]* .weftctl.: partition member add p_key=0x5 members=0x1234: done"' &&
		hears first.txt '"kind":"partition".*"port_guid":"0x0000000000001234","text":"full member of partition 0x0005"'
}

# A second follower resumes where the first ended: no event is missing or repeated.
resumed() {
	local last

	stop first.txt
	last=$(last_number first.txt)
	ctl daemon partition remove 0x5 >done.txt || because "the partition is not removed" || return 1
	follow second.txt --since "$last"
	hears second.txt '"text":"partition 0x0005 ..blue..: removed"' || return 1
	equal "the first number of the second" "$(sed -n '1 s/.*"number":\([0-9]*\).*/\1/p' second.txt)" $((last + 1)) || return 1
	ctl daemon partition add 0x0006 red >done.txt
	hears second.txt '"text":"partition 0x0006 ..red..: created"' || return 1
	ctl daemon events --since "$last" >rest.txt
	head -n "$(wc -l <second.txt)" rest.txt | diff - second.txt >difference.txt ||
		because "follower and list differ: $(head -n 3 difference.txt)"
}

# numbers FILE: the numbers of its events, which rise.
numbers() {
	sed -n 's/.*"number":\([0-9]*\).*/\1/p' "$1"
}

# A daemon that ends in order continues its numbers after a restart, and its followers resume.
restarted() {
	local last

	stop daemon && start_weftd daemon host-0001 -o 'readonly_socket="*"' && wait_for 30 is_up daemon ||
		because "weftd does not come back" || return 1
	wait_for 10 ended second.txt || because "the follower outlives the daemon" || return 1
	matches 'closed the connection before its answer was complete' second.txt.err || because "it says: $(cat second.txt.err)" || return 1
	last=$(last_number second.txt)
	ctl daemon events --since "$last" >anew.txt
	[ "$(numbers anew.txt | head -n 1)" -gt "$last" ] || because "numbers are repeated: $(head -n 1 anew.txt)" || return 1
	[ "$(numbers anew.txt | head -n 1)" -lt $((last + 50)) ] || because "numbers are skipped: $(head -n 1 anew.txt)"
}

# A daemon that is killed skips some numbers, and uses none twice. A follower that resumes after its last event gets a
# gap, and then all events of the new daemon.
killed() {
	local last

	follow before.txt --since "$(last_number anew.txt)"
	ctl daemon partition add 0x0007 green >done.txt
	hears before.txt '"text":"partition 0x0007 ..green..: created"' || return 1
	kill_now daemon
	wait_for 10 ended before.txt || because "the follower outlives the daemon" || return 1
	last=$(last_number before.txt)
	start_weftd daemon host-0001 -o 'readonly_socket="*"' && wait_for 30 is_up daemon ||
		because "weftd does not come back" || return 1
	follow after.txt --since "$last"
	ctl daemon partition remove 0x0007 >done.txt
	hears after.txt '"text":"partition 0x0007 ..green..: removed"' || return 1
	head -n 1 after.txt | grep -q "\"first\":$((last + 1)),\"kind\":\"gap\",\"last\":$(($(numbers after.txt | head -n 1) - 1)),"  ||
		because "no gap: $(head -n 1 after.txt)" || return 1
	hears after.txt '"kind":"role".*"text":"DISCOVERING -> MASTER' || return 1
	equal "the numbers that came twice" "$(cat all.txt first.txt before.txt after.txt | grep -v gap | sort -u |
		sed -n 's/.*"number":\([0-9]*\).*/\1/p' | sort | uniq -d)" ""
}

lost_numbers() {
	ctl daemon events --since 1000000000 >anew.txt
	head -n 1 anew.txt | grep -qE '"kind":"gap","newest":[0-9]+,"text":"the latest event is [0-9]+, and event 1000000000 does not exist' ||
		because "no gap: $(head -n 1 anew.txt)" || return 1
	follow later.txt --since 1000000000
	hears later.txt '"kind":"gap","newest":[0-9]+,"text":"the latest event is [0-9]+, and event' || return 1
	stop later.txt
	equal "the next event" "$(numbers anew.txt | head -n 1)" "$(ctl daemon events | numbers /dev/stdin | head -n 1)"
}

# shows PATTERN ARGUMENT...: all events that these options show match, and there is one.
shows() {
	local pattern=$1

	shift
	"$BUILD/weftctl" -s "$work/daemon.run/control.sock" events "$@" >shown.txt || because "events $*: fails" || return 1
	matches "$pattern" shown.txt || because "events $*: $(head -n 1 shown.txt)" || return 1
	! grep -vE "$pattern" shown.txt >others.txt || because "events $*: $(head -n 1 others.txt)"
}

filters() {
	shows '  (role|sweep)  ' --kind role,sweep && shows 'leaf-02' --node leaf-02 && shows '^ +[0-9]+  20' --since 1h || return 1
	shows ' link +link (up|down): .*leaf-02' --kind link --node leaf-02 || return 1
	shows '.' -n 3 && equal "the lines of -n 3" "$(wc -l <shown.txt)" 3 || return 1
	shows '  role  ' --kind role --lines 1 && equal "the lines of --lines 1" "$(wc -l <shown.txt)" 1 || return 1
	ctl daemon events --since 23:59:59 >shown.txt && equal "events of the future" "$(wc -l <shown.txt)" 0 || return 1
	! ctl daemon events --kind lnk >shown.txt 2>&1 || because "it accepts a kind that does not exist" || return 1
	matches '"lnk" is not a kind of event, or several with commas: role, standby' shown.txt || because "it says: $(cat shown.txt)"
}

# deaf: a client that sends a request, follows and never reads.
deaf_client() {
	exec perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, sockaddr_un($ARGV[0])) or die;
		setsockopt(S, SOL_SOCKET, SO_RCVBUF, 2048);
		send(S, "{\"command\":\"events\",\"follow\":true,\"since\":0}\n", 0); sleep 100' "$work/daemon.run/control.sock"
}

resident_kb() {
	sed -n 's/VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/${pids[daemon]}/status"
}

traps_received() {
	[ "$(status daemon '$_->{traps}{received}')" -ge "$1" ]
}

host_lid() {
	ctl daemon node list | json 'map { sprintf "%04x", $_->{lid} } grep { $_->{description} eq "host-0002" } @$_'
}

# many_traps NUMBER: this number of events of the kind trap. Trap 145 has no other effect.
many_traps() {
	local received

	received=$(status daemon '$_->{traps}{received}')
	on host-0002 "$work/attacker" -q -n "$1" -r 20000 sm 1 5 2 0 "64=840000010091$(host_lid)" >attacker.txt 2>&1 ||
		because "attacker: $(cat attacker.txt)" || return 1
	wait_for 20 traps_received $((received + $1)) || because "the traps do not come"
}

# The memory for a slow reader is limited to its socket and one portion: the daemon stores events in one place only.
# That place is full beforehand. Copies for each client would take 2 MB each.
slow_reader() {
	local memory more client

	many_traps 10000 || return 1
	memory=$(resident_kb)
	for client in deaf_1 deaf_2 deaf_3 deaf_4 deaf_5 deaf_6 deaf_7 deaf_8; do
		deaf_client &
		pids[$client]=$!
	done
	many_traps 10000 || return 1
	for _ in $(seq 50); do
		ctl daemon log level sm debug >done.txt
		ctl daemon log level default >done.txt
	done
	follow third.txt --since "$(ctl daemon events | last_number /dev/stdin)"
	ctl daemon log level sm debug >done.txt
	ctl daemon log level default >done.txt
	hears third.txt '"text":"log_level reset to the configured value"' || return 1
	ctl daemon events >all.txt
	[ "$(grep -c '"kind":"setting"' all.txt)" -eq 102 ] || because "not all were noted: $(wc -l <all.txt)" || return 1
	more=$(($(resident_kb) - memory))
	[ $more -lt 4096 ] || because "it costs $more KB" || return 1
	for client in deaf_1 deaf_2 deaf_3 deaf_4 deaf_5 deaf_6 deaf_7 deaf_8; do
		runs $client || because "a client is gone" || return 1
		kill_now $client
	done
	is_up daemon
}

only_looks() {
	local ro=$work/daemon.run/control-ro.sock

	equal "its mode" "$(stat -c %a "$ro")" 666 || return 1
	"$BUILD/weftctl" -s "$ro" --json status | grep -q '"role": "MASTER"' || because "status is refused" || return 1
	"$BUILD/weftctl" -s "$ro" events >looked.txt && [ -s looked.txt ] || because "events are refused" || return 1
	for command in sweep reroute 'partition add 0x9' 'log level err' 'save -' 'config reload' 'route engine updn' 'keys rotate'; do
		# shellcheck disable=SC2086 # words are meant
		! "$BUILD/weftctl" -s "$ro" $command >refused.txt 2>refused.err || because "$command is not refused" || return 1
		matches "is not available on the read-only socket: use $work/daemon.run/control.sock" refused.err ||
			because "$command says: $(cat refused.err)" || return 1
	done
	ctl daemon partition list | grep -q 0x0009 && because "the partition was made all the same"
	return 0
}

wrong_group() {
	stop daemon
	! weftd wrong host-0001 -o 'readonly_socket="no-such-group"' || because "weftd starts" || return 1
	matches 'readonly_socket: no group "no-such-group"' wrong.log || because "$(tail -n 1 wrong.log)" || return 1
	[ ! -e "$work/daemon.run/control-ro.sock" ] || because "the socket stays behind"
}

"${CC:-cc}" -O2 -o attacker "$root/tests/system/attacker.c" -libumad || exit 1

check "a daemon" daemon_runs || finish
check "the bring-up is reported" bring_up_is_told
check "a cable that is pulled and put back" cable
check "a join" join
check "filters" filters
check "a partition" partition
check "a follower takes up by number" resumed
check "a daemon that starts again" restarted
check "a daemon that is killed" killed
check "a number that was never used" lost_numbers
check "a follower that does not read delays no other client" slow_reader
check "a socket that only looks" only_looks
check "a group that is not there" wrong_group
finish
