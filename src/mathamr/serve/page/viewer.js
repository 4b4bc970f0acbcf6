// A drawing that can be moved and zoomed with mouse, fingers and keyboard.

import { element, icon } from "./dom.js";
import { drawingNode } from "./markup.js";

const CLOSEST = 6;
const STEP = 1.25;
const PAN = 60;
/** Below this scale its text cannot be read: a large drawing opens at its beginning, not as a whole. */
const READABLE = 0.7;

/** One SVG drawing in a frame; `classes` are given to the frame, `label` says what is drawn. */
export class Viewer {
  constructor(markup, label, classes = "") {
    const drawing = drawingNode(markup);
    if (!drawing) throw new TypeError("the server sent no drawing");
    const [, , width, height] = (drawing.getAttribute("viewBox") ?? "0 0 300 150")
      .split(/[\s,]+/)
      .map(Number);
    Object.assign(this, { drawing, width, height, scale: 1, x: 0, y: 0, fingers: new Map() });
    drawing.removeAttribute("width");
    drawing.removeAttribute("height");
    drawing.setAttribute("preserveAspectRatio", "xMinYMin meet");
    this.frame = element(
      "div",
      { class: `frame ${classes}`, tabindex: "0", role: "group", "aria-label": label },
      drawing,
    );
    this.node = element(
      "div",
      { class: "viewer" },
      this.frame,
      element(
        "div",
        { class: "zoom" },
        this.button("plus", "Zoom in", () => this.zoom(STEP)),
        this.button("minus", "Zoom out", () => this.zoom(1 / STEP)),
        this.button("fit", "Show all", () => this.fit(0)),
      ),
    );
    this.listen();
    this.watcher = new ResizeObserver(() => this.resized());
    this.watcher.observe(this.frame);
  }

  button(name, label, act) {
    return element(
      "button",
      { type: "button", class: "round", "aria-label": label, title: label, on: { click: act } },
      icon(name),
    );
  }

  resized() {
    if (this.frame.clientWidth === 0) return;
    if (this.isPlaced) this.draw();
    else this.fit(READABLE);
    this.isPlaced = true;
  }

  /** Shows the whole drawing, but not smaller than `least`. */
  fit(least) {
    const whole = Math.min(this.frame.clientWidth / this.width, this.frame.clientHeight / this.height);
    this.scale = Math.max(least, Math.min(whole, 1.5));
    this.x = Math.min(0, (this.width - this.frame.clientWidth / this.scale) / 2);
    this.y = Math.min(0, (this.height - this.frame.clientHeight / this.scale) / 2);
    this.draw();
  }

  zoom(factor, left = this.frame.clientWidth / 2, top = this.frame.clientHeight / 2) {
    const whole = Math.min(this.frame.clientWidth / this.width, this.frame.clientHeight / this.height);
    const next = Math.max(Math.min(whole, READABLE) / 2, Math.min(this.scale * factor, CLOSEST));
    this.x += left / this.scale - left / next;
    this.y += top / this.scale - top / next;
    this.scale = next;
    this.draw();
  }

  pan(right, down) {
    this.x += right / this.scale;
    this.y += down / this.scale;
    this.draw();
  }

  /** Some of the drawing always stays in the frame. */
  draw() {
    const shownWidth = this.frame.clientWidth / this.scale;
    const shownHeight = this.frame.clientHeight / this.scale;
    const within = (value, shown, size) => Math.max(-shown * 0.8, Math.min(value, size - shown * 0.2));
    this.x = within(this.x, shownWidth, this.width);
    this.y = within(this.y, shownHeight, this.height);
    this.drawing.setAttribute("viewBox", `${this.x} ${this.y} ${shownWidth} ${shownHeight}`);
  }

  listen() {
    const { frame, fingers } = this;
    frame.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      frame.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, event);
    });
    frame.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      if (fingers.size === 1) this.pan(before.clientX - event.clientX, before.clientY - event.clientY);
      else this.pinch(before, event);
      fingers.set(event.pointerId, event);
    });
    const lift = (event) => fingers.delete(event.pointerId);
    frame.addEventListener("pointerup", lift);
    frame.addEventListener("pointercancel", lift);
    frame.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    frame.addEventListener("keydown", (event) => this.key(event));
    frame.addEventListener("dblclick", (event) => this.zoom(STEP * STEP, event.offsetX, event.offsetY));
  }

  pinch(before, now) {
    const other = [...this.fingers.values()].find((each) => each.pointerId !== now.pointerId);
    const apart = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
    const { left, top } = this.frame.getBoundingClientRect();
    const middle = [(now.clientX + other.clientX) / 2 - left, (now.clientY + other.clientY) / 2 - top];
    if (apart(before) > 0) this.zoom(apart(now) / apart(before), ...middle);
  }

  /** The wheel moves the drawing, with Ctrl it zooms; where there is no more to see, the page moves on. */
  wheel(event) {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const { left, top } = this.frame.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY / 240), event.clientX - left, event.clientY - top);
      return;
    }
    const bottom = this.y + this.frame.clientHeight / this.scale;
    const moves =
      Math.abs(event.deltaX) > Math.abs(event.deltaY) ||
      (event.deltaY > 0 ? bottom < this.height : this.y > 0);
    if (!moves) return;
    event.preventDefault();
    this.pan(event.deltaX, event.deltaY);
  }

  key(event) {
    const moves = { ArrowLeft: [-PAN, 0], ArrowRight: [PAN, 0], ArrowUp: [0, -PAN], ArrowDown: [0, PAN] };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (moves[event.key]) this.pan(...moves[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(STEP);
    else if (event.key === "-") this.zoom(1 / STEP);
    else if (event.key === "0") this.fit(0);
    else return;
    event.preventDefault();
  }
}
