"""What a search gives back: documents with passages, their citations, and notices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from emily.retrieval.precedents import Precedent

__all__ = ["Answer", "DocumentRef", "Passage", "Result", "Via"]


@dataclass(frozen=True, slots=True)
class DocumentRef:
    """A document as a result names it; ``vault`` is the name of the vault that it lies in."""

    id: int
    name: str
    path: str
    kind: str
    description: str | None
    vault: str | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """A chosen chunk widened by its neighbours, cut from the document's text.

    Attributes:
        text: exactly ``document.text[start:end]``.
        start: offset of the first character in the document's text, 0-based.
        end: offset behind the last character.
        pages: first and last page it spans, or ``None`` where the kind has no pages.
        lines: first and last line it spans (1-based), or ``None`` where lines mean nothing.
        route: how its pages were read; the least direct one where it spans several.
        source: ``original`` text, or a ``note`` that the owner added.
        score: probability that it helps to answer, 0 to 1; ``None`` in an answer by words alone.
        header: header row of the table that the passage begins inside of, else ``""``.
        focus: offsets in the document's text of the sentence nearest to the question, or of
            the chosen chunk where no sentence has a vector.
        focus_page: page of that sentence, or ``None`` where the kind has no pages.
    """

    text: str
    start: int
    end: int
    pages: tuple[int, int] | None
    lines: tuple[int, int] | None
    route: str
    score: float | None
    source: Literal["original", "note"] = "original"
    header: str = ""
    focus: tuple[int, int] | None = None
    focus_page: int | None = None

    @property
    def focus_line(self) -> int | None:
        """Line of the sentence nearest to the question, 1-based, where lines mean anything."""
        if self.lines is None:
            return None
        before = self.text[: max(0, (self.focus or (self.start, 0))[0] - self.start)]
        return self.lines[0] + before.count("\n")


@dataclass(frozen=True, slots=True)
class Via:
    """The link by which a document came up that no arm had found.

    Attributes:
        document: id of the document at the other end.
        name: its name.
        path: its path.
        kind: ``wiki``, ``markdown``, ``field`` or ``tag``.
        written: the link as it is written; of a tag its name.
        line: of the link, 1-based, in the note in which it stands.
        forward: whether it stands in that other document; else this one links to that.
    """

    document: int
    name: str
    path: str
    kind: str
    written: str
    line: int
    forward: bool

    @property
    def text(self) -> str:
        """It in words: ``linked from ferry.md, line 3: [[bread]]``."""
        if self.kind == "tag":
            return f"shares the tag #{self.written} with {self.name}"
        what = "linked from" if self.forward else "links to"
        return f"{what} {self.name}, line {self.line}: [[{self.written}]]"


@dataclass(frozen=True, slots=True)
class Result:
    """A document with its passages, best first; its score is its best passage's.

    ``via`` is the link by which it came up, where its own text is not why it is shown.
    """

    document: DocumentRef
    score: float | None
    passages: tuple[Passage, ...]
    via: Via | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a search or of a question to one document.

    Attributes:
        query: the question as it was asked.
        results: best document first; none is a valid answer, and a notice then says why.
        notices: the system's own sentences; they stand outside the untrusted wrapper.
        timings_ms: milliseconds by stage, in the order in which the stages ran.
        trace: what each stage did to each candidate; JSON-ready, see docs/json.md.
        text: the answer rendered for a model: blocks inside ``<external_content>``.
        present: probability, 0 to 1, that the archive holds an answer at all, see ``absence``;
            ``None`` where there is nothing to tell by.
        signs: ``coverage``, how much of the question the best passage holds in words, and
            ``similarity``, the best of any passage, 0 to 1; ``None`` without a candidate.
        precedent: what such signs meant on the owner's own questions; ``None`` where too few of
            them are known.
    """

    query: str
    results: tuple[Result, ...]
    notices: tuple[str, ...]
    timings_ms: dict[str, float]
    trace: dict[str, Any] = field(repr=False)
    text: str = field(repr=False)
    present: float | None = None
    signs: dict[str, float] | None = None
    precedent: Precedent | None = None
