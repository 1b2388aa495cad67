"""Formulas of constructed attributes: differences, ratios, sums and conjunctions.

A formula has the indices of its input attributes, and computes a cell for each row,
missing if an input is missing. An attribute with a formula is split like any other, so
a multivariate split is a threshold on a linear combination.

Formulas are computed in float64, in the order of their text, so that the printed
formula gives exactly the same cells.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from spinney._support.text import interval_text, number_text, shown
from spinney.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from spinney.data.schema import Attribute

MAX_CLAUSES = 3


@dataclass(frozen=True, slots=True)
class _Pair:
    """An operation on two numeric attributes."""

    first: int
    second: int

    sign: ClassVar[str]

    def __post_init__(self) -> None:
        """Refuse an operation on one attribute twice."""
        _check_indices(self.attribute_indices)

    @property
    def attribute_indices(self) -> tuple[int, ...]:
        """The indices of the input attributes."""
        return self.first, self.second

    def text(self, attributes: "Sequence[Attribute]") -> str:
        """Return the formula as text, such as ``length / width``."""
        first, second = (
            shown(attributes[index].name) for index in self.attribute_indices
        )
        return f"{first} {self.sign} {second}"


@dataclass(frozen=True, slots=True)
class Difference(_Pair):
    """The difference of two numbers."""

    sign: ClassVar[str] = "−"

    def cells(self, columns: "Sequence[NDArray[Any]]") -> "NDArray[Any]":
        """Return the difference of each row; NaN if an input is missing.

        >>> Difference(1, 0).cells([np.array([1.0, np.nan]), np.array([3.0, 3.0])])
        array([ 2., nan])
        """
        with np.errstate(over="ignore", invalid="ignore"):
            return _finite(columns[self.first] - columns[self.second])


@dataclass(frozen=True, slots=True)
class Ratio(_Pair):
    """The ratio of two numbers; missing if the divisor is 0."""

    sign: ClassVar[str] = "/"

    def cells(self, columns: "Sequence[NDArray[Any]]") -> "NDArray[Any]":
        """Return the ratio of each row; NaN if it is undefined.

        >>> Ratio(0, 1).cells([np.array([1.0, 1.0]), np.array([4.0, 0.0])])
        array([0.25,  nan])
        """
        with np.errstate(all="ignore"):
            return _finite(columns[self.first] / columns[self.second])


@dataclass(frozen=True, slots=True)
class Linear:
    """A linear combination of numbers, in the attributes' own units."""

    attribute_indices: tuple[int, ...]
    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        """Refuse fewer than two attributes, and coefficients that do not fit."""
        _check_indices(self.attribute_indices)
        is_valid = [np.isfinite(factor) and factor != 0 for factor in self.coefficients]
        if not all(is_valid) or len(is_valid) != len(self.attribute_indices):
            msg = (
                f"coefficients={self.coefficients!r} must be finite, not 0, and one "
                f"for each of {len(self.attribute_indices)} attributes"
            )
            raise ParameterError(msg)

    def cells(self, columns: "Sequence[NDArray[Any]]") -> "NDArray[Any]":
        """Return the linear combination of each row; NaN if an input is missing.

        >>> Linear((0, 1), (0.5, -1.25)).cells([np.array([4.0]), np.array([2.0])])
        array([-0.5])
        """
        terms = zip(self.attribute_indices, self.coefficients, strict=True)
        with np.errstate(over="ignore", invalid="ignore"):
            first, *rest = (factor * columns[index] for index, factor in terms)
            for term in rest:
                first = first + term
            return _finite(first)

    def text(self, attributes: "Sequence[Attribute]") -> str:
        """Return the formula as text, such as ``0.5·length − 1.25·width``."""
        text = ""
        for index, factor in zip(
            self.attribute_indices, self.coefficients, strict=True
        ):
            if text:
                text += " − " if factor < 0 else " + "
            elif factor < 0:
                text = "−"
            times = "" if abs(factor) == 1 else f"{number_text(abs(factor))}·"
            text += times + shown(attributes[index].name)
        return text


@dataclass(frozen=True, slots=True)
class Clause:
    """A condition on one attribute: code ∈ codes, or low < number ≤ high."""

    place: int
    codes: tuple[int, ...] | None = None
    low: float = -np.inf
    high: float = np.inf

    def __post_init__(self) -> None:
        """Refuse a condition that is always or never true."""
        bounded = self.low < self.high and (self.low, self.high) != (-np.inf, np.inf)
        if self.codes is None and not bounded:
            msg = f"a clause needs codes or bounds, not ({self.low}, {self.high}]"
            raise ParameterError(msg)
        if self.codes is not None and (
            not self.codes
            or list(self.codes) != sorted(set(self.codes))
            or (self.low, self.high) != (-np.inf, np.inf)
        ):
            msg = f"codes={self.codes!r} must increase, without bounds beside them"
            raise ParameterError(msg)

    def holds(self, cells: "NDArray[Any]") -> "NDArray[np.bool_]":
        """Return a mask of known cells that satisfy the clause."""
        if self.codes is not None:
            return np.isin(cells, self.codes)
        return np.asarray((cells > self.low) & (cells <= self.high))

    def text(self, attribute: "Attribute") -> str:
        """Return the clause as text."""
        name = shown(attribute.name)
        if self.codes is not None:
            texts = [shown(attribute.values[code]) for code in self.codes]
            if len(texts) == 1:
                return f"{name} = {texts[0]}"
            return f"{name} ∈ {{{', '.join(texts)}}}"
        return interval_text(name, self.low, self.high, unit=attribute.unit)


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Whether two or three clauses about different attributes all hold."""

    clauses: tuple[Clause, ...]

    def __post_init__(self) -> None:
        """Refuse too few, too many, or two clauses about one attribute."""
        _check_indices(self.attribute_indices)
        if len(self.clauses) > MAX_CLAUSES:
            msg = f"a conjunction has at most {MAX_CLAUSES} clauses"
            raise ParameterError(msg)

    @property
    def attribute_indices(self) -> tuple[int, ...]:
        """The indices of the input attributes."""
        return tuple(clause.place for clause in self.clauses)

    def cells(self, columns: "Sequence[NDArray[Any]]") -> "NDArray[Any]":
        """Return 1 if all clauses hold, 0 if not, -1 if an input is missing.

        >>> both = Conjunction((Clause(0, codes=(1,)), Clause(1, low=77.5)))
        >>> both.cells([np.array([1, 1, 0, -1]), np.array([80.0, 70.0, 80.0, 80.0])])
        array([ 1,  0,  0, -1], dtype=int32)
        """
        size = len(columns[self.attribute_indices[0]])
        holds, is_present = np.ones(size, dtype=bool), np.ones(size, dtype=bool)
        for clause in self.clauses:
            cells = np.asarray(columns[clause.place])
            is_present &= ~np.isnan(cells) if cells.dtype.kind == "f" else cells >= 0
            holds &= clause.holds(cells)
        return np.where(is_present, holds, -1).astype(np.int32)

    def text(self, attributes: "Sequence[Attribute]") -> str:
        """Return the formula as text: ``outlook = sunny and humidity > 77.5``."""
        return " and ".join(c.text(attributes[c.place]) for c in self.clauses)


Formula = Difference | Ratio | Linear | Conjunction


def reindexed(formula: Formula, new_indices: "Mapping[int, int]") -> Formula:
    """Return a formula with other indices of the same attributes.

    >>> reindexed(Ratio(3, 1), {3: 0, 1: 7})
    Ratio(first=0, second=7)
    """
    new = tuple(new_indices[index] for index in formula.attribute_indices)
    if isinstance(formula, Conjunction):
        clauses = zip(formula.clauses, new, strict=True)
        return Conjunction(tuple(replace(c, place=place) for c, place in clauses))
    if isinstance(formula, Linear):
        return Linear(new, formula.coefficients)
    return type(formula)(*new)


def _check_indices(indices: tuple[int, ...]) -> None:
    """Refuse a formula of fewer than two different attributes."""
    if len(indices) < 2 or len(set(indices)) < len(indices) or min(indices) < 0:
        msg = f"a formula needs two or more different attributes, not {indices!r}"
        raise ParameterError(msg)


def _finite(numbers: "NDArray[Any]") -> "NDArray[Any]":
    """Return numbers with NaN for infinite ones, and 0.0 for -0.0."""
    return np.where(np.isfinite(numbers), numbers + 0.0, np.nan)
