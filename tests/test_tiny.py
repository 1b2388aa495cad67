"""The tour: grow, print, read the rules, explain, predict, save, load, export."""

import json
from pathlib import Path

import pytest

import spinney

NETBALL = Path(__file__).parent / "tables" / "netball.csv"

TREE = """\
play  (14: No 5 (36 %), Yes 9 (64 %))
├── outlook = Overcast → Yes  (4: Yes 4 (100 %))
├── outlook = Rain  (5: No 2 (40 %), Yes 3 (60 %))
│   ├── wind = Strong → No  (2: No 2 (100 %))
│   └── wind = Weak → Yes  (3: Yes 3 (100 %))
└── outlook = Sunny  (5: No 3 (60 %), Yes 2 (40 %))
    ├── humidity = High → No  (3: No 3 (100 %))
    └── humidity = Normal → Yes  (2: Yes 2 (100 %))"""


def test_the_tour(tmp_path):
    model = spinney.grow(NETBALL, "play", recipe="id3", ignore=["day"])
    assert str(model) == TREE
    assert (model.tree.height, model.tree.n_leaves) == (2, 5)

    rules = model.rules()
    assert str(rules[1]) == (
        "IF outlook = Rain AND wind = Strong THEN play = No  "
        "(support 2, confidence 100.0 %)"
    )

    told = model.explain(node=0)
    assert told.chosen == "outlook"
    assert {c.attribute: round(c.gain, 3) for c in told.candidates} == {
        "outlook": 0.247,
        "temperature": 0.029,
        "humidity": 0.152,
        "wind": 0.048,
    }
    assert "splitting attribute: outlook: the greatest information gain, 0.247" in str(
        told
    )

    day = {"outlook": ["Sunny", None], "humidity": ["High"] * 2, "wind": ["Weak"] * 2}
    assert model.predict(day).tolist() == ["No", "Yes"]
    # Of 14 days 4 are overcast, 5 rainy and 5 sunny.
    assert model.predict_proba(day)[1].tolist() == pytest.approx([5 / 14, 9 / 14])
    path = model.explain(row={name: cells[:1] for name, cells in day.items()})
    assert [step.condition for step in path.steps] == [
        "",
        "outlook = Sunny",
        "humidity = High",
    ]
    assert model.score(NETBALL) == 1.0

    model.save(tmp_path / "netball.spinney")
    loaded = spinney.load(tmp_path / "netball.spinney")
    assert str(loaded) == TREE
    assert loaded.predict(day).tolist() == ["No", "Yes"]

    assert loaded.export("text") == TREE + "\n"
    assert loaded.export("rules") == str(rules) + "\n"
    assert len(json.loads(loaded.export("json"))["nodes"]) == 8
