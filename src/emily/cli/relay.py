"""A command handed to the server of its home, if one runs: its models are loaded already.

This imports next to nothing, for it is all that such a command takes to start. What the server
prints for the command comes back as it is, with its exit code. Where there is no server, or one
that must not be used, the program works alone.
"""

from __future__ import annotations

import os
import sys

# As of typing, which takes longer to import than the rest.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

__all__ = ["RELAYED", "parse", "relayed"]

RELAYED = frozenset(
    {
        "add",
        "alerts",
        "ask",
        "get",
        "jobs",
        "list",
        "pin",
        "pins",
        "queries",
        "reindex",
        "remove",
        "retry",
        "search",
        "show",
        "status",
        "summary",
        "watch",
        "why",
    }
)
"""Commands that a server runs for others. What asks at a terminal is not among them."""

# Options with which a command is for this process: it asks, it stays, it prints its own help.
_ALONE = {
    "": {"-h", "--help"},
    "add": {"--password", "--password-file"},
    "watch": {"--run"},
}
_ONLY_WITH = {"remove": {"-y", "--yes"}}
_CONNECT_SECONDS = 2.0
_TERMINAL = ("TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS")


def parse(arguments: Sequence[str]) -> tuple[str | None, list[str]] | None:
    """The home of ``--home``, and the command with its arguments; ``None`` if it is done here."""
    home, rest = None, list(arguments)
    while rest and rest[0].startswith("-"):
        first = rest.pop(0)
        if first == "--home" and rest:
            home = rest.pop(0)
        elif first.startswith("--home="):
            home = first.partition("=")[2]
        else:  # --verbose is about this process, --help and --version about the program
            return None
    if not rest or rest[0] not in RELAYED:
        return None
    command, given = rest[0], set()
    for item in rest[1:]:
        if item == "--":
            break
        given.add(item.partition("=")[0] if item.startswith("--") else item)
    if given & (_ALONE[""] | _ALONE.get(command, set())):
        return None
    if command in _ONLY_WITH and not given & _ONLY_WITH[command]:
        return None
    return home, rest


def relayed(arguments: Sequence[str]) -> int | None:
    """Have the server of the home run a command.

    Args:
        arguments: of the program.

    Returns:
        its exit code; ``None`` where the program has to do it alone.

    Raises:
        KeyboardInterrupt: Ctrl-C before the server had the command.
        BrokenPipeError: whoever read the output has gone.
    """
    parsed = parse(arguments)
    if parsed is None or sys.platform == "win32":
        return None
    home, command = parsed
    folder = _home(home)
    if folder is None:
        return None
    server = _described(folder)
    if server is None:
        return None
    request = {
        "version": _version(),
        "home": folder,
        "arguments": command,
        "folder": _here(),
        "environment": _environment(),
        "terminal": {
            "out": os.isatty(1),
            "err": os.isatty(2),
            "encoding": sys.stdout.encoding or "utf-8",
            "environment": {key: os.environ[key] for key in _TERMINAL if key in os.environ},
            "columns": _columns(),
        },
    }
    return _run(server, request)


def _home(given: str | None) -> str | None:
    folder = os.environ.get("EMILY_HOME") if given is None else given
    if given == "":
        return None
    if not folder:
        import platformdirs

        folder = platformdirs.user_data_dir("emily", appauthor=False)
    return os.path.realpath(os.path.expanduser(folder))  # noqa: PTH111


def _described(folder: str) -> dict[str, Any] | None:
    """What a server of this home wrote of itself; ``None`` if there is none of ours."""
    import json

    try:
        descriptor = os.open(os.path.join(folder, "serve", "server.json"), os.O_RDONLY)  # noqa: PTH118
    except OSError:
        return None
    with open(descriptor, encoding="utf-8") as file:  # noqa: PTH123 - a descriptor
        if os.fstat(descriptor).st_uid != os.geteuid():
            return None
        try:
            found = json.load(file)
        except ValueError:
            return None
    return found if isinstance(found, dict) and isinstance(found.get("socket"), str) else None


def _version() -> str:
    from emily.version import VERSION

    return VERSION


def _here() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:  # it was removed
        return None


def _environment() -> dict[str, str]:
    """The variables that are settings; the home is told apart."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith("EMILY_") and name not in ("EMILY_HOME", "EMILY_BENCH_DATA")
    }


def _columns() -> int | None:
    for descriptor in (1, 2, 0):
        try:
            return os.get_terminal_size(descriptor).columns
        except OSError:
            continue
    return None


def _run(server: dict[str, Any], request: dict[str, Any]) -> int | None:
    import socket

    name = f"The server of this home (process {server.get('pid')})"
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with connection:
        connection.settimeout(_CONNECT_SECONDS)
        try:
            connection.connect(server["socket"])
        except OSError:  # it was killed: its socket is stale
            return None
        if not _ours(connection):
            sys.stderr.write(f"emily: {name} runs as another user; it is not used.\n")
            return None
        connection.settimeout(None)
        try:
            _send(connection, "/v1/command", request)
            answer = connection.makefile("rb")
            status = _status(answer)
            if status != 200:
                reason = _reason(answer.read(), status)
                sys.stderr.write(f"emily: {name} is not used: {reason}\n")
                return None
        except OSError as error:
            sys.stderr.write(f"emily: {name} is not used: {error}\n")
            return None
        code = _follow(server, answer)
    if code is None:
        sys.stderr.write(
            f"emily: {name} ended before the command did. Run the command again; what was "
            "finished is kept.\n"
        )
        return 1
    return code


def _ours(connection: Any) -> bool:
    """Whether the other end is a process of this user (or cannot be told)."""
    import socket
    import struct

    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, option, 12))
    return bool(user == os.geteuid())


def _send(connection: Any, path: str, request: dict[str, Any]) -> None:
    """Send by HTTP 1.0: the answer ends with the connection."""
    import json

    body = json.dumps(request).encode("ascii")
    connection.sendall(
        f"POST {path} HTTP/1.0\r\nHost: emily\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n".encode("ascii")
        + body
    )


def _status(answer: Any) -> int:
    """The status of an answer whose head is read."""
    parts = answer.readline().split()
    while answer.readline().strip():
        pass
    return int(parts[1]) if len(parts) > 1 and parts[1].isdigit() else 0


def _reason(body: bytes, status: int) -> str:
    import json

    try:
        return str(json.loads(body)["reason"])
    except (ValueError, KeyError, TypeError):
        return f"it answered with status {status}."


def _follow(server: dict[str, Any], answer: Any) -> int | None:
    """Print what comes; the exit code, ``None`` if the connection ends before it."""
    code, number, interrupted = None, None, False
    events = _events(answer)
    while True:
        try:
            event = next(events, None)
            if event is None:
                return code
            number = event.get("command", number)
            code = event.get("exit", code)
            if "out" in event:
                sys.stdout.write(event["out"])
                sys.stdout.flush()
            if "err" in event:
                sys.stdout.flush()
                sys.stderr.write(event["err"])
                sys.stderr.flush()
        except KeyboardInterrupt:
            if interrupted or number is None:
                raise
            interrupted = True  # the command says what it finished, and ends
            _interrupt(server, number)


class _events:  # noqa: N801 - a generator that a KeyboardInterrupt does not end
    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self

    def __next__(self) -> dict[str, Any]:
        import json

        try:
            line = self._answer.readline()
            event = json.loads(line)
        except (OSError, ValueError):
            raise StopIteration from None
        if not isinstance(event, dict):
            raise StopIteration
        return event


def _interrupt(server: dict[str, Any], number: int) -> None:
    import socket

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_CONNECT_SECONDS)
        try:
            connection.connect(server["socket"])
            _send(connection, f"/v1/command/{number}/interrupt", {})
            connection.recv(1024)
        except OSError:
            pass  # it has ended
