// A stage for a picture: it is moved, zoomed and fitted, and drawn as SVG or on a canvas.

import { button, element, replace, svg, Tip } from "./dom.js";
import { theme } from "./theme.js";

const [MIN_ZOOM, MAX_ZOOM] = [0.004, 3];
const MARGIN = 24;
const TOOLBAR_HEIGHT = 46; // the space of the buttons at the bottom

export class Stage {
  // `picture` draws: see TreeView. It says its size and what is where.
  constructor(host, picture, label) {
    this.picture = picture;
    this.at = { x: 0, y: 0, k: 1 };
    this.sheet = null;
    this.moving = false;
    this.group = svg("g");
    this.svg = svg("svg", { class: "drawing", "aria-hidden": "true" }, this.group);
    this.canvas = element("canvas", { class: "drawing", "aria-hidden": "true" });
    this.context = this.canvas.getContext("2d");
    this.outline = element("div", { class: "outline" });
    this.view = element(
      "div",
      {
        class: "stage",
        tabindex: "0",
        role: "tree",
        "aria-label": label,
        "aria-orientation": "horizontal",
      },
      this.svg,
      this.canvas,
      this.outline,
    );
    this.tools = element(
      "div",
      { class: "tools", role: "group", "aria-label": "Zoom" },
      button("+", () => this.zoom(1.3), { title: "Zoom in", "aria-label": "Zoom in" }),
      button("−", () => this.zoom(1 / 1.3), { title: "Zoom out", "aria-label": "Zoom out" }),
      button("Fit", () => this.fit(), { title: "Show all that is open" }),
    );
    this.tip = new Tip();
    replace(host, this.view, this.tools, this.tip.box);
    this.listen();
    this.watch = new ResizeObserver(() => this.resized());
    this.watch.observe(this.view);
  }

  destroy() {
    this.watch.disconnect();
  }

  get size() {
    return [this.view.clientWidth || 600, this.view.clientHeight || 400];
  }

  resized() {
    const [width, height] = this.size;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.picture.resized?.();
    this.place();
  }

  // Show the picture as it is now; `shapes` where it is SVG, null where it is a canvas.
  show(isCanvas) {
    this.isCanvas = isCanvas;
    this.svg.style.display = isCanvas ? "none" : "";
    this.canvas.style.display = isCanvas ? "" : "none";
    this.place();
  }

  // On paper the whole picture is seen, whatever the screen shows of it.
  paper(on) {
    const { width, height } = this.picture;
    if (on) {
      this.svg.setAttribute("viewBox", `-8 -8 ${width + 16} ${height + 16}`);
      this.group.removeAttribute("transform");
    } else {
      this.svg.removeAttribute("viewBox");
      this.placeNow();
    }
  }

  // Drawn once for each frame, however often it is moved between two.
  place() {
    this.sheet = null;
    this.placeSoon();
  }

  placeSoon() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.placeNow();
    });
  }

  placeNow() {
    const { x, y, k } = this.at;
    if (!this.isCanvas) {
      this.group.setAttribute("transform", `translate(${x} ${y}) scale(${k})`);
      return;
    }
    const { canvas, context } = this;
    if (this.moving && this.picture.isFar?.(k)) {
      const ratio = window.devicePixelRatio || 1;
      if (!this.covers()) this.makeSheet();
      const { sheet } = this;
      const [left, top] = [(sheet.x - x) * ratio, (sheet.y - y) * ratio];
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.drawImage(sheet.canvas, -left - sheet.across, -top - sheet.along);
    } else this.paintAt(context, canvas.width, canvas.height, [x, y]);
  }

  // Paint what is seen where the picture begins at a point of the canvas.
  paintAt(context, wide, tall, [x, y]) {
    const { k } = this.at;
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = theme().page;
    context.fillRect(0, 0, wide, tall);
    context.setTransform(k * ratio, 0, 0, k * ratio, x * ratio, y * ratio);
    const [right, bottom] = [wide / ratio - x, tall / ratio - y];
    this.picture.paint(context, k, [-x / k, -y / k, right / k, bottom / k]);
  }

  // A picture of very many nodes is painted once, half a screen beyond each edge, and
  // that sheet is what a hand moves.
  makeSheet() {
    const { width, height } = this.canvas;
    const ratio = window.devicePixelRatio || 1;
    const [across, along] = [Math.round(width / 2), Math.round(height / 2)];
    const canvas = element("canvas");
    [canvas.width, canvas.height] = [width + 2 * across, height + 2 * along];
    const { x, y } = this.at;
    const corner = [x + across / ratio, y + along / ratio];
    this.paintAt(canvas.getContext("2d"), canvas.width, canvas.height, corner);
    this.sheet = { canvas, x, y, across, along };
  }

  // Whether all that is seen is on the sheet.
  covers() {
    const { sheet, at } = this;
    const ratio = window.devicePixelRatio || 1;
    return (
      sheet !== null &&
      Math.abs(at.x - sheet.x) * ratio <= sheet.across &&
      Math.abs(at.y - sheet.y) * ratio <= sheet.along
    );
  }

  // At which scale the whole picture is seen.
  get fitting() {
    const [width, height] = this.size;
    const { width: wide, height: tall } = this.picture;
    return Math.min((width - 2 * MARGIN) / wide, (height - MARGIN / 2 - TOOLBAR_HEIGHT) / tall, 1.25);
  }

  fit() {
    const [width, height] = this.size;
    const { width: wide, height: tall } = this.picture;
    const space = height - MARGIN / 2 - TOOLBAR_HEIGHT;
    const k = this.fitting;
    this.at.k = Math.min(Math.max(k, MIN_ZOOM), MAX_ZOOM);
    this.at.x = (width - wide * this.at.k) / 2;
    this.at.y = Math.max(MARGIN / 2, Math.min((space - tall * this.at.k) / 2, 3 * MARGIN));
    this.place();
    return k;
  }

  zoom(factor, point = this.size.map((side) => side / 2)) {
    const k = Math.min(Math.max(this.at.k * factor, MIN_ZOOM), MAX_ZOOM);
    const scale = k / this.at.k;
    this.at.x = point[0] - (point[0] - this.at.x) * scale;
    this.at.y = point[1] - (point[1] - this.at.y) * scale;
    this.at.k = k;
    this.place();
  }

  move(across, along) {
    this.at.x += across;
    this.at.y += along;
    if (this.moving) this.placeSoon();
    else this.place();
  }

  // Move as little as it takes to have a rectangle of the picture in sight.
  scrollTo([left, top, right, bottom]) {
    const [width, height] = this.size;
    if (this.at.k < 0.3) {
      this.at.k = 0.8;
      this.at.x = width / 2 - ((left + right) / 2) * this.at.k;
    }
    const shift = (low, high, space) => {
      if (low < MARGIN) return MARGIN - low;
      return high > space - MARGIN ? Math.max(space - MARGIN - high, MARGIN - low) : 0;
    };
    const { k } = this.at;
    this.at.x += shift(left * k + this.at.x, right * k + this.at.x, width);
    this.at.y += shift(top * k + this.at.y, bottom * k + this.at.y, height - TOOLBAR_HEIGHT);
    this.place();
  }

  // Where in the picture a point of the screen is.
  pictureAt(event) {
    const box = this.view.getBoundingClientRect();
    const { x, y, k } = this.at;
    return [(event.clientX - box.left - x) / k, (event.clientY - box.top - y) / k];
  }

  listen() {
    const { view } = this;
    const framed = window.self !== window.top;
    let grip = null;
    view.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      grip = { x: event.clientX, y: event.clientY, moved: false, id: event.pointerId };
    });
    view.addEventListener("pointermove", (event) => {
      if (!grip) {
        this.picture.hover?.(event, this.pictureAt(event));
        return;
      }
      const [across, along] = [event.clientX - grip.x, event.clientY - grip.y];
      if (!grip.moved && Math.hypot(across, along) < 4) return;
      if (!grip.moved) {
        view.setPointerCapture(grip.id);
        this.tip.show(event, "");
      }
      grip.moved = true;
      this.moving = true;
      view.classList.add("moving");
      this.move(across, along);
      [grip.x, grip.y] = [event.clientX, event.clientY];
    });
    const release = (event) => {
      if (grip && !grip.moved && event.type === "pointerup")
        this.picture.click(event, this.pictureAt(event));
      grip = null;
      if (this.moving) {
        this.moving = false;
        this.place();
      }
      view.classList.remove("moving");
    };
    view.addEventListener("pointerup", release);
    view.addEventListener("pointercancel", release);
    view.addEventListener("dblclick", (event) =>
      this.picture.doubleClick?.(event, this.pictureAt(event)),
    );
    view.addEventListener("pointerleave", (event) => this.picture.hover?.(event, null));
    view.addEventListener(
      "wheel",
      (event) => {
        // In a notebook the wheel is the notebook's, unless a key says otherwise.
        if (framed && !event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        const box = view.getBoundingClientRect();
        const step = event.deltaMode === 1 ? 20 * event.deltaY : event.deltaY;
        const point = [event.clientX - box.left, event.clientY - box.top];
        this.zoom(Math.exp(-Math.min(Math.max(step, -200), 200) / 400), point);
      },
      { passive: false },
    );
    view.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const zooms = { "+": 1.3, "=": 1.3, "-": 1 / 1.3 };
      if (event.key in zooms) this.zoom(zooms[event.key]);
      else if (event.key === "0") this.fit();
      else if (!this.picture.key?.(event)) return;
      event.preventDefault();
    });
  }
}
