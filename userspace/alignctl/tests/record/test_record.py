# SPDX-License-Identifier: GPL-2.0
"""alignctl record as its user meets it: usage and errors. What needs a kernel is in kmod/tests/guest."""

import json
import os
import re
import subprocess

import pytest

from alignctl_program import another_medium, keys
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
    ([], ["needs DEV"]),
    (["/dev/none"], ["--output FILE is needed"]),
    (["/dev/none", "--output", "{new}"], ["/dev/none", "No such file"]),
    (["/dev/null", "--output", "{new}"], ["/dev/null", "neither a block device"]),
    (["{old}", "--output", "{new}"], ["{old}", "regular file", "losetup"]),
    (["/dev/none", "--output", "{old}"], ["{old}", "not overwritten"]),
    (["/dev/none", "more", "--output", "{new}"], ["unexpected argument 'more'"]),
    (["/dev/none", "--output", "{new}", "--"], ["command missing after --"]),
    (["/dev/none", "--output", "{new}", "--format", "xml"], ["--format xml", "recording, fio or csv"]),
    (["/dev/none", "--output", "{new}", "--seconds", "0"], ["--seconds 0", "from 1 to 4294967295"]),
    (["/dev/none", "--output", "{new}", "--count", "many"], ["--count many", "whole number, at least 1"]),
    (["--requests", "5", "/dev/none", "--output", "{new}"], ["record --requests 5 is now: --count 5\n"]),
    (["/dev/none", "--output", "{new}", "--requests=2K"], ["record --requests 2K is now: --count 2K\n"]),
    (["/dev/none", "--output", "{new}", "--buffer", "8G"], ["--buffer 8G", "from 1 to 4294967295"]),
    (["/dev/none", "--output", "{new}", "--seconds", "4G"], ["--seconds 4G", "from 1 to 4294967295"]),
    (["/dev/none", "--output", "-"], ['--output "-"', "must name a file, not standard output\n"]),
    (["/dev/none", "--output", ""], ['--output ""', "must name a file, not standard output\n"]),
    (["--convert", "{old}"], ["record --convert is now the verb convert, which needs --output"]),
    (["--convert={old}", "--output={new}", "--format", "csv"],
     ["record --convert is now: alignctl convert {old} --output {new} --to csv\n"]),
    (["/dev/none", "--output", "{new}", "--convert", "{old}", "--json", "--", "true"],
     ["record --convert is now: alignctl convert {old} --output {new} --to recording\n"]),
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


def test_what_has_no_requests_of_its_own_is_refused(machine, tmp_path):
    """The disk of this machine has no queues, as a device that is made of others."""
    root, node = machine
    done = alignctl("record", "--requests", node, "--output", tmp_path / "new", sysroot=root)
    assert done.returncode == USAGE and not (tmp_path / "new").exists()
    assert f"{node}: a stacked device has no requests of its own; leave out --requests, " \
        "or name a disk below it\n" in done.stderr


def test_a_kernel_without_btf_is_refused_for_requests_only(machine, tmp_path):
    root, node = machine
    (root / "sys/devices/virtual/block/loop3/mq").mkdir()
    (root / "sys/kernel/tracing/instances").mkdir(parents=True)
    done = alignctl("record", "--requests", node, "--output", tmp_path / "new", sysroot=root)
    assert done.returncode == IO and not (tmp_path / "new").exists() and not os.listdir(root / "sys/kernel/tracing/instances")
    assert "/sys/kernel/btf/vmlinux: No such file or directory; record --requests needs CONFIG_DEBUG_INFO_BTF, " \
        "record alone does not\n" in done.stderr


def test_a_file_is_refused_as_without_requests(tmp_path):
    (tmp_path / "5").touch()
    done = alignctl("record", "--requests", "5", "--output", tmp_path / "new", cwd=tmp_path)
    assert done.returncode == USAGE and "5: is a regular file" in done.stderr and "--count" not in done.stderr


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


def test_every_member_of_the_json_is_in_the_schema():
    """The document itself needs root, and tracefs; kmod/tests/guest/test_record.py sees it."""
    sources = [(REPO / "userspace/alignctl/record" / name).read_text() for name in ("report.c", "shapes_report.c")]
    known = set(keys(json.loads(alignctl("record", "--json-schema").stdout)))
    members = re.findall(r'json_add\w*\(\w+, (?:record,\s+)?"(\w+)"|\.key = "(\w+)"', "".join(sources))
    assert len(members) > 60
    assert not {"".join(pair) for pair in members} - known


def traced(*command, mounts=""):
    """Run a command where tracefs is mounted, behind other commands of the shell. Skips where the kernel has no tracing."""
    mounted = "mount -t tracefs tracefs /sys/kernel/tracing && "
    if subprocess.run(["unshare", "-m", "sh", "-c", f"{mounted}test -d /sys/kernel/tracing/events/block"], capture_output=True,
                      timeout=patience(20), check=False).returncode:
        pytest.skip("no tracefs with events of block devices")
    return subprocess.run(["unshare", "-m", "sh", "-c", f'{mounted}{mounts}"$@"', "sh", *command], text=True,
                          capture_output=True, timeout=patience(60), check=False)


def test_another_disk_with_the_same_number_is_told(disk, own_loop, tmp_path):
    """As after a disk was removed, and another one plugged in."""
    done = traced(ALIGNCTL, "record", own_loop, "--output", tmp_path / "trace", "--", "sh", "-c", another_medium(own_loop, disk))
    assert done.returncode == FINDINGS
    assert done.stderr == (f"alignctl: {own_loop}: another disk or medium has its number, whose requests may be in "
                           f"{tmp_path}/trace, too\n")


def test_a_buffer_that_is_too_large_is_named_by_its_option(loop, tmp_path):
    done = traced(ALIGNCTL, "record", loop, "--output", tmp_path / "trace", "--buffer", "4294967295", "--seconds", "1")
    assert done.returncode == IO and not list(tmp_path.glob("trace*"))
    assert "/buffer_size_kb: the kernel refuses '4294967295': Cannot allocate memory; give a smaller --buffer" in done.stderr


@pytest.mark.parametrize("form", ["recording", "csv"])
def test_a_full_disk_leaves_what_was_recorded_before(loop, tmp_path, form):
    (tmp_path / "small").mkdir()
    trace = tmp_path / "small/trace"
    # a recording has two bytes for a write, and is written each second
    write = f"dd if=/dev/zero of={loop} bs=512 count={{}} oflag=direct status=none; sleep 1.2"
    done = traced("sh", "-c", f"{ALIGNCTL} record {loop} --output {trace} --format {form} -- sh -c '{write.format(1500)}; "
                              f"{write.format(20000)}'; echo $?; ls {trace}*; {ALIGNCTL} plan {trace}.new --json",
                  mounts=f"mount -t tmpfs -o size=64k tmpfs {tmp_path}/small && ")
    status, name, document = done.stdout.split("\n", 2)
    assert (int(status), name) == (IO, f"{trace}.new"), done.stderr
    said = done.stderr.splitlines()
    assert said[0] == f"alignctl: {trace}: cannot be written: No space left on device"
    kept = int(re.fullmatch(r"alignctl: .*/trace.new: has the first (\d+) requests; plan, replay and convert can read it",
                            said[1])[1])
    assert 1000 <= kept < 21500 and sum(
        each["requests"] for each in json.loads(document)["requests"].values()) == kept
