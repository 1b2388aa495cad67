"""The splits of inner nodes: the branches of values, and their texts.

A split sends every known value to one branch. A row takes the branch ``missing`` if its
value is missing, or is a category without training rows at the node. If ``missing`` is
None, the row is divided over all branches by ``shares``, the branches' fractions of the
known weight (C4.5's fractional rows).

If a node has surrogates, a ``Route`` tries the split and its surrogates in order, and
sends the remaining rows to the ``default_branch``.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney._support.segments import counts_by, starts_of, sums_by
from spinney._support.text import interval_text, shown, sign, written_value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from spinney._support.arrays import Floats, Integers
    from spinney.data import Attribute, Value
    from spinney.trees.counts import CountTable

VALUES_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Threshold:
    """A split into values ≤ threshold on the left, and greater values on the right.

    For an ordinal attribute the values are codes. The threshold ∞ separates known
    values, on the left, from missing values.
    """

    attribute: int
    threshold: float
    shares: tuple[float, ...]
    missing: int | None = None

    @property
    def n_branches(self) -> int:
        """The number of branches, 2."""
        return 2

    def bounds(self, branch: int) -> tuple[float, float]:
        """Return the interval (low, high] of a branch."""
        return (self.threshold, np.inf) if branch else (-np.inf, self.threshold)

    def branch_of(self, values: "NDArray[Any]") -> "Integers":
        """Return the branch of each value; -1 for missing values."""
        numbers = np.asarray(values)
        right = (numbers > self.threshold).astype(np.int64)
        is_missing = np.isnan(numbers) if numbers.dtype.kind == "f" else numbers < 0
        return np.where(is_missing, -1, right)


@dataclass(frozen=True, slots=True)
class Groups:
    """A split with one branch for each group of codes.

    Groups of one code each are the multiway split of the textbooks; two groups are
    CART's binary subset. An empty group is the branch of missing values.
    """

    attribute: int
    groups: tuple[tuple[int, ...], ...]
    shares: tuple[float, ...]
    missing: int | None = None

    @property
    def n_branches(self) -> int:
        """The number of groups."""
        return len(self.groups)

    def lookup(self) -> "Integers":
        """Return the branch of each code, -1 for a code of no group."""
        size = 1 + max((code for group in self.groups for code in group), default=-1)
        branches = np.full(size, -1, dtype=np.int64)
        for branch, group in enumerate(self.groups):
            branches[list(group)] = branch
        return branches

    def codes_of(self, branch: int, codes: "Iterable[int]") -> set[int]:
        """Return the given codes that take a branch.

        A code outside of all groups takes the branch of missing values, if there is
        one.
        """
        if self.missing != branch:
            return set(self.groups[branch]).intersection(codes)
        others = self.groups[:branch] + self.groups[branch + 1 :]
        return set(codes).difference(*others)

    def complement(self, branch: int, codes: "Iterable[int]") -> tuple[int, ...]:
        """Return the codes of the other group, if this one of two takes all others.

        ``codes`` are the possible codes at the node. The result is empty if each of
        them is in a group.
        """
        if self.n_branches != 2 or self.missing != branch:
            return ()
        reachable, (first, second) = set(codes), self.groups
        if reachable.issubset((*first, *second)):
            return ()
        return tuple(code for code in self.groups[1 - branch] if code in reachable)

    def read_codes(
        self, branch: int, codes: "Collection[int]"
    ) -> tuple[tuple[int, ...], bool]:
        """Return the codes in the text of a branch, and whether it takes all others.

        ``codes`` are the possible codes at the node; other codes are listed only if the
        branch has no possible code. The list is empty for a branch of missing values
        alone.
        """
        group = self.groups[branch]
        # All values but those of the other branch, ones not seen here included.
        others = self.complement(branch, codes) if group else ()
        listed = others or tuple(code for code in group if code in codes)
        if not listed and self.missing != branch:
            listed = group  # of a value that went elsewhere above
        return listed, bool(others)

    def branch_of(self, values: "NDArray[Any]") -> "Integers":
        """Return the branch of each code; -1 if it is missing or in no group."""
        branches = self.lookup()
        codes = np.asarray(values, dtype=np.int64)
        inside = (codes >= 0) & (codes < len(branches))
        result = np.full(codes.shape, -1, dtype=np.int64)
        result[inside] = branches[codes[inside]]
        return result


@dataclass(frozen=True, slots=True)
class Intervals:
    """A split with one branch for each interval of numbers between rising cuts.

    A number equal to a cut is left of it. If the last cut is ∞, the last branch is for
    missing values alone.
    """

    attribute: int
    cuts: tuple[float, ...]
    shares: tuple[float, ...]
    missing: int | None = None

    @property
    def n_branches(self) -> int:
        """The number of branches."""
        return len(self.cuts) + 1

    def branch_of(self, values: "NDArray[Any]") -> "Integers":
        """Return the branch of each number; -1 if it is missing."""
        numbers = np.asarray(values, dtype=np.float64)
        branches = np.searchsorted(np.array(self.cuts), numbers, side="left")
        return np.where(np.isnan(numbers), -1, branches).astype(np.int64)

    def bounds(self, branch: int) -> tuple[float, float]:
        """Return the interval (low, high] of a branch."""
        edges = (-np.inf, *self.cuts, np.inf)
        return edges[branch], edges[branch + 1]


Split = Threshold | Groups | Intervals


@dataclass(frozen=True, slots=True)
class Surrogate:
    """A split on another attribute that sends most rows to the node's branches.

    Parameters
    ----------
    split : Threshold or Groups
        The split. It has no shares: a surrogate divides no row.
    agreement : float
        The fraction of weight that the surrogate sends to the branch of the split,
        among rows with a known value of the node's attribute.
    adjusted : float
        The adjusted agreement, (agreement − majority) / (1 − majority): the fraction of
        the heavier branch's errors that the surrogate avoids.
    reversed : bool
        Whether values up to the threshold take the node's second branch. Groups are
        never reversed.
    """

    split: Split
    agreement: float
    adjusted: float
    reversed: bool = False

    @property
    def attribute(self) -> int:
        """The index of the attribute in the schema."""
        return self.split.attribute

    def own_branch(self, branch: int) -> int:
        """Return the branch of the surrogate for a branch of the node."""
        return 1 - branch if self.reversed else branch

    def branch_of(self, values: "NDArray[Any]") -> "Integers":
        """Return the node's branch of each value; -1 for missing or unknown values."""
        branches = self.split.branch_of(values)
        if not self.reversed:
            return branches
        return np.where(branches < 0, branches, 1 - branches)


@dataclass(frozen=True, slots=True)
class Route:
    """The route of rows at a node: its split, then surrogates, then a default branch.

    If ``default_branch`` is None, the split alone decides.
    """

    split: Split
    surrogates: tuple[Surrogate, ...] = ()
    default_branch: int | None = None

    @property
    def attributes(self) -> tuple[int, ...]:
        """The indices of the attributes of the split and of all surrogates."""
        return (self.split.attribute, *(each.attribute for each in self.surrogates))

    @property
    def described(self) -> Split:
        """The split for display, with missing values in the default branch."""
        if self.default_branch is None or self.surrogates:
            return self.split
        return replace(self.split, missing=self.default_branch)

    @property
    def fallback_branch(self) -> int | None:
        """The branch of all other rows; None if the rows are divided."""
        return (
            self.split.missing if self.default_branch is None else self.default_branch
        )


def counts_by_branch(
    tables: "Sequence[CountTable]", splits: "Sequence[Split]"
) -> "tuple[Floats, Integers, Integers]":
    """Return weights and rows of all branches of splits, and the start for each split.

    Missing rows are not counted.
    """
    first = starts_of(np.array([split.n_branches for split in splits], np.int64))
    pairs = zip(splits, tables, first[:-1].tolist(), strict=True)
    branch = [split.branch_of(table.values) + start for split, table, start in pairs]
    owner, n_branches = np.concatenate(branch), int(first[-1])
    weights = sums_by(owner, np.concatenate([t.weights for t in tables]), n_branches)
    rows = counts_by(owner, np.concatenate([t.rows for t in tables]), n_branches)
    return weights, rows, first


def branch_table(table: "CountTable", split: Split) -> "CountTable":
    """Return the count table by branches, with missing rows in their branch."""
    branches = table.merged(split.branch_of(table.values), split.n_branches)
    if split.missing is None or not table.missing_rows.any():
        return branches
    return branches.with_missing_at(split.missing)


def possible_codes(
    steps: "Iterable[tuple[Split, int]]", attribute: int, n_codes: int
) -> set[int]:
    """Return the codes of an attribute that can reach a node.

    ``steps`` are the splits above the node and the branches taken.
    """
    codes = set(range(n_codes))
    for above, branch in steps:
        if isinstance(above, Groups) and above.attribute == attribute:
            codes = above.codes_of(branch, codes)
    return codes


def describe(
    split: Split,
    attribute: "Attribute",
    branch: int,
    *,
    ascii_only: bool = False,
    codes: "Collection[int] | None" = None,
    most: int = VALUES_SHOWN,
    digits: int | None = None,
) -> str:
    """Return the text of a branch, such as ``texture = clear`` or ``density ≤ 0.3815``.

    ``codes`` are those that can come to the node, all if not given; no other is shown,
    and of the values no more than ``most``: a longer list is that of the other values
    where these are fewer. Numbers have so many ``digits``.

    >>> from spinney.data.schema import Attribute
    >>> size = Attribute("size", "ordinal", ("small", "medium", "large"))
    >>> describe(Threshold(0, 0.5, (0.5, 0.5)), size, 1)
    'size ≥ medium'
    >>> describe(Groups(0, ((0, 2), (1,)), (0.5, 0.5)), size, 0, ascii_only=True)
    'size in {small, large}'
    >>> describe(Groups(0, ((0,), (1,)), (0.5, 0.5), missing=1), size, 1)
    'size ≠ small'
    >>> describe(Groups(0, ((0, 2), (1,)), (0.5, 0.5)), size, 0, codes={1, 2})
    'size = large'
    >>> describe(Groups(0, ((0, 1), (2,)), (0.5, 0.5)), size, 0, most=1)
    'size ≠ large'
    """
    if not isinstance(split, Groups):
        low, high = split.bounds(branch)
        return range_text(attribute, low, high, ascii_only=ascii_only, digits=digits)
    name = attribute.text(ascii_only=ascii_only)
    reachable = range(len(attribute.values)) if codes is None else codes
    listed, negated = split.read_codes(branch, reachable)
    if not listed:
        return f"{name} is missing"
    if len(listed) > most and not negated:
        others = sorted(set(reachable).difference(listed))
        if 0 < len(others) < len(listed):
            listed, negated = tuple(others), True
    values = [attribute.values[code] for code in listed]
    return values_text(name, values, negated=negated, ascii_only=ascii_only, most=most)


def range_text(
    attribute: "Attribute",
    low: float,
    high: float,
    *,
    ascii_only: bool = False,
    digits: int | None = None,
) -> str:
    """Return the text of low < value ≤ high, of numbers or of ordered codes.

    Without bounds any known value is meant, and beyond all numbers a missing one.
    """
    name, levels = attribute.text(ascii_only=ascii_only), attribute.values
    if (low, high) == (-np.inf, np.inf):
        return f"{name} is known"
    if attribute.kind != "ordinal" or low == np.inf:
        return interval_text(
            name, low, high, unit=attribute.unit, ascii_only=ascii_only, digits=digits
        )
    most, least = (sign(symbol, ascii_only=ascii_only) for symbol in "≤≥")
    if high == np.inf:
        return f"{name} {least} {shown(levels[int(low) + 1])}"
    lower = "" if low == -np.inf else f"{shown(levels[int(low) + 1])} {most} "
    return f"{lower}{name} < {shown(levels[int(high) + 1])}"


def values_text(
    name: str,
    values: "Sequence[Value]",
    *,
    negated: bool = False,
    ascii_only: bool = False,
    most: int = VALUES_SHOWN,
) -> str:
    """Return the text of "one of some values", or "none of them".

    >>> values_text("hue", ["red"]), values_text("hue", ["red", 7], negated=True)
    ('hue = red', 'hue ∉ {red, 7}')
    >>> values_text("town", ["Rome, GA", "Ur"])
    'town ∈ {"Rome, GA", Ur}'
    >>> values_text("hue", ["red", "green", "blue"], most=1)
    'hue ∈ {red, and 2 more}'
    """
    if len(values) == 1:
        equals = sign("≠", ascii_only=ascii_only) if negated else "="
        return f"{name} {equals} {written_value(values[0])}"
    texts = [written_value(value, listed=True) for value in values[:most]]
    if len(values) > most:
        texts.append(f"and {len(values) - most} more")
    element_of = sign("∉" if negated else "∈", ascii_only=ascii_only)
    return f"{name} {element_of} {{{', '.join(texts)}}}"
