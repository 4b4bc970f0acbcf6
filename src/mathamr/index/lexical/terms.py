r"""Terms: the units of posts and formulas that lexical search counts, by field.

| field    | terms                                                                                            |
|----------|--------------------------------------------------------------------------------------------------|
| `words`  | words in lower case, as `words` finds them; those of tags and keywords, too                      |
| `stems`  | their Porter stems                                                                               |
| `names`  | the words of titles, aliases, tags and keywords, and each without any one letter: misspelt names  |
| `latex`  | runs of 1 to 3 LaTeX tokens; spacing and synonyms (`\le`, `\leq`) make no difference              |
| `paths`  | pairs of symbols of the layout tree and of operators of the operator tree, and the path between  |
| `parts`  | whole subtrees of the operator tree, and the tree itself; operands of + and the like in any order; of sums, integrals and limits without bounds, too |
| `shapes` | paths and parts in which every variable is just a variable: they survive a change of names       |

Paths are the tuples of Tangent-S (Davila and Zanibbi, SIGIR 2017) without their place in the formula, so that a part of
a formula is found wherever it stands.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, TypeVar

from mathamr.core.listing import names as names_in
from mathamr.formulas.meaning.mathematician import VERSION
from mathamr.formulas.openform import BIG_OPERATORS, has_big_operator, open_form
from mathamr.formulas.tree import Opt, Slt, Tree
from mathamr.formulas.trees import LONGEST_REMEMBERED, trees_of
from mathamr.posts.formats.declaration.namewords import name_words
from mathamr.posts.markup import formulas_of, title_pieces
from mathamr.posts.post import Formula, Post
from mathamr.posts.postcontent import label_text, parse_post

if TYPE_CHECKING:
    from Stemmer import Stemmer

AnyTree = TypeVar("AnyTree", bound=Tree)
Terms = Mapping[str, Sequence[str]]
"""Terms by field; a term is repeated as often as it occurs."""

READING = "mathematician"
"""The reading of formulas that terms are taken from: what a formula means (`mathamr.formulas.parse`)."""
FORMULA_FIELDS = ("latex", "paths", "parts", "shapes")
FIELDS = ("words", "stems", "names", *FORMULA_FIELDS)
LONGEST_NGRAM = 3
LAYOUT_WINDOW = 2
OPERATOR_WINDOW = 1
SMALL_TREE = 3
LARGEST_PART = 12
"""The largest number of nodes of a subtree that is a term; larger ones hardly ever occur twice."""

LONGEST_NAME = 8
"""A post without a title and with at most this many words counts as a name itself."""
SHORTEST_MISSPELT = 5
"""The shortest word for which misspellings are matched; of a shorter word too little would remain."""
LONGEST_MISSPELT = 40
"""The longest word for which misspellings are generated: there is one per letter, each as long as the word."""
LONGEST_WORD = 200
"""The largest length of a word; longer ones are cut."""
MOST_NAMES = 60
"""The largest number of words of a title and aliases that count as names, and of those of tags and keywords."""

STOP_WORDS = names_in(
    """
    a about after again all also am an and any are as at be because been before being both but by can cannot could
    did do does doing don't each either else ever every few for from further get give given had has have having he
    help her here his how however i i'm if in into is it it's its just know let like many may me might more most much
    must my need no nor not now of off on once one only or other our out over own please same see she should so some
    such take than thank thanks that that's the their them then there these they this those through thus to too under
    until up us use using very want was we well were what when where whether which while who whom why will with within
    without would you your
    """
)
"""Words that snippets do not mark and that alone do not make a query."""

IDEOGRAPHS = "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""The characters of Chinese and Japanese, which write words without spaces between them."""
WORD = re.compile(rf"[{IDEOGRAPHS}]|[^\W_{IDEOGRAPHS}]+(?:'[^\W\d_]+)?")
"""A word: letters and digits in a row, or one character of Chinese or Japanese."""
_IDEOGRAPHS = tuple(zip(IDEOGRAPHS[::3], IDEOGRAPHS[2::3], strict=True))
"""The first and the last character of each of these ranges."""
_VOICED = "\u3099\u309a"
"""The marks that make て into で, which is another letter."""
_APOSTROPHE = re.compile("[\u2018\u2019\u02bc\u2032\u00b4\u0060](?=\\w)")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
_POSSESSIVE = re.compile(r"'s(?![^\W_])|(?<![^\W_])[dl]'(?=[^\W\d_]{3})")
_PREFIXED = re.compile(
    r"(?<![^\W_-])(non|semi|quasi|pseudo|anti|multi|sub|super|pre|co|bi|iso|homeo|diffeo|endo|auto)"
    r"[-\u2010\u2011](?=[^\W\d_]{3})"
)
_SPELT = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})
_LATEX = re.compile(r"\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?|[^\W\d_]|[^\s{}&]")
_UNSEEN = re.compile(r"\\(?:left|right|displaystyle|textstyle|limits|nolimits|q?quad|[bB]igg?[lr]?|[,;:!\s])")
_SAME = {
    r"\le": r"\leq",
    r"\ge": r"\geq",
    r"\ne": r"\neq",
    r"\to": r"\rightarrow",
    r"\dfrac": r"\frac",
    r"\tfrac": r"\frac",
    r"\dots": r"\ldots",
    r"\lbrace": r"\{",
    r"\rbrace": r"\}",
    r"\land": r"\wedge",
    r"\lor": r"\vee",
}
"""Commands that mean the same, so that authors' habits do not hide a match."""


def post_terms(post: Post) -> dict[str, list[str]]:
    """Return the terms of a post; a title counts unless the post is an answer, whose title is its question's.

    A formula that cannot be parsed is found by its LaTeX alone.
    """
    found = text_terms(post) | {field: [] for field in FORMULA_FIELDS}
    for formula in formulas_in(post):
        for field, terms in formula_terms(formula, post.macros).items():
            found[field].extend(terms)
    return found


def text_terms(post: Post) -> dict[str, list[str]]:
    """Return the terms of a post's text."""
    text = words(post_text(post))
    found = [*text, *(word for name in (*tag_names(post), *entry_names(post)) for word in name)]
    return {"words": found, "stems": stems(found), "names": names(post, text)}


def names(post: Post, found: Sequence[str]) -> list[str]:
    """Return the words of a post's names, complete and with each letter left out.

    A misspelt name with a missing, an extra or two swapped letters shares such a variant with the correct one.

    >>> post = Post("a", "note", "", title="Zorn", aliases=("Zorn's lemma",))
    >>> names(post, [])
    ['zorn', 'zorn', 'lemma', '~lemma', '~emma', '~lmma', '~lema', '~lemm']
    """
    own = title_names(post)
    if not own and not post.title and len(found) <= LONGEST_NAME:
        own = list(found)
    listed = dict.fromkeys(word for name in (*tag_names(post), *entry_names(post)) for word in name)
    wanted = [*own[:MOST_NAMES], *[word for word in listed if word not in own][:MOST_NAMES]]
    return [term for word in wanted for term in (word, *misspellings(word))]


def title_names(post: Post) -> list[str]:
    """Return the words of all names of a post."""
    return [word for name in called(post) for word in name]


def called(post: Post) -> list[list[str]]:
    """Return the names of a post, each as words: its title, its aliases, its label in its source.

    An answer has its question's title, which is not a name of its own.

    >>> called(Post("a", "lemma", "", title="On sets", aliases=("Sets",)))
    [['on', 'sets'], ['sets']]
    """
    if post.role == "answer":
        return []
    if post.markup == "declaration":
        return [words(name) for name in dict.fromkeys((post.title, name_words(post.title), *post.aliases))]
    found = map(words, (title_text(post), *post.aliases, label_text(post)))
    return [name for name in found if name]


def tag_names(post: Post) -> list[list[str]]:
    """Return the tags of a post as words, of a tag with levels each level too; those of a declaration are properties.

    >>> tag_names(Post("a", "note", "", tags=("algebra/group-theory",)))
    [['algebra', 'group', 'theory'], ['algebra'], ['group', 'theory']]
    """
    if post.markup == "declaration":
        return []
    tags = dict.fromkeys(part for tag in post.tags if ":" not in tag for part in (tag, *tag.split("/")))
    return [name for name in map(words, tags) if name]


def entry_names(post: Post) -> list[list[str]]:
    """Return the keywords of a post as words: with all their levels in both orders, and the first level alone.

    >>> entry_names(Post("a", "note", "", keywords=("group, abelian", "residue")))
    [['group', 'abelian'], ['abelian', 'group'], ['group'], ['residue']]
    """
    found = []
    for keyword in post.keywords:
        levels = keyword.split(", ")
        found += [keyword, " ".join(reversed(levels)), levels[0]]
    return [name for name in map(words, dict.fromkeys(found)) if name]


def misspellings(word: str) -> dict[str, None]:
    """Return the word and its variants with one letter left out, by which misspellings are matched; empty for words that are
    not of `SHORTEST_MISSPELT` to `LONGEST_MISSPELT` letters.

    >>> list(misspellings("lemma"))
    ['~lemma', '~emma', '~lmma', '~lema', '~lemm']
    """
    if not SHORTEST_MISSPELT <= len(word) <= LONGEST_MISSPELT or not word.isalpha():
        return {}
    return dict.fromkeys((f"~{word}", *(f"~{word[:place]}{word[place + 1 :]}" for place in range(len(word)))))


def title_text(post: Post) -> str:
    """Return the title of a post without its formulas."""
    return "".join(piece.text for piece in title_pieces(post.title, post.markup) if piece.kind == "text")


def formulas_in(post: Post) -> Sequence[Formula]:
    """Return the formulas of a post; extracted from its text if they are not listed."""
    return post.formulas or formulas_of(post.id, post.title, post.body, post.markup)


def formula_terms(formula: Formula, macros: tuple[str, ...] = ()) -> Terms:
    """Return the terms of a formula."""
    if formula.latex.strip() and len(formula.latex) <= LONGEST_REMEMBERED:
        return _terms_of_latex(formula.latex, macros)
    return terms_of(formula, macros)


@lru_cache(maxsize=2_000)
def _terms_of_latex(latex: str, macros: tuple[str, ...]) -> Terms:
    """Return the terms of LaTeX; cached, since posts repeat the same short formulas."""
    return terms_of(Formula("", latex), macros)


def terms_of(formula: Formula, macros: tuple[str, ...]) -> Terms:
    """Return the terms of a formula, without a cache; its operator tree says what the formula means.

    One formula is one entry wherever it occurs, so its post does not influence how its letters are read.
    """
    (opt, slt), _ = trees_of(formula, macros, READING)
    return terms_of_trees(formula.latex, opt, slt)


def terms_of_trees(latex: str, opt: Opt | None, slt: Slt | None) -> Terms:
    """Return the terms of a formula's LaTeX and of its trees."""
    found: dict[str, list[str]] = {field: [] for field in FORMULA_FIELDS}
    found["latex"] = ngrams(latex_tokens(latex), LONGEST_NGRAM)
    if slt is not None:
        found["paths"] += path_tokens("s", slt, LAYOUT_WINDOW)
        found["shapes"] += path_tokens("s", nameless(slt), LAYOUT_WINDOW)
    if opt is not None:
        found["paths"] += path_tokens("o", opt, OPERATOR_WINDOW)
        found["parts"] += part_tokens(opt)
        found["shapes"] += part_tokens(nameless(opt))
        if has_big_operator(opt):
            opened = open_form(opt)
            found["parts"] += open_tokens(opened)
            found["shapes"] += open_tokens(nameless(opened))
    return found


def post_text(post: Post) -> str:
    """Return the text of a post without its formulas; see `PostContent.text`."""
    return parse_post(post).text


def words(text: str) -> list[str]:
    """Return the normalised words of a text in lower case: without accents and ligatures, and without a possessive 's.

    Every character of Chinese and Japanese is a word, since these write no spaces.

    >>> words("Euler\u2019s formula, proved in 1748: non-empty H\u00f6lder spaces, l'H\u00f4pital, Cauchy\u2013Schwarz")
    ['euler', 'formula', 'proved', 'in', '1748', 'nonempty', 'holder', 'spaces', 'hopital', 'cauchy', 'schwarz']
    >>> words("f在x处取得极值, ここで")
    ['f', '在', 'x', '处', '取', '得', '极', '值', 'こ', 'こ', 'で']
    """
    text = text.lower()
    if not text.isascii():
        text = _APOSTROPHE.sub("'", _INVISIBLE.sub("", text))
        decomposed = unicodedata.normalize("NFKD", text.translate(_SPELT))
        marks = {
            ord(letter): None
            for letter in set(decomposed)
            if unicodedata.combining(letter) and letter not in _VOICED
        }
        text = unicodedata.normalize("NFC", decomposed.translate(marks)).casefold()
    if "'" in text:
        text = _POSSESSIVE.sub("", text)
    if "-" in text or not text.isascii():
        text = _PREFIXED.sub(r"\1", text)
    return [word[:LONGEST_WORD] for word in WORD.findall(text)]


def is_ideograph(word: str) -> bool:
    """Return True for one character of Chinese or Japanese, which is a word and no letter.

    >>> is_ideograph("值"), is_ideograph("で"), is_ideograph("x")
    (True, True, False)
    """
    return len(word) == 1 and any(first <= word <= last for first, last in _IDEOGRAPHS)


def count_words(found: Sequence[str]) -> int:
    """Count words as a reader does: two characters of Chinese or Japanese are about one.

    >>> count_words(words("compact space")), count_words(words("中值定理"))
    (2, 2)
    """
    return len(found) - sum(map(is_ideograph, found)) // 2


def word_tokens(text: str) -> list[str]:
    """Return the Porter stems of the words in a text, in lower case.

    >>> word_tokens("Proving that groups have cyclic quotients")
    ['prove', 'that', 'group', 'have', 'cyclic', 'quotient']
    """
    return stems(words(text))


def stems(words: Sequence[str]) -> list[str]:
    """Return the Porter stems of words in lower case."""
    found: list[str] = _stemmer().stemWords(words)
    return [stem or word for stem, word in zip(found, words, strict=True)]  # nothing would remain of "s"


class Stems(dict[str, str]):
    """The stems of words, each computed when it is asked for."""

    def __missing__(self, word: str) -> str:
        (self[word],) = stems([word])
        return self[word]


def latex_tokens(latex: str) -> list[str]:
    """Return the tokens of a formula: commands, letters, numbers and signs; braces and spacing commands are left out.

    >>> latex_tokens(r"\\left( \\dfrac{1}{2n} \\right)")
    ['(', '\\\\frac', '1', '2', 'n', ')']
    """
    return [token for token in map(_seen, _LATEX.findall(latex)) if token]


@lru_cache(maxsize=10_000)
def _seen(token: str) -> str:
    """Return the visible form of a token, the same for synonymous commands; empty for spacing."""
    return "" if _UNSEEN.fullmatch(token) else _SAME.get(token, token)


def ngrams(tokens: Sequence[str], longest: int) -> list[str]:
    """Return all runs of 1 to `longest` tokens, marked as belonging to a formula.

    >>> ngrams(["a", "+", "b"], 2)
    ['$a', '$+', '$b', '$a +', '$+ b']
    """
    runs = [f"${token}" for token in tokens]
    found = list(runs)
    for length in range(2, longest + 1):
        runs = [f"{run} {token}" for run, token in zip(runs, tokens[length - 1 :], strict=False)]
        found += runs
    return found


def path_tokens(mark: str, tree: Tree, window: int) -> list[str]:
    """Return the paths of a tree of at most `window` edges, each with the symbols at its ends, marked by the kind of tree.

    The operands of an unordered operator all hang on edge 0. A tree of one or two nodes also has its symbols as terms.

    >>> from mathamr.formulas.parse import parse
    >>> path_tokens("s", parse("x^2").slt, 2)
    ['s V!x', 's N!2', 's V!x a N!2']
    """
    labels, parents, edges = tree.labels, tree.parents, tree.edges
    if isinstance(tree, Opt):
        edges = "".join(
            "0" if parent >= 0 and labels[parent].startswith("U!") else edge
            for parent, edge in zip(parents, edges, strict=True)
        )
    found = [f"{mark} {label}" for label in labels] if len(labels) < SMALL_TREE else []
    for node in range(1, len(labels)):
        label, ancestor, path = labels[node], parents[node], edges[node]
        found.append(f"{mark} {labels[ancestor]} {path} {label}")
        steps = window
        while ancestor and steps > 1:
            path = edges[ancestor] + path
            ancestor = parents[ancestor]
            steps -= 1
            found.append(f"{mark} {labels[ancestor]} {path} {label}")
    return found


def part_tokens(tree: Opt) -> list[str]:
    """Return the subtrees of an operator tree of 2 to 12 nodes, and the whole tree, as text; a+b is b+a.

    >>> from mathamr.formulas.parse import parse
    >>> part_tokens(parse("2+1").opt), part_tokens(parse("1+2").opt)
    (['U!plus(N!1,N!2)', '= U!plus(N!1,N!2)'], ['U!plus(N!1,N!2)', '= U!plus(N!1,N!2)'])
    """
    labels, parents = tree.labels, tree.parents
    sizes = [1] * len(labels)
    operands: dict[int, list[str]] = {-1: []}
    """The children of each node in reverse order, since the nodes are processed in reverse order."""
    found: list[str] = []
    for node in range(len(labels) - 1, -1, -1):
        text, parent = labels[node], parents[node]
        below = operands.get(node)
        if below is not None:
            if text[:2] == "U!":
                below.sort()
            else:
                below.reverse()
            text = f"{text}({','.join(below)})"
            if sizes[node] > LARGEST_PART:  # a short name for it, or deep trees would take quadratic time
                text = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
            else:
                found.append(text)
        operands.setdefault(parent, []).append(text)
        sizes[parent] += sizes[node]
    return [*found, f"= {operands[-1][0]}"]


def open_tokens(tree: Opt) -> list[str]:
    r"""Return the parts of an open form that have a big operator, marked, and the whole.

    >>> from mathamr.formulas.parse import parse
    >>> open_tokens(open_form(parse(r"1+\sum_{n} a", reading="mathematician").opt))
    ['open O!sum(V!𝑎)', 'open U!plus(N!1,O!sum(V!𝑎))', 'open = U!plus(N!1,O!sum(V!𝑎))']
    """
    found = part_tokens(tree)
    return [f"open {part}" for part in found[:-1] if _has_big_operator(part)] + [f"open {found[-1]}"]


@lru_cache(maxsize=10_000)
def _has_big_operator(part: str) -> bool:
    return any(f"{name}(" in part for name in BIG_OPERATORS)


def nameless(tree: AnyTree) -> AnyTree:
    """Return the tree with the names of all variables, and of functions named by a letter, removed.

    >>> from mathamr.formulas.parse import parse
    >>> nameless(parse("x^2").slt).labels
    ('V!', 'N!2')
    """
    labels = tuple(map(_nameless, tree.labels))
    return type(tree)(labels, tree.parents, tree.edges)


@lru_cache(maxsize=10_000)
def _nameless(label: str) -> str:
    """Return `V!` for a variable, `F!` for a function whose name is a letter of formulas, and any other label unchanged."""
    if label.startswith("V!"):
        return "V!"
    return (
        "F!"
        if label.startswith("F!") and len(label) == 3 and label[2].isalpha() and label[2] > "\x7f"
        else label
    )


_PROBE = Post(
    "probe",
    "question",
    "<p>Why don't the Hölder spaces' norms converge, e.g. for "
    "<span class='math-container' id='1'>$\\left\\lVert f_n\\right\\rVert_{p}\\le\\frac{1}{2n+1}$</span> in 1748? 极值で</p>",
    title="Norms of <span class='math-container' id='0'>$x^2$</span>",
    tags=("functional-analysis",),
    keywords=("norm, of a function",),
    formulas=(
        Formula("0", "x^2"),
        Formula("1", "\\left\\lVert f_n\\right\\rVert_{p}\\le\\frac{1}{2n+1}"),
        Formula("2", "\\sum_{n=1}^\\infty\\int_0^n f_n(x)\\,dx"),
    ),
)


@cache
def terms_fingerprint() -> str:
    """Return a fingerprint of the rules for terms: it changes when the terms of an example change."""
    content = json.dumps([READING, VERSION, post_terms(_PROBE)], sort_keys=True, ensure_ascii=False)
    return blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


@lru_cache(maxsize=1)
def _stemmer() -> Stemmer:
    from Stemmer import Stemmer

    return Stemmer("porter")
