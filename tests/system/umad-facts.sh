#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# weftsim's imitation of the kernel's umad, against the facts of the newest kernel in tests/golden/umad-newest.golden.
# tests/system/kernel.sh compares the kernel itself with the same file, on the same fabric, and writes it.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

golden=$root/tests/golden/umad-newest.golden

facts_agree() {
	local peer

	peer=$(ctl one port list host-0002 | json '$_->[0]{lid}') || because "no LID of host-0002" || return 1
	"$BUILD/weftsim" run -n host-0003 -- ./umad_facts /dev/infiniband 0 "$peer" >facts.txt 2>facts.err ||
		because "umad_facts: $(tail -n 1 facts.err)" || return 1
	diff "$golden" facts.txt >facts.diff || because "$(grep -c '^[<>]' facts.diff) lines differ: $(grep -m 2 '^[<>]' facts.diff | paste -sd ' ')"
}

"${CC:-cc}" -I"$root" -O2 -D_GNU_SOURCE -o umad_facts "$root/tests/system/umad_facts.c" || exit 1
check "a fabric" start_weftsim fattree:radix=4,levels=2 || finish
check "a manager" start_weftd one host-0001 -o 'partition_config_file="none.conf"' || finish
check "the facts of umad are those of the kernel" facts_agree
finish
