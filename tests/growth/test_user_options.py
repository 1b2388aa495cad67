"""From what a user says to the learner's options, and every refusal."""

import warnings

import numpy as np
import pytest
from tests.helpers.strategies import textbook

from spinney.data.schema import Attribute, Schema, Target
from spinney.errors import ParameterError, SpinneyWarning
from spinney.growth.growth_options import Options
from spinney.growth.user_options import options_of
from spinney.recipes import RECIPES
from spinney.sources.rows.memory import MemorySource
from spinney.sources.training_data import TrainingData

ID3 = RECIPES["id3"]


def source_of(classes: tuple = ("no", "yes"), weights: object = None) -> MemorySource:
    """Return four rows, three of the first class."""
    schema = Schema(
        (Attribute("size", "numeric"), Attribute("colour", "nominal", ("red",))),
        Target("y", classes),
    )
    columns = [np.arange(4.0), np.zeros(4, dtype=np.int32)]
    return MemorySource(
        schema, columns, classes=np.array([0, 0, 0, 1]), weights=weights
    )


def options(source: MemorySource | None = None, **given: object) -> Options:
    return options_of(TrainingData(counted=source or source_of()), recipe=ID3, **given)


def test_nothing_said():
    found = options()
    assert found.class_weights is None
    assert list(found.preference) == []
    assert found.forced == {}


# Class weights


def test_balanced_classes_weigh_the_same():
    found = options(class_weight="balanced").class_weights
    assert (found * [3, 1]).tolist() == pytest.approx([2, 2])
    weights = np.array([1.0, 1.0, 2.0, 0.5])
    found = options(source_of(weights=weights), class_weight="balanced").class_weights
    assert (found * [4, 0.5]).tolist() == pytest.approx([2.25, 2.25])


def test_balance_leaves_an_absent_class_alone():
    source = source_of(("maybe", "no", "yes"))
    found = options(source, class_weight="balanced").class_weights
    assert found.tolist() == pytest.approx([2 / 3, 2, 1])


@pytest.mark.parametrize(
    "classes, given, expected",
    [
        (("no", "yes"), {"yes": 3}, [1, 3]),
        (("no", "yes"), {"yes": 3, "no": 0.5}, [0.5, 3]),
        (("no", "yes"), {np.str_("yes"): np.float32(2)}, [1, 2]),
        ((False, True), {True: 3}, [1, 3]),
        ((False, True), {np.True_: 3}, [1, 3]),
        ((0, 1), {1: 3}, [1, 3]),
        ((0, 1), {np.int64(1): 3}, [1, 3]),
        ((0, 1), {"1": 3}, [1, 3]),  # as the shell says it
        ((False, True), {"true": 3}, [1, 3]),
        (("no", "yes"), {}, [1, 1]),
    ],
)
def test_class_weights_by_label(classes, given, expected):
    found = options(source_of(classes), class_weight=given).class_weights
    assert found.tolist() == expected


@pytest.mark.parametrize(
    "given, message",
    [
        ("Balanced", "class_weight='Balanced' must be a dict"),
        ({"yess": 1}, "class_weight: no class 'yess': did you mean 'yes'"),
        ({"yes": 0}, "class_weight: 'yes' has 0; it must be a number above 0"),
        ({"yes": -1}, "class_weight: 'yes' has -1"),
        ({"yes": float("nan")}, "class_weight: 'yes' has nan"),
        ({"yes": float("inf")}, "class_weight: 'yes' has inf"),
    ],
)
def test_class_weights_that_are_refused(given, message):
    with pytest.raises(ParameterError, match=message):
        options(class_weight=given)


@pytest.mark.parametrize("given", [[1, 2], {"yes": "heavy"}, {"yes": None}])
def test_class_weights_of_another_type_are_refused(given):
    with pytest.raises(ParameterError, match="class_weight"):
        options(class_weight=given)


# Ties and force


def test_names_become_places():
    found = options(tie_break_order=["colour", "size"], forced_splits={(): "colour"})
    assert list(found.preference) == [1, 0]
    assert found.forced == {(): 1}


@pytest.mark.parametrize(
    "given, path",
    [
        ((), ()),
        ("colour = red", ("colour = red",)),
        (["colour = red", "size <= 1.5"], ("colour = red", "size ≤ 1.5")),
        (("size >= 2", "colour in {red, blue}"), ("size ≥ 2", "colour ∈ {red, blue}")),
        ("size > 2 or missing", ("size > 2",)),
        ("  size ≤ 2 ", ("size ≤ 2",)),
    ],
)
def test_paths_as_they_are_printed(given, path):
    key = tuple(given) if isinstance(given, list) else given
    assert list(options(forced_splits={key: "size"}).forced) == [path]


@pytest.mark.parametrize(
    "given, message",
    [
        (
            {"tie_break_order": "size"},
            r"tie_break_order='size' must be a list of names, such as \['size'\]",
        ),
        (
            {"tie_break_order": ["sise"]},
            "tie_break_order: there is no attribute 'sise': did you mean 'size'",
        ),
        ({"tie_break_order": ["y"]}, "tie_break_order: there is no attribute 'y'"),
        (
            {"forced_splits": ["size"]},
            r"forced_splits=\['size'\] must map paths to names",
        ),
        ({"forced_splits": "size"}, "forced_splits='size' must map paths to names"),
        (
            {"forced_splits": {(): "color"}},
            "forced_splits: .* 'color': did you mean 'colour'",
        ),
    ],
)
def test_names_that_are_refused(given, message):
    with pytest.raises(ParameterError, match=message):
        options(**given)


@pytest.mark.parametrize(
    "given",
    [
        {"tie_break_order": 5},
        {"tie_break_order": [5]},
        {"forced_splits": {3: "size"}},
        {"forced_splits": {(): 3}},
    ],
)
def test_names_of_another_type_are_refused(given):
    with pytest.raises(ParameterError, match=next(iter(given))):
        options(**given)


# Light rows


@pytest.mark.parametrize("name", ["min_samples_leaf", "min_samples_split"])
def test_light_rows_are_told(name):
    source = source_of(weights=np.full(4, 0.25))
    recipe = ID3.changed(**{name: 3})
    message = f"{name}=3 counts weight, and the 4 rows weigh 1 together"
    with pytest.warns(SpinneyWarning, match=message):
        options_of(TrainingData(counted=source), recipe=recipe)


@pytest.mark.parametrize(
    "limits, weight",
    [
        ({"min_samples_leaf": 1}, 0.1),  # the free value
        ({"min_samples_split": 2}, 0.1),
        ({"min_samples_leaf": 5}, 0.25),  # more than there are rows
        ({"min_samples_leaf": 3}, 1.0),
    ],
)
def test_limits_that_are_no_surprise_are_not_told(limits, weight):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        source = source_of(weights=np.full(4, weight))
        found = options_of(TrainingData(counted=source), recipe=ID3.changed(**limits))
    assert found.class_weights is None


def test_options_of_a_textbook_table():
    source = textbook("netball").source
    found = options_of(
        TrainingData(counted=source),
        recipe=ID3,
        tie_break_order=["wind"],
        class_weight={"Yes": 2},
    )
    assert list(found.preference) == [3]
    assert found.class_weights.tolist() == [1, 2]
