"""Tables of LaTeX commands and environments for the LaTeX markup."""

from __future__ import annotations

from mathamr.core.listing import names
from mathamr.posts.postkind import kinds_named


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
    **dict.fromkeys(names("quad qquad enspace thinspace space hfill"), " "),
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

HEADINGS = {
    **dict.fromkeys(names("part chapter section title frametitle"), "h2"),
    "subsection": "h3",
    **dict.fromkeys(names("subsubsection paragraph subparagraph caption"), "h4"),
}
"""Commands for headings, and how HTML ranks them."""

EMPHASIS = {
    **dict.fromkeys(names("emph textit textsl em it sl itshape slshape defn dfn term define"), "em"),
    **dict.fromkeys(names("textbf bf bfseries strong"), "strong"),
    "underline": "u",
}
"""Commands that set their argument, or the rest of their group, apart; the element of HTML for each."""
SWITCHES = names("em it sl itshape slshape bf bfseries")
"""Those of them that hold to the end of their group."""

BREAKS = {
    **dict.fromkeys(
        names("par bigskip medskip smallskip newpage clearpage pagebreak maketitle"), "paragraph"
    ),
    **dict.fromkeys(names("newline linebreak tabularnewline"), "line"),
    **dict.fromkeys(names("hline toprule midrule bottomrule"), "cell"),
    **dict.fromkeys(names("item ii"), "item"),
}

REFERENCES = {
    **dict.fromkeys(names("ref pageref vref nameref"), "*"),
    **dict.fromkeys(names("cref Cref autoref olref Olref zcref fullref"), "?"),
    "eqref": "(*)",
    **dict.fromkeys(names("cite citep citealt citealp citeyear parencite autocite footcite nocite"), ""),
    **dict.fromkeys(names("citet textcite citeauthor Citet Citeauthor"), "author"),
}
"""Commands for references: what is in their place; `?` depends on the label, `*` stands between brackets, and the
author is the beginning of a citation's key."""

CITATIONS = frozenset(name for name in REFERENCES if "cite" in name.lower())
"""Their options may be words of the text: `\\cite[Theorem 2]{key}`; those that only name a page are not."""

REFERENCE_WORDS: dict[str, str] = {
    **kinds_named(
        "thm theorem theo lem lemma prop proposition cor corollary def defn definition rem rmk remark ex exmp example"
        " exer exercise axiom"
    ),
    "t": "theorem", "l": "lemma", "p": "proposition", "c": "corollary", "d": "definition", "eg": "example", "ax": "axiom",
    **dict.fromkeys(names("eq eqn equation"), "equation"),
    **dict.fromkeys(names("sec subsec section ss"), "section"),
    **dict.fromkeys(names("ch cha chap chapter"), "chapter"),
    **dict.fromkeys(names("fig figure"), "figure"),
    **dict.fromkeys(names("tab tbl table"), "table"),
    **dict.fromkeys(names("item enu"), "item"),
}  # fmt: skip

VERBATIM = names("verbatim Verbatim lstlisting minted alltt")
PICTURES = names("tikzpicture pspicture picture asy axis forest circuitikz tikz pgfpicture")
HIDDEN = names("comment filecontents")
LISTS = {
    **dict.fromkeys(names("itemize description list trivlist compactitem"), "ul"),
    **dict.fromkeys(names("enumerate compactenum"), "ol"),
}
TABLES = names("tabular tabularx longtable tabulary supertabular")

ENVIRONMENTS = {
    **dict.fromkeys(LISTS, "item"),
    **dict.fromkeys(names("quote quotation verse"), "quote"),
    **dict.fromkeys(TABLES, "cell"),
    **dict.fromkeys(
        names(
            "document center figure table flushleft flushright minipage abstract thebibliography multicols"
        ),
        "paragraph",
    ),
}
"""Environments whose options say nothing to a reader, and what their beginning and end break."""

ENVIRONMENT_ARGUMENTS = {
    **dict.fromkeys(names("tabular longtable minipage thebibliography multicols list supertabular"), 1),
    **dict.fromkeys(names("tabularx tabulary wrapfigure"), 2),
}

SKIPPED_ARGUMENTS = {
    **dict.fromkeys(
        names(
            """label ollabel index vspace hspace input include bibliography bibliographystyle usepackage color
            documentclass pagestyle thispagestyle pagenumbering includegraphics graphicspath hypersetup tag textcolor
            bibitem hypertarget theoremstyle geometry setstretch phantom hphantom vphantom stepcounter
            refstepcounter newcounter usetikzlibrary RequirePackage lean uses proves discussion leanlib
            tikzset tikzstyle pgfplotsset glsadd glsaddall glsreset glsunset"""
        ),
        1,
    ),
    **dict.fromkeys(
        names(
            "setcounter addtocounter setlength addtolength numberwithin newtheorem rule indexsee indexseealso"
        ),
        2,
    ),
    "addcontentsline": 3,
}
