"""Why another reader is better on a file, where it is; the benchmark groups by it.

A reason belongs to files by the end of their path. What has none is shown as not explained.
"""

from __future__ import annotations

__all__ = ["REASONS", "reason_of"]

UNEXPLAINED = "Not explained"

REASONS: dict[str, tuple[str, ...]] = {}


def reason_of(name: str) -> str:
    """The reason for a file, by its path in the folder of files."""
    for reason, ends in REASONS.items():
        if name.endswith(ends):
            return reason
    return UNEXPLAINED
