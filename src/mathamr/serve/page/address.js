// What the page shows, as its address: it can be shared, and the back button walks through it.

export const TASKS = ["answers", "formulas"];
export const VIEWS = ["text", "why", "graph", "trees"];

/** Nothing beside the results. */
export const CLOSED = Object.freeze({ post: "", formula: "", latex: "", view: "text" });

/** The state of a page without a query. */
export const START = Object.freeze({
  query: "",
  task: "answers",
  strategy: "",
  tags: [],
  kinds: [],
  folders: [],
  collections: [],
  page: 1,
  collection: "",
  ...CLOSED,
});

/** The state that an address asks for; what makes no sense in it is left at its start. */
export function fromAddress(search) {
  const given = new URLSearchParams(search);
  const page = Number.parseInt(given.get("page") ?? "1", 10);
  return {
    query: given.get("q") ?? "",
    task: known(given.get("task"), TASKS),
    strategy: given.get("strategy") ?? "",
    tags: distinct(given.getAll("tag")),
    kinds: distinct(given.getAll("kind")),
    folders: distinct(given.getAll("folder")),
    collections: distinct(given.getAll("in")),
    page: Number.isInteger(page) && page > 0 ? Math.min(page, 10000) : 1,
    collection: given.get("collection") ?? "",
    post: given.get("post") ?? "",
    formula: given.get("formula") ?? "",
    latex: given.get("latex") ?? "",
    view: known(given.get("view"), VIEWS),
  };
}

/** The address of a state, without what is at its start. */
export function toAddress(state) {
  const said = new URLSearchParams();
  const say = (name, value, start) => {
    if (value && value !== start) said.append(name, value);
  };
  say("q", state.query);
  say("task", state.task, START.task);
  say("strategy", state.strategy);
  for (const tag of state.tags) say("tag", tag);
  for (const kind of state.kinds) say("kind", kind);
  for (const folder of state.folders) say("folder", folder);
  for (const name of state.collections) say("in", name);
  if (state.page > 1) said.append("page", state.page);
  if (state.post || state.formula) say("collection", state.collection);
  say("post", state.post);
  say("formula", state.formula);
  say("latex", state.latex);
  say("view", state.view, START.view);
  const text = said.toString();
  return text ? `?${text}` : location.pathname;
}

/** Whether two states ask the server the same search. */
export function sameSearch(one, other) {
  const asked = ({ query, task, strategy, tags, kinds, folders, collections, page }) =>
    JSON.stringify([query, task, strategy, tags, kinds, folders, collections, page]);
  return asked(one) === asked(other);
}

function known(value, values) {
  return values.includes(value) ? value : values[0];
}

function distinct(values) {
  return [...new Set(values.filter((value) => value !== ""))];
}
