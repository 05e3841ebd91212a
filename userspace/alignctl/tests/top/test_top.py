# SPDX-License-Identifier: GPL-2.0
"""alignctl top without a kernel that counts, but for three tests: what it refuses, and what its manual says."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from alignctl_program import ALIGNCTL, alignctl, another_medium, keys, man_section
from lab.pace import Limit, patience
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


def test_another_disk_with_the_same_number_is_not_counted(disk, own_loop):
    """As after a disk was removed, and another one plugged in. Skipped where the kernel loads no BPF programs."""
    running = subprocess.Popen([ALIGNCTL, "top", own_loop, "--json", "--interval", "1"], text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    try:
        if not running.stdout.readline():
            pytest.skip(f"no BPF here: {running.communicate(timeout=patience(20))[1].strip()}")
        for command in (["sh", "-c", another_medium(own_loop, disk)],
                        ["dd", "if=/dev/zero", f"of={own_loop}", "bs=4096", "count=7", "oflag=direct", "status=none"]):
            subprocess.run(command, timeout=patience(20), check=True)
        out, err = running.communicate(timeout=patience(20))
    finally:
        running.kill()
        running.wait()
    assert running.returncode == IO and not any(json.loads(line)["writes"] for line in out.splitlines())
    assert err.splitlines()[-1] == (f"alignctl: {own_loop}: another disk or medium has its number; the last interval is left "
                                    "out, start top again")


def made_disk(root, name, minor=None, diskseq=None, requests=True, below=None):
    """Add a disk to a made-up machine, on which programs can be loaded as on this one."""
    made = root / "sys/block" / name
    for folder in ("slaves", "queue", *["mq"] * requests):
        (made / folder).mkdir(parents=True)
    if below:
        (made / "slaves" / below).symlink_to(root / "sys/block" / below)
    (made / "diskseq").write_text(f"{diskseq or 1 << 40 | minor}\n")
    (made / "size").write_text("2048\n")
    if minor is not None:
        (made / "dev").write_text(f"259:{minor}\n")
        (root / "sys/dev/block").mkdir(parents=True, exist_ok=True)
        (root / f"sys/dev/block/259:{minor}").symlink_to(made)
    kernel = root / "sys/kernel/btf"
    if not kernel.exists():
        kernel.mkdir(parents=True)
        (kernel / "vmlinux").symlink_to("/sys/kernel/btf/vmlinux")


def test_a_device_that_is_made_of_others_is_no_disk_even_if_it_has_requests(tmp_path):
    """As of device-mapper's multipath, whose writes its paths count. Skipped where the kernel loads no BPF programs."""
    made_disk(tmp_path, "sda", 9000)
    made_disk(tmp_path, "dm-0", 9001, below="sda")
    done = alignctl("top", "--format", "prometheus", "--once", env={**os.environ, "ALIGNCTL_SYSROOT": str(tmp_path)})
    if done.returncode:
        pytest.skip(f"no BPF here: {done.stderr.strip()}")
    assert re.findall(r'^alignctl_disk_writes_total\{device="(.*)"\} 0$', done.stdout, re.M) == ["sda"]


def test_the_requests_of_hidden_paths_are_those_of_the_nvme_disk(loop, tmp_path):
    """The kernel hides the disks of controllers where several may lead to one. A loop device stands for one of these."""
    made_disk(tmp_path, "nvme0n1", 9000, requests=False)
    made_disk(tmp_path, "nvme0c0n1", diskseq=1 << 41)
    made_disk(tmp_path, "nvme0c1n1", diskseq=int((Path("/sys/block") / loop.name / "diskseq").read_text()))
    file = tmp_path / "disks.prom"
    counted = re.compile(r'^alignctl_disk_writes_total\{device="nvme0n1"\} (.*)$', re.M)
    with subprocess.Popen([ALIGNCTL, "top", "--format", "prometheus", "--interval", "1", "--output", file],
                          env={**os.environ, "ALIGNCTL_SYSROOT": str(tmp_path)}, text=True, stderr=subprocess.PIPE) as running:
        limit = Limit(30)
        while running.poll() is None and not file.exists() and not limit.over():
            time.sleep(0.01)
        subprocess.run(["dd", "if=/dev/zero", f"of={loop}", "bs=4096", "count=7", "oflag=direct", "status=none"],
                       timeout=patience(20), check=True)
        while running.poll() is None and not limit.over() and counted.findall(file.read_text()) != ["7"]:
            time.sleep(0.01)
        running.terminate()
        err = running.communicate(timeout=patience(20))[1]
    if not file.exists():
        pytest.skip(f"no BPF here: {err.strip()}")
    assert counted.findall(file.read_text()) == ["7"]
