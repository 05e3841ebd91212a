# SPDX-License-Identifier: GPL-2.0
"""Published sets of traces as tables of text: NAME.sql tells how DuckDB reads one.

Each makes the table metadata(key, value) and the view source(volume, ts_ns, op, offset_bytes, len_bytes) over the files of the
variable files, in the order of the rows. What several use is in macros.sql.
"""
