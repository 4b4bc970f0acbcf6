// Entries that say nearly the same: pairs of the whole collection, and those similar to one entry.

import { CLOSED } from "./address.js";
import * as api from "./api.js";
import { element } from "./dom.js";
import { placeOf } from "./neighbours.js";
import { failure } from "./notice.js";
import { score } from "./numbers.js";
import { pieceNodes } from "./pieces.js";

const SAME = 0.9;
const LEAST = 0.8;

/** The pairs of the collection; `link(change, attributes, …)` makes a link to an entry. */
export async function similarPairs(link, signal) {
  const { pairs } = await api.similarPairs(LEAST, signal);
  const same = pairs.filter(({ similarity }) => similarity >= SAME);
  const others = pairs.filter(({ similarity }) => similarity < SAME);
  return [
    element("h2", {}, "Entries that say nearly the same"),
    same.length ? listed(same, link) : element("p", { class: "faint" }, "There are none."),
    ...(others.length ? [element("h3", {}, "Similar"), listed(others, link)] : []),
  ];
}

function listed(pairs, link) {
  const pair = ({ similarity, posts }) => [
    element("span", { class: "faint", title: "cosine of their vectors" }, score(similarity)),
    ...posts.map((post) => entry(post, link)),
  ];
  return element("ol", { class: "pairs" }, ...pairs.map((each) => element("li", {}, ...pair(each))));
}

/** A line that opens to the entries similar to one; they are asked for when it is opened. */
export function similarTo(post, link, signal) {
  const place = element("div", { "aria-live": "polite" });
  const find = async () => {
    try {
      const { hits } = await api.similarTo(post.id, signal());
      const close = hits.filter(({ match }) => match !== "similar");
      const shown = (close.length ? close : hits).map((hit) => element("li", {}, entry(hit, link)));
      const none = close.length ? null : element("p", { class: "faint" }, "No other entry says the same; these are only similar.");
      place.replaceChildren(...[none, element("ul", {}, ...shown)].filter(Boolean));
    } catch (error) {
      if (error.name !== "AbortError") place.replaceChildren(failure(error, { again: find }));
    }
  };
  return element(
    "details",
    { class: "neighbours", on: { toggle: (event) => event.target.open && !place.childElementCount && find() } },
    element("summary", {}, "Is this noted elsewhere?"),
    place,
  );
}

function entry(post, link) {
  const plain = post.title.map((piece) => ({ ...piece, matched: false }));
  const name = plain.length ? pieceNodes(plain, { active: false, inline: true }) : [post.id];
  return element(
    "div",
    { class: "entry-line" },
    link({ ...CLOSED, post: post.id }, { data: { post: post.id } }, ...name),
    element("span", { class: "facts" }, element("span", {}, post.kind), placeOf(post)),
  );
}
