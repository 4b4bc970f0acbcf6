// Completion of LaTeX commands while typing: a list under the caret, arrows walk it, Tab takes one, Esc closes it.

import { COMMON, STRUCTURES } from "./commands.js";
import { element } from "./dom.js";

const SHOWN = 8;
const BEFORE = /\\([A-Za-z]+)$/;

/** Offers commands in a textarea; `insert(start, end, text)` puts one there, `isMath(caret)` says whether to offer. */
export class Completion {
  constructor(area, list, { insert, isMath }) {
    this.area = area;
    this.list = list;
    this.insert = insert;
    this.isMath = isMath;
    this.offered = [];
    this.chosen = 0;
    this.walked = false;
    this.known = new Map(STRUCTURES.map(([name, written, meaning]) => [name, { name, written, meaning }]));
    for (const name of COMMON)
      if (!this.known.has(name)) this.known.set(name, { name, written: name, meaning: "" });
    list.addEventListener("mousedown", (event) => {
      event.preventDefault(); // the textarea keeps the focus
      const option = event.target.closest("[role=option]");
      if (option) this.take(Number(option.dataset.index));
    });
  }

  /** Adds the commands that the server reads: `{"\\alpha": "α", …}`. */
  learn(symbols) {
    for (const [name, symbol] of Object.entries(symbols)) {
      if (!/^\\[A-Za-z]+$/.test(name)) continue;
      const command = this.known.get(name) ?? { name, written: name, meaning: "" };
      this.known.set(name, { ...command, symbol });
    }
  }

  get isOpen() {
    return this.offered.length > 0;
  }

  /** Looks at what stands before the caret, after every change of the text. */
  look() {
    const caret = this.area.selectionStart;
    const match = BEFORE.exec(this.area.value.slice(0, caret));
    if (!match || this.area.selectionEnd !== caret || !this.isMath(caret)) return this.close();
    const typed = match[0];
    const fitting = [...this.known.values()].filter(({ name }) => name.startsWith(typed));
    const rank = new Map([...this.known.keys()].map((name, index) => [name, index]));
    fitting.sort(
      (one, other) =>
        (other.name === typed) - (one.name === typed) || rank.get(one.name) - rank.get(other.name),
    );
    this.start = caret - typed.length;
    this.offered = fitting.slice(0, SHOWN);
    // A command that is complete, and the beginning of no other, needs no list.
    if (this.offered.length === 1 && this.offered[0].name === typed && this.offered[0].written === typed)
      this.offered = [];
    this.chosen = 0;
    this.walked = false;
    this.show();
  }

  /** A key of the textarea; true when it was meant for the list. */
  key(event) {
    if (!this.isOpen || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const step = event.key === "ArrowDown" ? 1 : -1;
      this.chosen = (this.chosen + step + this.offered.length) % this.offered.length;
      this.walked = true;
      this.show();
    } else if ((event.key === "Tab" && !event.shiftKey) || (event.key === "Enter" && this.walked)) {
      this.take(this.chosen);
    } else if (event.key === "Escape") {
      this.close();
    } else {
      return false;
    }
    event.preventDefault();
    return true;
  }

  take(index) {
    const { written } = this.offered[index];
    this.insert(this.start, this.area.selectionStart, /[A-Za-z]$/.test(written) ? `${written} ` : written);
    this.close();
  }

  close() {
    this.offered = [];
    this.show();
  }

  show() {
    this.list.hidden = !this.isOpen;
    this.area.setAttribute("aria-expanded", String(this.isOpen));
    if (!this.isOpen) {
      this.area.removeAttribute("aria-activedescendant");
      this.list.replaceChildren();
      return;
    }
    this.list.replaceChildren(
      ...this.offered.map(({ name, symbol, meaning }, index) =>
        element(
          "li",
          {
            role: "option",
            id: `completion-${index}`,
            "aria-selected": String(index === this.chosen),
            data: { index },
          },
          element("span", { class: "symbol", "aria-hidden": "true" }, symbol ?? ""),
          element("code", {}, name),
          element("span", { class: "meaning" }, meaning),
        ),
      ),
    );
    this.area.setAttribute("aria-activedescendant", `completion-${this.chosen}`);
    const { left, top } = caretPlace(this.area, this.start);
    this.list.style.top = `${top}px`;
    this.list.style.left = `${Math.max(0, Math.min(left, this.area.offsetWidth - this.list.offsetWidth))}px`;
  }
}

/** Where a character of a textarea stands, below its line: measured in a copy of the textarea. */
function caretPlace(area, index) {
  const copy = element("div", { class: "caret-measure", "aria-hidden": "true" });
  const style = getComputedStyle(area);
  for (const name of ["font", "lineHeight", "padding", "border", "letterSpacing", "boxSizing"])
    copy.style[name] = style[name];
  copy.style.width = `${area.offsetWidth}px`;
  const mark = element("span", {}, "​");
  copy.append(area.value.slice(0, index), mark);
  area.parentElement.append(copy);
  const place = {
    left: area.offsetLeft + mark.offsetLeft,
    top: area.offsetTop + mark.offsetTop + mark.offsetHeight - area.scrollTop + 4,
  };
  copy.remove();
  return place;
}
