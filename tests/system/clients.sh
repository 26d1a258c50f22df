#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The requests of IPoIB, rdma_cm, ib_srp, srp_daemon and ibacm to the SA, in the form that they send (clients.c): to
# weftd, and to OpenSM on another weftsim, which tests the requests themselves.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

# The preload library stands before a sanitizer's.
if [ -n "${SANITIZE:-}" ]; then
	echo "skip clients: the preload library and sanitizers exclude each other"
	exit 0
fi

"${CC:-cc}" -O2 -o clients "$root/tests/system/clients.c" -libumad || exit 1

weftd_runs() {
	start_weftsim fattree:radix=4,levels=2 && start_weftd weftd host-0001 || return 1
	wait_for 30 is_up weftd || because "weftd has no subnet: $(tail -n 1 weftd.log)"
}

opensm_runs() {
	start_weftsim fattree:radix=4,levels=2 && start_opensm opensm host-0001 || return 1
	wait_for 60 matches 'SUBNET UP' opensm.log || because "OpenSM has no subnet: $(tail -n 1 opensm.log)"
}

# The other end of the paths is host-0008, over a spine.
ask_all() {
	look other.txt host-0008 ibstat || because "ibstat: $(tail -n 1 other.txt.err)" || return 1
	look "$1.txt" host-0002 "$work/clients" "$(sed -n 's/.*Base lid: //p' other.txt)" \
		"$(sed -n 's/.*Port GUID: //p' other.txt)"
	[ -s "$1.txt" ] || because "clients says nothing: $(tail -n 1 "$1.txt.err")"
}

# One line for each request of weftd's.
each() {
	local line

	while read -r line; do
		case $line in
		"ok "*) check "${line#ok }" true ;;
		*) check "${line#not ok }" because "weftd's answer is wrong" ;;
		esac
	done <weftd.txt
}

as_opensm() {
	ask_all opensm && diff opensm.txt weftd.txt >difference.txt ||
		because "they differ: $(grep '^[<>]' difference.txt | head -n 4 | tr '\n' ' ')"
}

check "weftd runs" weftd_runs || finish
check "their requests" ask_all weftd || finish
each
check "weftd ends cleanly" stop weftd
stop_fabric
check "OpenSM runs" opensm_runs || finish
check "OpenSM answers all that in the same way" as_opensm
finish
