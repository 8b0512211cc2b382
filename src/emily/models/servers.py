"""Servers of models: on this machine, or elsewhere with the owner's consent by name."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from urllib.parse import urlsplit

import httpx

from emily.errors import ModelUnavailable

__all__ = ["check_consent", "is_loopback"]


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
