# SPDX-License-Identifier: GPL-2.0
"""The layers of the target, one for each mode: what kmod/Kbuild builds for each, with those below it."""

import os
import re

from ..paths import REPO, fail

LAYERS = ("report", "pad", "coalesce")
# The condition in Kbuild, and the symbol, of what a layer adds.
SYMBOLS = {"pad": "CONFIG_DM_ALIGN_PAD", "coalesce": "CONFIG_DM_ALIGN_COALESCE"}
# The layer of the module that guests test; all of it without this variable.
VARIABLE = "DM_ALIGN_LAYERS"


def added(layer, text=None):
    """Return the names, without suffix, of the objects that a layer adds to those below it."""
    text = text or (REPO / "kmod/Kbuild").read_text()
    begin = rf"dm-align-\$\({SYMBOLS[layer]}\) \+=" if layer in SYMBOLS else "dm-align-y :="
    found = re.search(rf"^{begin} ((?:.*\\\n)*.*)$", text, re.M)
    if not found:
        fail(f"kmod/Kbuild lists no objects of layer {layer}: see scripts/lab/linux/layers.py", 1)
    return re.findall(r"\b(\w+)\.o\b", found[1])


def upto(layer):
    """Return the layers up to one."""
    return LAYERS[:LAYERS.index(layer) + 1]


def symbols(layer):
    """Return the symbols that are set where a layer is built."""
    return {SYMBOLS[name] for name in upto(layer) if name in SYMBOLS}


def objects(layer=LAYERS[-1]):
    """Return the names, without suffix, of all objects of a module up to a layer."""
    return [name for each in upto(layer) for name in added(each)]


def wanted():
    """Return the layer that the environment asks for."""
    layer = os.environ.get(VARIABLE) or LAYERS[-1]
    if layer not in LAYERS:
        fail(f"{VARIABLE} must be one of {' '.join(LAYERS)}")
    return layer


def arguments(layer):
    """Return make's arguments for a module up to a layer."""
    return () if layer == LAYERS[-1] else (f"LAYERS={layer}",)
