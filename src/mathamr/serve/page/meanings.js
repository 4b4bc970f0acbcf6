// What the symbols of a formula are introduced as, told where a pointer or the keyboard stops at the formula, and while its menu is open.

import * as api from "./api.js";
import { element } from "./dom.js";
import { pieceNodes } from "./pieces.js";

const REST = 350;
const KEPT = 200;

/** A note beside any formula with a menu; Escape puts it away, a pointer may move onto it, and it stays as long as an open menu. */
export class Meanings {
  constructor() {
    this.at = null;
    this.known = new Map();
    this.timer = 0;
    this.note = element("div", { id: "meanings", class: "meanings", role: "tooltip", hidden: true });
    document.body.append(this.note);
    this.isHeld = false;
    document.addEventListener("formulamenu", ({ detail: formula }) => {
      this.close();
      this.isHeld = formula !== null;
      this.at = formula;
      if (formula) this.tell(formula);
    });
    document.addEventListener("pointerover", (event) => this.reach(event, REST));
    document.addEventListener("focusin", (event) => {
      if (event.target.matches?.(":focus-visible")) this.reach(event, 0);
    });
    for (const leaving of ["pointerdown", "keydown", "focusout"]) {
      document.addEventListener(leaving, () => this.isHeld || this.close());
    }
    document.addEventListener("scroll", () => this.close(), true);
    addEventListener("resize", () => this.close());
  }

  reach(event, wait) {
    if (this.isHeld || event.pointerType === "touch" || this.note.contains(event.target)) return;
    const formula = event.target.closest?.(".formula.active") ?? null;
    if (formula === this.at) return;
    this.close();
    this.at = formula;
    if (formula) this.timer = setTimeout(() => this.tell(formula), wait);
  }

  async tell(formula) {
    const { latex, formula: id = "" } = formula.dataset;
    const name = `${id} ${latex}`;
    try {
      if (!this.known.has(name)) {
        if (this.known.size >= KEPT) this.known.clear();
        this.known.set(name, await api.introduced(latex, id));
      }
    } catch {
      return; // the formula is read without its note; a search reports what is wrong with the server
    }
    const { symbols } = this.known.get(name);
    if (this.at !== formula || !formula.isConnected || !symbols.length) return;
    this.note.replaceChildren(element("dl", {}, ...symbols.flatMap(row)));
    this.note.hidden = false;
    formula.setAttribute("aria-describedby", this.note.id);
    const place = formula.getBoundingClientRect();
    const menu = document.querySelector(".menu:not([hidden])")?.getBoundingClientRect() ?? place;
    const top = Math.min(place.top, menu.top);
    const bottom = Math.max(place.bottom, menu.bottom);
    const { offsetWidth: width, offsetHeight: height } = this.note;
    const above = top - height - 6;
    this.note.style.left = `${Math.max(8, Math.min(place.left, innerWidth - width - 8))}px`;
    this.note.style.top = `${above < 8 ? Math.min(bottom + 6, innerHeight - height - 8) : above}px`;
  }

  close() {
    clearTimeout(this.timer);
    this.at?.removeAttribute("aria-describedby");
    this.at = null;
    this.isHeld = false;
    this.note.hidden = true;
  }
}

function row({ symbol, meanings }) {
  return [
    element("dt", {}, symbol),
    element("dd", {}, ...meanings.flatMap(({ pieces, place }, nth) => [
      nth ? "; " : "",
      ...pieceNodes(pieces, { active: false, inline: true }),
      element("span", { class: "faint" }, ` ${place}`),
    ])),
  ];
}
