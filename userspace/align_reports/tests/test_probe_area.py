# SPDX-License-Identifier: GPL-2.0
"""An area is restored after a method has written to it, or else its saved file stays and is named."""

import errno
import random
import signal
import subprocess
from collections import namedtuple

import pytest
from handed import taken

from align_reports import interrupt
from align_reports.machine import Refused
from align_reports.probe import area as module, command
from align_reports.probe.area import AROUND, BLOCK, Area, area_of, preserved, refusal
from align_reports.replays import Replays

MIB = 1 << 20
START, LENGTH = 3 * 4096, 9 * MIB
SPOILT = b"spoilt" * 1000


@pytest.fixture
def data():
    return random.Random(3).randbytes(16 * MIB)


@pytest.fixture
def area(tmp_path, data):
    (tmp_path / "device").write_bytes(data)
    return Area(str(tmp_path / "device"), START, LENGTH, tmp_path / "saved")


def content(area):
    with open(area.device, "rb") as file:
        return file.read()


def spoil(area):
    with open(area.device, "r+b") as file:
        file.seek(area.start + 5 * MIB)
        file.write(SPOILT)


@pytest.mark.parametrize("failure", [None, Refused("a run failed", 3), OSError(errno.EIO, "an error"),
                                     interrupt.Interrupted(signal.SIGTERM), ValueError("anything else")])
def test_an_area_is_restored_and_its_file_removed_however_the_runs_end(area, data, failure):
    try:
        with preserved(area):
            assert area.file.read_bytes() == data[START:START + LENGTH]
            spoil(area)
            if failure:
                raise failure
    except BaseException as raised:
        assert raised is failure
    assert content(area) == data and not area.file.exists()


def test_only_what_has_changed_is_written_back(area, data, monkeypatch):
    """5 MiB behind the area's start, and its last bytes."""
    written = []
    pwrite = module.os.pwrite
    with preserved(area):
        spoil(area)
        with open(area.device, "r+b") as file:
            file.seek(area.start + area.length - 10)
            file.write(SPOILT[:10])
        monkeypatch.setattr(module.os, "pwrite", lambda fd, rest, at: written.append((at, len(rest))) or pwrite(fd, rest, at))
    assert content(area) == data
    assert written == [(START + 5 * MIB, BLOCK), (START + LENGTH - BLOCK, BLOCK)]


def test_what_cannot_be_read_any_more_is_written_back(area, data, monkeypatch):
    pread = module.os.pread
    lost = []

    def fail_once(fd, size, at):
        if not lost and at == area.start + 4 * MIB:
            lost.append(at)
            raise OSError(errno.EIO, "Input/output error")
        return pread(fd, size, at)

    with preserved(area):
        spoil(area)
        monkeypatch.setattr(module.os, "pread", fail_once)
    assert lost and content(area) == data and not area.file.exists()


def told(area, data, raised):
    """Assert that the message of a failed restoration names the file, which has the data, and a command that restores it."""
    assert raised.value.status == 3
    assert f"{area} is NOT restored" in str(raised.value) and str(area.file) in str(raised.value)
    assert area.file.read_bytes() == data[START:START + LENGTH]
    assert str(raised.value).endswith(area.way_back)
    subprocess.run(area.way_back, shell=True, check=True, capture_output=True)
    assert content(area) == data


@pytest.mark.parametrize("call", ["pwrite", "fsync"])
@pytest.mark.parametrize("failure", [None, interrupt.Interrupted(signal.SIGINT), Refused("a run failed", 4)])
def test_if_an_area_cannot_be_restored_its_file_stays_and_is_named(area, data, monkeypatch, call, failure):
    def fail(*_arguments):
        raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(Refused, match="Input/output error") as raised, monkeypatch.context() as broken:
        with preserved(area):
            spoil(area)
            broken.setattr(module.os, call, fail)
            if failure:
                raise failure
    told(area, data, raised)


def test_an_area_that_reads_back_otherwise_is_not_restored(area, data, monkeypatch):
    """A drive can lose a write and report nothing."""
    with pytest.raises(Refused, match="read back differently") as raised, monkeypatch.context() as broken:
        with preserved(area):
            spoil(area)
            broken.setattr(module.os, "pwrite", lambda _fd, rest, _at: len(rest))
    told(area, data, raised)


@pytest.mark.parametrize("call", ["posix_fallocate", "pwrite", "fsync", "pread"])
def test_what_cannot_be_saved_is_not_begun_and_leaves_no_file(area, data, monkeypatch, call):
    def fail(*_arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module.os, call, fail)
    with pytest.raises(Refused, match="No space left on device; nothing was written"), preserved(area):
        pytest.fail("the runs were begun")
    assert not area.file.exists() and content(area) == data


def test_a_file_that_comes_meanwhile_is_not_overwritten(area, data):
    area.file.write_text("precious")
    with pytest.raises(Refused, match="File exists"), preserved(area):
        pytest.fail("the runs were begun")
    assert area.file.read_text() == "precious" and content(area) == data


def test_a_signal_while_it_is_saved_ends_it_before_anything_is_done(area, data, monkeypatch):
    monkeypatch.setattr(interrupt._State, "pending", signal.SIGINT)
    with pytest.raises(interrupt.Interrupted), preserved(area):
        pytest.fail("the runs were begun")
    assert not area.file.exists() and content(area) == data


def test_too_little_room_is_seen_before_anything_is_done(area, monkeypatch):
    room = namedtuple("Room", "f_bavail f_frsize")
    monkeypatch.setattr(module.os, "statvfs", lambda _folder: room(LENGTH // 4096 - 1, 4096))
    assert f"needs {LENGTH} bytes, {LENGTH - 4096} are free" in refusal(area, None)
    monkeypatch.setattr(module.os, "statvfs", lambda _folder: room(LENGTH // 4096, 4096))
    assert refusal(area, None) is None


@pytest.mark.parametrize("folder, beneath, reason", [
    ("sda1", {"sda1": ["sda"]}, "lies on sda, as {device} does; name a file on another disk: --save FILE"),
    ("dm-0", {"dm-0": ["loop0"]}, "lies on {device}; name a file on another disk: --save FILE"),
])
def test_the_file_does_not_go_where_the_requests_go(area, monkeypatch, folder, beneath, reason):
    """The device is a loop device, whose file lies on the same disk as the folder, or which carries the folder."""
    stack = {"loop0": ["sda1"], "sda1": ["sda"], **beneath}
    monkeypatch.setattr(module.devices, "overlapping", lambda device, folder: ["sda"])
    monkeypatch.setattr(module.devices, "block_name", lambda path: "loop0" if path == area.device else folder)
    monkeypatch.setattr(module.devices, "beneath", lambda name, _sys: stack.get(name, []))
    assert refusal(area, None) == reason.format(device=area.device)


def test_what_a_workload_may_have_leaves_two_of_the_largest_blocks_on_either_side():
    for start in (0, 4096, BLOCK, BLOCK + 4096, 1001 * 4096):
        area = area_of("/dev/x", start, MIB, None)
        at, span = area.inside
        assert at % BLOCK == 0 and at >= start + AROUND and at + span == start + MIB - AROUND


def test_a_method_whose_run_fails_leaves_what_was_there(area, data, monkeypatch, capsys):
    def fail(_replays, _source, _device, *_options, **_more):
        spoil(area)
        raise Refused("a run failed", 3)

    monkeypatch.setenv("ALIGNCTL", "none")
    monkeypatch.setattr(Replays, "permit", lambda *_arguments, **_more: None)
    monkeypatch.setattr(Replays, "make", fail)
    assert command.main(taken(command, "probe", "cncwrite", area.device, "--write", f"{START}+9M", "--save", area.file)) == 3
    assert "a run failed" in capsys.readouterr().err
    assert content(area) == data and not area.file.exists()
