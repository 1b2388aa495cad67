// All leaves as IF-THEN rules, one per line, sorted by any column.

import {
  button, copyText, element, meter, numberCell, plainCell, replace, scrolling, table,
} from "./dom.js";
import { countText, percent, plural, rounded, weightText } from "./numbers.js";
import { swatch } from "./node_panel.js";
import { shortenedAmong } from "./paint.js";
import { conditionText, conditionsOf, shortConditionText } from "./rules.js";

const RULES_AT_ONCE = 200;

export class RuleTable {
  constructor(host, state, notice) {
    this.state = state;
    this.notice = notice;
    this.order = ["support", -1];
    this.shown = RULES_AT_ONCE;
    this.view = scrolling("scroll rules", "Rules");
    replace(host, this.view);
    this.draw();
  }

  destroy() {}

  update(changed) {
    if (changed.has("select") && !changed.has("shape") && !changed.has("filter")) {
      for (const line of this.view.querySelectorAll("tr[data-node]")) {
        line.classList.toggle("chosen", Number(line.dataset.node) === this.state.selected);
      }
      return;
    }
    this.draw();
  }

  sorted() {
    const { state } = this;
    const { tree, schema } = state;
    const [key, sign] = this.order;
    const by = {
      node: (node) => node,
      label: (node) => (schema.numeric ? tree.outputs[node] : tree.label[node]),
      support: (node) => tree.weight[node],
      confidence: (node) => (schema.numeric ? tree.moments(node)[1] : tree.confidence(node)),
      length: (node) => tree.depth[node],
    }[key];
    const leaves = state.leaves().filter((node) => state.matchesFilter(node));
    return leaves.sort((one, other) => sign * (by(one) - by(other)) || one - other);
  }

  draw() {
    const { state } = this;
    const { tree, schema } = state;
    const leaves = this.sorted();
    const all = state.leaves().length;
    const head = (key, text, title) => {
      const [by, sign] = this.order;
      const aria = by === key ? (sign > 0 ? "ascending" : "descending") : "none";
      const mark = by === key ? (sign > 0 ? " ▲" : " ▼") : "";
      return element(
        "th",
        { scope: "col", "aria-sort": aria },
        button(
          `${text}${mark}`,
          () => {
            this.order = [key, by === key ? -sign : key === "node" || key === "label" ? 1 : -1];
            this.draw();
          },
          { class: "link", title },
        ),
      );
    };
    const lines = leaves.slice(0, this.shown).map((node) => this.line(node));
    replace(
      this.view,
      element(
        "p",
        { class: "quiet row" },
        all === leaves.length
          ? plural(all, "IF-THEN rule")
          : `${countText(leaves.length)} of ${plural(all, "IF-THEN rule")}`,
        button(
          "Copy all",
          () => copyText(leaves.map((node) => state.rule(node)).join("\n"), this.notice),
          { class: "small" },
        ),
      ),
      table(
        "rule-table",
        [
          head("length", "IF", "sort by number of conditions"),
          head("label", `THEN ${schema.target.text}`, "sort by prediction"),
          head("support", "rows", "sort by training rows of the leaf (support)"),
          head("confidence", schema.numeric ? "sd" : "confidence", "sort by confidence"),
        ],
        lines,
      ),
      leaves.length > this.shown &&
        button(
          `Show ${Math.min(RULES_AT_ONCE, leaves.length - this.shown)} more`,
          () => {
            this.shown += RULES_AT_ONCE;
            this.draw();
          },
          { class: "small" },
        ),
    );
  }

  line(node) {
    const { state } = this;
    const { tree, schema } = state;
    const conditions = conditionsOf(tree, node);
    const shownConditions = [];
    conditions.forEach((condition, at) => {
      if (at) shownConditions.push(element("em", {}, " and "));
      const [text, whole] = [shortConditionText(condition), conditionText(condition)];
      const title = text === whole ? null : whole;
      shownConditions.push(element("span", { class: "condition", title }, text));
    });
    const colour = state.colours.node(tree, node)[0];
    const pure = schema.numeric ? tree.moments(node)[1] : tree.confidence(node);
    return element(
      "tr",
      {
        "data-node": node,
        class: node === state.selected ? "chosen" : null,
        onclick: () => state.select(node, { reveal: true }),
      },
      plainCell(
        button(`#${node}`, () => state.select(node, { reveal: true }), {
          class: "link mark",
          "aria-label": `Select node ${node}`,
        }),
        shownConditions.length ? shownConditions : "always",
      ),
      element(
        "td",
        { class: "label", title: state.label(node) },
        swatch(colour),
        schema.numeric ? state.label(node) : shortenedAmong(schema.classes, state.label(node), 330, 13, true),
      ),
      numberCell([
        weightText(tree.weight[node]),
        element("small", {}, ` ${percent(state.share(node))}`),
      ]),
      numberCell(schema.numeric ? rounded(pure) : [percent(pure), meter(pure, colour)]),
    );
  }

  scene() {
    return null;
  }
}
