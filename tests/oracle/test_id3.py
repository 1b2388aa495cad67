"""ID3 beside the trees that Weka's Id3 printed."""

import re
from pathlib import Path

import pytest

import spinney

HERE = Path(__file__).parent
LINE = re.compile(
    r"(?P<indent>(\|  )*)(?P<name>.+?) = (?P<value>.+?)(: (?P<label>.*))?"
)


NULL = "null"  # what Weka says of a value that no row has at the node


def printed(text: str) -> dict[tuple[tuple[str, str], ...], str]:
    """Return the label of each path."""
    leaves, path = {}, []
    for line in text.splitlines():
        found = LINE.fullmatch(line.rstrip())
        if found is None:
            continue
        del path[len(found["indent"]) // 3 :]
        path.append((found["name"], found["value"]))
        if found["label"] is not None:
            leaves[tuple(path)] = found["label"]
    return leaves


def grown(tree) -> dict[tuple[tuple[str, str], ...], str]:
    """Return the label of each path of our tree, as Weka would print it."""
    leaves = {}
    for leaf in tree.leaves:
        steps = [tree.condition(node) for node in tree.path(leaf.number)[1:]]
        path = tuple(tuple(step.split(" = ")) for step in steps)
        leaves[path] = str(tree.label(leaf)) if leaf.n_rows else NULL
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


def test_weka_stops_where_nothing_is_gained_and_we_go_on():
    """docs/id3.md: no attribute alone tells anything of an exclusive or.

    Weka 3.6.14's Id3 makes a leaf where the greatest gain is 0; its paper does not.
    """
    table = {"a": [*"0011"], "b": [*"0101"], "y": [*"nyyn"]}
    model = spinney.grow(table, "y", recipe="id3", nominal=["a", "b"])
    assert model.tree.root.candidate.gain == 0
    assert model.score(table) == 1
    stopped = spinney.grow(table, "y", recipe="id3", nominal=["a", "b"], min_gain=1e-9)
    assert stopped.tree.n_leaves == 1
