"""The explorer on large trees and many classes: what is read, found and told apart."""

from functools import cache

import numpy as np
import pytest
from tests.extensions.explorer.browser.explorer_models import (
    MODELS,
    clusters,
    iris,
    large_tree,
)
from tests.extensions.explorer.browser.test_explorer_views import (
    STATE,
    panel,
    selected,
    view,
)

import spinney

LONG = [
    f"Commercial customer with framework contract, region {k:02}, "
    f"{'renewed' if k % 2 else 'terminated'} before the end of the term"
    for k in range(20)
]


@cache
def many_classes():
    """Return a tree of 20 classes with long names, its table, and a key column."""
    rng = np.random.default_rng(5)
    table = {"revenue": rng.random(400).round(3), "growth": rng.random(400).round(3)}
    code = (table["revenue"] * 5).astype(int) * 4 + (table["growth"] * 4).astype(int)
    table["status"] = np.array(LONG)[code]
    model = spinney.grow(table, "status", recipe="cart")
    return model, {"customer_id": [f"C-{i:03}" for i in range(400)], **table}


def legend(page):
    names = page.locator(".legend .key b").all_inner_texts()
    colours = page.locator(".legend .swatch").evaluate_all(
        "all => all.map((each) => getComputedStyle(each).backgroundColor)"
    )
    return names, colours


def test_twenty_classes_are_told_apart(visit):
    page = visit(many_classes()[0].explore().html)
    names, colours = legend(page)
    assert len(set(colours)) == len(set(names)) == 20
    view(page, "rules")
    view(page, "tree")
    page.get_by_role("button", name="Expand all").click()
    titles = page.evaluate(
        f"(() => {{ const v = document.getElementById('explorer').explorers[0].view;"
        f" return {STATE}.leaves().map((n) => [{STATE}.tree.label[n], "
        "v.boxOf(n).title]); })()"
    )
    by_title = {title: label for label, title in titles}
    assert len(by_title) == len({label for label, _ in titles}) == 20


def test_the_list_shows_what_is_open_and_what_matches(visit):
    model = large_tree(140)
    page = visit(model.explore().html, size=(390, 800))
    lines = page.locator(".list [role=treeitem]")
    assert 20 < lines.count() <= 60
    sizes = lines.locator(".text, .rows").evaluate_all(
        "all => all.map((e) => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(sizes) >= 11
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.focus(".list")
    for key in ("ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    assert selected(page) == int(lines.nth(2).get_attribute("data-node"))
    page.get_by_role("button", name="Filter").click()
    page.select_option(".filters select >> nth=0", label="yes")
    leaves = [n.number for n in model.tree.leaves if model.tree.label(n) == "yes"]
    shown = set(lines.evaluate_all("all => all.map((e) => Number(e.dataset.node))"))
    assert shown >= set(leaves)
    page.click(".filters >> text=Reset")
    assert 20 < lines.count() <= 60


def test_screen_readers_get_every_node_that_is_open(visit):
    page = visit(large_tree(140).explore().html)
    page.get_by_role("button", name="Expand all").click()
    assert page.locator("[role=treeitem]").count() == len(large_tree(140).tree)
    assert page.evaluate(
        "document.querySelector('canvas').style.display"
    ) != "none" or (page.locator("svg.drawing text").count() > 140)
    page.get_by_role("button", name="Rotate").click()
    assert page.locator("[role=treeitem]").count() == len(large_tree(140).tree)


def test_the_address_brings_back_what_was_seen(visit):
    page = visit(MODELS["penguins"]().explore().html)
    page.click("text=Filter")
    page.select_option(".filters select >> nth=0", label="Gentoo")
    view(page, "icicle")
    panel(page, "prune")
    page.evaluate(f"{STATE}.selected = 2, {STATE}.notify('select')")
    page.reload()
    page.wait_for_selector("[data-ready]")
    said = page.evaluate(f"[{STATE}.view, {STATE}.panel, {STATE}.selected]")
    assert said == ["icicle", "prune", 2]
    label = page.locator(".filters select >> nth=0").input_value()
    assert MODELS["penguins"]().schema.target.classes[int(label)] == "Gentoo"


def test_the_model_panel_has_accuracy_confusion_and_importance(visit):
    model, table = many_classes()
    page = visit(model.explore(rows=table).html)
    panel(page, "model")
    right = np.mean(np.asarray(model.predict(table)) == table["status"])
    text = page.locator(".panel-body").inner_text()
    assert "accuracy on the given table" in text
    quality = model.quality_
    assert quality is not None
    assert quality.method is not None
    assert f"accuracy {quality.method}" in text
    cells = page.locator(".confusion td.right").all_inner_texts()
    assert sum(float(cell) for cell in cells if cell != "·") == right * 400
    bars = page.locator(".panel .names tbody th").all_inner_texts()
    ranked = model.importances().ranked()
    assert bars == [name for name, share, _ in ranked if share > 0]
    panel(page, "rows")
    head = page.locator(".panel .data thead th").all_inner_texts()
    assert head[:2] == ["row", "customer_id"]


def test_an_icicle_names_the_branch_of_a_cell(visit):
    page = visit(MODELS["penguins"]().explore().html)
    view(page, "icicle")
    texts = page.locator("svg.drawing text[data-node='1']").all_text_contents()
    assert texts[0] == "≤ 206.5"
    page.hover("svg.drawing text[data-node='1'] >> nth=0")
    assert "flipper_length_mm ≤ 206.5" in page.locator(".tip").inner_text()


def test_what_if_starts_with_a_row_that_is_predicted(visit):
    model = MODELS["penguins"]()
    page = visit(model.explore().html)
    panel(page, "what-if")
    largest = max(model.tree.leaves, key=lambda leaf: leaf.weight)
    assert page.evaluate(f"{STATE}.end") == largest.number
    assert page.locator(".verdict strong").inner_text() == model.tree.label(largest)


def test_ticks_are_round_and_the_slider_runs_as_the_curve_does(visit):
    page = visit(large_tree(140).explore().html)
    panel(page, "prune")
    texts = page.locator(".curves text").all_text_contents()
    errors = [float(text.removesuffix("%")) for text in texts if text.endswith("%")]
    assert errors == [0, 20, 40]
    assert [t for t in texts if t.isdigit()] == ["1", "2", "5", "10", "20", "50", "100"]
    page.locator(".slider").fill("0")
    assert page.evaluate(f"{STATE}.leaves().length") == 1


@pytest.mark.filterwarnings("ignore:splits on high-cardinality:spinney.SpinneyWarning")
def test_long_sets_are_written_by_their_shorter_side(visit):
    towns = [f"Town {i:02}" for i in range(40)]
    table = {"town": towns * 4, "y": (["no"] * 37 + ["yes"] * 3) * 4}
    page = visit(spinney.grow(table, "y", recipe="cart").explore().html)
    view(page, "rules")
    said = page.locator(".condition").all_inner_texts()
    assert sorted(said) == [
        "town ∈ {Town 37, Town 38, Town 39}",
        "town ∉ {Town 37, Town 38, Town 39}",
    ]


def test_clusters_have_a_scatter_plot(visit):
    rows = {name: cells for name, cells in iris().items() if name != "class"}
    page = visit(clusters().explore(rows=rows).html, size=(390, 800))
    view(page, "scatter")
    assert page.locator(".trace circle").count() == 150
    assert page.locator(".trace svg").evaluate("e => e.clientWidth") >= 300
    alone = visit(clusters().explore().html)
    view(alone, "scatter")
    assert "Centroids only" in alone.locator(".trace").inner_text()
