"""Equations of Office files (OMML) in one line, as people type them: ``x^2``, ``(a+b)/c``."""

from __future__ import annotations

from collections.abc import Iterable

from lxml import etree

from emily.reading.office.ooxml import attribute, local

__all__ = ["linear"]

_PROPERTIES = frozenset({
    "rPr", "ctrlPr", "fPr", "sSupPr", "sSubPr", "sSubSupPr", "sPrePr", "radPr", "naryPr", "dPr",
    "funcPr", "limLowPr", "limUppPr", "accPr", "barPr", "eqArrPr", "mPr", "groupChrPr", "boxPr",
    "borderBoxPr", "phantPr", "oMathParaPr", "argPr", "del", "moveFrom",
})  # fmt: skip


def linear(element: etree._Element) -> str:
    """An equation, or a part of one, as text on one line.

    The notation is UnicodeMath's (M. Sargent, Unicode Technical Note 28) with plain brackets.
    """
    name = local(element)
    if name in {"t", "delText"}:
        return element.text or ""
    make = _FORMS.get(name)
    return make(element) if make else _inner(element)


def _inner(element: etree._Element) -> str:
    return "".join(linear(child) for child in element if local(child) not in _PROPERTIES)


def _part(element: etree._Element, name: str) -> str:
    found = next((child for child in element if local(child) == name), None)
    return "" if found is None else _inner(found).strip()


def _parts(element: etree._Element, name: str) -> Iterable[str]:
    return (_inner(child).strip() for child in element if local(child) == name)


def _property(element: etree._Element, name: str, default: str) -> str:
    """Value of a property that stands two levels down, such as ``dPr/begChr``."""
    for properties in element:
        if local(properties).endswith("Pr"):
            for child in properties:
                if local(child) == name:
                    return attribute(child, "val") or ""
    return default


def _grouped(text: str) -> str:
    """An operand: in brackets unless it is one word or number."""
    return text if text.isalnum() or len(text) < 2 else f"({text})"


def _fraction(element: etree._Element) -> str:
    return f"{_grouped(_part(element, 'num'))}/{_grouped(_part(element, 'den'))}"


def _scripts(element: etree._Element) -> str:
    sub, sup = _part(element, "sub"), _part(element, "sup")
    scripts = (f"_{_grouped(sub)}" if sub else "") + (f"^{_grouped(sup)}" if sup else "")
    if local(element) == "sPre":
        return f"{scripts} {_part(element, 'e')}"
    return _part(element, "e") + scripts


def _root(element: etree._Element) -> str:
    degree = _part(element, "deg")
    return f"{degree}√({_part(element, 'e')})"


def _nary(element: etree._Element) -> str:
    sub, sup = _part(element, "sub"), _part(element, "sup")
    sign = _property(element, "chr", "∫")
    scripts = (f"_{_grouped(sub)}" if sub else "") + (f"^{_grouped(sup)}" if sup else "")
    return f"{sign}{scripts} {_part(element, 'e')}"


def _delimited(element: etree._Element) -> str:
    separator = _property(element, "sepChr", "|")
    inner = separator.join(_parts(element, "e"))
    return _property(element, "begChr", "(") + inner + _property(element, "endChr", ")")


def _function(element: etree._Element) -> str:
    return f"{_part(element, 'fName')} {_part(element, 'e')}"


def _limit(element: etree._Element) -> str:
    mark = "_" if local(element) == "limLow" else "^"
    return f"{_part(element, 'e')}{mark}{_grouped(_part(element, 'lim'))}"


def _accent(element: etree._Element) -> str:
    return _part(element, "e") + _property(element, "chr", "\u0302")


def _array(element: etree._Element) -> str:
    return "; ".join(_parts(element, "e"))


def _matrix(element: etree._Element) -> str:
    rows = (", ".join(_parts(row, "e")) for row in element if local(row) == "mr")
    return f"[{'; '.join(rows)}]"


_FORMS = {
    "f": _fraction,
    "sSup": _scripts,
    "sSub": _scripts,
    "sSubSup": _scripts,
    "sPre": _scripts,
    "rad": _root,
    "nary": _nary,
    "d": _delimited,
    "func": _function,
    "limLow": _limit,
    "limUpp": _limit,
    "acc": _accent,
    "eqArr": _array,
    "m": _matrix,
}
