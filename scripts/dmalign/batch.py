# SPDX-License-Identifier: GPL-2.0
"""Runs pytest tests inside guests, and lets each appear as a test of its own on the host.

The tests lie in one folder (kmod/tests/guest). The host collects them too, once for each kernel series, but runs none
of their code: the first of a series boots a guest in which pytest runs all that the host selected, and each host test
then passes, fails or skips as its counterpart did. A test without a result fails and names the console log. A guest
that dies or hangs is booted again for the tests that come after the one it died of. If its end is no finding at all
(see again.py), it is booted again for all of its tests.

Those of kmod/tests/uml run in the same way, once, in User Mode Linux, whose kernel can make allocations
fail; they have no emulated drives. A test of kmod/tests/guest with the mark uml_too runs there as well.
"""

import json
import os
import shlex

from . import again, drives, kernels, modules, uml, vm
from .guest import DEFAULT_LIMIT
from .paths import OUT, REPO, locked
from .relay import Relay

TESTS = REPO / "kmod" / "tests" / "guest"
UML_TESTS = REPO / "kmod" / "tests" / "uml"
# User Mode Linux as a series, and how long its own tests may take.
UML = "uml"
UML_SECONDS = 780
MAX_BOOTS = 4
BOOT_SECONDS = 120


def prepare(folder, module, nodeids, servers=()):
    """Writes the description of a batch into `folder`; returns the shell line that runs it in a guest."""
    folder.mkdir(parents=True, exist_ok=True)
    batch = folder / "batch.json"
    batch.write_text(json.dumps({"drives": list(servers), "results": str(folder / "results.jsonl"),
                                 "module": str(module)}))
    (folder / "results.jsonl").write_text("")
    (folder / "tests").write_text("\n".join(nodeids) + "\n")
    passed_on = [f"{name}={shlex.quote(value)}" for name, value in os.environ.items() if name.startswith("DM_ALIGN_")]
    return " ".join([
        *passed_on, f"DMALIGN_BATCH={shlex.quote(str(batch))}", shlex.quote(str(REPO / "scripts" / "python")), "-m", "pytest",
        "-p", "dmalign.guest", "-p", "no:cacheprovider", "-p", "no:xdist", "-q", "--no-header", "--tb=short",
        f"--timeout={DEFAULT_LIMIT}", f"--rootdir={REPO}", "-c", str(REPO / "pytest.ini"), f"@{folder / 'tests'}"])


class Batch:
    """The tests of one series: boots on first use."""

    def __init__(self, series, servers, seconds, memory="2G", cpus=2):
        self.series, self.servers, self.seconds = series, servers, seconds
        self.memory, self.cpus = memory, cpus
        self.nodeids = []
        self.results = None
        self.logs = []
        self._ended = {}
        self._told = set()

    def result(self, nodeid):
        if self.results is None:
            self.results = {}
            with locked(f"tests-{self.series}", OUT):
                self._run()
        return self.results.get(nodeid)

    def _run(self):
        module = self._module()
        remaining = list(self.nodeids)
        for boot in range(1, MAX_BOOTS + 1):
            name = f"tests-{self.series}-{boot}"
            results = OUT / "vm" / f"{name}.results.jsonl"
            results.parent.mkdir(parents=True, exist_ok=True)
            run = again.run(lambda suffix: self._boot(name + suffix, results, module, remaining))
            begun = self._read(results)
            why = vm.explain(run, BOOT_SECONDS + self.seconds) or "its pytest did not run this test"
            self._ended.update({nodeid: why for nodeid in remaining if nodeid not in self.results})
            self._blame(run)
            left = [nodeid for nodeid in remaining if nodeid not in self.results and nodeid not in begun]
            # No progress at all means that the next boot would bring none either.
            if not left or len(left) == len(remaining):
                break
            remaining = left

    def _module(self):
        return modules.build_for(kernels.release(self.series))[0] / "dm-align.ko"

    def _boot(self, name, results, module, nodeids):
        folder = OUT / "vm" / f"{name}.batch"
        command = prepare(folder, module, nodeids, self.servers)
        results.write_text("")
        with drives.serve(self.servers, folder) as served, Relay(served) as relay, \
                open(folder / "output", "w") as output:
            run = vm.run(command, timeout=BOOT_SECONDS + self.seconds, series=self.series, memory=self.memory,
                         cpus=self.cpus, drives=[drive.attached() for drive in served.values()], rwdirs=[folder],
                         channels=[relay.channel], name=name, stdout=output, cwd=REPO)
        results.write_text((folder / "results.jsonl").read_text())
        self.logs.append(f"{run.folder / 'console.log'} and {folder / 'output'}")
        return run

    def why_nothing(self, nodeid):
        """Why a test has no result: the end of its guest, in full for the first that asks and briefly for the others."""
        why = self._ended.get(nodeid, "its guest did not boot")
        if why in self._told:
            return f"{why.splitlines()[0]} (the first test without a result tells more)"
        self._told.add(why)
        return why

    def _blame(self, run):
        """A fault that the kernel logged after the last test, or too late for its test to see, must fail something."""
        told = "".join(result["text"] for result in self.results.values())
        # The console's lines begin with a time that a test's report leaves out.
        untold = [line for line in run.faults if line.split("] ", 1)[-1] not in told]
        if untold and self.results:
            last = list(self.results.values())[-1]
            last["outcome"] = "failed"
            last["text"] += "\nthe kernel logged, after this test or too late to see:\n  " + "\n  ".join(untold[:40])

    def _read(self, results):
        begun = set()
        for line in results.read_text().splitlines():
            event = json.loads(line)
            if "begin" in event:
                begun.add(event["begin"])
            else:
                self.results[event["test"]] = event
        return begun


class UmlBatch(Batch):
    """The tests of User Mode Linux."""

    def __init__(self, seconds):
        super().__init__(UML, {}, UML_SECONDS + seconds)

    def _module(self):
        return uml.module()

    def _boot(self, name, results, module, nodeids):
        folder = OUT / "uml" / f"{name}.batch"
        results.write_text("")
        command = prepare(folder, module, nodeids)
        run = uml.run(command, timeout=BOOT_SECONDS + self.seconds, rwdirs=[folder], name=name, cwd=REPO,
                      append=uml.KMEMLEAK)
        results.write_text((folder / "results.jsonl").read_text())
        self.logs.append(f"{run.folder / 'console.log'} and {run.folder / 'output'}")
        return run
