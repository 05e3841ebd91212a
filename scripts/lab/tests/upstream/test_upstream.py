# SPDX-License-Identifier: GPL-2.0
"""The patch series for Linux 7.2: what is derived from the checkout is complete and reads as a kernel tree's, and each series
passes the kernel's own checks (see `make upstream`)."""

import re
import subprocess

import pytest

from lab.linux import gates, kernels, layers, modules
from lab.paths import REPO
from lab.plugins.extent import only_all
from lab.upstream import checks, derive, patches, series

AUTHOR = ("A Developer", "developer@example.org")


@pytest.fixture(scope="module")
def answers():
    return derive.answers()


@pytest.fixture(scope="module", params=layers.LAYERS)
def layer(request):
    return request.param


@pytest.fixture(scope="module")
def derived(answers):
    """Return the files behind each series: {layer: {path in the kernel tree: text}}."""
    return {each: derive.files(answers, each) for each in layers.LAYERS}


@pytest.fixture(scope="module")
def made(derived, layer):
    """Return the files behind the series of a layer."""
    return derived[layer]


def upto(layer):
    """Return the patches of the series up to that of a layer."""
    return [patch for each in patches.SERIES[:checks.index(layer) + 1] for patch in each.patches]


ALL = upto(layers.LAYERS[-1])


def driver(made, suffixes=(".c", ".h")):
    return {path: text for path, text in made.items() if path.startswith(derive.DRIVER) and path.endswith(suffixes)}


# What is derived.

def test_no_word_of_the_checkout_is_left(made):
    found = [f"{path}: {line}" for path, text in made.items() for line in text.splitlines() if derive.FOREIGN.search(line)]
    assert not found


@pytest.mark.parametrize("line", ["#include \"compat.h\"", "#if DM_ALIGN_HAVE_BDEV_ROT", "see kmod/write.c", "compat_f(x);",
                                  "COMPAT_IOCTL_ARGS(a)", "#ifdef __KERNEL__", ".. session: size=1G"])
def test_a_word_of_the_checkout_is_noticed(line):
    assert derive.FOREIGN.search(line)


def test_the_manual_reads_the_comments_of_the_code(made, layer):
    read = re.findall(r"^\.\. kernel-doc:: (\S+)\n   :doc: (.+)$", made[derive.MANUAL], re.M)
    assert bool(read) == (layer != "report")
    assert not [title for name, title in read if f" * DOC: {title}\n" not in made[name]]
    assert "kernel-doc of" not in made[derive.MANUAL]


def test_a_comment_that_a_series_does_not_have_is_noticed(capsys):
    place = ".. kernel-doc of kmod/held.c: Rules\n\nIt is so.\n\n.. end of kernel-doc\n"
    name = f"{derive.DRIVER}/held.c"
    assert derive.with_comments(place, {name: "/**\n * DOC: Rules\n"}) == f".. kernel-doc:: {name}\n   :doc: Rules\n"
    with pytest.raises(SystemExit):
        derive.with_comments(place, {})
    assert "SECTIONS" in capsys.readouterr().err


def test_there_is_a_series_for_each_layer():
    assert [each.layer for each in patches.SERIES] == list(layers.LAYERS)


def test_every_file_of_the_target_and_of_the_suites_is_new_in_one_patch(made, layer):
    new = []
    for patch in upto(layer):
        new += [path for path in patch.files if path not in new]
    assert sorted(new) == sorted(made)
    again = {path for path in new if sum(path in patch.files for patch in upto(layer)) > 1}
    assert {path.rpartition("/")[2] for path in again} <= {"Makefile", "dm-align.rst", "sysfs-block-dm-align"}


def test_every_file_of_the_checkout_is_in_the_last_series(derived):
    names = {path.name for path in (REPO / "kmod").glob("*.[ch]")} - derive.DROPPED
    names |= {f"{suite}_kunit.c" for suite in derive.suites()}
    assert names <= {path.rpartition("/")[2] for path in derived[layers.LAYERS[-1]]}
    of_kernel = {path.name for path in (REPO / "kunit").glob("*_test.c")} - {f"{suite}_test.c" for suite in derive.suites()}
    assert of_kernel == {"interfaces_test.c", "disks_test.c"}


def test_a_series_calls_nothing_of_those_above_and_says_nothing_for_them(derived):
    report = "".join(text for path, text in driver(derived["report"]).items() if "/tests/" not in path)
    assert not re.findall(r"\b(?:fixing|hold|overlay|notify|gate|blocks)_\w+\(", report)


def test_every_header_that_a_file_includes_is_there(made):
    for path, text in driver(made).items():
        below = path.removeprefix(f"{derive.DRIVER}/").rpartition("/")[0]
        for name in re.findall(r'^#include "(.*)"$', text, re.M):
            assert {f"{derive.DRIVER}/{name}", f"{derive.DRIVER}/{below}/{name}"} & set(made), f"{path} includes {name}"


def test_the_makefiles_build_every_file_once(made):
    for folder in ("", "tests/"):
        objects = re.findall(r"(\w+)\.o\b", made[f"{derive.DRIVER}/{folder}Makefile"].split("-y :=", 1)[1].partition("CFLAGS")[0])
        sources = {name[1] for path in made if (name := re.fullmatch(rf"{derive.DRIVER}/{folder}(\w+)\.c", path))}
        assert sources == set(objects) and sources


def first(path, derived, layer):
    """Return the text of a file in the first series that has it."""
    return next(derived[each][path] for each in layers.upto(layer) if path in derived[each])


def test_a_file_of_the_patches_includes_only_earlier_ones(made, derived, layer):
    known = set()
    for patch in upto(layer):
        known |= set(patch.files)
        for path in set(patch.files) & set(made):
            for name in re.findall(r'^#include "(.*)"$', first(path, derived, layer), re.M):
                assert f"{derive.DRIVER}/{name}" in known or f"{derive.DRIVER}/tests/{name}" in known, f"{path}: {name}"


@pytest.mark.parametrize("layer_", layers.LAYERS[:-1])
def test_rows_about_members_that_are_not_there_are_left_out(derived, layer_):
    text = derived[layer_][f"{derive.DRIVER}/align.h"]
    assert (" * @engine: " in text) == (layer_ == "pad") and " * @held_flush: " not in text and " * @geometry: " in text


def test_a_series_documents_its_modes_only(derived):
    manuals = {each: files[derive.MANUAL] for each, files in derived.items()}
    for first, titles in derive.SECTIONS.items():
        for each, text in manuals.items():
            there = [bool(re.search(rf"^{title}\n[=-]+$", text, re.M)) for title in titles]
            assert there == [first in layers.upto(each)] * len(titles)
    assert "`When coalesce is refused`_" in manuals["coalesce"] and "`When coalesce is refused`_" not in manuals["pad"]


def test_a_section_that_is_gone_is_noticed(capsys):
    with pytest.raises(SystemExit):
        derive.of_layer("Title\n=====\n", "report")
    assert "has no section" in capsys.readouterr().err


def test_the_answers_about_the_kernel_decide(answers, derived):
    other = {**answers, "DM_ALIGN_HAVE_BIO_WRITE_STREAM": str(1 - int(answers["DM_ALIGN_HAVE_BIO_WRITE_STREAM"]))}
    path = f"{derive.DRIVER}/placement.h"
    of_this = derived[layers.LAYERS[-1]][path]
    assert "bi_write_hint" in of_this and ("bi_write_stream" in of_this) != ("bi_write_stream" in derive.files(other)[path])


@pytest.mark.parametrize("name", derive.REWRITES)
def test_a_text_to_be_rewritten_that_is_gone_or_there_twice_is_noticed(name, capsys):
    text = (REPO / name).read_text()
    assert derive.rewrite(name, text) != text
    for wrong in ("", text + text):
        with pytest.raises(SystemExit):
            derive.rewrite(name, wrong)
        assert name in capsys.readouterr().err


# What the patches say.

@pytest.mark.parametrize("patch", ALL, ids=lambda patch: patch.subject.partition(": ")[2])
def test_a_message_has_the_width_of_a_mail(patch):
    assert len(patch.subject) <= 72 and patch.subject.startswith("dm-align: ")
    assert not [line for line in patch.body.splitlines() if len(line) > 72]


def test_the_cover_letters_answer_why_it_is_none_of_the_others():
    covers = "".join(each.cover for each in patches.SERIES)
    assert re.findall(r"^Why not (\S+)$", covers, re.M) == ["dm-stats", "dm-ebs", "dm-bio-prison"]
    assert not [line for line in covers.splitlines() if len(line) > 72]
    assert not [each.subject for each in patches.SERIES if len(each.subject) > 60]


def test_the_figures_of_the_cover_letter_are_those_of_the_manuals_session():
    session = (REPO / "Documentation/target/dm-align.rst").read_text().partition("count=50 ")[2]
    writes, touches, pad, coalesce = re.search(
        r"of (\w+) writes of 4 KiB.*?have (\d+) partial touches, pad reads (\d+) blocks, and coalesce (\d+)\.",
        patches.SERIES[-1].cover.replace("\n", " ")).groups()
    assert writes == "fifty"
    assert re.findall(r"^    rmw_expected (\d+)$", session, re.M)[:2] == [touches, touches]
    assert re.findall(r"^    rmw_host (\d+)$", session, re.M)[:2] == [pad, coalesce]


def test_the_entry_covers_the_files_of_each_patch_and_in_the_end_all():
    covered = [series.coverage(number) for number in range(len(ALL))]
    for number, patch in enumerate(ALL):
        assert all(any(path.startswith(pattern) for pattern in covered[number]) for path in patch.files)
    whole = sorted([derive.ABI, derive.MANUAL, f"{derive.DRIVER}/"])
    assert sorted(covered[len(patches.REPORT) - 1]) == sorted(covered[-1]) == whole


def test_the_entry_stands_behind_that_of_device_mapper_and_is_replaced():
    text = "A\nM:\tx\n\nDEVICE-MAPPER  (LVM)\nF:\tdrivers/md/dm*\n\nDEVICE-MAPPER VDO TARGET\n"
    first, second = (series.entry(AUTHOR, covered) for covered in (["b"], ["b", "a"]))
    once = series.with_entry(text, first)
    assert once == text.replace("DEVICE-MAPPER VDO", f"{first}DEVICE-MAPPER VDO")
    assert series.with_entry(once, second, first) == series.with_entry(text, second)
    assert second.index("F:\ta") < second.index("F:\tb")


def test_lines_are_inserted_in_front_of_a_line_that_has_to_be_there(capsys):
    assert series.insert("a\nb c\n", "b", "x\n", "Kconfig") == "a\nx\nb c\n"
    assert series.insert("a\n", "", "x\n", "Kconfig") == "a\nx\n"
    with pytest.raises(SystemExit):
        series.insert("a\n", "b", "x\n", "Kconfig")
    assert "Kconfig of Linux" in capsys.readouterr().err


# The checks find what they are for.

def test_a_64_bit_division_on_32_bits_is_found(tmp_path):
    source, made = tmp_path / "a.c", tmp_path / "a.o"
    for operator in "/%":
        source.write_text(f"unsigned long long f(unsigned long long a, unsigned long long b)\n{{\n\treturn a {operator} b;\n}}\n")
        subprocess.run(["gcc", "-m32", "-O2", "-ffreestanding", "-c", "-o", made, source], check=True)
        assert any(checks.LIBGCC.match(name) for name in checks.undefined(made))


def test_a_tree_is_completed_with_links_and_keeps_its_own_files(tmp_path):
    source, tree = tmp_path / "source", tmp_path / "tree"
    for name, text in {"a/own": "theirs", "a/other": "x", "b/c": "y", "top": "z"}.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    (tree / "a").mkdir(parents=True)
    (tree / "a/own").write_text("ours")
    checks.overlay(source, tree)
    assert (tree / "a/own").read_text() == "ours" and (source / "a/own").read_text() == "theirs"
    assert (tree / "a/other").is_symlink() and (tree / "b").is_symlink() and (tree / "b/c").read_text() == "y"


def test_objects_are_allocated_by_the_names_that_the_series_kernel_has_for_it(made):
    text = "".join(driver(made).values())
    assert "kzalloc_obj(" in text and not re.findall(r"\bkv?[mzc]alloc\([^;]*sizeof\(\*[\w>.-]+\),", text)


@pytest.mark.parametrize("each", ["report", "pad", only_all("it has all files, as the checkout's own build", "coalesce")])
@pytest.mark.timeout(0)
def test_the_driver_of_a_series_builds_as_a_module_without_a_warning(derived, each, tmp_path):
    for path, text in driver(derived[each], ("",)).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    tree, root = modules.gcc_tree(kernels.release(derive.SERIES))
    folder, _ = modules.build(tree, f"series-{each}", tmp_path, ("CONFIG_DM_ALIGN=m", *gates.GCC), part=derive.DRIVER, root=root)
    assert (folder / "dm-align.ko").exists()


# The series itself: minutes.

@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Make the series, from an author of its own, in a folder of its own; return their files by layer."""
    with pytest.MonkeyPatch.context() as patch:
        scratch = tmp_path_factory.mktemp("upstream")
        patch.setattr(series, "identity", lambda: AUTHOR)
        for module, name, folder in ((series, "FOLDER", "series"), (series, "SCRATCH", "scratch"), (checks, "SCRATCH", "scratch"),
                                     (checks, "TREE", "scratch/tree")):
            patch.setattr(module, name, scratch / folder)
        yield series.make()


CHECK_ALL = "the derived files are looked at; make upstream makes and checks the series"


def applied(written, layer):
    """Apply the series up to that of a layer."""
    for each in layers.upto(layer):
        assert not checks.apply(each, written[each])


@pytest.mark.parametrize("each", layers.LAYERS)
@pytest.mark.parametrize("name", [only_all(CHECK_ALL, name) for name in checks.CHECKS])
@pytest.mark.xdist_group("upstream")
@pytest.mark.timeout(0)
def test_the_series_passes(name, each, written):
    applied(written, each)
    assert name == "apply" or not checks.CHECKS[name](each, written[each])


@pytest.mark.check_all(CHECK_ALL)
@pytest.mark.xdist_group("upstream")
@pytest.mark.timeout(0)
def test_the_series_is_the_same_each_time(written):
    before = [path.read_bytes() for files in written.values() for path in files]
    assert [path.read_bytes() for files in series.make().values() for path in files] == before


# The last test of the file: it breaks the tree that the others look at.

@pytest.mark.check_all(CHECK_ALL)
@pytest.mark.xdist_group("upstream")
@pytest.mark.timeout(0)
def test_each_check_finds_a_fault(written):
    files = written["report"]
    assert not checks.apply("report", files)
    source = kernels.fetch_source(derive.SERIES)

    def break_file(name, old, new):
        text = (checks.TREE / name).read_text()
        assert old in text
        (checks.TREE / name).write_text(text.replace(old, new, 1))

    # A patch that does not add what the one behind it changes.
    assert checks.apply("report", [*files[:4], *files[5:]])
    assert not checks.apply("report", files)
    bad = files[1].with_name("bad.patch")
    bad.write_text(files[1].read_text().replace("+\t__u32 physical;", "+        __u32 physical;", 1))
    assert any("CODE_INDENT" in line for line in checks.checkpatch("report", [files[0], bad]))
    break_file("MAINTAINERS", f"F:\t{derive.DRIVER}/\n", "")
    assert any(derive.DRIVER in line for line in checks.maintainers("report", files))
    break_file(derive.ABI, "What:", "Wat:")
    assert checks.abi("report", files)
    break_file(derive.MANUAL, "\nGlossary\n========\n", "\nGlossary\n===\n\n`Nowhere`_\n")
    assert any("dm-align" in line for line in checks.docs("report", files))
    break_file(f"{derive.DRIVER}/report.c", '"report.h"\n', '"report.h"\n\nint unannounced(void) { return 0; }\n')
    assert any("unannounced" in line for line in checks.build("report", "x86_64", "m"))
    # A driver that is not what the target has: one file is another, one is too much.
    applied(written, "coalesce")
    (checks.TREE / derive.DRIVER / "more.c").write_text("")
    break_file(f"{derive.DRIVER}/held.c", "#include", "/* */ #include")
    assert len(checks.whole()) == 2
    assert (source / "MAINTAINERS").read_text().count(series.ENTRY) == 0


def test_the_lines_of_a_series_are_counted_with_comments_and_without(tmp_path, monkeypatch):
    monkeypatch.setattr(series, "SCRATCH", tmp_path)
    driver = tmp_path / "series" / derive.DRIVER
    (driver / "tests").mkdir(parents=True)
    series.git(tmp_path / "series", "init", "-q")

    def commit(name, text):
        (driver / "a.c").write_text(text)
        series.git(tmp_path / "series", "add", "-A")
        series.git(tmp_path / "series", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", name)
        series.git(tmp_path / "series", "branch", "-f", name)

    commit("base", "")
    (driver / "tests" / "t.c").write_text("int test;\n")
    commit("report", "/* A comment. */\nint one;\n\nint two;\n")
    commit("pad", "/* A comment,\n * longer. */\nint one;\nint three; /* new */\n\nint two;\n")
    commit("coalesce", "/* Another comment. */\nint one;\nint three;\n\nint two;\n")
    assert [series.lines(name) for name in ("report", "pad", "coalesce")] == [(4, 2), (3, 1), (2, 0)]
