"""--values: what a column may hold, whether a row does or not."""

import json

import pytest

DAYS = """sky,wind,play
sunny,weak,yes
sunny,strong,yes
rainy,weak,yes
rainy,strong,no
rainy,strong,no
"""
SKY = ("--values", "sky:sunny,rainy,cloudy")


@pytest.fixture
def days(write):
    return str(write("days.csv", DAYS))


def test_grow_show_rules_and_predict(works, days, write):
    asked = ("grow", days, "--target", "play", "--recipe", "c4.5", *SKY)
    line = "sky = cloudy → yes  (no rows: as its parent)"
    assert line in works(*asked, "-o", "days.spinney")
    assert line in works("show", "days.spinney")
    assert "IF sky = cloudy THEN play = yes  (support 0;" in works(
        "rules", "days.spinney"
    )
    rules = json.loads(works("rules", "days.spinney", "--json"))["rules"]
    assert rules[0]["if"][0]["values"] == ["cloudy"]
    later = str(write("later.csv", "sky,wind\ncloudy,weak\n"))
    assert "yes" in works("predict", "days.spinney", later)


@pytest.mark.parametrize("source", ["memory", "duckdb"])
def test_rows_in_duckdb_too(works, days, source):
    asked = ("grow", days, "--target", "play", "--recipe", "id3", "--engine", source)
    assert "sky = cloudy → yes  (no rows" in works(*asked, *SKY)


def test_forest_evaluate_and_look(works, days):
    works(
        "forest",
        days,
        "--target",
        "play",
        "--n-estimators",
        "3",
        *SKY,
        "-o",
        "f.spinney",
    )
    works("evaluate", days, "--target", "play", "--recipe", "id3", "--folds", "2", *SKY)
    assert "without rows: cloudy" in works("look", days, *SKY)


@pytest.mark.parametrize(
    ("code", "value", "message"),
    [
        (2, "sky", "--values 'sky' has no 'name:' in front"),
        (2, "sky:", "--values 'sky:' names no values"),
        (2, "sky:a,,b", "has an empty value"),
        (2, "sky:a,a", "names a value twice"),
        (3, "sky:sunny,cloudy", "'rainy', which is none of its values cloudy, sunny"),
        (3, "moon:full,new", "column 'moon' is declared but not in the table"),
        (3, "play:yes,no", "--values: 'play' is the target"),
    ],
)
@pytest.mark.parametrize("source", ["memory", "duckdb"])
def test_refusals(refused, days, code, value, message, source):
    asked = ("grow", days, "--target", "play", "--engine", source)
    assert message in refused(code, *asked, "--values", value)
