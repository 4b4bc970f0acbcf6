"""`Query`: typed text with `$latex$`, a formula alone, or a whole question; always represented as a post."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import dropwhile
from types import MappingProxyType

from mathamr.core.errors import MathAMRError
from mathamr.formulas.latex.lexer import tokenize
from mathamr.formulas.latex.symbols import OPERATOR_ROLES, SYMBOLS
from mathamr.formulas.latex.unicode import unicode_to_latex
from mathamr.formulas.parse import FormulaError, parse
from mathamr.formulas.trees import Trees, trees_of
from mathamr.formulas.typed.names import ACCENTS, GREEK
from mathamr.formulas.typed.sentences import formula_spans, is_formula, is_operator, latex_of
from mathamr.index.lexical.terms import (
    LONGEST_NGRAM,
    READING,
    STOP_WORDS,
    Stems,
    count_words,
    latex_tokens,
    ngrams,
    words,
)
from mathamr.posts.decoding import UNWANTED
from mathamr.posts.formats.latex.definitions import definitions_for
from mathamr.posts.markup import formulas_of, marked_pieces
from mathamr.posts.markup.dollars import doubt
from mathamr.posts.passage import PLACEHOLDER, Passage, passage
from mathamr.posts.post import Formula, Markup, Post
from mathamr.posts.postkind import ASKING, kind_named
from mathamr.search.conditions import Conditions, read_conditions
from mathamr.search.querywords import QueryWords, is_letter
from mathamr.systems.ranking import QueryKind, Task

MAX_CHARACTERS = 50_000
"""The greatest length of a query; the longest ARQMath topic has a tenth of this."""
MAX_FORMULAS = 500
MOST_WORDS_OF_NAME, MOST_WORDS, MOST_CHARACTERS_OF_WORDS = 5, 20, 400
"""A query with more words is more than a name; with still more words, it is a whole question."""
LONGEST_UNMARKED = 2_000
"""Characters of a text in which unmarked formulas are sought; a longer text is a document that marks its formulas."""

LONGEST_PHRASE = 20
"""How many words of a short query are looked for side by side."""
EQUATIONS = frozenset({"equation", "inequality", "identity", "formula"})
"""Words that name statements, beside the kinds of posts."""

QUERY_ID = "query"


class QueryError(MathAMRError):
    """Raised for a query that no index can search for."""


class EmptyQueryError(QueryError):
    """Raised for a query without words or formulas."""


_HINT = "type words, or a formula between dollar signs such as $x^2+1$"
_FORMULA_HINT = "type a formula such as $x^2+1$, or search for answers instead"
_AS_TEXT = "was read as text: add the closing delimiter of the formula"
_COMMAND = re.compile(r"\\[a-zA-Z]+|[_^=]")
_PROSE = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z]{3,}(?![a-zA-Z(])")
_EMPHASISED = re.compile(r"(?<![\w*])\*\*(?=[^\W\d_]{3})([^*$]+?)(?<=\w)\*\*(?![\w*])")
"""Words in the bold of Markdown, whose stars are no powers."""
_UPRIGHT = (r"\operatorname", r"\operatorname *", r"\mathrm", r"\text")
"""The tokens behind which a formula spells out the name of an operator."""
_NOTES_SHOWN = 5
_DECLARED_NAME = re.compile(
    r"""
    (?=.*(?:[^\W\d_]{2}'*_[^\W\d_]{2} | [^\W\d_]{2}[\w']*\.[^\W\d_]))      # words are joined: add_comm, Nat.add
    [^\W\d_][\w']{0,200} (?:\.[^\W\d_][\w']{0,200}){0,20}                  # names between dots
    """,
    re.X,
)
"""The name of a declaration of a formal library, such as `Nat.add_comm`, which is not the formula of a subscript."""

_SYMBOL = re.compile(r"\\?[a-zA-Z]+(?:\{[a-zA-Z]+\})?")
"""A formula that can be part of a name, as in "$p$-adic number"."""
_ASKING = re.compile(
    r"""
    \A\W*(?:please\s+|(?:can|could)\s+you\s+)?(?:
        (?:i(?:'m|\s+am)\s+)?(?:looking|searching)\s+for
      | how\s+(?:do|can|could|would|should|to)(?:\s+(?:i|we|you|one))?\s+(?:prove|show|find|compute|derive|solve|understand)
      | (?:explain|show\s+me|tell\s+me\s+about)
    )\b
    | (?<=\w)\s+(?:explained|defined|proved|proven|stated|discussed)\s*\?\s*\Z
    """,
    re.X | re.I,
)
"""Words with which a person asks for something, which no answer has to repeat: `how do I prove`, `where is … explained?`"""
_ACCENTED = re.compile(rf"(?:{'|'.join(GREEK)})_(?:{'|'.join(ACCENTS)})")


_OF_CORRECTED = frozenset({"content", "phrase", "wanted"})
"""What a correction of misspelt words changes."""


@dataclass(frozen=True)
class Query:
    """A post to search for, and the id of its target formula in a formula search; what it says is analysed once.

    A query is processed like a post of the collection, so that both get the same graphs and vectors. `notes` tell the
    user what was repaired or left out. Rankings, names, labels and snippets read its words from here.
    """

    post: Post
    formula_id: str | None = None
    notes: tuple[str, ...] = ()
    typed: str = ""
    """The text as it was typed, if it was, without its conditions."""
    conditions: Conditions = field(default_factory=Conditions)
    """What every hit must have or must not have."""
    corrected: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Misspelt words, and the words of the collection that are searched in their place."""

    @classmethod
    def of_text(
        cls,
        text: str,
        task: Task = "answers",
        markup: Markup = "text",
        macros: Mapping[str, str] = MappingProxyType({}),
    ) -> Query:
        r"""Return a typed query; formulas need no dollar signs and may use `macros`, the definitions of the collection by name.

        `?x` and `\qvar{x}` are wildcards; `"…"`, `-word` and fields such as `tag:` are `conditions`. In a formula search, text without a formula is read as one.

        >>> Query.of_text("Why is $?a^2 \\ge 0$?").formulas[0].latex
        '\\qvar{a}^2 \\ge 0'
        >>> Query.of_text(r"\int_0^1 x\,dx").formula_id
        'query:0'
        """
        notes: list[str] = []
        text, conditions = read_conditions(text, MOST_WORDS) if markup == "text" else (text, Conditions())
        if not text.strip() and conditions != Conditions():
            if task != "answers":
                raise EmptyQueryError(f"the query has only conditions and no formula; {_FORMULA_HINT}")
            if not conditions.required:
                raise EmptyQueryError(f"the query has only excluded words and nothing to search for; {_HINT}")
            return cls(Post(QUERY_ID, "question", "", markup="text"), None, conditions.notes, "", conditions)
        typed = text
        text = with_formulas_marked(_checked(text), task) if markup == "text" else _checked(text)
        formulas = formulas_of(QUERY_ID, "", text, markup, lambda message, _: notes.append(message))
        if not formulas and task == "formulas":
            raise EmptyQueryError(f"{text[:80]!r} has words and no formula; {_FORMULA_HINT}")
        used = definitions_for(text, macros)
        post = Post(
            QUERY_ID, "question", text, markup=markup, macros=used, formulas=_with_wildcards(formulas)
        )
        unclosed = tuple(f"{note} {_AS_TEXT}" for note in notes)
        found = cls(post, None, (*conditions.notes, *unclosed), typed, conditions)
        return (found.marked(1) if len(formulas) == 1 and not found.has_words else found)._read()

    @classmethod
    def of_formula(cls, latex: str) -> Query:
        """Return a formula alone, without dollar signs."""
        latex = _checked(latex.strip().strip("$"))
        post = Post(QUERY_ID, "question", f"${latex}$", markup="text")
        formulas = formulas_of(QUERY_ID, "", post.body, "text")
        found = cls(replace(post, formulas=_with_wildcards(formulas)))
        if len(formulas) != 1 or found.has_words:
            raise QueryError(f"{latex[:80]!r} cannot be read as one formula; {_HINT}")
        return found.marked(1)._read()

    @classmethod
    def of_post(cls, post: Post, formula_id: str | None = None) -> Query:
        """Return a whole question, or one formula in its context; a post has no wildcards."""
        _checked(post.title + post.body)
        if not post.formulas:
            formulas = formulas_of(post.id, post.title, post.body, post.markup)
            post = replace(post, formulas=formulas)
        if formula_id is not None and all(formula.id != formula_id for formula in post.formulas):
            raise QueryError(f"the post {post.id!r} has no formula {formula_id!r}")
        return cls(post, formula_id)._read()

    @cached_property
    def text(self) -> str:
        """The query as one text, its title first."""
        return f"{self.post.title}\n{self.post.body}" if self.post.title else self.post.body

    @property
    def is_listing(self) -> bool:
        """True if the query is nothing but conditions, so that what fulfils them is listed."""
        return bool(self.conditions.required) and not self.text.strip()

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The formulas of the query in order."""
        return self.post.formulas

    @cached_property
    def passage(self) -> Passage:
        """The query as sentences."""
        return passage(self.post)

    @cached_property
    def key(self) -> str:
        """The query as JSON, by which its vectors are cached."""
        return self.post.to_json()

    @cached_property
    def meant_trees(self) -> dict[str, Trees]:
        """Both trees of every formula in the reading of the lexical index, by id."""
        return {each.id: trees_of(each, self.post.macros, READING)[0] for each in self.formulas}

    @cached_property
    def _read_formulas(self) -> dict[str, tuple[Trees, bool]]:
        """The published trees of every formula, and whether it was repaired."""
        _ = self.meant_trees  # one parse gives both readings
        return {each.id: trees_of(each, self.post.macros) for each in self.formulas}

    @cached_property
    def trees(self) -> dict[str, Trees]:
        """Both trees of every formula that can be parsed, by id."""
        return {name: trees for name, (trees, _) in self._read_formulas.items() if trees != (None, None)}

    @cached_property
    def prose(self) -> str:
        """The text of the query without its formulas."""
        return PLACEHOLDER.sub(" ", self.passage.text)

    @cached_property
    def words(self) -> list[str]:
        """The words beside the formulas, as the lexical index spells them."""
        return words(self.prose)

    @cached_property
    def all_words(self) -> list[str]:
        """The words of the whole text, with those that its formulas are written with."""
        return self.words if self.text == self.prose else words(self.text)

    @cached_property
    def content(self) -> list[str]:
        """The words that say what is asked for, misspelt ones corrected."""
        bare = _ASKING.sub(" ", self.prose)
        read = self.words if bare == self.prose else words(bare)
        found = [word for word in read if word not in STOP_WORDS]
        return self.correct(found or [word for word in self.words if word not in STOP_WORDS])

    @cached_property
    def phrase(self) -> list[str]:
        """The first words in their order, without common words before them."""
        return [*dropwhile(STOP_WORDS.__contains__, self.correct(self.all_words[:LONGEST_PHRASE]))]

    @cached_property
    def name(self) -> tuple[str, ...]:
        """The words of a query that is only a name, which may include a one-symbol formula; else nothing."""
        is_asked = "?" in self.text.rstrip(" ?")
        if is_asked or not all(_SYMBOL.fullmatch(each.latex.strip()) for each in self.formulas):
            return ()
        if not self.has_words:
            return ()
        found = self.words
        if self.formulas:
            latex = {formula.id: formula.latex for formula in self.formulas}
            names = self.passage.formula_map
            found = words(
                PLACEHOLDER.sub(lambda match: latex.get(names[match.group()], ""), self.passage.text)
            )
        is_short = 0 < count_words(found) <= MOST_WORDS_OF_NAME
        return tuple(found) if is_short and found[0] not in STOP_WORDS else ()

    @cached_property
    def wanted(self) -> QueryWords:
        """The words with the terms by which a post has them; common words and letters, which may stand in formulas, are left out."""
        if self.symbol_terms:
            return QueryWords.of_symbol(self.stems(self.all_words), self.symbol_terms)
        found = {
            word
            for word in self.words
            if word not in STOP_WORDS and word not in GREEK and not is_letter(word)
        }
        return QueryWords.of_stems(self.stems(sorted(self.correct(found))))

    @property
    def asks_for_statement(self) -> bool:
        """True if the query is a statement in the notation of a library, or its words name one.

        >>> [Query.of_text(text).asks_for_statement for text in ("Sylow theorems", "normal subgroup", "Pell's equation")]
        [True, False, True]
        """
        said = (word.removesuffix("s") for word in self.words)
        return self.post.markup == "declaration" or any(
            word in EQUATIONS or kind_named(word) in ASKING for word in said
        )

    def correct(self, found: Iterable[str]) -> list[str]:
        """Return words, misspelt ones corrected."""
        return [self.corrected.get(word, word) for word in found]

    def stems(self, found: Iterable[str]) -> list[str]:
        """Return the stems of words of the query, each computed once."""
        return [self._stems[word] for word in found]

    @cached_property
    def _stems(self) -> Stems:
        return Stems()

    @cached_property
    def has_words(self) -> bool:
        """True if the query has words beside its formulas."""
        return any(map(str.isalnum, self.prose))

    @cached_property
    def kind(self) -> QueryKind:
        """The kind of the query, for rankings that depend on it.

        >>> [Query.of_text(text).kind for text in ("nowhere dense", "$x^2+1$", "when is $x^2$ convex")]
        ['name', 'formula', 'mixed']
        """
        if not self.has_words:
            return "formula"
        if self.post.markup == "declaration":  # a statement in the notation of a formal library
            return "mixed"
        if len(self.text) > MOST_CHARACTERS_OF_WORDS or (count := count_words(self.all_words)) > MOST_WORDS:
            return "question"
        if self.formulas:
            return "mixed" if count_words(self.words) <= MOST_WORDS_OF_NAME else "words"
        is_name = count <= MOST_WORDS_OF_NAME and "?" not in self.text
        return "name" if is_name else "words"

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        r"""The LaTeX of the symbols that a query of one word or letter names; of a Greek letter also its variant.

        >>> [Query.of_text(text).symbols for text in ("sum", "limit?", "x", "phi", "prime", "sum of cubes")]
        [('\\sum',), ('\\lim',), ('x',), ('\\phi', '\\varphi'), (), ()]
        """
        word = self._only_word
        if len(word) <= 1:
            return (word,) if word else ()
        latex = f"\\{word}"
        symbol = SYMBOLS.get(latex)
        if symbol is None or (symbol.role not in OPERATOR_ROLES and word not in GREEK):
            latex = latex_of(word).strip() if is_operator(word) or word in GREEK else ""
        if len(latex_tokens(latex)) != 1:
            return ()
        base = latex.removeprefix("\\").removeprefix("var")
        variants = (f"\\{base}", f"\\var{base}") if base in GREEK else (latex,)
        return tuple(each for each in variants if each == latex or each in SYMBOLS)

    @cached_property
    def symbol_terms(self) -> tuple[frozenset[str], ...]:
        r"""The terms of LaTeX by which a formula has the symbol that a query of one word names: all of one of these sets.

        An operator may have a command, or be spelled out in upright letters.

        >>> [sorted(terms) for terms in Query.of_text("lcm").symbol_terms[:2]]
        [['$\\lcm'], ['$\\operatorname l c', '$l c m']]
        """
        word = self._only_word
        found = [frozenset(ngrams([symbol], 1)) for symbol in self.symbols]
        symbol = SYMBOLS.get(f"\\{word}")
        if len(word) > 1 and (is_operator(word) or (symbol is not None and symbol.role in OPERATOR_ROLES)):
            runs = (ngrams([*opening.split(), *word], LONGEST_NGRAM) for opening in _UPRIGHT)
            found += [frozenset(each for each in run if each.count(" ") == LONGEST_NGRAM - 1) for run in runs]
        return tuple(found)

    @property
    def _only_word(self) -> str:
        """The word that is all of the query; empty if there is more, or if it has other letters than English ones."""
        word = self.text.strip(" ?!.,;:")
        return word if word.isalpha() and word.isascii() and not self.formulas else ""

    def marked(self, number: int) -> Query:
        """Return the query with its formula of that number, from 1, as the target."""
        if not 1 <= number <= len(self.formulas):
            raise QueryError(f"the query has {len(self.formulas)} formulas, so there is no formula {number}")
        return self._with(formula_id=self.formulas[number - 1].id)

    def with_corrected(self, corrected: Mapping[str, str]) -> Query:
        """Return the query with corrections of misspelt words."""
        return self._with(corrected=corrected) if corrected else self

    def _with(self, **changes: object) -> Query:
        """Return the query with other fields beside its post, and with what is known of its post."""
        found = replace(self, **changes)  # type: ignore[arg-type]
        own = type(self).__dataclass_fields__.keys() | (_OF_CORRECTED if "corrected" in changes else ())
        found.__dict__.update({name: value for name, value in self.__dict__.items() if name not in own})
        return found

    def target(self) -> tuple[Formula, str | None]:
        """Return the target formula, and a note if it had to be guessed: the largest one."""
        readable = [formula for formula in self.formulas if formula.id in self.trees]
        marked = next((formula for formula in readable if formula.id == self.formula_id), None)
        if marked is not None:
            return marked, None
        if not readable:
            raise EmptyQueryError(f"the query has no formula that can be read; {_FORMULA_HINT}")
        largest = max(readable, key=lambda formula: max(len(tree or ()) for tree in self.trees[formula.id]))
        if len(readable) == 1:
            return largest, None
        return largest, f"{len(readable)} formulas in the query; searched for the largest, ${largest.latex}$"

    def _read(self) -> Query:
        """Return the query with notes on its formulas; raise an error if nothing of it can be searched."""
        if len(self.formulas) > MAX_FORMULAS:
            raise QueryError(
                f"the query has {len(self.formulas)} formulas; at most {MAX_FORMULAS} are searched, so shorten it"
            )
        if not self.passage.sentences:
            raise EmptyQueryError(f"the query has neither words nor formulas; {_HINT}")
        notes = list(self._formula_notes())
        if not self.has_words and not self.trees:
            if not self.formulas:
                raise EmptyQueryError(f"the query has neither words nor formulas; {_HINT}")
            raise _first_error(self.post)
        if len(notes) > _NOTES_SHOWN:
            notes[_NOTES_SHOWN:] = [f"… and {len(notes) - _NOTES_SHOWN} more notes of this kind"]
        return self._with(notes=(*self.notes, *notes)) if notes else self

    def _formula_notes(self) -> Iterator[str]:
        """Yield a note for each formula that cannot be read or had to be repaired."""
        for formula in self.formulas:
            is_mathml = not formula.latex.strip() and (formula.presentation_mathml or formula.content_mathml)
            is_intact = formula.id in self.trees and not self._read_formulas[formula.id][1]
            if is_mathml or is_intact:
                continue
            try:
                repairs = parse(formula.latex, self.post.macros).repairs
            except FormulaError as error:
                yield f"the formula ${formula.latex[:80]}$ cannot be read ({error.message}); searched without it"
                continue
            for repair in repairs[:1]:
                yield f"the formula ${formula.latex[:80]}$ was repaired: {repair.message}"


def with_formulas_marked(text: str, task: Task = "answers") -> str:
    r"""Return a typed text with its unmarked formulas between dollar signs, as LaTeX; a text that marks its own stays as it is.

    >>> with_formulas_marked("is x² prime?"), with_formulas_marked("xy"), with_formulas_marked("xy", "formulas")
    ('is $x^2$ prime?', 'xy', '$xy$')
    >>> with_formulas_marked("sum_union"), with_formulas_marked("x_1")
    ('sum_union', '$x_1$')
    >>> with_formulas_marked("the **Lefschetz principle**"), with_formulas_marked("2**3")
    ('the Lefschetz principle', '$2^3$')
    """
    text = _EMPHASISED.sub(r"\1", text)
    unclosed: list[int] = []
    read = list(marked_pieces(text, "text", lambda _, place: unclosed.append(place)))
    if any(not text[place + 1 : place + 2].isdigit() for place in unclosed) or any(
        piece.kind == "formula" for piece in read
    ):
        return text
    stripped = text.strip()
    if task == "answers" and _DECLARED_NAME.fullmatch(stripped) and not _ACCENTED.fullmatch(stripped):
        return text
    if any(map(str.isalnum, stripped)) and (
        _looks_like_latex(stripped) or (task == "formulas" and is_formula(stripped))
    ):
        return _between_dollars(latex_of(stripped), text)
    written: list[str] = []
    done = 0
    for start, end in formula_spans(text) if len(text) <= LONGEST_UNMARKED else ():
        written += [text[done:start], _between_dollars(latex_of(text[start:end]), text)]
        done = end
    return "".join([*written, text[done:]])


def _between_dollars(latex: str, text: str) -> str:
    r"""Return LaTeX between dollars, or between `\(` and `\)` where dollars could be read as money."""
    return f"\\({latex}\\)" if "$" in text or doubt(latex) else f"${latex}$"


def _checked(text: str) -> str:
    if len(text) > MAX_CHARACTERS:
        raise QueryError(
            f"the query has {len(text):,} characters; at most {MAX_CHARACTERS:,} are searched, so shorten it"
        )
    text = UNWANTED.sub(" ", text)
    if not text.strip():
        raise EmptyQueryError(f"the query is empty; {_HINT}")
    return text


def _looks_like_latex(text: str) -> bool:
    """Return True if a text without dollar signs is a formula: commands, scripts or equations, and no words."""
    return bool(_COMMAND.search(text)) and not _PROSE.search(re.sub(r"\{[a-zA-Z*]+\}", "", text))


def _with_wildcards(formulas: tuple[Formula, ...]) -> tuple[Formula, ...]:
    r"""Return the formulas with every `?x` written as `\qvar{x}`, which every parse takes as a wildcard."""
    read = ((formula, unicode_to_latex(formula.latex)) for formula in formulas)
    return tuple(
        replace(formula, latex=_qvars(latex) if "?" in latex else latex)
        if "?" in latex or latex != formula.latex
        else formula
        for formula, latex in read
    )


def _qvars(latex: str) -> str:
    tokens, offsets = tokenize(latex)
    parts: list[str] = []
    done = 0
    for place in range(len(tokens) - 1):
        following = tokens[place + 1]
        if tokens[place] == "?" and len(following) == 1 and following.isalnum() and offsets[place] >= done:
            parts += [latex[done : offsets[place]], rf"\qvar{{{following}}}"]
            done = offsets[place + 1] + 1
    return "".join([*parts, latex[done:]])


def _first_error(post: Post) -> FormulaError:
    for formula in post.formulas:
        try:
            parse(formula.latex, post.macros)
        except FormulaError as error:
            return FormulaError(
                f"the query's formula cannot be read: {error.message}", error.text, error.offset
            )
    raise AssertionError("every formula of the query can be read")
