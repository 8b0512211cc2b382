"""Logs of the command line: structlog, to stderr, so that stdout holds the result alone."""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING

from emily.cli.plain import one_line
from emily.errors import SettingError

if TYPE_CHECKING:
    from structlog.typing import EventDict, WrappedLogger

__all__ = ["LEVELS", "configure_logs", "log_level"]

LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


def log_level(verbose: bool) -> int:
    """The level of ``EMILY_LOG``; without it ``info`` if ``verbose``, else ``warning``.

    Raises:
        SettingError: ``EMILY_LOG`` is not one of ``LEVELS``.
    """
    given = os.environ.get("EMILY_LOG", "").strip().lower()
    if not given:
        return LEVELS["info" if verbose else "warning"]
    if given not in LEVELS:
        raise SettingError(f"EMILY_LOG is {given!r}. Values: {', '.join(LEVELS)}.")
    return min(LEVELS[given], LEVELS["info"]) if verbose else LEVELS[given]


def configure_logs(level: int) -> None:
    """Send what is logged at ``level`` and above to stderr, one event a line."""
    import structlog

    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False),
            structlog.processors.format_exc_info,
            _harmless,
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )


def _harmless(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Values may quote file names; a terminal must not obey them."""
    return {
        key: one_line(value) if isinstance(value, str) and key != "exception" else value
        for key, value in event.items()
    }
