"""Photograph the explorer for README and docs: ``python -m tools.screenshots``.

``python -m tools.screenshots --all FOLDER`` photographs every view and panel, of trees,
forests, clusters, two models and a lesson, at 1280, 800 and 390 pixels, light and dark.
It takes Debian's Chromium, driven by Playwright. Pictures differ
from machine to machine by their fonts, so no test holds them.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import spinney

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[1]
TABLES = ROOT / "tests" / "tables"
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
SIZE = (1180, 720)
SIZES = ((1280, 800), (800, 700), (390, 844))
SCHEMES = ("light", "dark")

Act = Callable[[Any], None]
Shot = tuple[str, Act, str]  # a page, what is done on it, and whether it is dark


def what_if(page: Any) -> None:
    """Fill in two fields of the form."""
    page.click(".panel-tabs [data-key=what-if]")
    page.fill("[data-attribute=flipper_length_mm]", "199")
    page.fill("[data-attribute=bill_length_mm]", "44")


def icicle(page: Any) -> None:
    """Show the icicle, and the curves of pruning beside it."""
    page.click(".view-tabs [data-key=icicle]")
    page.click(".panel-tabs [data-key=prune]")
    slider = page.locator(".slider")
    slider.fill(str(int(slider.get_attribute("max")) - 2))


def iterations(page: Any) -> None:
    """Show the second iteration."""
    page.click(".view-tabs [data-key=iterations]")
    for _ in range(2):
        page.click("[aria-label='Next iteration']")


def nothing(page: Any) -> None:
    """Leave the page as it opens."""
    del page


def view(key: str) -> Act:
    """Return what shows a view."""
    return lambda page: page.click(f".view-tabs [data-key={key}]")


def panel(key: str) -> Act:
    """Return what shows a panel."""
    return lambda page: page.click(f".panel-tabs [data-key={key}]")


def slide(page: Any) -> None:
    """Go on to the third slide of a lesson."""
    for _ in range(2):
        page.keyboard.press("ArrowRight")


def every_shot() -> dict[str, tuple[str, Act]]:
    """Return pages and what is done on each, by name: all that there is to see."""
    penguins, iris = TABLES / "penguins.csv", TABLES / "iris.csv"
    cart = spinney.grow(penguins, "species", recipe="cart")
    chaid = spinney.grow(penguins, "species", recipe="chaid")
    numbers = spinney.grow(TABLES / "cpu_prp.csv", "class", recipe="cart")
    melons, ignore = TABLES / "watermelon_3.0.csv", ["id"]
    taught = spinney.grow(melons, "ripe", ignore=ignore, recipe="id3").lesson(melons)
    forest = spinney.grow_forest(penguins, "species", n_estimators=12)
    columns = [name for name in spinney.read_table(iris).names if name != "class"]
    tree, clusters = cart.explore(rows=penguins).html, _clusters(iris, columns)
    views = ("tree", "list", "icicle", "sunburst", "rules", "leaves")
    large = {f"leaves_{size}": (_large(size), nothing) for size in (140, 426)}
    return {
        **large,
        "classes_20": (_many_classes(), panel("model")),
        "scatter": (clusters, view("scatter")),
        **{key: (tree, view(key)) for key in views},
        **{key: (tree, panel(key)) for key in ("model", "prune", "rows", "about")},
        "what_if": (tree, what_if),
        "numbers": (numbers.explore(data=TABLES / "cpu_prp.csv").html, nothing),
        "intervals": (chaid.explore().html, nothing),
        "forest": (forest.explore().html, nothing),
        "profiles": (clusters, nothing),
        "iterations": (clusters, iterations),
        "two": (cart.explore(beside=chaid).html, nothing),
        "lesson": (taught.html, slide),
    }


def shots() -> dict[str, Shot]:
    """Return pages, what is done on each, and whether it is light or dark, by name."""
    penguins = TABLES / "penguins.csv"
    tree = spinney.grow(penguins, "species", recipe="cart")
    iris = TABLES / "iris.csv"
    columns = [name for name in spinney.read_table(iris).names if name != "class"]
    clusters = _clusters(iris, columns)
    return {
        "explorer.png": (tree.explore(data=penguins).html, nothing, "light"),
        "explorer_what_if.png": (tree.explore().html, what_if, "dark"),
        "explorer_icicle.png": (tree.explore(rows=penguins).html, icicle, "light"),
        "explorer_clusters.png": (clusters, iterations, "light"),
    }


def _large(leaves: int) -> str:
    """Return a tree of many leaves, on labels drawn at random."""
    rng = np.random.default_rng(7)
    table = {f"x{i}": rng.random(3 * leaves).round(5) for i in range(6)}
    labels = rng.choice(["no", "yes", "maybe"], 3 * leaves)
    recipe = spinney.Recipe.named("cart").changed(max_leaves=leaves, pruning="none")
    return spinney.grow({**table, "y": labels}, "y", recipe=recipe).explore().html


def _many_classes() -> str:
    """Return a tree of twenty classes whose long names differ in the middle."""
    rng = np.random.default_rng(5)
    table = {"revenue": rng.random(400), "growth": rng.random(400)}
    code = (table["revenue"] * 5).astype(int) * 4 + (table["growth"] * 4).astype(int)
    names = [f"Customer of region {k:02} with a framework contract" for k in range(20)]
    table["status"] = np.array(names)[code]
    return spinney.grow(table, "status", recipe="cart").explore().html


def _clusters(path: Path, columns: list[str]) -> str:
    table = spinney.read_table(path)
    cells = {name: table[name].cells for name in columns}
    model = spinney.KMeans(n_clusters=3, random_state=0).fit(cells)
    return model.explore(rows=cells).html


def photograph(
    browser: Any, html: str, act: Act, *, scheme: str, size: tuple[int, int], to: Path
) -> None:
    """Open a page, do what is to be done, and take its picture."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.html")
        path.write_text(html, encoding="utf-8")
        page = browser.new_page(
            viewport={"width": size[0], "height": size[1]}, color_scheme=scheme
        )
        page.goto(path.as_uri())
        page.wait_for_load_state()
        act(page)
        page.wait_for_timeout(300)
        page.screenshot(path=to)
        page.close()
    print(f"taken: {to}")


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", type=Path, metavar="FOLDER", help="Of everything.")
    folder = parser.parse_args().all
    program = shutil.which("chromium")
    if program is None:
        sys.exit("no chromium here: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=list(ARGUMENTS)
        )
        if folder is None:
            for name, (html, act, scheme) in shots().items():
                to = ROOT / "docs" / name
                photograph(browser, html, act, scheme=scheme, size=SIZE, to=to)
        else:
            folder.mkdir(parents=True, exist_ok=True)
            for (name, (html, act)), size, scheme in product(
                every_shot().items(), SIZES, SCHEMES
            ):
                to = folder / f"{name}_{size[0]}_{scheme}.png"
                photograph(browser, html, act, scheme=scheme, size=size, to=to)
        browser.close()


if __name__ == "__main__":
    main()
