# SPDX-License-Identifier: GPL-2.0
"""The emulated drive over NBD: a client's view, and the drive's own counts."""
import contextlib
import errno
import json
import math
import os
import random
import re
import resource
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest

import nbd_client
from lab.pace import patience, scaled, tries
from lab.paths import REPO
from nbd_drive import HERE, PLUGIN, Drive, drive, within

MIB = 1 << 20


def partial_touches(offset, count, physical, alignment):
    """Count, sector by sector, the blocks that [offset, offset + count) covers in part."""
    covered = {}
    for byte in range(offset, offset + count, 512):
        block = (byte - alignment) // physical
        covered[block] = covered.get(block, 0) + 512
    return sum(size < physical for size in covered.values())


# ---- a client's view ----

@pytest.mark.parametrize("physical", [512, 4096, 16384, 65536, 262144, 1048576])
def test_advertises_sectors_as_minimum_and_blocks_as_preferred(physical):
    with drive("size=16M", f"physical={physical}") as d, d.connect() as c:
        assert c.size == 16 * MIB
        assert c.block_sizes == (512, physical, 32 * MIB)


def test_can_flush_fua_trim_zero_and_serve_several_connections():
    with drive("size=16M") as d, d.connect() as c:
        for bit in ("CAN_FLUSH", "CAN_FUA", "CAN_TRIM", "CAN_ZERO", "CAN_MULTI_CONN"):
            assert c.flags & getattr(nbd_client, bit), bit


# {profile: (what else it needs, whether it turns, its true blocks and their offset, what it says of them)}
PROFILES = {
    "instant": ([], False, (4096, 0), (4096, 0)),
    "fixed": (["latency_us=0"], False, (4096, 0), (4096, 0)),
    "st1000dm003": ([], True, (4096, 0), (4096, 0)),
    "hdd-nocache": ([], True, (4096, 0), (4096, 0)),
    "hdd7200": ([], True, (4096, 0), (4096, 0)),
    "hdd5400": ([], True, (4096, 0), (4096, 0)),
    "wd20ears": ([], True, (4096, 0), (4096, 0)),
    "usb-liar": ([], True, (4096, 3584), (512, 0)),
    "nvme-512e": ([], False, (4096, 0), (512, 0)),
    "qlc-16k": ([], False, (16384, 0), (4096, 0)),
    "qlc-64k": ([], False, (65536, 0), (4096, 0)),
}


@pytest.mark.parametrize("profile", PROFILES)
def test_each_profile_is_what_it_is_and_says_what_it_says(profile):
    more, rotational, truth, says = PROFILES[profile]
    with drive("size=16M", f"profile={profile}", *more) as d, d.connect() as c:
        assert bool(c.flags & nbd_client.ROTATIONAL) == rotational
        assert c.block_sizes == (512, says[0], 32 * MIB)
        stats = d.stats()
        assert (stats["profile"], stats["physical_block_size"], stats["alignment_offset"]) == (profile, *truth)
        assert (stats["reported_physical_block_size"], stats["reported_alignment_offset"]) == says
        # A whole block where it truly begins, and a part of one.
        c.write(truth[1] + truth[0], bytes(truth[0]))
        c.write(truth[1] + 4 * truth[0], bytes(512))
        assert d.stats()["touches"] == 1


def test_every_profile_is_in_help_man_page_dictionary_and_document():
    told = subprocess.run(["nbdkit", "--help", PLUGIN], capture_output=True, text=True, check=True, timeout=patience(30)).stdout
    listed = re.findall(r"^  ([\w-]+) +\w.*\.$", told.partition("profile=<NAME>")[2].partition("latency_us=")[0], re.MULTILINE)
    assert listed == list(PROFILES)
    page = (REPO / "Documentation/man/nbdkit-drive512e-plugin.1").read_text().replace("\\-", "-")
    document = (REPO / "Documentation/develop/drive512e.rst").read_text()
    dictionary = (HERE.parent / "fuzz/parameters.dict").read_text()
    for profile in PROFILES:
        assert re.search(rf"^\.B {profile}$", page, re.MULTILINE), profile
        assert re.search(rf"^{profile} +\S", document, re.MULTILINE), profile
        assert f'"{profile}"' in dictionary


def test_blocks_that_are_asked_for_are_the_true_ones():
    with drive("size=16M", "profile=usb-liar", "physical=16384", "alignment=512") as d, d.connect() as c:
        stats = d.stats()
        assert (stats["physical_block_size"], stats["alignment_offset"]) == (16384, 512)
        assert c.block_sizes == (512, 512, 32 * MIB)


def test_ends_with_the_command_of_run_and_takes_its_control_socket_along(tmp_path):
    control = tmp_path / "control"
    done = subprocess.run(["nbdkit", "-U", "-", PLUGIN, "size=1M", f"control={control}", "--run", 'nbdinfo --size "$uri"'],
                          capture_output=True, text=True, timeout=patience(10))
    assert (done.returncode, done.stdout) == (0, f"{MIB}\n"), done.stderr
    assert not control.exists()


def test_nbdinfo_reads_size_and_sector_size():
    with drive("size=16M") as d:
        text = subprocess.run(["nbdinfo", d.uri], capture_output=True, text=True,
                              check=True, timeout=patience(30)).stdout
    assert "16777216" in text and "block_size_minimum: 512" in text


def test_nbdcopy_brings_back_what_it_put_in(tmp_path):
    there, back = tmp_path / "there", tmp_path / "back"
    there.write_bytes(random.Random(1).randbytes(4 * MIB))
    with drive("size=4M") as d:
        subprocess.run(["nbdcopy", there, d.uri], check=True, timeout=patience(60))
        subprocess.run(["nbdcopy", d.uri, back], check=True, timeout=patience(60))
        assert d.stats()["write_bytes"] + d.stats()["zero_bytes"] == 4 * MIB
    assert there.read_bytes() == back.read_bytes()


@pytest.mark.parametrize("offset,count", [(1, 512), (512, 511), (256, 256)])
def test_refuses_what_is_not_whole_sectors(offset, count):
    with drive("size=16M") as d, d.connect() as c:
        with pytest.raises(OSError) as info:
            c.read(offset, count)
        assert info.value.errno == errno.EINVAL
        with pytest.raises(OSError):
            c.write(offset, bytes(count))
        assert d.stats()["reads"] == d.stats()["writes"] == 0


# ---- counters ----

GEOMETRIES = [(4096, 0), (4096, 3584), (16384, 0), (16384, 1536), (512, 0), (65536, 512), (262144, 3584),
              (1048576, 1047552)]


@pytest.mark.parametrize("physical,alignment", GEOMETRIES)
def test_touches_of_each_class_of_write(physical, alignment):
    boundary = alignment + 2 * physical
    half = physical // 2
    classes = {
        "aligned": (boundary, physical, 0),
        "aligned run": (boundary, 3 * physical, 0),
        "sub-block": (boundary + 512, 512, 1 if physical > 1024 else None),
        "first part": (boundary, half, 1),
        "last part": (boundary + half, half, 1),
        "head only": (boundary + half, half + physical, 1),
        "tail only": (boundary, physical + half, 1),
        "both": (boundary + half, physical, 2),
        "both, with a run between": (boundary + half, 3 * physical, 2),
    }
    with drive("size=16M", f"physical={physical}", f"alignment={alignment}") as d, d.connect() as c:
        for name, (offset, count, expected) in classes.items():
            if offset % 512 or count % 512 or expected is None:
                continue            # blocks of one or two sectors have no such class
            assert d.control("reset") == {"ok": True}
            c.write(offset, bytes(count))
            stats = d.stats()
            if physical == 512:
                expected = 0
            assert stats["touches"] == expected, name
            assert stats["writes_misaligned"] == (expected > 0), name
            assert stats["rmws"] + stats["rmws_saved_by_cache"] == expected, name
        assert (d.stats()["physical_block_size"], d.stats()["alignment_offset"]) == (physical, alignment)


@pytest.mark.parametrize("physical,alignment", GEOMETRIES)
def test_log_and_counters_tell_the_same_story_as_a_count_by_sectors(physical, alignment):
    rng = random.Random(physical + alignment)
    sent = []
    with drive("size=16M", f"physical={physical}", f"alignment={alignment}") as d, d.connect() as c:
        for _ in range(200):
            letter = rng.choice("WWWWRTZF")
            count = rng.randint(1, 300) * 512
            offset = rng.randint(0, (16 * MIB - count) // 512) * 512
            fua = letter in "WTZ" and rng.random() < 0.2
            touches = partial_touches(offset, count, physical, alignment) if letter in "WTZ" else 0
            if letter == "W":
                c.write(offset, bytes(count), fua)
            elif letter == "R":
                c.read(offset, count)
            elif letter == "T":
                c.trim(offset, count, fua)
            elif letter == "Z":
                c.zero(offset, count, fua)
            else:
                offset = count = 0
                c.flush()
            sent.append((letter, offset, count, int(fua), touches))
        stats, log = d.stats(), d.log()

    assert log == [(seq, *row[:4], row[4] if row[0] in "WZ" else 0) for seq, row in enumerate(sent)]

    def of(letter):
        return [row for row in sent if row[0] == letter]

    for letter, number, volume in (("R", "reads", "read_bytes"), ("W", "writes", "write_bytes"),
                                   ("T", "trims", "trim_bytes"), ("Z", "zeroes", "zero_bytes")):
        assert stats[number] == len(of(letter))
        assert stats[volume] == sum(row[2] for row in of(letter))
    assert stats["flushes"] == len(of("F"))
    assert stats["fua"] == sum(row[3] for row in sent)
    assert stats["write_touches"] == sum(row[4] for row in of("W"))
    assert stats["zero_touches"] == sum(row[4] for row in of("Z"))
    assert stats["writes_misaligned"] == sum(row[4] > 0 for row in of("W"))
    assert stats["zeroes_misaligned"] == sum(row[4] > 0 for row in of("Z"))
    assert stats["partial_trims"] == sum(row[4] for row in of("T"))
    assert stats["rmws"] == stats["touches"] == stats["write_touches"] + stats["zero_touches"]


def test_reset_zeroes_every_counter_and_starts_an_epoch():
    with drive("size=16M") as d, d.connect() as c:
        before = d.stats()
        c.write(512, bytes(4096), fua=True)
        c.read(0, 512)
        c.flush()
        c.trim(512, 512)
        c.zero(512, 512)
        c.flush()
        busy = d.stats()
        assert d.control("reset") == {"ok": True}
        after = d.stats()
    assert (busy["touches"], busy["write_touches"], busy["zero_touches"]) == (3, 2, 1)
    assert busy["epoch"] == before["epoch"]
    assert after.pop("epoch") == before.pop("epoch") + 1
    assert after == before
    assert all(value == 0 for key, value in after.items()
               if key not in ("profile", "cache", "size", "physical_block_size", "alignment_offset",
                              "reported_physical_block_size", "reported_alignment_offset", "power", "under_way_at_cut"))


def test_control_answers_ping_and_refuses_what_it_does_not_know():
    with drive("size=16M") as d:
        assert d.control("ping") == {"ok": True}
        answer = d.control("reboot")
        assert answer["ok"] is False and "stats, reset, ping" in answer["error"] and "reboot" in answer["error"]
        assert d.control("x" * 1000)["ok"] is False
        assert d.control("ping") == {"ok": True}


def test_control_serves_several_clients_and_several_commands_at_once():
    with drive("size=16M") as d:
        silent = [socket.socket(socket.AF_UNIX) for _ in range(5)]
        for client in silent:
            client.connect(d.control_path)
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(patience(10))
            client.connect(d.control_path)
            client.sendall(b"ping\nping\nst")
            client.sendall(b"ats\n")
            answers = client.makefile()
            assert [answers.readline().strip() for _ in range(2)] == ['{"ok":true}'] * 2
            assert answers.readline().startswith('{"profile":"instant"')
        for client in silent:
            client.close()


def test_control_tells_a_client_that_there_are_too_many():
    with drive("size=16M") as d, contextlib.ExitStack() as clients:
        for _ in range(16):
            client = clients.enter_context(socket.socket(socket.AF_UNIX))
            client.connect(d.control_path)
        with socket.socket(socket.AF_UNIX) as another:
            another.settimeout(patience(10))
            another.connect(d.control_path)
            answer = another.makefile().readline()
        assert '"ok":false' in answer and "16 clients" in answer and "close one" in answer
        client.close()
        with socket.socket(socket.AF_UNIX) as another:
            another.settimeout(patience(10))
            another.connect(d.control_path)
            another.sendall(b"ping\n")
            assert another.makefile().readline() == '{"ok":true}\n'


@pytest.mark.parametrize("args,cache", [
    ([], "on"), (["cache=on"], "on"), (["cache=off"], "off"),
    (["profile=st1000dm003"], "on"), (["profile=st1000dm003", "cache=off"], "off"),
    (["profile=hdd-nocache"], "off"), (["profile=hdd-nocache", "cache=off"], "off"),
    (["profile=hdd7200"], "on"), (["profile=hdd5400", "cache=off"], "off"), (["profile=qlc-64k", "cache=off"], "off")])
def test_cache_is_as_asked_or_as_the_profile_has_it(args, cache):
    with drive("size=16M", *args) as d:
        assert d.stats()["cache"] == cache


# ---- data ----

@pytest.mark.parametrize("backing", ["memory", "file"])
@pytest.mark.parametrize("alignment", [0, 3584])
def test_holds_what_was_written_zeroed_and_trimmed(backing, alignment, tmp_path):
    rng = random.Random(2)
    model = bytearray(MIB)
    where = [f"file={tmp_path}/data"] if backing == "file" else []
    with drive("size=1M", f"alignment={alignment}", *where) as d, d.connect() as c:
        for _ in range(400):
            count = rng.randint(1, 100) * 512
            offset = rng.randint(0, (MIB - count) // 512) * 512
            what = rng.randrange(4)
            if what == 0:
                data = rng.randbytes(count)
                c.write(offset, data)
                model[offset:offset + count] = data
            elif what == 1:
                c.zero(offset, count)
                model[offset:offset + count] = bytes(count)
            elif what == 2:
                # Whole blocks read as zeroes, partial ones stay unmodified.
                c.trim(offset, count)
                start = offset + (alignment - offset) % 4096
                end = offset + count - (offset + count - alignment) % 4096
                if start < end:
                    model[start:end] = bytes(end - start)
            else:
                assert c.read(offset, count) == model[offset:offset + count]
        assert c.read(0, MIB) == model


def test_a_trim_inside_a_first_block_that_begins_before_the_drive_changes_nothing():
    with drive("size=1M", "alignment=3584") as d, d.connect() as c:
        c.write(0, b"x" * 3584)
        c.trim(512, 1024)
        assert c.read(0, 3584) == b"x" * 3584 and d.stats()["partial_trims"] == 1


@pytest.mark.parametrize("cache,room", [("on", 64 * MIB), ("off", 0)])
@pytest.mark.parametrize("offset", [0, 63 * 512])
def test_zeroes_where_nothing_was_written_take_no_memory(offset, cache, room):
    """
    Except in the volatile cache, which keeps the old content for a power cut, within its own limit. With one thread, as
    malloc() keeps freed memory per thread.
    """
    length, most = 9 << 30, (1 << 32) - 4096
    with drive("size=10G", f"cache={cache}", "--threads=1") as d, d.connect() as c:
        before = d.memory()
        for at in range(0, length, most):
            c.zero(offset + at, min(most, length - at))
        assert d.memory() - before < room + room // 8 + 16 * MIB
        assert d.stats()["zero_bytes"] == length
        assert not any(c.read(offset + length - MIB, MIB))


def test_file_keeps_its_content_and_gives_the_size(tmp_path):
    data = random.Random(3).randbytes(8192)
    with drive("size=1M", f"file={tmp_path}/data") as d, d.connect() as c:
        c.write(4096, data)
    with drive(f"file={tmp_path}/data") as d, d.connect() as c:
        assert c.size == MIB
        assert c.read(4096, 8192) == data


def test_sixteen_connections_at_once_see_whole_blocks():
    """Writers fill blocks of one region with one byte each; readers never see a mixture."""
    with drive("size=1M", "physical=16384", "alignment=512") as d:
        stop = threading.Event()
        mixed, failed = [], []

        def work(number):
            rng = random.Random(number)
            try:
                with d.connect() as c:
                    while not stop.is_set():
                        at = 512 + rng.randrange(8) * 16384
                        if number % 2:
                            c.write(at, bytes([number]) * 16384)
                        elif len(set(c.read(at, 16384))) != 1:
                            mixed.append(at)
            except OSError as error:
                failed.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        assert within(60, lambda: d.stats()["reads"] + d.stats()["writes"] > 1000)
        stop.set()
        assert ended(threads) and not mixed and not failed
        stats = d.stats()
        assert stats["touches"] == 0
        assert stats["reads"] + stats["writes"] == len(d.log())
        assert [row[0] for row in d.log()] == list(range(len(d.log())))


# ---- time ----

@contextlib.contextmanager
def clients_of(d, count):
    """Connect so many clients for the `with` block; yield them."""
    clients = [d.connect() for _ in range(count)]
    try:
        yield clients
    finally:
        for client in clients:
            client.close()


def at_once(clients, work):
    """Begin work(client, number) for each client in a thread of its own; return the threads."""
    threads = [threading.Thread(target=work, args=(client, number)) for number, client in enumerate(clients)]
    for thread in threads:
        thread.start()
    return threads


def ended(threads):
    for thread in threads:
        thread.join(patience(60))
    return not any(thread.is_alive() for thread in threads)


def elapsed(work):
    start = time.monotonic()
    work()
    return time.monotonic() - start


def test_fixed_takes_its_latency():
    with drive("size=16M", "profile=fixed", "latency_us=20000") as d, d.connect() as c:
        assert elapsed(lambda: [c.write(0, bytes(512)) for _ in range(20)]) >= 0.4
        assert d.stats()["busy_ns"] == 20 * 20_000_000


@pytest.mark.parametrize("depth,low,high", [("1", 3.2, math.inf), ("4", 0.8, 3.2), ("unlimited", 0.4, 3.2)])
def test_fixed_serves_as_many_at_once_as_its_depth(depth, low, high):
    """Eight connections with two requests of 0.2 scaled seconds each."""
    with drive("size=16M", "profile=fixed", f"latency_us={round(scaled(200_000))}", f"depth={depth}") as d, \
            clients_of(d, 8) as clients:
        for _ in tries("no run shows the depth"):
            took = elapsed(lambda: ended(at_once(clients, lambda client, _: [client.read(0, 512), client.read(0, 512)])))
            assert scaled(low) <= took + 0.001
            if took < scaled(high):
                break


def test_hdd_without_cache_turns_once_more_for_every_rmw():
    """At least two revolutions a write; there is no upper limit, because of the machine's own time."""
    with drive("size=16M", "profile=hdd-nocache") as d, d.connect() as c:
        took = elapsed(lambda: [c.write(i * 4096, bytes(512)) for i in range(30)])
        stats = d.stats()
    assert took >= 29 * 2 / 120
    assert stats["rmws"] == stats["touches"] == 30 and stats["blocks_written"] == 30
    assert stats["revolutions_lost"] == pytest.approx(30, rel=0.01)
    assert 0 < stats["busy_ns"] <= took * 1e9


def test_every_request_in_a_queue_is_answered():
    """In which order is a unit test's: here it depends on how fast the requests come."""
    wrong = []

    def use(client, number):
        for turn in range(6):
            at = (number * 75 + turn * 13) % 900 * 10**9 // 4096 * 4096
            client.write(at, bytes([number + 1]) * 4096)
            if client.read(at, 4096) != bytes([number + 1]) * 4096:
                wrong.append(at)

    with drive("size=900G", "profile=hdd7200") as d, clients_of(d, 12) as clients:
        assert ended(at_once(clients, use)) and not wrong
        stats = d.stats()
    assert (stats["reads"], stats["writes"]) == (72, 72)


@pytest.mark.parametrize("how", ["power cut", "end of the server"])
def test_what_is_queued_does_not_outlive_the_drive(how):
    """A queue of 12 writes over the disk takes a tenth of a second: some are in it when the end comes."""
    errors = []

    def write(client, number):
        try:
            for turn in range(1000):
                client.write((number * 75 + turn) % 900 * 10**9 // 4096 * 4096, bytes(4096))
        except OSError as error:
            errors.append(error.errno)

    with drive("size=900G", "profile=hdd7200", "cache=off") as d, clients_of(d, 12) as clients:
        threads = at_once(clients, write)
        assert within(10, lambda: d.stats()["writes"] > 24)
        if how == "power cut":
            assert d.control("power cut")["ok"]
            assert ended(threads) and errors == [errno.EIO] * 12
            assert d.control("power on")["ok"]
            clients[0].write(0, bytes(4096))
        else:
            d.process.send_signal(signal.SIGTERM)
            assert ended(threads) and len(errors) == 12


def test_cached_disk_joins_touches_before_it_writes():
    with drive("size=16M", "profile=st1000dm003") as d, d.connect() as c:
        for i in range(8):
            c.write(40960 + i * 512, bytes(512))
        c.flush()
        stats = d.stats()
    assert stats["touches"] == 8
    assert stats["rmws"] + stats["rmws_saved_by_cache"] == 8 and stats["touches_pending"] == 0
    assert stats["rmws"] < 8


# ---- parameters ----

BAD = [
    (["size=0"], ["size=0", "multiple of 512"]),
    (["size=1000"], ["size=1000", "multiple of 512"]),
    (["size=lots"], ["size=lots", "such as 1G"]),
    ([], ["size= is missing", "size=1G"]),
    (["size=1M", "physical=5000"], ["physical=5000", "power of two"]),
    (["size=1M", "physical=256"], ["physical=256", "512 to 1048576"]),
    (["size=1M", "physical=2097152"], ["physical=2097152", "512 to 1048576"]),
    (["size=1M", "physical=131072", "profile=hdd5400"], ["physical=131072", "hdd5400", "at most 65536", "another profile"]),
    (["size=1M", "physical=4096x"], ["physical=4096x", "power of two"]),
    (["size=1M", "alignment=100"], ["alignment=100", "multiple of 512"]),
    (["size=1M", "alignment=-512"], ["alignment=-512", "multiple of 512"]),
    (["size=1M", "alignment=4096"], ["alignment=4096", "less than physical=4096"]),
    (["size=1M", "cache=maybe"], ["cache=maybe", "on or off"]),
    (["size=1M", "profile=floppy"], ["profile=floppy", "instant, fixed, st1000dm003, hdd-nocache", "or qlc-64k"]),
    (["size=1M", "profile=fixed"], ["profile=fixed", "latency_us=2000"]),
    (["size=1M", "profile=fixed", "latency_us=soon"], ["latency_us=soon", "microseconds"]),
    (["size=1M", "profile=fixed", "latency_us=60000001"], ["latency_us=60000001", "60000000"]),
    (["size=1M", "latency_us=5"], ["latency_us=", "profile=fixed only", "leave it out"]),
    (["size=1M", "depth=5"], ["depth=", "profile=fixed only", "leave it out"]),
    (["size=1M", "profile=fixed", "latency_us=1", "depth=0"], ["depth=0", "unlimited"]),
    (["size=1M", "profile=hdd-nocache", "cache=on"], ["cache=on", "hdd-nocache", "st1000dm003"]),
    (["size=2T", "profile=st1000dm003"], ["size=2199023255552", "st1000dm003", "at most"]),
    (["size=1M", "file=/nonexistent/data"], ["file=/nonexistent/data", "No such file", "can be written"]),
    (["size=1M", "log=/nonexistent/log"], ["log=/nonexistent/log", "No such file", "can be written"]),
    (["size=1M", "control=/nonexistent/c"], ["control=/nonexistent/c", "No such file", "new socket"]),
    (["size=1M", "control=/tmp/" + "x" * 120], ["control=/tmp/xxx", "at most 107"]),
    (["size=1M", "control="], ["control=", "give a path"]),
    (["size=1M", "log="], ["log=", "give a path"]),
    (["size=1M", "file="], ["file=", "give a path"]),
    (["size=1M", "colour=red"], ["colour=red", "unknown parameter", "latency_us"]),
]


@pytest.mark.parametrize("args,words", BAD, ids=[" ".join(args)[:50] or "nothing" for args, _ in BAD])
def test_refuses_a_bad_parameter_with_name_value_and_way_out(args, words):
    with tempfile.TemporaryDirectory(prefix="drive512e-") as folder:
        result = subprocess.run(["nbdkit", "-f", "-U", f"{folder}/nbd", str(PLUGIN), *args],
                                capture_output=True, text=True, timeout=patience(30))
    assert result.returncode != 0
    for word in words:
        assert word in result.stderr


def test_refuses_a_file_that_is_larger_than_the_size(tmp_path):
    (tmp_path / "data").write_bytes(bytes(8192))
    result = subprocess.run(["nbdkit", "-f", "-U", "-", str(PLUGIN), "size=4096", f"file={tmp_path}/data"],
                            capture_output=True, text=True, timeout=patience(30))
    assert result.returncode != 0
    assert "8192" in result.stderr and "4096" in result.stderr and "another file" in result.stderr


def test_a_size_that_the_file_system_has_not_is_refused_as_such(tmp_path):
    # As Python ignores SIGXFSZ, the server gets the error, and not the signal.
    result = subprocess.run(["nbdkit", "-f", "-U", "-", str(PLUGIN), "size=1G", f"file={tmp_path}/data"],
                            capture_output=True, text=True, timeout=patience(30), restore_signals=False,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, MIB)))
    assert result.returncode != 0
    for word in (f"file={tmp_path}/data", "File too large", "size=1073741824", "smaller size"):
        assert word in result.stderr


def test_a_file_of_a_part_of_a_sector_needs_a_size(tmp_path):
    (tmp_path / "data").write_bytes(bytes(1000))
    result = subprocess.run(["nbdkit", "-f", "-U", "-", str(PLUGIN), f"file={tmp_path}/data"],
                            capture_output=True, text=True, timeout=patience(30))
    assert result.returncode != 0
    assert f"file={tmp_path}/data" in result.stderr and "1000" in result.stderr and "size=1024" in result.stderr


def test_refuses_a_control_socket_that_is_served_and_replaces_one_that_is_not():
    with drive("size=1M") as d:
        result = subprocess.run(["nbdkit", "-f", "-U", "-", str(PLUGIN), "size=1M", f"control={d.control_path}"],
                                capture_output=True, text=True, timeout=patience(30))
        assert result.returncode != 0 and "in use" in result.stderr
        assert d.control("ping") == {"ok": True}

        d.process.kill()
        d.process.wait(patience(20))
        assert os.path.exists(d.control_path), "a killed server cannot remove its socket"
        os.unlink(d.sock)
        again = Drive(d.folder, ["size=1M"])    # waits until the drive answers
        again.stop()


def test_a_second_server_of_a_control_socket_leaves_the_log_of_the_first():
    with drive("size=1M") as d, d.connect() as c:
        c.write(0, bytes(512))
        result = subprocess.run(["nbdkit", "-f", "-U", "-", str(PLUGIN), "size=1M", f"control={d.control_path}",
                                 f"log={d.log_path}"], capture_output=True, text=True, timeout=patience(30))
        assert result.returncode != 0 and "in use" in result.stderr
        c.write(4096, bytes(4096))
        assert [row[1:4] for row in d.log()] == [("W", 0, 512), ("W", 4096, 4096)]


@pytest.mark.parametrize("name", ["data", "link"])
def test_a_log_that_is_the_file_of_the_data_is_refused(tmp_path, name):
    data = tmp_path / "data"
    data.write_bytes(b"x" * MIB)
    (tmp_path / "link").symlink_to(data)
    result = subprocess.run(["nbdkit", "-f", "-U", "-", str(PLUGIN), f"file={data}", f"log={tmp_path / name}", "--run", "true"],
                            capture_output=True, text=True, timeout=patience(30))
    assert data.read_bytes() == b"x" * MIB
    assert result.returncode != 0 and f"log={tmp_path / name}" in result.stderr and "another path" in result.stderr


def test_says_once_that_the_log_cannot_be_written(tmp_path):
    result = subprocess.run(["nbdkit", "-f", "-U", "-", str(PLUGIN), "size=1M", "log=/dev/full", "--run",
                             f'truncate -s 1M {tmp_path}/data && nbdcopy --allocated {tmp_path}/data "$uri"'],
                            capture_output=True, text=True, timeout=patience(30))
    assert result.returncode == 0, "the requests themselves succeed"
    assert result.stderr.count("log=/dev/full: No space left on device") == 1, result.stderr
    assert "request 0" in result.stderr


def test_a_control_path_that_is_no_socket_is_refused_and_kept(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("content")
    result = subprocess.run(["nbdkit", "-f", "-U", "-", str(PLUGIN), "size=1M", f"control={precious}", "--run", "true"],
                            capture_output=True, text=True, timeout=patience(30))
    assert precious.read_text() == "content"
    assert result.returncode != 0 and f"control={precious}" in result.stderr and "a new socket" in result.stderr


def test_stops_when_told_to_and_removes_its_control_socket():
    with drive("size=1M", "profile=fixed", "latency_us=60000000") as d:
        c = d.connect()
        waiting = threading.Thread(target=_read_and_leave, args=(c,))
        waiting.start()
        time.sleep(0.3)
        assert elapsed(d.stop) < min(patience(10), 50), "a request in flight held the server up"
        waiting.join(patience(20))
        assert not os.path.exists(d.control_path)


def _read_and_leave(client):
    # The server waits for its clients, so this one disconnects at the error.
    with pytest.raises(OSError):
        client.read(0, 512)
    client.close()


def test_serves_from_the_background_with_relative_paths():
    with tempfile.TemporaryDirectory(prefix="drive512e-") as folder:
        subprocess.run(["nbdkit", "-U", f"{folder}/nbd", "-P", f"{folder}/pid", str(PLUGIN), "size=1M",
                        "control=control", "log=log"], cwd=folder, check=True, timeout=patience(30))
        # nbdkit writes the file when it is ready to serve, after the fork.
        assert within(20, lambda: os.path.exists(f"{folder}/pid") and os.path.getsize(f"{folder}/pid"))
        pid = int(Path(folder, "pid").read_text())
        try:
            with nbd_client.NbdClient(f"{folder}/nbd") as c:
                c.write(512, bytes(512))
            assert nbd_client.control(f"{folder}/control", "stats")["touches"] == 1
            assert Path(folder, "log").read_text() == "0 W 512 512 0 1\n"
        finally:
            os.kill(pid, signal.SIGTERM)
            assert within(20, lambda: not os.path.exists(f"{folder}/control"))


def test_a_test_whose_drive_does_not_start_leaves_no_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(pytest.fail.Exception, match="nbdkit did not start: "), drive("size=soon"):
        pass
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("limit", [lambda free: free, lambda free: 1], ids=["full", "too low for poll"])
def test_control_waits_without_haste_for_a_descriptor(limit):
    with drive("size=1M") as d, socket.socket(socket.AF_UNIX) as client:
        assert d.control("ping") == {"ok": True}
        pid = d.process.pid
        free = min(set(range(1000)) - {int(fd) for fd in os.listdir(f"/proc/{pid}/fd")})
        had = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit(free), had[1]))
        try:
            client.connect(d.control_path)
            client.sendall(b"ping\n")
            before = cpu_seconds(pid)
            time.sleep(2)
            # In that time it has asked twenty times; without a pause it takes what a busy machine has left for it.
            assert cpu_seconds(pid) - before < 0.04
        finally:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, had)
        client.settimeout(patience(20))
        assert json.loads(client.makefile().readline()) == {"ok": True}


def cpu_seconds(pid):
    """Return the processor time of a process."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
