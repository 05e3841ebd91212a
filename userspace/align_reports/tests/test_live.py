# SPDX-License-Identifier: GPL-2.0
"""verify --live: the order of the periods, what they say, and that the mode is put back at every end."""

import contextlib
import errno
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest
from handed import left
from html_checks import Outline, check_layout, stands_alone
from live_samples import MODES, MadeUpDevice, made_up, made_up_samples
from rich.console import Console

import align_reports
from align_reports import charts, report_file
from align_reports.command import attempt
from align_reports.given import of
from align_reports.interrupt import Interrupted
from align_reports.intervals import Interval, compare
from align_reports.live import command as live, figures, page, table
from align_reports.live.experiment import blocks, duration_of, schedule
from align_reports.live.keeper import KeeperEnded, Kept, Lost
from align_reports.machine import Refused
from lab.pace import Limit, patience
from lab.plugins import documents

PACKAGE = Path(align_reports.__file__).parent
FINE, FINDINGS, USAGE, IO, BUSY = range(5)


def members(socket=-1, hold_ms=500, seconds=None, **options):
    """The arguments as alignctl hands them over: see verbs/verify_live.c."""
    keeper = {"socket": socket, "dm": "dm-3", "mode": "report", "hold_ms": hold_ms, "name": "align-x"}
    usual = {"modes": ["report", "pad"], "period": [10, 30], **({"seconds": seconds} if seconds else {"repeat": 10})}
    return {"operands": ["align-x"], "live": True, "keeper": keeper, **usual, **options}


def given(**options):
    return of(live.Given, members(**options))


# The order of the periods

def test_each_block_has_each_mode_once_in_an_order_that_the_seed_decides():
    modes = ["report", "pad", "coalesce"]
    drawn = [block for block, _ in zip(blocks(modes, 10, 30, 5), range(60), strict=False)]
    orders = Counter(tuple(period.mode for period in block) for block in drawn)
    assert all(sorted(order) == sorted(modes) for order in orders)
    assert len(orders) == 6, "all six orders come"
    assert {period.seconds for block in drawn for period in block} == set(range(10, 31))
    numbers = [period.number for block in drawn for period in block]
    assert numbers == list(range(1, 181))
    again, other = (next(blocks(modes, 10, 30, seed)) for seed in (5, 6))
    assert again == drawn[0] and other != drawn[0]


def test_whole_blocks_are_made_as_many_as_asked_or_as_fit_into_the_time():
    assert len(schedule(blocks(MODES, 10, 30, 1), 1, 4, None)) == 8
    fit = schedule(blocks(MODES, 10, 30, 1), 2.5, None, 300)
    assert len(fit) % 2 == 0 and fit and duration_of(fit, 2.5) <= 300
    assert duration_of(schedule(blocks(MODES, 10, 30, 1), 2.5, fit[-1].block + 1, None), 2.5) > 300
    assert schedule(blocks(MODES, 10, 30, 1), 1, None, 21) == []


def test_the_time_after_a_change_is_left_out_of_each_period():
    device = MadeUpDevice()
    living = live.Living(given(repeat=3, seed=3, warmup=2.5))
    living.run(device, device.clock)
    assert device.diary[:2] == [("change", "report"), ("change", "pad")], "both are tried before anything is measured"
    steps = [step[0] for step in device.diary[2:-1]]
    assert steps == ["change", "wait", "measure"] * 6 and device.diary[-1] == ("end",)
    assert {step[1] for step in device.diary if step[0] == "wait"} == {2.5}
    assert [sample.period for sample in living.samples] == living.periods
    assert living.samples[0].began == 2.5
    assert living.samples[1].began == 5 + living.periods[0].seconds


@pytest.mark.parametrize("options, hold_ms, seconds", [
    ({}, 500, 1.0), ({}, 60000, 1.0), ({"modes": ["pad", "coalesce"]}, 500, 1.0), ({"modes": ["coalesce", "pad"]}, 60000, 60.0),
    ({"modes": ["coalesce", "pad"], "warmup": 0.5}, 60000, 0.5)])
def test_at_least_a_hold_time_is_left_out_where_blocks_are_held(options, hold_ms, seconds):
    assert live.settle_time(given(**options, hold_ms=hold_ms)) == seconds


def test_the_seed_is_told_so_that_the_order_can_be_had_again():
    one, two = live.Living(given()), live.Living(given())
    assert one.seed != two.seed and f"seed {one.seed}" in one.plan()
    assert live.Living(given(seed=one.seed)).periods == one.periods
    assert len(one.periods) == 2 * 10


def test_too_few_periods_for_a_verdict_are_told_beforehand():
    assert "allow no verdict" in live.Living(given(repeat=2)).plan()
    assert "verdict" not in live.Living(given(repeat=3)).plan()


# What they say

def change_of(samples, name, mode="pad"):
    [quantity] = [each for each in figures.QUANTITIES if each.name == name]
    return figures.change(samples, mode, "report", quantity)


def test_rmws_are_compared_by_their_difference_and_times_by_their_ratio():
    samples = made_up_samples()
    left = change_of(samples, "at_drive")
    assert (left.by.mean, left.by.bounds) == (-1, (-1, -1)) and left.words == "1.00 fewer [1.00 to 1.00]"
    assert change_of(samples, "host").words.startswith("0.400 more [0.400 to")
    mean = change_of(samples, "misaligned_mean")
    pairs = [(by["pad"], by["report"]) for block in range(1, 7)
             for by in [{s.period.mode: s.latency("misaligned", "mean") for s in samples if s.period.block == block}]]
    assert mean.by == compare(pairs) and re.fullmatch(r"(2\.\d\d|3\.\d\d) times lower \[.*\]", mean.words)
    assert change_of(samples, "aligned_mean").words == "no difference shown"


def test_periods_of_one_block_are_a_pair():
    """A load that slows all down ten times from block to block hides nothing."""
    def make(mode, seconds, pace):
        make.number += 1
        return made_up(mode, seconds, 10.0 ** ((make.number - 1) // 2))
    make.number = 0
    ratio = change_of(made_up_samples(4, make=make), "misaligned_mean").by
    assert ratio.mean == pytest.approx(1 / 3) and ratio.low == pytest.approx(1 / 3)


@pytest.mark.parametrize("factor, words", [(1.2, "no difference shown: 1.20 times is within a bin of the histogram"),
                                           (1 / 1.25, "no difference shown: 0.80 times is within a bin"),
                                           (1.3, "1.30 times higher")])
def test_what_a_bin_could_hide_is_no_difference(factor, words):
    def make(mode, seconds, pace):
        return made_up("report", seconds, factor if mode == "pad" else 1)
    for name in ("misaligned_mean", "misaligned_p99", "aligned_p99"):
        assert change_of(made_up_samples(make=make), name).words.startswith(words)


def test_a_difference_by_chance_is_none():
    def make(mode, seconds, pace):
        make.number += 1
        left = (100, 60, 80, 90, 70)[make.number % 5]
        return made_up("report", seconds, (3, 1, 1, 3)[make.number % 4], rmw_drive=left, rmw_avoided=100 - left)
    make.number = 0
    samples = made_up_samples(8, make=make)
    assert change_of(samples, "misaligned_mean").words == "no difference shown"
    left = change_of(samples, "at_drive")
    assert left.words == "no difference shown" and abs(left.by.mean) >= left.quantity.least


def test_fewer_than_three_blocks_give_figures_and_no_verdict():
    samples = made_up_samples(2)
    for name in ("at_drive", "misaligned_mean", "writes"):
        assert change_of(samples, name).words == "nothing can be said from fewer than 3 repetitions"
    assert "fewer" not in " ".join(figures.verdict(samples, MODES)).replace("fewer than 3", "")
    assert "report" in printed(samples)


def test_without_writes_nothing_can_be_said():
    samples = made_up_samples(make=lambda mode, seconds, pace: made_up(mode, seconds, writes=0))
    assert figures.verdict(samples, MODES) == ["no writes came: nothing can be said"]
    assert figures.NO_WRITES in figures.document(samples, MODES)["verdict"]
    assert printed(samples) and page.render("x", samples, MODES, {}, None)


def test_without_touches_there_is_nothing_to_align():
    samples = made_up_samples(make=lambda mode, seconds, pace: made_up(mode, seconds, misaligned=False))
    said = figures.verdict(samples, MODES)
    assert said[0].startswith("No write was misaligned")
    assert change_of(samples, "misaligned_mean").words == change_of(samples, "at_drive").words == \
        "nothing can be said: there were none"


def test_a_period_without_misaligned_writes_is_in_no_pair():
    def make(mode, seconds, pace):
        make.number += 1
        return made_up(mode, seconds, misaligned=make.number not in (3, 6))
    make.number = 0
    assert change_of(made_up_samples(5, make=make), "misaligned_mean").by.values == 3


@pytest.mark.parametrize("rates, words", [((1000, 1100), "The load was even: 100 to 110 writes/s"),
                                          ((200, 3000), "The load varied: 20 to 300 writes/s")])
def test_how_much_the_load_varied_is_told(rates, words):
    def make(mode, seconds, pace):
        make.number += 1
        return made_up(mode, 10, writes=rates[make.number % 2])
    make.number = 0
    last = figures.verdict(made_up_samples(make=make), MODES)[-1]
    assert last.startswith(words) and ("compare" in last) == ("varied" in words)


def test_touches_that_ended_in_another_period_are_counted_apart():
    samples = made_up_samples(3, make=lambda mode, seconds, pace: made_up(mode, seconds, rmw_expected=107))
    assert {each["moved"] for each in figures.document(samples, MODES)["periods"]} == {7}
    assert change_of(samples, "at_drive").by.mean == -1, "of those that were resolved in the period"


def test_touches_that_failed_are_a_finding():
    assert figures.findings(made_up_samples()) == []
    samples = made_up_samples(3, make=lambda mode, seconds, pace: made_up(mode, seconds, rmw_lost=int(mode == "pad")))
    assert len(figures.findings(samples)) == 3 and "pad: 1 touches failed" in figures.findings(samples)[0]


def printed(samples, modes=MODES):
    console = Console(width=220, record=True, file=io.StringIO())
    console.print(table.render(samples, modes, "title"))
    return console.export_text()


def test_the_table_has_a_row_for_each_quantity_and_each_mode_beside_the_first():
    modes = ["report", "pad", "coalesce"]
    text = printed(made_up_samples(modes=modes), modes)
    for words in ("writes /s", "touches /s", "at drive per touch", "misaligned p99 <", "pad beside report",
                  "coalesce beside report", "1.00 fewer"):
        assert words in text.replace("writes/s", "writes /s").replace("touches/s", "touches /s"), words


def document(capsys, samples, stopped=None):
    living = live.Living(given(seed=3, json=True))
    living.samples = samples
    status = living.report(stopped)
    return json.loads(capsys.readouterr().out), status


def test_the_document_is_as_its_schema(capsys):
    made, status = document(capsys, made_up_samples())
    assert status == FINE and next(iter(made)) == "format" and made["format"] == live.FORMAT
    counters = documents.kinds("verify")[0][1].schema["$defs"]["counters"]["properties"]
    for period in made["periods"]:
        # those that are made up are few
        period["counters"] = dict.fromkeys(counters) | period["counters"]
    documents.judge("verify", json.dumps(made))
    assert {each["name"] for each in made["figures"]} <= made["periods"][0].keys()


def test_findings_give_the_status_and_stand_in_the_document(capsys):
    made, status = document(capsys, made_up_samples(make=lambda mode, seconds, pace: made_up(mode, seconds, rmw_lost=1)),
                            stopped="it was")
    assert status == FINDINGS and made["findings"] and made["stopped"] == "it was"


# The page

def rendered(samples=None, modes=MODES, stopped=None):
    return page.render("align-<x>", samples or made_up_samples(modes=modes), modes, {"device": "align-<x>"}, stopped)


def test_the_page_has_touches_latencies_and_the_time_line_and_needs_nothing_else():
    modes = ["report", "pad", "coalesce"]
    made = rendered(modes=modes)
    outline = Outline(made)
    assert outline.open == [] and stands_alone(made) and "align-&lt;x&gt;" in made
    drawings = [attrs["aria-label"] for tag, attrs in outline.tags if tag == "svg"]
    assert len(drawings) == 5 and all(drawings)
    assert drawings[0].startswith("Partial touches: report: ") and "writes/s in each period" in drawings[3]
    assert len(re.findall(r'class="bar (?:report|pad|coalesce)"', made)) == 2 * 18
    assert "Stopped: the mode &lt; x." in rendered(stopped="the mode < x")


def test_every_bar_of_the_time_line_lies_inside_it_in_its_own_time():
    samples = made_up_samples()
    drawn = page.period_panel(samples, lambda s: s.writes_per_s, str, "writes/s")
    bars = [tuple(map(float, bar)) for bar in
            re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" class="bar', drawn)]
    assert len(bars) == len(samples)
    for (x, y, width, height), following in zip(bars, [*bars[1:], (charts.WIDTH,)], strict=True):
        assert charts.LEFT <= x and x + width <= following[0] and 0 <= y and y + height <= charts.TOP + charts.HEIGHT + 0.1


def test_a_browser_lays_the_page_out_without_sideways_scrolling(tmp_path):
    check_layout(rendered(modes=["report", "pad", "coalesce"]), tmp_path, 380, "light")


# The mode is put back

def run(fails=None, **options):
    device = MadeUpDevice(before="coalesce", fails=fails)
    for name, value in options.items():
        setattr(device, name, value)
    living = live.Living(given(repeat=3, seed=3))
    stopped, status = attempt("verify", lambda: living.run(device, device.clock))
    return device, living, stopped, max(status, living.failed)


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5, 20])
@pytest.mark.parametrize("how, status", [(Refused("refused", 2), 2), (Lost("align-x: gone"), BUSY),
                                         (Interrupted(signal.SIGTERM), 143), (OSError(errno.ENOSPC, "full"), IO)])
def test_the_mode_is_put_back_wherever_it_ends(step, how, status):
    device, _, stopped, ended = run({step: how})
    assert device.mode == "coalesce" and device.diary.count(("end",)) == 1 and device.diary[-1] == ("end",)
    assert ended == status and stopped


def test_it_is_put_back_after_a_fault_of_the_program():
    device = MadeUpDevice(before="coalesce", fails={5: ZeroDivisionError()})
    with pytest.raises(ZeroDivisionError):
        live.Living(given(repeat=3)).run(device, device.clock)
    assert device.mode == "coalesce" and device.diary[-1] == ("end",)


def test_it_is_put_back_at_the_usual_end():
    device, living, stopped, status = run()
    assert (device.mode, stopped, status, len(living.samples)) == ("coalesce", None, FINE, 6)


def test_a_mode_that_somebody_else_sets_ends_it_and_stays(capsys):
    device, living, stopped, status = run(theirs="coalesce")
    assert status == BUSY and "another program changed its mode meanwhile" in stopped
    assert living.samples == [], "a period in two modes is in none"
    assert "its mode is left as it is" in capsys.readouterr().err


def test_a_mode_that_stays_is_an_error_whatever_came_before(capsys):
    def fail():
        raise Refused("align-x: mode coalesce could not be put back", IO)
    for fails, status in ((None, IO), ({5: Refused("refused", 2)}, IO), ({5: Interrupted(signal.SIGINT)}, 130)):
        assert run(fails, end=fail)[3] == status
        assert "could not be put back" in capsys.readouterr().err


# The keeper

class Keeper(threading.Thread):
    """A stand-in for the keeper: answers as told, and notes what it was asked."""

    def __init__(self, *answers):
        super().__init__(daemon=True)
        self.ours, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.asked, self.answers = [], list(answers)
        self.start()

    def run(self):
        while self.answers:
            text = self.ours.recv(512).decode()
            self.asked.append(text)
            answer = self.answers.pop(0)
            for each in [answer] if isinstance(answer, str) else answer:
                self.ours.send(each.encode())
            if not text:
                break
        self.ours.close()


def kept(*answers, alignctl="/no/such"):
    keeper = Keeper(*answers)
    return Kept(keeper.theirs, alignctl, "align-x", "dm-3", "report"), keeper


def test_the_keeper_is_asked_for_each_change_and_for_the_end():
    device, keeper = kept("ok", "refused 2", "back report")
    device.change("pad")
    with pytest.raises(Refused, match="mode coalesce was refused, see above") as raised:
        device.change("coalesce")
    assert raised.value.status == USAGE and device.end() is None
    assert keeper.asked == ["mode pad", "mode coalesce", "end"]


def test_what_the_keeper_says_by_itself_ends_a_wait_and_a_measurement(tmp_path):
    stats = tmp_path / "alignctl"
    stats.write_text("#!/bin/sh\nexec sleep 60\n")
    stats.chmod(0o755)
    said = "lost its mode was changed"
    # A change that crosses what the keeper says is answered, too.
    for act, answers in ((lambda device: device.wait(60), []), (lambda device: device.measure(60), []),
                         (lambda device: device.change("pad"), [said])):
        device, _ = kept(("ok", said), *answers, (said, "left it is theirs"), alignctl=str(stats))
        device.change("pad")
        with pytest.raises(Lost, match="align-x: its mode was changed"):
            act(device)
        assert device.end() == "it is theirs"


def test_a_ledger_that_is_gone_is_said_to_be_so_by_the_keeper():
    device, keeper = kept("lost is no align device any more", alignctl="/bin/false")
    with pytest.raises(Lost, match="is no align device any more"):
        device.measure(1)
    device, keeper = kept("ok", alignctl="/bin/false")
    with pytest.raises(Refused, match="alignctl stats: status 1"):
        device.measure(1)
    assert keeper.asked == ["look"]


def test_a_mode_that_could_not_be_put_back_is_an_error():
    device, _ = kept("failed 3")
    with pytest.raises(Refused, match="could not be put back") as raised:
        device.end()
    assert raised.value.status == IO


@pytest.mark.parametrize("mode, left, done", [("pad", None, ["stats", "set dm-3 --mode report"]),
                                              ("coalesce", None, ["stats", "set dm-3 --mode report"]),
                                              ("other", "another program changed its mode", ["stats"])])
def test_without_its_keeper_the_program_puts_the_mode_back(tmp_path, mode, left, done):
    """The keeper was ended before the second change, or between it and the answer."""
    program = tmp_path / "alignctl"
    program.write_text(f"""#!/bin/sh
echo "$*" >> {tmp_path}/diary
echo '{{"devices": [{{"targets": [{{"mode": "{mode}"}}]}}]}}'
""")
    program.chmod(0o755)
    device, keeper = kept("ok", alignctl=str(program))
    device.change("pad")
    keeper.join()
    with pytest.raises(KeeperEnded):
        device.change("coalesce")
    assert (device.end() or "").startswith(left or "")
    diary = (tmp_path / "diary").read_text().splitlines()
    assert len(diary) == len(done) and all(line.startswith(words) for line, words in zip(diary, done, strict=True))


# The program, with a stand-in for alignctl whose measurement lasts until it is killed, after the first two

ALIGNCTL = """#!/bin/sh
echo >> "$DIARY"
if [ $(wc -l < "$DIARY") -gt 2 ]; then
	echo $$ > "$DIARY.pid"
	exec sleep 60
fi
cat "$DOCUMENT"
"""


class Program:
    """The program and its keeper, which is this test."""

    def __init__(self, folder, how, **options):
        program = folder / "alignctl"
        program.write_text(ALIGNCTL)
        program.chmod(0o755)
        # In the mode that the seed puts first, and so in both of its blocks.
        (folder / "document").write_text(json.dumps({"devices": [made_up("pad")]}))
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(patience(30))
        given = left(members(socket=theirs.fileno(), warmup=0.01, modes=["pad"], seed=3, **options))
        self.running = subprocess.Popen(
            [sys.executable, PACKAGE, "live", str(given)], pass_fds=[given, theirs.fileno()], text=True, start_new_session=True,
            env={**os.environ, "ALIGNCTL": str(program), "DIARY": str(folder / "diary"),
                 "DOCUMENT": str(folder / "document")},
            stderr=subprocess.PIPE, **how)
        theirs.close()
        os.close(given)
        self.diary, self.measuring = folder / "diary", folder / "diary.pid"

    def close(self):
        self.running.kill()
        # A measurement outlives a program that was killed.
        if self.measuring.exists():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(self.measuring.read_text()), signal.SIGKILL)
        self.running.communicate()
        self.socket.close()

    def asked(self):
        """Return what the keeper is asked, but for looks, which find all well."""
        while (text := self.socket.recv(512)) == b"look":
            self.socket.send(b"ok")
        return text

    def serve(self, changes):
        """Say ok to so many changes."""
        for _ in range(changes):
            assert self.asked() == b"mode pad"
            self.socket.send(b"ok")

    def wait_for_the_measurement(self):
        limit = Limit(30)
        while not self.measuring.exists() or not self.measuring.read_text():
            assert not limit.over() and self.running.poll() is None
            threading.Event().wait(0.01)

    def ended(self):
        assert self.asked() == b"end"
        self.socket.send(b"back report")
        out, err = self.running.communicate(timeout=patience(30))
        return self.running.returncode, out, err


@pytest.fixture
def program(tmp_path):
    started = []

    def start(stdout=subprocess.PIPE, **options):
        started.append(Program(tmp_path, {"stdout": stdout}, **options))
        return started[-1]
    yield start
    for each in started:
        each.close()


@pytest.mark.usefixtures("hangup")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_with_the_mode_put_back_and_what_was_measured_printed(program, number):
    running = program(json=True)
    running.serve(4)
    running.wait_for_the_measurement()
    os.kill(running.running.pid, number)
    status, out, err = running.ended()
    assert status == 128 + number and "Traceback" not in err
    made = json.loads(out)
    assert len(made["periods"]) == 2 and made["stopped"].startswith("interrupted")


def test_its_keeper_sees_at_once_that_it_was_killed(program):
    """Nothing that it has started holds the socket open."""
    running = program()
    running.serve(4)
    running.wait_for_the_measurement()
    running.running.kill()
    assert running.socket.recv(512) == b""


def test_a_full_disk_under_its_output_comes_after_the_mode_was_put_back(program):
    with open("/dev/full", "w") as full:
        running = program(repeat=2, stdout=full)
        running.serve(3)
        status, _, err = running.ended()
    assert status == IO and "standard output: No space left" in err


def test_a_page_that_cannot_be_written_comes_after_that_too(tmp_path, monkeypatch, capsys):
    def full(path, text):
        raise OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(report_file, "write", full)
    device = MadeUpDevice()
    living = live.Living(given(repeat=3, html=str(tmp_path / "page.html")))
    living.run(device, device.clock)
    assert living.report(None) == IO and device.diary[-1] == ("end",)
    assert "no page was written" in capsys.readouterr().err


def test_to_say_what_would_be_done_needs_no_keeper(capsys):
    assert live.main(given(dry_run=True, seed=9)) == FINE
    said = capsys.readouterr().out
    assert "20 periods of 10 to 30 s, 10 each in report, pad" in said and "seed 9" in said and "nothing was done" in said


def test_a_time_too_short_for_one_block_is_refused(capsys):
    assert live.main(given(dry_run=True, seconds=20)) == USAGE
    assert "--seconds 20: too short" in capsys.readouterr().err


def test_an_interval_of_one_value_has_no_bounds():
    assert figures.ranges(Interval.of([2.0]), figures.QUANTITIES[0]) == "2.00"
