# SPDX-License-Identifier: GPL-2.0
"""How fast a disk rotates, as check has it of a made-up machine: who is believed, what is no rate, and what contradicts."""

import json
import re

import pytest

from alignctl_program import alignctl
from audited import BRIDGE, DISK_BYTES, KEPT, Machine, rates


def keep_rotation(root, measured, **figures):
    """Keep a result of `alignctl probe rotation` for the bridge on a made-up machine."""
    file = root / KEPT.replace("probed/", "probed/rotation/")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"format": 1, "device": "/dev/sdd", "wwid": BRIDGE, "size_bytes": DISK_BYTES, "rpm": measured,
                                "rpm_least": measured - measured // 400, "rpm_most": measured + measured // 80,
                                "method": "rotation",
                                "time": "2026-11-28T03:00:00Z"} | figures))


@pytest.mark.parametrize("said, rotational, rotation", [
    ({"page": 7200}, 1, (7200, "drive", "VPD page B1h")),
    ({"word": 5400}, 1, (5400, "drive", "IDENTIFY word 217")),
    # a bridge makes the page; it may not know what the drive says
    ({"word": 5400, "page": 7200}, 1, (5400, "drive", "IDENTIFY word 217")),
    ({"word": 0, "page": 7200}, 1, (7200, "drive", "VPD page B1h")),
    ({"word": 0xffff, "page": 0x0400}, 1, None),
    ({"page": 1}, 1, (0, "drive", "VPD page B1h")),
    # of a disk that says nothing the kernel knows only that it does not rotate
    ({}, 0, (0, "kernel", "rotational")),
    ({"page": 0}, 1, None),
    ({}, 1, None),
])
def test_a_disk_rotates_as_fast_as_the_first_says_that_knows(tmp_path, said, rotational, rotation):
    machine = Machine(tmp_path)
    rates(machine.disk("sdd", (8, 48), rotational=rotational), **said)
    found = machine.check("sdd")[2]["sdd"]["unit"]["rotation"]
    assert (found and first(found)) == (rotation and dict(zip(("rpm", "source", "figure"), rotation, strict=True)))


def first(found):
    """What is taken of a rotation."""
    return {key: found[key] for key in ("rpm", "source", "figure")}


@pytest.fixture
def bridge(tmp_path):
    """A machine with a disk, whose pages the caller lays beside it, and of which a rotation can be kept."""
    machine = Machine(tmp_path)
    machine.bridge = machine.disk("sdd", (8, 48), device__wwid=BRIDGE)
    return machine


@pytest.mark.parametrize("measured, says, disagree", [
    (7178, 7200, None), (7178, None, None),
    # within 1 % of the interval, which is 7161 to 7267, and beyond
    (7178, 7090, None), (7178, 7089, "7089 rpm"), (7178, 7339, None), (7178, 7340, "7340 rpm"),
    (5400, 7200, "7200 rpm"), (0, 7200, "7200 rpm"), (7178, 1, "no rotation"), (0, 1, None)])
def test_what_was_measured_comes_first_and_a_contradiction_is_a_note(bridge, measured, says, disagree):
    keep_rotation(bridge.root, measured)
    rates(bridge.bridge, page=says)
    faults, notes, devices = bridge.check("sdd")
    rotation = devices["sdd"]["unit"]["rotation"]
    assert first(rotation) == {"rpm": measured, "source": "measured", "figure": "probe rotation"}
    assert rotation["contradicted"] is bool(disagree) and not faults
    claims = [(claim["source"], claim["figure"], claim["rpm"], claim["rpm_least"], claim["rpm_most"], claim["unread"])
              for claim in rotation["claims"]]
    said = 0 if says == 1 else says
    assert claims == [("measured", "probe rotation", measured, measured - measured // 400, measured + measured // 80, None),
                      *([] if says is None else [("drive", "VPD page B1h", said, said, said, None)])]
    if not disagree:
        assert not notes
        return
    speed = f"{measured} rpm" if measured else "no rotation"
    assert notes["sdd"]["rotation"]["text"] == (
        f"sources disagree about its rotation: measured (probe rotation) {speed}, drive (VPD page B1h) {disagree}; the first is "
        "taken")
    assert notes["sdd"]["rotation"]["not_in_place"] == "the measurement of probe decides; nothing need be done"


def test_two_words_of_a_drive_that_disagree_are_to_be_measured(bridge):
    rates(bridge.bridge, word=5400, page=7200)
    _, notes, devices = bridge.check("sdd")
    assert first(devices["sdd"]["unit"]["rotation"])["rpm"] == 5400
    assert notes["sdd"]["rotation"]["not_in_place"] == "measure it with method rotation of probe: a measurement decides"


def test_the_revolution_of_the_metrics_is_the_measured_one(bridge, monkeypatch):
    keep_rotation(bridge.root, 5400)
    rates(bridge.bridge, word=7200, page=7200)
    monkeypatch.setenv("ALIGNCTL_SYSROOT", str(bridge.root))
    text = alignctl("check", "--format", "prometheus").stdout
    [(labels, value)] = re.findall(r"^alignctl_check_revolution_seconds{(.*)} (\S+)$", text, re.M)
    assert labels == 'device="sdd",source="measured"' and float(value) == pytest.approx(60 / 5400)


@pytest.mark.parametrize("figures", [{"rpm": 0}, {"rpm_most": 70000}, {"rpm_least": 0}, {"wwid": "other"}, {"size_bytes": 512},
                                     {"rpm": "7200"}])
def test_a_file_that_is_no_result_is_not_believed_and_said_so(bridge, monkeypatch, figures):
    keep_rotation(bridge.root, 7200, **figures)
    rates(bridge.bridge, page=5400)
    monkeypatch.setenv("ALIGNCTL_SYSROOT", str(bridge.root))
    done = alignctl("check", "sdd", "--json")
    rotation = json.loads(done.stdout)["devices"][0]["unit"]["rotation"]
    assert first(rotation) == {"rpm": 5400, "source": "drive", "figure": "VPD page B1h"} and not rotation["contradicted"]
    [unread] = [claim["unread"] for claim in rotation["claims"] if claim["unread"]]
    assert done.stderr == f"alignctl: warning: {unread}; this result is not used\n" and "probed/rotation/" in unread
    text = alignctl("check", "--format", "prometheus").stdout
    assert 'what="probe rotation"' in text and 'revolution_seconds{device="sdd",source="drive"}' in text


def test_a_file_that_is_no_result_leaves_a_disk_that_says_nothing_without_a_figure(bridge):
    keep_rotation(bridge.root, 7200, format=2)
    rotation = bridge.check("sdd")[2]["sdd"]["unit"]["rotation"]
    assert first(rotation) == {"rpm": None, "source": None, "figure": None} and not rotation["contradicted"]
