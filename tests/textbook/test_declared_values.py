"""Values that are declared and that no row has, as the documents treat them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.helpers.strategies import TABLES

import spinney
from spinney.trees import Reason

SKY = {
    "sky": ["sunny", "sunny", "rainy", "rainy", "rainy"],
    "wind": ["weak", "strong", "weak", "strong", "strong"],
    "play": ["yes", "yes", "yes", "no", "no"],
}
VALUES = {"sky": ["sunny", "rainy", "cloudy"]}
RECIPES = ("id3", "c4.5")


def cloudy() -> dict[str, list[str | None]]:
    return {"sky": ["cloudy", "sunny", None], "wind": ["strong"] * 3}


# 000, algorithm 4.1, lines 9 to 12, and 001, procedure ID3, lines 17 to 20.


@pytest.mark.parametrize("recipe", RECIPES)
def test_000_and_001_a_value_without_rows_is_a_leaf_with_the_majority(recipe):
    model = spinney.grow(SKY, "play", recipe=recipe, values=VALUES)
    root, leaf = model.tree.root, model.tree.nodes[1]
    assert model.tree.schema.attributes[0].values == ("cloudy", "rainy", "sunny")
    assert model.tree.condition(leaf) == "sky = cloudy"
    assert (leaf.n_rows, leaf.weight, leaf.reason) == (0, 0.0, Reason.EMPTY)
    # Three yes, two no: case (3) takes the class probability of the parent.
    assert leaf.distribution.tolist() == root.distribution.tolist() == [0.4, 0.6]
    assert model.predict_proba(cloudy())[0].tolist() == [0.4, 0.6]
    assert model.predict(cloudy())[0] == "yes"


def test_000_the_watermelons_have_such_a_leaf_without_a_declaration():
    # Section 4.2: light, among those clear and slightly curly, has no row.
    model = spinney.grow(
        TABLES / "watermelon_2.0.csv", "ripe", recipe="id3", ignore=["id"]
    )
    empty = [model.tree.condition(n) for n in model.tree if not n.n_rows]
    assert "color = light" in empty


# 002, splitting of the feature space: sunny, cloudy and rainy are all of Sky.


def test_002_rules_cover_the_whole_domain_of_sky():
    model = spinney.grow(SKY, "play", recipe="id3", values=VALUES)
    values = [
        condition["values"]
        for rule in model.rules().as_dicts()
        for condition in rule["if"]
        if condition["attribute"] == "sky"
    ]
    assert {value for group in values for value in group} == {*VALUES["sky"]}
    assert "IF sky = cloudy THEN play = yes  (support 0; 60.0 % at the nearest" in str(
        model.rules()
    )


def test_002_enjoy_sport_with_cloudy_skies():
    table = TABLES / "enjoy_sport.csv"
    columns = spinney.read_table(str(table)).names
    target, sky = columns[-1], next(name for name in columns if "sky" in name.lower())
    seen = spinney.read_table(str(table))[sky].levels
    declared = [*seen, "cloudy"]
    for recipe in RECIPES:
        model = spinney.grow(table, target, recipe=recipe, values={sky: declared})
        plain = spinney.grow(table, target, recipe=recipe)
        place = model.tree.schema.position(sky)
        assert "cloudy" in model.tree.schema.attributes[place].values
        assert len(model.tree) - len(plain.tree) == sum(
            node.split is not None
            and model.tree.schema.names[node.split.attribute] == sky
            for node in model.tree
        )


# What follows from it


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("way", ["mapping", "text", "category", "arff", "enumeration"])
def test_each_way_to_declare_gives_one_tree(recipe, way, tmp_path: Path):
    expected = spinney.grow(SKY, "play", recipe=recipe, values=VALUES)
    given = {"recipe": recipe}
    if way == "mapping":
        model = spinney.grow(pd.DataFrame(SKY), "play", **given, values=VALUES)
    elif way == "text":
        texts = ["sky:sunny,rainy,cloudy"]
        model = spinney.grow(pd.DataFrame(SKY), "play", **given, values=texts)
    elif way == "category":
        kind = pd.CategoricalDtype(VALUES["sky"])
        frame = pd.DataFrame(SKY).astype({"sky": kind})
        model = spinney.grow(frame, "play", **given)
    elif way == "arff":
        rows = "\n".join(map(",".join, zip(*SKY.values(), strict=True)))
        path = tmp_path / "sky.arff"
        path.write_text(
            "@relation sky\n@attribute sky {sunny, rainy, cloudy}\n"
            "@attribute wind {weak, strong}\n@attribute play {yes, no, maybe}\n"
            f"@data\n{rows}\n"
        )
        model = spinney.grow(path, "play", **given)
    else:
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect() as connection:
            frame = pd.DataFrame(SKY)
            connection.register("frame", frame)
            relation = connection.sql(
                "SELECT sky::ENUM('sunny', 'rainy', 'cloudy') AS sky, wind, play "
                "FROM frame"
            )
            model = spinney.grow(relation, "play", **given, connection=connection)
    assert str(model) == str(expected)
    assert model.tree.schema == expected.tree.schema


def test_the_leaf_stays_in_files_and_json(tmp_path: Path):
    model = spinney.grow(SKY, "play", recipe="c4.5", values=VALUES)
    path = tmp_path / "sky.spinney"
    model.save(path)
    again = spinney.load(path)
    assert str(again) == str(model)
    assert again.apply(cloudy()).tolist() == model.apply(cloudy()).tolist()
    (leaf, *_) = json.loads(model.export("json"))["nodes"][1:]
    assert (leaf["rows"], leaf["condition"]) == (0, "sky = cloudy")


def test_one_row_and_a_category_later_go_to_the_leaf():
    model = spinney.grow(SKY, "play", recipe="id3", values=VALUES)
    kind = pd.CategoricalDtype(["cloudy", "sunny", "snowy"])
    frame = pd.DataFrame({"sky": ["cloudy"], "wind": ["weak"]}).astype({"sky": kind})
    assert model.apply(frame).tolist() == [1]
    assert model.apply({"sky": ["cloudy"], "wind": ["weak"]}).tolist() == [1]


@pytest.mark.parametrize("missing", ["branch", "fractional"])
def test_with_two_branches_a_value_that_no_row_has_is_missing(missing):
    model = spinney.grow(
        SKY,
        "play",
        recipe="cart",
        missing_policy=missing,
        values={"sky": [*"ab", *VALUES["sky"]]},
    )
    plain = spinney.grow(SKY, "play", recipe="cart", missing_policy=missing)
    assert len(model.tree) == len(plain.tree)
    rows = {"sky": ["a", "cloudy", None], "wind": ["weak"] * 3}
    assert len(np.unique(model.predict_proba(rows), axis=0)) == 1


def test_very_many_categories_make_no_tree_of_leaves():
    n_rows = 200
    random = np.random.default_rng(0)
    places = [f"p{number:04}" for number in range(1000)]
    frame = pd.DataFrame(
        {
            "place": pd.Categorical(random.choice(places[:5], n_rows), places),
            "size": random.random(n_rows),
        }
    )
    early = frame["place"].astype(str) < "p0002"
    early ^= frame["size"] > 0.9  # so that the place alone does not tell
    frame["sold"] = np.where(early, "yes", "no")
    with pytest.warns(
        spinney.SpinneyNote, match="995 values of its type occur in no row"
    ):
        model = spinney.grow(frame, "sold")
    assert model.tree.n_leaves <= 5
    assert len(model.tree.schema.attributes[0].values) == 5


def test_values_without_rows_share_a_line_for_people_and_none_for_programs():
    values = {"sky": ["sunny", "rainy", "cloudy", "foggy"]}
    model = spinney.grow(SKY, "play", recipe="id3", values=values)
    line = "sky ∈ {cloudy, foggy} → yes  (no rows: as its parent)"
    assert str(model).splitlines()[1] == f"├── {line}"
    assert str(model.rules()).splitlines()[0].startswith("IF sky ∈ {cloudy, foggy} ")
    assert len(model.rules()) == model.tree.n_leaves == 5
    assert [rule.text()[:15] for rule in model.rules()][:2] == [
        "IF sky = cloudy",
        "IF sky = foggy ",
    ]
    svg = model.plot().svg
    assert "cloudy, foggy" in svg
    assert "5 rows, 5 leaves, 2 of them without rows" in svg
    assert svg.count(">no rows: as its parent<") == 1
    dot = model.export("dot")
    assert dot.count("no rows: as its parent") == 1
    assert "sky ∈ {cloudy, foggy}" in dot


def test_forests_keep_declared_values(tmp_path: Path):
    table = {name: cells * 4 for name, cells in SKY.items()}
    forest = spinney.grow_forest(
        table, "play", n_estimators=5, recipe="id3", values=VALUES
    )
    assert forest.forest_.schema.attributes[0].values[0] == "cloudy"
    path = tmp_path / "forest.spinney"
    forest.save(path)
    again = spinney.load(path)
    expected = forest.predict_proba(cloudy())
    assert again.predict_proba(cloudy()).tolist() == expected.tolist()


def test_estimators_take_values_by_name_and_position():
    X = pd.DataFrame({name: SKY[name] for name in ("sky", "wind")})
    by_name = spinney.TreeClassifier("id3", values=VALUES).fit(X, SKY["play"])
    assert by_name.tree.n_leaves == 4
    by_place = spinney.TreeClassifier("id3", values={0: VALUES["sky"]})
    by_place.fit(X.to_numpy(dtype=object), SKY["play"])
    assert by_place.tree.n_leaves == 4
    forest = spinney.ForestClassifier(3, "id3", values=VALUES).fit(X, SKY["play"])
    assert forest.predict(X.assign(sky="cloudy")).shape == (5,)


def test_what_is_declared_may_not_contradict():
    with pytest.raises(spinney.SpinneyError, match="none of its values cloudy, sunny"):
        spinney.grow(SKY, "play", values={"sky": ["sunny", "cloudy"]})
    with pytest.raises(spinney.SpinneyError, match="'sky' is declared 2 times"):
        spinney.grow(SKY, "play", values=VALUES, ignore=["sky"])
    with pytest.raises(spinney.SpinneyError, match="'play' is the target"):
        spinney.grow(SKY, "play", values={"play": ["yes", "no", "maybe"]})
    with pytest.raises(spinney.SpinneyError, match="no 'name:' in front"):
        spinney.grow(SKY, "play", values=["sky"])
    with pytest.raises(spinney.SpinneyError, match="all different and none empty"):
        spinney.grow(SKY, "play", values={"sky": ["sunny", "sunny", "rainy"]})
    assert spinney.grow(SKY, "play", values=VALUES, nominal=["sky"])


def test_a_look_shows_values_without_rows():
    summary = spinney.look(SKY, values=VALUES)
    assert "without rows: cloudy" in str(summary)
    assert summary.as_dict()["columns"][0]["without_rows"] == ["cloudy"]
    sizes = spinney.look({"size": ["s", "l"]}, ordinal={"size": ["s", "m", "l"]})
    assert "without rows: m" in str(sizes)


def test_ordinal_values_without_rows_go_by_their_order():
    table = {"size": ["s", "s", "xl", "xl"], "sold": ["no", "no", "yes", "yes"]}
    ordinal = {"size": ["s", "m", "l", "xl"]}
    model = spinney.grow(table, "sold", recipe="c4.5", ordinal=ordinal)
    assert model.predict({"size": ["s", "m", "l", "xl"]}).tolist()[::3] == ["no", "yes"]
    (first, second) = model.rules()
    assert first.text().startswith("IF size < ")
    assert second.text().startswith("IF size ≥ ")
