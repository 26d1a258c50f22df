#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# A manager that starts on a fabric which is up already reads the tables it finds and writes no block of
# them, and every port keeps its LID.
set -u
. "$(dirname "$0")/lib.sh"

lids() {
	ctl "$1" node list | json 'map { "$_->{guid}=$_->{lid}" } sort { $a->{guid} cmp $b->{guid} } @$_'
}

starts() {
	start_weftd "$1" host-0001 && wait_for 20 is_up "$1" ||
		because "weftd is $(status "$1" '$_->{role}, $_->{state}')"
}

again() {
	local before=$1 written

	starts second || return 1
	written=$(status second '$_->{sweep}{lft_sets}')
	equal "the number of LFT blocks written after a restart" "$written" 0 || return 1
	equal "the LIDs after a restart" "$(lids second)" "$before"
}

start_fabric fattree:radix=16,levels=2
check "weftd on a new fabric" starts first
before=$(lids first)
stop first
check "and again: no LFT block written, the same LIDs" again "$before"
stop second
stop_fabric
finish
