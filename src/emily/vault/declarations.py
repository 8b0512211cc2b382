"""Where declarations begin in a source file: functions, classes and their like, by line.

Patterns, not parsers: a file that does not compile is cut all the same. Decorators, attributes
and comments directly above a declaration go with it. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

__all__ = ["declarations"]

_PYTHON = re.compile(r"(?P<indent>[ \t]*)(?:async[ \t]+)?(?:def|class)[ \t]+(?P<name>\w+)")
_SCRIPT = re.compile(
    r"(?P<indent>[ \t]*)(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:abstract[ \t]+)?"
    r"(?:(?:async[ \t]+)?function[ \t]*\*?[ \t]*(?P<name>[\w$]+)"
    r"|(?:class|interface|enum|namespace|type)[ \t]+(?P<name2>[\w$]+)"
    r"|(?:const|let|var)[ \t]+(?P<name3>[\w$]+)[^=\n]*=[ \t]*(?:async[ \t]*)?"
    r"(?:function\b|\([^)\n]*\)[^=\n]*=>|[\w$]+[ \t]*=>))"
)
_GO = re.compile(
    r"(?P<indent>)(?:func[ \t]+(?:\([^)]*\)[ \t]*)?(?P<name>\w+)|type[ \t]+(?P<name2>\w+))"
)
_RUST = re.compile(
    r"(?P<indent>[ \t]*)(?:pub(?:\([^)]*\))?[ \t]+)?(?:default[ \t]+)?(?:const[ \t]+)?"
    r"(?:async[ \t]+)?(?:unsafe[ \t]+)?(?:extern[ \t]+\"[^\"]*\"[ \t]+)?"
    r"(?:(?:fn|struct|enum|trait|union|mod|macro_rules!)[ \t]+(?P<name>\w+)"
    r"|impl\b(?:<[^>]*>)?[ \t]*(?P<name2>[\w:<>, &']+?)[ \t]*(?:where\b.*)?\{?$)"
)
_JAVA = re.compile(
    r"(?P<indent>[ \t]*)(?:(?:public|protected|private|static|final|abstract|sealed|internal|open|"
    r"override|virtual|partial|readonly|synchronized|data|suspend|inline|case|implicit|fileprivate|"
    r"async|new|mutating)[ \t]+)*"
    r"(?:(?:class|interface|enum|record|struct|object|trait|protocol|extension|@interface|namespace)"
    r"[ \t]+(?P<name>\w+)|(?:fun|func|def)[ \t]+(?:<[^>]*>[ \t]*)?(?:\w+\.)?(?P<name2>\w+)"
    r"|(?!return\b|new\b|else\b|throw\b|await\b|yield\b)[\w<>\[\],.?]+(?:[ \t]+|[ \t]*[*&][ \t]*)"
    r"(?P<name3>\w+)[ \t]*\([^;{]*\)?[ \t]*(?:throws[ \t][\w., ]+)?\{?[ \t]*$)"
)
_C = re.compile(
    r"(?P<indent>)(?:(?:typedef[ \t]+)?(?:struct|union|enum|class|namespace)[ \t]+"
    r"(?P<name>\w+)[^;()]*$"
    r"|(?!return\b|else\b|typedef\b|using\b|case\b|goto\b)(?:template[ \t]*<[^>]*>[ \t]*)?"
    r"[A-Za-z_][\w:<>,*& \t]*?[ \t*&](?P<name2>[\w:~]+)[ \t]*\([^;]*$)"
)
_RUBY = re.compile(r"(?P<indent>[ \t]*)(?:def|class|module)[ \t]+(?P<name>[\w.:?!]+)")
_PHP = re.compile(
    r"(?P<indent>[ \t]*)(?:(?:public|protected|private|static|final|abstract|readonly)[ \t]+)*"
    r"(?:function[ \t]+&?(?P<name>\w+)|(?:class|interface|trait|enum)[ \t]+(?P<name2>\w+))"
)
_SHELL = re.compile(
    r"(?P<indent>)(?:function[ \t]+(?P<name>[\w-]+)|(?P<name2>[\w-]+)[ \t]*\(\)[ \t]*\{?)"
)
_SQL = re.compile(
    r"(?P<indent>)create[ \t]+(?:or[ \t]+replace[ \t]+)?(?:unique[ \t]+)?(?:materialized[ \t]+)?"
    r"(?:table|view|function|procedure|index|trigger|type)[ \t]+(?:if[ \t]+not[ \t]+exists[ \t]+)?"
    r"(?P<name>[\w.\"]+)",
    re.IGNORECASE,
)
_LUA = re.compile(r"(?P<indent>)(?:local[ \t]+)?function[ \t]+(?P<name>[\w.:]+)")
_ELIXIR = re.compile(r"(?P<indent>[ \t]*)(?:def|defp|defmodule|defmacro)[ \t]+(?P<name>[\w.?!]+)")
_JULIA = re.compile(
    r"(?P<indent>)(?:function|struct|mutable[ \t]+struct|module|macro)[ \t]+(?P<name>[\w.!]+)"
)
_R = re.compile(r"(?P<indent>)(?P<name>[\w.]+)[ \t]*(?:<-|=)[ \t]*function\b")

_BY_EXTENSION = {
    **dict.fromkeys(("py", "pyi"), _PYTHON),
    **dict.fromkeys(("js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"), _SCRIPT),
    "go": _GO,
    "rs": _RUST,
    **dict.fromkeys(("java", "kt", "kts", "scala", "cs", "swift", "dart"), _JAVA),
    **dict.fromkeys(("c", "h", "cc", "cpp", "cxx", "hpp", "hh"), _C),
    "rb": _RUBY,
    "php": _PHP,
    **dict.fromkeys(("sh", "bash", "zsh"), _SHELL),
    "sql": _SQL,
    "lua": _LUA,
    **dict.fromkeys(("ex", "exs"), _ELIXIR),
    "jl": _JULIA,
    "r": _R,
}
# Lines directly above a declaration that are part of it.
_ABOVE = re.compile(
    r"\s*(?:@|#\[|#!\[|//|/\*|\*|--|\[\w|template\b|#(?!include|define|if|endif|else))"
)
_DEEPEST = 2


def declarations(path: str, lines: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Where declarations begin and what they are called.

    Args:
        path: whose extension tells the language; of an unknown one nothing is found.
        lines: those of the file, without line ends.

    Yields:
        0-based line, comments and decorators above it included, and the names from the outermost
        in: a class, then its method; what stands deeper than that belongs to those.
    """
    pattern = _BY_EXTENSION.get(path.rpartition(".")[2].lower())
    if pattern is None:
        return
    python = pattern is _PYTHON
    around: list[tuple[int, str]] = []
    quoted = ""
    floor = 0
    for number, line in enumerate(lines):
        if python:
            was, quoted = quoted, _open_quotation(line, quoted)
            if was:
                continue
        match = pattern.match(line)
        if match is None:
            continue
        name = next(filter(None, (match[key] for key in pattern.groupindex if key != "indent")), "")
        indent = len(match["indent"].expandtabs(4))
        while around and around[-1][0] >= indent:
            around.pop()
        around.append((indent, name.strip()))
        if len(around) > _DEEPEST:
            continue
        begin = number
        while begin > floor and _ABOVE.match(lines[begin - 1]):
            begin -= 1
        floor = number + 1
        yield begin, tuple(name for _, name in around)


def _open_quotation(line: str, quoted: str) -> str:
    """The triple quotation mark that is open behind this line of Python."""
    at = 0
    while True:
        if quoted:
            at = line.find(quoted, at)
            if at < 0:
                return quoted
            at += 3
            quoted = ""
            continue
        found = [(place, mark) for mark in ('"""', "'''") if (place := line.find(mark, at)) >= 0]
        if not found:
            return ""
        place, quoted = min(found)
        comment = line.find("#", at)
        if 0 <= comment < place and not line[:comment].count('"') % 2:
            return ""
        at = place + 3
