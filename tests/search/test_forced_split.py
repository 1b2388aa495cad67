"""Splits that a user has written: counted as those that are sought, or refused."""

from dataclasses import replace

import duckdb
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.helpers.fuzz import examples
from tests.helpers.strategies import Rows, recipes, tables
from tests.sources.comparing import arrow_of, assert_same_tree

import spinney
from spinney.errors import ParameterError
from spinney.growth.growth_options import Options
from spinney.growth.plain.learner import grow_tree
from spinney.models.prune import forced_paths
from spinney.recipes import Recipe
from spinney.trees import Candidate, Groups, SplitCondition, Threshold, Tree

TABLE = {
    "width": [5.2, 6.7, 7.2, 6.1, 4.1, 5.0],
    "color": ["red", "green", "red", "blue", "green", "blue"],
    "size": ["small", "large", "medium", "small", "medium", "large"],
    "y": ["l", "l", "o", "o", "l", "o"],
}
ORDER = {"ordinal": {"size": ["small", "medium", "large"]}}


def question_of(found: Candidate) -> SplitCondition:
    if isinstance(found.split, Threshold):
        return SplitCondition(found.attribute, found.split.threshold)
    return SplitCondition(found.attribute, codes=found.split.groups[0])


def stump(rows: Rows, recipe: Recipe, **options: object) -> Tree:
    free = replace(recipe, max_depth=1, max_leaves=None, min_gain=0.0)
    return grow_tree(rows.source, free, Options(**options))


@given(rows=tables(), recipe=recipes(), data=st.data())
@settings(max_examples=examples(60), deadline=None)
def test_what_is_written_as_it_was_found_is_what_was_found(rows, recipe, data):
    # No correction and no limit on cuts: these belong to the search.
    missing = data.draw(
        st.sampled_from((recipe.missing_policy, recipe.missing_policy, "mean"))
    )
    recipe = replace(
        recipe, mdl_correction=False, min_cut_share=0.0, missing_policy=missing
    )
    if missing == "mean":
        # A cut at an observed value may have the mean of all rows on its other side.
        recipe = replace(recipe, thresholds="midpoint")
    root = stump(rows, recipe).root
    asked = [
        each
        for each in root.candidates
        if each.split.n_branches == 2
        and not (isinstance(each.split, Threshold) and np.isinf(each.split.threshold))
        and not (isinstance(each.split, Groups) and () in each.split.groups)
    ]
    assume(asked)
    found = data.draw(st.sampled_from(asked))
    sides = found.split.branch_of(found.table.values)
    assume(len(set(sides.tolist())) == 2)  # else it tells what is missing
    if isinstance(found.split, Groups) and found.table.missing_rows.any():
        # Missing as a value of its own stays with those that are not named.
        assume(recipe.missing_policy != "own-category" or found.split.missing == 1)
    tree = stump(rows, recipe, forced={(): question_of(found)})
    written = tree.root.candidate
    assert tree.root.forced
    assert written.given
    assert not found.given
    assert written.gain == pytest.approx(found.gain, abs=1e-12)
    assert written.merit == pytest.approx(found.merit, abs=1e-9)
    assert written.split.shares == pytest.approx(found.split.shares)
    assert written.split.missing == found.split.missing
    np.testing.assert_allclose(written.branches.weights, found.branches.weights)
    competitors = [each for each in tree.root.candidates if not each.given]
    assert [each.split for each in competitors] == [
        each.split for each in root.candidates
    ]


@pytest.mark.parametrize(
    ("asked", "branches"),
    [
        ("width > 6.5", ["width ≤ 6.5", "width > 6.5"]),
        ("width <= 6.5", ["width ≤ 6.5", "width > 6.5"]),
        ("color in {red, blue}", ["color ∈ {red, blue}", "color = green"]),
        ("color != red", ["color ∈ {green, blue}", "color = red"]),
        ("size <= small", ["size < medium", "size ≥ medium"]),
        ("size = medium", ["size = medium", "size ∈ {small, large}"]),
    ],
)
def test_a_question_is_asked_in_every_form_and_everywhere(asked, branches, tmp_path):
    options = {"recipe": "c4.5", "pruning": "none", **ORDER, "min_samples_leaf": 1}
    model = spinney.grow(TABLE, "y", forced_splits={(): asked}, **options)
    tree = model.tree
    named = {"red", "blue"} if "red, blue" in asked else set()
    texts = [tree.condition(tree.nodes[child]) for child in tree.root.children]
    if named:  # in the order of the table's values
        assert {"color ∈ {blue, red}", "color ∈ {red, blue}"} & set(texts)
    else:
        assert {t.replace("green, blue", "blue, green") for t in texts} == {
            t.replace("green, blue", "blue, green") for t in branches
        }
    assert "forced by the user; without it," in model.explain(node=0).why
    assert model.rules()
    model.save(tmp_path / "m.spinney")
    loaded = spinney.load(tmp_path / "m.spinney")
    assert loaded.export("json") == model.export("json")
    assert '"given": true' in model.export("json")
    assert str(loaded.explain(node=0)) == str(model.explain(node=0))
    with duckdb.connect() as connection:
        relation = connection.from_arrow(arrow_of(TABLE))
        counted = spinney.grow(
            relation, "y", connection=connection, forced_splits={(): asked}, **options
        )
        assert_same_tree(counted.tree, tree, whole=True)


@pytest.mark.parametrize(
    ("forced", "message"),
    [
        ({(): "width > 7.2"}, "between 4.1 and 7.2: use another"),
        ({(): "width <= 4"}, "'width' leaves one branch without rows"),
        ({(): "color in {red, green, blue}"}, "without rows: the rows there have"),
        ({("color = red",): "color = red"}, "the rows there have red"),
        ({(): "size >= small"}, "one branch without rows"),
    ],
)
def test_a_question_that_divides_nothing_is_refused(forced, message):
    forced = {(): "color = red", **forced}
    with pytest.raises(ParameterError) as refused:
        spinney.grow(
            TABLE, "y", recipe="cart", pruning="none", forced_splits=forced, **ORDER
        )
    assert message in str(refused.value)


def test_limits_and_buckets_are_kept():
    with pytest.raises(ParameterError, match="branch of weight 1, and a branch needs"):
        spinney.grow(TABLE, "y", recipe="c4.5", forced_splits={(): "width > 7"})
    with pytest.raises(ParameterError, match="'width' is in buckets"):
        spinney.grow(
            TABLE,
            "y",
            recipe="id3",
            buckets="equal-width",
            forced_splits={(): "width > 7"},
        )


@pytest.mark.parametrize(("typical", "branch"), [(9.0, 1), (3.0, 0)])
def test_a_missing_value_is_the_mean_of_all_rows_where_the_policy_says_so(
    typical, branch
):
    # The mean of x is 5.4, or 4.2: beyond the cut, or not.
    table = {"x": [1.0, 2.0, 6.0, 9.0, typical], "y": list("aabab")}
    model = spinney.grow(
        table,
        "y",
        recipe="cart",
        missing_policy="mean",
        forced_splits={(): "x > 5"},
        max_depth=1,
    )
    assert model.tree.root.split.missing == int(np.mean(table["x"]) > 5) == branch


def test_nothing_is_taken_off_the_gain_of_a_written_cut():
    # Quinlan's correction pays for a choice among cuts, and there was none.
    recipe = Recipe.named("c4.5").changed(min_samples_leaf=1, pruning="none")
    model = spinney.grow(TABLE, "y", recipe=recipe, forced_splits={(): "width > 7"})
    written, sought = [c for c in model.tree.root.candidates if c.attribute == 0]
    free = spinney.grow(
        TABLE,
        "y",
        recipe=recipe.changed(mdl_correction=False),
        forced_splits={(): "width"},
    )
    cut_off = spinney.grow(TABLE, "y", recipe=recipe, forced_splits={(): "width"})
    assert written.gain > 0
    assert (
        free.tree.root.candidate.gain > sought.gain == cut_off.tree.root.candidate.gain
    )
    assert model.explain(node=0).candidates[0].correction == 0


def test_values_that_no_row_has_at_the_node_go_where_they_were_written():
    forced = {(): "size = small", ("size ∈ {medium, large}",): "color in {red, blue}"}
    model = spinney.grow(
        TABLE, "y", recipe="cart", pruning="none", forced_splits=forced, **ORDER
    )
    below = next(n for n in model.tree if n.forced and n.depth == 1)
    names = model.tree.schema.attributes[1].values
    groups = [{names[code] for code in g} for g in below.candidate.split.groups]
    assert groups == [{"red", "blue"}, {"green"}]


def test_folds_ask_what_was_written():
    # Growing on fewer rows, cost-complexity pruning asks the same question.
    table = {name: cells * 8 for name, cells in TABLE.items()}
    model = spinney.grow(
        table,
        "y",
        recipe="cart",
        pruning="none",
        forced_splits={(): "width > 6.5"},
        **ORDER,
    )
    assert forced_paths(model.tree) == {(): SplitCondition(0, 6.5)}
    smaller = model.prune("cost-complexity", data=table)
    assert len(smaller.tree) <= len(model.tree)


def test_with_the_rows_a_written_question_is_counted_beside_the_best():
    model = spinney.grow(
        TABLE, "y", recipe="id3", forced_splits={(): "width > 6.5"}, **ORDER
    )
    kept, counted = model.explain(0), model.explain(0, data=TABLE)
    assert [(c.attribute, c.given) for c in counted.candidates] == [
        (c.attribute, c.given) for c in kept.candidates
    ]
    assert counted.why == kept.why
