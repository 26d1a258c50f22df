#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Seven nets come up by one `weftd --once` each: the five examples of Debian's ibsim and two fat trees. Afterwards the
# standard tools find every cabled port Active and every LID unique. The second sweep of a daemon on such a subnet sends
# no Set(). $BUILD/log/bringup.table has the figures.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

examples=/usr/share/doc/ibsim-utils/net-examples
mkdir -p "$BUILD/log"
table=$BUILD/log/bringup.table
printf '%-30s %6s %8s %8s %8s %8s %8s %8s %8s %8s %8s %10s\n' net nodes ms NodeInfo NodeDesc PortInfo \
	SwInfo 'Set(PI)' 'Set(SwI)' 'Set(LFT)' SMPs '2nd Sets' >"$table"

comes_up() {
	start_fabric "$1" || return 1
	weftd once "$2" --once || because "weftd --once: status $?, $(tail -n 1 once.log)"
}

# A daemon on a new net, and its figures for the table.
tabulate() {
	local name=$1 net=$2 host=$3 figures nodes

	stop_fabric
	start_fabric "$net" || return 1
	start_weftd daemon "$host" -o sweep_interval=0 && wait_for 30 is_up daemon ||
		because "$(tail -n 1 daemon.log)" || return 1
	figures=$(status daemon '$_->{counts}{switches} + $_->{counts}{adapters},
		sprintf("%.1f", $_->{sweep}{duration_us} / 1000),
		do { my %n; $n{"$_->{method} $_->{attribute}"} = $_->{sent} for @{$_->{smps}};
			map { $n{$_} || 0 } "Get NodeInfo", "Get NodeDescription", "Get PortInfo", "Get SwitchInfo",
			"Set PortInfo", "Set SwitchInfo", "Set LinearForwardingTable" },
		$_->{sweep}{smps}')
	ctl daemon sweep heavy >sweep.json || because "weftctl sweep heavy failed" || return 1
	# shellcheck disable=SC2086 # words are meant
	printf '%-30s %6s %8s %8s %8s %8s %8s %8s %8s %8s %8s %10s\n' "$name" $figures \
		"$(json '$_->{sets}' <sweep.json)" >>"$table"
	equal "the number of Set() in the second sweep" "$(json '$_->{sets}' <sweep.json)" 0 || return 1
	equal "writes of the second sweep" "$(json '$_->{summary}' <sweep.json)" "subnet up" || return 1
	stop daemon || because "weftd ends with status $?"
}

try() {
	local net=$1 host=$2 name=${1##*/} nodes ports

	if ! check "$name: weftd --once" comes_up "$net" "$host"; then
		stop_fabric
		return
	fi
	[ -e "$net" ] || net=$fabric.net
	ports=$(cabled_ports "$net")
	nodes=$(grep -cE '^(Switch|Hca|Ca)[[:space:]]' "$net")
	check "$name: iblinkinfo: every link Active" links_active "$host" "$ports"
	check "$name: ibnetdiscover: LIDs unique" lids_unique "$host" "$nodes"
	cp "$net" again.net
	check "$name: the second sweep sends no Set()" tabulate "$name" again.net "$host"
	stop_fabric
}

for net in net net.1 net.2sw2path net.2sw2path4hca net.2sw2path4hca2port; do
	[ -d "$examples" ] || { echo "skip $net: no folder $examples"; continue; }
	try "$examples/$net" Hca1
done
try fattree:radix=36,levels=2 host-0001
# With a sanitizer 3,456 hosts take most of a minute for each sweep.
[ -n "${SANITIZE:-}" ] || try fattree:radix=24,levels=3 host-0001
cat "$table"
finish
