"""Every way to grow trees, and to prune them."""

from spinney.growth.engine import choose_engine, only_to_predict
from spinney.growth.model import Model
from spinney.growth.user_options import (
    class_weights_of,
    options_of,
    refuse_without_classes,
)

__all__ = [
    "Model",
    "choose_engine",
    "class_weights_of",
    "only_to_predict",
    "options_of",
    "refuse_without_classes",
]
