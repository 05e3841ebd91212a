# SPDX-License-Identifier: GPL-2.0
"""alignctl conform: devices that keep their word are clean, and a stand-in for each way not to keep it is found out."""

import contextlib
import json
import os
import re
import signal
import subprocess
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from lab.pace import patience
from lab.paths import OUT, REPO
from lab.plugins.extent import only_all
from rig import nbd
from rig.dm import Align, Device, run
from rig.filesystem import mounted
from rig.witness import eventually

ALIGNCTL = OUT / "bin" / "alignctl"
FINE, FINDINGS, USAGE, BUSY = 0, 1, 2, 4
BLOCK, MEBIBYTE = 4096, 1 << 20
PAUSE = 0.002


def conform(path, *options, status=FINE):
    """Return the document; status: the only good one, None: there may be faults."""
    done = run(ALIGNCTL, "conform", path, "--json", *options, ok=False)
    wanted = (FINE, FINDINGS) if status is None else (status,)
    assert done.returncode in wanted, f"{done.returncode}: {done.stderr}{done.stdout[:4000]}"
    return json.loads(done.stdout)


def shape_in_the_document(fault):
    """Return a pattern of the fault that the document shows, without its figures and its method."""
    text = (REPO / "Documentation" / "admin" / "conform.rst").read_text().split("\nEach kind of fault\n")[1]
    shown = re.search(rf"^    {fault}: .*?(?=\n\n)", text, re.M | re.S)[0]
    number, method = r"[0-9]+(\.[0-9])?", r"(io_uring|sync)"
    words = (re.sub(number, "0", re.sub(method, "method", word)) for word in shown.split())
    return r"\s+".join(re.escape(word).replace("0", number).replace("method", method) if word != "--method" else word
                       for word in words)


class StandIn:
    """A server of the NBD protocol that answers many requests at a time, and breaks its word in one way."""

    def __init__(self, fault):
        self.fault, self.lock, self.order = fault, threading.Lock(), threading.Lock()
        self.old = {}

    def __call__(self, connection, medium):
        with ThreadPoolExecutor(16) as pool:
            while True:
                _, _, what, cookie, offset, length = nbd.ASKED.unpack(nbd.received(connection, nbd.ASKED.size))
                if what == nbd.DISCONNECT:
                    return
                data = nbd.received(connection, length) if what == nbd.WRITE else b""
                pool.submit(self.answer, connection, medium, what, cookie, offset, length, data)

    def answer(self, connection, medium, what, cookie, offset, length, data):
        found = b""
        if what == nbd.READ:
            found = self.read(medium, offset, length)
        elif what == nbd.WRITE:
            self.write(medium, offset, data)
        with self.lock:
            connection.sendall(nbd.ANSWER.pack(nbd.ANSWERED, 0, cookie) + found)

    def read(self, medium, offset, length):
        with self.order:
            found = bytearray(os.pread(medium, length, offset))
            if self.fault == "stale-read" and self.old:
                # For a while a block is read as it was before its last write.
                for sector, (until, before) in list(self.old.items()):
                    at = sector * 512 - offset
                    if time.monotonic() > until:
                        del self.old[sector]
                    elif 0 <= at < length:
                        found[at:at + 512] = before
        return bytes(found)

    def write(self, medium, offset, data):
        first, end = offset // BLOCK * BLOCK, -(-(offset + len(data)) // BLOCK) * BLOCK
        if self.fault == "lost-update" and (first < offset or end > offset + len(data)):
            # Read, modify and write, while other requests do the same.
            block = bytearray(os.pread(medium, end - first, first))
            time.sleep(PAUSE)
            block[offset - first:offset - first + len(data)] = data
            os.pwrite(medium, block, first)
            return
        with self.order:
            if self.fault == "stale-read" and len(data) < BLOCK:
                self.old[offset // 512] = (time.monotonic() + 5 * PAUSE, os.pread(medium, 512, offset))
            if self.fault == "torn-block" and len(data) == 512:
                data = data[:256]
            if self.fault == "neighbour" and len(data) == 512:
                data += bytes(512)
            if self.fault == "foreign" and len(data) == 512:
                data = os.urandom(512)
            os.pwrite(medium, data, offset)


@pytest.fixture
def medium(tmp_path):
    file = tmp_path / "medium"
    with open(file, "wb") as opened:
        opened.truncate(8 * MEBIBYTE)
    return file


# Other findings that follow from a fault: a neighbour may be one of another request of the round, and be read in flight; data
# that are stale for long are as good as lost. The kind is one in which the fault shows in many rounds.
@pytest.mark.parametrize("fault, kind, others", [
    ("neighbour", "sub-block+read/in-block", {"lost-update", "stale-read"}),
    *(only_all("alignctl/tests/conform/test_lawful.c: what is lawful, against all orders", *row) for row in (
        ("stale-read", "sub-block+read/in-block", {"neighbour", "lost-update"}),
        ("torn-block", "sub-block+read/in-block", set()),
        ("lost-update", "sub-block+sub-block/in-block", {"stale-read"}),
        ("foreign", "sub-block+read/in-block", set())))])
def test_a_server_is_found_out_by_its_fault(rig, medium, fault, kind, others):
    faults = Counter()
    with nbd.module(), nbd.served(medium, StandIn(fault)) as disk:
        for seed in range(10):
            found = conform(disk.path, "--rounds", 300, "--kind", kind, "--seed", seed, "--block", BLOCK, status=None)
            faults.update(found["faults"])
            if faults[fault]:
                break
        shown = run(ALIGNCTL, "conform", disk.path, "--rounds", 300, "--kind", kind, "--seed", seed, "--block", BLOCK, ok=False)
    # The second run has other times, and as a rule the fault again.
    if shown.returncode == FINDINGS:
        for words in ("REQUEST", "OFFSET", "SENT/us", "ENDED/us", "FAULTY", f"--kind {kind} --method ", f" --seed {seed}",
                      " must have "):
            assert words in shown.stdout, shown.stdout
        assert re.search(shape_in_the_document(fault), shown.stdout), shown.stdout
    assert faults[fault] and {name for name, count in faults.items() if count} <= {fault} | others, faults
    names = {fault} | others
    for example in found["examples"]:
        assert example["fault"] in names and 2 <= len(example["requests"]) <= 3
        assert all(request["sent_us"] <= request["ended_us"] for request in example["requests"])


def test_each_method_finds_a_server_out_and_a_fault_says_by_which(rig, medium):
    with nbd.module(), nbd.served(medium, StandIn("neighbour")) as disk:
        for method in ("io_uring", "sync"):
            found = conform(disk.path, "--rounds", 100, "--kind", "sub-block+sub-block/in-block", "--method", method,
                            status=FINDINGS)
            assert [(each["method"], each["rounds"]) for each in found["methods"]] == [(method, 100)]
            assert {each["method"] for each in found["examples"]} == {method} and found["methods"][0]["faulty"] == found["faulty"]


@contextlib.contextmanager
def device(rig, kind):
    drive = rig.drive("p4096")
    with contextlib.ExitStack() as stack:
        if kind == "drive":
            yield drive.path
        elif kind == "linear":
            yield stack.enter_context(Device(f"0 131072 linear {drive.path} 8")).path
        elif kind == "scsi_debug":
            yield stack.enter_context(rig.scsi_debug(physblk_exp=3, lbpu=1, lbpws=1))
        else:
            yield stack.enter_context(Align(drive.path, mode=kind, physical_block_size=4096, alignment_offset=0)).path


def test_a_server_that_keeps_its_word_is_clean_and_what_it_does_not_take_is_told(rig, medium):
    with nbd.module(), nbd.served(medium, StandIn("none")) as disk:
        found = conform(disk.path, "--rounds", 312, "--block", BLOCK, "--depth", 4)
    assert found["rounds"] > 100 and not found["faulty"] and found["cannot_tell"].keys() == {"discard"}


@pytest.mark.parametrize("kind", [
    *(only_all("scsi_debug is another device that keeps its word", kind) for kind in ("drive", "linear")), "scsi_debug",
    only_all("report makes no request of its own", "report"), "pad", "coalesce"])
def test_a_device_that_keeps_its_word_is_clean(rig, kind):
    with device(rig, kind) as path:
        found = conform(path, "--rounds", 936)
    assert (found["faulty"], found["rounds"]) == (0, 936) and len(found["kinds"]) == 312
    assert found["fewer_than_one_in"] == 312, "as 0.05 ** (1 / 936) is 1 - 1 / 312.9"


@pytest.mark.parametrize("block_size", [4096, 16384])
def test_a_part_of_a_block_is_of_whole_logical_blocks_and_where_there_is_none_the_report_says_so(rig, block_size):
    with rig.loop(block_size) as path:
        if path is None:
            pytest.skip(f"this kernel has no logical blocks of {block_size} bytes")
        found = conform(path, "--rounds", 312, "--depth", 4)
        assert (found["logical_block_size"], found["physical_block_size"]) == (block_size, block_size)
        assert (found["block_size"], found["faulty"], found["rounds"]) == (8 * block_size, 0, 312)
        shown = run(ALIGNCTL, "conform", path, "--rounds", 10, "--depth", 4).stdout
    assert f"physical block: {block_size} bytes, as the logical one" in shown


@pytest.mark.parametrize("mode", ["pad", "coalesce"])
def test_parts_of_blocks_of_four_logical_ones_come_through_the_target(rig, mode):
    with (rig.scsi_debug(sector_size=4096, physblk_exp=2, lbpu=1, lbpws=1) as disk,
          Align(disk, mode=mode, physical_block_size=16384, alignment_offset=0) as device):
        found = conform(device.path, "--rounds", 312, "--depth", 4)
    assert (found["logical_block_size"], found["block_size"], found["faulty"], found["rounds"]) == (4096, 16384, 0, 312)


def content(path, start, length):
    with open(path, "rb") as disk:
        disk.seek(start)
        return disk.read(length)


def test_an_area_has_its_content_again_and_what_is_beside_it_stays(rig, tmp_path):
    drive = rig.drive("p4096")
    before = os.urandom(4 * MEBIBYTE)
    with open(drive.path, "r+b") as disk:
        disk.write(before)
    found = conform(drive.path, "--write", f"{MEBIBYTE}+{2 * MEBIBYTE}", "--save", tmp_path / "saved", "--rounds", 312)
    assert found["restored"] and found["rounds"] == 312 and (found["start"], found["length"]) == (MEBIBYTE, 2 * MEBIBYTE)
    assert content(drive.path, 0, len(before)) == before and not os.listdir(tmp_path)


def test_it_is_restored_after_an_interrupt_too(rig, tmp_path):
    drive = rig.drive("p4096")
    before = os.urandom(4 * MEBIBYTE)
    with open(drive.path, "r+b") as disk:
        disk.write(before)
    process = subprocess.Popen([str(word) for word in (ALIGNCTL, "conform", drive.path, "--write", f"0+{4 * MEBIBYTE}", "--save",
                                                       tmp_path / "saved", "--time", 3600)], stdout=subprocess.PIPE, text=True)
    eventually(lambda: content(drive.path, 0, len(before)) != before, "conform writes nothing", timeout=60)
    process.send_signal(signal.SIGINT)
    assert "rounds: " in process.communicate(timeout=patience(60))[0] and process.returncode == -signal.SIGINT
    assert content(drive.path, 0, len(before)) == before and not os.listdir(tmp_path)


def test_a_device_that_holds_data_or_is_in_use_is_refused(rig, tmp_path):
    drive = rig.drive("p4096")
    run("mkfs.ext4", "-q", "-F", drive.path)
    for options, words in (((), "ext4"), (("--force", "/dev/null"), "name the same device")):
        done = run(ALIGNCTL, "conform", drive.path, "--rounds", 1, *options, ok=False)
        assert done.returncode == (BUSY if not options else USAGE) and words in done.stderr
    with mounted("ext4", drive.path):
        done = run(ALIGNCTL, "conform", drive.path, "--rounds", 1, "--save", tmp_path / "saved", ok=False)
        assert done.returncode == BUSY and "mounted" in done.stderr
    run("wipefs", "-qa", drive.path)
    assert not os.listdir(tmp_path)
