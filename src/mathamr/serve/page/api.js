// The page talks to the server only through this module: JSON in, JSON out, and one kind of error.

/** What went wrong, as the server's error shape says it; `code` is "unreachable" when nobody answered. */
export class ServerError extends Error {
  constructor({ code, message, status = 0, offset = null, field = null, retryAfter = null }) {
    super(message);
    Object.assign(this, { code, status, offset, field, retryAfter });
  }
}

const KEY = "mathamr-key";
let memory = "";

/** The key that this reader typed; it is forgotten with the browser's tab. */
export function setKey(key) {
  memory = key;
  try {
    sessionStorage.setItem(KEY, key);
  } catch {
    // Without storage the key lasts as long as the page.
  }
}

function key() {
  try {
    return memory || sessionStorage.getItem(KEY) || "";
  } catch {
    return memory;
  }
}

let collection = "";

/** Of which collection posts and formulas are asked for, where the server has several; empty is its first. */
export function within(name) {
  collection = name;
}

/** The address of something in that collection. */
function inside(path) {
  if (!collection) return path;
  return `${path}${path.includes("?") ? "&" : "?"}collection=${piece(collection)}`;
}

async function answer(path, { body = null, signal = undefined } = {}) {
  const headers = {};
  if (body !== null) headers["Content-Type"] = "application/json";
  if (key()) headers["X-API-Key"] = key();
  let response;
  try {
    response = await fetch(`v1/${path}`, {
      method: body === null ? "GET" : "POST",
      headers,
      body: body === null ? undefined : JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServerError({ code: "unreachable", message: "The server does not answer." });
  }
  if (response.ok) return response;
  const wait = Number.parseFloat(response.headers.get("Retry-After") ?? "");
  const said = await response.json().catch(() => ({}));
  throw new ServerError({
    code: "unexpected",
    message: `The server answered ${response.status}.`,
    ...said.error,
    status: response.status,
    retryAfter: Number.isFinite(wait) ? wait : null,
  });
}

async function json(path, options) {
  const response = await answer(path, options);
  return response.json();
}

async function text(path, options) {
  const response = await answer(path, options);
  return response.text();
}

const piece = encodeURIComponent;

/** Hits of a search; see docs/api.md for what comes back from this and all the others. */
export function search({ query, task, strategy, tags, kinds, folders, collections, page }, size, signal) {
  const filter = {};
  if (kinds.length) filter.kinds = kinds;
  if (tags.length) filter.tags = tags;
  if (folders.length) filter.folders = folders;
  if (collections.length) filter.collections = collections;
  const body = { q: query, task, k: size, offset: (page - 1) * size, counts: true };
  if (task === "answers") body.group = "document";
  if (strategy) body.strategy = strategy;
  if (Object.keys(filter).length) body.filter = filter;
  return json("search", { body, signal });
}

/** The parts of the query against the parts of a post; of a found formula also its nodes against the query's. */
export function explain({ query, task, post, formula }, signal) {
  const id = task === "formulas" && formula ? formula : post;
  return json(inside("explain"), { body: { q: query, id, task }, signal });
}

/** A post with its text as clean HTML. */
export function post(id, signal) {
  return json(inside(`posts/${piece(id)}`), { signal });
}

/** What corresponds to a post in the other index of the server. */
export function beside(id, signal) {
  return json(inside(`beside/${piece(id)}`), { signal });
}

/** Entries that say something similar to one. */
export function similarTo(id, signal) {
  return json(inside(`similar/${piece(id)}`), { signal });
}

/** The picture of a post's graph, as SVG. */
export function graphPicture(id, signal) {
  return text(inside(`graphs/${piece(id)}?format=svg`), { signal });
}

/** A formula of the index, with its trees as text. */
export function formula(id, signal) {
  return json(inside(`formulas/${piece(id)}`), { signal });
}

/** The two trees of a formula of the index, as SVG. */
export function formulaPicture(id, signal) {
  return text(inside(`formulas/${piece(id)}?format=svg`), { signal });
}

/** The two trees of any LaTeX, as SVG. */
export function latexPicture(latex, signal) {
  return text(`picture?latex=${piece(latex)}`, { signal });
}

/** A text in pieces as a search for `task` reads it, each formula as MathML. */
export function render(source, signal, task = "answers") {
  return json("render", { body: { text: source, task }, signal });
}

/** What the symbols of a formula are introduced as, in the post of the formula `id` first. */
export function introduced(latex, id, signal) {
  const of = id ? `&formula=${piece(id)}` : "";
  return json(inside(`introduced?latex=${piece(latex)}${of}`), { signal });
}

/** LaTeX commands that the server reads. */
export function commands() {
  return json("commands");
}

/** The symbols that strokes of a pen may be. */
export function symbols(strokes, k, signal) {
  return json("symbols", { body: { strokes, k }, signal });
}

/** What is indexed. */
export function index() {
  return json("index");
}

/** Whether the server is up. */
export function health() {
  return json("health");
}
