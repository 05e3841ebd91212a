# SPDX-License-Identifier: GPL-2.0
"""Plan for each disk of many traces on the workers of Dask, and put the plans together.

    python3 plan_cluster.py TRACE... --output FILE [--html PAGE] [--scheduler ADDRESS | --workers N] [-- OPTION...]

Each trace is one task: `alignctl plan TRACE --partial` with the options behind "--", which may be --touches-only,
--physical and so on. A disk lies in one trace as a whole, or options have --touches-only and the traces are of
different times. The plan of all is printed, and with --html it is a page, too. FILE is the partial plan of all, for
`alignctl plan --merge`: the same bytes whichever worker did what, how often, and in which order. So nothing is lost
and nothing counted twice if workers die; Dask does their tasks again.

The same program runs on a laptop, which is the default, with a worker a processor; under Slurm and on Kubernetes it
is told the address of a scheduler whose workers see the traces by the same paths and have alignctl and Dask.
Nothing else is needed there, not even this file.

Exit status: 0 all traces planned for; 2 one of them cannot be, which is named, and FILE is not written; 3 a worker
or a file failed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FINE, USAGE, IO = 0, 2, 3
# Times that the worker of a task may die before the task is taken to be the reason.
DEATHS = 3
# Partial plans that one command puts together.
AT_ONCE = 1000


def plan(alignctl: str, trace: str, options: list[str]) -> tuple[int, bytes, str]:
    """Plan for a trace, on a worker: the status of alignctl, the partial plan, and what alignctl said."""
    with tempfile.TemporaryDirectory(prefix="plan-cluster-") as folder:
        part = Path(folder, "part")
        try:
            done = subprocess.run([alignctl, "plan", trace, "--partial", part, *options], capture_output=True, text=True,
                                  errors="replace", stdin=subprocess.DEVNULL)
        except OSError as error:
            return 3, b"", f"plan_cluster: {alignctl}: {error.strerror}; --alignctl says where the workers have it\n"
        if done.returncode < 0:
            return 3, b"", f"plan_cluster: {trace}: alignctl was ended by signal {-done.returncode}; give workers more memory\n"
        return done.returncode, b"" if done.returncode else part.read_bytes(), done.stderr


def size(trace: str) -> int:
    """Return the bytes of a trace: the largest are planned for first, so that none is left alone at the end."""
    try:
        return os.stat(trace).st_size
    except OSError:
        # the workers may see what is not seen here
        return 0


def show(done: int, nr: int, began: float) -> None:
    """Show on a terminal how far it is."""
    if not sys.stderr.isatty():
        return
    left = (time.monotonic() - began) / done * (nr - done)
    print(f"\r\033[K{done} of {nr} traces, {left:.0f} s left" if done < nr else "\r\033[K", end="", file=sys.stderr, flush=True)


def collect(client: object, given: argparse.Namespace, folder: Path) -> int:
    """Have all traces planned for, and keep the partial plans. Return the gravest status."""
    from distributed import KilledWorker, as_completed

    traces = sorted(dict.fromkeys(map(os.path.normpath, given.trace)), key=size, reverse=True)
    futures = {client.submit(plan, given.alignctl, trace, given.option, pure=False): trace for trace in traces}  # type: ignore[attr-defined]
    status, began = FINE, time.monotonic()
    for number, future in enumerate(as_completed(futures), 1):
        trace = futures[future]
        try:
            code, part, said = future.result()
        except KilledWorker:
            code, part, said = IO, b"", f"plan_cluster: {trace}: {DEATHS + 1} workers died over it; give them more memory\n"
        future.release()
        show(number, len(traces), began)
        sys.stderr.write(said)
        status = max(status, code)
        if not code:
            (folder / str(number)).write_bytes(part)
    return status


def merge(alignctl: str, parts: list[Path], *options: str) -> int:
    """Put partial plans together, with options, which may be --partial. Return alignctl's status."""
    while len(parts) > AT_ONCE:
        group = Path(f"{parts[0]}.group")
        status = merge(alignctl, parts[:AT_ONCE], *options[:-2], "--partial", str(group))
        if status:
            return status
        parts = [*parts[AT_ONCE:], group]
    code = subprocess.run([alignctl, "plan", "--merge", *parts, *options], check=False).returncode
    return IO if code < 0 else code


def parse(arguments: list[str]) -> argparse.Namespace:
    split = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(prog="plan_cluster", description="Plan for the disks of many traces on workers of Dask.",
                                     epilog="Options of alignctl plan follow behind --.")
    parser.add_argument("trace", nargs="+", metavar="TRACE", help="a trace, by its path on the workers")
    parser.add_argument("--output", required=True, metavar="FILE", help="the partial plan of all")
    parser.add_argument("--html", metavar="PAGE", help="write the plan as a page, too")
    parser.add_argument("--memory", metavar="N", help="for all disks together, as of alignctl plan")
    parser.add_argument("--alignctl", default="alignctl", metavar="PROGRAM", help="where alignctl is (by PATH)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--scheduler", metavar="ADDRESS", help="of Dask's scheduler, e.g. tcp://head:8786")
    where.add_argument("--workers", type=int, default=os.cpu_count(), metavar="N", help="workers here (one a processor)")
    given = parser.parse_args(arguments[:split])
    given.option = arguments[split + 1:]
    return given


def main(arguments: list[str]) -> int:
    given = parse(arguments)
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError as error:
        print(f"plan_cluster: {error}: apt-get install python3-distributed, or pip install distributed", file=sys.stderr)
        return IO
    dask.config.set({"distributed.scheduler.allowed-failures": DEATHS})
    cluster = None
    try:
        if not given.scheduler:
            cluster = LocalCluster(n_workers=given.workers, threads_per_worker=1, dashboard_address=None)
        with Client(given.scheduler or cluster) as client, tempfile.TemporaryDirectory(prefix="plan-cluster-") as folder:
            status = collect(client, given, Path(folder))
            if status:
                print(f"plan_cluster: --output {given.output}: is not written, as parts are missing", file=sys.stderr)
                return status
            memory = ["--memory", given.memory] if given.memory else []
            status = merge(given.alignctl, list(Path(folder).iterdir()), *memory, "--partial", given.output)
        page = ["--html", given.html] if given.html else []
        return status or merge(given.alignctl, [Path(given.output)], *memory, *page)
    except OSError as error:
        print(f"plan_cluster: {given.scheduler or given.alignctl}: {error}", file=sys.stderr)
        return IO
    finally:
        if cluster:
            cluster.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
