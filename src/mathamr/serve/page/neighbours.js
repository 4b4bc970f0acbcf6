// The posts around a post: its question, its answers in the server's order, duplicates, what is related.

import { CLOSED } from "./address.js";
import { element } from "./dom.js";
import { counted, day } from "./numbers.js";
import { pieceNodes } from "./pieces.js";

const RELATIONS = [
  ["question", () => "Answer to"],
  ["answer", (count) => counted(count, "answer")],
  ["duplicate", () => "Duplicates"],
  ["related", () => "Related"],
];

/** A section for each relation that a post has; `link(change, attributes, …)` makes a link to another post. */
export function neighbours(post, link) {
  return RELATIONS.flatMap(([relation, label]) => {
    const found = post.neighbours.filter((each) => each.relation === relation);
    if (!found.length) return [];
    const more = relation === "answer" ? post.answers.length - found.length : 0;
    return [
      element(
        "section",
        { class: "neighbours", data: { relation } },
        element("h3", {}, label(found.length + more)),
        element("ul", {}, ...found.map((each) => element("li", {}, ...entry(each, link)))),
        more ? element("p", { class: "faint" }, `and ${more} more`) : null,
      ),
    ];
  });
}

function entry({ id, indexed, accepted, votes, date, text }, link) {
  const name = text.length ? pieceNodes(text, { active: false, inline: true }) : [id];
  return [
    indexed ? link({ ...CLOSED, post: id }, { data: { post: id } }, ...name) : element("span", {}, ...name),
    element(
      "span",
      { class: "facts" },
      accepted ? element("span", { class: "accepted" }, "✓ accepted") : null,
      Number.isFinite(votes) ? element("span", {}, counted(votes, "vote")) : null,
      date ? element("time", { datetime: date }, day(date)) : null,
      indexed ? null : element("span", {}, "not in this index"),
    ),
  ];
}
