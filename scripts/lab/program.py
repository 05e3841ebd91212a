# SPDX-License-Identifier: GPL-2.0
"""Programs as modules, for their tests: their names are none that Python imports."""

import importlib.machinery
import importlib.util
import sys


def load(path):
    """Import a program, and leave no compiled file beside it."""
    loader = importlib.machinery.SourceFileLoader(path.name.replace("-", "_"), str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = written
    return module
