"""The amount that a paper is about: the total of an invoice, as the paper writes it."""

from __future__ import annotations

import re
from typing import Final

from emily.indexing.dates import fold
from emily.indexing.figures import values_of

__all__ = ["total_amount"]

_CURRENCY = r"(?:€|\$|£|¥|CHF|EUR|USD|GBP|euro|Euro|EURO)"
_NUMBER = r"\d{1,3}(?:[.,'’ ]\d{3})*(?:[.,]\d{2})?(?!\d)|\d+(?:[.,]\d{2})?(?!\d)"
_AMOUNT = re.compile(
    rf"(?<![\w.,])(?:{_CURRENCY}\s?(?:{_NUMBER})|(?:{_NUMBER})\s?{_CURRENCY}(?!\w))"
)
_BARE = re.compile(r"(?<![\w.,])\d{1,3}(?:[.,'’ ]\d{3})*[.,]\d{2}(?![\w.,])")
_DIGITS = re.compile(r"\d[\d.,'’ ]*")

# What a total is called, the surest first; folded.
_LABELS: Final = (
    r"(?:total|amount|balance) (?:amount )?(?:due|payable|to pay)|totale (?:da pagare|documento"
    r"|fattura|complessivo|dovuto)|importo (?:da pagare|totale|complessivo|dovuto)|netto a pagare"
    r"|da pagare|grand total|gesamtbetrag|zu zahlen|endbetrag|total ttc|net a payer|a pagar",
    r"totale?|total|summe|gesamt",
    r"amount|importo|betrag|montant|importe|canone|premio|premium",
)


def total_amount(text: str, *, without_label: bool) -> str | None:
    """The amount that a paper is about, as it writes it, such as ``€ 120.00``.

    It is the last one on a line that calls it the total, or on the line below a label that stands
    alone; the surest label counts.

    Args:
        text: of the document.
        without_label: whether, where nothing is called the total, the largest amount with a
            currency will do; for papers that are about one.

    Returns:
        the amount with its currency where it has one; ``None`` where there is none.
    """
    lines = text.split("\n")
    folded = [fold(line) for line in lines]
    for pattern in _LABELS:
        label = re.compile(rf"(?<![^\W_])(?:{pattern})(?![^\W_])")
        for at in range(len(lines) - 1, -1, -1):
            match = label.search(folded[at])
            if match is None or len(lines[at]) > 200:
                continue
            found = _last(lines[at][match.end() :])
            if found is None and not re.search(r"\w", folded[at][match.end() :]):
                found = _last(lines[at + 1]) if at + 1 < len(lines) else None
            if found is not None:
                return found
    if without_label:
        amounts = [" ".join(match[0].split()) for match in _AMOUNT.finditer(text)]
        return max(amounts, key=_value, default=None)
    return None


def _last(line: str) -> str | None:
    """The last amount on a line; one without a currency needs decimals."""
    amounts = [*_AMOUNT.finditer(line)] or [*_BARE.finditer(line)]
    return " ".join(amounts[-1][0].split()) if amounts else None


def _value(amount: str) -> float:
    digits = _DIGITS.search(amount)
    if digits is None:
        return 0.0
    written = digits[0].strip().replace(" ", "'")
    values = values_of(written) or [written]
    try:
        return max(map(float, values))
    except ValueError:
        return 0.0
