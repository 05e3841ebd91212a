# SPDX-License-Identifier: GPL-2.0
"""make dist writes a tarball of the tree that is the same bytes on each machine, and the version stands in one place."""

import hashlib
import os
import re
import shutil
import subprocess
import tarfile

import pytest

from lab.pace import patience
from lab.paths import REPO
from lab.program import output as run, version

# One tarball for all tests.
pytestmark = pytest.mark.xdist_group("dist")
DEBIAN = REPO / "scripts/packaging/debian"
SPEC = REPO / "scripts/packaging/rpm/dm-align.spec"
VERSION = version()


def dist(tree, folder, **options):
    return run(tree / "scripts/dist", folder, **options)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the tarball of the tree."""
    folder = tmp_path_factory.mktemp("dist")
    assert dist(REPO, folder) == f"{folder}/dm-align-{VERSION}.tar.gz\n"
    return folder / f"dm-align-{VERSION}.tar.gz"


@pytest.fixture(scope="module")
def unpacked(made, tmp_path_factory):
    """Return the tree that is in the tarball, as a user with another umask unpacks it, with other times."""
    folder = tmp_path_factory.mktemp("a-folder-of-another-length")
    run("sh", "-c", 'umask 077 && tar -C "$1" --no-same-permissions -xmf "$2"', "sh", folder, made)
    return folder / f"dm-align-{VERSION}"


def test_it_holds_every_tracked_file(made):
    done = subprocess.run(["git", "ls-files", "-z"], cwd=REPO, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a git checkout: what belongs to the tree is not known")
    wanted = set(done.stdout.split("\0")) - {""}
    with tarfile.open(made) as tar:
        members = tar.getmembers()
    assert {member.name.removeprefix(f"dm-align-{VERSION}/") for member in members} == wanted
    assert {(member.uid, member.gid, member.uname, member.mtime) for member in members} \
        == {(0, 0, "", int(run(REPO / "scripts/version", "--epoch")))}
    assert {member.mode for member in members} == {0o644, 0o755}


def test_the_checksum_is_that_of_the_tarball(made):
    assert (made.parent / "SHA256SUMS").read_text() == f"{hashlib.sha256(made.read_bytes()).hexdigest()}  {made.name}\n"


def test_the_same_bytes_come_from_the_tarball_itself(made, unpacked, tmp_path):
    """Without git, in another folder, with another umask, language and time zone, beside what builds and tests leave."""
    for name in ("out/bin/alignctl", "scripts/lab/__pycache__/lint.pyc", "kmod/dm-align.ko", ".ruff_cache/one"):
        (unpacked / name).parent.mkdir(parents=True, exist_ok=True)
        (unpacked / name).write_text("")
    run("sh", "-c", 'umask 077 && exec "$0" "$1"', unpacked / "scripts/dist", tmp_path,
        env={**os.environ, "LC_ALL": "", "LANG": "de_DE.UTF-8", "TZ": "Pacific/Chatham", "GZIP": "-1", "TAR_OPTIONS": "--sparse"})
    assert (tmp_path / made.name).read_bytes() == made.read_bytes()


def test_two_at_once_write_the_same_bytes(made, tmp_path):
    both = [subprocess.Popen([REPO / "scripts/dist", tmp_path], stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [one.wait(patience(60)) for one in both] == [0, 0]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} \
        == {path.name: path.read_bytes() for path in made.parent.iterdir()}


def test_the_date_of_the_files_can_be_given(unpacked, tmp_path):
    dist(unpacked, tmp_path, env={**os.environ, "SOURCE_DATE_EPOCH": "86400"})
    with tarfile.open(tmp_path / f"dm-align-{VERSION}.tar.gz") as tar:
        assert {member.mtime for member in tar} == {86400}


def test_what_the_tarball_has_can_be_built(unpacked, tmp_path):
    """The plugin as a whole, as it is small; of alignctl, all sources are there."""
    run("make", "-s", "-C", unpacked / "userspace/drive512e", f"OUT={tmp_path}", "all")
    assert f"\nversion={VERSION}\n" in run("nbdkit", tmp_path / "bin/drive512e.so", "--dump-plugin")
    run("make", "-s", "-n", "-C", unpacked / "userspace/alignctl", f"OUT={tmp_path}", "all")


def test_a_warning_of_another_compiler_ends_the_build_in_a_checkout_only(unpacked, tmp_path):
    build = ["-s", f"OUT={tmp_path}", "CC=gcc -Wpadded", tmp_path / "build/drive512e/plugin.o"]
    run("make", "-C", unpacked / "userspace/drive512e", *build)
    (tmp_path / "build/drive512e/plugin.o").unlink()
    for program in ("alignctl", "drive512e"):
        commands = run("make", "-n", "-B", "-C", REPO / "userspace" / program, f"OUT={tmp_path}", "all")
        compiled = [line for line in commands.splitlines() if " -c -o " in line]
        assert len(compiled) > 10 and all((" -Werror " in line) == (REPO / ".git").exists() for line in compiled)


def test_the_version_is_told_by_one_file(unpacked, tmp_path):
    """With another version there, programs, man pages, tarball and packages follow."""
    tree = tmp_path / "tree"
    shutil.copytree(unpacked, tree)
    source = tree / "kmod/version.c"
    source.write_text(source.read_text().replace(f'"{VERSION}"', '"77.8"'))
    assert run(tree / "scripts/version") == "77.8\n"
    assert dist(tree, tmp_path / "dist").endswith("/dm-align-77.8.tar.gz\n")
    commands = run("make", "-n", "-C", tree / "userspace/alignctl", f"OUT={tmp_path}", "install")
    assert "-DALIGNCTL_VERSION='\"77.8\"'" in commands
    assert commands.count('"dm-align 77.8"') == len(list(tree.glob("Documentation/man/align*")))
    assert '"dm-align 77.8"' in run("make", "-n", "-C", tree / "userspace/drive512e", f"OUT={tmp_path}", "install")


def test_packages_and_man_pages_have_a_place_for_the_version_and_no_number():
    assert re.match(r"dm-align \(@VERSION@(-\d+)?\) ", (DEBIAN / "changelog").read_text())
    spec = SPEC.read_text()
    assert re.findall(r"^Version: *(.*)$", spec, re.M) == ["@VERSION@"]
    assert re.search(r"^%changelog\n\* .* - @VERSION@-\d+$", spec, re.M)
    assert 'PACKAGE_VERSION="#MODULE_VERSION#"\n' in (REPO / "scripts/packaging/dkms/dkms.conf").read_text()
    pages = sorted((REPO / "Documentation/man").iterdir())
    assert len(pages) > 2
    for page in pages:
        assert re.search(r"^\.TH \S+ \d \S+ dm-align ", page.read_text(), re.M), page


def test_the_news_know_the_version_and_its_date():
    titles = re.findall(r"^([^\n]+)\n=+\n", (REPO / "NEWS").read_text(), re.M)
    released = [title for title in titles if title != "Unreleased"]
    date = re.search(r"^ -- .*>  (.*)$", (DEBIAN / "changelog").read_text(), re.M)[1]
    day = run("date", "-u", "+%Y-%m-%d", "-d", date).strip()
    assert released[0] == f"{VERSION} ({day})" and titles[1:] == released[titles[0] != "Unreleased":]


def test_a_proof_of_the_tarball_says_what_it_lacks(unpacked):
    done = subprocess.run([unpacked / "scripts/proof", "orders"], capture_output=True, text=True, timeout=patience(60))
    assert (done.returncode, done.stdout) == (2, "") and done.stderr == \
        f"scripts/proof: {unpacked}: is no git checkout, and git has to say which sources a part is about: run git init there\n"
