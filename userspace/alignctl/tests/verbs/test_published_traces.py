# SPDX-License-Identifier: GPL-2.0
"""Traces of others, as plan, replay, verify and convert take them: several disks, compressed, with columns to be told."""

import csv
import gzip
import json
import tarfile
from pathlib import Path

import pytest

from alignctl_program import DISK_BYTES, alignctl, tables

FINE, FINDINGS, USAGE, IO, BUSY = range(5)
TRACES = Path(__file__).parents[1] / "trace/samples"
# {file: (disk, its writes)}; one of the two has to be chosen
SAMPLES = {"msr.csv": ("hm_0", 2), "alibaba.csv": ("419", 2), "tencent.csv": ("1627", 2), "systor.csv.gz": ("4", 1),
           "fiu.txt": ("6,0", 2), "spc.csv": ("0", 1), "mqsim.trace": ("0", 1)}
MIXED = ["--columns", "time_s,disk,offset,bytes,op_1w"]


@pytest.fixture
def mixed(tmp_path):
    """A table in no known format: writes to the disks a and b in turn, ten each, and a read of each."""
    path = tmp_path / "mixed"
    path.write_text("when;where;at;length;what\n" + "".join(
        f"{n / 1000};{'ab'[n % 2]};{n * 4608};4096;{int(n < 20)};more\n" for n in range(22)))
    return path


@pytest.fixture
def other(disk):
    path = disk.with_name("other")
    with open(path, "wb") as file:
        file.truncate(DISK_BYTES // 2)
    return path


@pytest.mark.parametrize("name", SAMPLES)
def test_all_verbs_read_one_disk_of_a_published_trace(disk, tmp_path, name):
    chosen, writes = SAMPLES[name]
    form = name.partition(".")[0]
    assert alignctl("plan", TRACES / name).returncode == USAGE
    done = alignctl("plan", TRACES / name, "--disk", chosen, "--json")
    assert done.returncode == FINE, done.stderr
    assert json.loads(done.stdout)["requests"]["write"]["requests"] == writes
    done = alignctl("replay", TRACES / name, "--disk", chosen, "--from", form, "--on", disk, "--wrap", "--timing", "fast",
                    "--json")
    assert done.returncode == FINE, done.stderr
    result = json.loads(done.stdout)
    assert result["source_format"] == form and result["data_check"]["status"] == "ok"
    assert {row["kind"]: row["service_us"]["count"] for row in result["by_kind"]}["write"] == writes
    done = alignctl("convert", TRACES / name, "--disk", chosen, "--output", tmp_path / "new", "--json")
    document = json.loads(done.stdout)
    assert document["operations"]["write"]["count"] == writes
    assert document["disks"] == [{"name": chosen, "requests": document["requests"]}]
    assert document["left_out_by_reason"]["other_disk"] > 0


def test_all_disks_are_converted_and_told_apart(tmp_path):
    done = alignctl("convert", TRACES / "msr.csv", "--output", tmp_path / "new", "--to", "csv", "--json")
    document = json.loads(done.stdout)
    assert document["disks"] == [{"name": "hm_0", "requests": 3}, {"name": "hm_1", "requests": 1}]
    assert (document["left_out"], document["left_out_by_reason"]["no_length"]) == (1, 1)
    assert "entries left out: 1 (length is 0)" in done.stderr
    with open(tmp_path / "new", newline="") as file:
        assert [row["file"] for row in csv.DictReader(file)] == ["hm_0", "hm_0", "hm_1", "hm_0"]


@pytest.mark.parametrize("verb", [["plan", "{trace}"], ["replay", "{trace}", "--on", "{disk}", "--wrap", "--scan"],
                                  ["replay", "{trace}", "--on", "{disk}", "--wrap"],
                                  ["verify", "{trace}", "--on", "{disk}", "--vs", "{other}", "--wrap"]])
def test_a_trace_of_several_disks_is_refused_with_their_names(disk, other, mixed, verb):
    words = [word.format(trace=mixed, disk=disk, other=other) for word in verb]
    refused = alignctl(*words, *MIXED)
    assert refused.returncode == USAGE
    assert f"{mixed}: line 3: is for another disk or file than before; choose one with --disk\n" in refused.stderr
    assert {row["DISK"] for row in tables(refused.stderr, "DISK")} == {"a", "b"}
    refused = alignctl(*words, *MIXED, "--disk", "c")
    assert refused.returncode == USAGE and f"{mixed}: has no request to disk c; choose one with --disk\n" in refused.stderr
    assert {row["DISK"] for row in tables(refused.stderr, "DISK")} == {"a", "b"}


@pytest.mark.parametrize("verb", [["plan", "{trace}"], ["replay", "{trace}", "--on", "{disk}"],
                                  ["convert", "{trace}", "--output", "{new}"]])
def test_a_flag_that_could_be_a_read_or_a_write_is_refused(disk, mixed, tmp_path, verb):
    words = [word.format(trace=mixed, disk=disk, new=tmp_path / "new") for word in verb]
    refused = alignctl(*words, "--columns", "time_s,disk,offset,bytes,op", "--disk", "a")
    assert refused.returncode == USAGE and not (tmp_path / "new").exists() and not any(disk.read_bytes())
    assert 'line 2: op "1": could be a read or a write; name the column op_1w' in refused.stderr


def test_a_state_remembers_what_was_read_of_the_trace(disk, mixed, tmp_path):
    state = tmp_path / "state"
    done = alignctl("replay", mixed, *MIXED, "--disk", "b", "--on", disk, "--timing", "fast", "--state", state)
    assert done.returncode == FINE, done.stderr
    assert json.loads(state.read_text())["disk"] == "b"
    checked = alignctl("replay", "--check", state, "--json")
    assert checked.returncode == FINE, checked.stderr
    assert {name: json.loads(checked.stdout)[name]["blocks"] for name in ("lost", "torn", "old", "new")} == {
        "lost": 0, "torn": 0, "old": 0, "new": 20}
    # the requests of the other disk do not explain what is on the device
    state.write_text(state.read_text().replace('"disk": "b"', '"disk": "a"'))
    assert alignctl("replay", "--check", state).returncode == FINDINGS


def test_two_devices_get_one_disk_of_a_trace(disk, other, mixed):
    done = alignctl("verify", mixed, *MIXED, "--disk", "a", "--on", disk, "--vs", other, "--timing", "fast", "--repeat", "1",
                    "--wrap", "--json")
    assert done.returncode == FINE, done.stderr
    runs = [run["replay"] for run in json.loads(done.stdout)["runs"]]
    assert [(run["source_format"], run["requests"], run["data_check"]["status"]) for run in runs] == 2 * [("columns", 11, "ok")]


@pytest.mark.parametrize("option", [["--from", "msr"], ["--disk", "a"], ["--columns", "op"], ["--wrap"], ["--scale"]])
@pytest.mark.parametrize("verb", [["plan", "w512"], ["replay", "w512", "--on", "{disk}"],
                                  ["verify", "w512", "--on", "{disk}", "--vs", "{other}"], ["verify", "w512", "--on", "{disk}"]])
def test_what_is_read_of_a_trace_does_not_apply_to_a_workload(disk, other, verb, option):
    if verb[0] == "plan" and len(option) == 1:
        return
    refused = alignctl(*(word.format(disk=disk, other=other) for word in verb), *option)
    said = "does not apply" if verb[0] != "verify" or "--vs" in verb else "needs --vs DEV"
    assert refused.returncode == USAGE and f"{option[0]}: {said}" in refused.stderr
    assert not any(disk.read_bytes())


def test_options_that_exclude_each_other_are_named(mixed, tmp_path):
    for verb in (["plan", mixed], ["convert", mixed, "--output", tmp_path / "new"]):
        refused = alignctl(*verb, "--from", "msr", *MIXED)
        assert refused.returncode == USAGE and "--columns, --from: exclude each other; leave one out" in refused.stderr


def test_a_compressed_trace_is_read_in_any_place_of_a_trace(disk, mixed, tmp_path):
    packed = tmp_path / "mixed.gz"
    packed.write_bytes(gzip.compress(mixed.read_bytes()))
    plain = alignctl("plan", mixed, *MIXED, "--disk", "a", "--json")
    assert plain.returncode == FINE and json.loads(plain.stdout)["requests"]["write"]["requests"] == 10
    for source, options in ((packed, {}), ("-", {"stdin": packed.open("rb")})):
        done = alignctl("plan", source, *MIXED, "--disk", "a", "--json", **options)
        assert done.returncode == FINE, done.stderr
        assert {**json.loads(done.stdout), "source": ""} == {**json.loads(plain.stdout), "source": ""}
    # read again for the check of the data
    done = alignctl("replay", packed, *MIXED, "--disk", "a", "--on", disk, "--timing", "fast", "--json")
    assert json.loads(done.stdout)["data_check"]["status"] == "ok"


def test_a_recording_may_be_compressed_and_an_archive_is_told(mixed, tmp_path):
    assert alignctl("convert", mixed, *MIXED, "--output", tmp_path / "recording").returncode == FINE
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress((tmp_path / "recording").read_bytes()))
    done = alignctl("convert", packed, "--output", tmp_path / "again", "--json")
    assert done.returncode == FINE, done.stderr
    assert json.loads(done.stdout)["source_format"] == "recording" and json.loads(done.stdout)["requests"] == 22
    archive = tmp_path / "mixed.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(mixed, "mixed")
    refused = alignctl("plan", archive)
    assert refused.returncode == USAGE and f"{archive}: is an archive; extract the trace: tar -xOf" in refused.stderr
