"""Which errors of the system may pass by themselves, so that it is worth trying again."""

from __future__ import annotations

import errno

__all__ = ["is_passing"]

# The disk is full, the device or the file server is away, no file can be opened.
_PASSING = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,  # a limit on the size of files
    errno.EIO,
    errno.EMFILE,
    errno.ENFILE,
    errno.EAGAIN,
    errno.EBUSY,
    errno.ENOMEM,
    errno.ESTALE,
    errno.ETIMEDOUT,
    errno.ENOTCONN,
    errno.EHOSTDOWN,
    errno.EHOSTUNREACH,
}


def is_passing(error: OSError) -> bool:
    """Whether it says that something is full, busy or away, and not that a file is wrong."""
    return isinstance(error, ConnectionError | TimeoutError) or error.errno in _PASSING
