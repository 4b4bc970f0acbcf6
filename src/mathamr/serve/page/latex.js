// Text with formulas in it, as the search box holds it: `$…$`, `$$…$$`, `\(…\)`, `\[…\]` and LaTeX's environments for
// displayed formulas; `\$` is a dollar sign.

const OPENINGS = [
  ["$$", "$$", true],
  ["$", "$", false],
  ["\\[", "\\]", true],
  ["\\(", "\\)", false],
];
/** Where words begin behind a formula: one of three letters that is no function, with the small ones before it. */
const WORDS =
  /(?:(?<=\s)(?:an|as|at|be|by|has|if|in|is|it|of|on|or|to|we)\s+)*(?<![A-Za-z])(?!(?:(?:arc)?(?:sin|cos|tan)|(?:sin|cos|tan)h|cot|csc|sec|log|exp|lim|max|min|sup|inf|gcd|lcm|det|dim|ker|mod|deg|arg|rank)(?![A-Za-z]))[A-Za-z]{3,}(?![A-Za-z(])/;
const ENVIRONMENT =
  /\\begin\{((?:align|alignat|displaymath|eqnarray|equation|flalign|gather|math|multline)\*?)\}/y;

/**
 * The pieces of a text in order: `{kind: "text", text, start, end}` or
 * `{kind: "formula", latex, display, closed, closing, start, end, inside}`; `inside` is where the opening mark ends.
 */
export function pieces(text) {
  const found = [];
  let place = 0;
  let start = 0;
  const textUntil = (end) => {
    if (end > start) found.push({ kind: "text", text: text.slice(start, end), start, end });
  };
  while (place < text.length) {
    const opening = openingAt(text, place);
    if (opening) {
      const { mark, closing, display, isPart } = opening;
      const inside = place + mark.length;
      const close = closingPlace(text, closing, inside);
      const end = close < 0 ? text.length : close + closing.length;
      const latexEnd = close < 0 || isPart ? end : close;
      textUntil(place);
      found.push({
        kind: "formula",
        latex: text.slice(isPart ? place : inside, latexEnd),
        display,
        closed: close >= 0,
        closing,
        start: place,
        end,
        inside,
      });
      place = start = end;
    } else {
      place += text[place] === "\\" ? 2 : 1;
    }
  }
  textUntil(text.length);
  return found;
}

/** What opens a formula here, and how it is closed; the marks of an environment are part of its LaTeX. */
function openingAt(text, place) {
  ENVIRONMENT.lastIndex = place;
  const environment = ENVIRONMENT.exec(text);
  if (environment)
    return { mark: environment[0], closing: `\\end{${environment[1]}}`, display: true, isPart: true };
  const found = OPENINGS.find(([mark]) => text.startsWith(mark, place));
  return found && { mark: found[0], closing: found[1], display: found[2], isPart: false };
}

/** Where a formula ends: at its closing mark, unless a backslash stands before it. */
function closingPlace(text, closing, from) {
  for (let place = from; place < text.length;) {
    if (text.startsWith(closing, place)) return place;
    place += text[place] === "\\" && closing[0] === "$" ? 2 : 1;
  }
  return -1;
}

/** The formula in which the caret stands, or null. */
export function formulaAt(text, caret) {
  return (
    pieces(text).find(
      (piece) =>
        piece.kind === "formula" &&
        caret >= piece.inside &&
        (caret < piece.end || (!piece.closed && caret === piece.end)),
    ) ?? null
  );
}

/**
 * The text with its last formula closed, when its closing mark is still to be typed: before the words that follow it,
 * else at the end. A price is no formula.
 */
export function closed(text) {
  const last = pieces(text).at(-1);
  if (last?.kind !== "formula" || last.closed || last.latex.trim() === "") return text;
  const words = WORDS.exec(withoutCommands(last.latex));
  const formula = words ? last.latex.slice(0, words.index).trimEnd() : "";
  if (!words || (formula === "" && prose(last.latex).length === 1)) return text + last.closing;
  if (!/[A-Za-z\\^_=]/.test(formula)) return text;
  const end = last.inside + formula.length;
  return `${text.slice(0, end)}${last.closing} ${text.slice(end).trimStart()}`;
}

/** Whether any formula is marked in the text. */
export function hasFormula(text) {
  return pieces(text).some((piece) => piece.kind === "formula" && piece.latex.trim() !== "");
}

/** Whether an unmarked text is a formula: commands, scripts or an equation, and no words. */
export function looksLikeFormula(text) {
  return !hasFormula(text) && /\\[A-Za-z]|[_^=]/.test(text) && prose(text).length === 0;
}

/** The words of an unmarked text: names of commands and environments are none, nor are single letters. */
export function prose(text) {
  return withoutCommands(text).match(/[A-Za-z]{3,}(?![A-Za-z(])/g) ?? [];
}

function withoutCommands(text) {
  return text.replace(/\\[A-Za-z]+(\{[A-Za-z*]+\})?/g, (command) => " ".repeat(command.length));
}
