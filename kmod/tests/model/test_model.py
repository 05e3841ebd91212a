# SPDX-License-Identifier: GPL-2.0
"""The engine as a model: every state is visited and sound, each deliberate fault is found, and the model knows every
function of the code that gives a block a state.

    DM_ALIGN_MODEL_FULL=1 scripts/python -m pytest -s kmod/tests/model    hours: three requests in flight
"""

import contextlib
import functools
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
KMOD = HERE.parent.parent
FULL = bool(int(os.environ.get("DM_ALIGN_MODEL_FULL", "0")))
# What a search may take, in seconds; it prints where it is on a terminal (pytest -s).
LIMIT = 24 * 3600 if FULL else 600
CLEAN, VIOLATION, USAGE = 0, 1, 2

# For each setting of engine_model the requests of a set: what `make check` has time for, and what ends within hours.
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

# Sets that are also searched without any reduction, because each is about one of them: pins, parts of runs, emptying,
# memory that goes in front of who asks for it, what is forgotten, a suspend that waits for what is in flight.
FINE = [("pad", "write0b1a write0a"), ("pad", "write0b1a read0"), ("coalesce", "write0b1a write0b"),
        ("coalesce", "write0a read0"), ("coalesce", "write0b1a read0,1"), ("coalesce", "flush write0b1a"),
        ("coalesce", "discard0 write0a"), ("coalesce", "fua0b write0a"), ("suspend", "write0a read0"),
        ("to-pad", "write0a write0"), ("memory", "write0a write0b"), ("memory", "write0b1a read0"),
        ("pad-memory", "write0b1a write0"), ("forget", "write0b flush"), ("suspend", "write0a flush"),
        ("pad-suspend", "write0a write0"), ("to-report", "write0a write0b")]
if FULL:
    FINE += [(setting, "--requests=2")
             for setting in ("pad", "coalesce", "memory", "pad-memory", "forget", "pad-suspend")]

# Sets for three blocks: a row of whole held blocks that is as long as a request, and one in front of a larger write.
ROWS = [("coalesce", "write0a write0b1a write1b2a"), ("long-runs", "write0a write0b1a write1b,2")]

# Where each fault is found soonest: a setting, and the requests.
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
    "run-error-reaches-all": ("pad", "write0b1a", "does not concern"),
}


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """run(option, ...), of the program built with further variables of make where make= names them."""
    @functools.cache
    def build(*variables):
        out = tmp_path_factory.mktemp("model")
        program = out / "bin" / "engine_model"
        subprocess.run(["make", "-s", "-C", HERE.parent, f"OUT={out}", *variables, program], check=True)
        return program

    def run(*options, make=(), expect=CLEAN):
        done = subprocess.run([build(*make), *options], stdout=subprocess.PIPE, text=True, timeout=LIMIT)
        assert done.returncode == expect, done.stdout[-8000:]
        return done.stdout

    return run


def blocks_for(requests):
    return ("MODEL_BLOCKS=3",) if "2" in requests else ()


def functions_that_assign(source, assignment):
    """{function: states}, from each statement that assignment matches up to."""
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
    # Hours show where they are.
    with capfd.disabled() if FULL else contextlib.nullcontext():
        out = model(f"--setting={setting}", f"--requests={SETTINGS[setting][FULL]}")
    figures = re.findall(rf"^model: {setting}: .*: clean$", out, re.MULTILINE)
    assert len(figures) == 1
    print(figures[0])


def outcomes_of_different(out):
    """Without sets that have two of a kind: where --fine lets them pass each other behind the gate, their numbers, and
    with them the versions, are exchanged."""
    return [line for line, requests in re.findall(r"^(outcome \S+ of (.*), mode .*)$", out, re.MULTILINE)
            if len(set(requests.split())) == len(requests.split())]


@pytest.mark.parametrize("setting,requests", [*((setting, "--requests=1") for setting in SETTINGS), *FINE])
def test_what_the_search_leaves_out_shows_nothing_else(model, setting, requests):
    """The same outcomes, and none unlawful, when every step is taken apart and every field is kept."""
    options = (f"--setting={setting}", "--outcomes", *requests.split())
    reduced, fine = (outcomes_of_different(model(*options, *extra)) for extra in ((), ("--fine",)))
    assert reduced == fine
    assert fine


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
    """What the model has of the code is no dead letter."""
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


@pytest.mark.parametrize("file,old,new", [("block_state.h", "\tBLOCK_IS_KNOWN,", "\tBLOCK_IS_KNOWN,\n\tBLOCK_IS_NEW,"),
                                          ("block.h", "\tTOUCH_HELD,", "\tTOUCH_HELD,\n\tTOUCH_NEW,"),
                                          ("decide.h", "\tBLOCK_PASS,\n", ""),
                                          ("ledger_table.h", "COUNTER(rmw_avoided,", "COUNTER(rmw_none,")])
def test_a_new_state_or_a_missing_name_does_not_compile(file, old, new, tmp_path):
    kmod = tmp_path / "kmod"
    (kmod / "tests").mkdir(parents=True)
    for path in KMOD.glob("*.[ch]"):
        shutil.copy(path, kmod)
    shutil.copy(HERE.parent / "Makefile", kmod / "tests")
    shutil.copytree(HERE, kmod / "tests" / "model")
    make = ["make", "-s", "-C", kmod / "tests", f"OUT={tmp_path}", "CFLAGS=-O0", tmp_path / "bin" / "engine_model"]
    subprocess.run(make, check=True)
    change(kmod / file, old, new)
    assert subprocess.run(make, capture_output=True).returncode != 0


def test_the_model_itself_touches_no_memory_but_its_own(model):
    model("--setting=coalesce", "--requests=1", make=("SANITIZE=1",))


@pytest.mark.parametrize("options", [["--setting=x"], ["--break=x"], ["write9"], ["--requests=0"], ["--requests=5"],
                                     ["--part=3/2"], ["--nonsense"]])
def test_bad_arguments_end_with_status_2(model, options):
    model(*options, expect=USAGE)
