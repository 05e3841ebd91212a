# SPDX-License-Identifier: GPL-2.0
"""What the documents list is what the source has: counters, sysfs files, status keys, arguments, tracepoints, messages."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
KMOD = TOP / "kmod"
MANUAL = TOP / "Documentation" / "target" / "dm-align.rst"
DESIGN = TOP / "Documentation" / "target" / "design.rst"
ABI = TOP / "Documentation" / "ABI" / "testing" / "sysfs-block-dm-align"
GENERATOR = TOP / "Documentation" / "gen-ledger-table"
FOLDER = "/sys/block/dm-<num>/align/"


def generated(what):
    return subprocess.run([sys.executable, GENERATOR, what], capture_output=True, text=True, check=True).stdout


def ledger_rows():
    """(name, kind) of each counter, read another way than the generator does."""
    text = re.sub(r"/\*.*?\*/", "", (KMOD / "ledger_table.h").read_text(), flags=re.DOTALL)
    return re.findall(r"LEDGER_COUNTER\(\s*(\w+),\s*(\w+)", text)


def section(title):
    """The text of a section of the manual or the design, up to the next title of any level."""
    found = re.search(rf"^{re.escape(title)}\n[=\-~]+\n(.*?)(?=^[^\n]+\n[=\-~]{{3,}}\n|\Z)",
                      MANUAL.read_text() + DESIGN.read_text(), re.DOTALL | re.MULTILINE)
    assert found, f"neither {MANUAL} nor {DESIGN} has a section '{title}'"
    return found[1]


def literals(text):
    """Everything between double backquotes."""
    return re.findall(r"``([^`]+)``", text)


def terms(text):
    """Names that a definition list of literals explains, in order: lines that start with ``name``."""
    return [term.split()[0] for term in re.findall(r"^``([^`]+)``", text, re.MULTILINE)]


def terms_whole(text):
    """The same, with everything between the backquotes."""
    return re.findall(r"^``([^`]+)``$", text, re.MULTILINE)


def function_body(path, name):
    found = re.search(rf"^[^\n]*\b{name}\([^;{{]*\)\n{{\n(.*?)^}}", path.read_text(), re.DOTALL | re.MULTILINE)
    assert found, f"{path} has no function {name}()"
    return found[1]


def enum(path, name):
    """The constants of an enum, in order, without those that only count the others."""
    body = re.search(rf"enum {name} {{(.*?)}};", path.read_text(), re.DOTALL)[1]
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)
    return [constant for constant in re.findall(r"\w+", body) if not constant.endswith("_NR")]


def test_the_manual_holds_the_counter_table_as_generated():
    assert generated("rst") in MANUAL.read_text(), \
        "run 'Documentation/gen-ledger-table update'"


def test_the_abi_document_holds_the_counters_as_generated():
    assert generated("abi") in ABI.read_text(), "run 'Documentation/gen-ledger-table update'"


def test_the_generator_leaves_out_no_counter():
    table = generated("rst")
    assert re.findall(r"^``(\w+)``", table, re.MULTILINE) == [name for name, _ in ledger_rows()]


def sysfs_names():
    """The files that sysfs.c makes, from its calls of files_add() and its tables of names."""
    text = (KMOD / "sysfs.c").read_text()
    counters = [name for name, _ in ledger_rows()]
    histograms = [f"{name}_histogram" for name in re.findall(r"\[LEDGER_\w+\] = HISTOGRAM\((\w+)\)", text)]
    of_targets = re.findall(r"\{ \"(\w+)\", print_\w+ \}", text)
    assert len(histograms) == len(enum(KMOD / "ledger.h", "ledger_histogram")) - 1 and of_targets
    assert re.findall(r"name = kasprintf\(GFP_KERNEL, \"(.+)\", index,", text) == ["target%u_%s"]
    many = {"ledger_name(i)": counters, "histogram_names[i].name": histograms,
            "histogram_names[i].baseline": [f"baseline_{name}" for name in histograms],
            "baseline_names[i]": [f"baseline_{name}" for name, kind in ledger_rows() if kind == "COUNTER"],
            "name": [f"target<N>_{name}" for name in of_targets]}
    names = []
    for name in re.findall(r"files_add\(\s*files,\s*node,\s*\w+,\s*\w+,\s*([^;]+)\);", text):
        names += [name.strip('"')] if name.startswith('"') else many.pop(name)
    assert not many, "files of a table are not made"
    return names


def test_the_abi_document_lists_every_file_of_sysfs_and_no_other():
    listed = re.findall(rf"^What:\t+{re.escape(FOLDER)}(\S+)$", ABI.read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(sysfs_names())


def test_every_entry_of_the_abi_document_is_complete():
    entries = re.split(r"\n\n(?=What:)", ABI.read_text())[1:]
    assert entries
    for entry in entries:
        tags = re.findall(r"^(\w+):", entry, re.MULTILINE)
        assert list(dict.fromkeys(tags)) == ["What", "Date", "KernelVersion", "Contact", "Description"], entry
        assert re.search(r"^Description:\n\t\t\(RO\) \S", entry, re.MULTILINE), entry


def test_histograms_have_as_many_counts_as_the_documents_say():
    bins = dict(re.findall(r"#define ALIGN_(\w+)_BINS\s+(\d+)", (KMOD / "geometry.h").read_text()))
    for kind, heading in (("PHASE", "phase_histogram"), ("SIZE", "size_histogram"),
                          ("LATENCY", "latency_aligned_histogram")):
        entry = next(entry for entry in ABI.read_text().split("\n\n") if f"align/{heading}\n" in entry)
        assert f"(RO) {bins[kind]} counts" in entry, heading
        assert re.search(rf"^``{heading}``.*\b{bins[kind]} counts", section("Histograms"), re.MULTILINE), heading


def test_the_manual_lists_the_keys_of_the_status_line_in_order():
    keys = re.findall(r"[ \"](\w+):%", function_body(KMOD / "target.c", "print_status"))
    assert keys[0] == "physical_block_size", "print_status() no longer begins with the geometry"
    listed = list(dict.fromkeys(terms(section("Status line"))))
    assert listed == list(dict.fromkeys(keys))


def test_the_manual_explains_every_feature_argument():
    text = (KMOD / "table.c").read_text()
    taken = set(re.findall(r"strcasecmp\(name, \"(\w+)\"\)", text))
    assert taken and set(terms(section("Feature arguments"))) == taken


def test_the_manual_explains_every_message():
    text = "".join((KMOD / name).read_text() for name in ("target.c", "fixing.c", "coalesce.c"))
    taken = set(re.findall(r"strcasecmp\(argv\[0\], \"(\w+)\"\)", text))
    assert taken and set(terms(section("Messages"))) == taken


def test_the_manual_names_the_modes_that_the_target_has():
    name = re.search(r"^static inline const char \*align_mode_name\(.*?^}", (KMOD / "mode.h").read_text(), re.M | re.S)[0]
    modes = re.findall(r"return \"(\w+)\";", name)
    assert modes and [term for term in terms(section("Modes"))] == modes


@pytest.mark.parametrize("event", ["align_write", "align_rmw"])
def test_the_manual_shows_the_fields_of_each_tracepoint(event):
    trace = (KMOD / "trace.h").read_text()
    assert re.findall(r"TRACE_EVENT\((\w+),", trace) == ["align_write", "align_rmw"], "another tracepoint"
    fields = re.search(rf"TRACE_EVENT\({event},\s*TP_PROTO\((.*?)\)", trace, re.DOTALL)[1]
    names = [field.split()[-1] for field in fields.split(",")]
    text = section("Tracepoints")
    assert f"``{event}`` ({', '.join(names)})" in " ".join(text.split())


def test_the_manual_numbers_classes_and_resolutions_as_the_source_does():
    text = section("Tracepoints")
    listed = re.findall(r"^ *(\d+) +``(\w+)``", text, re.MULTILINE)
    source = [*enumerate(enum(KMOD / "geometry.h", "align_class")), *enumerate(enum(KMOD / "mode.h", "rmw_how"))]
    assert listed == [(str(number), name) for number, name in source]


def messages():
    """Texts that the manual quotes as said by the target."""
    return re.findall(r"^ *\* \"([^\"]+)\"", " ".join(section("Refusals and log lines").split("\n  ")), re.MULTILINE)


def test_every_refusal_that_the_manual_quotes_is_in_the_source():
    source = "".join(path.read_text() for path in (*KMOD.glob("*.c"), *KMOD.glob("*.h")))
    source = re.sub(r"\"\s*\n\s*\"", "", source)
    quoted = messages()
    assert quoted
    for text in quoted:
        assert f'"{text}"' in source, f"nothing in kmod/ says: {text}"


def test_every_refusal_in_the_source_is_quoted_in_the_manual():
    source = "".join((KMOD / file).read_text() for file in ("target.c", "fixing.h", "hold.h", "coalesce.c", "table.c"))
    said = set(re.findall(r"(?:error =|return|no_\w+\[\] =|return \S+ \?)\s*\"([^\"]+)\"", source))
    said |= set(re.findall(r"return \"([^\"]+)\"", function_body(KMOD / "geometry.h", "align_geometry_init")))
    said |= set(re.findall(r"\{0, \d+, \"([^\"]+)\"\}", source))
    assert len(said) > 20
    assert said == set(messages())


def test_the_manual_explains_every_line_that_the_target_logs_by_itself():
    source = "".join(path.read_text() for path in KMOD.glob("*.c"))
    formats = re.findall(r"DM(?:ERR|WARN|INFO)(?:_LIMIT)?\(\s*\"((?:[^\"\\]|\\.)+)\"", source)
    # These two only put in front of a refusal what it is about.
    formats = [text for text in formats if not text.endswith("\\\": %s")]
    explained = terms_whole(section("Log lines"))
    assert len(formats) == len(explained)
    for text in formats:
        pattern = "<[a-z ]+>".join(map(re.escape, re.split(r"%\w+", text.replace('\\"', '"'))))
        assert [line for line in explained if re.fullmatch(pattern, line)], f"the manual does not explain: {text}"


@pytest.mark.parametrize("file,name,title,said", [
    ("defaults.h", "ALIGN_CACHED_MS", "Cached blocks", "{} ms"),
    ("defaults.h", "ALIGN_DEFAULT_HOLD_MS", "Feature arguments", "Default\n    {}."),
    ("defaults.h", "ALIGN_DEFAULT_HOLD_MS", "Holding", "hold_ms is {} by default"),
    ("table.h", "ALIGN_MAX_HOLD_MS", "Feature arguments", "1 to {} milliseconds"),
    ("delay.c", "DELAY_US", "Deciding late", "{} us at most"),
    ("engine.h", "ALIGN_SHARDS", "Locks", "{} shards"),
])
def test_figures_in_the_manual_are_those_in_force(file, name, title, said):
    value = re.search(rf"#define {name}\s+(\d+)", (KMOD / file).read_text())[1]
    assert said.format(value) in section(title)


def test_seconds_in_the_manual_are_those_in_force():
    for file, name, title, said in (("drain.c", "HOLD_RETRY_MS", "Errors", "every {} seconds"),
                                    ("settle.c", "HOLD_DEADLINE_MS", "Suspend, reload, reboot",
                                     "to write held blocks for {} seconds"),
                                    ("notify.c", "NOTIFY_REBOOT_MS", "Suspend, reload, reboot",
                                     "waits {} seconds at most for all of them together"),
                                    ("ending.c", "NOTIFY_SLEEP_MS", "Suspend, reload, reboot",
                                     "and the notifier waits {} seconds at most for all of them. From"),
                                    ("notify.c", "NOTIFY_REBOOT_QUIET_MS", "Suspend, reload, reboot", "waits {} second more")):
        value = int(re.search(rf"#define {name}\s+(\d+)", (KMOD / file).read_text())[1])
        assert said.format(value // 1000) in " ".join(section(title).split()), name


def test_regions_are_as_large_as_the_manual_says():
    shift = int(re.search(r"#define ALIGN_REGION_SHIFT\s+(\d+)", (KMOD / "defaults.h").read_text())[1])
    assert f"regions of {2 ** (shift - 20)} MiB" in section("Locks")


def test_the_counters_of_a_cpu_are_as_large_as_the_manual_says():
    bins = dict(re.findall(r"#define ALIGN_(\w+)_BINS\s+(\d+)", (KMOD / "geometry.h").read_text()))
    share = 8 * (len(ledger_rows()) + int(bins["SIZE"]) + int(bins["LATENCY"]))
    areas = int(re.search(r"#define ALIGN_AREAS\s+(\d+)", (KMOD / "quiet.h").read_text())[1])
    memory = " ".join(section("Memory").split())
    # A pointer to the share, and the writes that are counted in each area.
    assert f"The counters take {8 + 4 * areas} bytes for each CPU" in memory
    assert f"its {share} bytes of counters" in memory


def test_what_the_manual_refers_to_by_its_title_is_there():
    place = {"dm-align.rst": MANUAL, "design.rst": DESIGN}
    named = re.findall(r"see \"([^\"]+)\"(?: in ``([\w.]+)``)?", " ".join(MANUAL.read_text().split()))
    assert named
    for title, page in named:
        assert re.search(rf"^{re.escape(title)}\n[=\-~]+$", place[page or "dm-align.rst"].read_text(), re.M), title
