# SPDX-License-Identifier: GPL-2.0
"""make install puts the program and the module where a system finds them, and make uninstall removes all files."""

import os
import shutil
import subprocess

import pytest

from lab.linux.kernels import series_of
from lab.paths import OUT, REPO
from lab.program import version


def make(*arguments, folder=REPO, path=None, **options):
    return subprocess.run(["make", "-s", "-C", folder, *arguments], capture_output=True, text=True,
                          env={**os.environ, "PATH": path or os.environ["PATH"]}, **options)


def install(tmp_path, *arguments, **options):
    if not (REPO / "kmod" / "dm-align.ko").exists():
        pytest.skip("kmod/dm-align.ko is not built")
    done = make("install", f"DESTDIR={tmp_path}", *arguments, **options)
    assert done.returncode == 0, done.stderr
    return tmp_path


@pytest.fixture
def installed(tmp_path):
    return install(tmp_path)


def test_the_module_is_found_by_its_name(installed):
    release = next((installed / "lib/modules").iterdir()).name
    assert (installed / "lib/modules" / release / "updates/dm-align.ko").exists()
    shown = subprocess.run(["/sbin/modinfo", "-b", installed, "-k", release, "-F", "filename", "dm-align"],
                           capture_output=True, text=True)
    assert "updates/dm-align.ko" in shown.stdout, shown.stderr


def test_the_programs_are_there(installed):
    here = subprocess.run([OUT / "bin/alignctl", "--version"], capture_output=True, text=True)
    there = subprocess.run([installed / "usr/local/sbin/alignctl", "--version"], capture_output=True, text=True)
    assert there.returncode == 0 and there.stdout == here.stdout


def test_the_python_that_is_named_last_is_that_of_the_programs(tmp_path):
    """A build has named one, and then the install another one or none."""
    built = tmp_path / "build/alignctl/base/python.o"
    for words, python in ((["REPORTS_PYTHON=/usr/bin/one"], b"/usr/bin/one"), (["REPORTS_PYTHON=/usr/bin/two"], b"/usr/bin/two"),
                          ([], b"/usr/bin/two")):
        done = make(f"OUT={tmp_path}", *words, built, folder=REPO / "userspace/alignctl")
        assert done.returncode == 0, done.stderr
        assert python + b"\0" in built.read_bytes()


def test_man_pages_say_the_version(installed):
    told = f' "dm-align {version()}" '
    pages = sorted((installed / "usr/local/share/man").rglob("*.[1-8]"))
    assert {page.name for page in pages} == {page.name for page in (REPO / "Documentation/man").iterdir()}
    assert all(page.parent.name == f"man{page.suffix[1:]}" for page in pages)
    assert all(told in page.read_text() for page in pages)


def test_the_records_of_drives_are_where_systemd_looks(tmp_path):
    """It looks for none below /usr/local."""
    done = make("install", f"OUT={OUT}", f"DESTDIR={tmp_path}", folder=REPO / "userspace/alignctl")
    assert done.returncode == 0, done.stderr
    (tmp_path / "lib").symlink_to("usr/lib")
    (tmp_path / "etc/udev").mkdir(parents=True)
    subprocess.run(["systemd-hwdb", "--root", tmp_path, "--strict", "update"], check=True)
    assert b"ALIGNCTL_RATED_TBW" in (tmp_path / "etc/udev/hwdb.bin").read_bytes()


def test_both_shells_complete(installed):
    share = installed / "usr/local/share"
    assert (share / "bash-completion/completions/alignctl").exists() and (share / "zsh/site-functions/_alignctl").exists()


def content(folder):
    return {path.relative_to(folder): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("room", ["ansible", "monitoring"])
def test_what_other_programs_read_is_there_by_its_name(installed, room):
    assert content(installed / "usr/local/share/alignctl" / room) == content(REPO / "scripts/packaging" / room)


def test_nbdkit_finds_the_plugin_by_its_name_where_it_has_the_same_prefix(tmp_path):
    where = {name: subprocess.run(["pkg-config", f"--variable={name}", "nbdkit"], capture_output=True, text=True,
                                  check=True).stdout.strip() for name in ("prefix", "plugindir")}
    install(tmp_path, f"PREFIX={where['prefix']}")
    assert (tmp_path / where["plugindir"].lstrip("/") / "nbdkit-drive512e-plugin.so").exists()


@pytest.mark.parametrize("arguments", [[], ["PREFIX=/usr"]])
def test_uninstall_leaves_no_file(tmp_path, arguments):
    installed = install(tmp_path, *arguments)
    done = make("uninstall", f"DESTDIR={installed}", *arguments)
    assert done.returncode == 0, done.stderr
    left = [path for path in installed.rglob("*") if path.is_file() and not path.name.startswith("modules.")]
    assert not left


def test_a_module_for_another_kernel_is_not_installed(tmp_path):
    done = make("install", f"DESTDIR={tmp_path}", "KVER=1.2.3-none")
    assert done.returncode != 0
    assert "make modules KVER=1.2.3-none" in done.stderr
    assert not list(tmp_path.iterdir()), "the programs are installed, and the module is not"


def test_a_user_without_sbin_in_the_path_installs_below_a_folder(tmp_path):
    """As Debian's users: kmod's programs are in sbin."""
    path = ":".join(folder for folder in os.environ["PATH"].split(":") if not folder.rstrip("/").endswith("sbin"))
    if shutil.which("depmod", path=path):
        pytest.skip("sbin and bin are one folder here")
    assert (next((install(tmp_path, path=path) / "lib/modules").iterdir()) / "updates/dm-align.ko").exists()


def test_everybody_may_read_what_is_installed_whatever_the_umask_is(tmp_path):
    installed = install(tmp_path / "installed", preexec_fn=lambda: os.umask(0o077))
    found = [*installed.rglob("*")]
    assert len(found) > 50
    assert not [path for path in found if path.stat().st_mode & 0o044 != 0o044 or path.is_dir() and not path.stat().st_mode & 1]


def test_a_relative_destdir_is_one_folder(tmp_path):
    relative = os.path.relpath(tmp_path, REPO)
    assert install(relative) and make("uninstall", f"DESTDIR={relative}").returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == {"lib", "usr"}
    for program in ("alignctl", "drive512e"):
        folder = REPO / "userspace" / program
        done = make("install", f"OUT={OUT}", f"DESTDIR={os.path.relpath(tmp_path, folder)}", folder=folder)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "usr/local/sbin/alignctl").exists() and (tmp_path / "usr/local/lib/nbdkit/plugins").exists()
    assert list((tmp_path / "usr/local/share/alignctl/align_reports").glob("*.py"))


@pytest.mark.parametrize("folder", [".", "userspace/alignctl", "userspace/drive512e"])
@pytest.mark.parametrize("name, value", [("DESTDIR", "{}/my dir"), ("PREFIX", "{}/my dir")])
def test_uninstall_removes_nothing_of_a_name_that_a_blank_cuts_off(tmp_path, folder, name, value):
    (tmp_path / "my").mkdir()
    (tmp_path / "my/precious").touch()
    done = make("uninstall", f"OUT={OUT}", f"{name}={value.format(tmp_path)}", folder=REPO / folder)
    assert done.returncode == 2 and f"{name}='{value.format(tmp_path)}': has a blank" in done.stderr, done.stderr
    assert (tmp_path / "my/precious").exists()


def bare(tree):
    """Make a tree of no more than what make reads first; return it."""
    for name in ("Makefile", "userspace/install.mk", "scripts/lab/linux/kernels.py"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPO / name, tree / name)
    return tree


def test_an_install_without_a_module_says_only_how_it_is_made(tmp_path):
    done = make("install", f"DESTDIR={tmp_path}/installed", folder=bare(tmp_path / "tree"))
    assert done.returncode == 2
    assert [line for line in done.stderr.splitlines() if not line.startswith("make: ***")] == [
        "kmod/dm-align.ko does not exist: run make modules"]


def test_a_tree_in_a_folder_with_a_blank_is_refused_with_the_reason(tmp_path):
    tree = bare(tmp_path / "a b")
    done = make("programs", folder=tree)
    assert done.returncode == 2 and f"{tree}: has a blank; move the tree" in done.stderr


def test_a_series_names_the_kernel_as_well(installed):
    series = series_of(next((installed / "lib/modules").iterdir()).name)
    assert make("install", f"DESTDIR={installed}", f"KVER={series}").returncode == 0
    # 6.1 must not match 6.12.
    assert make("install", f"DESTDIR={installed}", f"KVER={series[:-1]}").returncode != 0
