"""Every way to grow trees, and to prune them."""

from spinney.growth.engine import grow_and_prune_swiftly, grow_swiftly, suits
from spinney.growth.model import Model
from spinney.growth.user_options import (
    class_weights_of,
    options_of,
    refuse_without_classes,
)

__all__ = [
    "Model",
    "class_weights_of",
    "grow_and_prune_swiftly",
    "grow_swiftly",
    "options_of",
    "refuse_without_classes",
    "suits",
]
