"""What a document of PMML 4.4 says of rows, in plain loops, as the standard has it.

It knows the elements that trees, forests, rules, clusters and linear models need, and
refuses any other element, attribute or function: so it checks the structure, too.
"""

import math
import re
from xml.etree import ElementTree

SPACE = "{http://www.dmg.org/PMML-4_4}"

# Each element's attributes and what may stand in it, in the order of the schema.
PREDICATES = "True False SimplePredicate SimpleSetPredicate CompoundPredicate"
MODEL = "MiningSchema Output LocalTransformations"
STRUCTURE = {
    "PMML": (
        "version",
        "Header DataDictionary TransformationDictionary TreeModel MiningModel "
        "RuleSetModel ClusteringModel RegressionModel",
    ),
    "Header": ("", "Application"),
    "Application": ("name version", ""),
    "DataDictionary": ("numberOfFields", "DataField"),
    "DataField": ("name optype dataType", "Value"),
    "Value": ("value property", ""),
    "TransformationDictionary": ("", "DerivedField"),
    "DerivedField": ("name optype dataType", "Apply MapValues"),
    "Apply": ("function", "*"),
    "FieldRef": ("field", ""),
    "Constant": ("dataType", ""),
    "MapValues": (
        "outputColumn dataType mapMissingTo defaultValue",
        "FieldColumnPair InlineTable",
    ),
    "FieldColumnPair": ("field column", ""),
    "InlineTable": ("", "row"),
    "row": ("", "in out"),
    "in": ("", ""),
    "out": ("", ""),
    "MiningSchema": ("", "MiningField"),
    "MiningField": ("name usageType invalidValueTreatment missingValueTreatment", ""),
    "Output": ("", "OutputField"),
    "OutputField": ("name feature value dataType optype", "Apply"),
    "TreeModel": (
        "functionName missingValueStrategy splitCharacteristic",
        f"{MODEL} Node",
    ),
    "Node": (
        "id score recordCount defaultChild",
        f"{PREDICATES} ScoreDistribution Node",
    ),
    "ScoreDistribution": ("value recordCount confidence probability", ""),
    "True": ("", ""),
    "False": ("", ""),
    "SimplePredicate": ("field operator value", ""),
    "SimpleSetPredicate": ("field booleanOperator", "Array"),
    "CompoundPredicate": ("booleanOperator", "*"),
    "Array": ("type n", ""),
    "MiningModel": ("functionName", f"{MODEL} Segmentation"),
    "Segmentation": ("multipleModelMethod", "Segment"),
    "Segment": ("id", f"{PREDICATES} TreeModel RegressionModel"),
    "RegressionModel": ("functionName", f"{MODEL} RegressionTable"),
    "RegressionTable": ("intercept", "NumericPredictor"),
    "NumericPredictor": ("name coefficient", ""),
    "RuleSetModel": ("functionName", f"{MODEL} RuleSet"),
    "RuleSet": (
        "defaultScore defaultConfidence",
        "RuleSelectionMethod ScoreDistribution SimpleRule",
    ),
    "RuleSelectionMethod": ("criterion", ""),
    "SimpleRule": ("id score confidence", f"{PREDICATES} ScoreDistribution"),
    "ClusteringModel": (
        "functionName modelClass numberOfClusters",
        f"{MODEL} ComparisonMeasure ClusteringField Cluster",
    ),
    "ComparisonMeasure": ("kind", "squaredEuclidean"),
    "squaredEuclidean": ("", ""),
    "ClusteringField": ("field compareFunction", ""),
    "Cluster": ("id", "Array"),
}


def name_of(element):
    assert element.tag.startswith(SPACE), element.tag
    return element.tag.removeprefix(SPACE)


def check(element):
    """Refuse what the schema does not have, or has elsewhere."""
    stack = [element]
    while stack:
        each = stack.pop()
        attributes, children = STRUCTURE[name_of(each)]
        assert {*each.attrib} <= {*attributes.split()}, (each.tag, each.attrib)
        names = [name_of(child) for child in each]
        if children != "*":
            order = [children.split().index(name) for name in names]
            assert order == sorted(order), (each.tag, names)
        stack += list(each)


class Document:
    """A document, ready to be asked."""

    def __init__(self, text):
        self.root = ElementTree.fromstring(text.encode("utf-8"))
        check(self.root)
        self.model = self.root[-1]
        self.fields = {}
        for each in self.find(self.root, "DataDictionary"):
            assert each.get("name") not in self.fields
            self.fields[each.get("name")] = each
        (schema,) = [e for e in self.model if name_of(e) == "MiningSchema"]
        self.columns = {e.get("name"): e for e in schema if not e.get("usageType")}

    @staticmethod
    def find(element, name):
        (found,) = [each for each in element if name_of(each) == name]
        return found

    def says(self, row):
        """Return the label or number that is predicted, and the shares by class."""
        label, shares = self.ask(self.model, self.cells(row))
        said = {}
        for each in self.find(self.model, "Output"):
            name, feature = each.get("name"), each.get("feature")
            if feature == "transformedValue":
                said[name] = label = self.value(each[0], said)
            elif feature in ("probability", "confidence"):
                said[name] = shares[each.get("value")]
            else:
                assert feature == "predictedValue"
        return label, shares

    def cells(self, row):
        cells = {}
        for name, mining in self.columns.items():
            cells[name] = self.cell(self.fields[name], mining, row[name])
        for each in self.root.iter(f"{SPACE}DerivedField"):
            cells[each.get("name")] = self.value(each[0], cells)
        return cells

    @staticmethod
    def cell(field, mining, value):
        missing = [e.get("value") for e in field if e.get("property") == "missing"]
        if field.get("dataType") == "double":
            if value is not None and any(float(m) == value for m in missing):
                value = None
            if value is None and mining.get("missingValueTreatment"):
                raise ValueError(field.get("name"))
            return value
        if value not in [e.get("value") for e in field]:
            assert mining.get("invalidValueTreatment") == "asMissing"
            return None
        return value

    # Expressions

    def value(self, element, cells):
        tag = name_of(element)
        if tag == "FieldRef":
            return cells[element.get("field")]
        if tag == "Constant":
            is_text = element.get("dataType") == "string"
            return element.text or "" if is_text else float(element.text)
        if tag == "MapValues":
            return self.mapped(element, cells)
        function = element.get("function")
        values = [self.value(each, cells) for each in element]
        if function in ("isMissing", "isNotMissing"):
            return (values[0] is None) == (function == "isMissing")
        if function == "if":
            if values[0] is None:
                return None
            return values[1] if values[0] else (*values, None)[2]
        if function == "and":
            return False if False in values else None if None in values else True
        if None in values:
            return None
        return FUNCTIONS[function](*values)

    @staticmethod
    def mapped(element, cells):
        pair, table = element
        value, kind = cells[pair.get("field")], element.get("dataType")
        if value is None:
            out = element.get("mapMissingTo")
        else:
            known = {row[0].text or "": row[1].text or "" for row in table}
            out = known.get(value, element.get("defaultValue"))
        return float(out) if kind == "double" and out is not None else out

    # Predicates: True, False, or None where unknown

    def holds(self, element, cells):
        tag = name_of(element)
        if tag in ("True", "False"):
            return tag == "True"
        if tag == "CompoundPredicate":
            parts = [self.holds(each, cells) for each in element]
            operator = element.get("booleanOperator")
            if operator == "surrogate":
                return next((part for part in parts if part is not None), None)
            decides = operator == "or"
            assert operator in ("or", "and")
            if decides in parts:
                return decides
            return None if None in parts else not decides
        cell = cells[element.get("field")]
        if tag == "SimpleSetPredicate":
            assert element.get("booleanOperator") == "isIn"
            return None if cell is None else cell in texts_of(element[0])
        operator = element.get("operator")
        if operator in ("isMissing", "isNotMissing"):
            return (cell is None) == (operator == "isMissing")
        if cell is None:
            return None
        asked = element.get("value")
        asked = asked if isinstance(cell, str) else float(asked)
        return OPERATORS[operator](cell, asked)

    # Models

    def ask(self, model, cells):
        return getattr(self, name_of(model))(model, cells)

    def TreeModel(self, model, cells):  # noqa: N802
        self.strategy = model.get("missingValueStrategy")
        return self.node(model[-1], cells)

    def node(self, node, cells):
        while children := [each for each in node if name_of(each) == "Node"]:
            node = self.following(node, children, cells)
            if isinstance(node, tuple):
                return node
        shares = shares_of(node)
        return node.get("score") if shares else float(node.get("score")), shares

    def following(self, node, children, cells):
        answers = [self.holds(child[0], cells) for child in children]
        for child, answer in zip(children, answers, strict=True):
            if answer:
                return child
            if answer is None and self.strategy == "defaultChild":
                wanted = node.get("defaultChild")
                return next(each for each in children if each.get("id") == wanted)
            if answer is None:
                assert self.strategy == "weightedConfidence"
                pairs = zip(children, answers, strict=True)
                return self.weighted([c for c, a in pairs if a is not False], cells)
        raise AssertionError(node.get("id"))

    def weighted(self, nodes, cells):
        total, sums = sum(float(each.get("recordCount")) for each in nodes), {}
        for each in nodes:
            for label, share in self.node(each, cells)[1].items():
                part = share * float(each.get("recordCount")) / total
                sums[label] = sums.get(label, 0.0) + part
        return last_best(sums), sums

    def MiningModel(self, model, cells):  # noqa: N802
        segmentation = model[-1]
        method = segmentation.get("multipleModelMethod")
        if method == "selectFirst":
            segment = next(s for s in segmentation if self.holds(s[0], cells))
            return self.ask(segment[-1], cells)
        said = [self.ask(segment[-1], cells) for segment in segmentation]
        if not said[0][1]:
            return sum(number for number, _ in said) / len(said), {}
        votes = [shares for _, shares in said]
        if method == "majorityVote":
            votes = [{c: float(c == label) for c in shares} for label, shares in said]
        mean = {c: sum(vote[c] for vote in votes) / len(votes) for c in votes[0]}
        return "whatever a reader does with ties", mean

    def RegressionModel(self, model, cells):  # noqa: N802
        table = model[-1]
        total = float(table.get("intercept"))
        for each in table:
            total += float(each.get("coefficient")) * cells[each.get("name")]
        return total, {}

    def RuleSetModel(self, model, cells):  # noqa: N802
        rules = model[-1]
        assert rules[0].get("criterion") == "firstHit"
        for rule in rules:
            if name_of(rule) == "SimpleRule" and self.holds(rule[0], cells):
                return rule.get("score"), shares_of(rule)
        return rules.get("defaultScore"), shares_of(rules)

    def ClusteringModel(self, model, cells):  # noqa: N802
        names = [e.get("field") for e in model if name_of(e) == "ClusteringField"]
        least, nearest = math.inf, None
        for each in (e for e in model if name_of(e) == "Cluster"):
            places = map(float, each[0].text.split())
            pairs = zip(names, places, strict=True)
            total = 0.0
            for name, place in pairs:
                total += (cells[name] - place) * (cells[name] - place)
            if total < least:
                least, nearest = total, each.get("id")
        return nearest, {}


def texts_of(array):
    """Return the texts of an array: in quotes, with spaces between them."""
    texts = re.findall(r'"([^"]*)"', array.text)
    assert len(texts) == int(array.get("n"))
    return texts


def shares_of(element):
    scores = [each for each in element if name_of(each) == "ScoreDistribution"]
    return {each.get("value"): float(each.get("probability")) for each in scores}


def last_best(shares):
    """Return the class of the greatest share; the last of those within 1e-12."""
    best = max(shares.values())
    return [label for label, share in shares.items() if share >= best - 1e-12][-1]


OPERATORS = {
    "equal": lambda one, other: one == other,
    "lessOrEqual": lambda one, other: one <= other,
    "greaterThan": lambda one, other: one > other,
}
FUNCTIONS = {
    **OPERATORS,
    "notEqual": lambda one, other: one != other,
    "greaterOrEqual": lambda one, other: one >= other,
    "max": max,
    "-": lambda one, other: one - other,
    "+": lambda one, other: one + other,
    "*": lambda one, other: one * other,
    "/": lambda one, other: one / other,
    "abs": abs,
    "isIn": lambda one, *others: one in others,
}
