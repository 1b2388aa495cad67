"""Outcomes as text on the screen, and as Markdown in a page."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.speed.measure import Line
from benchmarks.speed.outcome import Outcome

__all__ = ["fill", "head", "machine_words", "markdown", "marks_of", "row", "tail"]

WIDTHS = (24, 9, 9, 11, 10, 10)


def machine_words(machine: dict[str, Any]) -> str:
    """Return what the figures depend on, in a line."""
    versions = ", ".join(f"{name} {v}" for name, v in machine["versions"].items())
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['threads']} "
        f"threads used, {machine['platform']}. "
        f"Versions: Python {machine['python']}, {versions}"
    )


def titles(outcome: Outcome) -> tuple[str, ...]:
    """Return the heads of the columns."""
    return ("", "cold s", "warm s", "× spinney", outcome.measure, "peak MiB")


def cells(outcome: Outcome, line: Line) -> tuple[str, ...]:
    """Return what the columns hold of a line; nothing where it was not measured."""
    ratio = outcome.ratio(line.program)
    return (
        line.program,
        "" if line.cold is None else f"{line.cold:.3f}",
        "" if not line.warm else f"{line.median:.4f}",
        "" if ratio is None else f"{ratio:.2f}",
        "" if line.quality is None else f"{line.quality:.4f}",
        "" if line.peak is None else f"{line.peak / 2**20:.1f}",
    )


def head(outcome: Outcome) -> str:
    """Return the title of a task and the heads of its columns."""
    size = f"{outcome.rows} rows × {outcome.columns} columns"
    title = f"[{outcome.name}] {outcome.title}, {size}, load {outcome.machine['load']}"
    return f"\n{title}\n{_aligned(titles(outcome))}"


def row(outcome: Outcome, line: Line) -> str:
    """Return a line of the table."""
    return f"{_aligned(cells(outcome, line))}  {line.note}".rstrip()


def tail(outcome: Outcome) -> str:
    """Return notes and bars."""
    lines = [f"note: {note}" for note in outcome.notes]
    lines += [f"{bar}{_size(outcome)}" for bar in outcome.bars]
    return "\n".join(lines)


def markdown(outcomes: Iterable[Outcome]) -> str:
    """Return outcomes as tables of a page: a row for each task, a column a program."""
    found = list(outcomes)
    machines = dict.fromkeys(machine_words(each.machine) for each in found)
    parts = [f"Measured on: {words}." for words in machines]
    loads = [each.machine["load"] for each in found]
    if loads:
        parts.append(f"Load of the machine at the start: {min(loads)} to {max(loads)}.")
    parts += [
        _matrix("### Seconds of a warm run", found, 2, variants=True),
        _matrix("### Accuracy, or R² for a numeric target", found, 4),
        _matrix("### Peak memory in MiB beyond the input", found, 5),
    ]
    bars = [
        f"| {each.name} | {bar.must} | "
        f"{bar.reached}{'' if bar.met else ' (missed)'}{_size(each)} |"
        for each in found
        for bar in each.bars
    ]
    if bars:
        heads = ["| task | required | reached |", "|---|---|---|"]
        parts.append("\n".join(["### Requirements", "", *heads, *bars]))
    notes: dict[str, list[str]] = {}
    for each in found:
        remarks = [f"{ln.program}: {ln.note}" for ln in each.lines if ln.note]
        for note in remarks + each.notes:
            notes.setdefault(note, []).append(each.name)
    lines = [f"- {', '.join(names)}: {note}" for note, names in notes.items()]
    return "\n\n".join([*parts, "\n".join(lines)]).rstrip()


def _matrix(
    title: str, outcomes: list[Outcome], column: int, *, variants: bool = False
) -> str:
    """Return one figure of all tasks; a variant of a program has a row of its own."""
    rows: dict[str, dict[str, str]] = {}
    for outcome in outcomes:
        for line in outcome.lines:
            program, _, variant = line.program.partition(", ")
            text = cells(outcome, line)[column]
            if text and (variants or not variant):
                name = f"{outcome.name}, {variant}" if variant else outcome.name
                rows.setdefault(name, {})[program] = text
    programs = list(dict.fromkeys(program for row in rows.values() for program in row))
    table = ["| " + " | ".join(["task", *programs]) + " |"]
    table.append("|---" + "|---:" * len(programs) + "|")
    for name, row in rows.items():
        texts = [row.get(program, "") for program in programs]
        table.append("| " + " | ".join([name, *texts]) + " |")
    return "\n".join([title, "", *table])


def marks_of(name: str) -> tuple[str, str]:
    """Return the lines of a page that results stand between."""
    return f"<!-- {name} -->", f"<!-- end of {name} -->"


def fill(page: Path, text: str, name: str = "results") -> None:
    """Replace the text between two marks of a page.

    A mark is a line of its own: a page may also speak of its marks.
    """
    lines = page.read_text(encoding="utf-8").splitlines()
    places = [
        [at for at, line in enumerate(lines) if line == m] for m in marks_of(name)
    ]
    if [len(each) for each in places] != [1, 1] or places[0] > places[1]:
        both = " and ".join(marks_of(name))
        msg = f"{page} has no lines {both}, once each, to put results between"
        raise SystemExit(msg)
    (begin,), (end,) = places
    whole = [*lines[: begin + 1], "", text, "", *lines[end:]]
    page.write_text("\n".join(whole) + "\n", encoding="utf-8")


def _aligned(cells: tuple[str, ...]) -> str:
    """Return columns of fixed width, the first to the left."""
    first = f"{cells[0]:<{WIDTHS[0]}}"
    return first + "".join(
        f"{text:>{width}}" for text, width in zip(cells[1:], WIDTHS[1:], strict=True)
    )


def _size(outcome: Outcome) -> str:
    """Return a warning where the size is not that of the bars."""
    return "" if outcome.full else f" (at {outcome.rows} rows; the bar is of more)"
