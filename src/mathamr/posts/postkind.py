"""The kinds of posts (`PostKind`) and their roles in search (`Role`): one list for readers, filters and pages."""

from __future__ import annotations

from typing import Literal, get_args

from mathamr.core.listing import names

Role = Literal["question", "answer", "note"]
PostKind = Literal[
    "question", "answer", "note",
    "theorem", "lemma", "proposition", "corollary", "claim", "fact", "conjecture", "exercise", "problem",
    "proof", "solution",
    "definition", "axiom", "notation", "convention", "remark", "observation", "example", "algorithm", "statement",
    "section", "page", "article", "declaration", "reference",
]  # fmt: skip
KINDS: tuple[PostKind, ...] = get_args(PostKind)

ASKING = names("question theorem lemma proposition corollary claim fact conjecture exercise problem")  # fmt: skip
ANSWERING = frozenset[str](["answer", "proof", "solution"])

_WORDS: dict[str, PostKind] = {
    **{kind: kind for kind in KINDS if kind not in ("question", "answer", "note", "section", "page", "article", "reference")},
    **dict.fromkeys(["thm", "theo", "theorema", "satz", "théorème", "teorema", "hauptsatz"], "theorem"),
    **dict.fromkeys(["lem", "lemme", "sublemma", "hilfssatz"], "lemma"),
    **dict.fromkeys(["prop", "propn", "propos", "prp", "proposizione"], "proposition"),
    **dict.fromkeys(["cor", "coro", "korollar", "corollaire", "folgerung", "porism"], "corollary"),
    **dict.fromkeys(["defn", "defi", "def", "définition", "definiton", "terminology"], "definition"),
    **dict.fromkeys(["rem", "rmk", "remarque", "bemerkung", "note", "comment", "warning", "caution"], "remark"),
    **dict.fromkeys(["exam", "ex", "exm", "exmp", "beispiel", "exemple", "examples", "counterexample"], "example"),
    **dict.fromkeys(["exer", "exr", "exercice", "aufgabe", "exercises"], "exercise"),
    **dict.fromkeys(["question", "prob", "puzzle"], "problem"),
    **dict.fromkeys(["pf", "beweis", "preuve", "démonstration", "demonstration", "sketch"], "proof"),
    **dict.fromkeys(["answer", "sol", "hint", "lösung", "solutions"], "solution"),
    **dict.fromkeys(["conj", "cnj", "hypothesis", "vermutung"], "conjecture"),
    **dict.fromkeys(["law", "principle", "criterion", "property"], "proposition"),
    **dict.fromkeys(["postulate", "assumption"], "axiom"),
    **dict.fromkeys(["obs", "result"], "observation"),
    "alg": "algorithm",
    **dict.fromkeys(["situation", "setup", "setting"], "convention"),
}  # fmt: skip


def role_of(kind: str) -> Role:
    """Return the role of a kind in search: a theorem is a question, its proof an answer, a section a note.

    >>> role_of("lemma"), role_of("proof"), role_of("section")
    ('question', 'answer', 'note')
    """
    return "question" if kind in ASKING else "answer" if kind in ANSWERING else "note"


def kind_named(name: str) -> PostKind | None:
    """Return the kind that a heading or the name of an environment means, by its last word that means one.

    >>> kind_named("Main Theorem"), kind_named("thm*"), kind_named("Galois theory")
    ('theorem', 'theorem', None)
    """
    words = name.lower().replace("*", " ").replace("-", " ").split()
    return next((_WORDS[word] for word in reversed(words) if word in _WORDS), None)


def kinds_named(words: str) -> dict[str, PostKind]:
    """Return the kinds that some of the words between blanks mean.

    >>> kinds_named("thm def figure")
    {'thm': 'theorem', 'def': 'definition'}
    """
    return {word: kind for word in words.split() if (kind := kind_named(word))}


def plural(kind: str) -> str:
    """Return the plural of a kind.

    >>> plural("lemma"), plural("corollary")
    ('lemmas', 'corollaries')
    """
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
