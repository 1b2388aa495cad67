"""What new users' tables say is read truthfully, and what is doubtful is told."""

import csv
import datetime
import re
import sqlite3
import warnings
from contextlib import ExitStack, closing

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.helpers.workbooks import write_workbook
from tests.sources.tables_away import placed

import spinney
from spinney.cli import run
from spinney.data import Declarations, TextFormat
from spinney.data.readers import read_table
from spinney.errors import SpinneyNote, SpinneyWarning

COMMAS = (
    "size;price;sold\n1,5;1.500,5;no\n2,5;2.500,5;no\n"
    "3,5;3.500,5;yes\n4,5;4.500,5;yes\n"
)
# A later column of three decimals, and what is said of it: by what columns beside it
# tell, asked about or not, and where nothing tells by what the model remembers.
LATER = {
    "size\n1.500\n": ("yes", "size ('1.500' is 1500), but '1.500' may be 1.5"),
    "size,price\n1.500,2.5\n": ("no", "size ('1.500' is 1.5)"),
    "size;price\n1.500;2,5\n": ("yes", None),
    "size,other\n1.500,0.25\n": ("no", "size ('1.500' is 1.5)"),
    'size,price\n"1,500","2,500.5"\n': ("yes", "size ('1,500' is 1500)"),
    "size\n1.500\n2.25\n": ("no", None),
    "size,a,b\n1.500,2.5,$2.5\n": ("no", "size ('1.500' is 1.5)"),
    'size,a,b\n1.500,2.5,"2,5"\n': ("yes", "but '1.500' may be 1.5"),
}


@pytest.fixture(params=[COMMAS, "size;sold\n1,5;no\n2,5;no\n3,5;yes\n4,5;yes\n"])
def model_of_commas(request, tmp_path):
    """A model of decimal commas, which asks about the price or does not know it."""
    path = tmp_path / "shop.csv"
    path.write_text(request.param, encoding="utf-8")
    with pytest.warns(SpinneyNote, match="4,5"):
        return spinney.grow(path, "sold", recipe="cart")


@pytest.mark.parametrize("text", LATER)
def test_points_of_a_later_table_are_what_it_says_they_are(
    model_of_commas, text, tmp_path
):
    path = tmp_path / "later.csv"
    path.write_text(text, encoding="utf-8")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        predicted = model_of_commas.predict(str(path))
    label, note = LATER[text]
    assert predicted[0] == label
    said = [str(each.message) for each in told]
    assert len(said) == (note is not None)
    assert note is None or note in said[0]
    assert {type(each.message) for each in told} <= {SpinneyNote}


# Dates of a later table, and what is said of them by a model of days between dots.
LATER_DAYS = {
    "day\n03/04/2026\n": "day ('03/04/2026' is 2026-04-03), but '03/04/2026' may be "
    "2026-03-04: then set dates='monthfirst'",
    "day,b\n03/04/2026,17/04/2026\n": None,
    "day,b\n03/04/2026,04/17/2026\n": "day ('03/04/2026' is 2026-03-04)",
    "day,a,b\n03/04/2026,17/04/2026,04/17/2026\n": "may be 2026-03-04: then set",
    "day\n03.04.2026\n": None,
    "day\n2026-04-03\n": None,
}


@pytest.mark.parametrize("text", LATER_DAYS)
def test_days_of_a_later_table_that_memory_alone_tells_are_told_of(text, tmp_path):
    path, later = tmp_path / "shop.csv", tmp_path / "later.csv"
    days = "".join(f"{day}.11.2026,{'yn'[day < 20]}\n" for day in range(16, 24))
    path.write_text(f"day,sold\n{days}", encoding="utf-8")
    later.write_text(text, encoding="utf-8")
    with pytest.warns(SpinneyNote, match="read as dates: day"):
        model = spinney.grow(path, "sold", recipe="cart")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.read(str(later))
    note = LATER_DAYS[text]
    assert len(told) == (note is not None)
    assert note is None or note in str(told[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SpinneyWarning)
        if "2026-03-04" in str(note):
            model.read(str(later), text_format=TextFormat(dates="dayfirst"))


@pytest.mark.filterwarnings("ignore::spinney.SpinneyNote")
def test_what_is_said_of_a_later_table_overrules_what_it_says(
    model_of_commas, tmp_path
):
    path = tmp_path / "later.csv"
    path.write_text("size,other\n1.500,0.25\n", encoding="utf-8")
    table = model_of_commas.read(str(path), text_format=TextFormat(decimal=","))
    assert table["size"].cells.tolist() == [1500]


@pytest.mark.filterwarnings("ignore::spinney.SpinneyNote")
@pytest.mark.parametrize("said", [None, TextFormat(decimal=",")])
@pytest.mark.parametrize("text", LATER)
def test_kept_cells_are_as_they_stood(model_of_commas, text, said, tmp_path):
    path = tmp_path / "later.csv"
    path.write_text(text, encoding="utf-8")
    asked = {"n_rows": 10, "keep": "all", "text_format": said}
    with model_of_commas.batches(str(path), **asked) as batches:
        ((_, cells),) = batches.parts
    delimiter = ";" if ";" in text else ","
    rows = [*csv.reader(text.splitlines(), delimiter=delimiter)][1:]
    assert [*zip(*cells, strict=True)] == [*map(tuple, rows)]


@pytest.mark.filterwarnings("ignore::spinney.SpinneyNote")
def test_names_that_look_like_thousands_stay_names(tmp_path):
    path = tmp_path / "shop.csv"
    path.write_text("code;size\n1.500;1,5\n2.500;2,5\n", encoding="utf-8")
    table = read_table(path, declarations=Declarations(nominal=("code",)))
    assert table["code"].levels == ("1.500", "2.500")


def test_the_order_of_dates_is_what_a_later_table_says(tmp_path):
    days = [f"{day}.11.2026;{'no' if day < 15 else 'yes'}" for day in range(11, 19)]
    path, later = tmp_path / "days.csv", tmp_path / "later.csv"
    path.write_text("\n".join(["day;sold", *days]), encoding="utf-8")
    with pytest.warns(SpinneyNote, match=r"'18.11.2026' is 2026-11-18"):
        model = spinney.grow(path, "sold", recipe="cart")
    later.write_text("day,until\n11/12/2026,12/31/2026\n", encoding="utf-8")
    with pytest.warns(SpinneyNote, match="'11/12/2026' is 2026-11-12"):
        assert model.predict(str(later)).tolist() == ["no"]


COUNTED = {"size": [1, 2, 3, 4] * 5, "sold": ["no", "no", "yes", "yes"] * 5}
NUMBERS_OF_ROWS = {
    "id": range(1, 21),
    "Id": range(20),
    "PassengerId": range(1000, 1020),
    "order_no": [1019 - at for at in range(20)],
    "编号": range(1, 21),
}


def told_of_counts(grow, *args, **options):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        grow(*args, **options)
    return [str(each.message) for each in told if "numbers the" in str(each.message)]


def _left_out_count(name):
    return (
        f"column '{name}' numbers the rows and was excluded; to keep it, declare it "
        f"(numeric=['{name}'])"
    )


@pytest.mark.parametrize("name", NUMBERS_OF_ROWS)
@pytest.mark.parametrize("recipe", ["cart", "c4.5", "id3"])
def test_numbers_of_rows_are_told_of_once(name, recipe):
    data = {name: [*NUMBERS_OF_ROWS[name]], **COUNTED}
    warning = _left_out_count(name)
    for table in (data, pd.DataFrame(data)):
        assert told_of_counts(spinney.grow, table, "sold", recipe=recipe) == [warning]
        declared = {"recipe": recipe, "numeric": [name]}
        assert told_of_counts(spinney.grow, table, "sold", **declared) == []
    assert str(spinney.look(data, "sold")).count("numbers the rows") == 1
    assert "numbers the" not in str(spinney.look(data, "sold", numeric=[name]))


@pytest.mark.parametrize("place", ["parts", "duckdb", "sqlite"])
def test_numbers_of_rows_are_told_of_wherever_they_are(place, tmp_path, request):
    data = {"id": [1019 - at for at in range(20)], **COUNTED}
    with placed(place, data, tmp_path, request) as (table, how):
        told = told_of_counts(spinney.grow, table, "sold", recipe="c4.5", **how)
        assert told == [_left_out_count("id")]
        declared = {"recipe": "c4.5", "numeric": ["id"], **how}
        assert told_of_counts(spinney.grow, table, "sold", **declared) == []


@pytest.mark.parametrize(
    "cells",
    [
        [*range(19), 20],
        [at + 0.5 for at in range(20)],
        [1, *range(1, 20)],
        [None, *range(1, 20)],
    ],
    ids=["a gap", "no whole numbers", "one twice", "one missing"],
)
@pytest.mark.parametrize("place", ["memory", "parts", "duckdb", "sqlite"])
def test_numbers_that_do_not_count_the_rows(cells, place, tmp_path, request):
    data = {"id": cells, **COUNTED}
    if place == "memory":
        assert told_of_counts(spinney.grow, data, "sold", recipe="cart") == []
        return
    with placed(place, data, tmp_path, request) as (table, how):
        assert told_of_counts(spinney.grow, table, "sold", recipe="cart", **how) == []


@pytest.mark.parametrize(
    "estimator", [spinney.TreeClassifier, spinney.ForestClassifier]
)
def test_estimators_warn_of_numbers_of_rows(estimator):
    X = pd.DataFrame({"id": range(1000, 1020), "size": COUNTED["size"]})
    warning = (
        "column 'id' numbers the rows: remove it from X, or declare it (numeric=['id'])"
    )
    assert told_of_counts(estimator().fit, X, COUNTED["sold"]) == [warning]
    declared = estimator(numeric=["id"])
    assert told_of_counts(declared.fit, X, COUNTED["sold"]) == []
    # Columns without names are none that are called so, nor is an array's.
    for unnamed in (X.to_numpy(), X.set_axis([0, 1], axis="columns")):
        assert told_of_counts(estimator().fit, unnamed, COUNTED["sold"]) == []


@pytest.mark.parametrize(
    "estimator", [spinney.TreeClassifier, spinney.ForestClassifier]
)
def test_estimators_warn_of_texts_that_only_tell_rows_apart(estimator):
    """They were split on, and nothing was said: `n_features_in_` must stay."""
    texts = [f"s{at}" for at in range(20)]
    X = pd.DataFrame({"session_id": texts, "size": COUNTED["size"]})
    with pytest.warns(SpinneyWarning) as told:
        model = estimator().fit(X, COUNTED["sold"])
    assert model.n_features_in_ == 2
    said = [str(each.message) for each in told]
    assert [text for text in said if "excluded from splits" not in text] == [
        "column 'session_id' looks like an identifier with only unique values (20): "
        "remove it from X, or declare it (nominal=['session_id'])"
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*excluded from splits")
        estimator(nominal=["session_id"]).fit(X, COUNTED["sold"])


@pytest.mark.parametrize("place", ["memory", "parts", "duckdb", "sqlite"])
@pytest.mark.parametrize("n_rows", [4, 20])
def test_an_index_of_few_rows_may_be_one_of_prices(n_rows, place, tmp_path, request):
    data = {
        "price index": [*range(100, 100 + n_rows)],
        "size": ([1, 2, 4, 7] * 5)[:n_rows],
        "sold": (["no", "yes"] * 10)[:n_rows],
    }
    names = ("price index", "size") if n_rows < 20 else ("size",)
    with ExitStack() as stack:
        table, how = data, {}
        if place != "memory":
            away = placed(place, data, tmp_path, request)
            table, how = stack.enter_context(away)
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", SpinneyNote)
        assert spinney.grow(table, "sold", **how).schema.names == names


SAMPLED = [1003, 1017, 1001, 1090, 1044, 1051, 1023, 1076, 1038, 1062] * 2
SAMPLED = [number + 100 * (at // 10) for at, number in enumerate(SAMPLED)]


def _left_out_identifier(name):
    return (
        f"column '{name}' has only unique values (20) and was excluded; to keep "
        f"it, declare it (numeric=['{name}'])"
    )


def told_of_identifiers(grow, *args, **options):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        grow(*args, **options)
    return [str(each.message) for each in told if "unique values" in str(each.message)]


@pytest.mark.parametrize("name", ["customer_id", "id", "order_no", "sessionId"])
@pytest.mark.parametrize("recipe", ["auto", "cart", "c4.5"])
def test_identifiers_with_gaps_are_left_out(name, recipe):
    """A sample of rows has them; they were split on, and nothing was said."""
    data = {name: SAMPLED, **COUNTED}
    told = told_of_identifiers(spinney.grow, data, "sold", recipe=recipe)
    assert told == [_left_out_identifier(name)]
    declared = {"recipe": recipe, "numeric": [name]}
    assert told_of_identifiers(spinney.grow, data, "sold", **declared) == []
    assert f"'{name}' looks like an identifier with only unique values (20)" in str(
        spinney.look(data)
    )
    assert "identifier" not in str(spinney.look(data, numeric=[name]))


@pytest.mark.parametrize("place", ["parts", "duckdb", "sqlite"])
@pytest.mark.parametrize("cells", [SAMPLED, [*SAMPLED[1:], None]])
def test_identifiers_with_gaps_are_left_out_wherever_they_are(
    cells, place, tmp_path, request
):
    data = {"customer_id": cells, **COUNTED}
    expected = told_of_identifiers(spinney.grow, data, "sold", recipe="cart")
    assert len(expected) == 1
    with placed(place, data, tmp_path, request) as (table, how):
        how = {"recipe": "cart", **how}
        assert told_of_identifiers(spinney.grow, table, "sold", **how) == expected
        how["numeric"] = ["customer_id"]
        assert told_of_identifiers(spinney.grow, table, "sold", **how) == []


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("population", SAMPLED),
        ("price", SAMPLED),
        ("price index", SAMPLED),
        ("id", [*SAMPLED[:17], *SAMPLED[:3]]),
        ("id", [number + 0.5 for number in SAMPLED]),
        ("id", [datetime.datetime(2026, 1, 1 + at) for at in range(20)]),
    ],
    ids=["population", "price", "index", "repeats", "fractions", "dates"],
)
@pytest.mark.parametrize("place", ["memory", "parts", "duckdb"])
def test_numbers_that_are_no_identifiers(name, cells, place, tmp_path, request):
    data = {name: cells, **COUNTED}
    if place == "memory":
        assert told_of_identifiers(spinney.grow, data, "sold", recipe="cart") == []
        return
    with placed(place, data, tmp_path, request) as (table, how):
        how = {"recipe": "cart", **how}
        assert told_of_identifiers(spinney.grow, table, "sold", **how) == []


def test_the_only_column_stays_though_it_is_an_identifier():
    data = {"id": SAMPLED, "sold": COUNTED["sold"]}
    (told,) = told_of_identifiers(spinney.grow, data, "sold", recipe="cart")
    assert told == (
        "column 'id' looks like an identifier with only unique values (20): exclude it "
        "(ignore=['id'])"
    )


@pytest.mark.parametrize(
    "estimator", [spinney.TreeClassifier, spinney.ForestClassifier]
)
def test_estimators_warn_of_identifiers_with_gaps(estimator):
    X = pd.DataFrame({"customer_id": SAMPLED, "size": COUNTED["size"]})
    assert told_of_identifiers(estimator().fit, X, COUNTED["sold"]) == [
        "column 'customer_id' looks like an identifier with only unique values (20): "
        "remove it from X, or declare it (numeric=['customer_id'])"
    ]
    declared = estimator(numeric=["customer_id"])
    assert told_of_identifiers(declared.fit, X, COUNTED["sold"]) == []


def test_evaluate_leaves_identifiers_with_gaps_out_for_all_recipes():
    data = {"customer_id": SAMPLED, **COUNTED}
    options = {"recipes": ["cart", "c4.5"]}
    told = told_of_identifiers(spinney.evaluate, data, "sold", **options)
    assert told == [_left_out_identifier("customer_id")]


def test_evaluate_tells_of_numbers_of_rows():
    data = {"id": [*range(1, 21)], **COUNTED}
    told = told_of_counts(spinney.evaluate, data, "sold", recipes=["cart", "c4.5"])
    assert told == [_left_out_count("id")]


@pytest.mark.parametrize("recipe", [None, "c4.5", "cart"])
@pytest.mark.parametrize("place", ["parts", "duckdb", "sqlite"])
def test_identifiers_are_left_out_everywhere(place, recipe, tmp_path, request):
    names = {"id": [*range(20)], "name": [f"n{at}" for at in range(20)]}
    told = {}
    with placed(place, names | COUNTED, tmp_path, request) as (table, how):
        for data, options in ((table, how), (names | COUNTED, {})):
            with pytest.warns(SpinneyNote) as notes:
                model = spinney.grow(data, "sold", recipe=recipe, **options)
            assert model.schema.names == ("size",)
            told[len(told)] = {str(each.message) for each in notes}
    assert told[0] == told[1]


def test_the_shell_leaves_identifiers_of_a_database_out(tmp_path, capfd):
    address, path = tmp_path / "shop.db", tmp_path / "m.spinney"
    with closing(sqlite3.connect(address)) as connection:
        pd.DataFrame({"id": range(20), **COUNTED}).to_sql("shop", connection)
    asked = ["grow", f"sqlite:///{address}", "--table", "shop", "--target", "sold"]
    assert run([*asked, "--ignore", "index", "-o", str(path)]) == 0
    assert "'id' numbers the rows and was excluded" in capfd.readouterr().err
    assert run([*asked, "--recipe", "c4.5", "--ignore", "index"]) == 0
    assert "'id' numbers the rows and was excluded" in capfd.readouterr().err


def told_of(data, **declared):
    """Return the doubts of a table, as ``look`` and ``grow`` have them."""
    shown = str(spinney.look(data, "sold", **declared)).partition(
        "possible problems\n"
    )[2]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        spinney.grow(data, "sold", recipe="cart", **declared)
    said = [str(each.message) for each in told if type(each.message) is SpinneyWarning]
    assert [line.strip() for line in shown.splitlines() if line] == said
    return said


@pytest.mark.parametrize("text", ["NA", "-", "null", "--"])
def test_names_that_may_stand_for_missing_cells_are_doubted(text):
    data = {"country": ["DE", text, "FR", "DE"] * 5, **COUNTED}
    (doubt,) = told_of(data)
    assert doubt == (
        f"'{text}' is read as a value in 'country': if it means missing, "
        f"declare it (missing_values=['{text}'])"
    )
    assert told_of(data, nominal=["country"]) == []
    assert told_of(data, missing_values=[text]) == []


@pytest.mark.parametrize("texts", ["+-", ("none", "soft"), ("None", "some"), ".x"])
def test_names_that_are_names_are_not_doubted(texts):
    assert told_of({"kind": [*texts] * 10, **COUNTED}) == []


def test_times_of_day_are_read_and_cut_as_such(tmp_path):
    path, later = tmp_path / "shop.csv", tmp_path / "later.jsonl"
    path.write_text("open,sold\n8:15,no\n9:30,no\n12:05,yes\n23:45,yes\n")
    with pytest.warns(SpinneyNote, match=r"times of day: open \('9:30' is 09:30\)"):
        model = spinney.grow(path, "sold", recipe="cart")
    assert "open ≤ 10:47:30" in str(model)
    later.write_text('{"open": "9:29 am"}\n{"open": "9:29 pm"}\n')
    assert model.predict(str(later)).tolist() == ["no", "yes"]
    times = {"open": [datetime.time(9, 29), datetime.time(21, 29)]}
    assert model.predict(times).tolist() == ["no", "yes"]


def test_an_odd_time_of_day_is_named():
    data = {"open": ["8:15", "9:30", "24:30", "12:05", *["9:15"] * 16], **COUNTED}
    (doubt,) = told_of(data)
    assert "column 'open' reads as text because of '24:30' in row 3" in doubt


def test_zeros_before_numbers_are_told_of_unless_declared(tmp_path):
    path = tmp_path / "shop.csv"
    path.write_text("zip,sold\n01067,no\n10115,no\n80331,yes\n04109,yes\n")
    told = r"'04109' is 4109\): for codes or labels declare nominal=\['zip'\]"
    with pytest.warns(SpinneyNote, match=told):
        model = spinney.grow(path, "sold", recipe="cart")
    assert model.predict(str(path)).tolist() == ["no", "no", "yes", "yes"]  # silently
    for declared in ({"nominal": ["zip"]}, {"numeric": ["zip"]}):
        spinney.grow(path, "sold", recipe="cart", **declared)


def check_remedies(doubt, frame, kind, path, **declared):
    """Turn texts of a frame into what they are, in both ways that a doubt tells of."""
    assert "the table as CSV" in doubt
    frame.to_csv(path, index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpinneyNote)
        read = read_table(path, declarations=Declarations(**declared))["x"]
    assert read.kind == "numeric"
    way = re.search(r"\((pandas\..*?\)(?:\.dt\.time)?)\)", doubt)
    assert (way is None) is (kind == "numbers")
    if way is not None:
        texts = frame["x"].where(~frame["x"].isin(declared.get("missing", ())))
        turned = eval(way[1].replace("…", "texts"), {"pandas": pd, "texts": texts})
        turned = frame.assign(x=turned)
        scale = 86_400 if kind == "dates" else 1  # pandas has no days, but instants
        cells = read_table(turned)["x"].cells
        np.testing.assert_array_equal(cells, read.cells * scale)


@pytest.mark.parametrize(
    ("kind", "cells", "odd"),
    [
        ("times of day", ["8:15", "9:30", "12:05", "7:30 pm"], "24:30"),
        ("times of day", ["8:15 am", "9:30 am", "12:05 am"], "00:30 am"),
        ("dates", ["03.04.2026", "05.06.2026", "07.08.2026"], "31.02.2026"),
        ("dates", ["2026-11-17", "2026-11-18", "2026-11-19"], "soon"),
        ("numbers", ["60,5", "1.017,77 €", "3,5", "4,25"], "dear"),
    ],
)
def test_what_is_said_of_an_odd_cell_among_dates_of_a_frame_helps(
    kind, cells, odd, tmp_path
):
    frame = pd.DataFrame({"x": [odd, *(cells * 7)[:19]], **COUNTED})
    (doubt,) = told_of(frame)
    told = f"column 'x' reads as text because of '{odd}' in row 1: fix that cell and "
    assert told + f"convert the column to {kind}" in doubt
    check_remedies(doubt, frame, kind, tmp_path / "shop.csv", missing=(odd,))


@pytest.mark.parametrize("odd", ["00:30 am", "31.02.2026"])
@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_cell_that_no_clock_or_calendar_has_is_named_in_files(odd, suffix, tmp_path):
    others = ["10:15 am", "9:30 am", "8:05 am", "11:20 am"]
    if ":" not in odd:
        others = ["03.04.2026", "05.06.2026", "07.08.2026", "17.08.2026"]
    frame = pd.DataFrame({"x": [odd, *(others * 5)[:19]], **COUNTED})
    path = tmp_path / f"shop.{suffix}"
    if suffix == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=True)
    (doubt,) = told_of(path)
    told = f"column 'x' reads as text because of '{odd}' in row 1: fix that cell, "
    assert told + "declare it missing" in doubt
    assert told_of(path, missing_values=[odd]) == []


WRITTEN = {
    "dates": ["2026-11-16", "17.11.2026", "Nov 17, 2026", "2026/11/17", "05.04.2026"],
    "times of day": ["8:15", "7:30 pm"],
    "numbers": ["60,5", "1.017,77 €", "15 %"],
}


@pytest.mark.parametrize(
    ("kind", "cell"), [(kind, cell) for kind in WRITTEN for cell in WRITTEN[kind]]
)
def test_dates_that_are_texts_of_a_frame_are_told_of(kind, cell, tmp_path):
    # A digit that may be any makes others of the same form.
    place = max(at for at, sign in enumerate(cell) if sign in "56783")
    cells = [cell[:place] + digit + cell[place + 1 :] for digit in "0123"]
    frame = pd.DataFrame({"x": cells * 5, **COUNTED})
    (doubt,) = told_of(frame)
    assert f"column 'x' holds {kind} as text, such as '" in doubt
    check_remedies(doubt, frame, kind, tmp_path / "shop.csv")
    with pytest.warns(SpinneyWarning, match=f"'x' holds {kind} as text"):
        spinney.TreeClassifier("cart").fit(frame.drop(columns="sold"), frame["sold"])
    assert told_of(frame, nominal=["x"]) == []


@pytest.mark.parametrize("cells", ["1234", ("a1", "b2"), ("1-2", "2-3"), ("8:15",)])
def test_texts_of_a_frame_that_are_names(cells):
    frame = pd.DataFrame({"x": [*cells] * 4})
    frame["y"] = ["a", "b"] * (len(frame) // 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spinney.grow(frame, "y", recipe="cart")


@pytest.mark.parametrize("place", ["memory", "parts", "duckdb", "sqlite"])
def test_an_odd_cell_among_numbers_is_named_with_a_remedy_that_holds(
    place, tmp_path, request
):
    data = {"age": [*map(str, range(19)), "x"], **COUNTED}
    in_order = place in ("memory", "sqlite")  # elsewhere rows have no order
    where = " in row 20" if in_order else ""
    remedy = (
        "declare that missing and the column numeric (missing_values=['x'], "
        "numeric=['age']), or the column nominal (nominal=['age'])"
    )
    told = {}
    with ExitStack() as stack:
        how = {}
        if place != "memory":
            placing = placed(place, data, tmp_path, request)
            data, how = stack.enter_context(placing)
        for recipe in (None, "c4.5"):
            with pytest.warns(SpinneyWarning) as caught:
                model = spinney.grow(data, "sold", recipe=recipe, **how)
            told[recipe] = [str(each.message) for each in caught]
            assert "age" not in model.schema.names
        mended = {"missing_values": ["x"], "numeric": ["age"], "recipe": "c4.5"}
        model = spinney.grow(data, "sold", **mended, **how)
    assert model.schema.attributes[0].kind == "numeric"
    because = f"column 'age' reads as text because of 'x'{where}"
    left_out = [f"{because}, and was excluded: {remedy}"]
    assert told == {None: left_out, "c4.5": left_out}


def test_a_text_among_numbers_of_a_sheet(tmp_path):
    weights = [*range(60, 79), "82 kg"]
    rows = [*zip(weights, *COUNTED.values(), strict=True)]
    path = tmp_path / "people.xlsx"
    write_workbook(path, {"people": [["weight", *COUNTED], *map(list, rows)]})
    (doubt,) = told_of(path)
    assert "column 'weight' reads as text because of '82 kg' in row 20" in doubt
    mended = {"missing_values": ["82 kg"], "numeric": ["weight"]}
    assert told_of(path, **mended) == []
    model = spinney.grow(path, "sold", recipe="cart", **mended)
    assert model.schema.attributes[0].kind == "numeric"


@pytest.mark.parametrize(
    ("line", "label", "told"),
    [
        ('{"size": "1.500"}', "yes", "but '1.500' may be 1.5"),
        ('{"size": "1.500", "other": "0,25"}', "yes", None),
        ('{"size": "1.500", "other": "$0.25"}', "no", "size ('1.500' is 1.5)"),
    ],
)
def test_points_of_later_lines_of_json(model_of_commas, line, label, told, tmp_path):
    path = tmp_path / "later.jsonl"
    path.write_text(line, encoding="utf-8")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert model_of_commas.predict(str(path)).tolist() == [label]
    said = [str(each.message) for each in caught]
    assert len(said) == (told is not None)
    assert told is None or told in said[0]


def test_instants_at_the_ends_of_the_calendar():
    """Arrow refused the year 9999, and zones led beyond it."""
    west = datetime.timezone(datetime.timedelta(hours=-5))
    last = datetime.datetime(9999, 12, 31, 23)
    rows = {"at": [last] * 4 + [datetime.datetime(2000, 1, 1)] * 4, "y": [*"aaaabbbb"]}
    model = spinney.grow(pa.table(rows), "y", recipe="cart")
    assert str(model) == str(spinney.grow(rows, "y", recipe="cart"))
    later = [last.replace(tzinfo=west), last.replace(tzinfo=west).isoformat()]
    for cell in later:
        assert model.predict({"at": [cell]}).tolist() == ["a"]
    instants = spinney.read_table({"at": [last.replace(tzinfo=west), last]})["at"].cells
    assert instants[0] - instants[1] == 5 * 3600
