// MathML from the clipboard as LaTeX.

/** The LaTeX of MathML in a text; empty when there is none. The converter is loaded when it is first wanted. */
export async function latexOfMathml(text) {
  const found = /<(?:\w+:)?math[\s>][^]*<\/(?:\w+:)?math>/i.exec(text);
  if (!found) return "";
  const parsed = new DOMParser().parseFromString(found[0], "text/html");
  const annotation = parsed.querySelector('annotation[encoding="application/x-tex"]');
  if (annotation?.textContent.trim()) return annotation.textContent.trim();
  const math = parsed.querySelector("math");
  if (!math) return "";
  for (const each of math.querySelectorAll("annotation, annotation-xml")) each.remove();
  const { MathMLToLaTeX } = await import("./vendor/mathml-to-latex/mathml-to-latex.mjs");
  return MathMLToLaTeX.convert(new XMLSerializer().serializeToString(math)).trim();
}

/** What a paste brings, as text or as HTML, when there is MathML in it; empty otherwise. */
export function pastedMathml(event) {
  const kinds = ["application/mathml+xml", "text/plain", "text/html"];
  const texts = kinds.map((kind) => event.clipboardData?.getData(kind) ?? "");
  const plain = texts[1].trim();
  if (texts[0]) return texts[0];
  // A page's prose with formulas in it is pasted as text; a formula alone is pasted as a formula.
  if (plain.startsWith("<") && plain.includes("math")) return plain;
  const alone = /^\s*(?:<meta[^>]*>|<!--.*?-->|<\/?(?:html|body|span)[^>]*>|\s)*<math[^]*<\/math>(?:<!--.*?-->|<\/?(?:html|body|span)[^>]*>|\s)*$/;
  return alone.test(texts[2]) ? texts[2] : "";
}
