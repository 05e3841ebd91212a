# SPDX-License-Identifier: GPL-2.0
"""alignctl fleet reads what check, stats and plan really print, and the made-up documents of its tests are like them."""

import json
import os

import fleet_samples as samples
import pytest

from alignctl_program import alignctl, keys
from audited import Machine, rates

FINE, FINDINGS, USAGE, IO = range(4)
TRACE = "time_s,op,offset,bytes,comm\n0,write,512,512,small\n1,write,0,4096,whole\n8,write,4096,1024,small\n"


@pytest.fixture
def answers(tmp_path, disk, machine):
    """A folder of documents that alignctl printed: of a host that is shifted, one with a recording, one with stats."""
    root, align = machine
    (align / "rmw_drive").write_text("7\n")
    trace = tmp_path / "trace.csv"
    trace.write_text(TRACE)
    os.truncate(disk, 8 << 20)
    # one partition of type Linux that starts at sector 63
    entry = bytes([0, 0, 0, 0, 0x83, 0, 0, 0]) + (63).to_bytes(4, "little") + (4096).to_bytes(4, "little")
    with open(disk, "r+b") as file:
        file.write(bytes(446) + entry + bytes(48) + b"\x55\xaa")
    env = {**os.environ, "ALIGNCTL_SYSROOT": str(root)}
    printed = {"shifted/check.json": alignctl("check", disk, "--json"),
               "recorded/plan-sda.json": alignctl("plan", trace, "--json"),
               "counted/stats.json": alignctl("stats", "--json", env=env),
               "watched.stats.json": alignctl("stats", "--interval", "1", "1", "--json", env=env)}
    return samples.save(tmp_path / "answers", {name: done.stdout for name, done in printed.items()})


def test_what_the_other_verbs_print_is_ranked(answers):
    done = alignctl("fleet", answers, "--json")
    assert (done.returncode, done.stderr) == (FINDINGS, "")
    hosts = json.loads(done.stdout)["hosts"]
    assert [(host["host"], host["touches_from"], host["touches_per_day"], host["touches"], host["shift"]) for host in hosts] == [
        ("recorded", "plan", 2 * 86400 // 8, 2, None), ("shifted", None, None, None, 1), ("counted", "stats", None, 7, None),
        ("watched", "stats", 0, 0, None)]
    assert hosts[0]["writers"] == [{"comm": "small", "touches": 2}]


@pytest.mark.parametrize("rotational, said, cost", [
    # 2 touches in 8 s, of 1/120 s each
    (1, {"page": 7200}, {"disk_seconds_per_day": 2 * 86400 / 8 / 120, "extra_bytes_per_day": None}),
    # of a block of 4096 bytes 512 were sent, and of another one 1024
    (0, {}, {"disk_seconds_per_day": None, "extra_bytes_per_day": (3584 + 3072) * 86400 // 8}),
])
def test_what_check_and_plan_print_has_a_cost(tmp_path, rotational, said, cost):
    host = Machine(tmp_path / "host")
    rates(host.disk("sda", (8, 0), rotational=rotational), **said)
    (tmp_path / "trace.csv").write_text(TRACE)
    printed = {"a/check.json": alignctl("check", "--json", env={**os.environ, "ALIGNCTL_SYSROOT": str(host.root)}),
               "a/plan-sda.json": alignctl("plan", tmp_path / "trace.csv", "--json")}
    samples.save(tmp_path / "answers", {name: done.stdout for name, done in printed.items()})
    [found] = json.loads(alignctl("fleet", tmp_path / "answers", "--json").stdout)["hosts"]
    assert found["modelled"].items() >= cost.items() and not found["modelled"]["extra_bytes_at_most"]


def test_one_host_and_a_page_are_one_command_away(answers, tmp_path):
    page = tmp_path / "page.html"
    done = alignctl("fleet", answers, "--host", "recorded", "--html", page)
    assert done.returncode == FINDINGS and done.stdout.splitlines()[1].split()[:2] == ["recorded", "sda"]
    assert "Misaligned writes on recorded" in page.read_text() and ">shifted<" not in page.read_text()
    assert alignctl("fleet", answers, "--html", answers / "watched.stats.json").returncode == USAGE, "a document is no page"


def test_a_file_that_is_no_use_does_not_keep_the_others_from_an_answer(answers):
    (answers / "cut.json").write_text('{"format": 1, "dev')
    done = alignctl("fleet", answers)
    assert done.returncode == IO and done.stderr == f"alignctl fleet: {answers}/cut.json: ends in the middle: make it again\n"
    assert "recorded" in done.stdout and "files not used: 1" in done.stdout
    assert alignctl("fleet", answers / "cut.json").returncode == IO


def test_made_up_documents_have_no_member_that_printed_ones_have_not(answers):
    made_up = {"shifted/check.json": samples.check([("partition-start", "sda1")]),
               "recorded/plan-sda.json": samples.plan(1, 1.5, [("small", 1)]),
               "counted/stats.json": samples.stats({"x": ("sda", "pad", 0, 1)}),
               "watched.stats.json": samples.stats({"x": ("sda", "pad", 0, 1)}, 1)}
    for name, document in made_up.items():
        real = json.loads((answers / name).read_text())
        # those of another source of figures, which an image has not
        assert set(keys(document)) - set(keys(real)) <= set(samples.FIGURES), name
