"""Tables as people have them: what is read, and what is said of it."""

import datetime
import warnings

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data.messy_tables import MESSY, Messy
from tests.helpers.fuzz import examples

import spinney
from spinney import look
from spinney.data import Declarations, TextFormat
from spinney.data.duckdb.sql_text_formats import (
    infer_candidates_in_sql,
    parse_expression,
)
from spinney.data.format_inference import infer_candidates
from spinney.data.readers import read_table
from spinney.data.text_formats import DURATION, NUMBER_FORMATS
from spinney.errors import DataError, ParameterError, SpinneyNote


def test_there_are_at_least_forty():
    assert len(MESSY) >= 40


@pytest.mark.parametrize("case", MESSY)
def test_what_is_read_and_said(write, values, case):
    messy: Messy = MESSY[case]
    path = write(messy.name, messy.content)
    declared = Declarations(
        text_format=TextFormat(**messy.settings), missing=messy.missing
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = read_table(path, declarations=declared)
    assert values(table) == messy.columns
    told = [str(each.message) for each in caught]
    assert [type(each.message) for each in caught] == [SpinneyNote] * (
        messy.told is not None
    )
    assert messy.told is None or messy.told in told[0]


@pytest.mark.parametrize("case", MESSY)
def test_it_can_be_looked_at(write, case):
    messy: Messy = MESSY[case]
    path = write(messy.name, messy.content)
    summary = look(path, text_format=messy.settings)
    assert [column.name for column in summary.columns] == list(messy.columns)
    assert messy.told is None or messy.told in str(summary)


DAYS = [datetime.date(2026, 1, 1) + datetime.timedelta(days=11 * i) for i in range(60)]
CELL_FORMATS = {
    "ISO": (",", "{:.2f}", "%Y-%m-%d", ""),
    "US": (",", "US", "%m/%d/%Y", "N/A"),
    "German": (";", "German", "%d.%m.%Y", "-"),
}


def written(form: str) -> str:
    """Return sixty rows, written as people of a country do."""
    delimiter, number, date, gap = CELL_FORMATS[form]
    rows = [delimiter.join(["price", "day", "sold"])]
    for i, day in enumerate(DAYS):
        price = 970.25 + 17.5 * ((i * 37) % 60)
        text = f"{price:,.2f}" if number != "{:.2f}" else f"{price:.2f}"
        if number == "German":
            text = text.translate(str.maketrans(",.", ".,"))
        text = gap if i == 7 else f'"{text}"'
        sold = "yes" if (price > 1500) ^ (day.month > 9) else "no"
        rows.append(delimiter.join([text, day.strftime(date), sold]))
    return "\n".join(rows) + "\n"


@pytest.mark.filterwarnings("ignore::spinney.SpinneyNote")
@pytest.mark.parametrize("recipe", ["c4.5", "cart"])
def test_the_same_rows_give_the_same_tree_in_every_form(write, recipe):
    trees = {
        form: str(
            spinney.grow(write(f"{form}.csv", written(form)), "sold", recipe=recipe)
        )
        for form in CELL_FORMATS
    }
    assert trees["ISO"].count("\n") >= 3
    assert trees["US"] == trees["ISO"] == trees["German"]


def test_a_model_reads_later_tables_as_the_first_was_written(write, tmp_path):
    with pytest.warns(SpinneyNote, match="read as numbers: price"):
        model = spinney.grow(write("t.csv", written("US")), "sold", recipe="cart")
    model.save(tmp_path / "m.spinney")
    loaded = spinney.load(tmp_path / "m.spinney")
    # Of one row nobody could tell what is the month: the model does, as a note says.
    later = write("later.csv", 'price,day\n"1,999.00",03/04/2026\n')
    asked = {"price": [1999.0], "day": [datetime.date(2026, 3, 4)]}
    for each in (model, loaded):
        with pytest.warns(SpinneyNote, match="'03/04/2026' may be 2026-04-03") as told:
            predicted = each.predict(str(later))
        assert "price" not in str(told[0].message)
        assert predicted.tolist() == each.predict(asked).tolist()
        assert each.schema.text_format == TextFormat(".", None, "monthfirst")


@pytest.mark.parametrize("cells", [["-"], ["-", "70"], ["-", "70", "80"], ["?", "-"]])
def test_a_model_knows_placeholders_whatever_is_beside_them(write, cells):
    rows = "".join(f"{i},{'hi' if i > 5 else 'lo'}\n" for i in range(11))
    model = spinney.grow(write("t.csv", f"x,y\n{rows}"), "y", recipe="cart")
    later = write("later.csv", "x\n" + "\n".join(cells) + "\n")
    asked = [None if cell in "-?" else float(cell) for cell in cells]
    assert model.predict(str(later)).tolist() == model.predict({"x": asked}).tolist()


def test_nested_cells_among_texts_are_refused(write):
    path = write("t.jsonl", '{"a": {"b": 1}, "y": "u"}\n{"a": "x", "y": "v"}\n')
    with pytest.raises(DataError, match="column 'a' holds a dict in row 1"):
        read_table(path)


def weights(unit: str, n_rows: int = 40) -> str:
    rows = (f"{50 + i}{unit},{'yn'[i % 40 > 19]}" for i in range(n_rows))
    return "\n".join(["weight,tall", *rows]) + "\n"


@pytest.mark.filterwarnings("ignore::spinney.SpinneyNote")
def test_a_model_remembers_the_unit_of_a_column(write, tmp_path):
    model = spinney.grow(
        write("kg.csv", weights(" kg").encode()), "tall", recipe="cart"
    )
    model.save(tmp_path / "m.spinney")
    model = spinney.load(tmp_path / "m.spinney")
    assert model.schema.text_format.units == (("weight", "kg"),)
    expected = ["y"] * 20 + ["n"] * 20
    for unit in (" kg", "", "kg"):
        later = write("later.csv", weights(unit).encode())
        assert model.predict(later).tolist() == expected
    mixed = weights(" kg").replace("60 kg", "60")
    assert model.predict(write("mixed.csv", mixed.encode())).tolist() == expected
    pounds = write("pounds.csv", weights(" lbs").encode())
    with pytest.raises(DataError, match=r"'weight' counted kg .* but holds '50 lbs'"):
        model.predict(pounds)


@pytest.mark.filterwarnings("ignore::spinney.SpinneyNote")
def test_a_unit_is_refused_by_a_model_of_plain_numbers(write):
    model = spinney.grow(
        write("plain.csv", weights("").encode()), "tall", recipe="cart"
    )
    with pytest.raises(DataError, match="but holds '50 kg' in row 1"):
        model.predict(write("kg.csv", weights(" kg").encode()))


def test_look_names_the_unit(write):
    summary = look(write("kg.csv", weights(" kg").encode()))
    assert summary.columns[0].kind == "numeric (kg)"


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        (["70 kg", "154 lbs"], "column 'x' mixes units, as in 154 lbs and 70 kg"),
        (["12%", "0.12"], "column 'x' mixes numbers with and without %"),
        (
            [f"{1000 + i}/{i % 7}" for i in range(30)],
            "column 'x' has texts such as '1000/0', no number because of '/'",
        ),
    ],
)
def test_what_is_no_number_is_not_called_an_identifier(write, cells, problem):
    rows = "".join(f"{cell},{'ab'[i % 2]}\n" for i, cell in enumerate(cells * 3))
    if "/" in cells[0]:
        rows = "".join(f"{cell},{'ab'[i % 2]}\n" for i, cell in enumerate(cells))
    summary = str(look(write("table.csv", f"x,y\n{rows}".encode())))
    assert problem in summary
    assert "identifier" not in summary


def test_what_is_said_of_notation_is_checked():
    for wrong, message in (
        ({"decimal": ";"}, "decimal=';' is unknown"),
        ({"thousands": "_"}, "thousands='_' is unknown"),
        ({"dates": "american"}, "dates='american' is unknown"),
        ({"skip": -1}, "skip=-1 must be"),
        ({"decimal": ",", "thousands": ","}, "thousands=',' is decimal=',' as well"),
        ({"decimals": ","}, "did you mean 'decimal'"),
    ):
        with pytest.raises(ParameterError, match=message):
            TextFormat.from_setting(wrong)


CELLS = ["1", "1.5", "1,5", "1,234", "1.234", "1.234,5", "1,234.5", "$5", "5 €", "€6"]
CELLS += [
    "12 %",
    "0.5 %",
    "1 234",
    "1'234",
    "-3",
    "+4,5",
    "1e5",
    ".5",
    "5.",
    "N/A",
    "?",
]
DATABASE = duckdb.connect()
CELLS += ["-", "nan", "17.11.2026", "11/17/2026", "03/04/2026", "3-4-26", "2026/1/2"]
CELLS += ["17 Nov 2026", "Nov 17, 2026", "31.02.2026", "17.11.2026 10:30", "red", "1_0"]
CELLS += ["10:30", "7:05 pm", "13:05 pm", "0:15 am", "10:30:15", "24:00", " 9:59 "]
CELLS += ["11/17/2026 1:05 pm", "١", " 7 ", "USD 8", "1\u00a0234,5", "NA", "12,34,567"]
CELLS += ["82 kg", "83.5kg", "154 lbs", "1 lb", "3,000 sq ft", "12A", "5 m", "5m", "5M"]
CELLS += ["(1,047.65)", "1047.65-", "−5.00", "1.2K", "3M", "4bn", "2 M", "'306", "1st"]
CELLS += [
    "5h 34m",
    "45 min",
    "2 days",
    "1h",
    "90s",
    "20 °C",
    "7 am",
    "km",
    "($5)",
    "5 EUR",
]


@pytest.mark.parametrize("cell", CELLS)
def test_sql_and_python_parse_alike(cell):
    quoted = cell.replace("'", "''")
    texts = DATABASE.sql(f"SELECT '{quoted}' AS c0")
    for format in (*NUMBER_FORMATS, DURATION):
        if format.matches(cell):
            (row,) = texts.project(parse_expression("c0", format)).fetchall()
            assert row == (format.parse(cell),)


@given(st.lists(st.sampled_from(CELLS), min_size=1, max_size=4))
@settings(max_examples=examples(120), deadline=None)
def test_sql_and_python_see_the_same_forms(cells):
    rows = ", ".join(f"('{cell}')" for cell in (c.replace("'", "''") for c in cells))
    texts = DATABASE.sql(f"SELECT * FROM (VALUES {rows}) AS t(c0)")
    assert infer_candidates_in_sql(texts, ["c0"]).get("c0") == infer_candidates(cells)
