"""The first five minutes: README's commands on tables that it has not seen, timed.

    python -m benchmarks.first_minutes --data FOLDER [--tables glass,vote,penguins]

Each command is run in a fresh process, as a person runs it. The folder has a
``schema.json``, which names the target of each table. A command is said to be slow
where it takes longer than ``--most`` seconds, and the code of this script is then 1.
The first run of all may compile loops; ``spinney compile`` does that ahead.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from spinney._support.text_table import aligned

TABLES = "penguins,vehicle,auto_mpg"
MOST = 2.0


def commands(table: str, facts: dict[str, object]) -> Iterator[list[str]]:
    """Yield what README has one type, for a table."""
    target = str(facts["target"])
    yield ["look", table]
    yield ["grow", table, "--target", target, "-o", "m.spinney"]
    yield ["show", "m.spinney", "--max-depth", "1"]
    yield ["rules", "m.spinney"]
    yield ["explain", "m.spinney", "--node", "0"]
    yield ["explain", "m.spinney", "--row", table, "--row-number", "8"]
    yield ["predict", "m.spinney", table, "-o", "predictions.csv"]
    yield ["score", "m.spinney", table]
    yield ["info", "m.spinney"]
    yield ["grow", table, "--target", target, "--recipe", "c4.5", "--quiet"]
    yield ["forest", table, "--target", target]
    yield ["cluster", table, "--ignore", target, "--n-clusters", "3"]
    yield ["recipes", "c4.5"]


def timed(arguments: list[str], folder: str) -> tuple[float, int, str]:
    """Run a command; return its seconds, its code and its last line of talk."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "spinney", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        check=False,
    )
    talk = (done.stderr.strip().splitlines() or [""])[-1]
    return time.perf_counter() - began, done.returncode, talk


def main(arguments: list[str]) -> int:
    """Run the commands, print what each took, and return the code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.first_minutes", description=__doc__.splitlines()[0]
    )
    folder = os.environ.get("SPINNEY_DATA")
    parser.add_argument("--data", type=Path, default=folder and Path(folder))
    parser.add_argument("--tables", default=TABLES, help="names, with commas")
    parser.add_argument("--most", type=float, default=MOST, help="seconds a command")
    options = parser.parse_args(arguments)
    if options.data is None:
        print("left out: --data or SPINNEY_DATA names the folder of tables")
        return 0
    schema = json.loads((options.data / "schema.json").read_text(encoding="utf-8"))
    rows = [("table", "command", "seconds", "")]
    slow = 0
    for name in options.tables.split(","):
        path = next(options.data.glob(f"{name}.csv*")).resolve()
        with tempfile.TemporaryDirectory() as scratch:
            for words in commands(str(path), schema[name]):
                seconds, code, talk = timed(words, scratch)
                slow += seconds > options.most or code != 0
                said = "" if code == 0 else f"code {code}: {talk}"
                if seconds > options.most:
                    said = f"slow {said}"
                shown = " ".join(words).replace(str(path), path.name)
                rows.append((name, shown, f"{seconds:.2f}", said))
    print(*aligned(rows, left=(0, 1, 3)), sep="\n")
    print(f"{len(rows) - 1} commands, {slow} slow or failed")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
