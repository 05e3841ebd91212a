# SPDX-License-Identifier: GPL-2.0
"""With DM_ALIGN_LAYERS=report or pad the guests' module is built up to that layer, and of the tests in guests run those that
concern it: where the parameter "mode" is one of its modes, and those with the mark layer.

    DM_ALIGN_LAYERS=report scripts/python -m pytest kmod/tests/guest -k linux-6.12

    @pytest.mark.layer("report")    a test that runs with a module of this layer, and only then
"""

import functools

from ..linux import layers
from ..paths import REPO

GUEST = REPO / "kmod/tests/guest"


@functools.cache
def _is_guest_test(path):
    return GUEST in path.parents


def concerns(item, layer):
    """Return whether a test runs with a module of a layer."""
    mark = item.get_closest_marker("layer")
    if mark:
        return layer in mark.args
    mode = item.callspec.params.get("mode") if hasattr(item, "callspec") else None
    return layer == layers.LAYERS[-1] or mode in layers.upto(layer)


def pytest_configure(config):
    config.addinivalue_line("markers", "layer(names...): runs with modules of these layers only")


def pytest_collection_modifyitems(config, items):
    layer = layers.wanted()
    left = [item for item in items if _is_guest_test(item.path) and not concerns(item, layer)]
    if left:
        config.hook.pytest_deselected(items=left)
        deselected = set(left)
        items[:] = [item for item in items if item not in deselected]
