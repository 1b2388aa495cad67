"""Rulesets of real tables under ten-fold cross-validation, beside their trees."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from tests.helpers.real_tables import arguments_of, needs_tables
from tests.slow.test_real_tables import TABLES

import spinney
from spinney.data.declarations import declarations_of
from spinney.data.readers import read_table

TINY = ("contact_lenses", "weather_numeric", "weather_nominal")

pytestmark = [
    pytest.mark.slow,
    needs_tables,
]


def folds_of(name):
    """Yield the training and the validation part of each of ten folds."""
    facts = arguments_of(name)
    declared = declarations_of(
        facts["nominal"], facts["ordinal"], (), facts["ignore"], facts["missing_values"]
    )
    table = read_table(facts["data"], declarations=declared)
    _, classes = np.unique(table[facts["target"]].cells, return_inverse=True)
    folds = StratifiedKFold(10, shuffle=True, random_state=1)
    for grown, held in folds.split(np.zeros(len(classes)), classes):
        yield facts["target"], table.take(grown), table.take(held)


def figures(name):
    """Return the means of: accuracy of tree and rules, leaves and rules.

    The tree is pruned; the rules come, as C4.5's do, from the tree before pruning.
    """
    found = []
    for target, grown, held in folds_of(name):
        model = spinney.grow(grown, target, recipe="c4.5")
        whole = spinney.grow(grown, target, recipe="c4.5", pruning="none")
        rules = whole.ruleset(grown)
        sizes = model.tree.n_leaves, len(rules)
        found.append((model.score(held), rules.score(held), *sizes))
    return np.mean(found, axis=0)


def test_rules_are_fewer_than_leaves_and_no_worse_on_the_median_table():
    names = [name for name in TABLES if name not in TINY]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # folds that lack a class, identifiers
        table = np.array([figures(name) for name in names])
    print(f"\n{'table':16} {'tree':>7} {'rules':>7} {'leaves':>7} {'rules':>6}")
    for name, (tree, rules, n_leaves, n_rules) in zip(names, table, strict=True):
        shares = f"{100 * tree:7.2f} {100 * rules:7.2f}"
        print(f"{name:16} {shares} {n_leaves:7.1f} {n_rules:6.1f}")
    means = table.mean(axis=0) * (100, 100, 1, 1)
    print("mean", " ".join(f"{mean:.2f}" for mean in means))
    print("median gain", f"{100 * np.median(table[:, 1] - table[:, 0]):.2f}")
    assert table[:, 3].mean() < table[:, 2].mean()
    assert np.median(table[:, 1] - table[:, 0]) >= 0
    assert table[:, 1].mean() >= table[:, 0].mean()
