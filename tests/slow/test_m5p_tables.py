"""Model trees beside Weka's M5P on the tables that SPINNEY_DATA names."""

from pathlib import Path

import pytest
from tests.helpers import m5p
from tests.helpers.real_tables import FOLDER, needs_tables

TABLES = ("cpu", "cpu_without_vendor", "auto_mpg", "abalone")

pytestmark = [
    pytest.mark.slow,
    needs_tables,
]

# Nodes with no more rows than terms fit perfectly, and rounding decides in M5P
# which terms it drops there. See docs/model_trees.md.
TOLERANCE = {("auto_mpg", "unpruned"): 5e-4}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("variant", m5p.VARIANTS)
def test_figures_trees_and_models(table, variant):
    model, path, target = m5p.grown(table, variant, Path(FOLDER))
    near = TOLERANCE.get((table, variant), 6e-5)
    expected = m5p.summary(table, variant)
    for name, figure in m5p.figures(model, path, target).items():
        assert figure == pytest.approx(expected[name], abs=near), name
    stored = m5p.printed(table, variant)
    if stored is None:
        return
    lines, models = stored
    found_lines, found_models = m5p.ours(model.tree)
    assert found_lines == lines
    for (intercept, ours), (expected, theirs) in zip(found_models, models, strict=True):
        assert intercept == pytest.approx(expected, abs=6e-5)
        assert ours == pytest.approx(theirs, abs=6e-5)
