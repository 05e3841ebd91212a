# SPDX-License-Identifier: GPL-2.0
"""alignctl probe on regular files, as its user meets it."""

import json
import re

import pytest

from alignctl_program import DISK_BYTES, METHODS, alignctl, keys, man_page, spoil
from lab.paths import REPO

FINE, FINDINGS, USAGE, IO, BUSY = range(5)


@pytest.mark.parametrize("device", [[], ["--on", "/dev/sdX"]])
@pytest.mark.parametrize("method", METHODS)
def test_replay_refuses_a_method_and_says_how_it_is_made(method, device):
    failed = alignctl("replay", method, *device)
    assert failed.returncode == USAGE and not failed.stdout
    assert failed.stderr == f"alignctl: {method}: is a method: alignctl probe {method} {'/dev/sdX' if device else 'DEV'}\n"


@pytest.mark.parametrize("source, words", [
    ("w512", ["w512: is a workload: alignctl replay w512 --on /dev/sdX"]),
    ("cncreed", ["no method 'cncreed'; did you mean 'cncread'?", "'alignctl probe --help'"]),
    ("x", ["no method 'x'; 'alignctl probe --help' lists them"]),
])
def test_what_is_no_method_is_refused_with_the_way_out(source, words):
    failed = alignctl("probe", source, "/dev/sdX")
    assert failed.returncode == USAGE and all(word in failed.stderr for word in words), failed.stderr


@pytest.mark.parametrize("method", METHODS)
def test_a_method_that_writes_is_guarded_and_one_that_reads_changes_nothing(disk, method):
    spoil(disk)
    before = disk.read_bytes()
    options = ["--count", 10, "--span", "8M", *(["--depth", 2] if method != "rnddeltaplot" else [])]
    done = alignctl("probe", method, disk, *options)
    assert done.returncode == (BUSY if METHODS[method] else FINE), done.stderr
    assert disk.read_bytes() == before
    if METHODS[method]:
        assert alignctl("probe", method, disk, *options, "--force", disk).returncode == FINE
        assert disk.read_bytes() != before


@pytest.mark.parametrize("method", ["cncread", "cncwrite"])
def test_the_best_depth_is_found_among_those_tried(disk, method):
    done = alignctl("probe", method, disk, "--count", 20, "--span", "8M", "--depth", 4, "--json")
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
    done = alignctl("probe", method, disk, "--count", 6, "--json", "--html", page)
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
    done = alignctl("probe", "rnddeltaplot", disk, "--count", 30, "--json", "--html", page)
    assert done.returncode == FINE, done.stderr
    pairs = json.loads(done.stdout)["pairs"]
    assert len(pairs) == 30 and all(0 < pair["distance"] < DISK_BYTES and pair["us"] > 0 for pair in pairs)
    assert page.read_text().count('class="point"') == 30


@pytest.mark.parametrize("options, words", [
    (["--vs", "x"], ["unrecognized option '--vs'"]),
    (["--repeat", "2"], ["unrecognized option '--repeat'"]),
    (["--force", "/dev/null"], ["--force names /dev/null", "name the same device"]),
    (["--html", "/none/page"], ["/none/page", "No such file"]),
    (["--depth", "300"], ["--depth 300", "from 1 to 256"]),
    (["--span", "1X"], ["1X"]),
])
def test_a_wrong_option_is_named(disk, options, words):
    failed = alignctl("probe", "cncread", disk, *options)
    assert failed.returncode == USAGE, failed.stderr
    for word in words:
        assert word in failed.stderr


def test_a_dry_run_of_a_method_makes_none_of_its_runs(disk):
    said = alignctl("probe", "cncwrite", disk, "--count", 10, "--span", "8M", "--dry-run")
    assert said.returncode == FINE and "nothing was done" in said.stdout and not any(disk.read_bytes())


def test_methods_are_listed_in_help_workloads_man_page_and_completion():
    listed = {method["name"]: method for method in json.loads(alignctl("workloads", "--json").stdout)["methods"]}
    assert {name: method["writes"] for name, method in listed.items()} == METHODS
    assert "depth 13, 61964 IOPS" in listed["cncread"]["published"]
    page = man_page()
    completion = (REPO / "userspace/alignctl/completion/alignctl").read_text()
    assert set(re.search(r'local methods="(.*?)"', completion, re.S)[1].split()) == set(METHODS)
    shown, told = alignctl("probe", "--help").stdout, alignctl("workloads").stdout
    for name, method in listed.items():
        assert re.search(rf"^ {name} +{method['count']} ", shown, re.M)
        assert re.search(rf"^  {name} ", told, re.M) and re.search(rf"^{name} +{method['count']} ", page, re.M)


def test_every_key_of_the_json_is_documented(disk):
    page = man_page()
    part = page[page.index(".SH JSON OF MANY RUNS"):page.index(".SH JSON OF WORKLOADS")]
    documents = []
    for method in ("cncread", "chunk-size", "sorted-reads", "rnddeltaplot"):
        depth = ["--depth", 2] if method == "cncread" else []
        documents.append(json.loads(alignctl("probe", method, disk, "--count", 5, *depth, "--span", "8M",
                                             "--json").stdout))
        assert documents[-1]["device_facts"]["logical_block_size"]
        documents[-1]["device_facts"] = None
    for key in {key for document in documents for key in keys(document)}:
        assert re.search(rf"(?<![a-z_]){key}(?![a-z_])", part), f"{key} is not in alignctl.8"
