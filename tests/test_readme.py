"""README and the pages of docs say what really happens."""

import doctest
import re
import shutil
from pathlib import Path

import pytest

import spinney

ROOT = Path(__file__).parents[1]
PAGES = (
    "README.md",
    "docs/tables.md",
    "docs/predicting.md",
    "docs/growing.md",
    "docs/pruning.md",
    "docs/buckets.md",
    "docs/model_trees.md",
    "docs/c45.md",
    "docs/criteria.md",
    "docs/cart.md",
    "docs/evaluation.md",
    "docs/model-files.md",
    "docs/multivariate.md",
    "docs/rulesets.md",
    "docs/id3.md",
    "docs/chaid.md",
    "docs/regression.md",
    "docs/costs.md",
    "docs/auto.md",
    "docs/forests.md",
    "docs/cluster_shell.md",
    "docs/clusters.md",
    "docs/choosing_k.md",
    "docs/mixed_clusters.md",
)


@pytest.mark.parametrize("page", PAGES)
def test_examples_of_a_page(page, tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copytree(ROOT / "tests" / "tables", tmp_path / "tests" / "tables")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, page, None, 0)
    assert len(test.examples) >= 4
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
    assert result.failed == 0


def test_picture_is_the_tree_of_the_demo():
    model = spinney.grow(
        ROOT / "examples" / "melons.csv", "ripe", ignore=["id"], recipe="id3"
    )
    assert str(model) in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "page",
    [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))],
    ids=lambda page: page.name,
)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    for link in links:
        assert (page.parent / link).exists(), link
