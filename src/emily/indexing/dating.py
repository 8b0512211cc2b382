"""Which of a text's dates is the date of the document."""

from __future__ import annotations

import re
from typing import Final, Literal

from emily.indexing.dates import Found, dates_in, fold

__all__ = ["Strength", "document_date"]

Strength = Literal[0, 1, 2, 3, 4]
"""How surely a date is the document's; ``document_date`` says what each stands for."""

_HEAD: Final = 8_000  # characters in which the date of a document is looked for: two or three pages
_TAIL: Final = 1_200  # and at its end, where letters are signed
_TOP_LINES: Final = 20  # lines with text among which a date alone on its line is the document's
_FIRST_WORDS: Final = 3  # among which a line names the paper that it dates
_SHORT_LINE: Final = 7  # words before a date; more of them are a sentence that mentions it
_BEFORE: Final = 60  # characters before a date that may say what it is the date of

_LABEL = re.compile(
    r"\b(?:invoice|issue|document|letter|statement|receipt|bill|report) dated?\b"
    r"|\bdate (?:of |de )?(?:the |la )?(?:issue|invoice|document|letter|facture|facturation"
    r"|emission|d'emission|du document|de la facture)"
    r"|\b(?:data|dt\.?) (?:di |della |del )?(?:emissione|fattura|documento|doc\b|lettera|nota"
    r"|redazione|rilascio|stipula|compilazione|firma|registrazione|protocollo|wystawienia|referto|contratto|verbale|atto)"
    r"|\b(?:rechnungs|beleg|ausstellungs|brief|dokument|erstellungs|factuur|dokumenten)datum\b"
    r"|\bfecha (?:de )?(?:la )?(?:factura|emision|expedicion|documento)"
    r"|\bestratto conto (?:al|del)\b|\bsituazione al\b"
    r"|\bemess[ao] il\b|\bissued(?: on)?\b|\bausgestellt am\b|\bfait le\b|\bemise? le\b"
)
_PLAIN = re.compile(
    r"(?:^|[|\n\t]|  |[^\w ] ?)(?:data|date|dated|datum|fecha|dal? data)\s*[:.]?\s*\Z"
)
_PLAIN_LABEL = re.compile(
    r"\b(?:data|date|dated|datum|fecha)\s*[:.]"
    r"|\b(?:inviato|spedito|sent|gesendet|envoye|enviado)(?: il)?\s*:"
)
_ABOUT = re.compile(  # lines that refer to other papers
    r"\s*(?:>\s*)*\W{0,3}(?:oggetto|subject|betreff|betrifft|objet|asunto|re|rif|riferimento|vs|ns)\b"
)
_OF = re.compile(
    r"(?:\bdel?|\bdel giorno|\bin data|\bvom|\bdu|\bdated|\bof|\bden|\bli'?|\bil)\s*\Z"
)
_PAPER = re.compile(
    r"\b(?:fattura|nota|lettera|documento|contratto|prot\b|protocollo|verbale|ricevuta|preventivo"
    r"|offerta|bolletta|parcella|invoice|letter|receipt|contract|quote|facture|devis|courrier"
    r"|recu|rechnung|schreiben|vertrag|angebot|bescheid|factura|carta|contrato|recibo|circolare"
    r"|delibera|relazione|referto|estratto conto|report|minutes)\b"
)
_OTHER = re.compile(
    r"\bscad\w*|\bdue\b|\bnat[oa]\b|\bborn\b|\bbirth\b|\bgeb(?:oren|urts\w*|\.)|\bne(?:e)? le\b"
    r"|\bnaissance\b|\bnascita\b|\bnacid[oa]\b|\bnacimiento\b|\bfallig\w*|\bzahlbar\b|\bbis\b"
    r"|\bentro\b|\bpagar\w*|\buntil\b|\bby\b|\bexpir\w*|\bvalid\w*|\bvervaldatum\b|\blimite\b"
    r"|\becheance\b|\bvencimiento\b|\bvence\b|\bcheck[ -]?(?:in|out)\b|\bconsegna\b|\bdeliver\w*"
    r"|\blieferdatum\b|\blivraison\b|\bentrega\b|\bdal\b|\bfrom\b|\bto\b|\bal\b|\bfino\b"
    r"|\bthrough\b|\bperiod\w*|\bdecorr\w*|\bpayment\b|\bpagamento\b|\bvaluta\b|\bprinted\b"
    r"|\bstampa(?:to)?\b|\bgedruckt\b|\border(?:ed)? date\b|\bordine\b|\bdata ordine\b"
    r"|\borderdatum\b|\bbestell\w*|\bcommande\b|\bpedido\b|\bstart\w*|\bend(?:e|s|ing)?\b"
    r"|\blettura\b|\binizio\b|\bfine\b|\bprossim\w*|\bnext\b|\bsince\b|\blease\b|\bterm\b"
    r"|\bordered\b|\bshipp\w*|\bleistung\w*|\bzeitraum\b"
)
_LAW = re.compile(
    r"\bd\.? ?p\.? ?r\b|\bd\.? ?lgs\b|\bd\.? ?l\.|\bd\.? ?m\.|\blegge\b|\bdecreto\b|\bl\. |\bart\."
    r"|\bregolament\w*|\bdirettiva\b|\bdirective\b|\bregulation\b|\bgesetz\w*|\bloi\b|\bdecret\b"
    r"|\bley\b|\bg\.? ?u\.|\bgazzetta\b|\bact\b|\bverordnung\b|\brichtlinie\b"
)
_LAW_AFTER = re.compile(r",? ?n\.? ?\d|,? ?nr\. ?\d")
_PLACE = re.compile(  # one to four words, and what stands between a place and a date
    r"[^\W\d_][\w'’.-]*(?:[ /][^\W\d_][\w'’.-]*){0,3}(?:,| li'?,?| ,)?[ \t]*"
    r"(?:li'?|le|il|den|the|a)?[ \t]*"
)
_WEEKDAY = re.compile(
    r"\b(?:lun|mar|mer|gio|ven|sab|dom)\w*|\b(?:mon|tues?|wed|thu|fri|sat|sun)\w*"
    r"|\b(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)"
    r"|\b(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)"
    r"|\b(?:lunes|martes|miercoles|jueves|viernes|sabado|domingo)"
)
_DATE_LIKE = re.compile(r"\d[-/.]\d{1,2}[-/.]\d|\d \w+ \d{4}")
_CELLS = re.compile(r"\s*\|\s*|\t+| {2,}")


def document_date(
    text: str, language: str | None, *, last_year: int | None = None
) -> tuple[Found, Strength] | None:
    """The date of a document by its text.

    Looked for in the first 8,000 characters, and at the end, where letters are signed. Dates that
    are of something else (when payment is due, a birth, a period, a law) are left out. The rest
    are ranked by what says that they are the document's, then those written year first, then
    by their place in the text:

    - 4: a label that names the document's date (``Data fattura``, ``Rechnungsdatum``);
    - 3: ``Data:`` or ``Date:`` alone; ``Milano, 3 marzo 2024`` on a line of its own;
      ``Fattura n. 12 del 26/06/2025``;
    - 2: ``del 26/06/2025`` or ``vom`` near the top;
    - 1: a date on a line of its own near the top.

    Args:
        text: the document's text.
        language: ISO 639-1, or ``None``.
        last_year: as in ``dates_in``.

    Returns:
        the date with offsets into ``text``, and its rank; ``None`` where no date is the
        document's for sure enough.
    """
    head = text[:_HEAD]
    if len(text) > _HEAD:
        head = head[: max(head.rfind("\n"), head.rfind(" "), 0) or _HEAD]
    found = dates_in(head, language, last_year=last_year)
    folded = fold(head)
    best: tuple[Strength, bool, int, Found] | None = None
    starts = _top_lines(head)
    previous: Found | None = None
    for one in found:
        strength = _strength(folded, one, previous, one.start < starts)
        previous = one
        if strength and (best is None or (strength, one.iso) > best[:2]):
            best = (strength, one.iso, one.start, one)
    if best is None or best[0] < 3:
        signed = _signed_on(text, language, last_year)
        if signed is not None and (signed.start >= len(head) or best is None):
            return signed, 3
    return None if best is None else (best[3], best[0])


def _top_lines(text: str) -> int:
    """The offset after the first lines that hold text."""
    at = seen = 0
    while seen < _TOP_LINES and at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        seen += bool(text[at:end].strip())
        at = end + 1
    return at


def _strength(text: str, one: Found, previous: Found | None, near_top: bool) -> Strength:
    """What says that a date is the document's. ``text`` is folded."""
    line_start = text.rfind("\n", 0, one.start) + 1
    line_end = text.find("\n", one.end)
    line_end = len(text) if line_end < 0 else line_end
    since = line_start
    if previous is not None and line_start < previous.end <= one.start:
        since = previous.end
    before = text[max(since, one.start - _BEFORE) : one.start]
    after = text[one.end : line_end]
    if _LAW.search(before[-40:]) or _LAW_AFTER.match(after):
        return 0
    bare = _WEEKDAY.sub("", before).strip(" \t,|*#>-")
    if not bare or (since == line_start and _CELLS.search(before.lstrip())):
        said = _from_above(text, line_start, line_end, one)
        if said is not None and (not bare or not _says(before, near_top)):
            rank = _says(said + " ", near_top, label=True)
            if rank != -1 and rank is not None:
                return rank
            if rank == -1:
                return 0
    rank = _says(before, near_top, line=text[line_start : one.start].lstrip(" \t|*#>-"))
    if rank == -1:
        return 0
    if rank is not None:
        return rank
    alone = not after.strip(" \t|.,;:") or bool(re.match(r"[ ,]*\d{1,2}[:.]\d\d", after))
    if since == line_start and alone and near_top:
        if not bare:
            return 1
        if _PLACE.fullmatch(text[line_start : one.start].strip(" \t|*#>-") + " "):
            return 3 if before.rstrip().endswith((",", "li", "li'", "le", "il", "den")) else 1
    return 0


def _says(
    before: str, near_top: bool, *, label: bool = False, line: str | None = None
) -> Strength | Literal[-1] | None:
    """What the words before a date make it: a rank, -1 for a date of something else, or nothing.

    Args:
        before: folded text up to the date.
        near_top: whether it is among the first lines.
        label: whether ``before`` is a label that stands above the date.
        line: all of its line up to the date, where ``before`` may be only its end.
    """
    before = _WEEKDAY.sub("", before)
    other = max((match.end() for match in _OTHER.finditer(before)), default=-1)
    named = max((match.end() for match in _LABEL.finditer(before)), default=-1)
    if named >= 0 and named >= other:
        gap = before[named:].strip(" \t:.|-#*")
        if len(gap) <= 25 and "." not in gap:
            return 4
    plain = _PLAIN.search(before)
    colon = max((match.end() for match in _PLAIN_LABEL.finditer(before)), default=-1)
    if (label or plain or colon >= 0) and other < 0:
        if plain or (label and re.search(r"\b(?:data|date|datum|fecha)\b", before)):
            return 3
        if colon >= 0 and len(before) - colon <= 25:
            return 3
    if label:
        return -1 if other >= 0 else None
    of = _OF.search(before)
    if of is not None and other < of.start():
        paper = _PAPER.search(before[: of.start()] if line is None else line)
        if _ABOUT.match(before if line is None else line):
            return -1
        if paper and paper.string[: paper.start()].count(" ") <= _FIRST_WORDS:
            return 3
        word = of[0].strip()
        if word not in {"il", "de", "of"} and near_top:
            between = before[: of.start()].rstrip()
            if word in {"li", "li'", "den"}:
                return 3 if between.endswith(",") or not between else None
            return 2 if other < 0 and (line or "").count(" ") <= _SHORT_LINE else None
    return -1 if other >= 0 else None


def _from_above(text: str, line_start: int, line_end: int, one: Found) -> str | None:
    """The label that stands above a date: the line above it, or the cell of it in that column."""
    column_label = _from_column(text, line_start)
    if column_label is not None:
        return column_label
    at = line_start - 1
    for _ in range(2):
        if at <= 0:
            return None
        start = text.rfind("\n", 0, at) + 1
        above = text[start:at]
        if above.strip() and not re.fullmatch(r"[\s|:-]+", above):
            break
        at = start - 1
    else:
        return None
    if re.search(r":\s*\S", above) and "|" not in above and "\t" not in above:
        return None  # "To: Peter Collins" is a label with its value, and none of what is below
    labels = _CELLS.split(above.strip().strip("|").strip())
    line = text[line_start:line_end].strip().strip("|").strip()
    shift = line_start + text[line_start:line_end].find(line)
    cells, places = [], [0]
    for match in _CELLS.finditer(line):
        places.append(match.end())
        cells.append(match.start())
    column = sum(1 for place in places if place <= one.start - shift) - 1
    if len(labels) == len(places):
        return None if len(places) > 1 and _is_row(text, line_end, len(places)) else labels[column]
    if len(places) == 1 and len(above.strip()) <= 40:
        return above.strip()
    return None


def _from_column(text: str, line_start: int) -> str | None:
    """The label of a value where a PDF gives all labels of a form first, then all values.

    The first of at least two labels in a row, each a line that ends in a colon, is that of the
    first line below them, and so on; as many values must follow as there are labels.
    """
    above = [line.strip() for line in text[max(0, line_start - 1_000) : line_start].split("\n")]
    lines = [line for line in above if line]
    values = 0
    while values < len(lines) and not lines[-1 - values].endswith(":"):
        values += 1
    labels: list[str] = []
    while values + len(labels) < len(lines) and lines[-1 - values - len(labels)].endswith(":"):
        labels.append(lines[-1 - values - len(labels)])
    if len(labels) < 2 or values >= len(labels):
        return None
    below = [line for line in text[line_start : line_start + 1_000].split("\n") if line.strip()]
    follow = next((n for n, line in enumerate(below) if line.rstrip().endswith(":")), len(below))
    return labels[::-1][values] if values + follow >= len(labels) else None


def _is_row(text: str, line_end: int, width: int) -> bool:
    """Whether the line below is one more row with a date: a column of them is nobody's date."""
    below = text[line_end + 1 : line_end + 2_000].split("\n", 1)[0].strip().strip("|").strip()
    return len(_CELLS.split(below)) == width and _DATE_LIKE.search(below) is not None


def _signed_on(text: str, language: str | None, last_year: int | None) -> Found | None:
    """``Roma, 3 marzo 2024`` on a line of its own at the end of a text."""
    begin = max(0, len(text) - _TAIL)
    tail = text[begin:]
    folded = fold(tail)
    for one in reversed(dates_in(tail, language, last_year=last_year)):
        start = folded.rfind("\n", 0, one.start) + 1
        end = folded.find("\n", one.end)
        after = folded[one.end : len(folded) if end < 0 else end]
        before = folded[start : one.start].rstrip()
        place = _PLACE.fullmatch(before.strip(" \t|*#>-") + " ")
        if (
            place
            and not after.strip(" .,;")
            and before.endswith((",", " li", " li'", " den", " le"))
            and not _OTHER.search(before)
            and (start > 0 or begin == 0)
        ):
            return Found(one.date, one.start + begin, one.end + begin, one.iso, one.sure)
    return None
