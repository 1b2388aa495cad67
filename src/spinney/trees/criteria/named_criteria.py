"""The criteria by name."""

from typing import TYPE_CHECKING, Any

from spinney.errors import Setting, refusal, refuse_unknown
from spinney.trees.criteria import arithmetic, gains, impurity, separation
from spinney.trees.criteria import significance_criteria as tests
from spinney.trees.criteria.criterion import Criterion, Measure
from spinney.trees.criteria.user_function import function_criterion, stored_criterion

if TYPE_CHECKING:
    from collections.abc import Callable

    from spinney.trees.counts import CountTable

# The variance κm, with m = Σwy² / Σw, is known to some roundings u ≈ 1e-16 of m; below
# κ = 1e-12 it counts as 0 (``spread_of``). So its square root is known to
# u κ^(−1/2) / 2 ≤ 1e-10 of √m, well within this tolerance, but its fifth root to
# u κ^(−4/5) / 5 ≤ 1e-7 of the unit, and within it from κ ≈ 1e-9 on: numbers of a branch
# that vary by less than 3e-5 of their distance from the origin. A wider tolerance would
# take the first of unlike cuts. Attributes that divide the rows alike tie all the same,
# as the sums of both are made in one order (``TableBatch.by_branch``).
ROOT_TOLERANCE = 1e-9


def _single_measure(
    name: str,
    measure: Measure,
    merit_name: str,
    of: tuple[impurity.Impurity | None, str] = (None, ""),
    **settings: Any,
) -> Criterion:
    """Return a criterion whose gain and merit are one measure.

    ``of`` is the decreased impurity and its name; other measures have their own
    calculations.
    """
    decreases = "working" not in settings
    return Criterion(
        name,
        of[0],
        measure,
        measure,
        of[1],
        merit_name,
        decreases=decreases,
        **settings,
    )


_OF_CLASSES = (
    _single_measure(
        "gain",
        gains.gain,
        "information gain",
        (impurity.entropy, "entropy"),
        concave=True,
        boundaries=True,
        bits=True,
        kernel="ENTROPY",
    ),
    Criterion(
        "gain_ratio",
        impurity.entropy,
        gains.gain,
        gains.gain_ratio,
        "entropy",
        "gain ratio",
        average=True,
        # A thousandth, and three values to ten rows, are those of release 8.
        slack=1e-3,
        many_values=0.3,
        concave=True,
        boundaries=True,
        bits=True,
        per=gains.split_information,
        kernel="ENTROPY",
    ),
    _single_measure(
        "gini",
        gains.gini_gain,
        "Gini decrease",
        (impurity.gini, "Gini index"),
        concave=True,
        boundaries=True,
        kernel="GINI",
    ),
    _single_measure(
        "misclassification",
        gains.misclassification_gain,
        "error decrease",
        (impurity.misclassification, "error"),
        concave=True,
        kernel="ERRORS",
    ),
    Criterion(
        "chi_square",
        None,
        tests.phi_square,
        tests.chi_square,
        "",
        "−ln p of chi-square",
        decreases=False,
        chance=True,
        working=arithmetic.chi_square_working,
    ),
    Criterion(
        "g",
        impurity.entropy,
        gains.gain,
        tests.g,
        "entropy",
        "−ln p of G",
        concave=True,
        boundaries=True,
        chance=True,
        working=arithmetic.g_working,
    ),
    _single_measure(
        "mdl",
        tests.mdl,
        "bits saved per row",
        (impurity.description_length, "bits"),
        # A split into all and nothing saves 0. Where every other one saves less, the
        # best of them need not be a prefix.
        ordered=False,
        working=arithmetic.mdl_working,
    ),
    _single_measure(
        "c_sep",
        separation.c_sep,
        "c_sep",
        binary=True,
        working=arithmetic.c_sep_working,
    ),
    _single_measure(
        "twoing",
        separation.twoing,
        "twoing",
        binary=True,
        working=arithmetic.twoing_working,
        kernel="TWOING",
    ),
    _single_measure(
        "hellinger",
        separation.hellinger,
        "Hellinger distance",
        working=arithmetic.hellinger_working,
    ),
)

_OF_NUMBERS = (
    _single_measure(
        "variance",
        gains.variance_gain,
        "variance decrease",
        (impurity.variance, "variance"),
        numeric=True,
        # The n − 1 of small branches breaks Breiman's proof, which wants a concave
        # function of the moments.
        ordered=False,
        unit=impurity.mean_square,
    ),
    _single_measure(
        "squared_error",
        gains.squared_error_gain,
        "squared error decrease",
        (impurity.squared_error, "squared error"),
        numeric=True,
        unit=impurity.mean_square,
        kernel="SQUARES",
    ),
    Criterion(
        "f",
        impurity.squared_error,
        gains.squared_error_gain,
        tests.f,
        "squared error",
        "−ln p of F",
        numeric=True,
        chance=True,
        working=arithmetic.f_working,
        unit=impurity.mean_square,
    ),
    _single_measure(
        "sdr",
        gains.deviation_gain,
        "standard deviation reduction",
        (impurity.deviation, "sd"),
        numeric=True,
        # Roots read Σwy² beside Σw and Σwy: the best subset is cut off by a line in the
        # plane of both means, of y and of y², and need not be a prefix by that of y.
        ordered=False,
        tolerance=ROOT_TOLERANCE,
        unit=impurity.root_mean_square,
        kernel="DEVIATION",
    ),
    _single_measure(
        "variance_root",
        gains.variance_root_gain,
        "decrease of the fifth root of the variance",
        (impurity.variance_root, "fifth root of variance"),
        numeric=True,
        ordered=False,
        tolerance=ROOT_TOLERANCE,
        unit=impurity.variance_root_unit,
        kernel="ROOT",
    ),
    _single_measure(
        "poisson",
        gains.poisson_gain,
        "decrease of deviance",
        (impurity.poisson, "-2 mean ln mean"),
        numeric=True,
        from_zero=True,
        unit=impurity.mean_of,
        kernel="POISSON",
    ),
)

CRITERIA = {criterion.name: criterion for criterion in (*_OF_CLASSES, *_OF_NUMBERS)}

# Known, and refused: why, and what to do.
_REFUSED = {
    "absolute_error": (
        "the absolute error is measured from the median of each branch, and a count "
        "table keeps of a numeric target only its weight, sum and sum of squares: use "
        "'squared_error', 'variance' or 'f', on the logarithm or the ranks of the "
        "target if single large values must not decide"
    )
}


def criterion_named(name: "str | Callable[[CountTable], Any]") -> Criterion:
    """Return the criterion of this name, or that of a user's own function.

    >>> criterion_named("gini").merit_name
    'Gini decrease'
    >>> criterion_named(lambda table: float(table.sizes.min())).merit_name
    '<lambda>'
    """
    if callable(name):
        return function_criterion(name)
    if isinstance(name, str):
        if name in CRITERIA:
            return CRITERIA[name]
        if name in _REFUSED:
            raise refusal(Setting("criterion", name), "cannot be used", _REFUSED[name])
        stored = stored_criterion(name)
        if stored is not None:
            return stored
    refuse_unknown("criterion", name, CRITERIA)
