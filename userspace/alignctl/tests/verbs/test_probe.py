# SPDX-License-Identifier: GPL-2.0
"""alignctl probe on regular files, as its user meets it."""

import contextlib
import json
import os
import random
import re
import signal
import subprocess
from html import escape

import pytest

from alignctl_program import ALIGNCTL, AREA, DISK_BYTES, METHODS, WORKLOADS_TOO, alignctl, man_page, tables
from lab.pace import patience
from lab.plugins.extent import only_all

FINE, FINDINGS, USAGE, IO, BUSY = range(5)
WRITING = [method for method, writes in METHODS.items() if writes]
# Of one run, or of reads that depend on each other.
IN_TURN = ("fullstroke", "tracktotrack", "rotation", "rnddeltaread")
MANY_RUNS = [method for method in WRITING if method not in WORKLOADS_TOO]
# An area in the middle of the disk, of odd blocks.
START, LENGTH = 4096 * 1001, 9 << 20


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """What is saved goes to the current folder, by the disk's name, which is the same in tests that run at once."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("device", [[], ["--on", "/dev/sdX"]])
@pytest.mark.parametrize("method", [method for method in METHODS if method not in WORKLOADS_TOO])
def test_replay_refuses_a_method_and_says_how_it_is_made(method, device):
    failed = alignctl("replay", method, *device)
    assert failed.returncode == USAGE and not failed.stdout
    way = f": alignctl probe {method} /dev/sdX" if device else ", which 'alignctl probe' runs"
    assert failed.stderr == f"alignctl: {method}: is a method{way}\n"


@pytest.mark.parametrize("name", WORKLOADS_TOO)
def test_a_name_of_both_is_a_workload_to_the_verbs_that_take_workloads(disk, name):
    for arguments in (["plan", name, "--on", disk, "--count", 2], ["replay", name, "--on", disk, "--count", 2]):
        done = alignctl(*arguments)
        assert done.returncode == FINE, done.stderr
    assert "is a method" not in alignctl("verify", name, "--on", disk, "--vs", disk).stderr


@pytest.mark.parametrize("source, words", [
    ("w512", ["w512: is a workload, which overwrites the device; back up, then: alignctl replay w512 --on /dev/sdX"]),
    ("cncreed", ["no method 'cncreed'; did you mean 'cncread'?", "'alignctl probe --help'"]),
    ("x", ["no method 'x'; 'alignctl probe --help' lists them"]),
])
def test_what_is_no_method_is_refused_with_the_way_out(source, words):
    failed = alignctl("probe", source, "/dev/sdX")
    assert failed.returncode == USAGE and all(word in failed.stderr for word in words), failed.stderr


@pytest.fixture
def data(disk):
    """A disk that holds data all over; what it holds."""
    held = random.Random(7).randbytes(DISK_BYTES)
    disk.write_bytes(held)
    return held


def of(method, area=AREA):
    """Options of a short run of a method, but for block-size."""
    return ["--count", 10, *(area if METHODS[method] else ["--span", "8M"]),
            *(["--depth", 2] if method not in IN_TURN else [])]


# block-size has a test of its own below, which looks at its JSON, too, as it is slow.
READING = [method for method, writes in METHODS.items() if not writes and method != "block-size"]


@pytest.mark.parametrize("method", READING)
def test_a_method_that_reads_is_done_on_what_holds_data_and_changes_nothing(disk, data, method):
    done = alignctl("probe", method, disk, *of(method))
    assert done.returncode == FINE, done.stderr
    assert disk.read_bytes() == data


@pytest.mark.parametrize("method", WRITING)
def test_a_method_that_writes_is_guarded_and_says_that_it_restores(disk, data, tmp_path, method):
    failed = alignctl("probe", method, disk, *of(method), cwd=tmp_path)
    assert failed.returncode == BUSY and "holds data in the sector at byte 0" in failed.stderr
    assert "0+8388608 alone would be overwritten, and restored, if no other program writes there: " \
        f"--force {disk}" in failed.stderr
    assert disk.read_bytes() == data and os.listdir(tmp_path) == ["disk"]


@pytest.mark.parametrize("method", WRITING)
def test_an_area_holds_after_a_method_what_it_held_before(disk, data, tmp_path, method):
    done = alignctl("probe", method, disk, *of(method, ["--write", f"{START}+{LENGTH}"]), "--force", disk, cwd=tmp_path)
    assert done.returncode == FINE, done.stderr
    assert disk.read_bytes() == data and os.listdir(tmp_path) == ["disk"]
    assert f"{START}+{LENGTH} of {disk} is saved in {tmp_path}/alignctl-probe-disk-{START}+{LENGTH}.saved" in done.stderr
    assert f"{START}+{LENGTH} of {disk} is restored" in done.stderr


@contextlib.contextmanager
def under_way(disk, method, saved, *more):
    """A method with an area in the middle of the disk, and the first of its runs made."""
    with subprocess.Popen([ALIGNCTL, "probe", method, disk, "--write", f"{START}+{LENGTH}", "--save", saved, "--force",
                           disk, "--count", "2200", *more], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True) as running:
        said = [running.stderr.readline()]
        while not re.search(r"depth 1:|512 B|512: ", said[-1]):
            assert said[-1], said
            said.append(running.stderr.readline())
        yield running, "".join(said)


@pytest.mark.usefixtures("hangup")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("method", MANY_RUNS)
def test_a_signal_in_the_middle_leaves_what_was_there(disk, data, tmp_path, method, number):
    with under_way(disk, method, tmp_path / "saved") as (running, _):
        for _ in range(3):
            os.killpg(running.pid, number)
        err = running.communicate(timeout=patience(60))[1]
    assert running.returncode == 128 + number, err
    assert disk.read_bytes() == data and os.listdir(tmp_path) == ["disk"]


@pytest.mark.parametrize("method", MANY_RUNS)
def test_what_is_killed_has_written_nothing_outside_and_its_file_restores_the_rest(disk, data, tmp_path, method):
    saved = tmp_path / "saved"
    with under_way(disk, method, saved) as (running, said):
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate(timeout=patience(60))
    left = disk.read_bytes()
    assert left[:START] == data[:START] and left[START + LENGTH:] == data[START + LENGTH:]
    assert left != data, "nothing was written"
    assert saved.read_bytes() == data[START:START + LENGTH] and saved.stat().st_mode & 0o077 == 0
    # a second one does not overwrite what the first one could not restore
    again = alignctl("probe", method, disk, "--write", f"{START}+{LENGTH}", "--save", saved, "--force", disk)
    assert again.returncode == USAGE and f"--save {saved}: exists" in again.stderr
    subprocess.run(re.search(r"then: (dd .*)", said)[1], shell=True, check=True, capture_output=True)
    assert disk.read_bytes() == data


@pytest.mark.parametrize("method", ["cncread", "cncwrite"])
def test_the_best_depth_is_found_among_those_tried(disk, method):
    done = alignctl("probe", method, disk, "--count", 20, *(AREA if METHODS[method] else ["--span", "8M"]), "--depth", 4,
                    "--json")
    assert done.returncode == FINE, done.stderr
    result = json.loads(done.stdout)
    assert [probe["depth"] for probe in result["probes"]] == [1, 2, 3, 4]
    assert all(probe["requests"] == 20 for probe in result["probes"])
    top = max(result["probes"], key=lambda probe: probe["score"])
    assert result["best"]["depth"] == top["depth"] and not result["best"]["sure"]
    assert result["best"]["ratio_to_depth_1"] == pytest.approx(top["iops"] / result["probes"][0]["iops"])
    assert f"depth {top['depth']}: " in done.stderr


@pytest.mark.parametrize("method", ["chunk-size", "chunk-size-write"])
def test_the_rate_is_measured_for_each_size(disk, method, tmp_path):
    page = tmp_path / "page.html"
    done = alignctl("probe", method, disk, "--count", 6, *(["--write", f"0+{DISK_BYTES}"] if METHODS[method] else []),
                    "--json", "--html", page)
    assert done.returncode == FINE, done.stderr
    chunks = json.loads(done.stdout)["chunks"]
    assert [chunk["bytes"] for chunk in chunks] == [512 << i for i in range(15)]
    assert [chunk["requests"] for chunk in chunks] == [6] * 13 + [6 if DISK_BYTES >> 22 >= 6 else DISK_BYTES >> 22,
                                                                 DISK_BYTES >> 23]
    text = page.read_text()
    assert "<svg" in text and "8 MiB" in text and "<script" not in text and "http" not in text


def test_sorted_reads_are_made_in_turn_with_places_of_their_own(disk):
    done = alignctl("probe", "sorted-reads", disk, "--count", 64, "--span", "8M", "--json")
    assert done.returncode == FINE, done.stderr
    result = json.loads(done.stdout)
    assert [(run["round"], run["window"]) for run in result["runs"]] == [
        (1, 1), (1, 32), (1, 1024), (2, 32), (2, 1024), (2, 1), (3, 1024), (3, 1), (3, 32)]
    assert [row["window"] for row in result["windows"]] == [1, 32, 1024]
    assert all(row["ratio"]["values"] == 3 and row["words"] for row in result["windows"][1:])


def test_pairs_are_plotted_by_distance(disk, tmp_path):
    page = tmp_path / "page.html"
    done = alignctl("probe", "rnddeltaread", disk, "--count", 30, "--json", "--html", page)
    assert done.returncode == FINE, done.stderr
    pairs = json.loads(done.stdout)["pairs"]
    assert len(pairs) == 30 and all(0 < pair["distance"] < DISK_BYTES and pair["us"] > 0 for pair in pairs)
    assert page.read_text().count('class="point"') == 30


@pytest.mark.parametrize("options, why", [
    only_all("hundreds of thousands of reads: test_probe_block_size.py reads models of SSDs",
                    ["--span", "8M"], "writes do: --write START+LENGTH"),
    ([*AREA, "--force", "disk"], "give 256M or more"),
])
def test_without_an_area_that_is_large_enough_no_block_is_claimed_and_nothing_changed(disk, data, tmp_path, options, why):
    given = [disk if word == "disk" else word for word in options]
    done = alignctl("probe", "block-size", disk, *given, "--json", "--html", tmp_path / "page.html", cwd=tmp_path)
    assert done.returncode == FINE, done.stderr
    result = json.loads(done.stdout)
    assert result["block"] is result["kept"] is result["penalty_us"] is None and why in result["why"]
    assert escape(f"cannot tell: {result['why']}") in (tmp_path / "page.html").read_text()
    assert disk.read_bytes() == data


@pytest.mark.parametrize("options, words", [
    (["--count", "9"], ["--count: block-size chooses the number of requests by its results"]),
    (["--depth", "9"], ["--depth: block-size makes one request after the other"]),
    (["--save", "x"], ["--save: needs --write START+LENGTH, as nothing else is saved; add it"]),
    (["--write", "0+8M", "--span", "8M"], ["--write, --span: exclude each other, as --write sets the span"]),
])
def test_what_does_not_apply_to_block_size_is_refused(disk, options, words):
    failed = alignctl("probe", "block-size", disk, *options)
    assert failed.returncode == USAGE, failed.stderr
    for word in words:
        assert word in failed.stderr


@pytest.mark.parametrize("method", ["seqread", "seqwrite"])
def test_the_rate_is_measured_by_position(disk, method, tmp_path):
    page = tmp_path / "page.html"
    done = alignctl("probe", method, disk, "--count", 7, *(AREA if METHODS[method] else []), "--json", "--html", page)
    assert done.returncode == FINE, done.stderr
    result = json.loads(done.stdout)
    rates = {probe["offset"]: probe["mb_per_s"] for probe in result["each"]}
    assert len(rates) == 7 and list(rates) == sorted(rates)
    assert result["mb_per_s"]["low"] <= result["mb_per_s"]["mean"] <= result["mb_per_s"]["high"]
    for name, rate in (("slowest", min(rates.values())), ("fastest", max(rates.values()))):
        assert result[name] == {"offset": next(at for at in rates if rates[at] == rate), "mb_per_s": rate}
    assert sum(tenth["probes"] for tenth in result["tenths"]) == 7
    assert page.read_text().count('class="point"') == 7


@pytest.mark.parametrize("method", ["rndread", "rndwrite"])
def test_random_requests_have_percentiles_with_intervals(disk, method):
    done = alignctl("probe", method, disk, "--count", 400, *(AREA if METHODS[method] else []), "--json")
    assert done.returncode == FINE, done.stderr
    result = json.loads(done.stdout)
    assert result["requests"] == 400 and result["mean_us"]["values"] == 400 and result["sd_us"] > 0
    assert result["iops"]["mean"] == pytest.approx(1e6 / result["mean_us"]["mean"])
    rows = result["percentiles"]
    assert [row["percent"] for row in rows] == [50, 90, 98]
    assert all(row["low"] <= row["us"] <= row["high"] for row in rows)
    assert rows == sorted(rows, key=lambda row: row["us"])


@pytest.mark.parametrize("method", ["fullstroke", "tracktotrack", "rotation", "rnddeltaread"])
def test_no_speed_is_told_of_what_a_memory_can_hold(disk, data, method):
    """A file in the page cache is no disk, and too small to say that it does not rotate."""
    done = alignctl("probe", method, disk, "--count", 400, "--json")
    assert done.returncode == FINE, done.stderr
    result = json.loads(done.stdout)
    assert result["rotates"] is None and result["rpm"] is None and result["seek_us"] is None and result["cannot_tell"]
    assert result["samples"] is None and disk.read_bytes() == data
    shown = alignctl("probe", method, disk, "--count", 20).stdout
    assert "rpm: cannot tell: " in shown


def samples(path, times):
    """Write times as the study's tool does, of reads at many distances."""
    path.write_text("base_offset\toffset\tabsdelta\tprobe_length\tmillis\n" + "".join(
        f"{at * 10**6}\t{at * 10**6 + at * 7919 % 1000 * 10**8}\t{at * 7919 % 1000 * 10**8}\t512\t{ms:.6f}\n"
        for at, ms in enumerate(times)))
    return path


@pytest.mark.parametrize("method", [method for method in METHODS if method in WORKLOADS_TOO or method in IN_TURN[:2]])
def test_recorded_samples_take_the_place_of_a_device(tmp_path, method):
    draw = random.Random(3)
    path = samples(tmp_path / "x.tsv", [draw.uniform(21.6, 32.7) for _ in range(2000)])
    page = tmp_path / "page.html"
    done = alignctl("probe", method, "--samples", path, "--json", "--html", page)
    assert done.returncode == FINE, done.stderr
    result = json.loads(done.stdout)
    assert (result["method"], result["device"], result["samples"], result["device_facts"]) == (method, None, str(path), None)
    assert "<svg" in page.read_text() and "x.tsv" in page.read_text()
    if method in IN_TURN:
        assert result["rpm"] is None and bool(result["study"]) == (method != "rnddeltaread")
        assert result["revolution_us"]["low"] < 11111 < result["revolution_us"]["high"]


def test_samples_give_the_study_s_figures(tmp_path):
    """low/0.98, and the greatest time less that."""
    path = samples(tmp_path / "x.tsv", [21.6 + at * 11.1 / 2000 for at in range(2001)])
    study = json.loads(alignctl("probe", "fullstroke", "--samples", path, "--json").stdout)["study"]
    assert study["seek_us"] == pytest.approx(21600 / 0.98)
    # two MADs reach from the middle to the ends, and rounding decides whether the last value is kept
    assert study["revolution_us"] == pytest.approx(32700 - 21600 / 0.98, abs=6)
    assert study["rpm"] == pytest.approx(60e6 / study["revolution_us"])
    shown = alignctl("probe", "fullstroke", "--samples", path).stdout
    assert ("as the study computes them: seek over the whole device 22.041 ms, revolution "
            f"{study['revolution_us'] / 1000:.3f} ms, {study['rpm']:.0f} rpm") in shown
    assert "of the usual speeds, 5400 rpm" in shown


@pytest.mark.parametrize("arguments, words", [
    (["fullstroke"], ["probe: needs DEV, the device to measure, or --samples FILE"]),
    (["cncread"], ["probe: needs DEV, the device to measure\n"]),
    (["fullstroke", "{disk}", "--samples", "x"],
     ["{disk}: does not apply to --samples, which takes only METHOD; leave it out\n"]),
    (["rotation", "--samples", "x"], ["--samples: rotation chooses each request by the time of the one before"]),
    (["fullstroke", "--samples", "x", "--count", "5"], ["--count: does not apply to --samples"]),
    (["seqwrite", "--samples", "x", "--write", "0+8M"], ["--write: does not apply to --samples"]),
    (["fullstroke", "--samples", "{disk}"], ["--samples {disk}:1: ", "drvperf --dump-file"]),
    (["fullstroke", "--samples", "/none"], ["--samples /none: No such file"]),
    (["fullstroke", "--samples", "/none", "--html", "/none/page"], ["--html /none/page", "No such file"]),
    (["fullstroke", "{disk}", "--depth", "2"], ["--depth: fullstroke makes one request after the other"]),
    (["fullstroke", "{disk}", "--span", "64K"], ["65536 bytes are too few to seek over; give 1048576 or more"]),
    (["seqread", "{disk}", "--write", "0+8M"], ["--write: seqread only reads"]),
    (["seqwrite", "{disk}"], ["seqwrite: writes; name the area"]),
])
def test_what_is_neither_a_device_nor_samples_is_refused(disk, data, arguments, words):
    failed = alignctl("probe", *(argument.format(disk=disk) for argument in arguments))
    assert failed.returncode == USAGE and not failed.stdout
    for word in words:
        assert word.format(disk=disk) in failed.stderr
    assert disk.read_bytes() == data


@pytest.mark.parametrize("options, words", [
    (["--vs", "x"], ["unrecognized option '--vs'"]),
    (["--repeat", "2"], ["unrecognized option '--repeat'"]),
    (["--force", "/dev/null"], ["--force names /dev/null", "name the same device"]),
    (["--html", "/none/page"], ["/none/page", "No such file"]),
    (["--depth", "300"], ["--depth 300", "from 1 to 256"]),
    (["--span", "1X"], ["1X"]),
    (["--write", "0+8M"], ["--write: cncread only reads; leave it out"]),
    (["--save", "x"], ["--save: needs --write START+LENGTH"]),
])
def test_a_wrong_option_is_named(disk, options, words):
    failed = alignctl("probe", "cncread", disk, *options)
    assert failed.returncode == USAGE, failed.stderr
    for word in words:
        assert word in failed.stderr


@pytest.mark.parametrize("options, words", [
    ([], ["cncwrite: writes; name the area to write and restore: --write START+LENGTH, e.g. 0+1G\n"]),
    (["--force", "{disk}"], ["cncwrite: writes; name the area to write and restore: --write START+LENGTH"]),
    (["--write", "8M"], ["--write 8M: must be START+LENGTH"]),
    (["--write", "0+"], ["--write 0+: must be START+LENGTH"]),
    (["--write", "-1+8M"], ["--write -1+8M: must be START+LENGTH"]),
    (["--write", "512+8M"], ["--write 512+8M: must be multiples of 4096"]),
    (["--write", "0+8389120"], ["must be multiples of 4096"]),
    (["--write", "0+512K"], ["at least 1M long"]),
    (["--write", "20M+5M"], ["--write 20M+5M: {disk} has", "name an area in it"]),
    (["--write", "18446744073709547520+1M"], ["must be"]),
    (["--write", "0+8M", "--span", "8M"], ["--write, --span: exclude each other, as --write sets the span"]),
    (["--write", "0+8M", "--save", "/none/x"], ["--save /none/x: No such file", "name a file"]),
    (["--write", "0+8M", "--save", "{disk}"], ["--save {disk}: exists"]),
    (["--write", "0+8M", "--save", "{disk}.page", "--html", "{disk}.page"], ["is the page of --html, too"]),
    (["--write", "0+8M", "--count", "100000"], ["rndwrite", "places", "smaller --count"]),
])
def test_what_does_not_fit_an_area_is_refused_before_anything_is_done(disk, tmp_path, options, words):
    failed = alignctl("probe", "cncwrite", disk, *(option.format(disk=disk) for option in options), cwd=tmp_path)
    assert failed.returncode == USAGE, failed.stderr
    for word in words:
        assert word.format(disk=disk) in failed.stderr
    assert not any(disk.read_bytes()) and os.listdir(tmp_path) == ["disk"]


def test_a_dry_run_of_a_method_makes_none_of_its_runs(disk, tmp_path):
    said = alignctl("probe", "cncwrite", disk, "--count", 10, *AREA, "--dry-run", cwd=tmp_path)
    assert said.returncode == FINE and "nothing was done" in said.stdout and not any(disk.read_bytes())
    assert f"saved in {tmp_path}/alignctl-probe-disk-0+8388608.saved and restored" in said.stdout
    assert os.listdir(tmp_path) == ["disk"]


def test_methods_are_listed_in_help_workloads_and_man_page():
    listed = {method["name"]: method for method in json.loads(alignctl("workloads", "--json").stdout)["methods"]}
    assert {name: method["writes"] for name, method in listed.items()} == METHODS
    assert {name for name, method in listed.items() if method["samples"]} == {*WORKLOADS_TOO, "fullstroke", "tracktotrack"}
    assert "depth 13, 61964 IOPS" in listed["cncread"]["published"]
    page = man_page("alignctl-probe.8")
    shown, told = alignctl("probe", "--help").stdout, alignctl("workloads").stdout
    rows = {row["NAME"]: row for row in tables(shown, "NAME")}
    also = {row["NAME"]: row for row in tables(told, "NAME")}
    for name, method in listed.items():
        assert rows[name] == also[name] == {"NAME": name, "SUMMARY": method["summary"], "COUNT": str(method["count"])}
        assert re.search(rf"^{name} +{method['count']} ", page, re.M)
