// What if: a row entered by hand, its path, and the changes that change its prediction.

import { button, element, meter, quiet, replace, table, tableRow, wideCell } from "./dom.js";
import { formField } from "./form_field.js";
import { figure, percent, rounded } from "./numbers.js";
import { classHead } from "./node_panel.js";
import { typicalRow } from "./typical_row.js";
import { predict, nearestChanges, vote } from "./walk.js";

const MAX_OPENED_PATHS = 12; // leaves of a divided row whose paths are opened

export class WhatIf {
  constructor(state) {
    this.state = state;
    const { schema } = state;
    this.columns = state.usedColumns();
    this.row = new Array(schema.attributes.length).fill(NaN);
    state.highlight = () => this.highlight();
    this.answer = element("div", { class: "answer", "aria-live": "polite" });
    this.fields = element("div", { class: "fields" });
    this.others = element("div", { class: "changes" });
    this.body = element(
      "form",
      { class: "what-if", onsubmit: (event) => event.preventDefault() },
      quiet(
        "Enter the known values of a row: its path is highlighted; missing values follow all branches with weights.",
      ),
      this.answer,
      this.fields,
      this.others,
      element(
        "p",
        { class: "row" },
        button("Typical row", () => this.fillTypical(), { class: "small" }),
        button("Clear", () => this.clear(), { class: "small" }),
      ),
    );
    this.columns.forEach((index) => this.fields.append(this.field(index)));
  }

  field(index) {
    const attribute = this.state.schema.attributes[index];
    const set = (value) => {
      this.row[index] = value;
      this.changed();
    };
    return formField(attribute, index, set);
  }

  // The form starts with a typical row.
  open() {
    if (!this.opened) this.fillTypical();
    this.opened = true;
  }

  fillTypical() {
    const { schema } = this.state;
    const values = typicalRow(this.state);
    for (const control of this.fields.querySelectorAll("select, input")) {
      const index = Number(control.name.slice("field-".length));
      const [attribute, value] = [schema.attributes[index], values.get(index)];
      if (value === undefined) continue;
      this.row[index] = value;
      if (control.options) control.value = `=${value}`;
      else control.value = attribute.numeric ? attribute.formatNumber(value) : attribute.valueText(value);
    }
    this.changed();
  }

  clear() {
    this.row.fill(NaN);
    this.body.reset();
    this.fields.querySelectorAll(".problem").forEach((problem) => replace(problem));
    this.fields
      .querySelectorAll("[aria-invalid]")
      .forEach((input) => input.removeAttribute("aria-invalid"));
    this.state.row = null;
    this.state.highlighted = new Map();
    this.show(null);
    this.state.notify("light");
  }

  changed() {
    const { state } = this;
    state.row = this.row.slice();
    this.highlight();
    const opened = this.last.ends.slice(0, MAX_OPENED_PATHS).filter(([node]) => state.reveal(node));
    state.notify("light", ...(opened.length ? ["shape"] : []), "lit");
  }

  // Take an attribute's value, as text, from the form beside this one.
  setField(name, text) {
    for (const control of this.fields.querySelectorAll("select, input")) {
      if (control.dataset.attribute !== name) continue;
      const option =
        control.options && [...control.options].find((each) => each.textContent === text);
      const value = option ? option.value : text;
      if (control.value === value || (control.options && !option)) continue;
      control.value = value;
      control.dispatchEvent(new Event("input"));
    }
  }

  highlight() {
    const { state } = this;
    const result = this.predict(state.row);
    state.highlighted = new Map(result.visits);
    this.last = result;
    state.end = heaviest(result.ends);
    this.show(result);
  }

  predict(row) {
    const { state } = this;
    const isLeaf = (node) => state.isLeaf(node);
    if (state.kind !== "forest") return predict(state.tree, row, isLeaf);
    const trees = state.data.trees.map((_, at) => state.treeOf(at));
    const votes = vote(trees, row, state.data.votes_by_probability);
    return { ...predict(state.tree, row, isLeaf), ...votes };
  }

  predictedText(row) {
    const { label, outputs } = this.predict(row);
    return this.state.schema.numeric ? figure(outputs[0]) : label;
  }

  show(result) {
    if (!result) {
      replace(this.answer);
      replace(this.others);
      return;
    }
    const { state } = this;
    const { schema } = state;
    const { outputs } = result;
    const parts = [];
    const output = schema.numeric ? { "data-output": String(outputs[0]) } : {};
    const text = schema.numeric ? figure(outputs[0]) : schema.classes[result.label];
    const verdict = [`${schema.target.text} = `, element("strong", output, text)];
    parts.push(element("p", { class: "verdict" }, verdict));
    if (!schema.numeric) {
      const order = outputs
        .map((_, code) => code)
        .sort((one, other) => outputs[other] - outputs[one] || one - other);
      const shown = order.filter((code, at) => at < 5 && (outputs[code] > 0 || at < 4));
      parts.push(
        table(
          "counts",
          [],
          shown.map((code) => {
            const colour = state.colours.of(code);
            const output = { "data-output": String(outputs[code]), "data-class": String(code) };
            return tableRow(
              classHead(state, code),
              wideCell(meter(outputs[code], colour)),
              element("td", { class: "number", ...output }, percent(outputs[code])),
            );
          }),
        ),
      );
    }
    if (state.kind === "forest") parts.push(this.agreement(result));
    if (result.ends.length > 1 && state.kind !== "forest") {
      parts.push(quiet(`Missing values distribute the row over ${result.ends.length} leaves.`));
    }
    if (state.pruned) parts.push(quiet("Prediction of the tree as pruned here."));
    replace(this.answer, parts);
    replace(this.others, this.changes());
  }

  agreement({ labels, label }) {
    const { schema, data } = this.state;
    const total = data.contains.of_trees;
    const some =
      labels.length < total ? ` (of ${total}; ${labels.length} in this page)` : "";
    if (schema.numeric) {
      const sorted = [...labels].sort((one, other) => one - other);
      return quiet(
        `${labels.length} trees predict ${rounded(sorted[0])} to ${rounded(sorted.at(-1))}${some}.`,
      );
    }
    const agree = labels.filter((each) => each === label).length;
    return quiet(`${agree} of ${labels.length} trees agree${some}.`);
  }

  changes() {
    const { state } = this;
    const { schema } = state;
    const trees =
      state.kind === "forest"
        ? state.data.trees.map((_, at) => state.treeOf(at))
        : [state.tree];
    const work = trees.reduce((sum, tree) => sum + tree.height + 1, 0) * this.columns.length;
    if (work > 4000 || schema.numeric) return null;
    this.cuts ??= new Map();
    const cutsOf = (index) => {
      if (!this.cuts.has(index)) this.cuts.set(index, cutsOfAttribute(trees, index));
      return this.cuts.get(index);
    };
    const changes = nearestChanges(schema, state.row, this.columns, cutsOf, (row) => this.predictedText(row));
    if (!changes.length) return quiet("No change of a single value changes the prediction.");
    return element(
      "details",
      { open: true },
      element("summary", {}, "Changes of one value that change the prediction"),
      element(
        "ul",
        { class: "flips" },
        changes.slice(0, 6).map(({ index, text, sign, cut, after }) => {
          const attribute = schema.attributes[index];
          const condition = sign === ">" ? attribute.lowerText(cut) : sign && attribute.upperText(cut);
          return element(
            "li",
            {},
            `${attribute.text} ${condition || text} → `,
            element("strong", {}, schema.classes[after]),
          );
        }),
      ),
    );
  }
}

function heaviest(ends) {
  return ends.reduce((best, end) => (end[1] > best[1] ? end : best))[0];
}

// The sorted thresholds of an attribute in trees; formulas have none to name.
function cutsOfAttribute(trees, index) {
  const cuts = new Set();
  for (const tree of trees) {
    for (let node = 0; node < tree.size; node += 1) {
      if (tree.attribute[node] !== index || tree.isGrouped(node)) continue;
      for (const cut of tree.cutsOf(node)) if (Number.isFinite(cut)) cuts.add(cut);
    }
  }
  return [...cuts].sort((one, other) => one - other);
}
