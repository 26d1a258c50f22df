#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Reports of events: a program that uses libibumad subscribes at weftd on weftsim. It gets Reports of ports that appear
# and disappear, of traps, and of groups. OpenSM sends the same Reports to the same program. A subscriber that does not
# answer loses its subscription, and delays no other.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip reports: the preload library and sanitizers exclude each other"
	exit 0
fi

"${CC:-cc}" -O2 -o subscriber "$root/tests/system/subscriber.c" -libumad || exit 1

is_subscribed() {
	matches '^subscribed$' "$1.txt" || ! runs "$1"
}

# start_subscriber NAME HOST [ARGUMENT]...
start_subscriber() {
	local name=$1 host=$2

	shift 2
	(as_node "$host" "$work/subscriber" "$@") >"$name.txt" 2>&1 &
	pids[$name]=$!
	wait_for 20 is_subscribed "$name"
	matches '^subscribed$' "$name.txt" || because "$name: $(tail -n 1 "$name.txt")"
}

daemon_runs() {
	start_weftsim fattree:radix=4,levels=2 && start_weftd daemon host-0001 -o registration_grace=1 || return 1
	wait_for 30 is_up daemon || because "weftd has no subnet: $(tail -n 1 daemon.log)"
}

sim() {
	"$BUILD/weftsim" "do" "$@" >do.txt 2>&1 || because "weftsim do $*: $(tail -n 1 do.txt)"
}

# hears NAME PATTERN: a matching Report, within a time limit.
hears() {
	wait_for 20 matches "^report $2" "$1.txt" || because "$1 hears $(tail -n 3 "$1.txt" | tr '\n' ';') and no report $2"
}

port_guid() {
	local guid

	guid=$(ctl daemon node list | json "map { \$_->{guid} } grep { \$_->{description} eq '$1' } @\$_")
	printf '%016x' $((guid + 1))
}

# The details of 64 and 65 are 6 bytes and the port's GID; the issuer is the manager's port.
goes_and_comes() {
	local guid sm

	guid=$(port_guid host-0004) && sm=$(port_guid host-0001) || return 1
	sim 'node down host-0004' && hears all "65 0{12}fe80000000000000$guid issuer fe80000000000000$sm" || return 1
	sim 'node up host-0004' && hears all "64 0{12}fe80000000000000$guid issuer fe80000000000000$sm" || return 1
	gids all >weft.txt
}

# A trap of a switch, with its LID, unchanged.
agents_trap() {
	local lid

	lid=$(ctl daemon node list | json 'map { $_->{lid} } grep { $_->{description} eq "leaf-01" } @$_')
	sim 'trap 129 leaf-01 2' && hears all "129 0000$(printf '%04x' "$lid")02" || return 1
	sim 'link down host-0004 1' && hears all '128 ' && sim 'link up host-0004 1'
}

# Before the GID are 6 bytes without a meaning; OpenSM does not clear them.
gids() {
	sed -nE 's/^report (6[45]) .{12}/\1 /p' "$1.txt"
}

comes_again() {
	stop daemon || return 1
	start_weftd daemon host-0001 -o registration_grace=600 && wait_for 30 is_up daemon ||
		because "weftd has no subnet: $(tail -n 1 daemon.log)"
}

# Ports that disappear or appear while weftd is down are reported once after its restart, to the former subscribers.
# After two more restarts there are no more Reports.
unseen() {
	local guid

	guid=$(port_guid host-0008) || return 1
	stop daemon || return 1
	sim 'node down host-0008' || return 1
	start_weftd daemon host-0001 -o registration_grace=600 || return 1
	hears all "65 0{12}fe80000000000000$guid" || return 1
	stop daemon || return 1
	sim 'node up host-0008' || return 1
	start_weftd daemon host-0001 -o registration_grace=600 || return 1
	hears all "64 0{12}fe80000000000000$guid" || return 1
	comes_again && comes_again || return 1
	sim 'trap 130 leaf-01 2' && wait_for 20 more_than 5 || because "no more reports come" || return 1
	equal "reports of that port" "$(grep -cE "^report 6[45] .*$guid" all.txt)" 2
}

# OpenSM's Reports of the same port.
opensm_says_the_same() {
	kill_now all
	kill_now some
	kill_now silent
	stop daemon && stop_fabric || return 1
	start_weftsim fattree:radix=4,levels=2 && start_opensm opensm host-0001 || return 1
	wait_for 30 fabric_is_whole || because "opensm brings nothing up" || return 1
	start_subscriber theirs host-0003 600 || return 1
	sim 'node down host-0004' && hears theirs '65 ' && sim 'node up host-0004' && hears theirs '64 ' || return 1
	gids theirs >opensm.txt
	cmp -s opensm.txt weft.txt ||
		because "opensm says $(tr '\n' ';' <opensm.txt), weftd $(tr '\n' ';' <weft.txt)"
}

fabric_is_whole() {
	"$BUILD/weftsim" "do" check >check.txt 2>&1
}

# Only the traps that it subscribed to.
chosen() {
	equal "reports to the subscriber of 65 and 129" \
		"$(sed -n 's/^report \([0-9]*\).*/\1/p' some.txt | sort -u | tr '\n' ' ')" '129 65 '
}

# osmtest's multicast flow creates groups and ends them; the details are 6 bytes and the MGID.
groups() {
	local guid

	guid=0x$(port_guid host-0007) || return 1
	(as_node host-0007 timeout 120 osmtest -g "$guid" -f m -M 2 -l osmtest.log) >osmtest.txt 2>&1
	hears all '66 0{12}ff' && hears all '67 0{12}ff'
}

reports_of() {
	status "$1" '$_->{reports}{'"$2"'}'
}

has_reports() {
	[ "$(reports_of daemon "$1")" = "$2" ]
}

# The silent subscriber gets each of five Reports three times. It also loses its subscription after a minute of silence:
# tests/unit/sa/test_report.c tests that.
silent_holds_up_nobody() {
	local i

	for i in 1 2 3 4 5; do
		sim 'trap 130 leaf-01 2' || return 1
		wait_for 20 more_than $((i - 1)) || because "the other subscriber has $(heard) reports 130" || return 1
	done
	equal "the number of subscriptions that ended" "$(reports_of daemon unsubscribed)" 0
}

heard() {
	grep -c '^report 130' all.txt
}

more_than() {
	[ "$(heard)" -gt "$1" ]
}

listed() {
	"$BUILD/weftctl" -s "$work/daemon.run/control.sock" inform list >inform.txt 2>&1
	matches "^0x$(port_guid host-0002) .* 129 " inform.txt || because "$(tail -n 3 inform.txt)"
}

confirmed() {
	[ "$(reports_of daemon answered)" -gt 0 ] || because "no report was answered"
}

check "weftd on weftsim" daemon_runs || finish
check "subscribing to all traps" start_subscriber all host-0003 600 || finish
check "subscribing to some" start_subscriber some host-0002 600 65 129 || finish
check "a port goes and comes" goes_and_comes
check "traps of agents" agents_trap
check "groups begin and end" groups
check "each subscriber gets its traps only" chosen
check "reports are confirmed" confirmed
check "a silent one subscribes" start_subscriber silent host-0006 -s 600 130
check "a silent subscriber delays no other" silent_holds_up_nobody
check "weftctl inform list" listed
check "ports that appear and disappear while weftd is down" unseen
if command -v opensm >/dev/null; then
	check "OpenSM tells the same of a port" opensm_says_the_same
else
	echo "skip OpenSM tells the same of a port: no opensm here"
fi
finish
