#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Partitions of 3,456 hosts on weftsim. After each command ibping passes between members of one partition, and neither
# between two partitions nor between two limited members. A command writes only the P_Key tables of the ports that it
# names, and those of their switch ports. A partition with ipoib has its group, with its parameters. The writes of each
# command are printed, a line each. ibping uses the key at index 0, so the partitions here have indx0.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip partitions-large: the preload library and sanitizers exclude each other"
	exit 0
fi

declare -A guid=() lid=()
# The manager sends nothing on its own, and repeats nothing that is only slow.
quiet=(-o sweep_interval=0 -o readback_interval=0 -o smp_timeout_min=5000 -o smp_timeout=10000)
one=host-0002 two=host-0003 far=host-3400 # two below one switch, one at the other end

sim() {
	"$BUILD/weftsim" "do" "$@"
}

starts() {
	local name value number

	start_weftd w host-0001 -o 'partition_config_file=""' "${quiet[@]}" &&
		wait_for 120 is_up w || because "weftd: $(tail -n 1 w.log)" || return 1
	ctl w topology export --format json >nodes.json
	while read -r name value; do
		guid[$name]=$value
	done < <(json 'map { my $n = $_; map { "$n->{description} $_->{guid}\n" } @{$n->{end_ports} // []} } @{$_->{nodes}}' <nodes.json | awk NF)
	ctl w node list >list.json
	while read -r name number; do
		lid[$name]=$number
	done < <(json 'map { "$_->{description} $_->{lid}\n" } @$_' <list.json | awk NF)
	equal "the number of hosts" "$(grep -o '"host-[0-9]*"' list.json | sort -u | wc -l)" 3456 || return 1
	for name in $one $two $far; do
		(as_node "$name" ibping -S) >"$name.pong" 2>&1 &
		pids[$name]=$!
	done
	wait_for 20 pings $one $two && wait_for 20 pings $two $far && wait_for 20 pings $far $one ||
		because "ibping in the default partition: $(tail -n 1 ibping.txt)"
}

# pings FROM TO [OPTION]...
pings() {
	on "$1" ibping "${@:3}" -c 1 "${lid[$2]}" >ibping.txt 2>&1
	matches '1 packets transmitted, 1 received' ibping.txt
}

passes() {
	pings "$1" "$2" || because "$1 does not reach $2: $(tail -n 1 ibping.txt)"
}

# A missing answer may also be late, or caused by a missing route, so the count of packets dropped for their P_Key must
# have grown. MADs of the manager do not count there: they have the key of the default partition, which all ports hold.
is_shut() {
	runs "$2" || because "the server of $2 has ended" || return 1
	sim 'stats reset' >/dev/null
	! pings "$1" "$2" -t 300 || because "$1 reaches $2" || return 1
	matches '1 packets transmitted, 0 received, 100% packet loss' ibping.txt ||
		because "ibping from $1 to $2 did not run: $(tail -n 1 ibping.txt)" || return 1
	wait_for 20 key_refused || because "$2 does not answer $1, but no P_Key was refused"
}

key_refused() {
	sim stats | grep -qE '^dropped: bad P_Key +[1-9]'
}

# sets: Set() at agents since the count was reset, as "ATTRIBUTE NUMBER" on one line.
sets() {
	sim stats | awk '/^SMPs at agents/ { smps = 1; next } !/^ / { smps = 0 }
		smps && $3 > 0 { print $1, $3 }' | paste -sd ' '
}

# gets: Get() at agents since then, except the manager's reads of its own port.
gets() {
	sim stats | awk '/^SMPs at agents/ { smps = 1; next } !/^ / { smps = 0 }
		smps && $2 > 0 && !($1 == "PortInfo" && $2 < 100) { print $1, $2 }' | paste -sd ' '
}

# holds HOST KEYS: the keys in its own table, and in that of its switch port.
holds() {
	local front

	front=$(sim "show $1" | awk '$1 == 1 { print $(NF - 1), $NF }') # "leaf-001 2"
	equal "the keys of $1" "$(keys "$1" 1)" "$2" &&
		equal "the keys of the port before $1" "$(keys "${front% *}" "${front#* }")" "$2"
}

keys() {
	sim "pkeys $1 $2" | awk '$1 ~ /^[0-9]+$/ { print $2 }' | sort | paste -sd ' '
}

# costs SETS COMMAND...: partition commands write this number of P_Key tables, and nothing else, and read nothing.
costs() {
	local tables=$1

	shift
	sim 'stats reset' >/dev/null
	ctl w partition "$@" >command.out 2>&1 || because "$*: $(tail -n 1 command.out)" || return 1
	printf '  partition %s: %s\n' "$*" "${tables:-0} Set(P_KeyTable)"
	equal "Sets of $*" "$(sets)" "${tables:+P_KeyTable $tables}" && equal "Gets of $*" "$(gets)" ""
}

# is_dangerous TEXT COMMAND...: it is refused with this text, because it is not forced.
is_dangerous() {
	local wanted=$1

	shift
	ctl w partition "$@" >command.out 2>&1 && because "$* is not refused" && return 1
	matches "$wanted" command.out || because "$* says $(cat command.out)"
}

# The first partition makes all host ports enforce, once; the next partitions write nothing.
makes_partitions() {
	sim 'stats reset' >/dev/null
	ctl w partition add 0x5 five --indx0 >/dev/null || because "add 5 failed" || return 1
	wait_for 60 sets_are "PortInfo 3456" || because "the first partition set $(sets)" || return 1
	equal "Gets of the first partition" "$(gets)" "P_KeyTable 3456" || return 1
	printf '  partition add 0x5 five --indx0: 3456 Set(PortInfo), 3456 Get(P_KeyTable)\n'
	costs "" add 0x6 six --indx0
}

sets_are() {
	[ "$(sets)" = "$1" ]
}

one_partition() {
	costs 2 member add 5 "${guid[$one]}" && holds $one "0x8005 0xffff" && holds $two 0xffff || return 1
	is_shut $one $two && passes $far $two && is_shut $far $one || return 1
	costs 4 member add 5 "${guid[$two]}" "${guid[$far]}" || return 1
	holds $two "0x8005 0xffff" && holds $far "0x8005 0xffff" || return 1
	passes $one $two && passes $one $far && passes $far $two
}

two_partitions() {
	costs 2 member remove 5 "${guid[$far]}" && holds $far 0xffff || return 1
	is_shut $one $far && passes host-0001 $far || return 1
	costs 2 member add 6 "${guid[$far]}" && holds $far "0x8006 0xffff" || return 1
	is_shut $one $far && is_shut $far $two && passes $one $two
}

limited_members() {
	costs 2 member add 5 "${guid[$one]}" --limited && holds $one "0x0005 0xffff" || return 1
	passes $one $two || return 1
	is_dangerous 'so 2 limited members could reach no port in it .1 pair.: add --force' member add 5 "${guid[$two]}" --limited ||
		return 1
	costs 2 member add 5 "${guid[$two]}" --limited --force || return 1
	is_shut $one $two && is_shut $two $one || return 1
	costs 2 member add 5 "${guid[$two]}" --full || return 1
	passes $one $two && passes $two $one
}

# groups: MGID, P_Key, MTU, rate, Q_Key, TClass and FlowLabel of each group, a line each.
groups() {
	ctl w multicast list | json 'map { join(" ", @$_{qw(mgid p_key mtu rate_gbps q_key tclass flow_label)}) . "\n" } @$_' |
		sed 's/^ *//' | awk NF | sort
}

# Each partition with ipoib has its group, with the parameters of its command, and no other partition has a group. No
# P_Key table is written for them.
ipoib_groups() {
	local usual='ff12:401b:ffff::ffff:ffff 65535 2048 10 2843 0 0'

	equal "the groups" "$(groups)" "$usual" || return 1
	costs "" add 0x7 seven --ipoib --mtu 5 --rate 7 --q_key 0x77 --scope 5 || return 1
	costs "" add 0x8 eight --ipoib || return 1
	equal "the groups" "$(groups)" "ff12:401b:8008::ffff:ffff 32776 2048 10 2843 0 0
$usual
ff15:401b:8007::ffff:ffff 32775 4096 40 119 0 0" || return 1
	costs "" remove 7 && costs "" remove 8 || return 1
	equal "the groups afterwards" "$(groups)" "$usual"
}

# Commands that change nothing cost nothing, also for a missing port.
nothing_to_do() {
	costs "" member add 5 "${guid[$two]}" && costs "" member add 5 0xdead
}

partition_removed() {
	is_dangerous '2 ports would lose membership of 0x0005, and 1 pair' remove 5 && costs 4 remove 5 --force || return 1
	passes $one $two && is_shut $far $one # by the default partition's key again; index 0 of far is 6's
}

# 4,000 random partitions of 30 members.
make_file() {
	local name

	for name in "${!guid[@]}"; do
		case $name in host-*) echo "$name ${guid[$name]}" ;; esac
	done | sort >hosts.txt
	awk '{ guid[n++] = $2 }
		END {
			srand(1)
			print "Default=0x7fff, ipoib: ALL=limited, SELF=full;"
			for (p = 1; p <= 4000; p++) {
				printf "p%d=0x%x:", p, p
				for (m = 0; m < 30; m++)
					printf "%s %s=full", m ? "," : "", guid[int(rand() * n)]
				print ";"
			}
		}' hosts.txt >many.conf
	# The keys of each host, from the file alone.
	awk 'NR == FNR { host[$2] = $1; next }
		{ split($1, name, /[=:]/); p = substr(name[1], 2) + 0 }
		/^p/ { for (i = 2; i <= NF; i++) { split($i, guid, "="); print host[guid[1]], sprintf("0x%04x", 32768 + p) } }' \
		hosts.txt many.conf | sort -u >members.txt
	awk '{ print $1, $1 == "host-0001" ? "0xffff" : "0x7fff" }' hosts.txt | sort -u - members.txt >wanted.txt
}

# The tables of all hosts, in the same form; each begins with slot 0, which holds the default key.
tables() {
	awk '{ printf "pkeys %s 1%c", $1, 0 }' hosts.txt | xargs -0 -n 200 "$BUILD/weftsim" "do" |
		awk 'NR == FNR { name[NR] = $1; next } $1 == 0 { at++ } { print name[at], $2 }' hosts.txt - | sort -u
}

# One Set for each block that differs from the state after a reset: the blocks of the hosts, one block of each switch
# port whose table has room for the keys of its host, and the first block of each switch's port 0.
many_partitions() {
	local blocks

	make_file
	stop w >/dev/null
	stop_fabric
	start_weftsim fattree:radix=24,levels=3 || return 1
	start_weftd many host-0001 -o "partition_config_file=\"$PWD/many.conf\"" "${quiet[@]}" &&
		wait_for 120 is_up many || because "weftd: $(tail -n 1 many.log)" || return 1
	blocks=$(awk '{ keys[$1]++ } END {
		for (host in keys)
			n += int((keys[host] + 31) / 32) + (keys[host] <= 32)
		print n + 720 }' wanted.txt)
	wait_for 60 all_held || because "$(wc -l <differ.txt) keys of hosts differ: $(head -n 1 differ.txt)" || return 1
	printf '  4,000 partitions of 30: %s Set(P_KeyTable), blocks that differ: %s\n' "$(key_sets)" "$blocks"
	equal "Set(P_KeyTable)" "$(key_sets)" "$blocks" || return 1
	equal "requests that were repeated" "$(status many '$_->{window}{retries}')" 0
}

key_sets() {
	sim stats | awk '/^SMPs at agents/ { smps = 1; next } !/^ / { smps = 0 } smps && $1 == "P_KeyTable" { print $3 }'
}

all_held() {
	tables >held.txt
	comm -3 wanted.txt held.txt >differ.txt
	[ ! -s differ.txt ]
}

if start_weftsim fattree:radix=24,levels=3; then
	check "3,456 hosts, and all reach all" starts || finish
	check "two partitions are made" makes_partitions
	check "members of one reach each other" one_partition
	check "members of two do not" two_partitions
	check "limited members do not" limited_members
	check "partitions with ipoib have their groups" ipoib_groups
	check "commands without a change cost nothing" nothing_to_do
	check "a partition is removed" partition_removed
	check "4,000 partitions take one Set a block" many_partitions
else
	check "weftsim starts" false
fi
finish
