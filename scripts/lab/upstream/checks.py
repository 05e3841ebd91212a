# SPDX-License-Identifier: GPL-2.0
"""What each series has to pass, each by the kernel's own means. A check returns its findings, none if all is well.

The checks share one kernel tree: the files that `git am` makes of a series behind those before, and links to everything else
of the unpacked source, which stays as it is. Builds leave their objects in folders of their own. A check takes the layer of the
series and its files.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from ..linux import kernels
from . import derive, patches, series
from .series import SCRATCH, git

TREE = SCRATCH / "tree"
# A small kernel with everything that the target's conditions ask for. The rest is off.
CONFIG = """\
CONFIG_MODULES=y
CONFIG_MODULE_UNLOAD=y
CONFIG_PRINTK=y
CONFIG_BUG=y
CONFIG_SMP=y
CONFIG_SYSFS=y
CONFIG_PROC_FS=y
CONFIG_CGROUPS=y
CONFIG_FTRACE=y
CONFIG_TRACING_SUPPORT=y
CONFIG_EVENT_TRACING=y
CONFIG_ENABLE_DEFAULT_TRACERS=y
CONFIG_BLOCK=y
CONFIG_BLK_DEV=y
CONFIG_BLK_CGROUP=y
CONFIG_BLK_DEV_ZONED=y
CONFIG_BLK_DEV_INTEGRITY=y
CONFIG_MD=y
CONFIG_BLK_DEV_DM={core}
CONFIG_DM_UEVENT=y
CONFIG_DM_ALIGN={target}
CONFIG_KUNIT={core}
CONFIG_DM_ALIGN_KUNIT_TEST={target}
"""
# Tools that look for the tree by where they lie themselves.
COPIED = ("tools/testing/kunit",)
# Sphinx, and what checkpatch's spdxcheck imports, belong to Debian's Python. The tools are links into the source, beside which
# Python would put its own files.
DEBIANS = {**os.environ, "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
# What a 32-bit compiler calls for operators on 64 bits; a kernel has none of it.
LIBGCC = re.compile(r"__(u?div|u?mod|u?divmod|mul)[dt]i\d")


def overlay(source, tree, inside="."):
    """Complete a tree with links to a source's files, except for those that it has."""
    for path in (source / inside).iterdir():
        here = tree / inside / path.name
        if here.is_dir() and not here.is_symlink():
            overlay(source, tree, f"{inside}/{path.name}")
        elif not here.exists() and path.name != ".git":
            here.symlink_to(path)


def names(layer):
    """Return the files that are new in the tree behind the series of a layer."""
    return sorted({name for each in patches.SERIES[:index(layer) + 1] for patch in each.patches for name in patch.files})


def index(layer):
    return [each.layer for each in patches.SERIES].index(layer)


def apply(layer, files):
    """Apply a series to the kernel's own files, or to the tree of the series before, and complete the tree."""
    source = series.base(TREE) if not index(layer) else kernels.fetch_source(derive.SERIES)
    done = subprocess.run(["git", "-C", TREE, "am", "--quiet", *files[1:]], capture_output=True, text=True,
                          env={**os.environ, **series.ISOLATED})
    if done.returncode:
        return (done.stderr + done.stdout).splitlines()
    applied, meant = git(TREE, "rev-parse", "HEAD^{tree}"), git(SCRATCH / "series", "rev-parse", f"{layer}^{{tree}}")
    if not index(layer):
        for name in COPIED:
            shutil.copytree(source / name, TREE / name)
        overlay(source, TREE)
    findings = [] if applied == meant else ["the applied series makes another tree than the commits that it was made of"]
    return findings + (whole() if is_last(layer) else [])


def is_last(layer):
    return index(layer) == len(patches.SERIES) - 1


def whole():
    """Compare the driver behind all series with the files as one series would have them."""
    edits = [edit for each in patches.SERIES for patch in each.patches for edit in patch.edits]
    new = {name: series.edited(text, name, edits) for name, text in derive.files(derive.answers()).items()}
    here = {str(path.relative_to(TREE)) for path in (TREE / derive.DRIVER).rglob("*") if path.is_file() and not path.is_symlink()}
    findings = [f"{name} is there behind all series, and not in the target" for name in sorted(here - set(new))]
    return findings + [f"{name} is not what the target has" for name, text in new.items()
                       if not (TREE / name).exists() or (TREE / name).read_text() != text]


def checkpatch(layer, files):
    """Run checkpatch --strict on each patch."""
    findings = []
    for path in files[1:]:
        done = subprocess.run(["scripts/checkpatch.pl", "--strict", "--terse", "--show-types", "--no-summary", path], cwd=TREE,
                              env=DEBIANS, capture_output=True, text=True)
        # The entry has the driver's folder since the first series, as get_maintainer.pl sees for each new file.
        findings += [line for line in (done.stdout + done.stderr).splitlines()
                     if not index(layer) or "FILE_PATH_CHANGES" not in line]
        if done.returncode and not done.stdout:
            findings.append(f"{path.name}: checkpatch ended with status {done.returncode}")
    return findings


def maintainers(layer, files):
    """Ask get_maintainer for the entry of new files, one in each place."""
    findings = []
    for name in {Path(name).parent: name for name in names(layer)}.values():
        done = subprocess.run(["scripts/get_maintainer.pl", "--no-git", "--no-git-fallback", "--rolestats", "-f", name], cwd=TREE,
                              capture_output=True, text=True)
        if f"(maintainer:{series.ENTRY})" not in done.stdout or derive.LIST not in done.stdout:
            findings.append(f"{name}: get_maintainer.pl does not find the entry: {(done.stdout + done.stderr).strip()!r}")
    return findings


def kernel_make(arch, output, *arguments, **options):
    """Run the kernel's make on the tree, with its output in a folder of its own; return the finished process."""
    return subprocess.run(["make", "-s", "-C", TREE, f"O={output}", f"ARCH={arch}", *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **options)


def build(layer, arch, target):
    """Build drivers/md with W=1 -Werror; `target` is "m" or "y". Return findings. Builds for the same machine share a folder:
    what does not depend on `target` is compiled once."""
    name = f"{arch}, {'module' if target == 'm' else 'built in'}"
    output = SCRATCH / arch
    output.mkdir(parents=True, exist_ok=True)
    wanted = CONFIG.format(core="y", target=target)
    (output / "wanted").write_text(wanted)
    done = kernel_make(arch, output, "allnoconfig", env={**os.environ, "KCONFIG_ALLCONFIG": str(output / "wanted")})
    if done.returncode:
        return [f"{name}: no configuration", *done.stdout.splitlines()]
    missing = set(wanted.splitlines()) - set((output / ".config").read_text().splitlines())
    if missing:
        return [f"{name}: the configuration cannot have {' '.join(sorted(missing))}"]
    done = kernel_make(arch, output, f"-j{os.cpu_count()}", "W=1", "KCFLAGS=-Werror", "drivers/md/")
    if done.returncode or "warning:" in done.stdout:
        return [f"{name}: {line}" for line in done.stdout.splitlines()]
    return [f"{name}: {finding}" for finding in symbols(layer, output, target)]


def symbols(layer, output, target):
    """Check what a build of drivers/md has made: all objects, in built-in.a or as modules, and no helper of libgcc."""
    driver = output / derive.DRIVER
    wanted = {Path(name).with_suffix(".o") for name in names(layer) if name.endswith(".c")}
    findings = [f"{name} was not built" for name in sorted(wanted) if not (output / name).exists()]
    archive = run("ar", "t", output / "drivers/md/built-in.a").split()
    inside = {name for name in wanted if any(member.endswith(f"{Path(*name.parts[2:])}") for member in archive)}
    if inside != (wanted if target == "y" else set()):
        findings.append(f"drivers/md/built-in.a has {len(inside)} of the {len(wanted)} objects")
    if target == "m" and not (driver / "dm-align.o").exists():
        findings.append("dm-align.o was not linked")
    for name in sorted(wanted):
        findings += [f"{name} calls {symbol}: use div64 helpers" for symbol in undefined(output / name) if LIBGCC.match(symbol)]
    return findings


def undefined(path):
    """Return the names that an object file needs from others."""
    return run("nm", "--undefined-only", "--format=just-symbols", path).split()


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def builds(layer, files):
    """Build drivers/md as module and built in, for x86_64 and i386."""
    return [finding for arch in ("x86_64", "i386") for target in ("m", "y") for finding in build(layer, arch, target)]


def docs(layer, files):
    """Make the documents beside the manual, and look for warnings about it."""
    output = SCRATCH / "docs"
    output.mkdir(parents=True, exist_ok=True)
    done = kernel_make("x86_64", output, f"SPHINXDIRS={Path(derive.MANUAL).parent.relative_to('Documentation')}", "htmldocs",
                       env=DEBIANS)
    name = Path(derive.MANUAL).stem
    findings = [line for line in done.stdout.splitlines() if name in line]
    if done.returncode:
        findings += done.stdout.splitlines()[-20:]
    pages = list((output / "Documentation/output").rglob(f"{name}.html"))
    if not pages or not any(name in index.read_text() for index in pages[0].parent.glob("index.html")):
        findings.append(f"htmldocs made no {name}.html that an index leads to")
    return findings


def abi(layer, files):
    """Parse the description of the files in sysfs with the kernel's own parser, which has to find each of them."""
    tool = ["tools/docs/get_abi.py", "--dir", "Documentation/ABI"]
    done = subprocess.run([*tool, "validate"], cwd=TREE, env=DEBIANS, capture_output=True, text=True)
    name = Path(derive.ABI).name
    findings = [line for line in (done.stdout + done.stderr).splitlines() if name in line or "/align/" in line]
    if done.returncode:
        findings += done.stderr.splitlines()[-5:]
    described = set(re.findall(r"^What:\t+(\S+)$", (TREE / derive.ABI).read_text(), re.M))
    found = subprocess.run([*tool, "search", "/sys/block/dm-<num>/align/"], cwd=TREE, env=DEBIANS, capture_output=True,
                           text=True).stdout
    return findings + [f"get_abi.py does not find {what}" for what in sorted(described) if what not in found]


def kunit(layer, files):
    """Run the suites in User Mode Linux, the target built in, as a developer would, but with the two CPUs that one case wants."""
    done = subprocess.run(["tools/testing/kunit/kunit.py", "run", "--arch=um", f"--build_dir={SCRATCH / 'um'}",
                           f"--kunitconfig={derive.DRIVER}", "--kconfig_add=CONFIG_SMP=y",
                           # With ptrace, its usual way into user space, User Mode Linux starts no second CPU.
                           "--kernel_args=ncpus=2", "--kernel_args=seccomp=on", f"--jobs={os.cpu_count()}"], cwd=TREE,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True, text=True)
    passed = re.search(r"Ran (\d+) tests: passed: (\d+)$", done.stdout, re.M)
    if done.returncode or not passed or passed[1] != passed[2]:
        return [f"kunit.py: {line}" for line in (done.stdout + done.stderr).splitlines()[-40:]]
    return []


# In the order in which they run; each needs the tree that the first one makes.
CHECKS = {"apply": apply, "checkpatch": checkpatch, "maintainers": maintainers, "abi": abi, "docs": docs, "builds": builds,
          "kunit": kunit}
