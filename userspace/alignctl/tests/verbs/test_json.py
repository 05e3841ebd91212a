# SPDX-License-Identifier: GPL-2.0
"""What all documents have in common that --json prints: the member format, and a schema.

That each document is as its schema says, lab/plugins/documents.py sees to, whichever test prints it.
"""

import json
import os
import subprocess

import pytest

from align_reports.compare import command as compare
from align_reports.fleet import command as fleet
from align_reports.live import command as live
from align_reports.probe import command as probe
from align_reports.verify import command as verify
from alignctl_program import ALIGNCTL, AREA, COUNTERS, METHODS, VERBS, alignctl, few
from lab.pace import patience
from lab.plugins import documents

FINE, FINDINGS = 0, 1
# A command of each document, and the title of its kind.
DOCUMENTS = {
    "check": (["check", "DISK"], "check"),
    "check --remedies": (["check", "--remedies"], "check --remedies"),
    "check --layout": (["check", "DISK", "--layout"], "check --layout"),
    "list": (["list"], "list"),
    "stats": (["stats"], "stats"),
    "stats --drive": (["stats", "--drive"], "stats"),
    "stats --drive --interval": (["stats", "--drive", "--interval", "1", "1"], "stats"),
    "stats --compare": (["stats", "--compare", "SAVED"], "stats --compare"),
    "workloads": (["workloads"], "workloads"),
    "help": (["help"], "help"),
    "plan": (["plan", "w512"], "plan"),
    "plan --each-disk": (["plan", "TRACE", "--each-disk"], "plan --each-disk"),
    "fleet": (["fleet", "SAVED"], "fleet"),
    "conform": (["conform", "DISK", "--rounds", "20", "--write", "0+4M", "--depth", "2"], "conform"),
    "conform --prepare": (["conform", "DISK", "--prepare", "CUT", "--rounds", "20", "--write", "0+4M", "--depth", "2"],
                          "conform --prepare"),
    "conform --after": (["conform", "DISK", "--after", "CUT"], "conform --after"),
    "convert": (["convert", "TRACE", "--output", "NEW"], "convert"),
    "replay": (["replay", "w512", "--on", "DISK", "--count", "5"], "replay"),
    "replay --dry-run": (["replay", "w512", "--on", "DISK", "--count", "5", "--dry-run"], "replay --dry-run"),
    "replay --phase": (["replay", "w512", "--on", "DISK", "--count", "5", "--phase", "prepare", "--state", "STATE"],
                       "replay --phase"),
    "replay TRACE": (["replay", "TRACE", "--on", "DISK", "--state", "STATE"], "replay"),
    "replay TRACE --dry-run": (["replay", "TRACE", "--on", "DISK", "--dry-run"], "replay --dry-run"),
    "replay --check": (["replay", "--check", "STATE"], "replay --check"),
    "verify --vs": (["verify", "w512", "--on", "DISK", "--vs", "OTHER", "--count", "5", "--repeat", "2"], "verify --vs"),
    "verify --vs --dry-run": (["verify", "w512", "--on", "DISK", "--vs", "OTHER", "--count", "5", "--dry-run"],
                              "verify --vs --dry-run"),
    "probe": (["probe", "sorted-reads", "DISK", "--count", "20", "--span", "8M"], "probe sorted-reads"),
    **{f"probe {method} --dry-run": (["probe", method, "DISK", "--dry-run", *few(method), *(AREA if writes else [])],
                                     "probe --dry-run") for method, writes in METHODS.items()},
}
# Kinds that need a drive, root or the module, or are printed for each method in test_probe.py.
ELSEWHERE = {"record", "top", "verify", "verify --live", "verify --live --dry-run", "probe fullstroke", "probe tracktotrack",
             "probe rotation", "probe rnddeltaread", "probe seqread, probe seqwrite", "probe rndread, probe rndwrite",
             "probe block-size", "probe cncread, probe cncwrite", "probe chunk-size, probe chunk-size-write"}


def schemas(verb):
    """{title: schema} of a verb's kinds of documents."""
    return {kind["title"]: kind for kind, _ in documents.kinds(verb)}


@pytest.fixture
def words(disk, tmp_path, memory):
    """The words of a command, with files to work on; CUT is on another disk than DISK."""
    other, trace = tmp_path / "other", tmp_path / "trace.csv"
    with open(other, "wb") as file:
        file.truncate(disk.stat().st_size)
    trace.write_text("op,offset,bytes\nwrite,0,4096\nread,0,4096\n")
    files = {"DISK": disk, "OTHER": other, "TRACE": trace, "STATE": tmp_path / "state", "NEW": tmp_path / "new",
             "SAVED": tmp_path / "saved.json", "CUT": memory / "state"}
    return lambda arguments: [files.get(word, word) for word in arguments]


def test_every_kind_of_document_is_looked_at():
    prints = {verb for verb in VERBS if "--json\n" in alignctl(verb, "--help").stdout.replace(" ", "\n")}
    assert prints == {verb for verb in VERBS if "--json-schema" in alignctl(verb, "--help").stdout}
    titles = {title for verb in {*prints, "help"} for title in schemas(verb)}
    assert titles == {title for _, title in DOCUMENTS.values()} | ELSEWHERE


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_begins_with_the_format_of_its_kind(words, machine, name):
    arguments, title = DOCUMENTS[name]
    if name == "replay --check":
        assert alignctl(*words(DOCUMENTS["replay TRACE"][0])).returncode == FINE
    if name == "conform --after":
        assert alignctl(*words(DOCUMENTS["conform --prepare"][0])).returncode == FINE
    environment = {**os.environ, "ALIGNCTL_SYSROOT": str(machine[0])} if arguments[0] in ("list", "stats") else None
    if "SAVED" in arguments:
        words(["SAVED"])[0].write_text(alignctl("stats", "--json", env=environment).stdout)
    done = alignctl(*words(arguments), "--json", env=environment)
    assert done.returncode == FINE, done.stderr
    document = json.loads(done.stdout)
    schema = schemas(arguments[0])[title]
    assert next(iter(document)) == "format" and document["format"] == schema["properties"]["format"]["const"]
    assert set(schema["required"]) <= document.keys() <= schema["properties"].keys()


@pytest.mark.parametrize("title, made_by", [("verify", verify), ("verify --vs", compare), ("verify --live", live),
                                            ("probe --dry-run", probe), ("fleet", fleet)])
def test_a_format_of_a_document_made_in_python_is_that_of_its_schema(title, made_by):
    assert schemas(title.split()[0])[title]["properties"]["format"]["const"] == made_by.FORMAT


def test_a_schema_is_printed_without_what_a_document_needs():
    for verb in ("replay", "conform", "help"):
        done = alignctl(verb, "--json-schema")
        assert done.returncode == FINE and not done.stderr
        assert json.loads(done.stdout)["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_the_counters_of_the_ledger_are_those_of_its_table():
    counters = documents.kinds("stats")[0][1].schema["$defs"]["counters"]
    assert list(counters["properties"]) == counters["required"] == [name for name, _ in COUNTERS]


def test_numbers_of_many_runs_are_numbers(words):
    done = alignctl(*words(DOCUMENTS["verify --vs"][0]), "--json")
    assert json.loads(done.stdout)["repetitions"] == 2


# Bytes of names, and all that a strict decoder refuses among them: cut, overlong, of a surrogate, too large, or none at all.
NAMES = [b"caf\xc3\xa9", b"\xf0\x9f\x92\xbf", b"caf\xc3", b"d\xff\xfe", b"\xe2\x82", b"\xe2\x82x\xe2\x82\xac", b"\xc0\xaf",
         b"\xe0\x9f\xbf", b"\xed\xa0\x80", b"\xed\x9f\xbf", b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80",
         b"\xf4\x8f\xbf\xbf", b"\xf5a", b"\x80\xbf"]


def strings(value):
    """All strings of a document but its keys."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    return [value] if isinstance(value, str) else []


def document_of(*arguments, **options):
    """What a strict reader makes of a document, and the exit status."""
    done = subprocess.run([ALIGNCTL, *arguments, "--json"], capture_output=True, timeout=patience(60), check=False, **options)
    assert done.returncode in (FINE, FINDINGS), done.stderr
    return json.loads(done.stdout.decode("utf-8", "strict"))


def named(name):
    """A name as a document has it, by another decoder."""
    return name.decode("utf-8", "backslashreplace")


def test_names_of_processes_are_utf8_in_documents(tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_bytes(b"op,offset,bytes,comm\n" + b"".join(b"write,512,4096,%s\n" % name for name in NAMES))
    found = strings(document_of("plan", trace))
    assert not [name for name in NAMES if named(name) not in found]


def test_names_of_files_are_utf8_in_documents(tmp_path):
    for name in NAMES:
        folder = os.path.join(os.fsencode(tmp_path), name.replace(b"/", b"_"))
        os.mkdir(folder)
        image, trace = os.path.join(folder, b"disk"), os.path.join(folder, b"trace.csv")
        with open(image, "wb") as file:
            file.truncate(1 << 20)
        with open(trace, "wb") as file:
            file.write(b"op,offset,bytes\nwrite,512,4096\n")
        assert named(image) in strings(document_of("check", image))
        assert any(named(trace) in text for text in strings(document_of("plan", trace)))
        assert any(named(image) in text for text in strings(document_of("replay", trace, "--on", image, "--dry-run")))
        document_of("convert", trace, "--output", os.path.join(folder, b"new"))


@pytest.mark.parametrize("arguments", [["verify", "w512", "--vs", "OTHER", "--count", "5", "--on"],
                                       ["probe", "sorted-reads", "--count", "20", "--span", "8M"]])
def test_names_of_files_are_letters_in_documents_of_many_runs(disk, tmp_path, arguments):
    """Python keeps a byte that is none as half of a pair, which JSON can write and few readers take."""
    other = tmp_path / "other"
    other.write_bytes(b"")
    os.truncate(other, disk.stat().st_size)
    image = os.path.join(os.fsencode(tmp_path), b"d\xff")
    os.rename(disk, image)
    words = [other if word == "OTHER" else word for word in arguments]
    [plan] = strings(document_of(*words, image, "--dry-run"))
    plan.encode("utf-8", "strict")
    assert named(image) in plan


def test_a_table_that_is_written_is_utf8(tmp_path):
    trace, new = tmp_path / "trace.csv", tmp_path / "new.csv"
    names = [name for name in NAMES if len(named(name)) < 15]
    trace.write_bytes(b"op,offset,bytes,comm\n" + b"".join(b"write,512,4096,%s\n" % name for name in names))
    assert alignctl("convert", trace, "--output", new, "--to", "csv").returncode == FINE
    rows = [line.split(",") for line in new.read_bytes().decode("utf-8", "strict").splitlines()[1:]]
    assert [row[6] for row in rows] == list(map(named, names))


def test_the_name_of_a_device_is_utf8_in_documents(machine):
    root, align = machine
    for name in NAMES:
        (align.parent / "dm/name").write_bytes(name + b"\n")
        for verb in ("list", "stats"):
            assert named(name) in strings(document_of(verb, env={**os.environ, "ALIGNCTL_SYSROOT": str(root)}))


def test_a_name_in_a_document_does_not_control_the_terminal(tmp_path):
    (tmp_path / "t").write_bytes("op,offset,bytes,pid,comm\nwrite,512,4096,7,a\x9b31m\x7fb\u00e9\n".encode())
    done = alignctl("plan", tmp_path / "t", "--json")
    assert json.loads(done.stdout)["by_process"][0]["comm"] == "a\x9b31m\x7fb\u00e9"
    assert "\u00e9" in done.stdout and all(letter == "\n" or letter.isprintable() for letter in done.stdout)
