"""Fitted trees: predict, explain, prune, save.

Nothing here needs scikit-learn, so that the shell tool starts quickly; the estimators
add its conventions. It is one file, because it is one class.
"""

from collections.abc import Iterable
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from spinney import registry
from spinney._support.arrays import Floats, Integers
from spinney._support.checks import Progress
from spinney._support.keyed_random import refuse_seed
from spinney._support.threads import limited_threads
from spinney.data import Costs, Schema
from spinney.data.readers import RowReader
from spinney.errors import ParameterError, Setting, did_you_mean, refusal, warn
from spinney.growth import Model, Quality, RecipeScore
from spinney.models.facts import tree_facts
from spinney.models.row_predictor import RowPredictor
from spinney.models.tree_display import TreeDisplay
from spinney.output.file import save_model
from spinney.trees import TreeImportances, importances_of
from spinney.trees.predict import (
    FlatTree,
    LazyFlatTree,
    leaf_numbers,
    outputs,
    row_walk_of,
)

if TYPE_CHECKING:
    import os

    from scipy.sparse import csr_matrix

    from spinney.extensions.rulesets import RuleSet
    from spinney.extensions.streaming import GrowingStream, StreamStats
    from spinney.growth.prune import PruningSequence, Steps
    from spinney.output import Rules
    from spinney.output.explain import (
        AttributeExplanation,
        NodeExplanation,
        RowExplanation,
    )


class FittedTree(TreeDisplay):
    """A grown tree: a model that predicts, and is explained, pruned and saved.

    Parameters
    ----------
    model : Model
        The tree with its recipe and origin.
    """

    kind = "tree"
    model_: Model

    def __init__(self, model: Model) -> None:
        self._adopt(model)

    def _adopt(self, model: Model) -> None:
        self.model_ = model
        self._flat_tree = LazyFlatTree(model.tree)

    @property
    def schema(self) -> Schema:
        """The attributes and the target: how the model reads tables."""
        return self.model_.schema

    @property
    def pruning_(self) -> "Steps | None":
        """The steps of pruning, in order; None if the model was loaded."""
        return self.model_.steps

    @property
    def sequence_(self) -> "PruningSequence | None":
        """The subtrees that cost-complexity pruning chose among."""
        return self.model_.sequence

    @property
    def recipe_scores_(self) -> tuple[RecipeScore, ...]:
        """The cross-validated score of each candidate recipe."""
        return self.model_.recipe_scores

    @property
    def quality_(self) -> Quality | None:
        """The error on held-out rows and on training rows, if it was measured."""
        return self.model_.quality

    @property
    def stream_stats_(self) -> "StreamStats | None":
        """The number of rows of a stream, and of those first predicted correctly."""
        return self.model_.stream_stats

    @property
    def validation_rows_(self) -> Integers | None:
        """The positions of the rows that were reserved to prune by."""
        return self.model_.validation_rows

    @property
    def _flat(self) -> FlatTree:
        return self._flat_tree.arrays

    @property
    def _stream(self) -> "GrowingStream | None":
        """The stream whose leaves also predict by naive Bayes, if there is one."""
        model = self.model_
        if model.recipe.leaves != "adaptive" or model.update_state is None:
            return None
        stream: GrowingStream = registry.load("operation", "stream").stream_of(model)
        return stream

    @property
    def _needed(self) -> Any:
        """The attributes that splits and leaves read."""
        if self._stream is not None:
            return range(len(self.schema.attributes))
        return self._flat.gathered

    @property
    def _optional(self) -> Any:
        """The attributes that only surrogates use."""
        return self._flat.gathered_optional

    @property
    def _asked(self) -> Any:
        """The attributes that the tree splits on."""
        return self._flat.needed

    def facts(self) -> dict[str, Any]:
        """Return its size, recipe and training set as plain data."""
        return tree_facts(self.model_)

    # Predicting

    def outputs(self, X: Any) -> Floats:
        """Return the prediction for each row: class probabilities, or one number."""
        if self._stream is not None:
            return self._stream.outputs(*self._columns(X))
        return outputs(self._flat, *self._columns(X))

    def _row_predictor(self, reader: RowReader) -> RowPredictor:
        if self._stream is not None:
            raise refusal(
                Setting("leaves", "adaptive"),
                "cannot predict single rows",
                "use predict, or save and load the model, which then uses counts",
            )
        tree = self._flat
        walk = row_walk_of(tree, reader.columns)
        return RowPredictor(reader, walk, tree.distribution, tree.outputs)

    def apply(self, X: Any) -> Any:
        """Return the leaf number of each row; with several leaves, the heaviest one."""
        return leaf_numbers(self._flat, *self._columns(X))

    def decision_path(self, X: Any) -> "csr_matrix":
        """Return a sparse matrix, rows × nodes: the weight that a row has at a node."""
        return self._flat.paths(*self._columns(X))

    def test_costs_of(self, X: Any) -> Floats:
        """Return the total test cost of each row.

        Each attribute on the path costs once; if a missing value divides a row, the
        parts count by their weights.
        """
        tree = self.model_.tree
        costs = np.zeros(len(tree))
        for node in tree.leaves:
            path = tree.path(node.number)[:-1]
            columns = tree.schema.input_columns(
                {step.candidate.attribute for step in path}
            )
            costs[node.number] = sum(tree.schema.attributes[a].cost for a in columns)
        return np.asarray(self.decision_path(X) @ costs)

    # Explaining

    def importances(self) -> TreeImportances:
        """Return the mean decrease of the criterion by each column, and its share.

        Columns of many values look more important than they are, for the gains are
        those of training.
        """
        return importances_of(self.tree)

    def rules(self) -> "Rules":
        """Return one rule per leaf; ``print`` shows one per line."""
        from spinney.output import rules_of

        return rules_of(self.tree)

    def ruleset(
        self,
        data: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        confidence: float = 0.25,
        simplify: bool = True,
    ) -> "RuleSet":
        """Return C4.5's rule set of the tree: fewer, shorter rules in order.

        A model stores no rows, so this needs the training table; another table gives a
        warning. See :mod:`spinney.extensions.rulesets` for the algorithm.

        Parameters
        ----------
        data : table
            The training table, with the target column unless y is given.
        y : array, optional
            The class of each row.
        sample_weight : array, optional
            The weight of each row, where the tree was grown with weights.
        confidence : float
            The level of the pessimistic error, between 0 and 1; the less, the
            shorter the rules.
        simplify : bool
            False keeps one rule per leaf, in the order of the leaves.

        Examples
        --------
        >>> import spinney
        >>> shop = {"size": [1, 2, 3, 4, 5, 6], "sold": ["no"] * 3 + ["yes"] * 3}
        >>> model = spinney.grow(shop, "sold", recipe="c4.5")
        >>> print(model.ruleset(shop))
        IF size ≤ 3 THEN sold = no  (support 3, errors 0, estimated error 37.0 %)
        IF size > 3 THEN sold = yes  (support 3, errors 0, estimated error 37.0 %)
        OTHERWISE sold = yes  (support 0)
        """
        model = self.model_
        if model.schema.target.is_numeric:
            msg = (
                f"target {model.schema.target.name!r} is numeric, but a rule set needs "
                "classes: use rules(), which has one rule per leaf"
            )
            raise ParameterError(msg)
        rulesets = registry.load("operation", "ruleset")
        found: RuleSet = rulesets.model_ruleset(
            model,
            self._whole_table(data),
            y=y,
            sample_weight=sample_weight,
            confidence=confidence,
            simplify=simplify,
        )
        return found

    def explain(
        self,
        node: int | None = None,
        *,
        row: Any = None,
        attribute: str | None = None,
        data: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        limit: int | None = None,
    ) -> "NodeExplanation | AttributeExplanation | RowExplanation":
        """Return the arithmetic of a node, of one attribute there, or a row's path.

        A model stores counts and no rows. The training table gives what counts do not
        show: all competitors of a split, even if compiled kernels stored only one; all
        thresholds of a number; the rows at the node and its children.

        Parameters
        ----------
        node : int, optional
            The number of the node; 0 is the root.
        row : table of one row, optional
            Instead of ``node``: the row whose path is explained.
        attribute : str, optional
            The attribute whose candidate splits at the node are all listed, with counts
            and merit. Numeric attributes need ``data``.
        data : table, optional
            The training table, with the target column unless y is given. With another
            table, the explanation says so.
        y : array, optional
            The class of each row of ``data``, or its number.
        sample_weight : array, optional
            The weight of each row of ``data``, where the tree was grown with weights.
        limit : int, optional
            The maximum number of candidate splits on ``attribute``: those with the
            highest gain; 100 if not given.

        Returns
        -------
        NodeExplanation, AttributeExplanation or RowExplanation
            Data, which prints as text.

        Examples
        --------
        >>> import spinney
        >>> shop = {"size": [1, 2, 3, 4], "sold": ["no", "no", "yes", "no"]}
        >>> model = spinney.grow(shop, "sold", recipe="cart")
        >>> sizes = model.explain(0, attribute="size", data=shop)
        >>> for way in sizes.ways:
        ...     print(way.lines.threshold, round(way.lines.gain, 3), way.best)
        1.5 0.042 False
        2.5 0.125 True
        3.5 0.042 False
        """
        from spinney.output.explain import (
            LIMIT,
            explain_attribute,
            explain_node,
            explain_row,
        )

        model = self.model_
        if (node is None) == (row is None):
            msg = "explain needs either node= (a node number) or row= (one row)"
            raise ParameterError(msg)
        _refuse_unread(attribute, data, y, sample_weight, row=row, limit=limit)
        if node is None:
            table = self._table(row)
            if table.n_rows != 1:
                msg = (
                    f"row= must have one row, not {table.n_rows}: slice it, as in [3:4]"
                )
                raise ParameterError(msg)
            return explain_row(model, self._encoded(table), table.row(0))
        rows: dict[str, Any] = {}
        if data is not None:
            from spinney.models.training_match import rows_at_node

            rows["counted"], rows["given"] = rows_at_node(
                model,
                self._whole_table(data),
                node,
                y=y,
                sample_weight=sample_weight,
            )
        if attribute is None:
            return explain_node(model, node, **rows)
        limit = LIMIT if limit is None else limit
        return explain_attribute(model, node, attribute, limit=limit, **rows)

    def _warn_before_saving(self) -> None:
        if self._stream is not None:
            warn(
                Setting("leaves", "adaptive"),
                " is not saved: the saved model predicts by the counts of its leaves",
            )

    # Pruning and keeping

    def _growing_options(self) -> dict[str, Any]:
        """Return the options that the tree was grown with, as far as known."""
        from spinney.models.prune import forced_paths

        options = {} if self._estimator is None else self._estimator._growing_options()
        return {"forced_splits": forced_paths(self.tree), **options}

    def prune(
        self,
        pruning: str | None = None,
        *,
        validation: Any = None,
        data: Any = None,
        weight: str | None = None,
        nodes: Iterable[int] | None = None,
        alpha: float | None = None,
        folds: int | None = None,
        rule: str | None = None,
        confidence: float | None = None,
        raising: bool | None = None,
        cost_matrix: Costs | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: Progress | None = None,
        **unknown: Any,
    ) -> Self:
        """Return a new model, pruned; this one stays as it is.

        An option that a method does not use is refused, and so is an unknown one.

        Parameters
        ----------
        pruning : str, optional
            ``"reduced-error"``, bottom-up against validation rows (default);
            ``"pre-pruning"``, top-down against them, as if while growing;
            ``"cost-complexity"``, by weakest links, at an alpha or at the one that
            folds or validation rows choose; ``"error-based"``, as C4.5 does;
            ``"pessimistic"``, ``"mdl"`` and ``"collapse"``, by the training counts
            alone; ``"manual"``, the named nodes; ``"simplify"``, sibling leaves with
            the same prediction. See :mod:`spinney.growth.prune`.
        validation : table with the target column, optional
            The validation set. Its accuracy, cost or squared error decides which nodes
            or which subtree of ``"cost-complexity"`` to keep.
        data : table with the target column, optional
            The training table. For ``"cost-complexity"`` without an alpha, to grow on
            in folds; for ``"error-based"``, to raise branches.
        weight : str, optional
            The column of row weights of ``validation`` or ``data``.
        nodes : list of int, optional
            For ``"manual"``, which is then the default: the nodes to cut.
        alpha : float, optional
            The cost of a leaf, in the unit of the training risk: rpart's cp times the
            risk of the root.
        folds : int, optional
            The number of folds; 10 if not given.
        rule : {"1-se", "half-se", "minimum"}, optional
            The smallest subtree within one standard error of the minimum error
            (default with folds), within half a standard error, or the one of the
            minimum (default with a validation set).
        confidence : float, optional
            For ``"error-based"``: at most 0.5; lower prunes more. The recipe's if not
            given.
        raising : bool, optional
            For ``"error-based"``: whether a node's largest branch may replace it. This
            needs ``data``.
        cost_matrix : mapping of mappings or square array, optional
            ``cost_matrix[label][true]``: misclassification costs; the model's if not
            given.
        random_state : int, RandomState or Generator, optional
            The random seed of the folds; 0 if not given.
        n_jobs : int, optional
            The maximum number of threads; the estimator's if not given, else one per
            core.
        progress : function of two numbers, optional
            Called with the number of trees of folds grown so far, and in total.

        Returns
        -------
        model
            Its ``pruning_`` lists the error before and after each step, and prints as a
            table. ``sequence_`` is the table of the subtrees of ``"cost-complexity"``,
            None for other methods. Files store neither.

        Examples
        --------
        >>> import spinney
        >>> melons = {"texture": ["clear", "clear", "blurry", "blurry"],
        ...           "density": [0.7, 0.3, 0.8, 0.2],
        ...           "ripe": ["yes", "no", "no", "no"]}
        >>> model = spinney.grow(melons, "ripe", recipe="cart").prune(nodes=[2])
        >>> print(model)
        ripe  (4: no 3 (75 %), yes 1 (25 %))
        ├── texture = blurry → no  (2: no 2 (100 %))
        └── texture = clear → yes  (2: no 1 (50 %), yes 1 (50 %))
        >>> print(model.pruning_)
        before, after: training risk; risk: on the training rows
        node  before  after  risk  after          branch
           2       0      1     0      1  pruned  texture = clear
        """
        from spinney.models.prune import prune_model

        options = {
            "validation": validation,
            "data": data,
            "weight": weight,
            "nodes": nodes,
            "alpha": alpha,
            "folds": folds,
            "rule": rule,
            "confidence": confidence,
            "raising": raising,
            "cost_matrix": cost_matrix,
            "random_state": random_state,
        }
        refuse_seed(unknown)
        for name in unknown:
            known = (*options, "pruning", "n_jobs", "progress")
            msg = f"prune has no parameter {name!r}: {did_you_mean(name, known)}"
            raise ParameterError(msg)
        with limited_threads(self.n_jobs if n_jobs is None else n_jobs):
            pruned = prune_model(
                self.model_,
                self.read,
                pruning=pruning,
                options=options,
                grown_with=self._growing_options(),
                progress=progress,
            )
        new = copy(self)
        new._adopt(pruned)
        return new

    def updated(
        self,
        data: Any = None,
        *,
        remove: Any = None,
        format: str | None = None,
        encoding: str | None = None,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Return a new model, with rows added or removed; this one stays as it is.

        The tree is the one that all rows at once would give. The model must store its
        rows: grown with ``keep_rows=True``, or fitted by ``partial_fit``. The first
        update counts all rows. Later ones count the added and removed rows on their
        paths, and all rows of nodes whose split changes. Some recipes are grown from
        scratch each time: see ``docs/incremental.md``.

        Parameters
        ----------
        data : table with the target column, optional
            Rows to add. They may bring new values and classes.
        remove : table with the target column, optional
            Rows to remove: each must equal one of the stored rows.
        format, encoding : str, optional
            Those of files, if their suffix does not show them.
        n_jobs : int, optional
            The maximum number of threads, if the tree is grown from scratch.
        progress : function of two numbers, optional
            Called with the number of trees grown so far, and in total.

        Examples
        --------
        >>> import spinney
        >>> shop = {"size": [1, 2, 3, 4], "sold": ["no", "no", "yes", "yes"]}
        >>> model = spinney.grow(shop, "sold", recipe="id3", keep_rows=True)
        >>> print(model.updated({"size": [5, 6], "sold": ["late", "late"]}))
        sold  (6: late 2 (33 %), no 2 (33 %), yes 2 (33 %))
        ├── size ≤ 2.5 → no  (2: no 2 (100 %))
        └── size > 2.5  (4: late 2 (50 %), yes 2 (50 %))
            ├── size ≤ 4.5 → yes  (2: yes 2 (100 %))
            └── size > 4.5 → late  (2: late 2 (100 %))
        """
        update = registry.load("operation", "update")
        model = self.model_
        state = update.require_update_state(model)
        batch, removed = (
            None
            if rows is None
            else update.update_batch(
                self.read(
                    rows,
                    whole=True,
                    weight=state.weight,
                    format=format,
                    encoding=encoding,
                ),
                state,
            )
            for rows in (data, remove)
        )
        if batch is None and removed is None:
            msg = "updated needs rows to add (data=), to remove (remove=), or both"
            raise ParameterError(msg)
        with limited_threads(self.n_jobs if n_jobs is None else n_jobs):
            new_model = update.update_model(model, batch, removed, progress=progress)
        new = copy(self)
        new._adopt(new_model)
        return new

    def save(self, path: "str | os.PathLike[str]", *, overwrite: bool = True) -> None:
        """Save the model to a file; :func:`spinney.load` reads it back.

        ``overwrite`` says whether an existing file may be replaced. Stored rows are
        saved too; the statistics of a stream are not.
        """
        self._warn_before_saving()
        save_model(self.model_, path, overwrite=overwrite)


def _refuse_unread(
    attribute: object,
    data: object,
    y: object,
    sample_weight: object,
    *,
    row: object,
    limit: object,
) -> None:
    """Refuse arguments of ``explain`` that have no effect with the others."""
    for name, value in (("attribute", attribute), ("data", data)):
        if row is not None and value is not None:
            raise ParameterError(
                Setting(name),
                (" cannot be used with ", Setting("row")),
                remedy="remove one",
            )
    for name, value in (("y", y), ("sample_weight", sample_weight)):
        if data is None and value is not None:
            raise ParameterError(
                Setting(name),
                (" needs ", Setting("data", ...)),
            )
    if attribute is None and limit is not None:
        raise ParameterError(
            Setting("limit", limit), (" needs ", Setting("attribute", ...))
        )
