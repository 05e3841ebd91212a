# SPDX-License-Identifier: GPL-2.0
"""The data after a power cut, and requests that fail by command."""
import errno
import random
import threading

import pytest

from lab.pace import Limit, patience, tries
from nbd_drive import drive, within

BLOCK = 4096
LATENCY_S = 0.3
FIXED = ["profile=fixed", f"latency_us={round(LATENCY_S * 1e6)}"]
ANSWERED = "the drive has answered before the test went on"
PROFILES = [["profile=instant"], ["profile=fixed", "latency_us=100"], ["profile=st1000dm003"]]


def refused(call, *args, **options):
    """Return whether the request ended in an I/O error. Raises any other error."""
    try:
        call(*args, **options)
    except OSError as error:
        assert error.errno == errno.EIO, error
        return True
    return False


def cut(d, words=""):
    assert d.control(f"power cut {words}".strip()) == {"ok": True}


def power_on(d):
    assert d.control("power on") == {"ok": True}


class Sent:
    """A request in its own thread and connection; `failed` after wait()."""

    def __init__(self, d, name, *args, **options):
        def run():
            with d.connect() as c:
                self.failed = refused(getattr(c, name), *args, **options)

        self._thread = threading.Thread(target=run)
        self._thread.start()

    def done(self):
        return not self._thread.is_alive()

    def wait(self):
        self._thread.join(patience(30))
        assert not self._thread.is_alive(), "a request does not end"
        return self


def before_an_answer():
    """Return the limit of what a test does before the drive FIXED can have answered a request that is sent from now on."""
    return Limit(LATENCY_S, exact=True)


def fill(tag, count):
    """Return the bytes of `count` sectors, each with a content of its own."""
    return b"".join(bytes([tag, i % 251]) * 256 for i in range(count // 512))


# ---- the volatile cache ----

@pytest.mark.parametrize("profile", PROFILES)
def test_a_cut_takes_what_no_flush_has_confirmed(profile):
    with drive("size=16M", *profile) as d, d.connect() as c:
        c.write(0, fill(1, 3 * BLOCK))
        c.flush()
        c.write(BLOCK, fill(2, BLOCK))
        c.write(2 * BLOCK + 512, fill(3, 512))
        c.write(20 * BLOCK, fill(4, BLOCK))
        assert c.read(BLOCK, BLOCK) == fill(2, BLOCK), "the data is there as long as there is power"
        assert d.stats()["volatile_blocks"] == 3
        cut(d)
        power_on(d)
        assert c.read(0, 3 * BLOCK) == fill(1, 3 * BLOCK)
        assert c.read(20 * BLOCK, BLOCK) == bytes(BLOCK)
        assert (d.stats()["volatile_blocks"], d.stats()["power_cuts"]) == (0, 1)


@pytest.mark.parametrize("profile", [*PROFILES, ["profile=hdd-nocache"]])
def test_without_a_cache_a_cut_takes_nothing(profile):
    off = [] if "hdd-nocache" in profile[0] else ["cache=off"]
    with drive("size=16M", *profile, *off) as d, d.connect() as c:
        c.write(0, fill(1, 2 * BLOCK))
        c.zero(512, 512)
        cut(d)
        power_on(d)
        want = bytearray(fill(1, 2 * BLOCK))
        want[512:1024] = bytes(512)
        assert c.read(0, 2 * BLOCK) == want


@pytest.mark.parametrize("op", ["write", "zero", "trim"])
def test_fua_keeps_its_own_data_and_not_the_rest_of_its_block(op):
    with drive("size=16M") as d, d.connect() as c:
        c.write(0, fill(1, 2 * BLOCK))
        c.flush()
        c.write(0, fill(2, 2 * BLOCK))
        if op == "write":
            c.write(1024, fill(3, 512), fua=True)
            first, last, data = 1024, 1536, fill(3, 512)
        elif op == "zero":
            c.zero(1024, 512, fua=True)
            first, last, data = 1024, 1536, bytes(512)
        else:
            c.trim(0, BLOCK, fua=True)
            first, last, data = 0, BLOCK, bytes(BLOCK)
        now = bytearray(fill(2, 2 * BLOCK))
        now[first:last] = data
        assert c.read(0, 2 * BLOCK) == now
        cut(d)
        power_on(d)
        want = bytearray(fill(1, 2 * BLOCK))
        want[first:last] = data
        assert c.read(0, 2 * BLOCK) == want


@pytest.mark.parametrize("op", ["zero", "trim"])
def test_zeroes_and_trims_are_as_volatile_as_writes(op):
    with drive("size=16M", "alignment=3584") as d, d.connect() as c:
        c.write(0, fill(1, 5 * BLOCK))
        c.flush()
        getattr(c, op)(1024, 3 * BLOCK)
        assert c.read(0, 5 * BLOCK) != fill(1, 5 * BLOCK)
        cut(d)
        power_on(d)
        assert c.read(0, 5 * BLOCK) == fill(1, 5 * BLOCK)


def test_a_file_is_brought_back_too(tmp_path):
    with drive("size=1M", f"file={tmp_path}/data", "physical=16384", "alignment=512") as d, d.connect() as c:
        c.write(0, fill(1, 1 << 20))
        c.flush()
        c.write(0, fill(2, 1 << 20))
        cut(d)
        power_on(d)
        assert c.read(0, 1 << 20) == fill(1, 1 << 20)


def test_the_cache_has_room_for_64_mib_and_writes_the_oldest_first():
    step = 16 << 20
    with drive("size=1G") as d, d.connect() as c:
        for tag in range(1, 7):
            c.write(tag * step, bytes([tag]) * step)
        assert d.stats()["volatile_blocks"] == (64 << 20) // BLOCK
        cut(d)
        power_on(d)
        for tag in range(1, 7):
            want = tag if tag <= 2 else 0
            assert c.read(tag * step, step) == bytes([want]) * step, f"written as number {tag}"


def test_a_flush_confirms_what_came_before_it_and_no_more():
    """A write that begins during a flush belongs to the next flush."""
    with drive("size=16M", *FIXED) as d, d.connect() as c:
        c.write(0, fill(1, BLOCK))
        flush = Sent(d, "flush")
        assert within(10, lambda: d.stats()["flushes"] == 1)
        late = Sent(d, "write", 0, fill(2, 512))
        assert not flush.wait().failed and not late.wait().failed
        assert c.read(0, BLOCK) == fill(2, 512) + fill(1, BLOCK)[512:]
        cut(d)
        power_on(d)
        assert c.read(0, BLOCK) == fill(1, BLOCK)


@pytest.mark.parametrize("alignment", [0, 3584])
def test_cuts_at_random_moments_leave_what_a_model_says(alignment):
    """One request at a time, so that none is in flight at the cut: the last flush decides, and FUA."""
    rng = random.Random(alignment)
    size = 1 << 20
    with drive("size=1M", f"alignment={alignment}") as d, d.connect() as c:
        now, safe = bytearray(size), bytearray(size)
        for _ in range(600):
            count = rng.randint(1, 60) * 512
            offset = rng.randint(0, (size - count) // 512) * 512
            what = rng.randrange(12)
            if what < 6:
                data, fua = rng.randbytes(count), what == 0
                c.write(offset, data, fua)
                for content in (now, safe) if fua else (now,):
                    content[offset:offset + count] = data
            elif what < 8:
                c.zero(offset, count, fua=what == 7)
                for content in (now, safe) if what == 7 else (now,):
                    content[offset:offset + count] = bytes(count)
            elif what < 10:
                assert c.read(offset, count) == now[offset:offset + count]
            elif what == 10:
                c.flush()
                safe[:] = now
            else:
                cut(d)
                power_on(d)
                now[:] = safe
        assert c.read(0, size) == now


# ---- while there is no power ----

def test_without_power_everything_fails_and_leaves_no_trace():
    with drive("size=16M") as d, d.connect() as c:
        c.write(0, fill(1, BLOCK), fua=True)
        cut(d)
        before, log = d.stats(), d.log()
        assert before["power"] == "off"
        assert all(refused(call, *args) for call, args in (
            (c.write, (0, fill(2, BLOCK))), (c.read, (0, BLOCK)), (c.flush, ()), (c.trim, (0, BLOCK)),
            (c.zero, (0, BLOCK))))
        with d.connect() as another:
            assert another.size == 16 << 20, "the server stays"
        assert d.stats() == before and d.log() == log
        power_on(d)
        assert c.read(0, BLOCK) == fill(1, BLOCK)
        assert d.stats()["power"] == "on"


def test_power_goes_with_the_request_that_was_named():
    with drive("size=16M", "cache=off") as d, d.connect() as c:
        cut(d, "at=3")
        assert not refused(c.write, 0, fill(1, BLOCK)) and not refused(c.read, 0, BLOCK)
        assert d.stats()["power"] == "on"
        assert refused(c.write, BLOCK, fill(2, BLOCK))
        assert d.stats()["power"] == "off"
        assert [row[1] for row in d.log()] == ["W", "R", "W"], "the last request was received"
        assert refused(c.write, 2 * BLOCK, fill(3, BLOCK))
        power_on(d)
        assert c.read(0, BLOCK) == fill(1, BLOCK) and c.read(2 * BLOCK, BLOCK) == bytes(BLOCK)


def test_power_goes_after_as_many_answers_as_were_named():
    with drive("size=16M", "cache=off") as d, d.connect() as c:
        cut(d, "after=2")
        assert not refused(c.write, 0, fill(1, BLOCK)) and c.read(0, BLOCK) == fill(1, BLOCK)
        assert d.stats()["power"] == "off"
        assert refused(c.write, BLOCK, fill(2, BLOCK))
        assert [row[1] for row in d.log()] == ["W", "R"]
        assert d.stats()["under_way_at_cut"] == [], "all requests were answered"
        power_on(d)
        assert c.read(0, 2 * BLOCK) == fill(1, BLOCK) + bytes(BLOCK)
    for _ in tries(ANSWERED):
        with drive("size=16M", *FIXED, "cache=off") as d:
            cut(d, "after=1 tear=none seed=1")
            limit = before_an_answer()
            first = Sent(d, "write", 0, fill(1, BLOCK))
            assert within(10, lambda: d.stats()["writes"] == 1)
            second = Sent(d, "write", BLOCK, fill(2, BLOCK))
            assert within(10, lambda second=second: d.stats()["writes"] == 2 or second.done())
            late = limit.over()
            first.wait()
            second.wait()
            if late:
                continue
            assert not first.failed and second.failed, "the second request was still in flight"
            assert d.stats()["under_way_at_cut"] == [["W", BLOCK, BLOCK]]
            break


def test_it_tells_what_was_under_way_at_the_last_cut():
    with drive("size=16M") as d, d.connect() as c:
        assert d.stats()["under_way_at_cut"] == []
        cut(d, "at=1")
        assert refused(c.write, 512, bytes(1024))
        assert d.stats()["under_way_at_cut"] == [["W", 512, 1024]]
        power_on(d)
        cut(d)
        assert d.stats()["under_way_at_cut"] == []
    for _ in tries(ANSWERED):
        with drive("size=16M", *FIXED) as d:
            sent, limit = [], before_an_answer()
            for name, args, counter in (("read", (0, BLOCK), "reads"), ("flush", (), "flushes"),
                                        ("zero", (BLOCK, 512), "zeroes")):
                sent.append(Sent(d, name, *args))
                assert within(10, lambda counter=counter: d.stats()[counter] == 1)
            cut(d)
            late = limit.over()
            failed = [request.wait().failed for request in sent]
            if late:
                continue
            assert d.stats()["under_way_at_cut"] == [["R", 0, BLOCK], ["F", 0, 0], ["Z", BLOCK, 512]]
            assert all(failed)
            break


def test_power_on_takes_back_a_cut_that_is_still_to_come():
    with drive("size=16M") as d, d.connect() as c:
        cut(d, "at=2")
        power_on(d)
        for _ in range(5):
            c.write(0, fill(1, BLOCK))
        assert d.stats()["power_cuts"] == 0


def test_requests_in_flight_fail_and_the_cached_disk_forgets_its_touches():
    for _ in tries(ANSWERED):
        with drive("size=16M", *FIXED, "cache=off") as d, d.connect() as c:
            limit = before_an_answer()
            sent = [Sent(d, "write", i * BLOCK, fill(9, BLOCK)) for i in range(4)] + [Sent(d, "read", 0, BLOCK)]
            assert within(10, lambda: d.stats()["writes"] == 4 and d.stats()["reads"] == 1)
            cut(d)
            late = limit.over()
            power_on(d)
            failed = [request.wait().failed for request in sent]
            if late:
                continue
            assert all(failed)
            assert not refused(c.read, 0, BLOCK)
            break
    with drive("size=16M", "profile=st1000dm003") as d, d.connect() as c:
        for i in range(4):
            (c.zero if i % 2 else c.write)(40960 + i * 512, 512 if i % 2 else bytes(512))
        cut(d)
        stats = d.stats()
        assert stats["touches_pending"] == 0
        assert stats["rmws"] + stats["rmws_saved_by_cache"] + stats["touches_lost"] == stats["touches"] == 4
        assert stats["write_touches"] == stats["zero_touches"] == 2
        power_on(d)
        c.write(512, bytes(512))
        c.flush()
        assert d.stats()["rmws"] + d.stats()["rmws_saved_by_cache"] + d.stats()["touches_lost"] == 5


# ---- blocks that were being written ----

def fates(d, c, tear, seed, cached):
    """Cut the power in a write of 64 blocks, or in the flush after it; return each block's content, None if unreadable."""
    offset, count = 512, 64 * BLOCK
    c.write(0, fill(1, 66 * BLOCK))
    c.flush()
    if cached:
        c.write(offset, fill(2, count))
        cut(d, f"at=1 tear={tear} seed={seed}")
        assert refused(c.flush)
    else:
        cut(d, f"at=1 tear={tear} seed={seed}")
        assert refused(c.write, offset, fill(2, count))
    power_on(d)
    return [None if refused(c.read, at, BLOCK) else c.read(at, BLOCK) for at in range(0, 66 * BLOCK, BLOCK)]


def images():
    old = fill(1, 66 * BLOCK)
    new = old[:512] + fill(2, 64 * BLOCK) + old[512 + 64 * BLOCK:]
    return [(old[at:at + BLOCK], new[at:at + BLOCK]) for at in range(0, 66 * BLOCK, BLOCK)]


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("tear", ["none", "sector", "block"])
def test_each_block_under_way_is_old_or_new_or_torn_as_asked(tear, cached):
    with drive("size=16M", f"cache={'on' if cached else 'off'}") as d, d.connect() as c:
        seen = {"old": 0, "new": 0, "mixed": 0, "unreadable": 0}
        results = {}
        for seed in (1, 2, 1):
            found = fates(d, c, tear, seed, cached)
            for number, (block, (old, new)) in enumerate(zip(found, images())):
                if block is None:
                    seen["unreadable"] += 1
                elif block == old:
                    seen["old"] += 1
                elif block == new:
                    seen["new"] += 1
                else:
                    seen["mixed"] += 1
                    assert all(block[at:at + 512] in (old[at:at + 512], new[at:at + 512])
                               for at in range(0, BLOCK, 512)), f"block {number} has something else"
            assert found[65] == images()[65][0], "a block without a write has changed"
            assert seed not in results or results[seed] == found, "the same seed must give the same fate"
            results[seed] = found
        assert results[1] != results[2]
        assert seen["old"] > 10 and seen["new"] > 10
        assert (seen["mixed"] > 10) == (tear == "sector")
        assert (seen["unreadable"] > 10) == (tear == "block")


def test_an_unreadable_block_fails_until_all_of_it_is_written():
    with drive("size=16M", "cache=off") as d, d.connect() as c:
        seed = 0
        while not d.stats()["unreadable_blocks"]:
            seed += 1
            cut(d, f"at=1 tear=block seed={seed}")
            assert refused(c.write, BLOCK + 1024, fill(1, 512))
            power_on(d)
        assert refused(c.read, BLOCK, 512) and refused(c.read, 0, 3 * BLOCK)
        assert not refused(c.read, 0, BLOCK) and not refused(c.read, 2 * BLOCK, BLOCK)
        assert refused(c.write, BLOCK, fill(2, 512)), "the drive cannot read the rest"
        assert refused(c.zero, 512, BLOCK), "the drive cannot read the rest, nor for the tail"
        assert c.read(0, BLOCK) == bytes(BLOCK), "a failed request has changed data"
        c.write(512, fill(3, 2 * BLOCK))
        assert c.read(512, 2 * BLOCK) == fill(3, 2 * BLOCK)
        assert d.stats()["unreadable_blocks"] == 0


def test_a_block_becomes_unreadable_again_if_its_rewrite_is_lost():
    with drive("size=16M") as d, d.connect() as c:
        seed = 0
        while not d.stats()["unreadable_blocks"]:
            seed += 1
            cut(d, f"at=1 tear=block seed={seed}")
            assert refused(c.write, 0, fill(1, BLOCK))
            power_on(d)
        c.write(0, fill(2, BLOCK))
        assert c.read(0, BLOCK) == fill(2, BLOCK)
        cut(d)
        power_on(d)
        assert refused(c.read, 0, BLOCK)
        c.write(0, fill(3, BLOCK))
        c.flush()
        cut(d)
        power_on(d)
        assert c.read(0, BLOCK) == fill(3, BLOCK)


@pytest.mark.parametrize("tear", ["none", "sector"])
def test_cuts_under_load_leave_each_sector_old_or_new(tear):
    """Eight writers with a block each; a confirmed sector never returns to older content."""
    with drive("size=1M", "profile=fixed", "latency_us=500", "cache=on") as d, d.connect() as c:
        for round_ in range(1, 9):
            sent, safe = [0] * 8, [0] * 8

            def work(number, sent=sent, safe=safe):
                with d.connect() as own:
                    for version in range(1, 200):
                        sent[number] = version
                        if refused(own.write, number * BLOCK, bytes([version]) * BLOCK):
                            return
                        if version % 3 == 0:
                            if refused(own.flush):
                                return
                            safe[number] = version

            c.write(0, bytes(8 * BLOCK), fua=True)
            writers = [threading.Thread(target=work, args=(number,)) for number in range(8)]
            for writer in writers:
                writer.start()
            assert within(10, lambda safe=safe: max(safe) > 0)
            cut(d, f"at={10 * round_} tear={tear} seed={round_}")
            for writer in writers:
                writer.join(patience(30))
            power_on(d)
            for number in range(8):
                block = c.read(number * BLOCK, BLOCK)
                found = {block[at:at + 512] for at in range(0, BLOCK, 512)}
                for sector in found:
                    assert len(set(sector)) == 1 and safe[number] <= sector[0] <= sent[number]
                if tear == "none":
                    assert len(found) == 1, "a block has content of two writes"


# ---- requests that fail by command ----

def test_requests_on_failing_sectors_fail_until_they_are_healed():
    with drive("size=16M") as d, d.connect() as c:
        c.write(0, fill(1, 8 * BLOCK))
        assert d.control("fail write 8 8") == {"ok": True}
        assert d.control("fail read 20 1") == {"ok": True}
        assert refused(c.write, 0, fill(2, 2 * BLOCK)) and refused(c.write, BLOCK + 3584, fill(2, 1024))
        assert refused(c.zero, BLOCK, 512)
        assert not refused(c.write, 2 * BLOCK, fill(2, BLOCK)) and not refused(c.read, BLOCK, BLOCK)
        assert c.read(0, 2 * BLOCK) == fill(1, 8 * BLOCK)[:2 * BLOCK], "a failed write has changed data"
        assert refused(c.read, 2 * BLOCK, BLOCK) and not refused(c.read, 21 * 512, 512)
        assert not refused(c.trim, BLOCK, BLOCK) and not refused(c.flush)
        assert d.control("heal") == {"ok": True}
        assert not refused(c.write, 0, fill(3, 3 * BLOCK))
        assert c.read(0, 3 * BLOCK) == fill(3, 3 * BLOCK)


# ---- the commands ----

@pytest.mark.parametrize("command,words", [
    ("power", ["power", "power cut or power on"]),
    ("power off", ["power off", "power cut or power on"]),
    ("power on now", ["power on", "power cut or power on"]),
    ("power cut at=0", ["at=0", "1 for the next one"]),
    ("power cut at=soon", ["at=soon", "1 for the next one"]),
    ("power cut tear=page", ["tear=page", "none, sector or block"]),
    ("power cut seed=-1", ["seed=-1", "whole number"]),
    ("power cut after=0", ["after=0", "1 for the next that ends"]),
    ("power cut before=3", ["before=3", "at=, after=, tear= and seed="]),
    ("fail", ["fail", "fail write 64 8"]),
    ("fail flush 0 1", ["fail flush 0 1", "read or write"]),
    ("fail write 0 0", ["fail write 0 0", "number of sectors"]),
    ("fail write x 1", ["fail write x 1", "first sector"]),
    ("fail read 0 18446744073709551615", ["number of sectors"]),
    ("fail read 2048 1", ["fail read 2048 1", "last sector of the drive is 2047"]),
    ("heal 5", ["heal", "takes no arguments", "5"]),
    ("stats all", ["stats", "takes no arguments"]),
    ('say "\\', ["say", "unknown command"]),
])
def test_refuses_a_bad_command_with_the_way_out(command, words):
    with drive("size=1M") as d, d.connect() as c:
        answer = d.control(command)
        assert answer["ok"] is False
        for word in words:
            assert word in answer["error"]
        assert not refused(c.write, 0, bytes(512)) and d.stats()["power"] == "on"


def test_power_that_is_off_cannot_be_cut():
    with drive("size=1M") as d:
        cut(d)
        answer = d.control("power cut at=3")
        assert answer["ok"] is False and "power on first" in answer["error"]
