"""What ``predict`` writes is what the model says, in every format, for any names."""

import gzip
import json
import os

import duckdb
import pytest
from tests.helpers.models import TABLES
from tests.helpers.round_trip import FORMATS, check_formats, read_back

import spinney
from spinney.data.readers import read_table

# Where it is not the last column.
TARGETS = {"fruit": "type", "penguins": "species", "rpart_kyphosis": "Kyphosis"}

# Classes and names that formulas, readers, terminals and SQL might take for their own.
HOSTILE = {
    "signs": ("+", "-", "=1+1", "@x", "'+"),
    "delimiters": ("a,b", "a;b", "a|b", "a\tb", 'a"b', '""'),
    "spaces": (" a", "a ", " ", "\xa0", "\u3000"),
    "numbers": ("007", "7", "7.0", "1e3", "nan", "inf", "-0"),
    "words": ("true", "NULL", "None", "NA", "2020-01-01"),
    "signs of the world": ("größe", "→", "😀", "日本", "\u200d"),
    "controls": ("\x1b[31m", "\x07", "a\x00b"),
    "bare quotes": ("'", "''", "%s", "100 %", "{}", "\\n", "\\"),
}


@pytest.mark.filterwarnings("ignore::spinney.SpinneyWarning")
@pytest.mark.parametrize("table", sorted(path.stem for path in TABLES.glob("*.csv")))
def test_tables(folder, table):
    path = TABLES / f"{table}.csv"
    name = TARGETS.get(table) or read_table(path).names[-1]
    model = spinney.grow(path, name, recipe="cart")
    check_formats(model, str(path), name)


@pytest.mark.filterwarnings("ignore:target .* look alike", "ignore:.* values? in")
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_classes(folder, kind):
    classes = HOSTILE[kind]
    name = f"{classes[0]} {classes[1]}"
    rows = {"x": [], name: []}
    for place, label in enumerate(classes):
        rows["x"] += [place * 10.0, place * 10.0 + 1]
        rows[name] += [label, label]
    model = spinney.grow(rows, name, recipe="id3")
    assert model.predict(rows).tolist() == rows[name]
    with open("x.jsonl", "w", encoding="utf-8") as file:
        file.writelines(f'{{"x": {x}}}\n' for x in rows["x"])
    check_formats(model, "x.jsonl", name)


def test_labels_keep_their_types(works, write):
    rows = {"x": [1.0, 2.0, 3.0, 4.0]}
    write("x.csv", "x\n1\n2\n3\n4\n")
    for labels in ([1, 1, 2, 2], [True, True, False, False], list("aabb")):
        spinney.grow({**rows, "y": labels}, "y", recipe="id3").save("m.spinney")
        works("predict", "m.spinney", "x.csv", "-o", "out.parquet", "--overwrite")
        found = duckdb.sql("SELECT y FROM 'out.parquet'").fetchall()
        assert [row[0] for row in found] == labels
        text = works("predict", "m.spinney", "x.csv", "--output-format", "jsonl")
        assert [json.loads(line)["y"] for line in text.splitlines()] == labels


# Columns that are kept


KEPT = 'id,day,x,y,note\n007,3/4/2020,1.50,a,"say ""hi"", you"\n008,?,2.50,b,\n'


@pytest.fixture
def kept(works, write):
    rows = {"x": [1.0, 1.5, 2.5, 3.0], "y": list("aabb")}
    spinney.grow(rows, "y", recipe="id3", missing_values=["?"]).save("m.spinney")
    return write("t.csv", KEPT)


def test_kept_columns_are_as_written(works, kept):
    text = works("predict", "m.spinney", kept, "--keep", "note,id", "--keep", "day")
    assert text.splitlines() == [
        "note,id,day,y",
        '"say ""hi"", you",007,3/4/2020,a',
        ",008,?,b",
    ]
    whole = works("predict", "m.spinney", kept, "--keep", "all")
    lines = KEPT.splitlines()
    assert whole.splitlines() == [
        f"{lines[0]},predicted y",
        f"{lines[1]},a",
        f"{lines[2]},b",
    ]
    assert works("predict", "m.spinney", kept, "--append") == whole
    data = json.loads(works("predict", "m.spinney", kept, "--keep", "id", "--json"))
    assert data["rows"][0] == {"kept": {"id": "007"}, "label": "a"}


def test_kept_columns_of_standard_input(process, kept):
    found = process("predict", "m.spinney", "-", "--keep", "id", stdin=KEPT)
    assert found.out == "id,y\n007,a\n008,b\n"


def test_kept_columns_keep_their_types_in_parquet(works, kept):
    duckdb.sql(
        "COPY (SELECT 7::INTEGER AS id, DATE '2020-01-02' AS day, 1.0 AS x, "
        "TIMESTAMP '2020-01-02 03:04:05.5' AS moment, true AS flag, 0.1::DOUBLE AS z, "
        "NULL::BIGINT AS gap) TO 'in.parquet' (FORMAT parquet)"
    )
    works("predict", "m.spinney", "in.parquet", "--append", "-o", "out.parquet")
    before, after = duckdb.sql("FROM 'in.parquet'"), duckdb.sql("FROM 'out.parquet'")
    assert after.columns == [*before.columns, "y"]
    assert after.fetchall() == [(*before.fetchall()[0], "a")]
    kinds = dict(zip(after.columns, map(str, after.types), strict=True))
    assert kinds["id"] == "INTEGER"
    assert kinds["day"] == "DATE"
    assert kinds["moment"] == "TIMESTAMP"


def test_names_that_a_kept_column_has(works, write, kept):
    write("c.csv", "x,leaf,p(a),y\n1,u,v,w\n")
    asked = ("predict", "m.spinney", "c.csv", "--append", "--leaf", "--probabilities")
    header = works(*asked).splitlines()[0]
    assert header == ("x,leaf,p(a),y,predicted y,predicted p(a),p(b),predicted leaf")


def test_rows_of_an_earlier_run_are_predicted_again(works, write, kept):
    write("c.csv", "x,y,Predicted Y\n1,u,v\n")
    text = works("predict", "m.spinney", "c.csv", "--append")
    assert text.splitlines()[0] == "x,y,Predicted Y,predicted predicted y"


def test_what_is_refused(refused, kept):
    for arguments, said in (
        (("--keep", "idd"), "no column 'idd' to keep: did you mean 'id'?"),
        (("--keep", "id", "--append"), "cannot be used with --append"),
        (("-o", "out.txt"), "'out.txt' is no known format: use one of .csv, .tsv"),
        (("-o", "out.csv", "--json"), "has the suffix of csv, but the format is json"),
        (("-o", "out.parquet.gz"), "parquet is already compressed: remove .gz"),
        (
            ("--output-format", "parquet"),
            "parquet cannot be written to standard output",
        ),
        (("--output-format", "xls"), "'xls' is unknown: did you mean 'xlsx'?"),
        (("--json", "--output-format", "tsv"), "exclude each other"),
        (("--spreadsheet", "--json"), "--spreadsheet needs CSV or TSV"),
        (("--raw",), "there is no option --raw: cells are written as they are"),
    ):
        code = 3 if "idd" in arguments else 2
        assert said in refused(code, "predict", "m.spinney", kept, *arguments)


# Rows that come in parts


@pytest.fixture
def many(works, write, monkeypatch):
    """A table of five parts, and a model that has not seen all of its values."""
    monkeypatch.setattr("spinney.cli.predict_command.BATCH", 2048)
    monkeypatch.setattr("spinney.data.readers.batches.SMALL_FILE", 0)
    rows = {"c": list("uuvv"), "x": [1.0, 2.0, 1.0, 2.0], "y": list("abba")}
    spinney.grow(rows, "y", recipe="id3").save("m.spinney")
    colours = "uvw"
    lines = [f"{i},{colours[i % 3]},{i % 2 + 1}" for i in range(9000)]
    return write("many.csv", "id,c,x\n" + "\n".join(lines) + "\n")


@pytest.mark.parametrize("path", FORMATS)
def test_parts_are_the_whole(tool, many, path):
    model = spinney.load("m.spinney")
    expected = model.predict(str(many)).tolist()
    outcome = tool("predict", "m.spinney", many, "--keep", "id", "-o", path)
    assert outcome.err.count("values that the training rows lack") == 1
    assert "'w'" in outcome.err
    assert read_back(path, "y") == expected
    if not path.endswith(".json"):
        assert read_back(path, "id") == [str(place) for place in range(9000)]


def test_parts_come_without_arrow_too(works, many, monkeypatch):
    import builtins

    expected = works("predict", "m.spinney", many, "--keep", "id")
    plain = builtins.__import__

    def without(name, *more):
        if name == "pyarrow":
            raise ImportError(name)
        return plain(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    assert works("predict", "m.spinney", many, "--keep", "id") == expected


def test_a_late_row_that_is_refused_leaves_no_file(refused, works, write, monkeypatch):
    monkeypatch.setattr("spinney.cli.predict_command.BATCH", 2048)
    monkeypatch.setattr("spinney.data.readers.batches.SMALL_FILE", 0)
    write("k.csv", "x\n1\n2\n9\n")
    works("cluster", "k.csv", "--n-clusters", 2, "--model", "k.spinney", "--quiet")
    lines = [str(i) for i in range(9000)]
    lines[8000] = ""
    write("late.csv", "x,y\n" + "".join(f"{line},1\n" for line in lines))
    for path in FORMATS:
        line = refused(3, "predict", "k.spinney", "late.csv", "-o", path)
        assert "'x' is missing (NaN) in row 8001" in line


def test_gzip_is_the_same_bytes_each_time(works, kept):
    works("predict", "m.spinney", kept, "-o", "a.csv.gz")
    works("predict", "m.spinney", kept, "-o", "b.csv.gz")
    with open("a.csv.gz", "rb") as one, open("b.csv.gz", "rb") as other:
        first, second = one.read(), other.read()
    assert first == second
    assert gzip.decompress(first).decode() == works("predict", "m.spinney", kept)
    assert sorted(os.listdir()) == ["a.csv.gz", "b.csv.gz", "m.spinney", "t.csv"]
