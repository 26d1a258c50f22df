#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The device on which weftd runs is removed and comes back, and its link goes down and up. weftd continues, logs this,
# keeps its state and writes no table, and a standby is MASTER in that time. With failover_ports the other port of its
# adapter replaces a port that is down or was missing at the start.
# shellcheck source=tests/system/lib.sh
# shellcheck disable=SC2016 # expressions for status are Perl
. "$(dirname "$0")/lib.sh"

# The preload library stands before a sanitizer's.
if [ -n "${SANITIZE:-}" ]; then
	echo "skip device: the preload library and sanitizers exclude each other"
	exit 0
fi

sim() {
	"$BUILD/weftsim" "do" "$@" >do.txt 2>&1 || because "$*: $(tail -n 1 do.txt)"
}

# waits_for NAME: it has no device, and reports this.
waits_for() {
	has_status "$1" '$_->{role}, $_->{state}' \
		'DISCOVERING the device of the local port has disappeared: waiting until it returns'
}

tables_written() {
	status one "$(sent '$_->{method} eq "Set" && $_->{attribute} =~ /ForwardingTable/')"
}

lids() {
	lids_unique "$1" "$2" && cp lids.txt "$3"
}

comes_up() {
	start_weftsim fattree:radix=8,levels=2 && start_weftd one host-0001 -v || return 1
	wait_for 30 is_up one || because "it does not come up: $(tail -n 1 one.log)" || return 1
	[ "$(tables_written)" -gt 0 ] || because "no table was written" || return 1
	lids host-0002 44 before.lids
}

# Its clients get no answer. The manager sends nothing, and does not end.
removed() {
	sim 'device remove host-0001' || return 1
	wait_for 10 waits_for one || because "status says $(status one '$_->{role}, $_->{state}')" || return 1
	matches 'the device of weftsim0 port 1 has disappeared \(Input/output error\): waiting until it returns' one.log ||
		because "the log does not say so" || return 1
	ctl one sweep >sweep.txt 2>&1 && { because "it says that it has swept" || return 1; }
	matches 'no sweep: the device of the local port has disappeared' sweep.txt ||
		because "a sweep is refused with $(cat sweep.txt)" || return 1
	"$BUILD/weftctl" -s one.run/control.sock status >status.txt
	matches 'the device of the local port has disappeared' status.txt || because "the text does not report it: $(head -n 3 status.txt)" ||
		return 1
	runs one || because "it has ended"
}

added() {
	local before

	before=$(tables_written)
	sim 'device add host-0001' || return 1
	wait_for 20 is_up one || because "it does not come up again: $(status one '$_->{role}, $_->{state}')" || return 1
	matches 'the manager now runs on weftsim0 port 1, GUID 0x0277656601000101' one.log ||
		because "the log does not say so" || return 1
	equal "how many tables it wrote" "$(tables_written)" "$before" || return 1
	lids host-0002 44 after.lids && cmp -s before.lids after.lids || because "${reason:-LIDs have changed}" ||
		return 1
	links_active host-0002 128 && sim check
}

# A driver that is loaded again resets its port.
removed_and_reset() {
	local before

	before=$(tables_written)
	sim 'device remove host-0001' 'node down host-0001' || return 1
	wait_for 10 waits_for one || because "it does not notice" || return 1
	sim 'node up host-0001' 'device add host-0001' || return 1
	wait_for 30 is_up one || because "it does not come up again: $(status one '$_->{role}, $_->{state}')" || return 1
	equal "how many tables it wrote" "$(tables_written)" "$before" || return 1
	lids host-0002 44 after.lids && cmp -s before.lids after.lids || because "${reason:-LIDs have changed}"
}

# Without the link there is no fabric to manage, and its data is kept.
link_down_and_up() {
	local before

	before=$(tables_written)
	sim 'link down host-0001 1' || return 1
	wait_for 10 has_status one '$_->{role}' DISCOVERING || because "it does not notice" || return 1
	equal "its state" "$(status one '$_->{counts}{switches}, $_->{counts}{adapters}')" '12 32' || return 1
	sim 'link up host-0001 1' || return 1
	wait_for 20 is_up one || because "it does not come up again: $(status one '$_->{role}, $_->{state}')" || return 1
	equal "how many tables it wrote" "$(tables_written)" "$before" || return 1
	lids host-0002 44 after.lids && cmp -s before.lids after.lids || because "${reason:-LIDs have changed}"
}

with_a_standby() {
	start_weftd two host-0020 -v -o sm_priority=0 || return 1
	wait_for 20 has_status two '$_->{role}' STANDBY || because "no standby" || return 1
	sim 'device remove host-0001' || return 1
	wait_for 10 is_up two || because "the standby is $(status two '$_->{role}, $_->{state}')" || return 1
	sim 'device add host-0001' || return 1
	wait_for 20 has_status one '$_->{role}, $_->{sweeping} ? 1 : 0' 'MASTER 0' &&
		wait_for 20 has_status two '$_->{role}' STANDBY ||
		because "they are $(status one '$_->{role}') and $(status two '$_->{role}')" || return 1
	sim check || return 1
	stop two && stop one && stop_fabric
}

# The other port

port_is() {
	has_status one '$_->{role}, $_->{port}, $_->{guid}' "MASTER $1 $2"
}

two_ports_come_up() {
	printf '%s\n' 'Switch 4 "S1"' '[1] "H"[1]' '[2] "S2"[1]' '[3] "A"[1]' '' \
		'Switch 4 "S2"' '[1] "S1"[2]' '[2] "H"[2]' '[3] "B"[1]' '' 'Hca 1 "A"' '[1] "S1"[3]' '' \
		'Hca 1 "B"' '[1] "S2"[3]' '' 'Hca 2 "H"' '[1](2c901) "S1"[1]' '[2](2c903) "S2"[2]' >two.net
	start_weftsim two.net && start_weftd one H -v -g 0x2c901 -o 'failover_ports=[0x2c903]' ||
		return 1
	wait_for 30 is_up one || because "it does not come up: $(tail -n 1 one.log)" || return 1
	port_is 1 0x000000000002c901 || because "it is at $(status one '$_->{port}')"
}

# It moves there, and stays there until that port is lost.
other_port() {
	sim 'link down H 1' || return 1
	wait_for 20 port_is 2 0x000000000002c903 || because "it is at port $(status one '$_->{port}')" || return 1
	wait_for 20 is_up one || because "it is not up there: $(status one '$_->{state}')" || return 1
	matches 'the link of weftsim0 port 1 stays down: changing to another local port' one.log ||
		because "the log does not say why" || return 1
	sim 'link up H 1' || return 1
	wait_for 20 is_up one && port_is 2 0x000000000002c903 || because "it left a port that works" || return 1
	sim 'link down H 2' || return 1
	wait_for 20 port_is 1 0x000000000002c901 || because "it is at port $(status one '$_->{port}')" || return 1
	wait_for 20 is_up one || because "it is not up there: $(status one '$_->{state}')"
}

# Both are lost with the device; the first port with a link is used.
device_with_two() {
	sim 'device remove H' || return 1
	wait_for 10 waits_for one || because "it does not notice" || return 1
	sim 'link down H 1' 'link up H 2' 'device add H' || return 1
	wait_for 20 port_is 2 0x000000000002c903 || because "it is at port $(status one '$_->{port}')" || return 1
	stop one
}

missing_at_the_start() {
	start_weftd one H -v -g 0x77 -o 'failover_ports=[0x2c903, 0x2c901]' || return 1
	wait_for 20 port_is 2 0x000000000002c903 || because "it is at port $(status one '$_->{port}')" || return 1
	stop one || return 1
	weftd none H -g 0x77 -o 'failover_ports=[0x78]' && because "it runs on no port at all" && return 1
	matches 'no InfiniBand port with GUID 0x0000000000000077 on this machine' none.log ||
		because "it says $(tail -n 1 none.log)"
}

# Linux refuses the class of another manager with EINVAL, and QP0 of a port without SMI with EPROTONOSUPPORT.
class_is_taken() {
	start_weftd one A || return 1
	wait_for 20 is_up one || because "it does not come up: $(tail -n 1 one.log)" || return 1
	weftd none A && because "two managers run on one port" && return 1
	matches 'cannot register for management class 0x81 on weftsim0 port 1: Invalid argument; another subnet manager on this port\?' \
		none.log || because "it says $(tail -n 1 none.log)" || return 1
	stop one
}

no_smi() {
	sim 'smi off A' || return 1
	weftd none A && because "it runs on a port without SMI" && return 1
	matches 'weftsim0 port 1 has no subnet management interface \(QP0\), .*set ca and port to a port with QP0 and QP1' none.log ||
		because "it says $(tail -n 1 none.log)" || return 1
	matches 'another subnet manager' none.log && because "it blames another manager" && return 1
	sim 'smi on A' || return 1
	start_weftd one A && wait_for 20 is_up one || because "it does not come up: $(tail -n 1 one.log)" || return 1
	stop one
}

check "the subnet comes up" comes_up || finish
check "the device is removed: weftd waits for it, and says so" removed
check "it is given back: no table is written, LIDs stay" added
check "it is given back with its port reset" removed_and_reset
check "the link goes down and up: the state stays" link_down_and_up
check "a standby has the subnet while the device is gone" with_a_standby || finish
check "two ports: it runs on the named port" two_ports_come_up || finish
check "failover_ports: the other one takes over, and back" other_port
check "failover_ports: the device goes and comes back" device_with_two
check "failover_ports: a port that is missing at the start" missing_at_the_start
check "a port where another manager runs" class_is_taken
check "a port without SMI" no_smi
finish
