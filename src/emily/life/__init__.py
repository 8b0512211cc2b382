"""The life of a document: notes, names, versions, the trash; and copies of the whole archive."""

from emily.life.service import Life

__all__ = ["Life"]
