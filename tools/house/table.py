"""Figures set beside those measured before."""

from collections.abc import Iterable, Mapping

from tools.house.source import Figure, Section

__all__ = ["comparison"]

Figures = Mapping[str, Section]
UNKNOWN = "–"


def comparison(before: Figures, after: Figures) -> str:
    """Return a table: a line for each measure, with its figures before and after."""
    rows: list[tuple[str, str, str]] = [("", "before", "after")]
    for section in union(before, after):
        rows += section_rows(section, before.get(section, {}), after.get(section, {}))
    names, *figures = (max(map(len, column)) for column in zip(*rows, strict=True))
    lines = (
        "  ".join([name.ljust(names), old.rjust(figures[0]), new.rjust(figures[1])])
        for name, old, new in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def section_rows(
    title: str, before: Section, after: Section
) -> Iterable[tuple[str, str, str]]:
    """Give the lines of a section: its title, then its measures."""
    widths = list_widths([*before.values(), *after.values()])
    yield title, "", ""
    for name in union(before, after):
        old, new = (as_text(side.get(name), widths) for side in (before, after))
        yield f"  {name}", old, new


def union(before: Iterable[str], after: Iterable[str]) -> list[str]:
    """Return the names of both in their order."""
    return list(dict.fromkeys([*after, *before]))


def list_widths(figures: Iterable[Figure]) -> list[int]:
    """Return how wide each place of the lists among the figures must be."""
    lists = [figure for figure in figures if isinstance(figure, list)]
    return [max(len(f"{n:,}") for n in place) for place in zip(*lists, strict=True)]


def as_text(figure: Figure | None, widths: Iterable[int]) -> str:
    """Return a figure as it stands in the table."""
    if figure is None:
        return UNKNOWN
    if isinstance(figure, str):
        return figure
    if isinstance(figure, list):
        pairs = zip(figure, widths, strict=True)
        return "  ".join(f"{number:,}".rjust(width) for number, width in pairs)
    return f"{figure:,}"
