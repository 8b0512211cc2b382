"""Servers of models: on this machine, or elsewhere with the owner's consent by name.

Whatever is sent to one passes ``admit``: it looks for consent, keeps back what is private, and
tells of what leaves the machine.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

import httpx

from emily.errors import ModelUnavailable

__all__ = [
    "Sending",
    "admit",
    "check_consent",
    "confidential",
    "is_elsewhere",
    "is_loopback",
    "telling",
]

ServerRole = Literal["chat", "vision", "embedding", "reranking", "ocr"]


@dataclass(frozen=True, slots=True)
class Sending:
    """What is about to be sent to a server.

    Attributes:
        role: of the model.
        what: what it is asked for, in a word or two.
        characters: of text.
        bytes: of pictures.
        server: its name; ``admit`` fills it in.
    """

    role: ServerRole
    what: str
    characters: int = 0
    bytes: int = 0
    server: str = ""


# A task, and the threads that it sends work to, are at one document at a time.
_confidential: ContextVar[bool] = ContextVar("confidential", default=False)
_told: list[Callable[[Sending], None]] = []


@contextmanager
def confidential(private: bool = True) -> Iterator[None]:
    """Inside, nothing is sent to a server elsewhere: what is at hand is of a private document.

    Args:
        private: whether it is.
    """
    token = _confidential.set(private or _confidential.get())
    try:
        yield
    finally:
        _confidential.reset(token)


@contextmanager
def telling(recorder: Callable[[Sending], None]) -> Iterator[None]:
    """Have all that is sent to servers elsewhere told to a recorder, before it leaves.

    Args:
        recorder: called from whatever thread; what it raises keeps it from being sent.
    """
    _told.append(recorder)
    try:
        yield
    finally:
        _told.remove(recorder)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its name: ``localhost`` or a loopback address.

    A name is never looked up: what it leads to may change between the look and the use.
    """
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        # Knows a zone ("::1%lo") of IPv6 alone: in "127.0.0.1%.org" the sign belongs to a name.
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def is_elsewhere(url: str) -> bool:
    """Whether an address is not this machine's own; what cannot be understood is elsewhere."""
    try:
        return not is_loopback(urlsplit(url).hostname or "")
    except ValueError:
        return True


def admit(url: str, allowed: Sequence[str], setting: str, sending: Sending) -> None:
    """Let something go to a server, or refuse it; what goes elsewhere is told.

    Args:
        url, allowed, setting: as in ``check_consent``.
        sending: what is to be sent.

    Raises:
        ModelUnavailable: the owner has not consented to the server, or the document is private.
    """
    check_consent(url, allowed, setting)
    if not is_elsewhere(url):
        return
    host = (urlsplit(url).hostname or "").lower()
    if _confidential.get():
        raise ModelUnavailable(
            f"the document is private, and nothing of it is sent to {host!r} (setting {setting}), "
            "which is not on this machine"
        )
    for recorder in tuple(_told):
        recorder(Sending(sending.role, sending.what, sending.characters, sending.bytes, host))


def check_consent(url: str, allowed: Sequence[str], setting: str) -> None:
    """Refuse a server elsewhere that the owner has not named.

    Args:
        url: its address.
        allowed: names of hosts, from the setting ``allowed_servers``.
        setting: the setting that holds the address, for the message.

    Raises:
        ModelUnavailable: it is not on loopback and not among ``allowed``, or no address.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        parts.port  # noqa: B018 - raises for one that there cannot be
        httpx.URL(url)
    except (ValueError, httpx.InvalidURL) as error:
        raise ModelUnavailable(
            f"The address in the setting {setting} cannot be understood: {error}"
        ) from None
    if is_loopback(host) or host.lower() in {name.lower() for name in allowed}:
        return
    raise ModelUnavailable(
        f"The server {host!r} (setting {setting}) is not on this machine: what it is sent leaves "
        "it. If you consent to that, add its name to the setting allowed_servers "
        f'(now {list(allowed)}): allowed_servers = ["{host}"]'
    )
