"""Whether a text is JSON, XML or a table of separated values, whatever its name says.

Each test takes the whole file, or all of it that is looked at: a text that merely begins with a
brace or an angle bracket stays a text.
"""

from __future__ import annotations

import csv
import json
import re
import statistics

from lxml import etree

from emily.reading.encodings import decode_text

__all__ = ["is_json", "is_separated", "is_xml"]

_OPENS = re.compile(rb'\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|\})|\[\s*(?:[\[{"\d\]-]|true|false|null)')
_LEAST_LINES = 2  # objects, one a line, from which they are JSON lines
_MOST_LINES = 50  # of them that are looked at
_ROOT = re.compile(rb"(?:<!--.*?-->\s*)*<([A-Za-z_][\w.:-]*)[\s/>]", re.DOTALL)
_LEAST_ROWS = {"\t": 3, ";": 3, ",": 4, "|": 3}  # sentences have commas too
_LEAST_CELLS = {"\t": 2, ";": 3, ",": 3, "|": 3}
_MOST_ROWS = 2_000  # that are looked at
_STOPS = (".", "!", "?", ":", ";", ",")
_LONGEST_CELL = 200  # characters
_LONG_CELL = 40  # characters that cells have on average, at most


def is_json(data: bytes, whole: bool) -> bool:
    """Whether a text is one JSON object or list, or several objects on a line each.

    Args:
        data: the file or its beginning, without a byte order mark.
        whole: whether it is all of the file. Of a larger one the beginning alone is looked at.
    """
    given = data.strip()
    if not _OPENS.match(given):
        return False
    if not whole:
        return True
    text = decode_text(given)[0].lstrip("\ufeff")
    if given[-1:] in {b"}", b"]"}:
        try:
            json.loads(text, strict=False)
        except ValueError:
            pass
        except RecursionError:  # it is JSON so far; its reader says that it is too deep
            return True
        else:
            return True
    lines = [line for line in text.splitlines() if line.strip()][:_MOST_LINES]
    return len(lines) >= _LEAST_LINES and all(map(_is_object, lines))


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line, strict=False), dict)
    except (ValueError, RecursionError):
        return False


def is_xml(data: bytes) -> bool:
    """Whether a text without the declaration of XML is one well-formed element all the same.

    Args:
        data: the file, without a byte order mark.
    """
    given = data.strip()
    root = _ROOT.match(given)
    if root is None or not given.endswith(b"</" + root[1] + b">"):
        return False
    try:  # there is no DOCTYPE before the root, hence no entity to unfold
        etree.fromstring(given, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return False
    return True


def is_separated(data: bytes, whole: bool) -> bool:
    """Whether a text is rows of equally many short values, parted by a tab, ``;``, ``,`` or ``|``.

    A row of headings comes first: none is empty and no two are alike.

    Args:
        data: the file or its beginning.
        whole: whether it is all of the file; else its last line is left out, which may be cut.
    """
    lines = decode_text(data)[0].splitlines()
    if not whole:
        lines = lines[:-1]
    lines = [line for line in lines if line.strip()][:_MOST_ROWS]
    return any(
        len(lines) >= least
        and lines[0].count(mark) + 1 >= _LEAST_CELLS[mark]
        and _even(lines, mark)
        for mark, least in _LEAST_ROWS.items()
    )


def _even(lines: list[str], mark: str) -> bool:
    try:
        rows = list(csv.reader((f"{line}\n" for line in lines), delimiter=mark))
    except csv.Error:
        return False
    head = [cell.strip() for cell in rows[0]]
    if len(rows) < _LEAST_ROWS[mark] or not all(head) or len(set(head)) < len(head):
        return False
    if any(len(row) != len(head) for row in rows) or len(head) < _LEAST_CELLS[mark]:
        return False
    if 4 * sum(line.rstrip().endswith(_STOPS) for line in lines) > len(lines):  # sentences
        return False
    sizes = [len(cell.strip()) for row in rows for cell in row]
    return max(sizes) <= _LONGEST_CELL and statistics.fmean(sizes) <= _LONG_CELL
