import assert from "node:assert/strict";
import test from "node:test";
import type { Hit } from "../src/api";
import { blockAt, lineOf, pathOf } from "../src/block";

const NOTE = `# Series

For $|q|<1$ we have
$$

\\sum q^k = \\frac{1}{1-q}
$$
and nothing else.

> [!note] Convergence
> The series diverges. ^id1

## Proof
Multiply by $1-q$.`.split("\n");

test("a block ends at blank lines and headings, and a displayed formula stays whole", () => {
  const block = blockAt(NOTE, 5);
  assert.deepEqual([block?.from, block?.to], [2, 7]);
  assert.ok(block?.text.startsWith("For $|q|<1$"));
  assert.deepEqual(blockAt(NOTE, 2), block);
  assert.equal(blockAt(NOTE, 13)?.text, "Multiply by $1-q$.");
});

test("a callout is its text, without its marks and its id", () => {
  assert.equal(blockAt(NOTE, 10)?.text, "Convergence\nThe series diverges.");
});

test("there is no block at a blank line, a heading or outside of the note", () => {
  for (const line of [0, 1, 8, 99, -1]) assert.equal(blockAt(NOTE, line), null);
});

function hit(change: Partial<Hit>): Hit {
  const place = { path: "series.md", line: 1 };
  return { id: "", match: "strong", kind: "note", title: [], snippet: [], source: "", formula: null, place, ...change };
}

test("the line of a hit is where its formula or its words stand", () => {
  const text = NOTE.join("\n");
  assert.equal(lineOf(text, hit({ formula: { latex: "\\sum q^k = \\frac{1}{1-q}", mathml: null, exact: true } })), 5);
  const words = [{ kind: "text", text: "The series diverges.", matched: true }] as const;
  assert.equal(lineOf(text, hit({ snippet: [...words] })), 10);
  assert.equal(lineOf(text, hit({ place: { path: "series.md", line: 13 } })), 12);
});

test("the path of a hit is found in a vault that lies below what is served", () => {
  const isThere = (path: string) => path === "notes/series.md";
  const at = (path: string) => pathOf(hit({ place: { path, line: 1 } }), isThere);
  assert.equal(at("notes/series.md"), "notes/series.md");
  assert.equal(at("vault/notes/series.md"), "notes/series.md");
  assert.equal(at("elsewhere.md"), null);
});
