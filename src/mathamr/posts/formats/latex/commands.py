"""Tables of LaTeX commands and environments for the LaTeX markup."""

from __future__ import annotations


def _words(listing: str) -> list[str]:
    return listing.split()


def _pairs(listing: str) -> dict[str, str]:
    return dict(zip(listing.split()[::2], listing.split()[1::2], strict=True))


CHARACTERS = {
    **_pairs(
        r"""
        ldots … dots … textellipsis … LaTeX LaTeX TeX TeX ss ß o ø O Ø l ł L Ł ae æ AE Æ oe œ OE Œ aa å AA Å i i j j
        S § P ¶ dag † pounds £ copyright © textendash – textemdash — textbackslash \ textasciitilde ~ textquoteleft ‘
        textquoteright ’ textquotedblleft “ textquotedblright ” textdollar $ textbar | textless < textgreater >
        """
    ),
    **dict.fromkeys(_words("quad qquad enspace thinspace space hfill"), " "),
}

SIGNS = {"``": "“", "''": "”", "`": "‘", "--": "–", "---": "—", "~": " "}

ACCENTS = dict(
    zip(
        "`'^~=u.\"rHvdckb",
        "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0323\u0327\u0328\u0331",
        strict=True,
    )
)
"""Commands for accents, and the combining characters they stand for."""
ACCENT_WORDS = frozenset("urHvdckb")

HEADINGS = frozenset(
    _words("part chapter section subsection subsubsection paragraph subparagraph title frametitle caption")
)

BREAKS = {
    **dict.fromkeys(
        _words("par bigskip medskip smallskip newpage clearpage pagebreak maketitle"), "paragraph"
    ),
    **dict.fromkeys(_words("newline linebreak tabularnewline"), "line"),
    **dict.fromkeys(_words("hline toprule midrule bottomrule"), "cell"),
    **dict.fromkeys(_words("item ii"), "item"),
}

REFERENCES = {
    **dict.fromkeys(_words("ref pageref vref nameref"), "*"),
    **dict.fromkeys(_words("cref Cref autoref olref Olref zcref fullref"), "?"),
    "eqref": "(*)",
    **dict.fromkeys(_words("cite citep citealt citealp citeyear parencite autocite footcite nocite"), ""),
    **dict.fromkeys(_words("citet textcite citeauthor Citet Citeauthor"), "author"),
}
"""Commands for references: what is in their place; `?` depends on the label, `*` stands between brackets, and the
author is the beginning of a citation's key."""

CITATIONS = frozenset(name for name in REFERENCES if "cite" in name.lower())
"""Their options may be words of the text: `\\cite[Theorem 2]{key}`; those that only name a page are not."""

REFERENCE_WORDS = {
    **dict.fromkeys(_words("thm theorem theo t"), "theorem"),
    **dict.fromkeys(_words("lem lemma l"), "lemma"),
    **dict.fromkeys(_words("prop proposition p"), "proposition"),
    **dict.fromkeys(_words("cor corollary c"), "corollary"),
    **dict.fromkeys(_words("def defn definition d"), "definition"),
    **dict.fromkeys(_words("rem rmk remark"), "remark"),
    **dict.fromkeys(_words("ex eg exmp example"), "example"),
    **dict.fromkeys(_words("exer exercise"), "exercise"),
    **dict.fromkeys(_words("eq eqn equation"), "equation"),
    **dict.fromkeys(_words("sec subsec section ss"), "section"),
    **dict.fromkeys(_words("ch cha chap chapter"), "chapter"),
    **dict.fromkeys(_words("fig figure"), "figure"),
    **dict.fromkeys(_words("tab tbl table"), "table"),
    **dict.fromkeys(_words("ax axiom"), "axiom"),
    **dict.fromkeys(_words("item enu"), "item"),
}

VERBATIM = frozenset(_words("verbatim Verbatim lstlisting minted alltt"))
PICTURES = frozenset(_words("tikzpicture pspicture picture asy axis forest circuitikz tikz pgfpicture"))
HIDDEN = frozenset(_words("comment filecontents"))
TABLES = frozenset(_words("tabular tabularx longtable tabulary supertabular"))

ENVIRONMENTS = {
    **dict.fromkeys(_words("itemize enumerate description list trivlist compactenum compactitem"), "item"),
    **dict.fromkeys(_words("quote quotation verse"), "quote"),
    **dict.fromkeys(TABLES, "cell"),
    **dict.fromkeys(
        _words(
            "document center figure table flushleft flushright minipage abstract thebibliography multicols"
        ),
        "paragraph",
    ),
}
"""Environments whose options say nothing to a reader, and what their beginning and end break."""

ENVIRONMENT_ARGUMENTS = {
    **dict.fromkeys(_words("tabular longtable minipage thebibliography multicols list supertabular"), 1),
    **dict.fromkeys(_words("tabularx tabulary wrapfigure"), 2),
}

DEFINITIONS = frozenset(
    _words(
        "newcommand renewcommand providecommand DeclareRobustCommand def gdef edef let DeclareMathOperator"
    )
)

SKIPPED_ARGUMENTS = {
    **dict.fromkeys(
        _words(
            """label ollabel index vspace hspace input include bibliography bibliographystyle usepackage color
            documentclass pagestyle thispagestyle pagenumbering includegraphics graphicspath hypersetup tag textcolor
            bibitem hypertarget theoremstyle geometry setstretch phantom hphantom vphantom stepcounter
            refstepcounter newcounter usetikzlibrary RequirePackage lean uses proves discussion leanlib
            tikzset tikzstyle pgfplotsset"""
        ),
        1,
    ),
    **dict.fromkeys(_words("setcounter addtocounter setlength addtolength numberwithin newtheorem rule"), 2),
    "addcontentsline": 3,
}
