# SPDX-License-Identifier: GPL-2.0
"""The phases of a replay, the state between them, and a run that ends early."""

import json
import resource
import signal
import subprocess
from pathlib import Path

import pytest

from alignctl_program import ALIGNCTL, alignctl, needs_io_uring, wait_for_run
from lab.pace import patience

FINE, FINDINGS, USAGE, IO, BUSY = range(5)


def test_phases_pass_on_what_they_did(disk, tmp_path):
    state = tmp_path / "state"
    common = ["w4k_132k", "--on", disk, "--state", state, "--json"]
    prepared = json.loads(alignctl("replay", *common, "--phase", "prepare", "--count", 5).stdout)
    assert "wall_s" not in prepared and prepared["data_check"]["status"] == "skipped"
    # checked now, all sectors are as prepared
    assert json.loads(alignctl("replay", *common, "--phase", "check").stdout)["data_check"]["status"] == "ok"
    ran = json.loads(alignctl("replay", *common, "--phase", "run").stdout)
    assert ran["requests"] == 10 and ran["data_check"]["status"] == "skipped"
    checked = json.loads(alignctl("replay", *common, "--phase", "check").stdout)
    assert checked["data_check"]["status"] == "ok" and "wall_s" not in checked


def test_a_preparation_that_does_not_end_leaves_no_state_of_the_replay_before(disk, tmp_path):
    """Of that nothing is left to check, and a check would find as many lost writes as were prepared."""
    state = tmp_path / "state"
    common = ["w136k", "--on", disk, "--state", state, "--count", 5]
    for phase in ("prepare", "run"):
        assert alignctl("replay", *common, "--phase", phase).returncode == FINE
    # Python ignores the signal of this limit, and so does the program
    failed = alignctl("replay", *common, "--phase", "prepare", restore_signals=False,
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, 1 << 18)))
    assert failed.returncode == IO and "writing" in failed.stderr
    checked = alignctl("replay", *common, "--phase", "check")
    assert checked.returncode == USAGE and f"{state}: No such file or directory" in checked.stderr


@pytest.mark.parametrize("arguments, words", [
    (["w512", "--phase", "check"], ["is for w136k"]),
    (["w136k", "--phase", "check", "--count", "6"], ["--count 5"]),
    (["w136k", "--phase", "run"], ["was run already"]),
])
def test_a_state_of_something_else_is_refused(disk, tmp_path, arguments, words):
    state = tmp_path / "state"
    for phase in ("prepare", "run"):
        assert alignctl("replay", "w136k", "--on", disk, "--state", state, "--count", 5,
                        "--phase", phase).returncode == FINE
    failed = alignctl("replay", *arguments, "--on", disk, "--state", state)
    assert failed.returncode == USAGE
    for word in [str(state), "--phase prepare", *words]:
        assert word in failed.stderr


def test_a_file_that_is_no_state_is_refused(disk):
    failed = alignctl("replay", "w512", "--on", disk, "--phase", "check", "--state", "/etc/passwd")
    assert failed.returncode == USAGE and "/etc/passwd: not a state file" in failed.stderr


@pytest.mark.parametrize("change", [{"places": 49}, {"places": 0}, {"start": 100}, {"count": 0}, {"issued": 51},
                                    {"device_bytes": 4096}, {"failed": [-1.5]}, {"failed": 3}, {"seed": None}])
def test_a_state_that_cannot_be_is_refused(disk, tmp_path, change):
    state = tmp_path / "state"
    common = ["rand4k", "--on", disk, "--state", state]
    assert alignctl("replay", *common, "--phase", "prepare", "--count", 50).returncode == FINE
    state.write_text(json.dumps(json.loads(state.read_text()) | change))
    failed = alignctl("replay", *common, "--phase", "check")
    assert failed.returncode == USAGE and f"{state}: not a state file" in failed.stderr


def test_a_run_on_what_is_no_longer_prepared_is_refused(disk, tmp_path):
    state = tmp_path / "state"
    common = ["w512", "--on", disk, "--state", state, "--json"]
    assert alignctl("replay", *common, "--phase", "prepare", "--count", 3).returncode == FINE
    prepared = Path(disk).read_bytes()
    last = len(prepared.rstrip(b"\0")) - 1
    with open(disk, "r+b") as file:
        file.seek(last)
        file.write(b"!")
    changed = Path(disk).read_bytes()
    refused = alignctl("replay", *common, "--phase", "run")
    assert refused.returncode == BUSY and f"sector {last // 512} does not hold" in refused.stderr
    assert Path(disk).read_bytes() == changed


def test_a_changed_sector_is_a_finding(disk, tmp_path):
    state = tmp_path / "state"
    common = ["w512", "--on", disk, "--state", state, "--json"]
    assert alignctl("replay", *common, "--phase", "prepare", "--count", 9).returncode == FINE
    assert alignctl("replay", *common, "--phase", "run").returncode == FINE
    with open(disk, "r+b") as file:
        file.seek(20 * 512)
        stray = file.read(512)
        file.seek(33 * 512)
        file.write(stray)
        file.seek(41 * 512 + 300)
        file.write(b"!")
    found = alignctl("replay", *common, "--phase", "check")
    assert found.returncode == FINDINGS
    assert json.loads(found.stdout)["data_check"] == {
        "status": "mismatch", "sectors": 80, "mismatches": 2, "first_mismatch_sector": 33, "passes": 1}
    assert "sector 33: expected what was prepared, found what was prepared of sector 20" in found.stderr
    assert "sector 41: expected what was prepared, found damaged bytes" in found.stderr


@pytest.mark.parametrize("depth", [1, 8])
def test_a_write_error_ends_the_run_and_leaves_the_rest_checkable(disk, tmp_path, depth):
    state = tmp_path / "state"
    common = ["w4096", "--on", disk, "--state", state, "--json"]
    assert alignctl("replay", *common, "--phase", "prepare", "--count", 100).returncode == FINE
    # a limit of 512 blocks of 1024 bytes: write number 64, at byte 524288, fails
    failed = subprocess.run(["bash", "-c", "trap '' XFSZ; ulimit -f 512; exec \"$@\"", "bash", ALIGNCTL, "replay",
                             *map(str, common), "--phase", "run", "--depth", str(depth)], text=True,
                            capture_output=True, timeout=patience(60), check=False)
    needs_io_uring(failed)
    assert failed.returncode == IO
    assert f"{disk}: write of 4096 bytes at byte 524288: File too large (w4096, request 65)" in failed.stderr
    result = json.loads(failed.stdout)
    assert (result["stopped"], result["requests"]) == ("error", 64)
    text = json.loads(state.read_text())
    # in flight with the first that failed were at most depth - 1 others, later ones, which failed too
    assert sorted(text["failed"]) == list(range(64, text["issued"])) and 1 <= len(text["failed"]) <= depth
    assert json.loads(alignctl("replay", *common, "--phase", "check").stdout)["data_check"]["status"] == "ok"


def test_ctrl_c_prints_what_was_measured(tmp_path, disk):
    state = tmp_path / "state"
    common = ["areasync-512", "--on", disk, "--state", state, "--json"]
    assert alignctl("replay", *common, "--phase", "prepare", "--count", 1 << 20).returncode == FINE
    with subprocess.Popen([ALIGNCTL, "replay", *map(str, common), "--phase", "run"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as running:
        wait_for_run(running)
        running.send_signal(signal.SIGINT)
        shown, errors = running.communicate(timeout=patience(30))
    assert running.returncode == -signal.SIGINT and not errors
    result = json.loads(shown)
    assert result["stopped"] == "signal"
    assert 0 < result["requests"] < 4 << 20
    assert sum(count for _, count in result["service_us"]["histogram"]) == result["requests"]
    assert json.loads(state.read_text())["issued"] == result["requests"]
    # rewritten many times, each area holds the last write to it
    assert json.loads(alignctl("replay", *common, "--phase", "check").stdout)["data_check"]["status"] == "ok"
