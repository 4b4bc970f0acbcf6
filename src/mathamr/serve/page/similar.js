// Entries that say something similar to one.

import { CLOSED } from "./address.js";
import * as api from "./api.js";
import { element } from "./dom.js";
import { placeOf } from "./neighbours.js";
import { failure } from "./notice.js";
import { pieceNodes } from "./pieces.js";

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
