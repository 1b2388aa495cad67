// Nodes by the rows that they have: an icicle, and the same round a point.

import { countText, percent } from "./numbers.js";
import { FlatView } from "./flat_view.js";
import { shortened, shortenedAmong } from "./paint.js";
import { theme } from "./theme.js";

const MIN_PIXELS = 0.35; // pixels: what is narrower cannot be seen
const ROOT_SIZE = 34; // the root's line, and the radius of the middle

// For each node that is wide enough where it begins and ends, from 0 to 1, below `root`.
function partition(state, root, pixels) {
  const { tree } = state;
  const total = tree.weight[root] || 1;
  const begin = new Map([[root, 0]]);
  const parts = [];
  for (let node = root; node < tree.end[root];) {
    const from = begin.get(node);
    const size = tree.weight[node] / total;
    if (from === undefined || size * pixels < MIN_PIXELS) {
      node = tree.end[node];
      continue;
    }
    parts.push({ node, from, to: from + size, depth: tree.depth[node] - tree.depth[root] });
    if (state.isLeaf(node)) {
      node = tree.end[node];
      continue;
    }
    let at = from;
    for (const child of tree.childrenOf(node)) {
      begin.set(child, at);
      at += tree.weight[child] / total;
    }
    node += 1;
  }
  return parts;
}

function deepest(parts) {
  return parts.reduce((most, { depth }) => Math.max(most, depth), 0);
}

function nodeStyle(state, node) {
  const [hue, strength] = state.colours.node(state.tree, node);
  const faded = state.matchesFilter(node) ? 1 : 0.2;
  return { hue, strength: Math.min(strength * 1.6, 0.62) * faded, faded };
}

function nodeOutline(state, node) {
  const colours = theme();
  const lit = state.highlighted.has(node);
  if (node === state.selected) return { stroke: colours.accent, thick: 3 };
  return lit ? { stroke: colours.accent, thick: 1.5 } : { stroke: colours.page, thick: 1 };
}

function nodeText(state, node) {
  return state.isLeaf(node)
    ? state.label(node)
    : state.schema.attributes[state.tree.attribute[node]].text;
}

// The names among which that of a node must be told apart.
function namesBeside(state, node) {
  const { classes, attributes } = state.schema;
  return state.isLeaf(node) ? classes : attributes.map(({ text }) => text);
}

// Lines of text in the middle of a cell: the branch that leads to it, its split or
// prediction, its rows; as many as there is room for.
function cellLines(state, node, [wide, high], withRows = true) {
  const name = nodeText(state, node);
  const bold = !state.isLeaf(node);
  const title = shortenedAmong(namesBeside(state, node), name, wide, 12, bold);
  const lines = title === name || title.length > 6 ? [{ text: title, size: 12, bold }] : [];
  const quiet = (text) => ({ text: shortened(text, wide, 11), size: 11, quiet: true });
  if (node && high > 32) {
    const whole = state.tree.branchLabel(node);
    const branch = quiet(whole);
    if (branch.text === whole || branch.text.length > 8) lines.unshift(branch);
  }
  if (withRows && high > 48 && wide > 60)
    lines.push(quiet(`${countText(state.tree.weight[node])} · ${percent(state.share(node))}`));
  return lines;
}

function textShapes(lines, [x, y], { node, opacity }) {
  const colours = theme();
  return lines.map(({ text, size, bold, quiet }, at) => ({
    kind: "text",
    x,
    y: y + 4 + 15 * (at - (lines.length - 1) / 2),
    text,
    size,
    bold,
    anchor: "middle",
    fill: quiet ? colours.note : colours.text,
    opacity,
    node,
  }));
}

// Above the selected node nothing is lost: a second click goes up again.
class PartitionView extends FlatView {
  get root() {
    return this.top ?? 0;
  }

  choose(node) {
    if (node === null) return;
    if (node === this.state.selected) {
      this.top =
        node === this.root
          ? node
            ? this.state.tree.parent[node]
            : 0
          : this.state.isLeaf(node)
            ? this.root
            : node;
    }
    this.state.select(node);
  }

  update(changed) {
    const { tree, selected } = this.state;
    if (changed.has("reveal") && !(selected >= this.root && selected < tree.end[this.root]))
      this.top = 0;
    this.draw();
  }
}

export class IcicleView extends PartitionView {
  constructor(host, state) {
    super(host, state, "Icicle: the width of a node is its number of rows");
  }

  shapes(width, height) {
    const { state } = this;
    const parts = partition(state, this.root, width - 2);
    const levels = deepest(parts) + 1;
    const tall = Math.min(Math.max((height - 4) / levels, 12), 84);
    const usable = width - 2;
    this.parts = parts.map((part) => ({
      ...part,
      x: 1 + part.from * usable,
      y: 2 + part.depth * tall,
      width: (part.to - part.from) * usable,
      height: tall,
    }));
    const shapes = [];
    for (const { node, x, y, width: wide, height: high } of this.parts) {
      if (y > height) continue;
      const { hue, strength, faded } = nodeStyle(state, node);
      const box = { kind: "rect", x, y, width: wide, height: high, node };
      shapes.push({ ...box, fill: hue, opacity: strength, ...visibleOutline(state, node, wide) });
      if (wide < 34) continue;
      if (high < 15) continue;
      const lines = cellLines(state, node, [wide - 10, high]);
      const place = { node, opacity: Math.max(faded, 0.35) };
      shapes.push(...textShapes(lines, [x + wide / 2, y + high / 2], place));
    }
    return selectedLast(shapes, state);
  }

  hit(x, y) {
    const hit = this.parts.find(
      (part) =>
        x >= part.x && x <= part.x + part.width && y >= part.y && y <= part.y + part.height,
    );
    return hit ? hit.node : null;
  }
}

export class SunburstView extends PartitionView {
  constructor(host, state) {
    super(host, state, "Sunburst: the arc of a node is its number of rows");
  }

  shapes(width, height) {
    const { state } = this;
    const radius = Math.max(Math.min(width, height) / 2 - 8, 40);
    const parts = partition(state, this.root, 2 * Math.PI * radius);
    const levels = deepest(parts);
    const ring = levels ? Math.min((radius - ROOT_SIZE) / levels, 70) : 0;
    const middle = [width / 2, height / 2];
    this.geometry = { middle, ring };
    this.parts = parts;
    const shapes = [];
    for (const { node, from, to, depth } of parts) {
      const { hue, strength, faded } = nodeStyle(state, node);
      const line = visibleOutline(state, node, (to - from) * 2 * Math.PI * radius);
      if (!depth) {
        shapes.push({
          kind: "circle",
          cx: middle[0],
          cy: middle[1],
          r: ROOT_SIZE - 2,
          fill: hue,
          opacity: strength,
          node,
          ...line,
        });
        const lines = cellLines(state, node, [2 * ROOT_SIZE - 8, ROOT_SIZE]);
        shapes.push(...textShapes(lines, middle, { node, opacity: 1 }));
        continue;
      }
      const inner = ROOT_SIZE + (depth - 1) * ring;
      shapes.push({
        kind: "path",
        d: arc(middle, inner, inner + ring - 1, from, to),
        fill: hue,
        opacity: strength,
        node,
        ...line,
      });
      const angle = 2 * Math.PI * ((from + to) / 2) - Math.PI / 2;
      const centre = inner + ring / 2;
      // A level line of text has the ring's width across it, and the chord's along it.
      const chord = 2 * centre * Math.sin(Math.min(Math.PI * (to - from), Math.PI / 2));
      const maxWidth = Math.min(
        (ring - 4) / Math.abs(Math.cos(angle)),
        (chord - 4) / Math.abs(Math.sin(angle)),
        2.2 * ring,
      );
      if (maxWidth < 24 || ring < 15 || chord < 15) continue;
      const lines = cellLines(state, node, [maxWidth, Math.min(ring, chord)], false);
      const at = [middle[0] + centre * Math.cos(angle), middle[1] + centre * Math.sin(angle)];
      shapes.push(...textShapes(lines, at, { node, opacity: Math.max(faded, 0.35) }));
    }
    return selectedLast(shapes, state);
  }

  hit(x, y) {
    const { middle, ring } = this.geometry;
    const [across, along] = [x - middle[0], y - middle[1]];
    const far = Math.hypot(across, along);
    if (far < ROOT_SIZE) return this.root;
    const depth = Math.floor((far - ROOT_SIZE) / (ring || 1)) + 1;
    const share = ((Math.atan2(along, across) + Math.PI / 2 + 2 * Math.PI) / (2 * Math.PI)) % 1;
    const hit = this.parts.find(
      (part) => part.depth === depth && share >= part.from && share < part.to,
    );
    return hit ? hit.node : null;
  }
}

function visibleOutline(state, node, maxWidth) {
  const line = nodeOutline(state, node);
  return line.thick > 1 || maxWidth > 3 ? line : {};
}

// The selected node last, so that its frame is whole.
function selectedLast(shapes, state) {
  const chosen = shapes.filter(({ node }) => node === state.selected);
  return [...shapes.filter(({ node }) => node !== state.selected), ...chosen];
}

function arc([x, y], inner, outer, from, to) {
  const whole = to - from > 0.99999;
  const end = whole ? from + 0.99999 : to;
  const point = (radius, share) => {
    const angle = 2 * Math.PI * share - Math.PI / 2;
    return `${(x + radius * Math.cos(angle)).toFixed(2)} ${(y + radius * Math.sin(angle)).toFixed(2)}`;
  };
  const large = end - from > 0.5 ? 1 : 0;
  return (
    `M${point(outer, from)}A${outer} ${outer} 0 ${large} 1 ${point(outer, end)}` +
    `L${point(inner, end)}A${inner} ${inner} 0 ${large} 0 ${point(inner, from)}Z`
  );
}
