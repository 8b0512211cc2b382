"""``python -m emily.cli``, the same as ``emily``."""

from emily.cli.program import main

if __name__ == "__main__":
    main()
