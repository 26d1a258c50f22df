#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The preview of a takeover. While OpenSM is MASTER, it writes nothing: weftsim counts no Set(), no trap and no GMP, and
# the fabric is as before. It lists the values that a real takeover then changes, as weftsim's own dump of the fabric
# before and after the takeover shows: LIDs, port states, MTUs, P_Keys, forwarding tables.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if ! command -v opensm >/dev/null; then
	echo "skip preview: no opensm here"
	exit 0
fi

spec=fattree:radix=4,levels=2
switches=(leaf-0{1..4} spine-0{1..2})
hosts=(host-000{1..8})
options=() # of weftd, in the preview and in the takeover

# dump FILE: the whole fabric by the simulator's console, as "KIND NODE PORT-OR-LID NUMBER VALUE" in order.
dump() {
	local commands=() node port

	for node in "${switches[@]}" "${hosts[@]}"; do
		commands+=("show $node")
	done
	for node in "${hosts[@]}"; do
		commands+=("pkeys $node 1")
	done
	for node in "${switches[@]}"; do
		for port in 0 1 2 3 4; do
			commands+=("pkeys $node $port")
		done
		commands+=("lft $node" "mft $node")
	done
	: >"$1.raw"
	for node in "${commands[@]}"; do
		echo "== $node" >>"$1.raw"
		"$BUILD/weftsim" "do" "$node" >>"$1.raw" 2>&1 || because "weftsim do $node: $(tail -n 1 "$1.raw")" || return 1
	done
	perl -ne '
		if (/^== (\w+) (\S+) ?(\d*)/) { ($kind, $node, $port) = ($1, $2, $3); next }
		my @w = split;
		if ($kind eq "show" && /^ *(\d+) +(\S+) +\S+ +(?:-|\d+x \S+) +(\S+) +(\d+)/) {
			print "state $node $1 - $2\nmtu $node $1 - $4\n";
			print "lid $node $1 - $3\n" if $3 ne "-";
		}
		print "pkey $node $port $w[0] $w[1]\n" if $kind eq "pkeys";
		print "top $node - - $w[2]\n" if $kind eq "lft" && /^#/;
		print "lft $node - $w[0] $w[1]\n" if $kind eq "lft" && /^ *\d/;
		if ($kind eq "mft" && /^(0x\S+)((?: \d+)+)/) { print "mft $node - $1 $2\n" =~ s/(\d) (?=\d)/$1,/gr }
	' "$1.raw" | sort >"$1"
	[ "$(wc -l <"$1")" -gt 50 ] || because "the dump has $(wc -l <"$1") lines"
}

# The copies of the state that previews use. A preview that was killed leaves its copy.
find_copies() {
	find /dev/shm "${TMPDIR:-/tmp}" -maxdepth 1 -name 'weft-preview.*' | sort
}
find_copies >copies.before

# changed BEFORE AFTER: the values that differ, as "KIND NODE PORT NUMBER BEFORE AFTER"; "-" for none.
changed() {
	perl -e '
		sub load { my %all; open(my $in, "<", shift); while (<$in>) { /^(.*) (\S+)$/ and $all{$1} = $2 } \%all }
		my ($before, $after) = (load(shift), load(shift));
		for (sort keys %{{%$before, %$after}}) {
			my ($a, $b) = ($before->{$_} // "-", $after->{$_} // "-");
			print "$_ $a $b\n" if $a ne $b;
		}' "$1" "$2" | sort
}

# listed REPORT: the values of the preview in the same form.
listed() {
	perl -MJSON::XS -0777 -ne '
		my %mtu = (1 => 256, 2 => 512, 3 => 1024, 4 => 2048, 5 => 4096);
		for (@{decode_json($_)->{changes}}) {
			my ($node, $port, $what, $member) = @{$_}{qw(node port attribute member)};
			my ($a, $b) = @{$_}{qw(before after)};
			print "lid $node $port - $a $b\n" if $member eq "LID";
			print "state $node $port - $a $b\n" if $member eq "PortState";
			print "mtu $node $port - $mtu{$a} $mtu{$b}\n" if $member eq "NeighborMTU";
			print "top $node - - $a $b\n" if $member eq "LinearFDBTop";
			print "lft $node - $1 $a $b\n" if $what eq "LinearForwardingTable" && $member =~ /(\d+)/;
			print "pkey $node $port $1 $a $b\n" if $what eq "P_KeyTable" && $member =~ /(\d+)/;
		}' "$1" | sort
}

report() {
	json "$1" <report.json
}

# preview HOST [OPTION]...: report.json from weftd --preview, on a state directory that does not exist.
preview() {
	local host=$1

	shift
	on "$host" "$BUILD/weftd" -c "$weft_conf" --runtime-dir "$work/preview.run" --state-dir "$work/preview.state" \
		--preview --json --list "$@" >report.json 2>preview.err
}

# written [PATTERN]: the counts of weftsim: Sets, and the lines that match.
written() {
	"$BUILD/weftsim" "do" stats >stats.txt
	awk -v other="${1:-^none}" '/^  [A-Z0o]/ || $0 ~ other { sum += $NF } END { print sum + 0 }' stats.txt
}

tools_see() {
	look "$1.net" host-0003 ibnetdiscover && read_lfts "$1.lfts" host-0003 || return 1
	sed -i '/^# /d' "$1.net"
}

# OpenSM does not sweep by itself, so that each Set() in the counts is one of weftd.
opensm_rules() {
	rm -rf ./*.state opensm.* && start_weftsim "$spec" || return 1
	# 0x0003: a partition that weftd does not have
	printf '%s\n' 'Default=0x7fff, ipoib: ALL=full;' \
		'gone=0x0003: 0x0277656601000301=full, 0x0277656601000401=full;' >theirs.conf
	start_opensm opensm host-0002 -p 3 -s 0 -R minhop -P "$work/theirs.conf" || return 1
	wait_for 30 matches 'SUBNET UP' opensm.log || because "opensm does not bring the fabric up" || return 1
	wait_for 10 all_active || because "links are not ACTIVE"
}

all_active() {
	links_active host-0003 "$("$BUILD/weftsim" topology $spec | grep -cE '^\[[0-9]+\]')"
}

writes_nothing() {
	dump before && tools_see before || return 1
	"$BUILD/weftsim" "do" 'stats reset' >/dev/null
	preview host-0001 "${options[@]}" || because "the preview fails: $(cat preview.err)" || return 1
	equal "the number of Sets, traps and GMPs" "$(written '^GMPs delivered|^traps')" 0 || return 1
	[ "$(awk '/PortInfo/ { print $2 }' stats.txt)" -gt 20 ] || because "weftsim has counted no Get()" || return 1
	dump present && tools_see present || return 1
	equal "the change of the fabric" "$(changed before present)" "" &&
		equal "the change that ibnetdiscover sees" "$(diff before.net present.net)" "" &&
		equal "the change that dump_lfts sees" "$(diff before.lfts present.lfts)" "" || return 1
	[ ! -e preview.state ] && [ ! -e preview.run ] || because "the preview has made directories" || return 1
	find_copies >copies.after
	equal "the copies that are left" "$(comm -13 copies.before copies.after)" "" || return 1
	equal "the managers" "$(report 'map { "$_->{guid} $_->{state}" } @{$_->{managers}}')" '0x0277656601000201 MASTER'
}

# takes_over: the takeover changes what the preview has listed.
takes_over() {
	kill_now opensm
	conf=$weft_conf start_weftd weftd host-0001 -o perf_interval=0 "${options[@]}" || return 1
	wait_for 30 is_up weftd || because "the subnet is not up" || return 1
	dump after || return 1
	changed before after | grep -v '^mft ' >changed.txt
	listed report.json >listed.txt
	equal "the difference of the preview to the takeover" "$(diff listed.txt changed.txt | head -n 12)" "" || return 1
	for kind in "${kinds[@]}"; do
		grep -q "^$kind " changed.txt || because "no $kind has changed, so this proves nothing" || return 1
	done
}

weft_conf=$work/weft.conf
printf '%s\n' "partition_config_file = \"$work/ours.conf\"" 'routing = ["ftree"]' >"$weft_conf"
printf '%s\n' 'Default=0x7fff, ipoib: ALL=full;' \
	'ours=0x0005: 0x0277656601000301=full, 0x0277656601000501=limited;' >ours.conf

keeps_lids() {
	equal "the LIDs kept, changed and assigned" "$(report '@{$_->{lids}}{qw(kept changed assigned)}')" "14 0 0" &&
		[ "$(report '$_->{p_keys}{removed}')" -ge 2 ] && [ "$(report '$_->{p_keys}{added}')" -ge 2 ] ||
		because "P_Keys: $(report '%{$_->{p_keys}}')"
}

# A running weftd in a steady state: nothing would change, and weftctl finds its options.
weftctl_runs_it() {
	"$BUILD/weftsim" "do" 'stats reset' >/dev/null
	(as_node host-0001 "$BUILD/weftctl" -s weftd.run/control.sock --json takeover preview --list >report.json 2>err.txt) ||
		because "weftctl takeover preview: $(cat err.txt)" || return 1
	equal "the number of Sets" "$(written)" 0 || return 1
	# A MASTER that starts again notifies the hosts.
	equal "the changes, and the notified ports" "$(report '@{$_->{changes}} + 0, $_->{reregistrations}, $_->{sets}{changing}')" "0 14 14" || return 1
	mkdir -p said && cp report.json "said/takeover_preview@weftd"
	(as_node host-0001 "$BUILD/weftctl" -s weftd.run/control.sock takeover preview >text.txt 2>err.txt) &&
		matches 'Nothing was written' text.txt && matches '^LIDs +14 kept, 0 changed, 0 assigned$' text.txt ||
		because "the text is $(cat text.txt err.txt)"
}

# Another configuration than that of the running daemon; its state is used.
other_configuration() {
	sed 's/ftree/minhop/' "$weft_conf" >other.conf
	echo "state_dir = \"$work/weftd.state\"" >>other.conf
	(as_node host-0004 "$BUILD/weftctl" -s weftd.run/control.sock takeover preview --config other.conf >text.txt 2>err.txt) &&
		matches '^Routing +minhop$' text.txt && matches '^PortInfo +MasterSMLID changes on 14 ports$' text.txt &&
		matches '^P_Keys +no change$' text.txt || because "the text is $(cat text.txt err.txt)"
}

incomplete() {
	"$BUILD/weftsim" "do" 'drop 100 host-0006' >do.txt 2>&1 || because "$(cat do.txt)" || return 1
	preview host-0001 -o smp_timeout=50 && because "the exit status is 0" && return 1
	equal "complete" "$(report '$_->{complete} ? 1 : 0')" 0
}

# A preview knows the M_Keys that weftd has stored, never shows a key, and never locks itself out.
knows_keys() {
	local keys=(-o 'm_key_mode="subnet"' -o m_key_protection_level=2)

	rm -rf weftd.state
	start_weftsim "$spec" && start_weftd weftd host-0001 "${keys[@]}" -o m_key=0x1234567890abcdef &&
		wait_for 30 is_up weftd && stop weftd || because "no fabric with M_Keys" || return 1
	"$BUILD/weftsim" "do" 'stats reset' >/dev/null
	preview host-0001 "${keys[@]}" --state-dir weftd.state -o m_key=0x1111222233334444 ||
		because "the preview fails: $(cat preview.err)" || return 1
	equal "the number of Sets" "$(written)" 0 || return 1
	equal "the number of M_Keys that change" "$(report '$_->{m_keys}')" 14 || return 1
	grep -qiE '1234567890|1111222233' report.json preview.err && because "a key is shown" && return 1
	# A preview without the keys says so.
	preview host-0001 && because "the exit status is 0" && return 1
	matches 'the preview is incomplete' preview.err
}

usage() {
	"$BUILD/weftd" --json 2>err.txt
	equal "the exit status of weftd --json" $? 2 && matches '--json is for --preview only' err.txt
}

kinds=(lft pkey)
if check "OpenSM is MASTER" opensm_rules; then
	check "the preview writes nothing" writes_nothing
	check "LIDs are kept, P_Keys change" keeps_lids
	check "a takeover changes what the preview listed" takes_over
	check "weftctl takeover preview beside a MASTER on the same port: nothing changes" weftctl_runs_it
	check "another configuration, on another host" other_configuration
	check "a host without an agent: incomplete, exit status 1" incomplete
	stop weftd
	stop_fabric
fi

kinds=(lid lft pkey top)
if check "OpenSM is MASTER again" opensm_rules; then
	options=(-o lmc=1)
	check "the preview with another LMC writes nothing" writes_nothing
	check "a takeover with another LMC changes what the preview listed" takes_over
	options=()
	stop weftd
	stop_fabric
fi

kinds=(lid state lft)
nobody_rules() {
	start_weftsim "$spec" && dump before && preview host-0001 || because "the preview fails: $(cat preview.err)" || return 1
	dump present && equal "the change of the fabric" "$(changed before present)" "" || return 1
	equal "the LIDs kept, changed and assigned" "$(report '@{$_->{lids}}{qw(kept changed assigned)}')" "0 0 14"
}

first_manager() {
	sleep 0 & # takes_over ends the manager before it
	pids[opensm]=$!
	rm -rf weftd.state
	takes_over
}

if check "a fabric without a manager: all LIDs are assigned" nobody_rules; then
	check "the first manager changes what the preview listed" first_manager
	stop weftd
fi
stop_fabric
check "M_Keys: those of the store are used, and none is shown" knows_keys
check "--json and --list need --preview" usage
finish
