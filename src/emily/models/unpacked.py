"""Models kept unpacked for the next process.

Packages hold their models compressed, and inflating one takes most of a CPU-second, which every
fresh ``emily search`` would pay. A copy that is not compressed loads in some hundredths.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emily.errors import SettingError
from emily.settings import private_folder

__all__ = ["unpacked"]

Arrays = Mapping[str, NDArray[Any]]


def unpacked(path: Path | None, make: Callable[[], Arrays]) -> Arrays:
    """The arrays of a model: from the copy at ``path``, or made and then kept there.

    A copy that is missing, cut short or altered (each array has its CRC-32) is made again.

    Args:
        path: of the copy; its name must change with the model. ``None`` keeps nothing.
        make: unpacks the model.
    """
    if path is None:
        return make()
    try:
        with np.load(path, allow_pickle=False) as copy:
            return {name: copy[name] for name in copy.files}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        pass  # made again below
    arrays = make()
    with contextlib.suppress(OSError, SettingError):  # a full disk costs time, no more
        _keep(path, arrays)
    return arrays


def _keep(path: Path, arrays: Arrays) -> None:
    private_folder(path.parent)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]  # its options are names too
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
