"""The lock of a server: who only looks does not keep one from starting."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from pathlib import Path

import pytest

from emily.cli.endpoint import endpoint, is_held
from emily.errors import StoreUnavailable


def test_a_look_is_waited_for_and_a_server_is_not(home: Path) -> None:
    home.mkdir()
    with endpoint(home):
        lock = home / "serve" / "lock"
        assert is_held(lock)
        with pytest.raises(StoreUnavailable, match="runs already"), endpoint(home):
            pass
    looking = os.open(lock, os.O_RDWR)
    fcntl.flock(looking, fcntl.LOCK_SH)

    def look_away() -> None:
        time.sleep(0.2)
        os.close(looking)

    looker = threading.Thread(target=look_away)
    looker.start()
    with endpoint(home):
        assert is_held(lock)
    looker.join()
