// The panel of the selected node: counts, split, competitors, arithmetic, rule.

import {
  breakable, button, copyText, element, meter, numberCell, quiet, rowHead, shareBar, table,
  tableRow, wideCell,
} from "./dom.js";
import { histogramFigure } from "./histogram.js";
import { countText, figure, minimum, maximum, percent, rounded, weightText } from "./numbers.js";
import { shortenedAmong } from "./paint.js";
import { theme } from "./theme.js";
import { shortMembership } from "./rules.js";
import { meanAndDeviation, readCodes } from "./tree.js";
import { termValue } from "./walk.js";

const MAX_CLASSES = 12;
const MAX_VALUE_BARS = 24;
const MAX_NAME_WIDTH = 210; // pixels of a class name, in up to two lines

export function nodePanel(state, notice) {
  const { tree, selected: node } = state;
  const ends = state.isLeaf(node);
  return [
    heading(state, node, ends),
    linearModel(state, node),
    distribution(state, node),
    ends ? reason(state, node) : split(state, node),
    candidates(state, node),
    surrogates(state, node),
    arithmetic(state, node),
    rule(state, node, notice),
    tree.isLeaf(node) ? null : cutButton(state, node),
  ];
}

function heading(state, node, ends) {
  const { tree, schema } = state;
  const attribute = ends ? null : schema.attributes[tree.attribute[node]].text;
  const label = state.label(node);
  return element(
    "header",
    { class: "node-head" },
    quiet(ends ? `Leaf, node ${node}` : `Node ${node}`),
    element("h2", {}, breakable(ends ? label : `Split on ${attribute}`)),
    quiet(
      ends
        ? `predicts ${schema.target.text} = ${label}`
        : `${tree.branchesOf(node)} branches; ${schema.numeric ? "mean" : "majority class"}: ${label}`,
    ),
  );
}

// The linear model of a leaf: a line for each term, with its product for a row entered.
function linearModel({ tree, models, names, row }, node) {
  const all = tree.models;
  if (!all?.has[node] || !tree.isLeaf(node)) return null;
  const terms = [];
  for (let at = all.firstOf[node]; at < all.firstOf[node + 1]; at += 1)
    terms.push([at, all.coefficient[at]]);
  terms.sort((one, other) => Math.abs(other[1]) - Math.abs(one[1]));
  const lines = terms.map(([at, coefficient]) => {
    const text = tree.schema.attributes[all.attribute[at]].text;
    const value = row && termValue(tree, row, at);
    return tableRow(
      rowHead(breakable(all.codes[at] >= 0 ? `score of ${text}` : text)),
      numberCell(rounded(coefficient)),
      row && numberCell(rounded(value)),
      row && numberCell(rounded(coefficient * value)),
    );
  });
  const constant = numberCell(rounded(all.intercept[node]));
  const products = row ? [numberCell(""), numberCell(rounded(all.intercept[node]))] : [];
  lines.push(tableRow(rowHead("constant"), row ? numberCell("") : constant, products));
  const heads = ["term", "coefficient", row && "value", row && "product"];
  return section(
    "Linear model",
    table("counts terms", heads, lines),
    models[node] &&
      element(
        "details",
        {},
        element("summary", {}, "As a formula"),
        element("p", { class: "linear-model" }, models[node].slice(names[node].length + 2)),
      ),
  );
}

function section(title, ...content) {
  return element("section", {}, element("h3", {}, title), ...content);
}

function distribution(state, node) {
  const { tree, schema } = state;
  const weight = tree.weight[node];
  const rows = `${countText(weight)} of ${countText(tree.weight[0])} rows (${percent(state.share(node))})`;
  if (schema.numeric) {
    const [mean, deviation] = tree.moments(node);
    return section(
      schema.target.text,
      element("p", {}, rows),
      facts([
        ["mean", figure(mean)],
        ["standard deviation", figure(deviation)],
        tree.outputs[node] !== mean && ["predicts", figure(tree.outputs[node])],
      ]),
    );
  }
  const weights = tree.weightsOf(node);
  const order = schema.classes
    .map((_, code) => code)
    .filter((code) => weights[code] > 0 || schema.classes.length <= 6);
  order.sort((one, other) => weights[other] - weights[one] || one - other);
  const outputs = tree.outputsOf(node);
  const smoothed = order.some(
    (code) => Math.abs(outputs[code] - (weight ? weights[code] / weight : 0)) > 1e-9,
  );
  const lines = order
    .slice(0, MAX_CLASSES)
    .map((code) =>
      tableRow(
        classHead(state, code),
        wideCell(meter(weight ? weights[code] / weight : 0, state.colours.of(code))),
        numberCell(weightText(weights[code])),
        numberCell(percent(weight ? weights[code] / weight : 0)),
        smoothed && numberCell(outputs[code].toFixed(3)),
      ),
    );
  const heads = ["class", "proportion", "rows", "percent", smoothed && "predicted"];
  const counts = table("counts", heads, lines);
  counts.tHead.className = "aside";
  const more = order.length - MAX_CLASSES;
  return section(
    schema.target.text,
    element("p", {}, rows),
    counts,
    more > 0 && quiet(`and ${more} more classes`),
    smoothed &&
      quiet(
        "Last column: predicted probability, smoothed or, without rows, as of the parent.",
      ),
  );
}

// A class beside its colour; a long name as short as tells it from the others.
export function classHead({ schema, colours }, code) {
  const { classes } = schema;
  const text = shortenedAmong(classes, classes[code], MAX_NAME_WIDTH, 13);
  const title = text === classes[code] ? null : classes[code];
  return element("th", { scope: "row", title }, swatch(colours.of(code)), breakable(text));
}

export function swatch(colour) {
  const dot = element("span", { class: "swatch", "aria-hidden": "true" });
  dot.style.background = colour;
  return dot;
}

function facts(pairs) {
  return element(
    "dl",
    { class: "facts" },
    pairs
      .filter(Boolean)
      .map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]),
  );
}

function reason(state, node) {
  const { tree } = state;
  const made = !tree.isLeaf(node);
  const code = tree.reason[node];
  const why = made
    ? "pruned on this page"
    : code >= 0
      ? state.data.reasons[code]
      : "it has no split";
  return section("Why a leaf", element("p", {}, why));
}

// Counts of the branches; of named values, of each value.
function split(state, node) {
  const { tree, schema } = state;
  const attribute = schema.attributes[tree.attribute[node]];
  const winner = tree.candidates?.of(node)?.find(({ chosen }) => chosen);
  const byValue =
    winner?.grouped &&
    winner.values.length <= MAX_VALUE_BARS &&
    winner.groups.some((group) => group.length > 1);
  const lines = [];
  const most = Math.max(
    ...Array.from(tree.childrenOf(node), (child) => tree.weight[child]),
    1e-300,
  );
  const counts = (weights) => bars(state, weights, most);
  Array.from(tree.childrenOf(node)).forEach((child, branch) => {
    if (branch && !tree.isGrouped(node)) lines.push(threshold(state, node, branch, winner));
    lines.push(
      element(
        "tr",
        { class: "branch-line" },
        rowHead(
          button(tree.branchLabel(child), () => state.select(child, { reveal: true }), {
            class: "link",
            title: tree.condition(child),
          }),
        ),
        wideCell(counts(tree.weightsOf(child))),
        numberCell(weightText(tree.weight[child])),
      ),
    );
    if (!byValue) return;
    const codes = new Set(winner.groups[branch]);
    winner.values.forEach((code, at) => {
      if (!codes.has(code) || codes.size < 2) return;
      lines.push(
        element(
          "tr",
          { class: "value-line" },
          rowHead(attribute.valueText(code)),
          wideCell(counts(winner.weights[at])),
          numberCell(weightText(totalWeight(winner.weights[at], schema))),
        ),
      );
    });
  });
  const absent = tree.absent[node];
  const branch = tree.defaultBranch(node);
  return section(
    "Branches",
    histogramFigure(state, node),
    table("counts branches", [], lines),
    absent > 0 &&
      quiet(
        `${attribute.text} is missing in ${countText(absent)} rows: `,
        tree.surrogateCount(node)
          ? "surrogates choose the branch."
          : branch < 0
            ? "they follow all branches, with weights."
            : `they follow ${tree.branchText(node, branch)}.`,
      ),
  );
}

function totalWeight(weights, schema) {
  return schema.numeric ? weights[0] : weights.reduce((sum, weight) => sum + weight, 0);
}

// The mark between two branches of a number: the threshold, and its nearest values.
function threshold(state, node, branch, winner) {
  const { tree, schema } = state;
  const attribute = schema.attributes[tree.attribute[node]];
  const cut = tree.cutsOf(node)[branch - 1];
  if (!Number.isFinite(cut) || attribute.kind === "ordinal") return null;
  let neighbours = "";
  if (winner && !winner.grouped) {
    const below = winner.values.filter((value) => value <= cut).at(-1);
    const above = winner.values.find((value) => value > cut);
    if (below !== undefined && above !== undefined) {
      neighbours = `between ${attribute.formatNumber(below)} and ${attribute.formatNumber(above)}`;
    }
  }
  return element(
    "tr",
    { class: "cut-line" },
    element(
      "td",
      { colspan: "3" },
      element("span", {}, `split point ${attribute.boundText(cut)[0]}`),
      neighbours && element("span", { class: "quiet" }, ` ${neighbours}`),
    ),
  );
}

// Class counts on one scale for all lines; mean ± deviation for regression.
function bars(state, weights, most) {
  const { schema, colours } = state;
  if (schema.numeric) {
    const [mean, deviation] = meanAndDeviation(weights, schema);
    const strip = element("span", { class: "strip" });
    const [low, high] = [colours.place(mean - deviation), colours.place(mean + deviation)];
    const part = element("span");
    part.style.left = `${100 * low}%`;
    part.style.width = `${Math.max(100 * (high - low), 1)}%`;
    part.style.background = colours.at(mean)[0];
    const dot = element("i");
    dot.style.left = `${100 * colours.place(mean)}%`;
    dot.style.background = colours.at(mean)[0];
    strip.append(part, dot);
    strip.title = `${figure(mean)} ± ${rounded(deviation)}`;
    return strip;
  }
  const list = Array.from(weights);
  const bar = shareBar(list, list.map((_, code) => colours.of(code)));
  bar.style.width = `${(100 * totalWeight(list, schema)) / most}%`;
  bar.title = list
    .map((weight, code) => (weight ? `${schema.classes[code]} ${weightText(weight)}` : ""))
    .filter(Boolean)
    .join(", ");
  return bar;
}

// The first branch of a candidate with its missing values; for many, their number.
function splitText(state, line) {
  if (!line.grouped && line.cuts.length > 1) return `${line.branches} intervals`;
  if (line.grouped && line.groups.every((group) => group.length <= 1))
    return `${line.branches} values`;
  const text = line.grouped ? firstGroup(state, line) : firstPart(state, line);
  const lacks = line.missing === 0 && line.absent.some((weight) => weight > 0);
  return lacks && line.cuts[0] !== Infinity ? `${text} or missing` : text;
}

// Whether the split is one threshold of a number, which fewer digits can show.
function isPlainCut(attribute, { cuts }) {
  return attribute.numeric && !attribute.unit && cuts.length === 1 && cuts[0] !== Infinity;
}

function firstPart(state, { attribute: index, cuts, values }) {
  const attribute = state.schema.attributes[index];
  if (!isPlainCut(attribute, { cuts }))
    return attribute.rangeText(-Infinity, cuts[0]).slice(attribute.text.length + 1);
  return `≤ ${shortCut(cuts[0], values)}`;
}

function firstGroup(state, { attribute: index, groups, missing, branches }) {
  const attribute = state.schema.attributes[index];
  const codes = new Set(attribute.values.map((_, code) => code));
  const [listed, negated] = readCodes(groups, 0, codes, missing);
  return `${shortMembership(attribute, listed, negated)}${branches > 2 ? " …" : ""}`;
}

// A threshold in six digits, or as many as separate its neighbouring values.
function shortCut(cut, values) {
  const below = maximum(values.filter((value) => value <= cut));
  const above = minimum(values.filter((value) => value > cut));
  for (let digits = 6; digits < 17; digits += 1) {
    const short = Number(cut.toPrecision(digits));
    if (below <= short && short < above) return rounded(cut, digits);
  }
  return rounded(cut, 17);
}

function candidates(state, node) {
  const { tree, schema } = state;
  const lines = tree.candidates?.of(node);
  if (!lines) {
    if (tree.isLeaf(node) && !tree.candidates) return null;
    const why =
      state.kind === "forest"
        ? "Trees of a forest store the best split only, without competitors."
        : tree.isLeaf(node)
          ? null
          : "This page omits the competitors of this node, to stay small.";
    return (
      why &&
      section(
        "Candidate splits",
        quiet(why),
        tree.isLeaf(node) ? null : facts([["gain", figure(tree.gain[node])]]),
      )
    );
  }
  if (!lines.length) return null;
  const most = Math.max(...lines.map(({ merit }) => merit), 1e-300);
  const withGain = lines.some(({ gain, merit }) => gain !== merit);
  const withP = lines.some(({ pValue }) => pValue !== null);
  const rows = lines.slice(0, 40).map((line) => {
    const attribute = schema.attributes[line.attribute];
    const text = splitText(state, line);
    return element(
      "tr",
      { class: line.chosen ? "chosen" : null },
      element(
        "th",
        { scope: "row", title: attribute.text },
        line.chosen ? "✓\u00a0" : "",
        breakable(attribute.text),
        element(
          "small",
          { title: isPlainCut(attribute, line) ? `≤ ${attribute.formatNumber(line.cuts[0])}` : text },
          ` ${text}`,
        ),
      ),
      wideCell(meter(line.merit / most, line.chosen ? theme().accent : null)),
      withGain && numberCell(shortNumber(line.gain), String(line.gain)),
      numberCell(
        `${line.exact ? "" : "≥\u2009"}${shortNumber(line.merit)}`,
        String(line.merit),
      ),
      withP &&
        numberCell(
          line.pValue === null ? "" : rounded(line.pValue, 2),
          String(line.pValue ?? ""),
        ),
    );
  });
  return section(
    "Candidate splits",
    table(
      "counts candidates",
      ["attribute", null, withGain && "gain", state.data.merit, withP && "p"],
      rows,
    ),
    lines.length > 40 && quiet(`and ${lines.length - 40} more`),
    lines.some(({ exact }) => !exact) &&
      quiet(
        "≥: the best split found; splits that could not win were not searched exhaustively.",
      ),
  );
}

// Four digits; two for tiny numbers.
function shortNumber(number) {
  return Math.abs(number) < 1e-3 && number !== 0 ? number.toExponential(1) : rounded(number);
}

function surrogates(state, node) {
  const { tree, schema } = state;
  const size = tree.surrogateCount(node);
  if (!size) return null;
  const { surrogates: all } = tree;
  const lines = [];
  for (let at = all.firstOf[node]; at < all.firstOf[node + 1]; at += 1) {
    const attribute = schema.attributes[all.attribute[at]];
    const text = all.isGrouped(at)
      ? `${attribute.text} ${shortMembership(attribute, all.groupsOf(at, 2)[0], false)}`
      : attribute.rangeText(...all.boundsOf(at, all.reversed[at] ? 1 : 0));
    lines.push(
      tableRow(
        rowHead(text),
        numberCell(percent(all.agreement[at])),
        numberCell(rounded(all.adjusted[at], 3)),
      ),
    );
  }
  return section(
    "Surrogates",
    quiet(
      `If ${schema.attributes[tree.attribute[node]].text} is missing, these replace “${tree.branchLabel(tree.childrenOf(node)[0])}”:`,
    ),
    table("counts", ["split", "agreement", "adjusted"], lines),
  );
}

function arithmetic(state, node) {
  if (state.kind === "forest") return null;
  const text = state.tree.explained[node];
  return element(
    "details",
    {},
    element("summary", {}, "Arithmetic"),
    text
      ? element("pre", { tabindex: "0", "aria-label": "Arithmetic" }, text)
      : quiet(
          "This page omits it, to stay small: ",
          element("code", {}, `spinney explain MODEL --node ${node}`),
          " prints it.",
        ),
  );
}

function rule(state, node, notice) {
  const forms = ["text", "SQL", "Python"].map((form) => [form, state.rule(node, form)]);
  return section(
    "Rule",
    element("p", { class: "rule", title: forms[0][1] }, state.rule(node, "short")),
    element(
      "p",
      { class: "row" },
      "Copy as ",
      forms.map(([name, text]) =>
        button(name, () => copyText(text, notice), {
          class: "small",
          "data-rule": name,
          "data-text": text,
        }),
      ),
    ),
  );
}

function cutButton(state, node) {
  if (state.kind === "forest") return null;
  const cut = state.cutNodes.has(node);
  if (!cut && state.isLeaf(node)) return null;
  return element(
    "p",
    { class: "row" },
    button(cut ? "Restore the subtree" : "Make this a leaf", () => state.toggleCut(node), {
      class: "small",
    }),
  );
}
