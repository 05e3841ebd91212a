#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Print as a header the definitions that the model takes from kernel sources, which userspace cannot include.
#   kernel_enums.sh <kmod folder>
set -eu

# Print a definition, from the matching line to its end.
take()
{
	text=$(sed -n "/$2/,/^}.*;/p" "$1" | sed "s/^} __packed;/};/")
	[ -n "$text" ] || { echo "kernel_enums.sh: $1 has no \"$2\"" >&2; exit 1; }
	printf '%s\n' "$text"
}

take "$1/block_state.h" '^enum block_state {'
take "$1/block.h" '^enum touch_fate {'
echo 'static const struct {'
take "$1/ledger.c" '^	enum ledger_counter sum;'
