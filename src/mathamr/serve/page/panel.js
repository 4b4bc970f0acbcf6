// What stands beside the results: a post, why it was found, its graph, or the trees of a formula.

import * as api from "./api.js";
import { AlignmentMap } from "./alignment.js";
import { CLOSED } from "./address.js";
import { beside } from "./beside.js";
import { element, icon } from "./dom.js";
import { htmlNodes, mathNode } from "./markup.js";
import { contents, documentationOf, heading, neighbours, placeOf, shownTags, turning } from "./neighbours.js";
import { failure } from "./notice.js";
import { counted, day, score } from "./numbers.js";
import { activated, joined, pieceNodes } from "./pieces.js";
import { similarTo } from "./similar.js";
import { Viewer } from "./viewer.js";

const TABS = [
  ["text", "Post"],
  ["why", "Why this result"],
  ["graph", "Graph"],
];
const COLOURS = [
  ["amr", "meaning (AMR)"],
  ["formula", "formula"],
  ["opt", "operators (OPT)"],
  ["slt", "layout (SLT)"],
  ["virtual", "virtual node"],
];
const POSTS_KEPT = 30;

/** The panel; `go(change)` changes what the page shows, `searchFormula(latex)` searches on from a formula. */
export class Panel {
  constructor(place, { go, link, searchFormula, close }) {
    Object.assign(this, { place, go, link, searchFormula, close });
    this.posts = new Map();
    this.asked = null;
    this.body = element("div", { class: "content", id: "panel-content" });
  }

  get isOpen() {
    return !this.place.hidden;
  }

  /** Shows what a state asks for; `hit` is the result it belongs to, when there is one. */
  async show(state, hit) {
    this.asked?.abort();
    const isNew = !this.isOpen || this.post !== state.post || this.state.collection !== state.collection || this.latex !== state.latex;
    Object.assign(this, { state, hit, post: state.post, latex: state.latex });
    this.place.hidden = false;
    document.body.classList.add("with-panel");
    this.head();
    if (isNew) this.place.focus({ preventScroll: true });
    if (isNew) this.place.scrollTop = 0;
    const asked = (this.asked = new AbortController());
    const late = setTimeout(
      () => this.body.replaceChildren(element("p", { class: "faint" }, "Loading…")),
      isNew ? 0 : 150,
    );
    this.body.setAttribute("aria-busy", "true");
    try {
      const nodes = await this.content(state, asked.signal);
      if (!asked.signal.aborted) this.body.replaceChildren(...nodes);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.body.replaceChildren(failure(error, { again: () => this.show(state, hit), state }));
    } finally {
      clearTimeout(late);
      if (!asked.signal.aborted) this.body.removeAttribute("aria-busy");
    }
  }

  hide() {
    this.asked?.abort();
    this.place.hidden = true;
    document.body.classList.remove("with-panel");
    this.body.replaceChildren();
    this.post = undefined;
  }

  /** Forgets the posts it has read: the index may have changed. */
  forget() {
    this.posts.clear();
  }

  head() {
    const { state } = this;
    const tabs = state.post ? TABS.filter(([view]) => view !== "why" || state.query) : [];
    if (state.formula || state.latex) tabs.push(["trees", "Formula"]);
    const list = element(
      "div",
      { role: "tablist", "aria-label": "What to show", on: { keydown: (event) => this.key(event) } },
      ...tabs.map(([view, label]) => {
        const chosen = view === state.view || tabs.length === 1;
        return element(
          "button",
          {
            type: "button",
            role: "tab",
            "aria-selected": String(chosen),
            "aria-controls": "panel-content",
            tabindex: chosen ? "0" : "-1",
            data: { view },
            on: { click: () => this.go({ view }) },
          },
          label,
        );
      }),
    );
    const closing = element(
      "button",
      {
        type: "button",
        class: "round",
        "aria-label": "Close",
        title: "Close (Esc)",
        on: { click: this.close },
      },
      icon("close"),
    );
    const held = this.place.querySelector("[role=tab]:focus") !== null;
    this.body.setAttribute("role", "tabpanel");
    this.place.replaceChildren(element("div", { class: "head" }, list, closing), this.body);
    if (held) list.querySelector("[aria-selected=true]")?.focus();
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const tabs = [...event.currentTarget.children];
    const next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
    event.preventDefault();
    next.focus();
    next.click();
  }

  content(state, signal) {
    if (state.view === "trees" || !state.post) return this.trees(state, signal);
    if (state.view === "graph") return this.graph(state.post, signal);
    if (state.view === "why" && state.query) return this.why(state, signal);
    return this.text(state.post, signal);
  }

  async read(id, signal) {
    const key = JSON.stringify([this.state.collection, id]);
    if (!this.posts.has(key)) {
      const read = await api.post(id, signal);
      if (this.posts.size >= POSTS_KEPT) this.posts.delete(this.posts.keys().next().value);
      this.posts.set(key, read);
    }
    return this.posts.get(key);
  }

  // -- the post

  async text(id, signal) {
    const post = await this.read(id, signal);
    const found = post.beside ? [beside(post, () => this.asked.signal)] : [];
    const prose = async (each) => this.prose(await this.read(each, signal));
    return [
      heading(post, this.link),
      this.facts(post),
      this.prose(post),
      ...contents(post, this.link, prose),
      ...found,
      ...neighbours(post, this.link),
      similarTo(post, this.link, () => this.asked.signal),
      ...turning(post, this.link),
    ];
  }

  facts(post) {
    return element(
      "p",
      { class: "about" },
      element("span", { class: "kind", data: { kind: post.kind } }, post.kind),
      placeOf(post),
      documentationOf(post),
      Number.isFinite(post.votes) ? element("span", {}, counted(post.votes, "vote")) : null,
      post.date ? element("time", { datetime: post.date }, day(post.date)) : null,
      ...shownTags(post.tags).map((tag) => this.link({ tags: [tag], page: 1, ...CLOSED }, { class: "tag" }, tag)),
      element("span", { class: "faint" }, post.id),
    );
  }

  prose(post) {
    const text = element("div", { class: "prose" }, ...htmlNodes(post.html));
    const byId = new Map(post.formulas.map((formula) => [formula.id, formula]));
    const shown = this.hit ? [...this.hit.title, ...this.hit.snippet] : [];
    const matched = new Set(shown.filter((piece) => piece.matched).map((piece) => piece.id));
    if (this.hit?.formula) matched.add(this.hit.formula.id);
    for (const span of text.querySelectorAll(".formula[data-formula]")) {
      const formula = byId.get(span.dataset.formula);
      if (formula?.latex && !span.closest("a")) activated(span, formula);
      if (matched.has(span.dataset.formula)) span.classList.add("matched");
      if (span.nextSibling?.nodeType === Node.TEXT_NODE) span.nextSibling.data = joined(span.nextSibling.data);
    }
    for (const anchor of text.querySelectorAll('a.reference[href^="?post="]')) {
      const post = new URLSearchParams(anchor.getAttribute("href")).get("post");
      anchor.replaceWith(this.link({ ...CLOSED, post }, { class: "reference" }, ...anchor.childNodes));
    }
    return text;
  }

  // -- why it was found

  async why(state, signal) {
    const explanation = await api.explain(state, signal);
    const evidence = Object.entries(this.hit?.evidence ?? {});
    const said = evidence.map(([name, value]) => element("span", { class: "faint" }, `${name} ${score(value)}`));
    const mean = element(
      "span",
      {},
      element("strong", {}, score(explanation.score)),
      " alignment: the mean of the best match of each part",
    );
    const map = explanation.rows.length ? new AlignmentMap(explanation).node : null;
    if (!explanation.nodes) return [element("p", { class: "evidence" }, mean, ...said), map].filter(Boolean);
    return [
      ...nodesMet(explanation.nodes, said),
      ...(map ? [element("details", { class: "post-parts" }, element("summary", {}, "The post around it"), mean, map)] : []),
    ];
  }

  // -- the graph

  async graph(id, signal) {
    const viewer = new Viewer(await api.graphPicture(id, signal), `Graph of post ${id}`, "graph");
    withoutLegend(viewer.drawing);
    const legend = COLOURS.map(([kind, label]) =>
      element(
        "button",
        {
          type: "button",
          class: `colour ${kind}`,
          "aria-pressed": "true",
          on: {
            click: (event) => {
              const isHidden = viewer.frame.classList.toggle(`without-${kind}`);
              event.currentTarget.setAttribute("aria-pressed", String(!isHidden));
            },
          },
        },
        label,
      ),
    );
    return [
      element("div", { class: "legend", role: "group", "aria-label": "Show or hide" }, ...legend),
      viewer.node,
      element(
        "p",
        { class: "faint help" },
        "Drag to move; Ctrl and the wheel, two fingers or + and − to zoom; 0 shows all.",
      ),
    ];
  }

  // -- a formula

  async trees(state, signal) {
    const [about, picture] = state.formula
      ? await Promise.all([api.formula(state.formula, signal), api.formulaPicture(state.formula, signal)])
      : [await this.unknownFormula(state.latex, signal), await api.latexPicture(state.latex, signal)];
    const math = about.mathml ? mathNode(about.mathml) : null;
    math?.setAttribute("display", "block");
    const search = () => this.searchFormula(about.query ?? about.latex);
    return [
      element("div", { class: "shown" }, math ?? element("code", {}, about.latex)),
      about.names?.length
        ? element("p", { class: "help" }, `Known as ${about.names.slice(0, 3).join(", or ")}`)
        : null,
      element(
        "div",
        { class: "actions" },
        element("button", { type: "button", class: "primary", on: { click: search } }, "Search this formula"),
        about.places
          ? element("span", { class: "faint" }, `stands in ${counted(about.places, "place")}`)
          : null,
      ),
      element("pre", { class: "latex", "aria-label": "LaTeX" }, about.latex),
      new Viewer(picture, `Layout tree and operator tree of ${about.latex}`, "trees").node,
      element(
        "p",
        { class: "faint help" },
        "Layout: how the symbols stand. Operators: what is applied to what.",
      ),
      ...this.places(about),
    ];
  }

  async unknownFormula(latex, signal) {
    const { pieces } = await api.render(`$$${latex}$$`, signal);
    return { latex, mathml: pieces[0]?.mathml ?? null, places: 0, posts: [] };
  }

  places({ posts, id }) {
    if (!posts?.length) return [];
    const links = posts.map((post) => this.link({ ...CLOSED, post }, {}, post));
    return [
      element(
        "p",
        { class: "in-posts", data: { formula: id } },
        element("span", { class: "label" }, "In entries"),
        ...links,
      ),
    ];
  }
}

/** Shows which nodes of the query formula match which nodes of the found one, on the trees of both. */
function nodesMet({ by, query, found, views, svg }, said) {
  const names = { opt: "operators", slt: "layout" };
  const scores = views.map(({ view, score: value, met, query_labels: labels }) =>
    element(
      "span",
      {},
      element("strong", {}, score(value)),
      ` ${names[view]}: ${met.length} of ${counted(labels.length, "node")} matched`,
    ),
  );
  const label = `Trees of ${query} and ${found}, matching nodes in the same colour`;
  return [
    element("p", { class: "evidence" }, ...scores, element("span", { class: "faint" }, `by ${by}`), ...said),
    svg
      ? new Viewer(svg, label, "trees").node
      : element("p", { class: "faint" }, "The trees are too large to be drawn."),
    element(
      "p",
      { class: "faint help" },
      "Nodes of the same colour and number match; a dashed frame marks another name or number; pale nodes have no match.",
    ),
  ];
}

/** The picture has a legend of its own; here the buttons are one. */
function withoutLegend(drawing) {
  const labels = new Set(COLOURS.map(([, label]) => label));
  for (const node of drawing.querySelectorAll(".node")) if (labels.has(node.textContent)) node.remove();
}
