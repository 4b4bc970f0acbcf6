// A small palette of symbols: for those who do not know LaTeX by heart, and for phones.

import { PALETTE } from "./commands.js";
import { element } from "./dom.js";
import { drawingPad } from "./drawing.js";

/**
 * Fills the palette and lets a button show it; `insert(snippet)` puts a symbol at the caret. What comes back closes
 * the palette.
 */
export function startPalette(button, palette, insert) {
  const pad = drawingPad(insert);
  pad.node.hidden = true;
  const draw = element(
    "button",
    {
      type: "button",
      class: "draw",
      "aria-expanded": "false",
      on: {
        click: () => {
          pad.node.hidden = !pad.node.hidden;
          draw.setAttribute("aria-expanded", String(!pad.node.hidden));
          pad.empty();
        },
      },
    },
    "✎ Draw a symbol",
  );
  palette.append(element("div", { role: "group", "aria-label": "Drawing" }, draw), pad.node);
  for (const [group, symbols] of PALETTE) {
    palette.append(
      element(
        "div",
        { role: "group", "aria-label": group },
        ...symbols.map(([shown, snippet, name]) =>
          element(
            "button",
            { type: "button", title: name, "aria-label": name, on: { click: () => insert(snippet) } },
            shown,
          ),
        ),
      ),
    );
  }
  // Pressing a symbol must not take the caret out of the box.
  palette.addEventListener("mousedown", (event) => event.preventDefault());
  const show = (isShown) => {
    palette.hidden = !isShown;
    button.setAttribute("aria-expanded", String(isShown));
  };
  button.addEventListener("click", () => show(palette.hidden));
  return () => show(false);
}
