"""Evaluation of recipes on test rows: cross-validation, scores, tests, curves."""

from typing import TYPE_CHECKING

from spinney._support.lazy_names import lazy_names

if TYPE_CHECKING:
    from spinney.extensions.evaluation.class_curves import (
        ClassCurve,
        calibration_curves,
        roc_curves,
    )
    from spinney.extensions.evaluation.compare import Comparison, corrected_t_test
    from spinney.extensions.evaluation.measures import MEASURES, measure_named
    from spinney.extensions.evaluation.results import Evaluation
    from spinney.extensions.evaluation.score_model import Score, score
    from spinney.extensions.evaluation.speed_curve import (
        Scalability,
        exponent,
        scalability,
    )
    from spinney.extensions.evaluation.studies import (
        evaluate,
        learning_curve,
        robustness,
    )

__getattr__ = lazy_names(
    __name__,
    {
        "class_curves": ("ClassCurve", "calibration_curves", "roc_curves"),
        "compare": ("Comparison", "corrected_t_test"),
        "measures": ("MEASURES", "measure_named"),
        "results": ("Evaluation",),
        "score_model": ("Score", "score"),
        "speed_curve": ("Scalability", "exponent", "scalability"),
        "studies": ("evaluate", "learning_curve", "robustness"),
    },
)
