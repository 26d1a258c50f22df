# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Common functions of the system tests, the benches and scripts/demo: a fabric of Debian's ibsim or of weftsim, managers
# on it, the standard tools, and a clean end. To be sourced. A script that sources it works in a folder of its own under
# mktemp, with simulators on socket names of their own. It leaves neither files nor processes, however it ends.
#
# A check is one function that returns 0 on success, and otherwise gives the reason with `because`. `check NAME
# FUNCTION...` runs it and prints its line for scripts/run-tests. No test sleeps to wait: `wait_for SECONDS COMMAND...`
# polls, and its seconds are the cost of a failure only.
set -u

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$(realpath -m "${BUILD:-$root/build}")
work=$(mktemp -d "${TMPDIR:-/tmp}/weft.XXXXXX") || exit 1
cd "$work" || exit 1 # the preload library keeps its files in the current folder
mkdir said

ibsim_run=$(command -v ibsim-run || echo /usr/bin/ibsim-run)
if ! command -v ibsim >/dev/null; then
	echo "not ok ${0##*/}: no ibsim here (scripts/install-deps installs it)"
	exit 1
fi
umad2sim=$(sed -n 's/^sim_so=//p' "$ibsim_run")

declare -A pids=() # running processes, by name
failures=0 reason='' fabrics=0 fabric='' console=''

# Ends remaining processes, and then removes the folder that they write to.
clean_up() {
	local status=$?

	trap - EXIT
	exec 2>/dev/null # bash would report that each was killed
	[ ${#pids[@]} -eq 0 ] || kill -KILL "${pids[@]}"
	wait
	cd / && rm -rf "$work"
	exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# because TEXT: the reason of the failed check; returns false.
because() {
	reason=$*
	return 1
}

show_logs() {
	local log

	for log in "$work"/*.log; do
		[ -s "$log" ] || continue
		echo "--- the end of ${log##*/}"
		tail -n 20 "$log"
	done
}

# check NAME COMMAND...: one line about one check.
check() {
	local name=$1

	shift
	reason=
	if "$@"; then
		echo "ok $name"
		return 0
	fi
	failures=$((failures + 1))
	echo "not ok $name: ${reason:-"\`$*\` failed"}"
	show_logs
	return 1
}

# To end a test: the exit status shows whether all checks passed.
finish() {
	[[ $0 != */system/* ]] || [ -z "$(ls "$work/said")" ] || check "JSON replies are as docs/weftctl.schema.json says" replies_fit
	exit $((failures > 0))
}

# fail WHY: ends a measurement that cannot continue.
fail() {
	local name=${0##*/}

	echo "${name%.sh}: $1" >&2
	exit 1
}

# equal WHAT GOT WANTED
equal() {
	[ "$2" = "$3" ] || because "$1 is ${2:-nothing}, not $3"
}

wait_for() {
	local deadline=$((SECONDS + $1))

	shift
	until "$@"; do
		[ $SECONDS -lt $deadline ] || return 1
		sleep 0.05
	done
}

# matches PATTERN FILE
matches() {
	grep -qE -- "$1" "$2" 2>/dev/null
}

# where_weft_exists COMMAND...: as root, with the service's user and group.
where_weft_exists() {
	{ grep -v '^weft:' /etc/passwd; echo 'weft:x:4242:4242::/:/bin/false'; } >"$work/passwd"
	{ grep -v '^weft:' /etc/group; echo 'weft:x:4242:'; } >"$work/group"
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount sh -c 'mount --bind "$0/passwd" /etc/passwd && mount --bind "$0/group" /etc/group && exec "$@"' \
		"$work" "$@"
}

# preload_library NAME: builds tests/system/NAME.c; prints its path, for $preload.
preload_library() {
	"${CC:-cc}" -shared -fPIC -O2 -o "$work/$1.so" "$root/tests/system/$1.c" && echo "$work/$1.so"
}

# Fabrics

# start_fabric SPEC|FILE: an ibsim with a console, which becomes the fabric of all functions here. Its limits are those
# of the net, because it allocates them all.
start_fabric() {
	local net=$1 limits

	fabrics=$((fabrics + 1))
	fabric=fabric-$fabrics
	export IBSIM_SOCKNAME=weft-$$-$fabrics
	if [ ! -e "$net" ]; then
		"$BUILD/weftsim" topology "$net" >"$fabric.net" || return 1
		net=$fabric.net
	fi
	limits=$(awk '/^(Switch|Hca|Ca|Rt)[ \t]/ { nodes++; ports += $2 + 1; switches += $1 == "Switch" }
		END { print "-N", nodes + 1, "-S", switches + 1, "-P", ports + 1 }' "$net")
	mkfifo "$fabric.console"
	# shellcheck disable=SC2086 # words are meant
	ibsim -s $limits "$net" <"$fabric.console" >"$fabric.log" 2>&1 &
	pids[$fabric]=$!
	exec {console}>"$fabric.console"
	wait_for 30 fabric_decided
	matches 'simulator ready' "$fabric.log" ||
		because "ibsim does not take $net: $(sed -n '/remote lid and connection/d; s/^ibwarn: //p' "$fabric.log" | tail -n 1)"
}

fabric_decided() {
	matches 'simulator ready' "$fabric.log" || ! runs "$fabric"
}

stop_fabric() {
	[ -n "${pids[$fabric]:-}" ] || return 0
	if [ -n "${WEFTSIM_SOCKET:-}" ]; then
		stop "$fabric"
		unset WEFTSIM_SOCKET
	else
		exec {console}>&-
		kill_now "$fabric"
	fi
	rm -rf "$fabric".*
}

# start_weftsim SPEC|FILE [OPTION]...: the same with weftsim; `weftsim do` is its console.
start_weftsim() {
	local topology=$1

	shift
	fabrics=$((fabrics + 1))
	fabric=weftsim-$fabrics
	export WEFTSIM_SOCKET=$work/$fabric.sock
	"$BUILD/weftsim" serve "$@" "$topology" >"$fabric.log" 2>&1 &
	pids[$fabric]=$!
	wait_for 60 weftsim_decided
	matches '^ready ' "$fabric.log" ||
		because "weftsim does not take $topology: $(tail -n 1 "$fabric.log")"
}

weftsim_decided() {
	matches '^ready ' "$fabric.log" || ! runs "$fabric"
}

# console COMMAND: as in `console 'Unlink "leaf-01"[5]'`. The command has taken effect when a later read shows it.
console() {
	echo "$*" >&"$console"
}

# as_node HOST COMMAND...: runs a program that sees the port of this node as the machine's own. $preload has libraries
# to load before the simulator's.
as_node() {
	local node=$1

	shift
	if [ -n "${WEFTSIM_SOCKET:-}" ]; then
		[ -z "${preload:-}" ] || export LD_PRELOAD=$preload
		exec "$BUILD/weftsim" run -n "$node" -- "$@"
	fi
	export SIM_HOST=$node LD_PRELOAD="${preload:+$preload }$umad2sim"
	exec "$@"
}

on() {
	(as_node "$@")
}

# look FILE HOST COMMAND...: writes a tool's output to FILE, and its errors to FILE.err. Tools must not die of a broken
# pipe: the simulator has few places and would not notice. Tools without an answer wait forever, because it has no
# time-outs. saquery sends one request and waits for a second, which a busy machine and a large table may exceed.
look() {
	local file=$1 host=$2 status

	shift 2
	[ "$1" != saquery ] || set -- saquery -t 10000 "${@:2}"
	on "$host" timeout 60 "$@" >"$file" 2>"$file.err"
	status=$?
	sed -i '/sim_connect: attached as client/d' "$file.err"
	return $status
}

# ask ARGUMENT...: saquery's answer at host-0002, or $asker, in answer.txt.
ask() {
	look answer.txt "${asker:-host-0002}" saquery "$@" || because "saquery $*: $(tail -n 1 answer.txt.err)"
}

# counts NUMBER PATTERN ARGUMENT...: this number of lines of the answer match.
counts() {
	local number=$1 pattern=$2

	shift 2
	ask "$@" || return 1
	equal "the number of '$pattern' that saquery $* shows" "$(grep -cE -- "$pattern" answer.txt)" "$number"
}

# ask_for_hosts: a LID and a GUID of each port of adapters and routers in hosts.txt, from the SA.
ask_for_hosts() {
	ask NR || return 1
	awk '/lid\.+/ { sub(/.*\.\.+/, ""); lid = $1 } /node_type\.+/ { host = /Channel|Router/ }
		/port_guid\.+/ { sub(/.*\.\.+/, ""); if (host) print lid, $1 }' answer.txt >hosts.txt
	[ -s hosts.txt ]
}

# join_groups FIRST NUMBER MEMBERS: this number of groups with this number of the hosts; in joined.txt.
join_groups() {
	ask_for_hosts || because "the SA tells no hosts" || return 1
	on "${asker:-host-0002}" "$BUILD/tests/bench/mc_join" hosts.txt "$@" >joined.txt 2>join.err || because "$(cat join.err)"
}

# Managers

# Sanitizers: the library of AddressSanitizer must stand before the preload library. ibsim's library copies beyond its
# buffers, which is a known error.
sanitizer=
case ${SANITIZE:-} in
*address*)
	sanitizer=$("${CC:-gcc}" -print-file-name=libasan.so)
	echo "interceptor_via_lib:libumad2sim" >sanitizer.supp
	export ASAN_OPTIONS="detect_leaks=0:suppressions=$work/sanitizer.supp"
	;;
*thread*)
	echo "race:libumad2sim.so" >sanitizer.supp
	export TSAN_OPTIONS="suppressions=$work/sanitizer.supp"
	;;
esac

# $conf is its configuration file, if any; $runner has words before it, such as valgrind.
runner=()
become_weftd() {
	local name=$1 host=$2

	shift 2
	preload=${sanitizer:+$sanitizer }${preload:-}
	# ibsim and its preload library can block each other in write() when many requests are under way, so that
	# counters are read only where a test asks for it.
	[ -n "${WEFTSIM_SOCKET:-}" ] || set -- -o perf_interval=0 "$@"
	as_node "$host" "${runner[@]}" "$BUILD/weftd" -c "${conf:-/dev/null}" --runtime-dir "$work/$name.run" \
		--state-dir "$work/$name.state" "$@" >>"$name.log" 2>&1
}

# weftd NAME HOST [ARGUMENT]...: runs weftd to its end, with its output in NAME.log.
weftd() {
	: >"$1.log"
	(become_weftd "$@")
}

# start_weftd NAME HOST [ARGUMENT]...: a daemon for `ctl NAME`.
start_weftd() {
	: >"$1.log"
	become_weftd "$@" &
	pids[$1]=$!
	wait_for 20 answers "$1" && runs "$1" || because "weftd does not answer: $(tail -n 1 "$1.log")"
}

answers() {
	ctl "$1" status >/dev/null 2>&1 || ! runs "$1"
}

runs() {
	kill -0 "${pids[$1]}" 2>/dev/null
}

# start_opensm NAME HOST [ARGUMENT]...: an OpenSM that notices the loss of its master within a second or, with
# $default_timers, after its default time.
start_opensm() {
	local name=$1 host=$2

	shift 2
	mkdir -p "$name.d"
	: >"$name.conf"
	[ -n "${default_timers:-}" ] ||
		printf '%s\n' 'sminfo_polling_timeout 200' 'polling_retry_number 3' >"$name.conf"
	(
		export OSM_TMP_DIR=$work/$name.d OSM_CACHE_DIR=$work/$name.d
		as_node "$host" opensm -F "$work/$name.conf" -e -d 2 -f "$work/$name.log" "$@"
	) >"$name.out" 2>&1 &
	pids[$name]=$!
	wait_for 20 test -s "$name.log" || because "opensm does not start: $(tail -n 1 "$name.out")"
}

# opensm_once DIR ENGINE [OPTION]...: brings the fabric up once. DIR has its dumps and opensm.log, and DIR/time its user
# and system seconds and its memory in KiB.
opensm_once() {
	local dir=$work/$1 engine=$2

	shift 2
	rm -rf "$dir" && mkdir "$dir"
	# 0x43: errors, events, and the dumps of tables
	OSM_TMP_DIR=$dir OSM_CACHE_DIR=$dir "$BUILD/weftsim" run -- /usr/bin/time -q -o "$dir/time" -f '%U %S %M' \
		opensm -o -R "$engine" "$@" -D 0x43 -e -f "$dir/opensm.log" >"$dir/out" 2>&1 ||
		because "opensm: $(tail -n 1 "$dir/out")"
}

ended() {
	! runs "$1"
}

# stop NAME [SIGNAL]: sends the signal; returns the exit status.
stop() {
	local pid=${pids[$1]} status

	kill "-${2:-TERM}" "$pid" 2>/dev/null
	if ! wait_for 20 ended "$1"; then
		kill_now "$1"
		because "$1 does not end after the signal"
		return 1
	fi
	wait "$pid" 2>/dev/null
	status=$?
	unset "pids[$1]"
	return $status
}

kill_now() {
	local pid=${pids[$1]}

	{
		kill -KILL "$pid"
		wait "$pid"
	} 2>/dev/null
	unset "pids[$1]"
}

# Queries to weftd

# ctl NAME COMMAND...: the answer as JSON. said/ keeps the last answer of each command line, for replies_fit.
ctl() {
	local name=$1 words

	shift
	words="$*"
	words=${words//[^A-Za-z0-9.]/_}
	"$BUILD/weftctl" -s "$work/$name.run/control.sock" --json "$@" | tee "$work/said/${words:0:200}@$name"
	return "${PIPESTATUS[0]}"
}

# The kept answers fit the schema, without unknown members; that of a refused command is its error. An answer that ended
# in the middle is no JSON; the caller checks it.
replies_fit() {
	/usr/bin/python3 - "$root/docs/weftctl.schema.json" "$work"/said/* >unfit.txt 2>&1 <<-'END' || because "$(tail -n 1 unfit.txt)"
		import json, os, sys
		from jsonschema import Draft202012Validator as Validator
		from jsonschema.exceptions import best_match

		def read(path):
		    text = open(path, errors="replace").read()
		    try:
		        return [json.loads(text)]
		    except ValueError:
		        try:
		            return [json.loads(line) for line in text.splitlines()]
		        except ValueError:
		            return []

		schema = json.load(open(sys.argv[1]))
		Validator.check_schema(schema)
		commands = sorted(schema["properties"], key=len, reverse=True)
		judges = {name: Validator({**schema["properties"][name], "$defs": schema["$defs"]}) for name in commands}
		failure = Validator({"$ref": "#/$defs/error", "$defs": schema["$defs"]})
		for path in sys.argv[2:]:
		    words = os.path.basename(path).split("@")[0] + "_"
		    for reply in read(path):
		        name = next((c for c in commands if words.startswith(c.replace(" ", "_") + "_")), None)
		        refused = isinstance(reply, dict) and "error" in reply
		        if not name and not refused:
		            sys.exit(f"no such command: {words}")
		        judge = failure if refused else judges[name]
		        error = best_match(judge.iter_errors(reply))
		        if error:
		            sys.exit(f"{name}: at {error.json_path}: {error.message[:300]}")
	END
}

# json EXPRESSION: the value of a Perl expression for the JSON document $_ on stdin: '$_->{sweep}{sets}'.
json() {
	perl -MJSON::XS -MList::Util=sum0 -0777 -ne '$_ = decode_json($_); my @a = ('"$1"'); print "@a\n"'
}

# status NAME EXPRESSION: the same for the status of weftd.
status() {
	ctl "$1" status 2>/dev/null | json "$2"
}

# The expression for the number of SMPs in status that fulfil a condition.
sent() {
	echo "sum0(map { \$_->{sent} } grep { $1 } @{\$_->{smps}})"
}

# has_status NAME EXPRESSION VALUE
has_status() {
	[ "$(status "$1" "$2")" = "$3" ]
}

# A master whose last sweep met no error and that has no more work.
is_up() {
	has_status "$1" '$_->{role}, $_->{state}, $_->{sweeping} ? 1 : 0' 'MASTER subnet up 0'
}

# told_event NAME KIND PATTERN: a new event of this kind matches.
told_event() {
	wait_for 10 has_event "$@" || because "no event of kind $2 says: $3"
}

has_event() {
	"$BUILD/weftctl" -s "$work/$1.run/control.sock" events >events.out && matches " $2 .*$3" events.out
}

# The fabric as the standard tools see it

# The cabled ports of a net file, from its simulator: both ends of each cable.
cabled_ports() {
	grep -cE '^\[[0-9]+\]' "$1"
}

# links_active HOST PORTS: iblinkinfo finds this number of cabled ports, each of them Active.
links_active() {
	local host=$1 ports=$2 active other

	look links.txt "$host" iblinkinfo --line || because "iblinkinfo: $(tail -n 1 links.txt.err)" || return 1
	active=$(grep -c 'Active/ *LinkUp' links.txt)
	other=$(grep -E 'LinkUp|Init|Armed' links.txt | grep -vc 'Active/ *LinkUp')
	equal "the number of cabled ports that are not Active" "$other" 0 || return 1
	equal "the number of Active ports" "$active" "$ports"
}

# lids_unique HOST NODES: ibnetdiscover finds this number of nodes, and each end port has a LID of its own. A port of an
# adapter has a GUID after its number.
lids_unique() {
	local host=$1 nodes=$2 seen twice

	look net.txt "$host" ibnetdiscover || because "ibnetdiscover: $(tail -n 1 net.txt.err)" || return 1
	seen=$(grep -cE '^(Switch|Ca|Rt)[[:space:]]' net.txt)
	equal "the number of nodes" "$seen" "$nodes" || return 1
	end_lids net.txt >lids.txt
	grep -qE '^0$' lids.txt && { because "a port has no LID"; return 1; }
	twice=$(sort lids.txt | uniq -d | head -n 3 | tr '\n' ' ')
	equal "the list of LIDs given twice" "$twice" ""
}

# end_lids NET: the LID of each switch and of each adapter port, one a line.
end_lids() {
	awk '/^Switch/ { sub(/.* lid /, ""); print $1; sw = 1 }
		/^(Ca|Rt)/ { sw = 0 }
		/^\[/ && !sw { sub(/.*\t# lid /, ""); print $1 }' "$1"
}

# read_lfts FILE HOST: every entry of every switch's table, as "GUID LID PORT" in order.
read_lfts() {
	local file=$1 host=$2

	look "$file.raw" "$host" dump_lfts || because "dump_lfts: $(tail -n 1 "$file.raw.err")" || return 1
	awk '/^Unicast lids/ { match($0, /guid 0x[0-9a-f]+/); guid = substr($0, RSTART + 5, RLENGTH - 5) }
		/^0x/ { print guid, $1, $2 }' "$file.raw" | sort >"$file"
	test -s "$file" || because "dump_lfts shows no table"
}

# changed_blocks BEFORE AFTER: how many blocks of 64 LIDs of the switches in AFTER differ from BEFORE. All blocks of a
# new switch count.
changed_blocks() {
	comm -3 "$1" "$2" | perl -e \
		'open(my $after, "<", shift); while (<$after>) { $there{(split)[0]} = 1 }
		while (<STDIN>) { my ($guid, $lid) = split; $block{$guid . (hex($lid) >> 6)} = 1 if $there{$guid} }
		print scalar(keys %block), "\n"' "$2"
}
