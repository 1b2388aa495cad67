"""A tree in DOT, the language of Graphviz."""

from spinney._support.text import label_text, shown
from spinney.output.tree_text import NO_ROWS, counts_text
from spinney.trees import Node, Tree


def to_dot(tree: Tree) -> str:
    r"""Return a tree in DOT.

    >>> import spinney
    >>> shop = {"size": [1, 2], "sold": ["no", "yes"]}
    >>> print(to_dot(spinney.grow(shop, "sold", recipe="id3").tree))
    digraph "sold" {
      node [shape=box, fontname="Helvetica"];
      edge [fontname="Helvetica"];
      0 [label="size\n2: no 1 (50 %), yes 1 (50 %)"];
      1 [label="no\n1: no 1 (100 %)", style=rounded];
      0 -> 1 [label="size ≤ 1.5"];
      2 [label="yes\n1: yes 1 (100 %)", style=rounded];
      0 -> 2 [label="size > 1.5"];
    }
    """
    lines = [
        f"digraph {_quoted(shown(tree.schema.target.name))} {{",
        '  node [shape=box, fontname="Helvetica"];',
        '  edge [fontname="Helvetica"];',
    ]
    together: dict[int, tuple[Node, ...]] = {}
    for node in tree:
        below = tree.empty_sibling_leaves(node)
        together.update({leaf.number: below for leaf in below})
        shared = together.get(node.number, ())
        if shared and node.number != shared[-1].number:
            continue
        lines.append(f"  {node.number} [{_node(tree, node)}];")
        if node.parent is not None:
            label = _quoted(tree.condition(node, together=shared))
            lines.append(f"  {node.parent} -> {node.number} [label={label}];")
    return "\n".join([*lines, "}"])


def _node(tree: Tree, node: Node) -> str:
    counts = counts_text(node.weights, tree.schema) if node.n_rows else NO_ROWS
    if node.split is not None:
        name = tree.schema.attributes[node.split.attribute].text()
        return f"label={_quoted(name, counts)}"
    label = tree.model_names.get(node.number) or label_text(tree.label(node))
    return f"label={_quoted(label, counts)}, style=rounded"


def _quoted(*lines: str) -> str:
    r"""Return lines as one string of DOT, in which ``\n`` begins a new one."""
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
