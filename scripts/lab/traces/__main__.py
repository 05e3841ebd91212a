# SPDX-License-Identifier: GPL-2.0
"""Print a synthetic set of block traces: `scripts/python -m lab.traces alibaba --rows 1000000 > io_traces.csv`.

The same arguments print the same text. `make traces` makes one, and Parquet of it, in out/traces.
"""

import argparse
import sys

from .shape import SHAPES
from .synthetic import ORDERS, requests


def main():
    parser = argparse.ArgumentParser(prog="lab.traces", description=__doc__.splitlines()[0])
    parser.add_argument("set", choices=sorted(SHAPES), help="whose format and shape")
    parser.add_argument("--rows", type=int, default=1000000, help="requests (default: 1000000)")
    parser.add_argument("--volumes", type=int, help="volumes (default: as published)")
    parser.add_argument("--order", choices=ORDERS, default="time", help="order of the rows (default: time)")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.rows < 0 or (given.volumes is not None and given.volumes < 1):
        parser.error("--rows must be 0 or more, --volumes 1 or more")
    shape = SHAPES[given.set]
    made = requests(shape, given.rows, seed=given.seed, order=given.order, volumes=given.volumes)
    try:
        sys.stdout.writelines(map(shape.line, made))
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)


if __name__ == "__main__":
    main()
