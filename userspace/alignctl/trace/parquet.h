/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layout of block traces in Parquet, which Documentation/admin/traces.rst specifies:
 * what reader and writer share of it.
 */
#ifndef ALIGNCTL_PARQUET_H
#define ALIGNCTL_PARQUET_H

/* Column op: the operation as enum trace_op numbers it, and flags. */
#define PARQUET_OP_MASK		0x0fU
#define PARQUET_OP_PREFLUSH	0x10U
#define PARQUET_OP_FUA		0x20U

#endif
