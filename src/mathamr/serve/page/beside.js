// What corresponds to a post in the other index of the server, such as a theorem of notes in Mathlib.

import * as api from "./api.js";
import { element } from "./dom.js";
import { htmlNodes } from "./markup.js";
import { documentationOf, placeOf } from "./neighbours.js";
import { failure } from "./notice.js";

/** A button that finds it, and the place where it is shown; `signal()` ends the request with the panel. */
export function beside(post, signal) {
  const place = element("div", { "aria-live": "polite" });
  const find = async () => {
    button.disabled = true;
    try {
      place.replaceChildren(...shown(await api.beside(post.id, signal())));
    } catch (error) {
      if (error.name !== "AbortError") place.replaceChildren(failure(error, { again: find }));
    } finally {
      button.disabled = false;
    }
  };
  const button = element("button", { type: "button", on: { click: find } }, `Find in ${post.beside}`);
  return element("section", { class: "neighbours beside" }, button, place);
}

function shown({ index, found, hits }) {
  const none = found ? [] : [element("p", { class: "faint" }, `Nothing close enough in ${index}.`)];
  return [...none, element("ul", {}, ...(found ? hits : []).map((hit) => element("li", {}, ...entry(hit))))];
}

function entry(hit) {
  return [
    element("strong", {}, hit.title || hit.id),
    element("span", { class: "facts" }, element("span", {}, hit.kind), placeOf(hit), documentationOf(hit)),
    element("div", { class: "prose" }, ...htmlNodes(hit.html)),
  ];
}
