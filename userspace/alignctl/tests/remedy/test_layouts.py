# SPDX-License-Identifier: GPL-2.0
"""
What check --layout says to give for a new layout: each command is run as printed on an image of that geometry, and check
has no finding about what it made, or the layout says what is left. Settings of databases are forecast. What needs
device-mapper, md or a mount is in kmod/tests/guest/test_layouts_of_devices.py, and ZFS in test_layout.c.
"""

import json
import os
import re
import subprocess

import pytest

from alignctl_program import alignctl
from audited import BRIDGE, DISK_BYTES, MIB, SECTOR, Machine, check, keep_probed, sparse
from followed import hurry_keys, shell
from lab.paths import REPO

USAGE = 2
UNITS = [SECTOR << shift for shift in range(12)]
# Logical block and unit: every unit, and some on drives of 4096-byte sectors.
GEOMETRIES = [*((SECTOR, unit) for unit in UNITS), (4096, 4096), (4096, 16384), (4096, MIB)]
PAGE = 4096
# The largest block of a forecast.
FORECAST = 65536
PHRASE = "a pass phrase\n"
WEAK = "--pbkdf pbkdf2 --pbkdf-force-iterations 1000"
TESTS = [REPO / "userspace/alignctl/tests/remedy/test_layouts.py", REPO / "userspace/alignctl/tests/remedy/test_layout.c",
         REPO / "kmod/tests/guest/test_layouts_of_devices.py"]


def layouts(device, *options, **environment):
    """(The row of a device, {name: its layout})."""
    done = alignctl("check", device, "--layout", *options, "--json", **environment)
    assert done.returncode == 0, done.stderr
    [row] = json.loads(done.stdout)["devices"]
    names = [layout["layout"] for layout in row["layouts"]]
    assert len(names) == len(set(names))
    return row, {layout["layout"]: layout for layout in row["layouts"]}


def judged(image, layout, options, notes=()):
    """Check that check finds about an image what its layout says: nothing, or what is left in writes below a unit."""
    faults, noted, _ = check(image, *options)
    unit = options[options.index("--physical") + 1]
    assert bool(faults) == bool(layout["writes_bytes"] % unit), (layout, faults)
    assert not faults or layout["left"]
    assert {name for rows in noted.values() for name in rows} == set(notes), noted


def made(name, folder, logical, unit, *, size=64 * MIB, answer="", offset=0):
    """Make a layout by its command, as printed, on a new image; return it, the layout, and the options for check."""
    image = sparse(folder / f"it's a {name}", size)
    options = ["--logical", logical, "--physical", unit, "--offset", offset]
    layout = layouts(image, *options)[1][name]
    text = alignctl("check", image, "--layout", *options).stdout
    assert layout["give"] in text and layout["command"]
    for more in ("needs", "left"):
        assert layout[more] is None or layout[more] in text
    shell(layout["give"], answer=answer)
    return image, layout, options


@pytest.mark.parametrize("logical, unit", GEOMETRIES)
def test_a_partition_begins_and_ends_at_units(tmp_path, loops, logical, unit):
    image, layout, options = made("partition", tmp_path, logical, unit)
    judged(image, layout, options)
    [part] = [row for row in check(image, *options)[2].values() if row["kind"] == "part"]
    assert part["shift_bytes"] == 0 and part["end_bytes"] % unit == 0


@pytest.mark.parametrize("unit, offset", [(4096, 3584), (4096, 512), (65536, 32768), (MIB, 512)])
def test_a_partition_begins_and_ends_at_units_of_a_shifted_disk(tmp_path, unit, offset):
    image, layout, options = made("partition", tmp_path, SECTOR, unit, offset=offset)
    faults, notes, devices = check(image, *options)
    # that the disk itself is cut inside of blocks no layout mends
    assert not faults and not notes and layout["left"] is None
    assert devices[f"{image}:1"]["shift_bytes"] == 0


@pytest.mark.parametrize("logical, unit", GEOMETRIES)
def test_xfs_is_made_with_whole_units(tmp_path, loops, logical, unit):
    image, layout, options = made("xfs", tmp_path, logical, unit, size=1024 * MIB)
    judged(image, layout, options)
    assert ("su=" in layout["give"]) == (unit > PAGE)


@pytest.mark.parametrize("unit", UNITS)
def test_xfs_with_blocks_or_sectors_above_a_page_is_made_with_whole_units(tmp_path, unit):
    if unit <= PAGE:
        assert not {"xfs-block", "xfs-sector"} & layouts(sparse(tmp_path / "disk", MIB), "--physical", unit)[1].keys()
        return
    image, layout, options = made("xfs-block", tmp_path, SECTOR, unit, size=1024 * MIB)
    # its blocks are whole units as far as XFS can, and what is left is the sector's
    faults, _, devices = check(image, *options)
    assert set(faults[str(image)]) == {"fs-sector"} | ({"fs-block"} if unit > 65536 else set()) and layout["left"]
    assert devices[str(image)]["content"]["block_size"] == min(unit, 65536)
    image.unlink()
    image, layout, options = made("xfs-sector", tmp_path, SECTOR, unit, size=1024 * MIB)
    judged(image, layout, options)
    content = check(image, *options)[2][str(image)]["content"]
    assert (content["sector_size"], content["block_size"]) == (min(unit, 32768), min(unit, 65536))


@pytest.mark.parametrize("logical, unit", GEOMETRIES)
def test_ext4_is_made_with_whole_units(tmp_path, loops, logical, unit):
    image, layout, options = made("ext4", tmp_path, logical, unit)
    judged(image, layout, options)
    assert ("stride=" in layout["give"]) == (unit > PAGE)


@pytest.mark.parametrize("unit", UNITS)
def test_ext4_with_blocks_above_a_page_is_made_with_whole_units(tmp_path, unit):
    """mke2fs asks whether it is meant, as this system may not mount it."""
    if unit <= PAGE:
        assert "ext4-block" not in layouts(sparse(tmp_path / "disk", MIB), "--physical", unit)[1]
        return
    image, layout, options = made("ext4-block", tmp_path, SECTOR, unit, size=256 * MIB, answer="y\n")
    judged(image, layout, options)
    assert check(image, *options)[2][str(image)]["content"]["block_size"] == min(unit, 65536)


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory):
    """LUKS by each command that there is for any unit: {command without its path: the image}, and a folder for them."""
    return {}, tmp_path_factory.mktemp("luks")


@pytest.mark.parametrize("unit", UNITS)
def test_luks_is_made_with_whole_units(encrypted, tmp_path, unit):
    """Units that have the same command share an image; with a weak key, which takes no seconds to make."""
    images, folder = encrypted
    layout = layouts(sparse(tmp_path / "new", MIB), "--physical", unit)[1]["luks"]
    command = layout["give"].removesuffix(str(tmp_path / "new"))
    if command not in images:
        images[command] = sparse(folder / str(unit), 32 * MIB)
        shell(f"{command} {images[command]} {WEAK}", answer=PHRASE)
    faults, notes, devices = check(images[command], "--physical", unit)
    content = devices[str(images[command])]["content"]
    assert not faults and not notes and content["type"] == "crypto_LUKS"
    assert content["sector_size"] == layout["writes_bytes"] == min(unit, PAGE)
    assert bool(layout["left"]) == (unit > PAGE)


def test_luks_is_made_as_printed(tmp_path, loops, monkeypatch):
    hurry_keys(tmp_path, monkeypatch)
    image, _, options = made("luks", tmp_path, 4096, 4096, size=32 * MIB, answer=PHRASE)
    assert check(image, *options)[:2] == ({}, {})


@pytest.fixture
def lvm(tmp_path, monkeypatch, loops):
    """LVM without this machine's own configuration and devices."""
    (tmp_path / "lvm").mkdir()
    (tmp_path / "lvm/lvm.conf").write_text('devices { filter=["a|^/dev/loop|","r|.*|"] use_devicesfile=0 hints=none } '
                                           f'global {{ locking_dir="{tmp_path}" }}')
    monkeypatch.setenv("LVM_SYSTEM_DIR", str(tmp_path / "lvm"))
    monkeypatch.setenv("LVM_SUPPRESS_FD_WARNINGS", "1")


@pytest.mark.parametrize("logical, unit, offset", [(SECTOR, 4096, 0), (SECTOR, MIB, 0), (4096, 16384, 0), (SECTOR, 4096, 3584),
                                                   (SECTOR, 65536, 512)])
def test_a_volume_of_lvm_has_its_data_at_a_unit(tmp_path, lvm, logical, unit, offset):
    image, layout, options = made("lvm", tmp_path, logical, unit, offset=offset)
    faults, notes, devices = check(image, *options)
    device = devices[str(image)]
    assert (faults, notes, layout["left"]) == ({}, {}, None) and device["content"]["type"] == "LVM2_member"
    assert device["content"]["data_start"] == MIB + offset
    # of the same for every unit, aligned to the largest
    for other in UNITS:
        if offset == 0 and other >= logical:
            assert check(image, "--logical", logical, "--physical", other)[:2] == ({}, {})


def forecast(name, folder, unit, sizes):
    """Plan writes of the sizes that a layout's settings name, each at multiples of itself, on drives of that unit."""
    row, rows = layouts(sparse(folder / "disk", MIB), "--physical", unit)
    layout = rows[name]
    assert not layout["command"] and row["unit"]["bytes"] == unit
    written = sizes(layout["give"])
    assert written and layout["writes_bytes"] in written and all(size >= min(layout["writes_bytes"], 8192) for size in written)
    if unit > FORECAST:
        assert layout["left"]
        return
    trace = folder / "trace.csv"
    trace.write_text("op,offset,bytes\n" + "".join(f"write,{size * at},{size}\n" for size in written for at in range(40)))
    done = alignctl("plan", trace, "--physical", unit, "--json")
    assert done.returncode == 0, done.stderr
    touches = json.loads(done.stdout)["touches_expected"]
    assert bool(touches) == any(size % unit for size in written)
    assert not touches or layout["left"]


@pytest.mark.parametrize("unit", UNITS)
def test_settings_of_ceph_allocate_whole_units(tmp_path, unit):
    forecast("ceph", tmp_path, unit, lambda give: [int(re.fullmatch(r"bluestore_min_alloc_size = (\d+)", give)[1])])


@pytest.mark.parametrize("unit", UNITS)
def test_block_sizes_of_postgresql_are_whole_units(tmp_path, unit):
    def sizes(give):
        if give == "block_size 8192, wal_block_size 8192, as it is by default":
            return [8192, 8192]
        kib = re.fullmatch(r"\./configure --with-blocksize=(\d+) --with-wal-blocksize=(\d+)", give)
        block, log = [int(size) * 1024 for size in kib.groups()]
        # as much of the unit as it can be compiled with
        assert (block, log) == (min(unit, 32768), min(unit, 65536))
        return [block, log]
    forecast("postgresql", tmp_path, unit, sizes)


@pytest.mark.parametrize("unit", UNITS)
def test_sizes_of_innodb_are_whole_units(tmp_path, unit):
    def sizes(give):
        if give == "innodb_page_size=16384 innodb_log_write_ahead_size=8192, as it is by default":
            return [16384, 8192]
        page, ahead = map(int, re.fullmatch(r"innodb_page_size=(\d+) innodb_log_write_ahead_size=(\d+)", give).groups())
        # MySQL takes no more than a page for the log, and for a page no more than 64 KiB
        assert ahead == page == min(unit, 65536)
        return [page, ahead]
    forecast("innodb", tmp_path, unit, sizes)


def test_every_layout_of_the_table_is_made_or_forecast_by_a_test(tmp_path):
    call = re.compile(r"\b(?:made|forecast|judged)\(\s*\"([\w-]+)\"")
    tested = {name for file in TESTS for name in call.findall(file.read_text())}
    image = sparse(tmp_path / "disk", MIB)
    assert {name for unit in UNITS for name in layouts(image, "--physical", unit)[1]} == tested


def test_an_image_says_no_unit(tmp_path):
    image = sparse(tmp_path / "disk", MIB)
    row, rows = layouts(image)
    assert not rows and row["unit"]["bytes"] is None and row["probe"] is None and "--physical" in row["cannot_tell"]
    assert alignctl("check", image, "--layout").stdout == f"{image}: {row['cannot_tell']}\n"


@pytest.fixture
def bridge(tmp_path):
    """A USB bridge that claims 512/512, with a partition at 1 MiB."""
    machine = Machine(tmp_path)
    machine.disk("sde", (8, 64), physical=512, device__wwid=BRIDGE)
    machine.device("sde1", (8, 65), parent="pci0/sde", bytes_=DISK_BYTES // 2, partition=1, start=2048)
    machine.device("sde2", (8, 66), parent="pci0/sde", bytes_=DISK_BYTES // 4, partition=2, start=2055 + 32768)
    return machine, {"env": {**os.environ, "ALIGNCTL_SYSROOT": str(tmp_path)}}


def test_the_unit_has_its_source_and_what_contradicts_it(bridge):
    machine, options = bridge
    row, rows = layouts("sde", **options)
    assert (row["unit"]["source"], rows["xfs"]["writes_bytes"]) == ("kernel", 512)
    text = alignctl("check", "sde", "--layout", **options).stdout
    assert text.startswith("sde: unit 512: kernel (physical_block_size), confidence medium\n"
                           f"  only the kernel says so: '{row['probe']}' measures it\n")
    assert row["probe"] == "alignctl probe block-size /dev/sde"
    keep_probed(machine.root)
    row, rows = layouts("sde", **options)
    assert (row["unit"]["source"], row["unit"]["bytes"], row["first_unit_byte"]) == ("measured", 4096, 3584)
    assert "start=2055," in rows["partition"]["give"] and rows["xfs"]["give"] is None and "byte 3584" in rows["xfs"]["left"]
    text = alignctl("check", "sde", "--layout", **options).stdout
    assert text.startswith("sde: unit 4096: measured (probe block-size), confidence high\n  sources disagree: measured (probe "
                           "block-size) 4096, kernel (physical_block_size) 512\n")
    assert "only the kernel" not in text


def test_a_partition_is_laid_out_by_where_it_begins(bridge):
    machine, options = bridge
    keep_probed(machine.root)
    row, rows = layouts("sde1", **options)
    assert (row["drive"], row["first_unit_byte"]) == ("sde", 3584) and "partition" not in rows
    assert rows["lvm"]["give"] == "pvcreate --dataalignment 1m --dataalignmentoffset 3584b /dev/sde1"
    row, rows = layouts("sde2", **options)
    assert row["first_unit_byte"] == 0 and rows["xfs"]["give"] == "mkfs.xfs -s size=4096 -b size=4096 /dev/sde2"


def test_a_drive_of_which_nothing_is_known_is_to_be_probed(tmp_path):
    machine = Machine(tmp_path)
    machine.disk("sda", (8, 0), physical=0, io_min=0)
    options = {"env": {**os.environ, "ALIGNCTL_SYSROOT": str(tmp_path)}}
    text = "cannot tell: run 'alignctl probe block-size /dev/sda'"
    assert alignctl("check", "--layout", **options).stdout == f"sda: {text}\n"
    row, rows = layouts("sda", **options)
    assert not rows and row["cannot_tell"] == text and text.endswith(f"'{row['probe']}'")


def test_all_disks_are_laid_out_and_nothing_on_them(bridge):
    machine, options = bridge
    machine.disk("sda", (8, 0), logical=4096, physical=4096, io_min=16384, rotational=0)
    done = alignctl("check", "--layout", "--json", **options)
    rows = {row["device"]: row for row in json.loads(done.stdout)["devices"]}
    assert {name: row["unit"]["bytes"] for name, row in rows.items()} == {"sda": 16384, "sde": 512}
    text = alignctl("check", "--layout", **options).stdout
    assert text.count("LAYOUT ") == 2 and "\n\nsd" in text
    done = alignctl("check", "--layout", "sde2", "sda", "--json", **options)
    assert [row["device"] for row in json.loads(done.stdout)["devices"]] == ["sde2", "sda"]


def test_two_images_are_laid_out_each_by_its_name(tmp_path):
    images = [sparse(tmp_path / name, MIB * size) for name, size in (("a", 64), ("b", 32))]
    done = alignctl("check", *images, "--physical", 4096, "--layout", "--json")
    found = json.loads(done.stdout)["devices"]
    assert [row["path"] for row in found] == [*map(str, images)]
    assert all(row["path"] in row["layouts"][0]["give"] for row in found)


@pytest.mark.parametrize("options", [["--remedies"], ["--recording", "trace"], ["--format", "prometheus"]])
def test_it_is_asked_alone(tmp_path, options):
    done = alignctl("check", sparse(tmp_path / "disk", MIB), "--layout", *options)
    assert done.returncode == USAGE and done.stderr.startswith(f"alignctl: --layout, {options[0]}: exclude each other")


def test_nothing_is_written(tmp_path):
    image = sparse(tmp_path / "disk", MIB)
    alignctl("check", image, "--layout", "--physical", 4096)
    assert subprocess.run(["cmp", image, "/dev/zero", "-n", str(MIB)], check=False).returncode == 0
