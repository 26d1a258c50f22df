#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The generated parts of pages equal the output of the programs from their tables: scripts/generate --check.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

export BUILD # for scripts/generate

pages_are_current() {
	(cd "$root" && scripts/generate --check) >differs.txt 2>&1 || because "$(head -n 1 differs.txt)"
}

requests_are_current() {
	"$BUILD/weftctl" --print-requests | cmp -s - "$root/docs/control.schema.json" || because "run \`make generated\`"
}

# Each command that a table of weftd has is in the schema, and no other.
requests_are_complete() {
	(cd "$root" && grep -rhoE '^\s*\{?.*\{"[a-z][a-z ]*", *[a-z_]+, CONTROL_[A-Z]+\}' sm sa ha pm store weftd lib --include='*.c') |
		sed -E 's/.*\{"([a-z ]+)", *[a-z_]+, CONTROL_.*/\1/' | sort >has.txt
	json 'map { "$_\n" } keys %{$_->{properties}}' <"$root/docs/control.schema.json" | sed 's/^ //; /^$/d' | sort >described.txt
	[ "$(wc -l <has.txt)" -gt 50 ] || because "only $(wc -l <has.txt) commands were found" || return 1
	equal "what the schema lacks, or has too much" "$(diff has.txt described.txt | grep '^[<>]' | paste -sd ';')" ""
}

# A page with another text in its generated part fails, and scripts/generate repairs it.
change_is_found() {
	sed 's/^Priority of this/Rank of this/' "$root/man/weftd.conf.5" >page.5
	cmp -s page.5 "$root/man/weftd.conf.5" && because "the page was not changed" && return 1
	"$root/scripts/generate" --check page.5 >differs.txt && because "the changed page passes" && return 1
	matches '^page.5: ' differs.txt || because "it says: $(cat differs.txt)" || return 1
	"$root/scripts/generate" page.5 >/dev/null && cmp -s page.5 "$root/man/weftd.conf.5" ||
		because "the page is not as before"
}

# A command that fails must not empty the page.
failure_is_found() {
	printf '.\\" generated: weftd --print-options no-such-form\ntext\n.\\" end of generated\n' >page.5
	cp page.5 before.5
	"$root/scripts/generate" page.5 >said.txt 2>&1 && because "the command did not fail" && return 1
	matches 'page.5: .*weftd --print-options no-such-form' said.txt || because "it says: $(cat said.txt)" || return 1
	cmp -s page.5 before.5 || because "the page was changed"
}

check "the pages equal the output of the programs" pages_are_current
check "docs/control.schema.json equals the table of commands" requests_are_current
check "docs/control.schema.json has each command of weftd" requests_are_complete
check "a page that differs is found" change_is_found
check "a command that fails is reported" failure_is_found
finish
