// One model of the page with its selection, filters and pruning; views and panels show it.

import { unpack } from "./numbers.js";
import { labelText, rulePython, ruleSql, ruleText, shortConditionText } from "./rules.js";
import { Schema } from "./schema.js";
import { ClassColours, NumberColours } from "./theme.js";
import { Tree } from "./tree.js";

const NO_FILTERS = { label: -1, attribute: -1, support: 0, confidence: 0 };

export class State {
  constructor(data) {
    this.data = data;
    this.kind = data.kind;
    this.schema = new Schema(data.schema);
    this.names = data.names ?? {};
    this.models = data.models ?? {};
    this.view = "tree";
    this.panel = data.kind === "forest" ? "forest" : "node";
    this.horizontal = false;
    this.row = null;
    this.filters = { ...NO_FILTERS };
    this.listeners = [];
    this.trees = new Map();
    this.treeIndex = 0;
    if (this.kind !== "clusters") this.selectTree(0);
  }

  // Trees of a forest are made when they are looked at.
  treeOf(at) {
    if (!this.trees.has(at)) {
      const data = this.kind === "forest" ? this.data.trees[at].tree : this.data.tree;
      this.trees.set(at, new Tree(data, this.schema));
    }
    return this.trees.get(at);
  }

  selectTree(at) {
    this.treeIndex = at;
    this.tree = this.treeOf(at);
    const { tree, schema } = this;
    this.colours = schema.numeric
      ? new NumberColours(tree)
      : new ClassColours(schema, this.treeOf(0).weightsOf(0));
    this.selected = 0;
    this.closed = new Uint8Array(tree.size);
    this.unfiltered = null;
    this.fitted = false;
    this.cutNodes = new Set();
    this.step = -1;
    this.highlighted = new Map();
    this.matching = null;
    this.filter(this.filters);
    if (this.row) this.highlight();
    this.listed = false;
  }

  subscribe(listener) {
    this.listeners.push(listener);
  }

  // Notify listeners of changes: "select", "shape", "filter", "light", "view", "panel", "tree".
  notify(...what) {
    const changed = new Set(what);
    for (const listener of this.listeners) listener(changed);
  }

  select(node, { reveal = false } = {}) {
    this.selected = node;
    const changes = ["select"];
    if (reveal && this.reveal(node)) changes.push("shape");
    if (this.panel !== "node" && this.panel !== "rows") {
      this.panel = "node";
      changes.push("panel");
    }
    this.notify(...changes, reveal ? "reveal" : "click");
  }

  // Open all nodes above a node; whether any was closed.
  reveal(node) {
    let opened = false;
    for (
      let above = this.tree.parent[node];
      node > 0 && above >= 0;
      above = above ? this.tree.parent[above] : -1
    ) {
      if (this.closed[above]) opened = true;
      this.closed[above] = 0;
    }
    return opened;
  }

  toggle(node) {
    if (this.isLeaf(node)) return;
    this.closed[node] = this.closed[node] ? 0 : 1;
    // What opens shows its children, and not all that was once open below them.
    if (!this.closed[node]) {
      for (const child of this.tree.childrenOf(node)) {
        if (this.tree.end[child] - child > 60) this.closed[child] = 1;
      }
    }
    this.notify("shape");
  }

  // Close everything below a depth, and open what is above it.
  openToDepth(depth) {
    const { tree } = this;
    for (let node = 0; node < tree.size; node += 1) {
      this.closed[node] = !tree.isLeaf(node) && tree.depth[node] >= depth ? 1 : 0;
    }
  }

  // Whether a node is a leaf, of the tree or by pruning.
  isLeaf(node) {
    const { tree } = this;
    if (tree.isLeaf(node) || this.cutNodes.has(node)) return true;
    if (this.step < 0) return false;
    const step = tree.sequence.step[node];
    return step >= 0 && step <= this.step;
  }

  get pruned() {
    return this.step >= 0 || this.cutNodes.size > 0;
  }

  // All nodes that end paths now.
  leaves() {
    const { tree } = this;
    const leaves = [];
    for (let node = 0; node < tree.size;) {
      if (this.isLeaf(node)) {
        leaves.push(node);
        node = tree.end[node];
      } else node += 1;
    }
    return leaves;
  }

  label(node) {
    return labelText(this.tree, node, this.names);
  }

  // Share of all rows.
  share(node) {
    return this.tree.weight[0] ? this.tree.weight[node] / this.tree.weight[0] : 0;
  }

  filter(filters) {
    this.filters = { ...this.filters, ...filters };
    const { label, attribute, support, confidence } = this.filters;
    const { tree, schema } = this;
    const free = label < 0 && attribute < 0 && !support && !confidence;
    if (free) {
      this.matching = null;
      if (this.unfiltered) this.closed.set(this.unfiltered);
      this.unfiltered = null;
      return;
    }
    this.matching = new Uint8Array(tree.size);
    for (const leaf of this.leaves()) {
      const splitsOnIt = (above) => tree.attribute[above] === attribute && above !== leaf;
      const fits =
        (label < 0 || tree.label[leaf] === label) &&
        this.share(leaf) >= support &&
        (schema.numeric || tree.confidence(leaf) >= confidence) &&
        (attribute < 0 || tree.path(leaf).some(splitsOnIt));
      if (!fits) continue;
      for (let node = leaf; !this.matching[node]; node = tree.parent[node]) {
        this.matching[node] = 1;
        if (!node) break;
      }
    }
  }

  // Expand all that matches the filter, and collapse the rest.
  openMatches() {
    if (!this.matching) return;
    this.unfiltered ??= this.closed.slice();
    for (let node = 0; node < this.tree.size; node += 1)
      this.closed[node] = this.isLeaf(node) || this.matching[node] ? 0 : 1;
    this.reveal(this.selected);
  }

  matchesFilter(node) {
    return !this.matching || this.matching[node] === 1;
  }

  prune(step) {
    this.step = step;
    this.pruningChanged();
  }

  toggleCut(node) {
    if (this.cutNodes.has(node)) this.cutNodes.delete(node);
    else this.cutNodes.add(node);
    this.pruningChanged();
  }

  pruningChanged() {
    // What is selected may be gone.
    for (const node of this.tree.path(this.selected)) {
      if (this.isLeaf(node)) {
        this.selected = node;
        break;
      }
    }
    this.filter({});
    if (this.row) this.highlight();
    this.notify("shape", "select", "filter", "light", "prune");
  }

  // Nodes whose question, label, condition or number has the words.
  search(words) {
    const { tree, schema } = this;
    const query = words.trim().toLowerCase();
    if (!query) return [];
    const number = query.match(/^(?:node |#)?(\d+)$/);
    if (number && Number(number[1]) < tree.size) return [Number(number[1])];
    const has = (text) => text.toLowerCase().includes(query);
    const matchingAttributes = schema.attributes.map(({ text }) => has(text));
    const labels = schema.classes.map(has);
    const matches = [];
    for (let node = 0; node < tree.size && matches.length < 5000; node += 1) {
      const leaf = tree.isLeaf(node);
      if (
        leaf && !schema.numeric
          ? labels[tree.label[node]]
          : !leaf && matchingAttributes[tree.attribute[node]]
      ) {
        matches.push(node);
      } else if (node && tree.size < 20000 && tree.branchLabelParts(node).texts.some(has)) {
        matches.push(node);
      }
    }
    return matches;
  }

  // The rows that came to a node, by their numbers; null where the page has none.
  rowsAt(node) {
    const { rows } = this.data;
    if (!rows) return null;
    const leaf = this.kind === "forest" ? this.data.trees[this.treeIndex].leaf : rows.leaf;
    this.leafOfRows ??= new Map();
    if (!this.leafOfRows.has(this.treeIndex)) this.leafOfRows.set(this.treeIndex, unpack(leaf));
    const leaves = this.leafOfRows.get(this.treeIndex);
    const numbers = [];
    const end = this.kind === "clusters" ? node + 1 : this.tree.end[node];
    leaves.forEach((at, row) => {
      if (at >= node && at < end) numbers.push(row);
    });
    return numbers;
  }

  // Attributes that are asked about, or read by models and surrogates.
  usedColumns() {
    const used = new Set();
    const trees =
      this.kind === "forest" ? this.data.trees.map((_, at) => this.treeOf(at)) : [this.tree];
    for (const tree of trees) {
      for (const index of tree.attribute) if (index >= 0) used.add(index);
      if (tree.surrogates) for (const index of tree.surrogates.attribute) used.add(index);
      if (tree.models) for (const index of tree.models.attribute) used.add(index);
    }
    return this.schema.behind(used);
  }

  // How the path to a node reads, condition by condition.
  pathTexts(node) {
    return this.tree
      .path(node)
      .slice(1)
      .map((each) => [each, this.tree.condition(each), this.tree.shortCondition(each)]);
  }

  // The rule of a node: as text, whole or short, as SQL or Python.
  rule(node, form = "text") {
    if (form === "SQL") return ruleSql(this.tree, node);
    if (form === "Python") return rulePython(this.tree, node);
    const textOf = form === "short" ? shortConditionText : undefined;
    return ruleText(this.tree, node, this.names, textOf);
  }
}
