"""How soon an explorer page is there, and how smoothly it moves.

``python -m benchmarks.explorer [--leaves 2500 25000]`` grows trees of random labels,
writes their pages and opens them in Debian's Chromium by Playwright: the size of the
page, the time to the first paint and to the first picture of the tree, that of opening
every node, and the frames a second while the tree is dragged, with the nodes that fit
open and with all of them open.
"""

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import spinney

__all__ = ["main"]

ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
FRAMES = """
() => new Promise((done) => {
  const times = [];
  const tick = (now) => {
    times.push(now);
    if (now - times[0] < 1500) requestAnimationFrame(tick);
    else done(times);
  };
  requestAnimationFrame(tick);
})
"""
# Moves the pointer from inside the page, a step a frame, as a hand would.
DRAG = """
() => {
  const stage = document.querySelector(".stage");
  const send = (type, x) => stage.dispatchEvent(new PointerEvent(type, {
    bubbles: true, clientX: x, clientY: 300, pointerId: 1, isPrimary: true, button: 0,
  }));
  stage.setPointerCapture = () => {};
  send("pointerdown", 400);
  let step = 0;
  const move = () => {
    send("pointermove", 400 + 250 * Math.sin(step / 25));
    step += 1;
    if (step < 120) requestAnimationFrame(move);
    else send("pointerup", 400);
  };
  requestAnimationFrame(move);
}
"""


def grown(leaves: int) -> Any:
    """Return a tree of many leaves, over labels of chance."""
    rng = np.random.default_rng(7)
    n = 3 * leaves
    table: dict[str, Any] = {f"x{i}": rng.random(n).round(5) for i in range(6)}
    table["hue"] = rng.choice(["red", "green", "blue"], n)
    table["answer"] = rng.choice(["no", "yes", "maybe"], n, p=[0.5, 0.3, 0.2])
    recipe = spinney.Recipe.named("cart").changed(max_leaves=leaves, pruning="none")
    return spinney.grow(table, "answer", recipe=recipe)


def frames_per_second(page: Any) -> float:
    """Return the frames a second while the tree is dragged."""
    page.evaluate(DRAG)
    times = page.evaluate(FRAMES)
    return 1000 * (len(times) - 1) / (times[-1] - times[0])


def measure(browser: Any, leaves: int) -> None:
    """Print what is measured of a page."""
    model = grown(leaves)
    start = time.perf_counter()
    html = model.explore().html
    made = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.html")
        path.write_text(html, encoding="utf-8")
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(path.as_uri())
        page.wait_for_selector("[data-ready]")
        ready = page.evaluate(
            "performance.getEntriesByName('first-paint')[0]?.startTime ?? NaN"
        )
        drawn = page.evaluate("Number(document.getElementById('explorer').dataset.ms)")
        some = frames_per_second(page)
        opened = page.evaluate(
            "(() => { const start = performance.now(); [...document.querySelectorAll"
            "('.tools button')].find((b) => b.textContent === 'Expand all').click(); "
            "return performance.now() - start; })()"
        )
        everything = frames_per_second(page)
        page.click("text=Fit")
        far = frames_per_second(page)
        page.close()
    print(
        f"{len(model.tree):>7} nodes  {len(html) / 1e6:6.2f} MB  made in {made:5.2f} s"
        f"  first paint {ready:5.0f} ms  tree drawn {drawn:5.0f} ms  all opened in "
        f"{opened:5.0f} ms  frames a second: {some:.0f}, all open {everything:.0f}, "
        f"zoomed out {far:.0f}"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leaves", type=int, nargs="+", default=[100, 2500, 25000])
    arguments = parser.parse_args()
    program = shutil.which("chromium")
    if program is None:
        sys.exit("no chromium here: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=list(ARGUMENTS)
        )
        for leaves in arguments.leaves:
            measure(browser, leaves)
        browser.close()


if __name__ == "__main__":
    main()
