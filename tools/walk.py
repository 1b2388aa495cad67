"""Draw the packages and how they lean on each other: ``python -m tools.walk``.

Rows are the layers of the contract in ``pyproject.toml``. Below the name of a package
stands the first line of its docstring. An arrow goes from a package to one that it
imports from, if it imports many names; dark ones are the strongest of each package and
those that carry most of all names. Numbers are the order in which ``spinney grow`` of a
CSV file by C4.5, saved to a model file, first enters the packages: the way of a table
through the house. All is read from the source, or followed while it runs; imports for
types only are left out.
"""

import argparse
import ast
import re
import textwrap
import tomllib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from tools.house.children import child

__all__ = ["charter", "contract_rows", "imported_names", "picture"]

ROOT = Path(__file__).resolve().parents[1]
Edge = tuple[str, str]
Edges = Counter[Edge]
Rows = Sequence[Sequence[str]]
Point = tuple[float, float]

# The picture, in pixels.
WIDTH, MARGIN, LANES = 900, 12, 110
BOX_HEIGHT, ROW_GAP, BOX_GAP = 58, 30, 16
WIDEST_BOX = 330
NOTE_HEIGHT = 16
LETTER = 6.1  # of a charter, on average
LEFT, RIGHT = -1, 1

# The strongest arrows that carry this share of all imported names are dark.
DARK_SHARE = 0.6
# An arrow is drawn if it carries this share of the names that its package imports.
LEAST_SHARE = 0.05

STYLE = """
  text { font-family: sans-serif; fill: #222; text-anchor: middle; }
  .name { font-size: 14px; font-weight: bold; }
  .charter { font-size: 11px; fill: #444; }
  .note { font-size: 11px; fill: #666; }
  .step { font-size: 12px; font-weight: bold; fill: white; }
  .badge { fill: #2f5d50; }
  .box { fill: #fdfcf8; stroke: #8a8574; }
  .pale { fill: none; stroke: #bbb; }
  .dark { fill: none; stroke: #2f5d50; }
"""
COLOURS = {"pale": "#bbb", "dark": "#2f5d50"}
ARROWHEAD = (
    '<marker id="{kind}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" '
    'markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">'
    '<path d="M0,0 L8,4 L0,8 z" fill="{colour}"/></marker>'
)
NOTES = (
    "Numbers: the order in which a table walks through the packages when spinney grow "
    "makes a model of it.",
    "An arrow goes from a package to one that it imports many names from; dark arrows "
    "are the strongest. All use the lowest row.",
)
WALK = "spinney grow --recipe c4.5 -o m"


@dataclass(frozen=True)
class Box:
    """The place of a package: its row, the ends of the row, its corner, its width."""

    row: int
    outermost: Collection[int]
    left: float
    top: float
    width: float

    @property
    def middle(self) -> float:
        """Its middle, from left to right."""
        return self.left + self.width / 2

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.top + BOX_HEIGHT

    def edge(self, side: int) -> float:
        """Return its left or right edge."""
        return self.middle + side * self.width / 2

    def towards(self, x: float) -> float:
        """Return the place on its upper or lower edge that is nearest to ``x``."""
        room = self.width / 2 - 20
        return self.middle + min(max(x - self.middle, -room), room)


def contract_rows(pyproject: Path) -> list[list[str]]:
    """Return the layers of the first contract of layers, each a list of names."""
    with pyproject.open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    layers = next(c["layers"] for c in contracts if c["type"] == "layers")
    return [re.findall(r"\w+", layer) for layer in layers]


def imported_names(package: Path) -> Edges:
    """Return how many names each top-level unit imports from each other one."""
    edges: Edges = Counter()
    for path in sorted(package.rglob("*.py")):
        importer = path.relative_to(package).with_suffix("").parts[0]
        tree = ast.parse(path.read_text(encoding="utf-8"))
        targets = imported_units(tree, package.name)
        edges.update((importer, target) for target in targets if target != importer)
    return edges


def imported_units(tree: ast.Module, root: str) -> Iterator[str]:
    """Give the top-level unit of each name that a module imports from the root."""
    for node in nodes_that_run(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            first, *below = name.split(".")
            if first == root and below:
                yield below[0]


def nodes_that_run(node: ast.AST) -> Iterator[ast.AST]:
    """Give the nodes below a node, without those for type checkers only."""
    for below in ast.iter_child_nodes(node):
        if isinstance(below, ast.If) and "TYPE_CHECKING" in ast.unparse(below.test):
            continue
        yield below
        yield from nodes_that_run(below)


def charter(package: Path, name: str) -> str:
    """Return the first line of the docstring of a package or module, if it has one."""
    for path in (package / name / "__init__.py", package / f"{name}.py"):
        if path.exists():
            tree = ast.parse(path.read_text(encoding="utf-8"))
            first = (ast.get_docstring(tree) or "").split("\n")[0]
            return first.rstrip(".").replace("``", "")
    return ""


def drawn_edges(edges: Edges, rows: Rows) -> Edges:
    """Return the edges that are drawn: none to the lowest row, and no faint ones."""
    importers = {name for row in rows for name in row}
    targets = importers.difference(rows[-1])
    inner = {
        edge: count
        for edge, count in edges.items()
        if edge[0] in importers and edge[1] in targets
    }
    of_importer: Counter[str] = Counter()
    for (importer, _), count in inner.items():
        of_importer[importer] += count
    return Counter(
        {
            edge: count
            for edge, count in inner.items()
            if count >= LEAST_SHARE * of_importer[edge[0]]
        }
    )


def strongest(edges: Edges) -> set[Edge]:
    """Return the strongest edge of each package, and those that carry most of all."""
    chosen: set[Edge] = set()
    begun: set[str] = set()
    carried = 0
    for edge, count in sorted(edges.items(), key=lambda item: (-item[1], item[0])):
        if edge[0] not in begun or carried < DARK_SHARE * edges.total():
            chosen.add(edge)
        begun.add(edge[0])
        carried += count
    return chosen


def placed(rows: Rows) -> dict[str, Box]:
    """Return where each package stands."""
    boxes = {}
    for number, row in enumerate(rows):
        gaps = BOX_GAP * (len(row) - 1)
        width = min(WIDEST_BOX, (WIDTH - 2 * LANES - gaps) / len(row))
        first = (WIDTH - len(row) * width - gaps) / 2
        top = MARGIN + number * (BOX_HEIGHT + ROW_GAP)
        for place, name in enumerate(row):
            ends = {LEFT: place == 0, RIGHT: place == len(row) - 1}
            outermost = frozenset(side for side, is_end in ends.items() if is_end)
            left = first + place * (width + BOX_GAP)
            boxes[name] = Box(number, outermost, left, top, width)
    return boxes


def ways(boxes: Mapping[str, Box], edges: Iterable[Edge]) -> dict[Edge, str]:
    """Return the path of each edge: to the next row, or past rows by a side."""
    paths = {}
    passing = []
    for edge in sorted(edges):
        one, other = boxes[edge[0]], boxes[edge[1]]
        if other.row == one.row + 1:
            paths[edge] = way_down(one, other)
        elif other.row == one.row:
            paths[edge] = way_across(one, other)
        else:
            passing.append(edge)
    return paths | ways_past(boxes, passing)


def way_down(above: Box, below: Box) -> str:
    """Return the path to a package in the next row."""
    start, end = above.towards(below.middle), below.towards(above.middle)
    bend = (above.bottom + below.top) / 2
    return curve((start, above.bottom), (start, bend), (end, bend), (end, below.top))


def way_across(one: Box, other: Box) -> str:
    """Return the path to a package of the same row: below the boxes."""
    start, end = one.towards(other.middle), other.towards(one.middle)
    low = one.bottom + ROW_GAP * 0.7
    return curve((start, one.bottom), (start, low), (end, low), (end, one.bottom))


def ways_past(boxes: Mapping[str, Box], edges: Iterable[Edge]) -> dict[Edge, str]:
    """Return the paths of edges that pass rows, nested on both sides."""
    sides = sides_taken(boxes, edges)
    heights = heights_taken(boxes, sides)
    paths = {}
    for edge, side in sides.items():
        one, other = boxes[edge[0]], boxes[edge[1]]
        start, leaving = side_end(one, side, heights.get((edge, edge[0])), one.bottom)
        end, arriving = side_end(other, side, heights.get((edge, edge[1])), other.top)
        # The curve is at ``outward`` halfway if its handles are here.
        outward = farthest(boxes, edge, side)
        handle = (outward - (start[0] + end[0]) / 8) * 4 / 3
        paths[edge] = curve(start, (handle, leaving), (handle, arriving), end)
    return paths


def sides_taken(boxes: Mapping[str, Box], edges: Iterable[Edge]) -> dict[Edge, int]:
    """Return by which side each edge passes: the free one, the nearer, the emptier."""
    sides: dict[Edge, int] = {}
    taken: Counter[int] = Counter()
    for edge in sorted(edges, key=lambda edge: (rows_between(boxes, edge), edge)):
        one, other = boxes[edge[0]], boxes[edge[1]]
        offset = round(one.middle + other.middle - WIDTH)
        side = min(
            (RIGHT, LEFT),
            key=lambda side: (
                (side not in one.outermost) + (side not in other.outermost),
                -side * offset,
                taken[side],
            ),
        )
        sides[edge] = side
        taken[side] += 1
    return sides


def heights_taken(
    boxes: Mapping[str, Box], sides: Mapping[Edge, int]
) -> dict[tuple[Edge, str], float]:
    """Return where on the side of a box each edge ends, so that curves nest."""
    ends: dict[tuple[str, int], list[tuple[float, Edge]]] = defaultdict(list)
    for edge, side in sides.items():
        length = rows_between(boxes, edge)
        # From top to bottom: what arrives, the nearest first; what leaves, the
        # farthest first.
        for name, order in zip(edge, (1 / length, -1 / length), strict=True):
            if side in boxes[name].outermost:
                ends[name, side].append((order, edge))
    return {
        (edge, name): boxes[name].top + BOX_HEIGHT * place / (len(group) + 1)
        for (name, _), group in ends.items()
        for place, (_, edge) in enumerate(sorted(group), start=1)
    }


def side_end(
    box: Box, side: int, height: float | None, otherwise: float
) -> tuple[Point, float]:
    """Return where a curve touches a box, and how high its handle is.

    ``otherwise`` is the upper or lower edge, touched where others shut the side.
    """
    if height is not None:
        return (box.edge(side), height), height
    away = ROW_GAP if otherwise == box.bottom else -ROW_GAP
    return (box.towards(box.edge(side)), otherwise), otherwise + away


def rows_between(boxes: Mapping[str, Box], edge: Edge) -> int:
    """Return how many rows an edge goes down, or up."""
    return abs(boxes[edge[1]].row - boxes[edge[0]].row)


def farthest(boxes: Mapping[str, Box], edge: Edge, side: int) -> float:
    """Return how far out a curve goes, to be clear of what it passes."""
    first, last = sorted(boxes[name].row for name in edge)
    passed = [box.edge(side) for box in boxes.values() if first <= box.row <= last]
    clear = max(passed, key=lambda x: side * x)
    return clear + side * (6 + 10 * rows_between(boxes, edge))


def curve(*points: Point) -> str:
    """Return a path: where it starts, its two handles, and where it ends."""
    start, *others = (f"{x:.1f},{y:.1f}" for x, y in points)
    return f"M{start} C{' '.join(others)}"


def picture(
    rows: Rows, edges: Edges, charters: Mapping[str, str], walk: Sequence[str] = ()
) -> str:
    """Return the drawing of packages and the imports between them, as SVG."""
    boxes = placed(rows)
    height = 2 * MARGIN + len(rows) * (BOX_HEIGHT + ROW_GAP) + NOTE_HEIGHT
    shown = [name for name in walk if name in boxes and name not in rows[-1]]
    heads = (ARROWHEAD.format(kind=k, colour=c) for k, c in COLOURS.items())
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}">',
        f"<style>{STYLE}</style>",
        f"<defs>{''.join(heads)}</defs>",
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        *arrows(boxes, drawn_edges(edges, rows)),
        *(line for name, box in boxes.items() for line in frame(name, box, charters)),
        *(badge(boxes[name], number) for number, name in enumerate(shown, start=1)),
        *(
            written("note", WIDTH / 2, height - MARGIN - NOTE_HEIGHT * number, note)
            for number, note in enumerate(reversed(NOTES))
        ),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def arrows(boxes: Mapping[str, Box], edges: Edges) -> Iterator[str]:
    """Give the arrows: pale ones first, so that dark ones lie upon them."""
    dark = strongest(edges)
    paths = ways(boxes, edges)
    most = max(edges.values(), default=1)
    for edge in sorted(edges, key=lambda edge: (edge in dark, edge)):
        count = edges[edge]
        kind = "dark" if edge in dark else "pale"
        thickness = 1 + 4 * (count / most) ** 0.5 if edge in dark else 1
        yield (
            f'<path class="{kind}" stroke-width="{thickness:.1f}" '
            f'marker-end="url(#{kind})" d="{paths[edge]}">'
            f"<title>{edge[0]} → {edge[1]}: {count} names</title></path>"
        )


def frame(name: str, box: Box, charters: Mapping[str, str]) -> Iterator[str]:
    """Give a package: its box, its name, and what it says of itself."""
    yield (
        f'<rect class="box" x="{box.left:.1f}" y="{box.top:.1f}" '
        f'width="{box.width:.1f}" height="{BOX_HEIGHT}" rx="5"/>'
    )
    letters = int((box.width - 10) / LETTER)
    said = textwrap.wrap(charters[name], letters, max_lines=2, placeholder=" …")
    first = box.top + BOX_HEIGHT / 2 + 5 - 7 * len(said)
    yield written("name", box.middle, first, name)
    for number, line in enumerate(said, start=1):
        yield written("charter", box.middle, first + 2 + 14 * number, line)


def badge(box: Box, number: int) -> str:
    """Return the number of a step, at the corner of a box."""
    circle = f'<circle class="badge" cx="{box.left:.1f}" cy="{box.top:.1f}" r="11"/>'
    return circle + written("step", box.left, box.top + 4, str(number))


def written(kind: str, x: float, y: float, words: str) -> str:
    """Return a line of text."""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(words)}</text>'


def main() -> None:
    """Draw the source as the arguments say."""
    parser = argparse.ArgumentParser(prog="python -m tools.walk")
    parser.add_argument("--source", type=Path, default=ROOT / "src", metavar="DIR")
    parser.add_argument(
        "--output", type=Path, default=ROOT / "docs" / "walk.svg", metavar="FILE"
    )
    arguments = parser.parse_args()
    package = arguments.source.resolve() / "spinney"
    rows = contract_rows(package.parents[1] / "pyproject.toml")
    charters = {name: charter(package, name) for row in rows for name in row}
    walk = child(package.parent, "runs", WALK, "--walk")
    drawing = picture(rows, imported_names(package), charters, walk)
    arguments.output.write_text(drawing, encoding="utf-8")


if __name__ == "__main__":
    main()
