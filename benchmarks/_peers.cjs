// Formulas to MathML by a peer: `node _peers.cjs FOLDER NAME`, a JSON string a line in, `{"mathml"}` or `{"error"}` a line out.
// FOLDER is where npm installed katex, temml and mathjax-full; see peers.py.
const {createRequire} = require("module");
const readline = require("readline");
const [folder, name] = process.argv.slice(2);
const load = createRequire(folder + "/package.json");

const peers = {
  katex() {
    const katex = load("katex");
    return (latex) => katex.renderToString(latex, {output: "mathml", displayMode: true, trust: true, strict: false,
                                                   maxExpand: 200});
  },
  temml() {
    const temml = load("temml");
    return (latex) => temml.renderToString(latex, {displayMode: true, throwOnError: true, trust: true});
  },
  mathjax() {
    const {mathjax} = load("mathjax-full/js/mathjax.js");
    const {TeX} = load("mathjax-full/js/input/tex.js");
    const {AllPackages} = load("mathjax-full/js/input/tex/AllPackages.js");
    const {liteAdaptor} = load("mathjax-full/js/adaptors/liteAdaptor.js");
    const {RegisterHTMLHandler} = load("mathjax-full/js/handlers/html.js");
    const {SerializedMmlVisitor} = load("mathjax-full/js/core/MmlTree/SerializedMmlVisitor.js");
    RegisterHTMLHandler(liteAdaptor());
    const packages = AllPackages.filter((each) => !["noerrors", "noundefined", "bussproofs"].includes(each));
    packages.push("physics", "mathtools", "upgreek", "gensymb", "cases");
    const formatError = (jax, error) => { throw error; };
    const document = mathjax.document("", {InputJax: new TeX({packages: [...new Set(packages)], formatError})});
    const visitor = new SerializedMmlVisitor();
    return (latex) => {
      document.inputJax[0].parseOptions.tags.reset();
      const markup = visitor.visitTree(document.convert(latex, {display: true, end: 20}));
      if (markup.includes("<merror")) throw new Error("merror");
      return markup;
    };
  },
};

console.log = console.info = console.warn = console.error;
const render = peers[name]();
readline.createInterface({input: process.stdin}).on("line", (line) => {
  let answer;
  try {
    const markup = render(JSON.parse(line));
    answer = {mathml: markup.slice(markup.indexOf("<math"), markup.lastIndexOf("</math>") + 7)};
  } catch (error) {
    answer = {error: String(error.message || error).slice(0, 200)};
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
});
