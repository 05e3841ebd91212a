# SPDX-License-Identifier: GPL-2.0
"""The files of the target as a kernel tree has them, derived from this checkout.

A kernel tree has one kernel, so what kmod/compat.h does for others goes: unifdef resolves its conditions by the answers of the
compile probes, and what is left of it stands in the callers or in placement.h. What cannot be derived by rule is a pair of
texts in REWRITES; each old text must be there exactly once, so that a change of the sources is noticed.
"""

import re
import subprocess

from .. import kept
from ..linux import gates, kernels, modules
from ..paths import REPO, fail

# The kernel that the series is for, and the one that may have it.
SERIES = "7.2"
NEXT = "7.3"
DRIVER = "drivers/md/dm-align"
MANUAL = "Documentation/admin-guide/device-mapper/dm-align.rst"
ABI = "Documentation/ABI/testing/sysfs-block-dm-align"
LIST = "dm-devel@lists.linux.dev"

# Of the module's folder, what a kernel tree does not have.
DROPPED = {"compat.h", "compat_probes.c", "version.c"}
# Of kunit's, the suites of the kernel's own interfaces, which say nothing of the target.
DROPPED_SUITES = ("interfaces", "disks")

REWRITES = {
    "kmod/target.c": (
        ("static int align_prepare_ioctl(COMPAT_IOCTL_ARGS(struct dm_target *ti,\n"
         "\t\t\t\t\t\t struct block_device **bdev))\n",
         "static int align_prepare_ioctl(struct dm_target *ti, struct block_device **bdev,\n"
         "\t\t\t       unsigned int cmd, unsigned long arg,\n"
         "\t\t\t       bool *forward)\n"),
        ("\t    ioctl_spares_medium(COMPAT_IOCTL_CMD))\n", "\t    ioctl_spares_medium(cmd))\n"),
        ("\tif (READ_ONCE(at->mode) != ALIGN_REPORT && g->physical > g->logical)\n"
         "\t\tcompat_limit_write_zeroes(limits, align_zeroes_limit(g, sectors));\n",
         "\tif (READ_ONCE(at->mode) == ALIGN_REPORT || g->physical <= g->logical)\n"
         "\t\treturn;\n"
         "\tsectors = align_zeroes_limit(g, sectors);\n"
         "\tlimits->max_write_zeroes_sectors = sectors;\n"
         "\t/* The same, or 0 where the device below does not unmap. */\n"
         "\tlimits->max_hw_wzeroes_unmap_sectors =\n"
         "\t\tmin(limits->max_hw_wzeroes_unmap_sectors, sectors);\n"),
        ("\tcompat_clear_misaligned(limits);\n", "\tlimits->flags &= ~BLK_FLAG_MISALIGNED;\n"),
    ),
    "kmod/block_state.h": (('#include "compat.h"\n', '#include "placement.h"\n'),),
    "kmod/geometry.h": (
        (" * The block layer splits write-zeroes by the same rule as writes, from 6.12 on\n"
         " * (before that at the limit itself, which is no less). A part of a block, which is\n"
         " * left to the drive, goes alone: what lies below may cut by rules of its own, from\n"
         " * where a request starts (QEMU does, every 32 MiB), and would cut inside blocks.\n",
         " * The block layer splits write-zeroes by the same rule as writes. A part of a\n"
         " * block, which is left to the drive, goes alone: what lies below may cut by\n"
         " * rules of its own, from where a request starts (QEMU does, every 32 MiB), and\n"
         " * would cut inside blocks.\n"),
    ),
    "kmod/ledger_table.h": (
        (' * "dmsetup status", the files in sysfs, the keys of alignctl\'s JSON and the\n'
         " * tables in the documents. Append only: the order is part of the interface.\n",
         ' * "dmsetup status" and the files in sysfs. Append only: the order is part of the\n'
         " * interface.\n"),
        (" *   name   status key, sysfs file name and JSON key\n", " *   name   status key and sysfs file name\n"),
        (" *   help   one sentence for documents and for \"alignctl stats --help\"\n",
         " *   help   one sentence, as in the documents\n"),
    ),
    "Documentation/dm-align.rst": (
        ("the mapped device advertises, counted from the start of the range. From 6.12 on\n"
         "it ends such a part at a multiple",
         "the mapped device advertises, counted from the start of the range. The kernel\n"
         "ends such a part at a multiple"),
        ("Write hints (F_SET_RW_HINT) reach the drive, where the kernel has them (6.9 and\n"
         "later): a block is written with the hint of its oldest touch that is not\n"
         "acknowledged, or of the newest that was held. Blocks",
         "Write hints (F_SET_RW_HINT) reach the drive: a block is written with the hint of\n"
         "its oldest touch that is not acknowledged, or of the newest that was held. Blocks"),
        ("limits. Since Linux 6.14 device-mapper passes such writes (RWF_ATOMIC,\n"
         "REQ_ATOMIC) on; the target takes them in each mode, with the limits that linear\n"
         "would have.",
         "limits. device-mapper passes such writes (RWF_ATOMIC, REQ_ATOMIC) on; the target\n"
         "takes them in each mode, with the limits that linear would have."),
    ),
    ABI: (("are. Documentation/dm-align.rst explains the terms.\n",
           "are. Documentation/admin-guide/device-mapper/dm-align.rst explains the terms.\n"),),
}

PLACEMENT = """\
/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a drive puts the data of a write. A bio that is made from others keeps
 * their placement.
 */
#ifndef DM_ALIGN_PLACEMENT_H
#define DM_ALIGN_PLACEMENT_H

#include <linux/bio.h>

"""

MAKEFILE = """\
# SPDX-License-Identifier: GPL-2.0

obj-$(CONFIG_DM_ALIGN) += dm-align.o

{objects}

# The trace header is included by its file name.
CFLAGS_trace.o := -I$(src)
"""

TESTS_MAKEFILE = """\
# SPDX-License-Identifier: GPL-2.0
#
# One module for each suite.

ccflags-y += -I$(src)/..

{objects}
"""

# Words of this checkout, which no file of the series may have.
FOREIGN = re.compile(r"compat_|compat\.h|COMPAT_|DM_ALIGN_HAVE|\bPROBE|probes\b|kmod|kunit/\.\.|alignctl|drive512e|forecast|"
                     r"__KERNEL__|KBUILD_EXTMOD|\.\. session")


def answers():
    """Return the answers of the compile probes for the series' kernel: {"DM_ALIGN_HAVE_BDEV_ROT": "1", ...}."""
    folder = gates.compile_with(SERIES, gates.GCC, "gcc")
    return dict(re.findall(r"#define (DM_ALIGN_HAVE_\w+) ([01])\n", (folder / "compat_probes.h").read_text()))


def unifdef(text, symbols):
    """Return a C text without the conditions on symbols with known values. Uses the kernel's own unifdef."""
    source = kernels.fetch_source(kernels.USUAL) / "scripts/unifdef.c"

    def make(folder):
        subprocess.run(["gcc", "-O1", "-o", folder / "unifdef", source], check=True)

    program = kept.result("unifdef", kept.digest(source, modules.tool_version("gcc")), make) / "unifdef"
    done = subprocess.run([program, *(f"-D{name}={value}" for name, value in symbols.items())], input=text, text=True,
                          capture_output=True)
    if done.returncode > 1:
        fail(f"unifdef cannot read it: {done.stderr.strip()}", 1)
    return done.stdout


def rewrite(name, text):
    """Return the text of a file with its REWRITES."""
    for old, new in REWRITES.get(name, ()):
        if text.count(old) != 1:
            fail(f"{name}: {old.splitlines()[0].strip()!r} is there {text.count(old)} times, not once: see "
                 "scripts/lab/upstream/derive.py", 1)
        text = text.replace(old, new)
    return text


def _c_file(name, symbols):
    text = unifdef(rewrite(name, (REPO / name).read_text()), {**symbols, "__KERNEL__": 1})
    return text.replace('#include "compat.h"\n', "")


def _placement(symbols):
    """Return what compat.h has beyond supplying what a kernel lacks."""
    text = unifdef((REPO / "kmod/compat.h").read_text(), symbols)
    return PLACEMENT + text[text.index("/**\n * struct align_placement"):]


def _objects(folder, pattern):
    found = re.findall(pattern, (REPO / folder / "Kbuild").read_text(), re.M)
    if not found:
        fail(f"{folder}/Kbuild: no objects like {pattern!r}: see scripts/lab/upstream/derive.py", 1)
    return "\n".join(found)


def _without_dropped(text):
    return "\n".join(line for line in text.split("\n") if not any(suite in line for suite in DROPPED_SUITES))


def _kunit_names(text):
    """Return a text with modules and suites named as KUnit names them: by underscores, and files *_kunit.c."""
    text = re.sub(r"dm-align-(\w+)-test\b", r"dm_align_\1_kunit", text)
    text = re.sub(r'"dm-align-(\w+)"', r'"dm_align_\1"', text)
    return re.sub(r"\b(\w+)_test\.o", r"\1_kunit.o", text)


def suites():
    """Return the files of kunit/ that the series has."""
    return [path for path in sorted((REPO / "kunit").glob("*.[ch]")) if not path.name.startswith(DROPPED_SUITES)]


def files(symbols):
    """Return the series' new files: {path in the kernel tree: text}; `symbols` as from answers()."""
    made = {}
    for path in sorted((REPO / "kmod").glob("*.[ch]")):
        if path.name not in DROPPED and not path.name.endswith(".mod.c"):
            made[f"{DRIVER}/{path.name}"] = _c_file(f"kmod/{path.name}", symbols)
    made[f"{DRIVER}/placement.h"] = _placement(symbols)
    made[f"{DRIVER}/Kconfig"] = (REPO / "kmod/Kconfig").read_text()
    made[f"{DRIVER}/Makefile"] = MAKEFILE.format(objects=_objects("kmod", r"^dm-align-y := (?:.*\\\n)*.*$"))
    for path in suites():
        name = path.name.replace("_test.c", "_kunit.c")
        made[f"{DRIVER}/tests/{name}"] = _kunit_names(_c_file(f"kunit/{path.name}", symbols))
    made[f"{DRIVER}/tests/Makefile"] = TESTS_MAKEFILE.format(
        objects=_kunit_names(_without_dropped(_objects("kunit", r"^(?:obj-.*\n)+\n(?:dm-align.*\n?)+").rstrip("\n"))))
    made[f"{DRIVER}/tests/Kconfig"] = _kunit_names((REPO / "kunit/Kconfig").read_text())
    made[f"{DRIVER}/.kunitconfig"] = (REPO / "kunit/.kunitconfig").read_text()
    manual = rewrite("Documentation/dm-align.rst", (REPO / "Documentation/dm-align.rst").read_text())
    made[MANUAL] = re.sub(r"^\.\. session.*\n", "", manual, flags=re.M)
    abi = rewrite(ABI, (REPO / ABI).read_text())
    abi = abi.removeprefix("SPDX-License-Identifier: GPL-2.0\n\n")
    abi = re.sub(r"^KernelVersion:\t.*$", f"KernelVersion:\t{NEXT}", abi, flags=re.M)
    made[ABI] = re.sub(r"^Contact:\t.*$", f"Contact:\t{LIST}", abi, flags=re.M)
    return made
