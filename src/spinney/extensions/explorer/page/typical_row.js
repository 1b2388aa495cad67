// A row to start with: medians and modes of the rows of the page, or, of a page without
// rows, one that comes to the largest leaf.

import { minimum } from "./numbers.js";
import { readColumns } from "./rows_panel.js";
import { conditionsOf } from "./rules.js";

// Values by the index of their attribute.
export function typicalRow(state) {
  const values = rowOfLargestLeaf(state);
  if (!state.data.rows) return values;
  const columns = new Map(readColumns(state.data.rows).map((column) => [column.name, column]));
  state.schema.attributes.forEach((attribute, index) => {
    const column = columns.get(attribute.text);
    const value = column && middleOf(column, attribute, state.data.rows.rows);
    if (value !== undefined && value !== null) values.set(index, value);
  });
  return values;
}

function middleOf(column, attribute, size) {
  if (attribute.numeric) {
    if (!column.values) return null;
    const known = Array.from(column.values).filter((value) => !Number.isNaN(value));
    return known.length ? known.sort((one, other) => one - other)[(known.length - 1) >> 1] : null;
  }
  const counts = new Map();
  for (let row = 0; row < size; row += 1) {
    const text = column.textOf(row);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const codes = attribute.values.map((_, code) => code);
  const countOf = (code) => counts.get(attribute.valueText(code)) ?? 0;
  const best = codes.reduce((most, code) => (countOf(code) > countOf(most) ? code : most), 0);
  return countOf(best) ? best : null;
}

function rowOfLargestLeaf(state) {
  const { tree } = state;
  const leaves = state.leaves();
  const largest = leaves.reduce((most, leaf) => (tree.weight[leaf] > tree.weight[most] ? leaf : most));
  const values = new Map();
  for (const { attribute, low, high, values: codes } of conditionsOf(tree, largest)) {
    const index = state.schema.attributes.indexOf(attribute);
    const value = codes ? codes[0] : attribute.numeric ? numberWithin(tree, index, low, high) : Math.floor(high === Infinity ? low + 1 : high);
    if (!attribute.formula && value !== undefined && Number.isFinite(value)) values.set(index, value);
  }
  return values;
}

// A number of few digits with low < number ≤ high.
function numberWithin(tree, index, low, high) {
  if (low === Infinity || (low === -Infinity && high === Infinity)) return NaN;
  let [from, to] = [low, high];
  const cuts = [];
  for (let node = 0; node < tree.size; node += 1)
    if (tree.attribute[node] === index) cuts.push(...tree.cutsOf(node).filter(Number.isFinite));
  const step = (bound) => Math.abs(bound) / 5 || 1;
  if (from === -Infinity) from = -minimum(cuts.filter((cut) => cut < to).map((cut) => -cut), step(to) - to);
  if (to === Infinity) to = minimum(cuts.filter((cut) => cut > from), from + 2 * step(from));
  const middle = (from + to) / 2;
  for (let digits = 1; digits < 17; digits += 1) {
    const number = Number(middle.toPrecision(digits));
    if (number > from && number <= to) return number;
  }
  return to;
}
