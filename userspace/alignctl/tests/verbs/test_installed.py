# SPDX-License-Identifier: GPL-2.0
"""What make install puts in place is all that the verbs written in Python need."""

import subprocess

import pytest

from lab.pace import patience
from lab.paths import OUT, REPO

FINE = 0


@pytest.mark.parametrize("arguments", [["verify", "w512", "--on", "DISK", "--modes", "raw", "--count", "3"],
                                       ["probe", "cncread", "DISK", "--depth", "2", "--count", "3"]])
def test_an_installed_verb_in_python_has_all_its_modules(disk, tmp_path, arguments):
    subprocess.run(["make", "-s", "-C", REPO / "userspace/alignctl", f"OUT={OUT}", "install", f"DESTDIR={tmp_path}"],
                   capture_output=True, timeout=patience(120), check=True)
    page = tmp_path / "page.html"
    done = subprocess.run([tmp_path / "usr/local/sbin/alignctl", *(disk if word == "DISK" else word for word in arguments),
                           "--html", page],
                          capture_output=True, text=True, timeout=patience(60), check=False)
    assert done.returncode == FINE and "<svg" in page.read_text(), done.stderr
