# SPDX-License-Identifier: GPL-2.0
"""What attach refuses and says before it makes a device. No device-mapper is needed."""

import os
import re
import shutil
import signal
import stat
import subprocess
import time
import zlib
from pathlib import Path

import pytest

from alignctl_program import ALIGNCTL, alignctl
from audited import BRIDGE, Machine, keep_probed
from lab.pace import patience

FINE, FINDINGS, USAGE, IO, BUSY = range(5)


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
    failed = alignctl("attach", loop, "--physical", "4K", "--offset", "4096")
    assert failed.returncode == USAGE
    assert "less than physical_block_size" in failed.stderr and "--physical and --offset" in failed.stderr
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


def test_a_device_that_another_one_maps_meanwhile_is_not_attached(loop, tmp_path, mapper):
    """Devices of device-mapper share what is below them, so O_EXCL keeps none of them out between the check and the table:
    LVM may activate a volume there."""
    machine = Machine(tmp_path / "machine")
    number = os.stat(loop).st_rdev
    disk = machine.disk("sde", (os.major(number), os.minor(number)))
    # the new device itself, and the one that came
    for name, dm in (("dm-0", "align-sde"), ("dm-7", "vg-root")):
        machine.disk(name, (253, int(name[3:])), parent="virtual/block", slaves=["sde"], dm__name=dm)
    log = tmp_path / "log"
    refused = alignctl("attach", loop, env={**os.environ, "ALIGNCTL_SYSROOT": str(machine.root), "LD_PRELOAD": str(mapper),
                                            "MAPPERHOOK": str(log)})
    assert refused.returncode == BUSY
    assert f"align-{disk.name}: not made, as dm-7 (vg-root) uses the device below, too" in refused.stderr
    assert log.read_text().split() == ["create", "load", "remove"]


def attach_online(loop, root, swapper, log, **environment):
    """Attach a linear device in use, which is the loop device on a made-up machine."""
    machine = Machine(root)
    machine.disk("sda", (8, 0))
    number = os.stat(loop).st_rdev
    machine.disk("dm-0", (os.major(number), os.minor(number)), parent="virtual/block", dm__name="first")
    # the same device by its number, once it is renamed
    machine.disk("dm-9", (253, 0), parent="virtual/block", dm__name="second")
    return alignctl("attach", "--online", loop, env={**os.environ, "ALIGNCTL_SYSROOT": str(machine.root),
                                                     "LD_PRELOAD": str(swapper), "SWAPHOOK": str(log), **environment})


def test_a_device_that_is_renamed_while_it_is_suspended_goes_on(loop, tmp_path, swapper):
    """Its old name would then mean no device, and nothing would resume this one."""
    done = attach_online(loop, tmp_path / "machine", swapper, tmp_path / "log")
    assert (tmp_path / "log").read_text().split() == ["load", "suspend", "resume", "(live)", "align"], done.stderr
    assert done.returncode == FINE and "/dev/mapper/second: on /dev/sda, mode report" in done.stdout


def test_a_device_that_cannot_be_resumed_is_named_as_it_is_called_now(loop, tmp_path, swapper):
    """The command that is advised would not find it by its old name."""
    done = attach_online(loop, tmp_path / "machine", swapper, tmp_path / "log", SWAPHOOK_NO_RESUME="1")
    assert (tmp_path / "log").read_text().split() == ["load", "suspend", "resume", "clear", "resume", "(suspended)", "linear"]
    assert done.returncode == IO and done.stderr.startswith("alignctl: second: stays suspended, ")
    assert done.stderr.endswith("; try 'dmsetup resume second'\n")


def test_a_message_reaches_a_device_that_is_renamed_after_it_was_read(tmp_path, swapper):
    """Not the device that has the name then. An experiment with its modes may last hours."""
    machine = Machine(tmp_path / "machine")
    machine.disk("sda", (8, 0))
    machine.disk("dm-0", (253, 0), parent="virtual/block", dm__name="second")
    log = tmp_path / "log"
    done = alignctl("set", "first", "--mode", "report", env={
        **os.environ, "ALIGNCTL_SYSROOT": str(machine.root), "LD_PRELOAD": str(swapper), "SWAPHOOK": str(log),
        "SWAPHOOK_ALIGN": "1"})
    assert (done.returncode, log.read_text().split()) == (FINE, ["message", "(live)", "align"]), done.stderr


@pytest.mark.parametrize("left, way_out", [("suspended", "dmsetup clear first && dmsetup resume first"),
                                           ("loaded", "dmsetup clear first")])
def test_what_a_killed_program_has_left_is_undone_by_what_the_refusal_says(loop, tmp_path, swapper, left, way_out):
    """A resume alone would take the loaded table, though what is held could not be written."""
    refused = attach_online(loop, tmp_path / "machine", swapper, tmp_path / "log", SWAPHOOK_LEFT=left)
    assert refused.returncode == BUSY and refused.stderr.endswith(f": {way_out}\n")
    assert (tmp_path / "log").read_text().split() == ["(suspended)" if left == "suspended" else "(live)", "linear"]


def physical_volume(path):
    """Write the label of a physical volume of LVM, without metadata, as pvcreate does."""
    label = bytearray(512)
    label[:8], label[8:16], label[20:24], label[24:32] = b"LABELONE", (1).to_bytes(8, "little"), bytes([32, 0, 0, 0]), b"LVM2 001"
    label[32:64], label[64:72] = b"0123456789abcdefghijklmnopqrstuv", (8 << 20).to_bytes(8, "little")
    label[72:80] = (1 << 20).to_bytes(8, "little")
    # the CRC of LVM begins with another number than zlib's, and is not inverted
    label[16:20] = (zlib.crc32(label[20:], 0xf597a6cf ^ 0xffffffff) ^ 0xffffffff).to_bytes(4, "little")
    with open(path, "r+b") as device:
        device.seek(512)
        device.write(label)


@pytest.mark.parametrize("name, hidden, seen", [
    ("md1", ["md1", "md1p1", "md1p12"], ["md10", "md127", "md127p1", "md"]),
    ("nvme0n1", ["nvme0n1", "nvme0n1p3"], ["nvme0n12", "nvme0n12p3"]),
    ("sda", ["sda", "sda1", "sda12"], ["sdaa", "sdap1"]),
])
def test_the_filter_for_lvm_hides_a_device_with_its_partitions_and_no_other_one(loop, tmp_path, mapper, name, hidden, seen):
    physical_volume(loop)
    machine = Machine(tmp_path / "machine")
    number = os.stat(loop).st_rdev
    machine.disk(name, (os.major(number), os.minor(number)))
    done = alignctl("attach", loop, env={**os.environ, "ALIGNCTL_SYSROOT": str(machine.root), "LD_PRELOAD": str(mapper),
                                         "MAPPERHOOK": str(tmp_path / "log")})
    [pattern] = re.findall(r'global_filter = \[ "r\|(.*?)\|" \]', done.stderr)
    pattern = re.compile(pattern)
    assert all(pattern.match(f"/dev/{each}") for each in hidden) and not any(pattern.match(f"/dev/{each}") for each in seen)


@pytest.mark.skipif(not shutil.which("lvm"), reason="no LVM")
def test_lvm_takes_the_filter_for_a_device_of_any_name(loop, tmp_path, mapper):
    """With one that it cannot parse it activates no group at all, at the next boot neither."""
    physical_volume(loop)
    machine = Machine(tmp_path / "machine")
    number = os.stat(loop).st_rdev
    machine.disk("dm-0", (os.major(number), os.minor(number)), parent="virtual/block", dm__name="my\\x20#disk")
    done = alignctl("attach", loop, env={**os.environ, "ALIGNCTL_SYSROOT": str(machine.root), "LD_PRELOAD": str(mapper),
                                         "MAPPERHOOK": str(tmp_path / "log")})
    [pattern] = re.findall(r'global_filter = \[ "r\|(.*?)\|" \]', done.stderr)
    assert re.match(pattern, "/dev/mapper/my\\x20#disk") and not re.match(pattern, "/dev/mapper/my\\x20#disk1")
    [line] = re.findall(r"devices \{.*\}", done.stderr)
    taken = subprocess.run(["lvm", "pvs", "--config", line], text=True, capture_output=True, check=False, timeout=patience(60))
    assert "regex" not in taken.stderr and taken.returncode == 0


@pytest.mark.parametrize("parent, warned", [("platform/host3/session1/target3:0:0", True), ("pci0/ata1", False)])
def test_a_line_for_a_disk_of_the_network_is_warned_of(loop, tmp_path, mapper, parent, warned):
    """The boot waits for it before the network is up. The line is taken back, as there is no device-mapper here."""
    machine = Machine(tmp_path / "machine")
    number = os.stat(loop).st_rdev
    machine.disk(loop.name, (os.major(number), os.minor(number)), parent=parent)
    (machine.root / "etc").mkdir()
    done = alignctl("attach", loop, "--persist", env={**os.environ, "ALIGNCTL_SYSROOT": str(machine.root),
                                                      "LD_PRELOAD": str(mapper), "MAPPERHOOK": str(tmp_path / "log")})
    said = f"{loop.name} is reached through an iSCSI session; if that needs this machine's network, add _netdev to the line"
    assert (said in done.stderr) == warned


def partitioned(root, mapper, kpartx, name="align-sda", **partition):
    """A machine with an attached disk that has a mounted partition; return it and the environment of alignctl, where kpartx
    only notes that it is run."""
    machine = Machine(root)
    machine.disk("sda", (8, 0))
    machine.disk("dm-0", (253, 0), parent="virtual/block", slaves=["sda"], dm__name=name, dm__uuid="ALIGN-1")
    machine.disk("dm-1", (253, 1), parent="virtual/block", slaves=["dm-0"], dm__name="align-sda1", dm__uuid="part1-ALIGN-1",
                 **partition)
    (machine.root / "proc/self/mountinfo").write_text("22 1 253:1 / /srv rw - xfs /dev/mapper/align-sda1 rw\n")
    (machine.root / "etc").mkdir()
    (machine.root / "etc/aligntab").write_text(f"{name} /dev/none\n")
    program = kpartx / "bin/kpartx"
    program.parent.mkdir()
    # -l lists what -a would map; it changes nothing
    program.write_text(f'#!/bin/sh\n[ $1 != -l ] || exec cat {kpartx / "listed"}\necho kpartx "$@" >>{kpartx / "log"}\n')
    program.chmod(0o755)
    return machine, {**os.environ, "ALIGNCTL_SYSROOT": str(machine.root), "LD_PRELOAD": str(mapper),
                     "MAPPERHOOK": str(kpartx / "log"), "MAPPERHOOK_OPEN": "1",
                     "PATH": f"{program.parent}:{os.environ['PATH']}"}


@pytest.mark.parametrize("partition_open", [False, True])
def test_a_refused_detach_leaves_the_partitions_mapped(tmp_path, mapper, partition_open):
    """
    kpartx unmaps those that are not open before it is known whether the device is free. Where one is open it is not run: it
    would map that one anew, too, by a partition table that may have been changed meanwhile.
    """
    _, environment = partitioned(tmp_path / "machine", mapper, tmp_path)
    refused = alignctl("detach", "align-sda", env={**environment, "MAPPERHOOK_OPEN_1": str(int(partition_open))})
    assert refused.returncode == BUSY and "dm-1 (align-sda1) is mounted on /srv" in refused.stderr
    log = tmp_path / "log"
    run = [] if partition_open else ["kpartx -d -s /dev/mapper/align-sda", "kpartx -a -s /dev/mapper/align-sda"]
    assert (log.read_text().splitlines() if log.exists() else []) == run


@pytest.fixture
def node():
    """The name of a node below /dev/mapper, which is a file with a partition table."""
    path = Path("/dev/mapper", f"align-{os.getpid()}")
    if os.geteuid() or not path.parent.is_dir():
        pytest.skip("nodes of device-mapper need root and /dev/mapper")
    path.write_bytes(bytes(446) + bytes([0, 0, 2, 0, 0x83, 0, 3, 0, 8, 0, 0, 0, 16, 0, 0, 0]) + bytes(48) + b"\x55\xaa" +
                     bytes(1 << 20))
    yield path.name
    path.unlink()


@pytest.mark.parametrize("partition_open", [False, True])
def test_the_partitions_of_an_attached_disk_are_not_mapped_anew_while_one_is_open(tmp_path, mapper, node, partition_open):
    """A partition table that was changed meanwhile would move a mounted file system. Those that it has besides are named."""
    _, environment = partitioned(tmp_path / "machine", mapper, tmp_path, node)
    log = tmp_path / "log"
    for nr in (1, 3):
        (tmp_path / "listed").write_text("GPT:Primary header thinks Alt. header is not at the end of the disk.\n" + "".join(
            f"{node}p{number} : 0 16 /dev/mapper/{node} {number * 16}\n" for number in range(1, nr + 1)))
        log.unlink(missing_ok=True)
        done = alignctl("attach", "--tab", node, env={**environment, "MAPPERHOOK_OPEN_1": str(int(partition_open))})
        said = f"{node}: 2 of its 3 partitions are not mapped, as align-sda1 is open; close that one, then " \
            f"'kpartx -a /dev/mapper/{node}'"
        assert done.returncode == FINE and (said in done.stderr if partition_open and nr == 3 else not done.stderr)
    assert (log.read_text() if log.exists() else "") == ("" if partition_open else f"kpartx -a -s /dev/mapper/{node}\n")


@pytest.mark.parametrize("words, status", [(["detach", "align-sda"], BUSY), (["attach", "--tab", "align-sda"], FINE)])
def test_a_partition_that_is_an_align_device_stays_one(tmp_path, mapper, words, status):
    """kpartx -a loads the tables of all partitions anew, as linear: what could not be written would be lost."""
    _, environment = partitioned(tmp_path / "machine", mapper, tmp_path, align__epoch=1)
    done = alignctl(*words, env=environment)
    assert done.returncode == status and not (tmp_path / "log").exists()
    assert "align-sda1 is an align device, too, which kpartx would make linear; first: alignctl detach align-sda1" in done.stderr


@pytest.mark.parametrize("name, flags", [("sde", os.O_RDONLY), ("sde", os.O_RDWR), ("nbd0", os.O_RDWR)])
def test_a_program_that_writes_beside_the_new_device_is_named(loop, tmp_path, mapper, name, flags):
    """O_EXCL does not see it: a virtual machine whose disk this is, say. The client of an nbd device is none."""
    machine = Machine(tmp_path / "machine")
    number = os.stat(loop).st_rdev
    machine.disk(name, (os.major(number), os.minor(number)))
    held = os.open(loop, flags)
    try:
        done = alignctl("attach", loop, env={**os.environ, "ALIGNCTL_SYSROOT": str(machine.root), "LD_PRELOAD": str(mapper),
                                             "MAPPERHOOK": str(tmp_path / "log")})
    finally:
        os.close(held)
    said = f"{loop}: process {os.getpid()} ("
    assert (said in done.stderr and "bypasses the new device" in done.stderr) == (
        name == "sde" and flags == os.O_RDWR)


@pytest.mark.parametrize("name", ["my disk", "my\\x20disk"])
def test_a_device_is_detached_for_good_by_either_form_of_its_name(tmp_path, mapper, name):
    """list has the kernel's form; a line that stayed would attach the device again."""
    machine = Machine(tmp_path / "machine")
    machine.disk("sda", (8, 0))
    machine.disk("dm-0", (253, 0), parent="virtual/block", slaves=["sda"], dm__name="my\\x20disk", dm__uuid="ALIGN-1")
    tab = machine.root / "etc/aligntab"
    tab.parent.mkdir()
    tab.write_text("my\\040disk /dev/none\nother /dev/none2\n")
    log = tmp_path / "log"
    done = alignctl("detach", name, "--persist", env={
        **os.environ, "ALIGNCTL_SYSROOT": str(machine.root), "LD_PRELOAD": str(mapper), "MAPPERHOOK": str(log),
        "MAPPERHOOK_OPEN": "0"})
    assert done.returncode == FINE and log.read_text().split() == ["remove"], done.stderr
    assert tab.read_text() == "other /dev/none2\n"


def test_the_node_of_a_new_device_and_the_line_of_a_link_are_names_that_stay(loop, tmp_path, mapper):
    """The kernel has another form of an unusual name; udev does not hide what a path outside of /dev means."""
    machine = Machine(tmp_path / "machine")
    number = os.stat(loop).st_rdev
    machine.disk(loop.name, (os.major(number), os.minor(number)))
    machine.disk("dm-0", (253, 0), parent="virtual/block", dm__name="my\\x20disk", dm__uuid="ALIGN-1")
    (machine.root / "etc").mkdir()
    link = tmp_path / "link"
    link.symlink_to(loop)
    for path in (link, os.path.relpath(loop)):
        done = alignctl("attach", path, "--persist", "--name", "my disk", env={
            **os.environ, "ALIGNCTL_SYSROOT": str(machine.root), "LD_PRELOAD": str(mapper), "MAPPERHOOK": str(tmp_path / "log"),
            "MAPPERHOOK_MADE": "1"})
        assert done.returncode == FINE and f"/dev/mapper/my\\x20disk: on {loop}, mode report" in done.stdout, done.stderr
        tab = machine.root / "etc/aligntab"
        [line] = tab.read_text().splitlines()[1:]
        assert line.startswith(f"my\\040disk {loop} claimed=")
        tab.unlink()


def test_a_signal_does_not_end_a_detach_for_good_behind_its_first_step(loop, tmp_path, mapper):
    """It comes while alignctl waits for udev: LVM and md would go on without the device, and a second try finds no line."""
    with open(loop, "r+b") as member:
        member.seek(4096)
        member.write(bytes.fromhex("fc4e2ba9") + (1).to_bytes(4, "little") + bytes(136) + (8).to_bytes(8, "little"))
    machine = Machine(tmp_path / "machine")
    number = os.stat(loop).st_rdev
    machine.disk(loop.name, (os.major(number), os.minor(number)))
    (machine.root / "etc").mkdir()
    (machine.root / "etc/aligntab").write_text(f"kept {loop}\n")
    log = tmp_path / "log"
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, does in (("udevadm", "kill -TERM $PPID"), ("mdadm", f'echo mdadm "$@" >>{log}')):
        (programs / name).write_text(f"#!/bin/sh\n{does}\n")
        (programs / name).chmod(0o755)
    ended = alignctl("detach", "kept", "--persist", env={
        **os.environ, "ALIGNCTL_SYSROOT": str(machine.root), "LD_PRELOAD": str(mapper), "MAPPERHOOK": str(log),
        "PATH": f"{programs}:{os.environ['PATH']}"})
    assert ended.returncode == -signal.SIGTERM and (machine.root / "etc/aligntab").read_text() == ""
    assert log.read_text().splitlines() == ["mdadm --version", "mdadm --examine --scan --verbose"]


def persist(loop, machine, mapper, log, name="new"):
    """Attach a device with --persist on a made-up machine."""
    return alignctl("attach", loop, "--persist", "--name", name, env={
        **os.environ, "ALIGNCTL_SYSROOT": str(machine.root), "LD_PRELOAD": str(mapper), "MAPPERHOOK": str(log),
        "MAPPERHOOK_MADE": "1"})


def test_a_line_whose_unit_would_have_too_long_a_name_is_not_added(loop, tmp_path, mapper):
    """The device would be hidden, and no unit would attach it."""
    machine = Machine(tmp_path / "machine")
    number = os.stat(loop).st_rdev
    machine.disk(loop.name, (os.major(number), os.minor(number)))
    machine.disk("dm-0", (253, 0), parent="virtual/block", dm__name="new", dm__uuid="ALIGN-2")
    (machine.root / "etc").mkdir()
    refused = persist(loop, machine, mapper, tmp_path / "log", "a" + 61 * "-")
    assert refused.returncode == USAGE and "too long for a unit of systemd; give a shorter --name" in refused.stderr
    assert not (machine.root / "etc/aligntab").exists()
    assert persist(loop, machine, mapper, tmp_path / "log", "a" + 60 * "-").returncode == FINE


@pytest.mark.parametrize("uuid, kept", [("ALIGN-1", False), ("part1-ALIGN-1", False), ("LVM-1", True), ("part1-mpath-1", True)])
def test_a_line_that_could_not_mean_its_device_is_not_added(loop, tmp_path, mapper, uuid, kept):
    """The next boot would wait for it in vain."""
    machine = Machine(tmp_path / "machine")
    number = os.stat(loop).st_rdev
    machine.disk(loop.name, (os.major(number), os.minor(number)), parent="virtual/block", dm__name="below", dm__uuid=uuid)
    machine.disk("dm-0", (253, 0), parent="virtual/block", dm__name="new", dm__uuid="ALIGN-2")
    tab = machine.root / "etc/aligntab"
    tab.parent.mkdir()
    done = persist(loop, machine, mapper, tmp_path / "log")
    assert (done.returncode, tab.exists()) == ((FINE, True) if kept else (USAGE, False)), done.stderr
    assert kept or "so no line of /etc/aligntab can mean it; leave out --persist" in done.stderr


@pytest.mark.parametrize("given", ["disk", "partition"])
def test_a_disk_and_its_partition_have_no_line_each(loop, tmp_path, mapper, given):
    """The boot attaches either of them, and the other one not."""
    machine = Machine(tmp_path / "machine")
    number = os.stat(loop).st_rdev
    number = (os.major(number), os.minor(number))
    disk, partition = (loop.name, "sde1") if given == "disk" else ("sde", loop.name)
    machine.disk(disk, number if given == "disk" else (8, 64))
    machine.device(partition, (8, 65) if given == "disk" else number, parent=f"pci0/{disk}", bytes_=8 << 20, partition=1,
                   start=2048)
    machine.device("sde2", (8, 66), parent=f"pci0/{disk}", bytes_=8 << 20, partition=2, start=20480)
    machine.disk("dm-0", (253, 0), parent="virtual/block", dm__name="new", dm__uuid="ALIGN-2")
    nodes = [tmp_path / "other", tmp_path / "apart"]
    for node, minor in zip(nodes, (65 if given == "disk" else 64, 66), strict=True):
        os.mknod(node, 0o600 | stat.S_IFBLK, os.makedev(8, minor))
    tab = machine.root / "etc/aligntab"
    tab.parent.mkdir()
    tab.write_text(f"there {nodes[0]}\n")
    refused = persist(loop, machine, mapper, tmp_path / "log")
    assert refused.returncode == BUSY and tab.read_text() == f"there {nodes[0]}\n"
    assert f"line 1 of /etc/aligntab attaches {nodes[0]} as there, and one lies on the other" in refused.stderr
    if given == "partition":
        tab.write_text(f"there {nodes[1]}\n")
        assert persist(loop, machine, mapper, tmp_path / "log").returncode == FINE


def without_reader(*words, **environment):
    """Run alignctl with a standard error whose reader has ended."""
    end, broken = os.pipe()
    os.close(end)
    try:
        done = subprocess.run([ALIGNCTL, *words], stderr=broken, stdout=subprocess.PIPE, timeout=patience(60), check=False,
                              env={**os.environ, **environment})
    finally:
        os.close(broken)
    assert done.returncode == -signal.SIGPIPE


def test_a_reader_that_ends_does_not_end_a_refused_detach_halfway(tmp_path, mapper):
    _, environment = partitioned(tmp_path / "machine", mapper, tmp_path)
    without_reader("detach", "align-sda", **environment)
    assert [line.split()[1] for line in (tmp_path / "log").read_text().splitlines()] == ["-d", "-a"]


@pytest.mark.parametrize("ignored", [False, True])
def test_a_signal_that_comes_while_the_partitions_are_unmapped_maps_them_again(tmp_path, mapper, ignored):
    """The disk is free then, and stays attached. One that is ignored, as SIGHUP of nohup, does not end the detach."""
    _, environment = partitioned(tmp_path / "machine", mapper, tmp_path)
    closed = tmp_path / "closed"
    program = tmp_path / "bin/kpartx"
    program.write_text(f"{program.read_text()}[ $1 != -d ] || {{ touch {closed}; kill -HUP $PPID; }}\n")
    done = subprocess.run([*(["nohup"] if ignored else []), ALIGNCTL, "detach", "align-sda"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=patience(60), check=False,
                          env={**environment, "MAPPERHOOK_CLOSED": str(closed)})
    steps = [line.split()[0:2] for line in (tmp_path / "log").read_text().splitlines()]
    if ignored:
        assert (done.returncode, steps) == (FINE, [["kpartx", "-d"], ["remove"]]), done.stderr
    else:
        assert (done.returncode, steps) == (-signal.SIGHUP, [["kpartx", "-d"], ["kpartx", "-a"]]), done.stderr


def test_a_signal_ends_the_wait_for_a_program_that_has_the_device_open(tmp_path, mapper):
    """At once, and not after the five seconds of the wait, with its refusal."""
    machine = Machine(tmp_path / "machine")
    machine.disk("sda", (8, 0))
    machine.disk("dm-0", (253, 0), parent="virtual/block", slaves=["sda"], dm__name="align-sda", dm__uuid="ALIGN-1")
    with subprocess.Popen([ALIGNCTL, "detach", "align-sda"], stderr=subprocess.PIPE, text=True, env={
            **os.environ, "ALIGNCTL_SYSROOT": str(machine.root), "LD_PRELOAD": str(mapper), "MAPPERHOOK_OPEN": "1"}) as waiting:
        time.sleep(0.3)
        waiting.terminate()
        said = waiting.communicate(timeout=patience(60))[1]
    assert (waiting.returncode, said) == (-signal.SIGTERM, "")


def test_a_reader_that_ends_does_not_end_a_change_halfway(loop, tmp_path, mapper):
    """As tee does at Ctrl-C: the next message would end alignctl, with the line and without the device, which is hidden."""
    machine = Machine(tmp_path / "machine")
    number = os.stat(loop).st_rdev
    machine.disk(loop.name, (os.major(number), os.minor(number)), parent="platform/host3/session1/target3:0:0")
    machine.disk("dm-0", (253, 0), parent="virtual/block", slaves=[loop.name], dm__name="new", dm__uuid="ALIGN-2")
    (machine.root / "etc").mkdir()
    log = tmp_path / "log"

    def attach():
        without_reader("attach", loop, "--persist", "--name", "new", ALIGNCTL_SYSROOT=str(machine.root), LD_PRELOAD=str(mapper),
                       MAPPERHOOK=str(log), MAPPERHOOK_MADE="1")
        return log.read_text().split()

    assert attach() == ["create", "load", "resume"]
    tab = machine.root / "etc/aligntab"
    assert "new " in tab.read_text()
    # refused for another user of the device below, which has come meanwhile
    machine.disk("dm-7", (253, 7), parent="virtual/block", slaves=[loop.name], dm__name="vg-root")
    tab.unlink()
    log.unlink()
    assert attach() == ["create", "load", "remove"] and not tab.exists()
