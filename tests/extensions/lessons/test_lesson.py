"""Lessons: every figure is one of the model's, and no name is ever markup."""

import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import TABLES

import spinney
from spinney.cli import run
from spinney.errors import SpinneyWarning
from spinney.extensions.clustering import explain_k_means
from spinney.extensions.clustering.cluster_lesson import cluster_slides
from spinney.extensions.lessons import LessonPage, tree_slides
from spinney.extensions.lessons.tree_lesson import MAX_SPLITS

MELONS = TABLES / "watermelon_2.0.csv"


@pytest.fixture(scope="module")
def melons():
    return spinney.grow(MELONS, "ripe", ignore=["id"], recipe="id3")


def words(slide):
    """Return what a slide says, without markup and without its picture."""
    text = "".join(slide.parts)
    text = re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", " ", text))


def flat(text):
    return re.sub(r"\s+", " ", text)


def test_000_the_lesson_of_the_watermelons(melons):
    page = melons.lesson(MELONS)
    titles = [slide.title for slide in page.slides]
    assert titles[:4] == [
        "The training set for ripe",
        "The root: candidate splits",
        "The root: best split",
        "texture = clear: candidate splits",
    ]
    assert titles[-1] == "The tree and its IF-THEN rules"
    inner = [node for node in melons.tree.nodes if not node.is_leaf]
    assert len(titles) == 2 + 2 * len(inner)
    first, candidates, best = map(words, page.slides[:3])
    assert "entropy (expected information) = −(9/17 · log₂ 9/17 + " in first
    assert "8/17 · log₂ 8/17) = 0.998" in first
    assert "= 0.381" in candidates
    # Fig. 4.2: the rows in each child.
    assert "1, 2, 3, 4, 5, 6, 8, 10, 15" in flat(best)
    assert "7, 9, 13, 14, 17" in flat(best)
    assert "11, 12, 16" in flat(best)


def test_every_line_of_arithmetic_is_one_that_explain_prints(melons):
    page = melons.lesson(MELONS)
    numbers = [node.number for node in melons.tree.nodes if not node.is_leaf]
    for number, slide in zip(numbers, page.slides[1::2], strict=False):
        printed = flat(str(melons.explain(node=number)))
        lines = re.findall(r"<p>((?:gain|split)[^<]*)</p>", "".join(slide.parts))
        assert lines
        for line in lines:
            assert flat(unescape(line)) in printed


def test_rows_that_are_divided_have_their_weights():
    path = TABLES / "watermelon_2.0a.csv"
    model = spinney.grow(path, "ripe", ignore=["id"], recipe="id3")
    best = flat(words(model.lesson(path).slides[2]))
    assert "8 (× 0.467), 10 (× 0.467)" in best  # 7/15 of each go to clear
    assert "8 (× 0.2), 10 (× 0.2)" in best


def test_without_rows_there_are_counts_only(melons):
    slides = tree_slides(melons)
    assert "row numbers" not in words(slides[2])
    assert melons.export("lesson") == melons.lesson().html


def test_000_pruning_by_validation_rows():
    train, valid = (TABLES / f"watermelon_2.0_{n}.csv" for n in ("train", "valid"))
    full = spinney.grow(train, "ripe", ignore=["id"], recipe="id3", ties=["umbilicus"])
    pruned = full.prune("reduced-error", validation=valid)
    slides = full.lesson(train, pruned=pruned).slides
    assert slides[-2].title == "Pruning"
    assert "0.4286 0.5714 0 1 pruned color = dark" in flat(words(slides[-2]))
    assert str(len(pruned.rules())) == str("".join(slides[-1].parts).count("<li>"))


def test_numbers_and_large_trees():
    path = TABLES / "cpu_prp.csv"
    model = spinney.grow(path, "class", recipe="cart", pruning="none")
    slides = model.lesson(path).slides
    assert len(slides) == 2 * MAX_SPLITS + 3
    assert slides[-2].title == "Further splits"
    assert "mean" in words(slides[0])


def test_a_tree_that_asks_nothing():
    rows = {"a": [1, 1], "b": ["x", "y"]}
    slides = spinney.grow(rows, "b", recipe="id3").lesson(rows).slides
    assert [slide.title for slide in slides] == [
        "The training set for b",
        "The tree and its IF-THEN rules",
    ]


HOSTILE = "</script><img src=x onerror=alert(1)>&'\""


def test_no_name_is_markup():
    rows = {HOSTILE: [1, 2, 3, 4], "b": [HOSTILE, HOSTILE, "c", "d"]}
    page = spinney.grow(rows, "b", recipe="id3").lesson(rows).html
    assert "<img" not in page
    assert page.count("</script>") == 1
    assert "&lt;img" in page


def test_the_page_names_its_script_and_styles(melons):
    html = melons.lesson().html
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)[1]
    assert "default-src &#x27;none&#x27;" in policy or "default-src 'none'" in policy
    assert policy.count("sha256-") == 3  # the script, its styles, those of pictures
    assert "://" not in html.replace("http://www.w3.org/2000/svg", "")
    assert " style=" not in html


def test_001_the_lesson_of_the_five_entities():
    five = np.array([[1, 1], [1.5, 2], [3, 4], [5, 7], [3.5, 5]])
    trace = explain_k_means(five, five[[1, 3]], names=["attr1", "attr2"])
    slides = cluster_slides(trace)
    assert [slide.title for slide in slides] == [
        "Initial centroids",
        "Iteration 1: assign",
        "Iteration 1: update",
        "Iteration 2: assign",
        "Iteration 2: update",
        "The clusters",
    ]
    assert "1 1 1 1.12 7.21 0" in flat(words(slides[1]))
    assert "3 3 4 2.50 3.61 0" in flat(words(slides[1]))
    assert "1.8333 2.3333" in flat(words(slides[2]))
    assert "Converged after 2 iterations" in words(slides[-1])
    assert "<svg" in LessonPage.of(slides, "k-means").html
    three = explain_k_means(np.eye(3), np.eye(3)[:2])
    assert "<svg" not in "".join(cluster_slides(three)[0].parts)


def test_from_the_shell(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    given = [str(MELONS), "--target", "ripe", "--ignore", "id"]
    assert run(["lesson", *given]) == 0
    assert "12 slides" in capfd.readouterr().err
    assert Path("watermelon_2.0_lesson.html").exists()
    assert run(["lesson", *given]) == 2
    assert "--force" in capfd.readouterr().err
    assert run(["lesson", *given, "--recipe", "cart", "-o", "cart.html"]) == 0
    five = str(TABLES / "kmeans_five.csv")
    clusters = ["lesson", five, "--columns", "attr1,attr2", "-k", "2"]
    assert run([*clusters, "-o", "k.html"]) == 0
    train, valid = (str(TABLES / f"watermelon_2.0_{n}.csv") for n in ("train", "valid"))
    pruning = ["--prune", "reduced-error", "--validation", valid, "-o", "p.html"]
    arguments = ["lesson", train, "--target", "ripe", "--ignore", "id", *pruning]
    assert run(arguments) == 0
    assert "Pruning" in Path("p.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ("", "--target COLUMN"),
        ("--target ripe -k 2", "--target COLUMN"),
        ("--target ripe --columns density", "-k NUMBER"),
        ("--target ripe --seed 7", "--seed 7 needs -k NUMBER"),
        ("-k 2 --recipe cart", "--target COLUMN"),
        ("-k 2 --max-leaves 3", "--max-leaves 3 needs --target"),
        ("-k 2 --missing-policy drop", "--missing-policy drop needs"),
        ("-k 2 --min-samples-leaf 4", "--min-samples-leaf 4.0 needs"),
        ("-k 2 --set min_gain=0", "--set min_gain=0 needs --target"),
        ("-k 2", "--columns A,B"),
        ("--target ripe -o lesson.txt", ".html"),
        ("--target ripe -o - --open", "exclude each other"),
    ],
)
def test_what_the_shell_refuses(tmp_path, monkeypatch, capfd, arguments, answer):
    monkeypatch.chdir(tmp_path)
    assert run(["lesson", str(MELONS), *arguments.split()]) == 2
    assert answer in capfd.readouterr().err
    assert not list(tmp_path.iterdir())


def test_rows_without_a_target_are_left_out_and_others_keep_their_numbers():
    table = {"size": [1, 2, 3, 4, 5, 6], "sold": ["no", None, "no", "yes", None, "yes"]}
    with pytest.warns(SpinneyWarning, match="is missing in 2 of 6 rows"):
        model = spinney.grow(table, "sold", recipe="id3")
    with pytest.warns(SpinneyWarning, match="is missing in 2 of 6 rows"):
        page = model.lesson(table)
    first, _, best, _ = map(words, page.slides)
    assert re.findall(r"(\d) +(\d) +(no|yes)", first) == [
        ("1", "1", "no"),
        ("3", "3", "no"),
        ("4", "4", "yes"),
        ("6", "6", "yes"),
    ]
    assert "1, 3" in flat(best)
    assert "4, 6" in flat(best)
