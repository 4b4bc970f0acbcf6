"""`PostContent`: all that later stages need of a post's text, from one parse of its markup."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from mathamr.posts.formats.declaration.namewords import name_words
from mathamr.posts.formats.latex.labels import label_words
from mathamr.posts.markup import formulas_among, pieces, title_pieces
from mathamr.posts.markup.piece import Note, Piece, ignore
from mathamr.posts.passage import Passage, passage_of
from mathamr.posts.post import Formula, Post


@dataclass(frozen=True)
class PostContent:
    """A post with the pieces of its title and of its body; everything else is derived from them when it is asked for.

    | needed for                | attribute                                                   |
    |---------------------------|-------------------------------------------------------------|
    | showing it                | `title`, `body`: the pieces with their offsets              |
    | encoding it, its snippets | `passage`: sentences with placeholders for formulas         |
    | formula search            | `formulas`: those of the post, or of its pieces             |
    | word search               | `text`: names, title and body without formulas              |
    """

    post: Post
    title: tuple[Piece, ...]
    body: tuple[Piece, ...]

    @cached_property
    def passage(self) -> Passage:
        """The sentences with `FORMULA_n` for each formula."""
        return passage_of(self.post, list(self.title), list(self.body))

    @cached_property
    def formulas(self) -> tuple[Formula, ...]:
        """The formulas as the post lists them; found among its pieces if it lists none."""
        return self.post.formulas or formulas_among(self.post.id, self.title + self.body)

    @cached_property
    def text(self) -> str:
        """The text without formulas: other names, the label, the title, the body.

        Names in the code of a declaration are there as words too. An answer's title is its question's, so it is left out.
        """
        post = self.post
        if post.markup == "declaration":
            from mathamr.posts.formats.declaration.pieces import spell_names  # loads Markdown

            code = (
                spell_names(piece.text)
                if piece.kind == "code"
                else piece.text
                if piece.kind == "text"
                else " "
                for piece in self.body
                if piece.kind not in ("open", "close")
            )
            names = (post.title, name_words(post.title), *map(name_words, post.aliases))
            return " \n".join((*names, "".join(code)))
        title = "" if post.role == "answer" else _plain(self.title)
        return " \n".join((*other_names(post), f"{title} {_plain(self.body)}"))


def parse_post(post: Post, note: Note = ignore) -> PostContent:
    """Parse the markup of a post.

    >>> read = parse_post(Post("7", "note", "Let $x>0$.", title="On *sets*", markup="markdown"))
    >>> read.passage.text, read.text, [formula.latex for formula in read.formulas]
    ('On sets\\nLet FORMULA_0.', 'On sets  Let  . ', ['x>0'])
    """
    title = tuple(title_pieces(post.title, post.markup, note))
    return PostContent(post, title, tuple(pieces(post.body, post.markup, note)))


def other_names(post: Post) -> list[str]:
    """Return the names of a post beside its title: its aliases and, unless it is an answer, its label in its source."""
    label = label_text(post) if post.role != "answer" else ""
    return [*post.aliases, *([label] if label else [])]


def label_text(post: Post) -> str:
    """Return the words of a post's label in its source."""
    return label_words(post.place.label) if post.place is not None else ""


def _plain(read: tuple[Piece, ...]) -> str:
    return "".join(
        piece.text if piece.kind in ("text", "code") else " "
        for piece in read
        if piece.kind not in ("open", "close")
    )
