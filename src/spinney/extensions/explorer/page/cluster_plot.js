// Rows and centroids over two columns.

import { chooser, element, svg, svgLine, svgText } from "./dom.js";
import { rounded, roundTicks } from "./numbers.js";
import { readColumns } from "./rows_panel.js";
import { theme } from "./theme.js";

const ROWS_DRAWN = 3000;

export class ClusterPlot {
  constructor(state, clusters) {
    this.state = state;
    this.clusters = clusters;
    this.axes = [0, Math.min(1, clusters.numeric.length - 1)];
  }

  // As wide as the screen leaves room for, so that texts keep their size.
  get width() {
    const host = document.querySelector(".host");
    return (host?.clientWidth ?? 600) - 32;
  }

  choosers(draw) {
    const names = this.clusters.numeric.map((index, at) => [at, this.state.schema.attributes[index].text]);
    const select = (axis) =>
      chooser(names, this.axes[axis], (at) => {
        this.axes[axis] = Number(at);
        draw();
      });
    return element(
      "p",
      { class: "row" },
      element("label", {}, "x axis ", select(0)),
      element("label", {}, "y axis ", select(1)),
    );
  }

  // Centroids, packed by cluster, and the cluster of each row, if there are rows.
  picture(centres, labels) {
    const { state, clusters } = this;
    const { rows } = state.data;
    const colours = theme();
    const width = Math.min(Math.max(this.width, 300), 760);
    const height = Math.round(Math.min(width * 0.72, 460));
    const columns = rows ? readColumns(rows) : [];
    const named = (axis) => {
      const attribute = state.schema.attributes[clusters.numeric[this.axes[axis]]];
      const none = { name: attribute.text, values: [] };
      const column = columns.find(({ name }) => name === attribute.text);
      return column?.values ? column : none;
    };
    const [across, along] = [named(0), named(1)];
    const size = clusters.numeric.length;
    const centre = (cluster, axis) =>
      centres[cluster * size + this.axes[axis]] * clusters.scale[this.axes[axis]];
    const numbers = rows ? Math.min(rows.rows, ROWS_DRAWN) : 0;
    const bounds = (values, axis) => {
      let [low, high] = [Infinity, -Infinity];
      for (let row = 0; row < numbers; row += 1)
        if (values[row] <= Infinity)
          [low, high] = [Math.min(low, values[row]), Math.max(high, values[row])];
      clusters.sizes.forEach(
        (_, cluster) =>
          ([low, high] = [
            Math.min(low, centre(cluster, axis)),
            Math.max(high, centre(cluster, axis)),
          ]),
      );
      const margin = (high - low || 1) * 0.06;
      return [low - margin, high + margin];
    };
    const [xs, ys] = [bounds(across.values, 0), bounds(along.values, 1)];
    const x = (value) => 54 + ((width - 70) * (value - xs[0])) / (xs[1] - xs[0]);
    const y = (value) => height - 40 - ((height - 56) * (value - ys[0])) / (ys[1] - ys[0]);
    const picture = svg("svg", {
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": "Rows and centroids",
    });
    const text = (at, words, anchor) => svgText(at, words, colours.note, anchor);
    for (const tick of roundTicks(...xs, width < 450 ? 3 : 5)) {
      picture.append(
        svgLine([x(tick), 16], [x(tick), height - 40], colours.empty),
        text([x(tick), height - 24], rounded(tick)),
      );
    }
    for (const tick of roundTicks(...ys)) {
      picture.append(
        svgLine([54, y(tick)], [width - 16, y(tick)], colours.empty),
        text([48, y(tick) + 4], rounded(tick), "end"),
      );
    }
    for (let row = 0; row < numbers; row += 1) {
      if (!(across.values[row] <= Infinity) || !(along.values[row] <= Infinity)) continue;
      picture.append(
        svg("circle", {
          cx: x(across.values[row]),
          cy: y(along.values[row]),
          r: numbers > 500 ? 2.5 : 4.5,
          fill: labels ? clusters.colour(labels[row]) : colours.axis,
          "fill-opacity": 0.65,
        }),
      );
    }
    clusters.sizes.forEach((_, cluster) => {
      const [cx, cy] = [x(centre(cluster, 0)), y(centre(cluster, 1))];
      const d = `M${cx - 8} ${cy}L${cx + 8} ${cy}M${cx} ${cy - 8}L${cx} ${cy + 8}`;
      picture.append(
        svg("path", { d, stroke: colours.page, "stroke-width": 7 }),
        svg("path", { d, stroke: clusters.colour(cluster), "stroke-width": 4 }),
      );
      picture.append(
        svg(
          "text",
          { x: cx + 9, y: cy - 7, "font-size": 12, "font-weight": 600, fill: colours.text },
          String(cluster),
        ),
      );
    });
    picture.append(text([(54 + width - 16) / 2, height - 6], across.name));
    picture.append(text([54, 11], along.name, "start"));
    return picture;
  }
}
