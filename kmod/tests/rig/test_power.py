# SPDX-License-Identifier: GPL-2.0
"""The judge of power cuts, on made-up histories: faults to find, and lawful content to accept."""

import random

from rig.direct import SECTOR, pattern
from rig.power import History

BLOCK = 8
SECTORS = 4 * BLOCK


def contents(data):
    return [data[at:at + SECTOR] for at in range(0, len(data), SECTOR)]


class Made:
    """A history, and a drive with the content of put()."""

    def __init__(self, boundary=0):
        self.history = History(contents(pattern(1, 0, SECTORS)), BLOCK, boundary)
        self.found = list(self.history.before)

    def write(self, tag, sector, sectors, fua=False, answered=True):
        sent = self.history.write(sector, pattern(tag, sector, sectors), fua)
        if answered:
            self.history.acknowledged(sent)
        return sent

    def flush(self, answered=True):
        sent = self.history.flush()
        if answered:
            self.history.acknowledged(sent)
        return sent

    def put(self, tag, sector, sectors=1):
        self.found[sector:sector + sectors] = contents(pattern(tag, sector, sectors))

    def damage(self, block):
        for sector in self.history.sectors_of(block):
            self.found[sector] = None

    def wrong(self, tear="none", early=False):
        return self.history.judge(self.found, tear, early)


# ---- faults ----

def test_a_write_that_a_flush_confirmed_is_lost():
    made = Made()
    made.write(2, 3, 2)
    made.flush()
    assert len(made.wrong()) == 2 and "sector 3" in made.wrong()[0] and "write 2" in made.wrong()[0]
    made.put(2, 3)
    assert "sector 4" in made.wrong()[0], "half of the write is still lost"
    made.put(2, 4)
    assert not made.wrong()


def test_a_write_with_fua_is_lost():
    made = Made()
    made.write(2, 3, 2, fua=True)
    assert len(made.wrong()) == 2
    made.put(2, 3, 2)
    assert not made.wrong()


def test_a_confirmed_write_goes_back_to_an_older_one():
    made = Made()
    made.write(2, 3, 1)
    made.write(3, 3, 1)
    made.flush()
    made.put(2, 3)
    assert made.wrong()
    made.put(3, 3)
    assert not made.wrong()


def test_a_neighbour_that_nobody_wrote_has_changed():
    for bad in (pattern(9, 4, 1), pattern(1, 5, 1), bytes(SECTOR), pattern(1, 4, 1)[:256] + bytes(256)):
        made = Made()
        made.write(2, 3, 1)
        made.flush()
        made.put(2, 3)
        assert not made.wrong()
        made.found[4] = bad
        assert len(made.wrong()) == 1 and "sector 4" in made.wrong()[0]


def test_a_neighbour_goes_back_to_what_a_flush_had_replaced():
    """A pad that was read before an acknowledged write, and written after it."""
    made = Made()
    made.write(2, 4, 1)
    made.flush()
    made.write(3, 3, 1)
    made.put(3, 3)
    assert len(made.wrong()) == 1 and "sector 4" in made.wrong()[0]


def test_a_write_inside_a_block_is_torn():
    made = Made()
    made.write(2, 2, 4, answered=False)
    made.put(2, 2, 2)
    assert len(made.wrong("none")) == 1 and "torn" in made.wrong("none")[0]
    assert not made.wrong("sector"), "a drive with tear=sector may tear"
    made.put(2, 2, 4)
    assert not made.wrong("none")


def test_a_block_is_unreadable_though_nothing_was_under_way():
    made = Made()
    made.write(2, 3, 2)
    made.flush()
    made.put(2, 3, 2)
    made.damage(0)
    for early in (False, True):
        assert len(made.wrong("block", early)) == 1
    made.write(3, 3, 2, answered=False)
    assert not made.wrong("block")
    assert made.wrong("none") and made.wrong("sector"), "only tear=block leaves unreadable blocks"


def test_a_neighbouring_block_is_damaged():
    made = Made()
    made.write(2, BLOCK - 1, 2, answered=False)
    made.damage(0)
    made.damage(1)
    assert not made.wrong("block")
    made.damage(2)
    assert len(made.wrong("block", early=True)) == 1 and "block 2" in made.wrong("block", early=True)[0]


# ---- lawful content ----

def test_what_nobody_confirmed_may_be_there_or_not():
    for tag in (1, 2, 3):
        made = Made()
        made.write(2, 3, 2)
        made.write(3, 3, 2)
        made.put(tag, 3, 2)
        assert not made.wrong()


def test_writes_at_the_same_time_have_no_order():
    for tag in (2, 3):
        made = Made()
        one, two = made.write(2, 3, 2, answered=False), made.write(3, 3, 2, answered=False)
        made.history.acknowledged(one)
        made.history.acknowledged(two)
        made.flush()
        made.put(tag, 3, 2)
        assert not made.wrong()
    made.put(1, 3, 2)
    assert made.wrong(), "one of the writes must be there"


def test_a_flush_confirms_only_what_was_acknowledged_before_it():
    made = Made()
    write = made.write(2, 3, 2, answered=False)
    flush = made.flush(answered=False)
    made.history.acknowledged(write)
    made.history.acknowledged(flush)
    assert not made.wrong()


def test_a_flush_that_failed_confirms_nothing():
    made = Made()
    made.write(2, 3, 2)
    made.flush(answered=False)
    assert not made.wrong()


def test_a_write_is_whole_in_each_block_but_not_over_both():
    made = Made(boundary=-3)
    made.write(2, 3, 4, answered=False)
    made.put(2, 5, 2)
    assert not made.wrong()
    made.put(1, 6)
    assert made.wrong()


def test_a_part_that_a_later_write_replaced_is_not_torn():
    made = Made()
    made.write(2, 2, 4)
    made.write(3, 4, 4, answered=False)
    made.put(2, 2, 2)
    made.put(3, 4, 4)
    assert not made.wrong()


def test_what_is_in_the_drives_cache_may_be_damaged_by_a_flush_only():
    made = Made()
    made.write(2, 3, 2)
    made.damage(0)
    assert made.wrong("block", early=False) and not made.wrong("block", early=True)
    made.flush(answered=False)
    assert not made.wrong("block", early=False)


def test_a_model_drive_is_always_judged_lawful_and_never_when_one_sector_is_changed():
    """Random writers, one at a time; after the last flush the drive keeps a prefix, of each block independently."""
    caught = 0
    for seed in range(200):
        choose = random.Random(seed)
        made = Made(boundary=choose.randrange(-BLOCK + 1, 1))
        steps, safe = [], 0
        for tag in range(2, 20):
            sector = choose.randrange(SECTORS - 1)
            sectors = choose.randint(1, min(12, SECTORS - sector))
            made.write(tag, sector, sectors)
            steps.append((tag, sector, sectors))
            if choose.random() < 0.2:
                made.flush()
                safe = len(steps)
        history = made.history
        kept = {block: choose.randint(safe, len(steps)) for block in range(-1, 5)}
        for number, (tag, sector, sectors) in enumerate(steps):
            for at in range(sector, sector + sectors):
                if number < kept[history.block_of(at)]:
                    made.put(tag, at)
        assert not made.wrong(), seed
        at = choose.randrange(SECTORS)
        made.put(99, at)
        assert any(f"sector {at} " in line for line in made.wrong()), seed
        last = [step for step in steps[:safe] if at in range(step[1], step[1] + step[2])]
        if last:
            made.found[at] = history.before[at]
            assert made.wrong(), f"seed {seed}: sector {at} has lost write {last[-1][0]}"
            caught += 1
    assert caught > 50
