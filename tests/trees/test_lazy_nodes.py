"""Trees that are made of others: arrays that are cut back, and their nodes."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.alike import filed_as_its_nodes
from tests.helpers.fuzz import examples

import spinney
from spinney.trees import Reason, cut
from spinney.trees.tree_arrays import arrays_of_nodes


def grown(seed: int, **given):
    """Return a tree of numbers, categories and missing cells."""
    random = np.random.default_rng(seed)
    n = int(random.integers(20, 120))
    table = {
        "a": np.where(random.random(n) < 0.1, np.nan, random.integers(0, 9, n)),
        "b": random.choice(["x", "y", "z"], n).tolist(),
        "c": random.random(n),
        "y": random.normal(size=n)
        if given["recipe"] == "m5"
        else random.choice(["no", "yes", "maybe"], n).tolist(),
    }
    return spinney.grow(table, "y", **given).tree


def as_lists(arrays) -> dict:
    """Return the fields of a tree as lists; NaN is equal to itself."""
    lists = {}
    for name, value in vars(arrays).items():
        if isinstance(value, np.ndarray):
            lists[name] = np.nan_to_num(value.astype(float), nan=-9.5).tolist()
    return lists


@given(
    seed=st.integers(0, 2**32 - 1),
    recipe=st.sampled_from(["cart", "id3", "c4.5", "m5", "chaid"]),
    data=st.data(),
)
@settings(max_examples=examples(40))
def test_a_cut_tree_is_the_tree_of_its_nodes(seed, recipe, data):
    options = {"pruning": "none"} if recipe in ("c4.5", "m5") else {}
    tree = grown(seed, recipe=recipe, **options)
    some = data.draw(st.sets(st.integers(0, len(tree) - 1), max_size=4))
    smaller = cut(tree, some, Reason.PRUNED)
    for _ in range(2):  # a cut tree can be cut again
        made = arrays_of_nodes(list(smaller))
        assert as_lists(made) == as_lists(smaller.arrays)
        assert smaller.nodes.children == [node.children for node in smaller]
        assert smaller.nodes.labels.tolist() == [node.label for node in smaller]
        filed_as_its_nodes(smaller)
        again = data.draw(st.sets(st.integers(0, len(smaller) - 1), max_size=2))
        smaller = cut(smaller, again, Reason.PRUNED)
    for node in smaller:
        if node.parent is not None:
            above = smaller.nodes[node.parent]
            assert above.children[node.branch] == node.number
            assert above.split is not None
