# SPDX-License-Identifier: GPL-2.0
"""Debug kernels, with KUnit, KASAN, lockdep and the other checks that stock kernels lack: "um" and "um-7.2" for User Mode
Linux, "x86_64" and "x86_64-7.2" for QEMU; "kcsan" for QEMU, which looks for data races with KCSAN, as KCSAN excludes
KASAN; and "irqsoff" for QEMU, which has none of these checks, and measures how long interrupts are off.

A build lies in the cache under a name made of the source's version and its configuration, and contains nothing of this
project: modules and suites are built against it as external modules, so a change in kmod/ or kunit/ rebuilds only these.

    scripts/python -m lab.linux.debug_kernels um|um-7.2|x86_64|x86_64-7.2|kcsan|irqsoff
        build the kernel if missing; print the build folder
"""

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

from ..paths import CACHE, REPO, fail, locked, say, whole
from . import kernels, modules

CONFIGS = Path(__file__).resolve().parent / "configs"
# Of each kernel: the series of the source, and fragments of configuration, later ones overriding earlier ones.
KERNELS = {"um": (kernels.USUAL, ("common.config", "uml.config")),
           "um-7.2": ("7.2", ("common.config", "uml.config", "uml-7.2.config")),
           "x86_64": (kernels.USUAL, ("common.config", "qemu.config")),
           "x86_64-7.2": ("7.2", ("common.config", "qemu.config")),
           "kcsan": (kernels.USUAL, ("common.config", "qemu.config", "kcsan.config")),
           "irqsoff": (kernels.USUAL, ("common.config", "qemu.config", "irqsoff.config"))}
TARGETS = {"um": ["linux", "modules"], "x86_64": ["bzImage", "modules"]}


def series_of(name):
    """Return the series of a kernel's source: "6.12" of "um"."""
    return KERNELS[name][0]


def arch_of(name):
    """Return the architecture of a kernel: "um" or "x86_64"."""
    return "um" if name.startswith("um") else "x86_64"


def _fragments(name):
    return [(CONFIGS / fragment).read_text() for fragment in KERNELS[name][1]]


def make(source, output, arch, *targets):
    """Run make in a kernel's source. The build as a whole is kept, so ccache would only preprocess each file twice."""
    command = ["make", "-s", "-C", str(source), f"O={output}", f"ARCH={arch}", *targets]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "CCACHE_DISABLE": "1"})
    if done.returncode:
        fail(f"{' '.join(command)} failed:\n{done.stdout[-4000:]}", 1)


def options(texts):
    """Return the lines of fragments that set or unset an option; the last line of each option."""
    lines = [line for text in texts for line in text.splitlines() if re.match(r"CONFIG_|# CONFIG_\w+ is not set", line)]
    return list({re.search(r"CONFIG_\w+", line)[0]: line for line in lines}.values())


def configure(source, output, name):
    """Write output/.config; fail unless every option of the fragments took effect."""
    arch = arch_of(name)
    wanted = options(_fragments(name))
    make(source, output, arch, "defconfig" if arch == "um" else "alldefconfig")
    with open(output / ".config", "a") as config:
        config.write("\n".join(wanted) + "\n")
    make(source, output, arch, "olddefconfig")
    got = set((output / ".config").read_text().splitlines())
    # An option with an unmet dependency is not listed at all.
    lost = [line for line in wanted if line.startswith("CONFIG_") and line not in got]
    lost += [line for line in wanted if line.startswith("#") and f"{line.split()[1]}=y" in got]
    if lost:
        fail(f"the {arch} configuration cannot have {', '.join(lost)}: a dependency is off", 1)


def base(name):
    """Return the build folder of a kernel, built if missing."""
    source = kernels.fetch_source(series_of(name))
    digest = hashlib.sha256("".join(_fragments(name)).encode()).hexdigest()[:12]
    folder = CACHE / "debug-kernels" / f"{name.partition('-')[0]}-{source.name}-{digest}"
    arch = arch_of(name)
    with locked(f"debug-kernel-{folder.name}"):
        if not folder.exists():
            say(f"building the {name} kernel in {folder} (several minutes, once)")
            with whole(folder) as scratch:
                configure(source, scratch, name)
                make(source, scratch, arch, f"-j{os.cpu_count()}", *TARGETS[arch])
                make(source, scratch, arch, f"INSTALL_MOD_PATH={scratch / 'root'}", "modules_install")
                modules.rename_build(scratch, folder)
    return folder


def build_part(name, part, gcov=False):
    """Build kmod/ or kunit/ as modules for a kernel of base(); return the folder with the .ko files. gcov: count the
    executions of each line."""
    arguments = [f"ARCH={arch_of(name)}", "CONFIG_DM_ALIGN=m", "CONFIG_DM_ALIGN_KUNIT_TEST=m", "KCFLAGS=-Werror"]
    # The suites include the target's headers.
    beside = ("kmod",) if part == "kunit" else ()
    arguments += ["GCOV_PROFILE=y"] if gcov else []
    return modules.build(base(name), f"debug-{name}-{part}{'-gcov' if gcov else ''}", REPO, arguments, part, beside,
                         keep=not gcov)[0]


def main(argv):
    if len(argv) != 1 or argv[0] not in KERNELS:
        fail(__doc__.strip())
    print(base(argv[0]))


if __name__ == "__main__":
    main(sys.argv[1:])
