#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# What the README tells people to paste works when it is pasted: the chapter of a fabric without hardware, as
# it stands there, in a folder of its own.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZE:-}" ]; then
	echo "skip readme: the preload library and sanitizers exclude each other"
	exit 0
fi
if ! command -v iblinkinfo >/dev/null; then
	echo "skip readme: no infiniband-diags here"
	exit 0
fi

pasted() {
	local status

	awk '/^## / { here = /^## A fabric without hardware/ } /^```/ { code = !code; next } here && code' \
		"$root/README.md" >block || return 1
	[ "$(wc -l <block)" -gt 5 ] || because "the chapter has no such block" || return 1
	# Job control, as people's shells have it: %1 and %2 are jobs.
	{ echo "set -m; trap 'kill \$(jobs -p) 2>/dev/null' EXIT" && sed "s|\$PWD/build|$BUILD|" block && echo 'wait'; } >script
	WEFTSIM_SOCKET=$work/readme.sock timeout 120 bash script >out.txt 2>err.txt
	status=$?
	matches 'sweep in ' out.txt && matches '^Manager +MASTER' out.txt && matches '"host-0648' out.txt ||
		because "(status $status) it says: $(tail -n 3 out.txt err.txt)" || return 1
	matches 'unreached=0' out.txt || because "weftsim do check says: $(grep -i reached out.txt)"
}

check "the README's fabric without hardware, pasted" pasted
finish
