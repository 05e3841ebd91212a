# SPDX-License-Identifier: GPL-2.0
"""What alignctl's process leaves of documents is all that is read of them, and its end is an error and no shorter list."""

import contextlib
import json
import os
import random
import signal
import time

import pytest
from fleet_samples import check, plan, random_fleet, save, stats
from handed import taken
from test_fleet import BROKEN, spoiled

from align_reports import interrupt
from align_reports.fleet import command, documents
from align_reports.fleet.layout import Unusable, place

FINE, FINDINGS, USAGE, IO = range(4)
SHIFTED = check([("partition-start", "sda1")])
LINE = json.dumps(SHIFTED).encode() + b"\n"


@pytest.fixture
def reader():
    """Return a function that starts a stand-in for alignctl's process, which does act(requests, answers): the option for it."""
    started = []

    def start(act):
        (requests, mine), (answers, its) = os.pipe(), os.pipe()
        process = os.fork()
        if not process:
            os.close(mine)
            os.close(answers)
            try:
                act(requests, its)
            finally:
                os._exit(0)
        os.close(requests)
        os.close(its)
        started.append(process)
        return [mine, answers, process]
    yield start
    left = []
    for each in started:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(each, os.WNOHANG)
            os.kill(each, signal.SIGKILL)
            left.append(each)
    assert not left, "the program has not waited for it"


def all_of(requests):
    """Take what is asked, as alignctl's process does: members and paths."""
    with open(requests, "rb") as stream:
        texts = stream.read().split(b"\0")
    assert texts.pop() == b""
    members, paths = texts[:texts.index(b"")], texts[texts.index(b"") + 1:]
    return [each.decode() for each in members], paths


def test_a_reader_is_asked_for_all_members_and_files_and_its_lines_are_the_documents(reader, tmp_path, capsys):
    """The files themselves are empty, and so the answer is of the lines, but for one that the reader leaves to this process."""
    folder = save(tmp_path, dict.fromkeys(("b.check.json", "a.check.json", "c\udcff.check.json", "d.check.json"), b""))

    def act(requests, answers):
        members, paths = all_of(requests)
        names = [os.path.basename(path) for path in paths]
        good = sorted(members) == sorted(documents.MEMBERS) and sorted(names) == [
            b"a.check.json", b"b.check.json", b"c\xff.check.json", b"d.check.json"]
        for name in names if good else ():
            os.write(answers, b"\n" if name.startswith(b"d") else LINE)
    status = command.main(taken(command, "fleet", folder, "--json", reader=reader(act)))
    printed = capsys.readouterr()
    assert [host["host"] for host in json.loads(printed.out)["hosts"]] == ["a", "b", "c\\xff"]
    assert (status, printed.err) == (IO, f"alignctl fleet: {folder}/d.check.json: is empty: make it again\n")


def test_a_reason_is_that_of_the_whole_document(reader, tmp_path, capsys):
    folder = save(tmp_path, {"a.check.json": '{"format": 4, "audited": []}'})
    command.main(taken(command, "fleet", folder, reader=reader(
        lambda requests, answers: all_of(requests) and os.write(answers, b"[]\n"))))
    assert "a.check.json: has format 4 of check" in capsys.readouterr().err


def reduced(value, names):
    """A document without the members of other names, as alignctl's process leaves it."""
    if isinstance(value, list):
        return [reduced(each, names) for each in value]
    return {name: reduced(inner, names) for name, inner in value.items() if name in names} if isinstance(value, dict) else value


def said_by(document, names=None):
    """What is read of a document, or why nothing is; names: of the members that it still has, None: of all."""
    data = json.dumps(document if names is None else reduced(document, names)).encode()
    try:
        found = documents.read(data, place("a.plan-sda.json"))
    except Unusable as error:
        return str(error)
    return {**vars(found), "units": {disk: documents.unit_of(said) for disk, said in found.units.items()}}


def test_the_members_that_are_asked_for_are_those_that_are_read():
    """Of documents of any kind, with any fault."""
    source = random.Random(2)
    counted = stats({"x": ("sda", "pad", 1, 2, 4096, 8192, 7)}, 9)
    counted["devices"][0]["counters"]["write_zeroes_misaligned"] = 2
    counted["devices"][0]["drives"] = [{"confirmed": True}]
    counted["devices"][0]["derived"]["degraded"] = counted["devices"][0]["targets"][0]["device_gone"] = True
    made = [counted, stats({"x": ("sda", "pad", 1, 2)}) | {"interval_s": 5},
            check([("extent", "sda1")], [("sda", "M", 512, 7200, 9)]),
            plan(3, 2, [("app", 2)], [(4096, 3, 9)], writes_misaligned=2), plan(3, source_format="workload"),
            *(document for seed in range(20) for document in random_fleet(seed).values())]
    for document in made[:]:
        for _ in range(10):
            with contextlib.suppress(ValueError):
                made.append(json.loads(spoiled(document, source)))
    useful = set()
    for document in made:
        whole = said_by(document)
        assert said_by(document, documents.MEMBERS) == whole, json.dumps(document)
        useful |= {name for name in {*documents.MEMBERS} - useful
                   if said_by(document, {*documents.MEMBERS} - {name}) != whole}
    assert useful == set(documents.MEMBERS)


BEFORE = {"nothing": b"", "a line": LINE, "two lines": 2 * LINE, "a line and a half": LINE + LINE[:100],
          "all but an end": 2 * LINE + LINE[:-1]}
ENDS = {"KILL": (lambda: os.kill(os.getpid(), signal.SIGKILL), "was killed (Killed)"),
        "TERM": (lambda: os.kill(os.getpid(), signal.SIGTERM), "was killed (Terminated)"),
        "status 3": (lambda: os._exit(3), "failed"), "status 0": (lambda: os._exit(0), "failed")}


@pytest.mark.parametrize("before, end, asked", [*((before, "KILL", True) for before in BEFORE),
                                                *(("a line", end, asked) for end in ENDS for asked in (True, False))])
def test_a_reader_that_ends_early_is_an_error_and_no_list_without_its_hosts(reader, tmp_path, capsys, before, end, asked):
    """Also one that ends before it has been asked, when it may be asked for more than a pipe holds."""
    folder = save(tmp_path, {f"{number}/{'long' * 50}.check.json": SHIFTED for number in range(3 if asked else 900)})
    finish, how = ENDS[end]

    def act(requests, answers):
        if asked:
            all_of(requests)
        os.write(answers, BEFORE[before])
        finish()
    assert command.main(taken(command, "fleet", folder, reader=reader(act))) == IO
    out, err = capsys.readouterr()
    assert out == "" and err == (f"alignctl fleet: the process that reads the documents {how}: see that there is memory, "
                                 "and run it again\n")


@pytest.fixture
def caught():
    before = [(number, signal.getsignal(number)) for number in interrupt.SIGNALS]
    interrupt.catch()
    yield
    for number, handler in before:
        signal.signal(number, handler)


@pytest.mark.parametrize("number, said", [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "interrupted: Terminated"),
                                          (signal.SIGHUP, "interrupted: Hangup")])
@pytest.mark.parametrize("also_it", [False, True])
def test_a_signal_ends_it_and_its_reader(caught, reader, tmp_path, capsys, number, said, also_it):
    """As kill sends it to the program alone, or a terminal to all processes."""
    folder, mine = save(tmp_path, {f"{name}.check.json": SHIFTED for name in "abc"}), os.getpid()

    def act(requests, answers):
        all_of(requests)
        os.write(answers, LINE)
        os.kill(mine, number)
        if not also_it:
            time.sleep(30)
    status = command.main(taken(command, "fleet", folder, reader=reader(act)))
    assert (status, *capsys.readouterr()) == (128 + number, "", f"alignctl fleet: {said}\n")


def test_each_broken_file_is_named_where_the_reader_has_nothing_of_it(reader, tmp_path, capsys):
    folder = save(tmp_path, {f"{name}.json": content for name, (content, _) in BROKEN.items()})
    assert command.main(taken(command, "fleet", folder)) == IO
    alone = capsys.readouterr()
    assert command.main(taken(command, "fleet", folder, reader=reader(
        lambda requests, answers: os.write(answers, b"\n" * len(all_of(requests)[1]))))) == IO
    assert capsys.readouterr() == alone and alone.err.count("\n") == len(BROKEN)
