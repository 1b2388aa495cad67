"""Figures that need a run: each run has a process, and an empty folder, of its own."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.house.source import Section

__all__ = ["run_figures"]

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = {
    "spinney grow": (),
    "spinney grow --recipe c4.5": ("--recipe", "c4.5"),
}


def run_figures(source: Path) -> dict[str, Section]:
    """Return the figures of all runs of the package that lies in ``source``."""
    return {
        "runs: modules, functions, depth of calls": followed(source),
        "loaded by a fresh process": loaded(source),
    }


def followed(source: Path) -> Section:
    """Return what each run enters."""
    names = child(source, "runs")
    return {name: child(source, "runs", name) for name in names}


def loaded(source: Path) -> Section:
    """Return what each command loads."""
    figures: Section = {}
    for command, options in COMMANDS.items():
        n_modules, heavy = child(source, "loaded", *options)
        figures[f"{command}, modules of Spinney"] = n_modules
        figures[f"{command}, heavy libraries"] = heavy
    return figures


def child(source: Path, program: str, *arguments: str) -> Any:
    """Run a program of this package on the source, and return what it printed."""
    command = [sys.executable, "-m", f"{__package__}.{program}", *arguments]
    path = os.pathsep.join([str(source), str(ROOT)])
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    return json.loads(done.stdout)
