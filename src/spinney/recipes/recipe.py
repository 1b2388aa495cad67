"""The recipe: every choice of the learner as data."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._support.arrays import Floats
from spinney._support.checks import (
    check_choice,
    check_named,
    check_number,
    check_seed,
    check_whole,
)
from spinney.errors import (
    ParameterError,
    Setting,
    Step,
    did_you_mean,
    refusal,
    refuse_unknown,
)
from spinney.recipes.needs import check_branches, refuse_unusable
from spinney.recipes.other_words import our_names, our_values
from spinney.recipes.vocabulary import (
    BUCKETINGS,
    CHOICES,
    GROUPINGS,
    GROWERS,
    MAX_BUCKETS,
    MISSING_POLICIES,
    GrowerTraits,
    check_alphas,
    known_names,
)
from spinney.trees import CountTable
from spinney.trees.criteria import CRITERIA, Criterion, criterion_named

Named = str | Callable[[CountTable], Any]
"""The name of a criterion, or a user's own function."""

# C4.5 requires no more than 25 rows a side, however large the node is.
MAX_SIDE_WEIGHT = 25.0
STEPS = 1000
# C4.5 takes a gain up to this for none, in bits.
NO_GAIN = 1e-6

# The most rows between two looks: a leaf holds as many before it has bins.
MAX_GRACE_PERIOD = 100_000

# The deepest trees of which all are searched.
MAX_OPTIMAL_DEPTH = 5

# Pruning methods that need what growing is not given.
_OF_A_GROWN_MODEL = {"manual": Setting("nodes", ...)}


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a tree is grown: every choice of the learner.

    ``Recipe.named("c4.5").changed(min_step=0)`` is C4.5 with another setting, and what
    estimators and :func:`spinney.grow` take as ``recipe``.

    Parameters
    ----------
    name : str
        The name of the recipe.
    criterion : {"gain", "gain_ratio", "gini", "misclassification", "chi_square", \
"g", "mdl", "c_sep", "twoing", "hellinger"} or function of a CountTable
        The measure of a split; see :mod:`spinney.trees.criteria`. A function gets the
        counts of one split, a line for each branch that has rows, and returns a
        number; higher is better.
    grouping : {"multiway", "binary", "ordered", "merge"}
        How a nominal attribute branches: one branch per value, two subsets, two parts
        of the values ordered by mean target (M5P), or merged groups (CHAID); see
        :mod:`spinney.search.chaid.merge_values`. Numeric and ordinal attributes get a
        threshold, except with "merge": numbers are then divided into 10 buckets of
        equal frequency unless ``buckets`` is set.
    missing_policy : {"fractional", "most-common", "own-category", "branch", "mean", \
"surrogate", "drop"}
        How missing values are treated; see :mod:`spinney.search.missing_values`.
    numeric_criterion : {"squared_error", "variance", "sdr", "variance_root", "f", \
"poisson"} or function
        The measure of a split for a numeric target; a function gets the moments Σw,
        Σwy, Σwy². Changing ``criterion`` changes it too.
    buckets : {"equal-width", "equal-frequency", "k-means", "entropy-mdl"}, optional
        How numbers are discretised before growing; see :mod:`spinney.search.buckets`.
        Thresholds then lie between buckets, and a multiway split has one branch per
        bucket.
    n_buckets : int
        Number of buckets, at most 100,000; "entropy-mdl" finds its own number.
    alpha_merge : float
        For "merge": values whose difference has a larger p are merged.
    alpha_resplit : float
        For "merge": a merged group with a smaller p is split again; below
        ``alpha_merge``, 0 for never.
    exhaustive : bool
        For "merge": merge down to two groups and take the most significant stage.
    alpha_split : float, optional
        For a test as criterion: the largest p of a split.
    max_depth : int, optional
        Maximum depth of the tree.
    max_leaves : int, optional
        Maximum number of leaves; the split with the largest gain over all rows comes
        first, unless all splits are optimised together.
    min_samples_split : float
        Minimum weight of a node to split; below 1, a fraction of the total weight.
    min_samples_leaf : float
        Minimum weight of at least two branches of a split (Quinlan's rule); below 1,
        a fraction of the total weight. With 1, branches only must not be empty.
    min_weight_fraction_leaf : float
        The same limit, always as a fraction of the total weight.
    min_gain : float
        Minimum gain of a split. 0 allows splits without gain, as the textbook
        algorithm does. C4.5 has 1e-6, which for a numeric target is a fraction of the
        root's variance.
    mdl_correction : bool
        Whether log₂(candidate thresholds) / weight of the node is subtracted from the
        gain of a threshold (Quinlan 1996).
    min_cut_share : float
        Minimum weight on both sides of a threshold, as a fraction of the average
        weight of a class; at most 25, at least min_samples_leaf. C4.5 has 0.1. Only
        for classes.
    min_step : float
        Minimum difference of two numbers for a threshold between them; C4.5 has
        0.00001. It does not apply to a column whose range is below 1000 steps.
    thresholds : {"midpoint", "observed"}
        Threshold between two numbers: their midpoint, or the greatest value of the
        training table that is not above it (C4.5).
    pruning : {"none", "collapse", "error-based", "cost-complexity", "pessimistic", \
"mdl", "simplify", "adjusted-error", "reduced-error", "pre-pruning"}
        Pruning method; see :mod:`spinney.growth.prune`. The method "collapse" removes
        subtrees that make no fewer training errors than a leaf; "error-based" also uses
        C4.5's expected errors; "cost-complexity" cross-validates CART's weakest links.
        Methods "reduced-error" and "pre-pruning" need a validation set, which
        "cost-complexity" uses too, if there is one. A numeric target supports
        "cost-complexity", "simplify", "reduced-error" and "pre-pruning", without
        linear leaves, and M5's "adjusted-error". Other methods of a named recipe have
        no effect on it, and are refused if you set them.
    folds : int
        For "cost-complexity": number of folds.
    rule : {"1-se", "half-se", "minimum"}
        For "cost-complexity": the smallest subtree within one or half a standard error
        of the least error, or the least error itself.
    forest : float
        Weight of a forest's predictions in the labels that the tree is grown on; see
        :mod:`spinney.growth.folds.teacher`.
    seed : int
        Random seed of folds and of the teaching forest, at most 4294967295.
    confidence : float
        Confidence level of error-based pruning, at most 0.5; smaller values prune more.
    raising : bool
        Whether error-based pruning may replace a node by its largest branch (subtree
        raising).
    probability : {"frequency", "laplace", "m-estimate"}
        Class probabilities of a node: proportions; (weight + 1) / (all + number of
        classes); or (weight + m · overall proportion) / (all + m). The last two shrink
        small leaves towards the uniform, or the overall, distribution.
    m : float
        Weight of the overall distribution in an m-estimate.
    min_branch_share : float
        Fraction of the node's weight that at least two branches must exceed; M5P has
        0.2.
    min_deviation : float
        Minimum standard deviation of a numeric target at a node to split, as a
        fraction of that of all rows; M5 has 0.05.
    leaves : {"mean", "linear", "adaptive"}
        Prediction of a leaf: the mean of its rows, or for a numeric target a linear
        model of the attributes of the splits below it before pruning; see
        :mod:`spinney.growth.model_trees.m5`. With "adaptive", for "hoeffding", a leaf
        uses naive Bayes during the stream if that was more accurate; see
        :mod:`spinney.extensions.streaming.kernels.naive_bayes`.
    max_terms : int, optional
        Maximum terms of the linear model of a leaf; M5 has no such limit. The recipe
        "auto" has 5 unless you set another.
    smoothing : float
        Weight, in rows, of the models above a leaf in its prediction; M5 has 15.
    linear_terms : int
        Maximum terms of a linear combination in a split; 0 for none. See
        :mod:`spinney.search.oblique.directions`.
    linear_penalty : float
        How much better a combination must be than the best attribute, per further
        term, as a fraction of its merit; see
        :mod:`spinney.search.oblique.combinations`.
    construct : int
        Maximum number of attributes to construct before growing: differences, ratios
        and conjunctions; see :mod:`spinney.growth.plain.construct`.
    surrogates : int
        With ``missing_policy="surrogate"``: maximum number of surrogates per node.
    reuse_attributes : bool
        Whether an attribute may split again below its own split, at another threshold
        or subset. A split with a branch per value uses an attribute up in any case.
    search : {"greedy", "optimal", "hoeffding"}
        How splits are chosen: each node takes its best split; all splits are optimised
        together, to a max_depth of at most 5; or leaves split during a stream. See
        :mod:`spinney.extensions.optimal` and :mod:`spinney.extensions.streaming`.
    objective : {"loss", "leaves", "path_length"}
        For "optimal": minimise the training loss, then leaves; or, among trees without
        avoidable errors, the number of leaves or the external path length.
    leaf_price : float
        For "optimal": cost of a leaf, in weight of misclassified rows, or in squared
        error; below 1, a fraction of the total.
    time_limit : float, optional
        For "optimal": seconds after which the best tree found is taken, with a bound
        on the least loss.
    delta : float
        For "hoeffding": probability that the best split so far is not the best.
    grace_period : int
        For "hoeffding": rows per leaf between two checks for a split.
    tie_threshold : float
        For "hoeffding": once Hoeffding's bound is below this, in the unit of the gain,
        the best split so far is taken.
    max_active_leaves : int
        For "hoeffding": maximum number of leaves that collect counts, which bounds the
        memory. Leaves with the most errors collect them.
    drift : bool
        For "hoeffding": whether nodes monitor the errors below them and start again if
        these rise; see :mod:`spinney.extensions.streaming.kernels.detect_drift`.
    tries : tuple of str
        Candidates among which cross-validation chooses; see
        :data:`spinney.recipes.named_recipes.TRIALS`. If empty, the recipe grows as it
        is.
    given : frozenset of str
        Settings that the user changed. They are refused where they have no effect, see
        :mod:`spinney.recipes.needs`.

    Examples
    --------
    >>> Recipe("own", "gain", "multiway", "fractional").changed(max_depth=2).max_depth
    2
    """

    name: str
    criterion: Named
    grouping: str
    missing_policy: str
    numeric_criterion: Named = "squared_error"
    buckets: str | None = None
    n_buckets: int = 10
    alpha_merge: float = 0.05
    alpha_resplit: float = 0.049
    exhaustive: bool = False
    alpha_split: float | None = None
    max_depth: int | None = None
    max_leaves: int | None = None
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_weight_fraction_leaf: float = 0.0
    min_gain: float = 0.0
    mdl_correction: bool = False
    min_cut_share: float = 0.0
    min_step: float = 0.0
    thresholds: str = "midpoint"
    pruning: str = "none"
    confidence: float = 0.25
    raising: bool = True
    probability: str = "frequency"
    m: float = 2.0
    folds: int = 10
    rule: str = "1-se"
    forest: float = 0.0
    seed: int = 0
    min_branch_share: float = 0.0
    min_deviation: float = 0.0
    leaves: str = "mean"
    max_terms: int | None = None
    smoothing: float = 0.0
    linear_terms: int = 0
    linear_penalty: float = 0.1
    construct: int = 0
    surrogates: int = 5
    reuse_attributes: bool = True
    search: str = "greedy"
    objective: str = "loss"
    leaf_price: float = 0.0
    time_limit: float | None = None
    delta: float = 1e-7
    grace_period: int = 200
    tie_threshold: float = 0.05
    max_active_leaves: int = 1000
    drift: bool = False
    tries: tuple[str, ...] = field(default=(), compare=False, repr=False)
    given: frozenset[str] = field(default=frozenset(), compare=False, repr=False)

    @classmethod
    def named(cls, name: "str | Recipe") -> "Recipe":
        """Return one of the recipes that have a name, to be changed.

        A recipe is returned as it is.

        Examples
        --------
        >>> Recipe.named("c4.5").changed(min_step=0).min_step
        0
        >>> Recipe.named("c45")
        Traceback (most recent call last):
        spinney.errors.ParameterError: recipe='c45' is unknown: did you mean 'c4.5'?
        """
        from spinney.recipes.named_recipes import RECIPES

        if isinstance(name, Recipe):
            return name
        if isinstance(name, str) and name in RECIPES:
            return RECIPES[name]
        refuse_unknown("recipe", name, RECIPES)

    def __repr__(self) -> str:
        """Return the recipe of its name, and what is changed of it.

        >>> Recipe.named("c4.5").changed(min_step=0)
        Recipe.named('c4.5').changed(min_step=0)
        """
        from spinney.recipes.named_recipes import RECIPES

        named = RECIPES.get(self.name)
        defaults = {
            setting.name: setting.default for setting in fields(self) if setting.repr
        }
        if named is not None:
            defaults = {name: getattr(named, name) for name in defaults}
        settings = ", ".join(
            f"{name}={getattr(self, name)!r}"
            for name, default in defaults.items()
            if getattr(self, name) != default
        )
        if named is None:
            return f"Recipe({settings})"
        changed = f".changed({settings})" if settings else ""
        return f"Recipe.named({self.name!r}){changed}"

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        criterion = criterion_named(self.criterion)
        criterion_named(self.numeric_criterion)
        check_named("missing_policy", self.missing_policy, MISSING_POLICIES)
        check_named("grouping", self.grouping, GROUPINGS)
        check_branches(criterion, self.grouping)
        if self.buckets is not None:
            check_named("buckets", self.buckets, BUCKETINGS)
        check_alphas(self.alpha_merge, self.alpha_resplit)
        check_number("alpha_split", self.alpha_split, most=1, optional=True)
        check_whole("n_buckets", self.n_buckets, least=2, most=MAX_BUCKETS)
        check_whole("surrogates", self.surrogates, least=0)
        check_whole("max_depth", self.max_depth, least=0, optional=True)
        check_whole("max_leaves", self.max_leaves, least=1, optional=True)
        check_whole("max_terms", self.max_terms, least=1, optional=True)
        check_whole("linear_terms", self.linear_terms, least=0)
        if self.linear_terms == 1:
            raise refusal(
                Setting("linear_terms", 1),
                "combines nothing",
                "take 2 or more, or 0 for none",
            )
        check_whole("construct", self.construct, least=0)
        for name in ("min_samples_split", "min_samples_leaf", "min_gain"):
            check_number(name, getattr(self, name))
        check_whole("folds", self.folds, least=2)
        check_seed("seed", self.seed)
        check_number("forest", self.forest, most=1.0)
        check_number("time_limit", self.time_limit, optional=True)
        for name in ("min_step", "m", "smoothing", "linear_penalty", "leaf_price"):
            check_number(name, getattr(self, name))
        for name in ("min_weight_fraction_leaf", "confidence", "min_branch_share"):
            check_number(name, getattr(self, name), most=0.5)
        for name in ("min_cut_share", "min_deviation"):
            check_number(name, getattr(self, name), most=1.0)
        if not self.confidence > 0:
            raise refusal(
                Setting("confidence", self.confidence), "must be above 0; C4.5 has 0.25"
            )
        for name in (
            "exhaustive",
            "mdl_correction",
            "raising",
            "reuse_attributes",
            "drift",
        ):
            check_choice(name, getattr(self, name))
        check_number("delta", self.delta, most=1.0)
        check_number("tie_threshold", self.tie_threshold)
        check_whole("grace_period", self.grace_period, least=1, most=MAX_GRACE_PERIOD)
        check_whole("max_active_leaves", self.max_active_leaves, least=1)
        if not 0 < self.delta < 1:
            raise refusal(Setting("delta", self.delta), "must be between 0 and 1")
        if self.grower.seeks_whole_trees:
            _refuse_deep_search(self.max_depth)
        _refuse_methods_of_grown_models(self.pruning)
        for name in CHOICES:
            value = getattr(self, name)
            check_named(name, value, known_names(name, value))
        if not self.tries:  # else each of its candidates is asked
            refuse_unusable(self)

    @property
    def grower(self) -> GrowerTraits:
        """The traits of the recipe's grower."""
        return GROWERS.get(self.search, GrowerTraits())

    @property
    def needs_rows(self) -> bool:
        """Whether growing needs more than count tables."""
        by_rows = self.forest > 0 or self.pruning == "cost-complexity"
        return by_rows or self.grower.needs_rows

    @property
    def fits_models(self) -> bool:
        """Whether the nodes of a regression tree have linear models."""
        by_models = self.leaves == "linear" or self.pruning == "adjusted-error"
        return by_models or self.smoothing > 0

    @property
    def bucketing(self) -> str | None:
        """The bucket method for numbers, or None."""
        if self.buckets is None and self.grouping == "merge":
            return "equal-frequency"
        return self.buckets

    @property
    def drops_rows(self) -> bool:
        """Whether rows with a missing cell are dropped before growing."""
        return self.missing_policy == "drop"

    @property
    def counts_from_zero(self) -> bool:
        """Whether a numeric target is measured from 0, as counts."""
        return criterion_named(self.numeric_criterion).from_zero

    @property
    def has_shares(self) -> bool:
        """Whether a limit is a fraction of the weight of all rows."""
        limits = self.min_samples_split, self.min_samples_leaf
        return self.min_weight_fraction_leaf > 0 or any(0 < x < 1 for x in limits)

    def min_node_weight(self, total: float) -> float:
        """Return the minimum weight of a node to split, if all rows weigh ``total``.

        It is 0 if two rows suffice.
        """
        return _least_weight(self.min_samples_split, total, free=2)

    def min_branch_weight(self, total: float) -> float:
        """Return the least weight of a branch, where all rows weigh ``total``.

        >>> cart = Recipe.named("cart")
        >>> limited = [cart.changed(min_samples_leaf=n) for n in (1, 7, 0.1)]
        >>> [recipe.min_branch_weight(200) for recipe in limited]
        [0.0, 7.0, 20.0]
        """
        least = _least_weight(self.min_samples_leaf, total, free=1)
        return max(least, self.min_weight_fraction_leaf * total)

    def min_side_weight(self, known: Floats, n_classes: int) -> Floats:
        """Return the least weight of a threshold's side, of ``known`` weights.

        >>> from spinney.recipes.named_recipes import RECIPES
        >>> RECIPES["c4.5"].min_side_weight(np.array([150.0, 21.0]), 3)
        array([5. , 0.7])
        """
        return np.minimum(self.min_cut_share * known / n_classes, MAX_SIDE_WEIGHT)

    def min_step_of(self, values: NDArray[Any] | None) -> float:
        """Return the minimum difference of numbers for a threshold between them."""
        if values is None or not len(values):
            return self.min_step
        with np.errstate(over="ignore"):
            is_narrow = values[-1] - values[0] < STEPS * self.min_step
        return 0.0 if is_narrow else self.min_step

    def measure(self, *, numeric: bool) -> Criterion:
        """Return the criterion for classes, or for a numeric target."""
        criterion = criterion_named(
            self.numeric_criterion if numeric else self.criterion
        )
        if criterion.suits(numeric=numeric):
            return criterion
        kind = "a number" if numeric else "classes"
        fitting = [c.name for c in CRITERIA.values() if c.numeric == numeric]
        raise refusal(
            Setting("criterion", criterion.name),
            f"does not suit a target that is {kind}",
            f"use {', '.join(map(repr, fitting))}",
        )

    def in_unit(self, unit: float) -> "Recipe":
        """Return the recipe for a numeric target whose gains have this unit.

        Only the ``NO_GAIN`` of C4.5 is scaled; another minimum is in the gain's unit.
        """
        if self.min_gain != NO_GAIN:
            return self
        return replace(self, min_gain=NO_GAIN * unit)

    def refuse_target(self, *, numeric: bool) -> None:
        """Refuse settings that have no effect on this kind of target."""
        if self.tries:
            self._refuse_if_no_candidate(numeric)
        else:
            refuse_unusable(self, self.given, numeric=numeric)

    def changed(self, **settings: Any) -> "Recipe":
        """Return the recipe with these settings; None leaves one as it is.

        One that the recipe then has no use for is refused. The words of other programs
        that :mod:`spinney.recipes.other_words` knows are taken for ours.

        Examples
        --------
        >>> from spinney.recipes.named_recipes import RECIPES
        >>> RECIPES["id3"].changed(m=3)
        Traceback (most recent call last):
        spinney.errors.ParameterError: m=3 needs probability='m-estimate', and \
recipe 'id3' has probability='frequency': m is the weight of the prior; use \
probability='m-estimate', or remove m
        """
        settings = our_values(our_names(settings))
        not_settings = {"given", "tries"}
        known = [field.name for field in fields(self) if field.name not in not_settings]
        for name in settings:
            if name not in known:
                msg = f"a recipe has no {name!r}: {did_you_mean(name, known)}"
                raise ParameterError(msg)
        given = {name: value for name, value in settings.items() if value is not None}
        if not given:
            return self
        by_hand = self.given.union(given)
        if "criterion" in given:
            given.setdefault("numeric_criterion", given["criterion"])
        recipe = replace(self, **given, given=by_hand)
        if recipe.tries:
            recipe._refuse_if_no_candidate(False, True)
        else:
            refuse_unusable(recipe, by_hand)
        return recipe

    def _refuse_if_no_candidate(self, *targets: bool) -> None:
        """Refuse settings without effect for all candidates, for each of the targets.

        A target is true if it is numeric.
        """
        from spinney.recipes.named_recipes import candidates_of

        refusals = []
        for numeric in targets:
            try:
                candidates_of(self, numeric=numeric)
            except ParameterError as error:
                refusals.append(error)
        if len(refusals) == len(targets):
            raise refusals[0]


def _least_weight(limit: float, total: float, *, free: float) -> float:
    """Return a limit as a weight: a fraction below 1, or 0 up to ``free``."""
    if 0 < limit < 1:
        return float(limit) * total
    return float(limit) if limit > free else 0.0


def _refuse_deep_search(max_depth: int | None) -> None:
    if max_depth is None or max_depth > MAX_OPTIMAL_DEPTH:
        raise refusal(
            Setting("max_depth", max_depth),
            f"is too deep to search all trees: {MAX_OPTIMAL_DEPTH} at most",
            "lower it, or use a recipe that grows greedily, such as 'cart'",
        )


def _refuse_methods_of_grown_models(method: object) -> None:
    if not isinstance(method, str) or method not in _OF_A_GROWN_MODEL:
        return
    prune = Step("prune", (Setting("pruning", method), _OF_A_GROWN_MODEL[method]))
    raise refusal(Setting("pruning", method), "needs a grown model", prune)
