# SPDX-License-Identifier: GPL-2.0
"""Run the static checks over the tree: `make lint`.

    scripts/python -m lab.lint [GATE...]      without names, all of GATES

Prints a line for each gate, with its findings below. Exit status 1 if there are findings, 2 if a tool is missing (the line
names its package). A gate that does not apply here, as the one of commits in an exported tree, is skipped with its reason
and counted.

A gate takes the folder to check, so that a test can pass one with a fault. The slow gates cache the digests of files
without findings, and check only the others.
"""

import concurrent.futures
import configparser
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import tokenize

from . import paths, source_text
from .kept import digest
from .linux import gates, kernels
from .paths import REPO, locked

# Digests of clean files, of all checkouts.
CACHE = paths.CACHE / "lint"
# Output of builds and tests, and raw input of parsers, which is no source code.
NOT_SOURCES = {".git", "out", "__pycache__", ".pytest_cache", "corpus", "samples"}
SUFFIXES = {".c", ".h", ".sh", ".py", ".mk", ".rst", ".md"}
NAMES = {"Makefile", "Kbuild", "Kconfig"}
LICENCE = "SPDX-License-Identifier: GPL-2.0"
# The version that Debian 12 and 13 share: other versions have other findings.
CLANG_TIDY = "clang-tidy-19"
KERNEL_CODE = ("kmod", "kunit")
PROGRAMS = ("alignctl", "drive512e")
# Words of the programs' comments that leave out the noun, or the verb.
ROW_WITHOUT_NOUN = re.compile(r"^\s*\* @\w+: *(?:the )?(?:same|likewise|them|it|those|that|they)\b", re.M | re.I)
FILE_COMMENT = re.compile(r"//[^\n]*\n/\*")
FUNCTION_COMMENT = re.compile(r"^/\* *(?:\n \* )?([A-Z]\w*)(?:[^*]|\*(?!/))*\*/\n[a-z_][\w \t*]*[ *]\w+\(", re.M)
NO_VERB = {"A", "All", "An", "Are", "Can", "Does", "Each", "Has", "Have", "How", "Is", "It", "May", "Of", "Same", "That", "The",
           "Them", "Those", "What", "Where", "Whether", "Which", "Who", "Why", "Will"}


# Comment lines below one another, or another line.
SCRIPT_TEXT = re.compile(r"(?:^[ \t]*#.*\n?)+|^.+$", re.M)
DOCUMENTS = {".rst", ".md"}
# FSTRING_MIDDLE is new in Python 3.12.
PYTHON_TEXT = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
# Words that stand in place of a noun, and an elliptic verb of "it".
NO_NOUN = re.compile(r"\b(?:any|every|no|some)body\b|\bwho(?:m|so)?ever\b|\bwhatever\b|\bwhom\b|"
                     r"(?<!what )\bit does(?: not)?(?=\s*(?:[.,;:)'\"]|\\n|\Z))", re.I)

# Branches whose commits are not looked at any more: the first one that exists.
UPSTREAM = ("@{upstream}", "origin/HEAD", "origin/main", "main")
SUBJECT_MOST = 72


class Missing(Exception):
    """A tool that a gate runs is not on this machine."""


class Skipped(Exception):
    """A gate does not apply to the folder; the text is the reason."""


def tool(name, package=None):
    """Return the path of a program. Raises Missing, which names its package."""
    path = shutil.which(name)
    if not path:
        raise Missing(f"{name} is missing: apt-get install {package or name}")
    return path


def run(command, **options):
    """Run a checker; return the lines that it prints, at least one if it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    said = [line for line in done.stdout.splitlines() if line.strip()]
    if done.returncode and not said:
        said = [f"{command[0]} ended with status {done.returncode}: {done.stderr.strip()}"]
    return said if done.returncode else []


def sources(folder):
    """Find the source files below a folder; return {path: interpreter named by the first line, or ""}, sorted."""
    found = {}
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in NOT_SOURCES]
        for path in (folder / where / name for name in names):
            if path.is_symlink():
                continue
            with open(path, "rb") as file:
                start = re.match(rb"#! *(\S+)(?: +(\S+))?", file.readline(200))
            interpreter = os.path.basename((start[2] if start[1].endswith(b"/env") else start[1]).decode()) if start else ""
            if interpreter or path.suffix in SUFFIXES or path.name in NAMES:
                found[path] = interpreter
    return dict(sorted(found.items()))


def is_python(path, interpreter):
    return path.suffix == ".py" or interpreter.startswith("python")


def python_files(folder):
    return [path for path, interpreter in sources(folder).items() if is_python(path, interpreter)]


def shell_files(folder):
    return [path for path, interpreter in sources(folder).items() if path.suffix == ".sh" or interpreter in ("sh", "bash")]


def kernel_files(folder):
    return [path for room in KERNEL_CODE for path in sorted((folder / room).glob("*.[ch]"))]


def changed(name, keys, look):
    """Return the findings of `look` in files that are not known to be clean. `keys` has each file's key."""
    with locked(f"lint-{name}"):
        known = CACHE / f"{name}.clean"
        clean = set(known.read_text().split()) if known.exists() else set()
        todo = [path for path, key in keys.items() if key not in clean]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = dict(zip(todo, pool.map(look, todo)))
        CACHE.mkdir(parents=True, exist_ok=True)
        # Keep the digests of other checkouts.
        known.write_text("".join(f"{key}\n" for key in sorted(clean | {keys[path] for path in todo if not found[path]})))
    return [line for lines in found.values() for line in lines]


def ruff(folder):
    """Check Python with ruff: unused and undefined names, likely faults, order of imports."""
    return run([sys.executable, "-m", "ruff", "check", "--quiet", "--output-format", "concise", "--cache-dir", CACHE / "ruff",
                "--config", REPO / ".ruff.toml", *python_files(folder)])


def mypy(folder):
    """Check the types of Python with mypy."""
    files = [] if folder == REPO else python_files(folder)
    return run([sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", CACHE / "mypy", "--config-file",
                REPO / ".mypy.ini", *files], cwd=REPO)


def shellcheck(folder):
    """Check shell scripts with shellcheck."""
    return run([tool("shellcheck"), "--external-sources", "--format", "gcc", *shell_files(folder)], cwd=REPO)


def checkpatch(folder):
    """Check the style of the kernel code with checkpatch."""
    script = kernels.fetch_source(kernels.USUAL) / "scripts/checkpatch.pl"
    keys = {path: digest(path.name, path, script) for path in kernel_files(folder)}
    return changed("checkpatch", keys, gates.checkpatch)


def kernel_doc(folder):
    """Check that kernel-doc comments in the kernel code's headers match the declarations below them."""
    script = kernels.fetch_source(kernels.USUAL) / "scripts/kernel-doc"
    headers = [path for path in kernel_files(folder) if path.suffix == ".h"]
    done = subprocess.run(["perl", script, "-none", "-Wall", *headers], capture_output=True, text=True, cwd=REPO, check=True)
    return done.stderr.splitlines()


def texts(path, interpreter):
    """Yield (number of the first line, text) for each comment and message of a source file, as `sources` has found it.

    A message is a string of several words. Scripts and Makefiles are yielded as a whole, documents not at all.
    """
    text = path.read_text(errors="replace")
    if path.suffix in (".c", ".h"):
        for found in source_text.C_TEXT.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            if found["comment"]:
                yield line, re.sub(r"^[ \t]*\*", "", found["comment"], flags=re.M)
            elif " " in (found["message"] or ""):
                yield line, found["message"]
    elif is_python(path, interpreter):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in PYTHON_TEXT and " " in token.string:
                yield token.start[0], token.string.strip("\"'")
    elif path.suffix not in DOCUMENTS:
        for found in SCRIPT_TEXT.finditer(text):
            yield text.count("\n", 0, found.start()) + 1, re.sub(r"^[ \t]*#", "", found[0], flags=re.M)


def comments(folder):
    """Comments and messages with a word in place of a noun.

    In the programs: C files that do not begin with a comment, rows of kernel-doc without a noun, and comments of functions
    that do not begin with a verb.
    """
    findings = []
    for path, interpreter in sources(folder).items():
        findings += [f"{path}:{line + text.count(chr(10), 0, word.start())}: {word[0]!r} in place of a noun"
                     for line, text in texts(path, interpreter) for word in NO_NOUN.finditer(text)]
    for path in sources(folder / "userspace"):
        inside = path.relative_to(folder)
        if path.suffix not in (".c", ".h") or "tests" in inside.parts:
            continue
        text = path.read_text()
        found = [(row.start(), "a row without a noun") for row in ROW_WITHOUT_NOUN.finditer(text)]
        found += [(comment.start(), f"a function's comment that begins with {comment[1]!r}, not with a verb")
                  for comment in FUNCTION_COMMENT.finditer(text) if comment[1] in NO_VERB]
        if path.suffix == ".c" and not FILE_COMMENT.match(text):
            found.append((0, "no comment at the start that says what the file is about"))
        findings += [f"{path}:{text.count(chr(10), 0, at) + 1}: {what}" for at, what in sorted(found)]
    return findings


def clang_tidy(folder):
    """Check the programs with clang-tidy, as .clang-tidy says."""
    program = tool(CLANG_TIDY)
    commands = compile_commands(folder)

    def look(path):
        return [line for line in run([program, "--quiet", "--warnings-as-errors=*", f"--config-file={REPO / '.clang-tidy'}", path,
                                      "--", *commands[path]]) if re.search(r": (warning|error):", line)]

    keys = {path: digest(CLANG_TIDY, " ".join(flags).replace(str(REPO), ""), REPO / ".clang-tidy", path, *included(path, flags))
            for path, flags in commands.items()}
    return changed("clang-tidy", keys, look)


def compile_commands(folder):
    """Return {source file: its -D, -I and -std flags} of the programs, from their Makefiles."""
    found = {}
    for program in PROGRAMS:
        where = folder / "userspace" / program
        shown = subprocess.run(["make", "-s", "-n", "-B", "-C", where, f"OUT={CACHE}", "CC=cc", "all"], capture_output=True,
                               text=True, check=True).stdout
        for words in map(shlex.split, shown.splitlines()):
            if words[:1] == ["cc"] and "-c" in words:
                found[(where / words[-1]).resolve()] = [word for word in words if re.match(r"-[DI]|-std=", word)]
    return found


def included(path, flags):
    """Return the project's headers that a C file includes, directly or through others."""
    folders = [flag[2:] for flag in flags if flag.startswith("-I")]
    found, todo = set(), [path]
    while todo:
        including = todo.pop()
        for name in re.findall(r'^#include "(.*)"$', including.read_text(), re.M):
            header = next((os.path.join(each, name) for each in (including.parent, *folders)
                           if os.path.exists(os.path.join(each, name))), None)
            if header and (header := REPO / os.path.realpath(header)) not in found:
                found.add(header)
                todo.append(header)
    return sorted(found)


def editorconfig(folder):
    """Check all sources against .editorconfig: indents, ends of lines and the end of the file."""
    rules = configparser.ConfigParser()
    rules.read_string("[top]\n" + (REPO / ".editorconfig").read_text())
    findings = []
    for path in sources(folder):
        text = path.read_bytes().decode(errors="replace")
        said = {"last line without an end": not text.endswith("\n"), "empty lines at the end": text.endswith("\n\n")}
        style = next((rules[name].get("indent_style") for name in reversed(rules.sections()) if name != "top" and
                      rules[name].get("indent_style") and matches(path.name, name)), None)
        # After tabs, fewer than 8 spaces may align. Python is left to ruff, which knows strings from code.
        indent = {"tab": r"\t* {8}", "space": r" *\t"}.get(style) if path.suffix != ".py" else None
        findings += [f"{path}: {what}" for what, is_so in said.items() if is_so]
        for number, line in enumerate(text.split("\n"), 1):
            if line != line.rstrip():
                findings.append(f"{path}:{number}: white space at the end of the line")
            if indent and re.match(indent, line):
                findings.append(f"{path}:{number}: not indented with {style}s")
    return findings


def matches(name, pattern):
    """Return whether a file's name matches a section of .editorconfig: *, and {one,other}, which may be nested."""
    special = {"{": "(?:", "}": ")", ",": "|", "*": ".*"}
    return bool(re.fullmatch("".join(special.get(sign, re.escape(sign)) for sign in pattern), name))


def licence(folder):
    """Check that all sources name the licence in the first three lines."""
    found = []
    for path in sources(folder):
        with open(path, encoding="utf-8") as file:
            if not any(LICENCE in line for _, line in zip(range(3), file)):
                found.append(f"{path}:1: no '{LICENCE}' in the first three lines")
    return found


def commits(folder):
    """Check the length of the subjects of commits that are not upstream. Raises Skipped if git does not know which they are."""
    def git(*arguments):
        done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, errors="replace")
        return done.stdout.strip() if not done.returncode else None

    if not shutil.which("git") or git("rev-parse", "--show-toplevel") != os.path.realpath(folder):
        raise Skipped("not the top of a git repository")
    if git("rev-parse", "--is-shallow-repository") == "true":
        raise Skipped("the history is shallow; git fetch --unshallow completes it")
    base = next((name for name in UPSTREAM if git("rev-parse", "--verify", "--quiet", name)), None)
    new = base and git("log", "--no-merges", "--format=%h %s", f"{base}..HEAD")
    if new is None:
        raise Skipped(f"no upstream branch to compare with: none of {', '.join(UPSTREAM)}")
    return [f"commit {commit}: the subject has {len(subject)} characters, more than {SUBJECT_MOST}: {subject}"
            for commit, _, subject in (line.partition(" ") for line in new.splitlines()) if len(subject) > SUBJECT_MOST]


# The slow gates first.
GATES = {"clang-tidy": clang_tidy, "mypy": mypy, "checkpatch": checkpatch, "shellcheck": shellcheck, "ruff": ruff,
         "kernel-doc": kernel_doc, "comments": comments, "editorconfig": editorconfig, "licence": licence,
         "commits": commits}


def timed(gate):
    """Run a gate over the tree; return its findings, the Missing or Skipped that stopped it or None, and its seconds."""
    began = time.monotonic()
    try:
        found, why = GATES[gate](REPO), None
    except (Missing, Skipped) as stopped:
        found, why = [], stopped
    return found, why, time.monotonic() - began


def main(argv):
    unknown = [name for name in argv if name not in GATES]
    if unknown:
        print(f"lint: no gate '{unknown[0]}': name some of {' '.join(GATES)}", file=sys.stderr)
        return 2
    wanted = argv or list(GATES)
    status = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, (found, why, seconds) in zip(wanted, pool.map(timed, wanted)):
            left_out = isinstance(why, Skipped)
            skipped += left_out
            told = f"skipped: {why}" if left_out else why or (f"{len(found)} finding{'s'[:len(found) != 1]}" if found else "ok")
            print(f"{name:13} {seconds:5.1f} s  {told}", flush=True)
            print("".join(f"  {line.replace(f'{REPO}/', '')}\n" for line in found), end="")
            status = max(status, 2 if why and not left_out else 1 if found else 0)
    if skipped:
        print(f"{skipped} gate{'s'[:skipped != 1]} skipped")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
