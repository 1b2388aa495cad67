"""Histograms of the numbers that nodes ask for: against plain loops, and drawn."""

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.helpers.strategies import TABLES, recipes, tables
from tests.properties.test_pruning import coded, numeric_tables
from tests.twins import naive

import spinney
from spinney.errors import ParameterError
from spinney.extensions.clustering.models import FittedClusters
from spinney.extensions.explorer.page_data import explorer_data
from spinney.extensions.pictures.node_histograms import (
    BINS,
    node_histograms,
    split_cuts,
)
from spinney.growth.plain.learner import grow_tree
from spinney.growth.prune import EncodedRows

SVG = "{http://www.w3.org/2000/svg}"
PENGUINS = TABLES / "penguins.csv"


def line_of(target, schema):
    """Return what a row of this target adds to a bin."""
    if schema.target.is_numeric:
        off = target - schema.target.origin
        return np.array([1.0, off, off**2])
    return np.eye(schema.n_classes)[target]


@pytest.mark.parametrize("numeric", [False, True])
@given(data=st.data())
@settings(max_examples=examples(30))
def test_bins_are_those_of_plain_loops(numeric, data):
    table = data.draw((numeric_tables if numeric else tables)(max_rows=24))
    tree = grow_tree(table.source, data.draw(recipes()))
    made = node_histograms(tree, EncodedRows(*coded(table)))
    for node in tree:
        expected = [] if node.is_leaf else at_node(tree, node, table.rows)
        asks = split_cuts(tree, node)
        assert (node.number in made) == bool(
            asks and any(number is not None for number, _ in expected)
        )
        if node.number in made:
            check(made[node.number], expected, asks)


def at_node(tree, node, rows):
    """Return the number of each row that comes to a node, and what it counts."""
    place = node.split.attribute
    parts = [(naive.route(tree, cells)[node.number], cells) for cells, _, _ in rows]
    return [
        (cells[place], line_of(target, tree.schema) * weight * part)
        for (part, cells), (_, target, weight) in zip(parts, rows, strict=True)
        if part > 0
    ]


def check(histogram, rows, cuts):
    numbers = [number for number, _ in rows if number is not None]
    assert histogram.cuts == cuts
    assert (histogram.least, histogram.greatest) == (min(numbers), max(numbers))
    assert 1 <= len(histogram.weights) <= BINS + 1
    width = len(histogram.missing)
    bins, missing = np.zeros((len(histogram.weights), width)), np.zeros(width)
    for number, counts in rows:
        if number is None:
            missing += counts
            continue
        # Of the bins that reach to the number, the first; sides of the cut are exact.
        within = [
            at
            for at in range(len(bins))
            if histogram.edges(at)[0] - 1e-9 <= number <= histogram.edges(at)[1] + 1e-9
            and (number <= cuts[0]) == (middle(histogram, at) <= cuts[0])
        ]
        bins[within[0]] += counts
    np.testing.assert_allclose(histogram.weights, bins, atol=1e-9)
    np.testing.assert_allclose(histogram.missing, missing, atol=1e-9)


def middle(histogram, at):
    return sum(histogram.edges(at)) / 2


def test_what_is_left_of_the_cut_takes_the_left_branch():
    model = spinney.grow(PENGUINS, "species", recipe="cart")
    rows = model.node_errors(PENGUINS).rows
    root = node_histograms(model.tree, rows)[0]
    left = [at for at in range(len(root.weights)) if middle(root, at) < root.cuts[0]]
    table = model.tree.root.candidate.branches
    np.testing.assert_array_equal(root.weights[left].sum(axis=0), table.weights[0])
    np.testing.assert_array_equal(root.missing, table.missing)
    assert root.edges(len(left))[0] == root.cuts[0] == 206.5


def test_whole_numbers_have_bins_of_whole_width():
    table = {"age": list(range(40)), "old": ["no"] * 23 + ["yes"] * 17}
    model = spinney.grow(table, "old", recipe="cart")
    (made,) = node_histograms(model.tree, model.node_errors(table).rows).values()
    assert (made.low, made.step, made.cuts) == (-1.5, 3.0, (22.5,))
    assert made.weights.sum(axis=1).tolist() == [2, *[3] * 12, 2]


def test_numbers_that_are_all_alike_are_one_bar():
    table = {"age": [1, 2, 3, 4], "old": ["no", "no", "yes", "yes"]}
    model = spinney.grow(table, "old", recipe="cart")
    rows = model.node_errors({"age": [9, 9, 9], "old": ["no", "yes", "yes"]}).rows
    (made,) = node_histograms(model.tree, rows).values()
    assert made.weights.tolist() == [[1.0, 2.0]]


def bars_of(svg, title):
    """Return the bars of the first question of a name, as tooltips and heights."""
    root = ElementTree.fromstring(svg)
    box = next(
        group
        for group in root.findall(f"{SVG}g")
        if [each.text for each in group.findall(f"{SVG}text")][:1] == [title]
    )
    return [
        (each.find(f"{SVG}title").text, sum(float(r.get("height")) for r in parts))
        for each in box.findall(f"{SVG}g")
        if (parts := each.findall(f"{SVG}rect")) and not each.findall(f"{SVG}text")
    ], box


def test_a_picture_has_them_where_rows_are_given():
    model = spinney.grow(PENGUINS, "species", recipe="cart")
    svg = model.export("svg", data=PENGUINS, bars=True)
    assert svg == model.plot(data=PENGUINS, bars=True).svg + "\n"
    bars, box = bars_of(svg, "flipper_length_mm")
    assert bars[-1] == ("(230.5, 234.5]: 1: Gentoo 1 (100 %)", 0.9)
    assert max(tall for _, tall in bars) == pytest.approx(44, abs=0.3)
    (cut,) = (line for line in box.findall(f"{SVG}line") if line.get("class") == "cut")
    left, right = (float(each.get("x1")) for each in (box.find(f"{SVG}line"), cut))
    assert left < right
    texts = [each.text for each in box.findall(f"{SVG}text")]
    assert "172" in texts
    assert "231" in texts
    alone = model.plot(bars=True).svg
    assert 'class="cut"' not in alone
    assert 'class="cut"' not in model.plot(data=PENGUINS).svg


def test_bars_of_a_number_that_is_predicted_have_the_colour_of_their_mean():
    path = TABLES / "cpu_prp.csv"
    model = spinney.grow(path, "class", recipe="cart")
    bars, box = bars_of(model.plot(data=path, bars=True, max_depth=2).svg, "MMAX")
    assert len(bars) > 5
    kinds = {each.get("class") for each in box.findall(f"{SVG}g/{SVG}rect")}
    assert kinds == {"k0", "k5"}


def test_a_page_has_aggregates_of_data_and_no_row():
    model = spinney.grow(PENGUINS, "species", recipe="cart")
    data = explorer_data([model], data=PENGUINS)["models"][0]
    assert data["rows"] is None
    assert data["contains"]["counted"] == 344
    asks = sum(bool(split_cuts(model.tree, node)) for node in model.tree)
    assert data["contains"]["histograms"] == asks
    assert data["tree"]["sequence"]["validation"] is not None
    assert explorer_data([model])["models"][0]["contains"]["histograms"] == 0


def test_rows_and_data_exclude_each_other():
    model = spinney.grow(PENGUINS, "species", recipe="cart")
    with pytest.raises(ParameterError, match="both give rows"):
        model.explore(rows=PENGUINS, data=PENGUINS)
    forest = spinney.grow_forest(PENGUINS, "species", n_estimators=2)
    with pytest.raises(ParameterError, match="leave it out"):
        forest.export("svg", data=PENGUINS)
    groups = spinney.KMeans(n_clusters=2).fit({"x": [1.0, 2.0, 8.0, 9.0]})
    with pytest.raises(ParameterError, match="has no effect on clusters"):
        FittedClusters(groups.clusters_).explore(data={"x": [1.0]})
