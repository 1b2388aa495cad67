"""Hoeffding trees: equal to a twin that keeps every row, however rows are batched."""

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.twins.naive_stream import NaiveStream

import spinney
from spinney import DataError, ParameterError, Recipe, SpinneyWarning, TreeClassifier
from spinney.data import Declarations
from spinney.data.readers import read_table
from spinney.extensions.streaming import GrowingStream
from spinney.extensions.streaming.kernels.layout import RANK_EVERY
from spinney.sources.rows import Batch, as_target, join_rows, training_set

KINDS = ("numeric", "nominal", "nominal", 3)
ORDERED = ("low", "middle", "high")
SIZES = {"size": ORDERED}


@st.composite
def streams(draw):
    """Draw rows of all kinds of cells, of a concept that may change, and settings."""
    seed = draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    n_rows, changes = draw(st.integers(20, 160)), draw(st.booleans())
    n_classes, lacking = draw(st.integers(2, 3)), draw(st.sampled_from([0.0, 0.2]))
    rows = []
    for number in range(n_rows):
        x = float(rng.integers(0, 12)) / 4
        hue, sky = f"v{rng.integers(0, 3)}", f"w{rng.integers(0, 2)}"
        size = int(rng.integers(0, 3))
        label = int(x > 1.5) if hue == "v0" else int(size > 0) * (n_classes - 1)
        if changes and number > n_rows // 2:
            label = n_classes - 1 - label
        if rng.random() < 0.1:
            label = int(rng.integers(0, n_classes))
        cells = [x, hue, sky, size]
        cells = [None if rng.random() < lacking else cell for cell in cells]
        weight = float(rng.choice([1.0, 2.0, 0.5])) if seed % 2 else 1.0
        rows.append((cells, f"c{label}", weight))
    chosen = {
        "criterion": draw(st.sampled_from(["gain", "gini"])),
        "delta": draw(st.sampled_from([0.5, 0.3, 0.05])),
        "grace_period": draw(st.integers(2, 14)),
        "tie_threshold": draw(st.sampled_from([0.0, 0.3, 0.6])),
        "max_active_leaves": draw(st.sampled_from([2, 4, 100, 100])),
        "max_depth": draw(st.sampled_from([None, None, 2])),
        "max_leaves": draw(st.sampled_from([8, 100])),
        "drift": draw(st.booleans()),
        "leaves": draw(st.sampled_from(["mean", "adaptive"])),
    }
    return rows, chosen


def table_of(rows):
    """Return rows as a table, with their weights."""
    columns = list(zip(*(cells for cells, _, _ in rows), strict=True))
    sizes = [None if code is None else ORDERED[code] for code in columns[3]]
    data = {"x": columns[0], "hue": columns[1], "sky": columns[2], "size": sizes}
    data["y"] = [label for _, label, _ in rows]
    kinds = Declarations(nominal=("hue", "sky", "y"), numeric=("x",), ordinal=SIZES)
    table = read_table(data, declarations=kinds)
    return table, np.array([weight for _, _, weight in rows])


def learned(rows, chosen, batch_size, rank_every=7):
    """Return a stream that has learned rows, and what each was taken for."""
    recipe = Recipe.named("hoeffding").changed(**chosen)
    stream, before, predicted = None, None, []
    for start in range(0, len(rows), batch_size):
        table, weights = table_of(rows[start : start + batch_size])
        attributes = table.without(("y",))
        if stream is None:
            target, codes = as_target(table["y"], numeric=False)
            given_rows = training_set(
                attributes, target, classes=codes, weights=weights, first=True
            )
            stream = GrowingStream(given_rows.schema, recipe)
            stream._stream.limits[RANK_EVERY] = rank_every
        else:
            joined = join_rows(before, Batch(attributes, table["y"], weights), None)
            stream.recode(joined)
            given_rows = joined.rows
        classes = given_rows.schema.target.classes
        labels = stream.learn(given_rows)
        predicted += [None if code < 0 else classes[code] for code in labels]
        before = given_rows.take(slice(0, 0))
    return stream, predicted


def naive(rows, chosen, rank_every=7):
    """Return the twin that has learned rows, and what each was taken for."""
    settings = {**chosen, "counting": chosen["max_active_leaves"]}
    del settings["max_active_leaves"]
    twin = NaiveStream(KINDS, rank_every=rank_every, **settings)
    return twin, [twin.learn(*row) for row in rows]


def split_facts(tree, schema):
    """Return what nodes ask and leaves hold, in printing order."""
    nodes = []
    for node in tree:
        if node.is_leaf:
            pairs = zip(schema.target.classes, node.weights.tolist(), strict=True)
            nodes.append(({c: w for c, w in pairs if w}, node.n_rows))
            continue
        split, attribute = node.split, schema.attributes[node.split.attribute]
        how = getattr(split, "threshold", None)
        if how is None:
            how = [attribute.values[code] for (code,) in split.groups]
        nodes.append((attribute.name, how, split.missing))
    return nodes


def twin_facts(twin):
    """Return the same of the twin."""
    names = ("x", "hue", "sky", "size")
    return [
        (names[node.attribute], node.values or node.cut, node.missing)
        if node.children
        else (dict(node.weights), node.n_rows)
        for node in twin.root.below()
    ]


@given(streams(), st.integers(1, 60))
@settings(max_examples=examples(60), deadline=None)
def test_the_tree_is_that_of_the_twin_however_rows_are_batched(drawn, batch_size):
    rows, chosen = drawn
    twin, expected = naive(rows, chosen)
    for size in (batch_size, len(rows)):
        stream, predicted = learned(rows, chosen, size)
        assert predicted == expected
        assert split_facts(stream.tree(), stream.schema) == twin_facts(twin)
        assert stream.learned.n_changes == twin.n_changes


# What is computed by hand


def flags(n_rows, seed=0):
    """Return rows of a flag that tells the class, one of chance, and a number."""
    rng = np.random.default_rng(seed)
    flag, other = rng.choice(["off", "on"], (2, n_rows))
    return {"flag": flag, "other": other, "x": rng.random(n_rows)}, flag


def test_a_leaf_asks_when_the_bound_says_so():
    """The gain is 1 bit and nothing competes: √(ln(1/δ) / 2n) is below at once."""
    table, flag = flags(50)
    recipe = Recipe.named("hoeffding").changed(grace_period=9, delta=np.exp(-18.0))
    # ε = √(18 / 18) = 1 at 9 rows, which 1 does not exceed; √(18 / 36) = 0.71 at 18.
    model = TreeClassifier(recipe)
    for stop, n_nodes in ((9, 1), (17, 1), (18, 3)):
        part = {name: cells[:stop] for name, cells in table.items()}
        assert len(model.fit(part, flag[:stop]).tree) == n_nodes
    assert str(model.tree.root.split.attribute) == "0"
    assert model.stream_stats_.n_rows == 18


def test_numbers_are_cut_between_the_first_rows_of_a_leaf():
    numbers = np.arange(40) % 8
    recipe = Recipe.named("hoeffding").changed(grace_period=40, delta=0.5)
    model = TreeClassifier(recipe).fit({"x": numbers}, numbers > 4)
    assert model.tree.root.split.threshold == 4.5
    assert [leaf.n_rows for leaf in model.tree.leaves] == [25, 15]
    # Missing cells, of which there were none, go to the heavier side, the first of two.
    assert model.tree.root.split.missing == 0
    for cut, branch in ((3, 0), (2, 1)):
        model = TreeClassifier(recipe).fit({"x": numbers}, numbers > cut)
        assert model.tree.root.split.missing == branch


def test_missing_cells_go_where_they_gain_most():
    numbers = [1.0, 2.0, None, 9.0] * 30
    recipe = Recipe.named("hoeffding").changed(grace_period=60, delta=0.5)
    model = TreeClassifier(recipe).fit({"x": numbers}, [0, 0, 1, 1] * 30)
    assert model.tree.root.split.missing == 1
    assert model.predict({"x": [None, 0.0]}).tolist() == [1, 0]


def test_leaves_that_get_most_wrong_count():
    table, flag = flags(3000)
    classes = np.where(flag == "on", table["x"] > 0.5, table["x"] > 2)
    classes = [f"{each}" for each in classes]
    recipe = Recipe.named("hoeffding").changed(delta=0.05, grace_period=50)
    large = TreeClassifier(recipe).fit(table, classes)
    small = TreeClassifier(recipe.changed(max_active_leaves=1)).fit(table, classes)
    assert len(small.tree) < len(large.tree)
    stream = small.model_.update_state.stream
    assert len(stream._stream.slots.n_rows) == 1


def test_a_stream_that_turns_is_learned_anew():
    """After 4,000 rows the class is the other one: a tree that watches sees it."""
    table, flag = flags(8000)
    late = np.arange(8000) >= 4000
    classes = np.where((flag == "on") ^ late, "yes", "no")
    recipe = Recipe.named("hoeffding")
    watching = TreeClassifier(recipe.changed(drift=True)).fit(table, classes)
    blind = TreeClassifier(recipe).fit(table, classes)
    assert (watching.stream_stats_.n_changes, blind.stream_stats_.n_changes) == (1, 0)
    assert watching.stream_stats_.accuracy > 0.9
    assert blind.stream_stats_.accuracy < 0.6
    assert "once errors rose" in str(watching.stream_stats_)
    steady = TreeClassifier(recipe.changed(drift=True)).fit(table, flag)
    assert steady.stream_stats_.n_changes == 0


def test_nodes_that_are_gone_make_room():
    table, flag = flags(30_000)
    turns = np.arange(30_000) // 1500 % 2
    classes = np.where((flag == "on") ^ turns, "yes", "no")
    recipe = Recipe.named("hoeffding").changed(drift=True, grace_period=50)
    model = TreeClassifier(recipe).fit(table, classes)
    assert model.stream_stats_.n_changes > 10
    assert len(model.model_.update_state.stream._stream.nodes.attribute) <= 64


# As models


def test_it_is_a_model_like_any_other(tmp_path):
    table, flag = flags(2000)
    model = TreeClassifier("hoeffding").fit(table, flag)
    model.save(tmp_path / "stream.spinney")
    loaded = spinney.load(tmp_path / "stream.spinney")
    assert str(loaded) == str(model)
    assert loaded.predict(table).tolist() == flag.tolist()
    assert loaded.stream_stats_ is None
    assert "flag" in model.export("sql")
    assert "proved best when the leaf was split" in str(model.explain(0))
    assert "no question has proven best" in str(
        TreeClassifier("hoeffding").fit(table, np.roll(flag, 1)).explain(0)
    )
    with pytest.raises(ParameterError, match="without the counts of its leaves"):
        loaded.updated({**table, "y": flag})


def test_batches_of_an_estimator_are_one_stream():
    table, flag = flags(2000)
    parts = TreeClassifier("hoeffding")
    for start in range(0, 2000, 700):
        part = {name: cells[start : start + 700] for name, cells in table.items()}
        parts.partial_fit(part, flag[start : start + 700])
    whole = TreeClassifier("hoeffding").fit(table, flag)
    assert str(parts) == str(whole)
    assert parts.stream_stats_ == whole.stream_stats_
    again = deepcopy(parts)
    again.partial_fit(table, flag)
    assert (again.stream_stats_.n_rows, parts.stream_stats_.n_rows) == (4000, 2000)
    # Further values and classes push others up.
    again.partial_fit({"flag": ["dim"], "other": ["off"], "x": [0.5]}, ["dim"])
    assert again.classes_.tolist() == ["dim", "off", "on"]
    assert again.predict(table).tolist() == flag.tolist()


def test_a_file_is_learned_in_batches(tmp_path, monkeypatch):
    table, flag = flags(500)
    flag = np.where(np.arange(500) % 9 == 0, table["other"], flag)
    lines = ["flag,other,x,y"]
    cells = zip(*table.values(), flag, strict=True)
    lines += [f"{one},{two},{x:.4f},{y}" for one, two, x, y in cells]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    whole = spinney.grow(path, "y", recipe="hoeffding", engine="memory")
    monkeypatch.setattr("spinney.extensions.streaming.stream_model.BATCH_ROWS", 90)
    predicted = []
    model = spinney.grow(
        path, "y", recipe="hoeffding", progress=lambda *each: predicted.append(each)
    )
    assert str(model) == str(whole)
    assert model.stream_stats_ == whole.stream_stats_
    assert predicted[-1] == (6, 7)
    assert model.updated(path).stream_stats_.n_rows == 1000
    with pytest.raises(ParameterError, match="older than its stream"):
        model.updated(path)


def test_adaptive_leaves_tell_more_than_counts(tmp_path):
    rng = np.random.default_rng(5)
    cells = rng.normal(size=(1500, 4))
    classes = cells.sum(axis=1) > 0
    recipe = Recipe.named("hoeffding").changed(leaves="adaptive")
    model = TreeClassifier(recipe).fit(cells, classes)
    plain = TreeClassifier("hoeffding").fit(cells, classes)
    assert model.stream_stats_.accuracy > 0.9 > plain.stream_stats_.accuracy
    assert model.score(cells, classes) > 0.9
    assert np.allclose(model.predict_proba(cells).sum(axis=1), 1)
    with pytest.warns(SpinneyWarning, match="predicts by the counts of its leaves"):
        model.save(tmp_path / "m.spinney")
    with pytest.raises(ParameterError, match="cannot predict single rows"):
        model.predictor()


@pytest.mark.parametrize(
    "given",
    [
        {"class_weight": "balanced"},
        {"priors": {"off": 0.5, "on": 0.5}},
        {"cost_matrix": [[0, 1], [2, 0]]},
        {"test_costs": {"x": 1}},
        {"tie_break_order": ["x"]},
        {"forced_splits": {(): "x"}},
        {"ccp_alpha": 0.1},
        {"validation_share": 0.3},
    ],
)
def test_what_needs_all_rows_is_refused(given):
    table, flag = flags(50)
    with pytest.raises(ParameterError, match=f"^{next(iter(given))}=.* all rows"):
        TreeClassifier("hoeffding", **given).fit(table, flag)


@pytest.mark.filterwarnings("ignore:column 'id' looks like:spinney.SpinneyWarning")
def test_columns_of_too_many_values_are_refused():
    names = [f"v{each}" for each in range(1001)]
    with pytest.raises(DataError, match=r"column 'id' has 1001 values.*ignore="):
        TreeClassifier("hoeffding").fit({"id": names}, [0, 1, 0] + [1] * 998)
