# SPDX-License-Identifier: GPL-2.0
"""stats --interval, a row for each device and interval, and stats --histograms; on a made-up machine."""

import json
import os
import shutil
import signal
import time

import pytest

from alignctl_program import BINS, alignctl, human_time, put, tables
from lab.pace import patience
from watched import FINE, Watched

IO = 3
HEADINGS = ["TIME", "NAME", "WRITES/s", "MISALIGNED", "TOUCHES/s", "AVOIDED/s", "HOST/s", "DRIVE/s", "LOST/s", "AMP-IN",
            "AMP-OUT", "A-MEAN", "A-P99", "M-MEAN", "M-P99", "PRICE/s"]


def bins(**counts):
    return " ".join(str(counts.get(f"b{n}", 0)) for n in range(BINS["latency"]))


# In the interval 1000 writes of 4 KiB, 400 misaligned, 800 touches in two blocks each.
BUSY = {"writes": 1100, "writes_misaligned": 410, "rmw_expected": 820, "rmw_avoided": 310, "rmw_host": 200, "rmw_drive": 300,
        "rmw_lost": 10, "write_bytes": 5 << 20, "write_block_bytes": 13 << 20, "sent_block_bytes": 7 << 20,
        "latency_aligned_histogram": bins(b40=600), "latency_misaligned_histogram": bins(b40=100, b50=300)}
BEFORE = {"writes": 100, "writes_misaligned": 10, "rmw_expected": 20, "rmw_avoided": 10, "rmw_drive": 10, "write_bytes": 1 << 20,
          "write_block_bytes": 1 << 20, "sent_block_bytes": 1 << 20, "latency_aligned_histogram": bins(b40=90),
          "latency_misaligned_histogram": bins(b40=10)}


def bin_ends(number):
    """Start and end of a latency bin from 1024 ns on, in microseconds."""
    return [(4 + number % 4 + more) * 2 ** (number // 4 + 7) / 1000 for more in (0, 1)]


def test_a_row_says_what_happened_in_its_interval_and_what_it_cost(machine):
    root, align = machine
    with Watched(root, align, "--interval", "1", "2", "--json") as watched:
        watched.reading(**BEFORE)
        # a reset in between must not show
        watched.reading(**{**BUSY, "latency_aligned_histogram": bins(b40=690), "baseline_writes": 1050,
                           "latency_misaligned_histogram": bins(b40=110, b50=300)})
        watched.reading()
        out, _ = watched.end()
    first, second = (json.loads(line)["devices"][0] for line in out.splitlines())
    row = first["interval"]
    seconds = row["seconds"]
    assert 0.9 < seconds < patience(5) and abs(row["time"] - time.time()) < 600
    per_second = {key.removesuffix("_per_second"): round(value * seconds, 2) for key, value in row.items()
                  if key.endswith("_per_second") and key.split("_")[0] != "price"}
    assert per_second == {"writes": 1000, "touches": 800, "avoided": 300, "host": 200, "drive": 290, "lost": 10}
    assert row["misaligned_percent"] == 40
    assert (row["write_amplification_before"], row["write_amplification_after"]) == (3, 1.5)
    fast, slow = (sum(bin_ends(number)) / 2 for number in (40, 50))
    assert row["aligned_mean_us"] == pytest.approx(fast, rel=1e-3)
    assert row["misaligned_mean_us"] == pytest.approx((100 * fast + 300 * slow) / 400, rel=1e-3)
    assert (row["aligned_p99_us"], row["misaligned_p99_us"]) == pytest.approx([bin_ends(number)[1] for number in (40, 50)])
    assert row["price_ms_per_second"] == pytest.approx(300 * (slow - fast) / 1000 / seconds, rel=1e-3)
    nothing = second["interval"]
    assert nothing["writes_per_second"] == 0 and nothing["misaligned_percent"] is nothing["aligned_mean_us"] is None
    assert nothing["price_ms_per_second"] is nothing["write_amplification_before"] is None


def test_rows_stand_in_line_below_one_line_of_headings(machine):
    root, align = machine
    with Watched(root, align, "--interval", "1", "2") as watched:
        watched.reading()
        watched.reading(**BUSY)
        watched.reading()
        out, err = watched.end()
    headings, *rows = out.splitlines()
    assert headings.split() == HEADINGS and len(rows) == 2 and not err
    assert len({len(line) for line in (headings, *rows)}) == 1
    busy, idle = tables(out, "TIME")
    assert (busy["NAME"], busy["A-P99"]) == ("align-sda", f"< {human_time(bin_ends(40)[1])}")
    assert busy["PRICE/s"][0].isdigit() and idle["PRICE/s"] == idle["MISALIGNED"] == idle["A-MEAN"] == "-"
    assert idle["WRITES/s"] == idle["TOUCHES/s"] == "0"


def test_misaligned_writes_that_are_faster_have_a_price_below_zero(machine):
    root, align = machine
    with Watched(root, align, "1", "--interval", "1") as watched:
        watched.reading()
        watched.reading(latency_aligned_histogram=bins(b50=5), latency_misaligned_histogram=bins(b40=5))
        out, _ = watched.end()
    [row] = tables(out, "TIME")
    assert row["PRICE/s"].startswith("-") and row["PRICE/s"].endswith("ms")


def test_a_device_that_is_made_anew_or_comes_later_counts_from_nothing_and_one_that_goes_is_left_out(machine):
    root, align = machine
    with Watched(root, align, "--interval", "1", "4", "--json") as watched:
        watched.reading(writes=500)
        watched.reading(writes=700)
        # detached, and attached anew: the counters have begun again
        watched.reading(writes=30)
        made = root / "sys/devices/virtual/block/dm-1"
        with watched.before_reading():
            shutil.copytree(align.parent, made, ignore=shutil.ignore_patterns("inflight"))
            put(made, **{"dev": "253:1", "dm/name": "later"})
            put(made / "align", writes=7)
            put(made, inflight="0 0")
            (root / "sys/class/block/dm-1").symlink_to(made)
        with watched.before_reading():
            shutil.rmtree(align)
        out, err = watched.end()
    rounds = [{device["name"]: device["counters"]["writes"] for device in json.loads(line)["devices"]}
              for line in out.splitlines()]
    assert rounds == [{"align-sda": 200}, {"align-sda": 30}, {"align-sda": 0}, {"later": 7}] and not err


def test_a_device_that_is_renamed_goes_on_counting(machine):
    root, align = machine
    with Watched(root, align, "--interval", "1", "2", "--json") as watched:
        watched.reading(writes=500)
        with watched.before_reading():
            put(align, writes=530)
            put(align.parent, **{"dm/name": "other"})
        # its name is looked up before: this is for the next reading
        watched.reading(writes=540)
        out, err = watched.end()
    assert [[(device["name"], device["counters"]["writes"]) for device in json.loads(line)["devices"]]
            for line in out.splitlines()] == [[("align-sda", 30)], [("other", 10)]] and not err


def test_a_named_device_that_goes_is_an_error(machine):
    root, align = machine
    with Watched(root, align, "align-sda", "--interval", "1") as watched:
        watched.reading()
        watched.reading()
        # it has been read when its row is printed
        out = watched.running.stdout.readline() + watched.running.stdout.readline()
        shutil.rmtree(align)
        _, err = watched.end(IO)
    assert len(tables(out, "TIME")) == 1 and err == "alignctl: align-sda: not an align device; 'alignctl list' shows them\n"


def test_ctrl_c_ends_it_without_a_count(machine):
    root, align = machine
    with Watched(root, align, "--interval", "1") as watched:
        watched.reading()
        watched.reading()
        watched.running.stdout.readline()
        watched.running.send_signal(signal.SIGINT)
        watched.end(-signal.SIGINT)


def test_histograms_are_bars_the_largest_the_longest(machine):
    root, align = machine
    put(align, latency_misaligned_histogram=bins(b40=30, b43=10, b44=1, b52=80), latency_aligned_histogram=bins(b111=3),
        phase_histogram=" ".join(["0", "7"] + ["0"] * (BINS["phase"] - 2)),
        size_histogram=" ".join(["0", "0", "0", "5", "0", "20"] + ["0"] * (BINS["size"] - 6)))
    shown = alignctl("stats", "--histograms", env={**os.environ, "ALIGNCTL_SYSROOT": str(root)})
    assert shown.returncode == FINE and not shown.stderr
    parts = sections(shown.stdout)
    assert list(parts) == ["misaligned writes by first byte in the physical block", "writes by size, at least",
                           "aligned writes by latency", "misaligned writes by latency"]
    assert parts["misaligned writes by first byte in the physical block"] == [["512", "B", "7", "100", "%", "#" * 40]]
    assert parts["writes by size, at least"] == [["4", "KiB", "5", "20", "%", "#" * 10], ["8", "KiB", "0", "0", "%"],
                                                 ["16", "KiB", "20", "80", "%", "#" * 40]]
    # four bins, an octave, are one bar; the last one has no end
    octaves = [human_time(bin_ends(number)[1]).split() for number in (43, 47, 51, 55)]
    assert [row[1:4] + row[6:] for row in parts["misaligned writes by latency"]] == [
        [*octaves[0], "40", "#" * 20], [*octaves[1], "1", "#"], [*octaves[2], "0"], [*octaves[3], "80", "#" * 40]]
    [last] = parts["aligned writes by latency"]
    assert [last[0], *last[1:4]] == [">=", *human_time(bin_ends(107)[1]).split(), "3"]


def sections(text):
    """{title: rows below the table's headings, as words} of each histogram."""
    found = {}
    for line in text.splitlines()[1:]:
        if line.endswith(":"):
            found[line.strip(" :")] = rows = []
        elif not line.endswith("BAR"):
            rows.append(line.split())
    return found


def test_an_interval_reports_what_happened_in_it(machine):
    root, align = machine
    with Watched(root, align, "--interval", "1", "2", "--json") as watched:
        watched.reading(writes=100)
        watched.reading(writes=142)
        watched.reading()
        out, _ = watched.end()
    first, second = map(json.loads, out.splitlines())
    assert (first["format"], first["interval_s"]) == (1, 1)
    assert first["devices"][0]["counters"]["writes"] == 42 and first["devices"][0]["raw"]["writes"] == 142
    assert second["devices"][0]["counters"]["writes"] == 0
