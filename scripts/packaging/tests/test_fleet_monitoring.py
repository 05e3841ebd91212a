# SPDX-License-Identifier: GPL-2.0
"""The rules and the dashboard of many hosts: what Prometheus makes of them, from the metrics that alignctl writes."""

import json
import math
import re
import subprocess
import time

import pytest

from lab.bench.prometheus import Host, printed
from lab.dashboard.monitors import FLEET_RULES, watching
from lab.dashboard.panels import FLEET, filled, panels
from lab.pace import Limit, patience
from lab.paths import OUT, REPO

TOLD = REPO / "scripts/packaging/tests/fleet.rules.test.yml"
# Of node_exporter itself.
OTHERS = {"node_textfile_mtime_seconds"}
RECORD = re.compile(r"- record: (\S+)")
RECORDED = re.compile(r"\b[a-z_]+:[a-z_]+:[a-z0-9_]+\b")
# A step of these takes five minutes, as the rules' test shows.
SLOW = ":increase1d"


def queries():
    return [target.query for panel in panels(FLEET) for target in panel.targets]


def promtool(*arguments):
    return subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True, timeout=patience(60), check=False)


def test_the_rules_ask_only_for_what_is_written():
    shown = "".join(subprocess.run([OUT / "bin/alignctl", verb, "--help"], capture_output=True, text=True, check=True,
                                   timeout=patience(30)).stdout for verb in ("check", "top"))
    known = set(re.findall(r"^ (alignctl_\w+)$", shown, re.M)) | OTHERS
    asked = set(re.findall(r"(?<![:\w])(?:alignctl|node)_\w+\b(?!:)", FLEET_RULES.read_text()))
    assert len(asked) > 10 and asked <= known, asked - known


def test_a_record_is_named_by_level_metric_and_operations():
    names = RECORD.findall(FLEET_RULES.read_text())
    assert len(names) == len(set(names)) > 10
    assert [name for name in names if not RECORDED.fullmatch(name)] == []
    # what a rule asks of another one is recorded
    assert set(RECORDED.findall(re.sub("#.*", "", FLEET_RULES.read_text()))) == set(names)


def test_the_dashboard_asks_only_for_what_the_rules_record():
    records = set(RECORD.findall(FLEET_RULES.read_text()))
    for query in queries():
        asked = set(RECORDED.findall(query))
        assert asked and asked <= records and not re.search(r"(?<![:\w])alignctl_", query), query


def test_prometheus_reads_every_query(tmp_path):
    rules = tmp_path / "rules.yml"
    rules.write_text(json.dumps({"groups": [{"name": "x", "rules": [{"record": f"query:{number}", "expr": filled(query, 60)}
                                                                     for number, query in enumerate(queries())]}]}))
    done = promtool("check", "rules", rules)
    assert done.returncode == 0, done.stderr


def test_the_dashboard_leads_from_a_host_to_its_disks():
    dashboard = json.loads(FLEET.read_text())
    variables = {each["name"] for each in dashboard["templating"]["list"]}
    assert variables == {"datasource", "instance", "device"}
    linked = set()
    for panel in dashboard["panels"]:
        labels = set(re.findall(r"{{(\w+)}}", panel["targets"][0]["legendFormat"]))
        for link in panel["fieldConfig"]["defaults"].get("links", []):
            assert link["url"].startswith(f"/d/{dashboard['uid']}?")
            given = dict(re.findall(r"var-(\w+)=\$\{__field\.labels\.(\w+)\}", link["url"]))
            assert given and set(given) == set(given.values()) <= labels & variables
            linked |= set(given)
        # what a link sets is what the panels of hosts and disks filter by
        assert {"instance", "device"} & labels == set(re.findall(r"\$(\w+)", panel["targets"][0]["expr"])), panel["title"]
    assert linked == {"instance", "device"}
    places = [tuple(panel["gridPos"][key] for key in "xy") for panel in dashboard["panels"]]
    assert len(places) == len(set(places)) == len({panel["id"] for panel in dashboard["panels"]})


def test_each_rule_has_its_figures_and_each_alert_fires_for_what_it_is_about():
    """As fleet.rules.test.yml says: each record has a sample, and each alert fires once and stays quiet once."""
    told, rules = TOLD.read_text(), FLEET_RULES.read_text()
    done = promtool("test", "rules", TOLD)
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(re.findall(r"- expr: (\S+)\n +eval_time: \w+\n +exp_samples:\n +- {labels", told)) == set(RECORD.findall(rules))
    tested = {(name, bool(fires)) for name, fires in
              re.findall(r"alertname: (\w+)\n(?: +exp_alerts:\n +- exp_labels: (\{))?", told)}
    assert tested == {(name, fires) for name in re.findall(r"- alert: (\w+)", rules) for fires in (False, True)}


@pytest.fixture
def hosts(tmp_path):
    check = printed(tmp_path / "host", 12)
    return {f"host{number}": Host(number, check) for number in range(2)}


def test_prometheus_draws_each_panel_from_what_node_exporters_serve(hosts, tmp_path):
    texts = {name: tmp_path / name for name in hosts}
    for folder in texts.values():
        folder.mkdir()
    targets = [target for panel in panels(FLEET) for target in panel.targets if SLOW not in target.query]
    began, limit, missing, alerts = time.time(), Limit(60), targets, {}
    with watching(tmp_path, texts, 0.5) as monitors:
        # pending for a quarter of an hour
        while missing or "AlignDiskShifted" not in alerts:
            for name, host in hosts.items():
                for file, text in (("align-check.prom", host.check()), ("align-disks.prom", host.disks(time.time() - began))):
                    (texts[name] / f"{file}.new").write_text(text)
                    (texts[name] / f"{file}.new").rename(texts[name] / file)
            assert not limit.over(), f"no samples for {missing}; alerts {alerts}"
            time.sleep(0.5)
            missing = [target for target in missing if not drawn(monitors, target)]
            alerts = monitors.alerts()
        served = monitors.served("host1")
        [(labels, shifted)] = monitors.at('instance:alignctl_check_shifted_disks:count{instance="host1"}')
    assert "node_textfile_scrape_error 0" in served and "node_textfile_mtime_seconds" in served
    assert alerts["AlignDiskShifted"] == "pending" and not {"AlignCountersStale", "AlignCheckStale"} & set(alerts)
    # every eighth of twelve
    assert (shifted, labels["instance"]) == (1, "host1")


def drawn(monitors, target):
    """Whether a panel's query yields numbers, and series with all labels of the legend."""
    found = monitors.at(filled(target.query, 20))
    return found and all(math.isfinite(value) and set(re.findall(r"{{(\w+)}}", target.legend)) <= set(labels)
                         for labels, value in found)
