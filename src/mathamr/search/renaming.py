r"""Rename a letter in the formulas of a text, within sections or the whole, as an author would by hand: never in words or commands.

Every changed formula is parsed again: the change stands only if its tree is the old one with the new letter. What cannot be renamed
in this way is an error that names the place, and nothing is changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from mathamr.core.errors import MathAMRError
from mathamr.formulas.formula import Formula
from mathamr.formulas.latex.lexer import tokenize
from mathamr.formulas.latex.macros import Macros
from mathamr.formulas.marking import stretches
from mathamr.formulas.tree import Opt
from mathamr.formulas.trees import trees_of
from mathamr.posts.formats.latex.pieces import strip_comments
from mathamr.posts.markup import pieces
from mathamr.posts.markup.piece import Piece

Scope = Literal["section", "file"]
_LETTER = re.compile(r"[^\W\d_]|\\[A-Za-z]+")
_OPENS = ("$", "\\(", "\\[", "\\begin")
_ENDING = re.compile(r"\s*(?:\\end\s*\{[A-Za-z]+\*?\}\s*)+\Z")
_UPRIGHT = re.compile(r"\\(?:mathrm|operatorname\*?|rm|text\w*|mbox)\s*\{?\s*\Z")
_GROUP = re.compile(r"\s*\{")
_LETTER_FOLLOWS = re.compile(" *[A-Za-z]")
_AFTER_COMMAND = re.compile(r"(?<!\\)(?:\\\\)*(?P<name>\\[A-Za-z]+)(?P<blank> *)\Z")


@dataclass(frozen=True)
class Renaming:
    r"""A letter and the letter that takes its place; either may be a command such as `\alpha`."""

    old: str
    new: str

    @classmethod
    def of(cls, typed: str) -> Renaming:
        """Return the renaming that `a=b` means."""
        old, equals, new = (part.strip() for part in typed.partition("="))
        if not equals or not _LETTER.fullmatch(old) or not _LETTER.fullmatch(new) or old == new:
            raise MathAMRError(rf"cannot rename {typed!r}; write two letters as in a=b or x=\alpha")
        for letter in (old, new):
            tree = _tree(letter, ())
            if tree is None or len(tree) != 1 or tree.labels[0][:2] != "V!":
                raise MathAMRError(f"cannot rename {typed!r}: {letter} is not a letter")
        return cls(old, new)

    def rename(
        self,
        text: str,
        markup: str,
        scope: Scope,
        within: Callable[[int], bool],
        macros_of: Callable[[str], tuple[str, ...]],
    ) -> str:
        r"""Return a text in which the letter is renamed in every section, or all of it, of which a place is `within`.

        >>> Renaming.of("a=b").rename("A $a+\\text{a}$.", "markdown", "file", lambda _: True, lambda _: ())
        'A $b+\\text{a}$.'
        """
        changes: list[tuple[int, int, str]] = []
        for group in _scopes(pieces(text, markup), scope):
            if not any(within(piece.start) for piece in group):
                continue
            changed = [change for piece in group if (change := self._change(text, piece, markup, macros_of))]
            if changed:
                self._check_clash(text, group, macros_of)
            changes += changed
        parts: list[str] = []
        done = 0
        for start, end, written in changes:
            parts += [text[done:start], written]
            done = end
        return "".join([*parts, text[done:]])

    def _check_clash(
        self, text: str, group: Sequence[Piece], macros_of: Callable[[str], tuple[str, ...]]
    ) -> None:
        label = _label(self.new)
        for piece in group:
            tree = _tree(piece.text, macros_of(piece.text))
            if tree is not None and label in tree.labels:
                raise MathAMRError(
                    f"line {_line(text, piece)}: {self.new} is used already where {self.old} would become {self.new}:"
                    f" {piece.text[:80]}; rename that first, or choose another letter"
                )

    def _change(
        self, text: str, piece: Piece, markup: str, macros_of: Callable[[str], tuple[str, ...]]
    ) -> tuple[int, int, str] | None:
        """Return the range of a formula that changes and what takes its place; None if the letter is not in it."""
        macros = macros_of(piece.text)
        tree, slt = trees_of(Formula("", piece.text), macros)[0]
        old = _label(self.old)
        if tree is None or slt is None:
            if self.old in tokenize(piece.text)[0]:
                raise self._refused(text, piece, "the formula cannot be read")
            return None
        if old not in tree.labels:
            return None
        source = text[piece.start : piece.end]
        if not source.startswith(_OPENS):
            raise self._refused(text, piece, "the formula is not marked as one, as between dollars")
        body = _ENDING.sub("", piece.text).rstrip()
        plain = strip_comments(source) if markup == "latex" else source
        own = [place for place, character in enumerate(body) if not character.isspace()]
        theirs = [place for place, character in enumerate(plain) if not character.isspace()]
        at = "".join(plain[place] for place in theirs).find("".join(body[place] for place in own))
        if at < 0:
            raise self._refused(text, piece, "its lines have marks between them, as in a quotation")
        in_source = dict(zip(own, theirs[at:], strict=False))
        letter = "V!" + (_shown(self.old))
        nodes = [node for node, label in enumerate(slt.labels) if label == letter]
        drawn = [
            place
            for start, end in stretches(piece.text, Macros.of(macros), slt, nodes)
            for place in self._tokens(piece.text, start, end)
        ]
        expected = tuple(_label(self.new) if label == old else label for label in tree.labels)
        for found in (drawn, self._tokens(piece.text, 0, len(body))):  # arguments of macros are in the second
            places = sorted({place for place in found if place < len(body)})
            after = _tree(self._written(body, places) + piece.text[len(body) :], macros)
            if after and (after.labels, after.parents, after.edges) == (expected, tree.parents, tree.edges):
                break
        else:
            raise self._refused(
                text, piece, "its other symbols would change, or the letter comes from a macro"
            )
        start, end = piece.start + in_source[own[0]], piece.start + in_source[own[-1]] + 1
        moved = [piece.start + in_source[place] - start for place in places]
        return start, end, self._written(text[start:end], moved)

    def _tokens(self, latex: str, start: int, end: int) -> Iterator[int]:
        """Yield where the letter stands as a token within a range of LaTeX, or in the arguments of a macro there, but not upright."""
        if _LETTER.fullmatch(latex, start, end) and latex[start:end] != self.old:
            while (group := _GROUP.match(latex, end)) and (close := _closing(latex, group.end())):
                end = close
        tokens, offsets = tokenize(latex[start:end])
        for token, offset in zip(tokens, offsets, strict=True):
            if token == self.old and not _UPRIGHT.search(latex, max(0, start + offset - 40), start + offset):
                yield start + offset

    def _written(self, latex: str, places: Sequence[int]) -> str:
        """Return LaTeX with the letter replaced at some places; a blank comes or goes where a command meets a letter."""
        done = latex
        for place in sorted(places, reverse=True):
            before, after, following = (
                latex[:place],
                done[place + len(self.old) :],
                latex[place + len(self.old) :],
            )
            new = self.new
            command = _AFTER_COMMAND.search(before)
            if self.old.startswith("\\") and not new.startswith("\\"):
                if re.match(" +[A-Za-z]", following):
                    after = after[1:]
                if command and command.start("name") not in places:
                    new = f" {new}"
            elif new.startswith("\\") and not self.old.startswith("\\"):
                if _LETTER_FOLLOWS.match(after):
                    after = f" {after}"
                if command and command["blank"]:
                    before = before[:-1]
            done = before + new + after
        return done

    def _refused(self, text: str, piece: Piece, why: str) -> MathAMRError:
        shown = " ".join(piece.text.split())[:80]
        return MathAMRError(
            f"line {_line(text, piece)}: cannot rename {self.old} in {shown}: {why}; change it by hand"
        )


def _scopes(read: Iterator[Piece], scope: Scope) -> Iterator[list[Piece]]:
    """Yield the formulas of every section, headings being where one ends, or of the whole text."""
    group: list[Piece] = []
    in_heading = False
    for piece in read:
        if piece.kind == "break" and piece.text == "heading":
            in_heading = not in_heading  # one break before a heading and one behind it
            if in_heading and group and scope == "section":
                yield group
                group = []
        elif piece.kind == "formula":
            group.append(piece)
    if group:
        yield group


def _closing(latex: str, start: int) -> int:
    """Return the end of the group whose inside begins at `start`; 0 if it is never closed."""
    depth = 1
    for match in re.finditer(r"\\.|[{}]", latex[start:]):
        depth += {"{": 1, "}": -1}.get(match.group(), 0)
        if not depth:
            return start + match.end()
    return 0


def _tree(latex: str, macros: tuple[str, ...]) -> Opt | None:
    return trees_of(Formula("", latex), macros)[0][0]


def _label(letter: str) -> str:
    tree = _tree(letter, ())
    return tree.labels[0] if tree is not None else ""


def _shown(letter: str) -> str:
    slt = trees_of(Formula("", letter))[0][1]
    return slt.labels[0][2:] if slt is not None else letter


def _line(text: str, piece: Piece) -> int:
    return text.count("\n", 0, piece.start) + 1
