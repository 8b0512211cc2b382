"""``python -m emily.cli``, the same as ``emily``."""

from emily.cli.app import main

if __name__ == "__main__":
    main()
