# SPDX-License-Identifier: GPL-2.0
"""Which mutants are made and chosen, what does not count, what is reported; and a run of a few mutants of one file."""

import json
import os
import subprocess
from collections import Counter
from dataclasses import asdict

import pytest

from lab.mutants import choose, lives, report
from lab.mutants.__main__ import Journal, must_live
from lab.mutants.choose import Edit, Mutant
from lab.mutants.equivalent import EQUIVALENT
from lab.mutants.lives import Run, Verdict
from lab.pace import patience
from lab.paths import REPO

CODE = """\
#include "x.h"

static int used;

/* A comment with a < b. */
static int first_of(int a, int b)
{
        int found = 0;

        spin_lock(&lock);
        if (a < b)
                found = pick(a,
                             b);
        leave(found);
        used = 1;
        spin_unlock(&lock);
        return found;
}

void second(void)
{
        list_add_tail(&x, &y);
}
""".replace(" " * 8, "\t")


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "code.c"
    path.write_text(CODE)
    return path


def changes(source, function, kind):
    found = {each.name: mutants for each, mutants in choose.candidates(source).items()}
    return {(mutant.old, mutant.new) for mutant in found[function] if mutant.kind == kind}


def test_functions_are_found_with_their_bodies():
    assert [(each.name, each.first, each.last) for each in choose.functions(CODE.splitlines())] == \
        [("first_of", 8, 17), ("second", 22, 22)]


def test_rules_of_the_tool_and_of_our_own_are_applied(source):
    assert ("if (a < b)", "if (a > b)") in changes(source, "first_of", "comparison")
    assert ("spin_lock(&lock);", ";") in changes(source, "first_of", "lock")
    assert ("list_add_tail(&x, &y);", "list_add(&x, &y);") in changes(source, "second", "call")
    assert ("used = 1;", "/*used = 1;*/") in changes(source, "first_of", "line")
    assert ("return found;", "return !(found);") in changes(source, "first_of", "value")


def test_changes_of_several_lines_are_made(source):
    assert changes(source, "first_of", "statement") == {("found = pick(a, b);", ";")}
    assert ("spin_lock(&lock); spin_unlock(&lock);", "; ;") in changes(source, "first_of", "lock")
    assert ("leave(found); used = 1;", "used = 1; leave(found);") in changes(source, "first_of", "swap")
    assert ("leave(found); used = 1;", "") not in changes(source, "first_of", "swap")


def test_two_plain_assignments_are_not_swapped(source):
    source.write_text(CODE.replace("\tleave(found);\n", "\tb = 2;\n"))
    assert ("b = 2; used = 1;", "used = 1; b = 2;") not in changes(source, "first_of", "swap")


@pytest.mark.parametrize("assertion", ["lockdep_assert_held(&lock);", "span_assert_held(at, &span);"])
def test_an_assertion_that_a_lock_is_held_stays(source, assertion):
    def made(code):
        source.write_text(code)
        return [[(mutant.kind, mutant.old, mutant.new) for mutant in mutants] for mutants in choose.candidates(source).values()]

    asserted = CODE.replace("\tlist_add_tail(", f"\t{assertion}\n\tlist_add_tail(")
    without, shares = made(CODE), choose.shares([source], 100, 1)
    assert made(asserted) == without
    assert [share.wanted for share in choose.shares([source], 100, 1)] == [share.wanted for share in shares]


def test_comments_and_what_is_outside_of_functions_stay(source):
    mutants = [mutant for found in choose.candidates(source).values() for mutant in found]
    assert mutants and all(8 <= mutant.line <= 17 or mutant.line == 22 for mutant in mutants)


def test_every_rule_has_a_kind_that_is_named():
    own = choose.own_kinds()
    assert own and "" not in own.values()
    assert choose.kind_of(r"&& ==> ||", own) == "logic"
    assert choose.kind_of(r"\+ ==> -", own) == "arithmetic"
    assert choose.kind_of(r"(\D)(\d+)(\D) ==> \1(\2+1)\3", own) == "number"
    assert choose.kind_of(r"(^\s*)(\S+.*)\n ==> \1\2\n\1break;\n", own) == "jump"
    assert choose.kind_of(r"(^\s*)(\S+[^{}]+.*)\n ==> \1/*\2*/\n", own) == "line"


def test_a_change_is_put_into_the_file(source):
    mutant = Mutant("code.c", "first_of", "swap", (Edit(14, 15, "\tused = 1;\n\tleave(found);\n"),), "", "")
    text = choose.mutated(CODE.splitlines(keepends=True), mutant)
    assert "\tused = 1;\n\tleave(found);\n" in text and len(text) == len(CODE)


def test_the_name_of_a_mutant_does_not_depend_on_line_numbers(source):
    def keys():
        return [mutant.key for found in choose.candidates(source).values() for mutant in found]

    before = keys()
    source.write_text("/* One more line. */\n" + CODE)
    assert keys() == before and len(set(before)) == len(before)


def test_each_function_and_each_kind_has_its_share(source):
    shares = choose.shares([source], 10, 1)
    assert {share.function: share.wanted for share in shares} == {"first_of": 9, "second": 1}
    kinds = {mutant.kind for mutant in shares[0].mutants}
    assert {mutant.kind for mutant in shares[0].mutants[:len(kinds)]} == kinds


def test_the_seed_chooses(source):
    def order(seed):
        return [mutant.key for share in choose.shares([source], 10, seed) for mutant in share.mutants]

    assert order(1) == order(1) != order(2)
    assert sorted(order(1)) == sorted(order(2))


def test_each_function_of_the_engine_has_a_mutant():
    shares = choose.shares(lives.engine(), 1, 1)
    assert len({share.file for share in shares}) == len(lives.engine())
    assert all(share.wanted >= 1 and share.mutants for share in shares)


@pytest.mark.parametrize("words,kind", [
    ("a read found what it must not: sector 4 has 0", "content of sectors"), ("the ledger has reads 3, and there were 2",
     "ledger and status"), ("hang: no thread can go on, and requests have not ended", "never ends"),
    ("12 bytes of memory leak", "memory"), ("scene times: the drive gets request 0", "scenes"),
    ("nothing like it", "other")])
def test_violations_have_kinds(words, kind):
    assert lives.kind_of_violation(words) == kind


@pytest.mark.parametrize("run,endless,found", [
    (Run(0, 1, "1 0123456789abcdef\n"), False, None),
    (Run(1, 1, "seed 7: 12 bytes of memory leak\n"), False, ("memory", "12 bytes of memory leak")),
    (Run(-11, 1, ""), False, ("crash", "signal 11")),
    (Run(-9, 10, "5 0123456789abcdef\n"), True, ("never ends", "a life is not over")),
    (Run(-9, 10, "5 0123456789abcdef\n"), False, None)])
def test_a_run_is_judged_by_its_end(run, endless, found):
    assert lives.judge(run, lambda: endless) == found


def test_the_last_life_of_a_run_is_known():
    assert Run(-9, 10, "5 0123456789abcdef\n6 0123456789abcdef\n").seed == 6 and Run(-9, 10, "").seed == 0


def mutant(name, kind="line", line=1):
    return Mutant("a.c", name, kind, (Edit(line, line, ""),), f"{name}();", "")


KILLED = Verdict("killed", "memory", "12 bytes of memory leak", 0.5)
SURVIVED = Verdict("survived", seconds=9.0)


def test_what_does_not_count_is_not_counted():
    made = [(mutant("a"), KILLED), (mutant("b"), SURVIVED), (mutant("c"), SURVIVED), (mutant("d"), Verdict("broken")),
            (mutant("e"), Verdict("same"))]
    found = report.outcome(made, True, {mutant("c").key: "why"})
    assert (found.number, len(found.killed), len(found.survived), len(found.equivalent)) == (3, 1, 1, 1)
    assert found.killed_percent == 50 and found.dropped == Counter(broken=1, same=1) and not found.stale


def test_an_entry_of_a_killed_mutant_or_of_none_is_complained_of():
    found = report.outcome([(mutant("a"), KILLED)], True, {mutant("a").key: "why", "a.c: gone": "why"})
    assert len(found.stale) == 2 and found.complaints == found.stale


@pytest.mark.parametrize("killed,survived,equivalent,complaints", [(95, 5, 10, 0), (94, 6, 0, 1), (95, 5, 12, 1)])
def test_the_bounds_are_95_and_10_per_cent(killed, survived, equivalent, complaints):
    found = report.Outcome(killed=[(mutant("a"), KILLED)] * killed, survived=[mutant("a")] * survived,
                           equivalent=[mutant("a")] * equivalent)
    assert len(found.complaints) == complaints


def test_the_section_has_figures_kinds_and_survivors():
    made = [(mutant("a"), KILLED), (mutant("b", "lock", 7), SURVIVED), (mutant("c"), Verdict("broken"))]
    text = report.section(report.outcome(made, False, {}), "2026-01-01", "abc")
    assert "2 mutants: 1 killed (median 0.50 s of processor time)" in text and "1 did not compile" in text
    assert "memory    1       0.50     0.50" in text
    assert "    a.c:7, b(), lock\n      - b();\n      + ;\n" in text


def test_the_section_goes_between_its_marks():
    page = f"before\n\n{report.BEGIN}\nold\n{report.END}\nafter\n"
    assert report.with_section(page, "new\n") == f"before\n\n{report.BEGIN}\nnew\n\n{report.END}\nafter\n"
    with pytest.raises(SystemExit):
        report.with_section("no marks", "new\n")


def told(journal, key, verdict, **other):
    """Write a line of a journal, of its own state where nothing else is given."""
    line = {"key": key, "engine": journal.engine, "sources": journal.sources, "state": journal.state, "limit": journal.limit,
            "verdict": asdict(verdict), **other}
    with open(journal.path, "a") as file:
        file.write(json.dumps(line) + "\n")


def test_a_verdict_stands_as_long_as_it_is_about_the_same(tmp_path):
    journal = Journal(tmp_path / "journal", 10)
    told(journal, "killed", KILLED, state="other", sources="other")
    told(journal, "survived", SURVIVED)
    told(journal, "broken", Verdict("broken"), state="other")
    told(journal, "survived before", SURVIVED, state="other")
    told(journal, "survived a short time", SURVIVED, limit=3)
    told(journal, "broken before", Verdict("broken"), sources="other")
    told(journal, "killed before", KILLED, engine="other")
    assert set(Journal(journal.path, 10).known) == {"killed", "survived", "broken"}


def test_no_mutant_is_judged_where_the_engine_itself_does_not_live(monkeypatch, capsys):
    monkeypatch.setattr(lives, "trial", lambda program, limit: KILLED)
    with pytest.raises(SystemExit):
        must_live(REPO)
    assert "the engine as it is does not live" in capsys.readouterr().err


def test_a_mutant_has_time_for_all_lives_where_the_engine_takes_longer(monkeypatch):
    monkeypatch.setattr(lives, "trial", lambda program, limit: Verdict("survived", seconds=min(50, limit)))
    assert must_live(REPO) == 60


def run(out, *options):
    done = subprocess.run(["scripts/python", "-m", "lab.mutants", *options], cwd=REPO, env={**os.environ, "OUT": str(out)},
                          capture_output=True, text=True, timeout=patience(300), check=False)
    assert done.returncode in (0, 1), done.stderr
    return done, json.loads((out / "mutants" / "report.json").read_text())


def test_a_few_mutants_of_a_file_live_and_are_killed(tmp_path):
    done, told = run(tmp_path, "--files", "range.c", "--wanted", "4", "--limit", "3")
    assert told["mutants"] == 4 == told["killed"] + told["survived"] + told["equivalent"]
    assert told["killed"] >= 2 and all(each["how"] for each in told["each"] if each["outcome"] == "killed")
    assert f"sim-mutants: 4 mutants: {told['killed']} killed" in done.stdout
    # A second run knows all that it needs, and builds nothing.
    again, same = run(tmp_path, "--files", "range.c", "--wanted", "4", "--limit", "3")
    assert same == told and "killed" not in again.stderr


@pytest.mark.parametrize("options", [["--files", "none.c"], ["--files", "range.c", "--update"]])
def test_bad_arguments_end_with_status_2(options):
    done = subprocess.run(["scripts/python", "-m", "lab.mutants", *options], cwd=REPO, capture_output=True, text=True,
                          timeout=patience(60), check=False)
    assert done.returncode == 2


@pytest.mark.parametrize("mutant", EQUIVALENT)
def test_what_was_judged_is_code_of_the_engine(mutant):
    file, function, change = mutant.split(": ", 2)
    code = (REPO / "kmod" / file).read_text()
    assert function in code and "".join(change.rpartition(" => ")[0].split()) in "".join(code.split())
