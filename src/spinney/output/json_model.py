"""Models of every kind as JSON: the content of a model file, as text.

The text of a tree also has its nodes, for people and other programs
(:mod:`spinney.output.tree_json`). They follow from the arrays; a text whose nodes
contradict the arrays is refused.
"""

import json
import os
from collections.abc import Sequence
from typing import Any

from spinney import registry
from spinney.errors import ModelFormatError
from spinney.growth import Model
from spinney.output.file.json_file import ARRAYS, NODES, read_json
from spinney.output.file.kind import content_of
from spinney.output.file.model_files import OTHERS, kinds_named, model_members
from spinney.output.file.strict_json import DamageError, refuse
from spinney.output.tree_json import layout, tree_data

RULESET = "spinney-ruleset"


def model_json(content: Any) -> str:
    """Return a tree, a forest or clusters as JSON; :func:`load_json` reads it back."""
    header, arrays = model_members(content)
    data = {**header, **(tree_data(content) if isinstance(content, Model) else {})}
    written = layout(data).removesuffix("}").rstrip("\n")
    lines = ",\n    ".join(arrays)
    return f'{written},\n  "{ARRAYS}": {{\n    {lines}\n  }}\n}}\n'


def load_json(path: "str | os.PathLike[str]", kinds: Sequence[str]) -> Any:
    """Load a model of one of some kinds from text.

    Raises
    ------
    ModelFormatError
        The text is not a model, is damaged, or is of another kind.
    """
    try:
        data = read_json(path)
        if data.written["format"] == RULESET:
            return _rules(data.source, kinds)
        files = [kind for kind in kinds if kind != "rules"]
        content = content_of(kinds_named(files), data.file())
        _check_nodes(content, data.written.get(NODES))
    except DamageError as damage:
        msg = f"cannot load {os.fsdecode(path)}: {damage}"
        raise ModelFormatError(msg) from None
    return content


def _rules(source: str, kinds: Sequence[str]) -> Any:
    if "rules" not in kinds:
        read = " or ".join(kind for kind in kinds if kind != OTHERS)
        refuse(
            f"it holds rules, and this reads {read}; spinney.load, and spinney export, "
            "read such files"
        )
    return registry.load("operation", "ruleset").RuleSet.from_json(source)


def _check_nodes(content: Any, nodes: object) -> None:
    """Refuse nodes that contradict the arrays."""
    expected = None
    if isinstance(content, Model):
        expected = json.loads(layout(tree_data(content)))[NODES]
    if nodes != expected:
        refuse("its nodes contradict its arrays; export the model again")
