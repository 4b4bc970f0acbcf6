// What the page says when there are no results to show, and what can be done about it.

import { render, setKey } from "./api.js";
import { element } from "./dom.js";
import { hasFormula } from "./latex.js";
import { pieceNodes } from "./pieces.js";

function notice(title, ...content) {
  return element("div", { class: "notice" }, element("h2", {}, title), ...content);
}

function paragraph(...content) {
  return element("p", {}, ...content);
}

/** A message of the server as a sentence of the page. */
export function sentence(message) {
  const begun = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.?!…]$/.test(begun) ? begun : `${begun}.`;
}

/** A text as the pieces of a message. */
export function textOf(message) {
  return [{ kind: "text", text: message }];
}

/** A message of pieces as a sentence. */
export function sentencePieces(pieces) {
  const [first, ...rest] = pieces;
  const begun = first?.kind === "text" ? [...textOf(first.text.charAt(0).toUpperCase() + first.text.slice(1)), ...rest] : pieces;
  return /[.?!…]$/.test(begun.at(-1)?.text ?? "") ? begun : [...begun, ...textOf(".")];
}

function button(label, act) {
  return element("button", { type: "button", class: "secondary", on: { click: act } }, label);
}

/** Before the first question: what is here and what can be asked; examples are the index's own. */
export function welcome(ask, examples = []) {
  return element(
    "div",
    { class: "notice welcome" },
    element("h2", {}, "Ask with words and formulas"),
    paragraph(
      "Type formulas as they come, ",
      element("code", {}, "x^2 <= 1"),
      ", ",
      element("code", {}, "∫ f dμ"),
      ", or as LaTeX. Results show which formulas match yours; press any formula to search for it.",
    ),
    element(
      "ul",
      { class: "examples", "aria-label": "Examples" },
      ...examples.map(({ query, task }) => element("li", {}, example(query, task, ask))),
    ),
  );
}

/** A question to try, drawn as soon as the server has done it. */
function example(query, task, ask) {
  const text = element("span", {}, query);
  const kind = task === "formulas" ? element("span", { class: "faint" }, " among formulas") : null;
  render(task === "formulas" ? `$${query}$` : query).then(
    ({ pieces }) => text.replaceChildren(...pieceNodes(pieces, { active: false, inline: true })),
    () => null, // the text says the same
  );
  return element(
    "button",
    { type: "button", class: "example", on: { click: () => ask(query, task) } },
    text,
    kind,
  );
}

/** Nothing is indexed yet. */
export function emptyIndex() {
  return notice(
    "This index is empty",
    paragraph("There is nothing to find yet. Stop the server, add your posts or notes, and start it again:"),
    element("pre", {}, "mathamr index PATH --out DIR\nmathamr serve DIR"),
    paragraph("PATH is a folder of Markdown, LaTeX or HTML, a JSON lines file, or a Stack Exchange dump."),
  );
}

/** A search that found nothing: possible reasons and remedies. */
export function noHit(state, { clearFilters, firstPage, otherTask, usualStrategy }) {
  const filtered = state.tags.length + state.kinds.length + state.folders.length + state.collections.length > 0;
  const hints = [];
  if (state.page > 1)
    hints.push(paragraph("There are no more results on this page. ", button("First page", firstPage)));
  else if (filtered)
    hints.push(paragraph("No result passes the filters. ", button("Search without filters", clearFilters)));
  else {
    const actions = [];
    if (state.strategy) actions.push(button("Search in the usual way", usualStrategy));
    if (state.task === "formulas") actions.push(button("Search answers instead", otherTask));
    else if (hasFormula(state.query)) actions.push(button("Search formulas instead", otherTask));
    hints.push(
      paragraph(
        "Try fewer or more general words, write formulas between $ signs, or use ?x for any part of a formula.",
      ),
      actions.length ? paragraph(...actions) : null,
    );
  }
  return notice("Nothing found", ...hints);
}

/** A search that failed: what happened, and what to do. */
export function failure(error, { again, state, otherTask }) {
  switch (error.code) {
    case "unreachable":
      return notice(
        "The server does not answer",
        paragraph("It may have been stopped. Start it again where it ran:"),
        element("pre", {}, "mathamr serve DIR"),
        paragraph("This page goes on by itself when the server is back. ", button("Try again", again)),
      );
    case "busy":
      return notice(
        "The server is busy",
        paragraph("There are too many searches at once. "),
        error.waiting
          ? paragraph(`Trying again in ${error.waiting} s. `, button("Try now", again))
          : button("Try again", again),
      );
    case "timeout":
      return notice(
        "That took too long",
        paragraph(
          "The search was stopped at the server's time limit. A shorter question is quicker. ",
          button("Try again", again),
        ),
      );
    case "broken_formula":
      return notice("A formula cannot be read", paragraph(sentence(error.message)), position(error, state));
    case "empty_query":
      return state.task === "formulas" && otherTask
        ? notice(
            "There is no formula in the question",
            paragraph(sentence(error.message)),
            paragraph(button("Search answers instead", otherTask)),
          )
        : notice("There is nothing to search for", paragraph(sentence(error.message)));
    case "invalid":
      return notice("This cannot be searched for", paragraph(sentence(error.message)));
    case "too_complex":
      return notice("This is too large to draw", paragraph(sentence(error.message)));
    case "unauthorised":
      return keyForm(again);
    case "unknown_post":
    case "unknown_formula":
      return notice("It is not in this index", paragraph(sentence(error.message)));
    case "internal":
    case "unexpected":
      return notice(
        "Internal server error",
        paragraph("Its log has the details. ", button("Try again", again)),
      );
    default:
      return notice(
        "That did not work",
        paragraph(sentence(error.message)),
        paragraph(button("Try again", again)),
      );
  }
}

/** The question with the place where reading stopped. */
function position({ offset, field }, state) {
  const text = state.query;
  if (field !== "q" || !Number.isInteger(offset) || offset < 0 || offset > text.length) return null;
  return element(
    "pre",
    {},
    text.slice(0, offset),
    element("span", { class: "here" }, text.slice(offset, offset + 1) || "␣"),
    text.slice(offset + 1),
  );
}

function keyForm(again) {
  const field = element("input", { type: "password", id: "key", autocomplete: "off", required: true });
  return notice(
    "This server wants a key",
    element(
      "form",
      {
        class: "key",
        on: {
          submit: (event) => {
            event.preventDefault();
            setKey(field.value.trim());
            again();
          },
        },
      },
      element("label", { for: "key" }, "API key"),
      field,
      element("button", { class: "primary" }, "Go on"),
    ),
  );
}
