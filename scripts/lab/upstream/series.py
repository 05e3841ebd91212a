# SPDX-License-Identifier: GPL-2.0
"""The patch series, one behind the other: commits in a repository that has, of the kernel, only the files that they change."""

import difflib
import os
import shutil
import subprocess
from pathlib import Path

from .. import source_text
from ..linux import kernels
from ..paths import OUT, REPO, fail
from . import derive, patches

# The series, each in a folder, and the folder for everything that is made on the way.
FOLDER = OUT / "upstream"
SCRATCH = OUT / "build" / "upstream"
BRANCH = "dm-align"
# Files of the kernel that the series change.
CHANGED = ("MAINTAINERS", *sorted({path for series in patches.SERIES for patch in series.patches for path, _, _ in patch.edits
                                   if not path.startswith(derive.DRIVER)}))
# What has patches of its own, and not the one that changes the rest of the driver.
OWN = (f"{derive.DRIVER}/tests/", f"{derive.DRIVER}/.kunitconfig", derive.MANUAL, derive.ABI)
ENTRY = "DEVICE-MAPPER ALIGN TARGET"
# Git with a repository's own configuration only.
ISOLATED = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
# The entry's place: behind the entry of device-mapper itself, in front of those of other targets.
AFTER = "DEVICE-MAPPER  (LVM)\n"


def git(folder, *arguments, **environment):
    """Run git in a folder, with the folder's configuration only; return its output. Exits on failure."""
    done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True,
                          env={**os.environ, **ISOLATED, **environment})
    if done.returncode:
        fail(f"git {arguments[0]} in {folder}: {(done.stderr or done.stdout).strip()}", 1)
    return done.stdout


def of_checkout(*arguments):
    """Return the output of git in the checkout, with the user's configuration, "" on failure."""
    return subprocess.run(["git", *arguments], cwd=REPO, capture_output=True, text=True).stdout.strip()


def identity():
    """Return (name, address) of the person who runs this: the patches are from that person, signed off and maintained."""
    found = [of_checkout("config", f"user.{what}") for what in ("name", "email")]
    if not all(found):
        fail("the patches need an author: git config user.name and user.email")
    return tuple(found)


def entry(author, covered):
    """Return the entry of MAINTAINERS with some patterns of files."""
    name, address = author
    lines = [ENTRY, f"M:\t{name} <{address}>", f"L:\t{derive.LIST}", "S:\tMaintained"]
    return "\n".join([*lines, *(f"F:\t{path}" for path in sorted(covered))]) + "\n\n"


def coverage(number):
    """Return the patterns of files that the entry has after a patch of all series, by its number from 0."""
    covered = []
    for patch in [patch for series in patches.SERIES for patch in series.patches][:number + 1]:
        added = patch.files if patch.covered is None else patch.covered
        covered = [path for path in covered if not path.startswith(added)] if added else covered
        covered += [path for path in added if path not in covered and not any(path.startswith(known) for known in covered
                                                                              if known.endswith("/"))]
    return covered


def with_entry(text, new, old=None):
    """Return the text of MAINTAINERS with the entry `new`, in the place of the entry `old` if there is one."""
    if old:
        return text.replace(old, new)
    at = text.index("\n\n", text.index(AFTER)) + 2
    return text[:at] + new + text[at:]


def insert(text, before, lines, name):
    """Return a text with lines in front of the one line that begins with `before`, or at the end if `before` is empty."""
    if not before:
        return text + lines
    found = [number for number, line in enumerate(text.splitlines()) if line.startswith(before)]
    if not found:
        fail(f"{name} of Linux {derive.SERIES} has no line {before!r}: see scripts/lab/upstream/patches.py", 1)
    rows = text.splitlines(keepends=True)
    return "".join([*rows[:found[0]], lines, *rows[found[0]:]])


def base(folder):
    """Make a repository in a folder with the kernel's own files that the series changes, committed; return the source."""
    source = kernels.fetch_source(derive.SERIES)
    shutil.rmtree(folder, ignore_errors=True)
    for name in CHANGED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, folder / name)
    # Without the licences in the repository, checkpatch cannot look up those of the files.
    shutil.copytree(source / "LICENSES", folder / "LICENSES")
    git(folder, "init", "--quiet", f"--initial-branch={BRANCH}")
    for key, value in zip(("user.name", "user.email"), identity(), strict=True):
        git(folder, "config", key, value)
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", f"Files of {version(source)}", **dated())
    return source


def version(source):
    """Return Debian's name of an unpacked source: "linux-source-7.2 7.2.12-1"."""
    package, number = source.name.rsplit("-", 1)[0].split(f"{derive.SERIES}-", 1)
    return f"{package}{derive.SERIES} {number}"


def dated():
    """Return the variables with which a commit gets the date of the checkout's newest commit, so that the series depends on
    nothing but the checkout and its author."""
    date = of_checkout("log", "-1", "--format=%cI") or fail("the patches need a date: run this in a checkout of git")
    return {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}


def edited(text, name, edits):
    """Return a text with the lines that edits insert into the file of a name."""
    for path, before, lines in edits:
        if path == name:
            text = insert(text, before, lines, name)
    return text


def texts_of(patch, new, before, edits):
    """Return what a patch makes of files: {path: text}. new, before: the driver's files in this series and in the one before;
    edits: of all patches before."""
    names = [name for name in new if patch.rest and name in before and new[name] != before[name] and not name.startswith(OWN)]
    return {name: edited(new[name], name, edits) for name in {*patch.files, *names}}


def make():
    """Make the series in FOLDER from the checkout; return the files of each in order, the cover letter first: {layer: files}."""
    folder = SCRATCH / "series"
    source = base(folder)
    answers, author = derive.answers(), identity()
    shutil.rmtree(FOLDER, ignore_errors=True)
    old, before, edits, number, made = None, {}, [], 0, {}
    for series in patches.SERIES:
        new = derive.files(answers, series.layer)
        left = set(new) - set(before) - {name for patch in series.patches for name in patch.files}
        if left:
            fail(f"no patch of series {series.layer} has {', '.join(sorted(left))}: see scripts/lab/upstream/patches.py", 1)
        for patch in series.patches:
            for name, text in texts_of(patch, new, before, edits).items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text)
            for name in dict.fromkeys(name for name, _, _ in patch.edits):
                (folder / name).write_text(edited((folder / name).read_text(), name, patch.edits))
            edits += patch.edits
            maintainers = folder / "MAINTAINERS"
            maintainers.write_text(with_entry(maintainers.read_text(), entry(author, coverage(number)), old))
            old = entry(author, coverage(number))
            number += 1
            git(folder, "add", "--all")
            git(folder, "commit", "--quiet", "--signoff", "--message", f"{patch.subject}\n\n{patch.body}", **dated())
        git(folder, "tag", series.layer)
        made[series.layer] = _written(folder, series, source)
        before = new
    return made


def _written(folder, series, source):
    """Write the patches of a series, whose commits are the newest ones; return the files."""
    number = patches.SERIES.index(series)
    base_of = f"the series before, {patches.SERIES[number - 1].layer}" if number else version(source)
    git(folder, "config", f"branch.{BRANCH}.description", f"{series.subject}\n\n{series.cover.format(base=base_of)}")
    place = FOLDER / f"{number + 1}-{series.layer}"
    git(folder, "format-patch", "--quiet", "--cover-letter", "--cover-from-description=subject", "--no-signature",
        "--zero-commit", "--output-directory", place, f"HEAD~{len(series.patches)}", **dated())
    return sorted(place.glob("*.patch"))


def lines(layer):
    """
    Return how many lines the driver of a series adds or changes, without tests and documents, and how many of these are
    code: neither blank nor comment.
    """
    names = [each.layer for each in patches.SERIES]
    number = names.index(layer)
    since = names[number - 1] if number else git(SCRATCH / "series", "rev-list", "--max-parents=0", "HEAD").strip()
    counted = git(SCRATCH / "series", "diff", "--numstat", since, layer, "--", derive.DRIVER,
                  f":(exclude){derive.DRIVER}/tests", f":(exclude){derive.DRIVER}/.kunitconfig")
    rows = [line.split("\t") for line in counted.splitlines()]
    return sum(int(row[0]) for row in rows), sum(_added_code(row[2], since, layer) for row in rows)


def _added_code(name, since, layer):
    strip = source_text.CODE.get(Path(name).suffix, source_text.without_blanks)
    before, after = (strip(_at(revision, name)).splitlines() for revision in (since, layer))
    return sum(line.startswith("+ ") for line in difflib.ndiff(before, after)) if before else len(after)


def _at(revision, name):
    """Return the text of a file in a revision, "" if it is not there."""
    listed = git(SCRATCH / "series", "ls-tree", "--name-only", revision, "--", name)
    return git(SCRATCH / "series", "show", f"{revision}:{name}") if listed else ""
