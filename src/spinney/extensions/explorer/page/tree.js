// A tree: arrays with one entry for each node, and what follows from them.
//
// Nodes stand in printing order, a parent before its children and a branch with all
// below it before the next; so what is below a node is the run up to `end[node]`.

import { rounded, offsetsOf, unpackAll } from "./numbers.js";
import { conditionText, shortConditionText } from "./rules.js";
import { predictedLabel } from "./schema.js";

const MAX_LABEL_VALUES = 6;

// Splits, one for each line: thresholds, several cuts, or groups of codes.
export class Splits {
  constructor(data) {
    Object.assign(this, data);
    const size = this.attribute.length;
    const [inBranches, inCuts] = [new Int32Array(size), new Int32Array(size)];
    for (let line = 0; line < size; line += 1) {
      if (Number.isNaN(this.cut[line])) inBranches[line] = this.listed[line];
      else inCuts[line] = this.listed[line];
    }
    this.firstBranch = offsetsOf(inBranches);
    this.firstCut = offsetsOf(inCuts);
  }

  isGrouped(line) {
    return Number.isNaN(this.cut[line]);
  }

  cutsOf(line) {
    return [
      this.cut[line],
      ...this.cuts.subarray(this.firstCut[line], this.firstCut[line + 1]),
    ];
  }

  // The cuts below and above a branch.
  boundsOf(line, branch) {
    const cuts = [-Infinity, ...this.cutsOf(line), Infinity];
    return [cuts[branch], cuts[branch + 1]];
  }

  // The codes of each branch.
  groupsOf(line, branches) {
    const groups = Array.from({ length: branches }, () => []);
    const first = this.firstBranch[line];
    for (let code = 0; code < this.listed[line]; code += 1) {
      const branch = this.branches[first + code];
      if (branch >= 0) groups[branch].push(code);
    }
    return groups;
  }

  // The branch of a value; -1 where it is missing, or a code that was not seen.
  branchOf(line, value) {
    if (Number.isNaN(value)) return -1;
    if (this.isGrouped(line)) {
      if (value < 0 || value >= this.listed[line]) return -1;
      return this.branches[this.firstBranch[line] + value];
    }
    let branch = value > this.cut[line] ? 1 : 0;
    for (let at = this.firstCut[line]; at < this.firstCut[line + 1]; at += 1) {
      if (value > this.cuts[at]) branch += 1;
    }
    return branch;
  }
}

export class Tree extends Splits {
  constructor({ explained = {}, ...packed }, schema) {
    super(unpackAll(packed));
    this.schema = schema;
    this.explained = explained;
    this.link();
    this.readOutputs();
    if (this.surrogates) this.surrogates = readSurrogates(this.surrogates);
    if (this.models) this.models.firstOf = offsetsOf(this.models.count);
    if (this.candidates) this.candidates = new Candidates(this.candidates, schema.width);
    if (this.histograms) this.histograms = new Histograms(this.histograms, schema.width);
  }

  link() {
    const { parent, size } = this;
    const count = new Int32Array(size);
    for (let node = 1; node < size; node += 1) count[parent[node]] += 1;
    this.first = offsetsOf(count);
    this.children = new Int32Array(Math.max(size - 1, 0));
    this.branch = new Int32Array(size);
    this.depth = new Int32Array(size);
    this.end = new Int32Array(size);
    const filled = this.first.slice();
    this.height = 0;
    for (let node = 1; node < size; node += 1) {
      const above = parent[node];
      this.branch[node] = filled[above] - this.first[above];
      this.children[filled[above]] = node;
      filled[above] += 1;
      this.depth[node] = this.depth[above] + 1;
      if (this.depth[node] > this.height) this.height = this.depth[node];
    }
    this.leaves = 0;
    for (let node = size - 1; node >= 0; node -= 1) {
      if (!this.end[node]) this.end[node] = node + 1;
      const above = node ? parent[node] : -1;
      if (above >= 0 && this.end[above] < this.end[node]) this.end[above] = this.end[node];
      if (this.isLeaf(node)) this.leaves += 1;
    }
  }

  readOutputs() {
    const { size, schema, labels } = this;
    const { nodes, values } = this.outputs;
    const { outputs: width } = schema;
    this.weight = new Float64Array(size);
    this.outputs = new Float64Array(size * width);
    for (let node = 0; node < size; node += 1) {
      const at = node * schema.width;
      let sum = 0;
      if (schema.numeric) sum = this.weights[at];
      else for (let c = 0; c < width; c += 1) sum += this.weights[at + c];
      this.weight[node] = sum;
      if (!schema.numeric) {
        for (let c = 0; c < width; c += 1) this.outputs[at + c] = this.weights[at + c] / sum;
      }
    }
    nodes.forEach((node, at) => {
      for (let c = 0; c < width; c += 1)
        this.outputs[node * width + c] = values[at * width + c];
    });
    this.smoothed = nodes.length > 0 && !schema.numeric;
    this.label = new Int32Array(size);
    if (schema.numeric) return;
    for (let node = 0; node < size; node += 1) {
      this.label[node] = labels ? labels[node] : predictedLabel(this.outputsOf(node));
    }
  }

  isLeaf(node) {
    return this.attribute[node] < 0;
  }

  outputsOf(node) {
    const width = this.schema.outputs;
    return this.outputs.subarray(node * width, (node + 1) * width);
  }

  // The class weights, or the moments.
  weightsOf(node) {
    const { width } = this.schema;
    return this.weights.subarray(node * width, (node + 1) * width);
  }

  childrenOf(node) {
    return this.children.subarray(this.first[node], this.first[node + 1]);
  }

  branchesOf(node) {
    return this.first[node + 1] - this.first[node];
  }

  // Class shares of a node's rows, or of the nearest above that has any.
  classProportions(node) {
    let at = node;
    while (!this.rows[at] && at) at = this.parent[at];
    const weights = this.weightsOf(at);
    return Array.from(weights, (weight) => weight / this.weight[at]);
  }

  // Mean and standard deviation of the rows at a node, of a target that is a number.
  moments(node) {
    if (!this.rows[node]) return [this.outputs[node], 0];
    return meanAndDeviation(this.weightsOf(node), this.schema);
  }

  // The share of the label, or the standard deviation.
  confidence(node) {
    return this.outputs[node * this.schema.outputs + this.label[node]];
  }

  path(node) {
    const nodes = [node];
    for (let at = node; at > 0;) {
      at = this.parent[at];
      nodes.push(at);
    }
    return nodes.reverse();
  }

  surrogateCount(node) {
    return this.surrogates ? this.surrogates.count[node] : 0;
  }

  // The branch of rows that nothing else sends; -1 where they are divided.
  defaultBranch(node) {
    const branch = this.default_branch ? this.default_branch[node] : -1;
    return branch >= 0 ? branch : this.missing[node];
  }

  // The branch of missing values as the split reads.
  missingBranch(node) {
    return this.surrogateCount(node) ? this.missing[node] : this.defaultBranch(node);
  }

  // Which codes of an attribute can come to a node.
  codesAt(node, attribute) {
    const size = this.schema.attributes[attribute].values.length;
    let codes = new Set(Array.from({ length: size }, (_, code) => code));
    const nodes = this.path(node);
    for (let at = 0; at + 1 < nodes.length; at += 1) {
      const above = nodes[at];
      if (this.attribute[above] !== attribute || !this.isGrouped(above)) continue;
      codes = this.codesOf(above, this.branch[nodes[at + 1]], codes);
    }
    return codes;
  }

  // Which of some codes take a branch; one of no group goes where missing values go.
  codesOf(node, branch, codes) {
    const groups = this.groupsOf(node, this.branchesOf(node));
    if (this.missingBranch(node) !== branch) {
      return new Set(groups[branch].filter((code) => codes.has(code)));
    }
    const others = new Set(groups.flatMap((group, at) => (at === branch ? [] : group)));
    return new Set([...codes].filter((code) => !others.has(code)));
  }

  // How the branch that leads to a node reads; empty for the root.
  condition(node) {
    if (!node) return "";
    const above = this.parent[node];
    return this.branchText(above, this.branch[node]);
  }

  shortCondition(node) {
    const above = this.parent[node];
    return node ? shortConditionText(this.branchCondition(above, this.branch[node])) : "";
  }

  branchText(node, branch) {
    return conditionText(this.branchCondition(node, branch));
  }

  // The condition of a branch, with the values by which it reads.
  branchCondition(node, branch) {
    const attribute = this.schema.attributes[this.attribute[node]];
    const missing = this.absent[node] > 0 && this.missingBranch(node) === branch;
    if (!this.isGrouped(node)) {
      const [low, high] = this.boundsOf(node, branch);
      return { attribute, low, high, missing };
    }
    const groups = this.groupsOf(node, this.branchesOf(node));
    const codes = this.codesAt(node, this.attribute[node]);
    const [values, negated] = readCodes(groups, branch, codes, this.missingBranch(node));
    return { attribute, values, negated, missing };
  }

  // The answer alone, as short as keeps it true: "≤ 0.38", "red, green"; of many values
  // the first ones.
  branchLabel(node) {
    const { texts, tail } = this.branchLabelParts(node);
    const some = texts.slice(0, MAX_LABEL_VALUES);
    if (texts.length > some.length) some.push(`… ${texts.length - some.length} more`);
    return [some.join(", "), ...tail].join(" ");
  }

  // All values that it names, or its one comparison; and whether missing cells join them.
  branchLabelParts(node) {
    const above = this.parent[node];
    const { attribute, values, negated, low, high, missing } = this.branchCondition(
      above,
      this.branch[node],
    );
    const tail = missing ? ["or missing"] : [];
    if (values) {
      if (!values.length) return { texts: ["missing"], tail: [] };
      const texts = Array.from(values, (code) => attribute.valueText(code));
      if (negated) texts[0] = `not ${texts[0]}`;
      return { texts, tail };
    }
    if (this.cut[above] === Infinity) return { texts: [attribute.intervalText(low, high)], tail: [] };
    // In as many digits as keep the rows on their sides.
    const digits = this.digits ? this.digits[above] : 17;
    const isPlain = attribute.numeric && !attribute.unit && this.branchesOf(above) === 2;
    if (!isPlain || digits > 16) return { texts: [attribute.intervalText(low, high)], tail };
    const text = high === Infinity ? `> ${rounded(low, digits)}` : `≤ ${rounded(high, digits)}`;
    return { texts: [text], tail };
  }
}

// As Groups.read_codes: which codes of a branch are named, and whether all but those.
export function readCodes(groups, branch, codes, missing) {
  const group = groups[branch];
  let others = [];
  if (group.length && groups.length === 2 && missing === branch) {
    const both = new Set([...groups[0], ...groups[1]]);
    if ([...codes].some((code) => !both.has(code))) {
      others = groups[1 - branch].filter((code) => codes.has(code));
    }
  }
  let listed = others.length ? others : group.filter((code) => codes.has(code));
  if (!listed.length && missing !== branch) listed = group;
  return [listed, others.length > 0];
}

export function meanAndDeviation(weights, schema) {
  const [weight, first, second] = weights;
  if (!weight) return [0, 0];
  const mean = first / weight;
  // With n − 1, as all texts of the library have it.
  const variance = weight > 1 ? Math.max(second - first * mean, 0) / (weight - 1) : 0;
  return [(schema.target.origin ?? 0) + mean, Math.sqrt(variance)];
}

function readSurrogates(data) {
  const surrogates = new Splits(data);
  surrogates.firstOf = offsetsOf(surrogates.count);
  return surrogates;
}

// Numbers at the nodes that ask for them, over rows that were given, in equal bins.
class Histograms {
  constructor(data, width) {
    Object.assign(this, data);
    this.width = width;
    this.lineOf = new Map(Array.from(this.nodes, (node, at) => [node, at]));
    this.first = offsetsOf(this.bins);
  }

  // That of a node; null where the page has none.
  of(node) {
    const at = this.lineOf.get(node);
    if (at === undefined) return null;
    const { width } = this;
    const line = (bin) =>
      Array.from(this.weights.subarray(bin * width, (bin + 1) * width));
    const bins = Array.from({ length: this.bins[at] }, (_, bin) => line(this.first[at] + bin));
    return {
      bins,
      low: this.low[at],
      step: this.step[at],
      least: this.least[at],
      greatest: this.greatest[at],
      missing: Array.from(this.missing.subarray(at * width, (at + 1) * width)),
    };
  }
}

// The splits that were considered, with the counts behind them.
class Candidates {
  constructor(data, width) {
    Object.assign(this, data);
    this.width = width;
    const grouped = Array.from(this.form, (form) => form === 1);
    this.lineOf = new Map(Array.from(this.nodes, (node, at) => [node, at]));
    this.firstOf = offsetsOf(this.count);
    this.firstValue = offsetsOf(this.n_values);
    this.firstCut = offsetsOf(Array.from(this.n_branches, (n, at) => (grouped[at] ? 0 : n - 1)));
    this.firstGroup = offsetsOf(Array.from(this.n_branches, (n, at) => (grouped[at] ? n : 0)));
    this.firstCode = offsetsOf(this.groups);
  }

  // Those of a node, the best first; null where the page has none.
  of(node) {
    const at = this.lineOf.get(node);
    if (at === undefined) return null;
    const lines = [];
    for (let line = this.firstOf[at]; line < this.firstOf[at + 1]; line += 1) {
      lines.push(this.line(line, line - this.firstOf[at] === this.chosen[at]));
    }
    return lines.sort((one, other) => other.chosen - one.chosen || other.merit - one.merit);
  }

  line(line, chosen) {
    const { width } = this;
    const values = this.values.subarray(this.firstValue[line], this.firstValue[line + 1]);
    const first = this.firstValue[line] * width;
    const groups = [];
    for (let at = this.firstGroup[line]; at < this.firstGroup[line + 1]; at += 1) {
      groups.push(Array.from(this.codes.subarray(this.firstCode[at], this.firstCode[at + 1])));
    }
    return {
      chosen,
      attribute: this.attribute[line],
      grouped: this.form[line] === 1,
      branches: this.n_branches[line],
      missing: this.missing[line],
      cuts: Array.from(this.thresholds.subarray(this.firstCut[line], this.firstCut[line + 1])),
      groups,
      gain: this.gain[line],
      merit: this.merit[line],
      exact: Boolean(this.exact[line]),
      pValue: this.p_value && !Number.isNaN(this.p_value[line]) ? this.p_value[line] : null,
      values: Array.from(values),
      weights: Array.from(values, (_, at) =>
        Array.from(this.weights.subarray(first + at * width, first + (at + 1) * width)),
      ),
      absent: Array.from(this.missing_weights.subarray(line * width, (line + 1) * width)),
    };
  }
}
