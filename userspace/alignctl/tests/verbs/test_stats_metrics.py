# SPDX-License-Identifier: GPL-2.0
"""stats --format prometheus: what Prometheus' own programs make of it, its size and cost, the alert rules and the dashboard."""

import math
import os
import re
import shutil
import subprocess
import time
from collections import Counter

import pytest

from alignctl_program import BINS, COUNTERS, alignctl, put
from lab.dashboard.monitors import RULES, watching
from lab.dashboard.panels import filled, panels
from lab.pace import Limit, patience
from lab.paths import REPO

FINE, USAGE, IO = 0, 2, 3
# What a device and a histogram may cost a Prometheus.
SERIES, BUCKETS = 80, 12
# These count only where the device makes smaller logical blocks.
OF_SMALLER = ("reads_bounced", "bounce_reads", "touches_starved")
MARK = "# alignctl stats --format prometheus\n"


def metrics(root, *arguments):
    return alignctl("stats", "--format", "prometheus", *arguments, env={**os.environ, "ALIGNCTL_SYSROOT": str(root)})


def samples(text):
    """{name: [(labels, value)]} of all samples."""
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, labels, value = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line).groups()
            found.setdefault(name, []).append((dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or "")), float(value)))
    return found


def one(found, metric, **labels):
    [value] = [value for have, value in found[metric] if labels.items() <= have.items()]
    return value


@pytest.fixture
def busy(machine):
    """A device that has counted; every counter differs from the others, and the baselines are not 0."""
    root, align = machine
    for number, (name, kind) in enumerate(COUNTERS):
        put(align, **{name: 1000 + number})
        if kind == "COUNTER":
            put(align, **{f"baseline_{name}": 500})
    bins = [0] * BINS["latency"]
    # 524 us to 655 us, 8.4 ms to 10.5 ms, and without end
    bins[40], bins[56], bins[-1] = 70, 20, 1
    put(align, latency_misaligned_histogram=" ".join(map(str, bins)))
    return root, align


def smaller(root):
    """Give the device below logical blocks that are larger than those of the align device."""
    queue = root / "sys/devices/pci0/block/sda/queue"
    queue.mkdir()
    (queue / "logical_block_size").write_text("4096\n")


@pytest.mark.parametrize("makes_smaller", [False, True])
def test_promtool_has_nothing_to_say_and_neither_has_anybody_who_pays(busy, makes_smaller):
    root, align = busy
    put(align, **dict.fromkeys(OF_SMALLER, 0))
    if makes_smaller:
        smaller(root)
    done = metrics(root)
    assert done.returncode == FINE and not done.stderr and done.stdout.startswith(MARK)
    checked = subprocess.run(["promtool", "check", "metrics"], input=done.stdout, capture_output=True, text=True,
                             timeout=patience(30), check=False)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
    found = samples(done.stdout)
    assert sum(1 for every in found.values() for labels, _ in every if "device" in labels) <= (
        SERIES + len(OF_SMALLER) * makes_smaller)
    assert {name for name in OF_SMALLER if f"dm_align_{name}_total" in found} == set(OF_SMALLER if makes_smaller else ())
    buckets = Counter(tuple(sorted((labels | {"le": ""}).items()))
                      for name, every in found.items() if name.endswith("_bucket") for labels, _ in every)
    assert len(buckets) == 2 and max(buckets.values()) <= BUCKETS


def test_every_counter_of_the_table_is_there_once_as_the_kernel_counts_it(busy):
    found = samples(metrics(busy[0]).stdout)
    seen = {}
    for name, every in found.items():
        for labels, value in every:
            base = name.removeprefix("dm_align_").removesuffix("_total")
            seen.setdefault("_".join(filter(None, [base, labels.get("reason")])), []).append(value)
    # these two are the sums of their reasons
    expected = {name: [1000 + number] for number, (name, _) in enumerate(COUNTERS) if name not in ("rmw_avoided", "rmw_drive")}
    assert {name: seen.get(name) for name in expected} == expected
    assert "rmw_avoided" not in seen and "rmw_drive" not in seen
    gauges = {f"dm_align_{name}" for name, kind in COUNTERS if kind == "GAUGE"}
    assert gauges <= set(found) and not {f"{name}_total" for name in gauges} & set(found)


def test_a_latency_is_in_the_bucket_whose_bound_it_does_not_exceed(busy):
    found = samples(metrics(busy[0]).stdout)
    name = "dm_align_write_latency_seconds"
    buckets = [(labels["le"], value) for labels, value in found[f"{name}_bucket"] if labels["alignment"] == "misaligned"]
    # bounds are bins' ends less a nanosecond: a bin has the times below its end
    bounds = [float(bound) for bound, _ in buckets]
    assert bounds == sorted(bounds) and all(round(bound * 1e9) + 1 in {1 << n for n in range(40)} for bound in bounds[:-1])
    counts = {bound: value for bound, value in buckets}
    assert counts["0.000262143"] == 0 and counts["0.001048575"] == counts["0.008388607"] == 70
    assert counts["0.016777215"] == counts["1.073741823"] == 90 and counts["+Inf"] == 91
    assert one(found, f"{name}_count", alignment="misaligned") == 91
    middles = 70 * 589.824e-6 + 20 * 9437.184e-6
    assert one(found, f"{name}_sum", alignment="misaligned") == pytest.approx(middles + 120.26, rel=0.01)
    assert one(found, f"{name}_count", alignment="aligned") == 0


def test_names_cannot_break_the_file(machine):
    """One label that is no UTF-8, and node_exporter would serve no metric of any file."""
    root, align = machine
    (align.parent / "dm/name").write_bytes(b'a"b\\c\xff\x1bd\xc3\xa9\n')
    done = metrics(root)
    assert 'name="a\\"b\\\\c\\\\xff\\\\x1bdé"' in done.stdout


def test_state_is_metrics_and_no_finding(machine):
    """An exit status would make the timer's unit fail, and say what the alerts say."""
    root, align = machine
    (root / "sys/dev/block/8:0").unlink()
    put(align, degraded=4, held_blocks=5, held_bytes=3072, held_oldest_ms=90500, rmw_expected=3, target0_memory_bytes=9216,
        target0_mode="coalesce")
    done = metrics(root)
    assert done.returncode == FINE and not done.stderr
    found = samples(done.stdout)
    gauges = ("degraded", "held_blocks", "held_bytes", "held_oldest_seconds", "device_gone", "memory_bytes")
    assert [one(found, f"dm_align_{name}") for name in gauges] == [4, 5, 3072, 90.5, 1, 9216]
    assert one(found, "dm_align_device_info", mode="coalesce", lower_device="8:0", physical_block_size="4096", device="dm-0",
               name="align-sda") == 1


def test_targets_that_differ_are_mixed_and_their_memory_is_added(machine):
    root, align = machine
    for path in align.glob("target0_*"):
        shutil.copy(path, align / path.name.replace("0", "1", 1))
    put(align, target1_mode="report", target1_physical_block_size=16384, target0_memory_bytes=1, target1_memory_bytes=2,
        target1_hold_ms=20000)
    found = samples(metrics(root).stdout)
    assert one(found, "dm_align_device_info", mode="mixed", lower_device="sda", physical_block_size="mixed", hold_ms="20000") == 1
    assert one(found, "dm_align_memory_bytes") == 3


def test_a_device_whose_align_table_is_not_live_has_no_block(machine):
    """Its files are there from when a table is loaded, those of its targets can be read from the resume on."""
    root, align = machine
    for path in align.glob("target0_*"):
        path.unlink()
    assert one(samples(metrics(root).stdout), "dm_align_device_info", mode="none", lower_device="none",
               physical_block_size="none", hold_ms="0") == 1


def another(root, align, name, number):
    """A further device, with a folder of its own."""
    made = root / f"sys/devices/virtual/block/dm-{number}"
    shutil.copytree(align.parent, made)
    (made / "dm/name").write_text(f"{name}\n")
    (root / f"sys/class/block/dm-{number}").symlink_to(made)
    return made / "align"


def test_a_device_that_cannot_be_read_is_counted_and_the_others_are_there(machine, tmp_path):
    root, align = machine
    (another(root, align, "broken", 1) / "baseline_writes").unlink()
    file = tmp_path / "align.prom"
    done = metrics(root, "--output", file)
    assert done.returncode == IO and "dm-1/align/baseline_writes: missing or malformed" in done.stderr
    found = samples(file.read_text())
    assert one(found, "dm_align_unreadable_devices") == 1
    assert {labels["name"] for labels, _ in found["dm_align_writes_total"]} == {"align-sda"}


def test_what_an_older_module_does_not_say_has_no_sample(machine):
    root, align = machine
    for name in ("held_bytes", "held_oldest_ms"):
        (align / name).unlink()
    done = metrics(root)
    found = samples(done.stdout)
    assert done.returncode == FINE and not done.stderr and one(found, "dm_align_held_blocks") == 0
    assert not {"dm_align_held_bytes", "dm_align_held_oldest_seconds"} & set(found)


def test_a_machine_without_devices_has_a_file_all_the_same(tmp_path):
    done = metrics(tmp_path)
    assert done.returncode == FINE and not done.stderr
    assert list(samples(done.stdout)) == ["dm_align_build_info", "dm_align_unreadable_devices"]


def test_a_file_is_replaced_as_a_whole_and_readable_by_everyone(machine, tmp_path):
    root, align = machine
    file = tmp_path / "align.prom"
    assert metrics(root, "--output", file).returncode == FINE
    with open(file) as reader:
        put(align, writes=42)
        done = metrics(root, "--output", file)
        # who has begun to read the old one reads it to its end
        assert one(samples(reader.read()), "dm_align_writes_total") == 0
    assert (done.returncode, done.stdout, done.stderr) == (FINE, "", "")
    assert one(samples(file.read_text()), "dm_align_writes_total") == 42
    assert file.stat().st_mode & 0o777 == 0o644 and [path.name for path in tmp_path.glob("align.prom*")] == ["align.prom"]


@pytest.mark.parametrize("kind, words", [("other", "exists with other content"), ("short", "exists with other content"),
                                         ("link", "no regular file"), ("pipe", "no regular file"), ("folder", "no regular file")])
def test_nobody_elses_file_is_replaced(machine, tmp_path, kind, words):
    file, precious = tmp_path / "align.prom", tmp_path / "precious"
    precious.write_text("precious\n")
    make = {"other": lambda: file.write_text(precious.read_text()), "short": lambda: file.write_text(MARK[:9]),
            "link": lambda: file.symlink_to(precious), "pipe": lambda: os.mkfifo(file), "folder": file.mkdir}
    make[kind]()
    done = metrics(machine[0], "--output", file)
    assert done.returncode == USAGE and words in done.stderr and done.stderr.count("\n") == 1
    assert precious.read_text() == "precious\n" and sorted(path.name for path in tmp_path.glob("align*")) == ["align.prom"]
    if kind in ("other", "short"):
        assert file.read_text() in ("precious\n", MARK[:9])


@pytest.mark.parametrize("where, words", [("none/align.prom", "No such file"), ("full/align.prom", "No space left")])
def test_a_file_that_cannot_be_written_leaves_the_old_one(machine, tmp_path, where, words):
    full = tmp_path / "full"
    full.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", full], capture_output=True, check=False).returncode:
        pytest.skip("a tmpfs cannot be mounted here")
    try:
        (full / "align.prom").write_text(MARK)
        done = metrics(machine[0], "--output", tmp_path / where)
        assert done.returncode == IO and words in done.stderr
        assert (full / "align.prom").read_text() == MARK and len(list(full.iterdir())) == 1
    finally:
        subprocess.run(["umount", full], check=True)


def test_a_thousand_devices_are_read(machine):
    root, _ = machine
    for number in range(1, 1000):
        (root / f"sys/class/block/dm-{number}").symlink_to(root / "sys/devices/virtual/block/dm-0")
    assert len(samples(metrics(root).stdout)["dm_align_writes_total"]) == 1000


# The rules and the dashboard

def test_rules_and_dashboard_ask_only_for_what_is_written(busy):
    known = set(samples(metrics(busy[0]).stdout))
    asked = [RULES.read_text(), *(target.query for panel in panels() for target in panel.targets)]
    names = {name for query in asked for name in re.findall(r"\bdm_align_\w+", query)}
    assert len(names) > 15 and names <= known, names - known
    reasons = set(re.findall(r'reason!?="(\w+)"', " ".join(asked)))
    assert reasons <= {labels["reason"] for labels, _ in samples(metrics(busy[0]).stdout)["dm_align_rmw_drive_total"]}


def test_each_alert_fires_for_what_it_is_about():
    """As align.rules.test.yml says, which has each alert fire once and stay quiet once."""
    told = REPO / "scripts/packaging/tests/align.rules.test.yml"
    done = subprocess.run(["promtool", "test", "rules", told], capture_output=True, text=True, timeout=patience(60), check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    tested = {(name, bool(fires)) for name, fires in
              re.findall(r"alertname: (\w+)\n(?: +exp_alerts:\n +- exp_labels: (\{))?", told.read_text())}
    assert tested == {(name, fires) for name in re.findall(r"- alert: (\w+)", RULES.read_text()) for fires in (False, True)}


def test_prometheus_draws_each_panel_from_what_node_exporter_serves(busy, tmp_path):
    """The programs that users have, from sysfs to the panels' queries."""
    root, align = busy
    texts = tmp_path / "texts"
    texts.mkdir()
    queries = [target.query for panel in panels() for target in panel.targets]
    count, limit = 0, Limit(60)

    def write():
        """Counts on, as a load would."""
        nonlocal count
        count += 1
        for number, (name, kind) in enumerate(COUNTERS):
            put(align, **{name: (10 + number) * (count if kind == "COUNTER" else 1)})
        for name in ("aligned", "misaligned"):
            put(align, **{f"latency_{name}_histogram": " ".join([str(count)] * BINS["latency"])})
        assert metrics(root, "--output", texts / "align.prom").returncode == FINE

    with watching(tmp_path, {"host": texts}, 0.5) as monitors:
        missing, alerts = queries, set()
        # the device is degraded, as its gauge says
        while missing or "AlignDeviceDegraded" not in alerts:
            write()
            assert not limit.over(), f"no samples for {missing}; alerts {alerts}"
            time.sleep(0.5)
            missing = [query for query in missing if not drawn(monitors, query)]
            alerts = monitors.alerts()
        served = monitors.served("host")
    assert 'node_textfile_scrape_error 0' in served
    assert samples(served)["dm_align_writes_total"] == samples((texts / "align.prom").read_text())["dm_align_writes_total"]


def drawn(monitors, query):
    """Whether a panel's query yields numbers."""
    values = [value for _, value in monitors.at(filled(query, 20))]
    return values and all(map(math.isfinite, values))
