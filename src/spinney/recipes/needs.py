"""The table of requirements of settings.

A setting that a user gives and that would have no effect is refused, since the tree
would mislead. A named recipe may have such settings: ``c4.5`` says how classes are
pruned and grows numbers too. So only settings given by hand (``recipe.given``) are
checked, but for rows with an ``instead``: without what these need there is no tree.

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
        The condition, as a user would write it.
    obstacle : function of a Recipe and a target
        What the recipe has instead; None if the condition holds, or may yet. A target
        is "classes" or "a number", and None as long as it is unknown.
    remedy : str
        How to make it hold.
    """

    text: Text
    obstacle: Callable[["Recipe", str | None], Text | None]
    remedy: str = "change that"


@dataclass(frozen=True, slots=True)
class Need:
    """The requirements of one setting.

    Parameters
    ----------
    setting : str
        Its name.
    conditions : Requirements
        All of them must hold.
    why : str
        The role of the setting, which explains the need.
    only : collection
        The values that need it; all, if there are none.
    idle : collection
        Values without an effect, and so without a need.
    instead : Text
        The alternative, if the need is that of every recipe: such a setting is refused
        whether it was given by hand or not.
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
    return Requirement((Setting(setting, first), or_alternatives), obstacle)


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
TEST = Requirement("a criterion that is a test, 'chi_square', 'g' or 'f'", _no_test)
BITS = Requirement((Setting("criterion", "gain"), " or 'gain_ratio'"), _no_bits)
BUCKETS = Requirement(
    (Setting("buckets", "equal-width"), ", 'equal-frequency' or 'k-means'"),
    _uncounted_buckets,
)
NO_BUCKETS = Requirement("numbers that are in no buckets", _in_buckets)
SEVERAL_TERMS = Requirement(
    phrase(
        "{} or more, or {} or more", Setting("linear_terms", 2), Setting("construct", 1)
    ),
    _single_attributes,
)
MODELS_USED = Requirement(
    phrase(
        "{} or {} above 0", Setting("pruning", "adjusted-error"), Setting("smoothing")
    ),
    _means_alone,
)
MERGED = _has("grouping", "merge")
NOT_EXHAUSTIVE = Requirement("merging that is not exhaustive", _no_level)
ERROR_BASED = _has("pruning", "error-based")
COST_COMPLEXITY = _has("pruning", "cost-complexity")
GREEDY = _has("search", "greedy")
OPTIMAL = _has("search", "optimal")
HOEFFDING = _has("search", "hoeffding")
ANOTHER_RECIPE = "use another recipe, such as 'c4.5', 'cart' or 'chaid'"

NEEDS = (
    # Settings that qualify another one.
    Need("n_buckets", (BUCKETS,), "it is their number"),
    Need(
        "alpha_merge", (MERGED, NOT_EXHAUSTIVE), "it is the level that values merge by"
    ),
    Need(
        "alpha_resplit",
        (MERGED, NOT_EXHAUSTIVE),
        "it is the level that groups part by",
        idle=(0,),
    ),
    Need("exhaustive", (MERGED,), "it is a way to merge values", idle=(False,)),
    Need("alpha_split", (TEST,), "it is the largest p of a split"),
    Need("folds", (COST_COMPLEXITY,), "they choose among its trees"),
    Need("rule", (COST_COMPLEXITY,), "it chooses among its trees"),
    Need("confidence", (ERROR_BASED, CLASSES), "it is the level of its estimates"),
    Need("raising", (ERROR_BASED, CLASSES), "it is a step of it", idle=(False,)),
    Need("m", (_has("probability", "m-estimate"), CLASSES), "it is its weight"),
    Need("linear_penalty", (SEVERAL_TERMS,), "it is the price of further attributes"),
    Need(
        "surrogates",
        (_has("missing_policy", "surrogate"),),
        "it is how many a node keeps",
        idle=(0,),
    ),
    Need(
        "thresholds",
        (NO_BUCKETS,),
        "between buckets a threshold is the cut that parts them",
    ),
    Need(
        "min_step",
        (NO_BUCKETS,),
        "between buckets a threshold is the cut that parts them",
        idle=(0,),
    ),
    Need(
        "mdl_correction",
        (BITS, _has("grouping", "multiway", "binary"), CLASSES),
        "it takes bits off the gain of a threshold",
        idle=(False,),
    ),
    # Settings of a search over all trees, and of one split after the other.
    Need(
        "leaf_price",
        (OPTIMAL, _has("objective", "loss")),
        "it is weighed against errors",
        idle=(0,),
    ),
    Need("objective", (OPTIMAL, CLASSES), "it compares all trees", idle=("loss",)),
    Need("time_limit", (OPTIMAL,), "it is the longest search"),
    # Settings of rows that are seen once.
    Need("delta", (HOEFFDING,), "it is how sure a leaf is to be"),
    Need("grace_period", (HOEFFDING,), "it is the time between two looks at a leaf"),
    Need("tie_threshold", (HOEFFDING,), "it is when a leaf waits no longer"),
    Need("max_active_leaves", (HOEFFDING,), "it is how many leaves count"),
    Need(
        "leaves",
        (HOEFFDING,),
        "it is what leaves tell that count every attribute",
        only=("adaptive",),
        instead=("take ", Setting("leaves", "mean")),
    ),
    Need("drift", (HOEFFDING,), "it is what the order of rows tells", idle=(False,)),
    *(
        Need(name, (GREEDY,), "it limits single splits", idle=idle)
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
        "questions of two answers are searched, missing values going to either side",
        only=("optimal",),
        instead="take another recipe, such as 'cart'",
    ),
    Need(
        "search",
        (
            CLASSES,
            _has("criterion", "gain", "gini"),
            _has("grouping", "multiway"),
            _has("missing_policy", "branch", "drop"),
        ),
        "leaves count classes, and a bound is known for these gains",
        only=("hoeffding",),
        instead=ANOTHER_RECIPE,
    ),
    # Settings of classes.
    Need("probability", (CLASSES,), "it is the probability of each class"),
    Need("min_cut_share", (CLASSES,), "it is a share of a class's weight", idle=(0,)),
    Need(
        "pruning",
        (CLASSES,),
        "it counts wrong labels",
        only=("collapse", "error-based", "pessimistic", "mdl"),
    ),
    Need(
        "buckets",
        (CLASSES,),
        "it parts values of different classes",
        only=("entropy-mdl",),
        instead=("take ", Setting("buckets", "equal-frequency")),
    ),
    # Settings of numbers.
    Need("min_deviation", (NUMBER,), "it is a standard deviation", idle=(0,)),
    Need(
        "max_terms",
        (_has("leaves", "linear"),),
        "it limits the terms of linear models",
        idle=(None,),
    ),
    Need("smoothing", (NUMBER,), "it averages the numbers of nodes", idle=(0,)),
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
        "a leaf of an unpruned tree has no attribute left to model",
        only=("linear",),
    ),
    Need(
        "grouping",
        (NUMBER,),
        "values are ordered by their means",
        only=("ordered",),
        instead=ANOTHER_RECIPE,
    ),
    Need(
        "pruning",
        (NUMBER,),
        "errors are those of numbers",
        only=("adjusted-error",),
        instead=ANOTHER_RECIPE,
    ),
    # What contradicts itself.
    Need(
        "missing_policy",
        (_has("grouping", "binary", "ordered"),),
        "surrogates stand in for splits of two branches",
        only=("surrogate",),
        instead=("take another, such as ", Setting("missing_policy", "fractional")),
    ),
    Need(
        "missing_policy",
        (_has("grouping", "multiway", "binary", "merge"),),
        "the order of values by their means has no place for missing ones",
        only=("own-category",),
        instead=("take another, such as ", Setting("missing_policy", "mean")),
    ),
    Need(
        "pruning",
        (_has("leaves", "mean"),),
        "it judges leaves by their means",
        only=("cost-complexity", "simplify", "reduced-error", "pre-pruning"),
        instead=("take ", Setting("pruning", "adjusted-error")),
    ),
)


def refuse_unusable(
    recipe: "Recipe", given: Collection[str] = (), *, numeric: bool | None = None
) -> None:
    """Refuse settings that the recipe, or its target, has no use for.

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
recipe 'id3' has pruning='none': it is the level of its estimates; change that, or \
leave this setting out
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
            other: Text = "leave this setting out"
            if inherited or need.instead not in ("", ANOTHER_RECIPE):
                other = need.instead
            remedy = f"{need.why}; {condition.remedy}, or "
            raise refusal(setting, lack, (remedy, other))


def check_branches(criterion: Criterion, grouping: str) -> None:
    """Refuse a criterion of two branches where there may be more.

    Thresholds have two anyway, but whether a recipe can be used must not depend on
    the table that it meets.
    """
    if criterion.binary and grouping != "binary":
        raise refusal(
            Setting("criterion", criterion.name),
            phrase(
                "compares two branches, and {} makes more of a nominal attribute",
                Setting("grouping", grouping),
            ),
            phrase(
                'set {} (the recipe "cart" has it), or take another criterion',
                Setting("grouping", "binary"),
            ),
        )
