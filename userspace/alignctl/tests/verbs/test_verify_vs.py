# SPDX-License-Identifier: GPL-2.0
"""alignctl verify with --vs, on regular files, as its user meets it."""

import json
import os
import re
import signal
import subprocess

import pytest

from alignctl_program import ALIGNCTL, DISK_BYTES, alignctl, at_a_terminal, spoil
from lab.pace import patience

FINE, FINDINGS, USAGE, IO, BUSY = range(5)


@pytest.fixture
def other(disk):
    path = disk.with_name("other")
    with open(path, "wb") as file:
        file.truncate(DISK_BYTES)
    return path


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("op,offset,bytes\n" + "".join(f"write,{i * 4608},4096\nread,{i * 4608},512\n" for i in range(20)))
    return path


def compared(source, disk, other, *options, status=FINE):
    done = alignctl("verify", source, "--on", disk, "--vs", other, "--json", *options)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


# Two devices

def test_a_workload_on_two_devices_is_one_table_with_both(disk, other):
    result = compared("w512", disk, other, "--count", 50, "--repeat", 3)
    assert [line["name"] for line in result["figures"]] == ["wall", "mean", "p50", "p99", "p99.9", "IOPS"]
    for line in result["figures"]:
        for side in ("on", "vs", "ratio"):
            assert line[side]["low"] <= line[side]["mean"] <= line[side]["high"] and line[side]["values"] == 3
    assert [(run["repetition"], run["device"]) for run in result["runs"]] == [
        (1, str(disk)), (1, str(other)), (2, str(other)), (2, str(disk)), (3, str(disk)), (3, str(other))]
    for run in result["runs"]:
        replay = run["replay"]
        assert (replay["requests"], replay["touches_expected"], replay["data_check"]["status"]) == (50, 50, "ok")
    assert result["findings"] == [] and str(disk) in result["verdict"]
    # both were written, by the last run of each
    assert disk.read_bytes()[:8] == other.read_bytes()[:8] == b"alignctl"


def test_the_table_says_when_nothing_can_be_said(disk, other):
    done = alignctl("verify", "w512", "--on", disk, "--vs", other, "--count", 20, "--repeat", 1)
    assert done.returncode == FINE
    assert "nothing can be said from fewer than 3 repetitions; --repeat 5" in done.stdout
    assert re.search(r"touches expected\W+20\W+20", done.stdout)


def test_a_trace_and_a_workload_that_reads_are_compared_too(disk, other, trace):
    for source, requests, check in ((trace, 40, "ok"), ("db-read", 30, "skipped")):
        options = ["--count", 30] if source == "db-read" else ["--timing", "fast", "--depth", 4]
        result = compared(source, disk, other, *options, "--repeat", 2)
        assert {(run["replay"]["requests"], run["replay"]["data_check"]["status"]) for run in result["runs"]} == \
            {(requests, check)}
        assert result["findings"] == []


@pytest.mark.parametrize("timing, time", [("closed", "service"), ("fast", "service"), ("open", "response")])
def test_what_is_compared_of_a_trace_is_what_its_timing_has(disk, other, tmp_path, timing, time):
    """As fast as possible and eight at once, a request would seem to wait for all that are before it."""
    trace, page = tmp_path / "t.csv", tmp_path / "page.html"
    trace.write_text("time_us,op,offset,bytes\n" + "".join(f"{i},write,{i % 50 * 8192},4096\n" for i in range(400)))
    result = compared(trace, disk, other, "--timing", timing, "--depth", 8, "--repeat", 2, "--html", page)
    assert result["time"] == time
    for name, key in (("mean", "mean"), ("p99", "p99"), ("p99.9", "p99_9")):
        [line] = [each for each in result["figures"] if each["name"] == name]
        for side, device in (("on", disk), ("vs", other)):
            each = [run["replay"][f"{time}_us"][key] for run in result["runs"] if run["device"] == str(device)]
            assert line[side]["mean"] == pytest.approx(sum(each) / 2)
    text = page.read_text()
    assert ("Response time on both" in text) == (time == "response")
    assert ("Latency on both" in text) == (time == "service")
    assert len(re.findall(r'<polyline [^>]*class="curve (?:on|vs)"', text)) == 2


@pytest.mark.parametrize("writes", [True, False])
def test_the_page_has_every_latency_of_both(disk, other, trace, tmp_path, writes):
    page = tmp_path / "page.html"
    source, options = ("w512", ["--count", 30]) if writes else (trace, ["--timing", "fast"])
    result = compared(source, disk, other, *options, "--repeat", 2, "--html", page)
    assert {key for run in result["runs"] for key in run} == {"repetition", "device", "replay", "requests", "ledger",
                                                              "drive"}
    text = page.read_text()
    said = re.findall(r'aria-label="(.*?)"', text)
    assert len(said) == 2 and all(str(path) in label for path in (disk, other) for label in said)
    assert len(re.findall(r'<polyline [^>]*class="curve (?:on|vs)"', text)) == 2
    assert len(re.findall(r'class="pair"><title>', text)) == 2 * len(result["figures"])
    assert result["verdict"] in text and "<script" not in text and "http" not in text


def test_a_page_that_cannot_be_written_is_said_before_anything_is(disk, other):
    failed = alignctl("verify", "w512", "--on", disk, "--vs", other, "--count", 5, "--html", "/none/page")
    assert failed.returncode == USAGE and "--html /none/page: No such file" in failed.stderr
    assert not any(disk.read_bytes()) and not any(other.read_bytes())


def test_random_requests_are_the_same_on_devices_of_different_sizes(disk, other):
    os.truncate(other, DISK_BYTES // 2)
    result = compared("rand4k", disk, other, "--count", 40, "--repeat", 1)
    spans = {run["replay"]["span"] for run in result["runs"]}
    assert spans == {DISK_BYTES // 2 - 2 * 65536}
    assert disk.read_bytes()[DISK_BYTES // 2:] == bytes(DISK_BYTES // 2)


def test_probes_are_the_same_on_devices_of_different_sizes(disk, other):
    os.truncate(other, DISK_BYTES // 2)
    result = compared("seqread", disk, other, "--count", 3, "--repeat", 1)
    assert result["findings"] == []
    assert len({(run["replay"]["bytes"], *(probe["offset"] for probe in run["replay"]["probes"]["each"]))
                for run in result["runs"]}) == 1


@pytest.mark.parametrize("how", ["--wrap", "--scale"])
def test_a_trace_is_moved_to_fit_each_device(disk, other, tmp_path, how):
    os.truncate(other, DISK_BYTES // 2)
    trace = tmp_path / "far"
    trace.write_text("op,offset,bytes\n" + "".join(
        f"write,{n * DISK_BYTES // 20 // 4096 * 4096 + 512},4096\n" for n in range(30)))
    refused = alignctl("verify", trace, "--on", disk, "--vs", other, "--repeat", 1)
    assert refused.returncode == USAGE and "use --wrap or --scale" in refused.stderr
    result = compared(trace, disk, other, "--repeat", 1, how)
    assert [(run["replay"]["requests"], run["replay"]["data_check"]["status"]) for run in result["runs"]] == 2 * [(30, "ok")]
    # the place in its block is what matters
    assert [[row["phase"] for row in run["replay"]["by_phase"]] for run in result["runs"]] == 2 * [[512]]
    refused = alignctl("verify", trace, "--on", disk, "--vs", other, "--wrap", "--scale")
    assert refused.returncode == USAGE and "--wrap, --scale: exclude each other" in refused.stderr


def test_the_same_device_twice_is_refused(disk, tmp_path):
    (tmp_path / "link").symlink_to(disk)
    failed = alignctl("verify", "w512", "--on", disk, "--vs", tmp_path / "link", "--count", 5)
    assert failed.returncode == USAGE and "is the same device" in failed.stderr and "another" in failed.stderr
    assert not any(disk.read_bytes())


@pytest.mark.parametrize("spoilt", [0, 1])
def test_nothing_is_written_to_either_if_one_holds_data(disk, other, spoilt):
    spoil((disk, other)[spoilt])
    before = disk.read_bytes(), other.read_bytes()
    failed = alignctl("verify", "w512", "--on", disk, "--vs", other, "--count", 5)
    assert failed.returncode == BUSY and not failed.stdout
    assert "holds data in the sector at byte 0" in failed.stderr and "nothing was written" in failed.stderr
    assert (disk.read_bytes(), other.read_bytes()) == before
    # the other one's name does not do
    failed = alignctl("verify", "w512", "--on", disk, "--vs", other, "--count", 5, "--force", (other, disk)[spoilt])
    assert failed.returncode == BUSY and (disk.read_bytes(), other.read_bytes()) == before
    done = alignctl("verify", "w512", "--on", disk, "--vs", other, "--count", 5, "--repeat", 1, "--force", disk,
                    "--force", other)
    assert done.returncode == FINE, done.stderr
    assert disk.read_bytes()[:8] == other.read_bytes()[:8] == b"alignctl"


def test_a_device_that_is_too_small_is_seen_before_the_other_is_written(disk, other):
    os.truncate(other, 1 << 16)
    failed = alignctl("verify", "w512", "--on", disk, "--vs", other, "--count", 1000)
    assert failed.returncode == USAGE and "too small" in failed.stderr and not any(disk.read_bytes())


def test_a_dry_run_says_what_would_be_done(disk, other):
    said = alignctl("verify", "w512", "--on", disk, "--vs", other, "--count", 5, "--repeat", 4, "--dry-run")
    assert said.returncode == FINE and "4 times each" in said.stdout and "nothing was done" in said.stdout
    said = alignctl("verify", "w512", "--on", disk, "--vs", other, "--count", 5, "--dry-run", "--json")
    assert json.loads(said.stdout)["dry_run"] and "5 times each" in json.loads(said.stdout)["plan"]
    assert not any(disk.read_bytes()) and not any(other.read_bytes())


@pytest.mark.parametrize("names, status", [("{disk} {other}", FINE), ("{disk}", BUSY)])
def test_at_a_terminal_both_names_confirm(disk, other, names, status):
    spoil(other)
    assert at_a_terminal("verify", "w512", "--on", disk, "--vs", other, "--count", 5, "--repeat", 1,
                         answer=names.format(disk=disk, other=other))[1] == status
    assert (other.read_bytes()[:8] == b"precious") == (status == BUSY)
    assert any(disk.read_bytes()) == (status == FINE)


@pytest.mark.parametrize("options, words", [
    (["--dry-run"], ["--dry-run", "--vs DEV"]),
    (["--depth", "2"], ["--depth: needs --vs DEV; add it\n"]),
    (["--start", "0"], ["--start: needs --vs DEV; add it\n"]),
    (["--seed", "2"], ["--seed: needs --vs DEV or --live; add one\n"]),
    (["--no-check"], ["--no-check", "--vs DEV"]),
    (["--vs", "{other}", "--modes", "raw"],
     ["--vs, --modes: exclude each other, as modes are compared on one device; leave one out\n"]),
    (["--vs", "{other}", "--hold-ms", "5"],
     ["--vs, --hold-ms: exclude each other, as modes are compared on one device; leave one out\n"]),
    (["--vs", "{other}", "--write-cache", "on"],
     ["--vs, --write-cache: exclude each other, as modes are compared on one device; leave one out\n"]),
    (["--vs", "{other}", "w4096"], ["w4096: does not apply to --vs, which takes only SOURCE; leave it out\n"]),
    (["--vs", "{other}", "--timing", "fast"], ["--timing: does not apply to a workload that writes"]),
    (["--vs", "{other}", "--think", "1"], ["--think: does not apply to w512, only to db-daemon"]),
    (["--vs", "{other}", "--repeat", "0"], ["--repeat 0", "from 1 to 1000"]),
    (["--vs", "{other}", "--repeat", "1001"], ["--repeat", "from 1 to 1000"]),
    (["--vs", "{other}", "--force", "/dev/null"], ["/dev/null"]),
    (["--vs", "/dev/none"], ["/dev/none", "No such file"]),
    (["--force", "{disk}", "--force", "{other}"], ["--force", "names two devices"]),
])
def test_options_that_do_not_fit_are_named(disk, other, options, words):
    failed = alignctl("verify", "w512", "--on", disk, *(option.format(disk=disk, other=other) for option in options))
    assert failed.returncode == USAGE, failed.stderr
    for word in words:
        assert word in failed.stderr
    assert not any(disk.read_bytes())


@pytest.mark.parametrize("options", [["--histogram", "x"], ["--verify-below", "x"],
                                     ["--phase", "run"], ["--state", "x"]])
def test_what_is_of_one_run_alone_is_no_option_of_many(disk, other, trace, options):
    failed = alignctl("verify", trace, "--on", disk, "--vs", other, *options)
    assert failed.returncode == USAGE and f"unrecognized option '{options[0]}'" in failed.stderr


@pytest.mark.parametrize("options", [["--vs", "{other}"], ["--vs={other}"], ["--json", "--vs", "{other}", "--repeat", "3"]])
def test_replay_refuses_two_devices_and_says_how_they_are_compared(disk, other, options):
    failed = alignctl("replay", "w512", "--on", disk, *(option.format(other=other) for option in options))
    assert failed.returncode == USAGE and not failed.stdout
    assert failed.stderr == "alignctl: --vs: verify compares devices: alignctl verify SOURCE --on DEV --vs DEV\n"
    assert not any(disk.read_bytes()) and not any(other.read_bytes())


def test_a_method_is_not_compared(disk, other):
    failed = alignctl("verify", "cncread", "--on", disk, "--vs", other)
    assert failed.returncode == USAGE and "cncread: is a method, which 'alignctl probe' runs" in failed.stderr


def test_standard_input_cannot_be_read_again(disk, other):
    failed = alignctl("verify", "-", "--on", disk, "--vs", other, stdin=subprocess.DEVNULL)
    assert failed.returncode == USAGE and "standard input" in failed.stderr


def test_a_disk_and_what_lies_on_it_are_told(disk):
    made = subprocess.run(["losetup", "-f", "--show", disk], text=True, capture_output=True, timeout=patience(20), check=False)
    if made.returncode:
        pytest.skip(f"no loop device: {made.stderr.strip()}")
    loop = made.stdout.strip()
    try:
        done = alignctl("verify", "w512", "--on", loop, "--vs", disk, "--count", 20, "--repeat", 1, "--force", disk,
                        "--json")
        assert done.returncode == FINE, done.stderr
        result = json.loads(done.stdout)
        assert result["shared_disks"] and "may overwrite each other's data" in done.stderr
        assert {run["replay"]["data_check"]["status"] for run in result["runs"]} == {"ok"}
        [on_loop] = [run for run in result["runs"] if run["device"] == loop]
        # the kernel may count the flush at the end as a write
        assert on_loop["requests"][1] in (20, 21)
    finally:
        subprocess.run(["losetup", "-d", loop], timeout=patience(20), check=True)


@pytest.mark.usefixtures("hangup")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("arguments", [["verify", "w512", "--on", "{disk}", "--vs", "{other}", "--repeat", "1000"],
                                       ["probe", "cncread", "{disk}", "--span", "8M"]])
def test_ctrl_c_and_its_kin_print_what_was_measured(disk, other, tmp_path, arguments, number):
    (tmp_path / "tmp").mkdir()
    with subprocess.Popen([ALIGNCTL, *(word.format(disk=disk, other=other) for word in arguments), "--count", "100",
                           "--json"], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, "TMPDIR": str(tmp_path / "tmp")}, start_new_session=True) as running:
        for _ in range(3):
            assert running.stderr.readline()
        os.killpg(running.pid, number)
        out, err = running.communicate(timeout=patience(30))
    assert running.returncode == 128 + number, err
    result = json.loads(out)
    assert result["stopped"].startswith("interrupted")
    assert len(result["runs" if "runs" in result else "probes"]) >= 3 and os.listdir(tmp_path / "tmp") == []


@pytest.mark.usefixtures("hangup")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("arguments", [["verify", "w512", "--on", "{disk}", "--vs", "{other}", "--count", "5"],
                                       ["probe", "cncread", "{disk}"], ["verify", "w512", "--on", "{disk}"]])
def test_a_signal_in_the_first_moments_ends_it_before_anything_is_done(disk, other, tmp_path, arguments, number):
    path = os.environ["PATH"]
    python = tmp_path / "bin" / "python3"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nkill -{number.value} $$\nPATH="{path}"\nexec python3 "$@"\n')
    python.chmod(0o755)
    (tmp_path / "tmp").mkdir()
    done = alignctl(*(word.format(disk=disk, other=other) for word in arguments),
                    env={**os.environ, "PATH": f"{python.parent}:{path}", "TMPDIR": str(tmp_path / "tmp")})
    assert done.returncode == 128 + number, done.stderr
    assert re.fullmatch(r"alignctl (probe|verify): interrupted.*\n", done.stderr) and not done.stdout
    assert not any(disk.read_bytes()) and os.listdir(tmp_path / "tmp") == []


def test_an_old_page_survives_what_is_refused_and_what_is_not_done(disk, other, tmp_path):
    page = tmp_path / "page.html"
    compared("w512", disk, other, "--count", 5, "--repeat", 1, "--html", page, "--force", disk, "--force", other)
    old = page.read_text()
    arguments = ["verify", "rand4k", "--on", disk, "--vs", other, "--count", 5, "--repeat", 1, "--html", page]
    spoil(other)
    assert alignctl(*arguments).returncode == BUSY and page.read_text() == old
    assert alignctl(*arguments, "--force", disk, "--force", other, "--dry-run").returncode == FINE
    assert page.read_text() == old
    assert alignctl(*arguments, "--force", disk, "--force", other).returncode == FINE
    assert "rand4k" in page.read_text() and page.read_text() != old


@pytest.mark.parametrize("which", ["disk", "other"])
def test_a_page_does_not_go_where_the_requests_go(disk, other, which):
    path = {"disk": disk, "other": other}[which]
    failed = alignctl("verify", "w512", "--on", disk, "--vs", other, "--count", 5, "--html", path)
    assert failed.returncode == USAGE and f"--html {path}: is {path}, which the runs need" in failed.stderr
    assert path.stat().st_size == DISK_BYTES and not any(path.read_bytes())
