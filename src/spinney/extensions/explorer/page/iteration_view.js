// The iterations of k-means: rows and centroids over two columns, step by step.

import { ClusterPlot } from "./cluster_plot.js";
import { button, element, replace } from "./dom.js";
import { figure, plural, unpack } from "./numbers.js";

export class IterationView {
  constructor(state, clusters) {
    this.state = state;
    this.step = -1;
    this.plot = new ClusterPlot(state, clusters);
  }

  body() {
    const { trace } = this.state.data;
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
      replace(
        frame,
        this.plot.picture(unpack(step ? step.centroids : trace.start), step && unpack(step.clusters)),
      );
    };
    draw();
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
      this.plot.choosers(draw),
    );
  }

  go(step, slider, draw) {
    this.step = Math.min(Math.max(this.step + step, -1), Number(slider.max));
    slider.value = String(this.step);
    draw();
  }
}
