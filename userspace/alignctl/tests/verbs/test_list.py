# SPDX-License-Identifier: GPL-2.0
"""list, on a made-up machine."""

import json
import os
import shutil

import pytest

from alignctl_program import alignctl, put, tables

FINE, FINDINGS, USAGE, IO = range(4)


def test_list_shows_what_sysfs_has(machine):
    root, align = machine
    put(align, target0_mode="coalesce", target0_memory_bytes=9216, target0_memory_high_water_bytes=46080,
        target0_blocks=2, held_blocks=2, held_bytes=1536, held_oldest_ms=7200001, degraded=1)
    (align.parent / "dm/suspended").write_text("1\n")
    shown = alignctl("list", "--json", env={**os.environ, "ALIGNCTL_SYSROOT": str(root)})
    assert shown.returncode == FINE, shown.stderr
    assert json.loads(shown.stdout) == {"format": 1, "devices": [{
        "name": "align-sda", "dm": "dm-0", "open_count": None, "suspended": True, "held_blocks": 2, "held_bytes": 1536,
        "held_oldest_ms": 7200001, "degraded": 1,
        "targets": [{"index": 0, "start_sector": None, "sectors": None, "device": "sda", "device_gone": False,
                     "device_start_sector": None, "mode": "coalesce", "logical_block_size": None,
                     "physical_block_size": 4096, "alignment_offset": 0, "hold_ms": 500, "max_blocks": 64, "blocks": 2,
                     "memory_bytes": 9216, "memory_high_water_bytes": 46080, "epoch": 1, "holding": None}]}]}
    shown = alignctl("list", env={**os.environ, "ALIGNCTL_SYSROOT": str(root)}).stdout
    assert tables(shown, "NAME") == [{
        "NAME": "align-sda", "DM": "dm-0", "SIZE": "-", "ON": "sda", "MODE": "coalesce", "PHYSICAL": "4 KiB", "OFFSET": "0 B",
        "HOLD": "500 ms", "OPEN": "-", "HELD": "2", "HELD-BYTES": "1.5 KiB", "OLDEST": "7200 s", "STATE": "degraded"}]
    assert len(shown.splitlines()) == 2 and shown.splitlines()[0].startswith("NAME  ")


@pytest.mark.parametrize("below, logical", [(4096, 512), (512, None), (None, None)])
def test_list_and_stats_show_the_logical_block_that_a_device_makes(machine, below, logical):
    """One that it passes on is of no interest, and has no column."""
    root, align = machine
    if below:
        queue = root / "sys/devices/pci0/block/sda/queue"
        queue.mkdir()
        (queue / "logical_block_size").write_text(f"{below}\n")
    for verb, word in (("list", "NAME"), ("stats", "TARGET")):
        [target] = json.loads(alignctl(verb, "--json", env={**os.environ, "ALIGNCTL_SYSROOT": str(root)}).stdout)["devices"][0][
            "targets"]
        assert target["logical_block_size"] == logical
        [row] = tables(alignctl(verb, env={**os.environ, "ALIGNCTL_SYSROOT": str(root)}).stdout, word)
        assert row.get("LOGICAL") == (f"{logical} B" if logical else None)


@pytest.mark.parametrize("mode, holding, state", [
    ("coalesce", 1, "live"), ("coalesce", 0, "holds nothing"), ("pad", 0, "live"), ("coalesce", None, "live")])
def test_list_says_that_a_device_in_coalesce_holds_nothing(machine, mode, holding, state):
    root, align = machine
    put(align, target0_mode=mode, **({} if holding is None else {"target0_holding": holding}))
    environment = {**os.environ, "ALIGNCTL_SYSROOT": str(root)}
    assert tables(alignctl("list", env=environment).stdout, "NAME")[0]["STATE"] == state
    document = json.loads(alignctl("list", "--json", env=environment).stdout)
    assert document["devices"][0]["targets"][0]["holding"] == (None if holding is None else bool(holding))


def test_list_has_no_age_where_nothing_was_held_a_moment_before(machine):
    root, align = machine
    put(align, held_blocks=0, held_bytes=0, held_oldest_ms=8)
    environment = {**os.environ, "ALIGNCTL_SYSROOT": str(root)}
    [listed] = json.loads(alignctl("list", "--json", env=environment).stdout)["devices"]
    assert (listed["held_blocks"], listed["held_bytes"], listed["held_oldest_ms"]) == (0, 0, 0)
    [row] = tables(alignctl("list", env=environment).stdout, "NAME")
    assert (row["HELD"], row["HELD-BYTES"], row["OLDEST"]) == ("0", "0 B", "0 s")


def test_a_device_of_which_sysfs_lacks_a_file_is_an_error_of_list(machine):
    root, align = machine
    (align / "held_blocks").unlink()
    failed = alignctl("list", env={**os.environ, "ALIGNCTL_SYSROOT": str(root)})
    assert failed.returncode == IO and "align/held_blocks" in failed.stderr


@pytest.fixture
def two(machine):
    """A machine with a second device, align-sdb, of which no file is missing; return the environment."""
    root, align = machine
    other = root / "sys/devices/virtual/block/dm-1"
    shutil.copytree(align.parent, other)
    (other / "dev").write_text("253:1\n")
    (other / "dm/name").write_text("align-sdb\n")
    for link in ("class/block/dm-1", "dev/block/253:1"):
        (root / "sys" / link).symlink_to(other)
    (align / "held_blocks").unlink()
    return {**os.environ, "ALIGNCTL_SYSROOT": str(root)}


@pytest.mark.parametrize("verb, word", [("list", "NAME"), ("stats", "TARGET")])
def test_a_device_that_cannot_be_read_hides_no_other(two, verb, word):
    listed = alignctl(verb, "--json", env=two)
    assert listed.returncode == IO and "align/held_blocks" in listed.stderr
    assert [device["name"] for device in json.loads(listed.stdout)["devices"]] == ["align-sdb"]
    shown = alignctl(verb, env=two)
    assert shown.returncode == IO and "align-sdb" in shown.stdout and "align-sda" not in shown.stdout
    assert len(tables(shown.stdout, word)) == 1


def test_a_named_device_that_cannot_be_read_is_an_error_with_nothing_to_show(two):
    failed = alignctl("stats", "align-sda", env=two)
    assert (failed.returncode, failed.stdout) == (IO, "") and "align/held_blocks" in failed.stderr
