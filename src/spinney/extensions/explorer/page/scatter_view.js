// Leaves by support and purity; of numbers by support and spread.

import {
  countText, logTicks, maximum, minimum, percent, rounded, roundTicks, weightText,
} from "./numbers.js";
import { FlatView } from "./flat_view.js";
import { theme } from "./theme.js";

const PLOT = { left: 64, right: 24, top: 20, bottom: 46 };

export class ScatterView extends FlatView {
  constructor(host, state) {
    super(host, state, "Leaves by support and purity");
  }

  // From below its leaves a node has none: the keys go from leaf to leaf.
  key(key) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key];
    if (!step) return null;
    const at = this.dots.findIndex(({ node }) => node === this.state.selected);
    return this.dots[Math.min(Math.max(at + step, 0), this.dots.length - 1)]?.node ?? null;
  }

  shapes(width, height) {
    const { state } = this;
    const { tree, schema } = state;
    const leaves = state.leaves().filter((node) => tree.weight[node] > 0);
    const weights = leaves.map((node) => tree.weight[node]);
    const [minWeight, maxWeight] = [minimum(weights, 1), maximum(weights, 2)];
    const values = leaves.map((node) =>
      schema.numeric ? tree.moments(node)[1] : tree.classProportions(node)[tree.label[node]],
    );
    const low = schema.numeric
      ? -0.08 * maximum(values, 1e-12)
      : Math.max(minimum(values, 1) - 0.08, 0);
    const high = schema.numeric ? maximum(values, 1e-12) * 1.06 : 1 + 0.12 * (1 - low);
    const x = (weight) =>
      PLOT.left +
      ((width - PLOT.left - PLOT.right) * Math.log(weight / minWeight)) /
        (Math.log(maxWeight / minWeight) || 1);
    const y = (value) =>
      height -
      PLOT.bottom -
      ((height - PLOT.top - PLOT.bottom) * (value - low)) / (high - low || 1);
    const shapes = this.axes(width, height, { x, y, minWeight, maxWeight, low, high });
    this.dots = leaves.map((node, at) => ({
      node,
      cx: x(weights[at]),
      cy: y(values[at]),
      value: values[at],
    }));
    this.dots.sort((one, other) => one.cx - other.cx || one.cy - other.cy);
    this.spreadDots();
    const colours = theme();
    const radius = leaves.length > 2000 ? 3 : leaves.length > 200 ? 4.5 : 7;
    const order = [...this.dots].sort(
      (one, other) => (one.node === state.selected) - (other.node === state.selected),
    );
    for (const { node, cx, cy } of order) {
      const [hue] = state.colours.node(tree, node);
      const chosen = node === state.selected;
      const kept = state.matchesFilter(node);
      shapes.push({
        kind: "circle",
        cx,
        cy,
        r: chosen ? radius + 2 : radius,
        fill: hue,
        opacity: kept ? 0.75 : 0.12,
        node,
        stroke: chosen || state.highlighted.has(node) ? colours.accent : kept ? colours.page : null,
        thick: chosen ? 3 : 1,
      });
    }
    return shapes;
  }

  // Leaves of one place stand round it, as seeds do in a sunflower.
  spreadDots() {
    const counts = new Map();
    for (const dot of this.dots) {
      const key = `${Math.round(dot.cx)} ${Math.round(dot.cy)}`;
      const count = counts.get(key) ?? 0;
      counts.set(key, count + 1);
      const far = Math.min(4 * Math.sqrt(count), 26);
      dot.cx += far * Math.cos(2.4 * count);
      dot.cy += far * Math.sin(2.4 * count);
    }
  }

  axes(width, height, { x, y, minWeight, maxWeight, low, high }) {
    const { schema } = this.state;
    const colours = theme();
    const shapes = [];
    const text = (at, words, anchor = "middle", bold = false) =>
      shapes.push({
        kind: "text",
        x: at[0],
        y: at[1],
        text: words,
        size: 11,
        anchor,
        bold,
        fill: colours.note,
      });
    const line = (d, stroke = colours.empty) => shapes.push({ kind: "path", d, stroke });
    let last = -Infinity;
    for (const tick of logTicks(minWeight, maxWeight)) {
      if (x(tick) - last < 40) continue;
      last = x(tick);
      line(`M${x(tick)} ${PLOT.top}L${x(tick)} ${height - PLOT.bottom}`);
      text([x(tick), height - PLOT.bottom + 16], countText(tick));
    }
    for (const value of schema.numeric ? roundTicks(0, high) : roundTicks(low, 1)) {
      line(`M${PLOT.left} ${y(value)}L${width - PLOT.right} ${y(value)}`);
      text(
        [PLOT.left - 8, y(value) + 4],
        schema.numeric ? rounded(value, 3) : percent(value),
        "end",
      );
    }
    text(
      [(PLOT.left + width - PLOT.right) / 2, height - 10],
      "rows of the leaf (support)",
      "middle",
      true,
    );
    text(
      [PLOT.left, 13],
      schema.numeric ? "standard deviation in the leaf" : "proportion of the leaf's class (purity)",
      "start",
      true,
    );
    return shapes;
  }

  hit(x, y) {
    let [best, near] = [null, 14];
    for (const { node, cx, cy } of this.dots) {
      const far = Math.hypot(cx - x, cy - y);
      if (far < near && this.state.matchesFilter(node)) [best, near] = [node, far];
    }
    return best;
  }

  tooltip(node) {
    const { tree, schema } = this.state;
    const pure = schema.numeric
      ? `sd ${rounded(tree.moments(node)[1])}`
      : percent(tree.classProportions(node)[tree.label[node]]);
    return `${this.state.label(node)}: ${weightText(tree.weight[node])} rows, ${pure}\nnode ${node}, ${tree.depth[node]} splits deep`;
  }
}
