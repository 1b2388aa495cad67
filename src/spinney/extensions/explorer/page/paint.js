// Scenes: lists of shapes, painted as SVG where they are few, else on a canvas.
//
// A shape is { kind: "rect" | "path" | "circle" | "text", fill, stroke, …, node }. Both
// painters know the same shapes, so a picture is saved as it is seen.

import { svg } from "./dom.js";
import { maximum, minimum } from "./numbers.js";
import { theme } from "./theme.js";

const MAX_COMPARED = 2000; // texts of a list that names are told apart from
const measured = new Map();
let pen = null;

export function fontOf(size, bold) {
  return `${bold ? "600 " : ""}${size}px ${theme().fonts}`;
}

export function textWidth(text, size, bold = false) {
  const key = `${size}${bold ? "b" : ""}${text}`;
  let width = measured.get(key);
  if (width === undefined) {
    pen ??= document.createElement("canvas").getContext("2d");
    pen.font = fontOf(size, bold);
    width = pen.measureText(text).width;
    if (measured.size > 200000) measured.clear();
    measured.set(key, width);
  }
  return width;
}

// A text with its middle left out where it is too long.
export function shortened(text, maxWidth, size, bold = false) {
  if (text.length < 400 && textWidth(text, size, bold) <= maxWidth) return text;
  const characters = Array.from(text.length > 400 ? text.slice(0, 200) + text.slice(-200) : text);
  let [low, high] = [0, characters.length];
  const cut = (length) => {
    const head = Math.ceil(length * 0.6);
    return `${characters.slice(0, head).join("")}…${characters.slice(characters.length - (length - head)).join("")}`;
  };
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (textWidth(cut(middle), size, bold) <= maxWidth) low = middle;
    else high = middle - 1;
  }
  return cut(low);
}

// A text shortened so that it still differs from the other texts of a list.
export function shortenedAmong(texts, text, maxWidth, size, bold = false) {
  const short = shortened(text, maxWidth, size, bold);
  if (short === text || texts.length > MAX_COMPARED) return short;
  const [head, tail] = [short.slice(0, short.indexOf("…")), short.slice(short.lastIndexOf("…") + 1)];
  const similar = texts.filter(
    (other) => other !== text && other.startsWith(head) && other.endsWith(tail),
  );
  if (!similar.length) return short;
  const places = similar.map((other) => firstDifference(text, other));
  const [from, to] = [minimum(places), maximum(places) + 1];
  const word = text.slice(0, from).search(/[^\s_,-]*$/);
  for (let more = 16; more >= 0; more -= 4) {
    const middle = text.slice(Math.max(word, from - 4 - more), to + more);
    for (let first = Math.min(8, word); first > 1; first -= 2) {
      const candidate = `${text.slice(0, first)}…${middle}${to + more < text.length ? "…" : ""}`;
      if (textWidth(candidate, size, bold) <= maxWidth) return candidate;
    }
  }
  return shortened(`${texts.indexOf(text) + 1}: ${text}`, maxWidth, size, bold);
}

function firstDifference(one, other) {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

// Fill a <g> with shapes.
export function paintSvg(group, shapes) {
  const nodes = document.createDocumentFragment();
  for (const shape of shapes) nodes.append(svgShape(shape));
  group.replaceChildren(nodes);
}

const GEOMETRY = {
  rect: ["x", "y", "width", "height"],
  circle: ["cx", "cy", "r"],
  path: ["d"],
  text: ["x", "y"],
};

function svgShape(shape) {
  const properties = { fill: shape.fill ?? "none" };
  for (const name of GEOMETRY[shape.kind]) {
    const value = shape[name];
    properties[name] = typeof value === "number" ? Math.round(value * 100) / 100 : value;
  }
  if (shape.kind === "rect" && shape.round) properties.rx = shape.round;
  if (shape.stroke) {
    properties.stroke = shape.stroke;
    properties["stroke-width"] = shape.thick ?? 1;
    if (shape.dash) properties["stroke-dasharray"] = shape.dash.join(" ");
  }
  if (shape.opacity !== undefined && shape.opacity < 1) {
    properties[shape.kind === "text" || shape.whole ? "opacity" : "fill-opacity"] =
      Math.round(shape.opacity * 100) / 100;
  }
  if (shape.node !== undefined) properties["data-node"] = shape.node;
  if (shape.act) properties["data-act"] = shape.act;
  if (shape.kind === "text") {
    properties["font-size"] = shape.size;
    if (shape.bold) properties["font-weight"] = "600";
    if (shape.anchor) properties["text-anchor"] = shape.anchor;
  }
  const drawn = svg(shape.kind, properties);
  if (shape.kind === "text") drawn.textContent = shape.text;
  if (shape.title) drawn.append(svg("title", {}, shape.title));
  return drawn;
}

export function paintCanvas(context, shapes, textFrom = 0) {
  for (const shape of shapes) canvasShape(context, shape, textFrom);
}

function canvasShape(context, shape, textFrom) {
  if (shape.kind === "text") {
    if (shape.size < textFrom) return;
    context.globalAlpha = shape.opacity ?? 1;
    context.font = fontOf(shape.size, shape.bold);
    context.textAlign = { middle: "center", end: "right" }[shape.anchor] ?? "left";
    context.fillStyle = shape.fill;
    context.fillText(shape.text, shape.x, shape.y);
    context.globalAlpha = 1;
    return;
  }
  let path;
  if (shape.kind === "path") path = shape.path2d ??= new Path2D(shape.d);
  const alpha = shape.opacity ?? 1;
  if (shape.fill) {
    context.globalAlpha = alpha;
    context.fillStyle = shape.fill;
    if (path) context.fill(path);
    else if (shape.kind === "rect" && !shape.round) {
      context.fillRect(shape.x, shape.y, shape.width, shape.height);
    } else {
      outline(context, shape);
      context.fill();
    }
  }
  if (shape.stroke) {
    context.globalAlpha = shape.whole ? alpha : 1;
    context.strokeStyle = shape.stroke;
    context.lineWidth = shape.thick ?? 1;
    context.setLineDash(shape.dash ?? []);
    if (path) context.stroke(path);
    else {
      outline(context, shape);
      context.stroke();
    }
  }
  context.globalAlpha = 1;
}

function outline(context, shape) {
  context.beginPath();
  if (shape.kind === "circle") context.arc(shape.cx, shape.cy, shape.r, 0, 2 * Math.PI);
  else context.roundRect(shape.x, shape.y, shape.width, shape.height, shape.round ?? 0);
}

const SAVED_MARGIN = 16; // around a picture that is saved

// A picture by itself, as it is saved.
export function svgDocument(shapes, inside, high) {
  const [width, height] = [inside + 2 * SAVED_MARGIN, high + 2 * SAVED_MARGIN];
  const group = svg("g", { transform: `translate(${SAVED_MARGIN} ${SAVED_MARGIN})` });
  paintSvg(group, shapes);
  const whole = svg(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width: Math.ceil(width),
      height: Math.ceil(height),
      viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`,
      "font-family": theme().fonts,
    },
    svg("rect", { width: "100%", height: "100%", fill: theme().page }),
    group,
  );
  return new XMLSerializer().serializeToString(whole);
}

export function pngOf(shapes, inside, high) {
  const [width, height] = [inside + 2 * SAVED_MARGIN, high + 2 * SAVED_MARGIN];
  const largest = 8000;
  const scale = Math.min(2, largest / width, largest / height);
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(width * scale);
  canvas.height = Math.ceil(height * scale);
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.fillStyle = theme().page;
  context.fillRect(0, 0, width, height);
  context.translate(SAVED_MARGIN, SAVED_MARGIN);
  paintCanvas(context, shapes);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}
