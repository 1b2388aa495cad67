"""Models for tests of files and exports, and how to compare and damage them."""

import csv
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import spinney
from spinney.data.schema import Attribute, Fingerprint, Schema, Target
from spinney.data.table import factorise
from spinney.errors import ModelFormatError
from spinney.growth.model import Model
from spinney.growth.plain.learner import grow_tree
from spinney.output.file.container import pack, read_header, unpack
from spinney.output.file.kind import FileLimits
from spinney.output.file.model_files import load_model, save_model
from spinney.recipes import RECIPES, Recipe
from spinney.search.node_split import LazyCandidates
from spinney.sources.rows.memory import MemorySource
from spinney.trees import Candidate, LinearModel, Node, Reason, Tree
from spinney.trees.counts import CountTable
from spinney.trees.split import Split, Surrogate, Threshold

TABLES = Path(__file__).parents[1] / "tables"
GOLDEN = Path(__file__).parents[1] / "golden"
FINGERPRINT = Fingerprint(17, 17.0, "0123456789abcdef" * 4, "0.1.0")

Arrays = dict[str, NDArray[Any]]


def textbook_model(
    name: str, recipe: Recipe, *, target: str = "ripe", numeric: tuple[str, ...] = ()
) -> Model:
    """Grow a tree on a table of the textbook; every other column is nominal."""
    with (TABLES / f"{name}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    attributes, columns = [], []
    for column in rows[0]:
        cells = [row[column] or None for row in rows]
        if column == target:
            classes, labels = factorise(cells)
        elif column in numeric:
            attributes.append(Attribute(column, "numeric"))
            columns.append(np.array([float(cell) for cell in cells if cell]))
        elif column != "id":
            codes, values = factorise(cells)
            attributes.append(Attribute(column, "nominal", values))
            columns.append(codes)
    schema = Schema(tuple(attributes), Target(target, labels))
    source = MemorySource(schema, columns, classes=classes)
    return Model(grow_tree(source, recipe), recipe, FINGERPRINT)


def with_policy(recipe: Recipe, missing: str) -> Recipe:
    """Return a recipe with a policy; surrogates need splits of two branches."""
    grouping = "binary" if missing == "surrogate" else None
    return recipe.changed(missing=missing, grouping=grouping)


def mixed_model(missing: str = "fractional", *, n_rows: int = 40) -> Model:
    """Grow a tree with every kind of attribute, missing cells and three classes."""
    random = np.random.default_rng(7)
    schema = Schema(
        (
            Attribute("colour", "nominal", ("blue", "green", "red")),
            Attribute("size", "ordinal", ("small", "medium", "large")),
            Attribute("weight", "numeric"),
        ),
        Target("sort", ("apple", "pear", "plum")),
    )
    columns: list[NDArray[Any]] = [random.integers(-1, 3, n_rows) for _ in range(2)]
    weights = random.integers(0, 12, n_rows).astype(float)
    weights[::5] = np.nan
    classes = random.integers(0, 3, n_rows)
    source = MemorySource(schema, [*columns, weights], classes=classes)
    recipe = with_policy(RECIPES["id3"], missing).changed(max_depth=2)
    return Model(grow_tree(source, recipe), recipe, FINGERPRINT)


def chain_model(depth: int) -> Model:
    """Return a tree whose every right branch asks again; 2 * depth + 1 nodes."""
    schema = Schema((Attribute("x", "numeric"),), Target("y", (False, True)))
    nodes = []
    parent, branch = None, 0
    for level in range(depth):
        number = 2 * level
        rest = depth - level
        nodes.append(_asking(number, parent, branch, rest=rest, level=level))
        nodes.append(_leaf(number + 1, number, 0, level + 1, np.array([1.0, 0.0])))
        parent, branch = number, 1
    nodes.append(_leaf(2 * depth, parent, branch, depth, np.array([0.0, 1.0])))
    return Model(Tree(schema, tuple(nodes)), RECIPES["cart"], FINGERPRINT)


def _asking(
    number: int, parent: int | None, branch: int, *, rest: int, level: int
) -> Node:
    """Return a node with one row on the left and the others on the right."""
    weights = np.array([rest, 1.0])
    sides = CountTable.of([[1, 0], [rest - 1, 1]])
    table = CountTable(
        np.array([level, level + 1.0]), sides.weights, sides.rows, *_none(2)
    )
    shares = (1 / (rest + 1), rest / (rest + 1))
    split = Threshold(0, level + 0.5, shares, 1)
    return Node(
        number=number,
        parent=parent,
        branch=branch,
        depth=level,
        weights=weights,
        n_rows=rest + 1,
        distribution=weights / weights.sum(),
        label=1 if rest == 1 else 0,
        candidates=(Candidate(split, table, 0.0, 0.0),),
        chosen=0,
        children=(number + 1, number + 2),
    )


def _none(n_classes: int) -> tuple[NDArray[Any], NDArray[Any]]:
    return np.zeros(n_classes), np.zeros(n_classes, dtype=np.int64)


def _leaf(
    number: int, parent: int | None, branch: int, depth: int, weights: NDArray[Any]
) -> Node:
    return Node(
        number=number,
        parent=parent,
        branch=branch,
        depth=depth,
        weights=weights,
        n_rows=int(weights.sum()),
        distribution=weights / weights.sum(),
        label=int(np.argmax(weights)),
        reason=Reason.PURE,
    )


def wide_model(n_branches: int) -> Model:
    """Return a root with as many branches as it has rows."""
    names = tuple(f"value {code}" for code in range(n_branches))
    schema = Schema((Attribute("key", "nominal", names),), Target("y", ("a", "b")))
    classes = np.arange(n_branches) % 2
    codes = np.arange(n_branches, dtype=np.int32)
    source = MemorySource(schema, [codes], classes=classes)
    return Model(grow_tree(source, RECIPES["id3"]), RECIPES["id3"], FINGERPRINT)


def assert_same_model(one: Model, other: Model) -> None:
    """Assert that two models are equal in everything, bit for bit."""
    assert _typed(one.schema) == _typed(other.schema)
    assert _typed(one.recipe) == _typed(other.recipe)
    assert one.fingerprint == other.fingerprint
    assert len(one.tree) == len(other.tree)
    for left, right in zip(one.tree, other.tree, strict=True):
        _assert_same(left, right)


def _typed(thing: object) -> str:
    """Return a text that tells 1, 1.0 and True apart, and -0.0 from 0.0."""
    return repr(thing)


def _assert_same(one: object, other: object) -> None:
    if isinstance(one, LazyCandidates) or isinstance(other, LazyCandidates):
        one, other = tuple(one), tuple(other)
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert isinstance(other, np.ndarray)
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert one.tobytes() == other.tobytes()
    elif isinstance(one, Node | Candidate | CountTable | Split | Surrogate):
        for field in fields(one):
            _assert_same(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, tuple) and one and isinstance(one[0], Candidate | Surrogate):
        assert isinstance(other, tuple)
        for left, right in zip(one, other, strict=True):
            _assert_same(left, right)
    else:
        assert repr(one) == repr(other)


def bytes_of(model: Model, directory: Path) -> bytes:
    path = directory / "model.spinney"
    save_model(model, path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def good_file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return a file with every kind of attribute, and with missing values."""
    return bytes_of(mixed_model(), tmp_path_factory.mktemp("good"))


def refusal(data: bytes, directory: Path, limits: FileLimits | None = None) -> str:
    """Return what the loader says of a file that it must refuse."""
    path = directory / "bad.spinney"
    path.write_bytes(data)
    with pytest.raises(ModelFormatError) as caught:
        load_model(path, limits=limits)
    message = str(caught.value)
    assert message.startswith(f"cannot load {path}: ")
    assert "\n" not in message
    return message


def refused(path: Path, data: bytes, words: str) -> None:
    """Assert that a file of any kind is refused once it has these bytes."""
    path.write_bytes(data)
    with pytest.raises(ModelFormatError, match=words):
        spinney.load(path)


def contents(data: bytes) -> tuple[Arrays, dict[str, str]]:
    """Return the arrays, as copies that may be changed, and texts of a file."""
    header = read_header(data)
    arrays = {name: array.copy() for name, array in unpack(data, header).items()}
    return arrays, dict(header.texts)


def with_arrays(data: bytes, change: Callable[[Arrays], object]) -> bytes:
    """Return a file with other arrays and a checksum that fits."""
    arrays, texts = contents(data)
    change(arrays)
    return b"".join(pack(arrays, texts))


def set_at(name: str, place: Any, value: Any) -> Callable[[Arrays], None]:
    """Return what changes one number of an array."""

    def change(arrays: Arrays) -> None:
        arrays[name][place] = value

    return change


NEWER = {"format_version": "9", "min_reader_version": "9"}


def with_texts(data: bytes, **changes: str | None) -> bytes:
    """Return a file with other texts; None leaves one out."""
    arrays, texts = contents(data)
    changed = {**texts, **changes}
    kept = {name: text for name, text in changed.items() if text is not None}
    return b"".join(pack(arrays, kept))


def with_model(data: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """Return a file with another schema, recipe or fingerprint."""
    _, texts = contents(data)
    model = json.loads(texts["model"])
    change(model)
    return with_texts(data, model=json.dumps(model))


def with_header(data: bytes, change: Callable[[str], str | bytes]) -> bytes:
    """Return a file whose header is another text, its checksum fitting."""
    length = int.from_bytes(data[:8], "little")
    changed = change(data[8 : 8 + length].decode("utf-8"))
    header = changed if isinstance(changed, bytes) else changed.encode("utf-8")
    return signed(len(header).to_bytes(8, "little") + header + data[8 + length :])


def with_entries(data: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """Return a file whose header, read as JSON, says something else."""

    def changed(header: str) -> str:
        entries: dict[str, Any] = json.loads(header)
        change(entries)
        return json.dumps(entries)

    return with_header(data, changed)


def signed(data: bytes) -> bytes:
    """Return a file with the checksum that its content needs."""
    return data[:-32] + hashlib.sha256(data[:-32]).digest()


def setter(name: str, place: object, value: object) -> Callable[[Arrays], None]:
    """Return a change of one entry of one array."""

    def change(arrays: Arrays) -> None:
        arrays[name][place] = value  # type: ignore[index]

    return change


def linear_values(model: LinearModel, columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return what a linear model predicts of each row, term by term."""
    terms = zip(model.terms, model.coefficients, strict=True)
    products = (factor * term.values(columns[term.attribute]) for term, factor in terms)
    return sum(products, np.zeros(len(columns[0]))) + model.intercept
