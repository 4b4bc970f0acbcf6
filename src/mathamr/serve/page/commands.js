// LaTeX commands that the box offers first, with what they leave to fill in: the caret goes to the first `|`.

/** [command, what is inserted, what it is]: structures, which no single symbol shows. */
export const STRUCTURES = [
  ["\\frac", "\\frac{|}{}", "fraction"],
  ["\\sqrt", "\\sqrt{|}", "square root"],
  ["\\sum", "\\sum_{|}^{}", "sum with limits"],
  ["\\int", "\\int_{|}^{}", "integral with limits"],
  ["\\prod", "\\prod_{|}^{}", "product with limits"],
  ["\\lim", "\\lim_{| \\to }", "limit"],
  ["\\binom", "\\binom{|}{}", "binomial"],
  ["\\mathbb", "\\mathbb{|}", "blackboard letters"],
  ["\\mathcal", "\\mathcal{|}", "calligraphic letters"],
  ["\\mathfrak", "\\mathfrak{|}", "Fraktur letters"],
  ["\\mathbf", "\\mathbf{|}", "bold letters"],
  ["\\mathrm", "\\mathrm{|}", "upright letters"],
  ["\\operatorname", "\\operatorname{|}", "name of a function"],
  ["\\text", "\\text{|}", "words"],
  ["\\overline", "\\overline{|}", "line above"],
  ["\\underline", "\\underline{|}", "line below"],
  ["\\hat", "\\hat{|}", "hat"],
  ["\\bar", "\\bar{|}", "bar"],
  ["\\tilde", "\\tilde{|}", "tilde"],
  ["\\vec", "\\vec{|}", "arrow above"],
  ["\\dot", "\\dot{|}", "dot above"],
  ["\\left", "\\left( | \\right)", "fences that grow"],
  ["\\overset", "\\overset{|}{}", "one above the other"],
  ["\\underset", "\\underset{|}{}", "one below the other"],
  ["\\overbrace", "\\overbrace{|}^{}", "brace above"],
  ["\\underbrace", "\\underbrace{|}_{}", "brace below"],
  ["\\begin", "\\begin{pmatrix} | \\end{pmatrix}", "matrix, cases, …"],
];

/** Commands that people type most, so that they stand before their rarer neighbours. */
export const COMMON = (
  "\\alpha \\beta \\gamma \\delta \\epsilon \\varepsilon \\zeta \\eta \\theta \\lambda \\mu \\nu \\xi \\pi \\rho \\sigma \\tau " +
  "\\phi \\varphi \\chi \\psi \\omega \\Gamma \\Delta \\Theta \\Lambda \\Pi \\Sigma \\Phi \\Psi \\Omega \\infty \\partial " +
  "\\nabla \\in \\notin \\subset \\subseteq \\cup \\cap \\emptyset \\forall \\exists \\to \\mapsto \\implies \\iff \\le \\ge " +
  "\\leq \\geq \\neq \\equiv \\approx \\sim \\cong \\times \\cdot \\pm \\circ \\sin \\cos \\tan \\log \\ln \\exp \\max \\min " +
  "\\sup \\inf \\det \\dim \\ker \\gcd \\mid \\ldots \\cdots \\quad"
).split(" ");

/** The palette: [what it shows, what it inserts, how it is called]. */
export const PALETTE = [
  [
    "Structures",
    [
      ["a⁄b", "\\frac{|}{}", "fraction"],
      ["√", "\\sqrt{|}", "square root"],
      ["xⁿ", "^{|}", "power"],
      ["xₙ", "_{|}", "index"],
      ["∑", "\\sum_{|}^{}", "sum"],
      ["∏", "\\prod_{|}^{}", "product"],
      ["∫", "\\int_{|}^{}", "integral"],
      ["lim", "\\lim_{| \\to }", "limit"],
      ["(ⁿₖ)", "\\binom{|}{}", "binomial"],
      ["[⋱]", "\\begin{pmatrix} | & \\\\ & \\end{pmatrix}", "matrix"],
      ["{…", "\\begin{cases} | & \\\\ & \\end{cases}", "cases"],
      ["?x", "?x", "wildcard: matches any part"],
    ],
  ],
  [
    "Greek",
    "α β γ δ ε ζ η θ λ μ ν ξ π ρ σ τ φ χ ψ ω Γ Δ Θ Λ Π Σ Φ Ψ Ω".split(" ").map((letter, index) => {
      const name = (
        "alpha beta gamma delta varepsilon zeta eta theta lambda mu nu xi pi rho sigma tau varphi chi psi omega " +
        "Gamma Delta Theta Lambda Pi Sigma Phi Psi Omega"
      ).split(" ")[index];
      return [letter, `\\${name} `, name];
    }),
  ],
  [
    "Relations",
    [
      ["≤", "\\le ", "at most"],
      ["≥", "\\ge ", "at least"],
      ["≠", "\\ne ", "not equal"],
      ["≡", "\\equiv ", "congruent"],
      ["≈", "\\approx ", "about"],
      ["≅", "\\cong ", "isomorphic"],
      ["∼", "\\sim ", "similar"],
      ["∈", "\\in ", "in"],
      ["∉", "\\notin ", "not in"],
      ["⊂", "\\subset ", "subset"],
      ["⊆", "\\subseteq ", "subset or equal"],
      ["∣", "\\mid ", "divides"],
      ["→", "\\to ", "to"],
      ["↦", "\\mapsto ", "maps to"],
      ["⇒", "\\implies ", "implies"],
      ["⇔", "\\iff ", "if and only if"],
    ],
  ],
  [
    "Symbols",
    [
      ["∞", "\\infty ", "infinity"],
      ["∂", "\\partial ", "partial derivative"],
      ["∇", "\\nabla ", "nabla"],
      ["±", "\\pm ", "plus or minus"],
      ["×", "\\times ", "times"],
      ["⋅", "\\cdot ", "dot"],
      ["∘", "\\circ ", "composed with"],
      ["∪", "\\cup ", "union"],
      ["∩", "\\cap ", "intersection"],
      ["∅", "\\emptyset ", "empty set"],
      ["∀", "\\forall ", "for all"],
      ["∃", "\\exists ", "exists"],
      ["ℕ", "\\mathbb{N}", "natural numbers"],
      ["ℤ", "\\mathbb{Z}", "integers"],
      ["ℚ", "\\mathbb{Q}", "rational numbers"],
      ["ℝ", "\\mathbb{R}", "real numbers"],
      ["ℂ", "\\mathbb{C}", "complex numbers"],
    ],
  ],
];
