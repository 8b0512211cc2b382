"""The fixtures of the brain's tests serve the work's as well."""

from tests.integration.brain.conftest import brain, detector, folder, open_brain, reader, write

__all__ = ["brain", "detector", "folder", "open_brain", "reader", "write"]
