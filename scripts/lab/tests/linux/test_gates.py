# SPDX-License-Identifier: GPL-2.0
"""The kernel code compiles without a warning everywhere, and passes sparse; each gate can fail. checkpatch is a gate of
lint.py."""

import re
import subprocess

import pytest

from lab.linux import gates, kernels, modules
from lab.paths import REPO
from lab.plugins.extent import one_kernel

# Tests that need a kernel's source, or test the gates themselves, run in make check for one kernel.
ONE_OR_ALL = one_kernel("the gates are the same for each kernel")
KERNEL_SOURCES = sorted([*(REPO / "kmod").glob("*.[ch]"), *(REPO / "kunit").glob("*.[ch]")])

MODULE = """// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include <linux/uaccess.h>

{body}
MODULE_DESCRIPTION("A module for the gates to look at");
MODULE_LICENSE("GPL");
"""

# Each body passes the compilers' plain warnings and breaks exactly one gate.
CLEAN = ""
NO_PROTOTYPE = "int gate_function(void)\n{\n\treturn 1;\n}\n"
ADDRESS_SPACE = ("static int __init gate_init(void)\n{\n\tint there;\n\tint __user *user = &there;\n\n"
                 "\treturn put_user(1, user);\n}\nmodule_init(gate_init);\n")
SELF_ASSIGN = ("static int __init gate_init(void)\n{\n\tint value = 1;\n\n\tvalue = value;\n\treturn value;\n}\n"
               "module_init(gate_init);\n")


@pytest.fixture
def sample(tmp_path):
    """Return a function that makes a module of the given body and returns the folder of its sources."""
    def make(body):
        folder = tmp_path / "kmod"
        folder.mkdir(exist_ok=True)
        (folder / "Kbuild").write_text("obj-m := sample.o\n")
        (folder / "sample.c").write_text(MODULE.format(body=body))
        return tmp_path
    return make


@pytest.fixture
def scratch(request):
    """Return a name for a test's build folder."""
    return f"gate-{request.node.name.replace('[', '-').replace(']', '')}"


@pytest.mark.parametrize("series", kernels.chosen())
def test_gcc_has_nothing_to_warn_of(series):
    assert (gates.compile_with(series, gates.GCC, "gcc") / "dm-align.ko").exists()


@pytest.mark.parametrize("series", ONE_OR_ALL)
def test_sparse_has_nothing_to_warn_of(series):
    gates.compile_with(series, gates.SPARSE, "sparse")


@pytest.mark.parametrize("series", ONE_OR_ALL)
def test_clang_has_nothing_to_warn_of(series):
    module = gates.compile_with(series, gates.CLANG, "clang") / "dm-align.ko"
    assert gates.made_by_clang(module)
    magic = subprocess.run(["/sbin/modinfo", "-F", "vermagic", module], capture_output=True, text=True, check=True).stdout
    assert magic.split()[0] == kernels.release(series)


def test_work_items_lie_in_what_outlives_its_workqueue():
    """See job.c: an object freed while its work item runs makes one device wait for another device's disk."""
    found = set()
    # The suites of KUnit make items of all kinds.
    for path in (path for path in KERNEL_SOURCES if path.parent.name == "kmod"):
        for name, body in re.findall(r"^struct (\w+) \{$(.*?)^\}", path.read_text(), re.M | re.S):
            if re.search(r"\bstruct (work_struct|delayed_work|rcu_work)\b", body):
                found.add(name)
    assert found == {"align_blocks", "align_delay", "align_held", "align_spare", "align_worker"}


def test_a_build_leaves_nothing_in_the_source_folders(sample, scratch):
    sources = sample(CLEAN)
    built = gates.compile_with(kernels.USUAL, gates.GCC, scratch, sources=sources, keep=False)
    assert (built / "sample.o").exists()
    assert sorted(path.name for path in (sources / "kmod").iterdir()) == ["Kbuild", "sample.c"]


@pytest.mark.parametrize("gate", ["GCC", "SPARSE", "CLANG"])
@pytest.mark.parametrize("series", ONE_OR_ALL)
def test_a_clean_module_passes(series, gate, sample, scratch):
    gates.compile_with(series, getattr(gates, gate), scratch, sources=sample(CLEAN))


@pytest.mark.parametrize("gate, body, said", [
    ("GCC", NO_PROTOTYPE, "missing-prototypes"),
    ("SPARSE", ADDRESS_SPACE, "different address spaces"),
    ("CLANG", SELF_ASSIGN, "self-assign"),
])
@pytest.mark.parametrize("series", ONE_OR_ALL)
def test_a_module_with_a_fault_does_not_pass(series, gate, body, said, sample, scratch):
    with pytest.raises(modules.BuildFailed, match=said):
        gates.compile_with(series, getattr(gates, gate), scratch, sources=sample(body))


def test_a_module_made_by_gcc_does_not_count_as_made_by_clang(sample, scratch):
    folder = gates.compile_with(kernels.USUAL, gates.GCC, scratch, sources=sample(CLEAN))
    assert not gates.made_by_clang(folder / "sample.ko")


@pytest.mark.parametrize("name, text, type_", [
    ("spaces.c", "int f(void)\n{\n        return 0;\n}\n", "CODE_INDENT"),
    ("ledger.c", "#if LINUX_VERSION_CODE < 1\n#endif\n", "LINUX_VERSION_CODE"),
])
def test_checkpatch_complains_of_a_bad_file(name, text, type_, tmp_path):
    path = tmp_path / name
    path.write_text("// SPDX-License-Identifier: GPL-2.0\n" + text)
    assert any(type_ in line for line in gates.checkpatch(path))


def test_checkpatch_leaves_nothing_where_it_was_started(tmp_path, monkeypatch):
    path = tmp_path / "camel.c"
    path.write_text("// SPDX-License-Identifier: GPL-2.0\nint camelCase;\n")
    monkeypatch.chdir(tmp_path)
    gates.checkpatch(path)
    assert [left.name for left in tmp_path.iterdir()] == [path.name]


def test_checkpatch_lets_the_one_file_know_a_kernel_version(tmp_path):
    path = tmp_path / gates.VERSIONED
    path.write_text("/* SPDX-License-Identifier: GPL-2.0 */\n#if LINUX_VERSION_CODE < 1\n#endif\n")
    assert not gates.checkpatch(path)
