# SPDX-License-Identifier: GPL-2.0
"""A read of held_oldest_ms looks at the held blocks of all tables; a table waits for it before it goes."""

import contextlib
import subprocess
import sys

import pytest

from rig.direct import Disk, flush_fails, pattern
from rig.dm import Align, sectors_of
from rig.witness import eventually

BLOCK = 8
# Enough that a table takes some time to drop them.
HELD = 1500
ROUNDS = 2
READERS = 3

# Reads for ever, whenever no other process wants the processor, so that it is taken away in the middle of a read, and for long.
READER = """\
import os, sys
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
file = os.open(sys.argv[1], os.O_RDONLY)
print(flush=True)
while True:
    os.pread(file, 32, 0)
"""
# Takes the processor from the readers, but not from the table that goes.
SPINNER = "import os\nos.nice(10)\nprint(flush=True)\nwhile True:\n    pass"


@contextlib.contextmanager
def program(text, *arguments):
    """Run a program that says when it is ready, and goes on until the end of the block."""
    with subprocess.Popen([sys.executable, "-c", text, *arguments], stdout=subprocess.PIPE) as running:
        try:
            assert running.stdout.readline()
            yield
        finally:
            running.kill()


@pytest.mark.timeout(120)
def test_a_table_with_held_blocks_waits_for_those_who_read_their_age(rig, disk):
    options = {"mode": "coalesce", "hold_ms": 60000, "physical_block_size": 4096, "alignment_offset": 0}
    with Align(disk.path, **options) as device:
        for _ in range(ROUNDS):
            with Disk(device.path) as upper:
                for block in range(HELD):
                    upper.write(block * BLOCK + 1, pattern(1, block * BLOCK + 1, 1))
                disk.bad(0, sectors_of(disk.path))
                assert flush_fails(upper)
            eventually(lambda: device.counter("degraded") == HELD, "not all blocks have failed")
            with contextlib.ExitStack() as stack:
                for _ in range(READERS):
                    stack.enter_context(program(READER, str(device.sysfs / "held_oldest_ms")))
                stack.enter_context(program(SPINNER))
                # The blocks go with their table.
                device.reload(device.line(**options))
            disk.heal()
            assert device.counter("held_oldest_ms") == device.counter("held_blocks") == 0
