// A picture that fills its room and does not move: icicle, sunburst, scatter.
//
// A subclass gives `shapes(width, height)` and walks by keys as the tree does.

import { element, replace, svg, Tip } from "./dom.js";
import { paintCanvas, paintSvg } from "./paint.js";
import { theme } from "./theme.js";

const SVG_SHAPES = 2500;

export class FlatView {
  constructor(host, state, label) {
    this.state = state;
    this.group = svg("g");
    this.svg = svg("svg", { class: "drawing" }, this.group);
    this.canvas = element("canvas", { class: "drawing" });
    this.view = element(
      "div",
      { class: "stage still", tabindex: "0", role: "application", "aria-label": label },
      this.svg,
      this.canvas,
    );
    this.live = element("p", { class: "aside", "aria-live": "polite" });
    this.tip = new Tip();
    replace(host, this.view, this.live, this.tip.box);
    this.view.addEventListener("click", (event) => {
      const box = this.view.getBoundingClientRect();
      this.choose(this.hit(event.clientX - box.left, event.clientY - box.top));
    });
    this.view.addEventListener("pointermove", (event) => {
      const box = this.view.getBoundingClientRect();
      const node = this.hit(event.clientX - box.left, event.clientY - box.top);
      this.view.style.cursor = node === null ? "" : "pointer";
      this.tip.show(event, node === null ? "" : this.tooltip(node));
    });
    this.view.addEventListener("pointerleave", (event) => this.tip.show(event, ""));
    this.view.addEventListener("keydown", (event) => {
      const next = this.key(event.key);
      if (next === null) return;
      event.preventDefault();
      state.select(next, { reveal: true });
      this.live.textContent = this.tooltip(next);
    });
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.view);
    this.draw();
  }

  destroy() {
    this.watch.disconnect();
  }

  update() {
    this.draw();
  }

  choose(node) {
    if (node !== null) this.state.select(node);
  }

  draw() {
    const [width, height] = [this.view.clientWidth || 600, this.view.clientHeight || 400];
    const shapes = this.shapes(width, height);
    this.drawn = { shapes, width, height };
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const large = shapes.length > SVG_SHAPES;
    this.svg.style.display = large ? "none" : "";
    this.canvas.style.display = large ? "" : "none";
    if (!large) {
      paintSvg(this.group, shapes);
      return;
    }
    this.group.replaceChildren();
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const context = this.canvas.getContext("2d");
    context.scale(ratio, ratio);
    context.fillStyle = theme().page;
    context.fillRect(0, 0, width, height);
    paintCanvas(context, shapes);
  }

  scene() {
    return this.drawn;
  }

  // Down is in, up is out, left and right beside.
  key(key) {
    const { tree, selected: node } = this.state;
    if (key === "ArrowDown") return this.state.isLeaf(node) ? node : tree.childrenOf(node)[0];
    if (key === "ArrowUp") return node ? tree.parent[node] : 0;
    if (key === "Home") return 0;
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!step || !node) return step ? 0 : null;
    const siblings = tree.childrenOf(tree.parent[node]);
    return siblings[Math.min(Math.max(tree.branch[node] + step, 0), siblings.length - 1)];
  }

  tooltip(node) {
    const { state } = this;
    const result = state.isLeaf(node)
      ? state.label(node)
      : `${state.schema.attributes[state.tree.attribute[node]].text}?`;
    const last = node ? state.tree.condition(node) : "all rows";
    return `node ${node}: ${last}\n${result} · ${state.tree.weight[node]} rows`;
  }
}
