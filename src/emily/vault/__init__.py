"""Vaults: folders of Markdown notes whose files stay the truth.

Nothing is imported here. The modules that ``emily lite`` is made of import the standard library
only, and run from a checkout with ``python -I -S``.
"""
