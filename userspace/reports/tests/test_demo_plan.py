# SPDX-License-Identifier: GPL-2.0
"""The plan keeps to its time budget and tells what is left of it."""

from align_reports import plan
from align_reports.results import MODES, PROFILES
from align_reports.workloads import WORKLOADS


def test_without_a_budget_every_workload_runs_its_published_count():
    steps = plan.make(PROFILES, None)
    assert len(steps) == len(PROFILES) * len(WORKLOADS) * len(MODES)
    assert all(step.count == step.workload.published_count for step in steps)


def test_estimates_fit_the_budget():
    for budget in (150, 300, 600):
        steps = plan.make(PROFILES, budget)
        assert sum(step.estimate_s for step in steps) <= budget


def test_a_larger_budget_never_gives_fewer_writes():
    small, large = plan.make(PROFILES, 100), plan.make(PROFILES, 1000)
    assert all(a.count <= b.count for a, b in zip(small, large))
    assert any(a.count < b.count for a, b in zip(small, large))


def test_the_modes_of_a_workload_follow_one_another():
    steps = plan.make(PROFILES, 150)
    for i in range(0, len(steps), len(MODES)):
        group = steps[i:i + len(MODES)]
        assert [step.mode for step in group] == list(MODES)
        assert len({(s.profile, s.workload.name, s.count) for s in group}) == 1


def test_eta_follows_the_pace_of_the_runs_so_far():
    steps = plan.make(("st1000dm003",), 100)
    eta = plan.Eta(steps)
    whole = eta.seconds
    eta.finished(2 * steps[0].estimate_s)
    assert abs(eta.seconds - 2 * (whole - steps[0].estimate_s)) < 1e-6
    for step in steps[1:]:
        eta.finished(step.estimate_s)
    assert eta.seconds == 0


def test_clock_shows_minutes_and_seconds():
    assert [plan.clock(s) for s in (0, 5.4, 65, 4350)] == ["0:00", "0:05", "1:05", "72:30"]
