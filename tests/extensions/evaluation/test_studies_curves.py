"""Learning curves and checks of robustness."""

import numpy as np
import pytest
from tests.extensions.evaluation.test_studies import TABLE, without_seconds

import spinney
from spinney import api
from spinney.errors import ParameterError, SpinneyNote


@pytest.fixture
def trained(monkeypatch):
    """Note the training tables."""
    tables = []
    grow = spinney.grow

    def noting(train, target, **arguments):
        tables.append(train)
        return grow(train, target, **arguments)

    monkeypatch.setattr(api, "grow", noting)
    return tables


def test_a_curve_ends_with_the_whole_training_part():
    curve = spinney.learning_curve(TABLE, "class", ["id3", "cart"], folds=3)
    assert [line["rows"] for line in curve.table] == [6, 12, 24, 36, 48, 60] * 2
    whole = spinney.evaluate(TABLE, "class", ["id3", "cart"], folds=3)
    for name in ("accuracy", "brier", "leaves", "accuracy_sd"):
        ends = [line[name] for line in curve.table if line["rows"] == 60]
        assert ends == [line[name] for line in whole.table]


def test_smaller_sizes_are_parts_of_larger_ones(trained):
    rows = {"x": [n / 2 for n in range(40)], "y": ["a", "b", "b", "b"] * 10}
    spinney.learning_curve(rows, "y", "cart", sizes=[8, 16, 0.5], folds=4)
    for small, middle, large in zip(*[iter(trained)] * 3, strict=True):
        sizes = [table.n_rows for table in (small, middle, large)]
        assert sizes == [8, 15, 16]
        cells = [set(table["x"].cells) for table in (small, middle, large)]
        assert cells[0] < cells[1] < cells[2]
        assert np.bincount(small["y"].cells).tolist() == [2, 6]  # shares are kept
        assert np.bincount(large["y"].cells).tolist() == [4, 12]


def test_pairs_are_compared_at_each_size():
    curve = spinney.learning_curve(
        TABLE, "class", ["id3", "cart"], sizes=[20, 1.0], folds=3
    )
    assert [test.conditions for test in curve.compare()] == [{"rows": 20}, {"rows": 60}]


@pytest.mark.parametrize("size", [0, 1, 61, -0.5, 0.0, 1.5, True, "10", float("nan")])
def test_sizes_that_mean_nothing(size):
    with pytest.raises(ParameterError, match="from 2 to 60"):
        spinney.learning_curve(TABLE, "class", sizes=[size], folds=3)


def test_no_sizes():
    with pytest.raises(ParameterError, match="sizes is empty"):
        spinney.learning_curve(TABLE, "class", sizes=[], folds=3)


def test_a_size_that_holds_one_class():
    rows = {"x": list(range(40)), "y": ["a"] * 36 + ["b"] * 4}
    found = spinney.learning_curve(rows, "y", ["cart"], sizes=[2], folds=2)
    assert found.as_dict()["table"][0]["accuracy"] == pytest.approx(0.9)


def test_lines_of_robustness():
    found = spinney.robustness(
        TABLE,
        "class",
        ["cart"],
        noise=[0.2, 0],
        missing_rate=[0, 0.1],
        outliers=[0.3],
        folds=3,
    )
    assert [(line["injected"], line["rate"]) for line in found.table] == [
        ("nothing", 0),
        ("class noise", 0.2),
        ("attribute noise", 0.2),
        ("missing values", 0.1),
        ("outliers", 0.3),
    ]
    plain = spinney.evaluate(TABLE, "class", ["cart"], folds=3)
    assert found.table[0]["accuracy"] == plain.table[0]["accuracy"]
    assert found.table[0]["leaves"] == plain.table[0]["leaves"]


def test_damage_is_done_to_training_rows_alone(trained):
    spinney.robustness(
        {**TABLE, "size": [n / 2 for n in range(90)]},
        "class",
        ["id3", "cart"],
        noise=[0.5],
        missing_rate=[0.5],
        outliers=[0.5],
        weight="weight",
        folds=3,
    )
    assert len(trained) == 3 * 4 * 2
    for one, other in zip(trained[::2], trained[1::2], strict=True):
        assert one is other  # the same damage for both recipes
    for labels, attributes, missing, far in zip(*[iter(trained[::2])] * 4, strict=True):
        assert np.count_nonzero(far["size"].cells != labels["size"].cells) == 30
        assert np.array_equal(far["colour"].cells, labels["colour"].cells)
        assert np.count_nonzero(missing["size"].missing) == 30
        assert not attributes["size"].missing.any()
        assert len(set(labels["size"].cells)) == 60
        assert len(set(attributes["size"].cells)) < 60
        assert np.count_nonzero(labels["class"].cells != missing["class"].cells) == 30
        for table in (labels, attributes):
            assert np.array_equal(table["weight"].cells, missing["weight"].cells)


def test_noise_makes_numbers_that_are_classes_wrong(trained):
    rows = {"x": [n / 2 for n in range(60)], "y": [3, 5, 9] * 20}
    given = {"noise": [1], "missing_rate": [0], "outliers": [], "folds": 2}
    with pytest.warns(SpinneyNote, match="read as classes"):
        spinney.robustness(rows, "y", "cart", **given)
    for plain, noisy in zip(trained[::3], trained[1::3], strict=True):
        assert noisy["y"].levels == (3, 5, 9)
        assert not np.any(plain["y"].cells == noisy["y"].cells)


def test_missing_values_in_test_rows_are_an_option():
    def run(**options):
        return without_seconds(
            spinney.robustness(
                TABLE,
                "class",
                "cart",
                noise=[],
                missing_rate=[0.6],
                outliers=[],
                folds=3,
                **options,
            )
        )

    assert run() == run(missing_in_test=False)
    chosen, gone = run(), run(missing_in_test=True)
    assert chosen["table"] != gone["table"]
    # What is learned is the same; what is asked differs.
    assert chosen["table"][0]["leaves"] == gone["table"][0]["leaves"]


def test_the_seed_decides():
    def run(seed):
        return without_seconds(
            spinney.robustness(
                TABLE,
                "class",
                "cart",
                noise=[0.3],
                missing_rate=[],
                outliers=[0.3],
                folds=3,
                random_state=seed,
            )
        )

    assert run(1) == run(1)
    assert run(1) != run(2)


@pytest.mark.parametrize("rate", [-0.1, 1.1, "0.1", True, float("nan")])
def test_rates_that_mean_nothing(rate):
    with pytest.raises(ParameterError, match=r"noise: the rate .* must be a number"):
        spinney.robustness(TABLE, "class", noise=[rate])
    with pytest.raises(
        ParameterError, match=r"missing_rate: the rate .* must be a number"
    ):
        spinney.robustness(TABLE, "class", missing_rate=[rate])
    with pytest.raises(ParameterError, match=r"outliers: the rate .* must be a numb"):
        spinney.robustness(TABLE, "class", outliers=[rate])


def test_nothing_to_inject():
    with pytest.raises(
        ParameterError, match="noise, missing_rate and outliers are all"
    ):
        spinney.robustness(TABLE, "class", noise=[], missing_rate=[], outliers=[])


def test_outliers_are_of_numbers():
    names = {name: TABLE[name] for name in ("colour", "class")}
    given = {"noise": [], "missing_rate": [0], "folds": 3}
    with pytest.raises(
        ParameterError, match=r"outliers=\[0.1\] need numbers, and neither"
    ):
        spinney.robustness(names, "class", "cart", outliers=[0.1], **given)
    found = spinney.robustness(names, "class", "cart", **given)
    assert [line["injected"] for line in found.table] == ["nothing"]
    found = spinney.robustness(TABLE, "class", "cart", **given)
    rates = [(line["injected"], line["rate"]) for line in found.table]
    assert rates == [("nothing", 0), ("outliers", 0.1), ("outliers", 0.2)]


def test_outliers_of_a_numeric_target_are_a_damage_of_their_own(trained):
    rows = {"x": ["a", "b", "c"] * 20, "y": [n / 4 for n in range(60)]}
    found = spinney.robustness(
        rows, "y", "cart", noise=[], missing_rate=[], outliers=[0, 0.2], folds=3
    )
    assert [line["injected"] for line in found.table] == ["nothing", "target outliers"]
    plain, far = found.table
    assert far["rmse"] > 1.5 * plain["rmse"]
    for one, other in zip(trained[::2], trained[1::2], strict=True):
        assert np.count_nonzero(one["y"].cells != other["y"].cells) == 8


def test_everything_taken_away():
    found = spinney.robustness(
        TABLE,
        "class",
        "c4.5",
        noise=[],
        missing_rate=[1],
        outliers=[],
        missing_in_test=True,
        folds=3,
    )
    assert found.table[0]["leaves"] == 1
