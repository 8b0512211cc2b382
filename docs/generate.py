"""Writes the pages that follow from the code: ``python -m docs.generate``.

``docs/cli.md`` as a whole, from the help texts, and the tables of fields in ``docs/json.md``,
from the dataclasses of ``emily.cli.contract``. A test holds the pages and the code together.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from typer.main import get_command

from emily.cli import (
    analysis_contract,
    assistant_contract,
    contract,
    evaluation_contract,
    keeping_contract,
    memory_contract,
    models_contract,
    remembering_contract,
    replay_contract,
    vaults_contract,
    working_contract,
)
from emily.cli.app import app

DOCS = Path(__file__).parent
BEGIN, END = "<!-- fields: made by python -m docs.generate -->", "<!-- end of fields -->"

_INTRODUCTION = """\
# The command line

<!-- Made by `python -m docs.generate` from the help texts; change those instead. -->

`emily COMMAND --help` prints what stands here.

- **stdout** holds the result and nothing else; progress, questions, logs and errors go to
  stderr. With `--json` the result is one JSON document, see [json.md](json.md).
- **Exit codes:** 0 if all went well; 1 if something failed, with a message on stderr; 2 for
  wrong usage; 130 after Ctrl-C.
- **Text of documents** stands behind a bar (`  | `), and a terminal obeys none of it: control
  characters of texts, names and paths are shown as escapes, such as `\\x1b`.
- **Off a terminal** (in a pipe) nothing is coloured or wrapped, and no question is asked.
- **A value that begins with a dash** goes behind `--`: `emily search -- "-40 degrees"`.
- **Environment:** `EMILY_HOME` is the folder of all data, `EMILY_<NAME>` sets a setting
  (`emily settings` lists them), `EMILY_LOG` is the level of the log (`debug`, `info`,
  `warning`, `error`), `EMILY_DEBUG=1` adds the traceback to an error. A list is written
  `EMILY_LANGUAGES=it,en`.
- **Where stdout cannot be written to** (a full disk) the work is done all the same; a line on
  stderr says so, and the exit code is 1. Where stderr cannot, nothing changes but that.
"""


def cli_page() -> str:
    """The whole text of ``docs/cli.md``."""
    group: Any = get_command(app)
    parts = [_INTRODUCTION, "## Global options\n\nThey stand before the command: "]
    parts.append("`emily --home PATH search …`\n\n" + _table(group.params))
    for name, command in commands(group):
        usage = " ".join(["emily", name, "[OPTIONS]", *map(_placeholder, _arguments(command))])
        help_text = inspect.cleandoc(command.help)
        parts.append(f"\n## emily {name}\n\n```\n{usage}\n```\n\n{help_text}\n\n")
        parts.append(_table(command.params))
    return "".join(parts)


def commands(group: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """Every command with its whole name, those of groups (``models list``) in their place."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            if command.invoke_without_command:  # it does something by itself
                yield f"{above}{name}", command
            yield from commands(command, f"{above}{name} ")
        else:
            yield f"{above}{name}", command


def json_page(page: str) -> str:
    """``docs/json.md`` with its tables of fields made anew.

    Args:
        page: its text, in which the two marks stand.
    """
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{_fields()}{END}{after}"


def main() -> None:
    """Write both pages."""
    (DOCS / "cli.md").write_text(cli_page(), "utf-8")
    path = DOCS / "json.md"
    path.write_text(json_page(path.read_text("utf-8")), "utf-8")


def _arguments(command: Any) -> list[Any]:
    return [parameter for parameter in command.params if parameter.param_type_name == "argument"]


def _placeholder(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return f"{name}..." if argument.nargs == -1 else str(name)


def _table(parameters: list[Any]) -> str:
    rows = ["| argument or option | meaning |", "|---|---|"]
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            name = f"`{_placeholder(parameter)}`"
        else:
            name = ", ".join(f"`{option}`" for option in sorted(parameter.opts, key=len)[::-1])
            if not parameter.is_flag:
                name += f" `{parameter.metavar or 'N'}`"
        rows.append(f"| {name} | {parameter.help} |")
    rows.append("| `--help`, `-h` | Show the help and exit. |")
    return "\n".join(rows) + "\n"


def _fields() -> str:
    outputs = [
        item
        for module in (
            contract,
            analysis_contract,
            assistant_contract,
            evaluation_contract,
            models_contract,
            keeping_contract,
            memory_contract,
            remembering_contract,
            replay_contract,
            vaults_contract,
            working_contract,
        )
        for item in vars(module).values()
        if isinstance(item, type) and dataclasses.is_dataclass(item) and item is not contract.Output
    ]
    parts = []
    for item in outputs:
        title = item.__name__ if _is_part(item) else str(inspect.getdoc(item)).removesuffix(".")
        lead = f"{inspect.getdoc(item)}\n\n" if _is_part(item) else ""
        rows = ["| field | type | meaning |", "|---|---|---|"]
        hints = get_type_hints(item, include_extras=True)
        for field in dataclasses.fields(item):
            kind, meaning = get_args(hints[field.name])
            rows.append(f"| `{field.name}` | {_type(kind)} | {meaning} |")
        parts.append(f"\n### {title}\n\n{lead}" + "\n".join(rows) + "\n")
    return "".join(parts) + "\n"


def _is_part(item: type) -> bool:
    return not issubclass(item, contract.Output)


def _type(kind: Any) -> str:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return " or ".join(map(_type, arguments))
    if origin is list:
        return f"list of {_type(arguments[0])}"
    if origin is tuple:
        return f"[{', '.join(map(_type, arguments))}]"
    if origin is dict:
        return f"object of {_type(arguments[1])}"
    if origin is Literal:
        return "string"
    if kind is Any:
        return "any value"
    if dataclasses.is_dataclass(kind):
        name = kind.__name__  # type: ignore[union-attr]
        return f"[{name}](#{name.lower()})"
    names = {int: "integer", float: "number", str: "string", bool: "boolean"}
    return names.get(kind, "`null`")


if __name__ == "__main__":
    main()
