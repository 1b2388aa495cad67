"""The results of a task: a line for each program, its limits and what it reached."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.speed.measure import Line

__all__ = ["OWN", "Bar", "Outcome", "kept", "read"]

OWN = "spinney"


@dataclass
class Bar:
    """The limits of a task, and its result."""

    must: str
    reached: str
    met: bool

    def __str__(self) -> str:
        missed = "" if self.met else " (missed)"
        return f"bar: {self.must}: reached {self.reached}{missed}"


@dataclass
class Outcome:
    """A task that was run.

    Parameters
    ----------
    name, title : str
        The task, short and in words.
    rows, columns : int
        The size of what was learnt from.
    full : bool
        Whether that is the size that the bars are about.
    measure : str
        What the column of quality holds.
    """

    name: str
    title: str
    rows: int
    columns: int
    full: bool
    measure: str = "accuracy"
    lines: list[Line] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    machine: dict[str, Any] = field(default_factory=dict)

    def median(self, program: str) -> float | None:
        """Return a program's seconds, None if it was not run."""
        found = [line for line in self.lines if line.program == program]
        return found[0].median if found else None

    def ratio(self, program: str) -> float | None:
        """Return how many times Spinney's seconds a program took."""
        own, other = self.median(OWN), self.median(program)
        return None if not own or other is None else other / own

    def faster(self, factor: float, *peers: str) -> None:
        """Ask that Spinney be so many times as fast as the fastest of some peers."""
        ratios = {peer: self.ratio(peer) for peer in peers}
        found = {peer: ratio for peer, ratio in ratios.items() if ratio is not None}
        if not found:
            return
        fastest = min(found, key=lambda peer: found[peer])
        asked = fastest if len(peers) == 1 else f"the fastest of {', '.join(found)}"
        reached = f"{found[fastest]:.3g}"
        if len(peers) > 1:
            reached += f" ({fastest})"
        met = found[fastest] >= factor
        self.bars.append(Bar(f">= {factor:g} x {asked}", reached, met))

    def as_good(self, less: float) -> None:
        """Ask that Spinney be no worse than the best peer, less a little."""
        own = [line.quality for line in self.lines if line.program == OWN]
        others = [
            line.quality
            for line in self.lines
            if not line.program.startswith(OWN) and line.quality is not None
        ]
        if own and own[0] is not None and others:
            gap = own[0] - max(others)
            must = f"{self.measure} >= the best peer's - {less:g}"
            self.bars.append(Bar(must, f"{gap:+.4f} of it", gap >= -less))

    def at_most(self, what: str, limit: float, reached: float, unit: str = "") -> None:
        """Ask that a figure be at most so much."""
        must = f"{what} <= {limit:g}{unit}"
        self.bars.append(Bar(must, f"{reached:.3g}{unit}", reached <= limit))


def read(path: Path) -> list[Outcome]:
    """Return the outcomes of a file that :func:`kept` wrote."""
    data = json.loads(path.read_text(encoding="utf-8"))
    found = []
    for entry in data["tasks"]:
        lines = [Line(**line) for line in entry.pop("lines")]
        bars = [Bar(**bar) for bar in entry.pop("bars")]
        found.append(Outcome(**entry, lines=lines, bars=bars))
    return found


def kept(path: Path, outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Write outcomes; those of other tasks that the file has stay. Return all."""
    merged = {entry.name: entry for entry in (read(path) if path.is_file() else [])}
    merged.update({entry.name: entry for entry in outcomes})
    data = {"tasks": [asdict(entry) for entry in merged.values()]}
    text = json.dumps(data, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
    return list(merged.values())
