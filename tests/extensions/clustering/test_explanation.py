"""Clusters in words: sentences whose numbers are those of the rows."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples

import spinney
from spinney.errors import DataError, ParameterError
from spinney.extensions.clustering.cluster_profiles import cluster_profiles


def iris():
    return spinney.read_table("tests/tables/iris.csv").without(["class"])


def penguins():
    table = spinney.read_table("tests/tables/penguins.csv")
    species = table["species"]
    labels = [species.levels[code] for code in species.cells]
    return table.without(["species"]), labels


def holds(condition, value):
    """Return whether a value that is known satisfies a condition, in plain words."""
    if condition.values is not None:
        return value in [condition.attribute.values[code] for code in condition.values]
    return condition.low < value <= condition.high


def test_sentences_of_iris_count_rows():
    table = iris()
    labels = spinney.KMeans(3, random_state=0).fit(table).labels_
    told = spinney.explain_clusters(table, labels)
    right = 0
    for cluster in told.clusters:
        assert cluster.weight == np.count_nonzero(labels == cluster.cluster)
        covered = others = 0
        for number in range(table.n_rows):
            row = table.row(number)
            if any(
                all(holds(one, row[one.attribute.name]) for one in rule.conditions)
                for rule in cluster.rules
            ):
                covered += labels[number] == cluster.cluster
                others += labels[number] != cluster.cluster
        assert (cluster.covered, cluster.others) == (covered, others)
        found = re.search(
            r"covers (\d+) of (\d+)(, and (\d+) others?)?$", cluster.text()
        )
        assert int(found[1]) == covered
        assert int(found[2]) == cluster.weight
        assert int(found[4] or 0) == others
        assert cluster.text() in str(told)
        right += covered
    assert told.right == right
    assert told.accuracy == right / 150
    assert f"{right} of 150 rows" in str(told)
    assert told.tree.tree.height <= told.max_depth == 3
    assert (
        min(node.weight for node in told.tree.tree.leaves) >= told.min_samples_leaf == 3
    )


def test_the_sentence_by_hand():
    table = {"size": [1, 2, 3, 7, 8, 9, 9], "age": [5, 5, 5, 5, 5, 5, 5]}
    told = spinney.explain_clusters(table, [0, 0, 0, 1, 1, 1, 0], max_depth=1)
    assert told[0].text() == "cluster 0 (4 rows): size ≤ 5; covers 3 of 4"
    assert told[1].text() == "cluster 1 (3 rows): size > 5; covers 3 of 3, and 1 other"
    assert told[1].text(ascii_only=True).isascii()
    assert told[0].text(ascii_only=True).isascii()
    assert (told.right, told.weight) == (6, 7)


def test_missing_values_in_a_sentence():
    table = {"x": [1, 2, None, 7, 8, 9, 9], "hue": ["a", "a", "a", "a", "a", "b", "b"]}
    told = spinney.explain_clusters(table, [0, 0, 0, 1, 1, 2, 2])
    assert told[0].text() == "cluster 0 (3 rows): x ≤ 4.5 or missing; covers 3 of 3"
    told = spinney.explain_clusters(*penguins())
    asked = "(flipper_length_mm ≤ 206.5 or missing) and (bill_length_mm ≤ 43.35 or"
    assert asked in told["Adelie"].text()


def test_penguins_are_mixed_and_lack_cells():
    table, labels = penguins()
    told = spinney.explain_clusters(table, labels)
    assert [cluster.cluster for cluster in told.clusters] == sorted(set(labels))
    assert told.accuracy > 0.95
    marks = {
        mark.attribute: mark for mark in told["Gentoo"].marks if mark.kind == "value"
    }
    # Gentoo live on Biscoe only: 124 of 124, beside 168 of all 344.
    assert marks["island"].value == "Biscoe"
    assert marks["island"].in_cluster == 1.0
    assert marks["island"].overall == pytest.approx(168 / 344)
    assert "island = Biscoe: 124 of 124 (100 %) vs. 168 of 344 (49 %)" in str(
        marks["island"]
    )
    # Eleven penguins, six of them Adelie, have no sex in the table.
    missing = next(
        m for m in told["Adelie"].marks if m.kind == "missing" and m.attribute == "sex"
    )
    assert missing.in_cluster == pytest.approx(6 / 152)
    differences = [abs(mark.difference) for mark in told["Gentoo"].marks]
    assert differences == sorted(differences, reverse=True)


@st.composite
def mixed(draw):
    n = draw(st.integers(2, 14))
    numbers = st.one_of(st.none(), st.integers(-5, 5).map(float))
    values = st.one_of(st.none(), st.sampled_from("abc"))
    table = {
        "x": [0.0, *draw(st.lists(numbers, min_size=n - 1, max_size=n - 1))],
        "hue": ["a", *draw(st.lists(values, min_size=n - 1, max_size=n - 1))],
    }
    labels = [0, 1, *draw(st.lists(st.integers(0, 2), min_size=n - 2, max_size=n - 2))]
    weights = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    return table, labels, weights


def naive_mark(cells, labels, weights, cluster):
    """Return the mean here, overall, and the difference in deviations, in loops."""
    rows = [(c, k, w) for c, k, w in zip(cells, labels, weights, strict=True)]
    known = [(c, k) for c, k, w in rows if c is not None for _ in range(w)]
    in_cluster = [c for c, k in known if k == cluster]
    if not in_cluster:
        return None
    overall = sum(c for c, _ in known) / len(known)
    variance = sum((c - overall) ** 2 for c, _ in known) / len(known)
    mean = sum(in_cluster) / len(in_cluster)
    difference = (mean - overall) / variance**0.5 if variance else 0.0
    return mean, overall, difference, len(in_cluster), len(known)


def told_of(mark):
    return (
        mark.in_cluster,
        mark.overall,
        mark.difference,
        mark.weight_in_cluster,
        mark.weight_overall,
    )


@settings(max_examples=examples(100))
@given(mixed())
def test_profiles_are_the_naive_ones(case):
    columns, labels, weights = case
    table = spinney.read_table(columns)
    own = np.array(weights, dtype=float)
    found = cluster_profiles(table, np.array(labels), own, max(labels) + 1)
    for cluster in set(labels):
        marks = {(mark.attribute, mark.kind): mark for mark in found[cluster]}
        assert len(marks) == len(found[cluster])
        expected = naive_mark(columns["x"], labels, weights, cluster)
        if table["x"].kind == "numeric":
            mark = marks.get(("x", "number"))
            assert (mark is None) == (expected is None)
            if mark is not None:
                assert told_of(mark) == pytest.approx(expected, abs=1e-9)
        shares = {}
        for value in table["hue"].levels:
            ones = [None if v is None else float(v == value) for v in columns["hue"]]
            shares[value] = naive_mark(ones, labels, weights, cluster)
        mark = marks.get(("hue", "value"))
        assert (mark is None) == (None in shares.values())
        if mark is not None:
            assert told_of(mark) == pytest.approx(shares[mark.value], abs=1e-9)
            apart = {value: abs(told[0] - told[1]) for value, told in shares.items()}
            assert apart[mark.value] >= max(apart.values()) - 1e-9
        for name in ("x", "hue"):
            ones = [float(cell is None) for cell in columns[name]]
            mark = marks.get((name, "missing"))
            assert (mark is not None) == (None in columns[name])
            if mark is not None:
                expected = naive_mark(ones, labels, weights, cluster)
                assert told_of(mark) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=examples(25))
@given(mixed())
def test_weights_are_copies(case):
    columns, labels, weights = case
    order = [i for i, weight in enumerate(weights) for _ in range(weight)]
    copied = {name: [cells[i] for i in order] for name, cells in columns.items()}
    one = spinney.explain_clusters(columns, labels, sample_weight=weights)
    other = spinney.explain_clusters(copied, [labels[i] for i in order])
    assert str(one) == str(other)


def test_rows_of_no_weight_are_absent():
    table, labels = penguins()
    weights = [0.0 if label == "Adelie" else 2.0 for label in labels]
    told = spinney.explain_clusters(table, labels, sample_weight=weights)
    assert [cluster.cluster for cluster in told.clusters] == ["Chinstrap", "Gentoo"]
    assert told.weight == 2 * (68 + 124)


def test_a_small_cluster_without_a_leaf():
    table = {"x": [float(i % 10) for i in range(60)]}
    labels = [i % 2 for i in range(59)] + ["odd"]
    labels = [str(label) for label in labels]
    told = spinney.explain_clusters(table, labels, min_samples_leaf=5)
    assert told["odd"].rules == ()
    assert told["odd"].text() == "cluster odd (1 row): no leaf of the tree predicts it"


def test_names_that_are_taken_and_labels_of_all_kinds():
    table = {"cluster": [1, 2, 8, 9], "weight": [1, 1, 5, 5]}
    for labels in (
        [-1, -1, 3, 3],
        ["a", "a", "b", "b"],
        [0.5, 0.5, 1.0, 1.0],
        [True, True, False, False],
    ):
        told = spinney.explain_clusters(table, labels, sample_weight=[1, 2, 1, 2])
        assert told.accuracy == 1.0
        assert told.tree.tree.schema.target.name == "cluster_"
        assert told[labels[0]].weight == 3
    boxed = np.array([np.int64(1), np.int64(1), "x", "x"], dtype=object)
    assert told.accuracy == 1.0
    assert len(spinney.explain_clusters(table, boxed).clusters) == 2


def test_lists_arrays_and_huge_numbers():
    rows = [[1e300, 1.0], [1e300, 2.0], [-1e300, 1.0], [-1e300, 2.0]]
    for data in (rows, np.array(rows)):
        told = spinney.explain_clusters(data, [0, 0, 1, 1])
        mark = told[0].marks[0]
        assert (mark.in_cluster, mark.overall) == (1e300, 0.0)
        assert mark.difference == pytest.approx(1.0)
        assert "nan" not in str(told)


def test_shares_as_weights():
    table = iris()
    labels = [0] * 50 + [1] * 50 + [2] * 50
    one = spinney.explain_clusters(table, labels)
    other = spinney.explain_clusters(table, labels, sample_weight=[1 / 1500] * 150)
    assert other.accuracy == pytest.approx(one.accuracy)
    assert other.weight == pytest.approx(0.1)
    assert str(other.tree.rules()).count("IF") == str(one.tree.rules()).count("IF")


def test_how_much_is_shown():
    told = spinney.explain_clusters(iris(), [0] * 50 + [1] * 50 + [2] * 50)
    assert len(told.text(marks=0).splitlines()) == 1 + 2 * 3
    assert len(told.text(marks=4).splitlines()) == 1 + 2 * 3 + 3 * 4
    with pytest.raises(ParameterError, match="marks"):
        told.text(marks=-1)


def test_bad_input():
    table = {"x": [1.0, 2.0, 3.0]}
    explain = spinney.explain_clusters
    with pytest.raises(DataError, match="one label for each row"):
        explain(table, [0, 1])
    with pytest.raises(DataError, match="one label for each row"):
        explain(table, [[0], [1], [1]])
    with pytest.raises(DataError, match="missing in row 1"):
        explain(table, ["a", None, "b"])
    with pytest.raises(DataError, match="missing in row 2"):
        explain(table, [0.0, 1.0, np.nan])
    with pytest.raises(DataError, match="inf in row 0"):
        explain(table, [np.inf, 1.0, 2.0])
    with pytest.raises(DataError, match="numbers or texts"):
        explain(table, np.array(["2020-01-01"] * 3, dtype="datetime64[D]"))
    with pytest.raises(DataError, match="numbers or texts"):
        explain(table, np.array([(1,), (2,), (1,), None], dtype=object)[:3])
    with pytest.raises(DataError, match="one cluster only, 4"):
        explain(table, [4, 4, 4])
    with pytest.raises(DataError, match="there is no cluster 9"):
        _ = explain(table, [0, 0, 1])[9]
    with pytest.raises(ParameterError, match="max_depth"):
        explain(table, [0, 0, 1], max_depth=0)
    with pytest.raises(ParameterError, match="min_samples_leaf"):
        explain(table, [0, 0, 1], min_samples_leaf=-1)
    with pytest.raises(DataError, match="weight"):
        explain(table, [0, 0, 1], sample_weight=[0, 0, 0])
