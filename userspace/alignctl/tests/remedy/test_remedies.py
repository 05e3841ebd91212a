# SPDX-License-Identifier: GPL-2.0
"""
Every command that check prints, run as printed on something with content, by the real tools: the content is whole
afterwards, or the remedy says what it destroys, and the finding is gone. What needs device-mapper or the module is in
kmod/tests/guest/test_remedies_of_devices.py.
"""

import contextlib
import json
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from alignctl_program import ALIGNCTL, alignctl
from audited import MIB, SECTOR, run, sparse
from followed import QUICK_KEYS, digest, findings, follow, followed_in, hurry_keys, obey, printed, table
from lab.paths import REPO
from lab.plugins.extent import only_all

FAST = ["--batch-mode", *QUICK_KEYS.split()]
PHRASE = "a pass phrase"
USAGE = 2
TESTS = [REPO / "userspace/alignctl/tests/remedy/test_remedies.py", REPO / "kmod/tests/guest/test_remedies_of_devices.py",
         REPO / "scripts/lab/tests/images/test_reboots.py"]
# A name that a shell would take apart.
AWKWARD = "it's a disk $(image)"


@contextlib.contextmanager
def looped(image, *options):
    """A loop device of a file, for a test that has the fixture loops."""
    loop = run("losetup", "--find", "--show", *options, image).strip()
    try:
        yield loop
    finally:
        run("losetup", "--detach", loop)


def filled(path, size, number=1):
    """A file of bytes that differ from block to block."""
    with open(path, "wb") as file:
        for block in range(size // 4096):
            file.write(f"{number}:{block};".encode().ljust(16)[:16] * 256)
    return path


def partitioned(path, script, *, sector=SECTOR, size=64 * MIB):
    """An image that sfdisk has made a table in, in sectors of that size."""
    sparse(path, size)
    if sector == SECTOR:
        run("sfdisk", "--quiet", path, input=script)
    else:
        with looped(path, "--sector-size", str(sector)) as loop:
            run("sfdisk", "--quiet", "--no-tell-kernel", loop, input=script)
    return path


def put(image, start, content):
    """Writes a file into an image and returns its hash."""
    with open(content, "rb") as source, open(image, "r+b") as target:
        target.seek(start)
        target.write(source.read())
    return digest(content, 0, os.path.getsize(content))


def starts(image, *options):
    """{partition: its first byte}."""
    rows = json.loads(alignctl("check", image, *options, "--json").stdout)["devices"]
    return {row["name"].rpartition(":")[2]: row["start_bytes"] for row in rows if row["kind"] == "part"}


@pytest.fixture
def ext4(tmp_path):
    """A file system with a file in it."""
    image, files = sparse(tmp_path / "ext4", 16 * MIB), tmp_path / "files"
    files.mkdir()
    filled(files / "a", MIB)
    run("mkfs.ext4", "-q", "-F", "-b", "4096", "-d", files, image)
    return image


@pytest.mark.parametrize("label", ["gpt", "dos"])
@pytest.mark.parametrize("shift, room", [(1, "behind"), (5, "behind"), (3, "before")])
def test_a_partition_is_moved_with_its_content(tmp_path, ext4, label, shift, room):
    start, sectors = 4096 + shift, 16 * MIB // SECTOR
    other = f"start={start + sectors}, size=2048\n" if room == "before" else ""
    image = partitioned(tmp_path / AWKWARD, f"label: {label}\nstart={start}, size={sectors}\n{other}")
    whole = put(image, start * SECTOR, ext4)
    follow("move-partition", f"{image}:1", "partition-start", image)
    now = starts(image)["1"]
    assert now == (4096 + (8 if room == "behind" else 0)) * SECTOR
    assert digest(image, now, 16 * MIB) == whole


@pytest.mark.parametrize("label", ["gpt", "dos"])
def test_a_partition_in_an_image_of_larger_sectors_is_moved_with_its_content(tmp_path, loops, ext4, label):
    """sfdisk counts a file in sectors of 512 bytes, so the command has to make a loop device."""
    image = partitioned(tmp_path / AWKWARD, f"label: {label}\nstart=513, size=4096\n", sector=4096)
    whole = put(image, 513 * 4096, ext4)
    options = ["--logical", 4096, "--physical", 16384]
    command = follow("move-partition", f"{image}:1", "partition-start", image, *options)
    assert "losetup" in command
    now = starts(image, *options)["1"]
    assert now % 16384 == 0
    assert digest(image, now, 16 * MIB) == whole


def test_a_partition_is_not_moved_into_an_extended_one(tmp_path, ext4):
    """sfdisk would do it, and the logical partitions would be gone with the table before them."""
    first, sectors = 4097, 16 * MIB // SECTOR
    extended = first + sectors
    image = partitioned(tmp_path / "disk", f"label: dos\nstart={first}, size={sectors}\n"
                                           f"start={extended}, size=16384, type=5\nstart={extended + 2048}, size=8192\n")
    whole = put(image, first * SECTOR, ext4)
    follow("move-partition", f"{image}:1", "partition-start", image)
    now = starts(image)
    assert now == {"1": 4096 * SECTOR, "5": (extended + 2048) * SECTOR}
    assert digest(image, now["1"], 16 * MIB) == whole


@pytest.mark.parametrize("first, last, step", [(8193, 24580, None), (2048, 24580, -3), (8193, 40000, 5)])
def test_a_partition_stays_where_its_gpt_lets_one_be(tmp_path, ext4, first, last, step):
    """The table may keep free more sectors than it needs itself, as where a disk's optimal I/O size is large."""
    start, sectors = 8195, 16384
    image = partitioned(tmp_path / "disk", f"label: gpt\nfirst-lba: {first}\nlast-lba: {last}\n"
                                           f"start={start}, size={sectors}\n")
    content = filled(tmp_path / "content", sectors * SECTOR)
    whole = put(image, start * SECTOR, content)
    if step is None:
        assert not findings(image)[f"{image}:1", "partition-start"]["remedy"]
        return
    follow("move-partition", f"{image}:1", "partition-start", image)
    now = starts(image)["1"]
    assert now == (start + step) * SECTOR and digest(image, now, sectors * SECTOR) == whole


def test_a_partition_without_room_has_no_command(tmp_path):
    image = partitioned(tmp_path / "disk", "label: dos\nstart=2049, size=4096\nstart=6145, size=4096, type=5\n"
                                           "start=6200, size=1024\n")
    row = findings(image)[f"{image}:1", "partition-start"]
    assert not row["command"] and not row["remedy"] and "no room" in row["not_in_place"]


@pytest.mark.parametrize("sector, physical", [(512, 4096), (4096, 16384)])
@pytest.mark.parametrize("label", ["gpt", "dos"])
def test_the_end_of_an_empty_partition_is_cut_and_nothing_else(tmp_path, loops, label, sector, physical):
    image = partitioned(tmp_path / "disk", f"label: {label}\nstart={MIB // sector}, size={4 * MIB // sector - 1}\n"
                                           f"start={8 * MIB // sector}, size={16 * MIB // sector}\n", sector=sector)
    content = filled(tmp_path / "content", 16 * MIB)
    whole = put(image, 8 * MIB, content)
    options = ["--logical", sector, "--physical", physical]
    follow("shrink-partition", f"{image}:1", "partition-end", image, *options)
    assert starts(image, *options) == {"1": MIB, "2": 8 * MIB}
    assert digest(image, 8 * MIB, 16 * MIB) == whole


def test_a_path_that_a_terminal_cannot_show_has_no_command(tmp_path):
    image = partitioned(tmp_path / "a\nb", "label: dos\nstart=2049, size=4096\n")
    row = findings(image)[f"{image}:1", "partition-start"]
    assert not row["command"] and "another name" in row["not_in_place"]


def test_a_path_that_looks_like_an_option_is_none(tmp_path):
    partitioned(tmp_path / "-n", "label: dos\nstart=2049, size=4096\n")
    done = alignctl("check", "--json", "--", "-n", cwd=tmp_path)
    [row] = json.loads(done.stdout)["findings"]
    run("sh", "-c", row["command"], cwd=tmp_path)
    assert alignctl("check", "--", "-n", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("content", ["none", "ext4"])
def test_a_loop_device_gets_the_sectors_of_the_disk_below(tmp_path, loops, ext4, content):
    """As seen through a second loop device, whose sectors are those of a disk of 4096 bytes."""
    image = ext4 if content == "ext4" else sparse(tmp_path / "empty", 16 * MIB)
    with looped(image, "--sector-size", "4096") as disk, looped(disk, "--sector-size", "512") as loop:
        before = digest(loop, 0, 16 * MIB)
        command = follow("loop-sectors", loop.removeprefix("/dev/"), "hidden", loop)
        assert command == f"losetup --sector-size 4096 {loop}"
        assert digest(loop, 0, 16 * MIB) == before
        if content == "ext4":
            run("e2fsck", "-fn", loop)


@pytest.mark.parametrize("content", ["xfs", "table"])
def test_a_loop_device_whose_content_has_small_sectors_keeps_them(tmp_path, loops, content):
    image = tmp_path / "it's"
    if content == "xfs":
        run("mkfs.xfs", "-q", "-s", "size=512", sparse(image, 320 * MIB))
    else:
        partitioned(image, "label: dos\nstart=2048, size=4096\n")
    with looped(image, "--sector-size", "4096") as disk, looped(disk, "--sector-size", "512") as loop:
        row = findings(loop)[loop.removeprefix("/dev/"), "hidden"]
        assert not row["command"] and not row["remedy"]
        assert "unreadable with larger" in row["not_in_place"]
        # the file that the device has, and no word in its place
        assert disk in row["text"] and "FILE" not in printed(loop)


def test_a_loop_device_that_begins_inside_a_block_keeps_its_sectors(tmp_path, loops):
    with looped(sparse(tmp_path / "image", 16 * MIB), "--sector-size", "4096") as disk, \
            looped(disk, "--sector-size", "512", "--offset", "512") as loop:
        rows = {finding: row for (_, finding), row in findings(loop).items()}
        assert not rows["hidden"]["remedy"] and not rows["loop-start"]["remedy"]


def test_luks_2_that_is_closed_has_no_command(tmp_path):
    """What is inside cannot be seen, and cryptsetup refuses larger sectors then."""
    image = sparse(tmp_path / "luks", 24 * MIB)
    run("cryptsetup", "luksFormat", *FAST, "--type", "luks2", "--sector-size", "512", image, "-", input=PHRASE)
    row = findings(image)[str(image), "luks-sector"]
    assert not row["command"] and not row["remedy"] and "open the LUKS device" in row["not_in_place"]


@pytest.mark.parametrize("place", ["image", only_all("other commands are run on a loop device and on an image", "device")])
def test_luks_1_is_made_anew(tmp_path, loops, place, monkeypatch):
    """There is no other command for it: reencrypt --sector-size is for LUKS 2."""
    image = tmp_path / "luks"
    hurry_keys(tmp_path, monkeypatch)
    run("cryptsetup", "luksFormat", "--batch-mode", "--type", "luks1", "--pbkdf-force-iterations", "1000",
        sparse(image, 24 * MIB), "-", input=PHRASE)
    with looped(image, "--sector-size", "512") if place == "device" else contextlib.nullcontext(image) as device:
        follow("luks-remake", str(device).removeprefix("/dev/"), "luks-sector", device, "--physical", 4096,
               destroys="the content", answer=PHRASE)


def test_luks_with_shifted_data_is_made_anew(tmp_path, monkeypatch):
    image = tmp_path / AWKWARD
    hurry_keys(tmp_path, monkeypatch)
    run("cryptsetup", "luksFormat", "--batch-mode", "--type", "luks1", "--pbkdf-force-iterations", "1000", "--align-payload",
        "4099", sparse(image, 24 * MIB), "-", input=PHRASE)
    follow("luks-data", str(image), "data-start", image, destroys="the content", answer=PHRASE)


@pytest.mark.parametrize("place", ["image", "partition"])
def test_a_file_system_is_made_anew_with_whole_blocks(tmp_path, loops, place):
    """In a partition of an image, too, which has no path of its own; its neighbour is left alone."""
    for name, size, finding, make in (("xfs", 320, "fs-sector", ["mkfs.xfs", "-q", "-s", "size=512"]),
                                      ("ext4", 16, "fs-block", ["mkfs.ext4", "-q", "-F", "-b", "1024"])):
        content = sparse(tmp_path / name, size * MIB)
        run(*make, content)
        if place == "partition":
            sectors = size * MIB // SECTOR
            image = partitioned(tmp_path / f"{name} disk", f"label: gpt\nstart=2048, size={sectors}\nsize=2048\n",
                                size=(size + 8) * MIB)
            put(image, MIB, content)
            put(image, MIB + size * MIB, filled(tmp_path / "neighbour", MIB))
            device = f"{image}:1"
        else:
            image, device = content, str(content)
        if name == "xfs":
            follow("mkfs-xfs", device, finding, image, destroys="the content")
        else:
            follow("mkfs-ext", device, finding, image, destroys="the content")
        if place == "partition":
            assert digest(image, MIB + size * MIB, MIB) == digest(tmp_path / "neighbour", 0, MIB)


def test_a_file_that_is_no_device_becomes_one(tmp_path, loops):
    """The command is printed by the path that was given, with any characters."""
    image = filled(tmp_path / AWKWARD, MIB)
    refused = alignctl("attach", image)
    assert refused.returncode == USAGE
    loop = obey("make-loop", refused.stderr).strip()
    try:
        assert digest(loop, 0, MIB) == digest(image, 0, MIB)
    finally:
        run("losetup", "--detach", loop)


def test_a_method_that_replay_was_given_is_made_by_probe(tmp_path):
    disk = filled(tmp_path / AWKWARD, 24 * MIB)
    whole = digest(disk, 0, 24 * MIB)
    obey("probe-method", alignctl("replay", "cncread", "--on", disk).stderr)
    assert digest(disk, 0, 24 * MIB) == whole


def test_a_workload_that_probe_was_given_is_replayed_over_the_content(tmp_path):
    disk = sparse(tmp_path / AWKWARD, 96 * MIB)
    refused = alignctl("probe", "w512", disk).stderr
    assert "overwrites" in refused and table()["replay-workload"]["destroys"] == "the content"
    assert "w512" in obey("replay-workload", refused)


def test_a_trace_is_converted_by_the_verb_that_record_names(tmp_path):
    old, new = tmp_path / AWKWARD, tmp_path / "new file"
    old.write_text("op,offset,bytes\nwrite,0,4096\n")
    obey("convert-trace", alignctl("record", "--convert", old, "--output", new, "--format", "csv").stderr)
    assert "4096" in new.read_text() and old.read_text().endswith("write,0,4096\n")


def test_what_a_cut_has_left_is_judged_by_the_command_that_prepare_names(tmp_path, loops):
    """The image is in memory, as conform takes no STATE on the device's own disk. No power is cut, so all is there."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory, looped(filled(Path(memory) / "image", 8 * MIB)) as loop:
        area = ["--write", f"0+{MIB}", "--rounds", "20"]
        sent = alignctl("conform", loop, "--prepare", tmp_path / AWKWARD, *area)
        assert "faulty" in obey("conform-after", sent.stdout)
        before = digest(loop, 0, 8 * MIB)
        sent = alignctl("conform", loop, "--prepare", tmp_path / "state", *area, "--save", tmp_path / f"{AWKWARD} saved")
        obey("conform-after-save", sent.stdout)
        assert digest(loop, 0, 8 * MIB) == before


def test_what_a_killed_conform_has_saved_is_restored_by_its_command(tmp_path, loops):
    saved = tmp_path / AWKWARD
    with looped(filled(tmp_path / "image", 8 * MIB)) as loop:
        before = digest(loop, 0, 8 * MIB)
        with subprocess.Popen([ALIGNCTL, "conform", loop, "--write", f"{MIB}+{MIB}", "--time", "600", "--save", saved], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as conform:
            said = conform.stderr.readline()
            assert f"are saved in {saved}" in said
            while digest(loop, MIB, MIB) == digest(saved, 0, MIB):
                assert conform.poll() is None
            conform.kill()
        assert digest(loop, 0, 8 * MIB) != before
        obey("restore-area", said)
        run("blockdev", "--flushbufs", loop)
        assert digest(loop, 0, 8 * MIB) == before


def test_every_remedy_of_the_table_is_followed_by_a_test():
    assert followed_in(*TESTS) == set(table())


def test_each_remedy_is_for_a_rule_or_a_message():
    assert [name for name, row in table().items() if not row["purpose"]] == []


def test_the_list_for_people_has_every_remedy_and_what_it_destroys():
    text = alignctl("check", "--remedies").stdout
    for row in table().values():
        assert f"{row['name']}, for {row['purpose']}\n" in text and f"  command: {row['command']}\n" in text
        assert f"  destroys: {row['destroys']}; {'unmount first' if row['unmount'] else 'may stay mounted'}\n" in text


def test_the_list_takes_no_device(tmp_path):
    done = alignctl("check", "--remedies", tmp_path)
    assert done.returncode == USAGE and "--remedies" in done.stderr


def test_what_destroys_or_needs_a_restore_is_not_called_a_mend():
    """Only a command that keeps all content is printed alone; others stand among words that say to back up."""
    for row in table().values():
        assert bool(row["text"]) or row["destroys"] == "nothing", row
        assert row["destroys"] != "the content" or "back up" in row["text"], row
