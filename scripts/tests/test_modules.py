# SPDX-License-Identifier: GPL-2.0
"""Modules are built with the compiler that made the kernel's headers, or with what gcc this machine has."""

import pytest

from dmalign import modules

RELEASE = "6.12.1-amd64"


@pytest.fixture
def headers(tmp_path, monkeypatch):
    """A function that makes headers of what a compiler said of itself, on a machine that has the compilers named."""
    (tmp_path / "include/config").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(modules.kernels, "headers", {RELEASE: tmp_path}.get)
    monkeypatch.setattr(modules, "build", lambda tree, name, sources, arguments: (name, arguments))

    def make(version, *compilers):
        (tmp_path / "include/config/auto.conf").write_text(
            f'CONFIG_64BIT=y\nCONFIG_CC_VERSION_TEXT={version}\nCONFIG_CC_IS_GCC=y\n')
        for name in compilers:
            (tmp_path / "bin" / name).write_text("#!/bin/sh\n")
            (tmp_path / "bin" / name).chmod(0o755)
    return make


def test_the_compiler_of_the_headers_is_left_to_them(headers):
    headers("x86_64-linux-gnu-gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0", "gcc", "x86_64-linux-gnu-gcc-12")
    assert modules.build_for(RELEASE, ["W=1"]) == (f"{RELEASE}-x86_64-linux-gnu-gcc-12", ["W=1"])


def test_without_it_the_machines_own_is_taken(headers):
    headers("gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0", "gcc", "gcc-14")
    assert modules.build_for(RELEASE, ["W=1"]) == (f"{RELEASE}-gcc", ["CC=gcc", "W=1"])


def test_a_compiler_that_is_named_is_taken(headers):
    headers("gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0", "gcc", "gcc-12")
    assert modules.build_for(RELEASE, ["CC=ccache gcc-14"]) == (f"{RELEASE}-gcc-14", ["CC=ccache gcc-14"])
