// A row through a tree, as trees/predict/flat_tree.py sends it, in the same order of
// sums: so that what the page says is what `predict_proba` returns, to the last bit.

import { predictedLabel } from "./schema.js";

// Every node that the row comes to, with its part there. `isLeaf` says which nodes are
// leaves now.
export function walk(tree, row, isLeaf = (node) => tree.isLeaf(node)) {
  let entries = [[0, 1]];
  const visits = [];
  while (entries.length) {
    visits.push(...entries);
    const whole = [];
    const parts = [];
    for (const [node, part] of entries) {
      if (isLeaf(node)) continue;
      const branch = branchFor(tree, row, node);
      if (branch >= 0) {
        whole.push([tree.children[tree.first[node] + branch], part]);
        continue;
      }
      for (let edge = tree.first[node]; edge < tree.first[node + 1]; edge += 1) {
        const piece = part * tree.shares[edge];
        if (piece > 0) parts.push([tree.children[edge], piece]);
      }
    }
    entries = whole.concat(parts);
  }
  return visits;
}

// The branch that a row takes; -1 where it is divided.
function branchFor(tree, row, node) {
  let branch = tree.branchOf(node, tree.schema.cell(row, tree.attribute[node]));
  const { surrogates } = tree;
  if (branch < 0 && surrogates) {
    for (let line = surrogates.firstOf[node]; line < surrogates.firstOf[node + 1]; line += 1) {
      const sent = surrogates.branchOf(
        line,
        tree.schema.cell(row, surrogates.attribute[line]),
      );
      branch = sent >= 0 && surrogates.reversed[line] ? 1 - sent : sent;
      if (branch >= 0) break;
    }
  }
  return branch >= 0 ? branch : tree.defaultBranch(node);
}

// The prediction of a node for a row.
function outputsAt(tree, row, node) {
  const { models } = tree;
  if (!models || !models.has[node]) return tree.outputsOf(node);
  let sum = 0;
  for (let term = models.firstOf[node]; term < models.firstOf[node + 1]; term += 1) {
    sum += models.coefficient[term] * termValue(tree, row, term);
  }
  return [sum + models.intercept[node]];
}

// The number that a term of a linear model multiplies.
export function termValue({ models, schema }, row, term) {
  const value = schema.cell(row, models.attribute[term]);
  if (Number.isNaN(value)) return models.missing[term];
  if (models.codes[term] < 0) return value;
  return value < models.codes[term] ? models.lookup[models.first_code[term] + value] : 0;
}

// The prediction for a row, and the nodes of its path.
export function predict(tree, row, isLeaf = (node) => tree.isLeaf(node)) {
  const visits = walk(tree, row, isLeaf);
  const outputs = new Array(tree.schema.outputs).fill(0);
  const ends = [];
  for (const [node, part] of visits) {
    if (!isLeaf(node)) continue;
    ends.push([node, part]);
    const predicted = outputsAt(tree, row, node);
    for (let at = 0; at < outputs.length; at += 1) outputs[at] += predicted[at] * part;
  }
  return { outputs, visits, ends, label: predictedLabel(outputs, tree.schema.target.costs) };
}

// The vote of trees on a row, by class probabilities or by majority.
export function vote(trees, row, byShare) {
  const { schema } = trees[0];
  const total = new Array(schema.outputs).fill(0);
  const labels = [];
  for (const tree of trees) {
    const { outputs } = predict(tree, row);
    labels.push(schema.numeric ? outputs[0] : predictedLabel(outputs));
    if (byShare) outputs.forEach((output, at) => (total[at] += output));
    else total[labels.at(-1)] += 1;
  }
  const outputs = total.map((sum) => sum / trees.length);
  return { outputs, labels, label: predictedLabel(outputs) };
}

// For each attribute the nearest value that changes the result of `predictedText(row)`.
const MAX_STEPS = 60;

export function nearestChanges(schema, row, columns, cutsOf, predictedText) {
  const before = predictedText(row);
  const changes = [];
  for (const index of columns) {
    const attribute = schema.attributes[index];
    const change = attribute.numeric
      ? nearestNumber(row, index, cutsOf(index), predictedText, before)
      : nearestValue(row, index, attribute, predictedText, before);
    if (change) changes.push({ index, ...change });
  }
  return changes.sort((one, other) => one.distance - other.distance);
}

function nearestValue(row, index, attribute, predictedText, before) {
  const order = attribute.values.map((_, code) => code);
  if (attribute.kind === "ordinal") {
    order.sort((one, other) => Math.abs(one - row[index]) - Math.abs(other - row[index]));
  }
  for (const code of order.slice(0, 4 * MAX_STEPS)) {
    if (code === row[index]) continue;
    const after = predictedText(withCell(row, index, code));
    if (after !== before) {
      return { value: code, text: `= ${attribute.valueText(code)}`, after, distance: 0.5 };
    }
  }
  return null;
}

// Between neighbouring thresholds nothing changes: one number per interval suffices.
function nearestNumber(row, index, cuts, predictedText, before) {
  if (!cuts.length) return null;
  const range = cuts.at(-1) - cuts[0] || Math.abs(cuts[0]) || 1;
  const value = Number.isNaN(row[index]) ? (cuts[0] + cuts.at(-1)) / 2 : row[index];
  const below = cuts.filter((cut) => cut < value).reverse();
  const above = cuts.filter((cut) => cut >= value);
  let best = null;
  for (const cut of below.slice(0, MAX_STEPS)) {
    const after = predictedText(withCell(row, index, cut));
    if (after !== before) {
      best = { value: cut, cut, sign: "≤", after, distance: (value - cut) / range };
      break;
    }
  }
  for (let at = 0; at < Math.min(above.length, MAX_STEPS); at += 1) {
    const next = at + 1 < above.length ? above[at + 1] : above[at] + range;
    const trial = above[at] + (next - above[at]) / 2;
    const after = predictedText(withCell(row, index, trial));
    const distance = (above[at] - value) / range;
    if (best && best.distance <= distance) break;
    if (after !== before) {
      best = { value: trial, cut: above[at], sign: ">", after, distance };
      break;
    }
  }
  return best;
}

function withCell(row, index, value) {
  const copy = row.slice();
  copy[index] = value;
  return copy;
}
