// The tree as boxes and branches: tidy, as deep as it is open.

import { button, element, replace } from "./dom.js";
import { countText, maximum, percent, rounded, weightText } from "./numbers.js";
import { paintCanvas, paintSvg, shortened, shortenedAmong, textWidth } from "./paint.js";
import { Stage } from "./stage.js";
import { theme } from "./theme.js";
import { tidyLayout } from "./tidy.js";

const SVG_NODES = 300; // more of them move slowly: python -m benchmarks.explorer
const [TITLE, NOTE, LABEL] = [13, 11, 12];
const [MAX_WIDTH, MIN_WIDTH, LABEL_WIDTH] = [215, 72, 150];
const [LABEL_LINE, LABEL_LINES] = [15, 3];
const MAX_LABEL_WORDS = 60; // more never fit into the lines of a label
const [BOX, STUB, BAND, GAP] = [57, 18, 58, 16];
const [MIN_THICKNESS, MAX_THICKNESS] = [1.2, 12];
const MIN_READABLE_SCALE = 0.85;
const NARROW = 420; // on a narrow screen, as of a phone, nothing is made smaller
const MAX_OUTLINED = 2000; // nodes that are listed for screen readers

export class TreeView {
  constructor(host, state, notice) {
    this.state = state;
    this.notice = notice;
    this.stage = new Stage(host, this, `Decision tree for ${state.schema.target.text}`);
    this.stage.tools.append(
      button("Expand all", () => this.openAll(), { title: "Expand every node" }),
      button("Collapse", () => this.reset(), { title: "Expand as deep as fits" }),
      button("Rotate", () => this.rotate(), { title: "Draw from left to right, or from the top" }),
    );
    this.boxes = new Map();
    if (!state.fitted) {
      this.openFitting();
      state.openMatches();
      state.reveal(state.selected);
      this.stage.resized();
      this.draw();
      this.fitReadable();
      state.fitted = true;
      state.camera = this.stage.at;
    } else {
      this.stage.at = state.camera;
      this.stage.resized();
      this.draw();
    }
    this.stage.placeNow();
  }

  destroy() {
    this.stage.destroy();
  }

  update(changed) {
    if (changed.has("shape") || changed.has("prune")) {
      const anchor = this.placeOf(this.state.selected);
      this.draw();
      const now = this.placeOf(this.state.selected);
      if (anchor && now) {
        const { k } = this.stage.at;
        this.stage.move((anchor[0] - now[0]) * k, (anchor[1] - now[1]) * k);
      }
    } else this.repaint();
    if (changed.has("filter") && !changed.has("prune")) this.fitReadable();
    if (changed.has("reveal") || changed.has("prune")) this.showSelected();
    if (changed.has("lit") && changed.has("shape") && this.stage.fitting > MIN_READABLE_SCALE / 1.4)
      this.stage.fit();
    else if (changed.has("lit")) this.scrollTo(this.state.end);
  }

  showSelected() {
    this.scrollTo(this.state.selected);
  }

  scrollTo(node) {
    const at = this.index.get(node);
    if (at === undefined) return;
    const [x, y, width, height] = this.rectangle(at);
    this.stage.scrollTo([x, y, x + width, y + height]);
  }

  placeOf(node) {
    const at = this.index?.get(node);
    if (at === undefined) return null;
    const [x, y, width] = this.rectangle(at);
    return [x + width / 2, y];
  }

  // The deepest that can still be read when all of it is seen.
  openFitting() {
    const { state } = this;
    const [width, height] = this.stage.size;
    let depth = 1;
    for (; depth < state.tree.height; depth += 1) {
      state.openToDepth(depth + 1);
      this.collect();
      if (this.nodes.length > 400) break;
      this.arrange();
      const k = this.readableScale;
      if (this.width * k > width || this.height * k > height) break;
    }
    state.openToDepth(depth >= state.tree.height ? state.tree.height + 1 : depth);
  }

  get readableScale() {
    return this.stage.size[0] < NARROW ? 1 : MIN_READABLE_SCALE;
  }

  // Show all that is open if it can be read; else the selected node and its neighbours.
  fitReadable() {
    if (this.stage.fit() >= this.readableScale) return true;
    const { stage } = this;
    const at = this.index.get(this.state.selected) ?? 0;
    const [x, y, wide, tall] = this.rectangle(at);
    const [width, height] = stage.size;
    const k = this.readableScale;
    const turned = this.state.horizontal;
    Object.assign(stage.at, {
      k,
      x: (turned ? 24 : width / 2) - (x + (turned ? 0 : wide / 2)) * k,
      y: (turned ? height / 2 : 24) - (y + (turned ? tall / 2 : 0)) * k,
    });
    stage.place();
    return false;
  }

  openAll() {
    this.state.closed.fill(0);
    this.draw();
    if (!this.fitReadable())
      this.notice("The tree is larger than the screen: drag it, press Fit, or use List.");
  }

  reset() {
    this.openFitting();
    this.state.reveal(this.state.selected);
    this.draw();
    this.fitReadable();
  }

  rotate() {
    this.state.horizontal = !this.state.horizontal;
    this.boxes.clear();
    this.draw();
    this.fitReadable();
  }

  // The nodes that are seen, in printing order, and who is below whom.
  collect() {
    const { state } = this;
    const { tree } = state;
    this.nodes = [];
    this.index = new Map();
    this.below = [];
    this.stubs = [];
    for (let node = 0; node < tree.size;) {
      const at = this.nodes.length;
      this.nodes.push(node);
      this.index.set(node, at);
      this.below.push([]);
      const isLeaf = state.isLeaf(node);
      this.stubs.push(!isLeaf && state.closed[node] ? tree.end[node] - node - 1 : 0);
      if (node) this.below[this.index.get(tree.parent[node])].push(at);
      node = isLeaf || state.closed[node] ? tree.end[node] : node + 1;
    }
  }

  arrange() {
    const { nodes, state } = this;
    const { tree } = state;
    const turned = state.horizontal;
    const large = nodes.length > 6000;
    this.widths = new Float64Array(nodes.length);
    const breadths = new Float64Array(nodes.length);
    nodes.forEach((node, at) => {
      const box = large ? null : this.boxOf(node);
      this.widths[at] = box ? box.width : MIN_WIDTH;
      const label = box ? box.labelWidth + 10 : 0;
      breadths[at] = turned ? BOX + (this.stubs[at] ? 2 * STUB : 0) : Math.max(this.widths[at], label);
    });
    this.across = tidyLayout(this.below, breadths, turned ? 12 : GAP);
    this.depths = nodes.map((node) => tree.depth[node]);
    this.levels = [];
    this.depths.forEach((depth, at) => (this.levels[depth] ??= []).push(at));
    // What labels of several lines add to the room above a level.
    this.extra = this.levels.map((level) =>
      large || turned ? 0 : maximum(level.map((at) => this.boxOf(nodes[at]).labelExtra), 0),
    );
    if (turned) {
      this.along = [0];
      this.levels.forEach((level, depth) => {
        const widest = Math.max(...level.slice(0, 5000).map((at) => this.widths[at]));
        const next = this.levels[depth + 1] ?? [];
        const labels = next
          .slice(0, 5000)
          .map((at) => (large ? 40 : this.boxOf(nodes[at]).labelWidth));
        this.along.push(this.along[depth] + widest + Math.max(...labels, 0) + 54);
      });
    } else {
      this.along = [0];
      this.levels.forEach((_, depth) =>
        this.along.push(this.along[depth] + BOX + BAND + (this.extra[depth + 1] ?? 0)),
      );
    }
    let [width, height] = [0, 0];
    for (let at = 0; at < nodes.length; at += 1) {
      const [x, y, wide, tall] = this.rectangle(at);
      width = Math.max(width, x + wide);
      height = Math.max(height, y + tall + (this.stubs[at] ? STUB + 4 : 0));
    }
    [this.width, this.height] = [width + 2, height + 2];
  }

  rectangle(at) {
    const wide = this.widths[at];
    const along = this.along[this.depths[at]];
    if (this.state.horizontal) return [along, this.across[at] - BOX / 2, wide, BOX];
    return [this.across[at] - wide / 2, along, wide, BOX];
  }

  // What is said in the box of a node, and how wide that is.
  boxOf(node) {
    const { state } = this;
    const ends = state.isLeaf(node);
    const key = ends ? -1 - node : node;
    let box = this.boxes.get(key);
    if (box) return box;
    const { tree, schema } = state;
    const whole = ends ? state.label(node) : schema.attributes[tree.attribute[node]].text;
    const names = ends ? schema.classes : schema.attributes.map(({ text }) => text);
    const title = shortenedAmong(names, whole, MAX_WIDTH - 20, TITLE, true);
    const note = this.note(node, ends);
    const values = node ? schema.attributes[tree.attribute[tree.parent[node]]].valueTexts : [];
    const label = node ? labelLines(tree.branchLabelParts(node), values) : [];
    const widest = Math.max(textWidth(title, TITLE, true), textWidth(note, NOTE));
    box = {
      ends,
      title,
      note,
      label,
      width: Math.max(widest + 22, MIN_WIDTH),
      labelWidth: node ? maximum(label.map((line) => textWidth(line, LABEL))) + 10 : 0,
      labelExtra: LABEL_LINE * Math.max(label.length - 1, 0),
    };
    this.boxes.set(key, box);
    return box;
  }

  note(node, ends) {
    const { tree, schema } = this.state;
    const weight = tree.weight[node];
    const share = percent(this.state.share(node));
    if (schema.numeric) {
      const [mean, deviation] = tree.moments(node);
      const spread = tree.rows[node] ? ` ± ${rounded(deviation, 3)}` : "";
      return `${ends && !this.state.names[node] ? "" : rounded(mean)}${spread} · ${rowsText(weight)}`.trim();
    }
    if (!ends) return `${rowsText(weight)} · ${share} of all`;
    const right = tree.weightsOf(node)[tree.label[node]];
    if (!tree.rows[node]) return "no rows";
    return `${roundedCount(right)} of ${roundedCount(weight)} correct · ${share} of all`;
  }

  draw() {
    this.collect();
    this.arrange();
    this.isCanvas = this.nodes.length > SVG_NODES;
    this.repaint();
    this.stage.show(this.isCanvas);
  }

  repaint() {
    if (this.isCanvas) this.stage.place();
    else paintSvg(this.stage.group, this.shapes(this.nodes.map((_, at) => at)));
    this.describe();
  }

  resized() {
    if (!this.state.fitted) return;
    this.stage.place();
  }

  scene() {
    const every = this.nodes.map((_, at) => at);
    this.titled = true;
    const shapes = this.shapes(every);
    this.titled = false;
    return { shapes, width: this.width, height: this.height };
  }

  shapes(places) {
    const shapes = [];
    for (const at of places) this.drawBranches(at, shapes);
    for (const at of places) this.drawLabel(at, shapes);
    for (const at of places) this.drawBox(at, shapes);
    return shapes;
  }

  nodeOpacity(node) {
    return this.state.matchesFilter(node) ? 1 : 0.22;
  }

  // Branches begin side by side, each as wide as the rows that take it are many.
  drawBranches(at, shapes) {
    const { state } = this;
    const colours = theme();
    const below = this.below[at];
    if (!below.length) return;
    const widths = below.map((child) => MIN_THICKNESS + (MAX_THICKNESS - MIN_THICKNESS) * state.share(this.nodes[child]));
    const [x, y, wide, tall] = this.rectangle(at);
    const turned = state.horizontal;
    const middle = turned ? y + tall / 2 : x + wide / 2;
    const edge = turned ? x + wide : y + tall;
    const reach = this.along[this.depths[at] + 1];
    const labels = 26 + (this.extra[this.depths[at] + 1] ?? 0);
    let begin = middle - widths.reduce((sum, each) => sum + each, 0) / 2;
    below.forEach((child, order) => {
      const node = this.nodes[child];
      const thick = widths[order];
      const from = begin + thick / 2;
      begin += thick;
      const part = state.highlighted.get(node);
      const to = this.across[child];
      const bend = turned ? 26 : 20;
      const straight = turned ? reach - this.labelSpace(child) : reach - labels;
      const point = (across, along) =>
        turned ? `${roundedLength(along)} ${roundedLength(across)}` : `${roundedLength(across)} ${roundedLength(along)}`;
      const d =
        `M${point(from, edge)}C${point(from, edge + bend)} ${point(to, straight - bend)} ` +
        `${point(to, straight)}L${point(to, reach)}`;
      shapes.push({
        kind: "path",
        d,
        stroke: part ? colours.accent : colours.branch,
        thick: part ? Math.max(thick, 2.5 + 2 * part) : thick,
        opacity: this.nodeOpacity(node),
        whole: true,
      });
    });
  }

  labelSpace(child) {
    return this.boxOf(this.nodes[child]).labelWidth + 6;
  }

  drawLabel(at, shapes) {
    const node = this.nodes[at];
    if (!node) return;
    const { state } = this;
    const box = this.boxOf(node);
    const part = state.highlighted.get(node);
    const colours = theme();
    const divided = part && part < 0.9995;
    const lines = [...box.label];
    if (divided) lines[lines.length - 1] += ` · ${percent(part)}`;
    const wide = divided
      ? maximum(lines.map((line) => textWidth(line, LABEL))) + 10
      : box.labelWidth;
    const [x, y, width, tall] = this.rectangle(at);
    const middle = state.horizontal ? x - wide / 2 - 6 : x + width / 2;
    const base = state.horizontal
      ? y + tall / 2 + 4 - box.labelExtra / 2
      : y - 11 - box.labelExtra;
    const faded = this.nodeOpacity(node);
    shapes.push({
      kind: "rect",
      x: middle - wide / 2,
      y: base - 13,
      width: wide,
      height: 18 + box.labelExtra,
      round: 5,
      fill: colours.page,
    });
    lines.forEach((text, line) =>
      shapes.push({
        kind: "text",
        x: middle,
        y: base + line * LABEL_LINE,
        text,
        size: LABEL,
        bold: Boolean(part),
        anchor: "middle",
        fill: part ? colours.accent : colours.text,
        opacity: faded,
        node,
        title: this.titled ? state.tree.condition(node) : undefined,
      }),
    );
  }

  drawBox(at, shapes) {
    const node = this.nodes[at];
    const { state } = this;
    const { tree, schema } = state;
    const colours = theme();
    const box = this.boxOf(node);
    const [x, y, width, height] = this.rectangle(at);
    const [hue, strength] = state.colours.node(tree, node);
    const round = box.ends ? 14 : 4;
    const faded = this.nodeOpacity(node);
    const title = this.titled ? this.tooltip(node) : undefined;
    const common = { kind: "rect", x, y, width, height, round, node };
    shapes.push({ ...common, fill: colours.page });
    shapes.push({ ...common, fill: hue, opacity: strength * faded });
    const chosen = node === state.selected;
    const lit = state.highlighted.has(node);
    shapes.push({
      ...common,
      fill: "transparent",
      stroke: chosen || lit ? colours.accent : colours.frame,
      thick: chosen ? 3 : box.ends ? 2 : 1,
      opacity: chosen ? 1 : faded,
      whole: true,
      title,
    });
    const middle = x + width / 2;
    const text = { kind: "text", x: middle, anchor: "middle", opacity: faded, node };
    shapes.push({
      ...text,
      y: y + 18,
      text: box.title,
      size: TITLE,
      bold: true,
      fill: colours.text,
      title,
    });
    shapes.push({ ...text, y: y + 33, text: box.note, size: NOTE, fill: colours.note, title });
    if (schema.numeric) this.drawStrip(node, x + 11, y + 45, width - 22, shapes, faded);
    else this.drawBar(node, x + 11, y + 41, width - 22, shapes, faded);
    if (this.stubs[at]) this.drawStub(at, shapes);
  }

  drawBar(node, x, y, width, shapes, faded) {
    const { tree, colours } = this.state;
    const weights = tree.weightsOf(node);
    const total = tree.weight[node];
    shapes.push({ kind: "rect", x, y, width, height: 6, fill: theme().empty, opacity: faded });
    if (!total) return;
    let from = x;
    weights.forEach((weight, code) => {
      const part = (width * weight) / total;
      if (!part) return;
      shapes.push({
        kind: "rect",
        x: from,
        y,
        width: part,
        height: 6,
        fill: colours.of(code),
        opacity: faded,
      });
      from += part;
    });
  }

  drawStrip(node, x, y, width, shapes, faded) {
    const { tree, colours } = this.state;
    const [mean, deviation] = tree.moments(node);
    const [hue] = colours.at(mean);
    const [low, high] = [colours.place(mean - deviation), colours.place(mean + deviation)];
    const middle = x + width * colours.place(colours.mean);
    const line = (d) => ({
      kind: "path",
      d,
      stroke: theme().axis,
      opacity: faded,
      whole: true,
    });
    shapes.push(line(`M${roundedLength(x)} ${y}L${roundedLength(x + width)} ${y}`));
    shapes.push(line(`M${roundedLength(middle)} ${y - 4}L${roundedLength(middle)} ${y + 4}`));
    shapes.push({
      kind: "rect",
      x: x + width * low,
      y: y - 2,
      width: Math.max(width * (high - low), 1),
      height: 4,
      round: 2,
      fill: hue,
      opacity: 0.5 * faded,
    });
    shapes.push({
      kind: "circle",
      cx: x + width * colours.place(mean),
      cy: y,
      r: 3.5,
      fill: hue,
      opacity: faded,
    });
  }

  // What opens a node that is closed.
  drawStub(at, shapes) {
    const node = this.nodes[at];
    const [x, y, width, height] = this.rectangle(at);
    const text = `+ ${countText(this.stubs[at])}`;
    const wide = textWidth(text, NOTE) + 14;
    const colours = theme();
    const faded = this.nodeOpacity(node);
    const left = x + width / 2 - wide / 2;
    shapes.push({
      kind: "rect",
      x: left,
      y: y + height + 2,
      width: wide,
      height: STUB - 1,
      round: 8,
      node,
      act: "open",
      fill: colours.page,
      stroke: colours.frame,
      dash: [3, 2],
      opacity: faded,
      whole: true,
    });
    shapes.push({
      kind: "text",
      x: x + width / 2,
      y: y + height + 14.5,
      text,
      size: NOTE,
      anchor: "middle",
      fill: colours.note,
      opacity: faded,
      node,
      act: "open",
    });
  }

  tooltip(node) {
    const { tree, schema } = this.state;
    const where = tree
      .path(node)
      .slice(1)
      .slice(-8)
      .map((each) => tree.condition(each));
    const counts = schema.numeric
      ? `${weightText(tree.weight[node])} rows, mean ${rounded(tree.moments(node)[0], 6)}`
      : schema.classes
          .map((name, code) => [name, tree.weightsOf(node)[code]])
          .filter(([, weight]) => weight > 0)
          .slice(0, 12)
          .map(([name, weight]) => `${name} ${weightText(weight)}`)
          .join(", ");
    return `node ${node}: ${where.join(" AND ") || "all rows"}\n${counts || "no rows"}`;
  }

  // Whether boxes are too small to be read.
  isFar(k) {
    return k * BOX < 16;
  }

  // On a canvas: only what is in sight, and of what is tiny only what can be seen.
  paint(context, k, [left, top, right, bottom]) {
    const small = this.isFar(k);
    const places = [];
    const turned = this.state.horizontal;
    const [low, high] = turned ? [top, bottom] : [left, right];
    const [near, far] = turned ? [left, right] : [top, bottom];
    for (let depth = 0; depth < this.levels.length; depth += 1) {
      const along = this.along[depth];
      const size = turned ? 400 : BOX + BAND + LABEL_LINE * LABEL_LINES;
      if (along - size > far || along + 2 * size < near) continue;
      const level = this.levels[depth];
      let at = firstFrom(level, this.across, low - MAX_WIDTH);
      let last = -Infinity;
      for (; at < level.length && this.across[level[at]] < high + MAX_WIDTH; at += 1) {
        const pixel = this.across[level[at]] * k;
        if (small && pixel - last < 0.8 && !this.state.highlighted.has(this.nodes[level[at]])) continue;
        last = pixel;
        places.push(level[at]);
      }
    }
    if (small) this.paintSmall(context, places, k);
    else {
      const shapes = this.shapes(places);
      // Branches from parents out of sight come from above.
      const seen = new Set(places);
      for (const at of places) {
        const node = this.nodes[at];
        const above = node ? this.index.get(this.state.tree.parent[node]) : undefined;
        if (above !== undefined && !seen.has(above)) {
          seen.add(above);
          const branches = [];
          this.drawBranches(above, branches);
          paintCanvas(context, branches);
        }
      }
      paintCanvas(context, shapes, 5 / k);
    }
  }

  paintSmall(context, places, k) {
    const { state } = this;
    const { tree } = state;
    const colours = theme();
    const lines = new Path2D();
    const lit = new Path2D();
    const fills = new Map();
    for (const at of places) {
      const node = this.nodes[at];
      const [x, y, width, height] = this.rectangle(at);
      const above = node ? this.index.get(tree.parent[node]) : undefined;
      if (above !== undefined) {
        const [px, py, pw, ph] = this.rectangle(above);
        const path = state.highlighted.has(node) ? lit : lines;
        if (state.horizontal) {
          path.moveTo(px + pw, py + ph / 2);
          path.lineTo(x, y + height / 2);
        } else {
          path.moveTo(px + pw / 2, py + ph);
          path.lineTo(x + width / 2, y);
        }
      }
      const [hue, strength] = state.colours.node(tree, node);
      const key = `${hue} ${state.matchesFilter(node) ? Math.round(strength * 10) / 10 + 0.35 : 0.1}`;
      if (!fills.has(key)) fills.set(key, new Path2D());
      fills.get(key).rect(x, y, Math.max(width, 1 / k), Math.max(height, 1 / k));
    }
    context.setLineDash([]);
    context.lineWidth = 0.8 / k;
    context.strokeStyle = colours.branch;
    context.stroke(lines);
    context.lineWidth = 3 / k;
    context.strokeStyle = colours.accent;
    context.stroke(lit);
    for (const [key, path] of fills) {
      const [hue, alpha] = key.split(" ");
      context.globalAlpha = Number(alpha);
      context.fillStyle = hue;
      context.fill(path);
    }
    context.globalAlpha = 1;
    const chosen = this.index.get(state.selected);
    if (chosen !== undefined) {
      context.lineWidth = 3 / k;
      context.strokeRect(...this.rectangle(chosen));
    }
  }

  // What is at a point of the picture: a node, and whether it is what opens it.
  hit([x, y]) {
    for (let depth = 0; depth < this.levels.length; depth += 1) {
      const level = this.levels[depth];
      const across = this.state.horizontal ? y : x;
      for (
        let at = firstFrom(level, this.across, across - MAX_WIDTH);
        at < level.length;
        at += 1
      ) {
        if (this.across[level[at]] > across + MAX_WIDTH) break;
        const [left, top, width, height] = this.rectangle(level[at]);
        if (x < left || x > left + width || y < top) continue;
        if (y <= top + height) return { node: this.nodes[level[at]], open: false };
        if (this.stubs[level[at]] && y <= top + height + STUB)
          return { node: this.nodes[level[at]], open: true };
      }
    }
    return null;
  }

  click(event, point) {
    const hit = this.hit(point);
    this.stage.view.focus({ preventScroll: true });
    if (!hit) return;
    this.state.selected = hit.node;
    if (hit.open) this.state.toggle(hit.node);
    this.state.select(hit.node);
  }

  doubleClick(event, point) {
    const hit = this.hit(point);
    if (hit && !hit.open) this.state.toggle(hit.node);
  }

  hover(event, point) {
    const hit = point && this.hit(point);
    this.stage.view.style.cursor = hit ? "pointer" : "";
    const text = hit?.open ? `Expand ${this.stubs[this.index.get(hit.node)]} nodes` : "";
    this.stage.tip.show(event, text || (hit ? this.tooltip(hit.node) : ""));
  }

  // Walk as a tree that lies on its side: down is in, up is out, left and right to siblings.
  key(event) {
    const { state } = this;
    const { tree } = state;
    const node = state.selected;
    const sibling = (step) => {
      const level = this.levels[tree.depth[node]];
      const next = level.indexOf(this.index.get(node)) + step;
      return next >= 0 && next < level.length ? this.nodes[level[next]] : node;
    };
    const steps = {
      in: () => {
        if (state.isLeaf(node)) return node;
        if (state.closed[node]) state.toggle(node);
        return tree.childrenOf(node)[0];
      },
      out: () => (node ? tree.parent[node] : node),
      next: () => sibling(1),
      last: () => sibling(-1),
    };
    const turned = state.horizontal;
    const keys = {
      [turned ? "ArrowRight" : "ArrowDown"]: steps.in,
      [turned ? "ArrowLeft" : "ArrowUp"]: steps.out,
      [turned ? "ArrowDown" : "ArrowRight"]: steps.next,
      [turned ? "ArrowUp" : "ArrowLeft"]: steps.last,
      Home: () => 0,
      End: () => this.nodes.at(-1),
    };
    if (event.key === "Enter" || event.key === " ") {
      state.toggle(node);
      return true;
    }
    if (!keys[event.key]) return false;
    state.select(keys[event.key](), { reveal: true });
    return true;
  }

  // The tree for screen readers: every node that is open, in printing order.
  describe() {
    const { state, stage } = this;
    const { tree } = state;
    const node = state.selected;
    stage.serial ??= Math.random().toString(36).slice(2);
    if (this.outlined !== this.nodes) {
      this.outlined = this.nodes;
      const shown = this.nodes.slice(0, MAX_OUTLINED);
      if (this.nodes.length > MAX_OUTLINED) shown.push(...tree.path(node).filter((each) => !shown.includes(each)));
      replace(stage.outline, shown.map((each) => this.outlineItem(each)));
    }
    const id = `${stage.serial}-${node}`;
    stage.outline.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
    let item = stage.outline.querySelector(`#${CSS.escape(id)}`);
    if (!item) stage.outline.append((item = this.outlineItem(node)));
    item.setAttribute("aria-selected", "true");
    stage.view.setAttribute("aria-activedescendant", id);
  }

  outlineItem(node) {
    const { state, stage } = this;
    const { tree } = state;
    const ends = state.isLeaf(node);
    const result = ends
      ? `predicts ${state.label(node)}`
      : `splits on ${state.schema.attributes[tree.attribute[node]].text}`;
    return element(
      "div",
      {
        id: `${stage.serial}-${node}`,
        role: "treeitem",
        "aria-level": tree.depth[node] + 1,
        "aria-posinset": tree.branch[node] + 1,
        "aria-setsize": node ? tree.branchesOf(tree.parent[node]) : 1,
        "aria-selected": "false",
        "aria-expanded": ends ? null : String(!state.closed[node]),
      },
      `${node ? tree.condition(node) : "all rows"}: ${result}, ${weightText(tree.weight[node])} rows`,
    );
  }
}

// An answer in as many lines as it needs, values whole; the last says what is left out.
function labelLines({ texts, tail }, values) {
  const short = texts
    .slice(0, MAX_LABEL_WORDS)
    .map((text) => shortenedAmong(values, text, LABEL_WIDTH - 6, LABEL));
  const last = short.length - 1;
  const words = [...short.map((text, at) => (at < last ? `${text},` : text)), ...tail].map(
    (word) => shortened(word, LABEL_WIDTH, LABEL),
  );
  const lines = [words[0]];
  let first = 0; // of the words in the last line
  for (let at = 1; at < words.length; at += 1) {
    const longer = `${lines.at(-1)} ${words[at]}`;
    if (textWidth(longer, LABEL) <= LABEL_WIDTH) lines[lines.length - 1] = longer;
    else if (lines.length < LABEL_LINES) {
      lines.push(words[at]);
      first = at;
    } else {
      lines[lines.length - 1] = `… ${texts.length - first} more`;
      break;
    }
  }
  return lines;
}

// Weights with one decimal: rows that missing values have divided.
function roundedCount(weight) {
  return countText(Number(weight.toFixed(1)));
}

function rowsText(weight) {
  return `${roundedCount(weight)} ${weight === 1 ? "row" : "rows"}`;
}

function firstFrom(level, across, from) {
  let [low, high] = [0, level.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (across[level[middle]] < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

function roundedLength(length) {
  return Math.round(length * 10) / 10;
}
