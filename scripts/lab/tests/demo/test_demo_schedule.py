# SPDX-License-Identifier: GPL-2.0
"""The schedule keeps to its time budget and tells the time left."""

from align_reports import output
from align_reports.results import PROFILES
from lab.demo import __main__ as demo
from lab.demo.schedule import FEWEST, MODES_ON, Schedule
from lab.demo.workloads import WORKLOADS

REPETITIONS = 3


def played(budget_s, profiles=PROFILES, pace=1.0):
    """Return the steps on a machine that takes `pace` times the estimates."""
    schedule = Schedule(profiles, REPETITIONS, budget_s)
    steps = []
    while schedule:
        steps.append(schedule.next())
        schedule.finished(steps[-1].estimate_s * pace)
    return steps


def seconds(steps, pace=1.0):
    return sum(step.estimate_s for step in steps) * pace


def test_without_a_budget_every_workload_runs_its_published_count():
    steps = played(None, pace=3)
    assert len(steps) == REPETITIONS * len(WORKLOADS) * sum(len(MODES_ON[profile]) for profile in PROFILES)
    assert all(step.count == step.workload.published_count for step in steps)


def test_runs_fit_the_budget():
    for budget in (demo.BUDGET_S, 400, 900):
        assert 0.8 * budget < seconds(played(budget)) <= budget


def test_a_slow_machine_makes_fewer_writes_rather_than_a_longer_demo():
    slow = played(1000, pace=2.5)
    assert seconds(slow, 2.5) <= 1000 * 1.1
    assert sum(step.count for step in slow) < sum(step.count for step in played(1000))


def test_even_without_time_every_run_makes_some_writes():
    assert {(step.profile, step.count) for step in played(1)} == set(FEWEST.items())


def test_the_shortest_runs_of_all_fit_the_time_of_the_demo():
    assert 0.9 * demo.BUDGET_S < seconds(played(1)) <= demo.BUDGET_S <= 300


def test_each_repetition_begins_with_another_mode_and_all_of_a_workload_have_one_count():
    steps = played(150, pace=1.7)
    while steps:
        modes = MODES_ON[steps[0].profile]
        group, steps = steps[:REPETITIONS * len(modes)], steps[REPETITIONS * len(modes):]
        assert len({(s.profile, s.workload.name, s.count) for s in group}) == 1
        for repetition in range(REPETITIONS):
            turn = group[repetition * len(modes):(repetition + 1) * len(modes)]
            assert {step.repetition for step in turn} == {repetition + 1}
            assert [step.mode for step in turn] == [*modes[repetition:], *modes[:repetition]]


def test_eta_follows_the_pace_of_the_runs_so_far():
    schedule = Schedule(("st1000dm003",), REPETITIONS, None)
    whole, first = schedule.eta_s, schedule.next().estimate_s
    schedule.finished(2 * first)
    assert abs(schedule.eta_s - 2 * (whole - first)) < 1e-6
    while schedule:
        schedule.finished(schedule.next().estimate_s)
    assert schedule.eta_s == 0


def test_clock_shows_minutes_and_seconds():
    assert [output.clock(s) for s in (0, 5.4, 65, 4350)] == ["0:00", "0:05", "1:05", "72:30"]
