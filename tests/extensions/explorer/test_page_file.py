"""The page as text: what is in it, what cannot be in it, and how it is put together."""

import json
import re
from base64 import b64decode, b64encode
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from tests.extensions.pictures.test_tree_svg import check_harmless
from tests.helpers.hostile_names import NAMES
from tests.helpers.models import chain_model, wide_model

import spinney
from spinney.data import Attribute, Clause, Conjunction, Linear, Ratio
from spinney.errors import ParameterError
from spinney.extensions.clustering.models import FittedClusters
from spinney.extensions.explorer import explorer_data, explorer_page, page_data
from spinney.extensions.explorer.page_data import MAX_EXPLAINED
from spinney.extensions.explorer.page_file import (
    LARGEST_FRAME,
    embedded_json,
    script,
    style,
)
from spinney.extensions.explorer.schema_data import attribute_data
from spinney.growth.forest import trees_by_similarity
from spinney.models import FittedTree

TABLES = Path(__file__).parents[2] / "tables"
SOURCES = sorted(
    (files("spinney.extensions.explorer") / "page").iterdir(),
    key=lambda path: path.name,
)
SCRIPTS = [path for path in SOURCES if path.name.endswith(".js")]
LARGEST_SHELL = 400_000

# Functions that make markup or code of a text; handlers as attributes are the last.
FORBIDDEN = (
    *("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("),
    *("new Function", "createContextualFragment", "DOMParser", "srcdoc", "setHTML"),
    *('setTimeout("', 'setInterval("', "import(", "fetch(", "XMLHttpRequest"),
    *("WebSocket", "sendBeacon", "localStorage", "sessionStorage", "document.cookie"),
)


@pytest.fixture(scope="module")
def melons():
    return spinney.grow(
        TABLES / "watermelon_3.0.csv", "ripe", ignore=["id"], recipe="c4.5"
    )


@pytest.fixture(scope="module")
def page(melons):
    return melons.explore().html


def data_of(page):
    text = re.search(r'<script id="spinney-data"[^>]*>(.*?)</script>', page, re.DOTALL)
    return json.loads(text[1])


def test_units_and_formulas_of_attributes_are_told():
    numbers = Attribute("size", "numeric")
    day = Attribute("day", "numeric", unit="date")
    ratio = Attribute("ratio", "numeric", formula=Ratio(0, 1))
    total = Attribute("total", "numeric", formula=Linear((0, 1), (0.5, -2.0)))
    clauses = (Clause(0, low=1.0), Clause(1, high=2.5))
    both = Attribute("both", "boolean", (False, True), formula=Conjunction(clauses))
    assert attribute_data(numbers) == {"name": "size", "kind": "numeric"}
    assert attribute_data(day)["unit"] == "date"
    assert attribute_data(ratio)["formula"] == {"form": "ratio", "places": [0, 1]}
    assert attribute_data(total)["formula"]["coefficients"] == [0.5, -2.0]
    assert attribute_data(both)["formula"]["clauses"] == [
        {"codes": None, "low": 1.0, "high": None},
        {"codes": None, "low": None, "high": 2.5},
    ]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_make_no_markup_and_fetch_nothing(path):
    text = path.read_text(encoding="utf-8")
    assert [word for word in FORBIDDEN if word in text] == []
    assert not re.search(
        r"\.on\w+\s*=|setAttribute\(\s*[\"']on|<\w+[^>]*\son\w+=", text
    )
    assert set(re.findall(r"https?://[^\"' ]+", text)) <= {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_sources_begin_with_what_they_are(path):
    assert path.read_text(encoding="utf-8").startswith(("// ", "/* "))


def test_no_two_scripts_declare_one_name():
    """They share a scope, once they stand in one file."""
    pattern = re.compile(
        r"^(?:export )?(?:async )?(?:function|class|const|let) +(\[[^\]]*\]|\w+)",
        re.MULTILINE,
    )
    homes: dict[str, list[str]] = {}
    for path in SCRIPTS:
        for names in pattern.findall(path.read_text(encoding="utf-8")):
            for name in re.findall(r"\w+", names):
                homes.setdefault(name, []).append(path.name)
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def test_every_script_is_in_the_page_and_nothing_of_modules():
    text = script()
    for path in SCRIPTS:
        assert f"// {path.name}\n" in text
    assert not re.search(r"^(import|export) ", text, re.MULTILINE)


def test_the_policy_names_the_script_and_the_style(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for kind, text in (("script", script()), ("style", style())):
        digest = b64encode(sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
        assert f">{text}</{kind}>" in page


def test_a_page_is_small_but_for_its_data(page):
    assert len(page.encode()) - len(embedded_json(data_of(page))) < LARGEST_SHELL
    assert "http" not in page.replace("http-equiv", "").replace(
        "http://www.w3.org/2000/svg", ""
    )


def test_no_sign_of_the_data_ends_its_element():
    for name in NAMES:
        text = embedded_json({"name": name, name: [name]})
        assert not set(text) & set("<>&\u2028\u2029")
        assert json.loads(text) == {"name": name, name: [name]}


def test_names_are_nowhere_but_in_the_data():
    rng = np.random.default_rng(0)
    table = {name: rng.random(60) for name in NAMES}
    labels = np.array(["<b>no</b>", "</script>"])[(table[NAMES[0]] > 0.5).astype(int)]
    model = spinney.TreeClassifier(recipe="id3").fit(table, labels)
    page = model.explore().html
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert "onerror=alert(1)>" not in page


def unpacked(text):
    kind, _, data = text.partition(":")
    return np.frombuffer(b64decode(data), f"<{kind}")


def test_the_data_has_the_counts_of_the_tree(melons):
    data = explorer_data([melons])["models"][0]
    tree, nodes = melons.tree, data["tree"]
    weights = unpacked(nodes["weights"]).reshape(len(tree), -1)
    assert weights.tolist() == [node.weights.tolist() for node in tree]
    assert unpacked(nodes["rows"]).tolist() == [node.n_rows for node in tree]
    assert data["contains"]["nodes"] == len(tree)
    assert data["tree"]["explained"]["0"] == str(melons.explain(node=0))
    assert data["rows"] is None


def test_the_sequence_is_that_of_cost_complexity(melons):
    data = explorer_data([melons])["models"][0]["tree"]["sequence"]
    for index, alpha in enumerate(unpacked(data["alpha"]).tolist()):
        pruned = melons.prune("cost-complexity", alpha=alpha)
        assert pruned.tree.n_leaves == unpacked(data["leaves"])[index]


def test_rows_are_there_only_where_asked_for(melons):
    table = TABLES / "watermelon_3.0.csv"
    with_rows = explorer_data([melons], rows=table)["models"][0]
    rows = with_rows["rows"]
    assert rows["rows"] == rows["of_rows"] == 17
    assert unpacked(rows["leaf"]).tolist() == melons.apply(table).tolist()
    judged = with_rows["tree"]["sequence"]["validation"]
    # The rows are those of training, so their error is the training error.
    training = unpacked(with_rows["tree"]["sequence"]["errors"])
    assert unpacked(judged["errors"]) == pytest.approx(training[1:])


def test_a_large_tree_says_what_is_left_out():
    rng = np.random.default_rng(1)
    table = {"x": rng.random(2000), "y": rng.random(2000)}
    model = spinney.TreeClassifier(recipe="cart", pruning="none")
    model.fit(table, rng.integers(0, 2, 2000))
    contains = explorer_data([model])["models"][0]["contains"]
    assert contains["nodes"] > 500
    assert contains["explained"] == MAX_EXPLAINED


def test_a_page_says_how_many_formulas_it_has(monkeypatch):
    monkeypatch.setattr(page_data, "MAX_MODELS", 2)
    model = spinney.grow("tests/tables/cpu_prp.csv", "class", recipe="m5")
    page = explorer_data([model])["models"][0]
    assert page["contains"]["of_models"] == len(model.tree.model_names) > 2
    assert page["contains"]["models"] == len(page["models"]) == 2
    heaviest = sorted(model.tree.leaves, key=lambda leaf: -leaf.weight)[:2]
    assert {*page["models"]} == {str(leaf.number) for leaf in heaviest}


@pytest.mark.parametrize("model", [chain_model(300), wide_model(300)])
def test_odd_shapes_have_pages(model):
    assert explorer_page([FittedTree(model)]).startswith("<!DOCTYPE html>")


def test_a_frame_holds_the_page_or_none_that_is_too_large(melons, monkeypatch):
    explored = melons.explore()
    frame = explored.frame
    assert frame.startswith('<iframe sandbox="allow-scripts" ')
    assert "allow-same-origin" not in frame
    assert frame.count("<") == 2
    assert "text/html" in melons._repr_mimebundle_()
    monkeypatch.setattr("spinney.extensions.explorer.page_file.LARGEST_FRAME", 1000)
    assert LARGEST_FRAME > 1000
    assert melons.explore().frame is None
    assert set(melons._repr_mimebundle_()) == {"text/plain", "image/svg+xml"}


def test_a_page_is_saved_whole_or_refused(melons, tmp_path):
    explored = melons.explore()
    explored.save(tmp_path / "melons.html")
    assert (tmp_path / "melons.html").read_text("utf-8") == melons.export("html")
    with pytest.raises(ParameterError, match=r"does not end in \.html"):
        explored.save(tmp_path / "melons.png")
    with pytest.raises(ParameterError, match="exists"):
        explored.save(tmp_path / "melons.html", overwrite=False)
    assert repr(explored).startswith("<page of ")


def test_a_tree_that_is_too_large_is_refused(melons, monkeypatch):
    monkeypatch.setattr("spinney.extensions.explorer.page_data.MAX_NODES", 3)
    with pytest.raises(ParameterError, match="takes at most 3: prune it"):
        melons.explore()


def test_cross_validated_errors_are_in_the_page_of_a_tree_just_pruned():
    iris = TABLES / "iris.csv"
    model = spinney.grow(iris, "class", recipe="cart")
    assert explorer_data([model])["models"][0]["record"] is None
    pruned = model.prune("cost-complexity", data=iris, folds=3)
    record = explorer_data([pruned])["models"][0]["record"]
    rows = pruned.sequence_.subtrees
    assert record["by"] == "folds"
    assert unpacked(record["leaves"]).tolist() == [row.leaves for row in rows]
    root = pruned.sequence_.root_risk / 150
    assert unpacked(record["errors"]) == pytest.approx([r.error * root for r in rows])


def test_a_page_of_a_forest_says_how_many_of_its_trees_it_holds(monkeypatch):
    rng = np.random.default_rng(0)
    x = rng.random(80)
    model = spinney.ForestClassifier(n_estimators=5, random_state=0)
    model.fit({"x": x, "y": rng.random(80)}, (x > 0.5).astype(int))
    data = explorer_data([model])["models"][0]
    assert data["contains"]["trees"] == data["contains"]["of_trees"] == 5
    numbers = trees_by_similarity(model.importances()).tolist()
    assert [tree["number"] for tree in data["trees"]] == numbers
    model.typical({"x": x, "y": x})
    typical = explorer_data([model])["models"][0]
    assert typical["trees"][0]["number"] == typical["typical"]["number"]
    monkeypatch.setattr("spinney.extensions.explorer.page_data.MAX_FOREST_NODES", 1)
    contains = explorer_data([model])["models"][0]["contains"]
    assert contains["trees"] == 1
    assert "text/html" in model._repr_mimebundle_()
    assert "image/svg+xml" in model._repr_mimebundle_()


def test_clusters_have_a_page_and_a_place_in_notebooks():
    model = spinney.KMeans(n_clusters=2, random_state=0)
    assert "text/html" in model._repr_mimebundle_()
    points = {"x": [1.0, 1.2, 8.0, 8.3], "y": [1.0, 0.9, 7.0, 7.2]}
    model.fit(points)
    assert model._repr_mimebundle_()["text/plain"] == str(model)
    check_harmless(model._repr_mimebundle_()["image/svg+xml"])
    assert not hasattr(model, "_repr_html_")
    data = explorer_data([FittedClusters(model.clusters_)], rows=points)["models"][0]
    last = data["trace"]["steps"][-1]
    assert unpacked(last["clusters"]).tolist() == model.labels_.tolist()
    assert last["inertia"] == pytest.approx(model.inertia_)
    assert unpacked(last["centroids"]).reshape(2, 2) == pytest.approx(
        model.cluster_centers_
    )


def test_standardised_clusters_are_traced_in_their_own_units():
    rng = np.random.default_rng(0)
    points = {"x": rng.random(40) * 1000, "y": rng.random(40)}
    model = spinney.KMeans(n_clusters=2, random_state=0, standardise=True).fit(points)
    data = explorer_data([FittedClusters(model.clusters_)], rows=points)["models"][0]
    last = data["trace"]["steps"][-1]
    assert unpacked(last["clusters"]).tolist() == model.labels_.tolist()


def test_rule_sets_have_no_page(melons):
    rules = melons.ruleset(TABLES / "watermelon_3.0.csv")
    with pytest.raises(ParameterError, match="tree, forest, clusters"):
        explorer_page([rules])
