// Places in a note: the block at the cursor, and the line that a hit means.

import type { Hit } from "./api";

const LONGEST = 4000;

/** The lines of a block, counted from zero. */
export interface Block {
  text: string;
  from: number;
  to: number;
}

/**
 * The block in which a line stands: what blank lines and headings separate; a displayed formula, a fenced block or a
 * callout stays whole, with the lines that touch it.
 */
export function blockAt(lines: string[], line: number): Block | null {
  const whole = spans(lines);
  const isBreak = (at: number) =>
    !whole.some(([from, to]) => at >= from && at <= to) && (lines[at]?.trim() === "" || /^#{1,6}\s/.test(lines[at] ?? ""));
  if (line < 0 || line >= lines.length || isBreak(line)) return null;
  let from = line;
  let to = line;
  while (from > 0 && !isBreak(from - 1)) from -= 1;
  while (to < lines.length - 1 && !isBreak(to + 1)) to += 1;
  const text = lines
    .slice(from, to + 1)
    .map((each) => each.replace(/^\s*>\s?(\[![^\]]*\][+-]?\s*)?/, "").replace(/\s\^[\w-]+$/, ""))
    .join("\n")
    .trim();
  return text ? { text: text.slice(0, LONGEST), from, to } : null;
}

/** Spans of lines that belong together although there are blank lines in them: `$$` and fences. */
function spans(lines: string[]): [number, number][] {
  const found: [number, number][] = [];
  let open: { mark: string; at: number } | null = null;
  lines.forEach((each, at) => {
    const fence = /^\s*(```|~~~)/.exec(each)?.[1];
    const marks = each.split("$$").length - 1;
    if (open) {
      if ((open.mark === "$$" && marks % 2 === 1) || (open.mark !== "$$" && fence === open.mark)) {
        found.push([open.at, at]);
        open = null;
      }
    } else if (fence) {
      open = { mark: fence, at };
    } else if (marks % 2 === 1) {
      open = { mark: "$$", at };
    }
  });
  return found;
}

/** The line of a hit in the text of its note, counted from zero: where what was found stands, else where the entry begins. */
export function lineOf(text: string, hit: Hit): number {
  const first = Math.max(0, (hit.place?.line ?? 1) - 1);
  const offset = text.split("\n", first).join("\n").length;
  const formulas = hit.snippet.filter((piece) => piece.kind === "formula");
  const wanted = [
    hit.formula?.latex,
    ...formulas.filter(({ matched }) => matched).map((piece) => piece.text),
    ...hit.snippet.filter((piece) => piece.kind === "text").map((piece) => piece.text.trim()),
    ...formulas.map((piece) => piece.text),
  ];
  for (const each of wanted) {
    if (!each || each.length < 3) continue;
    const at = text.indexOf(each, offset);
    if (at >= 0) return text.slice(0, at).split("\n").length - 1;
  }
  return first;
}

/** The path of a hit in its vault; a server of a folder above names the vault's folder too. */
export function pathOf(hit: Hit, isThere: (path: string) => boolean): string | null {
  let path = hit.place?.path ?? hit.source;
  while (path) {
    if (isThere(path)) return path;
    const slash = path.indexOf("/");
    if (slash < 0) return null;
    path = path.slice(slash + 1);
  }
  return null;
}
