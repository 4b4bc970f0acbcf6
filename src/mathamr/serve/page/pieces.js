// Pieces of text and formulas from the server, as nodes; a formula can be clicked for what can be done with it.

import { element } from "./dom.js";
import { mathNode } from "./markup.js";

/**
 * Nodes for pieces. With `active`, formulas are buttons that open the formula's menu; without, they are only shown
 * (inside a link or a button). With `inline`, formulas stay in the line even where their author gave them their own.
 * With `afterFormula`, a formula stands right before the first piece.
 */
export function pieceNodes(pieces, { active = true, inline = false, afterFormula = false } = {}) {
  return pieces.map((piece, place) =>
    piece.kind === "formula"
      ? formulaNode(piece, active, inline)
      : textNode(piece, place ? pieces[place - 1].kind === "formula" : afterFormula),
  );
}

/** Text after a formula: a full stop or the like never begins a line (U+2060 joins it to what stands before). */
export function joined(text) {
  return /^[.,;:!?)\]’”]/.test(text) ? `\u2060${text}` : text;
}

/** The text of pieces, for names and titles. */
export function plainText(pieces) {
  return pieces.map((piece) => (piece.kind === "formula" ? piece.latex : piece.text)).join("");
}

function textNode({ kind, text, matched }, isAfterFormula) {
  if (kind === "gap") return element("span", { class: "faint" }, text || " … ");
  const shown = isAfterFormula ? joined(text) : text;
  return matched ? element("mark", {}, shown) : document.createTextNode(shown);
}

function formulaNode(piece, active, inline) {
  const math = piece.mathml ? mathNode(piece.mathml) : null;
  const shown = math ?? element("code", { class: "source" }, piece.latex || piece.text);
  const classes = ["formula"];
  if (inline) math?.setAttribute("display", "inline");
  else if (piece.display) classes.push("display");
  if (piece.matched) classes.push("matched");
  if (!math) classes.push("broken");
  const node = element("span", { class: classes.join(" "), title: piece.error?.message }, shown);
  return active && piece.latex ? activated(node, piece) : node;
}

/** Makes a formula that is shown something to press: the page listens for it (`menu.js`). */
export function activated(node, { latex, id = null }) {
  node.setAttribute("role", "button");
  node.setAttribute("tabindex", "0");
  node.setAttribute("aria-haspopup", "menu");
  node.setAttribute("aria-label", `Formula ${latex}`);
  node.classList.add("active");
  node.dataset.latex = latex;
  if (id) node.dataset.formula = id;
  return node;
}
