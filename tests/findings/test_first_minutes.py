"""The first five minutes: what is odd about a table, and what to do, in one line."""

import sqlite3

import numpy as np
import pandas as pd
import pytest

import spinney
from spinney import DataError, SpinneyNote, SpinneyWarning
from spinney.cli import run
from spinney.data.readers.table_head import header_warning

ROWS = ["5.1,3.5,red", "4.9,3.0,blue", "4.7,3.2,red", "6.1,2.9,blue", "5.8,4.0,red"]


def written(tmp_path, lines):
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("lines", "doubt"),
    [
        (ROWS, "looks like a row of data: if it is one, add a line of column"),
        (
            [row.replace(",", " ") for row in ["a,b,c", *ROWS]],
            "with spaces between its cells",
        ),
        ([row.replace(",", ", ") for row in ["a,b,c", *ROWS]], "begin with spaces"),
    ],
    ids=["no names", "spaces alone", "spaces after commas"],
)
def test_a_table_whose_first_line_is_odd(tmp_path, lines, doubt):
    path = written(tmp_path, lines)
    with pytest.warns(SpinneyNote, match=doubt):
        spinney.read_table(path)
    assert doubt in str(spinney.look(path))


@pytest.mark.parametrize(
    ("names", "rows"),
    [
        (["size", "colour"], [["1", "red"], ["2", "blue"]]),
        (["0", "1", "2"], [["5", "6", "7"], ["5", "6", "7"]]),
        (["land", "2019", "2020"], [["Peru", "3", "4"], ["Chad", "5", "6"]]),
        (["150", "4", "setosa", "other"], [["5.1", "3.5", "1.4", "0"]] * 3),
        (["full name"], [["Ann Bell"], ["Bo"]]),
        (["size", "price"], []),
    ],
    ids=["names", "those of pandas", "years", "counts", "texts", "no rows"],
)
def test_names_that_are_names(names, rows):
    assert header_warning(names, rows) == ""


def test_a_model_reads_without_doubts(tmp_path, recwarn):
    path = written(tmp_path, ROWS)
    model = spinney.grow(path, "red", recipe="cart")
    recwarn.clear()
    model.predict(path)
    assert not [each for each in recwarn if "looks like a row" in str(each.message)]


@pytest.mark.parametrize("classes", [["Yes", "no", "yes"] * 2, ["a", "b", "c"] * 2])
def test_fit_doubts_as_grow_does(classes, recwarn):
    frame = pd.DataFrame({"size": ["1", "2", "x", "4", "5", "6"]})
    spinney.TreeClassifier("cart").fit(frame, classes)
    said = [str(each.message) for each in recwarn]
    assert any("because of 'x' in row 3" in each for each in said)
    assert any("two classes that look alike" in each for each in said) == (
        "Yes" in classes
    )


def test_one_leaf_says_which_columns_may_be_the_reason(tmp_path, capsys):
    random = np.random.default_rng(0)
    codes, numbers = random.integers(40, size=120), random.normal(size=120)
    lines = [f"t{code},{number}" for code, number in zip(codes, numbers, strict=True)]
    path = written(tmp_path, ["ticket,age", *lines])
    assert run(["grow", path, "--target", "age"]) == 0
    said = capsys.readouterr().err
    assert "column 'ticket' (38 values) is excluded from splits" in said
    assert "the tree is a single leaf" in said


def test_rows_are_kept_in_a_model_that_is_saved(tmp_path, capsys):
    path = written(tmp_path, ["a,b", "1,x", "2,y"])
    assert run(["grow", path, "--target", "b", "--keep-rows"]) == 2
    assert "--keep-rows needs -o MODEL" in (capsys.readouterr().err)


def test_a_number_is_missing_and_no_class():
    data = {"x": [1, 2, 3, 4], "y": [1.5, None, 2.5, 3.5]}
    with pytest.warns(SpinneyWarning, match="target 'y' is missing in 1 of 4 rows"):
        spinney.grow(data, "y", recipe="cart")


def test_several_files_that_are_not_there_are_named(capsys):
    assert run(["grow", "parts/*.parquet", "--target", "y"]) == 3
    assert "no file of a table matches 'parts/*.parquet'" in capsys.readouterr().err
    with pytest.raises(DataError, match="check its name and folder"):
        spinney.read_table("parts.csv")


@pytest.fixture
def shop(tmp_path):
    connection = sqlite3.connect(tmp_path / "shop.db")
    connection.execute("CREATE TABLE orders (size REAL, sold TEXT)")
    rows = [(each, "yes" if each > 3 else "no") for each in range(8)]
    connection.executemany("INSERT INTO orders VALUES (?, ?)", rows)
    connection.commit()
    yield connection, f"sqlite:///{tmp_path / 'shop.db'}"
    connection.close()


def test_a_table_of_a_database_can_be_looked_at(shop, capsys):
    _, address = shop
    assert run(["look", address, "--table", "orders", "--target", "sold"]) == 0
    assert "sold    nominal" in capsys.readouterr().out
    assert run(["look", address, "--table", "orders", "--association"]) == 0
    assert "correlation ratio" in capsys.readouterr().out
    assert spinney.look(address, table="orders").n_rows == 8
    assert run(["look", address]) == 2
    assert "--table is needed" in capsys.readouterr().err
    assert run(["look", "rows.csv", "--table", "orders"]) == 2
    assert "applies only to a database" in capsys.readouterr().err


def test_capitals_are_the_same_to_sqlite(shop):
    connection, address = shop
    assert spinney.grow(address, "sold", table="ORDERS").tree.n_leaves == 2
    with pytest.raises(DataError, match="no table 'order' in the database: did"):
        spinney.grow(connection, "sold", table="order")


def test_a_database_that_another_program_writes_to(shop, monkeypatch):
    connection, address = shop
    connect = sqlite3.connect
    at_once = lambda *given, **options: connect(*given, **options, timeout=0)  # noqa: E731
    monkeypatch.setattr(sqlite3, "connect", at_once)
    connection.execute("BEGIN EXCLUSIVE")
    with pytest.raises(
        DataError, match=r"locked.*: another program is writing to it: try"
    ):
        spinney.grow(address, "sold", table="orders")


def test_a_column_without_cells_that_gets_names():
    first = {"a": [None] * 4, "b": [1, 2, 3, 4], "y": ["p", "q"] * 2}
    more = {"a": ["red"], "b": [5], "y": ["p"]}
    model = spinney.grow(first, "y", recipe="id3", keep_rows=True)
    remedy = (
        r"of labels grow the model again by spinney\.grow\(data, …, nominal=\['a'\]\)"
    )
    with pytest.raises(DataError, match=remedy):
        model.updated(more)
    model = spinney.grow(first, "y", recipe="id3", keep_rows=True, nominal=["a"])
    assert model.updated(more).schema.attributes[0].values == ("red",)


def test_a_part_of_dask_that_fails_is_named():
    pytest.importorskip("distributed")
    from spinney.extensions.partitions.executors import OnDask

    class Failed:
        def result(self):
            return 1 / 0

    class Client:
        def nthreads(self):
            return {"worker": 1}

    match = r"cannot be computed \(ZeroDivisionError: division by zero\): fix"
    with pytest.raises(DataError, match=match):
        OnDask(Client()).gather(Failed())


def odd_rows(cells, classes):
    numbered = enumerate(zip(cells, classes, strict=True))
    return ["size,part,y", *(f"{cell},{i % 3},{y}" for i, (cell, y) in numbered)]


@pytest.mark.parametrize(
    ("cells", "classes", "doubt"),
    [
        (range(30), [*map(str, range(29)), "unknown"], "'y' reads as text because of"),
        ([*range(29), "82 kg"], ["ja", "nein"] * 15, "because of '82 kg' in row 30"),
        (range(30), ["ja ", *["ja", "nein"] * 14, "nien"], "'ja ' in row 1, two clas"),
        (range(30), ["ja", *["ja", "nein"] * 14, "nien"], "'nien' in row 30, two clas"),
    ],
    ids=["odd target", "odd cell", "space", "slip"],
)
def test_grow_says_what_look_does(tmp_path, capsys, cells, classes, doubt):
    path = written(tmp_path, odd_rows(cells, classes))
    assert run(["look", path, "--target", "y"]) == 0
    looked = capsys.readouterr().out
    assert doubt in looked
    assert "identifier" not in looked
    assert run(["grow", path, "--target", "y", "--recipe", "c4.5"]) == 0
    assert doubt in capsys.readouterr().err


@pytest.mark.parametrize(
    ("classes", "reading"),
    [
        ([0, 1, 0, 1], "is read as 2 classes: 0, 1"),
        (["a", "b ", "a", "b "], 'is read as 2 classes: a, "b "'),
        ([0.5, 1, 2, 3], "is read as a number to predict"),
    ],
)
def test_look_says_how_a_target_is_read(classes, reading):
    assert reading in str(spinney.look({"x": [1, 2, 3, 5], "y": classes}, "y"))


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        (["show", "m.spinney", "-o", "x.png"], "plot tree MODEL -o tree.png"),
        (["show", "m.spinney", "--png", "x.png"], "plot tree MODEL -o tree.png"),
        (["forest", "rows.csv", "--model", "m"], "-o FILE saves the forest"),
    ],
)
def test_options_that_are_elsewhere(capsys, command, remedy):
    assert run(command) == 2
    assert remedy in capsys.readouterr().err


def test_columns_are_listed_with_commas_or_by_a_pattern(tmp_path, capsys):
    path = written(tmp_path, ["a,b,c", "1,2,3", "4,5,6"])
    for names in ("a,b", "[ab]", "?"):
        assert run(["look", path, "--ignore", names]) == (0 if names == "a,b" else 3)
    assert "every column is ignored" in capsys.readouterr().err


def test_names_of_columns_are_shown_whole():
    name = "longterm-disability-assistance"
    assert f"{name}  numeric" in str(spinney.look({name: [1, 2, 4]}))


def test_one_row_in_python():
    frame = pd.DataFrame({"size": [1, 2, 3, 4], "y": ["a", "a", "b", "b"]})
    model = spinney.grow(frame, "y", recipe="cart")
    with pytest.raises(
        DataError, match=r"even for one row; model.predictor\(\) takes a row"
    ):
        model.predict({"size": 1})
    with pytest.raises(DataError, match=r"frame.iloc\[\[0\]\], or goes to model.pred"):
        model.explain(row=frame.iloc[0])
    assert model.predictor()(frame.iloc[0]) == "a"


def test_a_model_from_a_file_is_named_in_a_line(tmp_path):
    data = {"size": [1, 2, 3, 4], "y": ["a", "a", "b", "b"]}
    model = spinney.grow(data, "y", recipe="cart", max_depth=3)
    model.save(tmp_path / "m.spinney")
    loaded = repr(spinney.load(tmp_path / "m.spinney"))
    assert "Recipe.named('cart').changed(max_depth=3)" in loaded
    assert len(loaded.splitlines()) == 1
