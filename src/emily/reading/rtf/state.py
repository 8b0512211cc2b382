"""What a group of a Rich Text file inherits from the one around it, and what ends with it."""

from __future__ import annotations

from dataclasses import dataclass

from emily.reading.rtf.flow import Flow, Format
from emily.reading.rtf.tables import Styles

__all__ = ["State"]


@dataclass(slots=True)
class State:
    r"""The state of a group.

    Attributes:
        flow: where its text goes.
        dest: what its text is (``rtf_tables.CONTENT``); ``text`` or ``skip`` mostly.
        around: destination outside of an alternative for older programs (``\upr``).
        font: number of the font; ``None`` for the file's default.
        fallbacks: characters behind ``\u`` that stand for it in older programs.
        hidden, deleted: whether its text is left out.
        in_table, nested: whether paragraphs stand in a table, and how deep.
        style, outline: by which a paragraph is a heading.
        listed, level: whether a paragraph belongs to a list, and how deep.
    """

    flow: Flow
    dest: str = "text"
    around: str = "text"
    font: int | None = None
    fallbacks: int = 1
    hidden: bool = False
    deleted: bool = False
    in_table: bool = False
    nested: int = 0
    style: int = 0
    outline: int | None = None
    listed: bool = False
    level: int = 0

    def copy(self) -> State:
        """The state that a group inside begins with; ``copy.copy`` takes four times as long."""
        return State(
            self.flow,
            self.dest,
            self.around,
            self.font,
            self.fallbacks,
            self.hidden,
            self.deleted,
            self.in_table,
            self.nested,
            self.style,
            self.outline,
            self.listed,
            self.level,
        )

    def format(self, name: str, value: int | None) -> None:
        """A control word that formats characters or paragraphs."""
        on = value != 0
        match name:
            case "pard":
                self.plain_paragraph()
            case "plain":
                self.font, self.hidden, self.deleted = None, False, False
            case "f":
                self.font = value
            case "uc":
                self.fallbacks = max(0, value if value is not None else 1)
            case "v":
                self.hidden = on
            case "deleted":
                self.deleted = on
            case "intbl":
                self.in_table = on
            case "itap":
                self.nested = max(0, value or 0)
            case "s":
                self.style = value or 0
            case "outlinelevel":
                self.outline = value
            case "ls":
                self.listed = bool(value)
            case "ilvl":
                self.level = max(0, value or 0)

    def plain_paragraph(self) -> None:
        """Paragraphs are as the file's first."""
        self.in_table, self.nested, self.style, self.outline = False, 0, 0, None
        self.listed, self.level = False, 0

    def form(self, styles: Styles) -> Format:
        """What a paragraph that ends here is."""
        depth = max(1, self.nested) if self.in_table else 0
        if self.outline is None:
            heading = styles.heading(self.style)
        else:
            heading = self.outline + 1 if 0 <= self.outline < 9 else 0
        return Format(depth, heading, self.listed, self.level)
