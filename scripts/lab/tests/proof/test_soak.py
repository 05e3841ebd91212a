# SPDX-License-Identifier: GPL-2.0
"""A slice of the soak (scripts/soak) under KASAN and lockdep, always of the same rounds; and the failures of a soak.

DM_ALIGN_SOAK_ROUNDS: length of the slice (see lab/plugins/extent.py); DM_ALIGN_SOAK_SEED: its first seed (1).
scripts/soak itself takes another seed each time.
"""

import json
import os
import types

import pytest

from lab.linux import kernels
from lab.machines.vm import Result
from lab.plugins import extent
from lab.proof import soak

# A number, not a time: it is the same on each machine, and no load makes it longer.
ROUNDS = extent.count("DM_ALIGN_SOAK_ROUNDS")
SEED = int(os.environ.get("DM_ALIGN_SOAK_SEED", "1"))


@pytest.fixture
def summary(tmp_path, monkeypatch):
    path = tmp_path / "summary.json"
    monkeypatch.setattr(soak, "SUMMARY", path)
    return path


@pytest.mark.timeout(0)
def test_random_configurations_are_clean_under_kasan_and_lockdep(summary):
    told = soak.soak(soak.LONGEST_TURN, seed=SEED, named=["um"], rounds=ROUNDS, prefix="check-")
    assert told["rounds"] == ROUNDS, told
    assert told == json.loads(summary.read_text())


@pytest.fixture
def guest(tmp_path, monkeypatch):
    """Return a stand-in for a guest, with settable results, .status and .faults."""
    said = types.SimpleNamespace(events=[], status=0, faults=[])

    def boot(turn, *_):
        turn._results = tmp_path / "rounds"
        turn._results.write_text("".join(json.dumps(event) + "\n" for event in said.events))
        return Result(said.status, said.faults, tmp_path, 1.0)

    monkeypatch.setattr(soak.Turn, "_boot", boot)
    return said


def done(seed):
    return {"seed": seed, "ok": True, "seconds": 1, "operations": 10, "touches": 5, "steps": 1, "memory_failed": False,
            "held": 0, "left_to_drive": 0, "slowest_ms": 3}


def failure(guest, summary):
    with pytest.raises(soak.Failed) as failed:
        soak.soak(60, seed=70, named=["um"])
    told = json.loads(summary.read_text())["failed"]
    assert told["seed"] == failed.value.seed and told["replay"] in str(failed.value)
    assert f"--kernel um --seed {told['seed']} --rounds 1" in told["replay"]
    return failed.value


def test_the_summary_counts_rounds_and_what_they_reached(guest, summary):
    guest.events = [{"begin": 70}, done(70), {"begin": 71}, done(71)]
    told = soak.soak(60, seed=70, named=["um"])
    assert (told["rounds"], told["operations"], told["failed"]) == (2, 20, None)
    assert sum(told["reached"]["P"].values()) == 2
    assert told == json.loads(summary.read_text())


def test_a_wrong_round_is_named_with_its_reason(guest, summary):
    guest.events = [{"begin": 70}, done(70), {"begin": 71}, {"seed": 71, "ok": False, "why": "MISMATCH"}]
    guest.status = 1
    failed = failure(guest, summary)
    assert failed.seed == 71 and "MISMATCH" in failed.why


@pytest.mark.parametrize("status", [124, 125])
def test_the_round_in_which_a_guest_dies_or_hangs_is_named(guest, summary, status):
    guest.events = [{"begin": 70}, done(70), {"begin": 71}]
    guest.status = status
    assert failure(guest, summary).seed == 71


def test_a_fault_in_the_kernels_log_fails_the_soak_although_all_rounds_were_right(guest, summary):
    guest.events = [{"begin": 70}, done(70)]
    guest.faults = ["WARNING: objects remaining"]
    assert "objects remaining" in failure(guest, summary).why


def test_no_round_at_all_is_no_success(guest, summary):
    guest.status = 0
    assert failure(guest, summary).seed == 70


@pytest.mark.parametrize("seconds", [60, 1800, 7200])
def test_the_time_is_shared_half_and_half(seconds, monkeypatch):
    monkeypatch.setenv(kernels.VARIABLE, "6.1 6.12")
    turns = soak.turns((), seconds)
    for kernel, part in (("um", 2), ("6.12", 4), ("6.1", 4)):
        assert sum(share for name, share in turns if name == kernel) == pytest.approx(seconds / part)
    assert max(share for _, share in turns) <= soak.LONGEST_TURN
