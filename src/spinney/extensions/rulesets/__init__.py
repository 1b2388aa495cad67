"""C4.5's rulesets: the paths of a tree as rules, simplified, selected and ordered.

The algorithm is Quinlan's (1993, chapter 5; the program c4.5rules): one rule per
path (``paths``), conditions dropped against the pessimistic error
(``simplify_rules``), for each class the subset of least description length
(``description_length``, ``choose_rules``), classes by false positives and a default
class (``build_ruleset``).
"""

from typing import TYPE_CHECKING

from spinney._support.lazy_names import lazy_names

if TYPE_CHECKING:
    from spinney.extensions.rulesets.build_ruleset import model_ruleset, tree_ruleset
    from spinney.extensions.rulesets.ruleset import RankedRule, RuleSet

__getattr__ = lazy_names(
    __name__,
    {
        "build_ruleset": ("model_ruleset", "tree_ruleset"),
        "ruleset": ("RankedRule", "RuleSet"),
    },
)
