"""Surveys: ordered answers, codes, several answers in a cell, copies of rows."""

import pytest

import spinney
from spinney import look
from spinney.data import Declarations
from spinney.data.readers import read_table
from spinney.data.survey_answers import ordered_levels, survey_note, survey_warnings
from spinney.errors import DataError, ParameterError, SpinneyNote, in_words

AGREE = ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"]


@pytest.mark.parametrize(
    "levels",
    [
        AGREE,
        ["Stimme gar nicht zu", "stimme eher nicht zu", "Stimme eher zu"],
        ["Very dissatisfied", "Satisfied", "Very satisfied"],
        ["unzufrieden", "teils/teils", "sehr zufrieden"],
        ["Never", "Rarely", "Sometimes", "Often", "Always"],
        ["nie", "selten", "manchmal", "oft"],
        ["Very unlikely", "Likely", "Very likely"],
        ["Under 18", "18-24", "25–34", "35 to 44", "65+"],
        ["unter 20", "20 bis 29", "über 60"],
        ["Less than $25,000", "$25,000 - $49,999", "$100,000 and above"],
        ["0-5 years", "6-10 years", "11+"],
    ],
)
def test_ordered_answers(levels):
    assert ordered_levels(sorted(levels, reverse=True)) == tuple(levels)
    assert ordered_levels([*sorted(levels), "Don't know"]) == tuple(levels)


@pytest.mark.parametrize(
    "levels",
    [
        ["Agree", "Disagree"],
        ["red", "green", "blue"],
        ["Neutral", "Undecided", "Agree"],
        ["18-24", "20-30", "30-40"],
        ["2-1", "1-2", "0-0"],
        ["65+", "70+", "80+"],
        ["<18", "18-24", "25-34"],
        ["2024-01", "2024-02", "2024-03"],
        [1, 2, 3],
    ],
)
def test_what_has_no_order(levels):
    assert ordered_levels(levels) is None


def survey(n_rows=60):
    return {
        **{f"Q7_{i}": [AGREE[(r + i) % 5] for r in range(n_rows)] for i in (1, 2, 3)},
        "age": [("18-24", "25-34", "65+", "Don't know")[r % 4] for r in range(n_rows)],
        "other": [r % 7 for r in range(n_rows)],
    }


def words_of(cells, **declared):
    declarations = Declarations(**declared)
    warnings = survey_warnings(
        read_table(cells, declarations=declarations), declarations
    )
    return [in_words((*each.args, ": ", each.remedy), str) for each in warnings]


def test_the_exact_option_is_offered_and_works():
    scale, age = words_of(survey())
    order = "Q7_*: " + " < ".join(AGREE)
    assert scale == (
        "'Q7_1', 'Q7_2', 'Q7_3' hold ordered answers, and are read as nominal: "
        f"declare the order (ordinal={[order]!r})"
    )
    assert (
        "ordinal=['age: 18-24 < 25-34 < 65+'], missing_values=[\"Don't know\"]" in age
    )
    summary = look(survey(), ordinal=[order])
    assert [column.kind for column in summary.columns[:4]] == [
        *["ordinal"] * 3,
        "nominal",
    ]
    assert "Q7_1" not in str(summary).partition("possible problems")[2]


def test_a_pattern_names_no_other_column():
    cells = survey()
    cells["Q7_text"] = [f"word {i % 9}" for i in range(60)]
    assert "ordinal=['Q7_1,Q7_2,Q7_3: " in words_of(cells)[0]


def test_growing_tells_of_them_once():
    cells = {**survey(), "y": ["a", "b"] * 30}
    with pytest.warns(SpinneyNote, match="'Q7_2', 'Q7_3' and 1 more hold ordered answ"):
        spinney.grow(cells, "y", recipe="cart")
    assert survey_note(read_table({"x": ["a", "b"]}), Declarations()) == ""


def test_codes_of_missing_cells():
    incomes = [*range(20, 60), *[-99] * 3]
    assert words_of({"income": incomes}) == [
        "column 'income' holds -99 in 3 rows, far from its other numbers: if it is a "
        "code for a missing cell, declare it (missing_values=['-99'])"
    ]
    assert words_of({"income": incomes}, missing=("-99",)) == []
    assert "holds 999 in 2 rows" in words_of({"age": [*range(20, 60), 999, 999]})[0]
    assert words_of({"x": [*range(-120, 0), -99]}) == []
    assert words_of({"x": [*range(60, 120), 99]}) == []


def test_several_answers_and_spellings():
    answers = ["Email", "Phone", "Email;Phone", "Phone;Post", "Post"] * 3
    (said,) = words_of({"contact": answers})
    assert "holds several answers in a cell, as in 'Email;Phone'" in said
    (said,) = words_of({"sex": ["Female", "female", "M"] * 3})
    assert "'Female' and 'female', spellings of one value" in said


def test_copies_and_totals():
    cells = {"x": [*range(80), 3, 4], "y": ["a", "b"] * 41}
    cells["y"][80], cells["y"][81] = cells["y"][3], cells["y"][4]
    assert words_of(cells)[-1].startswith("2 rows equal an earlier row in every column")
    assert words_of({"x": [1, 2] * 40}) == []
    total = {"town": [*("Ur", "Rome") * 3, "Total"], "sold": [1, 2, 3, 1, 2, 3, 12]}
    assert "a total ('Total' in 'town'): remove it" in words_of(total)[-1]


def test_lines_of_descriptions(tmp_path):
    ids = ['{"ImportId":"QID1"}', '{"ImportId":"QID2"}']
    quoted = ",".join('"' + each.replace('"', '""') + '"' for each in ids)
    path = tmp_path / "survey.csv"
    path.write_text(f'x,y\n"How\nold?",Why?\n{quoted}\n1,a\n2,b\n3,a\n')
    with pytest.warns(SpinneyNote, match="2 lines of descriptions below the header"):
        table = read_table(path)
    assert table["x"].cells.tolist() == [1, 2, 3]


def test_patterns_and_lists_of_columns():
    cells = {name: ["1", "2"] for name in ("a1", "a2", "b,c", "d")}
    table = read_table(cells, declarations=Declarations(numeric=("a*",), ignore=("d",)))
    assert [column.kind for column in table.columns] == [
        "numeric",
        "numeric",
        "nominal",
    ]
    declared = Declarations(ignore=("a1, d",), nominal=("b,c",))
    assert read_table(cells, declarations=declared).names == ("a2", "b,c")
    declared = Declarations(numeric=("a?",), nominal=("a2",))
    kinds = [c.kind for c in read_table(cells, declarations=declared).columns]
    assert kinds[:2] == ["numeric", "nominal"]


def test_patterns_that_are_wrong():
    cells = {"a1": ["1", "2"], "a2": ["1", "2"]}
    for declared, message in (
        ({"ignore": ("q*",)}, "pattern 'q.' is declared but not in the table"),
        ({"ignore": ("a1,a3",)}, "column 'a3' is declared but not in the table"),
        (
            {"numeric": ("a*",), "nominal": ("*1",)},
            "matches patterns of nominal and num",
        ),
    ):
        with pytest.raises((DataError, ParameterError), match=message):
            read_table(cells, declarations=Declarations(**declared))
