// MathLive, loaded once and only when a formula field is wanted, under a policy that allows no inline styles.
//
// MathLive writes `style` attributes into markup, which the page's Content-Security-Policy refuses. It hands all of that
// markup to a hook, though: here the attributes are taken out of the markup and set by script, which the policy allows.

/** Markup of MathLive whose styles are still to be set. */
class StyledMarkup {
  constructor(text) {
    this.text = text;
  }
}

let loading = null;

/** The class of formula fields. */
export function loadMathLive() {
  loading ??= load().catch((error) => {
    loading = null;
    throw error;
  });
  return loading;
}

async function load() {
  const { MathfieldElement } = await import("./vendor/mathlive/mathlive.min.mjs");
  setStylesByScript();
  MathfieldElement.createHTML = (markup) => new StyledMarkup(markup);
  MathfieldElement.fontsDirectory = new URL("./vendor/mathlive/fonts", import.meta.url).href;
  MathfieldElement.soundsDirectory = null;
  MathfieldElement.plonkSound = null;
  return MathfieldElement;
}

/** Setting styles must be done before MathLive measures what it has drawn, so the setter itself does it. */
function setStylesByScript() {
  const original = Object.getOwnPropertyDescriptor(Element.prototype, "innerHTML");
  Object.defineProperty(Element.prototype, "innerHTML", {
    ...original,
    set(markup) {
      if (!(markup instanceof StyledMarkup)) {
        original.set.call(this, markup);
        return;
      }
      original.set.call(this, markup.text.replace(/(<[^<>]*?\s)style=/g, "$1data-style="));
      for (const node of this.querySelectorAll("[data-style]")) {
        node.style.cssText = node.dataset.style;
        delete node.dataset.style;
      }
    },
  });
}
