# SPDX-License-Identifier: GPL-2.0
"""Requests that are sent one at a time, each read compared with a model of the sectors."""

from .direct import RWF_DSYNC, SECTOR, check, pattern


def play(upper, requests, first, area, oracle, skew=lambda: 0):
    """
    Send requests to `area` sectors from `first` on, and compare each read with a model. Return the model.

    requests: (kind, sector, sectors) each, drawn when the one before has ended; kind: write, sync, zero, read or flush
    oracle: counts the writes and write-zeroes
    skew: returns where in its page the memory of the next write begins
    """
    model = bytearray(upper.read(first, area))
    for tag, (kind, sector, length) in enumerate(requests, 1):
        at = slice((sector - first) * SECTOR, (sector - first + length) * SECTOR)
        if kind == "flush":
            upper.flush()
        elif kind == "read":
            check(sector, bytes(model[at]), upper.read(sector, length), f"read {tag}")
        elif kind == "zero":
            upper.zero(sector, length)
            oracle.zero(sector, length)
            model[at] = bytes(length * SECTOR)
        else:
            data = pattern(tag, sector, length)
            upper.write(sector, data, skew=skew(), flags=RWF_DSYNC if kind == "sync" else 0)
            oracle.write(sector, length, fua=kind == "sync")
            model[at] = data
    return bytes(model)
