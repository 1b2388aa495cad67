"""Rows that a hash reserves: the same in every engine, as many as were asked for."""

from functools import partial

import numpy as np
import pytest
from tests.extensions.databases.test_bins import rows_of
from tests.helpers.database_tables import in_postgres
from tests.helpers.partitioned_tables import in_arrow
from tests.sources.comparing import assert_same_tree, opened
from tests.twins.naive_hash import sample_fraction

import spinney
from spinney.errors import ParameterError
from spinney.models import validation_split
from spinney.sources.rows.sampleable_rows import CELL_BYTES
from spinney.sources.training_data import open_data

pytestmark = pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")

LINE = CELL_BYTES * (4 + 3)
"""What a line takes: four cells, and node, class and weight."""


@pytest.fixture
def reserved(monkeypatch):
    """Return the rows that were reserved, as sorted lines, each time."""
    seen = []
    coded = validation_split.encoded_rows

    def heard(rows):
        cells = [np.nan_to_num(cells, nan=-9.0) for cells in rows.columns]
        lines = zip(*cells, strict=True)
        seen.append(sorted(tuple(map(float, line)) for line in lines))
        return coded(rows)

    monkeypatch.setattr("spinney.models.grow.encoded_rows", heard)
    monkeypatch.setattr(open_data, "default_memory_limit", lambda: 200 * LINE)
    return seen


def table_of(seed):
    """Return a table in which some rows are copies of others."""
    columns = rows_of(seed, missing=0.1)
    del columns["w"]
    return {name: [*cells, *cells[:60], *cells[:60]] for name, cells in columns.items()}


def test_every_engine_reserves_the_same_rows(reserved, monkeypatch, tmp_path, postgres):
    columns = table_of(0)
    options = {"recipe": "auto", "max_depth": 4}
    trees = []
    for room in (100 * LINE, 1 << 30):  # counted, and read
        monkeypatch.setattr(open_data, "default_memory_limit", lambda room=room: room)
        with opened("bound relation", columns, tmp_path) as (data, how):
            trees.append(spinney.grow(data, "y", **options, **how).tree)
        with in_postgres(postgres)(columns) as (data, how):
            trees.append(spinney.grow(data, "y", **options, **how).tree)
    parts = in_arrow(columns)
    trees.append(spinney.grow(parts, "y", engine="partitions", **options).tree)
    for tree in trees[1:]:
        assert_same_tree(trees[0], tree, whole=True)
    assert all(lines == reserved[0] for lines in reserved)
    n_rows = len(columns["y"])
    assert 0.1 * n_rows < len(reserved[0]) < 0.3 * n_rows
    assert trees[0].root.n_rows == n_rows - len(reserved[0])


def test_they_are_those_of_the_naive_twin(reserved, tmp_path):
    columns = table_of(1)
    with opened("bound relation", columns, tmp_path) as (data, how):
        spinney.grow(data, "y", recipe="id3", validation_share=0.3, **how)
    names = ("first", "second", "third", "few", "y")
    labels = sorted(set(columns["y"]))
    columns["y"] = [labels.index(label) for label in columns["y"]]
    shares = sample_fraction(
        [columns[name] for name in names], codes=[False] * 4 + [True]
    )
    chosen = [at for at, share in enumerate(shares) if share < 0.3]
    cells = [
        tuple(-9.0 if columns[n][at] is None else columns[n][at] for n in names[:-1])
        for at in chosen
    ]
    assert sorted(cells) == reserved[0]


def test_of_equal_rows_weights_say_which_are_reserved(tmp_path, postgres):
    # The same rows in another order: as much weight is left to grow on.
    columns = {"x": [1.0] * 40 + [2.0] * 40, "y": ["a"] * 40 + ["b"] * 40}
    columns["w"] = [float(n) for n in range(1, 41)] * 2
    left = []
    for order in (range(80), range(79, -1, -1)):
        table = {name: [cells[at] for at in order] for name, cells in columns.items()}
        for open_table in (in_postgres(postgres), partial(opened, "bound relation")):
            given = (tmp_path,) if isinstance(open_table, partial) else ()
            with open_table(table, *given) as (data, how):
                options = {"recipe": "cart", "validation_share": 0.3, "weight": "w"}
                options["memory_limit"] = "1MB"
                tree = spinney.grow(data, "y", **options, **how).tree
            left.append(tree.root.weights.tolist())
    assert all(each == left[0] for each in left)


def test_numbers_are_spread_evenly():
    # Copies alone, codes alone, and numbers of a long tail.
    random = np.random.default_rng(0)
    for columns, codes in (
        ([[1.0] * 1000], [False]),
        ([random.integers(0, 3, 1000).tolist()], [True]),
        ([np.exp(3 * random.normal(size=1000)).tolist()], [False]),
    ):
        shares = np.sort(sample_fraction(columns, codes=codes))
        assert np.abs(shares - np.arange(1000) / 1000).max() < 0.06


def test_another_seed_reserves_others(reserved, tmp_path):
    columns = table_of(2)
    for seed in (0, 1):
        with opened("bound relation", columns, tmp_path) as (data, how):
            spinney.grow(data, "y", recipe="auto", random_state=seed, **how)
    assert reserved[0] != reserved[1]


@pytest.mark.parametrize("options", [{"recipe": "auto"}, {"validation_share": 0.5}])
def test_reserved_rows_take_room(options, reserved, tmp_path):
    columns = table_of(3)
    with opened("bound relation", columns, tmp_path) as (data, how):
        for n_lines in (0, 40):
            words = rf"reserves \d+ rows for pruning, but only {n_lines} fit"
            with pytest.raises(ParameterError, match=words) as refused:
                spinney.grow(
                    data, "y", **options, memory_limit=4 * n_lines * LINE, **how
                )
            assert refused.value.parameter == "validation_share"
        assert not reserved
        spinney.grow(data, "y", **options, memory_limit=4 * 250 * LINE, **how)
    assert len(reserved[0]) <= 250


def test_of_parts_no_row_comes_where_none_may(reserved):
    options = {"engine": "partitions", "recipe": "auto", "memory_limit": 0}
    with pytest.raises(ParameterError, match="for pruning, but only 0 fit"):
        spinney.grow(in_arrow(table_of(3)), "y", **options)
    assert not reserved


def test_a_share_that_reserves_nothing(tmp_path):
    columns = {"x": [1.0, 2.0, 3.0, 4.0], "y": list("aabb")}
    with (
        opened("bound relation", columns, tmp_path) as (data, how),
        pytest.raises(ParameterError, match=r"validation_share=1e-09 reserves no row"),
    ):
        spinney.grow(data, "y", recipe="id3", validation_share=1e-9, **how)
