"""The store: PostgreSQL, embedded or given, with numbered migrations and named statements."""

from emily.store.database import Connection, Database, DatabaseDescription
from emily.store.failures import is_gone, is_refused_content
from emily.store.server import EmbeddedServer
from emily.store.statements import statement

__all__ = [
    "Connection",
    "Database",
    "DatabaseDescription",
    "EmbeddedServer",
    "is_gone",
    "is_refused_content",
    "statement",
]
