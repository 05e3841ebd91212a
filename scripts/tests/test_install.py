# SPDX-License-Identifier: GPL-2.0
"""make install puts the program and the module where a system finds them, and make uninstall removes all files."""

import os
import subprocess

import pytest

from lab.linux.kernels import series_of
from lab.paths import OUT, REPO


def make(*arguments):
    # Without the flags and jobs of the make that may run these tests.
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return subprocess.run(["make", "-s", "-C", REPO, *arguments], capture_output=True, text=True, env=environment)


def install(tmp_path, *arguments):
    if not (REPO / "kmod" / "dm-align.ko").exists():
        pytest.skip("kmod/dm-align.ko is not built")
    done = make("install", f"DESTDIR={tmp_path}", *arguments)
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


def test_man_pages_say_the_version(installed):
    version = subprocess.run([REPO / "scripts/version"], capture_output=True, text=True, check=True).stdout.strip()
    pages = sorted((installed / "usr/local/share/man").rglob("*.[1-8]"))
    assert {page.name for page in pages} == {page.name for page in (REPO / "Documentation/man").iterdir()}
    assert all(page.parent.name == f"man{page.suffix[1:]}" for page in pages)
    assert all(f' "dm-align {version}" ' in page.read_text() for page in pages)


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
    assert not (tmp_path / "lib").exists()


def test_a_series_names_the_kernel_as_well(installed):
    series = series_of(next((installed / "lib/modules").iterdir()).name)
    assert make("install", f"DESTDIR={installed}", f"KVER={series}").returncode == 0
    # 6.1 must not match 6.12.
    assert make("install", f"DESTDIR={installed}", f"KVER={series[:-1]}").returncode != 0
