"""Mathematical tokens for a text encoder without any: a LaTeX command becomes one word of its vocabulary."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from mathamr.text.wordpieces import WordPieces

_COMMAND = re.compile(r"\\([a-zA-Z]{2,20})")


def word_of(command: str) -> str:
    """Return the word for a command, without its backslash; encoders lower-case text, so capitals are spelled out.

    >>> word_of("frac"), word_of("Gamma")
    ('texfrac', 'texcapgamma')
    """
    return f"tex{'cap' if command[0].isupper() else ''}{command.lower()}"


class MathTokens:
    """Commands that are read as one token each; all others are left as written."""

    def __init__(self, commands: Sequence[str]) -> None:
        self.commands = tuple(commands)
        self._words = {command: f" {word_of(command)} " for command in self.commands}

    def spelled(self, text: str) -> str:
        r"""Replace the known commands in a text by their words.

        >>> MathTokens(["frac"]).spelled(r"is $\frac{a}{b}$ in \Q?")
        'is $ texfrac {a}{b}$ in \\Q?'
        """
        return _COMMAND.sub(lambda match: self._words.get(match[1], match[0]), text)

    def added_to(self, pieces: WordPieces) -> WordPieces:
        """Return a vocabulary with these tokens appended."""
        return pieces.with_words([word_of(command) for command in self.commands])

    @staticmethod
    def commands_in(text: str) -> list[str]:
        """Return the commands of a text, without their backslash."""
        found: list[str] = _COMMAND.findall(text)
        return found

    @classmethod
    def frequent(cls, texts: Iterable[str], most: int, least: int) -> MathTokens:
        """Return the `most` frequent of the commands that occur at least `least` times; of equal words only one."""
        counts = Counter(command for text in texts for command in cls.commands_in(text))
        chosen: dict[str, str] = {}
        for command, count in sorted(counts.items(), key=lambda each: (-each[1], each[0])):
            if count >= least and len(chosen) < most:
                chosen.setdefault(word_of(command), command)
        return cls(list(chosen.values()))
