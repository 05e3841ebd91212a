# SPDX-License-Identifier: GPL-2.0
"""alignctl record as its user meets it: usage, errors, conversion. What needs a kernel is in kmod/tests/guest."""

import csv
import os
import re
import subprocess

import pytest

from alignctl_program import man_page
from lab.pace import patience
from lab.paths import OUT, REPO

ALIGNCTL = OUT / "bin" / "alignctl"
FINE, FINDINGS, USAGE, IO, BUSY = range(5)
DISK = 7, 3  # a number that a made-up machine has, and a device node can be made for


def alignctl(*arguments, sysroot=None, cwd=None):
    environment = dict(os.environ, **({"ALIGNCTL_SYSROOT": str(sysroot)} if sysroot else {}))
    return subprocess.run([ALIGNCTL, *map(str, arguments)], text=True, capture_output=True, timeout=patience(60), check=False,
                          env=environment, cwd=cwd)


@pytest.mark.parametrize("arguments, words", [
    ([], ["needs DEV or --convert SOURCE"]),
    (["/dev/none"], ["--output FILE is needed"]),
    (["/dev/none", "--output", "{new}"], ["/dev/none", "No such file"]),
    (["/dev/null", "--output", "{new}"], ["/dev/null", "neither a block device"]),
    (["{old}", "--output", "{new}"], ["{old}", "regular file", "losetup"]),
    (["/dev/none", "--output", "{old}"], ["{old}", "not written over"]),
    (["/dev/none", "more", "--output", "{new}"], ["unexpected argument 'more'"]),
    (["/dev/none", "--output", "{new}", "--"], ["no command after --"]),
    (["/dev/none", "--output", "{new}", "--format", "xml"], ["--format xml", "recording, fio or csv"]),
    (["/dev/none", "--output", "{new}", "--seconds", "0"], ["--seconds 0", "from 1 to 4294967295"]),
    (["/dev/none", "--output", "{new}", "--requests", "many"], ["--requests many", "whole number, at least 1"]),
    (["/dev/none", "--output", "{new}", "--buffer", "8G"], ["--buffer 8G", "from 1 to 4294967295"]),
    (["/dev/none", "--output", "{new}", "--seconds", "4G"], ["--seconds 4G", "from 1 to 4294967295"]),
    (["/dev/none", "--convert", "{old}", "--output", "{new}"], ["--convert takes no device", "/dev/none"]),
    (["--convert", "{old}", "--output", "{new}", "--seconds", "1"], ["{old}", "--seconds"]),
    (["--convert", "{old}", "--output", "{new}", "--", "true"], ["{old}", "command"]),
    (["--convert", "{old}", "--output", "{new}", "--buffer", "1"], ["{old}", "--buffer"]),
    (["--convert", "{old}", "--output", "{new}", "--json"], ["--json", "--convert {old} prints nothing", "leave it out"]),
    (["--convert", "", "--output", "{new}"], ['SOURCE "": is empty', "path of a trace"]),
    (["--convert", "{old}", "--output", "-"], ['--output "-"', "must name a file"]),
    (["/dev/none", "--output", "-"], ['--output "-"', "must name a file"]),
    (["/dev/none", "--output", ""], ['--output ""', "must name a file"]),
    (["--convert", "{old}", "--output", "/dev/stdout"], ["/dev/stdout", "not written over; name another file"]),
    (["--convert", "{old}", "--output", "{old}"], ["{old}", "not written over; remove it or name another file"]),
])
def test_a_wrong_use_is_named(tmp_path, arguments, words):
    (tmp_path / "old").write_text("not a trace")
    names = {"old": tmp_path / "old", "new": tmp_path / "new"}
    done = alignctl("record", *(word.format(**names) for word in arguments), cwd=tmp_path)
    assert done.returncode == USAGE and not done.stdout
    for word in words:
        assert word.format(**names) in done.stderr
    assert os.listdir(tmp_path) == ["old"], "something was left behind"


@pytest.fixture
def machine(tmp_path):
    """A made-up /sys with a disk, and a device node of its number."""
    root = tmp_path / "root"
    disk = root / "sys/devices/virtual/block/loop3"
    (disk / "queue").mkdir(parents=True)
    (disk / "dev").write_text("{}:{}\n".format(*DISK))
    (disk / "size").write_text("2048\n")
    for folder, name in (("sys/dev/block", "{}:{}".format(*DISK)), ("sys/class/block", "loop3")):
        (root / folder).mkdir(parents=True)
        (root / folder / name).symlink_to(disk)
    node = tmp_path / "node"
    try:
        os.mknod(node, 0o600 | 0o060000, os.makedev(*DISK))
    except PermissionError:
        pytest.skip("making a device node takes root")
    return root, node


def test_without_tracefs_the_way_to_it_is_named(machine, tmp_path):
    root, node = machine
    done = alignctl("record", node, "--output", tmp_path / "new", sysroot=root)
    assert done.returncode == USAGE
    assert "mount -t tracefs tracefs" in done.stderr and "/sys/kernel/tracing" in done.stderr
    assert not (tmp_path / "new").exists()


def test_an_instance_that_cannot_be_set_up_is_removed(machine, tmp_path):
    """This tracefs is an ordinary folder: an instance has no files."""
    root, node = machine
    instances = root / "sys/kernel/tracing/instances"
    (instances / "other").mkdir(parents=True)
    done = alignctl("record", node, "--output", tmp_path / "new", "--", "touch", tmp_path / "ran", sysroot=root)
    assert done.returncode == IO and "trace_clock" in done.stderr
    assert os.listdir(instances) == ["other"]
    assert not (tmp_path / "new").exists() and not (tmp_path / "ran").exists()


def test_an_output_on_the_recorded_device_is_warned_of(machine, tmp_path):
    root, _ = machine
    number = os.stat(tmp_path).st_dev
    name = f"{os.major(number)}:{os.minor(number)}"
    (root / "sys/devices/virtual/block/loop3/dev").write_text(name + "\n")
    (root / "sys/dev/block" / name).symlink_to(root / "sys/devices/virtual/block/loop3")
    node = tmp_path / "own"
    os.mknod(node, 0o600 | 0o060000, number)
    done = alignctl("record", node, "--output", tmp_path / "new", sysroot=root)
    assert re.search(rf"warning: {tmp_path}/new: lies on {node} itself", done.stderr)
    done = alignctl("record", node, "--output", "/dev/shm/alignctl-none", sysroot=root)
    assert "warning" not in done.stderr


def test_a_trace_is_converted_there_and_back(tmp_path):
    first, packed, second = tmp_path / "a.csv", tmp_path / "a.rec", tmp_path / "b.csv"
    first.write_text("time_ns,op,offset,bytes,flags,pid,comm\n"
                     "0,write,512,4096,,7,a b]c\n"
                     "5,flush,0,0,,7,a b]c\n"
                     "9,write-zeroes,8192,65536,,8,dd\n")
    assert alignctl("record", "--convert", first, "--output", packed).returncode == FINE
    assert alignctl("record", "--convert", packed, "--output", second, "--format", "csv").returncode == FINE
    with open(second, newline="") as file:
        named = list(csv.DictReader(file))
    assert [(row["time_ns"], row["op"], row["offset"], row["bytes"], row["pid"], row["comm"]) for row in named] == \
        [("0", "write", "512", "4096", "7", "a b]c"), ("5", "flush", "0", "0", "7", "a b]c"),
         ("9", "write-zeroes", "8192", "65536", "8", "dd")]


def test_names_of_processes_have_fifteen_characters(tmp_path):
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("op,offset,bytes,comm\nwrite,0,512,0123456789abcdefgh\nwrite,0,512,0123456789abcde\n")
    assert alignctl("record", "--convert", first, "--output", second, "--format", "csv").returncode == FINE
    with open(second, newline="") as file:
        assert [row["comm"] for row in csv.DictReader(file)] == 2 * ["0123456789abcde"]
    page = (REPO / "Documentation/man/alignctl.8").read_text()
    formats = page.split(".SH TRACE FORMATS")[1].split("\n.SH ")[0]
    assert re.search(r"\n\.I comm\nhas 15 bytes at most", formats)


def test_a_source_that_is_no_trace_leaves_no_file(tmp_path):
    (tmp_path / "text").write_text("once upon a time\n")
    done = alignctl("record", "--convert", tmp_path / "text", "--output", tmp_path / "new")
    assert done.returncode == USAGE and "text" in done.stderr
    assert os.listdir(tmp_path) == ["text"]


def test_every_member_of_the_json_is_documented():
    source = (REPO / "userspace/alignctl/record/report.c").read_text()
    page = man_page()
    section = page.split(".SH JSON OF RECORD")[1].split("\n.SH ")[0]
    for member in re.findall(r'json_add\w*\(\w+, (?:record,\s+)?"(\w+)"', source):
        assert re.search(rf"\b{member}\b", section), f"{member} is not in alignctl.8"


def test_a_recording_that_was_cut_short_is_not_written_over(tmp_path):
    (tmp_path / "t").write_text("op,offset,bytes\nwrite,0,4096\n")
    (tmp_path / "r.new").write_bytes(b"precious")
    failed = alignctl("record", "--convert", tmp_path / "t", "--output", tmp_path / "r")
    assert failed.returncode == USAGE and "r.new: exists" in failed.stderr and "cut short" in failed.stderr
    assert (tmp_path / "r.new").read_bytes() == b"precious" and not (tmp_path / "r").exists()
