# SPDX-License-Identifier: GPL-2.0
"""The kernel's measurement of a table in its IMA log: all parameters that determine the target's behaviour."""

from pathlib import Path

import pytest

from rig.dm import Align, number_of, run, sectors_of

SECURITY = Path("/sys/kernel/security")
POLICY = SECURITY / "ima/policy"
# Mode, geometry and limits of the target come after its name, version, and these, which every target has.
COMMON = ("target_index", "target_begin", "target_len", "target_name")


@pytest.fixture(scope="module", autouse=True)
def policy():
    """Write the policy, which is possible once per boot, and only for this test."""
    if not (SECURITY / "ima").exists():
        run("mount", "-t", "securityfs", "securityfs", SECURITY)
    if POLICY.exists():
        POLICY.write_text("measure func=CRITICAL_DATA label=device-mapper\n")


def tables():
    """Return the words of the first target of each measured table."""
    lines = (SECURITY / "ima/ascii_runtime_measurements").read_text().splitlines()
    for words in map(str.split, lines):
        if words[4] == "dm_table_load":
            target = bytes.fromhex(words[5]).decode().split(";")[2]
            yield dict(word.split("=") for word in target.split(","))


@pytest.mark.parametrize("given,measured", [
    ({}, {"mode": "report", "logical_block_size": "512", "physical_block_size": "4096", "alignment_offset": "0",
          "max_blocks": "4096", "hold_ms": "500", "write_cache": "off"}),
    ({"mode": "coalesce", "physical_block_size": 8192, "alignment_offset": 512, "max_blocks": 17, "hold_ms": 29,
      "write_cache": "on"},
     {"mode": "coalesce", "logical_block_size": "512", "physical_block_size": "8192", "alignment_offset": "512",
      "max_blocks": "17", "hold_ms": "29", "write_cache": "on"})])
def test_a_table_is_measured_with_all_that_it_decides(rig, given, measured):
    path = rig.drive("p4096").path
    with Align(path, start=7, **given):
        *_, found = tables()
    assert found.pop("target_version").count(".") == 2
    assert [found.pop(word) for word in COMMON] == ["0", "0", str(sectors_of(path) - 7), "align"]
    assert found == {"device_name": number_of(path), "start": "7", **measured}
