# SPDX-License-Identifier: GPL-2.0
"""What the kernel's tracer says of sections with interrupts off is read, and told apart by who began them."""

import dataclasses
import io
import json
import sys

import pytest
from rich.console import Console

from lab.linux import debug_kernels
from lab.machines import remote, vm
from lab.proof import debug_stress, irqs_off, irqs_off_loads as loads, kunit

TRACE = """\
# tracer: irqsoff
#
# irqsoff latency trace v1.1.5 on 6.12.117
# --------------------------------------------------------------------
# latency: 23 us, #4/4, CPU#0 | (M:PREEMPT_DYNAMIC VP:0, KP:0, SP:0 HP:0 #P:1)
#    -----------------
#    | task: kworker/0:1-77 (uid:0 nice:0 policy:0 rt_prio:0)
#    -----------------
#  => started at: hold_take_side
#  => ended at:   hold_gather
#
#
#                    _------=> CPU#
   <...>-77        0d..1.    0us+: _raw_spin_lock_irq <-hold_take_side
   <...>-77        0d..1.   23us+: _raw_spin_unlock_irq <-hold_gather
   <...>-77        0d..1.   24us : <stack trace>
 => _raw_spin_unlock_irq
 => hold_gather
 => hold_drain_work
 => process_one_work
"""
TICK = TRACE.replace("hold_take_side", "asm_sysvec_apic_timer_interrupt") \
    .replace("hold_gather", "irqentry_exit").replace(" => hold_drain_work\n", "")
FUNCTIONS = ["hold_take_side", "hold_gather", "hold_drain_work", "run_write_end"]
HIST = """\
# event histogram
#
# trigger info: hist:keys=by,start,lat.log2:vals=hitcount:l=lat:sort=hitcount:size=2048:onmax($l).save(end) [active]
#

{ by:         16, start:        900, lat: ~ 2^14           } hitcount:          7
	max:      12345  end:        940
{ by:         16, start:        900, lat: ~ 2^11           } hitcount:          2
	max:       2000  end: 18446744073709551516
{ by:         64, start:        900, lat: ~ 2^17           } hitcount:         90
	max:      99000  end:        900

Totals:
    Hits: 99
    Entries: 3
    Dropped: 0
"""
# As in JSON, whose keys are text.
NAMES = {"16": "_raw_spin_lock_irq", "64": "queue_work_on", "900": "hold_take_side [dm_align]", "940": "hold_gather [dm_align]",
         "18446744073709551516": "schedule"}


def read(us, text):
    return irqs_off.parse_trace(us, text, "dm_align", FUNCTIONS)


def answers(trace=TRACE, us=23, hist=HIST, held=64):
    return {"all": {"held": held, "us": us, "trace": trace, "functions": FUNCTIONS},
            "own": {"held": held, "hist": hist, "names": dict(NAMES)}}


def control(us, module=loads.CONTROL_MODULE):
    made = answers(TRACE, us, HIST.replace("99000", str(us * 1000)).replace("by:         64", "by:        900"), 0)
    made["own"]["names"]["900"] = f"hold_take_side [{module}]"
    return made


def test_a_trace_is_read_and_its_functions_are_the_modules_or_the_kernels():
    section = read(23, TRACE)
    assert section == irqs_off.Section(23, "hold_take_side [dm_align]", "hold_gather [dm_align]", (
        "_raw_spin_unlock_irq", "hold_gather [dm_align]", "hold_drain_work [dm_align]", "process_one_work"))
    assert section.touches("dm_align") and not section.touches("dm_al")


def test_what_ended_requests_in_an_interrupt_is_inside_of_its_section():
    line = "   <...>-77        0d.h1.   11us!: run_write_end <-blk_update_request\n"
    last = "   <...>-77        0d..1.   23us"
    section = read(50, TICK.replace(last, line * 2 + last))
    assert section.inside == ("run_write_end [dm_align]",) and section.touches("dm_align")
    assert read(50, TICK.replace(last, line.strip() + "\n" + last)).inside == section.inside, "a task's name fills its column"


def test_what_ends_requests_is_found_in_the_sources():
    assert {"run_write_end", "piece_end", "align_end_io"} <= set(irqs_off.enders())
    assert "block_served" not in irqs_off.enders(), "it is called for each block, and each call takes time"


def test_a_section_of_the_kernel_is_not_the_modules():
    assert not read(50, TICK).touches("dm_align")
    called = read(50, TICK.replace(" => process_one_work", " => hold_drain_work"))
    assert called.touches("dm_align") and irqs_off.shown(called)[1].endswith(r"below hold_drain_work \[dm_align]")


@pytest.mark.parametrize("text", ["", "# tracer: irqsoff\n#\n", TRACE.replace("ended at", "ended")])
def test_a_trace_without_a_section_is_refused(text):
    with pytest.raises(ValueError, match="no section"):
        read(0, text)


def test_a_histogram_is_read_in_microseconds():
    assert irqs_off.parse_hist(HIST, NAMES) == [
        irqs_off.Section(12.345, "hold_take_side [dm_align]", "hold_gather [dm_align]", by="_raw_spin_lock_irq", count=7),
        irqs_off.Section(2.0, "hold_take_side [dm_align]", "schedule", by="_raw_spin_lock_irq", count=2),
        irqs_off.Section(99.0, "hold_take_side [dm_align]", "hold_take_side [dm_align]", by="queue_work_on", count=90)]


def test_what_a_function_of_the_kernel_has_when_called_is_not_the_modules_own():
    row = irqs_off.judge("flush", answers(), 64)
    assert (row.own.us, row.called.us, row.called.by) == (12.345, 99.0, "queue_work_on")
    assert (row.all.us, row.held, row.wrong) == (23, 64, "")


@pytest.mark.parametrize("by", ["hold_take_side [dm_align]", "_raw_spin_lock_irqsave"])
def test_what_the_module_switches_off_is_its_own(by):
    section = irqs_off.Section(1.0, "hold_take_side [dm_align]", "schedule", by=by)
    assert section.is_of("dm_align") and not section.is_of("dm_mod")


def test_a_function_that_the_kernel_calls_may_begin_the_modules_own_section():
    assert irqs_off.Section(1.0, "dm_submit_bio", "dm_submit_bio", by="align_map [dm_align]").is_of("dm_align")


@pytest.mark.parametrize("changed, why", [
    ({"held": 63}, "63 blocks were held, not 64"), ({"hist": HIST.replace("Dropped: 0", "Dropped: 3")}, "too little room"),
    ({"hist": "Totals:\n    Dropped: 0\n"}, "no section of dm_align")])
def test_a_load_that_is_not_what_it_should_be_does_not_count(changed, why):
    assert why in irqs_off.judge("discard", answers(**changed), 64).wrong


def test_a_load_that_begins_with_nothing_held_needs_nothing():
    assert irqs_off.judge("streams", answers(held=0), 64).wrong == ""


def test_the_control_is_a_section_of_at_least_its_length_in_its_module():
    assert irqs_off.judge("control", control(loads.CONTROL_US), 0).wrong == ""
    assert irqs_off.judge("control", control(loads.CONTROL_US - 1), 0).wrong.count("were not seen") == 2
    assert "no section of" in irqs_off.judge("control", control(loads.CONTROL_US, "dm_align"), 0).wrong
    mixed = control(loads.CONTROL_US) | {"all": answers(TICK, loads.CONTROL_US)["all"]}
    assert "all 300 us in asm_sysvec" in irqs_off.judge("control", mixed, 0).wrong, "a longer section of the kernel's hides it"


def test_the_table_and_the_document_have_every_load():
    rows = [irqs_off.judge("flush", answers(), 64), dataclasses.replace(irqs_off.judge("read", answers(), 64), own=None)]
    console = Console(width=250, record=True, file=io.StringIO())
    console.print(irqs_off.table(rows))
    shown = console.export_text()
    assert "flush" in shown and "hold_take_side [dm_align] to hold_gather [dm_align]" in " ".join(shown.split())
    found = irqs_off.document(rows, 64)["loads"]
    assert found["flush"]["own"]["us"] == 12.345 and found["flush"]["all"]["start"] == "hold_take_side [dm_align]"
    assert found["read"]["own"] is None and "load" not in found["read"]


def test_what_was_measured_before_the_guest_died_is_shown(tmp_path, monkeypatch, capsys):
    def measure(*_):
        yield irqs_off.judge("flush", answers(), 64)
        raise remote.GuestError("the guest is gone")

    monkeypatch.setattr(irqs_off, "FOLDER", tmp_path / "irqs-off")
    monkeypatch.setattr(irqs_off, "measure", measure)
    monkeypatch.setattr(vm, "begin", lambda: None)
    with pytest.raises(SystemExit, match="2"):
        irqs_off.main(["--json"])
    said = capsys.readouterr()
    assert list(json.loads(said.out)["loads"]) == ["flush"] and "cannot go on: the guest is gone" in said.err
    assert json.loads((tmp_path / "irqs-off/report.json").read_text()) == json.loads(said.out)


def test_the_listing_begins_with_the_longest():
    assert [line.split()[0] for line in irqs_off.listing(answers()["own"]).splitlines()] == ["99.000", "12.345", "2.000"]
    assert "      7 times" in irqs_off.listing(answers()["own"])


def test_the_kernel_of_the_tracer_has_no_checks_that_take_time():
    wanted = debug_kernels.options(debug_kernels._fragments(vm.OWN[irqs_off.KERNEL]))
    assert {"CONFIG_IRQSOFF_TRACER=y", "CONFIG_HIST_TRIGGERS=y", "CONFIG_PREEMPTIRQ_DELAY_TEST=m"} <= set(wanted)
    checks = ("KASAN", "KCSAN", "KUNIT", "PROVE_LOCKING", "DEBUG_ATOMIC_SLEEP", "DEBUG_OBJECTS", "DEBUG_KMEMLEAK",
              "FAULT_INJECTION")
    assert [line for line in wanted if line.removeprefix("CONFIG_").startswith(checks) and line.startswith("CONFIG_")] == []


def test_the_kernel_of_the_tracer_is_not_one_of_the_stress_nor_of_the_suites(capsys):
    with pytest.raises(SystemExit, match="2"):
        debug_stress.main([irqs_off.KERNEL])
    assert f"unknown kernel '{irqs_off.KERNEL}'" in capsys.readouterr().err
    assert vm.OWN[irqs_off.KERNEL] not in kunit.TIMEOUT


@pytest.mark.parametrize("kernel", sorted(debug_stress.APPEND))
def test_every_kernel_of_the_stress_can_be_booted(kernel):
    assert kernel in vm.OWN and "{" not in debug_stress.APPEND[kernel].format(skip=7)


@pytest.mark.parametrize("given, why", [(["holding"], "unknown load 'holding'"), (["--held", "0"], "--held 0"),
                                        (["--held", str(irqs_off.HELD + 1)], "must be from 1 to")])
def test_wrong_arguments_are_refused_before_anything_is_built(given, why, capsys, monkeypatch):
    monkeypatch.setattr(vm, "begin", lambda: sys.exit("began"))
    with pytest.raises(SystemExit, match="2"):
        irqs_off.main(given)
    assert why in capsys.readouterr().err


def test_where_a_modules_code_ends_the_next_one_begins(tmp_path, monkeypatch):
    files = {"/proc/modules": "brd 16384 0 - Live 0xffffffffc0040000\ndm_align 200000 1 - Live 0xffffffffc0010000 (O)\n",
             "/proc/kallsyms": "ffffffff81000000 T _text\nffffffff81000000 T _stext\n"}
    for path, text in files.items():
        (tmp_path / path[1:]).parent.mkdir(exist_ok=True)
        (tmp_path / path[1:]).write_text(text)
    monkeypatch.setattr(loads, "Path", lambda path: tmp_path / path[1:])
    assert loads.module_text("dm_align") == (0xffffffffc0010000, 0xffffffffc0040000, 0xffffffff81000000)
    assert loads.module_text("brd")[1] == 0xffffffffc0040000 + 16384


def test_a_place_has_the_name_of_the_function_that_begins_before_it(tmp_path, monkeypatch):
    (tmp_path / "kallsyms").write_text("ffffffff81000000 T _stext\nffffffffc0010040 t hold_gather\t[dm_align]\n"
                                       "ffffffffc0010020 t held_end\t[dm_align]\nffffffffc0010050 d table\t[dm_align]\n"
                                       "ffffffff80fffff0 T before\n")
    monkeypatch.setattr(loads, "Path", lambda _: tmp_path / "kallsyms")
    offsets = {str(0x3f010000 + 0x58): "hold_gather [dm_align]", str(0x3f010000 + 0x3f): "held_end [dm_align]",
               str((1 << 64) - 8): "before"}
    assert loads.names(0xffffffff81000000, set(offsets)) == offsets
