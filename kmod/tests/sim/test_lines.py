# SPDX-License-Identifier: GPL-2.0
"""Lines of memory that CPUs share: an aligned write dirties none of them where no block is in memory, and few where one is."""

import pytest

from sim.programs import CLEAN, VIOLATION, build_with_changes, sim

COUNTED = "void align_io_count_whole(struct align_io *io)\n{\n"
# In a busy area a write takes the lock of a shard and hangs its range into a tree there: MOST_BUSY of scenes_lines.c.
DIRTY = {
    "lines_of_write(6) is 1": [("account.c", COUNTED, COUNTED + "\tWRITE_ONCE(io->at->index, io->at->index);\n")],
    "lines_of_write(6) is 2": [("turn.c", "\tINIT_LIST_HEAD(&io->write.wait);\n",
                                "\tINIT_LIST_HEAD(&io->write.wait);\n\tatomic_inc(&at->engine.delay.writes);\n"
                                "\tatomic_dec(&at->engine.delay.writes);\n")],
}


def scenes(out):
    return sim(out, "--seed", 1, "--focus", "scenes", "--lives", 3, program="sim-accesses")


def test_an_aligned_write_dirties_no_line_that_cpus_share(searching):
    status, output = scenes(searching)
    assert status == CLEAN, output[-2000:]


@pytest.mark.check_all("two faults that scenes see")
@pytest.mark.parametrize("told", DIRTY)
def test_a_line_that_is_dirtied_is_seen(searching, linux, tmp_path, told):
    status, output = scenes(build_with_changes(searching, linux, tmp_path, DIRTY[told], "ACCESSES=1"))
    assert status == VIOLATION and "scene lines" in output and told in output, output[-2000:]
