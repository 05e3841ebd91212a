# SPDX-License-Identifier: GPL-2.0
"""alignctl top without a kernel that counts, but for one test: what it refuses, and what its manual says."""

import json
import re
import subprocess

import pytest

from alignctl_program import ALIGNCTL, alignctl, keys, man_section
from lab.pace import patience
from lab.paths import REPO

USAGE, IO = 2, 3


@pytest.mark.parametrize("arguments, words", [
    ([], ["top: needs one DEV"]),
    (["--interval", "1", "5"], ["top: needs one DEV"]),
    (["/dev/null", "/dev/null"], ["top: needs one DEV"]),
    (["DISK"], ["regular file, not a block device", "losetup"]),
    (["/dev/null"], ["neither a block device nor a regular file"]),
    (["/dev/none"], ["/dev/none", "No such file"]),
    (["x", "--rows", "0"], ["--rows 0: must be a whole number from 1 to 1048576"]),
    (["x", "--rows", "1048577"], ["--rows 1048577: must be"]),
    (["x", "--rows", "5bytes"], ["--rows 5bytes", "unknown unit 'bytes'"]),
    (["x", "--interval", "0"], ["--interval 0: must be a whole number of seconds"]),
    (["x", "--interval", "1", "0"], ["--interval: COUNT is 0; it must be at least 1"]),
    (["x", "--once", "--interval", "1", "2"], ["--once: means a COUNT of 1"]),
    (["--format", "influx"], ["--format influx", "prometheus"]),
    (["--format", "prometheus"], ["--format: has one document", "--output FILE", "--once"]),
    (["--format", "prometheus", "--interval", "1", "2"], ["--format: has one document"]),
    (["--format", "prometheus", "--once", "x"], ["--format: counts every disk; leave out DEV"]),
    *(([*words, "--format", "prometheus", "--once"], [f"--format, {words[0]}: exclude each other"])
      for words in (["--json"], ["--drive"])),
    (["--rows", "3", "--format", "prometheus", "--once"], ["--rows: is the room for cgroups; add --cgroups"]),
    (["x", "--output", "f"], ["--output: needs --format prometheus; add it"]),
    (["x", "--cgroups"], ["--cgroups: needs --format prometheus; add it"]),
])
def test_what_makes_no_sense_is_refused_with_its_reason(disk, arguments, words):
    done = alignctl("top", *(disk if word == "DISK" else word for word in arguments))
    assert done.returncode == USAGE and not done.stdout
    assert all(word in done.stderr for word in words), done.stderr


def test_every_member_of_the_json_is_in_the_schema():
    """The document itself needs root, and BPF; kmod/tests/guest/test_top.py sees it."""
    source = (REPO / "userspace/alignctl/top/report.c").read_text()
    known = set(keys(json.loads(alignctl("top", "--json-schema").stdout)))
    members = re.findall(r'json_add\w*\(object,\s+"(\w+)"|\.key = "(\w+)"', source)
    assert len(members) > 40
    assert not {"".join(pair) for pair in members} - known


def test_each_metric_has_the_same_words_in_the_help_and_the_manual():
    told = dict(re.findall(r"^ (alignctl_disk_\w+)\n     (.*)$", alignctl("top", "--help").stdout, re.M))
    section = man_section("alignctl-top.8", "METRICS OF TOP")
    written = dict(re.findall(r"^\.B (alignctl_disk_\w+)\n(.*)\.$", section, re.M))
    assert len(told) >= 11 and written == told


def test_another_disk_with_the_same_number_is_not_counted(disk, loop):
    """As after a disk was removed, and another one plugged in. Skipped where the kernel loads no BPF programs."""
    running = subprocess.Popen([ALIGNCTL, "top", loop, "--json", "--interval", "1"], text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    try:
        if not running.stdout.readline():
            pytest.skip(f"no BPF here: {running.communicate(timeout=patience(20))[1].strip()}")
        for command in (["losetup", "-d", loop], ["losetup", loop, disk],
                        ["dd", "if=/dev/zero", f"of={loop}", "bs=4096", "count=7", "oflag=direct", "status=none"]):
            subprocess.run(command, timeout=patience(20), check=True)
        out, err = running.communicate(timeout=patience(20))
    finally:
        running.kill()
        running.wait()
    assert running.returncode == IO and not any(json.loads(line)["writes"] for line in out.splitlines())
    assert err.splitlines()[-1] == (f"alignctl: {loop}: another disk or medium has its number; the last interval is left out, "
                                    "start top again")
