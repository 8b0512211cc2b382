"""The modules that ``emily lite`` is made of import the standard library only."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import emily

_SOURCE = Path(emily.__file__).parents[1]
MODULES = (
    "bm25", "budget", "cache", "declarations", "engine", "files", "front_matter", "graph",
    "ignoring", "inline", "linking", "links", "lite", "lite_answers", "notes", "outline",
    "passages", "resolving", "segment", "terms", "themes", "walk", "yaml_subset",
)  # fmt: skip
_PROBE = """
import sys
sys.path.insert(0, sys.argv[1])
import importlib
for name in sys.argv[2:]:
    importlib.import_module("emily.vault." + name)
own = {"emily", "__main__", "__mp_main__"}
alien = [name for name in sys.modules
         if name.partition(".")[0] not in sys.stdlib_module_names | own]
print(alien)
"""


def test_they_load_without_any_package() -> None:
    command = [sys.executable, "-I", "-S", "-c", _PROBE, str(_SOURCE), *MODULES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def _closure(module: str, seen: set[str]) -> set[str]:
    """All that a module imports, in functions too, following Emily's own modules."""
    if module in seen:
        return set()
    seen.add(module)
    path = _SOURCE / (module.replace(".", "/") + ".py")
    path = path if path.exists() else _SOURCE / module.replace(".", "/") / "__init__.py"
    alien = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        for name in names:
            if name.startswith("emily."):
                alien |= _closure(name, seen)
            elif name.partition(".")[0] not in sys.stdlib_module_names:
                alien.add(f"{module}: {name}")
    return alien


@pytest.mark.parametrize("name", MODULES)
def test_nothing_that_they_import_is_a_package(name: str) -> None:
    # The one exception is a guess that a vault never asks for (guess_scripts=False).
    assert _closure(f"emily.vault.{name}", set()) <= {"emily.reading.encodings: charset_normalizer"}
