#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# weftctl why on weftsim in ten situations: the text names the first obstacle with its remedy, or says that there is
# none. The exit status and the JSON agree. The remedies that are commands of weftctl end the obstacle.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip why: weftsim's preload library and sanitizers do not go together"
	exit 0
fi

sim() {
	"$BUILD/weftsim" "do" "$@" >sim.txt || because "weftsim do $*: $(cat sim.txt)"
}

# said A [B]: writes the text into why.txt and its exit status into status.txt.
said() {
	echo "\$ weftctl why $*" >>all.txt
	"$BUILD/weftctl" -s "$work/daemon.run/control.sock" why "$@" >why.txt 2>why.err
	echo $? >status.txt
	cat why.txt why.err >>all.txt
	echo >>all.txt
}

has() {
	matches "$1" why.txt || because "no /$1/ in: $(cat why.txt why.err)"
}

# obstacle CODE TEXT REMEDY A [B]
obstacle() {
	local code=$1 text=$2 remedy=$3

	shift 3
	said "$@"
	equal "the exit status of why $*" "$(cat status.txt)" 1 && has "^Obstacle \([a-zA-Z]+\): $text" && has "^Remedy: $remedy" || return 1
	ctl daemon why "$@" >why.json
	equal "the exit status with --json" $? 1 || return 1
	equal "the code of why $*" "$(json '$_->{obstacle}{code}' <why.json)" "$code"
}

none() {
	said "$@"
	equal "the exit status of why $*" "$(cat status.txt)" 0 && has '^No obstacle found$' || because "why $*: $(cat why.txt why.err)"
}

# soon COMMAND...: the change reaches weftd within seconds.
soon() {
	wait_for 20 "$@"
}

lid_of() {
	ctl daemon node show "$1" | json '$_->{node}{lid}'
}

starts() {
	"$BUILD/weftsim" topology fattree:radix=4,levels=2 | sed '/"host-0008"\[1\]\|^\[1\](277656601000801)/s/4xEDR/1xEDR/' >slow.net
	start_weftsim slow.net && sim "link down host-0006 1" && start_weftd daemon host-0001 || return 1
	wait_for 30 is_up daemon || because "weftd has no subnet: $(tail -n 1 daemon.log)"
}

nothing_wrong() {
	none host-0001 host-0005 && has '^host-0005: port 1, LID [0-9]+, ACTIVE, 4x EDR, MTU 4096, at leaf-03 port 1$' &&
		has '^Route there leaf-01 \(1 to [34]\), spine-0[12] \(1 to 3\), leaf-03 \([34] to 1\)$' &&
		has '^Route back  leaf-03 ' && has '^Path        SL 0, MTU 4096, rate 100 Gb/s$' &&
		has '^Partitions  0x7fff "Default": full and full member$' && none leaf-01 && none leaf-01/3 host-0005/1
}

by_lid() {
	none "$(lid_of host-0002)" "$(lid_of leaf-04)" && has '^host-0002: ' && has '^leaf-04: '
}

slower() {
	none host-0001 host-0008 && has '^Note        rate 25 Gb/s at [a-z0-9-]+ port [0-9] limits the path; other links have 100$' &&
		equal "the number of notes" "$(grep -c '^Note' why.txt)" 1
}

# A host appears while a switch of its path takes no entries.
route_refused() {
	sim "drop 100 spine-02" && sim "link up host-0006 1" || return 1
	soon obstacle not_held 'the link of host-0006 stays [A-Z]+, because spine-02 has not acknowledged its route to LID [0-9]+$' \
		'weftctl sweep heavy; if that does not help, weftctl why spine-02$' host-0003 host-0006 || return 1
	obstacle silent 'the management agent of spine-02 does not answer$' 'reboot spine-02; then weftctl sweep heavy$' spine-02 || return 1
	sim "drop 0 spine-02" && ctl daemon sweep heavy >done.txt && soon none host-0003 host-0006
}

cable() {
	local lid

	lid=$(lid_of host-0005)
	sim "link down host-0005 1" || return 1
	soon obstacle link_down 'no link at leaf-03 port 1, which is DOWN: the cable is pulled or broken, or host-0005 is off$' \
		'check the cable at leaf-03 port 1 and the power of host-0005;' host-0001 host-0005 || return 1
	has "^host-0005: gone since 20[0-9: -]+, was at leaf-03 port 1 \(now DOWN\), LID $lid is reserved$" &&
		has '^ .* node +node vanished \[host-0005\]$' || return 1
	obstacle link_down 'no link at leaf-03 port 1' 'check' "$lid" || return 1
	sim "link up host-0005 1" && soon none host-0001 host-0005
}

host_gone() {
	sim "node down host-0007" || return 1
	soon obstacle link_down 'no link at leaf-04 port 1' 'check .* the power of host-0007;' host-0007 || return 1
	sim "node up host-0007" && soon none host-0007
}

agent() {
	sim "drop 100 host-0007" || return 1
	obstacle silent 'the management agent of host-0007 does not answer, but its link at leaf-04 port 1 is ACTIVE$' \
		'restart the driver of host-0007' host-0002 host-0007 && sim "drop 0 host-0007" && none host-0002 host-0007
}

disabled() {
	ctl daemon port disable leaf-02 1 >done.txt || return 1
	obstacle disabled 'leaf-02 port 1 \(to host-0003\) is disabled by a command' 'weftctl port enable leaf-02 1$' host-0001 host-0003 || return 1
	ctl daemon port enable leaf-02 1 >done.txt && soon none host-0001 host-0003
}

p_keys() {
	ctl daemon partition add 0x7fff --force >done.txt && ctl daemon partition add 5 storage --members host-0003 >done.txt ||
		because "no partitions: $(cat done.txt)" || return 1
	obstacle p_key 'host-0003 and host-0005 have no partition in common, except the default partition 0x7fff, in which both are limited members$' \
		'if they should communicate: weftctl partition member add 0x0005 0x0277656601000501 --limited$' host-0003 host-0005 || return 1
	ctl daemon partition member add 0x0005 host-0005 >done.txt && none host-0003 host-0005 &&
		has '^Partitions  0x0005 "storage": full and full member$'
}

limited() {
	ctl daemon partition member add 5 host-0003 host-0005 --limited --force >done.txt || return 1
	soon obstacle limited 'host-0003 and host-0005 are both limited members of partition 0x0005, and limited members do not communicate' \
		'if they should communicate: weftctl partition member add 0x0005 0x0277656601000501 --full$' host-0003 host-0005 || return 1
	has '^            0x0005 "storage": limited and limited member: they do not communicate$|^Partitions .*limited and limited' || return 1
	ctl daemon partition member add 0x0005 host-0005 --full >done.txt && none host-0003 host-0005
}

refuses() {
	said nowhere
	equal "the exit status for a node that does not exist" "$(cat status.txt)" 1 && matches 'there is no node "nowhere"' why.err || because "$(cat why.err)" || return 1
	said
	equal "the exit status without a node" "$(cat status.txt)" 2 || return 1
	said host-000O
	matches 'did you mean "host-000[0-9]"' why.err || because "$(cat why.err)"
}

check "a fabric" starts || finish
check "nothing wrong" nothing_wrong
check "LIDs as arguments" by_lid
check "a slow link is a note" slower
check "a route that a switch does not take" route_refused
check "a cable is pulled" cable
check "a host is off" host_gone
check "an agent is silent" agent
check "a port is disabled" disabled
check "no partition in common" p_keys
check "limited members" limited
check "refused arguments" refuses
finish
