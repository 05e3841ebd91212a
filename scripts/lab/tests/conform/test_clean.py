# SPDX-License-Identifier: GPL-2.0
"""Rounds on devices that keep their word: as many as asked for are made, each call with another seed, and a fault ends them."""

import contextlib

import pytest

from lab.conform import clean


class Calls(list):
    """The calls of conform, none of which makes rounds. faulty: number of the call that finds two faults."""
    faulty = None

    def examine(self, _alignctl, device, rounds, depth, seed):
        self.append((device, rounds, depth, seed))
        return {"rounds": rounds, "faulty": 2 if len(self) == self.faulty else 0, "examples": ["its requests"]}


@pytest.fixture
def calls(monkeypatch):
    made = Calls()
    monkeypatch.setattr(clean, "CALL", 100)
    monkeypatch.setattr(clean, "examine", made.examine)
    monkeypatch.setattr(clean, "loop", lambda logical, _file: contextlib.nullcontext(f"loop of {logical}"))
    return made


def test_as_many_rounds_as_asked_for_are_made_on_each_device_with_their_own_seeds(calls):
    found = clean.run(450, "alignctl")
    assert [(device, rounds, seed) for device, rounds, _, seed in calls] == [
        ("loop of 512", 100, 1), ("loop of 4096", 100, 2), ("loop of 512", 100, 3), ("loop of 4096", 100, 4),
        ("loop of 512", 50, 5)]
    assert {depth for _, _, depth, _ in calls} == set(clean.DEPTHS)
    assert (found.rounds, found.faulty, found.bound) == (450, 0, 150), "as 0.05 ** (1 / 450) is 1 - 1 / 150.7"
    assert "450 rounds on loop devices in memory" in found.words and "0 with a false alarm, so" in found.words


def test_a_false_alarm_ends_the_rounds_and_is_shown_with_its_requests(calls, capsys):
    calls.faulty = 2
    found = clean.run(1000, "alignctl")
    assert (found.rounds, found.faulty, found.bound) == (200, 2, None) and "2 with a false alarm." in found.words
    assert "its requests" in capsys.readouterr().out
