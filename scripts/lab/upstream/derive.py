# SPDX-License-Identifier: GPL-2.0
"""The files of the target as a kernel tree has them, derived from this checkout.

A kernel tree has one kernel, so what kmod/compat.h does for others goes: unifdef resolves its conditions by the answers of the
compile probes, and what is left of it stands in the callers or in placement.h. What cannot be derived by rule is a pair of
texts in REWRITES; each old text must be there exactly once, so that a change of the sources is noticed.

There is a series for each layer of the target (lab.linux.layers): the files that it has, without what is above it. unifdef
resolves the layers' conditions; LAYER_REWRITES take out calls of what a series does not have.
"""

import re
import subprocess

from .. import kept
from ..linux import gates, kernels, layers, modules
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

# Allocations of objects, by the names that <linux/slab.h> of the series' kernel has. A statement that is wrapped is in REWRITES.
OBJECTS = (
    (r"\bkzalloc\(sizeof\((\*+\w+)\), ", r"kzalloc_obj(\1, "),
    (r"\bkzalloc\(struct_size\((\w+), (\w+), (\w+)\), ", r"kzalloc_flex(*\1, \2, \3, "),
    (r"\bkcalloc\(([^(),]+), sizeof\((\*[\w>.-]+)\), ", r"kzalloc_objs(\2, \1, "),
    # what they do without being told
    (r"\b(kzalloc_(?:obj|objs|flex)\([^()\n]*), GFP_KERNEL\)", r"\1)"),
)

REWRITES = {
    "kmod/ledger.c": (
        ("\tmade = kzalloc(sizeof(*made), GFP_NOWAIT | __GFP_NORETRY |\n\t\t       __GFP_NOMEMALLOC | __GFP_NOWARN);\n",
         "\tmade = kzalloc_obj(*made, GFP_NOWAIT | __GFP_NORETRY |\n\t\t\t   __GFP_NOMEMALLOC | __GFP_NOWARN);\n"),
    ),
    "kmod/spare.c": (
        ("\tspare->vecs = kcalloc(buffer_nr_vecs(at), sizeof(*spare->vecs),\n\t\t\t      GFP_KERNEL);\n",
         "\tspare->vecs = kzalloc_objs(*spare->vecs, buffer_nr_vecs(at));\n"),
    ),
    "kmod/target.c": (
        ("static int align_prepare_ioctl(COMPAT_IOCTL_ARGS(struct dm_target *ti,\n"
         "\t\t\t\t\t\t struct block_device **bdev))\n",
         "static int align_prepare_ioctl(struct dm_target *ti, struct block_device **bdev,\n"
         "\t\t\t       unsigned int cmd, unsigned long arg,\n"
         "\t\t\t       bool *forward)\n"),
        ("\tret = fixing_take_ioctl(at, COMPAT_IOCTL_CMD);\n", "\tret = fixing_take_ioctl(at, cmd);\n"),
        ("\tcompat_clear_misaligned(limits);\n", "\tlimits->flags &= ~BLK_FLAG_MISALIGNED;\n"),
    ),
    "kmod/fixing.c": (
        ("\tif (READ_ONCE(at->mode) != ALIGN_REPORT && g->physical > g->logical)\n"
         "\t\tcompat_limit_write_zeroes(limits, align_zeroes_limit(g, sectors));\n",
         "\tif (READ_ONCE(at->mode) == ALIGN_REPORT || g->physical <= g->logical)\n"
         "\t\treturn;\n"
         "\tsectors = align_zeroes_limit(g, sectors);\n"
         "\tlimits->max_write_zeroes_sectors = sectors;\n"
         "\t/* The same, or 0 where the device below does not unmap. */\n"
         "\tlimits->max_hw_wzeroes_unmap_sectors =\n"
         "\t\tmin(limits->max_hw_wzeroes_unmap_sectors, sectors);\n"),
    ),
    "kmod/write.c": (
        (" * the mapped device advertises, counted from the start of the range. From 6.12\n"
         " * on it ends such a part at a multiple",
         " * the mapped device advertises, counted from the start of the range. The kernel\n"
         " * ends such a part at a multiple"),
    ),
    "kmod/cgroup.h": (
        ('#include "compat.h"\n', ""),
        ("COMPAT_THROTTLE_TELLS ? THROTTLING_SURE : THROTTLING_MAYBE;", "THROTTLING_SURE;"),
    ),
    "kmod/block_state.h": (('#include "compat.h"\n', '#include "placement.h"\n'),),
    "kmod/reclaim.c": (
        ('#include "compat.h"\n', ""),
        ('\tshrinker = compat_shrinker("dm-align", reclaim_count, reclaim_scan);\n\treturn shrinker ? 0 : -ENOMEM;\n',
         '\tshrinker = shrinker_alloc(0, "dm-align");\n\tif (!shrinker)\n\t\treturn -ENOMEM;\n'
         "\tshrinker->count_objects = reclaim_count;\n\tshrinker->scan_objects = reclaim_scan;\n"
         "\tshrinker_register(shrinker);\n\treturn 0;\n"),
    ),
    "kmod/cut.h": (
        (" * The block layer splits write-zeroes by the same rule as writes, from 6.12 on\n"
         " * (before that at the limit itself, which is no less). A part of a block, which is\n"
         " * left to the drive, goes alone: layers below may cut by rules of their own, from\n"
         " * where a request starts (QEMU does, every 32 MiB), and would cut inside blocks.\n",
         " * The block layer splits write-zeroes by the same rule as writes. A part of a\n"
         " * block, which is left to the drive, goes alone: layers below may cut by rules\n"
         " * of their own, from where a request starts (QEMU does, every 32 MiB), and\n"
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
    "Documentation/target/design.rst": (
        ("Write hints (F_SET_RW_HINT) reach the drive, where the kernel has them (6.9 and\n"
         "later): a block is written with the hint of its oldest unacknowledged touch, or else of\n"
         "its newest held touch. Blocks",
         "Write hints (F_SET_RW_HINT) reach the drive: a block is written with the hint of\n"
         "its oldest unacknowledged touch, or else of its newest held touch. Blocks"),
        ("limits. Since Linux 6.14 device-mapper passes such writes (RWF_ATOMIC, REQ_ATOMIC)\n"
         "on; the target takes them",
         "limits. device-mapper passes such writes (RWF_ATOMIC, REQ_ATOMIC) on; the target\n"
         "takes them"),
    ),
    ABI: (("are. Documentation/target/dm-align.rst explains the terms.\n",
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

# What a series takes out of texts of its layer: calls of the empty functions that stand for what is above. Without that, the
# first series would be full of them; in the second, headers have them, because most of the engine asks what is held.
LAYER_REWRITES = {"report": {
    "kmod/Kconfig": (
        ("\t  that cost such a drive a read-modify-write. In mode pad it turns\n"
         "\t  them into writes of whole physical blocks; in mode coalesce it also\n"
         "\t  holds partial blocks for a short time, as a volatile write cache\n"
         "\t  does, so that streams of misaligned writes need no reads.\n",
         "\t  that cost such a drive a read-modify-write.\n"),
    ),
    "kmod/target.c": (
        (" * Mode report counts the writes that cost a drive a read-modify-write; mode\n"
         " * pad turns them into writes of whole physical blocks; mode coalesce also\n"
         " * acknowledges their partial blocks early. This file is what device-mapper sees:\n"
         " * map, status, messages; table.c has its table lines, fixing.c what pad and coalesce\n"
         " * need besides.\n",
         " * It counts the writes that cost a drive a read-modify-write. This file is what\n"
         " * device-mapper sees: map, status, messages; table.c has its table lines.\n"),
        ('#include "fixing.h"\n#include "hold.h"\n#include "node.h"\n', '#include "node.h"\n#include "report.h"\n'),
        ("\tfixing_exit(at);\n", ""),
        ("\tret = fixing_init(at, &args);\n\tif (ret)\n\t\tgoto bad;\n", ""),
        ("\tio->at = at;\n\tio->bio = bio;\n\tio->change = false;\n\thold_begin_io(io);\n",
         "\tio->at = at;\n\tio->bio = bio;\n\tio->change = false;\n"),
        ("\t\treturn fixing_map_read(io);\n", "\t\treport_count_read(io, true);\n\t\treturn DM_MAPIO_REMAPPED;\n"),
        ("\t\tif (hold_is_some(at))\n\t\t\treturn hold_map_flush(io);\n", ""),
        ("\tio->write.counted = false;\n", ""),
        ("\treturn fixing_map(io);\n", "\treturn report_map(io);\n"),
        ("\t/*\n\t\t * Each target of a table gets its own; count one of them. If\n"
         "\t\t * nothing is acknowledged that the drive has not, just pass.\n\t\t */\n",
         "\t/* Each target of a table gets its own; count one of them. */\n"),
        ("\t\t/* Zone operations; a zoned device is in mode report. */\n", "\t\t/* Zone operations. */\n"),
        ("\tif (!io->change) {\n\t\thold_end_io(io, !*error);\n\t\treturn DM_ENDIO_DONE;\n\t}\n"
         "\tfixing_end(io, !*error);\n\tif (io->write.counted)\n\t\talign_io_resolve(io);\n\tfixing_leave(io);\n",
         "\tif (io->change)\n\t\talign_io_resolve(io);\n"),
        ("\t\tif (!error) {\n\t\t\tWRITE_ONCE(at->given.mode, true);\n\t\t\tret = fixing_set_mode(at, mode);\n\t\t}\n",
         "\t\tif (!error)\n\t\t\tWRITE_ONCE(at->given.mode, true);\n"),
        ("\t} else {\n\t\tret = fixing_message(at, argc, argv, &error);\n",
         '\t} else if (argc != 1 || strcasecmp(argv[0], "flush")) {\n\t\terror = "must be mode <value> or reset_stats|flush";\n'),
        (" *   mode <report|pad|coalesce>\n *                       change the mode; returns when the change is complete\n",
         " *   mode report         the mode that it has\n"
         " *   flush               nothing, as nothing is held\n"),
        ("\tstruct align_target *at = ti->private;\n\n\tnode_go_live(at);\n\thold_preresume(at);\n",
         "\tnode_go_live(ti->private);\n"),
        ("\tstruct align_target *at = ti->private;\n\tint ret;\n\n\t*bdev",
         "\tstruct align_target *at = ti->private;\n\n\t*bdev"),
        ("\tret = fixing_take_ioctl(at, cmd);\n\tif (ret)\n\t\treturn ret;\n", ""),
        ("\tfixing_io_hints(at, limits);\n", ""),
        ("\tint ret = fixing_load();\n\n\tif (ret)\n\t\treturn ret;\n\tret = dm_register_target(&align_type);\n"
         "\tif (ret)\n\t\tfixing_unload();\n\treturn ret;\n", "\treturn dm_register_target(&align_type);\n"),
        ("\tdm_unregister_target(&align_type);\n\tfixing_unload();\n", "\tdm_unregister_target(&align_type);\n"),
    ),
    "kmod/align.h": (
        ("/* Whether a touch is resolved with its block, and not with its write. */\n"
         "static inline bool touch_is_held(const struct align_touch *touch)\n{\n\treturn false;\n}\n\n", ""),
        (" * @mode: changes under @change_lock with the gate closed\n", " * @mode: the mode\n"),
        ("\tbool counted;\n", ""),
    ),
    "kmod/account.c": (
        ("\t\tif (touch_is_held(&io->write.touch[i]))\n\t\t\tcontinue;\n", ""),
        ("\tnode_sees_cache(io->at->node);\n", ""),
        ("\tio->write.counted = true;\n\tcount_write", "\tcount_write"),
        ("\tio->write.counted = true;\n\tswitch", "\tswitch"),
    ),
    "kmod/node.h": (
        ("static inline void node_note_cache(struct align_node *node)\n{\n}\n\n"
         "static inline void node_look_for_openers(struct align_node *node)\n{\n}\n\n"
         "static inline void node_sees_cache(struct align_node *node)\n{\n}\n\n", ""),
    ),
    "kmod/node.c": (
        ("\t/* The cache below the table before the first one with this target. */\n\tnode_note_cache(node);\n", ""),
        ("\tif (node->live == at->ti->table) {\n\t\tnode->live = NULL;\n"
         "\t\t/* The cache below the table that took its place. */\n\t\tnode_note_cache(node);\n\t}\n",
         "\tif (node->live == at->ti->table)\n\t\tnode->live = NULL;\n"),
        ("\tnode_look_for_openers(node);\n", ""),
    ),
    "kmod/sysfs.c": (
        (" * reader may use the node. A reader takes node->lock, the ledger's, or node->leave_lock\n"
         " * and inside that the lock of one shard after the other; none of them is held\n"
         " * while files are removed, or a request is waited for.\n",
         " * reader may use the node. A reader takes node->lock or the ledger's; neither is held\n"
         " * while files are removed, or a request is waited for.\n"),
    ),
}, "pad": {
    "kmod/Kconfig": (
        ("\t  them into writes of whole physical blocks; in mode coalesce it also\n"
         "\t  holds partial blocks for a short time, as a volatile write cache\n"
         "\t  does, so that streams of misaligned writes need no reads.\n",
         "\t  them into writes of whole physical blocks.\n"),
    ),
}}
# Headers whose empty functions a series does not have, as it has no call of them: by the first layer that has them.
HOOKS = {"fixing.h": "pad", "hold.h": "pad", "cut.h": "pad"}
# The suites of KUnit that a series adds.
SUITES = {"report": ("geometry", "limits", "ledger"), "pad": ("cut", "block", "quiet", "range", "shard"), "coalesce": ("waiter",)}

# Sections of the manual that a series does not have, by the first layer that has them.
SECTIONS = {"pad": ("Smaller logical blocks", "Changing the mode", "When to use it, and when not", "Reads, flushes and FUA",
                    "Errors", "Memory", "Design"),
            "coalesce": ("Holding", "When coalesce is refused", "Suspend, reload, reboot", "What is at stake", "Example",
                         "Rules of holding", "Reads of held sectors", "How a flush waits", "What the drain writes first",
                         "Suspend", "Limits and known gaps")}
# Where the manual names the pages that a series has in the manual, and before which section the design stands there.
ELSEWHERE = """\
The glossary (``../glossary.rst``) has all terms, and ``design.rst`` says how the engine works.

"""
LAST_SECTION = "Limits and known gaps\n=====================\n"
# A place of the manual for a DOC: comment of the code: see Documentation/gen-design.
COMMENT = re.compile(r"^\.\. kernel-doc of kmod/(\S+): (.+)\n\n(?:.*\n)*?\.\. end of kernel-doc\n", re.M)

# Words of this checkout, which no file of the series may have.
FOREIGN = re.compile(r"compat_|compat\.h|COMPAT_|DM_ALIGN_HAVE|\bPROBE|probes\b|kmod|kunit/\.\.|alignctl|drive512e|forecast|"
                     r"__KERNEL__|KBUILD_EXTMOD|\.\. session|CONFIG_DM_ALIGN_(PAD|COALESCE)")


def answers():
    """Return the answers of the compile probes for the series' kernel: {"DM_ALIGN_HAVE_BDEV_ROT": "1", ...}."""
    folder = gates.compile_with(SERIES, gates.GCC, "gcc")
    return dict(re.findall(r"#define (DM_ALIGN_HAVE_\w+) ([01])\n", (folder / "compat_probes.h").read_text()))


def unifdef(text, symbols):
    """Return a C text without the conditions on symbols with known values, None for undefined. Uses the kernel's own unifdef."""
    source = kernels.fetch_source(kernels.USUAL) / "scripts/unifdef.c"

    def make(folder):
        subprocess.run(["gcc", "-O1", "-o", folder / "unifdef", source], check=True)

    program = kept.result("unifdef", kept.digest(source, modules.tool_version("gcc")), make) / "unifdef"
    known = [f"-U{name}" if value is None else f"-D{name}={value}" for name, value in symbols.items()]
    done = subprocess.run([program, *known], input=text, text=True, capture_output=True)
    if done.returncode > 1:
        fail(f"unifdef cannot read it: {done.stderr.strip()}", 1)
    return done.stdout


def rewrite(name, text, rewrites=None):
    """Return the text of a file with its REWRITES, or others."""
    for old, new in (REWRITES if rewrites is None else rewrites).get(name, ()):
        if text.count(old) != 1:
            fail(f"{name}: {old.splitlines()[0].strip()!r} is there {text.count(old)} times, not once: see "
                 "scripts/lab/upstream/derive.py", 1)
        text = text.replace(old, new)
    return text


def without_absent_members(text):
    """Return a C text without the rows of kernel-doc of structures that are about members which are not there."""
    def prune(found):
        rows, body = found[1], found[3]
        rows = re.sub(r"^ \* @(\w+):.*\n(?: \*\t.*\n)*", lambda row: row[0] if re.search(rf"\b{row[1]}\b", body) else "", rows,
                      flags=re.M)
        return f"{rows}{found[2]}{body}"

    return re.sub(r"(/\*\*\n \* struct \w+ - (?:(?!\*/)[^\0])*?)( \*/\nstruct \w+ \{\n)(.*?\n\}(?:;| ))", prune, text,
                  flags=re.S)


def _c_file(name, symbols, layer):
    known = {symbol: 1 if symbol in layers.symbols(layer) else None for symbol in layers.SYMBOLS.values()}
    text = unifdef(rewrite(name, (REPO / name).read_text()), {**symbols, **known, "__KERNEL__": 1})
    text = rewrite(name, text, LAYER_REWRITES.get(layer, {}))
    absent = ["compat.h", *(header for header, first in HOOKS.items() if first not in layers.upto(layer))]
    text = "".join(line for line in text.splitlines(keepends=True) if line not in [f'#include "{header}"\n' for header in absent])
    for old, new in OBJECTS:
        text = re.sub(old, new, text)
    return re.sub(r"\n{3,}", "\n\n", without_absent_members(text))


def _needed(texts, names):
    """Return the names of files and of all that they include, of those that there are."""
    found, new = set(), set(names)
    while new:
        found |= new
        new = {name for each in new for name in re.findall(r'^#\s*include "(.*)"$', texts[each], re.M) if name in texts} - found
    return found


def _placement(symbols):
    """Return what compat.h has beyond supplying what a kernel lacks."""
    text = unifdef((REPO / "kmod/compat.h").read_text(), symbols)
    return PLACEMENT + text[text.index("/**\n * struct align_placement"):]


def _wrapped(begin, names):
    """Return a line of a Makefile in as many as it needs."""
    lines = [begin]
    for name in names:
        if len(lines[-1]) + len(name) > 70:
            lines[-1] += " \\"
            lines.append("\t\t" + name)
        else:
            lines[-1] += " " + name
    return "\n".join(lines)


def _suites_objects(names):
    """Return the lines of kunit/Kbuild about some suites."""
    text = (REPO / "kunit/Kbuild").read_text()
    found = [line for line in text.splitlines() if re.match(rf"(obj-\S+ \+= )?dm-align-({'|'.join(names)})-test", line)]
    if len(found) != 2 * len(names):
        fail(f"kunit/Kbuild does not list the suites {' '.join(names)}: see scripts/lab/upstream/derive.py", 1)
    modules_of, objects_of = ([line for line in found if line.startswith("obj") == whether] for whether in (True, False))
    return "\n".join([*modules_of, "", *objects_of])


def _kunit_names(text):
    """Return a text with modules and suites named as KUnit names them: by underscores, and files *_kunit.c."""
    text = re.sub(r"dm-align-(\w+)-test\b", r"dm_align_\1_kunit", text)
    text = re.sub(r'"dm-align-(\w+)"', r'"dm_align_\1"', text)
    return re.sub(r"\b(\w+)_test\.o", r"\1_kunit.o", text)


def suites(layer=layers.LAYERS[-1]):
    """Return the names of the suites that the series of a layer, and those before it, have."""
    return [name for each in layers.upto(layer) for name in SUITES[each]]


def _kconfig():
    """Return kmod/Kconfig without the options of layers: a series adds its mode to the target."""
    return (REPO / "kmod/Kconfig").read_text().partition(f"\nconfig {layers.SYMBOLS['pad'].removeprefix('CONFIG_')}\n")[0]


def of_layer(text, layer):
    """Return the manual without the sections that are about what is above a layer; what refers to them has their names only. A
    part of a section that SECTIONS does not name goes with it."""
    first = {title: each for each, titles in SECTIONS.items() for title in titles}
    head, *sections = re.split(r"^(?=[^\n=-][^\n]*\n(?:=+|-+)\n)", text, flags=re.M)
    if missing := set(first) - {section.partition("\n")[0] for section in sections}:
        fail(f"the manual has no section {sorted(missing)[0]!r}: see scripts/lab/upstream/derive.py", 1)
    there, gone, whole = [head], [], ""
    for section in sections:
        title, line = section.split("\n")[:2]
        if line.startswith("="):
            whole = title
        above = first.get(title, first.get(whole)) not in (None, *layers.upto(layer))
        (gone if above else there).append(title if above else section)
    text = "".join(there)
    for title in gone:
        link = "`" + re.escape(title).replace(r"\ ", r"\s+") + "`_"
        # In a table the columns behind it stay where they are.
        text = re.sub(link + r"(\S*)(?=  )", rf'"{title}"\1 ', text)
        text = re.sub(link, f'"{title}"', text)
    return text


def with_comments(manual, made):
    """Return the manual with what the kernel's documents have in place of repeated comments: a directive that reads them."""
    def directive(place):
        name = f"{DRIVER}/{place[1]}"
        if f"DOC: {place[2]}\n" not in made.get(name, ""):
            fail(f"the manual has {place[2]!r} of {name}, which the series has not: see SECTIONS in "
                 "scripts/lab/upstream/derive.py", 1)
        return f".. kernel-doc:: {name}\n   :doc: {place[2]}\n"

    return COMMENT.sub(directive, manual)


def _abi(made):
    """Return the description of the files in sysfs that the target of a series has."""
    abi = rewrite(ABI, (REPO / ABI).read_text()).removeprefix("SPDX-License-Identifier: GPL-2.0\n\n")
    head, *entries = re.split(r"\n(?=What:)", abi)
    names = made[f"{DRIVER}/sysfs.c"] + made[f"{DRIVER}/ledger_table.h"]

    def has(entry):
        name = re.match(r"What:\t+\S+/(?:target<N>_|baseline_)?(\w+)$", entry, re.M)[1]
        return re.search(rf"\b{name}\b", names)

    abi = "\n".join([head, *filter(has, entries)])
    abi = re.sub(r"^KernelVersion:\t.*$", f"KernelVersion:\t{NEXT}", abi, flags=re.M)
    return re.sub(r"^Contact:\t.*$", f"Contact:\t{LIST}", abi, flags=re.M)


def _manual():
    """Return the manual as one page: with its words from the glossary, and with the design before its last section."""
    page, words, design = (rewrite(name, (REPO / name).read_text()) for name in (
        "Documentation/target/dm-align.rst", "Documentation/glossary.rst", "Documentation/target/design.rst"))
    entries = re.search(r"^The target\n=+\n\n(.*?)(?=^\S)", words, re.M | re.S)[1]
    without_licence = design.partition("\n\n")[2]
    return rewrite("the manual", page, {"the manual": (
        (ELSEWHERE, f"Glossary\n========\n\n{entries}"), (LAST_SECTION, f"{without_licence}\n{LAST_SECTION}"))})


def files(symbols, layer=layers.LAYERS[-1]):
    """Return the files of the series of a layer, with those of the series before: {path in the kernel tree: text}; `symbols` as
    from answers()."""
    texts = {path.name: _c_file(f"kmod/{path.name}", symbols, layer) for path in sorted((REPO / "kmod").glob("*.[ch]"))
             if path.name not in DROPPED and not path.name.endswith(".mod.c")}
    texts["placement.h"] = _placement(symbols)
    objects = layers.objects(layer)
    made = {f"{DRIVER}/{name}": texts[name] for name in sorted(_needed(texts, [f"{each}.c" for each in objects]))}
    made[f"{DRIVER}/Kconfig"] = rewrite("kmod/Kconfig", _kconfig(), LAYER_REWRITES.get(layer, {}))
    made[f"{DRIVER}/Makefile"] = MAKEFILE.format(objects=_wrapped("dm-align-y :=", [f"{each}.o" for each in objects]))
    of_tests = {path.name: _kunit_names(_c_file(f"kunit/{path.name}", symbols, layer))
                for path in (REPO / "kunit").glob("*.[ch]")}
    for name in sorted(_needed(of_tests, [f"{suite}_test.c" for suite in suites(layer)])):
        made[f"{DRIVER}/tests/{name.replace('_test.c', '_kunit.c')}"] = of_tests[name]
    made[f"{DRIVER}/tests/Makefile"] = TESTS_MAKEFILE.format(objects=_kunit_names(_suites_objects(suites(layer))))
    made[f"{DRIVER}/tests/Kconfig"] = _kunit_names((REPO / "kunit/Kconfig").read_text())
    made[f"{DRIVER}/.kunitconfig"] = (REPO / "kunit/.kunitconfig").read_text()
    manual = _manual()
    made[MANUAL] = with_comments(of_layer(re.sub(r"^\.\. session.*\n", "", manual, flags=re.M), layer), made)
    made[ABI] = _abi(made)
    return made
