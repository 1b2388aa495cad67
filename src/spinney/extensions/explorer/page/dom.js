// Functions that make elements; text is only ever text.

const SVG = "http://www.w3.org/2000/svg";

// element("button", { class: "quiet", type: "button", onclick }, "text", child …)
export function element(name, properties = {}, ...content) {
  return withContent(document.createElement(name), properties, content);
}

export function svg(name, properties = {}, ...content) {
  return withContent(document.createElementNS(SVG, name), properties, content);
}

export function svgLine([x1, y1], [x2, y2], stroke, more = {}) {
  return svg("line", { x1, y1, x2, y2, stroke, ...more });
}

export function svgText([x, y], words, fill, anchor = "middle", size = 11) {
  return svg("text", { x, y, "text-anchor": anchor, "font-size": size, fill }, words);
}

function withContent(node, properties, content) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "selected") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  append(node, content);
  return node;
}

export function append(parent, content) {
  for (const part of content.flat(Infinity)) {
    if (part === null || part === undefined || part === false) continue;
    parent.append(part instanceof Node ? part : document.createTextNode(String(part)));
  }
  return parent;
}

export function replace(parent, ...content) {
  parent.textContent = "";
  return append(parent, content);
}

export function quiet(...content) {
  return element("p", { class: "quiet" }, content);
}

// A table: the names of its columns, if it tells them, above its lines. A column without
// a name is null; one with more than a name is its cell.
export function table(kind, names, lines) {
  const heads = names.map((name) => {
    if (!name) return name === null && plainCell();
    return name instanceof Node ? name : element("th", { scope: "col" }, name);
  });
  return element(
    "table",
    { class: kind },
    names.length > 0 && element("thead", {}, tableRow(heads)),
    element("tbody", {}, lines),
  );
}

export function tableRow(...cells) {
  return element("tr", {}, cells);
}

// What a line of a table is about.
export function rowHead(...content) {
  return element("th", { scope: "row" }, content);
}

export function plainCell(...content) {
  return element("td", {}, content);
}

export function wideCell(...content) {
  return element("td", { class: "wide" }, content);
}

export function numberCell(content, title = null) {
  return element("td", { class: "number", title }, content);
}

// A part of the page with a scroll bar of its own.
export function scrolling(kind, label, ...content) {
  const properties = { tabindex: "0", role: "region", "aria-label": label };
  return element("div", { class: kind, ...properties }, content);
}

export function button(text, onclick, properties = {}) {
  return element("button", { type: "button", onclick, ...properties }, text);
}

// A list of values with their texts, of which one is chosen.
export function chooser(options, value, onchoose, properties = {}) {
  const control = element(
    "select",
    { ...properties, oninput: () => onchoose(control.value) },
    options.map(([each, text]) => element("option", { value: String(each) }, text)),
  );
  control.value = String(value);
  return control;
}

// Buttons of which one is pressed.
export function tabs(names, pressed, onchoose, label) {
  const list = element("div", { class: "tabs", role: "tablist", "aria-label": label });
  for (const [key, text] of names) {
    const chosen = key === pressed;
    list.append(
      element(
        "button",
        {
          type: "button",
          role: "tab",
          "aria-selected": String(chosen),
          tabindex: chosen ? "0" : "-1",
          "data-key": key,
          onclick: () => onchoose(key),
        },
        text,
      ),
    );
  }
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const keys = names.map(([key]) => key);
    const next =
      keys[(keys.indexOf(event.target.dataset.key) + step + keys.length) % keys.length];
    event.preventDefault();
    onchoose(next);
    list.parentNode?.querySelector(`[data-key="${next}"]`)?.focus();
  });
  return list;
}

// A bar of shares from 0 to 1, in colours.
export function shareBar(shares, colours) {
  const bar = element("span", { class: "bar", "aria-hidden": "true" });
  shares.forEach((share, at) => {
    if (!(share > 0)) return;
    const part = element("span");
    part.style.flexGrow = String(share);
    part.style.background = colours[at];
    bar.append(part);
  });
  return bar;
}

export function meter(share, colour) {
  const inside = element("span");
  inside.style.width = `${100 * Math.min(Math.max(share, 0), 1)}%`;
  if (colour) inside.style.background = colour;
  return element("span", { class: "meter", "aria-hidden": "true" }, inside);
}

// A text for the clipboard; where a browser has none, for the hand.
export async function copyText(text, notice) {
  try {
    await navigator.clipboard.writeText(text);
    notice("Copied.");
    return;
  } catch {
    // Pages from a disk, and frames, may not write there.
  }
  const area = element("textarea", { class: "aside", readonly: true, "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  notice(done ? "Copied." : "This browser does not allow copying: select the text instead.");
}

export function saveFile(name, content, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// A text beside the pointer, shown at once.
export class Tip {
  constructor() {
    this.box = element("div", { class: "tip", "aria-hidden": "true", hidden: true });
  }

  show(event, text) {
    const { box } = this;
    box.hidden = !text;
    if (!text) return;
    if (box.textContent !== text) box.textContent = text;
    const host = box.parentNode.getBoundingClientRect();
    const [x, y] = [event.clientX - host.left, event.clientY - host.top];
    const left = x + 14 + box.offsetWidth > host.width ? x - 14 - box.offsetWidth : x + 14;
    const top = y + 18 + box.offsetHeight > host.height ? y - 10 - box.offsetHeight : y + 18;
    box.style.left = `${Math.max(left, 4)}px`;
    box.style.top = `${Math.max(top, 4)}px`;
  }
}

// A name that may be broken after its underscores, dots and slashes.
export function breakable(text) {
  const parts = text.split(/(?<=[_./])(?=[^_./])/);
  return parts.flatMap((part, at) => (at ? [element("wbr"), part] : [part]));
}
