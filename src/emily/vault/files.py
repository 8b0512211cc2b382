"""What kind of file stands in a vault, by its name. Standard library only."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

__all__ = ["MARKDOWN", "SOURCE", "TEXT", "Kind", "kind_of"]

Kind: TypeAlias = Literal["markdown", "text", "source", "attachment"]

MARKDOWN: Final = frozenset({"md", "markdown", "mdown", "mkd", "mkdn", "mdx", "qmd", "rmd"})
TEXT: Final = frozenset({"txt", "text", "org", "rst", "adoc", "asciidoc", "tex", "typ"})
SOURCE: Final = frozenset(
    {
        "py", "pyi", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "go", "rs", "java",
        "kt", "kts", "scala", "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "cs", "swift", "rb",
        "php", "sh", "bash", "zsh", "lua", "sql", "r", "jl", "hs", "ml", "ex", "exs", "dart",
    }
)  # fmt: skip


def kind_of(path: str) -> Kind:
    """The kind of a file, by its extension; what is not read is an attachment."""
    stem, dot, extension = path.rpartition("/")[2].rpartition(".")
    extension = extension.lower() if dot and stem else ""
    if extension in MARKDOWN:
        return "markdown"
    if extension in SOURCE:
        return "source"
    return "text" if extension in TEXT else "attachment"
