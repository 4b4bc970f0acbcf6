r"""Descriptions: what a program of the user's choice says a theorem or declaration states, as paragraphs at the end of its post.

Each sentence is a paragraph that begins with "Described by PROGRAM:", so that whoever is shown one sees that no author wrote it. It is
plain text with formulas between dollar signs: anything else that a markup would act on is escaped.
"""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass, replace

from mathamr.core.listing import names
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.posts.postkind import ASKING
from mathamr.posts.sentences import sentences

DESCRIBED = ASKING - names("question exercise problem") | names(
    "definition axiom notation statement declaration"
)
"""The kinds of posts that are described."""
LONGEST_TEXT = 8_000
"""Characters of a post that a program is given."""
LONGEST, MOST = 600, 3
"""The most characters and sentences of a description."""
LONGEST_NAME = 40
_LONGEST_WRITTEN = 20 * LONGEST + MOST * 200
_FORMULA = re.compile(
    r"""(\$(?![ $])
    (?:(?!\]\(|\\(?:end\{quote|in(?:put|clude)))[^$\n`]){1,200}+  # nothing that a markup acts on even beside a formula
    (?<![ ])\$)""",
    re.X,
)
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.S)
_UNNAMED = re.compile(r"[^\w .+-]+")
_FRAMES = {
    "markdown": ("\n\n> ", ""),
    "declaration": ("\n\n> ", ""),
    "html": ("\n<blockquote>", "</blockquote>"),
    "latex": ("\n\n\\begin{quote}", "\\end{quote}"),
    "text": ("\n\n", ""),
}
"""What stands before and behind a paragraph in each markup."""
_ENTITIES = {ord(sign): f"&#{ord(sign)};" for sign in "&<>[]*_#|\\~!^"}
_COMMANDS = {ord(sign): f"\\{sign}" for sign in "%&#_{}"} | {
    ord("\\"): "\\textbackslash{}", ord("~"): "\\textasciitilde{}", ord("^"): "\\textasciicircum{}",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PostDescription:
    """What a program says of a post, and its name; without sentences, the program had nothing to say."""

    by: str
    sentences: tuple[str, ...] = ()

    @classmethod
    def of(cls, by: str, answer: str) -> PostDescription:
        r"""Return the first sentences of an answer as plain text; a program can make nothing else of it.

        >>> PostDescription.of("llm gemma", "<think>Hm.</think>\nA ring \x1b[1mwith\u202e $a b = b a$. It commutes.\n").sentences
        ('A ring [1mwith $a b = b a$.', 'It commutes.')
        """
        answer = _THOUGHT.sub("", answer[: LONGEST * 100])
        shown = "".join(each for each in answer if each.isspace() or unicodedata.category(each)[0] != "C")
        text = " ".join(unicodedata.normalize("NFC", shown).split())
        if len(text) > LONGEST:
            text = text[:LONGEST].rpartition(" ")[0]
        masked = _FORMULA.sub(lambda found: "x" * len(found[0]), text)
        found = (text[start:end].strip() for start, end in sentences(masked))
        return cls(named(by), tuple(filter(None, found))[:MOST])


def named(program: str) -> str:
    """Return a program's name as it stands before what it says.

    >>> named("http://localhost:8080#gemma:3*")
    'http localhost 8080 gemma 3'
    """
    return " ".join(_UNNAMED.sub(" ", program).split())[:LONGEST_NAME].strip() or "a program"


def is_described(post: Post) -> bool:
    """Return True for a post that programs describe: a theorem, definition or other declaration that somebody wrote."""
    return post.kind in DESCRIBED and "generated" not in post.tags


def asked_text(post: Post) -> str:
    """Return what a program is given of a post without description: its kind, its title and its body."""
    return f"{post.kind} {post.title}\n\n{post.body.strip()}"[:LONGEST_TEXT]


def with_description(post: Post, description: PostDescription) -> Post:
    """Return the post with this description instead of any that it has.

    >>> post = Post("a", "theorem", "$a b = b a$", markup="markdown", formulas=formulas_of("a", "", "$a b = b a$", "markdown"))
    >>> described = with_description(post, PostDescription("gemma", ("*All* $n<2$ commute.",)))
    >>> described.body, [formula.latex for formula in described.formulas]
    ('$a b = b a$\\n\\n> Described by gemma: &#42;All&#42; $n<2$ commute.', ['a b = b a', 'n<2'])
    >>> without_description(described) == post
    True
    """
    post = without_description(post)
    before, behind = _FRAMES[post.markup]
    paragraphs = (
        f"{before}Described by {description.by}: {_escaped(sentence, post.markup)}{behind}"
        for sentence in description.sentences
    )
    body = post.body + "".join(paragraphs)
    # The formulas of the post keep what its reader knows of them; those of the description come last.
    found = formulas_of(post.id, post.title, body, post.markup)
    known = {formula.id for formula in post.formulas}
    more = tuple(each for each in found[len(post.formulas) :] if each.id not in known)
    return replace(post, body=body, formulas=post.formulas + more)


def without_description(post: Post) -> Post:
    """Return the post as its reader gave it."""
    found = _found(post)
    if found is None:
        return post
    body = post.body[: found.start()]
    count = len(formulas_of(post.id, post.title, post.body, post.markup)) - len(
        formulas_of(post.id, post.title, body, post.markup)
    )
    return replace(post, body=body, formulas=post.formulas[: len(post.formulas) - count])


def describer_of(post: Post) -> str:
    """Return the name of the program that describes a post; empty if none does."""
    found = _found(post)
    return found[1] if found else ""


def _found(post: Post) -> re.Match[str] | None:
    """Return the description at the end of a body, which has a bounded length."""
    before, behind = map(re.escape, _FRAMES[post.markup])
    sought = re.compile(rf"(?:{before}Described by ([\w .+-]{{1,{LONGEST_NAME}}}): [^\n]*{behind})+\Z")
    return sought.search(post.body, max(0, len(post.body) - _LONGEST_WRITTEN))


def _escaped(sentence: str, markup: str) -> str:
    """Return a sentence of plain text in a markup, with its formulas as they are."""
    parts = _FORMULA.split(sentence)
    if markup == "html":
        return html.escape(sentence, quote=False)
    if markup == "text":
        return sentence
    signs = _COMMANDS if markup == "latex" else _ENTITIES
    plain = (
        each if place % 2 else each.translate(signs).replace("$", "&#36;" if signs is _ENTITIES else "\\$")
        for place, each in enumerate(parts)
    )
    return "".join(plain)
