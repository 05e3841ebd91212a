# SPDX-License-Identifier: GPL-2.0
"""The program as its user meets it: usage, errors, exit status, JSON. No device-mapper is needed."""

import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from alignctl_program import (
    ALIGNCTL,
    AREAS,
    BINS,
    COUNTERS,
    DISK_BYTES,
    HISTOGRAMS,
    METHODS,
    ONE_AT_A_TIME,
    VERBS,
    WORKLOADS_TOO,
    alignctl,
    human_time,
    man_page,
    needs_io_uring,
    put,
    stats,
    tables,
    wait_for_run,
)
from audited import BRIDGE, Machine, keep_probed
from lab.pace import patience
from watched import Watched

FINE, FINDINGS, USAGE, IO, BUSY = range(5)

# Writes, partial touches, unavoidable reads and blocks of ten repetitions, by hand, on 4096-byte blocks.
TEN = {
    "w512": (10, 10, 10, 10),
    "w4096": (10, 0, 0, 10),
    "w4096_512": (10, 20, 20, 20),
    "w136k": (10, 20, 2, 341),
    "w4k_132k": (20, 40, 2, 341),
    "diskbenchi-0": (40, 0, 0, 5120),
    "diskbenchi-existing": (40, 80, 2, 5121),
    "diskbenchi": (40, 80, 2, 5121),
    "diskbenchi-fresh": (51, 71, 0, 5121),
    "shifted-partition": (10, 20, 20, 20),
    "seq8k-shifted": (10, 20, 2, 21),
    "dd-512-sync": (80, 0, 0, 10),
    "rndwrite": (10, 0, 0, 10),
    "db-write": (10, 0, 0, 20),
    "areasync-512": (40, 40, 4, 4),
    "areasync-512-128k": (40, 40, 4, 4),
    "areasync-4k": (40, 0, 0, 4),
    "areasync-4k-shifted": (40, 80, 8, 8),
    "append-512-dsync": (10, 10, 1, 2),
    "rand512": (10, 10, 10, 10),
    "rand4k": (10, 0, 0, 10),
}
RANDOM = ("shifted-partition", "rndwrite", "rand512", "rand4k")


def options_of(verb):
    return re.findall(r"^ (?:-[hV], )?(--[a-z-]+)", alignctl(verb, "--help").stdout, re.M)


# Usage

def test_help_lists_every_verb():
    shown = alignctl("--help")
    assert shown.returncode == FINE
    assert re.findall(r"^ ([a-z]+)  ", shown.stdout, re.M) == list(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_has_the_same_shape(verb):
    shown = alignctl(verb, "--help")
    assert shown.returncode == FINE and not shown.stderr
    assert shown.stdout.startswith(f"\nUsage:\n alignctl {verb}")
    assert shown.stdout.endswith(f"For more details see alignctl-{verb}(8).\n")
    assert max(map(len, shown.stdout.split("Counters")[0].splitlines())) <= 80


@pytest.mark.parametrize("verb", VERBS)
def test_the_usage_line_has_options_where_they_are_taken(verb):
    """What follows "--" is a command's, and an option there would not be the verb's."""
    usage = alignctl(verb, "--help").stdout.split("\n\n")[0].splitlines()[2:]
    for own, _, of_command in (line.partition(" [-- ") for line in usage):
        assert re.search(r"--[a-z]|\[options\]", own) and "--" not in of_command and "[options]" not in of_command


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_is_in_the_man_page(verb):
    for option in options_of(verb):
        name = "alignctl.8" if option in ("--help", "--version") else f"alignctl-{verb}.8"
        assert option in man_page(name), f"{option} is not in {name}"


@pytest.mark.parametrize("arguments", [["--version"], ["list", "--version"]])
def test_version(arguments):
    shown = alignctl(*arguments)
    assert shown.returncode == FINE
    assert re.fullmatch(r"alignctl \d+\.\d+\n", shown.stdout)


@pytest.mark.parametrize("arguments, words", [
    ([], ["no verb given", "--help"]),
    (["fly"], ["no verb 'fly'; ", "--help"]),
    (["lst"], ["no verb 'lst'; did you mean 'list'? ", "--help"]),
    (["replay", "w4k-132k", "--on", "x"], ["no workload 'w4k-132k' either; did you mean 'w4k_132k'? 'alignctl w"]),
    (["replay", "cncreed", "--on", "x"], ["did you mean 'cncread'?"]),
    (["plan", "w4k132k"], ["did you mean 'w4k_132k'?"]),
    (["verify", "w4k-132k", "--on", "x"], ["no workload 'w4k-132k'; did you mean 'w4k_132k'? 'alignctl workloads'"]),
    (["verify", "w5", "--on", "x"], ["no workload 'w5'; 'alignctl workloads'"]),
    (["verify", "w512", "--on", "x", "--modes", "raw,paad"],
     ["--modes paad: must be raw, report, pad or coalesce; did you mean 'pad'?"]),
    (["verify", "w512", "--on", "x", "--modes", "raw,pad,raw"], ["--modes raw,pad,raw: names a mode twice"]),
    *((["verify", "x", "--live", *option], [f"{option[0]}: does not apply to --live", "leave it out"])
      for option in (["--on", "y"], ["--vs", "y"], ["--force", "y"], ["--count", "3"], ["--hold-ms", "5"], ["--threads", "2"],
                     ["--write-cache", "on"], ["--drive-control", "s"], ["--direct"], ["--timing", "open"])),
    *((["verify", "w512", "--on", "x", *option], [f"{option[0]}: needs --live; add it"])
      for option in (["--seconds", "9"], ["--period", "3-4"])),
    (["verify", "x", "y", "--live"], ["one align device at a time"]),
    (["verify", "x", "--live", "--modes", "raw,pad"], ["--modes raw,pad: raw is the device without dm-align"]),
    (["verify", "x", "--live", "--modes", "pad"], ["--modes pad", "name two or three"]),
    (["verify", "x", "--live", "--repeat", "3", "--seconds", "60"], ["--seconds, --repeat: exclude each other; leave one out"]),
    (["verify", "x", "--live", "--repeat", "1001"], ["--repeat", "from 1 to 1000"]),
    *((["verify", "x", "--live", "--period", period], [f"--period {period}: must be whole seconds, MIN-MAX or N"])
      for period in ("0", "30-10", "10-", "-10", "1.5", "10-30x", "86401")),
    (["replay", "t", "--on", "x", "--timing", "fsat"], ["--timing fsat: must be ", "open", "did you mean 'fast'?"]),
    (["record", "x", "--output", "y", "--format", "cvs"],
     ["--format cvs: must be recording, fio or csv; did you mean 'csv'?"]),
    (["fleet"], ["fleet: needs FILE|DIR", "alignctl fleet --help"]),
    (["fleet", "x", "--by", "hosts"], ["--by hosts: must be host, device, model or finding; did you mean 'host'?"]),
    (["fleet", "x", "--by", "model", "--json"], ["--by, --json: exclude each other, as JSON has all rows"]),
    (["fleet", "x", "--host", ""], ["--host : must be the name of a host"]),
    (["fleet", "x", "--html", "/dev/null"], ["--html /dev/null: is a character device"]),
    (["attach"], ["attach: needs DEV", "alignctl attach --help"]),
    (["attach", "/dev/null", "x"], ["unexpected argument 'x'"]),
    (["list", "--jsn"], ["alignctl list", "--jsn"]),
    (["attach", "/dev/none"], ["/dev/none", "No such file"]),
    (["attach", "/dev/null"], ["/dev/null", "neither a block device nor a regular file"]),
    (["attach", "/etc/passwd"], ["/etc/passwd", "regular file", "losetup"]),
    (["attach", "/dev/none", "--mode", "fast"], ["--mode fast: must be report, pad or coalesce\n"]),
    (["attach", "/dev/none", "--hold-ms", "0"], ["--hold-ms 0", "from 1 to 600000"]),
    (["attach", "/dev/none", "--hold-ms", "600001"], ["--hold-ms 600001", "from 1 to 600000"]),
    (["attach", "/dev/none", "--physical", "4x"], ["--physical 4x", "unknown unit 'x'", "K, M, G, T or P"]),
    (["plan", "w512", "--size", "1TB"], ["--size 1TB", "unknown unit 'TB'", "K, M, G, T or P", "4KiB", "1024"]),
    (["record", "/dev/none", "--buffer", "1m1"], ["--buffer 1m1", "unknown unit 'm1'"]),
    (["replay", "rand4k", "--on", "x", "--span", "5bytes"], ["--span 5bytes", "unknown unit 'bytes'"]),
    (["verify", "w512", "--on", "x", "--physical", "4KB"], ["--physical 4KB", "unknown unit 'KB'"]),
    (["attach", "/dev/none", "--physical", "0"], ["--physical 0"]),
    (["attach", "/dev/none", "--offset", "-512"], ["--offset -512", "bytes"]),
    (["attach", "/dev/none", "--logical", "4096"], ["--logical 4096: must be 512, or left out"]),
    (["attach", "/dev/none", "--logical", "0"], ["--logical 0: must be 512"]),
    (["attach", "/dev/none", "--max-blocks", "0"], ["--max-blocks 0", "at least 1"]),
    (["attach", "/dev/none", "--write-cache", "yes"], ["--write-cache yes", "on or off"]),
    (["attach", "/dev/none", "--name", "a/b"], ["--name a/b", "'/'"]),
    (["attach", "/dev/none", "--name", "a" * 128], ["--name " + "a" * 128, "has 128 bytes", "at most 127"]),
    (["attach", "/dev/none", "--name", "a" * 127], ["/dev/none: No such file"]),
    (["set", "x"], ["nothing to change", "--help"]),
    (["set", "x", "--mode", "Coalesce"], ["--mode Coalesce: must be report, pad or coalesce; did you mean 'coalesce'?"]),
    (["set", "x", "--hold-ms", "never"], ["--hold-ms never", "from 1 to 600000"]),
    (["set", "x", "--max-blocks", "0"], ["--max-blocks 0", "at least 1"]),
    (["stats", "--interval", "0"], ["--interval 0", "seconds"]),
    (["stats", "--interval", "1", "0"], ["--interval", "COUNT is 0", "at least 1"]),
    (["stats", "--histograms", "--json"],
     ["--histograms, --json: exclude each other, as JSON has all histograms; leave one out"]),
    (["stats", "--format", "promethius"], ["--format promethius: must be prometheus", "did you mean 'prometheus'?"]),
    (["stats", "--format", "prometheus", "--interval", "1"], ["--format, --interval: exclude each other"]),
    (["stats", "--output", "x"], ["--output: needs --format prometheus"]),
    (["stats", "--drive", "--compare", "x"], ["--drive, --compare: exclude each other"]),
    (["stats", "--drive", "--format", "prometheus"], ["--drive, --format: exclude each other"]),
    (["stats", "--drive", "--histograms"], ["--drive, --histograms: exclude each other"]),
    *((["stats", "--counters", f"writes,{name}"], [f"--counters {shlex.quote(name)}: is the name of no counter", "stats --help"])
      for name in ("write", "RMW_HOST", "")),
    (["stats", "--after", "x"], ["--after: needs --compare FILE; add it"]),
    (["stats", "--compare", "x", "--interval", "1"], ["--compare, --interval: exclude each other"]),
    (["stats", "name", "--compare", "x", "--after", "y"], ["--after y", "leave out NAME"]),
    (["replay", "w512"], ["--on DEV"]),
    (["replay", "w5", "--on", "x"], ["no workload 'w5'", "'alignctl workloads'"]),
    (["replay", "w512", "--on", "/dev/none"], ["/dev/none", "No such file"]),
    *((["verify", method, "--on", "x"], [f"{method}: is a method, which 'alignctl probe' runs"])
      for method in METHODS if method not in WORKLOADS_TOO),
    (["replay", "w512", "--on", "x", "--count", "0"], ["--count 0"]),
    (["replay", "w512", "--on", "x", "--depth", "0"], ["--depth 0", "1 to 256"]),
    (["replay", "w512", "--on", "x", "--depth", "257"], ["--depth 257", "1 to 256"]),
    *((["replay", name, "--on", "x", "--depth", "2"], ["--depth 2", name, "follow each other"])
      for name in ONE_AT_A_TIME),
    (["replay", "w512", "--on", "x", "--seed", "2"], ["--seed", "rand512 and rand4k", "w512"]),
    (["replay", "w512", "--on", "x", "--span", "1M"], ["--span", "rand512 and rand4k", "w512"]),
    (["replay", "rand512", "--on", "x", "--areas", "2"], ["--areas", "areasync", "rand512"]),
    (["replay", "w512", "--on", "x", "--start", "1x"], ["--start 1x"]),
    (["replay", "w512", "--on", "x", "--phase", "read"], ["--phase read", "all, prepare, run or check"]),
    (["replay", "w512", "--on", "x", "--phase", "run"], ["--phase", "--state FILE"]),
    (["replay", "w512", "--on", "x", "--phase", "run", "--state", "/none"], ["/none", "--phase prepare"]),
])
def test_a_wrong_argument_is_named_with_the_way_out(arguments, words):
    failed = alignctl(*arguments)
    assert failed.returncode == USAGE, failed.stderr
    assert not failed.stdout
    for word in words:
        assert word in failed.stderr


def as_nobody(*arguments, **environment):
    """Runs the program without privilege, from a place that another user can reach, unlike pytest's own folders."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program = shutil.copy(ALIGNCTL, folder)
        nobody = {} if os.geteuid() else {"user": 65534, "group": 65534, "extra_groups": []}
        return subprocess.run([program, *arguments], text=True, capture_output=True, timeout=patience(60), check=False,
                              env={**os.environ, **environment}, **nobody)


@pytest.mark.parametrize("arguments", [["detach", "x"], ["set", "x", "--drop-failed"], ["set", "x", "--hold-ms", "5"]])
def test_what_needs_root_says_so(arguments):
    failed = as_nobody(*arguments)
    assert failed.returncode == IO
    assert "run alignctl as root" in failed.stderr


@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["stats"]])
def test_to_look_needs_no_root(arguments):
    done = as_nobody(*arguments)
    assert done.returncode == FINE and "root" not in done.stderr


# Replay, on a regular file

@pytest.mark.parametrize("workload", TEN)
def test_replay_reports_what_the_workload_must_cost_and_what_it_took(disk, workload):
    requests, touches, rmin, distinct = TEN[workload]
    done = alignctl("replay", workload, "--on", disk, "--count", 10, "--json")
    assert done.returncode == FINE and not done.stderr
    result = json.loads(done.stdout)
    assert list(result) == [
        "format", "source", "source_format", "device", "count", "start", "span", "areas", "seed", "timing", "speed",
        "buffered", "fdatasync", "depth", "threads", "warmup_s", "physical_block_size", "alignment_offset",
        "writes_expected", "reads_expected", "touches_expected", "rmin", "distinct_blocks", "depth_reached", "method",
        "warmup_requests", "requests", "flushes", "bytes", "issued", "failed", "discards_unsupported",
        "waited_for_overlap", "stopped", "wall_s", "flush_s", "iops", "mb_per_s", "samples_1s", "service_us", "flush_us",
        "response_us", "lag_us", "drift", "time_line", "by_kind", "by_size", "by_class", "by_phase", "data_check",
        "device_facts"]
    assert (result["source"], result["device"], result["count"]) == (workload, str(disk), 10)
    assert (result["requests"], result["touches_expected"], result["rmin"], result["distinct_blocks"]) == \
        (requests, touches, rmin, distinct)
    assert result["stopped"] is None
    assert (result["depth"], result["method"]) == (1, "pread/pwrite")
    assert result["areas"] == (4 if workload in AREAS else None)
    assert (result["seed"], bool(result["span"])) == ((1, True) if workload in RANDOM else (None, False))
    assert (result["physical_block_size"], result["alignment_offset"]) == (4096, 0)
    assert result["data_check"] == {"status": "ok", "sectors": result["data_check"]["sectors"], "mismatches": 0,
                                    "first_mismatch_sector": None, "passes": 1}
    assert result["data_check"]["sectors"] >= 8 * distinct

    latency = result["service_us"]
    assert list(latency) == ["count", "mean", "sd", "min", "p50", "p90", "p98", "p99", "p99_9", "p99_99", "max",
                             "histogram"]
    assert latency["count"] == requests
    order = [latency[name] for name in ("min", "p50", "p90", "p98", "p99", "p99_9", "max")]
    assert order == sorted(order) and 0 < order[0] <= latency["mean"] <= order[-1]
    assert sum(count for _, count in latency["histogram"]) == requests
    assert latency["histogram"][-1][0] >= latency["max"]
    assert result["flushes"] == (requests if workload in AREAS else 0)
    if result["flushes"]:
        assert sum(count for _, count in result["flush_us"]["histogram"]) == requests
    else:
        assert result["flush_us"] is None
    assert sum(size["service_us"]["count"] for size in result["by_size"]) == requests
    line = result["time_line"]
    assert sum(part["count"] for part in line) == requests
    assert [part["end_s"] for part in line] == sorted(part["end_s"] for part in line)
    assert max(part["max_us"] for part in line) == result["service_us"]["max"]
    assert line[-1]["end_s"] <= result["wall_s"]
    assert sum(part["count"] * part["mean_us"] for part in line) / requests == \
        pytest.approx(result["service_us"]["mean"])
    assert len({size["bytes"] for size in result["by_size"]}) == len(result["by_size"])
    assert sum(size["service_us"]["count"] * size["bytes"] for size in result["by_size"]) == result["bytes"]
    assert result["wall_s"] * 1e6 >= 0.99 * latency["mean"] * requests - 1000
    assert result["device_facts"]["kind"] == "file"
    assert result["device_facts"]["size_bytes"] == DISK_BYTES


@pytest.mark.parametrize("workload", sorted(set(TEN) - set(ONE_AT_A_TIME)))
def test_replay_keeps_many_writes_in_flight_and_loses_none(disk, workload):
    done = alignctl("replay", workload, "--on", disk, "--count", 10, "--depth", 8, "--json")
    needs_io_uring(done)
    assert done.returncode == FINE and not done.stderr
    result = json.loads(done.stdout)
    assert (result["depth"], result["method"], result["requests"]) == (8, "io_uring", TEN[workload][0])
    assert result["data_check"]["status"] == "ok"


def test_replay_starts_where_it_is_told(disk):
    raw = json.loads(alignctl("replay", "w136k", "--on", disk, "--count", 10, "--start", 0, "--json").stdout)
    assert (raw["start"], raw["touches_expected"], raw["distinct_blocks"]) == (0, 0, 340)
    failed = alignctl("replay", "diskbenchi-fresh", "--on", disk, "--count", 1, "--start", 512)
    assert failed.returncode == USAGE and "--start 512" in failed.stderr and "3584" in failed.stderr
    failed = alignctl("replay", "w136k", "--on", disk, "--count", 1, "--start", 100)
    assert failed.returncode == USAGE and "--start 100" in failed.stderr and "multiple of" in failed.stderr


def test_random_writes_go_where_the_seed_says(disk):
    def written(*arguments):
        with open(disk, "wb") as file:
            file.truncate(DISK_BYTES)
        done = alignctl("replay", "rand4k", "--on", disk, "--count", 50, "--json", *arguments)
        assert done.returncode == FINE, done.stderr
        data = disk.read_bytes()
        # sequence numbers of the sectors: 0 where only prepare has been
        return [at for at in range(0, DISK_BYTES, 4096) if any(data[at + 16:at + 24])]

    first = written()
    assert len(first) == 50 and max(first) > DISK_BYTES // 2
    assert written("--seed", 1) == first
    assert written("--seed", 2) != first
    assert max(written("--span", "1M")) < 65536 + (1 << 20)
    dense = written("--span", 50 * 4096)
    assert dense == list(range(65536, 65536 + 50 * 4096, 4096))
    failed = alignctl("replay", "rand4k", "--on", disk, "--count", 51, "--span", 50 * 4096)
    assert failed.returncode == USAGE and "--count 51" in failed.stderr and "--span" in failed.stderr


def test_areas_are_as_many_as_asked_for(disk):
    result = json.loads(alignctl("replay", "areasync-512", "--on", disk, "--count", 3, "--areas", 7, "--json").stdout)
    assert (result["areas"], result["requests"], result["flushes"], result["rmin"]) == (7, 21, 21, 7)
    assert result["data_check"]["status"] == "ok"


def test_replay_for_people_says_the_same(disk):
    done = alignctl("replay", "w4k_132k", "--on", disk, "--count", 10)
    assert done.returncode == FINE and not done.stderr
    for words in ("w4k_132k (workload) on", "20 writes", "40 partial touches", "P99.9",
                  "\n    4 KiB     10 ", "\n  132 KiB     10 ", "data check  ok"):
        assert words in done.stdout


def test_figures_follow_the_physical_block_that_is_given(disk):
    done = alignctl("replay", "w4096", "--on", disk, "--count", 10, "--json", "--physical", "16K", "--offset", 512)
    result = json.loads(done.stdout)
    assert (result["physical_block_size"], result["alignment_offset"]) == (16384, 512)
    # every other write crosses a boundary at 512 + k * 16384; block 0 lies partly before the file, so is not read
    assert (result["touches_expected"], result["distinct_blocks"], result["rmin"]) == (15, 6, 5)
    assert result["data_check"]["status"] == "ok"


def test_a_device_too_small_is_told_need_and_have(disk):
    failed = alignctl("replay", "w136k", "--on", disk)
    assert failed.returncode == USAGE
    assert str(3584 + 5000 * 139264) in failed.stderr and str(DISK_BYTES) in failed.stderr
    assert "--count" in failed.stderr


def test_phases_pass_on_what_they_did(disk, tmp_path):
    state = tmp_path / "state"
    common = ["w4k_132k", "--on", disk, "--state", state, "--json"]
    prepared = json.loads(alignctl("replay", *common, "--phase", "prepare", "--count", 5).stdout)
    assert "wall_s" not in prepared and prepared["data_check"]["status"] == "skipped"
    # checked now, all sectors are as prepared
    assert json.loads(alignctl("replay", *common, "--phase", "check").stdout)["data_check"]["status"] == "ok"
    ran = json.loads(alignctl("replay", *common, "--phase", "run").stdout)
    assert ran["requests"] == 10 and ran["data_check"]["status"] == "skipped"
    checked = json.loads(alignctl("replay", *common, "--phase", "check").stdout)
    assert checked["data_check"]["status"] == "ok" and "wall_s" not in checked


@pytest.mark.parametrize("arguments, words", [
    (["w512", "--phase", "check"], ["is for w136k"]),
    (["w136k", "--phase", "check", "--count", "6"], ["--count 5"]),
    (["w136k", "--phase", "run"], ["was run already"]),
])
def test_a_state_of_something_else_is_refused(disk, tmp_path, arguments, words):
    state = tmp_path / "state"
    for phase in ("prepare", "run"):
        assert alignctl("replay", "w136k", "--on", disk, "--state", state, "--count", 5,
                        "--phase", phase).returncode == FINE
    failed = alignctl("replay", *arguments, "--on", disk, "--state", state)
    assert failed.returncode == USAGE
    for word in [str(state), "--phase prepare", *words]:
        assert word in failed.stderr


def test_a_file_that_is_no_state_is_refused(disk):
    failed = alignctl("replay", "w512", "--on", disk, "--phase", "check", "--state", "/etc/passwd")
    assert failed.returncode == USAGE and "/etc/passwd: not a state file" in failed.stderr


@pytest.mark.parametrize("change", [{"places": 49}, {"places": 0}, {"start": 100}, {"count": 0}, {"issued": 51},
                                    {"device_bytes": 4096}, {"failed": [-1.5]}, {"failed": 3}, {"seed": None}])
def test_a_state_that_cannot_be_is_refused(disk, tmp_path, change):
    state = tmp_path / "state"
    common = ["rand4k", "--on", disk, "--state", state]
    assert alignctl("replay", *common, "--phase", "prepare", "--count", 50).returncode == FINE
    state.write_text(json.dumps(json.loads(state.read_text()) | change))
    failed = alignctl("replay", *common, "--phase", "check")
    assert failed.returncode == USAGE and f"{state}: not a state file" in failed.stderr


def test_a_run_on_what_is_no_longer_prepared_is_refused(disk, tmp_path):
    state = tmp_path / "state"
    common = ["w512", "--on", disk, "--state", state, "--json"]
    assert alignctl("replay", *common, "--phase", "prepare", "--count", 3).returncode == FINE
    prepared = Path(disk).read_bytes()
    last = len(prepared.rstrip(b"\0")) - 1
    with open(disk, "r+b") as file:
        file.seek(last)
        file.write(b"!")
    changed = Path(disk).read_bytes()
    refused = alignctl("replay", *common, "--phase", "run")
    assert refused.returncode == BUSY and f"sector {last // 512} does not hold" in refused.stderr
    assert Path(disk).read_bytes() == changed


def test_a_changed_sector_is_a_finding(disk, tmp_path):
    state = tmp_path / "state"
    common = ["w512", "--on", disk, "--state", state, "--json"]
    assert alignctl("replay", *common, "--phase", "prepare", "--count", 9).returncode == FINE
    assert alignctl("replay", *common, "--phase", "run").returncode == FINE
    with open(disk, "r+b") as file:
        file.seek(20 * 512)
        stray = file.read(512)
        file.seek(33 * 512)
        file.write(stray)
        file.seek(41 * 512 + 300)
        file.write(b"!")
    found = alignctl("replay", *common, "--phase", "check")
    assert found.returncode == FINDINGS
    assert json.loads(found.stdout)["data_check"] == {
        "status": "mismatch", "sectors": 80, "mismatches": 2, "first_mismatch_sector": 33, "passes": 1}
    assert "sector 33: expected what was prepared, found what was prepared of sector 20" in found.stderr
    assert "sector 41: expected what was prepared, found damaged bytes" in found.stderr


@pytest.mark.parametrize("depth", [1, 8])
def test_a_write_error_ends_the_run_and_leaves_the_rest_checkable(disk, tmp_path, depth):
    state = tmp_path / "state"
    common = ["w4096", "--on", disk, "--state", state, "--json"]
    assert alignctl("replay", *common, "--phase", "prepare", "--count", 100).returncode == FINE
    # a limit of 512 blocks of 1024 bytes: write number 64, at byte 524288, fails
    failed = subprocess.run(["bash", "-c", "trap '' XFSZ; ulimit -f 512; exec \"$@\"", "bash", ALIGNCTL, "replay",
                             *map(str, common), "--phase", "run", "--depth", str(depth)], text=True,
                            capture_output=True, timeout=patience(60), check=False)
    needs_io_uring(failed)
    assert failed.returncode == IO
    assert f"{disk}: write of 4096 bytes at byte 524288: File too large (w4096, request 65)" in failed.stderr
    result = json.loads(failed.stdout)
    assert (result["stopped"], result["requests"]) == ("error", 64)
    text = json.loads(state.read_text())
    # in flight with the first that failed were at most depth - 1 others, later ones, which failed too
    assert sorted(text["failed"]) == list(range(64, text["issued"])) and 1 <= len(text["failed"]) <= depth
    assert json.loads(alignctl("replay", *common, "--phase", "check").stdout)["data_check"]["status"] == "ok"


def test_ctrl_c_prints_what_was_measured(tmp_path, disk):
    state = tmp_path / "state"
    common = ["areasync-512", "--on", disk, "--state", state, "--json"]
    assert alignctl("replay", *common, "--phase", "prepare", "--count", 1 << 20).returncode == FINE
    with subprocess.Popen([ALIGNCTL, "replay", *map(str, common), "--phase", "run"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as running:
        wait_for_run(running)
        running.send_signal(signal.SIGINT)
        shown, errors = running.communicate(timeout=patience(30))
    assert running.returncode == -signal.SIGINT and not errors
    result = json.loads(shown)
    assert result["stopped"] == "signal"
    assert 0 < result["requests"] < 4 << 20
    assert sum(count for _, count in result["service_us"]["histogram"]) == result["requests"]
    assert json.loads(state.read_text())["issued"] == result["requests"]
    # rewritten many times, each area holds the last write to it
    assert json.loads(alignctl("replay", *common, "--phase", "check").stdout)["data_check"]["status"] == "ok"


def on_a_terminal(command):
    """Runs a command with standard error on a terminal; returns what it drew there."""
    ours, theirs = pty.openpty()
    drawn = b""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs) as running:
        os.close(theirs)
        while select.select([ours], [], [], 60)[0]:
            try:
                drawn += os.read(ours, 4096)
            except OSError:
                break
        assert running.wait(timeout=patience(60)) == FINE
    os.close(ours)
    return drawn.decode()


def test_progress_is_drawn_on_a_terminal_only(disk):
    command = [ALIGNCTL, "replay", "w512", "--on", disk, "--count", "1000"]
    assert re.search(r"\rw512: +\d+ %, \d+:\d\d left", on_a_terminal(command))
    assert not alignctl(*command[1:]).stderr


def test_a_file_with_data_is_refused_unless_forced(disk):
    with open(disk, "r+b") as file:
        file.seek(5000)
        file.write(b"thesis")
    command = ["replay", "w512", "--on", disk, "--count", 2]
    refused = alignctl(*command)
    assert refused.returncode == BUSY
    assert f"{disk}: holds data in the sector at byte 4608" in refused.stderr
    assert f"--force {disk}" in refused.stderr
    other = disk.with_name("other")
    other.write_bytes(b"")
    mistaken = alignctl(*command, "--force", other)
    assert mistaken.returncode == USAGE and str(other) in mistaken.stderr and str(disk) in mistaken.stderr
    assert b"thesis" in disk.read_bytes()

    link = disk.with_name("link")
    link.symlink_to(disk)
    forced = alignctl(*command, "--force", link)
    assert forced.returncode == FINE
    assert "going on, as --force says" in forced.stderr
    # and what an earlier replay left is no reason to refuse
    assert alignctl(*command).returncode == FINE


# Guards, on a loop device of our own

def test_a_device_in_use_is_refused_by_replay_and_attach(loop, disk, tmp_path):
    replay = ["replay", "w512", "--on", loop, "--count", 2]
    assert alignctl(*replay).returncode == FINE
    on_file = alignctl("replay", "w512", "--on", disk, "--count", 2)
    assert on_file.returncode == BUSY and f"is the backing file of {loop.name}" in on_file.stderr

    subprocess.run(["mkfs.ext4", "-q", "-F", loop], timeout=patience(60), check=True)
    signed = alignctl(*replay)
    assert signed.returncode == BUSY and "carries the signature of ext4" in signed.stderr

    where = tmp_path / "mnt"
    where.mkdir()
    if subprocess.run(["mount", loop, where], timeout=patience(60), check=False).returncode:
        pytest.skip("ext4 cannot be mounted here")
    try:
        for command in (replay, ["attach", loop]):
            refused = alignctl(*command)
            assert refused.returncode == BUSY
            assert f"{loop.name} is mounted on {where}" in refused.stderr
    finally:
        subprocess.run(["umount", where], timeout=patience(60), check=True)


def test_a_mount_that_only_another_process_sees_is_named(loop, tmp_path):
    subprocess.run(["mkfs.ext4", "-q", "-F", loop], timeout=patience(60), check=True)
    where = tmp_path / "mnt"
    where.mkdir()
    # It says that it has mounted, and goes on until its input ends.
    other = subprocess.Popen(["unshare", "-m", "--propagation", "private", "sh", "-c", f"mount {loop} {where} && echo up && cat"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if other.stdout.readline() != "up\n":
            pytest.skip("cannot mount in a mount namespace of its own")
        refused = alignctl("replay", "w512", "--on", loop, "--count", 2)
        assert refused.returncode == BUSY
        assert re.search(rf"{loop.name} is mounted on {where} for process \d+ \(", refused.stderr)
    finally:
        other.stdin.close()
        other.wait(20)


def test_a_device_that_a_program_holds_is_refused(loop):
    held = os.open(loop, os.O_RDWR | os.O_EXCL)
    try:
        for command in (["replay", "w512", "--on", loop, "--count", 2], ["attach", loop]):
            refused = alignctl(*command)
            assert refused.returncode == BUSY and f"{loop}: in use" in refused.stderr
    finally:
        os.close(held)


@pytest.mark.parametrize("says, words", [
    ("modprobe: FATAL: Module dm-align not found in directory /lib/modules/x",
     ["not installed for kernel", "make modules install"]),
    ("modprobe: ERROR: could not insert 'dm_align': Key was rejected by service",
     ["Secure Boot", "mokutil --import"]),
    ("modprobe: ERROR: could not insert 'dm_align': Exec format error", ["cannot be loaded", "Exec format error"]),
])
def test_attach_without_the_module_says_why_and_the_way_out(loop, tmp_path, says, words):
    if "align" in subprocess.run(["dmsetup", "targets"], text=True, capture_output=True, check=False).stdout:
        pytest.skip("the module is loaded on this machine")
    fake = tmp_path / "bin" / "modprobe"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\necho \"{says}\" >&2\nexit 1\n")
    fake.chmod(0o755)
    failed = alignctl("attach", loop, env={**os.environ, "PATH": f"{fake.parent}:{os.environ['PATH']}"})
    assert failed.returncode == IO
    for word in words:
        assert word in failed.stderr


def test_attach_checks_the_geometry_before_anything_else(loop):
    for arguments, words in [(["--physical", "5000"], "power of two"), (["--physical", "2M"], "1048576"),
                             (["--physical", "4K", "--offset", "4096"], "less than physical_block_size"),
                             (["--physical", "4K", "--offset", "100"], "multiple of the logical block size")]:
        failed = alignctl("attach", loop, *arguments)
        assert failed.returncode == USAGE
        assert words in failed.stderr and "--physical and --offset" in failed.stderr
    # A loop device has no parent that tells where larger blocks begin.
    failed = alignctl("attach", loop, "--physical", "4K")
    assert failed.returncode == USAGE
    assert "the first boundary of blocks of 4096 bytes is not known" in failed.stderr and "give --offset" in failed.stderr


def logical_attach(loop, root, device, *arguments):
    """Attach a device with logical blocks of 512 bytes, of which a made-up machine says what @device has; it is in use."""
    machine = Machine(root)
    number = os.stat(loop).st_rdev
    machine.disk("sde", (os.major(number), os.minor(number)),
                 **{"logical": 4096, "physical": 16384, "queue__zoned": "none"} | device)
    held = os.open(loop, os.O_RDWR | os.O_EXCL)
    try:
        return alignctl("attach", loop, "--logical", "512", *arguments, env={**os.environ, "ALIGNCTL_SYSROOT": str(root)})
    finally:
        os.close(held)


@pytest.mark.parametrize("device, arguments, words", [
    ({}, ["--mode", "report"], "mode report would pass on requests that the device refuses, as its logical block has 4096 bytes; "
     "use --mode pad or coalesce"),
    ({"queue__zoned": "host-managed"}, [], "the device is zoned (host-managed), where blocks cannot be rewritten; leave out"),
    ({}, ["--physical", "2K", "--offset", "0"],
     "physical block 2048 is below the device's logical block (4096); leave out --physical"),
    ({}, ["--offset", "512"], "alignment offset 512 is no multiple of the device's logical block (4096); correct --offset"),
])
def test_smaller_logical_blocks_are_refused_where_a_block_would_be_cut(loop, tmp_path, device, arguments, words):
    failed = logical_attach(loop, tmp_path / "machine", device, *arguments)
    assert failed.returncode == USAGE and f"{loop}: --logical 512: " in failed.stderr and words in failed.stderr
    assert failed.stderr.count("\n") == 1


@pytest.mark.parametrize("device, arguments", [
    ({}, []), ({"logical": 65536, "physical": 65536}, []), ({}, ["--mode", "coalesce"]),
    # ends inside a physical block
    ({}, ["--offset", "4096"]), ({"offset": 4096}, []), ({"bytes_": (8 << 20) + 4096}, []),
    ({"logical": 512}, []), ({"logical": 512}, ["--mode", "report"]),
])
def test_smaller_logical_blocks_mean_mode_pad_and_go_on_to_the_next_check(loop, tmp_path, device, arguments):
    """That a device in use is refused."""
    done = logical_attach(loop, tmp_path / "machine", device, *arguments)
    said = f"{loop}: mode pad, as --logical needs one that fixes writes, pad or coalesce\n" * ("--mode" not in arguments)
    if device.get("logical") == 512:
        said += f"{loop}: has logical blocks of 512 bytes itself; --logical changes nothing\n"
    assert (done.returncode, done.stdout) == (BUSY, said) and "in use" in done.stderr


PROBED = "was probed to have blocks of 4096 bytes from byte {}, not {} from byte {}; attach with --physical 4096 --offset {}"


@pytest.mark.parametrize("kept, start, arguments, said", [
    ({}, None, [], PROBED.format(3584, 512, 0, 3584)),
    ({}, None, ["--physical", "4K"], PROBED.format(3584, 4096, 0, 3584)),
    ({}, None, ["--physical", "auto"], PROBED.format(3584, 512, 0, 3584)),
    ({}, 63, [], PROBED.format(0, 512, 0, 0)),
    ({}, 2048, ["--physical", "4K"], PROBED.format(3584, 4096, 0, 3584)),
    # what agrees, and what the user has chosen
    ({}, None, ["--physical", "4K", "--offset", "3584"], None),
    ({}, None, ["--physical", "4K", "--offset", "512"], None),
    ({}, 63, ["--physical", "4K", "--offset", "0"], None),
    ({}, None, ["--physical", "8K"], None),
    ({"block_size": 512, "offset": 0}, None, [], None),
])
def test_attach_offers_the_probed_blocks(loop, tmp_path, kept, start, arguments, said):
    """Before it does anything, here with a device in use; a start is that of a partition."""
    machine = Machine(tmp_path / "machine")
    number = os.stat(loop).st_rdev
    number = (os.major(number), os.minor(number))
    machine.disk("sde", number if start is None else (8, 64), physical=512, device__wwid=BRIDGE)
    if start is not None:
        machine.device("sde1", number, parent="pci0/sde", bytes_=8 << 20, partition=1, start=start)
    held = os.open(loop, os.O_RDWR | os.O_EXCL)
    try:
        env = {**os.environ, "ALIGNCTL_SYSROOT": str(machine.root)}
        before = alignctl("attach", loop, *arguments, env=env).stdout
        keep_probed(machine.root, **kept)
        done = alignctl("attach", loop, *arguments, env=env)
    finally:
        os.close(held)
    assert (done.returncode, done.stdout) == (BUSY, before + (f"{loop}: {said}\n" if said else ""))


# Stats, on a made-up machine

def test_stats_subtracts_the_baseline(machine):
    root, align = machine
    put(align, rmw_expected=30, rmw_host=20, rmw_avoided=10, baseline_rmw_expected=12, baseline_rmw_host=10,
        baseline_rmw_avoided=2, writes=50, write_bytes=8192, write_block_bytes=16384, sent_block_bytes=8192,
        phase_histogram=" ".join(["0", "7"] + ["0"] * (BINS["phase"] - 2)))
    shown = stats(root, "--json")
    assert shown.returncode == FINE and not shown.stderr
    result = json.loads(shown.stdout)
    assert list(result) == ["format", "devices"]
    [device] = result["devices"]
    assert list(device) == ["name", "dm", "epoch", "suggested_physical_block_size", "held_oldest_ms", "targets", "counters",
                            "raw", "derived", "histograms"]
    assert (device["name"], device["dm"], device["epoch"]) == ("align-sda", "dm-0", 1)
    assert device["targets"] == [{"index": 0, "mode": "pad", "logical_block_size": None, "physical_block_size": 4096,
                                  "alignment_offset": 0, "device": "sda", "device_gone": False, "hold_ms": 500, "max_blocks": 64,
                                  "blocks": 0, "memory_bytes": 0,
                                  "memory_high_water_bytes": 0}]
    assert list(device["counters"]) == list(device["raw"]) == [name for name, _ in COUNTERS]
    assert (device["counters"]["rmw_expected"], device["raw"]["rmw_expected"]) == (18, 30)
    assert (device["counters"]["rmw_host"], device["counters"]["rmw_avoided"]) == (10, 8)
    assert device["derived"] == {"write_amplification_before": 2, "write_amplification_after": 1, "balanced": True,
                                 "degraded": False}
    assert list(device["histograms"]) == list(HISTOGRAMS)
    assert device["histograms"]["phase"]["bins"] == [[512, 7]] and device["histograms"]["phase"]["count"] == 7


def test_stats_for_people_names_accounts_and_phase(machine):
    root, align = machine
    put(align, rmw_expected=7, rmw_drive=7, phase_histogram=" ".join(["0", "7"] + ["0"] * (BINS["phase"] - 2)))
    shown = stats(root, "align-sda")
    assert shown.returncode == FINE and not shown.stderr
    [counter] = [row for row in tables(shown.stdout, "COUNTER") if row["COUNTER"] == "rmw_expected"]
    assert (counter["VALUE"], counter["UNIT"]) == ("7", "touches") and counter["MEANING"].startswith("partial touches")
    assert tables(shown.stdout, "FIRST-BYTE") == [{"FIRST-BYTE": "512 B", "WRITES": "7", "SHARE": "100 %"}]
    assert tables(shown.stdout, "TARGET") == [{
        "TARGET": "0", "MODE": "pad", "PHYSICAL": "4 KiB", "OFFSET": "0 B", "ON": "sda", "HOLD": "-", "MAX-BLOCKS": "64",
        "BLOCKS": "0", "MEMORY": "0 B", "HIGH-WATER": "0 B"}]


def test_stats_for_people_have_accounts_and_whatever_else_there_is_in_the_order_of_the_table(machine):
    root, align = machine
    put(align, writes=3, write_bytes=12345678, fua=1)
    shown = tables(stats(root).stdout, "COUNTER")
    accounts = [name for name, _ in COUNTERS][:6]
    assert accounts[0] == "rmw_expected" and accounts[-1] == "rmw_pending"
    assert [row["COUNTER"] for row in shown] == [*accounts, "writes", "write_bytes", "fua"]
    assert [row["VALUE"] for row in shown] == [*["0"] * 6, "3", "11.8 MiB", "1"]


def test_stats_of_a_device_without_a_write_have_zeroes(machine):
    assert [row["VALUE"] for row in tables(stats(machine[0]).stdout, "COUNTER")] == ["0"] * 6


@pytest.mark.parametrize("asked, wanted", [
    ("writes", ["writes"]), ("rmw_lost,fua", ["rmw_lost", "fua"]), ("fua,rmw_lost,fua", ["rmw_lost", "fua"]),
    ("rmw_avoided*", [name for name, _ in COUNTERS if name.startswith("rmw_avoided")]),
    ("*", [name for name, _ in COUNTERS]), ("rmw_[hl]o[s]t", ["rmw_host", "rmw_lost"])])
def test_stats_for_people_have_the_counters_that_are_asked_for_and_no_others(machine, asked, wanted):
    root, align = machine
    put(align, writes=3)
    shown = stats(root, "--counters", asked)
    assert shown.returncode == FINE and not shown.stderr
    head, headings, *rows = shown.stdout.splitlines()
    assert head.startswith("align-sda (dm-0), epoch") and headings.split()[0] == "COUNTER"
    assert [(row.split()[0], row.split()[1]) for row in rows] == [(name, "3" if name == "writes" else "0") for name in wanted]


def test_stats_tell_what_is_wrong_whatever_counters_are_asked_for(machine):
    root, align = machine
    put(align, rmw_expected=7)
    shown = stats(root, "--counters", "writes")
    assert shown.returncode == FINDINGS and shown.stdout.endswith("  the ledger does not balance at this moment\n")


@pytest.mark.parametrize("name", ["align-sda", "dm-0"])
def test_stats_finds_a_device_by_its_names(machine, name):
    assert len(json.loads(stats(machine[0], name, "--json").stdout)["devices"]) == 1


def test_stats_refuses_what_is_no_align_device(machine):
    failed = stats(machine[0], "align-sdb")
    assert failed.returncode == USAGE and "align-sdb: not an align device" in failed.stderr


def test_stats_shows_what_is_held(machine):
    root, align = machine
    bins = ["0"] * BINS["latency"]
    bins[40] = "9"
    put(align, target0_mode="coalesce", target0_memory_bytes=9216, target0_memory_high_water_bytes=46080, held_blocks=2,
        held_bytes=1536, held_oldest_ms=1234, rmw_expected=3, rmw_pending=3, touches_held=11, hold_time_histogram=" ".join(bins))
    shown = stats(root)
    assert shown.returncode == FINE and not shown.stderr
    [target] = tables(shown.stdout, "TARGET")
    assert [target[heading] for heading in ("HOLD", "MEMORY", "HIGH-WATER")] == ["500 ms", "9 KiB", "45 KiB"]
    [times] = tables(shown.stdout, "HISTOGRAM")
    assert (times["HISTOGRAM"], times["COUNT"]) == ("hold_time", "9") and times["P50"].startswith("< ")
    assert "held, and not on the drive: 1.5 KiB in 2 blocks, the oldest for 1.23 s" in shown.stdout
    assert {"touches_held": "11", "held_blocks": "2", "held_bytes": "1.5 KiB"}.items() <= {
        row["COUNTER"]: row["VALUE"] for row in tables(shown.stdout, "COUNTER")}.items()
    [device] = json.loads(stats(root, "--json").stdout)["devices"]
    assert (device["counters"]["held_blocks"], device["counters"]["rmw_pending"]) == (2, 3)
    assert (device["counters"]["held_bytes"], device["held_oldest_ms"]) == (1536, 1234)
    assert device["targets"][0]["memory_high_water_bytes"] == 46080
    assert device["histograms"]["hold_time"]["count"] == 9 and device["histograms"]["hold_time"]["p50_us"] > 0


def test_a_percentile_of_bins_is_printed_as_a_bound(machine):
    """A quarter above holding's own limit is no time that anything was held; and the last bin has no end."""
    root, align = machine
    for at, bound in ((80, "<"), (BINS["latency"] - 1, ">=")):
        bins = ["0"] * BINS["latency"]
        bins[at] = "9"
        put(align, hold_time_histogram=" ".join(bins))
        [shown] = tables(stats(root).stdout, "HISTOGRAM")
        [device] = json.loads(stats(root, "--json").stdout)["devices"]
        for heading in ("P50", "P90", "P99"):
            raw = device["histograms"]["hold_time"][f"{heading.lower()}_us"]
            assert shown[heading] == f"{bound} {human_time(raw)}" and raw > 0


def test_a_degraded_device_is_a_finding_with_the_way_out(machine):
    root, align = machine
    put(align, target0_mode="coalesce", held_blocks=5, degraded=4, rmw_expected=5, rmw_pending=5)
    shown = stats(root)
    assert shown.returncode == FINDINGS
    assert "align-sda: degraded: acknowledged writes to 4 blocks" in shown.stderr
    assert "alignctl set align-sda --drop-failed" in shown.stderr
    assert "degraded: held blocks cannot be written" in shown.stdout
    shown = stats(root, "--json")
    assert shown.returncode == FINDINGS
    assert json.loads(shown.stdout)["devices"][0]["derived"] == {
        "write_amplification_before": 0, "write_amplification_after": 0, "balanced": True, "degraded": True}


def test_a_drive_that_is_gone_is_a_finding_before_anything_is_written_to_it(machine):
    """Its number leaves /sys/dev/block with the drive; the align device keeps it open, and so keeps the number."""
    root, align = machine
    (root / "sys/dev/block/8:0").unlink()
    shown = stats(root)
    assert shown.returncode == FINDINGS
    assert "align-sda: the device below, 8:0, is gone" in shown.stderr
    assert "alignctl detach align-sda --force" in shown.stderr
    assert tables(shown.stdout, "TARGET")[0]["ON"] == "8:0" and "gone: 8:0, below, is no longer there" in shown.stdout
    shown = stats(root, "--json")
    assert shown.returncode == FINDINGS
    [target] = json.loads(shown.stdout)["devices"][0]["targets"]
    assert (target["device"], target["device_gone"]) == ("8:0", True)


def test_stats_without_devices_is_no_error(tmp_path):
    shown = stats(tmp_path, "--json")
    assert shown.returncode == FINE and json.loads(shown.stdout) == {"format": 1, "devices": []}


@pytest.mark.parametrize("inflight, status", [("0 0", FINDINGS), ("0 1", FINE)])
def test_an_unbalanced_ledger_is_a_finding_only_when_nothing_is_in_flight(machine, inflight, status):
    root, align = machine
    put(align, rmw_expected=3, rmw_drive=2)
    put(align.parent, inflight=inflight)
    shown = stats(root, "--json")
    assert shown.returncode == status
    assert json.loads(shown.stdout)["devices"][0]["derived"]["balanced"] is False
    assert ("does not balance" in shown.stderr) == (status == FINDINGS)


def test_a_ledger_with_a_file_missing_is_an_error_that_names_it(machine):
    root, align = machine
    (align / "baseline_writes").unlink()
    failed = stats(root)
    assert failed.returncode == IO and "align/baseline_writes" in failed.stderr


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


def test_help_of_stats_explains_every_counter():
    shown = alignctl("stats", "--help").stdout
    for name, _ in COUNTERS:
        assert re.search(rf"^ {name} +\w+ +\w+", shown, re.M), name


# List, on a made-up machine

def test_list_shows_what_sysfs_has(machine):
    root, align = machine
    put(align, target0_mode="coalesce", target0_memory_bytes=9216, target0_memory_high_water_bytes=46080,
        target0_blocks=2, held_blocks=2, held_bytes=1536, held_oldest_ms=7200001, degraded=1)
    (align.parent / "dm/suspended").write_text("1\n")
    shown = alignctl("list", "--json", env={**os.environ, "ALIGNCTL_SYSROOT": str(root)})
    assert shown.returncode == FINE, shown.stderr
    assert json.loads(shown.stdout) == {"format": 1, "devices": [{
        "name": "align-sda", "dm": "dm-0", "open_count": None, "suspended": True, "held_blocks": 2, "held_bytes": 1536,
        "held_oldest_ms": 7200001, "degraded": 1,
        "targets": [{"index": 0, "start_sector": None, "sectors": None, "device": "sda", "device_gone": False,
                     "device_start_sector": None, "mode": "coalesce", "logical_block_size": None,
                     "physical_block_size": 4096, "alignment_offset": 0, "hold_ms": 500, "max_blocks": 64, "blocks": 2,
                     "memory_bytes": 9216, "memory_high_water_bytes": 46080, "epoch": 1, "holding": None}]}]}
    shown = alignctl("list", env={**os.environ, "ALIGNCTL_SYSROOT": str(root)}).stdout
    assert tables(shown, "NAME") == [{
        "NAME": "align-sda", "DM": "dm-0", "SIZE": "-", "ON": "sda", "MODE": "coalesce", "PHYSICAL": "4 KiB", "OFFSET": "0 B",
        "HOLD": "500 ms", "OPEN": "-", "HELD": "2", "HELD-BYTES": "1.5 KiB", "OLDEST": "7200 s", "STATE": "degraded"}]
    assert len(shown.splitlines()) == 2 and shown.splitlines()[0].startswith("NAME  ")


@pytest.mark.parametrize("below, logical", [(4096, 512), (512, None), (None, None)])
def test_list_and_stats_show_the_logical_block_that_a_device_makes(machine, below, logical):
    """One that it passes on is of no interest, and has no column."""
    root, align = machine
    if below:
        queue = root / "sys/devices/pci0/block/sda/queue"
        queue.mkdir()
        (queue / "logical_block_size").write_text(f"{below}\n")
    for verb, word in (("list", "NAME"), ("stats", "TARGET")):
        [target] = json.loads(alignctl(verb, "--json", env={**os.environ, "ALIGNCTL_SYSROOT": str(root)}).stdout)["devices"][0][
            "targets"]
        assert target["logical_block_size"] == logical
        [row] = tables(alignctl(verb, env={**os.environ, "ALIGNCTL_SYSROOT": str(root)}).stdout, word)
        assert row.get("LOGICAL") == (f"{logical} B" if logical else None)


@pytest.mark.parametrize("mode, holding, state", [
    ("coalesce", 1, "live"), ("coalesce", 0, "holds nothing"), ("pad", 0, "live"), ("coalesce", None, "live")])
def test_list_says_that_a_device_in_coalesce_holds_nothing(machine, mode, holding, state):
    root, align = machine
    put(align, target0_mode=mode, **({} if holding is None else {"target0_holding": holding}))
    environment = {**os.environ, "ALIGNCTL_SYSROOT": str(root)}
    assert tables(alignctl("list", env=environment).stdout, "NAME")[0]["STATE"] == state
    document = json.loads(alignctl("list", "--json", env=environment).stdout)
    assert document["devices"][0]["targets"][0]["holding"] == (None if holding is None else bool(holding))


def test_list_has_no_age_where_nothing_was_held_a_moment_before(machine):
    root, align = machine
    put(align, held_blocks=0, held_bytes=0, held_oldest_ms=8)
    environment = {**os.environ, "ALIGNCTL_SYSROOT": str(root)}
    [listed] = json.loads(alignctl("list", "--json", env=environment).stdout)["devices"]
    assert (listed["held_blocks"], listed["held_bytes"], listed["held_oldest_ms"]) == (0, 0, 0)
    [row] = tables(alignctl("list", env=environment).stdout, "NAME")
    assert (row["HELD"], row["HELD-BYTES"], row["OLDEST"]) == ("0", "0 B", "0 s")


def test_what_an_older_module_does_not_say_is_unknown_and_not_0(machine):
    root, align = machine
    put(align, held_blocks=2)
    for name in ("held_bytes", "held_oldest_ms"):
        (align / name).unlink()
    environment = {**os.environ, "ALIGNCTL_SYSROOT": str(root)}
    [listed] = json.loads(alignctl("list", "--json", env=environment).stdout)["devices"]
    assert (listed["held_blocks"], listed["held_bytes"], listed["held_oldest_ms"]) == (2, None, None)
    [row] = tables(alignctl("list", env=environment).stdout, "NAME")
    assert (row["HELD"], row["HELD-BYTES"], row["OLDEST"]) == ("2", "-", "-")
    shown = stats(root)
    assert shown.returncode == FINE and not shown.stderr
    assert "held, and not on the drive: - in 2 blocks, the oldest for -" in shown.stdout
    assert {row["COUNTER"]: row["VALUE"] for row in tables(shown.stdout, "COUNTER")}["held_bytes"] == "-"
    [device] = json.loads(stats(root, "--json").stdout)["devices"]
    assert device["held_oldest_ms"] is device["counters"]["held_bytes"] is device["raw"]["held_bytes"] is None


@pytest.mark.parametrize("name", ["held_bytes", "held_oldest_ms"])
def test_what_a_module_says_of_held_data_must_be_a_number(machine, name):
    root, align = machine
    put(align, **{name: "many"})
    failed = stats(root)
    assert failed.returncode == IO and f"align/{name}: missing or malformed" in failed.stderr


def test_a_device_of_which_sysfs_lacks_a_file_is_an_error_of_list(machine):
    root, align = machine
    (align / "held_blocks").unlink()
    failed = alignctl("list", env={**os.environ, "ALIGNCTL_SYSROOT": str(root)})
    assert failed.returncode == IO and "align/held_blocks" in failed.stderr
