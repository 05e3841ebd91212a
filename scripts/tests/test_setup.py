# SPDX-License-Identifier: GPL-2.0
"""scripts/setup installs packages that each supported generation of Debian has; scripts/needs, used by the builds, names
missing tools and installs nothing."""

import os
import re
import shutil
import subprocess

import pytest

from lab.pace import patience
from lab.paths import REPO

NEEDS = REPO / "scripts/needs"
LISTS = ("demo", "check", "proof", "deb", "rpm", "images", "upstream")
# Packages with a version that both generations have.
SHARED = {"clang-19", "clang-tidy-19", "lld-19", "llvm-19"}


def needs(*arguments, path=None, like="debian", tmp_path=None):
    environment = dict(os.environ)
    if path:
        environment["PATH"] = str(path)
    if tmp_path:
        (tmp_path / "os-release").write_text(f'ID=sample\nID_LIKE="{like}"\n')
        environment["DM_ALIGN_OS_RELEASE"] = str(tmp_path / "os-release")
    return subprocess.run([NEEDS, *arguments], capture_output=True, text=True, env=environment)


@pytest.fixture
def bare(tmp_path):
    """Make a folder for PATH with basic shell tools, without the tools of a build."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("awk", "bash", "cat", "dirname", "readlink", "uniq", "xargs", "echo"):
        (folder / name).symlink_to(subprocess.run(["which", name], capture_output=True, text=True, check=True).stdout.strip())
    return folder


@pytest.mark.parametrize("name", LISTS)
def test_no_package_name_holds_a_version(name):
    packages = [line for line in (REPO / "scripts/packages" / name).read_text().splitlines() if not line.startswith("#")]
    assert packages
    # For example libclang-rt-14-dev or postgresql-15, which the next generation lacks.
    # A version is a number alone: ntfs-3g has none.
    assert not [package for package in packages if re.search(r"-\d+(\.|-|$)", package) and package not in SHARED]


def test_no_package_stands_in_two_lists():
    lists = [needs("--packages", "alignctl", "drive512e", "modules", like="debian").stdout.split()]
    lists += [[line for line in (REPO / "scripts/packages" / name).read_text().splitlines() if not line.startswith("#")]
              for name in LISTS]
    names = [name for names in lists for name in names if name != "python3"]
    assert len(names) == len(set(names))


def test_a_machine_with_everything_is_told_nothing():
    done = needs("alignctl", "drive512e", "modules")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("like, line", [
    ("debian", "install them with: apt-get install gcc make python3"),
    ("rhel fedora", "install them with: dnf install gcc make python3"),
    ("opensuse suse", "install them with: zypper install gcc make python3"),
    ("arch", "install them with: pacman -S gcc make python"),
])
def test_what_is_missing_is_named_by_the_distributions_own_names(bare, tmp_path, like, line):
    done = needs("modules", path=bare, like=like, tmp_path=tmp_path)
    assert done.returncode == 2
    told = [sorted(words.split()) for words in done.stderr.splitlines()]
    assert told == [sorted(words.split()) for words in [
        "missing on this machine: command:gcc command:make command:python3", line]]


def test_an_unknown_distribution_is_told_the_names_of_all(bare, tmp_path):
    done = needs("alignctl", path=bare, like="unheard-of", tmp_path=tmp_path)
    assert done.returncode == 2
    assert [line.split()[0] for line in done.stderr.splitlines()] == ["missing", "Debian", "Fedora", "openSUSE", "Arch"]


def test_an_unknown_group_is_refused_with_the_known_ones():
    done = needs("everything")
    assert done.returncode == 2 and "alignctl drive512e modules" in done.stderr


def test_the_libraries_of_a_program_are_the_ones_that_it_is_linked_with():
    linked = re.search(r"^PACKAGES := (.*)$", (REPO / "userspace/alignctl/Makefile").read_text(), re.M)[1].split()
    asked = re.findall(r"^alignctl +library:(\S+)", (REPO / "scripts/packages/build").read_text(), re.M)
    assert sorted(asked) == sorted(linked)


@pytest.mark.parametrize("target", ["programs", "modules"])
def test_the_builds_install_nothing(target):
    shown = subprocess.run(["make", "-n", "-C", REPO, target], capture_output=True, text=True, check=True).stdout
    assert "scripts/needs" in shown
    assert "scripts/setup" not in shown and "apt-get" not in shown


@pytest.fixture
def checkout(tmp_path):
    """Return a function that begins "scripts/setup venv" of a checkout with its own requirements, in a cache of this test."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    for name in ("setup", "python"):
        shutil.copy(REPO / "scripts" / name, folder)
    # Taken from nowhere.
    (folder / "requirements.txt").write_text("--no-index\n")

    def begin():
        return subprocess.Popen([folder / "setup", "venv"], env={**os.environ, "DM_ALIGN_CACHE": str(tmp_path / "cache")},
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    begin.requirements = folder / "requirements.txt"
    begin.found = lambda: [path for path in (tmp_path / "cache").glob("venv-*") if (path / "complete").exists()]
    return begin


def ended(process):
    said = process.communicate(timeout=patience(120))[0]
    return process.returncode, said.count("setup: virtual environment ")


@pytest.mark.timeout(300)
def test_two_checkouts_make_one_virtual_environment_and_a_new_one_for_a_new_python(checkout):
    """The second one used to remove that of the first one, whose tests ran already; and an upgrade of Python left one without
    a package."""
    assert sorted(ended(each) for each in [checkout(), checkout()]) == [(0, 0), (0, 1)]
    [made] = checkout.found()
    assert ended(checkout()) == (0, 0)
    [packages] = made.glob("lib/python3.*")
    packages.rename(packages.with_name("python3.2"))
    assert ended(checkout()) == (0, 1) and packages.exists()


@pytest.mark.timeout(300)
def test_a_virtual_environment_that_lacks_a_package_is_not_complete(checkout):
    checkout.requirements.write_text("--no-index\nno-such-package\n")
    status, made = ended(checkout())
    assert status and made == 1 and not checkout.found()


def test_without_a_home_the_cache_must_be_named():
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "DM_ALIGN_CACHE")}
    refused = subprocess.run([REPO / "scripts/python", "--where"], env=environment, capture_output=True, text=True)
    assert refused.returncode and refused.stdout == "" and "HOME: is not set: set it, or DM_ALIGN_CACHE" in refused.stderr
    named = subprocess.run([REPO / "scripts/python", "--where"], env={**environment, "DM_ALIGN_CACHE": "/c"}, capture_output=True,
                           text=True)
    assert named.stdout.startswith("/c/venv-")


# sudo takes the environment away, but for PATH; apt-get writes down what it has. The lists of packages are old.
STAND_INS = {"id": "echo 1000", "dpkg-query": "exit 1", "sudo": 'exec env -i PATH="$PATH" "$@"', "find": ":",
             "apt-get": 'echo "$http_proxy $no_proxy: $*" >>"${0%/*}/called"'}


@pytest.fixture
def set_up(tmp_path):
    """Return a function that runs "scripts/setup deb" with an apt-get that does more; it returns the lines of the calls, too."""
    def run(apt_get=":"):
        for name, text in STAND_INS.items():
            (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n{apt_get if name == 'apt-get' else ''}\n")
            (tmp_path / name).chmod(0o755)
        (tmp_path / "os-release").write_text("ID=debian\n")
        done = subprocess.run([REPO / "scripts/setup", "deb"], capture_output=True, text=True, timeout=patience(60), env={
            **os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "DM_ALIGN_OS_RELEASE": str(tmp_path / "os-release"),
            "http_proxy": "http://proxy.example:3128", "no_proxy": "localhost, example"})
        return done, (tmp_path / "called").read_text().splitlines()
    return run


def test_packages_come_through_the_users_proxy(set_up):
    done, called = set_up()
    assert done.returncode == 0, done.stderr
    assert all(line.startswith("http://proxy.example:3128 localhost, example: -") for line in called)
    assert [line.endswith(" update") for line in called] == [True, False] and " install " in called[1]
    assert "setup: sudo apt-get install -y --no-install-recommends gcc " in done.stdout


def test_another_apt_that_reads_the_lists_is_waited_for(set_up):
    """As that of apt-daily.timer, behind the boot of a new machine."""
    done, called = set_up('[ "$(wc -l <"${0%/*}/called")" -gt 2 ] || '
                          '{ echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7" >&2; exit 100; }')
    assert done.returncode == 0, done.stderr
    assert [line.split()[-1] for line in called[:3]] == 3 * ["update"] and " install " in called[3]


def test_lists_that_cannot_be_read_have_apts_reason(set_up):
    done, called = set_up('echo "E: The repository has no Release file" >&2; exit 100')
    assert done.returncode == 1 and len(called) == 1
    assert done.stderr == "setup: apt-get update: E: The repository has no Release file\n"
