"""What the shell refuses by name; and pruning by costs."""

import json

import pytest


@pytest.mark.parametrize(
    "recipe, remedy",
    [
        ("cart:max_depth=1,max_depth=2", "max_depth is set twice"),
        ("cart:max-depth=1,max_depth=2", "max_depth is set twice"),
        (
            "cart:missing_policy=branch,missing-policy=branch",
            "missing_policy is set twice",
        ),
        ("cart:recipe=id3", "names a recipe twice: keep 'cart' before the colon"),
    ],
)
def test_settings_of_a_recipe_are_set_once(folder, tool, recipe, remedy):
    (folder / "rows.csv").write_text("c,y\nu,no\nv,yes\n", encoding="utf-8")
    outcome = tool("evaluate", "rows.csv", "--target", "y", "--recipe", recipe)
    assert outcome.code == 2
    assert remedy in outcome.err


def test_pruning_by_costs(folder, works):
    rows = "c,y\nu,no\nu,no\nu,no\nv,no\nv,yes\nv,yes\nv,yes\n"
    (folder / "rows.csv").write_text(rows, encoding="utf-8")
    costs = "actual,predicted,cost\nyes,no,1\nno,yes,9\n"
    (folder / "costs.csv").write_text(costs, encoding="utf-8")
    works("grow", "rows.csv", "--target", "y", "--recipe", "id3", "-o", "m.spinney")
    command = ["prune", "m.spinney", "--pruning", "cost-complexity", "--alpha", "0"]

    def leaves(*options):
        return json.loads(works(*command, "--json", *options))["leaves"]["after"]

    assert leaves() == 2
    # The label of v is yes, which costs 9 · 1; that of the root is no, 1 · 3.
    assert leaves("--cost-matrix", "costs.csv") == 1


NUMERIC = "x,y\n" + "".join(f"{n},{n * n / 7}\n" for n in range(30))


@pytest.mark.parametrize(
    "options, said",
    [
        (
            "--set alpha_split=0.1",
            "--set alpha_split=0.1 needs a criterion that is a test",
        ),
        ("--set exhaustive=true", "--set exhaustive=true needs --set grouping=merge"),
        (
            "--recipe id3 --set confidence=0.1",
            "--set confidence=0.1 needs --pruning 'error-based', and recipe 'id3' has "
            "--pruning 'none'",
        ),
        (
            "--recipe chaid --set exhaustive=true --set alpha_merge=0.1",
            "--set alpha_merge=0.1 needs merging that is not exhaustive, and recipe "
            "'chaid' has --set exhaustive=true: --set alpha_merge is the",
        ),
        (
            "--recipe c4.5 --set m=3",
            "--set m=3.0 needs --set probability=m-estimate",
        ),
        (
            "--set surrogates=2",
            "--set surrogates=2 needs --missing-policy 'surrogate'",
        ),
        (
            "--set smoothing=15",
            "--set smoothing=15.0 needs a target that is a number",
        ),
    ],
)
def test_growing_refuses_what_has_no_effect(refused, melons, options, said):
    given = ["grow", melons, "--target", "ripe", "--ignore", "id", "-o", "m.spinney"]
    assert f"error: {said}" in refused(2, *given, *options.split())


@pytest.mark.parametrize(
    "options, said",
    [
        (
            "--set probability=laplace",
            "--set probability=laplace needs a target of classes",
        ),
        (
            "--recipe c4.5 --set confidence=0.1",
            "--set confidence=0.1 needs a target of classes",
        ),
        ("--recipe cart --pruning mdl", "--pruning 'mdl' needs a target of classes"),
        (
            "--set buckets=entropy-mdl",
            "--set buckets=entropy-mdl needs a target of classes, and this one is a "
            "number: the method separates values of different classes; declare the "
            "target nominal, or use --set buckets=equal-frequency",
        ),
    ],
)
@pytest.mark.parametrize("source", ["memory", "duckdb"])
def test_so_does_a_number(refused, write, options, said, source):
    write("n.csv", NUMERIC)
    given = ["grow", "n.csv", "--target", "y", "--engine", source, "-o", "m.spinney"]
    assert f"error: {said}" in refused(2, *given, *options.split())


def test_a_seed_and_what_asks_for_nothing_are_welcome(works, write):
    write("n.csv", NUMERIC)
    given = ("grow", "n.csv", "--target", "y", "--recipe", "c4.5")
    idle = (
        "--random-state",
        "3",
        "--set",
        "raising=false",
        "--set",
        "mdl-correction=false",
    )
    assert works(*given, *idle) == works(*given)


@pytest.mark.parametrize(
    "target, recipe, said",
    [
        ("ripe", "id3:confidence=0.1", "confidence=0.1 needs pruning='error-based'"),
        ("sugar", "c4.5:confidence=0.1", "confidence=0.1 needs a target of classes"),
    ],
)
def test_evaluating_names_the_recipe(refused, melons, target, recipe, said):
    given = ["evaluate", melons, "--target", target, "--ignore", "id", "--folds", "2"]
    line = refused(2, *given, "--recipe", "cart", "--recipe", recipe)
    assert f"error: --recipe '{recipe}': {said}" in line
