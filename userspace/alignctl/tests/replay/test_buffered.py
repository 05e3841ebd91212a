# SPDX-License-Identifier: GPL-2.0
"""alignctl replay and plan through the page cache, on a regular file and a loop device, as their user meets them."""

import json
import subprocess

import pytest

from alignctl_program import DISK_BYTES, alignctl
from lab.pace import patience

FINE, FINDINGS, USAGE, IO, BUSY = range(5)
# Of a trace that was made with buffered writes: no multiples of anything.
RECORDS = "op,offset,bytes\n" + "".join(f"write,{4000 * n},4000\n" for n in (3, 700, 4, 3, 12)) + \
    "flush,0,0\nread,12000,4000\nwrite,12001,3\n"
PAGES = 7       # of those records


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "records.csv"
    path.write_text(RECORDS)
    return path


def answer(*arguments, status=FINE):
    done = alignctl(*arguments, "--json")
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def large_blocks(disk):
    """A loop device of the disk, with logical blocks of 16 KiB."""
    made = subprocess.run(["losetup", "-f", "--show", "-b", "16384", disk], text=True, capture_output=True, timeout=patience(20),
                          check=False)
    if made.returncode:
        pytest.skip(f"no loop device with logical blocks of 16 KiB: {made.stderr.strip()}")
    yield made.stdout.strip()
    subprocess.run(["losetup", "-d", made.stdout.strip()], timeout=patience(20), check=True)


@pytest.mark.parametrize("verb", [["replay", "--on"], ["plan", "--on"]])
def test_requests_of_any_bytes_need_buffered_and_are_told_so(disk, trace, verb):
    refused = alignctl(verb[0], trace, verb[1], disk)
    assert refused.returncode == USAGE and "--buffered" in refused.stderr and "line 2" in refused.stderr
    assert answer(verb[0], trace, "--buffered", verb[1], disk)


@pytest.mark.parametrize("options", [[], ["--depth", "8"], ["--timing", "fast", "--threads", "2"]])
def test_a_trace_of_any_bytes_is_done_and_compared(disk, trace, options):
    result = answer("replay", trace, "--buffered", "--on", disk, *options)
    assert (result["buffered"], result["requests"]) == (True, 8)
    # Four records, as one comes twice: two of them are neighbours, in 17 sectors; 9 each for the others.
    assert result["data_check"] == {"status": "ok", "sectors": 35, "mismatches": 0, "first_mismatch_sector": None,
                                    "passes": 1}
    assert result["by_class"] == []
    content = disk.read_bytes()
    assert not any(content[:12000]) and all(content[12000:20000]) and not content[20000]


@pytest.mark.parametrize("options, buffered", [(["--direct", "--buffered"], True), (["--buffered", "--direct"], False)])
def test_of_buffered_and_direct_the_last_one_counts(disk, options, buffered):
    assert answer("replay", "w4096", "--on", disk, "--count", 3, *options)["buffered"] is buffered


def test_an_iolog_of_fio_with_records_is_done(disk, tmp_path):
    path = tmp_path / "iolog"
    path.write_text("fio version 2 iolog\n/x add\n/x open\n/x write 4000 4000\n/x write 8000 4000\n/x datasync 0 0\n"
                    "/x read 4000 100\n/x close\n")
    refused = alignctl("replay", path, "--on", disk)
    assert refused.returncode == USAGE and "line 4" in refused.stderr and "--buffered" in refused.stderr
    result = answer("replay", path, "--on", disk, "--buffered")
    assert (result["requests"], result["data_check"]["status"]) == (4, "ok")


def test_buffered_runs_on_two_devices_are_compared(disk, tmp_path):
    other = tmp_path / "other"
    other.write_bytes(bytes(DISK_BYTES))
    done = alignctl("verify", "records-4000", "--on", disk, "--vs", other, "--count", 100, "--span", "1M", "--repeat", 2,
                    "--force", disk, "--force", other, "--json")
    assert done.returncode == FINE, done.stderr
    runs = json.loads(done.stdout)["runs"]
    assert len(runs) == 4 and all(run["replay"]["buffered"] for run in runs)


def test_direct_is_what_it_was(disk, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("op,offset,bytes\nwrite,0,4096\n")
    assert answer("replay", path, "--on", disk)["buffered"] is False
    again = answer("replay", path, "--on", disk, "--buffered")
    assert again["data_check"]["sectors"] == 8 and [row["class"] for row in again["by_class"]] == ["whole"]


def test_the_comparison_reads_past_the_cache_what_lies_below(disk, trace, tmp_path):
    below = tmp_path / "below"
    below.write_bytes(bytes(DISK_BYTES))
    check = answer("replay", trace, "--buffered", "--on", disk, "--verify-below", below,
                   status=FINDINGS)["data_check"]
    assert (check["status"], check["mismatches"], check["first_mismatch_sector"]) == ("mismatch", 35, 12000 // 512)
    shown = alignctl("replay", trace, "--buffered", "--on", disk, "--verify-below", below, "--force", disk)
    assert "bytes 224 to 224: expected request 4, found others" in shown.stderr


def test_a_discard_as_long_as_any_device_takes_no_time(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("op,offset,bytes\nwrite,512,8\nwrite,262144,8\ndiscard,4096,9223372036854767616\nflush,0,0\n")
    forecast = answer("plan", path, "--buffered")
    assert forecast["requests"]["discard"] == {"requests": 1, "bytes": 9223372036854767616}
    # of the writes that the discard does not cover whole
    assert forecast["requests"]["write"]["requests"] == 1


def test_parts_of_large_logical_blocks_are_compared(large_blocks, trace):
    """The device is read in whole logical blocks, and of these what was written is compared."""
    check = answer("replay", trace, "--buffered", "--on", large_blocks)["data_check"]
    assert check["status"] == "ok" and check["sectors"] == 35


@pytest.mark.parametrize("on", ["disk", "loop"])
@pytest.mark.parametrize("name, arguments, requests", [
    ("records-4000", ("--count", 500, "--span", "16M"), 500),
    ("records-4096", ("--count", 500, "--span", "16M", "--depth", 4), 500),
    ("areasync", ("--count", 3), 12),
    ("areasync-128k", ("--count", 2, "--areas", 5), 10),
])
def test_a_buffered_workload_is_done_so_without_being_asked(request, on, name, arguments, requests):
    device = request.getfixturevalue(on)
    result = answer("replay", name, "--on", device, *arguments)
    assert (result["buffered"], result["requests"], result["data_check"]["status"]) == (True, requests, "ok")
    assert result["data_check"]["sectors"] > 0
    assert result["flushes"] == (requests if name.startswith("areasync") else 0)


def test_draws_are_those_of_the_seed(disk):
    places = []
    for seed in (1, 1, 2):
        disk.write_bytes(bytes(DISK_BYTES))
        result = answer("replay", "records-4000", "--on", disk, "--count", 300, "--span", 1200000, "--seed", seed)
        content = disk.read_bytes()
        places.append([n for n in range(300) if any(content[65536 + 4000 * n:65536 + 4000 * n + 4000])])
        # 300 of 300 places with replacement: some twice, and a third never.
        assert 150 < len(places[-1]) < 230 and result["requests"] == 300
        assert not any(content[65536 + 1200000:])
    assert places[0] == places[1] != places[2]


def test_direct_records_are_done_if_they_can_be(disk):
    result = answer("replay", "records-4096", "--direct", "--on", disk, "--count", 200, "--span", "1M")
    assert (result["buffered"], result["data_check"]["status"]) == (False, "ok")
    assert {row["class"] for row in result["by_class"]} == {"whole"}
    for verb in ("replay", "plan"):
        refused = alignctl(verb, "records-4000", "--direct", "--on", disk, "--span", "1M")
        assert refused.returncode == USAGE and not refused.stdout
        for words in ("--direct", "4000 bytes", "512 bytes", "EINVAL"):
            assert words in refused.stderr
    assert answer("plan", "records-4096", "--direct", "--count", 1000)["requests"]["write"]["requests"] == 1000


@pytest.mark.parametrize("name", ["w4k_132k", "rand512", "db-read", "append-512-dsync"])
def test_every_workload_can_be_buffered(disk, name):
    span = ["--span", "1M"] if name == "rand512" else []
    result = answer("replay", name, "--buffered", "--on", disk, "--count", 20, *span)
    assert result["buffered"] is True and result["data_check"]["status"] == ("skipped" if name == "db-read" else "ok")


def test_the_daemon_rests_also_when_buffered(tmp_path):
    disk = tmp_path / "disk"
    with open(disk, "wb") as file:
        file.truncate(1 << 30)
    result = answer("replay", "db-daemon", "--buffered", "--on", disk, "--count", 501, "--span", "600M", "--think", 0.3)
    assert (result["requests"], result["pauses"], result["data_check"]["status"]) == (501, 1, "ok")
    assert 0.3 <= result["pause_s"] < patience(3) and result["wall_s"] > result["pause_s"]


@pytest.mark.parametrize("arguments, words", [
    (["replay", "areasync", "--phase", "run", "--state", "s"], ["s: No such file", "--phase prepare"]),
    (["replay", "areasync", "--phase", "prepare", "--state", "s", "--no-check"], ["--no-check", "does not apply to"]),
    (["replay", "areasync", "--direct", "--phase", "prepare", "--state", "s"], ["4 bytes each", "EINVAL"]),
    (["replay", "areasync", "--state", "s"], ["--state", "does not apply to"]),
    (["replay", "db-read", "--buffered", "--phase", "prepare", "--state", "s"], ["--phase", "that reads"]),
    (["replay", "areasync", "--depth", "2"], ["--depth 2", "must follow each other"]),
    (["verify", "w512", "areasync", "--threads", "2"], ["--threads 2", "writes of areasync must follow each other"]),
    (["verify", "records-4096", "areasync", "--span", "8M"], ["--span", "does not apply to areasync"]),
    (["verify", "records-4000", "--threads", "257"], ["--threads 257", "from 1 to 256"]),
    (["verify", "sorted-reads-32", "--buffered"], ["sorted-reads-32", "only reads"]),
    (["plan", "w512", "--cache-block", "4096"], ["--cache-block", "--buffered", "w512"]),
    (["plan", "areasync", "--cache-block", "1000"], ["--cache-block 1000", "power of two"]),
])
def test_what_does_not_fit_is_named(disk, arguments, words):
    failed = alignctl(*arguments, "--on", disk)
    assert failed.returncode == USAGE and not failed.stdout
    for word in words:
        assert word in failed.stderr
    assert not any(disk.read_bytes())


PHASED = {
    # Pages of the cache that are read and written, worked out by hand.
    "areasync": (["--count", 3], 12, (4, 12)),
    "records-4096": (["--count", 1, "--span", 4096], 1, (0, 1)),
    "w512": (["--buffered", "--count", 5], 5, (5, 5)),
    "append-512-dsync": (["--buffered", "--count", 9], 9, (2, 9)),
}


def phases(on, name, arguments, state, *run_only):
    """What prepare and run say; then check can be done."""
    common = [name, "--on", on, "--force", on, "--state", state]
    prepared = answer("replay", *common, "--phase", "prepare", *arguments)
    return prepared, answer("replay", *common, "--phase", "run", *run_only)


@pytest.mark.parametrize("on", ["disk", "loop"])
@pytest.mark.parametrize("name", PHASED)
def test_a_buffered_workload_has_phases_and_is_compared_with_all_around_it(request, on, name, tmp_path):
    device, (arguments, requests, (reads, writes)) = request.getfixturevalue(on), PHASED[name]
    state = tmp_path / "state"
    blocks = ["--physical", 4096, "--offset", 0]
    prepared, run = phases(device, name, [*arguments, *blocks], state, *blocks)
    for result in (prepared, run):
        assert (result["buffered"], result["requests"]) == (True, requests)
        assert (result["reads_expected"], result["writes_expected"], result["touches_expected"]) == (reads, writes, 0)
    check = answer("replay", name, "--on", device, "--state", state, "--phase", "check")["data_check"]
    # Of each page, or of all pages together, one block more on either side; those nearer than 64 KiB too.
    prepared = {"areasync": 51, "records-4096": 3, "w512": 6, "append-512-dsync": 4}[name]
    assert (check["status"], check["sectors"]) == ("ok", 8 * prepared)


def test_what_a_fix_would_damage_beside_a_buffered_write_is_found(disk, tmp_path):
    state = tmp_path / "state"
    # Blocks that begin 1536 bytes off: the page of the write lies in two of them, and one more is on either side.
    off = ["--offset", 1536, "--physical", 4096]
    phases(disk, "areasync", ["--count", 2, "--areas", 1, *off], state, *off)
    good = disk.read_bytes()
    for at, words in ((58880, "expected what was prepared"), (75263, "expected what was prepared"),
                      (65540, "bytes 4 to 511: expected what was prepared"), (65539, "expected request 2")):
        disk.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1:])
        check = alignctl("replay", "areasync", "--on", disk, "--state", state, "--phase", "check")
        assert check.returncode == FINDINGS and f"sector {at // 512}" in check.stderr and words in check.stderr


@pytest.mark.parametrize("prepared, run", [(["--buffered"], ["--direct"]), ([], ["--buffered"])])
def test_a_state_is_buffered_or_direct(disk, tmp_path, prepared, run):
    common = ["w512", "--on", disk, "--state", tmp_path / "state"]
    answer("replay", *common, "--count", 3, "--phase", "prepare", *prepared)
    refused = alignctl("replay", *common, "--phase", "run", *run)
    assert refused.returncode == USAGE and "--phase prepare starts anew" in refused.stderr


def test_direct_records_have_phases_too(disk, tmp_path):
    state = tmp_path / "state"
    _, run = phases(disk, "records-4096", ["--direct", "--count", 50, "--span", "64K"], state, "--threads", 2)
    assert (run["buffered"], run["requests"], run["writes_expected"], run["threads"]) == (False, 50, 50, 2)
    check = answer("replay", "records-4096", "--on", disk, "--state", state, "--phase", "check")["data_check"]
    assert check["status"] == "ok" and check["sectors"] > 100


def test_a_state_takes_whole_sectors_only(disk, trace, tmp_path):
    state, whole = tmp_path / "state", tmp_path / "whole.csv"
    refused = alignctl("replay", trace, "--buffered", "--on", disk, "--state", state)
    assert refused.returncode == USAGE and "whole sectors" in refused.stderr and "--state" in refused.stderr
    whole.write_text("op,offset,bytes\nwrite,512,1024\nflush,0,0\nwrite,1024,512\n")
    answer("replay", whole, "--buffered", "--on", disk, "--state", state)
    assert answer("replay", "--check", state)["new"]["blocks"] == 1
    with open(disk, "r+b") as file:
        file.seek(512)
        file.write(bytes(512))
    assert answer("replay", "--check", state, status=FINDINGS)["lost"]["blocks"] == 1


def test_a_plan_says_what_the_cache_sends_and_what_it_assumes(trace):
    result = answer("plan", trace, "--buffered", "--size", "64M")
    assert result["issued"]["write"] == {"requests": 6, "bytes": 20003}
    # The first flush sends all; after it one page is changed again.
    assert result["requests"]["read"]["requests"] == PAGES
    assert result["requests"]["write"] == {"requests": PAGES + 1, "bytes": (PAGES + 1) * 4096}
    assumed = result["assumed"]
    assert (assumed["direct"], assumed["cache_block_size"], assumed["cache_keeps_all"]) == (False, 4096, True)
    shown = alignctl("plan", trace, "--buffered", "--size", "64M").stdout
    assert "Assumed of the page cache: blocks of 4096 bytes" in shown
    direct = answer("plan", "w512")
    assert direct["issued"] is None and direct["assumed"]["cache_block_size"] is None


@pytest.mark.parametrize("size, block", [(64 << 20, 4096), ((64 << 20) - 512, 512), ((64 << 20) + 2048, 2048)])
def test_blocks_of_the_cache_divide_the_device(size, block):
    result = answer("plan", "areasync", "--size", size)
    assert result["assumed"]["cache_block_size"] == block
    # A page cache with smaller blocks makes partial touches of what a larger one hides.
    assert result["touches_expected"] == (0 if block == 4096 else 400)


def test_the_device_is_asked_for_its_cache(loop):
    asked = subprocess.run(["blockdev", "--getbsz", loop], text=True, capture_output=True, timeout=patience(20), check=True)
    assert answer("plan", "areasync", "--on", loop)["assumed"]["cache_block_size"] == int(asked.stdout)
    subprocess.run(["blockdev", "--setbsz", "1024", loop], timeout=patience(20), check=True)


def test_a_device_that_is_shifted_has_its_cache_shifted():
    result = answer("plan", "areasync", "--shift", 5)
    assert (result["touches_expected"], result["rmin"], result["requests"]["flush"]["requests"]) == (800, 8, 400)
    assert result["modes"]["pad"]["rmw_host"] == 8 and result["best_move_sectors"] == 3


def test_memory_for_a_plan_has_an_end(tmp_path):
    path = tmp_path / "far.csv"
    with open(path, "w") as file:
        file.write("op,offset,bytes\n")
        file.writelines(f"write,{n << 20},4\n" for n in range(2100000))
    done = alignctl("plan", path, "--buffered")
    assert done.returncode == USAGE and "2097152 stretches" in done.stderr and "--buffered" in done.stderr
