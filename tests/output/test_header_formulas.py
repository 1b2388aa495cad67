"""Formulas in model files: there and back, and nothing that is damaged."""

import json
from typing import Any

import numpy as np
import pytest
from tests.helpers.recipes import by_recipe

import spinney
from spinney.data.formula import Clause, Conjunction, Difference, Linear, Ratio
from spinney.output.file.header import (
    formula_data,
    header_of,
    read_formula,
    read_schema,
)
from spinney.output.file.strict_json import DamageError
from spinney.output.tree_json import to_json

FORMULAS = (
    Difference(0, 1),
    Ratio(1, 0),
    Linear((0, 1, 3), (1.0, -0.3333, 2e-7)),
    Conjunction((Clause(2, codes=(0, 2)), Clause(0, low=0.1), Clause(1, high=7.0))),
    Conjunction((Clause(2, codes=(0, 2)), Clause(0, low=0.1, high=7.0))),
)


def rows(n_rows: int = 240) -> dict[str, list[Any]]:
    random = np.random.default_rng(3)
    x, y = random.integers(1, 40, (2, n_rows)).astype(float)
    kind = random.choice(["u", "v", "w"], n_rows)
    label = np.where((x + y > 40) | ((kind == "u") & (x / y > 2)), "yes", "no")
    return {
        "x": [None if place % 11 == 0 else cell for place, cell in enumerate(x)],
        "y": y.tolist(),
        "kind": kind.tolist(),
        "label": label.tolist(),
    }


def grown(**settings: Any) -> Any:
    model = spinney.grow(rows(), "label", **by_recipe(recipe="c4.5", **settings))
    assert len(model.tree.schema.attributes) > 3
    return model


MODELS = [{"linear_terms": 2}, {"construct": 3}, {"linear_terms": 2, "construct": 2}]


@pytest.mark.parametrize("formula", FORMULAS)
def test_formulas_come_back(formula):
    assert read_formula(json.loads(json.dumps(formula_data(formula))), "it") == formula


@pytest.mark.parametrize("settings", MODELS)
def test_files_keep_every_bit(settings, tmp_path):
    model = grown(**settings)
    model.save(tmp_path / "one")
    loaded = spinney.load(tmp_path / "one")
    loaded.save(tmp_path / "other")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    assert loaded.tree.schema == model.tree.schema
    assert str(loaded) == str(model)
    np.testing.assert_array_equal(
        loaded.predict_proba(rows()), model.predict_proba(rows())
    )
    assert to_json(loaded.model_) == to_json(model.model_)


@pytest.mark.parametrize(
    "formula",
    [
        7,
        {},
        {"form": "product", "attributes": [0, 1]},
        {"form": ["difference"], "attributes": [0, 1]},
        {"form": "difference", "attributes": [0]},
        {"form": "difference", "attributes": [0, 1, 0]},
        {"form": "difference", "attributes": [0, 0]},
        {"form": "difference", "attributes": [0, 2]},
        {"form": "difference", "attributes": [0, 3]},
        {"form": "difference", "attributes": [0, 1], "more": 1},
        {"form": "ratio", "attributes": [0, True]},
        {"form": "ratio", "attributes": [0, -1]},
        {"form": "ratio", "attributes": {"0": 1}},
        {"form": "linear", "attributes": [0, 1], "coefficients": [1.0]},
        {"form": "linear", "attributes": [0, 1], "coefficients": [1.0, 0]},
        {"form": "linear", "attributes": [0, 1], "coefficients": [1.0, "2"]},
        {"form": "linear", "attributes": [0, 1]},
        {"form": "conjunction", "clauses": []},
        {"form": "conjunction", "clauses": [{"attribute": 2, "codes": [0]}]},
        {
            "form": "conjunction",
            "clauses": [{"attribute": 2, "codes": [0]}, {"attribute": 0, "above": 1}],
        },
    ],
)
def test_damaged_formulas_are_refused(formula):
    model = grown(linear_terms=2).model_
    header = header_of(model)
    assert read_schema(header) == model.schema
    header["attributes"][3]["formula"] = formula
    with pytest.raises(DamageError):
        read_schema(header)


@pytest.mark.parametrize(
    "clause",
    [
        {"attribute": 0},
        {"attribute": 0, "above": None, "at_most": None},
        {"attribute": 0, "above": 2, "at_most": 1},
        {"attribute": 0, "above": "1"},
        {"attribute": 0, "codes": [0]},
        {"attribute": 1, "above": 1, "at_most": 2},
        {"attribute": 9, "above": 1},
        {"attribute": 2, "codes": [3]},
        {"attribute": 2, "codes": []},
        {"attribute": 2, "codes": [1, 0]},
        {"attribute": 2, "codes": [0], "above": None},
        {"attribute": 2, "above": 1},
    ],
)
def test_damaged_clauses_are_refused(clause):
    header = header_of(grown(linear_terms=2).model_)
    entry = header["attributes"][3]
    entry.update(kind="nominal", values=[False, True])
    other = {"attribute": 1, "above": 1, "at_most": None}
    good = {"attribute": 0, "above": None, "at_most": 3}
    entry["formula"] = {"form": "conjunction", "clauses": [other, good]}
    read_schema(header)
    entry["formula"] = {"form": "conjunction", "clauses": [other, clause]}
    with pytest.raises(DamageError):
        read_schema(header)


def test_a_column_after_a_formula_is_refused():
    header = header_of(grown(linear_terms=2).model_)
    header["attributes"].append({**header["attributes"][0], "name": "late"})
    with pytest.raises(DamageError, match="late"):
        read_schema(header)
