#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Tables of weft's engines before a foreign judge: ibdmchk walks every pair of hosts, and every pair of switch and host,
# in the dumps of complete and degraded trees, and searches for credit loops. Its exit status has no meaning (it crashes
# after the verdict), so its output is read. The same judge must find the error in tables with a wrong entry, and the
# credit loop of a ring routed by minhop.
set -u

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$(realpath -m "${BUILD:-$root/build}")
work=$(mktemp -d "${TMPDIR:-/tmp}/weft.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

if ! command -v ibdmchk >/dev/null; then
	echo "skip route-judge: no ibdmchk here (scripts/install-deps installs it with ibutils)"
	exit 0
fi
failures=0

# In a shell of its own, because bash reports a crash.
judge() {
	: >opensm.mcfdbs # it requires this file
	bash -c 'ibdmchk -s opensm-subnet.lst -f opensm.fdbs -m opensm.mcfdbs -a; :' >verdict 2>&1
}

# says NAME PATTERN...: one line for the verdict, which must match each pattern.
says() {
	local name=$1 pattern

	shift
	for pattern; do
		grep -qE -- "$pattern" verdict && continue
		echo "not ok $name: ibdmchk does not say \"$pattern\""
		tail -n 20 verdict
		failures=$((failures + 1))
		return
	done
	echo "ok $name"
}

good=('no credit loops found' 'Scanned:[0-9]+ CA to CA paths')
for engine in ftree updn dnup; do
	for spec in fattree:radix=12,levels=2 fattree:radix=8,levels=3 \
		fattree:radix=8,levels=3,lose_links=3%,seed=4 \
		fattree:radix=12,levels=3,lose_links=1%,seed=1; do
		if ! "$BUILD/tests/bench/bench_route" -d . "$engine" "$spec" >dump.log 2>&1; then
			echo "not ok $engine on $spec: $(tail -n 1 dump.log)"
			failures=$((failures + 1))
			continue
		fi
		judge
		says "$engine on $spec, judged by ibdmchk" "${good[@]}"
		if grep -E 'missing paths|loop in LFT|Unassigned LFT' verdict; then
			echo "not ok $engine on $spec: a path is missing"
			failures=$((failures + 1))
		fi
	done
done

"$BUILD/tests/bench/bench_route" -d . minhop ring:switches=6,hosts=2 >dump.log 2>&1
judge
says "minhop on a ring has the credit loop that it does not promise to avoid" 'credit loops in routing'

"$BUILD/tests/bench/bench_route" -d . ftree fattree:radix=8,levels=2 >dump.log 2>&1
sed -i '0,/^0x0009 : [0-9]*/s//0x0009 : 001/' opensm.fdbs
judge
says "a spoiled entry is found" 'missing paths'

exit $((failures > 0))
