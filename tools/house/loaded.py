"""Which modules a fresh ``spinney grow`` loads; its options are the arguments."""

import json
import sys

from tools.house.runs import growing

__all__ = ["HEAVY"]

HEAVY = ("sklearn", "scipy", "numba", "duckdb")


def main() -> None:
    """Print how many modules of Spinney were loaded, and which heavy libraries."""
    growing(*sys.argv[1:])()
    own = [name for name in sys.modules if name.split(".")[0] == "spinney"]
    heavy = [name for name in HEAVY if name in sys.modules]
    print(json.dumps([len(own), ", ".join(heavy) or "none"]))


if __name__ == "__main__":
    main()
