# SPDX-License-Identifier: GPL-2.0
"""Each workload of alignctl that writes is one of those whose prediction is compared with the target."""

from rig.predictions import CASES, alignctl


def test_every_workload_is_tried():
    assert {case.name for case in CASES} == \
        {workload["name"] for workload in alignctl("workloads")["workloads"]
         if workload["writes"] and not workload["buffered"]}
