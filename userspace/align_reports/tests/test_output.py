# SPDX-License-Identifier: GPL-2.0
"""What the programs print: with names of any bytes, in any encoding."""

import os
import subprocess
import sys

import pytest

from align_reports.machine import execute
from lab.pace import patience


def printed(body, encoding):
    """Run a program whose main() has that body; return status, standard output and standard error."""
    program = f"import sys\nfrom align_reports import output\ndef main(_):\n    {body}\noutput.run('alignctl', main)\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=patience(60), check=False,
                          env={**os.environ, "PYTHONIOENCODING": encoding})
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("encoding, said", [
    ("utf-8:strict", "n\\xff: 2 µs ≤".encode()), ("utf-8:surrogateescape", "n\\xff: 2 µs ≤".encode()),
    ("latin-1", b"n\\xff: 2 \xb5s \\u2264"), ("ascii", b"n\\xff: 2 \\xb5s \\u2264")])
def test_what_a_stream_cannot_encode_is_escaped(encoding, said):
    text = "'n\\udcff: 2 \\u00b5s \\u2264'"
    assert printed(f"print({text}); print({text}, file=sys.stderr); return 1", encoding) == (1, said + b"\n", said + b"\n")


@pytest.mark.parametrize("fault", ["1 / 0", "raise MemoryError"])
def test_a_fault_of_the_program_is_no_finding(fault):
    status, out, said = printed(f"print('half'); {fault}", "utf-8")
    assert (status, out) == (3, b"half\n") and said.startswith(b"Traceback") and said.rstrip().endswith(
        (b"ZeroDivisionError: division by zero", b"MemoryError"))


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_command_may_print_any_bytes(encoding, monkeypatch):
    monkeypatch.setattr("locale.getencoding", lambda: encoding)
    script = r"printf 'n\303\251'; printf 'n\377' >&2"
    assert execute(("sh", "-c", script), whole=False, stderr=subprocess.PIPE) == (0, "né", "n\udcff")
