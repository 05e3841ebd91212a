# SPDX-License-Identifier: GPL-2.0
"""Each case of the KUnit suites is a test here, in User Mode Linux and in QEMU with two processors, on each kernel."""

import functools

import pytest

from lab.plugins import batch
from lab.proof import kunit

CASES = kunit.expected()

results = functools.cache(kunit.run)
# One worker builds a kernel and runs all its tests, so that no other worker waits for the build.
GROUPS = {"um-7.2": f"guest-{batch.UML_7_2}"}
each_kernel = pytest.mark.parametrize("kernel", [
    pytest.param(kernel, marks=pytest.mark.xdist_group(GROUPS.get(kernel, f"kunit-{kernel}"))) for kernel in kunit.of_this_run()])


@each_kernel
@pytest.mark.parametrize("suite, name", CASES)
@pytest.mark.timeout(0)
def test_kunit(kernel, suite, name):
    found, why = results(kernel)
    case = found.get(suite, {}).get(name)
    assert case, f"the case never ran: {why or 'its suite has other cases'}"
    if case.status == "skip":
        pytest.skip(case.detail)
    assert case.status == "ok", case.detail


@each_kernel
@pytest.mark.timeout(0)
def test_the_kernel_found_no_fault_in_itself_and_no_case_is_unknown(kernel):
    found, why = results(kernel)
    assert not why
    assert {(suite, case) for suite in found for case in found[suite]} == set(CASES)


KTAP = """KTAP version 1
1..1
    KTAP version 1
    # Subtest: dm-align-sample
    # module: sample
    1..4
    ok 1 passes
        KTAP version 1
        # Subtest: has_parameters
        ok 1 first
        # has_parameters: EXPECTATION FAILED at sample.c:7
        not ok 2 second
    # has_parameters: pass:1 fail:1 skip:0 total:2
    not ok 2 has_parameters
    ok 3 lacks # SKIP one processor only
    ok 4 ends
# dm-align-sample: pass:2 fail:1 skip:1 total:4
not ok 1 dm-align-sample
"""


def test_results_are_read_as_the_suite_gives_them():
    cases = kunit.parse(KTAP)
    assert {name: case.status for name, case in cases.items()} == {
        "passes": "ok", "has_parameters": "not ok", "lacks": "skip", "ends": "ok"}
    assert "EXPECTATION FAILED at sample.c:7" in cases["has_parameters"].detail
    assert cases["lacks"].detail == "one processor only"


def test_the_sources_tell_which_cases_must_run():
    assert len(CASES) == len(set(CASES)) > 0
    assert all(suite.startswith("dm-align-") for suite, _ in CASES)
