#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# A master dies by SIGKILL, alone or with its host, and its standby takes over, on weftsim. Prints the time of each
# step, in milliseconds from the kill, with its goal; the SMPs that agents received; and whether LIDs, groups, members,
# services and subscriptions are unchanged. ONLY="PART...":
#
#	weftd    two weftd that find each other through the fabric only
#	follows  the standby follows the master beside the fabric (durability "standby")
#	moves    the same with an sm_lid
#	opensm   two OpenSM in their default configuration
#	keys     as follows, with M_Keys at protection level 2; before it a restart, a rotation, a host without a key
#	large    as follows, with 11,664 hosts instead of 648; only when named
#	inband   the standby follows the master over the fabric, without a key (durability "standby")
#	inband-key, inband-large, inband-large-key  the same with a key, with 11,664 hosts, or with both; only if ONLY has them
#
# A third host sends a few hundred requests a second to the SA of the standby. weftsim is queried some thirty times a
# second for the Sets, and for the hosts that have the new SM LID and were notified to re-register: these times are when
# the query saw it. With 11,664 hosts, it is queried twice a second, and only after the SA has answered. TIMES=n repeats
# each part; QUICK is follows and keys. The time from the kill to the next poll varies.
# shellcheck source=tests/system/lib.sh
# shellcheck disable=SC2016 # expressions for status are Perl
. "$(dirname "$0")/../system/lib.sh"

parts=${ONLY:-weftd follows moves opensm keys inband}
[ -z "${QUICK:-}" ] || parts=${ONLY:-follows keys}
command -v opensm >/dev/null || parts=${parts/opensm/}
"${CC:-cc}" -O2 -o registrar "$root/tests/system/registrar.c" -libumad || exit 1

# Goals with 648 hosts. With 11,664 hosts rereg_rate alone takes 12 s.
declare -A answer_ms=([alone]=500 [gone]=1500) large_ms=([alone]=2000 [gone]=3000)
told_ms=3000

fabric_of() { # PART
	spec=fattree:radix=36,levels=2 sm_lid=2000
	[[ $1 != *large* ]] || spec=fattree:radix=36,levels=3
	mapfile -t hosts < <("$BUILD/weftsim" topology "$spec" | awk -F '"' '/^(Hca|Ca)/ { print $2 }')
	master_host=${hosts[0]} standby_host=${hosts[${#hosts[@]} / 2]} client=${hosts[-1]} asker=${hosts[1]}
}

now_us() {
	echo "${EPOCHREALTIME/./}"
}

# Figures: name, value and goal.

title() {
	printf '%s\n' "$*"
}

row() { # WHAT FIGURE [REMARK]
	printf '  %-44s\t%12s\t%s\n' "$1" "$2" "${3:-}"
}

# at WHAT US [GOAL-MS [REMARK]]: a moment, from the kill on.
at() {
	awk -v what="$1" -v us="$(($2 - began))" -v goal="${3:-}" -v remark="${4:-}" 'BEGIN {
		if (goal) text = "goal " goal " ms" (us > goal * 1000 ? ": MISSED" : "")
		printf "  %-44s\t%9.1f ms\t%s%s\n", what, us / 1000, text, text && remark ? ", " remark : remark }'
}

# all WHAT FIGURE OF: the value must equal the total.
all() {
	row "$1" "$2 of $3" "goal: all$([ "$2" = "$3" ] || echo ": MISSED")"
}

# State of the fabric

# look_around: $sets and $smps at agents, and since `stats reset` $known, $told and $ports: the active ports of hosts
# that have $lid as SM LID, those that were notified to re-register, and all. $sets_of has the Sets by attribute.
look_around() {
	"$BUILD/weftsim" "do" stats clients >stats.txt || return 1
	read -r sets smps known told ports sets_of < <(awk -v lid="$lid" '
		/^SMPs at agents/ { smp = 1; next }
		/^MasterSMLID/ { clients = 1; smp = 0; next }
		/^[^ ]/ { smp = 0 }
		smp { sets += $NF; smps += $NF + $(NF - 1); if ($NF) of = of ", " $NF " " $1 }
		clients { ports += $2; if ($1 == lid) { known = $2; told = $3 } }
		END { print sets + 0, smps + 0, known + 0, told + 0, ports + 0, substr(of, 3) }' stats.txt)
}

# sets_sent ATTRIBUTE: how many Set() of it agents received.
sets_sent() {
	awk -v name="$1" '$1 == name { print $NF; there = 1 } END { if (!there) print 0 }' stats.txt
}

# Lines of a log with their time.
stamp() {
	while IFS= read -r line; do
		printf '%s %s\n' "$(now_us)" "$line"
	done
}

is_quiet() {
	local before

	look_around
	before=$sets
	sleep 2
	look_around
	[ "$before" = "$sets" ]
}

# Managers

lid=0 durability=standby
umask 077
od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >psk
umask 022
mapfile -t listens < <(perl -MIO::Socket::INET -e 'my @s = map { IO::Socket::INET->new(LocalAddr => "127.0.0.1",
	Listen => 1) } 1 .. 2; print join("\n", map { $_->sockport } @s), "\n"')
declare -A address=([a]=127.0.0.1:${listens[0]} [b]=127.0.0.1:${listens[1]})

follows() { # PART
	[[ $1 =~ ^(follows|moves|keys|large|inband.*)$ ]]
}

start() { # NAME PART HOST PRIORITY
	local options=(-o "sm_priority=$4" -v)

	if [ "$2" = opensm ]; then
		default_timers=y start_opensm "$1" "$3" -p "$4" -D 0x43
		return
	fi
	[[ $2 != inband* ]] || options+=(-o "durability=\"$(durability_of "$2")\"" -o registrations_per_port=100000)
	[[ $2 != inband*key ]] || options+=(-o "ha_psk_file=\"$work/psk\"")
	! follows "$2" || [[ $2 = inband* ]] || options+=(-o "durability=\"$durability\"" -o "ha_listen=\"${address[$1]}\""
		-o "ha_peers=\"${address[a]}, ${address[b]}\"" -o "ha_psk_file=\"$work/psk\"" -o registrations_per_port=100000)
	[ "$2" != moves ] || options+=(-o "sm_lid=$sm_lid")
	[ "$2" != keys ] || options+=(-o 'm_key_mode="port"' -o "m_key_secret_file=\"$work/secret\""
		-o m_key_protection_level=2)
	start_weftd "$1" "$3" "${options[@]}"
}

role_is() { # NAME PART ROLE
	case $2:$3 in
	opensm:MASTER) matches 'SUBNET UP' "$1.log" ;;
	opensm:STANDBY) matches 'Entering STANDBY state' "$1.log" ;;
	*) has_status "$1" '$_->{role}' "$3" ;;
	esac
}

# lid_of NAME PART HOST: with M_Keys only the manager can read it.
lid_of() {
	if [ "$2" != opensm ]; then
		status "$1" '$_->{lid}'
	else
		look address.txt "$3" ibaddr && printf '%d' "$(sed -n 's/.*LID start \(0x[0-9a-f]*\).*/\1/p' address.txt)"
	fi
}

# lid_is_known PART: $lid has the LID of the standby.
lid_is_known() {
	lid=$(lid_of b "$1" "$standby_host")
	[ "${lid:-0}" != 0 ]
}

master_runs() { # PART
	start a "$1" "$master_host" 5 || return 1
	wait_for 300 role_is a "$1" MASTER && wait_for 120 is_quiet ||
		because "$1: the master does not come up: $(tail -n 1 a.log)"
}

# durability_of PART: without a key, the master waits for no standby over the fabric.
durability_of() {
	[[ $1 = inband* && $1 != *key ]] && echo local || echo "$durability"
}

# in_step DURABILITY: the standby is in sync, and acknowledges registrations, or the master alone does (local).
in_step() {
	[ "$(ctl a ha status 2>/dev/null | json '$_->{acknowledged_by}, $_->{standbys}[0]{state}')" = "$1 in sync" ]
}

standby_runs() { # PART
	start b "$1" "$standby_host" 0 || return 1
	wait_for 120 role_is b "$1" STANDBY && wait_for 60 is_quiet ||
		because "$1: no standby: $(tail -n 1 b.log)" || return 1
	! follows "$1" || wait_for 60 in_step "$(durability_of "$1")" || because "the standby is not in sync: $(ctl a ha status)"
}

all_end() {
	local name

	for name in a b; do
		[ -z "${pids[$name]:-}" ] || kill_now "$name"
	done
	if [ -n "${pids[stamp]:-}" ]; then
		wait "${pids[stamp]}" # its tail ends with b
		unset 'pids[stamp]'
	fi
	stop_fabric
	rm -rf a.* b.* stamped
}

# Registrations of hosts

REGISTRARS=108 # hosts; each that runs a program costs weftsim some 200 files
EACH=12        # of each: services, members, subscriptions in turn

# 100 groups of 20 members; the time of a join.
hosts_join() { # PART
	join_groups 1 100 20 || return 1
	row "a join, durability $(durability_of "$1"): median" "$(awk '{ printf "%.2f ms", $2 / 1000 }' join.err)" \
		"$(awk '{ printf "99 %% of %d within %.2f ms", $1, $3 / 1000 }' join.err)"
}

# Hosts all over the fabric, except the host that may be removed: its registrations are kept, but not shown.
hosts_register() {
	local step=$((${#hosts[@]} / REGISTRARS)) first=1 i

	for ((i = 1; i < ${#hosts[@]}; i += step, first += EACH)); do
		on "${hosts[i]}" "$work/registrar" $first $EACH >told.txt 2>said.txt ||
			because "${hosts[i]} cannot register: $(cat said.txt)" || return 1
	done
}

# All registrations and LIDs: "KIND VALUE", a line each.
records() {
	"$BUILD/weftctl" -s "$1.run/control.sock" save "$1.json" >/dev/null && json 'map { my $r = $_; my $k = $r->{kind};
		$k eq "lid" ? "lid $r->{GUID} $r->{LID}\n" :
		$k eq "group" ? "group $r->{MGID} $r->{MLID}\n" :
		$k eq "member" ? "member $r->{MGID} $r->{PortGUID}\n" :
		$k eq "service" ? "service $r->{ServiceID} $r->{ServiceGUID}\n" :
		$k eq "subscription" ? "subscription $r->{TrapNumber} $r->{SubscriberGUID}\n" : () } @{$_->{records}}' \
		<"$1.json" | sed 's/^ *//; /^$/d' | sort
}

# shown FILE: the same from the SA, as a host sees it; a line for each record.
shown() {
	local kind

	for kind in SR IIR MCMR; do
		ask "$kind" || return 1
		awk -v kind="$kind" '/dump:/ { if (line) print line; line = kind; next } { line = line $0 }
			END { print line }' answer.txt
	done | sort >"$1"
}

compare() {
	local kind before

	records b >records.after
	for kind in lid group member service subscription; do
		before=$(grep -c "^$kind " records.before)
		all "kept: ${kind}s" "$(comm -12 records.before records.after | grep -c "^$kind ")" "$before"
	done
	shown shown.after || return 1
	all "kept: records that saquery shows" "$(comm -12 shown.before shown.after | wc -l)" "$(wc -l <shown.before)"
}

# The failover

# ask_sa: until it answers at $lid; `answered` has the time.
ask_sa() {
	on "$client" "$BUILD/tests/bench/sa_wait" "$lid" 300 >answered 2>answered.err &
	waiting=$!
}

# until_done PART: $last_set and $last_told have the times of the last Set() at an agent, and of the last host that has
# $lid and its notification. Waits until the log has $done_pattern and the fabric is quiet.
until_done() {
	local now seen_sets=0 seen_told=0 pause=0.02

	# With 11,664 hosts, a query takes a good part of a processor.
	[[ $1 != *large* ]] || { pause=0.5 && wait "$waiting"; }

	last_set=$began last_told=$began
	while [ $(($(now_us) - began)) -lt 300000000 ]; do
		look_around
		now=$(now_us)
		[ "$sets" = "$seen_sets" ] || seen_sets=$sets last_set=$now
		[ "$told" = "$seen_told" ] || seen_told=$told last_told=$now
		if grep -qE "$done_pattern" stamped && [ $((now - last_set)) -gt 3000000 ]; then
			return
		fi
		sleep $pause
	done
}

# said WHAT PATTERN: when the log of the standby first had such a line.
said() {
	local us

	us=$(awk -v pattern="$2" '$0 ~ pattern { print $1; exit }' stamped)
	at "$1" "${us:-$began}"
}

fails() { # PART alone|gone
	local part=$1 how=$2 began waiting last_set last_told done_pattern=': subnet up' dead='STANDBY -> DISCOVERING'
	local master='-> MASTER'

	if [ "$part" = opensm ]; then
		done_pattern='SUBNET UP' dead='Entering DISCOVERING state' master='Entering MASTER state'
	fi
	if follows "$part"; then
		hosts_join "$part" && hosts_register && wait_for 60 is_quiet && records a >records.before && shown shown.before ||
			return 1
	fi
	lid=$sm_lid
	[ "$part" = moves ] || wait_for 60 lid_is_known "$part" || because "the LID of the standby is not known" || return 1
	tail -n 0 -f --pid="${pids[b]}" b.log 2>/dev/null | stamp >stamped &
	pids[stamp]=$!
	[ "$part" = moves ] || ask_sa
	sleep "1.$((RANDOM % 10))"
	"$BUILD/weftsim" "do" 'stats reset'
	began=$(now_us)
	if [ "$how" = alone ]; then
		kill_now a
	else
		kill -STOP "${pids[a]}" # no kernel is left that would close its connections
		"$BUILD/weftsim" "do" "node down $master_host" >/dev/null
	fi
	[ "$part" != moves ] || ask_sa # the master that dies would have answered there
	until_done "$part"
	wait "$waiting" || because "$(cat answered.err)" || return 1
	said "the master is taken for dead" "$dead"
	said "the standby is MASTER" "$master"
	at "its SA answers" "$(cat answered)" "$([[ $part = *large* ]] && echo "${large_ms[$how]}" || echo "${answer_ms[$how]}")"
	[ "$part" = moves ] ||
		at "the last host has it, and was notified" "$last_told" "$([[ $part = *large* ]] || echo $told_ms)"
	at "the last Set() has come" "$last_set"
	all "hosts that know it" "$known" "$ports"
	[ "$part" = moves ] || all "hosts that were notified to re-register" "$told" "$ports"
	row "SMPs" "$smps"
	row "Set()" "$sets" "$sets_of"
	row "Set(LinearForwardingTable)" "$(sets_sent LinearForwardingTable)" \
		"goal 0$([ "$(sets_sent LinearForwardingTable)" = 0 ] || echo ": MISSED")"
	! follows "$part" || compare
}

# a_failover PART HOW
a_failover() {
	fabric_of "$1"
	title "$1: ${#hosts[@]} hosts, the master is killed $([ "$2" = alone ] && echo "and its host lives" || echo "with its host")"
	start_weftsim "$spec" && master_runs "$1" && standby_runs "$1" && fails "$1" "$2"
}

# The time of a registration without a standby.
joins_local() {
	local durability=local

	fabric_of follows
	title "follows: ${#hosts[@]} hosts, the cost of a join without a standby"
	start_weftsim "$spec" && master_runs follows && standby_runs follows && hosts_join follows
}

# M_Keys

a_secret() {
	od -An -N32 -tx1 /dev/urandom | tr -d ' \n'
}

keys() { # EXPRESSION
	ctl a keys status 2>/dev/null | json "$1"
}

all_have_theirs() {
	[ "$(keys '$_->{protection_level} == 2 && $_->{protected} == $_->{ports} && !$_->{changing} ? "all" : "some"')" = all ]
}

# comes_up WHAT: the master starts.
comes_up() {
	start a keys "$master_host" 5 || return 1
	wait_for 60 is_up a || because "$1: no subnet: $(tail -n 1 a.log)" || return 1
	at "$1: subnet up" "$(now_us)"
	protected "$1"
}

# protected WHAT: the time from $began until every port has shown its key, and none is lost.
protected() {
	wait_for 60 all_have_theirs || because "$1: keys status says $(ctl a keys status)" || return 1
	at "$1: every port has shown its key" "$(now_us)"
	wait_for 60 is_quiet
	none_lost "$1"
}

# none_lost WHAT [NAME]: the link of every host is ACTIVE, all hosts reach each other, and each port has its key.
none_lost() {
	local name=${2:-a} away=${3:-0}

	look_around
	all "$1: hosts ACTIVE" "$ports" $((${#hosts[@]} - away))
	all "$1: ports with their key" "$(ctl "$name" keys status | json '$_->{protected}')" \
		"$(ctl "$name" keys status | json '$_->{ports}')"
	"$BUILD/weftsim" "do" check >check.txt || because "$1: $(tail -n 1 check.txt)"
}

# A host without keys sends some other hosts a Set() by LID that names another manager.
strangers() {
	local events victim lid told=0 number=20 i

	for ((i = 0; i < number; i++)); do
		victim=${hosts[${#hosts[@]} / 3 + 7 * i]}
		lid=$(ctl a node show "$victim" | json '$_->{ports}[0]{lid}')
		! look set.txt "$client" ibportstate -t 200 "$lid" 1 smlid 3 || told=$((told + 1))
	done
	row "strangers: Set(PortInfo) without the key, taken" "$told of $number" "goal 0$([ $told = 0 ] || echo ": MISSED")"
	lid=$(lid_of a keys)
	look_around
	all "strangers: hosts that know their manager" "$known" "${#hosts[@]}"
	sleep 1
	events=$(ctl a events 2>/dev/null | grep -c "wrong M_Key.*$client")
	row "strangers: events that name $client" "$events"
}

m_keys() {
	fabric_of keys
	title "keys: ${#hosts[@]} hosts, M_Keys of each port, protection level 2"
	(umask 077 && a_secret >secret)
	start_weftsim "$spec" || return 1
	began=$(now_us)
	comes_up "bring-up" || return 1
	kill_now a
	began=$(now_us)
	"$BUILD/weftsim" "do" 'stats reset'
	comes_up "restart" || return 1
	row "restart: Set(LinearForwardingTable)" "$(sets_sent LinearForwardingTable)" "goal 0"
	(umask 077 && { a_secret; echo; cat secret; } >secret.new && mv secret.new secret)
	began=$(now_us)
	ctl a keys rotate >/dev/null && protected "rotation" && strangers || return 1
	title "keys: the master is killed $([ "$1" = alone ] && echo "and its host lives" || echo "with its host")"
	standby_runs keys && fails keys "$1" && none_lost "failover" b "$([ "$1" = alone ] && echo 0 || echo 1)"
}

# measure COMMAND...
measure() {
	if ! "$@"; then
		echo "failover: $*: $reason" >&2
		exit 1
	fi
	all_end
}

for part in $parts; do
	[ "$part" != follows ] || measure joins_local
	for how in alone gone; do
		for ((i = 0; i < ${TIMES:-1}; i++)); do
			if [ "$part" = keys ]; then
				measure m_keys $how
			else
				measure a_failover "$part" $how
			fi
		done
	done
done
