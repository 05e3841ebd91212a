# SPDX-License-Identifier: GPL-2.0
"""stats --compare: two saved states of a device, or one and the device as it is, side by side."""

import json

import pytest

from alignctl_program import BINS, put, stats, tables

FINE, FINDINGS, USAGE, IO = 0, 1, 2, 3
FAST, SLOW = 40, 56     # bins of 524 to 655 us, and of 8.4 to 10.5 ms
MIDDLE = {FAST: 589.824, SLOW: 9437.184}


def bins(kind, **counts):
    return " ".join(str(counts.get(f"b{n}", 0)) for n in range(BINS[kind]))


def saved(root, path):
    path.write_text(stats(root, "--json").stdout)
    return path


def shifted(align):
    """A shifted partition in mode report: each write touches two blocks in part."""
    put(align, target0_mode="report", writes=1000, write_bytes=1000 << 12, writes_misaligned=1000, rmw_expected=2000,
        rmw_drive=2000, write_block_bytes=1000 << 13, sent_block_bytes=1000 << 13,
        latency_misaligned_histogram=bins("latency", **{f"b{SLOW}": 1000}), phase_histogram=bins("phase", b5=1000))


def mended(align):
    """The same, moved: a twentieth of the writes is small, and padded."""
    put(align, target0_mode="pad", writes=4000, write_bytes=4000 << 12, writes_misaligned=200, rmw_expected=200,
        rmw_avoided=150, rmw_host=50, rmw_drive=0, pad_reads=40, write_block_bytes=4200 << 12, sent_block_bytes=4000 << 12,
        latency_aligned_histogram=bins("latency", **{f"b{FAST}": 3800}),
        latency_misaligned_histogram=bins("latency", **{f"b{FAST}": 100, f"b{SLOW}": 100}),
        phase_histogram=bins("phase", b0=150, b7=50))


MEASURES = {
    "mode": ("report", "pad", None), "physical_block_size": (4096, 4096, 0), "writes": (1000, 4000, 300),
    "write_bytes": (4096000, 16384000, 300), "misaligned_percent": (100, 5, -95),
    "touches_per_1000_writes": (2000, 50, -97.5),
    "avoided_percent": (0, 75, None), "host_percent": (0, 25, None), "drive_percent": (100, 0, -100),
    "lost_percent": (0, 0, None), "pad_reads_per_1000_writes": (0, 10, None),
    "write_amplification_before": (2, 1.05, -47.5),
    "write_amplification_after": (2, 1, -50), "aligned_mean_us": (None, MIDDLE[FAST], None),
    "aligned_p99_us": (None, 655.36, None),
    "misaligned_mean_us": (MIDDLE[SLOW], (MIDDLE[FAST] + MIDDLE[SLOW]) / 2, -46.875),
    "misaligned_p99_us": (10485.76, 10485.76, None),
    "mean_us": (MIDDLE[SLOW], (3900 * MIDDLE[FAST] + 100 * MIDDLE[SLOW]) / 4000, -91.406),
}


@pytest.mark.parametrize("live", [False, True])
def test_what_was_mended_shows_for_each_write_and_touch(machine, tmp_path, live):
    root, align = machine
    shifted(align)
    before = saved(root, tmp_path / "before.json")
    mended(align)
    after = [] if live else ["--after", saved(root, tmp_path / "after.json")]
    done = stats(root, "--compare", before, *after, "--json")
    assert done.returncode == FINE and not done.stderr
    document = json.loads(done.stdout)
    [compared] = document["comparisons"]
    assert document["format"] == 1 and compared["name"] == compared["name_before"] == "align-sda"
    assert [row["measure"] for row in compared["measures"]] == list(MEASURES)
    for row in compared["measures"]:
        found = (row["before"], row["after"], row["change_percent"])
        assert found == pytest.approx(MEASURES[row["measure"]], rel=1e-4), row["measure"]
    assert compared["phase"] == [{"first_byte": 0, "before_percent": 0, "after_percent": 3.75},
                                 {"first_byte": 2560, "before_percent": 100, "after_percent": 0},
                                 {"first_byte": 3584, "before_percent": 0, "after_percent": 1.25}]


def test_people_see_both_states_side_by_side(machine, tmp_path):
    root, align = machine
    shifted(align)
    before = saved(root, tmp_path / "before.json")
    mended(align)
    done = stats(root, "--compare", before)
    assert done.returncode == FINE and done.stdout.startswith("align-sda\n")
    rows = {row["MEASURE"]: (row["BEFORE"], row["AFTER"], row["CHANGE"]) for row in tables(done.stdout, "MEASURE")}
    assert rows["mode"] == ("report", "pad", "-")
    assert rows["partial touches for 1000 writes"] == ("2000", "50", "-97.5 %")
    assert rows["writes"] == ("1000", "4000", "+300 %") and rows["physical block"] == ("4 KiB", "4 KiB", "0 %")
    # a percentile is a bound, whose change says nothing
    assert rows["misaligned writes, p99 latency"] == ("< 10.5 ms", "< 10.5 ms", "-")
    assert rows["aligned writes, mean latency"] == ("-", "590 us", "-")
    phase = [line.split() for line in done.stdout.splitlines()[-3:]]
    assert phase == [["0", "B", "0", "%", "3.75", "%", "#"], ["2.5", "KiB", "100", "%", "#" * 20, "0", "%"],
                     ["3.5", "KiB", "0", "%", "1.25", "%", "#"]]


@pytest.mark.parametrize("bin_before, bound", [(110, "< "), (111, ">= ")])
def test_a_saved_state_is_the_one_that_was_saved(machine, tmp_path, bin_before, bound):
    """The last bins, whose bounds are equal, too; and a reset afterwards changes nothing."""
    root, align = machine
    shifted(align)
    put(align, latency_aligned_histogram=bins("latency", **{f"b{bin_before}": 3, "b0": 1}),
        size_histogram=bins("size", b3=1000), baseline_writes=1)
    before = saved(root, tmp_path / "before.json")
    done = stats(root, "--compare", before)
    assert done.returncode == FINE
    rows = tables(done.stdout, "MEASURE")
    assert rows and all(row["BEFORE"] == row["AFTER"] and row["CHANGE"] in ("0 %", "-") for row in rows)
    [worst] = [row["BEFORE"] for row in rows if row["MEASURE"] == "aligned writes, p99 latency"]
    assert worst.startswith(bound)
    saved_by_interval = tmp_path / "interval.json"
    saved_by_interval.write_text(stats(root, "--interval", "1", "1", "--json").stdout)
    assert stats(root, "--compare", saved_by_interval, "--after", before).returncode == FINE


def test_devices_are_matched_by_name_or_alone(machine, tmp_path):
    root, align = machine
    before = saved(root, tmp_path / "before.json")
    document = json.loads(before.read_text())
    [device] = document["devices"]
    (align.parent / "dm/name").write_text("moved\n")
    alone = stats(root, "--compare", before)
    assert alone.returncode == FINE and alone.stdout.startswith("align-sda before, moved after\n") and not alone.stderr
    document["devices"] = [device, {**device, "name": "other"}]
    before.write_text(json.dumps(document))
    neither = stats(root, "--compare", before)
    assert neither.returncode == USAGE and not neither.stdout
    assert "warning: other: is only in the earlier state" in neither.stderr
    assert "warning: moved: is only in the later state" in neither.stderr and "no device is in both states" in neither.stderr
    (align.parent / "dm/name").write_text("other\n")
    named = stats(root, "other", "--compare", before)
    assert named.returncode == FINE and named.stdout.startswith("other\n")


def change(document, path, value):
    *folders, last = path
    for folder in folders:
        document = document[folder]
    if value is None:
        del document[last]
    else:
        document[last] = value


DEVICE = ("devices", 0)


@pytest.mark.parametrize("path, value, words", [
    (("format",), 2, "format 2 is not known"),
    (("format",), None, "no document of 'alignctl stats --json'"),
    (("devices",), {}, "no document of 'alignctl stats --json'"),
    ((*DEVICE, "name"), 5, "a device without name or dm"),
    ((*DEVICE, "counters", "writes"), -1, "counters.writes is missing or no number"),
    ((*DEVICE, "counters", "rmw_host"), None, "counters.rmw_host is missing or no number"),
    ((*DEVICE, "histograms"), None, "no member histograms"),
    ((*DEVICE, "histograms", "phase", "bins"), 3, "histograms.phase has no bins"),
    ((*DEVICE, "histograms", "latency_aligned", "bins"), [[10.25, 1]], "latency_aligned: bin 0 does not match the target's"),
    ((*DEVICE, "histograms", "latency_aligned", "bins"), [["10.24", 1]], "latency_aligned: bin 0 does not match the target's"),
    ((*DEVICE, "histograms", "phase", "bins"), [[512, 1], [512, 2]], "phase: bin 1 does not match the target's"),
    ((*DEVICE, "targets", 0, "mode"), None, "target 0 lacks index, mode"),
    ((*DEVICE, "targets"), None, "no array targets"),
])
def test_a_document_that_is_none_is_refused_with_what_is_wrong(machine, tmp_path, path, value, words):
    root, _ = machine
    document = json.loads(stats(root, "--json").stdout)
    change(document, path, value)
    file = tmp_path / "before.json"
    file.write_text(json.dumps(document))
    done = stats(root, "--compare", file)
    assert done.returncode == USAGE and words in done.stderr and done.stderr.count("\n") == 1 and not done.stdout


@pytest.mark.parametrize("text, words", [("", "it ends too early"), ("{", "it ends too early"), ("nothing", "no JSON"),
                                         ('{"format":1,"devices":[]}\n{"format":1,"devices":[]}\n', "more than one document"),
                                         ("[" * 1000, "no JSON")])
def test_a_file_that_is_no_document_is_refused(machine, tmp_path, text, words):
    file = tmp_path / "before.json"
    file.write_text(text)
    done = stats(machine[0], "--compare", file)
    assert done.returncode == USAGE and words in done.stderr and done.stderr.count("\n") == 1


def test_a_file_without_end_is_refused_before_memory_runs_out(machine):
    done = stats(machine[0], "--compare", "/dev/zero")
    assert done.returncode == IO and "/dev/zero: File too large" in done.stderr
    gone = stats(machine[0], "--compare", "/none")
    assert gone.returncode == IO and "/none: No such file" in gone.stderr


def test_names_in_a_file_cannot_control_a_terminal(machine, tmp_path):
    root, _ = machine
    document = json.loads(stats(root, "--json").stdout)
    document["devices"][0]["name"] = "\x1b[2J"
    document["devices"][0]["targets"][0]["mode"] = "\x1b[2J"
    file = tmp_path / "before.json"
    file.write_text(json.dumps(document))
    done = stats(root, "--compare", file)
    assert done.returncode == FINE and "\x1b" not in done.stdout and "\\x1b[2J before" in done.stdout


def test_a_degraded_device_is_a_finding_here_too(machine, tmp_path):
    root, align = machine
    before = saved(root, tmp_path / "before.json")
    put(align, degraded=4, held_blocks=4)
    done = stats(root, "--compare", before)
    assert done.returncode == FINDINGS and "degraded" in done.stderr and "MEASURE" in done.stdout
