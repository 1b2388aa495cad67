"""Nodes counted on rows that are given: what is the same, and what is not."""

import json
from pathlib import Path

import numpy as np
import pytest

import spinney
from spinney.errors import DataError, ParameterError

TABLES = Path(__file__).parents[1] / "tables"
IRIS = str(TABLES / "iris.csv")
PENGUINS = str(TABLES / "penguins.csv")
TITANIC = str(TABLES / "titanic.csv")
MELONS = str(TABLES / "watermelon_2.0.csv")
CPU = str(TABLES / "cpu_prp.csv")


@pytest.fixture(scope="module")
def iris():
    return spinney.grow(IRIS, "class", recipe="cart", max_depth=3)


@pytest.fixture(scope="module")
def penguins():
    return spinney.grow(PENGUINS, "species", recipe="cart", max_depth=2)


def facts(told):
    return {c.attribute: (round(c.gain, 9), c.branches) for c in told.candidates}


@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart", "chaid", "auto"])
def test_the_own_rows_tell_what_the_model_keeps(recipe):
    model = spinney.grow(PENGUINS, "species", recipe=recipe, max_depth=2)
    for node in range(len(model.tree)):
        kept, told = model.explain(node), model.explain(node, data=PENGUINS)
        assert told.given.same
        assert told.given.remark == ""
        assert told.why == kept.why
        assert told.weights == pytest.approx(kept.weights)
        of_kept, of_rows = facts(kept), facts(told)
        assert {name: of_rows[name] for name in of_kept} == of_kept


def test_a_leaf_that_was_not_looked_at_has_its_rivals_by_rows(iris):
    pure = next(leaf.number for leaf in iris.tree.leaves if leaf.reason.code == 0)
    assert iris.explain(pure).candidates == ()
    told = iris.explain(pure, data=IRIS)
    assert {c.attribute for c in told.candidates} == set(iris.schema.names)
    assert told.why == "leaf: pure"


def test_rows_of_the_children_are_those_of_their_branch(penguins):
    leaf = penguins.apply(PENGUINS)
    for node in penguins.tree:
        here, *children = penguins.explain(node.number, data=PENGUINS).given.rows
        assert sorted(n for row in children for n in row.numbers) == (
            list(here.numbers) if children else []
        )
        if node.is_leaf:
            assert np.flatnonzero(leaf == node.number).tolist() == [
                number - 1 for number in here.numbers
            ]


def test_numbers_of_rows_count_those_without_a_class():
    rows = {"x": [1, 9, 2, 8, 3, 7], "y": [None, "b", "a", "b", "a", "b"]}
    with pytest.warns(match="is missing in"):
        model = spinney.grow(rows, "y", recipe="cart")
    with pytest.warns(match="is missing in"):
        told = model.explain(0, data=rows)
    assert [row.numbers for row in told.given.rows] == [
        (2, 3, 4, 5, 6),
        (3, 5),
        (2, 4, 6),
    ]
    assert told.given.same


def test_another_table_is_taken_and_told(iris):
    other = spinney.read_table(IRIS)[40:110]
    told = iris.explain(0, data=other)
    assert not told.given.same
    assert told.weights == (10, 50, 10)
    kept = "Iris-setosa 50, Iris-versicolor 50, Iris-virginica 50"
    assert told.given.remark == f"counts of the training rows: {kept}"
    assert "70 rows given, not the training rows" in str(told)


def test_what_another_table_would_ask_is_told(iris):
    rows = {n: spinney.read_table(IRIS)[n].cells.copy() for n in iris.schema.names}
    rows["petallength"][:] = 1.0
    rows["petallength"][0] = 9.0
    column = spinney.read_table(IRIS)["class"]
    rows["class"] = [column.levels[code] for code in column.cells]
    told = iris.explain(0, data=rows)
    assert told.chosen == "petallength"
    assert "on these rows petalwidth would have the greatest Gini decrease" in told.why


def test_a_table_of_which_no_row_comes_is_refused(iris):
    with pytest.raises(DataError, match="none of its 50 rows comes to node 2"):
        iris.explain(2, data=spinney.read_table(IRIS)[:50])


def test_an_empty_leaf_needs_no_row():
    model = spinney.grow(MELONS, "ripe", ignore=["id"], recipe="id3")
    empty = next(leaf for leaf in model.tree.leaves if not leaf.n_rows)
    told = model.explain(empty.number, data=MELONS)
    assert [row.numbers for row in told.given.rows] == [()]
    assert "this node  none" in str(told)


def test_weights_are_those_of_the_column():
    model = spinney.grow(TITANIC, "Survived", recipe="cart", weight="Freq", max_depth=2)
    table = spinney.read_table(TITANIC)
    told = model.explain(1, data=table, sample_weight=table["Freq"].cells)
    assert told.given.same
    assert facts(told) == facts(model.explain(1))
    assert not model.explain(0, data=table).given.same


@pytest.mark.parametrize(
    "said",
    [
        {"class_weight": "balanced"},
        {"cost_matrix": [[0, 1, 1], [5, 0, 1], [9, 1, 0]]},
        {"priors": {"Adelie": 0.2, "Chinstrap": 0.5, "Gentoo": 0.3}},
        {"test_costs": {"island": 3}},
    ],
)
def test_what_is_said_of_classes_and_costs_holds_for_rows_too(said):
    model = spinney.grow(PENGUINS, "species", recipe="cart", max_depth=2, **said)
    for node in range(len(model.tree)):
        kept, told = model.explain(node), model.explain(node, data=PENGUINS)
        assert told.why == kept.why
        assert told.impurity == pytest.approx(kept.impurity)
        pairs = zip(told.candidates, kept.candidates, strict=bool(kept.candidates))
        for one, other in pairs:
            assert one.gain == pytest.approx(other.gain, abs=1e-12)
            assert one.price == other.price
    ways = model.explain(0, attribute="island")
    assert ways.best.lines.gain == pytest.approx(
        model.explain(0, attribute="island", data=PENGUINS).best.lines.gain
    )


def test_a_taught_tree_has_its_rivals_by_rows():
    taught = spinney.Recipe.named("cart").changed(forest=0.75, max_depth=2)
    model = spinney.grow(IRIS, "class", recipe=taught)
    kept, told = model.explain(0), model.explain(0, data=IRIS)
    assert len(kept.candidates) == 1
    assert (
        "competitors are not stored: pass the training table (data) to count them"
        in str(kept)
    )
    assert len(told.candidates) == 4
    assert "not stored" not in str(told)
    assert "smoothed by a forest; on the original labels" in told.why


def test_a_tree_of_a_forest_is_counted_on_all_rows():
    forest = spinney.grow_forest(PENGUINS, "species", n_estimators=2)
    tree = forest.trees[1]
    assert len(tree.explain(0).candidates) == 1
    assert "not stored" in str(tree.explain(0))
    told = tree.explain(0, data=PENGUINS)
    assert len(told.candidates) == len(tree.schema.names)
    assert told.given.remark.startswith("tree of a forest: its bag drew Adelie ")
    assert told.weights == (152, 68, 124)
    with pytest.raises(ParameterError, match="stores no counts by value"):
        tree.explain(0, attribute="island")
    assert tree.explain(0, attribute="island", data=PENGUINS).n_ways == 3


def test_sums_of_numbers_are_listed_at_their_own_node():
    rng = np.random.default_rng(0)
    rows = {name: rng.integers(0, 40, 300) for name in "xyz"}
    rows["sort"] = [
        "a" if z > 20 else "b" if x + y > 40 else "c"
        for x, y, z in zip(rows["x"], rows["y"], rows["z"], strict=True)
    ]
    recipe = spinney.Recipe.named("cart").changed(linear_terms=2, max_depth=2)
    model = spinney.grow(rows, "sort", recipe=recipe)
    node = next(n for n in model.tree if n.split and n.split.attribute > 2)
    name = model.schema.names[node.split.attribute]
    told = model.explain(node.number, data=rows)
    assert told.chosen == name
    assert {"x", "y", "z", name} == {c.attribute for c in told.candidates}
    ways = model.explain(node.number, attribute=name, data=rows)
    assert ways.best.taken
    other = next(n.number for n in model.tree if n.number != node.number)
    with pytest.raises(ParameterError, match="constructed for another node"):
        model.explain(other, attribute=name, data=rows)


@pytest.mark.parametrize(
    "criterion", ["variance_root", "squared_error", "variance", "sdr", "f", "poisson"]
)
def test_cuts_of_numbers_are_listed_by_every_criterion(criterion):
    recipe = "m5" if criterion == "variance_root" else "cart"
    said = {} if recipe == "m5" else {"criterion": criterion, "max_depth": 1}
    model = spinney.grow(CPU, "class", recipe=recipe, **said)
    told = model.explain(0, data=CPU)
    assert told.given.same
    for name in model.schema.names:
        ways = model.explain(0, attribute=name, data=CPU)
        kept = next(c for c in told.candidates if c.attribute == name)
        assert ways.best.lines.gain == pytest.approx(kept.gain)
        assert ways.best.lines.threshold == kept.threshold


@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart", "auto", "m5"])
@pytest.mark.parametrize("cells", [[1, 2, 3], [6, 7, 8], [6, 6, 6], [8]])
def test_other_rows_may_all_be_on_one_side_of_a_threshold(recipe, cells):
    sides = [1.0, 1.5, 1.0, 1.25, 5.0, 5.75, 5.5, 5.0]
    targets = sides if recipe == "m5" else list("nnnnyyyy")
    grown_on = {"a": [1, 2, 3, 4, 5, 6, 7, 8], "t": targets}
    model = spinney.grow(grown_on, "t", recipe=recipe, min_samples_leaf=1)
    given = {"a": cells, "t": targets[-len(cells) :]}
    told = model.explain(0, data=given)
    (threshold,) = told.candidates
    left, right = (branch.weight for branch in threshold.branches)
    assert left == sum(cell < 4.5 for cell in cells)
    assert right == sum(cell > 4.5 for cell in cells)
    assert "a > 4" in str(told)


@pytest.mark.parametrize("recipe", ["id3", "c4.5", "cart", "auto"])
@pytest.mark.parametrize(
    "values, cells",
    [
        ("xxxxyyyy", [None] * 3),
        ("xxxxyyyy", ["never seen"] * 3),
        (range(8), [None] * 3),
    ],
)
def test_other_rows_may_all_lack_what_a_node_asks(recipe, values, cells):
    grown_on = {"c": list(values), "t": list("nnnnyyyy")}
    model = spinney.grow(grown_on, "t", recipe=recipe)
    told = model.explain(0, data={"c": cells, "t": list("nyy")})
    assert [branch.weight for branch in told.candidates[0].branches] == [0, 0]
    assert "gain =" not in str(told)  # a gain of no rows has no terms


# Lists


def test_a_number_without_rows_is_refused_with_the_way(iris):
    with pytest.raises(ParameterError) as told:
        iris.explain(0, attribute="petalwidth")
    assert told.value.parameter == "attribute"
    assert "pass the training table (data=…)" in str(told.value)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"attribute": "petal"}, "did you mean 'petalwidth' or 'petallength'"),
        ({"attribute": 3}, "must be the name of an attribute"),
        ({"attribute": "petalwidth", "data": IRIS, "limit": 0}, "limit=0"),
        ({"limit": 3}, "limit=3 needs attribute"),
        ({"row": {"x": [1]}, "node": None, "limit": 3}, "limit=3 needs attribute"),
        ({"y": [1]}, "y needs data"),
        ({"sample_weight": [1]}, "sample_weight needs data"),
        (
            {"row": {"x": [1]}, "node": None, "data": IRIS},
            "data cannot be used with",
        ),
        ({"node": 99, "data": IRIS}, "node=99 is not a node"),
    ],
)
def test_what_says_nothing_is_refused(iris, said, words):
    with pytest.raises(ParameterError) as told:
        iris.explain(**{"node": 0, **said})
    assert words in str(told.value)


def test_a_list_is_data_and_reads_in_ascii(iris):
    told = iris.explain(2, attribute="petalwidth", data=IRIS, limit=5)
    assert (told.n_ways, len(told.ways)) == (15, 5)
    assert "10 more gain no more" in str(told)
    assert told.text(ascii_only=True).isascii()
    data = json.loads(json.dumps(told.as_dict()))
    assert data["ways"][0]["lines"]["attribute"] == "petalwidth"
    taken = [way for way in told.ways if way.taken]
    assert taken == [told.best]


def test_subsets_beyond_those_that_are_counted_are_told():
    rng = np.random.default_rng(1)
    letters = rng.choice(list("abcdefghijklmno"), 400)
    noise = rng.random(400) < 0.2
    two = {"x": letters, "y": np.where((letters < "f") ^ noise, "p", "q")}
    told = spinney.grow(two, "y", recipe="cart").explain(0, attribute="x")
    assert (told.n_ways, told.n_subsets) == (14, 2**14 - 1)
    assert "no other can be better" in str(told)
    three = {**two, "y": np.where(letters < "c", "r", two["y"])}
    told = spinney.grow(three, "y", recipe="cart").explain(0, attribute="x")
    assert told.exact
    assert "branch and bound proved that no other is better" in str(told)


def test_the_best_subset_of_a_list_is_the_search_s():
    table = str(TABLES / "rpart_cu_summary.csv")
    model = spinney.grow(table, "Type", recipe="cart", ignore=["model"], max_depth=3)
    told = model.explain(0, attribute="Country")
    (kept,) = [
        c
        for c in model.tree.root.candidates
        if model.schema.names[c.attribute] == "Country"
    ]
    assert told.best.lines.gain == pytest.approx(kept.gain)


def test_an_attribute_of_one_value_has_nothing_to_ask():
    rows = {"x": ["a", "a", "b", "b"], "z": [1, 2, 1, 2], "y": ["p", "p", "q", "q"]}
    model = spinney.grow(rows, "y", recipe="id3")
    told = model.explain(1, attribute="x", data=rows)
    assert told.ways == ()
    assert "it has at most one known value at this node" in str(told)


def test_a_user_s_criterion_lists_until_it_is_saved(tmp_path):
    model = spinney.grow(
        IRIS, "class", recipe="cart", max_depth=1, criterion=lambda t: t.sizes.min()
    )
    told = model.explain(0, attribute="petalwidth", data=IRIS)
    assert told.best.lines.merit == max(way.lines.merit for way in told.ways)
    model.save(tmp_path / "m")
    with pytest.raises(ParameterError, match="which a model file does not keep"):
        spinney.load(tmp_path / "m").explain(0, attribute="petalwidth", data=IRIS)


def test_estimators_take_x_and_y():
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    model = spinney.TreeClassifier(recipe="cart", max_depth=2).fit(X, y)
    told = model.explain(0, data=X, y=y)
    assert told.given.same
    assert model.explain(0, attribute="x3", data=X, y=y).n_ways == 21


def best_gini_gain(numbers, is_p):
    """Return the greatest decrease of Gini's index over all cuts, by running sums."""
    order = np.argsort(numbers)
    n, left = len(numbers), np.cumsum(is_p[order])[:-1]
    size = np.arange(1, n)

    def gini(some, of):
        return 2 * (some / of) * (1 - some / of)

    total = is_p.sum()
    after = size * gini(left, size) + (n - size) * gini(total - left, n - size)
    return gini(total, n) - after.min() / n


def test_runners_up_of_compiled_loops_are_exact_by_rows():
    rng = np.random.default_rng(0)
    rows = {f"x{i}": rng.normal(size=14_000) for i in range(4)}
    noise = rng.normal(size=14_000) / 2
    rows["y"] = np.where(rows["x0"] + rows["x1"] * rows["x2"] / 3 + noise > 0, "p", "q")
    model = spinney.grow(rows, "y", recipe="cart", max_depth=1)
    kept, told = model.explain(0), model.explain(0, data=rows)
    assert not all(candidate.exact for candidate in kept.candidates)
    assert "pass the training table (data) to count" in str(kept)
    for candidate in told.candidates:
        assert candidate.exact
        best = best_gini_gain(rows[candidate.attribute], rows["y"] == "p")
        assert candidate.gain == pytest.approx(best)
    assert "with the rows (data)" not in str(told)
    short = model.explain(0, attribute="x1", data=rows, limit=3)
    assert (short.n_ways, len(short.ways)) == (13_999, 3)
    assert short.best.lines.gain == pytest.approx(told.candidates[1].gain)


def test_missing_rows_that_are_merged_like_a_value_are_named():
    table = {"c": [None, "w", "u"] * 20, "y": ["b", "b", "a"] * 20}
    model = spinney.grow(table, "y", recipe="chaid")
    assert "{w}  {missing}  p = 1  merged" in str(model.explain(0, attribute="c"))
