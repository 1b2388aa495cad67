// The explorer of clusters: profiles, assignment of a row, iterations.

import { aboutPanel } from "./about_panel.js";
import { ClusterPlot } from "./cluster_plot.js";
import { readClusters } from "./clusters.js";
import {
  button, element, meter, numberCell, quiet, replace, rowHead, scrolling, table, tableRow,
  wideCell,
} from "./dom.js";
import { formField } from "./form_field.js";
import { Frame } from "./frame.js";
import { IterationView } from "./iteration_view.js";
import { countText, figure, percent, plural, unpack } from "./numbers.js";
import { swatch } from "./node_panel.js";
import { rowsPanel } from "./rows_panel.js";
import { resetTheme, theme } from "./theme.js";

export class ClusterExplorer extends Frame {
  constructor(host, state, page) {
    super(state, page);
    this.clusters = readClusters(state);
    state.selected = 0;
    state.panel = "profile";
    state.view = "profiles";
    this.plot = new ClusterPlot(state, this.clusters);
    this.iterations = state.data.trace && new IterationView(state, this.clusters);
    const { data } = state;
    this.facts.textContent = [
      plural(data.grown_on.rows, "row"),
      data.method,
      plural(data.iterations, "iteration"),
      `inertia ${figure(data.inertia)}`,
    ].join(" · ");
    this.fill(host, { title: data.title, label: "Clusters" });
    state.subscribe(() => this.show());
    this.form = this.makeForm();
    this.show();
  }

  repaint() {
    resetTheme();
    this.show();
  }

  show() {
    const { state } = this;
    this.showViewTabs([
      ["profiles", "Profiles"],
      this.clusters.numeric.length > 0 && ["scatter", "Scatter plot"],
      this.iterations && ["iterations", "Iterations"],
    ]);
    const views = {
      profiles: () => this.profiles(),
      scatter: () => this.scatter(),
      iterations: () => this.iterations.body(),
    };
    replace(this.stage, views[state.view]());
    this.showPanelTabs([
      ["profile", "Cluster"],
      ["what-if", "What if"],
      state.data.rows && ["rows", "Rows"],
      ["about", "About"],
    ]);
    if (state.panel === "what-if" && this.panel.contains(this.form)) return;
    const panels = {
      profile: () => this.profile(),
      "what-if": () => [element("h2", {}, "What if"), this.form],
      rows: () => rowsPanel(state),
      about: () => aboutPanel(state, this.page),
    };
    replace(this.panel, panels[state.panel]());
  }

  choose(cluster) {
    this.state.selected = cluster;
    if (this.state.panel === "what-if") this.state.panel = "profile";
    this.state.notify("select");
  }

  // Attributes × clusters: each centroid's value, and its distance from the mean.
  profiles() {
    const { clusters, state } = this;
    const { schema } = state;
    const head = clusters.sizes.map((size, cluster) =>
      element(
        "th",
        { scope: "col", class: cluster === state.selected ? "chosen" : null },
        button(`cluster ${cluster}`, () => this.choose(cluster), { class: "link" }),
        element("small", {}, `${countText(size)} rows (${percent(size / clusters.total)})`),
        meter(size / clusters.total, clusters.colour(cluster)),
      ),
    );
    const lines = schema.attributes.map((attribute, index) =>
      tableRow(
        element("th", { scope: "row", title: attribute.text }, attribute.text),
        clusters.sizes.map((_, cluster) => this.cell(attribute, index, cluster)),
      ),
    );
    return scrolling(
      "scroll profiles",
      "Profiles of clusters",
      quiet(
        "Centroids; bars show the distance from the mean of all clusters in standard deviations: blue below, orange above.",
      ),
      table("data profile-table", [null, ...head], lines),
    );
  }

  cell(attribute, index, cluster) {
    const { clusters, state } = this;
    const chosen = cluster === state.selected ? "chosen" : null;
    const text = clusters.text(index, cluster);
    if (!attribute.numeric) return element("td", { class: chosen }, text);
    const off = clusters.off(index, cluster);
    const bar = element("span", { class: "off", "aria-hidden": "true" }, element("i"));
    const size = Math.min(Math.abs(off) / 2, 1) * 50;
    bar.firstChild.style.left = `${off < 0 ? 50 - size : 50}%`;
    bar.firstChild.style.width = `${size}%`;
    bar.firstChild.style.background = theme().classes[off < 0 ? 0 : 5];
    return element(
      "td",
      {
        class: chosen,
        title: `${off >= 0 ? "+" : "−"}${Math.abs(off).toFixed(2)} sd between clusters`,
      },
      text,
      bar,
    );
  }

  // Rows of the page by their cluster, and centroids.
  scatter() {
    const { state } = this;
    const { rows } = state.data;
    const frame = element("div", { class: "frame" });
    const draw = () => {
      const labels = rows && unpack(rows.leaf);
      replace(frame, this.plot.picture(unpack(state.data.centroids), labels));
    };
    draw();
    return element(
      "div",
      { class: "scroll trace" },
      frame,
      rows ? null : quiet("Centroids only: the page has no rows."),
      this.plot.choosers(draw),
    );
  }

  profile() {
    const { clusters, state } = this;
    const { selected: cluster, schema } = { selected: state.selected, schema: state.schema };
    const order = schema.attributes
      .map((_, index) => index)
      .sort(
        (one, other) =>
          Math.abs(clusters.off(other, cluster)) - Math.abs(clusters.off(one, cluster)),
      );
    return [
      element(
        "header",
        { class: "node-head" },
        element("h2", {}, swatch(clusters.colour(cluster)), `Cluster ${cluster}`),
        quiet(
          `${countText(clusters.sizes[cluster])} of ${countText(clusters.total)} rows (${percent(clusters.sizes[cluster] / clusters.total)})`,
        ),
      ),
      element("h3", {}, "Distinguishing attributes"),
      table(
        "counts",
        [],
        order.slice(0, 20).map((index) => {
          const attribute = schema.attributes[index];
          return tableRow(rowHead(attribute.text), this.cell(attribute, index, cluster));
        }),
      ),
      element("h3", {}, "Nearest clusters"),
      element(
        "ul",
        {},
        clusters.sizes
          .map((_, other) => other)
          .filter((other) => other !== cluster)
          .map((other) => [other, clusters.between(cluster, other)])
          .sort((one, other) => one[1] - other[1])
          .slice(0, 4)
          .map(([other, far]) =>
            element(
              "li",
              {},
              button(`cluster ${other}`, () => this.choose(other), { class: "link" }),
              `, distance ${figure(far)}`,
            ),
          ),
      ),
    ];
  }

  makeForm() {
    const { state, clusters } = this;
    const { schema } = state;
    const row = new Array(schema.attributes.length).fill(NaN);
    const answer = element("div", { class: "answer", "aria-live": "polite" });
    const changed = () => {
      const distances = row.every(Number.isNaN) ? null : clusters.distances(row);
      if (!distances) {
        const what = clusters.takesMissing ? "the known values" : "every number";
        const hint = `Enter ${what} of a row to see its cluster.`;
        replace(answer, quiet(hint));
        return;
      }
      const nearest = distances.indexOf(Math.min(...distances));
      state.selected = nearest;
      state.notify("select");
      const farthest = Math.max(...distances) || 1;
      replace(
        answer,
        element(
          "p",
          { class: "verdict" },
          "cluster ",
          element("strong", { "data-output": String(nearest) }, String(nearest)),
        ),
        table(
          "counts",
          [],
          distances
            .map((far, cluster) => [far, cluster, clusters.colour(cluster)])
            .sort((one, other) => one[0] - other[0])
            .slice(0, 8)
            .map(([far, cluster, colour]) =>
              tableRow(
                rowHead(swatch(colour), `cluster ${cluster}`),
                wideCell(meter(far / farthest, colour)),
                numberCell(figure(far)),
              ),
            ),
        ),
      );
    };
    const fields = schema.attributes.map((attribute, index) =>
      formField(attribute, index, (cell) => {
        row[index] = cell;
        changed();
      }),
    );
    changed();
    return element(
      "form",
      { class: "what-if", onsubmit: (event) => event.preventDefault() },
      answer,
      element("div", { class: "fields" }, fields),
    );
  }
}
