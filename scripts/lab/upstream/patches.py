# SPDX-License-Identifier: GPL-2.0
"""The three series, one for each mode, their division into patches, and what each patch and cover letter says.

The order follows the floors of the target: a patch uses only what earlier ones have added. The entry in MAINTAINERS grows with
the files, because checkpatch asks for it in each patch that adds some, and the last patch of the first driver replaces the list
of files by their folder.
"""

import dataclasses

from .derive import ABI, DRIVER, MANUAL


@dataclasses.dataclass(frozen=True)
class Patch:
    """One patch.

    subject, body: the message, without the sign-off
    files: the new files, or, in a later series, files that get what this series has of them
    edits: inserted lines, as (file, beginning of the line in front of which they stand or "" for the end, lines)
    covered: patterns of MAINTAINERS instead of `files`, if not None; they replace those of earlier patches that they begin
    rest: the patch also changes all files of the driver that the series before has in another form
    """
    subject: str
    body: str
    files: tuple
    edits: tuple = ()
    covered: tuple | None = None
    rest: bool = False


@dataclasses.dataclass(frozen=True)
class Series:
    """One series: the layer that it adds, its patches, subject and text of its cover letter."""
    layer: str
    patches: tuple
    subject: str
    cover: str


def driver(*names):
    return tuple(f"{DRIVER}/{name}" for name in names)


def suites(*names):
    return driver(*(f"tests/{name}_kunit.c" for name in names))


REPORT = (
    Patch("dm-align: add arithmetic on physical blocks", """\
A drive with 512-byte logical and 4096-byte physical blocks (512e) does
a read-modify-write (RMW) for each physical block that a write covers
only in part: a partial touch. Solid-state drives whose indirection unit
is larger than the sector that they offer have the same problem.

Add what the dm-align target needs to know about such blocks: where
their boundaries lie, how a write lies on them, what one request of the
device below may be, and into which bin of a histogram a value goes.

All of this is pure functions on integers, in headers, so that KUnit can
try every combination. Nothing uses them yet.
""", driver("geometry.h", "mode.h")),
    Patch("dm-align: add the ledger", """\
Add the counters and histograms of the dm-align target, the ledger. What
all writes add to is per CPU; all are 64 bits wide and monotonic. A
reset stores a baseline that the reader subtracts.

ledger_table.h is the only list of counters: the enum, the names in the
status line and the files in sysfs are made of it. It has those of modes
that are not there yet, so that the order, which is part of the
interface, never changes.

Each partial touch that arrives is counted as expected, and later as
resolved in one of several ways. The sums balance exactly whenever no
write is in flight, which makes a lost touch visible.
""", driver("ledger.c", "ledger.h", "ledger_table.h")),
    Patch("dm-align: add the account of a write", """\
Add what follows a write through the target:

- align.h: the structures that its files share;
- account: what the ledger has of a write;
- lower: what the device below takes as one request;
- node: what outlives the tables of a mapped device: the ledger and the
  files in sysfs;
- report: writes that go down as they came;
- trace: the events align_write and align_rmw.

Nothing is built yet: the next patch adds the driver to the build.
""", driver("account.c", "account.h", "align.h", "lower.c", "lower.h", "node.c", "node.h", "report.c", "report.h", "trace.c",
            "trace.h")),
    Patch("dm-align: add the target", """\
Add the device-mapper target "align" and its build.

A table line is a drop-in for that of linear, online and under a mounted
file system. Every bio passes unmodified, and is classified and counted.

The ledger belongs to a node that outlives the tables of the mapped
device, and shows in the status line and in /sys/block/dm-N/align/.
""", driver("Kconfig", "Makefile", "sysfs.c", "table.c", "table.h", "target.c"), (
        ("drivers/md/Kconfig", 'source "drivers/md/dm-vdo/Kconfig"', f'source "{DRIVER}/Kconfig"\n\n'),
        ("drivers/md/Makefile", "obj-$(CONFIG_DM_VDO)", "obj-$(CONFIG_DM_ALIGN)\t\t+= dm-align/\n"),
    )),
    Patch("dm-align: add KUnit suites", """\
Add suites for what needs no device: the arithmetic on physical blocks,
the limits of requests and the ledger. oracle.h computes blocks and
touches in another way, sector by sector, for the comparison.

  ./tools/testing/kunit/kunit.py run --kunitconfig=drivers/md/dm-align
""", (*driver(".kunitconfig", "tests/Kconfig", "tests/Makefile", "tests/max_io.h", "tests/oracle.h"),
            *suites("geometry", "ledger", "limits")), (
        (f"{DRIVER}/Kconfig", "", f'\nsource "{DRIVER}/tests/Kconfig"\n'),
        (f"{DRIVER}/Makefile", "", "\nobj-$(CONFIG_DM_ALIGN_KUNIT_TEST) += tests/\n"),
    ), (f"{DRIVER}/",)),
    Patch("dm-align: add the document for administrators", """\
Describe the table line, the ledger, the tracepoints, errors and log
lines.
""", (MANUAL,), (
        ("Documentation/admin-guide/device-mapper/index.rst", "    dm-clone", "    dm-align\n"),
    )),
    Patch("dm-align: document the files in sysfs", """\
Describe /sys/block/dm-<num>/align/ file by file.
""", (ABI,)),
)

PAD = (
    Patch("dm-align: add the building blocks of the engine", """\
The engine takes writes apart and serves partial touches by whole
physical blocks. Add what it is made of:

- block.h, block_state.h, engine.h: the structures that its files share;
- buffer: the memory of a block's content;
- ceiling: the limit of the memory in blocks of all targets together;
- cgroup: which cgroup is charged, and what must not wait for limits;
- cut, fit: where a request is cut, and how many blocks go together;
- decide: what a block with partial touches does next;
- delay: blocks that wait a moment for a write that may complete them;
- gate: every change of data passes it, so that the mode can change
  while none is in flight;
- job: steps that need process context, in objects that may be freed
  while a step still runs;
- parts: the parts of a write that was taken apart;
- placement: write hint and stream of the bios that are made of others;
- quiet: writes of whole blocks where no block is in memory, which are
  only counted;
- range: blocks that a request changes without a buffer of the engine,
  registered in its per-bio data, so that it allocates nothing;
- shard: the locks of the blocks, one for every 16th region of 64 MiB;
- spare: memory for reads that must not go to the buffer of a block.

hold.h and ending.h stand for the mode coalesce, which a later series
adds: functions that say that nothing is held.
""", driver("block.h", "block_state.h", "buffer.c", "buffer.h", "ceiling.c", "ceiling.h", "cgroup.c", "cgroup.h", "cut.h",
            "decide.h", "defaults.h", "delay.c", "delay.h", "ending.h", "engine.h", "fit.c", "fit.h", "gate.c", "gate.h",
            "hold.h", "job.c", "job.h", "parts.c", "parts.h", "placement.h", "quiet.c", "quiet.h", "range.c", "range.h",
            "shard.h", "spare.c", "spare.h")),
    Patch("dm-align: add the engine", """\
Add the part of the dm-align target that serves writes in its mode pad:

- write.c takes a write apart into partial touches and the remainder,
  which goes down without a copy, cut at physical boundaries;
- order.c has which write waits for which, block.c the blocks in
  memory, turn.c the life of one block; its first comment has the states
  and the rules of who may touch what;
- start.c decides late when a block is read, because the write that
  would complete it may be on its way;
- run.c reads and writes neighbouring blocks by one request;
- bounce.c reads parts of the logical blocks of a device, where the
  target offers smaller ones, and starved.c lets touches wait for memory
  that may not go down as they came there;
- notify.c has what is known of blocks forgotten before a sleep, and
  reclaim.c gives its memory back, by a shrinker or to other targets.

An update cannot be lost: a block is read only when no write to it is in
flight, and a write to a block that is being read or written waits. The
engine never waits for memory in the I/O path, but for its own reserve;
what it cannot serve goes down unmodified, in order, and is counted.
""", driver("block.c", "bounce.c", "bounce.h", "engine.c", "notify.c", "order.c", "reclaim.c", "run.c", "start.c",
            "starved.c", "turn.c", "write.c")),
    Patch("dm-align: add the mode pad", """\
Let the target serve writes by the engine in mode pad: it writes whole
physical blocks, joins partial touches that are in flight together, and
reads only what is missing. Nothing is acknowledged that the drive has
not acknowledged. fixing.c has what the mode adds to the callbacks of
device-mapper. The mode changes online, by a message.
""", driver("fixing.c", "fixing.h", "Makefile"), rest=True),
    Patch("dm-align: add KUnit suites of the engine", """\
Add suites for the cuts, the decisions of the engine, the counted
writes, the registered ranges and the shards.
""", (*driver("tests/Makefile"), *suites("block", "cut", "quiet", "range", "shard"))),
    Patch("dm-align: document the mode pad", """\
Describe the mode, its messages and its design, and its files in sysfs.
""", (MANUAL, ABI)),
)

COALESCE = (
    Patch("dm-align: add what holds blocks", """\
Add the files of the mode coalesce:

- held.c holds partial touches that were acknowledged as soon as they
  were copied, as a volatile write cache does; waiter.c has who waits
  until all that is held at a moment is settled;
- drain.c writes them, with the neighbours that gather.c finds;
- flush.c, settle.c and ending.c wait for that: flushes, suspends,
  reboots and sleeps;
- overlay.c lets reads see what is held;
- cache.c knows what the openers of a device know of its write cache;
- coalesce.c has what the mode adds to the callbacks.

Nothing is built yet: the next patch adds the mode.
""", driver("cache.c", "coalesce.c", "drain.c", "ending.c", "flush.c", "gather.c", "held.c", "overlay.c", "settle.c",
            "waiter.c", "waiter.h")),
    Patch("dm-align: add the mode coalesce", """\
Let the target hold partial blocks for a bounded time in mode coalesce.
It is accepted only if the device has a volatile write cache for
all users above, so that flushes arrive.
""", driver("Makefile"), rest=True),
    Patch("dm-align: add a KUnit suite of the waiters", """\
Add a suite for the waiters for held blocks.
""", (*driver("tests/Makefile"), *suites("waiter"))),
    Patch("dm-align: document the mode coalesce", """\
Describe the mode and what it promises, its messages and its design, and
its files in sysfs. The example is a session that was run.
""", (MANUAL, ABI)),
)

TESTED = """\
What was tested
---------------
The series is made from a tree in which the same files are an external
module for 6.1 to 7.2. There each promise of the document has tests: in
guests on an emulated 512e drive, which counts RMWs on its own, with
power cuts and faults, and under KASAN, lockdep and KCSAN; the states of
the engine are also searched exhaustively for small sets of requests.

The series applies to {base}. It builds as a
module and built in, for x86_64 and i386, with W=1 and no warning.
"""

REPORT_COVER = """\
A drive with 512-byte logical and 4096-byte physical blocks (512e) turns
each write that does not cover whole physical blocks into a
read-modify-write (RMW): it reads the block, patches it, and writes it
one revolution later. Solid-state drives whose indirection unit is
larger than the sector that they offer have the same problem. No counter
of the kernel shows it.

dm-align is a linear target that knows where the physical blocks of the
device below begin. This series makes it pass every bio on, and count
the blocks that it covers in part (partial touches), for which a drive
does an RMW. Two more series, which change only what is added here, let
it avoid them: the mode pad writes whole blocks, and the mode coalesce
is a volatile write cache of partial blocks. Each can be taken or left.

The format of the disk does not change.

Why not dm-stats
----------------
dm-stats counts what any mapped device can count: bios, sectors, merges,
times. It knows no physical blocks, so it has no class for a misaligned
write. And what became of a partial touch (read for, joined, completed
by the next write, left to the drive and why) only the target knows,
long after the bio has passed dm-stats. The ledger balances: each touch
that arrived is avoided, read for, left to the drive, lost or pending.
dm-stats works on an align device as on any other.

""" + TESTED

PAD_COVER = """\
This is the second of three series about dm-align; the first counts the
read-modify-writes (RMW) of drives whose physical blocks are larger than
their logical ones. This one avoids them, in the mode

pad       which joins partial writes that are in flight together, reads
          what is missing, and writes whole blocks; nothing is
          acknowledged that the drive has not acknowledged.

It is not the default, and changes nothing for devices without it.

Why not dm-ebs
--------------
dm-ebs is for another purpose, 512-byte access to drives that have none,
and what it does for that stands in the way here:

- It has no order between the two ways that a write takes. ebs_map()
  remaps an aligned write at once, after dm_bufio_forget_buffers(), and
  leaves a misaligned one to a worker. A buffer that the worker holds is
  not forgotten; if the aligned write is acknowledged between the read
  and the write of that buffer, the old content comes back, and the
  acknowledged write is lost. The other order loses as well: a buffer
  that is read while an aligned write is in flight has the old content,
  and stays. dm-align registers every change of data before sending it.
- One ordered work item serves all misaligned bios, reads included. It
  ends none of a batch before it has written all dirty buffers and
  flushed the drive. Bios that arrive meanwhile wait for the next batch.
- It reads each partial block that is not cached, also if writes that
  are in flight together cover the block.
- Boundaries are multiples of the block size from sector 0. A drive or
  partition with an alignment_offset has them elsewhere.
- It counts nothing, so it cannot tell whether it is needed.

Changing this leaves nothing of it but the table line, whose users rely
on its logical block size.

Why not dm-bio-prison
---------------------
The ranges of dm-align look like cells of a prison, but order is all
that the two have in common:

- In a cell of v1 one bio goes and all others wait; in v2 bios share a
  cell that is not locked. Here writes that are not padded do not wait
  for each other, as on the raw drive; partial writes join their block
  while it is being collected, and become one request; and a write to a
  held block passes at once, and the block waits for it.
- A lookup takes overlapping keys for the same cell. A write has to be
  ordered against every block that it overlaps, and a discard may
  overlap all of them; a key of v1 spans 1024 blocks at most.
- A prison has no buffers, and what the engine is about is the states of
  a block with one: collect, read, write, held.

""" + TESTED

COALESCE_COVER = """\
This is the third of three series about dm-align. The first counts the
read-modify-writes of drives whose physical blocks are larger than their
logical ones, and the second avoids them by reading what is missing.
This one saves most of these reads, in the mode

coalesce  which also acknowledges a partial write when it has been
          copied, and holds its block for a bounded time, because the
          next write of a writer that works one write at a time brings
          the rest. It is a volatile write cache: advertised as one,
          emptied by flush, bypassed by FUA, lost with the power.

The example of the document (patch 4) is a session that was run: of
fifty writes of 4 KiB, one after the other and one sector off, which
have 100 partial touches, pad reads 51 blocks, and coalesce 2.

""" + TESTED

SERIES = (
    Series("report", REPORT, "dm-align: count read-modify-writes of 512e drives", REPORT_COVER),
    Series("pad", PAD, "dm-align: avoid read-modify-writes of 512e drives", PAD_COVER),
    Series("coalesce", COALESCE, "dm-align: avoid read-modify-writes without reads", COALESCE_COVER),
)
