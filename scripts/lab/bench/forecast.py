# SPDX-License-Identifier: GPL-2.0
"""What alignctl plan costs: instructions a request, and seconds beside DuckDB for the same answers.

Of a made-up trace in the format of MSR Cambridge: lengths and places at random, in sectors. callgrind counts the
instructions, which do not depend on how busy the machine is. DuckDB, a database for such questions, reads the same file
and counts the touches, or these and the distinct blocks, on one thread and on all; alignctl has one.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import random
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .arms import BLOCK, SECTOR

SPAN = 16 << 30
WRITES = 0.7
LONGEST = 64 << 10
# Mean time between two requests, in the format's units of 100 ns: 0.5 ms.
APART = 5000

# The answers, by the options of plan: instructions a request at most.
TOUCHES, ALL = "--touches-only", "all"
MOST = {TOUCHES: 2000, ALL: 7000}
# What DuckDB is asked for beside each of them.
ASKED = {TOUCHES: "touches", ALL: "touches and distinct blocks"}

PER_BLOCK = BLOCK // SECTOR
COLUMNS = {"time": "UBIGINT", "host": "VARCHAR", "disk": "VARCHAR", "op": "VARCHAR", "place": "BIGINT", "length": "BIGINT",
           "response": "BIGINT"}
# The first sector of each write, and the one behind its last.
ENDS = (f"(SELECT place // {SECTOR} AS head, (place + length) // {SECTOR} AS tail FROM read_csv($trace, header = false, "
        f"columns = {COLUMNS}) WHERE op = 'Write')")
COUNT_TOUCHES = f"""
SELECT sum(CASE WHEN head // {PER_BLOCK} = (tail - 1) // {PER_BLOCK}
                THEN CAST(head % {PER_BLOCK} <> 0 OR tail % {PER_BLOCK} <> 0 AS INT)
                ELSE CAST(head % {PER_BLOCK} <> 0 AS INT) + CAST(tail % {PER_BLOCK} <> 0 AS INT) END) FROM {ENDS}"""
COUNT_BLOCKS = f"""
SELECT count(DISTINCT block) FROM
    (SELECT unnest(range(head // {PER_BLOCK}, (tail - 1) // {PER_BLOCK} + 1)) AS block FROM {ENDS})"""
QUERIES = {TOUCHES: (COUNT_TOUCHES,), ALL: (COUNT_TOUCHES, COUNT_BLOCKS)}
ALIGNCTL, ONE_THREAD, ALL_THREADS = "alignctl plan", "DuckDB, one thread", "DuckDB, all threads"


@dataclass
class Forecast:
    """
    rows: of the trace whose instructions are counted; instructions: {answer: a request}; timed_rows: of the trace that is
    timed; seconds: {answer: {program: [one a round]}}; skipped: why there are none of either; wrong: answers that differ.
    """

    rows: int = 0
    instructions: dict[str, float] = field(default_factory=dict)
    timed_rows: int = 0
    seconds: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


def lines(rows: int) -> Iterator[str]:
    """Yield the rows of a trace, always the same ones."""
    chance, now = random.Random(1), 128166372003061629
    for _ in range(rows):
        now += chance.randrange(2 * APART)
        length = SECTOR * chance.randint(1, LONGEST // SECTOR)
        place = SECTOR * chance.randrange((SPAN - length) // SECTOR)
        yield f"{now},host,0,{'Write' if chance.random() < WRITES else 'Read'},{place},{length},{chance.randrange(10000)}\n"


def options(answer: str) -> list[str]:
    return [] if answer == ALL else [answer]


def count_instructions(alignctl: Path, trace: Path, answer: str) -> int:
    """Return the instructions of alignctl plan. Raises RuntimeError."""
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", alignctl, "plan", trace,
                           *options(answer)], capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        raise RuntimeError(f"alignctl plan does not run under callgrind: {done.stderr.strip()[-400:]}")
    return int(found[1])


def planned(alignctl: Path, trace: Path, answer: str) -> tuple[int, ...]:
    """Return what DuckDB is asked for, as alignctl plan says it."""
    done = subprocess.run([alignctl, "plan", trace, "--json", *options(answer)], capture_output=True, check=True)
    document = json.loads(done.stdout)
    return (document["touches_expected"], document["distinct_blocks"])[:len(QUERIES[answer])]


def counted(trace: Path, answer: str, threads: int | None) -> tuple[int, ...]:
    """Return DuckDB's answer. Raises RuntimeError."""
    duckdb = importlib.import_module("duckdb")
    with duckdb.connect() as database:
        try:
            if threads:
                database.execute(f"SET threads = {threads}")
            return tuple(int(database.execute(query, {"trace": str(trace)}).fetchone()[0]) for query in QUERIES[answer])
        except duckdb.Error as error:
            raise RuntimeError(f"DuckDB {duckdb.__version__}: {error}") from error


def programs(alignctl: Path) -> dict[str, Callable[[Path, str], tuple[int, ...]]]:
    return {ALIGNCTL: lambda trace, answer: planned(alignctl, trace, answer),
            ONE_THREAD: lambda trace, answer: counted(trace, answer, 1),
            ALL_THREADS: lambda trace, answer: counted(trace, answer, None)}


def time_all(alignctl: Path, trace: Path, rounds: int, into: Forecast) -> None:
    """Have the programs answer in turn, in each round; note seconds, and answers that differ."""
    for _ in range(rounds):
        for answer in MOST:
            answers = {}
            for name, program in programs(alignctl).items():
                began = time.perf_counter()
                answers[name] = program(trace, answer)
                into.seconds.setdefault(answer, {}).setdefault(name, []).append(time.perf_counter() - began)
            if len(set(answers.values())) > 1:
                into.wrong.append(f"{ASKED[answer]}: {answers}")


def measure(alignctl: Path, folder: Path, rows: int, timed_rows: int, rounds: int) -> Forecast:
    """Make the traces in a folder, and measure what can be measured here."""
    found = Forecast(rows, timed_rows=timed_rows)
    trace = folder / "forecast.csv"
    if shutil.which("valgrind"):
        trace.write_text("".join(lines(rows)))
        found.instructions = {answer: count_instructions(alignctl, trace, answer) / rows for answer in MOST}
    else:
        found.skipped["instructions"] = "valgrind is not installed"
    if importlib.util.find_spec("duckdb"):
        with trace.open("w") as file:
            file.writelines(lines(timed_rows))
        time_all(alignctl, trace, rounds, found)
    else:
        found.skipped["seconds"] = "the Python module duckdb is not installed"
    trace.unlink(missing_ok=True)
    return found
