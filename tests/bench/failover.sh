#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# A master dies, alone or with its host, and its standby takes over: when what happens, in milliseconds
# from the kill, and what the agents are sent, for weftd, for weftd whose standby follows it (durability
# "standby"), the same with an sm_lid (moves), and for OpenSM as it is configured by default, on a weftsim of 648
# hosts (FULL: 11,664 hosts, without OpenSM; ONLY="weftd follows": these two alone). The standby's SA is asked a few hundred times a second from
# a third host; when the last port was Set, weftsim is asked some thirty times a second. TIMES=n repeats it: a
# poll comes sooner or later after the kill. With one that follows, 100 groups of 20 hosts are there; how long
# their joins took stands before it, also with durability "local", and whether LIDs, groups and members are
# what they were.
# shellcheck source=tests/system/lib.sh
# shellcheck disable=SC2016 # what status is asked for is Perl
. "$(dirname "$0")/../system/lib.sh"

spec=fattree:radix=36,levels=2 sm_lid=2000 managers=${ONLY:-weftd follows moves opensm}
if [ -n "${FULL:-}" ]; then
	spec=fattree:radix=36,levels=3 sm_lid=16000 managers=${ONLY:-weftd follows moves}
fi
if ! command -v opensm >/dev/null; then
	managers=${managers/opensm/}
fi
mapfile -t hosts < <("$BUILD/weftsim" topology "$spec" | awk -F '"' '/^(Hca|Ca)/ { print $2 }')
master_host=${hosts[0]} standby_host=${hosts[${#hosts[@]} / 2]} client=${hosts[-1]} asker=${hosts[1]}

now_us() {
	echo "${EPOCHREALTIME/./}"
}

# counts: "SETS SMPS PORT-SETS LFT-SETS MFT-SETS LFT-GETS MFT-GETS" that agents have met.
counts() {
	"$BUILD/weftsim" "do" stats | awk '/^SMPs at agents/ { on = 1; next } /^[^ ]/ { on = 0 }
		on { gets += $(NF - 1); sets += $NF; of[$1] = $NF; gets_of[$1] = $(NF - 1) }
		END { print sets + 0, gets + sets, of["PortInfo"] + 0, of["LinearForwardingTable"] + 0,
			of["MulticastForwardingTable"] + 0, gets_of["LinearForwardingTable"] + 0,
			gets_of["MulticastForwardingTable"] + 0 }'
}

# Lines of a log with the time at which they came.
stamp() {
	while IFS= read -r line; do
		printf '%s %s\n' "$(now_us)" "$line"
	done
}

is_quiet() {
	local sets

	sets=$(counts)
	sleep 2
	[ "${sets%% *}" = "$(counts | cut -d ' ' -f 1)" ]
}

start() { # NAME KIND HOST PRIORITY
	local options=()

	[ "$2" != moves ] || options=(-o "sm_lid=$sm_lid")
	case $2 in
	weftd) start_weftd "$1" "$3" -o "sm_priority=$4" -v ;;
	follows | moves)
		start_weftd "$1" "$3" -o "sm_priority=$4" -v -o "durability=\"$durability\"" \
			-o "ha_listen=\"${address[$1]}\"" -o "ha_peers=\"${address[a]}, ${address[b]}\"" \
			-o "ha_psk_file=\"$work/psk\"" -o registrations_per_port=100000 "${options[@]}"
		;;
	opensm) default_timers=y start_opensm "$1" "$3" -p "$4" -D 0x43 ;;
	esac
}

role_is() { # NAME KIND ROLE
	case $2:$3 in
	weftd:* | follows:* | moves:*) has_status "$1" '$_->{role}' "$3" ;;
	opensm:MASTER) matches 'SUBNET UP' "$1.log" ;;
	opensm:STANDBY) matches 'Entering STANDBY state' "$1.log" ;;
	esac
}

lid_of() {
	look address.txt "$1" ibaddr || return 1
	printf '%d' "$(sed -n 's/.*LID start \(0x[0-9a-f]*\).*/\1/p' address.txt)"
}

# after TEXT PATTERN: when the standby first said so.
after() {
	awk -v began="$began" -v text="$1" -v pattern="$2" '
		$0 ~ pattern { printf "  %-32s %9.1f ms\n", text, ($1 - began) / 1000; exit }' stamped
}

# until_set: prints when the last Set() had reached an agent, once the log says $done_pattern and it is quiet.
until_set() {
	local last=$began seen=${before%% *} now

	while [ $(($(now_us) - began)) -lt 300000000 ]; do
		now=$(counts | cut -d ' ' -f 1)
		if [ "$now" != "$seen" ]; then
			seen=$now last=$(now_us)
		fi
		if grep -qE "$done_pattern" stamped && [ $(($(now_us) - last)) -gt 3000000 ]; then
			break
		fi
		sleep 0.02
	done
	echo "$last"
}

at() { # TEXT US
	printf '  %-32s %7d.%d ms\n' "$1" $((($2 - began) / 1000)) $((($2 - began) / 100 % 10))
}

# One that follows

durability=standby
umask 077
od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >psk
umask 022
mapfile -t ports < <(perl -MIO::Socket::INET -e 'my @s = map { IO::Socket::INET->new(LocalAddr => "127.0.0.1",
	Listen => 1) } 1 .. 2; print join("\n", map { $_->sockport } @s), "\n"')
declare -A address=([a]=127.0.0.1:${ports[0]} [b]=127.0.0.1:${ports[1]})

# in_step WHO: registrations are acknowledged by the standby, or by the master alone (local).
in_step() {
	[ "$(ctl a ha status 2>/dev/null | json '$_->{acknowledged_by}, $_->{standbys}[0]{state}')" = "$1 in step" ]
}

# What has to be the same afterwards.
records() {
	"$BUILD/weftctl" -s "$1.run/control.sock" save "$1.json" >/dev/null && json 'map { my $r = $_; my $k = $r->{kind};
		$k eq "lid" ? "lid $r->{GUID} $r->{LID}\n" :
		$k eq "group" ? "group $r->{MGID} $r->{MLID}\n" :
		$k eq "member" ? "member $r->{MGID} $r->{PortGUID}\n" : () } @{$_->{records}}' <"$1.json" | sort
}

hosts_join() {
	wait_for 60 in_step "$durability" || because "the standby is not in step: $(ctl a ha status)" || return 1
	join_groups 1 100 20 || return 1
	awk -v how="$durability" '{ printf "weftd, durability %s: %d joins, median %.2f ms, 99 %% within %.2f ms\n",
		how, $1, $2 / 1000, $3 / 1000 }' join.err
}

# What a registration costs where no standby has to have it.
joins_local() {
	durability=local
	start_weftsim "$spec" && start a follows "$master_host" 5 || return 1
	wait_for 300 role_is a follows MASTER && wait_for 120 is_quiet || because "weftd does not come up" || return 1
	start b follows "$standby_host" 0 && wait_for 120 role_is b follows STANDBY && wait_for 60 is_quiet ||
		because "no standby" || return 1
	hosts_join || return 1
	kill_now b
	kill_now a
	stop_fabric
	rm -rf a.* b.*
	durability=standby
}

# ask_sa: until it answers at $lid; from when on, is in answered.
ask_sa() {
	on "$client" "$BUILD/tests/bench/sa_wait" "$lid" 300 >answered 2>answered.err &
	waiting=$!
}

# fails KIND HOW: the host stays, or goes with its master.
fails() {
	local kind=$1 how=$2 lid began last before after waiting

	done_pattern=$([ "$kind" = opensm ] && echo 'SUBNET UP' || echo 'sweep .*subnet up')
	start_weftsim "$spec" && start a "$kind" "$master_host" 5 || return 1
	wait_for 300 role_is a "$kind" MASTER && wait_for 120 is_quiet || because "$kind does not come up" || return 1
	start b "$kind" "$standby_host" 0 || return 1
	wait_for 120 role_is b "$kind" STANDBY && wait_for 60 is_quiet || because "no standby" || return 1
	if [ "$kind" = follows ] || [ "$kind" = moves ]; then
		hosts_join && wait_for 60 is_quiet && records a >records.before || return 1
	fi
	lid=$sm_lid
	[ "$kind" = moves ] || lid=$(lid_of "$standby_host")
	tail -n 0 -F b.log 2>/dev/null | stamp >stamped &
	pids[stamp]=$!
	[ "$kind" = moves ] || ask_sa
	sleep "1.$((RANDOM % 10))"
	before=$(counts)
	began=$(now_us)
	if [ "$how" = alone ]; then
		kill_now a
	else
		kill -STOP "${pids[a]}" # no kernel is left that would close its connections
		"$BUILD/weftsim" "do" "node down $master_host" >/dev/null
	fi
	[ "$kind" != moves ] || ask_sa # the master that dies would have answered there
	last=$(until_set)
	wait "$waiting" || because "$(cat answered.err)" || return 1
	after=$(counts)
	echo "$kind, $spec, the master is killed $([ "$how" = alone ] && echo "and its host lives" || echo "with its host"):"
	if [ "$kind" != opensm ]; then
		after "the master is taken for dead" 'STANDBY -> DISCOVERING'
		after "the standby is MASTER" '-> MASTER'
	else
		after "the master is taken for dead" 'Entering DISCOVERING state'
		after "the standby is MASTER" 'Entering MASTER state'
	fi
	at "its SA answers" "$(cat answered)"
	at "the last Set() has come" "$last"
	echo "$before $after" | awk '{ printf "  %d SMPs, %d Set(), of these %d PortInfo, %d LFT, %d MFT; Get() of %d LFT, %d MFT\n",
		$9 - $2, $8 - $1, $10 - $3, $11 - $4, $12 - $5, $13 - $6, $14 - $7 }'
	if [ "$kind" = follows ] || [ "$kind" = moves ]; then
		records b >records.after
		echo "  $(comm -12 records.before records.after | wc -l) of $(wc -l <records.before) LIDs, groups and members are what they were"
	fi
	kill_now stamp
	[ "$how" = alone ] || kill_now a
	kill_now b
	stop_fabric
	rm -rf a.* b.* stamped
}

for kind in $managers; do
	if [ "$kind" = follows ] && ! joins_local; then
		echo "failover: $reason" >&2
		exit 1
	fi
	for how in alone gone; do
		for ((i = 0; i < ${TIMES:-1}; i++)); do
			if ! fails "$kind" "$how"; then
				echo "failover: $reason" >&2
				exit 1
			fi
		done
	done
done
