"""C4.5's rulesets: rules out of a tree, simplified, chosen and put in order.

The way there is Quinlan's (1993, chapter 5; the program c4.5rules): one rule per
path (``paths``), conditions dropped against the pessimistic error
(``simplify_rules``), for each class the subset of least description length
(``description_length``, ``choose_rules``), classes by false positives and a default
class (``build_ruleset``).
"""

from spinney.output.rules.build_ruleset import ruleset_of
from spinney.output.rules.leaf_rules import Condition, Rule, Rules, rules_of
from spinney.output.rules.ruleset import RankedRule, RuleSet

__all__ = [
    "Condition",
    "RankedRule",
    "Rule",
    "RuleSet",
    "Rules",
    "rules_of",
    "ruleset_of",
]
