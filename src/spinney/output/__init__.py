"""Output of a fitted model: text, rules, explanations, files and exports."""

from typing import TYPE_CHECKING

from spinney._support.lazy_names import lazy_names

if TYPE_CHECKING:
    from spinney.output.export_formats import exported
    from spinney.output.json_model import load_json
    from spinney.output.leaf_rules import Condition, Rule, Rules, rules_of
    from spinney.output.node_errors import NodeErrors
    from spinney.output.tree_json import to_json
    from spinney.output.tree_text import to_text

__getattr__ = lazy_names(
    __name__,
    {
        "export_formats": ("exported",),
        "json_model": ("load_json",),
        "leaf_rules": ("Condition", "Rule", "Rules", "rules_of"),
        "node_errors": ("NodeErrors",),
        "tree_json": ("to_json",),
        "tree_text": ("to_text",),
    },
)
