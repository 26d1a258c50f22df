#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# weftsim serve, run and do: each command of `do`, refusals, and badly behaved clients, while a subnet manager and a
# tool beside them work undisturbed.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

# The preload library stands before a sanitizer's.
if [ -n "${SANITIZE:-}" ]; then
	echo "skip weftsim: the preload library and sanitizers exclude each other"
	exit 0
fi

export WEFTSIM_SOCKET=$work/sim.sock
weftsim=$BUILD/weftsim

# start_server TOPOLOGY [ARGUMENT]...
start_server() {
	local topology=$1

	shift
	[ -z "${pids[server]:-}" ] || because "a server runs already" || return 1
	: >server.log
	"$weftsim" serve "$@" "$topology" >server.log 2>&1 &
	pids[server]=$!
	wait_for 20 server_decided
	matches '^ready ' server.log || because "it says $(tail -n 1 server.log)"
}

server_decided() {
	matches '^ready ' server.log || ! runs server
}

# asked COMMAND...: writes the server's answer to do.txt; returns its status.
asked() {
	"$weftsim" "do" "$@" >do.txt 2>do.err
}

# says PATTERN COMMAND: it succeeds, and a line of the answer matches.
says() {
	asked "$2" || because "'$2': $(cat do.err)" || return 1
	matches "$1" do.txt || because "'$2' says $(head -n 3 do.txt)"
}

# refused STATUS PATTERN ARGUMENT...: weftsim ends with this status and one matching line.
refused() {
	local wanted=$1 pattern=$2 status

	shift 2
	timeout 20 "$weftsim" "$@" >refused.txt 2>&1
	status=$?
	equal "the exit status" $status "$wanted" || return 1
	matches "$pattern" refused.txt || because "it says: $(head -n 3 refused.txt)"
}

# at NODE COMMAND...: a program there.
at() {
	local node=$1

	shift
	timeout 60 "$weftsim" run -n "$node" -- "$@"
}

# value NODE FILE: of its port 1.
value() {
	cat "$WEFTSIM_SOCKET.d/$1/sys/class/infiniband/weftsim0/ports/1/$2"
}

is_value() {
	[ "$(value "$1" "$2")" = "$3" ]
}

all_reached() {
	asked check
}

# The fabric and its manager

ready_line() {
	start_server fattree:radix=8,levels=2 || return 1
	equal "the line" "$(cat server.log)" "ready $WEFTSIM_SOCKET nodes=44 switches=12 links=64"
}

brought_up() {
	OSM_TMP_DIR=$work OSM_CACHE_DIR=$work "$weftsim" run -n host-0001 -- opensm -e -f "$work/osm.log" >osm.out 2>&1 &
	pids[opensm]=$!
	wait_for 30 says 'ports=32 pairs=992 reached=992 unreached=0 loops=0' check
}

files_live() {
	at host-0002 true || because "weftsim run fails" || return 1
	is_value host-0002 state '4: ACTIVE' || because "the state is $(value host-0002 state)" || return 1
	is_value host-0002 sm_lid 0x1 || because "sm_lid is $(value host-0002 sm_lid)" || return 1
	is_value host-0002 rate '100 Gb/sec (4X EDR)' || because "the rate is $(value host-0002 rate)" || return 1
	is_value host-0002 gids/0 fe80:0000:0000:0000:0277:6566:0100:0201 || because "$(value host-0002 gids/0)" || return 1
	asked 'link down host-0002 1' || because "$(cat do.err)" || return 1
	is_value host-0002 phys_state '2: Polling' || because "it is $(value host-0002 phys_state)" || return 1
	asked 'link up host-0002 1' || because "$(cat do.err)" || return 1
	wait_for 30 is_value host-0002 state '4: ACTIVE' || because "it does not come back"
}

# own_files NODE[:PORT] FILES: a two-port adapter has two files of each kind, or those of the named port.
own_files() {
	at "$1" true || because "weftsim run fails" || return 1
	equal "the list of files" "$(ls "$WEFTSIM_SOCKET.d/$1/dev/infiniband" | tr '\n' ' ')" "$2 "
}

tables() {
	says '^ +1 +1$' 'lft leaf-01' || return 1
	says '^# LinearFDBTop 44$' 'lft leaf-01' || return 1
	says '0xffff full' 'pkeys host-0001 1' || return 1
	says '^leaf-01 \[1\] -> \[[5-8]\]$' 'path host-0001 host-0032' || return 1
	says '^host-0032 \[1\], LID [0-9]+: 3 switches$' 'path host-0001 host-0032:1' || return 1
	says ' 1 +Active +LinkUp +4x EDR .* host-0001 1$' 'show leaf-01' || return 1
	says 'PortInfo +[0-9]+ +[0-9]+' stats || return 1
	says '^ +1 +32 +[1-9]' clients
}

# Before any join; tests/unit/sim/test_do.c tests the contents of tables.
multicast() {
	says '^0 received it$' 'multicast 0xc123 host-0001' || return 1
	says '^$|^0x' 'mft leaf-01' || [ ! -s do.txt ] || because "mft says $(head -n 1 do.txt)"
}

reset_counts() {
	asked 'stats reset' 'stats' || because "$(cat do.err)" || return 1
	equal "the number of NodeDescription" "$(grep -c NodeDescription do.txt)" 0 || return 1
	says '^ +1 +32 +0$' clients
}

link_down_and_up() {
	asked 'link down leaf-01 5' || because "$(cat do.err)" || return 1
	says '^ +5 +Down .*\(pulled\)' 'show leaf-01' || return 1
	wait_for 30 all_reached || because "no way around: $(cat do.txt)" || return 1
	asked 'link up leaf-01 5' || because "$(cat do.err)" || return 1
	wait_for 30 says '^ +5 +Active' 'show leaf-01'
}

node_down_up_reboot() {
	asked 'node down host-0005' || because "$(cat do.err)" || return 1
	wait_for 30 says 'ports=31 pairs=930 reached=930' check || return 1
	asked 'node up host-0005' || because "$(cat do.err)" || return 1
	wait_for 30 says 'ports=32 pairs=992 reached=992' check || return 1
	asked 'node reboot leaf-02' || because "$(cat do.err)" || return 1
	wait_for 30 says 'ports=32 pairs=992 reached=992' check
}

# The files of a device, and their effect on a program; agents continue without their programs.
device_removed_and_added() {
	at host-0002 ibstat -l >before.txt && [ -s before.txt ] || because "ibstat names no device" || return 1
	asked 'device remove host-0002' || because "$(cat do.err)" || return 1
	at host-0002 ibstat -l >out.txt 2>&1
	equal "the devices" "$(cat out.txt)" "" || return 1
	equal "its remaining files" \
		"$(cd "$WEFTSIM_SOCKET.d/host-0002" && find . -type f)" ./sys/class/infiniband_mad/abi_version || return 1
	if at host-0002 smpquery nodedesc -D 0 >out.txt 2>&1; then
		because "smpquery finds a device" || return 1
	fi
	at host-0003 smpquery nodedesc -G 0x0277656601000201 >out.txt ||
		because "its agent does not answer: $(cat out.txt)" || return 1
	asked 'device add host-0002' || because "$(cat do.err)" || return 1
	equal "the devices" "$(at host-0002 ibstat -l)" "$(cat before.txt)" || return 1
	at host-0002 smpquery nodedesc -D 0,1 >out.txt || because "smpquery fails: $(cat out.txt)"
}

# counted NAME: stats has a number of this name.
counted() {
	says "^$1 +[1-9]" stats
}

faults() {
	asked 'stats reset' 'drop 100 leaf-03' || because "$(cat do.err)" || return 1
	at host-0002 smpquery -t 50 nodeinfo -G 0x0277656602000300 >out.txt 2>&1
	counted 'dropped by a fault' || return 1
	asked 'drop 0' 'delay 1000us' 'duplicate 100%' || because "$(cat do.err)" || return 1
	at host-0002 smpquery nodedesc -D 0,1 >out.txt || because "smpquery fails: $(cat out.txt)" || return 1
	counted delayed && counted duplicated || return 1
	asked 'delay 0' 'duplicate 0' || because "$(cat do.err)"
}

# libibmad matches an answer by its transaction ID, with any modifier.
habits() {
	asked 'behave no-bit-31 leaf-03' 'behave list' || because "$(cat do.err)" || return 1
	at host-0002 smpquery -t 50 portinfo -G 0x0277656602000300 1 >out.txt || because "$(cat out.txt)" || return 1
	asked 'behave truthful' || because "$(cat do.err)" || return 1
	asked 'behave truthfull' && because "an unknown habit is taken"
	grep -q 'did you mean truthful' do.err
}

traps() {
	asked 'stats reset' 'trap 144 host-0007 1' || because "$(cat do.err)" || return 1
	wait_for 20 counted traps
}

# From --help and from the manual: the options, and the first words of the commands of weftsim do.

options_in() {
	grep -oE -- '(^|[^a-z0-9])--?[a-z][a-z0-9-]*' | sed 's/^[^-]*//' | sort -u
}

# manual SECTION: without the escapes of roff.
manual() {
	tr -d '\\' <"$root/man/weftsim.1" | sed -n "/^\.SH $1/,/^\.SH/ p"
}

manual_agrees() {
	"$BUILD/weftsim" --help | sed '/^A SPEC is/,$ d' | options_in >options.txt
	[ "$(wc -l <options.txt)" -gt 7 ] || because "--help lists $(wc -l <options.txt) options" || return 1
	equal "how --help (<) and the synopsis of weftsim(1) (>) differ" \
		"$(diff options.txt <(manual SYNOPSIS | options_in) | grep '^[<>]' | paste -sd ';')" "" || return 1
	equal "how --help (<) and the options of weftsim(1) (>) differ" \
		"$(diff <(grep -vxE -- '--help|--version' options.txt) <(manual OPTIONS | grep '^\.BI* -' | options_in) | grep '^[<>]' | paste -sd ';')" "" || return 1
	"$BUILD/weftsim" "do" --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' | sort -u >words.txt
	[ "$(wc -l <words.txt)" -gt 15 ] || because "do --help lists $(wc -l <words.txt) commands" || return 1
	equal "how do --help (<) and the commands of weftsim(1) (>) differ" \
		"$(diff words.txt <(manual 'COMMANDS OF' | sed -n 's/^\.B[A-Z]* \([a-z][a-z]*\).*/\1/p' | sort -u) | grep '^[<>]' | paste -sd ';')" ""
}

# The names of patterns and options of loads, from help and from the manual.
manual_has_loads() {
	asked 'load help' || because "$(cat do.err)" || return 1
	sed -n 's/^  \([a-z][a-z-]*\).*/\1/p' do.txt | sort -u >words.txt
	[ "$(wc -l <words.txt)" -gt 20 ] || because "load help lists $(wc -l <words.txt) words" || return 1
	equal "how load help (<) and weftsim(1) (>) differ" \
		"$(diff words.txt <(manual LOADS | grep -A1 '^\.TP' | sed -n 's/fR//g; s/fP//g; s/", "/ /g; s/~/ /g; s/^\.B[A-Z]* //p' |
			grep -oE '(^| )[a-z][a-z-]+(=|$| )' | tr -d ' =,' | sort -u) | grep '^[<>]' | paste -sd ';')" ""
}

check "--help and the manual have the same options and commands" manual_agrees
check "serve: the line it prints" ready_line || finish
check "load help and the manual have the same words" manual_has_loads
check "opensm brings it up, and check sees all pairs" brought_up || finish
check "the files of a node follow its port" files_live
check "lft, pkeys, path, show, stats" tables
check "mft, multicast" multicast
check "stats reset" reset_counts
check "link down, link up" link_down_and_up
check "node down, up, reboot" node_down_up_reboot
check "device remove, add" device_removed_and_added
check "drop, delay, duplicate" faults
check "behave" habits
check "trap" traps
check "GUIDs and LIDs are names, too" says '^host-0001: adapter' 'show 0x0277656601000100'

# As ^Z and `bg` of a shell do, and a debugger.
stopped_and_continued() {
	kill -STOP "${pids[server]}"
	wait_for 20 grep -q '^State:.T' "/proc/${pids[server]}/status" || because "it does not stop" || return 1
	kill -CONT "${pids[server]}"
	all_reached || because "$(tail -n 1 server.log)"
}
check "it survives being stopped and continued" stopped_and_continued

# Refusals

check "do: an unknown command" refused 2 'no command is called "lnik"; did you mean link\?' "do" 'lnik down leaf-01 1'
check "do: words missing" refused 2 "link has 1 argument; usage: 'link down\|up NODE PORT'" "do" 'link down'
check "do: a word that is none of those" refused 1 '"dwon" is none of .*; did you mean down' "do" 'link dwon leaf-01 1'
check "do: an unknown node" refused 1 'no node has the name, GUID or LID "leaf-0"; did you mean leaf-0' "do" 'show leaf-0'
check "do: a port that is not there" refused 1 'leaf-01 has no port "99"; its ports are 0 to 8' "do" 'link down leaf-01 99'
check "do: a switch's own port has no cable" refused 1 'port 0 of leaf-01' "do" 'link down leaf-01 0'
check "do: a percentage that is none" refused 1 'drop: "101" is no number of 0 to 100' "do" 'drop 101'
check "do: a table of an adapter" refused 1 'host-0001 is no switch' "do" 'lft host-0001'
check "do: a trap that there is not" refused 1 'has no trap 999' "do" 'trap 999 host-0001 1'
check "do: a multicast LID that is none" refused 1 '"5" is no multicast LID' "do" 'multicast 5 host-0001'
check "do: the first refusal ends it" refused 1 'no node' "do" 'show nosuch' 'link down host-0001 1'
check "run: an unknown node" refused 1 'no node has the name, GUID or LID "host-9999"' run -n host-9999 -- true
check "run: a command that is not there" refused 1 'cannot execute /nosuch' run -- /nosuch
check "run: no command" refused 2 'a COMMAND is needed' run
check "serve: a second server on the socket" refused 1 'sim.sock: another weftsim serves here' serve single:hosts=2
check "serve: no socket there" refused 1 'this is no socket' serve -s "$work/server.log" single:hosts=2
check "serve: a name that is too long" refused 1 'too long' serve -s "/tmp/$(printf '%0100d' 0)" single:hosts=2
check "serve: no TOPOLOGY" refused 2 'one TOPOLOGY is needed' serve
check "serve: a SPEC that cannot be" refused 1 'no file has this name' serve -s "$work/x.sock" nosuch:a=1
printf '%s\n' 'Switch 4 "S"' '[1] "A"[1' >bad.net
check "serve: a net file with a fault" refused 1 'bad.net:2: ' serve -s "$work/x.sock" bad.net
check "serve: a number that is none" refused 2 '--smp-us: "1x" is no number' serve --smp-us 1x single:hosts=2
check "serve: a time to pass that is none" refused 2 '--smp-transit-us: "x" is no number' \
	serve --smp-transit-us x single:hosts=2
check "serve: an unknown option" refused 2 '^weftsim: .*--frob' serve --frob single:hosts=2
WEFTSIM_SOCKET=$work/absent.sock check "do: no server" \
	refused 1 'no server at .*absent.sock .*; start one with `weftsim serve`' "do" check
WEFTSIM_SOCKET=$work/absent.sock check "run: no server" \
	refused 1 'no server at .*absent.sock .*; start one with `weftsim serve`' run -- true

# Badly behaved clients

others_unaffected() {
	runs server || because "the server is gone" || return 1
	runs opensm || because "opensm is gone" || return 1
	all_reached || because "$(cat do.txt do.err)" || return 1
	at host-0003 smpquery nodedesc -D 0,1 >out.txt 2>&1 || because "smpquery: $(cat out.txt)" || return 1
	equal "the number of nodes in the SA" "$(at host-0003 saquery 2>saquery.err | grep -c NodeRecord)" 44
}

# descriptors: of the server.
descriptors() {
	find "/proc/${pids[server]}/fd" -mindepth 1 | wc -l
}

# Earlier programs may still be ending when the descriptors are first counted.
has_no_more_descriptors() {
	[ "$(descriptors)" -le "$1" ]
}

# rude BEHAVIOUR: runs it to its end; the server must keep nothing of it.
rude() {
	local before

	before=$(descriptors)
	timeout 60 ./rude "$WEFTSIM_SOCKET" "$1" >rude.txt || because "$(tail -n 1 rude.txt)" || return 1
	wait_for 20 has_no_more_descriptors "$before" || because "$(descriptors) descriptors, not $before" || return 1
	others_unaffected
}

silent_flooder() {
	./rude "$WEFTSIM_SOCKET" flood >flood.txt &
	pids[flooder]=$!
	wait_for 60 matches "done" flood.txt || because "$(tail -n 1 flood.txt)" || return 1
	wait_for 30 counted 'programs: dropped unread' || return 1
	others_unaffected || return 1
	kill_now flooder
	others_unaffected
}

# With delays, so that RMPP is under way when its reader disappears.
vanishing() {
	asked 'delay 3000' || because "$(cat do.err)" || return 1
	timeout 60 ./rude "$WEFTSIM_SOCKET" vanish >rude.txt || because "$(tail -n 1 rude.txt)" || return 1
	asked 'delay 0' || because "$(cat do.err)" || return 1
	others_unaffected
}

"${CC:-cc}" -I"$root" -O2 -D_GNU_SOURCE -o rude "$root/tests/system/rude.c" || exit 1
check "clients that greet badly" rude greet
check "clients that write badly" rude write
check "a client that floods and reads nothing" silent_flooder
check "clients that vanish in the middle of RMPP" vanishing

# The end

leaves_nothing() {
	stop opensm || because "opensm ends with status $?" || return 1
	stop server || because "it ends with status $?" || return 1
	[ ! -e "$WEFTSIM_SOCKET" ] && [ ! -e "$WEFTSIM_SOCKET.d" ] || because "it leaves $(ls -d "$WEFTSIM_SOCKET"*)"
}

# The files of a killed server disturb nothing.
after_kill() {
	start_server single:hosts=2 && at host-0001 true || return 1
	kill_now server
	[ -e "$WEFTSIM_SOCKET" ] || because "nothing was left: the test shows nothing" || return 1
	start_server single:hosts=3 || return 1
	[ ! -e "$WEFTSIM_SOCKET.d/host-0001" ] || because "the old files are still there" || return 1
	stop server
}

# A server that ends may have thousands of files to remove: it holds its lock, and its socket is gone.
after_one_that_ends() {
	mkdir "$WEFTSIM_SOCKET.d" || return 1
	flock "$WEFTSIM_SOCKET.d" sleep 0.5 &
	pids[ending]=$!
	wait_for 20 locked || because "the lock is not there: the test shows nothing" || return 1
	start_server single:hosts=2 || return 1
	stop server
}

locked() {
	! flock -n "$WEFTSIM_SOCKET.d" true
}

two_ports() {
	printf '%s\n' 'Switch 4 "S"' '[1] "A"[1]' '[2] "A"[2]' '' \
		'Hca 2 "A"' '[1] "S"[1]' '[2](2c903) "S"[2]' >two.net
	start_server two.net || return 1
	own_files A 'issm0 issm1 umad0 umad1' || return 1
	own_files A:2 'issm0 umad0' || return 1
	equal "the output about a port's GUID" "$(at 0x2c903 ibstat -p)" 0x000000000002c903 || return 1
	equal "the port of A:2's device" \
		"$(cat "$WEFTSIM_SOCKET.d/A:2/sys/class/infiniband_mad/umad0/port")" 2 || return 1
	own_files S 'issm0 umad0' || return 1
	equal "the port of S's device" \
		"$(cat "$WEFTSIM_SOCKET.d/S/sys/class/infiniband_mad/umad0/port")" 0 || return 1
	stop server
}

# Some may be inherited, with numbers beyond the limit.
is_full() {
	[ "$(descriptors)" -ge 64 ]
}

# A server with few descriptors: a client without a free descriptor waits for one.
crowd() {
	: >server.log # lines of the former server are still there
	(ulimit -n 64 && exec "$weftsim" serve single:hosts=2) >server.log 2>&1 &
	pids[server]=$!
	wait_for 20 server_decided && asked stats || because "$(cat server.log do.err)" || return 1
	./rude "$WEFTSIM_SOCKET" crowd >crowd.txt &
	pids[crowd]=$!
	wait_for 20 matches "done" crowd.txt && wait_for 20 is_full ||
		because "it has $(descriptors) descriptors" || return 1
	"$weftsim" "do" stats >late.txt 2>&1 &
	pids[late]=$!
	kill_now crowd
	wait_for 20 matches '^SMPs delivered' late.txt || because "the late client: $(cat late.txt)" || return 1
	stop late && stop server
}

check "SIGTERM: nothing is left" leaves_nothing
check "no descriptor is left" crowd
check "a server that was killed is followed by another" after_kill
check "a server that ends is followed by another" after_one_that_ends
check "both ports of an adapter, one of them, a switch" two_ports
finish
