# SPDX-License-Identifier: GPL-2.0
"""Mutants that were judged to do what the engine does, from its code, each with the reason; a run lets them live all the
same, and one that is killed fails it."""

EQUIVALENT: dict[str, str] = {
}
