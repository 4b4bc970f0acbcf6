// The formula field: a formula is typed as it looks. The question stays the text of the box; the field shows one formula
// of it, the one in which the caret stands, and writes back what is typed.

import * as api from "./api.js";
import { element } from "./dom.js";
import { pieces, prose } from "./latex.js";
import { loadMathLive } from "./mathlive.js";
import { latexOfMathml, pastedMathml } from "./mathmlpaste.js";

const KEY = "mathamr-formula-field";
const LETTERS = "abcdefghijklmnopqrstuvwxyz";
/** What only MathLive knows, in the LaTeX that everybody reads. */
const OWN_COMMANDS = [
  [/\\differentialD\b\s*/g, "d"],
  [/\\exponentialE\b\s*/g, "e"],
  [/\\imaginaryI\b\s*/g, "i"],
  [/\\imaginaryJ\b\s*/g, "j"],
  [/\\doubleprime\b/g, "\\prime\\prime"],
  [/\\Colon\b/g, "::"],
  [/\\mleft\b/g, "\\left"],
  [/\\mright\b/g, "\\right"],
];

/** Limits are typed by those who want them: an empty one would be a wildcard. */
const SHORTCUTS = { sum: "\\sum", prod: "\\prod", int: "\\int", lim: "\\lim", mapsto: "\\mapsto" };

/** LaTeX for the field: the wildcard `?x` of a query is underlined. */
export function toField(latex) {
  return latex.replace(/\?([A-Za-z0-9])(?![A-Za-z0-9])/g, "\\wildcard{$1}");
}

/** LaTeX of the field for a query: a place that is still empty stands for any part, as a wildcard does. */
export function fromField(latex) {
  let plain = latex.replace(/\\wildcard\{([A-Za-z0-9])\}/g, "?$1");
  for (const [pattern, written] of OWN_COMMANDS) plain = plain.replace(pattern, written);
  const free = [..."xyzuvw", ...LETTERS].filter((letter) => !plain.includes(`?${letter}`));
  return plain.replace(/\\placeholder(\[[^\]]*\])?\{\}/g, () => `?${free.shift() ?? "x"}`).trim();
}

/** The field and its button; `changed()` is called after it has written into the box. */
export class FormulaField {
  constructor({ button, place, area, task, ask, leave, changed }) {
    Object.assign(this, { button, place, area, task, ask, leave, changed });
    this.field = null;
    this.held = null;
    this.isOn = false;
    this.asked = null;
    this.macros = {};
    button.addEventListener("click", () => this.turn(!this.isOn, true));
    for (const event of ["input", "keyup", "click"]) area.addEventListener(event, () => this.read());
  }

  /** Shows the field at once for someone who had it the last time. */
  start() {
    if (stored() === "on") this.turn(true, false);
  }

  /** Macros of the collection: `{name: {arguments, body}}`. */
  learn(macros) {
    this.macros = Object.fromEntries(
      Object.entries(macros).map(([name, { arguments: args, body }]) => [name, { args, def: body }]),
    );
    if (this.field) this.setMacros();
  }

  get hasFocus() {
    return this.field !== null && document.activeElement === this.field;
  }

  /** Whether the whole question is one formula, so that the field takes the place of the text. */
  get isAlone() {
    return this.task() === "formulas" && prose(bare(this.area.value)).length === 0;
  }

  async turn(isOn, byHand) {
    this.isOn = isOn;
    this.button.setAttribute("aria-pressed", String(isOn));
    if (byHand) store(isOn ? "on" : "off");
    if (isOn && !this.field) {
      try {
        await this.make();
      } catch {
        this.isOn = false;
        this.button.setAttribute("aria-pressed", "false");
        this.button.title = "The formula field could not be loaded";
      }
    }
    if (byHand && this.isOn) this.enterLast();
    await this.show();
    if (!byHand) return;
    if (this.isOn) this.focus();
    else this.area.focus();
  }

  async make() {
    const MathfieldElement = await loadMathLive();
    if (this.field) return;
    const field = new MathfieldElement();
    field.id = "formula";
    field.setAttribute("aria-label", "Formula");
    field.mathVirtualKeyboardPolicy = isTouched() ? "auto" : "manual";
    field.smartFence = true;
    this.field = field;
    this.place.append(field);
    field.menuItems = [];
    field.placeholder = "\\text{Formula}";
    this.setMacros();
    field.inlineShortcuts = { ...field.inlineShortcuts, ...SHORTCUTS };
    field.addEventListener("input", () => this.write());
    field.addEventListener("pointerdown", () => {
      if (!isTouched()) return;
      field.mathVirtualKeyboardPolicy = "auto";
      globalThis.mathVirtualKeyboard.show({ animate: true });
    });
    field.addEventListener("beforeinput", (event) => {
      if (event.inputType !== "insertLineBreak") return;
      event.preventDefault();
      this.ask();
    });
    field.addEventListener("move-out", (event) => {
      const way = event.detail.direction;
      if ((way === "downward" && this.leave()) || way === "upward") event.preventDefault();
    });
    field.addEventListener("paste", (event) => this.paste(event), { capture: true });
  }

  setMacros() {
    this.field.macros = { ...this.field.macros, ...this.macros, wildcard: { args: 1, def: "\\underline{?#1}" } };
  }

  /** Shows what is wanted: the field, and the text unless the field stands for all of it. */
  show() {
    if (this.isOn && this.hasFocus) return undefined;
    const isAlone = this.isOn && this.isAlone;
    this.place.hidden = !this.isOn;
    this.area.hidden = isAlone;
    this.area.form.classList.toggle("with-field", this.isOn);
    this.area.form.classList.toggle("field-alone", isAlone);
    return this.read();
  }

  focus() {
    this.field?.focus();
  }

  /** Puts the keyboard of a phone away until the field is touched: MathLive keeps the focus, and would show it again. */
  fold() {
    if (!this.field || !isTouched()) return;
    this.field.mathVirtualKeyboardPolicy = "manual";
    globalThis.mathVirtualKeyboard.hide();
  }

  /** The part of the text that the field shows: `{start, end, open, close, latex}`. */
  get target() {
    const text = this.area.value;
    const found = pieces(text).filter(({ kind }) => kind === "formula");
    if (this.isAlone && found.length === 0) return { start: 0, end: text.length, open: "", close: "", latex: text };
    const caret = this.area.selectionStart;
    const piece =
      found.find(({ start, end }) => caret >= start && caret <= end) ?? (this.isAlone ? found[0] : undefined);
    if (!piece) return { start: caret, end: caret, open: this.opening(caret), close: "$", latex: "" };
    const mark = text.slice(piece.start, piece.inside);
    const isPart = mark.startsWith("\\begin");
    return { ...piece, open: isPart ? "" : mark, close: isPart ? "" : piece.closing };
  }

  /** Takes the caret into the last formula of the question, unless it stands in one already. */
  enterLast() {
    const last = pieces(this.area.value).findLast(({ kind }) => kind === "formula");
    if (!last || this.target.latex) return;
    const caret = last.inside + last.latex.length;
    this.area.setSelectionRange(caret, caret);
  }

  opening(caret) {
    return caret > 0 && !/\s$/.test(this.area.value.slice(0, caret)) ? " $" : "$";
  }

  /** Shows the formula at the caret; one that was typed without LaTeX is shown as the server reads it. */
  async read() {
    if (!this.isOn || !this.field || this.hasFocus) return;
    this.asked?.abort();
    this.held = this.target;
    const { latex } = this.held;
    const asked = (this.asked = new AbortController());
    let shown = latex;
    if (latex && this.isAlone) {
      try {
        const { pieces: drawn } = await api.render(latex, asked.signal, "formulas");
        if (drawn.length === 1 && drawn[0].latex) shown = drawn[0].latex;
      } catch (error) {
        if (error.name === "AbortError") return;
      }
    }
    if (asked.signal.aborted || this.hasFocus) return;
    this.put(shown);
  }

  put(latex) {
    const wanted = toField(latex);
    if (fromField(this.field.value) !== latex) this.field.setValue(wanted, { silenceNotifications: true });
  }

  /** Writes what the field holds into the text, in the place of the formula that it showed when it got the focus. */
  write() {
    this.asked?.abort();
    const { start, end, open, close } = (this.held ??= this.target);
    const latex = fromField(this.field.getValue("latex"));
    const written = latex ? `${open}${latex}${close}` : "";
    this.area.value = this.area.value.slice(0, start) + written + this.area.value.slice(end);
    this.held.end = start + written.length;
    const caret = start + (written ? open.length + latex.length : 0);
    this.area.setSelectionRange(caret, caret);
    this.changed();
  }

  /** A snippet of the palette: its `|` and its empty groups are places to fill in. */
  insert(snippet) {
    const latex = toField(snippet.replace("|", "#0").replaceAll("{}", "{#?}"));
    this.field.insert(latex, { focus: true, selectionMode: "placeholder" });
    this.write();
  }

  async paste(event) {
    const mathml = pastedMathml(event);
    if (!mathml) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const latex = await latexOfMathml(mathml);
    if (latex) this.field.insert(toField(latex), { focus: true });
    this.write();
  }
}

/** Whether fingers touch the page, so that a keyboard has to be shown. */
function isTouched() {
  return matchMedia("(pointer: coarse)").matches;
}

/** A text without the marks of its formulas. */
function bare(text) {
  return text.replace(/\$|\\[()[\]]/g, " ");
}

function stored() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function store(value) {
  try {
    localStorage.setItem(KEY, value);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}
