"""The model of py3langid, restricted to some languages and kept unpacked for the next process.

The package holds it compressed; unpacking takes most of a CPU-second, which every fresh
``emily search`` would pay for the language of one question. What is restricted to the indexed
languages and not compressed loads in some hundredths.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import zipfile
from array import array
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from emily.errors import SettingError

__all__ = ["load_identifier"]


def load_identifier(languages: tuple[str, ...], cache: Path | None) -> Any:
    """An identifier for these languages, with normalised probabilities.

    Args:
        languages: ISO 639-1 codes.
        cache: folder for the unpacked model; ``None`` unpacks it anew.

    Raises:
        SettingError: a language is not known to the model.
    """
    if cache is None:
        return _unpack(languages)
    version = metadata.version("py3langid")
    path = cache / f"language-{version}-{'-'.join(sorted(languages))}.npz"
    # A file that is missing, cut short or of another layout is made again.
    with contextlib.suppress(OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return _load(path)
    identifier = _unpack(languages)
    with contextlib.suppress(OSError):  # a cache on a full disk is no reason to fail
        _save(path, identifier)
    return identifier


def _unpack(languages: tuple[str, ...]) -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    known = sorted(set(identifier.labels))
    unknown = [code for code in languages if code not in known]
    if unknown:
        raise SettingError(
            f"Setting 'languages' has {', '.join(unknown)}, which cannot be detected. "
            f"Languages: {', '.join(known)}"
        )
    identifier.set_languages(languages)
    return identifier


def _save(path: Path, identifier: Any) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(
                file,
                ptc=identifier.nb_ptc,
                pc=identifier.nb_pc,
                classes=np.array(identifier.nb_classes),
                nextmove=np.frombuffer(identifier.tk_nextmove, dtype=np.uint32),
                row=np.array(identifier.tk_row, dtype=np.uint32),
                output=np.array(identifier.tk_output, dtype=np.int32),
            )
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _load(path: Path) -> Any:
    from py3langid.langid import LanguageIdentifier

    with np.load(path, allow_pickle=False) as data:
        nextmove = array("I")
        nextmove.frombytes(data["nextmove"].tobytes())
        return LanguageIdentifier(
            data["ptc"],
            data["pc"],
            data["classes"].tolist(),
            nextmove,
            data["output"].tolist(),
            norm_probs=True,
            tk_row=data["row"].tolist(),
        )
