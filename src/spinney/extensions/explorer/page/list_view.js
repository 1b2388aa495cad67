// The tree as a list from left to right: a line for each node, indented by its depth.

import { breakable, button, element, replace, shareBar } from "./dom.js";
import { countText, percent } from "./numbers.js";

const [LINES_AT_FIRST, LINES_AT_ONCE] = [60, 400];
const [INDENT, MAX_INDENT] = [18, 14]; // pixels a level, and levels that are indented

export class ListView {
  constructor(host, state) {
    this.state = state;
    this.shown = LINES_AT_ONCE;
    this.view = element("div", {
      class: "list",
      tabindex: "0",
      role: "tree",
      "aria-label": `Decision tree for ${state.schema.target.text}, as a list`,
      onkeydown: (event) => this.key(event),
    });
    this.view.addEventListener("scroll", () => {
      const below = this.view.scrollHeight - this.view.scrollTop - this.view.clientHeight;
      if (below < 400 && this.shown < this.nodes.length) this.showMore();
    });
    this.serial = Math.random().toString(36).slice(2);
    const tools = element(
      "div",
      { class: "row list-tools" },
      button("Expand all", () => this.openTo(Infinity), { class: "small" }),
      button("Collapse", () => this.openTo(2), { class: "small" }),
    );
    replace(host, tools, this.view);
    if (!state.listed) this.openSome();
    state.listed = true;
    this.draw();
    this.scroll();
  }

  // Expand as many levels as make a list of a few screens.
  openSome() {
    const { state } = this;
    const sizes = [];
    for (const depth of state.tree.depth) sizes[depth] = (sizes[depth] ?? 0) + 1;
    let [depth, lines] = [0, 1];
    while (depth < sizes.length - 1 && lines + sizes[depth + 1] <= LINES_AT_FIRST) {
      depth += 1;
      lines += sizes[depth];
    }
    if (depth >= state.tree.height) state.closed.fill(0);
    else state.openToDepth(Math.max(depth, 1));
    state.reveal(state.selected);
    state.fitted = false; // the picture of the tree chooses anew
  }

  destroy() {}

  scene() {
    return null;
  }

  update(changed) {
    const only = changed.has("select") && !changed.has("shape") && !changed.has("filter") && !changed.has("theme");
    if (only) this.mark();
    else this.draw();
    if (changed.has("reveal") || changed.has("lit")) this.scroll();
  }

  openTo(depth) {
    const { state } = this;
    if (depth === Infinity) state.closed.fill(0);
    else state.openToDepth(depth);
    state.notify("shape");
  }

  showMore() {
    this.shown += LINES_AT_ONCE;
    this.draw();
  }

  draw() {
    const { state } = this;
    const { tree } = state;
    this.nodes = [];
    for (let node = 0; node < tree.size;) {
      if (!state.matching || state.matchesFilter(node)) this.nodes.push(node);
      node = state.isLeaf(node) || state.closed[node] ? tree.end[node] : node + 1;
    }
    const at = this.nodes.indexOf(state.selected);
    while (at >= this.shown) this.shown += LINES_AT_ONCE;
    const lines = this.nodes.slice(0, this.shown).map((node) => this.line(node));
    replace(this.view, lines);
    this.mark();
  }

  line(node) {
    const { state } = this;
    const { tree, schema, colours } = state;
    const ends = state.isLeaf(node);
    const [hue] = colours.node(tree, node);
    const weights = Array.from(tree.weightsOf(node));
    const bar = schema.numeric
      ? meanBar(state, node, hue)
      : shareBar(weights, weights.map((_, code) => colours.of(code)));
    const result = ends
      ? element("b", {}, breakable(`→ ${state.label(node)}`))
      : element("small", { class: "quiet" }, breakable(`splits on ${schema.attributes[tree.attribute[node]].text}`));
    const condition = node ? tree.shortCondition(node) : "all rows";
    const text = element("span", { class: "text" }, breakable(condition), " ", result);
    const line = element(
      "div",
      {
        class: "line",
        id: `${this.serial}-${node}`,
        role: "treeitem",
        "data-node": node,
        "aria-level": tree.depth[node] + 1,
        "aria-expanded": ends ? null : String(!state.closed[node]),
        "aria-selected": "false",
        onclick: (event) => this.click(event, node),
      },
      element("span", { class: "mark", "aria-hidden": "true" }, ends ? "" : state.closed[node] ? "▸" : "▾"),
      text,
      bar,
      element("span", { class: "rows" }, `${countText(Number(tree.weight[node].toFixed(1)))} · ${percent(state.share(node))}`),
    );
    line.style.marginLeft = `${INDENT * Math.min(tree.depth[node], MAX_INDENT) * (this.view.clientWidth < 560 ? 0.5 : 1)}px`;
    return line;
  }

  // What is selected and lit, without new lines.
  mark() {
    const { state, view } = this;
    for (const line of view.querySelectorAll(".line")) {
      const node = Number(line.dataset.node);
      line.classList.toggle("chosen", node === state.selected);
      line.classList.toggle("lit", state.highlighted.has(node));
      line.setAttribute("aria-selected", String(node === state.selected));
    }
    const isShown = view.querySelector(`[data-node="${state.selected}"]`);
    if (isShown) view.setAttribute("aria-activedescendant", isShown.id);
    else view.removeAttribute("aria-activedescendant");
  }

  scroll() {
    const line = this.view.querySelector(`[data-node="${this.state.selected}"]`);
    if (!line) return;
    const [box, host] = [line.getBoundingClientRect(), this.view.getBoundingClientRect()];
    if (box.top < host.top + 30 || box.bottom > host.bottom) this.view.scrollTop += box.top - host.top - host.height / 3;
  }

  click(event, node) {
    const { state } = this;
    state.selected = node;
    if (event.target.classList.contains("mark")) state.toggle(node);
    state.select(node);
  }

  key(event) {
    const { state } = this;
    const { tree, selected: node } = state;
    if (event.target !== this.view || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.nodes.indexOf(node);
    const steps = {
      ArrowDown: () => this.nodes[Math.min(at + 1, this.nodes.length - 1)],
      ArrowUp: () => this.nodes[Math.max(at - 1, 0)],
      ArrowRight: () => {
        if (!state.isLeaf(node) && state.closed[node]) state.toggle(node);
        return node;
      },
      ArrowLeft: () => {
        if (state.isLeaf(node) || state.closed[node]) return node ? tree.parent[node] : node;
        state.toggle(node);
        return node;
      },
      Home: () => 0,
      End: () => this.nodes.at(-1),
    };
    if (event.key === "Enter" || event.key === " ") state.toggle(node);
    else if (steps[event.key]) state.select(steps[event.key](), { reveal: true });
    else return;
    event.preventDefault();
  }
}

// The place of a mean between the extremes of the tree.
function meanBar(state, node, hue) {
  const strip = element("span", { class: "bar strip", "aria-hidden": "true" });
  const dot = element("i");
  dot.style.left = `${100 * state.colours.place(state.tree.moments(node)[0])}%`;
  dot.style.background = hue;
  strip.append(dot);
  return strip;
}
