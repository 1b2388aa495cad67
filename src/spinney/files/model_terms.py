"""The linear models of nodes as flat arrays, back, and whether they are models."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.schema import Schema
from spinney.files.strict_json import DamageError
from spinney.trees.linear import LinearModel, Term
from spinney.trees.tree import Node

__all__ = ["TERM_ARRAYS", "check_models", "flatten_models", "models_of", "no_models"]

TERM_ARRAYS: dict[str, type[np.generic]] = {
    "node.terms": np.int64,
    "node.intercept": np.float64,
    "term.attribute": np.int64,
    "term.coefficient": np.float64,
    "term.missing": np.float64,
    "term.codes": np.int64,
    "model.codes": np.int64,
}

Arrays = Mapping[str, NDArray[Any]]


def flatten_models(nodes: Sequence[Node]) -> dict[str, NDArray[Any]]:
    """Return the arrays of the nodes' models."""
    models = [node.model for node in nodes]
    present = [model for model in models if model is not None]
    terms = [term for model in present for term in model.terms]
    counts = [-1 if model is None else len(model.terms) for model in models]
    intercepts = [0.0 if model is None else model.intercept for model in models]
    cells: dict[str, list[Any]] = {
        "node.terms": counts,
        "node.intercept": intercepts,
        "term.attribute": [term.attribute for term in terms],
        "term.coefficient": [c for model in present for c in model.coefficients],
        "term.missing": [term.missing for term in terms],
        "term.codes": [-1 if term.codes is None else len(term.codes) for term in terms],
        "model.codes": [code for term in terms for code in term.codes or ()],
    }
    return {name: np.array(cells[name], dtype=TERM_ARRAYS[name]) for name in cells}


def no_models(n_nodes: int) -> dict[str, NDArray[Any]]:
    """Return the arrays of a tree without models: what older files stand for."""
    arrays = {name: np.empty(0, dtype=dtype) for name, dtype in TERM_ARRAYS.items()}
    return {
        **arrays,
        "node.terms": np.full(n_nodes, -1, dtype=np.int64),
        "node.intercept": np.zeros(n_nodes),
    }


def models_of(arrays: Arrays) -> Iterator[LinearModel | None]:
    """Walk the models of all nodes, from arrays that have been checked."""
    codes = arrays["model.codes"].tolist()
    terms: list[Term] = []
    used = 0
    for attribute, size, missing in zip(
        arrays["term.attribute"].tolist(),
        arrays["term.codes"].tolist(),
        arrays["term.missing"].tolist(),
        strict=True,
    ):
        of_codes = None if size < 0 else tuple(codes[used : used + size])
        used += max(size, 0)
        terms.append(Term(attribute, of_codes, missing))
    coefficients = arrays["term.coefficient"].tolist()
    first = 0
    for count, intercept in zip(
        arrays["node.terms"].tolist(), arrays["node.intercept"].tolist(), strict=True
    ):
        if count < 0:
            yield None
            continue
        last = first + count
        yield LinearModel(
            intercept, tuple(terms[first:last]), tuple(coefficients[first:last])
        )
        first = last


def check_models(arrays: Arrays, schema: Schema) -> None:
    """Raise DamageError unless the arrays are models over this schema."""
    counts, attributes = arrays["node.terms"], arrays["term.attribute"]
    sizes, codes = arrays["term.codes"], arrays["model.codes"]
    n_terms = attributes.size
    for name in ("term.attribute", "term.coefficient", "term.missing", "term.codes"):
        _need(arrays[name].shape == (n_terms,), f"the array {name!r} has a wrong shape")
    _need(codes.ndim == 1, "the array 'model.codes' has a wrong shape")
    for numbers, total, what in (
        (counts, n_terms, "node.terms"),
        (sizes, codes.size, "term.codes"),
    ):
        fits = bool(np.all((numbers >= -1) & (numbers <= total)))
        together = int(np.maximum(numbers, 0).sum()) if fits else -1
        _need(together == total, f"the counts {what!r} do not add up to {total}")
    _need(
        schema.target.is_numeric or bool(np.all(counts < 0)),
        "a node has a linear model, but the target has classes",
    )
    for name in ("node.intercept", "term.coefficient", "term.missing"):
        finite = bool(np.isfinite(arrays[name]).all())
        _need(finite, f"{name!r} holds what is no finite number")
    _need(
        bool(np.all((attributes >= 0) & (attributes < len(schema.attributes)))),
        "a linear model reads an attribute that is not there",
    )
    nominal = np.array([a.kind == "nominal" for a in schema.attributes], dtype=bool)
    _need(
        bool(np.all((sizes >= 0) == nominal[attributes])),
        "a term of a linear model does not suit its attribute",
    )
    _check_codes(arrays, schema)


def _check_codes(arrays: Arrays, schema: Schema) -> None:
    """Check that the codes of a term rise and that its attribute knows them."""
    codes, sizes = arrays["model.codes"], np.maximum(arrays["term.codes"], 0)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    n_codes = np.array([len(a.values) for a in schema.attributes], dtype=np.int64)
    known = n_codes[arrays["term.attribute"][owner]] if len(codes) else codes
    _need(
        bool(np.all((codes >= 0) & (codes < known))),
        "a term of a linear model has a code that its attribute does not know",
    )
    rising = (codes[1:] > codes[:-1]) | (owner[1:] != owner[:-1])
    _need(bool(np.all(rising)), "a term of a linear model has codes that do not rise")


def _need(holds: bool, what: str) -> None:  # noqa: FBT001
    if not holds:
        raise DamageError(what)
