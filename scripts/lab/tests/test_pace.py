# SPDX-License-Identifier: GPL-2.0
"""Time limits follow the machine's current slowness, one figure for the host, the workers and the guests."""

import ast
import os
import subprocess
import sys
import time

import pytest

from lab import pace
from lab.paths import REPO


@pytest.fixture
def figure(tmp_path, monkeypatch):
    """Return a function that sets the machine's slowness, as the measuring process does."""
    monkeypatch.setenv(pace.FILE, str(tmp_path / "pace"))
    monkeypatch.delenv(pace.VARIABLE, raising=False)
    monkeypatch.delenv(pace.EMULATION, raising=False)
    monkeypatch.setattr(pace, "READ_AGAIN", 0)
    monkeypatch.setattr(pace, "_known", (None, 0.0))
    return lambda slow: pace.write(tmp_path / "pace", slow)


@pytest.mark.parametrize("measured, emulation, factor", [
    (0.5, 1, 1), (1.5, 1, 1.5), (3, 2, 6), (1, 2.5, 2.5), (7, 7, pace.CEILING), (1e9, 1, pace.CEILING)])
def test_the_factor_is_at_least_one_and_has_a_ceiling(figure, monkeypatch, measured, emulation, factor):
    figure(measured)
    monkeypatch.setenv(pace.EMULATION, str(emulation))
    assert pace.slowness() == factor and pace.patience(10) == 10 * factor


@pytest.mark.parametrize("given, factor", [("3", 3), ("0.1", 1), ("100", 100)])
def test_the_user_has_the_last_word_where_nothing_measures(monkeypatch, given, factor):
    monkeypatch.delenv(pace.FILE, raising=False)
    monkeypatch.setenv(pace.VARIABLE, given)
    assert pace.slowness() == factor


def test_a_limit_is_stretched_when_load_comes_and_a_users_own_is_not(figure):
    figure(1)
    limit, own = pace.Limit(0.2), pace.Limit(0.2, exact=True)
    time.sleep(0.3)
    figure(15)
    assert own.over() and not limit.over()
    figure(1)
    assert "0.2 s" in limit.over()


def test_delays_of_one_test_keep_their_ratio_when_load_comes(figure):
    figure(2)
    pace.begin_test()
    first = pace.scaled(1)
    figure(8)
    assert pace.scaled(3) == 3 * first == 6
    pace.begin_test()
    assert pace.scaled(1) == 8


def test_delays_keep_their_ratio_to_one_that_is_fixed(figure):
    figure(2)
    pace.begin_test()
    figure(8)
    pace.keep(3)
    assert pace.scaled(2) == 6
    pace.begin_test()
    assert pace.scaled(1) == 8


def test_a_figure_that_is_gone_for_a_moment_stays(figure, tmp_path):
    figure(4)
    assert pace.slowness() == 4
    (tmp_path / "pace").unlink()
    assert pace.slowness() == 4


def test_emulation_is_what_a_boot_takes_beyond_the_native_slowness():
    assert pace.emulation(pace.REFERENCE_BOOT_SECONDS, 1.0) == 1
    assert pace.emulation(6 * pace.REFERENCE_BOOT_SECONDS, 3.0) == 2
    assert pace.emulation(0.1, 5.0) == 1


def test_the_machine_is_measured_all_the_time(tmp_path, monkeypatch):
    file = tmp_path / "pace"
    with pace.watching(file):
        assert float(file.read_text()) > 0
        first, limit = file.stat().st_mtime_ns, pace.Limit(20)
        while file.stat().st_mtime_ns == first:
            assert not limit.over(), "the process does not measure"
            time.sleep(0.05)


SLEEPERS = """
import time
import pytest

@pytest.mark.timeout(0.7, method="{method}")
def test_sleeper():
    time.sleep(1.4)
"""


@pytest.mark.parametrize("method", ["signal", "thread"])
@pytest.mark.parametrize("slow, status", [("1", 1), ("20", 0)])
def test_a_tests_own_limit_is_stretched(tmp_path, method, slow, status):
    (tmp_path / "test_sleepers.py").write_text(SLEEPERS.format(method=method))
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    environment = {name: value for name, value in os.environ.items() if name != pace.FILE}
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "lab.plugins.timers", "-p", "no:cacheprovider"],
                          cwd=tmp_path, capture_output=True, text=True, env={**environment, pace.VARIABLE: slow})
    assert done.returncode == status, done.stdout


def test_a_tests_limit_is_stretched_by_load_that_comes_while_it_runs(tmp_path):
    (tmp_path / "test_sleepers.py").write_text(SLEEPERS.format(method="signal").replace(
        "    time.sleep", "    from lab import pace\n    pace._known = None, 0\n    pace.write('pace', 9)\n    time.sleep"))
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    pace.write(tmp_path / "pace", 1)
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "lab.plugins.timers", "-p", "no:cacheprovider"],
                          cwd=tmp_path, capture_output=True, text=True, env={**os.environ, pace.FILE: str(tmp_path / "pace")})
    assert done.returncode == 0, done.stdout


WAITS = ("communicate", "wait", "settimeout", "join")


def unstretched(text, waits=WAITS):
    """Return the lines that wait for a process, a thread or a socket with a limit that does not follow the machine."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        on_subprocess = isinstance(node.func.value, ast.Name) and node.func.value.id == "subprocess"
        given = [word.value for word in node.keywords if word.arg == "timeout"]
        if node.func.attr in ("settimeout", "join"):
            given += node.args
        if not on_subprocess and node.func.attr not in waits:
            continue
        if any(isinstance(value, ast.Constant) and isinstance(value.value, int | float) and value.value for value in given):
            yield node.lineno


def test_no_limit_of_a_test_is_only_for_a_fast_machine():
    found = [f"{path.relative_to(REPO)}:{line}: use pace.patience(seconds)"
             # In kmod/tests a thread is joined behind the call that ends it.
             for pattern, waits in (("userspace/*/tests/**/*.py", WAITS), ("scripts/**/tests/**/*.py", WAITS),
                                    ("kmod/tests/**/*.py", WAITS[:-1]))
             for path in sorted(REPO.glob(pattern)) for line in unstretched(path.read_text(), waits)]
    assert not found, "\n".join(sorted(set(found)))


def test_a_limit_for_a_fast_machine_is_noticed():
    assert list(unstretched("subprocess.run(x, timeout=3)\np.communicate(timeout=patience(3))\np.wait(timeout=1)\n"
                            "s.settimeout(2)\nrun(x, timeout=5)\nt.join(6)\n'x'.join('y')\n")) == [1, 3, 4, 6]
