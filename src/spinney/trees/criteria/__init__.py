"""How good a split is: pure functions of a count table, higher is better.

The rows of the table are the branches of the split. Every function takes a
:class:`~spinney.trees.counts.CountTable` or a plain array of shape (branches, classes),
and a stack of tables gives a stack of merits. Where values are missing, gains
are discounted by ρ, the share of the weight whose value is known (Quinlan 1993).

>>> outlook = [[2, 3], [4, 0], [3, 2]]        # yes, no for sunny, overcast, rain
>>> round(float(gain(outlook)), 3)
0.247
>>> round(float(gain_ratio(outlook)), 3)
0.156
"""

from spinney.trees.criteria.criterion import Criterion, Measure, Working
from spinney.trees.criteria.gains import (
    deviation_gain,
    errors,
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
    Impurity,
    description_length,
    deviation,
    entropy,
    gini,
    misclassification,
    poisson,
    squared_error,
    variance,
    variance_root,
)
from spinney.trees.criteria.named_criteria import CRITERIA, criterion_named
from spinney.trees.criteria.separation import c_sep, hellinger, twoing
from spinney.trees.criteria.significance import (
    Significance,
    Test,
    chi_square_test,
    f_test,
    g_test,
)
from spinney.trees.criteria.significance_criteria import (
    chi_square,
    f,
    g,
    mdl,
    phi_square,
)
from spinney.trees.criteria.user_function import stored_name
