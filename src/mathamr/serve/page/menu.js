// The menu of a formula: search it, see its trees, put it into the question, copy it.

import { element } from "./dom.js";

/** Opens a menu beside any formula that is pressed; `actions` is `[{label, act({latex, id})}]`. */
export class FormulaMenu {
  constructor(actions) {
    this.actions = actions;
    this.opener = null;
    this.list = element("div", { class: "menu", role: "menu", "aria-label": "Formula", hidden: true });
    document.body.append(this.list);
    document.addEventListener("click", (event) => {
      const formula = event.target.closest?.(".formula.active");
      if (formula) this.open(formula);
      else if (!this.list.contains(event.target)) this.close();
    });
    document.addEventListener("keydown", (event) => this.key(event));
    addEventListener("resize", () => this.close());
    document.addEventListener("scroll", () => this.close(), true);
  }

  get isOpen() {
    return !this.list.hidden;
  }

  open(formula) {
    if (this.opener === formula && this.isOpen) return this.close();
    this.opener = formula;
    const chosen = { latex: formula.dataset.latex, id: formula.dataset.formula ?? "" };
    this.list.replaceChildren(
      ...this.actions.map(({ label, act }) =>
        element(
          "button",
          {
            type: "button",
            role: "menuitem",
            on: {
              click: () => {
                this.close();
                act(chosen);
              },
            },
          },
          label,
        ),
      ),
    );
    this.list.hidden = false;
    formula.setAttribute("aria-expanded", "true");
    const place = formula.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.list;
    const below = place.bottom + 6;
    const top = below + height > innerHeight ? Math.max(8, place.top - height - 6) : below;
    this.list.style.left = `${Math.max(8, Math.min(place.left, innerWidth - width - 8))}px`;
    this.list.style.top = `${top}px`;
    this.list.firstElementChild.focus({ preventScroll: true });
    this.tell(formula);
  }

  close() {
    if (!this.isOpen) return;
    const held = this.list.contains(document.activeElement);
    this.list.hidden = true;
    this.opener?.removeAttribute("aria-expanded");
    if (held) this.opener?.focus({ preventScroll: true });
    this.tell(null);
  }

  tell(formula) {
    document.dispatchEvent(new CustomEvent("formulamenu", { detail: formula }));
  }

  key(event) {
    if (!this.isOpen) {
      const formula = event.target.closest?.(".formula.active");
      if (formula && (event.key === "Enter" || event.key === " ")) {
        event.preventDefault();
        event.stopPropagation();
        this.open(formula);
      }
      return;
    }
    const items = [...this.list.children];
    const place = items.indexOf(document.activeElement);
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const step = event.key === "ArrowDown" ? 1 : -1;
      items[(place + step + items.length) % items.length].focus();
    } else if (event.key === "Home") {
      items[0].focus();
    } else if (event.key === "End") {
      items.at(-1).focus();
    } else if (event.key === "Escape" || event.key === "Tab") {
      this.close();
    } else {
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}
