"""ID3 beside the trees that Weka's Id3 printed."""

import re
from pathlib import Path

import pytest

import spinney

HERE = Path(__file__).parent
LINE = re.compile(
    r"(?P<indent>(\|  )*)(?P<name>.+?) = (?P<value>.+?)(: (?P<label>.*))?"
)


def printed(text: str) -> dict[tuple[tuple[str, str], ...], str]:
    """Return the label of each path; values without a row have none."""
    leaves, path = {}, []
    for line in text.splitlines():
        found = LINE.fullmatch(line.rstrip())
        if found is None:
            continue
        del path[len(found["indent"]) // 3 :]
        path.append((found["name"], found["value"]))
        if found["label"] not in (None, "null"):
            leaves[tuple(path)] = found["label"]
    return leaves


def grown(tree) -> dict[tuple[tuple[str, str], ...], str]:
    leaves = {}
    for leaf in tree.leaves:
        if leaf.n_rows:
            steps = [tree.condition(node) for node in tree.path(leaf.number)[1:]]
            path = tuple(tuple(step.split(" = ")) for step in steps)
            leaves[path] = str(tree.label(leaf))
    return leaves


@pytest.mark.parametrize("name", ["contact_lenses", "weather_nominal"])
def test_the_same_tree(name):
    fixture = HERE / "fixtures" / "id3" / f"{name}.txt"
    table = spinney.read_table(str(HERE.parent / "tables" / f"{name}.csv"))
    target = table.names[-1]
    model = spinney.grow(
        table, target, recipe="id3", nominal=[n for n in table.names if n != target]
    )
    theirs = printed(fixture.read_text(encoding="utf-8"))
    assert len(theirs) > 4
    assert grown(model.tree) == theirs
