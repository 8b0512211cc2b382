"""``python -m benchmarks``: all measurements that need no more than the repository and its data.

python -m benchmarks                       # the two of speed; quality where data is there
python -m benchmarks NAME [OPTION ...]     # one of them; --help tells its options
"""

from __future__ import annotations

import sys
from importlib import import_module

NAMES = (
    "index_speed", "search_speed", "public_sets", "fit_gate", "reading", "reading_outcomes",
    "reading_speed", "scans", "growth", "arms_growth", "peers", "reranker_cost",
    "quality", "categories", "summaries", "descriptions", "serving", "vaults",
    "vault_budget", "vault_walk", "vault_graph", "vault_lite", "memory", "ask_pools",
)  # fmt: skip
USUAL = ("index_speed", "search_speed", "public_sets")  # fit_gate writes files


def main(arguments: list[str]) -> int:
    """Run one measurement or the usual ones; the exit code."""
    if arguments and arguments[0] not in NAMES:
        print(f"There is no benchmark '{arguments[0]}'. Benchmarks: {', '.join(NAMES)}")
        return 2
    for name in arguments[:1] or USUAL:
        print(f"\n## {name}", flush=True)
        try:
            import_module(f"benchmarks.{name}").main(arguments[1:])
        except SystemExit as end:
            if arguments:
                raise
            print(f"{name} was left out: {end}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
