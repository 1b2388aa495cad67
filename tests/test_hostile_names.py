"""Hostile names through all that people look at: pages, cells of notebooks, terminals.

Pictures and the explorer have theirs in the folders of their extensions. Here each
name is a column, a value and a class of a small table.
"""

import csv
import io
import re
import warnings
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.hostile_names import NAMES

import spinney
from spinney.cli import run
from spinney.extensions.clustering.cluster_svg import to_cluster_svg

# What pages and cells are made of; nothing else may come of a name.
ELEMENTS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "script",
        "main",
        "section",
        "article",
    ),
    *("header", "footer", "nav", "button", "h1", "h2", "h3", "p", "table", "caption"),
    *("thead", "tbody", "tr", "th", "td", "ul", "ol", "li", "span", "div", "pre", "a"),
    *("svg", "desc", "g", "rect", "path", "line", "circle", "text", "strong", "em"),
    *("figure", "figcaption", "output", "label", "kbd", "small", "code"),
}
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Harmless(HTMLParser):
    """Reads markup as a browser does, and keeps what could act."""

    def __init__(self):
        super().__init__()
        self.scripts, self.strange = 0, []

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        if tag not in ELEMENTS:
            self.strange.append(tag)
        for name, value in attrs:
            acts = name.startswith("on") or name in ("src", "srcdoc", "action")
            if acts or (value or "").lower().startswith("javascript:"):
                self.strange.append(f"{tag} {name}={value}")


def check_markup(markup, *, scripts=0):
    reader = Harmless()
    reader.feed(markup)
    assert (reader.strange, reader.scripts) == ([], scripts)


def check_text(text):
    for line in text.split("\n"):
        assert CONTROLS.search(line) is None


@cache
def table_of(name):
    answers = [name, f"{name} 2", "plain"] * 6
    # A class of several lines is refused.
    label = f"is {name}" if len(name.splitlines()) == 1 else "is it"
    return {
        name: answers,
        "number": [n + 0.5 for n in range(18)],
        f"target {name}": [label if each == name else "other" for each in answers],
    }


@cache
def model_of(name):
    return spinney.grow(table_of(name), f"target {name}", recipe="id3")


def results(name):
    """Return what prints, by what it is called."""
    model, table = model_of(name), table_of(name)
    pruned = model.prune("reduced-error", validation=table)
    return {
        "rules": model.rules(),
        "node": model.explain(node=0),
        "attribute": model.explain(node=0, attribute=name),
        "row": model.explain(row={key: cells[:1] for key, cells in table.items()}),
        "steps": pruned.pruning_,
        "sequence": model.prune("cost-complexity", validation=table).sequence_,
        "errors": model.node_errors(table, name=name),
        "look": spinney.look(table),
        "association": spinney.association(table),
    }


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_texts_and_cells_of_notebooks(name):
    check_text(str(model_of(name)))
    for result in results(name).values():
        bundle = result._repr_mimebundle_()
        assert set(bundle) == {"text/plain", "text/html"}
        check_text(bundle["text/plain"])
        check_markup(bundle["text/html"])


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_lessons(name):
    page = model_of(name).lesson(table_of(name)).html
    check_markup(page, scripts=1)


def test_an_evaluation_and_a_score_in_a_notebook():
    name = NAMES[0]
    table = table_of(name)
    target = f"target {name}"
    evaluation = spinney.evaluate(table, target, ["id3"], folds=2)
    score = spinney.score(model_of(name), table)
    for result in (evaluation, score):
        bundle = result._repr_mimebundle_()
        assert bundle["text/plain"] == str(result)
        check_markup(bundle["text/html"])


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_clusters(name):
    numbers = {name: [1.0, 2.0, 8.0, 9.0], "other": [1.0, 1.5, 7.0, 7.5]}
    means = spinney.KMeans(2, random_state=0).fit(numbers)
    check_text(str(means))
    check_markup(to_cluster_svg(means.clusters_))


def test_plots_write_names_and_no_formulas():
    """Matplotlib takes what stands between two dollars for a formula, or fails."""
    plots = pytest.importorskip("spinney.extensions.plots")
    names = (*NAMES, "costs $a_b$", "$\\frac{$", "a\\$b")
    rng = np.random.default_rng(0)
    table = {name: rng.random(60) for name in names}
    target = rng.integers(0, len(names), 60)
    table["class"] = [names[code].replace("\n", " ") for code in target]
    table["class"] = [" ".join(label.splitlines()) for label in table["class"]]
    model = spinney.grow(table, "class", recipe="id3")
    axes = plots.importances(model, most=len(names))
    axes.figure.savefig(io.BytesIO(), format="svg")
    axes = plots.confusion(model, table)
    axes.figure.savefig(io.BytesIO(), format="svg")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as one for each sign that no font has
        plots.tree(model).figure.savefig(io.BytesIO(), format="png")


def test_a_sign_that_no_font_has_is_a_box():
    figures = pytest.importorskip("spinney.extensions.pictures.figures")
    assert figures.drawable("plain ≤ ö") == "plain ≤ ö"
    assert figures.drawable("a\U000e0041b", ["DejaVu Sans"]) == "a□b"


@pytest.fixture
def shell(tmp_path, monkeypatch, capfdbinary):
    """Run the tool in a folder with a table of hostile names, and models of it."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    classes = [name for name in NAMES if len(name.splitlines()) == 1]
    with open("t.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*NAMES, f"values {NAMES[1]}", TARGET])
        for place in range(90):
            value = NAMES[place % len(NAMES)]
            label = classes[place % len(NAMES) * 7 % len(classes)]
            writer.writerow([*random.random(len(NAMES)).round(2), value, label])

    def said(*arguments):
        capfdbinary.readouterr()
        assert run(list(arguments)) == 0
        out, err = (stream.decode() for stream in capfdbinary.readouterr())
        check_text(err)
        return out

    said("grow", "t.csv", "--target", TARGET, "-o", "m", "--recipe", "c4.5")
    return said


TARGET = f"target {NAMES[0]}"
TEXTS = {
    "look": ["look", "t.csv"],
    "show": ["show", "m"],
    "rules": ["rules", "m"],
    "explain a node": ["explain", "m"],
    "explain an attribute": ["explain", "m", "--attribute", f"values {NAMES[1]}"],
    "explain a row": ["explain", "m", "--row", "t.csv"],
    "score": ["score", "m", "t.csv"],
    "prune": ["prune", "m", "--pruning", "mdl"],
    "info": ["info", "m"],
    "export": ["export", "m", "--format", "rules"],
}
DATA = {
    "evaluate": [
        *("evaluate", "t.csv", "--target", TARGET, "--folds", "2", "--json"),
        *("--recipe", "id3"),
    ],
    "predict": ["predict", "m", "t.csv"],
    "show": ["show", "m", "--json"],
    "dot": ["export", "m", "--format", "dot"],
    "python": ["export", "m", "--format", "python"],
    "javascript": ["export", "m", "--format", "javascript"],
}
FILES = {
    "show.svg": ["show", "m", "--svg"],
    "lesson.html": ["lesson", "t.csv", "--target", TARGET, "-o"],
    "explore.html": ["explore", "m", "--rows", "t.csv", "-o"],
    "importances.png": ["plot", "importances", "m", "-o"],
    "confusion.png": ["plot", "confusion", "m", "t.csv", "-o"],
    "regions.png": ["plot", "regions", "m", "t.csv", "-o"],
}


def test_texts_of_the_shell(shell):
    """No escape reaches the terminal, and nothing turns the direction of a line."""
    for arguments in TEXTS.values():
        text = shell(*arguments)
        assert text
        check_text(text)


def test_data_of_the_shell(shell):
    for arguments in DATA.values():
        text = shell(*arguments)
        assert text
        assert "\x1b" not in text or arguments[0] == "predict"
    rows = list(csv.reader(io.StringIO(shell(*DATA["predict"]), newline="")))
    assert len(rows) == 91
    spreadsheet_safe = shell(*DATA["predict"], "--spreadsheet")
    for row in csv.reader(io.StringIO(spreadsheet_safe, newline="")):
        assert not any(cell.startswith(("=", "+", "@", "\t", "\r")) for cell in row)
    exec(shell(*DATA["python"]), names := {})
    row = {**dict.fromkeys(NAMES, 0.5), f"values {NAMES[1]}": NAMES[2]}
    model, table = spinney.load("m"), {name: [cell] for name, cell in row.items()}
    assert names["predict"](row) == model.predict(table)[0]


def test_files_of_the_shell(shell):
    pytest.importorskip("matplotlib")
    for name, arguments in FILES.items():
        shell(*arguments, name)
        content = Path(name).read_bytes()
        if name.endswith(".html"):
            text = content.decode()
            check_markup(
                text.replace("<noscript>", "").replace("</noscript>", ""),
                scripts=text.count("</script>"),
            )
            assert text.count("<script") == (2 if name == "explore.html" else 1)
        elif name.endswith(".svg"):
            check_markup(content.decode())
        else:
            assert content.startswith(b"\x89PNG")


def test_what_is_strange_is_seen():
    for markup in ("<img src=x onerror=alert(1)>", "<p onclick=x>", "<iframe>"):
        with pytest.raises(AssertionError):
            check_markup(markup)
    with pytest.raises(AssertionError):
        check_text("red\x1b[31m")
