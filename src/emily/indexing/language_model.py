"""The model of py3langid, restricted to some languages."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emily.errors import SettingError
from emily.models.unpacked import unpacked

__all__ = ["load_identifier"]


def load_identifier(languages: tuple[str, ...], cache: Path | None) -> Any:
    """An identifier for these languages, with normalised probabilities.

    Args:
        languages: ISO 639-1 codes.
        cache: folder for the unpacked model; ``None`` unpacks it anew.

    Raises:
        SettingError: a language is not known to the model.
    """
    from py3langid.langid import LanguageIdentifier

    path = None
    if cache is not None:
        version = metadata.version("py3langid")
        path = cache / f"language-{version}-{'-'.join(sorted(languages))}.npz"
    data = unpacked(path, lambda: _restricted(languages))
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


def _restricted(languages: tuple[str, ...]) -> Mapping[str, NDArray[Any]]:
    """The arrays that identify these languages."""
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
    return {
        "ptc": identifier.nb_ptc,
        "pc": identifier.nb_pc,
        "classes": np.array(identifier.nb_classes),
        "nextmove": np.array(identifier.tk_nextmove, dtype=np.uint32),
        "row": np.array(identifier.tk_row, dtype=np.uint32),
        "output": np.array(identifier.tk_output, dtype=np.int32),
    }
