// Draw a symbol: strokes of a pen, finger or mouse, and the symbols that they may be.

import * as api from "./api.js";
import { element } from "./dom.js";

const SIZE = 200;
const SHOWN = 5;
const MOST_STROKES = 40;
const MOST_POINTS = 90; // of one stroke: a longer one is thinned out

/** A pad with what was recognised beside it; `insert(latex)` puts a symbol into the question. */
export function drawingPad(insert) {
  const canvas = element("canvas", {
    class: "pad",
    width: 2 * SIZE,
    height: 2 * SIZE,
    role: "img",
    "aria-label": "Draw a symbol here",
  });
  const offered = element("div", { class: "offered", role: "group", "aria-label": "Symbols like the drawing", "aria-live": "polite" });
  const hint = element("p", { class: "faint" }, "Draw a symbol with the mouse or a finger.");
  const clear = element("button", { type: "button", class: "clear" }, "Clear");
  const node = element("div", { class: "drawing" }, canvas, element("div", { class: "beside" }, hint, offered, clear));
  let strokes = [];
  let stroke = null;
  let asked = null;

  const empty = () => {
    asked?.abort();
    strokes = [];
    stroke = null;
    offered.replaceChildren();
    hint.textContent = "Draw a symbol with the mouse or a finger.";
    paint();
  };

  const paint = () => {
    const pen = canvas.getContext("2d");
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.strokeStyle = getComputedStyle(canvas).color;
    pen.lineWidth = 7;
    pen.lineCap = pen.lineJoin = "round";
    for (const points of stroke ? [...strokes, stroke] : strokes) {
      pen.beginPath();
      pen.moveTo(2 * points[0][0], 2 * points[0][1]);
      for (const [x, y] of points.length > 1 ? points : [points[0]]) pen.lineTo(2 * x, 2 * y);
      pen.stroke();
    }
  };

  const ask = async () => {
    asked?.abort();
    const { signal } = (asked = new AbortController());
    try {
      const { symbols } = await api.symbols(strokes, SHOWN, signal);
      if (signal.aborted) return;
      hint.textContent = "";
      offered.replaceChildren(...symbols.map((symbol) => choice(symbol)));
    } catch (error) {
      if (error.name !== "AbortError") hint.textContent = error.message;
    }
  };

  const choice = ({ character, latex, name }) =>
    element(
      "button",
      {
        type: "button",
        title: name,
        on: {
          click: () => {
            insert(`${latex}${/[A-Za-z]$/.test(latex) ? " " : ""}`);
            empty();
          },
        },
      },
      element("span", { class: "symbol" }, character),
      element("code", {}, latex),
    );

  const place = (event) => {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    return [
      Math.round((10 * SIZE * (event.clientX - left)) / width) / 10,
      Math.round((10 * SIZE * (event.clientY - top)) / height) / 10,
    ];
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || strokes.length === MOST_STROKES) return;
    event.preventDefault();
    asked?.abort();
    canvas.setPointerCapture(event.pointerId);
    stroke = [place(event)];
    paint();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!stroke) return;
    stroke.push(place(event));
    paint();
  });
  const lift = () => {
    if (!stroke) return;
    strokes.push(thinned(stroke));
    stroke = null;
    paint();
    ask();
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  clear.addEventListener("click", empty);
  return { node, empty };
}

/** A stroke with as many points as are needed; its ends stay. */
function thinned(points) {
  if (points.length <= MOST_POINTS) return points;
  const step = (points.length - 1) / (MOST_POINTS - 1);
  return Array.from({ length: MOST_POINTS }, (_, index) => points[Math.round(index * step)]);
}
