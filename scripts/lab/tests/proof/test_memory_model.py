# SPDX-License-Identifier: GPL-2.0
"""The engine's litmus tests hold by the kernel's memory model, and each of their barriers is needed."""

import shutil
import subprocess
import sys

import pytest

from lab.paths import REPO
from lab.proof import memory_model

# A stand-in for herd7: an outcome is possible if one of these words is not in the test.
HERD = f"""#!{sys.executable}
import sys
text = open(sys.argv[-1]).read()
print("Observation it", "Never" if all(word in text for word in {{needed!r}}) else "Sometimes", "0 3")
"""
TEST = """C one

(*
 * Result: Never
 *)

P0(int *a)
{
	WRITE_ONCE(*a, 1);
	smp_mb();
}

P1(int *a)
{
	int r0;

	smp_rmb();
	r0 = READ_ONCE(*a);
}
"""


@pytest.fixture
def herd(tmp_path):
    def program(*needed):
        path = tmp_path / "herd7"
        path.write_text(HERD.format(needed=needed))
        path.chmod(0o755)
        return str(path)
    return program


@pytest.mark.parametrize("needed, right", [
    (("smp_mb();", "smp_rmb();"), [True, True, True]),
    # Not needed, and not enough.
    (("smp_mb();",), [True, True, False]),
    (("smp_mb();", "smp_wmb();"), [False, True, True]),
])
def test_a_test_must_hold_and_each_of_its_barriers_be_needed(tmp_path, herd, needed, right):
    path = tmp_path / "one.litmus"
    path.write_text(TEST)
    verdicts = memory_model.judged(herd(*needed), tmp_path, path)
    assert [each.without for each in verdicts] == ["", "P0: smp_mb(); (1)", "P1: smp_rmb(); (2)"]
    assert [each.right for each in verdicts] == right


@pytest.mark.parametrize("change, said", [(("Result: Never", "Result: Always"), "must say"),
                                          (("smp_", "spin_"), "has no barrier")])
def test_a_test_that_tells_nothing_is_refused(tmp_path, herd, capsys, change, said):
    path = tmp_path / "one.litmus"
    path.write_text(TEST.replace(*change))
    with pytest.raises(SystemExit):
        memory_model.judged(herd("C one"), tmp_path, path)
    assert said in capsys.readouterr().err


def test_without_herd7_the_way_to_have_it_is_said():
    done = subprocess.run([sys.executable, "-m", "lab.proof.memory_model", "--herd", "/nowhere/herd7"], capture_output=True,
                          text=True, cwd=REPO / "scripts")
    assert done.returncode == 2 and "/nowhere/herd7 is not here: 'opam install herdtools7'" in done.stderr


def test_the_handshakes_of_the_engine_hold_by_the_model_of_the_kernel():
    if not shutil.which("herd7"):
        pytest.skip("herd7 is not here, and in no package of Debian")
    done = subprocess.run([sys.executable, "-m", "lab.proof.memory_model"], capture_output=True, text=True, cwd=REPO / "scripts")
    assert done.returncode == 0, done.stdout + done.stderr
