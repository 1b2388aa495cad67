"""The best split of a node, from its count tables."""

from dataclasses import replace

import numpy as np
import pytest
from tests.helpers.strategies import Rows, textbook

from spinney.data.schema import Attribute, Schema, Target
from spinney.errors import ParameterError
from spinney.recipes import RECIPES, Recipe
from spinney.search import attribute_split, node_split
from spinney.search.node_split import Decision, compete
from spinney.search.tree_search import Search
from spinney.sources.base import TableRequest, tables_of
from spinney.trees import Candidate, Reason
from spinney.trees.counts import CountTable
from spinney.trees.split import Groups, Threshold
from spinney.trees.table_batch import TableBatch

ID3, C45 = (RECIPES[name] for name in ("id3", "c4.5"))
CART = RECIPES["cart"].changed(missing_policy="branch")
NUMBER = Attribute("number", "numeric")


def by(recipe: Recipe, **more) -> Search:
    return Search.of(recipe, numeric=False, **more)


def letters(n_values: int) -> Attribute:
    return Attribute("letter", "nominal", tuple("abcdefgh"[:n_values]))


def numbers(weights: list, values: list[float], missing: tuple = ()) -> CountTable:
    table = CountTable.of(weights, missing)
    return CountTable(
        np.array(values, dtype=float),
        table.weights,
        table.rows,
        table.missing,
        table.missing_rows,
    )


def propose(
    search: Search, table: CountTable, attribute: Attribute, index: int
) -> Candidate | None:
    schema = Schema((attribute,), Target("class", ("x", "y")))
    return attribute_split.propose(search, table, schema, index)


def decide(
    search: Search,
    tables: dict[int, CountTable],
    schema: Schema,
    *,
    forced: int | None = None,
) -> Decision:
    stack = TableBatch.of([tables])
    search = search.with_root_tables(stack, schema)
    different = attribute_split.n_distinct_values(stack, search)
    decisions = node_split.decide_level(
        search,
        [attribute_split.best_splits(search, stack, schema)],
        schema,
        totals=np.ones((1, schema.n_classes)),
        max_distinct=np.array([different.max(initial=-1)]),
        forced={} if forced is None else {0: forced},
        paid=lambda _: (),
    )
    (decision,) = decisions.of_nodes({})
    return replace(decision, candidates=tuple(decision.candidates))


def decide_root(
    table: Rows, recipe: Recipe, *, forced: int | None = None, **more
) -> tuple[Decision, str | None]:
    names = table.schema.names
    request = TableRequest(0, tuple(range(len(names))))
    (tables,) = tables_of(table.source, [request], table.schema)
    decision = decide(by(recipe, **more), tables, table.schema, forced=forced)
    if decision.chosen is None:
        return decision, None
    return decision, names[decision.candidates[decision.chosen].attribute]


# Which attribute wins; figures of EXPECTED.md


def test_texture_wins_among_watermelons():
    decision, winner = decide_root(textbook("watermelon_2.0"), ID3)
    assert winner == "texture"
    assert [round(c.merit, 3) for c in decision.candidates] == [
        0.108,
        0.143,
        0.141,
        0.381,
        0.289,
        0.006,
    ]


def test_texture_wins_among_watermelons_with_missing_values():
    decision, winner = decide_root(textbook("watermelon_2.0a"), ID3)
    assert winner == "texture"
    split = decision.candidates[3].split
    assert sorted(split.shares) == pytest.approx([3 / 15, 5 / 15, 7 / 15])
    assert split.missing is None


def test_texture_still_wins_beside_numbers():
    table = textbook("watermelon_3.0", numeric=("density", "sugar"))
    decision, winner = decide_root(table, ID3)
    assert winner == "texture"
    density, sugar = decision.candidates[6:]
    assert (density.split.threshold, round(density.gain, 3)) == (0.3815, 0.262)
    assert (sugar.split.threshold, round(sugar.gain, 3)) == (0.126, 0.349)


def test_a_row_number_deceives_gain_but_not_the_gain_ratio():
    table = textbook("watermelon_2.0", ignore=())
    decision, winner = decide_root(table, ID3)
    assert winner == "id"
    assert round(decision.candidates[0].gain, 3) == 0.998
    for least in (1, 2):
        _, winner = decide_root(table, C45.changed(min_samples_leaf=least))
        assert winner == "texture"


def test_a_tie_of_three_goes_to_the_first_column():
    # 000, texture = clear: root, umbilicus and surface all gain 0.458.
    table = textbook("watermelon_2.0")
    clear = table.schema.attributes[3].values.index("clear")
    rows = [row for row in table.rows if row[0][3] == clear]
    decision, winner = decide_root(Rows(table.schema, rows), ID3)
    gains = {c.attribute: round(c.gain, 3) for c in decision.candidates}
    assert gains == {0: 0.043, 1: 0.458, 2: 0.331, 4: 0.458, 5: 0.458}
    assert winner == "root"


def test_the_user_may_prefer_another_winner_of_a_tie():
    # 000: the book takes umbilicus, although color gains as much.
    table = textbook("watermelon_2.0_train")
    assert decide_root(table, ID3)[1] == "color"
    assert decide_root(table, ID3, preference=(4,))[1] == "umbilicus"
    assert decide_root(table, ID3, preference=(3, 4, 0))[1] == "umbilicus"
    assert decide_root(table, ID3, preference=(3,))[1] == "color"


def test_fruit_ties_at_two_midpoints():
    table = textbook("fruit", numeric=("width", "height"))
    decision, winner = decide_root(table, ID3)
    assert [c.split.threshold for c in decision.candidates] == [5.65, 7.75]
    assert [round(c.gain, 3) for c in decision.candidates] == [0.42, 0.42]
    assert winner == "width"


def test_cart_divides_income_as_the_book_does():
    table = textbook("buys_computer")
    decision, _ = decide_root(table, CART)
    values = table.schema.attributes[1].values
    groups = decision.candidates[1].split.groups
    assert [{values[code] for code in group} for group in groups] == [
        {"high"},
        {"low", "medium"},
    ]
    assert round(0.4592 - decision.candidates[1].gain, 3) == 0.443


def test_merits_that_differ_by_rounding_are_a_tie():
    schema = Schema((letters(2), letters(2)), Target("class", ("x", "y")))
    first = CountTable.of([[1.2, 0.3], [0.4, 0.9]])
    other = CountTable.of([[0.4, 0.9], [1.2 + 1e-13, 0.3]])
    assert decide(by(ID3), {0: first, 1: other}, schema).chosen == 0
    assert decide(by(ID3), {0: other, 1: first}, schema).chosen == 0


# C4.5's average


def candidate(gain: float, merit: float) -> Candidate:
    return Candidate(Threshold(0, 0.5, ()), CountTable.of([[1, 1]]), gain, merit)


def test_only_what_gains_the_average_competes_by_gain_ratio():
    found = [candidate(0.5, 0.1), candidate(0.1, 0.9), candidate(0.3, 0.2)]
    by_ratio = C45.changed(mdl_correction=False)
    assert compete(by(by_ratio, total=9), found, ONE) == [0, 2]  # average 0.3
    assert compete(by(ID3, total=9), found, ONE) == [0, 1, 2]


def test_equal_gains_are_all_average():
    found = [candidate(0.1, 0.1), candidate(0.1 + 1e-16, 0.2), candidate(0.1, 0.3)]
    assert compete(by(C45, total=9), found, ONE) == [0, 1, 2]


def test_a_thousandth_below_the_average_is_average():
    found = [candidate(0.1, 0.1), candidate(0.0985, 0.2), candidate(0.0969, 0.3)]
    assert compete(by(C45, total=9), found, ONE) == [0, 1]


def test_a_threshold_is_chosen_by_gain_and_competes_by_gain_ratio():
    table = numbers([[3, 0], [1, 1], [0, 3]], [0, 1, 2])
    plain = C45.changed(min_samples_leaf=1, mdl_correction=False, thresholds="midpoint")
    found = propose(by(plain), table, NUMBER, 0)
    assert found.split.threshold == 0.5
    assert found.gain == pytest.approx(1 - 5 / 8 * 0.721928, abs=1e-6)
    assert found.merit == pytest.approx(found.gain / 0.954434, abs=1e-6)


# Missing values


def test_fractional_leaves_missing_rows_out_of_the_merit():
    table = CountTable.of([[4, 0], [0, 2]], missing=[1, 1])
    found = propose(by(ID3), table, letters(2), 0)
    assert found.split == Groups(0, ((0,), (1,)), (4 / 6, 2 / 6))
    assert found.gain == pytest.approx(0.75 * 0.918296, abs=1e-6)
    assert found.branches.missing.tolist() == [1, 1]


def test_most_common_counts_missing_rows_at_the_commonest_value():
    recipe = CART.changed(grouping="multiway", missing_policy="most-common")
    table = CountTable.of([[2, 0], [0, 3]], missing=[1, 0])
    found = propose(by(recipe), table, letters(2), 0)
    assert found.split == Groups(0, ((0,), (1,)), (0.4, 0.6), missing=1)
    assert found.branches.weights.tolist() == [[2, 0], [1, 3]]
    assert found.gain == pytest.approx(0.5 - 4 / 6 * 0.375)


@pytest.mark.parametrize(
    "missing, threshold, home", [([0, 9], 0.5, 1), ([9, 0], 1.5, 0)]
)
def test_missing_numbers_stay_with_the_commonest_one(
    missing: list[int], threshold: float, home: int
):
    recipe = CART.changed(missing_policy="most-common")
    table = numbers([[3, 0], [2, 2], [0, 3]], [0, 1, 2], missing)
    found = propose(by(recipe), table, NUMBER, 0)
    assert (found.split.threshold, found.split.missing) == (threshold, home)


def test_own_category_is_a_branch_of_a_multiway_split():
    recipe = ID3.changed(missing_policy="own-category")
    table = CountTable.of([[4, 0], [0, 2]], missing=[1, 1])
    found = propose(by(recipe), table, letters(2), 0)
    assert found.split == Groups(0, ((0,), (1,), ()), (4 / 6, 2 / 6, 0), missing=2)
    assert found.branches.weights.tolist() == [[4, 0], [0, 2], [1, 1]]


def test_own_category_makes_two_values_of_one():
    table = CountTable.of([[4, 0]], missing=[0, 2])
    assert propose(by(ID3), table, letters(1), 0) is None
    found = propose(
        by(CART.changed(missing_policy="own-category")), table, letters(1), 0
    )
    assert found.split == Groups(0, ((0,), ()), (1, 0), missing=1)
    assert found.gain == pytest.approx(4 / 9)


def test_own_category_asks_whether_a_number_is_known():
    recipe = CART.changed(missing_policy="own-category")
    table = numbers([[2, 1], [2, 1]], [0, 1], [0, 6])
    found = propose(by(recipe), table, NUMBER, 0)
    assert found.split == Threshold(0, np.inf, (1, 0), missing=1)
    assert found.branches.weights.tolist() == [[4, 2], [0, 6]]
    one_value = numbers([[4, 2]], [7], [0, 6])
    found = propose(by(recipe), one_value, NUMBER, 0)
    assert found.split.threshold == np.inf


@pytest.mark.parametrize("missing, home", [([0, 5], 1), ([5, 0], 0)])
def test_branch_sends_missing_rows_where_they_gain_most(missing: list[int], home: int):
    table = CountTable.of([[4, 0], [0, 2]], missing=missing)
    for attribute in (letters(2), Attribute("o", "ordinal", ("a", "b"))):
        found = propose(by(CART), table, attribute, 0)
        assert found.split.missing == home
        pure = 1 - ((4 + missing[0]) / 11) ** 2 - ((2 + missing[1]) / 11) ** 2
        assert found.gain == pytest.approx(pure)


def test_branch_sends_no_row_to_an_empty_branch():
    recipe = CART.changed(grouping="multiway")
    table = CountTable.of([[4, 0], [0, 2]], missing=[3, 3])
    found = propose(by(recipe), table, letters(5), 0)
    assert found.split.missing in (0, 1)


@pytest.mark.parametrize("policy", ["most-common", "own-category", "branch"])
def test_without_missing_rows_the_heaviest_branch_takes_later_ones(policy: str):
    recipe = CART.changed(grouping="multiway", missing_policy=policy)
    for weights, home in (([[1, 1], [0, 3]], 1), ([[3, 0], [0, 3], [1, 1]], 0)):
        table = CountTable.of(weights)
        found = propose(by(recipe), table, letters(len(weights)), 0)
        assert found.split.missing == home


def test_rounding_does_not_decide_which_branch_is_heaviest():
    table = CountTable.of([[10 / 3, 0], [0, 10 / 3 + 4e-16]])
    assert table.weights[0, 0] < table.weights[1, 1]
    assert propose(by(CART), table, letters(2), 0).split.missing == 0


def test_rounding_does_not_decide_which_value_is_commonest():
    recipe = ID3.changed(missing_policy="most-common")
    table = CountTable.of([[1 + 1 + 4 / 3, 0], [5 / 3 + 5 / 3, 0]], missing=[0, 1])
    assert table.weights[0, 0] < table.weights[1, 0]
    assert propose(by(recipe), table, letters(2), 0).split.missing == 0


# Limits, reasons and force


def test_two_branches_need_enough_rows_but_not_all():
    # Quinlan's rule: 4 and 2 rows are enough, the third branch has one.
    table = CountTable.of([[4, 0], [0, 2], [1, 0]])
    recipe = ID3.changed(min_samples_leaf=2)
    assert propose(by(recipe), table, letters(3), 0) is not None
    recipe = ID3.changed(min_samples_leaf=2.5)
    assert propose(by(recipe), table, letters(3), 0) is None


def test_missing_rows_do_not_fill_a_fractional_branch():
    table = CountTable.of([[4, 0], [0, 1]], missing=[0, 9])
    recipe = ID3.changed(min_samples_leaf=2)
    assert propose(by(recipe), table, letters(2), 0) is None
    assert propose(by(recipe.changed(missing_policy="branch")), table, letters(2), 0)


def test_the_limit_moves_a_threshold_inwards():
    table = numbers([[1, 0], [0, 1], [0, 1], [0, 1]], [0, 1, 2, 3])
    free = propose(by(CART), table, NUMBER, 0)
    limited = propose(by(CART.changed(min_samples_leaf=2)), table, NUMBER, 0)
    assert (free.split.threshold, limited.split.threshold) == (0.5, 1.5)


def test_a_share_of_all_rows_may_be_the_limit():
    table = CountTable.of([[4, 0], [0, 2]])
    recipe = ID3.changed(min_weight_fraction_leaf=0.1)
    assert propose(by(recipe, total=20), table, letters(2), 0) is not None
    assert propose(by(recipe, total=21), table, letters(2), 0) is None


def test_light_rows_are_no_empty_branch():
    table = CountTable.of([[0.25, 0], [0, 0.25]])
    assert propose(by(CART), table, letters(2), 0) is not None
    assert propose(by(CART.changed(min_samples_leaf=1.1)), table, letters(2), 0) is None


ONE = Schema((letters(2),), Target("class", ("x", "y")))


def test_no_table_means_that_no_attribute_is_left():
    assert decide(by(ID3), {}, ONE) == Decision((), None, Reason.EXHAUSTED)


def test_one_value_means_that_rows_are_identical():
    tables = {0: CountTable.of([[1, 2]])}
    assert decide(by(ID3), tables, ONE).reason is Reason.IDENTICAL


def test_small_branches_are_a_reason():
    tables = {0: CountTable.of([[1, 2], [1, 0]])}
    recipe = ID3.changed(min_samples_leaf=2)
    assert decide(by(recipe), tables, ONE).reason is Reason.ROWS_IN_LEAF


def test_a_small_gain_is_a_reason_and_its_candidates_are_kept():
    tables = {0: CountTable.of([[2, 1], [1, 2]])}
    gain = decide(by(ID3), tables, ONE).candidates[0].gain
    assert gain == pytest.approx(1 - 0.918296, abs=1e-6)
    assert decide(by(ID3.changed(min_gain=gain)), tables, ONE).chosen == 0
    decision = decide(by(ID3.changed(min_gain=gain + 1e-9)), tables, ONE)
    assert (decision.chosen, decision.reason) == (None, Reason.MIN_GAIN)
    assert len(decision.candidates) == 1


def test_nothing_gained_is_enough_for_the_textbook_algorithm():
    tables = {0: CountTable.of([[1, 1], [1, 1]])}
    assert decide(by(ID3), tables, ONE).chosen == 0
    assert decide(by(C45.changed(min_samples_leaf=1)), tables, ONE).chosen is None


def test_force_overrules_merit_and_minimal_gain():
    table = textbook("watermelon_2.0")
    _, winner = decide_root(table, ID3.changed(min_gain=0.9), forced=5)
    assert winner == "surface"


def test_force_cannot_do_the_impossible():
    tables = {0: CountTable.of([[1, 2]])}
    with pytest.raises(
        ParameterError, match="forced_splits: the attribute 'letter' cannot"
    ):
        decide(by(ID3), tables, ONE, forced=0)


def test_more_than_twelve_values_of_three_classes_are_not_all_tried():
    weights = np.random.default_rng(0).integers(1, 9, (13, 3))
    attribute = Attribute("many", "nominal", tuple(map(str, range(13))))
    # Branch and bound proves it; what is no decrease of a concave impurity it cannot.
    assert propose(by(CART), CountTable.of(weights), attribute, 0).exact
    twoing = by(CART.changed(criterion="twoing"))
    assert not propose(twoing, CountTable.of(weights), attribute, 0).exact
    assert propose(by(CART), CountTable.of(weights[:12]), attribute, 0).exact


def test_a_numeric_candidate_keeps_only_the_two_sides():
    table = numbers([[1, 0], [2, 0], [0, 3], [0, 1]], [0.5, 1, 4, 9])
    found = propose(by(CART), table, NUMBER, 0)
    assert found.split.threshold == 2.5
    assert found.table.values.tolist() == [1, 4]
    assert found.table.weights.tolist() == [[3, 0], [0, 4]]


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-300, 1.0, 1e300, 5e307])
def test_numbers_of_any_size_can_be_divided(scale: float):
    table = numbers([[1, 0], [2, 0], [0, 3]], [-3 * scale, scale, 3 * scale])
    found = propose(by(CART), table, NUMBER, 0)
    assert scale <= found.split.threshold < 3 * scale
    assert found.split.branch_of(table.values).tolist() == [0, 0, 1]


def test_neighbouring_floats_can_be_divided():
    table = numbers([[5, 0], [0, 5]], [1.0, np.nextafter(1, 2)])
    found = propose(by(CART), table, NUMBER, 0)
    assert found.split.threshold == 1.0
    assert found.gain == 0.5


@pytest.mark.parametrize(
    "altered", [None, np.array([3.0, 0.5])], ids=["as is", "costs"]
)
def test_shares_of_branches_are_those_of_rows_as_they_weigh(altered):
    """Costs alter what a split gains, not how many rows a branch needs."""
    recipe = RECIPES["cart"].changed(min_branch_share=0.2)
    schema = Schema((Attribute("x", "numeric"),), Target("y", ("a", "b")))
    search = Search.of(recipe, numeric=False, total=100.0, altered=altered)
    few = CountTable.of([[15, 0], [5, 80]])
    assert attribute_split.propose(search, few, schema, 0) is None
    enough = CountTable.of([[25, 0], [5, 70]])
    assert attribute_split.propose(search, enough, schema, 0) is not None


@pytest.mark.parametrize(
    "p, level, significant",
    [
        (0.2, None, True),  # a test, but no level to hold it to
        (None, 0.05, True),  # a level, but no test: a question that a user has written
        (0.05, 0.05, True),
        (0.0501, 0.05, False),
    ],
)
def test_what_is_significant(p, level, significant):
    chaid = RECIPES["chaid"].changed(alpha_split=level)
    recipe = ID3 if level is None else chaid
    split = Threshold(0, 1.5, (0.5, 0.5))
    candidate = Candidate(split, CountTable.of([[1, 0], [0, 1]]), 1.0, 1.0, p_value=p)
    assert node_split.is_significant(candidate, recipe) is significant
