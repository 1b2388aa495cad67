"""Pages for everyone: what axe-core finds, where ``make axe`` has installed it."""

import json
import os
from pathlib import Path

import pytest
from tests.extensions.explorer.browser.explorer_models import MODELS, clusters, forest

ROOT = Path(__file__).parents[4]
AXE = Path(
    os.environ.get("SPINNEY_AXE", ROOT / ".venv/axe/node_modules/axe-core/axe.min.js")
)
SERIOUS = ("serious", "critical")
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "best-practice"]}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not AXE.exists(), reason=f"no axe-core at {AXE}: make axe installs it"
    ),
]

PAGES = {
    "tree": lambda: MODELS["penguins"](),
    "numbers": lambda: MODELS["cpu"](),
    "forest": forest,
    "clusters": clusters,
}


def violations(page):
    page.evaluate(AXE.read_text(encoding="utf-8"))
    result = page.evaluate(f"axe.run(document, {json.dumps(RULES)})")
    return [
        (each["id"], each["nodes"][0]["html"][:200], each["nodes"][0]["failureSummary"])
        for each in result["violations"]
        if each["impact"] in SERIOUS
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_nothing_serious_is_found(name, scheme, visit):
    page = visit(PAGES[name]().explore().html, color_scheme=scheme)
    serious = violations(page)
    keys = page.locator("[role=tab]").evaluate_all("all => all.map(e => e.dataset.key)")
    for key in keys:
        page.click(f"[data-key={key}]")
        serious += violations(page)
    assert serious == []
