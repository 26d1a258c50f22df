# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2016 # expressions are Perl
#
# Two weftd, one and two, that replicate over the fabric: for inband.sh and inband-keys.sh, after lib.sh.

declare -A host=([one]=host-0001 [two]=host-0004)

# ha NAME EXPRESSION VALUE
ha() {
	[ "$(ctl "$1" ha status 2>/dev/null | json "$2")" = "$3" ]
}

# pair [OPTION]...: the first is MASTER, the second its standby in sync.
pair() {
	start_weftd one "${host[one]}" "$@" || return 1
	wait_for 30 is_up one || because "the first has no subnet: $(tail -n 1 one.log)" || return 1
	start_weftd two "${host[two]}" "$@" || return 1
	in_sync
}

# refused NUMBER: the first has refused this number of connections and messages.
refused() {
	[ "$(refusals)" -ge "$1" ]
}

refusals() {
	ctl one ha status | json '$_->{refused}{connections}'
}

in_sync() {
	wait_for 60 ha one '$_->{standbys}[0]{state}' 'in sync' || because "no standby is in sync: $(ctl one ha status)" || return 1
	wait_for 30 ha two '$_->{master}{state}' follows || because "the second does not follow: $(ctl two ha status)"
}

# copies WHAT: both show this setting.
copies() {
	ha one '$_->{carrier}, $_->{copies}, $_->{standbys}[0]{copies}' "fabric $1 $1" &&
		ha two '$_->{carrier}, $_->{copies}, $_->{master}{copies}' "fabric $1 $1" ||
		because "not '$1': $(ctl one ha status) $(ctl two ha status)"
}

both_end() {
	local name

	for name in one two; do
		[ -z "${pids[$name]:-}" ] || kill_now "$name"
	done
	rm -rf one.state two.state
}

takes_over() {
	kill_now one
	wait_for 30 is_up two || because "the second does not take over: $(tail -n 1 two.log)"
}
