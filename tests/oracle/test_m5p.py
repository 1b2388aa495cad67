"""Model trees beside Weka's M5P: the table that is in the repository.

The other tables are compared in ``tests/slow/test_m5p_tables.py``.
"""

import pytest
from tests.helpers import m5p


@pytest.mark.parametrize("variant", m5p.VARIANTS)
def test_figures_on_training_rows(variant):
    found = m5p.figures(*m5p.grown("cpu_prp", variant))
    expected = m5p.summary("cpu_prp", variant)
    for name, figure in found.items():
        assert figure == pytest.approx(expected[name], abs=6e-5), name


@pytest.mark.parametrize("variant", m5p.VARIANTS)
def test_the_printed_tree_and_its_models(variant):
    stored = m5p.printed("cpu_prp", variant)
    if stored is None:
        pytest.skip("too long to store")
    lines, models = stored
    found_lines, found_models = m5p.ours(m5p.grown("cpu_prp", variant)[0].tree)
    assert found_lines == lines
    assert len(found_models) == len(models)
    for (intercept, ours), (expected, theirs) in zip(found_models, models, strict=True):
        assert intercept == pytest.approx(expected, abs=6e-5)
        assert ours == pytest.approx(theirs, abs=6e-5)
