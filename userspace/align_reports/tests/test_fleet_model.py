# SPDX-License-Identifier: GPL-2.0
"""What alignctl fleet makes of touches: time of disks that rotate, and extra bytes of SSDs, by figures worked out by hand."""

import json
import re
from fractions import Fraction

import pytest
from fleet_samples import check, plan, random_fleet, save, stats
from handed import taken

from align_reports.fleet import command

DAY = 86400


@pytest.fixture
def fleet(tmp_path, capsys):
    """What the program prints of files, as JSON or as text."""
    def run(files, *options):
        save(tmp_path, files)
        command.main(taken(command, "fleet", tmp_path, *options))
        printed = capsys.readouterr().out
        return json.loads(printed) if "--json" in options else printed
    return run


def disk(unit, rpm):
    return check((), [("sda", "M", unit, rpm)])


def modelled(fleet, files):
    """What is modelled of the only device of the only host: (disk-seconds, share, extra bytes, whether these are a bound)."""
    [host] = fleet(files, "--json")["hosts"]
    [device] = host["devices"]
    each = device["modelled"]
    assert each == host["modelled"]
    if each is None:
        assert host["touches_per_day"] is None
        return None
    return each["disk_seconds_per_day"], each["share_of_disk_time"], each["extra_bytes_per_day"], each["extra_bytes_at_most"]


@pytest.mark.parametrize("rpm, seconds, share", [
    # 1 000 000 touches a day, of 1/120 s and 1/90 s each
    (7200, 8333.333, 0.096451),
    (5400, 11111.111, 0.128601),
    # the slowest that a drive can say
    (1025, 58536.585, 0.677507),
])
def test_a_touch_costs_a_disk_that_rotates_one_revolution_where_its_write_is_not_known(fleet, rpm, seconds, share):
    files = {"a/check.json": disk(4096, rpm), "a/stats.json": stats({"x": ("sda1", "report", 0, 10**6)}, DAY)}
    assert modelled(fleet, files) == (seconds, share, None, False)


def test_bytes_that_a_mode_saves_are_no_cost_below_0(fleet):
    """Of two SSDs one writes 4 GiB a day more than it is sent, and the other less, as blocks are written again while held."""
    files = {"a/check.json": disk(4096, 0), "a/stats.json": stats({"x": ("sda", "coalesce", 3, 5, 50 << 30, 4 << 20, 8)}, DAY),
             "b/check.json": disk(4096, 0), "b/stats.json": stats({"x": ("sda", "report", 3, 5, 1 << 30, 5 << 30, 8)}, DAY)}
    found = fleet(files, "--json")
    assert [host["modelled"]["extra_bytes_per_day"] for host in found["hosts"]] == [0, 4 << 30]
    assert found["total"]["modelled"]["extra_bytes_per_day"] == 4 << 30


@pytest.mark.parametrize("misaligned, zeroes, turns", [
    # 240 touches of 120 writes, of 240, of some whose touches a mode has avoided, and of 100 writes and 20 write-zeroes
    (120, 0, 120), (240, 0, 240), (900, 0, 240), (100, 20, 120),
    # what is no count is not known
    (-1, 0, 240), (1.5, 0, 240), (120, None, 240)])
def test_a_write_costs_a_disk_one_revolution_for_both_of_its_touches(fleet, misaligned, zeroes, turns):
    document = stats({"x": ("sda1", "report", 40, 200, 4096, 8192, misaligned)}, DAY)
    document["devices"][0]["counters"]["write_zeroes_misaligned"] = zeroes
    recorded = plan(240, DAY) | {"writes_misaligned": misaligned, "write_zeroes_misaligned": zeroes}
    for name, counted in (("stats", document), ("plan-sda", recorded)):
        files = {"a/check.json": disk(4096, 7200), f"a/{name}.json": counted}
        assert modelled(fleet, files) == (pytest.approx(turns / 120), pytest.approx(turns / 120 / DAY, abs=1e-6), None, False)


def test_the_writes_of_intervals_are_added(fleet):
    lines = "\n".join(json.dumps(stats({"x": ("sda1", "report", 0, 2 * writes, 512, 4096, writes)}, DAY / 2))
                      for writes in (120, 360))
    assert modelled(fleet, {"a/check.json": disk(4096, 7200), "a/stats.json": lines})[0] == 4


def test_the_unit_of_a_disk_that_rotates_need_not_be_known(fleet):
    files = {"a/check.json": disk(None, 7200), "a/plan-sda.json": plan(120, DAY)}
    assert modelled(fleet, files) == (1, pytest.approx(1 / DAY, abs=1e-6), None, False)


@pytest.mark.parametrize("unit, rpm", [(4096, None), (4096, -7200), (4096, 0.5), (4096, "7200"), (4096, True), (None, 0), (0, 0)])
def test_a_device_of_which_too_little_is_known_has_no_figure(fleet, unit, rpm):
    files = {"a/check.json": disk(unit, rpm), "a/stats.json": stats({"x": ("sda1", "report", 0, 9, 4096, 8192)}, DAY)}
    assert modelled(fleet, files) == (None, None, None, False)
    assert fleet(files, "--json")["total"]["modelled"]["not_known"] == 1
    assert "modelled" not in fleet(files) and "DISK" not in fleet(files)


def test_a_document_of_a_check_that_knew_of_no_rotation_has_no_figure(fleet):
    old = disk(4096, 7200)
    del old["devices"][0]["unit"]["rotation"]
    touches = stats({"x": ("sda1", "report", 0, 9)}, DAY)
    assert modelled(fleet, {"a/check.json": old, "a/stats.json": touches}) == (None, None, None, False)
    del old["devices"][0]["unit"]
    assert modelled(fleet, {"a/check.json": old, "a/stats.json": touches}) == (None, None, None, False)


def test_touches_without_a_time_cost_nothing_that_is_known(fleet):
    files = {"a/check.json": disk(4096, 7200), "a/stats.json": stats({"x": ("sda1", "report", 0, 9)})}
    assert modelled(fleet, files) is None
    assert fleet(files, "--json")["total"]["modelled"] is None


def test_what_was_counted_of_an_ssd_is_exact(fleet):
    """100 writes of 4 KiB in the middle of units of 16 KiB in half a day: 12 KiB each that no host sent."""
    files = {"a/check.json": disk(16384, 0), "a/stats.json": stats(
        {"x": ("sda1", "report", 0, 100, 100 * 4096, 100 * 16384)}, DAY // 2)}
    for document in files.values():
        for target in (target for each in document["devices"] for target in each.get("targets", ())):
            target["physical_block_size"] = 16384
    assert modelled(fleet, files) == (None, None, 2 * 100 * 12288, False)


def test_without_these_counters_no_touch_has_more_than_a_unit(fleet):
    files = {"a/check.json": disk(4096, 0), "a/stats.json": stats({"x": ("sda1", "report", 1, 99)}, DAY)}
    assert modelled(fleet, files) == (None, None, 100 * 4096, True)
    assert re.search(r" <= 400 KiB +stats", fleet(files)) and "extra bytes a day of SSDs: <= 400 KiB" in fleet(files)


def test_touches_of_blocks_of_another_size_say_nothing_of_the_unit(fleet):
    files = {"a/check.json": disk(16384, 0), "a/stats.json": stats({"x": ("sda1", "report", 0, 100, 4096, 8192)}, DAY)}
    assert modelled(fleet, files) == (None, None, None, False)


def test_a_plan_knows_of_units_of_each_size(fleet):
    """Also where its touches are of another size."""
    sizes = [(4096, 7, 7 * 512), (16384, 9, 9 * 8192)]
    assert modelled(fleet, {"a/check.json": disk(16384, 0), "a/plan-sda.json": plan(7, DAY // 4, extra=sizes)}) == \
        (None, None, 4 * 9 * 8192, False)
    old = plan(7, DAY)
    assert modelled(fleet, {"a/check.json": disk(16384, 0), "a/plan-sda.json": old}) == (None, None, None, False)
    assert modelled(fleet, {"a/check.json": disk(4096, 0), "a/plan-sda.json": old}) == (None, None, 7 * 4096, True)


def test_the_intervals_of_a_device_are_added(fleet):
    lines = "\n".join(json.dumps(stats({"x": ("sda1", "report", 0, 1, 512, blocks * 4096)}, DAY / 2)) for blocks in (1, 3))
    assert modelled(fleet, {"a/check.json": disk(4096, 0), "a/stats.json": lines}) == (None, None, 4 * 4096 - 2 * 512, False)


TB = 10**12


def worn(rated, extra=365 * 4096, unit=4096, rpm=0):
    """The share of rated writes, as JSON and in the table of devices, of an SSD that writes so many bytes too much in a year."""
    touches = stats({"x": ("sda1", "report", 0, 9, 0, extra // 365)}, DAY)
    return {"a/check.json": check((), [("sda", "M", unit, rpm, rated)]), "a/stats.json": touches}


def test_extra_bytes_of_a_year_are_a_share_of_what_an_ssd_is_rated_for(fleet):
    """1 GB a day is 365 GB a year, of 360 TB."""
    files = worn(360 * TB, 365 * 10**9)
    [host] = fleet(files, "--json")["hosts"]
    assert host["modelled"]["share_of_rated_writes_per_year"] == round(0.365 / 360, 6)
    for by in ("host", "device", "model"):
        heading, row = (re.split(r" {2,}", line.strip()) for line in fleet(files, "--by", by).splitlines()[:2])
        assert row[heading.index("RATED/YEAR")] == "0.1014 %"


@pytest.mark.parametrize("files", [worn(None), worn(0), worn(-1), worn(1.5), worn("1"), worn(360 * TB, unit=16384),
                                   worn(360 * TB, rpm=7200), worn(360 * TB, rpm=None)])
def test_where_a_rating_or_the_extra_bytes_are_not_known_there_is_no_share(fleet, files):
    [host] = fleet(files, "--json")["hosts"]
    assert host["modelled"]["share_of_rated_writes_per_year"] is None
    assert "RATED" not in fleet(files)


def test_of_several_ssds_the_one_that_wears_most_is_told(fleet):
    disks = [("sda", "M", 4096, 0, 100 * TB), ("sdb", "M", 4096, 0, 10 * TB), ("sdc", "M", 4096, 0)]
    touches = stats({name: (f"sd{name}1", "report", 0, 1, 0, 10**9) for name in "abc"}, DAY)
    documents = {"a/check.json": check((), disks), "a/stats.json": touches}
    found = fleet(documents, "--json")
    assert found["total"]["modelled"]["share_of_rated_writes_per_year"] == 0.0365
    assert [row["modelled"]["share_of_rated_writes_per_year"] for row in found["hosts"][0]["devices"]] == [0.00365, 0.0365, None]


@pytest.mark.parametrize("drives, confirmed", [
    ([{"confirmed": True}], 1), ([{"confirmed": False}], 0), ([{"confirmed": None}], 0), ([{"confirmed": 1}], 0), ([], 0),
    (None, 0), ([{"confirmed": True}, {"confirmed": True}], 0), ({"confirmed": True}, 0), (["confirmed"], 0)])
def test_a_count_that_the_drive_confirms_is_marked(fleet, drives, confirmed):
    files = worn(None)
    files["a/stats.json"]["devices"][0]["drives"] = drives
    assert fleet(files, "--json")["hosts"][0]["modelled"]["confirmed_by_drives"] == confirmed
    assert (" 4 KiB (confirmed) " in fleet(files)) == bool(confirmed)
    assert ("SSDs: 4 KiB (confirmed)" in fleet(files)) == bool(confirmed)


def test_intervals_and_sums_are_confirmed_only_if_each_is(fleet):
    one, two = (stats({"x": ("sda1", "report", 0, 9, 0, 4096)}, DAY / 2) for _ in range(2))
    one["devices"][0]["drives"] = two["devices"][0]["drives"] = [{"confirmed": True}]
    files = {"a/check.json": disk(4096, 0), "a/stats.json": "\n".join(map(json.dumps, (one, two)))}
    assert fleet(files, "--json")["total"]["modelled"]["confirmed_by_drives"] == 1
    other = {path.replace("a/", "b/"): document for path, document in worn(None).items()}
    assert "SSDs: 12 KiB\n" in fleet(files | other)
    two["devices"][0]["drives"] = [{"confirmed": False}]
    files["a/stats.json"] = "\n".join(map(json.dumps, (one, two)))
    assert fleet(files, "--json")["total"]["modelled"]["confirmed_by_drives"] == 0


def test_an_upper_bound_of_the_bytes_is_one_of_the_share(fleet):
    files = {"a/check.json": check((), [("sda", "M", 4096, 0, TB)]), "a/stats.json": stats({"x": ("sda1", "report", 1, 99)}, DAY)}
    assert re.search(r" <= 400 KiB +<= 0\.01495 % ", fleet(files))


HOSTS = {
    "disks/check.json": check((), [("sda", "M", 4096, 7200), ("sdb", "M", 4096, 5400), ("sdc", "N", 4096, None)]),
    "disks/stats.json": stats({name: (f"sd{name}1", "report", 0, touches) for name, touches in (("a", 240), ("b", 90), ("c", 7))},
                              DAY),
    "ssds/check.json": check((), [("sda", "S", 4096, 0), ("sdb", "M", 4096, 7200)]),
    "ssds/stats.json": stats({"a": ("sda1", "report", 0, 1, 512, 4096), "b": ("sdb1", "report", 0, 120)}, DAY),
}


def test_a_sum_is_of_those_that_are_known_and_says_of_how_many(fleet):
    found = fleet(HOSTS, "--json")
    hosts = {host["host"]: host["modelled"] for host in found["hosts"]}
    # 240 / 120 s and 90 / 90 s
    none = {"extra_bytes_per_day": None, "extra_bytes_at_most": False, "ssds": 0, "confirmed_by_drives": 0,
            "share_of_rated_writes_per_year": None}
    assert hosts["disks"] == {"disk_seconds_per_day": 3, "disks": 2, **none, "not_known": 1, "share_of_disk_time": None}
    ssds = none | {"extra_bytes_per_day": 3584, "ssds": 1}
    assert hosts["ssds"] == {"disk_seconds_per_day": 1, "disks": 1, **ssds, "not_known": 0,
                             "share_of_disk_time": round(1 / DAY, 6)}
    assert found["total"]["modelled"] == {"disk_seconds_per_day": 4, "disks": 3, **ssds, "not_known": 1,
                                          "share_of_disk_time": None}
    models = {row["model"]: row["modelled"] for row in found["models"]}
    assert (models["M"]["disk_seconds_per_day"], models["M"]["disks"], models["N"]["not_known"]) == (4, 3, 1)


def test_the_tables_and_the_page_have_the_same_figures(fleet, tmp_path):
    files = HOSTS | {"uncounted/check.json": disk(4096, 7200)}
    page = tmp_path / "page.html"
    text = fleet(files, "--html", str(page))
    rows = [re.split(r" {2,}", line.strip()) for line in text.splitlines()[:4]]
    assert rows[0][2:6] == ["TOUCHES/DAY", "DISK-S/DAY", "EXTRA/DAY", "FROM"]
    assert [row[1:6] for row in rows[1:]] == [["disks", "337", "3 (2 of 3)", "not known", "stats"],
                                              ["ssds", "121", "1", "3.5 KiB", "stats"],
                                              ["uncounted", "not known", "not known", "not known", "-"]]
    assert text.endswith("modelled: disk-seconds a day: 4 (3 of 4); extra bytes a day of SSDs: 3.5 KiB (1 of 2)\n")
    devices = {tuple(line.split()[:2]): line for line in fleet(HOSTS, "--by", "device").splitlines()}
    assert "TOUCHES/DAY  DISK-S/DAY   DISK-TIME  EXTRA/DAY" in devices["HOST", "DEVICE"]
    assert re.search(r" 240 +2 +0\.002315 % +- +report", devices["disks", "sda"])
    assert re.search(r" 7 +not known +not known +not known +report", devices["disks", "sdc"])
    assert re.search(r" 1 +- +- +3\.5 KiB +report", devices["ssds", "sda"])
    html = page.read_text()
    assert "3 (2 of 3)" in html and "each write with touches costs a revolution" in html


def independent(files, name):
    """Count a host anew from its documents, device by device: (disk-seconds, disks, extra bytes, ssds, unknown)."""
    mine = {path.partition("/")[2]: document for path, document in files.items() if path.startswith(f"{name}/")}
    disks = {row["name"]: row["unit"] for row in mine.get("check.json", {"devices": []})["devices"] if not row["lies_on"]}
    days = {}   # device: (revolutions a day, extra bytes a day)
    for row in mine.get("stats.json", {"devices": []})["devices"]:
        if "interval" in row:
            times = Fraction(DAY) / Fraction(str(row["interval"]["seconds"]))
            counters = row["counters"]
            touches = counters["rmw_host"] + counters["rmw_drive"]
            extra = counters["sent_block_bytes"] - counters["write_bytes"] if "write_bytes" in counters else touches * 4096
            lower = row["targets"][0]["device"]
            turns = min(touches, counters.get("writes_misaligned", touches))
            days[lower.rstrip("1") if lower.rstrip("1") in disks else lower] = (turns * times, extra * times)
    if not days:
        for file, document in mine.items():
            if file.startswith("plan-") and document["seconds"]:
                times = Fraction(DAY) / Fraction(str(document["seconds"]))
                days[file[5:-5]] = (document["touches_expected"] * times, document["touches_expected"] * 4096 * times)
    seconds, extra, count = [], [], 0
    for device, (turns, more) in days.items():
        known = disks.get(device)
        rpm = known and known["rotation"] and known["rotation"]["rpm"]
        if rpm:
            seconds.append(turns * 60 / rpm)
        elif rpm == 0 and known["bytes"] == 4096:
            extra.append(more)
        else:
            count += 1
    return (sum(seconds) if seconds else None), len(seconds), (sum(extra) if extra else None), len(extra), count


@pytest.mark.parametrize("seed", range(8))
def test_an_independent_count_agrees_exactly(fleet, seed):
    files = random_fleet(seed, hosts=60)
    found = fleet(files, "--json")
    kinds = set()
    for host in found["hosts"]:
        seconds, disks, extra, ssds, unknown = independent(files, host["host"])
        if host["modelled"] is None:
            assert host["touches_per_day"] is None and not disks + ssds + unknown
            continue
        each = host["modelled"]
        assert (each["disks"], each["ssds"], each["not_known"]) == (disks, ssds, unknown), host["host"]
        assert each["disk_seconds_per_day"] == (None if seconds is None else float(round(seconds, 3)))
        assert each["extra_bytes_per_day"] == (None if extra is None else round(extra))
        kinds |= {kind for kind, number in (("disks", disks), ("ssds", ssds), ("unknown", unknown)) if number}
    assert kinds == {"disks", "ssds", "unknown"}
    for key in ("disks", "ssds", "not_known"):
        whole = found["total"]["modelled"][key]
        for rows in (found["hosts"], found["models"]):
            assert sum(row["modelled"][key] for row in rows if row["modelled"]) == whole
