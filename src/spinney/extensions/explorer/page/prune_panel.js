// Pruning along the cost-complexity sequence, or node by node by hand.

import { button, copyText, element, quiet, svg, svgLine, svgText } from "./dom.js";
import {
  countText, logTicks, maximum, percent, plural, rounded, roundTicks, unpackAll,
} from "./numbers.js";
import { theme } from "./theme.js";

const [WIDTH, HEIGHT] = [320, 150];
const CURVES = { left: 44, right: 8, top: 10, bottom: 30 };

export function prunePanel(state, notice) {
  const { tree } = state;
  const { sequence } = tree;
  if (!sequence) {
    return [
      element("h2", {}, "Pruning"),
      quiet(
        state.kind === "forest"
          ? "Trees of a forest are not pruned."
          : "Nothing to prune: the tree is one leaf, or has linear models, whose errors need rows.",
      ),
    ];
  }
  return [element("h2", {}, "Pruning"), slider(state), curves(state), commandList(state, notice)];
}

// From the root alone, as the curve beside it runs, to the tree as it is.
function slider(state) {
  const { tree } = state;
  const { sequence } = tree;
  const steps = sequence.alpha.length;
  const now = state.step + 1;
  const leaves = state.leaves().length;
  const input = element("input", {
    type: "range",
    min: "0",
    max: String(steps),
    value: String(steps - now),
    "aria-label": "Step of the pruning sequence, from the root alone to the whole tree",
    "aria-valuetext": `${leaves} leaves`,
    class: "slider",
    oninput: () => state.prune(steps - Number(input.value) - 1),
  });
  input.value = String(steps - now);
  return element(
    "div",
    {},
    element(
      "p",
      {},
      element("strong", {}, plural(leaves, "leaf", "leaves")),
      ` of ${countText(tree.leaves)}`,
      state.step >= 0
        ? `; complexity parameter α = ${rounded(sequence.alpha[state.step], 6)}`
        : "; the whole tree",
    ),
    input,
    element(
      "p",
      { class: "ends quiet" },
      element("span", {}, "root only"),
      element("span", {}, "whole tree"),
    ),
  );
}

// Errors are means over rows; for regression, relative to the root's.
function series(state) {
  const { tree, schema, data } = state;
  const { sequence } = tree;
  const unit = schema.numeric ? sequence.root_error || 1 : 1;
  const leaves = [tree.leaves, ...sequence.leaves];
  const training = Array.from(sequence.errors, (error, at) => [leaves[at], error / unit]);
  const lines = [
    {
      name: "training set",
      points: training,
      colour: theme().classes[0],
      dash: [],
      now: state.step + 1,
    },
  ];
  if (sequence.validation) {
    lines.push({
      name: "validation data",
      points: curveOf(sequence.validation, unit),
      colour: theme().classes[5],
      dash: [5, 3],
      now: state.step,
    });
  }
  if (data.record) {
    const { by, ...record } = data.record;
    lines.push({
      name: by === "folds" ? "cross-validation" : "validation set",
      points: curveOf(unpackAll(record), unit),
      colour: theme().classes[2],
      dash: [2, 3],
      now: -1,
    });
  }
  return lines;
}

function curveOf(record, unit) {
  const { leaves, errors, deviations } = record;
  return Array.from(leaves, (count, at) => [count, errors[at] / unit, deviations[at] / unit]);
}

function curves(state) {
  const { schema } = state;
  const lines = series(state);
  const colours = theme();
  const asError = (error) =>
    schema.numeric || schema.target.costs ? rounded(error, 2) : percent(error);
  const all = lines.flatMap(({ points }) => points);
  const largest = maximum(
    all.map(([leaves]) => leaves),
    2,
  );
  const top =
    maximum(
      all.map(([, error, spread]) => error + (spread ?? 0)),
      1e-12,
    ) * 1.05;
  const x = (leaves) =>
    CURVES.left + ((WIDTH - CURVES.left - CURVES.right) * Math.log(leaves)) / Math.log(largest);
  const y = (error) =>
    HEIGHT - CURVES.bottom - ((HEIGHT - CURVES.top - CURVES.bottom) * error) / top;
  const picture = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    class: "curves",
    role: "img",
    "aria-label": "Error by the number of leaves",
  });
  const text = (at, words, anchor) => svgText(at, words, colours.note, anchor);
  for (const error of roundTicks(0, top, 5)) {
    picture.append(
      svgLine([CURVES.left, y(error)], [WIDTH - CURVES.right, y(error)], colours.empty),
      text([CURVES.left - 5, y(error) + 3], asError(error), "end"),
    );
  }
  let last = -Infinity;
  for (const leaves of logTicks(1, largest)) {
    if (x(leaves) - last < 24) continue;
    last = x(leaves);
    picture.append(text([last, HEIGHT - CURVES.bottom + 14], countText(leaves)));
  }
  picture.append(text([(CURVES.left + WIDTH - CURVES.right) / 2, HEIGHT - 4], "leaves"));
  for (const { points, colour, dash } of lines) {
    const d = points
      .map(
        ([leaves, error], at) =>
          `${at ? "L" : "M"}${x(leaves).toFixed(1)} ${y(error).toFixed(1)}`,
      )
      .join("");
    picture.append(
      svg("path", {
        d,
        fill: "none",
        stroke: colour,
        "stroke-width": 2,
        "stroke-dasharray": dash.join(" ") || null,
      }),
    );
    for (const [leaves, error, spread] of points.length > 200 ? [] : points) {
      if (!spread) continue;
      const ends = [error - spread, error + spread].map((each) => [x(leaves), y(each)]);
      picture.append(svgLine(...ends, colour));
    }
  }
  const [leaves, error] = lines[0].points[state.step + 1];
  const ends = [CURVES.top, HEIGHT - CURVES.bottom].map((each) => [x(leaves), each]);
  const dashed = { "stroke-dasharray": "3 3" };
  picture.append(
    svgLine(...ends, colours.accent, dashed),
    svg("circle", { cx: x(leaves), cy: y(error), r: 4, fill: colours.accent }),
  );
  const unit = schema.numeric
    ? "Relative squared error (root node = 1)"
    : schema.target.costs
      ? "Mean cost"
      : "Misclassification rate";
  return element(
    "figure",
    {},
    picture,
    element(
      "figcaption",
      {},
      `${unit}: `,
      lines.map(({ name, colour, points, now: at }) => {
        const key = element("span", { class: "key" }, element("i"), name);
        key.firstChild.style.background = colour;
        const now = points[at];
        return [key, now ? ` ${asError(now[1])} ` : " "];
      }),
    ),
  );
}

// Nodes cut by hand, with those that the slider cuts, by their numbers in the whole
// tree: pruning renumbers nodes.
function pruneCommands(state) {
  const { tree, step } = state;
  if (!state.cutNodes.size) {
    const alpha = tree.sequence.alpha[step];
    return [
      ["Python", `smaller = model.prune("cost-complexity", alpha=${alpha})`],
      ["Shell", `spinney prune MODEL --pruning cost-complexity --alpha ${alpha} -o SMALLER`],
    ];
  }
  const nodes = state.leaves().filter((node) => !tree.isLeaf(node));
  const options = nodes.map((node) => `--node ${node}`).join(" ");
  return [
    ["Python", `smaller = model.prune(nodes=[${nodes.join(", ")}])`],
    ["Shell", `spinney prune MODEL ${options} -o SMALLER`],
  ];
}

function commandList(state, notice) {
  if (!state.pruned)
    return quiet(
      "Move the slider, or make a node a leaf in its panel: the code for that tree will appear here.",
    );
  return element(
    "div",
    {},
    pruneCommands(state).map(([where, command]) => [
      element(
        "p",
        { class: "row" },
        `In ${where === "Shell" ? "the shell" : where}: `,
        button("Copy", () => copyText(command, notice), {
          class: "small",
          "aria-label": `Copy the command for ${where}`,
        }),
      ),
      element("pre", { class: "command", tabindex: "0", "data-command": where }, command),
    ]),
    element(
      "p",
      { class: "row" },
      button(
        "Reset to the whole tree",
        () => {
          state.cutNodes.clear();
          state.prune(-1);
        },
        { class: "small" },
      ),
    ),
  );
}
