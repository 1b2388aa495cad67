// The explorer of one model: views, panels, filters, with one selection.

import { aboutPanel } from "./about_panel.js";
import { button, chooser, element, replace, saveFile } from "./dom.js";
import { forestPanel } from "./forest_panel.js";
import { Frame } from "./frame.js";
import { ListView } from "./list_view.js";
import { modelPanel, qualityFacts } from "./model_panel.js";
import { nodePanel, swatch } from "./node_panel.js";
import { countText, percent, plural, rounded } from "./numbers.js";
import { pngOf, shortenedAmong, svgDocument } from "./paint.js";
import { IcicleView, SunburstView } from "./partition_views.js";
import { prunePanel } from "./prune_panel.js";
import { rowsPanel } from "./rows_panel.js";
import { RuleTable } from "./rule_table.js";
import { ScatterView } from "./scatter_view.js";
import { resetTheme } from "./theme.js";
import { TreeView } from "./tree_view.js";
import { WhatIf } from "./what_if.js";

const VIEWS = [
  ["tree", "Tree"],
  ["list", "List"],
  ["icicle", "Icicle"],
  ["sunburst", "Sunburst"],
  ["rules", "Rules"],
  ["leaves", "Leaves"],
];
const MAX_KEYS = 200; // classes of the legend
const VIEW_CLASSES = {
  tree: TreeView,
  list: ListView,
  icicle: IcicleView,
  sunburst: SunburstView,
  rules: RuleTable,
  leaves: ScatterView,
};

export class Explorer extends Frame {
  constructor(host, state, page) {
    super(state, page);
    this.crumbs = element("nav", {
      class: "crumbs",
      "aria-label": "Path to the selected node",
    });
    this.legend = element("div", {
      class: "legend",
      tabindex: "0",
      role: "region",
      "aria-label": "Legend",
    });
    this.whatIf = new WhatIf(state);
    this.filterBar = this.filters();
    this.filterBar.hidden = true;
    this.showFacts();
    this.fill(host, {
      title: state.schema.target.text,
      label: "Picture",
      actions: this.actions(),
      more: state.kind === "forest" && forestPicker(this),
      bar: this.filterBar,
      above: this.crumbs,
      below: this.legend,
    });
    state.subscribe((changed) => this.update(changed));
    state.view = state.view in VIEW_CLASSES ? state.view : "tree";
    if (!this.panels().some((each) => each && each[0] === state.panel)) state.panel = "node";
    if (state.matching) this.showFilters();
    // The picture comes last: its surroundings decide its size.
    this.showPanel();
    this.showCrumbs();
    this.showLegend();
    this.showView();
  }

  actions() {
    this.matches = element("output", { class: "quiet matches" });
    const search = element("input", {
      type: "search",
      placeholder: "Search",
      "aria-label": "Search attributes, values, classes, node numbers",
      oninput: () => this.find(search.value, 0),
      onkeydown: (event) => {
        if (event.key === "Enter") this.find(search.value, event.shiftKey ? -1 : 1);
      },
    });
    this.filterButton = button("Filter", () => this.toggleFilters(), {
      class: "small",
      "aria-expanded": "false",
    });
    const framed = window.self !== window.top;
    const saves = framed ? [] : ["svg", "png"];
    return [
      element("span", { class: "search" }, search, this.matches),
      this.filterButton,
      saves.map((kind) =>
        button(kind.toUpperCase(), () => this.save(kind), {
          class: "small",
          title: `Save the picture as ${kind.toUpperCase()}`,
        }),
      ),
    ];
  }

  toggleFilters() {
    this.filterBar.hidden = !this.filterBar.hidden;
    this.filterButton.setAttribute("aria-expanded", String(!this.filterBar.hidden));
  }

  // The filters that the address of the page gave.
  showFilters() {
    this.toggleFilters();
    const { label, attribute } = this.state.filters;
    const choosers = this.filterBar.querySelectorAll("select");
    choosers[choosers.length - 1].value = String(attribute);
    if (choosers.length > 1) choosers[0].value = String(label);
    this.showCount();
  }

  showFacts() {
    const { state } = this;
    const { data, tree } = state;
    const parts = [
      `${plural(data.grown_on.rows, "row")}`,
      plural(tree.leaves, "leaf", "leaves"),
      `depth ${tree.height}`,
      `recipe ${data.recipe}`,
    ];
    if (data.kind === "forest") parts[1] = `${plural(data.sizes.trees, "tree")}`;
    if (data.kind === "forest") parts.splice(2, 1);
    else parts.splice(1, 0, ...qualityFacts(state).slice(0, 1).map((each) => each.join(" ")));
    this.facts.textContent = this.facts.title = parts.join(" · ");
  }

  find(words, step) {
    const { state } = this;
    if (words !== this.words) {
      this.words = words;
      this.list = state.search(words);
      this.at = step ? -1 : 0;
      if (!step && this.list.length) this.select(0);
    }
    if (step && this.list?.length) {
      this.at = (this.at + step + this.list.length) % this.list.length;
      this.select(this.at);
    }
    this.matches.textContent = words.trim()
      ? this.list.length
        ? `${this.at + 1}/${countText(this.list.length)}`
        : "none"
      : "";
  }

  select(at) {
    let node = this.list[at];
    for (const above of this.state.tree.path(node)) {
      if (this.state.isLeaf(above)) {
        node = above;
        break;
      }
    }
    this.state.select(node, { reveal: true });
  }

  filters() {
    const { state } = this;
    const { schema } = state;
    const count = element("output", { class: "quiet" });
    const apply = (change) => {
      state.filter(change);
      state.openMatches();
      state.notify("filter", "shape");
    };
    this.showCount = () => {
      const leaves = state.leaves();
      const kept = leaves.filter((node) => state.matchesFilter(node));
      const weight = kept.reduce((sum, node) => sum + state.tree.weight[node], 0);
      count.textContent = state.matching
        ? `${countText(kept.length)} of ${plural(leaves.length, "leaf", "leaves")}, ${percent(weight / (state.tree.weight[0] || 1))} of the rows`
        : "all leaves";
    };
    const select = (name, texts, key) => {
      const control = chooser([[-1, "any"], ...texts], -1, (value) =>
        apply({ [key]: Number(value) }),
      );
      return element("label", {}, element("span", {}, name), control);
    };
    const range = (name, key, scale, text) => {
      const output = element("output", {}, text(0));
      const control = element("input", {
        type: "range",
        min: "0",
        max: "100",
        step: "1",
        value: "0",
        oninput: () => {
          const value = scale(Number(control.value) / 100);
          output.textContent = text(value);
          apply({ [key]: value });
        },
      });
      control.value = "0";
      return element("label", {}, element("span", {}, name), control, output);
    };
    const used = [...new Set(state.tree.attribute)]
      .filter((index) => index >= 0)
      .sort((one, other) => one - other);
    const bar = element(
      "form",
      {
        class: "filters",
        "aria-label": "Filter leaves",
        onsubmit: (event) => event.preventDefault(),
      },
      !schema.numeric &&
        select(
          "Class",
          schema.classes.map((text, code) => [code, text]),
          "label",
        ),
      select(
        "Splits on",
        used.map((index) => [index, schema.attributes[index].text]),
        "attribute",
      ),
      range(
        "Minimum support",
        "support",
        (part) => (part ? 10 ** (-4 + 4 * part) : 0),
        (share) => percent(share),
      ),
      !schema.numeric &&
        range(
          "Minimum confidence",
          "confidence",
          (part) => part,
          (share) => percent(share),
        ),
      button(
        "Reset",
        () => {
          bar.reset();
          for (const output of bar.querySelectorAll("label output"))
            output.textContent = percent(0);
          apply({ label: -1, attribute: -1, support: 0, confidence: 0 });
        },
        { class: "small" },
      ),
      count,
    );
    this.showCount();
    return bar;
  }

  update(changed) {
    if (changed.has("tree")) {
      this.showFacts();
      this.showView();
      this.showLegend();
    } else if (changed.has("view")) this.showView();
    else this.view.update(changed);
    if (changed.has("filter") || changed.has("tree")) this.showCount();
    if (changed.has("select") || changed.has("tree") || changed.has("prune")) this.showCrumbs();
    const whatIfOnly = this.state.panel === "what-if" && !changed.has("panel");
    if (
      !whatIfOnly &&
      (changed.has("panel") ||
        changed.has("select") ||
        changed.has("prune") ||
        changed.has("tree"))
    ) {
      this.showPanel(changed.has("prune") && !changed.has("panel"));
    }
  }

  showView() {
    const { state } = this;
    this.view?.destroy();
    this.showViewTabs(VIEWS);
    this.view = new VIEW_CLASSES[state.view](this.stage, state, this.page.notice);
  }

  panels() {
    const { state } = this;
    return [
      state.kind === "forest" && ["forest", "Forest"],
      state.kind === "tree" && ["model", "Model"],
      ["node", "Node"],
      ["what-if", "What if"],
      state.kind === "tree" && ["prune", "Prune"],
      state.data.rows && ["rows", "Rows"],
      ["about", "About"],
    ];
  }

  showPanel(quietly = false) {
    const { state } = this;
    const focused = quietly && document.activeElement?.classList.contains("slider");
    this.showPanelTabs(this.panels());
    if (state.panel === "what-if") this.whatIf.open();
    const content = {
      model: () => modelPanel(state),
      node: () => nodePanel(state, this.page.notice),
      "what-if": () => [element("h2", {}, "What if"), this.whatIf.body],
      prune: () => prunePanel(state, this.page.notice),
      rows: () => rowsPanel(state),
      about: () => aboutPanel(state, this.page),
      forest: () => forestPanel(state),
    }[state.panel]();
    if (focused && state.panel === "prune") {
      // The slider that is being moved keeps the focus.
      const old = this.panel.querySelector(".slider");
      replace(this.panel, content);
      this.panel.querySelector(".slider").replaceWith(old);
      old.focus();
      return;
    }
    replace(this.panel, content);
    this.panel.scrollTop = 0;
  }

  showCrumbs() {
    const { state } = this;
    const crumbs = [[0, "all rows"], ...state.pathTexts(state.selected)];
    const list = element("ol");
    crumbs.forEach(([node, text, short = text], at) => {
      const last = at === crumbs.length - 1;
      list.append(
        element(
          "li",
          {},
          button(short, () => state.select(node, { reveal: true }), {
            class: "link",
            title: text,
            "aria-current": last ? "true" : null,
          }),
        ),
      );
    });
    replace(this.crumbs, list);
    this.crumbs.scrollLeft = this.crumbs.scrollWidth;
  }

  showLegend() {
    const { state } = this;
    const { schema, tree, colours } = state;
    if (!schema.numeric) {
      const weights = tree.weightsOf(0);
      const items = schema.classes
        .slice(0, MAX_KEYS)
        .map((name, code) =>
          element(
            "span",
            { class: "key", title: name },
            swatch(colours.of(code)),
            element("b", {}, `${shortenedAmong(schema.classes, name, 190, 12, true)}:`),
            ` ${countText(weights[code])} (${percent(weights[code] / (tree.weight[0] || 1))})`,
          ),
        );
      const more = schema.classes.length - items.length;
      replace(
        this.legend,
        items,
        more > 0 && element("span", { class: "quiet" }, `and ${more} more`),
      );
      return;
    }
    const scale = element("span", { class: "scale", "aria-hidden": "true" });
    for (let step = 0; step < 20; step += 1) {
      const [hue, strength] = colours.at(
        colours.low + ((colours.high - colours.low) * (step + 0.5)) / 20,
      );
      const part = element("span");
      part.style.background = hue;
      part.style.opacity = String(strength * 1.6);
      scale.append(part);
    }
    replace(
      this.legend,
      element("span", {}, rounded(colours.low)),
      scale,
      element("span", {}, rounded(colours.high)),
      element("span", { class: "quiet" }, `mean of all rows ${rounded(colours.mean)}`),
    );
  }

  async save(kind) {
    const scene = this.view.scene();
    if (!scene) {
      this.page.notice("This view is text: choose Tree, Icicle, Sunburst or Leaves to save a picture.");
      return;
    }
    const { shapes, width, height } = scene;
    const name = `${this.state.schema.target.name.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60) || "tree"}-${this.state.view}`;
    if (kind === "svg")
      saveFile(`${name}.svg`, svgDocument(shapes, width, height), "image/svg+xml");
    else saveFile(`${name}.png`, await pngOf(shapes, width, height), "image/png");
    this.page.notice(`Saved as ${name}.${kind}.`);
  }

  paper(on) {
    this.view.stage?.paper(on);
  }

  // Colours have changed.
  repaint() {
    resetTheme();
    this.showLegend();
    this.showPanel();
    this.view.update(new Set(["theme"]));
  }
}

function forestPicker(explorer) {
  const { state } = explorer;
  const { data } = state;
  const names = data.trees.map(({ number }, at) => [
    at,
    `tree ${number}${at || !data.typical ? "" : " (typical)"}`,
  ]);
  const choose = (at) => {
    state.selectTree(Number(at));
    state.notify("tree");
  };
  const select = chooser(names, 0, choose, { "aria-label": "Tree of the forest" });
  const { trees, of_trees: total } = data.contains;
  return element(
    "label",
    { class: "picker" },
    "Tree ",
    select,
    element(
      "span",
      { class: "quiet" },
      trees < total
        ? ` ${trees} of ${total} trees, sorted by similarity to the forest`
        : ` of ${total}, sorted by similarity to the forest`,
    ),
  );
}
