"""KPrototypes beside the package kmodes; fixtures/README.md says how it was run."""

import json
from pathlib import Path

import pytest

from spinney import KPrototypes

TOLD = json.loads(
    (Path(__file__).parent / "fixtures" / "kmodes" / "kmodes.json").read_text("utf-8")
)
ROWS = TOLD["rows"]


def values(prototypes):
    return [[float(x), float(y), *rest] for x, y, *rest in prototypes]


def assert_same(found, expected):
    for own, other in zip(found, expected, strict=True):
        assert list(own[2:]) == other[2:]
        assert own[0] == pytest.approx(other[0], rel=1e-12)
        assert own[1] == pytest.approx(other[1], rel=1e-12)


@pytest.mark.parametrize("name", ["batches", "weighted"])
def test_every_iteration(name):
    """From the first four rows: prototypes and cost after each iteration."""
    weights = TOLD["weights"] if name == "weighted" else None
    for n, step in enumerate(TOLD[name], start=1):
        model = KPrototypes(4, init=ROWS[:4], gamma=1.5, max_iter=n)
        model.fit(ROWS, sample_weight=weights)
        assert_same(model.cluster_centers_, values(step["prototypes"]))
        assert model.inertia_ == pytest.approx(step["cost"], rel=1e-12)


def test_gamma():
    assert KPrototypes(4).fit(ROWS).gamma_ == pytest.approx(TOLD["online"]["gamma"])


def test_where_the_package_ends_nothing_moves():
    """It moves prototypes row by row, so its way is another; its end is one of ours."""
    end = TOLD["online"]
    model = KPrototypes(4, init=values(end["prototypes"])).fit(ROWS)
    assert model.labels_.tolist() == end["labels"]
    assert model.cost_ == pytest.approx(end["cost"], rel=1e-12)
    assert_same(model.cluster_centers_, values(end["prototypes"]))


def test_modes():
    nominal = [row[2:] for row in ROWS[:64]]
    model = KPrototypes(4, init=nominal[:4]).fit(nominal)
    assert model.labels_.tolist() == TOLD["modes"]["labels"]
    assert model.cluster_centers_.tolist() == TOLD["modes"]["prototypes"]
    assert model.cost_ == TOLD["modes"]["cost"]


def test_start_by_densities():
    texts = [[str(code) for code in row] for row in TOLD["encoded"]]
    rows = [[str(code) for code in row] for row in TOLD["cao"]]
    one = KPrototypes(4, init="cao").fit(texts)
    two = KPrototypes(4, init=rows).fit(texts)
    assert one.cluster_centers_.tolist() == two.cluster_centers_.tolist()
    assert one.n_iter_ == two.n_iter_
    assert one.labels_.tolist() == two.labels_.tolist()
