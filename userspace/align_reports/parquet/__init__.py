# SPDX-License-Identifier: GPL-2.0
"""Block traces in Parquet, read and written by DuckDB: the layout of Documentation/admin/traces.rst."""
