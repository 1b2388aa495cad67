"""The results of cells: saved, compared and shown as tables."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from benchmarks.speed import measure
from benchmarks.speed.outcome import OWN

from spinney._support.text_table import aligned

__all__ = [
    "HEADS",
    "Result",
    "compare",
    "keep",
    "markdown",
    "read",
    "rows_of",
    "seconds_text",
    "shown",
    "slowest_first",
]


@dataclass
class Result:
    """The result of a cell: the seconds of each program's runs, or why there are none.

    ``first`` is Spinney's first fit in the worker; ``runs`` are those after it, or all
    of a command. ``missed`` says that Spinney was not done, failed or had no table.
    ``ratio`` is its best run divided by ``reference``, the best of what is ``beside``.
    """

    name: str
    like: str = ""
    first: float | None = None
    runs: dict[str, list[float]] = field(default_factory=dict)
    missed: str = ""
    notes: list[str] = field(default_factory=list)
    beside: str = ""
    reference: float | None = None
    ratio: float | None = None

    def best(self) -> float | None:
        """Return the seconds of Spinney's shortest run."""
        return min(self.runs.get(OWN, ()), default=None)


def compare(results: list[Result]) -> None:
    """Set each ratio: to the fastest peer, or else to the cell that it is like."""
    by_name = {result.name: result for result in results}
    for result in results:
        known = {p: min(runs) for p, runs in result.runs.items() if runs}
        own = known.pop(OWN, None)
        like = by_name.get(result.like, Result(result.like)).best()
        if not known and like:
            known[result.like] = like
        if known:
            result.beside = min(known, key=lambda name: known[name])
            result.reference = known[result.beside]
            result.ratio = own / result.reference if own else None


def slowest_first(results: list[Result]) -> list[Result]:
    """Return cells that are not done, then by ratio; last those without one."""

    def rank(result: Result) -> tuple[float, float]:
        undone = result.missed.startswith("not done")
        return (inf if undone else result.ratio or 0.0), result.best() or 0.0

    return sorted(results, key=rank, reverse=True)


HEADS = ("cell", "spinney s", "runs", "first s", "beside s", "ratio", "beside", "")


def rows_of(results: Iterable[Result]) -> list[tuple[str, ...]]:
    """Return results as rows of texts, what is missing and what is noted last."""
    rows = []
    for result in results:
        numbers = (
            seconds_text(result.best()),
            str(len(result.runs.get(OWN, ())) or ""),
            seconds_text(result.first),
            seconds_text(result.reference),
            "" if result.ratio is None else f"{result.ratio:.2f}",
        )
        words = "; ".join(filter(None, [result.missed, *result.notes]))
        rows.append((result.name, *numbers, result.beside, words))
    return rows


def shown(results: Iterable[Result]) -> list[str]:
    """Return results as lines of a table."""
    return aligned([HEADS, *rows_of(results)], left=(0, 6, 7))


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """Return rows as a table of Markdown, so many columns of it to the left."""
    every = [heads, *rows]
    lines = ["| " + " | ".join(each) + " |" for each in every]
    marks = ["---" if at < left else "---:" for at in range(len(heads))]
    return "\n".join([lines[0], "|" + "|".join(marks) + "|", *lines[1:]])


def seconds_text(seconds: float | None) -> str:
    """Return seconds by three digits."""
    return "" if seconds is None else f"{seconds:#.3g}"


def keep(file: Path, results: Iterable[Result]) -> list[Result]:
    """Write results as JSON; those of other cells that the file has stay. Return all.

    The machine is that of the last run.
    """
    merged = {each.name: each for each in (read(file)[0] if file.is_file() else [])}
    merged.update({each.name: each for each in results})
    found = list(merged.values())
    compare(found)
    data = {"machine": measure.machine(), "cells": [asdict(each) for each in found]}
    file.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return found


def read(file: Path) -> tuple[list[Result], dict[str, Any]]:
    """Return the results of a file that :func:`keep` wrote, and the machine."""
    data = json.loads(file.read_text(encoding="utf-8"))
    return [Result(**each) for each in data["cells"]], data["machine"]
