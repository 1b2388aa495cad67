// The model as a whole: how good it is, where it errs, and which attributes matter.

import {
  element, meter, numberCell, quiet, scrolling, table, tableRow, wideCell,
} from "./dom.js";
import { percent, rounded, unpack, weightText } from "./numbers.js";
import { shortenedAmong } from "./paint.js";
import { theme } from "./theme.js";

const MAX_CONFUSED = 40; // classes of a confusion matrix
const MAX_IMPORTANCES = 15;

export function modelPanel(state) {
  return [
    element("h2", {}, "Model"),
    quality(state),
    state.schema.numeric ? null : confusion(state),
    importances(state),
  ];
}

// Whether labels of the rows of leaves are those that rows of the table predict.
function trainingMatrix(state) {
  const { tree, schema } = state;
  const size = schema.classes.length;
  const matrix = new Float64Array(size * size);
  for (const leaf of state.leaves()) {
    const weights = tree.weightsOf(leaf);
    for (let code = 0; code < size; code += 1) matrix[code * size + tree.label[leaf]] += weights[code];
  }
  return matrix;
}

function accuracyOf(matrix, size) {
  const total = matrix.reduce((sum, each) => sum + each, 0);
  let right = 0;
  for (let code = 0; code < size; code += 1) right += matrix[code * size + code];
  return [right, total];
}

// Lines of what the model achieves: on training rows, in folds, on the given table.
export function qualityFacts(state) {
  const { schema, tree, data } = state;
  const lines = [];
  const { quality } = data;
  if (quality?.method && !state.pruned) {
    const { accuracy, standard_error: spread, r2, rmse } = quality;
    if (accuracy === undefined) lines.push([`RMSE ${quality.method}`, `${rounded(rmse)} (R² ${rounded(r2 ?? NaN, 3)})`]);
    else lines.push([`accuracy ${quality.method}`, `${percent(accuracy)} ± ${percent(spread)}`]);
  }
  const { sequence } = tree;
  if (!schema.numeric) {
    const [right, total] = accuracyOf(trainingMatrix(state), schema.classes.length);
    if (total) lines.push(["training accuracy", percent(right / total)]);
  } else if (sequence && state.step < 0 && !state.cutNodes.size) {
    const [error] = sequence.errors;
    lines.push(["training R²", rounded(1 - error / (sequence.root_error || 1), 3)]);
    lines.push(["training RMSE", rounded(Math.sqrt(error))]);
  }
  const { tested } = data;
  if (tested?.matrix) {
    const [right, total] = accuracyOf(unpack(tested.matrix), schema.classes.length);
    if (total) lines.push(["accuracy on the given table", percent(right / total)]);
  } else if (tested) {
    lines.push(["R² on the given table", rounded(tested.r2, 3)]);
    lines.push(["RMSE on the given table", rounded(tested.rmse)]);
  }
  return lines;
}

function quality(state) {
  const lines = qualityFacts(state);
  const most = state.schema.numeric ? null : Math.max(...state.tree.weightsOf(0));
  if (most !== null && state.tree.weight[0])
    lines.push(["majority class alone", percent(most / state.tree.weight[0])]);
  return element(
    "section",
    {},
    element("h3", {}, "Quality"),
    element(
      "dl",
      { class: "facts" },
      lines.map(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]),
    ),
    state.data.quality?.method || state.data.tested
      ? null
      : quiet("Figures of training rows are optimistic: ", element("code", {}, "spinney evaluate"), " cross-validates."),
  );
}

function confusion(state) {
  const { schema, data } = state;
  const { classes } = schema;
  if (classes.length > MAX_CONFUSED) return quiet(`No confusion matrix: ${classes.length} classes.`);
  const given = data.tested?.matrix;
  const matrix = given ? unpack(given) : trainingMatrix(state);
  const size = classes.length;
  const wide = size > 6;
  const nameOf = (name, room) => shortenedAmong(classes, name, room, 12);
  const heads = classes.map((name, code) =>
    element("th", { scope: "col", title: name }, wide ? String(code + 1) : nameOf(name, 70)),
  );
  const lines = classes.map((name, code) => {
    const cells = Array.from(matrix.subarray(code * size, (code + 1) * size));
    const total = cells.reduce((sum, each) => sum + each, 0) || 1;
    return tableRow(
      element("th", { scope: "row", title: name }, `${wide ? `${code + 1} ` : ""}${nameOf(name, 140)}`),
      cells.map((count, other) => confusionCell(state, count, count / total, [code, other])),
    );
  });
  return element(
    "section",
    {},
    element("h3", {}, "Confusion matrix"),
    quiet(`Rows: the actual ${schema.target.text}; columns: the predicted. ${given ? "Given table." : "Training rows."}`),
    scrolling("scroll confusion-matrix", "Confusion matrix", table("data confusion", [null, ...heads], lines)),
  );
}

function confusionCell(state, count, share, [code, other]) {
  const { classes } = state.schema;
  const title = `${classes[code]}, predicted ${classes[other]}: ${percent(share)} of the class`;
  const text = count ? weightText(Number(count.toFixed(1))) : "·";
  const cell = element("td", { class: code === other ? "number right" : "number", title }, text);
  const colour = state.colours.of(code);
  if (count) cell.style.background = `color-mix(in srgb, ${colour} ${Math.round(8 + 32 * share)}%, transparent)`;
  return cell;
}

function importances(state) {
  const { data, schema } = state;
  const { mean } = data.importances;
  const order = mean.map((_, at) => at).filter((at) => mean[at] > 0);
  order.sort((one, other) => mean[other] - mean[one]);
  if (!order.length) return null;
  const names = schema.attributes.map(({ text }) => text);
  return element(
    "section",
    {},
    element("h3", {}, "Variable importance"),
    quiet(`Sum of ${data.merit} over the splits of an attribute, weighted by rows and normalised.`),
    table(
      "counts names",
      [],
      order.slice(0, MAX_IMPORTANCES).map((at) =>
        tableRow(
          element("th", { scope: "row", title: names[at] }, shortenedAmong(names, names[at], 150, 13)),
          wideCell(meter(mean[at] / mean[order[0]], theme().classes[0])),
          numberCell(percent(mean[at])),
        ),
      ),
    ),
    order.length > MAX_IMPORTANCES && quiet(`and ${order.length - MAX_IMPORTANCES} more`),
  );
}
