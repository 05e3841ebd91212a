# SPDX-License-Identifier: GPL-2.0
"""Build kernel modules for one release and compiler, in a separate folder.

kbuild leaves its objects beside the sources, so a source folder can hold one release only. Each build therefore gets a
folder of links to the sources under out/, and the checkout stays clean.

    scripts/modules [KVER=<release or series>] [CC=<compiler>] [make arguments...]
        build kmod/, and leave the result as kmod/dm-align.ko

Headers of another Debian generation may not work on this machine; then the build runs in a root of that generation
(roots.py).
"""

import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from .. import kept
from ..paths import CACHE, OUT, REPO, fail, locked, say, whole
from . import kernels, matrix, roots

SOURCE_NAMES = ("Kbuild", "Kconfig", "Makefile")
SOURCE_SUFFIXES = (".c", ".h")


class BuildFailed(Exception):
    """A build failed; the text is make's whole output."""


def is_source(path):
    """Return whether a build needs a file of the source folder."""
    return path.name in SOURCE_NAMES or path.suffix in SOURCE_SUFFIXES and not path.name.endswith(".mod.c")


def link_sources(source, folder):
    """Fill `folder` with links to the sources in `source`, and remove links to files that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {path.name: path.resolve() for path in source.iterdir() if is_source(path)}
    for path in folder.iterdir():
        if path.is_symlink() and (path.name not in wanted or path.readlink() != wanted[path.name]):
            path.unlink()
    for name, target in wanted.items():
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(target)


# A compiler's own message about the source; other failures may have other causes, as a full disk.
ERROR_OF_SOURCE = re.compile(r"^\S+:\d+:\d+: error: ", re.M)
# What a build is for: the modules, and Kbuild's answers about the kernel.
PRODUCTS = ("*.ko", "compat_probes.h")


def build(tree, name, sources, arguments=(), part="kmod", beside=(), root=None, keep=True):
    """Build the folder `part` of `sources` under out/build/<name>, against the kernel build folder `tree`, in this
    machine's root or in another one.

    The folders `beside` are linked beside it, for its includes. Returns a folder with PRODUCTS, and make's output. With
    `keep` a build of the same sources by the same tools is taken from the cache, and so is a failure that the compiler
    blames on the source; without it the folder is the part's own, with all that the build left. Raises BuildFailed.
    """
    if not keep:
        return _build(tree, name, sources, arguments, part, beside, root)

    def make(folder):
        try:
            built, output = _build(tree, name, sources, arguments, part, beside, root)
        except BuildFailed as error:
            if not ERROR_OF_SOURCE.search(str(error)):
                raise
            (folder / "failed").write_text(str(error))
            return
        for path in (path for pattern in PRODUCTS for path in built.glob(pattern)):
            shutil.copy(path, folder)
        (folder / "output").write_text(output)

    folder = kept.result("modules", _digest(tree, sources, arguments, part, beside, root), make)
    if (folder / "failed").exists():
        raise BuildFailed((folder / "failed").read_text())
    return folder, (folder / "output").read_text()


def _digest(tree, sources, arguments, part, beside, root):
    """Hash what a build depends on: the sources, the kernel, the arguments and the tools."""
    files = [path for folder in (part, *beside) for path in sorted((Path(sources) / folder).iterdir()) if is_source(path)]
    of_kernel = [path for name in (".config", "Module.symvers", "include/generated/autoconf.h", "include/config/auto.conf")
                 if (path := tree / name).exists()]
    clang = f"clang{llvm_named(arguments) or ''}"
    tools = [tool_version(tool) for tool in (kernels.compiler(tree), clang, "sparse", "ld", "pahole")]
    return kept.digest(str(tree), str(root), part, *arguments, *tools, *of_kernel,
                       *(each for path in files for each in (f"{path.parent.name}/{path.name}", path)))


@functools.cache
def tool_version(program):
    """Return what a program says with --version, "" if there is none."""
    try:
        return subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    except FileNotFoundError:
        return ""


def _build(tree, name, sources, arguments, part, beside, root):
    top = OUT / "build" / name
    with locked(f"build-{name.replace('/', '-')}", OUT):
        for folder in (part, *beside):
            link_sources(Path(sources) / folder, top / folder)
        command = wanted = ["make", "-C", str(tree), f"M={top / part}", *arguments, "modules"]
        if root:
            links = [Path(sources) / folder for folder in (part, *beside)]
            command = roots.inside(root, [CACHE, top, *links], wanted)
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise BuildFailed(f"{' '.join(wanted)}{f' in {root}' if root else ''}\n{done.stdout}")
    return top / part, done.stdout


def compiler_name(arguments, release):
    given = dict(argument.split("=", 1) for argument in arguments if "=" in argument)
    if given.get("LLVM"):
        return "clang"
    named = given.get("CC") or kernels.compiler(kernels.build_folder(release))
    return Path(named.split()[-1]).name


def build_for(release, arguments=(), name=None, sources=REPO, keep=True):
    """Build the module for a Debian release with gcc, or with clang if the arguments have CC=clang or LLVM=1. `keep` is for
    build()."""
    compiler = compiler_name(arguments, release)
    name = name or f"{release}-{compiler}"
    if compiler.startswith("clang"):
        tree, llvm = clang_tree(release, kernels.build_folder(release), llvm_named(arguments))
        arguments = [f"LLVM={llvm}", *(argument for argument in arguments if not argument.startswith(("CC=", "LLVM=")))]
        root = None
    else:
        tree, root = gcc_tree(release, check=any(re.fullmatch("C=[12]", argument) for argument in arguments))
    built = build(tree, name, sources, arguments, root=root, keep=keep)
    if sources == REPO:
        matrix.note(release, matrix.BUILT, compiler)
    return built


def gcc_tree(release, check=False):
    """Return the headers to build for a release with their compiler, with sparse if `check`, and the root for the build,
    None for this machine's."""
    tree, root = kernels.build_folder(release), None
    if not kernels.usable(tree):
        # Only the cached headers are visible in a root.
        tree, root = kernels.fetch_headers(release), roots.root(release)
    return with_checker(release, tree) if check else tree, root


# The script with which kbuild checks sparse. Without the script, kbuild silently skips sparse.
CHECKER_VALID = "scripts/checker-valid.sh"


def with_checker(release, tree):
    """Return headers with which sparse runs: the cached ones, completed from the source, if Debian's lack a script."""
    makefiles = [tree / "Makefile", *tree.parent.glob(f"{tree.name.removesuffix('-amd64')}-common/Makefile")]
    if (tree / CHECKER_VALID).exists() or not any(CHECKER_VALID in path.read_text() for path in makefiles):
        return tree
    tree = kernels.fetch_headers(release)
    with locked(f"headers-{release}"):
        if not (tree / CHECKER_VALID).exists():
            part = tree / f"{CHECKER_VALID}.part"
            shutil.copy(kernels.fetch_source(release) / CHECKER_VALID, part)
            part.rename(tree / CHECKER_VALID)
    return tree


def llvm_named(arguments):
    """Return the version of clang that the arguments request, as LLVM= takes it ("-19"), or None."""
    found = [match[1] for argument in arguments if (match := re.fullmatch(r"(?:LLVM=|CC=(?:.*/)?clang)(-\d+)", argument))]
    return found[0] if found else None


def llvm_for(source):
    """Return LLVM= for a kernel's source: "1", the default clang, if the kernel accepts it, else the newest version."""
    shown = subprocess.run([source / "scripts/min-tool-version.sh", "llvm"], capture_output=True, text=True, check=True)
    least = int(shown.stdout.split(".")[0])
    if shutil.which("clang"):
        default = subprocess.run(["clang", "-dumpversion"], capture_output=True, text=True, check=True).stdout
        if int(default.split(".")[0]) >= least:
            return "1"
    programs = [path.name for folder in os.get_exec_path() for path in Path(folder).glob("clang-*")]
    versions = {int(found[1]) for name in programs if (found := re.fullmatch(r"clang-(\d+)", name))}
    whole_sets = [version for version in versions if version >= least
                  and shutil.which(f"ld.lld-{version}") and shutil.which(f"llvm-ar-{version}")]
    if not whole_sets:
        fail(f"{source.name} needs clang {least} or later: apt-get install clang-N lld-N llvm-N of such a version")
    return f"-{max(whole_sets)}"


def clang_tree(release, headers, llvm=None):
    """Return a build folder for a release that clang can use, and the LLVM= to use with it.

    Debian's headers are prepared for gcc: CC=clang fails on gcc's options there, and LLVM=1 is silently ignored. So
    the same version's source is configured anew with the stock configuration and that LLVM=.
    """
    if not re.fullmatch(kernels.RELEASE, release):
        fail(f"a build with clang needs the source of kernel {release}, and Debian's archive has none: give KVER=<release> "
             f"of Debian's or one of {', '.join(kernels.SERIES)}, or leave out CC=clang")
    source = kernels.fetch_source(release)
    llvm = llvm or llvm_for(source)
    folder = CACHE / "clang" / f"{release}-{source.name}{llvm if llvm != '1' else ''}"
    with locked(f"clang-{release}"):
        if not folder.exists():
            say(f"preparing {source.name} for clang in {folder}")
            with whole(folder) as scratch:
                shutil.copy(headers / ".config", scratch / ".config")
                for target in (["olddefconfig"], ["-j2", "modules_prepare"]):
                    # A kernel refuses a module of another release, compared in full.
                    done = subprocess.run(["make", "-s", "-C", source, f"O={scratch}", f"LLVM={llvm}",
                                           f"KERNELRELEASE={release}", *target],
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                    if done.returncode:
                        fail(f"preparing {source.name} for clang failed:\n{done.stdout}")
                shutil.copy(headers / "Module.symvers", scratch / "Module.symvers")
                rename_build(scratch, folder)
    return folder, llvm


def rename_build(scratch, folder):
    """Rename a kernel build folder in its generated Makefile, which contains the folder's name."""
    makefile = scratch / "Makefile"
    makefile.write_text(makefile.read_text().replace(str(scratch), str(folder)))


def main(argv):
    release, arguments = None, []
    for argument in argv:
        if argument.startswith("KVER="):
            release = argument.removeprefix("KVER=")
        elif "=" in argument:
            arguments.append(argument)
        else:
            fail(__doc__.strip())
    release = kernels.release(release) if release in kernels.SERIES else release or kernels.default_release()
    try:
        # Where nothing is tested there is no cache, and a build makes none.
        folder, output = build_for(release, arguments, keep=CACHE.exists())
    except BuildFailed as error:
        fail(str(error), 1)
    sys.stdout.write(output)
    module = REPO / "kmod" / "dm-align.ko"
    shutil.copy(folder / "dm-align.ko", module)
    say(f"{module} is built for {release} with {compiler_name(arguments, release)}")


if __name__ == "__main__":
    main(sys.argv[1:])
