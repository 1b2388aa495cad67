// Clusters: their profiles, which of them a row belongs to, and how they came about.

import { contents } from "./about_panel.js";
import { button, element, replace, svg, tabs } from "./dom.js";
import { countText, figure, numberOf, percent, plural, rounded, unpack } from "./numbers.js";
import { swatch } from "./node_panel.js";
import { readColumns, rowsPanel } from "./rows_panel.js";
import { forgetTheme, theme } from "./theme.js";

const ROWS_DRAWN = 3000;

export class ClusterExplorer {
  constructor(host, state, page) {
    this.state = state;
    this.page = page;
    this.clusters = readClusters(state);
    state.selected = 0;
    state.panel = "profile";
    state.view = "profiles";
    this.step = -1;
    this.axes = [0, Math.min(1, this.clusters.numeric.length - 1)];
    this.viewTabs = element("div", { class: "view-tabs" });
    this.stage = element("div", { class: "host" });
    this.panelTabs = element("div", { class: "panel-tabs" });
    this.panel = element("div", {
      class: "panel-body",
      tabindex: "0",
      role: "region",
      "aria-label": "Details",
    });
    const { data } = state;
    const facts = [
      plural(data.grown_on.rows, "row"),
      data.method,
      plural(data.iterations, "iteration"),
      `inertia ${figure(data.inertia)}`,
    ];
    replace(
      host,
      element(
        "header",
        { class: "top" },
        element(
          "div",
          { class: "title" },
          element("h1", {}, data.title),
          element("p", { class: "quiet facts-line" }, facts.join(" · ")),
        ),
        this.viewTabs,
        element("div", { class: "row actions" }, page.themeButton?.()),
      ),
      element(
        "div",
        { class: "work" },
        element("section", { class: "main", "aria-label": "Clusters" }, this.stage),
        element(
          "aside",
          { class: "panel", "aria-label": "Details" },
          this.panelTabs,
          this.panel,
        ),
      ),
    );
    state.on(() => this.show());
    this.form = this.makeForm();
    this.show();
  }

  repaint() {
    forgetTheme();
    this.show();
  }

  show() {
    const { state } = this;
    const views = [
      ["profiles", "Profiles"],
      state.data.trace && ["iterations", "Iterations"],
    ].filter(Boolean);
    replace(
      this.viewTabs,
      tabs(
        views,
        state.view,
        (key) => {
          state.view = key;
          state.say("view");
        },
        "Views",
      ),
    );
    this.stage.dataset.view = state.view;
    replace(this.stage, state.view === "profiles" ? this.profiles() : this.iterations());
    const panels = [
      ["profile", "Cluster"],
      ["what-if", "What if"],
      state.data.rows && ["rows", "Rows"],
      ["about", "About"],
    ].filter(Boolean);
    replace(
      this.panelTabs,
      tabs(
        panels,
        state.panel,
        (key) => {
          state.panel = key;
          state.say("panel");
        },
        "Panels",
      ),
    );
    if (state.panel === "what-if" && this.panel.contains(this.form)) return;
    replace(
      this.panel,
      {
        profile: () => this.profile(),
        "what-if": () => [element("h2", {}, "What if"), this.form],
        rows: () => rowsPanel(state),
        about: () => this.about(),
      }[state.panel](),
    );
  }

  choose(cluster) {
    this.state.selected = cluster;
    if (this.state.panel === "what-if") this.state.panel = "profile";
    this.state.say("select");
  }

  // Attributes by clusters: each value, and how far it is from that of all rows.
  profiles() {
    const { clusters, state } = this;
    const { schema } = state;
    const head = clusters.sizes.map((size, cluster) =>
      element(
        "th",
        { scope: "col", class: cluster === state.selected ? "chosen" : null },
        button(`cluster ${cluster}`, () => this.choose(cluster), { class: "link" }),
        element("small", {}, `${countText(size)} rows (${percent(size / clusters.total)})`),
        sizeBar(size / clusters.total, clusters.colour(cluster)),
      ),
    );
    const lines = schema.attributes.map((attribute, index) =>
      element(
        "tr",
        {},
        element("th", { scope: "row", title: attribute.text }, attribute.text),
        clusters.sizes.map((_, cluster) => this.cell(attribute, index, cluster)),
      ),
    );
    return element(
      "div",
      {
        class: "scroll profiles",
        tabindex: "0",
        role: "region",
        "aria-label": "Profiles of clusters",
      },
      element(
        "p",
        { class: "quiet" },
        "Centroids; a bar shows how far one is from the mean of all clusters, in standard deviations between them: blue below, orange above.",
      ),
      element(
        "table",
        { class: "data profile-table" },
        element("thead", {}, element("tr", {}, element("td"), head)),
        element("tbody", {}, lines),
      ),
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
        element(
          "p",
          { class: "quiet" },
          `${countText(clusters.sizes[cluster])} of ${countText(clusters.total)} rows (${percent(clusters.sizes[cluster] / clusters.total)})`,
        ),
      ),
      element("h3", {}, "What sets it apart"),
      element(
        "table",
        { class: "counts" },
        element(
          "tbody",
          {},
          order
            .slice(0, 20)
            .map((index) =>
              element(
                "tr",
                {},
                element("th", { scope: "row" }, schema.attributes[index].text),
                this.cell(schema.attributes[index], index, cluster),
              ),
            ),
        ),
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
              ` at ${figure(far)}`,
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
      const distances = clusters.distances(row);
      if (!distances) {
        replace(
          answer,
          element("p", { class: "quiet" }, "Fill in every number to see the cluster of a row."),
        );
        return;
      }
      const nearest = distances.indexOf(Math.min(...distances));
      state.selected = nearest;
      state.say("select");
      const most = Math.max(...distances) || 1;
      replace(
        answer,
        element(
          "p",
          { class: "verdict" },
          "cluster ",
          element("strong", { "data-output": String(nearest) }, String(nearest)),
        ),
        element(
          "table",
          { class: "counts" },
          element(
            "tbody",
            {},
            distances
              .map((far, cluster) => [far, cluster])
              .sort((one, other) => one[0] - other[0])
              .slice(0, 8)
              .map(([far, cluster]) =>
                element(
                  "tr",
                  {},
                  element(
                    "th",
                    { scope: "row" },
                    swatch(clusters.colour(cluster)),
                    `cluster ${cluster}`,
                  ),
                  element(
                    "td",
                    { class: "wide" },
                    sizeBar(far / most, clusters.colour(cluster)),
                  ),
                  element("td", { class: "number" }, figure(far)),
                ),
              ),
          ),
        ),
      );
    };
    const fields = element(
      "div",
      { class: "fields" },
      schema.attributes.map((attribute, index) => {
        let control;
        if (attribute.numeric) {
          control = element("input", {
            type: "text",
            inputmode: "decimal",
            autocomplete: "off",
            oninput: () => {
              row[index] = numberOf(control.value, attribute.unit);
              changed();
            },
          });
        } else {
          control = element(
            "select",
            {
              oninput: () => {
                row[index] = control.value === "" ? NaN : Number(control.value);
                changed();
              },
            },
            element("option", { value: "" }, "missing"),
            attribute.values.map((_, code) =>
              element("option", { value: String(code) }, attribute.valueText(code)),
            ),
          );
        }
        control.dataset.attribute = attribute.name;
        return element(
          "label",
          {},
          element("span", { title: attribute.text }, attribute.text),
          control,
        );
      }),
    );
    changed();
    return element(
      "form",
      { class: "what-if", onsubmit: (event) => event.preventDefault() },
      answer,
      fields,
    );
  }

  about() {
    return [
      element("h2", {}, "About this page"),
      element("p", {}, "One file, which fetches nothing and sends nothing."),
      element(
        "ul",
        {},
        contents(this.state).map((line) => element("li", {}, line)),
      ),
      element("p", { class: "quiet" }, `Made by ${this.page.madeBy}.`),
    ];
  }

  // Rows and centroids over two columns, iteration by iteration.
  iterations() {
    const { state, clusters } = this;
    const { trace } = state.data;
    const last = trace.steps.length - 1;
    const now = Math.min(this.step, last);
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
    slider.value = String(now);
    const said = element("p", { class: "verdict" });
    const frame = element("div", { class: "frame" });
    const draw = () => {
      const at = this.step;
      const step = at >= 0 ? trace.steps[at] : null;
      said.textContent = step
        ? `iteration ${at + 1} of ${last + 1}: ${at ? `${plural(step.changed, "row")} changed their cluster` : "every row got its first cluster"}; inertia ${figure(step.inertia)}`
        : "the start: centroids, and no row has a cluster";
      replace(frame, this.scatter(step));
    };
    draw();
    const select = (axis) => {
      const control = element(
        "select",
        {
          oninput: () => {
            this.axes[axis] = Number(control.value);
            draw();
          },
        },
        clusters.numeric.map((index, at) =>
          element("option", { value: String(at) }, state.schema.attributes[index].text),
        ),
      );
      control.value = String(this.axes[axis]);
      return control;
    };
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
      said,
      frame,
      element(
        "p",
        { class: "row" },
        element("label", {}, "across ", select(0)),
        element("label", {}, "up ", select(1)),
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
    const text = (at, words, anchor = "middle") =>
      svg(
        "text",
        { x: at[0], y: at[1], "text-anchor": anchor, "font-size": 11, fill: colours.note },
        words,
      );
    for (let part = 0; part <= 4; part += 1) {
      const [atX, atY] = [
        xs[0] + ((xs[1] - xs[0]) * part) / 4,
        ys[0] + ((ys[1] - ys[0]) * part) / 4,
      ];
      picture.append(
        svg("line", { x1: x(atX), x2: x(atX), y1: 16, y2: height - 40, stroke: colours.empty }),
        text([x(atX), height - 24], rounded(atX, 3)),
      );
      picture.append(
        svg("line", { x1: 54, x2: width - 16, y1: y(atY), y2: y(atY), stroke: colours.empty }),
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
      picture.append(
        svg("path", {
          d: `M${cx - 8} ${cy}L${cx + 8} ${cy}M${cx} ${cy - 8}L${cx} ${cy + 8}`,
          stroke: colours.page,
          "stroke-width": 7,
        }),
      );
      picture.append(
        svg("path", {
          d: `M${cx - 8} ${cy}L${cx + 8} ${cy}M${cx} ${cy - 8}L${cx} ${cy + 8}`,
          stroke: clusters.colour(cluster),
          "stroke-width": 4,
        }),
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

function sizeBar(share, colour) {
  const bar = element("span", { class: "meter", "aria-hidden": "true" }, element("span"));
  bar.firstChild.style.width = `${100 * share}%`;
  bar.firstChild.style.background = colour;
  return bar;
}

// Centroids as arrays, and distances to them as clusters.py measures them.
function readClusters(state) {
  const { data, schema } = state;
  const numeric = schema.attributes
    .map((_, index) => index)
    .filter((index) => schema.attributes[index].numeric);
  const named = schema.attributes
    .map((_, index) => index)
    .filter((index) => !schema.attributes[index].numeric);
  const centroids = unpack(data.centroids);
  const scale = unpack(data.scale);
  const codes = unpack(data.codes);
  const { sizes } = data;
  const total = sizes.reduce((sum, size) => sum + size, 0) || 1;
  const at = (index, cluster) => centroids[cluster * numeric.length + numeric.indexOf(index)];
  const value = (index, cluster) => at(index, cluster) * scale[numeric.indexOf(index)];
  const code = (index, cluster) => codes[cluster * named.length + named.indexOf(index)];
  const spreads = numeric.map((index) => {
    const known = sizes
      .map((size, cluster) => [size, at(index, cluster)])
      .filter(([, each]) => !Number.isNaN(each));
    const weight = known.reduce((sum, [size]) => sum + size, 0) || 1;
    const mean = known.reduce((sum, [size, each]) => sum + size * each, 0) / weight;
    const square =
      known.reduce((sum, [size, each]) => sum + size * (each - mean) ** 2, 0) / weight;
    return [mean, Math.sqrt(square)];
  });
  const gap = (cluster, rowAt, codeAt) => {
    let sum = 0;
    for (const index of numeric) {
      const difference = rowAt(index) - at(index, cluster);
      if (!Number.isNaN(difference)) sum += difference * difference;
    }
    for (const index of named) {
      const value = codeAt(index);
      if (!Number.isNaN(value) && value !== code(index, cluster)) sum += data.gamma;
    }
    return named.length || data.method === "k-prototypes" ? sum : Math.sqrt(sum);
  };
  return {
    numeric,
    sizes,
    total,
    scale,
    colour: (cluster) => theme().classes[cluster % theme().classes.length],
    off: (index, cluster) => {
      if (!schema.attributes[index].numeric) return 0;
      const [mean, deviation] = spreads[numeric.indexOf(index)];
      const off = deviation ? (at(index, cluster) - mean) / deviation : 0;
      return Number.isNaN(off) ? 0 : off;
    },
    text: (index, cluster) => {
      const attribute = schema.attributes[index];
      if (!attribute.numeric)
        return code(index, cluster) < 0 ? "–" : attribute.valueText(code(index, cluster));
      const number = value(index, cluster);
      return Number.isNaN(number)
        ? "–"
        : attribute.unit
          ? attribute.number(Number(number.toFixed(6)))
          : rounded(number);
    },
    between: (one, other) =>
      gap(
        one,
        (index) => at(index, other),
        (index) => code(index, other),
      ),
    distances: (row) => {
      const lacks = numeric.some((index) => Number.isNaN(row[index]));
      if (data.method !== "k-prototypes" && lacks) return null;
      const rowAt = (index) => row[index] / scale[numeric.indexOf(index)];
      return sizes.map((_, cluster) => gap(cluster, rowAt, (index) => row[index]));
    },
  };
}
