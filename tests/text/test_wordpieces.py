from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from mathamr.core.errors import MathAMRError
from mathamr.text.wording import Span, Wording
from mathamr.text.wordpieces import WordPieces
from tests.text.small import PIECES


def whole(text: str) -> Wording:
    return Wording(text, (Span(0, 0, len(text)),))


def test_text_is_cut_into_the_longest_pieces() -> None:
    pieces = WordPieces(PIECES)
    (cut,) = pieces.cut([whole("Let primes = $p^2$ ☃")])
    assert [PIECES[number] for number in cut.numbers] == [
        *("let", "prime", "##s", "=", "$", "p", "^", "2", "$", "[UNK]")
    ]


def test_spans_are_counted_in_pieces() -> None:
    text = "let p. then $p^2$!"
    spans = (Span(3, 12, 17), Span(5, 0, 6), Span(6, 17, 17), Span(7, 6, 7), Span(9, 0, 18))
    (cut,) = WordPieces(PIECES).cut([Wording(text, spans)])
    named = {
        int(of): [PIECES[number] for number in cut.numbers[start:end]]
        for of, start, end in zip(cut.of, cut.starts, cut.ends, strict=True)
    }
    # A span without a piece of its own is left out.
    assert named == {
        3: ["$", "p", "^", "2", "$"],
        5: ["let", "p", "."],
        9: ["let", "p", ".", "then", "$", "p", "^", "2", "$", "!"],
    }
    shorter = cut.cut(4)
    assert shorter.of.tolist() == [5, 9]
    assert shorter.ends.tolist() == [3, 4]
    assert cut.cut(10) is cut


@given(some.text(max_size=60), some.integers(0, 60), some.integers(0, 60))
def test_any_text_is_cut_and_spans_stay_inside(text: str, start: int, end: int) -> None:
    start, end = min(start, len(text)), min(end, len(text))
    (cut,) = WordPieces(PIECES).cut([Wording(text, (Span(0, start, end),))])
    assert all(0 <= low < high <= len(cut) for low, high in zip(cut.starts, cut.ends, strict=True))


def test_pieces_round_trip_through_a_file_and_odd_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "wordpieces.txt"
    path.write_bytes(WordPieces(PIECES).to_bytes())
    assert WordPieces.load(path).vocabulary == tuple(PIECES)
    path.write_text("[PAD]\n[UNK]\n[CLS]\n", encoding="utf-8")
    with pytest.raises(MathAMRError, match=r"\[SEP\] is missing"):
        WordPieces.load(path)
    path.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\na\n", encoding="utf-8")
    with pytest.raises(MathAMRError, match="repeat"):
        WordPieces.load(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(MathAMRError, match="cannot read"):
        WordPieces.load(path)


def test_marks_are_the_vocabulary_s_own() -> None:
    bert = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "prime"]
    plain, other = WordPieces(bert), WordPieces(["<s>", "<pad>", "</s>", "<unk>", *bert, "<mask>"])
    assert (plain.pad, plain.begin, plain.end) == (0, 2, 3)
    assert (other.pad, other.begin, other.end) == (1, 0, 2)
