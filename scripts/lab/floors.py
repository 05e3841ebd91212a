# SPDX-License-Identifier: GPL-2.0
"""What files use of each other, for the tests of which file may use which: calls of object files, imports of Python modules."""

import ast
import graphlib
import subprocess
from collections import defaultdict


def calls(objects):
    """Return [(caller, symbol, callee)] of {source: its object file}, as the linker would resolve them."""
    source_of = {str(path): source for source, path in objects.items()}
    done = subprocess.run(["nm", "--print-file-name", "--format=posix", "--extern-only", *source_of],
                          capture_output=True, text=True, check=True)
    home, wanted = {}, []
    for line in done.stdout.splitlines():
        path, symbol, kind = line.split()[:3]
        source = source_of[path.removesuffix(":")]
        if kind == "U":
            wanted.append((source, symbol))
        else:
            home[symbol] = source
    return [(caller, symbol, home[symbol]) for caller, symbol in wanted if symbol in home]


def modules(package):
    """Return {name: file} of the modules in the folder of a package, without those of its tests."""
    return {".".join((package.name, *path.relative_to(package).with_suffix("").parts)).removesuffix(".__init__"): path
            for path in package.rglob("*.py") if "tests" not in path.relative_to(package).parts}


def imports(texts):
    """Return [(module, name, module)] of {module: (its text, whether it is a package)}: what it imports of the others."""
    found = []
    for module, (text, is_package) in texts.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                parts = module.split(".") + [""] * is_package
                base = [*parts[:len(parts) - node.level]] if node.level else []
                base = ".".join((*base, *filter(None, [node.module])))
                names = [f"{base}.{alias.name}" if f"{base}.{alias.name}" in texts else base for alias in node.names]
            else:
                continue
            found += [(module, name, name) for name in names if name in texts and name != module]
    return found


def circle(edges):
    """Return a circle in [(file, what, file)], from a file back to itself; None: there is none."""
    graph = defaultdict(set)
    for above, _, below in edges:
        if above != below:
            graph[above].add(below)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return None
