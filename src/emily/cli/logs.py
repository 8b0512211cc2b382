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
    logger = logging.getLogger("emily")
    logger.handlers = [_StructuredHandler()]
    logger.setLevel(level)
    logger.propagate = False


class _StructuredHandler(logging.Handler):
    """Renders by structlog, which is imported with the first event: most runs log nothing."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one event to stderr."""
        if self.formatter is None:
            self.formatter = _formatter()
        try:
            sys.stderr.write(self.format(record) + "\n")
        except Exception:  # noqa: BLE001 - logging must not end what it tells of
            self.handleError(record)


def _formatter() -> logging.Formatter:
    import structlog

    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False),
        ],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            _harmless,
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()),
        ],
    )


def _harmless(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Values may quote file names; a terminal must not obey them."""
    return {
        key: one_line(value) if isinstance(value, str) and key != "exception" else value
        for key, value in event.items()
    }
