# SPDX-License-Identifier: GPL-2.0
"""
Remedies as the program prints them, followed to the letter. A test that follows one names it as a literal in its call
of follow(), obey() or command_of(), which is how test_remedies.py knows that each remedy of the table has a test.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess

from audited import FINDINGS, FINE
from lab.pace import patience
from lab.paths import OUT

ALIGNCTL = OUT / "bin" / "alignctl"
# What destroys says of a remedy that keeps all content.
KEEPS = "nothing"
QUICK_KEYS = "--pbkdf pbkdf2 --pbkdf-force-iterations 1000"


def findings(*arguments):
    """{(device, finding): its row} of a check."""
    done = subprocess.run([ALIGNCTL, "check", *map(str, arguments), "--json"], text=True, capture_output=True,
                          timeout=patience(60), check=False)
    assert done.returncode in (FINE, FINDINGS), done.stderr
    return {(row["device"], row["finding"]): row for row in json.loads(done.stdout)["findings"]}


def printed(*arguments):
    """What check prints for people."""
    done = subprocess.run([ALIGNCTL, "check", *map(str, arguments)], text=True, capture_output=True, timeout=patience(60),
                          check=False)
    assert done.returncode in (FINE, FINDINGS), done.stderr
    return done.stdout


def shell(command, *, answer="", cwd=None):
    """Run a command as a person would who copies it, with alignctl in the path, and return what it wrote."""
    done = subprocess.run(["sh", "-c", f'PATH="{OUT}/bin:$PATH"; {command}'], text=True, capture_output=True, input=answer,
                          timeout=patience(120), check=False, cwd=cwd)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def hurry_keys(folder, monkeypatch):
    """Put a cryptsetup into the path that makes a key of a passphrase at once: its own way takes seconds of all processors,
    and has no part in where data lies."""
    program = folder / "cryptsetup"
    program.write_text(f'#!/bin/sh\ncase $1 in luksFormat | reencrypt) set -- "$@" {QUICK_KEYS} ;; esac\n'
                       f'exec {shutil.which("cryptsetup")} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def follow(name, device, finding, *arguments, destroys=KEEPS, answer="", again=()):
    """Check, find the remedy of that name for a finding, run its command as printed; the finding must be gone then, or a
    note for a fault, when it is checked again. Return the command."""
    row = findings(*arguments)[device, finding]
    remedy = row["remedy"]
    assert remedy and remedy["name"] == name, row
    assert remedy["destroys"] == destroys
    text = printed(*arguments)
    assert remedy["command"] in text and f"destroys: {destroys}; " in text
    assert ("unmount first" in text) if remedy["unmount"] else ("may stay mounted" in text)
    shell(remedy["command"], answer=answer)
    left = findings(*(again or arguments))
    assert (device, finding) not in left or left[device, finding]["note"] > row["note"], left
    return remedy["command"]


def table():
    """{name: its row} of the table of remedies."""
    done = subprocess.run([ALIGNCTL, "check", "--remedies", "--json"], text=True, capture_output=True, check=True,
                          timeout=patience(60))
    return {row["name"]: row for row in json.loads(done.stdout)["remedies"]}


def command_of(name):
    """The command of a remedy that is the same for every device, to be run elsewhere."""
    return table()[name]["command"]


def obey(name, message, *, answer=""):
    """Find the command of that remedy in what a verb has printed, run it as it stands there, and return what it wrote."""
    # a word is plain, or in single quotes, in which a quote is '\\''
    word = r"(?:'(?:[^']|'\\'')*'|[\w./@%+=:,-]+)"
    parts = re.split(r"\{\w+\}", table()[name]["command"])
    found = re.findall(word.join(map(re.escape, parts)), message)
    assert len(found) == 1, f"{found}: {message}"
    return shell(found[0], answer=answer)


def digest(path, start, length):
    """A hash of bytes of a file or device."""
    with open(path, "rb") as file:
        file.seek(start)
        return hashlib.sha256(file.read(length)).hexdigest()


def followed_in(*sources):
    """The names of the remedies that tests in these files follow."""
    call = re.compile(r"\b(?:follow|obey|command_of)\(\s*\"([\w-]+)\"")
    return {name for source in sources for name in call.findall(source.read_text())}
