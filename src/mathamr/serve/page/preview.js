// The question as it will be read, formulas drawn, while it is being typed.

import * as api from "./api.js";
import { element, patient } from "./dom.js";
import { pieces } from "./latex.js";
import { pieceNodes } from "./pieces.js";

const PATIENCE = 120;

/** Draws the query below the box. */
export class Preview {
  constructor(place) {
    this.place = place;
    this.asked = null;
    this.shown = "";
    this.drawSoon = patient(() => this.draw(), PATIENCE);
  }

  update(question, task) {
    this.question = question;
    this.task = task;
    this.drawSoon();
  }

  async draw() {
    const { question, task } = this;
    this.asked?.abort();
    this.asked = null;
    if (!question) return this.put("");
    if (`${task} ${question}` === this.shown) return undefined;
    const asked = (this.asked = new AbortController());
    try {
      const drawn = await api.render(question, asked.signal, task);
      if (asked.signal.aborted) return undefined;
      const hasFormula = drawn.pieces.some(({ kind }) => kind === "formula");
      this.put(`${task} ${question}`, hasFormula ? this.drawing(drawn.pieces, question) : null);
    } catch (error) {
      if (error.name === "AbortError") return undefined;
      // The search itself reports an unreachable server; a late preview is dropped.
      this.put("", error.code === "unreachable" || error.code === "busy" ? null : note(error.message));
    }
    return undefined;
  }

  put(shown, ...nodes) {
    this.shown = shown;
    this.place.replaceChildren(...nodes.flat().filter(Boolean));
    this.place.hidden = this.place.childElementCount === 0;
  }

  drawing(drawn, question) {
    const notes = [];
    for (const { error, latex } of drawn) if (error) notes.push(broken(latex, error));
    if (pieces(question).some((piece) => piece.kind === "formula" && !piece.closed))
      notes.unshift(note("The last formula is not closed: its $ is missing."));
    return [element("p", { class: "drawn" }, ...pieceNodes(drawn)), ...notes];
  }
}

function note(message) {
  return element("p", { class: "note" }, message);
}

/** A formula that cannot be read, with the place where reading stopped. */
function broken(latex, { message, offset }) {
  if (!Number.isInteger(offset) || offset < 0 || offset > latex.length) return note(message);
  const from = Math.max(0, offset - 24);
  return element(
    "p",
    { class: "note problem" },
    element("span", {}, `${message} `),
    element(
      "code",
      {},
      `${from > 0 ? "…" : ""}${latex.slice(from, offset)}`,
      element("span", { class: "here" }, latex.slice(offset, offset + 1) || "␣"),
      `${latex.slice(offset + 1, offset + 25)}${latex.length > offset + 25 ? "…" : ""}`,
    ),
  );
}
