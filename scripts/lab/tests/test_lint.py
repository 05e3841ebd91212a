# SPDX-License-Identifier: GPL-2.0
"""The tree passes each static check, and each check finds a fault."""

import os
import subprocess

import pytest

from lab import lint

C = "// SPDX-License-Identifier: GPL-2.0\n"
SCRIPT = "# SPDX-License-Identifier: GPL-2.0\n"
PLAIN = "all: one.o\none.o: one.c\n\t$(CC) -std=gnu11 -c -o one.o $(CURDIR)/one.c\n"

# A file with a fault, a part of the finding, and the file without the fault.
FAULTS = {
    "clang-tidy": ("userspace/alignctl/one.c", C + "int f(int *p)\n{\n\tif (!p)\n\t\treturn *p;\n\treturn 0;\n}\n",
                   "NullDereference", C + "int f(int *p)\n{\n\treturn p ? *p : 0;\n}\n"),
    "mypy": ("one.py", SCRIPT + 'NUMBER: int = "one"\n', "assignment", SCRIPT + "NUMBER: int = 1\n"),
    "checkpatch": ("kmod/one.c", C + "int f(void)\n{\n        return 0;\n}\n", "CODE_INDENT",
                   C + "int f(void)\n{\n\treturn 0;\n}\n"),
    "shellcheck": ("one", "#!/bin/sh\n" + SCRIPT + "rm -f $1\n", "SC2086", "#!/bin/sh\n" + SCRIPT + 'rm -f "$1"\n'),
    "ruff": ("one.py", SCRIPT + "import os\n", "F401", SCRIPT + "import os\n\nprint(os.sep)\n"),
    "kernel-doc": ("kmod/one.h", "/**\n * f - one\n * @there: is not\n */\nvoid f(int here);\n", "not described",
                   "/**\n * f - one\n * @here: is\n */\nvoid f(int here);\n"),
    "comments": ("userspace/alignctl/one.h", C + "/* Is there one? */\nbool one(void);\n", "begins with 'Is'",
                 C + "/* Check for one. */\nbool one(void);\n"),
    "editorconfig": ("one.c", C + "int i;\nint f(void)\n{\n        return i;\n}\n", "not indented with tabs", C + "int i;\n"),
    "licence": ("one.c", "int i;\n", "no 'SPDX", C + "int i;\n"),
}


@pytest.fixture
def sample(tmp_path, monkeypatch):
    """Return a function that writes one file of a tree and returns the tree; the gates' cache is temporary."""
    monkeypatch.setattr(lint, "CACHE", tmp_path / "cache")
    tree = tmp_path / "tree"
    for program in lint.PROGRAMS:
        (tree / "userspace" / program).mkdir(parents=True)
        (tree / "userspace" / program / "Makefile").write_text(SCRIPT + "all:\n")

    def write(name, text):
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if path.parent.name in lint.PROGRAMS:
            (path.parent / "Makefile").write_text(SCRIPT + PLAIN)
        return tree
    return write


@pytest.mark.timeout(600)
@pytest.mark.parametrize("gate", lint.GATES)
def test_the_tree_passes(gate):
    try:
        assert not lint.GATES[gate](lint.REPO)
    except lint.Skipped as why:
        pytest.skip(str(why))


def test_each_gate_is_tested_with_a_fault():
    assert set(lint.GATES) == {*FAULTS, "commits"}


@pytest.mark.parametrize("gate", FAULTS)
def test_a_fault_is_found_and_its_mend_passes(gate, sample):
    name, fault, said, mended = FAULTS[gate]
    assert any(said in line for line in lint.GATES[gate](sample(name, fault)))
    # Again, as a file with a finding must not be cached as clean.
    assert any(said in line for line in lint.GATES[gate](sample(name, fault)))
    assert not lint.GATES[gate](sample(name, mended))


@pytest.mark.parametrize("text, said", [
    (C + "int i;", "last line without an end"),
    (C + "int i;\n\n", "empty lines at the end"),
    (C + "int i; \n", "one.c:2: white space"),
    (C + "int i;\r\n", "one.c:2: white space"),
])
def test_the_rules_of_editorconfig(sample, text, said):
    assert any(said in line for line in lint.editorconfig(sample("one.c", text)))


@pytest.mark.parametrize("text, line", [
    ("/**\n * struct one - one\n * @it: same\n */\n", 4),
    ("/**\n * struct one - one\n * @nr: number of ones\n * @one: those, by age\n */\n", 5),
    ("/*\n * The same of a device,\n * or none.\n */\nstatic const struct one *find(int which)\n{\n", 2),
    ("/* Each returns 0. */\nint one(void);\n/* Find it. */\nint other(void);\n", 2),
])
def test_a_comment_without_a_noun_or_verb_is_found(sample, text, line):
    found, = lint.comments(sample("userspace/drive512e/one.h", C + text))
    assert f"one.h:{line}: " in found


@pytest.mark.parametrize("text", [
    "/* The bins of a histogram. */\nstatic const int bins[] = { one(1), 2 };\n",
    "/* What a format cannot express. */\nenum lost {\n\tONE,\n};\n",
    "/* A file that holds two things. */\n\nint one(void);\n",
    "/* Return 0. */\nint one(void);\n",
    "/**\n * struct one - one\n * @item: the item\n */\n",
])
def test_comments_that_describe_are_none(sample, text):
    assert not lint.comments(sample("userspace/alignctl/one.c", C + text))


def test_a_c_file_of_the_programs_begins_with_what_it_is_about(sample):
    text = C + "#include <errno.h>\n\n/* An error. */\nint one = ENOMEM;\n"
    found, = lint.comments(sample("userspace/drive512e/one.c", text))
    assert found.endswith("one.c:1: no comment at the start that says what the file is about")
    assert not lint.comments(sample("userspace/drive512e/one.c", text.replace(C, C + "/* The error. */\n")))
    assert not lint.comments(sample("userspace/drive512e/tests/test_one.c", text))


WORDS = ["anybody", "everybody", "Nobody", "somebody", "whoever", "Whatever", "whom", *(f"it does{end}" for end in ("", " not"))]


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("name, text, line", [
    ("kmod/one.c", C + "/*\n * The block is given\n * to {}.\n */\nint one;\n", 4),
    ("kmod/tests/sim/one.h", C + "int one;\t/* {} */\n", 2),
    ("userspace/alignctl/tests/one.c", C + "const char *one =\n\t\"a \\\"quoted\\\" word, {}\\n\";\n", 3),
    ("scripts/one.py", SCRIPT + "ONE = 1    # {}: one\n", 2),
    ("scripts/one.py", SCRIPT + 'def one():\n    """Return one.\n\n    And {}.\n    """\n', 5),
    ("scripts/one.py", SCRIPT + "one = 1\nprint(f'{{one}}, and {}')\n", 3),
    ("scripts/one", "#!/usr/bin/env python3\n" + SCRIPT + "# {}.\n", 3),
    ("scripts/one.sh", "#!/bin/sh\n" + SCRIPT + "echo 'for {}'\n", 3),
    ("one/Makefile", SCRIPT + "# For {}\nall:\n", 2),
])
def test_a_word_in_place_of_a_noun_is_found(sample, name, text, line, word):
    found, = lint.comments(sample(name, text.format(word)))
    assert found.endswith(f"{name}:{line}: {word!r} in place of a noun")


@pytest.mark.parametrize("name, text", [
    ("kmod/one.c", "/* The first one; it does not wait, and tells by what it does. */\nconst char *{0} = \"{0}\";\n"),
    ("kmod/one.c", "const char one = '\"', *{0} = \"\";\n"),
    ("scripts/one.py", "import pwd\n\n{0} = pwd.getpwnam('{0}')\n"),
    ("one.rst", "For {0}.\n"),
])
def test_names_and_documents_may_have_any_word(sample, name, text):
    assert not lint.comments(sample(name, text.format("nobody")))


def test_a_header_that_changes_has_its_includers_looked_at_again(sample):
    name, fault, said, _ = FAULTS["clang-tidy"]
    sample("userspace/alignctl/one.h", C + "#define LOOK 0\n")
    tree = sample(name, fault.replace("if (!p)", "if (LOOK && !p)").replace(C, C + '#include "one.h"\n'))
    assert not lint.clang_tidy(tree)
    assert any(said in line for line in lint.clang_tidy(sample("userspace/alignctl/one.h", C + "#define LOOK 1\n")))


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Return a repository on a branch off main, and a function that runs git in it."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    folder = tmp_path / "repository"
    folder.mkdir()

    def git(*arguments):
        subprocess.run(["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a", *arguments], check=True,
                       capture_output=True)
    git("init", "-q", "-b", "main")
    git("commit", "-q", "--allow-empty", "-m", "old: " + "x" * 100)
    git("checkout", "-q", "-b", "work")
    return folder, git


def test_a_new_commit_with_a_long_subject_is_found_and_an_old_one_is_not(repository):
    folder, git = repository
    git("commit", "-q", "--allow-empty", "-m", "new: " + "\u00e4" * 67 + "\n\n" + "a long line of the body " * 5)
    assert lint.commits(folder) == []
    git("commit", "-q", "--allow-empty", "-m", "new: " + "\u00e4" * 68)
    found = lint.commits(folder)
    assert len(found) == 1 and "73 characters" in found[0] and found[0].endswith("\u00e4")
    git("branch", "-q", "-f", "main")
    assert lint.commits(folder) == []


def test_the_branch_that_is_tracked_goes_before_main(repository):
    folder, git = repository
    git("commit", "-q", "--allow-empty", "-m", "new: " + "x" * 100)
    git("branch", "there")
    git("branch", "-q", "--set-upstream-to=there")
    assert lint.commits(folder) == []


def test_subjects_are_skipped_where_git_does_not_know_them(repository, tmp_path, monkeypatch, capsys):
    folder, git = repository
    (folder / "below").mkdir()
    for exported in (tmp_path, folder / "below"):
        with pytest.raises(lint.Skipped, match="git repository"):
            lint.commits(exported)
    git("branch", "-q", "-D", "main")
    with pytest.raises(lint.Skipped, match="no upstream branch"):
        lint.commits(folder)
    git("commit", "-q", "--allow-empty", "-m", "more")
    git("clone", "-q", "--depth", "1", f"file://{folder}", tmp_path / "shallow")
    with pytest.raises(lint.Skipped, match="shallow"):
        lint.commits(tmp_path / "shallow")
    monkeypatch.setattr(lint, "REPO", tmp_path)
    assert lint.main(["commits"]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert "skipped: not the top of a git repository" in first and last == "1 gate skipped"
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(lint.Skipped):
        lint.commits(folder)


@pytest.mark.parametrize("gate, package", [("shellcheck", "shellcheck"), ("clang-tidy", lint.CLANG_TIDY)])
def test_a_missing_tool_is_named_with_its_package(gate, package, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert lint.main([gate]) == 2
    assert f"apt-get install {package}" in capsys.readouterr().out


def test_findings_are_printed_below_their_gate_and_make_the_status_1(monkeypatch, capsys):
    monkeypatch.setitem(lint.GATES, "licence", lambda _: [f"{lint.REPO}/one.c:1: none"])
    monkeypatch.setitem(lint.GATES, "ruff", lambda _: [])
    assert lint.main(["licence", "ruff"]) == 1
    first, second, third = capsys.readouterr().out.splitlines()
    assert first.split()[0] == "licence" and first.endswith("1 finding")
    assert second == "  one.c:1: none"
    assert third.split()[0] == "ruff" and third.endswith("ok")
    assert lint.main(["ruff"]) == 0


def test_an_unknown_gate_is_refused_with_the_known_ones(capsys):
    assert lint.main(["everything"]) == 2
    assert "clang-tidy" in capsys.readouterr().err


def test_make_lint_passes_on_which_gates():
    shown = subprocess.run(["make", "-n", "-C", lint.REPO, "lint", "GATES=ruff mypy"], capture_output=True, text=True, check=True)
    assert "scripts/setup check" in shown.stdout and "lab.lint ruff mypy" in shown.stdout
