# SPDX-License-Identifier: GPL-2.0
"""
alignctl conform before and after a power cut, on a regular file whose content the test changes in between as a cut might: what
is found, what is refused, and what its manual says of the documents.
"""

import json
import os
import re
import shutil
import signal
import struct
import subprocess
import time

import pytest

from alignctl_program import ALIGNCTL, alignctl
from audited import Machine
from lab.pace import patience

FINE, FINDINGS, USAGE, IO, BUSY = 0, 1, 2, 3, 4
SECTOR, BLOCK, MEBIBYTE = 512, 4096, 1 << 20
HEADER, RECORD = 256, 24


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file"
    with open(path, "wb") as opened:
        opened.truncate(8 * MEBIBYTE)
    return path


@pytest.fixture
def prepared(file, memory):
    """The file with content, and STATE."""
    done = alignctl("conform", file, "--prepare", memory / "state", "--write", "0+1M", "--rounds", 3000, "--seed", 5, "--json")
    assert done.returncode == FINE, done.stderr
    return memory / "state", json.loads(done.stdout)


def after(file, state, *options, status=FINE):
    done = alignctl("conform", file, "--after", state, "--json", *options)
    assert done.returncode == status, f"{done.returncode}: {done.stderr}{done.stdout[:3000]}"
    return json.loads(done.stdout) if done.stdout else done.stderr


def change(file, at, data):
    with open(file, "r+b") as opened:
        opened.seek(at)
        opened.write(data)


def durable_write(file, state):
    """Return the first byte of a logical block that has a durable write: of each, older content is a finding."""
    found = after(file, state)
    assert not found["faulty"] and found["durable"]
    content = file.read_bytes()[:MEBIBYTE]
    for at in range(0, MEBIBYTE, SECTOR):
        sequence = struct.unpack_from("<Q", content, at + 16)[0]
        if content[at:at + 8] == b"alignctl" and sequence:
            return at
    raise AssertionError("no write is there")


def test_what_was_sent_is_clean_and_both_documents_agree(file, prepared):
    state, sent = prepared
    found = after(file, state)
    assert sum(sent["sent"].values()) <= 3000 and sent["sent"] == sent["ended"] == found["sent"] == found["ended"]
    assert all(count for count in sent["sent"].values()) and sent["stopped"] == found["stopped"] == "all"
    assert not found["faulty"] and found["fewer_than_one_in"] == int(1 / (1 - 0.05 ** (1 / found["durable"])))
    assert (found["blocks"], found["left_out_bytes"], found["not_durable_lost"]) == (MEBIBYTE // SECTOR, 0, 0)
    assert state.stat().st_size >= HEADER + 2 * RECORD * sum(sent["sent"].values())
    text = alignctl("conform", file, "--after", state).stdout
    assert "cannot tell: whether the power was cut" in text and "; faulty: 0; fewer than 1 in " in text


def test_each_fault_is_found_where_it_is(file, prepared):
    state, _ = prepared
    at = durable_write(file, state)
    whole = file.read_bytes()
    other = whole[at:at + SECTOR]
    for fault, wrong, place in (
            ("lost-write", bytes(SECTOR), 0), ("torn-block", whole[:SECTOR // 2] + bytes(SECTOR // 2), 0),
            ("foreign", bytes(range(1, 256)) * 2 + b"xy", 0), ("torn-block", other[:256] + os.urandom(256), at)):
        change(file, place, wrong)
        found = after(file, state, status=FINDINGS)
        assert found["faults"][fault] == found["faulty"] == 1, (fault, found["faults"])
        finding, = found["findings"]
        assert (finding["fault"], finding["offset"], finding["bytes"]) == (fault, place, SECTOR)
        where = finding["differs_at"] - place
        assert whole[place:place + where] == wrong[:where] and bytes.fromhex(finding["found_bytes"]) == wrong[where:where + 8]
        assert bytes.fromhex(finding["expected_bytes"]) == whole[place + where:place + where + 8]
        change(file, place, whole[place:place + SECTOR])
    assert not after(file, state)["faulty"]


def test_a_lost_write_names_the_write_its_end_and_the_flush(file, prepared):
    state, _ = prepared
    before = alignctl("conform", file, "--after", state).stdout
    whole = file.read_bytes()
    # All is zeroes, as of a drive that has kept nothing.
    change(file, 0, bytes(MEBIBYTE))
    found = after(file, state, status=FINDINGS)
    text = alignctl("conform", file, "--after", state)
    assert text.returncode == FINDINGS and "cannot tell: whether this is the device that was prepared" in text.stdout
    named = [finding for finding in found["findings"] if finding["made_durable_by"]]
    assert named and len(found["findings"]) == 32 and set(found["faults"]) >= {"lost-write"}
    for finding in named:
        write, flush = finding["expected"], finding["made_durable_by"]
        assert write["sent_us"] < write["ended_us"] < flush["sent_us"] < flush["ended_us"] and flush["request"] == "flush"
        assert write["offset"] <= finding["offset"] < write["offset"] + write["bytes"]
    write = named[0]["expected"]
    assert re.search(rf"^ write {write['number']} is lost: {write['request']}, {write['bytes']} bytes at byte {write['offset']}, "
                     r"sent at [\d.]+ us, ended at [\d.]+ us\n flush \d+ made it durable: sent at [\d.]+ us, ended at [\d.]+ us\n"
                     r" from byte \d+ on: .. .. .. .. .. .. .. .. expected, 00 00 00 00 00 00 00 00 found$", text.stdout, re.M)
    file.write_bytes(whole)
    assert alignctl("conform", file, "--after", state).stdout == before


def test_what_another_run_has_written_is_no_content_of_this_one(file, prepared, memory):
    state, _ = prepared
    assert alignctl("conform", file, "--prepare", memory / "other", "--write", "0+1M", "--rounds", 100).returncode == FINE
    assert after(file, memory / "other")["nothing_of_it"] is False
    found = after(file, state, status=FINDINGS)
    assert found["nothing_of_it"] and found["faulty"] == found["faults"]["lost-write"] > 1000
    assert "and blocks of another --prepare" in alignctl("conform", file, "--after", state).stdout


def test_what_is_whole_of_a_file_that_was_cut_off_counts(file, prepared):
    state, sent = prepared
    data = state.read_bytes()
    counts = []
    for size in (len(data), len(data) - RECORD // 2, len(data) // 2, HEADER + 3 * RECORD + 1):
        state.write_bytes(data[:size])
        done = alignctl("conform", file, "--after", state, "--json")
        # The device has more than such a file lets be sent: the file's disk has lost it.
        if done.returncode == IO:
            assert "has lost what was synced to it" in done.stderr
            counts.append(0)
            continue
        found = json.loads(done.stdout)
        assert done.returncode == FINE and not found["faulty"] and found["left_out_bytes"] == (size - HEADER) % RECORD
        counts.append(sum(found["ended"].values()))
    assert counts[0] == counts[1] == sum(sent["ended"].values()) and counts[2:] == [0, 0]


def test_files_that_do_not_fit_are_refused_with_their_reason(file, prepared, memory, tmp_path):
    state, _ = prepared
    data = state.read_bytes()
    bad = memory / "bad"
    for content, words in (
            (data[:HEADER + RECORD // 2], "ends before"), (data[:100], "ends before anything was sent"),
            (b"", "ends before anything was sent"), (os.urandom(4096), "is no file of conform --prepare"),
            (data[:16] + b"\2" + data[17:], "is of another version"), (data[:100] + b"\xff" + data[101:], "is damaged")):
        bad.write_bytes(content)
        assert words in after(file, bad, status=USAGE)
    larger = tmp_path / "larger"
    shutil.copy(file, larger)
    os.truncate(larger, 9 * MEBIBYTE)
    assert f"is of a device of {8 * MEBIBYTE} bytes" in after(larger, state, status=USAGE)
    assert "No such file" in after(file, memory / "none", status=USAGE)


@pytest.mark.parametrize("options, words", [
    (["--prepare", "HERE/state"], "lies on the disk of"),
    (["--prepare", "/nowhere/state"], "/nowhere/state: No such file"),
    (["--prepare", "MEMORY/state", "--save", "HERE/saved"], "saved: lies on the disk of"),
    (["--prepare", "MEMORY/state", "--save", "/nowhere/saved"], "--save /nowhere/saved: No such file"),
    (["--prepare", "MEMORY/state", "--kind", "sub-block+read/in-block"], "--prepare, --kind: exclude each other"),
    (["--prepare", "MEMORY/state", "--html", "page.html"], "--html, --prepare: exclude each other, as the page shows rounds"),
    (["--after", "MEMORY/state", "--html", "page.html"], "--html: does not apply to --after"),
    (["--prepare", "MEMORY/state", "--method", "sync"], "--prepare, --method: exclude each other"),
    (["--prepare", "MEMORY/state", "--html", "MEMORY/page.html"], "--html, --prepare: "),
    (["--after", "MEMORY/state", "--prepare", "MEMORY/other"], "--prepare: does not apply to --after"),
    (["--after", "MEMORY/state", "--seed", "1"], "--seed: does not apply to --after"),
    (["--after", "MEMORY/state", "--rounds", "1"], "--rounds: does not apply to --after")])
def test_what_makes_no_sense_is_refused(file, memory, tmp_path, options, words):
    done = alignctl("conform", file, *[word.replace("HERE", str(tmp_path)).replace("MEMORY", str(memory)) for word in options])
    assert (done.returncode, done.stdout) == (USAGE, "") and words in done.stderr, done.stderr
    assert not os.listdir(memory) and os.listdir(tmp_path) == ["file"]


def test_a_file_of_an_earlier_cut_and_data_are_not_overwritten(file, prepared, memory):
    state, _ = prepared
    kept = state.read_bytes()
    again = alignctl("conform", file, "--prepare", state, "--rounds", 10)
    assert again.returncode == USAGE and "File exists" in again.stderr and state.read_bytes() == kept
    file.write_bytes(os.urandom(8 * MEBIBYTE))
    refused = alignctl("conform", file, "--prepare", memory / "new", "--rounds", 10)
    assert refused.returncode == BUSY and f"--force {file}" in refused.stderr and not (memory / "new").exists()


def test_the_area_has_its_content_again(file, memory):
    before = os.urandom(8 * MEBIBYTE)
    file.write_bytes(before)
    options = ("--save", memory / "saved")
    done = alignctl("conform", file, "--prepare", memory / "state", "--write", "2M+1M", "--rounds", 200, *options)
    assert done.returncode == FINE and f"--after {memory}/state --save {memory}/saved" in done.stdout
    content = file.read_bytes()
    assert content != before and content[:2 * MEBIBYTE] + content[3 * MEBIBYTE:] == before[:2 * MEBIBYTE] + before[3 * MEBIBYTE:]
    found = after(file, memory / "state", *options)
    assert found["restored"] and (found["start"], found["length"]) == (2 * MEBIBYTE, MEBIBYTE) and file.read_bytes() == before
    assert os.listdir(memory) == ["state"]


def test_what_an_earlier_preparation_has_written_is_not_saved_as_the_content(file, memory):
    """The message sends to --after; with the new file that would put the content of the test back."""
    before = os.urandom(8 * MEBIBYTE)
    file.write_bytes(before)
    options = ("--write", "0+1M", "--rounds", 100, "--save")
    assert alignctl("conform", file, "--prepare", memory / "state", *options, memory / "saved").returncode == FINE
    again = alignctl("conform", file, "--prepare", memory / "state", *options, memory / "other")
    assert again.returncode == USAGE and "state: File exists, perhaps of an earlier cut; judge it by --after" in again.stderr
    assert sorted(os.listdir(memory)) == ["saved", "state"]
    assert after(file, memory / "state", "--save", memory / "saved")["restored"] and file.read_bytes() == before


def test_it_is_restored_too_if_the_file_ends_too_early_to_judge(file, memory):
    before = os.urandom(8 * MEBIBYTE)
    file.write_bytes(before)
    options = ("--save", memory / "saved")
    assert alignctl("conform", file, "--prepare", memory / "state", "--rounds", 20, *options).returncode == FINE
    os.truncate(memory / "state", HEADER)
    assert "ends before" in after(file, memory / "state", *options, status=USAGE) and file.read_bytes() == before


def test_a_physical_block_that_is_no_power_of_two_is_not_taken(loop, memory, tmp_path):
    """Kernels pass on what an NVMe drive says, and a STATE of such blocks would be refused after the cut."""
    number = os.stat(loop).st_rdev
    machine = Machine(tmp_path / "machine")
    machine.disk(loop.name, (os.major(number), os.minor(number)), bytes_=len(loop.read_bytes()), physical=3 * BLOCK)
    environment = {**os.environ, "ALIGNCTL_SYSROOT": str(machine.root)}
    state, saved = memory / "state", memory / "saved"
    before = loop.read_bytes()
    done = alignctl("conform", loop, "--prepare", state, "--write", "0+1M", "--rounds", 100, "--save", saved, "--json",
                    env=environment)
    assert done.returncode == FINE and json.loads(done.stdout)["block_size"] == BLOCK, done.stderr
    done = alignctl("conform", loop, "--after", state, "--save", saved, env=environment)
    assert done.returncode == FINE and loop.read_bytes() == before, done.stderr
    done = alignctl("conform", loop, "--rounds", 20, "--save", saved, env=environment)
    assert done.returncode == FINE, done.stderr
    assert f"physical block: {3 * BLOCK} bytes, no power of two up to 1 MiB; blocks of {BLOCK} were tried" in done.stdout


def test_what_was_saved_is_not_restored_to_another_device(file, memory, tmp_path):
    """After a cut, two disks of one size may have changed their names."""
    before = os.urandom(8 * MEBIBYTE)
    file.write_bytes(before)
    state, saved = memory / "state", memory / "saved"
    options = ("--write", "0+1M", "--rounds", 100, "--save", saved)
    assert alignctl("conform", file, "--prepare", state, *options).returncode == FINE
    other = tmp_path / "other"
    content = os.urandom(8 * MEBIBYTE)
    other.write_bytes(content)
    done = alignctl("conform", other, "--after", state, "--save", saved, "--json")
    assert done.returncode == BUSY and f"{other}: is not restored, as it has nothing of {state}" in done.stderr, done.stderr
    assert f"--force {other}" in done.stderr
    found = json.loads(done.stdout)
    assert found["nothing_of_it"] and not found["restored"]
    assert other.read_bytes() == content and saved.read_bytes() == before[:MEBIBYTE]
    assert after(file, state, "--save", saved)["restored"] and file.read_bytes() == before


def test_a_device_that_lost_all_is_restored_if_it_is_forced(file, memory):
    before = os.urandom(8 * MEBIBYTE)
    file.write_bytes(before)
    state, saved = memory / "state", memory / "saved"
    options = ("--write", "0+1M", "--rounds", 100, "--save", saved)
    assert alignctl("conform", file, "--prepare", state, *options).returncode == FINE
    change(file, 0, bytes(MEBIBYTE))
    assert after(file, state, "--save", saved, "--force", file, status=FINDINGS)["restored"] and file.read_bytes() == before


def test_a_device_that_nothing_was_written_to_is_left_as_it_is(file, memory):
    """A host that dies behind --save has a file without requests, and a device without their content."""
    before = os.urandom(8 * MEBIBYTE)
    file.write_bytes(before)
    state, saved = memory / "state", memory / "saved"
    options = ("--write", "0+1M", "--rounds", 100, "--save", saved)
    assert alignctl("conform", file, "--prepare", state, *options).returncode == FINE
    os.truncate(state, HEADER)
    file.write_bytes(before)
    assert "ends before" in after(file, state, "--save", saved, status=USAGE)
    assert file.read_bytes() == before and not saved.exists()


def test_a_file_that_is_not_the_saved_area_is_refused_and_kept(file, memory, tmp_path):
    file.write_bytes(os.urandom(8 * MEBIBYTE))
    state, saved = memory / "state", memory / "saved"
    options = ("--write", "0+1M", "--rounds", 100, "--save", saved)
    assert alignctl("conform", file, "--prepare", state, *options).returncode == FINE
    content = file.read_bytes()
    backup = tmp_path / "backup"
    for size in (MEBIBYTE - 1, 2 * MEBIBYTE):
        backup.write_bytes(os.urandom(size))
        words = after(file, state, "--save", backup, status=USAGE)
        assert f"--save {backup}: has {size} bytes, and the saved area has {MEBIBYTE}" in words
        assert file.read_bytes() == content and backup.stat().st_size == size
    assert "--save /dev/null: is no regular file" in after(file, state, "--save", "/dev/null", status=USAGE)
    assert "--save /nowhere: No such file" in after(file, state, "--save", "/nowhere", status=USAGE)


def test_a_full_disk_below_the_file_ends_it_and_what_is_there_counts(file):
    """The file's disk is a file system in memory of 128 KiB."""
    words = f"mount -t tmpfs -o size=128k cut /mnt && {ALIGNCTL} conform {file} --prepare /mnt/state --write 0+1M; status=$?; " \
            f"{ALIGNCTL} conform {file} --after /mnt/state || exit 99; exit $status"
    done = subprocess.run(["unshare", "-m", "sh", "-c", words], text=True, capture_output=True, timeout=patience(60), check=False)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"needs a mount: {done.stderr}")
    assert done.returncode == IO and "No space left on device; what it has counts" in done.stderr, done.stderr
    assert "STATE could not be written; cut the power" in done.stdout and "; faulty: 0; fewer than 1 in" in done.stdout


def test_a_signal_is_the_usual_end(file, memory):
    state = memory / "state"
    words = [str(word) for word in (ALIGNCTL, "conform", file, "--prepare", state, "--write", "0+1M")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        limit = time.monotonic() + patience(30)
        while (not state.exists() or state.stat().st_size < 20000) and time.monotonic() < limit:
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=patience(30))[0]
    assert process.returncode == FINE and "stopped; cut the power of" in said and f"--after {state}" in said
    assert after(file, state)["stopped"] == "signal"


def members(value):
    if isinstance(value, dict):
        return set(value) | {name for each in value.values() for name in members(each)}
    return {name for each in value for name in members(each)} if isinstance(value, list) else set()
