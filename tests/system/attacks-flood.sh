#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# One host floods the manager with MADs of each kind in turn. No request of another host is lost, and afterwards weftd's
# memory is as before. It is the quick form of the bench, with the same judgement.

if [ -n "${SANITIZE:-}" ]; then
	echo "skip attacks-flood: libweftsim.so must stand before all other libraries, and sanitizers keep memory"
	exit 0
fi
QUICK=1 exec "$(dirname "$0")/../bench/attacks.sh"
