#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Each harness of tests/fuzz with its corpus, once: so each stays usable for `make fuzz`, and fixed errors stay fixed.
# With SANITIZE a sanitizer checks, too.
set -u

cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath -m "${BUILD:-build}")
work=$(mktemp -d "${TMPDIR:-/tmp}/weft.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

scripts/fuzz --corpus "$work" || { echo "not ok the corpus: it cannot be written" && exit 1; }
for source in tests/fuzz/fuzz_*.c; do
	name=${source##*/fuzz_}
	name=${name%.c}
	if "$BUILD/tests/fuzz/fuzz_$name" "$work/$name"/* >"$work/out" 2>&1; then
		echo "ok fuzz corpus $name, $(tail -n 1 "$work/out")"
	else
		echo "not ok fuzz corpus $name: $(grep -m 1 -E '^SUMMARY|ERROR: |runtime error' "$work/out" || tail -n 1 "$work/out")"
	fi
done
