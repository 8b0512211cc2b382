"""The public surface of the store."""

from __future__ import annotations

import emily.store


def test_every_exported_name_exists() -> None:
    assert [name for name in emily.store.__all__ if not hasattr(emily.store, name)] == []
    assert sorted(emily.store.__all__) == list(emily.store.__all__)
