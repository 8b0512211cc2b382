"""The errors that Emily raises on purpose, each with the sentence that the user reads.

    EmilyError
    ├── InputError              what the user gave cannot be used
    │   ├── SettingError        a setting has a value outside its bounds
    │   ├── UnknownDocument     no document goes by that id, name or path
    │   └── AmbiguousDocument   several documents go by that name
    ├── ReadingError            a file could not be read; it is recorded against that file
    │   ├── PasswordRequired    the file opens only with a password
    │   ├── UnsupportedKind     no reader for this kind of content
    │   ├── EmptyDocument       the file was read and holds no text
    │   └── LimitExceeded       the file ran into a limit of time, memory or size
    ├── StoreError              the database is missing, unreachable or not fit
    │   └── StoreUnavailable    the database cannot be reached now
    └── ModelError              a model cannot be used
        ├── AnswerError         a chat model's answer is of no use
        ├── ModelUnavailable    a model cannot be loaded
        ├── ModelMismatch       the index was made by another model
        ├── QuestionTooLong     a question leaves a reranker no room for a passage
        └── VectorError         a model returned NaN, infinity or a zero vector

A message states the fact, the value seen, the values allowed and the command that helps.
The command line prints it without a traceback and exits with code 1.
"""

from __future__ import annotations

__all__ = [
    "AmbiguousDocument",
    "AnswerError",
    "EmilyError",
    "EmptyDocument",
    "InputError",
    "LimitExceeded",
    "ModelError",
    "ModelMismatch",
    "ModelUnavailable",
    "PasswordRequired",
    "QuestionTooLong",
    "ReadingError",
    "SettingError",
    "StoreError",
    "StoreUnavailable",
    "UnknownDocument",
    "UnsupportedKind",
    "VectorError",
]


class EmilyError(Exception):
    """Base of every error that Emily raises on purpose; its text is for the user."""


class InputError(EmilyError):
    """What the user gave cannot be used."""


class SettingError(InputError):
    """A setting has a name that does not exist or a value outside its bounds."""


class UnknownDocument(InputError):
    """No document goes by that id, name or path."""


class AmbiguousDocument(InputError):
    """Several documents go by that name; the message lists their ids."""


class ReadingError(EmilyError):
    """A file could not be read. It concerns that file alone; the others go on."""


class PasswordRequired(ReadingError):
    """The file opens only with a password."""


class UnsupportedKind(ReadingError):
    """There is no reader for this kind of content."""


class EmptyDocument(ReadingError):
    """The file was read and holds no text at all."""


class LimitExceeded(ReadingError):
    """Reading the file ran into a limit of time, memory or size."""


class StoreError(EmilyError):
    """The database is missing a part, is of a wrong version or refused a statement."""


class StoreUnavailable(StoreError):
    """The database cannot be started or reached now."""


class ModelError(EmilyError):
    """A model cannot be used."""


class AnswerError(ModelError):
    """A chat model answered, and the answer is of no use: asking again would not help."""


class ModelUnavailable(ModelError):
    """A model cannot be loaded: files missing, checksum wrong, golden pair failed."""


class ModelMismatch(ModelError):
    """The index holds vectors of another model than the one that is set."""


class QuestionTooLong(ModelError):
    """A question is so long that a reranker has no room for a passage beside it."""


class VectorError(ModelError):
    """A model returned a vector with NaN, infinity or only zeros."""
