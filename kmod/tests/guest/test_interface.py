# SPDX-License-Identifier: GPL-2.0
"""Table lines, messages, sysfs, and loading and unloading of the module."""

import contextlib
import errno
import fcntl
import os
import random
import re
import threading
import time

import pytest

from lab.pace import Limit
from rig import control
from rig.control import Refused
from rig.direct import Disk, pattern
from rig.dm import Align, Device, alignment_offset, features, number_of, sectors_of
from rig.rig import HOSTILE_LIMIT

SG_GET_VERSION_NUM = 0x2282
SG_IO = 0x2285		# with a zeroed argument, an invalid command

# The names, in the kernel's headers, of the commands that reach no sector.
HARMLESS_IOCTLS = {
    "HDIO_GET_IDENTITY": 0x030D, "NVME_IOCTL_ID": 0x4E40, "SCSI_IOCTL_GET_BUS_NUMBER": 0x5386, "SCSI_IOCTL_GET_IDLUN": 0x5382,
    "SCSI_IOCTL_PROBE_HOST": 0x5385, "SG_EMULATED_HOST": 0x2203, "SG_GET_RESERVED_SIZE": 0x2272, "SG_GET_TIMEOUT": 0x2202,
    "SG_GET_VERSION_NUM": SG_GET_VERSION_NUM, "SG_SET_RESERVED_SIZE": 0x2275, "SG_SET_TIMEOUT": 0x2201,
}

REFUSED_LINES = [
    # feature arguments, and the word that the reason must contain
    ("2 mode nonsense", "mode"),
    ("2 hold_ms 0", "hold_ms"),
    ("2 hold_ms 600001", "hold_ms"),
    ("2 hold_ms soon", "hold_ms"),
    ("2 physical_block_size 1000", "physical_block_size"),
    ("2 physical_block_size 2097152", "physical_block_size"),
    ("2 physical_block_size 256", "physical_block_size"),
    ("4 physical_block_size 4096 alignment_offset 4096", "alignment_offset"),
    ("4 physical_block_size 4096 alignment_offset 100", "alignment_offset"),
    ("2 max_blocks 0", "max_blocks"),
    ("2 max_blocks many", "max_blocks"),
    ("2 write_cache perhaps", "write_cache"),
    ("2 colour red", "colour"),
    ("1 mode", "argument"),
    ("4 mode pad", "argument"),
]


@pytest.mark.each_kernel
def test_a_bad_table_line_is_refused_with_the_reason(rig):
    drive = rig.drive("p4096")
    with Device("0 8192 zero") as device:
        for arguments, named in REFUSED_LINES:
            with rig.log() as log, pytest.raises(Refused):
                device.load(f"0 8192 align {drive.path} 0 {arguments}")
            assert named in reason(log.text), f"{arguments}: the reason does not name {named}: {log.text}"


def reason(text):
    """Return the target's message: the part of the log line after the target's name."""
    return " ".join(re.findall(r"align: (.*)", text))


def test_what_holding_is_told_is_taken_in_every_mode(rig):
    """The time is in the table line, and applies once the mode is entered; without failed blocks, none is dropped."""
    drive = rig.drive("p4096")
    for mode in ("report", "pad", "coalesce"):
        with Align(drive.path, mode=mode) as device:
            assert device.attribute("target0_hold_ms") == "500"
            for message in ("hold_ms 7", "drop_failed", "flush"):
                device.message(message)
            assert device.attribute("target0_hold_ms") == "7"
            assert device.table().endswith(features(mode=mode, hold_ms=7))
            for message in ("hold_ms 0", "hold_ms", "drop_failed all"):
                with rig.log() as log, pytest.raises(Refused):
                    device.message(message)
                assert message.split()[0] in reason(log.text), f"{message}: the log has: {log.text}"


@pytest.mark.each_kernel
def test_a_table_line_comes_back_as_it_was_given(rig):
    drive = rig.drive("p4096")
    options = {"mode": "coalesce", "physical_block_size": 8192, "alignment_offset": 512, "max_blocks": 7,
               "hold_ms": 1234, "write_cache": "on"}
    with Align(drive.path, start=16, length=8000, **options) as device:
        assert device.table() == f"0 8000 align {number_of(drive.path)} 16{features(**options)}"
        device.set_mode("report")
        device.message("max_blocks 9")
        device.message("hold_ms 600000")
        options.update(mode="report", max_blocks=9, hold_ms=600000)
        assert device.table() == f"0 8000 align {number_of(drive.path)} 16{features(**options)}"
    with Align(drive.path, start=16, length=8000) as device:
        device.reload(device.table().replace("linear", "align"))


@contextlib.contextmanager
def forked():
    """End a forked process after the block, with status 0 if the block raises nothing."""
    status = 1
    try:
        yield
        status = 0
    finally:
        os._exit(status)


@pytest.mark.two_processors
def test_a_table_line_is_whole_whatever_a_message_sets_meanwhile(rig):
    """
    The number of arguments in a table line matches the arguments. Several targets get each message for the first time,
    while another processor reads the table again and again; of some hundred messages, one or two arrive just when the
    target's own line is printed.
    """
    drive = rig.drive("p4096")
    options = features(mode="pad", physical_block_size=4096, alignment_offset=0)
    starts = range(0, 16 * 16, 16)
    torn = between = 0
    end, late = time.monotonic() + 3 * rig.seconds, Limit(60)
    while time.monotonic() < end or (not between and not late.over()):
        with Device(*(f"{start} 16 align {drive.path} {start}{options}" for start in starts)) as device:
            sender = os.fork()
            if not sender:
                with forked():
                    for start in starts:
                        control.message(device.name, "max_blocks 9", start)
                        control.message(device.name, "hold_ms 7", start)
            tables = control.tables_while(device.name, lambda sender=sender: not os.waitid(
                os.P_PID, sender, os.WEXITED | os.WNOHANG | os.WNOWAIT))
            assert os.waitpid(sender, 0)[1] == 0
        for table in tables:
            given = [(int(words[5]), len(words[6:])) for words in map(str.split, table)]
            between += len({number for number, _ in given}) > 1
            torn += sum(number != found for number, found in given)
    assert between, "no table was read between two messages: the test proves nothing"
    assert not torn, f"{torn} lines could not be loaded again"


@pytest.mark.each_kernel
def test_a_misaligned_device_is_reported_with_an_unknown_offset_and_not_padded(rig):
    """
    The kernel reports -1 for a device whose parts contradict each other, here by an optimal size that is no multiple of the
    other part's physical block; 6.12 forgets a contradiction of offsets.
    """
    drive = rig.drive("p4096")
    with rig.scsi_debug(sector_size=512, physblk_exp=0, opt_blks=1025) as other, \
            Device(f"0 8192 linear {drive.path} 0", f"8192 8192 linear {other} 0") as torn:
        assert alignment_offset(torn.path) == -1
        with Align(torn.path, mode="report") as device:
            assert device.attribute("target0_alignment_offset") == "unknown"
            assert device.pairs()[1]["alignment_offset"] == "unknown"
            with rig.log() as log, pytest.raises(Refused):
                device.set_mode("pad")
            assert "alignment_offset" in reason(log.text), log.text
        with Align(torn.path, mode="pad", physical_block_size=4096, alignment_offset=0):
            pass


def test_an_overridden_size_on_a_stacked_device_needs_the_offset_too(rig):
    drive = rig.drive("p4096")
    with Device(f"0 8192 linear {drive.path} 3") as below, Device("0 8192 zero") as device:
        with rig.log() as log, pytest.raises(Refused):
            device.load(f"0 8192 align {below.path} 0 2 physical_block_size 16384")
        assert "alignment_offset" in reason(log.text), log.text


def user_ioctl(fd, command):
    """Send the command as an ordinary user, which a process of its own becomes; return 0 or its errno."""
    child = os.fork()
    if not child:
        status = 255
        with contextlib.suppress(BaseException):
            os.seteuid(65534)		# which drops CAP_SYS_RAWIO
            try:
                fcntl.ioctl(fd, command, bytearray(88))
                status = 0
            except OSError as error:
                status = error.errno
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.each_kernel
def test_an_ioctl_that_touches_no_sector_writes_no_held_block_where_the_kernel_tells_the_command(rig):
    """The command passes to an ordinary user as through linear; SG_IO and unknown commands write first, and need root."""
    told = tuple(map(int, os.uname().release.split(".")[:2])) >= (6, 16)
    with rig.scsi_debug(physblk_exp=3) as path, Align(path, mode="coalesce", hold_ms=60000) as device, \
            Disk(device.path) as upper:
        sectors = iter(range(1, 800, 8))

        def held_after(command):
            """Hold a touch, send the command; return the blocks that are held then."""
            upper.write(next(sectors), pattern(1, 0, 2))
            before = device.counter("held_blocks")
            assert before > 0
            with contextlib.suppress(OSError):
                fcntl.ioctl(upper.fd, command, bytearray(88))
            after = device.counter("held_blocks")
            assert after in (0, before)
            return after

        for name, command in HARMLESS_IOCTLS.items():
            assert bool(held_after(command)) == told, name
        for name, command in {"SG_IO": SG_IO, "SG_SCSI_RESET": 0x2284, "unknown": 0x5A99}.items():
            assert held_after(command) == 0, name

        upper.write(next(sectors), pattern(1, 0, 2))
        assert user_ioctl(upper.fd, SG_GET_VERSION_NUM) == (0 if told else errno.ENOTTY)
        assert user_ioctl(upper.fd, SG_IO) == errno.ENOTTY
        assert device.counter("held_blocks") == 1


@pytest.mark.timeout(HOSTILE_LIMIT)
def test_hostile_table_lines_and_messages_are_refused_and_leave_nothing(rig):
    drive = rig.drive("p4096")
    rig.tool("dmioctl", "--lines", rig.hostile_lines, drive.path, timeout=HOSTILE_LIMIT)


@pytest.mark.check_all("sim/test_sim.py: files-outlive-node; in lives about files they are read all the time")
@pytest.mark.two_processors
def test_sysfs_can_be_read_while_devices_come_and_go(rig):
    """Thirty removals with two readers at every file; then an open file across a removal gives ENODEV."""
    drive = rig.drive("p4096")
    stop = threading.Event()
    seen, strange = set(), []
    wanted = {"rmw_expected", "target0_mode"}

    def read_all():
        while not stop.is_set():
            for folder in [f"/sys/block/{name}/align" for name in os.listdir("/sys/block") if name.startswith("dm-")]:
                try:
                    names = os.listdir(folder)
                    # A device is removed before all files are read, so vary the order.
                    random.shuffle(names)
                    for name in names:
                        with open(f"{folder}/{name}") as file:
                            file.read()
                        # Leave the processor to the creation and removal of devices.
                        time.sleep(0.002)
                        seen.add(name)
                except OSError as error:
                    if error.errno not in (errno.ENOENT, errno.ENODEV):
                        strange.append(error)

    readers = [threading.Thread(target=read_all) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        # Thirty devices, and more until chance has brought a reader to one file of each kind.
        late, rounds = Limit(30), 0
        while rounds < 30 or (not wanted <= seen and not late.over()):
            with Align(drive.path, mode="pad") as device, Disk(device.path) as upper:
                upper.write(3, pattern(1, 3, 2))
            rounds += 1
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert not strange, f"reading sysfs gave {strange}"
    assert wanted <= seen

    with Align(drive.path) as device:
        files = [path.open() for path in sorted(device.sysfs.iterdir())]
        assert all(os.pread(file.fileno(), 10, 0) for file in files)
    for file in files:
        with pytest.raises(OSError) as caught:
            os.pread(file.fileno(), 10, 0)
        assert caught.value.errno == errno.ENODEV, f"{file.name}: {caught.value}"
        file.close()


@pytest.mark.two_processors
def test_every_file_of_sysfs_holds_what_it_is_for_while_the_device_changes(rig):
    """An ordinary user reads all files in a tight loop, on one processor, while the other one changes the device."""
    drive = rig.drive("p4096")
    rounds, end = 0, time.monotonic() + rig.seconds
    with Align(drive.path, mode="pad") as device, rig.beside("sysfsread", device.sysfs):
        while time.monotonic() < end or rounds < 5:
            device.reload(device.line())
            for mode in ("report", "coalesce", "pad"):
                device.set_mode(mode)
            device.message("reset_stats")
            device.suspend()
            device.resume()
            device.reload(device.linear())
            device.reload(device.line())
            rounds += 1


@pytest.mark.each_kernel
def test_sysfs_files_are_readable_by_everybody_and_hold_one_value(rig):
    drive = rig.drive("p4096")
    with Align(drive.path) as device:
        for path in device.sysfs.iterdir():
            assert path.stat().st_mode & 0o777 == 0o444, f"{path.name} has mode {path.stat().st_mode & 0o777:o}"
            text = path.read_text()
            assert text.endswith("\n") and text.count("\n") == 1, f"{path.name} holds {text!r}"
            if not path.name.endswith("_histogram"):
                assert " " not in text, f"{path.name} holds {text!r}"


@pytest.mark.each_kernel
def test_the_group_goes_when_the_table_becomes_linear_and_comes_back(rig):
    drive = rig.drive("p4096")
    with Align(drive.path) as device:
        assert device.sysfs.exists()
        device.reload(device.linear())
        assert not device.sysfs.exists()
        device.reload(device.line())
        assert device.counter("rmw_expected") == 0


def test_flush_message_empties_and_returns(rig):
    drive = rig.drive("p4096")
    with Align(drive.path, mode="pad") as device, Disk(device.path) as upper:
        upper.write(3, pattern(1, 3, 2))
        device.message("flush")
        assert device.ledger()["rmw_pending"] == 0


def test_a_device_can_be_removed_while_blocks_are_known(rig):
    drive = rig.drive("p4096")
    with Align(drive.path, mode="pad") as device:
        with Disk(device.path) as upper:
            for i in range(50):
                upper.write(i * 8 + 3, pattern(i, i, 1))
        assert device.counter("target0_blocks") > 0
        device.remove()


def test_a_removed_device_leaves_the_drive_free(rig):
    drive = rig.drive("p4096")
    with Align(drive.path, mode="pad") as device, Disk(device.path) as upper:
        upper.write(3, pattern(1, 3, 2))
    os.close(os.open(drive.path, os.O_RDWR | os.O_EXCL))
    assert sectors_of(drive.path) > 0


@pytest.mark.each_kernel
def test_the_module_can_be_unloaded_and_loaded(rig):
    drive = rig.drive("p4096")
    with Align(drive.path, mode="pad") as device, Disk(device.path) as upper:
        upper.write(3, pattern(1, 3, 2))
    rig.unload_module()
    rig.load_module()
    with Align(drive.path, mode="pad") as device, Disk(device.path) as upper:
        upper.write(3, pattern(2, 3, 2))
        assert device.balanced()["rmw_host"] == 1
