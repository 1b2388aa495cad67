"""The explorer on real tables, if SPINNEY_DATA names their folder: all of it, in use.

Nineteen classes and many missing cells (soybean_large), and 48,842 rows (adult).
"""

import numpy as np
import pytest
from tests.extensions.explorer.browser.test_explorer_agrees import check_texts
from tests.extensions.explorer.browser.test_explorer_views import (
    STATE,
    VIEWS,
    command,
    panel,
    slide,
    view,
)
from tests.helpers.real_tables import arguments_of, needs_tables

import spinney

pytestmark = [pytest.mark.slow, needs_tables]
MODELS = {
    "soybean_large": {"recipe": "c4.5"},
    "adult": {"recipe": "cart", "max_depth": 12},
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    arguments = arguments_of(request.param)
    grown = spinney.grow(**arguments, **MODELS[request.param])
    return grown, arguments["data"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_and_panel(model, scheme, visit):
    fitted, data = model
    page = visit(fitted.explore(data=data).html, color_scheme=scheme)
    if scheme == "light":
        check_texts(page, fitted)
    walk(page)
    filters(page, fitted)
    what_if(page, fitted)
    prune(page, fitted)
    for key in (*VIEWS, "rules", "tree"):
        view(page, key)
        assert page.locator(".stage, table").first.is_visible()
    page.click(".theme")
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 1280


def walk(page):
    page.focus("[role=tree]")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter", "Enter", "Home"):
        page.keyboard.press(key)
    assert page.evaluate(f"{STATE}.selected") == 0


def filters(page, model):
    page.click("text=Filter")
    page.select_option(".filters select >> nth=0", index=1)
    label = model.schema.target.classes[0]
    kept = sum(model.tree.label(leaf) == label for leaf in model.tree.leaves)
    said = page.locator(".filters > output").text_content()
    assert said.replace("\u2009", "").startswith(f"{kept} of {model.tree.n_leaves} ")
    page.click(".filters >> text=Reset")


def what_if(page, model):
    """With every cell missing the answer is that of the model."""
    panel(page, "what-if")
    row = {name: [None] for name in model.schema.names}
    field = page.locator("[data-attribute]").first
    if field.evaluate("e => e.tagName") == "SELECT":
        field.select_option(index=1)
        field.select_option(index=0)
    else:
        field.fill("1")
        field.fill("")
    outputs = page.locator("[data-class]").evaluate_all(
        "all => all.map((e) => [Number(e.dataset.class), Number(e.dataset.output)])"
    )
    expected = model.predict_proba(row)[0]
    for code, share in outputs:
        assert share == expected[code]
    assert np.isclose(sum(share for _, share in outputs), 1.0) or len(outputs) < len(
        expected
    )


def prune(page, model):
    panel(page, "prune")
    slide(page, 3)
    names = {"model": model}
    exec(command(page, "Python"), names)
    left = page.evaluate(f"{STATE}.leaves().length")
    assert names["smaller"].tree.n_leaves == left
    page.click("text=Reset to the whole tree")
