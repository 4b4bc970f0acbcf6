// What the server sends as HTML, MathML or SVG, copied element by element through a list of what may be there.
//
// The server has cleaned it already and the page's Content-Security-Policy would stop what got through; this is the
// third lock on the same door.

const HTML = "http://www.w3.org/1999/xhtml";
const MATHML = "http://www.w3.org/1998/Math/MathML";
const SVG = "http://www.w3.org/2000/svg";

const ALLOWED = {
  [HTML]: new Set(
    (
      "a abbr b blockquote br caption cite code dd del dfn div dl dt em figure figcaption h1 h2 h3 h4 h5 h6 hr i ins kbd li " +
      "mark ol p pre q s samp small span strike strong sub sup table tbody td tfoot th thead tr tt u ul var"
    ).split(" "),
  ),
  [MATHML]: new Set(
    (
      "math maction menclose merror mfenced mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms " +
      "mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none semantics"
    ).split(" "),
  ),
  [SVG]: new Set("svg g path polyline line rect circle ellipse text tspan title".split(" ")),
};
const ATTRIBUTES = {
  [HTML]: new Set(["class", "title", "lang", "dir", "start", "colspan", "rowspan", "scope"]),
  [MATHML]: new Set(
    (
      "accent accentunder alttext class columnalign columnlines columnspacing columnspan depth dir display displaystyle fence form " +
      "height largeop linethickness lspace mathbackground mathcolor mathsize mathvariant maxsize minsize movablelimits notation rowalign rowlines rowspacing " +
      "rowspan rspace scriptlevel separator stretchy symmetric voffset width"
    ).split(" "),
  ),
  [SVG]: new Set(
    (
      "aria-label class cx cy d fill fill-opacity font-family font-size font-weight height opacity points r role rx ry stroke " +
      "stroke-dasharray stroke-width text-anchor transform viewBox width x x1 x2 y y1 y2"
    ).split(" "),
  ),
};

/** A fragment of HTML (with MathML in it) from the server, as nodes. */
export function htmlNodes(markup) {
  const parsed = new DOMParser().parseFromString(markup, "text/html");
  return copied(parsed.body);
}

/** One formula that the server wrote as MathML; null when it is none. */
export function mathNode(markup) {
  const parsed = new DOMParser().parseFromString(markup, "text/html");
  const math = parsed.body.querySelector("math");
  return math ? copy(math) : null;
}

/** A drawing that the server wrote as SVG; null when it is none. */
export function drawingNode(markup) {
  // The page's style sheet has the drawing's colours; its own would break the page's policy and be refused with a complaint.
  const parsed = new DOMParser().parseFromString(
    markup.replace(/<style>[^<]*<\/style>/g, ""),
    "image/svg+xml",
  );
  const root = parsed.documentElement;
  return root.namespaceURI === SVG && root.localName === "svg" ? copy(root) : null;
}

function copied(parent) {
  const nodes = [];
  for (const child of parent.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) {
      nodes.push(document.createTextNode(child.data));
    } else if (child.nodeType === Node.ELEMENT_NODE) {
      const made = copy(child);
      if (made) nodes.push(made);
    }
  }
  return nodes;
}

function copy(source) {
  const space = source.namespaceURI;
  if (!ALLOWED[space]?.has(source.localName)) return null;
  const made = document.createElementNS(space, source.localName);
  for (const { name, value } of source.attributes) {
    if (ATTRIBUTES[space].has(name)) made.setAttribute(name, value);
    else if (space === HTML && name.startsWith("data-")) made.setAttribute(name, value);
  }
  if (space === HTML && source.localName === "a") link(source, made);
  if (space === MATHML && source.localName === "semantics") {
    return source.firstElementChild && copy(source.firstElementChild);
  }
  made.append(...copied(source));
  return made;
}

/** Links lead to entries of this index, or to other sites in a window of their own that knows nothing of this one. */
function link(source, made) {
  const target = source.getAttribute("href") ?? "";
  if (/^\?post=[\w%.~-]+$/.test(target)) made.setAttribute("href", target);
  if (!/^(https?|mailto):/i.test(target)) return;
  made.setAttribute("href", target);
  made.setAttribute("target", "_blank");
  made.setAttribute("rel", "noopener noreferrer nofollow");
}
