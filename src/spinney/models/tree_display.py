"""Displays of a fitted tree: text, pictures, a lesson, the errors of its nodes."""

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from spinney import registry
from spinney.data import Costs
from spinney.errors import Setting, refusal
from spinney.growth import Model
from spinney.models.fitted_model import FittedTable
from spinney.trees import Tree

if TYPE_CHECKING:
    from spinney.extensions.lessons import LessonPage
    from spinney.extensions.pictures import Picture
    from spinney.output import NodeErrors

DEPTH_IN_NOTEBOOKS = 6


class TreeDisplay(FittedTable):
    """The part of a fitted tree that people look at."""

    def _grown(self) -> Model:
        """Return the model, or say that there is none yet."""
        raise NotImplementedError

    @property
    def tree(self) -> Tree:
        """The tree: walkable nodes and measures of size."""
        return self._grown().tree

    def __str__(self) -> str:
        from spinney.output import to_text

        return to_text(self.tree)

    def node_errors(
        self,
        data: Any,
        *,
        weight: str | None = None,
        cost_matrix: Costs | None = None,
        name: str | None = None,
    ) -> "NodeErrors":
        """Return how each node does on a table: as a leaf, and by its branches.

        Parameters
        ----------
        data : table with the target column
            Rows, which the tree may have been grown on or not. One that a missing value
            divides counts at each node with its part.
        weight : str, optional
            The column of row weights.
        cost_matrix : mapping of mappings or square array, optional
            ``cost_matrix[label][true]``: what errors cost; the model's own if not
            given.
        name : str, optional
            What to call the table; that of a file if not given.

        Returns
        -------
        NodeErrors
            By the numbers of nodes, how many rows come to each and how many are right;
            under costs what they cost, of numbers the mean squared error. ``print``
            shows a table.

        Examples
        --------
        >>> import spinney
        >>> melons = {"texture": ["clear", "clear", "blurry", "blurry"],
        ...           "ripe": ["yes", "yes", "no", "no"]}
        >>> more = {"texture": ["clear", "blurry", "blurry"],
        ...         "ripe": ["yes", "yes", "no"]}
        >>> errors = spinney.grow(melons, "ripe", recipe="cart").node_errors(more)
        >>> print(errors)
        on the table: 3 rows
        node  as a leaf     by its branches  branch
           0  2 of 3 right  2 of 3 right     (root)
           1  1 of 2 right                   texture = blurry
           2  1 of 1 right                   texture = clear
        >>> errors[1].error
        0.5
        """
        from spinney.growth.prune import validate
        from spinney.models.prune import given_costs
        from spinney.models.validation_split import read_encoded_rows
        from spinney.output import NodeErrors

        tree = self.tree
        costs = None
        if cost_matrix is not None:
            costs = given_costs(cost_matrix, tree.schema.target)
        rows = read_encoded_rows(tree, self.read, data, weight)
        if name is None:
            is_path = isinstance(data, (str, PurePath))
            name = PurePath(data).name if is_path else "the table"
        return NodeErrors(tree, validate(tree, rows, costs=costs), name, rows)

    def plot(
        self,
        *,
        style: str = "compact",
        horizontal: bool = False,
        max_depth: int | None = None,
        data: Any = None,
        bars: bool = False,
    ) -> "Picture":
        """Return a picture of the tree, which a notebook shows.

        Parameters
        ----------
        style : {"compact", "rules", "teaching"}
            What is said of each node: what it asks or predicts, and of how many rows;
            what it would predict, with the questions on the branches; all that a
            textbook draws, with impurities and the merits of all attributes.
        horizontal : bool
            Whether the root is at the left, and not at the top.
        max_depth : int, optional
            How many questions deep nodes are drawn; as many as fit, if not given.
        data : table with the target column, or NodeErrors, optional
            What each node says last: how it does on these rows; see
            :meth:`node_errors`.
        bars : bool
            Whether a question shows how its rows answer it: a bar for each value, or
            for each side of a cut, with the classes, or with means. With ``data``, a
            number has a histogram of those rows, with the cut marked.

        Returns
        -------
        Picture
            ``save(path)`` keeps it as .svg, .html, .png or .pdf; ``svg`` is it as text.
        """
        from spinney.output import NodeErrors

        errors = data
        if data is not None and not isinstance(data, NodeErrors):
            errors = self.node_errors(data)
        pictures = registry.load("operation", "picture")
        svg = pictures.to_svg(
            self._grown(),
            style=style,
            horizontal=horizontal,
            max_depth=max_depth,
            errors=errors,
            bars=bars,
        )
        picture: Picture = pictures.Picture(svg)
        return picture

    def _in_words(self) -> str:
        from spinney.output import to_text

        return to_text(self.tree, max_depth=DEPTH_IN_NOTEBOOKS)

    def _picture(self) -> str:
        return self.plot().svg

    def lesson(
        self, data: Any = None, *, pruned: "TreeDisplay | None" = None
    ) -> "LessonPage":
        """Return a page that steps through the making of the tree, for teaching.

        Each question has its candidates with their counts and arithmetic, then the
        choice, its reason, and the tree so far; pruning and rules come at the end.

        Parameters
        ----------
        data : table, optional
            The table that the tree was grown on: its rows are shown, and where they
            go, by their numbers in it; those without a target are left out. Without it
            the lesson has counts only.
        pruned : fitted tree, optional
            What :meth:`prune` made of this tree: how, comes at the end.

        Returns
        -------
        LessonPage
            ``save(path)`` keeps it as .html; it needs no network.

        Examples
        --------
        >>> import spinney
        >>> shop = {"size": [1, 2, 3, 4, 5, 6], "sold": ["no"] * 3 + ["yes"] * 3}
        >>> spinney.grow(shop, "sold", recipe="id3").lesson(shop)
        <lesson of 4 slides: save(path) keeps it as .html>
        """
        if pruned is not None and getattr(pruned, "kind", "") != "tree":
            raise refusal(
                Setting("pruned", pruned), "is no tree", "give what model.prune returns"
            )
        rows, positions = None, None
        if data is not None:
            from spinney.models.training_match import recode_training_rows

            rows, model = self._whole_table(data), self._grown()
            if model.schema.target.name in rows.names:
                _, positions = recode_training_rows(model.schema, model.recipe, rows)
                rows = rows.take(positions)
        title = f"How a tree for {self.schema.target.name} is grown"
        lessons = registry.load("operation", "lesson")
        slides = lessons.tree_slides(self, rows, pruned, positions=positions)
        page: LessonPage = lessons.LessonPage.of(slides, title)
        return page
