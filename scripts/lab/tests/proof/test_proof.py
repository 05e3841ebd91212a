# SPDX-License-Identifier: GPL-2.0
"""The proof counts a part as clean only if its command succeeded and printed figures, and records the figures."""

import json
import re
import subprocess
import sys
import time

import pytest

from lab.paths import REPO
from lab.proof import __main__ as proof, lives, shares
from lab.proof.__main__ import BEGIN, END, Outcome, Part


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Set up separate parts, page and results; return prove(), which takes Python programs by part."""
    page = tmp_path / "promises.rst"
    page.write_text(f"Title\n{BEGIN}old\n{END}rest\n")
    monkeypatch.setattr(proof, "PAGE", page)
    monkeypatch.setattr(proof, "OUT", tmp_path)
    monkeypatch.setattr(shares, "FILE", tmp_path / "proof" / "shares.json")
    monkeypatch.setattr(shares, "PUBLISHED", tmp_path / "published.json")
    monkeypatch.setattr(lives, "FILE", tmp_path / "proof" / "lives.json")
    monkeypatch.setattr(lives, "PUBLISHED", tmp_path / "published-lives.json")
    monkeypatch.setattr(shares, "REPO", tmp_path)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "kmod").mkdir()
    (tmp_path / "kmod" / "code.c").write_text("one\n")

    def prove(programs, *arguments, scaled=None, adds=False):
        monkeypatch.setattr(proof, "PARTS", {
            name: Part(name, f"about {name}", (sys.executable, "-c", program), scaled or {}, r"^figure: (.*)$",
                       adds=adds)
            for name, program in programs.items()})
        return proof.main(list(arguments))

    prove.page, prove.json, prove.code = page, tmp_path / "proof" / "proof.json", tmp_path / "kmod" / "code.c"
    prove.share = lambda name: shares.of(proof.PARTS[name])["share"]
    return prove


def test_the_figures_are_what_a_part_says_about_itself(here):
    assert here({"cuts": "print('figure: 7 cuts'); print('noise'); print('figure: 0 lost')"}) == 0
    made, = json.loads(here.json.read_text())["parts"]
    assert (made["words"], made["status"], made["scale"]) == ("7 cuts\n0 lost", 0, 1)


@pytest.mark.parametrize("program", ["print('figure: 7 cuts'); raise SystemExit(1)", "print('nothing that counts')"])
def test_a_part_that_fails_or_says_nothing_is_not_clean(here, program, capsys):
    assert here({"fine": "print('figure: 1')", "other": program}) == 1
    assert "FAILED" in capsys.readouterr().out


def test_scale_shortens_and_is_written_down(here):
    program = "import os; print('figure:', os.environ['ROUNDS'], os.environ['FEW'])"
    assert here({"rounds": program}, "--scale", "0.1", "--update", scaled={"ROUNDS": 1000, "FEW": 2}) == 0
    assert "- | 100 1\n" in here.page.read_text() and "0.1 of the full length" in here.page.read_text()


def test_what_cannot_be_shortened_counts_as_run_in_full(here):
    assert here({"lines": "print('figure: 98 %')"}, "--scale", "0.1") == 0
    assert json.loads(here.json.read_text())["parts"][0]["scale"] == 1


def test_update_renews_its_section_only_and_keeps_other_parts(here):
    both = {"one": "print('figure: 1')", "two": "print('figure: b_ad*'); print('figure: c')"}
    here(both, "--update")
    both["one"] = "print('figure: 11')"
    here(both, "one", "--update")
    page = here.page.read_text()
    assert page.startswith(f"Title\n{BEGIN}") and page.endswith(f"{END}rest\n") and "old" not in page
    assert "     - | 11\n" in page and "     - | b\\_ad\\*\n       | c\n" in page and "     - | 1\n" not in page


def test_update_publishes_the_seeds_that_were_lived(here):
    lives.record(lives.key_of_the_sources(), {"seed": 2001, "operations": 7})
    here({"one": "print('figure: 1')"})
    assert not lives.PUBLISHED.exists()
    here({"one": "print('figure: 1')"}, "--update")
    assert json.loads(lives.PUBLISHED.read_text()) == {lives.key_of_the_sources(): {"seed": 2001, "operations": 7}}


def test_update_keeps_what_was_found_on_another_machine(here):
    here({"one": "print('figure: 1')", "two": "print('figure: 2'); print('figure: b_')"}, "--update")
    before = proof.rows_of(here.page.read_text())
    here.json.unlink()
    here({"one": "print('figure: 11')", "two": "print('figure: 22')"}, "one", "--update")
    after = proof.rows_of(here.page.read_text())
    assert list(after) == ["part", "one", "two"] and after["two"] == before["two"]
    assert "     - | 11\n" in after["one"] and "     - | b\\_\n" not in after["one"]
    assert here.page.read_text().count("* - part\n") == 1


def test_without_update_the_page_stays(here):
    before = here.page.read_text()
    here({"one": "print('figure: 1')"})
    assert here.page.read_text() == before


def test_a_page_without_its_marks_is_left_alone(here, capsys):
    here.page.write_text("Title\n")
    with pytest.raises(SystemExit):
        here({"one": "print('figure: 1')"}, "--update")
    assert here.page.read_text() == "Title\n" and "lacks the lines" in capsys.readouterr().err


@pytest.mark.parametrize("arguments,words", [(["three"], "no part three"), (["--scale", "0"], "must be more than 0")])
def test_bad_arguments_are_refused(here, arguments, words, capsys):
    with pytest.raises(SystemExit) as ended:
        here({"one": ""}, *arguments)
    assert ended.value.code == 2 and words in capsys.readouterr().err


def test_pytest_sums_up_as_expected():
    part = Part("tests", "", ())
    assert part.figures_of("....\n529 passed, 1 skipped in 517.18s (0:08:37)\n") == "529 passed, 1 skipped"
    assert part.figures_of("1 failed, 2 passed in 1.00s\n") == "1 failed, 2 passed"


def test_a_clean_outcome_needs_figures():
    assert Outcome("x", 0, 1.0, "1", 1, "", "").clean and not Outcome("x", 0, 1.0, "", 1, "", "").clean


def test_no_part_ends_because_a_test_session_has_no_time_left(here, monkeypatch):
    monkeypatch.delenv("DM_ALIGN_BUDGET_MINUTES", raising=False)
    assert here({"one": "import os; print('figure:', os.environ['DM_ALIGN_BUDGET_MINUTES'])"}) == 0
    assert json.loads(here.json.read_text())["parts"][0]["words"] == "0"


# A program that takes no time and says which share of 1000 rounds it was given.
ROUNDS = "import os; print('figure:', os.environ['ROUNDS'])"


def test_what_was_run_of_the_same_sources_adds_up_and_the_page_claims_no_more(here):
    for _ in range(2):
        assert here({"rounds": ROUNDS}, "--scale", "0.1", "--update", scaled={"ROUNDS": 1000}) == 0
    assert here.share("rounds") == 0.2
    assert "0.1 of the full length; 0.2 in 2 runs: clean" in here.page.read_text()


def test_counts_add_up_over_lines_and_runs_and_over_checkouts(here):
    program = ("print('figure: 2 cuts on ext4, Linux 6.1.0-56-amd64, n=3 in 1.5 s'); " * 2 +
               "print('figure: {}, 1 damaged, -3 more')")
    for _ in range(2):
        here({"cuts": program}, "--scale", "0.1", "--update", scaled={"CUTS": 10}, adds=True)
    assert ("     - | 8 cuts on ext4, Linux 6.1.0-56-amd64, n=3 in 6.0 s\n       | {}, 2 damaged, -6 more\n"
            in here.page.read_text())


def test_a_run_that_is_not_clean_changes_no_count(here):
    program = "print('figure: 2 cuts')"
    here({"cuts": program}, "--scale", "0.1", scaled={"CUTS": 10}, adds=True)
    here({"cuts": program + "; raise SystemExit(1)"}, "--scale", "0.1", scaled={"CUTS": 10}, adds=True)
    assert shares.of(proof.PARTS["cuts"])["figures"] == "2 cuts"


def test_other_sources_begin_at_nothing_and_go_on_when_they_come_back(here):
    before = here.code.read_text()
    here({"rounds": ROUNDS}, "--scale", "0.1", scaled={"ROUNDS": 1000})
    here.code.write_text("two\n")
    assert here.share("rounds") == 0
    here.code.write_text(before)
    assert here.share("rounds") == 0.1


def test_another_comment_is_no_other_source(here):
    here.code.write_text("int one; /* it was first */\n")
    here({"rounds": ROUNDS}, "--scale", "0.1", scaled={"ROUNDS": 1000})
    here.code.write_text("/*\n * The first one.\n */\nint one;\n")
    assert here.share("rounds") == 0.1
    here.code.write_text("int two; /* it was first */\n")
    assert here.share("rounds") == 0


def test_a_run_whose_sources_change_meanwhile_counts_for_none(here, capsys):
    """As when a developer goes on with the engine beside a proof of hours."""
    program = f"{ROUNDS}; open({str(here.code)!r}, 'a').write('more')"
    before = here.code.read_text()
    assert here({"rounds": program}, "--scale", "0.5", scaled={"ROUNDS": 1000}) == 1
    assert "NOT COUNTED" in capsys.readouterr().out and here.share("rounds") == 0
    here.code.write_text(before)
    assert here.share("rounds") == 0


def test_published_shares_go_on_in_another_checkout(here):
    here({"rounds": ROUNDS}, "--scale", "0.1", scaled={"ROUNDS": 1000})
    assert not shares.PUBLISHED.exists()
    here({"rounds": ROUNDS}, "--scale", "0.2", "--update", scaled={"ROUNDS": 1000})
    assert here.share("rounds") == 0.3 and not shares.FILE.exists()
    # What a checkout has is its published file.
    here({"rounds": ROUNDS}, "--scale", "0.3", scaled={"ROUNDS": 1000})
    assert here.share("rounds") == 0.6
    record, = json.loads(shares.PUBLISHED.read_text())["rounds"].values()
    assert (record["share"], record["runs"]) == (0.3, 2)


def test_published_shares_are_of_the_sources_as_they_are_or_else_tell_the_time(here):
    for code in ("one\n", "two\n"):
        here.code.write_text(code)
        here({"rounds": ROUNDS}, "--scale", "0.1", "--update", scaled={"ROUNDS": 1000})
    assert len(json.loads(shares.PUBLISHED.read_text())["rounds"]) == 1 and here.share("rounds") == 0.1
    here.code.write_text("three\n")
    here({"rounds": ROUNDS, "other": ROUNDS}, "other", "--update", scaled={"ROUNDS": 1000})
    assert len(json.loads(shares.PUBLISHED.read_text())["rounds"]) == 1
    part = Part("rounds", "", (), {"ROUNDS": 1000})
    assert shares.of(part)["share"] == 0 and shares.seconds_of_all(part)


def test_each_part_concerns_files_of_the_tree():
    for part in proof.PARTS.values():
        listed = subprocess.run(["git", "ls-files", "--", *part.concerns], cwd=REPO, stdout=subprocess.PIPE, text=True,
                                check=True)
        names = listed.stdout.splitlines()
        assert names, part.name
        if part.concerns is proof.GUESTS:
            assert "kmod/target.c" in names and "kmod/tests/guest/test_lifecycle.py" in names
            assert not [name for name in names if name.startswith("kmod/tests/sim/")]


@pytest.mark.parametrize("part", [part for part in proof.PARTS.values() if "-k" in part.command], ids=lambda part: part.name)
def test_each_word_that_chooses_tests_names_some(part):
    """Else a test that got another name would be missing in the proof, which would be clean without it."""
    words = dict(zip(part.command, part.command[1:]))["-k"].split(" or ")
    places = [REPO / word for word in part.command if word.startswith("kmod/")]
    files = [path for place in places for path in ([place] if place.is_file() else place.rglob("test_*.py"))]
    names = [name for path in files for name in (path.stem, *re.findall(r"^def (test_\w+)", path.read_text(), re.M))]
    assert places and not [word for word in words if not any(word in name for name in names)]


def test_a_run_that_is_not_clean_adds_nothing(here):
    assert here({"rounds": f"{ROUNDS}; raise SystemExit(1)"}, "--scale", "0.5", scaled={"ROUNDS": 1000}) == 1
    assert here.share("rounds") == 0


def test_hours_go_on_with_the_part_furthest_from_its_full_length(here, capsys):
    programs = {"one": ROUNDS, "two": ROUNDS}
    here(programs, "one", "--scale", "0.5", scaled={"ROUNDS": 1000})
    capsys.readouterr()
    assert here(programs, "--hours", "1", scaled={"ROUNDS": 1000}) == 0
    chosen = [line.split(",")[0] for line in capsys.readouterr().out.splitlines() if "of its full length so far" in line]
    # The second is not known for its speed, so it begins with little.
    assert chosen == ["two", "two", "one"]
    assert {name: here.share(name) for name in programs} == {"one": 1, "two": 1}


def test_hours_take_no_more_than_fits_into_them(here, monkeypatch):
    part = Part("rounds", "", (), {"ROUNDS": 1000})
    monkeypatch.setattr(proof, "PARTS", {"rounds": part})
    assert shares.scale_in(part, 3600) == shares.FIRST
    shares.add(part, 0.1, 720)
    assert shares.scale_in(part, 1800) == 0.25 and shares.scale_in(part, 10 ** 6) == 0.9
    assert shares.scale_in(part, 1) is None and shares.furthest([part], 1) == (None, 0)
    whole = Part("lines", "", ())
    shares.add(whole, 1, 720)
    here.code.write_text("two\n")
    assert shares.scale_in(whole, 700) is None and shares.scale_in(whole, 800) == 1


def test_hours_end_with_a_part_that_fails(here):
    began = time.monotonic()
    assert here({"one": "raise SystemExit(1)", "two": "print('figure: 1')"}, "--hours", "1") == 1
    assert time.monotonic() - began < 600 and here.share("two") == 0


@pytest.mark.parametrize("arguments", [["--hours", "0"], ["--hours", "1", "--scale", "0.5"]])
def test_hours_are_a_time_of_their_own(here, arguments):
    with pytest.raises(SystemExit) as ended:
        here({"one": ""}, *arguments)
    assert ended.value.code == 2
