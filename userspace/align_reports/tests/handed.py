# SPDX-License-Identifier: GPL-2.0
"""The arguments of a command as alignctl hands them to its program, which is not started."""

import json
import os
from pathlib import Path

from align_reports import given
from alignctl_program import alignctl

PRINT = Path(__file__).with_name("print_given")


def started(verb, *words):
    """Return the program that alignctl starts for the words, and what it hands over; (None, None): it has refused them.

    Without the process that reads for it, which has gone.
    """
    done = alignctl(verb, *words, env={**os.environ, "ALIGNCTL_PYTHON": str(PRINT)})
    assert done.returncode in (0, 2), done.stderr
    if done.returncode:
        return None, None
    # behind warnings
    found = json.loads(done.stderr.splitlines()[-1])
    found["given"].pop("reader", None)
    return found["program"], found["given"]


def handed(verb, *words):
    """Return what alignctl hands over for words that it takes."""
    program, members = started(verb, *words)
    assert program
    return members


def taken(command, verb, *words, **more):
    """Return the arguments as the program has them, with members that alignctl has only while it lives."""
    program, members = started(verb, *words)
    assert command.__name__ == f"align_reports.{program}.command"
    return given.of(command.Given, {**members, **more})


def left(members):
    """Return a descriptor of a file in memory with the arguments, as a program takes it on its command line."""
    descriptor = os.memfd_create("arguments")
    os.write(descriptor, json.dumps(members).encode())
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
