"""The vocabulary of LaTeX tokens is read back from its file as it was."""

from __future__ import annotations

from pathlib import Path

from mathamr.systems.marf.latextokens import latex_tokens
from mathamr.systems.marf.postinput import LatexVocabulary


def test_a_backslash_at_the_end_of_a_line_does_not_break_the_file(tmp_path: Path) -> None:
    found = LatexVocabulary.frequent([latex_tokens("a \\\n b"), latex_tokens("a+b")] * 3, most=10, least=2)
    assert {"a", "b", "+"} <= set(found.tokens)
    path = tmp_path / "latextokens.txt"
    path.write_text(found.to_text(), encoding="utf-8")
    assert LatexVocabulary.load(path).tokens == found.tokens
