# SPDX-License-Identifier: GPL-2.0
"""What helps against the touches of a recording: check and plan say the same of it, in the same words."""

import itertools
import json
import os
import random
import re

import pytest

from alignctl_program import alignctl
from audited import FINDINGS, FINE, MIB, SECTOR, Machine
from made_loads import ORACLE, SPAN, cut, loads, made_durable, write_trace

WRITES = 400
BLOCK = 4096
CASES = 70


def rewritten(rng, flush):
    """A log whose last block is written again and again, with a flush behind each write or without."""
    for at in itertools.cycle(range(8 * MIB, 8 * MIB + 32 * SECTOR, SECTOR)):
        for _ in range(rng.randrange(2, 12)):
            yield "write", at, SECTOR, "mysqld", ""
            if flush:
                yield "flush", "", "", "mysqld", ""


def zeroes(rng):
    while True:
        yield "write-zeroes", rng.randrange(SPAN // SECTOR - 512) * SECTOR, rng.randrange(1, 400) * SECTOR, "fallocate", ""


def mix(rng, *kinds):
    while True:
        yield next(rng.choice(kinds))


def requests(rng, case):
    """The requests of a case: of all kinds in turn."""
    def of(kind):
        return loads(rng, BLOCK, kind, 255 << 10)

    kinds = [lambda: made_durable(of("shift")), lambda: made_durable(of("stream")), lambda: made_durable(of("random")),
             lambda: rewritten(rng, True), lambda: rewritten(rng, False), lambda: made_durable(of("stream"), fua=True),
             lambda: made_durable(of("stream"), flush=1), lambda: made_durable(of("stream"), flush=rng.randrange(2, 20)),
             lambda: mix(rng, made_durable(of("random")), made_durable(of("stream"))), lambda: zeroes(rng),
             lambda: mix(rng, zeroes(rng), made_durable(of("shift"))), lambda: made_durable(cut(rng, BLOCK, 255 << 10)),
             lambda: made_durable(of("none")), lambda: mix(rng, rewritten(rng, True), made_durable(of("shift")))]
    return itertools.islice(kinds[case % len(kinds)](), WRITES)


def words(text):
    """The line that recommends."""
    return re.search(r"^  recommended: (.*)$", text, re.M)[1]


def counted(plan):
    """The cost in the words of check, by the document of plan."""
    writes = sum(plan["requests"][kind]["requests"] for kind in ("write", "write-zeroes"))
    misaligned = plan["writes_misaligned"] + plan["write_zeroes_misaligned"]
    return f"{misaligned} of {writes} writes had {plan['touches_expected']} touches"


def both(folder, trace, offset=0, bytes_=SPAN + 4 * MIB):
    """
    What check and plan recommend: [(its line for people, its object)] of each, and the row of the cause. Both have counted
    the same writes and touches.
    """
    folder.mkdir()
    machine = Machine(folder)
    machine.disk("sda", (8, 0), bytes_=bytes_, offset=offset)
    asks = (["check", "sda", "--recording", trace],
            ["plan", trace, "--physical", BLOCK, "--offset", offset, "--size", bytes_])
    told, documents = [], []
    for arguments in asks:
        text, document = (alignctl(*arguments, *more, env={**os.environ, "ALIGNCTL_SYSROOT": str(folder)})
                          for more in ([], ["--json"]))
        assert {text.returncode, document.returncode} <= {FINE, FINDINGS}, text.stderr + document.stderr
        documents.append(json.loads(document.stdout))
        told.append(words(text.stdout))
    [cause] = [row for row in documents[0]["findings"] if row["finding"] == "cause"]
    assert cause["cost"].startswith(counted(documents[1]))
    return [(told[0], cause["recommendation"]), (told[1], documents[1]["recommendation"])], cause


def test_check_and_plan_recommend_the_same(tmp_path):
    remedies, differ = set(), []
    for case in range(CASES):
        rng = random.Random(case)
        trace = write_trace(tmp_path / f"{case}.csv", requests(rng, case), rng.choice([0, 50, 3000]))
        [check, plan], _ = both(tmp_path / str(case), trace, offset=rng.choice([0, 0, 3584]))
        remedies.add(plan[1]["remedy"])
        if check != plan:
            differ.append((case, check, plan))
    assert not differ
    assert remedies == {"nothing", "move", "pad", "coalesce"}


@pytest.mark.parametrize("durable", [{}, {"flush": 1}, {"flush": 8}, {"fua": True}], ids=["", "flush", "flush-8", "fua"])
@pytest.mark.parametrize("written", ORACLE)
def test_check_and_plan_recommend_the_same_whatever_the_cause(tmp_path, written, durable):
    _, load = ORACLE[written]
    for seed in range(3):
        rng = random.Random(f"{seed} {durable}")
        rows = itertools.islice(made_durable(load(rng, BLOCK), **durable), WRITES)
        trace = write_trace(tmp_path / f"{seed}.csv", rows, rng.choice([0, 50, 3000]))
        [check, plan], _ = both(tmp_path / str(seed), trace, offset=rng.choice([0, 512, 3584]))
        assert check == plan


def test_a_log_block_that_is_rewritten_and_flushed_is_spared_its_reads(tmp_path):
    """32 sectors lie in 4 blocks, each of which a mode has to read once: 320 touches become 4 reads."""
    rows = []
    for sector in range(32):
        for _ in range(10):
            rows += [("write", 8 * MIB + sector * SECTOR, SECTOR, "mysqld", ""), ("flush", "", "", "mysqld", "")]
    [check, plan], cause = both(tmp_path / "m", write_trace(tmp_path / "log.csv", rows, 900))
    assert check == plan == ("mode pad; it leaves 4 of 320 read-modify-writes, 99 % less",
                             {"remedy": "pad", "left": 4, "gain_percent": 98.75})
    assert "no mode" not in cause["not_in_place"]


def test_nothing_is_recommended_for_blocks_that_the_target_does_not_mend(tmp_path):
    trace = write_trace(tmp_path / "t.csv", [("write", SECTOR, SECTOR, "dbwr", "")] * 200, 0)
    machine = Machine(tmp_path)
    machine.disk("sda", (8, 0), physical=1 << 19)
    faults, notes, _ = machine.check("sda", "--recording", trace)
    cause = {**faults.get("sda", {}), **notes.get("sda", {})}["cause"]
    assert cause["recommendation"] == {"gain_percent": 0.0, "left": 200, "remedy": "nothing"}


def test_a_recording_of_several_disks_is_read_for_the_one_that_is_named(tmp_path):
    trace = tmp_path / "t.csv"
    trace.write_text("op,offset,bytes,disk\n" + "write,512,512,8:0\nwrite,0,4096,8:16\n" * 200)
    machine = Machine(tmp_path)
    machine.disk("sda", (8, 0))
    refused = alignctl("check", "sda", "--recording", trace, env={**os.environ, "ALIGNCTL_SYSROOT": str(tmp_path)})
    assert refused.returncode == 2 and "--disk" in refused.stderr
    faults, notes, _ = machine.check("sda", "--recording", trace, "--disk", "8:0")
    assert "200 of 200 writes" in {**faults.get("sda", {}), **notes.get("sda", {})}["cause"]["cost"]


def test_a_request_that_the_device_cannot_have_had_is_refused_without_options_of_other_verbs(tmp_path):
    machine = Machine(tmp_path)
    machine.disk("sda", (8, 0), bytes_=MIB)
    for row in ("write,100,512", f"write,{MIB},512"):
        trace = tmp_path / "t.csv"
        trace.write_text(f"op,offset,bytes\n{row}\n")
        refused = alignctl("check", "sda", "--recording", trace, env={**os.environ, "ALIGNCTL_SYSROOT": str(tmp_path)})
        assert refused.returncode == 2 and "line 2: " in refused.stderr
        assert "--buffered" not in refused.stderr and "--size" not in refused.stderr


def test_a_recording_of_a_large_disk_is_read_from_a_pipe(tmp_path):
    """In one pass, however many places it writes to."""
    step, writes = 16 * MIB, 70000
    machine = Machine(tmp_path)
    machine.disk("sda", (8, 0), bytes_=step * writes)
    trace = "op,offset,bytes\n" + "".join(f"write,{number * step},{SECTOR}\n" for number in range(writes))
    done = alignctl("check", "sda", "--recording", "-", input=trace, env={**os.environ, "ALIGNCTL_SYSROOT": str(tmp_path)})
    assert f"{writes} of {writes} writes had {writes} touches" in done.stdout, done.stderr


def test_what_to_read_of_a_recording_needs_a_recording(disk):
    done = alignctl("check", disk, "--disk", "8:0")
    assert done.returncode == 2 and "--recording" in done.stderr
