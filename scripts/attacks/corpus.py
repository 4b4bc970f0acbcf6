"""What the attacks by machine are made of: the pieces of each format, of queries and of answers, and values that nobody expects."""

from __future__ import annotations

# fmt: off
import math
from typing import Any

NEXT = "\x1e"
"""Between two files of one case."""
WORDS = ("a zebra ", "quagga. ", "Theorem 2.1 ", "$x$", "$x^2+y^2=z^2$", "\n\n")
HTML = ("<p>", "</p>", "<div>", "<table><tr><td>", "<math><mi>x</mi>", "</math>", "<script>", "</script>", "<!--", "-->", "&#x3c;", "&lt;", "<a href='#a'>", "<svg>",
        "<h1>", "</h1>", "<ul><li>", "<pre>", "<", ">", '"', "<template>", "<style>", "&#xfdd0;0&#xfdd0;", "\\(", "\\)", "<span class=math>", "</span>", "<form>", "<nav>",
        "<annotation encoding='application/x-tex'>", "<![CDATA[", "<math alttext='", "<ruby>", "<br ", "a=b ")
GRAMMARS: dict[str, tuple[str, ...]] = {
    "a.md": ("# a\n", "## $x$\n", "- ", "> ", "```\n", "~~~\n", "---\n", "a: b\n", "|a|b|\n|-|-|\n", "[a](", ")", "![", "[[", "]]", "$", "$$\n", "\\(", "\\)",
             "<div>", "</div>", "<!--", "-->", "&#x41;", "*a", "**", "_", "\\begin{align}", "\\end{align}", "[^1]", "    x\n", "<a href='", "\t", "~~", "\\[", "\\]", "^", "{#thm-a}",
             ":::{prf:theorem} A\n:label: a\n", ":::\n", "{ref}`a`", "@thm-a", "{number}`%s <a>`", "(a)=\n", ":::: {.column}\n", "\\newcommand{\\a}[1]{#1#1}", "aliases: [a, b]\n", "tags: #a/b ", "{index}`a; b`"),
    "a.tex": ("\\section{", "}", "{", "\\begin{theorem}", "\\end{theorem}", "\\begin{align}", "\\end{align}", "$", "$$", "\\[", "\\]", "\\newcommand{\\a}[1]{#1#1}",
              "\\a{", "\\input{b}", "%", "\\verb|", "|", "\\label{a}", "\\ref{a}", "\\\\", "&", "\\item ", "\\begin{tikzpicture}", "\\def\\b{\\a}", "\\b", "^{", "_{",
              "\\NewDocumentCommand{\\c}{s o m}{#3\\IfBooleanTF{#1}{", "\\DeclareMathOperator{\\d}{", "\\def\\e#1.#2{", "\\let\\f=\\e", "\\newtheorem{lem}[theorem]{Lemma}", "\\numberwithin{theorem}{section}",
              "\\setcounter{theorem}{9999999}", "\\addtocounter{section}{-1}", "\\renewcommand{\\thesection}{\\Roman{section}", "\\index{a!b|see{c}}", "\\newenvironment{g}[1]{", "\\begin{g}", "\\end{g}", "\\ifx", "\\else", "\\fi", "\\expandafter", "\\csname", "\\endcsname", "#1"),
    "a.html": HTML,
    "a.org": ("* a\n", "** b\n", "#+begin_src\n", "#+end_src\n", "#+begin_theorem\n", "#+end_theorem\n", "[[", "][", "]]", "$", "\\(", "\\)", "- ", "| a | b |\n", ":PROPERTIES:\n", ":END:\n", "=", "/", "*", "_", "<<a>>", "#+latex_header: \\newcommand{\\a}{b}\n", ":a:b:"),
    "a.rst": ("a\n=\n", "b\n-\n", ":math:`", "`", "``", ".. math::\n\n   x\n\n", ".. note::\n\n   ", "|a|", "*", "- ", "   ", ".. |a| replace:: b\n", "::\n\n", "[1]_", "+-+\n", ".. index:: a; b\n", ".. _a:\n\n", ":ref:`a`", ".. prf:theorem:: A\n   :label: a\n\n   "),
    "a.adoc": ("= a\n", "== b\n", "stem:[", "]", "[stem]\n++++\n", "++++\n", "====\n", "----\n", "<<a>>", "[[a]]", "* ", "*a*", "`", "|===\n", "xref:a[", "asciimath:[", "(", ")", "sqrt", "((", "))", "[.theorem]\n"),
    "a.bib": ("@article{a,", "title={", "}", "{", '"', "#", ",", "year=1999", '@string{b="c"}', "@comment{", "=", "\n", "author={A and B}", "@", "keywords={a,b}"),
    "a.lean": ("theorem a : ", "def b := ", "/-- ", "-/", "/-", "--", "(x : X)", "{", "}", "namespace A\n", "end A\n", "variable (y : Y)\n", "structure S where\n", "| a\n", '"', 'r#"', "`x`", "\n", "@[simp]", "where\n", ":= by\n", "/-! # a\n", "[", "]", "⟨"),
    "a.v": ("(** ", "*)", "(* ", "Lemma a : ", "Proof.", "Qed.", "[", "]", "%", '"', "forall x, ", "* a\n", "\n", "Definition b := ", "Section A.", "End A."),
    "a.txt": ("a ", "$", "$$", "\\(", "\\)", "{", "}", ".", "A. ", "\t", "1. ", "\\begin{align}", "\\end{align}"),
    "a.jsonl": ('{"id": "a", "body": "', '"}\n', '{"id":', "[", "]", "{", "}", '"', "\\u0000", "\\ud800", "1e999", "null", "\n", '"body": "$x$"', ",", '"macros": ["\\\\newcommand{\\\\a}{b}"]', '"preamble": "'),
    "a.ipynb": ('{"cells": [', '{"cell_type": "markdown", "source": ["', '"]}', "]", "}", ",", '"nbformat": 4', "# a", "[", "{", '"', "\\n", '"metadata": {}'),
    "a.typ": ("= a\n", "#let a = $x$\n", "#let f(x) = $#x x$\n", "$a$", "#f(", ")", "#import \"b.typ\": *\n", "#link(\"", "\"", "/*", "*/", "//", "[", "]", "{", "}", "#theorem[", "<a>", "@a", "#show: ", "=> ", "\\", "box", "(", "frac(", "#figure(", ","),
    "a.ptx": ("<pretext>", "</pretext>", "<section xml:id='a'>", "</section>", "<title>", "</title>", "<theorem>", "</theorem>", "<statement>", "<p>", "</p>", "<m>", "</m>", "<me>", "<md><mrow>", "<xref ref='a'/>", "<!--", "-->", "<![CDATA[", "<macros>", "</macros>", "<exercise>", "<introduction>", "<idx>", "<h>", "<docinfo>", "<numbering><divisions level='", "&lt;", "&a;", "<"),
    "a.xml": ("<mediawiki><page><title>A</title><revision><text>", "</text></revision></page>", "</mediawiki>", "{{math|", "}}", "{|\n|-\n|", "|}", "[[", "]]", "&lt;math&gt;", "&lt;/math&gt;", "''", "'''", "==", "\n== a ==\n", "&lt;ref&gt;", "&lt;!--", "&lt;nowiki&gt;", "{{#if:", "|", "&amp;lt;", "[http://a ", "&lt;sup&gt;", "\n*"),
    "Posts.xml": ('<posts>\n', '<row Id="1" PostTypeId="1" Title="t" Body="', '" />\n', "</posts>", "&lt;p&gt;", "&lt;span class=&quot;math-container&quot;&gt;$x$&lt;/span&gt;", "<", ">", "&#xA;", 'Id="', 'Tags="&lt;a&gt;"'),
    "a.coq.v": ("Theorem a : forall x, x = x.\n", "Proof. ", "Qed.\n", "(** [", "*)", "(*", "<<", ">>", "#", "_a_"),
}
"""Pieces of each format by the name of a file; documents are sequences, repetitions and nestings of them."""
SETTINGS: dict[str, tuple[str, ...]] = {
    "_config.yml": ("title: a\n", "parse:\n", "  myst_enable_extensions: [a]\n", "sphinx:\n  config:\n    mathjax3_config:\n      tex:\n        macros:\n", '          "a": ["', '#1", 1]\n', "&a ", "*a", "- ", "!!python/object:os.system ", "{", "}", "[", "]", "'", "? ", "| \n", ": ", "<<: *a\n"),
    "_quarto.yml": ("crossref:\n", "  chapters: true\n", "  custom:\n    - kind: float\n      key: a\n      reference-prefix: ", "number-depth: 99\n", "book:\n  chapters:\n    - a.md\n", "  thm-prefix: ", "[", "{", "'", "&a ", "*a", "- ", "include-in-header:\n  text: |\n    \\newcommand{\\a}{b}\n"),
    "myst.yml": ("version: 1\n", "project:\n", "  math:\n", "    '\\a': '", "'\n", "  toc:\n    - file: a.md\n", "numbering:\n  heading_1: ", "[", "{", "&a ", "*a", "true\n", "  abbreviations:\n"),
    "conf.py": ("mathjax3_config = {", "'tex': {", "'macros': {", "'a': ['", "#1', 1]", "}", "]", "(", ")", "r'''", "latex_elements = {'preamble': r'''\\newcommand{\\a}{b}", "'''}\n", "numfig = True\n", "-" * 50, "__import__('os').abort()\n", "f'{", "\\\n", "lambda: ", "[x for x in "),
    "a.aux": ("\\newlabel{a}{{", "}{1}{A}{theorem.1}{}}\n", "}", "{", "\\relax\n", "\\@input{b.aux}\n", "\\newlabel{a@cref}{{[theorem][1][]1}{", "\\gdef \\a {", "9" * 30),
    "a.sty": ("\\newcommand{\\a}[", "9]{#1", "}", "{", "\\RequirePackage{a}\n", "\\def\\a#1{", "\\NewDocumentCommand\\b{O{x} m}{", "\\ProvidesPackage", "\\let\\a\\b", "%"),
    "b.typ": ("#let a = $b$\n", '#import "a.typ": *\n', "#let b = $a a$\n", "(", ")"),
}
"""Files that are read beside documents: settings of books, packages, labels of LaTeX."""
BESIDE = {"_config.yml": "a.md", "_quarto.yml": "a.md", "myst.yml": "a.md", "conf.py": "a.rst", "a.aux": "a.tex", "a.sty": "a.tex", "b.typ": "a.typ"}
"""The document that each of them is read with."""
PACKED = {
    "a.docx": ("<w:p>", "</w:p>", "<w:r><w:t>", "</w:t></w:r>", "<m:oMath>", "</m:oMath>", "<m:f><m:num>", "</m:num><m:den>", "</m:den></m:f>", "<w:tbl><w:tr><w:tc>", "<w:txbxContent>", "<w:pStyle w:val='heading²'/>", "<m:sSup><m:e>", "<w:footnoteReference w:id='1'/>", "a zebra ", "<w:sdt>", "<!--", "&a;"),
    "a.epub": HTML,
}
"""Pieces of the text inside of Word documents and of books."""
QUERY = ("zebra ", "group ", "theorem ", "$", "$x^2+y^2=z^2$", "x^2+y^2=z^2", "int ", "int_0^1 ", "sum_(n=1)^∞ ", "sin(", "exp(x) ", "d/dx ", "lim x->0 ", "sqrt(", ")", "(", "|", "⟨", "⟩", "^", "_", "/", "=", "≤", "½", "∑", "√", "ﷺ",
    "\\frac{", "}", "{", "\\", "\\pdv[", "\\ketbra{", "?", "* ", "*", '"', "tag:a ", "kind:note ", "-zebra ", "Pythagorean theorem ", "Euler's identity ", "Cauchy–Schwarz ", "Theorem 2.1", "(2.1)", "what is ", "x ", "y ", "f(x) ",
    "?x+", "[", "]", ",", "!", "'", "0.1.", "1e999", "9" * 40, "\n", "#", "@", "∀", "∫", "ℝ", "→", "dx")
"""Pieces of what people type."""
ANSWERS = ('{"data": [', '{"index": 0, "embedding": [', "1.0,", "1e999", "1e30,", "NaN", "9" * 400, "[]", "{", "}", "]", ",", "null", '"', "\\ud800", "HTTP/1.1 200 OK\r\n", "Content-Length: 5\r\n", "Content-Length: -1\r\n",
           "Transfer-Encoding: chunked\r\n", "Location: /v1/x\r\n", "\r\n", "5\r\n", "a: b\r\n", "HTTP/1.1 307 x\r\n", "HTTP/9 x\r\n", "[1.0,2.0]}]}")
"""Pieces of what a server of embeddings may say."""
ODD = ("\0", "\ufeff", "\u202e", "\ufdd0", "\x1b[2J", "\u0301" * 20, "ﷺ" * 20, "a" * 500, " " * 500, "\r", "0" * 60, "\ud800", "\x0c", "\u2028")
LATEX = ("\\frac{", "\\frac12", "\\sqrt[", "x", "y_1", "n", "2", "+", "-", "=", "<", "\\leq ", "\\cdot ", "\\times ", "(", ")", "[", "]", "{", "}", "^", "_", "^{-1}", "!", ",", "|", "\\|", "'", "\\left(", "\\right)", "\\left.",
    "\\middle|", "\\sum_{k=1}^{n}", "\\int_0^1 ", "\\iint", "dx", "\\frac{d}{dx}", "\\partial ", "\\lim_{x\\to 0}", "\\exp(", "\\sin x", "\\operatorname{Var}[", "\\text{if }", "\\text{$", "\\mathbb{R}", "\\binom{n}{",
    "\\begin{pmatrix}", "\\end{pmatrix}", "\\begin{cases}", "\\end{cases}", "\\begin{align}", "\\end{align}", "&", "\\\\", "\\to ", "\\implies ", "\\in ", "\\forall ", "\\neg ", "\\overset{", "\\underbrace{", "\\hat{", "\\over ",
    "\\choose ", "\\atop ", "\\color{red}", "\\begin{tikzcd}", '\\arrow[r, "f"]', "\\end{tikzcd}", "\\xymatrix{", "\\a", "\\a{", "\\b", "\\newcommand{\\c}[2]{#2#1#2}", "\\c{x}{", "\\def\\d#1.{#1#1}", "\\d ", "\\let\\e=\\d",
    "\\qvar{x}", "?x", "%\n", "~", "\\pdv[", "\\ketbra{", "\\ce{H2O}", "½", "²", "∑", "√", "ℝ", "≤", "→")
"""Pieces of a formula."""
NAMED = ("\\emph{", "}", "{\\em ", "\\textbf{", "\\defn{", "<em>", "</em>", "<dfn class=a>", "**", "*", "__", "_", "nowhere dense", "Euler's identity", "the ", "a ", "Theorem 2.10.3 (", ")", "Theorem 2.1: ", "Axiom A", ": ", "(",
    "Cauchy–Schwarz", "inequality", "zeta function", "$\\zeta(s)=\\sum n^{-s}$", "$x^2+y^2=z^2$", "$$a=b$$", "is called ", "we call ", "is said to be ", "denoted by ", "Definition. ", "Nat.add_comm", "a.b.", ". ", "\n\n", "$", "-",
    "’", "é", "{", "\\index{")
"""Pieces of texts that give names, in all markups."""
TEXTS: dict[str, dict[str, tuple[str, ...]]] = {
    "documents": {name: pieces + WORDS for name, pieces in GRAMMARS.items()},
    "settings": SETTINGS,
    "packed": PACKED,
    "included": {"a.tex": (NEXT, NEXT, "\\input{b}", "\\input b ", "\\include{part/c}", "\\subfile{part/c.tex}", "\\import{part/}{c}", "\\subimport*{part}{c}", "\\input{../a}", "\\input{a}", "\\input{\\a}", "\\input[x]{b}", "\\a{", "\\b{part}{c}", "\\newcommand{\\a}{b}", "\\newcommand{\\a}[1]{\\input{#1}}", "\\newcommand{\\b}[2]{\\import{#1}{#2}}", "\\def\\a{\\a\\a}", "\\def\\c{part/c}", "\\input{\\c}", "\\usepackage{d}", "\\documentclass{article}\\begin{document}", "\\end{document}", "\\endinput ", "\\iffalse ", "\\fi ", "%", "{", "}", "[", "]", "\n", "\\section{A}", "$x$", "a zebra. ", "\\InputIfFileExists{b}{", "\\newtheorem{a}{A}", "\\begin{a}", "\\end{a}", "\\label{x}")},
    "ignored": {"mathamr.toml": (NEXT, "exclude = ", "model = ", "[macros]\n", "R = ", "'\\mathbb R'", "\"", "[", "]", "{", "}", "a.", "a", "\n", "\n", "=", ",", "'part/'", "\"*.md\"", "'''", "1e999", "9" * 50, "inf", "2024-01-01", "true", "#", "[[a]]\n", "\\u0000", "!"), ".gitignore": (NEXT, "*", "**", "/", "a", "b.md", "*.md", "!", "#", "\\", "[a-", "[!a]", "]", "[[:alpha:]]", "?", "\n", "\n", "\n!", "/**/", "*a*", "**/a/**", " ", "\\ ", "\r\n", "\t", "{a,b}", "part/", "é", ".", "../", "(", ")+", "|", "$", "^")},
    "formulas": dict.fromkeys(("published", "mathematician"), LATEX),
    "typed": dict.fromkeys(("text", "asciimath"), QUERY),
    "names": dict.fromkeys(("latex", "html", "markdown", "declaration", "text"), NAMED),
    "graphs": {"a.md": (*WORDS, "it ", "this function ", "which ", "the former ", "Let ", "denote ", "f ", "is ", "has ", "$f$ ", "$$x$$ ", ", ", ". ")},
    "tails": {"a.md": (*WORDS, "A zebra runs. ", "Let $f$ be continuous. ", "# A\n\n", "$$\\int_0^1 x\\,dx$$\n\n", "- a\n", "word ", "A" * 60 + " ", "… ", "e.g. ")},
    "queries": dict.fromkeys(("lexical", "maxsim", "formulas", "names"), QUERY),
    "embeddings": {"vectors": ANSWERS, "headers": ("HTTP/1.1 200 OK\r\n\r\n", *ANSWERS)},
}
"""Pieces by door, and by the name of what is tried there: a file, a markup, a reading, a strategy."""
LENGTHS = {"settings": (4_000,), "included": (400, 4_000), "ignored": (400, 4_000), "formulas": (40, 400, 5_000), "typed": (40, 400, 5_000), "names": (400, 20_000), "graphs": (3_000,), "tails": (20_000,), "queries": (40, 400, 4_900), "embeddings": (100, 20_000)}
"""Characters of a case at each door where they are not 20,000; one is chosen."""
STARTS = {"a.bib": "@article{a, title={A zebra}}\n", "a.lean": "/-- A zebra. -/\ntheorem a : x = x := by\n", "a.v": "(** A zebra. *)\nLemma a : x = x.\n", "vectors": "HTTP/1.1 200 OK\r\n\r\n"}
"""What half of the cases of a name begin with."""
PARTS = {"mathamr.toml": ("mathamr.toml", "part/mathamr.toml"), "a.tex": ("a.tex", "b.tex", "part/c.tex", "d.sty"), ".gitignore": (".gitignore", ".mathamrignore", "part/.gitignore", "part/.mathamrignore")}
"""The files that a text with `NEXT` in it is divided into."""
NOTES = dict.fromkeys((".gitignore", "mathamr.toml"), ("a.md", "b.md", "part/a.md", "part/b b.md", "part/é/a.md"))
"""Files of which each has a good note, beside those of a name."""
VALUES: tuple[Any, ...] = (None, True, -1, 0, 1, 2, 7, 255, 257, 99_999, 100_001, 2**31, 2**63, 2**70, 0.5, -0.0, math.inf, math.nan, "", "x", "\0", "..", "../..", "/dev/zero", "os:system", "st:x", [], [1], {}, {"x": 1},
    "a" * 10_000, [[]] * 100)
"""Values of a key of JSON that should have another one."""
SLOW_TEXTS = {
    "spaces.md": "a" + " " * 300_000 + "b",
    "fences.md": "```\n" * 60_000,
    "front.md": "---\n" + "a: b\n" * 100_000,
    "brackets.md": "[" * 200_000,
    "pictures.md": "![" * 200_000,
    "joined.bib": "@article{a, title = " + '"a" # ' * 50_000 + '"b"}',
    "comments.lean": "/-- a -/\n" * 40_000 + "theorem a : True := trivial\n",
    "spaces.tex": "\\section" + " " * 300_000 + "x",
    "braces.tex": "\\textbf{" * 40_000,
    "Posts.xml": '<posts>\n<row Id="1" PostTypeId="1" Title="t" Body="b" />\n' + "<1" * 400_000 + ">",
}
"""Texts that one reader or another took time in the square of."""
