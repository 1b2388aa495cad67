"""A hint to the memory: what will be read soon."""

from typing import Any

from spinney._support.jit.compile import instruction


def _nothing(_matrix: Any, _row: int, _column: int) -> None:
    """Do nothing where loops are not compiled."""


prefetch = instruction("spinney._support.jit.prefetch_hint", "hint", _nothing)
