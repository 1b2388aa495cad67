"""A slow, obvious twin of how one attribute is split: plain loops over plain rows.

It is the part of ``tests/twins/naive.py`` that looks at one attribute of one node.

Words
-----
row
    ``(cells, class, weight)``; a cell is a code, a number, or None if missing.
sides
    a threshold (left is ≤), or a tuple of groups of codes, one for each branch.
way
    sides, and the branch that missing rows go to; None divides them.
path
    the branches taken from the root, as a tuple.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import inf, log2

from tests.twins.naive_criteria import GAINS, MERITS, split_information

from spinney.data.schema import Attribute, Schema
from spinney.recipes import Recipe

TOLERANCE = 1e-12

Cell = float | None
Row = tuple[list[Cell], int, float]
Rows = Sequence[Row]
Sides = float | tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Way:
    sides: Sides
    missing: int | None = None

    @property
    def n_branches(self) -> int:
        return len(self.sides) if isinstance(self.sides, tuple) else 2

    def branch_of(self, cell: Cell) -> int | None:
        """Return the branch of a cell; None where it is missing or unknown."""
        if cell is None:
            return None
        if not isinstance(self.sides, tuple):
            return int(cell > self.sides)
        found = [branch for branch, group in enumerate(self.sides) if cell in group]
        return found[0] if found else None


@dataclass
class Candidate:
    attribute: int
    way: Way
    shares: list[float]
    gain: float
    merit: float


Guide = Callable[[tuple[int, ...], int], Way | None]
# Which of some attributes are looked at, by the path to a node and its rows.
Look = Callable[[tuple[int, ...], Rows, list[int]], list[int]]


@dataclass
class Task:
    """What is the same at every node; ``total`` is the weight of all rows.

    ``observed`` are the values of each attribute over all rows, and ``known`` is the
    weight of the rows whose value of the attribute in hand is known.
    """

    schema: Schema
    recipe: Recipe
    total: float
    preference: Sequence[int]
    guide: Guide
    observed: list[list[float]]
    known: float = 0.0
    scale: Sequence[float] = ()
    look: Look | None = None


def all_subsets(codes: Sequence[int]) -> list[Sides]:
    """Return every division into two groups; the first code is in the left one."""
    found = []
    for sides in product((0, 1), repeat=len(codes) - 1):
        pairs = list(zip(codes, (0, *sides), strict=True))
        found.append(tuple(tuple(c for c, s in pairs if s == side) for side in (0, 1)))
    return [(left, right) for left, right in found if right]


def all_sides(
    values: Sequence[float],
    attribute: Attribute,
    grouping: str,
    n_codes: int,
    step: float = 0.0,
) -> list[Sides]:
    """Return how the values can be divided; none where there are fewer than two."""
    if len(values) < 2:
        return []
    if attribute.kind == "ordinal":
        step = 0.0
    if attribute.kind != "nominal":
        near = [(low, high) for low, high in pairwise(values) if low + step < high]
        return [(low + high) / 2 for low, high in near]
    if grouping == "binary":
        return all_subsets([int(value) for value in values])
    return [tuple((code,) for code in range(n_codes))]


def all_splits(rows: Rows, place: int, task: Task) -> list[Way]:
    """Return every way to branch that the policy for missing values allows."""
    attribute, recipe = task.schema.attributes[place], task.recipe
    weights: dict[float, float] = {}
    for cells, _, weight in rows:
        if cells[place] is not None:
            weights[cells[place]] = weights.get(cells[place], 0.0) + weight
    values = sorted(weights)
    absent = any(cells[place] is None for cells, _, _ in rows)
    n_codes = len(attribute.values)
    everywhere = task.observed[place]
    span = everywhere[-1] - everywhere[0] if everywhere else 0.0
    step = recipe.min_step if span >= 1000 * recipe.min_step else 0.0
    sides = all_sides(values, attribute, recipe.grouping, n_codes, step)
    if recipe.missing_policy in ("fractional", "surrogate"):
        return [Way(side) for side in sides]
    if not absent:
        sizes = [list(map(weight_of, divide(rows, place, Way(s))[0])) for s in sides]
        heaviest = [first_of_best(size) for size in sizes]
        return [Way(s, branch) for s, branch in zip(sides, heaviest, strict=True)]
    if recipe.missing_policy == "most-common":
        commonest = first_of_best([weights[v] for v in values]) if values else None
        return [Way(side, Way(side).branch_of(values[commonest])) for side in sides]
    if recipe.missing_policy == "own-category" and attribute.kind == "nominal":
        # Missing is the code after the last one; its group is named without it.
        sides = all_sides([*values, n_codes], attribute, recipe.grouping, n_codes + 1)
        known = [tuple(tuple(c for c in g if c < n_codes) for g in s) for s in sides]
        homes = [Way(side).branch_of(n_codes) for side in sides]
        return [Way(side, home) for side, home in zip(known, homes, strict=True)]
    ways = []
    for side in sides:
        reached = {Way(side).branch_of(value) for value in values}
        ways += [Way(side, branch) for branch in sorted(reached)]
    if recipe.missing_policy == "own-category" and values:
        ways.append(Way(inf, 1))
    return ways


def divide(rows: Rows, place: int, way: Way) -> tuple[list[list[Row]], list[Row]]:
    """Return the rows by branch, and those that belong to none."""
    branches: list[list[Row]] = [[] for _ in range(way.n_branches)]
    rest: list[Row] = []
    for row in rows:
        branch = way.branch_of(row[0][place])
        branch = way.missing if branch is None else branch
        (rest if branch is None else branches[branch]).append(row)
    return branches, rest


def class_weights_of(rows: Rows, n_classes: int) -> list[float]:
    weights = [0.0] * n_classes
    for _, label, weight in rows:
        weights[label] += weight
    return weights


def weight_of(rows: Rows) -> float:
    return sum(weight for _, _, weight in rows)


def first_of_best(merits: Sequence[float]) -> int:
    best = max(merits)
    margin = TOLERANCE * max(1.0, abs(best))
    return next(place for place, merit in enumerate(merits) if merit >= best - margin)


def is_admissible(branches: Sequence[Rows], task: Task, attribute: Attribute) -> bool:
    """Return whether two branches have rows, and enough weight."""
    recipe = task.recipe
    least = recipe.min_weight_fraction_leaf * task.total
    if attribute.kind != "nominal":
        known = task.known / task.schema.n_classes
        least = max(least, min(recipe.min_cut_share * known, 25.0))
    if 0 < recipe.min_samples_leaf < 1:
        least = max(least, recipe.min_samples_leaf * task.total)
    elif recipe.min_samples_leaf > 1:
        least = max(least, recipe.min_samples_leaf)
    enough = [weight_of(rows) >= least * (1 - TOLERANCE) for rows in branches if rows]
    return enough.count(True) >= 2


def best_candidate(
    rows: Rows, place: int, task: Task, guided: Way | None
) -> Candidate | None:
    """Return the best split of an attribute.

    Subsets come in no particular order, so a tie among them goes to ``guided``
    if that is one of the best; other ties go to the first way.
    """
    recipe, n_classes = task.recipe, task.schema.n_classes
    attribute, name = task.schema.attributes[place], recipe.criterion
    task.known = weight_of([row for row in rows if row[0][place] is not None])
    ways, gains, merits, informations = [], [], [], []
    for way in all_splits(rows, place, task):
        branches, rest = divide(rows, place, way)
        if is_admissible(branches, task, attribute):
            table = [class_weights_of(branch, n_classes) for branch in branches]
            ways.append(way)
            gains.append(GAINS[name](table, weight_of(rest)))
            merits.append(MERITS[name](table, weight_of(rest)))
            informations.append(split_information(table, weight_of(rest)))
    if not ways:
        return None
    best = first_of_best(gains)
    subsets = attribute.kind == "nominal" and recipe.grouping == "binary"
    if subsets and guided in ways:
        other = ways.index(guided)
        best = other if gains[other] >= gains[best] - TOLERANCE else best
    gain, merit = gains[best], merits[best]
    cost = cost_of(len(ways), rows, attribute, recipe)
    if cost:
        gain = merit = gain - cost
        if name == "gain_ratio":
            merit = gain / informations[best] if informations[best] else 0.0
    known = [row for row in rows if row[0][place] is not None]
    sizes = list(map(weight_of, divide(known, place, ways[best])[0]))
    shares = [size / sum(sizes) for size in sizes]
    way = ways[best]
    if recipe.thresholds == "observed" and attribute.kind == "numeric":
        way = Way(observed_below(way.sides, task.observed[place]), way.missing)
    return Candidate(place, way, shares, gain, merit)


def cost_of(n_ways: int, rows: Rows, attribute: Attribute, recipe: Recipe) -> float:
    """Return the bits a row that it costs to say which threshold it is."""
    if not recipe.mdl_correction or attribute.kind == "nominal":
        return 0.0
    if recipe.criterion not in ("gain", "gain_ratio"):
        return 0.0
    return log2(n_ways) / weight_of(rows)


def observed_below(threshold: float, values: Sequence[float]) -> float:
    """Return the greatest value that is not above a threshold, but for rounding."""
    if threshold == inf:
        return threshold
    return max(value for value in values if value <= threshold + 1e-9)
