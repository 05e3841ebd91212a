# SPDX-License-Identifier: GPL-2.0
"""zsh's completion asks the program as bash's does: a zsh on a terminal completes a line as it should."""

import os
import pty
import re
import select
import subprocess
import time

import pytest

from alignctl_program import ALIGNCTL
from lab.pace import patience
from lab.paths import REPO

COMPLETION = REPO / "userspace/alignctl/completion/_alignctl"
# Tab, and then a key that writes the line as it stands.
TAB, TELL = b"\t", b"\x18t"
START = """
PS1='ready> ' PS2= LISTMAX=1000
fpath=({folder} $fpath)
autoload -Uz compinit && compinit -u -D
tell() {{ print -r -- "$BUFFER" >>{folder}/lines; zle kill-buffer; zle -R }}
zle -N tell
bindkey '^Xt' tell
print started >>{folder}/lines
"""


class Zsh:
    """A zsh on a terminal that completes lines."""

    def __init__(self, folder, environment):
        self.lines = folder / "lines"
        (folder / "_alignctl").write_text(COMPLETION.read_text())
        (folder / ".zshrc").write_text(START.format(folder=folder))
        self.master, end = pty.openpty()
        self.process = subprocess.Popen(["zsh", "-i"], stdin=end, stdout=end, stderr=end, cwd=folder, start_new_session=True,
                                        env={**environment, "ZDOTDIR": str(folder), "TERM": "dumb",
                                             "PATH": f"{ALIGNCTL.parent}:{os.environ['PATH']}"})
        os.close(end)
        self.shown = b""
        self.read(1)

    def read(self, number):
        """Return line `number` that zsh has written, once it is there."""
        until = time.monotonic() + patience(60)
        while time.monotonic() < until:
            # What is shown must be read, or zsh waits.
            if select.select([self.master], [], [], 0.02)[0]:
                self.shown += os.read(self.master, 4096)
            written = self.lines.read_text().splitlines() if self.lines.exists() else []
            if len(written) >= number:
                return written[number - 1]
        raise AssertionError(f"zsh wrote {number - 1} lines, and showed {self.shown[-2000:]!r}")

    def complete(self, text):
        """Return the line that a tab behind `text` makes."""
        number = len(self.lines.read_text().splitlines()) + 1
        os.write(self.master, text.encode() + TAB + TELL)
        return self.read(number)

    def await_words(self, words):
        """Read what is shown until it has all the words; the line may be written before its list has been read."""
        until = time.monotonic() + patience(60)
        while not words <= set(re.findall(r"\w+", self.shown.decode(errors="replace"))):
            assert time.monotonic() < until, f"zsh does not show {words}, but {self.shown[-2000:]!r}"
            if select.select([self.master], [], [], 0.02)[0]:
                self.shown += os.read(self.master, 4096)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


@pytest.fixture
def zsh(tmp_path, machine):
    folder = tmp_path / "here"
    folder.mkdir()
    shell = Zsh(folder, {**os.environ, "ALIGNCTL_SYSROOT": str(machine[0])})
    yield shell
    shell.close()


def test_a_tab_completes_what_the_program_offers(zsh):
    (zsh.lines.parent / "a trace.csv").touch()
    for typed, completed in [
            ("alignctl repl", "alignctl replay "),
            ("alignctl attach --phys", "alignctl attach --physical "),
            ("alignctl attach --mode coa", "alignctl attach --mode coalesce "),
            # One word here, three in bash.
            ("alignctl attach --mode=coa", "alignctl attach --mode=coalesce "),
            ("alignctl verify --modes raw,coa", "alignctl verify --modes raw,coalesce "),
            ("alignctl attach /dev/sda --name repl", "alignctl attach /dev/sda --name repl"),
            ("alignctl detach al", "alignctl detach align-sda "),
            ("alignctl convert a", r"alignctl convert a\ trace.csv "),
            ("alignctl replay --on=a", r"alignctl replay --on=a\ trace.csv "),
            ("alignctl nothing ", "alignctl nothing ")]:
        assert zsh.complete(typed) == completed, typed


def test_a_tab_lists_what_can_follow(zsh):
    assert zsh.complete("alignctl attach --mode ") == "alignctl attach --mode "
    zsh.await_words({"report", "pad", "coalesce"})
