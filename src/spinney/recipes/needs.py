"""The table of requirements of settings.

A user's setting without effect is refused, since the tree would mislead. A named recipe
may have such settings: ``c4.5`` sets the pruning for classes, and supports numeric
targets too. So only the user's settings (``recipe.given``) are checked, except rows
with an ``instead``: no tree can be grown without their conditions.

``seed`` has no row. Without random choices every seed gives the same tree, and programs
set one everywhere.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spinney.errors import Setting, Text, phrase, refusal
from spinney.trees.criteria import Criterion, criterion_named

if TYPE_CHECKING:
    from spinney.recipes.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Requirement:
    """A condition on a recipe and its target.

    Parameters
    ----------
    text : Text
        The condition in the form of a setting.
    obstacle : function of a Recipe and a target
        The function that describes the violation; None if the condition holds, or is
        undecided. A target is "classes", "a number", or None if unknown.
    remedy : Text
        How to meet the condition.
    """

    text: Text
    obstacle: Callable[["Recipe", str | None], Text | None]
    remedy: Text


@dataclass(frozen=True, slots=True)
class Need:
    """The requirements of one setting.

    Parameters
    ----------
    setting : str
        The name of the setting.
    conditions : Requirements
        The conditions, all of which must hold.
    why : str
        The role of the setting, with braces for its name.
    only : collection
        The values of the setting with this need; empty for all.
    idle : collection
        The values without effect, and so without a need.
    instead : Text
        The alternative, if every recipe has this need: then a recipe's own setting is
        refused too.
    """

    setting: str
    conditions: tuple[Requirement, ...]
    why: str
    only: Collection[Any] = ()
    idle: Collection[Any] = ()
    instead: Text = ""

    def concerns(self, value: Any) -> bool:
        """Return whether this value of the setting has the need."""
        return value in self.only if self.only else value not in self.idle


def _has(setting: str, *values: Any) -> Requirement:
    """Return the condition that a setting has one of these values."""

    def obstacle(recipe: "Recipe", _: str | None) -> Text | None:
        value = getattr(recipe, setting)
        return None if value in values else _has_instead(recipe, setting, value)

    first, *alternatives = values
    or_alternatives = "".join(f" or {value!r}" for value in alternatives)
    text = (Setting(setting, first), or_alternatives)
    return Requirement(text, obstacle, ("use ", text))


def _has_instead(recipe: "Recipe", setting: str, value: object) -> Text:
    return (f"recipe {recipe.name!r} has ", Setting(setting, value))


def _no_test(recipe: "Recipe", target: str | None) -> Text | None:
    criterion_of = {"classes": recipe.criterion, "a number": recipe.numeric_criterion}
    names = list(criterion_of.values()) if target is None else [criterion_of[target]]
    criteria = [criterion_named(name) for name in names]
    if any(criterion.chance for criterion in criteria):
        return None
    return _has_instead(recipe, "criterion", criteria[0].name)


def _no_bits(recipe: "Recipe", _: str | None) -> Text | None:
    criterion = criterion_named(recipe.criterion)
    return None if criterion.bits else _has_instead(recipe, "criterion", criterion.name)


def _uncounted_buckets(recipe: "Recipe", _: str | None) -> Text | None:
    counted = recipe.bucketing not in (None, "entropy-mdl")
    return None if counted else _has_instead(recipe, "buckets", recipe.buckets)


def _in_buckets(recipe: "Recipe", _: str | None) -> Text | None:
    if recipe.bucketing is None:
        return None
    setting = "grouping" if recipe.buckets is None else "buckets"
    return _has_instead(recipe, setting, getattr(recipe, setting))


def _single_attributes(recipe: "Recipe", _: str | None) -> Text | None:
    several = recipe.linear_terms > 1 or recipe.construct > 0
    return (
        None if several else _has_instead(recipe, "linear_terms", recipe.linear_terms)
    )


def _means_alone(recipe: "Recipe", target: str | None) -> Text | None:
    # The model of a leaf is over the attributes asked below it: pruning leaves some,
    # smoothing takes in the models of the nodes above.
    uses_models = recipe.pruning == "adjusted-error" or recipe.smoothing > 0
    if uses_models or target != "a number":
        return None
    pruning = _has_instead(recipe, "pruning", recipe.pruning)
    return (pruning, " and ", Setting("smoothing", 0))


def _no_level(recipe: "Recipe", _: str | None) -> Text | None:
    return _has_instead(recipe, "exhaustive", value=True) if recipe.exhaustive else None


CLASSES = Requirement(
    "a target of classes",
    lambda _, target: "this one is a number" if target == "a number" else None,
    "declare the target nominal",
)
NUMBER = Requirement(
    "a target that is a number",
    lambda _, target: "this one is classes" if target == "classes" else None,
    "declare the target numeric",
)
TEST = Requirement(
    "a criterion that is a test, 'chi_square', 'g' or 'f'",
    _no_test,
    "use such a criterion",
)
BITS = Requirement(
    (Setting("criterion", "gain"), " or 'gain_ratio'"),
    _no_bits,
    ("use ", Setting("criterion", "gain")),
)
BUCKETS = Requirement(
    (Setting("buckets", "equal-width"), ", 'equal-frequency' or 'k-means'"),
    _uncounted_buckets,
    ("use ", Setting("buckets", "equal-frequency")),
)
NO_BUCKETS = Requirement(
    "numbers without buckets", _in_buckets, "use a recipe without buckets"
)
SEVERAL_TERMS = Requirement(
    phrase(
        "{} or more, or {} or more", Setting("linear_terms", 2), Setting("construct", 1)
    ),
    _single_attributes,
    ("use ", Setting("linear_terms", 2)),
)
MODELS_USED = Requirement(
    phrase(
        "{} or {} above 0", Setting("pruning", "adjusted-error"), Setting("smoothing")
    ),
    _means_alone,
    ("use ", Setting("pruning", "adjusted-error")),
)
MERGED = _has("grouping", "merge")
NOT_EXHAUSTIVE = Requirement(
    "merging that is not exhaustive", _no_level, ("use ", Setting("exhaustive", False))
)
ERROR_BASED = _has("pruning", "error-based")
COST_COMPLEXITY = _has("pruning", "cost-complexity")
GREEDY = _has("search", "greedy")
OPTIMAL = _has("search", "optimal")
HOEFFDING = _has("search", "hoeffding")
ANOTHER_RECIPE = "use another recipe, such as 'c4.5', 'cart' or 'chaid'"

NEEDS = (
    # Settings that qualify another one.
    Need("n_buckets", (BUCKETS,), "{} is the number of buckets"),
    Need(
        "alpha_merge",
        (MERGED, NOT_EXHAUSTIVE),
        "{} is the significance level for merging",
    ),
    Need(
        "alpha_resplit",
        (MERGED, NOT_EXHAUSTIVE),
        "{} is the significance level for splitting groups",
        idle=(0,),
    ),
    Need("exhaustive", (MERGED,), "{} is a way to merge values", idle=(False,)),
    Need("alpha_split", (TEST,), "{} is the largest p-value of a split"),
    Need("folds", (COST_COMPLEXITY,), "{} choose among the pruned subtrees"),
    Need("rule", (COST_COMPLEXITY,), "{} chooses among the pruned subtrees"),
    Need(
        "confidence", (ERROR_BASED, CLASSES), "{} is the level of the error estimates"
    ),
    Need(
        "raising",
        (ERROR_BASED, CLASSES),
        "{} is a step of error-based pruning",
        idle=(False,),
    ),
    Need(
        "m",
        (_has("probability", "m-estimate"), CLASSES),
        "{} is the weight of the prior",
    ),
    Need(
        "linear_penalty", (SEVERAL_TERMS,), "{} is the penalty for further attributes"
    ),
    Need(
        "surrogates",
        (_has("missing_policy", "surrogate"),),
        "{} is the number of surrogates per node",
        idle=(0,),
    ),
    Need(
        "thresholds",
        (NO_BUCKETS,),
        "a threshold between two buckets is the cut between them",
    ),
    Need(
        "min_step",
        (NO_BUCKETS,),
        "a threshold between two buckets is the cut between them",
        idle=(0,),
    ),
    Need(
        "mdl_correction",
        (BITS, _has("grouping", "multiway", "binary"), CLASSES),
        "{} subtracts bits from the gain of a threshold",
        idle=(False,),
    ),
    # Settings of a search over all trees, and of one split after the other.
    Need(
        "leaf_price",
        (OPTIMAL, _has("objective", "loss")),
        "{} is compared with errors",
        idle=(0,),
    ),
    Need("objective", (OPTIMAL, CLASSES), "{} compares whole trees", idle=("loss",)),
    Need("time_limit", (OPTIMAL,), "{} limits the search for the optimal tree"),
    # Settings of rows that are seen once.
    Need("delta", (HOEFFDING,), "{} is the error probability of a split"),
    Need("grace_period", (HOEFFDING,), "{} is the number of rows between two checks"),
    Need("tie_threshold", (HOEFFDING,), "{} says when near ties are split"),
    Need(
        "max_active_leaves",
        (HOEFFDING,),
        "{} is the number of leaves that collect counts",
    ),
    Need(
        "leaves",
        (HOEFFDING,),
        "naive Bayes needs leaves that count every attribute",
        only=("adaptive",),
        instead=("use ", Setting("leaves", "mean")),
    ),
    Need("drift", (HOEFFDING,), "{} is a change over the order of rows", idle=(False,)),
    *(
        Need(name, (GREEDY,), "{} applies to greedy growing", idle=idle)
        for name, idle in (
            ("min_samples_split", (2,)),
            ("min_samples_leaf", (1,)),
            ("min_weight_fraction_leaf", (0,)),
            ("min_gain", (0,)),
            ("min_branch_share", (0,)),
            ("min_deviation", (0,)),
            ("min_cut_share", (0,)),
            ("min_step", (0,)),
            ("buckets", (None,)),
            ("linear_terms", (0,)),
            ("construct", (0,)),
            ("forest", (0,)),
            ("reuse_attributes", (True,)),
            ("thresholds", ("midpoint",)),
            ("pruning", ("none",)),
        )
    ),
    Need(
        "search",
        (_has("grouping", "binary"), _has("missing_policy", "branch", "drop")),
        "the search takes binary splits, with missing values on either side",
        only=("optimal",),
        instead="use another recipe, such as 'cart'",
    ),
    Need(
        "search",
        (
            CLASSES,
            _has("criterion", "gain", "gini"),
            _has("grouping", "multiway"),
            _has("missing_policy", "branch", "drop"),
        ),
        "leaves count classes, and Hoeffding's bound holds for these criteria",
        only=("hoeffding",),
        instead=ANOTHER_RECIPE,
    ),
    # Settings of classes.
    Need("probability", (CLASSES,), "{} is the estimate of class probabilities"),
    Need(
        "min_cut_share", (CLASSES,), "{} is a fraction of a class's weight", idle=(0,)
    ),
    Need(
        "pruning",
        (CLASSES,),
        "the method counts misclassified rows",
        only=("collapse", "error-based", "pessimistic", "mdl"),
    ),
    Need(
        "buckets",
        (CLASSES,),
        "the method separates values of different classes",
        only=("entropy-mdl",),
        instead=("use ", Setting("buckets", "equal-frequency")),
    ),
    # Settings of numbers.
    Need("min_deviation", (NUMBER,), "{} is a standard deviation", idle=(0,)),
    Need(
        "max_terms",
        (_has("leaves", "linear"),),
        "{} limits the terms of linear models",
        idle=(None,),
    ),
    Need("smoothing", (NUMBER,), "{} averages the predictions of nodes", idle=(0,)),
    Need(
        "leaves",
        (NUMBER,),
        "a linear model predicts a number",
        only=("linear",),
        instead=ANOTHER_RECIPE,
    ),
    Need(
        "leaves",
        (MODELS_USED,),
        "the model of an unpruned leaf is its mean",
        only=("linear",),
    ),
    Need(
        "grouping",
        (NUMBER,),
        "values are ordered by the mean of the target",
        only=("ordered",),
        instead=ANOTHER_RECIPE,
    ),
    Need(
        "pruning",
        (NUMBER,),
        "the method compares root mean squared errors",
        only=("adjusted-error",),
        instead=ANOTHER_RECIPE,
    ),
    # What contradicts itself.
    Need(
        "missing_policy",
        (_has("grouping", "binary", "ordered"),),
        "surrogates replace binary splits",
        only=("surrogate",),
        instead=(
            "use another policy, such as ",
            Setting("missing_policy", "fractional"),
        ),
    ),
    Need(
        "missing_policy",
        (_has("grouping", "multiway", "binary", "merge"),),
        "missing values have no place in the order of values by their means",
        only=("own-category",),
        instead=("use another policy, such as ", Setting("missing_policy", "mean")),
    ),
    Need(
        "pruning",
        (_has("leaves", "mean"),),
        "the method judges leaves by their means",
        only=("cost-complexity", "simplify", "reduced-error", "pre-pruning"),
        instead=("use ", Setting("pruning", "adjusted-error")),
    ),
)


def refuse_unusable(
    recipe: "Recipe", given: Collection[str] = (), *, numeric: bool | None = None
) -> None:
    """Refuse settings that have no effect with the recipe or its target.

    Parameters
    ----------
    recipe : Recipe
        The recipe with its settings.
    given : collection of str
        The settings that were given by hand.
    numeric : bool, optional
        Whether the target is a number, once that is known.

    Examples
    --------
    >>> from spinney.recipes.named_recipes import RECIPES
    >>> refuse_unusable(RECIPES["id3"])
    >>> refuse_unusable(RECIPES["id3"], ["confidence"])
    Traceback (most recent call last):
    spinney.errors.ParameterError: confidence=0.25 needs pruning='error-based', and \
recipe 'id3' has pruning='none': confidence is the level of the error estimates; use \
pruning='error-based', or remove confidence
    """
    target = {None: None, False: "classes", True: "a number"}[numeric]
    for need in NEEDS:
        value = getattr(recipe, need.setting)
        inherited = need.setting not in given
        if (inherited and not need.instead) or not need.concerns(value):
            continue
        for condition in need.conditions:
            obstacle = condition.obstacle(recipe, target)
            if obstacle is None:
                continue
            setting = Setting(need.setting, value)
            lack: Text = ("needs ", condition.text, ", and ", obstacle)
            if condition is NUMBER and inherited:
                lack = ("(", setting, ") ", lack)
                setting = Setting("recipe", recipe.name)
            name = Setting(need.setting)
            other: Text = ("remove ", name)
            if inherited or need.instead not in ("", ANOTHER_RECIPE):
                other = need.instead
            why = phrase(need.why, *[name] * need.why.count("{}"))
            raise refusal(setting, lack, (why, "; ", condition.remedy, ", or ", other))


def check_branches(criterion: Criterion, grouping: str) -> None:
    """Refuse a binary criterion if splits may have more branches.

    Thresholds have two branches anyway, but whether a recipe is valid must not depend
    on the table.
    """
    if criterion.binary and grouping != "binary":
        raise refusal(
            Setting("criterion", criterion.name),
            phrase(
                "compares two branches, and {} makes more of a nominal attribute",
                Setting("grouping", grouping),
            ),
            phrase(
                "use {} (as recipe 'cart' has), or use another criterion",
                Setting("grouping", "binary"),
            ),
        )
