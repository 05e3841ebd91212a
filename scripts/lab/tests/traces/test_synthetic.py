# SPDX-License-Identifier: GPL-2.0
"""Synthetic sets of traces have the format and the published figures of the real ones, and are the same for a seed."""

import itertools
import os
import subprocess
import sys
import tracemalloc
from collections import Counter

import duckdb
import pytest

from lab.pace import patience
from lab.paths import OUT, REPO
from lab.traces.shape import SECTOR, SHAPES, WRITES
from lab.traces.synthetic import ORDERS, requests

ROWS = 20000


def run(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "lab.traces", *map(str, arguments)], capture_output=True, text=True, check=True,
                          timeout=patience(60), env={**os.environ, "PYTHONPATH": str(REPO / "scripts")}, **options).stdout


@pytest.mark.parametrize("name", SHAPES)
def test_a_seed_makes_the_same_text_and_another_seed_another(name):
    first = run(name, "--rows", 500)
    assert first == run(name, "--rows", 500, "--seed", 1) and first.count("\n") == 500
    assert first != run(name, "--rows", 500, "--seed", 2)


@pytest.mark.parametrize("name", SHAPES)
def test_lengths_and_rate_are_the_published_ones(name):
    shape = SHAPES[name]
    assert sum(length * share for length, share in shape.lengths()) == pytest.approx(shape.bytes / shape.requests)
    assert sum(share for _, share in shape.lengths()) == pytest.approx(1) and min(share for _, share in shape.lengths()) > 0
    made = list(requests(shape, ROWS))
    assert sum(each.length for each in made) / ROWS == pytest.approx(shape.bytes / shape.requests, rel=0.1)
    seconds = (made[-1].ns - made[0].ns) / 1e9
    assert ROWS / seconds == pytest.approx(shape.requests / shape.days / 86400, rel=0.1)
    assert sum(each.write for each in made) / ROWS == pytest.approx(WRITES, rel=0.05)


@pytest.mark.parametrize("name", SHAPES)
def test_requests_lie_within_their_volumes_in_sectors(name):
    shape = SHAPES[name]
    for each in requests(shape, ROWS):
        assert 0 <= each.volume < shape.volumes and each.offset % SECTOR == each.length % SECTOR == 0 < each.length
        assert 0 <= each.offset and each.offset + each.length <= shape.largest


def test_volumes_share_the_requests_unevenly():
    counts = Counter(each.volume for each in requests(SHAPES["alibaba"], ROWS))
    most = [count for _, count in counts.most_common()]
    # a tenth of the volumes by their ranks: the harmonic numbers of 100 and of 1000
    assert sum(most[:100]) / ROWS == pytest.approx(5.187 / 7.485, rel=0.05) and len(counts) > 900


@pytest.mark.parametrize("order", ORDERS)
def test_rows_have_the_order_that_was_asked_for(order):
    made = list(requests(SHAPES["alibaba"], ROWS, order=order, volumes=50))
    times = [each.ns for each in made]
    volumes = [volume for volume, _ in itertools.groupby(each.volume for each in made)]
    assert len(made) == ROWS and (times == sorted(times)) == (order == "time")
    assert (len(volumes) == len(set(volumes)) == 50) == (order == "volume")


def test_memory_does_not_grow_with_the_requests():
    made = requests(SHAPES["tencent"], 10**12)
    tracemalloc.start()
    try:
        for _ in itertools.islice(made, 2000):
            pass
        before = tracemalloc.get_traced_memory()[1]
        for _ in itertools.islice(made, 8000):
            pass
        assert tracemalloc.get_traced_memory()[1] < before + 65536
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", SHAPES)
def test_alignctl_and_duckdb_take_the_text_for_the_set(tmp_path, name):
    text, folder = tmp_path / "text", tmp_path / "folder"
    text.write_text(run(name, "--rows", 3000, "--volumes", 20, "--order", "any"))
    subprocess.run([sys.executable, REPO / "userspace/align_reports", "parquet", name, text, "--output", folder], check=True,
                   capture_output=True, timeout=patience(60))
    assert duckdb.execute(f"SELECT count(*), count(DISTINCT volume) FROM '{folder}/*/*.parquet'").fetchall() == [(3000, 20)]
    text.write_text(run(name, "--rows", 300, "--volumes", 1))
    done = subprocess.run([OUT / "bin/alignctl", "plan", text, "--touches-only", "--json"], capture_output=True, text=True,
                          check=True, timeout=patience(60))
    assert f'"source_format": "{name}"' in done.stdout
