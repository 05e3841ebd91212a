# SPDX-License-Identifier: GPL-2.0
"""The workloads are the published ones, and cost the touches worked out by hand."""

import pytest

from lab.demo.workloads import BY_NAME, touches


@pytest.mark.parametrize("offset, length, first_boundary, expected", [
    (0, 4096, 0, 0),
    (0, 8192, 0, 0),
    (0, 512, 0, 1),
    (3584, 512, 0, 1),
    (1024, 512, 0, 1),
    (512, 4096, 0, 2),
    (3584, 1024, 0, 2),
    (3584, 4096 + 512, 0, 1),
    (4096, 4608, 0, 1),
    (3584, 4096, 3584, 0),
    (0, 4096, 3584, 2),
    (0, 512, 3584, 1),
])
def test_a_write_touches_the_blocks_it_covers_in_part(offset, length, first_boundary, expected):
    assert touches(offset, length, 4096, first_boundary) == expected


@pytest.mark.parametrize("name, expected", [
    ("w512", 20000), ("w4096", 0), ("w4096_512", 40000), ("w136k", 10000), ("w4k_132k", 20000),
])
def test_published_counts_give_the_published_touches(name, expected):
    workload = BY_NAME[name]
    assert workload.touches_expected(workload.published_count) == expected


def test_the_two_streams_write_the_same_bytes():
    whole, pairs = BY_NAME["w136k"], BY_NAME["w4k_132k"]
    assert whole.bytes_written(100) == pairs.bytes_written(100)
    assert whole.span(100) == pairs.span(100)
    assert pairs.requests(100) == 2 * whole.requests(100)


def test_streams_have_no_gap_and_no_overlap():
    for name in ("w136k", "w4k_132k"):
        at = 3584
        for offset, length in BY_NAME[name].writes(10):
            assert offset == at
            at += length
