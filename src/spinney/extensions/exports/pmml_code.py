"""A model as PMML 4.4: trees, forests, model trees, rules and clusters.

A tree is a ``TreeModel`` whose nodes have all their branches. Its strategy for missing
values is ``defaultChild`` if they take one branch, and ``weightedConfidence`` if they
are divided; surrogates are compound predicates. A forest is a ``MiningModel`` that
averages. A model tree is one whose segments are leaves, each with the conditions of its
path and a ``RegressionModel``. Rules are a ``RuleSet`` with the first match deciding,
clusters a ``ClusteringModel``.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from xml.etree.ElementTree import Element, indent, tostring

from spinney._support.text import value_text
from spinney._support.ties import TOLERANCE
from spinney._version import __version__
from spinney.errors import Setting
from spinney.extensions.exports.pmml_fields import (
    Fields,
    all_predicates,
    apply,
    constant,
    element,
    field,
    first_defined,
)
from spinney.extensions.exports.portable import (
    Centres,
    FormConjunction,
    FormNode,
    Portable,
    best_class,
    refuse_unsupported,
)

NAMESPACE = "http://www.dmg.org/PMML-4_4"


def to_pmml(form: Portable) -> str:
    r"""Return a PMML 4.4 document.

    >>> import spinney
    >>> from spinney.extensions.exports.portable_models import portable
    >>> shop = {"x": [1, 2, 3, 4], "y": ["a", "a", "b", "b"]}
    >>> text = to_pmml(portable(spinney.grow(shop, "y", recipe="cart")))
    >>> print(*[line for line in text.splitlines() if "<SimplePred" in line], sep="\n")
          <SimplePredicate field="x" operator="lessOrEqual" value="2.5" />
          <SimplePredicate field="x" operator="greaterThan" value="2.5" />
    """
    fields = Fields(form)
    model = _model(form, fields)
    header = element(
        "Header", element("Application", name="Spinney", version=__version__)
    )
    document = element("PMML", header, fields.dictionary(), xmlns=NAMESPACE)
    document.set("version", "4.4")
    if fields.derived:
        document.append(fields.transformations())
    document.append(model)
    indent(document)
    text = tostring(document, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _model(form: Portable, fields: Fields) -> Element:
    if form.centres is not None:
        return _clusters(form, fields, form.centres)
    if form.has_labels:
        return _rules(form, fields)
    several = len(form.roots) > 1
    if several and form.target.costs is not None:
        refuse_unsupported(
            "pmml", "misclassification costs of trees that vote", "leave the costs out"
        )
    if any(node.line is not None for node in form.nodes):
        return _model_tree(form, fields)
    trees = [_Tree(form, fields, root) for root in form.roots]
    return _forest(form, fields, trees) if several else trees[0].model(output=True)


def _function(form: Portable) -> str:
    return "regression" if form.target.is_numeric else "classification"


def _output(form: Portable, fields: Fields, *, divides: bool = False) -> Element:
    """Return the output fields: the prediction and the probability of each class.

    If rows are divided, the standard defines confidences, which are included, too.
    """
    features = {"p": "probability"} | ({"c": "confidence"} if divides else {})
    shares = [
        _output_field(fields.outputs[f"{short}({label})"], feature, value=label)
        for short, feature in features.items()
        for label in map(value_text, form.target.classes)
    ]
    name = fields.outputs[f"predicted {form.target.name}"]
    label = _output_field(name, "predictedValue")
    return element("Output", label, *shares)


def _output_field(name: str, feature: str, **attributes: str) -> Element:
    result = element("OutputField", name=name, feature=feature, **attributes)
    if "value" in attributes:
        result.set("dataType", "double")
        result.set("optype", "continuous")
    return result


def _voted_output(form: Portable, fields: Fields) -> Element:
    """Return the output fields of trees that vote.

    The standard does not define ties. So the label is a formula: the last class of the
    greatest share, within 1e-12.
    """
    last, *shares = _output(form, fields)
    names = [str(each.get("name")) for each in shares]
    best = apply("max", *map(field, names))
    least = apply("-", best, constant(TOLERANCE))
    labels = [value_text(label) for label in form.target.classes]
    chosen = constant(labels[0])
    for name, label in zip(names[1:], labels[1:], strict=True):
        good = apply("greaterOrEqual", field(name), deepcopy(least))
        chosen = apply("if", good, constant(label), chosen)
    last.set("feature", "transformedValue")
    last.set("dataType", "string")
    last.set("optype", "categorical")
    last.append(chosen)
    return element("Output", *shares, last)


def _shares(form: Portable, outputs: Sequence[float]) -> Iterator[Element]:
    """Yield the score distribution: probability, confidence and count by class."""
    for label, share in zip(form.target.classes, outputs, strict=True):
        result = element("ScoreDistribution", value=value_text(label))
        for name in ("recordCount", "confidence", "probability"):
            result.set(name, repr(share))
        yield result


class _Tree:
    """Writes a tree of a model as PMML."""

    def __init__(self, form: Portable, fields: Fields, root: int) -> None:
        self.form, self.fields, self.root = form, fields, root
        self.numbers = [root]
        for number in self.numbers:  # grows during the loop
            self.numbers += form.nodes[number].children
        asking = [form.nodes[n] for n in self.numbers if form.nodes[n].splits]
        divides = {node.default_branch is None for node in asking}
        if len(divides) > 1:
            refuse_unsupported(
                "pmml", "a tree that divides some rows only", "take 'python'"
            )
        self.divides = divides == {True}
        if self.divides and form.target.is_numeric:
            refuse_unsupported(
                "pmml", "numbers of rows that are divided", _POLICY_REMEDY
            )
        if self.divides and form.target.costs is not None:
            refuse_unsupported(
                "pmml", "misclassification costs where rows are divided", _POLICY_REMEDY
            )
        if self.divides and form.majority:
            refuse_unsupported(
                "pmml", "votes of trees that divide rows", _POLICY_REMEDY
            )

    def model(self, *, output: bool) -> Element:
        """Return the tree as a model; a tree of a forest has no output."""
        strategy = "weightedConfidence" if self.divides else "defaultChild"
        result = element(
            "TreeModel",
            self.fields.mining_schema(),
            functionName=_function(self.form),
            missingValueStrategy=strategy,
            splitCharacteristic="multiSplit",
        )
        if output:
            result.append(_output(self.form, self.fields, divides=self.divides))
        result.append(self._nodes())
        return result

    def _nodes(self) -> Element:
        """Return the root element with all nodes in it."""
        result = {self.root: self._node(self.root, element("True"), 1.0)}
        for number in self.numbers:
            node = self.form.nodes[number]
            parts = dict(node.parts)
            # The first matching child takes a row: one that takes all rows is last.
            for child in sorted(node.children, key=lambda c: _takes_rest(node, c)):
                asks = [self.fields.sends(each, child) for each in node.splits]
                if _takes_rest(node, child):
                    asks = [element("True")]
                weight = float(result[number].get("recordCount", "1.0"))
                below = self._node(
                    child, first_defined(asks), weight * parts.get(child, 0.0)
                )
                result[number].append(below)
                result[child] = below
        if not self.divides:
            for each in result.values():
                each.attrib.pop("recordCount")
        return result[self.root]

    def _node(self, number: int, predicate: Element, weight: float) -> Element:
        """Return the element of a node without its children."""
        form, node = self.form, self.form.nodes[number]
        result = element("Node", predicate, id=str(number), recordCount=repr(weight))
        if node.splits:
            if node.default_branch is not None:
                result.set("defaultChild", str(node.default_branch))
        elif form.target.is_numeric:
            result.set("score", repr(node.outputs[0]))
        else:
            result.set("score", _label(form, node))
            result.extend(_shares(form, node.outputs))
        return result


_POLICY_REMEDY = ("grow it with ", Setting("missing_policy", "branch"))


def _takes_rest(node: FormNode, child: int) -> bool:
    """Return whether a child takes only rows that no split sends."""
    sent = any(child in split.below for split in node.splits)
    return child == node.default_branch and not sent


def _label(form: Portable, node: FormNode) -> str:
    code = (
        best_class(node.outputs, form.target.costs)
        if node.label is None
        else node.label
    )
    return value_text(form.target.classes[code])


def _forest(form: Portable, fields: Fields, trees: Sequence[_Tree]) -> Element:
    """Return a forest, whose probabilities, numbers or votes are averaged."""
    segments = [
        element("Segment", element("True"), tree.model(output=False), id=str(at))
        for at, tree in enumerate(trees, 1)
    ]
    method = "majorityVote" if form.majority else "average"
    numeric = form.target.is_numeric
    return element(
        "MiningModel",
        fields.mining_schema(),
        _output(form, fields) if numeric else _voted_output(form, fields),
        element("Segmentation", *segments, multipleModelMethod=method),
        functionName=_function(form),
    )


def _model_tree(form: Portable, fields: Fields) -> Element:
    """Return a model tree: segments with the conditions and linear model of a leaf."""
    if form.divides:
        refuse_unsupported("pmml", "numbers of rows that are divided", _POLICY_REMEDY)
    paths: list[tuple[int, list[Element]]] = [(0, [])]
    segments = []
    while paths:
        number, conditions = paths.pop()
        node = form.nodes[number]
        if not node.splits:
            segment = element(
                "Segment", all_predicates(conditions), _regression(fields, node)
            )
            segment.set("id", str(number))
            segments.append(segment)
        for child in reversed(node.children):
            asks = [fields.sends(each, child) for each in node.splits]
            last = element("True" if child == node.default_branch else "False")
            paths.append((child, [*conditions, first_defined([*asks, last])]))
    return element(
        "MiningModel",
        fields.mining_schema(),
        _output(form, fields),
        element("Segmentation", *segments, multipleModelMethod="selectFirst"),
        functionName="regression",
    )


def _regression(fields: Fields, node: FormNode) -> Element:
    """Return the linear model of a leaf, or its number."""
    line = node.line
    intercept = node.outputs[0] if line is None else line.intercept
    table = element("RegressionTable", intercept=repr(intercept))
    for term in () if line is None else line.terms:
        predictor = element("NumericPredictor", name=fields.term(term))
        predictor.set("coefficient", repr(term.factor))
        table.append(predictor)
    return element(
        "RegressionModel", fields.mining_schema(), table, functionName="regression"
    )


def _rules(form: Portable, fields: Fields) -> Element:
    """Return a rule set in which the first matching rule decides."""
    *chain, last = form.nodes
    code = last.label or 0
    ruleset = element(
        "RuleSet",
        element("RuleSelectionMethod", criterion="firstHit"),
        *_shares(form, last.outputs),
        defaultScore=_label(form, last),
        defaultConfidence=repr(last.outputs[code]),
    )
    for asks, leaf in zip(chain[::2], chain[1::2], strict=True):
        result = form.derived[asks.splits[0].cell - len(form.columns)]
        assert isinstance(result, FormConjunction)
        predicate = all_predicates(
            [fields.condition(clause) for clause in result.clauses]
        )
        rule = element(
            "SimpleRule", predicate, *_shares(form, leaf.outputs), id=result.name
        )
        rule.set("score", _label(form, leaf))
        rule.set("confidence", repr(leaf.outputs[leaf.label or 0]))
        ruleset.append(rule)
    return element(
        "RuleSetModel",
        fields.mining_schema(),
        _output(form, fields),
        ruleset,
        functionName="classification",
    )


def _clusters(form: Portable, fields: Fields, centres: Centres) -> Element:
    """Return a clustering model; squared Euclidean distance selects the centre."""
    if centres.allows_missing:
        refuse_unsupported(
            "pmml", "k-prototypes, whose distances mix numbers and texts", "take 'onnx'"
        )
    names = [fields.scaled(each.cell, each.scale) for each in centres.numbers]
    squares = element("ComparisonMeasure", element("squaredEuclidean"), kind="distance")
    clusters = []
    for label in form.target.classes:
        array = element("Array", type="real", n=str(len(names)))
        places = [each.centres[int(label)] for each in centres.numbers]
        array.text = " ".join(map(repr, places))
        clusters.append(element("Cluster", array, id=value_text(label)))
    name = fields.outputs[f"predicted {form.target.name}"]
    output = element("OutputField", name=name, feature="predictedValue")
    return element(
        "ClusteringModel",
        fields.mining_schema(),
        element("Output", output),
        squares,
        *(
            element("ClusteringField", field=name, compareFunction="absDiff")
            for name in names
        ),
        *clusters,
        functionName="clustering",
        modelClass="centerBased",
        numberOfClusters=str(len(clusters)),
    )
