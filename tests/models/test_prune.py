"""model.prune as users call it."""

import numpy as np
import pytest
from tests.helpers.recipes import by_recipe
from tests.helpers.strategies import TABLES

import spinney
from spinney import DataError, ParameterError, TreeClassifier, TreeRegressor
from spinney._support.threads import n_threads
from spinney.errors import SpinneyWarning
from spinney.growth.prune import METHODS
from spinney.models import prune
from spinney.models.prune import prune_model

KYPHOSIS = TABLES / "rpart_kyphosis.csv"
TRAIN = TABLES / "watermelon_2.0_train.csv"
VALID = TABLES / "watermelon_2.0_valid.csv"


def test_a_new_model_and_the_old_one_as_it_was(model):
    before = str(model)
    smaller = model.prune("mdl")
    assert type(smaller) is TreeClassifier
    assert str(model) == before
    assert smaller.tree.n_leaves < model.tree.n_leaves
    assert len(model.pruning_) == 0
    assert smaller.sequence_ is None
    assert smaller.model_.fingerprint == model.model_.fingerprint
    assert smaller.predict(KYPHOSIS).shape == (81,)


def test_steps_print_as_a_table(model):
    smaller = model.prune(nodes=[1, 16])
    assert str(smaller.pruning_).splitlines() == [
        "before, after: training risk; risk: on the training rows",
        "node  before  after  risk  after          branch",
        "   1       0      8     0      8  pruned  Start ≤ 8.5",
        "  16       8     14     8     14  pruned  Start > 8.5",
    ]
    assert "Start <= 8.5" in smaller.pruning_.text(ascii_only=True)
    assert repr(smaller.pruning_) == "<2 steps of pruning>"
    assert [step["node"] for step in smaller.pruning_.as_dicts()] == [1, 16]
    assert smaller.pruning_[1].node == 16


def test_cost_complexity_by_folds(model):
    chosen = model.prune("cost-complexity", data=KYPHOSIS)
    again = model.prune(
        "cost-complexity", data=KYPHOSIS, folds=10, rule="1-se", random_state=0
    )
    assert str(chosen.sequence_) == str(again.sequence_)
    assert str(chosen.sequence_).count("chosen") == 1
    assert chosen.tree.n_leaves == chosen.sequence_[chosen.sequence_.chosen].leaves
    least = model.prune("cost-complexity", data=KYPHOSIS, rule="minimum")
    assert least.tree.n_leaves >= chosen.tree.n_leaves
    other = model.prune("cost-complexity", data=KYPHOSIS, random_state=1, folds=5)
    assert str(other.sequence_) != str(chosen.sequence_)
    dicts = chosen.sequence_.as_dicts()
    assert [row["leaves"] for row in dicts] == [17, 11, 6, 3, 2, 1]
    assert sum(row["chosen"] for row in dicts) == 1


def test_cost_complexity_by_other_rows():
    """Document 004: the sequence, judged by rows that the tree was not grown on."""
    model = spinney.grow(
        TRAIN, "ripe", ignore=["id"], recipe="id3", tie_break_order=["umbilicus"]
    )
    chosen = model.prune("cost-complexity", validation=VALID)
    assert str(chosen.sequence_).splitlines() == [
        "alpha        CP  splits  leaves  training error  validation error  std error",
        "    1  0.200000       0       1             0.5           0.57143    0.18704",
        "  0.5  0.100000       2       4             0.2           0.28571    0.17075"
        "  chosen",
        "    0  0.000000       5       8               0           0.57143    0.18704",
    ]
    assert chosen.tree.n_leaves == 5  # four, and one that no row comes to
    assert chosen.score(VALID) == pytest.approx(5 / 7)
    record = chosen.sequence_.as_dicts()
    assert [row["training_error"] for row in record] == [0, 0.2, 0.5]
    assert [row["error"] * 7 for row in record] == pytest.approx([4, 2, 4])
    assert {row["judged_by"] for row in record} == {"validation"}
    # A rule leans towards fewer leaves: half an error of the least is not enough.
    near = model.prune("cost-complexity", validation=VALID, rule="half-se")
    assert near.tree.n_leaves == 5
    dear = model.prune(
        "cost-complexity", validation=VALID, cost_matrix=[[0, 10], [1, 0]]
    )
    assert dear.sequence_[-1].error == pytest.approx(4 / 7)
    light = model.prune("cost-complexity", validation=VALID, weight="id")
    assert light.sequence_[-1].error != chosen.sequence_[-1].error


def test_pruning_keeps_to_its_threads(monkeypatch):
    seen = []

    def noting(*arguments, **options):
        seen.append(n_threads())
        return prune_model(*arguments, **options)

    monkeypatch.setattr(prune, "prune_model", noting)
    tree = TreeClassifier("cart", n_jobs=1).fit([[1], [2], [3]], ["a", "b", "b"])
    tree.prune("mdl")
    assert tree.prune("mdl", n_jobs=None).n_jobs == 1
    tree.set_params(n_jobs=None).prune("mdl", n_jobs=1)
    assert seen == [1, 1, 1]


def test_the_alpha_that_folds_chose_gives_the_same_tree(model):
    chosen = model.prune("cost-complexity", data=KYPHOSIS, rule="minimum")
    alpha = chosen.sequence_[chosen.sequence_.chosen].alpha
    assert str(model.prune("cost-complexity", alpha=alpha)) == str(chosen)


def test_a_loaded_model_is_cross_validated_alike(tmp_path):
    model = spinney.grow(
        KYPHOSIS,
        "Kyphosis",
        recipe="cart",
        class_weight={"present": 3, "absent": 1},
        forced_splits={("Start ≤ 12.5",): "Number"},
    )
    assert any(node.forced for node in model.tree)
    model.save(tmp_path / "m.spinney")
    loaded = spinney.load(tmp_path / "m.spinney")
    found = [m.prune("cost-complexity", data=KYPHOSIS) for m in (model, loaded)]
    assert str(found[0].sequence_) == str(found[1].sequence_)
    assert found[0].sequence_.root_risk == 51  # 17 rows of weight 3


def test_a_forced_split_that_a_fold_cannot_make_is_left_out():
    table = {"x": [0, 0, 0, 0, 0, 1], "z": [0, 1, 0, 1, 0, 1], "y": list("ababab")}
    model = spinney.grow(
        table, "y", recipe="cart", forced_splits={(): "x"}, nominal=["x"]
    )
    found = model.prune("cost-complexity", data=table, folds=6)
    assert found.sequence_[0].error is not None


def test_weights_of_rows(model):
    weighted = spinney.grow(KYPHOSIS, "Kyphosis", recipe="cart", weight="Number")
    with pytest.raises(
        DataError, match="data has 81 rows of weight 81, but the training"
    ):
        weighted.prune("cost-complexity", data=KYPHOSIS)
    found = weighted.prune("cost-complexity", data=KYPHOSIS, weight="Number")
    assert found.sequence_.root_risk == 88
    plain = model.prune("reduced-error", validation=KYPHOSIS)
    heavy = model.prune("reduced-error", validation=KYPHOSIS, weight="Number")
    assert plain.tree.n_leaves == heavy.tree.n_leaves == 17


def test_a_table_that_is_another(model):
    table = spinney.read_table(KYPHOSIS)
    with pytest.raises(
        DataError, match="data has 80 rows of weight 80, but the training"
    ):
        model.prune("cost-complexity", data=table.take(slice(1, None)))
    with pytest.raises(DataError, match="the model needs the column"):
        model.prune("cost-complexity", data=table.without(("Age",)))
    other = {
        "Kyphosis": ["maybe"] * 81,
        **{name: table[name].cells for name in ("Age", "Number", "Start")},
    }
    with pytest.raises(DataError, match="'Kyphosis': no row has both a weight"):
        model.prune("cost-complexity", data=other)


USED = {
    "validation": VALID,
    "data": TRAIN,
    "weight": "id",
    "nodes": [0],
    "alpha": 1.0,
    "folds": 3,
    "rule": "minimum",
    "cost_matrix": [[0, 1], [1, 0]],
    "random_state": 1,
    "confidence": 0.1,
    "raising": True,
}


@pytest.mark.parametrize(
    "method, used",
    [
        ("reduced-error", {"validation", "weight", "cost_matrix"}),
        ("pre-pruning", {"validation", "weight", "cost_matrix"}),
        (
            "cost-complexity",
            {"data", "validation", "alpha", "weight", "folds", "rule", "cost_matrix"}
            | {"random_state"},
        ),
        ("pessimistic", set()),
        ("mdl", set()),
        ("manual", {"nodes", "cost_matrix"}),
        ("simplify", {"cost_matrix"}),
        ("error-based", {"confidence", "raising", "data", "weight"}),
        ("collapse", set()),
    ],
)
def test_an_option_is_used_or_refused(method, used):
    assert {name for m in METHODS.values() for name in m.options} == set(USED)
    model = spinney.grow(TRAIN, "ripe", ignore=["id"], recipe="id3")
    for name, value in USED.items():
        if name not in used:
            message = f"{name}: of no use to the method '{method}': leave it out"
            with pytest.raises(ParameterError, match=message):
                model.prune(method, **{name: value})


@pytest.mark.parametrize(
    "options, message",
    [
        ({}, r"pruning='reduced-error' needs a table with the target column \(valid"),
        ({"pruning": "pre-pruning"}, "pruning='pre-pruning' needs a table"),
        ({"pruning": "manual"}, "pruning='manual' needs the numbers of nodes"),
        ({"pruning": "cost-complexity"}, "pruning='cost-complexity' needs an alpha"),
        ({"pruning": "cost complexity"}, "did you mean 'cost-complexity'"),
        ({"pruning": 3}, "pruning=3 is unknown"),
        (
            {"pruning": "cost-complexity", "alpha": 1, "random_state": 3},
            "random_state chooses an alpha, but one is given",
        ),
        (
            {"pruning": "cost-complexity", "validation": KYPHOSIS, "folds": 5},
            "folds needs folds, which validation replaces",
        ),
        (
            {"pruning": "cost-complexity", "validation": KYPHOSIS, "rule": "best"},
            "rule='best' is unknown",
        ),
        (
            {"pruning": "cost-complexity", "alpha": 1, "data": KYPHOSIS},
            "data chooses an alpha",
        ),
        (
            {"pruning": "cost-complexity", "alpha": -1},
            "alpha=-1 must be a number of at",
        ),
        ({"pruning": "cost-complexity", "alpha": np.nan}, "alpha=nan must be a number"),
        ({"pruning": "cost-complexity", "alpha": True}, "alpha=True must be a number"),
        ({"pruning": "cost-complexity", "alpha": "1"}, "alpha='1' must be a number"),
        (
            {"pruning": "cost-complexity", "data": KYPHOSIS, "folds": 1},
            "folds=1 must be a whole number of at least 2",
        ),
        (
            {"pruning": "cost-complexity", "data": KYPHOSIS, "folds": 82},
            "folds=82 must be a whole number from 2 to the number of rows, 81",
        ),
        (
            {"pruning": "cost-complexity", "data": KYPHOSIS, "random_state": -1},
            "random_state=-1 must be a whole number from 0",
        ),
        (
            {"pruning": "cost-complexity", "data": KYPHOSIS, "rule": "best"},
            "rule='best' is unknown: known: '1-se', 'half-se', 'minimum'",
        ),
        ({"pruning": "simplify", "cost_matrix": [[1]]}, "cost_matrix of shape"),
        (
            {"pruning": "error-based", "raising": True},
            "raising needs the training rows, which the model does not store",
        ),
        (
            {"pruning": "error-based", "raising": False, "data": KYPHOSIS},
            "data is only needed to raise branches",
        ),
        (
            {"pruning": "error-based", "raising": np.False_, "data": KYPHOSIS},
            "data is only needed to raise branches",
        ),
        ({"pruning": "error-based", "weight": "Age"}, "weight needs data"),
        ({"pruning": "error-based", "raising": "yes"}, "raising='yes' must be True"),
        ({"pruning": "error-based", "confidence": 0.6}, "confidence=0.6 must be"),
        ({"pruning": "error-based", "confidence": 0}, "confidence=0 must be above 0"),
        ({"seed": 3}, "seed=3 has become random_state=3"),
        ({"aplha": 3}, "prune has no parameter 'aplha': did you mean 'alpha'"),
        ({"pruning": "mdl", "n_jobs": 0}, "n_jobs=0 must be"),
    ],
)
def test_options_that_cannot_be_used(model, options, message):
    with pytest.raises(ParameterError, match=message):
        model.prune(**options)


def test_costs_change_what_is_cut(model):
    """Missing kyphosis is dear: subtrees that find it are kept for longer."""
    plain = model.prune("cost-complexity", alpha=1.0)
    dear = model.prune("cost-complexity", alpha=1.0, cost_matrix=[[0, 9], [1, 0]])
    assert dear.tree.n_leaves > plain.tree.n_leaves
    assert dear.sequence_.root_risk == 9 * 17
    named = {"absent": {"present": 9}, "present": {"absent": 1}}
    folds = model.prune("cost-complexity", data=KYPHOSIS, cost_matrix=named)
    assert folds.sequence_.root_risk == 9 * 17


def test_a_model_grown_under_costs_and_priors_is_regrown_so(tmp_path):
    named = {"absent": {"present": 9}, "present": {"absent": 1}}
    model = spinney.grow(
        KYPHOSIS,
        "Kyphosis",
        recipe="cart",
        cost_matrix=named,
        priors={"absent": 0.6, "present": 0.4},
        test_costs={"Age": 3},
    )
    model.save(tmp_path / "m.spinney")
    loaded = spinney.load(tmp_path / "m.spinney")
    found = [m.prune("cost-complexity", data=KYPHOSIS) for m in (model, loaded)]
    assert str(found[0].sequence_) == str(found[1].sequence_)
    # All are labelled present at the root, and 60 % of the weight is not.
    assert found[0].sequence_.root_risk == pytest.approx(0.6 * 81)


def test_numbers_by_folds_and_validation_rows():
    table = TABLES / "cpu_prp.csv"
    model = spinney.grow(table, "class", recipe="cart", min_samples_leaf=10)
    assert type(model) is TreeRegressor
    found = model.prune("cost-complexity", data=table)
    assert type(found) is TreeRegressor
    assert 1 < found.tree.n_leaves < model.tree.n_leaves
    assert model.prune("reduced-error", validation=table).tree.n_leaves == (
        model.tree.n_leaves
    )
    small = model.prune(nodes=[0])
    assert small.pruning_[0].risk_after == pytest.approx(found.sequence_.root_risk)
    with pytest.raises(ParameterError, match="cost_matrix: the target 'class' is"):
        model.prune("simplify", cost_matrix=[[0, 1], [1, 0]])
    with pytest.raises(ParameterError, match="pruning='mdl' counts errors"):
        model.prune("mdl")


def test_a_fitted_model_reads_its_table_by_names():
    rows = np.arange(40.0).reshape(20, 2)
    labels = np.array(["a", "b"] * 10)
    model = TreeClassifier("cart").fit(rows, labels)
    table = {"x0": rows[:, 0], "x1": rows[:, 1], "y": labels}
    assert model.prune("cost-complexity", data=table).tree.n_leaves == 1
    assert model.prune("reduced-error", validation=table).tree.n_leaves == 20


def test_more_folds_than_rows_of_a_class():
    table = {"x": list(range(9)), "y": list("aaaaaaabc")}
    model = spinney.grow(table, "y", recipe="cart")
    found = model.prune("cost-complexity", data=table, folds=9)  # each row by itself
    assert found.sequence_[-1].relative_error == 1.0
    rare = (
        r"folds=4 is more than the rows of some classes of 'y': 'b' \(1\), 'c' \(1\);"
    )
    with pytest.warns(SpinneyWarning, match=rare):
        model.prune("cost-complexity", data=table, folds=4)
    with pytest.warns(SpinneyWarning, match="folds=8 is more than the rows of any"):
        model.prune("cost-complexity", data=table, folds=8)


def test_a_recipe_says_where_its_folds_are_too_many():
    table = {"x": list(range(9)), "y": list("aaaaaaabc")}
    settings = {"recipe": "cart", "pruning": "cost-complexity"}
    with pytest.warns(SpinneyWarning, match=r"folds=10 of recipe 'cart'.*: 9 folds"):
        spinney.grow(table, "y", **by_recipe(**settings))
    with pytest.warns(SpinneyWarning, match="folds=3 is more than the rows of some"):
        spinney.grow(table, "y", **by_recipe(**settings, folds=3))


def test_rare_classes_are_not_all_named():
    table = {"x": list(range(17)), "y": list("aaaaaaaaabcdefghi")}
    model = spinney.grow(table, "y", recipe="cart")
    with pytest.warns(SpinneyWarning, match=r"'f' \(1\) and 3 more; some of the folds"):
        model.prune("cost-complexity", data=table, folds=4)


def test_counts_are_pruned_by_squares_and_told_so():
    table = {"x": list(range(40)), "y": [0, 1, 0, 2] * 5 + [7, 9, 8, 30] * 5}
    settings = {"criterion": "poisson", "numeric": ["y"], "min_samples_leaf": 5}
    model = spinney.grow(table, "y", **by_recipe(recipe="cart", **settings))
    with pytest.warns(SpinneyWarning, match="criterion='poisson'.*squared errors"):
        found = model.prune("cost-complexity", alpha=1.0)
    assert found.pruning_[0].measure == "squared errors + 1 × leaves"
    y = np.array(table["y"])
    assert found.sequence_.root_risk == pytest.approx(((y - y.mean()) ** 2).sum())
    with pytest.warns(SpinneyWarning, match="criterion='poisson'.*squared errors"):
        spinney.grow(
            table,
            "y",
            **by_recipe(recipe="cart", pruning="cost-complexity", **settings),
        )


def test_trees_with_linear_models_are_offered_what_suits_them():
    """Not what counts errors, and not what judges leaves by their means."""
    table = {"x": list(range(12)), "y": [2.5 * x for x in range(12)]}
    model = spinney.grow(table, "y", recipe="m5", pruning="none")
    with pytest.raises(ParameterError, match="linear models") as refused:
        model.prune("cost-complexity", alpha=0.0)
    offered = str(refused.value).rpartition("use ")[2]
    assert offered.rstrip(".") == "'reduced-error', 'pre-pruning', 'manual'"
