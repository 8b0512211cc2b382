"""Emily: a second brain on its owner's machine.

``from emily import Brain`` opens it; see ``emily.brain``.
"""

from __future__ import annotations

# As of typing, which takes a fifth of the time that ``emily --help`` has.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from emily.brain import Brain, Filters, Progress, parse_filters

__all__ = ["Brain", "Filters", "Progress", "parse_filters"]


def __getattr__(name: str) -> Any:
    """Import the brain when it is asked for: ``emily --help`` needs none of it."""
    if name in __all__:
        from emily import brain

        return getattr(brain, name)
    raise AttributeError(f"module 'emily' has no attribute {name!r}")
