// The list of results: each is one post, or one formula at its best place.

import { CLOSED } from "./address.js";
import { element, icon } from "./dom.js";
import { answerTo, placeOf, shownTags } from "./neighbours.js";
import { counted, day, score } from "./numbers.js";
import { pieceNodes, plainText } from "./pieces.js";

const MATCHES = { strong: "strong match", weak: "weak match", similar: "similar" };

/** A diagram of arrows is no part of a line. */
function isDiagram({ kind, latex }) {
  return kind === "formula" && /^\s*\\(?:begin\{(?:tikzcd|CD)\}|xymatrix)/.test(latex);
}

/** Stands before the hits that are only similar; `before` is how many hits come first, `found` says how sure that is. */
function divider(before, found) {
  const nothing =
    found === "nothing"
      ? "Nothing here seems to be what you asked for. These entries are only similar."
      : "The nearest, perhaps not what you asked.";
  return element("li", { class: "divider", role: "presentation" }, before ? "Similar only" : nothing);
}

/** Writes hits into a list; `address(change)` is the address of the page after a change, `go(change)` goes there. */
export class Results {
  constructor(list, { address, go }) {
    this.list = list;
    this.address = address;
    this.go = go;
    list.addEventListener("keydown", (event) => this.key(event));
    list.addEventListener("focusin", (event) => this.hold(event.target.closest(".hit")));
  }

  show(hits, state, found) {
    this.state = state;
    const similar = hits.findLastIndex(({ match }) => match !== "similar") + 1;
    this.list.replaceChildren(
      ...hits.flatMap((hit, index) =>
        index === similar ? [divider(index + (state.page - 1), found), this.hit(hit, index)] : [this.hit(hit, index)],
      ),
    );
  }

  /** An index without graphs makes one when the panel shows it; then no result offers its graph. */
  offerGraphs(hasGraphs) {
    this.list.classList.toggle("with-graphs", hasGraphs);
  }

  clear() {
    this.list.replaceChildren();
  }

  /** Moves the focus to the first result; false when there is none. */
  enter() {
    const first = this.list.querySelector(".hit");
    first?.focus();
    return Boolean(first);
  }

  /** Marks the result whose post is open; one that is folded is shown. */
  mark(post, formula, collection = "") {
    for (const item of this.list.querySelectorAll(".hit, .other")) {
      const isOpen =
        item.dataset.post === post &&
        item.dataset.collection === collection &&
        (!item.dataset.formula || !formula || item.dataset.formula === formula);
      item.classList.toggle("open", post !== "" && isOpen);
      if (post !== "" && isOpen) item.closest("details")?.setAttribute("open", "");
    }
  }

  /** Gives the focus back to the result of a post that was open. */
  focusOn(post) {
    const item = [...this.list.querySelectorAll(".hit, .other")].find((each) => each.dataset.post === post);
    item?.closest(".hit").focus({ preventScroll: true });
    return Boolean(item);
  }

  hit(hit, index) {
    const name = hit.title.length ? hit.title : [{ kind: "text", text: hit.id, matched: false }];
    const open = { ...CLOSED, post: hit.id, collection: hit.collection ?? "" };
    const titleId = `hit-${index}`;
    const isFormula = hit.formula !== null && hit.formula !== undefined;
    return element(
      "li",
      {
        class: isFormula ? "hit of-formula" : "hit",
        tabindex: index === 0 ? "0" : "-1",
        "aria-labelledby": titleId,
        data: { post: hit.id, collection: hit.collection ?? "", ...(isFormula ? { formula: hit.formula.id } : {}) },
      },
      isFormula ? this.found(hit) : null,
      element("h3", { id: titleId }, hit.parent ? answerTo(hit.kind) : null, ...this.title(name, open)),
      this.snippet(hit),
      element("div", { class: "about" }, ...this.facts(hit), ...this.tags(hit)),
      element(
        "div",
        { class: "actions" },
        this.action(
          { ...open, ...(isFormula ? { formula: hit.formula.id } : {}), view: "why" },
          "why",
          "Why this result",
          plainText(name),
        ),
        this.action({ ...open, view: "graph" }, "graph", "Graph", plainText(name)),
        isFormula
          ? this.action(
              { ...open, formula: hit.formula.id, view: "trees" },
              "trees",
              "Trees",
              hit.formula.latex,
            )
          : null,
      ),
      hit.others?.length ? this.others(hit) : null,
    );
  }

  /** Further hits in the same document, or for the same question, folded. */
  others({ kind, others }) {
    const where = kind === "question" || kind === "answer" ? "on this question" : "in this document";
    return element(
      "details",
      { class: "others" },
      element("summary", {}, `${others.length} more ${where}`),
      element("ul", {}, ...others.map((other) => this.other(other))),
    );
  }

  other(hit) {
    const name = hit.title.length ? hit.title : [{ kind: "text", text: hit.id, matched: false }];
    return element(
      "li",
      { class: "other", data: { post: hit.id, collection: hit.collection ?? "" } },
      element("h4", {}, hit.parent ? answerTo(hit.kind) : null, ...this.title(name, { ...CLOSED, post: hit.id, collection: hit.collection ?? "" })),
      this.snippet(hit),
      element("div", { class: "about" }, ...this.facts(hit)),
    );
  }

  /** The words of a title lead to the post, its formulas to their menu; a title of formulas alone gets an arrow. */
  title(pieces, open) {
    let isFirst = true;
    const nodes = pieces.map((piece) => {
      const [node] = pieceNodes([piece], { inline: true });
      if (piece.kind === "formula" || piece.text.trim() === "") return node;
      const link = this.link(open, isFirst ? {} : { tabindex: "-1" }, node);
      isFirst = false;
      return link;
    });
    return isFirst ? [...nodes, " ", this.link(open, { "aria-label": "Open the post" }, "→")] : nodes;
  }

  /** Where the hit stands in its post; a found formula is drawn above already, so a sign holds its place. */
  snippet({ snippet, formula }) {
    const isFound = (piece) => piece.kind === "formula" && formula && piece.id === formula.own_id;
    const isSaying = ({ kind, text }) => kind !== "gap" && text.trim() !== "";
    const others = snippet.filter((piece) => !isFound(piece));
    if (formula && !others.some(isSaying)) return null;
    return element(
      "p",
      { class: "snippet" },
      ...snippet.flatMap((piece, place) =>
        isFound(piece)
          ? [element("span", { class: "above", title: "the formula above" }, "↑")]
          : pieceNodes([piece], { inline: !isDiagram(piece), afterFormula: snippet[place - 1]?.kind === "formula" }),
      ),
    );
  }

  /** The found formula, the parts that the query has as well marked in it (the server did that). */
  found({ formula, evidence }) {
    const { places, exact } = formula;
    const fits = formula.taken_nodes.length ? "fits the pattern" : "the same formula";
    const kind = exact ? fits : evidence?.renamed ? "the same in other letters" : "";
    const facts = [kind, places > 1 ? `in ${places} places` : ""].filter(Boolean);
    return element(
      "div",
      { class: "found" },
      ...pieceNodes([{ ...formula, kind: "formula", text: formula.latex, display: true, matched: false }]),
      facts.length ? element("span", { class: "faint places" }, facts.join(", ")) : null,
    );
  }

  action(change, picture, label, of) {
    return this.link(change, { class: `action of-${picture}`, "aria-label": `${label}: ${of}` }, icon(picture), label);
  }

  facts(hit) {
    const parts = Object.entries(hit.evidence ?? {}).map(([name, value]) => `${name} ${score(value)}`);
    return [
      hit.collection ? element("span", { class: "collection" }, hit.collection) : null,
      element("span", { class: "kind", data: { kind: hit.kind } }, hit.kind),
      element(
        "span",
        { class: "score", title: [`score ${score(hit.score)}`, ...parts].join(", ") },
        hit.reason && !hit.formula ? `${MATCHES[hit.match]}: ${hit.reason}` : MATCHES[hit.match],
      ),
      Number.isFinite(hit.votes) ? element("span", {}, counted(hit.votes, "vote")) : null,
      hit.as_of ? element("span", { class: "caution" }, `as of ${day(hit.as_of)}; the file can no longer be read`) : null,
      hit.is_deleted ? element("span", { class: "caution" }, "its file was deleted after it was indexed") : null,
      hit.date ? element("time", { datetime: hit.date }, day(hit.date)) : null,
      placeOf(hit),
      hit.headings?.length ? element("span", { class: "faint headings" }, "in ", ...pieceNodes(hit.headings, { inline: true })) : null,
    ];
  }

  tags(hit) {
    const chosen = this.state.tags;
    return shownTags(hit.tags).map((tag) => {
      const tags = chosen.includes(tag) ? chosen : [...chosen, tag];
      return this.link({ tags, page: 1, ...CLOSED }, { class: "tag", title: `Only posts with ${tag}` }, tag);
    });
  }

  /** A link to the page after a change: pressed, the page changes by itself; opened in a new tab, it is an address. */
  link(change, attributes, ...content) {
    return element(
      "a",
      {
        ...attributes,
        href: this.address(change),
        on: {
          click: (event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
            event.preventDefault();
            this.go(change);
          },
        },
      },
      ...content,
    );
  }

  /** The one result that the tab key reaches is the one that had the focus last. */
  hold(item) {
    if (!item) return;
    for (const each of this.list.querySelectorAll(".hit")) each.tabIndex = each === item ? 0 : -1;
  }

  key(event) {
    const item = event.target.closest(".hit");
    if (!item || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const hits = [...this.list.querySelectorAll(".hit")];
      const next = hits[hits.indexOf(item) + (event.key === "ArrowDown" ? 1 : -1)];
      event.preventDefault();
      if (next) {
        next.focus();
        next.scrollIntoView({ block: "nearest" });
      } else if (event.key === "ArrowUp") {
        this.list.dispatchEvent(new CustomEvent("leave"));
      }
    } else if (event.target === item && event.key === "Enter") {
      event.preventDefault();
      item.querySelector("h3 a").click();
    } else if (event.target === item && event.key === "w") {
      event.preventDefault();
      item.querySelector(".action").click();
    }
  }
}
