"""CART beside rpart 4.1.19: splits, improvements, competitors, surrogates, importance.

What rpart printed is in ``fixtures/rpart``, with the call. Known differences:

- A nominal surrogate must, in rpart, agree in at least two rows and *disagree* in at
  least two; numeric ones must send two rows each way, which is our rule for both. So a
  perfect nominal surrogate is not in its lists, and one that sends a single row one way
  may be.
- Where both branches weigh the same, rpart keeps rows that no surrogate sends at the
  node; ours go to the first branch.
- With two classes or a numeric target rpart tries nominal values in one order only.
  Where branches need a least weight another subset may be better, and ours tries them
  all up to twelve values.
- A split that does not lower the risk by more than ``cp`` is given up, even at cp = 0.
"""

import json
from typing import Any

import pytest
from tests.oracle.rpart import (
    FIXTURES,
    TABLES,
    Pair,
    Printed,
    SplitCondition,
    columns_of,
    grown,
    walk,
)

from spinney.growth.prune.cost_complexity import cost_complexity
from spinney.growth.prune.risk import leaf_risks
from spinney.trees import Tree, cut
from spinney.trees.split import Groups, Surrogate

LEVELS = json.loads((FIXTURES / "levels.json").read_text(encoding="utf-8"))
FULL = {"min_samples_split": 2, "min_samples_leaf": 1}
CAR90_OUT = ("model", "Price", "Rim", "Tires", "Model2")

# The columns in the order of the formula, the target last, and further settings.
STAGEC = ("rpart_stagec", "age eet g2 grade gleason ploidy pgstat")
KYPHOSIS = ("rpart_kyphosis", "Age Number Start Kyphosis")
RELIABILITY = ("rpart_cu_summary", "Price Country Mileage Type Reliability")
SKIPS = ("rpart_solder_balance", "Opening Solder Mask PadType Panel skips")
FITS: dict[str, tuple[tuple[str, str], dict[str, Any]]] = {
    "stagec": (STAGEC, {}),
    "stagec_information": (STAGEC, {"criterion": "gain"}),
    "stagec_full": (STAGEC, FULL),
    "stagec_anova": (STAGEC, {}),
    "kyphosis": (KYPHOSIS, {}),
    "kyphosis_full": (KYPHOSIS, FULL),
    "kyphosis_prior": (KYPHOSIS, {"priors": {"absent": 0.65, "present": 0.35}}),
    "kyphosis_loss": (
        KYPHOSIS,
        {"cost_matrix": {"present": {"absent": 4}, "absent": {"present": 3}}},
    ),
    "cu_summary": (RELIABILITY, {}),
    "cu_summary_information": (RELIABILITY, {"criterion": "gain"}),
    "cu_summary_price": (("rpart_cu_summary", "Mileage Type Country Price"), {}),
    "cu_summary_mileage": (
        ("rpart_cu_summary", "Price Country Reliability Type Mileage"),
        {},
    ),
    "car90": (("rpart_car90", ""), {}),
    "solder_balance": (SKIPS, {"criterion": "poisson"}),
    "solder_balance_anova": (SKIPS, {}),
}


def fitted(name: str) -> tuple[Tree, Printed]:
    """Return our tree and rpart's."""
    (table, names), settings = FITS[name]
    printed = Printed.named(name)
    path = TABLES / f"{table}.csv"
    if not names:  # all columns but some
        header = path.read_text(encoding="utf-8").split("\n", 1)[0].split(",")
        names = " ".join([n for n in header if n not in CAR90_OUT] + ["Price"])
    *attributes, target = names.split()
    known = LEVELS[table.removeprefix("rpart_")]
    ordinal = {n: known["levels"][n] for n in known["ordered"] if n in attributes}
    nominal = {n for n in attributes if n in known["levels"] and n not in ordinal}
    if printed.data["method"] == "class":
        nominal.add(target)
    numeric = {*attributes, target} - nominal - ordinal.keys()
    limits = {"min_samples_split": 20, "min_samples_leaf": 7, **settings}
    tree = grown(
        columns_of(path, names.split()),
        target,
        nominal=sorted(nominal),
        ordinal=ordinal,
        numeric=sorted(numeric),
        **limits,
    )
    return tree, printed


@pytest.fixture(scope="module", params=FITS)
def both(request: pytest.FixtureRequest) -> tuple[Tree, Printed]:
    return fitted(request.param)


def factor_of(tree: Tree, printed: Printed, pair: Pair) -> float:
    """Return what a gain times the weight is multiplied by to be rpart's improve."""
    if printed.data["method"] == "anova":  # a share of the node's sum of squares
        thousand = 1e6 if printed.data["call"].startswith("rpart(Price/1000") else 1.0
        return 1 / (pair.line["dev"] * thousand)
    if "information" in printed.data["call"]:  # natural logarithms
        return 0.6931471805599453
    return 1.0


def test_every_split_of_rpart_is_ours(both):
    tree, printed = both
    pairs = list(walk(tree, printed))
    assert len(pairs) == len(printed.nodes)
    for pair in pairs:
        assert pair.same, pair.number
        assert pair.ours.n_rows == pair.line["n"]
        if "counts" in pair.line and "prior" not in printed.data["call"]:
            assert sorted(pair.ours.weights) == sorted(pair.line["counts"])
        if pair.primary is not None:
            improve = pair.ours.weight * pair.ours.candidate.gain
            improve *= factor_of(tree, printed, pair)
            assert improve == pytest.approx(pair.primary["improve"], rel=1e-8)
            absent = int(pair.ours.candidate.table.missing_rows.sum())
            assert pair.primary["count"] == pair.line["n"] - absent


def test_competitors_are_the_runners_up(both):
    tree, printed = both
    n_compared = 0
    for pair in walk(tree, printed):
        if pair.primary is None:
            continue
        ours = {candidate.attribute: candidate for candidate in pair.ours.runners_up}
        for line in printed.splits(pair.number, "competitor"):
            candidate = ours[tree.schema.position(line["variable"])]
            improve = pair.ours.weight * candidate.gain
            improve *= factor_of(tree, printed, pair)
            if isinstance(candidate.split, Groups):
                assert improve >= line["improve"] * (1 - 1e-8)
            else:
                assert improve == pytest.approx(line["improve"], rel=1e-8)
            n_compared += 1
    assert n_compared


def one_of_its_own(tree: Tree, surrogate: Surrogate, pair: Pair) -> bool:
    """Return whether rpart's rule for nominal surrogates leaves one of ours out."""
    if not isinstance(surrogate.split, Groups):
        return False
    known = pair.ours.weight - pair.ours.candidate.table.missing_size
    # Of one row or none: those of a missing value agree with nothing, too.
    return (1 - surrogate.agreement) * known < 2


def is_lopsided(line: dict[str, Any]) -> bool:
    """Return whether rpart may have kept a nominal one that sends one row one way."""
    return "cut" not in line


def test_surrogates_are_rparts(both):
    tree, printed = both
    for pair in walk(tree, printed):
        if pair.primary is None:
            continue
        theirs = printed.splits(pair.number, "surrogate")
        ours = list(pair.ours.surrogates)
        while ours or theirs:
            if ours and theirs and agree(tree, ours[0], theirs[0], pair):
                ours.pop(0)
                theirs.pop(0)
            elif ours and one_of_its_own(tree, ours[0], pair):
                ours.pop(0)
            else:
                assert theirs, (pair.number, ours[0])
                assert is_lopsided(theirs[0]), (pair.number, theirs[0])
                theirs.pop(0)


def agree(tree: Tree, ours: Surrogate, line: dict[str, Any], pair: Pair) -> bool:
    """Return whether two surrogates are one, the way round and the figures included."""
    found, printed = SplitCondition.of_ours(tree, ours), SplitCondition.of_rpart(line)
    if not found.matches(printed):
        return False
    assert (found.sides[0] != printed.sides[0]) == pair.turned
    assert ours.agreement == pytest.approx(line["improve"], rel=1e-9)
    assert ours.adjusted == pytest.approx(line["adj"], rel=1e-6)
    return True


# Nodes whose lists differ by rpart's rule for nominal surrogates.
DIFFERENT = {"stagec_full": {2, 8, 54}, "stagec_anova": {2}, "cu_summary_price": {1}}


@pytest.mark.parametrize("name", FITS)
def test_few_lists_of_surrogates_differ(name):
    tree, printed = fitted(name)
    different = set()
    for pair in walk(tree, printed):
        if pair.primary is not None:
            theirs = [s["variable"] for s in printed.splits(pair.number, "surrogate")]
            ours = [tree.schema.names[s.attribute] for s in pair.ours.surrogates]
            if ours != theirs:
                different.add(pair.number)
    assert different == DIFFERENT.get(name, set())


@pytest.mark.parametrize("name", sorted(FITS.keys() - DIFFERENT.keys()))
def test_importance_is_rparts(name):
    tree, printed = fitted(name)
    ends = {p.ours.number for p in walk(tree, printed) if p.primary is None}
    pruned = cut(tree, ends)
    assert pruned.n_leaves == printed.data["leaves"]
    found = dict(zip(tree.schema.names, pruned.surrogate_importances, strict=True))
    thousand = 1e6 if name == "car90" else 1.0
    expected = {k: v * thousand for k, v in printed.data["variable_importance"].items()}
    factor = 0.6931471805599453 if "information" in name else 1.0
    found = {name: factor * gained for name, gained in found.items() if gained > 0}
    assert found == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("name", FITS)
def test_pruned_at_cp_the_tree_is_rparts(name):
    tree, printed = fitted(name)
    cp = 0.0 if name.endswith("_full") else 0.01
    if name == "solder_balance":
        pytest.skip("its risk is a deviance, ours squares")
    root = leaf_risks(tree)[0]
    pruned = cost_complexity(tree, alpha=cp * root).tree
    ours = [pair.number for pair in walk(pruned, printed)]
    assert pruned.n_leaves == printed.data["leaves"]
    assert sorted(ours) == sorted(printed.nodes)


@pytest.mark.parametrize("name", ["stagec_full", "kyphosis_full"])
def test_splits_that_rpart_gives_up_change_no_training_error(name):
    tree, printed = fitted(name)
    errors = sum(leaf.weight - leaf.weights.max() for leaf in tree.leaves)
    assert errors == printed.data["training_errors"]
    assert tree.n_leaves >= printed.data["leaves"]


def test_the_figures_of_the_vignette():
    # "An Introduction to Recursive Partitioning", stagec: root and node 3.
    tree, printed = fitted("stagec")
    names = tree.schema.names
    found = [
        (names[s.attribute], round(s.agreement, 3), round(s.adjusted, 3))
        for s in tree.root.surrogates
    ]
    assert found == [
        ("gleason", 0.863, 0.672),
        ("ploidy", 0.644, 0.148),
        ("g2", 0.630, 0.115),
        ("age", 0.589, 0.016),
    ]
    third = next(p.ours for p in walk(tree, printed) if p.number == 3)
    found = [(names[s.attribute], round(s.agreement, 3)) for s in third.surrogates]
    assert found == [("ploidy", 0.962), ("age", 0.608), ("gleason", 0.582)]
    ends = {p.ours.number for p in walk(tree, printed) if p.primary is None}
    gained = cut(tree, ends).surrogate_importances
    percent = dict(zip(names, (100 * gained / gained.sum()).round(), strict=True))
    assert percent == {
        "g2": 30,
        "grade": 28,
        "gleason": 20,
        "ploidy": 13,
        "age": 7,
        "eet": 2,
    }
