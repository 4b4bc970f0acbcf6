// The search box: text with formulas, completion, palette, preview.

import * as api from "./api.js";
import { Completion } from "./completion.js";
import { byId } from "./dom.js";
import { FormulaField } from "./formulafield.js";
import { closed, formulaAt, hasFormula, looksLikeFormula } from "./latex.js";
import { latexOfMathml, pastedMathml } from "./mathmlpaste.js";
import { startPalette } from "./palette.js";
import { Preview } from "./preview.js";

/** The box; `ask()` is called when the reader wants results, `leave()` when the down arrow goes on to them. */
export class Box {
  constructor({ ask, leave, task }) {
    this.area = byId("question");
    this.task = task;
    this.preview = new Preview(byId("preview"));
    this.completion = new Completion(this.area, byId("completions"), {
      insert: (start, end, snippet) => this.insert(snippet, start, end),
      isMath: (caret) => this.isMath(caret),
    });
    this.closePalette = startPalette(byId("palette-button"), byId("palette"), (snippet) =>
      this.insertSymbol(snippet),
    );
    this.field = new FormulaField({
      button: byId("formula-button"),
      place: byId("formula-place"),
      area: this.area,
      task,
      ask,
      leave,
      changed: () => {
        this.area.form.classList.remove("asked");
        this.changed(false, false);
      },
    });
    this.area.addEventListener("paste", (event) => this.paste(event));
    this.area.addEventListener("input", () => {
      this.area.form.classList.remove("asked");
      this.changed();
    });
    // When the panel opens beside the results the box gets narrower, and its text higher.
    new ResizeObserver(() => this.grow()).observe(this.area.parentElement);
    this.area.addEventListener("blur", () => this.completion.close());
    this.area.addEventListener("keydown", (event) => {
      if (this.completion.key(event) || event.isComposing) return;
      if (event.key === "Enter" && !event.shiftKey) {
        event.preventDefault();
        ask();
      } else if (event.key === "ArrowDown" && this.caretIsLast() && leave()) {
        event.preventDefault();
      }
    });
  }

  /** Asks the server which commands it reads; until it has answered, the common ones are offered. */
  async learnCommands() {
    const { commands } = await api.commands();
    this.completion.learn(Object.fromEntries(commands.map(({ command, character }) => [command, character])));
    if (document.activeElement === this.area) this.completion.look();
  }

  get text() {
    return this.area.value;
  }

  set text(value) {
    if (value !== this.area.value) this.area.value = value;
    this.changed(false);
  }

  /** The query to send; the server finds formulas that are not marked. */
  get question() {
    return closed(this.text.trim());
  }

  /** Closes what it offers: the reader wants results now. */
  fold() {
    this.completion.close();
    this.closePalette();
    this.field.fold();
  }

  focus() {
    if (this.area.hidden) return this.field.focus();
    this.area.focus();
    this.area.setSelectionRange(this.text.length, this.text.length);
  }

  /** Puts a formula at the end of the question. */
  append(latex) {
    this.area.value = `${this.text.trimEnd()} $${latex}$`.trimStart();
    this.changed(false);
    this.focus();
  }

  /** Macros of the collection: the formula field draws them, and both ways of typing offer them. */
  learnMacros(macros) {
    this.completion.learn(Object.fromEntries(Object.keys(macros).map((name) => [`\\${name}`, ""])));
    this.field.learn(macros);
  }

  changed(typed = true, reads = true) {
    this.grow();
    if (typed) this.completion.look();
    if (reads) this.field.show();
    this.preview.update(this.question, this.task());
  }

  /** MathML becomes a formula of the question. */
  async paste(event) {
    const mathml = pastedMathml(event);
    if (!mathml) return;
    event.preventDefault();
    const latex = await latexOfMathml(mathml);
    if (latex) this.insertSymbol(`${latex}|`);
  }

  /** As high as its text, up to what the style sheet allows. */
  grow() {
    this.area.style.height = "auto";
    this.area.style.height = `${this.area.scrollHeight + 2}px`;
  }

  isMath(caret) {
    return formulaAt(this.text, caret) !== null || (!hasFormula(this.text) && !/\s[a-z]{3}/i.test(this.text));
  }

  caretIsLast() {
    return !this.text.slice(this.area.selectionStart).includes("\n");
  }

  /** A symbol of the palette: outside a formula it opens one. */
  insertSymbol(snippet) {
    if (this.field.hasFocus || (this.field.isOn && this.area.hidden)) return this.field.insert(snippet);
    const { selectionStart: start, selectionEnd: end } = this.area;
    const inside = formulaAt(this.text, start) !== null;
    const alone = this.task() === "formulas" || looksLikeFormula(this.text);
    const marked = inside || (alone && !hasFormula(this.text)) ? snippet : `$${withCaret(snippet)}$`;
    this.insert(marked, start, end);
    this.area.focus();
  }

  /** Replaces a part of the text, as if it had been typed (undo works); the caret goes to the snippet's `|`. */
  insert(snippet, start, end) {
    const [before, ...rest] = snippet.split("|");
    this.area.focus();
    this.area.setSelectionRange(start, end);
    if (!document.execCommand("insertText", false, before + rest.join("|")))
      this.area.setRangeText(before + rest.join("|"), start, end, "end");
    const caret = start + before.length;
    if (rest.length) this.area.setSelectionRange(caret, caret);
    this.completion.close();
    this.changed(false);
  }
}

/** The snippet with a place for the caret. */
function withCaret(snippet) {
  return snippet.includes("|") ? snippet : `${snippet.trimEnd()}|`;
}
