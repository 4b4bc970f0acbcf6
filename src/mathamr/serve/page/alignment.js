// Why a post was found: every part of the question against every part of the post, as a map of heat.

import { element } from "./dom.js";
import { score } from "./numbers.js";
import { pieceNodes } from "./pieces.js";

/** With more parts than this a post shows at first only those that meet the question best. */
const PARTS = 24;
const HINT = "Point at a square or press it: it shows which parts match, and how closely.";
const GROUPS = { sentence: "sentences", formula: "formulas" };

/** The map of an explanation of the server: `rows` are parts of the question, `columns` parts of the post. */
export class AlignmentMap {
  constructor(explanation) {
    Object.assign(this, explanation);
    const values = this.matrix.flat();
    this.low = Math.max(
      0,
      values.reduce((one, other) => Math.min(one, other), 1),
    );
    this.high = values.reduce((one, other) => Math.max(one, other), this.low + 1e-6);
    this.all = this.columns.length <= PARTS;
    this.node = element("div", { class: "alignment" });
    this.show();
    for (const event of ["pointerover", "focusin"])
      this.node.addEventListener(event, ({ target }) => this.light(target));
    for (const event of ["pointerleave", "focusout"])
      this.node.addEventListener(event, () => this.light(null));
    this.node.addEventListener("keydown", (event) => this.key(event));
  }

  show() {
    this.shown = this.all ? this.columns.map((_, column) => column) : this.strongest();
    this.table = this.heatmap();
    this.said = element("p", { class: "reading" }, element("span", { class: "faint" }, HINT));
    this.node.replaceChildren(
      element("h3", {}, "Your question"),
      this.question(),
      element("h3", {}, "Matching parts of the post"),
      this.said,
      element("div", { class: "scroll" }, this.table),
      ...(this.all ? [] : [this.rest()]),
    );
  }

  /** The parts of the question with the part of the post that matches each best. */
  question() {
    return element(
      "ol",
      { class: "parts" },
      ...this.rows.map((part, row) => {
        const best = this.best.find((each) => each.row === row);
        return element(
          "li",
          { data: { row } },
          badge(row, "question"),
          element("span", { class: "part" }, ...content(part, "the whole question")),
          best
            ? element("span", { class: "met", title: "closest part of the post" }, score(best.score))
            : null,
        );
      }),
    );
  }

  heatmap() {
    const heads = this.rows.map((part, row) =>
      element(
        "th",
        { scope: "col", data: { row } },
        badge(row, "question"),
        element("span", { class: "hidden" }, name(part, "the whole question")),
      ),
    );
    const body = this.shown.flatMap((column, place) => {
      const { kind } = this.columns[column];
      const isNew = GROUPS[kind] && kind !== this.columns[this.shown[place - 1]]?.kind;
      const line = element(
        "tr",
        {},
        element(
          "th",
          { scope: "row", data: { column } },
          element("span", { class: "part" }, ...content(this.columns[column], "the whole post")),
        ),
        ...this.rows.map((_, row) => this.square(row, column, place === 0 && row === 0)),
      );
      const name = () =>
        element(
          "tr",
          {},
          element("th", { class: "of", scope: "rowgroup", colspan: this.rows.length + 1 }, GROUPS[kind]),
        );
      return isNew ? [name(), line] : [line];
    });
    return element(
      "table",
      { class: "heatmap", "aria-label": "Similarity of the parts of the question and the parts of the post" },
      element("thead", {}, element("tr", {}, element("td", {}), ...heads)),
      element("tbody", {}, ...body),
    );
  }

  square(row, column, isFirst) {
    const value = this.matrix[row][column];
    const isBest = this.best.some((each) => each.row === row && each.column === column);
    const square = element(
      "td",
      {
        class: isBest ? "square best" : "square",
        tabindex: isFirst ? "0" : "-1",
        data: { row, column },
        title: isBest ? "the closest to this part of the question" : null,
      },
      value.toFixed(2),
    );
    square.style.setProperty("--heat", Math.max(0, (value - this.low) / (this.high - this.low)).toFixed(3));
    return square;
  }

  strongest() {
    const best = new Set(this.best.map(({ column }) => column));
    const heat = this.columns.map((_, column) => Math.max(...this.matrix.map((line) => line[column])));
    const order = this.columns
      .map((_, column) => column)
      .sort((one, other) => best.has(other) - best.has(one) || heat[other] - heat[one]);
    return order.slice(0, PARTS).sort((one, other) => one - other);
  }

  rest() {
    const showAll = () => {
      this.all = true;
      this.show();
    };
    return element(
      "p",
      {},
      element(
        "button",
        { type: "button", class: "secondary", on: { click: showAll } },
        `Show all ${this.columns.length} parts of the post`,
      ),
    );
  }

  /** Lights up the parts on both sides of what is pointed at: for one part alone, also its best match. */
  light(target) {
    const at = target?.closest?.("[data-row], [data-column]");
    const { row = this.closestRow(at?.dataset.column), column = this.closestColumn(at?.dataset.row) } =
      at?.dataset ?? {};
    for (const each of this.node.querySelectorAll("[data-row], [data-column]")) {
      const { row: itsRow = row, column: itsColumn = column } = each.dataset;
      each.classList.toggle("lit", Boolean(at) && itsRow === row && itsColumn === column);
    }
    if (!at) return;
    this.said.replaceChildren(
      element("strong", {}, score(this.matrix[row][column])),
      element("span", {}, ...content(this.rows[row], "the whole question")),
      element("span", { class: "faint" }, "matched"),
      element("span", {}, ...content(this.columns[column], "the whole post")),
    );
  }

  closestColumn(row) {
    return String(this.best.find((each) => each.row === Number(row))?.column);
  }

  closestRow(column) {
    const values = this.matrix.map((line) => line[column]);
    return String(values.indexOf(values.reduce((one, other) => Math.max(one, other), -Infinity)));
  }

  /** Arrow keys walk over the squares. */
  key(event) {
    const square = event.target.closest?.(".square");
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!square || !step) return;
    event.preventDefault();
    event.stopPropagation();
    const lines = [...this.table.tBodies[0].rows].filter((line) => line.cells.length > 1);
    const line = lines[lines.indexOf(square.parentElement) + step[0]];
    const next = line?.cells[square.cellIndex + step[1]];
    if (!next?.classList.contains("square")) return;
    square.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}

function badge(row, side) {
  return element("span", { class: `badge ${side}` }, String(row + 1));
}

function content(part, whole) {
  if (part.kind === "document") return [element("em", {}, whole)];
  return part.pieces.length ? pieceNodes(part.pieces, { active: false, inline: true }) : [part.label];
}

function name(part, whole) {
  if (part.kind === "document") return whole;
  return part.label.length > 90 ? `${part.label.slice(0, 89)}…` : part.label;
}
