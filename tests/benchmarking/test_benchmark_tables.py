"""What the study of recipes needs of a folder of tables."""

import pytest
from benchmarks.recipes import DEVELOP, RESERVED, drawn
from benchmarks.tables import facts_of

import spinney


def test_a_folder_without_facts(tmp_path):
    with pytest.raises(SystemExit, match=r"holds no schema\.json, .* docs/auto\.md"):
        facts_of(tmp_path)


def test_no_table_is_both_reserved_and_there_to_develop_on():
    assert not set(DEVELOP) & set(RESERVED)
    assert len({*DEVELOP, *RESERVED}) == len(DEVELOP) + len(RESERVED)


def test_rows_of_large_tables_are_drawn_in_their_order():
    table = spinney.read_table({"x": list(range(50))})
    few = drawn(table, seed=1, most=20)["x"].cells.tolist()
    assert len(set(few)) == 20
    assert few == sorted(few)
    assert drawn(table, seed=1, most=50) is table
