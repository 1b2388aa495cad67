"""Tables that cannot be used: exit code 3, one line that helps, nothing written."""

import pytest

from spinney.output.file.model_files import load_model

GOOD = "size,colour,sort\n1,red,a\n2,red,b\n1,blue,a\n2,blue,b\n"


@pytest.fixture(params=["memory", "duckdb"])
def refuse(request, refused, write):
    """Try to grow on a table of this content; return the line of talk."""

    def refuse_table(content, *arguments, name="table.csv", code=3, target="sort"):
        write(name, content)
        options = ("--target", target, "--engine", request.param, "-o", "x.spinney")
        return refused(code, "grow", name, *options, *arguments)

    return refuse_table


def test_an_empty_file(refuse):
    line = refuse("")
    assert "'table.csv' is empty" in line
    assert "must name the columns" in line


def test_a_header_only(refuse):
    line = refuse("size,sort\n")
    assert " has no rows: give it at least " in line


def test_one_row(refuse):
    line = refuse("size,sort\n1,a\n")
    assert "target 'sort'" in line
    assert "(row): a tree needs at least two" in line


def test_a_target_that_is_absent(refuse):
    assert "no column 'sorte': did you mean 'sort'?" in refuse(GOOD, target="sorte")


def test_a_target_that_nothing_resembles(refuse):
    line = refuse(GOOD, target="zzz")
    assert "no column 'zzz': known: 'size', 'colour', 'sort'" in line


def test_a_target_that_is_all_missing(refuse):
    line = refuse("size,sort\n1,\n2,\n")
    assert "target 'sort'" in line
    assert "missing" in line


def test_a_target_that_is_all_declared_missing(refuse):
    line = refuse("size,sort\n1,?\n2,?\n", "--missing-values", "?")
    assert "target 'sort'" in line
    assert "missing" in line


@pytest.mark.parametrize("row", ["2", "2,b,c"])
def test_a_ragged_line(refuse, row):
    line = refuse(f"size,sort\n1,a\n{row}\n3,b\n")
    assert "line 3" in line
    assert "fix the line" in line


def test_the_wrong_encoding(refuse):
    text = "size,sort\n1,café\n2,b\n".encode("latin-1")
    line = refuse(text, "--encoding", "utf-8")
    assert "'table.csv' is not text in utf-8" in line
    assert "--encoding 'latin-1'" in line


def test_a_folder(refused, folder):
    (folder / "table.csv").mkdir()
    line = refused(3, "grow", "table.csv", "--target", "sort", "-o", "x.spinney")
    assert "'table.csv' is a folder without Parquet files: name a file" in line


def test_no_such_file(refused):
    line = refused(3, "grow", "gone.csv", "--target", "sort", "-o", "x.spinney")
    assert "no file 'gone.csv': check its name" in line


@pytest.mark.parametrize("infinity", ["inf", "-inf", "1e999"])
def test_a_column_of_infinities(refuse, infinity):
    line = refuse(f"size,sort\n{infinity},a\n{infinity},b\n")
    assert "column 'size' holds" in line
    assert "inf" in line
    assert "--ignore size" in line


@pytest.mark.parametrize("label", ["a\nb", "a\r\nb"])
def test_a_class_label_with_a_line_break(refuse, label):
    line = refuse(f'size,sort\n1,"{label}"\n2,b\n')
    assert f"target 'sort': the class {label!r} holds a line break" in line
    assert "fix the label" in line


def test_a_file_of_no_known_suffix(refuse):
    line = refuse(GOOD, name="table.txt")
    assert "'table.txt'" in line
    assert "--format 'csv'" in line


@pytest.mark.parametrize("format_", ["parquet", "jsonl", "arff"])
def test_a_file_of_another_format(refused, write, format_):
    write("table.csv", GOOD)
    given = ("--target", "sort", "--format", format_)
    assert "'table.csv'" in refused(3, "grow", "table.csv", *given)


def test_a_compressed_file_that_is_cut_short(refuse):
    line = refuse(b"\x1f\x8b\x08\x00\x00\x00", name="table.csv.gz")
    assert "'table.csv.gz' is truncated or damaged" in line


def test_empty_standard_input(process):
    outcome = process("grow", "-", "--target", "sort")
    assert outcome.code == 3
    assert "spinney: error: 'standard input' is empty" in outcome.err


@pytest.mark.parametrize("option", ["--nominal", "--numeric", "--ignore"])
def test_a_declared_column_that_is_not_there(refuse, option):
    line = refuse(GOOD, option, "color")
    assert "column 'color' is declared but not in the table" in line
    assert "did you mean 'colour'?" in line


def test_text_in_a_column_declared_numeric(refuse):
    line = refuse(GOOD, "--numeric", "colour")
    assert "column 'colour' was declared numeric but holds" in line
    assert "--missing-values" in line


def test_a_value_that_is_no_declared_level(refuse):
    line = refuse(GOOD, "--ordinal", "colour:red<green")
    assert "column 'colour' holds 'blue'" in line
    assert "red < green" in line


def test_a_weight_that_is_absent_or_no_number(refuse):
    assert "'sizes'" in refuse(GOOD, "--weight", "sizes")
    assert "'colour'" in refuse(GOOD, "--weight", "colour")
    assert "'sort'" in refuse(GOOD, "--weight", "sort")


def test_a_negative_weight(refuse):
    line = refuse("size,sort\n1,a\n-2,b\n", "--weight", "size")
    assert "weight 'size'" in line
    assert "-2" in line
    assert "0 or greater" in line


# Tables to predict


def test_predict_without_a_needed_column(refused, write, model):
    write("new.csv", "color,density\ngreen,0.5\n")
    for command in (("predict", model, "new.csv"), ("explain", model, "--row=new.csv")):
        line = refused(3, *command)
        assert "the model needs the columns 'sound', 'texture'" in line
        assert line.endswith(
            "which the table does not have: it has 'color', 'density'; add them (empty "
            "cells are fine)"
        )


def test_predict_with_a_misspelt_column(refused, write, model, melons):
    write("new.csv", melons.read_text().replace("texture", "textur", 1))
    line = refused(3, "predict", model, "new.csv")
    assert (
        "'texture', which the table does not have: did you mean 'textur'? Else" in line
    )


def test_predict_with_no_column_of_the_model(refused, write, model):
    write("new.csv", "a,b\n1,2\n")
    line = refused(3, "predict", model, "new.csv", "-o", "out.csv")
    assert "the model needs the columns 'color', 'sound', 'texture', " in line
    assert "it has 'a', 'b'; add them" in line
    assert "'ripe'" not in line


def test_predict_with_extra_and_reordered_columns(works, write, model, melons):
    header, *rows = melons.read_text().splitlines()
    turned = [",".join(["extra", *reversed(row.split(","))]) for row in rows]
    names = ",".join(["note", *reversed(header.split(","))])
    write("new.csv", "\n".join([names, *turned]))
    expected = works("predict", model, melons, "--probabilities")
    assert works("predict", model, "new.csv", "--probabilities") == expected


@pytest.mark.parametrize(
    "content, said",
    [
        ("", "is empty"),
        ("density,sugar\n", "has no rows"),
        ("density,density\n1,2\n", "'density', 'density_2'; add them"),
        ("density,sugar\n1\n", "line 2"),
    ],
)
def test_predict_on_a_table_that_cannot_be_read(refused, write, model, content, said):
    write("new.csv", content)
    assert said in refused(3, "predict", model, "new.csv", "-o", "out.csv")


def test_predict_on_text_where_numbers_were(refused, write, model):
    names = load_model(model).schema.names
    write("new.csv", f"{','.join(names)}\n{','.join('x' for _ in names)}\n")
    line = refused(3, "predict", model, "new.csv")
    assert "'density'" in line
    assert "'x'" in line
