"""README and the pages of docs say what really happens."""

import doctest
import re
import shutil
from inspect import signature
from pathlib import Path

import pytest
from tools.pictures import pictures

import spinney

ROOT = Path(__file__).parents[1]
PAGES = (
    "README.md",
    "docs/tables.md",
    "docs/predicting.md",
    "docs/exports.md",
    "docs/growing.md",
    "docs/documents.md",
    "docs/pictures.md",
    "docs/explorer.md",
    "docs/plots.md",
    "docs/lesson.md",
    "docs/pruning.md",
    "docs/buckets.md",
    "docs/model_trees.md",
    "docs/c45.md",
    "docs/criteria.md",
    "docs/explaining.md",
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
    "docs/associations.md",
    "docs/cluster_shell.md",
    "docs/clusters.md",
    "docs/choosing_k.md",
    "docs/mixed_clusters.md",
    "docs/optimal.md",
    "docs/streams.md",
    "docs/from_scikit_learn.md",
    "docs/from_r.md",
)


def test_the_pictures_are_those_of_the_tables():
    """Drawn anew by ``python -m tools.pictures``."""
    for path, text in pictures().items():
        assert path.read_text(encoding="utf-8") == text, path


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


# What parameters there are, of whatever a page for users of other programs names.
CALLABLES = (
    spinney.Recipe,
    spinney.grow,
    spinney.evaluate,
    spinney.TreeClassifier,
    spinney.TreeClassifier.prune,
    spinney.TreeClassifier.fit,
    spinney.ForestClassifier,
    spinney.KMeans,
    spinney.MiniBatchKMeans,
    spinney.TreeClassifier.plot,
    spinney.TreeClassifier.text,
)


@pytest.mark.parametrize("page", ["from_scikit_learn.md", "from_r.md"])
def test_pages_for_others_name_what_is_there(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    known = {name for each in CALLABLES for name in signature(each).parameters}
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) > 40
    for row in rows:
        here = row.rstrip("| ").rpartition(" | ")[2]
        if here.startswith("refused"):
            continue
        for code in re.findall(r"`([^`]+)`", here):
            for name in re.findall(r"\b(\w+)=", code):
                assert name in known, (name, row)
            for name in re.findall(r"(?:model|spinney)\.(\w+)", code):
                assert hasattr(spinney, name) or name in ATTRIBUTES, (name, row)


ATTRIBUTES = {
    *dir(spinney.TreeClassifier),
    *dir(spinney.ForestClassifier),
    "sequence_",
}


def test_picture_is_the_tree_of_the_demo():
    model = spinney.grow(
        ROOT / "examples" / "melons.csv", "ripe", ignore=["id"], recipe="id3"
    )
    assert str(model) in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "page",
    [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))],
    ids=lambda page: page.name,
)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    for link in links:
        assert (page.parent / link).exists(), link
