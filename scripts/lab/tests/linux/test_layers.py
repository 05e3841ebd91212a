# SPDX-License-Identifier: GPL-2.0
"""The module builds up to each layer without a warning, and has nothing of the layers above."""

import re
import subprocess

import pytest

from lab.linux import gates, kernels, layers, modules
from lab.paths import REPO
from lab.plugins.extent import only_all

LATER = "the usual kernel's build is looked at; the others compile the same files in make check-all"
SERIES = [series if series == kernels.USUAL else only_all(LATER, series) for series in kernels.SERIES]


def module(series, layer, **where):
    """Build the module of a layer without warnings; return its path."""
    return gates.compile_with(series, (*gates.GCC, f"LAYERS={layer}"), f"gcc-LAYERS-{layer}", **where) / "dm-align.ko"


def defined(path):
    """Return the names of the functions and data that an object has."""
    listed = subprocess.run(["nm", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in listed.splitlines()}


def global_functions(name):
    """Return the names of the functions that a file of kmod/ has for other files."""
    text = (REPO / f"kmod/{name}.c").read_text()
    return set(re.findall(r"^(?!static|typedef|return|#)\w[\w \t*]*?\b(\w+)\([^;{]*\)\n\{", text, re.M))


def too_much(path, layer):
    """Return (file, function) of what a module has of the files above a layer."""
    above = [name for each in layers.LAYERS if each not in layers.upto(layer) for name in layers.added(each)]
    has = defined(path)
    return sorted((name, function) for name in above for function in global_functions(name) & has)


@pytest.mark.parametrize("layer", layers.LAYERS[:-1])
@pytest.mark.parametrize("series", SERIES)
def test_a_layer_builds_without_a_warning_and_without_those_above(series, layer):
    path = module(series, layer)
    assert not too_much(path, layer)
    for name in layers.objects(layer):
        wanted = {function for function in global_functions(name) if not function.startswith("__")}
        assert not wanted or wanted & defined(path), f"nothing of {name}.c is there"


def test_what_is_above_a_layer_would_be_seen():
    path = gates.module(kernels.USUAL)
    assert {name for name, _ in too_much(path, "report")} > {"engine", "turn", "overlay", "job"}
    assert {name for name, _ in too_much(path, "pad")} > {"held", "drain", "overlay", "waiter"}


def test_another_layer_is_refused():
    with pytest.raises(modules.BuildFailed, match="LAYERS must be report, pad or coalesce"):
        module(kernels.USUAL, "both")
