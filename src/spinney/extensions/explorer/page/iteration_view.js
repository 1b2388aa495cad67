// The iterations of k-means: rows and centroids over two columns, step by step.

import { button, chooser, element, replace, svg, svgLine, svgText } from "./dom.js";
import { figure, plural, rounded, unpack } from "./numbers.js";
import { readColumns } from "./rows_panel.js";
import { theme } from "./theme.js";

const ROWS_DRAWN = 3000;

export class IterationView {
  constructor(state, clusters) {
    this.state = state;
    this.clusters = clusters;
    this.step = -1;
    this.axes = [0, Math.min(1, clusters.numeric.length - 1)];
  }

  body() {
    const { state, clusters } = this;
    const { trace } = state.data;
    const last = trace.steps.length - 1;
    const shownStep = Math.min(this.step, last);
    const slider = element("input", {
      type: "range",
      min: "-1",
      max: String(last),
      "aria-label": "Iteration",
      oninput: () => {
        this.step = Number(slider.value);
        draw();
      },
    });
    slider.value = String(shownStep);
    const caption = element("p", { class: "verdict" });
    const frame = element("div", { class: "frame" });
    const draw = () => {
      const at = this.step;
      const step = at >= 0 ? trace.steps[at] : null;
      caption.textContent = step
        ? `iteration ${at + 1} of ${last + 1}: ${at ? `${plural(step.changed, "row")} changed their cluster` : "first assignment of every row"}; inertia ${figure(step.inertia)}`
        : "initial centroids; rows are not yet assigned";
      replace(frame, this.scatter(step));
    };
    draw();
    const names = clusters.numeric.map((index, at) => [
      at,
      state.schema.attributes[index].text,
    ]);
    const select = (axis) =>
      chooser(names, this.axes[axis], (at) => {
        this.axes[axis] = Number(at);
        draw();
      });
    return element(
      "div",
      { class: "scroll trace" },
      element(
        "p",
        { class: "row" },
        button("‹", () => this.go(-1, slider, draw), {
          class: "small",
          "aria-label": "Previous iteration",
        }),
        slider,
        button("›", () => this.go(1, slider, draw), {
          class: "small",
          "aria-label": "Next iteration",
        }),
      ),
      caption,
      frame,
      element(
        "p",
        { class: "row" },
        element("label", {}, "x axis ", select(0)),
        element("label", {}, "y axis ", select(1)),
      ),
    );
  }

  go(step, slider, draw) {
    this.step = Math.min(Math.max(this.step + step, -1), Number(slider.max));
    slider.value = String(this.step);
    draw();
  }

  scatter(step) {
    const { state, clusters } = this;
    const { trace, rows } = state.data;
    const colours = theme();
    const [width, height] = [560, 400];
    const columns = readColumns(rows);
    const named = (axis) => {
      const attribute = state.schema.attributes[clusters.numeric[this.axes[axis]]];
      return columns.find(({ name }) => name === attribute.text);
    };
    const [across, along] = [named(0), named(1)];
    const centres = unpack(step ? step.centroids : trace.start);
    const size = clusters.numeric.length;
    const centre = (cluster, axis) =>
      centres[cluster * size + this.axes[axis]] * clusters.scale[this.axes[axis]];
    const numbers = Math.min(rows.rows, ROWS_DRAWN);
    const bounds = (values, axis) => {
      let [low, high] = [Infinity, -Infinity];
      for (let row = 0; row < numbers; row += 1)
        if (!Number.isNaN(values[row]))
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
    for (let part = 0; part <= 4; part += 1) {
      const [atX, atY] = [
        xs[0] + ((xs[1] - xs[0]) * part) / 4,
        ys[0] + ((ys[1] - ys[0]) * part) / 4,
      ];
      picture.append(
        svgLine([x(atX), 16], [x(atX), height - 40], colours.empty),
        text([x(atX), height - 24], rounded(atX, 3)),
      );
      picture.append(
        svgLine([54, y(atY)], [width - 16, y(atY)], colours.empty),
        text([48, y(atY) + 4], rounded(atY, 3), "end"),
      );
    }
    const labels = step ? unpack(step.clusters) : null;
    for (let row = 0; row < numbers; row += 1) {
      if (Number.isNaN(across.values[row]) || Number.isNaN(along.values[row])) continue;
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
