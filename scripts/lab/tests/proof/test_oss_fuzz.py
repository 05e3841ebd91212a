# SPDX-License-Identifier: GPL-2.0
"""What OSS-Fuzz builds is every fuzz target, with its corpus and dictionary, by the compilers and flags that it gives."""

import os
import re
import subprocess
import zipfile

import pytest
import yaml

from lab.pace import patience
from lab.paths import OUT, REPO, locked
from lab.plugins import extent
from lab.proof import fuzz

FOLDER = REPO / "userspace/fuzz/oss_fuzz"
PROGRAMS = sorted({path.parents[1].name for path in (REPO / "userspace").glob("*/fuzz/fuzz_*.c")})
TARGETS = {f"{program}_{target}": (program, target) for program in PROGRAMS for target in fuzz.targets(program)}
# Notes how it was called, and makes what it was asked for.
STUB = """#!/bin/sh
case " $* " in *" -dumpmachine "*) exec gcc -dumpmachine ;; esac
echo "${0##*/} $*" >>"$CALLS"
while [ "$1" != -o ]; do shift; done
cp /bin/true "$2"
"""


def build(folder, compilers, flags, *programs, **more):
    """Build into folder/out as OSS-Fuzz does; its WORK is folder/work."""
    for name in ("out", "work"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    environment |= {"SRC": str(REPO.parent), "OUT": str(folder / "out"), "WORK": str(folder / "work"),
                    "CC": compilers[0], "CXX": compilers[1], "CFLAGS": f"-O1 {flags}", "CXXFLAGS": f"-O1 {flags} -DCXX", **more}
    done = subprocess.run(["bash", "-eu", FOLDER / "build.sh", *programs], cwd=REPO, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=patience(600))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return folder / "out"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return what is built where compilers only note their arguments, and these notes."""
    folder = tmp_path_factory.mktemp("oss-fuzz")
    for name in ("cc", "c++", "clang-bpf"):
        (folder / name).write_text(STUB)
        (folder / name).chmod(0o755)
    out = build(folder, (str(folder / "cc"), str(folder / "c++")), "-DBY_OSS_FUZZ", CALLS=str(folder / "calls"),
                BPF_CLANG=str(folder / "clang-bpf"), LIB_FUZZING_ENGINE="-lTheEngine")
    return out, (folder / "calls").read_text().splitlines()


def test_each_target_is_built_with_its_corpus_and_dictionary(made):
    out, _ = made
    assert len(TARGETS) > 40
    assert {path.name for path in out.iterdir() if path.is_file() and not path.suffix} == set(TARGETS)
    assert {path.stem for path in out.glob("*.options")} == set(TARGETS)
    for name, (program, target) in TARGETS.items():
        with zipfile.ZipFile(out / f"{name}_seed_corpus.zip") as corpus:
            assert {entry: corpus.read(entry) for entry in corpus.namelist()} \
                == {path.name: path.read_bytes() for path in (fuzz.source(program) / "corpus" / target).iterdir()}
        dictionary = fuzz.source(program) / f"{target}.dict"
        assert (out / f"{name}.dict").exists() == dictionary.exists()
    assert len(list(out.glob("*.dict"))) > 10


def test_compilers_and_flags_are_those_of_oss_fuzz(made):
    _, calls = made
    compiled = [call for call in calls if call.startswith("cc ") and " -c " in call]
    linked = [call for call in calls if call.startswith("c++ ")]
    assert len(compiled) > len(linked) and len(linked) == len(TARGETS)
    assert all(" -O1 -DBY_OSS_FUZZ " in call and "-fsanitize" not in call for call in compiled)
    assert all(" -O1 -DBY_OSS_FUZZ -DCXX " in call for call in linked)
    # What is given to a linker in order has the engine behind the target that it calls.
    assert all(re.search(r"fuzz_\w+\.o .*\.a -lTheEngine", call) and "-rpath,$ORIGIN/lib" in call for call in linked)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("sanitizer", ["address", extent.only_all("the flags of a build differ, not its steps", "undefined")])
def test_the_drives_targets_run(sanitizer):
    """Those of one program, really built, and found by name with what lies beside them."""
    folder = OUT / "oss-fuzz" / sanitizer
    with locked(f"oss-fuzz-{sanitizer}", OUT):
        out = build(folder, ("clang", "clang++"), f"-fno-omit-frame-pointer -fsanitize={sanitizer} -fsanitize=fuzzer-no-link",
                    "drive512e", LIB_FUZZING_ENGINE="-fsanitize=fuzzer")
        for target in fuzz.targets("drive512e"):
            done = subprocess.run([out / f"drive512e_{target}", "-runs=100", "-seed=1", "-close_fd_mask=3"], cwd=folder,
                                  capture_output=True, text=True, timeout=patience(120))
            assert done.returncode == 0 and re.search(r"^#100\tDONE ", done.stderr, re.M), done.stderr[-3000:]


def test_the_project_and_the_image_are_of_one_repository():
    project = yaml.safe_load((FOLDER / "project.yaml").read_text())
    image = (FOLDER / "Dockerfile").read_text()
    assert f"git clone --depth 1 {project['main_repo']} dm-align\n" in image
    assert f"base-builder:{project['base_os_version']}\n" in image
    assert project["language"] == "c" and set(project["sanitizers"]) == {"address", "undefined"}
    # The packages are those of the table, by a group for each program that is fuzzed.
    assert set(re.search(r"scripts/needs --packages ([\w ]+) \|", image)[1].split()) == set(PROGRAMS)
