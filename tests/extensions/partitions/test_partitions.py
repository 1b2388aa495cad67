"""Partitioned tables: the tree is that of the same rows in memory."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.extensions.databases.test_bins import RECIPES, rows_of
from tests.helpers.fuzz import examples
from tests.helpers.partitioned_tables import in_arrow, in_parquet, in_partitions
from tests.sources.comparing import assert_same_tree

import spinney
from spinney.data import Declarations
from spinney.errors import DataError, ParameterError, SpinneyWarning
from spinney.extensions.partitions import (
    open_partitions,
    partition_facts,
    partitioned_source,
)
from spinney.extensions.partitions.executors import InThisProcess, sum_results
from spinney.sources import ROOT, TableRequest, open_bins
from spinney.sources.rows.sampleable_rows import ColumnRoles, RemoteOptions
from spinney.sources.training_data import open_data
from spinney.testing import check_source

pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")


@pytest.fixture
def few_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition_facts, "MAX_VALUES", 20)
    monkeypatch.setattr(partitioned_source, "MAX_ROWS_BY_VALUE", 20)
    monkeypatch.setattr(open_partitions, "N_BINS", 9)


def grown(columns: dict[str, list[Any]], **options: Any) -> Any:
    return spinney.grow(in_arrow(columns), "y", engine="partitions", **options)


def test_trees_are_those_of_memory():
    checked = check_source(in_partitions, n_tables=2, n_rows=24, seed=1)
    assert min(checked.nodes.values()) > 10


def test_files_of_parquet(tmp_path):
    check_source(in_parquet(tmp_path, "partitions"), recipes=["id3"], n_tables=1)


@pytest.mark.parametrize("recipe", RECIPES)
def test_bins_give_the_tree_of_all_values(recipe, few_bins):
    columns = rows_of(1, missing=0.1, n_rows=150)
    options = {"recipe": RECIPES[recipe], "weight": "w", "min_samples_leaf": 3}
    expected = spinney.grow(columns, "y", **options).tree
    assert len(expected) > 10
    assert_same_tree(expected, grown(columns, **options).tree, whole=True)


@pytest.mark.parametrize("recipe", ["cart", "fractional", "gain ratio"])
def test_bins_that_are_opened_to_finer_ones(recipe, few_bins, monkeypatch):
    monkeypatch.setattr(open_bins, "MAX_LINES", 30)
    monkeypatch.setattr(open_bins, "MAX_PARTS", 4)
    columns = rows_of(2, missing=0.1, n_rows=200)
    options = {"recipe": RECIPES[recipe], "weight": "w", "min_samples_leaf": 3}
    expected = spinney.grow(columns, "y", **options).tree
    assert_same_tree(expected, grown(columns, **options).tree, whole=True)


@pytest.mark.slow
@given(
    recipe=st.sampled_from(sorted(RECIPES)),
    seed=st.integers(0, 1000),
    missing=st.sampled_from([0.0, 0.1, 0.5]),
    max_lines=st.sampled_from([20, 100, 10_000]),
)
@settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@example(recipe="fractional", seed=24, missing=0.1, max_lines=10_000)
def test_bins_of_any_table(recipe, seed, missing, max_lines, few_bins, monkeypatch):
    monkeypatch.setattr(open_bins, "MAX_LINES", max_lines)
    monkeypatch.setattr(open_bins, "MAX_PARTS", 4)
    columns = rows_of(seed, missing=missing, n_rows=200)
    options = {"recipe": RECIPES[recipe], "weight": "w", "max_depth": 5}
    expected = spinney.grow(columns, "y", **options).tree
    assert_same_tree(expected, grown(columns, **options).tree, whole=True)


def test_a_level_is_two_questions_of_few_lines(few_bins, monkeypatch):
    monkeypatch.setattr(open_partitions, "N_BINS", 64)
    asked: list[str] = []
    answered = partitioned_source.PartitionedSource._tables

    def counted(source: Any, question: Any, *what: Any) -> Any:
        answer = answered(source, question, *what)
        asked.append(question.__name__)
        assert answer.nbytes == source.levels[-1]
        lines = np.bincount(answer.batch.owner[answer.line_maxima > answer.line_minima])
        assert max(lines, default=0) <= 64
        return answer

    monkeypatch.setattr(partitioned_source.PartitionedSource, "_tables", counted)
    columns = rows_of(1, n_rows=2000)
    tree = grown(columns, recipe=RECIPES["cart"], max_depth=4).tree
    assert tree.height == 4
    assert asked == ["answer_bins", "answer_opened"] * 4
    assert not all(c.exact for node in tree for c in node.candidates)


def test_values_are_agreed_on_before_they_are_coded():
    partitions = [
        {"sky": ["rain", "sun"], "wind": [1.0, 2.0], "y": ["no", "yes"]},
        {"sky": [None, None], "wind": [None, 1.0], "y": ["no", "maybe"]},
        {"sky": ["fog", "rain"], "wind": [3.0, 3.0], "y": ["yes", "no"]},
    ]
    whole = {
        name: [c for part in partitions for c in part[name]] for name in partitions[0]
    }
    options = {"recipe": "id3", "missing_policy": "own-category"}
    tree = spinney.grow(partitions, "y", engine="partitions", **options).tree
    assert tree.schema.attributes[0].values == ("fog", "rain", "sun")
    assert tree.schema.target.classes == ("maybe", "no", "yes")
    assert_same_tree(spinney.grow(whole, "y", **options).tree, tree, whole=True)


def test_numbers_of_many_parts_keep_their_digits():
    columns = rows_of(5)
    columns["y"] = np.array(columns["first"]) * 3 + np.array(columns["few"])
    columns["y"] = (columns["y"] + 1e6).tolist()
    options = {"recipe": "m5", "max_depth": 3}
    expected = spinney.grow(columns, "y", **options).tree
    assert_same_tree(expected, grown(columns, **options).tree, whole=False)


def test_whole_numbers_of_a_target_are_classes_in_all_parts():
    columns = rows_of(2, n_rows=60)
    columns["y"] = [float("abc".index(label)) for label in columns["y"]]
    expected = spinney.grow(columns, "y", recipe="cart", pruning="none").tree
    found = grown(columns, recipe="cart", pruning="none").tree
    assert found.schema.target.classes == (0, 1, 2)
    assert_same_tree(expected, found, whole=True)


def test_rows_that_lack_a_cell_are_left_out_of_every_part():
    columns = rows_of(4, missing=0.2, n_rows=80)
    options = {
        "recipe": "cart",
        "missing_policy": "drop",
        "pruning": "none",
        "weight": "w",
    }
    with pytest.warns(SpinneyWarning, match=r"of 80 rows, of weight .* left out"):
        found = grown(columns, **options).tree
    expected = spinney.grow(columns, "y", **options).tree
    assert_same_tree(expected, found, whole=True)


def test_what_parts_say_is_said_once():
    partitions = [
        {"id": [f"{start + i}" for i in range(40)], "y": ["a", "b", None, "a"] * 10}
        for start in (0, 40, 80)
    ]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        spinney.grow(partitions, "y", engine="partitions", recipe="id3", nominal=["id"])
    said = [str(each.message) for each in caught]
    assert sum("is missing in 30 of 120 rows" in each for each in said) == 1
    assert sum("'id'" in each for each in said) == 1


PART = {"x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]}


@pytest.mark.parametrize(
    "partitions, problem",
    [
        (
            [PART, {"x": ["red"], "y": ["a"]}],
            "'x': it is numeric in one partition and nom",
        ),
        ([PART, {"z": [1.0], "y": ["a"]}], "column 'x' is in some partitions"),
        ([PART, PART | {"w": [1.0, 1.0, 1.0]}], "column 'w' is in some partitions"),
        ([], "list of partitions is empty"),
        (["rows.csv"], r"'rows.csv' is no Parquet file"),
        (["rows.parquet"], "there is no file 'rows.parquet'"),
        ("rows *.parquet", r"there is no file 'rows \*.parquet'"),
        ([{"x": [1.0], "y": [None]}], "all 1 cells are missing"),
    ],
)
def test_parts_that_are_refused(partitions, problem):
    with pytest.raises(DataError, match=problem):
        spinney.grow(partitions, "y", engine="partitions", recipe="id3")


def test_what_is_no_table_in_parts_is_refused():
    with pytest.raises(ParameterError, match="engine='partitions' needs partitions"):
        spinney.grow(PART, "y", engine="partitions")
    with pytest.raises(DataError, match="there is no column 'Y': did you mean 'y'"):
        spinney.grow([PART], "Y", engine="partitions")
    with pytest.raises(DataError, match="weight 'x' has the weight -1 in row 2"):
        spinney.grow(
            [PART, PART | {"x": [1, -1, 1]}], "y", engine="partitions", weight="x"
        )
    with pytest.raises(
        ParameterError, match="memory_limit='1GB' does not limit the worke"
    ):
        spinney.grow([PART], "y", engine="partitions", memory_limit="1GB")
    with pytest.raises(ParameterError, match="needs the rows"):
        spinney.grow([PART, PART], "y", engine="partitions", pruning="cost-complexity")


class Forgetful(InThisProcess):
    """Loses half of what it has made, as a cluster does that loses workers.

    A handle is the call; what is lost is made again by it, and all before it.
    """

    def __init__(self) -> None:
        self.calls: list[tuple[Any, tuple[Any, ...]]] = []
        self.made: dict[int, Any] = {}
        self.again = 0

    def submit(self, function: Any, *arguments: Any) -> Any:
        self.calls.append((function, arguments))
        return Handle(len(self.calls) - 1)

    def gather(self, handle: Any) -> Any:
        for number in list(self.made)[::2]:
            del self.made[number]
        return self.result(handle)

    def result(self, handle: Any) -> Any:
        if not isinstance(handle, Handle):
            return handle
        if handle.number not in self.made:
            self.again += 1
            function, arguments = self.calls[handle.number]
            self.made[handle.number] = function(*map(self.result, arguments))
        return self.made[handle.number]


class Handle:
    def __init__(self, number: int) -> None:
        self.number = number


@pytest.mark.parametrize("recipe", ["fractional", "surrogates"])
def test_what_is_lost_is_made_again_and_nothing_is_counted_twice(
    recipe, few_bins, monkeypatch
):
    losing = Forgetful()
    monkeypatch.setattr(open_partitions, "InThisProcess", lambda: losing)
    columns = rows_of(1, missing=0.1)
    options = {"recipe": RECIPES[recipe], "weight": "w", "max_depth": 4}
    expected = spinney.grow(columns, "y", **options).tree
    assert_same_tree(expected, grown(columns, **options).tree, whole=True)
    assert losing.again > len(losing.calls)


def test_sums_do_not_depend_on_who_is_ready_first():
    numbers = [0.1 * 3**power for power in range(11)]
    executor = InThisProcess()
    total = sum_results(executor, numbers, lambda *each: sum(each))
    four = [sum(numbers[start : start + 4]) for start in (0, 4, 8)]
    assert total == sum(four)
    assert sum_results(executor, [7], sum) == 7


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_dask(monkeypatch):
    pytest.importorskip("distributed")
    dask_frames = pytest.importorskip("dask.dataframe")
    import pandas as pd
    from distributed import Client

    from spinney.extensions.partitions.executors import OnDask, local_cluster

    asked: list[Any] = []
    gather = OnDask.gather

    def counted(executor: Any, handle: Any) -> Any:
        asked.append(handle)
        return gather(executor, handle)

    monkeypatch.setattr(OnDask, "gather", counted)
    columns = rows_of(1, missing=0.1, n_rows=80)
    expected = spinney.grow(columns, "y", recipe="c4.5", weight="w").tree
    with local_cluster(2, processes=False) as client:
        assert client.scheduler.address.startswith("inproc://")
        assert Client.current() is client
        frame = dask_frames.from_pandas(pd.DataFrame(columns), npartitions=3)
        found = spinney.grow(frame, "y", weight="w", memory_limit=0).tree
        assert_same_tree(expected, found, whole=True)
        assert len(asked) > 20  # a question after the other, to raise branches
        asked.clear()
        monkeypatch.setattr(open_data, "default_memory_limit", lambda: 1 << 30)
        found = spinney.grow(frame, "y", weight="w").tree
        assert_same_tree(expected, found, whole=True)
        assert len(asked) == 2  # what there is, and all of it
        with pytest.raises(DataError, match="there is no column 'Y'"):
            spinney.grow(in_arrow(columns), "Y", engine="dask")


class AsIfFar(InThisProcess):
    """Runs everything here, and says that it is elsewhere."""

    has_latency = True


@pytest.mark.parametrize("reserves", [None, 0.3])
@pytest.mark.parametrize("hashed", [False, True])
def test_few_rows_come_where_every_question_travels(reserves, hashed):
    columns = rows_of(4, missing=0.1, n_rows=90)
    roles = ColumnRoles("y", "w", Declarations())
    wanted = RemoteOptions(reserves and (lambda *_: reserves), 7, hashed, 2**30)
    here, away = (
        open_partitions.count_partitions(executor, in_arrow(columns), roles, wanted)
        for executor in (AsIfFar(), InThisProcess())
    )
    assert (away.training, here.source) == (None, None)
    assert here.origin == away.origin
    assert here.training is not None
    found = here.training.source().root()
    np.testing.assert_array_equal(found.weights, away.source.root().weights)
    if reserves is not None:
        np.testing.assert_array_equal(here.reserved.classes, away.reserved.classes)
        assert 0 < len(here.reserved.classes) == 90 - len(here.training.classes)
    elif hashed:
        assert here.sampleable.fingerprint() == away.sampleable.fingerprint()
    for room in (0, 2**10):
        little = RemoteOptions(None, 7, hashed, room)
        far = open_partitions.count_partitions(
            AsIfFar(), in_arrow(columns), roles, little
        )
        assert far.training is None


def test_bins_are_counted_as_plain_loops_do(few_bins):
    columns = rows_of(3, missing=0.1, n_rows=120)
    roles = ColumnRoles("y", "w", Declarations(numeric=("first",)))
    partitions = in_arrow(columns)
    source = open_partitions.count_partitions(
        InThisProcess(), partitions, roles, RemoteOptions()
    ).source
    stack = source.binned([TableRequest(ROOT, (0,))], [120]).batch
    assert stack.low is not None
    rows = list(zip(columns["first"], columns["y"], columns["w"], strict=True))
    n_counted = 0
    for line, (low, high) in enumerate(zip(stack.low, stack.values, strict=True)):
        inside = [row for row in rows if row[0] is not None and low <= row[0] <= high]
        assert min(row[0] for row in inside) == low
        assert max(row[0] for row in inside) == high
        for code, label in enumerate("abc"):
            own = [row[2] for row in inside if row[1] == label]
            assert (stack.rows[line, code], stack.weights[line, code]) == (
                len(own),
                sum(own),
            )
        n_counted += len(inside)
    absent = [row for row in rows if row[0] is None]
    assert n_counted == 120 - len(absent) == 120 - stack.missing_rows.sum()
    assert stack.missing.sum() == sum(row[2] for row in absent)


@pytest.mark.slow
def test_a_cluster_listens_on_the_loopback_address_only():
    psutil = pytest.importorskip("psutil")
    pytest.importorskip("distributed")
    from spinney.extensions.partitions.executors import local_cluster

    this = psutil.Process()
    before = {each.laddr for each in this.net_connections()}
    with local_cluster(1, processes=False):
        new = {each.laddr for each in this.net_connections()} - before
        assert new
        assert {address.ip for address in new} == {"127.0.0.1"}


@pytest.mark.parametrize("engine", [None, "dask", "memory"])
def test_a_frame_of_dask_is_a_table_by_itself(engine):
    frame = type("DataFrame", (), {"__module__": "dask.dataframe.core"})()
    words = "table='orders' applies only to a database: remove it"
    with pytest.raises(ParameterError, match=words):
        spinney.grow(frame, "y", table="orders", engine=engine)
