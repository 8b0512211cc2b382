"""The reading room: a file becomes numbered pages of text.

The way in is ``emily.reading.reader.Reader``; nothing is imported here, because the worker
process passes through and must start fast.
"""
