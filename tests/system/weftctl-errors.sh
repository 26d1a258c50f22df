#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# weftctl with errors: in the arguments, at the socket, in the answer, with a daemon that dies during a command, and
# with a closed output. Each time the exit status shows the kind of error, one line gives the error and the remedy, and
# no other client is delayed.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

# says STATUS PATTERN ARGUMENT...: this status, with one matching line and nothing else.
says() {
	local wanted=$1 pattern=$2 status

	shift 2
	timeout 20 "$BUILD/weftctl" "$@" >out.txt 2>err.txt
	status=$?
	equal "the exit status of weftctl $*" $status "$wanted" || return 1
	one_line "$pattern" || because "weftctl $*: $reason" || return 1
	[ ! -s out.txt ] || because "weftctl $* says for all that: $(head -n 2 out.txt)"
}

one_line() {
	matches "^weftctl: $1" err.txt || because "it says: $(head -n 3 err.txt)" || return 1
	equal "the number of lines it says" "$(wc -l <err.txt)" 1
}

# Arguments; no daemon is queried.

typed_wrongly() {
	local pattern arguments

	while IFS='|' read -r arguments pattern; do
		# shellcheck disable=SC2086 # words are meant
		says 2 "$pattern" -s /nonexistent/socket $arguments || return 1
	done <<-'END'
		|no command given; --help lists the commands$
		stauts|unknown command "stauts"; did you mean "status".$
		node lst|unknown command "node lst"; did you mean "node list".$
		nodes list|unknown command "nodes list"; did you mean "node list".$
		node|unknown command "node"; choose from "node list", "node show"$
		partitons list|unknown command "partitons list"; did you mean "partition list".$
		nodse|unknown command "nodse"; choose from "node list", "node show"$
		show node leaf-01|unknown command "show node leaf-01"; did you mean "node show".$
		partition ad|unknown command "partition ad"; did you mean "partition add".$
		partition member ad|unknown command "partition member ad"; did you mean "partition member add".$
		partition member|unknown command "partition member"; choose from "partition member add", "partition member remove"$
		nonsense|unknown command "nonsense"; --help lists the commands$
		stauts --help|unknown command "stauts"; did you mean "status".$
		status extra|unexpected "extra": weftctl status$
		node list extra|unexpected "extra": weftctl node list$
		node show|NODE is missing: weftctl node show NODE$
		route show a|DST is missing: weftctl route show SRC DST \[--sl N\]$
		route plan|--engine is missing: weftctl route plan --engine NAME$
		sweep fast|"fast" is not light.heavy: weftctl sweep \[light.heavy\]$
		port show leaf-01 0|"0" is not a port: a number from 1 to 254$
		port list --force|unexpected "--force": weftctl port list \[NODE\]$
		port disable leaf-01 1 --forse|no option "--forse"; did you mean "--force".$
		status --bogus|no option "--bogus"; --help lists them$
		status -x|no option "-x"; --help lists them$
		--jsno status|no option "--jsno"; did you mean "--json".$
		route plan --engine|--engine needs a value; --help says which$
		-s|-s needs a value; --help says which$
		events --since x|"x" is not the number of an event, or a time: "2026-11-27 10:30", "10:30", "today", "2h"$
	END
}

# With --json an error is a document on stdout, with the lines of stderr and the exit status.
errors_are_json() {
	local status

	"$BUILD/weftctl" --json -s /nonexistent/socket node list >out.txt 2>err.txt
	status=$?
	equal "the exit status" $status 3 && equal "the status in the document" "$(json '$_->{error}{status}' <out.txt)" 3 || return 1
	equal "the lines in the document" "$(json '@{$_->{error}{lines}}' <out.txt)" "$(sed 's/^weftctl: //' err.txt)" || return 1
	"$BUILD/weftctl" --json node lst >out.txt 2>err.txt
	equal "the status of wrong words" "$(json '$_->{error}{status}' <out.txt)" 2
}

# The socket

nobody_there() {
	says 3 "no weftd answers on $work/nothing: it does not run, or uses another socket .set -s or .WEFT_SOCKET.$" -s "$work/nothing" status &&
		says 3 "no weftd answers on $work/daemon.run/control.sock: it does not run" status
}

# left_behind: the socket file of a killed daemon.
left_behind() {
	[ -S "$WEFT_SOCKET" ] || because "there is no socket file" || return 1
	says 3 "no weftd answers on $WEFT_SOCKET: it does not run" status &&
		says 3 "no weftd answers on $WEFT_SOCKET" events --follow && says 3 "no weftd answers on $WEFT_SOCKET" save saved.json || return 1
	[ ! -e saved.json ] || because "save leaves a file"
}

no_rights() {
	local status

	chmod 711 "$work" "$work/daemon.run"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$BUILD/weftctl" status >out.txt 2>err.txt
	status=$?
	equal "the exit status" $status 1 || return 1
	one_line "no rights on $WEFT_SOCKET: root and group $(stat -c %G "$WEFT_SOCKET") may connect; for commands that change nothing try -s .../control-ro.sock"
}

# Answers

# fake REPLY: a server that reads a request, sends this reply, and closes. Its socket is fake.sock.
fake() {
	rm -f fake.sock
	perl -MIO::Socket::UNIX -e 'my $l = IO::Socket::UNIX->new(Local => "fake.new", Listen => 1) or die;
		rename "fake.new", "fake.sock"; alarm 60; my $s = $l->accept; <$s>; print $s shift' "$1" &
	pids[fake]=$!
	wait_for 10 test -S fake.sock
}

# The server may also have ended by itself.
stop_fake() {
	stop fake || [ -z "${pids[fake]:-}" ]
}

# answered STATUS PATTERN REPLY ARGUMENT...: as says, from a server with this reply.
answered() {
	fake "$3" && says "$1" "$2" -s fake.sock "${@:4}" && stop_fake
}

strange_replies() {
	local speaks='invalid answer on fake.sock: another program uses this socket' ended='weftd on fake.sock closed the connection before its answer was complete'

	answered 1 "$speaks" $'HTTP/1.0 400 Bad Request\n' status &&
		answered 1 "$speaks" $'{}\n' node list && answered 1 "$speaks" $'[1,2]\n' status && answered 1 "$speaks" $'\n' status &&
		answered 1 "$speaks" $'{"ok":"yes","result":1}\n' status && answered 1 "$speaks" $'\x80\xff\n' status &&
		answered 1 "$ended" '' status && answered 1 "$ended" '{"ok":true,"result":{}}' status &&
		answered 1 "$ended" $'{"part":{"ports":[{"guid":"0x1","port":1}]}}\n' port list &&
		answered 1 'why not$' $'{"ok":false,"error":"why not"}\n' sweep &&
		answered 1 '.bell and .?.escape$' $'{"ok":false,"error":"\\u0007bell and \\u001bescape"}\n' sweep
}

# Members of any type, or none: nothing crashes, and missing values are shown as missing.
strange_members() {
	local command reply

	for command in status 'node list' 'port list' 'ha status' 'route check' 'perf errors' 'config reload' 'log level' 'keys status' events; do
		for reply in '{"ok":true,"result":null}' '{"ok":true,"result":[]}' '{"ok":true,"result":"text"}' '{"ok":true,"result":{"peers":5,"sweep":"x"}}' \
			$'{"part":7}\n{"ok":true}' $'{"part":{"nodes":[7,null],"ports":{"a":1},"events":["x",{}]}}\n{"ok":true}'; do
			fake "$reply"$'\n' || return 1
			# shellcheck disable=SC2086 # words are meant
			timeout 20 "$BUILD/weftctl" -s fake.sock $command >out.txt 2>&1
			[ $? -le 1 ] || because "weftctl $command ends with $? after $reply" || return 1
			stop_fake || return 1
		done
	done
}

# A server of another version is named in a refusal. Commands that it knows work.
other_version() {
	answered 1 'there is no command "perf top" .weftd is of version 0.0.9, this is [0-9.]*: after an upgrade weftd has to be started again.$' \
		$'{"ok":false,"error":"there is no command \\"perf top\\"","version":"0.0.9"}\n' perf top || return 1
	fake $'{"ok":true,"result":{"role":"MASTER"},"version":"0.0.9"}\n'
	"$BUILD/weftctl" -s fake.sock --json status >out.txt && matches '"role": "MASTER"' out.txt || because "it says: $(cat out.txt)"
}

# A daemon that dies

daemon_runs() {
	start_weftd daemon host-0001 && wait_for 30 is_up daemon || because "weftd has no subnet: $(tail -n 1 daemon.log)"
}

# The follower has shown all earlier events, and gives the reason of its end.
dies_while_followed() {
	local status

	"$BUILD/weftctl" events --follow --since 0 >out.txt 2>err.txt &
	pids[follower]=$!
	wait_for 10 matches 'DISCOVERING -> MASTER' out.txt || because "nothing is shown" || return 1
	kill_now daemon
	wait "${pids[follower]}"
	status=$?
	unset "pids[follower]"
	equal "the exit status" $status 1 && one_line "weftd on $WEFT_SOCKET closed the connection before its answer was complete: it ended, or"
}

has_asked() {
	find "/proc/${pids[asker]}/fd" -lname 'socket:*' 2>/dev/null | grep -q .
}

# before_reply COMMAND...: the daemon has the request, and does not answer.
before_reply() {
	local status

	kill -STOP "${pids[daemon]}"
	"$BUILD/weftctl" "$@" >out.txt 2>err.txt &
	pids[asker]=$!
	wait_for 10 has_asked && sleep 0.2
	runs asker || because "weftctl $* does not wait: $(cat err.txt)" || return 1
	kill_now daemon
	wait "${pids[asker]}"
	status=$?
	unset "pids[asker]"
	equal "the exit status of weftctl $*" $status 1 && one_line "weftd on $WEFT_SOCKET closed the connection before its answer was complete" || return 1
	[ ! -s out.txt ] || because "weftctl $* says for all that: $(head -n 2 out.txt)"
}

# Readers

# deaf: sends requests and never reads; ends when the daemon closes its connection.
deaf() {
	exec perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, sockaddr_un(shift)) or die;
		setsockopt(S, SOL_SOCKET, SO_RCVBUF, 2048); $SIG{PIPE} = "IGNORE"; $SIG{ALRM} = sub { die "not dropped" };
		alarm 150; 1 while send(S, "{\"command\":\"port list\"}\n" x 100, 0)' "$WEFT_SOCKET"
}

# others_are_served: clients that do not read delay no other client.
others_are_served() {
	local i

	for i in 1 2 3 4 5; do
		timeout 5 "$BUILD/weftctl" node list >out.txt 2>err.txt || because "status $? of the $i.: $(cat err.txt)" || return 1
	done
	timeout 10 "$BUILD/weftctl" sweep >out.txt || because "no sweep"
}

slow_pipe() {
	"$BUILD/weftctl" port list 2>err.txt | (
		sleep 2
		cat >slow.txt
	) &
	pids[slow]=$!
	others_are_served || return 1
	wait "${pids[slow]}"
	unset "pids[slow]"
	equal "how many lines come for all that" "$(wc -l <slow.txt)" "$("$BUILD/weftctl" port list | wc -l)" && [ ! -s err.txt ]
}

closed_pipe() {
	local command status

	for command in 'port list' '--json port list' 'events' '--help' 'perf metrics'; do
		# shellcheck disable=SC2086 # words are meant
		"$BUILD/weftctl" $command 2>err.txt | head -n 1 >out.txt
		status=${PIPESTATUS[0]}
		[ "$status" = 0 ] || [ "$status" = 141 ] || because "weftctl $command ends with $status" || return 1
		[ ! -s err.txt ] && [ "$(wc -l <out.txt)" = 1 ] || because "weftctl $command says $(cat err.txt)" || return 1
	done
}

full_disk() {
	local command status

	for command in status 'port list' '--json port list' events '--json events' 'events --follow --since 0' 'perf metrics' \
		'topology export --format net' 'save -' 'capture - --seconds 5' 'completion bash' --help --version 'help port'; do
		# shellcheck disable=SC2086 # words are meant
		timeout 20 "$BUILD/weftctl" $command >/dev/full 2>err.txt
		status=$?
		equal "the exit status of weftctl $command" $status 1 || return 1
		one_line 'cannot write .*: No space left on device' || because "weftctl $command: $reason" || return 1
	done
}

# The daemon closes its connection a minute after it last read; this is logged and counted.
dropped() {
	wait_for 100 ended deaf || because "it is not dropped" || return 1
	wait "${pids[deaf]}" || because "it ends by itself" || return 1
	unset "pids[deaf]"
	wait_for 5 matches 'a client of the control socket was dropped: it did not read \(1 so far\)' daemon.log ||
		because "the log does not tell" || return 1
	is_up daemon
}

# Former names work, with a warning.
former_names() {
	"$BUILD/weftctl" -s "$work/none" sweep full 2>said.txt
	equal "the status without a daemon" $? 3 || return 1
	equal "the first line" "$(head -n 1 said.txt)" 'weftctl: warning: "full" is now called "heavy"'
}

# -o and --noheadings are refused if they have no effect, and a wrong column is reported with the list of columns.
columns_refused() {
	local wanted

	while IFS='|' read -r words wanted; do
		# shellcheck disable=SC2086 # words are meant
		"$BUILD/weftctl" $words 2>said.txt >out.txt
		equal "the status of weftctl $words" $? 2 || return 1
		equal "the output of weftctl $words" "$(cat said.txt)" "weftctl: $wanted" || return 1
	done <<'END'
log level -o LEVELS|no column "LEVELS"; the columns are COMPONENT, LEVEL
status -o LID|-o is for lists: "status" prints no list
perf errors --noheadings|--noheadings is for lists: "perf errors" prints no list
--json node list -o LID|-o and --json exclude each other
--json node list --noheadings|--noheadings and --json exclude each other
node list -o|-o needs a value; --help says which
END
}

export WEFT_SOCKET=$work/daemon.run/control.sock
check "a mistyped word is reported, with similar words" typed_wrongly
check "errors are JSON with --json" errors_are_json
check "former names are accepted with a warning" former_names
check "columns that cannot be selected" columns_refused
check "no daemon, and no socket" nobody_there
check "replies that are none" strange_replies
check "replies with members that are none" strange_members
check "replies of another version" other_version
if [ -n "${SANITIZE:-}" ]; then
	echo "skip daemons: weftsim's preload library and sanitizers do not go together"
	finish
fi
check "a fabric" start_weftsim fattree:radix=16,levels=2 || finish
check "a daemon" daemon_runs || finish
deaf 2>deaf.err &
pids[deaf]=$!
check "a client that never reads delays no other" others_are_served
check "a slowly read pipe delays no other client" slow_pipe
check "a pipe that is closed" closed_pipe
check "a disk that is full" full_disk
if setpriv --reuid 65534 --regid 65534 --clear-groups "$BUILD/weftctl" --version >/dev/null 2>&1; then
	check "a socket without rights" no_rights
else
	echo "skip a socket without rights: no other user may run $BUILD/weftctl"
fi
check "a client that never reads is dropped" dropped
check "a daemon dies while it is followed" dies_while_followed
check "the socket that it leaves behind" left_behind
for command in sweep 'port list' 'route check' 'partition add 0x0005'; do
	# shellcheck disable=SC2086 # words are meant
	check "a new daemon" daemon_runs && check "it dies before it answers $command" before_reply $command
done
finish
