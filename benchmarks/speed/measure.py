"""Seconds, bytes and quality of one program on one table."""

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.speed.data import Data
from benchmarks.speed.programs import THREADS, Program, versions

from spinney._support.peak_memory import peak_memory_of

__all__ = [
    "Line",
    "fitted",
    "impurity",
    "in_child",
    "machine",
    "peak_memory_of",
    "quality",
    "timed",
]

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Line:
    """The time and memory of a program, and its accuracy.

    ``cold`` is the first run in this process: it loads libraries and, for Spinney,
    loads or compiles machine code. ``warm`` are those after it. ``peak`` is how many
    bytes were resident at the peak of the first warm run beyond those before it.
    """

    program: str
    cold: float | None = None
    warm: list[float] = field(default_factory=list)
    quality: float | None = None
    peak: int | None = None
    note: str = ""

    @property
    def median(self) -> float | None:
        """The median of the warm runs."""
        return statistics.median(self.warm) if self.warm else None


def timed(name: str, work: Callable[[], Any], repeats: int, limit: float) -> Line:
    """Run a piece of work once cold and then warm.

    One warm run there always is; no other begins when ``limit`` seconds have passed.
    """
    began = time.perf_counter()
    line = Line(name, _seconds(work))
    line.peak = peak_memory_of(lambda: line.warm.append(_seconds(work)))
    while len(line.warm) < repeats and time.perf_counter() - began < limit:
        line.warm.append(_seconds(work))
    if len(line.warm) < repeats:
        line.note = f"{len(line.warm)} of {repeats} warm runs"
    return line


def fitted(
    program: Program, data: Data, repeats: int, limit: float
) -> tuple[Line, Any]:
    """Time the training of a program, and score it on held-out rows."""
    models: list[Any] = []
    cells = program.prepared(data.cells, data.labels)

    def fit() -> None:
        models[:] = [program.model(data.n_classes).fit(cells, data.labels)]

    line = timed(program.name, fit, repeats, limit)
    model, judged = models[0], data
    if data.part is not None:
        judged = data.part
        model = program.model(data.n_classes).fit(judged.cells, judged.labels)
    line.quality = quality(judged, model.predict(judged.held_cells))
    return line, models[0]


def quality(data: Data, predicted: np.ndarray) -> float:
    """Return the accuracy on held-out rows, or R²."""
    if data.n_classes:
        return float(np.mean(np.asarray(predicted) == data.held_labels))
    rest = data.held_labels - predicted
    return float(1 - (rest @ rest) / (np.var(data.held_labels) * len(rest)))


def impurity(model: Any, data: Data) -> float:
    """Return the mean Gini index or variance in the leaves, over the training rows.

    A leaf's shares are what it tells of each of its rows, so the mean over rows of
    1 − Σ p² is the mean over leaves, each with the weight of its rows.
    """
    if data.n_classes:
        shares = np.asarray(model.predict_proba(data.cells), dtype=np.float64)
        return float(np.mean(1 - np.einsum("ij,ij->i", shares, shares)))
    rest = data.labels - np.asarray(model.predict(data.cells), dtype=np.float64)
    return float(np.mean(rest * rest))


def in_child(request: dict[str, Any], **environment: str) -> dict[str, Any]:
    """Ask a fresh process; see :mod:`benchmarks.speed.child`."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.speed.child", json.dumps(request)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        msg = f"{request} failed in a fresh process:\n{done.stderr[-2000:]}"
        raise RuntimeError(msg)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    answer["said"] = done.stderr.strip()
    return answer


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    return {
        "platform": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": THREADS,
        "python": platform.python_version(),
        "versions": versions(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
    }


def _seconds(work: Callable[[], Any]) -> float:
    """Return how long a piece of work takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _processor() -> str:
    """Return the name of the processor, if the system tells."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor()
    names = [line for line in text.splitlines() if line.startswith("model name")]
    return names[0].split(":", 1)[1].strip() if names else platform.processor()
