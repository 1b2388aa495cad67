"""Pictures of trees: what they say, that nothing overlaps, and hostile names."""

import re
from functools import cache
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.helpers.hostile_names import NAMES
from tests.helpers.models import chain_model, wide_model

import spinney
from spinney.errors import ParameterError
from spinney.extensions.pictures import to_svg
from spinney.extensions.pictures.axes_picture import draw_svg
from spinney.extensions.pictures.box_parts import KINDS
from spinney.extensions.pictures.text_width import text_width

TABLES = Path(__file__).parents[2] / "tables"
SVG = "{http://www.w3.org/2000/svg}"
STYLES = ("compact", "rules", "teaching")
LOOKS = [(style, horizontal) for style in STYLES for horizontal in (False, True)]
# Bars have parts in styles of every kind, and so with one of them.
WITH_BARS = [(*look, bars) for look, bars in zip(LOOKS, (False, True) * 3, strict=True)]
HISTOGRAMS = {
    "iris": (TABLES / "iris.csv", ["compact", "rules", "teaching"]),
    "cpu": (TABLES / "cpu_prp.csv", ["compact", "teaching"]),
}


def grown(table, target, recipe, **options):
    return spinney.grow(TABLES / table, target, recipe=recipe, **options)


ZOO = {"ignore": ["animal_name"], "nominal": ["class_type"]}
MODELS = {
    "melons": lambda: grown("watermelon_2.0.csv", "ripe", "id3", ignore=["id"]),
    "iris": lambda: grown("iris.csv", "class", "cart"),
    "zoo": lambda: grown("zoo.csv", "class_type", "cart", **ZOO),
    "penguins": lambda: grown("penguins.csv", "species", "chaid"),
    "cpu": lambda: grown("cpu_prp.csv", "class", "cart"),
    "models": lambda: grown("cpu_prp.csv", "class", "m5"),
    "labor": lambda: grown("labor.csv", "class", "c4.5", missing_values=["?"]),
    "forest": lambda: spinney.grow_forest(
        TABLES / "zoo.csv", "class_type", n_estimators=3, **ZOO
    ),
    "leaf": lambda: spinney.grow(
        {"size": [1, 1, 1], "sold": ["no", "no", "yes"]}, "sold", recipe="id3"
    ),
}


@cache
def model_named(name):
    return MODELS[name]()


@pytest.fixture(params=MODELS)
def model(request):
    return model_named(request.param)


def texts(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def placed_text(element):
    """Return left, top, right and bottom of a text, by the table of widths."""
    kind, *anchor = element.get("class").split()
    size, bold = KINDS[kind]
    width = text_width(element.text, size, bold=bold)
    shift = {"middle": width / 2, "end": width}.get("".join(anchor), 0.0)
    left, base = float(element.get("x")) - shift, float(element.get("y"))
    return left, base - size * 0.75, left + width, base + size * 0.2


def placed_box(element):
    x, y, width, height = (
        float(element.get(name)) for name in ("x", "y", "width", "height")
    )
    return x, y, x + width, y + height


def apart(one, other):
    return (
        one[2] <= other[0] + 0.2
        or other[2] <= one[0] + 0.2
        or one[3] <= other[1] + 0.2
        or other[3] <= one[1] + 0.2
    )


@pytest.mark.parametrize("style, horizontal, bars", WITH_BARS)
def test_nothing_overlaps_and_nothing_is_cut(model, style, horizontal, bars):
    check_places(model.plot(style=style, horizontal=horizontal, bars=bars))


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_nothing_overlaps_where_there_are_histograms(name):
    path, styles = HISTOGRAMS[name]
    model = MODELS[name]()
    for style in styles:
        picture = model.plot(style=style, bars=True, data=path, max_depth=3)
        check_places(picture)
        check_texts_in_boxes(picture)


def check_places(picture):
    root = ElementTree.fromstring(picture.svg)
    _, _, width, height = (float(part) for part in root.get("viewBox").split())
    rectangles = list(root.iter(f"{SVG}rect"))
    boxes = [r for r in rectangles if r.get("class").startswith("frame")]
    pills = [r for r in rectangles if r.get("class") == "pill"]
    words = [placed_text(element) for element in root.iter(f"{SVG}text")]
    places = [placed_box(each) for each in (*boxes, *pills)]
    for one, other in combinations(places, 2):
        assert apart(one, other)
    for one, other in combinations(words, 2):
        assert apart(one, other)
    for left, top, right, bottom in (*words, *places):
        assert left >= 0
        assert top >= 0
        assert right <= width
        assert bottom <= height


@pytest.mark.parametrize("style, horizontal, bars", WITH_BARS)
def test_a_text_is_inside_its_box(model, style, horizontal, bars):
    check_texts_in_boxes(model.plot(style=style, horizontal=horizontal, bars=bars))


def check_texts_in_boxes(picture):
    root = ElementTree.fromstring(picture.svg)
    for group in root.findall(f"{SVG}g"):
        frames = [
            rect
            for rect in group.findall(f"{SVG}rect")
            if rect.get("class").startswith("frame")
        ]
        if not frames:
            continue
        left, top, right, bottom = placed_box(frames[0])
        for element in group.iter(f"{SVG}text"):
            x, y, end, below = placed_text(element)
            assert left <= x
            assert end <= right
            assert top <= y
            assert below <= bottom


def hostile_model():
    rng = np.random.default_rng(0)
    n = 40 * len(NAMES)
    categories = np.array(NAMES, dtype=object)[rng.integers(0, len(NAMES), n)]
    table = {name: rng.random(n) for name in NAMES[:-1]}
    table["category " + NAMES[0]] = categories
    place = {name: code for code, name in enumerate(NAMES)}
    classes = [name for name in NAMES if len(name.splitlines()) == 1]
    target = [classes[place[one] * 7 % len(classes)] for one in categories]
    return spinney.TreeClassifier(recipe="id3").fit(table, target)


@pytest.fixture(scope="module")
def hostile():
    return hostile_model()


def check_harmless(markup):
    """Assert that a picture is well-formed and holds nothing that runs or fetches."""
    root = ElementTree.fromstring(markup)
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in {
            *("svg", "title", "desc", "style", "g", "rect", "path", "line", "circle"),
            "text",
        }
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert name not in ("href", "src", "style")
            assert "url(" not in value
    assert re.findall(r"https?://[^\"]*", markup) == ["http://www.w3.org/2000/svg"]


@pytest.mark.parametrize("style, horizontal", LOOKS)
def test_hostile_names_are_only_text(hostile, style, horizontal):
    svg = hostile.plot(style=style, horizontal=horizontal, bars=horizontal).svg
    check_harmless(svg)


def test_hostile_names_of_columns_asked_about():
    rng = np.random.default_rng(1)
    for name in NAMES:
        x = rng.random(30)
        shop = {name: x, "other": rng.random(30)}
        model = spinney.TreeClassifier(recipe="id3").fit(shop, np.where(x > 0.5, 1, 0))
        for style in STYLES:
            check_harmless(model.plot(style=style).svg)
        model.export("dot").encode("utf-8")


def test_a_page_fetches_and_runs_nothing(hostile):
    page = hostile.plot().html
    assert "default-src 'none'" in page
    assert "<script" not in page.lower()
    assert page.count("<svg") == 1
    assert page.count("</style>") == 2  # that of the page and that of the picture


def test_dot_is_made_of_whole_strings(hostile):
    for line in hostile.export("dot").splitlines()[1:-1]:
        bare = re.sub(r'"(?:[^"\\]|\\.)*"', "S", line)
        assert re.fullmatch(
            r"  (node|edge|\d+|\d+ -> \d+) "
            r"\[((label|shape|fontname|style)=(S|box|rounded)(, )?)+\];",
            bare,
        )


def test_a_large_tree_is_drawn_to_the_depth_that_fits():
    rng = np.random.default_rng(0)
    x = rng.random((3000, 4))
    y = np.where(np.sin(9 * x[:, 0]) + rng.normal(0, 0.7, 3000) > 0, "up", "down")
    recipe = spinney.Recipe.named("cart").changed(pruning="none", max_leaves=500)
    model = spinney.TreeClassifier(recipe=recipe).fit(x, y)
    root = ElementTree.fromstring(model.plot().svg)
    assert float(root.get("width")) < 1330
    stubs = [text for text in texts(model.plot(max_depth=2).svg) if "more" in text]
    drawn = [node for node in model.tree if node.depth <= 2]
    hidden = sum(int(re.search(r"\d+", stub).group()) for stub in stubs)
    assert hidden + len(drawn) == len(model.tree)
    assert any(
        "drawn to depth 2 of" in text for text in texts(model.plot(max_depth=2).svg)
    )
    whole = model.plot(max_depth=10**6).svg
    assert whole.count('class="frame leaf"') == model.tree.n_leaves


def test_a_tree_of_3000_questions_in_a_row():
    svg = to_svg(chain_model(3000), max_depth=3000)
    assert svg.count('class="frame leaf"') == 3001


def test_a_question_with_300_answers():
    svg = to_svg(wide_model(300))
    assert svg.count('class="frame leaf"') == 300


def test_labels_as_a_person_writes_them():
    found = texts(MODELS["melons"]().plot().svg)
    assert "slightly curly" in found
    assert "no rows: as its parent" in found
    found = texts(MODELS["penguins"]().plot().svg)
    assert "(201.5, 210.5] or missing" in found
    rules = texts(MODELS["iris"]().plot(style="rules").svg)
    assert "petallength ≤ 2.45" in rules


def values_in_halves(n):
    letters = [f"no {code}" for code in range(n)]
    table = {"letter": letters * 4, "half": [code < n / 2 for code in range(n)] * 4}
    return spinney.grow(table, "half", recipe="cart")


def test_several_values_have_several_lines():
    svg = values_in_halves(12).plot().svg
    root = ElementTree.fromstring(svg)
    labels = [
        [text.text for text in group.findall(f"{SVG}text")]
        for group in root.findall(f"{SVG}g")
        if any(rect.get("class") == "pill" for rect in group.findall(f"{SVG}rect"))
    ]
    assert [len(lines) for lines in labels] == [2, 2]
    assert " ".join(labels[0]) == "no 0, no 1, no 2, no 3, no 4, no 5"
    assert labels[0][0].endswith(",")


@pytest.mark.filterwarnings("ignore:splits on high-cardinality:spinney.SpinneyWarning")
@pytest.mark.filterwarnings("ignore:column 'letter' alone tells:UserWarning")
def test_many_values_are_counted():
    found = texts(values_in_halves(60).plot().svg)
    assert (
        sum(bool(re.fullmatch(r"(no \d+, )+no \d+ … \d+ more", f)) for f in found) == 2
    )


def test_a_threshold_has_as_many_digits_as_it_takes():
    near = [1.00000011, 1.00000012, 1.00000013, 1.00000014]
    table = {"x": near, "y": ["a", "a", "b", "b"]}
    found = texts(spinney.grow(table, "y", recipe="id3").plot().svg)
    assert "≤ 1.00000012" in found


def test_teaching_shows_what_the_textbook_draws():
    """Gains of Zhou's watermelons: Machine Learning, section 4.2.1."""
    found = texts(MODELS["melons"]().plot(style="teaching").svg)
    start = found.index("entropy")
    assert found[start + 1] == "0.998"
    assert found[start + 2] == "information gain"
    merits = found[start + 3 : start + 15]
    gains = dict(zip(merits[::2], merits[1::2], strict=True))
    assert gains["texture"] == "0.381"
    assert gains["umbilicus"] == "0.289"
    assert gains["surface"] == "0.006"


@pytest.mark.parametrize("style", STYLES)
def test_golden_melons(assert_golden, style):
    assert_golden(
        f"melons_{style}.svg", MODELS["melons"]().plot(style=style).svg + "\n"
    )


def test_a_forest_shows_what_is_important_and_its_typical_tree():
    iris = TABLES / "iris.csv"
    forest = spinney.grow_forest(iris, "class", n_estimators=4)
    without = texts(forest.plot().svg)
    assert any("the most similar to the forest" in text for text in without)
    typical = forest.typical(iris)
    found = texts(forest.plot(max_depth=1).svg)
    assert any(
        text.startswith(f"tree {typical.number}, the most typical") for text in found
    )
    first, mean, spread = next(forest.importances().ranked())
    place = found.index(first)
    assert found[place + 1] == f"{mean:.3f} ± {spread:.3f}"
    tree = texts(forest.trees[typical.number].plot(max_depth=1).svg)
    assert found[-len(tree) :] == tree
    assert forest.export("svg") == forest.plot().svg + "\n"
    check_harmless(forest.plot().svg)


def test_clusters_are_drawn_and_kept(tmp_path):
    melons = spinney.read_table(TABLES / "watermelon_3.0.csv")
    columns = {name: melons[name].cells for name in ("density", "sugar")}
    means = spinney.KMeans(2, random_state=0).fit(columns)
    found = texts(means.plot().svg)
    assert {"cluster 0", "cluster 1", "density", "sugar"} <= set(found)
    check_harmless(means.plot().svg)
    means.save(tmp_path / "clusters.spinney")
    kept = spinney.load(tmp_path / "clusters.spinney")
    assert kept.export("svg") == means.plot().svg + "\n"
    assert "<title>2 clusters</title>" in kept.plot().html


def test_golden_numbers(assert_golden):
    picture = MODELS["models"]().plot(horizontal=True)
    assert_golden("cpu_horizontal.svg", picture.svg + "\n")


def test_it_says_what_it_is_to_those_who_cannot_see_it():
    root = ElementTree.fromstring(MODELS["melons"]().plot().svg)
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text == "Decision tree for ripe"
    assert "texture = blurry → false" in root.find(f"{SVG}desc").text


def test_a_picture_is_saved_by_its_suffix(tmp_path):
    model = MODELS["melons"]()
    model.plot().save(tmp_path / "melons.svg")
    assert (tmp_path / "melons.svg").read_text("utf-8") == model.export("svg")
    model.plot().save(tmp_path / "melons.HTML")
    assert (tmp_path / "melons.HTML").read_text("utf-8") == model.plot().html


def test_what_is_not_drawn_is_refused_with_a_way(tmp_path):
    model = MODELS["leaf"]()
    with pytest.raises(ParameterError, match=r"\.svg, \.html, \.png or \.pdf"):
        model.plot().save(tmp_path / "tree.gif")
    with pytest.raises(ParameterError, match=r"style='fancy'.*compact"):
        model.plot(style="fancy")
    with pytest.raises(ParameterError, match="max_depth=-1"):
        model.plot(max_depth=-1)
    assert list(tmp_path.iterdir()) == []


def test_a_notebook_shows_fitted_trees():
    model = spinney.TreeClassifier(recipe="id3")
    assert "text/html" in model._repr_mimebundle_()
    assert callable(model._repr_html_)
    model.fit({"size": [1, 2, 3]}, ["a", "b", "b"])
    bundle = model._repr_mimebundle_(include=None, exclude=None)
    assert set(bundle) == {"text/plain", "image/svg+xml", "text/html"}
    assert bundle["text/html"].startswith('<iframe sandbox="allow-scripts" ')
    assert bundle["text/plain"] == str(model)
    check_harmless(bundle["image/svg+xml"])
    assert not hasattr(model, "_repr_html_")
    assert model.plot()._repr_svg_() == bundle["image/svg+xml"]


def answers(svg, title):
    """Return the bars of the first question of this name: names, figures, lengths."""
    root = ElementTree.fromstring(svg)
    for box in root.findall(f"{SVG}g"):
        words = [text.text for text in box.findall(f"{SVG}text")]
        if words[:1] == [title]:
            lines = box.findall(f"{SVG}g")
            return [
                (*(t.text for t in one.iter(f"{SVG}text")), bar(one)) for one in lines
            ]
    raise AssertionError(title)


def bar(line):
    """Return what each colour of a bar is wide, in pixels."""
    found = {}
    for rect in line.findall(f"{SVG}rect"):
        found[rect.get("class")] = float(rect.get("width"))
    found.pop("empty", None)
    return found


def test_bars_show_how_rows_answer():
    """Texture of the watermelons: 3 : 0, 2 : 7 and 4 : 1, as in Zhou's table 4.1."""
    model = MODELS["melons"]()
    first, second, third = answers(model.plot(bars=True).svg, "texture")
    assert [each[:2] for each in (first, second, third)] == [
        ("blurry", "3"),
        ("clear", "9"),
        ("slightly blurry", "5"),
    ]
    pixel = second[2]["k1"] / 7
    assert first[2] == {"k0": pytest.approx(3 * pixel, abs=0.1)}
    assert second[2]["k0"] == pytest.approx(2 * pixel, abs=0.1)
    assert third[2]["k0"] == pytest.approx(4 * pixel, abs=0.1)
    assert third[2]["k1"] == pytest.approx(1 * pixel, abs=0.1)
    assert model.plot(bars=False).svg == model.plot().svg


def test_bars_of_a_number_and_of_missing_cells():
    by_cart = grown("penguins.csv", "species", "cart").plot(bars=True).svg
    found = answers(by_cart, "flipper_length_mm")
    assert [each[:2] for each in found] == [
        ("≤ 206.5", "213"),
        ("> 206.5", "129"),
        ("missing", "2"),
    ]
    # CHAID sends the rows that lack a length to one of the branches.
    by_chaid = MODELS["penguins"]().plot(bars=True).svg
    found = [each[:2] for each in answers(by_chaid, "flipper_length_mm")]
    assert sum(float(weight) for _, weight in found) == 344
    assert [name.endswith("or missing") for name, _ in found] == [0, 0, 1, 0]


def test_bars_where_numbers_are_predicted_have_means():
    model = MODELS["cpu"]()
    tree = model.tree
    title = tree.schema.attributes[tree.root.split.attribute].name
    found = answers(model.plot(bars=True).svg, title)
    means = [f"{tree.nodes[child].value:.4g}" for child in tree.root.children]
    assert [mean for _, mean, _ in found] == means


def test_bars_of_many_values_are_those_of_branches():
    letters = [f"no {code}" for code in range(12)]
    table = {"letter": letters * 4, "half": [code < 6 for code in range(12)] * 4}
    binary = spinney.grow(table, "half", recipe="cart").plot(bars=True).svg
    assert [each[1] for each in answers(binary, "letter")] == ["24", "24"]
    each = spinney.grow(table, "half", recipe="id3").plot(bars=True).svg
    assert answers(each, "letter")[-1][:1] == ("+ 4 more",)


def _penguins():
    return grown("penguins.csv", "species", "cart")


def leaf_levels(svg, names):
    """Return the heights at which titles of leaves are written."""
    pattern = (
        rf'<text x="[\d.]+" y="([\d.]+)" class="title middle">(?:{"|".join(names)})<'
    )
    return {float(height) for height in re.findall(pattern, svg)}


def test_leaves_stand_on_the_last_level():
    names = _penguins().schema.target.classes
    usual = _penguins().plot(max_depth=9).svg
    bottom = _penguins().plot(max_depth=9, leaves_at_bottom=True).svg
    assert len(leaf_levels(usual, names)) > 1 == len(leaf_levels(bottom, names))
    assert bottom.count("<path") == usual.count("<path")


def test_a_title_a_palette_and_digits():
    svg = _penguins().plot(title="A <b> & c", palette="#112233, #445566", digits=2).svg
    assert svg.count("A &lt;b&gt; &amp; c") >= 2
    assert ".spinney-tree .k0{fill:#112233}.spinney-tree .k1{fill:#445566}" in svg
    assert "≤ 206.5" in _penguins().plot().svg
    assert "≤ 206<" in svg  # 210 would not separate the rows
    assert _penguins().plot(palette="okabe-ito").svg == _penguins().plot().svg
    for wrong in ("gray", "#12", ["red"], ["#112233"] * 9):
        with pytest.raises(ParameterError, match="palette"):
            _penguins().plot(palette=wrong)


def test_a_png_has_the_colours_of_its_palette():
    from matplotlib.colors import to_hex

    axes = draw_svg(_penguins().plot(palette=["#112233"]).svg)
    assert "#112233" in {to_hex(each.get_facecolor()) for each in axes.patches}


def test_correct_rows_are_called_so():
    model = grown("penguins.csv", "species", "cart", max_depth=1)
    assert re.search(r"\d+ of \d+ correct · \d+ %", model.plot().svg)
