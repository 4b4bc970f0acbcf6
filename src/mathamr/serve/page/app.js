// The page: one state, which is its address; whatever changes the state goes through `go`.

import { CLOSED, START, fromAddress, sameSearch, toAddress } from "./address.js";
import * as api from "./api.js";
import { Box } from "./box.js";
import { byId, element } from "./dom.js";
import { Filters } from "./filters.js";
import { Meanings } from "./meanings.js";
import { FormulaMenu } from "./menu.js";
import { emptyIndex, failure, noHit, sentencePieces, textOf, welcome } from "./notice.js";
import { counted, duration } from "./numbers.js";
import { Panel } from "./panel.js";
import { pieceNodes } from "./pieces.js";
import { Results } from "./results.js";
import { startTheme } from "./theme.js";

const SIZE = 10;
const POLL = 3000;
const TRIES = 3;
const PATIENCE = 250;

let state = fromAddress(location.search);
let searched = null;
let found = [];
let indexed = null;
let asking = null;
let tries = 0;
let timer = 0;
let learning = 0;
let shownPage = 1;

const status = byId("status");
const messages = byId("messages");
const address = (change) => toAddress({ ...state, ...change });
const box = new Box({
  ask: submit,
  leave: () => results.enter(),
  task: () => byId("search").elements.task.value,
});
const results = new Results(byId("results"), { address, go });
const filters = new Filters(byId("filters"), go);
const panel = new Panel(byId("panel"), {
  go,
  link: results.link.bind(results),
  searchFormula,
  close: closePanel,
});

/** Goes on to a changed state: a new place in the history, and what it shows. */
function go(change) {
  state = { ...state, ...change };
  const target = toAddress(state);
  if (target !== (location.search || location.pathname)) history.pushState(null, "", target);
  show();
}

/** Shows the state; only changed parts are requested from the server. */
function show() {
  const form = byId("search").elements;
  form.task.value = state.task;
  form.strategy.value = state.strategy;
  document.title = state.query ? `${state.query} · mathamr` : "mathamr";
  filters.show(state);
  const isNew = !searched || !sameSearch(searched, state);
  // A panel that opens with its search waits for it: the result says what matched, and the server can finish the search first.
  const shown = state;
  const waits = isNew && isPanelWanted();
  if (!waits) showPanel();
  if (isNew) runSearch().then(() => waits && shown === state && showPanel());
}

function isPanelWanted() {
  return Boolean(state.post || state.formula || state.latex);
}

function showPanel() {
  results.mark(state.post, state.formula, state.collection);
  api.within(state.collection);
  if (isPanelWanted()) {
    panel.show(state, found.find(isOpen));
  } else if (panel.isOpen) {
    const { post } = panel;
    const held = panel.place.contains(document.activeElement);
    panel.hide();
    if (held && !results.focusOn(post)) box.focus();
  }
}

function isOpen({ id, collection, formula }) {
  return id === state.post && (collection ?? "") === state.collection && (!formula || !state.formula || formula.id === state.formula);
}

function closePanel() {
  go(CLOSED);
}

function submit() {
  box.fold();
  if (matchMedia("(pointer: coarse)").matches) box.area.blur(); // the keyboard of a phone hides the results
  tries = 0;
  searched = null; // searches again, even for the same query
  panel.forget();
  go({ query: box.question, task: byId("search").elements.task.value, page: 1, ...CLOSED });
}

/** Searches for a formula; one of the index is written so that its macros mean what they mean in its own post. */
async function searchFormula(written, id) {
  const latex = id ? await api.formula(id).then(({ query }) => query, () => written) : written;
  box.text = latex;
  go({ ...START, query: `$${latex}$`, task: "formulas", strategy: state.strategy });
  scrollTo({ top: 0 });
}

async function runSearch() {
  asking?.abort();
  clearTimeout(timer);
  const asked = state;
  searched = asked;
  if (!asked.query) {
    found = [];
    return say("", indexed?.posts === 0 ? emptyIndex() : welcome(askExample, indexed?.examples));
  }
  asking = new AbortController();
  const { signal } = asking;
  byId("search").classList.add("asked");
  byId("results").setAttribute("aria-busy", "true");
  const late = setTimeout(() => {
    tell("Searching…");
  }, PATIENCE);
  try {
    const answer = await api.search(asked, SIZE, signal);
    if (signal.aborted) return;
    tries = 0;
    showHits(answer, asked);
  } catch (error) {
    if (error.name !== "AbortError") showFailure(error, asked);
  } finally {
    clearTimeout(late);
    if (!signal.aborted) byId("results").removeAttribute("aria-busy");
  }
}

function showHits(answer, asked) {
  found = answer.hits;
  if (found.length === 0) {
    const nothing = indexed?.posts === 0 ? emptyIndex() : noHit(asked, ways);
    return say("Nothing found", nothing, ...notes(answer));
  }
  const first = (asked.page - 1) * SIZE + 1;
  const noun = asked.task === "formulas" ? "formulas" : "results";
  const places = `${noun[0].toUpperCase()}${noun.slice(1)} ${first}–${first + found.length - 1}`;
  say(`${places}, found in ${duration(answer.seconds.total)}`, ...notes(answer));
  results.show(found, asked, answer.found);
  filters.show(asked, answer.counts);
  paging(asked.page, answer.more);
  if (asked.page !== shownPage) scrollTo({ top: 0 });
  shownPage = asked.page;
  return undefined;
}

/** Empties the list and says something instead; a line whose message stands below is only read aloud. */
function say(line, ...nodes) {
  results.clear();
  paging(1, false);
  tell(line, nodes.some((node) => node.matches(".notice")));
  messages.replaceChildren(...nodes);
}

function tell(line, isRepeated = false) {
  status.classList.toggle("hidden", isRepeated);
  status.textContent = line;
}

function notes({ query, absent, found: best, checked }) {
  const quoted = absent.map((word) => `“${word}”`);
  const listed = [quoted.slice(0, -1).join(", "), quoted.at(-1)].filter(Boolean).join(" or ");
  const isStale = checked && checked.changed_files + checked.new_files + checked.deleted_files > 0;
  const lacks = isStale ? `your collection did not mention ${listed} when it was indexed` : `your collection does not mention ${listed}`;
  const lines = [...(absent.length ? [textOf(lacks)] : []), ...query.note_pieces];
  if (checked && (best === "similar" || best === "nothing")) lines.push(textOf(checked.text));
  return lines.map((note) => element("p", { class: "note" }, ...pieceNodes(sentencePieces(note), { inline: true })));
}

const ways = {
  clearFilters: () => go({ tags: [], kinds: [], folders: [], collections: [], page: 1 }),
  firstPage: () => go({ page: 1 }),
  usualStrategy: () => go({ strategy: "", page: 1 }),
  otherTask: () => go({ task: state.task === "formulas" ? "answers" : "formulas", page: 1 }),
};

function askExample(query, task) {
  box.text = query;
  byId("search").elements.task.value = task;
  submit();
}

function again() {
  tries = 0;
  searched = null;
  if (!indexed) learnIndex();
  show();
}

function showFailure(error, asked) {
  found = [];
  if (error.code === "busy" && tries < TRIES) {
    tries += 1;
    error.waiting = Math.min(60, Math.max(1, Math.ceil(error.retryAfter ?? 1)));
    timer = setTimeout(runSearch, error.waiting * 1000);
  } else if (error.code === "unreachable") {
    timer = setTimeout(waitForServer, POLL);
  }
  const lines = { unreachable: "No answer from the server", busy: "The server is busy" };
  const { otherTask } = ways;
  say(lines[error.code] ?? "The search failed", failure(error, { again, state: asked, otherTask }));
}

/** Asks now and then whether the server is back, and goes on when it is. */
async function waitForServer() {
  try {
    await api.health();
  } catch {
    timer = setTimeout(waitForServer, POLL);
    return;
  }
  again();
}

function paging(page, more) {
  const nav = byId("paging");
  nav.hidden = page === 1 && !more;
  if (nav.hidden) return nav.replaceChildren();
  const turn = (label, to, enabled) =>
    enabled
      ? results.link({ page: to, ...CLOSED }, { class: "secondary", rel: to > page ? "next" : "prev" }, label)
      : element("span", { class: "secondary", "aria-disabled": "true" }, label);
  nav.replaceChildren(
    turn("Previous", page - 1, page > 1),
    element("span", { class: "faint" }, `Page ${page}`),
    turn("Next", page + 1, more),
  );
  return undefined;
}

/** What is indexed: the filters, the strategies, the figures in the foot of the page. */
async function learnIndex() {
  clearTimeout(learning);
  try {
    indexed = await api.index();
  } catch (error) {
    if (!state.query) showFailure(error, state);
    else if (error.code !== "unauthorised") learning = setTimeout(learnIndex, POLL);
    return;
  }
  const strategy = byId("search").elements.strategy;
  strategy.replaceChildren(
    element("option", { value: "" }, `usual (${indexed.strategies[0]})`),
    ...indexed.strategies.slice(1).map((name) => element("option", { value: name }, name)),
  );
  strategy.value = state.strategy;
  results.offerGraphs(indexed.graphs);
  offerTasks();
  box.learnMacros(indexed.macros);
  const facts = [
    counted(indexed.posts, "entry", "entries"),
    counted(indexed.formulas, "formula"),
    `model ${indexed.model}`,
    `mathamr ${indexed.version}`,
  ].join(" · ");
  byId("about").replaceChildren(facts);
  if (!state.query) say("", indexed.posts === 0 ? emptyIndex() : welcome(askExample, indexed.examples));
  box.learnCommands().catch(() => {
    // The common commands are offered all the same.
  });
}

/** Offers the tasks of the index's model; a model for formulas alone searches formulas. */
function offerTasks() {
  for (const choice of byId("search").elements.task) choice.disabled = !indexed.tasks.includes(choice.value);
  if (indexed.tasks.includes(state.task)) return;
  state = { ...state, task: indexed.tasks[0] };
  show();
}

/** Copies a text; a browser allows it only on this machine or over https. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    tell("Copied");
  } catch {
    tell(`The browser does not let this page copy: ${text}`);
  }
}

new Meanings();
new FormulaMenu([
  { label: "Search this formula", act: ({ latex, id }) => searchFormula(latex, id) },
  {
    label: "Show its trees",
    act: ({ latex, id }) =>
      go(id ? { formula: id, latex: "", view: "trees" } : { post: "", formula: "", latex, view: "trees" }),
  },
  { label: "Add to the question", act: ({ latex }) => box.append(latex) },
  { label: "Copy LaTeX", act: ({ latex }) => copy(latex) },
]);

byId("search").addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
byId("search").addEventListener("change", (event) => {
  if (event.target.name === "task") {
    box.changed(false);
    if (box.text.trim()) submit();
    else go({ task: event.target.value });
  } else if (event.target.name === "strategy") {
    go({ strategy: event.target.value, page: 1 });
  }
});
byId("results").addEventListener("leave", () => box.focus());
byId("help-button").addEventListener("click", () => byId("help").showModal());
byId("home").addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  box.text = "";
  go({ ...START });
  box.focus();
});
addEventListener("popstate", () => {
  state = fromAddress(location.search);
  box.text = shownQuery();
  show();
});
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("textarea, input, select, dialog, math-field");
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && !byId("help").open && panel.isOpen) closePanel();
  else if (typing) return;
  else if (event.key === "/") box.focus();
  else if (event.key === "?") byId("help").showModal();
  else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && event.target === document.body)
    results.enter();
  else return;
  event.preventDefault();
});

/** The question as it stands in the box: a formula alone needs no marks in a search for formulas. */
function shownQuery() {
  const alone = /^\$([^$]+)\$$/.exec(state.query);
  return state.task === "formulas" && alone ? alone[1] : state.query;
}

startTheme(byId("theme"));
box.field.start();
byId("search").elements.task.value = state.task;
box.text = shownQuery();
learnIndex();
show();
if (!state.query && matchMedia("(pointer: fine)").matches) box.focus();
