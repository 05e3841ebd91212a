#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What the model takes from kernel sources that userspace cannot include: prints it as a header.
#   kernel_enums.sh <kmod folder>
set -eu

# From the line that matches to the first one that ends it.
take()
{
	text=$(sed -n "/$2/,/^};/p" "$1")
	[ -n "$text" ] || { echo "kernel_enums.sh: $1 has no \"$2\"" >&2; exit 1; }
	printf '%s\n' "$text"
}

take "$1/block_state.h" '^enum block_state {'
take "$1/block.h" '^enum touch_fate {'
echo 'static const struct {'
take "$1/ledger.c" '^	enum ledger_counter sum;'
