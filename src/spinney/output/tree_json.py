"""A model as JSON that people and programs can read.

The text is the readable twin of the model file: the same content, under the same
checks. Nodes are a flat list, so that a deep tree is not a deep text. A node's
``condition`` is for readers only.
"""

import math
from json.encoder import encode_basestring
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney.data import Attribute, Schema, Value
from spinney.errors import ParameterError
from spinney.growth import Model
from spinney.output.file.header import FORMAT, FORMAT_VERSION
from spinney.output.file.strict_json import DamageError
from spinney.output.file.tree_check import check_model
from spinney.output.node_errors import NodeErrors
from spinney.trees import (
    Candidate,
    Groups,
    Intervals,
    LinearModel,
    Node,
    Split,
    Surrogate,
    Tree,
)

WIDTH = 88


def to_json(model: Model, errors: NodeErrors | None = None) -> str:
    """Return a model as JSON; the same model gives the same text.

    Parameters
    ----------
    model : Model
        The model.
    errors : NodeErrors, optional
        The errors of each node on another table, to be included.

    Raises
    ------
    ParameterError
        The model could not be read back.

    Examples
    --------
    >>> import json
    >>> from spinney.growth.plain.learner import grow_tree
    >>> from spinney.data.schema import Fingerprint
    >>> from spinney.recipes.named_recipes import RECIPES
    >>> from spinney.data.schema import Target
    >>> from spinney.sources.rows.memory import MemorySource
    >>> schema = Schema((Attribute("size", "numeric"),), Target("sort", ("a", "b")))
    >>> source = MemorySource(schema, [np.array([1.0, 2.0])], classes=np.arange(2))
    >>> tree = grow_tree(source, RECIPES["id3"])
    >>> model = Model(tree, RECIPES["id3"], Fingerprint(2, 2.0, "", "0.1.0"))
    >>> data = json.loads(to_json(model))
    >>> data["nodes"][1]["condition"], data["nodes"][1]["label"]
    ('size ≤ 1.5', 'a')
    """
    try:
        header, schema, _ = check_model(model)
    except DamageError as damage:
        msg = f"this model cannot be written as JSON: {damage}"
        raise ParameterError(msg) from None
    about = {"format": FORMAT, "version": FORMAT_VERSION, **header}
    return layout(about | tree_data(model, errors, schema=schema)) + "\n"


def tree_data(
    model: Model, errors: NodeErrors | None = None, *, schema: Schema | None = None
) -> dict[str, Any]:
    """Return the nodes of a tree as plain data, for readers."""
    tree = Tree(schema or model.tree.schema, model.tree.nodes)
    return {
        **_reserved(model),
        **({} if errors is None else {"data": errors.facts()}),
        "nodes": [_node_data(node, tree, errors) for node in tree.nodes],
    }


def _reserved(model: Model) -> dict[str, Any]:
    """Return the numbers, from 1, of the validation rows reserved for pruning."""
    if model.validation_rows is None:
        return {}
    return {"validation_rows": [row + 1 for row in model.validation_rows.tolist()]}


def layout(data: Any, indent: int = 0) -> str:
    """Return JSON text, with values that fit a line on one line."""
    deeper = indent + 2
    if isinstance(data, dict):
        entries = [
            f"{_scalar(key)}: {layout(entry, deeper)}" for key, entry in data.items()
        ]
    elif isinstance(data, list):
        entries = [layout(entry, deeper) for entry in data]
    else:
        return _scalar(data)
    opening, closing = "{}" if isinstance(data, dict) else "[]"
    line = f"{opening}{', '.join(entries)}{closing}"
    if len(line) + indent <= WIDTH and "\n" not in line:
        return line
    margin = "\n" + " " * deeper
    return f"{opening}{margin}{f',{margin}'.join(entries)}\n{' ' * indent}{closing}"


def _scalar(value: Value | None) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, np.generic):
        return _scalar(value.item())
    return repr(value)  # the shortest text that gives the same number


def _node_data(node: Node, tree: Tree, errors: NodeErrors | None) -> dict[str, Any]:
    schema = tree.schema
    on_data = {} if errors is None else {"on_data": errors[node.number].as_dict()}
    candidates = [_candidate_data(candidate, schema) for candidate in node.candidates]
    return {
        "number": node.number,
        "parent": node.parent,
        "branch": node.branch,
        "condition": tree.condition(node),
        "depth": node.depth,
        "rows": node.n_rows,
        "weights": _short(node.weights),
        "distribution": _short(node.distribution),
        "label": schema.target.classes[node.label] if schema.n_classes else None,
        "split": None if node.chosen is None else candidates[node.chosen]["split"],
        "chosen": node.chosen,
        "children": list(node.children),
        **on_data,
        "reason": None if node.reason is None else node.reason.name.lower(),
        "forced": node.forced,
        **({} if node.model is None else {"model": _model_data(node.model, schema)}),
        "surrogates": [
            _surrogate_data(surrogate, schema) for surrogate in node.surrogates
        ],
        "otherwise": node.default_branch,
        "candidates": candidates,
    }


def _model_data(model: LinearModel, schema: Schema) -> dict[str, Any]:
    terms = []
    for term, coefficient in zip(model.terms, model.coefficients, strict=True):
        attribute = schema.attributes[term.attribute]
        codes = term.codes
        terms.append(
            {
                "attribute": attribute.name,
                "values": None
                if codes is None
                else [attribute.values[c] for c in codes],
                "coefficient": float(coefficient),
                "missing": float(term.missing),
            }
        )
    return {"intercept": float(model.intercept), "terms": terms}


def _surrogate_data(surrogate: Surrogate, schema: Schema) -> dict[str, Any]:
    attribute = schema.attributes[surrogate.attribute]
    return {
        "split": _split_data(surrogate.split, attribute),
        "reversed": surrogate.reversed,
        "agreement": float(surrogate.agreement),
        "adjusted": float(surrogate.adjusted),
    }


def _candidate_data(candidate: Candidate, schema: Schema) -> dict[str, Any]:
    attribute = schema.attributes[candidate.attribute]
    table = candidate.table
    return {
        "split": _split_data(candidate.split, attribute),
        "gain": float(candidate.gain),
        "merit": float(candidate.merit),
        "exact": candidate.exact,
        **({"given": True} if candidate.given else {}),
        **({} if candidate.bound is None else {"bound": float(candidate.bound)}),
        "p_value": candidate.p_value,
        "table": {
            "values": (
                _short(table.values)
                if attribute.kind == "numeric"
                else [attribute.values[code] for code in _whole(table.values)]
            ),
            "weights": [_short(line) for line in table.weights],
            "rows": _whole(table.rows),
            "missing": _short(table.missing),
            "missing_rows": _whole(table.missing_rows),
        },
    }


def _split_data(split: Split, attribute: Attribute) -> dict[str, Any]:
    data: dict[str, Any] = {"attribute": attribute.name, "asks": "threshold"}
    if isinstance(split, Groups):
        data["asks"] = "groups"
        data["groups"] = [
            [attribute.values[code] for code in group] for group in split.groups
        ]
    elif isinstance(split, Intervals):
        data["asks"] = "intervals"
        data["cuts"] = [None if cut == math.inf else cut for cut in split.cuts]
    elif split.threshold == math.inf:
        data["asks"] = "known"
        data["threshold"] = None
    else:
        data["threshold"] = float(split.threshold)
    return {**data, "shares": _short(np.array(split.shares)), "missing": split.missing}


def _whole(array: NDArray[np.generic]) -> list[Any]:
    """Return counts or codes as integers."""
    numbers: list[Any] = np.asarray(array, dtype=np.int64).tolist()
    return numbers


def _short(array: Floats) -> list[float]:
    """Return numbers, integral ones as integers, which JSON writes without ``.0``."""
    cells: list[float] = np.asarray(array, dtype=np.float64).tolist()
    return [
        int(cell)
        if cell.is_integer() and cell < 2**53 and math.copysign(1, cell) > 0
        else cell
        for cell in cells
    ]
