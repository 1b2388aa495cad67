"""A Hoeffding tree in plain lists, which keeps every row and counts it when asked.

What the compiled kernels count row by row is counted here from the rows that a leaf has
had, each time anew. Cells are numbers, or codes of values; None where missing. A column
is "numeric", "nominal", or the number of its ordered values.
"""

import itertools
import math
from collections import Counter

N_BINS = 64
EQUAL = 1e-12
NUMBERS = itertools.count()


def entropy_score(counts):
    """Return −n times the entropy of class weights."""
    total = sum(counts.values())
    logs = sum(w * math.log2(w) for _, w in sorted(counts.items()) if w > 0)
    return logs - total * math.log2(total) if total else 0.0


def gini_score(counts):
    """Return n less n times Gini's index of class weights."""
    total = sum(counts.values())
    return sum(w * w for w in counts.values()) / total if total else 0.0


def classes_of(rows):
    """Return the weight of each class."""
    counts = Counter()
    for _, label, weight in rows:
        counts[label] += weight
    return counts


def commonest(counts):
    """Return the heaviest class, the first of equals; None where there is none."""
    present = [label for label in counts if counts[label] > 0]
    return min(present, key=lambda label: (-counts[label], label), default=None)


class Node:
    """A leaf with its rows, or a node that asks."""

    def __init__(self, parent=None):
        self.parent, self.number = parent, next(NUMBERS)
        self.depth = 0 if parent is None else parent.depth + 1
        self.inherited, self.n_inherited = Counter(), 0
        self.rows, self.counted = [], []
        self.counts = False  # whether it has a table
        self.begin()

    def begin(self):
        """Become a leaf that has seen nothing."""
        self.attribute = self.cut = self.values = self.missing = None
        self.children = []
        self.majority = self.bayes = 0.0  # the weight that each way told right
        self.wrong = []  # of the rows since the watch began
        self.low = self.high = 0

    @property
    def weights(self):
        """What came to a leaf."""
        return self.inherited + classes_of(self.rows)

    @property
    def n_rows(self):
        """How many rows came to a leaf."""
        return self.n_inherited + len(self.rows)

    def branch(self, cells):
        """Return where a row goes."""
        value = cells[self.attribute]
        if value is None:
            return self.missing
        if self.values is None:
            return int(value > self.cut)
        return self.values.index(value) if value in self.values else self.missing

    def below(self):
        """Give the nodes of the subtree, this one first."""
        yield self
        for child in self.children:
            yield from child.below()


class NaiveStream:
    """The tree of rows that come one after another."""

    def __init__(
        self,
        kinds,
        *,
        criterion="gain",
        delta=1e-7,
        grace_period=200,
        tie_threshold=0.05,
        counting=1000,
        max_depth=None,
        max_leaves=None,
        drift=False,
        leaves="mean",
        rank_every=10_000,
    ):
        self.kinds, self.criterion, self.delta = kinds, criterion, delta
        self.grace_period, self.tie_threshold = grace_period, tie_threshold
        self.counting = counting
        self.max_depth, self.max_leaves, self.drift = max_depth, max_leaves, drift
        self.rank_every, self.adapts = rank_every, leaves == "adaptive"
        self.score = entropy_score if criterion == "gain" else gini_score
        self.root = Node()
        self.root.counts = True
        self.n_rows = self.n_changes = 0

    def leaves(self):
        """Return the leaves in printing order."""
        return [node for node in self.root.below() if not node.children]

    def n_free(self):
        """Return how many leaves more may count."""
        return self.counting - sum(leaf.counts for leaf in self.leaves())

    def learn(self, cells, label, weight=1.0):
        """Learn a row; return what it was taken for."""
        leaf = self.root
        while leaf.children:
            leaf = leaf.children[leaf.branch(cells)]
        told = self.tell(leaf, cells, label, weight)
        row = (cells, label, weight)
        leaf.rows.append(row)
        self.n_rows += 1
        if leaf.counts:
            leaf.counted.append(row)
            if len(leaf.counted) % self.grace_period == 0:
                self.look(leaf)
        if self.drift:
            self.watch(leaf, int(told != label))
        if self.n_rows % self.rank_every == 0:
            self.rank()
        return told

    # Telling

    def tell(self, leaf, cells, label, weight):
        """Return what a leaf takes a row for, and note which way was right."""
        told = by_counts = commonest(leaf.weights)
        if self.adapts and leaf.counts and by_counts is not None:
            chances = self.chances(leaf, cells)
            most = max(chances.values())
            by_bayes = min(c for c in chances if chances[c] >= most - 1e-9)
            told = by_bayes if leaf.bayes > leaf.majority else by_counts
            leaf.bayes += weight * (by_bayes == label)
            leaf.majority += weight * (by_counts == label)
        return told

    def chances(self, leaf, cells):
        """Return the logarithm of each class's chance by naive Bayes."""
        return {
            c: math.log(prior)
            + sum(
                self.density(leaf, a, c, cells[a])
                if self.kinds[a] == "numeric"
                else self.share(leaf, a, c, cells[a])
                for a in range(len(cells))
                if cells[a] is not None
            )
            for c, prior in leaf.weights.items()
        }

    def share(self, leaf, a, c, value):
        """Return the logarithm of the share of a value, of the rows of a class."""
        own = [row for row in leaf.counted if row[1] == c and row[0][a] is not None]
        having = sum(row[2] for row in own if row[0][a] == value)
        return math.log((having + 1) / (sum(row[2] for row in own) + 2))

    def density(self, leaf, a, c, value):
        """Return the logarithm of the density of a number, in the rows of a class."""
        cells = [(row[0][a], row[1], row[2]) for row in leaf.counted]
        known = [cell for cell in cells if cell[0] is not None]
        squares = weight = total = 0.0
        for other in {label for _, label, _ in known}:
            w, mean, s = self.moments([x for x in known if x[1] == other])
            weight, total, squares = weight + w, total + w * mean, squares + s
        if squares == 0:
            return 0.0
        own, mean, s = self.moments([cell for cell in known if cell[1] == c])
        mean = mean if own else total / weight
        variance = (s + squares / weight) / (own + 1)
        return -math.log(variance) / 2 - (value - mean) ** 2 / (2 * variance)

    @staticmethod
    def moments(cells):
        """Return weight, mean, and squares about the mean."""
        weight = sum(w for _, _, w in cells)
        mean = sum(x * w for x, _, w in cells) / weight if weight else 0.0
        return weight, mean, sum(w * (x - mean) ** 2 for x, _, w in cells)

    # Looking

    def look(self, leaf):
        """Split a leaf if one attribute has proven best."""
        if self.max_depth is not None and leaf.depth >= self.max_depth:
            return
        whole = classes_of(leaf.counted)
        weight = sum(whole.values())
        if len(whole) < 2:
            return
        first = second = 0.0
        best = None
        for a in range(len(self.kinds)):
            found = self.best_of(leaf, a)
            if found is None:
                continue
            merit = (found[0] - self.score(whole)) / weight
            if merit > first + EQUAL:
                first, second, best = merit, first, (a, *found[1:])
            else:
                second = max(second, merit)
        spread = 1 - 1 / len(whole)
        if self.criterion == "gain":
            spread = math.log2(len(whole))
        bound, tied = (
            spread * math.sqrt(-math.log(self.delta) / (2 * n))
            for n in (weight, sum(leaf.weights.values()))
        )
        if best is not None and (first - second > bound or tied < self.tie_threshold):
            self.split(leaf, *best)

    def best_of(self, leaf, a):
        """Return the best question on an attribute: scores, cut, values, missing."""
        known = [row for row in leaf.counted if row[0][a] is not None]
        absent = [row for row in leaf.counted if row[0][a] is None]
        if self.kinds[a] == "nominal":
            values = sorted({row[0][a] for row in known})
            ways = [(None, values)] if len(values) > 1 else []
        else:
            ways = [(cut, None) for cut in self.cuts(leaf, a)]
        best = None
        for cut, values in ways:
            parts = [[], []] if values is None else [[] for _ in values]
            for row in known:
                value = row[0][a]
                parts[int(value > cut) if values is None else values.index(value)] += [
                    row
                ]
            if not all(parts):
                continue
            counts = [classes_of(part) for part in parts]
            if not absent:
                scores = sum(map(self.score, counts))
                sizes = [sum(each.values()) for each in counts]
                found = scores, cut, values, sizes.index(max(sizes))
                if best is None or scores > best[0] + EQUAL:
                    best = found
                continue
            for branch in range(len(parts)):
                together = [
                    each + classes_of(absent) if at == branch else each
                    for at, each in enumerate(counts)
                ]
                scores = sum(map(self.score, together))
                if best is None or scores > best[0] + EQUAL:
                    best = scores, cut, values, branch
        return best

    def cuts(self, leaf, a):
        """Return the thresholds of an attribute: fixed by the first rows of a leaf."""
        if self.kinds[a] != "numeric":
            return [code + 0.5 for code in range(self.kinds[a] - 1)]
        numbers = sorted(
            row[0][a]
            for row in leaf.counted[: self.grace_period]
            if row[0][a] is not None
        )
        cuts = []
        for i in range(1, N_BINS):
            after = max(i * len(numbers) // N_BINS, 1)
            while after < len(numbers) and numbers[after] == numbers[after - 1]:
                after += 1
            if after < len(numbers):
                low, high = numbers[after - 1], numbers[after]
                middle = low / 2 + high / 2
                cut = middle if low <= middle < high else low
                if not cuts or cut > cuts[-1]:
                    cuts.append(cut)
        return cuts

    def split(self, leaf, attribute, cut, values, missing):
        """Let a leaf ask; its children inherit the rows of its table."""
        n_branches = 2 if values is None else len(values)
        n_leaves = len(self.leaves()) + n_branches - 1
        if self.max_leaves is not None and n_leaves > self.max_leaves:
            return
        leaf.attribute, leaf.cut, leaf.values = attribute, cut, values
        leaf.missing = missing
        children = [Node(leaf) for _ in range(n_branches)]
        leaf.children = children
        for row in leaf.counted:
            child = children[leaf.branch(row[0])]
            child.inherited[row[1]] += row[2]
            child.n_inherited += 1
        leaf.counts, leaf.rows, leaf.counted = False, [], []
        for child in children:
            child.counts = self.n_free() > 0

    # Watching

    def watch(self, leaf, wrong):
        """Let the highest node above a leaf begin anew whose errors have risen."""
        anew, node = None, leaf.parent
        while node is not None:
            if self.has_risen(node, wrong):
                anew = node
            node = node.parent
        if anew is not None:
            self.n_changes += 1
            anew.inherited, anew.n_inherited = Counter(), 0
            anew.rows, anew.counted = [], []
            anew.begin()
            anew.counts = self.n_free() > 0

    def has_risen(self, node, wrong):
        """Return whether the errors at a node rose; release them where they fell."""
        node.wrong.append(wrong)
        n, log = len(node.wrong), -math.log(self.delta)

        def mean(m):
            return sum(node.wrong[:m]) / m

        def bound(m):
            return math.sqrt(log / (2 * m))

        def chance(m):
            return math.sqrt((1 / m - 1 / n) * (log + math.log(2)) / 2)

        if not node.low or mean(n) + bound(n) <= mean(node.low) + bound(node.low):
            node.low = n
        if not node.high or mean(n) - bound(n) >= mean(node.high) - bound(node.high):
            node.high = n
        if mean(node.high) - mean(n) > chance(node.high):
            node.wrong, node.low, node.high = [], 0, 0
            return False
        return mean(n) - mean(node.low) > chance(node.low)

    # Ranking

    def rank(self):
        """Let the leaves count that get most wrong."""

        def promise(leaf):
            weights = leaf.weights
            return sum(weights.values()) - weights[commonest(weights)]

        while True:
            leaves = self.leaves()
            idle = [leaf for leaf in leaves if not leaf.counts]
            if not idle:
                return
            coming = max(idle, key=lambda leaf: (promise(leaf), -leaf.number))
            if not self.n_free():
                active = [leaf for leaf in leaves if leaf.counts]
                leaving = min(active, key=lambda leaf: (promise(leaf), leaf.number))
                if promise(coming) <= promise(leaving):
                    return
                leaving.counts, leaving.counted = False, []
            coming.counts = True
