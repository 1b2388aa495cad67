"""The portable form of a model, the basis of every export.

A row is read into *cells*, one per column: a number, a text, or missing. Formulas add
derived cells. A row goes down a tree as in :mod:`spinney.trees.predict.flat_tree`: the
split of a node, then its surrogates, are tried in order until one determines the next
node; other rows go to ``default_branch``, or are divided into ``parts``. A value
without a branch is treated as missing, so exports need no list of training values.

::

    cells        density 0.4      texture "clear"
    node 0       texture: {"blurry": 1, "clear": 2}        else parts 1 × 0.3, 2 × 0.7
    node 2       density: at most 0.3815 → 3, above → 4    else 4

A rule set is a tree, too: a cell is true if all conditions of a rule hold, and a chain
of nodes tests one rule after the other. Clusters have ``Centres`` instead of nodes: a
row goes to the nearest one.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from spinney._support.text import value_text
from spinney.data import TIME_UNITS, Target, Value
from spinney.errors import Setting, Text, refusal
from spinney.trees import labels_of


@dataclass(frozen=True, slots=True)
class Input:
    """A column that rows must have.

    Parameters
    ----------
    name : str
    is_number : bool
        Whether its cells are numbers, not texts.
    values : tuple
        The training values of a text column.
    unit : str, optional
        The unit of its numbers, if they represent dates or times.
    optional : bool
        Whether rows may lack it, as only surrogates use it.
    missing : tuple of float
        The numbers that stand for a missing cell.
    words : pair of str
        The texts of False and True.
    folded : bool
        Whether texts match regardless of case.
    """

    name: str
    is_number: bool
    values: tuple[Value, ...] = ()
    unit: str | None = None
    optional: bool = False
    missing: tuple[float, ...] = ()
    words: tuple[str, str] = ("false", "true")
    folded: bool = False

    @property
    def time(self) -> str | None:
        """The key of its unit in ``TIME_UNITS``; None unless cells are times."""
        names = {unit: name for name, unit in TIME_UNITS.items()}
        return names.get(self.unit or "")


Accepted = tuple[float, float] | Mapping[str, bool]
"""The interval (low, high] of a number, or whether each known text is accepted."""


@dataclass(frozen=True, slots=True)
class FormCondition:
    """A condition on a cell; ``missing`` says whether a missing cell satisfies it."""

    cell: int
    accepted: Accepted
    missing: bool = False


@dataclass(frozen=True, slots=True)
class FormSum:
    """A derived cell: the sum of cells times factors, added in this order."""

    name: str
    terms: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class FormQuotient:
    """A derived cell: the ratio of two numbers."""

    name: str
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class FormConjunction:
    """A derived cell: "true" if all conditions hold, otherwise "false".

    It is missing if a cell is missing and its condition does not accept missing cells.
    """

    name: str
    clauses: tuple[FormCondition, ...]


DerivedCell = FormSum | FormQuotient | FormConjunction
"""A cell computed from earlier cells; missing if one of them is, or if not finite."""


@dataclass(frozen=True, slots=True)
class FormSplit:
    """The split of a node, or a surrogate, on one cell.

    A number goes to ``nodes[k]`` if k of the ascending ``cuts`` lie below it; a text
    goes to its node in ``texts``.
    """

    cell: int
    cuts: tuple[float, ...] = ()
    nodes: tuple[int, ...] = ()
    texts: Mapping[str, int] | None = None

    @property
    def below(self) -> list[int]:
        """The nodes that the split leads to, ascending."""
        return sorted({*self.nodes, *(self.texts or {}).values()})


@dataclass(frozen=True, slots=True)
class FormTerm:
    """A term of a linear model: a factor times a number, or a number for each text."""

    cell: int
    factor: float
    missing: float
    texts: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class FormLinearModel:
    """A linear model: the terms in order of addition, then the intercept."""

    intercept: float
    terms: tuple[FormTerm, ...]


@dataclass(frozen=True, slots=True)
class FormNode:
    """A node: a leaf if it has no splits.

    If ``default_branch`` is None, a row that no split sends is divided into ``parts``.
    A leaf has ``outputs``, class probabilities or one number, or a linear model in
    ``line``. A ``label``, if any, is its class, likeliest or not.
    """

    splits: tuple[FormSplit, ...] = ()
    default_branch: int | None = None
    parts: tuple[tuple[int, float], ...] = ()
    outputs: tuple[float, ...] = ()
    line: FormLinearModel | None = None
    label: int | None = None

    @property
    def children(self) -> list[int]:
        """The nodes that rows can go to, ascending."""
        below = {child for child, _ in self.parts}
        below.update(child for split in self.splits for child in split.below)
        return sorted(
            below if self.default_branch is None else below | {self.default_branch}
        )


MAX_PREFIXES = 8
LARGEST = 2.0**400
"""The largest number, in units of its scale, whose squares can be added up.

Exports refuse rows with greater numbers; the model itself divides these by a power of
two.
"""


@dataclass(frozen=True, slots=True)
class CentreNumber:
    """A numeric cell: its scale, and the coordinate of each centre."""

    cell: int
    scale: float
    centres: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CentreText:
    """The distances of known texts from each centre; 1 for any other text."""

    cell: int
    distances: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Centres:
    """Cluster centres; a row belongs to the nearest, the first if tied.

    The distance is the sum of squared differences of numbers, in this order, plus
    ``gamma`` times the sum for texts. A missing cell adds nothing, or is refused.
    """

    numbers: tuple[CentreNumber, ...]
    texts: tuple[CentreText, ...]
    gamma: float
    allows_missing: bool


@dataclass(frozen=True, slots=True)
class Portable:
    """A model of any kind as cells, splits, leaves and centres; all exports read it.

    Parameters
    ----------
    columns : tuple of Input
        The columns of a row; their cells come first.
    made : tuple of Made
        Derived cells, computed from columns.
    nodes : tuple of FormNode
        The nodes of all trees, parents before their children.
    roots : tuple of int
        The first node of each tree. The outputs of trees are averaged.
    majority : bool
        Whether each tree votes for one class, instead of giving probabilities.
    target : Target
        The target: classes with costs, or a number.
    centres : Centres, optional
        The centres of clusters, which have no nodes.
    """

    columns: tuple[Input, ...]
    derived: tuple[DerivedCell, ...]
    nodes: tuple[FormNode, ...]
    roots: tuple[int, ...]
    majority: bool
    target: Target
    centres: Centres | None = None

    @property
    def cells(self) -> list[str]:
        """The names of all cells."""
        return [each.name for each in (*self.columns, *self.derived)]

    def texts(self, cell: int) -> list[str]:
        """Return the texts of a cell, in the order of their codes."""
        if cell < len(self.columns):
            return [value_text(value) for value in self.columns[cell].values]
        is_text = isinstance(self.derived[cell - len(self.columns)], FormConjunction)
        return ["false", "true"] if is_text else []

    def title(self, literal: Callable[[str], str]) -> str:
        """Return a title with the target (as a literal) and the kind of model."""
        n, nodes = len(self.roots), len(self.nodes)
        by = f"a tree of {nodes} nodes" if n == 1 else f"{n} trees of {nodes} nodes"
        if self.has_labels:
            by = f"{nodes // 2} rules and a default"
        if self.centres is not None:
            by = f"the nearest of {len(self.target.classes)} centres"
        return f"{literal(self.target.name)}, predicted by {by}"

    @property
    def has_labels(self) -> bool:
        """Whether leaves have labels, not necessarily the most probable class."""
        return any(node.label is not None for node in self.nodes)

    @property
    def divides(self) -> bool:
        """Whether rows may be divided among several leaves."""
        return any(node.splits and node.default_branch is None for node in self.nodes)

    @property
    def cost_lines(self) -> list[list[float]] | None:
        """The cost of each label by true class, at most 1; None without costs."""
        if self.target.costs is None:
            return None
        costs = np.asarray(self.target.costs, dtype=np.float64)
        lines: list[list[float]] = (costs / (costs.max() or 1.0)).tolist()
        return lines


def best_class(shares: Sequence[float], costs: Any = None) -> int:
    """Return the class that models predict from probabilities."""
    return int(labels_of(np.array([shares]), costs)[0])


def free_name(
    wanted: str,
    taken: Collection[str],
    space: str = " ",
    *,
    folded: Callable[[str], str] = str,
    ended: Callable[[str, str], str] = str.__add__,
) -> str:
    """Return a name that is not taken: the wanted name, or with a number appended.

    ``folded`` maps equal names to one key, and ``ended`` appends an ending to a name.

    >>> free_name("a", ["b"]), free_name("a", ["a", "a 2"]), free_name("a", "a", "_")
    ('a', 'a 3', 'a_2')
    """
    name, number = wanted, 2
    while folded(name) in taken:
        name, number = ended(wanted, f"{space}{number}"), number + 1
    return name


def prediction_name(
    wanted: str, columns: Collection[str], folded: Callable[[str], str] = str
) -> str:
    """Return the name of a prediction, prefixed by "predicted " if a column has it.

    ``folded`` maps equal names to one key.

    >>> prediction_name("p(a)", ["x"]), prediction_name("p(a)", ["P(A)"], str.lower)
    ('p(a)', 'predicted p(a)')
    """
    taken, name = {*map(folded, columns)}, wanted
    for _ in range(MAX_PREFIXES):  # a truncated name never changes
        if folded(name) in taken:
            name = f"predicted {name}"
    return name


def refuse_unsupported(format: str, what: str, remedy: Text) -> NoReturn:
    """Raise the error for a part of a model that a format cannot express."""
    raise refusal(Setting("format", format), f"cannot express {what}", remedy)
