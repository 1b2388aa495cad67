// The contents and keys of this page.

import { element, quiet } from "./dom.js";
import { countText, plural } from "./numbers.js";

const KEYS = [
  ["↓ ↑ ← →", "child, parent, sibling"],
  ["Enter", "expand or collapse a node"],
  ["Home", "the root"],
  ["+ − 0", "zoom in, out, fit"],
  ["drag, wheel", "move, zoom"],
];

export function aboutPanel(state, page) {
  return [
    element("h2", {}, "About this page"),
    element("p", {}, "One file that works offline and sends nothing."),
    element("h3", {}, "Contents"),
    element(
      "ul",
      {},
      contents(state).map((line) => element("li", {}, line)),
    ),
    state.kind === "clusters" ? null : keys(),
    quiet(`Made by ${page.madeBy}.`),
  ];
}

function keys() {
  const lines = KEYS.map(([names, what]) => [
    element("dt", {}, element("kbd", {}, names)),
    element("dd", {}, what),
  ]);
  return [element("h3", {}, "Keys"), element("dl", { class: "facts" }, lines)];
}

function contents(state) {
  const { data } = state;
  const { contains, rows } = data;
  const lines = [];
  if (data.kind === "forest") {
    lines.push(
      `${countText(contains.trees)} of ${plural(contains.of_trees, "tree")} of a forest, ${plural(contains.nodes, "node")} with the counts of their classes.`,
    );
  } else if (data.kind === "clusters") {
    lines.push(`${plural(contains.clusters, "cluster")}: their centroids and sizes.`);
  } else {
    lines.push(`A tree of ${plural(contains.nodes, "node")}, with the counts at each.`);
    lines.push(
      `The candidate splits at ${plural(contains.candidates, "node")}, with their counts.`,
    );
    lines.push(`The arithmetic of ${plural(contains.explained, "node")}.`);
    if (contains.of_models) {
      lines.push(
        `The formulas of ${countText(contains.models)} of ${plural(contains.of_models, "leaf", "leaves")}.`,
      );
    }
    if (contains.counted) {
      lines.push(
        `Histograms at ${plural(contains.histograms, "node")}, and errors, on a table of ${plural(contains.counted, "row")}.`,
      );
    }
  }
  lines.push("The names of attributes, their values and the classes.");
  lines.push(
    rows
      ? `All cells of ${plural(rows.rows, "row")}, of a table of ${countText(rows.of_rows)}.`
      : "No rows, only counts.",
  );
  return lines;
}
