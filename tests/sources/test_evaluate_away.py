"""Evaluations of tables in engines and in parts: folds by number, figures of memory."""

import numpy as np
import pytest
from tests.helpers.database_tables import TABLE, in_sqlite
from tests.helpers.tables_in_parts import in_arrow
from tests.sources.test_forests_away import placed, table_of

import spinney
from spinney.cli import run
from spinney.data import declarations_of
from spinney.errors import DataError, ParameterError
from spinney.evaluation.runs_away import parts_by_number
from spinney.evaluation.splits import Scheme
from spinney.growth.forest import bags
from spinney.sources.opened import open_rows, open_source
from spinney.sources.rows import numbers_of_rows
from spinney.sources.rows.row_numbers import BYTES

pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")

SOME = 60 * BYTES * 9
TIMES = ("seconds", "predict_seconds", "row_microseconds")
RECIPES = [
    "auto",
    "id3",
    "cart",
    ("few trees", {"recipe": "forest", "n_estimators": 3}),
]


@pytest.fixture(autouse=True)
def room(monkeypatch):
    monkeypatch.setattr(open_rows, "usual_room", lambda: SOME)
    monkeypatch.setattr(bags, "MOST_ASKED", 30)


def figures(evaluation):
    return [
        {
            name: -1.0 if figure is None else figure
            for name, figure in fold.as_dict().items()
            if name not in (*TIMES, "recipe")
        }
        for fold in evaluation.folds
    ]


@pytest.mark.parametrize("numeric", [False, True])
def test_figures_are_the_same_wherever_rows_are(
    numeric, monkeypatch, tmp_path, request
):
    columns = table_of(1, numeric=numeric)
    recipes = ["cart", "m5"] if numeric else RECIPES
    options = {"folds": 2, "weight": "w", "random_state": 4, "max_depth": 3}
    told = []
    monkeypatch.setattr(open_rows, "usual_room", lambda: 1 << 30)
    for place in ("duckdb", "duckdb", "sqlite", "parts"):
        with placed(place, columns, tmp_path, request) as (data, how):
            told.append(spinney.evaluate(data, "y", recipes, **options, **how))
        monkeypatch.setattr(open_rows, "usual_room", lambda: SOME)
    for other in told[1:]:
        for one, two in zip(figures(told[0]), figures(other), strict=True):
            assert one == pytest.approx(two, rel=1e-9, nan_ok=True)
    assert sum(fold.n_test for fold in told[0].folds) == 80 * len(recipes)
    assert len(told[0].folds) == 2 * len(recipes)


def test_folds_are_those_of_the_numbers_of_rows():
    # By hand: rows of a fold are tested, all others are grown on, in memory.
    columns = table_of(2)
    del columns["w"]
    names = list(columns)
    with open_source(columns, "y", declarations=declarations_of()) as opened:
        numbers = numbers_of_rows(opened.at_hand)
    expected = []
    for _, _, draw in parts_by_number(Scheme(folds=3, seed=1)):
        inside = draw.of(numbers) > 0
        train, test = (
            {n: np.array(columns[n], dtype=object)[rows].tolist() for n in names}
            for rows in (~inside, inside)
        )
        model = spinney.grow(train, "y", recipe="id3")
        expected.append(float(np.mean(model.predict(test) == np.array(test["y"]))))
    told = spinney.evaluate(
        in_arrow(columns), "y", "id3", folds=3, random_state=1, source="parts"
    )
    assert [fold.measures["accuracy"] for fold in told.folds] == pytest.approx(expected)


def test_a_share_is_held_out_again_and_again():
    columns = table_of(3)
    given = {"source": "parts", "holdout": 0.25, "repeats": 3}
    told = spinney.evaluate(in_arrow(columns), "y", "cart", **given)
    sizes = [fold.n_test for fold in told.folds]
    assert [fold.repeat for fold in told.folds] == [1, 2, 3]
    assert all(8 < size < 32 for size in sizes)
    assert len(set(sizes)) > 1


def test_what_is_refused(tmp_path, request):
    columns = table_of(4)
    parts, given = in_arrow(columns), {"source": "parts"}
    with pytest.raises(ParameterError, match="folds='loo' leaves out one row"):
        spinney.evaluate(parts, "y", "cart", folds="loo", **given)
    pruned = ("pruned", {"recipe": "cart", "pruning": "cost-complexity"})
    with pytest.raises(ParameterError, match="needs the rows"):
        spinney.evaluate(parts, "y", [pruned], **given)
    with pytest.raises(DataError, match="none have room in memory"):
        spinney.evaluate(parts, "y", "cart", memory_limit=0, **given)
    few = {"x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]}
    with pytest.raises(DataError, match="fold 1: there is no row to test on"):
        spinney.evaluate(in_arrow(few), "y", "cart", folds=40, **given)
    with (
        placed("sqlite", columns, tmp_path, request) as (data, how),
        pytest.raises(ParameterError, match="memory_limit=0 is for rows"),
    ):
        spinney.evaluate(data, "y", "cart", source="memory", memory_limit=0, **how)


def test_a_database_is_read_where_memory_is_meant(tmp_path, request):
    columns = table_of(5)
    told = spinney.evaluate(columns, "y", "cart", folds=2)
    with placed("sqlite", columns, tmp_path, request) as (data, how):
        other = spinney.evaluate(data, "y", "cart", folds=2, source="memory", **how)
    assert figures(told) == figures(other)


def test_the_shell_evaluates(tmp_path, capfd):
    with in_sqlite(tmp_path)(table_of(6)) as (data, _):
        asked = ["evaluate", data, "--table", TABLE, "--target", "y", "--folds", "2"]
        assert run([*asked, "--recipe", "id3"]) == 0
        assert "2-fold cross-validation" in capfd.readouterr().out
        assert run([*asked, "--learning-curve"]) != 0
        assert "is for folds or --holdout alone" in capfd.readouterr().err
