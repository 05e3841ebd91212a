# SPDX-License-Identifier: GPL-2.0
"""
alignctl conform before and after a power cut: drives that keep their promises are clean, raw and through the target, and a
stand-in for each way to break them is found out.
"""

import contextlib
import errno
import json
import os
import random
import shutil
import signal
import subprocess
from collections import Counter

import pytest

from lab.pace import patience
from lab.paths import OUT
from lab.plugins.extent import only_all
from rig import filesystem, nbd
from rig.dm import Align, run
from rig.witness import eventually

ALIGNCTL = OUT / "bin" / "alignctl"
FINE, FINDINGS, IO = 0, 1, 3
SECTOR, BLOCK, MEBIBYTE = 512, 4096, 1 << 20
CUTS = 6


def conform(path, *options, ok=(FINE,)):
    """Return the document."""
    done = run(ALIGNCTL, "conform", path, "--json", *options, ok=False)
    assert done.returncode in ok, f"{done.returncode}: {done.stderr}{done.stdout[:4000]}"
    return json.loads(done.stdout)


@contextlib.contextmanager
def device(drive, kind):
    if kind == "drive":
        yield drive.path
        return
    with Align(drive.path, mode=kind, physical_block_size=BLOCK, alignment_offset=0) as mapped:
        yield mapped.path


@pytest.mark.parametrize("kind", [
    *(only_all("coalesce has more to lose", kind) for kind in ("drive", "report", "pad")), "coalesce"])
def test_what_was_promised_is_there_after_each_power_cut(rig, tmp_path, kind):
    drive = rig.drive("power4096")
    lost = ended = 0
    for number in range(CUTS):
        choose = random.Random(f"{kind} {number}")
        state = tmp_path / f"state{number}"
        with device(drive, kind) as path:
            drive.cut_power(at=choose.randint(100, 400), tear=("none", "sector")[number % 2], seed=number)
            sent = conform(path, "--prepare", state, "--write", f"0+{MEBIBYTE}", "--seed", number, ok=(IO,))
            assert sent["stopped"] == "device" and "--after" in sent["next"]
        drive.power_on()
        with device(drive, kind) as path:
            found = conform(path, "--after", state)
        assert not found["faulty"] and found["blocks"] == MEBIBYTE // SECTOR and found["sent"] == sent["sent"]
        assert found["ended"] == sent["ended"] and found["stopped"] == "device" and found["durable"] > 0
        lost += found["not_durable_lost"]
        ended += found["ended"]["flush"] + found["ended"]["fua"]
    assert lost and ended, "the cuts took nothing: they prove nothing"


def test_a_block_that_a_cut_made_unreadable_is_a_finding(rig, tmp_path):
    drive = rig.drive("power4096")
    for number in range(CUTS):
        state = tmp_path / f"state{number}"
        drive.cut_power(at=200, tear="block", seed=number)
        conform(drive.path, "--prepare", state, "--write", f"0+{MEBIBYTE}", "--seed", number, ok=(IO,))
        drive.power_on()
        found = conform(drive.path, "--after", state, ok=(FINE, FINDINGS))
        # Only all of a block makes it readable again.
        run("dd", "if=/dev/zero", f"of={drive.path}", "bs=1M", "count=1", "oflag=direct")
        if found["faults"]["unreadable"]:
            break
    assert found["faults"]["unreadable"] % (BLOCK // SECTOR) == 0 and found["faulty"] == found["faults"]["unreadable"] > 0
    assert all(each["found"].endswith("Input/output error") for each in found["findings"])


def is_free(path):
    """Return whether nothing holds a disk: requests in an io_uring hold it for some time after their process was killed."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_EXCL))
    except OSError as error:
        assert error.errno == errno.EBUSY
        return False
    return True


def test_what_is_killed_with_its_host_is_judged_by_what_the_file_has(rig, tmp_path):
    drive = rig.drive("power4096")
    state = tmp_path / "state"
    with subprocess.Popen([ALIGNCTL, "conform", drive.path, "--prepare", state, "--write", f"0+{MEBIBYTE}"],
                          stderr=subprocess.DEVNULL) as process:
        eventually(lambda: state.exists() and state.stat().st_size > 20000, "STATE does not grow")
        process.kill()
    eventually(lambda: is_free(drive.path), f"{drive.path} is held by a process that was killed")
    drive.cut_power(seed=1)
    drive.power_on()
    whole = conform(drive.path, "--after", state)
    assert not whole["faulty"] and whole["stopped"] == "not" and whole["durable"]
    # Of a file that was cut off, whole records count.
    size = state.stat().st_size - 5 * 24 - 7
    os.truncate(state, size)
    part = conform(drive.path, "--after", state)
    assert not part["faulty"] and part["left_out_bytes"] == (size - 256) % 24
    assert sum(part["sent"].values()) <= sum(whole["sent"].values())


def test_a_signal_is_its_usual_end_and_the_next_step_is_told(rig, tmp_path):
    drive = rig.drive("power4096")
    state = tmp_path / "state"
    with subprocess.Popen([ALIGNCTL, "conform", drive.path, "--prepare", state, "--write", f"0+{MEBIBYTE}"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        eventually(lambda: state.exists() and state.stat().st_size > 20000, "STATE does not grow")
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=patience(60))[0]
        assert process.returncode == FINE and f"cut the power of {drive.path} now" in said and f"--after {state}" in said
    drive.cut_power(seed=1)
    drive.power_on()
    assert not conform(drive.path, "--after", state)["faulty"]


def test_the_file_is_believed_after_a_power_cut_of_its_own_disk(rig, tmp_path):
    """Both drives lose power while requests are sent, each with the content of its volatile cache."""
    drive, other = rig.drive("power4096"), rig.drive("p4096")
    filesystem.make("ext4", other.path)
    sent = []
    for number in range(CUTS):
        state = tmp_path / f"state{number}"
        with filesystem.mounted("ext4", other.path) as folder, \
                subprocess.Popen([ALIGNCTL, "conform", drive.path, "--prepare", folder / f"state{number}", "--write",
                                  f"0+{MEBIBYTE}", "--seed", str(number)], stderr=subprocess.DEVNULL) as process:
            at = 20000 + 7000 * number
            eventually(lambda file=folder / f"state{number}", least=at: file.exists() and file.stat().st_size > least,
                       "STATE does not grow")
            other.cut_power(tear="sector", seed=number)
            drive.cut_power(tear="sector", seed=number)
            assert process.wait(patience(60)) == IO
        for each in (other, drive):
            each.power_on()
        filesystem.replay_journal("ext4", other.path)
        with filesystem.mounted("ext4", other.path) as folder:
            shutil.copy(folder / f"state{number}", state)
        found = conform(drive.path, "--after", state)
        assert not found["faulty"], found
        sent.append(sum(found["sent"].values()))
    assert all(sent), sent
    run("wipefs", "-qa", other.path)


class Volatile:
    """
    A server of the NBD protocol with a volatile cache, whose power goes with one of its writes: it keeps some sectors of its
    cache, as a drive may, and ends. The server breaks its word in one way.
    """

    def __init__(self, fault, last, seed):
        self.fault, self.left, self.choose = fault, last, random.Random(f"{fault} {seed}")
        self.cache, self.unsafe = {}, {}

    def __call__(self, connection, medium):
        while True:
            _, flags, what, cookie, offset, length = nbd.ASKED.unpack(nbd.received(connection, nbd.ASKED.size))
            if what == nbd.DISCONNECT:
                return
            found = b""
            if what == nbd.READ:
                found = self.read(medium, offset, length)
            elif what == nbd.WRITE:
                self.write(medium, offset, nbd.received(connection, length), flags & nbd.FUA)
            elif what == nbd.FLUSH and self.fault != "flush":
                self.keep(medium, lambda: True)
            connection.sendall(nbd.ANSWER.pack(nbd.ANSWERED, 0, cookie) + found)

    def read(self, medium, offset, length):
        found = b""
        for at in range(offset, offset + length, SECTOR):
            found += self.unsafe.get(at) or self.cache.get(at) or os.pread(medium, SECTOR, at)
        return found

    def keep(self, medium, chosen):
        for at, data in self.cache.items():
            if chosen():
                os.pwrite(medium, data, at)
        self.cache.clear()

    def write(self, medium, offset, data, fua):
        self.left -= 1
        if not self.left:
            self.lose_power(medium, offset, data)
        for at in range(0, len(data), SECTOR):
            sector, place = data[at:at + SECTOR], offset + at
            self.unsafe.pop(place, None)
            if fua and self.fault == "fua":
                # As if the sector were on the medium: no flush will write it.
                self.cache.pop(place, None)
                self.unsafe[place] = sector
            elif fua and self.fault != "fua alone":
                self.cache.pop(place, None)
                os.pwrite(medium, sector, place)
            else:
                self.cache[place] = sector

    def lose_power(self, medium, offset, data):
        self.keep(medium, lambda: self.choose.random() < 0.5)
        if self.fault == "torn":
            os.pwrite(medium, data[:SECTOR // 2], offset)
        if self.fault == "neighbour":
            block = offset // BLOCK * BLOCK
            for place in range(block, block + BLOCK, SECTOR):
                if not offset <= place < offset + len(data):
                    os.pwrite(medium, os.urandom(SECTOR), place)
        os._exit(0)


@pytest.fixture
def medium(tmp_path):
    file = tmp_path / "medium"
    with open(file, "wb") as opened:
        opened.truncate(2 * MEBIBYTE)
    return file


def cut(medium, state, fault, number):
    """Cut the power of a server, and return the findings on its medium."""
    with nbd.served(medium, Volatile(fault, random.Random(number).randint(100, 300), number), nbd.SEND_FUA) as disk:
        conform(disk.path, "--prepare", state, "--block", BLOCK, "--write", f"0+{MEBIBYTE}", "--seed", number, ok=(IO,))
    with nbd.served(medium) as disk:
        found = conform(disk.path, "--after", state, ok=(FINE, FINDINGS))
        return found, run(ALIGNCTL, "conform", disk.path, "--after", state, ok=False)


def test_a_server_with_a_volatile_cache_that_keeps_its_word_is_clean(rig, medium, tmp_path):
    with nbd.module():
        found = [cut(medium, tmp_path / f"state{number}", "none", number)[0] for number in range(CUTS)]
    assert not sum(each["faulty"] for each in found) and all(each["cannot_tell"].keys() <= {"discard"} for each in found)
    assert sum(each["not_durable_lost"] for each in found), "the cuts took nothing: they prove nothing"


@pytest.mark.parametrize("fault, names", [
    ("flush", {"lost-write"}), ("torn", {"torn-block"}),
    *(only_all("userspace/alignctl/tests/conform: each fault, in planted states", *row) for row in (
        ("fua", {"lost-write"}), ("fua alone", {"lost-write"}), ("neighbour", {"neighbour", "foreign"})))])
def test_a_server_is_found_out_by_its_fault(rig, medium, tmp_path, fault, names):
    faults = Counter()
    with nbd.module():
        for number in range(5 * CUTS):
            found, shown = cut(medium, tmp_path / f"state{number}", fault, number)
            faults.update(found["faults"])
            if +faults:
                break
    assert +faults and set(+faults) <= names, faults
    assert shown.returncode == FINDINGS and "expected" in shown.stdout and f"seed {number}" in shown.stdout
    for each in found["findings"]:
        assert each["fault"] in names and each["bytes"] % SECTOR == 0 and each["expected_bytes"] != each["found_bytes"]
        if fault == "fua" and each["expected"]:
            assert each["expected"]["request"] == "fua" or each["made_durable_by"]
        # Sent by io_uring, such a write has no flush behind it, which would make it durable after all.
        if fault == "fua alone":
            assert each["expected"]["request"] == "fua" and not each["made_durable_by"]
        if fault == "flush" and each["made_durable_by"]:
            assert each["made_durable_by"]["ended_us"] > each["expected"]["ended_us"]
