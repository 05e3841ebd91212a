# SPDX-License-Identifier: GPL-2.0
"""scripts/setup asks for packages that each supported generation of Debian has."""

import re

import pytest

from lab.paths import REPO

# Versions that both generations have.
SHARED = {"clang-19", "lld-19", "llvm-19"}


@pytest.mark.parametrize("name", ["packages.txt", "packages-proof.txt"])
def test_no_package_name_holds_a_version(name):
    packages = [line for line in (REPO / "scripts" / name).read_text().splitlines() if not line.startswith("#")]
    assert packages
    # As libclang-rt-14-dev or postgresql-15, which the next generation has no more.
    assert not [package for package in packages if re.search(r"-\d", package) and package not in SHARED]
