# SPDX-License-Identifier: GPL-2.0
"""stats, on a made-up machine."""

import json
import os

import pytest

from alignctl_program import BINS, COUNTERS, HISTOGRAMS, alignctl, human_time, put, stats, tables

FINE, FINDINGS, USAGE, IO = range(4)


def test_stats_subtracts_the_baseline(machine):
    root, align = machine
    put(align, rmw_expected=30, rmw_host=20, rmw_avoided=10, baseline_rmw_expected=12, baseline_rmw_host=10,
        baseline_rmw_avoided=2, writes=50, write_bytes=8192, write_block_bytes=16384, sent_block_bytes=8192,
        phase_histogram=" ".join(["0", "7"] + ["0"] * (BINS["phase"] - 2)))
    shown = stats(root, "--json")
    assert shown.returncode == FINE and not shown.stderr
    result = json.loads(shown.stdout)
    assert list(result) == ["format", "devices"]
    [device] = result["devices"]
    assert list(device) == ["name", "dm", "epoch", "suggested_physical_block_size", "held_oldest_ms", "targets", "counters",
                            "raw", "derived", "histograms"]
    assert (device["name"], device["dm"], device["epoch"]) == ("align-sda", "dm-0", 1)
    assert device["targets"] == [{"index": 0, "mode": "pad", "logical_block_size": None, "physical_block_size": 4096,
                                  "alignment_offset": 0, "device": "sda", "device_gone": False, "hold_ms": 500, "max_blocks": 64,
                                  "blocks": 0, "memory_bytes": 0,
                                  "memory_high_water_bytes": 0}]
    assert list(device["counters"]) == list(device["raw"]) == [name for name, _ in COUNTERS]
    assert (device["counters"]["rmw_expected"], device["raw"]["rmw_expected"]) == (18, 30)
    assert (device["counters"]["rmw_host"], device["counters"]["rmw_avoided"]) == (10, 8)
    assert device["derived"] == {"write_amplification_before": 2, "write_amplification_after": 1, "balanced": True,
                                 "degraded": False}
    assert list(device["histograms"]) == list(HISTOGRAMS)
    assert device["histograms"]["phase"]["bins"] == [[512, 7]] and device["histograms"]["phase"]["count"] == 7


def test_stats_for_people_names_accounts_and_phase(machine):
    root, align = machine
    put(align, rmw_expected=7, rmw_drive=7, phase_histogram=" ".join(["0", "7"] + ["0"] * (BINS["phase"] - 2)))
    shown = stats(root, "align-sda")
    assert shown.returncode == FINE and not shown.stderr
    [counter] = [row for row in tables(shown.stdout, "COUNTER") if row["COUNTER"] == "rmw_expected"]
    assert (counter["VALUE"], counter["UNIT"]) == ("7", "touches") and counter["MEANING"].startswith("partial touches")
    assert tables(shown.stdout, "FIRST-BYTE") == [{"FIRST-BYTE": "512 B", "WRITES": "7", "SHARE": "100 %"}]
    assert tables(shown.stdout, "TARGET") == [{
        "TARGET": "0", "MODE": "pad", "PHYSICAL": "4 KiB", "OFFSET": "0 B", "ON": "sda", "HOLD": "-", "MAX-BLOCKS": "64",
        "BLOCKS": "0", "MEMORY": "0 B", "HIGH-WATER": "0 B"}]


def test_stats_for_people_have_accounts_and_whatever_else_there_is_in_the_order_of_the_table(machine):
    root, align = machine
    put(align, writes=3, write_bytes=12345678, fua=1)
    shown = tables(stats(root).stdout, "COUNTER")
    accounts = [name for name, _ in COUNTERS][:6]
    assert accounts[0] == "rmw_expected" and accounts[-1] == "rmw_pending"
    assert [row["COUNTER"] for row in shown] == [*accounts, "writes", "write_bytes", "fua"]
    assert [row["VALUE"] for row in shown] == [*["0"] * 6, "3", "11.8 MiB", "1"]


def test_stats_of_a_device_without_a_write_have_zeroes(machine):
    assert [row["VALUE"] for row in tables(stats(machine[0]).stdout, "COUNTER")] == ["0"] * 6


@pytest.mark.parametrize("asked, wanted", [
    ("writes", ["writes"]), ("rmw_lost,fua", ["rmw_lost", "fua"]), ("fua,rmw_lost,fua", ["rmw_lost", "fua"]),
    ("rmw_avoided*", [name for name, _ in COUNTERS if name.startswith("rmw_avoided")]),
    ("*", [name for name, _ in COUNTERS]), ("rmw_[hl]o[s]t", ["rmw_host", "rmw_lost"])])
def test_stats_for_people_have_the_counters_that_are_asked_for_and_no_others(machine, asked, wanted):
    root, align = machine
    put(align, writes=3)
    shown = stats(root, "--counters", asked)
    assert shown.returncode == FINE and not shown.stderr
    head, headings, *rows = shown.stdout.splitlines()
    assert head.startswith("align-sda (dm-0), epoch") and headings.split()[0] == "COUNTER"
    assert [(row.split()[0], row.split()[1]) for row in rows] == [(name, "3" if name == "writes" else "0") for name in wanted]


def test_stats_tell_what_is_wrong_whatever_counters_are_asked_for(machine):
    root, align = machine
    put(align, rmw_expected=7)
    shown = stats(root, "--counters", "writes")
    assert shown.returncode == FINDINGS and shown.stdout.endswith("  the ledger does not balance at this moment\n")


@pytest.mark.parametrize("name", ["align-sda", "dm-0"])
def test_stats_finds_a_device_by_its_names(machine, name):
    assert len(json.loads(stats(machine[0], name, "--json").stdout)["devices"]) == 1


def test_stats_refuses_what_is_no_align_device(machine):
    failed = stats(machine[0], "align-sdb")
    assert failed.returncode == USAGE and "align-sdb: not an align device" in failed.stderr


def test_stats_shows_what_is_held(machine):
    root, align = machine
    bins = ["0"] * BINS["latency"]
    bins[40] = "9"
    put(align, target0_mode="coalesce", target0_memory_bytes=9216, target0_memory_high_water_bytes=46080, held_blocks=2,
        held_bytes=1536, held_oldest_ms=1234, rmw_expected=3, rmw_pending=3, touches_held=11, hold_time_histogram=" ".join(bins))
    shown = stats(root)
    assert shown.returncode == FINE and not shown.stderr
    [target] = tables(shown.stdout, "TARGET")
    assert [target[heading] for heading in ("HOLD", "MEMORY", "HIGH-WATER")] == ["500 ms", "9 KiB", "45 KiB"]
    [times] = tables(shown.stdout, "HISTOGRAM")
    assert (times["HISTOGRAM"], times["COUNT"]) == ("hold_time", "9") and times["P50"].startswith("< ")
    assert "held, and not on the drive: 1.5 KiB in 2 blocks, the oldest for 1.23 s" in shown.stdout
    assert {"touches_held": "11", "held_blocks": "2", "held_bytes": "1.5 KiB"}.items() <= {
        row["COUNTER"]: row["VALUE"] for row in tables(shown.stdout, "COUNTER")}.items()
    [device] = json.loads(stats(root, "--json").stdout)["devices"]
    assert (device["counters"]["held_blocks"], device["counters"]["rmw_pending"]) == (2, 3)
    assert (device["counters"]["held_bytes"], device["held_oldest_ms"]) == (1536, 1234)
    assert device["targets"][0]["memory_high_water_bytes"] == 46080
    assert device["histograms"]["hold_time"]["count"] == 9 and device["histograms"]["hold_time"]["p50_us"] > 0


def test_a_percentile_of_bins_is_printed_as_a_bound(machine):
    """A quarter above holding's own limit is no time that anything was held; and the last bin has no end."""
    root, align = machine
    for at, bound in ((80, "<"), (BINS["latency"] - 1, ">=")):
        bins = ["0"] * BINS["latency"]
        bins[at] = "9"
        put(align, hold_time_histogram=" ".join(bins))
        [shown] = tables(stats(root).stdout, "HISTOGRAM")
        [device] = json.loads(stats(root, "--json").stdout)["devices"]
        for heading in ("P50", "P90", "P99"):
            raw = device["histograms"]["hold_time"][f"{heading.lower()}_us"]
            assert shown[heading] == f"{bound} {human_time(raw)}" and raw > 0


def test_a_degraded_device_is_a_finding_with_the_way_out(machine):
    root, align = machine
    put(align, target0_mode="coalesce", held_blocks=5, degraded=4, rmw_expected=5, rmw_pending=5)
    shown = stats(root)
    assert shown.returncode == FINDINGS
    assert "align-sda: degraded: acknowledged writes to 4 blocks" in shown.stderr
    assert "alignctl set align-sda --drop-failed" in shown.stderr
    assert "degraded: held blocks cannot be written" in shown.stdout
    shown = stats(root, "--json")
    assert shown.returncode == FINDINGS
    assert json.loads(shown.stdout)["devices"][0]["derived"] == {
        "write_amplification_before": 0, "write_amplification_after": 0, "balanced": True, "degraded": True}


def test_a_drive_that_is_gone_is_a_finding_before_anything_is_written_to_it(machine):
    """Its number leaves /sys/dev/block with the drive; the align device keeps it open, and so keeps the number."""
    root, align = machine
    (root / "sys/dev/block/8:0").unlink()
    shown = stats(root)
    assert shown.returncode == FINDINGS
    assert "align-sda: the device below, 8:0, is gone" in shown.stderr
    assert "alignctl detach align-sda --force" in shown.stderr
    assert tables(shown.stdout, "TARGET")[0]["ON"] == "8:0" and "gone: 8:0, below, is no longer there" in shown.stdout
    shown = stats(root, "--json")
    assert shown.returncode == FINDINGS
    [target] = json.loads(shown.stdout)["devices"][0]["targets"]
    assert (target["device"], target["device_gone"]) == ("8:0", True)


def test_stats_without_devices_is_no_error(tmp_path):
    shown = stats(tmp_path, "--json")
    assert shown.returncode == FINE and json.loads(shown.stdout) == {"format": 1, "devices": []}


@pytest.mark.parametrize("inflight, status", [("0 0", FINDINGS), ("0 1", FINE)])
def test_an_unbalanced_ledger_is_a_finding_only_when_nothing_is_in_flight(machine, inflight, status):
    root, align = machine
    put(align, rmw_expected=3, rmw_drive=2)
    put(align.parent, inflight=inflight)
    shown = stats(root, "--json")
    assert shown.returncode == status
    assert json.loads(shown.stdout)["devices"][0]["derived"]["balanced"] is False
    assert ("does not balance" in shown.stderr) == (status == FINDINGS)


def test_a_ledger_with_a_file_missing_is_an_error_that_names_it(machine):
    root, align = machine
    (align / "baseline_writes").unlink()
    failed = stats(root)
    assert failed.returncode == IO and "align/baseline_writes" in failed.stderr


def test_what_an_older_module_does_not_say_is_unknown_and_not_0(machine):
    root, align = machine
    put(align, held_blocks=2)
    for name in ("held_bytes", "held_oldest_ms"):
        (align / name).unlink()
    environment = {**os.environ, "ALIGNCTL_SYSROOT": str(root)}
    [listed] = json.loads(alignctl("list", "--json", env=environment).stdout)["devices"]
    assert (listed["held_blocks"], listed["held_bytes"], listed["held_oldest_ms"]) == (2, None, None)
    [row] = tables(alignctl("list", env=environment).stdout, "NAME")
    assert (row["HELD"], row["HELD-BYTES"], row["OLDEST"]) == ("2", "-", "-")
    shown = stats(root)
    assert shown.returncode == FINE and not shown.stderr
    assert "held, and not on the drive: - in 2 blocks, the oldest for -" in shown.stdout
    assert {row["COUNTER"]: row["VALUE"] for row in tables(shown.stdout, "COUNTER")}["held_bytes"] == "-"
    [device] = json.loads(stats(root, "--json").stdout)["devices"]
    assert device["held_oldest_ms"] is device["counters"]["held_bytes"] is device["raw"]["held_bytes"] is None


@pytest.mark.parametrize("name", ["held_bytes", "held_oldest_ms"])
def test_what_a_module_says_of_held_data_must_be_a_number(machine, name):
    root, align = machine
    put(align, **{name: "many"})
    failed = stats(root)
    assert failed.returncode == IO and f"align/{name}: missing or malformed" in failed.stderr


def test_no_name_of_a_device_reaches_the_terminal_as_it_is(machine):
    """libdevmapper quotes what does not print, and other programs that make devices need not."""
    root, align = machine
    (align.parent / "dm/name").write_bytes(b"a\x1b[2Jb\xff\n")
    put(align, writes=1, latency_aligned_histogram=" ".join(["1"] + ["0"] * (BINS["latency"] - 1)))
    for arguments in ([], ["--counters", "writes"], ["--histograms"]):
        shown = stats(root, *arguments)
        assert "\x1b" not in shown.stdout and shown.stdout.startswith("a\\x1b[2Jb\\xff (dm-0)"), arguments
