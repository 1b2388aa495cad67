"""Evaluations of tables in engines and in parts: folds by number, figures of memory."""

import numpy as np
import pytest
from tests.helpers.database_tables import TABLE, in_postgres
from tests.helpers.partitioned_tables import in_arrow
from tests.sources.tables_away import N_ROWS, placed, table_of

import spinney
from spinney.cli import run
from spinney.errors import DataError, ParameterError
from spinney.extensions.evaluation.remote_study import splits_by_hash
from spinney.extensions.evaluation.splits import Scheme
from spinney.growth.forest import bags
from spinney.sources.rows import row_hashes
from spinney.sources.rows.sampleable_rows import CELL_BYTES
from spinney.sources.training_data import TableInput, open_data, open_source

SLOW = pytest.mark.slow
pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")

SOME = 36 * CELL_BYTES * 9
TIMES = ("seconds", "predict_seconds", "row_microseconds")
FOREST = ("few trees", {"recipe": "forest", "n_estimators": 2, "n_jobs": 1})
CASES = (
    (False, ("parts",), ["id3", FOREST]),
    (True, ("postgres",), ["m5"]),
    *(
        pytest.param(numeric, ("duckdb", "postgres", "parts"), recipes, marks=SLOW)
        for numeric, recipes in (
            (False, ["auto", "id3", "cart", FOREST]),
            (True, ["cart", "m5"]),
        )
    ),
)


@pytest.fixture(autouse=True)
def room(monkeypatch):
    monkeypatch.setattr(open_data, "default_memory_limit", lambda: SOME)
    monkeypatch.setattr(bags, "SAMPLE_SIZE", 20)


def figures(evaluation):
    return [
        {
            name: -1.0 if figure is None else figure
            for name, figure in fold.as_dict().items()
            if name not in (*TIMES, "recipe")
        }
        for fold in evaluation.folds
    ]


@pytest.mark.parametrize(("numeric", "places", "recipes"), CASES)
def test_figures_are_the_same_wherever_rows_are(
    numeric, places, recipes, monkeypatch, tmp_path, request
):
    columns = table_of(1, numeric=numeric, n_rows=N_ROWS * (1 + ("auto" in recipes)))
    options = {"folds": 2, "weight": "w", "random_state": 4, "max_depth": 3}
    told = []
    monkeypatch.setattr(open_data, "default_memory_limit", lambda: 1 << 30)
    for place in ("duckdb", *places):  # the first one has room, and is read
        with placed(place, columns, tmp_path, request) as (data, how):
            told.append(spinney.evaluate(data, "y", recipes, **options, **how))
        monkeypatch.setattr(open_data, "default_memory_limit", lambda: SOME)
    for other in told[1:]:
        for one, two in zip(figures(told[0]), figures(other), strict=True):
            assert one == pytest.approx(two, rel=1e-9, nan_ok=True)
    assert sum(fold.n_test for fold in told[0].folds) == len(columns["y"]) * len(
        recipes
    )
    assert len(told[0].folds) == 2 * len(recipes)


def test_folds_are_those_of_the_numbers_of_rows():
    # By hand: rows of a fold are tested, all others are grown on, in memory.
    columns = table_of(2)
    del columns["w"]
    names = list(columns)
    with open_source(TableInput(data=columns, target="y")) as opened:
        numbers = row_hashes(opened.in_memory_rows)
    expected = []
    for _, _, draw in splits_by_hash(Scheme(folds=3, seed=1)):
        inside = draw.counts(numbers) > 0
        train, test = (
            {n: np.array(columns[n], dtype=object)[rows].tolist() for n in names}
            for rows in (~inside, inside)
        )
        model = spinney.grow(train, "y", recipe="id3")
        expected.append(float(np.mean(model.predict(test) == np.array(test["y"]))))
    told = spinney.evaluate(
        in_arrow(columns), "y", "id3", folds=3, random_state=1, engine="partitions"
    )
    assert [fold.measures["accuracy"] for fold in told.folds] == pytest.approx(expected)


def test_a_share_is_held_out_again_and_again():
    columns = table_of(3)
    given = {"engine": "partitions", "holdout": 0.25, "repeats": 3}
    told = spinney.evaluate(in_arrow(columns), "y", "cart", **given)
    sizes = [fold.n_test for fold in told.folds]
    assert [fold.repeat for fold in told.folds] == [1, 2, 3]
    assert all(3 < size < 24 for size in sizes)
    assert len(set(sizes)) > 1


def test_what_is_refused(tmp_path, request):
    columns = table_of(4)
    parts, given = in_arrow(columns), {"engine": "partitions"}
    with pytest.raises(ParameterError, match="folds='loo' needs the rows in memory"):
        spinney.evaluate(parts, "y", "cart", folds="loo", **given)
    pruned = ("pruned", {"recipe": "cart", "pruning": "cost-complexity"})
    with pytest.raises(ParameterError, match="needs the rows"):
        spinney.evaluate(parts, "y", [pruned], **given)
    with pytest.raises(DataError, match="no test row fits in memory"):
        spinney.evaluate(parts, "y", "cart", memory_limit=0, **given)
    few = {"x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]}
    with pytest.raises(DataError, match="fold 1 has no test rows"):
        spinney.evaluate(in_arrow(few), "y", "cart", folds=40, **given)
    with (
        placed("postgres", columns, tmp_path, request) as (data, how),
        pytest.raises(ParameterError, match="memory_limit=0 applies only if"),
    ):
        spinney.evaluate(data, "y", "cart", engine="memory", memory_limit=0, **how)


def test_a_database_is_read_where_memory_is_meant(tmp_path, request):
    columns = table_of(5)
    told = spinney.evaluate(columns, "y", "cart", folds=2)
    with placed("postgres", columns, tmp_path, request) as (data, how):
        other = spinney.evaluate(data, "y", "cart", folds=2, engine="memory", **how)
    assert figures(told) == figures(other)


@pytest.mark.parametrize("study", [spinney.learning_curve, spinney.robustness])
def test_other_studies_read_a_database(study, tmp_path, request):
    few = {"folds": 2, "noise": [0.2], "missing_rate": [], "outliers": []}
    if study is spinney.learning_curve:
        few = {"folds": 2, "sizes": [0.5]}
    columns = table_of(5)
    told = study(columns, "y", "cart", **few)
    with placed("postgres", columns, tmp_path, request) as (data, how):
        other = study(data, "y", "cart", engine="memory", **few, **how)
        with pytest.raises(
            ParameterError, match="engine='postgres' does not read the rows"
        ):
            study(data, "y", "cart", engine="postgres", **few, **how)
        with pytest.raises(ParameterError, match="memory_limit=0 applies only if"):
            study(data, "y", "cart", memory_limit=0, **few, **how)
    assert figures(told) == figures(other)


def test_few_rows_are_evaluated_by_what_reserves_none():
    told = spinney.evaluate(in_arrow(table_of(5)), "y", engine="partitions", folds=2)
    assert {fold.recipe for fold in told.folds} == {"c4.5"}


def test_arguments_are_heeded_as_in_memory():
    parts, both = in_arrow(table_of(5)), {"ccp_alpha": 0.1, "validation_share": 0.3}
    variant = ("both", {"recipe": "cart", **both})
    with pytest.raises(ParameterError, match="both say how to prune"):
        spinney.evaluate(parts, "y", [variant], engine="partitions", folds=2)
    with pytest.raises(ParameterError, match="n_jobs='many'"):
        spinney.evaluate(
            parts, "y", "cart", engine="partitions", folds=2, n_jobs="many"
        )


def test_the_shell_evaluates(postgres, capfd):
    with in_postgres(postgres)(table_of(6)) as (data, _):
        asked = ["evaluate", data, "--table", TABLE, "--target", "y", "--folds", "2"]
        assert run([*asked, "--recipe", "id3"]) == 0
        assert "2-fold cross-validation" in capfd.readouterr().out
        curve = [*asked, "--recipe", "cart", "--learning-curve", "--size", "0.5"]
        assert run([*curve, "--engine", "memory"]) == 0
        assert "rows" in capfd.readouterr().out
        assert run([*curve, "--engine", "postgres"]) == 2
        assert "or read them (--engine 'memory')" in capfd.readouterr().err
