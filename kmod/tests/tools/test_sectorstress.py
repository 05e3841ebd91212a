# SPDX-License-Identifier: GPL-2.0
"""sectorstress finds each kind of fault, on a file where a saboteur plays the faulty device."""

import random
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from lab.pace import patience
from rig.direct import Disk
from rig.witness import eventually

HERE = Path(__file__).resolve().parent
SECTOR = 512
REGION = 512
OFFSET = 64


@pytest.fixture(scope="session")
def tool(tmp_path_factory):
    """Build the tool with ASan and UBSan; return its path."""
    out = tmp_path_factory.mktemp("sanitized")
    subprocess.run(["make", "-s", "-C", HERE, f"OUT={out}", "SANITIZE=1"], check=True)
    return out / "bin" / "sectorstress"


@pytest.fixture
def disk(tmp_path):
    path = tmp_path / "disk"
    path.write_bytes(bytes(SECTOR * (OFFSET + REGION + 64)))
    return path


def stress(tool, disk, *options, seconds=2, sabotage=None):
    """Run the tool on the file, with sabotage(file, rng) again and again meanwhile; return status, output and errors."""
    command = [tool, disk, "--seconds", seconds, "--offset", OFFSET, "--region", REGION, "--threads", 4, *options]
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as run:
        done = threading.Event()
        if sabotage:
            threading.Thread(target=repeat, args=(disk, sabotage, done), daemon=True).start()
        try:
            out, errors = run.communicate(timeout=patience(60))
        finally:
            done.set()
    return run.returncode, dict(word.split("=") for word in out.split()), errors


def repeat(disk, sabotage, done):
    rng = random.Random(1)
    # past the page cache, which would write whole pages with old neighbours
    with Disk(disk) as file:
        while not done.wait(0.01):
            sabotage(file, rng)


def sector_of(rng):
    return OFFSET + rng.randrange(REGION)


def test_a_sound_disk_is_clean_and_nothing_outside_the_region_is_written(tool, disk):
    status, counts, errors = stress(tool, disk, "--torn-reads", "--flush", 2, "--fua", 10, "--beneath", disk)
    assert status == 0, errors
    assert int(counts["mismatches"]) == 0
    assert int(counts["reads"]) > 0 and int(counts["writes"]) > 0 and int(counts["flushes"]) > 0
    data = disk.read_bytes()
    assert not any(data[:OFFSET * SECTOR]) and not any(data[(OFFSET + REGION) * SECTOR:])


def test_the_same_seed_makes_the_same_requests(tool, disk):
    runs = [stress(tool, disk, "--threads", 1, "--seed", 42, "--ops", 300)[1] for _ in range(2)]
    for name in ("reads", "writes", "touches", "operations"):
        assert runs[0][name] == runs[1][name]
    assert runs[0]["seed"] == "42"


@pytest.mark.parametrize("spoilt", [False, True])
def test_a_run_that_is_ended_early_checks_and_counts_all_the_same(tool, disk, spoilt):
    with subprocess.Popen([tool, disk, "--seconds", "1000", "--region", str(REGION)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as run, Disk(disk) as file:
        eventually(lambda: any(file.read(REGION - 1, 1)), "the region is never filled")
        if spoilt:
            # stopped: no thread can notice or overwrite the fault before all are told to end
            run.send_signal(signal.SIGSTOP)
            file.write(0, bytes([1]) * (SECTOR * REGION))
        run.terminate()
        run.send_signal(signal.SIGCONT)
        out, errors = run.communicate(timeout=patience(60))
    assert run.returncode == spoilt, errors
    assert int(dict(word.split("=") for word in out.split())["writes"]) > 0


@pytest.mark.parametrize("physical,touches", [(512, 0), (4096, 1)])
def test_touches_are_counted_by_the_given_block_size(tool, disk, physical, touches):
    _, counts, _ = stress(tool, disk, "--threads", 1, "--ops", 200, "--physical", physical)
    assert (int(counts["touches"]) > 0) == bool(touches)


@pytest.mark.parametrize("border,touches", [(OFFSET, 0), (OFFSET + 1, 2), (OFFSET + 7, 2), (OFFSET + 8, 0)])
def test_a_write_over_the_border_counts_as_two(tool, disk, border, touches):
    """The only write is the one that fills the region, a whole block."""
    _, counts, _ = stress(tool, disk, "--threads", 1, "--ops", 1, "--reads", 100, "--region", 8, "--max-run", 8,
                          "--border", border)
    assert (counts["writes"], counts["touches"]) == ("1", str(touches))


def test_garbage_is_found(tool, disk):
    def spill(file, rng):
        file.write(sector_of(rng), rng.randbytes(SECTOR))

    status, counts, errors = stress(tool, disk, sabotage=spill)
    assert status == 1 and int(counts["mismatches"]) > 0
    assert "MISMATCH" in errors and "garbage" in errors
    assert "lawful: version" in errors and "writes nearby" in errors


def test_a_lost_update_is_found(tool, disk):
    kept = {}

    def put_back(file, rng):
        """Restore a sector's older content."""
        for at, data in kept.items():
            file.write(at, data)
        kept.clear()
        for _ in range(32):
            at = sector_of(rng)
            data = file.read(at, 1)
            # not content from before the tool has filled its region
            if any(data):
                kept[at] = data

    # mostly reads: a sector restored during a write to it would be torn
    status, _, errors = stress(tool, disk, "--threads", 1, "--reads", 95, sabotage=put_back)
    assert status == 1
    assert "stale: an acknowledged write is lost" in errors


def test_content_of_another_sector_is_found(tool, disk):
    def misplace(file, rng):
        file.write(sector_of(rng), file.read(sector_of(rng), 1))

    status, _, errors = stress(tool, disk, sabotage=misplace)
    assert status == 1
    assert "content of another sector" in errors


def test_zeroes_that_nobody_wrote_are_found(tool, disk):
    def erase(file, rng):
        file.write(sector_of(rng), bytes(SECTOR))

    status, _, errors = stress(tool, disk, sabotage=erase)
    assert status == 1
    assert "zeroes, which were not written" in errors


def test_a_difference_beneath_is_found(tool, disk, tmp_path):
    other = tmp_path / "other"
    other.write_bytes(disk.read_bytes())
    status, _, errors = stress(tool, disk, "--torn-reads", "--beneath", other)
    assert status == 1
    assert "from beneath" in errors


@pytest.mark.parametrize("options", [["--region", "0"], ["--threads", "x"], ["--offset", "-1"], ["--region", "1000000"],
                                     ["--memory-align", "3"], ["--no-such"]])
def test_bad_arguments_end_with_status_2(tool, disk, options):
    assert subprocess.run([tool, disk, *options], capture_output=True).returncode == 2


def test_a_device_that_cannot_be_opened_ends_with_status_3(tool, tmp_path):
    done = subprocess.run([tool, tmp_path / "none"], capture_output=True, text=True)
    assert done.returncode == 3 and "cannot open" in done.stderr
