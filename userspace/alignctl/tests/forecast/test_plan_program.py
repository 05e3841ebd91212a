# SPDX-License-Identifier: GPL-2.0
"""alignctl plan and alignctl workloads as their user meets them. That the figures are right is shown elsewhere."""

import json
import os
import pty
import random
import re
import select
import signal
import struct
import subprocess
import time
from collections import Counter

import pytest

from alignctl_program import ALIGNCTL, METHODS, WORKLOADS_TOO, alignctl, human, human_time, keys, man_page, tables
from lab.pace import Limit, patience

FINE, FINDINGS, USAGE = range(3)

# Of the published run, worked out by hand: writes, partial touches, unavoidable reads, blocks.
PUBLISHED = {
    "w512": (20000, 20000, 20000, 20000),
    "w4096": (20000, 0, 0, 20000),
    "w4096_512": (20000, 40000, 40000, 40000),
    "w136k": (5000, 10000, 2, 170001),
    "w4k_132k": (10000, 20000, 2, 170001),
    "diskbenchi-0": (16000, 0, 0, 2048000),
    "diskbenchi-existing": (16000, 32000, 2, 2048001),
    "diskbenchi": (16000, 32000, 2, 2048001),
    "diskbenchi-fresh": (20001, 28001, 0, 2048001),
    "seq8k-shifted": (131072, 262144, 2, 262145),
    "dd-512-sync": (16384, 0, 0, 2048),
    "dd-4m-sync": (560, 0, 0, 16384),
    "db-randwrite-shifted": (131072, 262144, 2, 262145),
    "db-daemon": (2000, 0, 0, 156800),
    "journal-252k-seq": (2000, 0, 0, 191000),
    "journal-252k-rand": (2000, 0, 0, 65000),
    "journal-64k-seq": (2000, 0, 0, 144000),
    "journal-64k-rand": (2000, 0, 0, 18000),
    "journal-252k-seq-shifted": (2000, 4000, 4, 191002),
    "journal-64k-seq-shifted": (2000, 4000, 2, 144001),
    "rndwrite": (20000, 0, 0, 20000),
    "seqwrite": (12800, 0, 0, 3276800),
    "db-write": (131072, 0, 0, 262144),
    "db-randwrite": (131072, 0, 0, 262144),
    "areasync-512": (400, 400, 4, 4),
    "areasync-512-128k": (400, 400, 4, 4),
    "areasync": (400, 0, 0, 4),
    "areasync-128k": (400, 0, 0, 4),
    "areasync-4k": (400, 0, 0, 4),
    "areasync-4k-shifted": (400, 800, 8, 8),
    "append-512-dsync": (2048, 2048, 0, 256),
    "rand512": (20000, 20000, 20000, 20000),
    "rand4k": (20000, 0, 0, 20000),
}

# Two touches for each write; how many of them meet in a block is a matter of the seed.
SCATTERED = ("shifted-partition", "db-daemon-shifted", "journal-252k-rand-shifted", "journal-64k-rand-shifted")

# Pages of the cache that are read and written, expected of draws with replacement; 0.1 % is three standard deviations
# and more. Without replacement 4000 bytes would touch 1.87 million pages.
RECORDS = {"records-4000": (1_783_000, 1_783_000), "records-4096": (0, 950_400)}

READS = {"db-read": 131072, "db-randread": 131072, "rndread": 20000, "seqread": 12800, "rnddeltaread": 4000,
         "sorted-reads-1": 1000, "sorted-reads-32": 1000, "sorted-reads-1024": 1000}


def plan(*arguments):
    done = alignctl("plan", *arguments, "--json")
    assert done.returncode == FINE and not done.stderr, done
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def workloads():
    done = alignctl("workloads", "--json")
    assert done.returncode == FINE and not done.stderr
    return {workload["name"]: workload for workload in json.loads(done.stdout)["workloads"]}


def test_workloads_have_the_figures_of_the_published_run(workloads):
    assert set(workloads) == {*PUBLISHED, *READS, *SCATTERED, *RECORDS}
    for name, reads in READS.items():
        found = workloads[name]
        assert (found["reads"], found["writes"], found["touches_expected"]) == (reads, 0, 0), name
    for name, figures in PUBLISHED.items():
        found = workloads[name]
        assert (found["writes"], found["touches_expected"], found["rmin"], found["distinct_blocks"]) == figures, name
        assert found["origin"] and found["summary"]
    for name in SCATTERED:
        assert workloads[name]["touches_expected"] == 2 * workloads[name]["writes"] > 0, name
    assert workloads["shifted-partition"]["writes"] == 20000
    for name, (reads, writes) in RECORDS.items():
        found = workloads[name]
        assert (found["writes"], found["bytes"]) == (1_000_000, 1_000_000 * int(name[-4:]))
        assert (found["touches_expected"], found["rmin"], found["buffered"]) == (0, 0, True)
        cache = found["page_cache"]
        assert cache["blocks_read"] == pytest.approx(reads, rel=0.001)
        assert cache["blocks_written"] == found["distinct_blocks"] == pytest.approx(writes, rel=0.001)
    assert workloads["areasync"]["page_cache"] == {"block_bytes": 4096, "blocks_read": 4, "blocks_written": 400}


def test_what_was_published_is_told(workloads):
    published = workloads["w4k_132k"]["published"]
    assert (published["wall_s"], published["mean_us"]) == (21.262, None)
    assert "1925" in published["note"] and "2133" in published["note"]
    assert workloads["w512"]["published"] == {"wall_s": 11.799, "mean_us": 532, "note": None}


# Time in seconds and mean in microseconds, of the default count.
TIMES = {
    "w512": (11.799, 532), "w4096": (5.902, 272), "w4096_512": (15.536, 718), "w136k": (3.166, 551),
    "w4k_132k": (21.262, None), "diskbenchi-0": (36.392, None), "diskbenchi-existing": (52.2, None),
    "diskbenchi": (52.2, None), "sorted-reads-1": (18.11, None), "sorted-reads-32": (12.19, None),
    "sorted-reads-1024": (9.46, None),
}
# Besides.
ALSO_PUBLISHED = {
    "w4k_132k": "1925 2133",
    "diskbenchi-0": "2000 18.216 3000 27.311",
    "diskbenchi-existing": "2000 21.299 3000 38.954",
    "diskbenchi": "2000 21.299 3000 38.954",
    "diskbenchi-fresh": "2000 21.299 3000 32.029 31.858",
    "shifted-partition": "104859645 1536 2560",
    "rndread": "17.958 0.129",
    "seqread": "22 51 363 421",
    "rnddeltaread": "11 21",
    "records-4000": "124.4 13.3",
    "records-4096": "49.3 33.0",
    "dd-512-sync": "253",
    "dd-4m-sync": "28.4",
    "db-write": "1x1 1x4 4x1 1x8 1383 5242 5470 6135 1111 4331 4512 6111 1662 5899 5721 6136 47200",
    "db-read": "1x1 1x2 1x4 4x1 1x8 2794 3188 5574 6353 6127 1234 2372 4806 4866 6115 4156 5462 5159 5171 6133 "
               "1x16 1x32 7457 25500 49000 84800 122000",
    "db-randread": "6101 6063 6060 30000 1597 6011 6136 6144",
    "db-randwrite": "4025 4022 4026 18400",
    "areasync": "0.95 9.5 0.96 0.99 6 10 1.81 1.88 4",
}


def test_every_figure_that_was_published_is_told(workloads):
    shown = alignctl("workloads").stdout
    for name, workload in workloads.items():
        assert (workload["published"]["wall_s"], workload["published"]["mean_us"]) == TIMES.get(name, (None, None)), name
    assert {name for name, workload in workloads.items() if workload["published"]["note"]} == set(ALSO_PUBLISHED)
    for name, figures in ALSO_PUBLISHED.items():
        note = workloads[name]["published"]["note"]
        told = re.findall(r"\d[\dx.]*", note)
        assert not set(figures.split()) - set(told), name
        assert f"\n  {name}: {note}\n" in shown


def before_methods(text):
    """Return what `alignctl workloads` prints of workloads: methods, some of which have the same names, come last."""
    return text[:text.index("\nMethods, each of many runs")]


def test_workloads_for_people_says_the_same(workloads):
    shown = alignctl("workloads")
    assert shown.returncode == FINE and not shown.stderr
    rows = {row["NAME"]: row for row in tables(before_methods(shown.stdout), "NAME")}
    for name, workload in workloads.items():
        cache, published = workload["page_cache"] or {}, workload["published"]
        cells = {"COUNT": human(workload["count"]), "TOUCHES": human(workload["touches_expected"]),
                 "RMIN": human(workload["rmin"]), "BLOCKS": human(workload["distinct_blocks"])}
        for heading, n in (("READS", workload["reads"]), ("WRITES", workload["writes"]),
                           ("CACHE-READS", cache.get("blocks_read")), ("CACHE-WRITES", cache.get("blocks_written"))):
            if n or heading in rows[name]:
                cells[heading] = "-" if n is None else human(n)
        for heading, us in (("WALL", published["wall_s"] and published["wall_s"] * 10**6), ("MEAN", published["mean_us"])):
            if us or heading in rows[name]:
                cells[heading] = human_time(us) if us else "-"
        assert rows[name] == {"NAME": name, **cells}


def test_workloads_stand_in_the_order_of_the_document(workloads):
    methods = {row["NAME"] for row in tables(alignctl("probe", "--help").stdout, "NAME")}
    assert methods == set(METHODS)
    shown = [row["NAME"] for row in tables(before_methods(alignctl("workloads").stdout), "NAME")]
    assert shown == list(workloads)


def test_every_workload_is_in_the_man_page(workloads):
    page = man_page("alignctl-workloads.8")
    for name, workload in workloads.items():
        assert re.search(rf"^{re.escape(name)} +{workload['count']} ", page, re.M), f"{name} is not in alignctl-workloads.8"


def test_every_key_of_the_json_is_documented(workloads):
    for verb, document in (("plan", plan("w4k_132k")), ("workloads", list(workloads.values()))):
        page = re.split(r"[\s,\"()\\]+", man_page(f"alignctl-{verb}.8"))
        for key in keys(document):
            assert key in page or any(word.rstrip(";.:,") == key for word in page), f"{key} is not in alignctl-{verb}.8"


def test_the_shifted_partition_is_three_sectors_off():
    result = plan("shifted-partition", "--count", 1000, "--size", "1G")
    assert (result["touches_expected"], result["best_move_sectors"]) == (2000, 3)
    assert result["touches_if_moved"] == [2000, 2000, 2000, 0, 2000, 2000, 2000, 2000]
    assert result["by_start_sector"] == [{"sector": 5, "writes": 1000, "misaligned": 1000, "touches": 2000}]
    moved = plan("shifted-partition", "--count", 1000, "--size", "1G", "--shift", 3)
    assert (moved["touches_expected"], moved["best_move_sectors"], moved["shift_sectors"]) == (0, 0, 3)
    shown = alignctl("plan", "shifted-partition", "--count", 1000, "--size", "1G").stdout
    assert "best: start moved by 3 sectors: 0 touches, 100 % less\n" in shown


@pytest.mark.parametrize("shifted, others, worthwhile", [(100, 0, 3), (10, 90, 3), (9, 91, 0), (1, 999, 0), (0, 100, 0)])
def test_a_move_is_recommended_only_if_it_saves_a_tenth_of_the_touches(tmp_path, shifted, others, worthwhile):
    """Writes that begin 5 sectors into a block gain by a move; those of one sector are the same wherever they are."""
    trace = tmp_path / "trace"
    trace.write_text("op,offset_sectors,sectors\n" + "".join(f"write,{5 + 16 * i},8\n" for i in range(shifted)) +
                     "".join(f"write,{(1 << 20) + 16 * i},1\nwrite,{(1 << 21) + 16 * i},1\n" for i in range(others)))
    result = plan(trace)
    assert result["touches_expected"] == 2 * (shifted + others)
    assert (result["best_move_sectors"], result["worthwhile_move_sectors"]) == (3 if shifted else 0, worthwhile)
    shown = alignctl("plan", trace).stdout
    assert ("best: start moved by 3 sectors" in shown) == bool(worthwhile)
    assert ("nothing to gain by moving\n" in shown) == (not worthwhile)


def touches_left_and_reads(shown):
    """{mode: (touches left to the drive, blocks read)} as a plan says to people."""
    return {row["MODE"]: (row["TOUCHES-LEFT"], row["BLOCK-READS"]) for row in tables(shown, "MODE")}


def test_the_headline_is_the_figure_of_the_row_that_one_gets(tmp_path):
    """Each touch of a block comes a second after the last one, and holding ends before."""
    trace = tmp_path / "trace"
    trace.write_text("time_s,op,offset,bytes\n" + "".join(f"{i},write,{512 + 4096 * i},4096\n" for i in range(20)))
    result, shown = plan(trace), alignctl("plan", trace).stdout
    timed, untimed = (result["modes"][mode]["rmw_host"] for mode in ("coalesce_as_timed", "coalesce"))
    assert (timed, untimed) == (40, 2)
    assert "  block reads  40 in mode coalesce, as timed; 2 that nothing avoids\n" in shown
    assert touches_left_and_reads(shown)["coalesce, as timed"] == ("0", "40")
    assert touches_left_and_reads(shown)["coalesce, untimed"] == ("0", "2")
    trace.write_text(re.sub(r"^[^,]*,", "", trace.read_text(), flags=re.M))
    shown = alignctl("plan", trace).stdout
    assert "  block reads  2 in mode coalesce; 2 that nothing avoids\n" in shown
    assert touches_left_and_reads(shown)["coalesce"] == ("0", "2") and "timed" not in shown


def test_the_document_says_how_long_the_requests_of_a_trace_took(tmp_path):
    """So that what they cost a day can be told; in any order, and only where they have times."""
    trace = tmp_path / "trace"
    trace.write_text("time_s,op,offset,bytes\n0,write,512,4096\n12.5,read,0,4096\n3,write,512,4096\n")
    assert plan(trace)["seconds"] == 12.5
    trace.write_text("op,offset,bytes\nwrite,512,4096\n")
    assert plan(trace)["seconds"] is None and plan("w512")["seconds"] is None


def test_the_stream_that_took_seven_times_as_long_is_explained():
    modes = plan("w4k_132k")["modes"]
    assert (modes["report"]["touches_left"], modes["pad"]["rmw_host"], modes["coalesce"]["rmw_host"]) == (20000, 10001, 2)
    shown = tables(alignctl("plan", "w4k_132k").stdout, "MODE")
    headings = ("MODE", "AVOIDED", "BLOCK-READS", "AT-MOST", "TOUCHES-LEFT")
    assert [tuple(row[heading] for heading in headings) for row in shown] == [
        ("none, report", "0", "0", "0", "20000"), ("pad", "9999", "10001", "20000", "0"),
        ("coalesce", "19998", "2", "20000", "0")]


@pytest.mark.parametrize("arguments, touches, block", [
    (("--physical", 16384), 20, 16384), (("--physical", 512), 0, 512), (("--offset", 3584), 0, 4096),
    (("--count", 3), 6, 4096), (("--start", 0), 0, 4096)])
def test_blocks_and_figures_of_a_workload_are_as_asked_for(arguments, touches, block):
    result = plan("w136k", "--count", 10, *arguments)
    assert (result["touches_expected"], result["physical_block_size"]) == (touches, block)
    assert len(result["touches_if_moved"]) == block // 512


def without(document, *members):
    """Return the document with null for each of these members, at any depth."""
    if isinstance(document, list):
        return [without(each, *members) for each in document]
    if not isinstance(document, dict):
        return document
    return {key: None if key in members else without(each, *members) for key, each in document.items()}


@pytest.mark.parametrize("blocks", [(), ("--physical", 512), ("--physical", 65536, "--offset", 3584), ("--physical", "1M")])
@pytest.mark.parametrize("buffered", [(), ("--buffered",)])
def test_touches_alone_are_the_same_and_the_rest_is_null(tmp_path, blocks, buffered):
    chance = random.Random(7)
    trace = tmp_path / "trace"
    trace.write_text("time_ms,op,offset_sectors,sectors\n" + "".join(
        f"{n},{chance.choice(['read', 'write', 'write', 'write-zeroes', 'discard'])},"
        f"{chance.randrange(1 << 16)},{chance.randrange(1, 300)}\n" for n in range(400)))
    options = (trace, "--size", "1G", *blocks, *buffered)
    rest = ("rmin", "distinct_blocks", "modes", "recommendation", "pad_left", "coalesce_left", "coalesce_crowded")
    assert plan(*options, "--touches-only") == without(plan(*options), *rest)


def test_touches_alone_are_printed_without_what_they_do_not_tell(tmp_path):
    trace = tmp_path / "trace"
    trace.write_text("op,offset_sectors,sectors\nwrite,1,1\n")
    every, touches = (alignctl("plan", trace, *option).stdout for option in ((), ("--touches-only",)))
    for word in ("distinct blocks", "block reads", "TOUCHES-LEFT", "recommended"):
        assert word in every and word not in touches
    assert "expected     1 partial touches\n" in touches and "If the start moved on" in touches


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def recorded_on(path, physical, offset, lost=0):
    """A recording of four writes, with a header as of that device. offset: None: not known."""
    table = path.with_suffix(".csv")
    table.write_text("time_us,op,offset,bytes\n" + "".join(f"{n},write,{n * 8192 + 512},4096\n" for n in range(4)))
    subprocess.run([ALIGNCTL, "convert", table, "--output", path], check=True)
    header = bytearray(path.read_bytes()[:252])
    struct.pack_into("<II", header, 40, 512, physical)
    struct.pack_into("<QII", header, 232, lost, offset or 0, offset is not None)
    with open(path, "r+b") as file:
        file.write(header + struct.pack("<I", crc32c(header)))
    return path


@pytest.mark.parametrize("physical, offset, arguments, touches", [
    (4096, None, (), 8),
    (4096, 512, (), 0),
    (512, 0, (), 0),
    (512, 0, ("--physical", 4096), 8),
    (4096, 512, ("--physical", 4096), 0),
    (4096, 512, ("--physical", 8192), 4),
    (4096, 512, ("--offset", 0), 8),
    (16384, 0, (), 4),
])
def test_a_recording_is_planned_for_the_blocks_of_the_device_that_it_was_made_on(tmp_path, physical, offset, arguments,
                                                                                 touches):
    path = recorded_on(tmp_path / "r", physical, offset)
    result = plan(path, *arguments)
    assert result["touches_expected"] == touches
    given = dict(zip(arguments[::2], arguments[1::2]))
    assert result["physical_block_size"] == given.get("--physical", physical)
    known = "--offset" in given or (offset is not None and given.get("--physical", physical) == physical)
    assert (result["alignment_offset"] != "unknown") == known


def test_a_recording_that_lost_requests_says_so_again(tmp_path):
    done = alignctl("plan", recorded_on(tmp_path / "r", 4096, 0, lost=3))
    assert done.returncode == FINE and "incomplete: 3 requests were lost" in done.stderr
    disk = tmp_path / "disk"
    with open(disk, "wb") as file:
        file.truncate(1 << 30)
    done = alignctl("check", disk, "--recording", tmp_path / "r")
    assert "incomplete: 3 requests were lost" in done.stderr and "recommended: " in done.stdout


@pytest.mark.parametrize("arguments, reads", [((), 2), (("--fdatasync",), 11)])
def test_what_is_durable_at_once_cannot_be_held(arguments, reads):
    """Of ten writes that meet inside a block: each reads what the next one completes, and the last one both its ends."""
    plan = json.loads(alignctl("plan", "w136k", "--count", 10, "--json", *arguments).stdout)
    assert plan["modes"]["coalesce"]["rmw_host"] == reads


def test_a_device_gives_its_size_and_is_not_touched(tmp_path):
    disk = tmp_path / "disk"
    with open(disk, "wb") as file:
        file.truncate(1 << 20)
    before = disk.stat()
    result = plan("rand512", "--count", 100, "--on", disk)
    assert result["touches_expected"] == 100
    after = disk.stat()
    assert (after.st_atime_ns, after.st_mtime_ns, after.st_blocks) == (before.st_atime_ns, before.st_mtime_ns, 0)


def test_a_trace_is_planned_by_process(tmp_path):
    trace = tmp_path / "w512"
    rows = [f"{k / 10},write,{k * 4096 + 512},4096,db" for k in range(10)]
    rows += [f"{2 + k / 10},write,{65536 + k * 4096},4096,cp" for k in range(10)]
    trace.write_text("time_s,op,offset,bytes,comm\n" + "\n".join(rows) + "\n2.9,flush,,,cp\n")
    result = plan(trace)
    assert (result["source_format"], result["requests"]["flush"]["requests"]) == ("csv", 1)
    assert result["by_process"] == [{"comm": "db", "writes": 10, "misaligned": 10, "touches": 20},
                                    {"comm": "cp", "writes": 10, "misaligned": 0, "touches": 0}]
    assert result["modes"]["coalesce"]["rmw_host"] == result["modes"]["coalesce_as_timed"]["rmw_host"] == 2
    shown = alignctl("plan", trace).stdout
    assert tables(shown, "PROCESS") == [{"PROCESS": "db", "WRITES": "10", "MISALIGNED": "10", "TOUCHES": "20"},
                                        {"PROCESS": "cp", "WRITES": "10", "MISALIGNED": "0", "TOUCHES": "0"}]
    assert "pad, as timed" in shown


def test_people_find_the_worst_process_first_and_lengths_and_starts_in_their_order(tmp_path):
    """Touches of writes that begin 5 sectors into a block; the document has all as they first occurred, starts apart."""
    trace = tmp_path / "trace"
    trace.write_text("op,offset_sectors,sectors,comm\n" + "write,0,8,good\n" * 9 + "write,5,16,bad\n" * 3 +
                     "write,3,1,worse\n" * 7 + "write,1,8,\n")
    result, shown = plan(trace), alignctl("plan", trace).stdout
    assert [row["PROCESS"] for row in tables(shown, "PROCESS")] == ["worse", "bad", "(unknown)", "good"]
    assert [row["LENGTH"] for row in tables(shown, "LENGTH")] == ["512 B", "4 KiB", "8 KiB"]
    assert [row["START-SECTOR-IN-BLOCK"] for row in tables(shown, "START-SECTOR-IN-BLOCK")] == ["0", "1", "3", "5"]
    assert [row["comm"] for row in result["by_process"]] == ["good", "bad", "worse", None]
    assert [row["bytes"] for row in result["by_size"]] == [4096, 8192, 512]
    assert [row["sector"] for row in result["by_start_sector"]] == [0, 1, 3, 5]


def test_lengths_that_do_not_fit_stand_at_the_end_together(tmp_path):
    trace = tmp_path / "trace"
    trace.write_text("op,offset_sectors,sectors\n" + "".join(f"write,0,{n}\n" for n in range(80, 8, -1)))
    shown = tables(alignctl("plan", trace).stdout, "LENGTH")
    assert [row["LENGTH"] for row in shown[:2]] == ["8.5 KiB", "9 KiB"]
    assert shown[-1]["LENGTH"] == "others" and int(shown[-1]["WRITES"]) == 72 - (len(shown) - 1) > 0
    assert plan(trace)["by_size"][-1]["bytes"] is None


def test_touches_of_write_zeroes_are_told_with_those_of_writes_and_apart(tmp_path):
    trace = tmp_path / "trace"
    trace.write_text("op,offset,bytes\nwrite,512,4096\nwrite-zeroes,16896,4096\nwrite-zeroes,32768,8192\n"
                     "write-zeroes,49152,512\ndiscard,65536,512\n")
    result = plan(trace)
    assert (result["touches_expected"], result["write_touches"], result["zero_touches"]) == (5, 2, 3)
    assert (result["writes_misaligned"], result["write_zeroes_misaligned"]) == (1, 2)
    assert sum(result["classes"].values()) == sum(row["writes"] for row in result["by_size"]) == 1
    assert result["modes"]["report"]["touches_left"] == result["modes"]["pad"]["rmw_host"] == 5
    assert {mode["rmw_expected_zeroes"] for mode in result["modes"].values() if isinstance(mode, dict)} == {3}
    shown = alignctl("plan", trace).stdout
    assert tables(shown, "OPERATION") == [
        {"OPERATION": "write", "REQUESTS": "1", "SIZE": "4 KiB", "MISALIGNED": "1", "TOUCHES": "2"},
        {"OPERATION": "discard", "REQUESTS": "1", "SIZE": "512 B", "MISALIGNED": "-", "TOUCHES": "-"},
        {"OPERATION": "write-zeroes", "REQUESTS": "3", "SIZE": "12.5 KiB", "MISALIGNED": "2", "TOUCHES": "3"}]
    assert "expected     5 partial touches, 3 of them by write-zeroes; " in shown
    assert "write-zeroes" not in alignctl("plan", "w512").stdout


@pytest.mark.parametrize("physical, fixed", [(131072, True), (262144, True), (524288, False), (1048576, False)])
@pytest.mark.parametrize("offset", [0, 3584])
def test_touches_of_large_blocks_are_those_of_each_sector_and_modes_have_figures_where_they_fix_them(
        tmp_path, physical, fixed, offset):
    chance = random.Random(physical + offset)
    writes = [(chance.choice([chance.randrange(1 << 16), 256 * chance.randrange(256)]),
               chance.choice([1, 8, 256, 511, 512, 513, 2048, 4097])) for _ in range(200)]
    trace = tmp_path / "trace"
    trace.write_text("op,offset_sectors,sectors\n" + "".join(f"write,{start},{length}\n" for start, length in writes))
    sectors, touches, ever = physical // 512, 0, set()
    for start, length in writes:
        covered = Counter((sector - offset // 512) // sectors for sector in range(start, start + length))
        touches += sum(n < sectors for n in covered.values())
        ever |= set(covered)
    result = plan(trace, "--physical", physical, "--offset", offset, "--size", "1G")
    assert (result["touches_expected"], result["distinct_blocks"]) == (touches, len(ever))
    assert result["modes"]["report"]["touches_left"] == touches and len(result["touches_if_moved"]) == sectors
    # The first block begins before the device.
    edge = sum(start < offset // 512 for start, _ in writes)
    for mode in ("pad", "coalesce"):
        figures = result["modes"][mode]
        assert (figures is not None) == fixed
        assert not fixed or figures["touches_left"] == edge and \
            figures["rmw_host"] + figures["rmw_avoided"] == touches - edge
    assert fixed or result["recommendation"]["remedy"] in ("nothing", "move")
    shown = alignctl("plan", trace, "--physical", physical, "--offset", offset, "--size", "1G").stdout
    assert ("pad and coalesce fix blocks of at most 262144 bytes" in shown) != fixed
    moves = {int(row["SECTORS"]): int(row["TOUCHES"]) for row in tables(shown, "SECTORS")}
    assert moves == {at: now for at, (now, before) in enumerate(zip(result["touches_if_moved"],
                                                                    [None, *result["touches_if_moved"]])) if now != before}


def test_memory_does_not_grow_with_a_trace(tmp_path):
    """Writes all over 64 TB, more 2 MiB stretches than are counted in one pass."""
    trace, places = tmp_path / "trace", 150000
    with open(trace, "w") as file:
        file.write("op,offset,bytes\n")
        for k in range(places):
            file.write(f"write,{k * 7919 % places * (400 << 20) + 512},4096\n")
    done = subprocess.run(["/usr/bin/env", "bash", "-c", "ulimit -v 200000; exec \"$@\"", "-", ALIGNCTL, "plan", trace,
                           "--json"], capture_output=True, text=True, timeout=patience(60), check=False)
    assert done.returncode == FINE, done.stderr
    result = json.loads(done.stdout)
    assert (result["distinct_blocks"], result["rmin"]) == (2 * places, 2 * places)


@pytest.mark.parametrize("arguments, words", [
    (["plan"], ["plan: needs SOURCE"]),
    (["plan", "w5"], ["w5", "No such file", "no workload 'w5'", "'alignctl workloads'"]),
    *((["plan", method], [f"{method}: is a method, which 'alignctl probe' runs"]) for method in METHODS
      if method not in WORKLOADS_TOO),
    (["plan", "w512", "--size", "1M"], ["the planned device", "too small", "--count"]),
    (["plan", "w512", "--on", "/dev/none"], ["/dev/none", "No such file"]),
    (["plan", "w512", "--on", "/etc/passwd", "--size", "1M"], ["--on, --size: exclude each other; leave one out"]),
    (["plan", "w512", "--size", "100"], ["--size 100", "multiple of the logical block, 512 bytes"]),
    (["plan", "w512", "--size", "512", "--logical", "4096"], ["--size 512", "multiple of the logical block, 4096 bytes"]),
    (["plan", "w512", "--size", "0"], ["--size 0", "at least 1"]),
    (["plan", "w512", "--logical", "0"], ["--logical 0", "from 512 to 65536"]),
    (["plan", "w512", "--physical", "0"], ["--physical 0", "from 512 to 1048576"]),
    (["plan", "w512", "--offset", "4G"], ["--offset 4G", "from 0 to 1048064"]),
    (["plan", "w512", "--start", "x"], ["--start x", "bytes"]),
    (["plan", "rand512", "--seed", "x"], ["--seed x", "whole number"]),
    (["plan", "w512", "--count", "0"], ["--count 0", "at least 1"]),
    (["plan", "rand512", "--span", "0"], ["--span 0", "at least 1"]),
    (["plan", "areasync", "--areas", "0"], ["--areas 0", "from 1 to 4294967295"]),
    (["plan", "areasync", "--areas", "4G"], ["--areas 4G", "from 1 to 4294967295"]),
    (["plan", "w512", "--shift", "x"], ["--shift x", "sectors"]),
    (["plan", "w512", "--logical", "1000"], ["--logical 1000", "power of two from 512 to 65536"]),
    (["plan", "w512", "--logical", "1024"], ["logical block 1024", "512 or 4096"]),
    (["plan", "w512", "--logical", "4096"], ["w512", "units of 512 bytes"]),
    (["plan", "rand512"], ["rand512", "--size", "--span"]),
    (["plan", "seqwrite"], ["seqwrite", "--size", "--span"]),
    (["plan", "seqwrite", "--size", "1M"], ["too small", "65536 bytes for each", "--count"]),
    (["plan", "seqwrite", "--size", "1G", "--span", "2G"], ["too small", "--span"]),
    (["plan", "seqwrite", "--size", "1G", "--seed", "2"], ["--seed", "seqwrite"]),
    (["plan", "db-randwrite", "--size", "1G"], ["too small", "--span"]),
    (["plan", "w512", "--span", "1M"], ["--span", "w512"]),
    (["workloads", "x"], ["unexpected argument 'x'"]),
])
def test_a_wrong_argument_is_named_with_the_way_out(arguments, words):
    refused = alignctl(*arguments)
    assert refused.returncode in (USAGE, 3) and not refused.stdout
    assert refused.stderr.startswith("alignctl: ")
    for word in words:
        assert word in refused.stderr


@pytest.mark.parametrize("option", ["--count", "--start", "--span", "--areas", "--seed"])
def test_what_is_for_workloads_is_refused_for_a_trace(tmp_path, option):
    trace = tmp_path / "trace"
    trace.write_text("op,offset,bytes\nwrite,0,512\n")
    refused = alignctl("plan", trace, option, 1)
    assert refused.returncode == USAGE and f"{option}: does not apply to {trace}, a trace; leave it out\n" in refused.stderr


@pytest.mark.parametrize("verb", [["plan"], ["replay", "--on", "/dev/none"]])
def test_a_source_without_a_name_is_told_as_such(verb):
    refused = alignctl(*verb, "")
    assert refused.returncode == USAGE
    assert refused.stderr == 'alignctl: SOURCE "": is empty; give a trace\'s path or, where allowed, a workload\'s name\n'


AREAS, COUNT, SPAN, START = "--areas", "--count", "--span", "--start"
LARGER = "take a larger device"


@pytest.mark.parametrize("arguments, way_out, then", [
    ("areasync --areas 100000 --size 1M", "give a smaller --areas", {AREAS: 15}),
    ("areasync --size 64K", LARGER, {"--size": "1M"}),
    ("w512 --size 1M", "give a smaller --count", {COUNT: 100}),
    ("w512 --size 512 --logical 512 --start 4096 --count 1", "give a smaller --start", {START: 0}),
    ("w136k --size 64K", LARGER, {"--size": "1G"}),
    ("rand512 --size 512", LARGER, {"--size": "16M"}),
    ("rand512 --size 1M", "give a smaller --count", {COUNT: 1792}),
    ("rand512 --size 16M --span 64K", "give a smaller --count or a larger --span", {SPAN: "10000K"}),
    ("rand512 --size 16M --span 64K", "give a smaller --count or a larger --span", {COUNT: 128}),
    ("rand512 --size 16M --span 511", "give a larger --span", {SPAN: "10000K"}),
    ("rand512 --size 16M --start 1G --count 1", "give a smaller --start", {START: "1M"}),
    ("rnddeltaread --size 1M --span 4K", "give a larger --span", {SPAN: "8K"}),
    ("rnddeltaread --size 8K", LARGER, {"--size": "1M"}),
    ("db-randread --size 1M", "give a smaller --span and --count", {SPAN: "512K", COUNT: 64}),
    ("db-randread --size 1M --span 2M --count 10", "give a smaller --span", {SPAN: "80K"}),
    ("db-randread --size 512", LARGER, {"--size": "2G"}),
    ("journal-64k-rand --size 100M", "give a smaller --span", {SPAN: "8M"}),
    ("journal-64k-rand --size 60M", "give a smaller --span and --count", {SPAN: "8M", COUNT: 500}),
    ("seqread --size 512", LARGER, {"--size": "1G"}),
    ("seqread --size 200K", "give a smaller --count", {COUNT: 1}),
    ("seqread --size 20M --span 1M", "give a smaller --count or a larger --span", {COUNT: 16}),
    ("seqread --size 20M --span 1M", "give a smaller --count or a larger --span", {SPAN: "10M"}),
    ("seqread --size 140K --count 1 --span 1K", "give a larger --span", {SPAN: "64K"}),
    ("seqread --size 20M --start 1G", "give a smaller --start", {START: 0}),
])
def test_what_a_message_says_to_do_helps(arguments, way_out, then):
    given = arguments.split()
    refused = alignctl("plan", *given)
    assert refused.returncode == USAGE and refused.stderr.endswith(f"; {way_out}\n"), refused.stderr
    for option, value in then.items():
        if option in given:
            given[given.index(option) + 1] = value
        else:
            given += [option, value]
    helped = alignctl("plan", *given)
    assert helped.returncode == FINE, helped.stderr


@pytest.mark.parametrize("line, words", [
    ("write,100,512", ["whole sectors"]), ("write,0,8589934592", ["4294967295"]), ("write,1048576,512", ["--size"])])
def test_a_request_that_cannot_be_planned_is_refused_with_its_line(tmp_path, line, words):
    trace = tmp_path / "trace"
    trace.write_text(f"op,offset,bytes\nwrite,0,512\n{line}\n")
    refused = alignctl("plan", trace, "--size", "1M")
    assert refused.returncode == USAGE and not refused.stdout
    assert f"{trace}: line 3: " in refused.stderr
    for word in words:
        assert word in refused.stderr


def test_a_long_plan_says_how_far_it_is_and_ends_at_ctrl_c():
    pid, terminal = pty.fork()
    if not pid:
        # A shell starts what runs in the background with it ignored.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.execv(ALIGNCTL, ["alignctl", "plan", "w512", "--count", "4000000000"])
    said, limit = b"", Limit(30)
    while not re.search(rb"w512, pass 1: +\d+ %, \d+:\d\d left", said) and not limit.over():
        if select.select([terminal], [], [], 1)[0]:
            said += os.read(terminal, 4096)
    os.write(terminal, b"\x03")
    limit, ended, status = Limit(10), 0, 0
    while not ended and not limit.over():
        time.sleep(0.01)
        ended, status = os.waitpid(pid, os.WNOHANG)
    if not ended:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    os.close(terminal)
    assert b" left" in said and ended and os.waitstatus_to_exitcode(status) == -signal.SIGINT, said


@pytest.mark.parametrize("size, same", [("1T", 1 << 40), ("1TiB", 1 << 40), ("2P", 2 << 50), ("4k", 4096), ("1g", 1 << 30)])
def test_a_size_may_have_any_unit_to_p(size, same):
    shown = [alignctl("plan", "rand512", "--count", 1, "--start", 0, "--size", "8P", "--span", each, "--json").stdout
             for each in (size, same)]
    assert shown[0] == shown[1] and json.loads(shown[0])["touches_expected"] == 1
