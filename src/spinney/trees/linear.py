"""Linear models at the leaves of a tree for numbers.

A *term* is a factor of a coefficient: a number, the rank of an ordered category among
its levels, or 1 if a nominal value is one of some codes, else 0. A missing value, or a
category that no training row had, counts as the value that the term has for it. M5P's
is the mean of a number over all training rows, and whether the commonest category is
one of the codes.

>>> from spinney.data.schema import Attribute, Schema, Target
>>> schema = Schema((Attribute("size", "numeric"), Attribute("sort", "nominal",
...     ("a", "b", "c"))), Target("price", origin=0.0))
>>> model = LinearModel(12.5, (Term(0, None, 2.0), Term(1, (1, 2), 0.0)), (0.5, -3.0))
>>> print(model.text(schema))
12.5 + 0.5 · size − 3 · (sort ∈ {b, c})
>>> model.terms[0].values(np.array([4.0, np.nan])).tolist()
[4.0, 2.0]
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats, Integers, ramps
from spinney._support.text import figure, shown, sign
from spinney.data import Attribute, Schema

TERMS_SHOWN = 24
SETS_SHOWN = 4  # of values of one attribute, each a term
VALUES_SHOWN = 8  # of a term


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a linear model: an attribute, or an indicator of some of its codes.

    Parameters
    ----------
    attribute : int
        The index of the attribute in the schema.
    codes : tuple of int, optional
        For a nominal attribute: the codes for which the term is 1.
    missing : float
        The value of the term if the cell is missing.
    """

    attribute: int
    codes: tuple[int, ...] | None
    missing: float

    @property
    def centre(self) -> float:
        """The origin of a number, chosen to keep the precision of sums of squares."""
        return self.missing if self.codes is None else 0.0

    def is_missing(self, cells: NDArray[Any]) -> NDArray[np.bool_]:
        """Return whether encoded cells are missing."""
        missing = ~np.isfinite(cells) if cells.dtype.kind == "f" else cells < 0
        return np.asarray(missing)

    def values(self, cells: NDArray[Any]) -> Floats:
        """Return the values of the term for encoded cells."""
        if self.codes is None:
            values = np.asarray(cells, dtype=np.float64)
        else:
            values = np.isin(cells, self.codes).astype(np.float64)
        return np.where(self.is_missing(cells), self.missing, values)

    def text(
        self,
        attribute: Attribute,
        *,
        ascii_only: bool = False,
        most: int = VALUES_SHOWN,
    ) -> str:
        """Return the text of the term, with no more values than ``most``."""
        name = attribute.text(ascii_only=ascii_only)
        if attribute.formula is not None and not name.startswith("("):
            name = f"({name})"
        if attribute.unit is not None:
            return f"({name} in {attribute.unit})"
        if self.codes is None:
            return name if attribute.kind == "numeric" else f"place({name})"
        n_shown = 1 if len(self.codes) == 1 else most
        texts = [shown(attribute.values[code]) for code in self.codes[:n_shown]]
        n_hidden = len(self.codes) - len(texts)
        more = f"and {n_hidden} more" if texts else f"{n_hidden} values"
        texts += [more] if n_hidden else []
        if len(self.codes) == 1:
            return f"({name} = {texts[0]})"
        asks = sign("∈", ascii_only=ascii_only)
        return f"({name} {asks} {{{', '.join(texts)}}})"


@dataclass(frozen=True, slots=True)
class LinearModel:
    """An intercept, and a coefficient for each term.

    Parameters
    ----------
    intercept : float
        The prediction if all terms are 0.
    terms : tuple of Term
        The factors of the coefficients, each term once.
    coefficients : tuple of float
        One for each term.
    """

    intercept: float
    terms: tuple[Term, ...] = ()
    coefficients: tuple[float, ...] = ()

    def text(self, schema: Schema, *, ascii_only: bool = False) -> str:
        """Return the model as text, in one line."""
        return " ".join(self.parts(schema, ascii_only=ascii_only))

    def parts(
        self,
        schema: Schema,
        *,
        ascii_only: bool = False,
        most: int = TERMS_SHOWN,
        n_values: int = VALUES_SHOWN,
        digits: int = 6,
    ) -> list[str]:
        """Return the texts of the intercept and of each term, numbers in six digits.

        Many sets of the values of one attribute are one part, with the least and the
        greatest sum of their terms. Beyond ``most`` parts the rest is counted.
        A set names no more than ``n_values``.
        """
        minus, dots = (sign(symbol, ascii_only=ascii_only) for symbol in "−…")
        pairs = zip(self.terms, self.coefficients, strict=True)
        parts: list[tuple[str, int]] = []
        for index, of_attribute in groupby(pairs, key=lambda pair: pair[0].attribute):
            terms, attribute = [*of_attribute], schema.attributes[index]
            if len(terms) > SETS_SHOWN:
                text = f"+ ({_of_sets(terms, attribute, ascii_only=ascii_only)})"
                parts.append((text, len(terms)))
                continue
            for term, factor in terms:
                times = sign("·", ascii_only=ascii_only)
                text = term.text(attribute, ascii_only=ascii_only, most=n_values)
                lead = minus if factor < 0 else "+"
                parts.append(
                    (f"{lead} {figure(abs(factor), digits=digits)} {times} {text}", 1)
                )
        n_hidden = sum(n for _, n in parts[most:])
        rest = f"+ {dots} {n_hidden} more term{'s' * (n_hidden != 1)}"
        texts = [
            figure(self.intercept, digits=digits),
            *(text for text, _ in parts[:most]),
        ]
        return [*texts, rest] if n_hidden else texts


def _of_sets(
    terms: Sequence[tuple[Term, float]], attribute: Attribute, *, ascii_only: bool
) -> str:
    """Return the range of the sum of a nominal attribute's terms, as text.

    >>> colour = Attribute("colour", "nominal", ("red", "green", "blue"))
    >>> _of_sets([(Term(0, (0, 1), 0.0), 2.0), (Term(0, (1,), 0.0), -3.5)], colour,
    ...     ascii_only=True)
    'colour: -1.5 to 2 in 2 terms, least for green, most for red'
    """
    codes = np.arange(len(attribute.values))
    sums = np.sum([factor * term.values(codes) for term, factor in terms], axis=0)
    low, high = int(sums.argmin()), int(sums.argmax())
    least, most = (shown(attribute.values[code]) for code in (low, high))
    between = f"{figure(float(sums[low]))} to {figure(float(sums[high]))}"
    name = attribute.text(ascii_only=ascii_only)
    return (
        f"{name}: {between} in {len(terms)} terms, least for {least}, most for {most}"
    )


def mixed(models: Iterable[tuple[float, LinearModel]]) -> LinearModel:
    """Return the sum of models, each times its weight.

    >>> a, b = Term(0, None, 0.0), Term(1, None, 0.0)
    >>> half = mixed([(0.5, LinearModel(4.0, (a,), (2.0,))),
    ...               (0.5, LinearModel(0.0, (b, a), (1.0, 6.0)))])
    >>> half.intercept, half.coefficients
    (2.0, (4.0, 0.5))
    """
    intercept = 0.0
    coefficients: dict[Term, float] = {}
    for share, model in models:
        intercept += share * model.intercept
        for term, coefficient in zip(model.terms, model.coefficients, strict=True):
            coefficients[term] = coefficients.get(term, 0.0) + share * coefficient
    # In the order of columns, larger sets first.
    order = sorted(
        coefficients, key=lambda term: (term.attribute, -len(term.codes or ()))
    )
    values = tuple(coefficients[term] for term in order)
    return LinearModel(intercept, tuple(order), values)


@dataclass(frozen=True, slots=True)
class FlatModels:
    """The models of all nodes as arrays.

    ``first`` and ``count`` locate a node's terms in the arrays of terms. ``first_code``
    and ``codes`` locate the codes of a term in ``lookup``, which says for each code
    whether the term is 1. A numeric term has no codes.
    """

    has: NDArray[np.bool_]
    intercept: Floats
    first: Integers
    count: Integers
    attribute: Integers
    coefficient: Floats
    missing: Floats
    first_code: Integers
    codes: Integers
    lookup: Floats

    def model(self, node: int) -> LinearModel | None:
        """Return the model of a node, if it has one."""
        if not self.has[node]:
            return None
        terms = range(self.first[node], self.first[node] + self.count[node])
        return LinearModel(
            float(self.intercept[node]),
            tuple(map(self._term, terms)),
            tuple(self.coefficient[terms.start : terms.stop].tolist()),
        )

    def of_nodes(self, nodes: Integers) -> "FlatModels | None":
        """Return the models of some nodes, or None if they have none."""
        if not self.has[nodes].any():
            return None
        count = self.count[nodes]
        lines = np.repeat(self.first[nodes], count) + ramps(count)
        return replace(
            self,
            has=self.has[nodes],
            intercept=self.intercept[nodes],
            first=count.cumsum() - count,
            count=count,
            attribute=self.attribute[lines],
            coefficient=self.coefficient[lines],
            missing=self.missing[lines],
            first_code=self.first_code[lines],
            codes=self.codes[lines],
        )

    def _term(self, line: int) -> Term:
        first, size = self.first_code[line], self.codes[line]
        hits = np.flatnonzero(self.lookup[first : first + size]) if size >= 0 else None
        codes = None if hits is None else tuple(hits.tolist())
        return Term(int(self.attribute[line]), codes, float(self.missing[line]))

    def values(
        self, nodes: Integers, rows: Integers, cells: Floats, column_of: Integers
    ) -> Floats:
        """Return the predictions of the models of nodes for rows, pair by pair.

        ``cells`` is a matrix of rows and columns, NaN if missing, and ``column_of`` has
        the column of each attribute. Every pair is repeated for each of its terms, and
        the products are added up by pair. Sums beyond the range of floats are infinite.
        """
        counts = self.count[nodes]
        term = np.repeat(self.first[nodes], counts) + ramps(counts)
        entry = np.repeat(np.arange(len(nodes)), counts)
        value = cells[np.repeat(rows, counts), column_of[self.attribute[term]]]
        is_missing = ~np.isfinite(value)
        has_codes = self.codes[term] >= 0
        code = np.where(is_missing | ~has_codes, 0, value).astype(np.int64)
        is_known_code = code < self.codes[term]
        hit = self.lookup[np.where(is_known_code, self.first_code[term] + code, 0)]
        value = np.where(has_codes, hit, value)
        value = np.where(is_missing, self.missing[term], value)
        with np.errstate(over="ignore", invalid="ignore"):
            products = self.coefficient[term] * value
            sums = np.bincount(entry, products, minlength=len(nodes))
            return np.asarray(sums + self.intercept[nodes])


def flat_models(models: Sequence[LinearModel | None]) -> FlatModels:
    """Return the models of nodes as arrays."""
    count = [0 if model is None else len(model.terms) for model in models]
    terms = [term for model in models if model is not None for term in model.terms]
    lookups = [np.zeros(1)]
    for term in terms:
        if term.codes is not None:
            hits = np.zeros(1 + max(term.codes, default=-1))
            hits[list(term.codes)] = 1.0
            lookups.append(hits)
    sizes = [-1 if t.codes is None else 1 + max(t.codes, default=-1) for t in terms]
    used = np.maximum(np.array(sizes, dtype=np.int64), 0)
    coefficients = [c for m in models if m is not None for c in m.coefficients]
    number = np.array(count, dtype=np.int64)
    return FlatModels(
        np.array([model is not None for model in models], dtype=np.bool_),
        np.array([0.0 if model is None else model.intercept for model in models]),
        number.cumsum() - number,
        number,
        np.array([term.attribute for term in terms], dtype=np.int64),
        np.array(coefficients, dtype=np.float64),
        np.array([term.missing for term in terms], dtype=np.float64),
        1 + used.cumsum() - used,
        np.array(sizes, dtype=np.int64),
        np.concatenate(lookups),
    )
