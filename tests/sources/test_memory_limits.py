"""Limits of memory: their shares, what is refused because of them, and peaks."""

import pytest
from benchmarks import memory_limits
from tests.extensions.databases.test_bins import rows_of
from tests.sources.comparing import assert_same_tree, opened

import spinney
from spinney._support import memory_budget
from spinney._support.memory_budget import MemoryBudget
from spinney.errors import ParameterError, SpinneyNote
from spinney.extensions.databases.table_batches import TableWorkspace
from spinney.models import grow

MIB = 1 << 20
LIMIT = 1000 * MIB


def test_shares_leave_a_part_of_the_limit():
    for given in ("768MiB", "1GiB", "64GiB"):
        budget = MemoryBudget(given)
        shares = budget.duckdb + budget.rows + memory_budget.LIBRARY_MEMORY
        assert shares < budget.limit
        assert (
            budget.duckdb + budget.tables + memory_budget.LIBRARY_MEMORY < budget.limit
        )


def test_a_small_limit_is_that_of_rows_and_not_of_libraries():
    budget = MemoryBudget(4000)
    assert (budget.rows, budget.limit) == (1000, memory_budget.MIN_LIMIT)


@pytest.mark.parametrize(
    ("before", "now", "fits"),
    [
        (100 * MIB, LIMIT, True),  # a shell: libraries are within the limit
        (100 * MIB, LIMIT + MIB, False),
        (3000 * MIB, 3000 * MIB + LIMIT - 256 * MIB, True),  # tables of the user
        (3000 * MIB, 3001 * MIB + LIMIT - 256 * MIB, False),
        (None, 1 << 50, True),  # where nothing tells
    ],
)
def test_what_is_resident_is_held_to_the_limit(before, now, fits, monkeypatch):
    monkeypatch.setattr(memory_budget, "resident", lambda: now)
    budget = MemoryBudget(LIMIT, before)
    if fits:
        budget.check()
        return
    with pytest.raises(ParameterError, match=r"is used up: .*max_depth=12") as error:
        budget.check()
    assert error.value.parameter == "memory_limit"


def test_growing_stops_where_the_limit_is_used_up(monkeypatch, tmp_path):
    sizes = iter([100 * MIB] * 12)
    monkeypatch.setattr(memory_budget, "resident", lambda: next(sizes, 5000 * MIB))
    with opened("bound relation", rows_of(1), tmp_path) as (rows, how):
        options = {**how, "memory_limit": 4, "recipe": "c4.5"}
        with pytest.raises(ParameterError, match=r"used up: \d\.\d GiB are taken"):
            spinney.grow(rows, "y", **options)
        left = "SELECT count(*) FROM duckdb_tables() WHERE table_name LIKE 'spinney%'"
        assert how["connection"].execute(left).fetchall() == [(0,)]


@pytest.mark.filterwarnings("ignore::spinney.errors.SpinneyWarning")
@pytest.mark.parametrize("recipe", ["c4.5", "chaid"])
@pytest.mark.parametrize("most", [401, 900])
def test_some_tables_at_a_time_grow_the_same_tree(most, recipe, monkeypatch, tmp_path):
    asked = []
    batches = TableWorkspace.batches

    def counted(room, wanted):
        found = list(batches(room, wanted))
        asked.append(len(found))
        return iter(found)

    monkeypatch.setattr(TableWorkspace, "batches", counted)
    monkeypatch.setattr(TableWorkspace, "max_lines", most)
    monkeypatch.setattr(TableWorkspace, "check", lambda *_: None)
    columns = rows_of(1, missing=0.1)
    options = {"recipe": recipe, "min_samples_leaf": 2}
    expected = spinney.grow(columns, "y", **options)
    with opened("bound relation", columns, tmp_path) as (rows, how):
        found = spinney.grow(rows, "y", **options, **how, memory_limit=4)
    assert len(expected.tree) > 5
    # χ² of tables that stand beside others differs in the last bit.
    assert_same_tree(expected.tree, found.tree, whole=recipe == "c4.5")
    assert max(asked) > 1


@pytest.mark.parametrize("recipe", ["c4.5", "cart"])
def test_all_values_of_a_column_need_room(recipe, monkeypatch, tmp_path):
    monkeypatch.setattr(TableWorkspace, "max_lines", 100)
    with opened("bound relation", rows_of(1), tmp_path) as (rows, how):
        words = r"too small for all values of column '\w+': raise it to 1GiB, or count"
        options = {"recipe": recipe, **how}
        with pytest.raises(ParameterError, match=words) as error:
            spinney.grow(rows, "y", **options, memory_limit=4)
        assert "(recipe='cart', missing_policy='branch')" in str(error.value)
        # Without a limit nothing is refused.
        spinney.grow(rows, "y", **options, memory_limit=0)


def test_of_numbers_as_targets_a_column_is_to_be_left_out(monkeypatch, tmp_path):
    monkeypatch.setattr(TableWorkspace, "max_lines", 10)
    numbers = [i / 7 for i in range(60)]
    columns = {"x": numbers, "y": [number % 3 for number in numbers]}
    with (
        opened("bound relation", columns, tmp_path) as (rows, how),
        pytest.raises(ParameterError, match=r"exclude the column \(ignore="),
    ):
        spinney.grow(rows, "y", recipe="cart", **how, memory_limit=4)


def test_under_a_limit_the_default_counts_many_rows_in_bins(monkeypatch, tmp_path):
    columns = rows_of(1)
    with opened("bound relation", columns, tmp_path) as (rows, how):
        exact = spinney.grow(rows, "y", **how).model_.recipe
        monkeypatch.setattr(grow, "MAX_ROWS_UNBINNED", 50)
        for limit in ("1GiB", "4GiB"):
            with pytest.warns(SpinneyNote, match="are counted in bins, .*recipe='c4.5"):
                model = spinney.grow(rows, "y", **how, memory_limit=limit).model_
            assert (model.recipe.name, model.recipe.missing_policy) == (
                "cart",
                "branch",
            )
        for room in ({}, {"memory_limit": 0}):
            assert spinney.grow(rows, "y", **how, **room).model_.recipe == exact
        named = spinney.grow(rows, "y", recipe="c4.5", **how).model_.recipe
        assert exact.name == named.name == "c4.5"


@pytest.fixture(scope="module")
def many_rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("limits") / "rows.parquet"
    memory_limits.generate(path, 1_000_000, "few-values")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("task", memory_limits.TASKS)
def test_the_peak_of_a_process_keeps_its_limit(task, many_rows):
    limit = 800 * MIB
    found = memory_limits.measured(many_rows, "800MiB", task)
    assert 0 < found["peak"] <= limit, found
    if task in ("cart", "c4.5"):
        assert "missing_policy='branch'" in found["refusal"]
    else:
        assert "refusal" not in found, found
