# SPDX-License-Identifier: GPL-2.0
"""alignctl fleet ranks hosts by their documents, in any order of the files, and names each file that it cannot use."""

import json
import os
import random
import re
from fractions import Fraction

import pytest
from fleet_samples import check, large, plan, random_fleet, save, stats
from handed import taken

from align_reports.document import rows_of
from align_reports.fleet import command, page
from align_reports.fleet.layout import MOST_BYTES, files as files_of, place
from align_reports.fleet.ranking import ORDER, gather
from align_reports.fleet.table import VIEWS, text

FINE, FINDINGS, USAGE, IO = range(4)
SHIFTED = check([("partition-start", "sda1")])


@pytest.fixture
def fleet(tmp_path, capsys):
    """Run the program on files below a folder; return (status, document or text, what it said)."""
    def run(files, *options, operands=None):
        save(tmp_path, files)
        paths = [tmp_path] if operands is None else [tmp_path / each for each in operands]
        status = command.main(taken(command, "fleet", *paths, *options))
        printed = capsys.readouterr()
        return status, json.loads(printed.out) if "--json" in options and printed.out else printed.out, printed.err
    return run


def names(document):
    return [host["host"] for host in document["hosts"]]


def test_the_document_has_a_line_for_each_host_and_nothing_else_than_its_members(tmp_path, capsys):
    save(tmp_path, random_fleet(3, hosts=9))
    ranked = gather(map(str, sorted(tmp_path.rglob("*.json"))), {})
    command.main(taken(command, "fleet", tmp_path, "--json"))
    text = capsys.readouterr().out
    assert json.loads(text) == json.loads(json.dumps(command.document(ranked)))
    lines = text.splitlines()
    start, end = lines.index('"hosts": ['), lines.index("],")
    assert [json.loads(line.rstrip(","))["host"] for line in lines[start + 1:end]] == [host.name for host in ranked.hosts]
    assert rows_of({"empty": [], "letter": "\udcff", "rows": [{"\udc80": "\n"}]}) == (
        '{\n"empty": [],\n"letter": "\\\\xff",\n"rows": [\n{"\\\\x80": "\\n"}\n]\n}')


# What is read

@pytest.mark.parametrize("path, host, kind, device", [
    ("a/web1/check.json", "web1", "check", None),
    ("a/web1/plan-sda.json", "web1", "plan", "sda"),
    ("a/web1.check.json", "web1", "check", None),
    ("a/web1.example.com.stats.json", "web1.example.com", "stats", None),
    ("a/web1.plan-by-hand.json", "web1", "plan", "by-hand"),
    ("a/web1.json", "web1", None, None),
    ("a/web1.example.com.json", "web1.example.com", None, None),
    ("a/web1", "web1", None, None),
    ("a/checkout.json", "checkout", None, None),
    ("a/my.check-in.check.json", "my.check-in", "check", None),
    ("a/we\x1bb.json", "we\\x1bb", None, None),
])
def test_the_name_of_a_file_says_of_which_host_it_is(path, host, kind, device):
    found = place(path)
    assert (found.host, found.kind, found.device) == (host, kind, device)


def test_all_three_layouts_are_read_and_other_files_passed_by(fleet):
    files = {"a/check.json": SHIFTED, "a/plan-sda.json": plan(3, 2), "b.check.json": SHIFTED, "c.json": SHIFTED, "README": "x",
             "d/align.prom": "x", "d/check.json": SHIFTED}
    status, found, said = fleet(files, "--json")
    assert (status, sorted(names(found)), said) == (FINDINGS, ["a", "b", "c", "d"], "")
    assert found["hosts"][0]["documents"] == ["check", "plan"]


def test_documents_of_before_are_read(fleet):
    """Without a number, without members that came later; of plan, with the trace's format where the number is now."""
    old_check = check([("partition-start", "sda1")])
    del old_check["format"], old_check["devices"][0]["model"]
    old_plan = plan(7, format="csv")
    del old_plan["source_format"], old_plan["seconds"], old_plan["by_process"]
    old_stats = stats({"x": ("sda1", "pad", 1, 5)}, 60)
    del old_stats["devices"][0]["interval"], old_stats["devices"][0]["targets"][0]["device_gone"], old_stats["format"]
    files = {"a/check.json": old_check, "b/plan.json": old_plan, "c/stats.json": old_stats}
    status, found, said = fleet(files, "--json")
    assert (status, said) == (FINDINGS, "")
    hosts = {host["host"]: host for host in found["hosts"]}
    assert hosts["a"]["shift"] == 1 and hosts["b"]["touches"] == 7 and hosts["b"]["touches_per_day"] is None
    assert hosts["c"]["touches_per_day"] == 6 * 1440


def test_the_lines_of_an_interval_are_added(fleet):
    lines = [json.dumps(stats({"x": ("sda", "pad", 1, 2), "y": ("sdb", "report", 0, n)}, 30)) for n in (4, 0)]
    status, found, _ = fleet({"a.stats.json": "\n".join(lines) + "\n"}, "--json")
    [host] = found["hosts"]
    assert (status, host["touches"], host["touches_per_day"]) == (FINDINGS, 10, 10 * 1440)
    assert {row["device"]: row["touches_per_day"] for row in host["devices"]} == {"sda": 6 * 1440, "sdb": 4 * 1440}


def test_a_letter_that_ends_lines_elsewhere_ends_no_document_of_an_interval(fleet):
    lines = [json.dumps(stats({"x\u2028y\x85": ("sda", "pad", 0, n)}, 30), ensure_ascii=False) for n in (1, 2)]
    status, found, said = fleet({"a.stats.json": "\n".join(lines) + "\n"}, "--json")
    assert (status, found["hosts"][0]["touches"], said) == (FINDINGS, 3, "")


BROKEN = {
    "cut": (json.dumps(SHIFTED)[:200], "ends in the middle"),
    "cut-string": ('{"format": 1, "devi', "ends in the middle"),
    "words": ("check: no such file\n", "is not JSON, at line 1"),
    "empty": ("", "is empty"),
    "blank": (" \n", "is empty"),
    "binary": (b"\x7fELF\xff\xfe" * 10, "is not text, at byte 4"),
    "list": ("[1, 2]", "is no document of check, stats or plan"),
    "number": ("7", "is no document of check, stats or plan"),
    "other": ('{"format": 1, "workloads": []}', "is no document of check, stats or plan"),
    "digits": ('{"format": 1, "x": %s}' % ("9" * 5000), "has a number that is none, or too long"),
    "infinite": ('{"format": 1, "x": Infinity}', "has a number that is none"),
    "deep": ("[" * 200000, "is nested too deep"),
    "newer.check": ({"format": 4, "audited": []}, "has format 4 of check, and this alignctl knows up to 1"),
    "newer": (plan(1, format=3), "has format 3 of plan, and this alignctl knows up to 2"),
    "no-format": (check(format="one"), "has a format that is no number"),
    "false-format": (check(format=True), "has a format that is no number"),
    "below-0": (plan(-1), "has a touches_expected of the document that is no count of 64 bits"),
    "beyond-64": (plan(1 << 64), "has a touches_expected of the document that is no count of 64 bits"),
    "real": (plan(1.5), "has no touches_expected of the document"),
    "true": (plan(True), "has no touches_expected of the document"),
    "ever": (plan(1, -1), "has seconds of the document that are no time"),
    "huge-time": (json.dumps(plan(1, 5)).replace(": 5,", ": 1e999,"), "has seconds of the document that are no time"),
    "no-float-time": (json.dumps(plan(1, 5)).replace(": 5,", f": {'1' * 400},"), "has seconds of the document that are no time"),
    "no-findings": (check() | {"findings": {}}, "has no findings of the document"),
    "no-name": (check() | {"devices": [{"lies_on": []}]}, "has no name of a device"),
    "no-counters": (stats({}) | {"devices": [{"name": "x", "targets": [], "counters": []}]}, "has no counters of x"),
    "workload": (plan(1, source_format="workload", source="w512"), "is a plan of the workload w512, which no host wrote"),
    "two": (json.dumps(SHIFTED) + "\n" + json.dumps(SHIFTED), "has several documents that are no intervals of stats"),
    "then-words": (json.dumps(SHIFTED) + "\nwords", "is not JSON, behind its first document"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_named_with_the_reason_and_the_rest_is_answered(fleet, name):
    content, reason = BROKEN[name]
    status, found, said = fleet({f"{name}.json": content, "good.json": SHIFTED}, "--json")
    assert (status, names(found)) == (IO, ["good"])
    [unused] = found["unused"]
    assert unused["file"].endswith(f"/{name}.json") and unused["reason"].startswith(reason)
    assert said.startswith(f"alignctl fleet: {unused['file']}: {reason}") and said.count("\n") == 1


def test_a_time_too_short_for_a_rate_makes_none(fleet):
    for seconds in ("1e-320", "5e-10", "0.0"):
        files = {"a.json": json.dumps(plan(3, 5)).replace('"seconds": 5', f'"seconds": {seconds}'), "good.json": SHIFTED}
        status, text, said = fleet(files)
        assert (status, said) == (FINDINGS, "") and re.search("a +not known +plan", text) and "with a cost: 0" in text
    assert fleet({"a.json": plan(1 << 63, 1e-9)}, "--json")[1]["total"]["touches_per_day"] == 86400 * 10**9 << 63


def test_a_file_that_cannot_be_read_is_named(fleet, tmp_path):
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "link.json").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe.json")
    os.truncate(save(tmp_path, {"large.json": "{"}) / "large.json", MOST_BYTES + 1)
    (tmp_path / "hollow").mkdir()
    status, found, _ = fleet({"good.json": SHIFTED}, "--json", operands=[".", "none.json", "hollow"])
    assert (status, names(found)) == (IO, ["good"])
    reasons = {os.path.basename(row["file"]): row["reason"] for row in found["unused"]}
    assert reasons.keys() == {"folder.json", "link.json", "pipe.json", "large.json", "none.json", "hollow"}
    assert reasons["folder.json"].startswith("is a folder") and reasons["pipe.json"].startswith("is not a regular file")
    assert reasons["none.json"].startswith("No such file") and reasons["hollow"].startswith("holds no documents")


def test_two_documents_that_contradict_each_other_are_both_named_and_neither_counts(fleet):
    files = {"a/web1.check.json": SHIFTED, "b/web1/check.json": check(), "b/web2.check.json": SHIFTED}
    status, found, said = fleet(files, "--json", operands=["a", "b"])
    assert (status, names(found)) == (IO, ["web2"]) and said.count("another document of check of the host web1") == 2
    assert {row["file"].split("/")[-1] for row in found["unused"]} == {"web1.check.json", "check.json"}


def test_texts_from_a_document_cannot_steer_the_terminal_or_the_page(fleet, tmp_path):
    bad = check([("partition-start", "sd\x1b[2Ja1")], [("sd\x1b[2Ja", "<script>\ud800")])
    page = tmp_path / "page.html"
    for by in ("host", "device", "model", "finding"):
        _, shown, said = fleet({"a.json": bad, "b\x1b\udcff.json": ""}, "--by", by, "--html", str(page))
        assert not set("\x1b\ud800\udcff") & set(shown + said) and "b\\x1b\\xff.json: is empty" in said
    assert "<script>" not in page.read_text() and "\\x1b[2J" in page.read_text() and "b\\x1b\\xff.json" in page.read_text()


# Of any type, and some that are out of range.
STRANGE: tuple[object, ...] = (None, True, -1, 1.5, 1e300, 1e-320, 10**30, 10**400, "", "\ud800\x1b", [], {}, [1], {"a": 1},
                               "sda", [None])


def places(value, way=()):
    """The way to each value in a document, by keys and indices."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*way, key)
        yield from places(inner, (*way, key))


def spoiled(document, source):
    """A document with a value removed or replaced, and sometimes some of its bytes."""
    document = json.loads(json.dumps(document))
    *way, key = source.choice(list(places(document)))
    inner = document
    for step in way:
        inner = inner[step]
    if source.random() < 0.3:
        del inner[key]
    else:
        inner[key] = source.choice(STRANGE)
    data = bytearray(json.dumps(document).encode())
    for _ in range(source.choice((0, 0, 0, 3))):
        data[source.randrange(len(data))] = source.randrange(256)
    return bytes(data)


def test_no_document_whatever_is_wrong_with_it_stops_the_others(tmp_path):
    source = random.Random(1)
    documents = [check([("partition-start", "sda1"), ("x", "sda", True)]), plan(3, 2.5, [("app", 1)]),
                 stats({"a": ("sda1", "pad", 1, 2)}, 5.5)]
    files = {f"{number}.json": spoiled(source.choice(documents), source) for number in range(3000)}
    paths, unusable = files_of([str(save(tmp_path, files))])
    ranked = gather(paths, unusable)
    assert len(ranked.hosts) + len(unusable) == len(files) and min(len(ranked.hosts), len(unusable)) > 100
    page.render(ranked, None).encode()
    rows_of(command.document(ranked)).encode()
    for view in VIEWS.values():
        text(ranked, view(ranked)).encode()


def test_a_folder_that_cannot_be_read_costs_its_own_host_only(fleet, tmp_path, monkeypatch):
    listed = os.scandir

    def scandir(folder):
        if os.path.basename(folder) == "closed":
            raise PermissionError(13, "Permission denied", folder)
        return listed(folder)

    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    monkeypatch.setattr(os, "scandir", scandir)
    status, found, said = fleet({"closed/check.json": check(), "open/check.json": SHIFTED, "flat.json": check()}, "--json")
    assert (status, sorted(names(found))) == (IO, ["flat", "open"])
    assert [(os.path.basename(each["file"]), each["reason"].split(":")[0]) for each in found["unused"]] == [
        ("closed", "Permission denied"), ("loop", "Too many levels of symbolic links")]
    assert said.count("\n") == 2 and all(line.endswith("let this user read it") for line in said.splitlines())


# What it comes to

def test_the_exit_status_is_that_of_findings_or_touches_and_3_wins(fleet):
    assert fleet({"a.json": check()})[0] == FINE
    assert fleet({"b.json": check([("luks-sector", "sda1", True)])})[0] == FINE
    assert fleet({"c.json": stats({"x": ("sda", "coalesce", 0, 0)}, 9)})[0] == FINE
    assert fleet({"d.json": stats({"x": ("sda", "coalesce", 0, 1)}, 9)})[0] == FINDINGS
    assert fleet({"e.json": SHIFTED})[0] == FINDINGS
    assert fleet({"f.json": ""})[0] == IO


def test_a_document_is_printed_also_if_no_file_can_be_used(fleet):
    status, found, said = fleet({"a.json": "", "b.check.json": "{"}, "--json")
    assert (status, found["hosts"], len(found["unused"]), said.count("\n")) == (IO, [], 2, 2)
    assert (found["total"]["hosts"], found["total"]["touches_per_day"], found["total"]["shift"]) == (0, None, None)
    assert fleet({"c.json": ""})[:2] == (IO, "")


def test_a_host_is_not_guessed(fleet):
    files = {"web1.json": SHIFTED, "db1.json": check()}
    status, text, said = fleet(files, "--host", "web")
    assert (status, text) == (USAGE, "") and "no host 'web' in the documents; did you mean 'web1'?" in said
    status, found, _ = fleet(files, "--host", "db1", "--json")
    assert (status, names(found), found["total"]["hosts"]) == (FINE, ["db1"], 1)
    assert found["hosts"][0]["rank"] == 2, "the rank is that in the fleet"


def test_hosts_are_ranked_by_cost_then_findings_then_name(fleet):
    two, unit = check([("partition-start", "sda1"), ("data-start", "sda1")]), check([("fs-sector", "sda1")])
    other, note = check([("disagree", "sda")] * 1), check([("unread", "sda", True)])
    files = {"i-note.json": note, "h-other.json": other, "f-two.json": two, "g-unit.json": unit, "b-slow.json": plan(10, 86400),
             "a-unknown.json": plan(10**9), "z-fast.json": plan(9, 3600), "d-none.json": stats({"x": ("sda", "pad", 0, 0)}, 60),
             "e-shift/check.json": SHIFTED, "e-shift/stats.json": stats({"x": ("sda", "pad", 0, 1)}, 86400)}
    status, found, _ = fleet(files, "--json")
    assert names(found) == ["z-fast", "b-slow", "e-shift", "f-two", "g-unit", "h-other", "a-unknown", "d-none", "i-note"]
    assert [host["touches_per_day"] for host in found["hosts"]] == [216, 10, 1, None, None, None, None, 0, None]
    assert [host["rank"] for host in found["hosts"]] == list(range(1, 10)) and status == FINDINGS


def test_what_is_not_known_is_no_0(fleet):
    files = {"checked.json": check(), "counted.json": stats({"x": ("sda", "pad", 0, 0)}, 60)}
    _, found, _ = fleet(files, "--json")
    checked, counted = found["hosts"]
    assert (checked["touches_per_day"], checked["touches"], checked["shift"]) == (None, None, 0)
    assert (counted["touches_per_day"], counted["touches"], counted["shift"], counted["note"]) == (0, 0, None, None)
    rows = [re.split(r" {2,}", line.strip()) for line in fleet(files)[1].splitlines()[1:3]]
    assert rows == [["1", "checked", "not known", "-", "0", "0", "0", "0", "-"],
                    ["2", "counted", "0", "stats", *["not known"] * 4, "-"]]


def test_figures_of_a_table_are_words_of_one_kind_and_those_of_a_page_are_grouped(fleet, tmp_path):
    files = {"a.json": plan(12345, 86400)}
    _, text, _ = fleet(files, "--html", str(tmp_path / "page.html"))
    assert text.splitlines()[1].split() == ["1", "a", "12345", "plan", *["not", "known"] * 4, "not", "known:", "touches"]
    assert "\ntouches a day: 12345;" in text and ">12\u202f345</td>" in (tmp_path / "page.html").read_text()


def test_stats_count_and_plan_is_left_out_where_both_may_have_seen_the_same_writes(fleet):
    files = {"a/stats.json": stats({"x": ("sda1", "report", 0, 30)}, 60), "a/plan-sda.json": plan(10**6, 1),
             "b/stats.json": stats({"x": ("sda1", "report", 0, 30)}), "b/plan-sda.json": plan(2, 86400),
             "b/plan-sdb.json": plan(3, 43200)}
    _, found, _ = fleet(files, "--json")
    assert [(host["host"], host["touches_from"], host["touches_per_day"]) for host in found["hosts"]] == \
        [("a", "stats", 30 * 1440), ("b", "plan", 8)]


def test_findings_and_touches_are_those_of_the_disk_below(fleet):
    two = check([("partition-start", "sda1"), ("fs-sector", "md0")], [("sda", "A"), ("sdb", "B")])
    two["devices"].append({**two["devices"][0], "name": "md0", "kind": "md", "lies_on": ["sda1", "sdb1"], "model": None})
    files = {"a/check.json": two, "a/stats.json": stats({"log": ("sda1", "report", 0, 5), "db": ("md0", "pad", 2, 0)}, 60)}
    _, found, _ = fleet(files, "--json")
    rows = {row["device"]: row for row in found["hosts"][0]["devices"]}
    assert rows.keys() == {"sda", "md0"}, "of two disks it is said of neither"
    assert (rows["sda"]["model"], rows["sda"]["shift"], rows["sda"]["touches_per_day"]) == ("A", 1, 5 * 1440)
    assert (rows["md0"]["model"], rows["md0"]["unit"], rows["md0"]["touches_per_day"]) == (None, 1, 2 * 1440)
    assert [(row["model"], row["disks"], row["touches_per_day"]) for row in found["models"]] == \
        [("A", 1, 5 * 1440), (None, 0, 2 * 1440), ("B", 1, None)]


def test_a_disk_that_lies_on_another_by_a_second_document_is_that_disk(fleet):
    second = check([], [("sdb", "B")])
    second["devices"].append({**second["devices"][0], "name": "sda", "lies_on": ["sdb"]})
    files = {"a/check.json": check([("extent", "sda")], [("sda", "A"), ("sdb", "B"), ("sdc", "C"), ("sdd", "C")]),
             "a/check-more.json": second}
    _, found, _ = fleet(files, "--json")
    assert [row["device"] for row in found["hosts"][0]["devices"]] == ["sdb"]
    assert [(row["model"], row["disks"], row["unit"]) for row in found["models"]] == [("B", 1, 1), ("C", 2, 0)]


def test_a_device_that_is_gone_or_degraded_is_a_finding(fleet):
    document = stats({"x": ("sda1", "coalesce", 0, 0), "y": ("sdb1", "pad", 0, 0)}, 60)
    document["devices"][0]["derived"]["degraded"] = True
    document["devices"][1]["targets"][0]["device_gone"] = True
    status, found, _ = fleet({"a.json": document}, "--json")
    assert (status, {row["finding"] for row in found["findings"]}) == (FINDINGS, {"gone", "degraded"})
    assert {row["grade"] for row in found["findings"]} == {"other"}


# What must not matter

def essence(document):
    """A document without the names of the files."""
    return {key: value for key, value in document.items() if key != "unused"}


@pytest.mark.parametrize("seed", range(8))
def test_neither_the_order_of_files_nor_how_often_one_is_given_matters(fleet, seed):
    files = random_fleet(seed)
    expected = fleet(files, "--json")
    order = list(files)
    random.Random(seed).shuffle(order)
    again = fleet(files, "--json", operands=[*order, *order[::3], order[0]])
    assert again == expected and expected[1]["hosts"]


@pytest.mark.parametrize("seed", range(8))
def test_two_folders_are_the_fleet_of_both(fleet, seed):
    """Also where a document is in both, and where a host has one document here and one there."""
    files, source = random_fleet(seed), random.Random(seed)
    whole = {f"whole/{name}": document for name, document in files.items()}
    parts = {f"{part}/{name}": document for name, document in files.items()
             for part in source.choice((["one"], ["two"], ["one", "two"]))}
    expected = fleet(whole, "--json", operands=["whole"])
    for operands in (["one", "two"], ["two", "one"]):
        assert fleet(parts, "--json", operands=operands) == expected


def independent(files):
    """Count a fleet anew from its documents: {host: (touches a day, findings by grade)}, and those of all hosts."""
    grade = {"partition-start": "shift", "data-start": "shift", "fs-sector": "unit", "extent": "unit", "disagree": "other"}
    hosts = {}
    for name in {path.partition("/")[0] for path in files}:
        mine = {path.partition("/")[2]: document for path, document in files.items() if path.startswith(f"{name}/")}
        day = None
        for row in mine.get("stats.json", {"devices": []})["devices"]:
            if "interval" in row:
                seconds = Fraction(str(row["interval"]["seconds"]))
                day = (day or 0) + (row["counters"]["rmw_host"] + row["counters"]["rmw_drive"]) * 86400 / seconds
        plans = [document for file, document in mine.items() if file.startswith("plan-") and document["seconds"]]
        if day is None and plans:
            day = sum(document["touches_expected"] * 86400 / Fraction(str(document["seconds"])) for document in plans)
        found = None
        if "check.json" in mine:
            found = dict.fromkeys(("shift", "unit", "other", "note"), 0)
            for row in mine["check.json"]["findings"]:
                found["note" if row["note"] else grade[row["finding"]]] += 1
        hosts[name] = (day, found)
    return hosts


@pytest.mark.parametrize("seed", range(8))
def test_an_independent_count_agrees_exactly(fleet, seed):
    files = random_fleet(seed)
    _, found, _ = fleet(files, "--json")
    expected = independent(files)
    assert {host["host"]: (host["touches_per_day"], {grade: host[grade] for grade in ORDER}) for host in found["hosts"]} == \
        {name: (None if day is None else round(day), grades or dict.fromkeys(ORDER)) for name, (day, grades) in expected.items()}
    days = [day for day, _ in expected.values() if day is not None]
    checked = [grades for _, grades in expected.values() if grades]
    total = found["total"]
    assert total["touches_per_day"] == round(sum(days)) and total["hosts_with_cost"] == len(days)
    for grade in ORDER:
        assert total[grade] == sum(grades[grade] for grades in checked)
        for rows in (found["models"], [row for host in found["hosts"] for row in host["devices"]]):
            assert sum(row[grade] or 0 for row in rows) == total[grade]
        assert sum(row["times"] for row in found["findings"] if row["grade"] == grade) == total[grade]
    assert sum(row["disks"] for row in found["models"]) == total["disks"]
    by_cost = [expected[name][0] or 0 for name in names(found)]
    assert by_cost == sorted(by_cost, reverse=True)


def test_times_that_have_nothing_in_common_are_added_exactly(fleet):
    """Of as many hosts as have sums of thousands of digits, each disk of its own rate."""
    files, seconds, extra = {}, [], []
    for number in range(400):
        time = Fraction(10**6 + 7919 * number, 10**4)
        disk = ("sda", "M", 4096, (5400, 7200, 0)[number % 3])
        files[f"host{number}/check.json"] = check((), [disk])
        files[f"host{number}/plan-sda.json"] = plan(number + 1, float(time))
        (seconds if disk[3] else extra).append((number + 1) * 86400 / time * (Fraction(60, disk[3]) if disk[3] else 4096))
    _, found, _ = fleet(files, "--json")
    total = found["total"]["modelled"]
    assert total["disk_seconds_per_day"] == float(round(sum(seconds), 3)) and total["extra_bytes_per_day"] == round(sum(extra))
    assert found["models"][0]["modelled"] | {"share_of_disk_time": None} == total | {"share_of_disk_time": None}


def test_thousands_of_hosts_are_all_answered_for(fleet):
    document = json.dumps(large(1, disks=1))
    status, found, said = fleet({f"host{number}/check.json": document for number in range(5000)}, "--json")
    assert (status, len(found["hosts"]), found["total"]["shift"], said) == (FINDINGS, 5000, 5000, "")
