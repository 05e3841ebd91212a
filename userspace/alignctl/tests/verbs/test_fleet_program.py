# SPDX-License-Identifier: GPL-2.0
"""alignctl fleet reads what check, stats and plan really print, and the made-up documents of its tests are like them; and what
its process leaves of a document is ranked as the whole one."""

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import fleet_samples as samples
import pytest
from handed import handed, left
from test_fleet import BROKEN, spoiled

import align_reports
from align_reports.fleet.layout import MOST_BYTES
from alignctl_program import ALIGNCTL, alignctl, keys
from audited import Machine, rates
from lab.pace import Limit, patience

FINE, FINDINGS, USAGE, IO = range(4)
TRACE = "time_s,op,offset,bytes,comm\n0,write,512,512,small\n1,write,0,4096,whole\n8,write,4096,1024,small\n"


@pytest.fixture
def answers(tmp_path, disk, machine):
    """A folder of documents that alignctl printed: of a host that is shifted, one with a recording, one with stats."""
    root, align = machine
    (align / "rmw_drive").write_text("7\n")
    trace = tmp_path / "trace.csv"
    trace.write_text(TRACE)
    os.truncate(disk, 8 << 20)
    # one partition of type Linux that starts at sector 63
    entry = bytes([0, 0, 0, 0, 0x83, 0, 0, 0]) + (63).to_bytes(4, "little") + (4096).to_bytes(4, "little")
    with open(disk, "r+b") as file:
        file.write(bytes(446) + entry + bytes(48) + b"\x55\xaa")
    env = {**os.environ, "ALIGNCTL_SYSROOT": str(root)}
    printed = {"shifted/check.json": alignctl("check", disk, "--json"),
               "recorded/plan-sda.json": alignctl("plan", trace, "--json"),
               "counted/stats.json": alignctl("stats", "--json", env=env),
               "watched.stats.json": alignctl("stats", "--interval", "1", "1", "--json", env=env)}
    return samples.save(tmp_path / "answers", {name: done.stdout for name, done in printed.items()})


def test_what_the_other_verbs_print_is_ranked(answers):
    done = alignctl("fleet", answers, "--json")
    assert (done.returncode, done.stderr) == (FINDINGS, "")
    hosts = json.loads(done.stdout)["hosts"]
    assert [(host["host"], host["touches_from"], host["touches_per_day"], host["touches"], host["shift"]) for host in hosts] == [
        ("recorded", "plan", 2 * 86400 // 8, 2, None), ("shifted", None, None, None, 1), ("counted", "stats", None, 7, None),
        ("watched", "stats", 0, 0, None)]
    assert hosts[0]["writers"] == [{"comm": "small", "touches": 2}]


@pytest.mark.parametrize("rotational, said, cost", [
    # 2 touches in 8 s, of 1/120 s each
    (1, {"page": 7200}, {"disk_seconds_per_day": 2 * 86400 / 8 / 120, "extra_bytes_per_day": None}),
    # of a block of 4096 bytes 512 were sent, and of another one 1024
    (0, {}, {"disk_seconds_per_day": None, "extra_bytes_per_day": (3584 + 3072) * 86400 // 8}),
])
def test_what_check_and_plan_print_has_a_cost(tmp_path, rotational, said, cost):
    host = Machine(tmp_path / "host")
    rates(host.disk("sda", (8, 0), rotational=rotational), **said)
    (tmp_path / "trace.csv").write_text(TRACE)
    printed = {"a/check.json": alignctl("check", "--json", env={**os.environ, "ALIGNCTL_SYSROOT": str(host.root)}),
               "a/plan-sda.json": alignctl("plan", tmp_path / "trace.csv", "--json")}
    samples.save(tmp_path / "answers", {name: done.stdout for name, done in printed.items()})
    [found] = json.loads(alignctl("fleet", tmp_path / "answers", "--json").stdout)["hosts"]
    assert found["modelled"].items() >= cost.items() and not found["modelled"]["extra_bytes_at_most"]


def test_one_host_and_a_page_are_one_command_away(answers, tmp_path):
    page = tmp_path / "page.html"
    done = alignctl("fleet", answers, "--host", "recorded", "--html", page)
    assert done.returncode == FINDINGS and done.stdout.splitlines()[1].split()[:2] == ["recorded", "sda"]
    assert "Misaligned writes on recorded" in page.read_text() and ">shifted<" not in page.read_text()
    assert alignctl("fleet", answers, "--html", answers / "watched.stats.json").returncode == USAGE, "a document is no page"


def test_a_file_that_is_no_use_does_not_keep_the_others_from_an_answer(answers):
    (answers / "cut.json").write_text('{"format": 1, "dev')
    done = alignctl("fleet", answers)
    assert done.returncode == IO and done.stderr == f"alignctl fleet: {answers}/cut.json: ends in the middle: make it again\n"
    assert "recorded" in done.stdout and "files not used: 1" in done.stdout
    assert alignctl("fleet", answers / "cut.json").returncode == IO


def test_made_up_documents_have_no_member_that_printed_ones_have_not(answers):
    made_up = {"shifted/check.json": samples.check([("partition-start", "sda1")]),
               "recorded/plan-sda.json": samples.plan(1, 1.5, [("small", 1)]),
               "counted/stats.json": samples.stats({"x": ("sda", "pad", 0, 1)}),
               "watched.stats.json": samples.stats({"x": ("sda", "pad", 0, 1)}, 1)}
    for name, document in made_up.items():
        real = json.loads((answers / name).read_text())
        # those of another source of figures, which an image has not
        assert set(keys(document)) - set(keys(real)) <= set(samples.FIGURES), name


# The process that reads

# In the place of python3: asks as align_reports/fleet/reader.py does, and prints what it is told.
ASKS = f"""#!{sys.executable}
import json, os, sys
requests, answers, process = json.load(open(int(sys.argv[3])))["reader"]
with open(requests, "wb") as stream:
    stream.write(sys.stdin.buffer.read())
with open(answers, "rb") as stream:
    lines = stream.read().decode()
print(json.dumps([lines, os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])]))
"""


@pytest.fixture
def asked(tmp_path):
    """Return a function that asks alignctl's process for members of files: (its lines, its exit status)."""
    program = tmp_path / "bin/python3"
    program.parent.mkdir()
    program.write_text(ASKS)
    program.chmod(0o755)

    def ask(request):
        done = subprocess.run([ALIGNCTL, "fleet", "."], input=request, capture_output=True, timeout=patience(60),
                              env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"})
        assert (done.returncode, done.stderr) == (FINE, b"")
        lines, status = json.loads(done.stdout)
        return lines.splitlines(keepends=True), status
    return ask


def test_it_has_a_line_for_each_file_and_an_empty_one_for_what_it_leaves_to_python(asked, tmp_path):
    folder = samples.save(tmp_path / "answers", {
        "good.json": '{"b": 1, "a": {"b": 2, "c": [3]}}\n', "two.json": '{"a": 1}\n{"a": 2}\n', "cut.json": '{"a": 1',
        "none.json": "", "binary.json": b"\xff\xfe", "odd \udcff\n.json": "[]",
        "long.json": json.dumps({"a": "x" * 10**6, "b": "y" * 10**6})})
    (folder / "folder.json").mkdir()
    (folder / "link.json").symlink_to("good.json")
    os.mkfifo(folder / "pipe.json")
    (folder / "large.json").write_bytes(b"[0]".ljust(MOST_BYTES + 1))
    expected = {"good.json": '{"a":{"c":[3]}}\n', "two.json": "\n", "cut.json": "\n", "none.json": "\n", "binary.json": "\n",
                "odd \udcff\n.json": "[]\n", "long.json": '{"a":"%s"}\n' % ("x" * 10**6), "folder.json": "\n",
                "link.json": '{"a":{"c":[3]}}\n', "pipe.json": "\n", "absent.json": "\n", "large.json": "\n"}
    texts = [b"a", b"c", b"", *(os.fsencode(folder / name) for name in expected)]
    assert asked(b"".join(text + b"\0" for text in texts)) == ([*expected.values()], FINE)


@pytest.mark.parametrize("request_", [b"", b"a\0b\0", b"a\0\0", b"a\0\0/cut"])
def test_it_ends_where_it_is_asked_for_nothing(asked, request_):
    """As where Python ends first, or before it has asked for all."""
    assert asked(request_) == ([], FINE)


def test_it_answers_for_more_files_than_two_pipes_hold(asked, tmp_path):
    path = os.fsencode(samples.save(tmp_path, {"long.json": json.dumps({"a": "x" * 100})}) / "long.json")
    lines, status = asked(b"a\0\0" + 50000 * (path + b"\0"))
    assert (len(lines), {*lines}, status) == (50000, {'{"a":"%s"}\n' % ("x" * 100)}, FINE)


def both(folder, *options):
    """What is said of a folder with the process that reads and without it: (status, output, messages), twice."""
    given = left(handed("fleet", *folder, *options))
    alone = [sys.executable, Path(align_reports.__file__).parent, "fleet", str(given)]
    return [(done.returncode, done.stdout, done.stderr) for done in (
        subprocess.run(program, capture_output=True, timeout=patience(120), pass_fds=[given])
        for program in ([ALIGNCTL, "fleet", *folder, *options], alone))]


@pytest.mark.parametrize("options", [["--json"], ["--by", "device"]])
def test_the_answer_is_the_same_as_without_it(tmp_path, options):
    """Of documents of any kind, with any fault, and where some are in two folders, or contradict each other."""
    source = random.Random(4)
    made = [document for seed in range(9) for document in samples.random_fleet(seed).values()]
    files = {f"odd/{number}.json": spoiled(source.choice(made), source) for number in range(1500)}
    files |= {f"odd/{name}.json": content for name, (content, _) in BROKEN.items()}
    files |= {f"{part}/{name}": source.choice(made) if source.random() < 0.1 else document
              for name, document in samples.random_fleet(3, hosts=100).items()
              for part in source.choice((["one"], ["two"], ["one", "two"]))}
    folder = samples.save(tmp_path / "answers", files)
    found, alone = both([folder / name for name in ("odd", "one", "two")], *options)
    assert found == alone
    status, out, err = found
    assert status == IO and out.count(b"\n") > 900 and err.count(b"\n") > 400 and b"contradicts" in err


def test_a_parent_that_ignores_the_end_of_processes_changes_nothing(answers):
    done = subprocess.run([ALIGNCTL, "fleet", answers], capture_output=True, timeout=patience(60),
                          preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert (done.returncode, done.stderr) == (FINDINGS, b"")


@pytest.fixture
def busy(tmp_path):
    """Start the program on documents that keep it busy for seconds; return it, and the process that reads for it, which does."""
    content = samples.save(tmp_path, {"large.json": samples.large(1, disks=200)}) / "large.json"
    for number in range(1500):
        (tmp_path / f"answers/host{number}").mkdir(parents=True)
        (tmp_path / f"answers/host{number}/check.json").hardlink_to(content)
    program = subprocess.Popen([ALIGNCTL, "fleet", tmp_path / "answers"], text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True)
    limit, reader = Limit(30), 0
    while not reader or int(re.search(r"rchar: (\d+)", Path(f"/proc/{reader}/io").read_text())[1]) < 10 * content.stat().st_size:
        assert program.poll() is None and not limit.over(), program.communicate()
        time.sleep(0.001)
        reader = int((Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split() or [0])[0])
    yield program, reader
    with contextlib.suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)
    program.communicate()


def test_its_end_is_an_error_and_no_shorter_list(busy):
    program, reader = busy
    os.kill(reader, signal.SIGKILL)
    out, err = program.communicate(timeout=patience(60))
    assert (program.returncode, out) == (IO, "")
    assert err == ("alignctl fleet: the process that reads the documents was killed (Killed): see that there is memory, "
                   "and run it again\n")


@pytest.mark.parametrize("number, said", [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "interrupted: Terminated")])
@pytest.mark.parametrize("send", [os.kill, os.killpg])
def test_a_signal_ends_both(busy, send, number, said):
    """As kill sends it to the program alone, or a terminal to all its processes."""
    program, reader = busy
    send(program.pid, number)
    out, err = program.communicate(timeout=patience(60))
    assert (program.returncode, out, err) == (128 + number, "", f"alignctl fleet: {said}\n")
    assert not Path(f"/proc/{reader}").exists()


def test_it_ends_where_the_program_is_killed(busy):
    program, reader = busy
    program.kill()
    program.communicate(timeout=patience(60))
    limit = Limit(30)
    while Path(f"/proc/{reader}").exists():
        assert not limit.over(), "it goes on without a reader of its lines"
        time.sleep(0.01)
