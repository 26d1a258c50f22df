#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Isolation by policy on weftsim: the policy isolates exactly the port with errors. It isolates no host, no last path, no
# more ports than its quota, and nothing without an option. If the switch loses its other links later, weftd enables the
# port.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip isolation: weftsim's preload library and sanitizers do not go together"
	exit 0
fi

sim() {
	"$BUILD/weftsim" "do" "$@"
}

# Counters are read each second.
policy_runs() {
	[ -z "${pids[policy]:-}" ] || stop policy || return 1
	start_weftd policy host-0001 -o perf_interval=1 "$@" && wait_for 30 is_up policy || because "weftd does not come up" || return 1
	reads policy 3
}

# reads NAME N: the counters are read N times more.
reads() {
	local upto

	upto=$(($(status "$1" '$_->{perf}{sweeps}') + $2))
	wait_for 20 has_read "$1" "$upto" || because "the counters are not read"
}

has_read() {
	[ "$(status "$1" '$_->{perf}{sweeps}')" -ge "$2" ]
}

isolated() {
	status policy 'map { join " ", @$_{qw(description port by state)} } grep { $_->{by} eq "policy" } @{$_->{drained}}'
}

isolates() {
	[ "$(isolated)" = "$1" ]
}

off_by_default() {
	start_weftsim fattree:radix=8,levels=2 && policy_runs || return 1
	sim 'count leaf-02 6 LinkDownedCounter 200' 'count leaf-02 6 PortRcvErrors 9000' 'count leaf-02 6 SymbolErrorCounter 60000' >do.txt
	reads policy 3 || return 1
	equal "isolated without an option" "$(isolated)" ""
}

policy() {
	policy_runs -o isolate_flaps=5 -o isolate_link_errors=50 -o isolate_ber=9 || return 1
	sim 'count leaf-02 5 LinkDownedCounter 4' 'count host-0007 1 LinkDownedCounter 20' 'count leaf-05 5 PortRcvErrors 60' >do.txt
	wait_for 20 isolates 'leaf-05 5 policy isolated' || because "isolated: $(isolated)" || return 1
	# 64 links: the quota is one port.
	sim 'count leaf-02 7 LinkDownedCounter 9' >do.txt
	reads policy 3 || return 1
	equal "isolated" "$(isolated)" 'leaf-05 5 policy isolated' || return 1
	matches '"host-0007" port 1 is not isolated by policy: it is the link of a host' policy.log &&
		matches '"leaf-02" port 7 is not isolated by policy: the quota is reached' policy.log &&
		matches '"leaf-05" port 5 is isolated by policy: 60 link errors in [0-9]+ min \(isolate_link_errors 50\)' policy.log ||
		because "the log has: $(grep isolated policy.log)" || return 1
	! "$BUILD/weftctl" -s policy.run/control.sock health >health.txt || because "health is not degraded" || return 1
	matches '^degraded +drained +1 port isolated by policy: "leaf-05" port 5, 60 link errors' health.txt || because "health: $(cat health.txt)" || return 1
	"$BUILD/weftctl" -s policy.run/control.sock perf metrics >metrics.txt
	matches '^weft_isolated_ports 1$' metrics.txt || because "no metric" || return 1
	sim check >check.txt || because "$(cat check.txt)"
}

# The earlier errors of a port that comes back no longer count. The quota is free now.
pardoned() {
	ctl policy undrain --policy >done.txt || because "undrain is refused" || return 1
	equal "its answer" "$(json '$_->{undrained}[0], $_->{up}' <done.txt)" "leaf-05 port 5 1" || return 1
	sim 'count leaf-02 7 LinkDownedCounter 9' >do.txt
	wait_for 20 isolates 'leaf-02 7 policy isolated' || because "isolated: $(isolated)" || return 1
	ctl policy undrain --policy >done.txt || because "the second undrain is refused" || return 1
	reads policy 3 || return 1
	equal "isolated after undrain" "$(isolated)" ""
}

# The last path of a leaf, with the other three links down.
last_path() {
	sim 'link down leaf-06 6' 'link down leaf-06 7' 'link down leaf-06 8' >do.txt
	wait_for 20 is_up policy && reads policy 2 || return 1
	sim 'count leaf-06 5 LinkDownedCounter 50' >do.txt
	reads policy 3 || return 1
	equal "isolated" "$(isolated)" "" || return 1
	matches '"leaf-06" port 5 is not isolated by policy: it is the last path of some hosts' policy.log || because "$(grep 'leaf-06' policy.log | tail -n 2)" || return 1
	sim check >check.txt || because "$(cat check.txt)"
}

# The other links return, so the policy isolates this one; then they are lost again, and this one comes back.
returned() {
	sim 'link up leaf-06 6' 'link up leaf-06 7' 'link up leaf-06 8' >do.txt
	wait_for 20 is_up policy || because "weftd is busy" || return 1
	sim 'count leaf-06 5 LinkDownedCounter 50' >do.txt
	wait_for 20 isolates 'leaf-06 5 policy isolated' || because "isolated: $(isolated)" || return 1
	sim 'link down leaf-06 6' 'link down leaf-06 7' 'link down leaf-06 8' >do.txt
	wait_for 20 isolates '' || because "isolated: $(isolated)" || return 1
	wait_for 20 has_status policy '$_->{counts}{adapters}' 32 || because "hosts are missing" || return 1
	matches 'drain of "leaf-06" port 5: ended by weftd, because the switch lost its other links' policy.log || because "$(grep 'drain of' policy.log | tail -n 2)" || return 1
	sim check >check.txt || because "$(cat check.txt)"
}

# A rate of errors: SymbolErrorCounter over the bits of a second of 4x EDR, 1e11.
bit_errors() {
	policy_runs -o isolate_ber=9 || return 1
	sim 'count leaf-03 8 SymbolErrorCounter 60000' >do.txt
	wait_for 20 isolates 'leaf-03 8 policy isolated' || because "isolated: $(isolated)" || return 1
	matches '"leaf-03" port 8 is isolated by policy: symbol BER of ' policy.log || because "$(grep isolated policy.log)"
}

check "the policy is off by default" off_by_default || finish
check "the policy isolates one port" policy
check "undrain --policy" pardoned
check "the policy spares a last path" last_path
check "a link comes back" returned
check "the policy and the bit error rate" bit_errors
finish
