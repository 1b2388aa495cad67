"""Each command as it is meant to be used."""

import gzip
import json

import pandas as pd
import pytest

import spinney
from spinney.growth import recipe_scores_text
from spinney.output.file.header import FORMAT_VERSION
from spinney.output.file.model_files import load_model
from spinney.output.tree_json import to_json

COMMANDS = ("grow", "show", "rules", "explain", "prune", "predict", "info")


def lines_of(text):
    return text.removesuffix("\n").split("\n")


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_has_examples(works, command, flag):
    text = works(*command, flag)
    assert "Examples:\n" in text
    assert f"    spinney {' '.join(command)}" in text


def test_help_in_a_narrow_window_cuts_no_example(works, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    text = works("grow", "--help")
    example = (
        "spinney grow melons.csv --target ripe --ignore id --recipe id3 "
        '--forced-split "texture = clear -> root"'
    )
    assert example in text


def test_version(works):
    assert spinney.__version__ in works("--version")


# grow


def test_grow_prints_the_tree_and_talks_of_the_file(tool, melons):
    arguments = ("grow", melons, "--target", "ripe", "--ignore", "id")
    outcome = tool(*arguments, "-o", "new.spinney")
    expected = spinney.grow(melons, "ripe", ignore=["id"])
    assert outcome.out == f"{expected}\n"
    saved, tried, importance, quality = outcome.err.splitlines()
    assert importance == f"spinney: {expected.importances().summary()}"
    assert quality == f"spinney: {expected.quality_}"
    assert saved == "spinney: saved to new.spinney"
    assert tried == f"spinney: {recipe_scores_text(expected.recipe_scores_)}"
    assert load_model("new.spinney").fingerprint == expected.model_.fingerprint
    assert tool(*arguments, "-o", "again.spinney", "--quiet").out == ""


def test_grow_json_is_the_model(works, melons):
    text = works("grow", melons, "--target", "ripe", "--ignore", "id", "--json")
    data = json.loads(text)
    assert (data["format"], data["version"]) == ("spinney-tree", FORMAT_VERSION)
    assert text == to_json(spinney.grow(melons, "ripe", ignore=["id"]).model_)


def test_grow_takes_every_option(works, write):
    rows = [
        (1, "small", "red", "?", 2, "yes"),
        (2, "small", "red", "7", 1, "no"),
        (3, "large", "blue", "9", 1, "yes"),
        (4, "medium", "blue", "7", 1, "no"),
    ] * 3
    table = "id,size,colour,zip,weight,sort\n"
    write("t.csv", table + "".join(",".join(map(str, row)) + "\n" for row in rows))
    options = (
        "--target sort --recipe cart --criterion gain --set grouping=multiway "
        "--missing-policy fractional --max-depth 3 --max-leaves 9 "
        "--set min_samples_split=3 --min-samples-leaf 1 --set min_gain=0.001 "
        "--set min_weight_fraction_leaf=0.01 --weight weight --class-weight yes=2 "
        "--class-weight no=1.5 "
        "--tie-break-order colour --tie-break-order zip --nominal zip "
        "--ignore id --missing-values ? --format csv "
        "--ordinal size:small<medium<large --encoding utf-8 --ascii "
        "--forced-split size -o m.spinney --quiet"
    )
    branch = "size < large -> colour"
    works("grow", "t.csv", *options.split(), "--forced-split", branch)
    expected = spinney.grow(
        "t.csv",
        "sort",
        recipe="cart",
        criterion="gain",
        grouping="multiway",
        missing_policy="fractional",
        max_depth=3,
        max_leaves=9,
        min_samples_split=3.0,
        min_samples_leaf=1.0,
        min_weight_fraction_leaf=0.01,
        min_gain=0.001,
        weight="weight",
        class_weight={"yes": 2, "no": 1.5},
        tie_break_order=["colour", "zip"],
        nominal=["zip"],
        ordinal={"size": ["small", "medium", "large"]},
        ignore=["id"],
        missing_values=["?"],
        forced_splits={(): "size", ("size < large",): "colour"},
    )
    assert to_json(load_model("m.spinney")) == to_json(expected.model_)
    assert works("show", "m.spinney") == f"{expected}\n"


def test_questions_are_written_as_in_python(works, write):
    rows = ["5,a;b,l", "6,a;b,o", "7,c -> d,o", "8,c -> d,l", "9,e,l"]
    write("t.csv", "\n".join(["width,sort,y", *rows]))
    text = works(
        *("grow", "t.csv", "--target", "y", "--recipe", "id3", "--set", "max_depth=2"),
        *(
            "--forced-split",
            "width > 6.5",
            "--forced-split",
            "width <= 6.5 -> width > 5.2",
        ),
        *("--forced-split", 'width > 6.5 -> sort in {"c -> d", "a;b"}'),
    )
    assert text.splitlines()[1:] == [
        "├── width ≤ 6.5  (2: l 1 (50 %), o 1 (50 %))",
        "│   ├── width ≤ 5.2 → l  (1: l 1 (100 %))",
        "│   └── width > 5.2 → o  (1: o 1 (100 %))",
        "└── width > 6.5  (3: l 2 (67 %), o 1 (33 %))",
        "    ├── sort ∈ {a;b, c -> d} → o  (2: l 1 (50 %), o 1 (50 %))",
        "    └── sort = e → l  (1: l 1 (100 %))",
    ]


def in_arff(frame):
    """Return a table in Weka's format."""
    lines = ["@relation melons"]
    for name in frame:
        levels = ",".join(sorted({f"'{cell}'" for cell in frame[name]}))
        numeric = name in ("id", "density", "sugar")
        lines.append(f"@attribute {name} {'numeric' if numeric else f'{{{levels}}}'}")
    rows = frame.to_csv(index=False, header=False, quotechar="'", quoting=2)
    return "\n".join([*lines, "@data", rows])


@pytest.mark.parametrize(
    "name", ["t.csv", "t.tsv", "t.parquet", "t.jsonl", "t.csv.gz", "t.arff"]
)
def test_grow_and_predict_on_every_format(works, write, melons, model, name):
    frame = pd.read_csv(melons, dtype={"ripe": str})
    text = frame.to_csv(index=False)
    if name == "t.parquet":
        frame.to_parquet(name)
    elif name == "t.csv.gz":
        write(name, gzip.compress(text.encode()))
    elif name == "t.jsonl":
        write(name, frame.to_json(orient="records", lines=True))
    elif name == "t.arff":
        write(name, in_arff(frame))
    else:
        write(name, text.replace(",", "\t") if name == "t.tsv" else text)
    options = ("--target", "ripe", "--ignore", "id", "--recipe", "c4.5")
    assert works("grow", name, *options) == works("grow", melons, *options)
    assert works("predict", model, name) == works("predict", model, melons)


def test_grow_in_duckdb_gives_the_same_tree(works, melons):
    arguments = ("grow", melons, "--target", "ripe", "--ignore", "id")
    in_duckdb = works(*arguments, "--engine", "duckdb")
    assert in_duckdb == works(*arguments, "--recipe", "c4.5")


def test_another_encoding(works, write):
    write("t.csv", "größe,y\n1,ä\n2,ö\n1,ä\n2,ö\n".encode("latin-1"))
    given = ("--target", "y", "--recipe", "c4.5", "--encoding", "latin-1")
    given = (*given, "-o", "m.spinney")
    assert "größe ≤ 1 → ä" in works("grow", "t.csv", *given)
    predicted = works("predict", "m.spinney", "t.csv", "--encoding", "latin-1")
    assert lines_of(predicted) == ["y", "ä", "ö", "ä", "ö"]
    row = ("--row", "t.csv", "--row-number", "2", "--encoding", "latin-1")
    assert "y = ö" in works("explain", "m.spinney", *row)


# show, rules, info


def test_show(works, model):
    assert works("show", model) == f"{spinney.load(model)}\n"


def test_show_says_what_it_hides(works, model):
    shallow = works("show", model, "--max-depth", "0")
    assert len(lines_of(shallow)) == 1
    assert "more nodes" in shallow


def test_show_in_ascii(works, model):
    assert works("show", model, "--ascii").isascii()
    assert not works("show", model).isascii()


def test_show_json_is_the_model(works, model):
    assert works("show", model, "--json") == to_json(spinney.load(model).model_)


def test_rules(works, model):
    loaded = spinney.load(model)
    assert works("rules", model) == f"{loaded.rules()}\n"
    assert works("rules", model, "--ascii").isascii()
    data = json.loads(works("rules", model, "--json"))
    assert data["schema"] == "spinney/rules/1"
    assert data["rules"] == json.loads(json.dumps(loaded.rules().as_dicts()))


def test_info(works, model):
    tree = spinney.load(model).tree
    data = json.loads(works("info", model, "--json"))
    assert data["schema"] == "spinney/info/1"
    assert data["target"] == "ripe"
    assert data["classes"] == list(tree.schema.target.classes)
    assert data["recipe"]["name"] == "cart"
    assert data["size"]["nodes"] == len(tree)
    assert data["grown_on"]["rows"] == 17
    assert data["attributes"]["density"] == "numeric"
    text = works("info", model)
    for name in data["attributes"]:
        assert f"\n  {name} " in text


def test_info_of_the_installation(works):
    data = json.loads(works("info", "--json"))
    assert data["schema"] == "spinney/info/1"
    assert data["spinney"] == spinney.__version__
    assert f"numpy         {data['libraries']['numpy']}\n" in works("info")


# explain


def test_explain_a_node(works, model):
    loaded = spinney.load(model)
    assert works("explain", model) == f"{loaded.explain(0)}\n"
    assert works("explain", model, "--node", "2") == f"{loaded.explain(2)}\n"
    assert works("explain", model, "--ascii").isascii()
    data = json.loads(works("explain", model, "--node", "2", "--json"))
    assert (data["schema"], data["node"]) == ("spinney/explain-node/1", 2)


def test_explain_an_attribute_on_rows(works, model, melons):
    loaded = spinney.load(model)
    given = ("explain", model, "--attribute", "density", "--data", melons)
    told = loaded.explain(0, attribute="density", data=melons)
    assert works(*given) == f"{told}\n"
    assert works(*given, "--ascii").isascii()
    short = loaded.explain(2, attribute="density", data=melons, limit=2)
    assert works(*given, "--limit", 2, "--node", 2) == f"{short}\n"
    data = json.loads(works(*given, "--json"))
    assert (data["schema"], data["n_ways"]) == ("spinney/explain-attribute/1", 16)
    rows = json.loads(works("explain", model, "--data", melons, "--json"))["given"]
    assert rows["rows"][0]["numbers"] == list(range(1, 18))
    texture = loaded.explain(0, attribute="texture")
    assert works("explain", model, "--attribute", "texture") == f"{texture}\n"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--attribute", "density"), "training table (--data DATA)"),
        (("--attribute", "densty"), "--attribute: there is no attribute 'densty'"),
        (("--limit", "3"), "--limit 3 needs --attribute"),
        (("--weight", "w"), "--weight w needs --data"),
        (("--decimal", ","), "--decimal , needs --data"),
        (("--skip", "1", "--node", "0"), "--skip 1 needs --data"),
        (("--row", "x.csv", "--weight", "w"), "--weight w needs --data"),
        (("--attribute", "density", "--row", "x.csv"), "cannot be used with"),
    ],
)
def test_explain_says_what_is_missing(refused, model, given, words):
    assert words in refused(2, "explain", model, *given)


def test_explain_a_row(works, model, melons):
    loaded = spinney.load(model)
    row = loaded.read(melons).take(slice(2, 3))
    given = ("explain", model, "--row", melons, "--row-number", "3")
    assert works(*given) == f"{loaded.explain(row=row)}\n"
    data = json.loads(works(*given, "--json"))
    assert data["schema"] == "spinney/explain-row/1"
    assert data["label"] == loaded.predict(melons)[2]
    assert works(*given[:-2]) == works(*given[:-1], "1")


# predict


def test_predictions_are_those_of_the_library(works, model, melons):
    loaded = spinney.load(model)
    header, *labels = lines_of(works("predict", model, melons))
    assert header == "ripe"
    assert labels == loaded.predict(melons).tolist()


def test_probabilities_and_leaves_are_those_of_the_library(works, model, melons):
    loaded = spinney.load(model)
    flags = ("--probabilities", "--leaf")
    header, *rows = lines_of(works("predict", model, melons, *flags))
    assert header == "ripe,p(false),p(true),leaf"
    cells = [row.split(",") for row in rows]
    shares = [[float(cell) for cell in row[1:3]] for row in cells]
    assert shares == loaded.predict_proba(melons).tolist()
    assert [int(row[3]) for row in cells] == loaded.apply(melons).tolist()


def test_predictions_as_json(works, model, melons):
    loaded = spinney.load(model)
    flags = ("--probabilities", "--leaf", "--json")
    data = json.loads(works("predict", model, melons, *flags))
    assert data["schema"] == "spinney/predict/1"
    assert (data["target"], data["classes"]) == ("ripe", ["false", "true"])
    assert [row["label"] for row in data["rows"]] == loaded.predict(melons).tolist()
    shares = [row["probabilities"] for row in data["rows"]]
    assert shares == loaded.predict_proba(melons).tolist()
    leaves = [row["leaf"] for row in data["rows"]]
    assert leaves == loaded.apply(melons).tolist()
    plain = json.loads(works("predict", model, melons, "--json"))
    assert set(plain["rows"][0]) == {"label"}


def test_predictions_go_to_a_file(works, tool, model, melons, folder):
    expected = works("predict", model, melons)
    said = tool("predict", model, melons, "-o", "out.csv")
    assert said.out == ""
    assert "spinney: 17 rows written to out.csv\n" in said.err
    assert (folder / "out.csv").read_text() == expected
    assert works("predict", model, melons, "-o", "-") == expected
    works("predict", model, melons, "-o", "out.json", "--json")
    assert json.loads((folder / "out.json").read_text())["target"] == "ripe"
    works("predict", model, melons, "-o", "out.json", "--overwrite")
    assert json.loads((folder / "out.json").read_text())["target"] == "ripe"
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["out.csv", "out.json"]
