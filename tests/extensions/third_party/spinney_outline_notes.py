"""Another people's kind of model: a tree with a note, as file, estimator and page."""

from dataclasses import dataclass

import click

from spinney.extensions.explorer import explorer_data
from spinney.growth import Model
from spinney.models import FittedTree
from spinney.output.file import save_model
from spinney.output.file.kind import Kind
from spinney.output.file.plain_data import members, text
from spinney.output.file.tree_file import TREE


@dataclass(frozen=True)
class Noted:
    """A tree and what somebody noted of it: what the file holds."""

    model: Model
    note: str


def _parts(content):
    header, arrays = TREE.parts(content.model)
    return {"note": content.note, "tree": header}, arrays


def _read(data, arrays, most_nodes):
    entries = members(data, "the model", ("note", "tree"))
    tree = TREE.read(entries["tree"], arrays, most_nodes)
    return Noted(tree, text(entries["note"], "the note"))


NOTED = Kind(
    Noted,
    "spinney-outline-noted",
    version=1,
    packed_version=2,
    noun="this note",
    again="note it again",
    refusal="it is a safetensors file, but holds no noted tree",
    dtypes=TREE.dtypes,
    parts=_parts,
    read=_read,
    completed=TREE.completed,
)


class FittedNoted(FittedTree):
    """A noted tree that predicts; ``content`` is what its file holds."""

    kind = "noted"

    def __init__(self, content):
        super().__init__(content.model)
        self.content = content

    def facts(self):
        """Return what it is, as plain data."""
        return {"note": self.content.note, **super().facts()}

    def save(self, path, *, overwrite=True):
        """Save it to a file."""
        save_model(self.content, path, overwrite=overwrite)


class NotedTree(FittedNoted):
    """What ``spinney.load`` returns of such a file."""

    def predict(self, X):
        """Return the class of each row."""
        return [self.schema.target.classes[c] for c in self.outputs(X).argmax(axis=1)]


def show_noted(model, *, ascii_, json_):
    """Print a noted tree."""
    click.echo(f"{model.content.note}: {len(model.content.model.tree)} nodes")


def noted_page(content, table=None):
    """Return the data of a page: a tree's, under another title."""
    (tree,) = explorer_data([FittedTree(content.model)], rows=table)["models"]
    return {**tree, "title": content.note}
