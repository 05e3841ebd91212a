# SPDX-License-Identifier: GPL-2.0
"""Kbuild's answers about a kernel are right, and matter: the opposite answer does not compile."""

import re

import pytest

from lab.linux import gates, kernels, modules
from lab.paths import REPO
from lab.plugins.extent import only_all

PROBES = re.findall(r"defined\(PROBE_(\w+)\)", (REPO / "kmod/compat_probes.c").read_text())
# Features that the target can do without, also on a kernel that has them.
OPTIONAL = {"ATOMIC_WRITES", "BIO_WRITE_HINT", "BIO_WRITE_STREAM", "HW_WZEROES_UNMAP"}


def answers(folder):
    """Return a build's answers about its kernel: {feature: "0" or "1"}."""
    return dict(re.findall(r"#define DM_ALIGN_HAVE_(\w+) ([01])\n", (folder / "compat_probes.h").read_text()))


def build(series, told):
    """Build for a series with given answers in place of probes. Raises modules.BuildFailed."""
    forced = [f"DM_ALIGN_HAVE_{feature}={answer}" for feature, answer in told.items()]
    return gates.compile_with(series, [*gates.GCC, *forced], "probes")


@pytest.fixture(scope="module", params=[
    series if series == kernels.USUAL else only_all("each answer is forced on one kernel", series) for series in kernels.SERIES])
def series(request):
    return request.param


@pytest.fixture(scope="module")
def found(series):
    """Return the answers of a series' headers."""
    return answers(gates.compile_with(series, gates.GCC, "gcc"))


def test_each_question_is_asked(found):
    assert list(found) == PROBES and found["HEADERS"] == "1"


@pytest.mark.check_all("a build with this kernel's answers, and one without all that is optional")
@pytest.mark.parametrize("feature", PROBES)
def test_the_opposite_answer_does_not_compile(series, found, feature):
    opposite = {"0": "1", "1": "0"}[found[feature]]
    if feature in OPTIONAL and opposite == "0":
        pytest.skip("the target can do without it: test_what_is_optional_can_be_missing")
    with pytest.raises(modules.BuildFailed, match="error:"):
        build(series, {**found, feature: opposite})


def test_what_is_optional_can_be_missing(series, found):
    told = {**found, **dict.fromkeys(OPTIONAL, "0")}
    assert answers(build(series, told)) == told
