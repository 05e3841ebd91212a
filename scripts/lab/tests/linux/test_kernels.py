# SPDX-License-Identifier: GPL-2.0
"""Kernels and their origin: apt's sources, the names of packages, series and releases, the series of a run."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab.linux import archive, kernels, modules
from lab.paths import REPO, commit

DEB822 = """\
Types: deb deb-src
# a note in between
URIs: http://mirror.example/debian/
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
"""
SWITCHED_OFF = "Enabled: no\nTypes: deb\nURIs: http://off.example/debian\nSuites: bookworm\nComponents: main\n"
ONE_LINE = """\
# deb http://comment.example/debian bookworm main
deb-src http://source.example/debian bookworm main
deb cdrom:[Debian 12]/ bookworm main
deb [arch=amd64 signed-by=/usr/share/keyrings/nodesource.gpg] https://node.example/node bookworm main
deb https://docker.example/debian bookworm stable
deb [arch=amd64] http://lines.example/debian bookworm main non-free # the next one is like it
deb http://lines.example/debian-security bookworm-security main
"""


@pytest.mark.parametrize("files, found", [
    ({"sources.list.d/debian.sources": DEB822}, ("http://mirror.example/debian", "http://mirror.example/debian-security")),
    ({"sources.list": ONE_LINE}, ("http://lines.example/debian", "http://lines.example/debian-security")),
    ({"sources.list": ONE_LINE.splitlines()[5], "sources.list.d/debian.sources": DEB822},
     ("http://lines.example/debian", "http://mirror.example/debian-security")),
    ({"sources.list.d/debian.sources": SWITCHED_OFF}, (archive.MIRROR, archive.SECURITY)),
    ({"sources.list.d/more.list": "deb mirror+file:/etc/apt/mirrors/debian.list trixie main\n"},
     ("mirror+file:/etc/apt/mirrors/debian.list", archive.SECURITY)),
    ({}, (archive.MIRROR, archive.SECURITY)),
], ids=["deb822", "lines", "both", "switched-off", "mirror-list", "none"])
def test_the_mirror_is_the_machines_own(files, found, tmp_path):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert archive.mirrors(tmp_path) == found


def test_a_generation_has_its_suites_at_both_mirrors():
    lines = archive.sources("bookworm", ("http://a/debian", "http://b/security")).splitlines()
    assert [line.split("] ")[1] for line in lines] == [
        "http://a/debian bookworm main", "http://a/debian bookworm-updates main", "http://b/security bookworm-security main"]
    assert all(f"signed-by={archive.KEYRING} target=Packages" in line for line in lines)
    assert "security" not in archive.sources("forky", ("http://a/debian", "http://b/security"))


NAMES = [f"{{}}-{release}{rest}" for release in (
    "6.1.0-9-amd64", "6.1.0-56-amd64", "6.1.0-57-rt-amd64", "6.1.0-57-cloud-amd64", "6.12.9+deb12-amd64",
    "6.12.117+deb12-amd64", "7.2.12+deb14-amd64", "7.2.13+deb14-cloud-amd64") for rest in ("", "-dbg", "-unsigned")]


@pytest.mark.parametrize("series, release", [
    ("6.1", "6.1.0-56-amd64"), ("6.12", "6.12.117+deb12-amd64"), ("7.2", "7.2.12+deb14-amd64"), ("7.3", None)])
def test_the_newest_release_of_a_series_is_found_among_the_packages(series, release):
    images = [name.format("linux-image") for name in NAMES]
    headers = [name.format("linux-headers") for name in NAMES]
    assert kernels.newest(series, images, headers) == release
    assert kernels.newest(series, images, []) is None


def test_a_release_without_headers_is_not_taken():
    assert kernels.newest("7.2", ["linux-image-7.2.12+deb14-amd64", "linux-image-7.2.13+deb14-amd64"],
                          ["linux-headers-7.2.12+deb14-amd64"]) == "7.2.12+deb14-amd64"


@pytest.mark.parametrize("own, where", [("bookworm", "bookworm"), ("trixie", "trixie"), ("forky", "bookworm"),
                                        (None, "bookworm")])
def test_a_series_of_two_generations_is_the_machines_own(own, where, monkeypatch):
    monkeypatch.setattr(archive, "own_generation", lambda: own)
    assert kernels._series_origin("6.12").name == where
    assert kernels._series_origin("7.2").name == "forky"


class Generation:
    """A generation that has some kernels, or cannot be reached, and records each request."""

    def __init__(self, name, releases, asked):
        self.name, self.releases, self.asked = name, releases, asked

    def names(self, prefix):
        self.asked.append(self.name)
        if self.releases is None:
            raise archive.Unreachable(f"Debian {self.name} cannot be read: no network")
        return [name for release in self.releases if (name := f"linux-headers-{release}").startswith(prefix)]


@pytest.fixture
def world(monkeypatch, tmp_path):
    """Return a function that sets the releases of each generation and returns the list of requested generations."""
    def make(**releases):
        asked = []
        made = {name: Generation(name, releases.get(name, ()), asked) for name in archive.GENERATIONS}
        monkeypatch.setattr(kernels, "generation", made.get)
        return asked

    monkeypatch.setattr(archive, "own_generation", lambda: "bookworm")
    for name in ("CACHE", "STAMP"):
        monkeypatch.setattr(kernels, name, tmp_path / name)
    kernels.origin.cache_clear()
    kernels._stamp.cache_clear()
    yield make
    kernels.origin.cache_clear()
    kernels._stamp.cache_clear()


@pytest.mark.parametrize("release, where, asked", [
    ("6.12.9+deb12-amd64", "bookworm", ["bookworm"]),
    ("6.12.9+deb13-amd64", "trixie", ["bookworm", "trixie"]),
    ("7.2.12+deb14-amd64", "forky", ["forky"])])
def test_a_release_is_looked_for_first_where_its_series_is(release, where, asked, world):
    told = world(bookworm=["6.12.9+deb12-amd64"], trixie=["6.12.9+deb13-amd64"], forky=["7.2.12+deb14-amd64"])
    assert kernels.origin(release).name == where
    assert told == asked


def test_a_release_that_nobody_has_is_told_in_one_line(world, capsys):
    world()
    with pytest.raises(SystemExit):
        kernels.build_folder("6.12.9+deb13-amd64")
    told = capsys.readouterr().err
    assert told.startswith("dm-align: no headers for kernel 6.12.9+deb13-amd64: Debian's archive") and told.count("\n") == 1


def test_a_release_stands_for_itself(world):
    asked = world()
    assert kernels.release("6.12.9+deb13-amd64") == "6.12.9+deb13-amd64" and not asked


def known(series, release, asked, tmp_path):
    for kind in ("kernels", "headers"):
        (tmp_path / "CACHE" / kind / release).mkdir(parents=True)
    (tmp_path / "STAMP").write_text(f"{series} {release} {release}{asked}\n")


def test_a_fresh_cache_asks_nobody(world, tmp_path):
    asked = world()
    known("7.2", "7.2.12+deb14-amd64", f" {int(time.time())} 7.2.12-1", tmp_path)
    kernels.fetch(["7.2"])
    assert kernels.release("7.2") == "7.2.12+deb14-amd64" and not asked


@pytest.mark.parametrize("asked", ["", " 1000 7.2.12-1"], ids=["never-noted", "long-ago"])
def test_without_network_the_cache_serves(asked, world, tmp_path, capsys):
    told = world(forky=None)
    known("7.2", "7.2.12+deb14-amd64", asked, tmp_path)
    kernels.fetch(["7.2"])
    kernels.fetch(["7.2"])
    assert kernels.release("7.2") == "7.2.12+deb14-amd64" and told == ["forky"]
    assert capsys.readouterr().err == (
        "dm-align: Debian forky cannot be read: no network; kernel 7.2 stays 7.2.12+deb14-amd64, from the cache\n")


def test_without_network_and_cache_the_way_out_is_told(world, capsys, tmp_path):
    world(forky=None)
    (tmp_path / "CACHE").mkdir()
    with pytest.raises(SystemExit):
        kernels.fetch(["7.2"])
    assert capsys.readouterr().err == ("dm-align: no kernel 7.2: Debian forky cannot be read: no network; try again, or do "
                                       'without: DM_ALIGN_KERNELS="6.1 6.12"\n')


def test_the_cache_of_an_earlier_version_is_read():
    before, now = kernels.Known.parse(["a", "b"]), kernels.Known.parse(["a", "b", "12", "7.2.12-1"])
    assert (before.image, before.headers, before.asked, before.source) == ("a", "b", 0, "")
    assert kernels.Known.parse(str(before).split()) == before and kernels.Known.parse(str(now).split()) == now


def test_the_compiler_is_the_one_that_the_headers_name(tmp_path):
    assert kernels.compiler(tmp_path) == "gcc"
    (tmp_path / ".kernelvariables").write_text("CCACHE = ccache\nCC = $(if $(X),$(CCACHE)) $(CROSS_COMPILE)gcc-16\n")
    assert kernels.compiler(tmp_path) == "gcc-16"


def test_headers_whose_programs_or_compiler_do_not_run_here_are_not_usable(tmp_path):
    (tmp_path / "scripts/mod").mkdir(parents=True)
    here = subprocess.run(["gcc", "-dumpversion"], capture_output=True, text=True, check=True).stdout.strip()
    (tmp_path / ".kernelvariables").write_text(f"CC = gcc-{here}\n")
    modpost = tmp_path / "scripts/mod/modpost"
    modpost.write_bytes(Path("/bin/true").read_bytes())
    modpost.chmod(0o755)
    assert kernels.usable(tmp_path)
    # Stands for a program of a later generation, which needs a version of the C library that this machine lacks.
    modpost.write_bytes(modpost.read_bytes().replace(b"libc.so.6", b"libc.so.9"))
    assert not kernels.usable(tmp_path)
    modpost.unlink()
    (tmp_path / ".kernelvariables").write_text("CC = gcc-99\n")
    assert not kernels.usable(tmp_path)


@pytest.mark.parametrize("arguments, named", [
    (["LLVM=1"], None), (["LLVM=-19"], "-19"), (["CC=clang"], None), (["CC=clang-17", "W=1"], "-17")])
def test_a_named_clang_is_taken(arguments, named):
    assert modules.llvm_named(arguments) == named


@pytest.mark.parametrize("least, there, wanted", [
    (13, ["clang"], "1"), (17, ["clang", "clang-19", "ld.lld-19", "llvm-ar-19"], "-19"),
    (17, ["clang", "clang-18", "ld.lld-18", "llvm-ar-18", "clang-20", "clang-16", "ld.lld-16", "llvm-ar-16"], "-18"),
    (17, ["clang"], None)])
def test_the_default_clang_is_taken_unless_the_kernel_refuses_it(least, there, wanted, tmp_path, monkeypatch, capsys):
    (tmp_path / "scripts").mkdir()
    for path, text in [(tmp_path / "scripts/min-tool-version.sh", f"echo {least}.0.1"),
                       *((tmp_path / name, "echo 14.0.6") for name in there)]:
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    if wanted:
        assert modules.llvm_for(tmp_path) == wanted
    else:
        with pytest.raises(SystemExit):
            modules.llvm_for(tmp_path)
        assert "needs clang 17 or later: apt-get install clang-N lld-N llvm-N" in capsys.readouterr().err


# ---- the series of a run ----

@pytest.mark.parametrize("named, chosen", [
    (None, kernels.SERIES), ("", kernels.SERIES), ("7.2 6.1", ("6.1", "7.2")), ("6.12,7.2", ("6.12", "7.2"))])
def test_a_run_is_for_the_series_that_are_named(named, chosen, monkeypatch):
    monkeypatch.delenv(kernels.VARIABLE, raising=False)
    if named is not None:
        monkeypatch.setenv(kernels.VARIABLE, named)
    assert kernels.chosen() == chosen


REFUSAL = "DM_ALIGN_KERNELS=6.12 6.13: unknown kernel 6.13; name some of 6.1 6.12 7.2"


@pytest.mark.parametrize("command", [
    [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "kmod/tests/guest"],
    [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", "2", "kmod/tests/guest"],
    ["make", "-s", "check", "KERNELS=6.12 6.13"]], ids=["pytest", "workers", "make"])
def test_an_unknown_kernel_is_refused_in_one_line(command):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "MAKE"))}
    done = subprocess.run(command, cwd=REPO, env={**environment, kernels.VARIABLE: "6.12 6.13"}, capture_output=True, text=True)
    told = [line for line in (done.stdout + done.stderr).splitlines() if line]
    assert done.returncode and REFUSAL in told[0], done.stdout + done.stderr
    # make adds a line with the failed target.
    assert len([line for line in told if not line.startswith("make")]) == 1


@pytest.mark.parametrize("name", kernels.CHANGES)
def test_each_change_of_user_mode_linux_is_made_where_its_text_stands(tmp_path, name):
    """A kernel without the file, or with another text, stays as it is."""
    kernels.change(tmp_path)
    assert not list(tmp_path.iterdir())
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    for before, after in (tuple(map("\n".join, zip(*kernels.CHANGES[name]))), ("another text",) * 2):
        path.write_text(before)
        kernels.change(tmp_path)
        assert path.read_text() == after


@pytest.mark.parametrize("name", kernels.CHANGES)
def test_the_source_of_the_usual_user_mode_linux_has_each_change(name):
    text = (kernels.fetch_source(kernels.USUAL) / name).read_text()
    assert all(after in text for _, after in kernels.CHANGES[name])


# ---- a machine that lacks a program ----

def test_a_machine_without_apt_is_told_so(tmp_path, monkeypatch):
    """Where other distributions ask for one of Debian's kernels."""
    monkeypatch.setattr(archive, "CACHE", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(archive.Unreachable, match="Debian bookworm cannot be read: this machine has no apt-get"):
        archive.Generation("bookworm").names("linux-image-6.12.")


def test_no_build_needs_git(tmp_path, monkeypatch):
    """The tarball of a release is built where git may not be installed; the matrix notes a commit."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit() == "unknown"
