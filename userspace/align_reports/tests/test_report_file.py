# SPDX-License-Identifier: GPL-2.0
"""The file of --html: only a page of alignctl is ever overwritten, and only once the new page is complete."""

import os
import resource
import socket
import stat
import subprocess
import sys

import pytest
from handed import taken

from align_reports import interrupt, report_file
from align_reports.compare import command as compare
from align_reports.page import document
from align_reports.probe import command as probe
from align_reports.verify import command as verify
from lab.pace import patience

PAGE = document("old", "<p>page</p>")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "page.html"


def fifo(path):
    os.mkfifo(path)


def listening(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def seen(path):
    """Return what can be seen of a file and its folder, but when it was last looked at."""
    found = path.lstat()
    return (found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns), sorted(os.listdir(path.parent))


def foreign(path):
    path.write_text("<!doctype html>\n<html><head><title>mine</title></head></html>\n")


def test_a_page_is_utf_8_with_names_of_any_bytes(path, monkeypatch):
    monkeypatch.setattr("locale.getencoding", lambda: "ascii")
    report_file.write(path, document("n\udcff", "<p>2 \u2264 3</p>"))
    assert "<h1>n\\xff</h1>\n<p>2 \u2264 3</p>" in path.read_bytes().decode()


@pytest.mark.parametrize("make, words", [
    (lambda path: path.mkdir(), "is a folder"), (fifo, "is a pipe"), (listening, "is a socket"),
    (lambda path: path.symlink_to("/dev/null"), "is a character device"),
    (foreign, "is not a report of alignctl; remove it"),
    (lambda path: path.write_bytes(bytes(9000)), "is not a report of alignctl; remove it"),
    (lambda path: path.symlink_to("none/page.html"), "No such file"),
])
def test_what_is_no_page_of_ours_is_refused_and_left(make, words, path):
    make(path)
    before = seen(path)
    reason = report_file.refusal(path, [])
    assert words in reason and reason != words, "the remedy is missing"
    assert seen(path) == before


def test_a_block_device_is_refused(path, monkeypatch):
    path.touch()
    found = os.stat_result((stat.S_IFBLK | 0o660, *path.stat()[1:]))
    monkeypatch.setattr(type(path), "stat", lambda self, **how: found)
    assert "is a block device" in report_file.refusal(path, [])


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.touch(), lambda path: path.write_text(PAGE)])
def test_what_may_be_written_is_not_changed_by_asking(make, path):
    make(path)
    before = {each: (path.parent / each).read_text() for each in os.listdir(path.parent)}
    assert report_file.refusal(path, ["w512", "/dev/null"]) is None
    assert {each: (path.parent / each).read_text() for each in os.listdir(path.parent)} == before


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_what_the_runs_need_is_refused_by_any_name(link, path, tmp_path):
    (tmp_path / "disk").write_text(PAGE)
    link(tmp_path / "disk", path)
    assert f"is {tmp_path / 'disk'}, which the runs need" in report_file.refusal(path, [str(tmp_path / "disk")])


@pytest.mark.parametrize("folder, words", [("none", "No such file"), ("file", "Not a directory")])
def test_a_folder_in_which_nothing_can_be_made_is_named(folder, words, tmp_path):
    (tmp_path / "file").touch()
    reason = report_file.refusal(tmp_path / folder / "page.html", [])
    assert words in reason and str(tmp_path / folder) in reason


def test_a_page_replaces_what_a_link_names_and_keeps_its_rights(path, tmp_path):
    (tmp_path / "old.html").write_text(PAGE)
    (tmp_path / "old.html").chmod(0o640)
    path.symlink_to("old.html")
    report_file.write(path, "new")
    assert path.is_symlink() and (tmp_path / "old.html").read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640 and len(os.listdir(tmp_path)) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a link to another user")
@pytest.mark.parametrize("there", [True, False])
def test_a_link_that_another_user_puts_into_tmp_during_the_runs_is_not_followed(there, tmp_path):
    shared, victim = tmp_path / "tmp", tmp_path / "victim"
    shared.mkdir()
    shared.chmod(0o1777)
    if there:
        victim.write_text("precious")
    assert report_file.refusal(shared / "page.html", []) is None
    (shared / "page.html").symlink_to(victim)
    os.chown(shared / "page.html", 65534, 65534, follow_symlinks=False)
    with pytest.raises(OSError, match="another user"):
        report_file.write(shared / "page.html", PAGE)
    assert victim.read_text() == "precious" if there else not victim.exists()
    assert os.listdir(shared) == ["page.html"]


def test_what_took_the_name_of_the_page_during_the_runs_is_left(path, tmp_path):
    (tmp_path / "mine").write_text("precious")
    assert report_file.refusal(path, []) is None
    path.symlink_to("mine")
    with pytest.raises(OSError, match="is not a report of alignctl"):
        report_file.write(path, PAGE)
    assert (tmp_path / "mine").read_text() == "precious"


def test_links_that_lead_to_each_other_are_an_error(path):
    path.symlink_to(path.name)
    with pytest.raises(OSError, match="Too many levels"):
        report_file.write(path, PAGE)


def test_a_page_that_cannot_be_written_to_its_end_leaves_the_old_one(path):
    path.write_text(PAGE)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            report_file.write(path, "x" * (1 << 17))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_text() == PAGE and os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("number", interrupt.SIGNALS)
def test_a_signal_leaves_no_draft(path, number):
    program = f"""import os
from pathlib import Path
from align_reports import command, interrupt
interrupt.catch()
interrupt.release()
replace = Path.replace
Path.replace = lambda draft, page: os.kill(os.getpid(), {number:d}) or replace(draft, page)
command.put("fleet", Path({str(path)!r}), "the page")
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=patience(60), check=False).returncode == -number
    assert path.read_text() == "the page" and os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("arguments", [["w512", "--on", "{disk}"], ["w512", "--on", "{other}", "--vs", "{disk}"],
                                       ["{disk}", "--on", "{other}", "--vs", "{third}"], ["cncread", "{disk}"]])
def test_each_verb_refuses_what_it_reads_or_writes(arguments, path, capsys):
    paths = {name: path.with_name(name) for name in ("other", "third")}
    for each in (path, *paths.values()):
        each.write_text(PAGE)
    words = [word.format(disk=path, **paths) for word in arguments]
    command = compare if "--vs" in arguments else probe if "cncread" in arguments else verify
    assert command.main(taken(command, "probe" if command is probe else "verify", *words, "--html", path)) == 2
    assert f"--html {path}: is {path}, which the runs need" in capsys.readouterr().err
    assert path.read_text() == PAGE
