# SPDX-License-Identifier: GPL-2.0
"""drive512e-clock: the drive model on a virtual clock, by lines of text."""
import statistics
import subprocess
import threading

import pytest

from lab.pace import patience
from nbd_drive import OUT

CLOCK = OUT / "bin" / "drive512e-clock"
MIB = 1 << 20
REVOLUTION = 60_000_000_000 // 7200


def clock(parameters, commands):
    """Run the program; return its first line and the numbers below, one for each answer."""
    done = subprocess.run([CLOCK, *parameters], input="".join(f"{command}\n" for command in commands), capture_output=True,
                          text=True, timeout=patience(20))
    assert done.returncode == 0, done.stderr
    first, *answers = done.stdout.splitlines()
    return first, [int(answer) for answer in answers]


def fixed(commands, *parameters):
    return clock(["profile=fixed", "latency_us=2000", "size=1G", *parameters], commands)[1]


@pytest.mark.parametrize("parameters,says", [
    (["profile=st1000dm003"], "512 4096 0 1 1"), (["profile=st1000dm003", "cache=off"], "512 4096 0 1 0"),
    (["profile=hdd-nocache", "physical=8192", "alignment=512"], "512 8192 512 1 0"),
    (["profile=fixed", "latency_us=10"], "512 4096 0 0 1")])
def test_begins_with_what_the_drive_says(parameters, says):
    assert clock(["size=1G", *parameters], [])[0] == f"{1 << 30} {says}"


def test_each_request_is_sent_when_the_last_one_was_answered():
    assert fixed(["R 0 512", "W 512 1024", "F", "time", "wait 5000000", "time"]) == [
        2_000_000, 2_000_000, 2_000_000, 6_000_000, 5_000_000, 11_000_000]


def test_a_batch_keeps_so_many_in_flight():
    requests = [f"R {n * 4096} 4096" for n in range(6)]
    answers = fixed(["depth 3", "batch 6", *requests, "time"], "depth=1")
    # One server: the first wait for each other, the later ones for two more.
    assert answers == [3, 2_000_000, 4_000_000, *4 * [6_000_000], 12_000_000]
    # As many servers as requests in flight: none waits.
    assert fixed(["depth 3", "batch 6", *requests, "time"], "depth=3") == [3, *6 * [2_000_000], 4_000_000]


def test_a_job_sends_its_own_requests():
    """Of two jobs the one that writes to a buffer is answered first, and sends more; a batch sends what is given."""
    rounds = [request for number in range(4) for request in (f"W {number * 4096} 4096", f"R {512 * MIB + number * 4096} 4096")]

    def reads(command):
        _, *times = clock(["profile=nvme-512e", "size=1G"], ["depth 2", f"{command} 8", *rounds])[1]
        return sum(time > 100_000 for time in times)

    assert reads("batch") == 4 and reads("jobs") == 1


def test_counts_what_the_media_did():
    counters = [f"count {name}" for name in ("rmws", "rmws_saved_by_cache", "blocks_written")]
    assert clock(["profile=hdd-nocache", "size=1G"], ["W 512 4096", "W 65536 4096", "F", *counters])[1][3:] == [2, 0, 3]


def test_tells_the_profiles_that_have_a_model():
    printed = subprocess.run([CLOCK, "profiles"], capture_output=True, text=True, timeout=patience(20), check=True).stdout
    found = dict(each.split(" ", 1) for each in printed.splitlines())
    assert "instant" not in found and found["usb-liar"].startswith("disk 2000398934016 4096 3584 5400 rpm disk behind USB")
    assert found["qlc-64k"].startswith("flash 0 65536 0 QLC SSD")


@pytest.fixture
def talk():
    """The program, to talk to; it is killed when it does not answer."""
    with subprocess.Popen([CLOCK, "profile=fixed", "latency_us=1", "size=1M"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as program:
        timer = threading.Timer(patience(20), program.kill)
        timer.start()
        yield program
        timer.cancel()
        program.kill()


def test_answers_as_soon_as_it_waits_for_more(talk):
    assert talk.stdout.readline().split()[:1] == [f"{MIB}"]
    for lines in (["R 0 512"], ["R 0 512", "F"]):
        talk.stdin.write("".join(f"{each}\n" for each in lines))
        talk.stdin.flush()
        assert [talk.stdout.readline() for _ in lines] == ["1000\n"] * len(lines)


def test_the_end_of_the_input_ends_a_line(talk):
    talk.stdin.write("R 0 512\ntime")
    talk.stdin.close()
    assert talk.stdout.read().splitlines()[1:] == ["1000", "1000"]


@pytest.mark.parametrize("physical,alignment", [(4096, 0), (4096, 3584), (8192, 512), (65536, 4096)])
def test_a_write_of_a_part_of_a_block_takes_a_revolution_more(physical, alignment):
    def took(offset, count):
        return clock(["profile=hdd-nocache", "size=1G", f"physical={physical}", f"alignment={alignment}"],
                     ["wait 1000000", f"W {offset} {count}"])[1][1]

    start = alignment + 65536
    whole = took(start, 2 * physical)
    for offset, count in ((start, 2 * physical - 512), (start + 512, 2 * physical - 512)):
        more = took(offset, count) - whole
        assert abs(more - REVOLUTION) < 10_000, (offset, count)


def test_noise_is_as_large_as_said_and_the_same_for_a_seed():
    requests = ["R 0 512"] * 2000
    one, again, other = (fixed([*requests, "time"], "noise=10", f"seed={seed}") for seed in (1, 1, 2))
    assert one == again != other
    times = one[:-1]
    # mean and sd of 2000 draws: 4 standard errors
    assert abs(statistics.mean(times) - 2_000_000) < 4 * 200_000 / 2000 ** 0.5
    assert abs(statistics.stdev(times) - 200_000) < 4 * 200_000 / 4000 ** 0.5
    # An answer is not seen before the drive gives it.
    assert one[-1] == sum(max(time, 2_000_000) for time in times)


@pytest.mark.parametrize("parameters,commands,said", [
    (["profile=fixed", "size=1G"], [], "parameters: profile=fixed: latency_us= is missing"),
    (["size=1000"], [], "parameters: size=1000: give a positive multiple of 512"),
    (["size=1M", "noise=60"], [], "noise: give a percentage from 0 to 50"),
    (["size=1M", "seed=x"], [], "seed: give a whole number"),
    (["size=1M", "fast"], [], "fast: give NAME=VALUE"),
    (["size=1M"], [f"R {MIB} 512"], f"R {MIB} 512: give whole sectors"),
    (["size=1M"], ["W 0 100"], "W 0 100: give whole sectors"),
    (["size=1M"], ["W 0 512 7"], "W 0 512 7: give whole sectors"),
    (["size=1M"], ["depth 0"], "depth 0: at least one"),
    (["size=1M"], ["wait"], "wait: no such command"),
    (["size=1M"], ["batch 2", "R 0 512"], "batch: the input ends within it"),
    (["size=1M"], ["batch 524289"], "batch 524289: the number is missing, or too large"),
    (["size=1M"], ["depth 2", "jobs 3"], "jobs 3: give a multiple of depth"),
    (["size=1M"], ["count reads"], "count reads: no such counter of the media"),
    (["size=1M"], ["R" * 65536], "input: a line is too long"),
    (["size=1G"], [f"R 0 {65 * MIB}"], f"R 0 {65 * MIB}: give whole sectors"),
    (["size=1M"], ["batch 1", "time"], "time: not R OFFSET BYTES"),
])
def test_refuses_what_it_cannot_do(parameters, commands, said):
    done = subprocess.run([CLOCK, *parameters], input="".join(f"{command}\n" for command in commands), capture_output=True,
                          text=True, timeout=patience(20))
    assert done.returncode == 2 and done.stderr.startswith(f"drive512e-clock: {said}"), done.stderr
