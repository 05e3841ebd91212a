# SPDX-License-Identifier: GPL-2.0
"""
The sector model on random configurations of the target: a seed gives a plan (plan.py), a machine carries it out and
checks the result (round.py), round after round until the time is up (__main__.py). scripts/soak starts the machines.
"""
