# SPDX-License-Identifier: GPL-2.0
"""The model of the engine: every state is visited and sound, each deliberate fault is found, and the model has every
function of the code that assigns a block's state.

    DM_ALIGN_MODEL_FULL=1 scripts/python -m pytest -s kmod/tests/model    hours: three requests in flight
    DM_ALIGN_MODEL_SEED=N                                               draw the same sets again
"""

import collections
import contextlib
import functools
import json
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lab import kept
from lab.pace import patience
from lab.plugins import extent

HERE = Path(__file__).resolve().parent
KMOD = HERE.parent.parent
FULL = bool(int(os.environ.get("DM_ALIGN_MODEL_FULL", "0")))
# Time limit of a search in seconds; a search prints its progress on a terminal (pytest -s).
LIMIT = 24 * 3600 if FULL else 600
CLEAN, VIOLATION, USAGE = 0, 1, 2

# For each setting of engine_model the requests of a set: as many as fit into `make check`, and as many as end within hours.
SETTINGS = {
    "pad": (3, 3),
    "coalesce": (3, 3),
    "two-failures": (2, 3),
    "pad-memory": (2, 3),
    "memory": (2, 3),
    "one-block": (2, 3),
    "stream": (2, 3),
    "no-runs": (2, 3),
    "long-runs": (2, 3),
    "forget": (2, 3),
    "suspend": (2, 3),
    "pad-suspend": (3, 3),
    "to-pad": (2, 3),
    "to-coalesce": (2, 3),
    "from-report": (2, 3),
    "over-report": (3, 3),
    "to-report": (2, 3),
    "mode-suspend": (2, 3),
}

# Sets that are also searched without any reduction, as each tests one reduction: pins, parts of runs, emptying, memory
# that an earlier requester takes, forgotten blocks, a suspend that waits for requests in flight.
FINE = [("pad", "write0b1a write0a"), ("pad", "write0b1a read0"), ("coalesce", "write0b1a write0b"),
        ("coalesce", "write0a read0"), ("coalesce", "write0b1a read0,1"), ("coalesce", "flush write0b1a"),
        ("coalesce", "discard0 write0a"), ("coalesce", "fua0b write0a"), ("suspend", "write0a read0"),
        ("to-pad", "write0a write0"), ("memory", "write0a write0b"), ("memory", "write0b1a read0"),
        ("pad-memory", "write0b1a write0"), ("forget", "write0b flush"), ("suspend", "write0a flush"),
        ("pad-suspend", "write0a write0"), ("to-report", "write0a write0b")]

# The comparison of each setting alone: by number of requests, the number of sets drawn (None: all), and the number of
# states beyond which a set is left out (and counted). The full run has every set of two requests that needs no more than
# some 10 GiB.
if FULL:
    COMPARED = {1: (None, 10 ** 9), 2: (None, 4 * 10 ** 7), 3: (40, 5 * 10 ** 6)}
    COMPARED_WITH_A_FAULT = {1: (None, 10 ** 9), 2: (30, 3 * 10 ** 5)}
else:
    # Each run draws others.
    COMPARED = {1: (None, 10 ** 9), 2: (12, 30000), 3: (5, 30000)}
    COMPARED_WITH_A_FAULT = {1: (None, 3000), 2: (5, 3000)}
SEED = int(os.environ.get("DM_ALIGN_MODEL_SEED", random.SystemRandom().randrange(2 ** 32)))

# Sets for three blocks: a row of whole held blocks that is as long as a request, and one in front of a larger write.
ROWS = [("coalesce", "write0a write0b1a write1b2a"), ("long-runs", "write0a write0b1a write1b,2")]

# The setting and the requests that find each fault soonest.
FAULTS = {
    "flush-not-emptying": ("coalesce", "flush write0a", "durability"),
    "flush-sees-resting-only": ("coalesce", "flush write0a", "durability"),
    "flush-ignores-failed": ("coalesce", "flush write0a", "durability"),
    "range-overtakes-read": ("pad", "write0 write0a", "lost update"),
    "range-keeps-known": ("pad", "write0b write0 write0a", "lost update"),
    "range-keeps-valid": ("coalesce", "write0b write0 write0a", "lost update"),
    "new-block-ignores-ranges": ("pad", "write0 write0a", "lost update"),
    "touch-overtakes-range": ("pad", "write0b write0 write0a", "fairness: a touch"),
    "range-overtakes-touch": ("coalesce", "write0 write0 write0a write0a", "fairness: a range overtakes"),
    "range-passes-over": ("coalesce", "write0 write0 write0a", "fairness: a range passes"),
    "touch-joins-write": ("pad", "write0b write0a", "lost update"),
    "touch-late-for-patch": ("pad", "fua0b write0a", "durability"),
    "read-not-pinned": ("coalesce", "read0 write0a", "stale read"),
    "pin-not-kept": ("coalesce", "read0 write0a", "stale read"),
    "read-into-held": ("coalesce", "write0a", "memory that nobody wrote"),
    "merge-overwrites-kept": ("coalesce", "write0a", "lost update"),
    "failed-range-ends-held": ("coalesce", "write0 write0a", "lost update"),
    "discard-ends-held": ("coalesce", "discard0 write0b", "lost update"),
    "part-discard-ends-held": ("coalesce", "discard0b write0b", "lost update"),
    "failed-write-forgotten": ("coalesce", "write0a", "lost update"),
    "pass-writes-whole": ("pad", "write0a", "memory that nobody wrote"),
    "fua-lost": ("pad", "fua0b", "durability"),
    "fua-held": ("coalesce", "fua0b", "durability"),
    "ledger-twice": ("coalesce", "write0a", "ledger"),
    "ledger-not-superseded": ("coalesce", "write0 write0a", "ledger"),
    "overwritten-keeps-bytes": ("coalesce", "write0 write0a", "held_bytes"),
    "waiter-not-woken": ("coalesce", "flush write0a", "deadlock"),
    "waiter-of-failed-not-woken": ("coalesce", "flush write0a", "deadlock"),
    "range-not-let-through": ("pad", "write0 write0a", "deadlock"),
    "starved-not-woken": ("memory", "write0b1a", "deadlock"),
    "timer-not-armed": ("coalesce", "write0a", "deadlock"),
    "delay-not-ended": ("stream", "write0a write0a", "deadlock"),
    "drop-stays-idle": ("suspend", "write0a", "count of blocks"),
    "row-stays-resting": ("long-runs", "write0a write0b1a write1b,2", "count of blocks"),
    "mode-without-gate": ("from-report", "write0b write0a", "lost update"),
    "mode-keeps-known": ("over-report", "write0a", "mode report"),
    "mode-keeps-held": ("to-pad", "write0a", "mode is not coalesce"),
    "freeze-without-quiet": ("suspend", "write0a", "while suspended"),
    "freeze-without-cancel": ("suspend", "write0a", "while suspended"),
    "empty-while-frozen": ("mode-suspend", "write0a", "while suspended"),
    "hold-after-stop": ("to-pad", "write0a", "mode is not coalesce"),
    "run-error-reaches-all": ("pad", "write0b1a", "does not concern"),
}


# The set that detects a reduction without one of its conditions: a setting, the requests, and a fault where only the
# verdict about the fault differs.
LOOSE = {
    "same-kind": ("pad", "read0 write0,1"),
    "memory-to-come": ("pad-memory", "write0a"),
    "mode-to-come": ("to-report", "write0a write0a"),
    "long-run-asks": ("pad-memory", "write0b1a"),
    "touch-asks": ("pad-memory", "write0a"),
    "read-pins": ("coalesce", "read0 write0a", "pin-not-kept"),
    "is-read": ("pad", "write0"),
    "sends-memory-stays": ("pad-memory", "write0b1a"),
    "over-time": ("coalesce", "write0b1a"),
    "over-pressed": ("one-block", "write0b1a write0"),
    "error-of-run": ("pad", "write0a"),
    "error-of-held-pass": ("two-failures", "write0a write0a"),
    "error-of-request": ("pad", "write0,1a"),
    "error-of-its-io": ("pad", "write0"),
    "error-of-pass": ("two-failures", "fua0b"),
    "error-of-waiter": ("coalesce", "flush write0b1a"),
    "anyway-waiting": ("coalesce", "write0 write0 write0a write0a", "range-overtakes-touch"),
    "anyway-resting": ("coalesce", "write0b1a"),
    "knows-rest": ("forget", "flush write0a write0b"),
    "no-stream": ("stream", "write0b1a write0b"),
    "empties-rests": ("coalesce", "write0a"),
    "promise-of-fua": ("coalesce", "fua0b write0b"),
    "due-pass-comes": ("coalesce", "write0a write0a"),
    "promises": ("coalesce", "fua0b write0"),
    "behind": ("pad", "write0b write0 write0a", "touch-overtakes-range"),
    "before-failed": ("coalesce", "write0b write0 write0a", "range-keeps-valid"),
    "may-hold-decided": ("memory", "write1a write0a"),
    "order": ("coalesce", "flush write0a", "waiter-of-failed-not-woken"),
    "order-waited": ("coalesce", "flush write0a"),
    "over-not-held": ("coalesce", "write0a write0a"),
    "buffer-not-valid": ("coalesce", "write0a write0a"),
    "buffer-not-pinned": ("coalesce", "read0 write0b write0a"),
    "buffer-not-kept": ("coalesce", "write0a write0a"),
    "known-not-failed": ("coalesce", "write0a write0a"),
    "before": ("coalesce", "read0 write0a"),
    "status-not-of-write": ("coalesce", "write0a write0a"),
    "due-none-held": ("coalesce", "write0a write0a"),
}


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """
    Return run(option, ...), which builds the program, with variables of make in make=, runs it and returns its output. The
    program depends on nothing but its options, so the end of a run is kept with the sources of the program. A run of drawn
    sets is new each time, and make check-all and the proof run all.
    """
    @functools.cache
    def build(*variables):
        out = tmp_path_factory.mktemp("sim")
        program = out / "bin" / "engine_model"
        subprocess.run(["make", "-s", "-C", HERE, f"OUT={out}", *variables, program], check=True)
        return program

    def ended(options, make):
        """Return the program's status and output."""
        done = subprocess.run([build(*make), *options], stdout=subprocess.PIPE, text=True, timeout=patience(LIMIT))
        assert done.returncode in (CLEAN, VIOLATION, USAGE), f"status {done.returncode}\n{done.stdout[-8000:]}"
        return done.returncode, done.stdout

    def kept_end(options, make):
        def fill(folder):
            (folder / "end.json").write_text(json.dumps(ended(options, make)))

        folder = kept.result("sim", kept.digest(sources(), *make, "run", *options), fill)
        return json.loads((folder / "end.json").read_text())

    def run(*options, make=(), expect=CLEAN):
        anew = FULL or extent.everything() or any(option.startswith("--seed") for option in options)
        status, output = (ended if anew else kept_end)(options, make)
        assert status == expect, output[-8000:]
        return output

    return run


@functools.cache
def sources():
    """Return a digest of what the program is made of."""
    compiler = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=True).stdout
    files = [path for folder in (KMOD, HERE) for path in sorted(folder.iterdir()) if path.suffix in (".c", ".h", ".sh")]
    return kept.digest(compiler, os.environ.get("CFLAGS", ""), HERE / "Makefile",
                       *(part for path in files for part in (path.name, path)))


def blocks_for(requests):
    return ("MODEL_BLOCKS=3",) if "2" in requests else ()


def functions_that_assign(source, assignment):
    """Return {function: states} of a source, from each statement that ends with a match of `assignment`."""
    found = {}
    function = None
    source = re.sub(r"/\*.*?\*/|^#.*?$(?<!\\)", "", source, flags=re.DOTALL | re.MULTILINE)
    for statement in re.split(r"(?<=[;{}])", source):
        head = re.search(r"^(?:\w[\w \t*]*?[ \t*])(\w+)\([^;]*\)\s*\{$", statement, flags=re.MULTILINE | re.DOTALL)
        if head:
            function = head[1]
        hit = re.search(assignment, statement, flags=re.DOTALL)
        if hit:
            found.setdefault(function, set()).update(re.findall(r"BLOCK_IS_(\w+)", statement[hit.end():]))
    return found


def assignments(folder, assignment):
    found = {}
    for path in sorted(folder.glob("*.c")):
        for function, states in functions_that_assign(path.read_text(), assignment).items():
            found.setdefault(function, set()).update(states)
    return found


def assignments_of_the_code(folder=KMOD):
    return assignments(folder, r"\bstate\s*=(?!=)")


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_state_is_sound_and_comes_to_rest(model, setting, capfd):
    # A run of hours shows its progress.
    with capfd.disabled() if FULL else contextlib.nullcontext():
        out = model(f"--setting={setting}", f"--requests={SETTINGS[setting][FULL]}")
    figures = re.findall(rf"^model: {setting}: .*: clean$", out, re.MULTILINE)
    assert len(figures) == 1
    print(figures[0])


def compared(model, sets, *options):
    """Compare all sets of requests, or the drawn ones; return the figures."""
    figures = collections.Counter()
    for requests, (sample, max_states) in sets.items():
        drawn = (f"--sample={sample}", f"--seed={SEED}") if sample else ()
        out = model("--compare", f"--requests={requests}", f"--max-states={max_states}", *drawn, *options)
        print(out)
        found = re.search(r"^compared: (.*)$", out, re.MULTILINE)[1]
        figures.update({name: int(number) for name, number in re.findall(r"(\w+)=(\d+)", found)})
    return figures


@pytest.mark.parametrize("setting", SETTINGS)
def test_what_the_search_leaves_out_shows_nothing_else(model, setting, capfd):
    """
    The results are the same without any reduction: content of reads, the drive's writes, content after a power cut,
    results of flushes, the states in which a request finds its blocks, and the final state with its ledger; two requests of
    a kind may be exchanged.
    """
    with capfd.disabled() if FULL else contextlib.nullcontext():
        figures = compared(model, COMPARED, f"--setting={setting}")
    assert figures["sets"] >= 15 and figures["observations"] > figures["sets"]
    assert not figures["violations_in_both"]


@pytest.mark.parametrize("setting,requests", FINE)
def test_what_each_reduction_is_about_shows_nothing_else(model, setting, requests):
    model("--compare", f"--setting={setting}", *requests.split())


@pytest.mark.parametrize("condition", LOOSE)
def test_a_reduction_that_leaves_out_too_much_is_noticed(model, condition):
    setting, requests, *fault = LOOSE[condition]
    faults = [f"--break={name}" for name in fault]
    out = model("--compare", f"--setting={setting}", f"--loosen={condition}", *faults, *requests.split(),
                expect=VIOLATION)
    assert "DIFFERENCE" in out


@pytest.mark.parametrize("setting,requests,faults", sorted({(setting, requests, tuple(fault))
                                                            for setting, requests, *fault in LOOSE.values()}))
def test_what_notices_a_reduction_shows_no_difference_with_all_its_conditions(model, setting, requests, faults):
    model("--compare", f"--setting={setting}", *(f"--break={name}" for name in faults), *requests.split())


def test_each_condition_that_can_be_left_out_is(model):
    assert set(re.search(r"^conditions: (.*)$", model("--list"), re.MULTILINE)[1].split()) == set(LOOSE)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_by_the_reduced_search_wherever_it_is_without(model, fault):
    """The same holds in every setting."""
    compared(model, COMPARED_WITH_A_FAULT, f"--break={fault}")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_engine_is_found(model, fault):
    setting, requests, what = FAULTS[fault]
    out = model(f"--setting={setting}", f"--break={fault}", *requests.split(), make=blocks_for(requests),
                expect=VIOLATION)
    assert re.search(rf"VIOLATION after \d+ events: .*{what}", out), out


@pytest.mark.parametrize("setting,requests", sorted({(setting, requests) for setting, requests, _ in FAULTS.values()
                                                     if not blocks_for(requests)}))
def test_what_finds_a_fault_is_clean_without_it(model, setting, requests):
    model(f"--setting={setting}", *requests.split())


@pytest.mark.parametrize("setting,requests", ROWS)
def test_rows_of_whole_held_blocks(model, setting, requests):
    model(f"--setting={setting}", *requests.split(), make=blocks_for(requests))


def test_each_fault_of_the_model_is_tried(model):
    assert set(re.search(r"^faults: (.*)$", model("--list"), re.MULTILINE)[1].split()) == set(FAULTS)


def test_each_setting_of_the_model_is_searched(model):
    assert set(re.search(r"^settings: (.*)$", model("--list"), re.MULTILINE)[1].split()) == set(SETTINGS)


def test_the_model_knows_who_assigns_which_state():
    assert assignments(HERE, r"\b(?:SET_STATE|set_state)\(block,") == assignments_of_the_code()


def test_every_assignment_of_a_state_happens_in_the_search(model):
    """Every assignment that the model has of the code is executed."""
    seen = {}
    for setting in ("coalesce", "memory"):
        out = model(f"--setting={setting}", "--assignments", f"--requests={2 if setting == 'coalesce' else 1}")
        for function, state in re.findall(r"^assigned (\w+) (\w+)", out, re.MULTILINE):
            seen.setdefault(function, set()).add(state)
    assert seen == assignments_of_the_code()


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_a_new_assignment_in_the_code_is_noticed(tmp_path):
    change(Path(shutil.copy(KMOD / "hold.c", tmp_path)), "\tlist_del_init(&block->list);\n\tif (block->failed)",
           "\tblock->state = BLOCK_IS_WAIT;\n\tlist_del_init(&block->list);\n\tif (block->failed)")
    assert assignments_of_the_code(tmp_path)["hold_leave"] == {"WAIT"}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Return a copy of the code and the words that compile it, after it was compiled."""
    folder = tmp_path_factory.mktemp("compiled")
    kmod = folder / "kmod"
    (kmod / "tests").mkdir(parents=True)
    for path in KMOD.glob("*.[ch]"):
        shutil.copy(path, kmod)
    shutil.copytree(HERE, kmod / "tests" / "model")
    make = ["make", "-s", "-C", kmod / "tests" / "model", f"OUT={folder}", "CFLAGS=-O0", folder / "bin" / "engine_model"]
    subprocess.run(make, check=True)
    return kmod, make


@pytest.mark.parametrize("file,old,new", [("block_state.h", "\tBLOCK_IS_KNOWN,", "\tBLOCK_IS_KNOWN,\n\tBLOCK_IS_NEW,"),
                                          ("block.h", "\tTOUCH_HELD,", "\tTOUCH_HELD,\n\tTOUCH_NEW,"),
                                          ("decide.h", "\tBLOCK_PASS,\n", ""),
                                          ("ledger_table.h", "COUNTER(rmw_avoided,", "COUNTER(rmw_none,")])
def test_a_new_state_or_a_missing_name_does_not_compile(compiled, file, old, new):
    kmod, make = compiled
    change(kmod / file, old, new)
    try:
        assert subprocess.run(make, capture_output=True).returncode != 0
    finally:
        shutil.copy(KMOD / file, kmod)


def test_the_model_itself_touches_no_memory_but_its_own(model):
    model("--setting=coalesce", "--requests=1", make=("SANITIZE=1",))


@pytest.mark.parametrize("options", [["--setting=x"], ["--break=x"], ["write9"], ["--requests=0"], ["--requests=5"],
                                     ["--part=3/2"], ["--nonsense"]])
def test_bad_arguments_end_with_status_2(model, options):
    model(*options, expect=USAGE)
