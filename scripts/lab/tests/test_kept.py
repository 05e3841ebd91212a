# SPDX-License-Identifier: GPL-2.0
"""What is kept is made once for each input, and nothing is kept of what failed by chance."""

import os
import resource
import time

import pytest

from lab import kept, paths, remembered
from lab.linux import modules
from lab.machines import vm


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(kept, "locked", lambda name: paths.locked(name, tmp_path))


def writer(text):
    return lambda folder: (folder / "text").write_text(text)


def test_a_result_is_made_once_for_each_digest():
    one, two = kept.digest("one"), kept.digest("two")
    assert (kept.result("kind", one, writer("first")) / "text").read_text() == "first"
    assert (kept.result("kind", one, writer("again")) / "text").read_text() == "first"
    assert (kept.result("kind", two, writer("second")) / "text").read_text() == "second"
    assert (kept.result("other", one, writer("third")) / "text").read_text() == "third"


def test_what_fails_is_not_kept():
    def fail(folder):
        (folder / "text").write_text("part")
        raise OSError("no space")

    with pytest.raises(OSError):
        kept.result("kind", kept.digest("one"), fail)
    assert (kept.result("kind", kept.digest("one"), writer("whole")) / "text").read_text() == "whole"


def test_what_nobody_uses_any_more_is_removed():
    used, unused, new = (kept.digest(name) for name in ("used", "unused", "new"))
    folders = [kept.result("kind", key, writer("")) for key in (used, unused)]
    old = time.time() - (kept.DAYS + 1) * 24 * 3600
    for folder in folders:
        os.utime(folder, (old, old))
    kept.result("kind", used, writer(""))
    kept.result("kind", new, writer(""))
    assert folders[0].exists() and not folders[1].exists()


def test_the_digest_of_texts_and_files_depends_on_each(tmp_path):
    file = tmp_path / "file"
    file.write_text("a")
    first = kept.digest("name", file)
    file.write_text("b")
    assert len({first, kept.digest("name", file), kept.digest("other", file), kept.digest("nam", "e", file)}) == 4


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """Return the folder of a module's sources; `made` in it counts the builds, which fail with the text of `fails`."""
    folder = tmp_path / "sources"
    (folder / "kmod").mkdir(parents=True)
    (folder / "kmod/one.c").write_text("int one;\n")
    (folder / "made").write_text("")

    def build(tree, name, sources, arguments, part, beside, root):
        with open(folder / "made", "a") as made:
            made.write("x")
        if (folder / "fails").exists():
            raise modules.BuildFailed((folder / "fails").read_text())
        built = tmp_path / "built"
        built.mkdir(exist_ok=True)
        for product in ("one.ko", "one.o", "compat_probes.h"):
            (built / product).write_text(product)
        return built, "output"

    monkeypatch.setattr(modules, "_build", build)
    return folder


def builds(sources):
    return len((sources / "made").read_text())


def test_a_module_is_built_once_until_its_sources_or_arguments_change(sources, tmp_path):
    for _ in range(2):
        folder, output = modules.build(tmp_path, "name", sources)
        assert output == "output" and {path.name for path in folder.iterdir()} == {"one.ko", "compat_probes.h", "output"}
    assert builds(sources) == 1
    modules.build(tmp_path, "name", sources, ["W=1"])
    (sources / "kmod/one.c").write_text("int two;\n")
    modules.build(tmp_path, "name", sources)
    (sources / "kmod/one.c").rename(sources / "kmod/two.c")
    modules.build(tmp_path, "name", sources)
    (tmp_path / "Module.symvers").write_text("of another kernel")
    modules.build(tmp_path, "name", sources)
    assert builds(sources) == 5
    modules.build(tmp_path, "name", sources, keep=False)
    assert builds(sources) == 6


@pytest.mark.parametrize("said, kept_so", [
    ("/x/one.c:3:5: error: no such thing\n", True), ("make: *** [one.o] Killed\n", False),
    ("/x/one.c:9:1: fatal error: error writing to one.o: No space left on device\n", False)])
def test_only_a_failure_that_the_source_has_caused_is_kept(sources, tmp_path, said, kept_so):
    (sources / "fails").write_text(said)
    for _ in range(2):
        with pytest.raises(modules.BuildFailed, match="one"):
            modules.build(tmp_path, "name", sources)
    assert builds(sources) == (1 if kept_so else 2)


@pytest.fixture
def room():
    """Return a function that lets each file have so many bytes, as a disk that becomes full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_an_initramfs_that_a_full_disk_cuts_off_is_not_kept(tmp_path, monkeypatch, room):
    """Each guest of that kernel would die of it, until the file is removed."""
    monkeypatch.setattr(vm, "locked", lambda name: paths.locked(name, tmp_path))
    monkeypatch.setattr(vm, "pack", lambda folder: bytes(1 << 20))
    booted = vm.Kernel("1.2.3", tmp_path / "vmlinuz", tmp_path / "root", ())
    monkeypatch.setattr(vm.shutil, "copy", lambda source, target: None)
    room(4096)
    with pytest.raises(OSError):
        vm.initramfs(booted)
    room(1 << 30)
    assert vm.initramfs(booted).stat().st_size == 1 << 20
    assert [path.name for path in booted.root.iterdir()] == [vm.initramfs(booted).name]


def test_two_processes_that_remember_at_once_forget_nothing_of_each_other(tmp_path, monkeypatch):
    """A session that finds nothing of what it has remembered ends with an error."""
    monkeypatch.setattr(remembered, "FILE", tmp_path / "preflight.json")
    children = []
    for child in range(2):
        children.append(os.fork())
        if not children[-1]:
            try:
                for number in range(100):
                    remembered.remember(f"{child}-{number}", number)
            finally:
                os._exit(0)
    for child in children:
        os.waitpid(child, 0)
    assert [remembered.recall(f"{child}-{number}") for child in range(2) for number in range(100)] == 2 * list(range(100))
