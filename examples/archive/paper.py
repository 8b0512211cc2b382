"""Printed documents: PDF with a text layer, set with reportlab."""

from __future__ import annotations

import re
from io import BytesIO
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from reportlab import rl_config
from reportlab.lib import colors
from reportlab.lib.enums import TA_JUSTIFY
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.platypus import (
    BaseDocTemplate,
    Frame,
    ListFlowable,
    ListItem,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)

if TYPE_CHECKING:
    from reportlab.pdfgen.canvas import Canvas

    from .source import Block, Source

__all__ = ["pdf"]

rl_config.useA85 = 0  # binary streams: a fifth smaller

# The fonts every PDF reader brings along; their encoding holds all Italian letters and the euro.
FONTS = {
    "serif": ("Times-Roman", "Times-Bold"),
    "sans": ("Helvetica", "Helvetica-Bold"),
    "mono": ("Courier", "Courier-Bold"),
}


def pdf(source: Source) -> bytes:
    """Set a source on pages; the same source always gives the same bytes.

    The front matter may give ``font`` (serif, sans, mono), ``size`` in points, ``page`` as
    [width, height] in millimetres, ``accent`` as #rrggbb, ``letterhead`` and ``footer``.
    """
    options = source.options
    regular, bold = FONTS[options.get("font", "sans")]
    width, height = (side * mm for side in options["page"]) if "page" in options else A4
    size = float(options.get("size", 10.5))
    accent = colors.HexColor(options.get("accent", "#1f3a5f"))
    margin = min(22 * mm, width * 0.09)
    letterhead = [str(line) for line in options.get("letterhead", [])]
    head = (len(letterhead) * (size + 2) + 6 * mm) if letterhead else 0

    def decorate(canvas: Canvas, _document: Any) -> None:
        top = height - margin
        for number, line in enumerate(letterhead):
            canvas.setFont(
                bold if number == 0 else regular, size + 3 if number == 0 else size - 1.5
            )
            canvas.setFillColor(accent if number == 0 else colors.HexColor("#444444"))
            canvas.drawString(margin, top - size - number * (size + 2), line)
        if letterhead:
            canvas.setStrokeColor(accent)
            canvas.setLineWidth(1.2)
            canvas.line(margin, top - head + 3 * mm, width - margin, top - head + 3 * mm)
        if "footer" in options:
            canvas.setFont(regular, 7.5)
            canvas.setFillColor(colors.HexColor("#555555"))
            canvas.drawString(margin, margin * 0.55, str(options["footer"]))
            canvas.drawRightString(width - margin, margin * 0.55, str(canvas.getPageNumber()))

    buffer = BytesIO()
    document = BaseDocTemplate(
        buffer,
        pagesize=(width, height),
        title=source.title,
        author=letterhead[0] if letterhead else "",
        lang=source.lang,
        invariant=1,
        leftMargin=margin,
        rightMargin=margin,
        topMargin=margin,
        bottomMargin=margin,
    )
    frame = Frame(margin, margin, width - 2 * margin, height - 2 * margin - head, 0, 0, 0, 0)
    document.addPageTemplates(PageTemplate(id="page", frames=[frame], onPage=decorate))
    styles = _styles(regular, bold, size, accent, justified=bool(options.get("justified")))
    story: list[Any] = []
    for block in source.blocks:
        story += _flow(block, styles, width - 2 * margin, ruled=bool(options.get("ruled", True)))
    document.build(story)
    return buffer.getvalue()


def _styles(
    regular: str, bold: str, size: float, accent: colors.Color, *, justified: bool
) -> dict[str, ParagraphStyle]:
    body = ParagraphStyle(
        "body", fontName=regular, fontSize=size, leading=size * 1.38, spaceAfter=size * 0.65
    )
    if justified:
        body.alignment = TA_JUSTIFY

    def heading(level: int, factor: float) -> ParagraphStyle:
        return ParagraphStyle(
            f"h{level}",
            fontName=bold,
            fontSize=size * factor,
            leading=size * factor * 1.25,
            textColor=accent,
            spaceBefore=size * 0.7,
            spaceAfter=size * 0.5,
            keepWithNext=1,
        )

    return {
        "body": body,
        "bold": ParagraphStyle("bold", fontName=bold, fontSize=size, leading=size * 1.38),
        "cell": ParagraphStyle(
            "cell", fontName=regular, fontSize=size * 0.92, leading=size * 1.15, wordWrap="LTR"
        ),
        "head": ParagraphStyle(
            "head", fontName=bold, fontSize=size * 0.92, leading=size * 1.15, wordWrap="LTR"
        ),
        "h1": heading(1, 1.55),
        "h2": heading(2, 1.2),
        "h3": heading(3, 1.05),
    }


def _inline(text: str) -> str:
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(text))


def _flow(
    block: Block, styles: dict[str, ParagraphStyle], width: float, *, ruled: bool
) -> list[Any]:
    if block.kind == "page":
        return [PageBreak()]
    if block.kind == "heading":
        return [Paragraph(_inline(block.lines[0]), styles[f"h{block.level}"])]
    if block.kind == "bullets":
        items = [ListItem(Paragraph(_inline(line), styles["body"])) for line in block.lines]
        return [ListFlowable(items, bulletType="bullet", start="•", leftIndent=14), Spacer(1, 4)]
    if block.kind == "table":
        return [_table(block, styles, width, ruled=ruled), Spacer(1, 8)]
    return [Paragraph("<br/>".join(_inline(line) for line in block.lines), styles["body"])]


def _table(block: Block, styles: dict[str, ParagraphStyle], width: float, *, ruled: bool) -> Table:
    widths = _column_widths(block.rows, styles["head"], width, padding=14 if ruled else 2)
    cells = [
        [
            Paragraph(_inline(cell), styles["head" if ruled and not number else "cell"])
            for cell in row
        ]
        for number, row in enumerate(block.rows)
    ]
    table = Table(cells, colWidths=widths, repeatRows=1)
    rules: list[tuple[Any, ...]] = [("VALIGN", (0, 0), (-1, -1), "TOP")]
    if ruled:
        rules += [
            ("GRID", (0, 0), (-1, -1), 0.4, colors.HexColor("#9aa4b0")),
            ("BACKGROUND", (0, 0), (-1, 0), colors.HexColor("#e8edf3")),
        ]
    else:
        rules += [("LEFTPADDING", (0, 0), (-1, -1), 0), ("TOPPADDING", (0, 0), (-1, -1), 1)]
        rules += [("RIGHTPADDING", (0, 0), (-1, -1), 0), ("BOTTOMPADDING", (0, 0), (-1, -1), 1)]
    table.setStyle(TableStyle(rules))
    return table


def _column_widths(
    rows: tuple[tuple[str, ...], ...], style: ParagraphStyle, width: float, *, padding: float
) -> list[float]:
    """Give each column room for its longest word; what is left goes by the longest cell."""

    def measure(text: str) -> float:
        return float(stringWidth(text.replace("**", ""), style.fontName, style.fontSize))

    columns = list(zip(*rows, strict=True))
    least = [max(measure(w) for cell in col for w in (cell or "-").split()) for col in columns]
    least = [want + padding for want in least]
    longest = [min(width / 2, max(measure(cell) for cell in column)) for column in columns]
    rest = max(0.0, width - sum(least))
    return [low + rest * long / sum(longest) for low, long in zip(least, longest, strict=True)]
