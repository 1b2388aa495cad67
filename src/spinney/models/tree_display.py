"""Displays of a fitted tree: text, pictures, a lesson, the errors of its nodes."""

from collections.abc import Sequence
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
TEXT_WIDTH, TEXT_LINES = 80, 40  # of print(model)


class TreeDisplay(FittedTable):
    """The displays of a fitted tree."""

    model_: Model

    @property
    def tree(self) -> Tree:
        """The tree: walkable nodes and measures of size."""
        return self.model_.tree

    def __str__(self) -> str:
        from spinney.output import to_text

        return to_text(
            self.tree,
            width=TEXT_WIDTH,
            max_lines=TEXT_LINES,
            rest=("print(model.text()) shows all",),
        )

    def text(
        self,
        *,
        max_depth: int | None = None,
        max_lines: int | None = None,
        width: int | None = None,
        numbers: bool = False,
        ascii_only: bool = False,
    ) -> str:
        """Return the whole tree as text, a line for each node.

        ``print(model)`` shows at most 40 lines of 80 columns.

        Parameters
        ----------
        max_depth : int, optional
            The depth to show.
        max_lines : int, optional
            The maximum number of lines: nodes with the most rows come first.
        width : int, optional
            The maximum number of columns of a line.
        numbers : bool
            Whether lines begin with node numbers, as :meth:`explain` takes them.
        ascii_only : bool
            Whether to write ASCII characters only.

        Returns
        -------
        str
            The lines.

        Examples
        --------
        >>> import spinney
        >>> shop = {"size": [1, 2, 3, 4, 5, 6], "sold": ["no"] * 3 + ["yes"] * 3}
        >>> print(spinney.grow(shop, "sold", recipe="id3").text(numbers=True))
        0  sold  (6: no 3 (50 %), yes 3 (50 %))
        1  ├── size ≤ 3.5 → no  (3: no 3 (100 %))
        2  └── size > 3.5 → yes  (3: yes 3 (100 %))
        """
        from spinney.output import to_text

        return to_text(
            self.tree,
            max_depth=max_depth,
            max_lines=max_lines,
            width=width,
            numbers=numbers,
            ascii_only=ascii_only,
        )

    def node_errors(
        self,
        data: Any,
        *,
        weight: str | None = None,
        cost_matrix: Costs | None = None,
        name: str | None = None,
    ) -> "NodeErrors":
        """Return the errors of the nodes on a table: as a leaf, and as a subtree.

        Parameters
        ----------
        data : table with the target column
            Any rows. Parts of a row that a missing value divides count by weight.
        weight : str, optional
            The column of row weights.
        cost_matrix : mapping of mappings or square array, optional
            ``cost_matrix[label][true]``: misclassification costs; the model's if not
            given.
        name : str, optional
            The name of the table; its file name if not given.

        Returns
        -------
        NodeErrors
            For each node number, the number of rows and of correct predictions; with
            costs the total cost, for numeric targets the mean squared error. ``print``
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
        title: str | None = None,
        palette: str | Sequence[str] = "okabe-ito",
        digits: int | None = None,
        leaves_at_bottom: bool = False,
    ) -> "Picture":
        """Return a picture of the tree, which a notebook shows.

        Parameters
        ----------
        style : {"compact", "rules", "teaching"}
            "compact": the split or prediction and number of rows of each node; "rules":
            predictions, with conditions on the branches; "teaching": everything in
            textbooks, with impurities and the merits of all attributes.
        horizontal : bool
            Whether the root is at the left instead of at the top.
        max_depth : int, optional
            The depth to draw; as much as fits, if not given.
        data : table with the target column, or NodeErrors, optional
            Rows whose errors are shown at each node; see :meth:`node_errors`.
        bars : bool
            Whether splits show the distribution of their rows: a bar for each value or
            each side of a threshold, with classes or means. With ``data``, numbers have
            histograms of those rows, with the threshold marked.
        title : str, optional
            The title, in place of the name of the target.
        palette : str or sequence of str
            "okabe-ito", "grey", "pastel", or up to eight colours such as "#0072b2".
        digits : int, optional
            Significant digits of numbers; thresholds have more if rows need them.
        leaves_at_bottom : bool
            Whether all leaves are on the last level.

        Returns
        -------
        Picture
            ``save(path)`` writes .svg, .html, .png or .pdf; ``svg`` is the text.
        """
        from spinney.output import NodeErrors

        errors = data
        if data is not None and not isinstance(data, NodeErrors):
            errors = self.node_errors(data)
        pictures = registry.load("operation", "picture")
        svg = pictures.to_svg(
            self.model_,
            style=style,
            horizontal=horizontal,
            max_depth=max_depth,
            errors=errors,
            bars=bars,
            title=title,
            palette=palette,
            digits=digits,
            leaves_at_bottom=leaves_at_bottom,
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
        """Return slides that show step by step how the tree is grown, for teaching.

        Each split has its candidates with counts and arithmetic, the best one with the
        reason, and the tree so far. Pruning and rules come at the end.

        Parameters
        ----------
        data : table, optional
            The training table: the lesson shows its rows and their paths, by row
            number; rows without a target are left out. Without it the lesson has
            counts only.
        pruned : fitted tree, optional
            The result of :meth:`prune` on this tree; its steps come at the end.

        Returns
        -------
        LessonPage
            ``save(path)`` writes it as .html; it needs no network.

        Examples
        --------
        >>> import spinney
        >>> shop = {"size": [1, 2, 3, 4, 5, 6], "sold": ["no"] * 3 + ["yes"] * 3}
        >>> spinney.grow(shop, "sold", recipe="id3").lesson(shop)
        <lesson of 4 slides: save(path) keeps it as .html>
        """
        if pruned is not None and getattr(pruned, "kind", "") != "tree":
            raise refusal(
                Setting("pruned", pruned),
                "is not a tree",
                "pass what model.prune returns",
            )
        rows, positions = None, None
        if data is not None:
            from spinney.models.training_match import recode_training_rows

            rows, model = self._whole_table(data), self.model_
            if model.schema.target.name in rows.names:
                _, positions = recode_training_rows(model.schema, model.recipe, rows)
                rows = rows.take(positions)
        title = f"How a tree for {self.schema.target.name} is grown"
        lessons = registry.load("operation", "lesson")
        slides = lessons.tree_slides(self, rows, pruned, positions=positions)
        page: LessonPage = lessons.LessonPage.of(slides, title)
        return page
