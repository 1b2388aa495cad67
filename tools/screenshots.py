"""Photograph the explorer for README and docs: ``python -m tools.screenshots``.

It takes Debian's Chromium, driven by Playwright. Pictures differ from machine to
machine by their fonts, so no test holds them.
"""

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import spinney

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[1]
TABLES = ROOT / "tests" / "tables"
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
SIZE = (1180, 720)


def what_if(page: Any) -> None:
    """Fill in two fields of the form."""
    page.click(".panel-tabs [data-key=what-if]")
    page.fill("[data-attribute=flipper_length_mm]", "199")
    page.fill("[data-attribute=bill_length_mm]", "44")


def icicle(page: Any) -> None:
    """Show the icicle, and the curves of pruning beside it."""
    page.click(".view-tabs [data-key=icicle]")
    page.click(".panel-tabs [data-key=prune]")
    page.locator(".slider").fill("2")


def iterations(page: Any) -> None:
    """Show the second iteration."""
    page.click(".view-tabs [data-key=iterations]")
    for _ in range(2):
        page.click("[aria-label='Next iteration']")


def nothing(page: Any) -> None:
    """Leave the page as it opens."""
    del page


def shots() -> dict[str, tuple[str, Callable[[Any], None], str]]:
    """Return pages, what is done on each, and whether it is light or dark, by name."""
    penguins = TABLES / "penguins.csv"
    tree = spinney.grow(penguins, "species", recipe="cart")
    iris = TABLES / "iris.csv"
    columns = [name for name in spinney.read_table(iris).names if name != "class"]
    clusters = _clusters(iris, columns)
    return {
        "explorer.png": (tree.explore().html, nothing, "light"),
        "explorer_what_if.png": (tree.explore().html, what_if, "dark"),
        "explorer_icicle.png": (tree.explore(rows=penguins).html, icicle, "light"),
        "explorer_clusters.png": (clusters, iterations, "light"),
    }


def _clusters(path: Path, columns: list[str]) -> str:
    table = spinney.read_table(path)
    cells = {name: table[name].cells for name in columns}
    model = spinney.KMeans(n_clusters=3, random_state=0).fit(cells)
    return model.explore(rows=cells).html


def main() -> None:
    """Take the pictures."""
    program = shutil.which("chromium")
    if program is None:
        sys.exit("no chromium here: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(
            executable_path=program, args=list(ARGUMENTS)
        )
        for name, (html, act, scheme) in shots().items():
            path = Path(folder, "page.html")
            path.write_text(html, encoding="utf-8")
            page = browser.new_page(
                viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme=scheme
            )
            page.goto(path.as_uri())
            page.wait_for_selector("[data-ready]")
            act(page)
            page.wait_for_timeout(300)
            page.screenshot(path=ROOT / "docs" / name)
            page.close()
            print(f"taken: docs/{name}")
        browser.close()


if __name__ == "__main__":
    main()
