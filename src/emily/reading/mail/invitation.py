"""Calendar parts of mail (RFC 5545): what, when, where and who, as lines of text."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator

__all__ = ["event_lines"]

_MOST_EVENTS = 200
_MOST_GUESTS = 50
_STAMP = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(?:\d\d)?(Z?))?")
_NAME = re.compile(r'CN=(?:"([^"]*)"|([^;:"]*))', re.IGNORECASE)
_ESCAPE = re.compile(r"\\([\\;,nN])")
_LABELS = {"SUMMARY": "Event", "LOCATION": "Where", "DESCRIPTION": ""}


def event_lines(text: str, *, described: bool) -> list[str]:
    """The events of a calendar.

    Args:
        text: iCalendar, the lines of which may be folded.
        described: whether the event's description is wanted; a mail's own text repeats it.

    Returns:
        Lines such as ``Event: …``, ``When: 2026-03-02 09:00 – 10:00 Europe/Rome``; a blank line
        between events.
    """
    lines: list[str] = []
    for number, event in enumerate(_events(re.sub(r"\n[ \t]", "", text))):
        if number == _MOST_EVENTS:
            break
        shown = _shown(event, described=described)
        lines += ["", *shown] if lines and shown else shown
    return lines


def _events(text: str) -> Iterator[list[tuple[str, str, str]]]:
    """Properties of each event or task: name, parameters, value; those of alarms left out."""
    event: list[tuple[str, str, str]] | None = None
    inner = 0
    for line in text.split("\n"):
        head, _, value = _cut(line)
        name, _, given = head.partition(";")
        name = name.strip().upper()
        if name == "BEGIN" and value.strip().upper() in {"VEVENT", "VTODO"} and event is None:
            event, inner = [], 0
        elif event is not None and name == "BEGIN":
            inner += 1
        elif event is not None and name == "END" and inner:
            inner -= 1
        elif event is not None and name == "END":
            yield event
            event = None
        elif event is not None and not inner:
            event.append((name, given, _ESCAPE.sub(_unescape, value.strip())))
    if event:
        yield event


def _cut(line: str) -> tuple[str, str, str]:
    """A line at its colon; one between quotes belongs to a parameter."""
    quoted = False
    for at, character in enumerate(line[:2000]):
        if character == '"':
            quoted = not quoted
        elif character == ":" and not quoted:
            return line[:at], ":", line[at + 1 :]
    return line, "", ""


def _unescape(found: re.Match[str]) -> str:
    return "\n" if found[1] in "nN" else found[1]


def _shown(event: list[tuple[str, str, str]], *, described: bool) -> list[str]:
    held = {name: (given, value) for name, given, value in reversed(event)}
    lines = []
    if held.get("STATUS", ("", ""))[1].upper() == "CANCELLED":
        lines.append("Cancelled")
    if held.get("SUMMARY", ("", ""))[1]:
        lines.append(f"Event: {_line(held['SUMMARY'][1])}")
    when = _when(held)
    if when:
        lines.append(f"When: {when}")
    if held.get("LOCATION", ("", ""))[1]:
        lines.append(f"Where: {_line(held['LOCATION'][1])}")
    if "ORGANIZER" in held:
        lines.append(f"Organizer: {_person(*held['ORGANIZER'])}")
    guests = [_person(given, value) for name, given, value in event if name == "ATTENDEE"]
    if guests:
        more = f" and {len(guests) - _MOST_GUESTS} more" if len(guests) > _MOST_GUESTS else ""
        lines.append(f"Guests: {', '.join(guests[:_MOST_GUESTS])}{more}")
    if described and held.get("DESCRIPTION", ("", ""))[1].strip():
        lines += ["", *held["DESCRIPTION"][1].strip().split("\n")]
    return lines


def _line(text: str) -> str:
    return " ".join(text.split())


def _when(held: dict[str, tuple[str, str]]) -> str:
    start = _stamp(held.get("DTSTART") or held.get("DUE"))
    if not start:
        return ""
    end = _stamp(held.get("DTEND"))
    zone = re.search(r"TZID=\"?([^;:\"]+)", held.get("DTSTART", ("", ""))[0], re.IGNORECASE)
    if len(end) == 10 and len(start) == 10:  # of whole days the end is the day after
        last = (dt.date.fromisoformat(end) - dt.timedelta(days=1)).isoformat()
        end = last if last > start else ""
    elif end[:10] == start[:10]:
        end = end[11:]
    text = f"{start} – {end}" if end and end != start else start
    text += f" {_line(zone[1])}" if zone else ""
    rule = held.get("RRULE", ("", ""))[1]
    often = re.search(r"FREQ=(\w+)", rule)
    return f"{text}, {often[1].lower()}" if often else text


def _stamp(field: tuple[str, str] | None) -> str:
    """A date or a date and time in ISO 8601; an empty text for what is none."""
    found = _STAMP.match(field[1]) if field else None
    if found is None:
        return ""
    year, month, day, hour, minute, utc = found.groups()
    try:
        dt.datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0))
    except ValueError:
        return ""
    text = f"{year}-{month}-{day}"
    return f"{text} {hour}:{minute}{' UTC' if utc else ''}" if hour else text


def _person(given: str, value: str) -> str:
    found = _NAME.search(given)
    name = _line((found[1] or found[2] or "") if found else "")
    address = re.sub(r"(?i)^mailto:", "", value.strip())
    if not name or name == address:
        return address
    return f"{name} <{address}>" if "@" in address else name
