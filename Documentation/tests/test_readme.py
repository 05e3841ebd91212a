# SPDX-License-Identifier: GPL-2.0
"""What the front page tells a reader to run, look at and set exists."""

import re
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
README = (TOP / "README.md").read_text()
TESTING = (TOP / "Documentation/develop/testing.rst").read_text()


def test_every_make_target_exists():
    targets = set(re.findall(r"^([a-z-]+):", (TOP / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^ {4}|`)make ([a-z-]+)", README, re.MULTILINE))
    assert {"demo", "check"} <= named
    assert named <= targets, f"no such target: {named - targets}"


def test_every_verb_and_option_of_alignctl_exists():
    rooms = TOP / "userspace" / "alignctl"
    source = "".join(path.read_text() for path in rooms.rglob("*.[ch]")
                     if path.relative_to(rooms).parts[0] not in ("fuzz", "tests"))
    verbs = set(re.findall(r"(?:^ {4}|`)alignctl ([a-z]+)", README, re.MULTILINE))
    assert {"attach", "set", "stats", "detach"} <= verbs
    for verb in verbs:
        assert re.search(rf'^\t"{verb}", "', source, re.MULTILINE), f"no verb {verb}"
    for line in re.findall(r"alignctl [a-z]+ [^#`\n]*--[^#`\n]*", README):
        for option in re.findall(r"--([a-z-]+)", line):
            assert f'OPTION("{option}",' in source, f"no option --{option}: {line}"


def test_every_link_leads_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    for link in links:
        assert (TOP / link).exists(), link
    for anchor in re.findall(r"\]\(#([^)]+)\)", README):
        titles = [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
                  for title in re.findall(r"^#+ (.*)", README, re.MULTILINE)]
        assert anchor in titles, anchor


def test_every_folder_exists():
    folders = re.findall(r"`([\w/]+/)`", README)
    assert "kmod/" in folders
    for folder in folders:
        assert (TOP / folder).is_dir(), folder


def test_every_setting_is_read_by_something():
    names = set(re.findall(r"DM_ALIGN_\w+", README + TESTING))
    assert names
    sources = [path for pattern in ("*.py", "python") for path in (TOP / "scripts").rglob(pattern)]
    sources += (TOP / "kmod" / "tests").rglob("*.py")
    read = "".join(path.read_text() for path in sources)
    for name in names:
        assert name in read, name


def test_the_front_page_is_short():
    assert len(README.splitlines()) < 120
