# SPDX-License-Identifier: GPL-2.0
"""What Prometheus draws and alerts from a real load is what the load, the ledger and the drive counted.

The load runs on a real align device in a guest, the metrics are written there by the service's command, and are scraped by
node_exporter and Prometheus of this machine: so this shows that the kernel's counters come through alignctl, both programs
and the dashboard's queries unchanged. It does not show how the service fares under systemd, for which test_units.py and the
system images are.
"""

import math
import time

import pytest

from lab.dashboard.load import SECTOR
from lab.dashboard.panels import filled, panels, rate_interval
from lab.dashboard.run import DEVICE, MODES, NAME, started
from lab.machines import LeftOut
from lab.pace import Limit, scaled

# One worker: there is one guest of that name at a time.
pytestmark = [pytest.mark.xdist_group("dashboard"),
              pytest.mark.check_all("test_stats_metrics.py has the same programs read made-up counters"),
              pytest.mark.timeout(600)]
SECONDS = 6
PERCENTILE = 0.99
LEFT, SHARE, DEGRADED = "AlignTouchesLeftToDrive", "AlignMisalignedShare", "AlignDeviceDegraded"
# Beginnings of legends of the panel of touches, and of the counters that they are about.
FATES = {"avoided, ": "rmw_avoided_", "read by the host": "rmw_host", "left to the drive, ": "rmw_drive_", "lost": "rmw_lost"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    try:
        folder = tmp_path_factory.mktemp("dashboard")
        with started(folder, seconds=4 * SECONDS, every=scaled(1), name="dashboard-test") as running:
            yield running
    except LeftOut as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def phases(run):
    return {mode: run.phase(mode, scaled(SECONDS)) for mode in MODES}


def span(phase):
    return phase.after - phase.before


def panel(run, phase, title):
    """Return {legend without the device's name: value} of a panel, whose rates are those of the whole phase."""
    [found] = [each for each in panels() if each.title.startswith(title)]
    values = {}
    for target in found.targets:
        for labels, value in run.monitors.at(filled(target.query, span(phase)), phase.after):
            name, _, rest = target.named(labels).partition(": ")
            assert name == NAME and rest not in values
            values[rest] = value
    return values


def whole(value):
    """Return the count that a rate comes to: its window is from scrape to scrape, so nothing is extrapolated."""
    assert value == pytest.approx(round(value), abs=0.01)
    return round(value)


@pytest.mark.parametrize("mode", MODES)
def test_ledger_and_drive_counted_what_was_written(phases, mode):
    """run.phase() has compared every counter of the ledger with the scrape."""
    phase = phases[mode]
    wrote = phase.wrote["aligned"] + phase.wrote["misaligned"]
    assert min(each["writes"] for each in phase.wrote.values()) > 0
    assert {name: phase.ledger[name] for name in wrote} == wrote
    assert phase.ledger["writes_misaligned"] == phase.wrote["misaligned"]["writes"]
    assert {kind: bins.total() for kind, bins in phase.latency.items()} == {
        kind: each["writes"] for kind, each in phase.wrote.items()}
    assert phase.drive["touches"] == phase.ledger["rmw_drive"] == (wrote["rmw_expected"] if mode == "report" else 0)


@pytest.mark.parametrize("mode", MODES)
def test_touches_become_what_the_ledger_booked_and_the_drive_counted(run, phases, mode):
    phase = phases[mode]
    found = {legend: whole(value * span(phase)) for legend, value in panel(run, phase, "Partial touches").items()}
    booked = {}
    for legend in found:
        [start] = [start for start in FATES if legend.startswith(start)]
        booked[legend] = phase.ledger[legend.replace(start, FATES[start])]
    assert found == booked
    assert sum(found.values()) == phase.wrote["misaligned"]["rmw_expected"]
    assert sum(count for legend, count in found.items() if "drive" in legend) == phase.drive["touches"]
    assert (found["left to the drive, report"] > 0) == (mode == "report") == (found["read by the host"] == 0)


@pytest.mark.parametrize("mode", MODES)
def test_share_and_amplification_are_those_of_the_load(run, phases, mode):
    phase = phases[mode]
    aligned, misaligned = phase.wrote.values()
    wrote = aligned + misaligned
    assert panel(run, phase, "Misaligned share") == {"": pytest.approx(misaligned["writes"] / wrote["writes"])}
    assert panel(run, phase, "Write amplification") == {
        "as it arrived": pytest.approx(wrote["write_block_bytes"] / wrote["write_bytes"]),
        "as it was sent": pytest.approx(phase.ledger["sent_block_bytes"] / wrote["write_bytes"])}


def start_of(end):
    """Return the lower end of a bin, of which there are four to a power of two."""
    return end - 2 ** (math.ceil(math.log2(end)) - 1) / 4


@pytest.mark.parametrize("mode", MODES)
def test_latencies_are_those_of_the_ledgers_bins(run, phases, mode):
    phase = phases[mode]
    means, highest = panel(run, phase, "Mean latency"), panel(run, phase, "99th percentile")
    for kind, bins in phase.latency.items():
        ends = {end * 1000: count for end, count in bins.items()}
        middles = sum((start_of(end) + end) / 2 * count for end, count in ends.items())
        assert means[kind] * 1e9 == pytest.approx(middles / bins.total(), rel=1e-4)
        buckets = [0.0, *(float(labels["le"]) for labels, _ in run.monitors.at(
            f'dm_align_write_latency_seconds_bucket{{alignment="{kind}"}}', phase.after))]
        below, above = (max(each for each in buckets if each < highest[kind]),
                        min(each for each in buckets if each >= highest[kind]))
        within = [sum(count for end, count in ends.items() if end <= bound * 1e9 + 1) / bins.total() for bound in (below, above)]
        assert within[0] < PERCENTILE <= within[1], (kind, highest[kind], ends)
    count = phase.wrote["misaligned"]["writes"]
    price = count * (means["misaligned"] - means["aligned"]) / span(phase)
    assert panel(run, phase, "Price") == {"": pytest.approx(price)}


@pytest.mark.parametrize("mode", MODES)
def test_reads_for_padding_are_the_drives_reads(run, phases, mode):
    phase = phases[mode]
    found = panel(run, phase, "Reads of the host")
    assert whole(found["read for padding, a second"] * span(phase)) == phase.drive["read_bytes"]
    assert (phase.drive["read_bytes"] > 0) == (mode != "report")
    taken = {value for _, points in run.monitors.over("dm_align_memory_bytes", phase.before, phase.after, run.monitors.scraped)
             for _, value in points}
    assert (taken == {0}) == (mode == "report") and found["memory"] in taken


@pytest.mark.parametrize("mode", MODES)
def test_blocks_are_held_in_coalesce_only_and_not_for_long(run, phases, mode):
    phase = phases[mode]
    assert panel(run, phase, "Held blocks") == {"held": 0, "degraded": 0, "touches pending": 0}
    assert panel(run, phase, "Held bytes") == panel(run, phase, "Age of the oldest") == {"": 0}
    blocks, octets, ages = ([value for _, value in points] for [(_, points)] in (
        run.monitors.over(f"dm_align_{name}", phase.before, phase.after, run.monitors.scraped)
        for name in ("held_blocks", "held_bytes", "held_oldest_seconds")))
    held = mode == "coalesce"
    assert (any(blocks), any(octets), any(ages)) == (held, held, held)
    assert all(value % SECTOR == 0 for value in octets)


def test_each_query_has_points_in_each_mode_at_grafanas_interval(run, phases):
    """Also where the window is as short as Grafana makes it: four scrapes."""
    every = run.monitors.scraped
    for phase in phases.values():
        for each in panels():
            for target in each.targets:
                found = run.monitors.over(filled(target.query, rate_interval(every, every)), phase.before, phase.after, every)
                assert found, f"{each.title}: {target.query}"
                for labels, points in found:
                    assert any(map(math.isfinite, (value for _, value in points))), f"{each.title}: {labels}"


def until(run, what, holds):
    """Wait until the alerts are as they must be, and return them."""
    limit = Limit(60)
    while not holds(alerts := run.monitors.alerts()):
        assert not limit.over(), f"{what}: {alerts}"
        time.sleep(0.1)
    return alerts


def test_alerts_are_about_what_is_so(run, phases):
    """The conditions that hold for 10 or 30 minutes before the alert fires hold from the beginning: pending."""
    for phase in phases.values():
        assert phase.alerts == {SHARE: "pending"}, phase.mode
    # Most writes of the log touch two blocks.
    phase = run.phase("pad", scaled(SECONDS), "--max-blocks", "1")
    assert phase.ledger["rmw_drive"] == phase.ledger["rmw_drive_max_blocks"] == phase.drive["touches"] > 0
    assert until(run, "one block is too few", lambda alerts: LEFT in alerts) == {SHARE: "pending", LEFT: "pending"}

    run.alignctl("set", NAME, "--mode", "coalesce", "--hold-ms", "60000", "--max-blocks", "64")
    run.drive.control("fail write 80 8")
    run.guest.run("dd", "if=/dev/zero", f"of={DEVICE}", "seek=82", "count=3", "oflag=direct", "status=none")
    assert DEGRADED not in run.monitors.alerts()
    run.alignctl("set", NAME, "--flush", ok=(3,))
    alerts = until(run, "the block cannot be written", lambda alerts: DEGRADED in alerts)
    assert alerts == {SHARE: "pending", LEFT: "pending", DEGRADED: "firing"}
    assert [value for _, value in run.monitors.at("dm_align_held_bytes")] == [3 * SECTOR]
    run.drive.control("heal")
    run.alignctl("set", NAME, "--flush")
    until(run, "the block is written", lambda alerts: DEGRADED not in alerts)
