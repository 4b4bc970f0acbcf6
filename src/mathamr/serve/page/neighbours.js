// The posts around a post: its question, its answers in the server's order, duplicates, what is related.

import { CLOSED } from "./address.js";
import { element } from "./dom.js";
import { counted, day } from "./numbers.js";
import { pieceNodes } from "./pieces.js";

const RELATIONS = [
  ["answer", (count) => counted(count, "answer")],
  ["duplicate", () => "Duplicates"],
  ["related", () => "Related"],
  ["mention", () => "Refers to"],
];

const ANSWERING = { proof: "Proof of ", solution: "Solution of " };

/** Proofs and solutions stand below what they belong to; they are no answers. */
const isProof = ({ relation, kind }) => relation === "answer" && kind in ANSWERING;

/** Stands before the title of a question when what is shown is one of its answers. */
export function answerTo(kind) {
  return element("span", { class: "answer-to" }, ANSWERING[kind] ?? "Answer to ");
}

/** The heading of a post; an answer is known by its question, and leads to it. */
export function heading(post, link) {
  const question = post.neighbours.find((each) => each.relation === "question");
  if (post.title.length || !question)
    return element(
      "h2",
      {},
      ...(post.title.length ? pieceNodes(post.title, { inline: true }) : [post.id]),
    );
  return element("h2", {}, answerTo(post.kind), named(question, link));
}

/** A section for each relation that a post has; `link(change, attributes, …)` makes a link to another post. */
export function neighbours(post, link) {
  return RELATIONS.flatMap(([relation, label]) => {
    const all = post.neighbours.filter((each) => each.relation === relation);
    const found = all.filter((each) => !isProof(each));
    if (!found.length) return [];
    const more = relation === "answer" ? post.answers.length - all.length : 0;
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

/** The entries before and after one in its file. */
export function turning(post, link) {
  const found = ["previous", "next"].map((relation) => post.neighbours.find((each) => each.relation === relation));
  if (!found.some(Boolean)) return [];
  const ways = found.map((each, place) =>
    each
      ? link(
          { ...CLOSED, post: each.id },
          { rel: place ? "next" : "prev", class: place ? "next" : "previous" },
          ...pieceNodes(each.text, { active: false, inline: true }),
        )
      : element("span", {}),
  );
  return [element("nav", { class: "turning", "aria-label": "In the same file" }, ...ways)];
}

/** The proofs of a theorem, and the entries that a section contains, each with its text; `prose(id)` reads one. */
export function contents(post, link, prose) {
  const card = (each, name) => {
    const place = element("div", {});
    prose(each.id).then(
      (text) => place.replaceChildren(text),
      () => null, // its name leads to it
    );
    return element("section", { class: "contained" }, element("h3", {}, name), place);
  };
  const proofs = post.neighbours.filter(isProof).map((each) => {
    const name = ANSWERING[each.kind].split(" ")[0];
    return card(each, link({ ...CLOSED, post: each.id }, { data: { post: each.id } }, name));
  });
  const inside = post.neighbours.filter((each) => each.relation === "contains");
  const cards = inside.map((each) => card(each, named(each, link)));
  return [...proofs, ...(cards.length ? [element("h3", {}, "What follows"), ...cards] : [])];
}

/** A link to a post by its title or its first words; one that the index lacks has only its id. */
function named({ id, indexed, text }, link) {
  if (!indexed) return element("span", {}, id);
  const name = text.length ? pieceNodes(text, { active: false, inline: true }) : [id];
  return link({ ...CLOSED, post: id }, { data: { post: id } }, ...name);
}

function entry(neighbour, link) {
  const { indexed, accepted, votes, date } = neighbour;
  return [
    named(neighbour, link),
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

/** The tags to show: of modules inside of each other the innermost alone, and no namespaces, which a full name says. */
export function shownTags(tags) {
  const broader = (tag) => tag.startsWith("module:") && tags.some((other) => other.startsWith(`${tag}.`));
  return tags.filter((tag) => !tag.startsWith("namespace:") && !broader(tag));
}

/** Where a post stands in its input; a link into the editor where the server names one. */
export function placeOf({ place, open }) {
  if (!place) return null;
  const shown = place.cell ? `${place.path}, cell ${place.cell}` : `${place.path}:${place.line}`;
  if (open) return element("a", { class: "place", href: open, title: "Open in the editor" }, shown);
  return element("span", { class: "place" }, shown);
}

/** A link to the page of a library's documentation that describes a declaration. */
export function documentationOf({ documentation }) {
  if (!documentation) return null;
  return element("a", { class: "documentation", href: documentation, rel: "noopener noreferrer" }, "documentation ↗");
}
