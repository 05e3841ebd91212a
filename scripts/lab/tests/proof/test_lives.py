# SPDX-License-Identifier: GPL-2.0
"""The runs of the simulation go on where the last one has ended, add up, and keep apart what other sources have lived."""

import json
import stat
import sys

import pytest

from lab.proof import lives


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Keep the results in a folder of the test; return a maker of programs that write down their arguments."""
    monkeypatch.setattr(lives, "FILE", tmp_path / "lives.json")
    monkeypatch.setattr(lives, "PUBLISHED", tmp_path / "published.json")
    monkeypatch.setattr(lives, "OUT", tmp_path)

    def program(last_line, status=0):
        path = tmp_path / "sim"
        path.write_text(f"#!{sys.executable}\nimport sys\nwith open({str(tmp_path / 'calls')!r}, 'a') as calls:\n"
                        f"    print(*sys.argv[1:], file=calls)\nprint({last_line!r})\nsys.exit({status})\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    program.calls = lambda: [line.split() for line in (tmp_path / "calls").read_text().splitlines()]
    program.recorded = lambda: json.loads((tmp_path / "lives.json").read_text())
    return program


CLEAN = "sim: 100 operations, 7 cuts, 0 violations, 5 operations/s"
BROKEN = "seed 4001: a read found what it must not\nsim: 40 operations, 3 cuts, 1 violations, 5 operations/s"


def seeds(here):
    return [int(call[call.index("--seed") + 1]) for call in here.calls()]


def test_each_run_goes_on_behind_the_last_one_and_the_figures_add_up(here, capsys):
    program = here(CLEAN)
    for _ in range(2):
        assert lives.main([program, "--seconds", "0.01"]) == 0
    assert seeds(here) == [lives.FIRST + n * lives.SLICE for n in range(len(seeds(here)))] and len(seeds(here)) >= 2
    runs = len(seeds(here))
    assert f"sim: {100 * runs} operations, {7 * runs} cuts, 0 violations, " in capsys.readouterr().out.splitlines()[-1]


def test_a_violation_ends_the_run_and_is_lived_again_by_the_next(here, capsys):
    program = here(BROKEN, status=1)
    assert lives.main([program, "--seconds", "60"]) == 1
    assert "seed 4001: a read found what it must not" in capsys.readouterr().out
    assert lives.main([program, "--seconds", "60"]) == 1
    assert seeds(here) == [lives.FIRST, lives.FIRST]
    assert sum(each["violations"] for each in here.recorded().values()) == 2


def test_other_sources_begin_anew_and_leave_the_figures_of_the_old(here, monkeypatch):
    program = here(CLEAN)
    lives.main([program, "--seconds", "0.01"])
    before, calls = here.recorded(), len(seeds(here))
    monkeypatch.setattr(lives, "key_of_the_sources", lambda: "other")
    lives.main([program, "--seconds", "0.01"])
    after = here.recorded()
    assert seeds(here)[calls] == lives.FIRST
    assert after.keys() == before.keys() | {"other"} and all(after[key] == before[key] for key in before)


def test_another_checkout_goes_on_behind_what_was_published(here, monkeypatch):
    program = here(CLEAN)
    lives.main([program, "--seconds", "0.01"])
    lives.publish()
    (figures,), lived = here.recorded().values(), len(seeds(here))
    lives.FILE.unlink()
    lives.main([program, "--seconds", "0.01"])
    assert seeds(here)[lived] == figures["seed"] == lives.FIRST + lived * lives.SLICE
    # Here it has lived further than what is published.
    (local,) = here.recorded().values()
    assert local["operations"] == 100 * len(seeds(here)) and lives.recorded() == here.recorded()
    monkeypatch.setattr(lives, "key_of_the_sources", lambda: "other")
    lives.publish()
    assert list(json.loads(lives.PUBLISHED.read_text()).values()) == [figures], "other sources have lived nothing"


def test_the_digest_is_of_the_engine_and_of_the_simulation(monkeypatch, tmp_path):
    for name in ("kmod/tests/sim/shim", "kmod/tests/sim/include/linux"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setattr(lives, "REPO", tmp_path)
    seen = {lives.key_of_the_sources()}
    for name in ("kmod/held.c", "kmod/tests/sim/oracle.h", "kmod/tests/sim/shim/dm.c", "kmod/tests/sim/include/linux/slab.h"):
        (tmp_path / name).write_text(name)
        seen.add(lives.key_of_the_sources())
    assert len(seen) == 5
    (tmp_path / "kmod/held.c").write_text("/* a comment */\nkmod/held.c")
    assert lives.key_of_the_sources() in seen
    (tmp_path / "kmod/tests/sim/litmus.c").write_text("another program")
    (tmp_path / "kmod/tests/sim/scenes.c").write_text("scenes")
    assert lives.key_of_the_sources(["scenes*"]) in seen and lives.key_of_the_sources() not in seen


def test_a_program_that_says_nothing_is_no_run(here):
    with pytest.raises(SystemExit) as ended:
        lives.main([here("what?"), "--seconds", "60"])
    assert ended.value.code == 2


def test_a_seed_that_is_asked_for_is_recorded_nowhere(here, tmp_path):
    assert lives.main([here(CLEAN), "--seconds", "3", "--seed", "42"]) == 0
    assert here.calls() == [["--seconds", "3", "--seed", "42"]] and not (tmp_path / "lives.json").exists()
