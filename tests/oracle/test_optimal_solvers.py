"""Certificates beside the trees of ConTree and STreeD, which prove theirs, too."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.oracle.optimal_tables import classes_of, flags_of, numbers_of

from spinney import Recipe, TreeClassifier, TreeRegressor

STORED = Path(__file__).parent / "fixtures" / "optimal" / "optimal.json"
LOSSES = json.loads(STORED.read_text(encoding="utf-8"))["losses"]
OF_NUMBERS = ("cpu_prp",)


@pytest.mark.parametrize(
    "program, table, depth, price, loss",
    [pytest.param(*line, id="-".join(map(str, line[:4]))) for line in LOSSES],
)
def test_the_loss_is_theirs(program, table, depth, price, loss):
    numeric = table in OF_NUMBERS
    rows, target = numbers_of(table) if numeric else classes_of(table)
    if program == "STreeD" and not numeric:
        rows = flags_of(rows)
    recipe = Recipe.named("optimal").changed(max_depth=depth, leaf_price=price)
    learner = TreeRegressor if numeric else TreeClassifier
    model = learner(recipe).fit(rows, target)
    certificate = model.tree.certificate
    assert certificate.is_proven
    assert certificate.leaves == model.tree.n_leaves
    # Theirs is a price of a question, of which there is one less than leaves.
    questions = certificate.price * (certificate.leaves - 1)
    assert certificate.loss + questions == pytest.approx(loss, rel=1e-6)
    predicted = model.predict(rows)
    counted = (predicted - target) ** 2 if numeric else predicted != target
    assert certificate.loss == pytest.approx(np.sum(counted))
