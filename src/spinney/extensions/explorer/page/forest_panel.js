// A forest: variable importances, with their spread over its trees.

import {
  button, element, numberCell, quiet, rowHead, scrolling, table, tableRow, wideCell,
} from "./dom.js";
import { countText, percent, unpack, unpackAll } from "./numbers.js";
import { theme } from "./theme.js";

const SHOWN = 30;

export function forestPanel(state) {
  const { data, schema } = state;
  const { mean, spread } = data.importances;
  const order = mean.map((_, at) => at).sort((one, other) => mean[other] - mean[one]);
  const most = Math.max(...mean.map((each, at) => each + spread[at]), 1e-12);
  const sizes = unpackAll(data.sizes);
  const inTree = unpack(data.importances.by_tree).subarray(
    state.treeIndex * mean.length,
    (state.treeIndex + 1) * mean.length,
  );
  return [
    element("h2", {}, "Forest"),
    element("h3", {}, "Variable importance"),
    quiet(
      "Mean decrease in impurity (normalised) ± SD over trees; the tick is this tree.",
    ),
    table(
      "counts names",
      [],
      order.slice(0, SHOWN).map((at) => {
        const { text } = schema.attributes[at];
        return tableRow(
          element("th", { scope: "row", title: text }, text),
          wideCell(whisker(mean[at], spread[at], inTree[at], most)),
          numberCell(percent(mean[at]), `± ${spread[at].toFixed(4)}`),
        );
      }),
    ),
    order.length > SHOWN && quiet(`and ${order.length - SHOWN} more attributes`),
    element("h3", {}, "Trees"),
    quiet(
      typicalText(data.typical, schema),
      "sorted by similarity of importances to the forest.",
    ),
    scrolling(
      "scroll short",
      "Trees",
      table(
        "data",
        ["tree", "leaves", "nodes"],
        data.trees.map(({ number }, at) => treeLine(state, number, at, sizes)),
      ),
    ),
  ];
}

function treeLine(state, number, at, sizes) {
  const show = () => {
    state.selectTree(at);
    state.notify("tree");
  };
  return element(
    "tr",
    { class: at === state.treeIndex ? "chosen" : null },
    rowHead(button(`tree ${number}`, show, { class: "link" })),
    numberCell(countText(sizes.leaves[at])),
    numberCell(countText(sizes.nodes[at])),
  );
}

function typicalText(typical, schema) {
  if (!typical) return "Trees are ";
  const far = schema.numeric
    ? `with R² ${typical.agreement.toFixed(3)}`
    : `on ${percent(typical.agreement)}`;
  return `Tree ${typical.number} is the typical one: it agrees with the forest ${far} of ${countText(typical.rows)} rows. The others are `;
}

function whisker(mean, spread, now, most) {
  const bar = element("span", { class: "whisker", "aria-hidden": "true" });
  const part = (kind, from, to) => {
    const made = element("span", { class: kind });
    made.style.left = `${(100 * Math.max(from, 0)) / most}%`;
    made.style.width = `${(100 * (Math.min(to, most) - Math.max(from, 0))) / most}%`;
    bar.append(made);
    return made;
  };
  part("mean", 0, mean).style.background = theme().classes[0];
  part("range", mean - spread, mean + spread);
  const tick = element("span", { class: "tick" });
  tick.style.left = `${(100 * Math.min(now, most)) / most}%`;
  bar.append(tick);
  return bar;
}
