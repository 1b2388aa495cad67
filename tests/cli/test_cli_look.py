"""``spinney look``: how a table is read, in text and as data."""

import json

from tests.cli.conftest import TABLES

GERMAN = (
    "Verkauf\n\n;Preis;Tag;Sorte\n1;1.017,77 €;17.11.2026;rot\n2;3,5 €;1.12.2026;grün\n"
)


def test_columns_notes_and_warnings(works, write):
    write("t.csv", GERMAN)
    lines = works("look", "t.csv").splitlines()
    assert lines[0] == "2 rows, 3 columns"
    assert lines[2].split() == ["column", "kind", "missing", "values", "rows"]
    assert lines[3].split() == [
        "Preis",
        "numeric",
        "2",
        "█",
        "█",
        "3.5",
        "…",
        "1017.77",
    ]
    assert lines[4].split()[:2] == ["Tag", "date"]
    assert lines[4].endswith("2026-11-17 … 2026-12-01")
    assert lines[5].endswith("grün 1 (50 %), rot 1 (50 %)")
    assert lines[lines.index("how it was read") + 1 :] == [
        "  2 lines above the header were skipped (--skip 2)",
        "  column 1, without a name, numbers or names the rows and was excluded",
        "  read as numbers: Preis ('3,5 €' is 3.5)",
        "  read as dates: Tag ('17.11.2026' is 2026-11-17)",
    ]


def test_what_is_said_is_not_noted(works, write):
    write("t.csv", GERMAN)
    said = ("--decimal", ",", "--dates", "dayfirst", "--skip", "2")
    text = works("look", "t.csv", *said)
    assert "read as" not in text
    assert "skipped" not in text


def test_as_data_and_in_ascii(works, melons):
    data = json.loads(works("look", melons, "--json"))
    assert data["schema"] == "spinney/look/1"
    assert data["n_rows"] == 17
    assert data["columns"][0]["name"] == "id"
    assert data["warnings"] == [
        "column 'id' numbers the rows: exclude it (ignore=['id'])"
    ]
    assert works("look", melons, "--ascii").isascii()


def test_warnings_name_options(works, write):
    write("t.csv", "town,x\n?,1\nRome,2\nUr,2\n")
    assert works("look", "t.csv").splitlines()[-1].strip() == (
        "'?' is read as a value in 'town': if it means missing, declare it "
        "(--missing-values '?')"
    )


def test_a_value_that_is_none(refused, melons):
    line = refused(2, "look", melons, "--decimal", ";")
    assert "--decimal ';' is unknown: known: '.', ','" in line


def test_grow_points_to_it(tool, write):
    write("t.csv", GERMAN + "3;4,5 €;2.12.2026;rot\n4;5,5 €;3.12.2026;rot\n")
    outcome = tool("grow", "t.csv", "--target", "Sorte", "--recipe", "cart")
    assert outcome.code == 0
    assert outcome.err.startswith("spinney: note: 't.csv': 2 lines above the header")
    assert outcome.err.splitlines()[0].endswith("; spinney look shows more")


def test_what_a_recipe_drops_is_no_matter_of_reading(tool, write):
    write("t.csv", "a,y\nu,no\nv,yes\n,yes\nu,no\n")
    given = ("--target", "y", "--recipe", "id3", "--missing-policy", "drop")
    outcome = tool("grow", "t.csv", *given)
    notes = [line for line in outcome.err.splitlines() if "1 of 4 rows" in line]
    assert len(notes) == 1
    assert "spinney look" not in notes[0]


def test_target_leakage(works, tool, write):
    rows = [f"{place % 2 or ''},{place % 3},{place % 2}" for place in range(200)]
    write("t.csv", "\n".join(["boat,size,alive", *rows]))
    alone = (
        "column 'boat' alone predicts 'alive' in 100 % of rows: possible target "
        "leakage; exclude it if it is not known beforehand (--ignore boat)"
    )
    assert alone not in works("look", "t.csv")
    assert alone in works("look", "t.csv", "--target", "alive")
    assert (
        f"spinney: warning: {alone}" in tool("grow", "t.csv", "--target", "alive").err
    )
    given = ("--target", "alive", "--ignore", "boat")
    assert "alone predicts" not in tool("grow", "t.csv", *given).err
    refusal = tool("look", "t.csv", "--target", "alive", "--association")
    assert refusal.code == 2


def test_how_whole_numbers_of_a_target_are_read(works, tool, write):
    write("t.csv", "x,stars\n1,1\n2,2\n3,3\n1,1\n2,2\n")
    reads = "target 'stars' has 3 different integers, read as classes"
    assert reads in works("look", "t.csv", "--target", "stars")
    outcome = tool("grow", "t.csv", "--target", "stars", "--recipe", "cart")
    assert f"spinney: note: {reads}; " in outcome.err
    assert "(--numeric stars)" in outcome.err
    assert "look shows more" not in outcome.err
    given = ("--target", "stars", "--numeric", "stars", "--recipe", "cart")
    assert "stars" not in tool("grow", "t.csv", *given).err


def test_an_ambiguous_comma_is_reported(works, write):
    write("t.csv", 'price,y\n"1,234",a\n"2,345",b\n')
    note = "but '2,345' may be 2.345: then set --decimal ','"
    assert note in works("look", "t.csv")
    assert "may be" not in works("look", "t.csv", "--decimal", ".")
    write("t.csv", 'price,rate,y\n"1,234",1.5 $,a\n"2,345",2.75 $,b\n')
    assert "may be" not in works("look", "t.csv")


def test_how_columns_go_together(works, tool):
    table = TABLES / "penguins.csv"
    out = works("look", table, "--association")
    assert out.splitlines()[1].startswith("1 species")
    assert "  flipper_length_mm, body_mass_g     0.8712  Pearson's r\n" in out
    data = json.loads(works("look", table, "--association", "--json"))
    assert data["schema"] == "spinney/association/1"
    assert data["columns"][0] == {"name": "species", "kind": "nominal"}
    iris = (TABLES / "iris.csv", "--association", "--weight", "petalwidth")
    assert "petalwidth" not in works("look", *iris)
    outcome = tool("look", table, "--weight", "body_mass_g")
    assert outcome.code == 2
    assert "needs --association" in outcome.err
