"""The explorer in a browser: every view, panel and key, on trees, forests, clusters."""

import datetime
import re

import numpy as np
import pytest
from tests.extensions.explorer.browser.explorer_models import (
    MODELS,
    TABLES,
    clusters,
    forest,
    iris,
    large_tree,
)
from tests.extensions.pictures.test_tree_svg import hostile_model
from tests.helpers.hostile_names import NAMES

import spinney
from spinney.cli import run
from spinney.extensions.clustering.models import FittedClusters
from spinney.extensions.lessons import LessonPage, tree_slides
from spinney.extensions.pictures.node_histograms import split_cuts

STATE = "document.getElementById('explorer').explorers[0].state"
VIEWS = ("icicle", "sunburst", "leaves")


def panel(page, key):
    page.click(f".panel-tabs [data-key={key}]")


def view(page, key):
    page.click(f".view-tabs [data-key={key}]")


def selected(page):
    return page.evaluate(f"{STATE}.selected")


@pytest.fixture
def melons(visit):
    return visit(MODELS["melons"]().explore().html)


def test_the_tree_is_drawn_and_read_aloud(melons):
    boxes = melons.locator("svg.drawing text")
    assert boxes.filter(has_text="texture").count() >= 1
    items = melons.locator("[role=treeitem]")
    assert items.count() == len(MODELS["melons"]().tree)
    tree = melons.get_by_role("tree")
    assert tree.get_attribute("aria-activedescendant") == items.first.get_attribute(
        "id"
    )
    assert items.first.get_attribute("aria-expanded") == "true"


@pytest.mark.filterwarnings("ignore:splits on high-cardinality:spinney.SpinneyWarning")
def test_a_label_counts_the_values_it_leaves_out(visit):
    towns = [f"Town, {i:03}" for i in range(400)]
    table = {"town": towns * 2, "y": ["no", "yes", "no", "no"] * 200}
    model = spinney.grow(table, "y", recipe="cart", pruning="none")
    page = visit(model.explore().html)
    lines = "all => all.map((each) => each.firstChild.textContent)"  # without titles
    labels = page.locator("svg.drawing text").evaluate_all(lines)
    counts = [int(text.split()[1]) for text in labels if text.startswith("… ")]
    named = [text.count("Town") for text in labels if text.startswith("Town")]
    assert sum(counts) + sum(named) == 400
    node = page.locator(".branch-line th").all_inner_texts()
    assert [text.split("…")[1] for text in node] == [" 294 more", " 94 more"]


def test_keys_walk_the_tree(melons):
    melons.focus("[role=tree]")
    for key, node in (
        ("ArrowDown", 1),
        ("ArrowRight", 2),
        ("ArrowDown", 3),
        ("ArrowRight", 4),
        ("ArrowUp", 2),
        ("Enter", 2),
        ("Home", 0),
    ):
        melons.keyboard.press(key)
        assert selected(melons) == node
    assert melons.evaluate(f"{STATE}.closed[2]") == 1
    assert melons.locator("text=+ 2").count() >= 1
    assert melons.locator(".crumbs li").count() == 1


def test_the_node_panel_says_what_explain_does(melons):
    model = MODELS["melons"]()
    melons.click("svg.drawing text[data-node='2'][font-weight]")
    node = selected(melons)
    assert node == 2
    text = melons.locator("details pre").text_content()
    assert text == str(model.explain(node=node))
    head = melons.locator(".panel-body").inner_text()
    assert "Candidate splits" in head
    assert "split point 0.3815" in head
    rules = {
        button.get_attribute("data-rule"): button.get_attribute("data-text")
        for button in melons.locator("[data-rule]").all()
    }
    assert rules["SQL"] == "\"texture\" IN ('clear')"
    assert rules["Python"] == 'row["texture"] in ("clear",)'


def test_every_view_shows_one_selection(visit):
    page = visit(MODELS["penguins"]().explore().html)
    page.fill("[type=search]", "island")
    node = selected(page)
    assert node > 0
    page.press("[type=search]", "Enter")
    assert selected(page) != node
    for key in VIEWS:
        view(page, key)
        assert page.locator(".stage svg").evaluate("e => e.childElementCount") == 1
        page.focus(".stage")
        page.keyboard.press("ArrowUp")
        assert page.locator("svg [data-node]").count() > 5
    view(page, "rules")
    assert page.locator("tr[data-node]").count() == MODELS["penguins"]().tree.n_leaves
    page.click("tr[data-node] >> nth=2")
    chosen = page.locator("tr.chosen[data-node]").get_attribute("data-node")
    assert selected(page) == int(chosen)
    page.click("th button:has-text('confidence')")
    view(page, "tree")
    assert selected(page) == int(chosen)


def test_filters_keep_the_leaves_that_fit(visit):
    model = MODELS["penguins"]()
    page = visit(model.explore().html)
    page.click("text=Filter")
    page.select_option(".filters select >> nth=0", label="Gentoo")
    leaves = [leaf for leaf in model.tree.leaves if model.tree.label(leaf) == "Gentoo"]
    said = page.locator(".filters > output").text_content()
    assert said.startswith(f"{len(leaves)} of {model.tree.n_leaves} leaves")
    view(page, "rules")
    assert page.locator("tr[data-node]").count() == len(leaves)
    page.locator(".filters input[type=range] >> nth=0").evaluate(
        "e => { e.value = 90; e.dispatchEvent(new Event('input')); }"
    )
    assert page.locator("tr[data-node]").count() < len(leaves)
    page.click(".filters >> text=Reset")
    assert page.locator("tr[data-node]").count() == model.tree.n_leaves


def test_what_if_lights_divided_paths(visit):
    model = MODELS["labor"]()
    page = visit(model.explore().html)
    panel(page, "what-if")
    page.get_by_role("button", name="Clear").click()
    page.fill("[data-attribute=wage-increase-first-year]", "2.1")
    page.fill("[data-attribute=wage-increase-first-year]", "")
    lit = page.evaluate(f"[...{STATE}.highlighted]")
    weights = dict(lit)
    row = {name: [None] for name in model.schema.names}
    paths = model.decision_path(row).toarray()[0]
    assert weights == {n: p for n, p in enumerate(paths.tolist()) if p}
    shown = page.locator("[data-class]")
    outputs = {
        int(cell.get_attribute("data-class")): float(cell.get_attribute("data-output"))
        for cell in shown.all()
    }
    expected = model.predict_proba(row)[0]
    assert [outputs[code] for code in sorted(outputs)] == expected.tolist()
    assert page.locator("text=Missing values distribute the row").count() == 1


def test_a_flip_flips(melons):
    panel(melons, "what-if")
    melons.select_option("select[data-attribute=texture]", label="clear")
    melons.fill("[data-attribute=density]", "0.5")
    assert melons.locator(".verdict strong").text_content() == "true"
    flips = melons.locator(".flips li").all_text_contents()
    assert "density ≤ 0.3815 → false" in flips
    melons.fill("[data-attribute=density]", "0.3815")
    assert melons.locator(".verdict strong").text_content() == "false"
    melons.select_option("select[data-attribute=texture]", label="something else")
    melons.get_by_role("button", name="Clear").click()
    assert melons.evaluate(f"{STATE}.highlighted.size") == 0


def test_the_slider_prunes_along_the_sequence(visit):
    model = MODELS["penguins"]()
    page = visit(model.explore(rows=TABLES / "penguins.csv").html)
    panel(page, "prune")
    steps = int(page.locator(".slider").get_attribute("max"))
    for step in (2, steps):
        page.locator(".slider").fill(str(steps - step))
        alpha = page.evaluate(f"{STATE}.tree.sequence.alpha[{step - 1}]")
        smaller = model.prune("cost-complexity", alpha=alpha)
        assert page.evaluate(f"{STATE}.leaves().length") == smaller.tree.n_leaves
        assert f"alpha={alpha}" in page.locator(".command").first.text_content()
    assert page.locator("[role=treeitem]").count() == 1
    page.click("text=Reset to the whole tree")
    assert page.evaluate(f"{STATE}.leaves().length") == model.tree.n_leaves
    page.evaluate(f"{STATE}.select(1)")
    page.click("text=Make this a leaf")
    cut = model.prune(nodes=[1])
    assert page.evaluate(f"{STATE}.leaves().length") == cut.tree.n_leaves
    assert command(page, "Python") == "smaller = model.prune(nodes=[1])"
    panel(page, "rows")
    assert page.locator(".panel tbody tr").count() == 100


def slide(page, steps):
    """Prune by steps from the whole tree, at the right, towards the root."""
    slider = page.locator(".slider")
    slider.fill(str(int(slider.get_attribute("max")) - steps))


def command(page, where):
    panel(page, "prune")
    return page.locator(f"[data-command={where}]").text_content()


def test_a_tree_that_was_pruned_on_the_page_comes_back(visit, tmp_path):
    """By slider and by hand: both commands give the leaves that the page has."""
    model = MODELS["penguins"]()
    page = visit(model.explore().html)
    panel(page, "prune")
    slide(page, 2)
    by_alpha = namespace_of(command(page, "Python"), model)
    said = page.evaluate(f"{STATE}.leaves().map((node) => {STATE}.rule(node))")
    assert rules_of(by_alpha) == said
    last = page.evaluate(f"{STATE}.leaves().map((n) => {STATE}.tree.parent[n]).at(-1)")
    page.evaluate(f"{STATE}.select({last})")
    page.click("text=Make this a leaf")
    both = namespace_of(command(page, "Python"), model)
    said = page.evaluate(f"{STATE}.leaves().map((node) => {STATE}.rule(node))")
    assert rules_of(both) == said
    assert both.tree.n_leaves < by_alpha.tree.n_leaves < model.tree.n_leaves
    model.save(tmp_path / "m")
    words = command(page, "Shell").split()[1:]
    places = {"MODEL": str(tmp_path / "m"), "SMALLER": str(tmp_path / "s")}
    assert run([places.get(word, word) for word in words]) == 0
    assert str(spinney.load(tmp_path / "s")) == str(both)


def namespace_of(text, model):
    names = {"model": model}
    exec(text, names)
    return names["smaller"]


def rules_of(model):
    return [rule.text() for rule in model.rules()]


def test_a_histogram_has_its_cut_marked(visit):
    model = MODELS["penguins"]()
    page = visit(model.explore(data=TABLES / "penguins.csv").html)
    figure = page.locator(".histogram")
    assert figure.get_attribute("aria-label").endswith("split point 206.5")
    heights = figure.locator("rect").evaluate_all(
        "all => all.map((e) => Number(e.getAttribute('height')))"
    )
    assert max(heights) > 40
    assert figure.locator("path").count() == 1
    texts = figure.locator("text").all_text_contents()
    assert texts == ["51", "0", "172", "231"]
    bars = figure.locator("g title").all_text_contents()
    assert bars[-1] == "(230.5, 234.5]: Gentoo 1"
    assert "Rows" not in page.locator(".panel-tabs").inner_text()
    panel(page, "about")
    numbers = sum(bool(split_cuts(model.tree, node)) for node in model.tree)
    said = f"Histograms at {numbers} nodes, and errors, on a table of 344 rows."
    assert said in page.locator(".panel-body").inner_text()


def test_a_histogram_where_numbers_are_predicted(visit):
    page = visit(MODELS["cpu"]().explore(data=TABLES / "cpu_prp.csv").html)
    bars = page.locator(".histogram g title").all_text_contents()
    assert all(re.fullmatch(r"\(\S+, \S+\]: \d+ rows, mean .* ± .*", b) for b in bars)
    alone = visit(MODELS["cpu"]().explore().html)
    assert alone.locator(".histogram").count() == 0


def test_dark_is_a_switch_and_follows_the_system(visit):
    html = MODELS["cpu"]().explore().html
    page = visit(html, color_scheme="dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(20, 23, 26)"
    page.click(".theme")
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    assert page.locator("svg.drawing rect").first.get_attribute("fill") == "#ffffff"
    page.click(".theme")
    assert page.evaluate(colour) == "rgb(20, 23, 26)"


def test_pictures_are_saved_as_they_are_seen(melons, tmp_path):
    for kind, start in (("SVG", b"<svg xmlns="), ("PNG", b"\x89PNG")):
        with melons.expect_download() as waiting:
            melons.click(f".actions >> text={kind}")
        path = tmp_path / f"picture.{kind.lower()}"
        waiting.value.save_as(path)
        assert path.read_bytes().startswith(start)
        assert waiting.value.suggested_filename == f"ripe-tree.{kind.lower()}"


def test_a_forest_is_picked_through(visit):
    model = forest()
    page = visit(model.explore().html)
    assert "Variable importance" in page.locator(".panel-body").inner_text()
    first = page.evaluate(f"{STATE}.tree.size")
    page.select_option(".picker select", index=3)
    number = page.evaluate(f"{STATE}.data.trees[3].number")
    assert page.evaluate(f"{STATE}.tree.size") == len(model.trees[number].tree)
    page.click(".scroll.short button >> nth=0")
    assert page.evaluate(f"{STATE}.tree.size") == first
    panel(page, "what-if")
    page.fill("[data-attribute=bill_length_mm]", "39")
    assert "trees agree" in page.locator(".answer").inner_text()


def test_clusters_have_profiles_and_iterations(visit):
    model = clusters()
    rows = {name: cells for name, cells in iris().items() if name != "class"}
    page = visit(model.explore(rows=rows).html)
    assert page.locator(".profile-table thead th").count() == 3
    panel(page, "what-if")
    row = {name: [cells[100]] for name, cells in rows.items()}
    for name, cells in row.items():
        page.fill(f"[data-attribute={name}]", str(cells[0]))
    label = int(model.outputs(row)[0, 0])
    assert page.locator("[data-output]").text_content() == str(label)
    view(page, "iterations")
    page.click("[aria-label='Next iteration']")
    assert "first assignment of every row" in page.locator(".trace").inner_text()
    assert page.locator(".trace circle").count() == 150


def test_two_models_share_a_form(visit):
    one, other = MODELS["penguins"](), MODELS["penguins by CHAID"]()
    page = visit(one.explore(beside=other).html)
    assert page.locator(".explorer").count() == 2
    for at in (0, 1):
        page.click(f".explorer >> nth={at} >> .panel-tabs [data-key=what-if]")
    page.fill("[data-attribute=flipper_length_mm] >> nth=0", "215")
    field = page.locator("[data-attribute=flipper_length_mm]").nth(1)
    assert field.input_value() == "215"
    assert page.locator(".verdict strong").count() == 2


@pytest.mark.parametrize("size", [(1280, 800), (800, 600), (400, 700)])
def test_nothing_sticks_out_sideways(size, visit):
    page = visit(MODELS["penguins"]().explore().html, size=size)
    for key in ("node", "what-if", "prune", "about"):
        panel(page, key)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= size[0]


def test_hostile_names_run_nothing(visit):
    page = visit(hostile_model().explore().html)
    for key in (*VIEWS, "rules", "tree"):
        view(page, key)
    for key in ("what-if", "prune", "about", "node"):
        panel(page, key)
    page.fill("[type=search]", NAMES[0])
    assert page.evaluate("document.querySelectorAll('img, script').length") == 2
    assert page.title().endswith("Spinney")


def test_hostile_names_run_nothing_beside_each_other(visit):
    rng = np.random.default_rng(0)
    table = {name: rng.random(40) for name in NAMES}
    labels = np.array(NAMES[:2], object)[(table[NAMES[3]] > 0.5).astype(int)]
    trees = spinney.ForestClassifier(n_estimators=3, random_state=0)
    groups = spinney.KMeans(n_clusters=2, random_state=0).fit(table)
    page = visit(
        trees.fit(table, labels)
        .explore(rows=table, beside=FittedClusters(groups.clusters_))
        .html
    )
    for key in ("forest", "node", "rows", "about"):
        page.click(f".explorer >> nth=0 >> .panel-tabs [data-key={key}]")
    for key in ("what-if", "rows", "about"):
        page.click(f".explorer >> nth=1 >> .panel-tabs [data-key={key}]")
    page.click("[data-key=iterations]")
    assert page.evaluate("document.querySelectorAll('img, script').length") == 2


def test_on_paper_the_picture_is_whole_and_light(visit):
    page = visit(MODELS["penguins"]().explore().html, color_scheme="dark")
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    picture = page.locator("svg.drawing")
    assert picture.get_attribute("viewBox").startswith("-8 -8 ")
    assert picture.evaluate("e => e.clientHeight") > 300
    assert page.locator("svg.drawing rect").first.get_attribute("fill") == "#ffffff"
    assert not page.locator(".tools").is_visible()
    page.emulate_media(media="screen")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert picture.get_attribute("viewBox") is None


def test_a_notebook_shows_it_in_a_frame(visit):
    frame = MODELS["melons"]().explore().frame
    page = visit(f"<!DOCTYPE html><p data-ready>{frame}</p>")
    inside = page.frame_locator("iframe")
    inside.locator("[data-ready]").wait_for()
    assert inside.locator("svg.drawing text", has_text="texture").count() >= 1
    assert inside.locator("text=PNG").count() == 0


def dragged(page):
    """Return colours on the canvas while the tree is dragged, zoomed out."""
    page.mouse.move(400, 300)
    page.mouse.down()
    page.mouse.move(420, 310, steps=3)
    page.wait_for_function("document.querySelector('.stage.moving') !== null")
    page.wait_for_timeout(50)
    colours = page.evaluate(
        "(() => { const c = document.querySelector('canvas'); const { data } = "
        "c.getContext('2d').getImageData(0, 0, c.width, c.height); const all = []; "
        "for (let at = 0; at < data.length; at += 404) "
        "all.push([data[at], data[at + 1], data[at + 2]]); return all; })()"
    )
    page.mouse.up()
    return colours


def test_five_thousand_nodes(visit):
    model = large_tree(2500)
    page = visit(model.explore().html)
    page.get_by_role("button", name="Expand all").click()
    assert page.evaluate("document.querySelector('canvas').style.display") == ""
    page.click("text=Fit")
    colours = set(map(tuple, dragged(page)))
    assert len(colours) > 5
    page.focus("[role=tree]")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "End", "0", "+"):
        page.keyboard.press(key)
    assert selected(page) == len(model.tree) - 1
    for key in (*VIEWS, "rules"):
        view(page, key)
    assert page.locator("tr[data-node]").count() == 200
    page.get_by_role("button", name="Show 200 more").click()
    assert page.locator("tr[data-node]").count() == 400


@pytest.mark.slow
def test_fifty_thousand_nodes(visit):
    model = large_tree(25_000)
    page = visit(model.explore().html)
    page.get_by_role("button", name="Expand all").click()
    page.fill("[type=search]", "49000")
    assert selected(page) == 49_000
    panel(page, "prune")
    slide(page, 3)
    for key in (*VIEWS, "rules", "tree"):
        view(page, key)


def test_the_node_panel_has_the_formula_of_a_leaf(visit):
    data = {"x": [*range(30)], "y": [2 * x if x < 15 else 90 - x for x in range(30)]}
    model = spinney.grow(data, "y", recipe="m5", numeric=["y"])
    page = visit(model.explore().html)
    for leaf, name in model.tree.model_names.items():
        page.click(f"svg.drawing text[data-node='{leaf}'][font-weight]")
        told = page.locator(".linear-model").text_content()
        assert f"\n{name}: {told}\n" in f"{model.text()}\n"
        terms = page.locator(".terms tbody th").all_inner_texts()
        assert terms == ["x", "constant"]
    page.click("svg.drawing text[data-node='0'][font-weight]")
    assert page.locator(".linear-model").count() == 0


def test_what_if_says_of_a_number_that_it_cannot_be_read(visit):
    days = [datetime.date(2026, 11, day) for day in range(1, 21)]
    rows = [(size, day) for size in (1, 2, 3, 4) for day in days]
    data = {"size": [size for size, _ in rows], "day": [day for _, day in rows]}
    sold = ["yes" if size > 2 and day.day > 9 else "no" for size, day in rows]
    model = spinney.grow({**data, "sold": sold}, "sold", recipe="c4.5")
    page = visit(model.explore().html)
    panel(page, "what-if")
    for name in ("size", "day"):
        field = page.locator(f"[data-attribute={name}]")
        problem = page.locator(f"label:has([data-attribute={name}]) .problem")
        unread = ["1,5", "1.5 cm", "0x10", "Infinity", "20.11.2026", "2026-02-31"]
        for text in unread:
            field.fill(text)
            assert problem.inner_text().endswith("counts as missing"), (name, text)
            assert field.get_attribute("aria-invalid") == "true"
        field.fill("2026-11-09" if name == "day" else " 7.5e0")
        assert problem.inner_text() == ""
        field.fill("?")
        page.click("button:has-text('Clear')")
        assert problem.inner_text() == ""


def test_candidates_say_where_missing_values_go(visit):
    sizes = [1.0, 2.0, None, 3.0, 8.0, 9.0, None, 7.0] * 3
    data = {
        "size": sizes,
        "sold": ["no", "no", "no", "no", "yes", "yes", "no", "yes"] * 3,
    }
    model = spinney.grow(data, "sold", recipe="cart", missing_policy="branch")
    page = visit(model.explore().html)
    asked = page.locator(".candidates tr.chosen small").inner_text()
    assert asked == "≤ 5 or missing"
    assert model.tree.condition(model.tree.nodes[1]) == f"size {asked}"


@pytest.mark.parametrize("width", [420, 1200])
def test_the_arrows_of_a_lesson_cover_nothing(visit, width):
    model = spinney.grow(TABLES / "iris.csv", "class", recipe="cart")
    html = LessonPage.of(tree_slides(model), "iris").html
    page = visit(html, size=(width, 700), ready=".slide.shown")
    for _ in range(3):
        slide, arrows = (
            page.locator(each).bounding_box() for each in (".slide.shown", "nav")
        )
        assert slide["y"] + slide["height"] <= arrows["y"]
        assert arrows["y"] + arrows["height"] <= 700
        page.keyboard.press("ArrowRight")
