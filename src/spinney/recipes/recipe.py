"""What a recipe is: every choice of the learner as data."""

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

# C4.5 asks for no more than 25 rows a side, however large the node is.
MAX_SIDE_WEIGHT = 25.0
STEPS = 1000
# What C4.5 takes for no gain at all, in bits.
NOTHING = 1e-6

# The most rows between two looks: a leaf holds as many before it has bins.
MAX_GRACE_PERIOD = 100_000

# The deepest trees of which all are searched.
MAX_SEARCHED_DEPTH = 5

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
        What the user types.
    criterion : {"gain", "gain_ratio", "gini", "misclassification", "chi_square", \
"g", "mdl", "c_sep", "twoing", "hellinger"} or function of a CountTable
        What a good split is; see :mod:`spinney.trees.criteria`. A function is given the
        counts of one split, a line for each branch that has rows, and returns a
        number, the higher the better.
    grouping : {"multiway", "binary", "ordered", "merge"}
        How a nominal attribute branches: one branch for each value, two subsets, two
        parts of the order that the mean of a numeric target gives its values over all
        rows (M5P), or groups that CHAID merges; see
        :mod:`spinney.search.chaid.merge_values`. But for the last, numeric and ordinal
        attributes get a threshold; to be merged, numbers are put into 10 buckets of
        equal frequency unless ``buckets`` says otherwise.
    missing_policy : {"fractional", "most-common", "own-category", "branch", "mean", \
"surrogate", "drop"}
        What a missing value means; see :mod:`spinney.search.missing_values`.
    numeric_criterion : {"squared_error", "variance", "sdr", "variance_root", "f", \
"poisson"} or function
        What a good split is where the target is a number; a function is given the
        moments Σw, Σwy, Σwy². Changing ``criterion`` changes it too.
    buckets : {"equal-width", "equal-frequency", "k-means", "entropy-mdl"}, optional
        How numbers are put into buckets, once for all rows; see
        :mod:`spinney.search.buckets`. Then cuts are made between buckets only, and a
        multiway split has one branch per bucket.
    n_buckets : int
        How many buckets, at most 100,000; "entropy-mdl" finds its own number.
    alpha_merge : float
        For "merge": values whose difference has a larger p are merged.
    alpha_resplit : float
        For "merge": a merged group is taken apart where p is smaller than this, which
        is below ``alpha_merge``; 0 leaves all whole.
    exhaustive : bool
        For "merge": down to two groups, and back to the most significant stage.
    alpha_split : float, optional
        Where the criterion is a test: the largest p of a split.
    max_depth : int, optional
        The longest path, in questions.
    max_leaves : int, optional
        The most leaves; the split that gains most over all rows comes first, unless
        all splits are sought together.
    min_samples_split : float
        The least weight that a node needs to be split; below 1, a share of the weight
        of all rows.
    min_samples_leaf : float
        The least weight that two branches of a split need each (Quinlan's rule;
        for two branches it means both); below 1, a share of the weight of all rows.
        1 asks only that they are not empty.
    min_weight_fraction_leaf : float
        The same limit, always a share of the weight of all rows.
    min_gain : float
        The least gain of a split. 0 allows splits that gain nothing by
        themselves, as the textbook algorithm does. 1e-6, which C4.5 takes for
        nothing, is a share of the root's variance where the target is a number.
    mdl_correction : bool
        Whether the gain of a threshold, where it is counted in bits, is reduced by
        log₂(thresholds tried) / weight of the node: the cost of saying which one
        was taken (Quinlan 1996).
    min_cut_share : float
        The least weight of both sides of a threshold as a share of the average
        weight of a class; no more than 25, no less than ``min_samples_leaf``.
        C4.5 has 0.1. Only where the target has classes.
    min_step : float
        How far apart two neighbouring numbers must be for a threshold between them;
        C4.5 has 0.00001. It is not asked of a column whose values span less than
        1000 steps: that one is measured in another unit.
    thresholds : {"midpoint", "observed"}
        Whether a threshold is the midpoint of its neighbours, or the greatest value
        of the whole training table that is not above it (C4.5).
    pruning : {"none", "collapse", "error-based", "cost-complexity", "pessimistic", \
"mdl", "simplify", "adjusted-error", "reduced-error", "pre-pruning"}
        What is done to the grown tree. Nothing; subtrees that make no fewer training
        errors than a leaf become one; that, and C4.5's pruning by the errors to be
        expected; CART's by weakest links, cross-validated; and others, see
        :mod:`spinney.growth.prune`. "reduced-error" and "pre-pruning" go by rows that
        the tree is not grown on, from the bottom up when it is grown, and from the top
        down while it grows; such rows choose for "cost-complexity" too, if there are
        any. Of these, numbers know "cost-complexity", "simplify", "reduced-error" and
        "pre-pruning" only, which go by means and so not with linear leaves; the others
        leave them as they are where a named recipe brings them, and are refused where a
        user asks for them. For numbers alone there is M5's "adjusted-error": each node
        against the branches below it, by errors that grow with the number of terms.
    folds : int
        For "cost-complexity": how many folds choose among the subtrees.
    rule : {"1-se", "half-se", "minimum"}
        For "cost-complexity": how far from the least risk, in standard errors, a
        smaller tree may be.
    forest : float
        The share of a forest's guesses in the labels that the tree grows on; see
        :mod:`spinney.growth.folds.teacher`.
    seed : int
        Of the folds and of a forest, at most 4294967295.
    confidence : float
        The confidence level of error-based pruning, at most 0.5; less prunes more.
    raising : bool
        Whether error-based pruning may put a node's largest branch in its place.
    probability : {"frequency", "laplace", "m-estimate"}
        What a node predicts of each class: its share; (weight + 1) / (all + number
        of classes); or (weight + m · share among all rows) / (all + m). The last
        two pull small leaves towards the even, or the whole table's, distribution.
    m : float
        The weight of the whole table's distribution in an m-estimate.
    min_branch_share : float
        The share of their node's weight that two branches need to exceed each; M5P
        has 0.2, and 0 asks for nothing.
    min_deviation : float
        The least standard deviation of a numeric target at a node to split, as a
        share of that of all rows; M5 has 0.05.
    leaves : {"mean", "linear", "adaptive"}
        What a leaf of a numeric target predicts: the mean of its rows, or a linear
        model of the attributes that were asked below it before pruning; see
        :mod:`spinney.growth.model_trees.m5`. "adaptive" is for classes by "hoeffding":
        as long as rows come, a leaf tells by naive Bayes where that was right more
        often than its counts; see
        :mod:`spinney.extensions.streaming.kernels.naive_bayes`.
    smoothing : float
        The weight with which the nodes above a leaf join in its number, in rows; M5
        has 15.
    linear_terms : int
        The most terms of a linear combination of numbers that a node may ask about;
        0 for none. See :mod:`spinney.search.oblique.directions`.
    linear_penalty : float
        By how much more, for each further term, a combination must beat the best
        single attribute, as a share of its merit; see
        :mod:`spinney.search.oblique.combinations`.
    construct : int
        The most attributes to make of others before growing: differences, ratios
        and conjunctions; see :mod:`spinney.growth.plain.construct`.
    surrogates : int
        With ``missing_policy="surrogate"``: the most that a node keeps.
    reuse_attributes : bool
        Whether an attribute may be asked about again below a node that has asked about
        it: numbers at another cut, subsets of values. A branch a value leaves nothing
        to ask in any case.
    search : {"greedy", "optimal", "hoeffding"}
        Whether each node takes the split that is best for it, or all splits are sought
        together: the best of all trees of this ``max_depth``, 5 at most, and of
        ``max_leaves``; see :mod:`spinney.extensions.optimal`. Or rows are seen once, in
        their order, and a leaf asks what has proven best on those that came to it; see
        :mod:`spinney.extensions.streaming`.
    objective : {"loss", "leaves", "path_length"}
        For "optimal": what the best tree has least of. "loss" are its errors, or what
        they cost, and among trees of the same loss it is leaves; "leaves" and
        "path_length", the questions that all rows are asked, are of trees without an
        error that could be avoided.
    leaf_price : float
        For "optimal": what a leaf costs, in the weight of wrong rows, or in squares
        where the target is a number; below 1, a share of the weight, or squares, of all
        rows.
    time_limit : float, optional
        For "optimal": seconds after which the best tree found is taken, with a bound
        on what a better one could save.
    delta : float
        For "hoeffding": the chance that a question which has proven best is not.
    grace_period : int
        For "hoeffding": how many rows come to a leaf between two looks at its counts.
    tie_threshold : float
        For "hoeffding": once Hoeffding's bound is below this, in the unit of the gain,
        questions are equally good, and the best so far is taken.
    max_active_leaves : int
        For "hoeffding": the most leaves that count at a time, which is what bounds the
        memory; those that get most rows wrong.
    drift : bool
        For "hoeffding": whether nodes watch the errors below them, and begin anew where
        these rise; see :mod:`spinney.extensions.streaming.kernels.detect_drift`.
    tries : tuple of str
        The ways to grow among which folds of the rows choose; see
        :data:`spinney.recipes.named_recipes.TRIALS`. A recipe without any grows as it
        says itself.
    given : frozenset of str
        The settings that were changed by hand: they are refused where they have no
        effect, see :mod:`spinney.recipes.needs`.

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

        base = RECIPES.get(self.name)
        others = {each.name: each.default for each in fields(self) if each.repr}
        if base is not None:
            others = {name: getattr(base, name) for name in others}
        settings = ", ".join(
            f"{name}={getattr(self, name)!r}"
            for name, other in others.items()
            if getattr(self, name) != other
        )
        if base is None:
            return f"Recipe({settings})"
        changed = f".changed({settings})" if settings else ""
        return f"Recipe.named({self.name!r}){changed}"

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
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
        """What its way to grow asks for."""
        return GROWERS.get(self.search, GrowerTraits())

    @property
    def needs_rows(self) -> bool:
        """Whether growing asks for more than count tables can tell."""
        by_rows = self.forest > 0 or self.pruning == "cost-complexity"
        return by_rows or self.grower.needs_rows

    @property
    def fits_models(self) -> bool:
        """Whether the nodes of a tree of numbers are fitted by linear models."""
        by_models = self.leaves == "linear" or self.pruning == "adjusted-error"
        return by_models or self.smoothing > 0

    @property
    def bucketing(self) -> str | None:
        """How numbers are put into buckets, if they are."""
        if self.buckets is None and self.grouping == "merge":
            return "equal-frequency"
        return self.buckets

    @property
    def drops_rows(self) -> bool:
        """Whether rows that lack a cell are left out before growing."""
        return self.missing_policy == "drop"

    @property
    def counts_from_zero(self) -> bool:
        """Whether the numbers of a target are counts, measured from 0."""
        return criterion_named(self.numeric_criterion).from_zero

    @property
    def has_shares(self) -> bool:
        """Whether a limit is a share of the weight of all rows."""
        limits = self.min_samples_split, self.min_samples_leaf
        return self.min_weight_fraction_leaf > 0 or any(0 < x < 1 for x in limits)

    def least_node(self, total: float) -> float:
        """Return the least weight of a node to split, where all rows weigh ``total``.

        It is 0 where two rows will do.
        """
        return _least_weight(self.min_samples_split, total, free=2)

    def least_branch(self, total: float) -> float:
        """Return the least weight of a branch, where all rows weigh ``total``.

        >>> recipe = Recipe.named("cart")
        >>> [recipe.changed(min_samples_leaf=n).least_branch(200) for n in (1, 7, 0.1)]
        [0.0, 7.0, 20.0]
        """
        least = _least_weight(self.min_samples_leaf, total, free=1)
        return max(least, self.min_weight_fraction_leaf * total)

    def least_side(self, known: Floats, n_classes: int) -> Floats:
        """Return the least weight of a threshold's side, of ``known`` weights.

        >>> from spinney.recipes.named_recipes import RECIPES
        >>> RECIPES["c4.5"].least_side(np.array([150.0, 21.0]), 3)
        array([5. , 0.7])
        """
        return np.minimum(self.min_cut_share * known / n_classes, MAX_SIDE_WEIGHT)

    def step_of(self, values: NDArray[Any] | None) -> float:
        """Return the least step between numbers, where all of a column are these."""
        if values is None or not len(values):
            return self.min_step
        with np.errstate(over="ignore"):
            few = values[-1] - values[0] < STEPS * self.min_step
        return 0.0 if few else self.min_step

    def measure(self, *, numeric: bool) -> Criterion:
        """Return the criterion for classes, or for a numeric target."""
        criterion = criterion_named(
            self.numeric_criterion if numeric else self.criterion
        )
        if criterion.suits(numeric=numeric):
            return criterion
        wanted = "a number" if numeric else "classes"
        fitting = [c.name for c in CRITERIA.values() if c.numeric == numeric]
        raise refusal(
            Setting("criterion", criterion.name),
            f"does not suit a target that is {wanted}",
            f"use {', '.join(map(repr, fitting))}",
        )

    def in_unit(self, unit: float) -> "Recipe":
        """Return the recipe for a numeric target whose gains have this unit.

        Nothing is nothing in any unit; any other least gain is in that of the gain.
        """
        if self.min_gain != NOTHING:
            return self
        return replace(self, min_gain=NOTHING * unit)

    def refuse_target(self, *, numeric: bool) -> None:
        """Refuse settings that have no effect on a target that is, or is no, number."""
        if self.tries:
            self._refuse_what_none_can_use(numeric)
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
recipe 'id3' has probability='frequency': it is its weight; change that, or leave \
this setting out
        """
        settings = our_values(our_names(settings))
        own = {"given", "tries"}
        known = [field.name for field in fields(self) if field.name not in own]
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
            recipe._refuse_what_none_can_use(False, True)
        else:
            refuse_unusable(recipe, by_hand)
        return recipe

    def _refuse_what_none_can_use(self, *targets: bool) -> None:
        """Refuse settings that no candidate for any of the targets has a use for.

        A target is a number where it says so, and has classes where not.
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
    """Return a limit as a weight: below 1 it is a share, up to ``free`` it is none."""
    if 0 < limit < 1:
        return float(limit) * total
    return float(limit) if limit > free else 0.0


def _refuse_deep_search(max_depth: int | None) -> None:
    if max_depth is None or max_depth > MAX_SEARCHED_DEPTH:
        raise refusal(
            Setting("max_depth", max_depth),
            f"is too deep to search all trees: {MAX_SEARCHED_DEPTH} at most",
            "lower it, or use a recipe that grows greedily, such as 'cart'",
        )


def _refuse_methods_of_grown_models(method: object) -> None:
    if not isinstance(method, str) or method not in _OF_A_GROWN_MODEL:
        return
    prune = Step("prune", (Setting("pruning", method), _OF_A_GROWN_MODEL[method]))
    raise refusal(Setting("pruning", method), "needs a grown model", prune)
