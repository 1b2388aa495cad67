"""The criteria by name."""

from typing import TYPE_CHECKING, Any

from spinney.errors import Setting, refusal, refuse_unknown
from spinney.trees.criteria import arithmetic as working
from spinney.trees.criteria.criterion import Criterion
from spinney.trees.criteria.gains import (
    deviation_gain,
    gain,
    gain_ratio,
    gini_gain,
    misclassification_gain,
    poisson_gain,
    split_information,
    squared_error_gain,
    variance_gain,
    variance_root_gain,
)
from spinney.trees.criteria.impurity import (
    description_length,
    deviation,
    entropy,
    gini,
    mean_of,
    mean_square,
    misclassification,
    poisson,
    root_mean_square,
    squared_error,
    variance,
    variance_root,
    variance_root_unit,
)
from spinney.trees.criteria.separation import c_sep, hellinger, twoing
from spinney.trees.criteria.significance_criteria import (
    chi_square,
    f,
    g,
    mdl,
    phi_square,
)
from spinney.trees.criteria.user_function import function_criterion, stored_criterion

if TYPE_CHECKING:
    from collections.abc import Callable

    from spinney.trees.counts import CountTable

OF_ROOTS = 1e-9

_OF_CLASSES = (
    Criterion("gain", entropy, gain, gain, "entropy", "gain", bits=True),
    Criterion(
        "gain_ratio",
        entropy,
        gain,
        gain_ratio,
        "entropy",
        "gain ratio",
        average=True,
        # A thousandth, and three values to ten rows, are those of release 8.
        slack=1e-3,
        many_values=0.3,
        bits=True,
        per=split_information,
    ),
    Criterion("gini", gini, gini_gain, gini_gain, "gini", "decrease of gini"),
    Criterion(
        "misclassification",
        misclassification,
        misclassification_gain,
        misclassification_gain,
        "error",
        "decrease of error",
    ),
    Criterion(
        "chi_square",
        None,
        phi_square,
        chi_square,
        "",
        "−ln p of chi-square",
        decreases=False,
        chance=True,
        working=working.chi_square_working,
    ),
    Criterion(
        "g",
        entropy,
        gain,
        g,
        "entropy",
        "−ln p of G",
        chance=True,
        working=working.g_working,
    ),
    Criterion(
        "mdl",
        description_length,
        mdl,
        mdl,
        "bits",
        "bits saved a row",
        # A split into all and nothing saves 0. Where every other one saves less, the
        # best of them need not be a prefix.
        ordered=False,
        decreases=False,
        working=working.mdl_working,
    ),
    Criterion(
        "c_sep",
        None,
        c_sep,
        c_sep,
        "",
        "c_sep",
        binary=True,
        decreases=False,
        working=working.c_sep_working,
    ),
    Criterion(
        "twoing",
        None,
        twoing,
        twoing,
        "",
        "twoing",
        binary=True,
        decreases=False,
        working=working.twoing_working,
    ),
    Criterion(
        "hellinger",
        None,
        hellinger,
        hellinger,
        "",
        "Hellinger distance",
        decreases=False,
        working=working.hellinger_working,
    ),
)

_OF_NUMBERS = (
    Criterion(
        "variance",
        variance,
        variance_gain,
        variance_gain,
        "variance",
        "decrease of variance",
        numeric=True,
        # The n − 1 of small branches breaks Breiman's proof, which wants a concave
        # function of the moments.
        ordered=False,
        unit=mean_square,
    ),
    Criterion(
        "squared_error",
        squared_error,
        squared_error_gain,
        squared_error_gain,
        "squared error",
        "decrease of squared error",
        numeric=True,
        unit=mean_square,
    ),
    Criterion(
        "f",
        squared_error,
        squared_error_gain,
        f,
        "squared error",
        "−ln p of F",
        numeric=True,
        chance=True,
        working=working.f_working,
        unit=mean_square,
    ),
    Criterion(
        "sdr",
        deviation,
        deviation_gain,
        deviation_gain,
        "sd",
        "reduction of the standard deviation",
        numeric=True,
        tolerance=OF_ROOTS,
        unit=root_mean_square,
    ),
    Criterion(
        "variance_root",
        variance_root,
        variance_root_gain,
        variance_root_gain,
        "fifth root of variance",
        "decrease of the fifth root of variance",
        numeric=True,
        tolerance=OF_ROOTS,
        unit=variance_root_unit,
    ),
    Criterion(
        "poisson",
        poisson,
        poisson_gain,
        poisson_gain,
        "-2 mean ln mean",
        "decrease of deviance",
        numeric=True,
        from_zero=True,
        unit=mean_of,
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
    'decrease of gini'
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
