"""An ONNX graph under construction, whose operators get unique names.

The package ``onnx`` is imported only when a graph is made.
"""

from collections.abc import Collection, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from spinney.errors import missing_extra
from spinney.extensions.exports.portable import free_name

OPERATORS, TREE_OPERATORS, FORM = 17, 3, 8
"""The versions of operators, of ``ai.onnx.ml`` and of the file: what most runtimes of
the last years read."""


def load_onnx() -> Any:
    """Return the package ``onnx``; refuse if it is not installed."""
    try:
        module = import_module("onnx")
    except ImportError:
        raise missing_extra(
            what="the format 'onnx' needs", library="onnx", extra="onnx"
        ) from None
    import_module("onnx.helper")
    import_module("onnx.numpy_helper")
    import_module("onnx.checker")
    return module


class Graph:
    """Operators and constants; an inner graph sees those of the outer one.

    Parameters
    ----------
    taken : collection of str
        Names reserved for inputs and outputs.
    outer : Graph, optional
        The outer graph, if this one is the body of a loop.
    """

    def __init__(
        self, taken: Collection[str] = (), outer: "Graph | None" = None
    ) -> None:
        self.onnx: Any = load_onnx() if outer is None else outer.onnx
        self.taken: set[str] = {*taken} if outer is None else outer.taken
        self.operators: list[Any] = []
        self.constants: list[Any] = []
        self.first: Graph = self if outer is None else outer.first
        self.used: set[str] = set()

    def name(self, wanted: str) -> str:
        """Return a unique name, based on ``wanted``."""
        name = free_name(wanted, self.taken)
        self.taken.add(name)
        return name

    def constant(self, value: Any, name: str = "constant") -> str:
        """Add an array to the outermost graph, and return its name."""
        array = np.asarray(value)
        name = self.name(name)
        if array.dtype.kind in "UO":
            texts = [str(text).encode("utf-8") for text in array.ravel()]
            kind = self.onnx.TensorProto.STRING
            tensor = self.onnx.helper.make_tensor(name, kind, array.shape, texts)
        else:
            tensor = self.onnx.numpy_helper.from_array(array, name)
        self.first.constants.append(tensor)
        return name

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add an operator with one output, and return its name."""
        (name,) = self.add_with_outputs(operator, inputs, 1, **attributes)
        return name

    def add_with_outputs(
        self, operator: str, inputs: Sequence[str], n_outputs: int, **attributes: Any
    ) -> list[str]:
        """Add an operator, and return the names of its outputs."""
        names = [self.name(operator.lower()) for _ in range(n_outputs)]
        node = self.onnx.helper.make_node(operator, inputs, names, **attributes)
        self.operators.append(node)
        self.first.used.update(inputs)
        return names

    def cast(self, cells: str, kind: str) -> str:
        """Add a cast to ``kind``: DOUBLE, INT64 or BOOL."""
        return self.add("Cast", cells, to=getattr(self.onnx.TensorProto, kind))

    def rename(self, cells: str, name: str) -> None:
        """Add an operator that gives a result the name of an output."""
        node = self.onnx.helper.make_node("Identity", [cells], [name])
        self.operators.append(node)

    def value(self, name: str, kind: str, shape: Sequence[Any]) -> Any:
        """Return the type of an input or an output."""
        number = getattr(self.onnx.TensorProto, kind)
        return self.onnx.helper.make_tensor_value_info(name, number, shape)

    def proto(self, name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """Return the finished graph, without unused constants."""
        used = [each for each in self.constants if each.name in self.used]
        make = self.onnx.helper.make_graph
        return make(self.operators, name, inputs, outputs, used)

    def file(self, graph: Any, about: str) -> bytes:
        """Return the bytes of a model, checked by ONNX."""
        helper = self.onnx.helper
        versions = [("", OPERATORS), ("ai.onnx.ml", TREE_OPERATORS)]
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid(*version) for version in versions],
            producer_name="spinney",
            doc_string=about,
        )
        model.ir_version = FORM
        self.onnx.checker.check_model(model)
        data: bytes = model.SerializeToString(deterministic=True)
        return data
