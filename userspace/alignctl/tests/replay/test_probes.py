# SPDX-License-Identifier: GPL-2.0
"""Workloads that probe a device, as their user meets them: their lengths and places are the device's."""

import json

import pytest

from alignctl_program import DISK_BYTES, alignctl, needs_io_uring

FINE, FINDINGS, USAGE = range(3)
EDGE = 65536  # that probes keep from either end of the device
PROBE = 128 << 20


def probed(workload, *arguments):
    done = alignctl("replay", workload, "--json", *arguments)
    assert done.returncode == FINE, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("workload", ["seqread", "seqwrite"])
def test_each_probe_has_its_rate_and_its_place(disk, workload):
    result, said = probed(workload, "--on", disk, "--count", 4)
    length = (DISK_BYTES - 2 * EDGE) // 4 // EDGE * EDGE
    assert f"4 probes of {PROBE} bytes do not fit: shortened to {length} bytes each" in said
    probes = result["probes"]
    assert (probes["complete"], probes["probe_bytes"], result["bytes"]) == (4, length, 4 * length)
    assert [probe["offset"] for probe in probes["each"]] == [EDGE + k * length for k in range(4)]
    rates = [probe["mb_per_s"] for probe in probes["each"]]
    assert (probes["mb_per_s_min"], probes["mb_per_s_max"]) == (min(rates), max(rates))
    assert probes["mb_per_s_mean"] == pytest.approx(sum(rates) / 4, abs=1e-4)
    # no probe is faster than all its bytes in the whole run's time would have it
    assert min(rates) > length / 1e6 / result["wall_s"] * 0.99
    sizes = {size["bytes"]: size["service_us"]["count"] for size in result["by_size"]}
    assert set(sizes) == {1 << 20, length % (1 << 20)}
    assert result["data_check"]["status"] == ("ok" if workload == "seqwrite" else "skipped")


def test_probes_are_whole_and_far_apart_where_there_is_room(tmp_path):
    disk = tmp_path / "disk"
    with open(disk, "wb") as file:
        file.truncate(1 << 30)
    result, said = probed("seqread", "--on", disk, "--count", 3)
    assert not said
    step = ((1 << 30) - 2 * EDGE - PROBE) // 2 // EDGE * EDGE
    assert [probe["offset"] for probe in result["probes"]["each"]] == [EDGE, EDGE + step, EDGE + 2 * step]
    assert (result["requests"], result["probes"]["probe_bytes"]) == (3 * 128, PROBE)
    shown = alignctl("replay", "seqread", "--on", disk, "--count", 3).stdout
    assert f"probes      3 of {PROBE} bytes: mean " in shown and " at byte " in shown


def test_probes_keep_to_the_span_and_are_found_again_in_a_state(disk, tmp_path):
    state = tmp_path / "state"
    common = ["--on", disk, "--count", 3, "--state", state]
    prepared, _ = probed("seqwrite", *common, "--span", "4M", "--phase", "prepare")
    assert prepared["span"] <= 4 << 20 and "probes" not in prepared
    ran, said = probed("seqwrite", *common, "--phase", "run")
    assert not said and ran["span"] == prepared["span"]
    assert ran["probes"]["probe_bytes"] == (4 << 20) // 3 // EDGE * EDGE
    other = alignctl("replay", "seqwrite", *common, "--span", "5M", "--phase", "check")
    assert other.returncode == USAGE and "is for seqwrite" in other.stderr
    assert probed("seqwrite", *common, "--span", "4M", "--phase", "check")[0]["data_check"]["status"] == "ok"


@pytest.mark.parametrize("physical", [4096, 16384])
@pytest.mark.parametrize("workload", ["rndread", "rndwrite"])
def test_random_probes_have_the_length_of_a_block(disk, workload, physical):
    result, _ = probed(workload, "--on", disk, "--count", 20, "--physical", physical)
    assert [size["bytes"] for size in result["by_size"]] == [physical]
    assert (result["requests"], result["bytes"]) == (20, 20 * physical)
    if workload == "rndwrite":
        assert (result["touches_expected"], result["span"] % physical) == (0, 0)


def test_random_probes_go_many_at_a_time_although_each_is_durable(disk):
    done = alignctl("replay", "rndwrite", "--on", disk, "--count", 200, "--depth", 8, "--json")
    needs_io_uring(done)
    assert done.returncode == FINE, done.stderr
    result = json.loads(done.stdout)
    assert (result["depth"], result["requests"], result["data_check"]["status"]) == (8, 200, "ok")
