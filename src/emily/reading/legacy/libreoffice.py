"""LibreOffice, where it is installed: old Office files turned into new ones, in a folder apart."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from xml.sax.saxutils import escape

import psutil

from emily.errors import LimitExceeded, ReadingError, UnsupportedKind
from emily.reading.source import Source

__all__ = ["INSTALL", "convert", "program"]

INSTALL = (
    "Debian and Ubuntu: apt-get install libreoffice-writer-nogui libreoffice-impress-nogui; "
    "Fedora: dnf install libreoffice-writer libreoffice-impress; "
    "macOS: brew install --cask libreoffice; others: https://www.libreoffice.org/download"
)
"""How LibreOffice is installed, for messages."""

_PLACES = (
    "/Applications/LibreOffice.app/Contents/MacOS/soffice",
    "~/Applications/LibreOffice.app/Contents/MacOS/soffice",
    "/opt/homebrew/bin/soffice",
    "/usr/lib/libreoffice/program/soffice",
    "/usr/lib64/libreoffice/program/soffice",
    "/snap/bin/libreoffice",
    "C:/Program Files/LibreOffice/program/soffice.com",
    "C:/Program Files (x86)/LibreOffice/program/soffice.com",
)
_LOOK_EVERY = 0.1  # seconds
_GRACE = 3  # seconds for a process to go away once it is killed
_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000  # flags of unshare(2)

# Nothing of a file is run, and nothing that it links to is fetched: macros off, links never
# updated, and a proxy at a port where nobody listens for whatever would fetch all the same.
_SETTINGS = (
    ("Office.Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("Office.Common/Security/Scripting", "MacroSecurityLevel", "3"),
    ("Office.Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("Office.Common/Security/Scripting", "DisableActiveContent", "true"),
    ("Office.Common/Misc", "FirstRun", "false"),
    ("Office.Writer/Content/Update", "Link", "0"),
    ("Inet/Settings", "ooInetProxyType", "2"),
    ("Inet/Settings", "ooInetHTTPProxyName", "127.0.0.1"),
    ("Inet/Settings", "ooInetHTTPProxyPort", "9"),
    ("Inet/Settings", "ooInetHTTPSProxyName", "127.0.0.1"),
    ("Inet/Settings", "ooInetHTTPSProxyPort", "9"),
)


def program() -> Path | None:
    """Where LibreOffice is: on the path, or in the places where its installers put it."""
    for name in ("soffice", "libreoffice"):
        found = shutil.which(name)
        if found is not None:
            return Path(found)
    for place in _PLACES:
        path = Path(place).expanduser()
        if path.is_file() and os.access(path, os.X_OK):
            return path
    return None


def convert(source: Source, suffix: str, to: str) -> Path:
    """Convert a file. Nothing of it is run, nothing is fetched, and no setting of the owner's own
    LibreOffice is read or changed: it gets a profile for itself.

    Args:
        source: what to convert; its ``scratch`` takes what comes in between.
        suffix: what the file is, as its suffix, without a point.
        to: suffix of what it becomes, ``docx`` or ``pptx``.

    Returns:
        The converted file, in ``source.scratch``.

    Raises:
        UnsupportedKind: LibreOffice is not installed; the message says how to install it.
        LimitExceeded: it took longer, or more memory, than is left for the file.
        ReadingError: it could not read the file.
    """
    office = program()
    if office is None:
        raise UnsupportedKind(
            f"a {suffix} file is read by means of LibreOffice, which is not installed. {INSTALL}"
        )
    if source.scratch is None:
        raise AssertionError("a reader that converts needs a scratch folder")
    folder = Path(tempfile.mkdtemp(prefix="office-", dir=source.scratch))
    profile, results = folder / "profile", folder / "out"
    (profile / "user").mkdir(parents=True)
    (profile / "user" / "registrymodifications.xcu").write_text(_registry(), encoding="utf-8")
    results.mkdir()
    # A name of ours: one that begins with a dash or holds a wildcard would be an option.
    given = folder / f"file.{suffix}"
    shutil.copyfile(source.path, given)
    command = [
        str(office),
        f"-env:UserInstallation={profile.absolute().as_uri()}",
        "--headless", "--invisible", "--norestore", "--nologo", "--nolockcheck", "--nodefault",
        "--nofirststartwizard",
        "--convert-to", to, "--outdir", str(results), str(given),
    ]  # fmt: skip
    try:
        said = _run(command, folder, source)
    finally:
        shutil.rmtree(profile, ignore_errors=True)
        given.unlink(missing_ok=True)
    made = results / f"file.{to}"
    if not made.is_file() or not made.stat().st_size:  # its exit code is 0 all the same
        detail = f" ({said})" if said else ""
        raise ReadingError(f"LibreOffice could not read the {suffix} file{detail}")
    return made


def _registry() -> str:
    items = "".join(
        f'<item oor:path="/org.openoffice.{escape(path)}"><prop oor:name="{name}" oor:op="fuse">'
        f"<value>{value}</value></prop></item>"
        for path, name, value in _SETTINGS
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        '<oor:items xmlns:oor="http://openoffice.org/2001/registry" '
        'xmlns:xs="http://www.w3.org/2001/XMLSchema" '
        f'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">{items}</oor:items>'
    )


def _run(command: list[str], folder: Path, source: Source) -> str:
    """Run it to its end, the deadline or the memory limit; returns the last line that it said."""
    log = folder / "said"
    environment = {
        name: value
        for name in ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "SYSTEMROOT", "TZ")
        if (value := os.environ.get(name)) is not None
    } | {"HOME": str(folder), "TMPDIR": str(folder), "TEMP": str(folder), "TMP": str(folder)}
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        environment[name] = "http://127.0.0.1:9"
    most = _memory()
    with log.open("wb") as output:
        process = psutil.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            preexec_fn=_without_network(),
        )
        try:
            while True:
                with contextlib.suppress(psutil.TimeoutExpired, subprocess.TimeoutExpired):
                    process.wait(_LOOK_EVERY)
                    break
                if source.late():
                    raise LimitExceeded(
                        "LibreOffice took longer than the time that is left for the file "
                        f"({source.seconds} s, setting reading_seconds)"
                    )
                if most is not None and _held(process) > most:
                    raise LimitExceeded(
                        "LibreOffice took more memory than is allowed (setting reading_memory_mb)"
                    )
        finally:
            _end(process)
    lines = log.read_bytes()[-4000:].decode(errors="replace").splitlines()
    said = [line.strip() for line in lines if "javaldx" not in line and line.strip()]
    return said[-1][:200].replace(str(folder), "") if said else ""


def _family(process: psutil.Process) -> list[psutil.Process]:
    """A process and what it started: the program is a script that starts a script."""
    with contextlib.suppress(psutil.Error):
        return [process, *process.children(recursive=True)]
    return [process]


def _held(process: psutil.Process) -> int:
    """Memory that a process and what it started hold, bytes."""
    held = 0
    for member in _family(process):
        with contextlib.suppress(psutil.Error):
            held += int(member.memory_info().rss)
    return held


def _end(process: psutil.Popen) -> None:
    """Kill what still runs. Not by its group: it stays in the worker's, so that whoever kills
    the worker kills it too."""
    family = _family(process)
    for member in family:
        with contextlib.suppress(psutil.Error):
            member.kill()
    psutil.wait_procs(family, timeout=_GRACE)
    with contextlib.suppress(subprocess.TimeoutExpired, psutil.TimeoutExpired):
        process.wait(_GRACE)


def _memory() -> int | None:
    """The limit that this process has, bytes; it is inherited, but macOS does not keep it."""
    if sys.platform == "win32":
        return None
    import resource

    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if most == resource.RLIM_INFINITY else most


def _without_network() -> Callable[[], None] | None:
    """On Linux, what takes the network away from a process that is about to start.

    The kernel may not allow it (a container, a hardened system): the settings have to do then.
    """
    if sys.platform != "linux":
        return None
    unshare: Iterable[int] = (_NEW_NETWORK, _NEW_USER | _NEW_NETWORK)
    library = ctypes.CDLL(None, use_errno=True)

    def apart() -> None:
        for flags in unshare:
            if library.unshare(flags) == 0:
                return

    return apart
