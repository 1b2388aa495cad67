"""``predict`` and ``score`` over tables that are written as people write them."""

import csv
import datetime
from dataclasses import replace

import pandas as pd
import pytest
from tests.helpers.workbooks import write_workbook

import spinney
from spinney import SpinneyError
from spinney.cli import run
from spinney.data import Attribute, Schema, Target
from spinney.data.readers import read_table

# An index without a name, decimal commas, points between thousands, days first.
HEAD = ";Größe;Preis;Tag;Ort;Ort;Rabatt;Klasse"
ROWS = [
    f"{i};{i // 10},{i % 10};{i % 4 + 1}.{i:03} €;{i % 28 + 1:02}.{i % 12 + 1:02}.2024;"
    f"{'Köln' if i % 2 else 'Ulm'};{'N/A' if i % 3 else ''};{i % 5},50 %;"
    f"{'ja' if i > 25 else 'nein'}"
    for i in range(1, 51)
]
ROWS[3] = ROWS[3].replace("1.004 €", "N/A")  # missing, so that it is in all columns
NAMES = ["Größe", "Preis", "Tag", "Ort", "Ort_2", "Rabatt", "Klasse"]
CLASSES = ["nein"] * 25 + ["ja"] * 25


def as_text(*rows):
    return "\n".join([*rows, ""])


@pytest.fixture(params=[True, False], ids=["small", "streamed"])
def german(request, works, write, monkeypatch):
    """A table, and a model of it; the table is read at once, or in parts of a few."""
    if not request.param:
        monkeypatch.setattr("spinney.data.readers.batches.SMALL_FILE", 0)
        monkeypatch.setattr("spinney.cli.predict_command.BATCH", 7)
    path = write("german.csv", as_text(HEAD, *ROWS))
    asked = ("grow", path, "--target", "Klasse", "--recipe", "cart", "-o", "m.spinney")
    works(*asked, "--ignore", "Rabatt")  # a column that the model does not know
    return path


def test_kept_cells_are_as_written(tool, german):
    outcome = tool("predict", "m.spinney", german, "--keep", "all")
    assert outcome.code == 0
    header, *rows = csv.reader(outcome.out.splitlines())
    assert header == [*NAMES, "predicted Klasse"]
    assert [row[:-1] for row in rows] == [row.split(";")[1:] for row in ROWS]
    assert [row[-1] for row in rows] == CLASSES
    assert outcome.err.count("note: ") == 1
    assert outcome.err.count("without a name, numbers or names the rows") == 1
    assert outcome.err.count("a second column 'Ort' is renamed 'Ort_2'") == 1
    assert "read as" not in outcome.err  # as the first table was


def test_parts_are_what_the_model_reads(works, german):
    model = spinney.load("m.spinney")
    with pytest.warns(spinney.SpinneyNote):
        expected = model.predict(str(german)).tolist()
    out = works("predict", "m.spinney", german, "--keep", "Ort_2,Tag")
    header, *rows = csv.reader(out.splitlines())
    assert header == ["Ort_2", "Tag", "Klasse"]
    assert [row[-1] for row in rows] == expected == CLASSES
    assert [row[1] for row in rows] == [row.split(";")[3] for row in ROWS]


def test_lines_above_the_names(works, refused, write, german):
    path = write("late.csv", as_text("Verkauf;2024", "", HEAD, *ROWS))
    asked = ("m.spinney", path, "--skip", "2")
    header, *rows = works("predict", *asked, "--append").splitlines()
    assert header.split(",") == [*NAMES, "predicted Klasse"]
    assert len(rows) == len(ROWS)
    line = refused(3, "predict", *asked, "--keep", "Preiss")
    assert "no column 'Preiss' to keep: did you mean 'Preis'?" in line
    assert works("score", *asked).startswith("Klasse: 50 rows, 50 correctly classified")


def test_what_the_user_says_overrules_the_model(works, refused, write):
    rows = {"x": [1.0, 1.5, 1500.0, 2000.0], "y": list("aabb")}
    spinney.grow(rows, "y", recipe="id3").save("m.spinney")
    path = write("t.csv", "x;y\n1,500;b\n1,400;b\n")
    for decimal, label, right in ((",", "a", 0), (".", "b", 2)):
        asked = ("m.spinney", path, "--decimal", decimal)
        out = works("predict", *asked, "--keep", "x")
        assert out == f'x,y\n"1,500",{label}\n"1,400",{label}\n'
        assert works("score", *asked).startswith(
            f"y: 2 rows, {right} correctly classified"
        )
    refused(2, "predict", "m.spinney", path, "--decimal", "x")


def test_an_index_that_the_model_knows_is_kept(works, write):
    rows = {"Unnamed: 0": [1, 2, 3, 4], "y": list("aabb")}
    model = spinney.grow(rows, "y", recipe="id3", numeric=["Unnamed: 0"])
    model.save("m.spinney")
    text = "Unnamed: 0,z\n1,u\n4,v\n"
    out = works("predict", "m.spinney", write("t.csv", text), "--keep", "all")
    assert out == "Unnamed: 0,z,y\n1,u,a\n4,v,b\n"


def test_a_column_without_a_name_that_the_model_knows(works, write):
    asked = ("--target", "y", "--recipe", "id3", "-o", "m.spinney")
    works("grow", write("t.csv", ",z,y\na,1,p\na,2,p\nb,1,q\n"), *asked)
    later = write("later.csv", ",z\nb,1\n")  # all cells differ
    out = works("predict", "m.spinney", later, "--keep", "all")
    assert out == "column 1,z,y\nb,1,q\n"


def test_a_workbook(works, german):
    lines = [HEAD, *ROWS]
    cells = [[cell or None for cell in line.split(";")] for line in lines]
    path = write_workbook("t.xlsx", {"Tabelle1": cells})
    out = works("predict", "m.spinney", path, "--keep", "all")
    assert out == works("predict", "m.spinney", german, "--keep", "all")
    works("predict", "m.spinney", path, "-o", "out.xlsx")
    (column,) = read_table("out.xlsx").columns
    assert column.name == "Klasse"
    assert [column.levels[code] for code in column.cells] == CLASSES


LATER = {
    "dates": ("03/14/2026 08:32 AM", "04/05/2026 09:15 PM", "Recorded Date"),
    "numbers": ("1", "12.5", "Duration (seconds)"),
}


@pytest.mark.parametrize("kind", LATER)
@pytest.mark.parametrize("command", ["predict", "score"])
def test_the_cell_that_does_not_fit_is_named_with_its_row(
    kind, command, tmp_path, capsys
):
    """A second line of names was passed over, and a good date was named."""
    early, late, name = LATER[kind]
    lines = [f"{cell},{label}" for cell, label in ((early, "no"), (late, "yes"))] * 10
    table, later = tmp_path / "table.csv", tmp_path / "later.csv"
    table.write_text("\n".join(["at,sold", *lines]), encoding="utf-8")
    later.write_text("\n".join(["at,sold", f"{name},Sold", *lines]), encoding="utf-8")
    model = str(tmp_path / "m.spinney")
    asked = [str(table), "--target", "sold", "--recipe", "cart"]
    assert run(["grow", *asked, "-o", model]) == 0
    capsys.readouterr()
    assert run([command, model, str(later)]) == 3
    line = capsys.readouterr().err
    assert f"but holds {name!r} in row 1: fix that cell or leave it empty" in line
    assert line.endswith("grow the model again by spinney grow DATA --nominal at\n")
    with pytest.raises(SpinneyError, match=r"spinney\.grow\(data, …, nominal="):
        spinney.load(model).predict(str(later))


DAYS = [datetime.date(2026, 3, day) for day in range(1, 11)]
SIZES = {"size": [*map(float, range(10))], "sold": ["no"] * 5 + ["yes"] * 5}
BAD = {
    "a text among numbers": (SIZES["size"], [1, 2, "x", 4, "y"], "'x' in row 3"),
    "a text among texts": (SIZES["size"], ["1", "2", "x", "4", "y"], "'x' in row 3"),
    "commas beside a text": (SIZES["size"], ["1,5", "2,5", "x"], "'x' in row 3"),
    "a date among numbers": (SIZES["size"], [1, DAYS[0]], "'2026-03-01' in row 2"),
    "a text among dates": (DAYS, [DAYS[0], None, "gone"], "'gone' in row 3"),
    "a number among dates": (DAYS, [DAYS[0], 7], "'7' in row 2"),
    "dates as text": (DAYS, ["03/04/2026 08:32 AM", "Date"], "'Date' in row 2"),
    "infinity": (SIZES["size"], [1.0, float("inf")], "holds inf in row 2: trees"),
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("kind", [dict, pd.DataFrame])
def test_the_bad_cell_of_a_dict_or_a_frame_is_named_with_its_row(bad, kind):
    """One of several was named, in the order of a hash, and without its row."""
    early, later, named = BAD[bad]
    model = spinney.grow({**SIZES, "size": early}, "sold", recipe="cart")
    with pytest.raises(SpinneyError, match=f"column 'size' .*{named}") as told:
        model.predict(kind({"size": later}))
    if bad != "infinity":
        assert str(told.value).endswith("spinney.grow(data, …, nominal=['size'])")


def test_a_row_is_counted_from_the_first_of_the_whole_table():
    attribute = Attribute("at", "numeric")
    part = replace(read_table({"at": ["1", "two", "3"]}), first_row=50_001)
    schema = Schema((attribute,), Target("y", ("a", "b")))
    with pytest.raises(SpinneyError, match="holds 'two' in row 50002"):
        schema.encode(part)
